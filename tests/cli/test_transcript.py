"""transcript bound, transcript collide: certificates, exit statuses, and every bad input by its message."""

import json

import pytest

from proofcheck import transcripts
from proofcheck.errors import UsageError
from proofcheck.kernel.check import VERIFIED, check_files
from proofcheck.sketches import files
from tests.cli.running import inside, outside

BASE = ("transcript", "collide", "linear")
SMALL = (*BASE, "--layers", 1, "--heads", 1, "-r", 2, "--dv", 1, "-p", 1)


def test_table_of_bounds(tmp_path):
    result = inside("transcript", "bound", "-m", "32:36", "-n", 4096, "--out", tmp_path, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert [line["m"] for line in report["bounds"]] == [32, 33, 34, 35, 36]
    assert all(line["bits"] >= line["paper"] and line["exact"] for line in report["bounds"])
    assert "never sufficient" in report["says"]
    reports = check_files([str(path) for path in sorted(tmp_path.glob("*.json"))])
    assert len(reports) == 10
    assert all(r.status == VERIFIED for r in reports)
    ids = {r.certificate.id for r in reports}
    assert {line["certificate"] for line in report["bounds"]} <= ids
    text = inside("transcript", "bound", "-m", "32", "--out", tmp_path).stdout
    assert "367578" in text
    assert "as long as the code allows" in text
    assert "never sufficient" in " ".join(text.split())


def test_families_of_fewer_bits_are_named(tmp_path):
    words = " ".join(inside("transcript", "bound", "-m", "25:26", "-n", 64, "--out", tmp_path).stdout.split())
    assert "Where M + 2 + s < m, the certificate is about M + 2 + s bits a token" in words
    assert "M + 2 + s < m" not in inside("transcript", "bound", "-m", 25, "-n", 64, "--out", tmp_path).stdout


def test_large_numbers_are_shown_as_powers(tmp_path):
    text = inside("transcript", "bound", "-m", "256", "--out", tmp_path).stdout
    assert "about 2^234.71" in text
    assert sorted(path.name.split("-q")[1] for path in tmp_path.glob("*.json")) == ["2pow235.json"] * 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-m", "3"), "-m: expected an integer A or a range A:B with 4 <= A <= B <= 2048, got '3'"),
        (("-m", "40:32"), "got '40:32'"),
        (("-m", "32", "-n", "1"), "-n: a query and a database token need n >= 2, got 1"),
        (("-m", "32", "-s", "30"), "-s: expected 1 <= s <= min(m - 3, 1000) = 29, got 30"),
    ],
)
def test_bounds_out_of_range(tmp_path, arguments, reason):
    result = inside("transcript", "bound", *arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_collision_with_certificate(tmp_path):
    result = inside(*SMALL, "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["outcome"] == "certified"
    assert report["guaranteed"]
    (path,) = tmp_path.glob("collision-*.json")
    fields = json.loads(path.read_bytes())
    assert fields["claim"] == "transcript-collision"
    assert report["statement"].startswith("instance m=19, 12 tokens")
    text = inside(*SMALL, "--out", tmp_path)
    assert text.exit_code == 0
    assert "fewer transcripts than assignments: a collision exists, and will be found" in text.stdout
    assert "The kernel recomputed both transcripts." in text.stdout
    replay = fields["producer"]["command"].split()[1:]
    again = inside(*replay, "--out", tmp_path / "again", "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["certificate"] == report["certificate"]


def test_what_is_promised_is_said(tmp_path):
    text = inside(*BASE, "--out", tmp_path).stdout
    assert "a collision exists" not in text
    assert "the number of transcripts did not promise one" in text
    long = inside(*BASE, "-q", 41, "-M", 24, "--out", tmp_path)
    assert long.exit_code == 0
    assert "a collision exists, though not necessarily among the 10000000 that are examined" in long.stdout
    assert "one exists, found earlier than promised" in long.stdout


def test_none_found_is_said_honestly(tmp_path):
    result = inside(*BASE, "-p", 16, "--out", tmp_path)
    assert result.exit_code == 3
    assert "None: all 4096 assignments of this family have different transcripts" in result.stdout
    assert "no proof that it is right" in result.stdout
    assert not list(tmp_path.glob("*"))
    part = inside(*BASE, "-p", 16, "--enumerate", 100, "--json", "--out", tmp_path)
    assert part.exit_code == 3
    report = json.loads(part.stdout)
    assert (report["outcome"], report["examined"], report["all"]) == ("none found", 100, False)
    text = inside(*BASE, "-p", 16, "--enumerate", 100).stdout
    assert "nothing follows from that" in text


def test_float_models_are_executed_evidence(tmp_path):
    arguments = (*BASE, "--layers", 1, "--heads", 1, "-r", 1, "--dv", 1, "--features", "elu1")
    arguments = (*arguments, "--format", "fp8", "-q", 8, "--samples", 8000, "--out", tmp_path)
    result = inside(*arguments, "--json")
    assert result.exit_code == 3
    report = json.loads(result.stdout)
    assert report["outcome"] == "executed evidence"
    assert not list(tmp_path.glob("*"))
    again = inside(*report["replay"].split()[1:], "--json")
    assert again.exit_code == 3
    assert json.loads(again.stdout)["transcript"] == report["transcript"]
    other = ",".join(["0"] * 8) + ":" + ",".join(["3"] * 8)
    none = inside(*report["replay"].split()[1:-1], other)
    assert none.exit_code == 3
    assert "These two assignments have different transcripts here" in none.stdout
    assert "not reproduced" in none.stdout
    assert "None found" not in none.stdout


def test_model_files(tmp_path):
    model = tmp_path / "model.json"
    first = inside(*SMALL, "--save", model, "--out", tmp_path / "one", "--json")
    second = inside("transcript", "collide", model, "--out", tmp_path / "two", "--json")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert json.loads(first.stdout)["certificate"] == json.loads(second.stdout)["certificate"]
    wrong = inside("transcript", "collide", model, "-M", 15)
    assert wrong.exit_code == 2
    assert "has tokens of 19 bits, the family 2 + 15 + 3 = 20" in wrong.stderr
    text = model.read_text().replace('"bits":1,', '"bits":0,', 1)
    model.write_text(text)
    bad = inside("transcript", "collide", model)
    assert bad.exit_code == 4
    assert "expected an integer from 1 to 64, got 0" in bad.stderr
    assert inside("transcript", "collide", tmp_path / "none.json").exit_code == 4


USERS = """
from itertools import count
calls = count()

class Parity:
    name, alphabets = "parity", [2, 2]
    def encode(self, token, place): return token
    def message(self, layer, states): return sum(s.bit_count() for s in states) % 2
    def update(self, layer, state, message): return state * 2 + message

class Random(Parity):
    name = "restless"
    def message(self, layer, states): return next(calls) % 2 if layer else 0

class Endless(Parity):
    name, alphabets = "endless", [2, float("inf")]

class Faulty(Parity):
    def __init__(self, m, seed): pass
    def update(self, layer, state, message): return state / 0

class Loud(Parity):
    alphabets = property(lambda self: print("sizes") or [2, 2])
    def __init__(self, m, seed): print("made")
    def message(self, layer, states):
        print("said")
        return Parity.message(self, layer, states)

print("imported")
restless, endless = Random(), Endless()
def build(m, seed): return Parity()
def broken(m, seed): raise ValueError("no\\nmodel")
number = 7
"""


@pytest.mark.parametrize(
    ("attribute", "status", "text"),
    [
        ("build", 3, "Executed evidence: the model is no exact integer model"),
        ("restless", 2, "restless is not deterministic: two runs on the assignment"),
        ("endless", 2, "endless: layer 1: expected a finite alphabet, an integer >= 1 of messages, got inf"),
        ("Faulty", 2, "sketch_of_a_user:Faulty: running it failed: ZeroDivisionError"),
        ("Parity", 2, "calling it with (m, seed) = (19, 0) failed: TypeError"),
        ("broken", 2, "calling it with (m, seed) = (19, 0) failed: ValueError: no model"),
        ("number", 2, "expected a model with name, alphabets, encode, message and update"),
        ("absent", 2, "has no attribute 'absent'"),
    ],
)
def test_users_own_models(tmp_path, attribute, status, text):
    (tmp_path / "sketch_of_a_user.py").write_text(USERS)
    spec = f"sketch_of_a_user:{attribute}"
    result = outside("transcript", "collide", spec, cwd=tmp_path)
    assert result.returncode == status, result.stderr
    assert text in result.stdout + result.stderr


def test_what_a_users_model_prints_is_not_in_the_json(tmp_path):
    (tmp_path / "sketch_of_a_user.py").write_text(USERS)
    result = outside("transcript", "collide", "sketch_of_a_user:Loud", "--json", cwd=tmp_path)
    assert result.returncode == 3, result.stderr
    assert json.loads(result.stdout)["outcome"] == "executed evidence"
    assert all(word in result.stderr for word in ("imported", "made", "sizes", "said"))
    text = outside("transcript", "collide", "sketch_of_a_user:Loud", cwd=tmp_path).stdout
    assert "fewer transcripts than assignments: a collision exists, and will be found" in text
    assert "said" not in text


@pytest.mark.parametrize("option", ["--layers", "--heads", "-r", "--dv", "-p"])
@pytest.mark.parametrize("model", ["model.json", "package.module:attribute"])
def test_options_of_the_built_in_model_go_with_no_other(model, option):
    result = inside("transcript", "collide", model, option, 2)
    assert result.exit_code == 2
    assert f"{option}: expected with the built-in model alone, not with {model}" in result.stderr


def test_the_example_of_a_model_file(tmp_path):
    text = files.__doc__
    example = json.loads(text[text.index('{"format": "proofcheck-sketch/1", "m": 7') : text.index("\n\nIt runs by")])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(example))
    result = inside("transcript", "collide", path, "-s", 1, "-q", 2, "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["outcome"] == "certified"
    for arguments, least in ((("-q", 2), "-s 3 -q 2 the family needs m >= 13"), (("-q", 1, "-s", 5), "m >= 8")):
        small = inside("transcript", "collide", path, *arguments)
        assert small.exit_code == 2
        assert "-s: " in small.stderr
        assert f"{path} has tokens of 7 bits; with -s" in small.stderr
        assert least in small.stderr
        assert "-M" not in small.stderr


@pytest.mark.parametrize(("s", "q", "least"), [(1, 2, 7), (2, 2, 10), (1, 1, 4), (4, 1, 7), (4, 2, 16)])
def test_the_least_m_of_a_family(s, q, least):
    assert transcripts.typed_family(least - 2 - s, s, q).m == least
    with pytest.raises(UsageError):
        transcripts.typed_family(least - 3 - s, s, q)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-s", 7), "-s: words of 7 of 14 elements have distance at most 7, less than s + 1 = 8"),
        (("-q", 60), "-q: expected at most"),
        (("-n", 11), "-q: a sequence holds q queries and q database tokens, so 2q <= n; got 2q = 12, n = 11"),
        (("-p", 0), "-p: a coordinate has 1 <= p <= 32 bits, got 0"),
        (("-q", 0), "-q: expected an integer >= 1, got 0"),
        (("-s", 0), "-s: a slot has levels 0..s with 1 <= s <= 1000, got 0"),
        (("--layers", 0), "--layers: expected 1..256, got 0"),
        (("--format", "fp4"), "--format: expected int, fp8, fp16"),
        (
            ("--features", "gelu"),
            "--features: expected one of identity, relu, sqrelu, square, cubic (exact), or with torch elu1, exp, ",
        ),
        (("--samples", 5, "--enumerate", 5), "--samples, --enumerate: give one of them"),
        (("--samples", 0), "--samples: expected 1 to 2^62 assignments, got 0"),
        (("--samples", 4000), "--samples: 4000 of only 4096 assignments: enumerate them"),
        (("--replay", "0,1"), "--replay: expected two assignments of 6 levels 0..3"),
        (("--replay", "0,0,0,0,0,0:0,0,0,0,0,4"), "--replay: expected two assignments"),
        (
            ("--replay", "0,0,0,0,0,0:0,0,0,0,0,0"),
            "6 levels 0..3, as 0,1,..:1,1,.., not equal, got",
        ),
        (("--format", "bf16", "--save", "x.json"), "--save: only models in exact integers can be written down"),
    ],
)
def test_bad_input(arguments, reason):
    result = inside(*BASE, *arguments)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_unknown_models():
    result = inside("transcript", "collide", "quadratic")
    assert result.exit_code == 2
    assert "quadratic: expected linear, a file .json, or package.module:attribute" in result.stderr


def test_too_large_for_the_kernel(tmp_path):
    result = inside(
        *BASE, "--heads", 4, "-r", 16, "--dv", 16, "--layers", 1, "-q", 20, "-M", 20, "-s", 2, "--out", tmp_path
    )
    assert result.exit_code == 3, result.stdout
    assert "too large for the kernel" in result.stdout
