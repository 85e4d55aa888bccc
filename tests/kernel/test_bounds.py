"""The rules for bounds on the feature rank against slow and obvious versions of them, near the boundaries above all."""

from __future__ import annotations

import copy
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofcheck.kernel.claims import statement
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.kernel.minip import Head, correct_up_to
from proofcheck.kernel.rules import apply
from proofcheck.kernel.rules.ranks import sign_clauses
from tests.kernel import bounds_oracle as oracle
from tests.kernel import bounds_tables as tables
from tests.kernel import weights_tables
from tests.kernel.building import HALF, spell
from tests.kernel.rationals import mu, rank_of, rational

V = tables.valid()
EPSILONS = [HALF, Fraction(1, 3), Fraction(1, 4), Fraction(2, 7), Fraction(1, 10)]
numbers = st.sampled_from([3, 3, 3, 4, 5, 9])
epsilons = st.sampled_from(EPSILONS)


def verdict(claim: str, parameters: dict[str, Any], rule: str, witness: dict[str, Any]) -> str:
    """Why the kernel refuses, or the empty string."""
    try:
        checked = apply(rule, statement(claim, spell(parameters)), spell(witness), {})
    except (Rejected, Malformed) as error:
        return str(error) or "no reason"
    return "" if checked else "nothing was checked"


# --------------------------------------------------------------------------------------------------- layers


@st.composite
def layers(draw: st.DrawFn) -> tuple[int, Fraction, dict[str, Any]]:
    """Layers of at most ten elements; q anywhere, or within one millionth of 1/V or 1."""
    n, eps, m = draw(numbers), draw(epsilons), draw(st.integers(1, 10))
    h, least = draw(st.integers(1, m)), draw(st.integers(1, m))
    near = sum(oracle.distances(m, h)[1:least])
    edge = Fraction(1, near) if near else Fraction(1)
    grain = draw(st.sampled_from([Fraction(-1, 10**6), Fraction(0), Fraction(1, 10**6)]))
    q = draw(st.one_of(st.just(edge + grain), st.fractions(0, 1, max_denominator=500).map(lambda share: share * edge)))
    gaps = draw(st.lists(st.integers(1, 5), max_size=4))
    return n, eps, {"M": m, "weight": h, "distance": least, "q": q, "gaps": gaps}


@settings(max_examples=400)
@given(layers(), st.integers(-1, 2))
def test_layer_rule_is_the_sum_over_all_sets(case: tuple[int, Fraction, dict[str, Any]], more: int) -> None:
    """Accepted exactly up to the least integer that is not below N q p^2/(p + q W), summed set by set."""
    n, eps, w = case
    bound = oracle.layer_bound(n, eps, w["M"], w["weight"], w["distance"], w["q"], w["gaps"])
    value = max(1, more + (1 if isinstance(bound, str) else math.ceil(bound)))
    parameters = {"m": w["M"] + more % 2, "n": n, "eps": eps, "value": value}
    reason = verdict("feature-rank", parameters, "layer", w)
    if isinstance(bound, str):
        assert reason
    else:
        assert (reason == "") is (value <= math.ceil(bound)), (reason, bound)
        assert not reason or "gives only r >=" in reason


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 3), st.integers(1, 3), st.fractions(Fraction(1, 9), 1, max_denominator=9))
def test_expurgation_keeps_as_many_sets_as_promised(m: int, h: int, least: int, q: Fraction) -> None:
    """E[T], E[F] and E[T^2/F] over all subsets of a small layer: the steps of the argument in TRUST.md."""
    assume(h <= m and math.comb(m, h) <= 6)
    family = [frozenset(chosen) for chosen in combinations(range(m), h)]
    counts = oracle.distances(m, h)
    weights = [1 + distance for distance in range(len(counts))]
    near, far = sum(counts[1:least]), sum(Fraction(c, weights[d] ** 2) for d, c in enumerate(counts) if d >= least)
    assume(q * near < 1)
    kept_sum = pair_sum = ratio = Fraction(0)
    for picks in product((0, 1), repeat=len(family)):
        chance = math.prod((q if pick else 1 - q for pick in picks), start=Fraction(1))
        picked = [word for word, pick in zip(family, picks, strict=True) if pick]
        kept = [one for one in picked if all(one == two or len(one - two) >= least for two in picked)]
        pairs = sum(Fraction(1, weights[len(one - two)] ** 2) for one in kept for two in kept)
        kept_sum += chance * len(kept)
        pair_sum += chance * pairs
        ratio += chance * len(kept) ** 2 / pairs if kept else 0
    size, p = len(family), 1 - q * near
    assert kept_sum >= size * q * p
    assert pair_sum <= kept_sum + size * q * q * far
    assert ratio >= size * q * p * p / (p + q * far)


@settings(max_examples=200)
@given(numbers, epsilons, st.lists(st.integers(1, 6), max_size=3), st.data())
def test_lower_exponent_rule_is_the_comparison_of_all_distances(
    n: int, eps: Fraction, gaps: list[int], draw: st.DataObject
) -> None:
    """kappa is accepted from its least value on, and a from its own; what is accepted bounds 1 + V + W for every h."""
    gap, least = draw.draw(st.integers(1, 6)), draw.draw(st.integers(1, 6))
    a = draw.draw(st.sampled_from([Fraction(k, 20) for k in range(1, 22)]))
    weights = oracle.forced(n, eps, gaps, least + gap)
    needed = [1 / (a ** (2 * d) * (w if d >= least and w else 1) ** 2) for d, w in enumerate(weights[: least + gap])]
    kappa = max(needed) + draw.draw(
        st.sampled_from([Fraction(-1, 10**9), Fraction(0), Fraction(1, 10**9), Fraction(7)])
    )
    witness = {"gap": gap, "distance": least, "gaps": gaps}
    parameters = {"n": n, "eps": eps, "a": a, "kappa": kappa}
    reason = verdict("lower-exponent", parameters, "lower-exponent", witness)
    fault, _ = oracle.lower_exponent(spell(parameters), "lower-exponent", witness, {})
    assert (reason == "") is (fault == ""), (reason, fault)


# ------------------------------------------------------------------------------------------------- families


@st.composite
def families(draw: st.DrawFn) -> tuple[int, Fraction, int, dict[str, Any]]:
    """Up to six pairs over three to seven bits: words and complements, or any tokens; up to two permutations."""
    n, eps, m = draw(numbers), draw(epsilons), draw(st.integers(3, 7))
    token = st.integers(0, 2**m - 1)
    words = token.map(lambda x: [x, 2**m - 1 - x])
    anything = st.tuples(token, token).map(list)
    pairs = draw(st.lists(draw(st.sampled_from([words, words, anything])), min_size=1, max_size=6))
    size = draw(st.integers(0, m))
    moves = draw(st.lists(st.permutations(range(size)), max_size=draw(st.sampled_from([0, 0, 1, 2]))))
    gaps = draw(st.lists(st.integers(1, 5), max_size=3))
    return n, eps, m, {"pairs": pairs, "permutations": moves, "gaps": gaps}


def family_bound(n: int, eps: Fraction, witness: dict[str, Any]) -> tuple[Fraction | str, int]:
    whole = [
        pair
        for x, y in witness["pairs"]
        for pair in oracle.orbit_of((oracle.members(x), oracle.members(y)), witness["permutations"])
    ]
    return oracle.family_bound(n, eps, witness["gaps"], whole), len(whole)


@settings(max_examples=400)
@given(families(), st.integers(-1, 1))
def test_family_rule_is_the_sum_over_all_pairs(case: tuple[int, Fraction, int, dict[str, Any]], more: int) -> None:
    """All members written out, all differences by sets: accepted exactly up to the least integer above N^2/F."""
    n, eps, m, w = case
    bound, size = family_bound(n, eps, w)
    least = 1 if isinstance(bound, str) else oracle.strictly_above(bound, size)
    reason = verdict("feature-rank", {"m": m, "n": n, "eps": eps, "value": max(1, least + more)}, "family", w)
    assert (reason == "") is (not isinstance(bound, str) and max(1, least + more) <= least), (reason, bound)


def test_family_rule_accepts_often() -> None:
    """Cyclic families of all words of seven bits: orbits that are families, and orbits that are not, both occur."""
    outcomes = Counter()
    for word, n in product(range(1, 127), (3, 9)):
        witness = {"pairs": [[word, 127 - word]], "permutations": [[1, 2, 3, 4, 5, 6, 0]], "gaps": [1, 2]}
        eps = Fraction(1, 10)
        bound, size = family_bound(n, eps, witness)
        value = 1 if isinstance(bound, str) else oracle.strictly_above(bound, size)
        reason = verdict("feature-rank", {"m": 7, "n": n, "eps": eps, "value": value}, "family", witness)
        assert (reason == "") is not isinstance(bound, str)
        outcomes[reason == "", size] += 1
    assert outcomes == {(True, 7): 252}


def correct_kernels(m: int) -> list[tuple[int, Fraction, oracle.Matrix]]:
    """Kernels of correct heads: softmin, a low-degree head, and rows that barely satisfy B0 (level by level)."""
    found = []
    for n, eps in ((3, HALF), (4, Fraction(1, 4))):
        found.append((n, eps, [[(eps / n) ** (x & z).bit_count() for z in range(2**m)] for x in range(2**m)]))
        rows = []
        for x in range(2**m):
            h, own = x.bit_count(), Fraction(1, 10**6)
            level = {h: own}
            for low in range(h - 1, -1, -1):
                needed = [
                    (n - 2) * (d - 2 * eps) / (2 * eps) * level[low + d]
                    + (Fraction((n - 2) * d, n - 1) / (2 * eps) - 1) * own
                    for d in range(1, h - low + 1)
                ]
                level[low] = max(Fraction(1, 10**9), *needed) + Fraction(1, 10**9)
            rows.append([level[(x & z).bit_count()] for z in range(2**m)])
        found.append((n, eps, rows))
    if m <= 4:
        witness = spell(tables.symmetric(m, Fraction(1, 2), m)["witness"])
        found.append((3, HALF, oracle.class_matrix(m, 3, HALF, witness)))
    return found


@pytest.mark.parametrize("m", [3, 4, 5])
def test_families_hold_for_heads_that_exist(m: int) -> None:
    """In correct kernels of random families: C_ij < 1/w(D_ij), and the kernel matrix has at least the proved rank."""
    rng = Random(m)
    tried = Counter()
    for n, eps, matrix in correct_kernels(m):
        assert oracle.broken(matrix, n, eps) == ""
        whole_rank = rank_of(matrix)
        gaps = [gap for gap in range(1, 6) if oracle.admissible(n, gap, eps)]
        for _ in range(150):
            pairs = [[x, rng.choice([2**m - 1 - x, rng.randrange(2**m)])] for x in rng.sample(range(1, 2**m), 6)]
            kept: list[list[int]] = []
            for pair in pairs:
                witness = {"pairs": [*kept, pair], "permutations": [], "gaps": gaps}
                if not isinstance(family_bound(n, eps, witness)[0], str):
                    kept.append(pair)
            bound, size = family_bound(n, eps, {"pairs": kept, "permutations": [], "gaps": gaps})
            assert not isinstance(bound, str)
            value = oracle.strictly_above(bound, size)
            weights = oracle.forced(n, eps, gaps, m)
            for (x, y), (_, z) in product(kept, repeat=2):
                weight = weights[max(0, (x & z).bit_count() - (x & y).bit_count())]
                assert y == z or (weight and matrix[x][y] > weight * matrix[x][z])
            assert rank_of([[matrix[x][z] for _, z in kept] for x, _ in kept]) >= value
            assert whole_rank >= value
            witness = {"pairs": kept, "permutations": [], "gaps": gaps}
            assert verdict("feature-rank", {"m": m, "n": n, "eps": eps, "value": value}, "family", witness) == ""
            tried[value] += 1
    assert max(tried) >= m // 2


def test_the_dodecads() -> None:
    """2,576 words in one orbit of M24: 21 features, not 22; all their distances, counted from the code itself."""
    fields = tables.dodecads()
    assert verdict("feature-rank", fields["parameters"], "family", fields["witness"]) == ""
    more = {**fields["parameters"], "value": 22}
    assert verdict("feature-rank", more, "family", fields["witness"]) == "2576 pairs give only r >= 21, not 22"
    far = {4: 495, 6: 1584, 8: 495, 12: 1}
    weights = oracle.forced(3, HALF, [2, 3, 4, 5, 6, 7], 12)
    total = 1 + sum(count / weights[d] ** 2 for d, count in far.items())
    assert 1 + sum(far.values()) == 2576
    assert 20 < 2576 / total < 21


@st.composite
def classes(draw: st.DrawFn) -> tuple[int, Fraction, dict[str, Any]]:
    n, eps, m = draw(numbers), draw(epsilons), draw(st.integers(1, 8))
    gaps = draw(st.lists(st.integers(1, 5), max_size=3))
    modulus = draw(st.sampled_from([m, m, m, m + 1, max(1, m - 1), 1, 2, 3 * m]))
    return n, eps, {"M": m, "weight": draw(st.integers(1, m)), "modulus": modulus, "gaps": gaps}


@settings(max_examples=300)
@given(classes(), st.integers(-1, 1))
def test_graham_sloane_rule_is_the_sum_over_all_classes(case: tuple[int, Fraction, dict[str, Any]], more: int) -> None:
    """All sets written out: accepted exactly up to the least integer that is not below N^2/(q F), and the best class,
    looked at on its own, is at least as good."""
    n, eps, w = case
    bound = oracle.class_bound(n, eps, w["M"], w["weight"], w["modulus"], w["gaps"])
    least = 1 if isinstance(bound, str) else math.ceil(bound)
    parameters = {"m": w["M"], "n": n, "eps": eps, "value": max(1, least + more)}
    reason = verdict("feature-rank", parameters, "graham-sloane", w)
    assert (reason == "") is (not isinstance(bound, str) and parameters["value"] <= least), (reason, bound)
    if not isinstance(bound, str):
        everything = frozenset(range(w["M"]))
        sorted_: dict[int, list[tuple[frozenset[int], frozenset[int]]]] = {}
        for chosen in combinations(range(w["M"]), w["weight"]):
            pair = (frozenset(chosen), everything - frozenset(chosen))
            sorted_.setdefault(sum(chosen) % w["modulus"], []).append(pair)
        single = [oracle.family_bound(n, eps, w["gaps"], pairs) for pairs in sorted_.values()]
        assert max(b for b in single if not isinstance(b, str)) >= bound


@pytest.mark.parametrize(("size", "h", "modulus"), [(6, 3, 6), (7, 3, 7), (8, 4, 5), (9, 2, 1), (9, 7, 9)])
def test_class_counts_by_states_are_those_of_all_sets(size: int, h: int, modulus: int) -> None:
    sets = [set(chosen) for chosen in combinations(range(size), h)]
    near = Counter(len(s - u) for s in sets for u in sets if (sum(s) - sum(u)) % modulus == 0)
    assert {d: c for d, c in oracle.class_counts(size, h, modulus).items() if c} == dict(near)


# ---------------------------------------------------------------------------------------------- preferences


@settings(max_examples=300)
@given(st.sampled_from(["shattered-4", "shattered-7", "shattered-heavy-queries", "shattered-single-bits"]), st.data())
def test_shattered_rule_accepts_exactly_the_forced_patterns(name: str, draw: st.DataObject) -> None:
    """One to three bits of queries or keys flipped: the kernel and the sets agree."""
    parameters, witness = copy.deepcopy(V[name]["parameters"]), copy.deepcopy(V[name]["witness"])
    for _ in range(draw.draw(st.integers(0, 3))):
        row = draw.draw(st.sampled_from([witness["queries"], *witness["keys"]]))
        row[draw.draw(st.integers(0, len(row) - 1))] ^= 1 << draw.draw(st.integers(0, parameters["m"] - 1))
    parameters["value"] = draw.draw(st.integers(1, 4))
    fault = oracle.shattered(parameters, witness)
    assert (verdict("feature-rank", parameters, "shattered", witness) == "") is (fault == ""), fault


@pytest.mark.parametrize("m", [3, 4, 5])
def test_shattered_queries_are_independent_in_real_heads(m: int) -> None:
    """In a head that exists, the query features of disjoint pairs are linearly independent, as the rule concludes."""
    matrix = oracle.class_matrix(m, 3, HALF, spell(tables.symmetric(m, Fraction(1, 2), m)["witness"]))
    assert oracle.broken(matrix, 3, HALF) == ""
    assert rank_of([matrix[3 << 2 * j] for j in range(m // 2)]) == m // 2
    pairs = [(1 << i) | (1 << j) for i, j in combinations(range(m), 2)]
    assert rank_of([matrix[x] for x in pairs]) >= max(1, m - 2)


@given(st.integers(1, 20), st.integers(1, 20))
def test_topological_rule_says_m_minus_two(m: int, value: int) -> None:
    fault = oracle.topological({"m": m, "value": value}, {})
    reason = verdict("feature-rank", {"m": m, "n": 3, "eps": HALF, "value": value}, "topological", {})
    assert (reason == "") is (fault == "")


def test_topological_map_is_as_the_argument_says() -> None:
    """Small pairs (A, B) over five elements: odd, and no convex combination along a chain vanishes."""

    def place(one: frozenset[int], two: frozenset[int]) -> tuple[int, int]:
        if one and two:
            return (0, 1 if max(two) > max(one) else -1)
        return (1, 0) if one else (-1, 0)

    small = [frozenset(c) for c in [(), *((i,) for i in range(5))]]
    pairs = [(a, b) for a in small for b in small if not a & b and a | b]
    assert len(pairs) == 30
    for a, b in pairs:
        assert place(a, b) == tuple(-e for e in place(b, a))
        for c, d in pairs:
            if (a, b) != (c, d) and a <= c and b <= d:
                assert place(a, b)[0] * place(c, d)[1] != place(a, b)[1] * place(c, d)[0]


@pytest.mark.parametrize(
    ("pairs", "rank", "ground"),
    [
        (tables.STABLE, 2, 5),
        (tables.STABLE[:4], 2, 5),
        ([0b0011, 0b0101, 0b1001, 0b0110, 0b1010], 2, 4),
        ([0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100], 2, 4),
        ([0b00011, 0b01100, 0b10100, 0b00101], 2, 5),
        (tables.STABLE, 3, 5),
        ([0b00011, 0b00110, 0b01100, 0b11000, 0b10001], 3, 5),
        ([0b011, 0b101, 0b110], 2, 3),
    ],
)
def test_clauses_are_the_rules_for_signs(pairs: list[int], rank: int, ground: int) -> None:
    """An assignment of signs satisfies all clauses exactly if no three-term relation and no circuit forbids it."""
    variable, clauses = sign_clauses(pairs, rank, ground)
    subsets, rules = oracle.sign_rules(pairs, rank, ground)
    listed = list(rules)
    assert list(variable) == subsets
    assert list(variable.values()) == list(range(1, len(subsets) + 1))
    allowed = 0
    for negative in range(1 << len(subsets)):
        fine = all(len({s * (-1) ** (mask & negative).bit_count() for mask, s in rule}) == 2 for rule in listed)
        met = all(any((negative >> abs(e) - 1 & 1) == (e < 0) for e in clause) for clause in clauses)
        assert fine is met
        allowed += fine
    assert (allowed == 0) is oracle.no_chirotope(tuple(pairs), rank, ground)


def hints_followed(proof: Any, clauses: list[list[int]]) -> bool:
    """The proof step by step with plain sets; every step is also a consequence by propagation over all clauses."""
    database = [list(clause) for clause in clauses]
    for literals, hints in proof:
        if any(not 1 <= hint <= len(database) for hint in hints) or 0 in literals:
            return False
        if oracle.propagate(database, set(literals), [hint - 1 for hint in hints]):
            return False
        assert oracle.follows(database, literals)
        database.append(literals)
    return bool(proof) and proof[-1][0] == []


@settings(max_examples=300)
@given(st.data())
def test_refutations_are_followed_exactly(draw: st.DataObject) -> None:
    """Hints and literals dropped, doubled, changed and exchanged, steps dropped and exchanged: the kernel accepts what
    plain unit propagation in the order of the hints accepts."""
    witness = copy.deepcopy(V["unsat-5"]["witness"])
    proof = witness["proof"]
    for _ in range(draw.draw(st.integers(0, 2))):
        k = draw.draw(st.integers(0, len(proof) - 1))
        kind = draw.draw(st.sampled_from(["drop", "double", "change", "exchange", "step", "steps"]))
        if kind == "step":
            del proof[k]
            continue
        if kind == "steps":
            j = draw.draw(st.integers(0, len(proof) - 1))
            proof[k], proof[j] = proof[j], proof[k]
            continue
        row = proof[k][draw.draw(st.integers(0, 1))]
        if not row:
            continue
        i, j = draw.draw(st.integers(0, len(row) - 1)), draw.draw(st.integers(0, len(row) - 1))
        if kind == "drop":
            del row[i]
        elif kind == "double":
            row.insert(j, row[i])
        elif kind == "change":
            row[i] += draw.draw(st.sampled_from([-110, -2, -1, 1, 2, 110]))
        else:
            row[i], row[j] = row[j], row[i]
    reason = verdict("feature-rank", V["unsat-5"]["parameters"], "unsat-lrat", witness)
    assert (reason == "") is hints_followed(proof, sign_clauses(tables.STABLE, 2, 5)[1]), reason


def test_every_step_and_every_hint_of_the_refutation_counts() -> None:
    """Any one left out: refused. So the kernel looks at each."""
    proof = V["unsat-5"]["witness"]["proof"]
    changes = [[*proof[:k], *proof[k + 1 :]] for k in range(len(proof))]
    for k, (literals, hints) in enumerate(proof):
        for i in range(len(hints)):
            changes.append([*proof[:k], [literals, hints[:i] + hints[i + 1 :]], *proof[k + 1 :]])
    for changed in changes:
        witness = {**V["unsat-5"]["witness"], "proof": changed}
        assert verdict("feature-rank", V["unsat-5"]["parameters"], "unsat-lrat", witness)


@pytest.mark.parametrize("rank", [2, 3])
def test_satisfiable_clauses_have_no_refutation(rank: int) -> None:
    """The clauses of four elements at rank 2 and of five at rank 3 can be met (heads of rank m - 2 have such signs)."""
    pairs = [0b0011, 0b0101, 0b1001, 0b0110, 0b1010] if rank == 2 else tables.STABLE
    with pytest.raises(ValueError, match="can be satisfied"):
        oracle.refute(sign_clauses(pairs, rank, rank + 2)[1])


# ------------------------------------------------------------------------------------------- heads that exist


@st.composite
def tables_near_the_edge(draw: st.DrawFn) -> tuple[int, int, Fraction, list[list[int]], list[list[int]]]:
    """Constant-row heads and softmin heads with a few features nudged, or small features at random."""
    m, n, eps = draw(st.integers(1, 3)), draw(numbers), draw(epsilons)
    size = 1 << m
    kind = draw(st.sampled_from(["constant", "softmin", "random"]))
    if kind == "constant":
        top = draw(st.integers(1, 3))
        queries = [[1]] * size
        keys = [[top ** (m - z.bit_count()) * 16] for z in range(size)]
    elif kind == "softmin":
        base = draw(st.integers(1, 12))
        queries = [[int(x == y) for y in range(size)] for x in range(size)]
        keys = [[base ** (m - (y & z).bit_count()) for y in range(size)] for z in range(size)]
    else:
        rank = draw(st.integers(1, 2))
        rows = st.lists(st.integers(-1, 4), min_size=rank, max_size=rank)
        queries = draw(st.lists(rows, min_size=size, max_size=size))
        keys = draw(st.lists(rows, min_size=size, max_size=size))
    keys = [list(row) for row in keys]
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(keys))
        row[draw(st.integers(0, len(row) - 1))] += draw(st.sampled_from([-1, 1, 2, -(5**m)]))
    return m, n, eps, queries, keys


@settings(max_examples=300)
@given(tables_near_the_edge())
def test_table_rule_decides_b0_on_the_whole_matrix(case: Any) -> None:
    """Accepted exactly if no query and no two tokens break B0; refused at the same query."""
    m, n, eps, queries, keys = case
    witness = {"queries": queries, "keys": keys}
    parameters = {"m": m, "n": n, "eps": eps, "rank": len(keys[0])}
    reason = verdict("head-exists", parameters, "table-head", witness)
    fault = oracle.broken(oracle.table_matrix(witness), n, eps)
    assert (reason == "") is (fault == ""), (reason, fault)
    if fault:
        assert fault.split("the query ")[1].split()[0] == reason.removeprefix("query ").split(":")[0]


def test_table_rule_on_each_single_feature_near_its_limit() -> None:
    """The rank-one head of two bits (17, 16, 16, 16): each key moved by small steps, against the whole matrix."""
    seen = set()
    for z in range(4):
        for step in range(-17, 3):
            witness = copy.deepcopy(V["table-rank-1-m2"]["witness"])
            witness["keys"][z][0] += step
            fault = oracle.broken(oracle.table_matrix(witness), 3, HALF)
            reason = verdict("head-exists", V["table-rank-1-m2"]["parameters"], "table-head", witness)
            assert (reason == "") is (fault == ""), (z, step)
            seen.add((z, fault == ""))
    assert len(seen) == 8


@st.composite
def class_heads(draw: st.DrawFn) -> tuple[int, Fraction, dict[str, Any]]:
    """One or two blocks, at most four bits: alpha = own + h - l plus small multiples of the listed monomials, a scale
    near a power, some classes one-hot."""
    blocks = draw(st.sampled_from([[1], [2], [3], [4], [1, 1], [2, 1], [1, 2]]))
    n, eps = draw(st.sampled_from([3, 3, 4])), draw(st.sampled_from([HALF, HALF, Fraction(1, 3)]))
    m, zero, most = sum(blocks), [0] * len(blocks), draw(st.integers(1, 2))
    degrees = [list(d) for d in product(range(3), repeat=len(blocks)) if sum(d) <= min(most, m)]
    base = draw(st.sampled_from([Fraction(1), Fraction(4, 5), Fraction(2, 3)]))
    scale = [base**w * draw(st.sampled_from([1, 1, 1, Fraction(99, 100)])) for w in range(m + 1)]
    polynomials = {}
    for sizes in product(*(range(b + 1) for b in blocks)):
        if draw(st.integers(0, 5)) == 0:
            continue
        own = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(4, 3), Fraction(133, 100), Fraction(0)]))
        listed = [{"l": zero, "w": zero, "coefficient": own + sum(sizes)}]
        for i in range(len(blocks)):
            unit = [int(i == j) for j in range(len(blocks))]
            listed.append({"l": unit, "w": zero, "coefficient": Fraction(-1)})
        if draw(st.booleans()):
            degree = draw(st.sampled_from(degrees))
            left = [draw(st.integers(0, k)) for k in degree]
            right = [k - i for k, i in zip(degree, left, strict=True)]
            grain = draw(st.sampled_from([Fraction(1, 20), Fraction(-1, 20), Fraction(1, 1000), Fraction(1, 3)]))
            listed.append({"l": left, "w": right, "coefficient": grain})
        polynomials[",".join(map(str, sizes))] = listed
    return n, eps, {"blocks": blocks, "degrees": degrees, "scale": scale, "polynomials": polynomials}


@settings(max_examples=300)
@given(class_heads())
def test_class_rule_decides_b0_on_the_whole_matrix(case: tuple[int, Fraction, dict[str, Any]]) -> None:
    """All 4^m kernel values by the definition: accepted exactly if B0 holds for all of them, and the number of features
    that the rule counts is at least the rank of the matrix, by elimination."""
    n, eps, witness = case
    m = sum(witness["blocks"])
    counted = sum(math.prod(map(math.comb, witness["blocks"], d)) for d in witness["degrees"])
    for sizes in product(*(range(b + 1) for b in witness["blocks"])):
        if ",".join(map(str, sizes)) not in witness["polynomials"]:
            counted += math.prod(map(math.comb, witness["blocks"], sizes))
    matrix = oracle.class_matrix(m, n, eps, spell(witness))
    fault = oracle.broken(matrix, n, eps)
    parameters = {"m": m, "n": n, "eps": eps, "rank": counted}
    reason = verdict("head-exists", parameters, "class-head", witness)
    assert (reason == "") is (fault == ""), (reason, fault)
    assert rank_of(matrix) <= counted
    if not fault and counted > 1:
        less = verdict("head-exists", {**parameters, "rank": counted - 1}, "class-head", witness)
        assert less == f"the head has {counted} features, the claim says {counted - 1}"


def matrix_of(name: str) -> oracle.Matrix:
    p, witness, rule = V[name]["parameters"], V[name]["witness"], V[name]["rule"]
    if rule == "hamming-head":
        return oracle.hamming_matrix(p["m"], witness)
    return (
        oracle.table_matrix(witness)
        if rule == "table-head"
        else oracle.class_matrix(p["m"], p["n"], rational(p["eps"]), witness)
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, fields in V.items()
        if fields["rule"] in ("class-head", "table-head", "hamming-head") and fields["parameters"]["m"] <= 5
    ],
)
def test_valid_heads_have_their_rank_and_a_correct_readout(name: str) -> None:
    """The matrix has at most the claimed rank; for few bits, the readout of B0's proof is right on every sequence."""
    p = V[name]["parameters"]
    m, n, eps = p["m"], p["n"], rational(p["eps"])
    matrix = matrix_of(name)
    assert oracle.broken(matrix, n, eps) == ""
    assert rank_of(matrix) <= p["rank"]
    if m * min(n, 3) > 9:
        return
    delta = Fraction(1, 10**12)

    def g(x: int, z: int) -> Fraction:
        """P(z)/alpha(x,z) of claims/domination.py."""
        alpha, level, h = matrix[x][z], (x & z).bit_count(), x.bit_count()
        return (alpha * (level - eps) - matrix[x][x] * Fraction(h - level, n - 1) + delta) / alpha if alpha else alpha

    assert correct_up_to(Head(m, lambda x, z: matrix[x][z], g), n if m <= 2 and n <= 3 else 3, eps)


def test_the_edge_of_the_symmetric_head() -> None:
    """alpha = own + 4 - l on four bits: right exactly below own = 4/3, at any distance from it."""
    for k in (1, 3, 30):
        for sign in (-1, 0, 1):
            fields = tables.symmetric(4, Fraction(4, 3) + Fraction(sign, 10**k), 4)
            reason = verdict("head-exists", fields["parameters"], "class-head", fields["witness"])
            assert (reason == "") is (sign < 0), reason


WEIGHTS = weights_tables.valid()


@settings(max_examples=400)
@given(st.sampled_from(sorted(WEIGHTS)), st.data())
def test_weight_rule_decides_b0_on_all_tokens(name: str, draw: st.DataObject) -> None:
    """One to three numbers of a valid witness changed, the length or the rank too: the kernel, by classes, and the
    oracle, token by token, agree."""
    parameters, witness = copy.deepcopy(WEIGHTS[name]["parameters"]), copy.deepcopy(WEIGHTS[name]["witness"])
    lists = [*witness["slopes"], *witness["functions"], *witness["coefficients"], *witness["points"]]
    for _ in range(draw.draw(st.integers(0, 3))):
        row = draw.draw(st.sampled_from(lists))
        place = draw.draw(st.integers(0, len(row) - 1))
        factor = draw.draw(
            st.sampled_from([Fraction(99, 100), Fraction(101, 100), Fraction(9, 10), Fraction(2), -1, 0])
        )
        row[place] = rational(row[place]) * factor if isinstance(row[place], str) else row[place] * factor
    parameters["n"] = draw.draw(st.sampled_from([3, 3, 3, 4]))
    parameters["rank"] = max(1, parameters["rank"] + draw.draw(st.sampled_from([0, 0, 0, -1, 1])))
    fault, _ = oracle.head_exists(spell(parameters), "weight-head", spell(witness), None)
    assert (verdict("head-exists", parameters, "weight-head", witness) == "") is (fault == ""), fault


# ------------------------------------------------------------------------------------------ the Hamming distance


def hamming_condition(m: int, n: int, eps: Fraction, witness: dict[str, Any]) -> bool:
    """The kernel's condition, by min and max over the windows of distances."""
    base, coefficients = rational(witness["base"]), [rational(c) for c in witness["coefficients"]]
    f = [base**d * oracle.by_distance(coefficients, d) for d in range(m + 1)]
    return min(f) > 0 and all(
        2 * eps * (n - 1) * base ** (-2 * d) * min(f[d:])
        > (n - 1) * (n - 2) * (d - 2 * eps) * max(f[: m - d + 1])
        + max(Fraction(0), (n - 2) * d - 2 * eps * (n - 1)) * f[0]
        for d in range(1, m + 1)
    )


@st.composite
def hamming_heads(draw: st.DrawFn, most: int = 4) -> tuple[int, int, Fraction, dict[str, Any]]:
    """Near the edge: the first terms of the softmin head sum (1/b - 1)^k C(d, k), a constant, or small numbers; then a
    coefficient moved a little."""
    m, n, eps = draw(st.integers(1, most)), draw(numbers), draw(epsilons)
    base = draw(st.sampled_from([Fraction(1), *(Fraction(k, 10) for k in range(1, 10)), Fraction(99, 100)]))
    count = draw(st.integers(1, m + 1))
    kind = draw(st.sampled_from(["softmin", "softmin", "small"]))
    if kind == "softmin":
        share = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(9, 10), Fraction(2, 3)]))
        coefficients = [(share * (1 / base - 1)) ** k for k in range(count)]
    else:
        coefficients = [Fraction(draw(st.integers(-4, 12)), 4) for _ in range(count)]
    if draw(st.booleans()):
        place = draw(st.integers(0, count - 1))
        coefficients[place] += draw(st.sampled_from([Fraction(s, g) for s in (-1, 1) for g in (2, 20, 10**6)]))
    return m, n, eps, {"base": base, "coefficients": coefficients}


@settings(max_examples=400)
@given(hamming_heads())
def test_hamming_rule_decides_its_condition_and_this_suffices(case: tuple[int, int, Fraction, dict[str, Any]]) -> None:
    """Accepted exactly if the condition holds; then all 4^m kernel values, by the definition, satisfy B0, and there are
    at least as many features as the rank of the matrix, by elimination."""
    m, n, eps, witness = case
    counted = sum(math.comb(m, k) for k in range(len(witness["coefficients"])))
    parameters = {"m": m, "n": n, "eps": eps, "rank": counted}
    reason = verdict("head-exists", parameters, "hamming-head", witness)
    assert (reason == "") is hamming_condition(m, n, eps, spell(witness)), reason
    matrix = oracle.hamming_matrix(m, spell(witness))
    exact = rank_of(matrix)
    assert exact == oracle.hamming_rank(m, spell(witness)) <= counted
    assert (oracle.broken(matrix, n, eps) == "") is (oracle.hamming_broken(m, n, eps, spell(witness)) == "")
    if reason == "":
        assert oracle.broken(matrix, n, eps) == ""
        if counted > 1:
            less = verdict("head-exists", {**parameters, "rank": counted - 1}, "hamming-head", witness)
            assert less == f"the head has {counted} features, the claim says {counted - 1}"


@settings(max_examples=150)
@given(hamming_heads(11))
def test_hamming_rule_on_more_bits(case: tuple[int, int, Fraction, dict[str, Any]]) -> None:
    """By classes of queries and tokens: what is accepted satisfies B0 and has at most the rank that is counted."""
    m, n, eps, witness = case
    counted = sum(math.comb(m, k) for k in range(len(witness["coefficients"])))
    reason = verdict("head-exists", {"m": m, "n": n, "eps": eps, "rank": counted}, "hamming-head", witness)
    assert (reason == "") is hamming_condition(m, n, eps, spell(witness)), reason
    assert oracle.hamming_rank(m, spell(witness)) <= counted
    if reason == "":
        assert oracle.hamming_broken(m, n, eps, spell(witness)) == ""


def test_hamming_rule_accepts_and_refuses_often() -> None:
    """So that the two properties above are not one-sided: 1 + c d and (1 + c d + c^2 C(d,2)) on a grid."""
    outcomes = Counter()
    for m, n, eps, k in product((1, 2, 4), (3, 5), (HALF, Fraction(1, 3)), range(2, 21, 2)):
        for c in (Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(3)):
            base = Fraction(k, 20)
            for count in range(1, min(m, 2) + 2):
                witness = {"base": base, "coefficients": [c**i for i in range(count)]}
                reason = verdict("head-exists", {"m": m, "n": n, "eps": eps, "rank": 99}, "hamming-head", witness)
                fault = oracle.hamming_broken(m, n, eps, spell(witness))
                assert reason or not fault, witness
                outcomes[reason == "", fault == ""] += 1
    assert outcomes[True, True] > 150
    assert outcomes[False, False] > 150


@pytest.mark.parametrize("m", range(1, 7))
def test_the_degree_bounds_the_rank_and_is_attained(m: int) -> None:
    """A random polynomial of each degree has the full rank sum C(m, k), by elimination: the count cannot be smaller."""
    rng = Random(m)
    for degree in range(m + 1):
        coefficients = [Fraction(rng.randint(1, 50), rng.randint(1, 9)) for _ in range(degree + 1)]
        witness = spell({"base": Fraction(3, 4), "coefficients": coefficients})
        counted = sum(math.comb(m, k) for k in range(degree + 1))
        assert oracle.hamming_rank(m, witness) == counted
        if m <= 5:
            assert rank_of(oracle.hamming_matrix(m, witness)) == counted


def test_the_edge_of_the_linear_hamming_head() -> None:
    """(1/2)^d (1 + c d) on four bits: right exactly for c > 0, at any distance from it."""
    for k in (1, 3, 30):
        for sign in (-1, 0, 1):
            fields = tables.hamming_edge(Fraction(sign, 10**k))
            reason = verdict("head-exists", fields["parameters"], "hamming-head", fields["witness"])
            assert (reason == "") is (sign > 0), reason


# --------------------------------------------------------------------------------------------- sampled features


@settings(max_examples=200)
@given(numbers, epsilons, st.data())
def test_sampling_rule_is_b0_for_the_worst_rows(n: int, eps: Fraction, draw: st.DataObject) -> None:
    """The kernel and the oracle, which tries the extreme values of every row, agree on rho, eta, c0 and last; where
    the kernel is stricter, it says that the gaps beyond `last` are not covered."""
    rate = max((float(mu(n, d, eps)) ** (1 / d) for d in range(1, 60) if mu(n, d, eps) > 0), default=1.0)
    rho = Fraction(round(rate * draw.draw(st.sampled_from([0.99, 0.999, 1.001, 1.01, 1.1, 1.5])) * 1000), 1000)
    eta = Fraction(1, draw.draw(st.sampled_from([4, 16, 64, 256, 1024, 10**5])))
    c0 = 1 - draw.draw(st.sampled_from([HALF, Fraction(2, 3), Fraction(1, 8), eta, eta / 256, Fraction(-1, 9)]))
    last = draw.draw(st.sampled_from([2, 5, 12, 40]))
    parameters, witness = {"n": n, "eps": eps, "rho": rho, "eta": eta}, {"c0": c0, "last": last}
    reason = verdict("upper-exponent", parameters, "upper-exponent", witness)
    fault = oracle.sampling(n, eps, rho, eta, c0, last)
    if reason.endswith("is not covered"):
        growing = c0 * (1 - mu(n, last, eps)) + (Fraction((n - 2) * last, n - 1) / (2 * eps) - 1) * (1 - c0) > 0
        assert growing or c0 * (n - 1) < 1 - c0 or 1 + 1 / (last - 2 * eps) > rho
    else:
        assert (reason == "") is (fault == ""), (reason, fault)


@pytest.mark.parametrize("name", ["sampled-100", "sampled-3-n4"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_within_the_factor_satisfy_b0(name: str, seed: int) -> None:
    """Heads on four bits whose subset sums are anywhere within 1 +- eta of rho^|S|: what the rule says of all samples
    that concentrate."""
    p, w = V[name]["parameters"], V[name]["witness"]
    rho, eta, c0 = (rational(w[key]) for key in ("rho", "eta", "c0"))
    rng = Random(seed)
    sums = [Fraction(1)] + [
        rho ** s.bit_count() * (1 + eta * rng.choice([-1, 1, Fraction(rng.randint(-9, 9), 10)])) for s in range(1, 16)
    ]
    matrix = [[sums[x & ~z] - c0 for z in range(16)] for x in range(16)]
    assert oracle.broken(matrix, p["n"], rational(p["eps"])) == ""


@pytest.mark.parametrize("rho", [Fraction(3, 2), Fraction(13, 10)])
def test_moments_of_the_sampled_sum(rho: Fraction) -> None:
    """Over all samples of a small cube: the mean is rho^|S|, a random term is at most rho^|S|/(cm), the variance at
    most rho^(2|S|)/(cm), and the expected number of features at most cm (2 - 1/rho)^m."""
    for m, c in ((1, Fraction(2)), (3, Fraction(2)), (5, Fraction(1, 2)), (6, Fraction(1, 4))):
        keep = [min(Fraction(1), c * m * (1 - 1 / rho) ** k) for k in range(m + 1)]
        assert sum(math.comb(m, k) * p for k, p in enumerate(keep)) <= c * m * (2 - 1 / rho) ** m
        for s in range(m + 1):
            terms = [(math.comb(s, k), keep[k], (rho - 1) ** k / keep[k]) for k in range(s + 1)]
            assert sum(count * p * value for count, p, value in terms) == rho**s
            assert all(value <= rho**s / (c * m) for _, p, value in terms if p < 1)
            assert sum(count * p * (1 - p) * value**2 for count, p, value in terms) <= rho ** (2 * s) / (c * m)


def test_union_bound_of_the_sampled_sum() -> None:
    """2 (2^m - 1) exp(-3m/2) < 1/2, as (2^m - 1) e^(-3m/2) <= x^m - x^m/2^m with x = 2/e^(3/2) < 0.4463 < 1/2; and
    eta < 1 makes eta^2 c m/(2 + 2 eta/3) at least 3m/2 where c = 4/eta^2."""
    e = sum(Fraction(1, math.factorial(k)) for k in range(30))
    x = Fraction(44_627, 100_000)
    assert (x * x) * e**3 > 4 > (x - Fraction(1, 10**4)) ** 2 * e**3
    for m in range(1, 60):
        assert 2 * (x**m - (x / 2) ** m) < HALF
    assert all(
        4 / (2 + Fraction(2, 3) * eta) > Fraction(3, 2) for eta in (Fraction(1, 10**9), HALF, Fraction(999, 1000))
    )
