"""The constructive refuter (mathematics.md B6): three tokens with which no readout of a head can be correct.

Statement. If the head's rank is below the bound of B2 for a family G of h-sets, some pair has alpha(S,U^c) w(|S\\U|) >=
alpha(S,S^c), and some step of the pair's best chain breaks Lemma 3: the factors of the steps multiply to w. So a
refutation is found by |G|^2 + O(m) kernel evaluations, and a miss is a bug. Beyond the bound the refuter tries: the
same family, all pairs of overlap levels with the sharper inequality (ii) of B0 (all gaps, the query's own term), sets
of several weights, and hill-climbing on the violation ratio

    (K(d-2eps) alpha(x,z) + (Kd/L - 2eps) a) / (2eps alpha(x,y)),      a = alpha(x,x) + additive; at least 1 refutes,

within a budget of kernel evaluations. Floats find, exact arithmetic on the features decides, the kernel re-checks.

    refute      Refutation, Outside (a negative kernel value: no nonnegative head), or NoneFound
    Family      (proofcheck.families) the words and their bound, which is known before the search

Tokens are never enumerated; features are computed in blocks of bounded memory. The seed determines the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, log
from random import Random

import numpy as np
from numpy.typing import NDArray

from proofcheck import chains, codes, families, triples
from proofcheck.certificate import Checked
from proofcheck.domination import check_range
from proofcheck.errors import UsageError
from proofcheck.families import Family
from proofcheck.heads import ClosedForm, Floats, Head, nearest
from proofcheck.triples import Outside, Triple

FAMILY_BUDGET = 8_000_000  # kernel evaluations, where a family guarantees success
SEARCH_BUDGET = 500_000  # where none does
BLOCK = 1 << 24  # features in memory at once: 128 MB
NEAR = 1 - 1e-6  # a ratio of floats from which exact arithmetic decides
PAIRS = 20  # pairs of a family without guarantee whose chains are tried
PROPOSALS = 24  # changes of each token in one step of hill-climbing
PATIENCE = 12  # steps without progress before it starts anew


class MissedGuaranteeError(RuntimeError):
    """A refutation that B6 guarantees was not found: a bug in this program."""


@dataclass(frozen=True)
class Refutation:
    """A triple that refutes the head's kernel against every readout, at exact length n, with its certificate."""

    head: str
    n: int
    eps: Fraction
    triple: Triple
    condition: str  # "i" or "ii"
    found_by: str  # "chain", "levels", "weights" or "climbing"
    guaranteed: bool
    family: Family
    evaluations: int
    certificate: Checked

    @property
    def required(self) -> Fraction:
        """What alpha(x,y) would have to exceed."""
        return self.triple.required(self.n, self.eps)


@dataclass(frozen=True)
class NoneFound:
    """Nothing found within the budget, and nothing promised: `best_ratio` is the largest violation ratio (floats)."""

    head: str
    best_ratio: float
    best: tuple[int, int, int] | None
    family: Family
    evaluations: int
    budget: int


class _Done(Exception):  # noqa: N818 - carries an outcome out of nested loops
    def __init__(self, found: Triple | Outside, by: str) -> None:
        self.found, self.by = found, by


def refute(
    head: Head,
    n: int = 3,
    eps: Fraction = Fraction(1, 2),
    *,
    seed: int = 0,
    budget: int | None = None,
    rank: int | None = None,
    family: codes.Code | None = None,
    announce: Callable[[Family, bool], object] | None = None,
    command: str | None = None,
) -> Refutation | Outside | NoneFound:
    """Three tokens that refute the head's kernel at exact length n, if some are found; see the module.

    `rank` is an upper bound on the rank of the exact kernel if it is known to be below `head.rank`. `family` is a code
    to use in place of the one chosen. `announce(family, guaranteed)` is called before the search. `budget` counts
    kernel evaluations, in floats and exact.
    """
    check_range(n, eps)
    r = head.rank if rank is None else rank
    if r < 1 or (budget is not None and budget < 1):
        raise UsageError(f"expected a rank and a budget of at least 1, got {r} and {budget}")
    if family is not None and family.m > head.m:
        raise UsageError(f"the family has words of {family.m} bits, the head has m = {head.m}")
    if family is None:
        most, usual = isqrt(budget or FAMILY_BUDGET), min(families.DEFAULT, max(16, BLOCK // 2 // head.rank))
        chosen = families.choose(head.m, n, eps, r, seed, max(1, most - 1), usual)
    else:
        chosen = Family(family, families.bound(family, n, eps))
    guaranteed = chosen.guarantees(r)
    if announce is not None:
        announce(chosen, guaranteed)
    budget = budget or (FAMILY_BUDGET if guaranteed else SEARCH_BUDGET)
    search = _Search(head, n, eps, seed, budget)
    try:
        search.run(chosen, guaranteed)
    except _Done as done:
        if isinstance(done.found, Outside):
            return done.found
        command = command or f"proofcheck refute {head.name} -m {head.m} -n {n} --eps {eps} --seed {seed}"
        proof = triples.certificate(head, done.found, n, eps, command=command, seed=seed)
        condition = done.found.breaks(n, eps) or ""
        return Refutation(
            head.name, n, eps, done.found, condition, done.by, guaranteed, chosen, search.evaluations, proof
        )
    if guaranteed:
        raise MissedGuaranteeError(
            f"{head.name}: a kernel of rank {r} must break a chain of this family of {chosen.code.size} words (bound "
            f"{float(chosen.bound):.2f}), and none of its pairs does"
        )
    ratio, best = search.best
    return NoneFound(head.name, ratio, best, chosen, search.evaluations, budget)


class _Search:
    def __init__(self, head: Head, n: int, eps: Fraction, seed: int, budget: int) -> None:
        self.head, self.n, self.eps, self.budget = head, n, eps, budget
        self.random = Random(seed)
        self.full = (1 << head.m) - 1
        self.evaluations = 0
        self.best: tuple[float, tuple[int, int, int] | None] = (float("-inf"), None)

    # ------------------------------------------------------------------------------------------- evaluation

    def kernel(self, xs: Sequence[int], zs: Sequence[int]) -> Floats:
        """alpha in floats, by blocks; a value that is negative in exact arithmetic ends the search."""
        step = max(1, BLOCK // self.head.rank // 2)
        values = np.empty((len(xs), len(zs)))
        with np.errstate(all="ignore"):
            for i in range(0, len(xs), step):
                for j in range(0, len(zs), step):
                    values[i : i + step, j : j + step] = self.head.kernel(xs[i : i + step], zs[j : j + step])
        self.evaluations += values.size
        for i, j in np.argwhere(values < 0)[:PAIRS]:
            self.exact(xs[i], [zs[j]], "levels")
        return values

    def own(self, xs: Sequence[int]) -> Floats:
        """alpha(x,x) + additive in floats."""
        self.evaluations += len(xs)
        step, parts = max(1, BLOCK // self.head.rank // 2), []
        for i in range(0, len(xs), step):
            some = xs[i : i + step]
            if isinstance(self.head, ClosedForm):
                parts.append(np.array([nearest(self.head.value(x, x)) for x in some]))
            else:
                pair = self.head.features("queries", some), self.head.features("keys", some)
                parts.append(np.einsum("ij,ij->i", *pair))
        return np.asarray(np.concatenate(parts) + float(self.head.additive))

    def exact(self, x: int, tokens: Sequence[int], by: str) -> None:
        """Ends the search if the tokens, evaluated exactly, refute the kernel or show a negative value."""
        values = triples.evaluate(self.head, x, tokens)
        self.evaluations += len(values)
        for z, value in values.items():
            if value < 0:
                raise _Done(Outside(self.head.name, x, z, value, self.evaluations), by)
        found = triples.worst(self.head, self.n, self.eps, x, values)
        if found is not None:
            raise _Done(found, by)

    # ------------------------------------------------------------------------------------------- the search

    def run(self, family: Family, guaranteed: bool) -> None:
        words = list(family.code.words)
        complements = [self.full & ~word for word in words]
        values = self.kernel(words, complements)
        self.chains(words, complements, values, guaranteed)
        if guaranteed:
            return
        self.levels(words, complements, values, self.own(words), "levels")
        while self.evaluations < self.budget // 4:
            before = self.evaluations
            self.weights()
            if self.evaluations == before:
                break
        self.climb()

    def chains(self, words: list[int], complements: list[int], values: Floats, guaranteed: bool) -> None:
        """Pairs S, U by decreasing alpha(S,U^c) w(|S\\U|) / alpha(S,S^c); the best chain of each, all its triples."""
        size = len(words)
        top = max(word.bit_count() for word in words)
        factors = chains.weights(self.n, self.eps, top)
        logs = np.array([log(w.numerator) - log(w.denominator) if w else -np.inf for w in factors])
        with np.errstate(all="ignore"):
            scores = np.log(np.maximum(values, 0))
            scores -= np.diag(scores)[:, None].copy()
        for i, row in enumerate(scores):
            row += logs[_overlaps(words[i], complements)]
            row[i] = -np.inf
        scores[np.isnan(scores)] = np.inf  # 0/0: the exact numbers decide
        order = np.argsort(-scores, axis=None, kind="stable") if guaranteed else _largest(scores, PAIRS)
        best: dict[int, chains.Chain | None] = {}
        for place in order:
            i, j = divmod(int(place), size)
            if i == j or (not guaranteed and scores[i, j] == -np.inf):
                continue
            distance = (words[i] & complements[j]).bit_count()
            if distance not in best:
                best[distance] = chains.best(self.n, self.eps, distance) if distance else None
            chain = best[distance]
            if chain is not None:
                tokens = chains.tokens(chain, words[i], complements[j], complements[i], self.head.m)
                self.exact(words[i], tokens, "chain")

    def levels(self, xs: Sequence[int], zs: Sequence[int], values: Floats, own: Floats, by: str) -> None:
        """(ii) for every query and pair of overlap levels, from the least and the largest value at each level."""
        found = []
        for i, x in enumerate(xs):
            ratio, y, z = self.row(x, zs, values[i], own[i])
            found.append((ratio, i, y, z))
            if ratio > self.best[0]:
                self.best = ratio, (x, y, z)
        found.sort(reverse=True)
        for ratio, i, y, z in found[:PAIRS]:
            if ratio >= NEAR:
                self.exact(xs[i], [y, z], by)

    def row(self, x: int, zs: Sequence[int], values: Floats, own: float) -> tuple[float, int, int]:
        """The largest violation ratio of one query over these tokens and x itself, with y and z."""
        tokens = [*zs, x]
        row = np.append(values, own - float(self.head.additive))
        row = np.where(np.isnan(row), np.inf, row)
        overlaps, h = _overlaps(x, tokens), x.bit_count()
        order = np.argsort(row, kind="stable")
        least, largest = np.full(h + 1, -1), np.full(h + 1, -1)
        least[overlaps[order[::-1]]] = order[::-1]  # the last assignment wins: the least value of the level
        largest[overlaps[order]] = order
        low, high = np.flatnonzero(least >= 0), np.flatnonzero(largest >= 0)
        gaps = high[None, :] - low[:, None]
        eps2 = 2 * float(self.eps)
        with np.errstate(all="ignore"):
            right = (self.n - 2) * (gaps - eps2) * row[largest[high]][None, :]
            right = right + ((self.n - 2) * gaps / (self.n - 1) - eps2) * own
            ratios = right / (eps2 * row[least[low]])[:, None]
        if not self.head.additive:
            ratios[row[least[low]] <= 0] = np.inf  # (i)
        ratios[(gaps < 1) | np.isnan(ratios)] = -np.inf
        if not ratios.size:
            return float("-inf"), x, x
        i, j = np.unravel_index(int(ratios.argmax()), ratios.shape)
        return float(ratios[i, j]), tokens[least[low[i]]], tokens[largest[high[j]]]

    def weights(self) -> None:
        """Queries of several weights, each with tokens of many overlap levels: inside x, and with all or half of the
        complement."""
        m = self.head.m
        for h in sorted({max(1, min(m, round(m * share))) for share in (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)}):
            x = self.subset(self.full, h)
            step = max(1, h // 32)
            tokens = []
            for level in range(0, h + 1, step):
                inside, rest = self.subset(x, level), self.full & ~x
                tokens += [inside, inside | rest, inside | self.subset(rest, (m - h) // 2)]
            if self.evaluations + len(tokens) + 1 > self.budget:
                return
            self.levels([x], tokens, self.kernel([x], tokens), self.own([x]), "weights")

    def climb(self) -> None:
        """Hill-climbing: changes of y and z for the best triple, then changes of x; anew when it is stuck."""
        stuck, (ratio, best) = 0, self.best
        start = best
        while self.evaluations + 4 * PROPOSALS + 4 <= self.budget:
            if start is None or stuck > PATIENCE:
                x = self.subset(self.full, self.random.randint(1, self.head.m))
                start, ratio, stuck = (x, 0, x), float("-inf"), 0
            x, y, z = start
            if stuck % 2:
                x = self.changed(x)
            tokens = [y, z, *(self.changed(y) for _ in range(PROPOSALS)), *(self.changed(z) for _ in range(PROPOSALS))]
            tokens += [token ^ (x & self.random.getrandbits(self.head.m)) for token in (y, z)]
            values, own = self.kernel([x], tokens), self.own([x])
            self.levels([x], tokens, values, own, "climbing")
            found = self.row(x, tokens, values[0], own[0])
            if found[0] > ratio:
                ratio, start, stuck = found[0], (x, found[1], found[2]), 0
            else:
                stuck += 1

    def subset(self, token: int, size: int) -> int:
        """A random subset of `token` with `size` elements."""
        elements = [i for i in range(self.head.m) if token >> i & 1]
        return sum(1 << i for i in self.random.sample(elements, size))

    def changed(self, token: int) -> int:
        """One to three elements added, removed or exchanged."""
        for _ in range(self.random.randint(1, 3)):
            token ^= 1 << self.random.randrange(self.head.m)
        return token


def _overlaps(x: int, tokens: Sequence[int]) -> NDArray[np.int64]:
    return np.array([(x & z).bit_count() for z in tokens], dtype=np.int64)


def _largest(scores: Floats, count: int) -> NDArray[np.int64]:
    """The places of the largest scores in decreasing order, ties by place."""
    flat = scores.ravel()
    count = min(count, flat.size)
    bound = np.partition(flat, flat.size - count)[flat.size - count]
    places = np.flatnonzero(flat >= bound)
    return places[np.argsort(-flat[places], kind="stable")][:count]
