"""The extremes of each overlap level and their gradients in compiled loops, for processors.

Arrays as in `extremes`: features (B, 2^m, r) of float32 or float64, low and high (B, levels), tokens (B, 2, levels).
All are written into arrays that are given. Heads are independent of each other: they are shared among `threads`
threads, and the numbers do not depend on how many there are.

    extremes     values and tokens, by `blocked` or `plain`
    pulled_back  adds the gradients of the features
    sides        A and R of `margins` for the pairs of levels
    sides_back   adds the gradients of low, high and own

BLOCKED. 16 queries x = 16 X + i and all tokens z = 16 Z + j go together, for a fixed X. The overlap is <X,Z> + <i,j>,
so for each Z the 256 values of all (j,i) belong to the level <X,Z> of the high bits: they are compared, place by place,
with the extremes found so far at that level and the same (j,i). Neighbouring places need the same work, which is what
vector instructions do. What is left are extremes by (level of the high bits, j, i). The four bits of j are then taken
away one after the other: where that bit of i is 0, j and j + 2^bit have the same level, and where it is 1, the latter's
is higher by one. So no value is ever moved to a place that depends on its level. 4^m values are looked at once, and on
average (m/2 - 1) 256 extremes have to be merged for 16 2^m values.

PLAIN. One token after the other: for m < 4, and for a head with features so large (or not finite) that a sum of
products might overflow.

TIES AND NaN. Of tokens with equal values the first is named. A level with a NaN has NaN as both extremes, at the first
one. Multiplications and additions may be fused; comparisons are those of IEEE 754.

COMPILING takes seconds, and is kept in a cache on disk: beside this file, or in the user's cache directory, or in
NUMBA_CACHE_DIR; where none of them can be written to, each process compiles for itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# the places of low, high and own, and the coefficients of low (a number), high and own
Pairs = tuple[Array, Array, Array, float, Array, Array]
LANES = 16  # queries, and tokens, that go together
BITS = 4
PLACES = LANES * LANES
SMALLEST = 1 << 16  # values for which a thread is worth its start
NOTHING = np.int32(2**31 - 1)  # in place of a token: larger than all


def compiled(fused: bool = False, numbers: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator for loops that let other threads run. `fused`: multiplications may be fused with additions;
    `numbers`: there is no NaN, and the sign of a zero does not matter."""
    fast = ({"contract"} if fused else set()) | ({"nnan", "nsz"} if numbers else set())
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fast or False}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            made: Callable[..., Any] = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no place for a cache
            made = numba.njit(**options)(function)
        return made

    return decorate


def extremes(given: Sequence[Array], threads: int = 1) -> None:
    """From queries and keys to low, high and tokens."""
    weight = weights(given[0].shape[1])
    shared(lambda part: _extremes(*(array[part] for array in given), weight), given[0], threads)


def pulled_back(given: Sequence[Array], threads: int = 1) -> None:
    """From queries, keys, tokens and the gradients (B, 2, levels) of low and high to those of queries and keys."""
    weight = weights(given[0].shape[1])
    shared(lambda part: _pulled_back(*(array[part] for array in given), weight), given[0], threads)


def sides(of: Sequence[Array], pairs: Pairs, into: Sequence[Array]) -> None:
    """From low, high (B, levels) and own (B, 2^m) to left and right (B, pairs)."""
    _sides(*of, *pairs, *into)


def sides_back(at: Sequence[Array], pairs: Pairs, of: Sequence[Array]) -> None:
    """To the gradients of low, high and own from those of left and right."""
    _sides_back(*at, *pairs, *of)


def shared(work: Callable[[slice], None], heads_first: Array, threads: int) -> None:
    """The work on all heads, by up to `threads` threads."""
    heads, size, *_ = heads_first.shape
    threads = min(threads, heads, heads * size * size // SMALLEST)
    if threads <= 1:
        work(slice(0, heads))
        return
    ends = [heads * i // threads for i in range(threads + 1)]
    for done in [_pool(threads, os.getpid()).submit(work, slice(*pair)) for pair in pairwise(ends)]:
        done.result()


@lru_cache(maxsize=2)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """One for each process: a fork has no threads of its parent."""
    return ThreadPoolExecutor(threads)


@lru_cache(maxsize=16)
def weights(size: int) -> Array:
    return np.bitwise_count(np.arange(size)).astype(np.int64)


@compiled()
def _extremes(queries, keys, low, high, tokens, weight):  # type: ignore[no-untyped-def]
    heads, size, rank = queries.shape
    largest = np.finfo(queries.dtype).max
    for b in range(heads):
        bound = 0.0
        for k in range(rank):
            at_queries, at_keys, bad = 0.0, 0.0, False
            for x in range(size):
                q, z = abs(queries[b, x, k]), abs(keys[b, x, k])
                at_queries, at_keys = max(at_queries, q), max(at_keys, z)
                bad |= q != q or z != z
            bound += np.nan if bad else at_queries * at_keys
        if size < LANES or not bound < largest / 4:
            _plain(queries[b], keys[b], low[b], high[b], tokens[b], weight)
        else:
            _blocked(queries[b], keys[b], low[b], high[b], tokens[b], weight)


@compiled(fused=True)
def _plain(queries, keys, low, high, tokens, weight):  # type: ignore[no-untyped-def]
    size, rank = queries.shape
    start = 0
    for x in range(size):
        for level in range(weight[x] + 1):
            tokens[0, start + level] = tokens[1, start + level] = -1
        for z in range(size):
            a = queries[x, 0] * keys[z, 0]
            for k in range(1, rank):
                a += queries[x, k] * keys[z, k]
            place = start + weight[x & z]
            first = tokens[0, place] < 0
            # a NaN replaces a number, and nothing replaces a NaN
            if first or a < low[place] or (a != a and low[place] == low[place]):
                low[place], tokens[0, place] = a, z
            if first or a > high[place] or (a != a and high[place] == high[place]):
                high[place], tokens[1, place] = a, z
        start += weight[x] + 1


@compiled()
def _blocked(queries, keys, low, high, tokens, weight):  # type: ignore[no-untyped-def]
    size, rank = queries.shape
    blocks, even = size // LANES, rank + rank % 2  # an odd rank is filled up with a zero
    levels = weight[size - 1] + 2
    alpha = np.empty(PLACES, queries.dtype)
    spread_queries = np.zeros((even, PLACES), queries.dtype)
    spread_keys = np.zeros((blocks, even, PLACES), queries.dtype)
    # the negative of the largest values is kept, to be merged as the least
    least, most = (np.empty((levels, PLACES), queries.dtype), np.empty((levels, PLACES), queries.dtype))
    least_at, most_at = (np.empty((levels, PLACES), np.int32), np.empty((levels, PLACES), np.int32))
    own = np.empty((BITS, PLACES), np.int32)  # the bits of i, at (j,i)
    for place in range(PLACES):
        for bit in range(BITS):
            own[bit, place] = place >> bit & 1
    for z in range(size):
        for k in range(rank):
            for i in range(LANES):
                spread_keys[z // LANES, k, z % LANES * LANES + i] = keys[z, k]
    start = 0
    for block in range(blocks):
        for k in range(rank):
            for j in range(LANES):
                for i in range(LANES):
                    spread_queries[k, j * LANES + i] = queries[block * LANES + i, k]
        for level in range(weight[block] + 1 + BITS):
            for i in range(PLACES >> max(0, level - weight[block] - 1)):  # as many as will be read
                least[level, i] = most[level, i] = np.inf
                least_at[level, i] = most_at[level, i] = NOTHING
        for z in range(blocks):
            level = weight[block & z]
            _products(spread_queries, spread_keys[z], alpha)
            _compared(alpha, z, least[level], least_at[level], most[level], most_at[level])
        for bit in range(BITS - 1, -1, -1):
            highest = weight[block] + BITS - bit
            _merged(least, least_at, highest, bit, own)
            _merged(most, most_at, highest, bit, own)
        for i in range(LANES):
            x = block * LANES + i
            first, rest = 0, x  # `first` is the first token of each level
            for level in range(weight[x] + 1):
                low[start], high[start] = least[level, i], -most[level, i]
                # where nothing is less than infinity, all values of the level are
                tokens[0, start] = first if least_at[level, i] == NOTHING else least_at[level, i]
                tokens[1, start] = first if most_at[level, i] == NOTHING else most_at[level, i]
                first |= rest & -rest
                rest &= rest - 1
                start += 1


@compiled(fused=True)
def _products(q, key, alpha):  # type: ignore[no-untyped-def]
    rank = q.shape[0]
    if rank >= 6:
        for i in range(PLACES):
            value = q[0, i] * key[0, i] + q[1, i] * key[1, i] + q[2, i] * key[2, i]
            alpha[i] = value + q[3, i] * key[3, i] + q[4, i] * key[4, i] + q[5, i] * key[5, i]
    elif rank == 4:
        for i in range(PLACES):
            alpha[i] = q[0, i] * key[0, i] + q[1, i] * key[1, i] + q[2, i] * key[2, i] + q[3, i] * key[3, i]
    else:
        for i in range(PLACES):
            alpha[i] = q[0, i] * key[0, i] + q[1, i] * key[1, i]
    for k in range(6, rank, 2):
        for i in range(PLACES):
            alpha[i] += q[k, i] * key[k, i] + q[k + 1, i] * key[k + 1, i]


@compiled()
def _compared(alpha, z, least, least_at, most, most_at):  # type: ignore[no-untyped-def]
    for i in range(PLACES):
        token = np.int32(z * LANES + i // LANES)
        a = alpha[i]
        better = a < least[i]
        least[i] = a if better else least[i]
        least_at[i] = token if better else least_at[i]
        better = -a < most[i]
        most[i] = -a if better else most[i]
        most_at[i] = token if better else most_at[i]


@compiled()
def _merged(value, at, highest, bit, own):  # type: ignore[no-untyped-def]
    """The levels 0..highest without one bit of j, from 0..highest - 1 with it; the level `highest` is empty before."""
    half = LANES << bit
    for level in range(highest, -1, -1):
        below = level - 1 if level else highest
        for i in range(half):
            one = own[bit, i] != 0
            # both are read, so that no branch is needed
            same, lower = value[level, half + i], value[below, half + i]
            same_at, lower_at = at[level, half + i], at[below, half + i]
            a, a_at = value[level, i], at[level, i]
            b, b_at = lower if one else same, lower_at if one else same_at
            better = (b < a) | ((b == a) & (b_at < a_at))
            value[level, i] = b if better else a
            at[level, i] = b_at if better else a_at


@compiled(fused=True)
def _pulled_back(queries, keys, tokens, gradients, at_queries, at_keys, weight):  # type: ignore[no-untyped-def]
    heads, size, rank = queries.shape
    for b in range(heads):
        place = 0
        for x in range(size):
            for _ in range(weight[x] + 1):
                for side in range(2):
                    g, z = gradients[b, side, place], tokens[b, side, place]
                    if g != 0:
                        for k in range(rank):
                            at_queries[b, x, k] += g * keys[b, z, k]
                            at_keys[b, z, k] += g * queries[b, x, k]
                place += 1


@compiled(fused=True)
def _sides(low, high, own, low_places, high_places, own_places, at_low, at_high, at_own, left, right):  # type: ignore[no-untyped-def]
    for b in range(len(low)):
        for pair in range(len(low_places)):
            share = at_own[pair] * own[b, own_places[pair]]
            positive = at_own[pair] > 0
            left[b, pair] = at_low * low[b, low_places[pair]] - (0 if positive else share)
            right[b, pair] = at_high[pair] * high[b, high_places[pair]] + (share if positive else 0)


@compiled(fused=True)
def _sides_back(low, high, own, low_places, high_places, own_places, at_low, at_high, at_own, left, right):  # type: ignore[no-untyped-def]
    for b in range(len(low)):
        for pair in range(len(low_places)):
            low[b, low_places[pair]] += at_low * left[b, pair]
            high[b, high_places[pair]] += at_high[pair] * right[b, pair]
            positive = at_own[pair] > 0
            own[b, own_places[pair]] += at_own[pair] * (right[b, pair] if positive else -left[b, pair])
