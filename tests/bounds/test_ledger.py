"""The ledger: only improvements are written, all is re-checked when it is read, and the table is reproducible."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from proofcheck.bounds import best, hamming, heads, ledger, small
from proofcheck.bounds.best import Bound
from proofcheck.certificate import certify
from proofcheck.errors import ClaimFails, MalformedInput
from proofcheck.kernel.check import check_files
from proofcheck.kernel.exact import canonical
from proofcheck.theorems.bundle import foundation

HALF = Fraction(1, 2)

window = cache(best.window)


def recorded(root, ms):
    return {path.relative_to(root).as_posix() for m in ms for path in ledger.record(root, window(m, 3, HALF))}


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.json"))}


def one_hot(m):
    witness = {"blocks": [m], "degrees": [], "scale": [1] * (m + 1), "polynomials": {}}
    return Bound(1 << m, "one-hot", heads.certified(m, 3, HALF, 1 << m, witness, "test"))


def shattering(m):
    return Bound(m // 2, "shattered", small.shattered(m, 3, HALF, "test"))


def test_first_entries(tmp_path):
    written = recorded(tmp_path, [4, 7])
    assert written == {
        "rstar/n3-eps1over2/lower-m4.json",
        "rstar/n3-eps1over2/upper-m4.json",
        "rstar/n3-eps1over2/lower-m7.json",
        "rstar-assuming/n3-eps1over2/lower-m7.json",
        "rstar/n3-eps1over2/upper-m7.json",
    }
    paths = [str(path) for path in sorted(tmp_path.rglob("*.json"))]
    assert {report.status for report in check_files(paths)} == {0, 3}
    lines = ledger.table(tmp_path)
    assert [(x.m, x.lower.value, x.unconditional.value, x.upper.value) for x in lines] == [(4, 2, 2, 5), (7, 5, 4, 8)]
    assert [bool(x.lower.assumes) for x in lines] == [False, True]
    assert not any(line.closed for line in lines)


def test_nothing_is_written_twice(tmp_path):
    recorded(tmp_path, [4, 7])
    before = contents(tmp_path)
    assert recorded(tmp_path, [4, 7]) == set()
    assert contents(tmp_path) == before


def test_better_bounds_replace_and_worse_ones_never_do(tmp_path):
    found = window(6, 3, HALF)
    worse = replace(found, lower=shattering(6), unconditional=shattering(6), upper=one_hot(6))
    ledger.record(tmp_path, worse)
    (line,) = ledger.table(tmp_path)
    assert (line.lower.value, line.upper.value) == (3, 64)
    written = {path.name for path in ledger.record(tmp_path, found)}
    assert written == {"lower-m6.json", "upper-m6.json"}
    (line,) = ledger.table(tmp_path)
    assert (line.lower.value, line.upper.value) == (4, 7)
    before = contents(tmp_path)
    assert ledger.record(tmp_path, worse) == []
    assert contents(tmp_path) == before


def test_an_assumption_does_not_replace_what_needs_none(tmp_path):
    """Equal values: the one with nothing assumed stays; the better assuming one goes to its own folder."""
    found = window(5, 3, HALF)
    ledger.record(tmp_path, found)
    before = contents(tmp_path)
    assuming = Bound(3, "topological", small.topological(5, 3, HALF, "test"))
    assert ledger.record(tmp_path, replace(found, lower=assuming)) == []
    assert contents(tmp_path) == before


def test_bounds_speak_for_other_m(tmp_path):
    """A lower bound holds for more bits, an upper bound for fewer."""
    recorded(tmp_path, [4, 6])
    entries = ledger.read(tmp_path)
    assert ledger.best(entries, 5, "lower").m == 4
    assert ledger.best(entries, 5, "upper").m == 6
    assert ledger.best(entries, 100, "lower").value == 4
    assert ledger.best(entries, 100, "upper") is None
    assert ledger.best(entries, 3, "lower") is None
    assert ledger.best([], 3, "lower") is None


def test_crossing_sides_fail(tmp_path, monkeypatch):
    """No two true certificates cross; so an entry is made to say more than its certificate does."""
    recorded(tmp_path, [4, 6])
    true = ledger.read(tmp_path)
    false = [replace(e, value=6) if (e.m, e.side) == (4, "lower") else e for e in true]
    monkeypatch.setattr(ledger, "read", lambda root, n, eps: false)
    with pytest.raises(ClaimFails, match=r"m=4: .*lower-m4.json says 6, .*upper-m4.json says 5: one is unsound"):
        ledger.table(tmp_path)


def rewrite(path, change):
    fields = json.loads(path.read_bytes())
    change(fields)
    path.write_bytes(canonical(fields) + b"\n")


@pytest.mark.parametrize(
    ("name", "change", "error", "message"),
    [
        ("upper-m6", lambda f: f["parameters"].update(rank=6), ClaimFails, "the head has 7 features, the claim says 6"),
        ("lower-m6", lambda f: f["parameters"].update(value=5), ClaimFails, "witness"),
        ("lower-m6", lambda f: f["witness"]["proof"].pop(), ClaimFails, "empty clause"),
        ("upper-m6", lambda f: f.update(format="other"), MalformedInput, "format"),
        ("upper-m6", lambda f: f["parameters"].update(eps="2/4"), MalformedInput, "eps"),
    ],
)
def test_forged_entries_are_named_with_the_reason(tmp_path, name, change, error, message):
    recorded(tmp_path, [6])
    rewrite(tmp_path / "rstar" / "n3-eps1over2" / f"{name}.json", change)
    with pytest.raises(error, match=rf"{name}.json: .*{message}"):
        ledger.table(tmp_path)


def half(value):
    value = Fraction(value) / 2
    return value.numerator if value.denominator == 1 else str(value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: heads.certificate(heads.total_degree(6, 1, Fraction(4, 5)), 3, HALF, "test"), "query 5: "),
        (lambda: hamming.certificate(6, 1, Fraction(7, 10), 3, HALF, "test"), "the gap 2 violates B0"),
    ],
)
def test_a_nudged_coefficient(tmp_path, make, message):
    ledger.record(tmp_path, replace(window(6, 3, HALF), upper=Bound(7, "degree 1", make())))
    ledger.table(tmp_path)

    def change(fields):
        witness = fields["witness"]
        if "polynomials" in witness:
            term = witness["polynomials"]["5"][0]
            term["coefficient"] = half(term["coefficient"])
        else:
            witness["coefficients"][1] = 0

    rewrite(tmp_path / "rstar" / "n3-eps1over2" / "upper-m6.json", change)
    with pytest.raises(ClaimFails, match=rf"upper-m6.json: .*{message}"):
        ledger.table(tmp_path)


def test_an_entry_for_other_parameters(tmp_path):
    """A true certificate that does not belong here."""
    recorded(tmp_path, [4])
    other = small.shattered(4, 4, HALF, "test")
    other.write(tmp_path / "rstar" / "n3-eps1over2", "lower-m4")
    with pytest.raises(MalformedInput, match=r"lower-m4.json: expected a bound at n = 3, eps = 1/2"):
        ledger.table(tmp_path)
    (tmp_path / "rstar" / "n3-eps1over2" / "lower-m4.json").unlink()
    foundation = next(path for path in tmp_path.rglob("approximate-identity.json"))
    (tmp_path / "rstar" / "n3-eps1over2" / "stray.json").write_bytes(foundation.read_bytes())
    with pytest.raises(MalformedInput, match=r"stray.json|expected a bound"):
        ledger.table(tmp_path)


@pytest.mark.parametrize("missing", ["approximate-identity", "gap-domination-symbolic", "domination-sufficient"])
def test_missing_foundations(tmp_path, missing):
    recorded(tmp_path, [4])
    for path in list(tmp_path.rglob(f"{missing}.json")):
        path.unlink()
    with pytest.raises(MalformedInput, match=r"rests on a certificate that is not there"):
        ledger.table(tmp_path)


def test_file_names_prove_nothing(tmp_path):
    """The entry says what its certificate says, whatever the file is called."""
    recorded(tmp_path, [4])
    (tmp_path / "rstar" / "n3-eps1over2" / "lower-m4.json").rename(
        tmp_path / "rstar" / "n3-eps1over2" / "lower-m9.json"
    )
    assert {(e.m, e.value) for e in ledger.read(tmp_path) if e.side == "lower"} == {(4, 2)}


@pytest.mark.parametrize("name", ["n3", "n3-eps2over4", "n03-eps1over2", "n3-eps0.5", "lower-m4.json", "n3-eps1over2 "])
def test_folders_say_which_table(tmp_path, name):
    """Whatever lies beside the tables is named, not passed over."""
    recorded(tmp_path, [4])
    assert ledger.parameters(tmp_path) == [(3, HALF)]
    (tmp_path / "rstar" / name).mkdir()
    with pytest.raises(MalformedInput, match=r"expected a folder named like n3-eps1over2$"):
        ledger.table(tmp_path)


def test_tables_do_not_mix(tmp_path):
    """Two tables side by side: each is read alone, in a fixed order."""
    recorded(tmp_path, [4])
    for n, eps in ((4, HALF), (3, Fraction(1, 4))):
        ledger.record(tmp_path, window(4, n, eps))
    assert ledger.parameters(tmp_path) == [(3, HALF), (3, Fraction(1, 4)), (4, HALF)]
    values = {(n, eps): ledger.table(tmp_path, n, eps)[0].lower.value for n, eps in ledger.parameters(tmp_path)}
    assert values == {(3, HALF): 2, (3, Fraction(1, 4)): 4, (4, HALF): 2}
    assert {(e.n, e.eps) for e in ledger.read(tmp_path, 4, HALF)} == {(4, HALF)}


def test_an_empty_folder_has_no_lines(tmp_path):
    assert ledger.parameters(tmp_path) == []
    assert ledger.read(tmp_path) == []
    assert ledger.table(tmp_path) == []


def test_the_table_is_reproducible(tmp_path):
    """The same text from two folders that were filled in different orders; no date, no path."""
    one, two = tmp_path / "one", tmp_path / "two"
    recorded(one, [4, 5, 7])
    recorded(two, [7, 5, 4])
    assert contents(one) == contents(two)
    text = ledger.markdown(ledger.table(one))
    assert text == ledger.markdown(ledger.table(two))
    assert str(tmp_path) not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert [row.split(" | ")[0] for row in rows] == ["| 4", "| 5", "| 7"]
    assert "5*" in rows[2]
    assert text.count("`*` assumes") == 1
    assert "Borsuk-Ulam" in text


SHIPPED = Path(__file__).parents[2]


def test_the_shipped_ledger():
    """certificates/rstar at n = 3, eps = 1/2: re-checked, consistent, no worse than it was."""
    lines = ledger.table(SHIPPED / "certificates")
    at = {line.m: line for line in lines}
    assert set(at) == set(range(1, 129))
    assert [at[m].lower.value for m in range(1, 10)] == [1, 1, 1, 2, 3, 4, 5, 6, 7]
    assert all(not at[m].lower.assumes for m in range(1, 7))
    assert [at[m].upper.value for m in range(1, 13)] == [1, 1, 1, 2, 3, 4, 5, 6, 8, 9, 11, 16]
    assert all(line.closed for line in lines if line.m <= 8)
    assert not any(line.upper.assumes for line in lines)
    for m, most in ((13, 36), (16, 101), (20, 211), (24, 2325)):
        assert at[m].upper.value <= most
    assert at[24].lower.value >= 22
    assert at[28].unconditional.value >= 33
    for before, after in pairwise(lines):
        assert before.lower.value <= after.lower.value
        assert before.unconditional.value <= after.unconditional.value
        assert before.upper.value <= after.upper.value


@pytest.mark.parametrize(
    ("n", "eps", "lower", "upper"),
    [(4, HALF, [1, 1, 1, 2, 3, 4], [1, 1, 1, 2, 3, 5]), (3, Fraction(1, 4), [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 8])],
)
def test_the_shipped_tables_for_other_parameters(n, eps, lower, upper):
    lines = ledger.table(SHIPPED / "certificates", n, eps)[:6]
    assert [line.m for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line.lower.value for line in lines] == lower
    assert [line.upper.value for line in lines] == upper
    assert not any(line.lower.assumes for line in lines)
    assert all(line.closed for line in lines[:5])


def test_docs_say_what_the_ledger_says():
    root = SHIPPED / "certificates"
    wanted = ledger.parameters(root)
    assert wanted == [(3, HALF), (3, Fraction(1, 4)), (4, HALF)]
    text = "\n".join(ledger.markdown(ledger.table(root, n, eps), n, eps) for n, eps in wanted)
    assert (SHIPPED / "docs" / "rstar.md").read_text(encoding="utf-8") == text
    tables = json.loads((SHIPPED / "docs" / "rstar.json").read_text(encoding="utf-8"))["tables"]
    for (n, eps), table in zip(wanted, tables, strict=True):
        assert (table["n"], table["eps"]) == (n, str(eps))
        ids = [(line.m, line.lower.id, line.upper.id) for line in ledger.table(root, n, eps)]
        assert [(r["m"], r["lower"]["certificate"], r["upper"]["certificate"]) for r in table["rows"]] == ids


TWO = {
    "queries": [[1, 1], [1, 0], [0, 1], [1, 1]],
    "keys": [[4, 4], [1, 4], [4, 1], [1, 1]],
}


def table_head(rank_two):
    """A correct kernel on two bits, as a claim about this kernel, or as an existence claim."""
    parameters = {"m": 2, "n": 3, "eps": HALF}
    uses = [foundation("domination-sufficient")[1]]
    if rank_two:
        return certify("head-exists", parameters | {"rank": 2}, "table-head", TWO, command="test", uses=uses)
    return certify("kernel-correct", parameters | {"additive": 0} | TWO, "levels", {}, command="test", uses=uses)


@pytest.mark.parametrize("rank_two", [True, False])
def test_heads_from_files_compete(tmp_path, rank_two):
    table_head(rank_two).write(tmp_path, "head")
    (entry,) = ledger.supplied([tmp_path], 3, HALF)
    assert (entry.m, entry.side, entry.value, entry.assumes) == (2, "upper", 2, ())
    assert ledger.supplied([tmp_path], 4, HALF) == []
    found = window(2, 3, HALF)
    assert ledger.improved(found, [entry]).upper is found.upper  # one feature is enough
    worse = replace(found, upper=one_hot(2))
    assert ledger.improved(worse, [entry]).upper.certificate.data == entry.data
    assert ledger.improved(replace(worse, m=3), [entry]).upper is worse.upper  # it says nothing about more bits


def test_supplied_files_must_verify(tmp_path):
    table_head(True).write(tmp_path, "head")
    rewrite(tmp_path / "head.json", lambda f: f["parameters"].update(rank=1))
    with pytest.raises(ClaimFails, match=r"head.json: .*expected 1 features, got 2"):
        ledger.supplied([tmp_path], 3, HALF)
    with pytest.raises(MalformedInput, match="nothing: cannot be read"):
        ledger.supplied([tmp_path / "nothing"], 3, HALF)
    (tmp_path / "empty").mkdir()
    with pytest.raises(MalformedInput, match="no certificates there"):
        ledger.supplied([tmp_path / "empty"], 3, HALF)
