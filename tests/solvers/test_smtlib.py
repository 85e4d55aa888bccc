"""SMT-LIB export: every query, re-read from its file, gets the announced status from z3 and from cvc5."""

import shutil
import subprocess
import sys
from fractions import Fraction

import pytest

from proofcheck.errors import Undecided
from proofcheck.kernel.claims.forms import Row
from proofcheck.kernel.exact import Poly, as_poly
from proofcheck.solvers import cvc5_solver, smtlib, z3_solver
from proofcheck.solvers.query import Query
from proofcheck.theorems.lemma3 import Instance, prove, prove_symbolic, refute

READERS = (z3_solver, cvc5_solver)
ADMISSIBLE = [
    (3, Fraction(2), Fraction(1, 2)),
    (7, Fraction(5, 2), Fraction(2, 7)),
    (5, Fraction(17, 3), Fraction(1, 10)),
    (24, Fraction(3), Fraction(1, 3)),
    (40, Fraction(9, 4), Fraction(1, 9)),
]
TOO_SMALL = [(3, Fraction(1), Fraction(1, 2)), (5, Fraction(1, 9), Fraction(1, 3)), (30, Fraction(1), Fraction(1, 2))]


def queries():
    outcomes = [outcome for case in ADMISSIBLE for outcome in prove(Instance(*case))]
    outcomes += [refute(Instance(*case)) for case in TOO_SMALL]
    return [query for outcome in outcomes for query in outcome.queries]


def answers(path):
    """What each solver says about the file, given nothing but the file."""
    text = path.read_text("ascii")
    return [reader.solve_text(path.name, text, 30).status for reader in READERS]


def test_every_exported_query_is_answered_as_announced_by_both_solvers(tmp_path):
    exported = {smtlib.write(query, tmp_path / "new" / "folder"): query for query in queries()}
    assert len(exported) == 3 * len(ADMISSIBLE) + len(TOO_SMALL), "two queries share a file name"
    for path, query in exported.items():
        assert smtlib.expected_status(path.read_text("ascii")) == query.expected
        assert answers(path) == [query.expected] * 2, path.name
    assert {query.expected for query in exported.values()} == {"sat", "unsat"}
    assert {query.is_linear() for query in exported.values()} == {True, False}


def test_symbolic_queries(tmp_path):
    raw, strengthened = prove_symbolic().queries
    path = smtlib.write(strengthened, tmp_path)
    assert "QF_LRA" in path.read_text()
    assert answers(path) == ["unsat", "unsat"]
    path = smtlib.write(raw, tmp_path)
    assert "QF_NRA" in path.read_text()
    assert z3_solver.solve_text("raw", path.read_text(), 30).status == "unsat"


def test_cvc5_leaves_the_raw_symbolic_query_open():
    """The reason why prove_symbolic asks both solvers the strengthened query: drop it when this test fails."""
    with pytest.raises(Undecided, match=r"query gap-domination-symbolic: cvc5 answered unknown after \d"):
        cvc5_solver.solve(prove_symbolic().queries[0], 5)


@pytest.mark.parametrize("expected", ["sat", "unsat"])
def test_the_file_says_what_the_query_says_and_not_its_status(tmp_path, expected):
    """A wrong announcement does not change the answer: both solvers read the conditions."""
    x = Poly.variable("x")
    path = smtlib.write(Query("liar", {"low": Row(x - 1, True), "high": Row(1 - x, False)}, expected), tmp_path)
    assert smtlib.expected_status(path.read_text()) == expected
    assert answers(path) == ["unsat", "unsat"]


@pytest.mark.parametrize(
    "value",
    [
        Fraction(0),
        Fraction(1),
        Fraction(-1),
        Fraction(7),
        Fraction(-7),
        Fraction(2, 7),
        Fraction(-2, 7),
        Fraction(10**40 + 1, 10**39 + 3),
        Fraction(-1, 10**50),
    ],
)
@pytest.mark.parametrize("coefficient", [Fraction(1), Fraction(-1), Fraction(3, 4), Fraction(-3, 4), Fraction(-5)])
def test_numbers_survive_the_file(value, coefficient):
    """coefficient * x = coefficient * value has the solution x = value and no other, also after reading."""
    x = Poly.variable("x")
    equal = coefficient * x - coefficient * value
    at_value = {"low": Row(equal, False), "high": Row(-equal, False)}
    for sign, bound, expected in [
        (1, value, "sat"),
        (1, value + 1, "unsat"),
        (-1, value, "sat"),
        (-1, value - 1, "unsat"),
    ]:
        query = Query("number", {**at_value, "bound": Row(sign * (x - bound), False)}, expected)
        text = smtlib.render(query)
        assert [reader.solve_text("number", text, 10).status for reader in READERS] == [expected] * 2, text


def test_rendering():
    x, y = Poly.variable("x"), Poly.variable("a*p")
    rows = {
        "negated-conclusion": Row(Fraction(-2, 7) * x * y + 1, True),
        "x2y0z1.lower": Row(-x - Fraction(1, 3), False),
        "plain": Row(as_poly(0), False),
    }
    assert smtlib.render(Query("odd names", rows, "unsat")).splitlines() == [
        "; odd names",
        "(set-info :smt-lib-version 2.6)",
        "(set-logic QF_NRA)",
        "(set-info :status unsat)",
        "(declare-const |a*p| Real)",
        "(declare-const x Real)",
        "(assert (! (> (+ (* (- (/ 2.0 7.0)) |a*p| x) 1.0) 0.0) :named |row.negated-conclusion|))",
        "(assert (! (>= (+ (* (- 1.0) x) (- (/ 1.0 3.0))) 0.0) :named |row.x2y0z1.lower|))",
        "(assert (! (>= 0.0 0.0) :named |row.plain|))",
        "(check-sat)",
        "(exit)",
    ]


@pytest.mark.parametrize("name", ["a*p", "multiplier.0", "1st", "a-b", "with space", "_under", "a*p*q*s*a"])
def test_odd_names_are_read_back(name):
    variable = Poly.variable(name)
    text = smtlib.render(
        Query("names", {f"{name}.row": Row(variable - 2, True), "negated": Row(1 - variable, False)}, "unsat")
    )
    assert [reader.solve_text("names", text, 10).status for reader in READERS] == ["unsat", "unsat"]


def test_strict_and_weak_differ_in_the_file():
    """x >= 0 and -x >= 0 has a point; make either strict and it has none."""
    x = Poly.variable("x")
    for first, second in [(False, False), (True, False), (False, True), (True, True)]:
        expected = "unsat" if first or second else "sat"
        text = smtlib.render(Query("strict", {"low": Row(x, first), "high": Row(-x, second)}, expected))
        assert [reader.solve_text("strict", text, 10).status for reader in READERS] == [expected] * 2


def test_expected_status_of_a_file_without_one():
    assert smtlib.expected_status("(check-sat)") == "unknown"


def test_a_file_that_asks_nothing_is_undecided_for_cvc5():
    """An export cut short is no answer: cvc5 reports that nothing was asked."""
    with pytest.raises(Undecided, match="query cut: cvc5 answered nothing"):
        cvc5_solver.solve_text("cut", "(set-logic QF_LRA)", 1)


@pytest.mark.skipif(shutil.which("z3") is None, reason="the stand-alone z3 is not installed")
def test_the_stand_alone_z3_reads_the_file(tmp_path):
    for query in prove(Instance(3, Fraction(2), Fraction(1, 2)))[0].queries:
        path = smtlib.write(query, tmp_path)
        done = subprocess.run(["z3", str(path)], capture_output=True, text=True, timeout=30, check=False)
        assert done.stdout.split() == ["unsat"], (sys.platform, done.stderr)
