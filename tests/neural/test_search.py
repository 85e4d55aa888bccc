"""Heads are found where they exist, certified exactly, and every failure is refuted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck import exhaust  # noqa: E402
from proofcheck.errors import FAILS, PROVED, UsageError  # noqa: E402
from proofcheck.heads.tables import table  # noqa: E402
from proofcheck.neural import warm  # noqa: E402
from proofcheck.neural.compress import compress  # noqa: E402
from proofcheck.neural.margins import Levels, excess  # noqa: E402
from proofcheck.neural.rationalise import IntegerHead, coarsened, holds, rationalise  # noqa: E402
from proofcheck.neural.search import search  # noqa: E402
from proofcheck.neural.training import Restart, Settings  # noqa: E402

HALF = Fraction(1, 2)


def held(head: IntegerHead, n: int = 3, eps: Fraction = HALF) -> bool:
    return bool(holds(np.arange(len(head.queries)), head.queries, head.keys, n, eps).all())


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_the_least_rank_is_found(m):
    """Must show 1 of the search: rank max(1, m-2), from the default seed."""
    outcome = search(m, max(1, m - 2), settings=Settings(polish=100))
    assert outcome.status == PROVED
    assert outcome.exists.parameters["rank"] == max(1, m - 2)
    assert (outcome.exists.rule, outcome.correct.claim) == ("table-head", "kernel-correct")
    assert outcome.exists.verdict.assumed == []
    assert held(outcome.head)
    assert outcome.head.largest() < 100


@pytest.mark.slow
@pytest.mark.parametrize("m", [6, 7, 8])
def test_the_least_rank_is_found_for_more_bits(m):
    assert search(m, m - 2, small=m < 8).status == PROVED


@pytest.mark.parametrize(("m", "r"), [(4, 1), pytest.param(6, 3, marks=pytest.mark.slow)])
def test_below_the_least_rank_every_restart_is_refuted(m, r):
    outcome = search(m, r, restarts=2, heads=4, settings=Settings(steps=400))
    assert outcome.status == FAILS
    assert len(outcome.attempts) == 2
    for attempt in outcome.attempts:
        assert not attempt.exact
        assert attempt.refutation.certificate.claim == "kernel-refutation"
        assert attempt.refutation.certificate.verdict.assumed == []


@pytest.mark.parametrize("changed", [{"parametrisation": "exp"}, {"parametrisation": "signed"}, {"start": "normal"}])
def test_every_parametrisation_and_start(changed):
    assert search(4, 3, settings=Settings(polish=50, **changed), small=False).status == PROVED


@pytest.mark.parametrize(("n", "eps"), [(4, HALF), (3, Fraction(1, 4))])
def test_other_lengths_and_errors(n, eps):
    outcome = search(3, 3, n, eps, settings=Settings(polish=50))
    assert outcome.status == PROVED
    assert held(outcome.head, n, eps)


def test_the_seed_decides():
    first, again, other = (search(4, 2, seed=s, settings=Settings(polish=30)) for s in (1, 1, 2))
    assert first.exists.id == again.exists.id
    assert [a.best for a in first.attempts] == [a.best for a in again.attempts]
    assert [a.best for a in other.attempts] != [a.best for a in first.attempts]


def test_the_certificate_is_that_of_the_exhaustive_verifier():
    """The kernel of a found head, decided by another module."""
    head = search(4, 2, settings=Settings(polish=30)).head
    decided = exhaust.decide(table(head.queries, head.keys))
    assert isinstance(decided, exhaust.KernelCorrect)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((13, 2), "m <= 12"), ((3, 0), "r, heads, restarts >= 1"), ((0, 1), "1 <= m")],
)
def test_arguments_out_of_range(arguments, message):
    with pytest.raises(UsageError, match=message):
        search(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "expected auto, cpu or cuda"),
        ({"settings": Settings(parametrisation="cubic")}, "parametrisation"),
        ({"settings": Settings(start="zero")}, "start"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(UsageError, match=message):
        search(3, 1, **options)


# ------------------------------------------------------------------------------------------ exact integers


@pytest.mark.parametrize("large", [1, 10**9])
@pytest.mark.parametrize(("m", "n", "eps"), [(3, 3, HALF), (3, 5, Fraction(1, 3)), (4, 3, HALF)])
def test_holds_agrees_with_exhaust(m, n, eps, large):
    """int64 and Python's integers, query by query, on softmin tables near the edge."""
    random, size, verdicts = np.random.default_rng(m), 1 << m, set()
    overlaps = np.bitwise_count(np.arange(size)[:, None] & np.arange(size))
    for base in (1, 2, 3, 5, 8, 12):
        queries = np.eye(size, dtype=np.int64) * large
        keys = base ** (m - overlaps.T.astype(np.int64)) * large
        keys[random.integers(size), random.integers(size)] += random.integers(-1, 2) * large
        fine = holds(np.arange(size), queries, keys, n, eps)
        decided = exhaust.decide(table(queries, keys), n, eps, certified=False)
        assert fine.all() == isinstance(decided, exhaust.KernelCorrect)
        if isinstance(decided, exhaust.Refutation):
            assert not fine[decided.triple.x]
        verdicts.add(bool(fine.all()))
    assert verdicts == {True, False}


def trained(m, r):
    levels = Levels.build(m, 3, HALF)
    run = Restart(levels, r, 4, torch.Generator().manual_seed(3), Settings(polish=60), None)
    run.train(lambda line: None)
    return levels, run


def test_integers_are_small_and_exact():
    levels, run = trained(5, 3)
    queries, keys = run.best_features()
    plain, small = rationalise(queries, keys, 3, HALF), compress(queries, keys, levels, 3, HALF, steps=200)
    assert held(plain)
    assert held(small)
    assert small.size() <= plain.size()
    assert small.largest() <= 64


def test_a_coarsened_head_keeps_its_keys():
    _, run = trained(4, 2)
    queries, keys = run.best_features()
    head = rationalise(queries, keys, 3, HALF)
    finer = IntegerHead(head.queries * 1000 + 1, head.keys * 1000)
    coarse = coarsened(finer, 3, HALF)
    assert held(finer)
    assert held(coarse)
    assert (coarse.keys == finer.keys).all()
    assert coarse.size() < finer.size()


def test_a_wrong_head_is_not_made_rational():
    assert rationalise(np.ones((16, 2)), np.ones((16, 2)), 3, HALF) is None


# ------------------------------------------------------------------------------------------ training


def test_halving_drops_heads_and_keeps_the_best():
    levels = Levels.build(4, 3, HALF)
    settings = Settings(steps=100, halvings=(0.1, 0.2, 0.3))
    run = Restart(levels, 1, 8, torch.Generator().manual_seed(0), settings, None)
    run.train(lambda line: None)
    queries, keys = (torch.tensor(part, dtype=torch.float32)[None] for part in run.best_features())
    assert float(excess(queries, keys, levels).max()) == pytest.approx(run.best, abs=1e-4)


@pytest.mark.parametrize("parametrisation", ["bounded", "exp", "signed"])
def test_a_warm_start_is_the_head_it_was_given(parametrisation):
    """Up to the scaling of columns and rows, without disturbance."""
    given = warm.complements(3)
    settings = Settings(parametrisation=parametrisation, spread=0.0)
    run = Restart(Levels.build(3, 3, HALF), 3, 2, torch.Generator().manual_seed(0), settings, given)
    queries, keys = run.maps.features(run.free.double())
    kernel, expected = queries[1] @ keys[1].T, torch.tensor(given[0] @ given[1].T)
    ratio = kernel / expected
    assert torch.allclose(ratio, ratio[:, :1].expand_as(ratio), rtol=1e-4)


def test_starts_of_fewer_and_of_more_bits():
    queries, keys = warm.complements(4)
    fewer = warm.without(queries, keys, 2)
    assert fewer[0].shape == fewer[1].shape == (16, 3)
    more = warm.extended(queries, keys, 5)
    assert more[0].shape == more[1].shape == (32, 5)
    for part in (*fewer, *more):
        assert (part > 0).all()
    assert (more[0][:16, :4] == queries).all()
    assert search(5, 5, warm=more, settings=Settings(polish=20), small=False).status == PROVED
