"""The least and the largest kernel value at every overlap level, for all queries of many heads at once.

For alpha(x,z) = <queries[x], keys[z]> and a level l <= |x|: the extremes of alpha(x,z) over the tokens z with
<x,z> = l. There are 2^m (m/2 + 1) levels, numbered query by query.

WHICH token is extreme, which is all that a gradient needs, is carried along: the last m bits of a float's pattern are
replaced by the token, and the pattern, made monotone as an integer, is compared. So a value is returned without its
last m bits, too small in modulus by a relative 2^(m-23) at most in float32, 2^(m-52) in float64. Of tokens whose values
agree in all other bits, the last is named as the largest and the first as the least, in the order of tokens as
integers. The derivative is that of alpha at the named token.

Memory decides the speed, not arithmetic. So 4^m values per head are never in memory at once: a block of queries and of
heads, small enough for a processor's cache, goes through all steps while it is there. Two heads are kept side by side,
(block of queries, 2^m tokens, 2), so that one move of eight bytes serves both; their product with the keys comes in
that layout from one multiplication of twice the rank, half of it with zeros (finite features of one head do not change
the other). One `gather` sorts a block by level into chunks of `width` places, the last chunk of a level filled up with
its first token, and a minimum and a maximum over `width` give the extremes of the chunks. Those are few; for all blocks
together, they are gathered and reduced again until there is one chunk per level. The gradient has 2^m (m+2) places per
head; written into a block of zeros, it is multiplied with the features while it is in the cache.

On other devices than the CPU a block is as large as their memory allows.

    Layout    the index tensors for m
    extremes  features (B, 2^m, r) -> least and largest values (B, levels), differentiable, and their tokens
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PATTERN = {torch.float32: torch.int32, torch.float64: torch.int64}
UNIT = {  # what is moved at once: the values of one or of two heads
    (torch.float32, 1): torch.float32,
    (torch.float32, 2): torch.complex64,
    (torch.float64, 1): torch.float64,
    (torch.float64, 2): torch.complex128,
}
CACHED = 1 << 17  # values of a block on the CPU: 512 KB
LARGE = 1 << 27  # on other devices
LATER = 4  # chunks that are reduced to one, after the first reduction


@dataclass(frozen=True)
class Gathering:
    """`index` (width, number of chunks) says which items make up each chunk."""

    index: Tensor

    def __call__(self, items: Tensor, unit: torch.dtype, room: Tensor) -> Tensor:
        """(h, items, g) of integers -> (h, width, chunks, g), in the given room (h, at least width x chunks x g)."""
        h, _, g = items.shape
        flat, out = items.view(h, -1).view(unit), room.view(-1)[: h * self.index.numel() * g].view(h, -1).view(unit)
        torch.gather(flat, 1, self.index.flatten().expand(h, -1), out=out)
        return out.view(items.dtype).view(h, *self.index.shape, g)


@dataclass(frozen=True)
class Layout:
    """`blocks` are (first query, end, first level, end, chunks before, gathering of the query's tokens); `later` the
    gatherings of all their chunks; `query` (levels,) the query of each level."""

    m: int
    blocks: tuple[tuple[int, int, int, int, int, Gathering], ...]
    later: tuple[Gathering, ...]
    query: Tensor
    values: int  # of a block

    @staticmethod
    def build(m: int, device: str = "cpu", values: int | None = None) -> Layout:
        values = values or (CACHED if device == "cpu" else LARGE)
        size, width = 1 << m, 1 << min(4, max(2, m - 3))
        tokens = np.arange(size)
        weight = np.bitwise_count(tokens).astype(np.int64)
        start = np.concatenate(([0], np.cumsum(weight + 1)))  # level l of x has the number start[x] + l
        rows = min(size, max(1, values >> (m + 1)))
        blocks, sizes, before = [], [], 0
        for first in range(0, size, rows):
            xs = tokens[first : first + rows]
            numbers = (start[xs] - start[first])[:, None] + np.bitwise_count(xs[:, None] & tokens)
            held = np.bincount(numbers.ravel())
            index, chunks = chunked(np.argsort(numbers, axis=None, kind="stable"), held, width)
            end = first + len(xs)
            gathering = Gathering(torch.from_numpy(index).to(device))
            blocks.append((first, end, int(start[first]), int(start[end]), before, gathering))
            sizes.append(chunks)
            before += index.shape[1]
        left, later = np.concatenate(sizes), []
        while left.max() > 1:
            index, left = chunked(np.arange(left.sum()), left, LATER)
            later.append(Gathering(torch.from_numpy(index).to(device)))
        query = torch.from_numpy(np.repeat(tokens, weight + 1)).to(device)
        return Layout(m, tuple(blocks), tuple(later), query, values)

    @property
    def chunks(self) -> int:
        """After the first reduction."""
        *_, before, last = self.blocks[-1]
        return int(before + last.index.shape[1])

    def heads_at_once(self, rows: int) -> int:
        return max(1, self.values // (rows << self.m))


def chunked(
    items: NDArray[np.int64], sizes: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Items are sorted into groups of the given sizes; (width, chunks) of items, and the number of chunks of each
    group. A group's last chunk is filled up with the group's first item."""
    firsts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    chunks = -(-sizes // width)
    group = np.repeat(np.arange(len(sizes)), chunks)
    begin = np.cumsum(chunks) - chunks
    within = (np.arange(len(group)) - begin[group])[:, None] * width + np.arange(width)
    within[within >= sizes[group][:, None]] = 0
    return np.ascontiguousarray(items[firsts[group][:, None] + within].T), chunks


def extremes(queries: Tensor, keys: Tensor, layout: Layout, signed: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """(low, high, tokens): the values, (B, levels), and the tokens of both, (B, 2, levels). Without `signed` the caller
    promises alpha >= 0."""
    low, high, tokens = _Extremes.apply(queries, keys, layout, signed)  # type: ignore[no-untyped-call]
    return low, high, tokens


class _Extremes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, layout: Layout, signed: bool) -> tuple[Tensor, Tensor, Tensor]:
        low, high = _patterns(queries, keys, layout, signed)
        size = 1 << layout.m
        found = torch.stack([low, high], 1)
        tokens = (found & (size - 1)).long()
        values = found & -size
        values = (monotone(values) if signed else values).view(queries.dtype)
        ctx.save_for_backward(queries, keys, tokens)
        ctx.layout = layout
        ctx.mark_non_differentiable(tokens)
        return values[:, 0], values[:, 1], tokens

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, tokens = ctx.saved_tensors
        at_queries, at_keys = _pulled_back(queries, keys, tokens, torch.stack(gradients[:2], 1), ctx.layout)
        return at_queries, at_keys, None, None


def monotone(pattern: Tensor, room: Tensor | None = None) -> Tensor:
    """The pattern of a float as an integer of the same order, in place; an involution."""
    kind = torch.iinfo(pattern.dtype)
    negative = torch.bitwise_right_shift(pattern, kind.bits - 1, out=room)
    return pattern.bitwise_xor_(negative.bitwise_and_(kind.max))


def _patterns(queries: Tensor, keys: Tensor, layout: Layout, signed: bool) -> tuple[Tensor, Tensor]:
    """The extreme patterns with their tokens, (B, levels) each."""
    heads, size, rank = queries.shape
    g = min(2, heads)
    pattern, unit = PATTERN[queries.dtype], UNIT[queries.dtype, g]
    if heads % g:
        queries, keys = (torch.cat([part, part[-1:]]) for part in (queries, keys))
    groups = len(queries) // g
    beside = queries.reshape(groups, g, size, rank).permute(0, 2, 1, 3).reshape(groups, size, g * rank)
    spread = keys.new_zeros(groups, g, rank, size, g)
    spread.diagonal(dim1=1, dim2=4).copy_(keys.reshape(groups, g, size, rank).permute(0, 3, 2, 1))
    spread = spread.view(groups, g * rank, size * g)
    tokens = torch.arange(size, dtype=pattern, device=queries.device).repeat_interleave(g)
    low, high = (queries.new_empty(groups, layout.chunks, g, dtype=pattern) for _ in range(2))
    for first, end, _, _, before, gathering in layout.blocks:
        step = max(1, layout.heads_at_once(end - first) // g)
        buffer = queries.new_empty(min(step, groups), end - first, size * g)
        room = low.new_empty(len(buffer), gathering.index.numel() * g)
        after = before + gathering.index.shape[1]
        for i in range(0, groups, step):
            part = slice(i, i + step)
            alpha = buffer[: min(step, groups - i)]
            torch.bmm(beside[part, first:end], spread[part], out=alpha)
            found = alpha.view(pattern)
            if signed:
                found = monotone(found)
            found = found.bitwise_and_(-size).bitwise_or_(tokens).view(len(alpha), -1, g)
            sorted_by_level = gathering(found, unit, room)
            torch.amin(sorted_by_level, 1, out=low[part, before:after])
            torch.amax(sorted_by_level, 1, out=high[part, before:after])
    for gathering in layout.later:
        room = low.new_empty(groups, gathering.index.numel() * g)
        low, high = gathering(low, unit, room).amin(1), gathering(high, unit, room).amax(1)
    low, high = (part.permute(0, 2, 1).reshape(groups * g, -1)[:heads] for part in (low, high))
    return low, high


def _pulled_back(
    queries: Tensor, keys: Tensor, tokens: Tensor, gradient: Tensor, layout: Layout
) -> tuple[Tensor, Tensor]:
    """The gradients of the features from those of the values (B, 2, levels) at the tokens."""
    heads, size, _ = queries.shape
    wide_queries, wide_keys = queries.mT.contiguous(), keys.mT.contiguous()
    at_queries, at_keys = torch.empty_like(wide_queries), torch.zeros_like(wide_keys)
    for first, end, level, last, _, _ in layout.blocks:
        step = layout.heads_at_once(end - first)
        buffer = queries.new_empty(min(step, heads), (end - first) * size)
        places = (layout.query[level:last] - first) * size
        for i in range(0, heads, step):
            part = slice(i, i + step)
            dense = buffer[: min(step, heads - i)].zero_()
            at = (tokens[part, :, level:last] + places).flatten(1)
            dense.scatter_add_(1, at, gradient[part, :, level:last].flatten(1))
            block = dense.view(len(dense), end - first, size)
            at_queries[part, :, first:end] = torch.bmm(wide_keys[part], block.mT)
            at_keys[part].baddbmm_(wide_queries[part, :, first:end], block)
    return at_queries.mT, at_keys.mT
