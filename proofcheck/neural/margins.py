"""The whole task as one loss for many kernels at once (mathematics.md B0), at the cost of 4^m per head.

For a query x with h = |x|, L = n-1, K = n-2 and s = alpha(x,x), let lo_l and hi_l be the least and the largest
alpha(x,z) over the tokens z with <x,z> = l. A kernel has a readout that is correct at all lengths 1..n if and only if
s > 0, lo_l > 0 for l < h, and for all levels l < u <= h, with d = u - l,

    2eps L lo_l > K L (d - 2eps) hi_u + (K d - 2eps L) s.

With the negative terms moved to the left this reads A > R, and A, R >= 0 where alpha >= 0. The EXCESS of a pair of
levels is log R - log A, negative where the inequality holds. It does not change when a row of queries is scaled, and
pairs whose R vanishes identically (d = 1 at n = 3, eps = 1/2) are left out. For features that may be negative, log t is
continued below a `floor` relative to the query's largest value by its tangent, and the excess of (i) is
log floor - log lo_l.

The extremes. Tokens are laid out once by (query, level) in chunks of `width` places, the last chunk of a level filled
up with its first token; one gather and one reduction give the extremes of the chunks, a second and much smaller pair
those of the levels. To know WHICH token is extreme, which is all that a gradient needs, the last m bits of a float's
pattern, made monotone as an integer, are replaced by the token: a minimum of integers then carries its argument. A
token may thereby be preferred to one that is better by a relative 2^(m-23) in float32, 2^(m-52) in float64. Values are
then read at these tokens, so they are exact values of the kernel in floats, and differentiable.

    Levels   the index tensors for (m, n, eps)
    excess   features (B, 2^m, r) -> excesses (B, number of pairs), and of (i) for features of any sign
    relaxed  the soft maximum of excesses
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Extremes: TypeAlias = tuple[Tensor, Tensor]
PATTERN = {torch.float32: torch.int32, torch.float64: torch.int64}


@dataclass(frozen=True)
class Levels:
    """`order` (width, chunks) holds pairs x 2^m + z, `chunks_of` (most chunks, levels) the chunks of each level, with
    repetition; `query` (levels,) and `below` (those with l < h). A pair of levels is (low, high, x), with the
    coefficients `at_low` > 0, `at_high` >= 0 and `at_own` of any sign."""

    m: int
    order: Tensor
    chunks_of: Tensor
    query: Tensor
    below: Tensor
    low: Tensor
    high: Tensor
    own: Tensor
    at_low: float
    at_high: Tensor
    at_own: Tensor

    @staticmethod
    def build(m: int, n: int, eps: Fraction, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Levels:
        size, width = 1 << m, 1 << max(3, m // 2 - 1)
        tokens = np.arange(size)
        overlap = np.bitwise_count(tokens[:, None] & tokens[None, :])
        weight = np.bitwise_count(tokens).astype(np.int64)
        # Levels are numbered query by query: start[x] + l.
        start = np.concatenate(([0], np.cumsum(weight + 1)))
        numbers = (start[:-1, None] + overlap).ravel()
        pairs = np.argsort(numbers, kind="stable")
        sizes = np.bincount(numbers, minlength=start[-1])
        firsts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        chunks = -(-sizes // width)
        of_chunk = np.repeat(np.arange(start[-1]), chunks)
        begin = np.cumsum(chunks) - chunks
        within = (np.arange(len(of_chunk)) - begin[of_chunk])[:, None] * width + np.arange(width)
        within[within >= sizes[of_chunk][:, None]] = 0
        order = pairs[firsts[of_chunk][:, None] + within]
        steps = np.arange(chunks.max())[:, None]
        chunks_of = begin + np.where(steps < chunks, steps, 0)
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
        below = np.flatnonzero(np.arange(start[-1]) - start[query] < weight[query])
        low_places, high_places, xs_of = (index(np.concatenate(part)[used]) for part in (low, high, own))
        return Levels(
            m=m,
            order=index(order.T),
            chunks_of=index(chunks_of),
            query=index(query),
            below=index(below),
            low=low_places,
            high=high_places,
            own=xs_of,
            at_low=2 * e * length,
            at_high=real(at_high),
            at_own=real(at_own),
        )

    def extremes(self, alpha: Tensor) -> Extremes:
        """Flat places of a token with the least and of one with the largest value, (B, levels) each; alpha is
        (B, 4^m)."""
        size = 1 << self.m
        with torch.no_grad():
            pattern = alpha.detach().contiguous().view(PATTERN[alpha.dtype])
            kind = pattern.dtype
            sign = pattern >> (torch.iinfo(kind).bits - 1)
            tokens = torch.arange(size, dtype=kind, device=alpha.device)
            keys = pattern ^ (sign & torch.iinfo(kind).max)
            keys = keys.view(len(alpha), size, size).bitwise_and_(-size).bitwise_or_(tokens).view(len(alpha), -1)
            keys = keys.index_select(1, self.order.flatten()).view(len(alpha), *self.order.shape)
            found = []
            for part, least in ((keys.amin(1), True), (keys.amax(1), False)):
                levels = part.index_select(1, self.chunks_of.flatten()).view(len(alpha), *self.chunks_of.shape)
                best = levels.amin(1) if least else levels.amax(1)
                found.append((best & (size - 1)).long() + self.query * size)
        return found[0], found[1]


def excess(queries: Tensor, keys: Tensor, levels: Levels, floor: float | None = None) -> Tensor:
    """log R - log A for each head and pair of levels; with a `floor`, for features of any sign, also the excesses of
    (i). All negative: B0 holds in floats."""
    alpha = (queries @ keys.mT).flatten(1)
    low_places, high_places = levels.extremes(alpha)
    low, high = alpha.gather(1, low_places), alpha.gather(1, high_places)
    own = (queries * keys).sum(-1)
    at_own = levels.at_own
    own_values = own[:, levels.own]
    left = levels.at_low * low[:, levels.low] + (-at_own).clamp(min=0) * own_values
    right = levels.at_high * high[:, levels.high] + at_own.clamp(min=0) * own_values
    if floor is None:
        return right.log() - left.log()
    with torch.no_grad():
        largest = torch.full_like(own, 1e-30).scatter_reduce(1, levels.query.expand(len(own), -1), high, "amax")
        largest = torch.maximum(largest, own)
    scale = largest[:, levels.own]
    positive = torch.cat([low[:, levels.below] / largest[:, levels.query[levels.below]], own / largest], 1)
    pairs = extended(right / scale, floor) - extended(left / scale, floor)
    return torch.cat([pairs, float(np.log(floor)) - extended(positive, floor)], 1)


def extended(t: Tensor, floor: float) -> Tensor:
    """log t, continued by its tangent below the floor."""
    return t.clamp(min=floor).log() + (t - floor).clamp(max=0) / floor


def relaxed(values: Tensor, sharpness: float) -> Tensor:
    """The soft maximum log(sum exp(sharpness v)) / sharpness over the last axis."""
    return torch.logsumexp(values * sharpness, -1) / sharpness
