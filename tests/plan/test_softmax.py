"""The statements about dense softmax, against direct computation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.plan.formats import FORMATS
from proofcheck.plan.softmax import Rounding, collision, exponential, holds, power_of_two, threshold, underflow

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


@given(st.integers(2, 300), st.fractions(Fraction(1, 10), 30, max_denominator=100), st.sampled_from(["fp16", "bf16"]))
def test_a_collision_is_one_and_the_first(m: int, tau: Fraction, name: str) -> None:
    at = FORMATS[name]
    scores = [at.rounded(tau * level) for level in range(m + 1)]
    same = [level for level in range(m) if scores[level] == scores[level + 1]]
    assert collision(m, tau, at) == (same[0] if same else None)


def test_collisions_known() -> None:
    """bf16 has all integers up to 256 and every second one above; fp8 (e4m3) up to 16."""
    assert collision(400, Fraction(16), FORMATS["bf16"]) == 256
    assert collision(64, Fraction(2), FORMATS["fp8"]) == 16
    assert collision(64, Fraction(100), FORMATS["fp8"]) == 4  # 500 is beyond 448
    assert collision(64, Fraction(8), FORMATS["bf16"]) is None


@pytest.mark.parametrize("name", ["fp16", "fp8-e5m2"])
@given(st.sampled_from([1, 2, 4, Fraction(7, 3)]))
def test_underflow_is_where_native_exponentials_vanish(name: str, tau: Fraction) -> None:
    torch = pytest.importorskip("torch")
    kind = {"fp16": torch.float16, "fp8-e5m2": torch.float8_e5m2}[name]
    weights = torch.exp(-float(tau) * torch.arange(41, dtype=torch.float64)).float().to(kind).float()
    zeros = [level for level in range(41) if weights[level] == 0]
    assert underflow(40, Fraction(tau), FORMATS[name]) == (zeros[0] if zeros else None)


def computed(x: np.ndarray, tokens: np.ndarray, tau: float, name: str, order: np.random.Generator) -> float:
    """Softmax as an implementation does it: scores, subtraction, weights in the format; fp32 sums; stored outputs."""
    torch = pytest.importorskip("torch")
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[name]

    def stored(values: np.ndarray) -> np.ndarray:
        return torch.tensor(values, dtype=torch.float32).to(kind).float().numpy()

    tokens = tokens[order.permutation(len(tokens))]
    scores = stored(-tau * (tokens @ x).astype(np.float32))
    weights = stored(np.exp((scores - scores.max()).astype(np.float64)).astype(np.float32))
    below, above = np.float32(0), np.zeros(len(x), dtype=np.float32)
    for weight, token in zip(weights, tokens, strict=True):
        below = np.float32(below + weight)
        above = (above + weight * token).astype(np.float32)
    outputs = stored((above / below).astype(np.float32))
    total = np.float32(0)
    for value, bit in zip(outputs, x, strict=True):
        total = np.float32(total + value * bit)
    return float(total)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(2, 60), st.sampled_from(["fp16", "bf16"]), st.integers(0, 2**32))
def test_rounded_softmax_keeps_the_bound(m: int, n: int, name: str, seed: int) -> None:
    """Random sequences, and the worst kind: one minimiser and n-1 tokens at the same gap."""
    source = np.random.default_rng(seed)
    tau = int(source.choice([1, 2, 4, 8]))
    bound = Rounding(m, n, Fraction(tau), FORMATS[name]).error()
    assert bound is not None
    x = (source.random(m) < 0.8).astype(np.float32)
    if source.random() < 0.5:
        tokens = (source.random((n, m)) < source.random()).astype(np.float32)
        tokens[0] = x
    else:
        tokens = np.tile(x, (n, 1))
        tokens[-1, source.permutation(m)[: source.integers(1, 4)]] = 0
    target = float((tokens @ x).min())
    assert Fraction(abs(computed(x, tokens, tau, name, source) - target)) <= bound


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
    assert power_of_two(64, 10**7, HALF, FORMATS["fp16"]) is None  # too many roundings of sums


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_colliding_scores_err_by_two_thirds(name: str) -> None:
    """The sequence of the module's docstring, computed."""
    at, tau = FORMATS[name], Fraction(19, 2)
    level = collision(2000, tau, at)
    assert level is not None
    x = np.ones(level + 1, dtype=np.float32)
    y = x.copy()
    y[0] = 0
    output = computed(x, np.stack([x, y, x]), float(tau), name, np.random.default_rng(0))
    assert abs(output - level) > 0.5
