"""Upper bounds from heads whose keys treat bits alike: slopes and functions of |z| (mathematics.md B3 c, with any
functions of |z|, and one bit that may stand apart).

A SHAPE says how many slopes and functions there are, whether the last bit stands apart, and how many functions go with
points on a sphere; rank = slopes (M-1) + functions + 3 points on M = m - apart bits. With one slope

    one function                              rank m        m <= 11 at n = 3, eps = 1/2
    one function, a bit apart                 rank m - 1    m <= 10
    two functions and points                  rank m + 4    m = 12

Without points and a bit apart 11 is the end, whatever the slopes and functions: for |x| = |z| = 6 on 12 bits the
kernel is a - p l, l = 0..6, and B0 between l = 0 and 3 says a > 2 (a - 3p) + s/2, s = alpha(x,x) = a - 6p: s < 0.

For given tables of keys the row of each class of queries is a linear programme; conditions on both are bilinear, so
tables are improved by successive linear programmes within a trust region, after each of which all rows are solved anew.
Everything starts from the same tables, so the outcome is determined. HiGHS proposes, the kernel's rule `weight-head`
decides.

    Shape         what is looked for
    Rows          one class of queries: its classes of tokens, and its best row for given tables
    certificate   the certificate of a shape, or None
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from proofcheck.certificate import Checked, certify
from proofcheck.kernel.exact import Malformed, OverBudget, Rejected
from proofcheck.theorems.bundle import foundation

from . import exponents
from .programmes import Array, bisected

BASES = (0.7, 0.75, 0.8)
ROUNDS, ENOUGH, LEAST_TRUST = 40, 0.01, 1e-4
FIRST_ROOM, MOST_ROOM, STEPS = -0.8, 0.1, 14
BINARY_PLACES = (10, 14, 20, 28, 36, 44, 52)  # to which tables and rows are rounded, coarsest first
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Shape:
    m: int
    slopes: int = 1
    functions: int = 1
    apart: int = 0
    points: int = 0

    @property
    def main(self) -> int:
        return self.m - self.apart

    @property
    def rank(self) -> int:
        return self.slopes * (self.main - 1) + self.functions + 3 * self.points

    @property
    def columns(self) -> int:
        return self.slopes + self.functions + self.points

    def name(self) -> str:
        parts = [f"{self.slopes} slope(s) and {self.functions} function(s) of |z|"]
        parts += ["a bit apart"] * self.apart + ["points on a sphere"] * (self.points > 0)
        return ", ".join(parts)

    def classes(self) -> list[tuple[int, int]]:
        return list(product(range(self.apart + 1), range(self.main + 1)))

    def below_one(self) -> float:
        """The largest inner product of two different points is at most this."""
        return 1 - 2.0 ** (2 - self.main)

    def start(self, base: float) -> Array:
        """Tables (columns, classes): base^|z|, times a polynomial in |z|."""
        weights = np.array([u + w for u, w in self.classes()], dtype=float)
        sides = np.array([1.0 - 2 * u for u, _ in self.classes()])
        scale, share = base**weights, weights / self.m
        slopes = [scale * sides**i for i in range(self.slopes)]
        sided = [scale * share ** (j // 2) * sides ** (j % 2) for j in range(1, self.functions)]
        further = sided if self.apart else [scale * share**j for j in range(1, self.functions)]
        functions = [scale * (share + 1.5), *further]
        return np.stack(slopes + functions + [scale] * self.points)


class Rows:
    """One class (v, h) of queries. Entry i stands for tokens of class `token[i]` at overlap `level[i]`, where the
    kernel is sum_c coefficient_c tables[c, token[i]] factor[i, c]."""

    def __init__(self, shape: Shape, v: int, h: int, n: int, eps: Fraction) -> None:
        main = shape.main
        entries: list[tuple[int, int, float, float]] = []
        for place, (u, w) in enumerate(shape.classes()):
            for level in range(max(0, h + w - main), min(h, w) + 1):
                if h == w == level and u == v:
                    self.own = len(entries)
                alone = h == w == level or (level == 0 and h + w == main)
                values = [1.0] if alone or not shape.points else [shape.below_one(), -1.0]
                entries += [(place, level + u * v, level - h * w / main, value) for value in values]
        self.token, self.level = (np.array([e[i] for e in entries]) for i in (0, 1))
        slope, point = (np.array([e[i] for e in entries]) for i in (2, 3))
        parts = [slope] * shape.slopes + [np.ones(len(entries))] * shape.functions + [point] * shape.points
        self.factor = np.stack(parts, axis=1)
        self.top = h + v
        self.low, self.high = np.triu_indices(self.top + 1, 1)
        d, length, others, e = self.high - self.low, n - 1, n - 2, float(eps)
        at_high, at_own = others * length * (d - 2 * e), others * d - 2 * e * length
        used = (at_high > 0) | (at_own > 0)
        self.low, self.high, self.at_high, self.at_own = self.low[used], self.high[used], at_high[used], at_own[used]
        self.at_low, self.rate = 2 * e * length, float(exponents.best_rate(n, eps).rho)

    def values(self, tables: Array, row: Array) -> Array:
        return np.asarray((tables.T[self.token] * self.factor) @ row)

    def extremes(self, values: Array) -> tuple[Array, Array]:
        low, high = np.full(self.top + 1, np.inf), np.full(self.top + 1, -np.inf)
        np.minimum.at(low, self.level, values)
        np.maximum.at(high, self.level, values)
        return low, high

    def solve(self, tables: Array, room: float) -> Array | None:
        """Coefficients with at_low lo + (-at_own)+ s > (1 + room) (at_high hi + at_own+ s) for all pairs of levels, all
        of it times rate^l, where alpha(x, 0) = 1; None where HiGHS finds none."""
        basis = tables.T[self.token] * self.factor
        norms = np.abs(basis).max(axis=0)
        norms[norms == 0] = 1
        basis = basis / norms
        entries, k, levels, pairs = len(basis), basis.shape[1], self.top + 1, len(self.low)
        grown = sp.csr_matrix(basis * (self.rate**self.level)[:, None])
        at = sp.csr_matrix((np.ones(entries), (np.arange(entries), self.level)), shape=(entries, levels))
        none, index = sp.csr_matrix((entries, levels)), np.arange(pairs)
        factor = self.rate**self.low
        own = (np.maximum(-self.at_own, 0) - (1 + room) * np.maximum(self.at_own, 0)) * factor
        lows = sp.csr_matrix((np.full(pairs, -self.at_low), (index, self.low)), shape=(pairs, levels))
        grown_high = (1 + room) * self.at_high * factor / self.rate**self.high
        highs = sp.csr_matrix((grown_high, (index, self.high)), shape=(pairs, levels))
        matrix = sp.vstack(
            [
                sp.hstack([-grown, at, none, sp.csr_matrix((entries, 1))]),
                sp.hstack([grown, none, -at, sp.csr_matrix((entries, 1))]),
                sp.hstack([sp.csr_matrix(-np.outer(own, basis[self.own])), lows, highs, np.ones((pairs, 1))]),
                sp.csr_matrix(np.concatenate([-basis[self.own], np.zeros(2 * levels), [1.0]])[None, :]),
            ]
        ).tocsr()
        equal = sp.csr_matrix(np.concatenate([basis[0], np.zeros(2 * levels + 1)])[None, :])  # entry 0: z = 0
        limits = [(None, None)] * k + [(1e-8, None)] * self.top + [(1e-9, None)] + [(0, None)] * levels + [(None, 1)]
        cost = np.concatenate([np.zeros(k + 2 * levels), [-1.0]])
        found = linprog(cost, matrix, np.zeros(matrix.shape[0]), equal, [1.0], limits, method="highs", options=OPTIONS)
        return np.asarray(found.x[:k] / norms) if found.status == 0 and found.x[-1] > 1e-9 else None

    def roomiest(self, tables: Array, least: float, most: float) -> tuple[float, Array | None]:
        """The largest room in [least, most] up to bisection, with its row; (-inf, None) if `least` is too much."""
        best = self.solve(tables, least)
        if best is None:
            return -np.inf, None
        found = self.solve(tables, most)
        if found is not None:
            return most, found
        return bisected(lambda room: self.solve(tables, room), least, best, most, STEPS)


def rooms(queries: list[Rows], tables: Array, least: float, most: float) -> tuple[float, list[Array]]:
    """The least room over all classes of queries, with their rows; (-inf, []) if some class has not even `least`."""
    found, room = [], most
    for query in sorted(queries, key=lambda q: -len(q.low)):
        r, row = query.roomiest(tables, least, most)
        if row is None:
            return -np.inf, []
        room = min(room, r)
        found.append((queries.index(query), row))
    return room, [row for _, row in sorted(found, key=lambda item: item[0])]


def improved(queries: list[Rows], tables: Array) -> tuple[float, Array, list[Array]]:
    """Successive linear programmes from these tables: the room reached, the tables and the rows."""
    room, rows = rooms(queries, tables, FIRST_ROOM, MOST_ROOM)
    trust = 0.05
    for _ in range(ROUNDS):
        if not rows or room >= ENOUGH or trust < LEAST_TRUST:
            break
        candidate = _step(queries, tables, rows, room, trust)
        better, solved = rooms(queries, candidate, room, room + 0.04) if candidate is not None else (-np.inf, [])
        if better > room:
            room, tables, rows, trust = better, candidate, solved, min(1.5 * trust, 0.3)
        else:
            trust /= 3
    return room, tables, rows


def _step(queries: list[Rows], tables: Array, rows: list[Array], room: float, trust: float) -> Any:
    """The tables after the linearised step with most room, or None. Unknown are the changes of the tables and of all
    rows, lo and hi of every level, relative to the values now, and the change of the room."""
    columns, classes = tables.shape
    size = tables.size + sum(columns + 2 * (q.top + 1) for q in queries) + 1
    reach = trust * np.maximum(np.abs(tables), np.abs(tables[:1]) * 0.3)
    limits: list[tuple[float | None, float | None]] = [(-r, r) for r in reach.ravel()]
    parts, right, start = [], [], tables.size
    for query, row in zip(queries, rows, strict=True):
        basis = tables.T[query.token] * query.factor
        values, count, index = basis @ row, len(query.token), np.arange(len(query.token))
        low, high = query.extremes(values)
        largest = max(high.max(), 1e-12)
        scale = np.maximum(np.abs(high), 1e-6 * largest)
        change = sp.csr_matrix(
            (
                np.concatenate([(query.factor * row).T.ravel(), basis.T.ravel()]),
                (
                    np.tile(index, 2 * columns),
                    np.concatenate(
                        [c * classes + query.token for c in range(columns)]
                        + [np.full(count, start + c) for c in range(columns)]
                    ),
                ),
            ),
            shape=(count, size),
        )
        levels, first = query.top + 1, start + columns
        relative = sp.diags(1 / scale[query.level])
        at = sp.csr_matrix((np.ones(count), (index, first + query.level)), shape=(count, size))
        parts += [at - relative @ change]
        at = sp.csr_matrix((np.ones(count), (index, first + levels + query.level)), shape=(count, size))
        parts += [relative @ change - at]
        right += [values / scale[query.level], -values / scale[query.level]]
        pairs, place = len(query.low), np.arange(len(query.low))
        own = values[query.own]
        most = np.maximum(query.at_high * high[query.high] + np.maximum(query.at_own, 0) * own, 1e-9 * largest)
        at_own = (np.maximum(-query.at_own, 0) - (1 + room) * np.maximum(query.at_own, 0)) / most
        entries = [
            -query.at_low * scale[query.low] / most,
            (1 + room) * query.at_high * scale[query.high] / most,
            np.ones(pairs),
        ]
        where = [first + query.low, first + levels + query.high, np.full(pairs, size - 1)]
        fixed = sp.csr_matrix(
            (np.concatenate(entries), (np.tile(place, 3), np.concatenate(where))), shape=(pairs, size)
        )
        parts += [fixed - sp.csr_matrix(at_own[:, None]) @ change[query.own], change[query.own] * (-1 / own)]
        right += [at_own * own, np.array([0.7])]
        widest = 3 * trust * np.maximum(np.abs(row), 0.1 * np.abs(row).max())
        limits += [(-r, r) for r in widest]
        least = np.minimum(1e-4 * largest / scale * (np.arange(levels) < query.top), low / scale - 1e-9)
        limits += [(value, None) for value in least] + [(0, None)] * levels
        start = first + 2 * levels
    cost = np.zeros(size)
    cost[-1] = -1
    found = linprog(
        cost,
        sp.vstack(parts).tocsr(),
        np.concatenate(right),
        bounds=[*limits, (-1, 1)],
        method="highs",
        options=OPTIONS,
    )
    return tables + found.x[: tables.size].reshape(tables.shape) if found.status == 0 else None


def certificate(shape: Shape, n: int, eps: Fraction, command: str) -> Checked | None:
    """`head-exists` by `weight-head`, with the coarsest numbers that the kernel accepts; None where none is found."""
    queries = [Rows(shape, v, h, n, eps) for v, h in shape.classes()]
    for base in BASES:
        room, tables, rows = improved(queries, shape.start(base))
        if room > 0:
            for places in BINARY_PLACES:
                found = _rounded(shape, queries, tables, rows, room, places, n, eps, command)
                if found is not None:
                    return found
    return None


def _rounded(
    shape: Shape,
    queries: list[Rows],
    tables: Array,
    rows: list[Array],
    room: float,
    places: int,
    n: int,
    eps: Fraction,
    command: str,
) -> Checked | None:
    """Tables rounded relative to their largest entries, the rows solved anew for them and rounded likewise."""
    grid = 2.0**places
    whole = np.rint(tables / np.abs(tables).max(axis=1, keepdims=True) * grid)
    listed = []
    for query in queries:
        _, row = query.roomiest(whole / grid, 0.0, max(MOST_ROOM, 2 * room))
        if row is None:
            return None
        # alpha has M l - h w where `Rows` has l - h w/M
        row = row / np.array([shape.main] * shape.slopes + [1] * (shape.columns - shape.slopes))
        listed.append([int(q) for q in np.rint(row / np.abs(row).max() * grid).tolist()])
    integers = [[int(q) for q in values] for values in whole.tolist()]
    witness: dict[str, object] = {
        "apart": shape.apart,
        "slopes": integers[: shape.slopes],
        "functions": integers[shape.slopes : shape.slopes + shape.functions],
        "points": integers[shape.slopes + shape.functions :],
        "coefficients": listed,
    }
    parameters = {"m": shape.m, "n": n, "eps": eps, "rank": shape.rank}
    uses = [foundation("domination-sufficient")[1]]
    try:
        return certify("head-exists", parameters, "weight-head", witness, command=command, uses=uses)
    except (Rejected, Malformed, OverBudget):
        return None
