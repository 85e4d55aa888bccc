"""The rank of 2^m x 2^m softmin kernels by three methods: FLINT over the integers, a minor modulo a prime, and a
verified singular value decomposition; and the same for products of low rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

import numpy as np

from proofcheck.rank import Matrix, exact_rank, kronecker_kernel, pivot_minor, singular_value_bound

from .timing import seconds

LIMIT = 20.0  # seconds; no method is started if it is expected to take longer
GROWTH = 10.0  # generous for cubic time and twice the side
METHODS: dict[str, Callable[[Matrix], int]] = {
    "exact": exact_rank,
    "minor": lambda matrix: pivot_minor(matrix).rank,
    "svd": lambda matrix: singular_value_bound(matrix).rank,
}


def run() -> None:
    w = Fraction(1, 6)
    print(f"softmin kernels w^|x & z|, w = {w}, of full rank: rank found, time relative to exact")
    compare((2**m, kronecker_kernel(m, w)) for m in range(6, 11))
    print("products of random 1-digit integer matrices, rank a half of the size (the minor needs the exact rank too)")
    random = np.random.default_rng(1)
    compare(
        (n, random.integers(-9, 10, (n, n // 2)) @ random.integers(-9, 10, (n // 2, n))) for n in (64, 128, 256, 512)
    )


def _record(found: list[int], method: Callable[[Matrix], int], matrix: Matrix) -> None:
    found.append(method(matrix))


def compare(cases: Iterable[tuple[int, Matrix]]) -> None:
    last = dict.fromkeys(METHODS, 0.0)
    for size, matrix in cases:
        cells = []
        for name, method in METHODS.items():
            if last[name] * GROWTH > LIMIT:
                cells.append(f"{name} skipped (would exceed {LIMIT:.0f} s)")
                continue
            found: list[int] = []
            last[name] = seconds(partial(_record, found, method, matrix))
            ratio = "baseline" if name == "exact" else f"{last[name] / last['exact']:.2f} x exact"
            cells.append(f"{name} {found[0]} in {1000 * last[name]:.0f} ms ({ratio})")
        print(f"{size:5} x {size}: " + "; ".join(cells))
