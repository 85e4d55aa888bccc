"""Lists of sizes as they come from a command line."""

import sys

import pytest

from proofcheck.cli.options import steps
from proofcheck.errors import UsageError

from .running import inside

GOOD = {
    "8": [8],
    "8:11": [8, 9, 10, 11],
    "8:64:8": [8, 16, 24, 32, 40, 48, 56, 64],
    "8:15:8": [8],
    "16,64,256": [16, 64, 256],
    "3,1:3,2": [3, 1, 2],
    "5:5": [5],
}


@pytest.mark.parametrize("text", GOOD)
def test_steps(text):
    assert steps(text, "-m", 1, 1000) == GOOD[text]


BAD = [
    "",
    ",",
    "8,",
    "8:",
    ":8",
    "9:8",
    "0",
    "1001",
    "8:1001",
    "8:16:0",
    "8:16:-1",
    "1:2:3:4",
    "1/2",
    "8.0",
    "x",
    "8 9",
]


@pytest.mark.parametrize("text", BAD)
def test_bad_steps(text):
    with pytest.raises(UsageError, match=r"^-m: expected integers A, ranges A:B or A:B:STEP, .*within 1\.\.1000"):
        steps(text, "-m", 1, 1000)


def test_too_many():
    with pytest.raises(UsageError):
        steps("1:1000000", "-r", 1, 10**6)
    assert len(steps("1:1000000:1000", "-r", 1, 10**6)) == 1000


@pytest.mark.parametrize("arguments", ["bound -m 6", "search -m 4 -r 2", "refute elu1 -m 12"])
def test_a_place_that_is_no_folder_is_refused_before_the_work(tmp_path, arguments, monkeypatch):
    """Nothing is computed: the parts that would do it are gone."""
    for name in ("proofcheck.bounds.best", "proofcheck.neural.search", "proofcheck.refuter"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "file").write_text("mine")
    done = inside(*arguments.split(), "--out", tmp_path / "file" / "below")
    assert done.exit_code == 2
    assert f"--out: expected a folder, or one that can be made, got {tmp_path}/file/below" in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
