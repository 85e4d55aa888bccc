"""Every sequence decided: against linear programming over all sequences, against the definition, and at larger m."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from proofcheck import domination
from proofcheck.cube import Cube, Outputs
from proofcheck.errors import CONDITIONAL, PROVED, UsageError
from proofcheck.exhaust import Counterexample, HeadCorrect, KernelCorrect, Outside, Refutation, decide, verify
from proofcheck.heads import ClosedForm, Head, Readout, bits
from proofcheck.kernel import minip
from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.minip import overlap, target
from tests.test_domination import EPSILONS, near_boundary

HALF = Fraction(1, 2)


# -------------------------------------------------------------------------------------------------- heads


def index(tokens):
    return tokens.astype(int) @ (1 << np.arange(tokens.shape[1]))


def looked_up(table):
    table = np.array(table, dtype=float)
    return lambda tokens: table[index(tokens)]


def closed(m, value, additive=Fraction(0), readout=None, name="closed"):
    return ClosedForm(name, m, 1 << m, None, None, additive, readout, value=value)


def softmin(m, w):
    return closed(
        m, lambda x, z: w ** overlap(x, z), readout=Readout(lambda b: b, lambda b: b, lambda b: 0.0 * b[:, 0])
    )


def tabled(m, kernel, g=None, offsets=None, additive=Fraction(0)):
    """One-hot queries; key features are the columns of the kernel, values the columns of g - offsets."""
    size = 1 << m
    identity, columns = np.eye(size), np.array(kernel, dtype=float).T
    readout = None
    if g is not None:
        offsets = np.zeros(size) if offsets is None else np.array(offsets, dtype=float)
        rest = np.array(g, dtype=float) - offsets[:, None]
        readout = Readout(looked_up(rest.T), looked_up(identity), looked_up(offsets))
    return Head("table", m, size, looked_up(identity), looked_up(columns), additive, readout)


def symmetric(m, degree, base):
    """alpha = sum_k base^k C(|x\\z|, k): features base^|T| 1[T inside x], 1[T disjoint from z], |T| <= degree."""
    sets = [sum(1 << i for i in chosen) for k in range(degree + 1) for chosen in combinations(range(m), k)]
    masks = bits(sets, m).astype(float)
    sizes = masks.sum(axis=1)

    def queries(tokens):
        return (tokens @ masks.T == sizes) * float(base) ** sizes

    return Head("symmetric", m, len(sets), queries, lambda tokens: (tokens @ masks.T == 0) * 1.0)


def recheck(proof):
    assert check(Certificate(proof.data), {}).claim == proof.verdict.claim
    return True


# ------------------------------------------------------------------------ kernels against linear programming


def random_kernel(random, m, n, eps):
    """Near the boundary of B0 in every row, or of independent values; as fractions."""
    size = 1 << m
    if random.random() < 0.5:
        kernel = []
        for x in range(size):
            while True:
                query, (_, _, _, s, tokens) = near_boundary(random, m, n, eps) if x else (0, (0, 0, 0, Fraction(1), {}))
                if query.bit_count() == x.bit_count():
                    break
            # the row of `query`, carried to x by a permutation of the bits
            move = dict(zip(elements(query, m), elements(x, m), strict=True))
            row = {x: s} | {sum(1 << move[i] for i in range(m) if z >> i & 1): a for z, (_, a) in tokens.items()}
            kernel.append([row.get(z, Fraction(1)) for z in range(size)])
        if random.random() < 0.7:  # most rows safely inside, so that whole kernels are correct half of the time
            for x in random.sample(range(size), size - 1):
                kernel[x] = [Fraction(6 * n) ** (m - overlap(x, z)) for z in range(size)]
        return kernel
    base = random.choice([2, 3, 4, 6, 12])
    return [
        [Fraction(base) ** (m - overlap(x, z)) * (1 + Fraction(random.randint(0, 3), 10)) for z in range(size)]
        for x in range(size)
    ]


def elements(x, m):
    return [i for i in range(m) if x >> i & 1] + [i for i in range(m) if not x >> i & 1]


def readable(kernel, m, n, eps):
    for x in range(1 << m):
        row = {z: (overlap(x, z), a) for z, a in enumerate(kernel[x]) if z != x}
        if domination.linear_programme(n, eps, x.bit_count(), kernel[x][x], row) is None:
            return False
    return True


def agrees(seed, m):
    random = Random(f"{seed} {m}")
    n, eps = random.choice([3, 3, 4]), random.choice(EPSILONS)
    kernel = random_kernel(random, m, n, eps)
    found = decide(closed(m, lambda x, z: kernel[x][z]), n, eps)
    expected = readable(kernel, m, n, eps)
    assert isinstance(found, KernelCorrect if expected else Refutation), (seed, m)
    assert recheck(found.certificate)
    return expected


@pytest.mark.parametrize("seed", range(20))
def test_verdicts_are_those_of_linear_programming(seed):
    """Certificate or refutation, as the exact programme over all sequences says."""
    agrees(seed, 3)


@pytest.mark.slow
def test_thousand_verdicts_are_those_of_linear_programming():
    """The same for 1,000 kernels; both answers are common."""
    answers = [agrees(seed, 3 + seed % 2) for seed in range(1000)]
    assert 200 < sum(answers) < 800


@pytest.mark.parametrize("n", [3, 5])
def test_near_ties_are_decided_exactly(n):
    """Kernel values one unit in the last place above and at equality in (ii): floats cannot tell."""
    m, ulp = 2, Fraction(1, 2**60)
    for above in (ulp, Fraction(0), -ulp):
        kernel = [[Fraction(1000) ** (m - overlap(x, z)) for z in range(4)] for x in range(4)]
        kernel[3][0] = (n - 2) * 1 * max(kernel[3][3], 1) + Fraction((n - 2) * 2, n - 1) - 1 + above
        kernel[3][1] = kernel[3][2] = Fraction(n)
        kernel[3][0] = max(kernel[3][0], (n - 2) * Fraction(1) + (Fraction(2 * (n - 2), n - 1) - 1) + above)
        found = decide(closed(m, lambda x, z, k=kernel: k[x][z]), n)
        assert isinstance(found, KernelCorrect if above > 0 else Refutation), above
        if above > 0:
            assert found.exact_queries >= 1


@pytest.mark.parametrize("additive", [Fraction(0), Fraction(1, 3), Fraction(5)])
def test_readouts_are_correct_by_the_definition(additive):
    """The explicit readout of a kernel that passes, constant in the denominator or not, on every sequence."""
    m, n = 2, 4
    kernel = [[Fraction(12) ** (m - overlap(x, z)) * (1 + x + 2 * z) for z in range(4)] for x in range(4)]
    found = decide(closed(m, lambda x, z: kernel[x][z], additive), n)
    assert isinstance(found, KernelCorrect)
    assert found.status == PROVED
    rows = [found.readout(x) for x in range(4)]
    head = minip.Head(m, lambda x, z: kernel[x][z], lambda x, z: rows[x].g[z], additive, lambda x: rows[x].offset)
    assert minip.correct_up_to(head, n, HALF)
    if not additive:
        for x, row in enumerate(rows):
            tokens = {z: (overlap(x, z), kernel[x][z]) for z in range(4) if z != x}
            expected = domination.readout(n, HALF, x.bit_count(), kernel[x][x], tokens)
            assert (row.g[x], row.delta) == (expected.own, expected.delta)
            assert all(row.g[z] == value for z, value in expected.g.items())


def test_constant_that_spoils_a_kernel():
    """A large constant in the denominators breaks (ii) at long lengths: refuted with the constant, not without."""
    kernel = [[Fraction(36) ** (2 - overlap(x, z)) for z in range(4)] for x in range(4)]
    for additive, kind in ((Fraction(0), KernelCorrect), (Fraction(10**6), Refutation)):
        found = decide(closed(2, lambda x, z: kernel[x][z], additive), 5)
        assert isinstance(found, kind)
        assert recheck(found.certificate)
    assert found.exactly


def test_vanishing_values():
    """alpha(x,y) = 0 refutes below the top; with a constant it may need the lengths 1, 2; not at the top."""
    kernel = [[1, 1], [0, 1]]
    found = decide(tabled(1, kernel))
    assert (found.condition, found.exactly, found.triple.y) == ("i", True, 0)
    found = decide(tabled(1, kernel, additive=Fraction(1)))
    assert (found.condition, found.exactly) == ("i", False)
    assert recheck(found.certificate)
    assert isinstance(decide(tabled(1, [[1, 0], [1, 1]])), KernelCorrect)
    assert decide(tabled(1, [[0, 1], [1, 1]])).condition == "i"


def test_negative_values_are_outside():
    """The pair with the negative value is named, whatever the sign of the features."""
    found = decide(tabled(1, [[1, -2], [3, 1]]))
    assert isinstance(found, Outside)
    assert (found.x, found.z, found.value) == (0, 1, -2)


def test_features_that_are_signed_while_the_kernel_is_not():
    """<q,k> > 0 with signed features passes; cancellation to exactly 0 is seen as 0."""
    queries, keys = [[1.0, -1.0], [1.0, 1.0]], [[3.0, 1.0], [0.5, 0.25]]
    head = Head("signed", 1, 2, looked_up(queries), looked_up(keys))
    assert isinstance(decide(head), KernelCorrect)
    for sign, kind in (
        (1, KernelCorrect),
        (-1, Outside),
    ):  # 3 * 0.1 - 0.3 is 2^-55 in exact arithmetic, 2^-54 in floats
        queries = looked_up([[1.0, 0.0], [0.1 * sign, -0.3 * sign]])
        head = Head(
            "tiny", 1, 2, queries, looked_up([[3.0, 1.0], [1.0 if sign > 0 else 5.0, 0.0 if sign > 0 else 2.0]])
        )
        found = decide(head)
        assert isinstance(found, kind)
        if sign > 0:
            assert 0 < head.exact(1, [0])[0] < Fraction(1, 2**54)
            assert found.exact_queries >= 1
        else:
            assert (found.x, found.z) == (1, 0)
            assert -Fraction(1, 2**54) < found.value < 0


def test_large_integers_do_not_overflow():
    """Products far above 2^63, and far below the smallest float."""
    for scale in (2.0**200, 2.0**-540):
        kernel = [[36.0 ** (2 - overlap(x, z)) for z in range(4)] for x in range(4)]
        size = np.eye(4) * scale
        head = Head("scaled", 2, 4, looked_up(size), looked_up(np.array(kernel).T * scale))
        found = decide(head)
        assert isinstance(found, KernelCorrect)
        assert found.status == PROVED
    spread = np.array(kernel).T * np.array([2.0**-200, 2.0**100, 1.0, 1.0])
    found = decide(Head("spread", 2, 4, looked_up(np.eye(4)), looked_up(spread)))
    assert isinstance(found, KernelCorrect)
    assert (found.certificate, found.status) == (None, CONDITIONAL)  # integers of more than 256 bits are not written


def test_features_that_are_not_finite_are_named():
    """NaN and infinity: a usage error with token and feature."""
    for bad in (np.nan, np.inf):
        head = Head("bad", 1, 1, looked_up([[1.0], [1.0]]), looked_up([[1.0], [bad]]))
        with pytest.raises(UsageError, match=r"^bad: feature 0 of keys at token 0x1 is (nan|inf)$"):
            decide(head)
    overflowing = Head("huge", 1, 1, looked_up([[1e200], [1e200]]), looked_up([[1e200], [1e200]]))
    assert isinstance(decide(overflowing), KernelCorrect)  # alpha = 10^400 overflows floats; alpha is constant


def test_softmin_at_8_bits():
    """Theorem 1's kernel passes with a certificate, and with its own readout; far too hot, it is refuted."""
    found = decide(softmin(8, Fraction(1, 6)))
    assert isinstance(found, KernelCorrect)
    assert found.status == PROVED
    assert isinstance(verify(softmin(8, Fraction(1, 6))), HeadCorrect)
    hot = decide(softmin(8, Fraction(9, 10)))
    assert isinstance(hot, Refutation)
    assert recheck(hot.certificate)


@pytest.mark.parametrize("m", [8, pytest.param(10, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.slow)])
def test_symmetric_heads(m):
    """B3 a: K = 2 for m <= 9, K = 3 for m <= 14; a certificate for m <= 10 where it fits, a summary beyond."""
    found = decide(symmetric(m, 2 if m < 10 else 3, 20))
    assert isinstance(found, KernelCorrect)
    assert found.status == (PROVED if m <= 10 else CONDITIONAL)
    assert isinstance(decide(symmetric(m, 1, 20)), Refutation)


def test_limits():
    """m = 15 and tables that do not fit into memory are usage errors."""
    with pytest.raises(UsageError, match="m = 15"):
        decide(symmetric(15, 0, 1))
    with pytest.raises(UsageError, match="memory"):
        decide(Head("wide", 14, 1 << 20, None, None))
    with pytest.raises(UsageError, match="n: expected"):
        decide(symmetric(3, 1, 1), 2)


# ---------------------------------------------------------------------------- whole heads against the definition


def dyadic(random, m, n, eps):
    """A table head of dyadic numbers, correct or nearly so."""
    size, base = 1 << m, random.choice([4, 6, 8, 12])
    kernel = [[float(base ** (m - overlap(x, z))) for z in range(size)] for x in range(size)]
    g = [[float(overlap(x, z)) for z in range(size)] for x in range(size)]
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        x, z = random.randrange(size), random.randrange(size)
        g[x][z] += random.choice([-1, 1]) * round(float(eps) * random.choice([1, 0.5, 0.75, 0.25, 2]) * 1024) / 1024
        if random.random() < 0.4:
            kernel[x][random.randrange(size)] = random.choice([0.0, 0.0, 1.0, 2.5, float(base)])
    offsets = [random.choice([0.0, 0.0, 1.0, 0.5]) for _ in range(size)]
    additive = random.choice([Fraction(0), Fraction(0), Fraction(1, 10), Fraction(1)])
    return kernel, g, offsets, additive


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3)])
def test_verify_is_the_definition(m, n):
    """Correct exactly if minip finds no failure; a counterexample is one by minip, and its error is exact."""
    random, answers = Random(m * 10 + n), set()
    for _ in range(60 if m < 3 else 20):
        eps = random.choice([HALF, Fraction(1, 3), Fraction(1, 4)])
        kernel, g, offsets, additive = dyadic(random, m, n, eps)
        head = tabled(m, kernel, g, offsets, additive)
        exact = minip.Head(
            m,
            lambda x, z, k=kernel: Fraction(k[x][z]),
            lambda x, z, k=g: Fraction(k[x][z]),
            additive,
            lambda x, k=offsets: Fraction(k[x]),
        )
        for lengths, correct in (("exactly", minip.correct_at_length), ("up-to", minip.correct_up_to)):
            found, expected = verify(head, n, eps, lengths), correct(exact, n, eps)
            assert isinstance(found, HeadCorrect if expected else Counterexample), (lengths, kernel, g, offsets)
            assert recheck(found.certificate)
            if not expected:
                assert not minip.correct_at(exact, found.sequence, 0, eps)
                assert found.output == minip.output(exact, found.sequence, 0)
                assert found.target == target(found.sequence, 0)
                assert len(found.sequence) == n or (lengths == "up-to" and len(found.sequence) < n)
            answers.add(expected)
    assert answers == {True, False}


@pytest.mark.parametrize(("m", "n"), [(2, 3), (2, 4), (3, 3), (3, 4)])
def test_the_only_failing_multiset_is_found(m, n):
    """One entry of one token's table moved between the first and the second threshold: exactly one multiset fails."""
    random, size = Random(m + n), 1 << m
    for _ in range(5):
        kernel = [
            [float(6000 * 10 ** (m - overlap(x, z)) + random.randrange(999)) for z in range(size)] for x in range(size)
        ]
        g = [[overlap(x, z) + random.randrange(-99, 100) / 2**14 for z in range(size)] for x in range(size)]
        x, z, sign = random.randrange(size), random.randrange(size), random.choice([-1, 1])
        reach = []
        for others in product(range(size), repeat=n - 1):
            s = (x, *others)
            if list(others) == sorted(others) and z in s:
                weight = sum(Fraction(kernel[x][u]) for u in s)
                error = sum(Fraction(kernel[x][u]) * Fraction(g[x][u]) for u in s) / weight - target(s, 0)
                reach.append(((HALF - sign * error) * weight / (s.count(z) * Fraction(kernel[x][z])), tuple(sorted(s))))
        reach.sort()
        assert isinstance(verify(tabled(m, kernel, g), n, lengths="exactly"), HeadCorrect)
        g[x][z] += sign * float((reach[0][0] * 3 + reach[1][0]) / 4)
        found = verify(tabled(m, kernel, g), n, lengths="exactly")
        assert isinstance(found, Counterexample)
        assert (found.sequence[0], tuple(sorted(found.sequence))) == (x, reach[0][1])
        assert found.error >= HALF
        assert recheck(found.certificate)


@pytest.mark.parametrize("m", [5, 6])
def test_one_entry_of_a_larger_head(m):
    """g raised by 1 at one pair of a softmin head: the worst sequence repeats that token."""
    size = 1 << m
    kernel = [[12.0 ** (m - overlap(x, z)) for z in range(size)] for x in range(size)]
    g = [[float(overlap(x, z)) for z in range(size)] for x in range(size)]
    assert isinstance(verify(tabled(m, kernel, g), 6), HeadCorrect)
    g[size - 2][5] += 1
    found = verify(tabled(m, kernel, g), 6)
    assert found.sequence[0] == size - 2
    assert 5 in found.sequence
    assert found.error > HALF


def test_zero_denominators_are_failures():
    """A query whose kernel row vanishes: the output is None and the certificate says so."""
    found = verify(tabled(1, [[1, 1], [0, 0]], [[0, 0], [0, 1]]))
    assert (found.output, found.error) == (None, None)
    assert found.sequence[0] == 1
    assert recheck(found.certificate)


def test_long_sequences():
    """n enters the cost nowhere: the softmin head at w = eps/n, and slightly hotter, at n = 10^6."""
    n = 10**6
    assert isinstance(verify(softmin(4, HALF / n), n), HeadCorrect)
    found = verify(softmin(4, 2 / Fraction(n)), n)
    assert isinstance(found, Counterexample)
    assert (len(found.sequence), found.certificate) == (n, None)


def test_usage():
    """Ranges, and a head without a readout."""
    for arguments, reason in (((0,), "n >= 1"), ((3, Fraction(2)), "eps"), ((3, HALF, "all"), "lengths")):
        with pytest.raises(UsageError, match=reason):
            verify(softmin(2, HALF), *arguments)
    with pytest.raises(UsageError, match="no readout"):
        verify(symmetric(3, 1, 2))
    wrong = tabled(1, [[1, 1], [1, 1]], [[0, 0], [0, 0]])
    shaped = Head(
        "wrong", 1, 2, wrong.queries, wrong.keys, Fraction(0), Readout(wrong.keys, lambda b: b[:1], lambda b: b[:, 0])
    )
    with pytest.raises(UsageError, match="shapes"):
        verify(shaped)


@pytest.mark.parametrize("seed", range(6))
def test_error_bounds_hold(seed):
    """|float - exact| <= bound for every kernel value and every g: cancellation, wide ranges, underflow."""
    source = np.random.default_rng(seed)
    m, rank = 3, [1, 3, 40, 200, 7, 2][seed]
    spread = [1, 50, 300, 2, 1000, 540][seed]
    tables = [
        source.normal(size=(8, rank)) * 2.0 ** source.integers(-spread // 2, spread // 2 + 1, size=(8, rank))
        for _ in range(4)
    ]
    offsets = source.normal(size=8)
    readout = Readout(*map(looked_up, tables[2:]), looked_up(offsets))
    head = Head("random", m, rank, looked_up(tables[0]), looked_up(tables[1]), Fraction(0), readout)
    cube, outputs = Cube(head), Outputs(head, readout)
    xs = np.arange(8)
    (values, bound), (g, g_bound) = cube.kernel(xs), outputs.table(xs)
    for x in range(8):
        (row, unit), (exact, offset, scale) = cube.row(x), outputs.row(x)
        assert Fraction(offset, scale) == Fraction(offsets[x])
        for z in range(8):
            assert abs(Fraction(values[x, z]) - Fraction(row[z], unit)) <= Fraction(bound[x, z])
            assert abs(Fraction(g[x, z]) - Fraction(exact[z], scale)) <= Fraction(g_bound[x, z])
        assert Fraction(row[5], unit) == head.exact(x, [5])[0]
