"""Kernels made for Min-IP (mathematics.md A and B3), with w = e^-tau; u, z and T are subsets of [m].

    softmin    alpha = w^<x,z>, rank 2^m exactly (Theorem 2); readout g = <x,z>; correct for w <= eps/n (Theorem 1)
    one-hot    the same with its 2^m features phiQ(x)_u = [u = x], phiK(z)_u = w^<u,z>
    symmetric  alpha = sum over k <= K of lam^k C(|x \\ z|, k) = <phiQ(x), phiK(z)> with the features
               phiQ(x)_T = lam^|T| [T subset x], phiK(z)_T = [T and z disjoint], |T| <= K; queries with |x| > cutoff
               have the softmin row w^<x,z> instead, one more feature each
    constant   alpha = 1, readout g = 2<x,z> - |x|: correct for n <= 2 (Theorem 6)

softmin and symmetric are exact by their closed form, whatever m; their features are written out (in float64, rounded
where w or lam is no dyadic number) only for small m.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from proofcheck.errors import UsageError

from . import Bits, ClosedForm, Floats, Head, Readout, bits
from .parameters import weight

MAX_ONE_HOT = 12  # bits, for features indexed by all tokens
MAX_SUBSETS = 2**16  # features indexed by subsets
MAX_LEVELS = 256  # bits, for tables of the kernel by weight and overlap

Values = dict[str, Any]


def product(b: Bits | Floats, w: Floats) -> Floats:
    return np.asarray(b.astype(np.float64) @ w)


def softmin_weight(values: Values) -> Fraction:
    """w as given, or the float64 nearest to e^-tau, exactly; 1/6 if neither is given."""
    if values["w"] is not None and values["tau"] is not None:
        raise UsageError("softmin: give w or tau, not both")
    if values["tau"] is not None:
        return weight(math.exp(-values["tau"]), "softmin, e^-tau")
    return values["w"] or Fraction(1, 6)


def overlap_readout() -> Readout:
    """g = <x,z>."""
    as_floats = lambda b: b.astype(np.float64)  # noqa: E731
    return Readout(as_floats, as_floats, lambda b: np.zeros(len(b)))


def softmin_features(m: int, w: Fraction, name: str) -> tuple[Callable[[Bits], Floats], Callable[[Bits], Floats]]:
    """phiQ(x) = e_x and phiK(z)_u = w^<u,z>, 2^m of them, rounded to float64."""

    def everything() -> Floats:
        if m > MAX_ONE_HOT:
            raise UsageError(f"{name}: its 2^{m} features are not written out for m > {MAX_ONE_HOT}")
        return bits(range(1 << m), m).astype(np.float64)

    def queries(b: Bits) -> Floats:
        return np.asarray((product(2 * b.astype(np.float64) - 1, 2 * everything().T - 1) == m).astype(np.float64))

    powers = np.array([float(w**k) for k in range(min(m, MAX_ONE_HOT) + 1)])

    def keys(b: Bits) -> Floats:
        return np.asarray(powers[product(b, everything().T).astype(int)])

    return queries, keys


def softmin(m: int, r: int, values: Values) -> Head:
    w = softmin_weight(values)
    powers = [w**k for k in range(m + 1)] if m <= 4096 else []

    def value(x: int, z: int) -> Fraction:
        k = (x & z).bit_count()
        return powers[k] if powers else w**k

    name = f"softmin (m={m}, w={w if w.denominator < 10**6 else f'{float(w):.6g}'})"
    queries, keys = softmin_features(m, w, name)
    note = "closed form; correct on all lengths 1..n iff w is small enough, w <= eps/n suffices (Theorem 1)"
    levels = tuple(tuple(powers[: h + 1]) for h in range(m + 1)) if m <= MAX_LEVELS else None
    return ClosedForm(name, m, 1 << m, queries, keys, readout=overlap_readout(), note=note, value=value, levels=levels)


def one_hot(m: int, r: int, values: Values) -> Head:
    if m > MAX_ONE_HOT:
        raise UsageError(f"one-hot: expected m <= {MAX_ONE_HOT}, since it has 2^m features, got {m}; softmin has none")
    w = values["w"]
    queries, keys = softmin_features(m, w, "one-hot")
    note = "the features of Theorem 2, exact in float64"
    return Head(f"one-hot (m={m}, w={w})", m, 1 << m, queries, keys, readout=overlap_readout(), note=note)


def constant(m: int, r: int, values: Values) -> Head:
    ones = lambda b: np.ones((len(b), 1))  # noqa: E731
    readout = Readout(
        lambda b: b.astype(np.float64),
        lambda b: 2 * b.astype(np.float64),
        lambda b: -b.sum(axis=1, dtype=np.float64),
    )
    return Head(f"constant (m={m})", m, 1, ones, ones, readout=readout, note="correct for n <= 2 (Theorem 6)")


def symmetric(m: int, r: int, values: Values) -> Head:
    lam, cutoff, w = values["lam"], values["cutoff"], values["w"]
    cutoff = m if cutoff is None else min(cutoff, m)
    heavy = sum(comb(m, h) for h in range(cutoff + 1, m + 1))
    degree = values["K"]
    if degree is None:
        degree, size = 0, 1 + heavy
        while degree < cutoff and size + comb(m, degree + 1) <= r:
            degree += 1
            size += comb(m, degree)
    degree = min(degree, m)
    rank = sum(comb(m, k) for k in range(degree + 1)) + heavy
    light = [sum((lam**k * comb(a, k) for k in range(degree + 1)), Fraction(0)) for a in range(m + 1)]
    powers = [w**k for k in range(m + 1)]

    def value(x: int, z: int) -> Fraction:
        return powers[(x & z).bit_count()] if x.bit_count() > cutoff else light[(x & ~z).bit_count()]

    name = f"symmetric (m={m}, K={degree}, lam={lam}{f', cutoff={cutoff}' if cutoff < m else ''})"
    queries, keys = symmetric_features(m, degree, cutoff, lam, w, rank, name)
    rows = (tuple(powers[: h + 1]) if h > cutoff else tuple(light[h::-1]) for h in range(m + 1))
    return ClosedForm(
        name,
        m,
        rank,
        queries,
        keys,
        note="closed form, mathematics.md B3(a)",
        value=value,
        levels=tuple(rows) if m <= MAX_LEVELS else None,
        degrees=tuple(lam**k for k in range(degree + 1)),
        heaviest=cutoff,
    )


def symmetric_features(
    m: int, degree: int, cutoff: int, lam: Fraction, w: Fraction, rank: int, name: str
) -> tuple[Callable[[Bits], Floats], Callable[[Bits], Floats]]:
    """The features by sets T, |T| <= degree, then by heavy queries u, |u| > cutoff."""

    def family(sizes: range) -> Floats:
        rows = [sum(1 << j for j in chosen) for k in sizes for chosen in combinations(range(m), k)]
        return bits(rows, m).astype(np.float64)

    def families() -> tuple[Floats, Floats]:
        if rank > MAX_SUBSETS:
            raise UsageError(f"{name}: its {rank} features are not written out, only up to {MAX_SUBSETS}")
        return family(range(degree + 1)), family(range(cutoff + 1, m + 1))

    def queries(b: Bits) -> Floats:
        small, large = families()
        weights, size = b.sum(axis=1, dtype=int)[:, None], small.sum(axis=1)
        powers = np.array([float(lam**k) for k in range(degree + 1)])[size.astype(int)]
        inside = (product(b, small.T) == size) & (weights <= cutoff)
        same = (product(b, large.T) == large.sum(axis=1)) & (weights == large.sum(axis=1))
        return np.concatenate([inside * powers, same.astype(np.float64)], axis=1)

    def keys(b: Bits) -> Floats:
        small, large = families()
        rows = np.array([float(w**k) for k in range(m + 1)])[product(b, large.T).astype(int)]
        return np.concatenate([(product(b, small.T) == 0).astype(np.float64), rows], axis=1)

    return queries, keys
