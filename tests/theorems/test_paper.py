"""The audit: everything runs, nothing in the kernel is idle, and every argument that is named exists."""

import json
from fractions import Fraction

import pytest

from proofcheck.kernel.claims import CLAIMS
from proofcheck.kernel.rules import RULES
from proofcheck.theorems import lemma3, paper

from .checking import HEADINGS, verified

NAMES = (
    *("theorem1", "theorem2", "lemma3", "lemma4", "theorem5", "theorem6", "corollary7", "theorem8", "theorem9"),
    *("proposition10", "domination", "chain"),
)


@pytest.fixture(scope="module")
def audit():
    return {name: show() for name, show in paper.claims()}


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
    assert named == HEADINGS - general, "a section about a claim that no claim names"


@pytest.mark.slow
def test_two_items_are_uncovered(audit):
    uncovered = {name: shown.uncovered for name, shown in audit.items() if shown.uncovered}
    assert set(uncovered) == {"corollary7", "proposition10"}
    assert all(len(texts) == 1 for texts in uncovered.values())


@pytest.mark.slow
def test_every_claim_of_the_kernel_is_produced(audit):
    produced = {certificate.claim for shown in audit.values() for _, certificate in shown.bundle}
    produced.add(lemma3.refute(lemma3.Instance(3, Fraction(1), Fraction(1, 2))).certificate.claim)
    assert produced == set(CLAIMS)


@pytest.mark.slow
def test_every_rule_of_the_kernel_is_used(audit):
    assert {certificate.rule for shown in audit.values() for _, certificate in shown.bundle} == set(RULES)


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
