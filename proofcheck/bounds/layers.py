"""Lower bounds from whole layers (mathematics.md B2).

Statement. Let N = C(M,h), V = sum_{1<=D<D0} C(h,D) C(M-h,D), W = sum_{D>=D0} C(h,D) C(M-h,D) w(D)^-2, where w(D) is a
factor that some chain of admissible gaps forces at overlap difference D. For every rational 0 < q <= 1 with p = 1 -
qV > 0, every head correct at exact length n over at least M bits has r >= N q p^2/(p + q W).

Keep each h-set with probability q and drop those with a kept neighbour at distance below D0: of T sets left, E[T] >=
N q p, and F = sum over pairs of w^-2 has E[F] <= E[T] + N q^2 W. Some choice has T^2/F >= E[T]^2/E[F]
(Cauchy-Schwarz), and Lemma 4 gives r >= T^2/F. The right side increases with E[T], so E[T] may be replaced by N q p.

M, h, D0 and q are found with floating-point logarithms; the kernel recomputes the bound with integers (w(D)^-2
rounded up).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, lgamma, log

import numpy as np

from proofcheck import chains
from proofcheck.certificate import Checked, certify
from proofcheck.theorems.bundle import foundation

SHIFT = 256  # as in the kernel
LN2 = log(2)


@dataclass(frozen=True)
class Layer:
    """The h-sets of [M] expurgated below distance D0 with probability q; log2 of the bound that floats give."""

    M: int
    weight: int
    distance: int
    q: Fraction
    log2: float


@functools.cache
def _factors(n: int, eps: Fraction, top: int) -> tuple[Fraction, ...]:
    """w(0), .., w(top) exactly; 0 where no admissible chain spans the difference."""
    return tuple(chains.weights(n, eps, top))


def useful_gaps(n: int, eps: Fraction, top: int) -> list[int]:
    """Gaps that occur in best chains up to the difference `top`."""
    used: set[int] = set()
    for difference in range(1, min(top, 64) + 1):
        best = chains.best(n, eps, difference)
        used |= set(best.gaps) if best else set()
    return sorted(used)


def _log_factors(n: int, eps: Fraction, top: int) -> np.ndarray:
    """ln w(D) for D = 0..top as floats, infinite where there is no chain."""
    return np.array([log(w.numerator) - log(w.denominator) if w else -np.inf for w in _factors(n, eps, top)])


def best_layer(m: int, n: int, eps: Fraction) -> Layer | None:
    """The best (M, h, D0, q) with M <= m by floats; None where no layer gives more than 1."""
    top = m // 2
    logs = _log_factors(n, eps, top)
    best: Layer | None = None
    for size in {m, m - 1} - {0}:
        for h in {size // 2, (size - 1) // 2, size // 2 - 1} - {0, -1}:
            found = _optimise(size, h, logs, best.log2 if best else 0.0)
            if found is not None:
                best = found
    return best


def _log_binomials(a: int, top: int) -> np.ndarray:
    k = np.arange(top + 1)
    table = np.array([lgamma(i + 1) for i in range(a + 1)])
    return np.array(table[a] - table[k] - table[a - k])


def _optimise(size: int, h: int, logs: np.ndarray, floor: float) -> Layer | None:
    top = min(h, size - h)
    counts = _log_binomials(h, top) + _log_binomials(size - h, top)
    total = lgamma(size + 1) - lgamma(h + 1) - lgamma(size - h + 1)
    near = np.logaddexp.accumulate(np.concatenate(([-np.inf], counts[1:])))  # ln sum_{1<=D<=k}
    terms = counts - 2 * logs[: top + 1]
    terms[0] = -np.inf
    far = np.logaddexp.accumulate(terms[::-1])[::-1]  # ln sum_{D>=k}
    best: Layer | None = None
    for distance in range(1, top + 1):
        if np.isinf(logs[distance : top + 1]).any():
            continue
        volume, weight = near[distance - 1], far[distance]
        for share in (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4):  # q V
            ln_q = min(0.0, log(share) - volume) if volume > -np.inf else 0.0
            kept = 1 - np.exp(ln_q + volume) if volume > -np.inf else 1.0
            value = (total + ln_q + 2 * log(kept) - np.logaddexp(log(kept), ln_q + weight)) / LN2
            if value > floor:
                floor = value
                scale = max(0, ceil(-ln_q / LN2)) + 20
                q = min(Fraction(1), Fraction(max(1, round(2.0 ** min(scale - (-ln_q / LN2), 60))), 1 << scale))
                best = Layer(size, h, distance, q, value)
    return best


def bound(layer: Layer, n: int, eps: Fraction) -> int:
    """The integer that the layer certifies: as the kernel computes it."""
    m, h = layer.M, layer.weight
    top = min(h, m - h)
    factors = _factors(n, eps, top)
    near = far = 0
    left = right = 1
    for difference in range(1, top + 1):
        left = left * (h - difference + 1) // difference
        right = right * (m - h - difference + 1) // difference
        if difference < layer.distance:
            near += left * right
        else:
            w = factors[difference]
            far -= -((left * right * w.denominator**2) << SHIFT) // w.numerator**2
    kept = 1 - layer.q * near
    value = comb(m, h) * layer.q * kept**2 / (kept + layer.q * Fraction(far, 1 << SHIFT))
    return -(-value.numerator // value.denominator)


def certificate(m: int, n: int, eps: Fraction, layer: Layer, command: str) -> Checked:
    """`feature-rank` by the rule `layer`."""
    witness = {
        "M": layer.M,
        "weight": layer.weight,
        "distance": layer.distance,
        "q": layer.q,
        "gaps": useful_gaps(n, eps, min(layer.weight, layer.M - layer.weight)),
    }
    parameters = {"m": m, "n": n, "eps": eps, "value": bound(layer, n, eps)}
    rested = [foundation("approximate-identity")[1], foundation("gap-domination-symbolic")[1]]
    return certify("feature-rank", parameters, "layer", witness, command=command, uses=rested)
