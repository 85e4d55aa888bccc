"""The definition of Min-IP and of correctness, against a second definition and against the paper's Lemma 3."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.kernel.minip import (
    Head,
    correct_at,
    correct_at_length,
    correct_up_to,
    failures,
    output,
    overlap,
    target,
)

HALF = Fraction(1, 2)
EPSILONS = [HALF, Fraction(1, 3), Fraction(1, 4), Fraction(2, 7)]


def table_head(m: int, alpha: list[Fraction], g: list[Fraction]) -> Head:
    """A head given by two tables of 4^m entries."""
    return Head(m, lambda x, z: alpha[x << m | z], lambda x, z: g[x << m | z])


@st.composite
def sequences(draw: st.DrawFn, max_m: int = 6, max_length: int = 7) -> tuple[int, list[int]]:
    """m and a sequence of tokens; few distinct tokens, so that repetitions and ties are common."""
    m = draw(st.integers(1, max_m))
    pool = draw(st.lists(st.integers(0, (1 << m) - 1), min_size=1, max_size=4))
    return m, draw(st.lists(st.sampled_from(pool), min_size=1, max_size=max_length))


@st.composite
def heads(draw: st.DrawFn, max_m: int = 2) -> Head:
    """Exact heads with small rational entries, zeros and ties included."""
    m = draw(st.integers(1, max_m))
    size = 1 << 2 * m
    weights = st.sampled_from([Fraction(k, 4) for k in (0, 0, 1, 2, 3, 4, 8, 12, 40)])
    values = st.sampled_from([Fraction(k, 4) for k in range(-4, 13)])
    alpha = draw(st.lists(weights, min_size=size, max_size=size))
    return table_head(m, alpha, draw(st.lists(values, min_size=size, max_size=size)))


# ------------------------------------------------------------------------------------- overlaps and targets


def bits(token: int, m: int) -> list[int]:
    return [int(digit) for digit in f"{token:0{m}b}"]


@given(sequences())
def test_targets_by_two_definitions(case: tuple[int, list[int]]) -> None:
    """Bit counts of integers against inner products of 0/1 vectors, and sets against both."""
    m, sequence = case
    for i, x in enumerate(sequence):
        vectors = [sum(p * q for p, q in zip(bits(x, m), bits(z, m), strict=True)) for z in sequence]
        sets = [len({k for k in range(m) if x >> k & 1} & {k for k in range(m) if z >> k & 1}) for z in sequence]
        assert [overlap(x, z) for z in sequence] == vectors == sets
        assert target(sequence, i) == sorted(vectors)[0] == min(sets)


@given(sequences(), st.randoms(use_true_random=False))
def test_targets_permute_with_the_sequence(case: tuple[int, list[int]], random: object) -> None:
    """A target belongs to its token, not to its place."""
    _, sequence = case
    order = list(range(len(sequence)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = [sequence[i] for i in order]
    assert [target(shuffled, k) for k in range(len(order))] == [target(sequence, i) for i in order]


@given(sequences())
def test_targets_ignore_repetition(case: tuple[int, list[int]]) -> None:
    """Repeating tokens changes no target; the self token bounds it; a new token can only lower it."""
    m, sequence = case
    for i, x in enumerate(sequence):
        assert target(sequence + sequence, i) == target(sequence, i) <= overlap(x, x) == x.bit_count()
        assert target([*sequence, 0], i) == 0
        assert target([*sequence, (1 << m) - 1], i) == target(sequence, i)
    assert target([sequence[0]], 0) == sequence[0].bit_count()


def test_ties() -> None:
    """Two tokens at the least overlap, the query itself among them or not."""
    assert target([0b011, 0b101, 0b110], 0) == 1
    assert target([0b011, 0b011, 0b111], 0) == 2
    assert target([0b000, 0b111], 0) == 0
    assert [target([0b1100, 0b0011], i) for i in (0, 1)] == [0, 0]


# ------------------------------------------------------------------------------------------------- outputs


@given(heads(), st.data())
def test_output_is_the_weighted_mean(head: Head, data: st.DataObject) -> None:
    """The output is the mean of g with weights alpha over the tokens with multiplicity; None without weight."""
    sequence = data.draw(st.lists(st.integers(0, (1 << head.m) - 1), min_size=1, max_size=5))
    for i, x in enumerate(sequence):
        counts = {z: sequence.count(z) for z in set(sequence)}
        total = sum((count * head.alpha(x, z) for z, count in counts.items()), Fraction(0))
        if total == 0:
            assert output(head, sequence, i) is None
            assert not any(correct_at(head, sequence, i, eps) for eps in (HALF, Fraction(100)))
        else:
            mean = sum(count * head.alpha(x, z) / total * head.g(x, z) for z, count in counts.items())
            assert output(head, sequence, i) == mean
            assert min(head.g(x, z) for z in counts) <= mean <= max(head.g(x, z) for z in counts)


@given(heads(), st.data())
def test_output_is_invariant(head: Head, data: st.DataObject) -> None:
    """Permuting the sequence permutes the outputs; repeating it whole or scaling alpha changes nothing."""
    sequence = data.draw(st.lists(st.integers(0, (1 << head.m) - 1), min_size=1, max_size=4))
    outputs = [output(head, sequence, i) for i in range(len(sequence))]
    for order in permutations(range(len(sequence))):
        assert [output(head, [sequence[i] for i in order], k) for k in range(len(order))] == [outputs[i] for i in order]
    scaled = Head(head.m, lambda x, z: 7 * head.alpha(x, z), head.g)
    for i, value in enumerate(outputs):
        assert output(head, sequence * 3, i) == value == output(scaled, sequence, i)


def test_correctness_is_strict() -> None:
    """An error of exactly eps is an error."""
    for shift, right in ((HALF, False), (-HALF, False), (Fraction(49, 100), True), (Fraction(-49, 100), True)):
        head = Head(2, lambda x, z: Fraction(1), lambda x, z, by=shift: Fraction(x.bit_count()) + by)
        assert correct_at(head, [0b11], 0, HALF) is right
        assert correct_at_length(head, 1, HALF) is right


@given(st.integers(0, 3), st.integers(1, 4), st.sampled_from(EPSILONS))
def test_zero_denominator_is_a_failure(x: int, length: int, eps: Fraction) -> None:
    """A query that gives no weight to any token fails at every length, however good the readout."""
    head = Head(2, lambda q, z: Fraction(q != x), lambda q, z: Fraction(0))
    assert output(head, [x] * length, 0) is None
    assert not correct_at(head, [x] * length, 0, eps)
    assert ((x,) * length, 0) in set(failures(head, [length], eps))
    assert not correct_up_to(head, length, eps)


@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from(EPSILONS))
def test_negative_kernel_is_a_failure(x: int, z: int, eps: Fraction) -> None:
    """A head with one negative kernel value is no head: it fails at that pair first, however accurate."""

    def alpha(q: int, token: int) -> Fraction:
        return Fraction(-1, 10**9) if (q, token) == (x, z) else Fraction(1)

    head = Head(2, alpha, lambda q, token: 2 * Fraction(overlap(q, token)) - q.bit_count())
    assert next(failures(head, [1], eps)) == ((x, z), 0)
    assert not correct_at_length(head, 1, eps)
    assert not correct_up_to(head, 0, eps)


@settings(max_examples=25)
@given(heads(max_m=1), st.integers(1, 3), st.sampled_from(EPSILONS))
def test_failures_are_all_failures(head: Head, n: int, eps: Fraction) -> None:
    """`failures` lists every wrong position of every sequence, and the two shorthands follow from it."""
    wrong = {
        (sequence, i)
        for sequence in product(range(1 << head.m), repeat=n)
        for i in range(n)
        if not correct_at(head, sequence, i, eps)
    }
    listed = list(failures(head, [n], eps))
    assert set(listed) == wrong
    assert len(listed) == len(wrong)
    assert correct_at_length(head, n, eps) is (not wrong)
    assert correct_up_to(head, n, eps) is all(correct_at_length(head, k, eps) for k in range(1, n + 1))


# ------------------------------------------------------------------------------------- what the paper says


def softmin(m: int, w: Fraction) -> Head:
    """Theorem 1 without transcendental functions: alpha = w^overlap, values the overlaps."""
    return Head(m, lambda x, z: w ** overlap(x, z), lambda x, z: Fraction(overlap(x, z)))


@given(sequences(), st.sampled_from(EPSILONS), st.fractions(Fraction(1, 1000), 1), st.integers(0, 2))
def test_softmin_is_correct(case: tuple[int, list[int]], eps: Fraction, scale: Fraction, spare: int) -> None:
    """Theorem 1: with rational 0 < w <= eps/n, 0 <= output - target < eps on every sequence of length <= n."""
    m, sequence = case
    w = scale * eps / (len(sequence) + spare)
    head = softmin(m, w)
    for i in range(len(sequence)):
        value = output(head, sequence, i)
        assert value is not None
        assert 0 <= value - target(sequence, i) < eps
        assert correct_at(head, sequence, i, eps)


def test_softmin_on_the_whole_task() -> None:
    """m = 2, lengths 1..3: every sequence, at w = eps/n; and with w = 1 the same head fails."""
    for eps in EPSILONS:
        assert correct_up_to(softmin(2, eps / 3), 3, eps)
    assert not correct_at_length(softmin(2, Fraction(1)), 3, HALF)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_constant_kernel_solves_two_tokens(m: int) -> None:
    """Theorem 6's r*(m,2) = 1: alpha = 1, readout 2<x,a> - |x|: exact at lengths 1 and 2, wrong at 3 if m >= 2."""
    head = Head(m, lambda x, z: Fraction(1), lambda x, z: 2 * Fraction(overlap(x, z)) - x.bit_count())
    assert correct_up_to(head, 2, Fraction(1, 10**6))
    assert correct_at_length(head, 3, HALF) is (m == 1)


def lemma_triples(head: Head, n: int, eps: Fraction) -> list[tuple[int, int, int]]:
    """All (x, y, z) with an admissible gap and alpha(x,y) <= mu(d) alpha(x,z)."""
    found = []
    for x, y, z in product(range(1 << head.m), repeat=3):
        d = overlap(x, z) - overlap(x, y)
        if d > 0 and (n - 2) * d >= 2 * eps * (n - 1):
            mu = (n - 2) * (d - 2 * eps) / (2 * eps)
            if head.alpha(x, y) <= mu * head.alpha(x, z):
                found.append((x, y, z))
    return found


def three_inputs(x: int, y: int, z: int, n: int) -> list[list[int]]:
    return [[x] + [y] * (n - 1), [x] + [z] * (n - 1), [x, y] + [z] * (n - 2)]


@given(heads(), st.integers(3, 5), st.sampled_from(EPSILONS))
def test_lemma_3_contrapositive_on_random_heads(head: Head, n: int, eps: Fraction) -> None:
    """Where alpha(x,y) <= mu(d) alpha(x,z), the head is wrong at x on one of Y, Z, M, whatever its values."""
    for x, y, z in lemma_triples(head, n, eps):
        assert not all(correct_at(head, sequence, 0, eps) for sequence in three_inputs(x, y, z, n)), (x, y, z)


@given(
    st.integers(2, 3),
    st.data(),
    st.sampled_from(EPSILONS),
    st.integers(3, 4),
    st.fractions(Fraction(99, 100), Fraction(101, 100)),
)
def test_lemma_3_contrapositive_near_the_boundary(
    m: int, data: st.DataObject, eps: Fraction, n: int, closeness: Fraction
) -> None:
    """The best readout for kernels at the boundary (mathematics.md B0): the triple fails exactly when it must.

    With a tiny self weight and alpha(x,y) = closeness * mu(d) alpha(x,z), Y, Z and M all hold if and only if the
    ratio is above mu(d) by more than the self weight takes up.
    """
    x = (1 << m) - 1
    y, z = data.draw(
        st.tuples(st.integers(0, x), st.integers(0, x)).filter(
            lambda pair: (n - 2) * (overlap(x, pair[1]) - overlap(x, pair[0])) >= 2 * eps * (n - 1)
        )
    )
    t, d = overlap(x, y), overlap(x, z) - overlap(x, y)
    mu, a, c = (n - 2) * (d - 2 * eps) / (2 * eps), Fraction(1, 10**6), Fraction(1)
    b, slack = closeness * mu * c, Fraction(1, 10**9)
    if z == x:  # then alpha(x,z) is the self weight
        a = c
    weights = {x: a, y: b, z: c}
    levels = {token: overlap(x, token) - t for token in weights}
    g = {u: t + levels[u] - eps + (slack - a * (levels[x] - levels[u]) / (n - 1)) / weights[u] for u in weights}
    head = Head(m, lambda q, u: weights[u], lambda q, u: g[u])
    right = all(correct_at(head, sequence, 0, eps) for sequence in three_inputs(x, y, z, n))
    if closeness <= 1:
        assert not right
    elif z != x and closeness >= Fraction(1001, 1000):
        assert right


@settings(max_examples=20)
@given(st.sampled_from(EPSILONS), st.integers(3, 4), st.fractions(Fraction(1, 100), 1))
def test_lemma_3_on_correct_heads(eps: Fraction, n: int, scale: Fraction) -> None:
    """A head that is correct on all sequences of length n dominates at every admissible gap."""
    head = softmin(2, scale * eps / n)
    assert correct_at_length(head, n, eps)
    assert lemma_triples(head, n, eps) == []
