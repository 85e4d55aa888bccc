"""One command per claim of the paper, beside lemma3: parameters in, certificates and a table out."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofcheck.errors import CONDITIONAL, PROVED, MalformedInput, UsageError

from . import options

if TYPE_CHECKING:
    from proofcheck.codes import Code
    from proofcheck.theorems.bundle import Shown

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where certificates go, a folder per claim.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Bits = Annotated[int, typer.Option("-m", help="Bits of a token.")]
Length = Annotated[int, typer.Option("-n", help="Length of a sequence.")]
Eps = Annotated[str, typer.Option("--eps", metavar="Q", help="Error bound in (0, 1/2].")]
CodeFile = Annotated[Path | None, typer.Option("--code", metavar="FILE", help="Words: a line 'm weight', then hex.")]
CERTIFICATES = Path("certificates")
MAX_M = 10_000


def finish(show: Callable[[], Shown], out: Path, as_json: bool) -> int:
    """Runs `show`, writes its certificates, has the kernel check the written files, and prints what was shown."""
    from proofcheck.kernel.check import VERIFIED, check_files

    from . import output

    start = time.perf_counter()
    shown = show()
    paths = shown.bundle.write(out)
    reports = check_files([str(path) for path in paths])
    for report in reports:
        if report.verdict is None:
            raise MalformedInput(f"{report.path}: does not verify after writing: {report.message}")
    seconds = time.perf_counter() - start
    status = PROVED if all(report.status == VERIFIED for report in reports) else CONDITIONAL
    if as_json:
        files = {name: str(path) for (name, _), path in zip(shown.bundle, paths, strict=True)}
        result = shown.as_json() | {"status": status, "seconds": round(seconds, 3)}
        for certificate in result["certificates"]:
            certificate["file"] = files[certificate["name"]]
        output.print_json(result)
        return status
    where = output.console(as_json)
    rows = [
        [
            certificate.id[:12],
            certificate.rule,
            certificate.verdict.claim if name in shown.main else f"(rests on) {name}",
        ]
        for name, certificate in shown.bundle
    ]
    where.print(output.table(f"{shown.claim} - {shown.statement}", ["certificate", "rule", "statement"], rows))
    for name, text in shown.figures.items():
        where.print(f"  {name}: {text}", markup=False)
    for text in shown.uncovered:
        where.print(f"  no certificate covers: {text}", markup=False)
    where.print(
        f"{len(paths)} certificates written to {out} and re-checked by the kernel, {seconds:.1f} s.", markup=False
    )
    return status


def _read_code(path: Path | None) -> Code | None:
    from proofcheck import codes

    return None if path is None else codes.read(path)


def theorem1(
    n: Length = 3,
    eps: Eps = "1/2",
    tau: Annotated[
        str | None, typer.Option("--tau", metavar="Q", help="A rational temperature. Default: about log(n/eps).")
    ] = None,
    m: Annotated[
        int | None, typer.Option("-m", help="Bits of the exhaustive check of 2^(m n) sequences; by default at most 4.")
    ] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Theorem 1: dense softmin answers Min-IP at temperature log(n/eps)."""
    options.within(n, "-n", 1, 10**6, "Theorem 1 is about lengths 1 <= n (here up to 1000000)")
    if m is not None:
        options.within(m, "-m", 1, 12, "the exhaustive check enumerates 2^(m n) sequences")
    error = options.epsilon(eps)
    warmth = None if tau is None else options.rational(tau, "--tau", "a positive temperature")
    if warmth is not None and not 0 < warmth <= 1000:
        raise UsageError(f"--tau: expected 0 < tau <= 1000, got {tau}")
    from proofcheck.theorems import theorem1

    return finish(lambda: theorem1.show(n, error, warmth, m), out, as_json)


def theorem2(
    m: Bits = 8,
    w: Annotated[str, typer.Option("--w", metavar="Q", help="e^-tau, a rational in (0, 1).")] = "1/6",
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Theorem 2: the softmin kernel has exact rank 2^m, and 2^m positive features."""
    options.within(m, "-m", 1, 8, "the kernel matrix is checked for 1 <= m <= 8 (the theorem holds for all m)")
    weight = options.rational(w, "--w", "0 < w < 1")
    if not 0 < weight < 1:
        raise UsageError(f"--w: expected 0 < w < 1, got {w}")
    from proofcheck.theorems import theorem2

    return finish(lambda: theorem2.show(m, weight), out, as_json)


def lemma4(
    matrix: Annotated[
        Path | None, typer.Option("--matrix", metavar="FILE", help='JSON list of rows; numbers or "p/q".')
    ] = None,
    size: Annotated[int, typer.Option("--size", min=1, max=60, help="Size of a random example.")] = 12,
    lam: Annotated[str, typer.Option("--lam", metavar="Q", help="lambda of the example, > 0.")] = "3",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the example.")] = 0,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Lemma 4: an approximate identity has large rank."""
    bound = options.rational(lam, "--lam", "lambda > 0")
    if bound <= 0:
        raise UsageError(f"--lam: expected lambda > 0, got {lam}")
    entries = None if matrix is None else _read_matrix(matrix)
    from proofcheck.theorems import lemma4

    return finish(lambda: lemma4.show(entries, size, bound, seed), out, as_json)


def _read_matrix(path: Path) -> list[list[Fraction]]:
    from proofcheck.kernel.check import read
    from proofcheck.kernel.claims import statement
    from proofcheck.kernel.exact import Malformed, load_json

    try:
        value = load_json(read(str(path)))
        matrix = statement("matrix-rank", {"matrix": value, "rank": 1})
    except Malformed as error:
        raise MalformedInput(f"{path}: {str(error).replace('parameters.matrix', 'matrix')}") from None
    if not matrix.columns:
        raise MalformedInput(f"{path}: matrix: expected rows with at least one entry")
    return [[matrix.entry(i, j) for j in range(matrix.columns)] for i in range(matrix.rows)]


def theorem5(
    m: Bits,
    n: Length = 3,
    eps: Eps = "1/2",
    code: CodeFile = None,
    delta: Annotated[
        int | None, typer.Option("--delta", help="Directed distance; the code exists by greedy packing.")
    ] = None,
    gap: Annotated[
        int | None, typer.Option("--gap", help="Gap of the paper's uniform chain. Default: the best.")
    ] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Theorem 5: a code and a chain of gaps bound the feature rank from below."""
    options.within(m, "-m", 1, MAX_M, f"tokens have 1 <= m <= {MAX_M} bits")
    options.within(n, "-n", 3, 10**6, "Theorem 5 needs n >= 3")
    error = options.epsilon(eps)
    from proofcheck.theorems import theorem5

    return finish(lambda: theorem5.show(m, n, error, _read_code(code), delta, gap), out, as_json)


def theorem6(m: Bits = 168, out: Out = CERTIFICATES, as_json: AsJson = False) -> int:
    """Theorem 6: rank one up to length 2, exponential rank at length 3."""
    options.within(m, "-m", 1, MAX_M, f"tokens have 1 <= m <= {MAX_M} bits")
    from proofcheck.theorems import theorem6

    return finish(lambda: theorem6.show(m), out, as_json)


def corollary7(
    m: Annotated[int | None, typer.Option("-m", help="Bits of a token. Default: growth along n = m + 2.")] = None,
    n: Annotated[int | None, typer.Option("-n", help="Length of a sequence. Default m + 2.")] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Corollary 7: the explicit bound for a long context."""
    if m is None and n is not None:
        raise UsageError("-n: give -m too")
    if m is not None:
        options.within(m, "-m", 8, 4000, "Corollary 7 needs 2 <= Delta <= M/4, so m >= 8 (here up to 4000)")
    if n is not None:
        options.within(n, "-n", 4, 10**9, "Corollary 7 needs log2(n-2) > 0, so n >= 4 (here up to 10^9)")
    from proofcheck.theorems import corollary7

    return finish(lambda: corollary7.show(m, n), out, as_json)


def theorem8(
    n: Length = 6,
    d: Annotated[str, typer.Option("--d", metavar="Q", help="Overlap gap.")] = "2",
    eps: Eps = "1/2",
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Theorem 8: position-dependent maps and a causal final query."""
    options.within(n, "-n", 3, 10**6, "Theorem 8 needs n >= 3")
    error = options.epsilon(eps)
    (gap,) = options.gaps(d) if ":" not in d else (Fraction(0),)
    if gap <= 0:
        raise UsageError(f"--d: expected one gap, got {d}")
    from proofcheck.theorems import theorem8

    return finish(lambda: theorem8.show(n, gap, error), out, as_json)


def theorem9(
    big_m: Annotated[int, typer.Option("-M", help="Bits of the code words.")] = 12,
    s: Annotated[int, typer.Option("-s", help="Levels 0..s per slot.")] = 2,
    q: Annotated[int, typer.Option("-q", help="Queries.")] = 4,
    code: CodeFile = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Theorem 9: bits that must cross between tokens at finite precision."""
    options.within(big_m, "-M", 2, 4096, "code words have 2 <= M <= 4096 bits")
    options.within(s, "-s", 1, 1000, "Theorem 9 needs s >= 1")
    options.within(q, "-q", 1, 500, "Theorem 9 needs q >= 1 (explicit families here have q <= 500)")
    from proofcheck.theorems import theorem9

    return finish(lambda: theorem9.show(big_m, s, q, _read_code(code)), out, as_json)


def proposition10(
    m: Annotated[str, typer.Option("-m", metavar="A[:B]", help="Bits of a token, 32..4096.")] = "",
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Proposition 10: how large the multilevel family is."""
    chosen = list(options.integers(m, "-m", 32, 4096)) if m else None
    from proofcheck.theorems import proposition10

    return finish(lambda: proposition10.show(chosen), out, as_json)


def domination(out: Out = CERTIFICATES, as_json: AsJson = False) -> int:
    """B0: a kernel is correct for some readout if and only if the pairwise inequalities hold."""
    from proofcheck.theorems import central

    return finish(central.show, out, as_json)


def chain(
    n: Length = 3,
    eps: Eps = "1/2",
    distance: Annotated[str, typer.Option("--distance", metavar="A[:B]", help="Overlap differences D.")] = "2:12",
    delta: Annotated[str, typer.Option("--delta", metavar="Q", help="Slack of the tightness witness.")] = "1/100",
    draw: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Draw the last chain: .svg or .png.")
    ] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """The best chain of gaps for an overlap difference, and a row that shows it is best."""
    options.within(n, "-n", 3, 10**6, "a chain needs n >= 3")
    error = options.epsilon(eps)
    distances = options.integers(distance, "--distance", 1, 60)
    slack = options.rational(delta, "--delta", "a positive slack")
    if slack <= 0:
        raise UsageError(f"--delta: expected a positive slack, got {delta}")
    if draw is not None and draw.suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"--draw: expected a file named .svg or .png, got {draw}")
    from proofcheck import chains, report
    from proofcheck.theorems import central

    picture = chains.best(n, error, distances[-1]) if draw is not None else None
    if draw is not None:
        if picture is None:
            raise UsageError(f"--draw: no admissible chain spans the distance {distances[-1]}")
        report.require_matplotlib("--draw")
    status = finish(lambda: central.show_chains(n, error, distances, slack), out, as_json)
    if draw is not None and picture is not None:
        from proofcheck.report import chains as pictures

        pictures.draw(picture, draw)
        typer.echo(f"drawn: {draw}", err=True)
    return status
