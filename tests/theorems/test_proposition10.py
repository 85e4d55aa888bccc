"""Proposition 10: sizes for every m, and the bound with e from above and below."""

from decimal import Decimal, localcontext
from math import comb

import pytest

from proofcheck.theorems import proposition10

from .checking import of_claim, verified


def test_sizes_for_every_m():
    """s = floor(m / log2 m) is the integer with m^s <= 2^m < m^(s+1); and the radius is legal."""
    for m in range(32, 4097):
        s, size, h = proposition10.sizes(m)
        assert m**s <= 1 << m < m ** (s + 1), m
        assert (size, h) == (m - s - 2, (m - s - 2) // 2)
        assert s + 1 < h, m


def test_powers_of_two_are_exact():
    assert [proposition10.sizes(1 << k)[0] for k in range(5, 13)] == [(1 << k) // k for k in range(5, 13)]


@pytest.mark.parametrize("ms", [[32], [33, 40, 63, 64, 65], [100, 128, 255, 256, 1000], [2048, 4095, 4096]])
def test_certificates_reach_the_bound(tmp_path, ms):
    shown = proposition10.show(ms)
    verified(shown, tmp_path)
    claims, found = of_claim(shown, "multilevel-code"), of_claim(shown, "code")
    assert [c.parameters for c in claims] == [{"m": m} for m in ms]
    for m, code in zip(ms, found, strict=True):
        s, size, h = proposition10.sizes(m)
        assert code.parameters["distance"] == s + 1
        ball = sum(comb(h, a) * comb(size - h, a) for a in range(s + 1))
        assert code.parameters["size"] == -(-comb(size, h) // ball)
        with localcontext() as context:
            context.prec = 50
            e = Decimal(1).exp()
            bound = Decimal(2) ** size / ((size + 1) * (s + 1) * (e * size / s) ** (2 * s))
            assert Decimal(code.parameters["size"]) >= bound


def test_default_and_long_ranges(tmp_path):
    shown = proposition10.show()
    verified(shown, tmp_path)
    assert list(shown.figures) == ["m=32", "m=64", "m=256", "m=1024"]
    long = proposition10.show(list(range(32, 60)))
    verified(long, tmp_path / "long")
    assert long.statement == "instances: m = 32..59"
    assert long.figures == {}
    assert len(long.uncovered) == 1


@pytest.mark.slow
def test_many_m(tmp_path):
    """The kernel's comparison holds for all values to 1,100 and for every seventh from there to 4,096."""
    for chosen in (range(32, 1100), range(1100, 4097, 7)):
        verified(proposition10.show(list(chosen)), tmp_path / str(chosen.start))
