"""Heads that depend on the Hamming distance: alpha(x,z) = b^(|z|-|x|) q(|x\\z| + |z\\x|) with q of low degree.

Let R = b^-2, f(d) = b^d q(d). Then alpha(x,z) = R^|x\\z| f(|x\\z| + |z\\x|), and f = 1 would be the softmin kernel
R^(h - <x,z>) with growth R. So q has to follow the exponential b^-d on 0..m up to a factor that R > rho leaves free:
B0 holds if f > 0 and, with lo(d) the least of f on d..m and hi(d) its largest on 0..m-d,

    2eps L R^d lo(d) > K L (d-2eps) hi(d) + max(0, K d - 2eps L) f(0)   for d = 1..m       (L = n-1, K = n-2).

The distance is affine in the bits of z, hence rank <= sum_{k <= deg q} C(m,k) (mathematics.md B3 c, for the scale b^|z|
and polynomials in one variable: m + 1 inequalities decide all queries, so hundreds of bits are no effort). A polynomial
in the overlap alone follows R^d over the whole range and needs nearly twice the degree. At n = 3, eps = 1/2 the least
degree is about m/11.

For given (m, degree, b): a linear programme for f in the basis b^d p_k(d), p_k orthogonal on 0..m with weight b^(2d),
by the Stieltjes recurrence, which keeps floats accurate; then q is rounded in the basis C(d,k), and the kernel's rule
`hamming-head` decides.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log2

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from proofcheck.certificate import Checked, certify
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.theorems.bundle import foundation

from .exponents import best_rate
from .programmes import Array

LEAST = 1e-7  # least value of f
NEGLIGIBLE = 1e-3  # right sides below it, lo being of the order of 1, are left out of the search
STEP = 200  # bases are multiples of 1/STEP
PLACES = 44  # binary places of the recurrence and of coefficients, relative to their effect on f


def rank(m: int, degree: int) -> int:
    return sum(comb(m, k) for k in range(degree + 1))


@dataclass(frozen=True)
class _Basis:
    """b^d p_k(d) on 0..m in floats, (m+1, degree+1), and the recurrence that gives the same p_k exactly."""

    columns: Array
    scale: list[float]
    centres: list[Fraction]
    backs: list[Fraction]

    def exactly(self) -> list[list[Fraction]]:
        """p_k at 0..degree."""
        degree = len(self.scale) - 1
        rows = [[Fraction(1)] * (degree + 1)]
        for k, (centre, back) in enumerate(zip(self.centres, self.backs, strict=True)):
            values = [(i - centre) * v for i, v in enumerate(rows[-1])]
            rows.append([v - back * u for v, u in zip(values, rows[-2], strict=True)] if k else values)
        return [[v * Fraction(s) for v in row] for s, row in zip(self.scale, rows, strict=True)]


def _basis(m: int, degree: int, base: Fraction) -> _Basis:
    d = np.arange(m + 1.0)
    column = float(base) ** d
    columns = [column / np.linalg.norm(column)]
    scale, centres, backs = [float(1 / np.linalg.norm(column))], [], []
    for k in range(degree):
        following = d * columns[-1]
        centre, back = _rounded(float(columns[-1] @ following)), Fraction(0)
        following = following - float(centre) * columns[-1]
        if k:
            back = _rounded(float(columns[-2] @ following) / scale[k] * scale[k - 1])
            following = following - float(back) * columns[-2] / scale[k - 1] * scale[k]
        norm = float(np.linalg.norm(following))
        columns.append(following / norm)
        scale.append(scale[k] / norm)
        centres.append(centre)
        backs.append(back)
    return _Basis(np.stack(columns, axis=1), scale, centres, backs)


def _rounded(value: float) -> Fraction:
    return Fraction(round(value * (1 << PLACES)), 1 << PLACES)


def margin(m: int, degree: int, base: Fraction, n: int, eps: Fraction) -> tuple[float, Array]:
    """The largest room of the conditions divided by R^d, for hi(1) = 1, and the coefficients of f."""
    basis = _basis(m, degree, base).columns
    length, others, e = n - 1, n - 2, float(eps)
    d = np.arange(1, m + 1)
    shrink = float(base) ** (2.0 * d)
    # Beyond some gap R^d has outgrown the right side: there the conditions cannot bind.
    last = max(int(np.argmax(others * length * d * shrink < NEGLIGIBLE)), min(m, 8)) if shrink[-1] * m < 1e-9 else m
    d, shrink, k = d[:last], shrink[:last], degree + 1
    unit, free = sp.identity(last, format="csr"), sp.csr_matrix((m + 1, 1))
    zero, none = sp.csr_matrix((m + 1, last)), sp.csr_matrix((m + 1, k))
    at_low, at_high = np.minimum(np.arange(1, m + 1), last) - 1, np.minimum(m - np.arange(m), last) - 1
    own = sp.csr_matrix(np.outer(np.maximum(0, others * d - 2 * e * length) * shrink, basis[0]))
    # Unknowns: coefficients, lo(1..last), hi(1..last), room.
    rows = sp.vstack(
        [
            sp.hstack([-basis[1:], unit[at_low], zero[1:], free[1:]]),  # lo(d) <= f(d)
            sp.hstack([none[1:last], unit[:-1] - unit[1:], zero[1:last], free[1:last]]),  # lo(d) <= lo(d+1)
            sp.hstack([basis[:-1], zero[1:], -unit[at_high], free[1:]]),  # hi(d) >= f(m-d)
            sp.hstack([none[1:last], zero[1:last], unit[1:] - unit[:-1], free[1:last]]),
            sp.hstack(
                [own, -2 * e * length * unit, sp.diags(others * length * (d - 2 * e) * shrink), np.ones((last, 1))]
            ),
            sp.hstack([-basis[:1], zero[:1], zero[:1], free[:1]]),
        ]
    ).tocsr()
    right = np.zeros(rows.shape[0])
    right[-1] = -LEAST
    limits = [(None, None)] * k + [(LEAST, None)] * last + [(1, 1)] + [(None, 1)] * (last - 1) + [(None, 1)]
    cost = np.zeros(rows.shape[1])
    cost[-1] = -1
    found = linprog(cost, rows, right, bounds=limits, method="highs")
    return (float(found.x[-1]), found.x[:k]) if found.status == 0 else (-1.0, np.zeros(k))


def best_base(m: int, degree: int, n: int, eps: Fraction) -> Fraction | None:
    """The base with the largest room, or None where none has any. Room is unimodal in the base: R must exceed the
    critical rate rho, and a larger R asks for a larger degree. Bases with rho < R < rho^4 are tried."""
    rate = best_rate(n, eps).rho
    low, high = max(1, int(STEP * rate**-2)), min(STEP, int(STEP * rate**-0.5) + 1)
    rooms: dict[int, float] = {}

    def room(k: int) -> float:
        if k not in rooms:
            rooms[k] = margin(m, degree, Fraction(k, STEP), n, eps)[0]
        return rooms[k]

    while high - low > 2:
        left = low + (high - low) // 3
        right = max(left + 1, high - (high - low) // 3)
        if room(left) < room(right):
            low = left
        else:
            high = right
    best = max(range(low, high + 1), key=room)
    return Fraction(best, STEP) if room(best) > 1e-7 else None


@functools.cache
def least_degree(m: int, n: int, eps: Fraction) -> tuple[int, Fraction] | None:
    """The least degree for which some base has room, and the base. The search starts from twice the degree for half
    the bits, for degrees far too large are slow and ill-conditioned."""
    half = least_degree(m // 2, n, eps) if m > 1 else None
    degree = 2 * half[0] if half else 0
    base = best_base(m, degree, n, eps)
    if base is None:
        while base is None and degree < m:
            degree += 1
            base = best_base(m, degree, n, eps)
        return None if base is None else (degree, base)
    while degree and (smaller := best_base(m, degree - 1, n, eps)) is not None:
        degree, base = degree - 1, smaller
    return degree, base


def certificate(m: int, degree: int, base: Fraction, n: int, eps: Fraction, command: str) -> Checked | None:
    """`head-exists` by `hamming-head`, or None where the conditions fail after rounding."""
    room, found = margin(m, degree, base, n, eps)
    if room <= 0:
        return None
    exact = _basis(m, degree, base).exactly()
    values = [
        sum((Fraction(float(c)) * row[i] for c, row in zip(found, exact, strict=True)), Fraction(0))
        for i in range(degree + 1)
    ]
    coefficients = []
    for k in range(degree + 1):  # k-th difference at 0, rounded to what matters for f
        difference = sum((-1) ** (k - i) * comb(k, i) * values[i] for i in range(k + 1))
        effect = max(log2(comb(d, k)) + d * log2(base) for d in range(k, m + 1))
        places = max(0, PLACES + int(effect))
        coefficients.append(Fraction(round(difference * (1 << places)), 1 << places))
    witness = {"base": base, "coefficients": coefficients}
    parameters = {"m": m, "n": n, "eps": eps, "rank": rank(m, degree)}
    try:
        uses = [foundation("domination-sufficient")[1]]
        return certify("head-exists", parameters, "hamming-head", witness, command=command, uses=uses)
    except (Rejected, Malformed):
        return None
