"""Heads, features and precisions across layers, under budgets, so that the transcript has enough bits.

Given L layers of at most H heads each, dv, a width d, a list of feature numbers r, and a list of formats. All heads of
a layer are stored in one format; a layer may have no heads. By eq. (8) a correct model has

    sum over heads of r (dv+1) p  >=  B.

Wanted: an allocation with at least B bits that minimises parameters, operations a token, or memory (state bits plus
parameters times the bits of a weight), within upper limits on each. B IS NECESSARY, NEVER SUFFICIENT: no allocation
found here is thereby a model that works; one that does not exist is thereby impossible.

Layers are alike, so that only totals matter: let n_p be the number of layers in format p and X_(r,p) the number of
heads with r features in those layers. Heads can be distributed over the layers in any way with at most H in each, so
the conditions are sum_r X_(r,p) <= H n_p, sum_p n_p <= L. An integer programme with a few variables, solved by HiGHS
(scipy.optimize.milp), whose solution is rounded and checked in integers. How far it may be from the best is bounded
exactly too: for any y >= 0, min c x over A x <= b, 0 <= x <= u is at least sum_j u_j min(0, c_j + (A^T y)_j) - y b
(weak duality), with y from the linear programme in floats, rounded to rationals; and what B bits cost at least if
formats, layers and limits are forgotten is a covering problem that is solved exactly, where it is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from proofcheck.errors import UsageError

from .costs import kernel, parameters
from .formats import Format

MOST_COVERED = 100_000  # entries of the covering problem's table
GOALS = ("parameters", "operations", "memory")


@dataclass(frozen=True)
class Space:
    """What may be chosen from. `bits` is B; `limits` are upper limits by the names in `GOALS`."""

    layers: int
    heads: int
    dv: int
    width: int
    features: tuple[int, ...]
    formats: tuple[Format, ...]
    bits: int
    weight_bits: int = 16
    limits: tuple[tuple[str, int], ...] = ()

    def choices(self) -> list[tuple[int, Format]]:
        return [(r, f) for f in self.formats for r in self.features]

    def cost(self, goal: str, r: int, precision: Format) -> int:
        """Of one head."""
        if goal == "parameters":
            return parameters(self.width, r, self.dv)
        if goal == "operations":
            return kernel(1, 1, r, self.dv).operations
        return r * (self.dv + 1) * precision.bits + self.weight_bits * parameters(self.width, r, self.dv)


@dataclass(frozen=True)
class Allocation:
    """`layers` holds for each layer (heads, r, format) with heads > 0; `least` is a proved lower bound on the goal."""

    layers: tuple[tuple[tuple[int, int, str], ...], ...]
    bits: int
    totals: dict[str, int]
    goal: str
    least: int

    @property
    def optimal(self) -> bool:
        return self.least == self.totals[self.goal]


@dataclass(frozen=True)
class Impossible:
    """No allocation within the limits has B bits: `most` is a proved upper bound on the bits of any."""

    most: int
    needed: int


Programme = tuple[list[int], list[list[int]], list[int], list[int]]


def allocate(space: Space, goal: str) -> Allocation | Impossible | None:
    """The best allocation found, a proof that there is none, or None where HiGHS finds none and that is no proof."""
    if goal not in GOALS:
        raise UsageError(f"--minimise: expected one of {', '.join(GOALS)}, got {goal[:40]!r}")
    bits, rows, rhs, upper = _programme(space)
    most = -_least_value(([-b for b in bits], rows, rhs, upper))
    if most < space.bits:
        return Impossible(most, space.bits)
    choices = space.choices()
    cost = [space.cost(goal, r, f) for r, f in choices] + [0] * len(space.formats)
    programme = cost, [*rows, [-b for b in bits]], [*rhs, -space.bits], upper
    found = _solved(programme)
    if found is None:
        return None
    heads = found[: len(choices)]
    totals = {name: sum(k * space.cost(name, r, f) for k, (r, f) in zip(heads, choices, strict=True)) for name in GOALS}
    held = sum(k * b for k, b in zip(found, bits, strict=True))
    least = max(_least_value(programme), _covering(bits[: len(choices)], cost[: len(choices)], space.bits))
    return Allocation(_distributed(space, found), held, totals, goal, least)


def _programme(space: Space) -> Programme:
    """Variables: heads X_(r,p) in the order of `choices`, then layers n_p; the bits of each, and the conditions but
    for that on the bits."""
    choices = space.choices()
    bits = [r * (space.dv + 1) * f.bits for r, f in choices] + [0] * len(space.formats)
    rows, rhs = [], []
    for i, precision in enumerate(space.formats):
        rows.append(
            [int(f is precision) for _, f in choices] + [-space.heads * (i == k) for k in range(len(space.formats))]
        )
        rhs.append(0)
    rows.append([0] * len(choices) + [1] * len(space.formats))
    rhs.append(space.layers)
    for name, limit in space.limits:
        rows.append([space.cost(name, r, f) for r, f in choices] + [0] * len(space.formats))
        rhs.append(limit)
    upper = [space.layers * space.heads] * len(choices) + [space.layers] * len(space.formats)
    return bits, rows, rhs, upper


def _scaled(rows: Sequence[Sequence[int]], rhs: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows in floats, each divided by its largest coefficient."""
    largest = [max(1, *map(abs, row)) for row in rows]
    matrix = [[value / size for value in row] for row, size in zip(rows, largest, strict=True)]
    return np.array(matrix), np.array([value / size for value, size in zip(rhs, largest, strict=True)])


def _solved(programme: Programme) -> list[int] | None:
    """An optimal point according to HiGHS, in integers that satisfy every row."""
    cost, rows, rhs, upper = programme
    matrix, right = _scaled(rows, rhs)
    result = milp(
        np.array(cost, dtype=float) / max(1, *cost),
        constraints=LinearConstraint(matrix, ub=right),
        bounds=Bounds(0, np.array(upper, dtype=float)),
        integrality=np.ones(len(cost)),
        options={"mip_rel_gap": 0},
    )
    if result.x is None:
        return None
    x = [round(value) for value in result.x]
    held = all(sum(a * v for a, v in zip(row, x, strict=True)) <= b for row, b in zip(rows, rhs, strict=True))
    return x if held and all(0 <= v <= u for v, u in zip(x, upper, strict=True)) else None


def _least_value(programme: Programme) -> int:
    """A lower bound on the value of every integer point, by weak duality in rationals."""
    cost, rows, rhs, upper = programme
    matrix, right = _scaled(rows, rhs)
    size = max(1, *map(abs, cost))
    result = linprog(
        np.array(cost, dtype=float) / size, A_ub=matrix, b_ub=right, bounds=[(0, u) for u in upper], method="highs"
    )
    prices = [Fraction(0)] * len(rows)
    if result.x is not None:
        scales = [max(1, *map(abs, row)) for row in rows]
        prices = [
            Fraction(max(0.0, -float(y))).limit_denominator(10**9) * size / scale
            for y, scale in zip(result.ineqlin.marginals, scales, strict=True)
        ]
    value = -sum((y * b for y, b in zip(prices, rhs, strict=True)), Fraction(0))
    for j, u in enumerate(upper):
        reduced = cost[j] + sum((y * row[j] for y, row in zip(prices, rows, strict=True)), Fraction(0))
        value += u * min(Fraction(0), reduced)
    return -((-value.numerator) // value.denominator)


def _covering(bits: Sequence[int], cost: Sequence[int], needed: int) -> int:
    """The least cost of any number of heads with `needed` bits together; 0 where the table would be large."""
    unit = gcd(*bits)
    target = -(-needed // unit)
    if target > MOST_COVERED:
        return 0
    least = [0]
    for t in range(1, target + 1):
        least.append(min(c + least[max(0, t - b // unit)] for b, c in zip(bits, cost, strict=True)))
    return least[target]


def _distributed(space: Space, found: Sequence[int]) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """Layer by layer, each filled with at most H heads of its format."""
    choices = space.choices()
    layers = []
    for i, precision in enumerate(space.formats):
        left = [[k, r] for k, (r, f) in zip(found, choices, strict=False) if f is precision and k]
        for _ in range(found[len(choices) + i]):
            room, layer = space.heads, []
            while room and left:
                taken = min(room, left[0][0])
                layer.append((taken, left[0][1], precision.name))
                left[0][0] -= taken
                room -= taken
                if not left[0][0]:
                    del left[0]
            if layer:
                layers.append(tuple(layer))
    return tuple(layers)
