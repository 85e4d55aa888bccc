"""Kernel and values are fixed, only the affine readout is free: the best one for each query, or none at all.

At a query x the output is <w, vbar(X)> + b, where vbar(X) = sum_j alpha(x,x_j) v(x_j) / D is the average of the values
v in R^D that the head computes, D = c + sum_j alpha(x,x_j), and w, b are the readout's numbers for this query. B0 says
whether ANY table g_x(z) will do; with g_x(z) = <w, v(z)> + b for given v the question is a linear programme for each
query:

    E_x = min over w, b of the max over sequences X of |<w, vbar(X)> + b - t(X)|;      correct if and only if E_x < eps.

Cutting planes: the worst sequences for given w, b and error E come from the maxima of mathematics.md B7,

    u(x) + k max_{=h} u    or    u(x) + max_{=t} u + k max_{>=t} u,     u(z) = +-(P(z) - t alpha(x,z)) - E alpha(x,z),

so of all 2^{m(n-1)} sequences a few dozen are ever written down. HiGHS solves in floats. Where E_x < eps for all
queries, w and b are rounded to few binary places and `whole.verify` decides the head exactly. Otherwise the dual
solution names at most D+2 inputs on which no readout can be correct; multipliers and a model come from Z3, and the
kernel replays them (claim readout-refutation, rule farkas).

    VALUES     what v may be: "linear" v(z) = z; "overlap" v(z) = <x,z> at the query x; "own", the head's values
    best       `Fitted` with the verdict on the whole head, or `NoReadout`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofcheck import whole
from proofcheck.certificate import Checked, certify
from proofcheck.cube import Cube, Outputs
from proofcheck.errors import ClaimFails, Undecided, UsageError
from proofcheck.heads import Bits, Floats, Head, Readout, bits
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import NEGATED, refutable
from proofcheck.kernel.exact import OverBudget, spelled
from proofcheck.readout_query import Input, Query
from proofcheck.solvers import dual, z3_solver
from proofcheck.solvers.portfolio import versions
from proofcheck.solvers.query import Query as Question

VALUES = ("linear", "overlap", "own")
PLACES = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 26, 32, 40)  # binary places of a readout's numbers
ROOM = 1e-9  # of an error in floats below eps
TIMEOUT = 60.0


@dataclass(frozen=True)
class Fitted:
    """A readout with errors below eps in floats; `verdict` is on the head with the rounded readout. `error` is the
    largest E_x."""

    head: Head
    values: str
    error: float
    verdict: whole.HeadCorrect


@dataclass(frozen=True)
class NoReadout:
    """No readout is correct at the query x on these inputs; E_x is at least `error`. Without a
    certificate, which may be too large for the kernel, this is known in floats only."""

    head: str
    values: str
    x: int
    inputs: list[Input]
    error: float
    certificate: Checked | None


def best(
    head: Head,
    values: str,
    n: int = 3,
    eps: Fraction = Fraction(1, 2),
    *,
    cube: Cube | None = None,
    command: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Fitted | NoReadout:
    """For a nonnegative kernel that is correct for some readout (`exhaust.decide`; its `cube` may be given).
    `Undecided` where floats and exact arithmetic do not meet."""
    check_values(head, values)
    command = command or f"proofcheck certify {head.name} --values {values} -n {n} --eps {eps}"
    cube = cube or Cube(head)
    table = _value_table(head, values)
    queries = np.empty((cube.size, table.shape[1] + 1))
    largest = 0.0
    for x in sorted(range(cube.size), key=lambda x: (-x.bit_count(), x)):  # heavy queries fail first
        query = _query(cube, table, values, x, n)
        error, numbers = query.solve(float(eps))
        largest = max(largest, error)
        if error >= float(eps) - ROOM:  # up to rounding: exact arithmetic says whether it is so
            return _refutation(cube, query, values, error, n, eps, command)
        queries[x] = _spread(_rounded(query, numbers, float(eps)), values, x, cube.m)
        if x % 64 == 0:
            progress(f"query {x:x}, least error {error:.4g}, {largest:.4g} so far")
    readout = Readout(_lookup(table), _lookup(queries[:, :-1]), lambda b: _lookup(queries[:, -1:])(b)[:, 0])
    name = f"{head.name} with a fitted readout of {'its own' if values == 'own' else values} values"
    fitted = replace(cube.head, readout=readout, name=name)
    verdict = whole.verify(fitted, n, eps, command=command)
    if not isinstance(verdict, whole.HeadCorrect):
        raise Undecided(f"{head.name}: the least error {largest} is too near to {eps} for a readout in float64")
    return Fitted(fitted, values, largest, verdict)


def check_values(head: Head, values: str) -> None:
    if values not in VALUES:
        raise UsageError(f"values: expected {', '.join(VALUES)}, got {values!r}")
    if values == "own" and head.readout is None:
        raise UsageError(f"{head.name}: has no values of its own; expected linear or overlap")


def _value_table(head: Head, values: str) -> Floats:
    if values == "own" and head.readout is not None:
        return Outputs(head, head.readout).values
    return bits(range(1 << head.m), head.m).astype(np.float64)


def _query(cube: Cube, table: Floats, values: str, x: int, n: int) -> Query:
    alpha, _ = cube.kernel(np.array([x]))
    at_x = table @ table[x][:, None] if values == "overlap" else table
    return Query(x, alpha[0], at_x, float(cube.additive), n)


def _rounded(query: Query, numbers: Floats, eps: float) -> Floats:
    """w and b on the coarsest binary grid on which floats find no error of eps."""
    for places in PLACES:
        rounded = np.ldexp(np.rint(np.ldexp(numbers, places)), -places)
        if not query.worst(rounded, eps - ROOM):
            return np.asarray(rounded)
    return numbers


def _spread(numbers: Floats, values: str, x: int, m: int) -> Floats:
    """(w, b) for v(z) = z from those for <x,z>."""
    if values != "overlap":
        return numbers
    return np.append(numbers[0] * bits([x], m)[0], numbers[1])


def _lookup(table: Floats) -> Callable[[Bits], Floats]:
    return lambda b: np.asarray(table[b.astype(np.int64) @ (1 << np.arange(b.shape[1], dtype=np.int64))])


# ------------------------------------------------------------------------------------------------ refutations


def _refutation(cube: Cube, query: Query, values: str, error: float, n: int, eps: Fraction, command: str) -> NoReadout:
    """An irreducible list of inputs on which no readout is correct: without any of them there is a model."""
    name, chosen, label = cube.given.name, query.active(), f"readouts-{query.x:x}"
    row, unit = cube.row(query.x)

    def parameters(inputs: list[Input]) -> dict[str, Any]:
        tokens = list(dict.fromkeys([query.x, *(z for given in inputs for z, _ in given.others)]))
        return {
            "m": cube.m,
            "n": n,
            "eps": spelled(eps),
            "additive": spelled(cube.additive),
            "tokens": [f"{z:x}" for z in tokens],
            "alpha": [spelled(Fraction(row[z], unit)) for z in tokens],
            "values": [[spelled(Fraction(float(v))) for v in query.values[z]] for z in tokens],
            "inputs": [{"counts": [dict(i.others).get(z, 0) for z in tokens], "side": i.side} for i in inputs],
        }

    def answer(certificate: Checked | None) -> NoReadout:
        return NoReadout(name, values, query.x, chosen, error, certificate)

    try:
        while True:
            claim = statement("readout-refutation", parameters(chosen))
            found = dual.multipliers(label, refutable(claim), TIMEOUT)
            names = [*claim.rows, NEGATED]
            chosen = [given for given, at in zip(chosen, names, strict=True) if at in found]
            if len(chosen) < len(names):
                continue
            model = z3_solver.solve(Question(f"{label}-model", claim.rows, "sat"), TIMEOUT).model
            if model is not None:
                witness = {"multipliers": found, "model": model}
                tools = versions()
                return answer(
                    certify("readout-refutation", parameters(chosen), "farkas", witness, command=command, tools=tools)
                )
            chosen = chosen[:-1]
    except ClaimFails:
        raise Undecided(
            f"{name}: at the query {query.x:x} the least error {error} is too near to {eps} to be refuted exactly"
        ) from None
    except OverBudget:
        return answer(None)
