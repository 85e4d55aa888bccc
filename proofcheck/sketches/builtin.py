"""Built-in models in exact integers, random but for a seed, with grids fitted to a family.

Weights are integers in -3..3 (embedding, queries, keys, values) and -1..1 (outputs). The state has width
max(4, H dv). The grids are set layer by layer so that they cover what occurs on `SAMPLE` assignments of the family: S
and z with p bits a coordinate, in the smallest step 1, 2, 4, .. that covers the range; a head's outputs with 8 bits;
states with 10 bits and step 1. So the p bits are put to use: a collision is not due to a grid of the wrong size.

    identity   phi(t) = t            signed
    relu       max(t, 0)
    sqrelu     max(t, 0)^2
    square     t^2                   signed t, alpha >= 0
    cubic      t^3 - t               signed
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from proofcheck.errors import UsageError
from proofcheck.transcripts import TypedFamily

from .finder import levels_of
from .grids import EXACT, Array, Grid, Rows, product
from .linear import Head, Layer, LinearAttention

FEATURES: dict[str, tuple[bool, tuple[int, ...]]] = {
    "identity": (False, (0, 1)),
    "relu": (True, (0, 1)),
    "sqrelu": (True, (0, 0, 1)),
    "square": (False, (0, 0, 1)),
    "cubic": (False, (0, -1, 0, 1)),
}
SAMPLE = 64
OUTPUT_BITS, STATE_BITS = 8, 10
WEIGHT = 3
MAX_P = 32
STATES = Grid(STATE_BITS, -(1 << (STATE_BITS - 1)), Fraction(1))


def linear_attention(
    family: TypedFamily, layers: int, heads: int, r: int, dv: int, p: int, features: str = "relu", seed: int = 0
) -> LinearAttention:
    """L layers of H heads with r features, values of dv numbers and p bits a coordinate; see the module."""
    for option, value in (("--layers", layers), ("--heads", heads), ("-r", r), ("--dv", dv)):
        if not 1 <= value <= 256:
            raise UsageError(f"{option}: expected 1..256, got {value}")
    if not 1 <= p <= MAX_P:
        raise UsageError(f"-p: a coordinate has 1 <= p <= {MAX_P} bits, got {p}")
    if features not in FEATURES:
        raise UsageError(f"--features: expected one of {', '.join(FEATURES)} in exact integers, got {features!r}")
    source = np.random.PCG64(seed)
    relu, polynomial = FEATURES[features]
    width = max(4, heads * dv)

    def matrix(rows: int, columns: int, largest: int) -> Rows:
        raw = source.random_raw(rows * columns) % np.uint64(2 * largest + 1)
        return tuple(map(tuple, (raw.astype(np.int64) - largest).reshape(rows, columns).tolist()))

    embedding = matrix(width, family.m + 1, WEIGHT)
    unit = Grid(p, -(1 << (p - 1)), Fraction(1))
    outputs = Grid(OUTPUT_BITS, -(1 << (OUTPUT_BITS - 1)), Fraction(1))
    blocks = []
    for _ in range(layers):
        made = []
        for _ in range(heads):
            queries, keys, values = (matrix(rows, width, WEIGHT) for rows in (r, r, dv))
            made.append(Head(queries, keys, values, matrix(width, dv, 1), relu, polynomial))
        blocks.append(Layer(tuple(made), unit, unit, outputs, STATES))
    name = f"linear attention, {layers} layers, {heads} heads, r={r}, dv={dv}, p={p}, {features}, seed {seed}"
    return fitted(LinearAttention(name, family.m, embedding, tuple(blocks)), family, p)


def fitted(model: LinearAttention, family: TypedFamily, p: int) -> LinearAttention:
    """The model with grids of p bits for S and z, and with steps of the outputs, that cover a sample of the family."""
    done: list[Layer] = []
    levels = levels_of(family, np.arange(SAMPLE), 0)
    sequences = [family.sequence(row) for row in levels.tolist()]
    dtype = np.int64 if model.largest(family.length) < EXACT else object  # sums are no larger with other grids
    states = np.array([[model.encode(t, i) for i, t in enumerate(s)] for s in sequences], dtype=dtype)
    for layer in model.layers:
        sums = model.shares(layer, states).sum(axis=1)
        s, z, start = [], [], 0
        for head in layer.heads:
            s.append(sums[:, start : start + head.r * head.dv])
            z.append(sums[:, start + head.r * head.dv : start + head.r * (head.dv + 1)])
            start += head.r * (head.dv + 1)
        layer = replace(
            layer, sums=covering(np.concatenate(s, axis=1), p), normalisers=covering(np.concatenate(z, axis=1), p)
        )
        codes = model.rounded(layer, sums)
        largest, start = Fraction(1), 0
        for head in layer.heads:
            middle, end = start + head.r * head.dv, start + head.r * (head.dv + 1)
            f = head.features(states, head.queries)
            below = (f * codes[:, None, middle:end]).sum(axis=-1)[..., None]
            above = product(f, np.swapaxes(codes[:, start:middle].reshape(-1, head.r, head.dv), -1, -2))
            pairs = zip(np.broadcast_to(below, above.shape).ravel().tolist(), above.ravel().tolist(), strict=True)
            sizes = sorted(abs(Fraction(a, b)) for b, a in pairs if b)
            largest = max(largest, sizes[len(sizes) * 9 // 10] if sizes else largest)
            start = end
        unit = layer.sums.step / layer.normalisers.step
        step = power_of_two(largest * unit) / (1 << (OUTPUT_BITS - 1))
        layer = replace(layer, outputs=replace(layer.outputs, step=step))
        states = model.updated(layer, states, codes)
        done.append(layer)
    return replace(model, layers=tuple(done))


def covering(values: Array, p: int) -> Grid:
    """p bits, the smallest step 1, 2, 4, .. with which they reach from the least to the largest of the values."""
    low, high = int(values.min()), int(values.max())
    step = power_of_two(Fraction(high - low, (1 << p) - 1))
    return Grid(p, floor(low / step + Fraction(1, 2)), step)


def power_of_two(value: Fraction) -> Fraction:
    """The least of 1, 2, 4, .. that is at least the value."""
    return Fraction(1 << max(0, ceil(value) - 1).bit_length())
