"""A search that is stopped anywhere and resumed is the search that was not stopped, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck.errors import MalformedInput, UsageError  # noqa: E402
from proofcheck.neural.checkpoints import Store  # noqa: E402
from proofcheck.neural.constrained import Readouts  # noqa: E402
from proofcheck.neural.parametrisations import Layer  # noqa: E402
from proofcheck.neural.search import search  # noqa: E402
from proofcheck.neural.training import Settings  # noqa: E402

EVERY = 7
FAILS = {"m": 4, "r": 1, "heads": 4, "restarts": 3, "settings": Settings(steps=60)}  # two halvings, three restarts
SUCCEEDS = {"m": 4, "r": 2, "heads": 4, "settings": Settings(polish=40), "small": False}  # polished from step 6 on
LIGHT = {"m": 1, "r": 1, "heads": 2, "settings": Settings(polish=30), "small": False}  # no gradient, so no moments
OTHER = Settings(polish=20, parametrisation="signed", start="normal")
SIGNED = {"m": 3, "r": 1, "settings": OTHER, "small": False}
LAYER = Settings(steps=30, parametrisation="mlp", layer=Layer("relu", "tied", 3))
READ = {"m": 3, "r": 1, "heads": 4, "restarts": 2, "settings": Settings(steps=30), "readout": Readouts(2)}
LOCAL = {"m": 3, "r": 1, "heads": 4, "restarts": 2, "settings": LAYER, "small": False}


def told(outcome):
    """Everything of an outcome but the seconds."""
    head = outcome.head and (outcome.head.queries.tolist(), outcome.head.keys.tolist())
    attempts = [(a.best.hex(), a.as_json()) for a in outcome.attempts]
    return attempts, head, outcome.exists and outcome.exists.data, outcome.correct and outcome.correct.data


class Stop(Exception):  # noqa: N818
    pass


def stopped(monkeypatch, path, saves, arguments):
    """Runs until the file has been written `saves` times; whether it was stopped."""
    write, count = Store.write, 0

    def counted(self, arrays):
        nonlocal count
        write(self, arrays)
        count += 1
        if count == saves:
            raise Stop

    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", counted)
        try:
            return search(**arguments, checkpoint=path, every=EVERY)
        except Stop:
            return None


@pytest.mark.parametrize(
    ("arguments", "stops"),
    [
        (FAILS, (1, 3, 8, 9, 20)),  # before and after halvings, at the end of a restart, in the next, in the last
        (SUCCEEDS, (1, 2, 5)),  # the last two while polishing
        (LIGHT, (1, 3)),
        (SIGNED, (1, 2)),
        (LOCAL, (1, 3)),
        (READ, (2, 4)),
    ],
    ids=["fails", "succeeds", "light", "signed", "local", "readout"],
)
def test_stopped_anywhere(tmp_path, monkeypatch, arguments, stops):
    path, expected = tmp_path / "state.npz", told(search(**arguments))
    for saves in stops:
        assert stopped(monkeypatch, path, saves, arguments) is None
        assert path.exists()
        assert told(search(**arguments, checkpoint=path, every=EVERY)) == expected
        assert not list(tmp_path.iterdir())


def test_stopped_again_and_again(tmp_path, monkeypatch):
    expected = told(search(**FAILS))
    for _ in range(100):
        if outcome := stopped(monkeypatch, tmp_path / "state.npz", 1, FAILS):
            break
    assert told(outcome) == expected


def test_more_restarts_later(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    assert stopped(monkeypatch, path, 4, {**FAILS, "restarts": 1}) is None
    assert told(search(**FAILS, checkpoint=path)) == told(search(**FAILS))


@pytest.fixture
def state(tmp_path, monkeypatch):
    assert stopped(monkeypatch, tmp_path / "state.npz", 10, FAILS) is None
    return tmp_path / "state.npz"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"r": 2}, "r"),
        ({"seed": 1}, "seed"),
        ({"heads": 5}, "heads"),
        ({"settings": Settings(steps=61)}, "settings"),
        ({"warm": (np.ones((16, 1)), np.ones((16, 1)))}, "warm"),
        ({"threads": 2}, "threads"),
    ],
)
def test_the_checkpoint_of_another_search(state, changed, name):
    threads, before = torch.get_num_threads(), state.read_bytes()
    try:
        with pytest.raises(UsageError, match=rf"of another search: {name} is"):
            search(**{**FAILS, **changed}, checkpoint=state)
    finally:
        torch.set_num_threads(threads)
    assert state.read_bytes() == before


def test_a_truncated_checkpoint(state):
    data = state.read_bytes()
    for length in range(0, len(data), max(1, len(data) // 23)):
        state.write_bytes(data[:length])
        with pytest.raises(MalformedInput, match=r"state\.npz is no checkpoint"):
            search(**FAILS, checkpoint=state)


def changed_file(path, change):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def widened(arrays):
    arrays["1.free"] = arrays["1.free"].astype(np.float64)


def cut(arrays):
    arrays["1.free"] = arrays["1.free"][:, :, :3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (widened, "an array is float64"),
        (cut, "expected float32 of"),
        (lambda arrays: arrays.pop("1.kept"), "kept"),
        (lambda arrays: arrays.pop("search"), "search"),
        (lambda arrays: arrays.update({"1.numbers": np.zeros(2)}), "not enough values"),
        (lambda arrays: arrays.update({"1.free": np.array([{}], dtype=object)}), "allow_pickle=False"),
    ],
)
def test_a_checkpoint_that_was_changed(state, change, message):
    changed_file(state, change)
    with pytest.raises(MalformedInput, match=f"is no checkpoint: .*{message}"):
        search(**FAILS, checkpoint=state)
