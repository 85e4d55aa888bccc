"""proofcheck certify --values: the best affine readout of given values, or inputs on which none is correct."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofcheck.errors import CONDITIONAL, FAILS

if TYPE_CHECKING:
    from proofcheck.cube import Cube
    from proofcheck.heads import Head
    from proofcheck.readouts import NoReadout

MEANING = {"linear": "v(z) = z", "overlap": "v(z) = <x,z>", "own": "its own values"}


def fit(
    head: Head, values: str, n: int, eps: Fraction, cube: Cube, command: str, out: Path, result: dict[str, Any]
) -> tuple[int, list[str]]:
    """Exit status and lines; `result` gets what --json prints."""
    from proofcheck import readouts

    from .heads import keep, label

    found = readouts.best(head, values, n, eps, cube=cube, command=command)
    result |= {"values": values, "least_error": f"{found.error:.6g}"}
    if isinstance(found, readouts.NoReadout):
        result |= {"outcome": "no readout of these values", "query": f"{found.x:x}", "inputs": as_objects(found)}
        lines = no_readout(found, head.m, eps)
        if found.certificate is None:
            return CONDITIONAL, [*lines, "This is in floats only: too large for an exact check by the kernel."]
        path = keep(found.certificate, out, f"readout-refutation-{label(head, n, eps)}")
        result |= {"certificate": found.certificate.id, "file": str(path)}
        return FAILS, [*lines, f"Certificate: {path}"]
    result["outcome"] = "exhaustive-head"
    lines = [
        f"{head.name}: with {MEANING[values]} and an affine readout of its own for each query the worst error over ALL "
        f"sequences of length 1..{n} can be brought down to {found.error:.4g}."
    ]
    certificate = found.verdict.certificate
    if certificate is None:
        lines.append("The readout, rounded, was decided here in exact arithmetic; too large for a certificate.")
        return CONDITIONAL, lines
    path = keep(certificate, out, f"exhaustive-head-{label(head, n, eps)}")
    result |= {"certificate": certificate.id, "file": str(path)}
    return found.verdict.status, [*lines, f"The readout, rounded, in the certificate: {path}"]


def no_readout(found: NoReadout, m: int, eps: Fraction) -> list[str]:
    from . import explain

    lines = [
        f"{found.head}: some readout is correct, and none that is affine in {MEANING[found.values]}. At the query",
        f"  x = {explain.token(found.x, m)}",
        f"no <w, .> + b has errors below {eps} on all of these inputs (over all sequences {found.error:.4g} at least):",
    ]
    for given in found.inputs:
        tokens = ", ".join(
            f"{k} times {explain.token(z, m)}" if k > 1 else explain.token(z, m) for z, k in given.others
        )
        target = min(found.x.bit_count(), *((found.x & z).bit_count() for z, _ in given.others))
        asked = f"below {target} + {eps}" if given.side == "below" else f"above {target} - {eps}"
        lines.append(f"  (x{', ' + tokens if tokens else ''}): target {target}, the output must be {asked}")
    return lines


def as_objects(found: NoReadout) -> list[dict[str, Any]]:
    return [{"others": {f"{z:x}": k for z, k in given.others}, "side": given.side} for given in found.inputs]
