"""Bytes of a file -> verdict. The bytes that are hashed are the bytes that are checked."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import namedtuple
from graphlib import CycleError, TopologicalSorter

from .claims import CLAIMS, statement
from .exact import MAX_BYTES, Malformed, Rejected, canonical, expect, load_json, record, shown
from .rules import apply, needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FORMAT = "proofcheck/1"
VERIFIED, REJECTED, CONDITIONAL, MALFORMED = 0, 1, 3, 4  # exit statuses; 2 is a usage error
OUTCOMES = {VERIFIED: "verified", REJECTED: "REJECTED", CONDITIONAL: "conditional", MALFORMED: "MALFORMED"}

_IDENTIFIER = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS = ("format", "claim", "parameters", "rule", "witness", "uses", "producer")


class Certificate:
    """A parsed certificate. `id` is the SHA-256 of its canonical bytes without `producer`.

    `uses` maps each claim that this one rests on to (id, parameters) of the certificate that shows it.
    """

    __slots__ = ("claim", "id", "parameters", "rule", "uses", "witness")

    def __init__(self, data: bytes) -> None:
        fields = record(load_json(data), "certificate", _FIELDS)
        if fields["format"] != FORMAT:
            raise Malformed(f"format: expected {FORMAT!r}, got {shown(fields['format'])}")
        self.claim = expect(fields["claim"], "claim", str)
        self.parameters = expect(fields["parameters"], "parameters", dict)
        self.rule = expect(fields["rule"], "rule", str)
        self.witness = expect(fields["witness"], "witness", dict)
        self.uses: dict[str, tuple[str, dict[str, Any]]] = {}
        for i, item in enumerate(expect(fields["uses"], "uses", list)):
            use = record(item, f"uses[{i}]", ["claim", "id", "parameters"])
            name = expect(use["claim"], f"uses[{i}].claim", str)
            if not _IDENTIFIER.fullmatch(expect(use["id"], f"uses[{i}].id", str)):
                raise Malformed(f"uses[{i}].id: expected 64 hexadecimal digits, got {shown(use['id'])}")
            if name in self.uses:
                raise Malformed(f"uses[{i}]: the claim {shown(name)} is listed twice")
            self.uses[name] = (use["id"], expect(use["parameters"], f"uses[{i}].parameters", dict))
        expect(fields["producer"], "producer", dict)
        self.id = identifier(fields)


def identifier(fields: dict[str, object]) -> str:
    """The id of a certificate given as an object, `producer` left out."""
    return hashlib.sha256(canonical({key: fields[key] for key in fields if key != "producer"})).hexdigest()


# What a certificate establishes: the claim in words, what was checked, what was assumed (lists of sentences).
Verdict = namedtuple("Verdict", "claim checked assumed")

# The outcome for one file: exit status, statement or reason, and the certificate and verdict where there are any.
Report = namedtuple("Report", "path status message certificate verdict")


def check(certificate: Certificate, known: dict[str, Report] | None = None) -> Verdict:
    """The verdict on one certificate; raises `Rejected` or `Malformed` with the reason.

    `known` maps ids to the reports of certificates already checked. One that is used but not known is assumed, and the
    verdict says so; one that is known must have been accepted and must state what the user says it states.
    """
    claim = statement(certificate.claim, certificate.parameters)
    rested, trusted = needs(certificate.rule)
    wanted = {*CLAIMS[certificate.claim][1], *rested}
    if set(certificate.uses) != wanted:
        listed = ", ".join(certificate.uses) or "none"
        listed = listed if len(listed) <= 200 else f"{len(certificate.uses)} claims"
        rests = ", ".join(sorted(wanted)) or "no other certificate"
        raise Rejected(f"uses: this claim rests on {rests}; listed: {listed}")
    used, assumed = {}, [f"{theorem}, a theorem of mathematics" for theorem in trusted]
    for name, (identity, parameters) in certificate.uses.items():
        used[name] = statement(name, parameters)
        report = (known or {}).get(identity)
        if report is None:
            assumed.append(
                f"certificate {identity[:12]} ({name}), which was not supplied and would say: {used[name].sentence}"
            )
        elif (report.certificate.claim, canonical(report.certificate.parameters)) != (name, canonical(parameters)):
            raise Rejected(f"uses: the certificate {identity[:12]} is not about {name} with these parameters")
        elif report.verdict is None:
            raise Rejected(f"uses: the certificate {identity[:12]} ({name}) is not accepted: {report.message}")
        else:
            assumed += report.verdict.assumed
    checked = apply(certificate.rule, claim, certificate.witness, used)
    return Verdict(claim.sentence, checked, list(dict.fromkeys(assumed)))


def read(path: str) -> bytes:
    """The bytes of a regular file, at most MAX_BYTES of them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Malformed("not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise Malformed(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def files(path: str) -> list[str]:
    """The path itself, or every *.json below it where it is a folder."""
    if not os.path.isdir(path):
        return [path]
    unread: list[str] = []  # a folder that cannot be listed is kept: as a file it is malformed, never passed over
    walk = os.walk(path, onerror=lambda error: unread.append(str(error.filename)))
    found = [os.path.join(folder, name) for folder, _, names in walk for name in names]
    return sorted([file for file in found if file.endswith(".json")] + unread)


def check_files(paths: Sequence[str]) -> list[Report]:
    """Reads and checks files, each after those it rests on. Every refusal is a report, never an exception."""
    reports: dict[str, Report] = {}
    known: dict[str, Report] = {}
    waiting: dict[str, dict[str, Certificate]] = {}  # id -> path -> certificate
    for path in dict.fromkeys(paths):
        try:
            certificate = Certificate(read(path))
        except Malformed as error:
            reports[path] = Report(path, MALFORMED, str(error), None, None)
            continue
        if certificate.uses:
            waiting.setdefault(certificate.id, {})[path] = certificate
        else:  # at once: its witness is not kept
            reports[path] = known[certificate.id] = _report(path, certificate, known)
    grounds = {i: {j for j, _ in next(iter(group.values())).uses.values()} for i, group in waiting.items()}
    try:
        order = [i for i in TopologicalSorter(grounds).static_order() if i in waiting]
    except CycleError:  # ids are hashes, so this does not happen; they would all be assumed
        order = list(waiting)
    for identity in order:
        for path, certificate in waiting[identity].items():
            reports[path] = known[identity] = _report(path, certificate, known)
    return [reports[path] for path in dict.fromkeys(paths)]


def _report(path: str, certificate: Certificate, known: dict[str, Report]) -> Report:
    try:
        verdict = check(certificate, known)
    except Rejected as error:
        return Report(path, REJECTED, str(error), certificate, None)
    except Malformed as error:
        return Report(path, MALFORMED, str(error), certificate, None)
    finally:
        certificate.witness = {}  # many large files must not add up
    return Report(path, CONDITIONAL if verdict.assumed else VERIFIED, verdict.claim, certificate, verdict)


def check_file(path: str) -> Report:
    """One file on its own: what it uses is assumed."""
    return check_files([path])[0]


def overall(reports: list[Report]) -> int:
    """One exit status for many files: rejected before malformed before conditional before verified."""
    statuses = {report.status for report in reports}
    return next(s for s in (REJECTED, MALFORMED, CONDITIONAL, VERIFIED) if s in statuses)
