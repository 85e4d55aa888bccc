"""Linear attention in float32 with S and z rounded to the formats people use: executed evidence, not certificates.

As `proofcheck.sketches.linear`, with real weights, any feature map of `proofcheck.heads.activations` (signed ones too),
and messages in one of the formats

    fp16, bf16, fp8-e4m3, fp8-e5m2   the float nearest to scale * v, cut off at the largest finite one (saturating)
    int, p bits                      the integer nearest to scale * v, halves up, cut off to -2^(p-1)..2^(p-1)-1

where scale is a power of two, one for each layer, with which the largest |v| on a sample of the family comes near the
largest number of the format; 1 for fp16 and bf16. With r features, |Sigma_l| = 2^(p H r (dv+1)), bit patterns counted.

    u = E (x, 1);   S = round(sum_j phi(K u_j) (V u_j)^T),  z = round(sum_j phi(K u_j));
    o = S^T f / z.f with f = phi(Q u), 0 for z.f = 0;   u' = the sum of u and O o over the heads, cut off to -64..64.

Feature maps are computed in float64 and rounded to float32, all else in float32, coordinate by coordinate: every sum is
made in one fixed order, tokens and features one after the other, by elementwise operations, so that an assignment has
the same transcript in every batch. The finder checks that (alone, twice, against the batch).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import frexp, sqrt

import numpy as np
import torch

from proofcheck.errors import UsageError
from proofcheck.heads.activations import Activation, activation
from proofcheck.sketches import Codes, Levels
from proofcheck.sketches.finder import levels_of
from proofcheck.transcripts import TypedFamily

Tensor = torch.Tensor
FLOATS: dict[str, tuple[torch.dtype, int, torch.dtype]] = {
    "fp16": (torch.float16, 16, torch.int16),
    "bf16": (torch.bfloat16, 16, torch.int16),
    "fp8-e4m3": (torch.float8_e4m3fn, 8, torch.uint8),
    "fp8-e5m2": (torch.float8_e5m2, 8, torch.uint8),
}
SAMPLE, LARGEST_STATE, MAX_P = 64, 64.0, 24


@dataclass(frozen=True)
class Format:
    """`p` bits; `encode` float32 values -> integer codes, `decode` back."""

    name: str
    p: int

    @property
    def largest(self) -> float:
        return float(torch.finfo(FLOATS[self.name][0]).max) if self.name in FLOATS else float(2 ** (self.p - 1))

    @property
    def scaled(self) -> bool:
        return self.p < 16 or self.name == "int"

    def encode(self, values: Tensor) -> Tensor:
        values = torch.nan_to_num(values)  # not a number counts as 0
        if self.name == "int":
            return torch.clamp(torch.floor(values + 0.5), -self.largest, self.largest - 1).to(torch.int32)
        dtype, _, codes = FLOATS[self.name]
        return torch.clamp(values, -self.largest, self.largest).to(dtype).view(codes)

    def decode(self, codes: Tensor) -> Tensor:
        return (codes if self.name == "int" else codes.view(FLOATS[self.name][0])).to(torch.float32)


def message_format(name: str, p: int | None) -> Format:
    """The format of that name (fp8 is fp8-e4m3). Raises `UsageError` naming the value."""
    name = "fp8-e4m3" if name == "fp8" else name
    if name == "int":
        if p is None or not 1 <= p <= MAX_P:
            raise UsageError(f"-p: a coordinate has 1 <= p <= {MAX_P} bits here, got {p}")
        return Format(name, p)
    if name not in FLOATS:
        raise UsageError(f"--format: expected int, fp8, {', '.join(FLOATS)}; got {name!r}")
    if p is not None and p != FLOATS[name][1]:
        raise UsageError(f"-p: {name} has {FLOATS[name][1]} bits, got {p}")
    return Format(name, FLOATS[name][1])


@dataclass(frozen=True)
class Head:
    queries: Tensor  # d' x d, d' features before the map
    keys: Tensor
    values: Tensor  # dv x d
    output: Tensor  # d x dv


@dataclass
class FloatAttention:
    """The model; `scales` has one power of two for each layer."""

    name: str
    m: int
    format: Format
    feature: Activation
    r: int
    dv: int
    embedding: Tensor
    layers: list[list[Head]]
    scales: list[float] = field(default_factory=list)

    @property
    def alphabets(self) -> list[int]:
        return [1 << self.format.p * len(heads) * self.r * (self.dv + 1) for heads in self.layers]

    def batch(self, family: TypedFamily, levels: Levels) -> list[Codes]:
        found: list[Codes] = []
        self._run(family, levels, self.scales, lambda sums, codes: found.append(codes.numpy()))
        return found

    def _run(
        self, family: TypedFamily, levels: Levels, scales: list[float], report: Callable[[Tensor, Tensor], object]
    ) -> None:
        queries = torch.stack([self.first(family.query(i)) for i in range(family.q)])
        slots = torch.stack(
            [torch.stack([self.first(family.slot(i, k)) for k in range(family.s + 1)]) for i in range(family.q)]
        )
        chosen = torch.from_numpy(np.ascontiguousarray(levels))
        sums = in_order(self._shares(self.layers[0], queries)).expand(len(levels), -1)
        for i, shares in enumerate(self._shares(self.layers[0], slots)):  # the tokens have few distinct states here
            sums = sums + shares[chosen[:, i]]
        picked = torch.stack([slots[i][chosen[:, i]] for i in range(family.q)], dim=1)
        states = torch.cat([queries.expand(len(levels), *queries.shape), picked], dim=1)
        for layer, heads in enumerate(self.layers):
            if layer:
                sums = in_order(self._shares(heads, states).movedim(1, 0))
            codes = self.format.encode(sums * scales[layer])
            report(sums, codes)
            if layer + 1 < len(self.layers):
                states = self._updated(heads, states, self.format.decode(codes) / scales[layer])

    def first(self, token: int) -> Tensor:
        bits = torch.tensor([token >> i & 1 for i in range(self.m)] + [1], dtype=torch.float32)
        return times(bits[None], self.embedding)[0]

    def features(self, u: Tensor, matrix: Tensor) -> Tensor:
        t = times(u, matrix)
        flat = t.reshape(-1, t.shape[-1]).to(torch.float64).numpy()
        found = torch.from_numpy(np.ascontiguousarray(self.feature.apply(flat))).to(torch.float32)
        return found.reshape(*t.shape[:-1], -1)

    def _shares(self, heads: list[Head], states: Tensor) -> Tensor:
        """(.., d) -> (.., H r (dv+1)): what a token adds to S and z of each head."""
        parts = []
        for head in heads:
            f, v = self.features(states, head.keys), times(states, head.values)
            parts += [(f[..., :, None] * v[..., None, :]).flatten(-2), f]
        return torch.cat(parts, dim=-1)

    def _updated(self, heads: list[Head], states: Tensor, message: Tensor) -> Tensor:
        after, start = states, 0
        for head in heads:
            middle, end = start + self.r * self.dv, start + self.r * (self.dv + 1)
            s, z = message[:, start:middle].reshape(-1, 1, self.r, self.dv), message[:, None, middle:end]
            f = self.features(states, head.queries)
            above, below = f[..., 0, None] * s[..., 0, :], f[..., 0] * z[..., 0]
            for a in range(1, self.r):
                above, below = above + f[..., a, None] * s[..., a, :], below + f[..., a] * z[..., a]
            zero = (below == 0)[..., None]
            o = torch.where(zero, torch.zeros(()), above / torch.where(zero, torch.ones(()), below[..., None]))
            after = after + times(o, head.output)
            start = end
        return torch.clamp(torch.nan_to_num(after), -LARGEST_STATE, LARGEST_STATE)


def in_order(terms: Tensor) -> Tensor:
    """The sum over the first axis, one after the other."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def times(u: Tensor, matrix: Tensor) -> Tensor:
    """(.., n) and (k, n) -> (.., k), the products added in order."""
    total = u[..., 0, None] * matrix[:, 0]
    for j in range(1, matrix.shape[1]):
        total = total + u[..., j, None] * matrix[:, j]
    return total


def linear_attention(
    family: TypedFamily,
    layers: int,
    heads: int,
    r: int,
    dv: int,
    form: Format,
    features: str,
    seed: int = 0,
    threads: int | None = None,
) -> FloatAttention:
    """Normal weights of a seed, width max(4, H dv); scales fitted to `SAMPLE` assignments of the family. The tensors
    are small: one thread is often quicker than many; transcripts are the same."""
    if threads is not None:
        torch.set_num_threads(threads)
    for option, value in (("--layers", layers), ("--heads", heads), ("-r", r), ("--dv", dv)):
        if not 1 <= value <= 256:
            raise UsageError(f"{option}: expected 1..256, got {value}")
    feature = activation(features, "--features")
    narrow = feature.width(r)
    if narrow < 1:
        raise UsageError(f"-r: {features} has no version with at most {r} features; the least is {feature.count(1)}")
    width, source = max(4, heads * dv), torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=source) / sqrt(columns)

    embedding = matrix(width, family.m + 1) * 2
    blocks = [
        [Head(matrix(narrow, width), matrix(narrow, width), matrix(dv, width), matrix(width, dv)) for _ in range(heads)]
        for _ in range(layers)
    ]
    count = feature.count(narrow)
    name = f"linear attention, {layers} layers, {heads} heads, r={count}, dv={dv}, {form.name}, {features}, seed {seed}"
    if form.name == "int":
        name = name.replace(", int,", f", {form.p}-bit integers,")
    model = FloatAttention(name, family.m, form, feature, count, dv, embedding, blocks)
    levels = levels_of(family, np.arange(SAMPLE), 0)
    for layer in range(layers):
        largest: list[float] = []
        known = [*model.scales, *[1.0] * (layers - layer)]
        model._run(family, levels, known, lambda sums, codes: largest.append(float(sums.abs().max())))  # noqa: B023
        model.scales.append(_scale(largest[layer], form))
    return model


def _scale(largest: float, form: Format) -> float:
    """The power of two that brings `largest` into the upper half of the format's range."""
    if not form.scaled or largest == 0:
        return 1.0
    return float(2.0 ** (frexp(form.largest)[1] - 1 - frexp(largest)[1]))
