"""Triples and sequences in words."""

from fractions import Fraction

from proofcheck.cli import explain
from proofcheck.triples import Triple

HALF = Fraction(1, 2)


def triple(x, y, z, own, low, high, additive=0):
    return Triple(x, y, z, *map(Fraction, (own, low, high, additive)))


def test_tokens():
    assert explain.token(0b0110, 4) == "0110"
    assert explain.token(0b0001, 4) == "1000"
    assert explain.token(1 << 95, 96) == "0" * 95 + "1"
    assert explain.token(1 << 96, 97) == f"{1 << 96:#x}"


def test_numbers():
    assert explain.number(Fraction(3)) == "3"
    assert explain.number(Fraction(1, 3)) == "1/3"
    assert explain.number(Fraction(10**12 + 1, 10**12)) == "1"
    assert explain.number(Fraction(2**2000)) == "about 2^2000"
    assert explain.number(-Fraction(10**20, 3)) == "-3.33333e+19"
    assert explain.ratio(Fraction(1), Fraction(0)) == "infinite"


def test_numbers_that_no_float_holds():
    assert explain.number(-Fraction(2**2000)) == "about -2^2000"
    assert explain.number(Fraction(1, 2**2000)) == "about 2^-2000"


def test_an_inequality():
    """n = 3, eps = 1/2: alpha(x,y) > (d-1) alpha(x,z) + (d/2-1) alpha(x,x) = 2*3 + 1/2 at d = 3."""
    lines = explain.triple(triple(0b111, 0, 0b111, 1, 6, 3), 3, 3, HALF, "ii")
    text = " ".join(" ".join(lines).split())
    assert "x = 111 <x,x> = 3" in text
    assert "y = 000 <x,y> = 0" in text
    assert "it shares 0 with x, z shares 3, a gap of 3" in text
    assert "any readout needs alpha(x,y) > 13/2, that is alpha(x,y)/alpha(x,z) > 13/6" in text
    assert "the kernel has 2: z drowns y" in text


def test_a_constant_in_denominators():
    lines = explain.triple(triple(0b111, 0, 0b110, 1, 1, 0, Fraction(1, 10)), 3, 3, HALF, "ii")
    text = " ".join(" ".join(lines).split())
    assert "alpha(x,x) = 1 + 1/10 added to denominators" in text
    assert "the kernel has 1: " in text


def test_zeros():
    own = " ".join(explain.triple(triple(0, 0, 0, 0, 0, 0), 3, 3, HALF, "i"))
    assert "alpha(x,x) = 0: the sequence (x, .., x) has denominator 0" in own
    low = " ".join(explain.triple(triple(0b11, 0b01, 0b11, 1, 0, 1), 3, 3, HALF, "i"))
    assert "alpha(x,y) = 0: y does not show in the output at x, and yet it makes the target 1 instead of 2" in low


def test_sequences():
    lines = explain.sequence((0b11, 0, 0b11), 2, Fraction(2, 3), 0, HALF)
    text = " ".join(" ".join(lines).split())
    assert text.startswith("a sequence of 3 tokens; the head fails at the first, x: x 11 <x,.> = 2 2 times 00")
    assert text.endswith("output 2/3, target 0: the error 2/3 is not below 1/2")
    assert explain.sequence((1, 0), 2, None, 0, HALF)[-1] == "  the denominator is 0 there"
