"""Theorem 1: the inequality, the head by the definition, and the temperatures that are accepted."""

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.errors import UsageError
from proofcheck.kernel.minip import Head, correct_up_to, output, overlap, target
from proofcheck.theorems import theorem1
from proofcheck.theorems.bundle import foundation

from .checking import of_claim, verified

HALF = Fraction(1, 2)
EPSILONS = st.fractions(Fraction(1, 50), HALF, max_denominator=200)


@given(st.integers(1, 40), st.fractions(0, HALF, max_denominator=500))
def test_the_inequality(d, w):
    assert d * w**d <= w


def test_the_inequality_is_sharp_where_it_must_be():
    assert 2 * HALF**2 == HALF
    assert 2 * Fraction(501, 1000) ** 2 > Fraction(501, 1000)


@given(st.data())
def test_error_bound_on_random_overlaps(data):
    """The output from overlaps alone: 0 <= error <= (n-1) w < eps for any w <= eps/n."""
    n, eps = data.draw(st.integers(1, 12)), data.draw(EPSILONS)
    w = eps / n * data.draw(st.fractions(Fraction(1, 100), 1, max_denominator=100))
    overlaps = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=n))
    weights = [w**level for level in overlaps]
    value = sum(a * b for a, b in zip(weights, overlaps, strict=True)) / sum(weights)
    assert 0 <= value - min(overlaps) <= (n - 1) * w < eps


@given(st.data())
def test_heads_on_random_sequences(data):
    m, n, eps = data.draw(st.integers(1, 10)), data.draw(st.integers(1, 6)), data.draw(EPSILONS)
    head = Head(m, lambda x, z: (eps / n) ** overlap(x, z), lambda x, z: Fraction(overlap(x, z)))
    sequence = data.draw(st.lists(st.integers(0, 2**m - 1), min_size=1, max_size=n))
    for i in range(len(sequence)):
        assert 0 <= output(head, sequence, i) - target(sequence, i) < eps


def test_a_warmer_head_fails_where_the_certificate_would_be_refused():
    """w far above eps/n: the hypothesis is there for a reason."""
    w = Fraction(9, 10)
    head = Head(2, lambda x, z: w ** overlap(x, z), lambda x, z: Fraction(overlap(x, z)))
    assert not correct_up_to(head, 3, HALF)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("eps", [HALF, Fraction(1, 3), Fraction(7, 100)])
def test_certificates(tmp_path, n, eps):
    shown = theorem1.show(n, eps)
    verified(shown, tmp_path)
    (warm,), (head,) = of_claim(shown, "softmin-temperature"), of_claim(shown, "softmin-head")
    tau = Fraction(warm.parameters["tau"])
    assert 0 <= tau - Fraction(log(n / eps)) < Fraction(1, 500)
    assert exp(-float(tau)) <= eps / n
    assert Fraction(head.parameters["w"]) == eps / n
    assert shown.figures["exhaustive"] == f"m={head.parameters['m']}, lengths 1..{n}, w={eps / n}"


def test_the_papers_temperature(tmp_path):
    """log 6 at n = 3, eps = 1/2, from above."""
    shown = theorem1.show()
    verified(shown, tmp_path)
    assert shown.figures["tau"] == "224/125 >= log(n/eps) = 1.791759"
    assert 0 < 224 / 125 - log(6) < 0.001


@settings(max_examples=30)
@given(st.integers(1, 1000), EPSILONS)
def test_the_least_temperature_offered_is_accepted_and_the_one_below_refused(n, eps):
    rested = foundation("softmin")[1]
    tau = theorem1.sufficient_temperature(n, eps)
    assert theorem1.temperature(n, eps, tau, rested).claim == "softmin-temperature"
    low = tau - Fraction(1, 500)
    if low > 0 and float(low) < log(n / eps) - 1e-9:
        with pytest.raises(UsageError, match=rf"--tau: .* do not show for {low}; the nearest .* {tau}$"):
            theorem1.temperature(n, eps, low, rested)


@pytest.mark.parametrize(("n", "m"), [(3, 4), (2, 6), (4, 2), (5, 2), (1, 5)])
def test_exhaustive_checks_of_the_size_asked_for(tmp_path, n, m):
    shown = theorem1.show(n, m=m)
    verified(shown, tmp_path)
    (head,) = of_claim(shown, "softmin-head")
    assert head.parameters == {"m": m, "n": n, "eps": "1/2", "w": f"1/{2 * n}"}


def test_no_exhaustive_check_is_reported_where_none_is_made():
    shown = theorem1.show(20)
    assert not of_claim(shown, "softmin-head")
    assert "exhaustive" not in shown.figures
    assert "exhaustive" not in shown.statement
