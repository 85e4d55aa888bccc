"""One command per claim, and the audit: files, statuses, JSON, and what they say about bad input."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofcheck import codes
from proofcheck.kernel.check import check_file, check_files, files
from proofcheck.theorems import paper

from .running import inside, outside

COMMANDS = {
    "theorem1": ("theorem1", "-n", "2", "--eps", "1/3", "-m", "2"),
    "theorem2": ("theorem2", "-m", "3", "--w", "1/5"),
    "lemma4": ("lemma4", "--size", "5", "--lam", "2", "--seed", "4"),
    "theorem5": ("theorem5", "-m", "24", "--delta", "6", "-n", "3", "--eps", "1/2"),
    "theorem6": ("theorem6", "-m", "40"),
    "corollary7": ("corollary7", "-m", "64", "-n", "66"),
    "theorem8": ("theorem8", "-n", "4", "--d", "3/2", "--eps", "1/2"),
    "theorem9": ("theorem9", "-M", "8", "-s", "1", "-q", "3"),
    "proposition10": ("proposition10", "-m", "32:34"),
    "chain": ("chain", "--distance", "4:5"),
}
UNCOVERED = ("the limit r >= 2^(m-o(m))", "Proposition 10 for every m >= 32 at once")
ROOT = Path(__file__).parents[2]


def kernel(*paths):
    """python -S -m proofcheck.kernel, standard library only."""
    command = [sys.executable, "-S", "-m", "proofcheck.kernel", *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return done


# ------------------------------------------------------------------------------------------ what they do


REAL = [pytest.param(name, marks=pytest.mark.slow) if name == "chain" else name for name in COMMANDS]


@pytest.mark.parametrize("name", REAL)
def test_by_the_real_entry_point(tmp_path, name):
    """A table on standard output with every id, files that verify together, nothing on standard error."""
    done = outside(*COMMANDS[name], "--out", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    written = files(str(tmp_path / "new"))
    reports = check_files(written)
    assert {report.status for report in reports} == {0}
    for report in reports:
        assert report.certificate.id[:12] in done.stdout
    assert f"{len(written)} certificates written to {tmp_path / 'new'} and re-checked" in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_object_that_says_what_the_files_say(tmp_path, name):
    result = inside(*COMMANDS[name], "--json", "--out", tmp_path)
    assert result.exit_code == 0
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer["status"] == 0
    assert answer["claim"]
    assert answer["arguments"]
    reports = {report.path: report for report in check_files([entry["file"] for entry in answer["certificates"]])}
    assert set(reports) == set(files(str(tmp_path)))
    for entry in answer["certificates"]:
        report = reports[entry["file"]]
        assert report.status == 0
        assert entry["file"] == str(tmp_path / f"{entry['name']}.json")
        assert entry["id"] == report.certificate.id
        assert (entry["statement"], entry["assumed"]) == (report.message, [])
        assert (entry["claim"], entry["rule"]) == (report.certificate.claim, report.certificate.rule)
        assert entry["parameters"] == report.certificate.parameters
    assert any(entry["main"] for entry in answer["certificates"])


def test_json_by_the_real_entry_point(tmp_path):
    done = outside("theorem9", "-M", "8", "-s", "1", "-q", "3", "--json", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["claim"] == "Theorem 9"


def test_running_again_writes_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        assert inside(*COMMANDS["theorem5"], "--out", tmp_path / folder).exit_code == 0
    first, second = (
        {p.relative_to(tmp_path / f): p.read_bytes() for p in (tmp_path / f).rglob("*.json")} for f in "ab"
    )
    assert first == second


@pytest.mark.parametrize("name", COMMANDS)
def test_the_recorded_command_makes_the_main_certificates_again(tmp_path, name):
    """`producer.command` is what a reader types."""
    result = inside(*COMMANDS[name], "--json", "--out", tmp_path / "first")
    for entry in json.loads(result.stdout)["certificates"]:
        if not entry["main"] or not entry["parameters"]:
            continue
        command = json.loads(Path(entry["file"]).read_text())["producer"]["command"].split()
        assert command[:2] == ["proofcheck", COMMANDS[name][0]]
        assert inside(*command[1:], "--out", tmp_path / "again").exit_code == 0
        again = tmp_path / "again" / f"{entry['name']}.json"
        assert json.loads(again.read_text())["parameters"] == entry["parameters"]


def test_domination(tmp_path):
    result = inside("domination", "--json", "--out", tmp_path)
    assert result.exit_code == 0
    claims = {entry["claim"] for entry in json.loads(result.stdout)["certificates"]}
    assert claims == {"domination-necessary", "domination-sufficient"}
    assert {check_file(path).status for path in files(str(tmp_path))} == {0}


@pytest.mark.parametrize("m", [1, 39, 40, 168, 169, 200, 10_000])
def test_theorem6_in_seconds(tmp_path, m):
    done = outside("theorem6", "-m", m, "--json", "--out", tmp_path)
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["seconds"] < 30
    (rank,) = (entry for entry in answer["certificates"] if entry["claim"] == "feature-rank")
    assert rank["parameters"]["value"] >= 2 ** (4 * (m // 2 * 2 // 40)) / 2 if m < 5000 else True
    assert rank["parameters"]["value"].bit_length() >= 4 * (m // 2 * 2 // 40)
    assert "all m >= 1" in answer["shown"]


def test_theorem5_with_the_papers_code(tmp_path):
    paper.paper_code().write(tmp_path / "code.txt")
    arguments = ("theorem5", "-m", "24", "--code", tmp_path / "code.txt", "--gap", "3")
    result = inside(*arguments, "--json", "--out", tmp_path / "out")
    assert result.exit_code == 0
    values = [
        e["parameters"]["value"] for e in json.loads(result.stdout)["certificates"] if e["claim"] == "feature-rank"
    ]
    assert values == [9, 10]
    table = inside(*arguments, "--out", tmp_path / "out").stdout
    assert "best chain: gaps 6, w = 5: r >= 10" in table
    assert "uniform chain: gaps 3+3, w = 4: r >= 9" in table


def test_theorem5_with_hadamards_46_words(tmp_path):
    codes.hadamard(24).write(tmp_path / "code.txt")
    result = inside("theorem5", "-m", "24", "--code", tmp_path / "code.txt", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "46 words of weight 12, Delta = 6" in result.stdout
    assert "r >= 17" in result.stdout  # 46/(1 + 45/25) = 16.4..


def test_theorem9_with_a_code_file(tmp_path):
    codes.hadamard(16).write(tmp_path / "code.txt")
    arguments = ("theorem9", "-M", "16", "-s", "3", "-q", "7", "--code", tmp_path / "code.txt")
    result = inside(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "L H r (dv+1) p >= 14" in result.stdout


def test_lemma4_with_a_matrix(tmp_path):
    (tmp_path / "matrix.json").write_text('[[1, "1/2"], ["1/2", 1], [3, "-3/2"]]')
    result = inside("lemma4", "--matrix", tmp_path / "matrix.json", "--json", "--out", tmp_path / "out")
    assert result.exit_code == 0
    ranks = [e["parameters"]["rank"] for e in json.loads(result.stdout)["certificates"] if e["claim"] == "matrix-rank"]
    assert ranks == [2]


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG")])
def test_a_chain_is_drawn(tmp_path, suffix, start):
    picture = tmp_path / f"x{suffix}"
    done = inside("chain", "--distance", "8:9", "--draw", picture, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0
    assert picture.read_bytes().startswith(start)
    assert json.loads(done.stdout)["figures"]["D=8"] == "w = 9 by gaps 4+4"
    assert done.stderr == f"drawn: {picture}\n"


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.svg.txt", ".svg"])
def test_other_suffixes(tmp_path, name):
    result = inside("chain", "--distance", "4", "--draw", tmp_path / name, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"--draw: expected a file named .svg or .png, got {tmp_path / name}" in result.stderr
    assert not (tmp_path / "out").exists()


def test_distances_without_a_chain(tmp_path):
    result = inside("chain", "--distance", "1:2", "--out", tmp_path)
    assert result.exit_code == 0
    assert "D=1: no admissible chain" in result.stdout
    assert "D=2: w = 1 by gaps 2" in result.stdout
    result = inside("chain", "--distance", "1", "--draw", tmp_path / "x.svg", "--out", tmp_path)
    assert result.exit_code == 2
    assert "--draw: no admissible chain spans the distance 1" in result.stderr
    assert not (tmp_path / "x.svg").exists()


# ------------------------------------------------------------------------------------------- the audit


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit")
    return outside("paper", "--out", out), out


@pytest.mark.slow
def test_the_audit_lists_two_uncovered_items_and_no_failure(audit):
    done, _ = audit
    assert done.returncode == 3
    text = " ".join(done.stdout.split())
    assert "FAILED" not in text
    assert "Assumed:" not in text
    assert text.count("No certificate covers:") == 2
    for item in UNCOVERED:
        assert f"No certificate covers: {item}" in text
    for claim in ("Theorem 1", "Theorem 2", "Lemma 3", "Lemma 4", "Theorem 5", "Theorem 6", "Corollary 7"):
        assert re.search(rf"^  {claim}  ", done.stdout, re.MULTILINE)
    for claim in ("Theorem 8", "Theorem 9", "Proposition 10", "B0", "B1"):
        assert re.search(rf"^  {claim} ", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_the_kernel_alone_verifies_the_whole_folder(audit):
    _, out = audit
    done = kernel(out)
    assert done.returncode == 0, done.stdout
    count = len(files(str(out)))
    assert done.stdout.splitlines()[-1] == f"{count} files: {count} verified"
    assert f"{count} certificates written to {out}" in " ".join(audit[0].stdout.split())
    assert inside("verify", out).exit_code == 0


@pytest.mark.slow
def test_one_rank_certificate_alone_is_conditional_and_says_on_what(audit):
    path = next((audit[1] / "theorem6").glob("feature-rank-*.json"))
    done = kernel(path)
    assert done.returncode == 3
    uses = json.loads(path.read_text())["uses"]
    assert {use["claim"] for use in uses} == {"approximate-identity", "chain", "code"}
    for use in uses:
        assert f"assumed: certificate {use['id'][:12]} ({use['claim']}), which was not supplied" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 files: 1 conditional"
    assert inside("verify", path).exit_code == 3


@pytest.mark.slow
def test_a_forged_foundation_takes_down_what_rests_on_it(audit, tmp_path):
    """A chain whose factor is raised has another id: the rank that names the old one is conditional, not verified."""
    _, out = audit
    for path in files(str(out)):
        target = tmp_path / Path(path).relative_to(out)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(Path(path).read_bytes())
    path = next((tmp_path / "theorem6").glob("chain-*.json"))
    path.write_text(path.read_text().replace('"factor":256', '"factor":257'))
    done = kernel(tmp_path)
    assert done.returncode == 1
    assert re.search(r"REJECTED  \S*theorem6/chain-m168\.json: the factors multiply to 256, less than 257", done.stdout)
    assert re.search(r"conditional  \S*theorem6/feature-rank-m168\.json", done.stdout)
    assert "verified  " in done.stdout


@pytest.mark.slow
def test_the_audit_as_json(tmp_path):
    result = inside("paper", "--json", "--out", tmp_path)
    assert result.exit_code == 3
    answer = json.loads(result.stdout)
    assert (answer["status"], answer["failures"], answer["assumed"]) == (3, [], [])
    assert [any(text.startswith(item) for item in UNCOVERED) for text in answer["uncovered"]] == [True, True]
    assert len(answer["claims"]) == 12
    listed = {certificate["id"] for row in answer["claims"] for certificate in row["certificates"]}
    assert listed == {report.certificate.id for report in check_files(files(str(tmp_path)))}


def test_a_failing_claim_ends_the_audit_with_status_1_and_the_others_still_run(tmp_path, monkeypatch):
    from proofcheck.errors import ClaimFails

    def fails():
        raise ClaimFails("words 0 and 1 are too near")

    real = dict(paper.claims())
    monkeypatch.setattr(paper, "claims", lambda: iter([("theorem5", fails), ("theorem9", real["theorem9"])]))
    result = inside("paper", "--out", tmp_path)
    assert result.exit_code == 1
    assert "FAILED: theorem5: words 0 and 1 are too near" in result.stdout
    assert "Theorem 9" in result.stdout


# ------------------------------------------------------------------------------------------- bad input

OUTSIDE = [  # arguments, what the message must say: the hypothesis, the value, the nearest value that satisfies it
    (("theorem1", "-n", "0"), "-n: Theorem 1 is about lengths 1 <= n", "got 0", "is 1"),
    (("theorem1", "--eps", "2/3"), "--eps: expected 0 < eps <= 1/2", "got '2/3'"),
    (("theorem1", "--tau", "1"), "--tau: Theorem 1 needs tau >= log(n/eps)", "do not show for 1", "224/125"),
    (("theorem1", "--tau", "0"), "--tau: expected 0 < tau <= 1000", "got 0"),
    (("theorem1", "-m", "5"), "-m: the exhaustive check", "2^(m n)", "got 5", "is 4"),
    (("theorem2", "-m", "9"), "-m: the kernel matrix is checked for 1 <= m <= 8", "got 9", "is 8"),
    (("theorem2", "-m", "0"), "-m: the kernel matrix", "got 0", "is 1"),
    (("theorem2", "--w", "1"), "--w: expected 0 < w < 1", "got 1"),
    (("theorem2", "--w", "0"), "--w: expected 0 < w < 1", "got 0"),
    (("theorem2", "--w", "0.5"), "--w: expected 0 < w < 1, as integers or fractions", "got '0.5'"),
    (("lemma4", "--lam", "0"), "--lam: expected lambda > 0", "got 0"),
    (("lemma4", "--size", "0"), "'--size'", "greater than or equal to 1"),
    (("theorem5", "-m", "24"), "theorem5: give --code FILE or --delta D"),
    (("theorem5", "-m", "0", "--delta", "2"), "-m: tokens have 1 <= m", "got 0", "is 1"),
    (("theorem5", "-m", "24", "--delta", "1"), "2eps(n-1)/(n-2) = 2", "got Delta = 1"),
    (("theorem5", "-m", "24", "--delta", "25"), "--delta: expected 1 <= Delta <= m = 24", "got 25"),
    (("theorem5", "-m", "24", "--delta", "6", "-n", "2"), "-n: Theorem 5 needs n >= 3", "got 2", "is 3"),
    (
        ("theorem5", "-m", "24", "--delta", "6", "--gap", "1"),
        "--gap: Theorem 5 needs 2eps(n-1)/(n-2) = 2",
        "is 2",
        "got 1",
    ),
    (("theorem5", "-m", "24", "--delta", "6", "--gap", "7"), "--gap:", "Delta = 6", "got 7", "is 6"),
    (("theorem6", "-m", "0"), "-m: tokens have 1 <= m", "got 0", "is 1"),
    (("theorem6", "-m", "10001"), "-m: tokens have 1 <= m <= 10000", "got 10001", "is 10000"),
    (("corollary7", "-m", "7"), "-m: Corollary 7 needs 2 <= Delta <= M/4, so m >= 8", "got 7", "is 8"),
    (("corollary7", "-m", "64", "-n", "3"), "-n: Corollary 7 needs log2(n-2) > 0", "got 3", "is 4"),
    (("corollary7", "-m", "64", "-n", "4"), "-n: Corollary 7 needs Delta <= M/4", "n = 4", "n = 18 does"),
    (("corollary7", "-n", "9"), "-n: give -m too"),
    (("theorem8", "-n", "2"), "-n: Theorem 8 needs n >= 3", "got 2", "is 3"),
    (("theorem8", "-n", "41"), "n <= 40", "got 41", "the theorem holds for all n"),
    (("theorem8", "-n", "3", "--d", "1"), "--d: Theorem 8 needs a gap d >= 2eps(n-1)/(n-2) = 2", "got 1"),
    (("theorem8", "--d", "0"), "--d: expected a gap", "got '0'"),
    (("theorem8", "--d", "2:3"), "--d: expected one gap", "got 2:3"),
    (("theorem9", "-s", "0"), "-s: Theorem 9 needs s >= 1", "got 0", "is 1"),
    (("theorem9", "-q", "0"), "-q: Theorem 9 needs q >= 1", "got 0", "is 1"),
    (("theorem9", "-M", "1"), "-M: code words have 2 <= M", "got 1", "is 2"),
    (("theorem9", "-q", "23"), "-q: expected at most ", ", the words at directed distance >= 3", "got 23"),
    (("proposition10", "-m", "31"), "-m: expected", "32 <= A <= B <= 4096", "got '31'"),
    (("proposition10", "-m", "4097"), "-m: expected", "32 <= A <= B <= 4096", "got '4097'"),
    (("proposition10", "-m", "40:32"), "-m: expected", "got '40:32'"),
    (("chain", "-n", "2"), "-n: a chain needs n >= 3", "got 2", "is 3"),
    (("chain", "--distance", "0"), "--distance: expected", "1 <= A <= B <= 60", "got '0'"),
    (("chain", "--distance", "61"), "--distance: expected", "1 <= A <= B <= 60", "got '61'"),
    (("chain", "--delta", "0"), "--delta: expected a positive slack", "got 0"),
    (("chain", "--eps", "0"), "--eps: expected 0 < eps <= 1/2", "got '0'"),
]


@pytest.mark.parametrize(("arguments", "parts"), [(case[0], case[1:]) for case in OUTSIDE])
def test_outside_the_hypotheses(tmp_path, arguments, parts):
    result = inside(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stdout == ""
    for part in parts:
        assert part in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["-m", "-n", "--gap", "--delta"])
@pytest.mark.parametrize("value", ["x", "1.5", "", "1/2", "1e3"])
def test_what_is_no_integer(tmp_path, option, value):
    result = inside("theorem5", "-m", "24", "--delta", "6", f"{option}={value}" if len(option) > 2 else option, value)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


FILES = [  # name, text, status, messages; {path} is the file
    ("weight", "8 4\n0f\n07\n", 1, "{path}: word 1 (7) has weight 3, expected 4"),
    ("repeated", "8 4\n0f\nf0\n0f\n", 1, "{path}: words 0 and 2 are the same: f"),
    ("empty", "", 4, "{path}: line 1: expected 'm weight', two decimal numbers with weight <= m, got nothing"),
    ("comment", "# nothing else\n", 4, "{path}: line 1: expected 'm weight'"),
    ("header", "8 x\n0f\n", 4, "{path}: line 1: expected 'm weight', two decimal numbers with weight <= m, got '8 x'"),
    ("heavy", "8 9\n0f\n", 4, "{path}: line 1: expected 'm weight', two decimal numbers with weight <= m, got '8 9'"),
    ("digit", "8 4\n0f\n0g\n", 4, "{path}: line 3: expected one hexadecimal word, got '0g'"),
    ("two", "8 4\n0f f0\n", 4, "{path}: line 2: expected one hexadecimal word, got '0f f0'"),
    ("long", "8 4\n# c\n10f\n", 4, "{path}: line 3: expected a word of m = 8 bits, got '10f'"),
    ("prefix", "8 4\n0x0f\n", 4, "{path}: line 2: expected one hexadecimal word, got '0x0f'"),
]
WITH_CODE = [
    ("theorem5", "-m", "8"),
    ("theorem5", "-m", "8", "--delta", "3"),
    ("theorem9", "-M", "8", "-s", "1", "-q", "1"),
]


@pytest.mark.parametrize("command", WITH_CODE, ids=["theorem5", "theorem5-delta", "theorem9"])
@pytest.mark.parametrize(("name", "text", "status", "message"), FILES, ids=[case[0] for case in FILES])
def test_bad_code_files(tmp_path, command, name, text, status, message):
    path = tmp_path / name
    path.write_text(text)
    result = inside(*command, "--code", path, "--out", tmp_path / "out")
    assert result.exit_code == status
    assert message.format(path=path) in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_code_files_that_are_none(tmp_path):
    (tmp_path / "latin1").write_bytes(b"8 4\n0f # \xe9\n")
    for path, text in [("missing", "No such file"), (".", "Is a directory"), ("latin1", "expected UTF-8 text, byte 9")]:
        result = inside("theorem5", "-m", "8", "--code", tmp_path / path, "--out", tmp_path / "out")
        assert result.exit_code == 4
        assert result.stderr.startswith(f"proofcheck: {tmp_path / path}: ")
        assert text in result.stderr


def test_too_small_a_distance_names_the_pair(tmp_path):
    path = tmp_path / "near"
    path.write_text("8 4\n0f\nf0\n1e\n")
    for command, needed in ((WITH_CODE[1], 3), (("theorem9", "-M", "8", "-s", "1", "-q", "3"), 2)):
        result = inside(*command, "--code", path, "--out", tmp_path / "out")
        assert result.exit_code == 1
        assert re.search(rf"words \d and \d \(f, 1e\) are at directed distance 1, less than {needed}", result.stderr)
        assert not (tmp_path / "out").exists()


def test_a_code_without_words(tmp_path):
    path = tmp_path / "none"
    path.write_text("8 4\n")
    for command in WITH_CODE:
        result = inside(*command, "--code", path, "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert re.search("the file has no words|-q: expected at most 0", result.stderr)
        assert not (tmp_path / "out").exists()


def test_a_code_of_other_length(tmp_path):
    path = tmp_path / "code"
    path.write_text("8 4\n0f\nf0\n")
    for command, text in [
        (("theorem5", "-m", "7"), "-m: the code has words of 8 bits, more than m = 7"),
        (("theorem9", "-M", "9", "-s", "1", "-q", "2"), "-M: the code has words of 8 bits, not 9"),
    ]:
        result = inside(*command, "--code", path, "--out", tmp_path / "out")
        assert (result.exit_code, text in result.stderr) == (2, True)


MATRICES = [
    ("[]", "matrix: expected a nonempty list of rows of equal length"),
    ("[[1, 2], [3]]", "matrix: expected a nonempty list of rows of equal length"),
    ("[[1, 0.5]]", "the number '0.5' is not exact"),
    ('[[1, "2/4"]]', "matrix[0][1]: '2/4' is not in lowest terms"),
    ('[[1], ["x"]]', "matrix[1][0]"),
    ("[1, 2]", "matrix[0]: expected a list, got 1"),
    ('{"a": 1}', "matrix: expected a list"),
    ("[[true]]", "[0][0]: True"),
    ("[[1]", "not JSON at character 4"),
    ("", "the file is empty"),
]


@pytest.mark.parametrize(("text", "message"), MATRICES)
def test_bad_matrix_files(tmp_path, text, message):
    path = tmp_path / "matrix.json"
    path.write_text(text)
    result = inside("lemma4", "--matrix", path, "--out", tmp_path / "out")
    assert result.exit_code == 4
    assert result.stderr.startswith(f"proofcheck: {path}: ")
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_matrix_files_that_are_none(tmp_path):
    for path, text in [("missing", "cannot be read: No such file or directory"), (".", "not a regular file")]:
        result = inside("lemma4", "--matrix", tmp_path / path, "--out", tmp_path / "out")
        assert result.exit_code == 4
        assert f"{tmp_path / path}: {text}" in result.stderr


@pytest.mark.parametrize("command", [*COMMANDS, "paper"])
def test_an_output_folder_that_is_a_file(tmp_path, command):
    (tmp_path / "out").write_text("in the way")
    result = inside(*COMMANDS.get(command, (command,)), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert str(tmp_path / "out") in result.stderr
    assert (tmp_path / "out").read_text() == "in the way"


def test_every_command_has_help_that_names_its_claim():
    for command in [*COMMANDS, "domination", "paper"]:
        result = inside(command, "--help")
        assert result.exit_code == 0
        assert "--out" in result.stdout


# ------------------------------------------------- faults that were found by these tests

FAULTS = [
    ("weights of theorem2 that all primes divide", ("theorem2", "-m", "2", "--w", "1/9903519940736477367306812281"), 0),
    ("nearest m of the exhaustive check", ("theorem1", "-n", "13", "-m", "1"), 2),
    ("matrix of empty rows", ("lemma4", "--matrix", "{empty-rows}"), 4),
    ("code file of no bits, theorem5", ("theorem5", "-m", "8", "--delta", "2", "--code", "{no-bits}"), 2),
    ("the number of words has over 1000 digits", ("theorem5", "-m", "10000", "--delta", "2"), 2),
    ("the factor has over 1000 digits", ("theorem5", "-m", "10000", "--delta", "1250", "-n", "1000000"), 2),
    ("suffixes in capitals, which draw takes", ("chain", "--distance", "4", "--draw", "{folder}/x.SVG"), 0),
    ("eps so small that the tight row is too long", ("chain", "--distance", "60", "--eps", f"1/1{'0' * 39}"), 2),
]


@pytest.mark.parametrize(("arguments", "status"), [pytest.param(a, s, id=name) for name, a, s in FAULTS])
def test_mended_faults(tmp_path, arguments, status):
    (tmp_path / "empty-rows").write_text("[[]]")
    (tmp_path / "no-words").write_text("8 4\n")
    (tmp_path / "no-bits").write_text("0 0\n0\n")
    places = {"{folder}": tmp_path} | {f"{{{p.name}}}": p for p in tmp_path.iterdir()}
    arguments = [next((a.replace(k, str(v)) for k, v in places.items() if k in a), a) for a in arguments]
    result = inside(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == status
    assert "the kernel refused" not in result.stderr
