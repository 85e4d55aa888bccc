"""Exact linear attention: batches against the kernel's definition and against the interface, token by token."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import sketches, transcripts
from proofcheck.errors import MalformedInput, UsageError
from proofcheck.sketches import builtin, files, finder
from proofcheck.sketches.grids import EXACT, Grid
from proofcheck.sketches.linear import LinearAttention
from tests.kernel.sketch_oracle import transcript as oracle

FAMILY, LARGER = transcripts.typed_family(8, 1, 4), transcripts.typed_family(8, 1, 8)


@st.composite
def models(draw, family=FAMILY):
    """Random small models, grids as fitted or drawn anew: coarse, shifted, with rational steps."""
    model = builtin.linear_attention(
        family,
        draw(st.integers(1, 3)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from(sorted(builtin.FEATURES))),
        draw(st.integers(0, 10**6)),
    )
    if draw(st.booleans()):
        return model
    steps = st.builds(Fraction, st.integers(1, 40), st.integers(1, 9))
    layers = []
    for layer in model.layers:
        grids = [Grid(draw(st.integers(1, 5)), draw(st.integers(-9, 3)), draw(steps)) for _ in range(4)]
        layers.append(type(layer)(layer.heads, *grids))
    return LinearAttention(model.name, model.m, model.embedding, tuple(layers))


def flat(message):
    return [code for s, z in message for code in [*(c for row in s for c in row), *z]]


@settings(max_examples=60, deadline=None)
@given(models(), st.lists(st.integers(0, FAMILY.assignments - 1), min_size=1, max_size=4))
def test_batches_are_the_definition(model, numbers):
    levels = finder.levels_of(FAMILY, np.array(numbers), None)
    batch = model.batch(FAMILY, levels)
    json = files.spell(model.as_json())
    for i, row in enumerate(levels.tolist()):
        sequence = FAMILY.sequence(row)
        plain = [flat(message) for message in model.plain_messages(sequence)]
        assert [layer[i].tolist() for layer in batch] == plain
        independent = oracle(json, [f"{token:x}" for token in sequence])
        assert [[c for s, z in message for c in [*s.values(), *z.values()]] for message in independent] == plain


@settings(max_examples=30, deadline=None)
@given(models(), st.integers(0, FAMILY.assignments - 1), st.integers(0, FAMILY.assignments - 1))
def test_equal_transcripts_give_equal_states_and_outputs_at_the_queries(model, one, other):
    left, right = (FAMILY.sequence(FAMILY.levels(k)) for k in (one, other))
    (first, states), (second, others) = sketches.run(model, left), sketches.run(model, right)
    for layer, size in enumerate(model.alphabets):
        assert 0 <= first[layer] < size
    if first == second:
        for i, (x, y) in enumerate(zip(left, right, strict=True)):
            if x == y:
                assert states[i] == others[i]
                assert model.decode(states[i]) == model.decode(others[i])
        assert left[: FAMILY.q] == right[: FAMILY.q]
    else:
        assert model.plain_messages(left) != model.plain_messages(right)


TIGHT = [
    (layers, heads, r, dv, p)
    for layers, heads, r, dv, p in product(range(1, 4), range(1, 3), range(1, 4), range(1, 3), range(1, 4))
    if layers * heads * r * (dv + 1) * p < LARGER.q
]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TIGHT), st.sampled_from(sorted(builtin.FEATURES)), st.integers(0, 10**6))
def test_below_the_bound_the_finder_succeeds_and_the_kernel_agrees(shape, features, seed):
    """Fewer transcripts than assignments: two of the first |transcripts| + 1 assignments are found, certified, and
    every output of a query agrees on them."""
    model = builtin.linear_attention(LARGER, *shape, features, seed)
    assert sketches.transcripts(model) < LARGER.assignments
    limit = sketches.transcripts(model) + 1
    found = finder.find(model, LARGER, limit)
    assert isinstance(found, finder.Collision)
    assert found.guaranteed
    assert found.examined <= limit
    assert found.left != found.right
    assert found.targets[0] != found.targets[1]
    certificate = files.certificate(model, LARGER, found, "test")
    assert not certificate.verdict.assumed
    left, right = (sketches.run(model, LARGER.sequence(levels)) for levels in (found.left, found.right))
    assert left[0] == right[0]
    assert left[1][: LARGER.q] == right[1][: LARGER.q]


def test_alphabets_are_those_of_equation_8():
    for layers, heads, r, dv, p in ((1, 1, 1, 1, 1), (2, 2, 4, 4, 1), (3, 2, 5, 2, 3)):
        model = builtin.linear_attention(FAMILY, layers, heads, r, dv, p)
        assert sketches.bits(model) == layers * heads * r * (dv + 1) * p
        assert [log2(size) for size in model.alphabets] == [heads * r * (dv + 1) * p] * layers


def test_numbers_too_large_for_floats_are_exact():
    """A cubic feature map reaches beyond 2^53: Python integers, the same definition."""
    model = builtin.linear_attention(FAMILY, 2, 2, 2, 4, 8, "cubic")
    small = builtin.linear_attention(FAMILY, 2, 2, 2, 4, 8, "relu")
    assert model.largest(FAMILY.length) >= EXACT > small.largest(FAMILY.length)
    levels = np.array([[0, 1, 0, 1], [1, 1, 1, 0]])
    assert model.batch(FAMILY, levels)[1].dtype == object
    for i, row in enumerate(levels.tolist()):
        plain = [flat(message) for message in model.plain_messages(FAMILY.sequence(row))]
        assert [layer[i].tolist() for layer in model.batch(FAMILY, levels)] == plain


@given(st.integers(-(10**6), 10**6), st.integers(1, 6), st.integers(-20, 20), st.fractions(Fraction(1, 50), 50))
def test_grids_round_to_the_nearest_level(value, bits, low, step):
    step = step.limit_denominator(99) or Fraction(1)
    grid = Grid(bits, low, step)
    code = int(grid.codes(np.array([value]))[0])
    assert low <= code <= low + 2**bits - 1
    nearest = [abs(value - step * k) for k in (code - 1, code, code + 1)]
    assert nearest[1] <= nearest[0] or code == low
    assert nearest[1] <= nearest[2] or code == low + 2**bits - 1


@settings(max_examples=10, deadline=None)
@given(models())
def test_files_hold_the_model(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("model") / "model.json"
    files.write(model, path)
    again = files.read(str(path))
    assert (again.m, again.embedding, again.layers) == (model.m, model.embedding, model.layers)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", r"the file: the field 'format' is missing$"),
        ("[1", r"not JSON at character 2"),
        ('{"format": "x", "m": 1, "embedding": [], "layers": []}', r"format: expected 'proofcheck-sketch/1'$"),
        ('{"format": "proofcheck-sketch/1", "m": 0, "embedding": [], "layers": []}', r"m: expected an integer from 1"),
        (
            '{"format": "proofcheck-sketch/1", "m": 1, "embedding": [[1]], "layers": []}',
            r": embedding: expected at least 1 rows of 2 integers, got 1 of \[1\]$",
        ),
        ('{"format": "proofcheck-sketch/1", "m": 1, "embedding": [[1, 0.5]], "layers": []}', "0.5' is not exact"),
    ],
)
def test_files_that_are_no_models(tmp_path, text, reason):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(MalformedInput, match=reason):
        files.read(str(path))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"layers": 0}, r"^--layers: expected 1\.\.256, got 0$"),
        ({"heads": 257}, r"^--heads: expected 1\.\.256, got 257$"),
        ({"r": 0}, r"^-r: expected 1\.\.256, got 0$"),
        ({"dv": -1}, r"^--dv: expected 1\.\.256, got -1$"),
        ({"p": 0}, r"^-p: a coordinate has 1 <= p <= 32 bits, got 0$"),
        ({"p": 33}, r"^-p: a coordinate has 1 <= p <= 32 bits, got 33$"),
        ({"features": "elu1"}, r"^--features: expected one of identity, .* in exact integers, got 'elu1'$"),
    ],
)
def test_models_out_of_range(change, reason):
    with pytest.raises(UsageError, match=reason):
        builtin.linear_attention(FAMILY, **({"layers": 1, "heads": 1, "r": 1, "dv": 1, "p": 1} | change))
