"""The lines of a plan, against the bounds that they come from."""

from __future__ import annotations

import functools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.bounds import best
from proofcheck.errors import CONDITIONAL, FAILS, PROVED, UsageError
from proofcheck.plan.advice import _transcript, advise, longest
from proofcheck.plan.design import FAILING, IMPOSSIBLE, NONE, NOT_EXCLUDED, SUFFICIENT, Design, Line, Plan
from proofcheck.plan.formats import Format, named
from proofcheck.transcripts import best_bound

HALF = Fraction(1, 2)
PRECISIONS = st.sampled_from(["int1", "fp8", "int3"])


@functools.cache
def window(m: int, n: int) -> best.Window:
    return best.window(m, n, HALF)


def design(**given: object) -> Design:
    usual = {"m": 8, "n": 12, "eps": HALF, "layers": 1, "heads": 1, "r": 4, "dv": 3, "width": 8}
    return Design(**(usual | {"precision": named("bf16")} | given))


def starting(lines: list[Line], text: str, topic: str = "") -> Line:
    (found,) = (line for line in lines if line.asks.startswith(text) and line.topic.startswith(topic))
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), PRECISIONS)
def test_bits_features_and_precisions_agree(layers: int, heads: int, r: int, dv: int, name: str) -> None:
    """p >= P and r >= R are exactly where L H r (dv+1) p >= B."""
    asked = design(layers=layers, heads=heads, r=r, dv=dv, precision=named(name))
    plan = advise(asked, window(8, 12))
    needed = best_bound(8, 12).bits
    total = starting(plan.lines, "L H r")
    assert str(needed) in total.asks
    assert total.verdict == (NOT_EXCLUDED if layers * heads * r * (dv + 1) * named(name).bits >= needed else IMPOSSIBLE)
    least = int(starting(plan.lines, "p >= ").asks.split()[2])
    assert layers * heads * r * (dv + 1) * least >= needed > layers * heads * r * (dv + 1) * (least - 1)
    for name, features in starting(plan.lines, "r >= ", "all layers").figures["least r"].items():
        p = named(name).bits
        assert layers * heads * features * (dv + 1) * p >= needed > layers * heads * (features - 1) * (dv + 1) * p


def test_one_head_below_the_bound_is_impossible_and_several_are_not_judged() -> None:
    """16 heads of one feature can be softmax: head u has phiK(z) = w^<u,z>, and query x reads head x."""
    alone = advise(design(m=6, n=3, r=3), window(6, 3))
    assert "needs 4 features, not 3" in alone.excluded
    assert alone.status == FAILS
    several = advise(design(m=6, n=3, r=3, heads=2), window(6, 3))
    assert not several.excluded
    line = starting(several.lines, "r >= 4", "one nonnegative")
    assert line.verdict == NONE
    assert "about one head alone" in line.why
    assert several.status == PROVED


def test_enough_features_are_sufficient_only_with_enough_values() -> None:
    """r = 5 at m = 4 is enough for some head, and with dv = 1 no head is correct at m >= 3."""
    upper = window(6, 3).upper.value
    for dv, verdict in ((1, NONE), (62, NONE), (63, SUFFICIENT)):
        plan = advise(design(m=6, n=3, r=upper, dv=dv), window(6, 3))
        assert starting(plan.lines, f"r = {upper} is enough").verdict == verdict
        assert starting(plan.lines, "r >= 4", "one nonnegative").verdict == NOT_EXCLUDED


def test_a_named_theorem_makes_a_plan_conditional() -> None:
    """m = 7: m - 2 by Borsuk-Ulam. A design is not impossible on that ground alone; below a bound without it, it
    is."""
    plan = advise(design(m=7, n=3, r=4, precision=named("fp32")), window(7, 3))
    assert not plan.excluded
    assert plan.status == CONDITIONAL
    line = starting(plan.lines, "r >= 5", "one nonnegative")
    assert (line.verdict, "Borsuk-Ulam" in line.why) == (IMPOSSIBLE, True)
    assert starting(plan.lines, "r >= 4", "one nonnegative").verdict == NOT_EXCLUDED
    lower = advise(design(m=7, n=3, r=3, precision=named("fp32")), window(7, 3))
    assert "needs 4 features, not 3" in lower.excluded
    assert lower.status == FAILS


@settings(max_examples=20, deadline=None)
@given(st.integers(4, 40), st.integers(3, 300), st.integers(1, 300))
def test_bits_needed_are_never_less_than_at_a_smaller_length(m: int, n: int, bits: int) -> None:
    """The verdict agrees with the length from which the design is impossible."""
    beyond = longest(m, bits)
    plan = Plan(design(m=m, n=n, r=1, dv=1, heads=1, precision=Format("bits", bits)))
    lines = list(_transcript(plan))
    total = starting(lines, "L H r")
    if 2 * bits < plan.needed:
        assert total.verdict == IMPOSSIBLE
    assert plan.needed >= best_bound(m, n).bits
    found = longest(m, 2 * bits)
    assert (total.verdict == IMPOSSIBLE) == (found is not None and found.n is not None and found.n <= n)
    assert beyond is None or found is None or beyond.n <= found.n


@settings(max_examples=30, deadline=None)
@given(st.integers(5, 14), st.integers(1, 400))
def test_the_longest_length_is_where_the_bound_passes_the_bits(m: int, bits: int) -> None:
    found = longest(m, bits)
    if found is None:
        assert best_bound(m).bits <= bits
        assert best_bound(m, 10**6).bits <= bits
    else:
        assert found.n is not None
        assert best_bound(m, found.n).bits == found.bits > bits
        assert found.n == 2 or best_bound(m, found.n - 1).bits <= bits


def test_every_certificate_named_is_in_the_bundle() -> None:
    plan = advise(design(tau=Fraction(3)), window(8, 12))
    held = {certificate.id for _, certificate in plan.bundle}
    named_ids = {line.certificate.id for line in plan.lines if line.certificate}
    assert len(named_ids) >= 4
    assert named_ids <= held


@pytest.mark.parametrize(
    ("tau", "verdict"), [(Fraction(1, 2), FAILING), (Fraction(9, 10), SUFFICIENT), (Fraction(3), SUFFICIENT)]
)
def test_a_temperature_is_judged_by_the_exact_threshold(tau: Fraction, verdict: str) -> None:
    plan = advise(design(m=6, n=3, r=4, tau=tau), window(6, 3))
    (line,) = (line for line in plan.lines if line.why.startswith("if and only if: tau"))
    assert line.verdict == verdict


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"m": 3}, "-m: expected 4 <= m <= 2048"),
        ({"m": 2049}, "-m: expected 4 <= m <= 2048"),
        ({"n": 2}, "-n: expected 3 <= n"),
        ({"layers": 0}, "--layers: expected 1 <= layers"),
        ({"heads": -1}, "--heads: expected 1 <= heads"),
        ({"r": 0}, "-r: expected 1 <= r"),
        ({"dv": 10**7}, "--dv: expected 1 <= dv <= 1000000, got 10000000"),
    ],
)
def test_impossible_sizes_are_named(given: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        design(**given)
