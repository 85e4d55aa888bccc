"""The only writer: refuses inexact values, replays what it builds, writes whole files or none."""

import hashlib
import json
import os
import stat
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import certificate
from proofcheck.certificate import certify, spell, write_atomically
from proofcheck.kernel.check import check_file, check_files
from proofcheck.kernel.exact import Malformed, Rejected, number
from proofcheck.theorems.bundle import foundation

PARAMETERS = {"n": 3, "d": 2, "eps": Fraction(1, 2)}
WITNESS = {
    "multipliers": {"M.upper": Fraction(2), "Y.lower": 1, "Z.lower": Fraction(1), "negated-conclusion": 2},
    "model": {
        "a": Fraction(1, 4),
        "b": Fraction(3, 2),
        "c": Fraction(1),
        "p": 0,
        "q": Fraction(-11, 24),
        "s": Fraction(29, 16),
    },
}


def domination(**changes):
    options = {"command": "a test", "tools": {"z3": "0"}, **changes}
    return certify("gap-domination", PARAMETERS, "farkas", options.pop("witness", WITNESS), **options)


@pytest.mark.parametrize("value", [0.5, 1.0, float("nan"), float("inf"), True, False])
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [1, v], lambda v: {"x": [{"y": (v,)}]}])
def test_floats_and_booleans_are_refused_wherever_they_hide(value, wrap):
    with pytest.raises(TypeError, match=f"a certificate holds no {type(value).__name__}: {value!r}"):
        spell(wrap(value))


@pytest.mark.parametrize("value", [0.5, True])
def test_certify_refuses_them_in_parameters_and_in_the_witness(value):
    with pytest.raises(TypeError, match="a certificate holds no"):
        certify("gap-domination", {**PARAMETERS, "n": value}, "farkas", WITNESS, command="")
    with pytest.raises(TypeError, match="a certificate holds no"):
        domination(witness={**WITNESS, "model": {**WITNESS["model"], "a": value}})


LEAVES = st.integers() | st.fractions() | st.text("ab/1", max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner), max_leaves=8))
def test_spelling_is_json_without_floats_and_rationals_read_back(value):
    def same(original, spelled):
        if isinstance(original, Fraction):
            return number(spelled, "") == original and type(spelled) in (int, str)
        if isinstance(original, dict):
            return original.keys() == spelled.keys() and all(same(original[key], spelled[key]) for key in original)
        if isinstance(original, list):
            return len(original) == len(spelled) and all(map(same, original, spelled))
        return original == spelled and type(original) is type(spelled)

    assert same(value, spell(value))
    assert json.loads(json.dumps(spell(value))) == spell(value)


def test_bytes_are_canonical_and_end_in_one_newline():
    data = domination().data
    fields = json.loads(data)
    assert data == json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
    assert set(fields) == {"format", "claim", "parameters", "rule", "witness", "uses", "producer"}
    assert fields["parameters"] == {"n": 3, "d": 2, "eps": "1/2"}
    assert fields["uses"] == []


def test_the_id_is_the_hash_of_everything_but_the_producer():
    first, second = domination(), domination(command="another", tools={"z3": "1", "other": "2"}, seed=7)
    assert first.id == second.id
    assert first.data != second.data
    assert json.loads(second.data)["producer"]["seed"] == 7
    fields = json.loads(first.data)
    del fields["producer"]
    assert first.id == hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_the_id_depends_on_everything_else():
    doubled = {**WITNESS, "multipliers": {name: 2 * q for name, q in WITNESS["multipliers"].items()}}
    assert domination(witness=doubled).id != domination().id


def test_the_order_of_keys_does_not_matter():
    backwards = {key: dict(reversed(value.items())) for key, value in reversed(WITNESS.items())}
    assert domination(witness=backwards).data == domination().data


def test_a_witness_that_the_kernel_rejects_never_becomes_a_certificate():
    wrong = {**WITNESS, "multipliers": {**WITNESS["multipliers"], "M.upper": Fraction(3)}}
    with pytest.raises(Rejected, match="does not cancel"):
        domination(witness=wrong)
    with pytest.raises(Malformed, match="unknown claim"):
        certify("gap-dominations", PARAMETERS, "farkas", WITNESS, command="")
    with pytest.raises(Malformed, match="unknown rule"):
        certify("gap-domination", PARAMETERS, "belief", WITNESS, command="")
    with pytest.raises(Rejected, match="uses: this claim rests on no other certificate; listed: gap-domination"):
        domination(uses=[domination()])


# ------------------------------------------------------------------------------------ resting on others

CODE = {"m": 8, "weight": 4, "distance": 2, "size": 4}
WORDS = {"words": ["f", "33", "cc", "f0"]}
CHAIN = {"n": 4, "eps": Fraction(1, 2), "distance": 2, "factor": 2}
RANK = {"m": 8, "n": 4, "eps": Fraction(1, 2), "value": 3}


def code():
    return certify("code", CODE, "code", WORDS, command="a test")


def chain(**changes):
    rested = [foundation("gap-domination-symbolic")[1]]
    return certify("chain", {**CHAIN, **changes}, "chain", {"gaps": [2]}, command="a test", uses=rested)


def rank(uses, **changes):
    return certify("feature-rank", {**RANK, **changes}, "amplification", {}, command="a test", uses=uses)


def test_what_a_certificate_rests_on_is_named_with_id_and_parameters_in_any_order():
    rested = [code(), chain(), foundation("approximate-identity")[1]]
    first = rank(rested)
    assert rank(reversed(rested)).data == first.data
    assert json.loads(first.data)["uses"] == [
        {"claim": use.claim, "id": use.id, "parameters": use.parameters} for use in (rested[2], rested[1], rested[0])
    ]
    assert (first.verdict.assumed, first.report.status) == ([], 0)
    assert (first.claim, first.rule) == ("feature-rank", "amplification")
    assert first.parameters == {"m": 8, "n": 4, "eps": "1/2", "value": 3}


def test_the_id_depends_on_what_it_rests_on():
    lemma4 = foundation("approximate-identity")[1]
    assert rank([code(), chain(), lemma4]).id != rank([code(), chain(factor=Fraction(39, 20)), lemma4]).id


def test_missing_wrong_or_weaker_foundations_are_refused():
    lemma4, lemma3 = (foundation(claim)[1] for claim in ("approximate-identity", "gap-domination-symbolic"))
    needed = "uses: this claim rests on approximate-identity, chain, code; listed: "
    with pytest.raises(Rejected, match=f"{needed}none"):
        rank([])
    with pytest.raises(Rejected, match=f"{needed}chain, code$"):
        rank([code(), chain()])
    with pytest.raises(Rejected, match=f"{needed}approximate-identity, chain, code, gap-domination-symbolic"):
        rank([code(), chain(), lemma4, lemma3])
    with pytest.raises(Malformed, match="the claim 'code' is listed twice"):
        rank([code(), code(), chain(), lemma4])
    with pytest.raises(Rejected, match="give at least 3 features, not 4"):
        rank([code(), chain(), lemma4], value=4)
    with pytest.raises(Rejected, match="the chain is for n=4, eps=1/2, the claim for n=5"):
        rank([code(), chain(), lemma4], n=5)
    with pytest.raises(Rejected, match="the factors multiply to 2, less than 3"):
        chain(factor=3)


def test_files_alone_together_and_in_any_order(tmp_path):
    parts = [code(), chain(), foundation("approximate-identity")[1]]
    whole = [rank(parts), *parts, foundation("gap-domination-symbolic")[1]]
    paths = [str(part.write(tmp_path, f"{i}")) for i, part in enumerate(whole)]
    assert [report.status for report in check_files(paths)] == [0] * 5
    assert [report.path for report in check_files(paths[::-1])] == paths[::-1]
    assert {report.status for report in check_files(paths[::-1])} == {0}
    alone = check_file(paths[0])
    assert alone.status == 3
    assert sorted(alone.verdict.assumed) == sorted(
        f"certificate {part.id[:12]} ({part.claim}), which was not supplied and would say: {part.verdict.claim}"
        for part in parts
    )
    without_lemma3 = check_files(paths[:4])
    assert [report.status for report in without_lemma3] == [3, 0, 3, 0]
    assert (
        without_lemma3[0].verdict.assumed
        == without_lemma3[2].verdict.assumed
        == [
            f"certificate {whole[4].id[:12]} (gap-domination-symbolic), which was not supplied and would say: "
            f"{whole[4].verdict.claim}"
        ]
    )


def test_what_is_checked_is_the_bytes_and_not_the_arguments(monkeypatch):
    """Were the writer to change a value on the way, the kernel would see it."""
    honest = certificate.canonical
    monkeypatch.setattr(certificate, "canonical", lambda fields: honest(fields).replace(b'"M.upper":2', b'"M.upper":1'))
    with pytest.raises(Rejected, match="does not cancel"):
        domination()


def test_written_file_verifies_and_has_the_mode_of_a_plain_file(tmp_path):
    checked = domination()
    path = checked.write(tmp_path / "new" / "folder", "name")
    assert path == tmp_path / "new" / "folder" / "name.json"
    assert path.read_bytes() == checked.data
    report = check_file(str(path))
    assert (report.status, report.certificate.id, report.message) == (0, checked.id, checked.verdict.claim)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [p.name for p in path.parent.iterdir()] == ["name.json"]


def test_an_old_file_is_replaced_whole(tmp_path):
    path = tmp_path / "name.json"
    path.write_bytes(b"x" * 100_000)
    domination().write(tmp_path, "name")
    assert path.read_bytes() == domination().data


@pytest.mark.parametrize("step", ["replace", "chmod"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_keeps_the_old_file_and_leaves_no_temporary_one(tmp_path, monkeypatch, step, error):
    path = tmp_path / "name.json"
    path.write_bytes(b"old")

    def fail(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(type(error)):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["name.json"]
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_no_reader_sees_half_a_file(tmp_path, monkeypatch):
    """At the moment of the rename the old file is whole and the new one is complete under another name."""
    path = tmp_path / "name.json"
    path.write_bytes(b"old")
    rename = os.replace
    seen = []

    def observed(source, target):
        seen.append((path.read_bytes(), Path(source).read_bytes(), os.path.dirname(source) == str(tmp_path)))
        rename(source, target)

    monkeypatch.setattr(os, "replace", observed)
    write_atomically(path, b"new" * 50_000)
    assert seen == [(b"old", b"new" * 50_000, True)]
