"""proofcheck transcript collide: two inputs that a model cannot tell apart (mathematics.md B9)."""

from __future__ import annotations

import re
import time
from contextlib import nullcontext
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.errors import CONDITIONAL, PROVED, ClaimFails, UsageError

from . import options
from .heads import HERE, Out
from .theorems import AsJson

if TYPE_CHECKING:
    from proofcheck.sketches import Batched, Sketch
    from proofcheck.sketches.finder import Collision, NoneFound
    from proofcheck.transcripts import TypedFamily

LIMIT = 10_000_000  # assignments that are enumerated by default
Count = Annotated[int, typer.Option("--heads", help="Heads in each layer.")]


def collide(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="linear (built in), a file .json (proofcheck-sketch/1), or package.module:attribute, which IMPORTS "
            "AND RUNS that code.",
        ),
    ] = "linear",
    layers: Annotated[int, typer.Option("--layers", help="Layers of the built-in model.")] = 2,
    heads: Count = 2,
    r: Annotated[int, typer.Option("-r", help="Features of each head.")] = 4,
    dv: Annotated[int, typer.Option("--dv", help="Values of each head.")] = 4,
    p: Annotated[int | None, typer.Option("-p", help="Bits a coordinate (--format int; default 1).")] = None,
    features: Annotated[str, typer.Option("--features", help="Feature map; see the README.")] = "relu",
    form: Annotated[str, typer.Option("--format", help="int (exact), fp16, bf16, fp8 (e4m3), fp8-e5m2.")] = "int",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of random weights and of samples.")] = 0,
    big_m: Annotated[
        int | None, typer.Option("-M", help="Bits of the code words. Default 14, or what fits a file.")
    ] = None,
    s: Annotated[int, typer.Option("-s", help="Levels 0..s per slot.")] = 3,
    q: Annotated[int, typer.Option("-q", help="Queries, and slots.")] = 6,
    n: Annotated[int | None, typer.Option("-n", help="Longest sequence allowed; 2q <= n.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", help="Sample so many assignments, by the seed.")] = None,
    enumerate_: Annotated[
        int | None, typer.Option("--enumerate", help=f"Enumerate so many assignments (default, up to {LIMIT}).")
    ] = None,
    replay: Annotated[
        str | None, typer.Option("--replay", metavar="LEFT:RIGHT", help="Only these two, as 0,3,1,..:2,3,1,..")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the exact model as a file.")
    ] = None,
    out: Out = HERE,
    as_json: AsJson = False,
) -> int:
    """Two inputs that the model cannot tell apart although a target differs, or an honest "none found".

    Exit 0: found, and the kernel recomputed both transcripts. Exit 3: found by executing a float or foreign model
    (evidence, no certificate), or none found, which says nothing in favour of the model.
    """
    from proofcheck import sketches, transcripts
    from proofcheck.heads.spec import users_code
    from proofcheck.kernel.exact import OverBudget
    from proofcheck.sketches import files, finder
    from proofcheck.sketches.linear import LinearAttention

    from . import output

    if samples is not None and enumerate_ is not None:
        raise UsageError("--samples, --enumerate: give one of them")
    for option, value in (("--samples", samples), ("--enumerate", enumerate_)):
        if value is not None:
            options.within(value, option, 1, finder.NUMBERS, "expected 1 to 2^62 assignments")
    options.within(s, "-s", 1, transcripts.MAX_S, f"a slot has levels 0..s with 1 <= s <= {transcripts.MAX_S}")
    start = time.perf_counter()
    given = files.read(model) if model.endswith(".json") else None
    size = (given.m - 2 - s if given is not None else 14) if big_m is None else big_m
    family = transcripts.typed_family(size, s, q, n)
    if given is not None and given.m != family.m:
        raise UsageError(f"-M: {model} has tokens of {given.m} bits, the family 2 + {size} + {s} = {family.m}")
    found_model = given or _model(model, family, layers, heads, r, dv, p, features, form, seed)
    sketches.check_alphabets(found_model)
    if save is not None:
        if not isinstance(found_model, LinearAttention):
            raise UsageError("--save: only models in exact integers can be written down")
        files.write(found_model, save)
    where = output.console(as_json)
    needed, has = family.q * log2(family.s + 1), sketches.bits(found_model)
    command = _command(model, layers, heads, r, dv, p, features, form, seed, size, s, q)
    result: dict[str, Any] = {"model": found_model.name, "m": family.m, "M": size, "s": s, "q": q}
    result |= {"words": [f"{w:x}" for w in family.words], "transcript_bits": has, "needed_bits": needed}
    where.print(
        f"{found_model.name}\nits messages have {has:g} bits in all; the family of {s + 1}^{q} assignments "
        f"(m={family.m}, {2 * q} tokens) needs {needed:g}",
        markup=False,
        soft_wrap=True,
    )
    with users_code(f"{model}: running it failed") if ":" in model else nullcontext():
        found = _search(found_model, family, samples, enumerate_, seed, replay, where)
    result["seconds"] = round(time.perf_counter() - start, 3)
    if isinstance(found, finder.NoneFound):
        return _none(found, found_model, family, result, as_json, where)
    result |= {"left": found.left, "right": found.right, "query": found.query, "targets": found.targets}
    result |= {"transcript": found.transcript, "examined": found.examined, "guaranteed": found.guaranteed}
    again = f"{command} --replay {','.join(map(str, found.left))}:{','.join(map(str, found.right))}"
    error = abs(found.targets[0] - found.targets[1]) / 2
    lines = [
        f"Two assignments with one transcript, found after {found.examined} assignments "
        f"({_promise(found.guaranteed, found_model, family)}):",
        f"  {_levels(found.left)}",
        f"  {_levels(found.right)}",
        f"  query {found.query}: targets {found.targets[0]} and {found.targets[1]}. Whatever is decoded there from the "
        f"query and the messages is wrong by at least {error:g} on one of the two.",
    ]
    reason = "the model is no exact integer model: what was executed is evidence, not a certificate"
    if isinstance(found_model, LinearAttention):
        try:
            certificate = files.certificate(found_model, family, found, again)
            path = certificate.write(out, f"collision-{certificate.id[:12]}")
            _reread(path)
            result |= {"status": PROVED, "outcome": "certified", "certificate": certificate.id, "file": str(path)}
            result["statement"] = certificate.verdict.claim
            lines.append(f"The kernel recomputed both transcripts. Certificate: {path}")
            return _finish(PROVED, lines, result, as_json, where)
        except OverBudget as over:
            reason = f"too large for the kernel ({over}): executed here in exact integers, not re-checked"
    result |= {"status": CONDITIONAL, "outcome": "executed evidence", "reason": reason, "replay": again}
    lines.append(f"Executed evidence: {reason}.\nReplay: {again}")
    return _finish(CONDITIONAL, lines, result, as_json, where)


def _model(
    model: str, family: TypedFamily, layers: int, heads: int, r: int, dv: int, p: int | None, features: str, form: str,
    seed: int,
) -> Batched | Sketch:  # fmt: skip
    from proofcheck.sketches import builtin, files

    if ":" in model:
        return files.imported(model, family.m, seed)
    if model != "linear":
        raise UsageError(f"{model}: expected linear, a file .json, or package.module:attribute")
    width = 1 if p is None and form == "int" else p
    if form == "int" and features in builtin.FEATURES:
        return builtin.linear_attention(family, layers, heads, r, dv, width or 0, features, seed)
    try:
        from proofcheck.neural import sketch
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--format {form}, --features {features}: needs torch (pip install proofcheck[search])"
        ) from error
    rounding = sketch.message_format(form, width)
    return sketch.linear_attention(family, layers, heads, r, dv, rounding, features, seed, threads=1)


def _search(
    model: Batched | Sketch, family: TypedFamily, samples: int | None, wanted: int | None, seed: int,
    replay: str | None, where: Any,
) -> Collision | NoneFound:  # fmt: skip
    from rich.progress import Progress

    from proofcheck.sketches import finder, transcripts

    from . import output

    if replay is not None:
        left, right = _assignments(replay, family)
        return finder.compare(model, family, left, right)
    limit = samples or wanted or LIMIT
    total = limit if samples else min(limit, family.assignments)
    if transcripts(model) < family.assignments:
        promised = samples is None and finder.guaranteed(model, family, limit)
        text = "and will be found" if promised else f"though not necessarily among the {limit} that are examined"
        where.print(f"fewer transcripts than assignments: a collision exists, {text}", markup=False)
    with Progress(console=output.errors, transient=True) as bar:
        task = bar.add_task("assignments", total=total)
        return finder.find(
            model, family, limit, None if samples is None else seed, progress=lambda k: bar.advance(task, k)
        )


def _promise(guaranteed: bool, model: Batched | Sketch, family: TypedFamily) -> str:
    from proofcheck.sketches import transcripts

    if transcripts(model) >= family.assignments:
        return "the number of transcripts did not promise one"
    return "promised: fewer transcripts than assignments" if guaranteed else "one exists, found earlier than promised"


def _assignments(text: str, family: TypedFamily) -> tuple[list[int], list[int]]:
    sides = text.split(":")
    wanted = f"two assignments of {family.q} levels 0..{family.s}, as 0,1,..:1,1,.."
    if len(sides) != 2 or not all(re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", side) for side in sides):
        raise UsageError(f"--replay: expected {wanted}, got {text[:80]!r}")
    left, right = ([int(k) for k in side.split(",")] for side in sides)
    if len(left) != family.q or len(right) != family.q or max(left + right) > family.s or left == right:
        raise UsageError(f"--replay: expected {wanted}, not equal, got {text[:80]!r}")
    return left, right


def _none(
    found: NoneFound, model: Batched | Sketch, family: TypedFamily, result: dict[str, Any], as_json: bool, where: Any
) -> int:
    if found.all:
        text = (
            f"None: all {found.examined} assignments of this family have different transcripts. So this family does "
            "not show the model wrong; that is no proof that it is right, on these or on other inputs."
        )
    else:
        text = f"None found among {found.examined} of {family.assignments} assignments, and nothing follows from that."
    result |= {"status": CONDITIONAL, "outcome": "none found", "examined": found.examined, "all": found.all}
    return _finish(CONDITIONAL, [text], result, as_json, where)


def _finish(status: int, lines: list[str], result: dict[str, Any], as_json: bool, where: Any) -> int:
    from . import output

    if as_json:
        output.print_json(result)
    else:
        for line in [*lines, f"{result['seconds']:.2f} s"]:
            where.print(line, markup=False, soft_wrap=True)
    return status


def _reread(path: Path) -> None:
    from proofcheck.kernel.check import check_file

    report = check_file(str(path))
    if report.status != PROVED:
        raise ClaimFails(f"{report.path}: does not verify after writing: {report.message}")


def _levels(levels: tuple[int, ...]) -> str:
    return " ".join(map(str, levels))


def _command(
    model: str, layers: int, heads: int, r: int, dv: int, p: int | None, features: str, form: str, seed: int, size: int,
    s: int, q: int,
) -> str:  # fmt: skip
    text = f"proofcheck transcript collide {model}"
    if model == "linear":
        text += f" --layers {layers} --heads {heads} -r {r} --dv {dv} --features {features} --format {form}"
        text += "" if p is None else f" -p {p}"
    return f"{text} --seed {seed} -M {size} -s {s} -q {q}"
