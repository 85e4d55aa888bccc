"""Strict numbers, strict JSON and polynomials, against slow and obvious oracles."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofcheck.kernel.exact import (
    MAX_BITS,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_TERMS,
    Budget,
    Malformed,
    Poly,
    bounded,
    canonical,
    integer,
    load_json,
    number,
    record,
    shown,
    spelled,
)

# ------------------------------------------------------------------------------------------------- numbers

rationals = st.fractions() | st.builds(Fraction, st.integers(), st.integers(1, 10**60)) | st.integers().map(Fraction)
small = st.fractions(-4, 4, max_denominator=6)


def refusal(call: Callable[..., object], *arguments: Any) -> str:
    """The reason for which a call is refused as malformed; empty if it is not."""
    try:
        call(*arguments)
    except Malformed as error:
        return str(error) or "no reason"
    return ""


@given(rationals)
def test_spelling_round_trip(q: Fraction) -> None:
    """`number` undoes `spelled`, and the spelling survives JSON."""
    assert number(spelled(q), "here") == q
    assert number(load_json(json.dumps([spelled(q)]).encode())[0], "here") == q  # type: ignore[index]


@given(rationals)
def test_integers_are_spelled_as_integers(q: Fraction) -> None:
    """A rational is an integer exactly if its spelling is one; else it is p/q in lowest terms with q >= 2."""
    text = spelled(q)
    if isinstance(text, int):
        assert q == text
    else:
        p, r = map(int, text.split("/"))
        assert (math.gcd(p, r), r >= 2, Fraction(p, r)) == (1, True, q)


@given(st.text("0123456789-+/ _.e\u0661\u0967\uff11\u00b2", max_size=8))
def test_a_string_is_read_only_if_it_is_the_spelling(text: str) -> None:
    """Every string but the one spelling of a rational is refused, with the place named."""
    reason = refusal(number, text, "some.place")
    if not reason:
        assert spelled(number(text, "some.place")) == text
        return
    assert reason.startswith("some.place: ")
    parts = text.split("/")
    if len(parts) == 2 and all(part.isdecimal() and part.isascii() and part[0] != "0" for part in parts):
        assert math.gcd(int(parts[0]), int(parts[1])) > 1 or parts[1] == "1"


@given(rationals, st.data())
def test_every_other_spelling_is_refused(q: Fraction, data: st.DataObject) -> None:
    """Unreduced, padded, signed, spaced and other-alphabet spellings of a rational are refused."""
    p, r = q.numerator, q.denominator
    k = data.draw(st.integers(2, 50))
    arabic = str.maketrans("0123456789", "".join(chr(0x0660 + i) for i in range(10)))
    others: list[Any] = [f"{k * p}/{k * r}", f"{-p}/-{r}", f"{p}/0{r}", f" {p}/{r}", f"{p}/{r} ", f"{p}/{r}\n"]
    others += [f"{p} /{r}", f"{p}/+{r}", f"{p}/{r}.0", f"{p}.0", f"{p}e0", f"{p}_0/{r}", f"{p}/{r}/1", [p, r], {"p": p}]
    others += [
        f"{p}/{r}".translate(arabic),
        f"0{abs(p)}/{r}",
        f"+{abs(p)}/{r}",
        f"{p}/0",
        f"{p}/-{r}",
        str(p),
        f"{p}/1",
    ]
    with pytest.raises(Malformed, match=r"^here: "):
        number(data.draw(st.sampled_from(others)), "here")


@pytest.mark.parametrize("value", [True, False, None, 1.0, 0.0, float("nan"), Fraction(1), b"1/2", (1, 2)])
def test_other_types_are_no_numbers(value: object) -> None:
    """Booleans and floats are not numbers, nor is anything that merely equals one."""
    with pytest.raises(Malformed, match=r"^here: expected an integer or a string"):
        number(value, "here")
    with pytest.raises(Malformed, match=r"^here: expected an integer >= -5"):
        integer(value, "here", -5)


@given(st.integers(), st.integers(-100, 100), st.none() | st.integers(-100, 100))
def test_integer_in_range(value: int, low: int, high: int | None) -> None:
    """`integer` accepts exactly the integers of its range, ends included."""
    inside = low <= value and (high is None or value <= high)
    reason = refusal(integer, value, "here", low, high)
    assert (reason == "") is inside
    if inside:
        assert integer(value, "here", low, high) == value
    else:
        assert reason.startswith("here: expected an integer ")


def test_digit_budget() -> None:
    """The longest numbers are read, the next longer ones refused; none meets Python's own limit."""
    longest = "9" * MAX_DIGITS
    assert number(f"{longest}/{10 ** (MAX_DIGITS - 1)}", "x").numerator == int(longest)
    assert load_json(longest.encode()) == int(longest)
    for text in (f"{longest}9/2", f"2/{longest}9", f"-{longest}/2"):
        with pytest.raises(Malformed, match=f"^x: a number has more than {MAX_DIGITS} digits$"):
            number(text, "x")
    for text in (longest + "9", "-" + longest):
        with pytest.raises(Malformed, match=f"has more than {MAX_DIGITS} digits"):
            load_json(text.encode())


@given(st.integers(0, 2), st.integers(0, 2))
def test_bit_budget(above: int, below: int) -> None:
    """`bounded` accepts exactly what has at most MAX_BITS bits above and below the line, whatever the sign."""
    p, q = 2 ** (MAX_BITS - 1 + above) - 1, 2 ** (MAX_BITS - 2 + below)
    fits = p.bit_length() <= MAX_BITS and q.bit_length() <= MAX_BITS
    for value in (Fraction(p, q), Fraction(-p, q)):
        if fits:
            assert bounded(value) == value
        else:
            with pytest.raises(Malformed, match=f"more than {MAX_BITS} bits"):
                bounded(value)


def test_work_budget_runs_out() -> None:
    """The budget is finite, and larger numbers use it up sooner."""

    def charges(bits: int) -> int:
        budget, count = Budget(), 0
        with pytest.raises(Malformed, match="more work than the budget allows"):  # noqa: PT012
            while count < 10**6:
                budget.charge(100, bits)
                count += 1
        return count

    assert charges(10_000) < charges(1_000) < charges(1) < 10**6


@given(st.recursive(st.integers() | st.text() | st.booleans() | st.none() | st.floats(), st.lists, max_leaves=8))
def test_values_in_messages_are_short_printable_ascii(value: object) -> None:
    """Whatever a file contains, a message shows it in at most 60 printable ASCII characters."""
    text = shown(value)
    assert len(text) <= 60
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.parametrize("value", [10**5_000, -(10**5_000), 2**128], ids=["large", "negative", "129 bits"])
def test_huge_integers_in_messages(value: int) -> None:
    """An integer too long for Python to print is described by its size."""
    assert shown(value) == f"an integer of {value.bit_length()} bits"


# ---------------------------------------------------------------------------------------------------- JSON

ascii_text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=10)
allowed = st.recursive(
    st.integers() | ascii_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_text, inner, max_size=4),
    max_leaves=20,
)
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def depth(value: Any) -> int:
    items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return 1 + max(map(depth, items), default=0)


def is_allowed(value: Any) -> bool:
    """The four types, printable ASCII, bounded depth: written anew."""
    if isinstance(value, dict):
        return depth(value) <= MAX_DEPTH and all(is_allowed(part) for item in value.items() for part in item)
    if isinstance(value, list):
        return depth(value) <= MAX_DEPTH and all(map(is_allowed, value))
    if isinstance(value, str):
        return all(32 <= ord(character) <= 126 for character in value)
    return type(value) is int


@given(allowed, st.sampled_from([None, 0, 3]), st.booleans())
def test_load_json_agrees_with_json(value: Any, indent: int | None, sort: bool) -> None:
    """On allowed values, however they are laid out, `load_json` and `json.loads` agree, types included."""
    assume(depth(value) <= MAX_DEPTH)
    data = json.dumps(value, indent=indent, sort_keys=sort).encode()
    assert load_json(data) == json.loads(data) == value
    assert repr(load_json(data)) == repr(json.loads(data))


@given(anything)
def test_load_json_accepts_exactly_what_is_allowed(value: Any) -> None:
    """Of the values that JSON can say, exactly the allowed ones are read."""
    data = json.dumps(value).encode()
    try:
        assert load_json(data) == value
        assert is_allowed(value)
    except Malformed:
        assert not is_allowed(value)


@given(st.binary(max_size=30) | st.text('{}[]",:0123456789.eE-+truefalsn \\u', max_size=30).map(str.encode))
def test_load_json_on_any_bytes(data: bytes) -> None:
    """Arbitrary bytes are read as `json.loads` reads them, or refused as malformed; nothing else happens."""
    try:
        value = load_json(data)
    except Malformed:
        return
    assert value == json.loads(data)
    assert is_allowed(value)


@given(st.dictionaries(ascii_text, st.integers(), min_size=1, max_size=4), st.data())
def test_duplicate_keys_are_refused(fields: dict[str, int], data: st.DataObject) -> None:
    """A key that occurs twice is refused at any place, however it is escaped, with equal or other values."""
    key = data.draw(st.sampled_from(sorted(fields)))
    members = [f"{json.dumps(name)}: {value}" for name, value in fields.items()]
    escaped = '"' + "".join(f"\\u{ord(character):04x}" for character in key) + '"'
    twin = f"{data.draw(st.sampled_from([json.dumps(key), escaped]))}: {data.draw(st.integers())}"
    members.insert(data.draw(st.integers(0, len(members))), twin)
    text = "{" + ", ".join(members) + "}"
    for whole in (text, f"[[{text}]]", f'{{"outer": {text}}}'):
        with pytest.raises(Malformed, match=r"occurs twice in one object$"):
            load_json(whole.encode())


@pytest.mark.parametrize("levels", [1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 50, 900, 1_100, 100_000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_depth_budget(levels: int, brackets: str) -> None:
    """Exactly MAX_DEPTH levels are read, the innermost value included."""
    opening = brackets[0] if brackets == "[]" else '{"a":'
    inner = brackets if brackets == "{}" else "[]"
    data = (opening * (levels - 1) + inner + brackets[1] * (levels - 1)).encode()
    if levels <= MAX_DEPTH:
        assert depth(load_json(data)) == levels
    else:
        with pytest.raises(Malformed, match=f"^the file nests deeper than {MAX_DEPTH} levels$"):
            load_json(data)


@given(allowed)
def test_canonical_bytes(value: Any) -> None:
    """Canonical bytes are ASCII, say the same, and do not depend on how the value was written."""
    assume(depth(value) <= MAX_DEPTH)
    data = canonical(value)
    assert data.isascii()
    assert load_json(data) == value
    assert canonical(load_json(json.dumps(value, indent=2).encode())) == data


@given(allowed, allowed)
def test_different_values_have_different_canonical_bytes(one: Any, two: Any) -> None:
    """Canonical bytes tell any two values apart."""
    assert (canonical(one) == canonical(two)) is (one == two)


@given(st.dictionaries(ascii_text, st.integers(), max_size=4), st.lists(ascii_text, max_size=4, unique=True))
def test_record_wants_exactly_its_keys(fields: dict[str, int], keys: list[str]) -> None:
    """Neither an unknown nor a missing field passes."""
    if set(fields) == set(keys):
        assert record(fields, "place", keys) == fields
    else:
        with pytest.raises(Malformed, match=r"^place: (unknown field|the field .* is missing$)"):
            record(fields, "place", keys)


# -------------------------------------------------------------------------------------------- polynomials

NAMES = ("x", "y", "z")
monomials = st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names)))
term_lists = st.lists(st.tuples(monomials, small), max_size=5)
points = st.fixed_dictionaries(dict.fromkeys(NAMES, small))


def build(terms: list[tuple[tuple[str, ...], Fraction]]) -> Poly:
    """The sum of the terms, by the operations of Poly."""
    total = Poly.constant(0)
    for monomial, q in terms:
        term = Poly.constant(q)
        for name in monomial:
            term = term * Poly.variable(name)
        total = total + term
    return total


polys = term_lists.map(build)


def collected(terms: list[tuple[tuple[str, ...], Fraction]]) -> dict[tuple[int, ...], Fraction]:
    """Oracle: exponent vectors in a dense table, zeros dropped at the end."""
    table = {exponents: Fraction(0) for exponents in product(range(7), repeat=len(NAMES))}
    for monomial, q in terms:
        table[tuple(monomial.count(name) for name in NAMES)] += q
    return {exponents: q for exponents, q in table.items() if q}


def exponents_of(poly: Poly) -> dict[tuple[int, ...], Fraction]:
    return {tuple(monomial.count(name) for name in NAMES): q for monomial, q in poly.terms.items()}


@given(term_lists)
def test_addition_collects_terms(terms: list[tuple[tuple[str, ...], Fraction]]) -> None:
    """The terms of a sum are those of the dense table: like terms together, zeros gone, monomials sorted."""
    poly = build(terms)
    assert exponents_of(poly) == collected(terms)
    assert all(list(monomial) == sorted(monomial) for monomial in poly.terms)


@given(term_lists, term_lists)
def test_multiplication_is_convolution(
    one: list[tuple[tuple[str, ...], Fraction]], two: list[tuple[tuple[str, ...], Fraction]]
) -> None:
    """The terms of a product are the collected pairwise products."""
    pairs = [(left + right, p * q) for left, p in one for right, q in two]
    assert exponents_of(build(one) * build(two)) == collected(pairs)


@given(polys, polys, polys)
def test_ring_laws(f: Poly, g: Poly, h: Poly) -> None:
    """Equality is equality of terms, so each law is tested as an identity of dictionaries."""
    zero, one = Poly.constant(0), Poly.constant(1)
    laws = [
        (f + g, g + f),
        ((f + g) + h, f + (g + h)),
        (f * g, g * f),
        ((f * g) * h, f * (g * h)),
        (f * (g + h), f * g + f * h),
        (f + zero, f),
        (f * one, f),
        (f * zero, zero),
        (f - f, zero),
        (f - g, f + -g),
        (-Poly(f.terms) + f, zero),
        (2 * f, f + f),
        (1 - f, one - f),
        (1 + f, f + one),
    ]
    for number_of_law, (left, right) in enumerate(laws):
        assert left.terms == right.terms, number_of_law


def value(poly: Poly, point: dict[str, Fraction]) -> Fraction:
    """Oracle: the obvious sum of products."""
    return sum((q * math.prod(point[name] for name in monomial) for monomial, q in poly.terms.items()), Fraction(0))


@given(polys, polys, small, points)
def test_evaluation_is_a_homomorphism(f: Poly, g: Poly, q: Fraction, point: dict[str, Fraction]) -> None:
    """Values of sums, products and scalings are those of the values."""
    assert value(f + g, point) == value(f, point) + value(g, point)
    assert value(f - g, point) == value(f, point) - value(g, point)
    assert value(f * g, point) == value(f, point) * value(g, point)
    assert value(q * f, point) == q * value(f, point)
    assert value(q - f, point) == q - value(f, point)


def sign(q: Fraction | int) -> int:
    return (q > 0) - (q < 0)


@given(polys, points, st.integers(1, 60))
def test_sign_at_a_point(f: Poly, point: dict[str, Fraction], multiple: int) -> None:
    """The sign over a common denominator is the sign of the value, whichever common denominator is taken."""
    denominator = multiple * math.lcm(*(q.denominator for q in point.values()))
    numerators = {name: int(q * denominator) for name, q in point.items()}
    assert sign(f.sign_at(numerators, denominator)) == sign(value(f, point))
    assert sign((f - value(f, point)).sign_at(numerators, denominator)) == 0


@given(st.lists(st.tuples(polys | small | st.integers(-3, 3), monomials), max_size=5))
def test_sum_of_parts(parts: list[tuple[Poly | Fraction | int, tuple[str, ...]]]) -> None:
    """`Poly.of` is the sum of coefficient times monomial, by the operations of the ring."""
    total = Poly.constant(0)
    for coefficient, monomial in parts:
        total = total + coefficient * Poly({monomial: Fraction(1)})
    assert Poly.of(parts).terms == total.terms


@given(polys)
def test_variables_and_bits(f: Poly) -> None:
    """`variables` is what evaluation needs, and `bits` bounds every coefficient."""
    assert f.variables() == {name for name in NAMES if any(name in monomial for monomial in f.terms)}
    assert sign(f.sign_at(dict.fromkeys(f.variables(), 1), 1)) == sign(sum(f.terms.values(), Fraction(0)))
    for q in f.terms.values():
        assert max(abs(q.numerator), q.denominator) < 2 ** f.bits()
    assert (f.bits() == 0) is (not f.terms)


@given(polys, polys)
def test_operations_leave_their_arguments_alone(f: Poly, g: Poly) -> None:
    """Polynomials behave as values."""
    before = (dict(f.terms), dict(g.terms))
    _ = (f + g, f * g, f - g, -f, f.sign_at(dict.fromkeys(NAMES, 1), 1))
    assert (f.terms, g.terms) == before


@settings(max_examples=5)
@given(st.integers(1, 3))
def test_term_budgets(extra: int) -> None:
    """Sums and products of too many terms are refused before they are worked out."""
    wide = Poly({(f"v{i}",): Fraction(1) for i in range(MAX_TERMS)})
    other = Poly({(f"w{i}",): Fraction(1) for i in range(extra)})
    assert len((wide + wide).terms) == MAX_TERMS
    with pytest.raises(Malformed, match=f"^a polynomial has more than {MAX_TERMS} terms$"):
        _ = wide + other
    assert len((wide * Poly.variable("x")).terms) == MAX_TERMS
    with pytest.raises(Malformed, match=f"^a product of polynomials has more than {MAX_TERMS} terms$"):
        _ = wide * (other + Poly.variable("x"))


def test_intermediate_values_are_bounded() -> None:
    """Sums and products stop at the bit budget instead of growing."""
    large = Fraction(2 ** (MAX_BITS - 1))
    x = Poly.variable("x")
    for explode in (
        lambda: (large * x) * (large * x),
        lambda: large * x + large * x,
        lambda: x * large + large * x,
        lambda: (x * (1 / large)) * (x * (1 / large)),
        lambda: x * (1 / large) + x * (1 / (large - 1)),
    ):
        with pytest.raises(Malformed, match=f"^an intermediate result has more than {MAX_BITS} bits$"):
            explode()
