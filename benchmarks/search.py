"""The whole-task loss of the search against naive enumeration over triples, and against the bandwidth of memory.

All times are ratios within one run, on one thread. "Pass" is a copy of B x 4^m floats.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .timing import seconds

HALF = Fraction(1, 2)
HEADS = 16


def run() -> None:
    try:
        import torch
    except ImportError:
        print("skipped: torch is not installed")
        return
    from proofcheck.neural.margins import Levels, excess, relaxed

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        last = 0.0
        for m in (4, 5, 6, 7, 8):
            rank, size = m - 2, 1 << m
            levels = Levels.build(m, 3, HALF)
            features = torch.rand(2, HEADS, size, rank).add_(0.1).requires_grad_()

            def forward(f=features, at=levels):  # type: ignore[no-untyped-def]
                return relaxed(excess(f[0], f[1], at), 10.0).sum()

            def step() -> None:
                torch.autograd.backward([forward()])

            loss = seconds(lambda: forward().detach(), 5)
            whole = seconds(step, 5)
            buffer = torch.rand(HEADS, size * size)
            once = seconds(lambda b=buffer: b.clone(), 9)  # type: ignore[misc]
            text = f"  m={m}: {HEADS / whole:.0f} steps x heads / s, "
            text += f"loss {loss / once:.1f} passes, step {whole / once:.1f}"
            if m <= 6:
                overlap = torch.from_numpy(
                    np.bitwise_count(np.arange(size)[:, None] & np.arange(size)[None, :]).astype(np.int64)
                )
                gap = overlap[:, None, :] - overlap[:, :, None]

                def naive(f=features, d=gap):  # type: ignore[no-untyped-def]
                    for q, k in zip(f[0], f[1], strict=True):
                        alpha = q @ k.T
                        own = alpha.diagonal()[:, None, None]
                        right = (d - 1) * 2 * alpha[:, None, :] + (d - 2) * own
                        value = right.clamp(min=1e-9).log() - (2 * alpha[:, :, None]).log()
                        torch.autograd.backward([relaxed(value[d >= 2], 10.0)])

                slow = seconds(naive, 2)
                text += f"; enumeration of 8^m triples {slow / whole:.0f} times slower"
            if last:
                text += f"; {whole / last:.1f} times m={m - 1}"
            print(text)
            last = whole
    finally:
        torch.set_num_threads(threads)
