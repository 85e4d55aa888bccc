"""Corollary 7: the radius without logarithms, and the closed form in high precision."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.errors import UsageError
from proofcheck.theorems import corollary7

from .checking import of_claim, verified


def closed_form(m, n, digits=80):
    """log2 of the bound, and M/(2s), in decimal arithmetic."""
    with localcontext() as context:
        context.prec = digits
        two = Decimal(2).ln()
        even, s = Decimal(m - m % 2), Decimal(n - 2).ln() / two
        delta = 2 * (even / (2 * s)).to_integral_value("ROUND_CEILING")
        # 2^s may be an exact root, where the ceiling is decided by rounding: settle it in integers
        j = int(delta) // 2
        if j > 1 and (n - 2) ** (2 * (j - 1)) >= 1 << int(even):
            delta -= 2
        if (n - 2) ** int(delta) < 1 << int(even):
            delta += 2
        rho = 2 * delta / even
        entropy = -(rho * rho.ln() + (1 - rho) * (1 - rho).ln()) / two if rho < 1 else Decimal(0)
        return even - even * entropy - ((even + 1) * delta).ln() / two - 1, int(delta)


@settings(max_examples=60)
@given(st.integers(8, 400), st.integers(4, 10**9))
def test_radius(m, n):
    even = m - m % 2
    delta = closed_form(m, n)[1]
    if 4 * delta > even:
        with pytest.raises(UsageError, match="Corollary 7 needs Delta <= M/4") as caught:
            corollary7.radius(m, n)
        least = int(str(caught.value).rsplit("n = ", 1)[1].split()[0])
        assert corollary7.radius(m, least) * 4 <= even
        with pytest.raises(UsageError):
            corollary7.radius(m, least - 1)
    else:
        assert corollary7.radius(m, n) == delta


@pytest.mark.parametrize("m", range(1, 8))
def test_too_few_bits(m):
    with pytest.raises(UsageError, match=f"so m >= 8; got {m}"):
        corollary7.radius(m, 10**9)


@pytest.mark.parametrize(
    ("m", "n"), [(8, 18), (9, 20), (64, 66), (65, 67), (101, 10**6), (128, 130), (200, 18), (512, 514), (1024, 10**9)]
)
def test_certificates_reach_the_closed_form(tmp_path, m, n):
    shown = corollary7.show(m, n)
    verified(shown, tmp_path)
    (rank,), (chain,), (code,) = (of_claim(shown, claim) for claim in ("feature-rank", "chain", "code"))
    bound, delta = closed_form(m, n)
    with localcontext() as context:
        context.prec = 60
        log2_value = Decimal(rank.parameters["value"]).ln() / Decimal(2).ln()
        assert log2_value >= bound
        assert f"log2 r >= {log2_value:.2f}" in shown.figures[f"m={m}, n={n}"]
    assert code.parameters["distance"] == chain.parameters["distance"] == delta
    weight, size = Fraction(chain.parameters["factor"]), code.parameters["size"]
    assert weight == (n - 2) ** (delta // 2)
    assert weight**2 >= 2 ** (m - m % 2) >= size
    assert size == -(-comb(m // 2 * 2, m // 2) // sum(comb(m // 2, a) ** 2 for a in range(delta)))


def test_growth(tmp_path):
    shown = corollary7.show()
    verified(shown, tmp_path)
    rates = [float(text.split(",")[1].split()[0]) for text in shown.figures.values()]
    assert len(rates) == len(corollary7.GROWTH)
    assert rates == sorted(rates)
    assert shown.uncovered
    assert "limit" in shown.uncovered[0]


def test_default_length(tmp_path):
    shown = corollary7.show(40)
    verified(shown, tmp_path)
    assert "m=40, n=42" in shown.figures
