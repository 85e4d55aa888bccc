"""Motzkin multipliers exist exactly where the primal is unsatisfiable, and refute it by plain Fraction arithmetic."""

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofcheck.errors import ClaimFails
from proofcheck.kernel.claims.forms import Row
from proofcheck.kernel.exact import Poly, as_poly
from proofcheck.solvers import dual, z3_solver
from proofcheck.solvers.query import Query

NAMES = "uvw"

small = st.fractions(min_value=-4, max_value=4, max_denominator=3)


@st.composite
def systems(draw):
    """At most 8 linear conditions in at most 3 unknowns, as lists (coefficients, constant, strict)."""
    width = draw(st.integers(1, len(NAMES)))
    line = st.tuples(st.lists(small, min_size=width, max_size=width), small, st.booleans())
    return draw(st.lists(line, min_size=1, max_size=8))


def row(coefficients, constant, strict):
    return Row(
        sum((q * Poly.variable(v) for q, v in zip(coefficients, NAMES, strict=False)), as_poly(constant)), strict
    )


def rows_of(system):
    return {f"row{i}": row(*line) for i, line in enumerate(system)}


def refutes(system, multipliers):
    """Motzkin's condition, from the lists themselves and by Fractions alone."""
    if not multipliers or any(q <= 0 for q in multipliers.values()):
        return False
    width = len(system[0][0])
    total, constant, strict = [Fraction(0)] * width, Fraction(0), False
    for i, (coefficients, c, is_strict) in enumerate(system):
        q = multipliers.get(f"row{i}", Fraction(0))
        total = [t + q * a for t, a in zip(total, coefficients, strict=True)]
        constant += q * c
        strict = strict or (is_strict and q > 0)
    return not any(total) and (constant < 0 or (constant == 0 and strict))


@settings(max_examples=150, deadline=None)
@given(systems())
def test_multipliers_exist_if_and_only_if_the_primal_is_unsatisfiable(system):
    rows = rows_of(system)
    status = z3_solver.solve(Query("primal", rows, "unsat"), 30).status
    if status == "sat":
        with pytest.raises(ClaimFails, match="query random: no multipliers refute it"):
            dual.multipliers("random", rows, 30)
        return
    found = dual.multipliers("random", rows, 30)
    assert set(found) <= set(rows)
    assert refutes(system, found)
    assert all(q.denominator == 1 for q in found.values())
    assert gcd(*(int(q) for q in found.values())) == 1


@settings(max_examples=60, deadline=None)
@given(systems(), st.data())
def test_a_planted_contradiction_is_found(system, data):
    """Append the negated sum of positive multiples of the rows: the primal is unsatisfiable by construction."""
    weights = [data.draw(st.fractions(min_value=0, max_value=3, max_denominator=4)) for _ in system]
    assume(any(weights))
    width = len(system[0][0])
    total = [sum(q * line[0][j] for q, line in zip(weights, system, strict=True)) for j in range(width)]
    constant = sum(q * line[1] for q, line in zip(weights, system, strict=True))
    system = [*system, ([-t for t in total], -constant, True)]
    assert refutes(system, dual.multipliers("planted", rows_of(system), 30))


X = Poly.variable("u")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"a": Row(X, True), "b": Row(-X, False)}, {"a": 1, "b": 1}),  # 0 > 0 through a strict row
        (
            {"a": Row(2 * X - 1, False), "b": Row(-3 * X, False)},
            {"a": 3, "b": 2},
        ),  # 0 >= -3: scaled to coprime integers
        ({"a": Row(Fraction(1, 6) * X, True), "b": Row(Fraction(-1, 4) * X, False)}, {"a": 3, "b": 2}),
        ({"never": Row(as_poly(0), True)}, {"never": 1}),
        ({"never": Row(as_poly(-7), False)}, {"never": 1}),
        ({"idle": Row(X, True), "never": Row(as_poly(Fraction(-1, 9)), False)}, {"never": 1}),
    ],
)
def test_known_multipliers(rows, expected):
    assert dual.multipliers("known", rows, 30) == expected


@pytest.mark.parametrize(
    "rows",
    [
        {"a": Row(X, False), "b": Row(-X, False)},  # 0 >= 0 is no contradiction
        {"a": Row(X, True)},
        {"a": Row(as_poly(0), False)},
        {"a": Row(as_poly(1), True)},
        {"a": Row(X * X, True), "b": Row(1 - X, False)},  # products count as unknowns of their own
    ],
)
def test_claim_fails_where_nothing_refutes(rows):
    with pytest.raises(ClaimFails, match="query none: no multipliers refute it"):
        dual.multipliers("none", rows, 30)


def test_products_of_conditions_refute_what_the_conditions_alone_do_not():
    """u > 1, v > 1, uv <= 1: no linear combination refutes it; the product (u-1)(v-1) does."""
    u, v = Poly.variable("u"), Poly.variable("v")
    rows = {"u": Row(u - 1, True), "v": Row(v - 1, True), "uv": Row(1 - u * v, False)}
    with pytest.raises(ClaimFails):
        dual.multipliers("flat", rows, 30)
    products = dual.product_rows(rows, [("u",), ("v",), ("uv",), ("u", "v"), ("u", "uv")])
    assert {name: row.strict for name, row in products.items()} == {
        "u": True, "v": True, "uv": False, "u*v": True, "u*uv": False,
    }  # fmt: skip
    found = dual.multipliers("products", products, 30)
    total = sum((q * products[name].poly for name, q in found.items()), as_poly(0))
    assert not total.variables()
    constant = total.terms.get((), Fraction(0))
    assert constant < 0 or (constant == 0 and any(products[name].strict for name in found))
    assert "u*v" in found


@given(st.dictionaries(st.text("abc", min_size=1), st.fractions(min_value=Fraction(1, 999)), min_size=1, max_size=6))
def test_coprime_keeps_the_ray(values):
    scaled = dual.coprime(values)
    assert all(q.denominator == 1 and q > 0 for q in scaled.values())
    assert gcd(*(int(q) for q in scaled.values())) == 1
    assert len({scaled[name] / q for name, q in values.items()}) == 1
