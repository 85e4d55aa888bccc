"""Theorem 2: the factorisation, the rank, and the determinant by another road."""

from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.kernel.minip import overlap
from proofcheck.rank import exact_rank, primes
from proofcheck.theorems import theorem2

from .checking import of_claim, verified

WEIGHTS = st.fractions(Fraction(1, 60), Fraction(59, 60), max_denominator=60)


def matrix(m, w):
    return [[w ** overlap(x, z) for z in range(2**m)] for x in range(2**m)]


def determinant(rows):
    """Gauss over the rationals."""
    rows, product = [list(row) for row in rows], Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], product = rows[pivot], rows[k], -product
        product *= rows[k][k]
        for i in range(k + 1, len(rows)):
            scale = rows[i][k] / rows[k][k]
            rows[i] = [a - scale * b for a, b in zip(rows[i], rows[k], strict=True)]
    return product


@settings(max_examples=25)
@given(st.integers(1, 4), WEIGHTS)
def test_the_determinant_is_the_one_of_the_specification(m, w):
    assert determinant(matrix(m, w)) == (w - 1) ** (m * 2 ** (m - 1))


@settings(max_examples=20)
@given(st.integers(1, 4), WEIGHTS)
def test_the_kernel_is_a_kronecker_power_and_has_full_rank(m, w):
    power, one_bit = [[Fraction(1)]], [[Fraction(1), Fraction(1)], [Fraction(1), w]]
    for _ in range(m):
        power = [[a * b for a in row for b in small] for row in power for small in one_bit]
    assert power == matrix(m, w)
    assert exact_rank(power) == 2**m


@settings(max_examples=20)
@given(st.integers(1, 4), WEIGHTS)
def test_the_factorisation(m, w):
    assert theorem2.factorisation_holds(m, w)


def test_a_wrong_factorisation_is_noticed(monkeypatch):
    """Another overlap for the features than for the kernel."""
    real, calls = theorem2.overlap, iter(range(10**6))
    monkeypatch.setattr(theorem2, "overlap", lambda x, z: real(x, z) + (next(calls) == 70))
    assert not theorem2.factorisation_holds(3, Fraction(1, 2))
    assert not theorem2.factorisation_holds(3, Fraction(-1, 2))


@pytest.mark.parametrize("m", range(1, 9))
def test_certificates(tmp_path, m):
    shown = theorem2.show(m, Fraction(1, 6))
    verified(shown, tmp_path)
    (rank,) = of_claim(shown, "softmin-rank")
    assert rank.parameters == {"m": m, "w": "1/6", "rank": 2**m}
    assert len(of_claim(shown, "softmin-full-rank")) == 1
    assert shown.figures["rank"].startswith(f"2^{m} = {2**m} ")


@pytest.mark.parametrize("factor", [*islice(primes(), 2)])
@pytest.mark.parametrize("make", [lambda p: Fraction(1, p), lambda p: Fraction(p, p + 1), lambda p: Fraction(2, p + 2)])
def test_a_prime_that_divides_nothing_is_chosen(tmp_path, factor, make):
    verified(theorem2.show(2, make(factor)), tmp_path)


def test_weights_that_all_three_primes_divide(tmp_path):
    first, second, third = islice(primes(), 3)
    verified(theorem2.show(2, Fraction(1, first * second * third)), tmp_path)
