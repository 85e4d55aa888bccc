"""Z3: satisfiability of a query, and a rational model where there is one.

Each query gets a context of its own, so that an answer depends on the query alone and not on what the process
asked before: certificates are the same whatever the order and the number of processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import z3

from proofcheck.errors import Undecided
from proofcheck.kernel.claims.forms import Row

from .query import Answer, Query

NAME = "z3"
VERSION: str = z3.get_version_string()


def solve(query: Query, timeout: float) -> Answer:
    """Z3's answer within `timeout` seconds; `Undecided` names the query otherwise."""
    context = z3.Context()
    variables = {name: z3.Real(name, context) for name in query.variables()}
    conditions = [_condition(row, variables, context) for row in query.rows.values()]
    return _check(query.name, context, conditions, query.is_linear(), variables, timeout)


def solve_text(name: str, text: str, timeout: float) -> Answer:
    """The answer to an SMT-LIB 2 file, parsed by Z3."""
    context = z3.Context()
    return _check(
        name, context, list(z3.parse_smt2_string(text, ctx=context)), "(set-logic QF_LRA)" in text, {}, timeout
    )


def _check(
    name: str, context: Any, conditions: list[Any], linear: bool, variables: Mapping[str, Any], timeout: float
) -> Answer:
    solver = z3.SolverFor("QF_LRA", ctx=context) if linear else z3.Solver(ctx=context)
    solver.set("timeout", max(1, round(timeout * 1000)))
    solver.add(*conditions)
    start = time.perf_counter()
    result = solver.check()
    seconds = time.perf_counter() - start
    if result == z3.unknown:
        raise Undecided(f"query {name}: z3 answered unknown after {seconds:.1f} s ({solver.reason_unknown()})")
    if result == z3.unsat:
        return Answer(NAME, "unsat", None, seconds)
    return Answer(NAME, "sat", _rational(solver.model(), variables), seconds)


def _rational(model: Any, variables: Mapping[str, Any]) -> dict[str, Fraction] | None:
    values = {}
    for name, variable in variables.items():
        value = model.eval(variable, model_completion=True)
        if not z3.is_rational_value(value):
            return None
        values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
    return values


def _condition(row: Row, variables: Mapping[str, Any], context: Any) -> Any:
    value = z3.RealVal(0, context)
    for monomial, q in row.poly.terms.items():
        part = z3.RealVal(str(q), context)
        for name in monomial:
            part = part * variables[name]
        value = value + part
    return value > 0 if row.strict else value >= 0
