"""All tokens of a head at once: float kernels with proved error bounds, and exact rows.

The features of all 2^m tokens are computed once, in blocks; from then on these tables are the head (`Cube.head`). They
are dyadic rationals, so alpha is exact in integers over one power of two.

Error bounds. Let u = 2^-53. A float inner product of k terms, summed in any order, with or without fused operations,
is wrong by at most gamma sum |q_j k_j| + k 2^-1074, gamma = k u/(1 - k u); the sum of absolute values is itself
computed with the relative error gamma. `kernel` returns (k+4) u (1 + 2^-10) times the computed sum, and more than the
underflow, which covers both as long as k u < 2^-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import UsageError
from proofcheck.heads import Bits, ClosedForm, FeatureMap, Floats, Head, Readout, dyadic
from proofcheck.kernel.exact import MAX_VALUES

LARGEST_TABLE = 1 << 28  # features of all tokens: 2 GB
MAX_BITS = 14  # of a token
CERTIFIED_BITS = 10  # of a token of a head whose tables the kernel re-checks
ENTRIES = 1 << 21  # kernel values in memory at once
CHUNK = 1 << 17  # pairs of tokens that are sorted by level at once: their tables stay in the cache
UNIT = 2.0**-53
TINY = 2.0**-1074
IntegerRows: TypeAlias = list[list[int]]


def gamma(terms: int) -> float:
    """A bound on the relative error of a sum of so many products, taken relative to the computed sum of moduli."""
    return (terms + 4) * UNIT * (1 + 2.0**-10)


class Cube:
    """The kernel of a head on all 4^m pairs of tokens. Raises `UsageError` for m > 14 and for features not finite."""

    def __init__(self, head: Head) -> None:
        if head.m > MAX_BITS:
            raise UsageError(f"{head.name}: all tokens are enumerated up to m = {MAX_BITS}, got m = {head.m}")
        self.m, self.size, self.closed = head.m, 1 << head.m, isinstance(head, ClosedForm)
        self.additive, self.given = head.additive, head
        self.head = head if self.closed else self._tabulated(head)

    def _tabulated(self, head: Head) -> Head:
        if head.rank << head.m > LARGEST_TABLE:
            raise UsageError(f"{head.name}: {head.rank} features of 2^{head.m} tokens do not fit into memory")
        step = max(1, ENTRIES // head.rank)
        sides = {}
        for side in ("queries", "keys"):
            parts = [head.features(side, range(i, min(i + step, self.size))) for i in range(0, self.size, step)]
            sides[side] = np.concatenate(parts)
        self.queries, self.keys = sides["queries"], sides["keys"]
        self.nonnegative = bool((self.queries >= 0).all() and (self.keys >= 0).all())
        return replace(head, queries=_lookup(self.queries), keys=_lookup(self.keys))

    def nonnegative_features(self) -> bool:
        """Whether alpha >= 0 is clear from the signs of the features."""
        return not self.closed and self.nonnegative

    # --------------------------------------------------------------------------------------------- floats

    def batches(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """(weight, queries of this weight), in blocks of bounded memory."""
        tokens = np.arange(self.size)
        weights, step = np.bitwise_count(tokens), max(1, ENTRIES >> self.m)
        for h in range(self.m + 1):
            chosen = tokens[weights == h]
            for i in range(0, len(chosen), step):
                yield h, chosen[i : i + step]

    def kernel(self, xs: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """alpha(x,z) for the queries and all tokens in floats, and a bound on the error of each; NaN where nothing is
        known, which every comparison must treat as undecided."""
        with np.errstate(all="ignore"):
            if self.closed:
                values = self.head.kernel(list(map(int, xs)), range(self.size))
                return values, np.abs(values) * (2 * UNIT) + 2 * TINY
            queries = self.queries[xs]
            values = queries @ self.keys.T
            moduli = values if self.nonnegative else np.abs(queries) @ np.abs(self.keys.T)
            bound = moduli * gamma(self.head.rank) + (2 * self.head.rank + 2) * TINY
            bound[~np.isfinite(values)] = np.nan
            return values, bound

    def by_level(self, xs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For queries of one weight h: all tokens sorted by overlap, a row for each query, and where the levels 0..h
        start, which is the same for all."""
        overlaps = np.bitwise_count(xs[:, None] & np.arange(self.size)[None, :]).astype(np.uint8)
        order = np.argsort(overlaps, axis=1, kind="stable")
        counts = np.bincount(overlaps[0], minlength=int(xs[0]).bit_count() + 1)
        return order, np.concatenate(([0], np.cumsum(counts)[:-1]))

    # --------------------------------------------------------------------------------------------- exact

    def row(self, x: int) -> tuple[list[int], int]:
        """Integers k_z and u > 0 with alpha(x,z) = k_z/u for every token z."""
        if self.closed:
            values = self.head.exact(x, range(self.size))
            unit = lcm(*(q.denominator for q in values))
            return [q.numerator * (unit // q.denominator) for q in values], unit
        (queries, p), (keys, q) = self.integers
        query = queries[x]
        return [sum(map(int.__mul__, query, key)) for key in keys], 1 << (p + q)

    @cached_property
    def integers(self) -> tuple[tuple[IntegerRows, int], tuple[IntegerRows, int]]:
        """The features of queries and of keys as integers over a power of two each."""
        return integer_table(self.queries), integer_table(self.keys)

    def feature_tables(self) -> tuple[IntegerRows, IntegerRows, int] | None:
        """Integer features of all queries and keys and u > 0, with alpha = <query, key>/u; None where they are more
        than a certificate holds. A closed form has one feature for each query."""
        if (
            self.m > CERTIFIED_BITS
            or 2 * self.size * (self.size if self.closed else self.head.rank) > MAX_VALUES - 4_000
        ):
            return None
        if not self.closed:
            (queries, p), (keys, q) = self.integers
            return queries, keys, 1 << (p + q)
        rows = [self.row(x) for x in range(self.size)]
        unit = lcm(*(u for _, u in rows))
        scaled = [[k * (unit // u) for k in row] for row, u in rows]
        identity = [[int(x == y) for y in range(self.size)] for x in range(self.size)]
        return identity, [list(column) for column in zip(*scaled, strict=True)], unit


class Outputs:
    """The readout of a head for all tokens: g(x,z) = <weights[x], values[z]> + offsets[x]."""

    def __init__(self, head: Head, readout: Readout) -> None:
        tokens = _all_bits(head.m)
        size = 1 << head.m
        self.values, self.weights = (
            _shaped(head, name, getattr(readout, name)(tokens), 2) for name in ("values", "weights")
        )
        self.offsets = _shaped(head, "offsets", readout.offsets(tokens), 1)
        shapes = self.values.shape, self.weights.shape, self.offsets.shape
        if shapes[0] != shapes[1] or shapes[0][0] != size or shapes[2] != (size,):
            raise UsageError(f"{head.name}: values, weights and offsets have shapes {shapes}, expected {size} rows")

    def table(self, xs: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """g(x,z) in floats, and a bound on the error of each."""
        with np.errstate(all="ignore"):
            weights, offsets = self.weights[xs], self.offsets[xs][:, None]
            found = weights @ self.values.T + offsets
            moduli = np.abs(weights) @ np.abs(self.values.T) + np.abs(offsets)
            bound = moduli * gamma(self.values.shape[1] + 1) + (2 * self.values.shape[1] + 2) * TINY
            bound[~np.isfinite(found)] = np.nan
            return found, bound

    @cached_property
    def integers(self) -> tuple[IntegerRows, int, IntegerRows, int, list[int], int]:
        """Values, weights and offsets as integers, each over a power of two."""
        values, p = integer_table(self.values)
        weights, q = integer_table(self.weights)
        (offsets,), r = integer_table(self.offsets[None, :])
        return values, p, weights, q, offsets, r

    def row(self, x: int) -> tuple[list[int], int, int]:
        """Integers k_z, k and u > 0 with g(x,z) = k_z/u and offset(x) = k/u."""
        values, p, weights, q, offsets, r = self.integers
        common = max(p + q, r)
        offset = offsets[x] << (common - r)
        shift = common - p - q
        return [(sum(map(int.__mul__, weights[x], v)) << shift) + offset for v in values], offset, 1 << common

    def fractions(self) -> dict[str, list[list[Fraction]] | list[Fraction]]:
        """The tables exactly, as a certificate holds them."""
        values, p, weights, q, offsets, r = self.integers
        return {
            "values": [[Fraction(k, 1 << p) for k in row] for row in values],
            "weights": [[Fraction(k, 1 << q) for k in row] for row in weights],
            "offsets": [Fraction(k, 1 << r) for k in offsets],
        }


def integer_table(table: Floats) -> tuple[IntegerRows, int]:
    """Integer rows and e >= 0 with table = rows 2^-e."""
    flat, power = dyadic(table.ravel())
    wide = table.shape[1]
    return [flat[i * wide : (i + 1) * wide] for i in range(len(table))], power


def _all_bits(m: int) -> Bits:
    return (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(np.uint8)


def _lookup(table: Floats) -> FeatureMap:
    def features(tokens: Bits) -> Floats:
        index = tokens.astype(np.int64) @ (1 << np.arange(tokens.shape[1], dtype=np.int64))
        return np.asarray(table[index])

    return features


def _shaped(head: Head, name: str, found: Floats, dimensions: int) -> Floats:
    table = np.asarray(found, dtype=np.float64)
    if table.ndim != dimensions:
        raise UsageError(f"{head.name}: {name} gave an array of shape {table.shape}, expected {dimensions} dimensions")
    if not np.isfinite(table).all():
        raise UsageError(
            f"{head.name}: {name} are not finite at token {int(np.argwhere(~np.isfinite(table))[0][0]):#x}"
        )
    return table
