"""proofcheck search: files, JSON, exit statuses, and what it says about bad input."""

from __future__ import annotations

import json

import pytest

from proofcheck.kernel.check import check_files

from .running import inside

pytest.importorskip("torch")


def accepted(folder):
    return {report.status for report in check_files([str(p) for p in sorted(folder.rglob("*.json"))])}


def test_a_head_that_is_found(tmp_path):
    done = inside("search", "-m", 3, "-r", 1, "--heads", 2, "--out", tmp_path)
    assert done.exit_code == 0
    assert "r*(3,3) <= 1 at eps = 1/2" in done.stdout
    names = {path.name for path in (tmp_path / "search").iterdir()}
    assert names == {f"m3-r1-n3-eps1over2-{claim}.json" for claim in ("head-exists", "kernel-correct")}
    assert accepted(tmp_path) == {0}


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", 13, "-r", 2], "-m: "),
        (["-m", 3, "-r", 9], "-r: "),
        (["-m", 3, "-r", 1, "-n", 2], "n >= 3"),
        (["-m", 3, "-r", 1, "--eps", "0.5"], "--eps"),
        (["-m", 3, "-r", 1, "--features", "cubic"], "parametrisation"),
        (["-m", 3, "-r", 1, "--device", "tpu"], "--device"),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    done = inside("search", *arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
