"""Theorem 6: what the induction says, computed; the bound for given m; the rank-one head."""

from fractions import Fraction
from math import comb, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofcheck.kernel.minip import Head, correct_up_to, failures, overlap
from proofcheck.theorems import theorem6

from .checking import of_claim, verified

HALF = Fraction(1, 2)


@given(st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(20 * k, 20 * k + 80))))
def test_packing_holds(pair):
    k, h = pair
    total = sum(comb(h, a) ** 2 for a in range(5 * k))
    assert 16**k * total <= comb(2 * h, h)
    assert theorem6.packing_holds(h, k)


def test_packing_needs_its_hypothesis():
    """Just below h = 20 k it may fail, and it does for a much smaller h."""
    assert not theorem6.packing_holds(10, 1)
    assert not theorem6.packing_holds(25, 2)
    for h, k in [(10, 1), (25, 2), (19, 1), (39, 2)]:
        assert theorem6.packing_holds(h, k) == (
            -(-comb(2 * h, h) // sum(comb(h, a) ** 2 for a in range(5 * k))) >= 16**k
        )


@given(st.integers(1, 30).flatmap(lambda k: st.tuples(st.just(k), st.integers(20 * k, 1000))))
def test_the_inequality_of_the_induction(pair):
    """P(h,k), and its two consequences for the binomials."""
    k, h = pair
    assert 16**k * 4**h * (2 * h + 1) <= 9 ** (h - 5 * k + 1)


@given(st.integers(1, 200))
def test_binomials(h):
    assert (2 * h + 1) * comb(2 * h, h) >= 4**h
    assert sum(comb(h, a) * 3 ** (h - a) for a in range(h + 1)) == 4**h


def test_the_last_comparison():
    """4 floor(M/40) - 1 >= m/10 - 5 for all m: 39 and 40 more repeat the pattern."""
    for m in range(1, 2001):
        assert 4 * ((m - m % 2) // 40) - 1 >= Fraction(m, 10) - 5


@pytest.fixture(scope="module")
def bounds(tmp_path_factory):
    found = {}
    for m in (1, 2, 39, 40, 41, 168, 169, 200, 400):
        shown = theorem6.show(m)
        verified(shown, tmp_path_factory.mktemp(f"m{m}"))
        (rank,) = of_claim(shown, "feature-rank")
        assert (rank.parameters["m"], rank.parameters["n"], rank.parameters["eps"]) == (m, 3, "1/2")
        found[m] = rank.parameters["value"]
    return found


def test_the_bound_for_given_m(bounds):
    for m, value in bounds.items():
        k = m // 2 * 2 // 40
        assert value >= Fraction(2) ** (4 * k - 1)
        assert log2(value) >= m / 10 - 6
        if k:
            h = m // 2
            size = -(-comb(2 * h, h) // sum(comb(h, a) ** 2 for a in range(5 * k)))
            formula = Fraction(size) / (1 + Fraction(size - 1, 16**k))
            assert value - 1 <= formula < value
        else:
            assert value == 1


def test_the_bound_is_monotone(bounds):
    values = [bounds[m] for m in sorted(bounds)]
    assert values == sorted(values)
    assert bounds[40] == bounds[41]
    assert bounds[168] == bounds[169]


def test_universal_certificates_do_not_depend_on_m(bounds):
    first, second = theorem6.show(39), theorem6.show(200)
    for claim in ("phase-transition", "two-tokens"):
        (a,), (b,) = of_claim(first, claim), of_claim(second, claim)
        assert a.data == b.data
    assert first.statement.startswith("universal: all m >= 1")


@pytest.mark.parametrize("m", range(1, 5))
def test_the_rank_one_head_is_correct_up_to_length_2_and_not_at_3(m):
    head = Head(m, lambda x, z: Fraction(1), lambda x, z: Fraction(2 * overlap(x, z) - overlap(x, x)))
    assert correct_up_to(head, 2, Fraction(1, 10**9))
    assert (next(failures(head, [3], HALF), None) is None) == (m == 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (10**12 - 1, "999999999999"), (2**40, "2^40 (and less than twice that)"), (2**41 - 1, "2^40 (and less")],
)
def test_large_numbers_in_words(value, text):
    assert theorem6.in_words(value).startswith(text)


@pytest.mark.parametrize("m", [9_999, 10_000])
def test_ten_thousand(tmp_path, m):
    shown = theorem6.show(m)
    verified(shown, tmp_path)
    (rank,) = of_claim(shown, "feature-rank")
    assert rank.parameters["value"] >= 2 ** (4 * (m // 2 * 2 // 40) - 1)
