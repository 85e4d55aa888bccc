"""Parameters that several claims share: ranges are checked here, and the gap's factor is defined here."""

from __future__ import annotations

from fractions import Fraction

from ..exact import Malformed, integer, number, shown, spelled, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HALF = Fraction(1, 2)


def least_gap(n: int, eps: Fraction) -> Fraction:
    """The least admissible gap 2 eps (n-1)/(n-2)."""
    return 2 * eps * (n - 1) / (n - 2)


def factor(n: int, d: Fraction, eps: Fraction) -> Fraction:
    """mu(d) = (n-2)(d-2eps)/(2eps); at least 1 exactly when d is admissible."""
    return (n - 2) * (d - 2 * eps) / (2 * eps)


def epsilon(fields: dict[str, Any]) -> Fraction:
    eps = number(fields["eps"], "parameters.eps")
    if not 0 < eps <= HALF:
        raise Malformed(f"parameters.eps: expected 0 < eps <= 1/2, got {spelled(eps)}")
    return eps


def positive_number(value: object, place: str) -> Fraction:
    q = number(value, place)
    if q <= 0:
        raise Malformed(f"{place}: expected a positive number, got {spelled(q)}")
    return q


def admissible_gap(fields: Any, admissible: bool) -> tuple[int, Fraction, Fraction]:
    """n, d, eps with the gap d on the admissible side, or on the other."""
    n = integer(fields["n"], "parameters.n", 3)
    d = positive_number(fields["d"], "parameters.d")
    eps = epsilon(fields)
    least = least_gap(n, eps)
    if (d >= least) is not admissible:
        side = "at least" if admissible else "below"
        raise Malformed(f"parameters.d: expected a gap {side} {spelled(least)}, got {spelled(d)}")
    return n, d, eps


def integer_of(value: object, place: str, bits: int) -> int:
    if type(value) is not int or value.bit_length() > bits:
        raise Malformed(f"{place}: expected an integer of at most {bits} bits, got {shown(value)}")
    return value


def token_of(value: object, place: str, m: int) -> int:
    (token,) = words([value], place)
    if token >> m:
        raise Malformed(f"{place}: expected a token of {m} bits, got {shown(value)}")
    return token
