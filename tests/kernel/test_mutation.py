"""Mutated certificates: malformed, rejected, or true. `mutate` holds the engine and the independent oracle."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proofcheck.kernel.check import Certificate, Verdict, check
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import Universal, refutable
from proofcheck.kernel.claims.parameters import factor, least_gap
from tests.kernel import mutate
from tests.kernel.mutate import Original, originals

HERE = Path(__file__).parent
REJECTED_FILES = sorted((HERE / "rejected").glob("*.json"))
by_name = pytest.mark.parametrize("original", originals(), ids=lambda original: original.name)


def multiplier_places(fields: dict[str, Any]) -> list[mutate.Path_]:
    """Where the multipliers of a universal certificate are."""
    if fields["rule"] == "farkas":
        return [("witness", "multipliers", name) for name in fields["witness"]["multipliers"]]
    if fields["rule"] == "polynomial-identity":
        return [("witness", "terms", i, "coefficient") for i in range(len(fields["witness"]["terms"]))]
    return []


# ------------------------------------------------------------------------------------- the oracle bites


@by_name
def test_oracle_confirms_the_accepted_certificates(original: Original) -> None:
    """The independent check agrees with the kernel on every accepted file."""
    assert mutate.falsity(original.fields, original.sentence) == ""


@pytest.mark.parametrize("path", REJECTED_FILES, ids=lambda path: path.stem)
def test_oracle_refutes_the_rejected_certificates(path: Path) -> None:
    """The independent check finds fault with every rejected file: accepting one would be a finding."""
    fields = json.loads(path.read_bytes())
    sentence = statement(fields["claim"], fields["parameters"]).sentence
    assert mutate.falsity(fields, sentence)


def test_engine_finds_a_kernel_that_accepts_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that takes the rule's word for it is caught by the same mutations."""

    def gullible(certificate: Certificate) -> Verdict:
        return Verdict(statement(certificate.claim, certificate.parameters).sentence, ["trust me"], [])

    originals()
    monkeypatch.setattr(mutate, "check", gullible)
    _, findings = mutate.fuzz(300, 7)
    assert len(findings) > 10


def test_engine_finds_a_kernel_that_reports_other_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accepted certificate whose sentence states something else is a finding."""
    original = next(o for o in originals() if o.name == "tightness-xyz-n3-d2")
    monkeypatch.setattr(mutate, "check", lambda c: Verdict(original.sentence, check(c).checked, []))
    fields = copy.deepcopy(original.fields)
    fields["parameters"]["delta"] = 1
    assert mutate.judge(original, json.dumps(fields).encode()) == (
        "accepted",
        "the sentence hides the bound or the inputs",
    )


def test_engine_finds_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception but the two verdicts is a finding."""
    original = originals()[0]
    monkeypatch.setattr(mutate, "check", lambda c: {}[c])
    assert mutate.judge(original, original.data)[0] == "escaped"


# ------------------------------------------------------------------------------------------ the mutations


@by_name
def test_every_digit_of_every_multiplier(original: Original) -> None:
    """Any single digit of any multiplier changed to any other: rejected or malformed, with a reason."""
    places = multiplier_places(original.fields)
    outcomes: Counter[str] = Counter()
    for path in places:
        for new in mutate.digit_changes(mutate.at(original.fields, path)):
            changed = copy.deepcopy(original.fields)
            mutate.replace(changed, path, new)
            outcome, finding = mutate.judge(original, json.dumps(changed).encode())
            assert (outcome in ("rejected", "malformed"), finding) == (True, ""), (path, new)
            outcomes[outcome] += 1
    assert sum(outcomes.values()) >= 9 * len(places)
    assert bool(places) is isinstance(statement(original.fields["claim"], original.fields["parameters"]), Universal)


@by_name
def test_every_digit_of_every_model(original: Original) -> None:
    """Digits of models can change and leave a true certificate; then it has a new id and the oracle agrees."""
    model = "assignment" if original.fields["rule"] == "model" else "model"
    for name, value in original.fields["witness"][model].items():
        for new in mutate.digit_changes(value)[:60]:
            changed = copy.deepcopy(original.fields)
            changed["witness"][model][name] = new
            outcome, finding = mutate.judge(original, json.dumps(changed).encode())
            assert (outcome != "escaped", finding) == (True, ""), (name, new)


SYSTEMATIC = [
    "domination-n7-d5over2-eps2over7",
    pytest.param("symbolic", marks=pytest.mark.slow),
    "tightness-xyz-n3-d2",
    "countermodel-yzm-n30-d1over2",
]


@pytest.mark.parametrize("name", SYSTEMATIC)
def test_systematic_mutations(name: str) -> None:
    """Every field deleted, renamed, swapped, retyped, and replaced by each of a hundred other values."""
    original = next(o for o in originals() if o.name == name)
    outcomes: Counter[str] = Counter()
    for label, data in mutate.systematic(original):
        outcome, finding = mutate.judge(original, data)
        assert not finding, (label, outcome, finding)
        outcomes[outcome] += 1
    assert outcomes["malformed"] > outcomes["rejected"] > 10
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
    for length in range(len(whole)):
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
            assert check(certificate).claim == original.sentence


def test_originals_that_say_different_things_have_different_ids() -> None:
    """Equal ids mean equal content."""
    contents = {mutate.content(original.fields): original.id for original in originals()}
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
