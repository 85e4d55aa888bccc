"""proofcheck transcript collide: two inputs that a model cannot tell apart (mathematics.md B9)."""

from __future__ import annotations

import re
import time
from contextlib import nullcontext
from functools import partial
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
Count = Annotated[int | None, typer.Option("--heads", help="Heads in each layer, default 2.")]


class BuiltIn(NamedTuple):
    """Options of the built-in model."""

    layers: int
    heads: int
    r: int
    dv: int
    p: int | None
    features: str
    form: str


def collide(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="linear (built in), a file .json (proofcheck-sketch/1), or package.module:attribute, which IMPORTS "
            "AND RUNS that code.",
        ),
    ] = "linear",
    layers: Annotated[int | None, typer.Option("--layers", help="Layers of the built-in model, default 2.")] = None,
    heads: Count = None,
    r: Annotated[int | None, typer.Option("-r", help="Features of each head, default 4.")] = None,
    dv: Annotated[int | None, typer.Option("--dv", help="Values of each head, default 4.")] = None,
    p: Annotated[int | None, typer.Option("-p", help="Bits a coordinate (--format int; default 1).")] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            help="Feature map, default relu. Exact with --format int: identity, relu, sqrelu, square, cubic. "
            "With torch also elu1, exp, softplus, softmax-dim, hedgehog, taylor, dpfp.",
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="int (exact, the default), fp16, bf16, fp8 (e4m3), fp8-e5m2.")
    ] = None,
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
    given_options = {"--layers": layers, "--heads": heads, "-r": r, "--dv": dv, "-p": p}
    built_in = _built_in(model, given_options | {"--features": features, "--format": form})
    start = time.perf_counter()
    given = files.read(model) if model.endswith(".json") else None
    size = (given.m - 2 - s if given is not None else 14) if big_m is None else big_m
    if given is not None and big_m is None and given.m < (least := s + 3 if q == 1 else 3 * s + 4):
        raise UsageError(f"-s: {model} has tokens of {given.m} bits; with -s {s} -q {q} the family needs m >= {least}")
    family = transcripts.typed_family(size, s, q, n)
    if given is not None and given.m != family.m:
        raise UsageError(f"-M: {model} has tokens of {given.m} bits, the family 2 + {size} + {s} = {family.m}")
    users = partial(users_code, f"{model}: running it failed") if ":" in model else nullcontext
    found_model = given or _model(model, family, built_in, seed)
    with users():
        name, has, count = found_model.name, sketches.bits(found_model), sketches.transcripts(found_model)
    if save is not None:
        if not isinstance(found_model, LinearAttention):
            raise UsageError("--save: only models in exact integers can be written down")
        files.write(found_model, save)
    where = output.console(as_json)
    needed = family.q * log2(family.s + 1)
    command = _command(model, built_in, seed, size, s, q)
    result: dict[str, Any] = {"model": name, "m": family.m, "M": size, "s": s, "q": q}
    result |= {"words": [f"{w:x}" for w in family.words], "transcript_bits": has, "needed_bits": needed}
    where.print(
        f"{name}\nits messages have {has:g} bits in all; the family of {s + 1}^{q} assignments "
        f"(m={family.m}, {2 * q} tokens) needs {needed:g}",
        markup=False,
        soft_wrap=True,
    )
    if replay is None and count < family.assignments:
        limit = samples or enumerate_ or LIMIT
        promised = samples is None and count < min(family.assignments, limit)
        text = "and will be found" if promised else f"though not necessarily among the {limit} that are examined"
        where.print(f"fewer transcripts than assignments: a collision exists, {text}", markup=False)
    pair = None if replay is None else _assignments(replay, family)
    with users():
        found = _search(found_model, family, samples, enumerate_, seed, pair)
    result["seconds"] = round(time.perf_counter() - start, 3)
    if isinstance(found, finder.NoneFound):
        return _none(found, pair is not None, family, result, as_json, where)
    result |= {"left": found.left, "right": found.right, "query": found.query, "targets": found.targets}
    result |= {"transcript": found.transcript, "examined": found.examined, "guaranteed": found.guaranteed}
    again = f"{command} --replay {','.join(map(str, found.left))}:{','.join(map(str, found.right))}"
    error = abs(found.targets[0] - found.targets[1]) / 2
    lines = [
        f"Two assignments with one transcript, found after {found.examined} assignments "
        f"({_promise(found.guaranteed, count, family)}):",
        f"  {' '.join(map(str, found.left))}",
        f"  {' '.join(map(str, found.right))}",
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


def _built_in(model: str, given: dict[str, Any]) -> BuiltIn:
    """The options of the built-in model, of which a model of another kind takes none."""
    if model != "linear" and ":" not in model and not model.endswith(".json"):
        raise UsageError(f"{model}: expected linear, a file .json, or package.module:attribute")
    named = [option for option, value in given.items() if value is not None]
    if named and model != "linear":
        raise UsageError(f"{', '.join(named)}: expected with the built-in model alone, not with {model}")
    defaults = BuiltIn(2, 2, 4, 4, None, "relu", "int")._asdict()
    chosen = zip(defaults.items(), given.values(), strict=True)
    return BuiltIn(**{name: default if value is None else value for (name, default), value in chosen})


def _model(model: str, family: TypedFamily, chosen: BuiltIn, seed: int) -> Batched | Sketch:
    from proofcheck.heads.activations import ACTIVATIONS
    from proofcheck.sketches import builtin, files

    if ":" in model:
        return files.imported(model, family.m, seed)
    layers, heads, r, dv, p, features, form = chosen
    width = 1 if p is None and form == "int" else p
    if form == "int" and features in builtin.FEATURES:
        return builtin.linear_attention(family, layers, heads, r, dv, width or 0, features, seed)
    if form == "int" and features not in ACTIVATIONS:
        exact, others = ", ".join(builtin.FEATURES), ", ".join(k for k in ACTIVATIONS if k not in builtin.FEATURES)
        raise UsageError(f"--features: expected one of {exact} (exact), or with torch {others}; got {features!r}")
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
    pair: tuple[list[int], list[int]] | None,
) -> Collision | NoneFound:  # fmt: skip
    from rich.progress import Progress

    from proofcheck.sketches import finder

    from . import output

    if pair is not None:
        return finder.compare(model, family, *pair)
    limit = samples or wanted or LIMIT
    total = limit if samples else min(limit, family.assignments)
    with Progress(console=output.errors, transient=True) as bar:
        task = bar.add_task("assignments", total=total)
        return finder.find(
            model, family, limit, None if samples is None else seed, progress=lambda k: bar.advance(task, k)
        )


def _promise(guaranteed: bool, count: int, family: TypedFamily) -> str:
    if count >= family.assignments:
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
    found: NoneFound, replayed: bool, family: TypedFamily, result: dict[str, Any], as_json: bool, where: Any
) -> int:
    if replayed:
        text = (
            "These two assignments have different transcripts here. If they had one transcript in another run, that "
            "collision was not reproduced: the model then depends on the process (as hash() of strings does) or on the "
            "machine."
        )
    elif found.all:
        text = (
            f"None: all {found.examined} assignments of this family have different transcripts. So this family does "
            "not show the model wrong; that is no proof that it is right, on these or on other inputs."
        )
    else:
        text = f"None found among {found.examined} of {family.assignments} assignments, and nothing follows from that."
    result |= {
        "status": CONDITIONAL,
        "outcome": "none found",
        "replayed": replayed,
        "examined": found.examined,
        "all": found.all,
    }
    return _finish(CONDITIONAL, [text], result, as_json, where)


def _finish(status: int, lines: list[str], result: dict[str, Any], as_json: bool, where: Any) -> int:
    from . import output

    output.finish(lines, result, as_json, where)
    return status


def _reread(path: Path) -> None:
    from proofcheck.kernel.check import check_file

    report = check_file(str(path))
    if report.status != PROVED:
        raise ClaimFails(f"{report.path}: does not verify after writing: {report.message}")


def _command(model: str, chosen: BuiltIn, seed: int, size: int, s: int, q: int) -> str:
    text = f"proofcheck transcript collide {model}"
    if model == "linear":
        text += f" --layers {chosen.layers} --heads {chosen.heads} -r {chosen.r} --dv {chosen.dv}"
        text += f" --features {chosen.features} --format {chosen.form}"
        text += "" if chosen.p is None else f" -p {chosen.p}"
    return f"{text} --seed {seed} -M {size} -s {s} -q {q}"
