"""Numbers for a reader, rounded to the side on which the statement stays true."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log2


def down(value: int) -> str:
    """A lower bound, large ones rounded down."""
    return str(value) if value < 10**9 else f"2^{floor(100 * (log2(value) - 1e-9)) / 100:.2f}"


def up(value: int) -> str:
    """An upper bound, large ones rounded up."""
    exact = value.bit_length() - 1
    if value == 1 << exact and value >= 10**9:
        return f"2^{exact}"
    return str(value) if value < 10**9 else f"2^{ceil(100 * (log2(value) + 1e-9)) / 100:.2f}"


def decimal(value: Fraction, places: int = 4) -> str:
    """A number that has so many decimal places."""
    return f"{float(value):.{places}f}"


def above(value: Fraction) -> str:
    """Rounded up to four decimal places."""
    return decimal(Fraction(ceil(value * 10**4), 10**4))


def below(value: Fraction) -> str:
    """Rounded down to four decimal places."""
    return decimal(Fraction(floor(value * 10**4), 10**4))


def size(count: int) -> str:
    """Bytes for a reader, to four digits."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"
