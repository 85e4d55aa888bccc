"""Codes, chains, and the rank bounds that they give: Lemma 4, Theorems 5 and 6, Corollary 7."""

from __future__ import annotations

from fractions import Fraction

from ..exact import Malformed, Poly, expect, integer, number, record
from .forms import (
    Cases,
    Chain,
    Code,
    Consequence,
    FeatureRank,
    HeadExists,
    LowerExponent,
    Matrix,
    Universal,
    UpperExponent,
    nonnegative,
    positive,
)
from .parameters import HALF, epsilon, factor, positive_number

MAX_M = 20_000  # bits of a token, where binomial coefficients are computed


def code(parameters: object) -> Code:
    fields = record(parameters, "parameters", ["m", "weight", "distance", "size"])
    m = integer(fields["m"], "parameters.m", 1, MAX_M)
    weight = integer(fields["weight"], "parameters.weight", 0, m)
    distance = integer(fields["distance"], "parameters.distance", 1, MAX_M)
    size = integer(fields["size"], "parameters.size", 1)
    return Code(
        f"there are {size} subsets of [{m}] of {weight} elements each with |S\\U| >= {distance} for any two",
        m,
        weight,
        distance,
        size,
    )


def chain(parameters: object) -> Chain:
    fields = record(parameters, "parameters", ["n", "eps", "distance", "factor"])
    n, eps = integer(fields["n"], "parameters.n", 3), epsilon(fields)
    distance = integer(fields["distance"], "parameters.distance", 1, MAX_M)
    forced = positive_number(fields["factor"], "parameters.factor")
    return Chain(
        f"instance n={n}, eps={eps}: every head correct on all sequences of length {n} has alpha(x,y) > {forced} "
        f"alpha(x,z) whenever <x,z> - <x,y> >= {distance}",
        n,
        eps,
        distance,
        forced,
    )


def feature_rank(parameters: object) -> FeatureRank:
    fields = record(parameters, "parameters", ["m", "n", "eps", "value"])
    m, n = integer(fields["m"], "parameters.m", 1, MAX_M), integer(fields["n"], "parameters.n", 3)
    eps, value = epsilon(fields), integer(fields["value"], "parameters.value", 1)
    return FeatureRank(
        f"instance m={m}, n={n}, eps={eps}: every nonnegative kernel head that is correct (error < {eps}) on all "
        f"sequences of length {n} over {{0,1}}^{m} has at least {value} features",
        m,
        n,
        eps,
        value,
    )


def lower_exponent(parameters: object) -> LowerExponent:
    fields = record(parameters, "parameters", ["n", "eps", "a", "kappa"])
    n, eps = integer(fields["n"], "parameters.n", 3), epsilon(fields)
    a = positive_number(fields["a"], "parameters.a")
    kappa = positive_number(fields["kappa"], "parameters.kappa")
    return LowerExponent(
        f"n={n}, eps={eps}, for all m >= 2, with M = 2 floor(m/2): every nonnegative kernel head that is correct "
        f"(error < {eps}) on all sequences of length {n} over {{0,1}}^m has r >= (2/(1+a))^M / (4 kappa (M+1)), "
        f"where a = {a} and kappa = {kappa}",
        n,
        eps,
        a,
        kappa,
    )


def upper_exponent(parameters: object) -> UpperExponent:
    fields = record(parameters, "parameters", ["n", "eps", "rho", "eta"])
    n, eps = integer(fields["n"], "parameters.n", 3), epsilon(fields)
    rho, eta = positive_number(fields["rho"], "parameters.rho"), positive_number(fields["eta"], "parameters.eta")
    return UpperExponent(
        f"n={n}, eps={eps}, for all m >= 1: some nonnegative kernel head with r <= 2cm (2 - 1/rho)^m, c = 4/eta^2, "
        f"rho = {rho}, eta = {eta}, is correct (error < {eps}) on all sequences of length 1..{n} over {{0,1}}^m",
        n,
        eps,
        rho,
        eta,
    )


def head_exists(parameters: object) -> HeadExists:
    fields = record(parameters, "parameters", ["m", "n", "eps", "rank"])
    m, n = integer(fields["m"], "parameters.m", 1, MAX_M), integer(fields["n"], "parameters.n", 3)
    eps, rank = epsilon(fields), integer(fields["rank"], "parameters.rank", 1)
    return HeadExists(
        f"instance m={m}, n={n}, eps={eps}: some nonnegative kernel head with {rank} features is correct (error < "
        f"{eps}) on all sequences of length 1..{n} over {{0,1}}^{m}",
        m,
        n,
        eps,
        rank,
    )


def approximate_identity(parameters: object) -> Cases:
    """Lemma 4. Q is the orthogonal projection onto the column space of C: <Q,C> = tr C, ||Q||^2 = rank C. R, T, F are
    rank C, tr C, ||C||^2; expanding 0 <= ||F Q - T C||^2 gives the hypothesis of the first case."""
    record(parameters, "parameters", [])
    rank, trace, norm, t, lam = (Poly.variable(name) for name in ("R", "T", "F", "t", "lambda"))
    square = lam * lam
    cases = {
        "projection": Universal(
            "F^2 R - T^2 F >= 0 implies T^2 <= R F",
            {"F": positive(norm), "expansion": nonnegative(norm * norm * rank - trace * trace * norm)},
            nonnegative(rank * norm - trace * trace),
        ),
        "entries": Universal(
            "T = t, F <= t + t(t-1)/lambda^2 imply R (lambda^2 + t - 1) >= t lambda^2",
            {
                "R": nonnegative(rank),
                "t": positive(t),
                "lambda": positive(lam),
                "norm": nonnegative(t * square + t * (t - 1) - square * norm),
                "rank": nonnegative(rank * norm - t * t),
            },
            nonnegative(rank * (square + t - 1) - t * square),
        ),
    }
    return Cases(
        "for every real t x t matrix C: (tr C)^2 <= rank(C) ||C||_F^2; if C_ii = 1 and |C_ij| <= 1/lambda off the "
        "diagonal, lambda > 0, then rank C >= t/(1 + (t-1)/lambda^2)",
        cases,
    )


def matrix_rank(parameters: object) -> Matrix:
    fields = record(parameters, "parameters", ["matrix", "rank"])
    rows = [
        expect(row, f"parameters.matrix[{i}]", list)
        for i, row in enumerate(expect(fields["matrix"], "parameters.matrix", list))
    ]
    entries = [[number(q, f"parameters.matrix[{i}][{j}]") for j, q in enumerate(row)] for i, row in enumerate(rows)]
    if not entries or any(len(row) != len(entries[0]) for row in entries):
        raise Malformed("parameters.matrix: expected a nonempty list of rows of equal length")
    rank = integer(fields["rank"], "parameters.rank", 1)
    sentence = f"the {len(entries)} x {len(entries[0])} matrix of the parameters has rank at least {rank}"
    return Matrix(sentence, len(entries), len(entries[0]), lambda i, j: entries[i][j], rank)


def phase_transition(parameters: object) -> Cases:
    """Theorem 6 for every m. With h = M/2, k = floor(M/40), Delta = 5k the packing needs, for all k >= 1 and h >= 20k,
    P(h,k): 16^k 4^h (2h+1) <= 9^(h-5k+1). In a step E and B stand for 16^k 4^h and 9^(h-5k+1)."""
    record(parameters, "parameters", [])
    h, k, e, b, t, x = (Poly.variable(name) for name in ("h", "k", "E", "B", "T", "X"))
    constant = Poly.constant
    ratio = 16 * 4**20
    cases = {
        "base": Universal("P(20, 1)", {}, nonnegative(constant(9**16 - ratio * 41))),
        "step-h": Universal(
            "P(h, k) implies P(h+1, k)",
            {"h": nonnegative(h - 1), "E": positive(e), "before": nonnegative(b - e * (2 * h + 1))},
            nonnegative(9 * b - 4 * e * (2 * (h + 1) + 1)),
        ),
        "step-k": Universal(
            "P(20k, k) implies P(20(k+1), k+1)",
            {"k": nonnegative(k - 1), "E": positive(e), "before": nonnegative(b - e * (40 * k + 1))},
            nonnegative(9**15 * b - ratio * e * (40 * (k + 1) + 1)),
        ),
        "factor": Universal(
            "mu(5) = 4 at n = 3, eps = 1/2", {}, nonnegative(constant(factor(3, Fraction(5), HALF) - 4))
        ),
        "minimum": Universal(
            "T >= X implies T/(1 + (T-1)/X) > X/2, with X = Lambda^2 = 16^k",
            {"X": nonnegative(x - 1), "T": nonnegative(t - x)},
            positive(2 * t - (x + t - 1)),
        ),
    }
    return Cases(
        "for all m >= 1, with M = 2 floor(m/2): every head correct (error < 1/2) on all sequences of length 3 "
        "over {0,1}^m has r >= 2^(4 floor(M/40) - 1), which is at least 2^(m/10 - 5)",
        cases,
    )


def growing_context(parameters: object) -> Consequence:
    """Corollary 7, the explicit form: M = 2 floor(m/2), s = log2(n-2), Delta = 2 ceil(M/(2s)), rho = 2 Delta/M <= 1/2,
    r >= 2^(M - M H2(rho) - log2((M+1) Delta) - 1). With D = 2 Delta, 2^(M H2(rho)) = M^M/(D^D (M-D)^(M-D)) is rational;
    ceil(M/(2s)) is the least j with (n-2)^(2j) >= 2^M."""
    fields = record(parameters, "parameters", ["m", "n"])
    m, n = integer(fields["m"], "parameters.m", 2, 4_000), integer(fields["n"], "parameters.n", 4, 10**9)
    even = m - m % 2
    j = 1
    while (n - 2) ** (2 * j) < 1 << even:
        j += 1
    delta, wide = 2 * j, 4 * j
    if 2 * wide > even:
        raise Malformed(
            f"parameters.n: expected 2 Delta <= M/2, but Delta = {delta} and M = {even}: n is too small for m"
        )

    def holds(used: dict[str, FeatureRank]) -> str | None:
        rank = used["feature-rank"]
        if (rank.m, rank.n, rank.eps) != (m, n, HALF):
            return f"the rank bound is for m={rank.m}, n={rank.n}, eps={rank.eps}"
        left = rank.value * 2 * (even + 1) * delta * even**even
        return None if left >= 2**even * wide**wide * (even - wide) ** (even - wide) else "the rank bound is smaller"

    return Consequence(
        f"instance m={m}, n={n}: every head correct (error < 1/2) on all sequences of length {n} over {{0,1}}^{m} has "
        f"r >= 2^(M - M H2(2 Delta/M) - log2((M+1) Delta) - 1) with M = {even}, Delta = {delta}",
        holds,
    )
