"""The whole task as one loss for many kernels at once (mathematics.md B0), at the cost of 4^m per head.

For a query x with h = |x|, L = n-1, K = n-2 and s = alpha(x,x), let lo_l and hi_l be the least and the largest
alpha(x,z) over the tokens z with <x,z> = l. A kernel has a readout that is correct at all lengths 1..n if and only if
s > 0, lo_l > 0 for l < h, and for all levels l < u <= h, with d = u - l,

    2eps L lo_l > K L (d - 2eps) hi_u + (K d - 2eps L) s.

With the negative terms moved to the left this reads A > R, and A, R >= 0 where alpha >= 0. The EXCESS of a pair of
levels is log R - log A, negative where the inequality holds. It does not change when a row of queries is scaled, and
pairs whose R vanishes identically (d = 1 at n = 3, eps = 1/2) are left out. For features that may be negative, log t is
continued below a `floor` relative to the query's largest value by its tangent, and the excess of (i) is
log floor - log lo_l; at l = h, where a kernel value may be zero and not less, it is log floor - log(lo_h + floor).

lo_l and hi_l come from `extremes`; which of several equal tokens receives the gradient is said there.

    Levels   the index tensors for (m, n, eps)
    excess   features (B, 2^m, r) -> excesses (B, number of pairs), and of (i) for features of any sign
    relaxed  the soft maximum of excesses
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .extremes import Layout, arrays, compiled, extremes, loops

Array = NDArray[Any]


@dataclass(frozen=True)
class Levels:
    """`query` (levels,) is the query of each level of the `layout`, and `top` is 1 for those with l = h, else 0. A pair
    of levels is (low, high, own = x), with the coefficients `at_low` > 0, `at_high` >= 0 and `at_own` of any sign."""

    layout: Layout
    query: Tensor
    top: Tensor
    low: Tensor
    high: Tensor
    own: Tensor
    at_low: float
    at_high: Tensor
    at_own: Tensor

    @property
    def m(self) -> int:
        return self.layout.m

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array, float, Array, Array]:
        """The pairs as `native` takes them."""
        low, high, own, at_high, at_own = arrays(self.low, self.high, self.own, self.at_high, self.at_own)
        return low, high, own, self.at_low, at_high, at_own

    @staticmethod
    def build(m: int, n: int, eps: Fraction, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Levels:
        layout = Layout.build(m, device)
        tokens = np.arange(1 << m)
        weight = np.bitwise_count(tokens).astype(np.int64)
        start = np.concatenate(([0], np.cumsum(weight + 1)))  # as the layout numbers them
        low, high, own, gap = [], [], [], []
        for h in range(m + 1):
            lower, upper = np.triu_indices(h + 1, 1)
            xs = tokens[weight == h][:, None]
            low.append((start[xs] + lower).ravel())
            high.append((start[xs] + upper).ravel())
            own.append(np.broadcast_to(xs, (len(xs), len(lower))).ravel())
            gap.append(np.broadcast_to(upper - lower, (len(xs), len(lower))).ravel())
        gaps = np.concatenate(gap)
        length, others, e = n - 1, n - 2, float(eps)
        at_high, at_own = others * length * (gaps - 2 * e), others * gaps - 2 * e * length
        used = (at_high > 0) | (at_own > 0)

        def index(values: NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)

        def real(values: NDArray[Any]) -> Tensor:
            return torch.from_numpy(values[used]).to(device, dtype)

        query = np.repeat(tokens, weight + 1)
        top = (np.arange(start[-1]) - start[query] == weight[query]).astype(np.float64)
        low_places, high_places, xs_of = (index(np.concatenate(part)[used]) for part in (low, high, own))
        return Levels(
            layout=layout,
            query=layout.query,
            top=torch.from_numpy(top).to(device, dtype),
            low=low_places,
            high=high_places,
            own=xs_of,
            at_low=2 * e * length,
            at_high=real(at_high),
            at_own=real(at_own),
        )


def excess(queries: Tensor, keys: Tensor, levels: Levels, floor: float | None = None) -> Tensor:
    """log R - log A for each head and pair of levels; with a `floor`, for features of any sign, also the excesses of
    (i). All negative: B0 holds in floats."""
    low, high, _ = extremes(queries, keys, levels.layout)
    own = (queries * keys).sum(-1)
    left: Tensor
    right: Tensor
    if compiled(low):
        left, right = _Sides.apply(low, high, own, levels)  # type: ignore[no-untyped-call]
    else:
        left, right = sides(low, high, own, levels)
    if floor is None:
        return right.log() - left.log()
    with torch.no_grad():
        largest = torch.full_like(own, 1e-30).scatter_reduce(1, levels.query.expand(len(own), -1), high, "amax")
        largest = torch.maximum(largest, own)
    scale = largest.index_select(1, levels.own)
    relative = low / largest.index_select(1, levels.query) + floor * levels.top
    positive = torch.cat([relative, own / largest], 1)
    pairs = extended(right / scale, floor) - extended(left / scale, floor)
    return torch.cat([pairs, float(np.log(floor)) - extended(positive, floor)], 1)


def sides(low: Tensor, high: Tensor, own: Tensor, levels: Levels) -> tuple[Tensor, Tensor]:
    """A and R for each pair of levels."""
    at_own, own_values = levels.at_own, own.index_select(1, levels.own)
    left = levels.at_low * low.index_select(1, levels.low) + (-at_own).clamp(min=0) * own_values
    right = levels.at_high * high.index_select(1, levels.high) + at_own.clamp(min=0) * own_values
    return left, right


class _Sides(torch.autograd.Function):
    """The same on a CPU, where the sums of gradients at many places would take longest."""

    @staticmethod
    def forward(ctx: Any, low: Tensor, high: Tensor, own: Tensor, levels: Levels) -> tuple[Tensor, Tensor]:
        left, right = (low.new_empty(len(low), len(levels.low)) for _ in range(2))
        ctx.levels, ctx.shapes = levels, (low.shape, own.shape)
        loops().sides(arrays(low, high, own), levels.arrays, arrays(left, right))
        return left, right

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        of_levels, of_own = ctx.shapes
        at = tuple(gradients[0].new_zeros(shape) for shape in (of_levels, of_levels, of_own))
        loops().sides_back(arrays(*at), ctx.levels.arrays, arrays(*gradients))
        return *at, None


def extended(t: Tensor, floor: float) -> Tensor:
    """log t, continued by its tangent below the floor."""
    return t.clamp(min=floor).log() + (t - floor).clamp(max=0) / floor


def relaxed(values: Tensor, sharpness: float) -> Tensor:
    """The soft maximum log(sum exp(sharpness v)) / sharpness over the last axis."""
    return torch.logsumexp(values * sharpness, -1) / sharpness
