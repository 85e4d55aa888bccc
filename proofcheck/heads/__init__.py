"""Heads that are given: a kernel by its features or by a closed form, with or without a readout.

Notation. A token is a subset of [m], an m-bit integer; bit j (value 2^j) is element j, and column j of the bit
matrices that feature maps take. A head has features phiQ, phiK: {0,1}^m -> R^r and the kernel
alpha(x,z) = <phiQ(x), phiK(z)>; a constant c >= 0 may be added to every denominator (`additive`). A readout turns the
kernel into outputs

    that_i(X) = (sum_j alpha(x_i,x_j) g(x_i,x_j)) / (c + sum_j alpha(x_i,x_j)) + offset(x_i) c / (c + ...),
    g(x,z) = <w(x), v(z)> + offset(x).

What is decided about a head is decided about EXACT numbers. A float is a dyadic rational, so features computed in
floats define one exact kernel: the inner products of those rationals, as integers over a power of two. Floats
(`kernel`) only find candidates. Because a matrix product may round differently for other batches, the features of a
token are by definition those that `queries` and `keys` give for that token alone, except where a table of all tokens
is made once and used throughout.

    Head        the interface: m, rank, features, kernel in floats, kernel exactly
    Readout     values, weights and offsets, by token
    ClosedForm  a head whose kernel is a rational function of (x, z), with a known number of features
    bits        tokens -> (N, m) matrix of 0/1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import UsageError

Bits: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
FeatureMap: TypeAlias = Callable[[Bits], Floats]


def bits(tokens: Sequence[int], m: int) -> Bits:
    """The (N, m) matrix whose row i holds the bits of tokens[i], least significant first; any m."""
    width = (m + 7) // 8
    raw = b"".join(token.to_bytes(width, "little") for token in tokens)
    matrix = np.frombuffer(raw, dtype=np.uint8).reshape(len(tokens), width)
    return np.unpackbits(matrix, axis=1, count=m, bitorder="little")


@dataclass(frozen=True)
class Readout:
    """g(x,z) = <weights(x), values(z)> + offsets(x); shapes (N, m) -> (N, dv), (N, dv), (N,)."""

    values: FeatureMap
    weights: FeatureMap
    offsets: FeatureMap


@dataclass(frozen=True)
class Head:
    """A head given by feature maps (N, m) -> (N, rank) on 0/1 matrices; see the module for what is exact."""

    name: str
    m: int
    rank: int
    queries: FeatureMap
    keys: FeatureMap
    additive: Fraction = Fraction(0)
    readout: Readout | None = None
    note: str = ""  # what a reader must know: dtype, layer, what was cut off

    def features(self, side: str, tokens: Sequence[int]) -> Floats:
        """The (N, rank) features of the tokens; `side` is "queries" or "keys". Raises `UsageError` that names the
        token where the shape is wrong or a feature is not finite."""
        found = np.asarray(getattr(self, side)(bits(tokens, self.m)), dtype=np.float64)
        if found.shape != (len(tokens), self.rank):
            expected = (len(tokens), self.rank)
            raise UsageError(f"{self.name}: {side} gave an array of shape {found.shape}, expected {expected}")
        wrong = np.argwhere(~np.isfinite(found))
        if len(wrong):
            i, j = wrong[0]
            raise UsageError(f"{self.name}: feature {j} of {side} at token {tokens[i]:#x} is {found[i, j]}")
        return found

    def kernel(self, xs: Sequence[int], zs: Sequence[int]) -> Floats:
        """alpha(x,z) in floats, (len(xs), len(zs)): to find candidates, never to decide."""
        return np.asarray(self.features("queries", xs) @ self.features("keys", zs).T)

    def exact(self, x: int, zs: Sequence[int]) -> list[Fraction]:
        """alpha(x,z) for each z, exactly: inner products of the dyadic features, each token computed alone."""
        query, power = dyadic(self.features("queries", [x])[0])
        values = []
        for z in zs:
            key, other = dyadic(self.features("keys", [z])[0])
            values.append(Fraction(sum(map(int.__mul__, query, key)), 1 << (power + other)))
        return values


@dataclass(frozen=True)
class ClosedForm(Head):
    """A head whose kernel is computed exactly from (x, z), without its `rank` features (there may be 2^m of them).

    Where alpha depends on |x| and <x,z> alone, `levels[h][l]` says so, in agreement with `value`. Where moreover
    alpha(x,z) = sum of degrees[k] C(|x minus z|, k) for |x| <= heaviest, and heavier queries have a feature of their
    own each, `degrees` and `heaviest` say that."""

    value: Callable[[int, int], Fraction] = lambda x, z: Fraction(1)
    levels: tuple[tuple[Fraction, ...], ...] | None = None
    degrees: tuple[Fraction, ...] | None = None
    heaviest: int | None = None

    def kernel(self, xs: Sequence[int], zs: Sequence[int]) -> Floats:
        if self.levels is not None:
            table = np.zeros((self.m + 1, self.m + 1))
            for h, row in enumerate(self.levels):
                table[h, : h + 1] = [nearest(value) for value in row]
            left, right = (bits(tokens, self.m).astype(np.float32) for tokens in (xs, zs))
            overlaps = (left @ right.T).astype(np.int64)  # sums of at most 2^24 ones are exact
            return np.asarray(table[left.sum(axis=1).astype(np.int64)[:, None], overlaps])
        return np.array([[nearest(self.value(x, z)) for z in zs] for x in xs], dtype=np.float64)

    def exact(self, x: int, zs: Sequence[int]) -> list[Fraction]:
        return [self.value(x, z) for z in zs]


def nearest(value: Fraction) -> float:
    """The nearest float; infinite where it is beyond all."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def dyadic(row: Floats) -> tuple[list[int], int]:
    """Integers k_j and e >= 0 with row[j] = k_j 2^-e exactly, for every j."""
    ratios = [float(value).as_integer_ratio() for value in row]
    power = max((d.bit_length() - 1 for _, d in ratios), default=0)
    return [p << (power - (d.bit_length() - 1)) for p, d in ratios], power
