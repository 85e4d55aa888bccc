"""proofcheck bound: the best certified lower and upper bounds on r*(m,n), tables, pictures, the ledger."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from proofcheck.certificate import in_file_name
from proofcheck.errors import CONDITIONAL, PROVED, MalformedInput, UsageError

from . import options
from .theorems import CERTIFICATES, AsJson, Eps, Length, Out

LARGEST_TABLE_M = 3_000
LARGEST_M = 10**6


def command(
    m: Annotated[int | None, typer.Option("-m", help="Bits of a token, up to 10^6.")] = None,
    n: Length = 3,
    eps: Eps = "1/2",
    table: Annotated[str | None, typer.Option("--table", metavar="A:B", help="A table over m.")] = None,
    exponents: Annotated[bool, typer.Option("--exponents", help="The exponents for all m at once.")] = False,
    grid: Annotated[
        bool, typer.Option("--grid", help="With --exponents: all of n = 3, 4, 8, 64, 1024 and eps = 1/2, 1/4, 1/10.")
    ] = False,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Re-check and print the ledger's table for -n and --eps.")
    ] = False,
    update: Annotated[
        str | None, typer.Option("--update", metavar="A:B", help="Improve the ledger for these m.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="With --ledger: the tables for all n and eps.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="With --table: .png or .svg.")] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
    supplied: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="PATH", help="Certificates of bounds, of heads above all, that compete."),
    ] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="With --update: more kinds of heads, minutes each.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes, for --table and --update.")] = 1,
) -> int:
    """Certified lower and upper bounds on the feature rank r*(m,n), beside the paper's.

    A table can be interrupted: rows already computed are kept in DIR/tables and read again. The entries of the ledger
    below DIR for the same n and eps compete as well.
    """
    from . import bound_tables

    if (
        sum(
            wanted is not None and wanted is not False
            for wanted in (m, table, ledger or None, exponents or None, update)
        )
        != 1
    ):
        raise UsageError("bound: give one of -m, --table, --exponents, --ledger, --update")
    options.within(n, "-n", 1, 10**6, "a sequence has n >= 1 tokens (here up to 1000000)")
    error = options.epsilon(eps)
    if plot is not None and (table is None or plot.suffix not in (".png", ".svg")):
        raise UsageError(f"--plot: expected --table and a file named .png or .svg, got {plot}")
    if plot is not None:
        from proofcheck.report import require_matplotlib

        require_matplotlib("--plot")
    if every and not ledger:
        raise UsageError("--all: expected with --ledger")
    if ledger or update is not None:
        options.within(n, "-n", 3, 10**6, "the ledger is about n >= 3 (r*(m,1) = r*(m,2) = 1 by Theorem 6)")
    if thorough and update is None:
        raise UsageError("--thorough: expected with --update")
    if grid:
        if not exponents:
            raise UsageError("--grid: expected with --exponents")
        return bound_tables.exponent_grid(out, as_json)
    if ledger:
        wanted = bound_tables.all_tables(out) if every else [(n, error)]
        return bound_tables.show(out, wanted, as_json)
    if update is not None:
        ms = options.integers(update, "--update", 1, LARGEST_TABLE_M)
        return bound_tables.update(ms, n, error, out, jobs, supplied or [], thorough)
    if exponents:
        return _exponents(n, error, out, as_json)
    if table is not None:
        ms = options.integers(table, "--table", 1, LARGEST_TABLE_M)
        options.within(n, "-n", 3, 10**6, "a table needs n >= 3 (r*(m,1) = r*(m,2) = 1 by Theorem 6)")
        return bound_tables.table(ms, n, error, out, plot, as_json, jobs, supplied or [])
    bits = options.within(m or 0, "-m", 1, LARGEST_M, f"tokens have 1 <= m <= {LARGEST_M} bits")
    if n < 3:
        from proofcheck.theorems import theorem6

        from .theorems import finish

        return finish(lambda: theorem6.show(min(bits, 6)), out, as_json)
    if bits > LARGEST_TABLE_M:
        return _exponents(n, error, out, as_json, bits)
    return _one(bits, n, error, out, as_json, supplied or [])


def _one(m: int, n: int, eps: Fraction, out: Path, as_json: bool, supplied: list[Path]) -> int:
    from proofcheck.bounds import best

    from . import bound_tables, output

    start = time.perf_counter()
    window = bound_tables.with_known(best.window(m, n, eps), out, supplied)
    files = {}
    label = f"m{m}-n{n}-eps{in_file_name(eps)}"
    for side, bound in (("lower", window.lower), ("unconditional", window.unconditional), ("upper", window.upper)):
        best.rested(bound.certificate).write(out)
        files[side] = str(bound.certificate.write(out / "bounds", f"{side}-{label}"))
    _recheck(out, files.values())
    status = CONDITIONAL if window.lower.assumes or window.upper.assumes else PROVED
    if as_json:
        output.print_json(
            window.as_json() | {"status": status, "files": files, "seconds": round(time.perf_counter() - start, 2)}
        )
        return status
    rows = []
    for name, bound in (
        ("lower", window.lower),
        ("lower, nothing assumed", window.unconditional),
        ("upper", window.upper),
    ):
        data = bound.as_json()
        assumed = "; ".join(bound.assumes) or "nothing"
        rows.append([name, _digits(bound.value), str(data["log2"]), bound.method, assumed, bound.certificate.id[:12]])
    for name, value in zip(("the paper: lower", "the paper: upper"), window.paper, strict=True):
        rows.append([name, _digits(value), f"{_log2(value):.4f}", "", "", ""])
    where = output.console(as_json)
    title = f"r*({m},{n}), error < {eps}"
    where.print(output.table(title, ["bound", "value", "log2", "how", "assumes", "certificate"], rows, right=[1, 2]))
    where.print(f"Certificates: {', '.join(files.values())}", markup=False)
    return status


def _recheck(out: Path, paths: Any) -> None:
    from proofcheck.kernel.check import check_files

    others = {"bounds", "rstar", "rstar-assuming"}
    rest = [str(path) for path in out.rglob("*.json") if not others & set(path.relative_to(out).parts)]
    wanted = set(paths)
    for report in check_files([*rest, *wanted]):
        if report.path in wanted and (
            report.verdict is None or any("not supplied" in a for a in report.verdict.assumed)
        ):
            raise MalformedInput(f"{report.path}: does not verify after writing: {report.message}")


def _log2(value: int) -> float:
    from math import log2

    return log2(value)


def _digits(value: int) -> str:
    return str(value) if value < 10**15 else f"about 2^{_log2(value):.2f}"


def _exponents(n: int, eps: Fraction, out: Path, as_json: bool, m: int | None = None) -> int:
    """The universal bounds, and for one large m their logarithms, rounded outwards by one in the last place."""
    from math import log2

    from . import bound_tables, output

    options.within(n, "-n", 3, 10**6, "exponents need n >= 3")
    result, certificates = bound_tables.exponent_row(n, eps, out)
    lower, upper = certificates
    files = result["files"]
    a, kappa = Fraction(lower.parameters["a"]), Fraction(lower.parameters["kappa"])
    rho, eta = Fraction(upper.parameters["rho"]), Fraction(upper.parameters["eta"])
    if m is not None:
        even = m - m % 2
        low = even * log2(2 / (1 + a)) - log2(4 * kappa * (even + 1))
        high = min(m, m * log2(2 - 1 / rho) + log2(8 * m / eta**2))
        margin = 1e-9 * m + 1e-6  # far above the rounding of these few floating-point operations
        result["m"] = m
        result["log2"] = {"lower": f"{low - margin:.4f}", "upper": f"{high + margin:.4f}"}
    if as_json:
        output.print_json(result)
        return CONDITIONAL
    rows = [
        ["lower", result["lower"]["exponent"], lower.verdict.claim, "nothing", lower.id[:12]],
        ["upper", result["upper"]["exponent"], upper.verdict.claim, "; ".join(upper.verdict.assumed), upper.id[:12]],
    ]
    where = output.console(as_json)
    title = f"log2 r*(m,{n}) / m for large m, error < {eps}"
    where.print(output.table(title, ["side", "exponent", "for all m", "assumes", "certificate"], rows))
    if m is not None:
        where.print(f"m = {m}: {result['log2']['lower']} <= log2 r* <= {result['log2']['upper']}")
    where.print(f"Certificates: {', '.join(files)}", markup=False)
    return CONDITIONAL
