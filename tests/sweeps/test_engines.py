"""Engines: every task ends, whatever happens to its worker, and nothing depends on what happened."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from proofcheck.errors import UsageError
from proofcheck.sweeps import engines
from proofcheck.sweeps.engines import Done, Failed

from .working import CALLS, Work, calls, result, small_plan

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(params=["local", pytest.param("ray", marks=pytest.mark.slow)])
def engine(request, tmp_path_factory, monkeypatch):
    if request.param == "ray":
        pytest.importorskip("ray")
        monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
        return functools.partial(engines.ray, jobs=2)
    return functools.partial(engines.local, jobs=2)


def outcomes(engine, work, shards, **options):
    found = list(engine(work, shards, **options))
    assert sorted(outcome.task.id for outcome in found) == sorted(shard.id for shard in shards)
    return {outcome.task.id: outcome for outcome in found}


def good(found, shards):
    for shard in shards:
        assert isinstance(found[shard.id], Done)
        assert found[shard.id].value.result == result(shard)


def test_all_tasks(engine, tmp_path):
    shards = small_plan().shards
    good(outcomes(engine, Work(str(tmp_path)), shards), shards)
    assert [calls(tmp_path, shard) for shard in shards] == [1] * len(shards)


@pytest.mark.parametrize("how", ["raise", "kill"])
def test_a_task_that_fails_once_or_always(engine, tmp_path, how):
    """Retried; when it keeps failing it is reported, and the others go on, none of them twice."""
    shards = small_plan().shards
    victim = shards[1]
    reason = {"raise": "RuntimeError: no luck", "kill": engines.LOST}[how]
    for times, expected in ((1, Done), (100, Failed)):
        folder = tmp_path / str(times)
        folder.mkdir()
        found = outcomes(engine, Work(str(folder), victim.id, how, times), shards, retries=2)
        good(found, [shard for shard in shards if expected is Done or shard != victim])
        assert isinstance(found[victim.id], expected)
        assert found[victim.id].tries == calls(folder, victim) == min(times + 1, 3)
        assert {calls(folder, shard) for shard in shards if shard != victim} == {1}
        if expected is Failed:
            assert found[victim.id].reason == reason


def killer(folder, shard):
    """Kills the worker of the first call from outside."""
    while True:
        for path in (folder / CALLS).glob(f"{shard.id}.0"):
            if text := path.read_text():
                os.kill(int(text), signal.SIGKILL)
                return
        time.sleep(0.02)


def test_a_worker_killed_from_outside(engine, tmp_path):
    shards = small_plan(1).shards
    thread = threading.Thread(target=killer, args=(tmp_path, shards[0]), daemon=True)
    thread.start()
    found = outcomes(engine, Work(str(tmp_path), shards[0].id, "sleep", 1), shards)
    thread.join(10)
    good(found, shards)
    assert found[shards[0].id].tries == 2


def test_closing_ends_the_workers(tmp_path):
    shards = small_plan().shards
    iterator = engines.local(Work(str(tmp_path), shards[0].id, "sleep"), shards, jobs=2)
    next(iterator)
    began = time.monotonic()
    iterator.close()
    assert time.monotonic() - began < 20
    assert multiprocessing.active_children() == []


def test_no_tasks(tmp_path):
    assert list(engines.local(Work(str(tmp_path)), [])) == []


def test_ray_that_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"install proofcheck\[ray\]"):
        list(engines.ray(Work(str(tmp_path)), small_plan().shards))


@pytest.mark.slow
def test_ray_that_is_not_there(tmp_path):
    pytest.importorskip("ray")
    with pytest.raises(UsageError, match=r"no Ray at 127\.0\.0\.1:1"):
        list(engines.ray(Work(str(tmp_path)), small_plan().shards, address="127.0.0.1:1"))


def test_imports_are_light():
    program = "import sys; from proofcheck.sweeps import plan, shards, engines, work, sweep; "
    program += "print([name for name in ('torch', 'ray', 'scipy', 'z3') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout.strip() == "[]"
