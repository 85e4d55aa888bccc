"""Smaller integers for a head that is correct already: descent through rounded features.

Rounding a trained head needs a grid fine enough for its margins. Training THROUGH the rounding needs a much coarser
one: features are kept in units of the grid, the loss sees their rounded values, and the gradient passes as if nothing
had been rounded. Grids go down from fine to coarse, each starting from the head of the grid before; a head counts only
when `rationalise.holds` accepts its integers for every query.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from proofcheck.heads import Floats

from .margins import Levels, excess, relaxed
from .rationalise import IntegerHead, Integers, coarsened, holds

GRIDS = (4096, 2048, 1024, 512, 256, 128, 96, 64, 48, 32, 24, 20, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
FLOOR = 1e-4
SHARPNESS = 100.0


def compress(
    queries: Floats, keys: Floats, levels: Levels, n: int, eps: Fraction, steps: int = 400, patience: int = 2
) -> IntegerHead | None:
    """The head on the coarsest grid reached, each query on its own coarsest; None where no grid passes."""
    device, xs = levels.query.device, np.arange(len(queries))
    scale = np.abs(keys).max(axis=0)
    scale[scale == 0] = 1
    rows = np.abs(queries * scale).max(axis=1, keepdims=True)
    rows[rows == 0] = 1
    units = torch.tensor(np.stack([queries * scale / rows, keys / scale]), dtype=torch.float32, device=device)[:, None]
    best: IntegerHead | None = None
    failures = 0
    for grid in GRIDS:
        found = _on_grid(units * grid, grid, levels, n, eps, xs, steps)
        if found is None:
            failures += best is not None
            if failures >= patience:
                break
            continue
        free, best = found
        units, failures = free / grid, 0
    return best and coarsened(best, n, eps)


def _on_grid(
    start: Tensor,
    grid: int,
    levels: Levels,
    n: int,
    eps: Fraction,
    xs: Integers,
    steps: int,
) -> tuple[Tensor, IntegerHead] | None:
    free = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([free], lr=0.02 + 0.004 * grid**0.5, betas=(0.9, 0.99))
    for _ in range(steps):
        rounded = free + (free.round() - free).detach()
        values = excess(rounded[0], rounded[1], levels, FLOOR)
        if float(values.detach().amax()) < 0:
            integers = free.detach().round().long().cpu().numpy()[:, 0]
            if holds(xs, integers[0], integers[1], n, eps).all():
                return free.detach(), IntegerHead(integers[0], integers[1])
        optimiser.zero_grad()
        torch.autograd.backward([relaxed(values, SHARPNESS).sum()])
        optimiser.step()
    return None
