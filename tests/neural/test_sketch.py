"""Quantised linear attention in torch: formats, one transcript whatever the batch, collisions and none."""

import numpy as np
import pytest
import torch

from proofcheck import sketches, transcripts
from proofcheck.errors import UsageError
from proofcheck.heads.activations import ACTIVATIONS
from proofcheck.neural import sketch
from proofcheck.sketches import finder

FAMILY = transcripts.typed_family(14, 3, 6)
FORMATS = ["int", "fp16", "bf16", "fp8", "fp8-e5m2"]


def build(form, features="elu1", layers=2, heads=2, r=4, dv=4, p=None, seed=0, family=FAMILY):
    width = 3 if form == "int" and p is None else p
    return sketch.linear_attention(family, layers, heads, r, dv, sketch.message_format(form, width), features, seed)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("features", sorted(ACTIVATIONS))
def test_one_transcript_whatever_the_batch(features, form):
    """Bit by bit the same alone, in batches of other sizes, and in another order."""
    model = build(form, features, r=7 if features == "taylor" else 4)
    levels = finder.levels_of(FAMILY, np.arange(37), 5)
    whole = model.batch(FAMILY, levels)
    for part in (levels[:1], levels[30:], levels[::-1], levels[3:20]):
        rows = [levels.tolist().index(row) for row in part.tolist()]
        for one, other in zip(model.batch(FAMILY, part), whole, strict=True):
            assert (one == other[rows]).all()
    assert [layer.shape[1] for layer in whole] == [2 * model.r * 5] * 2
    assert sketches.bits(model) == 2 * 2 * model.r * 5 * model.format.p
    assert len({layer.tobytes() for layer in whole[0]}) > 1


@pytest.mark.parametrize("form", FORMATS)
def test_formats_round_to_the_nearest_and_saturate(form):
    found = sketch.message_format(form, 5 if form == "int" else None)
    values = torch.tensor([0.0, 0.3, -1.7, 3.49, 1e30, -float("inf"), float("inf"), float("nan")])
    back = found.decode(found.encode(values))
    largest = found.largest - (form == "int")
    assert float(back.max()) == largest
    assert float(back.min()) == -found.largest
    expected = torch.clamp(torch.floor(values[:4] + 0.5), -16, 15) if form == "int" else None
    if expected is None:
        dtype = sketch.FLOATS[found.name][0]
        expected = values[:4].to(dtype).to(torch.float32)
    assert torch.equal(back[:4], expected)
    assert not torch.isnan(back).any()


@pytest.mark.parametrize("features", ["elu1", "identity", "hedgehog"])
def test_one_layer_by_float64(features):
    """S and z of the first layer against float64, before rounding to 16-bit floats."""
    model = build("bf16", features, layers=1)
    row = finder.levels_of(FAMILY, np.array([1234]), None)
    (codes,) = model.batch(FAMILY, row)
    apply = ACTIVATIONS[features].apply
    tokens = FAMILY.sequence(row[0].tolist())
    bits = np.array([[token >> i & 1 for i in range(model.m)] + [1] for token in tokens], dtype=float)
    states = bits @ model.embedding.double().numpy().T
    expected = []
    for head in model.layers[0]:
        f = apply(states @ head.keys.double().numpy().T)
        expected += [(f.T @ (states @ head.values.double().numpy().T)).ravel(), f.sum(axis=0)]
    got = model.format.decode(torch.from_numpy(codes))[0].double().numpy()
    exact = np.concatenate(expected)
    assert np.abs(got - exact).max() <= np.abs(exact).max() / 100


def test_collision_below_the_bound_and_none_above():
    tight = build("int", "elu1", layers=1, heads=1, r=1, dv=1, p=2)
    found = finder.find(tight, FAMILY, 4096)
    assert isinstance(found, finder.Collision)
    assert found.guaranteed
    assert finder.compare(tight, FAMILY, list(found.left), list(found.right)).transcript == found.transcript
    assert finder.find(build("fp16"), FAMILY, 4096) == finder.NoneFound(4096, True)


def test_fp8_collision_by_sampling():
    family = transcripts.typed_family(14, 3, 8)
    model = build("fp8", "elu1", layers=1, heads=1, r=1, dv=1, family=family)
    found = finder.find(model, family, 8000, seed=1)
    assert isinstance(found, finder.Collision)
    assert not found.guaranteed
    assert found.left != found.right


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"form": "fp4"}, r"^--format: expected int, fp8, fp16, bf16, fp8-e4m3, fp8-e5m2; got 'fp4'$"),
        ({"form": "fp16", "p": 8}, "^-p: fp16 has 16 bits, got 8$"),
        ({"form": "int", "p": 0}, r"^-p: a coordinate has 1 <= p <= 24 bits here, got 0$"),
        ({"form": "int", "p": 25}, "got 25$"),
        ({"form": "fp8", "features": "gelu"}, "^--features: expected an activation"),
        (
            {"form": "fp8", "features": "taylor", "r": 2},
            "^-r: taylor has no version with at most 2 features; the least is 3",
        ),
        ({"form": "fp8", "heads": 0}, r"^--heads: expected 1\.\.256, got 0$"),
    ],
)
def test_out_of_range(arguments, reason):
    with pytest.raises(UsageError, match=reason):
        build(**arguments)
