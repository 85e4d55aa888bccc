"""Small helpers: best-of timing and whole-process start-up."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object], repeat: int = 1) -> float:
    """The least time of `repeat` runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def in_turn(works: Sequence[Callable[[], object]], repeat: int = 7, processor: bool = False) -> list[float]:
    """The median wall time of each, run in turn so that drift and other load hit all alike, after one run of each
    beforehand; with `processor`, the least time of this thread on the processor, which other load disturbs less."""
    clock = time.thread_time if processor else time.perf_counter
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeat + 1):
        for i, work in enumerate(works):
            start = clock()
            work()
            times[i].append(clock() - start)
    return [min(t[1:]) if processor else statistics.median(t[1:]) for t in times]


def process_seconds(*commands: list[str], repeat: int = 11) -> list[float]:
    """The median wall time of each command, run in turn so that drift hits all alike."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(repeat):
        for i, command in enumerate(commands):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=False, capture_output=True)
            times[i].append(time.perf_counter() - start)
    return [statistics.median(t) for t in times]
