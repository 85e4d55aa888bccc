"""Upper bounds from explicit heads (mathematics.md B3), by class of tokens.

A head is given by blocks of bits, a list of degrees, a scale s(|z|) > 0 and, for each class of queries (|x| in each
block), a polynomial in the overlaps l_i and the weights w_i of z by block: alpha(x,z) = s(|z|) p_x(l, w). By B0 only
the least and the largest value at each overlap matter, so each class is a linear programme (programmes.py).
HiGHS proposes, coefficients are rounded to rationals, and the kernel's rule `class-head` decides. The rank is
sum over degrees of prod C(b_i, k_i), plus one feature for each query without a polynomial (one-hot, softmin row).

    total_degree, product_degrees    which monomials are allowed
    certificate                      the certificate of a shape, or None
    improved                         a shape with a scale that leaves more room
    symmetric                        level-symmetric heads: polynomials in the overlap alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
from scipy.optimize import linprog

from proofcheck.certificate import Checked, certify
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.theorems.bundle import foundation

from .programmes import Array, Programme, improved_scale

PLACES = 52  # binary places to which coefficients are rounded
SCALE_PLACES = 60  # and scales
SYMMETRIC_SLACK = 1e-6
TOLERANCE = 1e-10  # of HiGHS, far below the smallest slack


@dataclass(frozen=True)
class Shape:
    """Blocks of bits, allowed degrees and the scale s(0), .., s(m)."""

    blocks: tuple[int, ...]
    degrees: tuple[tuple[int, ...], ...]
    scale: tuple[Fraction, ...]

    @property
    def m(self) -> int:
        return sum(self.blocks)

    def rank(self) -> int:
        return sum(prod(map(comb, self.blocks, d)) for d in self.degrees)

    def classes(self) -> list[tuple[int, ...]]:
        """Classes of queries, those with most queries first: they leave least room."""
        every = product(*(range(b + 1) for b in self.blocks))
        return sorted(every, key=lambda sizes: (-self.queries(sizes), sizes))

    def queries(self, sizes: Sequence[int]) -> int:
        return prod(map(comb, self.blocks, sizes))

    def floats(self) -> Array:
        return np.array([float(s) for s in self.scale])


def geometric(m: int, base: Fraction) -> tuple[Fraction, ...]:
    return tuple(base**w for w in range(m + 1))


def total_degree(m: int, degree: int, base: Fraction) -> Shape:
    """One block, polynomials of total degree <= `degree`, scale base^w."""
    return Shape((m,), tuple((k,) for k in range(degree + 1)), geometric(m, base))


def product_degrees(blocks: Sequence[int], caps: Sequence[int], total: int, base: Fraction) -> Shape:
    """Degree at most caps[i] in block i and at most `total` in all."""
    degrees = product(*(range(cap + 1) for cap in caps))
    return Shape(tuple(blocks), tuple(d for d in degrees if sum(d) <= total), geometric(sum(blocks), base))


@dataclass(frozen=True)
class ClassProgramme:
    """The linear programme of one class, and how its coefficients translate into powers of l_i and w_i.

    The basis are products of Chebyshev polynomials in l_i and in w_i - l_i, each scaled to [-1, 1] on the class: so
    floats stay accurate."""

    shape: Shape
    sizes: tuple[int, ...]
    orders: list[tuple[tuple[int, ...], tuple[int, ...]]]  # of the polynomials in l_i and in w_i - l_i
    programme: Programme

    def polynomial(self, coefficients: Array) -> list[dict[str, object]]:
        """The witness: powers of the l_i and w_i with rational coefficients."""
        total: dict[tuple[tuple[int, ...], tuple[int, ...]], Fraction] = {}
        tops = [max(d[i] for d in self.shape.degrees) for i in range(len(self.sizes))]
        inside = [chebyshev(top, h) for top, h in zip(tops, self.sizes, strict=True)]
        widths = [b - h for b, h in zip(self.shape.blocks, self.sizes, strict=True)]
        outside = [chebyshev(top, width) for top, width in zip(tops, widths, strict=True)]
        for (left, right), value in zip(self.orders, coefficients, strict=True):
            q = Fraction(round(value * (1 << PLACES)), 1 << PLACES)
            if not q:
                continue
            chosen = zip(inside, left, outside, right, strict=True)
            factors = [in_powers(inner[a], outer[b]) for inner, a, outer, b in chosen]
            for parts in product(*(f.items() for f in factors)):
                key = (tuple(powers[0] for powers, _ in parts), tuple(powers[1] for powers, _ in parts))
                total[key] = total.get(key, Fraction(0)) + q * prod(part for _, part in parts)
        return [
            {"l": list(left), "w": list(right), "coefficient": q} for (left, right), q in sorted(total.items()) if q
        ]


def class_programme(shape: Shape, sizes: tuple[int, ...], n: int, eps: Fraction) -> ClassProgramme:
    width = [b - h for b, h in zip(shape.blocks, sizes, strict=True)]
    grid = np.indices([h + 1 for h in sizes] + [r + 1 for r in width]).reshape(2 * len(sizes), -1)
    inside, outside = grid[: len(sizes)], grid[len(sizes) :]
    top = [max((d[i] for d in shape.degrees), default=0) for i in range(len(sizes))]

    def basis(points: Array, extent: Sequence[int]) -> list[Array]:
        scaled = [2.0 * points[i] / max(e, 1) - 1 for i, e in enumerate(extent)]
        return [np.polynomial.chebyshev.chebvander(t, top[i]) for i, t in enumerate(scaled)]

    orders = [
        (left, tuple(k - a for k, a in zip(d, left, strict=True)))
        for d in shape.degrees
        for left in product(*(range(k + 1) for k in d))
    ]

    def values(inner: list[Array], outer: list[Array]) -> Array:
        columns = [
            prod((f[:, a] * g[:, b] for f, g, a, b in zip(inner, outer, left, right, strict=True)), start=1.0)
            for left, right in orders
        ]
        return np.stack(columns, axis=1)

    own = values(basis(np.array(sizes)[:, None], sizes), basis(np.zeros((len(sizes), 1)), width))[0]
    programme = Programme(
        n,
        eps,
        sum(sizes),
        inside.sum(axis=0),
        grid.sum(axis=0),
        values(basis(inside, sizes), basis(outside, width)),
        own,
    )
    return ClassProgramme(shape, sizes, orders, programme)


def chebyshev(top: int, extent: int) -> list[list[Fraction]]:
    """T_0, .., T_top at 2 t/max(extent, 1) - 1, by powers of t; the constant -1 where the extent is 0, as in floats."""
    slope = Fraction(2, max(extent, 1)) if extent else Fraction(0)
    found = [[Fraction(1)], [Fraction(-1), slope]]
    while len(found) <= top:
        last, before = found[-1], found[-2]
        following = [Fraction(0)] * (len(last) + 1)
        for i, q in enumerate(last):
            following[i] -= 2 * q
            following[i + 1] += 2 * slope * q
        for i, q in enumerate(before):
            following[i] -= q
        found.append(following)
    return found


def in_powers(inner: Sequence[Fraction], outer: Sequence[Fraction]) -> dict[tuple[int, int], Fraction]:
    """inner(l) outer(w - l) in powers (of l, of w)."""
    total: dict[tuple[int, int], Fraction] = {}
    for i, p in enumerate(inner):
        for j, q in enumerate(outer):
            for k in range(j + 1):
                key = (i + j - k, k)
                total[key] = total.get(key, Fraction(0)) + p * q * comb(j, k) * (-1) ** (j - k)
    return total


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


def certificate(
    shape: Shape, n: int, eps: Fraction, command: str, one_hot_above: int | None = None, below: int | None = None
) -> Checked | None:
    """`head-exists` by `class-head`. Queries of weight > `one_hot_above` are one-hot, and so are classes without a
    polynomial as long as the rank stays below `below` (by default: none); None where this cannot be."""
    polynomials: dict[str, object] = {}
    rank, scale = shape.rank(), shape.floats()
    for sizes in shape.classes():
        found = None
        if one_hot_above is None or sum(sizes) <= one_hot_above:
            instance = class_programme(shape, sizes, n, eps)
            found = instance.programme.proposal(scale)
            if found is None and below is None:
                return None
        if found is None:
            rank += shape.queries(sizes)
        else:
            polynomials[",".join(map(str, sizes))] = instance.polynomial(found)
        if below is not None and rank >= below:
            return None
    witness: dict[str, object] = {
        "blocks": list(shape.blocks),
        "degrees": [list(d) for d in shape.degrees],
        "scale": list(shape.scale),
        "polynomials": polynomials,
    }
    return certified(shape.m, n, eps, rank, witness, command)


def improved(shape: Shape, n: int, eps: Fraction) -> Shape | None:
    """The shape with another scale, for which all classes of queries have polynomials with room."""
    programmes = [class_programme(shape, sizes, n, eps).programme for sizes in shape.classes()]
    scale = improved_scale(programmes, shape.floats())
    if scale is None:
        return None
    return replace(shape, scale=tuple(Fraction(max(1, round(s * 2**SCALE_PLACES)), 2**SCALE_PLACES) for s in scale))


def certified(m: int, n: int, eps: Fraction, rank: int, witness: dict[str, object], command: str) -> Checked | None:
    parameters = {"m": m, "n": n, "eps": eps, "rank": rank}
    rested = [foundation("domination-sufficient")[1], foundation("softmin")[1]]
    try:
        return certify("head-exists", parameters, "class-head", witness, command=command, uses=rested)
    except (Rejected, Malformed):
        return None
