"""proofcheck sweep: searches over a grid of (m, r, n, eps, seed), by local processes or Ray, and one merged table.

A command of its own and no option of `search`: its grid replaces -m, -r and --seed, its folder is a state to go on
from, and its status speaks about cells, not about one head.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.errors import UsageError
from proofcheck.kernel.exact import shown

from .theorems import AsJson

if TYPE_CHECKING:
    from proofcheck.sweeps.sweep import Engine, Report


def command(
    grid: Annotated[
        str, typer.Argument(metavar="GRID", help='As "m=4:6,r=m-2,seed=0:3": A, A:B, m-2; also n=3,4 and eps=1/2,1/4.')
    ],
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=1024, help="Local processes.")] = 1,
    engine: Annotated[str, typer.Option("--engine", help="local or ray.")] = "local",
    address: Annotated[str | None, typer.Option("--address", help="The Ray cluster; none: a Ray started here.")] = None,
    gpus: Annotated[float, typer.Option("--gpus", min=0, max=64, help="GPUs per shard under Ray, as 0.25.")] = 0.0,
    retries: Annotated[int, typer.Option("--retries", min=0, max=100, help="Of a shard that fails.")] = 2,
    part: Annotated[str, typer.Option("--part", metavar="I/K", help="Run part I of K only.")] = "1/1",
    heads: Annotated[int, typer.Option("--heads", min=1, max=4096, help="Heads trained at once.")] = 8,
    steps: Annotated[int, typer.Option("--steps", min=1, max=10**7, help="Steps of a restart.")] = 3000,
    restarts: Annotated[int, typer.Option("--restarts", min=1, max=10**4, help="Restarts at most.")] = 4,
    features: Annotated[str, typer.Option("--features", help="bounded, exp or signed.")] = "bounded",
    start: Annotated[str, typer.Option("--start", help="mixtures or normal.")] = "mixtures",
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", min=1, max=256, help="Threads of torch on the CPU.")] = 1,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of this sweep.")] = Path("sweep"),
    as_json: AsJson = False,
) -> int:
    """Search for heads at every point of a grid. Can be interrupted: the same command goes on where it stopped.

    The results, in DIR/merged.json, are the same bytes whatever the engine, the order, retries or interrupts. Exit
    status 0: every (m, r, n, eps) has a certified head. 1: none is open, and in some the best heads of all seeds are
    refuted (no statement about other heads). 3: some are open, failed, or not run yet.
    """
    from importlib.metadata import PackageNotFoundError, version

    from proofcheck.sweeps import plan as planner
    from proofcheck.sweeps import sweep

    from . import output

    settings = planner.Settings(heads, steps, restarts, features, start, device, threads)
    plan = planner.Plan.of(planner.grid(grid), settings)
    chosen = engine_of(engine, jobs, address, gpus, retries)
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", part, re.ASCII)
    if not match:
        raise UsageError(f"--part: expected I/K, as 1/4, got {shown(part)}")
    members = plan.part(int(match[1]), int(match[2]))
    try:
        version("torch")  # not imported here: the workers do
    except PackageNotFoundError:
        raise UsageError("sweep needs torch: install proofcheck[search]") from None
    work = None
    if engine == "ray" and address is not None:  # other machines may not see this folder
        from proofcheck.sweeps.work import Search

        work = Search(None)
    report = sweep.run(plan, out, chosen, part=members, work=work, progress=lambda line: typer.echo(line, err=True))
    if as_json:
        output.print_json(as_object(report, out))
        return report.status
    if report.merged is not None:
        rows = [row(cell) for cell in report.merged["cells"]]
        columns = ["m", "r", "n", "eps", "outcome", "seeds found", "nearest", "certificate"]
        output.console(False).print(output.table(f"{len(plan.shards)} searches", columns, rows, right=range(4)))
    typer.echo(summary(report, out))
    return report.status


def engine_of(engine: str, jobs: int, address: str | None, gpus: float, retries: int) -> Engine:
    from proofcheck.sweeps import engines

    if engine not in engines.ENGINES:
        raise UsageError(f"--engine: expected {' or '.join(engines.ENGINES)}, got {shown(engine)}")
    if engine == "local":
        for option, given in (("--address", address is not None), ("--gpus", gpus > 0)):
            if given:
                raise UsageError(f"{option}: for --engine ray only")
        return functools.partial(engines.local, jobs=jobs, retries=retries)
    return functools.partial(engines.ray, jobs=jobs, retries=retries, address=address, gpus=gpus)


def row(cell: dict[str, Any]) -> list[str]:
    shards = cell["shards"]
    found = [shard["seed"] for shard in shards if shard["outcome"] == "found"]
    nearest = min((float(shard["nearest"]) for shard in shards), default=0.0)
    place = [str(cell[name]) for name in ("m", "r", "n", "eps")]
    count = f"{len(found)} of {len(shards)}"
    return [*place, cell["outcome"], count, f"{nearest:.4g}", (certificates(cell) or ["-"])[0][:12]]


def certificates(cell: dict[str, Any]) -> list[str]:
    """The ids of what shows the outcome of a cell: head-exists where a head was found, otherwise refutations."""
    claim = "head-exists" if cell["outcome"] == "found" else "kernel-refutation"
    found = [item["id"] for shard in cell["shards"] for item in shard["certificates"] if item["claim"] == claim]
    return list(dict.fromkeys(found))


def summary(report: Report, out: Path) -> str:
    total = len(report.plan.shards)
    spent = f"{report.ran} of {total} shards run, {report.kept} kept from before, {len(report.failed)} failed"
    if report.merged is None:
        return f"{spent}: {report.missing} are missing, so nothing is merged; run the same command again to go on."
    outcomes = [cell["outcome"] for cell in report.merged["cells"]]
    counts = ", ".join(f"{outcomes.count(name)} {name}" for name in ("found", "refuted", "open") if name in outcomes)
    return f"{counts} ({spent}); {out / 'merged.json'}"


def as_object(report: Report, out: Path) -> dict[str, object]:
    """For --json: no floats and no times."""
    cells = None
    if report.merged is not None:
        names = ("m", "r", "n", "eps", "outcome")
        cells = [
            {**{name: cell[name] for name in names}, "certificates": certificates(cell)}
            for cell in report.merged["cells"]
        ]
    return {
        "plan": report.plan.id,
        "shards": len(report.plan.shards),
        "ran": report.ran,
        "kept": report.kept,
        "missing": report.missing,
        "failed": [
            {"id": f.task.id, **f.task.described(), "reason": f.reason, "tries": f.tries} for f in report.failed
        ],
        "cells": cells,
        "merged": str(out / "merged.json") if report.merged is not None else None,
        "status": report.status,
    }
