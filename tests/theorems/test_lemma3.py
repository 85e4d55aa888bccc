"""Lemma 3: random instances verify; witnesses become concrete heads that the definition of Min-IP accepts."""

import json
from fractions import Fraction
from itertools import product
from math import ceil

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofcheck.certificate import Checked
from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.claims.forms import Row
from proofcheck.kernel.claims.parameters import factor, least_gap
from proofcheck.kernel.exact import Poly
from proofcheck.kernel.minip import Head, correct_at, overlap
from proofcheck.solvers import z3_solver
from proofcheck.solvers.query import Query
from proofcheck.theorems.lemma3 import DELTA, Instance, grid, prove, prove_symbolic, refute

epsilons = st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=50).filter(bool)


@st.composite
def admissible(draw):
    n, eps = draw(st.integers(3, 40)), draw(epsilons)
    slack = draw(st.just(Fraction(0)) | st.fractions(min_value=0, max_value=9, max_denominator=30))
    return Instance(n, least_gap(n, eps) + slack, eps)


@st.composite
def too_small(draw):
    n, eps = draw(st.integers(3, 40)), draw(epsilons)
    part = draw(st.fractions(min_value=0, max_value=Fraction(99, 100), max_denominator=100).filter(bool))
    return Instance(n, part * least_gap(n, eps), eps)


def replay(checked: Checked, instance: Instance):
    """Re-checks the bytes, and returns the parameters and the witness that they hold."""
    verdict = check(Certificate(checked.data))
    assert verdict == checked.verdict
    assert verdict.assumed == []
    assert verdict.claim.startswith(f"instance n={instance.n}, d={instance.d}, eps={instance.eps}")
    assert f"<x,z> - <x,y> = {instance.d}" in verdict.claim
    fields = json.loads(checked.data)
    read = {key: Fraction(fields["parameters"][key]) for key in ("n", "d", "eps")}
    assert read == {"n": instance.n, "d": instance.d, "eps": instance.eps}
    return fields["parameters"], fields["witness"]


def concrete_head(witness, gap):
    """x = 1..1 (`gap` bits) and 0, y = 0, z = x and one bit more: <x,y> = 0, <x,x> = <x,z> = gap."""
    x, y, z = 2**gap - 1, 0, 2 ** (gap + 1) - 1
    assert (overlap(x, y), overlap(x, x), overlap(x, z)) == (0, gap, gap)
    values = {key: Fraction(value) for key, value in witness["assignment"].items()}
    alpha = dict(zip((x, y, z), (values[key] for key in "abc"), strict=True))
    table = dict(zip((x, y, z), (values[key] for key in "pqs"), strict=True))  # t = 0: no shift
    return Head(gap + 1, lambda _, token: alpha[token], lambda _, token: table[token]), (x, y, z)


def all_correct(head, tokens, n, eps):
    x = tokens[0]
    return all(correct_at(head, (x, *rest), 0, eps) for rest in product(tokens, repeat=n - 1))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(admissible())
def test_admissible_instances_are_proved_and_tight(instance):
    assert instance.admissible
    domination, tightness = prove(instance)
    mu = factor(instance.n, instance.d, instance.eps)
    assert mu >= 1
    assert mu == (instance.n - 2) * (instance.d - 2 * instance.eps) / (2 * instance.eps)

    parameters, _ = replay(domination.certificate, instance)
    assert set(parameters) == {"n", "d", "eps"}
    assert f"has alpha(x,y) > {mu} alpha(x,z)" in domination.certificate.verdict.claim

    parameters, witness = replay(tightness.certificate, instance)
    assert Fraction(parameters["delta"]) == DELTA
    assert parameters["inputs"] == ("xyz" if instance.n <= 24 else "YZM")
    b, c = (Fraction(witness["assignment"][key]) for key in "bc")
    assert mu * c < b < (mu + DELTA) * c
    assert f"yet alpha(x,y) < ({mu} + {DELTA}) alpha(x,z)" in tightness.certificate.verdict.claim


@settings(max_examples=40, deadline=None)
@given(too_small())
def test_below_the_admissible_gap_there_is_a_counter_model(instance):
    assert not instance.admissible
    outcome = refute(instance)
    parameters, witness = replay(outcome.certificate, instance)
    b, c = (Fraction(witness["assignment"][key]) for key in "bc")
    mu = factor(instance.n, instance.d, instance.eps)
    assert c > 0
    assert b <= Fraction(parameters["factor"]) * c
    assert Fraction(parameters["factor"]) == (mu if mu > 0 else Fraction(1, 1000))
    assert f"below the least admissible gap {least_gap(instance.n, instance.eps)}" in outcome.certificate.verdict.claim


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 5), epsilons, st.integers(1, 4))
def test_tightness_witnesses_are_heads(n, eps, gap):
    instance = Instance(n, Fraction(gap), eps)
    assume(instance.admissible)
    _, witness = replay(prove(instance)[1].certificate, instance)
    head, tokens = concrete_head(witness, gap)
    x, y, z = tokens
    assert all_correct(head, tokens, n, eps)
    assert head.alpha(x, y) < (factor(n, instance.d, eps) + DELTA) * head.alpha(x, z)
    assert min(head.alpha(x, token) for token in tokens) >= 0


def integer_gaps_too_small():
    """Every n <= 5 and integer gap with an inadmissible eps <= 1/2: d < 2eps(n-1)/(n-2) <= 2, so d = 1."""
    for n in (3, 4, 5):
        for eps in (Fraction(1, 2), Fraction(9, 20), Fraction(2, 5), Fraction(3, 8), Fraction(1, 3), Fraction(7, 25)):
            if Instance(n, Fraction(1), eps).d < least_gap(n, eps):
                yield n, eps


def test_all_counter_models_with_integer_gaps_are_heads():
    cases = list(integer_gaps_too_small())
    assert {n for n, _ in cases} == {3, 4, 5}
    everywhere = 0
    for n, eps in cases:
        instance = Instance(n, Fraction(1), eps)
        parameters, witness = replay(refute(instance).certificate, instance)
        head, tokens = concrete_head(witness, 1)
        x, y, z = tokens
        assert head.alpha(x, y) <= Fraction(parameters["factor"]) * head.alpha(x, z)
        assert head.alpha(x, z) > 0
        for sequence in [(x, *[y] * (n - 1)), (x, *[z] * (n - 1)), (x, y, *[z] * (n - 2))]:
            assert correct_at(head, sequence, 0, eps)
        assert all_correct(head, tokens, n, eps) or parameters["inputs"] == "YZM"
        everywhere += parameters["inputs"] == "xyz"
    assert everywhere, "no case is correct on every sequence"


def correctness(n, d, eps):
    """Correctness at x on every sequence over {x, y, z} of length n, written down anew (values shifted by t)."""
    a, b, c, p, q, s = (Poly.variable(name) for name in "abcpqs")
    rows = {"a": Row(a, False), "b": Row(b, False), "c.positive": Row(c, True)}
    for i, j in product(range(1, n + 1), range(n)):
        k = n - i - j
        if k >= 0:
            target = Fraction(0) if j else d
            weight = i * a + j * b + k * c
            error = i * (a * p) + j * (b * q) + k * (c * s) - target * weight
            rows[f"low{i},{j}"] = Row(eps * weight + error, True)
            rows[f"high{i},{j}"] = Row(eps * weight - error, True)
            rows[f"weight{i},{j}"] = Row(weight, True)
    return rows


def forced(n, d, eps, ratio):
    """Do all sequences force b > ratio c?"""
    at_most = Row(ratio * Poly.variable("c") - Poly.variable("b"), False)
    query = Query("forced", {**correctness(n, d, eps), "ratio": at_most}, "unsat").linearised()
    return z3_solver.solve(query, 30).status == "unsat"


@settings(max_examples=25, deadline=None)
@given(
    st.integers(3, 9), epsilons, st.fractions(min_value=0, max_value=1, max_denominator=40).filter(lambda q: 0 < q < 1)
)
def test_sequences_with_several_copies_of_x_force_a_factor_below_one(n, eps, part):
    """The remark in lemma3's docstring: b > mu f/(f+e) c just below the admissible gap, and not 1 % more."""
    low, high = 2 * eps * Fraction((n - 1) ** 2, n * (n - 2)), least_gap(n, eps)
    d = low + part * (high - low)
    e = 2 * eps - (n - 2) * d / (n - 1)
    f = n * (n - 2) * d / (n - 1) - 2 * eps * (n - 1)
    assert e > 0
    assert f > 0
    assert d > 2 * eps
    ratio = factor(n, d, eps) * f / (f + e)
    assert ratio < 1
    assert forced(n, d, eps, ratio)
    assert not forced(n, d, eps, ratio * Fraction(101, 100))


@settings(max_examples=15, deadline=None)
@given(st.integers(3, 8), epsilons, st.fractions(min_value=0, max_value=5, max_denominator=10))
def test_the_factor_is_sharp_on_all_sequences_and_on_the_three_inputs_alike(n, eps, slack):
    """On the independent rows: mu is forced from the admissible gap on, and mu + 1/100 is not."""
    d = least_gap(n, eps) + slack
    mu = factor(n, d, eps)
    assert forced(n, d, eps, mu)
    assert not forced(n, d, eps, mu + DELTA)


def test_the_admissible_gap_is_where_the_factor_reaches_one():
    for n, eps in product((3, 4, 9, 40), (Fraction(1, 2), Fraction(1, 7))):
        least = least_gap(n, eps)
        assert factor(n, least, eps) == 1
        assert Instance(n, least, eps).admissible
        assert not Instance(n, least - Fraction(1, 10**9), eps).admissible


def test_symbolic():
    outcome = prove_symbolic()
    verdict = check(Certificate(outcome.certificate.data))
    assert outcome.name == "gap-domination-symbolic"
    assert verdict.assumed == []
    assert "for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2)" in verdict.claim
    assert json.loads(outcome.certificate.data)["parameters"] == {}


def test_grid_lists_the_admissible_integer_gaps_and_no_others():
    found = list(grid(range(3, 6), 4, [Fraction(1, 2), Fraction(1, 3)]))
    expected = [
        (n, d, eps)
        for n in (3, 4, 5)
        for eps in (Fraction(1, 2), Fraction(1, 3))
        for d in (1, 2, 3, 4)
        if d * (n - 2) >= 2 * eps * (n - 1)
    ]
    assert [(i.n, i.d, i.eps) for i in found] == expected
    assert all(i.d >= ceil(least_gap(i.n, i.eps)) for i in found)


@pytest.mark.parametrize(
    "first", [Instance(4, Fraction(5, 2), Fraction(1, 3)), Instance(6, Fraction(9), Fraction(1, 10))]
)
def test_certificates_do_not_depend_on_what_was_asked_before(first):
    alone = [outcome.certificate.data for outcome in prove(first)]
    prove_symbolic()
    prove(Instance(3, Fraction(7, 3), Fraction(1, 2)))
    assert [outcome.certificate.data for outcome in prove(first)] == alone


def test_file_names_are_told_apart():
    instances = [
        Instance(n, d, e)
        for n in (3, 31)
        for d in (Fraction(5, 2), Fraction(52))
        for e in (Fraction(1, 3), Fraction(1, 31))
    ]
    labels = {instance.label for instance in instances}
    assert len(labels) == len(instances)
    assert Instance(3, Fraction(5, 2), Fraction(1, 3)).label == "n3-d5over2-eps1over3"
