"""Experiment 5.1: the family, what it excludes, and runs decided exactly. Experiment 5.2: its pools and heads."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("torch")

from proofcheck.codes import Code, jump_count
from proofcheck.neural import finite_family as finite
from proofcheck.neural import ood

TINY = finite.Settings(steps=40)


@pytest.fixture(scope="module")
def paper():
    return finite.paper_family()


@pytest.fixture(scope="module")
def small():
    return finite.family(Code(12, 6, (0b000000111111, 0b000111000111, 0b111000000111)))


def test_the_family_is_the_papers(paper):
    code = finite.paper_code()
    assert (code.size, code.distance(), jump_count(code)) == (15, 6, 424)
    assert (len(paper.jumps), paper.inputs, len(paper.pairs)) == (424, 1272, 210)
    assert paper.tokens[:15] == paper.queries == code.words
    assert len(set(paper.tokens)) == len(paper.tokens)


def test_chains_rise_in_jumps_of_at_least_three(paper):
    full = (1 << 24) - 1
    for pair, (i, j) in enumerate(paper.pairs):
        chain, x, other = paper.chain(pair), paper.queries[i], paper.queries[j]
        assert paper.tokens[chain[0][1]] == ~x & full
        assert paper.tokens[chain[-1][2]] == ~other & full
        assert chain[0][3] == 0
        assert chain[-1][4] == (x & ~other).bit_count()
        for k, (query, y, z, t, u, _) in enumerate(chain):
            assert query == i
            assert u - t >= 3
            assert ((x & paper.tokens[y]).bit_count(), (x & paper.tokens[z]).bit_count()) == (t, u)
            assert not k or (y, t) == (chain[k - 1][2], chain[k - 1][4])


def test_targets_are_least_overlaps(paper):
    for jump in paper.jumps:
        x = paper.queries[jump[0]]
        for sequence, target in finite.sequences(jump):
            assert target == min((x & paper.tokens[z]).bit_count() for z in sequence)


def test_excluded_ranks():
    code = finite.paper_code()
    paper, best = finite.exclusions(code)
    assert (paper.value, paper.bound) == (9, 8)
    assert best.value == 11
    assert 10 < best.bound < 11
    assert paper.certificate.claim == best.certificate.claim == "feature-rank"
    assert paper.certificate.parameters["value"] == 9
    assert best.certificate.parameters["value"] == 11
    assert 8 < finite.by_distances(code) < 9


def test_the_constructed_head_is_exact(paper):
    rows = finite.constructed(paper)
    assert len(rows.alpha) == 15  # one feature for each query: any 15 rows have rank at most 15
    largest = max(max(three) for three in finite.errors(paper, rows))
    assert 0 < largest < Fraction(1, 3)


def test_exact_errors_agree_with_floats(small):
    run = finite.train(small, 2, [0], TINY)[0]
    rows = finite.Rows.of(run.tables)
    alpha = run.tables.queries @ run.tables.keys.T
    for jump, three in zip(small.jumps, finite.errors(small, rows), strict=True):
        for (sequence, target), error in zip(finite.sequences(jump), three, strict=True):
            places = list(sequence)
            answer = np.average(run.tables.g[jump[0], places], weights=alpha[jump[0], places])
            assert float(error) == pytest.approx(abs(answer - target), abs=1e-6)


def test_an_excluded_rank_is_always_refuted(paper):
    """Rank 8 < 9 on the family itself: whatever was learned, some jump breaks B0."""
    for run in finite.train(paper, 8, [0, 1], TINY):
        verdict = finite.judge(paper, run.tables)
        assert not verdict.solved
        assert verdict.broken > 0
        assert verdict.certificate.claim == "kernel-refutation"


def test_a_run_that_succeeds(small):
    settings = finite.Settings(steps=1500)
    runs = finite.train(small, 6, [0], settings)
    verdict = finite.judge(small, runs[0].tables)
    assert verdict.solved
    assert verdict.certificate is None
    assert verdict.covered == len(small.pairs) == len(verdict.ratios)
    assert all(ratio > 2**steps for steps, ratio in verdict.ratios)


def test_a_good_kernel_with_a_bad_readout_is_a_counterexample(small):
    levels = np.array([[(x & z).bit_count() for z in small.tokens] for x in small.queries], dtype=float)
    tables = finite.Tables(np.eye(len(small.queries)), 0.125**levels.T, np.zeros_like(levels))
    verdict = finite.judge(small, tables)
    assert verdict.broken == 0
    assert verdict.certificate.claim == "head-counterexample"
    better = replace(tables, g=levels)
    assert finite.judge(small, better).solved


def test_runs_do_not_depend_on_their_companions(small):
    both = finite.train(small, 3, [0, 1], TINY)
    alone = finite.train(small, 3, [1], TINY)[0]
    assert both[1].seed == alone.seed == 1
    assert np.allclose(both[1].tables.g, alone.tables.g, atol=1e-3)
    again = finite.train(small, 3, [0, 1], TINY)
    assert np.array_equal(both[0].tables.keys, again[0].tables.keys)


@pytest.mark.parametrize("wrong", [{"loss": "cubes"}, {"features": "relu"}, {"readout": "ones"}])
def test_bad_settings(wrong):
    from proofcheck.errors import UsageError

    with pytest.raises(UsageError):
        replace(TINY, **wrong).check()


# ------------------------------------------------------------------------------------------ experiment 5.2


@pytest.mark.parametrize("scale", ood.SCALES)
def test_sequences_are_what_they_say(scale):
    """Targets are the least overlaps of the queries; padding is safe, and has the weight of a match."""
    for pool in ood.pools(scale, 0, 200, 50):
        assert pool.tokens.shape[1:] == (scale.n, scale.M + 2)
        assert set(pool.targets.ravel()) == {0.0, 1.0}
        overlaps = np.einsum("sqb,snb->sqn", pool.tokens[:, : scale.q], pool.tokens)
        assert np.array_equal(overlaps.min(-1), pool.targets)
        own = np.einsum("sqb,sqb->sq", pool.tokens[:, : scale.q], pool.tokens[:, scale.q :])
        assert np.array_equal(own, pool.targets)
        assert (pool.tokens[:, : scale.q, :2] == [0, 1]).all()
        assert (pool.tokens[:, scale.q :, :2] == [1, 0]).all()
        assert (pool.tokens[:, :, 2:].sum(-1) == scale.M // 2).all()


@pytest.mark.parametrize("scale", ood.SCALES)
def test_pools_are_disjoint(scale):
    first, second = ood.sources(scale, 3)
    assert not set(first.assignments) & set(second.assignments)
    assert not set(first.words) & set(second.words)
    assert not set(map(tuple, first.permutations)) & set(map(tuple, second.permutations))
    assert len(first.assignments) + len(second.assignments) == 1 << scale.q
    train, test = ood.pools(scale, 3, 300, 100)

    def sets(pool):
        return {frozenset(map(tuple, tokens.tolist())) for tokens in pool.tokens}

    assert not sets(train) & sets(test)


def test_extended_padding_is_heavier_and_safe():
    scale = ood.SCALES[1]
    pool = ood.pools(scale, 0, 100, 20, "extended")[0]
    overlaps = np.einsum("sqb,snb->sqn", pool.tokens[:, : scale.q], pool.tokens)
    assert np.array_equal(overlaps.min(-1), pool.targets)
    weights = pool.tokens[:, scale.q :, 2:].sum(-1)
    assert np.array_equal(weights, scale.M // 2 + pool.targets)


def test_pools_are_reproducible():
    one, two, other = (ood.pools(ood.SCALES[0], seed, 50, 10)[1] for seed in (1, 1, 2))
    assert np.array_equal(one.tokens, two.tokens)
    assert not np.array_equal(one.tokens, other.tokens)


@pytest.mark.parametrize("rank", [ood.DENSE, 3])
def test_positions_are_hidden_and_dense_is_softmax(rank):
    """The answer to a query does not depend on the order of the other tokens, and agrees with the definition."""
    import torch

    scale = ood.SCALES[0]
    size = scale.M + 3
    source = torch.Generator().manual_seed(0)
    shapes = [(1, size, size), (1, 1, 1)] if rank == ood.DENSE else [(1, size, rank)] * 2
    free = [torch.randn(shape, generator=source) for shape in [*shapes, (1, size, ood.WIDTH), (1, size, ood.WIDTH)]]
    tokens = torch.from_numpy(ood.pools(scale, 0, 4, 1)[0].tokens)[None]
    found = ood.answers(free, tokens, scale, rank, "softplus")
    swapped = tokens.clone()
    swapped[:, :, scale.q :] = tokens[:, :, scale.q :].flip(2)
    assert torch.allclose(found, ood.answers(free, swapped, scale, rank, "softplus"), atol=1e-4)
    one = torch.cat([tokens, torch.ones_like(tokens[..., :1])], -1)[0, 1].double()
    q, k, w, v = (part[0].double() for part in free)
    x = one[2]
    if rank == ood.DENSE:
        alpha = (x @ q @ one.T).exp()
    else:
        alpha = (1 + (one @ k).exp()).log() @ (1 + (x @ q).exp()).log()
    g = (one @ v) @ (x @ w)
    assert float(found[0, 1, 2]) == pytest.approx(float(alpha @ g / alpha.sum()), rel=1e-3, abs=1e-3)


def test_heads_learn_the_smallest_scale():
    settings = ood.Settings(steps=300, train=512, test=128)
    dense, small = (ood.run(ood.SCALES[0], rank, [0], settings)[0] for rank in (ood.DENSE, 1))
    assert dense.accuracy > small.accuracy
    assert dense.train_accuracy > 0.5
