"""The work on one shard: a search, as strings and integers that are the same from every run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofcheck import __version__
from proofcheck.certificate import in_file_name
from proofcheck.errors import FAILS, PROVED

from .plan import Settings, Shard
from .shards import Finished

if TYPE_CHECKING:
    from proofcheck.certificate import Checked


@dataclass(frozen=True)
class Search:
    """Called with a shard, in whatever process or machine. `checkpoints` is a folder that this machine can write to,
    or None: searches that a worker leaves unfinished then begin again."""

    checkpoints: str | None = None

    def __call__(self, shard: Shard) -> Finished:
        from proofcheck.neural import search, training
        from proofcheck.theorems.bundle import foundation

        began, given = time.perf_counter(), shard.settings
        outcome = search.search(
            shard.m,
            shard.r,
            shard.n,
            shard.eps,
            heads=given.heads,
            restarts=given.restarts,
            seed=shard.seed,
            device=given.device,
            threads=given.threads,
            settings=training.Settings(steps=given.steps, parametrisation=given.features, start=given.start),
            command=command(shard),
            checkpoint=Path(self.checkpoints) / f"{shard.id}.npz" if self.checkpoints else None,
        )
        label = f"m{shard.m}-r{shard.r}-n{shard.n}-eps{in_file_name(shard.eps)}-seed{shard.seed}"
        named: list[tuple[str, Checked]] = []
        for claim, certificate in (("head-exists", outcome.exists), ("kernel-correct", outcome.correct)):
            if certificate is not None:
                named.append((f"{label}-{claim}-{shard.id[:8]}.json", certificate))
        attempts: list[dict[str, Any]] = []
        for attempt in outcome.attempts:
            refutation = attempt.refutation.certificate if attempt.refutation else None
            if refutation is not None:
                named.append((f"{label}-restart{attempt.restart}-refutation-{shard.id[:8]}.json", refutation))
            attempts.append(
                {
                    "restart": attempt.restart,
                    "steps": attempt.steps,
                    "best": f"{attempt.best:.6g}",
                    "best_step": attempt.best_step,
                    "outcome": "exact" if attempt.exact else "refuted" if refutation else "open",
                    "refutation": refutation.id if refutation else "",
                    "note": attempt.note,
                }
            )
        result = {
            "outcome": {PROVED: "found", FAILS: "refuted"}.get(outcome.status, "open"),
            "certificates": [{"claim": item.claim, "id": item.id, "name": name} for name, item in named],
            "attempts": attempts,
            "nearest": f"{outcome.near:.6g}",
            "note": outcome.note,
        }
        files = [(name, item.data) for name, item in named]
        for claim in sorted({claim for _, item in named for claim in item.report.certificate.uses}):
            path, rested = foundation(claim)
            files.append((f"{path}.json", rested.data))
        about = {"proofcheck": __version__, "seconds": f"{time.perf_counter() - began:.1f}", "torch": version("torch")}
        return Finished(result, tuple(files), about)


def command(shard: Shard) -> str:
    """What a reader types to run this search alone."""
    text = f"proofcheck search -m {shard.m} -r {shard.r} -n {shard.n} --eps {shard.eps}"
    usual, given = Settings(), shard.settings
    for name in ("heads", "steps", "restarts", "threads", "features", "start"):
        value = getattr(given, name)
        text += f" --{name} {value}" if value != getattr(usual, name) else ""
    return text + f" --device {given.device}" + (f" --seed {shard.seed}" if shard.seed else "")
