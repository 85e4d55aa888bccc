"""Independent truth about two inputs with one transcript: the quantised model by its formulas, one by one.

Written from mathematics.md (Theorem 9, eq. 8) and the sentence of the claim; nothing of the kernel is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.kernel.rationals import rational, whole

Finding = tuple[str, list[str]]
GRIDS = ("sums", "normalisers", "outputs", "states")


def code(value: Fraction, grid: dict[str, Any]) -> int:
    """The k with step (k - 1/2) <= value < step (k + 1/2), or the nearest end of the grid."""
    step, low, bits = rational(grid["step"]), whole(grid["low"]), whole(grid["bits"])
    if step <= 0 or bits < 1:
        raise ValueError("a grid without levels")
    k = (2 * value + step) // (2 * step)
    return int(low if k < low else min(k, low + 2**bits - 1))


def phi(t: int, head: dict[str, Any]) -> int:
    if head["relu"] not in (0, 1) or not head["polynomial"]:
        raise ValueError("the feature map")
    t = t if head["relu"] == 0 or t > 0 else 0
    return sum(whole(c) * t**k for k, c in enumerate(head["polynomial"]))


def applied(matrix: list[list[int]], u: Sequence[int]) -> list[int]:
    return [sum(whole(row[i]) * u[i] for i in range(max(len(row), len(u)))) for row in matrix]


def transcript(p: dict[str, Any], tokens: Sequence[str]) -> list[Any]:
    """One entry a layer: for each head the tables {(a, c): S} and {a: z}."""
    m = whole(p["m"])
    states = [applied(p["embedding"], [int(t, 16) // 2**i % 2 for i in range(m)] + [1]) for t in tokens]
    if any(int(t, 16) >= 2**m for t in tokens) or not p["layers"]:
        raise ValueError("a token or the layers")
    result = []
    for layer in p["layers"]:
        sent: list[Any] = []
        added = [[0] * len(u) for u in states]
        if not layer["heads"]:
            raise ValueError("no heads")
        for head in layer["heads"]:
            keys = [[phi(t, head) for t in applied(head["keys"], u)] for u in states]
            values = [applied(head["values"], u) for u in states]
            r, dv = range(len(head["keys"])), range(len(head["values"]))
            total = {(a, c): sum(k[a] * v[c] for k, v in zip(keys, values, strict=True)) for a in r for c in dv}
            s = {place: code(Fraction(value), layer["sums"]) for place, value in total.items()}
            z = {a: code(Fraction(sum(k[a] for k in keys)), layer["normalisers"]) for a in r}
            sent.append((s, z))
            for i, u in enumerate(states):
                f = [phi(t, head) for t in applied(head["queries"], u)]
                if len(f) != len(r):
                    raise ValueError("queries and keys")
                scale = rational(layer["sums"]["step"]) / rational(layer["normalisers"]["step"])
                below = sum(f[a] * z[a] for a in r)
                above = [sum(f[a] * s[a, c] for a in r) for c in dv]
                out = [code(scale * Fraction(k, below) if below else Fraction(0), layer["outputs"]) for k in above]
                added[i] = [x + y for x, y in zip(added[i], applied(head["output"], out), strict=True)]
        states = [
            [code(Fraction(x + y), layer["states"]) for x, y in zip(u, plus, strict=True)]
            for u, plus in zip(states, added, strict=True)
        ]
        result.append(sent)
    return result


def target(tokens: Sequence[str], place: int) -> int:
    return min(bin(int(tokens[place], 16) & int(t, 16)).count("1") for t in tokens)


def transcript_collision(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    if rule != "collision" or witness != {} or len(p["sequences"]) != 2:
        raise ValueError("the rule, the witness, or not two sequences")
    (left, right), place = p["sequences"], whole(p["place"])
    if len(left) != len(right) or not 0 <= place < len(left):
        raise ValueError("the lengths or the place")
    a, b = target(left, place), target(right, place)
    said = [
        f"instance m={whole(p['m'])}, {len(left)} tokens: ",
        f"of {len(p['layers'])} layers",
        f"tokens at place {place} are equal, and the targets there are {a} and {b}: ",
        f"at least {Fraction(abs(a - b), 2)} on one of the two",
    ]
    if int(left[place], 16) != int(right[place], 16):
        return "the tokens at the place differ", said
    if a == b:
        return "the targets are equal: the sentence says nothing", said
    return "" if transcript(p, left) == transcript(p, right) else "the transcripts differ", said


ORACLES = {"transcript-collision": (transcript_collision, ())}
