"""Exact Motzkin multipliers, found as a satisfiability query over the dual.

Rows f_i > 0 or f_i >= 0 (i in a finite list; every product of variables counts as an unknown of its own)
have no common solution if lambda_i >= 0 exist with

    sum_i lambda_i f_i  identically equal to a constant kappa <= 0,   and   kappa < 0 or lambda_i > 0 for a strict row.

For linear rows the converse holds too (Motzkin's transposition theorem). Scaling turns the last condition into the
equation  -kappa + sum_{i strict} lambda_i = 1, so the multipliers are the solutions of a linear system with signs:
a satisfiable QF_LRA query, which every version of Z3 answers with exact rationals. A proof term of Z3, whose shape
changes between versions, is never read. The multipliers are scaled to coprime integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm

from proofcheck.errors import ClaimFails
from proofcheck.kernel.claims.forms import Row
from proofcheck.kernel.exact import Poly, as_poly

from . import z3_solver
from .query import Query, product_name


def multipliers(name: str, rows: Mapping[str, Row], timeout: float) -> dict[str, Fraction]:
    """Positive multipliers, by row name, that refute `rows`; `ClaimFails` if there are none."""
    names = list(rows)
    unknowns = {row: f"multiplier.{i}" for i, row in enumerate(names)}
    sums: dict[tuple[str, ...], dict[tuple[str, ...], Fraction]] = {(): {}}
    strict_sum: dict[tuple[str, ...], Fraction] = {(): Fraction(-1)}
    for row in names:
        unknown = (unknowns[row],)
        for monomial, q in rows[row].poly.terms.items():
            sums.setdefault(monomial, {})[unknown] = q
        if rows[row].strict:
            strict_sum[unknown] = Fraction(1)
    kappa = sums.pop(())
    normal = Poly({**strict_sum, **{u: strict_sum.get(u, Fraction(0)) - q for u, q in kappa.items()}})
    conditions = {f"sign.{i}": Row(Poly.variable(u), False) for i, u in enumerate(unknowns.values())}
    conditions["kappa"] = Row(-Poly(kappa), False)
    for i, total in enumerate([*(Poly(terms) for terms in sums.values()), normal]):
        conditions[f"zero.{i}.low"] = Row(total, False)
        conditions[f"zero.{i}.high"] = Row(-total, False)
    answer = z3_solver.solve(Query(f"{name}-dual", conditions, "sat"), timeout)
    if answer.model is None:
        raise ClaimFails(f"query {name}: no multipliers refute it (the dual is unsatisfiable)")
    found = {row: answer.model[unknowns[row]] for row in names}
    return coprime({row: q for row, q in found.items() if q})


def product_rows(rows: Mapping[str, Row], candidates: Iterable[tuple[str, ...]]) -> dict[str, Row]:
    """The products of conditions that `candidates` names, as conditions: strict if all their factors are."""
    products = {}
    for candidate in candidates:
        poly = as_poly(1)
        for factor in candidate:
            poly = poly * rows[factor].poly
        products[product_name(candidate)] = Row(poly, all(rows[factor].strict for factor in candidate))
    return products


def coprime(values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The positive multiple of `values` by coprime integers: the shortest certificate of its ray."""
    scale = lcm(*(q.denominator for q in values.values()))
    common = gcd(*(int(q * scale) for q in values.values()))
    return {name: q * scale / common for name, q in values.items()}
