"""The tables of attacks: each file ends in its documented status, for its documented reason."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from proofcheck.kernel.check import CONDITIONAL, MALFORMED, OUTCOMES, REJECTED, VERIFIED, check_file, overall
from proofcheck.kernel.exact import MAX_DIGITS
from tests.kernel import make_tables

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
FOLDERS = {"accepted": VERIFIED, "rejected": REJECTED, "malformed": MALFORMED}
FILES = [path for folder in FOLDERS for path in sorted((HERE / folder).glob("*.json"))]
EITHER = {REJECTED, MALFORMED}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def expected(path: Path) -> tuple[int, str]:
    """The status a data file must end with and the regular expression its message must match."""
    status = FOLDERS[path.parent.name]
    if status == VERIFIED:
        return status, r"^(instance n=\d+, d=\S+, eps=\S+|for all n >= 3, 0 < eps <= 1/2, d >= )"
    return status, path.with_suffix(".reason").read_text("ascii").removesuffix("\n")


def kernel(*arguments: str, options: tuple[str, ...] = ("-S",)) -> subprocess.CompletedProcess[str]:
    """The real entry point in a process of its own, without site-packages."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *options, "-m", "proofcheck.kernel", *arguments],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def word(status: int) -> str:
    return OUTCOMES[status]


# ------------------------------------------------------------------------------------------ stored files


def test_the_stored_files_are_those_of_the_script() -> None:
    """Neither the data files nor the script that explains them can drift."""
    stored = {f"{p.parent.name}/{p.name}": p.read_bytes() for folder in FOLDERS for p in (HERE / folder).iterdir()}
    assert stored == make_tables.files()


def test_there_are_more_rejecting_files_than_accepting_ones() -> None:
    """A checker is tested by what it refuses."""
    counts = Counter(path.parent.name for path in FILES)
    assert counts["rejected"] > counts["accepted"] >= 10
    assert counts["malformed"] > counts["rejected"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_outcome_and_reason(path: Path) -> None:
    """Each data file ends with its status and, in so many words, for its reason."""
    status, reason = expected(path)
    report = check_file(str(path))
    assert (word(report.status), bool(re.search(reason, report.message))) == (word(status), True), report.message
    assert report.message.isascii()
    assert report.message.isprintable()
    assert (report.verdict is None) is (status != VERIFIED)
    assert overall([report]) == status


@pytest.mark.parametrize("options", [("-S",), ("-O", "-S"), ("-OO", "-S", "-E")], ids=" ".join)
def test_entry_point_on_all_files(options: tuple[str, ...]) -> None:
    """The real command gives every file the same verdict, with and without `assert` statements, and no traceback."""
    result = kernel(*map(str, FILES), options=options)
    lines = result.stdout.splitlines()
    assert result.stderr == ""
    assert result.returncode == REJECTED  # rejected outranks malformed
    assert len(lines) == len(FILES) + 1
    for path, line in zip(FILES, lines, strict=False):
        status, reason = expected(path)
        start = f"{word(status)}  {path}: "
        assert line.startswith(start), line
        assert re.search(reason, line.removeprefix(start)), line
    counts = Counter(expected(path)[0] for path in FILES)
    summary = ", ".join(f"{counts[status]} {word(status)}" for status in OUTCOMES if counts[status])
    assert lines[-1] == f"{len(FILES)} files: {summary}"


# ---------------------------------------------------------------------------------------- exit statuses

GOOD = str(HERE / "accepted/symbolic.json")
WRONG = str(HERE / "rejected/farkas-negative-multiplier.json")
BROKEN = str(HERE / "malformed/empty.json")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([GOOD], 0),
        ([GOOD, GOOD], 0),
        ([WRONG], 1),
        ([GOOD, WRONG], 1),
        ([BROKEN, WRONG], 1),
        ([BROKEN], 4),
        ([GOOD, BROKEN, GOOD], 4),
        (["/nonexistent/file.json"], 4),
        ([GOOD, ""], 4),
    ],
)
def test_exit_status(arguments: list[str], status: int) -> None:
    """0 only if every file verifies; rejected before malformed."""
    result = kernel(*arguments)
    assert (result.returncode, result.stderr) == (status, "")


@pytest.mark.parametrize("arguments", [[], ["--verbose"], ["-"], [GOOD, "-x"], ["--help", GOOD]])
def test_usage_errors(arguments: list[str]) -> None:
    """A run that checks nothing is an error, never a success, and it says nothing on standard output."""
    result = kernel(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("usage: python -S -m proofcheck.kernel FILE...")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(option: str) -> None:
    """Help goes to standard output and is no error."""
    result = kernel(option)
    assert (result.returncode, result.stderr) == (0, "")
    assert "4 malformed" in result.stdout


def test_statuses_are_those_of_the_design() -> None:
    """0 verified, 1 rejected, 3 conditional, 4 malformed (2 is usage)."""
    assert (VERIFIED, REJECTED, CONDITIONAL, MALFORMED) == (0, 1, 3, 4)


# --------------------------------------------------------------------- large inputs, made when they are needed

INSTANCE = make_tables.valid()["domination-n3-d3-eps1over2"]
PROOF = make_tables.valid()["symbolic"]
TIGHT = make_tables.valid()["tightness-xyz-n3-d2"]
LARGE = 10 ** (MAX_DIGITS - 1)


def compact(*changes: tuple[str, object], of: make_tables.Fields = INSTANCE) -> bytes:
    return json.dumps(make_tables.changed(of, *changes), separators=(",", ":")).encode()


def terms(*products: tuple[object, list[str]], of: make_tables.Fields = PROOF) -> bytes:
    listed = [{"coefficient": coefficient, "product": names} for coefficient, names in products]
    witness = {"terms": listed, "model": {}}
    return compact(("witness", witness), ("rule", "polynomial-identity"), of=of)


def nested(opening: bytes, closing: bytes = b"", depth: int = 200_000) -> bytes:
    return make_tables.edited(
        INSTANCE, '"by":"tests/kernel/make_tables.py"', b'"by":' + opening * depth + b"1" + closing * depth
    )


def fractions_that_do_not_cancel() -> bytes:
    """Three coprime denominators: the sum has more digits than Python converts by default (4,300)."""
    values = {"Y.lower": f"{LARGE}/{LARGE + 1}", "Y.upper": f"{LARGE}/{LARGE + 3}", "M.upper": f"{LARGE}/{LARGE + 7}"}
    return compact(("witness/multipliers", values))


def parameters_with_many_digits() -> bytes:
    """mu(d) has more digits than Python converts by default."""
    values = {"n": LARGE + 7, "d": f"{7 * LARGE + 1}/{LARGE + 9}", "eps": f"{LARGE // 10}/{LARGE + 11}"}
    return compact(("parameters", values))


def model_with_many_digits() -> bytes:
    """The failing condition has coefficients with more digits than Python converts by default."""
    values = {"n": LARGE + 7, "d": f"{7 * LARGE + 1}/{LARGE + 9}", "eps": f"{LARGE // 10}/{LARGE + 11}"}
    changes = [(f"parameters/{key}", value) for key, value in values.items()]
    return compact(*changes, ("parameters/inputs", "YZM"), ("witness/assignment/p", 0), of=TIGHT)


BOTH = ["Y.lower", "Z.lower"]
HOSTILE: dict[str, tuple[Callable[[], bytes], set[int], str]] = {
    "lists-200000-deep": (lambda: nested(b"[", b"]"), {MALFORMED}, "^the file nests deeper than 16 levels$"),
    "lists-200000-deep-never-closed": (lambda: b"[" * 200_000, {MALFORMED}, "^the file nests deeper than 16 levels$"),
    "objects-190000-deep": (lambda: nested(b'{"":', b"}", 190_000), {MALFORMED}, "^the file nests deeper than 16 "),
    "lists-500-deep": (lambda: nested(b"[", b"]", 500), {MALFORMED}, "^the file nests deeper than 16 levels$"),
    "bytes-over-budget": (lambda: b" " * (5 << 20), {MALFORMED}, r"^the file has more than 4194304 bytes$"),
    "blank-4-megabytes": (lambda: b" " * (4 << 20), {MALFORMED}, r"^the file is empty$"),
    "values-over-budget": (lambda: b"[" + b"1," * 400_000 + b"1]", {MALFORMED}, r"more than 400000 values$"),
    "values-at-budget": (lambda: b"[" + b"1," * 399_000 + b"1]", {MALFORMED}, r"^certificate: expected an object"),
    "objects-at-budget": (lambda: b"[" + b"{}," * 199_000 + b"{}]", {MALFORMED}, r"^certificate: expected an object"),
    "integer-of-4-million-digits": (
        lambda: make_tables.edited(INSTANCE, '"Y.lower":1', '"Y.lower":' + "9" * 4_000_000),
        {MALFORMED},
        r"has more than \d+ digits",
    ),
    "fraction-of-4-million-digits": (
        lambda: compact(("witness/multipliers/Y.lower", "9" * 4_000_000 + "/2")),
        {MALFORMED},
        r"^witness\.multipliers\.Y\.lower: a number has more than \d+ digits$",
    ),
    "exponent-of-4-million-digits": (
        lambda: make_tables.edited(INSTANCE, '"Y.lower":1', '"Y.lower":1e' + "9" * 4_000_000),
        {MALFORMED},
        "is not exact",
    ),
    "name-of-4-million-letters": (lambda: compact(("claim", "x" * 4_000_000)), {MALFORMED}, "^claim: unknown claim 'x"),
    "rule-of-4-million-letters": (lambda: compact(("rule", "x" * 4_000_000)), {MALFORMED}, "^rule: unknown rule 'xx"),
    "row-of-4-million-letters": (
        lambda: compact(("witness/multipliers/" + "x" * 4_000_000, 1)),
        {REJECTED},
        r"the claim has no condition named 'xx",
    ),
    "long-key-over-many-lists": (
        lambda: b'{"' + b"k" * 3_600_000 + b'":[' + b",".join([b"[[[[[1]]]]]"] * 2_000) + b"]}",
        {MALFORMED},
        "^certificate: unknown field 'kk",
    ),
    "long-key-over-many-numbers": (
        lambda: compact(("producer", {"k" * 2_000_000: [1] * 10_000, "z": 0})),
        {VERIFIED},
        "^instance n=3",
    ),
    "uses-50000": (
        lambda: compact(("uses", [make_tables.IDENTIFIER] * 50_000)),
        {REJECTED},
        "^uses: rule farkas rests on no other certificate",
    ),
    "sum-with-many-digits": (fractions_that_do_not_cancel, EITHER, r"does not cancel|more than \d+ bits"),
    "factor-with-many-digits": (parameters_with_many_digits, EITHER, r"does not cancel|more than \d+ (bits|digits)"),
    "condition-with-many-digits": (
        model_with_many_digits,
        EITHER,
        r"fails at this point|more than \d+ (bits|digits)|budget",
    ),
    "terms-90000": (lambda: terms(*[(i + 1, ["a"]) for i in range(90_000)]), EITHER, "does not cancel|budget"),
    "constants-90000": (lambda: terms(*[(i + 1, []) for i in range(90_000)]), EITHER, "no contradiction|budget"),
    "products-3000": (lambda: terms(*[(i + 1, BOTH) for i in range(3_000)]), EITHER, "does not cancel|budget"),
    "products-of-8": (
        lambda: terms(*[(1, ["M.lower", "Y.lower", "Z.upper", "gap"] * 2) for _ in range(1_000)]),
        {MALFORMED},
        r"^a product of polynomials has more than 20000 terms$|budget",
    ),
    "powers-30000": (lambda: terms(*[(i + 1, ["a"] * 8) for i in range(30_000)]), EITHER, "does not cancel|budget"),
    "products-of-150-digits": (
        lambda: terms(*[(10**150 + i, BOTH) for i in range(3_000)]),
        EITHER,
        "does not cancel|budget",
    ),
    "denominators-of-700-digits": (
        lambda: terms(*[(f"1/{10**700 + i}", ["a"]) for i in range(3_000)]),
        {MALFORMED},
        r"^an intermediate result has more than \d+ bits$|budget",
    ),
    "product-of-8-with-many-digits": (
        lambda: terms((LARGE, ["n", "M.upper"]), (LARGE + 1, ["Y.lower", *["eps"] * 7])),
        {REJECTED},
        "^the sum does not cancel: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_large_hostile_input(name: str, tmp_path: Path) -> None:
    """Hostile inputs too large to store: the documented status and reason, no traceback, a short message."""
    make, statuses, reason = HOSTILE[name]
    path = tmp_path / f"{name}.json"
    path.write_bytes(make())
    result = kernel(str(path))
    assert result.stderr == ""
    assert result.returncode in statuses
    line = result.stdout.splitlines()[0]
    start = f"{word(result.returncode)}  {path}: "
    assert line.startswith(start)
    assert re.search(reason, line.removeprefix(start)), line[:500]
    assert len(line) < 20_000


# ---------------------------------------------------------------------------------- what is not a plain file


def _pipe(path: Path) -> str:
    os.mkfifo(path)
    return str(path)


def _folder(path: Path) -> str:
    path.mkdir()
    return str(path)


def _link(path: Path, goal: str) -> str:
    path.symlink_to(path.parent / goal)
    return str(path)


NO_FILES: dict[str, Callable[[Path], str]] = {
    "missing": lambda path: str(path),
    "pipe": _pipe,
    "dangling-link": lambda path: _link(path, "nothing"),
    "link-to-itself": lambda path: _link(path, path.name),
    "folder": _folder,
    "file-as-folder": lambda path: GOOD + "/x",
    "device-without-end": lambda path: "/dev/zero",
    "empty-name": lambda path: "",
    "name-too-long": lambda path: str(path) * 500,
    "regular-file-with-unreadable-pages": lambda path: "/proc/self/mem",
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_readable_file(kind: str, tmp_path: Path) -> None:
    """Folders, pipes, devices and files that cannot be read are malformed: no traceback and no waiting."""
    result = kernel(NO_FILES[kind](tmp_path / "x.json"))
    assert (result.returncode, result.stderr) == (MALFORMED, "")
    assert result.stdout.startswith("MALFORMED  ")


def test_path_with_a_null_character() -> None:
    """A path that the operating system cannot even be asked about."""
    report = check_file("a\0b")
    assert (report.status, report.message) == (MALFORMED, "cannot be read: embedded null byte")


def test_path_that_imitates_a_verdict(tmp_path: Path) -> None:
    """A file name with line breaks and other alphabets cannot forge a line of output."""
    path = tmp_path / "a\nverified  é.json"
    path.write_bytes(b"")
    result = kernel(str(path))
    assert (result.returncode, result.stderr) == (MALFORMED, "")
    assert not [line for line in result.stdout.splitlines() if line.startswith("verified")]
    assert r"a\nverified  \xe9.json: the file is empty" in result.stdout


def test_path_that_is_not_text(tmp_path: Path) -> None:
    """A file name that is no valid UTF-8 is printed in escapes."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    Path(path).write_bytes(Path(GOOD).read_bytes())
    result = kernel(path)
    assert (result.returncode, result.stderr) == (VERIFIED, "")
    assert r"/\udcff.json: for all n >= 3" in result.stdout
