"""Chains against every composition and against longest paths; the printed table; tight rows against B0."""

from fractions import Fraction
from math import prod

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import chains
from proofcheck.chains import Chain, best, graph, tight_row, tokens, uniform, useful_gaps, weights
from proofcheck.domination import linear_programme, violations
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.claims.parameters import factor, least_gap
from proofcheck.kernel.minip import overlap

HALF = Fraction(1, 2)
PRINTED = [1, 2, 3, 4, 5, 6, 9, 12, 16, 20, 27]  # mathematics.md B1: n = 3, eps = 1/2, D = 2..12
TIGHT = [(3, HALF), (4, Fraction(1, 4)), (8, Fraction(3, 10))]

epsilons = st.fractions(min_value=0, max_value=HALF, max_denominator=30).filter(bool)
lengths = st.integers(3, 12) | st.sampled_from([50, 1000])


# --- slow definitions -----------------------------------------------------------------------------------------


def compositions(distance):
    if distance == 0:
        yield ()
    for first in range(1, distance + 1):
        yield from ((first, *rest) for rest in compositions(distance - first))


def product_of(n, eps, gaps):
    return prod((factor(n, Fraction(gap), eps) for gap in gaps), start=Fraction(1))


def best_by_listing(n, eps, distance):
    """Of all compositions into admissible gaps: the largest product, then the fewest gaps, then the first in order."""
    least = least_gap(n, eps)
    admissible = [gaps for gaps in compositions(distance) if all(gap >= least for gap in gaps)]
    return min(admissible, key=lambda gaps: (-product_of(n, eps, gaps), len(gaps), gaps), default=None)


def longest_path(dag, distance):
    """The largest product of factors from node 0 to node `distance`, in the order that networkx gives; 0 if none."""
    value = dict.fromkeys(dag, Fraction(0)) | {0: Fraction(1)}
    for node in nx.topological_sort(dag):
        for _, after, edge in dag.out_edges(node, data=True):
            value[after] = max(value[after], value[node] * edge["factor"])
    return value[distance]


# --- the best chain -------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(lengths, epsilons, st.integers(0, 12))
def test_best_is_the_first_of_all_compositions(n, eps, distance):
    """Product, number of gaps and order, against the list of all compositions."""
    found, expected = best(n, eps, distance), best_by_listing(n, eps, distance)
    assert (found.gaps if found else None) == expected
    assert weights(n, eps, distance)[distance] == (product_of(n, eps, expected) if expected is not None else 0)


@settings(max_examples=60, deadline=None)
@given(lengths, epsilons, st.integers(0, 40))
def test_best_is_a_longest_path(n, eps, distance):
    """Against the DAG with all its edges: nothing is lost with the gaps that `useful_gaps` leaves out."""
    dag = graph(n, eps, distance)
    found = best(n, eps, distance)
    assert (found.product if found else 0) == longest_path(dag, distance)
    if found:
        assert nx.is_simple_path(dag, found.levels)
        assert prod(dag.edges[edge]["factor"] for edge in nx.utils.pairwise(found.levels)) == found.product
        assert (found.levels[0], found.levels[-1], found.distance) == (0, distance, distance)


@pytest.mark.parametrize(("n", "eps", "gaps"), [(3, HALF, (7,)), (3, HALF, (2,)), (5, HALF, (4,))])
def test_ties_go_to_fewer_gaps(n, eps, gaps):
    """At n=3, eps=1/2, D=7 the gap 7 and 3+4 both give 6."""
    assert best(n, eps, sum(gaps)).gaps == gaps == best_by_listing(n, eps, sum(gaps))


@settings(max_examples=60, deadline=None)
@given(lengths, epsilons)
def test_useful_gaps(n, eps):
    """They start at the least admissible gap and end below 8, and every gap beyond is worth less than its halves."""
    useful = useful_gaps(n, eps)
    assert useful.start - 1 < least_gap(n, eps) <= useful.start < useful.stop <= 8
    for gap in range(useful.stop, useful.stop + 20):
        halves = (gap // 2, gap - gap // 2)
        assert min(halves) >= useful.start
        assert product_of(n, eps, halves) > product_of(n, eps, [gap])


def test_table_of_the_best_products():
    """w(2..12) as printed; from 12 on 4^a 3^b with b = -D mod 5, 5a + 4b = D."""
    found = weights(3, HALF, 60)
    assert found[:2] == [1, 0]
    assert found[2:13] == PRINTED
    for distance in range(12, 61):
        b = -distance % 5
        a = (distance - 4 * b) // 5
        assert a >= 0
        assert 5 * a + 4 * b == distance
        assert found[distance] == 4**a * 3**b
        assert best(3, HALF, distance).product == found[distance]


@settings(max_examples=40, deadline=None)
@given(lengths, epsilons)
def test_weights_increase(n, eps):
    """0 below the least admissible gap (but for the empty chain), then strictly increasing from at least 1."""
    found = weights(n, eps, 30)
    least = useful_gaps(n, eps).start
    assert found[0] == 1
    assert not any(found[1:least])
    assert found[least] >= 1
    assert all(a < b for a, b in zip(found[least:], found[least + 1 :], strict=False))
    assert [best(n, eps, d) is None for d in range(30)] == [w == 0 for w in found[:30]]


def test_long_distances_are_quick():
    """D = 5,000 takes a fraction of a second, and its product has the closed form."""
    assert best(3, HALF, 5_000).product == 4**1000


# --- the paper's chain ------------------------------------------------------------------------------------------


def test_uniform_chain_of_the_paper():
    """g = 5 gives 4 at D = 8 by the paper's count and 16 at D = 12; the first gap takes the remainder."""
    assert uniform(3, HALF, 12, 5).levels == (0, 7, 12)
    assert uniform(3, HALF, 8, 5).gaps == (8,)
    assert [factor(3, Fraction(5), HALF) ** (distance // 5) for distance in (8, 12)] == [4, 16]
    assert [uniform(3, HALF, distance, 5).product for distance in (8, 12)] == [7, 24]  # with the remainder in the gap
    assert uniform(3, HALF, 15, 5) == Chain(3, HALF, (5, 5, 5))


@settings(max_examples=80, deadline=None)
@given(lengths, epsilons, st.integers(1, 60), st.integers(1, 20))
def test_uniform_chain(n, eps, distance, gap):
    """Levels as Theorem 5 has them; at least mu(g)^floor(D/g) and at most the best product. Bad g is named."""
    least = useful_gaps(n, eps).start
    if gap < least:
        with pytest.raises(UsageError, match=f"the least admissible gap .* is {least}, got {gap}"):
            uniform(n, eps, distance, gap)
    elif distance < gap:
        with pytest.raises(UsageError, match=f"needs D >= {gap}, got {distance}"):
            uniform(n, eps, distance, gap)
    else:
        chain = uniform(n, eps, distance, gap)
        steps, remainder = divmod(distance, gap)
        assert chain.levels == (0, *(i * gap + remainder for i in range(1, steps + 1)))
        assert factor(n, Fraction(gap), eps) ** steps <= chain.product <= best(n, eps, distance).product


# --- tokens -----------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_tokens_realise_the_levels(data):
    """One token for each level, from the complement of x to z."""
    m = data.draw(st.integers(2, 60))
    x, z = (data.draw(st.integers(0, 2**m - 1)) for _ in range(2))
    chain = best(3, HALF, overlap(x, z))
    if chain is None or not chain.gaps:
        return
    found = tokens(chain, x, z, m=m)
    assert tuple(overlap(x, token) for token in found) == chain.levels
    assert found[0] == 2**m - 1 - x
    assert found[-1] == z
    y0 = data.draw(st.integers(0, 2**m - 1)) & ~x
    assert tokens(chain, x, z, y0) == [y0, *found[1:]]


def test_tokens_of_theorem_5():
    """x = S, y_0 = S^c, z = U^c: the distance is |S\\U|."""
    s, u, full = 0b000011111111, 0b111100001111, 0b111111111111
    chain = best(3, HALF, (s & ~u).bit_count())
    assert tokens(chain, s, full & ~u, m=12) == [full & ~s, full & ~u]
    assert tokens(uniform(3, HALF, 4, 2), s, full & ~u, m=12) == [full & ~s, 0b11, full & ~u]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0b1111, 0b0111), "expected an overlap of 4 with x, got 3"),
        ((0b1111, 0b1111, 0b10001), "expected a token disjoint from x, got an overlap of 1"),
        ((0b1111, 0b1111, None, 3), "do not fit into 3 bits"),
        ((0b1111, 0b1111, -1), "non-negative"),
    ],
)
def test_tokens_refuse_what_does_not_fit(arguments, message):
    """The argument and the overlap are named."""
    with pytest.raises(UsageError, match=message):
        tokens(Chain(3, HALF, (2, 2)), *arguments)


# --- tight rows -------------------------------------------------------------------------------------------------


def b0_holds(n, eps, row, s):
    """Every condition of B0 for a query of weight D, from the printed form."""
    top = len(row) - 1
    pairs = [(low, high, row[high]) for low in range(top) for high in range(low + 1, top + 1)]
    pairs += [(low, top, s) for low in range(top)]
    return (
        s > 0
        and min(row) > 0
        and all(
            2 * eps * row[low]
            > (n - 2) * (high - low - 2 * eps) * value + (Fraction((n - 2) * (high - low), n - 1) - 2 * eps) * s
            for low, high, value in pairs
        )
    )


@pytest.mark.parametrize(("n", "eps"), TIGHT)
def test_tight_rows(n, eps):
    """D = 2..40: B0 holds, and a_0/a_D is within delta above w(D)."""
    delta = Fraction(1, 100)
    for distance in range(2, 41):
        row, s = tight_row(n, eps, distance, delta)
        assert len(row) == distance + 1
        assert b0_holds(n, eps, row, s)
        assert (
            weights(n, eps, distance)[distance] < row[0] / row[distance] < weights(n, eps, distance)[distance] + delta
        )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 40),
    epsilons,
    st.integers(1, 14),
    st.sampled_from([Fraction(10), Fraction(1, 7), Fraction(1, 10**6)]),
)
def test_tight_rows_at_any_parameters(n, eps, distance, delta):
    """The same where inadmissible gaps have a factor between 0 and 1."""
    w = weights(n, eps, distance)[distance]
    if w == 0:
        with pytest.raises(UsageError, match=f"D: expected an integer of at least {useful_gaps(n, eps).start}"):
            tight_row(n, eps, distance, delta)
        return
    row, s = tight_row(n, eps, distance, delta)
    assert b0_holds(n, eps, row, s)
    assert w < row[0] / row[distance] < w + delta


def test_tight_row_has_a_readout():
    """The linear programme over all sequences finds a readout for it, and none once a_0 is lowered to w(D)."""
    row, s = tight_row(3, HALF, 8, Fraction(1, 10))
    held = {level: (level, value) for level, value in enumerate(row)}
    assert linear_programme(3, HALF, 8, s, held) is not None
    lowered = held | {0: (0, Fraction(9))}
    assert violations(3, HALF, 8, s, lowered) is not None
    assert linear_programme(3, HALF, 8, s, lowered) is None


def test_the_row_with_admissible_gaps_only_is_not_enough():
    """Why `tight_row` departs from B1's formula: n = 3, eps = 9/20 has mu(1) = 1/9 between 0 and 1, so the value next
    to the top cannot be tiny beside a_D = 1; the formula's row fails exactly there."""
    n, eps, top, tiny = 3, Fraction(9, 20), 8, Fraction(1, 10**6)
    w = [
        max(
            ((1 + tiny) ** len(gaps) * product_of(n, eps, gaps) for gaps in compositions(d) if 1 not in gaps), default=0
        )
        for d in range(top + 1)
    ]
    row = [max((1 if v == top else tiny) * w[v - low] for v in range(low, top + 1)) for low in range(top + 1)]
    held = {level: (level, value) for level, value in enumerate(row)}
    found = violations(n, eps, top, tiny**2, held)
    assert (found.condition, found.y, found.z) == ("ii", top - 1, top)
    assert linear_programme(n, eps, top, tiny**2, {key: held[key] for key in (top - 1, top)}) is None


def test_a_wrong_row_is_not_handed_out(monkeypatch):
    """The final check does not rest on the construction."""
    monkeypatch.setattr(chains, "_least_row", lambda top, unit, *_: (Fraction(1),) * (top + 1))
    with pytest.raises(ClaimFails, match=r"\(ii\) fails"):
        tight_row(3, HALF, 8, Fraction(1))


# --- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "eps"), [(2, HALF), (3, Fraction(0)), (3, Fraction(3, 5)), (3, Fraction(-1, 2))])
def test_parameters_out_of_range(n, eps):
    """n >= 3 and 0 < eps <= 1/2, in every function."""
    calls = [
        lambda: graph(n, eps, 5),
        lambda: uniform(n, eps, 5, 3),
        lambda: best(n, eps, 5),
        lambda: weights(n, eps, 5),
        lambda: tight_row(n, eps, 5, Fraction(1)),
        lambda: Chain(n, eps, (3,)),
    ]
    for call in calls:
        with pytest.raises(UsageError, match=r"n: expected|eps: expected"):
            call()


def test_distances_out_of_range():
    """Negative distances, a graph that is too large, a delta that is not positive, an inadmissible gap."""
    for call in (graph, best, weights):
        with pytest.raises(UsageError, match="at least 0, got -1"):
            call(3, HALF, -1)
    with pytest.raises(UsageError, match="at most 1000 levels"):
        graph(3, HALF, 1001)
    with pytest.raises(UsageError, match="delta: expected a positive number"):
        tight_row(3, HALF, 5, Fraction(0))
    with pytest.raises(UsageError, match="gap 1: the least admissible gap at n = 3, eps = 1/2 is 2"):
        Chain(3, HALF, (3, 1))
    with pytest.raises(UsageError, match="at least one gap"):
        tokens(Chain(3, HALF, ()), 1, 2)
