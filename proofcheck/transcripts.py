"""How many bits must cross between tokens: the typed multilevel family and the best bound that it gives.

Family (Theorem 9). S_0, .., S_{q-1} are h-subsets of [M] with |S_i \\ S_j| >= s+1 for i != j, and m = 2 + M + s. Bits
0..s-1 of a token are its level, bits s..s+M-1 a set, bit s+M marks queries and bit s+M+1 database tokens:

    query i         q_S = (0, 1, x_{S^c}, 1_s): the complement of S_i, all s level bits
    slot i, level k d_{S,k} = (1, 0, x_S, u_k): S_i and k level bits, k = 0..s

An assignment kappa in {0..s}^q is the sequence of the q queries and of the q slots d_{S_i, kappa_i}: 2q tokens, with
the target kappa_i at query i. A deterministic sketch model with finite alphabets Sigma_l that is correct (error
< 1/2) at all lengths up to n >= 2q sends (s+1)^q assignments to different transcripts, so that

    sum_l log2 |Sigma_l| >= q log2(s+1);     linear attention: L H r (dv+1) p >= q log2(s+1)     (eq. 8).

The distance asked for is s+1, as in the paper: then the targets of the other slots are > s, and the overlap of a query
with a slot tells whether the slot is its own.

Best bound. For each s the code is of subsets of weight floor(M/2), M = m-2-s: by greedy packing with exact binomials
(it exists), or, where that has fewer than floor(n/2) words, by the words of a seeded random greedy code (at most
`EXPLICIT`), if there are more. The bound takes the s with the largest min(floor(n/2), |C|) log2(s+1). Without n,
q = |C|: the sequence is as long as the code allows. The bound is necessary, never sufficient, and says nothing about
models whose messages are unrestricted reals.

Tokens of m' < m bits are tokens of m bits with zeros appended, so that a bound at m' is one at m. Where explicit words
end, a slightly smaller m' may give more (at n = 64, m = 26 takes the family of m' = 25). Then 2 + M + s = m' < m, and
the certificate is about m'.

Errors: `UsageError` that names the value. Source: paper, Theorem 9, eq. (8), Proposition 10; mathematics.md A and B9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, log2

from proofcheck import codes
from proofcheck.certificate import Checked, certify
from proofcheck.errors import UsageError
from proofcheck.kernel.claims.transcript import MAX_S
from proofcheck.kernel.exact import MAX_WORK
from proofcheck.theorems import theorem5
from proofcheck.theorems.theorem9 import least_bits

MAX_M = 2_048  # bits of a token
MAX_Q = 10**900  # queries: numbers in a certificate have at most 1,000 digits
EXPLICIT = 1_500  # words of an explicit code: the kernel compares all pairs
FEW = 64  # words that are searched for in a larger layer
SMALL_LAYER = 200_000  # a layer of so many words is searched as a whole
ATTEMPTS = 1_000  # random words in a row that do not fit, in a larger layer
SEEDS = 16  # of greedy codes in a small layer, until one has the words asked for
BACK, BACK_UNTIL = 8, 128  # so many smaller m are tried too, up to this m: beyond, packing leads
FINEST = 4_096  # largest denominator of a lower bound of log2(s+1)


# ------------------------------------------------------------------------------------------------- the family


@dataclass(frozen=True)
class TypedFamily:
    """The family on given words. Raises `UsageError` or `ClaimFails` where they are no code at distance s+1."""

    M: int
    s: int
    words: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.s < 1 or not self.words:
            raise UsageError(
                f"s, words: expected s >= 1 and at least one word, got s = {self.s}, {len(self.words)} words"
            )
        weight = self.words[0].bit_count()
        code = codes.Code(self.M, weight, self.words)
        code.validate()
        if self.q > 1 and code.distance() <= self.s:
            raise UsageError(f"-s: s + 1 = {self.s + 1} is larger than the distance of the code, {code.distance()}")
        if weight < 1:
            raise UsageError("words: expected words of at least one element")

    @property
    def q(self) -> int:
        return len(self.words)

    @property
    def m(self) -> int:
        return 2 + self.M + self.s

    @property
    def length(self) -> int:
        return 2 * self.q

    @property
    def assignments(self) -> int:
        return int((self.s + 1) ** self.q)

    def query(self, i: int) -> int:
        rest = ((1 << self.M) - 1) & ~self.words[i]
        return (1 << (self.M + self.s)) | (rest << self.s) | ((1 << self.s) - 1)

    def slot(self, i: int, level: int) -> int:
        return (2 << (self.M + self.s)) | (self.words[i] << self.s) | ((1 << level) - 1)

    def sequence(self, levels: Sequence[int]) -> list[int]:
        """The queries, then the database tokens at these levels; the target of query i is levels[i]."""
        return [self.query(i) for i in range(self.q)] + [self.slot(i, level) for i, level in enumerate(levels)]

    def levels(self, number: int) -> list[int]:
        """The assignment with this number, the least significant digit first, in 0..(s+1)^q - 1."""
        found = []
        for _ in range(self.q):
            number, digit = divmod(number, self.s + 1)
            found.append(digit)
        return found


def typed_family(M: int, s: int, q: int, n: int | None = None, seed: int = 0) -> TypedFamily:  # noqa: N803
    """q words of weight floor(M/2) at distance s+1 by seeded greedy packing, 2q <= n."""
    for name, value in (("-M", M), ("-s", s), ("-q", q)):
        if value < 1:
            raise UsageError(f"{name}: expected an integer >= 1, got {value}")
    if n is not None and 2 * q > n:
        raise UsageError(f"-q: a sequence holds q queries and q database tokens, so 2q <= n; got 2q = {2 * q}, n = {n}")
    weight = max(1, M // 2)
    if q > 1 and s + 1 > min(weight, M - weight):
        largest = min(weight, M - weight)
        raise UsageError(
            f"-s: words of {weight} of {M} elements have distance at most {largest}, less than s + 1 = {s + 1}"
        )
    tries = SEEDS if comb(M, weight) <= SMALL_LAYER else 1
    found = (codes.random_greedy(M, weight, s + 1, seed=seed + k, limit=q) for k in range(tries))
    most = 0
    for code in found:
        if code.size == q:
            break
        most = max(most, code.size)
    else:
        raise UsageError(f"-q: expected at most {most}, the words of {M} bits at distance {s + 1} found, got {q}")
    return TypedFamily(M, s, tuple(sorted(code.words)))


# -------------------------------------------------------------------------------------------------- the bound


@dataclass(frozen=True)
class Bound:
    """`bits` is the least b with 2^b >= (s+1)^q; where q is large it may be less by q/10^7, and `exact` says so.

    `size` words of [M] with `weight` elements at directed distance s+1 exist, and q = min(floor(n/2), size) of them are
    used; `words` lists them where they are explicit, else greedy packing shows that they exist. M + 2 + s <= m: the
    certificates are about tokens of M + 2 + s bits, and hold for m a fortiori.
    """

    m: int
    n: int | None
    s: int
    q: int
    bits: int
    exact: bool
    M: int
    weight: int
    size: int
    words: tuple[int, ...] | None = None

    @property
    def code(self) -> str:
        return "packing" if self.words is None else "explicit words"

    def certify(self, command: str) -> tuple[Checked, Checked]:
        """(`code`, `transcript-bound`), both checked by the kernel; the second rests on the first."""
        if self.words is None:
            code = theorem5.packing_certificate(self.M, self.weight, self.s + 1, command, self.q)
        else:
            code = theorem5.code_certificate(codes.Code(self.M, self.weight, self.words), self.s + 1, command)
        witness = {}
        if not affordable(self.s, self.q):
            power, exponent = lower_logarithm(self.s + 1)
            witness = {"power": power, "exponent": exponent}
        parameters = {"M": self.M, "s": self.s, "q": self.q, "bits": self.bits}
        return code, certify("transcript-bound", parameters, "transcript", witness, command=command, uses=[code])

    def as_json(self) -> dict[str, object]:
        fields = {"m": self.m, "n": self.n, "s": self.s, "q": self.q, "bits": self.bits, "exact": self.exact}
        return fields | {"M": self.M, "weight": self.weight, "words": self.size, "code": self.code}


def affordable(s: int, q: int) -> bool:
    """Whether the kernel's budget allows to compute (s+1)^q."""
    return (1 + q // 64 + 4) * (1 + ((q * (s + 1).bit_length() // 64) >> 9) ** 2) <= MAX_WORK


def lower_logarithm(base: int) -> tuple[int, int]:
    """(a, b) with 2^b <= base^a, a <= `FINEST`, and b/a as near to log2(base) as floats can choose it."""
    logarithm = log2(base)
    power = min(range(1, FINEST + 1), key=lambda a: (a * logarithm % 1.0 / a, a))
    return power, int(base**power).bit_length() - 1


def forced_bits(s: int, q: int) -> tuple[int, bool]:
    """What the kernel can check of (s+1)^q assignments, and whether it is the least b with 2^b >= (s+1)^q."""
    if affordable(s, q):
        return least_bits(s, q), True
    power, exponent = lower_logarithm(s + 1)
    bits = (q * exponent - 1) // power + 1  # the largest with (bits-1) power < q exponent
    return bits, exponent == power * log2(s + 1) and (s + 1) & s == 0


def best_bound(m: int, n: int | None = None, s: int | None = None) -> Bound:
    """The largest bound for tokens of m bits and sequences of at most n (None: as long as the code allows), with this
    s or the best one; of equal ones that of the largest m' <= m. Does not decrease with m up to `BACK_UNTIL`, where
    the families of m - `BACK`, .., m are compared (measured for m <= 70, n <= 4096: drops of m' = m alone end sooner).

    Raises `UsageError` for m < 4 (M, s >= 1), n < 2, or s outside 1..m-3.
    """
    if not 4 <= m <= MAX_M:
        raise UsageError(f"-m: the family has m = 2 + M + s with M, s >= 1, so 4 <= m (here up to {MAX_M}), got {m}")
    if n is not None and n < 2:
        raise UsageError(f"-n: a query and a database token need n >= 2, got {n}")
    if s is not None and not 1 <= s <= min(m - 3, MAX_S):
        raise UsageError(f"-s: expected 1 <= s <= min(m - 3, {MAX_S}) = {min(m - 3, MAX_S)}, got {s}")
    most = MAX_Q if n is None else min(n // 2, MAX_Q)
    least = max(4, (s or 1) + 3, m - BACK if m <= BACK_UNTIL else m)
    found = (_own(bits, n, s, most) for bits in range(m, least - 1, -1))
    return replace(max(found, key=lambda bound: bound.bits), m=m)


def _own(m: int, n: int | None, s: int | None, most: int) -> Bound:
    """The best bound of codes with M = m-2-s."""
    packed = {level: codes.packing_bound(m - 2 - level, _weight(m, level), level + 1) for level in _levels(m, s)}
    best = max(packed, key=lambda level: _score(min(most, packed[level]), level))
    found: tuple[int, ...] | None = None
    worth = _score(min(most, packed[best]), best)
    for level, size in packed.items():
        wanted = min(most, _searched(m - 2 - level))
        if size >= wanted or _score(wanted, level) <= worth:
            continue
        words = _words(m - 2 - level, level + 1)[:wanted]
        if _score(len(words), level) > worth:
            best, found, worth = level, tuple(sorted(words)), _score(len(words), level)
    size = packed[best] if found is None else len(found)
    q = min(most, size)
    bits, exact = forced_bits(best, q)
    return Bound(m, n, best, q, bits, exact, m - 2 - best, _weight(m, best), size, found)


@lru_cache(maxsize=512)
def _words(M: int, distance: int) -> tuple[int, ...]:  # noqa: N803
    """Those that a greedy search finds, up to `_searched`; the words for a smaller limit are the first of them."""
    weight, limit = max(1, M // 2), _searched(M)
    return codes.random_greedy(M, weight, distance, seed=0, limit=limit, attempts=ATTEMPTS).words


def _weight(m: int, s: int) -> int:
    return max(1, (m - 2 - s) // 2)


def _levels(m: int, s: int | None) -> list[int]:
    """The s to be tried: those for which two words may exist, and the largest, for one word."""
    if s is not None:
        return [s]
    last = min(m - 3, MAX_S)
    return [level for level in range(1, last) if level + 1 <= _weight(m, level)] + [last]


def _score(q: int, s: int) -> tuple[float, int]:
    """Orders q log2(s+1), for q beyond floats too; of equal ones the smaller s."""
    return log2(q) + log2(log2(s + 1)), -s


def _searched(M: int) -> int:  # noqa: N803
    """How many words a greedy search finds quickly: all of a small layer, a few of a layer that is too large to be
    shuffled as a whole. It does not depend on n, so that the bound does not decrease where sequences grow longer."""
    layer = comb(M, M // 2)
    return EXPLICIT if layer <= SMALL_LAYER else FEW if layer > codes.SMALL_LAYER else 0
