"""Dense softmax on Min-IP in finite precision: alpha = e^(-tau l), l = <x,z>, values z, readout <x,a>.

Notation. n is the largest length, t the target, d = l - t >= 0 the gap of a token, and F a binary format (`formats`)
with unit roundoff u and least positive number s. T_d = log((n-1)(d-eps)/eps).

Any weights w_l > 0. Output - t = sum d_j w_j / sum w_j is below eps iff sum (d_j - eps) w_j < 0. The sum separates over
tokens, at least one of which has d = 0, so it is largest where all n-1 others have one gap d; the sequence
(x, y, x, .., x) with |x| = t+d, <x,y> = t does that. So the head with THIS readout is correct at all lengths 1..n IF
AND ONLY IF

    (n-1) (d - eps) w_(t+d) < eps w_t      for all 0 <= t < t+d <= m.                                              (*)

Exact scores: w_l = e^(-tau l), and (*) says tau d > T_d for d = 1..m (`threshold`, `holds`). This sharpens Theorem 1,
where tau >= log(n/eps) is enough for every m. (n = 3, eps = 1/2, m >= 2: log(6)/2 = 0.896 against log 6 = 1.79.)

Scores rounded to F, everything else exact: w_l = e^(-round(tau l)), and (*) says that round(tau (t+d)) - round(tau t) >
T_d (`rounded_scores`). Two overlaps with one score, above all, make an error of (n-1)/n. If tau is a power of two, at
least s, m <= 2^(bits of the significand) and tau m <= the largest number, every score is exact.

Without subtracting the largest score, a query with |x| >= l0 gives 0/0 on the sequence (x), where e^(-tau l0) rounds to
zero (`underflow`). With it, a weight that vanishes only helps.

All of it rounded (`Rounding`), where scores are exact and the largest is subtracted. Assumed: exp(0) = 1; otherwise the
exponential has relative error at most 2^-20, and is then rounded to F or not. Let e_d be the largest weight that a gap
d can so have, E = max_{1<=d<=m} d e_d; then N <= (n-1) E and D >= 1. Sums and quotients are in fp32, u' = 2^-24, each
sum in any order of plain additions, and outputs are stored in F; the readout adds at most m of them in fp32. Two
orders of operations:

    last   a = (sum of e_j z_j) / (sum of e_j): the division comes last
    first  p_j = e_j / (sum of e_j) is stored in F, then a = sum of p_j z_j, as softmax(q k^T) v is written

All terms are nonnegative. With k = 2n + m >= (n-1) + (n-1) + 1 + (m-1) + 2 roundings in fp32 (two for weights of fp64
that enter it), g = k u'/(1 - k u') bounds their effect. Storing an output a_b <= 1 changes it by at most u a_b, or by
s/2 <= u where it is subnormal: by at most u. Storing p_j changes it by at most u p_j or s/2, and all outputs of x
together by at most u (t + N/D) + c, c = n m s/2. Hence, with i = 1 and c = 0 for `last`, i = 2 for `first`,

    |computed - t| <= max((m + (n-1)E + c)(1+u)^i (1+g) - m,  m (1 - (1-u)^i (1-g)) + c),

both sides growing with t <= m. Where k u' >= 1 nothing is shown. Rescaled partial sums, as of blockwise attention, are
not counted.

Source: mathematics.md, Theorem 1; (*) and the bounds on rounding are proved here. No certificate covers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from flint import arb, ctx, fmpq

from .formats import FORMATS, Format, floor_log2, power

EXP_ERROR = Fraction(1, 1 << 20)
ACCUMULATOR = FORMATS["fp32"]
PRECISION = 160  # bits of the enclosures
MOST = 1 << 20  # a power of two for tau is looked for up to here
LAST, FIRST = "last", "first"
Enclosure = tuple[Fraction, Fraction]


@contextmanager
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, PRECISION
    try:
        yield
    finally:
        ctx.prec = before


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _ends(ball: arb) -> Enclosure:
    ends = []
    for end in (ball.lower(), ball.upper()):
        mantissa, exponent = end.man_exp()
        ends.append(Fraction(int(mantissa)) * power(int(exponent)))
    return ends[0], ends[1]


def exponential(x: Fraction) -> Enclosure:
    """Rationals around e^x, about 2^-150 apart relatively."""
    with _precision():
        return _ends(_ball(x).exp())


def logarithm(x: Fraction) -> Enclosure:
    """Rationals around log x, x > 0."""
    with _precision():
        return _ends(_ball(x).log())


def needed(m: int, n: int, eps: Fraction) -> list[Enclosure | None]:
    """T_d for d = 1..m; None where (n-1)(d-eps) <= 0 and nothing is asked."""
    factors = [(n - 1) * (d - eps) / eps for d in range(1, m + 1)]
    return [logarithm(factor) if factor > 0 else None for factor in factors]


def threshold(m: int, n: int, eps: Fraction, digits: int = 4) -> Enclosure:
    """Decimals around the least temperature of this head, exact scores: it fails at the first and below, and is correct
    at the second and above. The first is 0 where every positive temperature will do."""
    scale = 10**digits
    asked = [(ends[0] / d, ends[1] / d) for d, ends in enumerate(needed(m, n, eps), 1) if ends is not None]
    low, high = (max((pair[i] for pair in asked), default=Fraction(0)) for i in (0, 1))
    return Fraction(max(0, floor(scale * low)), scale), Fraction(max(1, ceil(scale * high)), scale)


def holds(m: int, n: int, eps: Fraction, tau: Fraction) -> bool | None:
    """Whether the head is correct at all lengths 1..n at this temperature, exact scores; None where the enclosure does
    not say."""
    verdict: bool | None = True
    for d, ends in enumerate(needed(m, n, eps), 1):
        if ends is not None and tau * d <= ends[0]:
            return False
        if ends is not None and tau * d <= ends[1]:
            verdict = None
    return verdict


@dataclass(frozen=True)
class ScoreFailure:
    """At target `level` and gap `gap` the rounded scores violate (*). `error`, rounded down, is that of the sequence
    of length n with n-1 tokens at this gap; `beyond` says that a score exceeds the largest number instead."""

    level: int
    gap: int
    error: Fraction
    beyond: bool = False


def rounded_scores(m: int, n: int, eps: Fraction, tau: Fraction, at: Format) -> ScoreFailure | None:
    """The first violation of (*), by gap and then by target, or None: there is none."""
    scores: list[Fraction] = []
    for level in range(m + 1):
        score = at.rounded(tau * level)
        if score is None:
            return ScoreFailure(level - 1, 1, Fraction(0), beyond=True)
        scores.append(score)
    floats = np.array([float(score) for score in scores])  # exact but for fp64 and huge scores: only candidates
    for d, ends in enumerate(needed(m, n, eps), 1):
        if ends is None:
            continue
        close = np.flatnonzero(floats[d:] - floats[:-d] <= float(ends[1]) + 1e-6 * (1 + floats[d:]))
        for t in map(int, close):
            difference = scores[t + d] - scores[t]
            if difference <= ends[1]:  # within 2^-150 of T_d counts as violated
                weight = exponential(-difference)[0]
                return ScoreFailure(t, d, (n - 1) * d * weight / (1 + (n - 1) * weight))
    return None


def underflow(m: int, tau: Fraction, at: Format) -> int | None:
    """The least l <= m for which e^(-tau l) certainly rounds to zero."""
    least = logarithm(2 / at.subnormal)[1]  # e^-y < s/2
    level = floor(least / tau) + 1
    while level > 1 and at.rounded(exponential(-tau * (level - 1))[1]) == 0:
        level -= 1
    return level if level <= m else None


@dataclass(frozen=True)
class Rounding:
    """Everything rounded, as the module says, at a temperature whose scores are exact; `order` is LAST or FIRST."""

    m: int
    n: int
    tau: Fraction
    at: Format
    order: str = LAST

    @property
    def exact_scores(self) -> bool:
        two = self.tau == power(floor_log2(self.tau)) and self.tau >= self.at.subnormal
        return two and self.m <= 1 << self.at.significand and self.tau * self.m <= self.at.largest

    def heaviest(self) -> Fraction:
        """E = max d e_d. Once a weight is less than half the least number times 1/m^2, no later one matters."""
        found, negligible = Fraction(0), self.at.subnormal / (2 * self.m) ** 2
        for d in range(1, self.m + 1):
            weight = exponential(-self.tau * d)[1] * (1 + EXP_ERROR)
            found = max(found, d * max(weight, self.at.rounded(weight) or Fraction(0)))
            if weight < negligible:
                return max(found, self.m * weight)
        return found

    def error(self) -> Fraction | None:
        """The bound on the error, or None where nothing is shown."""
        rounding = (2 * self.n + self.m) * ACCUMULATOR.unit
        if rounding >= 1 or not self.exact_scores:
            return None
        growth, i = rounding / (1 - rounding), 1 if self.order == LAST else 2
        lost = Fraction(0) if self.order == LAST else self.n * self.m * self.at.subnormal / 2
        up, down = (1 + self.at.unit) ** i * (1 + growth), (1 - self.at.unit) ** i * (1 - growth)
        above = (self.m + (self.n - 1) * self.heaviest() + lost) * up - self.m
        return max(above, self.m * (1 - down) + lost)


def power_of_two(m: int, n: int, eps: Fraction, at: Format, order: str = LAST) -> Rounding | None:
    """The least power of two tau >= 1 at which the bound on the error is below eps, or None."""
    tau = 1
    while tau <= MOST:
        found = Rounding(m, n, Fraction(tau), at, order)
        if not found.exact_scores:
            return None
        error = found.error()
        if error is not None and error < eps:
            return found
        tau *= 2
    return None
