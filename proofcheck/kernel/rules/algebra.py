"""Rules for statements about polynomial conditions over the reals, and for exact comparisons of numbers."""

from __future__ import annotations

from fractions import Fraction

from ..claims.forms import Cases, Consequence, Existential, Exponential, Row, Universal, refutable, variables
from ..exact import Budget, Malformed, Rejected, as_poly, bounded, cleared, expect, integer, number, record, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Used = dict[str, Any]  # claim name -> statement, for the certificates that this one rests on

MAX_DEGREE = 8  # factors in one product of hypotheses


def _point(rows: dict[str, Row], value: object, place: str) -> None:
    """A value for every variable of the rows and for no other, at which all of them hold."""
    names = variables(rows)
    fields = record(value, place, names)
    point = {name: number(fields[name], f"{place}.{name}") for name in names}
    denominator, whole = cleared(point.values())
    numerators = dict(zip(point, whole, strict=True))
    budget, size = Budget(), max(map(int.bit_length, [denominator, *whole]))
    for name, row in rows.items():
        common, coefficients = cleared(row.poly.terms.values())
        largest = max(map(int.bit_length, [common, *coefficients]))
        budget.charge(sum(1 + len(monomial) for monomial in row.poly.terms), size + largest)
        if not row.holds(numerators, denominator):
            raise Rejected(f"{place}: the condition {name}, {shown(str(row))}, fails at this point")


def _contradiction(
    claim: Universal, terms: list[tuple[str, object, list[str]]], model: object, place: str = "witness.model"
) -> list[str]:
    """Positive multiples of products of conditions, as (place, coefficient, names), that sum to a contradiction;
    and, lest the statement be vacuous, a model of its hypotheses."""
    rows = refutable(claim)
    total, strict, budget = as_poly(0), False, Budget()
    for at, value, names in terms:
        coefficient = number(value, at)
        if coefficient <= 0:
            raise Rejected(f"{at}: the multiplier of an inequality must be positive, got {shown(value)}")
        product, all_strict = as_poly(coefficient), True
        for name in names:
            if expect(name, at, str) not in rows:
                raise Rejected(f"{at}: the claim has no condition named {shown(name)}")
            factor = rows[name].poly
            budget.charge(len(product.terms) * len(factor.terms), product.bits() + factor.bits())
            product *= factor
            all_strict = all_strict and rows[name].strict
        budget.charge(len(product.terms) + len(total.terms), total.bits())
        total += product
        strict = strict or all_strict
    for monomial, q in sorted(total.terms.items()):
        if monomial:
            raise Rejected(f"the sum does not cancel: {'*'.join(monomial)} keeps the coefficient {shown(str(q))}")
    value = total.terms.get((), Fraction(0))
    if value > 0:
        raise Rejected(f"the sum is the positive constant {shown(str(value))}: no contradiction")
    if value == 0 and not strict:
        raise Rejected("the sum is 0 >= 0: no strict condition takes part, so there is no contradiction")
    _point(claim.rows, model, place)
    return [
        f"{len(terms)} terms sum to the contradiction {'0 > 0' if value == 0 else '0 <= ' + shown(str(value))}",
        f"the {len(claim.rows)} hypotheses hold together at the model",
    ]


def _products(value: object, place: str) -> list[tuple[str, object, list[str]]]:
    terms = []
    for i, item in enumerate(expect(value, place, list)):
        at = f"{place}[{i}]"
        term = record(item, at, ["coefficient", "product"])
        names = expect(term["product"], f"{at}.product", list)
        if len(names) > MAX_DEGREE:
            raise Malformed(f"{at}.product: more than {MAX_DEGREE} factors")
        terms.append((at, term["coefficient"], names))
    return terms


def farkas(claim: Universal, witness: object, used: Used) -> list[str]:
    """Positive multipliers of conditions that sum, monomial by monomial, to a contradiction."""
    fields = record(witness, "witness", ["multipliers", "model"])
    multipliers = expect(fields["multipliers"], "witness.multipliers", dict)
    terms = [(f"witness.multipliers.{name[:40]}", value, [name]) for name, value in multipliers.items()]
    return _contradiction(claim, terms, fields["model"])


def polynomial_identity(claim: Universal, witness: object, used: Used) -> list[str]:
    """Positive multiples of products of conditions that sum to a contradiction."""
    fields = record(witness, "witness", ["terms", "model"])
    return _contradiction(claim, _products(fields["terms"], "witness.terms"), fields["model"])


def cases(claim: Cases, witness: object, used: Used) -> list[str]:
    """A polynomial identity, with its model, for every case of the statement."""
    fields = record(record(witness, "witness", ["cases"])["cases"], "witness.cases", list(claim.cases))
    checked = []
    for name, case in claim.cases.items():
        place = f"witness.cases.{name}"
        part = record(fields[name], place, ["terms", "model"])
        try:
            _contradiction(case, _products(part["terms"], f"{place}.terms"), part["model"], f"{place}.model")
        except Rejected as error:
            raise Rejected(f"case {name} ({case.sentence}): {error}") from None
        checked.append(f"case {name}: {case.sentence}")
    return checked


def model(claim: Existential, witness: object, used: Used) -> list[str]:
    """A point that meets every condition."""
    _point(claim.rows, record(witness, "witness", ["assignment"])["assignment"], "witness.assignment")
    return [f"the {len(claim.rows)} conditions hold at the assignment"]


def exponential(claim: Exponential, witness: object, used: Used) -> list[str]:
    """A partial sum of the exponential series, whose terms are positive, that reaches the bound."""
    terms = integer(record(witness, "witness", ["terms"])["terms"], "witness.terms", 1, 500)
    budget, term, total = Budget(), Fraction(1), Fraction(0)
    for k in range(1, terms + 1):
        budget.charge(4, total.denominator.bit_length())
        total, term = bounded(total + term), bounded(term * claim.tau / k)
    if total < claim.bound:
        raise Rejected(f"the first {terms} terms of exp({claim.tau}) do not reach {claim.bound}")
    return [f"the first {terms} terms of exp({claim.tau}) reach {claim.bound}"]


def consequence(claim: Consequence, witness: object, used: Used) -> list[str]:
    """An exact comparison with the statements that the claim rests on; the witness is empty."""
    record(witness, "witness", [])
    reason = claim.holds(used)
    if reason is not None:
        raise Rejected(reason)
    return ["the exact comparison holds"]
