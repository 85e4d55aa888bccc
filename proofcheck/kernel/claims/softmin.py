"""Heads given explicitly: dense softmin (Theorems 1 and 2) and the uniform head (Theorem 6, lengths 1 and 2)."""

from __future__ import annotations

from fractions import Fraction

from ..exact import Malformed, Poly, integer, number, record, spelled
from ..minip import Head, overlap
from .forms import Cases, Exponential, HeadTask, Matrix, Universal, nonnegative, positive
from .parameters import epsilon, positive_number

MAX_BITS = 8  # of a token, where a matrix over all tokens is built


def softmin(parameters: object) -> Cases:
    """Theorem 1. With w = e^-tau and overlaps t + d_j the error is N/D, N = sum of d_j w^(d_j) over the k <= n-1 tokens
    that are no minimisers, D = #minimisers + sum of w^(d_j) >= 1. d w^d <= w for all integers d >= 1 (X stands for
    w^d), so N <= k w."""
    record(parameters, "parameters", [])
    n, eps, w, x, d, k, num, den = (Poly.variable(name) for name in ("n", "eps", "w", "X", "d", "k", "N", "D"))
    weight, ranges = {"w": positive(w)}, {"eps": positive(eps), "temperature": nonnegative(eps - n * w)}
    cases = {
        "half": Universal(
            "w <= eps/n and eps <= 1/2 imply w <= 1/2",
            {**weight, **ranges, "eps-max": nonnegative(1 - 2 * eps), "n": nonnegative(n - 1)},
            nonnegative(1 - 2 * w),
        ),
        "base": Universal("1 w^1 <= w", weight, nonnegative(w - 1 * w)),
        "step": Universal(
            "d X <= w implies (d+1) X w <= w",
            {
                "w": nonnegative(w),
                "half": nonnegative(1 - 2 * w),
                "X": nonnegative(x),
                "d": nonnegative(d - 1),
                "before": nonnegative(w - d * x),
            },
            nonnegative(w - (d + 1) * x * w),
        ),
        "total": Universal(
            "N <= k w, D >= 1, k <= n-1 imply N < eps D",
            {
                **weight,
                **ranges,
                "k-max": nonnegative(n - 1 - k),
                "numerator": nonnegative(k * w - num),
                "denominator": nonnegative(den - 1),
            },
            positive(eps * den - num),
        ),
    }
    return Cases(
        "for all n >= 1, 0 < eps <= 1/2, 0 < w <= eps/n: the head alpha = w^<x,z>, g = <x,z> (softmax with scores "
        "-tau<x,z>, w = e^-tau, values x_j, readout <x,y>) "
        "has 0 <= output - target < eps on all sequences of length 1..n",
        cases,
    )


def softmin_temperature(parameters: object) -> Exponential:
    fields = record(parameters, "parameters", ["n", "eps", "tau"])
    n, eps = integer(fields["n"], "parameters.n", 1), epsilon(fields)
    tau = positive_number(fields["tau"], "parameters.tau")
    return Exponential(
        f"instance n={n}, eps={eps}: e^-tau <= eps/n at tau = {tau}, so the softmin head at this temperature is "
        f"correct (error < {eps}) on all sequences of length 1..{n}",
        tau,
        n / eps,
    )


def _weight(fields: dict[str, object]) -> Fraction:
    w = number(fields["w"], "parameters.w")
    if not 0 < w < 1:
        raise Malformed(f"parameters.w: expected 0 < w < 1, got {spelled(w)}")
    return w


def softmin_head(parameters: object) -> HeadTask:
    fields = record(parameters, "parameters", ["m", "n", "eps", "w"])
    m, n, eps, w = (
        integer(fields["m"], "parameters.m", 1),
        integer(fields["n"], "parameters.n", 1),
        epsilon(fields),
        _weight(fields),
    )
    head = Head(m, lambda x, z: w ** overlap(x, z), lambda x, z: Fraction(overlap(x, z)))
    return HeadTask(
        f"instance m={m}, n={n}, eps={eps}: the softmin head with e^-tau = {w} is correct on every sequence of length "
        f"1..{n} over {{0,1}}^{m}",
        head,
        n,
        eps,
    )


def uniform_head(parameters: object) -> HeadTask:
    """alpha = 1, v(z) = z, readout 2<x,a> - |x|: rank one."""
    fields = record(parameters, "parameters", ["m", "n", "eps"])
    m, n, eps = integer(fields["m"], "parameters.m", 1), integer(fields["n"], "parameters.n", 1), epsilon(fields)
    head = Head(m, lambda x, z: Fraction(1), lambda x, z: Fraction(2 * overlap(x, z) - overlap(x, x)))
    return HeadTask(
        f"instance m={m}, n={n}, eps={eps}: the rank-one head alpha = 1, g = 2<x,z> - <x,x> is correct on every "
        f"sequence of length 1..{n} over {{0,1}}^{m}",
        head,
        n,
        eps,
    )


def _equal(name: str, left: Poly, right: Poly) -> dict[str, Universal]:
    return {
        f"{name}.at-least": Universal(f"{name}: left >= right", {}, nonnegative(left - right)),
        f"{name}.at-most": Universal(f"{name}: left <= right", {}, nonnegative(right - left)),
    }


def two_tokens(parameters: object) -> Cases:
    """h = <x,x>, l = <x,z> <= h: the targets are h on (x) and l on (x,z)."""
    record(parameters, "parameters", [])
    h, level = Poly.variable("h"), Poly.variable("l")
    own, other = 2 * h - h, 2 * level - h
    return Cases(
        "for all m >= 1: the rank-one head alpha = 1, g = 2<x,z> - <x,x> answers Min-IP exactly on all sequences of "
        "length 1 and 2; and rank 0 makes every denominator zero; so r*(m,1) = r*(m,2) = 1",
        _equal("length 1", own, h) | _equal("length 2", own + other, 2 * level),
    )


def softmin_full_rank(parameters: object) -> Cases:
    """Theorem 2. A = [[1,1],[1,w]] and B = [[w,-1],[-1,1]] have A B = (w-1) I, entry by entry."""
    record(parameters, "parameters", [])
    w, one = Poly.variable("w"), Poly.constant(1)
    a, b = [[one, one], [one, w]], [[w, -one], [-one, one]]
    cases: dict[str, Universal] = {}
    for i in range(2):
        for j in range(2):
            cases |= _equal(f"entry {i}{j}", a[i][0] * b[0][j] + a[i][1] * b[1][j], (w - 1) if i == j else Poly({}))
    return Cases(
        "for all m >= 1, 0 < w < 1: the kernel w^<x,z> on {0,1}^m is the matrix [[1,1],[1,w]] to the m-th Kronecker "
        "power, which is invertible: every exact bilinear factorisation needs dimension 2^m",
        cases,
    )


def softmin_rank(parameters: object) -> Matrix:
    fields = record(parameters, "parameters", ["m", "w", "rank"])
    m, w = integer(fields["m"], "parameters.m", 1, MAX_BITS), _weight(fields)
    rank = integer(fields["rank"], "parameters.rank", 1)
    powers = [w**k for k in range(m + 1)]
    return Matrix(
        f"instance m={m}: the kernel ({w})^<x,z> on {{0,1}}^{m} has rank at least {rank}",
        1 << m,
        1 << m,
        lambda i, j: powers[overlap(i, j)],
        rank,
    )
