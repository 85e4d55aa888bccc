"""Linear programmes for one class of queries (mathematics.md B3): the kernel row, given the scale s(|z|).

A query x of weight h, n, eps; L = n-1, K = n-2. The row is alpha(x,z) = s(|z|)/s(h) p(z) with alpha(x,x) = 1 and p
linear in unknown coefficients. With lo_l <= alpha(x,z) <= hi_l over all tokens z at overlap l, B0 asks for all l and
d >= 1

    2eps L lo_l >= (1+t) K L (d-2eps) hi_(l+d) + (K d - 2eps L),   lo > 0,

and t > 0 leaves room for rounding. alpha grows like R^(h-l) at the critical rate R, so rows are multiplied by R^(l-h):
then all entries are of moderate size. HiGHS proposes in floats; exact rationals decide elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from . import exponents

Array: TypeAlias = np.ndarray[Any, Any]
ROOMS = (1e-2, 1e-3, 1e-4, 1e-5)  # values of t that are tried, the roomiest first
LEAST_ROOM, ENOUGH_ROOM, MOST_ROOM = -0.4, 2e-4, 0.1  # of the search for a better scale
LEAST = 1e-7  # least value of a row where B0 wants it positive
TOLERANCES = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


@dataclass(frozen=True)
class Programme:
    """`basis[i]` are the values of the basis functions at the i-th class of tokens, which has overlap `levels[i]` with
    the query and weight `weights[i]`; `own` are their values at the query itself."""

    n: int
    eps: Fraction
    h: int
    levels: Array
    weights: Array
    basis: Array
    own: Array

    @property
    def rate(self) -> float:
        return _rate(self.n, self.eps)

    def row(self, scale: Array) -> Array:
        """s(|z|)/s(h) R^(l-h), by class of tokens."""
        return np.asarray(scale[self.weights] / scale[self.h] * self.rate ** (self.levels - float(self.h)))

    def pairs(self, room: float) -> tuple[Any, Array]:
        """The conditions on (lo, hi, own) as A v <= b, v = lo_0..lo_h, hi_0..hi_h; alpha(x,x) = 1."""
        h, length, others, e = self.h, self.n - 1, self.n - 2, float(self.eps)
        low, high = np.triu_indices(h + 1, 1)
        d = high - low
        count = len(d)
        index = np.arange(count)
        matrix = sp.csr_matrix(
            (
                np.concatenate(
                    [
                        np.full(count, -2 * e * length),
                        others * length * (d - 2 * e) * (1 + room) * self.rate ** -d.astype(float),
                    ]
                ),
                (np.concatenate([index, index]), np.concatenate([low, h + 1 + high])),
            ),
            shape=(count, 2 * h + 2),
        )
        return matrix, -(others * d - 2 * e * length) * self.rate ** (low - float(h))

    def solve(self, scale: Array, room: float) -> Array | None:
        """Coefficients with this room, or None where HiGHS finds none."""
        h, k, count = self.h, self.basis.shape[1], len(self.levels)
        values = sp.csr_matrix(self.basis * self.row(scale)[:, None])
        at = sp.csr_matrix((np.ones(count), (np.arange(count), self.levels)), shape=(count, h + 1))
        zero = sp.csr_matrix((count, h + 1))
        pairs, bounds = self.pairs(room)
        matrix = sp.vstack(
            [
                sp.hstack([-values, at, zero]),
                sp.hstack([values, zero, -at]),
                sp.hstack([sp.csr_matrix((pairs.shape[0], k)), pairs]),
            ]
        ).tocsr()
        cost = np.concatenate([np.zeros(k), np.full(h + 1, 1e-6), np.zeros(h + 1)])
        own = sp.csr_matrix(np.concatenate([self.own, np.zeros(2 * h + 2)])[None, :])
        limits = [(None, None)] * k + [(LEAST, None)] * h + [(LEAST / 10, None)] + [(0, None)] * (h + 1)
        right = np.concatenate([np.zeros(2 * count), bounds - LEAST])
        found = linprog(cost, matrix, right, own, [1.0], limits, method="highs", options=TOLERANCES)
        return np.asarray(found.x[:k]) if found.status == 0 else None

    def roomiest(self, scale: Array, least: float, most: float, steps: int = 9) -> tuple[float, Array | None]:
        """The largest room in [least, most] up to bisection, with coefficients; (-1, None) if `least` is too much."""
        best = self.solve(scale, least)
        return (
            (-1.0, None) if best is None else bisected(lambda room: self.solve(scale, room), least, best, most, steps)
        )

    def proposal(self, scale: Array) -> Array | None:
        """Coefficients with the largest of the usual rooms that has any."""
        least = self.solve(scale, ROOMS[-1])
        if least is None:
            return None
        roomier = (self.solve(scale, room) for room in ROOMS[:-1])
        return next((found for found in roomier if found is not None), least)


def bisected(
    solve: Callable[[float], Array | None], least: float, best: Array, most: float, steps: int
) -> tuple[float, Array]:
    """A room between `least`, which has the solution `best`, and `most`, with its solution; None of `solve`: none."""
    for _ in range(steps):
        middle = (least + most) / 2
        found = solve(middle)
        if found is None:
            most = middle
        else:
            least, best = middle, found
    return least, best


@functools.cache
def _rate(n: int, eps: Fraction) -> float:
    return float(exponents.best_rate(n, eps).rho)


def improved_scale(programmes: list[Programme], scale: Array, rounds: int = 12) -> Array | None:
    """A scale for which every programme has room, from one for which they nearly have, or None.

    The conditions are bilinear in coefficients and scale: successive linear programmes, all classes at once, in the
    changes of both, within a trust region. After each step every class takes its best coefficients anew."""
    found = [p.roomiest(scale, LEAST_ROOM, MOST_ROOM) for p in programmes]
    room, trust = min(r for r, _ in found), 0.05
    for _ in range(rounds):
        if room >= ENOUGH_ROOM:
            return scale
        coefficients = [c for _, c in found if c is not None]
        if len(coefficients) < len(programmes) or trust < 0.001:
            return None
        candidate = _step(programmes, coefficients, scale, room, trust)
        trust /= 3
        if candidate is not None:
            better = [p.roomiest(candidate, LEAST_ROOM, MOST_ROOM) for p in programmes]
            if min(r for r, _ in better) > room:
                found, scale, room, trust = better, candidate, min(r for r, _ in better), trust * 4.5
    return scale if room >= ENOUGH_ROOM else None


def _step(programmes: list[Programme], coefficients: list[Array], scale: Array, room: float, trust: float) -> Any:
    """The scale after the linearised step with most room, or None. Unknown are u with s(w) -> s(w) e^u(w), the changes
    of the coefficients, lo and hi of every class, and the change of the room."""
    m = len(scale) - 1
    size = m + 2 + sum(len(c) + 2 * (p.h + 1) for p, c in zip(programmes, coefficients, strict=True))

    def place(values: Array, columns: Array, rows: Array) -> Any:
        return sp.coo_matrix((values, (rows, columns)), shape=(int(rows.max()) + 1 if len(rows) else 0, size)).tocsr()

    start, parts, right, equal = m + 1, [], [], []
    limits: list[tuple[float | None, float | None]] = [(-trust, trust)] * (m + 1)
    for p, c in zip(programmes, coefficients, strict=True):
        count, k, index = len(p.levels), len(c), np.arange(len(p.levels))
        row = p.row(scale)
        base = (p.basis @ c) * row
        low, high = start + k, start + k + p.h + 1

        change = (
            place(base, p.weights, index)
            - place(base, np.full(count, p.h), index)
            + place((p.basis * row[:, None]).ravel(), start + np.tile(np.arange(k), count), np.repeat(index, k))
        )
        parts += [place(np.ones(count), low + p.levels, index) - change]
        parts += [change - place(np.ones(count), high + p.levels, index)]
        pairs, bounds = p.pairs(room)
        largest = np.full(p.h + 1, -np.inf)
        np.maximum.at(largest, p.levels, base)
        slope = (p.pairs(room + 1)[0] - pairs) @ np.concatenate([np.zeros(p.h + 1), largest])
        entries = pairs.tocoo()
        conditions = np.arange(len(bounds))
        parts += [
            place(entries.data, low + entries.col, entries.row)
            + place(slope, np.full(len(bounds), size - 1), conditions)
        ]
        right += [base, -base, bounds - LEAST]
        equal.append(sp.csr_matrix((p.own, (np.zeros(k, int), start + np.arange(k))), shape=(1, size)))
        reach = 3 * trust * np.maximum(1, np.abs(c))
        limits += list(zip(-reach, reach, strict=True)) + [(LEAST, None)] * (2 * p.h + 2)
        start = high + p.h + 1
    cost = np.zeros(size)
    cost[-1] = -1
    found = linprog(
        cost,
        sp.vstack(parts).tocsr(),
        np.concatenate(right),
        sp.vstack(equal).tocsr(),
        np.zeros(len(equal)),
        [*limits, (-MOST_ROOM, MOST_ROOM)],
        method="highs",
    )
    return scale * np.exp(found.x[: m + 1]) if found.status == 0 else None
