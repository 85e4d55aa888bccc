"""B0: the pairwise conditions against every readout there is; the explicit readout against the definition of Min-IP."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import domination
from proofcheck.domination import Violation, level_extremes, linear_programme, readout, violations
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.claims.forms import positive
from proofcheck.kernel.exact import Poly
from proofcheck.kernel.minip import Head, correct_at, overlap
from proofcheck.solvers import z3_solver
from proofcheck.solvers.query import Query

HALF = Fraction(1, 2)
EPSILONS = [HALF, Fraction(1, 3), Fraction(1, 4), Fraction(9, 20), Fraction(3, 10), Fraction(1, 7)]
TINY = Fraction(1, 1000)
NUDGES = [Fraction(0), TINY, -TINY, TINY**3, -(TINY**3), Fraction(1, 20)]


# --- rows near the boundary, and slow definitions ------------------------------------------------------------


def least_value(n, eps, d, other, s):
    """(ii) solved for alpha(x,y), as mathematics.md B0 prints it."""
    return ((n - 2) * (d - 2 * eps) * other + (Fraction((n - 2) * d, n - 1) - 2 * eps) * s) / (2 * eps)


def near_boundary(random, m, n, eps):
    """A query x and the row of all other m-bit tokens, each kernel value on equality in (ii) or next to it, from the
    top level down. In half of the rows all nudges go up, but for at most one token, so that about half satisfy B0 and
    most others fail at one place. Some tokens of level h have the value 0; a level has ties or distinct values."""
    x = random.randrange(1, 1 << m)
    h = x.bit_count()
    s = Fraction(random.randint(1, 12), random.randint(1, 6))
    upward, spread = random.random() < 0.6, random.random() < 0.5
    tokens = {}
    higher = [(h, s)]
    odd = random.randrange(1 << m)  # the token that may fall below in an upward row
    for level in range(h, -1, -1):
        here = [z for z in range(1 << m) if overlap(x, z) == level and z != x]
        tight = max([Fraction(0), *(least_value(n, eps, u - level, value, s) for u, value in higher if u > level)])
        for z in here:
            if level == h:
                value = random.choice([Fraction(0), Fraction(random.randint(1, 30), 10), s])
            else:
                nudge = random.choice(NUDGES)
                if upward and z != odd:
                    nudge = abs(nudge) or TINY
                value = max(tight + nudge * (tight or s), Fraction(0))
                if spread and z != odd:
                    value *= 1 + Fraction(random.randint(0, 3), 4)
            tokens[z] = (level, value)
        higher += [tokens[z] for z in here]
    return x, (n, eps, h, s, tokens)


rows = st.builds(
    lambda seed, m, n, eps: near_boundary(Random(seed), m, n, eps),
    st.integers(0, 2**64 - 1),
    st.integers(2, 4),
    st.integers(3, 6),
    st.sampled_from(EPSILONS),
)
small_rows = st.builds(
    lambda seed, size, eps: near_boundary(Random(seed), *size, eps),
    st.integers(0, 2**64 - 1),
    st.sampled_from([(2, 3), (2, 4), (2, 5), (3, 3)]),
    st.sampled_from(EPSILONS),
)


def conditions_as_printed(n, eps, h, s, tokens):
    """(i) and (ii) for every pair of tokens, without extremes."""
    full = [(level, value) for level, value in tokens.values()]
    if s <= 0 or any(value <= 0 for level, value in full if level < h):
        return False
    return all(
        value > least_value(n, eps, u - t, other, s)
        for (t, value), (u, other) in product(full, [*full, (h, s)])
        if u - t >= 1
    )


def decided_at_once(n, eps, h, s, tokens):
    """Is there a readout? Every sequence (x, and up to n-1 more tokens) as two rows of one exact query."""
    row = {"x": (h, s), **tokens}
    conditions = {}
    for length in range(n):
        for others in combinations_with_replacement(row, length):
            counts = Counter(["x", *others])
            target = min(row[z][0] for z in counts)
            weight = sum(k * row[z][1] for z, k in counts.items())
            if weight == 0:
                return False
            output = Poly.of((k * row[z][1], (f"g{z}",)) for z, k in counts.items())
            conditions[f"{others}.low"] = positive(output - (target - eps) * weight)
            conditions[f"{others}.high"] = positive((target + eps) * weight - output)
    return z3_solver.solve(Query("all", conditions, "sat"), 60).status == "sat"


def correct_on_all(m, x, row, found):
    """Is the readout correct at the query x on every sequence (x, ..) of length 1..n, by the definition?"""
    n, eps, _, s, tokens = row
    alpha = {x: s} | {z: value for z, (_, value) in tokens.items()}
    g = {x: found.own} | found.g
    head = Head(m, lambda _, z: alpha[z], lambda _, z: g[z])
    return all(
        correct_at(head, (x, *others), 0, eps)
        for length in range(n)
        for others in product(range(1 << m), repeat=length)
    )


# --- the theorem ----------------------------------------------------------------------------------------------


def conditions_decide(case):
    """B0: (i) and (ii) hold if and only if the linear programme over all sequences has a solution."""
    _, row = case
    assert (violations(*row) is None) == (linear_programme(*row) is not None), row


@settings(max_examples=200, deadline=None)
@given(rows)
def test_conditions_decide_whether_a_readout_exists(case):
    """No mismatch with the linear programme on near-boundary rows."""
    conditions_decide(case)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(rows)
def test_conditions_decide_whether_a_readout_exists_2000(case):
    """The same at 2,000 rows."""
    conditions_decide(case)


def test_near_boundary_rows_are_mixed():
    """Both answers are common among the rows, and (ii) alone decides many of them, also at equality."""
    random, answers = Random(0), Counter()
    for _ in range(300):
        _, row = near_boundary(random, random.randint(2, 4), random.randint(3, 6), random.choice(EPSILONS))
        found = violations(*row)
        answers["holds" if found is None else found.condition] += 1
        answers["tight"] += found is not None and found.condition == "ii" and found.lhs == found.rhs
    assert answers["holds"] >= 75, answers
    assert answers["ii"] >= 75, answers
    assert answers["tight"] >= 20, answers


@settings(max_examples=60, deadline=None)
@given(small_rows)
def test_explicit_readout_is_correct_by_the_definition(case):
    """Where B0 holds, minip accepts the readout on every sequence; elsewhere there is none."""
    x, row = case
    m = (len(row[4]) + 1).bit_length() - 1
    if violations(*row):
        with pytest.raises(ClaimFails, match="no readout is correct"):
            readout(*row)
        return
    found = readout(*row)
    assert found.delta > 0
    assert correct_on_all(m, x, row, found)


@settings(max_examples=150, deadline=None)
@given(rows)
def test_explicit_readout_is_correct_on_large_rows(case):
    """The same for m <= 4, n <= 6, by the oracle's exact check of all sequences."""
    n, eps, h, s, tokens = case[1]
    if violations(n, eps, h, s, tokens) is None:
        found = readout(n, eps, h, s, tokens)
        programme = domination._Programme(n, eps, [(h, s), *tokens.values()])
        assert programme._failed([found.own, *found.g.values()]) == set()


@settings(max_examples=200, deadline=None)
@given(rows)
def test_extremes_suffice(case):
    """`violations` agrees with the conditions for every pair of tokens, and names a pair that fails."""
    n, eps, h, s, tokens = case[1]
    found = violations(n, eps, h, s, tokens)
    assert (found is None) == conditions_as_printed(n, eps, h, s, tokens)
    if found and found.condition == "ii":
        level, value = tokens[found.y]
        other_level, other = (h, s) if found.z is None else tokens[found.z]
        assert other_level - level == found.gap >= 1
        assert found.lhs == 2 * eps * value
        assert found.rhs == 2 * eps * least_value(n, eps, found.gap, other, s)
        assert found.lhs <= found.rhs


# --- the oracle -----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(small_rows)
def test_linear_programme_against_one_exact_query(case):
    """The cutting planes answer as Z3 does on all sequences at once, and a readout that is found is correct."""
    x, row = case
    found = linear_programme(*row)
    assert (found is not None) == decided_at_once(*row)
    if found:
        assert correct_on_all((len(row[4]) + 1).bit_length() - 1, x, row, found)


@pytest.mark.parametrize("nudge", [Fraction(0), Fraction(1, 10**12), Fraction(1, 10**30), -Fraction(1, 10**30)])
def test_margins_below_floats_are_decided(nudge):
    """A row that differs from equality in (ii) by far less than a float can tell."""
    tokens = {"y": (0, Fraction(3) + nudge), "z": (3, Fraction(5, 4))}  # 3 = (3-1) 5/4 + (3/2-1) 1
    row = (3, HALF, 3, Fraction(1), tokens)
    assert (violations(*row) is None) == (nudge > 0)
    assert (linear_programme(*row) is not None) == (nudge > 0)


@settings(max_examples=100, deadline=None)
@given(small_rows, st.integers(-60, 60))
def test_failed_sequences_are_found(case, shift):
    """The scan of all sequences reports a failure exactly where plain fractions do, on the edge of correctness too."""
    n, eps, h, s, tokens = case[1]
    programme = domination._Programme(n, eps, [(h, s), *tokens.values()])
    g = [
        Fraction(level) + (-1) ** level * (eps + shift * Fraction(1, 2**54)) for level, _ in [(h, s), *tokens.values()]
    ]
    slow = set()
    for i in range(len(programme.counts)):
        for sign in (1, -1):
            coefficients, bound = programme._condition(i, sign)
            if sum(c * value for c, value in zip(coefficients, g, strict=True)) >= bound:
                slow.add((i, sign))
    failed = programme._failed(g)
    assert failed <= slow
    assert bool(failed) == bool(slow)


def test_linear_programme_forces_zero_where_the_kernel_is_zero():
    """A token with alpha = 0 adds nothing, whatever its readout value: below level h no readout is correct."""
    at_top = (3, HALF, 1, Fraction(1), {"y": (1, Fraction(0))})
    below = (3, HALF, 1, Fraction(1), {"y": (0, Fraction(0))})
    assert violations(*at_top) is None
    assert linear_programme(*at_top) is not None
    assert readout(*at_top).g == {"y": 0}
    assert violations(*below).condition == "i"
    assert linear_programme(*below) is None


# --- the interface --------------------------------------------------------------------------------------------


def test_violations_are_named():
    """What fails, which tokens, both sides; (i) comes before (ii)."""
    tokens = {"y": (0, Fraction(4)), "z": (4, Fraction(1)), "v": (4, Fraction(2))}
    found = violations(3, HALF, 4, Fraction(1), tokens)
    assert found == Violation("ii", "y", "v", 4, Fraction(4), Fraction(7))  # (4-1) 2 + (4/2-1) 1
    assert str(found) == "(ii) fails for y = y, z = v, d = 4: 2eps alpha(x,y) = 4 is not above 7"
    own = violations(3, HALF, 4, Fraction(3), {"y": (0, Fraction(1))})
    assert own == Violation("ii", "y", None, 4, Fraction(1), Fraction(12))
    assert "z = x" in str(own)
    zero = violations(3, HALF, 4, Fraction(1), tokens | {"w": (2, Fraction(0))})
    assert str(zero) == "(i) fails: alpha(x,w) = 0, expected > 0"
    assert str(violations(3, HALF, 4, Fraction(0), tokens)) == "(i) fails: alpha(x,x) = 0, expected > 0"
    assert violations(3, HALF, 0, Fraction(1), {}) is None


def test_level_extremes():
    """Per level the least and the largest value with the first token that has it."""
    values = {"a": (2, Fraction(5)), "b": (0, Fraction(1)), "c": (2, Fraction(3)), "d": (2, Fraction(5))}
    found = level_extremes(values)
    assert list(found) == [0, 2]
    assert (found[2].least, found[2].largest) == ((Fraction(3), "c"), (Fraction(5), "a"))
    assert found[0].least == found[0].largest == (Fraction(1), "b")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 2}, "n: expected an integer of at least 3, got 2"),
        ({"eps": Fraction(2, 3)}, "eps: expected 0 < eps <= 1/2, got 2/3"),
        ({"eps": Fraction(0)}, "eps: expected"),
        ({"h": -1}, "weight"),
        ({"s": Fraction(-1)}, "alpha"),
        ({"tokens": {"y": (5, Fraction(1))}}, r"token y: expected an overlap of 0\.\.4"),
        ({"tokens": {"y": (1, Fraction(-1))}}, "token y: expected a kernel value of at least 0, got -1"),
        ({"tokens": {None: (1, Fraction(1))}}, "None stands for the query"),
    ],
)
def test_bad_rows_are_refused(change, message):
    """Each function names what is out of range."""
    row = {"n": 3, "eps": HALF, "h": 4, "s": Fraction(1), "tokens": {"y": (0, Fraction(9))}} | change
    for function in (violations, readout, linear_programme):
        with pytest.raises(UsageError, match=message):
            function(**row)


def test_linear_programme_refuses_what_it_cannot_scan():
    """Too many sequences, and kernel values that floats cannot hold."""
    many = {i: (0, Fraction(9)) for i in range(40)}
    with pytest.raises(UsageError, match="sequences, more than"):
        linear_programme(8, HALF, 4, Fraction(1), many)
    with pytest.raises(UsageError, match=r"between 2\^-300 and 2\^300"):
        linear_programme(3, HALF, 4, Fraction(1), {"y": (0, Fraction(10) ** 400)})
