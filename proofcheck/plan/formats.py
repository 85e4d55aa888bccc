"""Number formats: how many bits a coordinate takes, and exact rounding.

A binary format has the numbers k 2^e with |k| < 2^t, e >= `least` (the exponent of the least subnormal number), and
|k 2^e| <= `largest`. `rounded` takes a rational to the nearest of them, ties to even k, as IEEE 754 does; beyond the
largest number it says None (infinity, or nan, or the largest number, as the hardware likes). An integer format has
2^p values whatever they stand for: its grid is the designer's choice, so there is nothing to round to.

Whatever the format, a coordinate has at most 2^p values: that is all that Theorem 9 uses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from proofcheck.errors import UsageError


@dataclass(frozen=True)
class Format:
    """`bits` p of storage; for binary formats the significand of t bits, and the exponents of the least subnormal and
    of the least normal number."""

    name: str
    bits: int
    significand: int = 0
    least: int = 0
    largest: Fraction = Fraction(0)

    @property
    def binary(self) -> bool:
        return self.significand > 0

    @property
    def unit(self) -> Fraction:
        """The unit roundoff u = 2^-t: |rounded(v) - v| <= u |v| for normal v."""
        return Fraction(1, 1 << self.significand)

    @property
    def subnormal(self) -> Fraction:
        """The least positive number."""
        return power(self.least)

    @property
    def normal(self) -> Fraction:
        """The least number from which the relative error is at most u."""
        return power(self.least + self.significand - 1)

    def rounded(self, value: Fraction) -> Fraction | None:
        """The nearest number of the format, ties to even; None beyond the largest."""
        if not self.binary:
            raise ValueError(f"{self.name} is a set of {self.bits}-bit codes, not of numbers")
        size = abs(value)
        exponent = max(self.least, floor_log2(size) - self.significand + 1) if size else self.least
        scaled = size / power(exponent)
        whole, rest = divmod(scaled.numerator, scaled.denominator)
        twice = 2 * rest
        if twice > scaled.denominator or (twice == scaled.denominator and whole % 2):
            whole += 1
        found = whole * power(exponent)
        if found > self.largest:
            return None
        return found if value >= 0 else -found


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(value: Fraction) -> int:
    """The integer e with 2^e <= value < 2^(e+1), value > 0."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if power(e) <= value else e - 1


def _ieee(name: str, bits: int, significand: int) -> Format:
    """p = 1 + (p - t) + (t - 1) bits, with the exponent's greatest code kept for infinity and nan."""
    bias = (1 << (bits - significand - 1)) - 1
    largest = (2 - power(1 - significand)) * power(bias)
    return Format(name, bits, significand, 2 - bias - significand, largest)


FORMATS = {
    f.name: f
    for f in (
        _ieee("fp64", 64, 53),
        _ieee("fp32", 32, 24),
        _ieee("fp16", 16, 11),
        _ieee("bf16", 16, 8),
        Format("fp8", 8, 4, -9, Fraction(448)),  # e4m3fn: no infinity, one nan, hence 448 and not 240
        _ieee("fp8-e5m2", 8, 3),
        Format("int8", 8),
        Format("int4", 4),
    )
}


def named(name: str, option: str = "--precision") -> Format:
    """A format by name, or `intP` for any 1 <= P <= 64."""
    if name in FORMATS:
        return FORMATS[name]
    digits = name.removeprefix("int")
    if name.startswith("int") and re.fullmatch("[1-9][0-9]?", digits, re.ASCII) and int(digits) <= 64:
        return Format(name, int(digits))
    raise UsageError(
        f"{option}: expected one of {', '.join(FORMATS)}, or intP with 1 <= P <= 64 bits, got {name[:40]!r}"
    )
