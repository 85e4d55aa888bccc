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
from proofcheck.kernel.check import FORMAT, Certificate, Verdict, check
from proofcheck.kernel.exact import canonical, spelled


@dataclass(frozen=True)
class Checked:
    """A certificate that the kernel has accepted: its canonical bytes, its id and the verdict."""

    data: bytes
    id: str
    claim: str
    rule: str
    verdict: Verdict

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
    uses: Iterable[str] = (),
    tools: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> Checked:
    """Builds the certificate, has the kernel check its bytes, and returns it.

    Rationals in `parameters` and `witness` are Fractions; `command` is what a reader types to produce it again.
    Raises the kernel's `Rejected` or `Malformed`: a producer whose output fails here has a bug.
    """
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
        "uses": list(uses),
        "producer": producer,
    }
    data = canonical(fields) + b"\n"
    certificate = Certificate(data)
    return Checked(data, certificate.id, claim, rule, check(certificate))


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
