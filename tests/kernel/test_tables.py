"""The tables of attacks: each file ends in its documented status, for its documented reason."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from proofcheck.kernel import check as check_module
from proofcheck.kernel.check import (
    CONDITIONAL,
    MALFORMED,
    OUTCOMES,
    REJECTED,
    VERIFIED,
    Report,
    check_file,
    check_files,
    overall,
)
from proofcheck.kernel.claims import CLAIMS
from proofcheck.kernel.exact import MAX_DIGITS
from proofcheck.kernel.rules import RULES, needs
from tests.kernel import bounds_tables, building, lemma3_tables, make_tables, sketch_tables, theorem_tables

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
FOLDERS = {"accepted": VERIFIED, "conditional": CONDITIONAL, "rejected": REJECTED, "malformed": MALFORMED}
FILES = [path for folder in FOLDERS for path in sorted((HERE / folder).glob("*.json"))]
EITHER = {REJECTED, MALFORMED}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def expected(path: Path) -> tuple[int, str]:
    """The status a data file must end with and the regular expression its message must match (for a conditional
    one, what is assumed)."""
    status = FOLDERS[path.parent.name]
    if status == VERIFIED:
        return (
            status,
            r"^(instance [mMn]=\d+|for all n >= |for all m >= 1|n=\d+, eps=\S+, for all m >= [12]|"
            r"for every real t x t|there are \d+ |the \d+ x \d+)",
        )
    return status, path.with_suffix(".reason").read_text("ascii").removesuffix("\n")


@cache
def reports() -> dict[str, Report]:
    """All data files checked in one call: each finds what it rests on among the others."""
    return {report.path: report for report in check_files(list(map(str, FILES)))}


def reason_of(report: Report) -> str:
    return "\n".join(report.verdict.assumed) if report.status == CONDITIONAL else report.message


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
    assert counts["rejected"] > 2 * counts["accepted"] >= 2 * len(CLAIMS)
    assert counts["malformed"] > counts["rejected"]


def test_every_claim_and_rule_has_its_tables() -> None:
    """Every claim and rule is accepted and refused in some file, and refused at least as often as accepted. A rule that
    takes a theorem on trust is accepted only in conditional files."""
    trusting = {rule for rule in RULES if needs(rule)[1]}
    counts: dict[str, Counter[str]] = {folder: Counter() for folder in FOLDERS}
    for path in FILES:
        try:
            fields = json.loads(path.read_bytes())
            folder = path.parent.name
            if fields["rule"] in trusting and folder != "accepted":
                folder = {"conditional": "accepted"}.get(folder, folder)
            counts[folder].update({f"claim {fields['claim']}", f"rule {fields['rule']}"})
        except (ValueError, TypeError, KeyError):
            continue
    names = {f"claim {name}" for name in CLAIMS} | {f"rule {name}" for name in RULES}
    assert set(counts["accepted"]) == names
    refused = counts["rejected"] + counts["malformed"]
    assert {name for name in names if name.startswith("rule") and not counts["rejected"][name]} == set()
    assert {name for name in names if name.startswith("rule") and not counts["malformed"][name]} == set()
    assert {name: refused[name] for name in names if refused[name] < min(2, counts["accepted"][name])} == {}
    assert {name for name in names if name.startswith("rule") and refused[name] < counts["accepted"][name]} == set()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_outcome_and_reason(path: Path) -> None:
    """Each data file ends with its status and, in so many words, for its reason."""
    status, reason = expected(path)
    report = reports()[str(path)]
    text = reason_of(report)
    assert (word(report.status), bool(re.search(reason, text, re.MULTILINE))) == (word(status), True), text
    assert report.message.isascii()
    assert report.message.isprintable()
    assert (report.verdict is None) is (status in EITHER)
    assert overall([report]) == status


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_file_on_its_own(path: Path) -> None:
    """Alone, what a file uses is assumed: never verified, never accepted where the group refuses it for itself."""
    together, alone = reports()[str(path)], check_file(str(path))
    uses = together.certificate.uses if together.certificate else {}
    if not uses or (together.status in EITHER and not together.message.startswith("uses: the certificate ")):
        assert (alone.status, alone.message) == (together.status, together.message)
    elif together.status in EITHER:  # refused for what the other certificate is, which is not seen alone
        assert alone.status in (CONDITIONAL, REJECTED)
    else:
        assert (alone.status, alone.message) == (CONDITIONAL, together.message)
        missing = {(identity[:12], name) for name, (identity, _) in uses.items()}
        trusted = needs(together.certificate.rule)[1]
        assert len(alone.verdict.assumed) == len(missing) + len(trusted)
        assert alone.verdict.assumed[: len(trusted)] == [f"{theorem}, a theorem of mathematics" for theorem in trusted]
        for identity, name in missing:
            assert any(identity in sentence and f"({name})" in sentence for sentence in alone.verdict.assumed)


@pytest.mark.parametrize("options", [("-S",), ("-O", "-S"), ("-OO", "-S", "-E")], ids=" ".join)
def test_entry_point_on_all_files(options: tuple[str, ...]) -> None:
    """The real command gives every file the same verdict, with and without `assert` statements, and no traceback."""
    result = kernel(*map(str, FILES), options=options)
    lines = [line for line in result.stdout.splitlines() if not line.startswith("    assumed: ")]
    assert result.stderr == ""
    assert result.returncode == REJECTED  # rejected outranks malformed
    assert len(lines) == len(FILES) + 1
    for path, line in zip(FILES, lines, strict=False):
        status, reason = expected(path)
        start = f"{word(status)}  {path}: "
        assert line.startswith(start), line
        if status != CONDITIONAL:
            assert re.search(reason, line.removeprefix(start)), line
    counts = Counter(expected(path)[0] for path in FILES)
    summary = ", ".join(f"{counts[status]} {word(status)}" for status in OUTCOMES if counts[status])
    assert lines[-1] == f"{len(FILES)} files: {summary}"
    assumed = [line for line in result.stdout.splitlines() if line.startswith("    assumed: ")]
    assert len(assumed) == sum(len(r.verdict.assumed) for r in reports().values() if r.verdict) > 5


# ---------------------------------------------------------------------------------------- exit statuses

GOOD = str(HERE / "accepted/symbolic.json")
CHAIN = str(HERE / "accepted/chain-4-4.json")  # rests on symbolic.json
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
        ([str(HERE / "accepted")], 0),
        ([str(HERE / "accepted"), GOOD], 0),
        ([str(HERE / "rejected")], 1),
        ([str(HERE / "malformed"), str(HERE / "accepted")], 4),
        ([CHAIN], 3),
        ([CHAIN, GOOD], 0),
        ([GOOD, CHAIN], 0),
        ([CHAIN, WRONG], 1),
        ([CHAIN, BROKEN], 4),
        ([str(HERE / "accepted"), str(HERE / "conditional")], 3),
    ],
)
def test_exit_status(arguments: list[str], status: int) -> None:
    """0 only if every file verifies, with what it rests on; rejected before malformed before conditional."""
    result = kernel(*arguments)
    assert (result.returncode, result.stderr) == (status, "")


@pytest.mark.parametrize("arguments", [[], ["--verbose"], ["-"], [GOOD, "-x"], ["--help", GOOD]])
def test_usage_errors(arguments: list[str]) -> None:
    """A run that checks nothing is an error, never a success, and it says nothing on standard output."""
    result = kernel(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("usage: python -S -m proofcheck.kernel PATH...")


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

INSTANCE = lemma3_tables.valid()["domination-n3-d3-eps1over2"]
V = make_tables.valid()
PROOF = lemma3_tables.valid()["symbolic"]
TIGHT = lemma3_tables.valid()["tightness-xyz-n3-d2"]
LARGE = 10 ** (MAX_DIGITS - 1)


def readout_of(
    mine: list[object], other: list[object], model: dict[str, object], copies: int = 1, **numbers: object
) -> bytes:
    """The query 1 and the token 0 of kernel value 0 with these values; the input (1), `copies` times, and (1, 0)."""
    parameters = {"m": 1, "n": 2, "eps": "1/2", "additive": 0, **numbers}
    parameters |= {"tokens": ["1", "0"], "alpha": [1, 0], "values": [mine, other]}
    above = {"counts": [0, 0], "side": "above"}
    parameters["inputs"] = [above] * copies + [{"counts": [0, 1], "side": "below"}]
    point = {"b": 1} | {f"w{i}": 0 for i in range(len(mine))} | model
    witness = {"multipliers": {"0": 1, "negated-conclusion": 1}, "model": point}
    return compact(("parameters", parameters), ("witness", witness), of=V["readouts-softmin-m4"])


def compact(*changes: tuple[str, object], of: building.Fields = INSTANCE) -> bytes:
    return json.dumps(building.changed(of, *changes), separators=(",", ":")).encode()


def terms(*products: tuple[object, list[str]], of: building.Fields = PROOF) -> bytes:
    listed = [{"coefficient": coefficient, "product": names} for coefficient, names in products]
    witness = {"terms": listed, "model": {}}
    return compact(("witness", witness), ("rule", "polynomial-identity"), of=of)


def nested(opening: bytes, closing: bytes = b"", depth: int = 200_000) -> bytes:
    return building.edited(
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
        lambda: building.edited(INSTANCE, '"Y.lower":1', '"Y.lower":' + "9" * 4_000_000),
        {MALFORMED},
        r"has more than \d+ digits",
    ),
    "fraction-of-4-million-digits": (
        lambda: compact(("witness/multipliers/Y.lower", "9" * 4_000_000 + "/2")),
        {MALFORMED},
        r"^witness\.multipliers\.Y\.lower: a number has more than \d+ digits$",
    ),
    "exponent-of-4-million-digits": (
        lambda: building.edited(INSTANCE, '"Y.lower":1', '"Y.lower":1e' + "9" * 4_000_000),
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
    "uses-40000-ids": (
        lambda: compact(("uses", [building.IDENTIFIER] * 40_000)),
        {MALFORMED},
        r"^uses\[0\]: expected an object",
    ),
    "uses-30000-claims": (
        lambda: compact(
            ("uses", [{"claim": f"c{i}", "id": building.IDENTIFIER, "parameters": {}} for i in range(30_000)])
        ),
        EITHER,
        r"^uses: this claim rests on no other certificate; listed: |more than \d+ certificates",
    ),
    "uses-name-of-3-million-letters": (
        lambda: compact(("uses", [{"claim": "c" * 3_000_000, "id": building.IDENTIFIER, "parameters": {}}])),
        EITHER,
        r"^uses: this claim rests on no other certificate; listed: ",
    ),
    "word-of-4-million-digits": (
        lambda: compact(("witness/words/1", "f" * 4_000_000), of=V["code-two-words"]),
        {REJECTED},
        r"^word 1 \(fff.* has weight 16000000, or lies outside \[4\]; expected 2$",
    ),
    "word-of-a-typed-family-of-4-million-digits": (
        lambda: compact(("parameters/words/1", "f" * 4_000_000), of=V["typed-family-2"]),
        {REJECTED},
        r"^word 1 \(fff.* has weight 16000000, or lies outside \[4\]; expected 2$",
    ),
    "words-40000": (
        lambda: compact(
            ("witness/words", [f"{i:x}" for i in range(1, 40_001)]),
            ("parameters/size", 40_000),
            of=V["code-two-words"],
        ),
        {MALFORMED},
        "budget",
    ),
    "packing-20000-bits": (
        lambda: compact(
            ("parameters", {"m": 20_000, "weight": 10_000, "distance": 5_000, "size": LARGE}), of=V["packing-24"]
        ),
        EITHER,
        r"may cover the layer of 10000-sets: no packing$|budget",
    ),
    "gaps-100000": (
        lambda: compact(("witness/gaps", [2] * 100_000), of=V["chain-4-4"]),
        EITHER,
        r"^the gaps add up to 200000, not to 8$|budget",
    ),
    "gap-of-1000-digits": (
        lambda: compact(("witness/gaps", [LARGE] * 20), of=V["chain-4-4"]),
        EITHER,
        r"^the gaps add up to |bits$|budget",
    ),
    "minor-290": (
        lambda: compact(
            ("parameters", {"matrix": [[pow(i + 1, j, 65_521) for j in range(290)] for i in range(290)], "rank": 290}),
            ("witness", {"rows": list(range(290)), "columns": list(range(290)), "prime": 65_521}),
            of=V["matrix-minor"],
        ),
        {VERIFIED},
        r"^the 290 x 290 matrix of the parameters has rank at least 290$",
    ),
    "minor-600": (
        lambda: compact(
            ("parameters", {"matrix": [[i * j % 7 for j in range(600)] for i in range(600)], "rank": 600}),
            ("witness", {"rows": list(range(600)), "columns": list(range(600)), "prime": 65_521}),
            of=V["matrix-minor"],
        ),
        {MALFORMED},
        "budget",
    ),
    "trace-of-fractions-with-900-digits": (
        lambda: compact(
            ("parameters", {"matrix": [[f"1/{10**900 + 7 * i + j}" for j in range(40)] for i in range(40)], "rank": 2}),
            of=V["matrix-trace-identity"],
        ),
        {MALFORMED},
        r"^an intermediate result has more than \d+ bits$|budget",
    ),
    "head-m12-n1": (
        lambda: compact(("parameters/m", 12), ("parameters/n", 1), of=V["uniform-head-m3-n2"]),
        {MALFORMED},
        "budget|too many",
    ),
    "head-m1-n12": (
        lambda: compact(
            ("parameters", {"m": 1, "n": 12, "eps": "1/2", "w": "1/24"}), of=V["softmin-head-m2-n3"]
        ),
        {MALFORMED},
        "budget|too many",
    ),
    "head-w-of-1000-digits": (
        lambda: compact(
            ("parameters", {"m": 4, "n": 3, "eps": "1/2", "w": f"{LARGE // 6}/{LARGE + 1}"}),
            of=V["softmin-head-m2-n3"],
        ),
        {MALFORMED},
        "budget|too many",
    ),
    "tight-row-of-64-levels-with-many-digits": (
        lambda: compact(
            ("parameters", {"n": LARGE + 7, "eps": f"{LARGE // 10 + 7}/{LARGE + 3}", "distance": 64, "bound": 1}),
            of=V["chain-tight-n3-distance4"],
        ),
        {MALFORMED},
        r"^witness\.assignment: the field 'a\d+' is missing$|budget",
    ),
    "growing-largest": (
        lambda: compact(
            ("parameters", {"m": 4_000, "n": 10**9}),
            ("uses/0/parameters", {"m": 4_000, "n": 10**9, "eps": "1/2", "value": LARGE}),
            ("uses/0/id", building.IDENTIFIER),
            of=V["growing-8"],
        ),
        {CONDITIONAL, REJECTED},
        r"^instance m=4000, n=1000000000: |^the rank bound is smaller$",
    ),
    "transcript-largest-power-within-the-budget": (
        lambda: compact(
            ("parameters", {"M": 8, "s": 1_000, "q": 40_000, "bits": 10**8}),
            ("uses/0/parameters", {"m": 8, "weight": 4, "distance": 1_001, "size": LARGE}),
            ("uses/0/id", building.IDENTIFIER),
            of=V["transcript-14-bits"],
        ),
        EITHER,
        r"^1001\^40000 assignments fit into 99999999 bits$|budget",
    ),
    "collision-of-20000-tokens": (
        lambda: compact(
            ("parameters/sequences", [["3"] + ["0"] * 19_999, ["3"] * 20_000]), of=V["collision-blind"]
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "collision-of-40-features-and-300-tokens": (
        lambda: compact(of=sketch_tables.claim(sketch_tables.wide(), (["3"] + ["0"] * 299, ["3"] * 300))),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "collision-of-large-numbers-within-the-budget": (
        lambda: compact(
            ("parameters/embedding", [[2**63 - 1] * 3]),
            ("parameters/layers", [sketch_tables.heavy()] * 40),
            of=V["collision-blind"],
        ),
        {VERIFIED},  # all coordinates are at the ends of their grids
        r"^instance m=2, 2 tokens: the quantised linear-attention model of the parameters, of 40 layers, ",
    ),
    "uses-30000-of-the-same": (
        lambda: compact(("uses", [building.use(PROOF)] * 30_000)),
        {MALFORMED},
        r"^uses\[1\]: the claim 'gap-domination-symbolic' is listed twice$",
    ),
    "layer-whose-ball-has-4800-digits": (
        lambda: compact(
            ("parameters/m", 16_000),
            ("witness", {"M": 16_000, "weight": 8_000, "distance": 8_000, "q": 1, "gaps": []}),
            of=V["layer-24"],
        ),
        {REJECTED},
        r"^witness\.q: expected 0 < q <= 1 and q < 1/an integer of \d+ bits, got 1$",
    ),
    "layer-of-factors-with-many-digits": (
        lambda: compact(
            (
                "parameters",
                {"m": 2_000, "n": LARGE + 7, "eps": f"{LARGE // 10 + 7}/{LARGE + 3}", "value": 2},
            ),
            ("witness", {"M": 2_000, "weight": 1_000, "distance": 1, "q": 1, "gaps": [1, 2, 3]}),
            of=V["layer-24"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "exponent-of-factors-with-many-digits": (
        lambda: compact(
            ("parameters", {"n": LARGE + 7, "eps": f"{LARGE // 10 + 7}/{LARGE + 3}", "a": "1/2", "kappa": 10**900}),
            ("witness", {"gap": 9, "distance": 3_000, "gaps": [1, 2, 3]}),
            of=V["lower-exponent-n3"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "chirotope-of-rank-7-on-15-pairs": (
        lambda: compact(
            ("parameters", {"m": 10, "n": 3, "eps": "1/2", "value": 8}),
            ("witness", {"pairs": [1 | 2 << i for i in range(9)] + [6, 10, 12, 18, 20, 24], "ground": 10, "proof": []}),
            of=V["unsat-5"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "refutation-of-60000-steps": (
        lambda: compact(("witness/proof", [[[], [1]]] * 60_000), of=V["unsat-5"]),
        {REJECTED},
        r"^witness\.proof\[0\]: the clause of hint 1 is neither unit nor false",
    ),
    "refutation-that-repeats-one-step": (
        lambda: compact(("witness/proof", [V["unsat-5"]["witness"]["proof"][0]] * 30_000), of=V["unsat-5"]),
        EITHER,
        r"^the proof (does not end with the empty clause|needs more work than the budget allows)$",
    ),
    "shattered-12-queries-on-3000-bits": (
        lambda: compact(
            ("parameters", {"m": 3_000, "n": 3, "eps": "1/2", "value": 12}),
            ("witness", {"queries": [3 << 200 * i for i in range(12)], "keys": [[0, 0]] * 4_096}),
            of=V["shattered-7"],
        ),
        {REJECTED},
        r"^witness\.keys\[0\]: query 0 is not forced",
    ),
    "table-of-ten-bits-and-twenty-features": (
        lambda: compact(
            ("parameters", {"m": 10, "n": 3, "eps": "1/2", "rank": 20}),
            ("witness", {"queries": [[1] * 20] * 1_024, "keys": [[1] * 20] * 1_024}),
            of=V["table-rank-1-m2"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "scale-of-3900-denominators": (
        lambda: compact(
            ("parameters/m", 3_900),
            ("witness/blocks", [3_900]),
            ("witness/scale", [f"1/{LARGE + 2 * k + 1}" for k in range(3_901)]),
            of=V["class-symmetric-m4"],
        ),
        {MALFORMED},
        r"^a common denominator has more than 14000 bits$",
    ),
    "readout-model-of-9000-denominators": (
        lambda: readout_of([1] * 9_000, [1] * 9_000, {f"w{i}": f"1/{10**25 + 2 * i + 1}" for i in range(9_000)}),
        {MALFORMED},
        r"^a common denominator has more than 14000 bits$",
    ),
    "readout-values-of-9000-denominators": (
        lambda: readout_of([f"1/{10**25 + 2 * i + 1}" for i in range(9_000)], [0] * 9_000, {}, copies=2),
        {MALFORMED},
        r"^(a common denominator has more than 14000 bits|the check needs more work than the budget allows)$",
    ),
    "readout-16000-inputs-and-an-eps-of-1000-digits": (
        lambda: readout_of([], [], {}, copies=16_000, eps=f"{LARGE // 3}/{LARGE}", additive=f"1/{LARGE}"),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "readout-of-19000-values": (
        lambda: readout_of([1] * 19_000, [0] * 19_000, {}),
        {VERIFIED},
        r"^instance m=1, n=2, eps=1/2: a head with the kernel values",
    ),
    "readout-coefficient-beyond-printing": (
        lambda: compact(
            (
                "parameters",
                {
                    "m": 2,
                    "n": 10**9,
                    "eps": "1/2",
                    "additive": 0,
                    "tokens": ["3", "0", "1", "2"],
                    "alpha": [1, 0, *(f"{10**960 + 3}/{10**959 + k}" for k in (7, 9))],
                    "values": [[0], [0], *([f"{10**970 + 1}/{10**969 + k}"] for k in (11, 13))],
                    "inputs": [
                        {"counts": [0, 0, 0, 0], "side": "above"},
                        {"counts": [0, 0, 10**8, 10**8], "side": "above"},
                        {"counts": [0, 1, 0, 0], "side": "below"},
                    ],
                },
            ),
            ("witness", {"multipliers": {"0": 1, "negated-conclusion": 1}, "model": {"b": 2, "w0": -(10**9)}}),
            of=V["readouts-softmin-m4"],
        ),
        EITHER,
        r"^(an intermediate result has more than 14000 bits|the check needs more work than the budget allows)$",
    ),
    "one-hot-on-12287-bits": (
        lambda: compact(
            ("parameters", {"m": 12_287, "n": 3, "eps": "1/2", "rank": LARGE}),
            ("witness", {"blocks": [12_287], "degrees": [], "scale": [1] * 12_288, "polynomials": {}}),
            of=V["class-one-hot-m3-n7"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "class-values-of-5000-digits": (
        lambda: compact(
            ("parameters", {"m": 2_000, "n": 3, "eps": "1/2", "rank": LARGE}),
            (
                "witness",
                {
                    "blocks": [2_000],
                    "degrees": [[k] for k in range(2_001)],
                    "scale": [LARGE] * 2_001,
                    "polynomials": {"100": [{"l": [2_000], "w": [0], "coefficient": -(10**998)}]},
                },
            ),
            of=V["class-symmetric-m4"],
        ),
        {REJECTED},
        r"^query 100: alpha\(x,x\) = an integer of \d+ bits, least value .*: some is not positive$",
    ),
    "class-term-of-100000-blocks": (
        lambda: compact(("witness/polynomials/2/0/l", [0] * 100_000), of=V["class-symmetric-m4"]),
        {REJECTED},
        r"^witness\.polynomials\.2\[0\]: the degrees \[\[0, 0, .*\.\.\. are not among the listed ones$",
    ),
    "class-of-5000-levels": (
        lambda: compact(
            ("parameters", {"m": 5_000, "n": 3, "eps": "1/2", "rank": LARGE}),
            (
                "witness",
                {
                    "blocks": [5_000],
                    "degrees": [[0], [1]],
                    "scale": [1] * 5_001,
                    "polynomials": {"5000": bounds_tables.terms(([1], [0], -1), ([0], [0], 10**900))},
                },
            ),
            of=V["class-symmetric-m4"],
        ),
        EITHER,
        r"^query 5000: overlaps 0, \d+ with values .* violate B0$|budget",
    ),
    "hamming-20000-coefficients": (
        lambda: compact(
            ("parameters", {"m": 20_000, "n": 3, "eps": "1/2", "rank": LARGE}),
            ("witness", {"base": 1, "coefficients": [f"1/{2 * k + 3}" for k in range(20_001)]}),
            of=V["hamming-linear-m4"],
        ),
        {MALFORMED},
        r"^(a common denominator has more than 14000 bits|the check needs more work than the budget allows)$",
    ),
    "hamming-of-3900-coefficients-of-1000-digits": (
        lambda: compact(
            ("parameters", {"m": 4_000, "n": 3, "eps": "1/2", "rank": LARGE}),
            ("witness/coefficients", [LARGE - k for k in range(3_900)]),
            of=V["hamming-linear-m4"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "hamming-base-of-1000-digits": (
        lambda: compact(
            ("parameters", {"m": 20_000, "n": LARGE, "eps": f"{LARGE // 3}/{LARGE}", "rank": LARGE}),
            ("witness/base", f"{LARGE - 1}/{LARGE}"),
            of=V["hamming-linear-m4"],
        ),
        {MALFORMED},
        r"^the check needs more work than the budget allows$",
    ),
    "hamming-as-much-as-the-budget-allows": (  # the softmin head of 300 bits: refused for its rank, at the very end
        lambda: compact(
            ("parameters", {"m": 300, "n": 3, "eps": f"{LARGE // 3}/{LARGE}", "rank": 1}),
            ("witness", {"base": "1/2", "coefficients": [1] * 301}),
            of=V["hamming-linear-m4"],
        ),
        EITHER,
        r"^the head has an integer of 301 bits features, the claim says 1$|budget",
    ),
    "hamming-400-bits": (
        lambda: compact(
            ("parameters", {"m": 400, "n": 3, "eps": "1/2", "rank": 1}),
            ("witness", {"base": 1, "coefficients": [1] * 401}),
            of=V["hamming-linear-m4"],
        ),
        {REJECTED},
        r"^the gap 2 violates B0: lo = 4, hi = an integer of 399 bits in units of q\^-m$",
    ),
    "sampled-20000-bits-with-many-digits": (
        lambda: compact(
            ("parameters", {"m": 20_000, "n": 3, "eps": "1/2", "rank": LARGE}),
            ("witness/rho", f"{LARGE // 2 * 3 + 1}/{LARGE}"),
            of=V["sampled-100"],
        ),
        {MALFORMED},
        r"^an intermediate result has more than \d+ bits$|budget",
    ),
    "sampled-2000-gaps": (
        lambda: compact(
            ("parameters/n", LARGE + 7),
            ("parameters/eps", f"{LARGE // 10 + 7}/{LARGE + 3}"),
            ("witness/last", 2_000),
            ("witness/rho", 10**950),
            of=V["sampled-100"],
        ),
        EITHER,
        r"^the gap \d+ fails|more than \d+ bits$|budget",
    ),
    "topological-20000-bits": (
        lambda: compact(("parameters/m", 20_000), ("parameters/value", LARGE), of=V["topological-9"]),
        {REJECTED},
        r"^the argument gives r >= 19998, not \d+$",
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


def _link(path: Path, goal: str) -> str:
    path.symlink_to(path.parent / goal)
    return str(path)


NO_FILES: dict[str, Callable[[Path], str]] = {
    "missing": lambda path: str(path),
    "pipe": _pipe,
    "dangling-link": lambda path: _link(path, "nothing"),
    "link-to-itself": lambda path: _link(path, path.name),
    "file-as-folder": lambda path: GOOD + "/x",
    "device-without-end": lambda path: "/dev/zero",
    "empty-name": lambda path: "",
    "name-too-long": lambda path: str(path) * 500,
    "regular-file-with-unreadable-pages": lambda path: "/proc/self/mem",
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_readable_file(kind: str, tmp_path: Path) -> None:
    """Pipes, devices, links and files that cannot be read are malformed: no traceback and no waiting."""
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


# ------------------------------------------------------------------------------------------------- folders


def test_folder_is_searched_to_the_bottom(tmp_path: Path) -> None:
    """Every *.json below a folder is checked, in one group; other files are not certificates."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "theorem.json").write_bytes(Path(GOOD).read_bytes())
    (tmp_path / "chain.json").write_bytes(Path(CHAIN).read_bytes())
    (tmp_path / "notes.txt").write_text("no certificate")
    result = kernel(str(tmp_path))
    assert (result.returncode, result.stderr) == (VERIFIED, "")
    assert [line.split(": ")[0] for line in result.stdout.splitlines()] == [
        f"verified  {tmp_path}/a/b/theorem.json",
        f"verified  {tmp_path}/chain.json",
        "2 files",
    ]


@pytest.mark.parametrize("names", [[], ["notes.txt"], ["x.JSON"]])
def test_folder_without_certificates_is_an_error(names: list[str], tmp_path: Path) -> None:
    """A run that checks nothing is no success."""
    for name in names:
        (tmp_path / name).write_bytes(Path(GOOD).read_bytes())
    result = kernel(str(tmp_path))
    assert (result.returncode, result.stdout, result.stderr) == (
        2,
        "",
        f"no certificate (*.json) in the folder {tmp_path}\n",
    )


# --------------------------------------------------------------------- certificates that rest on others

GROUP = ["symbolic", "approximate-identity", "code-hamming-8", "chain-n18", "rank-hamming-n18", "growing-8"]


def statuses(folder: Path, **members: building.Fields) -> dict[str, int]:
    """The status of each certificate of a group, checked in one call."""
    for name, fields in members.items():
        (folder / f"{name}.json").write_bytes(building.data(fields))
    found = check_files([str(folder / f"{name}.json") for name in members])
    return {name: report.status for name, report in zip(members, found, strict=True)}


def test_group_in_any_order(tmp_path: Path) -> None:
    """What a certificate rests on is found whether it comes before or after."""
    for order in (GROUP, GROUP[::-1], GROUP[1::2] + GROUP[::2]):
        assert set(statuses(tmp_path, **{name: V[name] for name in order}).values()) == {VERIFIED}


@pytest.mark.parametrize("missing", GROUP)
def test_what_is_missing_is_assumed_by_all_above(missing: str, tmp_path: Path) -> None:
    """Without one certificate, exactly those above it are conditional, and they say on what."""
    above = {name for name in GROUP if missing in below(name)}
    kept = [name for name in GROUP if name != missing]
    found = statuses(tmp_path, **{name: V[name] for name in kept})
    assert {name for name, status in found.items() if status == CONDITIONAL} == above
    assert all(status == VERIFIED for name, status in found.items() if name not in above)
    identity = building.identity(V[missing])
    for report in check_files([str(tmp_path / f"{name}.json") for name in above]):
        assert identity[:12] in " ".join(report.verdict.assumed)


def below(name: str) -> set[str]:
    """The members of the group that a member rests on, at any remove."""
    ids = {building.identity(V[other]): other for other in GROUP}
    direct = {ids[item["id"]] for item in V[name]["uses"]}
    return direct.union(*(below(other) for other in direct))


@pytest.mark.parametrize("bad", GROUP[:-1])
def test_what_is_refused_refuses_all_above(bad: str, tmp_path: Path) -> None:
    """A certificate that rests on a refused one is refused, at any remove; its own arithmetic does not save it."""
    members = {}
    ids = {}
    for name in GROUP:
        fields = json.loads(json.dumps(V[name]))
        if name == bad:
            fields["rule"] = "no-such-rule"
        for item in fields["uses"]:
            item["id"] = ids.get(item["id"], item["id"])
        ids[building.identity(V[name])] = building.identity(fields)
        members[name] = fields
    found = statuses(tmp_path, **members)
    above = {name for name in GROUP if bad in below(name)}
    assert {name: found[name] for name in GROUP} == {
        name: MALFORMED if name == bad else REJECTED if name in above else VERIFIED for name in GROUP
    }


def test_copies_of_a_file_have_one_verdict(tmp_path: Path) -> None:
    """Equal certificates under several names, with other producers: each is reported, none hides another."""
    copy = {**V["chain-4-4"], "producer": {"by": "someone else"}}
    wrong = building.changed(V["chain-4-4"], ("parameters/factor", 10))
    found = statuses(tmp_path, a=V["chain-4-4"], b=copy, c=V["symbolic"], d=V["symbolic"], e=wrong)
    assert found == {"a": VERIFIED, "b": VERIFIED, "c": VERIFIED, "d": VERIFIED, "e": REJECTED}


def test_file_that_changes_after_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is read once: the bytes that are hashed are the bytes that are checked."""
    reads: Counter[str] = Counter()
    read = check_module.read

    def once(path: str) -> bytes:
        reads[path] += 1
        data = read(path)
        Path(path).write_bytes(b"swapped")
        return data

    monkeypatch.setattr(check_module, "read", once)
    assert set(statuses(tmp_path, **{name: V[name] for name in GROUP}).values()) == {VERIFIED}
    assert set(reads.values()) == {1}


def test_what_is_assumed_is_spelled_out() -> None:
    """A conditional verdict says in words what it rests on: a made-up code of 10^9 words cannot hide in an id."""
    report = reports()[str(HERE / "conditional/rank-on-a-code-not-supplied.json")]
    assert "1000000000 subsets of [60] of 30 elements" in report.verdict.assumed[0]


def rejected_chain(folder: Path, length: int) -> list[str]:
    """Files that each rest on the one before, the first on nothing; all but the first are refused."""
    before, paths = building.IDENTIFIER, []
    for i in range(length):
        fields = building.changed(V["chain-one-gap"], ("parameters/factor", 5 + i), ("uses/0/id", before))
        path = folder / f"{i:05}.json"
        path.write_bytes(building.data(fields))
        before = building.identity(fields)
        paths.append(str(path))
    return paths


def test_reasons_do_not_pile_up(tmp_path: Path) -> None:
    """A refusal does not repeat all the refusals below it."""
    found = check_files(rejected_chain(tmp_path, 300))
    assert {report.status for report in found} == {REJECTED}
    assert max(len(report.message) for report in found) < 1_000


@pytest.mark.slow
def test_many_files_that_rest_on_each_other(tmp_path: Path) -> None:
    """3,000 files, each above the one before: order costs no more than reading them."""
    paths = rejected_chain(tmp_path, 3_000)
    for order in (paths, paths[::-1]):
        found = check_files(order)
        assert [report.path for report in found] == order
        assert {report.status for report in found} == {REJECTED}


@pytest.mark.slow
def test_many_large_files_are_not_kept(tmp_path: Path) -> None:
    """A dozen hostile files of 2 megabytes in 200 megabytes of memory: what was checked is let go."""
    for i in range(12):
        data = compact(("witness", {"words": ["3", "c"], "x": [[1]] * 190_000, "i": i}), of=V["code-two-words"])
        (tmp_path / f"{i}.json").write_bytes(data)
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20)); "
        "from proofcheck.kernel.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", program, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stderr) == (MALFORMED, "")
    assert result.stdout.splitlines()[-1] == "12 files: 12 MALFORMED"


def test_folder_that_cannot_be_listed_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read was not checked, and the verdict on the whole says so."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "good.json").write_bytes(Path(GOOD).read_bytes())
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = check_files(check_module.files(str(tmp_path)))
    assert [report.status for report in found] == [VERIFIED, MALFORMED]
    assert found[1].path.endswith("secret")


def test_circle_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were SHA-256 broken, two certificates that rest on each other would still not be verified."""
    one = {**V["chain-4-4"], "uses": [{**building.use(V["symbolic"]), "id": "2" * 64}]}
    two = {**V["chain-one-gap"], "uses": [{**building.use(V["symbolic"]), "id": "1" * 64}]}
    monkeypatch.setattr(
        check_module, "identifier", lambda fields: ("1" if fields["parameters"]["distance"] == 8 else "2") * 64
    )
    found = statuses(tmp_path, one=one, two=two)
    assert set(found.values()) <= {CONDITIONAL, REJECTED}


def test_every_table_of_attacks_says_what_it_attacks() -> None:
    """The names of the tables do not collide between modules and kinds."""
    for kind in ("rejected", "malformed"):
        tables = [set(getattr(module, kind)()) for module in (lemma3_tables, theorem_tables, bounds_tables)]
        assert len(set.union(*tables)) == sum(map(len, tables))
