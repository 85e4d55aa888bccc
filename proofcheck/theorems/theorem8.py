"""Theorem 8 (position-dependent maps, causal final query).

Statement. Fix the query position; the L = n-1 source positions have token-wise key and value maps of their own, with
contributions A_j(x,z) >= 0. If the output is correct (error < eps) on Y (y everywhere), Z (z everywhere) and M_1, ..,
M_L (y at position l only), then A_eff = sum_j A_j satisfies Lemma 3. In a shared feature space A_eff(x,z) =
<phiQ(x), sum_j phiK_j(z)> has rank <= r; with separate spaces of dimensions r_j its rank is <= sum_j r_j. So Theorems
5, 6 and Corollary 7 hold for r, respectively sum_j r_j; causally too, since the last position sees the whole prefix.
Source: paper, Theorem 8; mathematics.md A.

Certificates: `positional-domination-symbolic` (all n, through the sums over positions), `positional-domination` (one n,
all positions written out).
"""

from __future__ import annotations

from fractions import Fraction

from proofcheck.certificate import certify, in_file_name
from proofcheck.errors import UsageError
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import refutable
from proofcheck.kernel.claims.gap import MAX_POSITIONS
from proofcheck.kernel.claims.parameters import least_gap
from proofcheck.kernel.exact import spelled
from proofcheck.solvers import dual
from proofcheck.solvers.portfolio import TIMEOUT, versions

from .bundle import Bundle, Shown
from .identities import identity


def _model(n: int, d: Fraction, eps: Fraction) -> dict[str, Fraction]:
    """A head that meets the hypotheses: all positions alike, the self weight small, y preferred by far.

    a = c_j = 1, p = s_j = d, q_j = 0 and b_j = beta: Z is d exactly; Y and M_l are at most d n/beta, below eps."""
    length = n - 1
    beta = 2 * d * (length + 1) / eps
    point = {"a": Fraction(1), "p": d}
    for j in range(1, n):
        point |= {f"b{j}": beta, f"q{j}": Fraction(0), f"c{j}": Fraction(1), f"s{j}": d}
    return point


def show(n: int = 6, d: Fraction = Fraction(2), eps: Fraction = Fraction(1, 2)) -> Shown:
    """Theorem 8 for all n, and with all positions written out for one n <= 40."""
    if d < least_gap(n, eps):
        raise UsageError(f"--d: Theorem 8 needs a gap d >= 2eps(n-1)/(n-2) = {least_gap(n, eps)}, got {d}")
    if n > MAX_POSITIONS:
        raise UsageError(
            f"-n: positions are written out for n <= {MAX_POSITIONS}, got {n}; the theorem holds for all n"
        )
    bundle = Bundle()
    symbolic = "positional-domination-symbolic"
    claim = statement(symbolic, {})
    bundle.add(
        f"theorem8/{symbolic}",
        certify(
            symbolic,
            {},
            "polynomial-identity",
            identity(symbolic, claim),
            command="proofcheck theorem8",
            tools=versions(),
        ),
    )
    label = f"n{n}-d{in_file_name(d)}-eps{in_file_name(eps)}"
    parameters: dict[str, int | Fraction] = {"n": n, "d": d, "eps": eps}
    written = statement("positional-domination", {key: spelled(value) for key, value in parameters.items()})
    witness = {"multipliers": dual.multipliers(label, refutable(written), TIMEOUT), "model": _model(n, d, eps)}
    command = f"proofcheck theorem8 -n {n} --d {d} --eps {eps}"
    name = f"theorem8/positional-domination-{label}"
    bundle.add(name, certify("positional-domination", parameters, "farkas", witness, command=command, tools=versions()))
    return Shown(
        "Theorem 8",
        f"universal: all n >= 3, eps, d; instance: n={n} with {4 * n - 2} variables",
        bundle,
        [f"theorem8/{symbolic}", name],
        {"rank": "r in a shared feature space, sum_j r_j in separate ones; causal: the query is last"},
        ("Positions",),
    )
