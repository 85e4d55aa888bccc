"""proofcheck bound --table, --update and --ledger: many m at once."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proofcheck.certificate import in_file_name, write_atomically
from proofcheck.errors import CONDITIONAL, PROVED, ClaimFails, MalformedInput, UsageError

if TYPE_CHECKING:
    from proofcheck.bounds.best import Window
    from proofcheck.bounds.ledger import Line

Task = tuple[int, int, Fraction]
SIDES = ("lower", "unconditional", "upper")


def known(n: int, eps: Fraction, out: Path, supplied: Iterable[Path]) -> list[Any]:
    """The entries of the ledger below `out` for (n, eps), and of the certificates supplied."""
    from proofcheck.bounds import ledger

    entries = ledger.read(out, n, eps)
    paths = list(supplied)
    return entries + (ledger.supplied(paths, n, eps) if paths else [])


def with_known(window: Window, out: Path, supplied: Iterable[Path]) -> Window:
    from proofcheck.bounds import ledger

    return ledger.improved(window, known(window.n, window.eps, out, supplied))


def _row(task: Task, thorough: bool = False) -> Window:
    from proofcheck.bounds import best

    return best.window(*task, thorough=thorough)


def _row_json(task: Task) -> dict[str, Any]:
    return _row(task).as_json()


def table(
    ms: range, n: int, eps: Fraction, out: Path, plot: Path | None, as_json: bool, jobs: int, supplied: list[Path]
) -> int:

    from . import output

    entries = known(n, eps, out, supplied)
    store = out / "tables" / f"bounds-n{n}-eps{in_file_name(eps)}.jsonl"
    done = _stored(store)
    tasks = [(m, n, eps) for m in ms if m not in done]
    for row in output.in_parallel(_row_json, tasks, jobs, "bounds"):
        done[int(row["m"])] = row
        lines = (json.dumps(done[m], sort_keys=True) for m in sorted(done))
        write_atomically(store, "".join(f"{line}\n" for line in lines).encode())
    rows = _carried([_with_entries(done[m], entries) for m in ms])
    for row in rows:
        if int(row["lower"]["value"]) > int(row["upper"]["value"]):
            raise ClaimFails(f"{store}: the bounds cross at m={row['m']}: something is unsound")
    if plot is not None:
        from proofcheck.report import bounds as pictures

        pictures.draw(rows, plot)
        typer.echo(f"drawn: {plot}", err=True)
    status = CONDITIONAL if any(row[side]["assumes"] for row in rows for side in SIDES) else PROVED
    if as_json:
        output.print_json({"status": status, "rows": rows})
        return status
    cells = [
        [
            str(row["m"]),
            row["paper"]["lower"]["log2"],
            row["unconditional"]["log2"],
            row["lower"]["log2"],
            row["upper"]["log2"],
            row["lower"]["method"],
            row["upper"]["method"],
        ]
        for row in rows
    ]
    columns = ["m", "paper", "nothing assumed", "lower", "upper", "how (lower)", "how (upper)"]
    output.console(as_json).print(output.table(f"log2 r*(m,{n}), error < {eps}", columns, cells, right=range(5)))
    return status


def _stored(store: Path) -> dict[int, dict[str, Any]]:
    """The rows computed so far, by m."""
    done: dict[int, dict[str, Any]] = {}
    if not store.exists():
        return done
    for number, line in enumerate(store.read_text(encoding="ascii", errors="replace").splitlines(), 1):
        try:
            row = json.loads(line)
            for side in SIDES:
                int(row[side]["value"]), float(row[side]["log2"]), str(row[side]["method"]), list(row[side]["assumes"])
            for side in ("lower", "upper"):
                float(row["paper"][side]["log2"])
            done[int(row["m"])] = row
        except (ValueError, KeyError, TypeError):
            raise MalformedInput(f"{store}: line {number} is not a row of a table; delete it") from None
    return done


def _with_entries(row: dict[str, Any], entries: list[Any]) -> dict[str, Any]:
    """The row with the entries that are better at its m."""
    from proofcheck.bounds import ledger

    changed = dict(row)
    for name in SIDES:
        entry = ledger.better(entries, int(row["m"]), name, int(row[name]["value"]))
        if entry is not None:
            changed[name] = entry.bound().as_json()
    return changed


def _carried(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """r*(m,n) does not decrease in m: lower bounds carry over to larger m, upper bounds to smaller ones."""
    rows = [dict(row) for row in rows]
    for name in ("lower", "unconditional"):
        for before, row in itertools.pairwise(rows):
            if int(before[name]["value"]) > int(row[name]["value"]):
                row[name] = _at(before, name)
    for after, row in itertools.pairwise(reversed(rows)):
        if int(after["upper"]["value"]) < int(row["upper"]["value"]):
            row["upper"] = _at(after, "upper")
    return rows


def _at(row: dict[str, Any], name: str) -> dict[str, Any]:
    method = row[name]["method"]
    return row[name] | {"method": method if " (of m=" in method else f"{method} (of m={row['m']})"}


def show(out: Path, wanted: list[tuple[int, Fraction]], as_json: bool) -> int:
    """The tables of the ledger for the (n, eps) wanted."""
    from proofcheck.bounds import ledger

    from . import output

    tables = [(n, eps, ledger.table(out, n, eps)) for n, eps in wanted]
    for n, eps, lines in tables:
        if not lines:
            raise UsageError(f"--out: no ledger (rstar/{ledger.folder(n, eps)}/*.json on both sides) below {out}")
    assumed = any(line.lower.assumes or line.upper.assumes for _, _, lines in tables for line in lines)
    status = CONDITIONAL if assumed else PROVED
    if as_json:
        spelled = [{"n": n, "eps": str(eps), "rows": [_line(line) for line in lines]} for n, eps, lines in tables]
        output.print_json({"status": status, "tables": spelled})
    else:
        print("\n".join(ledger.markdown(lines, n, eps) for n, eps, lines in tables), end="")
    return status


def _line(line: Line) -> dict[str, Any]:
    sides = (("lower", line.lower), ("unconditional", line.unconditional), ("upper", line.upper))
    return {
        "m": line.m,
        "closed": line.closed,
        **{
            side: {"value": str(e.value), "method": e.method, "certificate": e.id, "assumes": list(e.assumes)}
            for side, e in sides
        },
    }


def all_tables(out: Path) -> list[tuple[int, Fraction]]:
    from proofcheck.bounds import ledger

    wanted = ledger.parameters(out)
    if not wanted:
        raise UsageError(f"--out: no ledger (rstar/n3-eps1over2/*.json, say) below {out}")
    return wanted


def update(ms: range, n: int, eps: Fraction, out: Path, jobs: int, supplied: list[Path], thorough: bool) -> int:
    """Improves the ledger, m by m: what is written stays written if the run is interrupted."""
    from proofcheck.bounds import ledger

    from . import output

    entries = ledger.read(out, n, eps)
    others = ledger.supplied(supplied, n, eps) if supplied else []
    tasks = [(m, n, eps) for m in ms]
    for window in output.in_parallel(functools.partial(_row, thorough=thorough), tasks, jobs, "ledger"):
        for path in ledger.record(out, ledger.improved(window, others), entries):
            typer.echo(f"improved: {path}", err=True)
    return show(out, [(n, eps)], False)


GRID = [(n, Fraction(1, q)) for n in (3, 4, 8, 64, 1024) for q in (2, 4, 10)]


def exponent_row(n: int, eps: Fraction, out: Path) -> tuple[dict[str, Any], tuple[Any, Any]]:
    """The universal bounds for (n, eps), written below `out`: exponents rounded outwards, and both certificates."""
    from math import floor, log2

    from proofcheck.bounds import best, exponents

    command = f"proofcheck bound --exponents -n {n} --eps {eps}"
    lower, upper = exponents.lower(n, eps, command), exponents.upper(n, eps, command)
    label = f"n{n}-eps{in_file_name(eps)}"
    files = []
    for name, certificate in (("lower-exponent", lower), ("upper-exponent", upper)):
        best.rested(certificate).write(out)
        folder = "exponents-assuming" if certificate.verdict.assumed else "exponents"
        files.append(str(certificate.write(out / folder, f"{name}-{label}")))
    a, rho = Fraction(lower.parameters["a"]), Fraction(upper.parameters["rho"])
    result: dict[str, Any] = {
        "n": n,
        "eps": str(eps),
        "lower": {
            "exponent": f"{floor(log2(2 / (1 + a)) * 10**4) / 10**4:.4f}",
            "certificate": lower.id,
            "assumes": [],
        },
        "upper": {
            "exponent": f"{-floor(-log2(2 - 1 / rho) * 10**4) / 10**4:.4f}",
            "certificate": upper.id,
            "assumes": list(upper.verdict.assumed),
        },
        "paper": {
            "lower": "0.1" if (n, eps) == (3, Fraction(1, 2)) else "unstated",
            "theorem 5, best distance": f"{exponents.theorem5_rate(n, eps):.4f}",
            "upper": "1",
        },
        "files": files,
        "status": CONDITIONAL,
    }
    return result, (lower, upper)


def exponent_grid(out: Path, as_json: bool) -> int:
    from . import output

    rows = [exponent_row(n, eps, out)[0] for n, eps in GRID]
    if as_json:
        output.print_json({"status": CONDITIONAL, "rows": rows})
        return CONDITIONAL
    cells = [
        [
            str(row["n"]),
            row["eps"],
            row["paper"]["lower"],
            row["paper"]["theorem 5, best distance"],
            row["lower"]["exponent"],
            row["upper"]["exponent"],
            row["lower"]["certificate"][:12],
            row["upper"]["certificate"][:12],
        ]
        for row in rows
    ]
    columns = ["n", "eps", "paper", "Theorem 5 *", "lower", "upper", "certificate (lower)", "certificate (upper)"]
    output.console(as_json).print(output.table("log2 r*(m,n) / m for large m", columns, cells, right=range(6)))
    print("Lower bounds assume nothing, upper ones Bernstein's inequality. The paper's upper exponent is 1.")
    print("* one distance, the best uniform chain and the best code rate: a float, for comparison.")
    return CONDITIONAL
