"""Theorem 9: the family by minip, all assignments; the number of bits; which codes will do."""

import json
from itertools import product
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import codes
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.minip import overlap, target
from proofcheck.theorems import theorem9

from .checking import of_claim, verified


@given(st.integers(1, 500), st.integers(1, 200))
def test_least_bits(s, q):
    bits, assignments = theorem9.least_bits(s, q), (s + 1) ** q
    assert 2 ** (bits - 1) < assignments <= 2**bits
    assert abs(bits - q * log2(s + 1)) <= 1 + 1e-6


def token(*fields):
    """A token from lists of bits, one after the other: the order of the coordinates is of no importance."""
    return sum(bit << i for i, bit in enumerate(bit for field in fields for bit in field))


def family(words, m, s):
    def bits(word):
        return [word >> e & 1 for e in range(m)]

    queries = [token([0, 1], [1 - b for b in bits(word)], [1] * s) for word in words]
    slots = [[token([1, 0], bits(word), [int(i < k) for i in range(s)]) for k in range(s + 1)] for word in words]
    return queries, slots


@pytest.mark.parametrize(("m", "s", "q"), [(6, 1, 4), (6, 2, 2), (8, 1, 3), (9, 2, 3), (8, 3, 2)])
def test_all_assignments_by_the_definition(tmp_path, m, s, q):
    shown = theorem9.show(m, s, q)
    verified(shown, tmp_path)
    (typed,) = of_claim(shown, "typed-family")
    words = [int(word, 16) for word in typed.parameters["words"]]
    assert len(words) == q
    queries, slots = family(words, m, s)
    for i, j in product(range(q), repeat=2):
        for k in range(s + 1):
            assert overlap(queries[i], slots[j][k]) == (words[j] & ~words[i]).bit_count() + k
    for levels in product(range(s + 1), repeat=q):
        sequence = queries + [slots[i][level] for i, level in enumerate(levels)]
        assert tuple(target(sequence, i) for i in range(q)) == levels
    (bound,) = of_claim(shown, "transcript-bound")
    assert bound.parameters["bits"] == theorem9.least_bits(s, q)


@pytest.mark.parametrize(("m", "s", "q"), [(64, 15, 4), (100, 20, 50), (4096, 100, 4)])
def test_long_words(tmp_path, m, s, q):
    verified(theorem9.show(m, s, q), tmp_path)


@settings(max_examples=25)
@given(st.data())
def test_random_codes(tmp_path_factory, data):
    m, s = data.draw(st.integers(4, 10)), data.draw(st.integers(1, 3))
    h = data.draw(st.integers(1, m - 1))
    code = codes.random_greedy(m, h, s + 1, seed=data.draw(st.integers(0, 10**6)), limit=6)
    q = data.draw(st.integers(1, code.size))
    shown = theorem9.show(m, s, q, code)
    verified(shown, tmp_path_factory.mktemp("random"))
    assert f"L H r (dv+1) p >= {theorem9.least_bits(s, q)}" in shown.figures["bits"]


def test_too_few_or_unfit_words():
    with pytest.raises(
        UsageError, match=r"-q: expected at most \d+, the words at directed distance >= 3 found, got 23"
    ):
        theorem9.show(12, 2, 23)  # 22 is the largest such code
    with pytest.raises(UsageError, match="-M: the code has words of 8 bits, not 12"):
        theorem9.show(12, 2, 2, codes.lexicographic(8, 4, 3))
    with pytest.raises(ClaimFails, match=r"words 0 and 1 \(f, 17\) are at directed distance 1, less than 3"):
        theorem9.show(8, 2, 2, codes.lexicographic(8, 4, 1))


def test_the_command_that_is_recorded_names_the_code_file():
    shown = theorem9.show(8, 1, 2, codes.lexicographic(8, 4, 2))
    commands = {json.loads(certificate.data)["producer"]["command"] for _, certificate in shown.bundle}
    assert commands == {"proofcheck theorem9 -M 8 -s 1 -q 2 --code FILE"}
