"""proofcheck lemma3: prove gap domination and write certificates."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.errors import FAILS, PROVED, MalformedInput, UsageError

from . import options

if TYPE_CHECKING:
    from proofcheck.solvers.portfolio import Solver
    from proofcheck.theorems.lemma3 import Instance, Outcome

DEFAULT_N = "3:8"
DEFAULT_EPS = "1/2,1/3,1/4,1/10"
LARGEST_DEFAULT_GAP = 8
LARGEST_N = 10**6


def command(
    n: Annotated[str | None, typer.Option("--n", metavar="A[:B]", help="Exact lengths, n >= 3. Default 3:8.")] = None,
    d: Annotated[
        str | None,
        typer.Option("--d", metavar="A[:B]", help="Overlap gaps, rational. Default: the admissible integers up to 8."),
    ] = None,
    eps: Annotated[
        str | None, typer.Option("--eps", metavar="Q[,Q..]", help=f"Error bounds in (0, 1/2]. Default {DEFAULT_EPS}.")
    ] = None,
    symbolic: Annotated[
        bool | None,
        typer.Option("--symbolic/--no-symbolic", help="The theorem for all n, d, eps. Default: only without a grid."),
    ] = None,
    solver: Annotated[str, typer.Option("--solver", metavar="z3|cvc5|both", help="Who answers the queries.")] = "z3",
    smt2: Annotated[Path | None, typer.Option("--smt2", metavar="DIR", help="Export every query here.")] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where certificates go.")] = Path(
        "certificates/lemma3"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes.")] = 1,
) -> int:
    """Prove Lemma 3 (gap domination): certificates, re-checked, and a table.

    Without options: the theorem for all n, d, eps, and the grid n = 3..8, d <= 8, eps = 1/2, 1/3, 1/4, 1/10, each
    instance with a witness that its factor is best. A gap below the admissible one ends with status 1 and a
    counter-model.
    """
    if solver not in ("z3", "cvc5", "both"):
        raise UsageError(f"--solver: expected z3, cvc5 or both, got {solver!r}")
    lengths = options.integers(DEFAULT_N if n is None else n, "--n", 3, LARGEST_N)
    epsilons = options.epsilons(DEFAULT_EPS if eps is None else eps)
    chosen_gaps = None if d is None else options.gaps(d)
    if len(lengths) * len(epsilons) * len(chosen_gaps or "12345678") > 20_000:
        raise UsageError("--n, --d, --eps: more than 20000 instances; ask for fewer at a time")

    from proofcheck.kernel.check import VERIFIED, check_file
    from proofcheck.solvers import smtlib
    from proofcheck.solvers.portfolio import Solver
    from proofcheck.theorems import lemma3

    from . import output

    if chosen_gaps is None:
        instances = list(lemma3.grid(lengths, LARGEST_DEFAULT_GAP, epsilons))
    else:
        instances = [lemma3.Instance(k, gap, e) for k in lengths for e in epsilons for gap in chosen_gaps]
    if symbolic is None:
        symbolic = n is None and d is None and eps is None
    tasks: list[Instance | None] = ([None] if symbolic else []) + instances
    results = []
    for done in output.in_parallel(functools.partial(_work, solver=Solver(solver)), tasks, jobs, "proving"):
        for outcome, seconds in done:
            path = outcome.certificate.write(out, outcome.name)
            report = check_file(str(path))
            if report.status != VERIFIED or report.certificate.id != outcome.certificate.id:
                raise MalformedInput(f"{path}: does not verify after writing: {report.message}")
            if smt2 is not None:
                for query in outcome.queries:
                    smtlib.write(query, smt2)
            results.append(_summary(outcome, path, seconds))

    failed = [r for r in results if r["claim"] == "gap-countermodel"]
    status = FAILS if failed else PROVED
    _show(results, as_json)
    if as_json:
        output.print_json({"status": status, "results": results})
    where = output.console(as_json)
    where.print(f"{len(results)} certificates written to {out} and re-checked by the kernel.", markup=False)
    for result in failed:
        where.print(
            f"Lemma 3 does not apply: {result['statement']}. The gap must be at least "
            f"{result['least gap']}: below it a large self weight alpha(x,x) satisfies the three inputs."
        )
    return status


def _work(task: Instance | None, solver: Solver) -> list[tuple[Outcome, float]]:
    from proofcheck.theorems import lemma3

    start = time.perf_counter()
    if task is None:
        outcomes = [lemma3.prove_symbolic(solver)]
    elif task.admissible:
        outcomes = lemma3.prove(task, solver)
    else:
        outcomes = [lemma3.refute(task, solver=solver)]
    seconds = (time.perf_counter() - start) / len(outcomes)
    return [(outcome, seconds) for outcome in outcomes]


def _summary(outcome: Outcome, path: Path, seconds: float) -> dict[str, Any]:
    import json

    from proofcheck.kernel.claims.parameters import least_gap
    from proofcheck.kernel.exact import number

    certificate = outcome.certificate
    parameters = json.loads(certificate.data)["parameters"]
    summary = {
        "claim": certificate.claim,
        "parameters": parameters,
        "statement": certificate.verdict.claim,
        "rule": certificate.rule,
        "checked": certificate.verdict.checked,
        "assumed": certificate.verdict.assumed,
        "certificate": certificate.id,
        "file": str(path),
        "seconds": round(seconds, 4),
    }
    if "n" in parameters:
        summary["least gap"] = str(least_gap(parameters["n"], number(parameters["eps"], "eps")))
    return summary


def _show(results: list[dict[str, Any]], as_json: bool) -> None:
    """One row per instance: the factor, the certificates of domination and of tightness."""
    from proofcheck.kernel.claims.parameters import factor
    from proofcheck.kernel.exact import number

    from . import output

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for result in results:
        p = result["parameters"]
        key = (
            ("all n >= 3", "d >= 2eps(n-1)/(n-2)", "0 < eps <= 1/2")
            if not p
            else (str(p["n"]), str(p["d"]), str(p["eps"]))
        )
        row = rows.setdefault(key, {"factor": "(n-2)(d-2eps)/(2eps)"})
        if p:
            row["factor"] = str(factor(p["n"], number(p["d"], "d"), number(p["eps"], "eps")))
        row[result["claim"].removesuffix("-symbolic")] = result["certificate"][:12]
    cells = [
        [
            *key,
            row["factor"] if "gap-countermodel" not in row else "none",
            {"gap-countermodel": "COUNTER-MODEL"}.get(next(c for c in row if c.startswith("gap")), "proved"),
            row.get("gap-domination", row.get("gap-countermodel", "")),
            row.get("gap-tightness", ""),
        ]
        for key, row in rows.items()
    ]
    title = "Lemma 3: alpha(x,y) > factor * alpha(x,z) where <x,z> - <x,y> = d"
    columns = ["n", "d", "eps", "factor", "result", "certificate", "factor is best"]
    output.console(as_json).print(output.table(title, columns, cells, right=range(4)))
