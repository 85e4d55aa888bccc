# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of two inputs with one transcript. The pairs are found by the oracle, never by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

from tests.kernel.building import DELETE, Fields, certificate, changed, data
from tests.kernel.sketch_oracle import target, transcript

Attack = tuple[Fields, str]
Pair = tuple[list[str], list[str]]


def grid(bits: int, low: int, step: Any = 1) -> Fields:
    return {"bits": bits, "low": low, "step": step}


def head(salt: int, r: int, dv: int, width: int, relu: int, polynomial: list[int]) -> Fields:
    """Small integers that depend on the salt."""

    def matrix(rows: int, columns: int, shift: int) -> list[list[int]]:
        return [[(3 * i + 7 * j + 2 * i * j + 3 * salt + shift) % 5 - 2 for j in range(columns)] for i in range(rows)]

    return {
        "queries": matrix(r, width, 1),
        "keys": matrix(r, width, 2),
        "values": matrix(dv, width, 3),
        "output": matrix(width, dv, 4),
        "relu": relu,
        "polynomial": polynomial,
    }


def layer(heads: list[Fields], sums: Fields, normalisers: Fields) -> Fields:
    return {
        "heads": heads,
        "sums": sums,
        "normalisers": normalisers,
        "outputs": grid(4, -8, "1/2"),
        "states": grid(6, -32),
    }


def blind(m: int = 2) -> Fields:
    """One head whose grids are so coarse that every message is zero."""
    return {
        "m": m,
        "embedding": [[1] * m + [1]],
        "layers": [layer([head(1, 1, 1, 1, 0, [0, 1])], grid(1, 0, 10**6), grid(1, 0, 10**6))],
    }


def one_layer() -> Fields:
    """Signed features, two bits a coordinate."""
    return {
        "m": 3,
        "embedding": [[1, -2, 1, 0], [0, 1, 2, -1]],
        "layers": [layer([head(1, 2, 1, 2, 0, [0, 1])], grid(3, -4, 5), grid(2, -2, 7))],
    }


def two_layers() -> Fields:
    """Two heads of different shapes and feature maps in each layer."""
    first = [head(1, 2, 1, 3, 1, [0, 1]), head(2, 1, 2, 3, 0, [1, 0, 1])]
    second = [head(3, 2, 1, 3, 0, [0, 1]), head(4, 1, 2, 3, 1, [0, 0, 1])]
    return {
        "m": 3,
        "embedding": [[1, -1, 2, 0], [2, 1, -1, 1], [0, 1, 1, -2]],
        "layers": [layer(first, grid(2, -1, 9), grid(1, 0, 12)), layer(second, grid(3, -4, 30), grid(2, 0, 25))],
    }


def pairs(length: int, m: int) -> Iterator[Pair]:
    """Two sequences that begin with the same token, in a fixed order."""
    tokens = [f"{t:x}" for t in range(1 << m)]
    rest = list(product(tokens, repeat=length - 1))
    for x in reversed(tokens):
        for i, left in enumerate(rest):
            for right in rest[:i]:
                yield [x, *left], [x, *right]


def search(model: Fields, length: int, wanted: Callable[[Pair, list[Any], list[Any]], bool]) -> Pair:
    """The first pair that is wanted, seen its two transcripts."""
    known: dict[tuple[str, ...], list[Any]] = {}
    for left, right in pairs(length, model["m"]):
        for side in (left, right):
            if tuple(side) not in known:
                known[tuple(side)] = transcript(model, side)
        if wanted((left, right), known[tuple(left)], known[tuple(right)]):
            return left, right
    raise ValueError("no such pair")


def wrong(pair: Pair) -> bool:
    return target(pair[0], 0) != target(pair[1], 0)


def coordinates(one: Any, other: Any) -> int:
    """In how many coordinates two messages of a layer differ."""
    tables = [(a, b) for left, right in zip(one, other, strict=True) for a, b in zip(left, right, strict=True)]
    return sum(a[k] != b[k] for a, b in tables for k in a)


def wide() -> Fields:
    """40 features and 40 values of states of one number."""
    many = {"queries": [[1]] * 40, "keys": [[1]] * 40, "values": [[1]] * 40, "output": [[1] * 40]}
    heads = [{**many, "relu": 0, "polynomial": [0, 1]}]
    return {"m": 2, "embedding": [[1, 1, 1]], "layers": [layer(heads, grid(1, 0), grid(1, 0))]}


def heavy() -> Fields:
    """The largest integers and the highest degree that are allowed."""
    large = 2**64 - 1
    many = {name: [[large]] * 3 for name in ("queries", "keys")}
    heads = [{**many, "values": [[large]], "output": [[large]], "relu": 0, "polynomial": [large] * 5}]
    levels = grid(64, -large, f"{large}/{2**63}")
    return {"heads": heads, **dict.fromkeys(("sums", "normalisers", "outputs", "states"), levels)}


def claim(model: Fields, pair: Pair, place: int = 0) -> Fields:
    parameters = {**model, "sequences": [list(side) for side in pair], "place": place}
    return certificate("transcript-collision", parameters, "collision", {})


def collides(model: Fields, length: int) -> Pair:
    return search(model, length, lambda pair, a, b: wrong(pair) and a == b)


@cache
def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack below is a change of one of them."""
    return {
        "collision-blind": claim(blind(), (["3", "0"], ["3", "3"])),
        "collision-one-layer": claim(one_layer(), collides(one_layer(), 3)),
        "collision-two-layers": claim(two_layers(), collides(two_layers(), 3)),
        "collision-last-place": claim(blind(4), (["3", "0", "f"], ["3", "3", "f"]), 2),
    }


def rejected() -> dict[str, tuple[bytes, str]]:
    v = valid()
    none, one, two = v["collision-blind"], v["collision-one-layer"], v["collision-two-layers"]
    single, double = one_layer(), two_layers()
    near = search(single, 3, lambda pair, a, b: wrong(pair) and coordinates(a[0], b[0]) == 1)
    second = search(double, 3, lambda pair, a, b: wrong(pair) and a[0] == b[0] and a[1] != b[1])
    other = search(double, 3, lambda pair, a, b: wrong(pair) and a[0][0] == b[0][0] and a[0][1] != b[0][1])
    same = search(single, 3, lambda pair, a, b: not wrong(pair) and a == b)
    differ = r"^the messages of layer 0 differ, first at head 0$"
    table: dict[str, Attack] = {
        "collision-one-coordinate": (claim(single, near), differ),
        "collision-layer-1-only": (claim(double, second), r"^the messages of layer 1 differ, first at head [01]$"),
        "collision-second-head-only": (claim(double, other), r"^the messages of layer 0 differ, first at head 1$"),
        "collision-equal-targets": (claim(single, same), r"^both targets at place 0 are \d$"),
        "collision-one-sequence-twice": (changed(none, ("parameters/sequences/1", ["3", "0"])), r"^both targets at place 0 are 0$"),
        "collision-sequence-and-its-permutation": (changed(none, ("parameters/sequences", [["3", "0", "1"], ["3", "1", "0"]])), r"^both targets at place 0 are 0$"),
        "collision-query-in-one-input-only": (changed(none, ("parameters/sequences/1/0", "2")), r"^the tokens at place 0 differ: nothing follows"),
        "collision-place-of-the-changed-token": (changed(none, ("parameters/place", 1)), r"^the tokens at place 1 differ: nothing follows"),
        "collision-finer-grid": (changed(none, ("parameters/layers/0/sums", grid(8, -128))), differ),
        "collision-finer-normaliser": (changed(none, ("parameters/layers/0/normalisers", grid(8, -128))), differ),
        "collision-one-weight": (changed(none, ("parameters/layers/0/heads/0/keys/0/0", -40_000)), differ),
        "collision-another-polynomial": (changed(none, ("parameters/layers/0/heads/0/polynomial", [0, 20_000])), differ),
        "collision-shifted-low": (changed(one, ("parameters/sequences", list(near)), ("parameters/layers/0/sums/low", -3), ("parameters/layers/0/sums/bits", 3)), r"^the messages of layer 0 differ"),
        "collision-state-of-both": (changed(two, ("parameters/sequences/1", two["parameters"]["sequences"][0])), r"^both targets at place 0 are \d$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def malformed() -> dict[str, tuple[bytes, str]]:
    v = valid()
    none, two = v["collision-blind"], v["collision-two-layers"]
    at = "parameters/layers/0"
    table: dict[str, Attack] = {
        "collision-bits-0": (changed(none, (f"{at}/sums/bits", 0)), r"^parameters\.layers\[0\]\.sums\.bits: expected an integer from 1 to 64, got 0$"),
        "collision-bits-negative": (changed(none, (f"{at}/normalisers/bits", -1)), r"^parameters\.layers\[0\]\.normalisers\.bits: expected an integer from 1 to 64, got -1$"),
        "collision-bits-65": (changed(none, (f"{at}/states/bits", 65)), r"^parameters\.layers\[0\]\.states\.bits: expected an integer from 1 to 64, got 65$"),
        "collision-bits-infinite": (changed(none, (f"{at}/sums/bits", 10**30)), r"^parameters\.layers\[0\]\.sums\.bits: expected an integer from 1 to 64, got 1000000000000000000000000000000$"),
        "collision-step-0": (changed(none, (f"{at}/sums/step", 0)), r"^parameters\.layers\[0\]\.sums\.step: expected a positive number, got 0$"),
        "collision-step-negative": (changed(none, (f"{at}/outputs/step", "-1/2")), r"^parameters\.layers\[0\]\.outputs\.step: expected a positive number, got -1/2$"),
        "collision-step-float": (changed(none, (f"{at}/sums/step", 0.5)), r"is not exact"),
        "collision-step-of-70-bits": (changed(none, (f"{at}/sums/step", f"1/{2**70}")), r"^parameters\.layers\[0\]\.sums: expected an integer of at most 64 bits, got 1180591620717411303424$"),
        "collision-low-a-string": (changed(none, (f"{at}/sums/low", "0")), r"^parameters\.layers\[0\]\.sums: expected an integer of at most 64 bits, got '0'$"),
        "collision-low-of-65-bits": (changed(none, (f"{at}/sums/low", 2**64)), r"^parameters\.layers\[0\]\.sums: expected an integer of at most 64 bits, got 18446744073709551616$"),
        "collision-grid-missing": (changed(none, (f"{at}/states", DELETE)), r"^parameters\.layers\[0\]: the field 'states' is missing$"),
        "collision-no-layers": (changed(none, ("parameters/layers", [])), r"^parameters\.layers: expected at least one layer, and in each at least one head$"),
        "collision-no-heads": (changed(two, ("parameters/layers/1/heads", [])), r"^parameters\.layers: expected at least one layer, and in each at least one head$"),
        "collision-embedding-empty": (changed(none, ("parameters/embedding", [])), r"^parameters\.embedding: expected at least 1 rows of 3 integers, got 0 of \[\]$"),
        "collision-embedding-without-constant": (changed(none, ("parameters/embedding", [[1, 1]])), r"^parameters\.embedding: expected at least 1 rows of 3 integers, got 1 of \[2\]$"),
        "collision-embedding-ragged": (changed(two, ("parameters/embedding/1", [1, 2, 3])), r"^parameters\.embedding: expected at least 1 rows of 4 integers, got 3 of \[3, 4\]$"),
        "collision-keys-of-another-width": (changed(two, (f"{at}/heads/0/keys", [[1, 1], [1, 1]])), r"^parameters\.layers\[0\]\.heads\[0\]\.keys: expected at least 1 rows of 3 integers, got 2 of \[2\]$"),
        "collision-fewer-queries-than-keys": (changed(two, (f"{at}/heads/0/queries", [[1, 1, 1]])), r"^parameters\.layers\[0\]\.heads\[0\]\.queries: expected 2 rows of 3 integers, got 1 of \[3\]$"),
        "collision-output-transposed": (changed(two, (f"{at}/heads/0/output", [[1, 1, 1]])), r"^parameters\.layers\[0\]\.heads\[0\]\.output: expected 3 rows of 1 integers, got 1 of \[3\]$"),
        "collision-values-empty": (changed(two, (f"{at}/heads/1/values", [])), r"^parameters\.layers\[0\]\.heads\[1\]\.values: expected at least 1 rows of 3 integers, got 0 of \[\]$"),
        "collision-weight-a-fraction": (changed(none, (f"{at}/heads/0/keys/0/0", "1/2")), r"^parameters\.layers\[0\]\.heads\[0\]\.keys\[0\]: expected an integer of at most 64 bits, got '1/2'$"),
        "collision-weight-of-65-bits": (changed(none, (f"{at}/heads/0/keys/0/0", 2**64)), r"^parameters\.layers\[0\]\.heads\[0\]\.keys\[0\]: expected an integer of at most 64 bits"),
        "collision-relu-2": (changed(none, (f"{at}/heads/0/relu", 2)), r"^parameters\.layers\[0\]\.heads\[0\]\.relu: expected an integer from 0 to 1, got 2$"),
        "collision-relu-true": (changed(none, (f"{at}/heads/0/relu", True)), r"relu: expected an integer|is not a number"),
        "collision-no-polynomial": (changed(none, (f"{at}/heads/0/polynomial", [])), r"^parameters\.layers\[0\]\.heads\[0\]\.polynomial: expected at least 1 rows of 1 integers, got 1 of \[0\]$"),
        "collision-degree-5": (changed(none, (f"{at}/heads/0/polynomial", [0, 0, 0, 0, 0, 1])), r"^parameters\.layers\[0\]\.heads\[0\]\.polynomial: expected at least 1 rows of 5 integers, got 1 of \[6\]$"),
        "collision-one-sequence": (changed(none, ("parameters/sequences", [["3", "0"]])), r"^parameters\.sequences: expected two of equal length >= 1, got \[2\]$"),
        "collision-three-sequences": (changed(none, ("parameters/sequences", [["3", "0"]] * 3)), r"^parameters\.sequences: expected two of equal length >= 1, got \[2, 2, 2\]$"),
        "collision-empty-sequences": (changed(none, ("parameters/sequences", [[], []])), r"^parameters\.sequences: expected two of equal length >= 1, got \[0, 0\]$"),
        "collision-shorter-sequence": (changed(none, ("parameters/sequences/1", ["3"])), r"^parameters\.sequences: expected two of equal length >= 1, got \[2, 1\]$"),
        "collision-sequence-no-list": (changed(none, ("parameters/sequences/0", "30")), r"^parameters\.sequences\[0\]: expected a list, got '30'$"),
        "collision-token-too-long": (changed(none, ("parameters/sequences/0/1", "4")), r"^parameters\.sequences\[0\]\[1\]: expected a token of 2 bits, got '4'$"),
        "collision-place-negative": (changed(none, ("parameters/place", -1)), r"^parameters\.place: expected an integer from 0 to 1, got -1$"),
        "collision-place-beyond": (changed(none, ("parameters/place", 2)), r"^parameters\.place: expected an integer from 0 to 1, got 2$"),
        "collision-m-0": (changed(none, ("parameters/m", 0)), r"^parameters\.m: expected an integer from 1 to 1000, got 0$"),
        "collision-transcript-given": (changed(none, ("parameters/transcript", [[0, 0]])), r"^parameters: unknown field 'transcript'$"),
        "collision-witness": (changed(none, ("witness/x", 1)), r"^witness: unknown field 'x'$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}
