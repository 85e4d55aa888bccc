"""proofcheck experiment: the paper's two experiments, run again, resumable, with figures and a table paper / here."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proofcheck.certificate import Checked, write_atomically
from proofcheck.errors import FAILS, PROVED, MalformedInput, UsageError

from . import options
from .theorems import AsJson

if TYPE_CHECKING:
    from proofcheck.neural import finite_family as finite

Quick = Annotated[bool, typer.Option("--quick", help="A few small runs, to see that everything works.")]
Seeds = Annotated[int | None, typer.Option("--seeds", min=1, max=1000, help="Runs of each rank.")]
FirstSeed = Annotated[int, typer.Option("--seed", min=0, max=2**40, help="The first seed.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes, each with one thread of torch.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Ranks = Annotated[str | None, typer.Option("--ranks", metavar="A,B,..", help="Ranks instead of the experiment's.")]
Steps = Annotated[int | None, typer.Option("--steps", min=1, max=10**7, help="Steps of a run.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where runs, figures and certificates go.")]
Row = tuple[str, str, str]


class Store:
    """The finished runs of an experiment: a file of JSON lines, the settings first. It is replaced as a whole, so that
    an interruption never leaves half a line. Another call with the same settings finds them; with other settings it is
    refused, since its runs would not belong together."""

    def __init__(self, path: Path, settings: Mapping[str, Any], keys: Sequence[str]) -> None:
        self.path, self.keys = path, keys
        self.settings = json.loads(json.dumps(settings))
        self.runs: dict[tuple[Any, ...], dict[str, Any]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        for number, line in enumerate(self.path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            try:
                found = json.loads(line)
                if number > 1:
                    self.runs[tuple(found[key] for key in self.keys)] = found
                    continue
                before = dict(found["settings"])
            except (ValueError, KeyError, TypeError):
                raise MalformedInput(f"{self.path}: line {number} is not a run of this experiment; delete it") from None
            changed = [
                f"{name} was {before.get(name)}, is {self.settings.get(name)}"
                for name in sorted({*before, *self.settings})
                if before.get(name) != self.settings.get(name)
            ]
            if changed:
                raise UsageError(
                    f"{self.path} holds runs with other settings ({'; '.join(changed)}): give another --out, or delete "
                    f"the file"
                )

    def add(self, runs: Iterable[dict[str, Any]]) -> None:
        for run in runs:
            self.runs[tuple(run[key] for key in self.keys)] = run
        lines = [{"settings": self.settings}, *(self.runs[key] for key in sorted(self.runs))]
        text = "".join(f"{json.dumps(line, sort_keys=True)}\n" for line in lines)
        write_atomically(self.path, text.encode())


def finite_family(
    quick: Quick = False,
    ranks: Ranks = None,
    seeds: Seeds = None,
    seed: FirstSeed = 0,
    steps: Steps = None,
    rate: Annotated[float | None, typer.Option("--rate", help="First learning rate of Adam.")] = None,
    loss: Annotated[str | None, typer.Option("--loss", help="max (softened) or squares.")] = None,
    features: Annotated[str | None, typer.Option("--features", help="exp or softplus of free numbers.")] = None,
    spread: Annotated[float | None, typer.Option("--spread", help="Standard deviation of these to begin with.")] = None,
    readout: Annotated[str | None, typer.Option("--readout", help="g begins as zero or as the overlaps.")] = None,
    jobs: Jobs = 1,
    device: Device = "cpu",
    out: Out = Path("experiments/finite-family"),
    as_json: AsJson = False,
) -> int:
    """Experiment 5.1: lookup tables trained on fifteen words' 1,272 inputs of three tokens, every run decided exactly.

    A run that fails ends as a certificate. Can be interrupted: finished ranks are kept in DIR/runs.jsonl and read
    again. Exit 0: all was run, and the constructed head is exact. Which ranks solve the family is a result, no status.
    """
    finite, chosen_device = _neural("finite_family")
    from proofcheck.report import require_matplotlib

    from . import output

    require_matplotlib("experiment")
    settings = finite.Settings(steps=1500) if quick else finite.Settings()
    given = {"steps": steps, "rate": rate, "loss": loss, "features": features, "spread": spread, "readout": readout}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    settings.check()
    where = chosen_device(device)
    listed = options.steps(ranks, "--ranks", 1, 4096) if ranks else [4, 15, 32] if quick else list(finite.RANKS)
    count = seeds or (2 if quick else finite.SEEDS)
    began = time.perf_counter()
    store = Store(out / "runs.jsonl", asdict(settings) | {"device": where}, ("rank", "seed"))
    wanted = [(rank, number) for rank in sorted(listed, reverse=True) for number in range(seed, seed + count)]
    tasks = []
    for rank in sorted(listed, reverse=True):
        missing = tuple(s for r, s in wanted if r == rank and (r, s) not in store.runs)
        if missing:
            tasks.append((rank, missing, settings, where, out))
    for runs in output.in_parallel(_finite_rank, tasks, jobs, "finite-family"):
        store.add(runs)
    results = _finite_results(finite, [store.runs[key] for key in sorted(wanted)], settings, where, out)
    results["seconds"] = round(time.perf_counter() - began, 1)
    from proofcheck.report import experiments as pictures

    results["figures"] = [path.name for path in pictures.finite_family(results, out)]
    rows = _finite_table(results)
    return _finish(results, rows, "Experiment 5.1: finite three-token family", out, as_json)


FiniteTask = tuple[int, tuple[int, ...], "finite.Settings", str, Path]


def _finite_rank(task: FiniteTask) -> list[dict[str, Any]]:
    """All missing seeds of one rank, trained together, decided, and their certificates written."""
    from proofcheck.neural import finite_family as finite

    rank, seeds, settings, device, out = task
    given, runs = _family(), []
    began = time.perf_counter()
    for run in finite.train(given, rank, seeds, settings, device, threads=1):
        command = f"{finite.COMMAND} --ranks {rank} --seeds 1 --seed {run.seed}{_changes(settings, finite.Settings())}"
        verdict = finite.judge(given, run.tables, command, run.seed)
        found = {
            "rank": rank,
            "seed": run.seed,
            "error": round(float(verdict.error), 6),
            "solved": verdict.solved,
            "covered": verdict.covered,
            "broken": verdict.broken,
            "steps": run.steps,
            "best_step": run.best_step,
            "last_error": round(run.last, 6),
            "ratios": [[k, float(f"{ratio:.6g}")] for k, ratio in verdict.ratios] if verdict.solved else [],
            "certificate": None,
        }
        if verdict.certificate is not None:
            name = f"rank{rank}-seed{run.seed}-{verdict.certificate.claim}"
            found["certificate"] = _kept(verdict.certificate, out, name)
        runs.append(found)
    seconds = round((time.perf_counter() - began) / len(runs), 2)
    return [run | {"seconds": seconds} for run in runs]


@functools.cache
def _family() -> finite.Family:
    from proofcheck.neural import finite_family as finite

    return finite.paper_family()


def _finite_results(
    finite: Any, runs: list[dict[str, Any]], settings: finite.Settings, device: str, out: Path
) -> dict[str, Any]:
    from proofcheck.report.experiments import interval

    code, given = finite.paper_code(), _family()
    rows = finite.constructed(given)
    largest = max(max(three) for three in finite.errors(given, rows))
    bounds = finite.exclusions(code)
    rests = {name: _kept(certificate, out, name) for item in bounds for name, certificate in item.rests.items()}
    excluded = [
        {
            "name": item.name,
            "short": short,
            "value": item.value,
            "bound": f"r > {float(item.bound):.4f}",
            "inputs": item.inputs,
            "certificate": _kept(item.certificate, out, f"feature-rank-{item.certificate.rule}"),
        }
        for item, short in zip(bounds, ("by the family's inputs", "if correct on all inputs"), strict=True)
    ]
    by_rank = {}
    for rank in sorted({run["rank"] for run in runs}):
        some = [run for run in runs if run["rank"] == rank]
        mean, half = interval([run["error"] for run in some])
        covered, covered_half = interval([run["covered"] / len(given.pairs) for run in some])
        by_rank[str(rank)] = {
            "runs": len(some),
            "solved": sum(run["solved"] for run in some),
            "error": {"mean": round(mean, 4), "half": round(half, 4)},
            "coverage": {"mean": round(covered, 4), "half": round(covered_half, 4)},
        }
    failed = [run for run in runs if not run["solved"]]
    claims = [run["certificate"]["claim"] for run in failed if run["certificate"]]
    return {
        "experiment": "finite-family",
        "settings": asdict(settings) | {"device": device},
        "words": [f"{word:06x}" for word in code.words],
        "jumps": len(given.jumps),
        "inputs": given.inputs,
        "pairs": len(given.pairs),
        "tokens": len(given.tokens),
        "code": rests["code"],
        "excluded": excluded,
        "by_distances": f"r > {float(finite.by_distances(code)):.4f}",
        "constructed": {
            "rank": len(given.queries),
            "error": round(float(largest), 6),
            "exact_error": str(largest),
            "exact": largest < finite.EPS,
        },
        "ranks": by_rank,
        "failed": len(failed),
        "refuted": {claim: claims.count(claim) for claim in sorted(set(claims))},
        "runs": runs,
        "status": PROVED if largest < finite.EPS and len(claims) == len(failed) else FAILS,
    }


def _finite_table(results: Mapping[str, Any]) -> list[Row]:
    excluded = results["excluded"]
    small = {rank: item for rank, item in results["ranks"].items() if int(rank) <= 15}
    shown = ", ".join(f"{item['error']['mean']:.2f} (r={rank})" for rank, item in small.items()) or "not run"
    rows: list[Row] = [
        ("jumps, inputs", "424, 1,272", f"{results['jumps']}, {results['inputs']:,}"),
        ("ranks excluded, by the family's inputs", "r < 8", f"r < {excluded[0]['value']} (strict inequality)"),
        ("ranks excluded, if correct on all inputs", "-", f"r < {excluded[1]['value']} (best chains)"),
        ("mean largest error, r <= 15", "> 0.80", shown),
    ]
    for rank, item in results["ranks"].items():
        if int(rank) > 15:
            paper = "5 of 5" if rank == "32" else "-"
            rows.append((f"runs that solve the family, r = {rank}", paper, f"{item['solved']} of {item['runs']}"))
    lower = sum(item["solved"] for item in small.values())
    rows.append(("runs that solve the family, r <= 15", "-", f"{lower} of {sum(i['runs'] for i in small.values())}"))
    built = results["constructed"]
    rows.append(("constructed head, r = 15", "exact", f"exact, largest error {built['error']:.4f}"))
    claims = ", ".join(f"{count} {claim}" for claim, count in results["refuted"].items()) or "none"
    rows.append(("failing runs, as certificates", "-", f"{results['failed']}: {claims}"))
    top = max((run["rank"] for run in results["runs"]), default=0)
    ratios = [pair for run in results["runs"] if run["rank"] == top for pair in run["ratios"]]
    above = sum(ratio > 2**k for k, ratio in ratios)
    rows.append((f"endpoint ratios above 2^steps, r = {top}", "all", f"{above} of {len(ratios)}"))
    return rows


# ------------------------------------------------------------------------------------------ experiment 5.2

PAPER_TRANSITIONS = {6: 8, 8: 16, 10: 64}


def out_of_distribution(
    quick: Quick = False,
    ranks: Ranks = None,
    seeds: Seeds = None,
    seed: FirstSeed = 0,
    steps: Steps = None,
    scales: Annotated[str, typer.Option("--scales", metavar="M,..", help="Of 6, 8, 10: bits of a word.")] = "6,8,10",
    rate: Annotated[float | None, typer.Option("--rate", help="First learning rate of Adam.")] = None,
    features: Annotated[str | None, typer.Option("--features", help="exp or softplus of affine maps.")] = None,
    spread: Annotated[float | None, typer.Option("--spread", help="Standard deviation of these to begin with.")] = None,
    padding: Annotated[str | None, typer.Option("--padding", help="exchanged or extended: see neural/ood.py.")] = None,
    jobs: Jobs = 1,
    device: Device = "cpu",
    out: Out = Path("experiments/ood"),
    as_json: AsJson = False,
) -> int:
    """Experiment 5.2: one positive-feature head and a dense control on held-out Min-IP sequences, by feature rank.

    Accuracies are measured in floats and prove nothing. Can be interrupted: finished ranks are kept in DIR/runs.jsonl
    and read again. Exit 0: all was run.
    """
    ood, chosen_device = _neural("ood")
    from proofcheck.report import require_matplotlib

    from . import output

    require_matplotlib("experiment")
    settings = ood.Settings(steps=1500, train=2048, test=256) if quick else ood.Settings()
    given = {"steps": steps, "rate": rate, "features": features, "spread": spread, "padding": padding}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    settings.check()
    where = chosen_device(device)
    known = {scale.M: scale for scale in ood.SCALES}
    chosen = [known[m] for m in options.steps("6" if quick else scales, "--scales", 1, 64) if m in known]
    if not chosen:
        raise UsageError(f"--scales: expected some of 6, 8, 10, got {scales}")
    listed = options.steps(ranks, "--ranks", 1, 4096) if ranks else [2, 8] if quick else list(ood.RANKS)
    count = seeds or (2 if quick else ood.SEEDS)
    began = time.perf_counter()
    store = Store(out / "runs.jsonl", asdict(settings) | {"device": where}, ("M", "rank", "seed"))
    wanted, tasks = [], []
    for scale in sorted(chosen, key=lambda scale: scale.M):
        for rank in [ood.DENSE, *sorted(listed)]:
            keys = [(scale.M, rank, number) for number in range(seed, seed + count)]
            wanted += keys
            missing = tuple(key[2] for key in keys if key not in store.runs)
            if missing:
                tasks.append((scale.M, rank, missing, settings, where))
    for runs in output.in_parallel(_ood_rank, tasks, jobs, "ood"):
        store.add(runs)
    results = _ood_results(ood, [store.runs[key] for key in sorted(wanted)])
    results |= {"settings": asdict(settings) | {"device": where}, "seconds": round(time.perf_counter() - began, 1)}
    from proofcheck.report import experiments as pictures

    results["figures"] = [path.name for path in pictures.ood(results, out)]
    return _finish(results, _ood_table(results), "Experiment 5.2: out-of-distribution capacity", out, as_json)


def _ood_rank(task: tuple[int, int, tuple[int, ...], Any, str]) -> list[dict[str, Any]]:
    """All missing seeds of one rank at one scale, trained together."""
    from proofcheck.neural import ood

    bits, rank, seeds, settings, device = task
    began = time.perf_counter()
    scale = next(scale for scale in ood.SCALES if bits == scale.M)
    found = ood.run(scale, rank, seeds, settings, device, threads=1)
    seconds = round((time.perf_counter() - began) / len(found), 2)
    return [
        {
            "M": bits,
            "rank": rank,
            "seed": run.seed,
            "accuracy": round(run.accuracy, 6),
            "train_accuracy": round(run.train_accuracy, 6),
            "loss": float(f"{run.loss:.6g}"),
            "seconds": seconds,
        }
        for run in found
    ]


def _ood_results(ood: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
    from proofcheck.report.experiments import interval

    scales = []
    for scale in ood.SCALES:
        mine = [run for run in runs if run["M"] == scale.M]
        if not mine:
            continue
        by_rank = {}
        for rank in sorted({run["rank"] for run in mine}):
            some = [run["accuracy"] for run in mine if run["rank"] == rank]
            mean, half = interval(some)
            by_rank[str(rank) if rank else "dense"] = {
                "runs": len(some),
                "mean": round(mean, 4),
                "half": round(half, 4),
                "least": min(some),
            }
        reached = [int(r) for r, item in by_rank.items() if r != "dense" and item["mean"] >= ood.TRANSITION]
        scales.append({"M": scale.M, "q": scale.q, "ranks": by_rank, "transition": min(reached, default=None)})
    return {"experiment": "ood", "scales": scales, "runs": runs, "status": PROVED}


def _ood_table(results: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for scale in results["scales"]:
        label = f"M={scale['M']}, q={scale['q']}, n={2 * scale['q']}"
        at = scale["transition"]
        shown = f"r = {at}" if at else "not reached"
        rows.append((f"90 % of held-out sequences exact, {label}", f"r = {PAPER_TRANSITIONS[scale['M']]}", shown))
        means = ", ".join(f"{100 * item['mean']:.1f} (r={r})" for r, item in scale["ranks"].items() if r != "dense")
        rows.append((f"mean accuracy %, {label}", "-", means))
        dense = scale["ranks"].get("dense")
        if dense:
            least = f"{100 * dense['least']:.1f} % in the worst of {dense['runs']} seeds"
            rows.append((f"dense control, {label}", "exact in every seed", least))
    return rows


# ---------------------------------------------------------------------------------------------- shared parts


def _neural(name: str) -> tuple[Any, Callable[[str], str]]:
    try:
        from proofcheck.neural import finite_family, ood
        from proofcheck.neural.search import chosen_device
    except ImportError:
        raise UsageError("experiment needs torch: install proofcheck[search]") from None
    return {"finite_family": finite_family, "ood": ood}[name], chosen_device


def _changes(settings: Any, usual: Any) -> str:
    """The options that were changed, as a user types them."""
    names = ("steps", "rate", "loss", "features", "spread", "readout")
    return "".join(
        f" --{name} {getattr(settings, name)}"
        for name in names
        if getattr(settings, name, None) != getattr(usual, name, None)
    )


def _kept(certificate: Checked, out: Path, name: str) -> dict[str, str]:
    """Written below `out`/certificates, with those it rests on."""
    from proofcheck.theorems.bundle import FOUNDATIONS, foundation

    folder = out / "certificates"
    for claim in certificate.report.certificate.uses:
        if claim in FOUNDATIONS:
            place, rested = foundation(claim)
            rested.write(folder / Path(place).parent, Path(place).name)
    written = certificate.write(folder, name)
    return {"claim": certificate.claim, "id": certificate.id, "file": str(written.relative_to(out))}


def _finish(results: dict[str, Any], rows: Sequence[Row], title: str, out: Path, as_json: bool) -> int:
    """Writes results.json and table.md, and prints the table or the JSON."""
    from . import output

    results["table"] = [dict(zip(("figure", "paper", "here"), row, strict=True)) for row in rows]
    write_atomically(out / "results.json", (json.dumps(results, indent=1, sort_keys=True) + "\n").encode())
    lines = [f"# {title}", "", "| | paper | here |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    write_atomically(out / "table.md", ("\n".join(lines) + "\n").encode())
    if as_json:
        output.print_json(results)
    else:
        output.console(False).print(output.table(title, ["", "paper", "here"], rows))
        typer.echo(f"Runs, figures, certificates and results.json: {out}")
    return int(results["status"])
