"""The separable losses against enumeration of all sequences, and against the exact decision of `whole`."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from proofcheck import whole  # noqa: E402
from proofcheck.errors import UsageError  # noqa: E402
from proofcheck.heads.tables import table  # noqa: E402
from proofcheck.neural import separable  # noqa: E402
from proofcheck.neural.margins import Levels, excess  # noqa: E402
from proofcheck.neural.separable import Places, kernel, scalar_tables, softened, worst  # noqa: E402

HALF = Fraction(1, 2)


def overlaps(m):
    tokens = np.arange(1 << m)
    return torch.from_numpy(np.bitwise_count(tokens[:, None] & tokens).astype(np.float64))


def sequences(m, n, lengths):
    """The tokens beside the query, of all sequences, by their number."""
    for k in range(n) if lengths == "up-to" else [n - 1]:
        yield torch.tensor(list(product(range(1 << m), repeat=k)), dtype=torch.long).reshape((1 << m) ** k, k)


def naive(alpha, g, m, n, eps, lengths):
    """For one head, by (side, x, t): sums of u and denominators of every sequence."""
    overlap, found = overlaps(m).long(), {}
    for x, others in product(range(1 << m), sequences(m, n, lengths)):
        target = torch.cat([overlap[x, others], torch.full((len(others), 1), x.bit_count())], 1).amin(1)
        everyone = torch.cat([torch.full((len(others), 1), x), others], 1)
        for t in range(x.bit_count() + 1):
            chosen = everyone[target == t]
            a, values = alpha[x, chosen], g[x, chosen]
            for side, sign in enumerate((1, -1)):
                sums = (a * (sign * (values - t) - eps)).sum(1)
                known = found.setdefault((side, x, t), ([], []))
                known[0].append(sums)
                known[1].append(a.sum(1))
    return {key: (torch.cat(sums), torch.cat(denominators)) for key, (sums, denominators) in found.items()}


def by_place(values, m):
    """A dictionary over (side, x, t) as a tensor (2, levels)."""
    keys = [(x, t) for x in range(1 << m) for t in range(x.bit_count() + 1)]
    return torch.stack([torch.stack([values[side, x, t] for x, t in keys]) for side in range(2)])


def enumerated(alpha, g, m, n, eps, lengths, sharpness):
    """(worst, softened) for one head."""
    hard, soft = {}, {}
    for key, (sums, denominators) in naive(alpha, g, m, n, eps, lengths).items():
        place = sums.argmax()
        hard[key] = sums[place] / denominators[place]
        soft[key] = torch.logsumexp(sharpness * sums / denominators[place], 0) / sharpness
    return by_place(hard, m), by_place(soft, m)


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([(1, 2), (1, 5), (2, 2), (2, 3), (2, 4), (3, 3)]),
    lengths=st.sampled_from(["up-to", "exactly"]),
    eps=st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 10)]),
    noise=st.sampled_from([0.0, 0.1, 2.0]),
    seed=st.integers(0, 2**20),
)
def test_values_and_gradients_are_those_of_all_sequences(size, lengths, eps, noise, seed):
    compared(*size, lengths, eps, noise, seed)


@pytest.mark.parametrize("lengths", ["up-to", "exactly"])
def test_four_tokens_of_three_bits(lengths):
    compared(3, 4, lengths, HALF, 0.3, 0)


def compared(m, n, lengths, eps, noise, seed):
    source = torch.Generator().manual_seed(seed)
    places, sharpness = Places.build(m), 7.0
    made_alpha = 6.0 ** -overlaps(m) * torch.exp(noise * torch.randn(2, 1 << m, 1 << m, generator=source).double())
    made_g = overlaps(m) + noise * torch.randn(2, 1 << m, 1 << m, generator=source).double()
    made = torch.stack([made_alpha, made_g])
    fast, slow = made.clone().requires_grad_(), made.clone().requires_grad_()
    found = (
        worst(fast[0], fast[1], places, n, eps, lengths),
        softened(fast[0], fast[1], places, n, eps, sharpness, lengths),
    )
    expected = [enumerated(a, g, m, n, float(eps), lengths, sharpness) for a, g in slow.transpose(0, 1)]
    weights = torch.rand(2, *found[0].shape, generator=source).double()
    count = sum((1 << m) ** (k - 1) for k in (range(1, n + 1) if lengths == "up-to" else [n]))
    assert (found[1] >= found[0] - 1e-9).all()
    assert (found[1] <= found[0] + np.log(count) / sharpness + 1e-9).all()
    for i in range(2):
        wanted = torch.stack([head[i] for head in expected])
        assert torch.allclose(found[i], wanted, rtol=0, atol=1e-9)
        (at_fast,) = torch.autograd.grad((weights[i] * found[i]).sum(), fast, retain_graph=True)
        (at_slow,) = torch.autograd.grad((weights[i] * wanted).sum(), slow, retain_graph=True)
        # without noise many sequences tie: the gradient is then that of one of them
        if noise:
            assert torch.allclose(at_fast, at_slow, rtol=1e-7, atol=1e-9)


def head(m, base, disturbed, dv, source):
    """A kernel base^-overlap with the readout <x,z>, or near it: float tables that are exact as they stand."""
    size, bits = 1 << m, (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(np.float64)
    keys = np.round(2.0**20 * base ** -overlaps(m).numpy()) / 2.0**20 + 2.0**-20
    values = np.hstack([bits, np.zeros((size, dv - m))]) + disturbed * source.integers(-4, 5, (size, dv)) / 16
    weights = np.hstack([bits, np.zeros((size, dv - m))])
    offsets = disturbed * source.integers(-4, 5, size) / 16
    return np.eye(size), keys.T, values, weights, offsets


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 4),
    n=st.integers(2, 5),
    base=st.sampled_from([2.0, 5.0, 6.5, 12.0, 40.0]),
    eps=st.sampled_from([HALF, Fraction(1, 3)]),
    lengths=st.sampled_from(["up-to", "exactly"]),
    disturbed=st.sampled_from([0, 0, 1]),
    seed=st.integers(0, 1000),
)
def test_the_sign_is_the_exact_decision(m, n, base, eps, lengths, disturbed, seed):
    """Correct heads and wrong ones, of bases on both sides of the edge n/eps."""
    queries, keys, values, weights, offsets = head(m, base, disturbed, m + 1, np.random.default_rng(seed))
    decided = whole.verify(table(queries, keys, values, weights, offsets), n, eps, lengths, certified=False)
    alpha = torch.from_numpy(queries @ keys.T)[None]
    g = scalar_tables(*(torch.from_numpy(part)[None] for part in (values, weights, offsets)))
    largest = float(worst(alpha, g, Places.build(m), n, eps, lengths).max())
    if abs(largest) > 1e-9:
        assert (largest < 0) == isinstance(decided, whole.HeadCorrect)


def test_both_decisions_occur():
    """The cases above are not all of one kind."""
    kinds = set()
    for base in (2.0, 12.0):
        queries, keys, values, weights, offsets = head(3, base, 0, 4, np.random.default_rng(0))
        kinds.add(type(whole.verify(table(queries, keys, values, weights, offsets), 3, certified=False)))
    assert kinds == {whole.HeadCorrect, whole.Counterexample}


def test_the_worst_sequence_is_the_counterexample():
    """A head with one fault: at one length, the value is the error of the exact counterexample, less eps; at several,
    that one may be of another length, with a smaller sum and a larger error."""
    queries, keys, values, weights, offsets = head(3, 16.0, 0, 3, np.random.default_rng(0))
    offsets[5] += 1.0
    given_head, places = table(queries, keys, values, weights, offsets), Places.build(3)
    alpha = torch.from_numpy(queries @ keys.T)[None]
    g = scalar_tables(*(torch.from_numpy(part)[None] for part in (values, weights, offsets)))
    for lengths in ("exactly", "up-to"):
        decided = whole.verify(given_head, 3, HALF, lengths, certified=False)
        found = worst(alpha, g, places, 3, HALF, lengths)
        sides, failing = torch.nonzero(found[0] > 0, as_tuple=True)
        assert set(places.query[failing].tolist()) == {5} == {decided.sequence[0]}
        assert set(sides.tolist()) == {0}
        excess = float(decided.error) - 0.5
        if lengths == "exactly":
            assert float(found.max()) == pytest.approx(excess, abs=1e-9)
        assert 0 < float(found.max()) < excess + 1e-9


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ratios_of_ten_to_the_twelve(dtype):
    """Features given by their logarithms, with kernel values in a row from 1 to 10^-15 and rows up to 10^200 apart:
    values, sign and gradients are finite and right."""
    m, n, size = 3, 3, 8
    logs = -np.log(1e5) * overlaps(m)
    shift = torch.linspace(-200, 200, size, dtype=torch.float64)[:, None]
    log_queries, log_keys = torch.full((size, size), -1e4, dtype=torch.float64), logs.mT
    log_queries = log_queries.fill_diagonal_(0.0) + shift
    parts = [part[None].to(dtype).requires_grad_() for part in (log_queries, log_keys)]
    alpha = kernel(*parts)
    assert (alpha.amax(2) / alpha.amin(2)).max() > 1e12
    g = overlaps(m)[None].to(dtype).requires_grad_()
    places = Places.build(m)
    hard, soft = worst(alpha, g, places, n, HALF), softened(alpha, g, places, n, HALF, 200.0)
    assert (hard < 0).all()
    assert (soft < 0).all()
    # one token, 10^-15 of the largest, is read off by 2: only sequences of such tokens are wrong
    wrong = g.detach().clone()
    wrong[0, 7, 7] += 2
    hard_wrong = worst(alpha, wrong, places, n, HALF)
    assert set(places.query[(hard_wrong[0] >= 0).any(0)].tolist()) == {7}
    assert hard_wrong.max().item() == pytest.approx(1.5, rel=1e-4)
    (hard.sum() + soft.sum()).backward()
    for leaf in (*parts, g):
        assert torch.isfinite(leaf.grad).all()


def test_rows_may_be_scaled():
    source = torch.Generator().manual_seed(0)
    alpha, g = (torch.rand(2, 8, 8, dtype=torch.float64, generator=source) for _ in range(2))
    scaled = alpha * 10 ** torch.linspace(-9, 9, 8, dtype=torch.float64)[:, None]
    places = Places.build(3)
    for loss in (worst, lambda *given: softened(*given, 5.0)):
        assert torch.allclose(loss(alpha, g, places, 3, HALF), loss(scaled, g, places, 3, HALF))


def test_a_zero_denominator_is_wrong():
    """alpha = 0 at all tokens of weight 0 and 1 for the query 3: the sequence (3, 0) has no output."""
    alpha, g = 9.0 ** -overlaps(2)[None], overlaps(2)[None]
    alpha[0, 3, :] = 0
    alpha.requires_grad_()
    for found in (worst(alpha, g, Places.build(2), 3, HALF), softened(alpha, g, Places.build(2), 3, HALF, 9.0)):
        failing = Places.build(2).query[(found[0] >= 0).any(0)]
        assert set(failing.tolist()) == {3}
        (gradient,) = torch.autograd.grad(found.sum(), alpha)
        assert torch.isfinite(gradient).all()


@settings(max_examples=40, deadline=None)
@given(
    m=st.integers(1, 6),
    heads=st.integers(1, 3),
    n=st.integers(2, 5),
    lengths=st.sampled_from(["up-to", "exactly"]),
    ties=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 2**20),
)
def test_compiled_loops_and_tensors_agree(m, heads, n, lengths, ties, dtype, seed):
    """Values, denominators and gradients; with `ties`, small integers of any sign, so that maxima and zero denominators
    recur and every sum is exact."""
    source, places = np.random.default_rng(seed), Places.build(m)
    shape = 2, heads, 1 << m, 1 << m
    made = torch.from_numpy(source.integers(-2, 3, shape) if ties else source.random(shape)).to(dtype)
    weights = torch.from_numpy(source.random((2, heads, 2, len(places.query)))).to(dtype)
    results = []
    for way in (separable._Worst.apply, separable._worst_by_tensors):
        tables = made.clone().requires_grad_()
        found = way(tables[0], tables[1], places, n, 0.5, lengths)
        (torch.stack(found) * weights).sum().backward()
        results.append((*found, tables.grad))
    for a, b in zip(*results, strict=True):
        assert torch.allclose(a, b, rtol=1e-4 if dtype == torch.float32 else 1e-10, atol=1e-5)


def test_tables_that_are_not_finite_go_by_tensors(monkeypatch):
    """Finite tables are left to the compiled loops, others never are."""
    tables, places = torch.ones(2, 1, 4, 4), Places.build(2)
    assert torch.isfinite(worst(tables[0], tables[1], places, 3, HALF)).all()
    monkeypatch.setattr(separable, "_Worst", None)
    with pytest.raises(AttributeError):
        worst(tables[0], tables[1], places, 3, HALF)
    tables[1, 0, 0, 0] = float("nan")
    found = worst(tables[0], tables[1], places, 3, HALF)
    assert torch.isnan(found).any()


def test_heads_do_not_mix():
    source = torch.Generator().manual_seed(1)
    alpha, g = (torch.rand(300, 16, 16, generator=source) for _ in range(2))
    places = Places.build(4)
    together = worst(alpha, g, places, 3, HALF)
    assert torch.equal(together[137:138], worst(alpha[137:138], g[137:138], places, 3, HALF))
    assert together.shape == (300, 2, len(places.query))


@pytest.mark.parametrize(
    ("shape", "n", "lengths", "message"),
    [
        ((1, 4, 4), 1, "up-to", "n >= 2"),
        ((1, 4, 4), 3, "all", "lengths of up-to, exactly"),
        ((1, 4, 8), 3, "up-to", r"two tensors \(B, 4, 4\)"),
        ((4, 4), 3, "up-to", r"got \(4, 4\)"),
    ],
)
def test_bad_arguments_are_named(shape, n, lengths, message):
    with pytest.raises(UsageError, match=message):
        worst(torch.ones(shape), torch.ones(shape), Places.build(2), n, HALF, lengths)


def devices(value):
    """Those of all tensors in nested dataclasses and tuples."""
    if isinstance(value, torch.Tensor):
        return {value.device.type}
    parts = [getattr(value, f.name) for f in fields(value)] if is_dataclass(value) else value
    return set().union(*map(devices, parts)) if isinstance(parts, list | tuple) else set()


def test_all_tensors_are_on_the_device_that_was_asked_for():
    """On the device "meta", which has shapes but no values and refuses sums with tensors of the CPU, both losses of the
    search run with their gradients, and all index tensors are there."""
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(3, device="meta") + torch.ones(3)
    levels, places = Levels.build(4, 3, HALF, "meta"), Places.build(4, "meta")
    assert devices(levels) == devices(places) == {"meta"}
    assert devices(Places.build(2)) == {"cpu"}
    features = torch.rand(2, 5, 16, 2, device="meta", requires_grad=True)
    for floor in (None, 1e-3):
        excess(features[0], features[1], levels, floor).sum().backward()
    tables = torch.rand(2, 5, 16, 16, device="meta", requires_grad=True)
    worst(tables[0], tables[1], places, 3, HALF).sum().backward()
    softened(tables[0], tables[1], places, 3, HALF, 9.0).sum().backward()
    assert features.grad.device == tables.grad.device == torch.device("meta")
