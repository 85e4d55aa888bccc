"""proofcheck transcript bound: how many bits must cross between tokens (mathematics.md A, Theorem 9, eq. 8)."""

from __future__ import annotations

import time
from math import log2
from typing import Annotated, Any

import typer

from proofcheck.errors import PROVED, ClaimFails

from . import options
from .heads import HERE, Out
from .theorems import AsJson

NECESSARY = "Necessary, never sufficient; nothing is said about states or messages that are unrestricted real numbers."


def bound(
    m: Annotated[str, typer.Option("-m", metavar="A[:B]", help="Bits of a token, 4..2048.")],
    n: Annotated[int | None, typer.Option("-n", help="Longest sequence. Default: as long as the code allows.")] = None,
    s: Annotated[int | None, typer.Option("-s", help="Levels 0..s per slot. Default: the best.")] = None,
    out: Out = HERE,
    as_json: AsJson = False,
) -> int:
    """The bits that any correct deterministic sketch model needs in its messages: L H r (dv+1) p for linear attention.

    For each m the best code known: greedy packing with exact binomials, or explicit words. The column "with the paper's
    s" takes Proposition 10's s = floor(m/log2 m) instead.
    """
    from proofcheck import transcripts
    from proofcheck.kernel.check import check_files
    from proofcheck.theorems import proposition10

    from . import output

    sizes = options.integers(m, "-m", 4, transcripts.MAX_M)
    start = time.perf_counter()
    lines: list[dict[str, Any]] = []
    paths = []
    for bits in output.track(sizes, "bounds"):
        best = transcripts.best_bound(bits, n, s)
        command = f"proofcheck transcript bound -m {bits}" + (f" -n {n}" if n else "") + (f" -s {best.s}" if s else "")
        label = f"m{bits}-n{n or 'any'}-s{best.s}-q{_short(best.q)}"
        code, certificate = best.certify(command)
        paths += [code.write(out, f"code-{label}"), certificate.write(out, f"transcript-bound-{label}")]
        paper = transcripts.best_bound(bits, n, proposition10.sizes(bits)[0]).bits if bits >= 32 and not s else None
        lines.append(best.as_json() | {"paper": paper, "certificate": certificate.id, "file": str(paths[-1])})
    for report in check_files([str(path) for path in paths]):
        if report.status != PROVED:
            raise ClaimFails(f"{report.path}: does not verify after writing: {report.message}")
    if as_json:
        output.print_json({"status": PROVED, "n": n, "bounds": lines, "says": NECESSARY})
        return PROVED
    rows = [
        [
            str(line["m"]),
            *(_number(line[name]) for name in ("M", "s", "words", "q")),
            str(line["code"]),
            _number(line["bits"]) + ("" if line["exact"] else " (rounded down)"),
            "" if line["paper"] is None else _number(line["paper"]),
            str(line["certificate"])[:12],
        ]
        for line in lines
    ]
    columns = ["m", "M", "s", "words", "q", "code", "bits >=", "with the paper's s", "certificate"]
    title = "Bits of all messages together: sum log2|Sigma_l| >= q log2(s+1), for linear attention L H r (dv+1) p"
    title += f"; sequences of at most {n} tokens" if n else "; sequences as long as the code allows"
    where = output.console(as_json)
    where.print(output.table(title, columns, rows, right=[0, 1, 2, 3, 4, 6, 7]))
    if any(line["M"] + line["s"] + 2 < line["m"] for line in lines):
        where.print(
            "Where M + 2 + s < m, the certificate is about M + 2 + s bits a token; append zeros for m bits.",
            markup=False,
        )
    where.print(
        f"{NECESSARY}\n{len(paths)} certificates written to {out} and re-checked by the kernel, "
        f"{time.perf_counter() - start:.1f} s.",
        markup=False,
    )
    return PROVED


def _short(value: int) -> str:
    return str(value) if value < 10**12 else f"2pow{log2(value):.0f}"


def _number(value: Any) -> str:
    return str(value) if int(value) < 10**12 else f"about 2^{log2(int(value)):.2f}"
