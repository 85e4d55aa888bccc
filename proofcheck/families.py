"""Families of words for the refuter: explicit codes with the rank that B2 forces, exactly (mathematics.md B2, B6).

Statement. Let G be a set of h-subsets of [m] such that every directed distance |S\\U|, S != U, is spanned by a chain of
admissible gaps, and w(D) the best chain's factor, w(0) = 1. A nonnegative kernel that is correct at exact length n has
rank at least |G|^2 / sum_{S,U in G} w(|S\\U|)^-2. So a kernel of smaller rank has a pair with
alpha(S,U^c) w(|S\\U|) >= alpha(S,S^c), and one of the steps of this pair's chain breaks Lemma 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, lgamma

from proofcheck import chains, codes
from proofcheck.errors import UsageError

DEFAULT = 200  # words of a family that guarantees nothing
TRIES = 4  # codes that are made before a guarantee is given up
ATTEMPTS = 2_000  # of the greedy packing, per word


@dataclass(frozen=True)
class Family:
    """A code, and the rank `bound` below which a nonnegative kernel is refuted by one of its pairs."""

    code: codes.Code
    bound: Fraction

    def guarantees(self, rank: int) -> bool:
        return rank < self.bound


def bound(code: codes.Code, n: int, eps: Fraction) -> Fraction:
    """|G|^2 / sum of w^-2 exactly; 0 for a family without words, or with a pair that no chain spans."""
    pairs, factors = code.distances(), chains.weights(n, eps, min(code.weight, code.m - code.weight))
    if not code.size or pairs.pop(0, 0) or any(not factors[d] for d in pairs):
        return Fraction(0)
    return Fraction(code.size**2) / (code.size + sum(count / factors[d] ** 2 for d, count in pairs.items()))


def choose(m: int, n: int, eps: Fraction, rank: int, seed: int, most: int, usual: int = DEFAULT) -> Family:
    """A family of at most `most` words that guarantees the refutation of every kernel of this rank, if one is found, of
    few words; else one of up to `usual` words. Words of weight m/2 are packed greedily in a random order at a directed
    distance for which floats expect the bound to be large enough; the bound itself is then counted exactly."""
    if m < 1 or most < 1:
        raise UsageError(f"a family needs m >= 1 and room for a word, got m = {m} and {most} words")
    weight = m // 2
    shares = _shares(m, weight, n, eps)
    tried = 0
    for distance, share in shares.items():
        if rank * share < 0.97 and tried < TRIES:
            size = ceil(rank * (1 - share) / (1 - rank * share) * 1.05) + 2
            if size <= min(most, 12 * codes.packing_bound(m, weight, distance)):
                tried += 1
                family = _packed(m, weight, distance, seed, size, n, eps)
                if family.guarantees(rank):
                    return family
    size = min(usual, most)
    if not shares:
        code = codes.Code(m, weight, ((1 << weight) - 1,))
        return Family(code, bound(code, n, eps))

    def expected(distance: int) -> float:
        words = min(size, 4 * codes.packing_bound(m, weight, distance))
        return words / (1 + (words - 1) * shares[distance])

    distance = max(shares, key=expected)
    return _packed(m, weight, distance, seed, size, n, eps)


def _packed(m: int, weight: int, distance: int, seed: int, size: int, n: int, eps: Fraction) -> Family:
    code = codes.random_greedy(m, weight, distance, seed=seed, limit=size, attempts=ATTEMPTS)
    return Family(code, bound(code, n, eps))


def _shares(m: int, weight: int, n: int, eps: Fraction) -> dict[int, float]:
    """For each least distance D0 the expected w(D)^-2 of a random pair of the layer with D >= D0."""
    top = min(weight, m - weight)
    factors = chains.weights(n, eps, top)
    first = next((d for d in range(1, top + 1) if factors[d]), top + 1)

    def log_binomial(a: int, k: int) -> float:
        return lgamma(a + 1) - lgamma(k + 1) - lgamma(a - k + 1)

    counts = {d: log_binomial(weight, d) + log_binomial(m - weight, d) for d in range(first, top + 1)}
    largest = max(counts.values(), default=0.0)
    pairs = weights = 0.0
    shares = {}
    for d in range(top, first - 1, -1):
        pairs += exp(counts[d] - largest)
        weights += exp(counts[d] - largest) * float(1 / factors[d]) ** 2
        shares[d] = weights / pairs if pairs else 1.0
    return dict(sorted(shares.items()))
