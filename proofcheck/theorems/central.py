"""B0, the central theorem: domination decides everything (mathematics.md B0), and B1, tight chains.

Statement. For n >= 3 and 0 < eps <= 1/2, a kernel alpha >= 0 has values and an affine readout that are correct at all
lengths 1..n if and only if for every query x
  (i)  alpha(x,x) > 0, and alpha(x,y) > 0 whenever <x,y> < <x,x>;
  (ii) 2eps alpha(x,y) > K(d-2eps) alpha(x,z) + (Kd/L - 2eps) alpha(x,x) for all tokens y, z (z = x included) with
       d = <x,z> - <x,y> >= 1, where L = n-1 and K = n-2.
Certificates: `domination-necessary` and `domination-sufficient`, n, d, eps symbolic; for chains `chain` (what the best
chain forces) and `chain-tight` (a row that satisfies (i), (ii) and is within delta of it: no argument about one query
forces more). The readout itself is `proofcheck.domination.readout`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from proofcheck import chains
from proofcheck.certificate import Checked, certify, in_file_name
from proofcheck.errors import ClaimFails

from . import theorem5
from .bundle import Shown, cases, foundation, founded

DELTA = Fraction(1, 100)


def show() -> Shown:
    """Both directions of B0."""
    bundle = founded(["domination-sufficient"], prove=True)
    bundle.add(*cases("domination-necessary", "domination"))
    return Shown(
        "B0 (central theorem)",
        "universal: all n >= 3, 0 < eps <= 1/2, all kernels",
        bundle,
        list(bundle.certificates),
        {},
        ("Domination",),
    )


def tight(n: int, eps: Fraction, distance: int, delta: Fraction, command: str) -> Checked:
    """`chain-tight`: a row that satisfies B0 with a_0 <= (w + delta) a_D."""
    best = chains.best(n, eps, distance)
    if best is None:
        raise ClaimFails(f"no admissible chain spans the distance {distance} at n={n}, eps={eps}")
    levels, own = chains.tight_row(n, eps, distance, delta)
    assignment = {f"a{level}": value for level, value in enumerate(levels)} | {"s": own}
    parameters = {"n": n, "eps": eps, "distance": distance, "bound": best.product + delta}
    rested = [foundation("domination-sufficient")[1]]
    return certify("chain-tight", parameters, "model", {"assignment": assignment}, command=command, uses=rested)


def show_chains(n: int, eps: Fraction, distances: Iterable[int], delta: Fraction = DELTA) -> Shown:
    """The best chain for each distance, and its tightness; distances without an admissible chain are named."""
    bundle, main, figures = founded(["gap-domination-symbolic", "domination-sufficient"]), [], {}
    for distance in distances:
        best = chains.best(n, eps, distance)
        if best is None:
            figures[f"D={distance}"] = "no admissible chain"
            continue
        command = f"proofcheck chain -n {n} --eps {eps} --distance {distance} --delta {delta}"
        label = f"n{n}-eps{in_file_name(eps)}-D{distance}"
        names = [f"chains/chain-{label}", f"chains/chain-tight-{label}"]
        bundle.add(names[0], theorem5.chain_certificate(n, eps, best.gaps, best.product, command))
        bundle.add(names[1], tight(n, eps, distance, delta, command))
        main += names
        figures[f"D={distance}"] = f"w = {best.product} by gaps {'+'.join(map(str, best.gaps))}"
    return Shown(
        "B1 (chains)",
        f"instances: n={n}, eps={eps}",
        bundle,
        main,
        figures,
        ("Chains", "Domination"),
    )
