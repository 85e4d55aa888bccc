"""One function per certificate kind: does this witness establish this statement?

Each rule returns the list of what it checked, or raises `Rejected` with the reason. TRUST.md has the
soundness argument of each, under the rule's name. A rule knows kinds of statement, never theorems.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from .claims import Existential, Statement, Universal
from .exact import Budget, Malformed, Rejected, as_poly, expect, number, record, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEGREE = 8  # factors in one product of hypotheses


def _assignment(statement: Statement, value: object, place: str) -> None:
    """A value for every variable of the statement and for no other, at which all its rows hold."""
    variables = sorted(statement.variables())
    fields = record(value, place, variables)
    point = {name: number(fields[name], f"{place}.{name}") for name in variables}
    denominator = lcm(*(q.denominator for q in point.values()))
    numerators = {name: q.numerator * (denominator // q.denominator) for name, q in point.items()}
    budget, size = Budget(), max(map(int.bit_length, [denominator, *numerators.values()]))
    for name, row in statement.rows.items():
        budget.charge(sum(map(len, row.poly.terms)), size)
        if not row.holds(numerators, denominator):
            raise Rejected(f"{place}: the condition {name}, {shown(str(row))}, fails at this point")


def _contradiction(statement: Statement, terms: list[tuple[str, object, list[str]]], model: object) -> list[str]:
    """Positive multiples of products of conditions, as (place, coefficient, names), that sum to a contradiction;
    and, lest the statement be vacuous, a model of its hypotheses."""
    if not isinstance(statement, Universal):
        raise Rejected("this rule shows universal statements, and the claim is one of existence")
    rows = statement.refutable()
    total, strict, budget = as_poly(0), False, Budget()
    for place, value, names in terms:
        coefficient = number(value, place)
        if coefficient <= 0:
            raise Rejected(f"{place}: the multiplier of an inequality must be positive, got {shown(value)}")
        product, all_strict = as_poly(coefficient), True
        for name in names:
            if expect(name, place, str) not in rows:
                raise Rejected(f"{place}: the claim has no condition named {shown(name)}")
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
    _assignment(statement, model, "witness.model")
    return [
        f"{len(terms)} terms sum to the contradiction {'0 > 0' if value == 0 else '0 <= ' + shown(str(value))}",
        f"the {len(statement.rows)} hypotheses hold together at the model",
    ]


def farkas(statement: Statement, witness: object) -> list[str]:
    """Universal: positive multipliers of conditions that sum, monomial by monomial, to a contradiction."""
    fields = record(witness, "witness", ["multipliers", "model"])
    multipliers = expect(fields["multipliers"], "witness.multipliers", dict)
    terms = [(f"witness.multipliers.{name}", value, [name]) for name, value in multipliers.items()]
    return _contradiction(statement, terms, fields["model"])


def polynomial_identity(statement: Statement, witness: object) -> list[str]:
    """Universal: positive multiples of products of conditions that sum to a contradiction."""
    fields = record(witness, "witness", ["terms", "model"])
    terms = []
    for i, value in enumerate(expect(fields["terms"], "witness.terms", list)):
        place = f"witness.terms[{i}]"
        term = record(value, place, ["coefficient", "product"])
        names = expect(term["product"], f"{place}.product", list)
        if len(names) > MAX_DEGREE:
            raise Malformed(f"{place}.product: more than {MAX_DEGREE} factors")
        terms.append((place, term["coefficient"], names))
    return _contradiction(statement, terms, fields["model"])


def model(statement: Statement, witness: object) -> list[str]:
    """Existential: a point that meets every condition."""
    if not isinstance(statement, Existential):
        raise Rejected("this rule shows statements of existence, and the claim is universal")
    _assignment(statement, record(witness, "witness", ["assignment"])["assignment"], "witness.assignment")
    return [f"the {len(statement.rows)} conditions hold at the assignment"]


RULES: dict[str, Callable[[Statement, object], list[str]]] = {
    "farkas": farkas,
    "polynomial-identity": polynomial_identity,
    "model": model,
}
