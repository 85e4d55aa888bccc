"""The constructive refuter: success where it is guaranteed, honesty where it is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest

from proofcheck import chains, codes, families, refuter, triples
from proofcheck.domination import linear_programme
from proofcheck.errors import UsageError
from proofcheck.heads import ClosedForm, Head
from proofcheck.kernel import minip
from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.minip import overlap
from proofcheck.refuter import NoneFound, Outside, Refutation
from proofcheck.theorems.bundle import foundation
from proofcheck.triples import Triple

HALF = Fraction(1, 2)
ACTIVATIONS = {
    "elu1": lambda y: np.where(y > 0, y + 1, np.exp(np.minimum(y, 0))),
    "relu": lambda y: np.maximum(y, 0) + 2.0**-10,
    "exp": np.exp,
    "sqrelu": lambda y: np.maximum(y, 0) ** 2 + 2.0**-10,
}


def random_features(name, m, rank, seed=0, additive=Fraction(0)):
    """activation(W bits), with weights of queries and keys drawn from the seed."""
    source, activation = np.random.default_rng(seed), ACTIVATIONS[name]
    left, right = (source.normal(size=(m, rank)) * 3 / np.sqrt(m) for _ in range(2))
    return Head(name, m, rank, lambda b: activation(b @ left), lambda b: activation(b @ right), additive)


def softmin(m, w):
    return ClosedForm("softmin", m, 1 << m, None, None, value=lambda x, z: w ** overlap(x, z))


def rechecked(found, head):
    """The kernel accepts the certificate, the tokens and the values are the head's, and the triple breaks B0."""
    known = {use.id: use.report for use in [foundation("domination-necessary")[1]]}
    certificate = Certificate(found.certificate.data)
    verdict = check(certificate, known)
    assert (verdict.assumed, certificate.claim) == ([], "kernel-refutation")
    t = found.triple
    assert [t.xx, t.xy, t.xz] == head.exact(t.x, [t.x, t.y, t.z])
    assert [certificate.parameters[name] for name in "xyz"] == [f"{token:x}" for token in (t.x, t.y, t.z)]
    assert max(t.x, t.y, t.z) < 1 << head.m
    assert t.breaks(found.n, found.eps) == found.condition
    return True


# ---------------------------------------------------------------------------------------- guaranteed


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize(("m", "rank"), [(12, 3), (24, 8), (64, 8), (64, 64), (256, 8), (256, 64)])
def test_guaranteed(name, m, rank):
    """Below the family's bound success is announced and comes, with |G|^2 + O(m) kernel evaluations."""
    head, said = random_features(name, m, rank), []
    found = refuter.refute(head, announce=lambda family, guaranteed: said.append((family, guaranteed)))
    assert isinstance(found, Refutation)
    assert said == [(found.family, True)]
    assert found.guaranteed
    assert rank < found.family.bound
    assert found.evaluations <= found.family.code.size**2 + 3 * m
    assert rechecked(found, head)


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("m", [64, 256])
def test_guaranteed_at_1024_features(name, m):
    """The same at 1,024 features, by a family of more than 1,024 words."""
    head = random_features(name, m, 1024)
    found = refuter.refute(head)
    assert isinstance(found, Refutation)
    assert found.guaranteed
    assert found.family.code.size > 1024
    assert rechecked(found, head)


@pytest.mark.parametrize(("n", "eps"), [(4, HALF), (7, Fraction(1, 3)), (100, Fraction(1, 10))])
def test_guaranteed_at_other_lengths(n, eps):
    """Longer sequences and smaller errors."""
    head = random_features("exp", 24, 8)
    found = refuter.refute(head, n, eps)
    assert found.guaranteed
    assert rechecked(found, head)


def test_bound_is_that_of_the_mathematics():
    """|G|^2 over the sum of w^-2, pair by pair; a family with a pair at distance 1 guarantees nothing at n = 3."""
    code = codes.random_greedy(16, 8, 3, seed=2, limit=12)
    weights = chains.weights(3, HALF, 8)
    total = sum(1 / weights[(s & ~u).bit_count()] ** 2 for s, u in product(code.words, repeat=2))
    assert families.bound(code, 3, HALF) == Fraction(code.size**2) / total
    assert families.bound(codes.Code(4, 2, (3, 5)), 3, HALF) == 0
    assert families.bound(codes.Code(4, 2, (3, 3)), 3, HALF) == 0


def test_own_family_and_rank():
    """A code that is given is used; a smaller rank that is known turns a search into a guarantee."""
    code = codes.random_greedy(32, 16, 5, seed=1, limit=40)
    constant = np.ones((32, 200))
    head = Head("wide", 32, 200, lambda b: np.abs(b[:, :1] + 1.0) @ constant[:1], lambda b: np.ones((len(b), 200)))
    found = refuter.refute(head, rank=1, family=code)
    assert found.guaranteed
    assert found.family.code is code
    assert rechecked(found, head)
    assert not refuter.refute(head, family=code).guaranteed


def test_false_rank_is_a_bug_that_is_reported():
    """A correct kernel with a rank that is claimed too small: the miss is no silent failure."""
    with pytest.raises(refuter.MissedGuaranteeError, match="rank 1 must break"):
        refuter.refute(softmin(12, Fraction(1, 6)), rank=1)


# -------------------------------------------------------------------------------------- beyond the bound


@pytest.mark.parametrize(("m", "rank"), [(12, 8), (12, 64), (24, 64), (24, 1024)])
def test_random_features_beyond_the_bound(m, rank):
    """Random features are refuted although nothing is promised."""
    head = random_features("elu1", m, rank)
    found = refuter.refute(head)
    assert isinstance(found, Refutation)
    assert not found.guaranteed
    assert rechecked(found, head)


def test_correct_kernels_are_not_refuted():
    """Nothing is found, and the ratio reached says how near it came; the budget is kept."""
    for head, budget in ((softmin(8, Fraction(1, 6)), 20_000), (softmin(40, Fraction(1, 6)), 50_000)):
        found = refuter.refute(head, budget=budget)
        assert isinstance(found, NoneFound)
        assert 0 < found.best_ratio < 1
        assert 0.9 * budget < found.evaluations <= budget + 100
        x, y, z = found.best
        t = Triple(x, y, z, *head.exact(x, [x, y, z]))
        assert float(t.required(3, HALF) / t.xy) == pytest.approx(found.best_ratio)


@pytest.mark.parametrize("h", [2, 4, 7])
def test_a_violation_that_only_one_weight_has(h):
    """The kernel is correct but for queries of one weight, where it is constant: several weights find it."""

    def value(x, z):
        return Fraction(1) if x.bit_count() == h else Fraction(1, 6) ** overlap(x, z)

    head = ClosedForm("odd", 10, 1 << 10, None, None, value=value)
    found = refuter.refute(head, budget=100_000)
    assert isinstance(found, Refutation)
    assert found.triple.x.bit_count() == h
    assert rechecked(found, head)


def test_self_term():
    """A kernel with a huge own value breaks only the sharper inequality: (Kd/L - 2eps) a."""

    def value(x, z):
        return Fraction(1, 6) ** overlap(x, z) * (10**9 if x == z else 1)

    head = ClosedForm("own", 12, 1 << 12, None, None, value=value)
    found = refuter.refute(head, budget=100_000)
    assert isinstance(found, Refutation)
    t = found.triple
    assert t.xy > (t.gap - 1) * t.xz or t.z == t.x
    assert rechecked(found, head)


# ----------------------------------------------------------------------------------- zeros, signs, constants


def test_negative_values_are_outside():
    """A signed kernel is named with the pair and the exact value, not refuted."""
    source = np.random.default_rng(0)
    left, right = source.normal(size=(24, 16)), source.normal(size=(24, 16))
    head = Head("signed", 24, 16, lambda b: b @ left, lambda b: b @ right)
    found = refuter.refute(head)
    assert isinstance(found, Outside)
    assert found.value == head.exact(found.x, [found.z])[0] < 0


def test_vanishing_values_refute():
    """relu features without an offset vanish at some tokens: (i), with a constant in the denominator too."""
    source = np.random.default_rng(0)
    left, right = source.normal(size=(24, 3)), source.normal(size=(24, 3)) - 2
    for additive in (Fraction(0), Fraction(1, 10)):
        head = Head("relu0", 24, 3, lambda b: np.maximum(b @ left, 0), lambda b: np.maximum(b @ right, 0), additive)
        found = refuter.refute(head)
        assert found.condition == "i"
        assert rechecked(found, head)


def test_zero_head():
    """All features zero: the denominator vanishes."""
    head = Head("zero", 8, 2, lambda b: np.zeros((len(b), 2)), lambda b: np.zeros((len(b), 2)))
    found = refuter.refute(head)
    assert found.condition == "i"
    assert rechecked(found, head)


def test_constant_in_the_denominator():
    """The constant is part of the claim: another one, another certificate."""
    plain, added = (random_features("exp", 24, 8, additive=c) for c in (Fraction(0), Fraction(1, 1000)))
    one, two = refuter.refute(plain), refuter.refute(added)
    assert rechecked(one, plain)
    assert rechecked(two, added)
    assert one.certificate.parameters["additive"] == 0
    assert two.certificate.parameters["additive"] == "1/1000"


def test_what_is_found_fails_for_every_readout():
    """The three tokens of a refutation have no readout at all: linear programming over all their sequences."""
    for seed in range(6):
        head = random_features("elu1", 16, 6, seed)
        t = refuter.refute(head).triple
        row = {u: (overlap(t.x, u), value) for u, value in ((t.y, t.xy), (t.z, t.xz)) if u != t.x}
        assert linear_programme(3, HALF, t.x.bit_count(), t.xx, row) is None


def test_triple_by_the_definition():
    """Where a triple breaks nothing, the readout of B0 is correct on all sequences over it; where it does, random
    readouts all fail on Y, Z or M."""
    random, seen = Random(3), set()
    for _ in range(200):
        x, y, z = 0b1111, 0b0001, random.choice([0b1111, 0b0111])
        xx, xy = Fraction(random.randint(1, 6)), Fraction(random.randint(0, 30), 2)
        xz = xx if z == x else Fraction(random.randint(0, 6))
        broken = Triple(x, y, z, xx, xy, xz).breaks(3, HALF)
        seen.add(broken)
        if broken is None:
            continue
        alpha = {x: xx, y: xy, z: xz}
        for _ in range(5):
            g = {u: overlap(x, u) + Fraction(random.randint(-8, 8), 8) for u in alpha}
            head = minip.Head(4, lambda _, u, a=alpha: a[u], lambda _, u, b=g: b[u])
            inputs = [(x, y, y), (x, z, z), (x, y, z), (x, x, x)]
            assert not all(minip.correct_at(head, s, 0, HALF) for s in inputs)
    assert seen == {None, "i", "ii"}


# ---------------------------------------------------------------------------------------------- the rest


def test_deterministic():
    """The same seed, the same certificate; another seed, another triple."""
    head = random_features("exp", 64, 8)
    one, two, three = (refuter.refute(head, seed=seed) for seed in (5, 5, 6))
    assert one.certificate.data == two.certificate.data
    assert one.triple != three.triple


def test_values_in_place_of_features():
    """Closed forms, and features that do not fit, are certified by the kernel's values."""
    small = refuter.refute(random_features("exp", 24, 8))
    assert "features" in small.certificate.parameters
    wild = Head("wild", 24, 2, lambda b: np.exp2(-400.0 * b[:, :2]) + 1, lambda b: np.exp2(-1000.0 * b[:, :2]) + 2)
    found = refuter.refute(wild)
    assert rechecked(found, wild)
    constant = ClosedForm("one", 24, 1, None, None)
    found = refuter.refute(constant)
    assert "kernel" in found.certificate.parameters
    assert rechecked(found, constant)


def test_blocks_do_not_matter(monkeypatch):
    """A memory limit of a few rows gives the same result."""
    head = random_features("exp", 64, 8)
    expected = refuter.refute(head)
    monkeypatch.setattr(refuter, "BLOCK", 64)
    found = refuter.refute(head)
    assert (found.triple, found.evaluations) == (expected.triple, expected.evaluations)


def test_large_tokens():
    """m = 1,000: tokens beyond every machine word."""
    head = random_features("relu", 1000, 32)
    found = refuter.refute(head)
    assert found.guaranteed
    assert rechecked(found, head)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_tiny_m(m):
    """Too small for a family: the search alone, and no error."""
    assert comb(m, m // 2) > 0
    found = refuter.refute(ClosedForm("one", m, 1, None, None), budget=2_000)
    assert isinstance(found, NoneFound if m == 1 else Refutation)


def test_usage():
    """Ranges, and a family of longer words."""
    head = random_features("exp", 8, 2)
    for changes, reason in (({"n": 2}, "n: expected"), ({"budget": 0}, "budget"), ({"rank": 0}, "rank")):
        with pytest.raises(UsageError, match=reason):
            refuter.refute(head, **changes)
    with pytest.raises(UsageError, match="family has words of 9 bits"):
        refuter.refute(head, family=codes.Code(9, 1, (1, 2)))


def test_features_that_are_not_finite():
    """NaN is reported with its token, by the head."""
    head = Head("nan", 8, 1, lambda b: np.full((len(b), 1), np.nan), lambda b: np.ones((len(b), 1)))
    with pytest.raises(UsageError, match="feature 0 of queries at token"):
        refuter.refute(head)


def test_worst_triple_is_the_worst():
    """Among tokens of one query the triple with the largest ratio is taken."""
    head = softmin(6, Fraction(19, 20))
    values = triples.evaluate(head, 63, [0, 1, 3, 7, 15, 31])
    found = triples.worst(head, 3, HALF, 63, values)
    ratios = [
        (Triple(63, y, z, values[63], values[y], values[z]).required(3, HALF) / values[y])
        for y, z in product(values, repeat=2)
        if overlap(63, y) < overlap(63, z)
    ]
    assert found.required(3, HALF) / found.xy == max(ratios) >= 1
