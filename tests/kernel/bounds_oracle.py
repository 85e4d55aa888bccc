"""Slow and obvious versions of the rules for bounds on the feature rank, worked out from shared/mathematics.md.

A layer is summed set by set, a head is written out as its whole 2^m x 2^m matrix, a refutation is followed by plain
unit propagation, and sign patterns are tried one after the other. Nothing here calls the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

from tests.kernel.rationals import HALF, mu, rank_of, rational, whole

Matrix = list[list[Fraction]]
Finding = tuple[str, list[str]]

# ------------------------------------------------------------------------------------------ chains and layers


def admissible(n: int, d: int, eps: Fraction) -> bool:
    return (n - 2) * d >= 2 * eps * (n - 1)


def forced(n: int, eps: Fraction, gaps: Sequence[int], top: int) -> list[Fraction | None]:
    """The largest product of mu over gaps that add up to D = 0..top: listed ones, and at most one that is not."""
    listed: list[Fraction | None] = [Fraction(1)]
    for total in range(1, top + 1):
        ways = [listed[total - g] * mu(n, g, eps) for g in gaps if g <= total and listed[total - g] is not None]  # type: ignore[operator]
        listed.append(max(ways, default=None))
    best: list[Fraction | None] = []
    for total in range(top + 1):
        ways = [listed[total]] if listed[total] is not None else []  # type: ignore[list-item]
        for other in range(1, total + 1):
            rest = listed[total - other]
            if admissible(n, other, eps) and rest is not None:
                ways.append(mu(n, other, eps) * rest)
        best.append(max(ways, default=None))
    return best


def distances(m: int, h: int) -> list[int]:
    """How many h-sets of [m] lie at directed distance 0, 1, .. of one: by looking at all where they are few."""
    if math.comb(m, h) > 1_000:
        return [math.comb(h, d) * math.comb(m - h, d) for d in range(min(h, m - h) + 1)]
    counts = [0] * (min(h, m - h) + 1)
    for chosen in combinations(range(m), h):
        counts[len(set(range(h)) - set(chosen))] += 1
    return counts


def layer_bound(n: int, eps: Fraction, m: int, h: int, least: int, q: Fraction, gaps: Sequence[int]) -> Fraction | str:
    """N q p^2/(p + q W), or why there is no such bound."""
    if any(not admissible(n, gap, eps) for gap in gaps):
        return "a gap is not admissible"
    counts = distances(m, h)
    weights = forced(n, eps, gaps, len(counts) - 1)
    near, far = Fraction(0), Fraction(0)
    for distance, count in enumerate(counts):
        weight = weights[distance]
        if distance == 0:
            continue
        if distance < least:
            near += count
        elif weight is None:
            return "a distance has no chain"
        else:
            far += count / (weight * weight)
    kept = 1 - q * near
    if not 0 < q <= 1 or kept <= 0:
        return "q is out of range"
    return sum(counts) * q * kept * kept / (kept + q * far)


def layer(p: dict[str, Any], witness: dict[str, Any]) -> str:
    m, h, least = whole(witness["M"]), whole(witness["weight"]), whole(witness["distance"])
    if not (
        1 <= m <= p["m"]
        and 1 <= h <= m
        and 1 <= least <= m
        and set(witness) == {"M", "weight", "distance", "q", "gaps"}
    ):
        return "the layer is out of range"
    gaps = [whole(gap) for gap in witness["gaps"]]
    bound = layer_bound(whole(p["n"]), rational(p["eps"]), m, h, least, rational(witness["q"]), gaps)
    if isinstance(bound, str):
        return bound
    return "" if min(gaps, default=1) >= 1 and whole(p["value"]) <= math.ceil(bound) else "the value is too large"


def lower_exponent(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    """w(D)^-2 <= kappa a^(2D) far beyond the distances that are listed, and 1 + V + W <= kappa (1+a)^(2h) itself."""
    n, eps, a, kappa = whole(p["n"]), rational(p["eps"]), rational(p["a"]), rational(p["kappa"])
    g, least, gaps = whole(witness["gap"]), whole(witness["distance"]), [whole(gap) for gap in witness["gaps"]]
    said = [f"n={n}, eps={eps}, for all m >= 2", f"a = {a} ", f"kappa = {kappa}"]
    if rule != "lower-exponent" or n < 3 or not 0 < eps <= HALF or not 0 < a < 1 or kappa < 1 or min(g, least) < 1:
        return "a parameter is out of range", said
    if any(gap < 1 or not admissible(n, gap, eps) for gap in (g, *gaps)) or a**g * mu(n, g, eps) < 1:
        return "a gap is not admissible, or a is too small for it", said
    top = least + 3 * g
    weights = forced(n, eps, gaps, top)
    for distance in range(least + g, top + 1):  # further gaps of g
        before, weight = weights[distance - g], weights[distance]
        if before is not None and (weight is None or weight < before * mu(n, g, eps)):
            weights[distance] = before * mu(n, g, eps)
    share: list[Fraction] = []  # what a pair at each distance counts in 1 + V + W
    for distance, weight in enumerate(weights):
        if distance >= least and weight is None:
            return "a distance has no chain", said
        share.append(1 / (weight * weight) if weight is not None and distance >= least else Fraction(1))
        if share[-1] > kappa * a ** (2 * distance):
            return f"kappa is too small at {distance}", said
    for h in range(1, min(top, 12) + 1):
        if sum(math.comb(h, d) ** 2 * share[d] for d in range(h + 1)) > kappa * (1 + a) ** (2 * h):
            return f"the sum is too large at h = {h}", said
    return "", said


# ------------------------------------------------------------------------------------------------------ families

Pair = tuple[frozenset[int], frozenset[int]]


def orbit_of(pair: Pair, permutations: Sequence[Sequence[int]]) -> set[Pair]:
    """All pairs that the permutations make from one; elements beyond a permutation stay where they are."""
    found, size = {pair}, 0
    while size < len(found):
        size = len(found)
        for move in permutations:
            found |= {
                (
                    frozenset(move[e] if e < len(move) else e for e in x),
                    frozenset(move[e] if e < len(move) else e for e in y),
                )
                for x, y in found
            }
    return found


def family_bound(n: int, eps: Fraction, gaps: Sequence[int], pairs: Sequence[Pair]) -> Fraction | str:
    """N^2/F over all ordered pairs of members, or why there is no such bound."""
    if any(not admissible(n, gap, eps) for gap in gaps):
        return "a gap is not admissible"
    if len(set(pairs)) < len(pairs) or not pairs:
        return "a pair is repeated, or there is none"
    weights = forced(n, eps, gaps, max(len(x) for x, _ in pairs))
    total = Fraction(0)
    for i, (x, y) in enumerate(pairs):
        for j, (_, z) in enumerate(pairs):
            difference = len(x & z) - len(x & y)
            weight = Fraction(1) if i == j else weights[difference] if difference > 0 else None
            if weight is None:
                return f"pairs {i} and {j} have the difference {difference}"
            total += 1 / (weight * weight)
    return len(pairs) ** 2 / total


def strictly_above(bound: Fraction, pairs: int) -> int:
    """The least integer above N^2/F; one for one pair, where there is nothing that is strict."""
    return math.floor(bound) + 1 if pairs > 1 else 1


def family(p: dict[str, Any], witness: dict[str, Any]) -> str:
    m = whole(p["m"])
    pairs = [tuple(whole(z) for z in pair) for pair in witness["pairs"]]
    moves = [[whole(e) for e in move] for move in witness["permutations"]]
    if set(witness) != {"pairs", "permutations", "gaps"} or any(
        sorted(move) != list(range(len(move))) for move in moves
    ):
        return "the permutations"
    if any(len(move) > m for move in moves) or any(not 0 <= z < 2**m for pair in pairs for z in pair):
        return "an element lies outside"
    members_: list[Pair] = []
    for x, y in pairs:
        members_ += orbit_of((members(x), members(y)), moves)
    gaps = [whole(gap) for gap in witness["gaps"]]
    bound = family_bound(whole(p["n"]), rational(p["eps"]), gaps, members_) if min(gaps, default=1) >= 1 else "a gap"
    if isinstance(bound, str):
        return bound
    return "" if whole(p["value"]) <= strictly_above(bound, len(members_)) else "the value is too large"


def class_counts(size: int, h: int, modulus: int) -> dict[int, int]:
    """{D: ordered pairs of h-sets of {0..size-1} at distance D with equal sums modulo `modulus`}: set by set where they
    are few, else by states (|S - U|, |U - S|, |S & U|, sum S - sum U), one element after the other."""
    if math.comb(size, h) <= 130:
        sets = [frozenset(chosen) for chosen in combinations(range(size), h)]
        near = [len(s - u) for s in sets for u in sets if (sum(s) - sum(u)) % modulus == 0]
        return {d: near.count(d) for d in set(near)}
    states: dict[tuple[int, int, int, int], int] = {(0, 0, 0, 0): 1}
    for e in range(size):
        later: dict[tuple[int, int, int, int], int] = {}
        for (a, b, both, t), ways in states.items():
            for state in (
                (a, b, both, t),
                (a + 1, b, both, (t + e) % modulus),
                (a, b + 1, both, (t - e) % modulus),
                (a, b, both + 1, t),
            ):
                if max(state[0], state[1]) + state[2] <= h:
                    later[state] = later.get(state, 0) + ways
        states = later
    return {d: states[d, d, h - d, 0] for d in range(h + 1) if (d, d, h - d, 0) in states}


def class_bound(n: int, eps: Fraction, size: int, h: int, modulus: int, gaps: Sequence[int]) -> Fraction | str:
    """N^2/(q F) with F summed over all pairs in a common class, or why there is no such bound."""
    if any(not admissible(n, gap, eps) for gap in gaps):
        return "a gap is not admissible"
    weights, total = forced(n, eps, gaps, min(h, size - h)), Fraction(0)
    for distance, count in class_counts(size, h, modulus).items():
        weight = weights[distance]
        if weight is None:
            return "a distance has no chain"
        total += count / (weight * weight)
    return math.comb(size, h) ** 2 / (modulus * total)


def graham_sloane(p: dict[str, Any], witness: dict[str, Any]) -> str:
    size, h, modulus = whole(witness["M"]), whole(witness["weight"]), whole(witness["modulus"])
    gaps = [whole(gap) for gap in witness["gaps"]]
    if not (1 <= h <= size <= p["m"] and modulus >= 1) or set(witness) != {"M", "weight", "modulus", "gaps"}:
        return "the class is out of range"
    if size > 16:
        raise ValueError("too many sets for this oracle")
    bound = class_bound(whole(p["n"]), rational(p["eps"]), size, h, modulus, gaps)
    if isinstance(bound, str):
        return bound
    return "" if min(gaps, default=1) >= 1 and whole(p["value"]) <= math.ceil(bound) else "the value is too large"


# ------------------------------------------------------------------------------------------------ preferences


def members(token: int) -> frozenset[int]:
    return frozenset(i for i in range(token.bit_length()) if token >> i & 1)


def shattered(p: dict[str, Any], witness: dict[str, Any]) -> str:
    """For every set of queries some pair (A, B) makes exactly these prefer B, and the others A."""
    queries = [members(whole(x)) for x in witness["queries"]]
    keys = [tuple(members(whole(z)) for z in pair) for pair in witness["keys"]]
    m = whole(p["m"])
    if any(token and max(token) >= m for token in [*queries, *(z for pair in keys for z in pair)]):
        return "a token lies outside"
    if len(keys) != 2 ** len(queries) or whole(p["value"]) > len(queries) or any(len(pair) != 2 for pair in keys):
        return "too few queries or keys"
    for pattern, (one, two) in enumerate(keys):
        for j, x in enumerate(queries):
            difference = len(x & one) - len(x & two)
            gap = difference if pattern // 2**j % 2 else -difference
            if not (gap == 2 or (gap == 1 and 2 * rational(p["eps"]) * (whole(p["n"]) - 1) <= whole(p["n"]) - 2)):
                return f"query {j} does not prefer as the pattern {pattern} says"
    return ""


def topological(p: dict[str, Any], witness: dict[str, Any]) -> str:
    return "" if witness == {} and whole(p["value"]) <= max(1, whole(p["m"]) - 2) else "the value is too large"


def sign_rules(
    pairs: Sequence[int], rank: int, ground: int
) -> tuple[list[tuple[int, ...]], Iterator[list[tuple[int, int]]]]:
    """The rank-subsets, and products of signs that must not all be +, nor all be -: each is (mask, sign), the mask
    saying which subsets are multiplied."""
    subsets = list(combinations(range(len(pairs)), rank))
    place = {subset: i for i, subset in enumerate(subsets)}

    def det(columns: tuple[int, ...]) -> tuple[int, int]:
        order = sorted(columns)
        inversions = sum(a > b for a, b in combinations(columns, 2))
        return 1 << place[tuple(order)], (-1) ** inversions

    def times(one: tuple[int, int], two: tuple[int, int], sign: int) -> tuple[int, int]:
        return one[0] ^ two[0], one[1] * two[1] * sign

    def rules() -> Iterator[list[tuple[int, int]]]:
        for common in combinations(range(len(pairs)), rank - 2):
            others = [i for i in range(len(pairs)) if i not in common]
            for a, b, c, d in combinations(others, 4):
                yield [
                    times(det((*common, a, b)), det((*common, c, d)), 1),
                    times(det((*common, a, c)), det((*common, b, d)), -1),
                    times(det((*common, a, d)), det((*common, b, c)), 1),
                ]
        for chosen in combinations(range(len(pairs)), rank + 1):
            for inside in range(2**ground):
                sides = [1 if pairs[i] & inside == pairs[i] else -1 if not pairs[i] & inside else 0 for i in chosen]
                if 0 not in sides:
                    yield [(1 << place[chosen[:i] + chosen[i + 1 :]], (-1) ** i * side) for i, side in enumerate(sides)]

    return subsets, rules()


@cache
def no_chirotope(pairs: tuple[int, ...], rank: int, ground: int) -> bool:
    """Whether every assignment of signs breaks some rule; at most 15 subsets."""
    subsets, rules = sign_rules(pairs, rank, ground)
    if len(subsets) > 15:
        raise ValueError("too many sign patterns")
    listed = list(rules)

    def fine(negative: int) -> bool:
        return all(len({sign * (-1) ** (mask & negative).bit_count() for mask, sign in rule}) == 2 for rule in listed)

    return not any(fine(negative) for negative in range(2 ** len(subsets)))


def propagate(clauses: Sequence[Sequence[int]], false: set[int], order: Sequence[int]) -> str:
    """Follows the clauses in this order, each unit or false when its turn comes, the last one false; or why not."""
    for k, index in enumerate(order):
        left = {literal for literal in clauses[index] if literal not in false}
        if len(left) > 1:
            return f"clause {index + 1} is neither unit nor false"
        if not left:
            return "" if k == len(order) - 1 else "clauses after the conflict"
        false |= {-literal for literal in left}
    return "no conflict"


def follows(clauses: Sequence[Sequence[int]], literals: Sequence[int]) -> bool:
    """Whether unit propagation over all clauses, again and again, refutes the negation of `literals`."""
    false, size = set(literals), -1
    while size < len(false):
        size = len(false)
        for clause in clauses:
            left = {literal for literal in clause if literal not in false}
            if not left:
                return True
            if len(left) == 1:
                false |= {-literal for literal in left}
    return False


def unsat_lrat(p: dict[str, Any], witness: dict[str, Any]) -> str:
    """No assignment of signs is allowed, and the proof does not go through the axioms but through its own clauses."""
    ground, rank = whole(witness["ground"]), whole(p["value"]) - 1
    pairs = tuple(whole(x) for x in witness["pairs"])
    if not 2 <= ground <= min(whole(p["m"]), 10) or not 2 <= rank < len(pairs) or len(set(pairs)) != len(pairs):
        return "the ground set, the rank or the number of pairs"
    if any(len(members(x)) != 2 or max(members(x)) >= ground for x in pairs):
        return "no pair of the ground set"
    if not no_chirotope(pairs, rank, ground):
        return "some signs are allowed"
    return "" if witness["proof"] and witness["proof"][-1][0] == [] else "the proof does not end"


# ---------------------------------------------------------------------------------------------- heads that exist


def broken(matrix: Matrix, n: int, eps: Fraction) -> str:
    """The first query, or query and two tokens, for which B0 fails: every pair of tokens, z = x included."""
    for x, row in enumerate(matrix):
        h, s = x.bit_count(), row[x]
        if s <= 0 or any(value < 0 or (value == 0 and (x & y).bit_count() < h) for y, value in enumerate(row)):
            return f"(i) fails for the query {x:b}"
        for y, low in enumerate(row):
            for z, high in enumerate(row):
                d = (x & z).bit_count() - (x & y).bit_count()
                if (
                    d >= 1
                    and not 2 * eps * low
                    > (n - 2) * (d - 2 * eps) * high + (Fraction((n - 2) * d, n - 1) - 2 * eps) * s
                ):
                    return f"(ii) fails for the query {x:b} and the tokens {y:b}, {z:b}"
    return ""


def table_matrix(witness: dict[str, Any]) -> Matrix:
    return [
        [sum((Fraction(a * b) for a, b in zip(q, k, strict=True)), Fraction(0)) for k in witness["keys"]]
        for q in witness["queries"]
    ]


def blocks_of(blocks: Sequence[int]) -> list[int]:
    """The bits of each block, lowest first."""
    starts = [sum(blocks[:i]) for i in range(len(blocks))]
    return [sum(1 << j for j in range(start, start + size)) for start, size in zip(starts, blocks, strict=True)]


def class_matrix(m: int, n: int, eps: Fraction, witness: dict[str, Any]) -> Matrix:
    """alpha(x,z) for all tokens, from the definition: polynomials in overlaps and weights by block, times the scale of
    |z|; a softmin row for every other query."""
    masks, scale = blocks_of(witness["blocks"]), [rational(s) for s in witness["scale"]]
    matrix = []
    for x in range(2**m):
        terms = witness["polynomials"].get(",".join(str((x & mask).bit_count()) for mask in masks))
        row = []
        for z in range(2**m):
            if terms is None:
                row.append((eps / n) ** (x & z).bit_count())
                continue
            value = Fraction(0)
            for term in terms:
                part = rational(term["coefficient"])
                for mask, i, j in zip(masks, term["l"], term["w"], strict=True):
                    part *= (x & z & mask).bit_count() ** i * (z & mask).bit_count() ** j
                value += part
            row.append(scale[z.bit_count()] * value)
        matrix.append(row)
    return matrix


def by_distance(coefficients: Sequence[Fraction], d: int) -> Fraction:
    return sum((c * math.comb(d, k) for k, c in enumerate(coefficients)), Fraction(0))


def hamming_matrix(m: int, witness: dict[str, Any]) -> Matrix:
    base, coefficients = rational(witness["base"]), [rational(c) for c in witness["coefficients"]]
    return [
        [base ** (z.bit_count() - x.bit_count()) * by_distance(coefficients, (x ^ z).bit_count()) for z in range(2**m)]
        for x in range(2**m)
    ]


def hamming_rank(m: int, witness: dict[str, Any]) -> int:
    """The exact rank: scaling rows and columns leaves a convolution on the cube. Its eigenvalue for the character of a
    k-set is the sum over d of q(d) times the Krawtchouk number K_k(d), and there are C(m,k) of them."""
    coefficients, rank = [rational(c) for c in witness["coefficients"]], 0
    for k in range(m + 1):
        total = Fraction(0)
        for d in range(m + 1):
            total += by_distance(coefficients, d) * sum(
                (-1) ** i * math.comb(k, i) * math.comb(m - k, d - i) for i in range(min(k, d) + 1)
            )
        rank += math.comb(m, k) if total else 0
    return rank


def hamming_broken(m: int, n: int, eps: Fraction, witness: dict[str, Any]) -> str:
    """B0 for each weight of queries, over all pairs of classes of tokens: (|x & z|, |z - x|)."""
    base, coefficients = rational(witness["base"]), [rational(c) for c in witness["coefficients"]]
    values = [by_distance(coefficients, d) for d in range(m + 1)]
    for h in range(m + 1):
        tokens = [
            (level, base ** (level + other - h) * values[h - level + other])
            for level in range(h + 1)
            for other in range(m - h + 1)
        ]
        s = values[0]
        if s <= 0 or any(value < 0 or (value == 0 and level < h) for level, value in tokens):
            return f"(i) fails for queries of weight {h}"
        for t, low in tokens:
            for u, high in tokens:
                forced = (n - 2) * (u - t - 2 * eps) * high + (Fraction((n - 2) * (u - t), n - 1) - 2 * eps) * s
                if u > t and not 2 * eps * low > forced:
                    return f"(ii) fails for queries of weight {h} at the levels {t}, {u}"
    return ""


def weights_broken(m: int, n: int, eps: Fraction, rank: int, witness: dict[str, Any]) -> str:
    """B0 for every query over all pairs of tokens, where the inner product P of different points may be any number from
    -1 to the largest that N = 2^(M-1) points need; and the exact rank of the matrix where there are none."""
    main, straight = m - witness["apart"], len(witness["slopes"]) + len(witness["functions"])
    columns = [*witness["slopes"], *witness["functions"], *witness["points"]]
    tables = [[rational(q) for q in column] for column in columns]
    rows = [[rational(q) for q in row] for row in witness["coefficients"]]
    size = (witness["apart"] + 1) * (main + 1)
    if main < 1 or {len(rows), *map(len, tables)} != {size} or {len(row) for row in rows} != {len(tables)}:
        return "the shape of the tables"
    most = 1 - Fraction(2, 2 ** (main - 1))
    mask, matrix = 2**main - 1, []
    for x in range(2**m):
        row, low, high = rows[(x >> main) * (main + 1) + (x & mask).bit_count()], [], []
        for z in range(2**m):
            place = (z >> main) * (main + 1) + (z & mask).bit_count()
            slope = main * (x & z & mask).bit_count() - (x & mask).bit_count() * (z & mask).bit_count()
            value, turn = Fraction(0), Fraction(0)
            for i, table in enumerate(tables):
                if i < straight:
                    value += row[i] * table[place] * (slope if i < len(witness["slopes"]) else 1)
                else:
                    turn += row[i] * table[place]
            same = (x ^ z) & mask in (0, mask)
            ends = [value + turn] if same else [value - turn, value + most * turn]
            low.append(min(ends))
            high.append(max(ends))
        matrix.append(low)  # the kernel itself, where there are no points
        h, s = x.bit_count(), low[x]
        if s <= 0 or any(value < 0 or (value == 0 and (x & y).bit_count() < h) for y, value in enumerate(low)):
            return f"(i) fails for the query {x:b}"
        for y, least in enumerate(low):
            for z, largest in enumerate(high):
                d = (x & z).bit_count() - (x & y).bit_count()
                forced = (n - 2) * (d - 2 * eps) * largest + (Fraction((n - 2) * d, n - 1) - 2 * eps) * s
                if d >= 1 and not 2 * eps * least > forced:
                    return f"(ii) fails for the query {x:b} and the tokens {y:b}, {z:b}"
    counted = len(witness["slopes"]) * (main - 1) + len(witness["functions"]) + 3 * len(witness["points"])
    if not witness["points"] and rank_of(matrix) > counted:
        return "the matrix has more than the rank that is counted"
    return "" if counted <= rank else "more features than claimed"


def head_exists(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, n, eps, rank = whole(p["m"]), whole(p["n"]), rational(p["eps"]), whole(p["rank"])
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"with {rank} features", f"length 1..{n} over {{0,1}}^{m}"]
    if n < 3 or not 0 < eps <= HALF or m < 1 or rank < 1:
        return "a parameter is out of range", said
    if rule == "sampled":
        rho, eta = rational(witness["rho"]), rational(witness["eta"])
        fault = sampling(n, eps, rho, eta, rational(witness["c0"]), whole(witness["last"]))
        features = 2 * (4 / eta**2) * m * (2 - 1 / rho) ** m
        return fault or ("" if math.floor(features) <= rank else "more features than claimed"), said
    if rule == "hamming-head":
        coefficients, base = [rational(c) for c in witness["coefficients"]], rational(witness["base"])
        if set(witness) != {"base", "coefficients"} or not coefficients or not 0 < base <= 1 or m > 30:
            return "the base, the coefficients or m", said
        fault = hamming_broken(m, n, eps, witness)
        return fault or ("" if hamming_rank(m, witness) <= rank else "the matrix has a larger rank"), said
    if m > 5:
        raise ValueError("the oracle writes out at most 2^5 rows")
    if rule == "weight-head":
        return weights_broken(m, n, eps, rank, witness), said
    if rule == "table-head":
        rows = [*witness["queries"], *witness["keys"]]
        if any(len(witness[name]) != 2**m for name in ("queries", "keys")) or any(len(row) != rank for row in rows):
            return "the number of rows or features", said
        if any(type(value) is not int or abs(value) >= 2**256 for row in rows for value in row):
            return "a feature is no integer", said
        matrix = table_matrix(witness)
    elif rule == "class-head":
        sizes = [range(b + 1) for b in witness["blocks"]]
        names = {",".join(map(str, part)) for part in product(*sizes)}
        scale = [rational(s) for s in witness["scale"]]
        if (
            sum(witness["blocks"]) != m
            or len(scale) != m + 1
            or min(scale) <= 0
            or not set(witness["polynomials"]) <= names
        ):
            return "the blocks, the scale or a class", said
        matrix = class_matrix(m, n, eps, witness)
    else:
        return "another rule", said
    return broken(matrix, n, eps) or ("" if rank_of(matrix) <= rank else "the matrix has a larger rank"), said


def sampling(n: int, eps: Fraction, rho: Fraction, eta: Fraction, c0: Fraction, last: int) -> str:
    """B0 for every row whose entries are within a factor 1 +- eta of rho^k, less c0: k = |x\\z| up to 12 and in the
    limit, at all gaps up to last + 40, and 1 + 1/(d - 2eps) <= rho beyond."""
    if not (0 < c0 < 1 and 0 < eta < 1 and rho > 1 and last >= 2) or (1 - eta) * rho <= c0:
        return "a number is out of range"
    if 1 + 1 / (last - 2 * eps) > rho:
        return "mu outgrows rho"
    own, others = 1 - c0, n - 2
    for d in range(1, last + 40):
        if (1 - eta) * rho**d < (1 + eta) * mu(n, d, eps):
            return f"(ii) fails at the gap {d} where x\\z is large"
        for k in range(13):
            low, high = (1 - eta) * rho ** (k + d) - c0, (1 + eta) * rho**k - c0
            if not 2 * eps * low > others * (d - 2 * eps) * high + (Fraction(others * d, n - 1) - 2 * eps) * own:
                return f"(ii) fails at the gap {d}, with the upper token at |x\\z| = {k}"
    return ""


def upper_exponent(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps, rho, eta = whole(p["n"]), rational(p["eps"]), rational(p["rho"]), rational(p["eta"])
    said = [f"n={n}, eps={eps}, for all m >= 1", "r <= 2cm (2 - 1/rho)^m", f"rho = {rho}", f"eta = {eta}"]
    if rule != "upper-exponent" or n < 3 or not 0 < eps <= HALF or set(witness) != {"c0", "last"}:
        return "a parameter is out of range", said
    return sampling(n, eps, rho, eta, rational(witness["c0"]), whole(witness["last"])), said


FEATURE_RANK = {
    "layer": layer,
    "family": family,
    "graham-sloane": graham_sloane,
    "shattered": shattered,
    "topological": topological,
    "unsat-lrat": unsat_lrat,
}


# -------------------------------------------------------------------------------------------- finding refutations


def refute(clauses: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """A refutation with hints, by trying both values of one variable after the other: steps [literals, hints], numbers
    from 1. Each branch ends with the clause that its decisions are wrong. Steps and hints that nothing needs are left
    out."""
    last = max(abs(literal) for clause in clauses for literal in clause)
    database = [list(clause) for clause in clauses]
    steps: list[list[list[int]]] = []

    def learn(literals: list[int], hints: list[int]) -> None:
        for hint in hints[-2::-1]:
            fewer = [other for other in hints if other != hint]
            if not propagate(database, set(literals), fewer):
                hints = fewer
        database.append(literals)
        steps.append([literals, [index + 1 for index in hints]])

    def conflict(literals: list[int]) -> list[int] | None:
        """The clauses that lead from the decisions to a conflict, in turn."""
        false, hints = set(literals), []
        progress = True
        while progress:
            progress = False
            for index, clause in enumerate(database):
                left = {literal for literal in clause if literal not in false}
                if not left:
                    return [*hints, index]
                if len(left) == 1 and -next(iter(left)) not in false:
                    hints.append(index)
                    false |= {-literal for literal in left}
                    progress = True
        return None

    def search(decided: list[int]) -> None:
        found = conflict(decided)
        if found is not None:
            learn(list(decided), found)
            return
        variable = 1 + len(decided)
        if variable > last:
            raise ValueError("the clauses can be satisfied")
        for literal in (variable, -variable):
            search([*decided, literal])
        learn(list(decided), conflict(decided) or [])

    search([])
    return trimmed(steps, len(clauses))


def trimmed(steps: list[list[list[int]]], axioms: int) -> list[list[list[int]]]:
    """The steps from which the last one follows, numbered anew."""
    needed: set[int] = set()
    for k in reversed(range(len(steps))):
        if k == len(steps) - 1 or axioms + k + 1 in needed:
            needed |= {axioms + k + 1, *steps[k][1]}
    kept = [k for k in range(len(steps)) if axioms + k + 1 in needed]
    number = {axioms + k + 1: axioms + i + 1 for i, k in enumerate(kept)}
    return [[steps[k][0], [number.get(hint, hint) for hint in steps[k][1]]] for k in kept]
