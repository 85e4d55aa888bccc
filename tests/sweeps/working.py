"""Work for engines under test: results without a search, and workers that fail or die; spawned workers import it."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from proofcheck.sweeps.plan import Plan, Settings
from proofcheck.sweeps.shards import Finished

HALF = Fraction(1, 2)
CALLS = "calls"


def small_plan(seeds=2, settings=None):
    return Plan.of([(m, r, 3, HALF, s) for m in (2, 3) for r in (1, 2) for s in range(seeds)], settings or Settings())


def result(shard):
    """A result that a merge accepts, and that differs from shard to shard."""
    return {"outcome": "open", "certificates": [], "attempts": [], "nearest": f"{shard.m}.{shard.r}", "note": shard.id}


@dataclass(frozen=True)
class Work:
    """Notes each call in `folder`; on the shard `victim` it does what `how` says, the first `times` times."""

    folder: str
    victim: str = ""
    how: str = ""
    times: int = 10**6

    def __call__(self, shard):
        calls = Path(self.folder) / CALLS
        calls.mkdir(exist_ok=True)
        count = len(list(calls.glob(f"{shard.id}.*")))
        (calls / f"{shard.id}.{count}").write_text(str(os.getpid()))
        if shard.id == self.victim and count < self.times:
            if self.how == "raise":
                raise RuntimeError("no luck")
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return Finished(result(shard), (), {"seconds": str(time.time())})


def calls(folder, shard):
    return len(list((folder / CALLS).glob(f"{shard.id}.*")))
