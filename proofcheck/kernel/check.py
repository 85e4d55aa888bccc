"""Bytes of a file -> verdict. The bytes that are hashed are the bytes that are checked."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import namedtuple

from .claims import statement
from .exact import MAX_BYTES, Malformed, Rejected, canonical, expect, load_json, record, shown
from .rules import RULES

FORMAT = "proofcheck/1"
VERIFIED, REJECTED, CONDITIONAL, MALFORMED = 0, 1, 3, 4  # exit statuses; 2 is a usage error
OUTCOMES = {VERIFIED: "verified", REJECTED: "REJECTED", CONDITIONAL: "conditional", MALFORMED: "MALFORMED"}

_IDENTIFIER = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS = ("format", "claim", "parameters", "rule", "witness", "uses", "producer")


class Certificate:
    """A parsed certificate. `id` is the SHA-256 of its canonical bytes without `producer`."""

    __slots__ = ("claim", "id", "parameters", "rule", "uses", "witness")

    def __init__(self, data: bytes) -> None:
        fields = record(load_json(data), "certificate", _FIELDS)
        if fields["format"] != FORMAT:
            raise Malformed(f"format: expected {FORMAT!r}, got {shown(fields['format'])}")
        self.claim = expect(fields["claim"], "claim", str)
        self.parameters = expect(fields["parameters"], "parameters", dict)
        self.rule = expect(fields["rule"], "rule", str)
        self.witness = expect(fields["witness"], "witness", dict)
        self.uses = expect(fields["uses"], "uses", list)
        for i, use in enumerate(self.uses):
            if not _IDENTIFIER.fullmatch(expect(use, f"uses[{i}]", str)):
                raise Malformed(f"uses[{i}]: expected 64 hexadecimal digits, got {shown(use)}")
        expect(fields["producer"], "producer", dict)
        self.id = identifier(fields)


def identifier(fields: dict[str, object]) -> str:
    """The id of a certificate given as an object, `producer` left out."""
    return hashlib.sha256(canonical({key: fields[key] for key in fields if key != "producer"})).hexdigest()


# What a certificate establishes: the claim in words, what was checked, what was assumed (lists of sentences).
Verdict = namedtuple("Verdict", "claim checked assumed")

# The outcome for one file: exit status, statement or reason, and the certificate and verdict where there are any.
Report = namedtuple("Report", "path status message certificate verdict")


def check(certificate: Certificate) -> Verdict:
    """The verdict on one certificate; raises `Rejected` or `Malformed` with the reason."""
    shown_claim = statement(certificate.claim, certificate.parameters)
    if certificate.rule not in RULES:
        raise Malformed(f"rule: unknown rule {certificate.rule!r}")
    if certificate.uses:
        raise Rejected(f"uses: rule {certificate.rule} rests on no other certificate, but some are listed")
    return Verdict(shown_claim.sentence, RULES[certificate.rule](shown_claim, certificate.witness), [])


def read(path: str) -> bytes:
    """The bytes of a regular file, at most MAX_BYTES of them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        raise Malformed(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Malformed("not a regular file")
    with open(descriptor, "rb") as file:
        return file.read(MAX_BYTES + 1)


def check_file(path: str) -> Report:
    """Reads, parses and checks one file. Every refusal is a report, never an exception."""
    certificate = None
    try:
        certificate = Certificate(read(path))
        verdict = check(certificate)
    except Rejected as error:
        return Report(path, REJECTED, str(error), certificate, None)
    except Malformed as error:
        return Report(path, MALFORMED, str(error), certificate, None)
    status = CONDITIONAL if verdict.assumed else VERIFIED
    return Report(path, status, verdict.claim, certificate, verdict)


def overall(reports: list[Report]) -> int:
    """One exit status for many files: rejected before malformed before conditional before verified."""
    statuses = {report.status for report in reports}
    return next(s for s in (REJECTED, MALFORMED, CONDITIONAL, VERIFIED) if s in statuses)
