"""Codes at M = 24: words per second of each construction and the distance distribution, against plain Python loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from math import comb
from typing import TypeVar

from proofcheck import codes

from .timing import seconds

Result = TypeVar("Result")

M, WEIGHT = 24, 12
PAIRS = 2000  # words whose pairwise distances are counted


def plain_greedy(words: Iterable[int], weight: int, distance: int, limit: int | None = None) -> list[int]:
    """Greedy packing as it is defined, one word at a time."""
    code: list[int] = []
    for word in words:
        if limit is not None and len(code) >= limit:
            break
        if all(weight - (word & other).bit_count() >= distance for other in code):
            code.append(word)
    return code


def plain_distribution(words: Iterable[int]) -> dict[int, int]:
    """The ordered pairs at each distance as they are defined, in a double loop."""
    words = list(words)
    pairs: dict[int, int] = {}
    for i, word in enumerate(words):
        for j, other in enumerate(words):
            if i != j:
                distance = (word & ~other).bit_count()
                pairs[distance] = pairs.get(distance, 0) + 1
    return pairs


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What one run gives, and its time."""
    results: list[Result] = []
    time = seconds(lambda: results.append(work()))
    return results[0], time


def run() -> None:
    print(f"construction, M = {M}, weight {WEIGHT} (words of the code per second; layer words looked at per second)")
    layer = comb(M, WEIGHT)
    for distance in (4, 6):
        code, time = timed(partial(codes.lexicographic, M, WEIGHT, distance))
        speeds = f"{code.size / time:.0f} and {layer / time:.3g} per second"
        print(f"  lexicode, distance {distance}: {code.size} words, {speeds}")
    plain, slow = timed(lambda: plain_greedy(codes.layer(M, WEIGHT), WEIGHT, 6))
    same = "the same code" if tuple(plain) == code.words else "ANOTHER CODE"
    print(f"    plain Python loop, distance 6: {slow / time:.0f} times slower ({same})")
    time = seconds(lambda: codes.random_greedy(M, WEIGHT, 6, seed=1, limit=15), 3)
    print(f"  random greedy, 15 words at distance 6: {15 / time:8.0f} words per second (the layer is shuffled)")
    size = codes.graham_sloane_size(M, WEIGHT)
    time = seconds(lambda: codes.graham_sloane(M, WEIGHT))
    print(f"  Graham-Sloane class: {size} words, {size / time:8.0f} per second")
    time = seconds(lambda: codes.hadamard(M), 5)
    print(f"  Hadamard code: 46 words, {46 / time:8.0f} per second")
    time = seconds(lambda: codes.find_jump_code())
    print(f"  search of fifteen words with 424 jumps: {time:.2f} s")

    words = tuple(islice(codes.layer(M, WEIGHT), PAIRS))
    pairs = PAIRS * (PAIRS - 1)
    code = codes.Code(M, WEIGHT, words)
    fast = seconds(code.distribution, 5)
    expected, slow = timed(lambda: plain_distribution(words))
    same = "the same counts" if code.distribution() == expected else "OTHER COUNTS"
    print(f"distances of {PAIRS} words: {pairs / fast:.3g} ordered pairs per second, {slow / fast:.0f} times the")
    print(f"  {pairs / slow:.3g} of the plain double loop ({same})")
