"""Lemma 3 (fixed-length gap domination), instances and the symbolic theorem.

Statement. Let one nonnegative kernel head be correct with error < eps, 0 < eps <= 1/2, on every sequence of one
exact length n >= 3. If t = <x,y> < u = <x,z>, d = u - t and d >= 2eps(n-1)/(n-2), then

    alpha(x,y) > mu(d) alpha(x,z),    mu(d) = (n-2)(d-2eps)/(2eps).

Only the inputs Y = (x, y^(n-1)), Z = (x, z^(n-1)) and M = (x, y, z^(n-2)) are used. The condition on d says
exactly that mu(d) >= 1. Source: paper, Lemma 3; mathematics.md A.

How each certificate arises (solver output is a hint, the kernel decides):

    gap-domination           Z3 refutes the negated claim, linear and raw; multipliers from the dual query
    gap-domination-symbolic  the same with n, d, eps as unknowns; products of hypotheses as rows of the dual
    gap-tightness            a head with kernel row (a, b, c) correct on every sequence over {x, y, z} and
                             b < (mu + delta) c: no better factor holds (for n > 24 on Y, Z, M only)
    gap-countermodel         below the admissible gap: a head with b <= factor c

Below the admissible gap the three inputs force no factor, because the multiplier 2eps - (n-2)d/(n-1) of a is
positive: a large self weight a satisfies them all. Sequences with several copies of x may still force one:
correctness on (x^i, y^j, z^k) implies b > mu(d) f/(f+e) c with e = 2eps - (n-2)d/(n-1) and
f = n(n-2)d/(n-1) - 2eps(n-1), where e, f > 0 and d > 2eps; it is less than 1, hence useless in a chain. A
counter-model is therefore sought on every sequence over {x, y, z} first, and on Y, Z, M where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from proofcheck.certificate import Checked, certify, in_file_name
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import Row, Universal, refutable
from proofcheck.kernel.claims.gap import MAX_ALL_INPUTS
from proofcheck.kernel.claims.parameters import factor, least_gap
from proofcheck.kernel.exact import Poly, spelled
from proofcheck.solvers import dual, z3_solver
from proofcheck.solvers.portfolio import TIMEOUT, Solver, decide, versions
from proofcheck.solvers.query import Query, negation, product_name

DELTA = Fraction(1, 100)  # the tightness witnesses show that the factor cannot be improved by this much
SMALL_FACTOR = Fraction(1, 1000)  # the factor that counter-models below the admissible gap undercut


@dataclass(frozen=True)
class Instance:
    """n >= 3, d > 0, 0 < eps <= 1/2; d need not be an integer."""

    n: int
    d: Fraction
    eps: Fraction

    @property
    def admissible(self) -> bool:
        return self.d >= least_gap(self.n, self.eps)

    @property
    def command(self) -> str:
        return f"proofcheck lemma3 --n {self.n} --d {self.d} --eps {self.eps}"

    @property
    def label(self) -> str:
        return f"n{self.n}-d{in_file_name(self.d)}-eps{in_file_name(self.eps)}"

    def parameters(self) -> dict[str, int | Fraction]:
        return {"n": self.n, "d": self.d, "eps": self.eps}


@dataclass(frozen=True)
class Outcome:
    """One certificate with its file name, and the queries asked on the way."""

    name: str
    certificate: Checked
    queries: tuple[Query, ...]


def grid(ns: range, largest_gap: int, epsilons: list[Fraction]) -> Iterator[Instance]:
    """All instances with integer gaps from the least admissible one to `largest_gap`."""
    for n in ns:
        for eps in epsilons:
            for d in range(ceil(least_gap(n, eps)), largest_gap + 1):
                yield Instance(n, Fraction(d), eps)


def prove(instance: Instance, solver: Solver = Solver.Z3, timeout: float = TIMEOUT) -> list[Outcome]:
    """The domination certificate of an admissible instance and its tightness witness."""
    return [_domination(instance, solver, timeout), _tightness(instance, solver, timeout)]


def _domination(instance: Instance, solver: Solver, timeout: float) -> Outcome:
    name = f"gap-domination-{instance.label}"
    parameters = instance.parameters()
    claim = _universal("gap-domination", parameters)
    raw = negation(name, claim)
    queries = (raw.linearised(), raw)
    for query in queries:
        decide(query, solver, timeout)
    witness = {
        "multipliers": dual.multipliers(name, refutable(claim), timeout),
        "model": _head(_head_query(f"{name}-model", claim.rows), Solver.Z3, timeout),
    }
    certificate = certify("gap-domination", parameters, "farkas", witness, command=instance.command, tools=versions())
    return Outcome(name, certificate, queries)


def prove_symbolic(solver: Solver = Solver.Z3, timeout: float = TIMEOUT) -> Outcome:
    """Lemma 3 for all n, d, eps: a polynomial identity over products of at most two conditions.

    Z3 refutes the raw negation. cvc5 answers "unknown" to it (nonlinear arithmetic is incomplete), so what both
    solvers are asked is the negation strengthened by products of its conditions, every monomial an unknown.
    """
    name = "gap-domination-symbolic"
    claim = _universal(name, {})
    rows = refutable(claim)
    others = [row for row in rows if row not in {"n", "eps", "eps-max", "gap"}]
    candidates = {product_name(c): c for row in others for c in [(row,), ("n", row), ("gap", row)]}
    products = dual.product_rows(rows, candidates.values())
    raw, strengthened = negation(name, claim), Query(f"{name}-products", products, "unsat").linearised()
    decide(strengthened, solver, timeout)
    if solver is not Solver.CVC5:
        decide(raw, Solver.Z3, timeout)
    example = Instance(3, Fraction(2), Fraction(1, 2))
    model = _head_query(f"{name}-model", _universal("gap-domination", example.parameters()).rows)
    point = {"n": example.n, "d": example.d, "eps": example.eps, **_head(model, Solver.Z3, timeout)}
    terms = [
        {"coefficient": q, "product": list(candidates[product])}
        for product, q in dual.multipliers(name, products, timeout).items()
    ]
    certificate = certify(
        name,
        {},
        "polynomial-identity",
        {"terms": terms, "model": point},
        command="proofcheck lemma3 --symbolic",
        tools=versions(),
    )
    return Outcome(name, certificate, (raw, strengthened))


def _tightness(instance: Instance, solver: Solver, timeout: float) -> Outcome:
    name = f"gap-tightness-{instance.label}"
    inputs = "xyz" if instance.n <= MAX_ALL_INPUTS else "YZM"
    parameters = {**instance.parameters(), "delta": DELTA, "inputs": inputs}
    return _existence("gap-tightness", name, parameters, instance, solver, timeout)


def refute(
    instance: Instance, bound: Fraction | None = None, solver: Solver = Solver.Z3, timeout: float = TIMEOUT
) -> Outcome:
    """Below the admissible gap: a head that is correct on the inputs and has b <= bound c, c > 0."""
    name = f"gap-countermodel-{instance.label}"
    mu = factor(instance.n, instance.d, instance.eps)
    parameters = {
        **instance.parameters(),
        "factor": (mu if mu > 0 else SMALL_FACTOR) if bound is None else bound,
        "inputs": "xyz",
    }
    if instance.n > MAX_ALL_INPUTS or not _satisfiable(name, parameters, timeout):
        parameters["inputs"] = "YZM"
    return _existence("gap-countermodel", name, parameters, instance, solver, timeout)


def _satisfiable(name: str, parameters: Mapping[str, object], timeout: float) -> bool:
    rows = statement("gap-countermodel", _json(parameters)).rows
    return z3_solver.solve(_head_query(name, rows), timeout).status == "sat"


def _existence(
    claim: str, name: str, parameters: Mapping[str, object], instance: Instance, solver: Solver, timeout: float
) -> Outcome:
    query = _head_query(name, statement(claim, _json(parameters)).rows)
    witness = {"assignment": _head(query, solver, timeout)}
    certificate = certify(claim, parameters, "model", witness, command=instance.command, tools=versions())
    return Outcome(name, certificate, (query,))


def _json(parameters: Mapping[str, object]) -> dict[str, object]:
    return {key: spelled(value) if isinstance(value, Fraction) else value for key, value in parameters.items()}


def _universal(name: str, parameters: Mapping[str, object]) -> Universal:
    claim = statement(name, _json(parameters))
    if not isinstance(claim, Universal):
        raise TypeError(f"{name} is not a universal claim")
    return claim


def _head_query(name: str, rows: Mapping[str, Row]) -> Query:
    """Is there a head that meets `rows`? Every product is an unknown, alpha(x,z) = 1, and a, b > 0, so that
    p = (a p)/a, q and s can be recovered from the products."""
    a, b, c = (Poly.variable(weight) for weight in "abc")
    normal = {"positive.a": Row(a, True), "positive.b": Row(b, True)}
    scale = {"scale.low": Row(c - 1, False), "scale.high": Row(1 - c, False)}
    return Query(name, {**rows, **normal, **scale}, "sat").linearised()


def _head(query: Query, solver: Solver, timeout: float) -> dict[str, Fraction]:
    """Kernel values a, b, c and shifted readout values p, q, s from the answer to a `_head_query`."""
    if solver is Solver.CVC5:
        decide(query, solver, timeout)
        solver = Solver.Z3  # models come from Z3 alone
    found = decide(query, solver, timeout)[0].model or {}
    weights = {variable: found[variable] for variable in "abc"}
    values = {value: found[f"{w}*{value}"] / weights[w] for w, value in zip("abc", "pqs", strict=True)}
    return weights | values
