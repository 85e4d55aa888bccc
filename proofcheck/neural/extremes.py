"""The least and the largest kernel value at every overlap level, for all queries of many heads at once.

For alpha(x,z) = <queries[x], keys[z]> and a level l <= |x|: the extremes of alpha(x,z) over the tokens z with
<x,z> = l, and the tokens that have them, of several the first, in the order of tokens as integers. There are
2^m (m/2 + 1) levels, numbered query by query. The derivative is that of alpha at the named token. A level with a NaN
has NaN as both extremes, at the first one.

On a CPU, float32 and float64 are left to the compiled loops of `native`. What follows is for other devices, and for
comparison: the 4^m values of a head are gathered, sorted by level into chunks of `width` places, the last chunk of a
level filled up with its first token; a minimum and a maximum over `width` give the extremes of the chunks. Those are
few; they are gathered and reduced again until there is one chunk per level. The gradient has 2^m (m+2) places per head;
written into zeros, it is multiplied with the features.

    Layout    the index tensors for m
    extremes  features (B, 2^m, r) -> least and largest values (B, levels), differentiable, and their tokens
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proofcheck.errors import UsageError

LARGE = 1 << 27  # values that are in memory at once
LATER = 4  # chunks that are reduced to one, after the first reduction


@dataclass(frozen=True)
class Layout:
    """`query` (levels,) is the query of each level."""

    m: int
    query: Tensor

    @staticmethod
    def build(m: int, device: str = "cpu") -> Layout:
        tokens = np.arange(1 << m)
        return Layout(m, torch.from_numpy(np.repeat(tokens, np.bitwise_count(tokens).astype(np.int64) + 1)).to(device))

    @cached_property
    def gatherings(self) -> tuple[Tensor, ...]:
        """Of pairs x 2^m + z, of their chunks, and so on: (width, number of chunks) says what makes up each chunk."""
        tokens = np.arange(1 << self.m)
        start = np.concatenate(([0], np.cumsum(np.bitwise_count(tokens).astype(np.int64) + 1)))
        numbers = (start[:-1, None] + np.bitwise_count(tokens[:, None] & tokens)).ravel()
        items, left, width = np.argsort(numbers, kind="stable"), np.bincount(numbers), 1 << min(4, max(2, self.m - 3))
        found: list[Tensor] = []
        while not found or left.max() > 1:
            index, left = chunked(items, left, width)
            found.append(torch.from_numpy(index).to(self.query.device))
            items, width = np.arange(left.sum()), LATER
        return tuple(found)


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


def extremes(queries: Tensor, keys: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
    """(low, high, tokens): the values, (B, levels), and the tokens of both, (B, 2, levels)."""
    function = _Native if compiled(queries) else _Extremes
    low, high, tokens = function.apply(queries, keys, layout)  # type: ignore[no-untyped-call]
    return low, high, tokens


def compiled(tensor: Tensor) -> bool:
    """Whether the loops of `native` are for it."""
    return tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)


def arrays(*tensors: Tensor) -> list[NDArray[Any]]:
    """Views, or copies of what is not contiguous."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def loops() -> Any:
    """The compiled loops, imported where they are needed first: numba takes long to start."""
    try:
        from . import native
    except ModuleNotFoundError as error:
        raise UsageError(f"on a CPU this needs {error.name}: install proofcheck[search]") from None
    return native


class _Native(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
        heads, levels = len(queries), len(layout.query)
        low, high = queries.new_empty(heads, levels), queries.new_empty(heads, levels)
        tokens = torch.empty(heads, 2, levels, dtype=torch.int64)
        loops().extremes(arrays(queries, keys, low, high, tokens), torch.get_num_threads())
        ctx.save_for_backward(queries, keys, tokens)
        ctx.mark_non_differentiable(tokens)
        return low, high, tokens

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, tokens = ctx.saved_tensors
        at = queries.new_zeros(queries.shape), keys.new_zeros(keys.shape)
        given = arrays(queries, keys, tokens, torch.stack(gradients[:2], 1), *at)
        loops().pulled_back(given, torch.get_num_threads())
        return *at, None


class _Extremes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
        found = [_found(queries[part], keys[part], layout) for part in _parts(queries)]
        low, high, tokens = (torch.cat(parts) for parts in zip(*found, strict=True))
        ctx.save_for_backward(queries, keys, tokens)
        ctx.layout = layout
        ctx.mark_non_differentiable(tokens)
        return low, high, tokens

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, tokens = ctx.saved_tensors
        places = (ctx.layout.query << ctx.layout.m) + tokens
        at_queries, at_keys = [], []
        for part in _parts(queries):
            dense = queries.new_zeros(len(queries[part]), 1 << 2 * ctx.layout.m)
            dense.scatter_add_(1, places[part].flatten(1), torch.stack([g[part] for g in gradients[:2]], 1).flatten(1))
            alpha = dense.view(-1, queries.shape[1], keys.shape[1])
            at_queries.append(alpha @ keys[part])
            at_keys.append(alpha.mT @ queries[part])
        return torch.cat(at_queries), torch.cat(at_keys), None


def _parts(queries: Tensor) -> list[slice]:
    """Heads that are treated at once; one slice, of none, where there are none."""
    heads, size, _ = queries.shape
    step = max(1, LARGE // size**2)
    return [slice(i, i + step) for i in range(0, max(heads, 1), step)]


def _found(queries: Tensor, keys: Tensor, layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
    first, *later = layout.gatherings
    values = (queries @ keys.mT).flatten(1).index_select(1, first.flatten()).view(-1, *first.shape)
    (low, low_at), (high, high_at) = values.min(1), values.max(1)
    pairs = [first.expand(len(queries), -1, -1).gather(1, at[:, None])[:, 0] for at in (low_at, high_at)]
    low_pairs, high_pairs = pairs
    for index in later:
        low, low_pairs = _reduced(torch.min, low, low_pairs, index)
        high, high_pairs = _reduced(torch.max, high, high_pairs, index)
    return low, high, torch.stack([low_pairs, high_pairs], 1) & ((1 << layout.m) - 1)


def _reduced(extreme: Any, values: Tensor, pairs: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    values, pairs = (part.index_select(1, index.flatten()).view(-1, *index.shape) for part in (values, pairs))
    values, at = extreme(values, 1)
    return values, pairs.gather(1, at[:, None])[:, 0]
