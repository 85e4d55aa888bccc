"""The finder against a dictionary, in memory and on disk; promises kept; models that break the rules."""

from __future__ import annotations

from itertools import count, repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import sketches, transcripts
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.sketches import builtin, finder
from proofcheck.sketches.finder import Collision, NoneFound, Seen

FAMILY = transcripts.typed_family(8, 1, 6)


class Sums:
    """One message: the sum over the tokens of a weight of each, modulo a number. A model of its own kind."""

    def __init__(self, modulus, weight=lambda token: token, alphabets=None):
        self.name, self.modulus, self.weight = "sums", modulus, weight
        self.alphabets = [modulus] if alphabets is None else alphabets

    def encode(self, token, place):
        return self.weight(token)

    def message(self, layer, states):
        return sum(states) % self.modulus

    def update(self, layer, state, message):
        return state + message


class Endless:
    def __iter__(self):
        return repeat(256)


class Batch:
    """A batched model given by a function of the levels."""

    def __init__(self, function, size=10**9):
        self.name, self.function, self.alphabets = "batch", function, [size]

    def batch(self, family, levels):
        return [self.function(levels)]


def first_collision(family, numbers, key):
    """The number of assignments after which two have one key, by a dictionary."""
    seen = {}
    for i, number in enumerate(numbers):
        levels = tuple(family.levels(number))
        if seen.setdefault(key(levels), levels) != levels:
            return i + 1
    return None


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 80))
def test_a_models_own_functions(modulus):
    model = Sums(modulus)
    found = finder.find(model, FAMILY, 64)
    slots = [FAMILY.slot(i, 1) - FAMILY.slot(i, 0) for i in range(FAMILY.q)]
    expected = first_collision(
        FAMILY, range(64), lambda levels: sum(a * b for a, b in zip(slots, levels, strict=True)) % modulus
    )
    assert isinstance(found, NoneFound if expected is None else Collision)
    if modulus < 64:
        assert isinstance(found, Collision)
        assert found.guaranteed
        left, right = (sketches.run(model, FAMILY.sequence(levels)) for levels in (found.left, found.right))
        assert left[0] == right[0] == tuple(code for layer in found.transcript for code in layer)
        assert left[1][: FAMILY.q] == right[1][: FAMILY.q]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(1, 400), st.integers(1, 60), st.booleans(), st.integers(0, 99))
def test_every_pair_of_equal_hashes_is_given(distinct, size, memory, small, seed):
    """What `add` and `rest` give, against a dictionary, wherever runs are merged and spilled."""
    random = np.random.default_rng(seed)
    hashes = random.integers(0, distinct if small else 2**63, size=size).astype(np.uint64)
    hashes = finder.mixed(hashes)
    given_pairs = set()
    with Seen(size, memory) as seen:
        for start in range(0, size, 37):
            numbers = np.arange(start, min(start + 37, size))
            for one, other in seen.add(hashes[numbers], numbers):
                given_pairs |= set(zip(one.tolist(), other.tolist(), strict=True))
        for one, other in seen.rest():
            given_pairs |= set(zip(one.tolist(), other.tolist(), strict=True))
        folder = seen.folder
    pairs = {(min(p), max(p)) for p in given_pairs}
    assert pairs == {(i, j) for j in range(size) for i in range(j) if hashes[i] == hashes[j]}
    assert (folder is not None) is (size > memory) or size <= memory + 37


@pytest.mark.parametrize("memory", [1 << 21, 1000, 3000])
def test_one_collision_far_apart_is_found_wherever_it_is(memory):
    """All transcripts differ but for two assignments; in memory, and in partitions on disk."""
    family = transcripts.typed_family(14, 3, 8)
    first, last = 5, 4**8 - 7

    def numbers(levels):
        values = (levels * 4 ** np.arange(8)).sum(axis=1)
        return np.where(values == last, first, values)[:, None]

    found = finder.find(Batch(numbers), family, 4**8, memory=memory)
    assert isinstance(found, Collision)
    assert {found.left, found.right} == {tuple(family.levels(first)), tuple(family.levels(last))}
    assert abs(found.targets[0] - found.targets[1]) == max(
        abs(a - b) for a, b in zip(found.left, found.right, strict=True)
    )
    none = finder.find(Batch(lambda levels: (levels * 4 ** np.arange(8)).sum(axis=1)[:, None]), family, 4**8)
    assert none == NoneFound(4**8, True)


def test_samples_are_reproducible_and_spread():
    family = transcripts.typed_family(14, 3, 8)
    levels = finder.levels_of(family, np.arange(4000), 7)
    assert (levels == finder.levels_of(family, np.arange(4000), 7)).all()
    assert (levels[100:200] == finder.levels_of(family, np.arange(100, 200), 7)).all()
    assert (levels != finder.levels_of(family, np.arange(4000), 8)).any()
    for column in levels.T:
        assert np.bincount(column, minlength=4).min() > 800
    assert len({tuple(row) for row in levels.tolist()}) > 3700
    model = builtin.linear_attention(family, 1, 1, 1, 1, 4)
    found = finder.find(model, family, 4000, seed=3)
    assert isinstance(found, Collision)
    assert not found.guaranteed
    assert found == finder.find(model, family, 4000, seed=3)


def test_equal_samples_are_no_collision():
    family = transcripts.typed_family(8, 1, 8)
    found = finder.find(Batch(lambda levels: (levels * 2 ** np.arange(8)).sum(axis=1)[:, None]), family, 63, seed=1)
    assert found == NoneFound(63, False)
    with pytest.raises(UsageError, match=r"^--samples: 64 of only 256 assignments: enumerate them$"):
        finder.find(Batch(lambda levels: levels), family, 64, seed=1)


@pytest.mark.parametrize(
    ("alphabets", "reason"),
    [
        ([], "^sums: alphabets: expected at least one layer$"),
        ([0], r"^sums: layer 0: expected a finite alphabet, an integer >= 1 of messages, got 0$"),
        ([4, float("inf")], r"^sums: layer 1: expected a finite alphabet, an integer >= 1 of messages, got inf$"),
        ([None], r"^sums: layer 0: expected a finite alphabet, .* got None$"),
        ([True], r"^sums: layer 0: expected a finite alphabet, .* got True$"),
        (7, r"^sums: alphabets: expected one size a layer, got 7$"),
        (repeat(256), "^sums: alphabets: expected a list or tuple, got itertools.repeat$"),
        (iter([64]), "^sums: alphabets: expected a list or tuple, got list_iterator$"),
        (Endless(), "^sums: alphabets: expected at most 1000 layers, got more$"),
        ([np.int64(64)], r"^sums: layer 0: expected a finite alphabet, .* got np.int64\(64\) of type numpy.int64$"),
        ([5], r"^sums: layer 0: expected a message in 0\.\.4, got \d+$"),
    ],
)
def test_alphabets_that_are_none(alphabets, reason):
    with pytest.raises(UsageError, match=reason):
        finder.find(Sums(64, alphabets=alphabets), FAMILY, 64)


@pytest.mark.parametrize(
    ("message", "got"), [(np.int64(3), r"np.int64\(3\) of type numpy.int64"), (3.0, "3.0 of type float")]
)
def test_messages_are_python_integers(message, got):
    model = Sums(64)
    model.message = lambda layer, states: message
    with pytest.raises(UsageError, match=f"^sums: layer 0: expected a message that is a Python int, got {got}$"):
        finder.find(model, FAMILY, 64)


def test_a_model_that_is_not_deterministic():
    counter = count()
    model = Sums(2**40, alphabets=[2**40, 2**40])
    model.message = lambda layer, states: next(counter) if layer else 3
    reason = (
        r"^sums is not deterministic: two runs on the assignment \[0, 0, 0, 0, 0, 0\] differ in the message of layer 1$"
    )
    with pytest.raises(UsageError, match=reason):
        finder.find(model, FAMILY, 64)


def test_a_model_that_changes_during_the_search():
    """Deterministic at first: caught when a pair of equal transcripts is computed again."""
    model = Sums(2**40, alphabets=[2**40, 2**40])
    model.batches = 0

    def message(layer, states):
        model.batches += 1
        return 3 if model.batches <= 176 or not layer else sum(states) % 2**40

    model.message = message
    with pytest.raises(UsageError, match=r"^sums is not .* had equal transcripts, .* differ in .* layer 1$"):
        finder.find(model, FAMILY, 64)
    assert model.batches == 8 * 3 * 2 + 64 * 2 + 2 * 3 * 2  # the check beforehand, the search, one pair again


def test_a_batch_that_differs_from_its_rows():
    def centred(levels):
        return levels - levels.min(axis=0)

    with pytest.raises(UsageError, match=r"^batch is not deterministic: .* layer 0$"):
        finder.find(Batch(centred), FAMILY, 64)


def test_a_model_that_breaks_its_alphabet():
    """A promised collision that does not come is a fault of the model, and said."""
    model = Batch(lambda levels: (levels * 2 ** np.arange(6)).sum(axis=1)[:, None], size=10)
    with pytest.raises(ClaimFails, match=r"^batch: 64 assignments have different transcripts, more than its alphabets"):
        finder.find(model, FAMILY, 64)


def test_limits():
    for limit in (0, -3, 2**62 + 1):
        with pytest.raises(UsageError, match=rf"^expected 1 to 2\^62 assignments to examine, got {limit}$"):
            finder.find(Sums(4), FAMILY, limit)


def test_compare():
    assert isinstance(finder.compare(Sums(1), FAMILY, [0] * 6, [1] * 6), Collision)
    assert finder.compare(Sums(2**60), FAMILY, [0] * 6, [1] * 6) == NoneFound(2, False)
