"""Domination decides everything (mathematics.md B0): the conditions, the explicit readout, and the oracle to test them.

One query x of weight h = <x,x>, its own kernel value s = alpha(x,x), and a row of other tokens z, each with its overlap
<x,z> <= h and its kernel value alpha(x,z) >= 0. L = n-1, K = n-2; n >= 3, 0 < eps <= 1/2.

Statement. Some readout of the row is correct (error < eps) on all sequences of length 1..n that contain x, at x, if
and only if

    (i)   s > 0, and alpha(x,y) > 0 whenever <x,y> < h;
    (ii)  2eps alpha(x,y) > K(d-2eps) alpha(x,z) + (Kd/L - 2eps) s   for all y, z with d = <x,z> - <x,y> >= 1,
          z = x included.

A head has a free scalar g(x,z) for every pair, so a kernel has values and an affine readout that are correct on the
whole task if and only if each of its rows passes. The proof is certified symbolically (claims `domination-necessary`
and `domination-sufficient`); here it is code:

    violations         the first condition that fails, with both sides, or None
    readout            the readout of the proof of "if", with an explicit delta
    linear_programme   any correct readout, by linear programming over ALL sequences: knows nothing of (i) and (ii)

All three take (n, eps, h, s, tokens) with `tokens` a mapping token -> (overlap, kernel value) that leaves x out; a
token may have any hashable name but None, which stands for x. Arithmetic is exact. Parameters out of range are a
UsageError.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

from proofcheck.errors import ClaimFails, UsageError

if TYPE_CHECKING:
    import numpy as np

Tokens: TypeAlias = Mapping[Hashable, tuple[int, Fraction]]
Entry: TypeAlias = tuple[Fraction, Hashable]

MAX_SEQUENCES = 250_000  # of the linear programme
TIMEOUT = 60.0  # seconds for one question to the exact solver
THIN = 1e-7  # a margin that floats cannot tell from none: then the exact solver decides


@dataclass(frozen=True)
class Extremes:
    """At one overlap level, the least and the largest kernel value, each with the token that has it (None is x)."""

    least: Entry
    largest: Entry


@dataclass(frozen=True)
class Violation:
    """A condition that fails: `lhs` > `rhs` is required and false. In (ii) the pair is (y, z); None stands for x."""

    condition: str
    y: Hashable
    z: Hashable
    gap: int
    lhs: Fraction
    rhs: Fraction

    def __str__(self) -> str:
        if self.condition == "i":
            return f"(i) fails: alpha(x,{_name(self.y)}) = {self.lhs}, expected > 0"
        pair = f"y = {_name(self.y)}, z = {_name(self.z)}, d = {self.gap}"
        return f"(ii) fails for {pair}: 2eps alpha(x,y) = {self.lhs} is not above {self.rhs}"


@dataclass(frozen=True)
class Readout:
    """g(x,x), g(x,z) for each token of the row, and the delta that was used."""

    own: Fraction
    g: dict[Hashable, Fraction]
    delta: Fraction


def check_range(n: int, eps: Fraction) -> None:
    """Raises `UsageError` unless n >= 3 and 0 < eps <= 1/2."""
    if n < 3:
        raise UsageError(f"n: expected an integer of at least 3, got {n}")
    if not 0 < eps <= Fraction(1, 2):
        raise UsageError(f"eps: expected 0 < eps <= 1/2, got {eps}")


def _name(token: Hashable) -> str:
    return "x" if token is None else str(token)


def _check_row(n: int, eps: Fraction, h: int, s: Fraction, tokens: Tokens) -> None:
    check_range(n, eps)
    if h < 0 or s < 0:
        raise UsageError(f"expected a weight h >= 0 and alpha(x,x) >= 0, got h = {h}, alpha(x,x) = {s}")
    for token, (level, value) in tokens.items():
        if token is None:
            raise UsageError("tokens: None stands for the query and cannot name another token")
        if not 0 <= level <= h:
            raise UsageError(f"token {token}: expected an overlap of 0..{h} with the query, got {level}")
        if value < 0:
            raise UsageError(f"token {token}: expected a kernel value of at least 0, got {value}")


def level_extremes(tokens: Tokens) -> dict[int, Extremes]:
    """The extremes at each overlap level that occurs, levels increasing. Among equals the first token is named."""
    levels: dict[int, list[Entry]] = {}
    for token, (level, value) in tokens.items():
        levels.setdefault(level, []).append((value, token))
    return {
        level: Extremes(min(entries, key=lambda entry: entry[0]), max(entries, key=lambda entry: entry[0]))
        for level, entries in sorted(levels.items())
    }


def _conditions(n: int, eps: Fraction, h: int, s: Fraction, tokens: Tokens) -> Iterator[Violation]:
    """The conditions that imply all others, as `Violation`s whether they fail or not; (i) first.

    In (ii) the right side does not decrease in alpha(x,z), because d >= 1 >= 2eps; so the least value of y's level and
    the largest of z's are enough, and x counts as a z of level h.
    """
    extremes = level_extremes(tokens)
    yield Violation("i", None, None, 0, s, Fraction(0))
    for level, at_level in extremes.items():
        if level < h:
            yield Violation("i", at_level.least[1], None, 0, at_level.least[0], Fraction(0))
    largest = {level: at_level.largest for level, at_level in extremes.items()}
    if h not in largest or s > largest[h][0]:
        largest[h] = (s, None)
    for low, at_level in extremes.items():
        value, y = at_level.least
        for high, (other, z) in largest.items():
            d = high - low
            if d >= 1:
                rhs = (n - 2) * (d - 2 * eps) * other + (Fraction((n - 2) * d, n - 1) - 2 * eps) * s
                yield Violation("ii", y, z, d, 2 * eps * value, rhs)


def violations(n: int, eps: Fraction, h: int, s: Fraction, tokens: Tokens) -> Violation | None:
    """The first condition of B0 that the row violates, (i) before (ii) and by increasing overlaps, or None.

    One pass over the row and a number of comparisons quadratic in h, for any n.
    """
    _check_row(n, eps, h, s, tokens)
    return next((found for found in _conditions(n, eps, h, s, tokens) if found.lhs <= found.rhs), None)


def readout(n: int, eps: Fraction, h: int, s: Fraction, tokens: Tokens) -> Readout:
    """The readout of B0's proof, correct on all sequences of length 1..n that contain x. `ClaimFails` if there is none.

        P(z) = alpha(x,z)(<x,z>-eps) - s(h-<x,z>)/L + delta,  g(x,z) = P(z)/alpha(x,z);   g = 0 where alpha(x,z) = 0,

    which (i) allows only at <x,z> = h. The delta is min(mu, 2eps s)/(2n), where mu > 0 is the least margin of (ii),
    left side minus right side, over all pairs (y, z), z = x included. It is small enough:

    Let t be the least overlap of a sequence. If t < h, let y have it; with N - (t+eps)D = base + sum_j E_j + c delta,
    c <= n, in the notation of mathematics.md B0 (the sum is over the at most K tokens besides one x and y),

      -(base + K E_z) is the margin of (ii) for (y, z) where d = <x,z> - t >= 1, so it is at least mu;
      E_x = s(h-t-2eps) >= 0, so base <= base + K E_x <= -mu;
      E_z <= 0 where <x,z> = t, so base + K E_z <= base <= -mu there.

    The average over the tokens gives base + sum E_j <= -mu, and c delta <= n delta <= mu/2. If t = h then
    N - (t+eps)D = -2eps D + c delta with D >= s, and c delta <= eps s. The lower side needs only delta > 0.
    """
    found = violations(n, eps, h, s, tokens)
    if found:
        raise ClaimFails(f"no readout is correct on this row at n = {n}, eps = {eps}: {found}")
    margins = [pair.lhs - pair.rhs for pair in _conditions(n, eps, h, s, tokens) if pair.condition == "ii"]
    delta = min([*margins, 2 * eps * s]) / (2 * n)

    def value(level: int, weight: Fraction) -> Fraction:
        return (weight * (level - eps) - s * Fraction(h - level, n - 1) + delta) / weight if weight else Fraction(0)

    return Readout(value(h, s), {token: value(*entry) for token, entry in tokens.items()}, delta)


# ---------------------------------------------------------------------------- the oracle, by linear programming


def linear_programme(n: int, eps: Fraction, h: int, s: Fraction, tokens: Tokens) -> Readout | None:
    """A readout that is correct on ALL sequences of length 1..n over the row that contain x, or None if there is none.

    One unknown g(x,z) per token; a sequence is a multiset of tokens with at least one x; correctness is the strict
    inequality (t-eps)D < sum_j alpha_j g_j < (t+eps)D with D = sum_j alpha_j > 0. Neither (i), (ii) nor any reduction
    to fewer sequences is used. The answer is exact: a readout is returned after every sequence has been checked, None
    after the exact solver (Z3) has refuted the inequalities of some sequences. Floats only choose which inequalities to
    look at: the loop solves for the sequences seen so far and adds those on which the result fails.

    `delta` is 0 in the result. Raises `UsageError` if there are more than 250,000 sequences, `Undecided` if the solver
    gives no answer.
    """
    _check_row(n, eps, h, s, tokens)
    number = comb(len(tokens) + n, n - 1)
    if number > MAX_SEQUENCES:
        raise UsageError(f"{len(tokens)} tokens at n = {n} have {number} sequences, more than {MAX_SEQUENCES}")
    for value in (s, *(value for _, value in tokens.values())):
        if value and not 2.0**-300 < value < 2.0**300:
            raise UsageError(
                f"kernel values must lie between 2^-300 and 2^300, so that floats can scan the sequences: {value}"
            )
    if s == 0:
        return None  # the sequence (x) has denominator 0
    programme = _Programme(n, eps, [(h, s), *tokens.values()])
    g = programme.solve()
    return None if g is None else Readout(g[0], dict(zip(tokens, g[1:], strict=True)), Fraction(0))


@lru_cache(16)
def _counts(kinds: int, n: int) -> np.ndarray[Any, Any]:
    """Every multiset of at most n tokens of `kinds` kinds with at least one of kind 0 (the query), as rows of counts;
    they are floats, so that numpy multiplies them fast."""
    import numpy as np

    others = np.array(list(combinations_with_replacement(range(kinds + 1), n - 1)))  # kind `kinds` is an empty place
    counts = np.stack([(others == kind).sum(axis=1) for kind in range(kinds)], axis=1).astype(float)
    counts[:, 0] += 1
    return counts


class _Programme:
    """The sequences of one row. A condition is (i, sign): sequence i, above its target (+1) or below (-1)."""

    def __init__(self, n: int, eps: Fraction, row: list[tuple[int, Fraction]]) -> None:
        import numpy as np

        self.eps = eps
        self.alpha = [value for _, value in row]
        self.counts = _counts(len(row), n)
        levels = np.array([level for level, _ in row])
        self.targets = np.where(self.counts > 0, levels, levels[0]).min(axis=1)  # all levels are at most h = levels[0]
        self.weights = np.array([float(value) for value in self.alpha])
        self.denominators = self.counts @ self.weights

    def solve(self) -> list[Fraction] | None:
        seen = self._first()
        while True:
            margin, guess, tight = self._guess(seen)
            if margin > THIN:
                g = [Fraction(round(value * 2**40), 2**40) for value in guess]
            else:
                exact = self._exact(tight) and self._exact(seen)
                if exact is None:
                    return None
                g = exact
            failed = self._failed(g)
            if not failed:
                return g
            if failed <= set(seen):  # the float optimum is not as good as it says
                exact = self._exact(seen)
                if exact is None:
                    return None
                failed = self._failed(exact)
                if not failed:
                    return exact
            seen += sorted(failed - set(seen))

    def _first(self) -> list[tuple[int, int]]:
        """A place to start: the sequences of at most two kinds of tokens that are as long as n allows, or single."""
        kinds, total = (self.counts > 0).sum(axis=1), self.counts.sum(axis=1)
        chosen = (total == 1) | ((total == total.max()) & (kinds == 2) & (self.counts[:, 0] == 1))
        return [(int(i), sign) for i in chosen.nonzero()[0] for sign in (1, -1)]

    def _guess(self, seen: list[tuple[int, int]]) -> tuple[float, list[float], list[tuple[int, int]]]:
        """Floats: the largest margin on the conditions, in units of the output, a readout with it, and the conditions
        that hold it down."""
        import numpy as np
        from scipy.optimize import linprog

        index, signs = np.array(seen).T
        shares = self.counts[index] * self.weights / self.denominators[index, None]
        # sign (output - target) + margin <= eps
        system = np.hstack([shares * signs[:, None], np.ones((len(seen), 1))])
        bounds = float(self.eps) + signs * self.targets[index]
        free = [(None, None)] * len(self.alpha)
        result = linprog([0.0] * len(free) + [-1.0], system, bounds, bounds=[*free, (-1, 1)], method="highs")
        if result.x is None:  # no float answer: leave the decision to the exact solver
            return -1.0, [], seen
        tight = [seen[i] for i in (result.ineqlin.marginals < -1e-9).nonzero()[0]]
        return result.x[-1], list(result.x[:-1]), tight

    def _condition(self, i: int, sign: int) -> tuple[list[Fraction], Fraction]:
        """Coefficients c and bound b of the strict inequality c . g < b."""
        parts = [int(count) * value for count, value in zip(self.counts[i], self.alpha, strict=True)]
        bound = (self.eps + sign * int(self.targets[i])) * sum(parts)
        return [sign * part for part in parts], bound

    def _exact(self, conditions: Iterable[tuple[int, int]]) -> list[Fraction] | None:
        """A readout that meets the conditions, by the exact solver, or None."""
        from proofcheck.kernel.claims.forms import positive
        from proofcheck.kernel.exact import Poly
        from proofcheck.solvers import z3_solver
        from proofcheck.solvers.query import Query

        rows = {}
        for i, sign in conditions:
            coefficients, bound = self._condition(i, sign)
            terms: list[tuple[Fraction, tuple[str, ...]]] = [(bound, ())]
            terms += [(-c, (f"g{j}",)) for j, c in enumerate(coefficients) if c]
            rows[f"{i}.{sign}"] = positive(Poly.of(terms))
        answer = z3_solver.solve(Query("readout", rows, "sat"), TIMEOUT)
        if answer.status == "unsat":
            return None
        model = answer.model or {}
        return [model.get(f"g{j}", Fraction(0)) for j in range(len(self.alpha))]

    def _failed(self, g: list[Fraction]) -> set[tuple[int, int]]:
        """Conditions that fail, the worst for each token in the sequence; empty only if none fails.

        Floats decide where their rounding error cannot matter: a sum of k products of counts (exact) with numbers that
        are each wrong by a relative 2^-51 is wrong by less than (k+8) 2^-51 times the sum of the absolute values.
        """
        import numpy as np

        products = np.array([float(weight * value) for weight, value in zip(self.alpha, g, strict=True)])
        sums, size = self.counts @ products, self.counts @ abs(products)
        failed = set()
        for sign in (1, -1):
            bounds = (float(self.eps) + sign * self.targets) * self.denominators
            slack = bounds - sign * sums
            error = (len(g) + 8) * 2.0**-51 * (size + (self.targets + 1) * self.denominators)
            for i in (abs(slack) <= error).nonzero()[0]:
                coefficients, bound = self._condition(i, sign)
                exact = bound - sum(c * value for c, value in zip(coefficients, g, strict=True))
                slack[i] = 1.0 if exact > 0 else -error[i]
            relative = np.where(slack <= 0, slack / self.denominators, 1.0)
            for kind in range(len(g)):
                i = int(np.where(self.counts[:, kind] > 0, relative, 1.0).argmin())
                if slack[i] <= 0:
                    failed.add((i, sign))
        return failed
