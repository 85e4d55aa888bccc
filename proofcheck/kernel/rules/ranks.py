"""Rules for lower bounds on the feature rank beside amplification: layers, families, shattering, topology, refuted
sign patterns."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, isqrt

from ..claims.forms import FeatureRank, LowerExponent
from ..claims.parameters import factor, least_gap
from ..exact import MAX_VALUES, Budget, Malformed, Rejected, bounded, expect, integer, number, record, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Used = dict[str, Any]

SHIFT = 256  # binary places to which sums of w(D)^-2 are rounded up


def _weights(claim: FeatureRank | LowerExponent, gaps: list[int], top: int) -> list[Fraction | None]:
    """A factor that some chain forces at each overlap difference 0..top: products over the listed gaps, or one gap."""
    for gap in gaps:
        if gap < least_gap(claim.n, claim.eps):
            raise Rejected(f"witness.gaps: {gap} is below the least admissible gap {least_gap(claim.n, claim.eps)}")
    mu = {gap: factor(claim.n, Fraction(gap), claim.eps) for gap in gaps}
    forced: list[Fraction | None] = [Fraction(1)]
    budget = Budget()
    wide = small = max((q.numerator.bit_length() + q.denominator.bit_length() for q in mu.values()), default=1)
    for difference in range(1, top + 1):
        budget.charge(1 + len(gaps), isqrt(wide * small) // 8)
        best = None
        if difference >= least_gap(claim.n, claim.eps):
            best = factor(claim.n, Fraction(difference), claim.eps)
        for gap in gaps:
            before = forced[difference - gap] if gap <= difference else None
            if before is not None and (best is None or before * mu[gap] > best):
                best = before * mu[gap]
        forced.append(best)
        if best is not None:  # products and comparisons cost the larger size times the smaller
            wide, small = max(wide, best.numerator.bit_length()), max(small, best.denominator.bit_length())
    return forced


def layer(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """A random subset of the layer of h-sets of [M], expurgated below distance D0 (mathematics.md B2)."""
    fields = record(witness, "witness", ["M", "weight", "distance", "q", "gaps"])
    m = integer(fields["M"], "witness.M", 1, claim.m)
    h = integer(fields["weight"], "witness.weight", 1, m)
    least = integer(fields["distance"], "witness.distance", 1, m)
    q = number(fields["q"], "witness.q")
    gaps = [integer(g, f"witness.gaps[{i}]", 1) for i, g in enumerate(expect(fields["gaps"], "witness.gaps", list))]
    top = min(h, m - h)
    budget = Budget()
    budget.charge((top + 1) * (1 + len(gaps)), m // 8)
    forced = _weights(claim, gaps, top)
    near, far = 0, 0
    left, right = 1, 1  # C(h, D), C(m-h, D)
    for difference in range(1, top + 1):
        left = left * (h - difference + 1) // difference
        right = right * (m - h - difference + 1) // difference
        if difference < least:
            near += left * right
            continue
        weight = forced[difference]
        if weight is None:
            raise Rejected(f"no chain of the listed gaps spans the distance {difference}")
        above, below = (left * right * weight.denominator**2) << SHIFT, weight.numerator**2
        budget.charge(0, isqrt(max(0, above.bit_length() - below.bit_length()) * below.bit_length()) // 4)
        far -= -above // below  # rounded up
    size = 1
    for a in range(h):
        size = size * (m - a) // (a + 1)
    kept = 1 - q * near
    if not 0 < q <= 1 or kept <= 0:
        raise Rejected(f"witness.q: expected 0 < q <= 1 and q < 1/{shown(near)}, got {shown(fields['q'])}")
    bound = size * q * kept**2 / (kept + q * Fraction(far, 1 << SHIFT))
    given = -(-bound.numerator // bound.denominator)
    if claim.value > given:
        raise Rejected(f"the layer gives only r >= {shown(given)}, not {shown(claim.value)}")
    return [f"the {h}-sets of [{m}] at distance >= {least} give r >= {shown(given)}"]


def _squares(claim: FeatureRank, gaps: object, counts: dict[int, int]) -> Fraction:
    """The sum of count * w(D)^-2 over {D: count}, exactly; every D must be spanned by a chain of the listed gaps."""
    listed = [integer(g, f"witness.gaps[{i}]", 1) for i, g in enumerate(expect(gaps, "witness.gaps", list))]
    top = max(counts, default=0)
    Budget().charge((top + 1) * (1 + len(listed)), claim.m // 8)
    forced, total, budget = _weights(claim, listed, top), Fraction(0), Budget()
    for difference, count in sorted(counts.items()):
        weight = forced[difference] if difference >= 1 else None
        if weight is None:
            raise Rejected(f"no chain of the listed gaps spans the distance {difference}")
        budget.charge(4, total.denominator.bit_length() + 2 * weight.numerator.bit_length())
        total = bounded(total + count / weight**2)
    return total


def family(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """Pairs of a query and a key: the orbits of the listed pairs under permutations of the elements (none: the pairs
    themselves). An orbit's pairs all meet the family at the same distances, so that one of them stands for all."""
    fields = record(witness, "witness", ["pairs", "permutations", "gaps"])
    budget, cost = Budget(), 2 + claim.m // 32
    orders = []  # where each digit of an image comes from, in binary text
    for k, value in enumerate(expect(fields["permutations"], "witness.permutations", list)):
        place = f"witness.permutations[{k}]"
        budget.charge(claim.m // 4, 0)
        move = [integer(e, place, 0, claim.m - 1) for e in expect(value, place, list)]
        if sorted(move) != list(range(len(move))):
            raise Rejected(f"{place}: expected each of 0..{len(move) - 1} once")
        order = list(range(claim.m))
        for e, image in enumerate(move):
            order[-1 - image] = claim.m - 1 - e
        orders.append(order)
    pairs: dict[tuple[int, int], None] = {}
    orbits: list[tuple[int, int, int]] = []  # query, key, size
    for i, value in enumerate(expect(fields["pairs"], "witness.pairs", list)):
        place = f"witness.pairs[{i}]"
        ends = [integer(z, place, 0, (1 << claim.m) - 1) for z in expect(value, place, list)]
        if len(ends) != 2:
            raise Malformed(f"{place}: expected a query and a key")
        orbit = [(ends[0], ends[1])]
        if orbit[0] in pairs:
            raise Rejected(f"{place}: the pair repeats an earlier one, or lies in its orbit")
        pairs[orbit[0]] = None
        for pair in orbit:  # grows
            budget.charge(len(orders) * cost, 0)
            texts = [f"{z:0{claim.m}b}" for z in pair]
            for order in orders:
                query, key = (int("".join([text[j] for j in order]), 2) for text in texts)
                if (query, key) not in pairs:
                    pairs[query, key] = None
                    orbit.append((query, key))
        orbits.append((*orbit[0], len(orbit)))
    keys, counts = [key for _, key in pairs], Counter[int]()
    budget.charge(len(orbits) * (len(keys) // 16 + 2), claim.m // 8)
    for i, (query, key, size) in enumerate(orbits):
        own = (query & key).bit_count()
        row = Counter(map(int.bit_count, map(query.__and__, keys)))
        row[own] -= 1
        for overlap, count in row.items():
            if count and overlap <= own:
                raise Rejected(f"witness.pairs[{i}]: another key overlaps its query in {overlap} <= {own}, as its own")
            if count:
                counts[overlap - own] += size * count
    bound = Fraction(len(pairs) ** 2) / (len(pairs) + _squares(claim, fields["gaps"], counts) or 1)
    given = bound.numerator // bound.denominator + 1 if len(pairs) > 1 else 1
    if claim.value > given or not pairs:
        raise Rejected(f"{len(pairs)} pairs give only r >= {given}, not {shown(claim.value)}")
    return [f"{len(pairs)} pairs in {len(orbits)} orbits give r >= {given}"]


def graham_sloane(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """The best class of the h-sets of {0..M-1} by the sum of their elements modulo q: N^2/(q F), where F counts the
    ordered pairs of sets in a common class with the weights w^-2 (mathematics.md B2)."""
    fields = record(witness, "witness", ["M", "weight", "modulus", "gaps"])
    m = integer(fields["M"], "witness.M", 1, claim.m)
    h = integer(fields["weight"], "witness.weight", 1, m)
    modulus = integer(fields["modulus"], "witness.modulus", 1, 10_000)
    top, width = min(h, m - h), 2 * m
    Budget().charge(m * (top + 1) * modulus * (2 + (width * (top + 1) >> 11)) // 8, 0)
    # ways[a][t]: disjoint A, B with |A| = a and sum A - sum B = t. Its digit b, of `width` bits, is for |B| = b; it is
    # at most 3^M.
    ways = [[0] * modulus for _ in range(top + 1)]
    ways[0][0], mask = 1, (1 << width * (top + 1)) - 1
    for e in range(m):
        for a in range(top, -1, -1):
            same, less = ways[a], ways[a - 1] if a else [0] * modulus
            ways[a] = [
                same[t] + less[(t - e) % modulus] + (same[(t + e) % modulus] << width & mask) for t in range(modulus)
            ]
    counts = {}
    for a in range(1, top + 1):
        count = (ways[a][0] >> width * a & (1 << width) - 1) * comb(m - 2 * a, h - a)
        if count:
            counts[a] = count
    size = comb(m, h)
    bound = size**2 / (modulus * (size + _squares(claim, fields["gaps"], counts)))
    given = -(-bound.numerator // bound.denominator)
    if claim.value > given:
        raise Rejected(f"the classes give only r >= {shown(given)}, not {shown(claim.value)}")
    return [f"some class of the {h}-sets of [{m}] by the sum modulo {modulus} gives r >= {shown(given)}"]


def lower_exponent(claim: LowerExponent, witness: object, used: Used) -> list[str]:
    """Layers for all m at once. With a gap g such that a^g mu(g) >= 1, and D0 such that a chain spans every
    difference in D0..D0+g-1, w(D)^-2 <= kappa a^(2D) for all D >= D0 and 1 <= kappa a^(2D) for D < D0."""
    fields = record(witness, "witness", ["gap", "distance", "gaps"])
    g, least = (
        integer(fields["gap"], "witness.gap", 1, 10_000),
        integer(fields["distance"], "witness.distance", 1, 10_000),
    )
    gaps = [integer(d, f"witness.gaps[{i}]", 1) for i, d in enumerate(expect(fields["gaps"], "witness.gaps", list))]
    budget = Budget()
    budget.charge((least + g) * (2 + len(gaps)), max(claim.a.denominator.bit_length(), 1) * (least + g) // 8)
    if g < least_gap(claim.n, claim.eps):
        raise Rejected(f"witness.gap: {g} is below the least admissible gap {least_gap(claim.n, claim.eps)}")
    if claim.a >= 1 or claim.a**g * factor(claim.n, Fraction(g), claim.eps) < 1:
        raise Rejected(f"expected a < 1 and a^{g} mu({g}) >= 1")
    if claim.kappa < 1:
        raise Rejected(f"expected kappa >= 1 (the term of the distance 0), got {claim.kappa}")
    forced = _weights(claim, gaps, least + g - 1)
    for difference in range(1, least + g):
        weight = forced[difference] if difference >= least else Fraction(1)
        if weight is None:
            raise Rejected(f"no chain of the listed gaps spans the distance {difference}")
        small = 2 * difference * claim.a.denominator.bit_length() + claim.kappa.denominator.bit_length() + 1
        budget.charge(1, isqrt(2 * weight.numerator.bit_length() * small) // 4)
        if claim.kappa * claim.a ** (2 * difference) * weight**2 < 1:
            raise Rejected(f"kappa is too small at the distance {difference}: kappa a^(2D) < w(D)^-2")
    return [f"w(D)^-2 <= kappa a^(2D) for D = 1..{least + g - 1}, hence for all D by further gaps of {g}"]


def _prefers(claim: FeatureRank) -> None:
    """alpha(x,y) > alpha(x,z) where <x,z> - <x,y> = 2: the gap 2 is admissible, and its factor is at least 1."""
    if least_gap(claim.n, claim.eps) > 2:
        raise Rejected("the gap 2 is not admissible")


def shattered(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """Queries for which every sign pattern is forced by some pair of keys: pattern i (bit j for query j) has the keys
    (A, B) with <x_j, A> - <x_j, B> = 2, or 1 where that gap is admissible, where bit j is 1, and the other way round
    where it is 0."""
    _prefers(claim)
    least = 1 if least_gap(claim.n, claim.eps) <= 1 else 2
    fields = record(witness, "witness", ["queries", "keys"])
    queries = [
        integer(x, "witness.queries", 0, (1 << claim.m) - 1) for x in expect(fields["queries"], "witness.queries", list)
    ]
    keys = expect(fields["keys"], "witness.keys", list)
    if claim.value > len(queries) or len(queries) > 12 or len(keys) != 1 << len(queries):
        raise Rejected(f"{len(queries)} queries and {len(keys)} pairs of keys do not show {claim.value} features")
    for pattern, pair in enumerate(keys):
        place = f"witness.keys[{pattern}]"
        ends = [integer(z, place, 0, (1 << claim.m) - 1) for z in expect(pair, place, list)]
        if len(ends) != 2:
            raise Malformed(f"{place}: expected two keys")
        for j, x in enumerate(queries):
            worse, better = ends if pattern >> j & 1 else ends[::-1]
            if not least <= (x & worse).bit_count() - (x & better).bit_count() <= 2:
                raise Rejected(f"{place}: query {j} is not forced to prefer one of the two keys as the pattern says")
    return [f"all 2^{len(queries)} sign patterns of {len(queries)} queries are forced"]


def topological(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """r >= m - 2. The steps that concern small sets are checked for all pairs (A, B) over min(m, 5) elements."""
    record(witness, "witness", [])
    _prefers(claim)
    if claim.value > max(1, claim.m - 2):
        raise Rejected(f"the argument gives r >= {claim.m - 2}, not {claim.value}")
    m = min(claim.m, 5)
    pairs = [
        (sum(1 << i for i, s in enumerate(signs) if s == 1), sum(1 << i for i, s in enumerate(signs) if s == 2))
        for signs in product(range(3), repeat=m)
        if any(signs)
    ]

    def small(a: int, b: int) -> tuple[int, int]:
        if not a or not b:
            return (1, 0) if a else (-1, 0)
        return (0, 1 if b > a else -1)

    for a, b in pairs:
        if max(a.bit_count(), b.bit_count()) > 1:
            continue
        if small(b, a) != tuple(-e for e in small(a, b)):
            raise Rejected("the map of small pairs is not odd")
        above = [(c, d) for c, d in pairs if a & c == a and b & d == b and max(c.bit_count(), d.bit_count()) <= 1]
        if any(
            small(a, b)[0] * small(c, d)[1] == small(a, b)[1] * small(c, d)[0] for c, d in above if (c, d) != (a, b)
        ):
            raise Rejected("a convex combination of small pairs on a chain vanishes")
    return [f"r >= {claim.m} - 2 by the map of pairs of disjoint sets into R^(r+2); small pairs checked for m = {m}"]


def sign_clauses(subsets: list[int], rank: int, ground: int) -> tuple[dict[tuple[int, ...], int], list[list[int]]]:
    """Clauses that a uniform chirotope of the vectors phiQ(x), x in `subsets` (pairs of [ground]), in R^rank satisfies.

    Variable of a rank-subset T of indices: the sign of det(phiQ(x) : x in T) is +. Three-term Grassmann-Pluecker: for a
    (rank-2)-subset and four more indices a<b<c<d the products [ab][cd], -[ac][bd], [ad][bc] have both signs.
    Circuits: for disjoint A, B some vector w has <phiQ(x), w> > 0 for every pair x inside A and < 0 for every pair
    inside B; so the circuit of rank+1 such x, with coefficients (-1)^i [T without the i-th], does not agree with
    these signs, nor with their opposites.
    """
    size = len(subsets)
    variable = {t: i + 1 for i, t in enumerate(combinations(range(size), rank))}
    clauses = []

    def chi(indices: tuple[int, ...]) -> int:
        """The literal of det with these columns in the given order."""
        swaps = sum(indices[i] > indices[j] for i in range(rank) for j in range(i + 1, rank))
        literal = variable[tuple(sorted(indices))]
        return -literal if swaps % 2 else literal

    for common in combinations(range(size), rank - 2):
        for a, b, c, d in combinations([i for i in range(size) if i not in common], 4):
            terms = [
                (chi((*common, a, b)), chi((*common, c, d))),
                (-chi((*common, a, c)), chi((*common, b, d))),
                (chi((*common, a, d)), chi((*common, b, c))),
            ]
            # Not all three products negative, not all three positive: forbid each assignment that makes them so.
            for sign in (1, -1):
                for flips in product((1, -1), repeat=3):
                    clauses.append([-e for (u, v), f in zip(terms, flips, strict=True) for e in (f * u, f * sign * v)])
    for chosen in combinations(range(size), rank + 1):
        for a in range(1 << (ground - 1)):  # the last element lies in B: the complement gives the opposite signs
            signs = [1 if x & ~a == 0 else -1 if x & a == 0 else 0 for x in (subsets[i] for i in chosen)]
            if all(signs):
                circuit = [(-1) ** i * s * variable[chosen[:i] + chosen[i + 1 :]] for i, s in enumerate(signs)]
                clauses += [[-e for e in circuit], circuit]
    return variable, [list(c) for c in dict.fromkeys(tuple(sorted(set(clause))) for clause in clauses)]


def unsat_lrat(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """No chirotope of rank value-1: the clauses are rebuilt from the chosen pairs, and refuted by a proof with hints.
    Each step is [literals, hints]; the hints are numbers of clauses (axioms from 1, then steps) that become unit or
    false in turn when the literals of the step are taken false."""
    _prefers(claim)
    fields = record(witness, "witness", ["pairs", "ground", "proof"])
    ground, rank = integer(fields["ground"], "witness.ground", 2, min(claim.m, 10)), claim.value - 1
    pairs = [
        integer(x, f"witness.pairs[{i}]", 0, (1 << ground) - 1)
        for i, x in enumerate(expect(fields["pairs"], "witness.pairs", list))
    ]
    if len(set(pairs)) != len(pairs) or any(x.bit_count() != 2 for x in pairs) or not 2 <= rank < len(pairs) <= 15:
        raise Rejected(f"witness.pairs: expected more than {rank} and at most 15 distinct pairs of [{ground}]")
    size = len(pairs)
    Budget().charge(32 * comb(size, rank - 2) * comb(size - rank + 2, 4) + (comb(size, rank + 1) << ground), 0)
    _, clauses = sign_clauses(pairs, rank, ground)
    database: list[frozenset[int]] = [frozenset(clause) for clause in clauses]
    axioms, work = len(database), 0
    for k, value in enumerate(expect(fields["proof"], "witness.proof", list)):
        place = f"witness.proof[{k}]"
        step = expect(value, place, list)
        if len(step) != 2:
            raise Malformed(f"{place}: expected [literals, hints]")
        literals = [integer(e, place, -(10**6), 10**6) for e in expect(step[0], place, list)]
        if 0 in literals:
            raise Malformed(f"{place}: 0 is no literal")
        false = set(literals)
        conflict = False
        for hint in expect(step[1], place, list):
            index = integer(hint, place, 1, len(database)) - 1
            work += len(database[index])
            if work > 4 * MAX_VALUES:
                raise Malformed("the proof needs more work than the budget allows")
            open_literals = [e for e in database[index] if e not in false]
            if len(open_literals) > 1 or conflict:
                raise Rejected(f"{place}: the clause of hint {hint} is neither unit nor false, or follows the conflict")
            if open_literals:
                false.add(-open_literals[0])
            conflict = not open_literals
        if not conflict:
            raise Rejected(f"{place}: the hints lead to no conflict")
        database.append(frozenset(literals))
    if database[-1]:
        raise Rejected("the proof does not end with the empty clause")
    return [f"{axioms} clauses over {len(pairs)} pairs are refuted in {len(database) - axioms} steps: no rank {rank}"]
