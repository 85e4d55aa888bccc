"""proofcheck verify: one line per file, a summary, the documented exit status, and never a success for nothing."""

import json
import os
import shutil
from pathlib import Path

import pytest

from proofcheck.kernel.check import check_file, check_files, overall

from .running import inside, outside

KERNEL = Path(__file__).parents[1] / "kernel"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Two accepted certificates, in a folder and in one below it."""
    out = tmp_path_factory.mktemp("good")
    assert inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--out", out).exit_code == 0
    (out / "below").mkdir()
    (out / "gap-tightness-n3-d2-eps1over2.json").rename(out / "below" / "tight.json")
    return out


@pytest.fixture
def mixed(good, tmp_path):
    """One file of each kind."""
    text = next(good.glob("*.json")).read_text()
    (tmp_path / "good.json").write_text(text)
    (tmp_path / "rejected.json").write_text(text.replace('"M.upper":2', '"M.upper":3'))
    (tmp_path / "malformed.json").write_text(text[:-20])
    return tmp_path


def lines(result):
    return [line.split()[0] for line in result.stdout.splitlines()]


def test_file(good):
    path = next(good.glob("*.json"))
    result = inside("verify", path)
    report = check_file(str(path))
    assert result.exit_code == 0
    first, summary = result.stdout.splitlines()
    assert first == f"verified    {report.certificate.id[:12]}  {path}: {report.message}"
    assert summary == "1 certificates: 1 verified"


def test_folder_is_searched_to_the_bottom(good):
    (good / "notes.txt").write_text("not a certificate, and not named as one")
    result = inside("verify", good)
    assert result.exit_code == 0
    assert "below/tight.json: instance n=3" in result.stdout
    assert result.stdout.splitlines()[-1] == "2 certificates: 2 verified"


def test_files_and_folders_together_each_file_once(good):
    result = inside("verify", good / "below", next(good.glob("*.json")), good / "below" / "tight.json")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "2 certificates: 2 verified"


@pytest.mark.parametrize(
    ("names", "status", "summary"),
    [
        (["good"], 0, "1 certificates: 1 verified"),
        (["rejected"], 1, "1 certificates: 1 REJECTED"),
        (["malformed"], 4, "1 certificates: 1 MALFORMED"),
        (["good", "malformed"], 4, "2 certificates: 1 verified, 1 MALFORMED"),
        (["good", "rejected"], 1, "2 certificates: 1 verified, 1 REJECTED"),
        (["malformed", "rejected"], 1, "2 certificates: 1 REJECTED, 1 MALFORMED"),
        (["rejected", "malformed", "good"], 1, "3 certificates: 1 verified, 1 REJECTED, 1 MALFORMED"),
    ],
)
def test_status_of_a_mixture(mixed, names, status, summary):
    paths = [mixed / f"{name}.json" for name in names]
    result = inside("verify", *paths)
    assert result.exit_code == status
    assert result.stdout.splitlines()[-1] == summary
    assert [word.lower() for word in lines(result)[:-1]] == [{"good": "verified"}.get(name, name) for name in names]
    as_json = inside("verify", "--json", *paths)
    assert as_json.exit_code == status
    answer = json.loads(as_json.stdout)
    assert answer["status"] == status
    assert [r["outcome"] for r in answer["results"]] == [{"good": "verified"}.get(name, name) for name in names]


def test_json_says_what_the_kernel_says(mixed):
    result = inside("verify", mixed, "--json")
    for outcome in json.loads(result.stdout)["results"]:
        report = check_file(outcome["file"])
        assert outcome["status"] == report.status
        assert outcome["message"] == report.message
        assert outcome["certificate"] == (report.certificate and report.certificate.id)
        assert outcome["checked"] == (report.verdict.checked if report.verdict else [])
        assert outcome["assumed"] == []


def test_by_the_real_command_and_without_assertions(mixed):
    """python -O changes no verdict, no line and no status."""
    for options in ((), ("--json",)):
        plain, optimised = (outside("verify", mixed, *options, options=flags) for flags in ([], ["-O"]))
        assert plain.returncode == optimised.returncode == 1
        assert plain.stdout == optimised.stdout
        assert "the sum does not cancel" in plain.stdout
        assert plain.stderr == optimised.stderr == ""


@pytest.mark.parametrize("kind", ["accepted", "rejected", "malformed", "conditional"])
def test_the_kernels_data_files_get_the_kernels_verdict(kind):
    paths = sorted((KERNEL / kind).glob("*.json"))
    if kind == "conditional" and not paths:
        pytest.skip("no such folder")
    reports = check_files([str(path) for path in paths])
    result = inside("verify", "--json", *paths)
    assert result.exit_code == overall(reports)
    assert [r["status"] for r in json.loads(result.stdout)["results"]] == [report.status for report in reports]
    assert len({report.status for report in reports}) < len(reports)


def test_nothing_found_is_an_error(tmp_path):
    (tmp_path / "certificate.txt").write_text("{}")
    result = inside("verify", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{tmp_path}: no certificate (*.json) in this folder" in result.stderr


def test_one_empty_folder_among_others_is_an_error_too(good, tmp_path):
    assert inside("verify", good, tmp_path).exit_code == 2


def test_a_missing_path_is_a_usage_error(good, tmp_path):
    for arguments in ([tmp_path / "missing.json"], [good, tmp_path / "missing"], [tmp_path / ("x" * 300)], []):
        result = inside("verify", *arguments)
        assert result.exit_code == 2, arguments
        assert result.stdout == "", "nothing is reported as verified before the arguments are known to be right"
    assert f"{tmp_path / 'missing.json'}: no such file or folder" in inside("verify", tmp_path / "missing.json").stderr


def test_an_empty_argument_is_not_the_working_folder(good, monkeypatch):
    """verify "$UNSET" must not re-check whatever lies here and call it a success."""
    monkeypatch.chdir(good)
    assert inside("verify", "").exit_code == 2


def test_what_is_no_regular_file_is_malformed_and_does_not_hang(good, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.json" / "inner.json").symlink_to(next(good.glob("*.json")))
    done = outside("verify", tmp_path)
    assert done.returncode == 4
    assert "pipe.json: not a regular file" in done.stdout
    assert "folder.json/inner.json: instance n=3" in done.stdout, "a folder is searched, whatever its name"
    assert done.stdout.splitlines()[-1] == "2 certificates: 1 verified, 1 MALFORMED"


def test_a_link_to_nowhere(tmp_path):
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    result = inside("verify", tmp_path)
    assert result.exit_code == 4
    assert "gone.json: cannot be read" in result.stdout


def test_a_file_name_cannot_forge_a_line(mixed):
    """One line per file whatever the file is called: line breaks and escape sequences are shown, not obeyed."""
    os.rename(mixed / "rejected.json", mixed / "x\nverified    0123456789ab  good.json")
    (mixed / "malformed.json").rename(mixed / "\x1b[2Kx.json")
    result = inside("verify", mixed)
    assert result.exit_code == 1
    assert sorted(lines(result)) == sorted(["verified", "REJECTED", "MALFORMED", "3"])
    assert "\x1b" not in result.stdout


def test_a_file_name_that_is_no_text(mixed):
    """Undecodable names, on a strict terminal."""
    shutil.copy(mixed / "good.json", os.fsencode(mixed) + b"/bad\xff.json")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    for options in ((), ("--json",)):
        done = outside("verify", mixed, *options, environment=environment)
        assert done.returncode == 1
    assert len(json.loads(done.stdout)["results"]) == 4


def test_help_lists_both_commands():
    result = inside("--help")
    assert result.exit_code == 0
    for word in ("lemma3", "verify", "Exit status: 0 proved or verified, 1 rejected or refuted, 2 usage"):
        assert word in result.stdout
