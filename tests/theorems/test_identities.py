"""The producer of polynomial identities: what it finds is an identity, and it finds none for a false statement."""

import json
import random
from fractions import Fraction

import pytest

from proofcheck.certificate import spell
from proofcheck.errors import ClaimFails, Undecided
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import Universal, nonnegative, positive, refutable
from proofcheck.kernel.exact import Poly
from proofcheck.kernel.rules.algebra import polynomial_identity
from proofcheck.theorems.bundle import cases
from proofcheck.theorems.identities import certify_cases, identity

A, B, C = (Poly.variable(name) for name in "abc")

TRUE = {
    "sum": Universal("", {"a": positive(A), "b": nonnegative(B)}, positive(A + B)),
    "product": Universal("", {"a": positive(A), "b": positive(B)}, positive(A * B)),
    "chain": Universal("", {"ab": positive(A - 2 * B), "bc": nonnegative(B - 3 * C)}, positive(A - 6 * C)),
    "cubic": Universal("", {"a": nonnegative(A - 1), "b": nonnegative(B - 1)}, nonnegative(A * A * B - 1)),
    "constant": Universal("", {}, positive(Poly.constant(Fraction(1, 7)))),
}
FALSE = {
    "strict": Universal("", {"a": nonnegative(A), "b": nonnegative(B)}, positive(A + B)),
    "product": Universal("", {"a": positive(A)}, positive(A * B)),
    "constant": Universal("", {}, positive(Poly.constant(0))),
}


def value(poly, point):
    total = Fraction(0)
    for monomial, coefficient in poly.terms.items():
        for name in monomial:
            coefficient = coefficient * point[name]
        total += coefficient
    return total


def contradicts(claim, terms, source):
    """At random points the sum of the terms is one and the same number, <= 0, and a strict product is in it if 0."""
    rows = refutable(claim)
    names = sorted({name for row in rows.values() for name in row.poly.variables()})
    seen = set()
    for _ in range(5):
        point = {name: Fraction(source.randint(-50, 50), source.randint(1, 9)) for name in names}
        total = Fraction(0)
        for term in terms:
            product = Fraction(term["coefficient"])
            assert product > 0
            for name in term["product"]:
                product *= value(rows[name].poly, point)
            total += product
        seen.add(total)
    assert len(seen) == 1
    (constant,) = seen
    strict = any(all(rows[name].strict for name in term["product"]) for term in terms)
    assert constant < 0 or (constant == 0 and strict)


@pytest.mark.parametrize("name", TRUE)
def test_true_statements(name):
    witness = identity(name, TRUE[name])
    polynomial_identity(TRUE[name], spell(witness), {})
    contradicts(TRUE[name], witness["terms"], random.Random(1))


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_have_none(name):
    with pytest.raises(ClaimFails, match=f"{name}: no combination of products of 4 conditions"):
        identity(name, FALSE[name])


def test_contradictory_hypotheses_are_not_a_theorem():
    with pytest.raises(Undecided, match="query vacuous-model: z3 found no rational point where the hypotheses hold"):
        identity("vacuous", Universal("", {"a": positive(A), "b": positive(-A)}, positive(B)))


CLAIMS = {
    "softmin": "theorem1",
    "softmin-full-rank": "theorem2",
    "approximate-identity": "lemma4",
    "two-tokens": "theorem6",
    "phase-transition": "theorem6",
    "domination-necessary": "domination",
    "domination-sufficient": "domination",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_case_of_every_claim_is_an_identity_by_evaluation(claim):
    """No polynomial arithmetic of the kernel's: five random rational points each."""
    witness = json.loads(cases(claim, CLAIMS[claim])[1].data)["witness"]["cases"]
    stated = statement(claim, {}).cases
    assert set(witness) == set(stated)
    for name, case in stated.items():
        contradicts(case, witness[name]["terms"], random.Random(name))
        point = {variable: Fraction(number) for variable, number in witness[name]["model"].items()}
        for row in case.rows.values():
            at = value(row.poly, point)
            assert at > 0 or (at == 0 and not row.strict)


def test_the_command_is_recorded_and_the_versions():
    fields = json.loads(certify_cases("two-tokens", "proofcheck here").data)
    assert fields["producer"]["command"] == "proofcheck here"
    assert "z3" in fields["producer"]
    assert fields["rule"] == "cases"
