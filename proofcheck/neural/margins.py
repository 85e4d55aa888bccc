"""B0 (mathematics.md) as differentiable margins, for B heads at once.

With lo_l and hi_l the least and the largest kernel value of a query x at overlap l, s = alpha(x,x), L = n-1, K = n-2,
the condition for the overlaps l < l+d is

    left = 2eps L lo_l  >  right = K L (d - 2eps) hi_(l+d) + (K d - 2eps L) s.

Its margin is log(left) - log(right): free of the scale of the row, and accurate however far the values are apart. Where
right <= 0, or is negligible, the condition is that lo_l > 0 and the margin is `CEILING`.

The extremes by level need no index of the 4^m pairs: `by_level` folds one bit of the tokens at a time, which halves
them and adds a level. Only the tokens that attain an extreme carry a gradient, so the 4^m kernel values are computed
without one and their tokens found in the low bits of the folded numbers; the few values that matter are then computed
again.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp

import torch
from torch import Tensor

from proofcheck.errors import UsageError

MAX_M = 12
CEILING = 30.0  # margins are cut off here
FAR = 1e30  # in place of an infinity, where a level is empty


def by_level(values: Tensor, fold: Callable[[Tensor, Tensor], Tensor], empty: float) -> Tensor:
    """(B, 2^m, 2^m) values of (query, token) -> (B, 2^m, m+1): `fold` over the tokens of each overlap, `empty` if none.

    After i bits the shape is (B, queries, i+1 overlaps, 2^(m-i) classes of tokens that agree on the bits left)."""
    heads, queries, tokens = values.shape
    now = values.unsqueeze(2)
    while tokens > 1:
        levels, tokens = now.shape[2], tokens // 2
        # The highest bit left, of tokens and of queries: (head, higher bits, bit of x, lower bits, level, bit of z, rest).
        split = now.reshape(heads, queries // (2 * tokens), 2, tokens, levels, 2, tokens)
        off, on = split[..., 0, :], split[..., 1, :]
        out = values.new_full((heads, queries // (2 * tokens), 2, tokens, levels + 1, tokens), empty)
        out[:, :, 0, :, :levels] = fold(off[:, :, 0], on[:, :, 0])
        out[:, :, 1, :, 0] = off[:, :, 1, :, 0]
        out[:, :, 1, :, 1:levels] = fold(off[:, :, 1, :, 1:], on[:, :, 1, :, :-1])
        out[:, :, 1, :, levels] = on[:, :, 1, :, -1]
        now = out.reshape(heads, queries, levels + 1, tokens)
    return now.squeeze(3)


class Domination:
    """B0 on {0,1}^m for given n and eps, on one device: index tables, and the margins of heads.

    An entry is a pair (query, overlap that it can have); `entry_query`, `entry_level` list them. A condition is a
    triple (query, lower overlap, higher overlap) that is more than positivity; `low`, `high` are the entries of its two
    levels, `query` is its query.
    """

    def __init__(self, m: int, n: int = 3, eps: Fraction = Fraction(1, 2), device: str | torch.device = "cpu") -> None:
        if not 1 <= m <= MAX_M:
            raise UsageError(f"m: expected 1..{MAX_M}, got {m}")
        if n < 3 or not 0 < eps <= Fraction(1, 2):
            raise UsageError(f"expected n >= 3 and 0 < eps <= 1/2, got n = {n}, eps = {eps}")
        self.m, self.n, self.eps, self.tokens, self.device = m, n, eps, 1 << m, torch.device(device)
        weight = torch.tensor([x.bit_count() for x in range(self.tokens)])
        self.entry_query, self.entry_level = (weight[:, None] >= torch.arange(m + 1)).nonzero(as_tuple=True)
        start = torch.cumsum(weight + 1, 0) - (weight + 1)
        low, high = torch.triu_indices(m + 1, m + 1, 1)
        of_high = [_coefficients(n, eps, gap) for gap in range(m + 1)]
        matters = torch.tensor([max(pair) > 0 for pair in of_high])
        keep = (weight[:, None] >= high) & matters[high - low]
        self.query, pair = keep.nonzero(as_tuple=True)
        gap = (high - low)[pair]
        self.low, self.high = start[self.query] + low[pair], start[self.query] + high[pair]
        self.of_largest, self.of_own = (torch.tensor([float(c[i]) for c in of_high])[gap].double() for i in (0, 1))
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                setattr(self, name, value.to(self.device))
        self._number = torch.arange(self.tokens, device=self.device)
        self._mask = ~torch.tensor(self.tokens - 1, device=self.device)

    @torch.no_grad()
    def extremes(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
        """The tokens of least and of largest kernel value, (B, entries) each, from positive features (B, 2^m, r).

        The token is written into the low m bits of the value, a relative error of 2^(m-52)."""
        values = (queries.double() @ keys.double().transpose(1, 2)).view(torch.int64)
        marked = values.bitwise_and_(self._mask).bitwise_or_(self._number).view(torch.float64)
        found = (by_level(marked, torch.minimum, FAR), by_level(marked, torch.maximum, 0.0))
        least, largest = (f[:, self.entry_query, self.entry_level].view(torch.int64) & ~self._mask for f in found)
        return least, largest

    def values(self, queries: Tensor, keys: Tensor, tokens: Tensor) -> Tensor:
        """alpha(x, z) for the token of each entry: (B, entries)."""
        rank = keys.shape[2]
        picked = keys.gather(1, tokens[:, :, None].expand(-1, -1, rank))
        return (queries[:, self.entry_query] * picked).sum(2)

    def margins(self, queries: Tensor, keys: Tensor, tokens: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """(B, conditions): B0 holds if and only if all are positive. Differentiable.

        `tokens`: what `extremes` says, if it is known."""
        least, largest = self.extremes(queries, keys) if tokens is None else tokens
        own = (queries * keys).sum(2)
        return self.relative(self.values(queries, keys, least), self.values(queries, keys, largest), own)

    def soft_margins(self, queries: Tensor, keys: Tensor, temperature: float) -> Tensor:
        """The same with soft extremes, sums of alpha^(1/T) and alpha^(-1/T) over each level: never above `margins`.
        Every token carries a gradient, at the cost of 4^m of memory a head and bit."""
        scaled = torch.log(queries @ keys.transpose(1, 2)) / temperature
        at = (slice(None), self.entry_query, self.entry_level)
        largest = torch.exp(temperature * by_level(scaled, torch.logaddexp, -FAR)[at])
        least = torch.exp(-temperature * by_level(-scaled, torch.logaddexp, -FAR)[at])
        return self.relative(least, largest, (queries * keys).sum(2))

    def relative(self, least: Tensor, largest: Tensor, own: Tensor) -> Tensor:
        """The margins from the extremes by entry and the values of the queries with themselves."""
        left = least[:, self.low]
        right = self.of_largest * largest[:, self.high] + self.of_own * own[:, self.query]
        return -torch.log(torch.clamp_min(right / left, exp(-CEILING)))


def _coefficients(n: int, eps: Fraction, gap: int) -> tuple[Fraction, Fraction]:
    """Of alpha(x,z) and alpha(x,x) on the right of (ii), divided by 2eps so that alpha(x,y) has coefficient 1."""
    length, others = n - 1, n - 2
    return others * (gap - 2 * eps) / (2 * eps), Fraction(others * gap, length) / (2 * eps) - 1
