"""python -m benchmarks.gpu: what a GPU does for the search, beside this machine's CPU, in under five minutes.

Prints the device; the losses of `benchmarks.search` on it against the CPU, and against a copy in its own memory; and
the certificates of `search` at rank m-2 for m = 4..7, seed 0, one thread, on the device beside those of the CPU. Floats
of two devices differ in their last bits, and a search amplifies this: the ids may differ (on a GPU, from run to run as
well, since sums have no fixed order there), and both certificates are right. Which are equal is said. Each certificate
is checked again by the trusted kernel, from its file, in a process of its own.

Without a GPU the CPU's half is run and that is said. Exit status 0: every search found its head and every certificate
was verified; 1: not so; 2: torch is not installed, or a bit count out of range.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .search import losses
from .timing import in_turn

if TYPE_CHECKING:
    from proofcheck.certificate import Checked
    from proofcheck.neural.search import Outcome

ROOT = Path(__file__).parents[1]
SEED = 0
HEADS = {"cpu": 16, "cuda": 1024}  # of the losses, on each device
VALUES = {"cpu": 1 << 22, "cuda": 1 << 26}  # B x 4^m at most


def described(device: str) -> str:
    import torch

    if device == "cpu":
        return f"cpu: {platform.machine()}, torch {torch.__version__}, {torch.get_num_threads()} threads"
    found = torch.cuda.get_device_properties(0)
    return f"cuda: {found.name}, {found.total_memory / 2**30:.0f} GiB, capability {found.major}.{found.minor}"


def throughput(m: int, device: str, repeat: int) -> dict[str, tuple[float, float]]:
    """For each loss: steps times heads per second, and passes per step."""
    heads = max(1, min(HEADS[device], VALUES[device] >> 2 * m))
    works = losses(m, heads, device)
    times = dict(zip(works, in_turn([step for _, step in works.values()], repeat), strict=True))
    once = times.pop("pass")
    return {name: (heads / step, step / once) for name, step in times.items()}


def compared(bits: list[int], devices: list[str], repeat: int) -> None:
    for m in bits:
        found = {device: throughput(m, device, repeat) for device in devices}
        for name, (cpu, passes) in found["cpu"].items():
            line = f"  m={m} {name}: cpu {cpu:.0f} steps x heads / s ({passes:.1f} passes of its memory)"
            for device in devices[1:]:
                rate, own = found[device][name]
                line += f"; {device} {rate:.0f} ({own:.1f} passes of its memory), {rate / cpu:.1f} times the cpu"
            print(line, flush=True)


def verified(certificates: Sequence[Checked | None]) -> bool:
    """Whether the kernel, a process of its own without any package, accepts all of them with nothing assumed, given
    the theorem they rest on."""
    from proofcheck.theorems.bundle import foundation

    if not all(certificates):
        return False
    with tempfile.TemporaryDirectory() as folder:
        for i, certificate in enumerate((*certificates, foundation("domination-sufficient")[1])):
            if certificate is not None:
                certificate.write(Path(folder), str(i))
        command = [sys.executable, "-S", "-m", "proofcheck.kernel", folder]
        return subprocess.run(command, check=False, capture_output=True, cwd=ROOT).returncode == 0


def searched(bits: list[int], devices: list[str]) -> bool:
    """Prints the certificates of each device; whether all heads were found and all certificates verified."""
    from proofcheck.neural.search import search

    good = True
    for m in bits:
        outcomes: dict[str, Outcome] = {}
        for device in devices:
            start = time.perf_counter()
            outcome = search(m, max(1, m - 2), seed=SEED, device=device, threads=1)
            seconds = time.perf_counter() - start
            outcomes[device] = outcome
            fine = verified((outcome.exists, outcome.correct))
            good &= fine
            ids = [c.id[:12] if c else "none" for c in (outcome.exists, outcome.correct)]
            said = "verified" if fine else f"NOT VERIFIED {outcome.note}"
            print(
                f"  m={m} r={max(1, m - 2)} {device}: head-exists {ids[0]}, kernel-correct {ids[1]}: {said}; "
                f"{len(outcome.attempts)} restarts, {sum(a.steps for a in outcome.attempts)} steps, {seconds:.1f} s",
                flush=True,
            )
        for device in devices[1:]:
            pairs = [(outcomes["cpu"].exists, outcomes[device].exists)]
            pairs += [(outcomes["cpu"].correct, outcomes[device].correct)]
            same = [a is not None and b is not None and a.id == b.id for a, b in pairs]
            print(f"  m={m}: {'the same certificates' if all(same) else 'other certificates'} on cpu and {device}")
    return good


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__.split("\n")[0])
    parser.add_argument("--bits", default="4,5,6,7", help="m of the searches, 1 to 8, separated by commas")
    parser.add_argument("--losses", default="7,8", help="m of the losses, 1 to 8, separated by commas; empty for none")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each loss, of which the median counts")
    given = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        print("torch is not installed: pip install proofcheck[search]", file=sys.stderr)
        return 2
    lists = []
    for name, text in (("--bits", given.bits), ("--losses", given.losses)):
        values = [part for part in text.split(",") if part]
        if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= 8 for part in values):
            print(f"{name}: expected numbers from 1 to 8, separated by commas, got {text!r}", file=sys.stderr)
            return 2
        lists.append([int(part) for part in values])
    if not lists[0] or given.repeat < 1:
        print(
            f"expected at least one m in --bits and --repeat >= 1, got {given.bits!r}, {given.repeat}", file=sys.stderr
        )
        return 2
    devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
    for device in devices:
        print(described(device))
    if len(devices) == 1:
        print("no GPU is there: the CPU's half alone")
    compared(lists[1], devices, given.repeat)
    good = searched(lists[0], devices)
    print("all heads found, all certificates verified" if good else "NOT all heads found or certificates verified")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
