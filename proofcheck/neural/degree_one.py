"""Heads of rank m by enumeration (mathematics.md B3 c): phiK_i(z) = s^w z_i + b a^w, w = |z|.

A query of weight h uses one coefficient, -cos t, for the features of its own bits and another, sin t, for the others:
alpha = -cos t (s^w l + h b a^w) + sin t (s^w (w-l) + (m-h) b a^w). B0 for all queries of weight h asks for an angle t,
and a few hundred triples (s, a, b) are tried with thousands of angles each, in floats that propose only. At n = 3,
eps = 1/2 this reaches m = 10, where gradient descent from other starts has not.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from proofcheck.heads import Floats

ANGLES = np.linspace(0.0, 1.7, 4001)
LEAST = 2e-4  # relative margin


def degree_one(m: int, n: int, eps: Fraction) -> tuple[Floats, Floats] | None:
    """Features (2^m, m) of queries and of keys, or None where no triple on the grid has a margin of LEAST."""
    weights = np.arange(m + 1)
    order = sorted(range(m + 1), key=lambda h: abs(h - 0.8 * m))  # those that usually fail first
    for s, shift, b in product(np.arange(0.69, 0.72, 0.005), (-0.02, -0.01, 0.0), np.arange(1.5, 2.5, 0.1)):
        scale, constant = s**weights, b * (s + shift) ** weights
        angles: dict[int, float] = {}
        for h in order:
            margin, angle = _best_angle(scale, constant, m, h, n, float(eps))
            if margin < LEAST:
                break
            angles[h] = angle
        else:
            bits = (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(np.float64)
            sizes = bits.sum(axis=1).astype(np.int64)
            chosen = np.array([angles[h] for h in range(m + 1)])[sizes][:, None]
            queries = np.where(bits > 0, -np.cos(chosen), np.sin(chosen))
            return queries, scale[sizes][:, None] * bits + constant[sizes][:, None]
    return None


def _best_angle(scale: Floats, constant: Floats, m: int, h: int, n: int, eps: float) -> tuple[float, float]:
    """The largest relative margin of B0 over the angles, for queries of weight h."""
    own, other = -np.cos(ANGLES)[:, None], np.sin(ANGLES)[:, None]
    low, high = [], []
    for level in range(h + 1):
        w = np.arange(level, m - h + level + 1)
        values = own * (scale[w] * level + h * constant[w])
        values = values + other * (scale[w] * (w - level) + (m - h) * constant[w])
        low.append(values.min(axis=1))
        high.append(values.max(axis=1))
    size = np.maximum(np.max(np.abs(high), axis=0), 1e-300)
    diagonal = (own * (scale[h] * h + h * constant[h]) + other * (m - h) * constant[h])[:, 0]
    margin = np.minimum(diagonal / size, np.min(low, axis=0) / size)
    length, others = n - 1, n - 2
    for lower in range(h):
        for upper in range(lower + 1, h + 1):
            d = upper - lower
            left = 2 * eps * length * low[lower]
            right = others * length * (d - 2 * eps) * high[upper] + (others * d - 2 * eps * length) * diagonal
            margin = np.minimum(margin, (left - right) / np.maximum(np.abs(left) + np.abs(right), 1e-300))
    best = int(margin.argmax())
    return float(margin[best]), float(ANGLES[best])
