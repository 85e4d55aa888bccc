"""One query, one or two solvers. Disagreement with each other or with the expected status is an error."""

from __future__ import annotations

from enum import StrEnum

from proofcheck.errors import SolverDisagreement, UsageError

from .query import Answer, Query

TIMEOUT = 30.0  # seconds per query


class Solver(StrEnum):
    Z3 = "z3"
    CVC5 = "cvc5"
    BOTH = "both"


def decide(query: Query, solver: Solver, timeout: float = TIMEOUT) -> list[Answer]:
    """The answers of the solvers asked. Raises `SolverDisagreement` if two differ or if one differs from
    what the theory predicts, `Undecided` if one gives no answer."""
    answers = []
    if solver in (Solver.Z3, Solver.BOTH):
        from . import z3_solver

        answers.append(z3_solver.solve(query, timeout))
    if solver in (Solver.CVC5, Solver.BOTH):
        answers.append(_cvc5(query, timeout))
    for answer in answers:
        if answer.status != query.expected:
            said = ", ".join(f"{a.solver} says {a.status}" for a in answers)
            raise SolverDisagreement(f"query {query.name}: expected {query.expected}, but {said}")
    return answers


def _cvc5(query: Query, timeout: float) -> Answer:
    try:
        from . import cvc5_solver
    except ImportError:
        raise UsageError("--solver cvc5 and both need cvc5: install proofcheck[cross]") from None
    return cvc5_solver.solve(query, timeout)


def versions() -> dict[str, str]:
    """The version of the solver that certificates come from."""
    from . import z3_solver

    return {"z3": z3_solver.VERSION}
