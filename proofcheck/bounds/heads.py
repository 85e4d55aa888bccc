"""Upper bounds from explicit heads (mathematics.md B3), by class of tokens.

A head is given by blocks of bits, a list of degrees, a scale s(|z|) > 0 and, for each class of queries (|x| in each
block), a polynomial in the overlaps l_i and the weights w_i of z by block: alpha(x,z) = s(|z|) p_x(l, w). By B0 only
the least and the largest value at each overlap matter, so the coefficients of one class solve a linear programme:

    lo_l <= alpha(x,y) for every class of tokens at overlap l,    hi_l >= alpha(x,z) likewise,
    2eps L lo_l >= (1 + slack) K L (d - 2eps) hi_(l+d) + (K d - 2eps L) alpha(x,x) + slack,    alpha(x,x) = 1.

HiGHS proposes, coefficients are rounded to rationals, and the kernel's rule `class-head` decides. The rank is
sum over degrees of prod C(b_i, k_i), plus one feature for each query without a polynomial (one-hot, softmin row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from proofcheck.certificate import Checked, certify
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.theorems.bundle import foundation

Exponents = tuple[tuple[int, ...], tuple[int, ...]]  # of the l_i and of the w_i
SLACKS = (1e-3, 1e-5, 1e-6, 2e-8)
PLACES = 52  # binary places to which coefficients are rounded
SYMMETRIC_SLACK = 1e-6
TOP = 1e-8  # least value at the overlap of the query with itself, so that rounding leaves it positive
TOLERANCE = 1e-10  # of HiGHS, far below the smallest slack


@dataclass(frozen=True)
class Shape:
    """Blocks of bits, allowed degrees and the scale s(0), .., s(m)."""

    blocks: tuple[int, ...]
    degrees: tuple[tuple[int, ...], ...]
    scale: tuple[Fraction, ...]
    use_weights: bool = True  # may polynomials depend on the w_i?

    @property
    def m(self) -> int:
        return sum(self.blocks)

    def polynomial_rank(self) -> int:
        return sum(prod(map(comb, self.blocks, d)) for d in self.degrees)

    def monomials(self) -> list[Exponents]:
        found = []
        for d in self.degrees:
            for left in product(*(range(k + 1) for k in d)):
                right = tuple(k - a for k, a in zip(d, left, strict=True))
                if self.use_weights or not any(right):
                    found.append((left, right))
        return found


def total_degree(m: int, degree: int, base: Fraction, use_weights: bool = True) -> Shape:
    """One block, polynomials of total degree <= `degree`, scale base^w."""
    return Shape((m,), tuple((k,) for k in range(degree + 1)), tuple(base**w for w in range(m + 1)), use_weights)


def block_product(a: int, b: int, base: Fraction) -> Shape:
    """(1, z_A) tensor (1, z_B): degree at most 1 in each of two blocks, rank (a+1)(b+1)."""
    degrees = ((0, 0), (0, 1), (1, 0), (1, 1))
    return Shape((a, b), degrees, tuple(base**w for w in range(a + b + 1)))


def solve_class(shape: Shape, sizes: Sequence[int], n: int, eps: Fraction, slack: float) -> list[Fraction] | None:
    """Coefficients for one class of queries, by linear programming in floats; None where HiGHS finds none."""
    monomials = shape.monomials()
    rows: dict[int, set[tuple[float, ...]]] = {}
    scale = [float(s) for s in shape.scale]
    weight = sum(sizes)
    width = [b - h for b, h in zip(shape.blocks, sizes, strict=True)]
    own = _values(monomials, sizes, sizes, scale)
    for ls in product(*(range(h + 1) for h in sizes)):
        for rest in product(*(range(r + 1) for r in width)):
            ws = [a + r for a, r in zip(ls, rest, strict=True)]
            rows.setdefault(sum(ls), set()).add(tuple(_values(monomials, ls, ws, scale)))
    k = len(monomials)
    # Unknowns: coefficients, lo_0..lo_weight, hi_0..hi_weight.
    size = k + 2 * (weight + 1)
    data: list[float] = []
    place: list[tuple[int, int]] = []
    bounds: list[float] = []

    def add(entries: list[tuple[int, float]], right: float) -> None:
        row = len(bounds)
        for column, value in entries:
            if value:
                place.append((row, column))
                data.append(value)
        bounds.append(right)

    for level, values in rows.items():
        for value in values:
            coefficients = list(enumerate(value))
            add([(j, -v) for j, v in coefficients] + [(k + level, 1.0)], 0.0)
            add([(j, v) for j, v in coefficients] + [(k + weight + 1 + level, -1.0)], 0.0)
    length, others, e = n - 1, n - 2, float(eps)
    for low in range(weight + 1):
        if low < weight:
            add([(k + low, -1.0)], -slack)
        else:
            add([(k + low, -1.0)], -TOP)
        for high in range(low + 1, weight + 1):
            d = high - low
            add(
                [(k + low, -2 * e * length), (k + weight + 1 + high, others * length * (d - 2 * e) * (1 + slack))],
                -(others * d - 2 * e * length) - slack,
            )
    matrix = coo_matrix((data, tuple(zip(*place, strict=True))), shape=(len(bounds), size))
    equal = coo_matrix((own, ([0] * k, list(range(k)))), shape=(1, size))
    cost = np.zeros(size)
    cost[k : k + weight + 1] = 1e-6
    limits = [(None, None)] * k + [(0, None)] * (2 * (weight + 1))
    result = linprog(
        cost,
        A_ub=matrix,
        b_ub=bounds,
        A_eq=equal,
        b_eq=[1.0],
        bounds=limits,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if result.status != 0:
        return None
    rounded = [Fraction(round(v * (1 << PLACES)), 1 << PLACES) for v in result.x[:k]]
    return [q / shape.m ** (sum(left) + sum(right)) for q, (left, right) in zip(rounded, monomials, strict=True)]


def symmetric_class(h: int, degree: int, n: int, eps: Fraction) -> list[Fraction] | None:
    """c_0, .., c_degree with alpha = sum c_k C(h-l, k) right for queries of weight h, by linear programming over
    levels.

    In this basis the numbers stay moderate, and alpha(x,x) = c_0 = 1."""
    values = np.array([[comb(h - level, k) for k in range(degree + 1)] for level in range(h + 1)], dtype=float)
    length, others, e = n - 1, n - 2, float(eps)
    rows, bounds = [], []
    for low in range(h):
        rows.append(-values[low] / values[low].max())
        bounds.append(-SYMMETRIC_SLACK)
        for high in range(low + 1, h + 1):
            d = high - low
            scale = max(1.0, float(values[high] @ (0.32 ** np.arange(degree + 1))))
            row = (-2 * e * length) * values[low] + others * length * (d - 2 * e) * values[high]
            rows.append(row / scale)
            bounds.append((-(others * d - 2 * e * length) - SYMMETRIC_SLACK * scale) / scale)
    equal = np.zeros((1, degree + 1))
    equal[0, 0] = 1
    limits = [(None, None)] * (degree + 1)
    tolerances = {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    result = linprog(
        np.zeros(degree + 1),
        np.array(rows) if rows else None,
        bounds or None,
        equal,
        [1.0],
        limits,
        "highs",
        options=tolerances,
    )
    if result.status != 0:
        return None
    return [Fraction(round(v * (1 << PLACES)), 1 << PLACES) for v in result.x]


def powers_of_overlap(h: int, coefficients: Sequence[Fraction]) -> list[Fraction]:
    """The polynomial sum c_k C(h-l, k) in powers of l."""
    total = [Fraction(0)] * len(coefficients)
    falling = [Fraction(1)]
    for k, c in enumerate(coefficients):
        for i, q in enumerate(falling):
            total[i] += c * q
        shifted = [Fraction(0), *(-q / (k + 1) for q in falling)]
        for i, q in enumerate(falling):
            shifted[i] += q * Fraction(h - k, k + 1)
        falling = shifted
    return total


def symmetric(m: int, degree: int, n: int, eps: Fraction, command: str, heaviest: int | None = None) -> Checked | None:
    """Level-symmetric head (B3 a): polynomials of the given degree in the overlap for queries of weight <= heaviest."""
    heaviest = m if heaviest is None else heaviest
    polynomials = {}
    for h in range(heaviest + 1):
        found = symmetric_class(h, min(degree, h), n, eps)
        if found is None:
            return None
        polynomials[str(h)] = [
            {"l": [k], "w": [0], "coefficient": q} for k, q in enumerate(powers_of_overlap(h, found)) if q
        ]
    rank = sum(comb(m, k) for k in range(degree + 1)) + sum(comb(m, h) for h in range(heaviest + 1, m + 1))
    witness = {
        "blocks": [m],
        "degrees": [[k] for k in range(degree + 1)],
        "scale": [1] * (m + 1),
        "polynomials": polynomials,
    }
    return certified(m, n, eps, rank, witness, command)


def plausible(shape: Shape, n: int, eps: Fraction) -> bool:
    """Do the classes of queries that usually fail first have polynomials? A quick test before all are tried."""
    picks = {tuple(round(b * part) for b in shape.blocks) for part in (1 / 3, 1 / 2, 2 / 3, 0.8, 1)}
    return all(solve_class(shape, sizes, n, eps, SLACKS[-1]) is not None for sizes in sorted(picks))


def certified(m: int, n: int, eps: Fraction, rank: int, witness: dict[str, object], command: str) -> Checked | None:
    parameters = {"m": m, "n": n, "eps": eps, "rank": rank}
    rested = [foundation("domination-sufficient")[1], foundation("softmin")[1]]
    try:
        return certify("head-exists", parameters, "class-head", witness, command=command, uses=rested)
    except (Rejected, Malformed):
        return None


def _values(monomials: list[Exponents], ls: Sequence[int], ws: Sequence[int], scale: list[float]) -> list[float]:
    """The monomials in l_i/m and w_i/m, times the scale: of moderate size, which floats need."""
    s, m = scale[sum(ws)], len(scale) - 1
    return [
        s * prod(map(pow, ls, left)) * prod(map(pow, ws, right)) / m ** (sum(left) + sum(right))
        for left, right in monomials
    ]


def certificate(shape: Shape, n: int, eps: Fraction, command: str, one_hot_above: int | None = None) -> Checked | None:
    """`head-exists` by `class-head`, or None where some class of queries up to the cut-off has no polynomial."""
    polynomials = {}
    rank = shape.polynomial_rank()
    for sizes in product(*(range(b + 1) for b in shape.blocks)):
        if one_hot_above is not None and sum(sizes) > one_hot_above:
            rank += prod(map(comb, shape.blocks, sizes))
            continue
        for slack in SLACKS:
            found = solve_class(shape, sizes, n, eps, slack)
            if found is not None:
                break
        else:
            return None
        polynomials[",".join(map(str, sizes))] = [
            {"l": list(left), "w": list(right), "coefficient": q}
            for (left, right), q in zip(shape.monomials(), found, strict=True)
            if q
        ]
    witness = {
        "blocks": list(shape.blocks),
        "degrees": [list(d) for d in shape.degrees],
        "scale": list(shape.scale),
        "polynomials": polynomials,
    }
    return certified(shape.m, n, eps, rank, witness, command)
