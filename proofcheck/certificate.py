"""The only writer of certificates. Nothing is written that the kernel has not just accepted."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofcheck import __version__
from proofcheck.kernel.check import CONDITIONAL, FORMAT, VERIFIED, Certificate, Report, Verdict, check
from proofcheck.kernel.exact import Malformed, Rejected, canonical, spelled


@dataclass(frozen=True)
class Checked:
    """A certificate that the kernel has accepted, with its canonical bytes and the kernel's report on them."""

    data: bytes
    report: Report

    @property
    def id(self) -> str:
        return str(self.report.certificate.id)

    @property
    def claim(self) -> str:
        return str(self.report.certificate.claim)

    @property
    def parameters(self) -> dict[str, Any]:
        """As they are spelled in the certificate."""
        return dict(self.report.certificate.parameters)

    @property
    def rule(self) -> str:
        return str(self.report.certificate.rule)

    @property
    def verdict(self) -> Verdict:
        verdict: Verdict = self.report.verdict
        return verdict

    def write(self, folder: Path, name: str) -> Path:
        """Writes `folder`/`name`.json by way of a temporary file, so that no reader sees half of it."""
        path = folder / f"{name}.json"
        write_atomically(path, self.data)
        return path


def certify(
    claim: str,
    parameters: Mapping[str, Any],
    rule: str,
    witness: Mapping[str, Any],
    *,
    command: str,
    uses: Iterable[Checked] = (),
    tools: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> Checked:
    """Builds the certificate, has the kernel check its bytes, and returns it.

    Rationals in `parameters` and `witness` are Fractions; `uses` are the certificates that it rests on; `command` is
    what a reader types to produce it again. Raises the kernel's `Rejected` or `Malformed`: a producer whose output
    fails here has a bug.
    """
    rested = sorted(uses, key=lambda use: use.claim)
    producer: dict[str, Any] = {
        "proofcheck": __version__,
        "python": platform.python_version(),
        "command": command,
        **dict(tools or {}),
    }
    if seed is not None:
        producer["seed"] = seed
    fields = {
        "format": FORMAT,
        "claim": claim,
        "parameters": spell(parameters),
        "rule": rule,
        "witness": spell(witness),
        "uses": [{"claim": u.claim, "id": u.id, "parameters": u.parameters} for u in rested],
        "producer": producer,
    }
    data = canonical(fields) + b"\n"
    certificate = Certificate(data)
    verdict = check(certificate, {use.id: use.report for use in rested})
    status = CONDITIONAL if verdict.assumed else VERIFIED
    return Checked(data, Report("", status, verdict.claim, certificate, verdict))


def recheck(path: Path) -> Checked | None:
    """The certificate in a file that rests on no other, if the kernel accepts it; None otherwise."""
    try:
        data = path.read_bytes()
        certificate = Certificate(data)
        verdict = check(certificate, {})
    except (OSError, Rejected, Malformed):
        return None
    status = CONDITIONAL if verdict.assumed else VERIFIED
    return Checked(data, Report("", status, verdict.claim, certificate, verdict))


def spell(value: Any) -> Any:
    """`value` with every Fraction spelled as the certificate format wants it. A float is a bug of the caller."""
    if isinstance(value, Fraction):
        return spelled(value)
    if isinstance(value, Mapping):
        return {key: spell(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [spell(item) for item in value]
    if isinstance(value, bool | float):
        raise TypeError(f"a certificate holds no {type(value).__name__}: {value!r}")
    return value


def in_file_name(value: Fraction | str) -> str:
    """A rational as file names spell it: 1over2."""
    return str(value).replace("/", "over")


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a temporary file beside `path` and renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
