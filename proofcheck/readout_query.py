"""The linear programme of `readouts` for one query x, with cutting planes.

An input is the query with k_z further tokens z, at most n-1 in all; its row says that the output <w, vbar> + b is at
most t + E (side "below") or at least t - E (side "above"). Everything here is in floats and proposes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import linprog

from proofcheck.errors import Undecided
from proofcheck.heads import Floats

Side: TypeAlias = Literal["below", "above"]

MOST_ROUNDS = 1_000
TOLERANCE = 1e-7  # of the least error
LARGEST = 1e6  # of a readout's numbers
LEAST_DUAL = 1e-11


@dataclass(frozen=True)
class Input:
    """The query with the further tokens `others`, (token, how many) each, and the side that is asked for."""

    others: tuple[tuple[int, int], ...]
    side: Side


class Query:
    """alpha (2^m,) is the kernel's row, values (2^m, D); `worst` finds inputs with large errors, `solve` the readout
    with the least one."""

    def __init__(self, x: int, alpha: Floats, values: Floats, additive: float, n: int) -> None:
        self.x, self.values, self.n, self.additive = x, values, n, additive
        self.alpha = alpha
        overlaps = np.bitwise_count(np.arange(len(alpha)) & x)
        self.targets = np.arange(x.bit_count() + 1)
        self.at = overlaps == self.targets[:, None]
        self.above = overlaps >= self.targets[:, None]
        self.overlaps = overlaps
        self.rows: dict[Input, tuple[Floats, float]] = {}
        self.duals: Floats = np.zeros(0)

    def worst(self, numbers: Floats, error: float) -> list[Input]:
        """For each target, side and number of tokens the worst input (B7), where its error is more than `error`."""
        products = self.alpha * (self.values @ numbers[:-1] + numbers[-1])
        h, x, found = len(self.targets) - 1, self.x, []
        for side in ("below", "above"):
            sign = 1.0 if side == "below" else -1.0
            level = sign * self.targets[:, None] + error
            u = sign * products - level * self.alpha
            y = np.where(self.at, u, -np.inf).argmax(axis=1)
            z = np.where(self.above, u, -np.inf).argmax(axis=1)
            own = u[:, x] + self.additive * (sign * numbers[-1] - level[:, 0])
            for t in range(h + 1):
                for k in (0, self.n - 1) if t == h else (0, self.n - 2):
                    first = 0.0 if t == h else u[t, y[t]]
                    more = y[t] if t == h else z[t]
                    if self.n > 1 or t == h:
                        others = {} if t == h else {int(y[t]): 1}
                        others[int(more)] = others.get(int(more), 0) + k
                        if own[t] + first + k * u[t, more] > 0:
                            found.append(Input(tuple((v, c) for v, c in sorted(others.items()) if c), side))
        return [given for given in found if self.error(given, numbers) > error]

    def average(self, given: Input) -> tuple[Floats, int]:
        """vbar with a 1 for b, and the target."""
        tokens = np.array([self.x, *(z for z, _ in given.others)])
        weights = self.alpha[tokens] * np.array([1.0, *(float(k) for _, k in given.others)])
        total = weights.sum() + self.additive
        return np.append(weights @ self.values[tokens] / total, 1.0), int(self.overlaps[tokens].min())

    def error(self, given: Input, numbers: Floats) -> float:
        vbar, target = self.average(given)
        return float(vbar @ numbers - target) * (1 if given.side == "below" else -1)

    def _add(self, inputs: list[Input]) -> bool:
        before = len(self.rows)
        for given in inputs:
            if given not in self.rows:
                vbar, target = self.average(given)
                sign = 1.0 if given.side == "below" else -1.0
                self.rows[given] = (np.append(sign * vbar, -1.0), sign * target)
        return len(self.rows) > before

    def solve(self, eps: float) -> tuple[float, Floats]:
        """The least error and w, b; or, as soon as it is clear that the former is at least eps, a lower bound."""
        self._add(list(self._first()))
        for _ in range(MOST_ROUNDS):
            error, numbers = self._relaxed()
            if error >= eps or not self._add(self.worst(numbers, error + TOLERANCE)):
                return error, numbers
        raise Undecided(f"query {self.x:x}: no readout after {MOST_ROUNDS} rounds of cutting planes")

    def _first(self) -> Iterator[Input]:
        bits = len(self.alpha).bit_length() - 1
        for z in {0, self.x, *(1 << j for j in range(bits)), *(self.x & ~(1 << j) for j in range(bits))}:
            for side in ("below", "above"):
                yield Input(((z, self.n - 1),) if self.n > 1 else (), side)

    def _relaxed(self) -> tuple[float, Floats]:
        """The least error on the inputs listed so far."""
        matrix, right = (np.array(part) for part in zip(*self.rows.values(), strict=True))
        cost = np.zeros(matrix.shape[1])
        cost[-1] = 1.0
        limits: list[Any] = [(-LARGEST, LARGEST)] * (matrix.shape[1] - 1) + [(0, None)]
        found = linprog(cost, matrix, right, bounds=limits, method="highs-ds")
        if found.status != 0:
            raise Undecided(f"query {self.x:x}: HiGHS did not solve the linear programme: {found.message}")
        self.duals = np.asarray(found.ineqlin.marginals)
        return float(found.fun), np.asarray(found.x[:-1])

    def active(self) -> list[Input]:
        """The inputs whose rows hold the least error up."""
        return [given for given, dual in zip(self.rows, self.duals, strict=True) if abs(dual) > LEAST_DUAL]
