"""Quantised linear attention in exact integers: L layers, H heads, S (r x dv) and z (r) on grids.

The model is that of `proofcheck.kernel.minip.messages`: integer matrices, feature maps phi that are polynomials of t or
of max(t, 0), coordinate by coordinate, and grids (bits, low, step) that round v to the integer nearest to v/step,
halves up, cut off to low..low + 2^bits - 1. `u = E (x, 1)` is a token's first state; a head sends

    S = grid(sum_j phi(K u_j) (V u_j)^T),   z = grid(sum_j phi(K u_j)),

and a token with f = phi(Q u) adds O o, where o = grid(S^T f / z.f), 0 for z.f = 0; its state is rounded to a grid, too.
Signed feature maps are allowed: Theorem 9 does not need alpha >= 0. Layer l has

    |Sigma_l| = prod over its heads of 2^(r dv p_S + r p_z),   with p bits for both 2^(p H r (dv+1))   (eq. 8).

`LinearAttention` computes one sequence at a time by the kernel's definition (as a `Sketch`, states and messages in
Python integers), and batches of assignments by numpy: the first layer is a sum of rows of tables, one row for all
levels of a group of slots, later layers are products of matrices. A batch is exact: int64 where no intermediate number
can reach 2^53 (bounded beforehand), Python integers otherwise.

Shapes: width d, tokens N = 2q, assignments B. States B x N x d; messages B x (sum over heads of r dv + r).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from proofcheck.kernel import minip
from proofcheck.transcripts import TypedFamily

from . import Codes, Levels
from .grids import EXACT, Array, Grid, Rows, largest_product, product

GROUP = 4_096  # rows of a table for a group of slots


@dataclass(frozen=True)
class Head:
    """queries, keys r x d; values dv x d; output d x dv; polynomial: coefficients from the constant up."""

    queries: Rows
    keys: Rows
    values: Rows
    output: Rows
    relu: bool
    polynomial: tuple[int, ...]

    @property
    def r(self) -> int:
        return len(self.keys)

    @property
    def dv(self) -> int:
        return len(self.values)

    @property
    def plain(self) -> tuple[Any, ...]:
        return self.queries, self.keys, self.values, self.output, int(self.relu), self.polynomial

    def features(self, u: Array, matrix: Rows) -> Array:
        t = product(u, matrix)
        if self.relu:
            t = np.maximum(t, 0)
        result, power = t * 0 + self.polynomial[0], t
        for k, coefficient in enumerate(self.polynomial[1:], 1):
            result = result + coefficient * power
            power = power * t if k + 1 < len(self.polynomial) else power
        return np.asarray(result)

    def largest_feature(self, matrix: Rows, u: int) -> int:
        t = largest_product(matrix, u)
        return sum(abs(c) * t**k for k, c in enumerate(self.polynomial))

    def as_json(self) -> dict[str, Any]:
        names = ("queries", "keys", "values", "output", "relu", "polynomial")
        return dict(zip(names, self.plain, strict=True))


@dataclass(frozen=True)
class Layer:
    """Heads, and the grids of S, of z, of the heads' outputs and of the states."""

    heads: tuple[Head, ...]
    sums: Grid
    normalisers: Grid
    outputs: Grid
    states: Grid

    @property
    def grids(self) -> tuple[Grid, Grid, Grid, Grid]:
        return self.sums, self.normalisers, self.outputs, self.states

    @property
    def bits(self) -> int:
        """log2 of the alphabet."""
        return sum(head.r * (head.dv * self.sums.bits + self.normalisers.bits) for head in self.heads)

    @property
    def gain(self) -> Fraction:
        """What S^T f / z.f in codes is to be multiplied with to be in steps of the outputs."""
        return self.sums.step / (self.normalisers.step * self.outputs.step)

    def as_json(self) -> dict[str, Any]:
        names = ("sums", "normalisers", "outputs", "states")
        grids = {name: grid.as_json() for name, grid in zip(names, self.grids, strict=True)}
        return {"heads": [head.as_json() for head in self.heads], **grids}


@dataclass(frozen=True)
class LinearAttention:
    """The model; `embedding` has d rows of m+1 integers, the last for the constant 1."""

    name: str
    m: int
    embedding: Rows
    layers: tuple[Layer, ...]
    note: str = ""
    _tables: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def alphabets(self) -> list[int]:
        return [1 << layer.bits for layer in self.layers]

    def as_json(self) -> dict[str, Any]:
        """The parameters of a certificate that describe the model."""
        return {"m": self.m, "embedding": self.embedding, "layers": [layer.as_json() for layer in self.layers]}

    # --- one sequence, by the kernel's definition -----------------------------------------------------------

    def plain_messages(self, sequence: Sequence[int]) -> list[Any]:
        layers = [([h.plain for h in layer.heads], [grid.plain for grid in layer.grids]) for layer in self.layers]
        return minip.messages(self.embedding, layers, sequence)  # type: ignore[arg-type]

    def encode(self, token: int, place: int) -> tuple[int, ...]:
        bits = [token >> i & 1 for i in range(self.m)] + [1]
        return tuple(sum(a * b for a, b in zip(row, bits, strict=True)) for row in self.embedding)

    def message(self, layer: int, states: Sequence[Any]) -> int:
        codes = self._codes(self.layers[layer], np.array([states], dtype=object))[0].tolist()
        number = 0
        for (low, bits), code in zip(self._places(self.layers[layer]), codes, strict=True):
            number = number << bits | int(code) - low
        return number

    def update(self, layer: int, state: Any, message: int) -> tuple[int, ...]:
        codes = []
        for low, bits in reversed(self._places(self.layers[layer])):
            codes.append((message & (1 << bits) - 1) + low)
            message >>= bits
        row = np.array([codes[::-1]], dtype=object)
        return tuple(self.updated(self.layers[layer], np.array([[state]], dtype=object), row)[0, 0].tolist())

    def decode(self, state: Any) -> int:
        """Some output: the first coordinate. Theorem 9 is about every decoder."""
        return int(state[0])

    def _places(self, layer: Layer) -> list[tuple[int, int]]:
        """(low, bits) of each coordinate of a message: S and then z, head by head."""
        s, z = layer.sums, layer.normalisers
        return [place for h in layer.heads for place in [(s.low, s.bits)] * (h.r * h.dv) + [(z.low, z.bits)] * h.r]

    # --- many assignments -----------------------------------------------------------------------------------

    def batch(self, family: TypedFamily, levels: Levels) -> list[Codes]:
        queries, slots, groups = self._table(family)
        chosen, start = (np.arange(family.q), levels), 0
        sums: Any = 0
        for count, rows in groups:
            sums = sums + rows[levels[:, start : start + count] @ (family.s + 1) ** np.arange(count)]
            start += count
        first = self.layers[0]
        codes = [self.rounded(first, sums)]
        if len(self.layers) == 1:
            return codes
        shape = (len(levels), *queries.shape)
        states = np.concatenate([np.broadcast_to(queries, shape), slots[chosen]], axis=1)
        states = self.updated(first, states, codes[0])
        for layer in self.layers[1:-1]:
            codes.append(self._codes(layer, states))
            states = self.updated(layer, states, codes[-1])
        return [*codes, self._codes(self.layers[-1], states)]

    def _table(self, family: TypedFamily) -> tuple[Array, Array, list[tuple[int, Array]]]:
        """First states of queries and slots, and the shares of the first sums of groups of slots: (slots, rows), one
        row for all their levels together, the first slot's fastest. The queries' share is in the first group."""
        key = family.M, family.s, family.words
        if key not in self._tables:
            dtype = np.int64 if self.largest(family.length) < EXACT else object
            tokens = [[family.slot(i, k) for k in range(family.s + 1)] for i in range(family.q)]
            queries = np.array([self.encode(family.query(i), i) for i in range(family.q)], dtype=dtype)
            slots = np.array([[self.encode(t, 0) for t in row] for row in tokens], dtype=dtype)
            first, groups = self.layers[0], []
            base = self.shares(first, queries).sum(axis=0)[None]
            count = 0
            for share in self.shares(first, slots):
                if count and len(base) * (family.s + 1) > GROUP:
                    groups.append((count, base))
                    base, count = base[:1] * 0, 0
                base, count = (share[:, None] + base).reshape(-1, base.shape[1]), count + 1
            self._tables.clear()
            self._tables[key] = queries, slots, [*groups, (count, base)]
        found: tuple[Array, Array, list[tuple[int, Array]]] = self._tables[key]
        return found

    def shares(self, layer: Layer, u: Array) -> Array:
        """(.., d) -> (.., width of the message): what a token adds to S and z of each head."""
        parts = []
        for head in layer.heads:
            f, v = head.features(u, head.keys), product(u, head.values)
            parts += [(f[..., :, None] * v[..., None, :]).reshape(*u.shape[:-1], head.r * head.dv), f]
        return np.concatenate(parts, axis=-1)

    def _codes(self, layer: Layer, states: Array) -> Array:
        parts = []
        for head in layer.heads:
            f, v = head.features(states, head.keys), product(states, head.values)
            s = product(np.swapaxes(f, -1, -2), np.swapaxes(v, -1, -2))
            parts += [s.reshape(len(states), -1), f.sum(axis=1)]
        return self.rounded(layer, np.concatenate(parts, axis=-1))

    def rounded(self, layer: Layer, sums: Array) -> Array:
        codes, start = np.empty_like(sums), 0
        for head in layer.heads:
            middle, end = start + head.r * head.dv, start + head.r * head.dv + head.r
            codes[:, start:middle] = layer.sums.codes(sums[:, start:middle])
            codes[:, middle:end] = layer.normalisers.codes(sums[:, middle:end])
            start = end
        return codes

    def updated(self, layer: Layer, states: Array, codes: Array) -> Array:
        """(B, N, d) states and (B, width) messages -> states."""
        after, start = states, 0
        up, down = layer.gain.numerator, layer.gain.denominator
        low, high, _ = layer.outputs.plain
        for head in layer.heads:
            middle, end = start + head.r * head.dv, start + head.r * head.dv + head.r
            s = codes[:, start:middle].reshape(-1, head.r, head.dv)
            f = head.features(states, head.queries)
            above, below = product(f, np.swapaxes(s, -1, -2)), (f * codes[:, None, middle:end]).sum(axis=-1)[..., None]
            above, below = above * np.where(below < 0, -1, 1), np.abs(below)  # the quotient with a denominator >= 0
            zero = below == 0
            o = (2 * up * above + down * below) // np.where(zero, 1, 2 * down * below)
            o = np.clip(np.where(zero, 0, o), low, high)
            after = after + product(o, head.output)
            start = end
        return layer.states.codes(after)

    def largest(self, tokens: int) -> int:
        """A bound on every integer that arises on sequences of so many tokens."""
        u = max(sum(map(abs, row)) for row in self.embedding)
        most = u
        for layer in self.layers:
            (s_low, s_high, _), (z_low, z_high, _), (o_low, o_high, _), (low, high, _) = (g.plain for g in layer.grids)
            up, down = layer.gain.numerator, layer.gain.denominator
            added = u
            for head in layer.heads:
                f, v = head.largest_feature(head.keys, u), largest_product(head.values, u)
                most = max(most, layer.sums.largest(tokens * f * v), layer.normalisers.largest(tokens * f))
                f = head.largest_feature(head.queries, u)
                s, z, o = max(-s_low, s_high), max(-z_low, z_high), max(-o_low, o_high)
                most = max(most, 2 * head.r * f * (up * s + down * z))
                added += largest_product(head.output, o)
            most = max(most, layer.states.largest(added))
            u = max(abs(low), abs(high))
        return most
