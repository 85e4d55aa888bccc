"""proofcheck plan: the real command, its JSON, files and exit statuses, and what it says about bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .running import inside, outside

SMALL = ("plan", "-m", 6, "-n", 3)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    out = tmp_path_factory.mktemp("plan")
    return outside(*SMALL, "-r", 4, "--heads", 2, "--json", "--out", out), out


def test_json_is_traceable(small):
    """Each certificate that a line names is among the files, and the kernel alone accepts all of them."""
    done, out = small
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert result["bits"]["held"] == 2 * 4 * 65 * 16
    ids = {line["certificate"] for line in result["lines"]} - {None}
    command = [sys.executable, "-S", "-m", "proofcheck.kernel", str(out)]
    kernel = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2]
    )
    assert kernel.returncode == 0, kernel.stdout + kernel.stderr
    from proofcheck.kernel.check import check_files

    held = {report.certificate.id for report in check_files(result["files"])}
    assert len(ids) >= 4
    assert ids <= held


def test_the_table_says_what_it_does_not_say(tmp_path):
    done = outside(*SMALL, "--layers", 2, "--precision", "fp8", "--out", tmp_path)
    assert done.returncode == 0
    assert "not excluded" in done.stdout
    assert "necessary, never sufficient" in done.stdout
    assert "about one" in done.stdout


def test_an_impossible_design(tmp_path):
    """One bit for 20 coordinates' worth: eq. (8) asks for more at n = 4096."""
    done = inside("plan", "-m", 8, "-n", 4096, "--dv", 1, "-r", 1, "--precision", "int1", "--tau", 1, "--out", tmp_path)
    assert done.exit_code == 1
    assert "Dense softmax with the readout <x,a> fails: tau = 1." in done.stdout
    assert "This design is impossible: the transcript needs" in done.stdout


def test_allocations(tmp_path):
    done = inside(
        *SMALL, "--heads", 4, "--layers", 3, "--dv", 8, "--minimise", "operations", "--json", "--out", tmp_path
    )
    found = json.loads(done.stdout)["allocation"]
    assert found["outcome"] == "optimal"
    assert found["totals"]["operations"] == found["least"]
    assert found["bits"] >= found["needed"] > 0
    done = inside(*SMALL, "--heads", 4, "--dv", 8, "--max-memory", 1, "--json", "--out", tmp_path)
    assert json.loads(done.stdout)["allocation"]["outcome"] == "impossible"
    done = inside(*SMALL, "--heads", 4, "--dv", 8, "--max-memory", 10**6, "--out", tmp_path)
    assert "Allocation with the least memory" in done.stdout
    done = inside(*SMALL, "--heads", 4, "--dv", 8, "--max-parameters", 0, "--out", tmp_path)
    assert "No allocation within these limits" in done.stdout


WIDE = ("-r", 4, "--heads", 2)  # several heads: not excluded


def words_of(*arguments):
    done = inside("plan", *arguments)
    assert done.exit_code == 0, done.stderr
    return " ".join(done.stdout.split())


def test_softmax_that_fails_is_in_the_last_sentence(tmp_path):
    text = words_of(*SMALL[1:], *WIDE, "--tau", "1/4", "--out", tmp_path)
    assert "Nothing here excludes the kernel heads of this design." in text
    assert "Dense softmax with the readout <x,a> fails: tau = 1/4." in text
    assert "tau is too small in" in text
    rounded = words_of("-m", 16, "-n", 64, *WIDE, "--precision", "fp8", "--tau", 5, "--out", tmp_path)
    assert "Dense softmax with the readout <x,a> fails: scores in fp8, tau = 5." in rounded
    assert "tau is too small" not in rounded
    for works in (("--tau", 4), ()):
        text = words_of(*SMALL[1:], *WIDE, *works, "--out", tmp_path)
        assert "Nothing here excludes this design." in text
        assert "Dense softmax with the readout <x,a> fails" not in text


def test_one_query_is_one(tmp_path):
    text = words_of(*SMALL[1:], *WIDE, "--out", tmp_path)
    assert "1 query at" in text
    assert "1 queries" not in text


def test_allocations_without_limits_say_what_there_was_to_choose(tmp_path):
    done = inside(
        "plan", "-m", 32, "-n", 4096, "--heads", 2, "--dv", 1, "--minimise", "memory", "--features", "1,2",
        "--formats", "int1,fp8", "--precision", "fp32", "--out", tmp_path,
    )  # fmt: skip
    text = " ".join(done.stdout.split())
    assert "No allocation with 1 layer of at most 2 heads, features <= 2 and formats int1, fp8 has the" in text
    assert "these limits" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", 3, "-n", 3), "-m: expected 4 <= m <= 2048 bits of a token, got 3"),
        (("-m", 8, "-n", 2), "-n: expected 3 <= n"),
        (("-m", 8, "-n", 3, "--eps", "2/3"), "--eps: expected 0 < eps <= 1/2"),
        (("-m", 8, "-n", 3, "--precision", "int0"), "--precision: expected one of fp64"),
        (("-m", 8, "-n", 3, "--precision", "fp7"), "got 'fp7'"),
        (("-m", 8, "-n", 3, "--tau", "0"), "--tau: expected 0 < tau"),
        (("-m", 8, "-n", 3, "--tau", "0.5"), "--tau: expected tau > 0, as integers or fractions"),
        (("-m", 8, "-n", 3, "--heads", 0), "--heads: expected 1 <= heads"),
        (("-m", 8, "-n", 3, "-r", 0), "-r: expected 1 <= r"),
        (("-m", 8, "-n", 3, "--minimise", "speed"), "--minimise: expected one of parameters, operations, memory"),
        (("-m", 8, "-n", 3, "--minimise", "memory", "--features", "0"), "--features: expected integers"),
        (("-m", 8, "-n", 3, "--minimise", "memory", "--features", "1:300"), "expected at most 200 pairs, got 900"),
        (("-m", 8, "-n", 3, "--minimise", "memory", "--formats", "fp9"), "--formats: expected one of"),
        (("-m", 8, "-n", 3, "--minimise", "memory", "--formats", "bf16,"), "--formats: expected one of"),
        (("-m", 8, "-n", 3, "--formats", "bf16"), "--features, --formats: expected with --minimise or a limit"),
        (("-m", 8, "-n", 3, "--features", "3"), "--features, --formats: expected with --minimise or a limit"),
        (("-m", 8, "-n", 3, "--max-parameters", "1" + "0" * 400), "--max-parameters"),
        (("-m", 8, "-n", 3, "--precision", "int0640"), "--precision: expected one of"),
    ],
)
def test_bad_input_is_named(arguments, message, tmp_path):
    done = inside("plan", *arguments, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
