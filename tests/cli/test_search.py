"""proofcheck search: files, JSON, exit statuses, and what it says about bad input."""

from __future__ import annotations

import json
import re

import pytest

from proofcheck.kernel.check import check_files

from .running import inside

pytest.importorskip("torch")


def stems(folder):
    """Names without the certificate's id, which is at their end."""
    return {re.sub(r"-[0-9a-f]{8}(?=\.\w+$)", "", path.name) for path in (folder / "search").iterdir()}


def one(folder, pattern):
    (path,) = (folder / "search").glob(pattern)
    return path


def accepted(folder):
    return {report.status for report in check_files([str(p) for p in sorted(folder.rglob("*.json"))])}


def test_a_head_that_is_found(tmp_path):
    done = inside("search", "-m", 3, "-r", 1, "--heads", 2, "--out", tmp_path)
    assert done.exit_code == 0
    assert "r*(3,3) <= 1 at eps = 1/2" in done.stdout
    assert stems(tmp_path) == {f"m3-r1-n3-eps1over2-{claim}.json" for claim in ("head-exists", "kernel-correct")}
    assert accepted(tmp_path) == {0}


def test_another_search_overwrites_nothing(tmp_path):
    first = ("search", "-m", 3, "-r", 2, "--heads", 2, "--out", tmp_path)
    assert inside(*first).exit_code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "search").iterdir()}
    assert inside(*first, "--features", "linear").exit_code == 0
    after = {path.name: path.read_bytes() for path in (tmp_path / "search").iterdir()}
    assert len(after) >= len(before) + 3  # another table, and the layer
    assert {name: after.get(name) for name in before} == before


def test_a_rank_that_is_too_small(tmp_path):
    done = inside(
        *("search", "-m", 4, "-r", 1, "--heads", 2, "--steps", 50, "--restarts", 2, "--out", tmp_path, "--json")
    )
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["found"], found["status"], len(found["attempts"])) == (False, 1, 2)
    assert all(attempt["refutation"]["id"] for attempt in found["attempts"])
    assert len(found["files"]) == 2
    assert accepted(tmp_path) == {0}


def test_a_layer_that_is_found(tmp_path):
    """The layer's file is certified by the command that reads it."""
    done = inside("search", "-m", 3, "-r", 2, "--features", "linear", "--activation", "relu", "--out", tmp_path)
    assert done.exit_code == 0
    assert "bound the rank and are no longer the layer itself" in done.stdout
    assert "The layer itself, weights in multiples of 2^-" in done.stdout
    label = "m3-r2-n3-eps1over2"
    certificates = ("head-exists", "kernel-correct", "layer-kernel-correct")
    assert stems(tmp_path) == {f"{label}-layer.npz", *(f"{label}-{claim}.json" for claim in certificates)}
    assert accepted(tmp_path) == {0}
    again = inside("certify", one(tmp_path, "*.npz"), "-m", 3, "--out", tmp_path, "--json")
    assert json.loads(again.stdout)["outcome"] == "kernel-correct"


def test_the_rank_of_squares(tmp_path):
    done = inside("search", "-m", 3, "-r", 2, "--features", "square", "--heads", 2, "--out", tmp_path)
    assert done.exit_code == 0
    assert "a rank d(d+1)/2: 1 is the largest up to 2" in done.stdout
    assert "r*(3,3) <= 1 at" in done.stdout


def test_a_head_with_a_readout(tmp_path):
    done = inside("search", "-m", 3, "-r", 2, "--dv", 3, "--out", tmp_path)
    assert done.exit_code == 0
    assert "even with linear values of dimension 3 and a readout free at the query" in done.stdout
    label = "m3-r2-n3-eps1over2"
    assert f"{label}-dv3-free-exhaustive-head.json" in stems(tmp_path)
    assert accepted(tmp_path) == {0}


def test_values_of_too_small_a_dimension(tmp_path):
    """Each failure ends as its worst sequence, and as inputs on which no readout of its values is correct."""
    done = inside(
        *("search", "-m", 3, "-r", 2, "--dv", 1, "--heads", 2, "--steps", 60, "--restarts", 2, "--out", tmp_path)
    )
    assert done.exit_code == 1
    assert "2 of 2 best heads have a counterexample" in done.stdout
    assert {f"m3-r2-n3-eps1over2-seed0-restart{i}-counterexample.json" for i in range(2)} < stems(tmp_path)
    assert accepted(tmp_path) == {0}


def test_warm_starts(tmp_path):
    """From one rank more; and from the certificate of that search, a bit more."""
    done = inside("search", "-m", 3, "-r", 1, "--heads", 2, "--warm", "r+1", "--out", tmp_path)
    assert done.exit_code == 0
    found = one(tmp_path, "m3-r1-n3-eps1over2-head-exists-*.json")
    assert "--warm r+1" in json.loads(found.read_text())["producer"]["command"]
    done = inside("search", "-m", 4, "-r", 2, "--heads", 2, "--warm", found, "--out", tmp_path)
    assert done.exit_code == 0
    assert "r*(4,3) <= 2" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", 13, "-r", 2], "-m: "),
        (["-m", 3, "-r", 9], "-r: "),
        (["-m", 3, "-r", 1, "--activation", "relu"], "--activation, --maps, --hidden: expected with --features linear"),
        (["-m", 3, "-r", 1, "--readout", "affine"], "--readout: expected with --dv, got affine"),
        (["-m", 3, "-r", 1, "-n", 2], "n >= 3"),
        (["-m", 3, "-r", 1, "--eps", "0.5"], "--eps"),
        (["-m", 3, "-r", 1, "--features", "cubic"], "parametrisation"),
        (["-m", 3, "-r", 1, "--device", "tpu"], "--device"),
        (["-m", 3, "-r", 1, "--features", "linear", "--activation", "gelu"], "activation"),
        (["-m", 3, "-r", 1, "--features", "mlp", "--maps", "half"], "sharing of W"),
        (["-m", 3, "-r", 1, "--features", "linear", "--warm", "r+1"], "linear are not free"),
        (["-m", 3, "-r", 1, "--warm", "nowhere.json"], "nowhere.json: no such file"),
        (["-m", 3, "-r", 1, "--dv", 3, "--readout", "cubic"], "expected a readout of free, affine"),
        (["-m", 3, "-r", 1, "--dv", 3, "--features", "signed"], "kernel cannot be negative"),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    done = inside("search", *arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
