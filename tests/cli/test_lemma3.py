"""proofcheck lemma3: files, tables, JSON and exit statuses of the real command, and what it says about bad input."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofcheck.kernel.check import check_file
from proofcheck.solvers import cvc5_solver, smtlib, z3_solver

from .running import files, inside, outside

SMALL = ("lemma3", "--n", "3:4", "--d", "2:3", "--eps", "1/2,1/3", "--symbolic")
SMALL_NAMES = {
    "gap-domination-symbolic.json",
    *(
        f"gap-{kind}-n{n}-d{d}-eps1over{e}.json"
        for kind in ("domination", "tightness")
        for n in (3, 4)
        for d in (2, 3)
        for e in (2, 3)
    ),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small grid by the real command, table on standard output."""
    out = tmp_path_factory.mktemp("small") / "new" / "folder"
    return outside(*SMALL, "--out", out), out


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The example of the issue: n=7, d=5/2, eps=2/7."""
    out = tmp_path_factory.mktemp("example")
    return outside("lemma3", "--n", "7", "--d", "5/2", "--eps", "2/7", "--out", out), out


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """Below the admissible gap."""
    out = tmp_path_factory.mktemp("refuted")
    return outside("lemma3", "--n", "3", "--d", "1", "--eps", "1/2", "--out", out), out


# ------------------------------------------------------------------------------------------ what it does


def test_grid_writes_one_verified_file_per_claim_and_a_table(small):
    done, out = small
    assert done.returncode == 0
    assert set(files(out)) == SMALL_NAMES
    reports = [check_file(str(path)) for path in out.iterdir()]
    assert {report.status for report in reports} == {0}
    assert f"{len(SMALL_NAMES)} certificates written to" in done.stdout
    assert done.stdout.count(" proved ") == 1 + 8
    assert "all n >= 3" in done.stdout
    for report in reports:
        assert report.certificate.id[:12] in done.stdout
    assert done.stderr.strip() == ""


def test_two_processes_write_the_same_bytes(small, tmp_path):
    done = outside(*SMALL, "--out", tmp_path, "--jobs", "2")
    assert done.returncode == 0
    assert files(tmp_path) == files(small[1])
    assert done.stdout.splitlines()[:-1] == small[0].stdout.splitlines()[:-1]


def test_python_without_assertions_writes_the_same_bytes(small, tmp_path):
    assert outside(*SMALL, "--out", tmp_path, options=["-O"]).returncode == 0
    assert files(tmp_path) == files(small[1])


def test_running_again_changes_nothing(example):
    before = files(example[1])
    assert inside("lemma3", "--n", "7", "--d", "5/2", "--eps", "2/7", "--out", example[1]).exit_code == 0
    assert files(example[1]) == before


def test_rational_gap(example):
    done, out = example
    assert done.returncode == 0
    assert set(files(out)) == {f"gap-{kind}-n7-d5over2-eps2over7.json" for kind in ("domination", "tightness")}
    assert re.search(r"7 +5/2 +2/7 +135/8 +proved", done.stdout)
    for data in files(out).values():
        fields = json.loads(data)
        assert fields["producer"]["command"] == "proofcheck lemma3 --n 7 --d 5/2 --eps 2/7"
        assert (fields["parameters"]["n"], fields["parameters"]["d"], fields["parameters"]["eps"]) == (7, "5/2", "2/7")


def test_changing_any_digit_of_any_multiplier_is_caught(example, tmp_path):
    """Every digit, replaced by each of the nine others: rejected (1) or malformed (4), with the reason."""
    (path,) = example[1].glob("gap-domination-*.json")
    text = path.read_text()
    block = re.search(r'"multipliers":\{[^}]*\}', text)
    places = [
        block.start() + number.start() + offset
        for number in re.finditer(r"(?<=:)[0-9]+", block.group())
        for offset in range(len(number.group()))
    ]
    assert len(places) >= 5, "too few digits: the pattern misses the multipliers"
    for place in places:
        for digit in "0123456789".replace(text[place], ""):
            (tmp_path / f"at{place}-{digit}.json").write_text(text[:place] + digit + text[place + 1 :])
    result = inside("verify", tmp_path, "--json")
    assert result.exit_code == 1
    outcomes = json.loads(result.stdout)["results"]
    assert len(outcomes) == 9 * len(places)
    for outcome in outcomes:
        assert outcome["status"] in (1, 4), outcome["file"]
        assert re.search("does not cancel|must be positive|not JSON|no contradiction", outcome["message"]), outcome


def test_one_changed_digit_by_the_real_command(example, tmp_path):
    (path,) = example[1].glob("gap-domination-*.json")
    bad = tmp_path / "bad.json"
    bad.write_text(re.sub(r'("M.upper":)(\d)', lambda m: f"{m[1]}{(int(m[2]) % 9) + 1}", path.read_text()))
    done = outside("verify", bad)
    assert done.returncode == 1
    assert re.search(r"REJECTED .*bad\.json: the sum does not cancel: \S+ keeps the coefficient", done.stdout)


def test_below_the_admissible_gap(refuted):
    done, out = refuted
    assert done.returncode == 1
    assert set(files(out)) == {"gap-countermodel-n3-d1-eps1over2.json"}
    assert "COUNTER-MODEL" in done.stdout
    sentence = " ".join(done.stdout.split())
    assert sentence.count("Lemma 3 does not apply") == 1
    assert "n=3, d=1, eps=1/2 (below the least admissible gap 2)" in sentence
    assert "The gap must be at least 2" in sentence
    verified = inside("verify", out)
    assert verified.exit_code == 0
    assert "verified" in verified.stdout
    assert "alpha(x,y) <= 1/1000 alpha(x,z)" in verified.stdout


def test_default_lengths_below_the_admissible_gap(tmp_path):
    """`lemma3 --d 1 --eps 1/2` as the issue has it: every default length is below the gap."""
    result = inside("lemma3", "--d", "1", "--eps", "1/2", "--out", tmp_path)
    assert result.exit_code == 1
    assert set(files(tmp_path)) == {f"gap-countermodel-n{n}-d1-eps1over2.json" for n in range(3, 9)}
    assert inside("verify", tmp_path).exit_code == 0


def test_a_mixed_grid_proves_what_it_can_and_fails(tmp_path):
    result = inside("lemma3", "--n", "3", "--d", "1:2", "--eps", "1/2", "--out", tmp_path)
    assert result.exit_code == 1
    assert {name.split("-n3")[0] for name in files(tmp_path)} == {"gap-countermodel", "gap-domination", "gap-tightness"}
    assert result.stdout.count("Lemma 3 does not apply") == 1


@pytest.mark.parametrize(("d", "status", "claims"), [("2", 0, ["domination", "tightness"]), ("1", 1, ["countermodel"])])
def test_json_is_one_object_and_all_else_goes_to_standard_error(tmp_path, d, status, claims):
    done = outside("lemma3", "--n", "3", "--d", d, "--eps", "1/2", "--json", "--out", tmp_path)
    assert done.returncode == status
    answer = json.loads(done.stdout)  # fails on anything before or after the object
    assert answer["status"] == status
    assert [result["claim"] for result in answer["results"]] == [f"gap-{claim}" for claim in claims]
    for result in answer["results"]:
        report = check_file(result["file"])
        assert (report.certificate.id, report.message) == (result["certificate"], result["statement"])
        assert result["assumed"] == []
        assert result["checked"] == report.verdict.checked
        assert (result["parameters"]["n"], result["parameters"]["eps"], result["least gap"]) == (3, "1/2", "2")
    assert "Lemma 3: alpha(x,y) > factor" in done.stderr
    assert f"{len(claims)} certificates written" in done.stderr


def test_symbolic_switches(tmp_path):
    grid = ("lemma3", "--n", "3", "--d", "2", "--eps", "1/2")
    for name, extra, expected in [("a", [], False), ("b", ["--symbolic"], True), ("c", ["--no-symbolic"], False)]:
        assert inside(*grid, *extra, "--out", tmp_path / name).exit_code == 0
        assert ("gap-domination-symbolic.json" in files(tmp_path / name)) is expected
        assert len(files(tmp_path / name)) == 2 + expected


def test_default_gaps_are_the_admissible_integers_up_to_8(tmp_path):
    assert inside("lemma3", "--n", "3", "--eps", "1/2", "--out", tmp_path).exit_code == 0
    assert {name for name in files(tmp_path) if "domination" in name} == {
        f"gap-domination-n3-d{d}-eps1over2.json" for d in range(2, 9)
    }


@pytest.mark.slow
def test_without_options_the_theorem_and_the_whole_grid(tmp_path):
    """The main job, by the console script, in a folder of its own: certificates/lemma3 below it."""
    script = Path(sys.executable).with_name("proofcheck")
    done = subprocess.run(
        [script, "lemma3", "--jobs", "2"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    written = files(tmp_path / "certificates" / "lemma3")
    instances = [
        (n, d, e)
        for n in range(3, 9)
        for d in range(1, 9)
        for e in (2, 3, 4, 10)
        if e * d * (n - 2) >= 2 * (n - 1)  # d >= 2 eps (n-1)/(n-2) with eps = 1/e
    ]
    assert set(written) == {"gap-domination-symbolic.json"} | {
        f"gap-{kind}-n{n}-d{d}-eps1over{e}.json" for kind in ("domination", "tightness") for n, d, e in instances
    }
    assert f"{1 + 2 * len(instances)} certificates written to certificates/lemma3" in done.stdout
    assert inside("verify", tmp_path / "certificates").exit_code == 0


def test_console_script_and_version():
    script = Path(sys.executable).with_name("proofcheck")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, inside("--version").stdout)
    assert re.fullmatch(r"proofcheck \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("solver", ["cvc5", "both"])
def test_other_solvers_give_the_same_certificates(small, tmp_path, solver):
    result = inside(*SMALL, "--solver", solver, "--out", tmp_path)
    assert result.exit_code == 0
    assert files(tmp_path) == files(small[1])


def test_solvers_that_disagree_end_the_run_with_status_1(tmp_path, monkeypatch):
    monkeypatch.setattr(smtlib, "render", lambda query: "(set-logic QF_LRA)(check-sat)")  # all that cvc5 gets to see
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--solver", "both", "--out", tmp_path)
    assert result.exit_code == 1
    assert (
        "query gap-domination-n3-d2-eps1over2-linear: expected unsat, but z3 says unsat, cvc5 says sat" in result.stderr
    )
    assert files(tmp_path) == {}


def test_smt2_exports_every_query_with_its_status(tmp_path):
    arguments = ("--n", "3", "--d", "1:2", "--eps", "1/2", "--symbolic", "--smt2", tmp_path / "smt2")
    assert inside("lemma3", *arguments, "--out", tmp_path / "out").exit_code == 1
    exported = {path.stem: path.read_text() for path in (tmp_path / "smt2").iterdir()}
    label = "n3-d2-eps1over2"
    expected = {
        f"gap-domination-{label}": "unsat",
        f"gap-domination-{label}-linear": "unsat",
        f"gap-tightness-{label}-linear": "sat",
        "gap-countermodel-n3-d1-eps1over2-linear": "sat",
        "gap-domination-symbolic": "unsat",
        "gap-domination-symbolic-products-linear": "unsat",
    }
    assert {name: smtlib.expected_status(text) for name, text in exported.items()} == expected
    for name, text in exported.items():
        assert z3_solver.solve_text(name, text, 30).status == expected[name]
        if name != "gap-domination-symbolic":
            assert cvc5_solver.solve_text(name, text, 30).status == expected[name]


# ------------------------------------------------------------------------------------------- bad input

HUGE = "7" * 400
N_RANGE, D_RANGE, EPS_RANGE = "3 <= A <= B <= 1000000", "A > 0", "0 < eps <= 1/2"
NOT_A_NUMBER = [
    "x",
    "2.5",
    "1e3",
    "nan",
    "inf",
    "1_000",
    "0x10",
    "+3",
    "--3",
    "3 4",
    "1/0",
    "1/",
    "/2",
    "1/2/3",
    "1/-2",
]
NOT_A_NUMBER += ["٣", "３", "½", "²", "\u00a03", "3\u2003", "−3", "3\n4", "3\x00", "'; --", "", " ", HUGE, f"1/{HUGE}"]


def cases():
    """(option, value, what the message must contain beside them)"""
    for value in [
        "2",
        "0",
        "-3",
        "2:5",
        "8:3",
        "3:2",
        "3:1000001",
        "1000001",
        "5/2",
        "3:4:5",
        "3:",
        ":4",
        ":",
        *NOT_A_NUMBER,
    ]:
        yield "--n", value, N_RANGE
    for value in ["0", "-1", "-1/2", "0/5", "0:3", "-1:3", "3:2", "1:2:3", "1:", ":3", ":", *NOT_A_NUMBER]:
        yield "--d", value, D_RANGE
    for value in [
        "0",
        "-1/2",
        "2/3",
        "1",
        "51/100",
        f"{'5' * 39}1/1{'0' * 39}",
        "1/2,1",
        "1/2,",
        ",",
        "1/2,,1/3",
        "1/3:1/2",
    ]:
        yield "--eps", value, EPS_RANGE
    for value in NOT_A_NUMBER:
        yield "--eps", value, EPS_RANGE


@pytest.mark.parametrize(("option", "value", "expected"), list(cases()))
def test_bad_numbers_are_usage_errors_that_name_option_value_and_range(tmp_path, option, value, expected):
    result = inside("lemma3", f"{option}={value}", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    message = result.stderr
    assert message.startswith("proofcheck: ")
    assert message.count("\n") == 1, "one line"
    assert message.isascii(), "no foreign digits or control characters reach the terminal"
    assert option in message
    assert expected in message
    assert len(message) < 300, "a huge value is shortened"
    parts = [ascii(part)[1:-1].strip(" ")[:30] or "''" for part in [value, *re.split("[,:]", value)]]
    assert any(re.search(f"got ['\"]?{re.escape(part)}", message) for part in parts), message
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--solver", "cvc4"], "'cvc4'"),
        (["--solver", "Z3"], "'Z3'"),
        (["--solver", ""], "''"),
        (["--jobs", "0"], "--jobs"),
        (["--jobs", "-2"], "--jobs"),
        (["--jobs", "257"], "--jobs"),
        (["--jobs", "two"], "--jobs"),
        (["--n", "3:20000"], "instances"),
        (["--n", "3:1000000", "--d", "1:1001", "--eps", "1/2"], "instances"),
        (["--d", "1:5000"], "1:5000"),
        (["--nn", "3"], "--nn"),
        (["--n"], "--n"),
        (["3"], "3"),
    ],
)
def test_other_usage_errors(tmp_path, arguments, expected):
    result = inside("lemma3", "--out", tmp_path, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert expected in result.stderr
    assert files(tmp_path) == {}


def test_real_processes_refuse_in_the_same_way(tmp_path):
    for arguments, expected in [(["--n", "2"], N_RANGE), (["--eps", "0.1", "--json"], "'0.1'"), (["--d", "٣"], "--d")]:
        done = outside("lemma3", *arguments, "--out", tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert expected in done.stderr
    assert files(tmp_path) == {}


def test_large_admissible_numbers_are_no_problem(tmp_path):
    n, d, eps = 10**6, f"{'7' * 39}1/{'9' * 38}", f"{'1' * 39}/{'9' * 40}"
    result = inside("lemma3", "--n", n, "--d", d, "--eps", eps, "--out", tmp_path)
    assert result.exit_code == 0
    assert len(files(tmp_path)) == 2
    assert inside("verify", tmp_path).exit_code == 0


@pytest.mark.parametrize("option", ["--out", "--smt2"])
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_file_in_the_way(tmp_path, option, place):
    (tmp_path / "file").write_text("mine")
    arguments = ["--out", tmp_path / "out", option, tmp_path / place]  # the last --out counts
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", *arguments)
    assert result.exit_code == 2
    known = (
        r"--out: expected a folder, .*/file is no folder" if option == "--out" else r".*: (File exists|Not a directory)"
    )
    assert re.fullmatch(f"proofcheck: {known}", result.stderr.strip())
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_where_the_certificate_goes_is_named(tmp_path):
    name = "gap-domination-n3-d2-eps1over2.json"
    (tmp_path / name).mkdir()
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--out", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path}/{name}: " in result.stderr, "the user's path, not a temporary one"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--out", tmp_path)
    tmp_path.chmod(0o700)
    assert result.exit_code == 2
    assert "no permission" in result.stderr


@pytest.mark.parametrize("name", ["[red]", "[/x]", "a[b]c", "with space", "-dash", "ünïcode", "%s{0}"])
def test_folders_with_odd_names(tmp_path, name):
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", f"--out={tmp_path / name}")
    assert result.exit_code == 0
    assert len(files(tmp_path / name)) == 2
    assert name in result.stdout.replace("\n", "")


def test_repeated_values_are_proved_once(tmp_path):
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2,2/4,1/2", "--out", tmp_path)
    assert result.exit_code == 0
    assert "2 certificates written" in result.stdout
    assert len(files(tmp_path)) == 2


def test_undecided_queries_end_with_status_3(tmp_path, monkeypatch):
    from proofcheck.errors import Undecided

    def silent(query, timeout):
        raise Undecided(f"query {query.name}: z3 answered unknown after {timeout:.1f} s (timeout)")

    monkeypatch.setattr(z3_solver, "solve", silent)
    result = inside("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--out", tmp_path)
    assert result.exit_code == 3
    assert re.match(
        r"proofcheck: query gap-domination-n3-\S+: z3 answered unknown after 30\.0 s", result.stderr.strip()
    )
    assert files(tmp_path) == {}


def test_a_missing_cvc5_says_what_to_install(tmp_path):
    """By the real command: a module of that name that cannot be imported stands in for its absence."""
    (tmp_path / "cvc5.py").write_text("raise ImportError('absent')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    arguments = ("lemma3", "--n", "3", "--d", "2", "--eps", "1/2", "--out", tmp_path / "out")
    done = outside(*arguments, "--solver", "both", environment=environment)
    assert done.returncode == 2
    assert "proofcheck[cross]" in done.stderr
    assert outside(*arguments, environment=environment).returncode == 0
