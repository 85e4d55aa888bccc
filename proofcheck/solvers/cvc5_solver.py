"""cvc5: the second opinion. A differential oracle for Z3, never a source of certificates."""

from __future__ import annotations

import time

import cvc5

from proofcheck.errors import Undecided

from . import smtlib
from .query import Answer, Query

NAME = "cvc5"
VERSION: str = cvc5.__version__


def solve(query: Query, timeout: float) -> Answer:
    """cvc5's answer within `timeout` seconds; `Undecided` names the query otherwise."""
    return solve_text(query.name, smtlib.render(query), timeout)


def solve_text(name: str, text: str, timeout: float) -> Answer:
    """The answer to an SMT-LIB 2 file, parsed by cvc5. No model is taken from it."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, round(timeout * 1000))))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, name)
    symbols = parser.getSymbolManager()
    start = time.perf_counter()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        if str(command).startswith("(set-info :status"):
            continue  # otherwise cvc5 reports an error, not its answer, where the answer is not the announced one
        reply = str(command.invoke(solver, symbols)).strip()
        if str(command).startswith("(check-sat"):
            answers.append(reply)
    seconds = time.perf_counter() - start
    if answers == ["sat"]:
        return Answer(NAME, "sat", None, seconds)
    if answers == ["unsat"]:
        return Answer(NAME, "unsat", None, seconds)
    raise Undecided(f"query {name}: cvc5 answered {' '.join(answers) or 'nothing'} after {seconds:.1f} s")
