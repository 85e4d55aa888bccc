"""Class heads and Hamming heads made explicit: features, exact ranks, B0 for every query, and the definition of Min-IP
for small m."""

import json
from fractions import Fraction
from math import comb, lcm
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.bounds import best, hamming, heads
from proofcheck.certificate import certify, spell
from proofcheck.domination import readout
from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.exact import Rejected, canonical
from proofcheck.kernel.minip import Head, correct_up_to
from proofcheck.rank import exact_rank
from proofcheck.theorems.bundle import foundation

from .realise import decided, realised

HALF = Fraction(1, 2)
BASE = Fraction(4, 5)


def one_hot(m, n, eps):
    witness = {"blocks": [m], "degrees": [], "scale": [1] * (m + 1), "polynomials": {}}
    return heads.certified(m, n, eps, 1 << m, witness, "test")


def degree(m, d, n=3, eps=HALF, base=BASE, above=None):
    return heads.certificate(heads.total_degree(m, d, base), n, eps, "test", above)


def blocks(a, b, n=3, eps=HALF, base=BASE, above=None):
    return heads.certificate(heads.product_degrees((a, b), (1, 1), 2, base), n, eps, "test", above)


def distance(m, d, n=3, eps=HALF, base=BASE):
    return hamming.certificate(m, d, base, n, eps, "test")


# name: (certificate, its rank)
SMALL = {
    "degree 0, m=1": (lambda: degree(1, 0), 1),
    "degree 0, m=2": (lambda: degree(2, 0), 1),
    "degree 0, m=3": (lambda: degree(3, 0, base=Fraction(7, 10)), 1),
    "degree 1, m=2": (lambda: degree(2, 1), 3),
    "degree 1, m=3": (lambda: degree(3, 1), 4),
    "degree 1, m=3, n=5": (lambda: degree(3, 1, n=5), 4),
    "degree 1, m=3, eps=1/4": (lambda: degree(3, 1, eps=Fraction(1, 4)), 4),
    "degree 1 and one-hot, m=3": (lambda: degree(3, 1, above=1), 4 + 3 + 1),
    "one-hot, m=3": (lambda: one_hot(3, 3, HALF), 8),
    "one-hot, m=3, eps=1/5": (lambda: one_hot(3, 4, Fraction(1, 5)), 8),
    "symmetric degree 1, m=3": (lambda: heads.symmetric(3, 1, 3, HALF, "test"), 4),
    "symmetric degree 2 and one-hot, m=3": (lambda: heads.symmetric(3, 2, 3, Fraction(1, 4), "test", 2), 8),
    "blocks 2+1": (lambda: blocks(2, 1), 6),
    "blocks 1+1+1, degree 2": (
        lambda: heads.certificate(heads.product_degrees((1, 1, 1), (1, 1, 1), 2, BASE), 3, HALF, "test"),
        7,
    ),
    "Hamming degree 0, m=1": (lambda: distance(1, 0), 1),
    "Hamming degree 0, m=3": (lambda: distance(3, 0, base=Fraction(7, 10)), 1),
    "Hamming degree 1, m=2, n=5": (lambda: distance(2, 1, n=5, base=Fraction(1, 2)), 3),
    "Hamming degree 1, m=3, eps=1/3": (lambda: distance(3, 1, eps=Fraction(1, 3), base=Fraction(1, 2)), 4),
    "Hamming degree 2, m=3, n=4": (lambda: distance(3, 2, n=4, base=Fraction(1, 2)), 7),
}
LARGER = {
    "degree 1, m=4": (lambda: degree(4, 1), 5),
    "degree 1, m=5": (lambda: degree(5, 1), 6),
    "degree 1, m=6": (lambda: degree(6, 1), 7),
    "degree 1 and one-hot, m=6": (lambda: degree(6, 1, above=4), 7 + 6 + 1),
    "degree 2, m=5, n=4": (lambda: degree(5, 2, n=4), 16),
    "blocks 2+2": (lambda: blocks(2, 2), 9),
    "blocks 3+3": (lambda: blocks(3, 3), 16),
    "blocks 4+2 and one-hot": (lambda: blocks(4, 2, above=5), 15 + 1),
    "blocks 3+2, n=4": (lambda: blocks(3, 2, n=4), 12),
    "symmetric degree 1, m=5": (lambda: heads.symmetric(5, 1, 3, HALF, "test"), 6),
    "symmetric degree 1 and one-hot, m=6": (lambda: heads.symmetric(6, 1, 3, HALF, "test", 5), 7 + 1),
    "symmetric degree 2, m=6": (lambda: heads.symmetric(6, 2, 3, HALF, "test"), 22),
    "symmetric degree 3, m=5, n=8": (lambda: heads.symmetric(5, 3, 8, HALF, "test"), 26),
    "Hamming degree 1, m=5": (lambda: distance(5, 1, base=Fraction(3, 5)), 6),
    "Hamming degree 1, m=8": (lambda: distance(8, 1, base=Fraction(7, 10)), 9),
    "Hamming degree 2, m=6, n=4": (lambda: distance(6, 2, n=4, base=Fraction(1, 2)), 22),
    "Hamming degree 3, m=5, eps=1/4": (lambda: distance(5, 3, eps=Fraction(1, 4), base=Fraction(1, 2)), 26),
    "one-hot, m=4, n=7": (lambda: one_hot(4, 7, HALF), 16),
}


def parameters(certificate):
    p = certificate.parameters
    return p["m"], p["n"], Fraction(p["eps"]), int(p["rank"])


@pytest.mark.parametrize("name", [*SMALL, *LARGER])
def test_explicit_features_have_the_stated_rank_and_decide_every_query(name):
    make, rank = (SMALL | LARGER)[name]
    certificate = make()
    _, n, eps, claimed = parameters(certificate)
    assert claimed == rank
    assert certificate.verdict.assumed == []
    features = realised(certificate)
    assert features.size == rank
    matrix = features.matrix()
    assert exact_rank(matrix) <= rank
    assert decided(matrix, n, eps) is None


@pytest.mark.parametrize("name", list(SMALL))
def test_small_heads_meet_the_definition_on_every_sequence(name):
    """The readout of B0's proof; lengths 1..n for m <= 2, and up to 3 otherwise."""
    certificate = SMALL[name][0]()
    m, n, eps, _ = parameters(certificate)
    alpha = realised(certificate).matrix()
    g = []
    for x, row in enumerate(alpha):
        tokens = {z: ((x & z).bit_count(), Fraction(value)) for z, value in enumerate(row) if z != x}
        found = readout(n, eps, x.bit_count(), Fraction(row[x]), tokens)
        g.append([found.own if z == x else found.g[z] for z in range(1 << m)])
    head = Head(m, lambda x, z: alpha[x][z], lambda x, z: g[x][z])
    assert correct_up_to(head, n if m <= 2 else 3, eps)


@pytest.mark.parametrize("name", [name for name in SMALL | LARGER if name.startswith("Hamming")])
def test_hamming_features_give_the_kernel_of_the_definition(name):
    """base^(|z|-|x|) sum c_k C(d, k) at all pairs of tokens, and exactly the rank that is counted."""
    make, rank = (SMALL | LARGER)[name]
    certificate = make()
    m, _, _, claimed = parameters(certificate)
    witness = json.loads(certificate.data)["witness"]
    base, coefficients = Fraction(witness["base"]), [Fraction(c) for c in witness["coefficients"]]
    matrix = realised(certificate).matrix()
    for x in range(1 << m):
        for z in range(1 << m):
            q = sum(c * comb((x ^ z).bit_count(), k) for k, c in enumerate(coefficients))
            assert matrix[x][z] == base ** (z.bit_count() - x.bit_count()) * q
    assert exact_rank(matrix) == claimed == rank


# ------------------------------------------------------------------------------------------ forged heads


def forged(certificate, change):
    fields = json.loads(certificate.data)
    change(fields)
    known = {f.id: f.report for f in (foundation("domination-sufficient")[1], foundation("softmin")[1])}
    return check(Certificate(canonical(spell(fields))), known)


def nudge(name, i, factor):
    def change(fields):
        term = fields["witness"]["polynomials"][name][i]
        term["coefficient"] = Fraction(term["coefficient"]) * factor

    return change


def without(name):
    return lambda fields: fields["witness"]["polynomials"].pop(name)


def witness(**fields):
    return lambda whole: whole["witness"].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f["parameters"].update(rank=6), "the head has 7 features, the claim says 6"),
        (without("3"), "the head has 27 features, the claim says 7"),
        (nudge("4", 0, Fraction(1, 2)), "query 4: .*violate B0|query 4: .*not positive"),
        (nudge("6", 0, -1), "query 6"),
        (witness(degrees=[[0]]), "are not among the listed ones"),
        (witness(degrees=[[1]]), "without its smaller neighbour"),
        (witness(blocks=[3, 3]), "degrees|tuples of 2"),
        (witness(blocks=[5]), "blocks"),
        (witness(scale=[1] * 6), "expected 7 positive numbers"),
        (witness(scale=[0] * 7), "expected 7 positive numbers"),
        (lambda f: f["witness"]["polynomials"].update({"7": []}), "is no class of queries"),
        (lambda f: f["witness"]["polynomials"].update({"6": []}), "query 6: .*not positive"),
        (lambda f: f["parameters"].update(m=7), "the claim has 7"),
        (lambda f: f["parameters"].update(n=5), "violate B0|not positive"),
        (lambda f: f["parameters"].update(eps="1/9"), "violate B0|not positive"),
    ],
)
def test_forged_class_heads(change, message):
    with pytest.raises(Exception, match=message):
        forged(degree(6, 1), change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f["parameters"].update(rank=6), "the head has 7 features, the claim says 6"),
        (lambda f: f["witness"]["coefficients"].append(0), "the head has 22 features, the claim says 7"),
        (lambda f: f["witness"]["coefficients"].pop(), "gap . violates B0"),
        (witness(base="19/20"), "gap . violates B0"),
        (witness(base="21/20"), "expected 0 < base <= 1"),
        (witness(coefficients=[1, Fraction(-1, 6)]), r"f\(6\) is not positive"),
        (lambda f: f["parameters"].update(n=5), "gap . violates B0"),
        (lambda f: f["parameters"].update(eps="1/9"), "gap . violates B0"),
        (lambda f: f["parameters"].update(m=12, rank=13), "gap . violates B0"),
    ],
)
def test_forged_hamming_heads(change, message):
    with pytest.raises(Rejected, match=message):
        forged(distance(6, 1, base=Fraction(7, 10)), change)


def test_forgery_changes_something():
    """The unchanged certificate, and one with a larger rank than needed, pass the same path."""
    assert forged(degree(6, 1), lambda fields: None).assumed == []
    assert forged(degree(6, 1), lambda fields: fields["parameters"].update(rank=9)).assumed == []
    assert forged(distance(6, 1, base=Fraction(7, 10)), lambda fields: None).assumed == []
    assert forged(distance(6, 1, base=Fraction(7, 10)), lambda f: f["parameters"].update(rank=9)).assumed == []


def test_one_value_nudged_across_eps():
    """A level-symmetric head scaled to the edge of B0 at one pair of levels: just inside passes, on the edge fails."""

    # m = 2, n = 3, eps = 1/2: alpha(0) > alpha(z) at gap 2, mu(2) = 1 and d/2 - 1 = 0; own value 1.
    def kernel(value):
        witness = {
            "blocks": [2],
            "degrees": [[0], [1]],
            "scale": [1, 1, 1],
            "polynomials": {
                "0": [{"l": [0], "w": [0], "coefficient": 1}],
                "1": [{"l": [0], "w": [0], "coefficient": 1}],
                "2": [
                    {"l": [0], "w": [0], "coefficient": value},
                    {"l": [1], "w": [0], "coefficient": (1 - value) / 2},
                ],
            },
        }
        return heads.certified(2, 3, HALF, 3, witness, "test")

    assert kernel(Fraction(10**9 + 1, 10**9)) is not None
    assert kernel(Fraction(1)) is None
    assert kernel(Fraction(10**9 - 1, 10**9)) is None


# ------------------------------------------------------------------------------------------ tables


def table(m, n, eps, queries, keys):
    uses = [foundation("domination-sufficient")[1]]
    parameters = {"m": m, "n": n, "eps": eps, "rank": len(keys[0])}
    witness = {"queries": queries, "keys": keys}
    return certify("head-exists", parameters, "table-head", witness, command="test", uses=uses)


@st.composite
def tables(draw):
    """Integer features near the edge: powers of the softmin kernel or a constant kernel, with a few entries changed; or
    small entries at random."""
    m, n = draw(st.integers(1, 3)), draw(st.integers(3, 5))
    eps = draw(st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 10)]))
    size = 1 << m
    if draw(st.booleans()):
        base = draw(st.integers(1, 12))
        queries = [[int(x == y) for y in range(size)] for x in range(size)]
        keys = [[base ** (m - (y & z).bit_count()) for y in range(size)] for z in range(size)]
    else:
        r = draw(st.integers(1, 2))
        rows = st.lists(st.integers(-1, 4), min_size=r, max_size=r)
        queries = draw(st.lists(rows, min_size=size, max_size=size))
        keys = draw(st.lists(rows, min_size=size, max_size=size))
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(keys))
        row[draw(st.integers(0, len(row) - 1))] += draw(st.sampled_from([-1, 1, 2, -(5**m)]))
    return m, n, eps, queries, keys


@settings(max_examples=150, deadline=None)
@given(tables())
def test_the_kernel_agrees_with_domination_on_tables(case):
    _, n, eps, queries, keys = case
    matrix = [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]
    first = decided(matrix, n, eps)
    if first is None:
        assert table(*case).verdict.assumed == []
    else:
        with pytest.raises(Rejected, match=f"^query {first:b}: "):
            table(*case)


@pytest.mark.parametrize("value", [6, 7, 50])
def test_tables_decide_both_ways(value):
    """So that the comparison above is not one-sided: softmin with base `value` at m = 3, n = 3, eps = 1/2."""
    queries = [[int(x == y) for y in range(8)] for x in range(8)]
    keys = [[value ** (3 - (y & z).bit_count()) for y in range(8)] for z in range(8)]
    keys[0][7] = 1  # the query 111 must prefer the empty token
    with pytest.raises(Rejected, match=r"query 111: .*violate B0"):
        table(3, 3, HALF, queries, keys)
    keys[0][7] = value**3
    assert table(3, 3, HALF, queries, keys).verdict.assumed == []


def test_a_class_head_as_a_table():
    """The features of a class head, cleared of denominators, pass as a table; with one feature less they do not."""
    features = realised(degree(4, 1))
    whole = []
    for rows in (features.queries, features.keys):
        common = lcm(*(Fraction(q).denominator for row in rows for q in row))
        whole.append([[int(q * common) for q in row] for row in rows])
    queries, keys = whole
    assert table(4, 3, HALF, queries, keys).verdict.assumed == []
    with pytest.raises(Rejected, match=r"^query "):
        table(4, 3, HALF, [row[:-1] for row in queries], [row[:-1] for row in keys])


@pytest.mark.parametrize(
    ("queries", "keys", "message"),
    [
        ([[1]], [[1], [1]], "witness.queries: expected 2 rows, got 1"),
        ([[1], [1]], [[1]], "witness.keys: expected 2 rows, got 1"),
        ([[1], [1, 1]], [[1], [1]], r"witness.queries\[1\]: expected 1 features, got 2"),
        ([[1], ["1"]], [[1], [1]], r"witness.queries\[1\]\[0\]: expected an integer"),
        ([[1], [2**256]], [[1], [1]], "at most 256 bits"),
    ],
)
def test_malformed_tables(queries, keys, message):
    with pytest.raises(Exception, match=message):
        table(1, 3, HALF, queries, keys)


# ------------------------------------------------------------------------------------------ known ranks


@pytest.mark.parametrize(("m", "rank"), [(10, 11), (12, 24)])
def test_known_upper_bounds(m, rank):
    bound = best.upper_bound(m, 3, HALF, "test")
    assert bound.value <= rank
    assert bound.assumes == []


def test_the_linear_programme_finds_degree_one_up_to_eleven():
    """Prototype: rank m+1 with s = (4/5)^w for m = 2..11; random classes, decided by the kernel."""
    random = Random(5)
    for m in (9, 11):
        shape = heads.total_degree(m, 1, BASE)
        assert shape.rank() == m + 1
        for h in random.sample(range(m + 1), 4):
            assert heads.class_programme(shape, (h,), 3, HALF).programme.proposal(shape.floats()) is not None


def test_powers_of_overlap_is_the_same_polynomial():
    random = Random(3)
    for h in range(7):
        c = [Fraction(random.randint(-9, 9), random.randint(1, 5)) for _ in range(random.randint(1, 5))]
        powers = heads.powers_of_overlap(h, c)
        for level in range(h + 1):
            assert sum(q * level**k for k, q in enumerate(powers)) == sum(
                q * comb(h - level, k) for k, q in enumerate(c)
            )
