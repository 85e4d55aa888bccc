"""Shard files and the merge: every kind of gap, overlap, foreign or damaged file is rejected with its reason."""

from __future__ import annotations

import functools
import json
import shutil
from fractions import Fraction

import numpy as np
import pytest

from proofcheck.certificate import certify
from proofcheck.errors import MalformedInput
from proofcheck.kernel.exact import canonical
from proofcheck.sweeps import shards
from proofcheck.sweeps.plan import Plan, Settings
from proofcheck.sweeps.shards import Finished
from proofcheck.theorems.bundle import foundation

from .working import HALF, result, small_plan


@functools.cache
def softmin(m):
    """The identity and 12^(m - overlap): a head of rank 2^m."""
    rested = foundation("domination-sufficient")[1]
    tokens = np.arange(1 << m)
    overlaps = np.bitwise_count(tokens[:, None] & tokens).astype(int)
    witness = {"queries": np.eye(1 << m, dtype=int).tolist(), "keys": (12 ** (m - overlaps)).tolist()}
    given = {"m": m, "n": 3, "eps": HALF, "rank": 1 << m}
    return certify("head-exists", given, "table-head", witness, command="test", uses=[rested]), rested


def found(m):
    certificate, rested = softmin(m)
    name = f"m{m}.json"
    named = [{"claim": "head-exists", "id": certificate.id, "name": name}]
    files = ((name, certificate.data), ("domination/domination-sufficient.json", rested.data))
    content = {"outcome": "found", "certificates": named, "attempts": [], "nearest": "-1", "note": ""}
    return Finished(content, files, {})


@pytest.fixture
def swept(tmp_path):
    """(plan, folder): a plan of which the folder holds all shards, one cell found."""
    plan = Plan.of([(2, 4, 3, HALF, 0), (2, 1, 3, HALF, 0), (2, 1, 3, HALF, 1)])
    for i, shard in enumerate(plan.shards):
        done = found(2) if shard.r == 4 else Finished(result(shard), (), {"seconds": str(i)})
        shards.write(tmp_path, shard, done)
    return plan, tmp_path


def rewritten(path, change, sealed=True):
    """The shard file after `change(compared)`, with the right digest or without."""
    content = json.loads(path.read_bytes())
    change(content["compared"])
    if sealed:
        content["digest"] = shards.digest(content["compared"])
    path.write_bytes(canonical(content))


def rejected(plan, folders, message):
    with pytest.raises(MalformedInput, match=message) as caught:
        shards.merge(plan, folders)
    return str(caught.value)


def test_merge(swept):
    plan, folder = swept
    merged = shards.merge(plan, [folder])
    assert [(c["r"], c["outcome"], len(c["shards"])) for c in merged["cells"]] == [(1, "open", 2), (4, "found", 1)]
    assert merged["plan"] == plan.id


def test_times_are_not_compared(swept):
    plan, folder = swept
    before = canonical(shards.merge(plan, [folder]))
    shards.write(folder, plan.shards[0], Finished(result(plan.shards[0]), (), {"seconds": "1000", "host": "elsewhere"}))
    assert canonical(shards.merge(plan, [folder])) == before


def test_parts_from_two_folders(swept, tmp_path_factory):
    plan, folder = swept
    before, other = canonical(shards.merge(plan, [folder])), tmp_path_factory.mktemp("other")
    path = shards.path_of(folder, plan.shards[1])
    (other / "shards").mkdir()
    shutil.move(path, other / "shards")
    for folders in ([folder, other], [other, folder]):
        assert canonical(shards.merge(plan, folders)) == before


def test_gap(swept):
    plan, folder = swept
    shards.path_of(folder, plan.shards[1]).unlink()
    assert plan.shards[1].id in rejected(plan, [folder], "gap: 1 of 3 shards")


def test_a_temporary_file_is_no_shard(swept):
    plan, folder = swept
    (folder / "shards" / ".x.json.abc").write_bytes(b"{")
    (folder / "shards" / ".x.json").write_bytes(b"{")
    shards.merge(plan, [folder])


def test_overlap(swept, tmp_path_factory):
    plan, folder = swept
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(folder / "shards", other / "shards")
    first = min(shard.id for shard in plan.shards)
    assert first in rejected(plan, [folder, other], "overlap: shard .* is both in")
    path = shards.path_of(folder, plan.shards[2])
    shutil.copy(path, path.with_name("zz.json"))
    assert plan.shards[2].id in rejected(plan, [folder], "overlap")


def test_foreign(swept):
    plan, folder = swept
    foreign = small_plan(settings=Settings(heads=3)).shards[0]
    path = shards.write(folder, foreign, Finished(result(foreign), (), {}))
    assert str(path) in rejected(plan, [folder], "is foreign: .* is not in this plan")


def test_a_task_under_the_id_of_another(swept):
    plan, folder = swept
    path = shards.path_of(folder, plan.shards[0])
    rewritten(path, lambda part: part["task"].update(seed=7))
    rejected(plan, [folder], "is foreign: its task or settings are not those of its id")


def test_misnamed(swept):
    plan, folder = swept
    path = shards.path_of(folder, plan.shards[0])
    path.rename(path.with_name("0.json"))
    rejected(plan, [folder], "it holds shard .* under another name")


@pytest.mark.parametrize(
    ("change", "sealed", "message"),
    [
        (lambda part: part["result"].update(note="better"), False, "digest"),
        (lambda part: part["result"].update(outcome="proved"), True, "its outcome is unknown"),
        (lambda part: part["result"].pop("note"), True, "'note' is missing"),
        (lambda part: part.update(extra=1), True, "unknown field"),
        (lambda part: part["result"].update(certificates=[{}]), True, "'claim' is missing"),
        (
            lambda part: part["result"].update(certificates=[{"claim": "a", "id": "b", "name": "../m2.json"}]),
            True,
            "not in the folder of certificates",
        ),
    ],
)
def test_damaged_content(swept, change, sealed, message):
    plan, folder = swept
    path = shards.path_of(folder, plan.shards[0])
    rewritten(path, change, sealed)
    assert str(path) in rejected(plan, [folder], f"is damaged: .*{message}")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"format": "proofcheck-shard/1"}', b"1.5"])
def test_damaged_bytes(swept, data):
    plan, folder = swept
    path = shards.path_of(folder, plan.shards[0])
    path.write_bytes(data)
    assert str(path) in rejected(plan, [folder], "is damaged")


def test_truncated_anywhere(swept):
    plan, folder = swept
    path = shards.path_of(folder, plan.shards[0])
    data = path.read_bytes()
    for length in range(0, len(data) - 2, 37):
        path.write_bytes(data[:length])
        rejected(plan, [folder], "is damaged")


def swap(folder):
    certificate, _ = softmin(1)
    (folder / "certificates" / "m2.json").write_bytes(certificate.data)


def spoil(folder):
    path = folder / "certificates" / "m2.json"
    path.write_bytes(path.read_bytes().replace(b'"rank":4', b'"rank":3'))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "certificates" / "m2.json").unlink(), "its certificate .* is missing"),
        (lambda folder: shutil.rmtree(folder / "certificates" / "domination"), "the kernel does not accept"),
        (spoil, "the kernel does not accept"),
        (swap, "is not the certificate"),
    ],
)
def test_certificates_are_checked_again(swept, change, message):
    plan, folder = swept
    change(folder)
    assert next(s.id for s in plan.shards if s.r == 4) in rejected(plan, [folder], message)


def test_a_certificate_about_something_else(tmp_path):
    """A head of rank 4 on 2 bits shows nothing about rank 3, about 3 bits, or about a smaller error."""
    for task, message in (
        ((2, 3, 3, HALF, 0), "is about rank = 4, not 3"),
        ((3, 4, 3, HALF, 0), "is about m = 2, not 3"),
        ((2, 4, 4, HALF, 0), "is about n = 3, not 4"),
        ((2, 4, 3, Fraction(1, 4), 0), "is about eps = 1/2, not 1/4"),
    ):
        plan, folder = Plan.of([task]), tmp_path / message.replace("/", "-")
        shards.write(folder, plan.shards[0], found(2))
        rejected(plan, [folder], message)


@pytest.mark.parametrize("outcome", ["found", "refuted"])
def test_an_outcome_without_certificates(swept, outcome):
    plan, folder = swept
    rewritten(shards.path_of(folder, plan.shards[0]), lambda part: part["result"].update(outcome=outcome))
    rejected(plan, [folder], f"{outcome}, but its certificates do not show it")
