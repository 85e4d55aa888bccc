"""proofcheck search: heads of a given rank, found by gradient descent and certified, or each failure refuted."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofcheck.certificate import in_file_name
from proofcheck.errors import UsageError

from . import options
from .theorems import CERTIFICATES, AsJson, Eps, Out

WITHOUT_INVERSE = ("square", "linear", "mlp")  # parametrisations that no given features can start

if TYPE_CHECKING:
    from proofcheck.neural.constrained import Readouts
    from proofcheck.neural.search import Attempt, Outcome


def command(
    m: Annotated[int, typer.Option("-m", help="Bits of a token, up to 12.")],
    r: Annotated[int, typer.Option("-r", help="The rank: number of features.")],
    n: Annotated[int, typer.Option("-n", "--n", help="The head must be correct at all lengths 1..n.")] = 3,
    eps: Eps = "1/2",
    heads: Annotated[int, typer.Option("--heads", min=1, max=4096, help="Heads trained at once.")] = 8,
    steps: Annotated[int, typer.Option("--steps", min=1, max=10**7, help="Steps of a restart.")] = 3000,
    restarts: Annotated[int, typer.Option("--restarts", min=1, max=10**4, help="Restarts at most.")] = 4,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**40, help="What the restarts draw from.")] = 0,
    parametrisation: Annotated[
        str,
        typer.Option(
            "--features",
            help="Free tables: bounded, exp, signed, square (alpha = <q,k>^2); token-local layers: linear, mlp.",
        ),
    ] = "bounded",
    activation: Annotated[
        str, typer.Option("--activation", help="Of a layer: elu1, relu, sqrelu, exp, softplus, softmax-dim.")
    ] = "elu1",
    sharing: Annotated[
        str, typer.Option("--maps", help="A layer's W for queries and keys: separate, tied or opposed (W_K = -W_Q).")
    ] = "separate",
    hidden: Annotated[int, typer.Option("--hidden", min=1, max=4096, help="Hidden units of an mlp.")] = 32,
    dv: Annotated[
        int | None,
        typer.Option("--dv", min=1, max=256, help="Train linear values v(z) = V z in R^dv and an affine readout too."),
    ] = None,
    readout: Annotated[
        str, typer.Option("--readout", help="With --dv: free numbers for each query, or affine in its bits.")
    ] = "free",
    warm: Annotated[
        str | None,
        typer.Option(
            "--warm",
            metavar="FILE|r+1",
            help="Start from the head of a certificate or file (this m and a rank >= r, or m-1), or search r+1 first.",
        ),
    ] = None,
    start: Annotated[str, typer.Option("--start", help="mixtures (of structured heads) or normal.")] = "mixtures",
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option("--threads", min=1, max=256, help="Threads of torch on the CPU.")] = 1,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", metavar="FILE", help="Where to keep the state, to go on from.")
    ] = None,
    out: Out = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Train heads of rank r on the whole task of length n: a certified head, or a refutation of each restart's best.

    Exit status 0: a head was found and the kernel has accepted it. 1: the best head of every restart is refuted. One
    process with one thread; `sweep "m=5,r=3,seed=0:7" --jobs 2` spreads seeds over processes.
    """
    options.within(m, "-m", 1, 12, "all 4^m pairs of tokens are in memory at once, so 1 <= m <= 12")
    options.within(r, "-r", 1, 1 << m, f"a head on {m} bits has 1 <= r <= 2^m features")
    options.within(n, "-n", 3, 10**6, "the search needs n >= 3 (r*(m,1) = r*(m,2) = 1 by Theorem 6)")
    error = options.epsilon(eps)
    try:
        from proofcheck.neural import curriculum
        from proofcheck.neural.constrained import Readouts
        from proofcheck.neural.parametrisations import Layer
        from proofcheck.neural.search import search
        from proofcheck.neural.training import Settings
    except ImportError:
        raise UsageError("search needs torch: install proofcheck[search]") from None

    from . import output

    if warm and parametrisation in WITHOUT_INVERSE:
        raise UsageError(f"--warm: features {parametrisation} are not free, so none can be given")
    if parametrisation not in ("linear", "mlp") and (activation, sharing, hidden) != ("elu1", "separate", 32):
        raise UsageError(
            f"--activation, --maps, --hidden: expected with --features linear or mlp, not {parametrisation}"
        )
    if readout != "free" and dv is None:
        raise UsageError(f"--readout: expected with --dv, got {readout}")
    command = f"proofcheck search -m {m} -r {r} -n {n} --eps {error}"
    given = {"heads": (heads, 8), "steps": (steps, 3000), "restarts": (restarts, 4), "seed": (seed, 0)}
    given |= {"threads": (threads, 1)}
    command += "".join(f" --{name} {value}" for name, (value, usual) in given.items() if value != usual)
    texts = {"features": (parametrisation, "bounded"), "start": (start, "mixtures"), "activation": (activation, "elu1")}
    texts |= {"maps": (sharing, "separate"), "hidden": (str(hidden), "32"), "warm": (warm or "", "")}
    texts |= {"dv": (str(dv or ""), ""), "readout": (readout, "free")}
    command += "".join(f" --{name} {value}" for name, (value, usual) in texts.items() if value != usual)
    settings = Settings(
        steps=steps, parametrisation=parametrisation, start=start, layer=Layer(activation, sharing, hidden)
    )
    progress = lambda line: typer.echo(line, err=True)  # noqa: E731
    run = partial(
        search,
        n=n,
        eps=error,
        heads=heads,
        restarts=restarts,
        seed=seed,
        device=device,
        threads=threads,
        settings=settings,
        command=command,
        progress=progress,
    )
    given_head = curriculum.read(Path(warm)) if warm and warm != "r+1" else None
    if warm == "r+1":
        above = run(m, r + 1, small=False)
        if above.head is None:
            raise UsageError(f"--warm r+1: no head of rank {r + 1} was found to start from: {summary(above)}")
        given_head = above.head.queries.astype(float), above.head.keys.astype(float)
    fitted = curriculum.fitted(given_head, m, r, heads) if given_head else None
    asked = Readouts(dv, readout) if dv else None
    outcome = run(m, r, warm=fitted, readout=asked, checkpoint=checkpoint)
    files = written(outcome, out)
    if as_json:
        output.print_json(as_object(outcome, files))
        return outcome.status
    rows = [
        [
            str(attempt.restart),
            str(attempt.heads),
            str(attempt.steps),
            f"{attempt.best:.4g}",
            str(attempt.best_step),
            "exact" if attempt.exact else refuted_by(attempt) or attempt.note,
            ", ".join(certificate.id[:12] for certificate in attempt.certificates.values()) or "-",
        ]
        for attempt in outcome.attempts
    ]
    largest = "error - eps" if dv else "largest excess"
    columns = ["restart", "heads", "steps", largest, "at step", "outcome", "certificate"]
    title = f"rank {outcome.r} on {m} bits, error < {error} at lengths 1..{n}"
    output.console(as_json).print(output.table(title, columns, rows, right=range(5)))
    if outcome.r < r:
        typer.echo(f"Features {parametrisation} have a rank d(d+1)/2: {outcome.r} is the largest up to {r}.")
    typer.echo(summary(outcome))
    if outcome.head is not None and parametrisation in ("linear", "mlp"):
        for line in about_layer(outcome):
            typer.echo(line)
    typer.echo(f"Certificates: {', '.join(files)}" if files else "No certificate was written.")
    return outcome.status


def summary(outcome: Outcome) -> str:
    """One sentence, with how near a failure came."""
    spent = f"{len(outcome.attempts)} restarts, {sum(a.steps for a in outcome.attempts)} steps, {outcome.seconds:.1f} s"
    spent += f" on {outcome.device}"
    if outcome.readout is not None:
        return with_readout(outcome, outcome.readout, spent)
    if outcome.head is None:
        count = sum(attempt.refutation is not None for attempt in outcome.attempts)
        return (
            f"No head of rank {outcome.r} was found ({spent}): {count} of {len(outcome.attempts)} best heads refuted; "
            f"the nearest violates an inequality by a factor of {2.718281828**outcome.near:.4g}. This proves nothing "
            f"about other heads."
        )
    sizes = f"{outcome.head.size()} characters of integers up to {outcome.head.largest()}"
    if outcome.exists is None:
        return f"A head of rank {outcome.r}, decided exactly here and not re-checked: {outcome.note} ({spent})."
    rank = f"r*({outcome.m},{outcome.n}) <= {outcome.r} at eps = {outcome.eps}"
    return f"{rank}: {sizes}, re-checked by the kernel, {outcome.exists.id[:12]} ({spent})."


def with_readout(outcome: Outcome, asked: Readouts, spent: str) -> str:
    """The same for heads with linear values."""
    kind = f"linear values of dimension {asked.dv} and a readout {'affine in' if asked.kind == 'affine' else 'free at'}"
    kind += " the query"
    if outcome.head is None:
        counts = Counter(name for attempt in outcome.attempts for name in attempt.certificates)
        return (
            f"No head of rank {outcome.r} with {kind} was found ({spent}): {counts['counterexample']} of "
            f"{len(outcome.attempts)} best heads have a counterexample, {counts['refutation']} a kernel without any "
            f"readout, {counts['readouts']} values without one; the nearest error is {outcome.near:.4g} above eps. "
            f"This proves nothing about other heads."
        )
    if outcome.whole is None:
        return f"A head of rank {outcome.r} with {kind}, decided here; too large to be re-checked ({spent})."
    return (
        f"r*({outcome.m},{outcome.n}) <= {outcome.r} at eps = {outcome.eps}, even with {kind}: correct on all "
        f"sequences, re-checked by the kernel, {outcome.whole.id[:12]} ({spent})."
    )


def refuted_by(attempt: Attempt) -> str:
    """What became of the best head of a failing restart."""
    kinds = {"refutation": "every readout", "counterexample": "its worst sequence", "readouts": "its values"}
    said = ", ".join(kinds[name] for name in attempt.certificates)
    return f"refuted: {said}" if said else ""


def about_layer(outcome: Outcome) -> list[str]:
    """What the certificates say about a token-local layer that was found."""
    lines = [
        "These certificates are about a table: the layer's features, rounded. They bound the rank and are no longer"
    ]
    lines[0] += " the layer itself."
    layer = outcome.layer
    if layer is None:
        return [*lines, "No rounding of the layer's own weights that was tried has a correct kernel."]
    certified = (
        f"re-checked by the kernel, {layer.certificate.id[:12]}" if layer.certificate else "too large for a file"
    )
    lines.append(
        f"The layer itself, weights in multiples of 2^-{layer.places} and features as float64 computes them: some "
        f"readout of its kernel is correct on all sequences, {certified}."
    )
    return lines


def written(outcome: Outcome, out: Path) -> list[str]:
    """Writes the certificates, with those they rest on, and returns the paths of the former. Names carry the ids, so
    that no other search overwrites them."""
    from proofcheck.theorems.bundle import foundation

    label = f"m{outcome.m}-r{outcome.r}-n{outcome.n}-eps{in_file_name(outcome.eps)}"
    found = [(f"{label}-head-exists", outcome.exists), (f"{label}-kernel-correct", outcome.correct)]
    if outcome.layer is not None:
        found.append((f"{label}-layer-kernel-correct", outcome.layer.certificate))
    if outcome.readout is not None:
        found.append((f"{label}-dv{outcome.readout.dv}-{outcome.readout.kind}-exhaustive-head", outcome.whole))
    for attempt in outcome.attempts:
        stem = f"{label}-seed{outcome.seed}-restart{attempt.restart}"
        found += [(f"{stem}-{name}", certificate) for name, certificate in attempt.certificates.items()]
    files = []
    for name, certificate in found:
        if certificate is not None:
            for claim in certificate.report.certificate.uses:
                path, rested = foundation(claim)
                rested.write(out / Path(path).parent, Path(path).name)
            files.append(str(certificate.write(out / "search", f"{name}-{certificate.id[:8]}")))
    if outcome.layer is not None:
        of_layer = outcome.layer.certificate or outcome.exists
        suffix = f"-{of_layer.id[:8]}" if of_layer else ""
        files.append(str(outcome.layer.write(out / "search" / f"{label}-layer{suffix}.npz")))
    return files


def as_object(outcome: Outcome, files: list[str]) -> dict[str, object]:
    """For --json: no floats, and times only in seconds rounded."""
    return {
        "m": outcome.m,
        "r": outcome.r,
        "n": outcome.n,
        "eps": str(outcome.eps),
        "seed": outcome.seed,
        "device": outcome.device,
        "found": outcome.head is not None,
        "certificate": outcome.exists.id if outcome.exists else None,
        "exhaustive_head": outcome.whole.id if outcome.whole else None,
        "kernel_correct": outcome.correct.id if outcome.correct else None,
        "largest_integer": outcome.head.largest() if outcome.head else None,
        "layer": outcome.layer
        and {
            "weights": f"multiples of 2^-{outcome.layer.places}",
            "kernel_correct": outcome.layer.certificate.id if outcome.layer.certificate else None,
        },
        "nearest": f"{outcome.near:.6g}",
        "attempts": [attempt.as_json() for attempt in outcome.attempts],
        "note": outcome.note,
        "files": files,
        "seconds": f"{outcome.seconds:.1f}",
        "status": outcome.status,
    }
