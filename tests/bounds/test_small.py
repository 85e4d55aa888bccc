"""Preferences: what the certificates say, and that the clauses hold for real vectors and for kernels that exist."""

import json
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest

from proofcheck.bounds import heads, small
from proofcheck.certificate import spell
from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.exact import Malformed, Rejected, canonical
from proofcheck.kernel.rules.ranks import sign_clauses
from proofcheck.solvers import sat

from .realise import determinant, realised

HALF = Fraction(1, 2)
EPSILONS = (HALF, Fraction(1, 4))


def forged(certificate, change):
    """The certificate with its fields changed in place, checked by the kernel with what it rests on."""
    fields = json.loads(certificate.data)
    change(fields)
    known = {use.id: use.report for use in small._rested()}
    return check(Certificate(canonical(spell(fields))), known)


# ------------------------------------------------------------------------------------------ the certificates


@pytest.mark.parametrize("m", range(4, 10))
@pytest.mark.parametrize("eps", EPSILONS)
def test_shattered_pairs(m, eps):
    certificate = small.shattered(m, 3, eps, "test")
    assert certificate.parameters == {"m": m, "n": 3, "eps": f"{eps}", "value": m if eps <= Fraction(1, 4) else m // 2}
    assert certificate.verdict.assumed == []


@pytest.mark.parametrize("ground", sorted(small.REFUTED))
def test_refuted_chirotopes_assume_nothing(ground):
    for n, m in ((3, ground), (17, ground + 3)):
        certificate = small.refuted(m, n, HALF, ground, "test")
        assert int(certificate.parameters["value"]) == small.REFUTED[ground] + 1 == ground - 2
        assert certificate.rule == "unsat-lrat"
        assert certificate.verdict.assumed == []


@pytest.mark.parametrize("m", [1, 2, 3, 4, 9, 1000])
def test_topological_assumes_the_borsuk_ulam_theorem_and_nothing_else(m):
    certificate = small.topological(m, 3, HALF, "test")
    assert int(certificate.parameters["value"]) == max(1, m - 2)
    (assumed,) = certificate.verdict.assumed
    assert "Borsuk-Ulam" in assumed
    with pytest.raises(Rejected, match=f"the argument gives r >= {m - 2}, not {max(1, m - 2) + 1}"):
        forged(certificate, lambda fields: fields["parameters"].update(value=max(1, m - 2) + 1))


def set_in(*path_and_value):
    *path, last, value = path_and_value

    def change(fields):
        for key in path:
            fields = fields[key]
        fields[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("parameters", "value", 4), "do not show 4 features"),
        (set_in("witness", "queries", [3, 12, 12]), "query 1 is not forced|query 2 is not forced"),
        (set_in("witness", "queries", [3, 12, 49]), "query 2 is not forced"),
        (set_in("witness", "keys", 0, [63, 0]), r"witness.keys\[0\]: query 0 is not forced"),
        (set_in("witness", "keys", [[0, 63]]), "3 queries and 1 pairs of keys"),
        (set_in("witness", "keys", 5, [0, 0, 0]), "expected two keys"),
    ],
)
def test_forged_shattering(change, message):
    with pytest.raises(Exception, match=message):
        forged(small.shattered(6, 3, HALF, "test"), change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_in("parameters", "value", 4), "witness.proof|hint"),
        (set_in("witness", "proof", -1, 1, []), "the hints lead to no conflict"),
        (set_in("witness", "proof", -1, 0, [1]), "neither unit nor false|does not end with the empty clause"),
        (set_in("witness", "proof", []), "does not end with the empty clause"),
        (set_in("witness", "proof", 0, 1, 0, 10**6), r"witness.proof\[0\]"),
        (set_in("witness", "pairs", [5, 9, 10, 18]), r"witness.proof\[\d+\]"),
        (set_in("witness", "pairs", [5, 9, 10, 18, 5]), "distinct pairs"),
        (set_in("witness", "pairs", [5, 9, 10, 18, 7]), "distinct pairs"),
        (set_in("witness", "proof", 0, 0, [0]), "0 is no literal"),
        (set_in("witness", "ground", 6), "witness.ground"),
    ],
)
def test_forged_refutations(change, message):
    with pytest.raises(Exception, match=message):
        forged(small.refuted(5, 3, HALF, 5, "test"), change)


def test_every_step_of_a_refutation_counts():
    """Leaving out any one step of the proof breaks it: the proof is trimmed."""
    certificate = small.refuted(5, 3, HALF, 5, "test")
    steps = json.loads(certificate.data)["witness"]["proof"]
    for k in range(len(steps)):
        with pytest.raises((Rejected, Malformed)):
            forged(certificate, lambda fields, k=k: fields["witness"]["proof"].pop(k))


# ------------------------------------------------------------------------------------------ the clauses


def signs(vectors, rank):
    """Variable -> whether the determinant is positive, for all rank-subsets in the kernel's order; None if one is 0."""
    found = [determinant([vectors[i] for i in chosen]) for chosen in combinations(range(len(vectors)), rank)]
    return None if 0 in found else [value > 0 for value in found]


def violated(clauses, values):
    return [clause for clause in clauses if not any(values[abs(e) - 1] == (e > 0) for e in clause)]


@pytest.mark.parametrize(("rank", "size"), [(2, 5), (2, 7), (3, 6), (3, 7), (4, 7), (5, 8)])
def test_real_vectors_satisfy_the_grassmann_pluecker_clauses(rank, size):
    """With ground set [1] the only circuit condition is that all vectors lie on one side of a hyperplane."""
    variable, clauses = sign_clauses(list(range(1, size + 1)), rank, 1)
    assert list(variable) == list(combinations(range(size), rank))
    random = Random(10 * size + rank)
    seen = 0
    while seen < 12:
        vectors = [[random.randint(1, 9), *(random.randint(-9, 9) for _ in range(rank - 1))] for _ in range(size)]
        values = signs(vectors, rank)
        if values is not None:
            seen += 1
            assert violated(clauses, values) == []


def test_sign_patterns_that_are_no_chirotope_are_excluded():
    """Rank 2: the clauses leave exactly the sign patterns of five vectors in a half-plane, one for each order."""
    _, clauses = sign_clauses([1, 2, 3, 4, 5], 2, 1)
    count = sum(not violated(clauses, values) for values in product((False, True), repeat=10))
    assert count == 120


def separator(m, a, b):
    """w with <phi(x), w> > 0 for pairs x inside A, < 0 inside B, for phi({i,j}) = v_i + v_j, v_1 = v_2 = v_3 = e_1 and
    v_i = e_(i-2) for the others: the first coordinate follows whichever of A, B has two of the first three elements."""
    sign = [(a >> i & 1) - (b >> i & 1) for i in range(m)]
    first = next((s for s in (1, -1) if sign[:3].count(s) >= 2), 0)
    return [first, *(2 * s for s in sign[3:])]


def pair_vectors(m, seed):
    """Vectors in R^(m-2) in general position with which every pair (A, B) can be separated, checked exactly: B8's bound
    m - 2 is the best that preferences alone can give."""
    random = Random(seed)
    pairs = [(1 << i) | (1 << j) for i, j in combinations(range(m), 2)]
    vectors = []
    for x in pairs:
        vector = [Fraction(random.randint(-999, 999), 10**5) for _ in range(m - 2)]
        for i in range(m):
            if x >> i & 1:
                vector[max(0, i - 2)] += 1
        vectors.append(vector)
    for a, b in product(range(1 << m), repeat=2):
        if not a & b:
            w = separator(m, a, b)
            for x, vector in zip(pairs, vectors, strict=True):
                value = sum(p * q for p, q in zip(w, vector, strict=True))
                assert x & ~a or value > 0
                assert x & ~b or value < 0
    return pairs, vectors


@pytest.mark.parametrize(("m", "kept"), [(4, 6), (5, 10), (6, 10)])
def test_real_vectors_that_meet_all_preferences_satisfy_all_clauses(m, kept):
    broken = 0
    for seed in range(3):
        pairs, vectors = pair_vectors(m, seed)
        chosen = sorted(Random(seed).sample(range(len(pairs)), kept))
        values = signs([vectors[i] for i in chosen], m - 2)
        assert values is not None
        _, clauses = sign_clauses([pairs[i] for i in chosen], m - 2, m)
        assert violated(clauses, values) == []
        # Negating some vectors keeps Grassmann-Pluecker; as a rule a circuit then forbids what is left.
        for step in (2, 3):
            flipped = [[-q for q in vectors[i]] if k % step else vectors[i] for k, i in enumerate(chosen)]
            broken += bool(violated(clauses, signs(flipped, m - 2)))
    assert broken >= 3


@pytest.mark.parametrize("m", [4, 5])
def test_a_correct_head_satisfies_all_clauses(m):
    """The query features of a head of rank m+1, moved a little into general position; its keys still separate."""
    head = realised(heads.certificate(heads.total_degree(m, 1, Fraction(4, 5)), 3, HALF, "test"))
    pairs = [(1 << i) | (1 << j) for i, j in combinations(range(m), 2)]
    random = Random(m)
    vectors = [[q + Fraction(random.randint(-999, 999), 10**9) for q in head.queries[x]] for x in pairs]
    for a, b in product(range(1 << m), repeat=2):
        if not a & b:
            w = [q - p for p, q in zip(head.keys[a], head.keys[b], strict=True)]
            for x, vector in zip(pairs, vectors, strict=True):
                assert x & ~a or sum(p * q for p, q in zip(w, vector, strict=True)) > 0
    values = signs(vectors, m + 1)
    assert values is not None
    _, clauses = sign_clauses(pairs, m + 1, m)
    assert violated(clauses, values) == []


@pytest.mark.parametrize(("ground", "rank"), [(4, 2), (5, 3), (6, 4)])
def test_one_rank_higher_is_satisfiable(ground, rank):
    """There are real vectors of that rank (see above): a refutation would be unsound."""
    pairs = small.stable_pairs(ground) if ground > 4 else [3, 5, 6, 9, 10, 12]
    _, clauses = sign_clauses(pairs, rank, ground)
    assert sat.refutation("satisfiable", clauses) is None


def test_stable_pairs_are_schrijvers():
    for ground in (5, 6, 7):
        expected = {
            1 << i | 1 << j for i, j in combinations(range(ground), 2) if (j - i) % ground not in (1, ground - 1)
        }
        assert set(small.stable_pairs(ground)) == expected
        assert len(expected) == ground * (ground - 3) // 2
