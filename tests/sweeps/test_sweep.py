"""A sweep that is stopped, killed or disturbed, and goes on: the merged bytes are those of one that was not."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proofcheck.errors import CONDITIONAL, FAILS, PROVED, MalformedInput, UsageError
from proofcheck.sweeps import engines, sweep
from proofcheck.sweeps.plan import Plan, Settings, grid
from tests.cli.running import inside, outside

from .working import Work, calls, small_plan

REPOSITORY = Path(__file__).parents[2]
GRID = ("m=3:4,r=1,m-2,seed=0:1", "--heads", "2", "--steps", "300", "--restarts", "2")


def serial(work, shards):
    """An engine without processes."""
    return (engines.Done(shard, work(shard), 1) for shard in shards)


def backwards(work, shards):
    return serial(work, shards[::-1])


def merged(folder):
    return (folder / "merged.json").read_bytes()


class Stop(Exception):  # noqa: N818
    pass


def test_order_engine_retries_and_stops_do_not_matter(tmp_path):
    plan, folders = small_plan(), {}
    shards = plan.shards
    victim = shards[2].id
    for name, engine, how in (
        ("serial", serial, ""),
        ("backwards", backwards, ""),
        ("killed", functools.partial(engines.local, jobs=2), "kill"),
        ("raised", functools.partial(engines.local, jobs=3), "raise"),
    ):
        folders[name] = tmp_path / name
        work = Work(str(folders[name]), victim if how else "", how, 2)
        folders[name].mkdir()
        report = sweep.run(plan, folders[name], engine, work=work)
        assert (report.ran, report.kept, report.failed, report.missing) == (len(shards), 0, [], 0)
    stopped = folders["stopped"] = tmp_path / "stopped"
    stopped.mkdir()

    def stop(line):
        if line.startswith("3/"):
            raise Stop

    with pytest.raises(Stop):
        sweep.run(plan, stopped, serial, work=Work(str(stopped)), progress=stop)
    assert not (stopped / "merged.json").exists()
    report = sweep.run(plan, stopped, backwards, work=Work(str(stopped)))
    assert (report.kept, report.ran) == (3, len(shards) - 3)
    assert [calls(stopped, shard) for shard in shards] == [1] * len(shards)
    assert len({merged(folder) for folder in folders.values()}) == 1


def test_parts(tmp_path):
    plan, whole = small_plan(), tmp_path / "whole"
    whole.mkdir()
    sweep.run(plan, whole, serial, work=Work(str(whole)))
    for i in (2, 1, 3):
        report = sweep.run(plan, tmp_path, serial, part=plan.part(i, 3), work=Work(str(tmp_path)))
        assert (report.merged is None, report.status) == (i != 3, CONDITIONAL)
    assert merged(tmp_path) == merged(whole)


def test_a_shard_that_fails_is_reported_and_run_again_next_time(tmp_path):
    plan, lines = small_plan(), []
    victim = plan.shards[0]
    engine = functools.partial(engines.local, jobs=2, retries=0)
    report = sweep.run(plan, tmp_path, engine, work=Work(str(tmp_path), victim.id, "raise", 1), progress=lines.append)
    assert (report.merged, report.status, report.missing) == (None, CONDITIONAL, 1)
    assert [failed.task for failed in report.failed] == [victim]
    assert any(f"FAILED 1 times: shard {victim.id}" in line and "RuntimeError: no luck" in line for line in lines)
    report = sweep.run(plan, tmp_path, engine, work=Work(str(tmp_path)))
    assert (report.kept, report.ran, report.missing) == (len(plan.shards) - 1, 1, 0)


def test_the_folder_of_another_plan(tmp_path):
    sweep.run(small_plan(), tmp_path, serial, work=Work(str(tmp_path)))
    with pytest.raises(UsageError, match="there heads = 8, here 3"):
        sweep.run(small_plan(settings=Settings(heads=3)), tmp_path, serial, work=Work(str(tmp_path)))
    with pytest.raises(UsageError, match="0 of its 8 shards are not asked for, 4 asked for are not in it"):
        sweep.run(small_plan(3), tmp_path, serial, work=Work(str(tmp_path)))


def test_a_damaged_shard_stops_a_sweep(tmp_path):
    plan = small_plan()
    sweep.run(plan, tmp_path, serial, work=Work(str(tmp_path)))
    path = next((tmp_path / "shards").iterdir())
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(MalformedInput, match=f"{path.name} is damaged"):
        sweep.run(plan, tmp_path, serial, work=Work(str(tmp_path)))


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["found", "found"], PROVED),
        (["found", "refuted"], FAILS),
        (["refuted", "open"], CONDITIONAL),
        (["found", "open"], CONDITIONAL),
    ],
)
def test_statuses(outcomes, status):
    cells = [{"outcome": outcome} for outcome in outcomes]
    assert sweep.Report(small_plan(), 0, merged={"cells": cells}).status == status


# ------------------------------------------------------------------------------------------ with searches


def contents(folder):
    """Everything that must not depend on how a sweep was run."""
    kept = [folder / "plan.json", folder / "merged.json", *(folder / "certificates").rglob("*.json")]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in kept}
    for path in (folder / "shards").iterdir():
        found[path.name] = json.dumps(json.loads(path.read_bytes())["compared"])
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("reference")
    done = inside("sweep", *GRID, "--json", "--out", folder)
    return done, folder


@pytest.mark.slow
def test_a_sweep(reference):
    done, folder = reference
    told = json.loads(done.stdout)
    cells = {(cell["m"], cell["r"]): cell["outcome"] for cell in told["cells"]}
    assert cells == {(3, 1): "found", (4, 1): "refuted", (4, 2): "found"}
    assert (done.exit_code, told["status"], told["ran"], told["missing"]) == (1, 1, 6, 0)
    assert all(cell["certificates"] for cell in told["cells"])
    assert not list((folder / "checkpoints").iterdir())
    again = inside("sweep", *GRID, "--out", folder)
    assert again.exit_code == 1
    assert "2 found, 1 refuted (0 of 6 shards run, 6 kept from before, 0 failed)" in again.stdout


def started(folder, *options):
    command = [sys.executable, "-m", "proofcheck", "sweep", *GRID, *options, "--out", str(folder)]
    return subprocess.Popen(
        command,
        cwd=REPOSITORY,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells ignore it in what they run with &
    )


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def parents():
    """Process -> the process that started it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def workers(process):
    """The processes that `process` has started, and those that they have."""
    of, found = parents(), {process.pid}
    while more := {child for child, parent in of.items() if parent in found} - found:
        found |= more
    return [Path(f"/proc/{child}") for child in found - {process.pid}]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_and_resumed(reference, tmp_path, number):
    """Nothing survives, nothing is run twice, and the bytes are the same."""
    process = started(tmp_path, "--jobs", "2")
    wait_for(lambda: len(list((tmp_path / "shards").glob("*.json"))) >= 2)
    children = workers(process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in errors
    assert children
    wait_for(lambda: not any(child.exists() for child in children))
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "shards").glob("*.json")}
    assert 2 <= len(finished) < 6
    done = outside("sweep", *GRID, "--jobs", "2", "--json", "--out", tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["kept"] == len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert contents(tmp_path) == contents(reference[1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_sweep_with_a_killed_worker(reference, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray")
    process = started(tmp_path, "--jobs", "2", "--engine", engine)
    killed = []

    mark = b"ray::" if engine == "ray" else b"spawn_main"

    def victims():
        """A worker of this sweep that has torch in memory: it is at a shard."""
        for path in workers(process):
            try:
                if mark in (path / "cmdline").read_bytes() and "libtorch" in (path / "maps").read_text():
                    killed.append(int(path.name))
                    return True
            except OSError:
                continue
        return False

    wait_for(lambda: process.poll() is not None or victims())
    os.kill(killed[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert ", try 2" in errors
    assert contents(tmp_path) == contents(reference[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m=4"], "r is missing"),
        (["m=1,r=m-2"], "1 <= r"),
        (["m=3,r=1", "--engine", "slurm"], "--engine: expected local or ray"),
        (["m=3,r=1", "--address", "auto"], "for --engine ray only"),
        (["m=3,r=1", "--gpus", "0.5"], "for --engine ray only"),
        (["m=3,r=1", "--part", "3/2"], "1 <= I <= K"),
        (["m=3,r=1", "--part", "half"], "--part"),
        (["m=3,r=1", "--device", "auto"], "device: expected cpu, cuda"),
        (["m=3,r=1", "--features", "cubic"], "features: expected"),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    done = inside("sweep", *arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_damaged_files_are_malformed_input(tmp_path):
    pytest.importorskip("torch")
    Plan.of(grid("m=3,r=1")).write(tmp_path / "plan.json")
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "0.json").write_bytes(b"{}")
    done = inside("sweep", "m=3,r=1", "--out", tmp_path)
    assert done.exit_code == 4
    assert "0.json is damaged" in done.stderr
