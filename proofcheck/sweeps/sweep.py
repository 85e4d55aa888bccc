"""A sweep in a folder: plan.json, shards/, certificates/, checkpoints/ and, once all shards are there, merged.json.

`run` may be stopped at any time and started again: finished shards are not run again, and what is merged in the end has
the same bytes as if nothing had happened.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from proofcheck.errors import CONDITIONAL, FAILS, PROVED, UsageError

from . import engines, shards
from .engines import Done, Failed
from .plan import Plan, Shard
from .shards import Finished
from .work import Search

Engine: TypeAlias = Callable[
    [Callable[[Shard], Finished], Sequence[Shard]], Iterator[Done[Shard, Finished] | Failed[Shard]]
]
Work: TypeAlias = Callable[[Shard], Finished]


@dataclass
class Report:
    """What a run did. `merged` is None as long as shards are missing."""

    plan: Plan
    kept: int  # shards that were finished before
    ran: int = 0
    failed: list[Failed[Shard]] = field(default_factory=list)
    missing: int = 0
    merged: dict[str, Any] | None = None

    @property
    def status(self) -> int:
        """Proved where every cell has a head; fails where some are refuted and none is open; otherwise conditional."""
        if self.merged is None:
            return CONDITIONAL
        outcomes = {cell["outcome"] for cell in self.merged["cells"]}
        return PROVED if outcomes == {"found"} else CONDITIONAL if "open" in outcomes else FAILS


def run(
    plan: Plan,
    folder: Path,
    engine: Engine | None = None,
    *,
    part: Iterable[Shard] | None = None,
    work: Work | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Report:
    """Runs the shards of `part` (all by default) that `folder` does not hold yet, and merges where none is missing.
    The folder holds this plan or none; `engine` takes work and shards, as those of `engines` do."""
    path = folder / "plan.json"
    if not path.exists():
        plan.write(path)
    elif (held := Plan.read(path)) != plan:
        raise UsageError(f"{path} is another plan: {_difference(held, plan)}; choose another folder, or ask for that")
    done = shards.collected(plan, [folder])
    report = Report(plan, len(done))
    wanted = [shard for shard in (plan.shards if part is None else part) if shard.id not in done]
    work = work or Search(str((folder / "checkpoints").absolute()))
    if wanted:
        outcomes = (engine or engines.local)(work, wanted)
        with contextlib.closing(cast(Any, outcomes)):
            for outcome in outcomes:
                count = f"{report.ran + len(report.failed) + 1}/{len(wanted)}"
                if isinstance(outcome, Failed):
                    report.failed.append(outcome)
                    progress(f"{count} FAILED {outcome.tries} times: shard {outcome.task}: {outcome.reason}")
                    continue
                about = {**outcome.value.about, "tries": str(outcome.tries)}
                shards.write(folder, outcome.task, dataclasses.replace(outcome.value, about=about))
                report.ran += 1
                again = f", try {outcome.tries}" if outcome.tries > 1 else ""
                progress(f"{count} {outcome.value.result['outcome']}: shard {outcome.task}{again}")
    report.missing = len(plan.shards) - report.kept - report.ran
    if not report.missing:
        report.merged = shards.merge(plan, [folder])
        shards.write_merged(folder / "merged.json", report.merged)
    return report


def _difference(held: Plan, asked: Plan) -> str:
    for entry in dataclasses.fields(held.settings):
        there, here = getattr(held.settings, entry.name), getattr(asked.settings, entry.name)
        if there != here:
            return f"there {entry.name} = {there}, here {here}"
    other, mine = set(held.shards), set(asked.shards)
    return (
        f"{len(other - mine)} of its {len(other)} shards are not asked for, {len(mine - other)} asked for are not in it"
    )
