"""Bundles: names, order, files; foundations are made once and rest on nothing that is missing."""

import json
from pathlib import Path

import pytest

from proofcheck.kernel.check import CONDITIONAL, VERIFIED, check_file, check_files
from proofcheck.kernel.claims import CLAIMS
from proofcheck.kernel.rules import RULES
from proofcheck.theorems import bundle
from proofcheck.theorems.bundle import Bundle, Shown, cases, foundation, founded, lemma3_symbolic

from .checking import verified

REPOSITORY = Path(__file__).parents[2]
FOUNDATIONS = {
    "gap-domination-symbolic": "lemma3/gap-domination-symbolic",
    "approximate-identity": "lemma4/approximate-identity",
    "domination-necessary": "domination/domination-necessary",
    "domination-sufficient": "domination/domination-sufficient",
    "softmin": "theorem1/softmin",
}


@pytest.mark.parametrize("claim", FOUNDATIONS)
def test_foundations_have_one_place_and_are_made_once(claim):
    name, certificate = foundation(claim)
    assert name == FOUNDATIONS[claim]
    assert certificate.claim == claim
    assert certificate.parameters == {}
    assert foundation(claim)[1] is certificate


def test_kept_foundations_are_the_shipped_certificates():
    """Byte by byte, and no others are kept."""
    assert {path.name for path in bundle.KEPT.iterdir()} == {f"{claim}.json" for claim in FOUNDATIONS}
    for claim, name in FOUNDATIONS.items():
        shipped = REPOSITORY / "certificates" / f"{name}.json"
        assert (bundle.KEPT / f"{claim}.json").read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize("claim", FOUNDATIONS)
def test_a_proof_made_now_is_the_one_kept(claim):
    """With the pinned solver. `proved` does not read what is kept."""
    name, certificate = bundle.proved(claim)
    assert (name, certificate.id) == (FOUNDATIONS[claim], foundation(claim)[1].id)
    assert "z3" in json.loads(certificate.data)["producer"]


@pytest.mark.parametrize("damage", ["missing", "another claim", "a digit", "no JSON"])
def test_a_kept_file_is_believed_only_if_the_kernel_accepts_it(tmp_path, monkeypatch, damage):
    claim, right = "approximate-identity", foundation("approximate-identity")[1]
    wrong = {
        "another claim": foundation("softmin")[1].data,
        "a digit": right.data.replace(b'"coefficient":1', b'"coefficient":3', 1),
        "no JSON": b"{",
    }
    if damage in wrong:
        assert wrong[damage] != right.data
        (tmp_path / f"{claim}.json").write_bytes(wrong[damage])
    monkeypatch.setattr(bundle, "KEPT", tmp_path)
    made = []
    monkeypatch.setattr(bundle, "proved", lambda claim: made.append(claim) or ("name", right))
    assert foundation.__wrapped__(claim) == ("name", right)
    assert made == [claim]


def test_every_claim_rests_on_foundations_or_on_claims_with_parameters():
    """What `cases` and `founded` can find by themselves is enough."""
    rested = {use for _, uses in CLAIMS.values() for use in uses} | {use for rule in RULES.values() for use in rule[2]}
    assert {use for use in rested if not CLAIMS[use][1]} - {"code"} == set(FOUNDATIONS)
    assert rested - set(FOUNDATIONS) == {"code", "chain", "feature-rank"}


def test_cases_names_the_folder_and_finds_what_it_rests_on():
    name, certificate = cases("phase-transition", "theorem6")
    assert name == "theorem6/phase-transition"
    ids = {use["claim"]: use["id"] for use in json.loads(certificate.data)["uses"]}
    assert ids == {claim: foundation(claim)[1].id for claim in ("approximate-identity", "gap-domination-symbolic")}


def test_order_names_and_files(tmp_path):
    held = founded(["softmin", "approximate-identity"])
    assert [name for name, _ in held] == ["theorem1/softmin", "lemma4/approximate-identity"]
    other = Bundle()
    added = other.add(*lemma3_symbolic())
    assert added is lemma3_symbolic()[1]
    other.add(*foundation("softmin"))
    held.include(other)
    names = ["theorem1/softmin", "lemma4/approximate-identity", "lemma3/gap-domination-symbolic"]
    assert [name for name, _ in held] == names
    paths = held.write(tmp_path / "a" / "b")
    assert paths == [tmp_path / "a" / "b" / f"{name}.json" for name in names]
    assert [path.read_bytes() for path in paths] == [certificate.data for _, certificate in held]
    assert [report.status for report in check_files([str(path) for path in paths])] == [VERIFIED] * 3


def test_one_file_alone_is_conditional_and_names_what_is_missing(tmp_path):
    held = founded(["gap-domination-symbolic", "approximate-identity"])
    held.add(*cases("phase-transition", "theorem6"))
    *_, last = held.write(tmp_path)
    report = check_file(str(last))
    assert report.status == CONDITIONAL
    assert report.verdict.assumed == [
        f"certificate {foundation(claim)[1].id[:12]} ({claim}), which was not supplied and would say: "
        f"{foundation(claim)[1].verdict.claim}"
        for claim in ("approximate-identity", "gap-domination-symbolic")
    ]


def test_json_has_every_certificate_and_marks_the_main_ones(tmp_path):
    held = founded(["gap-domination-symbolic", "approximate-identity"])
    name, certificate = cases("phase-transition", "theorem6")
    held.add(name, certificate)
    shown = Shown("A", "b", held, [name], {"c": "d"}, ("Chains",), ("e",))
    verified(shown, tmp_path)
    answer = json.loads(json.dumps(shown.as_json()))
    assert {key: answer[key] for key in ("claim", "shown", "figures", "arguments", "uncovered")} == {
        "claim": "A",
        "shown": "b",
        "figures": {"c": "d"},
        "arguments": ["Chains"],
        "uncovered": ["e"],
    }
    assert [entry["main"] for entry in answer["certificates"]] == [False, False, True]
    last = answer["certificates"][-1]
    assert last["id"] == certificate.id
    assert (last["claim"], last["rule"], last["parameters"]) == ("phase-transition", "cases", {})
    assert last["statement"] == certificate.verdict.claim
    assert last["assumed"] == []
