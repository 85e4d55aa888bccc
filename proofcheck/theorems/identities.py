"""Producing the witnesses of polynomial rules: products of conditions found by the dual query, models by Z3.

A universal statement over the reals is refuted by positive multiples of products of its conditions (hypotheses and
negated conclusion) that sum to a contradiction. Which products to offer is a guess of the producer: all products of at
most `degree` conditions, tried by increasing degree. The kernel multiplies them out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

from proofcheck.certificate import Checked, certify
from proofcheck.errors import ClaimFails, Undecided
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import Cases, Universal, refutable
from proofcheck.solvers import dual, z3_solver
from proofcheck.solvers.portfolio import TIMEOUT, versions
from proofcheck.solvers.query import Query, product_name

LARGEST_DEGREE = 4


def identity(name: str, claim: Universal, timeout: float = TIMEOUT) -> dict[str, Any]:
    """Terms and model of a polynomial identity that shows `claim`; `ClaimFails` if none has degree <= 4."""
    rows = refutable(claim)
    model = z3_solver.solve(Query(f"{name}-model", claim.rows, "sat"), timeout)
    if model.model is None:
        raise Undecided(f"query {name}-model: z3 found no rational point where the hypotheses hold ({model.status})")
    for degree in range(1, LARGEST_DEGREE + 1):
        candidates = {
            product_name(c): c for size in range(1, degree + 1) for c in combinations_with_replacement(rows, size)
        }
        try:
            found = dual.multipliers(name, dual.product_rows(rows, candidates.values()), timeout)
        except ClaimFails:
            continue
        terms = [{"coefficient": q, "product": list(candidates[product])} for product, q in found.items()]
        return {"terms": terms, "model": model.model}
    raise ClaimFails(f"{name}: no combination of products of {LARGEST_DEGREE} conditions refutes the negation")


def certify_cases(claim: str, command: str, uses: Mapping[str, Checked] | None = None) -> Checked:
    """The certificate of a parameterless claim that is a list of universal cases."""
    cases: Cases = statement(claim, {})
    witness = {"cases": {name: identity(f"{claim}-{name}", case) for name, case in cases.cases.items()}}
    return certify(claim, {}, "cases", witness, command=command, uses=(uses or {}).values(), tools=versions())
