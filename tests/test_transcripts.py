"""The typed family by the definition; the bound against brute force over s, against powers, and against the kernel."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log2

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofcheck import codes, transcripts
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.check import VERIFIED, check_files
from proofcheck.kernel.minip import overlap, target
from proofcheck.theorems.proposition10 import sizes

MORE = 10**6


@settings(max_examples=20, deadline=None)
@given(st.integers(4, 9), st.integers(1, 2), st.integers(1, 4), st.integers(0, 99))
def test_targets_of_the_family_are_the_assignment(M, s, q, seed):  # noqa: N803
    try:
        family = transcripts.typed_family(M, s, q, seed=seed)
    except UsageError:
        return
    assert (family.q, family.m, family.length, family.assignments) == (q, 2 + M + s, 2 * q, (s + 1) ** q)
    seen = set()
    for number in range(family.assignments):
        levels = family.levels(number)
        sequence = family.sequence(levels)
        assert len(sequence) == 2 * q
        assert all(token >> family.m == 0 for token in sequence)
        assert [target(sequence, i) for i in range(q)] == levels
        seen.add(tuple(levels))
    assert seen == set(product(range(s + 1), repeat=q))
    for i, j in product(range(q), repeat=2):
        for k in range(s + 1):
            assert overlap(family.query(i), family.slot(j, k)) == (family.words[j] & ~family.words[i]).bit_count() + k


def test_families_that_do_not_exist():
    for arguments, text in (
        ({"M": 8, "s": 0, "q": 2}, "^-s: expected an integer >= 1, got 0$"),
        ({"M": 0, "s": 1, "q": 2}, "^-M: expected an integer >= 1, got 0$"),
        ({"M": 8, "s": 1, "q": 0}, "^-q: expected an integer >= 1, got 0$"),
        ({"M": 8, "s": 4, "q": 2}, r"^-s: words of 4 of 8 elements have distance at most 4, less than s \+ 1 = 5$"),
        ({"M": 8, "s": 1, "q": 5, "n": 9}, "^-q: a sequence holds q queries .* so 2q <= n; got 2q = 10, n = 9$"),
        ({"M": 8, "s": 1, "q": 50}, "^-q: expected at most 1[0-4], the words of 8 bits at distance 2 found, got 50$"),
    ):
        with pytest.raises(UsageError, match=text):
            transcripts.typed_family(**arguments)
    with pytest.raises(UsageError, match=r"^-s: s \+ 1 = 3 is larger than the distance of the code, 2$"):
        transcripts.TypedFamily(4, 2, (3, 12))
    with pytest.raises(ClaimFails, match="words 0 and 1 are the same: 3"):
        transcripts.TypedFamily(4, 1, (3, 3))
    with pytest.raises(ClaimFails, match="has weight 3, expected 2"):
        transcripts.TypedFamily(4, 1, (3, 13))
    with pytest.raises(UsageError, match="words: expected words of at least one element"):
        transcripts.TypedFamily(4, 1, (0,))


@given(st.integers(2, 1001))
def test_lower_logarithm_is_below_and_near(base):
    power, exponent = transcripts.lower_logarithm(base)
    assert 1 <= power <= transcripts.FINEST
    assert 2**exponent <= base**power < 2 ** (exponent + 1)
    assert 0 <= log2(base) - exponent / power < 1 / power
    if base & (base - 1) == 0:
        assert Fraction(exponent, power) == base.bit_length() - 1


@given(st.integers(1, 200), st.integers(1, 3_000))
def test_bits_are_the_least_or_nearly(s, q):
    bits, exact = transcripts.forced_bits(s, q)
    least = ((s + 1) ** q - 1).bit_length()
    assert exact
    assert bits == least
    power, exponent = transcripts.lower_logarithm(s + 1)
    rounded = (q * exponent - 1) // power + 1
    assert least - 1 <= rounded <= least


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 80), st.one_of(st.none(), st.integers(2, 5_000)))
def test_no_other_s_with_packing_is_better(m, n):
    best = transcripts.best_bound(m, n)
    most = best.size if n is None else n // 2
    assert best.q == min(most, best.size)
    assert best.m == m >= 2 + best.M + best.s
    value = best.q * Fraction(log2(best.s + 1))
    for s in range(1, m - 2):
        M = m - 2 - s  # noqa: N806
        size = codes.packing_bound(M, max(1, M // 2), s + 1)
        assert min(size if n is None else n // 2, size) * Fraction(log2(s + 1)) <= value * (1 + Fraction(1, 10**9)), s
    assert transcripts.best_bound(m, n, best.s).bits == best.bits


@pytest.mark.parametrize("n", [None, 2, 64, 4096, 2 * MORE])
@pytest.mark.parametrize("m", [4, 12, 16, 32, 64, 256])
def test_certificates_say_the_bound(tmp_path, m, n):
    bound = transcripts.best_bound(m, n)
    certificates = bound.certify("proofcheck transcript bound")
    reports = check_files([str(c.write(tmp_path, c.claim)) for c in certificates])
    assert [r.status for r in reports] == [VERIFIED, VERIFIED]
    assert certificates[1].parameters == {"M": bound.M, "s": bound.s, "q": bound.q, "bits": bound.bits}
    assert certificates[0].parameters["distance"] == bound.s + 1
    assert certificates[0].parameters["size"] >= bound.q
    if bound.words is not None:
        assert codes.Code(bound.M, bound.weight, bound.words).distance() >= min(bound.s + 1, bound.weight)


def test_explicit_words_beat_packing_at_small_m():
    bound = transcripts.best_bound(16, 16)
    assert bound.words is not None
    assert comb(bound.M, bound.weight) > 8
    assert codes.packing_bound(bound.M, bound.weight, bound.s + 1) < bound.q == 8


def test_longer_sequences_and_proposition_10():
    for m in (32, 64, 100, 256):
        s, size, h = sizes(m)
        paper = min(2048, codes.packing_bound(size, h, s + 1)) * log2(s + 1)
        assert transcripts.best_bound(m, 4096).bits >= paper
        bits = [transcripts.best_bound(m, n).bits for n in (2, 8, 64, 512, 4096, 10**5, None)]
        assert bits == sorted(bits)


def test_ranges():
    for arguments, text in (
        ((3,), "^-m: the family has m = 2 .* 4 <= m .*, got 3$"),
        ((2049,), "got 2049$"),
        ((32, 1), "^-n: a query and a database token need n >= 2, got 1$"),
        ((32, 64, 30), r"^-s: expected 1 <= s <= min\(m - 3, 1000\) = 29, got 30$"),
        ((32, 64, 0), "got 0$"),
    ):
        with pytest.raises(UsageError, match=text):
            transcripts.best_bound(*arguments)


@settings(deadline=None)
@given(st.integers(4, 60), st.integers(2, 300), st.integers(1, 100))
def test_bounds_do_not_decrease_with_the_length(m: int, n: int, more: int) -> None:
    assert transcripts.best_bound(m, n).bits <= transcripts.best_bound(m, n + more).bits


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 60), st.one_of(st.none(), st.integers(2, 300), st.sampled_from([512, 1024, 4096])))
@example(25, 64)
@example(26, 16)
@example(24, 1024)
@example(27, 8)
def test_bounds_do_not_decrease_with_the_bits_of_a_token(m: int, n: int | None) -> None:
    assert transcripts.best_bound(m, n).bits <= transcripts.best_bound(m + 1, n).bits


def test_a_smaller_family_holds_a_fortiori(tmp_path):
    bound = transcripts.best_bound(27, 64)
    assert (bound.m, bound.bits) == (27, transcripts.best_bound(25, 64).bits)
    assert 2 + bound.M + bound.s < 27
    reports = check_files([str(c.write(tmp_path, c.claim)) for c in bound.certify("proofcheck transcript bound")])
    assert [r.status for r in reports] == [VERIFIED, VERIFIED]
