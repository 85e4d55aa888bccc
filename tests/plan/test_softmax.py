"""The statements about dense softmax, against direct computation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.plan.formats import FORMATS
from proofcheck.plan.softmax import (
    FIRST,
    LAST,
    Rounding,
    exponential,
    holds,
    logarithm,
    power_of_two,
    rounded_scores,
    threshold,
    underflow,
)

HALF = Fraction(1, 2)
EPS = st.sampled_from([HALF, Fraction(1, 4), Fraction(1, 10)])


def enumerated(m: int, n: int, eps: Fraction, w: Fraction) -> bool:
    """Every sequence of every length by the definition, up to what decides: query first, the others as a multiset."""
    for x in range(1 << m):
        for length in range(1, n + 1):
            for others in itertools.combinations_with_replacement(range(1 << m), length - 1):
                overlaps = [(x & z).bit_count() for z in (x, *others)]
                weights = [w**k for k in overlaps]
                output = sum(map(Fraction.__mul__, weights, map(Fraction, overlaps))) / sum(weights)
                if abs(output - min(overlaps)) >= eps:
                    return False
    return True


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), EPS, st.fractions(Fraction(1, 20), 4, max_denominator=50))
def test_the_threshold_is_an_if_and_only_if(m: int, n: int, eps: Fraction, tau: Fraction) -> None:
    """w between rationals around e^-tau: correctness is monotone in w, so the enumeration at both ends decides."""
    low, high = exponential(-tau)
    verdict = holds(m, n, eps, tau)
    if verdict is not None:
        assert enumerated(m, n, eps, low.limit_denominator(10**12)) is verdict
        assert enumerated(m, n, eps, high.limit_denominator(10**12)) is verdict


def test_threshold_at_three_tokens() -> None:
    """log(6)/2, where Theorem 1 asks for log 6."""
    assert threshold(8, 3, HALF) == (Fraction(8958, 10**4), Fraction(8959, 10**4))
    assert threshold(1, 3, HALF) == (Fraction(6931, 10**4), Fraction(6932, 10**4))  # log 2: no gap of 2
    assert threshold(5, 1, HALF)[0] == 0


@given(st.integers(1, 40), st.integers(2, 5000), EPS)
def test_threshold_is_tight_in_its_last_place(m: int, n: int, eps: Fraction) -> None:
    low, high = threshold(m, n, eps)
    assert holds(m, n, eps, high) is True
    assert low == 0 or holds(m, n, eps, low) is False
    assert high - low <= Fraction(2, 10**4)


@given(st.fractions(-80, 5, max_denominator=1000))
def test_exponential_encloses(x: Fraction) -> None:
    low, high = exponential(x)
    assert 0 < low <= high < low * (1 + Fraction(1, 10**30))
    assert abs(float(low) / np.exp(float(x)) - 1) < 1e-12


@given(st.fractions(Fraction(1, 100), 10**6, max_denominator=1000))
def test_logarithm_encloses(x: Fraction) -> None:
    low, high = logarithm(x)
    assert low <= high <= low + Fraction(1, 10**30)
    assert exponential(low)[0] <= x * (1 + Fraction(1, 10**30))
    assert exponential(high)[1] >= x * (1 - Fraction(1, 10**30))


def wrong(m: int, n: int, eps: Fraction, scores: list[Fraction]) -> dict[tuple[int, int], bool]:
    """(target, gap) -> whether the sequence with n-1 tokens at this gap errs by eps or more: by floats, far enough from
    equality."""
    found = {}
    for t in range(m):
        for d in range(1, m - t + 1):
            weight = np.exp(-float(scores[t + d] - scores[t]))
            error = (n - 1) * d * weight / (1 + (n - 1) * weight)
            if abs(error - float(eps)) > 1e-9:
                found[t, d] = error >= eps
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 60),
    st.integers(2, 5000),
    EPS,
    st.fractions(Fraction(1, 10), 30, max_denominator=100),
    st.sampled_from(["fp16", "bf16", "fp8"]),
)
def test_rounded_scores_find_the_first_violation(m: int, n: int, eps: Fraction, tau: Fraction, name: str) -> None:
    at = FORMATS[name]
    scores = [at.rounded(tau * level) for level in range(m + 1)]
    failure = rounded_scores(m, n, eps, tau, at)
    if any(score is None for score in scores):
        assert failure is not None
        assert failure.beyond
        return
    judged = wrong(m, n, eps, scores)
    if failure is None:
        assert not any(judged.values())
    else:
        assert judged.get((failure.level, failure.gap), True)
        assert failure.error >= eps - Fraction(1, 10**20)
        before = [key for key, bad in judged.items() if bad and (key[1], key[0]) < (failure.gap, failure.level)]
        assert not before


def test_rounded_scores_known() -> None:
    """bf16 has all integers up to 256 and every second one above; fp8 (e4m3) up to 16, and 448 at most. At tau = 9.011
    the scores of overlaps 29 and 30 differ by 8 in bf16, less than log 4095 = 8.32."""
    failure = rounded_scores(400, 3, HALF, Fraction(16), FORMATS["bf16"])
    assert failure is not None
    assert (failure.level, failure.gap) == (256, 1)
    assert failure.error == Fraction(2, 3)
    assert rounded_scores(64, 4096, HALF, Fraction(16), FORMATS["bf16"]) is None
    overflow = rounded_scores(64, 3, HALF, Fraction(100), FORMATS["fp8"])
    assert overflow is not None
    assert (overflow.level + 1, overflow.beyond) == (5, True)
    close = rounded_scores(64, 4096, HALF, Fraction(9011, 1000), FORMATS["bf16"])
    assert close is not None
    assert (close.level, close.gap) == (29, 1)
    assert 0.578 < close.error < 0.58


@pytest.mark.parametrize("name", ["fp16", "fp8-e5m2"])
@given(st.sampled_from([1, 2, 4, Fraction(7, 3)]))
def test_underflow_is_where_native_exponentials_vanish(name: str, tau: Fraction) -> None:
    torch = pytest.importorskip("torch")
    kind = {"fp16": torch.float16, "fp8-e5m2": torch.float8_e5m2}[name]
    weights = torch.exp(-float(tau) * torch.arange(41, dtype=torch.float64)).float().to(kind).float()
    zeros = [level for level in range(41) if weights[level] == 0]
    assert underflow(40, Fraction(tau), FORMATS[name]) == (zeros[0] if zeros else None)


def computed(
    x: np.ndarray, tokens: np.ndarray, tau: float, name: str, order: str, source: np.random.Generator
) -> float:
    """Softmax as an implementation does it: scores, subtraction, weights in the format; fp32 sums; stored outputs."""
    torch = pytest.importorskip("torch")
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[name]

    def stored(values: np.ndarray) -> np.ndarray:
        return torch.tensor(values, dtype=torch.float32).to(kind).float().numpy()

    tokens = tokens[source.permutation(len(tokens))]
    scores = stored(-tau * (tokens @ x).astype(np.float32))
    weights = np.exp((scores - scores.max()).astype(np.float64)).astype(np.float32)
    if source.random() < 0.5:  # rounded to the format or not
        weights = stored(weights)
    total = np.float32(0)
    for weight in weights:
        total = np.float32(total + weight)
    if order == FIRST:
        weights, total = stored((weights / total).astype(np.float32)), np.float32(1)
    above = np.zeros(len(x), dtype=np.float32)
    for weight, token in zip(weights, tokens, strict=True):
        above = (above + weight * token).astype(np.float32)
    result = np.float32(0)
    for value, bit in zip(stored((above / total).astype(np.float32)), x, strict=True):
        result = np.float32(result + value * bit)
    return float(result)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(2, 60),
    st.sampled_from(["fp16", "bf16"]),
    st.sampled_from([LAST, FIRST]),
    st.integers(0, 2**32),
)
def test_rounded_softmax_keeps_the_bound(m: int, n: int, name: str, order: str, seed: int) -> None:
    """Random sequences, and the worst kinds: one minimiser and n-1 tokens at one gap; many tokens at the minimum."""
    source = np.random.default_rng(seed)
    tau = int(source.choice([1, 2, 4, 8, 16]))
    bound = Rounding(m, n, Fraction(tau), FORMATS[name], order).error()
    assert bound is not None
    kind = source.integers(3)
    x = np.ones(m, dtype=np.float32) if kind else (source.random(m) < 0.8).astype(np.float32)
    if kind == 0:
        tokens = (source.random((n, m)) < source.random()).astype(np.float32)
        tokens[0] = x
    elif kind == 1:
        tokens = np.tile(x, (n, 1))
        tokens[-1, source.permutation(m)[: source.integers(1, 4)]] = 0
    else:
        row = (np.arange(m) < source.integers(1, m + 1)).astype(np.float32)
        tokens = np.stack([x, *(np.roll(row, i) for i in range(n - 1))])
    target = float((tokens @ x).min())
    assert Fraction(abs(computed(x, tokens, tau, name, order, source) - target)) <= bound


def test_stored_weights_can_err_more_than_the_division_last_allows() -> None:
    """Eager attention in bf16, the query all ones and 255 cyclic shifts of 88 ones: within the bound of that order."""
    torch = pytest.importorskip("torch")
    m, n, weight = 110, 256, 88
    row = (torch.arange(m) < weight).float()
    tokens = torch.stack([torch.ones(m), *(row.roll(i) for i in range(n - 1))]).to(torch.bfloat16)
    scores = -16 * (tokens @ torch.ones(m, dtype=torch.bfloat16))
    outputs = torch.softmax(scores, 0).to(torch.bfloat16) @ tokens
    error = abs(float(outputs.double().sum()) - weight)
    bounds = [Rounding(m, n, Fraction(16), FORMATS["bf16"], order).error() for order in (LAST, FIRST)]
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[0] < HALF <= bounds[1]
    assert error <= bounds[1]


def test_power_of_two_is_least_and_refused_where_scores_round() -> None:
    found = power_of_two(64, 4096, HALF, FORMATS["bf16"])
    assert found is not None
    assert found.tau == 16
    error = found.error()
    assert error is not None
    assert error < HALF
    half = Rounding(64, 4096, found.tau / 2, FORMATS["bf16"]).error()
    assert half is not None
    assert half >= HALF
    assert power_of_two(300, 3, HALF, FORMATS["bf16"]) is None  # 257 is no bf16 number
    assert not Rounding(8, 3, Fraction(1, 2**30), FORMATS["fp16"]).exact_scores  # all would be zero
    assert power_of_two(64, 10**7, HALF, FORMATS["fp16"]) is None  # too many roundings of sums


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_the_sequence_of_a_score_failure_fails_in_practice(name: str) -> None:
    at, tau = FORMATS[name], Fraction(19, 2)
    failure = rounded_scores(2000, 3, HALF, tau, at)
    assert failure is not None
    h = failure.level + failure.gap
    x = np.ones(h, dtype=np.float32)
    y = (np.arange(h) < failure.level).astype(np.float32)
    output = computed(x, np.stack([x, y, x]), float(tau), name, LAST, np.random.default_rng(0))
    assert abs(output - failure.level) >= 0.5
