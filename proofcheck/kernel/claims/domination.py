"""B0, the central theorem (mathematics.md B0), and B1, the tight rows.

For one query x write h = <x,x>, s = alpha(x,x), L = n-1, K = n-2. A kernel alpha >= 0 has a readout that is correct on
all sequences of length 1..n if and only if for every query
  (i)   s > 0, and alpha(x,y) > 0 whenever <x,y> < h;
  (ii)  for all tokens y, z (z = x included) with d = <x,z> - <x,y> >= 1:
        2eps alpha(x,y) > K (d - 2eps) alpha(x,z) + (K d/L - 2eps) s.
Only sequences of length exactly n are needed for "only if". Both directions are lists of polynomial facts; TRUST.md
("Domination") ties them to sequences of any length.

Symbols: y, z are alpha(x,y), alpha(x,z); H = h - t where t is the least overlap in the sequence; d = <x,z> - t. The
readout is P(z) = alpha(x,z) g(z) = alpha(x,z) (<x,z> - eps) - s (h - <x,z>)/L + delta where alpha(x,z) > 0, and 0
elsewhere. For a sequence of x, one y with <x,y> = t, and k <= K others z_j, N - (t+eps) D = base + sum_j E_j + c delta,
    base = s (H - 2eps) - 2eps y - s H/L,      E_z = z (d - 2eps) - s (H - d)/L,      1 <= c <= n tokens with a delta.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact import Poly, integer, record
from .forms import Cases, Existential, Row, Universal, nonnegative, positive
from .gap import A, correct, ranges, three_inputs
from .parameters import epsilon, positive_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    Scalar = Poly | Fraction | int

MAX_LEVELS = 64


def pairwise(n: Scalar, d: Scalar, eps: Scalar, y: Poly, z: Poly, s: Poly) -> Row:
    """(ii), multiplied by L."""
    return positive(
        (2 * eps * (n - 1)) * y - ((n - 2) * (n - 1) * (d - 2 * eps)) * z - ((n - 2) * d - 2 * eps * (n - 1)) * s
    )


def domination_necessary(parameters: object) -> Cases:
    record(parameters, "parameters", [])
    n, d, eps, rows = ranges()
    p, height = Poly.variable("p"), Poly.variable("H")
    inequality = Universal(
        "correct on Y, Z, M implies (ii)",
        {**rows, **three_inputs(n, d, eps)},
        pairwise(n, d, eps, Poly.variable("b"), Poly.variable("c"), A),
    )
    lower_at_x = {"X.lower": positive(A * p - (height - eps) * A)}  # on (x, .., x), target H, divided by n
    support = Universal(
        "correct on Y with alpha(x,y) = 0 and on (x, .., x) implies h - t < 2eps <= 1, so <x,y> = h",
        {**correct("Y", [(1, "a", ("a", "p"))], 0, eps), **lower_at_x},
        positive(2 * eps - height),
    )
    return Cases(
        "for all n >= 3, 0 < eps <= 1/2: if some readout makes a kernel alpha >= 0 correct (error < eps) on all "
        "sequences of length n, then (i) alpha(x,x) > 0 and alpha(x,y) > 0 whenever <x,y> < <x,x>, and (ii) 2eps "
        "alpha(x,y) > K(d-2eps) alpha(x,z) + (Kd/L-2eps) alpha(x,x) whenever d = <x,z> - <x,y> >= 1 (L = n-1, K = n-2)",
        {"pairwise": inequality, "support": support},
    )


def domination_sufficient(parameters: object) -> Cases:
    record(parameters, "parameters", [])
    n, d, eps, common = ranges()
    s, y, z, height, mu, delta, c, k = (Poly.variable(name) for name in ("s", "y", "z", "H", "mu", "delta", "c", "k"))
    length, others = n - 1, n - 2
    weights = {"s": positive(s), "y": nonnegative(y), "z": nonnegative(z)}
    small = {"delta": positive(delta), "c-max": nonnegative(n - c)}
    base = length * s * (height - 2 * eps) - (2 * eps * length) * y - s * height  # times L
    further = length * z * (d - 2 * eps) - s * (height - d)  # E_z times L
    level = length * z * (-2 * eps) - s * height  # E_z at d = 0, times L
    gaps = {"d": nonnegative(d - 1), "H": nonnegative(height - d)}
    total, mean, one = (Poly.variable(name) for name in "TSB")
    denominator, overlaps, weighted = (Poly.variable(name) for name in ("D", "E", "A"))
    cases = {
        # N - (t-eps) D = s H + sum_j [alpha_j d_j - s (H - d_j)/L] + c delta, with A = sum alpha_j d_j, E = sum d_j
        "lower": Universal(
            "the lower side holds",
            {
                "n": common["n"],
                "s": positive(s),
                "H": nonnegative(height),
                "A": nonnegative(weighted),
                "E": nonnegative(overlaps),
                "k-max": nonnegative(length - k),
                "c": nonnegative(c - 1),
                "delta": positive(delta),
            },
            positive(length * (s * height + weighted + c * delta) - s * (k * height - overlaps)),
        ),
        "pair": Universal(
            "(ii) for y, z implies base + K E_z < 0",
            {**common, **weights, **gaps, "pairwise": pairwise(n, d, eps, y, z, s)},
            positive(-(base + others * further)),
        ),
        "level": Universal(
            "base + K E_z < 0 for z at the level of y", {**common, **weights}, positive(-(base + others * level))
        ),
        "self": Universal(
            "(ii) for y, x implies base < 0",
            {**common, **weights, "H": nonnegative(height - 1), "pairwise": pairwise(n, height, eps, y, s, s)},
            positive(-base),
        ),
        # B = base, S = sum_j E_j over k others; if B <= -mu and every B + K E_j <= -mu then B + S <= -mu
        "average": Universal(
            "base + sum of E <= -mu",
            {
                "n": common["n"],
                "k-max": nonnegative(others - k),
                "base": nonnegative(-mu - one),
                "pairs": nonnegative(-k * mu - (k * one + others * mean)),
            },
            nonnegative(others * (-mu - one - mean)),
        ),
        "upper": Universal(
            "the upper side holds for t < h",
            {**small, "T": nonnegative(-mu - total), "small": positive(mu - n * delta)},
            positive(-(total + c * delta)),
        ),
        "top": Universal(
            "the upper side holds for t = h, where N - (t+eps) D = -2eps D + c delta",
            {
                **small,
                "eps": common["eps"],
                "D": nonnegative(denominator - s),
                "small": positive(2 * eps * s - n * delta),
            },
            positive(2 * eps * denominator - c * delta),
        ),
    }
    return Cases(
        "for all n >= 3, 0 < eps <= 1/2: a kernel alpha >= 0 that satisfies (i) and (ii) for every query has a readout "
        "that is correct (error < eps) on all sequences of length 1..n: P(z) = alpha(x,z)(<x,z>-eps) - alpha(x,x)"
        "(<x,x>-<x,z>)/L + delta for every small enough delta > 0",
        cases,
    )


def chain_tight(parameters: object) -> Existential:
    """B1. One query of weight D; every token at overlap l has the kernel value a_l, the query itself s."""
    fields = record(parameters, "parameters", ["n", "eps", "distance", "bound"])
    n, eps = integer(fields["n"], "parameters.n", 3), epsilon(fields)
    top = integer(fields["distance"], "parameters.distance", 1, MAX_LEVELS)
    bound = positive_number(fields["bound"], "parameters.bound")
    a, s = [Poly.variable(f"a{level}") for level in range(top + 1)], Poly.variable("s")
    rows = {"s": positive(s), "top": positive(a[top]), "near-bound": nonnegative(bound * a[top] - a[0])}
    for low in range(top):
        rows[f"a{low}"] = positive(a[low])
        rows[f"{low}.self"] = pairwise(n, top - low, eps, a[low], s, s)
        for high in range(low + 1, top + 1):
            rows[f"{low}.{high}"] = pairwise(n, high - low, eps, a[low], a[high], s)
    return Existential(
        f"instance n={n}, eps={eps}: for one query of weight {top} some kernel row, a function of the overlap but at "
        f"the query itself, "
        f"is correct (error < {eps}) for some readout on all sequences of length 1..{n}, and yet alpha(x,y) <= {bound} "
        f"alpha(x,z) with <x,y> = 0, <x,z> = {top}: no argument about one query forces a larger factor",
        rows,
    )
