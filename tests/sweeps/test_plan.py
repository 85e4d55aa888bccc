"""The planner: partitions, independence of order, ids made of content, the plan file."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as running
from hypothesis import strategies as st

from proofcheck.errors import MalformedInput, UsageError
from proofcheck.sweeps.plan import Plan, Settings, Shard, grid

HALF = Fraction(1, 2)
TASKS = st.tuples(
    st.integers(1, 12),
    st.integers(1, 2),
    st.integers(3, 9),
    st.fractions(Fraction(1, 9), HALF, max_denominator=9),
    st.integers(0, 1 << 40),
)
LISTS = st.lists(TASKS, min_size=1, max_size=20)
SETTINGS = st.builds(Settings, heads=st.integers(1, 9), features=st.sampled_from(["bounded", "exp", "signed"]))


@running(deadline=None)
@given(LISTS, SETTINGS, st.data())
def test_order_and_repetition_do_not_matter(tasks, settings, data):
    shuffled = data.draw(st.permutations(tasks + tasks[: len(tasks) // 2]))
    plan, other = Plan.of(tasks, settings), Plan.of(shuffled, settings)
    assert plan == other
    assert (plan.id, plan.data()) == (other.id, other.data())
    assert {shard.task for shard in plan.shards} == set(tasks)
    assert len(plan.shards) == len(set(tasks))


@running(deadline=None)
@given(LISTS, st.integers(1, 30))
def test_parts_are_a_partition(tasks, of):
    plan = Plan.of(tasks)
    parts = [plan.part(i, of) for i in range(1, of + 1)]
    assert sorted(shard.id for part in parts for shard in part) == sorted(shard.id for shard in plan.shards)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@running(deadline=None)
@given(LISTS, LISTS, SETTINGS)
def test_ids_are_made_of_content_alone(tasks, others, settings):
    """The same task has the same id in every plan; other tasks and other settings have others."""
    ids = {shard.task: shard.id for shard in Plan.of(tasks, settings).shards}
    assert len(set(ids.values())) == len(ids)
    for shard in Plan.of(tasks + others, settings).shards:
        assert ids.get(shard.task, shard.id) == shard.id
    changed = replace(settings, steps=settings.steps + 1)
    assert not set(ids.values()) & {shard.id for shard in Plan.of(tasks, changed).shards}


def test_an_id_does_not_change():
    """Files of earlier sweeps stay valid: if this fails, the format has changed, and its name must too."""
    assert Shard(4, 2, 3, HALF, 0, Settings()).id == "9ec58f4582eb213bc8ee7de409c216ae"


@running(deadline=None)
@given(LISTS, SETTINGS)
def test_the_file_gives_the_plan_back(tmp_path_factory, tasks, settings):
    path, plan = tmp_path_factory.mktemp("plan") / "plan.json", Plan.of(tasks, settings)
    plan.write(path)
    assert Plan.read(path) == plan


def renamed(content):
    content["shards"][0]["id"] = "0" * 32


def reordered(content):
    content["shards"].reverse()


def doubled(content):
    content["shards"].append(content["shards"][0])


def odd(content):
    content["settings"]["heads"] = "8"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (renamed, "ids, order or spelling"),
        (reordered, "ids, order or spelling"),
        (doubled, "ids, order or spelling"),
        (odd, "heads"),
        (lambda content: content.update(format="other/1"), "the format is 'other/1'"),
        (lambda content: content["shards"][0].pop("m"), "'m' is missing"),
        (lambda content: content["shards"][0].update(eps="1/0"), "no plan of a sweep"),
        (lambda content: content["shards"][0].update(m=13), "m = 13"),
    ],
)
def test_a_plan_file_that_was_changed(tmp_path, change, message):
    path = tmp_path / "plan.json"
    Plan.of(grid("m=3,r=1,seed=0:1")).write(path)
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n")
    with pytest.raises(MalformedInput, match=message):
        Plan.read(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m=4:6,r=m-2,seed=0:1", [(m, m - 2, 3, HALF, s) for m in (4, 5, 6) for s in (0, 1)]),
        ("r=m-1:m,1, m=3", [(3, r, 3, HALF, 0) for r in (2, 3, 1)]),
        ("m=2,r=3,n=3,5,eps=1/2,1/4", [(2, 3, n, e, 0) for n in (3, 5) for e in (HALF, Fraction(1, 4))]),
        ("m=2,r=m+1", [(2, 3, 3, HALF, 0)]),
    ],
)
def test_grids(text, expected):
    assert grid(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected NAME=VALUES"),
        ("4:6", "expected NAME=VALUES"),
        ("m=4", "r is missing"),
        ("r=4", "m is missing"),
        ("m=4,r=2,k=3", "expected one of m, r, n, eps, seed"),
        ("m=4,r=2,m=5", "m is given twice"),
        ("m=6:4,r=2", "A <= B"),
        ("m=1:2:3,r=2", "A <= B"),
        ("m=m,r=2", "m: expected an integer"),
        ("m=4,r=m2", "r: expected an integer"),
        ("m=4,r=", "r: expected an integer"),
        ("m=4,r=-1", "r: expected an integer"),
        ("m=4,r=2,eps=0.5", "a fraction p/q"),
        ("m=4,r=2,eps=1/0", "a fraction p/q"),
        ("m=4,r=2,seed=0:99999", "at most 10000"),
        ("m=4:5,r=2,seed=1:9999", "at most 10000"),
    ],
)
def test_bad_grids(text, message):
    with pytest.raises(UsageError, match=message):
        grid(text)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ((13, 1, 3, HALF, 0), "m <= 12"),
        ((2, 0, 3, HALF, 0), "1 <= r <= 4"),
        ((2, 5, 3, HALF, 0), "1 <= r <= 4"),
        ((2, 1, 2, HALF, 0), "3 <= n"),
        ((2, 1, 3, Fraction(2, 3), 0), "eps <= 1/2"),
        ((2, 1, 3, HALF, -1), "0 <= seed"),
    ],
)
def test_tasks_out_of_range(task, message):
    with pytest.raises(UsageError, match=message):
        Plan.of([task])


@pytest.mark.parametrize(
    "changed", [{"heads": 0}, {"steps": True}, {"features": "cubic"}, {"start": "zero"}, {"device": "auto"}]
)
def test_settings_out_of_range(changed):
    with pytest.raises(UsageError, match=next(iter(changed))):
        Settings(**changed)


def test_an_empty_plan_and_a_bad_part():
    with pytest.raises(UsageError, match="empty"):
        Plan.of([])
    for i, of in ((0, 2), (3, 2)):
        with pytest.raises(UsageError, match="I/K"):
            Plan.of(grid("m=3,r=1")).part(i, of)
