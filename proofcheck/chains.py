"""Chains of admissible gaps: what Lemma 3 forces between two overlap levels, and that nothing larger is forced (B1).

Statement. For n >= 3 and 0 < eps <= 1/2 an integer gap d is admissible if d >= 2eps(n-1)/(n-2), which says exactly that
mu(d) = (n-2)(d-2eps)/(2eps) >= 1. Lemma 3: a head that is correct (error < eps) at length n has
alpha(x,y) > mu(d) alpha(x,z) where <x,z> - <x,y> = d. A chain of admissible gaps d_1 + .. + d_k = D multiplies:

    alpha(x,y) > mu(d_1)..mu(d_k) alpha(x,z)      where <x,z> - <x,y> = D.

The overlap-level DAG has the levels 0..D as nodes and an edge l -> l+d for every admissible d; w(D) is the largest
product along a path from 0 to D (0 if there is none, w(0) = 1). Every comparison is between Fractions.

    graph           the DAG (networkx)
    uniform         the paper's chain (Theorem 5): equal gaps g, the first one with the remainder of D
    best, weights   the best chain, and w(0..D)
    tokens          tokens that realise a chain
    tight_row       a kernel row that satisfies B0 and has a_0 < (w(D) + delta) a_D

Parameters out of range are a `UsageError`. Source: paper, Theorem 5; mathematics.md, Lemma 3, Theorem 5 and B1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, prod
from typing import TYPE_CHECKING

from proofcheck.domination import check_range, violations
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.claims.parameters import factor, least_gap

if TYPE_CHECKING:
    import networkx as nx

MAX_LEVELS = 1_000  # of a graph, which has about half the square of that many edges


@dataclass(frozen=True)
class Chain:
    """The gaps of a chain from level 0 upwards. Raises `UsageError` where a gap is not admissible."""

    n: int
    eps: Fraction
    gaps: tuple[int, ...]

    def __post_init__(self) -> None:
        least = least_admissible(self.n, self.eps)
        for gap in self.gaps:
            if gap < least:
                raise UsageError(f"gap {gap}: the least admissible gap at n = {self.n}, eps = {self.eps} is {least}")

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(accumulate(self.gaps, initial=0))

    @property
    def factors(self) -> tuple[Fraction, ...]:
        return tuple(mu(self.n, self.eps, gap) for gap in self.gaps)

    @property
    def product(self) -> Fraction:
        return prod(self.factors, start=Fraction(1))

    @property
    def distance(self) -> int:
        return sum(self.gaps)


def mu(n: int, eps: Fraction, gap: int) -> Fraction:
    """The factor (n-2)(d-2eps)/(2eps) of an integer gap d."""
    return factor(n, Fraction(gap), eps)


def least_admissible(n: int, eps: Fraction) -> int:
    """The least integer d >= 2eps(n-1)/(n-2)."""
    check_range(n, eps)
    return ceil(least_gap(n, eps))


def useful_gaps(n: int, eps: Fraction) -> range:
    """The gaps that a best chain can contain: from the least admissible one up to a bound below 8.

    Let d = p + q with p, q admissible. mu is affine, mu(p+q) = mu(p) + mu(q) + (n-2), so

        mu(p) mu(q) - mu(d) = (mu(p)-1)(mu(q)-1) - (n-1),

    and where this is positive no chain with the gap d is a best one: p, q in its place give a larger product (all
    factors are positive). With p = floor(d/2), q = ceil(d/2), both factors grow with d and are >= 0 once p is
    admissible; so if the difference is positive at d, it is at every gap above d. It is positive at d = 8, p = q = 4,
    because mu(p) - 1 > sqrt(n-1) says that p > 2eps(n-1+sqrt(n-1))/(n-2), which is at most 2 + sqrt 2 < 4.
    """
    least = least_admissible(n, eps)
    pairs = ((d, mu(n, eps, d // 2) - 1, mu(n, eps, d - d // 2) - 1) for d in range(2 * least, 9))
    return range(least, next(d for d, p, q in pairs if p * q > n - 1))


def graph(n: int, eps: Fraction, D: int) -> nx.DiGraph:  # noqa: N803 - the name in the mathematics
    """The overlap-level DAG: nodes 0..D, an edge l -> l+d with `gap` = d and `factor` = mu(d) for each admissible d."""
    import networkx as nx

    least = least_admissible(n, eps)
    _check_distance(D, 0)
    if D > MAX_LEVELS:
        raise UsageError(f"D: a graph has at most {MAX_LEVELS} levels, got {D}")
    dag = nx.DiGraph(n=n, eps=eps)
    dag.add_nodes_from(range(D + 1))
    for gap in range(least, D + 1):
        dag.add_edges_from(((l, l + gap) for l in range(D + 1 - gap)), gap=gap, factor=mu(n, eps, gap))  # noqa: E741
    return dag


def _check_distance(distance: int, least: int) -> None:
    if distance < least:
        raise UsageError(f"D: expected an integer of at least {least}, got {distance}")


def uniform(n: int, eps: Fraction, D: int, g: int) -> Chain:  # noqa: N803
    """The paper's chain, levels 0, g+r0, 2g+r0, .., D with D = kg + r0, 0 <= r0 < g: the first gap takes the remainder.

    Raises `UsageError` where g is not admissible or exceeds D.
    """
    least = least_admissible(n, eps)
    if g < least:
        raise UsageError(f"g: the least admissible gap at n = {n}, eps = {eps} is {least}, got {g}")
    if g > D:
        raise UsageError(f"D: a chain of gaps {g} needs D >= {g}, got {D}")
    steps, remainder = divmod(D, g)
    return Chain(n, eps, (g + remainder, *[g] * (steps - 1)))


def _table(n: int, eps: Fraction, top: int) -> list[tuple[Fraction, int, int]]:
    """For the distances 0..top: the largest product, the fewest gaps that have it, and the least first gap of those.

    Longest paths along the topological order of the DAG. A tail of a best chain is a best chain of its distance, in
    each of the three respects, because all factors are positive.
    """
    steps = [(gap, mu(n, eps, gap)) for gap in useful_gaps(n, eps)]
    table = [(Fraction(1), 0, 0)]
    for distance in range(1, top + 1):
        found = (Fraction(0), 0, 0)
        for gap, value in steps:
            if gap > distance:
                break
            product, gaps, _ = table[distance - gap]
            product *= value
            if product > found[0] or (product and product == found[0] and gaps + 1 < found[1]):
                found = (product, gaps + 1, gap)
        table.append(found)
    return table


def best(n: int, eps: Fraction, D: int) -> Chain | None:  # noqa: N803
    """The chain with the largest product w(D); of several, one with fewest gaps, and of those the first in order.

    None if no admissible gaps add up to D, that is, 0 < D < the least admissible gap. The chain for D = 0 is empty.
    Costs O(D) products: see `useful_gaps`.
    """
    check_range(n, eps)
    _check_distance(D, 0)
    table = _table(n, eps, D)
    if not table[D][0]:
        return None
    gaps, rest = [], D
    while rest:
        gaps.append(table[rest][2])
        rest -= gaps[-1]
    return Chain(n, eps, tuple(gaps))


def weights(n: int, eps: Fraction, D_max: int) -> list[Fraction]:  # noqa: N803
    """w(0), .., w(D_max): w(0) = 1, and 0 where there is no chain. From the least admissible gap on, w increases (a gap
    can be lengthened by 1). O(D_max) products: see `useful_gaps`."""
    check_range(n, eps)
    _check_distance(D_max, 0)
    return [product for product, _, _ in _table(n, eps, D_max)]


def tokens(chain: Chain, x: int, z: int, y0: int | None = None, m: int | None = None) -> list[int]:
    """Tokens y_0, .., y_k = z whose overlaps with the query x are the levels of the chain, one token for each level.

    y_0 is disjoint from x: the complement of x in [m] unless given, with m = the length of x | z unless given. In
    Theorem 5 x = S, y_0 = S^c and z = U^c. The tokens between are the lowest elements of x. Raises `UsageError` where
    <x,z> is not the distance of the chain, or an argument does not fit.
    """
    if not chain.gaps:
        raise UsageError("chain: expected at least one gap")
    if min(x, z, 0 if y0 is None else y0) < 0:
        raise UsageError("tokens are non-negative integers, one bit for each element")
    if (x & z).bit_count() != chain.distance:
        raise UsageError(f"z: expected an overlap of {chain.distance} with x, got {(x & z).bit_count()}")
    m = (x | z | (y0 or 0)).bit_length() if m is None else m
    if (x | z | (y0 or 0)) >> m:
        raise UsageError(f"m: the tokens do not fit into {m} bits")
    if y0 is None:
        y0 = ~x & ((1 << m) - 1)
    elif x & y0:
        raise UsageError(f"y0: expected a token disjoint from x, got an overlap of {(x & y0).bit_count()}")
    elements = [1 << i for i in range(m) if x >> i & 1]
    return [y0, *(sum(elements[:level]) for level in chain.levels[1:-1]), z]


def tight_row(n: int, eps: Fraction, D: int, delta: Fraction) -> tuple[tuple[Fraction, ...], Fraction]:  # noqa: N803
    """Kernel values a_0, .., a_D and s for one query of weight D: a token at overlap l has the value a_l, the query s.

    The row satisfies all conditions of B0, so some readout is correct on all sequences of length 1..n, and yet
    a_0 < (w(D) + delta) a_D: no argument about one query forces a factor above w(D).

    Construction. All values are multiples of a unit u; s = u, a_D = 1, and for l = D-1, .., 0 the value a_l is the
    least positive multiple of u that satisfies (ii) strictly: for every l + d <= D, with v = a_(l+d), and v = s too at
    l + d = D,

        a_l > mu(d) v + (Kd/(2eps L) - 1) s.

    u runs through powers of 1/10 until a_0 is small enough. That happens: as u -> 0, a_l tends to the largest product
    of mu(d) over ALL compositions of D - l into gaps with mu(d) > 0 (0 if there is none). An inadmissible gap,
    0 < mu(d) < 1, never helps beside another gap q, because mu(d) mu(q) <= mu(q) < mu(d) + mu(q) + (n-2) = mu(d+q);
    merging the inadmissible gaps into others leaves a chain of admissible ones, since D itself is admissible. So
    a_0 -> w(D).

    (mathematics.md B1 takes a_l = max_v b_v W(v-l) with W over admissible gaps and tiny b_v for v < D. That row breaks
    (ii) where an integer gap has 2eps < d < 2eps(n-1)/(n-2), as d = 1 does at n = 3, 1/4 < eps < 1/2: a_(D-1) = b_(D-1)
    is tiny, but must exceed about mu(1) a_D. The least solution needs no such choice.)

    Raises `UsageError` where no admissible chain spans D or delta is not positive, `ClaimFails` should the row not do
    what is said here, which is checked exactly.
    """
    least = least_admissible(n, eps)
    _check_distance(D, least)
    if delta <= 0:
        raise UsageError(f"delta: expected a positive number, got {delta}")
    weight = weights(n, eps, D)[D]
    factors = [mu(n, eps, gap) for gap in range(D + 1)]
    own = [Fraction((n - 2) * gap, n - 1) / (2 * eps) - 1 for gap in range(D + 1)]
    unit = Fraction(1, 10)
    row = _least_row(D, unit, factors, own)
    while row[0] - weight >= delta:
        unit /= 10 ** len(str(floor((row[0] - weight) / delta)))  # the excess is about proportional to the unit
        row = _least_row(D, unit, factors, own)
    found = violations(n, eps, D, unit, {level: (level, value) for level, value in enumerate(row)})
    if found or row[D] != 1 or row[0] >= (weight + delta) * row[D]:
        raise ClaimFails(f"the tight row for n = {n}, eps = {eps}, D = {D} fails: {found or 'a_0 is too large'}")
    return row, unit


def _least_row(top: int, unit: Fraction, factors: list[Fraction], own: list[Fraction]) -> tuple[Fraction, ...]:
    """The least multiples of `unit` that satisfy (ii), from the top level down; see `tight_row`."""
    row = {top: Fraction(1)}
    for level in range(top - 1, -1, -1):
        pairs = [(gap, row[level + gap]) for gap in range(1, top - level + 1)] + [(top - level, unit)]
        bound = max(factors[gap] * value + own[gap] * unit for gap, value in pairs)
        row[level] = unit * max(1, floor(bound / unit) + 1)
    return tuple(row[level] for level in range(top + 1))
