"""Exponents for all m at once (mathematics.md B2, B3 b): r*(m,n) between (2 rho/(1+rho))^m and (2 - 1/rho)^m, up to
polynomial factors, with rho = max_d mu(d)^(1/d).

Lower. With a rational a >= 1/rho (a^g mu(g) >= 1 for the best gap g) and a constant kappa, every layer h = M/2 has
V + W <= kappa sum_D C(h,D)^2 a^(2D) <= kappa (1+a)^M, and q = 1/(2V) in B2 gives r >= N/(4(V+W)) with N >= 2^M/(M+1).

Upper. With a rational rho' > rho, sampled subset features (Bernstein's inequality) give r <= 2cm (2 - 1/rho')^m.

Floats choose a, rho', eta; the kernel's rules `lower-exponent` and `upper-exponent` decide with rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

from proofcheck import chains
from proofcheck.certificate import Checked, certify
from proofcheck.errors import ClaimFails
from proofcheck.kernel.claims.parameters import factor, least_gap
from proofcheck.kernel.exact import Rejected
from proofcheck.theorems.bundle import foundation

from .layers import useful_gaps

PRECISION = 10**6
LARGEST_GAP = 400


@dataclass(frozen=True)
class Rate:
    """The gap with the largest mu(d)^(1/d), and rho as a float."""

    gap: int
    rho: float


def best_rate(n: int, eps: Fraction) -> Rate:
    """rho = max_d mu(d)^(1/d) over integer gaps below 400; log(mu(d))/d falls for large d."""
    rates = []
    for d in range(1, LARGEST_GAP):
        if d >= least_gap(n, eps):
            mu = factor(n, Fraction(d), eps)
            rates.append(((log2(mu.numerator) - log2(mu.denominator)) / d, d))
    exponent, gap = max(rates, key=lambda rate: (rate[0], -rate[1]))
    return Rate(gap, 2**exponent)


def exponents(n: int, eps: Fraction) -> tuple[float, float]:
    """log2 of the bases: (lower, upper), as floats for a table."""
    rho = best_rate(n, eps).rho
    return log2(2 * rho / (1 + rho)), log2(2 - 1 / rho)


def lower(n: int, eps: Fraction, command: str) -> Checked:
    """The certificate `lower-exponent`: for all m."""
    rate = best_rate(n, eps)
    a = Fraction(ceil(PRECISION / rate.rho), PRECISION)
    while a**rate.gap * factor(n, Fraction(rate.gap), eps) < 1:
        a += Fraction(1, PRECISION)
    weights = chains.weights(n, eps, 8 * rate.gap + 8)
    least = next(d for d in range(1, len(weights)) if all(weights[d : d + rate.gap]))
    kappa = max(1 / (a ** (2 * d) * (weights[d] if d >= least else 1) ** 2) for d in range(1, least + rate.gap))
    kappa = max(Fraction(1), Fraction(ceil(kappa * 1000), 1000))  # the term D = 0 needs kappa >= 1
    witness = {"gap": rate.gap, "distance": least, "gaps": useful_gaps(n, eps, least + rate.gap)}
    rested = [foundation("approximate-identity")[1], foundation("gap-domination-symbolic")[1]]
    parameters = {"n": n, "eps": eps, "a": a, "kappa": kappa}
    return certify("lower-exponent", parameters, "lower-exponent", witness, command=command, uses=rested)


def margins(rate: Rate, rho: Fraction, eta: Fraction) -> dict[str, Fraction | int]:
    """c0 near 1, and the last gap that is checked one by one."""
    return {"c0": 1 - eta / 256, "last": max(4 * rate.gap, ceil(2 / (float(rho) - 1)))}


def upper(n: int, eps: Fraction, command: str) -> Checked:
    """The certificate `upper-exponent`: for all m; rests on Bernstein's inequality. rho' = rho (1 + 1/10^4): the nearer
    to rho, the larger the constant c."""
    rate = best_rate(n, eps)
    rho = Fraction(ceil(rate.rho * 1.0001 * 10**5), 10**5)
    rested = [foundation("domination-sufficient")[1]]
    for bits in range(6, 40):
        eta = Fraction(1, 1 << bits)
        parameters = {"n": n, "eps": eps, "rho": rho, "eta": eta}
        witness = margins(rate, rho, eta)
        try:
            return certify("upper-exponent", parameters, "upper-exponent", witness, command=command, uses=rested)
        except Rejected:
            continue
    raise ClaimFails(f"no margin was found for the upper exponent at n={n}, eps={eps}")


def theorem5_rate(n: int, eps: Fraction) -> float:
    """What Theorem 5 gives for large m with a uniform chain and one distance Delta = c M: the exponent
    max over c of min(1 - H2(2c), 2c log2 rho), a code of 2^(M(1-H2(2c))) words and Lambda = rho^Delta. The paper
    takes c = 1/8 at n = 3, eps = 1/2 and states 1/10. A float, for comparison."""
    rate = log2(best_rate(n, eps).rho)
    low, high = 0.0, 0.25
    for _ in range(60):
        c = (low + high) / 2
        entropy = -2 * c * log2(2 * c) - (1 - 2 * c) * log2(1 - 2 * c)
        low, high = (c, high) if 2 * c * rate < 1 - entropy else (low, c)
    return 2 * low * rate
