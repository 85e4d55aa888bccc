"""The whole-task loss against enumeration over all triples, in values and gradients."""

from __future__ import annotations

from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

from proofcheck.neural.margins import Levels, excess, extended, relaxed  # noqa: E402

HALF = Fraction(1, 2)
CASES = [
    (1, 3, HALF),
    (2, 3, HALF),
    (3, 3, HALF),
    (3, 4, HALF),
    (3, 3, Fraction(1, 4)),
    (4, 3, HALF),
    (4, 6, Fraction(1, 3)),
]


def naive(queries, keys, m, n, eps, floor=None):
    """The excess of each pair of levels, as the largest over all triples (x, y, z), for one head."""
    alpha, e = queries @ keys.T, float(eps)
    length, others = n - 1, n - 2
    found = {}
    for x in range(1 << m):
        for y in range(1 << m):
            for z in range(1 << m):
                low, high = (x & y).bit_count(), (x & z).bit_count()
                d = high - low
                if d < 1 or not (others * length * (d - 2 * e) > 0 or others * d - 2 * e * length > 0):
                    continue
                slope = others * d - 2 * e * length
                left = 2 * e * length * alpha[x, y] + max(-slope, 0) * alpha[x, x]
                right = others * length * (d - 2 * e) * alpha[x, z] + max(slope, 0) * alpha[x, x]
                if floor is None:
                    value = right.log() - left.log()
                else:
                    scale = alpha[x].max().detach()
                    value = extended(right / scale, floor) - extended(left / scale, floor)
                key = x.bit_count(), x, low, high
                if key not in found or value > found[key]:
                    found[key] = value
    return torch.stack([found[key] for key in sorted(found)]) if found else torch.zeros(0, dtype=alpha.dtype)


@pytest.mark.parametrize(("m", "n", "eps"), CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_excess_is_the_largest_over_triples(m, n, eps, dtype):
    torch.manual_seed(m + n)
    made = torch.rand(2, 3, 1 << m, 2, dtype=dtype) + 0.1
    features, plain = made.clone().requires_grad_(), made.clone().requires_grad_()
    levels = Levels.build(m, n, eps, dtype=dtype)
    values = excess(features[0], features[1], levels)
    expected = torch.stack([naive(plain[0, i], plain[1, i], m, n, eps) for i in range(3)])
    assert values.shape == expected.shape
    assert torch.allclose(values, expected, rtol=0, atol=2.0 ** (m - 20) if dtype == torch.float32 else 1e-9)
    if values.shape[1]:
        relaxed(values, 5.0).sum().backward()
        relaxed(expected, 5.0).sum().backward()
        assert torch.allclose(features.grad, plain.grad, rtol=0, atol=1e-4 if dtype == torch.float32 else 1e-8)


@pytest.mark.parametrize(("m", "n", "eps"), CASES[1:5])
def test_features_of_any_sign(m, n, eps):
    """The same with alpha of any sign, and the excesses of (i) after those of (ii)."""
    torch.manual_seed(m)
    made = torch.randn(2, 1, 1 << m, 2, dtype=torch.float64)
    made[:, :, :, 0] += 1.5
    levels = Levels.build(m, n, eps, dtype=torch.float64)
    values = excess(made[0], made[1], levels, 1e-3)[0]
    expected = naive(made[0, 0], made[1, 0], m, n, eps, 1e-3)
    assert torch.allclose(values[: len(expected)], expected, rtol=0, atol=1e-6)
    alpha = made[0, 0] @ made[1, 0].T
    assert bool((values[len(expected) :] < 0).all()) == admissible(alpha, m)


def admissible(alpha, m, floor=1e-3):
    """(i) with a margin, and no negative value where the overlap is |x|."""
    return all(
        alpha[x, y] > (floor * alpha[x].max() if (x & y) != x or x == y else 0)
        for x in range(1 << m)
        for y in range(1 << m)
    )


@pytest.mark.parametrize(("at", "fine"), [(0.5, True), (1e-6, True), (-1e-6, False), (-0.5, False)])
def test_a_negative_value_at_full_overlap_is_an_excess(at, fine):
    """x = 1, z = 3 = x and one more bit: alpha(x,z) may be as small as zero, and not below."""
    alpha = torch.ones(4, 4, dtype=torch.float64)
    alpha[1, 3] = at
    values = excess(
        alpha[None], torch.eye(4, dtype=torch.float64)[None], Levels.build(2, 3, HALF, dtype=torch.float64), 1e-3
    )
    pairs = len(naive(alpha, torch.eye(4, dtype=torch.float64), 2, 3, HALF, 1e-3))
    assert admissible(alpha, 2) == fine
    assert bool((values[0, pairs:] < 0).all()) == fine


def test_rows_may_be_scaled():
    torch.manual_seed(0)
    features = torch.rand(2, 2, 16, 3, dtype=torch.float64)
    levels = Levels.build(4, 3, HALF, dtype=torch.float64)
    scaled = features[0] * torch.rand(2, 16, 1, dtype=torch.float64) * 1e6
    assert torch.allclose(excess(features[0], features[1], levels), excess(scaled, features[1], levels))
