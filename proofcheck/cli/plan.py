"""proofcheck plan: what a design of attention layers needs for Min-IP, what is enough, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.errors import UsageError

from . import options
from .theorems import CERTIFICATES, AsJson, Eps, Out

if TYPE_CHECKING:
    from proofcheck.plan.allocation import Allocation, Impossible, Space
    from proofcheck.plan.design import Design, Plan

FEATURES = "16,32,64,128,256"
FORMATS = "fp32,bf16,fp8"
LARGEST_LIMIT = 10**15
MOST_CHOICES = 200  # of features times formats in an allocation


def command(
    m: Annotated[int, typer.Option("-m", help="Bits of a token, 4 to 2048.")],
    n: Annotated[int, typer.Option("-n", "--n", help="Tokens of a sequence at most, from 3 on.")],
    eps: Eps = "1/2",
    heads: Annotated[int, typer.Option("--heads", help="Heads of a layer.")] = 1,
    layers: Annotated[int, typer.Option("--layers", help="Layers.")] = 1,
    dv: Annotated[int, typer.Option("--dv", help="Values of a head.")] = 64,
    r: Annotated[int | None, typer.Option("-r", help="Features of a head; as many as values if not given.")] = None,
    precision: Annotated[
        str, typer.Option("--precision", help="Of states: fp64, fp32, fp16, bf16, fp8, fp8-e5m2, or intP.")
    ] = "bf16",
    width: Annotated[int | None, typer.Option("--width", help="Of the model; heads x dv if not given.")] = None,
    tau: Annotated[str | None, typer.Option("--tau", metavar="Q", help="Temperature of dense softmax.")] = None,
    minimise: Annotated[
        str | None,
        typer.Option("--minimise", help="Allocate heads to layers: least parameters, operations or memory."),
    ] = None,
    max_parameters: Annotated[
        int | None, typer.Option("--max-parameters", min=0, max=LARGEST_LIMIT, help="Limit of an allocation.")
    ] = (None),
    max_operations: Annotated[
        int | None, typer.Option("--max-operations", min=0, max=LARGEST_LIMIT, help="A token, all layers.")
    ] = None,
    max_memory: Annotated[
        int | None,
        typer.Option("--max-memory", min=0, max=LARGEST_LIMIT, help="Bytes of states and 16-bit parameters."),
    ] = None,
    features: Annotated[
        str | None, typer.Option("--features", help=f"Features of a head to choose from; {FEATURES} if not given.")
    ] = None,
    formats: Annotated[
        str | None, typer.Option("--formats", help=f"Formats of a layer to choose from; {FORMATS} if not given.")
    ] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """What Min-IP on m-bit tokens and up to n of them asks of a design: impossible, not excluded, or sufficient.

    With --minimise or a limit, also an allocation of heads, features and formats to layers that has the bits which
    eq. (8) asks for: necessary, never sufficient. Exit status 1: the design is impossible. 3: a line assumes a named
    theorem of mathematics.
    """
    from proofcheck.plan.advice import advise
    from proofcheck.plan.design import Design
    from proofcheck.plan.formats import named

    error = options.epsilon(eps)
    temperature = None if tau is None else options.rational(tau, "--tau", "tau > 0")
    if temperature is not None and not 0 < temperature <= 10**6:
        raise UsageError(f"--tau: expected 0 < tau <= 1000000, got {tau}")
    design = Design(
        m=m,
        n=n,
        eps=error,
        layers=layers,
        heads=heads,
        r=dv if r is None else r,
        dv=dv,
        precision=named(precision),
        width=heads * dv if width is None else width,
        tau=temperature,
    )
    limits = [("parameters", max_parameters), ("operations", max_operations)]
    limits.append(("memory", None if max_memory is None else 8 * max_memory))
    wanted = minimise or ("memory" if any(limit is not None for _, limit in limits) else None)
    if not wanted and (features or formats):
        raise UsageError("--features, --formats: expected with --minimise or a limit, for an allocation")
    space = _space(design, features or FEATURES, formats or FORMATS, limits, wanted) if wanted else None

    from proofcheck.bounds import best

    from . import bound_tables, output

    with output.errors.status(f"the best bounds on r*({m},{n})"):
        window = bound_tables.with_known(best.window(m, n, error), out, [])
    plan = advise(design, window)
    allocation = _allocated(space, plan, wanted) if space and wanted else None
    files = _write(plan, out)
    if as_json:
        output.print_json(_as_json(plan, files, space, allocation, wanted))
        return plan.status
    _print(plan, out, output.console(False))
    if space and wanted:
        _print_allocation(allocation, space, wanted, output.console(False))
    return plan.status


def _space(design: Design, features: str, formats: str, limits: list[tuple[str, int | None]], goal: str) -> Space:
    """What an allocation may choose from; the bits needed come with the plan."""
    from proofcheck.plan.allocation import GOALS, Space
    from proofcheck.plan.formats import named

    if goal not in GOALS:
        raise UsageError(f"--minimise: expected one of {', '.join(GOALS)}, got {goal[:40]!r}")

    rs = tuple(options.steps(features, "--features", 1, 10**6))
    kinds = tuple(dict.fromkeys(named(name.strip(), "--formats") for name in formats.split(",")))
    if len(rs) * len(kinds) > MOST_CHOICES:
        raise UsageError(f"--features, --formats: expected at most {MOST_CHOICES} pairs, got {len(rs) * len(kinds)}")
    given = tuple((name, limit) for name, limit in limits if limit is not None)
    return Space(
        layers=design.layers,
        heads=design.heads,
        dv=design.dv,
        width=design.width,
        features=rs,
        formats=kinds,
        bits=1,
        limits=given,
    )


def _allocated(space: Space, plan: Plan, goal: str) -> Allocation | Impossible | None:
    from dataclasses import replace

    from proofcheck.plan.allocation import allocate

    return allocate(replace(space, bits=plan.needed), goal)


def _write(plan: Plan, out: Path) -> list[str]:
    """Writes the certificates and has the kernel read all of them again."""
    from proofcheck.errors import MalformedInput
    from proofcheck.kernel.check import check_files

    files = [str(path) for path in plan.bundle.write(out)]
    for report in check_files(files):
        if report.verdict is None or any("not supplied" in text for text in report.verdict.assumed):
            raise MalformedInput(f"{report.path}: does not verify after writing: {report.message}")
    return files


def _print(plan: Plan, out: Path, where: Any) -> None:
    from . import output

    design = plan.design
    rows, topic = [], ""
    for line in plan.lines:
        if line.topic != topic:
            topic = line.topic
            rows.append([topic, "", "", "", ""])
        identifier = line.certificate.id[:12] if line.certificate else ""
        rows.append([f"  {line.asks}", line.has, line.verdict, line.why, identifier])
    title = f"Min-IP on {design.m}-bit tokens, at most {design.n} of them, error < {design.eps}: "
    title += f"{counted(design.layers, 'layer')} of {counted(design.heads, 'head')}, r = {design.r}, dv = {design.dv}, "
    title += design.precision.name
    columns = ["what it takes", "this design", "verdict", "why", "certificate"]
    where.print(output.table(title, columns, rows))
    if plan.excluded:
        where.print(f"This design is impossible: {plan.excluded}.", markup=False)
    else:
        about = "the kernel heads of this design" if plan.failing else "this design"
        where.print(
            f"Nothing here excludes {about}. That is no promise: the bounds are necessary, never sufficient.",
            markup=False,
        )
    if plan.failing:
        where.print(f"Dense softmax with the readout <x,a> fails: {plan.failing}.", markup=False)
    where.print(f"{len(plan.bundle.certificates)} certificates in {out}, re-checked by the kernel.", markup=False)


UNITS = {"parameters": "parameters", "operations": "operations", "memory": "memory in bytes"}


def in_units(name: str, value: int) -> int:
    """Memory is counted in bits and shown in bytes, rounded up."""
    return -(-value // 8) if name == "memory" else value


def counted(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def _within(space: Space) -> str:
    """What an allocation may choose from, in words."""
    if space.limits:
        return "within these limits"
    formats = ", ".join(f.name for f in space.formats)
    shape = f"{counted(space.layers, 'layer')} of at most {counted(space.heads, 'head')}"
    return f"with {shape}, features <= {max(space.features)} and formats {formats}"


def _print_allocation(allocation: Allocation | Impossible | None, space: Space, goal: str, where: Any) -> None:
    from proofcheck.plan.allocation import Allocation, Impossible

    from . import output

    if isinstance(allocation, Impossible):
        where.print(
            f"No allocation {_within(space)} has the {allocation.needed} bits that eq. (8) asks for: at most "
            f"{allocation.most}.",
            markup=False,
        )
    elif isinstance(allocation, Allocation):
        rows = [
            [str(i + 1), ", ".join(f"{count} x r={r}" for count, r, _ in layer), layer[0][2]]
            for i, layer in enumerate(allocation.layers)
        ]
        totals = ", ".join(f"{in_units(name, value)} {UNITS[name]}" for name, value in allocation.totals.items())
        where.print(f"Allocation with the least {goal} found:", markup=False)
        where.print(output.table("", ["layer", "heads", "format"], rows))
        least = in_units(goal, allocation.least)
        proved = "no allocation has less" if allocation.optimal else f"none has less than {least} (proved)"
        where.print(f"{allocation.bits} bits; {totals}; {proved}. Necessary, never sufficient.", markup=False)
    else:
        where.print(f"HiGHS found no allocation {_within(space)}; that none exists is not proved.", markup=False)


def _as_json(plan: Plan, files: list[str], space: Space | None, allocation: Any, goal: str | None) -> dict[str, object]:
    from proofcheck.plan.allocation import Allocation, Impossible

    design = plan.design
    result: dict[str, object] = {
        "m": design.m,
        "n": design.n,
        "eps": str(design.eps),
        "layers": design.layers,
        "heads": design.heads,
        "r": design.r,
        "dv": design.dv,
        "width": design.width,
        "precision": design.precision.name,
        "tau": None if design.tau is None else str(design.tau),
        "bits": {"needed": plan.needed, "held": design.bits},
        "impossible": plan.excluded or None,
        "lines": [line.as_json() for line in plan.lines],
        "files": files,
        "status": plan.status,
    }
    if goal is not None and space is not None:
        chosen = {"features": list(space.features), "formats": [f.name for f in space.formats]}
        limits = {UNITS[name]: value // 8 if name == "memory" else value for name, value in space.limits}
        found: dict[str, object] = {"goal": goal, "needed": plan.needed, "limits": limits, **chosen}
        if isinstance(allocation, Allocation):
            found |= {
                "layers": [
                    [{"heads": count, "r": r, "format": name} for count, r, name in layer]
                    for layer in allocation.layers
                ],
                "bits": allocation.bits,
                "totals": {UNITS[name]: in_units(name, value) for name, value in allocation.totals.items()},
                "least": in_units(goal, allocation.least),
                "outcome": "optimal" if allocation.optimal else "found",
            }
        elif isinstance(allocation, Impossible):
            found |= {"outcome": "impossible", "most": allocation.most}
        else:
            found |= {"outcome": "none found"}
        result["allocation"] = found
    return result
