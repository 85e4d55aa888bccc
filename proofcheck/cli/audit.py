"""proofcheck audit: kernels x m x r, each refuted, certified, or neither, with certificates and a heat map."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from proofcheck.certificate import in_file_name, write_atomically
from proofcheck.errors import CONDITIONAL, PROVED, MalformedInput, Outside, UsageError

from . import options
from .heads import HERE, LARGEST_REFUTED_M, Out, Seed, keep, label, load
from .theorems import AsJson, Eps, Length

Task = tuple[str, int, int, int, Fraction, int, str]
DECIDED_M = 8  # up to here a kernel that is not refuted is decided on all sequences
BRIEF = 20_000  # kernel evaluations of the refuter where all sequences are decided anyway
OUTCOMES = ("refuted", "certified", "none found", "outside")


def command(
    kernels: Annotated[
        str, typer.Option("--kernels", metavar="A,B,..", help="Built-in names or other SPECs, or all built-in ones.")
    ] = "all",
    m: Annotated[str, typer.Option("-m", metavar="A:B:STEP", help="Bits of a token.")] = "8:64:8",
    r: Annotated[str, typer.Option("-r", metavar="A,B,..", help="Features.")] = "16,64,256",
    n: Length = 3,
    eps: Eps = "1/2",
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes.")] = 1,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="A heat map: .png or .svg.")] = None,
    out: Out = HERE,
    as_json: AsJson = False,
) -> int:
    """A table kernel x m x r: refuted, certified on all sequences (m <= 8), none found, or outside the theorems.

    Can be interrupted: cells already computed are kept in DIR/audit and read again; those of files and of your own
    code are computed anew. Exit 3 if some cell is open.
    """
    from proofcheck.heads import builtin

    from . import output

    names = list(builtin.KERNELS) if kernels == "all" else list(dict.fromkeys(kernels.split(",")))
    ms = options.steps(m, "-m", 1, LARGEST_REFUTED_M)
    rs = options.steps(r, "-r", 1, 10**6)
    options.within(n, "-n", 3, 10**6, "B0 is about n >= 3 tokens")
    error = options.epsilon(eps)
    if plot is not None and plot.suffix not in (".png", ".svg"):
        raise UsageError(f"--plot: expected a file named .png or .svg, got {plot}")
    if plot is not None:
        from proofcheck.report import require_matplotlib

        require_matplotlib("--plot")
    folder = out / "audit"
    tasks = [(name, bits, features, n, error, seed, str(folder)) for name in names for bits in ms for features in rs]
    store = folder / f"cells-n{n}-eps{in_file_name(error)}-seed{seed}.jsonl"
    done = {key: cell for key, cell in _stored(store).items() if key[0] in builtin.KERNELS}
    for cell in output.in_parallel(_cell, [task for task in tasks if task[:3] not in done], jobs, "audit"):
        done[cell["kernel"], cell["m"], cell["r"]] = cell
        lines = [json.dumps(done[key], sort_keys=True) for key in sorted(done)]
        write_atomically(store, "".join(f"{line}\n" for line in lines).encode())
    cells = [done[task[:3]] for task in tasks]
    for name in set(names) - set(builtin.KERNELS):
        of_name = [cell for cell in cells if cell["kernel"] == name]
        if all(cell.get("unusable") for cell in of_name):
            raise UsageError(str(of_name[0]["reason"]))
    status = PROVED if all(cell["outcome"] in ("refuted", "certified") for cell in cells) else CONDITIONAL
    if plot is not None:
        from proofcheck.report import heads as pictures

        pictures.draw(cells, names, ms, rs, plot)
        typer.echo(f"drawn: {plot}", err=True)
    if as_json:
        output.print_json({"status": status, "n": n, "eps": str(error), "seed": seed, "cells": cells})
        return status
    rows = [
        [
            cell["kernel"],
            str(cell["m"]),
            str(cell["r"]),
            str(cell.get("features", "")),
            cell["outcome"] + (", guaranteed" if cell.get("guaranteed") else ""),
            cell.get("certificate", "")[:12] or cell.get("reason", ""),
            f"{cell['seconds']:.2f}",
        ]
        for cell in cells
    ]
    columns = ["kernel", "m", "r", "features", "outcome", "certificate or reason", "seconds"]
    title = f"Kernels at n = {n}, error < {error}, seed {seed}"
    output.console(False).print(output.table(title, columns, rows, right=[1, 2, 3, 6]))
    counts = {o: sum(cell["outcome"] == o for cell in cells) for o in OUTCOMES}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) + f"; certificates in {folder}")
    return status


def _stored(store: Path) -> dict[tuple[str, int, int], dict[str, Any]]:
    done: dict[tuple[str, int, int], dict[str, Any]] = {}
    if not store.exists():
        return done
    for number, line in enumerate(store.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            cell = json.loads(line)
            if cell["outcome"] not in OUTCOMES or not isinstance(cell["seconds"], float | int):
                raise ValueError
            done[str(cell["kernel"]), int(cell["m"]), int(cell["r"])] = cell
        except (ValueError, KeyError, TypeError):
            raise MalformedInput(f"{store}: line {number} is not a cell of an audit; delete it") from None
    return done


def _cell(task: Task) -> dict[str, Any]:
    """One kernel at one (m, r)."""
    from proofcheck import exhaust, refuter

    spec, m, r, n, eps, seed, folder = task
    start = time.perf_counter()
    cell: dict[str, Any] = {"kernel": spec, "m": m, "r": r}
    found: Any = None
    try:
        head = load(spec, m, r, seed, None)
        cell["features"] = head.rank
        found = refuter.refute(head, n, eps, seed=seed, budget=BRIEF if m <= DECIDED_M else None)
        if isinstance(found, refuter.NoneFound) and m <= DECIDED_M:
            found = exhaust.decide(head, n, eps)
    except Outside as outside:
        cell |= {"outcome": "outside", "reason": outside.kind}
    except UsageError as error:
        cell |= {"outcome": "outside", "reason": str(error), "unusable": True}
    if isinstance(found, refuter.Refutation | exhaust.Refutation):
        path = keep(found.certificate, Path(folder), f"refutation-{label(head, n, eps)}-seed{seed}")
        cell |= {"outcome": "refuted", "certificate": found.certificate.id, "file": str(path)}
        cell["guaranteed"] = getattr(found, "guaranteed", False)
    elif isinstance(found, exhaust.KernelCorrect):
        cell["outcome"] = "certified"
        if found.certificate is not None:
            path = keep(found.certificate, Path(folder), f"kernel-correct-{label(head, n, eps)}-seed{seed}")
            cell |= {"certificate": found.certificate.id, "file": str(path)}
        else:
            cell["reason"] = "decided; too large for a certificate"
    elif isinstance(found, refuter.NoneFound):
        cell |= {"outcome": "none found", "reason": f"nearest {found.best_ratio:.3g}"}
    elif found is not None:
        cell |= {"outcome": "outside", "reason": "signed"}
    return cell | {"seconds": round(time.perf_counter() - start, 3)}
