"""The whole task as a loss for many heads WITH a readout (mathematics.md B7): all sequences, by sums that separate.

Fix a query x, h = |x|, a target t <= h and a side sign = +1 or -1. With

    u(z) = alpha(x,z) (sign (g(x,z) - t) - eps),

the output on a sequence (x, z_1, .., z_k) with target t and denominator D > 0 satisfies sign (output - t) - eps =
(u(x) + sum u(z_i)) / D. So it is right on this side if and only if the sum of u is negative; a sequence with D = 0 has
the sum 0 and is wrong. For t < h a sequence has target t if and only if one z_i has overlap t and the others at least
t, for t = h if and only if all have overlap h. Hence the largest sum over all sequences with k others is

    u(x) + max_{=t} u + (k-1) max_{>=t} u  (t < h, k >= 1),     u(x) + k max_{=h} u  (t = h, k >= 0).

LENGTHS. "exactly": k = n-1. "up-to": all k < n; the sums are linear in k, so the largest has (k-1) max(0, ..) or
k max(0, ..) with the largest k. The latter is what r*(m,n) and `exhaustive-head` mean. Both are decided for each x, t
and side: as real numbers, all values of `worst` are negative if and only if the head is correct on all sequences of the
lengths asked for. In floats they only guide; `whole.verify` decides.

`worst` returns (sum of u) / D at the sequence with the largest sum: the error of the head there, less eps. It does not
change when a row of alpha is scaled. The largest error itself is another maximum, of quotients, which does not
separate; both have the same sign, since D > 0. Its gradient is that of this sequence; of equal tokens the first of the
lowest level counts. u is computed as a product, so nothing cancels where kernel values of a row differ by factors of
10^12 and more. Where D = 0 the value is 0, without a gradient. On a CPU, finite tables are left to the compiled loops
of `native_readout`.

`softened` is log(sum exp(sharpness (sum of u) / D)) / sharpness over ALL ordered sequences, D being that of `worst`. It
is at least `worst` and at most that plus log(number of sequences) / sharpness. It separates as well: with F over
exp(sharpness u / D), the sum over k others with least overlap exactly t < h is

    F(>=t)^k - F(>t)^k = F(=t) sum_{i<k} F(>=t)^i F(>t)^(k-1-i),

and on the right nothing cancels. All is done with logarithms; no exponent exceeds sharpness times `worst`, which is an
error, by more than the logarithm of a number of sequences.

COST. u depends on t, and a token of overlap l matters for the targets t <= l: (m/4 + 1) 4^m values per head and side.

    Places           the index tensors for m
    kernel           exp(log-features) -> alpha, each row scaled by a number of its own
    scalar_tables    values, weights, offsets -> g
    worst, softened  alpha, g (B, 2^m, 2^m) -> (B, 2, levels): sides +1, -1, and (x,t) numbered query by query
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proofcheck.errors import UsageError

from .extremes import LARGE, LATER, arrays, chunked, compiled, loops

CACHED = 1 << 17  # values of a block on the CPU: 512 KB
LENGTHS = ("up-to", "exactly")
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """Items, sorted into chunks: `index` (width, chunks), and `padding`, -inf where a chunk is filled up, else 0."""

    index: Tensor
    padding: Tensor

    @staticmethod
    def of(items: Indices, sizes: Indices, width: int, device: str) -> tuple[Step, Indices]:
        index, chunks = chunked(items, sizes, width)
        # the same on the places within groups shows what is repeated
        start = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        places, _ = chunked(np.arange(sizes.sum()) - np.repeat(start, sizes), sizes, width)
        first = np.concatenate(([0], np.cumsum(chunks)[:-1]))
        number = np.arange(index.shape[1]) - np.repeat(first, chunks)
        repeated = places != number * width + np.arange(width)[:, None]
        padding = np.where(repeated, -np.inf, 0.0)
        return Step(torch.from_numpy(index).to(device), torch.from_numpy(padding).to(device, torch.float32)), chunks

    def __call__(self, items: Tensor, room: Tensor | None = None) -> Tensor:
        """(.., items) -> (.., width, chunks), in the given room or in memory of its own."""
        places = self.index.flatten().expand(*items.shape[:-1], -1)
        if room is None:
            return items.gather(-1, places).view(*items.shape[:-1], *self.index.shape)
        torch.gather(items, -1, places, out=room.view(*items.shape[:-1], -1))
        return room


@dataclass(frozen=True)
class Places:
    """`tokens` sorts the pairs x 2^m + z by (x, l, t), l = <x,z>, t <= l, and says in `of` (chunks,) the number of
    (x,t); `later` leads from its chunks to the triples (x,l,t). For each (x,t): `query`, `target`, whether it is the
    `top` one (t = h), the triple `at` (x,t,t), and the step to the triples `above` (l > t; for t = h the only entry is
    padding)."""

    m: int
    tokens: Step
    of: Tensor
    later: tuple[Step, ...]
    query: Tensor
    target: Tensor
    top: Tensor
    at: Tensor
    above: Step

    @staticmethod
    def build(m: int, device: str = "cpu") -> Places:
        size, width = 1 << m, 1 << min(4, max(2, m - 3))
        xs = np.arange(size)
        weight = np.bitwise_count(xs).astype(np.int64)
        start = np.concatenate(([0], np.cumsum(weight + 1)))  # (x,t) has the number start[x] + t
        numbers = (start[:-1, None] + np.bitwise_count(xs[:, None] & xs)).ravel()
        by_level = np.argsort(numbers, kind="stable")
        sizes = np.bincount(numbers)
        first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        query = np.repeat(xs, weight + 1)
        level = np.arange(len(query)) - start[query]
        # the triples (x,l,t), t = 0..l, in the order of (x,l)
        pair = np.repeat(np.arange(len(query)), level + 1)
        begin = np.cumsum(level + 1) - (level + 1)  # of the triples of each (x,l)
        t = np.arange(len(pair)) - begin[pair]
        members = np.repeat(first[pair] - (np.cumsum(sizes[pair]) - sizes[pair]), sizes[pair])
        items = by_level[members + np.arange(sizes[pair].sum())]
        tokens, left = Step.of(items, sizes[pair], width, device)
        of = np.repeat(start[query[pair]] + t, left)
        later = []
        while left.max() > 1:
            step, left = Step.of(np.arange(left.sum()), left, LATER, device)
            later.append(step)
        # above (x,t): the triples (x,l,t) with l > t
        height = weight[query]
        rows = level + np.arange(1, m + 1)[:, None]
        held = rows <= height
        above = np.where(held, begin[np.minimum(start[query] + rows, start[query] + height)] + level, begin + level)
        padding = torch.from_numpy(np.where(held, 0.0, -np.inf)).to(device, torch.float32)

        def index(values: NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        return Places(
            m=m,
            tokens=tokens,
            of=index(of),
            later=tuple(later),
            query=index(query),
            target=index(level),
            top=index(level == height),
            at=index(begin + level),
            above=Step(index(above), padding),
        )


def kernel(log_queries: Tensor, log_keys: Tensor) -> Tensor:
    """alpha(x,z) = sum_k exp(log_queries[x,k] + log_keys[z,k]) up to a factor for each row, without overflow: each
    feature's largest key becomes 1, and then each query's largest feature."""
    largest = log_keys.detach().amax(-2, keepdim=True)
    shifted = log_queries + largest
    shifted = shifted - shifted.detach().amax(-1, keepdim=True)
    return shifted.exp() @ (log_keys - largest).exp().mT


def scalar_tables(values: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    """g(x,z) = <weights[x], values[z]> + offsets[x], from (B, 2^m, dv) twice and (B, 2^m)."""
    return weights @ values.mT + offsets[..., None]


def checked(alpha: Tensor, g: Tensor, places: Places, n: int, lengths: str) -> None:
    size = 1 << places.m
    if alpha.ndim != 3 or alpha.shape != g.shape or alpha.shape[1:] != (size, size) or not len(alpha):
        shapes = f"{tuple(alpha.shape)} and {tuple(g.shape)}"
        raise UsageError(f"alpha and g: expected two tensors (B, {size}, {size}) for m = {places.m}, got {shapes}")
    if n < 2 or lengths not in LENGTHS:
        raise UsageError(f"expected n >= 2 and lengths of {', '.join(LENGTHS)}, got n = {n}, lengths = {lengths!r}")


def _sums(alpha: Tensor, g: Tensor, t: Tensor, eps: float) -> Tensor:
    """u for both sides, (h, 2, ..), from (h, ..)."""
    off = g - t
    return torch.stack([alpha * (off - eps), alpha * (-off - eps)], 1)


def _blocks(heads: int, places: Places, device: torch.device) -> list[slice]:
    values = CACHED if device.type == "cpu" else LARGE
    step = max(1, values // (2 * places.tokens.index.numel()))
    return [slice(i, min(i + step, heads)) for i in range(0, heads, step)]


def _largest(alpha: Tensor, g: Tensor, places: Places, eps: float) -> Tensor:
    """The tokens of max_{=t} u and of max_{>=t} u, (B, 2 sides, 2, levels)."""
    t, found = places.target[places.of].to(alpha.dtype), []
    for part in _blocks(len(alpha), places, alpha.device):
        u = _sums(places.tokens(alpha[part].flatten(1)), places.tokens(g[part].flatten(1)), t, eps)
        u, pairs = _reduced(u, places.tokens.index.expand_as(u))
        for step in places.later:
            u, pairs = _reduced(step(u), step(pairs))
        at, at_pairs = u.index_select(2, places.at), pairs.index_select(2, places.at)
        above, above_pairs = _reduced(places.above(u), places.above(pairs))
        found.append(torch.stack([at_pairs, torch.where(above > at, above_pairs, at_pairs)], 2))
    return torch.cat(found) & ((1 << places.m) - 1)


def _reduced(values: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of each chunk, the first of several, and its pair."""
    values, at = values.max(2)
    return values, pairs.gather(2, at[:, :, None])[:, :, 0]


def worst(alpha: Tensor, g: Tensor, places: Places, n: int, eps: Fraction | float, lengths: str = "up-to") -> Tensor:
    """The error less eps at the sequence with the largest sum, for each head, side, query and target."""
    return _worst(alpha, g, places, n, float(eps), lengths)[0]


def _worst(alpha: Tensor, g: Tensor, places: Places, n: int, eps: float, lengths: str) -> tuple[Tensor, Tensor]:
    """`worst`, and the denominators."""
    checked(alpha, g, places, n, lengths)
    if compiled(alpha) and alpha.dtype == g.dtype and bool((alpha.sum() + g.sum()).isfinite()):
        values, safe = _Worst.apply(alpha, g, places, n, eps, lengths)  # type: ignore[no-untyped-call]
        return values, safe
    return _worst_by_tensors(alpha, g, places, n, eps, lengths)


def _worst_by_tensors(
    alpha: Tensor, g: Tensor, places: Places, n: int, eps: float, lengths: str
) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        tokens = _largest(alpha, g, places, eps)
        at = (places.query << places.m) + torch.cat([places.query.expand(len(alpha), 2, 1, -1), tokens], 2)
    a, off = (part.flatten(1).gather(1, at.flatten(1)).view(at.shape) for part in (alpha, g))
    sides = torch.tensor([1.0, -1.0], dtype=alpha.dtype, device=alpha.device)[:, None, None]
    u = a * (sides * (off - places.target) - eps)  # of x, y and z
    # how often y and z occur, beside x
    once = (~places.top).to(alpha.dtype)
    often = torch.where(places.top, n - 1, n - 2).to(alpha.dtype)
    if lengths == "up-to":
        often = often * (u[:, :, 2].detach() > 0)
    total, denominator = (v[:, :, 0] + once * v[:, :, 1] + often * v[:, :, 2] for v in (u, a))
    safe = torch.where(denominator > 0, denominator, 1.0)
    return torch.where(denominator > 0, total / safe, 0.0), safe


def readout_loops() -> Any:
    loops()  # says what is missing
    from . import native_readout

    return native_readout


class _Worst(torch.autograd.Function):
    """The same on a CPU, for finite tables."""

    @staticmethod
    def forward(
        ctx: Any, alpha: Tensor, g: Tensor, places: Places, n: int, eps: float, lengths: str
    ) -> tuple[Tensor, Tensor]:
        heads, levels = len(alpha), len(places.query)
        values, denominators, often = (alpha.new_empty(heads, 2, levels) for _ in range(3))
        tokens = torch.empty(heads, 2, 2, levels, dtype=torch.int64)
        given = arrays(alpha, g, values, denominators, often, tokens)
        readout_loops().worst(given, n - 1, eps, lengths == "up-to", torch.get_num_threads())
        ctx.save_for_backward(alpha, g, values, denominators, often, tokens)
        ctx.eps = eps
        return values, denominators

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        alpha, g, *saved = ctx.saved_tensors
        at = alpha.new_zeros(alpha.shape), g.new_zeros(g.shape)
        given = arrays(alpha, g, *saved, *gradients, *at)
        readout_loops().pulled_back(given, ctx.eps, torch.get_num_threads())
        return *at, None, None, None, None


def softened(
    alpha: Tensor,
    g: Tensor,
    places: Places,
    n: int,
    eps: Fraction | float,
    sharpness: float,
    lengths: str = "up-to",
) -> Tensor:
    """The soft maximum over all ordered sequences; shapes as for `worst`."""
    e = float(eps)
    scale = sharpness / _worst(alpha, g, places, n, e, lengths)[1]
    t = places.target[places.of].to(alpha.dtype)
    at, above = [], []
    for part in _blocks(len(alpha), places, alpha.device):
        u = _sums(places.tokens(alpha[part].flatten(1)), places.tokens(g[part].flatten(1)), t, e)
        logs = (u * scale[part].index_select(2, places.of)[:, :, None] + places.tokens.padding).logsumexp(2)
        for step in places.later:
            logs = (step(logs) + step.padding).logsumexp(2)
        at.append(logs.index_select(2, places.at))
        # for t = h there is nothing above: any finite number will do, it is not used
        beyond = torch.where(places.top, 0.0, places.above.padding)
        above.append((places.above(logs) + beyond).logsumexp(2))
    level, further = torch.cat(at), torch.cat(above)
    both = torch.logaddexp(level, further)
    least = 0 if lengths == "up-to" else n - 2
    # the powers i and j - i of F(>=t) and F(>t), i <= j: j + 1 others
    i, j = torch.triu_indices(n - 1, n - 1)
    i, j = i[j >= least].to(alpha.device), j[j >= least].to(alpha.device)
    powers = torch.logsumexp(both[..., None] * i + further[..., None] * (j - i), -1)
    counts = torch.arange(0 if lengths == "up-to" else n - 1, n, device=alpha.device)
    top = torch.logsumexp(level[..., None] * counts, -1)
    places_own = places.query * ((1 << places.m) + 1)
    own_alpha, own_g = (part.flatten(1).index_select(1, places_own) for part in (alpha, g))
    own = _sums(own_alpha, own_g, places.target, e) * scale
    return (own + torch.where(places.top, top, level + powers)) / sharpness
