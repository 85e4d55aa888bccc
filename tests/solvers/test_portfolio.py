"""One or two solvers: disagreement, silence and a missing cvc5 are loud, and name the query."""

import builtins
import re
import sys
from fractions import Fraction

import pytest

import proofcheck.solvers
from proofcheck.errors import CONDITIONAL, FAILS, SolverDisagreement, Undecided, UsageError
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import Row
from proofcheck.kernel.exact import Poly, as_poly
from proofcheck.solvers import cvc5_solver, portfolio, z3_solver
from proofcheck.solvers.portfolio import Solver, decide
from proofcheck.solvers.query import Answer, Query, negation
from proofcheck.theorems import lemma3

X = Poly.variable("x")
ROWS = {"above": Row(X - 1, True), "below": Row(3 - X, True)}  # 1 < x < 3
EMPTY = {"above": Row(X - 1, True), "below": Row(1 - X, False)}
ALL = list(Solver)


def hard(size=8, degree=5):
    """Equations of high degree: out of reach of both solvers in a hundredth of a second."""
    variables = [Poly.variable(f"v{i}") for i in range(size)]
    rows = {}
    for i in range(size):
        total = as_poly(-1 - i)
        for j in range(size):
            term = as_poly(1 + (i * j) % 5)
            for k in range(degree):
                term = term * variables[(j + k * i) % size]
            total = total + term if (i + j) % 2 else total - term
        rows |= {f"low{i}": Row(total, False), f"high{i}": Row(-total, False)}
    return Query("hard-nonlinear", rows, "sat")


@pytest.mark.parametrize("solver", ALL)
def test_agreement_with_the_theory(solver):
    names = ["z3", "cvc5"] if solver is Solver.BOTH else [solver.value]
    for rows, expected in [(ROWS, "sat"), (EMPTY, "unsat")]:
        answers = decide(Query("fine", rows, expected), solver)
        assert [(a.solver, a.status) for a in answers] == [(name, expected) for name in names]


def test_models_are_rational_points_of_the_query_and_come_from_z3():
    z3_answer, cvc5_answer = decide(Query("model", {**ROWS, "exact": Row(3 * X - 7, False)}, "sat"), Solver.BOTH)
    assert Fraction(7, 3) <= z3_answer.model["x"] < 3
    assert cvc5_answer.model is None


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize(("rows", "wrong", "truth"), [(ROWS, "unsat", "sat"), (EMPTY, "sat", "unsat")])
def test_an_answer_against_the_theory_is_an_error(solver, rows, wrong, truth):
    with pytest.raises(SolverDisagreement) as error:
        decide(Query("the-query", rows, wrong), solver)
    message = str(error.value)
    assert message.startswith(f"query the-query: expected {wrong}, but ")
    for name in ["z3", "cvc5"] if solver is Solver.BOTH else [solver.value]:
        assert f"{name} says {truth}" in message
    assert error.value.status == FAILS


@pytest.mark.parametrize(("liar", "module"), [("z3", z3_solver), ("cvc5", cvc5_solver)])
@pytest.mark.parametrize(("rows", "truth", "lie"), [(ROWS, "sat", "unsat"), (EMPTY, "unsat", "sat")])
def test_a_solver_that_lies_is_caught_by_the_other(monkeypatch, liar, module, rows, truth, lie):
    monkeypatch.setattr(module, "solve", lambda query, timeout: Answer(liar, lie, None, 0.0))
    honest = "cvc5" if liar == "z3" else "z3"
    with pytest.raises(SolverDisagreement, match="query two-minds: expected") as error:
        decide(Query("two-minds", rows, truth), Solver.BOTH)
    assert f"{liar} says {lie}" in str(error.value)
    assert f"{honest} says {truth}" in str(error.value)


def test_a_lie_that_pleases_the_theory_is_caught_too(monkeypatch):
    """z3 repeats the (wrong) expectation; cvc5 does not, and that suffices."""
    monkeypatch.setattr(z3_solver, "solve", lambda query, timeout: Answer("z3", query.expected, None, 0.0))
    with pytest.raises(SolverDisagreement, match="z3 says unsat, cvc5 says sat"):
        decide(Query("flattery", ROWS, "unsat"), Solver.BOTH)


def test_disagreement_stops_the_proof_of_an_instance(monkeypatch):
    monkeypatch.setattr(cvc5_solver, "solve", lambda query, timeout: Answer("cvc5", "sat", None, 0.0))
    with pytest.raises(SolverDisagreement, match="query gap-domination-n3-d2-eps1over2-linear: expected unsat"):
        lemma3.prove(lemma3.Instance(3, Fraction(2), Fraction(1, 2)), Solver.BOTH)


def test_a_liar_that_says_sat_without_a_model_gives_no_certificate(monkeypatch):
    monkeypatch.setattr(z3_solver, "solve", lambda query, timeout: Answer("z3", "unsat", None, 0.0))
    with pytest.raises(SolverDisagreement, match="expected sat, but z3 says unsat"):
        lemma3.refute(lemma3.Instance(30, Fraction(1), Fraction(1, 2)))


@pytest.mark.parametrize("solver", ALL)
def test_out_of_time_is_undecided_and_says_which_query_and_how_long(solver):
    with pytest.raises(Undecided) as error:
        decide(hard(), solver, timeout=0.01)
    asked = "cvc5" if solver is Solver.CVC5 else "z3"
    assert re.match(rf"query hard-nonlinear: {asked} answered unknown after \d+\.\d s", str(error.value))
    assert error.value.status == CONDITIONAL


def test_unknown_is_undecided():
    """cvc5 gives up on the symbolic negation well before its time is over."""
    claim = statement("gap-domination-symbolic", {})
    with pytest.raises(Undecided, match=r"query symbolic: cvc5 answered unknown after \d+\.\d s"):
        decide(negation("symbolic", claim), Solver.CVC5, timeout=5)


@pytest.fixture
def no_cvc5(monkeypatch):
    """An installation without the extra `cross`."""
    original = builtins.__import__

    def refuse(name, *arguments, **options):
        if name == "cvc5" or name.startswith("cvc5."):
            raise ImportError("No module named 'cvc5'")
        return original(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "proofcheck.solvers.cvc5_solver", raising=False)
    monkeypatch.delattr(proofcheck.solvers, "cvc5_solver", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.parametrize("solver", [Solver.CVC5, Solver.BOTH])
def test_a_missing_cvc5_is_a_usage_error_that_says_what_to_install(no_cvc5, solver):
    with pytest.raises(UsageError, match=re.escape("proofcheck[cross]")) as error:
        decide(Query("fine", ROWS, "sat"), solver)
    assert error.value.status == 2


def test_z3_alone_does_not_need_cvc5(no_cvc5):
    assert decide(Query("fine", ROWS, "sat"), Solver.Z3)[0].status == "sat"
    assert lemma3.prove(lemma3.Instance(3, Fraction(2), Fraction(1, 2)))[0].certificate.verdict.assumed == []


def test_versions_name_the_solver_of_certificates():
    assert portfolio.versions() == {"z3": z3_solver.VERSION}
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.\d+)?", z3_solver.VERSION)
