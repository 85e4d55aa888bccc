"""Heads by the Hamming distance: the search, its linear programme in floats, and the kernel's exact condition."""

import json
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from proofcheck.bounds import hamming
from proofcheck.certificate import certify
from proofcheck.kernel.exact import Rejected
from proofcheck.theorems.bundle import foundation

HALF = Fraction(1, 2)
CASES = [(3, HALF), (3, Fraction(1, 4)), (4, HALF), (8, HALF), (5, Fraction(2, 7))]

margin = cache(hamming.margin)


def room_of(f, base, n, eps):
    """The least of the left less the right side of the conditions, divided by R^d, for f scaled to hi(1) = 1."""
    m, length, others = len(f) - 1, n - 1, n - 2
    top = max(f[:m])
    return min(
        2 * eps * length * min(f[d:])
        - base ** (2 * d)
        * (others * length * (d - 2 * eps) * max(f[: m - d + 1]) + max(0, others * d - 2 * eps * length) * f[0])
        for d in range(1, m + 1)
    ) / Fraction(top)


def values(base, coefficients, m):
    return [base**d * sum(c * comb(d, k) for k, c in enumerate(coefficients)) for d in range(m + 1)]


def accepted(m, n, eps, base, coefficients):
    parameters = {"m": m, "n": n, "eps": eps, "rank": hamming.rank(m, len(coefficients) - 1)}
    witness = {"base": base, "coefficients": list(coefficients)}
    uses = [foundation("domination-sufficient")[1]]
    try:
        certify("head-exists", parameters, "hamming-head", witness, command="test", uses=uses)
    except Rejected:
        return False
    return True


# ------------------------------------------------------------------------------------------ the least degree


@pytest.mark.parametrize(("n", "eps", "most"), [(3, HALF, 24), (4, HALF, 16), (3, Fraction(1, 4), 16)])
def test_the_least_degree_does_not_decrease_and_certifies(n, eps, most):
    """A head for m bits is one for fewer: fix the others at 0."""
    before = 0
    for m in range(1, most + 1):
        degree, base = hamming.least_degree(m, n, eps)
        assert before <= degree <= m
        assert hamming.certificate(m, degree, base, n, eps, "test") is not None, m
        before = degree


def feasible(m, degree, base, n, eps):
    """Plainly: unknown are f(0), .., f(m) >= 1/1000 with f(d)/base^d of the degree, by vanishing differences; one row
    for each gap d and each pair of distances >= d and <= m - d."""
    e, length, others = float(eps), n - 1, n - 2
    rows = []
    for d in range(1, m + 1):
        for low, high in product(range(d, m + 1), range(m - d + 1)):
            row = np.zeros(m + 1)
            row[low] -= 2 * e * length
            row[high] += base ** (2 * d) * others * length * (d - 2 * e)
            row[0] += base ** (2 * d) * max(0.0, others * d - 2 * e * length)
            rows.append(row)
    differences = []
    for start in range(m - degree):
        row = np.zeros(m + 1)
        for i in range(degree + 2):
            row[start + i] = (-1) ** i * comb(degree + 1, i) * base ** -(start + i)
        differences.append(row / np.abs(row).max())
    found = linprog(
        np.zeros(m + 1),
        np.array(rows),
        np.full(len(rows), -1e-6),
        np.array(differences) if differences else None,
        np.zeros(len(differences)) if differences else None,
        (1e-3, 1),
        method="highs",
    )
    return found.status == 0


@pytest.mark.parametrize(("n", "eps"), CASES[:3])
def test_the_least_degree_by_trying_all(n, eps):
    """Every degree below and a fine grid of bases in (0, 1): none is feasible; for the least degree some is."""
    grid = [k / 40 for k in range(4, 41)]
    for m in range(1, 9):
        degree, base = hamming.least_degree(m, n, eps)
        assert feasible(m, degree, float(base), n, eps), m
        assert not any(feasible(m, lower, b, n, eps) for lower in range(degree) for b in grid), m


def test_the_degree_is_about_an_eleventh_of_the_bits():
    assert [hamming.least_degree(m, 3, HALF)[0] for m in (20, 60, 100)] == [3, 7, 10]


def test_too_small_a_degree_gives_nothing():
    for base in (Fraction(7, 10), Fraction(4, 5), Fraction(9, 10)):
        assert hamming.certificate(12, 1, base, 3, HALF, "test") is None
    assert hamming.best_base(12, 1, 3, HALF) is None
    assert hamming.best_base(10, 1, 3, HALF) is not None


@pytest.mark.parametrize("m", [4, 16, 33, 100])
def test_the_certificate_says_what_was_asked(m):
    degree, base = hamming.least_degree(m, 3, HALF)
    certificate = hamming.certificate(m, degree, base, 3, HALF, "test")
    fields = json.loads(certificate.data)
    assert fields["parameters"] == {"m": m, "n": 3, "eps": "1/2", "rank": sum(comb(m, k) for k in range(degree + 1))}
    assert fields["rule"] == "hamming-head"
    assert Fraction(fields["witness"]["base"]) == base
    assert len(fields["witness"]["coefficients"]) == degree + 1
    assert certificate.verdict.assumed == []


# --------------------------------------------------------------------------------- floats and exact numbers


@pytest.mark.parametrize("case", [(m, k, *c) for m, k in ((1, 0), (3, 1), (6, 1), (8, 2), (20, 3)) for c in CASES])
@pytest.mark.parametrize("base", [Fraction(1, 2), Fraction(7, 10), Fraction(17, 20)])
def test_the_room_of_the_programme_is_that_of_its_function(case, base):
    """The largest room, in floats, is the room of the f that attains it, in rationals. Rooms above 1 are cut off; a
    negative room says only that there is none, for f may be scaled down."""
    m, degree, n, eps = case
    room, coefficients = margin(m, degree, base, n, eps)
    if room == -1:
        return
    basis = hamming._basis(m, degree, base).columns
    f = [Fraction(float(v)) for v in basis @ coefficients]
    assert min(f) > 0
    exact = float(room_of(f, base, n, eps))
    if room >= 1:
        assert exact > 1 - 1e-6
    elif room > 1e-6:
        assert float(max(f[:m])) == pytest.approx(1, abs=1e-6)
        assert exact == pytest.approx(room, abs=1e-5)
    else:
        assert exact < 1e-6


@st.composite
def functions(draw):
    """Near the best f, near the softmin head, or anything; (m, n, eps, base, coefficients of C(d, k))."""
    m = draw(st.integers(1, 9))
    n, eps = draw(st.sampled_from(CASES))
    base = Fraction(draw(st.integers(6, 19)), 20)
    degree = draw(st.integers(0, min(m, 3)))
    if draw(st.booleans()):
        coefficients = [(1 / base - 1) ** k for k in range(degree + 1)]
    else:
        coefficients = [Fraction(draw(st.integers(-2, 20)), 8) for _ in range(degree + 1)]
    nudge = draw(st.sampled_from([0, 1, 20, 1000]))
    if nudge:
        coefficients[draw(st.integers(0, degree))] *= 1 + Fraction(draw(st.sampled_from([-1, 1])), nudge + 1)
    return m, n, eps, base, coefficients


@settings(max_examples=200, deadline=None)
@given(functions())
def test_the_rule_accepts_what_has_room_and_none_has_more_than_the_programme(case):
    """Random f: the kernel accepts exactly those that are positive with room > 0; the programme's room is the largest
    of all f of this degree and base."""
    m, n, eps, base, coefficients = case
    f = values(base, coefficients, m)
    positive = min(f) > 0
    assert accepted(*case) is (positive and room_of(f, base, n, eps) > 0)
    if positive and min(f) > max(f) * hamming.LEAST * 2:
        best, _ = margin(m, len(coefficients) - 1, base, n, eps)
        assert min(1, float(room_of(f, base, n, eps))) <= max(best, 0) + 1e-5


@pytest.mark.parametrize(("n", "eps"), CASES)
def test_room_decides_whether_there_is_a_certificate(n, eps):
    """Both outcomes occur; in floats, zero room is left open."""
    seen = set()
    for m, degree, k in product((2, 4, 7, 10), (0, 1, 2), (8, 12, 14, 16, 18)):
        base = Fraction(k, 20)
        room, _ = margin(m, degree, base, n, eps)
        if abs(room) > 1e-6 and degree <= m:
            assert (hamming.certificate(m, degree, base, n, eps, "test") is not None) is (room > 0), (m, degree, base)
            seen.add(room > 0)
    assert seen == {True, False}


@pytest.mark.parametrize(("m", "degree"), [(1, 1), (6, 2), (30, 5), (100, 12), (200, 20)])
def test_the_basis_in_floats_is_the_exact_one(m, degree):
    """Orthonormal columns; the exact values are those of polynomials of degree k, within the accuracy of floats."""
    base = Fraction(17, 20)
    basis = hamming._basis(m, degree, base)
    columns, exact = basis.columns, basis.exactly()
    assert np.allclose(columns.T @ columns, np.eye(degree + 1), atol=1e-8)
    for k, row in enumerate(exact):
        for d, value in enumerate(row):
            assert float(base**d * value) == pytest.approx(columns[d, k], abs=1e-8)
        for start in range(degree - k):  # differences of order k + 1 vanish
            assert sum((-1) ** i * comb(k + 1, i) * row[start + i] for i in range(k + 2)) == 0


def test_random_functions_of_many_bits():
    """m = 60: the proposal stands up to small changes, and not to large ones."""
    random = Random(1)
    degree, base = hamming.least_degree(60, 3, HALF)
    witness = json.loads(hamming.certificate(60, degree, base, 3, HALF, "test").data)["witness"]
    found = [Fraction(c) for c in witness["coefficients"]]
    assert accepted(60, 3, HALF, base, found)
    assert not accepted(60, 3, HALF, base, [*found[:-1], 2 * found[-1]])
    assert not accepted(60, 3, HALF, base, found[:-1])
    for _ in range(20):
        small = [c * (1 + Fraction(random.randint(-9, 9), 10**14)) for c in found]
        assert accepted(60, 3, HALF, base, small) is (room_of(values(base, small, 60), base, 3, HALF) > 0)
