"""The audit: everything runs, nothing in the kernel is idle, and every argument that is named exists.

What the paper does not need, the bounds on r*(m,n) do: they are made here once, at small sizes.
"""

import json
from fractions import Fraction

import pytest

from proofcheck import exhaust, readouts
from proofcheck.bounds import best, exponents, families, hamming, heads, layers, small, weights
from proofcheck.certificate import certify
from proofcheck.heads import builtin
from proofcheck.kernel.claims import CLAIMS
from proofcheck.kernel.rules import RULES
from proofcheck.sketches import builtin as models
from proofcheck.sketches import files, finder
from proofcheck.theorems import lemma3, paper
from proofcheck.theorems.bundle import foundation
from proofcheck.transcripts import typed_family

from .checking import HEADINGS, verified

NAMES = (
    *("theorem1", "theorem2", "lemma3", "lemma4", "theorem5", "theorem6", "corollary7", "theorem8", "theorem9"),
    *("proposition10", "domination", "chain"),
)
HALF = Fraction(1, 2)
# Sections of TRUST.md that no claim of the paper needs.
BEYOND = {"Layers", "Preferences", "Heads that exist", "Heads that are given"}


@pytest.fixture(scope="module")
def audit():
    return {name: show() for name, show in paper.claims()}


@pytest.fixture(scope="module")
def bounds():
    """One certificate of each kind that `proofcheck.bounds` makes. Explicit features come from outside (a search), so
    the table is the least one: one feature for two bits."""
    one = {"queries": [[1]] * 4, "keys": [[17], [16], [16], [16]]}
    uses = [foundation("domination-sufficient")[1]]
    parameters = {"m": 2, "n": 3, "eps": HALF, "rank": 1}
    return [
        layers.certificate(24, 3, HALF, layers.best_layer(24, 3, HALF), "test"),
        families.certificate(24, 3, HALF, families.dodecads(24, 3, HALF)[0], "test"),
        families.certificate(24, 3, HALF, families.best_class(24, 3, HALF), "test"),
        small.shattered(5, 3, HALF, "test"),
        small.refuted(5, 3, HALF, 5, "test"),
        small.topological(5, 3, HALF, "test"),
        exponents.lower(3, HALF, "test"),
        exponents.upper(3, HALF, "test"),
        heads.certificate(heads.total_degree(3, 1, Fraction(4, 5)), 3, HALF, "test"),
        hamming.certificate(6, 1, Fraction(3, 4), 3, HALF, "test"),
        weights.certificate(weights.Shape(4), 3, HALF, "test"),
        best._sampled(60, 3, HALF, "test", 1 << 60).certificate,
        certify("head-exists", parameters, "table-head", one, command="test", uses=uses),
    ]


@pytest.fixture(scope="module")
def found():
    """One certificate of each kind about a given head: softmin on two bits; with a temperature too low for its own
    readout (w = 1/2); and, on four bits, for every readout (w = 9/10)."""

    def softmin(w, m=2):
        return builtin.build("softmin", m, 1 << m, 0, {"w": w})

    return [
        exhaust.decide(softmin("1/6")).certificate,
        exhaust.verify(softmin("1/6")).certificate,
        exhaust.verify(softmin("1/2")).certificate,
        exhaust.decide(softmin("9/10", 4)).certificate,
    ]


@pytest.fixture(scope="module")
def collision():
    """Two inputs that a model of one bit a number cannot tell apart."""
    family = typed_family(14, 3, 6)
    model = models.linear_attention(family, 1, 1, 2, 1, 1)
    return files.certificate(model, family, finder.find(model, family, 1 << 12), "test")


@pytest.fixture(scope="module")
def no_readout():
    """Values <x,z> for a kernel that has a readout, and none that is affine in these (w = 7/10); by the rule farkas."""
    return readouts.best(builtin.build("softmin", 4, 16, 0, {"w": "7/10"}), "overlap").certificate


@pytest.mark.slow
def test_every_numbered_claim_in_the_papers_order(audit):
    assert tuple(audit) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_claim_verifies_from_its_own_files(audit, name, tmp_path):
    verified(audit[name], tmp_path)


@pytest.mark.slow
def test_arguments_are_headings_of_trust_md_and_none_is_empty(audit):
    named = {argument for shown in audit.values() for argument in shown.arguments}
    assert named <= HEADINGS
    assert all(shown.arguments for shown in audit.values())
    rules = {heading for heading in HEADINGS if heading.startswith("Rule")}
    general = {"Statements", "No vacuous truth", *rules}
    assert HEADINGS >= BEYOND
    assert named == HEADINGS - general - BEYOND, "a section about a claim that no claim names"


@pytest.mark.slow
def test_two_items_are_uncovered(audit):
    uncovered = {name: shown.uncovered for name, shown in audit.items() if shown.uncovered}
    assert set(uncovered) == {"corollary7", "proposition10"}
    assert all(len(texts) == 1 for texts in uncovered.values())


@pytest.mark.slow
def test_every_claim_of_the_kernel_is_produced(audit, bounds, found, collision, no_readout):
    produced = {certificate.claim for shown in audit.values() for _, certificate in shown.bundle}
    produced.add(lemma3.refute(lemma3.Instance(3, Fraction(1), HALF)).certificate.claim)
    beyond = {certificate.claim for certificate in bounds}
    assert beyond - produced == {"head-exists", "lower-exponent", "upper-exponent"}
    produced |= beyond
    about_heads = [certificate.claim for certificate in found]
    assert about_heads == ["kernel-correct", "exhaustive-head", "head-counterexample", "kernel-refutation"]
    produced.update(about_heads)
    assert (collision.claim, no_readout.claim) == ("transcript-collision", "readout-refutation")
    produced |= {collision.claim, no_readout.claim}
    assert produced == set(CLAIMS)


@pytest.mark.slow
def test_every_rule_of_the_kernel_is_used(audit, bounds, found, collision):
    used = {certificate.rule for shown in audit.values() for _, certificate in shown.bundle}
    beyond = [certificate.rule for certificate in (*bounds, *found, collision)]
    assert used | set(beyond) == set(RULES)
    assert len(beyond) == len(set(beyond))
    assert used.isdisjoint(beyond)


def test_the_bounds_assume_what_their_rules_trust_and_nothing_else(bounds):
    for certificate in bounds:
        trusted = RULES[certificate.rule][3]
        assert certificate.verdict.assumed == [f"{theorem}, a theorem of mathematics" for theorem in trusted]


@pytest.mark.slow
def test_the_paper_assumes_no_theorem(audit):
    assert not any(RULES[certificate.rule][3] for shown in audit.values() for _, certificate in shown.bundle)


@pytest.mark.slow
def test_one_name_never_stands_for_two_certificates(audit):
    seen = {}
    for shown in audit.values():
        for name, certificate in shown.bundle:
            assert seen.setdefault(name, certificate.data) == certificate.data


@pytest.mark.slow
def test_it_is_deterministic(audit):
    again = {name: show() for name, show in paper.claims()}
    for name, shown in audit.items():
        assert json.dumps(shown.as_json()) == json.dumps(again[name].as_json())


def test_the_papers_code():
    """Fifteen words of weight 12 at directed distance >= 6, whose chains have the 424 jumps of Experiment 5.1."""
    code = paper.paper_code()
    assert (code.m, code.weight, code.size) == (24, 12, 15)
    assert len(set(code.words)) == 15
    assert {word.bit_count() for word in code.words} == {12}
    pairs = [(a & ~b).bit_count() for a in code.words for b in code.words if a != b]
    assert len(pairs) == 210
    assert min(pairs) == 6
    assert sum(distance // 3 for distance in pairs) == 424
