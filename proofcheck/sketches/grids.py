"""Grids of levels, and products of integer matrices that are exact: what quantised models are made of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rows = tuple[tuple[int, ...], ...]
EXACT = 2**53  # float64 holds all integers below


@dataclass(frozen=True)
class Grid:
    """2^bits levels: step times the integers from low on."""

    bits: int
    low: int
    step: Fraction

    @property
    def plain(self) -> tuple[int, int, Fraction]:
        return self.low, self.low + (1 << self.bits) - 1, self.step

    def codes(self, values: Array) -> Array:
        """Rounds integers to the codes low..high."""
        low, high, step = self.plain
        above, below = step.numerator, step.denominator
        return np.asarray(np.clip((2 * below * values + above) // (2 * above), low, high))

    def largest(self, value: int) -> int:
        """A bound on the integers that `codes` meets where |values| <= value."""
        return 2 * self.step.denominator * value + self.step.numerator

    def as_json(self) -> dict[str, Any]:
        return {"bits": self.bits, "low": self.low, "step": self.step}


def product(u: Array, matrix: Any) -> Array:
    """(.., n) times the rows of (.., k, n) -> (.., k); int64 by way of float64, which is exact below 2^53."""
    turned = np.swapaxes(np.asarray(matrix), -1, -2)
    if u.dtype == object:
        return np.asarray(u @ turned.astype(object))
    return np.asarray(u.astype(np.float64) @ turned.astype(np.float64)).astype(np.int64)


def largest_product(matrix: Rows, u: int) -> int:
    return u * max(sum(map(abs, row)) for row in matrix)
