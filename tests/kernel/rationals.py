"""Numbers as certificates spell them, and elimination: what the oracles share. Nothing here calls the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)


def rational(value: Any) -> Fraction:
    if type(value) is int:
        return Fraction(value)
    numerator, slash, denominator = value.partition("/")
    if not slash:
        raise ValueError(f"{value!r} is no rational of a certificate")
    return Fraction(int(numerator), int(denominator))


def whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no integer of a certificate")
    return value


def mu(n: int, d: Fraction | int, eps: Fraction) -> Fraction:
    return (n - 2) * (d - 2 * eps) / (2 * eps)


def rank_of(matrix: list[list[Fraction]]) -> int:
    """Gaussian elimination over the rationals."""
    rows, rank = [list(row) for row in matrix], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            scale = rows[i][column] / rows[rank][column]
            if scale:
                rows[i] = [one - scale * two for one, two in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
