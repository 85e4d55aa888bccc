"""Mutated certificates: malformed, rejected, or true. `mutate` holds the engine and the independent oracle."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proofcheck.kernel.check import Certificate, Verdict, check
from proofcheck.kernel.claims import CLAIMS, statement
from proofcheck.kernel.claims.forms import Cases, Universal, refutable
from proofcheck.kernel.claims.parameters import factor, least_gap
from proofcheck.kernel.rules import RULES
from tests.kernel import mutate, oracle
from tests.kernel.building import content, identity
from tests.kernel.mutate import Original, originals

HERE = Path(__file__).parent
REJECTED_FILES = sorted((HERE / "rejected").glob("*.json"))
REFUSED_FILES = [*REJECTED_FILES, *sorted((HERE / "malformed").glob("*.json"))]
by_name = pytest.mark.parametrize("original", originals(), ids=lambda original: original.name)


def multiplier_places(fields: dict[str, Any]) -> list[mutate.Path_]:
    """Where the multipliers of a universal certificate are."""
    if fields["rule"] == "farkas":
        return [("witness", "multipliers", name) for name in fields["witness"]["multipliers"]]
    if fields["rule"] == "polynomial-identity":
        return [("witness", "terms", i, "coefficient") for i in range(len(fields["witness"]["terms"]))]
    cases = fields["witness"].get("cases", {})
    return [
        ("witness", "cases", name, "terms", i, "coefficient")
        for name, part in cases.items()
        for i in range(len(part["terms"]))
    ]


def model_places(fields: dict[str, Any]) -> list[mutate.Path_]:
    """Where the values of models and assignments are."""
    witness = fields["witness"]
    places = [("witness", key, name) for key in ("model", "assignment") for name in witness.get(key, {})]
    cases = witness.get("cases", {})
    return places + [("witness", "cases", case, "model", name) for case in cases for name in cases[case]["model"]]


# ------------------------------------------------------------------------------------- the oracle bites


@by_name
def test_oracle_confirms_the_accepted_certificates(original: Original) -> None:
    """The independent check agrees with the kernel on every accepted file."""
    assert oracle.falsity(original.fields, original.sentence, mutate.truths()) == ""


def test_oracle_knows_every_claim() -> None:
    """Each claim has an oracle that asks for the same grounds, each rule for the same further ones and theorems."""
    assert {name: tuple(sorted(needs)) for name, (_, needs) in oracle.ORACLES.items()} == {
        name: tuple(sorted(needs)) for name, (_, needs) in CLAIMS.items()
    }
    assert {rule: more for rule, (_, _, more, _) in RULES.items() if more} == oracle.RULE_NEEDS
    assert {rule: trusted for rule, (*_, trusted) in RULES.items() if trusted} == {
        rule: (theorem,) for rule, theorem in oracle.THEOREMS.items()
    }


# The claim is true and the witness does not show it: the oracle looks at the matrix, at e^tau or at all sign patterns,
# not at the witness.
TRUE = re.compile(
    r"minor-(?!rank-of-equal)|softmin-rank-|temperature-(one-term|too-few-terms)$|trace-(?!zero-)"
    r"|class-(degree-(not|two|without)|no-degrees|product-without)|hamming-(too-many-coefficients|zero-coefficient)"
    r"|unsat-(\w+-hint|hints?-|no-hints|one-hint|empty-clause-(at|without)|literal-|pairs-in-another-order)"
)


@cache
def refused() -> oracle.Known:
    """The accepted certificates by id, and None for those that are refused or malformed."""
    known = dict(mutate.truths())
    for path in REFUSED_FILES:
        try:
            known[identity(json.loads(path.read_bytes()))] = None
        except (ValueError, AttributeError):
            continue
    return known


@pytest.mark.parametrize("path", REJECTED_FILES, ids=lambda path: path.stem)
def test_oracle_refutes_the_rejected_certificates(path: Path) -> None:
    """The independent check finds fault with every rejected file that is false: accepting one would be a finding."""
    fields = json.loads(path.read_bytes())
    sentence = statement(fields["claim"], fields["parameters"]).sentence
    assert oracle.falsity(fields, sentence, refused()) or TRUE.match(path.stem)


@pytest.mark.parametrize("claim", oracle.CASES)
def test_cases_are_those_of_the_mathematics(claim: str) -> None:
    """Every condition of every case has the value and the strictness of the inequality written from the page."""
    kernel = statement(claim, {}).cases
    assert set(kernel) == set(oracle.CASES[claim])
    for name, case in oracle.CASES[claim].items():
        same_conditions(kernel[name], case)


def same_conditions(kernel: Universal, case: oracle.Case) -> None:
    hypotheses, conclusion = case
    rows = refutable(kernel)
    assert set(rows) == {*hypotheses, "negated-conclusion"}
    points = oracle.random_points(tuple(sorted(oracle.names_in(case))))
    for row_name, row in rows.items():
        inequality = hypotheses.get(row_name) or oracle.negation(conclusion)
        for point in points[:3]:
            parts = row.poly.terms.items()
            value = sum((q * math.prod(point[v] for v in monomial) for monomial, q in parts), Fraction(0))
            assert (value, row.strict) == oracle.difference(inequality, point), (row_name, row, inequality)


@pytest.mark.parametrize(("n", "d", "eps"), [(3, 2, "1/2"), (4, 3, "1/3"), (7, "5/2", "2/7")])
def test_lemma_3_and_theorem_8_are_those_of_the_mathematics(n: int, d: int | str, eps: str) -> None:
    """The same for the instances and the symbolic theorems."""
    parameters = {"n": n, "d": d, "eps": eps}
    values = (n, oracle.rational(d), oracle.rational(eps))
    same_conditions(statement("gap-domination", parameters), oracle.fixed((oracle.THREE, oracle.LEMMA), *values))
    same_conditions(statement("positional-domination", parameters), oracle.positions(*values))
    same_conditions(statement("gap-domination-symbolic", {}), (oracle.RANGES | oracle.GAP | oracle.THREE, oracle.LEMMA))
    sums = oracle.LEMMA.replace("b", "B").replace("c", "C")
    same_conditions(statement("positional-domination-symbolic", {}), (oracle.RANGES | oracle.GAP | oracle.SUMS, sums))


@pytest.mark.parametrize("claim", oracle.CASES)
def test_cases_hold_at_random_points(claim: str) -> None:
    """No point among many small rational ones meets the hypotheses of a case and breaks its conclusion."""
    rng = Random(claim)
    for name, case in oracle.CASES[claim].items():
        variables, met = sorted(oracle.names_in(case)), 0
        for _ in range(1_500):
            point = {v: Fraction(rng.randrange(-3, 13), rng.choice((1, 2, 3, 7))) for v in variables}
            point |= {
                v: Fraction(1, rng.randrange(2, 9))
                for v in ("eps", "w", "X")
                if v in point and claim != "phase-transition"
            }
            point |= {"n": Fraction(rng.randrange(3, 8))} if "n" in point and claim != "softmin" else {}
            point |= {"B": point["B"] ** 5, "E": point["E"] / 900} if "E" in point and "B" in point else {}
            if all(oracle.holds(hypothesis, point) for hypothesis in case[0].values()):
                met += 1
                assert oracle.holds(case[1], point), (name, point)
        assert met, name


def test_engine_finds_a_kernel_that_accepts_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that takes the rule's word for it is caught by the same mutations."""

    def gullible(certificate: Certificate, known: object) -> Verdict:
        return Verdict(statement(certificate.claim, certificate.parameters).sentence, ["trust me"], [])

    mutate.truths()
    monkeypatch.setattr(mutate, "check", gullible)
    _, findings = mutate.fuzz(300, 7)
    assert len(findings) > 10


def test_engine_finds_a_kernel_that_reports_other_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accepted certificate whose sentence states something else is a finding."""
    original = next(o for o in originals() if o.name == "tightness-xyz-n3-d2")
    monkeypatch.setattr(mutate, "check", lambda c, known: Verdict(original.sentence, check(c).checked, []))
    fields = copy.deepcopy(original.fields)
    fields["parameters"]["delta"] = 1
    assert mutate.judge(original, json.dumps(fields).encode()) == (
        "accepted",
        "the sentence hides '< (1 + 1) alpha(x,z)'",
    )


def test_engine_finds_a_kernel_that_does_not_look_at_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that believes what a certificate says of those it rests on, and does not say so, is caught."""

    def trusting(certificate: Certificate, known: object) -> Verdict:
        verdict = check(certificate)
        return Verdict(verdict.claim, verdict.checked, [])

    original = next(o for o in originals() if o.name == "rank-packing-40")
    monkeypatch.setattr(mutate, "check", trusting)
    found = set()
    for change in (
        {"id": "0" * 64},
        {"id": originals()[0].id},
        {"parameters": {**original.fields["uses"][1]["parameters"], "size": 10**6}},
    ):
        fields = copy.deepcopy(original.fields)
        fields["uses"][1].update(change)
        found.add(mutate.judge(original, json.dumps(fields).encode()))
    assert {outcome for outcome, _ in found} == {"accepted"}
    assert "what is assumed is not reported" in {finding for _, finding in found}
    assert any(finding.startswith("what it says of the certificate ") for _, finding in found)


def test_engine_finds_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception but the two verdicts is a finding."""
    original = originals()[0]
    mutate.truths()
    monkeypatch.setattr(mutate, "check", lambda c, known: {}[c])
    assert mutate.judge(original, original.data)[0] == "escaped"


# ------------------------------------------------------------------------------------------ the mutations


@by_name
def test_every_digit_of_every_multiplier(original: Original) -> None:
    """Any single digit of any multiplier changed to any other: rejected or malformed, with a reason. Only where a
    proof is one term (0 > 0) may it be scaled."""
    places = multiplier_places(original.fields)
    outcomes: Counter[str] = Counter()
    for path in places:
        for new in mutate.digit_changes(mutate.at(original.fields, path)):
            changed = copy.deepcopy(original.fields)
            mutate.replace(changed, path, new)
            outcome, finding = mutate.judge(original, json.dumps(changed).encode())
            scaled = path[0] == "witness" and path[-1] == "coefficient" and len(mutate.at(changed, path[:-2])) == 1
            assert (outcome in ("rejected", "malformed") or scaled, finding) == (True, ""), (path, new)
            outcomes[outcome] += 1
    assert sum(outcomes.values()) >= 9 * len(places)
    shape = type(statement(original.fields["claim"], original.fields["parameters"]))
    assert bool(places) is (shape in (Universal, Cases))


@by_name
def test_every_digit_of_every_model(original: Original) -> None:
    """Digits of models can change and leave a true certificate; then it has a new id and the oracle agrees."""
    for path in model_places(original.fields):
        for new in mutate.digit_changes(mutate.at(original.fields, path))[:60]:
            changed = copy.deepcopy(original.fields)
            mutate.replace(changed, path, new)
            outcome, finding = mutate.judge(original, json.dumps(changed).encode())
            assert (outcome != "escaped", finding) == (True, ""), (path, new)


@by_name
def test_every_number_near_every_parameter(original: Original) -> None:
    """Numbers near those of the parameters, of uses and of witnesses without models: refused, or still true."""
    heavy = original.fields["rule"] == "exhaustive"  # larger m and n take seconds
    numbers = [
        path
        for path in mutate.paths(original.fields)
        if path[0] in ("parameters", "uses")
        or (path[0] == "witness" and len(path) > 1 and path[1] not in ("model", "multipliers", "cases", "terms"))
    ]
    for path in numbers[:: 1 + len(numbers) // 12]:
        value = mutate.at(original.fields, path)
        for new in mutate.numeric(value)[:24]:
            if heavy and path[-1] in "mn" and type(new) is int and new > value + 1:
                continue
            changed = copy.deepcopy(original.fields)
            mutate.replace(changed, path, new)
            outcome, finding = mutate.judge(original, json.dumps(changed).encode())
            assert (outcome != "escaped", finding) == (True, ""), (path, new)


@by_name
def test_grounds_exchanged(original: Original) -> None:
    """Each certificate it rests on exchanged for every other of the same claim: refused, or true with that one."""
    outcomes = set()
    for i, item in enumerate(original.fields["uses"]):
        for other in originals():
            for parameters in (item["parameters"], other.fields["parameters"]):
                changed = copy.deepcopy(original.fields)
                changed["uses"][i] = {"claim": item["claim"], "id": other.id, "parameters": parameters}
                outcome, finding = mutate.judge(original, json.dumps(changed).encode())
                assert (outcome != "escaped", finding) == (True, ""), (item["claim"], other.name)
                outcomes.add(outcome)
    assert bool(outcomes) is bool(original.fields["uses"])
    assert not outcomes or {"accepted", "rejected"} <= outcomes


SYSTEMATIC = [
    "domination-n7-d5over2-eps2over7",
    pytest.param("symbolic", marks=pytest.mark.slow),
    "tightness-xyz-n3-d2",
    "countermodel-yzm-n30-d1over2",
    "code-two-words",
    "growing-8",
    pytest.param("rank-packing-40", marks=pytest.mark.slow),
    pytest.param("matrix-minor-prime-2", marks=pytest.mark.slow),
    pytest.param("two-tokens", marks=pytest.mark.slow),
    pytest.param("transcript-14-bits", marks=pytest.mark.slow),
    pytest.param("typed-family-2", marks=pytest.mark.slow),
    pytest.param("transcript-by-logarithm", marks=pytest.mark.slow),
    pytest.param("collision-one-layer", marks=pytest.mark.slow),
    pytest.param("chain-4-4", marks=pytest.mark.slow),
    "table-rank-1-m2",
    pytest.param("class-two-blocks", marks=pytest.mark.slow),
    "hamming-constant-m3",
    pytest.param("hamming-quadratic-m4-n4", marks=pytest.mark.slow),
    "weight-points-m2",
    pytest.param("weight-apart-with-points-m4", marks=pytest.mark.slow),
    pytest.param("layer-all-distances", marks=pytest.mark.slow),
    pytest.param("family-two-orbits", marks=pytest.mark.slow),
    pytest.param("family-fano", marks=pytest.mark.slow),
    pytest.param("graham-10-n4", marks=pytest.mark.slow),
    pytest.param("lower-exponent-n3", marks=pytest.mark.slow),
    pytest.param("upper-exponent-n3", marks=pytest.mark.slow),
    pytest.param("sampled-3-n4", marks=pytest.mark.slow),
    pytest.param("shattered-4", marks=pytest.mark.slow),
    pytest.param("topological-4", marks=pytest.mark.slow),
    pytest.param("unsat-5", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("name", SYSTEMATIC)
def test_systematic_mutations(name: str) -> None:
    """Every field deleted, renamed, swapped, retyped, and replaced by each of a hundred other values. Of the witnesses
    with hundreds of fields, every seventh change."""
    original = next(o for o in originals() if o.name == name)
    outcomes: Counter[str] = Counter()
    step = 7 if original.fields["rule"] in ("unsat-lrat", "class-head", "collision") else 1
    for label, data in islice(mutate.systematic(original), 0, None, step):
        outcome, finding = mutate.judge(original, data)
        assert not finding, (label, outcome, finding)
        outcomes[outcome] += 1
    assert outcomes["malformed"] > outcomes["rejected"] > 3
    assert sum(outcomes.values()) > 1_000


@pytest.mark.slow
def test_ten_thousand_random_mutations() -> None:
    """Seeded mutations of trees and bytes: no finding, and each outcome does occur."""
    outcomes, findings = mutate.fuzz(10_000, 1)
    assert findings == []
    assert sum(outcomes.values()) == 10_000
    assert outcomes["malformed"] > 1_000
    assert outcomes["rejected"] > 500
    assert outcomes["accepted, another true claim or proof"] > 50


@by_name
def test_every_truncation(original: Original) -> None:
    """A certificate cut anywhere before its last brace is malformed."""
    whole = original.data.rstrip()
    for length in range(0, len(whole), 1 + len(whole) // 1_500):
        assert mutate.judge(original, whole[:length]) == ("malformed", ""), length


@by_name
def test_every_bit_of_the_claim(original: Original) -> None:
    """Flipping any bit of the name of the claim or of the rule never leaves an accepted certificate."""
    for key in ("claim", "rule", "format"):
        value = json.dumps(original.fields[key]).encode()
        compact = json.dumps(original.fields).encode()
        start = compact.index(value, compact.index(f'"{key}": '.encode()))
        for i in range(start, start + len(value)):
            for bit in range(8):
                data = compact[:i] + bytes([compact[i] ^ 1 << bit]) + compact[i + 1 :]
                assert mutate.judge(original, data) == ("malformed", ""), (key, i, bit)


# ------------------------------------------------------------------------------------------ ids and command


@by_name
def test_id_covers_everything_but_the_producer(original: Original) -> None:
    """The id is the SHA-256 of the canonical bytes without `producer`, whatever `producer` says."""
    kept = {key: value for key, value in original.fields.items() if key != "producer"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    assert original.id == hashlib.sha256(text.encode("ascii")).hexdigest()
    for producer in ({}, {"seed": 1}, {"x": [{"y": "z"}, -7]}):
        for style in ({"indent": 3}, {"separators": (",", ":")}):
            data = json.dumps({**original.fields, "producer": producer}, **style).encode()
            certificate = Certificate(data)
            assert certificate.id == original.id
            assert check(certificate, mutate.reports()).claim == original.sentence


def test_originals_that_say_different_things_have_different_ids() -> None:
    """Equal ids mean equal content."""
    contents = {content(original.fields): original.id for original in originals()}
    assert len(set(contents.values())) == len(contents)


def test_changed_parameters_are_stated() -> None:
    """A mutation that leaves another true claim is reported as that other claim, with its own id."""
    original = next(o for o in originals() if o.name == "tightness-xyz-n3-d2")
    fields = copy.deepcopy(original.fields)
    fields["parameters"]["delta"] = "7/3"
    certificate = Certificate(json.dumps(fields).encode())
    assert certificate.id != original.id
    assert check(certificate).claim == original.sentence.replace("(1 + 1/100)", "(1 + 7/3)") != original.sentence


def test_oracle_and_kernel_agree_on_the_numbers_of_the_lemma() -> None:
    """mu(d) >= 1 says exactly that the gap is admissible; both numbers by hand at n=3, eps=1/2."""
    half = Fraction(1, 2)
    assert [factor(3, Fraction(d), half) for d in (1, 2, 3, 5)] == [0, 1, 2, 4]
    assert [least_gap(n, half) for n in (3, 4, 5)] == [2, Fraction(3, 2), Fraction(4, 3)]
    for n in range(3, 9):
        for eps in (half, Fraction(1, 3), Fraction(1, 100)):
            assert factor(n, least_gap(n, eps), eps) == 1


@pytest.mark.parametrize(("arguments", "status"), [(["--count", "200", "--seed", "3"], 0), (["--count", "0"], 2)])
def test_fuzz_command(arguments: list[str], status: int) -> None:
    """`make fuzz` ends with a summary and exit 0 where nothing is found; a run of nothing is a usage error."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.kernel.mutate", *arguments],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == status
    if status == 0:
        assert re.search(r"^200 mutations of \d+ certificates, seed 3, .*\n(.*\n)+ +0  findings\n\Z", result.stdout)
