"""proofcheck bound: files, tables, JSON and exit statuses of the real command, and what it says about bad input."""

import json
from math import log2
from pathlib import Path

import pytest

from proofcheck.kernel.check import check_files

from .running import inside, outside


def statuses(folder):
    """File name -> the kernel's exit status, all files of the folder checked together."""
    paths = [str(path) for path in sorted(Path(folder).rglob("*.json"))]
    return {Path(report.path).name: report.status for report in check_files(paths)}


# ------------------------------------------------------------------------------------------ one m


def test_one_m_with_nothing_assumed(tmp_path):
    done = outside("bound", "-m", "6", "--out", tmp_path)
    assert done.returncode == 0
    assert "r*(6,3), error < 1/2" in done.stdout
    assert "no chirotope on 6 elements" in done.stdout
    assert done.stderr.strip() == ""
    checked = statuses(tmp_path)
    assert set(checked.values()) == {0}
    assert {f"{side}-m6-n3-eps1over2.json" for side in ("lower", "unconditional", "upper")} <= set(checked)
    for path in (tmp_path / "bounds").iterdir():
        identifier = next(r for r in check_files([str(path)])).certificate.id
        assert identifier[:12] in done.stdout


def test_the_kernel_alone_verifies_what_was_written(tmp_path):
    """With python -S: standard library only."""
    import subprocess
    import sys

    assert inside("bound", "-m", "12", "--out", tmp_path).exit_code == 3
    command = [sys.executable, "-S", "-m", "proofcheck.kernel", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Borsuk-Ulam" in done.stdout


@pytest.fixture(scope="module")
def nine(tmp_path_factory):
    out = tmp_path_factory.mktemp("nine")
    return outside("bound", "-m", "9", "--json", "--out", out), out


def test_json_of_one_m(nine):
    done, _ = nine
    assert done.returncode == 3
    result = json.loads(done.stdout)
    assert (result["m"], result["n"], result["eps"], result["status"]) == (9, 3, "1/2", 3)
    assert result["lower"]["value"] == "7"
    assert [text for text in result["lower"]["assumes"] if "Borsuk-Ulam" in text]
    assert result["unconditional"]["value"] == "4"
    assert result["unconditional"]["assumes"] == result["upper"]["assumes"] == []
    assert 7 <= int(result["upper"]["value"]) <= 10
    assert result["paper"]["upper"] == {"value": "512", "log2": "9.0000"}
    for side, path in result["files"].items():
        (report,) = check_files([path])
        assert report.certificate.id == result[side]["certificate"]
    for side in ("lower", "unconditional", "upper"):
        assert result[side]["log2"] == f"{log2(int(result[side]['value'])):.4f}"


def test_running_again_writes_the_same_bytes(nine, tmp_path):
    inside("bound", "-m", "9", "--out", tmp_path)
    for path in (tmp_path / "bounds").iterdir():
        assert path.read_bytes() == (nine[1] / "bounds" / path.name).read_bytes()


@pytest.mark.slow
def test_m24_beats_the_prototype(tmp_path):
    done = inside("bound", "-m", "24", "--json", "--out", tmp_path)
    result = json.loads(done.stdout)
    assert int(result["lower"]["value"]) >= 22
    assert float(result["unconditional"]["log2"]) >= 4.0
    assert result["lower"]["assumes"]
    assert int(result["lower"]["value"]) <= int(result["upper"]["value"]) < 2**13


def test_m128(tmp_path):
    """Issue: lower >= 2^23.5, the paper's 2^11, and both certificates pass."""
    done = inside("bound", "-m", "128", "--json", "--out", tmp_path)
    result = json.loads(done.stdout)
    assert float(result["lower"]["log2"]) >= 23.5
    assert result["lower"]["assumes"] == []
    assert result["paper"]["lower"]["value"] == str(2**11)
    assert set(statuses(tmp_path).values()) <= {0, 3}


def test_other_lengths_and_errors(tmp_path):
    done = inside("bound", "-m", "5", "-n", "4", "--eps", "1/4", "--json", "--out", tmp_path)
    result = json.loads(done.stdout)
    assert (result["n"], result["eps"]) == (4, "1/4")
    assert 3 <= int(result["lower"]["value"]) <= int(result["upper"]["value"]) <= 32
    assert "upper-m5-n4-eps1over4.json" in statuses(tmp_path)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_tokens_need_one_feature(n, tmp_path):
    done = outside("bound", "-m", "40", "-n", n, "--out", tmp_path)
    assert done.returncode == 0
    assert set(statuses(tmp_path).values()) == {0}


def test_a_million_bits_give_logarithms(tmp_path):
    done = outside("bound", "-m", "1000000", "--json", "--out", tmp_path)
    assert done.returncode == 3
    result = json.loads(done.stdout)
    low, high = float(result["log2"]["lower"]), float(result["log2"]["upper"])
    assert result["m"] == 10**6
    assert 0.186 * 10**6 < low < high < 0.317 * 10**6
    text = inside("bound", "-m", "1000000", "--out", tmp_path)
    assert f"m = 1000000: {result['log2']['lower']} <= log2 r* <= {result['log2']['upper']}" in text.stdout


# ------------------------------------------------------------------------------------------ exponents


def test_exponents(tmp_path):
    done = inside("bound", "--exponents", "--json", "--out", tmp_path)
    assert done.exit_code == 3
    result = json.loads(done.stdout)
    assert float(result["lower"]["exponent"]) >= 0.1861
    assert 0.3129 <= float(result["upper"]["exponent"]) <= 0.316
    assert result["lower"]["assumes"] == []
    assert "Bernstein" in result["upper"]["assumes"][0]
    checked = statuses(tmp_path)
    assert checked["lower-exponent-n3-eps1over2.json"] == 0
    assert checked["upper-exponent-n3-eps1over2.json"] == 3
    assert "for all m" in inside("bound", "--exponents", "-n", "64", "--eps", "1/10", "--out", tmp_path).stdout


# ------------------------------------------------------------------------------------------ the ledger


@pytest.fixture(scope="module")
def small_ledger(tmp_path_factory):
    out = tmp_path_factory.mktemp("ledger")
    return outside("bound", "--update", "1:6", "--out", out), out


def test_update_writes_and_prints_the_ledger(small_ledger):
    done, out = small_ledger
    assert done.returncode == 0
    assert "improved: " in done.stderr
    assert sum(line.startswith("| ") for line in done.stdout.splitlines()) == 7
    assert len(list((out / "rstar" / "n3-eps1over2").glob("*.json"))) == 12
    assert not (out / "rstar-assuming").exists()
    assert set(statuses(out).values()) == {0}


def test_ledger_prints_the_same_table(small_ledger):
    done, out = small_ledger
    again = outside("bound", "--ledger", "--out", out)
    assert again.returncode == 0
    assert again.stdout == done.stdout
    assert again.stderr == ""


def test_ledger_json(small_ledger):
    result = json.loads(inside("bound", "--ledger", "--json", "--out", small_ledger[1]).stdout)
    (table,) = result["tables"]
    assert [row["lower"]["value"] for row in table["rows"]] == ["1", "1", "1", "2", "3", "4"]
    assert [row["closed"] for row in table["rows"][:3]] == [True, True, True]
    assert (table["n"], table["eps"], result["status"]) == (3, "1/2", 0)


def test_tables_for_other_parameters(small_ledger, tmp_path):
    """Each (n, eps) has its own folder and table; --all prints them one after the other."""
    import shutil

    out = tmp_path / "copy"
    shutil.copytree(small_ledger[1], out)
    done = outside("bound", "--update", "1:3", "--eps", "1/4", "--out", out)
    assert done.returncode == 0
    assert done.stdout.startswith("## n = 3, error < 1/4\n")
    assert len(list((out / "rstar" / "n3-eps1over4").glob("*.json"))) == 6
    assert outside("bound", "--ledger", "--out", out).stdout == small_ledger[0].stdout
    every = outside("bound", "--ledger", "--all", "--out", out)
    assert (every.returncode, every.stdout) == (0, f"{small_ledger[0].stdout}\n{done.stdout}")
    tables = json.loads(inside("bound", "--ledger", "--all", "--json", "--out", out).stdout)["tables"]
    assert [(table["n"], table["eps"], len(table["rows"])) for table in tables] == [(3, "1/2", 6), (3, "1/4", 3)]
    assert [row["lower"]["value"] for row in tables[1]["rows"]] == ["1", "2", "3"]
    missing = outside("bound", "--ledger", "-n", "5", "--out", out)
    assert missing.returncode == 2
    assert "no ledger (rstar/n5-eps1over2/*.json" in missing.stderr.replace("\n", " ")


def test_an_update_without_improvement_writes_nothing(small_ledger):
    done, out = small_ledger
    before = {path: path.read_bytes() for path in out.rglob("*.json")}
    again = outside("bound", "--update", "2:4", "--out", out)
    assert "improved" not in again.stderr
    assert again.stdout == done.stdout
    assert {path: path.read_bytes() for path in out.rglob("*.json")} == before


def test_a_forged_entry_is_refused(small_ledger, tmp_path):
    import shutil

    out = tmp_path / "copy"
    shutil.copytree(small_ledger[1], out)
    path = out / "rstar" / "n3-eps1over2" / "upper-m5.json"
    path.write_bytes(path.read_bytes().replace(b'"rank":6', b'"rank":5'))
    done = outside("bound", "--ledger", "--out", out)
    assert done.returncode == 1
    assert "upper-m5.json" in done.stderr
    assert "the head has 6 features, the claim says 5" in done.stderr.replace("\n", " ")
    path.write_bytes(b"{")
    assert outside("bound", "--ledger", "--out", out).returncode == 4


def test_no_ledger(tmp_path):
    done = outside("bound", "--ledger", "--out", tmp_path)
    assert done.returncode == 2
    assert "--out: no ledger" in done.stderr


# ------------------------------------------------------------------------------------------ tables


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    out = tmp_path_factory.mktemp("table")
    done = outside("bound", "--table", "1:12", "--plot", out / "x.png", "--out", out)
    return done, out, out / "tables" / "bounds-n3-eps1over2.jsonl"


def test_a_table_and_its_picture(table):
    done, out, store = table
    assert done.returncode == 3
    assert (out / "x.png").read_bytes().startswith(b"\x89PNG")
    rows = [json.loads(line) for line in store.read_text().splitlines()]
    assert [row["m"] for row in rows] == list(range(1, 13))
    assert all(int(row["lower"]["value"]) <= int(row["upper"]["value"]) <= 2 ** row["m"] for row in rows)
    body = [line.split() for line in done.stdout.splitlines()]
    assert [cells[0] for cells in body if cells and cells[0].isdigit()] == [str(m) for m in range(1, 13)]


def test_a_table_resumes(table):
    """Rows that are there are read, not computed: a mark in one of them survives, and nothing else is written."""
    _, out, store = table
    before = store.read_text()
    marked = before.replace('"no chirotope on 6 elements"', '"by hand"')
    assert marked != before
    try:
        store.write_text(marked)
        done = inside("bound", "--table", "3:7", "--json", "--out", out)
        assert done.exit_code == 3
        rows = json.loads(done.stdout)["rows"]
        assert [row["m"] for row in rows] == [3, 4, 5, 6, 7]
        assert rows[3]["lower"]["method"] == "by hand"
        assert store.read_text() == marked
    finally:
        store.write_text(before)


def test_a_longer_table_keeps_the_rows(tmp_path):
    first = inside("bound", "--table", "2:3", "--out", tmp_path, "--plot", tmp_path / "a.svg")
    assert first.exit_code == 0  # nothing is assumed for so few bits
    assert "<svg" in (tmp_path / "a.svg").read_text()
    store = tmp_path / "tables" / "bounds-n3-eps1over2.jsonl"
    before = store.read_text().splitlines()
    outside("bound", "--table", "1:4", "--jobs", "2", "--out", tmp_path)
    after = store.read_text().splitlines()
    assert after[1:3] == before
    assert [json.loads(line)["m"] for line in after] == [1, 2, 3, 4]


@pytest.mark.parametrize("line", ["{", "[]", '{"n": 3}', '{"m": "x"}', "null", ""])
def test_a_corrupted_table_is_named(table, tmp_path, line):
    good = table[2].read_text().splitlines()
    store = tmp_path / "tables" / "bounds-n3-eps1over2.jsonl"
    store.parent.mkdir()
    store.write_text("\n".join([*good[:2], line, *good[3:]]) + "\n")
    done = inside("bound", "--table", "1:4", "--out", tmp_path)
    assert done.exit_code == 4
    assert "line 3 is not a row of a table" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("line", [b'{"m": 3}', b'{"m": 3, "lower": {"value": "x"}}', b"\xff"])
def test_a_row_without_its_bounds_is_named(table, tmp_path, line):
    good = table[2].read_bytes().splitlines()
    store = tmp_path / "tables" / "bounds-n3-eps1over2.jsonl"
    store.parent.mkdir()
    store.write_bytes(b"\n".join([*good[:2], line, *good[3:]]) + b"\n")
    done = inside("bound", "--table", "1:4", "--out", tmp_path)
    assert done.exit_code == 4
    assert store.name in done.stderr.replace("\n", "")


# ------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "0"], "-m: tokens have 1 <= m <= 1000000 bits, got 0"),
        (["-m", "-3"], "-m: tokens have 1 <= m"),
        (["-m", "1000001"], "-m: tokens have 1 <= m"),
        (["-m", "5", "-n", "0"], "-n: a sequence has n >= 1 tokens"),
        (["-m", "5", "--eps", "0"], "--eps: expected 0 < eps <= 1/2"),
        (["-m", "5", "--eps", "2/3"], "--eps: expected 0 < eps <= 1/2"),
        (["-m", "5", "--eps", "0.25"], "--eps: expected 0 < eps <= 1/2"),
        (["-m", "x"], "-m"),
        (["--table", "9:3"], "--table: expected an integer A or a range A:B"),
        (["--table", "0:3"], "--table: expected"),
        (["--table", "1:2:3"], "--table: expected"),
        (["--table", "1:3", "-n", "2"], "-n: a table needs n >= 3"),
        (["--table", "1:9000"], "--table: expected"),
        (["--update", "3:1"], "--update: expected"),
        (["--update", "1:3", "-n", "2"], "-n: the ledger is about n >= 3"),
        (["--ledger", "-n", "1"], "-n: the ledger is about n >= 3"),
        (["-m", "5", "--all"], "--all: expected with --ledger"),
        (["--exponents", "-n", "2"], "-n: exponents need n >= 3"),
        ([], "bound: give one of -m, --table, --exponents, --ledger, --update"),
        (["-m", "5", "--table", "1:3"], "bound: give one of"),
        (["--ledger", "--exponents"], "bound: give one of"),
        (["-m", "0", "--ledger"], "bound: give one of"),
        (["-m", "5", "--plot", "x.png"], "--plot: expected --table and a file named .png or .svg"),
        (["--exponents", "--plot", "x.svg"], "--plot: expected --table"),
        (["--table", "1:3", "--plot", "x.pdf"], "--plot: expected --table and a file named .png or .svg"),
        (["-m", "5", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_named(arguments, message, tmp_path):
    out = tmp_path / "out"
    done = inside("bound", *arguments, "--out", out)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not out.exists()
