"""The two whole-task losses of the search against naive enumeration over all triples, and against the memory.

`margins`: kernels alone, the excesses of B0 from features (B, 2^m, m-2). `worst` and `softened`: heads with a readout,
from tables alpha and g (B, 2^m, 2^m); sequences of length 3. A STEP is a loss and its gradient. A PASS is a copy of
B x 4^m floats into memory that is there already, measured in turn with the losses. The enumerations go head by head,
with the heads that are named; nothing is extrapolated. One thread, its least time on the processor: that of a pass
finds a quiet moment more easily than that of a longer loss, so under other load the passes counted are too many.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .timing import in_turn

HALF = Fraction(1, 2)
SHARPNESS = 10.0
VALUES = 1 << 22  # B x 4^m at m = 7 and 8: 16 MB, more than a second-level cache
HEADS = 64  # at most
ENUMERATED = {4: 8, 5: 4, 6: 2, 7: 1, 8: 1}  # heads of the enumerations, and how often they are run
REPEATED = {4: 5, 5: 5, 6: 3, 7: 2, 8: 1}

Work = Callable[[], object]


def heads_of(m: int) -> int:
    return min(HEADS, VALUES >> 2 * m)


def losses(m: int, heads: int, device: str) -> dict[str, tuple[Work, Work]]:
    """The loss and the step of each, and as `pass` a copy."""
    import torch

    from proofcheck.neural.margins import Levels, excess, relaxed
    from proofcheck.neural.separable import Places, softened, worst

    size = 1 << m
    source = torch.Generator().manual_seed(m)
    levels, places = Levels.build(m, 3, HALF, device), Places.build(m, device)

    def leaves(*shape: int) -> list[Any]:
        return [torch.rand(*shape, generator=source).add(0.1).to(device).requires_grad_() for _ in range(2)]

    features, tables = leaves(heads, size, max(1, m - 2)), leaves(heads, size, size)
    buffer, other = torch.rand(heads, size, size, device=device), torch.empty(heads, size, size, device=device)

    def finished(value: Any = None) -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    def margins() -> Any:
        return relaxed(excess(features[0], features[1], levels), SHARPNESS).sum()

    def hard() -> Any:
        return worst(tables[0], tables[1], places, 3, HALF).flatten(1).amax(1).sum()

    def soft() -> Any:
        return relaxed(softened(tables[0], tables[1], places, 3, HALF, SHARPNESS).flatten(1), SHARPNESS).sum()

    def forward(loss: Callable[[], Any]) -> Work:
        def work() -> None:
            with torch.no_grad():
                loss()
            finished()

        return work

    def step(loss: Callable[[], Any], given: list[Any]) -> Work:
        return lambda: finished(torch.autograd.grad(loss(), given))

    copy: Work = lambda: finished(other.copy_(buffer))  # noqa: E731
    named = {"margins": (margins, features), "worst": (hard, tables), "softened": (soft, tables)}
    return {"pass": (copy, copy)} | {name: (forward(loss), step(loss, given)) for name, (loss, given) in named.items()}


def enumerations(m: int, heads: int) -> dict[str, Work]:
    """Steps of naive losses over all 8^m triples (x,y,z), head by head."""
    import torch

    from proofcheck.neural.margins import relaxed

    size = 1 << m
    source = torch.Generator().manual_seed(m)
    features = torch.rand(2, heads, size, max(1, m - 2), generator=source).add_(0.1).requires_grad_()
    tables = torch.rand(2, heads, size, size, generator=source).add_(0.1).requires_grad_()
    tokens = np.arange(size)
    overlap = torch.from_numpy(np.bitwise_count(tokens[:, None] & tokens).astype(np.float32))
    gap = overlap[:, None, :] - overlap[:, :, None]
    chosen = gap >= 2
    target = torch.minimum(overlap[:, None, :], overlap[:, :, None])

    def margins() -> None:
        for q, k in zip(features[0], features[1], strict=True):
            alpha = q @ k.T
            right = (gap - 1) * 2 * alpha[:, None, :] + (gap - 2) * alpha.diagonal()[:, None, None]
            value = torch.where(chosen, right.clamp(min=1e-9).log() - (2 * alpha[:, :, None]).log(), -1e9)
            torch.autograd.backward([relaxed(value.flatten(), SHARPNESS)])

    def errors() -> None:
        for alpha, g in zip(tables[0], tables[1], strict=True):
            p = alpha * g
            parts = [v.diagonal()[:, None, None] + v[:, :, None] + v[:, None, :] for v in (p, alpha)]
            torch.autograd.backward([relaxed(((parts[0] / parts[1]) - target).abs().flatten(), SHARPNESS)])

    return {"margins": margins, "errors": errors}


def run() -> None:
    try:
        import torch
    except ImportError:
        print("skipped: torch is not installed")
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        last: dict[str, float] = {}
        for m in (4, 5, 6, 7, 8):
            heads = heads_of(m)
            works = losses(m, heads, "cpu")
            times = in_turn([work for pair in works.values() for work in pair], 8, processor=True)
            once = min(times[:2])
            slow = enumerations(m, ENUMERATED[m])
            slow_times = dict(zip(slow, in_turn(list(slow.values()), REPEATED[m], processor=True), strict=True))
            print(f"  m={m}, {heads} heads, a pass {heads * 8 * 4**m / once / 1e9:.1f} GB/s:")
            for i, name in enumerate(list(works)[1:], 1):
                loss, step = (t / heads for t in times[2 * i : 2 * i + 2])
                naive = slow_times["margins" if name == "margins" else "errors"] / ENUMERATED[m]
                text = f"    {name}: {1 / step:.0f} steps x heads / s; {loss / once * heads:.1f} passes, "
                text += f"with gradient {step / once * heads:.1f}; enumeration of {8**m} triples (step, "
                text += f"{ENUMERATED[m]} heads) {naive / step:.1f} times slower"
                print(text + (f"; {step / last[name]:.1f} times m={m - 1}" if name in last else ""))
                last[name] = step
    finally:
        torch.set_num_threads(threads)
