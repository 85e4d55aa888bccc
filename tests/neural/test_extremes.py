"""The extremes of each level against a loop over all tokens, for every size of block."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from proofcheck.neural.extremes import Layout, extremes  # noqa: E402


def naive(alpha, m):
    """Least and largest value of each level of each query, for one head."""
    low, high = [], []
    for x in range(1 << m):
        for level in range(x.bit_count() + 1):
            values = alpha[x, [z for z in range(1 << m) if (x & z).bit_count() == level]]
            low.append(values.min())
            high.append(values.max())
    return torch.stack(low), torch.stack(high)


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 5),
    heads=st.integers(1, 5),
    rank=st.integers(1, 4),
    values=st.sampled_from([1, 16, 100, 1 << 17]),
    signed=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**20),
)
def test_values_tokens_and_gradients(m, heads, rank, values, signed, dtype, seed):
    """Blocks of one query and one head up to all; features of any sign, or positive ones."""
    source = torch.Generator().manual_seed(seed)
    made = torch.randn(2, heads, 1 << m, rank, dtype=dtype, generator=source)
    made = made if signed else made.abs()
    features, plain = made.clone().requires_grad_(), made.clone().requires_grad_()
    layout = Layout.build(m, values=values)
    low, high, tokens = extremes(features[0], features[1], layout, signed)
    alpha = plain[0] @ plain[1].mT
    expected = [torch.stack(part) for part in zip(*(naive(a, m) for a in alpha), strict=True)]
    lost = 2.0 ** (m - (23 if dtype == torch.float32 else 52))
    rounding = alpha.abs().max().item() * rank * 2.0 ** (-20 if dtype == torch.float32 else -48)
    for i, (found, wanted) in enumerate(zip((low, high), expected, strict=True)):
        assert ((found - wanted).abs() <= lost * wanted.abs() + rounding).all()
        named = alpha[torch.arange(heads)[:, None], layout.query, tokens[:, i]]
        assert ((found - named).abs() <= lost * named.abs() + rounding).all()
    weights = torch.rand(2, *low.shape, dtype=dtype, generator=source)
    (weights[0] * low + weights[1] * high).sum().backward()
    at = alpha[torch.arange(heads)[:, None, None], layout.query, tokens]
    (weights[0] * at[:, 0] + weights[1] * at[:, 1]).sum().backward()
    assert torch.allclose(features.grad, plain.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("values", [1, 64, 1000, 1 << 17])
@pytest.mark.parametrize("m", [1, 4, 6])
def test_every_token_is_laid_out_once_by_level(m, values):
    """All gatherings together lead from the level l of x to exactly the tokens z with <x,z> = l."""
    layout = Layout.build(m, values=values)
    held = []
    for first, _, _, _, before, gathering in layout.blocks:
        assert before == len(held)
        held += [{(first + (p >> m), p & (1 << m) - 1) for p in chunk} for chunk in gathering.index.T.tolist()]
    for gathering in layout.later:
        held = [set().union(*(held[c] for c in chunk)) for chunk in gathering.index.T.tolist()]
    places = iter(held)
    for x in range(1 << m):
        for level in range(x.bit_count() + 1):
            assert next(places) == {(x, z) for z in range(1 << m) if (x & z).bit_count() == level}
    assert next(places, None) is None
    assert layout.query.tolist() == [x for x in range(1 << m) for _ in range(x.bit_count() + 1)]


def test_negative_and_infinite_values():
    """The order of integers is that of floats, whatever the signs; an overflow is the largest value."""
    queries = torch.full((1, 4, 1), 1e30)
    keys = torch.tensor([[[-5.0], [3.0], [-0.5], [1e30]]])
    low, high, tokens = extremes(queries, keys, Layout.build(2))
    assert tokens[0, :, 0].tolist() == [0, 3]
    assert high[0, 0] == float("inf")
    assert low[0, 0] == pytest.approx(-5e30, rel=1e-6)


def test_of_equal_values_the_last_is_largest_and_the_first_least():
    equal = torch.ones(2, 8, 1)
    _, _, tokens = extremes(equal, equal, Layout.build(3))
    assert tokens[0, 0, 0] == 0
    assert tokens[0, 1, 0] == 7
    _, _, tokens = extremes(equal, -equal, Layout.build(3))
    assert tokens[0, 0, 0] == 0
    assert tokens[0, 1, 0] == 7


def test_a_head_does_not_see_its_neighbour():
    """Heads are multiplied two by two: one of huge features leaves the other as it is, alone or in a pair."""
    source = torch.Generator().manual_seed(0)
    features = torch.rand(2, 3, 16, 2, generator=source)
    features[:, 1] *= 1e18
    layout = Layout.build(4)
    together = extremes(features[0], features[1], layout)
    for i in range(3):
        alone = extremes(features[0, i : i + 1], features[1, i : i + 1], layout)
        for a, b in zip(together, alone, strict=True):
            assert torch.allclose(a[i].double(), b[0].double(), rtol=1e-5)
