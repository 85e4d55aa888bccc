"""The GPU check: a tiny run of it through its entry point, and a certificate that does not verify."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from benchmarks import gpu  # noqa: E402
from proofcheck.neural.search import search  # noqa: E402
from proofcheck.neural.training import Settings  # noqa: E402

ROOT = Path(__file__).parents[2]


def test_a_tiny_run():
    command = [sys.executable, "-m", "benchmarks.gpu", "--bits", "3,4", "--losses", "3", "--repeat", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("cpu: ")
    assert ("no GPU is there: the CPU's half alone" in lines) != torch.cuda.is_available()
    for name in ("margins", "worst", "softened"):
        assert sum(line.startswith(f"  m=3 {name}: cpu ") for line in lines) == 1
    for m, r in ((3, 1), (4, 2)):
        (line,) = (line for line in lines if line.startswith(f"  m={m} r={r} cpu: head-exists "))
        assert ": verified; " in line
    assert lines[-1] == "all heads found, all certificates verified"


def test_a_certificate_that_was_changed_is_not_verified():
    outcome = search(3, 1, settings=Settings(polish=20), small=False)
    found = outcome.exists
    assert gpu.verified((found, outcome.correct))
    assert not gpu.verified((found, replace(found, data=found.data.replace(b'"rank":1', b'"rank":0'))))
    assert not gpu.verified((found, None))


def test_a_failed_search_is_said_and_counts(monkeypatch, capsys):
    """Status 1 where a head is not found."""
    failing = search(3, 1, settings=Settings(polish=20), small=False)
    failing.head = failing.exists = failing.correct = None
    monkeypatch.setattr("proofcheck.neural.search.search", lambda *args, **named: failing)
    assert gpu.main(["--bits", "3", "--losses", ""]) == 1
    assert "NOT VERIFIED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bits", "3,x"], "--bits: expected numbers from 1 to 8, separated by commas, got '3,x'"),
        (["--losses", "9"], "--losses: expected numbers from 1 to 8"),
        (["--bits", ""], "at least one m in --bits"),
        (["--bits", "3", "--repeat", "0"], "--repeat >= 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message, capsys):
    assert gpu.main(arguments) == 2
    assert message in capsys.readouterr().err
