"""proofcheck experiment: files, resumption, changed settings, and what it says about bad input."""

from __future__ import annotations

import json

import pytest

from proofcheck.kernel.check import check_files

from .running import inside, outside

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

TINY = ("--ranks", "2,4", "--seeds", 2, "--steps", 20)


def finite(out, *more):
    return inside("experiment", "finite-family", *TINY, "--out", out, *more)


def test_finite_family(tmp_path):
    done = finite(tmp_path, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["jumps"], found["inputs"], found["pairs"], len(found["runs"])) == (424, 1272, 210, 4)
    assert [item["value"] for item in found["excluded"]] == [9, 11]
    assert found["constructed"]["exact"]
    assert found["failed"] == 4
    assert found["refuted"] == {"kernel-refutation": 4}
    assert {row["figure"] for row in found["table"]} >= {"jumps, inputs", "mean largest error, r <= 15"}
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"certificates", "figure.png", "figure.svg", "results.json", "runs.jsonl", "table.md"}
    paths = [str(path) for path in sorted((tmp_path / "certificates").rglob("*.json"))]
    assert {report.status for report in check_files(paths)} == {0}
    for run in found["runs"]:
        assert (tmp_path / run["certificate"]["file"]).exists()


def test_an_interrupted_experiment_is_taken_up_again(tmp_path):
    assert finite(tmp_path / "whole").exit_code == 0
    whole = (tmp_path / "whole" / "runs.jsonl").read_text().splitlines()
    out = tmp_path / "half"
    out.mkdir()
    kept = json.loads(whole[1]) | {"seconds": -1}
    (out / "runs.jsonl").write_text("\n".join([whole[0], json.dumps(kept)]) + "\n")
    assert finite(out).exit_code == 0
    lines = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()[1:]]
    assert [(line["rank"], line["seed"]) for line in lines] == [(2, 0), (2, 1), (4, 0), (4, 1)]
    assert lines[0]["seconds"] == -1  # it was read, not run
    before = (out / "runs.jsonl").read_bytes()
    assert finite(out, "--seeds", 1).exit_code == 0  # fewer runs than are there: nothing is lost
    assert (out / "runs.jsonl").read_bytes() == before


def test_changed_settings_are_noticed(tmp_path):
    assert finite(tmp_path, "--ranks", "2", "--seeds", 1).exit_code == 0
    done = finite(tmp_path, "--ranks", "2", "--seeds", 1, "--steps", 21)
    assert done.exit_code == 2
    assert "steps was 20, is 21" in done.stderr


def test_a_broken_file_is_noticed(tmp_path):
    (tmp_path / "runs.jsonl").write_text("nonsense\n")
    done = finite(tmp_path)
    assert done.exit_code == 4
    assert "line 1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "0"], "--ranks"),
        (["--loss", "cubes"], "loss"),
        (["--features", "relu"], "features"),
        (["--device", "tpu"], "--device"),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    done = finite(tmp_path, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_ood(tmp_path):
    tiny = ("--quick", "--ranks", "1,4", "--seeds", 2, "--steps", 5, "--out", tmp_path)
    done = inside("experiment", "ood", *tiny, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert [(run["rank"], run["seed"]) for run in found["runs"]] == [(0, 0), (0, 1), (1, 0), (1, 1), (4, 0), (4, 1)]
    assert [scale["M"] for scale in found["scales"]] == [6]
    assert {"figure.png", "figure.svg", "results.json", "runs.jsonl", "table.md"} == {
        p.name for p in tmp_path.iterdir()
    }
    before = (tmp_path / "runs.jsonl").read_bytes()
    again = inside("experiment", "ood", *tiny)
    assert again.exit_code == 0
    assert "dense control" in again.stdout
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    changed = inside("experiment", "ood", *tiny, "--rate", "0.5")
    assert changed.exit_code == 2
    assert "rate was" in changed.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--scales", "7"], "--scales"), (["--features", "relu"], "features"), (["--ranks", "-1"], "--ranks")],
)
def test_ood_bad_input(tmp_path, arguments, message):
    done = inside("experiment", "ood", "--out", tmp_path, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


# ------------------------------------------------------------------------- --quick, as a user starts it


@pytest.mark.slow
def test_quick_finite_family(tmp_path):
    """The paper's order: the small ranks fail, each with a refutation, and rank 32 solves the family."""
    done = outside("experiment", "finite-family", "--quick", "--json", "--out", tmp_path, seconds=600)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    solved = {rank: [run["solved"] for run in found["runs"] if run["rank"] == rank] for rank in (4, 15, 32)}
    assert solved[4] == [False, False]
    assert all(solved[32])
    failed = [run for run in found["runs"] if not run["solved"]]
    assert sum(found["refuted"].values()) == len(failed) == found["failed"]
    paths = [str(path) for path in sorted((tmp_path / "certificates").rglob("*.json"))]
    assert {report.status for report in check_files(paths)} == {0}


@pytest.mark.slow
def test_quick_ood(tmp_path):
    """The dense control is exact, rank 2 is not, rank 8 is nearly."""
    done = outside("experiment", "ood", "--quick", "--json", "--out", tmp_path, seconds=600)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    accuracy = {rank: [run["accuracy"] for run in found["runs"] if run["rank"] == rank] for rank in (0, 2, 8)}
    assert min(map(float, accuracy[0])) == 1
    assert max(map(float, accuracy[2])) < 0.9 <= min(map(float, accuracy[8]))
