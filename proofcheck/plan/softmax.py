"""Dense softmax on Min-IP in finite precision: alpha = e^(-tau l), l = <x,z>, values z, readout <x,a>.

Notation. n is the largest length, t the target, d = l - t >= 0 the gap of a token, w = e^-tau, and F a binary format
(`formats`) with unit roundoff u.

Exact arithmetic. Output - t = N/D with N = sum d_j w^(d_j), D = sum w^(d_j), and D >= 1 because some d_j = 0. It is
below eps iff sum (d_j - eps) w^(d_j) < 0. The sum separates over tokens; at least one token has d = 0, and the sequence
(x, y, z, .., z) with x = z, <x,y> = 0 gives all n-1 others the same gap d, for every 1 <= d <= m. So this head, with
this readout, is correct at all lengths 1..n IF AND ONLY IF

    (n-1) (d - eps) w^d < eps   for d = 1..m,   i.e.  tau > max_d log((n-1)(d-eps)/eps) / d      (`threshold`).

This sharpens Theorem 1, where tau >= log(n/eps) is enough. (n = 3, eps = 1/2: log(6)/2 = 0.896 against log 6 = 1.79.)

Scores rounded to F. If round(tau l) = round(tau (l+1)) for some l < m, the two overlaps have the same weight whatever
computes the exponential, and with x of weight l+1, <x,y> = l, the sequence (x, y, x, .., x) of length n >= 3 gives
l + (n-1)/n where the target is l: an error of at least 2/3 (`collision`). If tau is a power of two, m <= 2^t_F (t_F the
bits of the significand) and tau m <= the largest number, then every score is exact.

Overflow and underflow. Without subtracting the largest score, a query with |x| >= l0 gives 0/0 on the sequence (x)
where e^(-tau l0) rounds to zero (`underflow`). With it, one weight is 1, and weights that vanish only help: N is
smaller.

All of it rounded (`Rounding`), for exact scores with the largest subtracted. Let the exponential have relative error at
most 2^-20 before it is rounded to F, let e_d be the largest weight that a gap d can have so, and E = max_{1<=d<=m}
d e_d. Sums run in fp32, in any order, u' = 2^-24; outputs are stored in F; the readout sums at most m of them in fp32.
All terms are nonnegative, so the computed value is (t + N/D)(1 + theta) with |theta| <= (1+u)(1+g) - 1 where g =
k u'/(1 - k u'), k = 2n + m >= (n-1) + (n-1) + 1 + (m-1), and N/D <= (n-1) E. Hence

    |computed - t| <= max((m + (n-1)E)(1+u)(1+g) - m,  m (1 - (1-u)(1-g))),

since both sides grow with t <= m. Where k u' >= 1 nothing is shown. `Rounding.error` is this bound, exactly.

Source: mathematics.md, Theorem 1; the iff and the bounds on rounding are proved here. No certificate covers them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

from flint import arb, ctx, fmpq

from .formats import FORMATS, Format, floor_log2, power

EXP_ERROR = Fraction(1, 1 << 20)
ACCUMULATOR = FORMATS["fp32"]
PRECISION = 160  # bits of the enclosures
MOST = 1 << 20  # a power of two for tau is looked for up to here


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around e^x, about 2^-150 apart relatively."""
    before, ctx.prec = ctx.prec, PRECISION
    try:
        ball = arb(fmpq(x.numerator, x.denominator)).exp()
        return _exact(ball.lower()), _exact(ball.upper())
    finally:
        ctx.prec = before


def _exact(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * power(int(exponent))


def holds(m: int, n: int, eps: Fraction, tau: Fraction) -> bool | None:
    """Whether the head is correct at all lengths 1..n at this temperature; None where the enclosure does not say."""
    verdict: bool | None = True
    for d in range(1, m + 1):
        if n == 1 or d <= eps:
            continue
        below, above = exponential(-tau * d)
        factor = (n - 1) * (d - eps)
        if factor * below >= eps:
            return False
        if factor * above >= eps:
            verdict = None
    return verdict


def threshold(m: int, n: int, eps: Fraction, digits: int = 4) -> tuple[Fraction, Fraction]:
    """Decimals with `digits` places around the least temperature of this head: it fails at the first, and is correct
    at the second and above. The first is 0 where every positive temperature will do (n = 1)."""
    scale = 10**digits
    terms = (log((n - 1) * (d - eps) / eps) / d for d in range(1, m + 1) if (n - 1) * (d - eps) > eps)
    guess = ceil(scale * max(terms, default=0.0))
    low, high = max(guess - 2, 0), max(guess - 1, 1)
    while low > 0 and holds(m, n, eps, Fraction(low, scale)) is not False:
        low -= 1
    while holds(m, n, eps, Fraction(high, scale)) is not True:
        high += 1
    while low + 1 < high and holds(m, n, eps, Fraction(low + 1, scale)) is False:
        low += 1
    return Fraction(low, scale), Fraction(high, scale)


def collision(m: int, tau: Fraction, at: Format) -> int | None:
    """The least l < m where tau l and tau (l+1) are rounded to one number, or the latter beyond all; None: nowhere."""
    last = at.rounded(Fraction(0))
    for level in range(m):
        following = at.rounded(tau * (level + 1))
        if following is None or following == last:
            return level
        last = following
    return None


def underflow(m: int, tau: Fraction, at: Format) -> int | None:
    """The least l <= m for which e^(-tau l) certainly rounds to zero."""
    return next((level for level in range(1, m + 1) if at.rounded(exponential(-tau * level)[1]) == 0), None)


@dataclass(frozen=True)
class Rounding:
    """Everything rounded, as the module says, at a temperature whose scores are exact."""

    m: int
    n: int
    tau: Fraction
    at: Format

    @property
    def exact_scores(self) -> bool:
        two = self.tau == power(floor_log2(self.tau))
        return two and self.m <= 1 << self.at.significand and self.tau * self.m <= self.at.largest

    def heaviest(self) -> Fraction:
        """E = max d e_d."""
        found = Fraction(0)
        for d in range(1, self.m + 1):
            weight = self.at.rounded(exponential(-self.tau * d)[1] * (1 + EXP_ERROR)) or Fraction(0)
            found = max(found, d * weight)
            if weight == 0:
                break
        return found

    def error(self) -> Fraction | None:
        """The bound on the error, or None where nothing is shown."""
        rounding = (2 * self.n + self.m) * ACCUMULATOR.unit
        if rounding >= 1 or not self.exact_scores:
            return None
        growth, u = rounding / (1 - rounding), self.at.unit
        above = (self.m + (self.n - 1) * self.heaviest()) * (1 + u) * (1 + growth) - self.m
        return max(above, self.m * (1 - (1 - u) * (1 - growth)))


def power_of_two(m: int, n: int, eps: Fraction, at: Format) -> Rounding | None:
    """The least power of two tau >= 1 at which the bound on the error is below eps, or None."""
    tau = 1
    while tau <= MOST:
        found = Rounding(m, n, Fraction(tau), at)
        if not found.exact_scores:
            return None
        error = found.error()
        if error is not None and error < eps:
            return found
        tau *= 2
    return None
