"""Allocations against brute force over all of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.errors import UsageError
from proofcheck.plan.allocation import GOALS, Allocation, Impossible, Space, allocate
from proofcheck.plan.costs import break_even, dense, kernel
from proofcheck.plan.formats import FORMATS


def layers_of(space: Space) -> list[tuple[int, dict[str, int]]]:
    """(bits, costs) of everything that one layer can be: a format, and a multiset of at most H feature numbers."""
    found = [(0, dict.fromkeys(GOALS, 0))]
    for precision in space.formats:
        for count in range(1, space.heads + 1):
            for rs in itertools.combinations_with_replacement(space.features, count):
                costs = {goal: sum(space.cost(goal, r, precision) for r in rs) for goal in GOALS}
                found.append((sum(r * (space.dv + 1) * precision.bits for r in rs), costs))
    return found


def brute(space: Space, goal: str) -> int | None:
    best = None
    for layers in itertools.combinations_with_replacement(layers_of(space), space.layers):
        totals = {name: sum(costs[name] for _, costs in layers) for name in GOALS}
        enough = sum(bits for bits, _ in layers) >= space.bits
        if enough and all(totals[name] <= limit for name, limit in space.limits):
            best = totals[goal] if best is None else min(best, totals[goal])
    return best


SPACES = st.builds(
    Space,
    layers=st.integers(1, 3),
    heads=st.integers(1, 2),
    dv=st.integers(1, 4),
    width=st.integers(1, 8),
    features=st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True).map(tuple),
    formats=st.lists(st.sampled_from([FORMATS[n] for n in ("fp32", "bf16", "fp8")]), min_size=1, unique=True).map(
        tuple
    ),
    bits=st.integers(1, 6000),
    weight_bits=st.sampled_from([8, 16]),
    limits=st.lists(
        st.tuples(st.sampled_from(GOALS), st.integers(0, 4000)), max_size=2, unique_by=lambda item: item[0]
    ).map(tuple),
)


@settings(max_examples=150, deadline=None)
@given(SPACES, st.sampled_from(GOALS))
def test_allocations_are_those_of_brute_force(space: Space, goal: str) -> None:
    found, best = allocate(space, goal), brute(space, goal)
    if isinstance(found, Allocation):
        assert found.totals[goal] == best
        assert found.least <= found.totals[goal]
        assert len(found.layers) <= space.layers
        assert all(sum(count for count, _, _ in layer) <= space.heads for layer in found.layers)
        assert all(len({name for _, _, name in layer}) == 1 for layer in found.layers)
        held = [(k, r, FORMATS[name]) for layer in found.layers for k, r, name in layer]
        assert found.bits == sum(k * r * (space.dv + 1) * f.bits for k, r, f in held) >= space.bits
        for name in GOALS:
            assert found.totals[name] == sum(k * space.cost(name, r, f) for k, r, f in held)
    else:
        assert best is None
        if isinstance(found, Impossible):
            assert found.most < space.bits


def test_what_is_impossible_is_said_with_the_most_bits() -> None:
    space = Space(2, 2, 4, 8, (4, 8), (FORMATS["bf16"],), bits=2561)
    assert allocate(space, "memory") == Impossible(2560, 2561)  # 2 layers x 2 heads x 8 x 5 x 16
    assert isinstance(allocate(Space(2, 2, 4, 8, (4, 8), (FORMATS["bf16"],), bits=2560), "memory"), Allocation)


def test_unknown_goals_are_named() -> None:
    with pytest.raises(UsageError, match="--minimise: expected one of parameters, operations, memory, got 'speed'"):
        allocate(Space(1, 1, 1, 1, (1,), (FORMATS["fp8"],), 1), "speed")


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300))
def test_break_even(r: int, dk: int, dv: int) -> None:
    n = break_even(r, dk, dv)
    assert dense(1, 1, dk, dv, n).operations > kernel(1, 1, r, dv).operations
    assert n == 1 or dense(1, 1, dk, dv, n - 1).operations <= kernel(1, 1, r, dv).operations


def test_costs_by_hand() -> None:
    """2 layers, 3 heads, r = 4, dv = 5: S has 20 numbers and z 4; one token writes and reads both."""
    found = kernel(2, 3, 4, 5)
    assert (found.state, found.operations) == (6 * 24, 6 * (40 + 4 + 40 + 8 + 5))
    assert found.memory(16) == 288
    assert dense(1, 1, 2, 3, 10).state == 50
    assert dense(1, 1, 2, 3, 10).operations == 40 + 30 + 60 + 3
