"""Strict JSON, exact numbers and rational polynomials.

A number is a JSON integer, or a string "p/q" in lowest terms with q >= 2: every rational has exactly
one spelling. Everything is ASCII. Floating-point numbers do not occur. The budgets below bound the
work that a hostile file can cause; they are far above what any shipped certificate needs.

Errors: `Malformed` (this is not a certificate; the place is named) and `Rejected` (it is one, and it
does not show its claim; the reason is given). Nothing else is raised on purpose.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import lcm

TYPE_CHECKING = False  # `typing` costs start-up time; type checkers read this name the same way
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T", dict[str, Any], list[Any], str)

MAX_BYTES = 4 << 20  # of one file
MAX_DEPTH = 16  # of nested lists and objects
MAX_VALUES = 400_000  # numbers, strings, lists and objects in one file
MAX_DIGITS = 1_000  # of a number as it is written
MAX_BITS = 14_000  # of a numerator or denominator that arises in a sum or product (always printable)
MAX_TERMS = 20_000  # of a polynomial, and of pairs of terms in one product
MAX_COMMON_BITS = 1 << 28  # of numbers brought to a common denominator, together
MAX_WORK = 100_000  # units of about 2 microseconds in one rule

_FRACTION = re.compile(r"(-?[1-9][0-9]*)/([1-9][0-9]*)", re.ASCII)
_HEX = re.compile(r"0|[1-9a-f][0-9a-f]*", re.ASCII)


class Malformed(Exception):  # noqa: N818 - a verdict on the input, not a fault
    """The input is not a well-formed certificate. The message names the place."""


class OverBudget(Malformed):
    """The input, or the work that it asks for, is larger than the budgets below allow."""


class Rejected(Exception):  # noqa: N818
    """The certificate is well-formed but does not establish its claim."""


def shown(value: object) -> str:
    """A short ASCII rendering of an offending value, for messages."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


# --------------------------------------------------------------------------------------------- JSON


def _integer_text(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise OverBudget(f"the number {shown(digits)} has more than {MAX_DIGITS} digits")
    if digits == "-0":
        raise Malformed("the number -0 is written 0")
    return int(digits)


def _no_float(text: str) -> object:
    raise Malformed(f'the number {shown(text)} is not exact: write an integer or a string "p/q" in lowest terms')


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise Malformed(f"the key {shown(key)} occurs twice in one object")
        record[key] = value
    return record


def load_json(data: bytes) -> object:
    """The JSON value in `data`: objects, lists, printable ASCII strings and integers only."""
    if len(data) > MAX_BYTES:
        raise OverBudget(f"the file has more than {MAX_BYTES} bytes")
    if not data.strip():
        raise Malformed("the file is empty")
    if not data.isascii():
        raise Malformed(f"byte {next(i for i, byte in enumerate(data) if byte > 127)} is not ASCII")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise OverBudget(f"the file holds more than {MAX_VALUES} values")
    try:
        value = json.loads(
            data.decode("ascii"),
            parse_int=_integer_text,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_no_duplicates,
        )
    except RecursionError:
        raise Malformed(f"the file nests deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON at character {error.pos}: {error.msg}") from None
    _vet(value, None, MAX_DEPTH)
    return value


def _vet(value: object, place: Any, depth: int) -> None:
    """Only the four allowed types, printable ASCII, bounded depth. `place` is (outer place, step) or None,
    and is spelled out only when it is needed: a long key over many values must not cost their product."""
    if depth == 0:
        raise Malformed(f"the file nests deeper than {MAX_DEPTH} levels")
    if type(value) is int:
        return
    if type(value) is str:
        if not (value.isascii() and value.isprintable()):
            raise Malformed(f"{_spelled_place(place)}: the string {shown(value)} is not printable ASCII")
    elif type(value) is list:
        for i, item in enumerate(value):
            _vet(item, (place, i), depth - 1)
    elif type(value) is dict:
        for key, item in value.items():
            if not (key.isascii() and key.isprintable()):
                raise Malformed(f"a key of {_spelled_place(place)}: the string {shown(key)} is not printable ASCII")
            _vet(item, (place, key), depth - 1)
    else:
        raise Malformed(f"{_spelled_place(place)}: {shown(value)} is not a number, string, list or object")


def _spelled_place(place: Any) -> str:
    text = ""
    while place is not None:
        place, step = place
        text = (f"[{step}]" if type(step) is int else f".{step[:40]}") + text
    return text.removeprefix(".") or "top"


def canonical(value: object) -> bytes:
    """Canonical bytes of a vetted value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


# -------------------------------------------------------------------------------- typed access, by place


def record(value: object, place: str, keys: Sequence[str]) -> dict[str, Any]:
    """`value` as an object with all of `keys` and no others."""
    fields, known = expect(value, place, dict), set(keys)
    for key in fields:
        if key not in known:
            raise Malformed(f"{place}: unknown field {shown(key)}")
    for key in keys:
        if key not in fields:
            raise Malformed(f"{place}: the field {key!r} is missing")
    return fields


def expect(value: object, place: str, kind: type[T]) -> T:
    """`value`, if it is exactly of the type dict, list or str."""
    if type(value) is not kind:
        raise Malformed(f"{place}: expected {_KINDS[kind]}, got {shown(value)}")
    return value


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}


def integer(value: object, place: str, low: int, high: int | None = None) -> int:
    """`value` as an integer with low <= value (<= high)."""
    if type(value) is not int or value < low or (high is not None and value > high):
        wanted = f"an integer >= {shown(low)}" if high is None else f"an integer from {shown(low)} to {shown(high)}"
        raise Malformed(f"{place}: expected {wanted}, got {shown(value)}")
    return value


def words(values: list[object], place: str) -> list[int]:
    """Sets as lower-case hexadecimal bit masks, strictly increasing (so that none is repeated)."""
    masks = []
    for i, value in enumerate(values):
        if not _HEX.fullmatch(expect(value, f"{place}[{i}]", str)):
            raise Malformed(f"{place}[{i}]: expected a lower-case hexadecimal number, got {shown(value)}")
        masks.append(int(str(value), 16))
        if i and masks[i] <= masks[i - 1]:
            raise Malformed(
                f"{place}[{i}]: words must increase, but {shown(value)} repeats or undercuts its predecessor"
            )
    return masks


def number(value: object, place: str) -> Fraction:
    """`value` as an exact rational: a JSON integer, or "p/q" in lowest terms with q >= 2."""
    if type(value) is int:
        return Fraction(value)
    if type(value) is not str:
        raise Malformed(f'{place}: expected an integer or a string "p/q", got {shown(value)}')
    match = _FRACTION.fullmatch(value)
    if match is None:
        raise Malformed(f'{place}: expected an integer or a string "p/q" in lowest terms, got {shown(value)}')
    if max(map(len, match.groups())) > MAX_DIGITS:
        raise OverBudget(f"{place}: a number has more than {MAX_DIGITS} digits")
    result = Fraction(*map(int, match.groups()))
    if spelled(result) != value:
        raise Malformed(f"{place}: {shown(value)} is not in lowest terms with a denominator >= 2")
    return result


def spelled(q: Fraction | int) -> int | str:
    """The one spelling of a rational in a certificate; the inverse of `number`."""
    q = Fraction(q)
    return q.numerator if q.denominator == 1 else f"{q.numerator}/{q.denominator}"


def bounded(q: Fraction) -> Fraction:
    """`q`, if it is within the budget for intermediate results."""
    if q.numerator.bit_length() > MAX_BITS or q.denominator.bit_length() > MAX_BITS:
        raise OverBudget(f"an intermediate result has more than {MAX_BITS} bits")
    return q


def cleared(values: Iterable[Fraction]) -> tuple[int, list[int]]:
    """The least common denominator, and the values times it. Refused before the numbers become large together."""
    values, common = list(values), 1
    for q in values:
        common = lcm(common, q.denominator)
        if common.bit_length() > MAX_BITS:
            raise OverBudget(f"a common denominator has more than {MAX_BITS} bits")
        if len(values) * common.bit_length() > MAX_COMMON_BITS:
            raise OverBudget("the check needs more work than the budget allows")
    return common, [q.numerator * (common // q.denominator) for q in values]


class Budget:
    """The work that one rule may do. An operation on numbers of b bits is charged 1 + (b/512)^2 units."""

    def __init__(self, work: int = MAX_WORK) -> None:
        self.left = work

    def charge(self, operations: int, bits: int) -> None:
        self.left -= (operations + 4) * (1 + (bits >> 9) ** 2)
        if self.left < 0:
            raise OverBudget("the check needs more work than the budget allows")


# -------------------------------------------------------------------------------------- polynomials


class Poly:
    """A polynomial with rational coefficients, as {monomial: coefficient != 0}.

    A monomial is the sorted tuple of its variables with repetition: a*p^2 is ("a", "p", "p").
    """

    __slots__ = ("terms",)

    def __init__(self, terms: dict[tuple[str, ...], Fraction]) -> None:
        self.terms = terms

    @staticmethod
    def constant(q: Fraction | int) -> Poly:
        return Poly({(): Fraction(q)} if q else {})

    @staticmethod
    def variable(name: str) -> Poly:
        return Poly({(name,): Fraction(1)})

    @staticmethod
    def of(parts: Iterable[tuple[Poly | Fraction | int, tuple[str, ...]]]) -> Poly:
        """The sum of coefficient * monomial over `parts`; a coefficient may itself be a polynomial."""
        terms: dict[tuple[str, ...], Fraction] = {}
        for coefficient, monomial in parts:
            for factor, q in as_poly(coefficient).terms.items():
                product = tuple(sorted(factor + monomial)) if factor else monomial
                terms[product] = bounded(terms.get(product, _ZERO) + q)
        return Poly({monomial: q for monomial, q in terms.items() if q})

    def __add__(self, other: Poly | Fraction | int) -> Poly:
        terms = dict(self.terms)
        for monomial, q in as_poly(other).terms.items():
            total = bounded(terms.get(monomial, _ZERO) + q)
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        if len(terms) > MAX_TERMS:
            raise OverBudget(f"a polynomial has more than {MAX_TERMS} terms")
        return Poly(terms)

    def __neg__(self) -> Poly:
        return Poly({monomial: -q for monomial, q in self.terms.items()})

    def __sub__(self, other: Poly | Fraction | int) -> Poly:
        return self + -as_poly(other)

    def __mul__(self, other: Poly | Fraction | int) -> Poly:
        factor = as_poly(other)
        if len(self.terms) * len(factor.terms) > MAX_TERMS:
            raise OverBudget(f"a product of polynomials has more than {MAX_TERMS} terms")
        terms: dict[tuple[str, ...], Fraction] = {}
        for left, p in self.terms.items():
            for right, q in factor.terms.items():
                monomial = tuple(sorted(left + right)) if left and right else left or right
                terms[monomial] = bounded(terms.get(monomial, _ZERO) + p * q)
        return Poly({monomial: q for monomial, q in terms.items() if q})

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Fraction | int) -> Poly:
        return -self + other

    def variables(self) -> set[str]:
        return {name for monomial in self.terms for name in monomial}

    def bits(self) -> int:
        """The size of the largest coefficient."""
        return max((q.numerator.bit_length() + q.denominator.bit_length() for q in self.terms.values()), default=0)

    def sign_at(self, numerators: Mapping[str, int], denominator: int) -> int:
        """An integer with the sign of the value where each variable is numerator/denominator, denominator > 0."""
        degree = max(map(len, self.terms), default=0)
        total = 0
        for monomial, coefficient in zip(self.terms, cleared(self.terms.values())[1], strict=True):
            part = coefficient * denominator ** (degree - len(monomial))
            for name in monomial:
                part *= numerators[name]
            total += part
        return total

    def __repr__(self) -> str:
        return " + ".join("*".join((str(q), *monomial)) for monomial, q in sorted(self.terms.items())) or "0"


_ZERO = Fraction(0)


def as_poly(value: Poly | Fraction | int) -> Poly:
    return value if isinstance(value, Poly) else Poly.constant(value)
