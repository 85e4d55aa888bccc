"""Families of pairs and Graham-Sloane classes against brute force, and what they add to the other lower bounds."""

from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import codes
from proofcheck.bounds import best, families, layers
from proofcheck.kernel.exact import Rejected

from .test_layers import best_products

HALF = Fraction(1, 2)
# n = 3, eps = 1/2: nothing is assumed, and nothing else that assumes nothing is as good
UNCONDITIONAL = {17: 9, 18: 10, 19: 11, 20: 13, 21: 15, 22: 17, 23: 19, 24: 21, 25: 23, 26: 26, 27: 29, 28: 33}


def brute(pairs, permutations, n, eps):
    """The value from all members and all ordered pairs of them, or 0."""
    everything = [member for pair in pairs for member in images(pair, permutations)]
    if len(set(everything)) < len(everything) or not everything:
        return 0
    w = best_products(n, eps, max(x.bit_count() for x, _ in everything))
    total = Fraction(0)
    for i, (x, y) in enumerate(everything):
        for j, (_, z) in enumerate(everything):
            d = (x & z).bit_count() - (x & y).bit_count()
            if i != j and (d < 1 or w[d] is None):
                return 0
            total += 1 if i == j else 1 / w[d] ** 2
    bound = len(everything) ** 2 / total
    return floor(bound) + 1 if len(everything) > 1 else 1


def images(pair, permutations):
    found, fresh = {pair}, {pair}
    while fresh:
        fresh = {(families.moved(x, g), families.moved(y, g)) for x, y in fresh for g in permutations} - found
        found |= fresh
    return sorted(found)


# ------------------------------------------------------------------------------------------ the integer


@st.composite
def random_families(draw):
    n, eps = draw(st.sampled_from([3, 4, 8])), draw(st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 10)]))
    m = draw(st.integers(3, 7))
    token = st.integers(0, 2**m - 1)
    pair = st.one_of(token.map(lambda x: (x, 2**m - 1 - x)), st.tuples(token, token))
    moves = draw(st.lists(st.permutations(range(m)).map(tuple), max_size=1))
    return n, eps, m, draw(st.lists(pair, min_size=1, max_size=4)), moves


@settings(deadline=None, max_examples=200)
@given(random_families())
def test_the_value_is_that_of_all_pairs_and_the_kernels(case):
    n, eps, m, pairs, moves = case
    value = families.certified(pairs, moves, n, eps)
    assert value == brute(pairs, moves, n, eps)
    family = families.Family("", m, tuple(pairs), tuple(moves), max(1, value))
    if not value:
        with pytest.raises(Rejected):
            families.certificate(m, n, eps, family, "test")
        return
    certificate = families.certificate(m, n, eps, family, "test")
    assert certificate.rule == "family"
    assert not certificate.verdict.assumed
    with pytest.raises(Rejected, match=f"give only r >= {value}, not {value + 1}"):
        families.certificate(m, n, eps, families.Family("", m, tuple(pairs), tuple(moves), value + 1), "test")


def test_the_golay_code_and_its_group():
    words = families.golay()
    assert len(words) == 4096
    weights = [word.bit_count() for word in words]
    assert {w: weights.count(w) for w in set(weights)} == {0: 1, 8: 759, 12: 2576, 16: 759, 24: 1}
    code = set(words)
    assert all(families.moved(word, g) in code for word in words[::50] for g in families.mathieu())
    assert all(a ^ b in code for a in words[::300] for b in words)
    (dodecads,) = families.dodecads(24, 3, HALF)
    assert dodecads.value == 21
    assert len(families.orbit(dodecads.pairs[0], dodecads.permutations)) == 2576


@pytest.mark.parametrize("m", [20, 21, 22, 23])
def test_dodecads_on_fewer_elements(m):
    """Those through some points and off others; explicit families are counted again by the code's own distances."""
    for family in families.dodecads(m, 3, HALF):
        words = [x for pair in family.pairs for x, _ in families.orbit(pair, family.permutations)]
        code = codes.Code(m, words[0].bit_count(), tuple(words))
        w = best_products(3, HALF, code.weight)
        total = code.size + sum(Fraction(count) / w[d] ** 2 for d, count in code.distribution().items())
        assert code.distance() == 4
        assert family.value == floor(code.size**2 / total) + 1


@pytest.mark.parametrize("size", range(1, 10))
def test_pairs_of_equal_sums_by_enumeration(size):
    counts = [0] * (size // 2 + 1)
    for d in range(size // 2 + 1):
        for one in combinations(range(size), d):
            rest = [e for e in range(size) if e not in one]
            counts[d] += sum((sum(one) - sum(two)) % size == 0 for two in combinations(rest, d))
    assert families.class_pairs(size) == counts


@pytest.mark.parametrize(("m", "n", "eps"), [(8, 3, HALF), (9, 4, Fraction(1, 4)), (10, 3, HALF), (12, 3, HALF)])
def test_the_best_class_by_enumeration(m, n, eps):
    """Over M in {m-1, m} and middle weights: all sets by their sum, all pairs in a class."""
    found = families.best_class(m, n, eps)
    w, values = best_products(n, eps, m), []
    for size in (m, m - 1):
        for h in {size // 2, (size - 1) // 2}:
            words = [sum(1 << e for e in chosen) for chosen in combinations(range(size), h)]
            sums = np.array([sum(e for e in range(size) if word >> e & 1) % size for word in words])
            array = np.array(words)
            far = Fraction(0)
            for residue in range(size):
                group = array[sums == residue]
                distance, count = np.unique(h - np.bitwise_count(group[:, None] & group), return_counts=True)
                far += sum(Fraction(int(c)) / w[int(d)] ** 2 for d, c in zip(distance, count, strict=True))
            values.append(ceil(len(words) ** 2 / (size * far)))
    assert found.value == max(values)
    certificate = families.certificate(m, n, eps, found, "test")
    assert (certificate.rule, certificate.verdict.assumed) == ("graham-sloane", [])


# ------------------------------------------------------------------------------------------ searches


@pytest.mark.parametrize(("m", "n", "eps"), [(5, 3, HALF), (7, 8, HALF), (9, 4, Fraction(1, 4)), (12, 3, HALF)])
def test_a_search_is_deterministic_and_exactly_counted(m, n, eps):
    first = families.searched(m, n, eps, 7)
    families.searched.cache_clear()
    assert families.searched(m, n, eps, 7) == first
    assert first.value == brute(first.pairs, first.permutations, n, eps)
    assert int(families.certificate(m, n, eps, first, "test").parameters["value"]) == first.value


def test_a_search_finds_the_best_family_on_four_bits():
    """At n = 3, eps = 1/2: no set of pairs (S, complement) on four bits gives more, by trying all sets of words."""
    words = [x for x in range(16) if x.bit_count() == 2]
    most = max(
        brute([(x, 15 - x) for x in chosen], (), 3, HALF)
        for size in range(1, 7)
        for chosen in combinations(words, size)
    )
    assert most == families.searched(4, 3, HALF, 1).value == 2


@pytest.mark.parametrize("m", UNCONDITIONAL)
def test_what_families_add_with_nothing_assumed(m):
    """More than floor(m/2) shattered pairs and more than the expurgated layer."""
    found = [families.best_family(m, 3, HALF), families.best_class(m, 3, HALF)]
    value = max(family.value for family in found if family)
    layer = layers.best_layer(m, 3, HALF)
    assert value == UNCONDITIONAL[m]
    assert value > max(m // 2, layers.bound(layer, 3, HALF))


def test_a_family_enters_the_bounds():
    """24 bits: 22 by Borsuk-Ulam, 21 with nothing assumed; the file of the 2,576 dodecads stays small."""
    found = best.lower_bounds(24, 3, HALF, "test")
    unconditional = next(b for b in found if not b.assumes)
    assert (found[0].value, unconditional.value) == (22, 21)
    assert unconditional.method == "dodecads of the Golay code"
    assert len(unconditional.certificate.data) < 2_000
    assert len(list(best.rested(unconditional.certificate))) == 2
