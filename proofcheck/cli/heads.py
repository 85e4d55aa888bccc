"""proofcheck refute, certify, heads: one head at a time (mathematics.md B0, B5, B6, B7)."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.certificate import in_file_name
from proofcheck.errors import CONDITIONAL, FAILS, PROVED, ClaimFails, UsageError

from . import options
from .theorems import AsJson, Bits, Eps, Length

if TYPE_CHECKING:
    from proofcheck.certificate import Checked
    from proofcheck.heads import Head

Spec = Annotated[
    str,
    typer.Argument(
        metavar="SPEC",
        help="A built-in kernel (see `proofcheck heads`), a file .json, .npz or .safetensors, or "
        "package.module:attribute, which IMPORTS AND RUNS that code.",
    ),
]
Rank = Annotated[int, typer.Option("-r", help="Features of a built-in kernel.")]
Seed = Annotated[int, typer.Option("--seed", help="Of random weights and of the search.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the kernel or option of the module; repeatable."),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the certificates go.")]
HERE = Path("found")
LARGEST_REFUTED_M, LARGEST_DECIDED_M = 1_000, 14


def refute(
    spec: Spec,
    m: Bits,
    r: Rank = 64,
    n: Length = 3,
    eps: Eps = "1/2",
    settings: Settings = None,
    seed: Seed = 0,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", min=1, help="Kernel evaluations; where none is given, 500,000 or, with a guarantee, 8 million."
        ),
    ] = None,
    out: Out = HERE,
    as_json: AsJson = False,
) -> int:
    """Three tokens with which no readout of the head can be correct; exit 0 if found, 3 if not.

    Where the features are fewer than the certified bound of the family of tokens used, success is guaranteed and
    announced before the search. "None found" beyond that bound says nothing in favour of the head.
    """
    error = _range(m, n, eps, LARGEST_REFUTED_M)
    start = time.perf_counter()
    head = load(spec, m, r, seed, settings)
    from proofcheck import refuter

    from . import explain, output

    where = output.console(as_json)
    _introduce(head, where, as_json)

    def announce(family: Any, guaranteed: bool) -> None:
        bound, words = float(family.bound), family.code.size
        if guaranteed:
            text = f"{words} words force rank >= {bound:.1f}, and the head has {head.rank} features: refuted in advance"
        else:
            text = f"{words} words force rank >= {bound:.1f}; with {head.rank} features nothing is promised: searching"
        where.print(f"Family: {text}.", markup=False)

    found = refuter.refute(
        head,
        n,
        error,
        seed=seed,
        budget=budget,
        announce=announce,
        command=_command("refute", spec, m, r, n, error, seed, settings),
    )
    seconds = time.perf_counter() - start
    result: dict[str, Any] = {"head": head.name, "m": m, "n": n, "eps": str(error), "features": head.rank}
    result |= {"evaluations": found.evaluations, "seconds": round(seconds, 3)}
    if isinstance(found, refuter.Outside):
        return _outside(found, m, result, as_json)
    if isinstance(found, refuter.NoneFound):
        result |= {
            "outcome": "none found",
            "status": CONDITIONAL,
            "best_ratio": found.best_ratio,
            "budget": found.budget,
        }
        if as_json:
            output.print_json(result)
        else:
            where.print(
                f"None found in {found.evaluations} kernel evaluations, and nothing follows from that. The nearest "
                f"triple reaches {found.best_ratio:.4g} of what would refute.",
                markup=False,
            )
        return CONDITIONAL
    path = keep(found.certificate, out, f"refutation-{label(head, n, error)}")
    result |= {
        "outcome": "refuted",
        "status": PROVED,
        "condition": found.condition,
        "found_by": found.found_by,
        "guaranteed": found.guaranteed,
        "triple": {
            "x": f"{found.triple.x:x}",
            "y": f"{found.triple.y:x}",
            "z": f"{found.triple.z:x}",
            "gap": found.triple.gap,
        },
        "certificate": found.certificate.id,
        "file": str(path),
    }
    replayed = _replay(head, found.triple, n, error)
    if replayed is not None:
        result["replay"] = replayed.as_json()
    if as_json:
        output.print_json(result)
        return PROVED
    where.print(f"{head.name} is refuted against every readout (condition {found.condition} of B0):", markup=False)
    for line in explain.triple(found.triple, m, n, error, found.condition):
        where.print(line, markup=False, soft_wrap=True)
    for line in replayed.lines() if replayed is not None else []:
        where.print(line, markup=False, soft_wrap=True)
    where.print(
        f"{found.evaluations} kernel evaluations, {seconds:.2f} s. Certificate: {path}\n"
        f"Check it, with what it rests on: proofcheck verify {out}",
        markup=False,
        soft_wrap=True,
    )
    return PROVED


def certify(
    spec: Spec,
    m: Bits,
    r: Rank = 64,
    n: Length = 3,
    eps: Eps = "1/2",
    settings: Settings = None,
    kernel: Annotated[bool, typer.Option("--kernel", help="Leave the head's own readout aside.")] = False,
    values: Annotated[
        str | None,
        typer.Option(
            "--values",
            help="The best affine readout of given values instead: linear, v(z) = z; overlap, <x,z>; own.",
        ),
    ] = None,
    seed: Seed = 0,
    out: Out = HERE,
    as_json: AsJson = False,
) -> int:
    """Decides ALL sequences of length 1..n: exit 0 certified, 1 refuted, 3 decided but too large to be re-checked.

    The kernel is decided first: if it is refuted, no readout helps. If it is correct and the head has a readout of its
    own, that one is decided too. With --values the question is not whether ANY table of values will do but whether an
    affine readout of these values does: a linear programme for each query, and exit 1 with a few inputs on which none
    is correct. m <= 14; the kernel re-checks certificates up to m = 10 as far as they fit.
    """
    error = _range(m, n, eps, LARGEST_DECIDED_M)
    if kernel and values is not None:
        raise UsageError("--kernel leaves readouts aside, and --values asks for one: give one of them")
    start = time.perf_counter()
    head = load(spec, m, r, seed, settings)
    from proofcheck import exhaust

    from . import explain, output

    if values is not None:
        from proofcheck.readouts import check_values

        check_values(head, values)

    where = output.console(as_json)
    _introduce(head, where, as_json)
    command = _command("certify", spec, m, r, n, error, seed, settings) + (f" --values {values}" if values else "")
    result: dict[str, Any] = {"head": head.name, "m": m, "n": n, "eps": str(error), "features": head.rank}
    found = exhaust.decide(head, n, error, command=command)
    lines: list[str] = []
    if isinstance(found, exhaust.Outside):
        return _outside(found, m, result, as_json)
    if isinstance(found, exhaust.Refutation):
        path = keep(found.certificate, out, f"refutation-{label(head, n, error)}")
        result |= {"outcome": "kernel refuted", "certificate": found.certificate.id, "file": str(path)}
        status = FAILS
        lines = [f"{head.name}: no readout of this kernel is correct on all sequences:"]
        lines += [*explain.triple(found.triple, m, n, error, found.condition), f"Certificate: {path}"]
    else:
        status, text = (
            found.status,
            f"some readout of this kernel is correct (error < {error}) on ALL sequences of length 1..{n}",
        )
        lines = _accepted(head, "kernel-correct", found.certificate, text, out, n, error, result)
        if found.by_class is not None:
            path = keep(found.by_class, out, f"head-exists-{label(head, n, error)}")
            result |= {"certificate_by_class": found.by_class.id, "file_by_class": str(path)}
            heavy = f", with ({error / n})^<x,z> at heavy queries" if getattr(head, "heaviest", m) < m else ""
            lines.append(
                f"What the kernel re-checks at this size, by classes of queries{heavy}: a correct head with "
                f"{head.rank} features exists. Certificate: {path}"
            )
        if values is not None:
            from .values import fit

            status, more = fit(head, values, n, error, found.cube, command, out, result)
            lines += more
        elif head.readout is not None and not kernel:
            whole = exhaust.verify(head, n, error, command=command)
            if isinstance(whole, exhaust.Outside):
                return _outside(whole, m, result, as_json)
            if isinstance(whole, exhaust.Counterexample):
                status = FAILS
                result |= {
                    "outcome": "readout refuted",
                    "sequence": [f"{t:x}" for t in whole.sequence],
                    "target": whole.target,
                }
                lines += [f"{head.name}: its own readout is wrong:"]
                lines += explain.sequence(whole.sequence, m, whole.output, whole.target, error)
                if whole.certificate is not None:
                    path = keep(whole.certificate, out, f"counterexample-{label(head, n, error)}")
                    result |= {"certificate": whole.certificate.id, "file": str(path)}
                    lines.append(f"Certificate: {path}")
            else:
                status = max(status, whole.status)
                text = f"its own readout is correct (error < {error}) on ALL sequences of length 1..{n}"
                lines += _accepted(head, "exhaustive-head", whole.certificate, text, out, n, error, result)
    result |= {"status": status, "seconds": round(time.perf_counter() - start, 3)}
    output.finish(lines, result, as_json, where)
    return status


def _accepted(
    head: Head,
    claim: str,
    certificate: Checked | None,
    text: str,
    out: Path,
    n: int,
    eps: Fraction,
    result: dict[str, Any],
) -> list[str]:
    result["outcome"] = claim
    if certificate is None:
        return [f"{head.name}: {text}. Decided here in exact arithmetic; too large for a certificate of the kernel."]
    path = keep(certificate, out, f"{claim}-{label(head, n, eps)}")
    result |= {"certificate": certificate.id, "file": str(path)}
    return [f"{head.name}: {text}.", f"Certificate: {path}"]


def heads(as_json: AsJson = False) -> int:
    """The built-in kernels: parameters, features, sign, and where public libraries have them."""
    from proofcheck.heads import builtin

    from . import output

    kernels = builtin.known()
    if as_json:
        output.print_json([kernel.as_json() for kernel in kernels])
        return PROVED
    rows = [
        [
            kernel.name,
            ", ".join(p.name if p.default is None else f"{p.name}={p.default}" for p in kernel.parameters),
            kernel.features,
            kernel.sign,
            kernel.used,
            kernel.remarks,
        ]
        for kernel in kernels
    ]
    columns = ["name", "parameters (--set)", "features", "sign of alpha", "used in", "remarks"]
    output.console(as_json).print(output.table("Built-in kernels", columns, rows))
    return PROVED


# ---------------------------------------------------------------------------------------------------- shared


def load(spec: str, m: int, r: int, seed: int, settings: list[str] | None) -> Head:
    options.within(r, "-r", 1, 10**6, "a head has 1 <= r <= 1000000 features")
    chosen = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set: expected NAME=VALUE, got {setting!r}")
        chosen[name] = value
    from proofcheck.heads import spec as specs

    return specs.load(spec, m, r, seed, chosen)


def keep(certificate: Checked, out: Path, name: str) -> Path:
    """Writes the certificate and what it rests on, and has the kernel check the files."""
    from proofcheck.kernel.check import check_files
    from proofcheck.theorems.bundle import FOUNDATIONS, founded

    uses = certificate.report.certificate.uses
    rested = founded(claim for claim in uses if claim in FOUNDATIONS).write(out)
    path = certificate.write(out, f"{name}-{certificate.id[:8]}")  # variants of one class do not overwrite each other
    for report in check_files([*map(str, rested), str(path)]):
        if report.status != PROVED:
            raise ClaimFails(f"{report.path}: does not verify after writing: {report.message}")
    return path


def _range(m: int, n: int, eps: str, most: int) -> Fraction:
    options.within(m, "-m", 1, most, f"tokens have 1 <= m <= {most} bits here")
    options.within(n, "-n", 3, 10**6, "B0 is about n >= 3 tokens (rank one is enough for 1 and 2, Theorem 6)")
    return options.epsilon(eps)


def _introduce(head: Head, where: Any, as_json: bool) -> None:
    report = getattr(head, "report", None)
    for line in report.lines() if report is not None else []:
        where.print(line, markup=False, soft_wrap=True)
    if head.note and not as_json:
        where.print(f"Note: {head.note}", markup=False, soft_wrap=True)


def _outside(found: Any, m: int, result: dict[str, Any], as_json: bool) -> int:
    from . import explain, output

    result |= {"outcome": "outside", "status": CONDITIONAL, "value": explain.number(found.value)}
    result |= {"x": f"{found.x:x}", "z": f"{found.z:x}"}
    if as_json:
        output.print_json(result)
    else:
        output.console(False).print(
            f"{found.head} is outside the theorems (signed): alpha(x,z) = {explain.number(found.value)} at\n"
            f"  x = {explain.token(found.x, m)}\n  z = {explain.token(found.z, m)}\n"
            "Only nonnegative kernels are decided here; Theorem 9 (transcripts) does not need the sign.",
            markup=False,
            soft_wrap=True,
        )
    return CONDITIONAL


def _replay(head: Head, triple: Any, n: int, eps: Fraction) -> Any:
    """The module's own outputs on Y, Z and M, where the head comes from a module whose forward was replayed."""
    report = getattr(head, "report", None)
    if report is None or report.replay is None or triple.gap < 1 or triple.own == 0:
        return None
    from proofcheck.neural import replay_triples

    return replay_triples(head, triple.x, triple.y, triple.z, n, eps)  # type: ignore[arg-type]


def label(head: Head, n: int, eps: Fraction) -> str:
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in head.name.partition(" (")[0])
    name = "-".join(words.split())[:60].strip("-") or "head"
    return f"{name}-m{head.m}-r{head.rank}-n{n}-eps{in_file_name(eps)}"


def _command(verb: str, spec: str, m: int, r: int, n: int, eps: Fraction, seed: int, settings: list[str] | None) -> str:
    chosen = "".join(f" --set {setting}" for setting in settings or [])
    return f"proofcheck {verb} {spec} -m {m} -r {r} -n {n} --eps {eps} --seed {seed}{chosen}"
