"""Transcript collisions: assignments per second of the finder against a plain loop with a dictionary over the kernel's
definition, on models in which all transcripts differ; and the memory of ten million assignments, in a process of its
own, against keeping every transcript in a dictionary (extrapolated)."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

from proofcheck import transcripts
from proofcheck.sketches import Looped, builtin, finder
from proofcheck.sketches.linear import LinearAttention

SAMPLE = 1_000  # assignments of the plain loop
MANY = 10_000_000
SHAPES = ((1, 1, 4, 4, 16), (2, 2, 4, 4, 16))  # layers, heads, r, dv, p


def plain(model: LinearAttention, family: transcripts.TypedFamily, count: int) -> dict[str, int]:
    """The transcripts one by one, kept as text."""
    seen: dict[str, int] = {}
    for number in range(count):
        text = repr(model.plain_messages(family.sequence(family.levels(number))))
        if seen.setdefault(text, number) != number:
            raise ValueError("a collision: this model is not for the benchmark")
    return seen


def peak() -> float:
    """The most memory that this process has had, in MB (Linux; 0 elsewhere). getrusage would count the parent's."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def many() -> None:
    """Run in a process of its own: prints seconds and the peak of its memory in MB before and after."""
    family = transcripts.typed_family(20, 3, 12)
    model = builtin.linear_attention(family, *SHAPES[0])
    before = peak()
    start = time.perf_counter()
    found = finder.find(model, family, MANY)
    seconds = time.perf_counter() - start
    print(type(found).__name__, seconds, before, peak())


def run() -> None:
    family = transcripts.typed_family(20, 3, 12)
    print(f"4^12 assignments of 24 tokens (m={family.m}); all transcripts examined differ")
    for shape in SHAPES:
        model = builtin.linear_attention(family, *shape)
        start = time.perf_counter()
        plain(model, family, SAMPLE)
        slow = SAMPLE / (time.perf_counter() - start)
        start = time.perf_counter()
        finder.find(Looped(model), family, SAMPLE)
        looped = SAMPLE / (time.perf_counter() - start)
        count = 1_000_000 if shape[0] == 1 else 200_000
        start = time.perf_counter()
        found = finder.find(model, family, count)
        fast = count / (time.perf_counter() - start)
        print(
            f"  {model.name}: {type(found).__name__}, {fast:.0f} assignments per second, {fast / slow:.0f} times the "
            f"plain loop; as a user's own model, one sequence at a time, {looped / slow:.2f} times"
        )
    tracemalloc.start()
    seen = plain(builtin.linear_attention(family, *SHAPES[0]), family, SAMPLE)
    each = tracemalloc.get_traced_memory()[0] / len(seen)
    tracemalloc.stop()
    command = [sys.executable, "-c", "from benchmarks.sketches import many; many()"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    kind, seconds, before, most = done.stdout.split()
    print(
        f"  {MANY} assignments: {kind}, {float(seconds):.1f} s, {MANY / float(seconds):.0f} per second; peak "
        f"{float(most):.0f} MB of memory, {float(most) - float(before):.0f} MB more than before; a dictionary of "
        f"transcripts would need {each * MANY / 2**20:.0f} MB"
    )
