"""Floats -> the smallest integer features that satisfy B0 exactly.

A row of queries may be scaled by any positive number, and a column of keys if the same column of queries is scaled
inversely. So keys are balanced by columns and rounded to one grid, and each query is then rounded to the coarsest grid
of its own on which its inequalities hold. Everything here is decided in integers: int64 where a bound on all
magnitudes allows, Python's otherwise.

    holds        which queries satisfy B0, exactly
    rationalise  integer features, or None
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofcheck.heads import Floats

Integers = NDArray[np.int64]

KEY_GRIDS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400, 512, 1000, 1 << 11)
FINE_GRIDS = tuple(1 << k for k in (12, 14, 16, 20, 24))
QUERY_STEPS = 40
FINEST = 1 << 24


@dataclass(frozen=True)
class IntegerHead:
    """Integer features of all queries and keys, exactly checked."""

    queries: Integers
    keys: Integers

    def size(self) -> int:
        """Characters of the tables."""
        return sum(len(str(k)) + 1 for table in (self.queries, self.keys) for k in table.ravel().tolist())

    def largest(self) -> int:
        return int(max(np.abs(self.queries).max(), np.abs(self.keys).max()))


def holds(xs: Sequence[int] | Integers, queries: Integers, keys: Integers, n: int, eps: Fraction) -> NDArray[np.bool_]:
    """Whether each query xs[i] with the integer features queries[i] satisfies (i) and (ii) of B0, exactly."""
    tokens = np.asarray(xs, dtype=np.int64)
    size, rank = keys.shape
    p, q, length, others = 2 * eps.numerator, eps.denominator, n - 1, n - 2
    m = size.bit_length() - 1
    bound = rank * int(np.abs(queries).max(initial=0)) * int(np.abs(keys).max(initial=0))
    coefficient = length * others * (q * m + p) + q * others * m + 2 * p * length
    exact: Any = np.int64 if bound * coefficient < 1 << 62 else object
    fine = np.zeros(len(tokens), dtype=bool)
    weights = np.bitwise_count(tokens)
    step = max(1, (1 << 20) >> m)
    for h in range(m + 1):
        chosen = np.flatnonzero(weights == h)
        for i in range(0, len(chosen), step):
            part = chosen[i : i + step]
            overlaps = np.bitwise_count(tokens[part, None] & np.arange(size)).astype(np.uint8)
            order = np.argsort(overlaps, axis=1, kind="stable")
            starts = np.concatenate(([0], np.cumsum(np.bincount(overlaps[0], minlength=h + 1))[:-1]))
            alpha = queries[part].astype(exact) @ keys.T.astype(exact)
            own = alpha[np.arange(len(part)), tokens[part]]
            sorted_values = np.take_along_axis(alpha, order, axis=1)
            least = np.minimum.reduceat(sorted_values, starts, axis=1)
            largest = np.maximum.reduceat(sorted_values, starts, axis=1)
            good = (own > 0) & (least[:, h] >= 0) & (least[:, :h] > 0).all(axis=1)
            for gap in range(1, h + 1):
                left = p * length * least[:, :-gap] - ((q * others * gap - p * length) * own)[:, None]
                good &= (left > others * length * (q * gap - p) * largest[:, gap:]).all(axis=1)
            fine[part] = good.astype(bool)
    return fine


def rationalise(queries: Floats, keys: Floats, n: int, eps: Fraction) -> IntegerHead | None:
    """The head of fewest characters found on the grids, or None where none of them passes."""
    scale = np.abs(keys).max(axis=0)
    scale[scale == 0] = 1
    balanced, rescaled = keys / scale, queries * scale
    rows = np.abs(rescaled).max(axis=1, keepdims=True)
    rescaled = rescaled / np.where(rows > 0, rows, 1)
    best: IntegerHead | None = None
    failures = 0
    for grid in KEY_GRIDS + FINE_GRIDS:
        if best is not None and failures >= 4:
            break
        head = _with_keys(rescaled, np.rint(balanced * grid).astype(np.int64), n, eps)
        if head is None or (best is not None and head.size() >= best.size()):
            failures += best is not None
            continue
        best, failures = head, 0
    return best


def _with_keys(queries: Floats, keys: Integers, n: int, eps: Fraction) -> IntegerHead | None:
    """Each query on its coarsest grid, for these keys."""
    finest = _rounded(queries, FINEST)
    if not holds(np.arange(len(queries)), finest, keys, n, eps).all():
        return None
    return coarsened(IntegerHead(finest, keys), n, eps)


def coarsened(head: IntegerHead, n: int, eps: Fraction) -> IntegerHead:
    """The same keys, and each query on the coarsest grid on which it satisfies B0."""
    rows = head.queries / np.maximum(np.abs(head.queries).max(axis=1, keepdims=True), 1)
    found, left = _reduced(head.queries), np.arange(len(rows))
    largest = np.abs(found).max(axis=1)
    for multiplier in _multipliers():
        left = left[largest[left] > multiplier]
        if not len(left):
            break
        tried = _rounded(rows[left], multiplier)
        good = holds(left, tried, head.keys, n, eps)
        found[left[good]] = tried[good]
        left = left[~good]
    return IntegerHead(_reduced(found), head.keys)


def _multipliers() -> Iterator[int]:
    yield from range(1, QUERY_STEPS)
    value = QUERY_STEPS
    while value < 1 << 16:
        yield value
        value += max(1, value // 12)


def _rounded(rows: Floats, multiplier: int) -> Integers:
    return np.rint(rows * multiplier).astype(np.int64)


def _reduced(rows: Integers) -> Integers:
    """Each row divided by the greatest common divisor of its entries."""
    divisor = np.gcd.reduce(rows, axis=1, keepdims=True)
    return np.asarray(rows // np.where(divisor > 0, divisor, 1))
