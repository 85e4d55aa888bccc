"""The extremes of each level, compiled and by tensors, against a loop over all tokens."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from proofcheck.neural import extremes as module  # noqa: E402
from proofcheck.neural import native  # noqa: E402
from proofcheck.neural.extremes import Layout, extremes  # noqa: E402

WAYS = (module._Native, module._Extremes)


def by(way, queries, keys, layout):
    return way.apply(queries, keys, layout)


def naive(queries, keys, m):
    """Least and largest value and their tokens, by level, for one head; in double precision."""
    found = [], [], [], []
    for x in range(1 << m):
        for level in range(x.bit_count() + 1):
            tokens = [z for z in range(1 << m) if (x & z).bit_count() == level]
            values = [sum(float(q) * float(k) for q, k in zip(queries[x], keys[z], strict=True)) for z in tokens]
            nans = [value for value in values if math.isnan(value)]
            for i, extreme in enumerate((min, max)):
                value = nans[0] if nans else extreme(values)
                found[i].append(value)
                same = [math.isnan(v) if nans else v == value for v in values]
                found[2 + i].append(tokens[same.index(True)])
    return [np.array(part) for part in found]


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 6),
    heads=st.integers(0, 3),
    rank=st.integers(1, 7),
    signed=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**20),
)
def test_values_tokens_and_gradients_are_those_of_tensors(m, heads, rank, signed, dtype, seed):
    """Features of any sign, or positive ones. The two ways add in different orders, so nearly equal tokens may change
    places; each must have the value that is said."""
    source = torch.Generator().manual_seed(seed)
    made = torch.randn(2, heads, 1 << m, rank, dtype=dtype, generator=source)
    made = made if signed else made.abs()
    layout = Layout.build(m)
    alpha = made[0] @ made[1].mT
    weights = torch.rand(2, heads, len(layout.query), dtype=dtype, generator=source)
    results = []
    rounding = 2.0 ** (-18 if dtype == torch.float32 else -46)
    for way in WAYS:
        features = made.clone().requires_grad_()
        low, high, tokens = by(way, features[0], features[1], layout)
        (weights[0] * low + weights[1] * high).sum().backward()
        named = alpha[torch.arange(heads)[:, None, None], layout.query, tokens]
        assert torch.allclose(torch.stack([low, high], 1), named, rtol=0, atol=rounding)
        results.append((low, high, tokens, features.grad))
    for a, b in zip(*(result[:2] for result in results), strict=True):
        assert torch.allclose(a, b, rtol=0, atol=rounding)
    if dtype == torch.float64:
        assert torch.equal(results[0][2], results[1][2])
        assert torch.allclose(results[0][3], results[1][3], rtol=0, atol=1e-9)
    plain = made.clone().requires_grad_()
    at = (plain[0] @ plain[1].mT)[torch.arange(heads)[:, None, None], layout.query, results[0][2]]
    (weights[0] * at[:, 0] + weights[1] * at[:, 1]).sum().backward()
    assert torch.allclose(results[0][3], plain.grad, rtol=1e-4, atol=1e-5)


FINITE, INFINITE, ANY = [-0.0], [math.inf, -math.inf], [math.inf, -math.inf, math.nan]


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 6),
    rank=st.integers(1, 5),
    special=st.sampled_from([FINITE, INFINITE, ANY]),
    share=st.sampled_from([0.005, 0.5]),
    range_=st.sampled_from([1, 3]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**20),
)
def test_ties_infinities_and_nan(m, rank, special, share, range_, dtype, seed):
    """Small integers, whose sums of products are exact and often equal, and a few or many special values: the value and
    the token are those of a loop, whichever way."""
    source = np.random.default_rng(seed)
    made = source.integers(-range_, range_ + 1, (2, 2, 1 << m, rank)).astype(float)
    made = np.where(source.random(made.shape) < share, source.choice(special, made.shape), made)
    queries, keys = torch.from_numpy(made).to(dtype)
    expected = [naive(q, k, m) for q, k in zip(made[0].tolist(), made[1].tolist(), strict=True)]
    for way in WAYS:
        low, high, tokens = by(way, queries, keys, Layout.build(m))
        for b, wanted in enumerate(expected):
            for found, want in zip((low[b], high[b], tokens[b, 0], tokens[b, 1]), wanted, strict=True):
                assert np.array_equal(found.numpy(), want, equal_nan=True)


@pytest.mark.parametrize("m", [2, 5])
def test_overflow(m):
    """Products of finite features that are too large for float32 are infinite, and the first of them is named."""
    queries, keys = torch.full((1, 1 << m, 1), 1e30), torch.full((1, 1 << m, 1), -0.5)
    keys[0, 0], keys[0, 3] = -5.0, 1e30
    if m == 5:
        keys[0, 12] = -1e30
    for way in WAYS:
        low, high, tokens = by(way, queries, keys, Layout.build(m))
        assert high[0, 0] == float("inf")
        assert tokens[0, :, 0].tolist() == ([0, 3] if m == 2 else [12, 3])
        assert low[0, 0] == (pytest.approx(-5e30) if m == 2 else float("-inf"))


@pytest.mark.parametrize("m", [3, 6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_equal_values_the_first_counts(m, sign):
    equal = torch.ones(2, 1 << m, 3)
    layout = Layout.build(m)
    # the first token of a level has the lowest bits of the query
    first = [
        sum(1 << b for b in [b for b in range(m) if x >> b & 1][:level])
        for x in range(1 << m)
        for level in range(x.bit_count() + 1)
    ]
    for way in WAYS:
        _, _, tokens = by(way, equal, sign * equal, layout)
        assert (tokens == torch.tensor(first)).all()


@pytest.mark.parametrize("m", [1, 4, 6])
def test_every_token_is_laid_out_once_by_level(m):
    """All gatherings together lead from the level l of x to exactly the tokens z with <x,z> = l."""
    layout = Layout.build(m)
    held = [{(p >> m, p & (1 << m) - 1)} for p in range(4**m)]
    for index in layout.gatherings:
        held = [set().union(*(held[c] for c in chunk)) for chunk in index.T.tolist()]
    places = iter(held)
    for x in range(1 << m):
        for level in range(x.bit_count() + 1):
            assert next(places) == {(x, z) for z in range(1 << m) if (x & z).bit_count() == level}
    assert next(places, None) is None
    assert layout.query.tolist() == [x for x in range(1 << m) for _ in range(x.bit_count() + 1)]


def test_blocks_of_heads(monkeypatch):
    """By tensors, one head after the other is the same as all at once."""
    source = torch.Generator().manual_seed(0)
    made = torch.rand(2, 5, 16, 3, generator=source)
    results = []
    for limit in (1 << 27, 1):
        monkeypatch.setattr(module, "LARGE", limit)
        features = made.clone().requires_grad_()
        low, high, tokens = by(module._Extremes, features[0], features[1], Layout.build(4))
        (low.sum() + 2 * high.sum()).backward()
        results.append((low, high, tokens, features.grad))
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    """Heads do not see each other, nor do threads."""
    monkeypatch.setattr(native, "SMALLEST", 1)
    source = torch.Generator().manual_seed(0)
    made = torch.rand(2, 5, 32, 3, generator=source)
    made[:, 1] *= 1e18
    layout, threads, results = Layout.build(5), torch.get_num_threads(), []
    try:
        for count in (1, 2, 3, 8):
            torch.set_num_threads(count)
            features = made.clone().requires_grad_()
            low, high, tokens = extremes(features[0], features[1], layout)
            (low.sum() + 2 * high.sum()).backward()
            results.append((low, high, tokens, features.grad))
    finally:
        torch.set_num_threads(threads)
    for result in results[1:]:
        for a, b in zip(results[0], result, strict=True):
            assert torch.equal(a, b)
    for i in range(5):
        alone = extremes(made[0, i : i + 1], made[1, i : i + 1], layout)
        for a, b in zip(results[0][:3], alone, strict=True):
            assert torch.equal(a[i], b[0])


def test_which_way(monkeypatch):
    """Compiled on a CPU in single and double precision; other dtypes by tensors; views are accepted."""
    features = torch.rand(2, 3, 8, 16).transpose(2, 3)
    layout = Layout.build(4)
    low, _, _ = extremes(features[0], features[1], layout)
    assert torch.equal(low, extremes(features[0].contiguous(), features[1].contiguous(), layout)[0])
    assert not module.compiled(features.to("meta"))
    assert not module.compiled(features.bfloat16())
    monkeypatch.setattr(native, "extremes", None)
    assert extremes(features[0].bfloat16(), features[1].bfloat16(), layout)[0].dtype == torch.bfloat16
    with pytest.raises(TypeError):
        extremes(features[0], features[1], layout)


PROGRAM = """
import numpy as np
from proofcheck.neural import native
assert "NullCache" in type(native._merged._cache).__name__
features = np.ones((2, 1, 8, 1), np.float32)
low, high, tokens = np.empty((1, 20), np.float32), np.empty((1, 20), np.float32), np.empty((1, 2, 20), np.int64)
native.extremes([*features, low, high, tokens])
assert (low == 1).all() and (high == 1).all()
"""


@pytest.mark.slow
def test_where_nothing_can_be_written():
    """Without any place for a cache, each process compiles for itself."""
    environment = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "IPythonCacheLocator"}  # which is for notebooks only
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert run.returncode == 0, run.stderr


def test_a_cache_elsewhere(tmp_path):
    """NUMBA_CACHE_DIR is where the compiled loops go."""
    program = "from proofcheck.neural import native; print(native._merged._cache.cache_path)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True, env=environment
    )
    assert str(tmp_path) in run.stdout
