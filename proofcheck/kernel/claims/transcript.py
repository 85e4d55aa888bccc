"""Finite precision: the typed family, transcripts (Theorem 9), two inputs that a model cannot tell apart, and the size
of the family (Proposition 10)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from ..exact import Malformed, expect, integer, record, words
from ..minip import target
from .forms import Code, Collision, Consequence, Transcript, TypedFamily
from .parameters import integer_of, positive_number, token_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_S = 1_000
MAX_SKETCH_BITS = 64  # of an integer of a quantised model, and of a grid
MAX_SKETCH_TOKEN = 1_000  # bits of a token
GRIDS = ("sums", "normalisers", "outputs", "states")


def typed_family(parameters: object) -> TypedFamily:
    fields = record(parameters, "parameters", ["M", "weight", "s", "words"])
    m, s = integer(fields["M"], "parameters.M", 1, 4_096), integer(fields["s"], "parameters.s", 1, MAX_S)
    weight = integer(fields["weight"], "parameters.weight", 1, m)
    family = words(expect(fields["words"], "parameters.words", list), "parameters.words")
    if not family:
        raise Malformed("parameters.words: expected at least one word")
    return TypedFamily(
        f"instance M={m}, s={s}: the typed family of {len(family)} words has, for each of the {s + 1}^{len(family)} "
        "assignments, exactly the assigned numbers as targets of its queries",
        m,
        weight,
        s,
        family,
    )


def transcript_bound(parameters: object) -> Transcript:
    fields = record(parameters, "parameters", ["M", "s", "q", "bits"])
    m, s = integer(fields["M"], "parameters.M", 1, 20_000), integer(fields["s"], "parameters.s", 1, MAX_S)
    q, bits = integer(fields["q"], "parameters.q", 1), integer(fields["bits"], "parameters.bits", 1)
    return Transcript(
        f"instance M={m}, s={s}, q={q}: a deterministic sketch model that is correct (error < 1/2) on the sequences of "
        f"length {2 * q} over {{0,1}}^{m + s + 2} has sum_l log2|Sigma_l| >= {q} log2({s + 1}) > {bits - 1}; if it "
        f"is linear attention of L layers and H heads with p bits a coordinate, L H r (dv+1) p >= {bits}",
        m,
        s,
        q,
        bits,
    )


def multilevel_code(parameters: object) -> Consequence:
    """Proposition 10: s = floor(m/log2 m), the largest s with m^s <= 2^m; M = m-s-2; h = floor(M/2); there is a code of
    at least 2^M/((M+1)(s+1)(eM/s)^(2s)) words. A lower bound of e in place of e makes the claim stronger."""
    fields = record(parameters, "parameters", ["m"])
    m = integer(fields["m"], "parameters.m", 32, 4_096)
    s = 1
    while m ** (s + 1) <= 1 << m:
        s += 1
    size, h = m - s - 2, (m - s - 2) // 2
    e = sum(Fraction(1, factorial(k)) for k in range(21))

    def holds(used: dict[str, Code]) -> str | None:
        code = used["code"]
        if (code.m, code.weight, code.distance) != (size, h, s + 1):
            return f"the code has m={code.m}, weight={code.weight}, distance={code.distance}"
        if not s + 1 < h:
            return f"the packing radius s+1 = {s + 1} is not below h = {h}"
        left = code.size * (size + 1) * (s + 1) * (e.numerator * size) ** (2 * s)
        return None if left >= 2**size * (e.denominator * s) ** (2 * s) else "the code is smaller"

    return Consequence(
        f"instance m={m}: with s={s}, M={size}, h={h} there is a code of h-subsets of [M] at directed distance >= s+1 "
        "with at least 2^M/((M+1)(s+1)(eM/s)^(2s)) words",
        holds,
    )


def transcript_collision(parameters: object) -> Collision:
    fields = record(parameters, "parameters", ["m", "embedding", "layers", "sequences", "place"])
    m = integer(fields["m"], "parameters.m", 1, MAX_SKETCH_TOKEN)
    embedding, layers = quantised_model(m, fields)
    sequences = []
    for i, row in enumerate(expect(fields["sequences"], "parameters.sequences", list)):
        at = f"parameters.sequences[{i}]"
        sequences.append([token_of(x, f"{at}[{j}]", m) for j, x in enumerate(expect(row, at, list))])
    if len(sequences) != 2 or not sequences[0] or len(sequences[0]) != len(sequences[1]):
        raise Malformed(f"parameters.sequences: expected two of equal length >= 1, got {list(map(len, sequences))}")
    place = integer(fields["place"], "parameters.place", 0, len(sequences[0]) - 1)
    targets = [target(sequence, place) for sequence in sequences]
    return Collision(
        f"instance m={m}, {len(sequences[0])} tokens: the quantised linear-attention model of the parameters, of "
        f"{len(layers)} layers, has equal messages on the two sequences; their tokens at place {place} are equal, and "
        f"the targets there are {targets[0]} and {targets[1]}: whatever is decoded from the place, the token and the "
        f"messages is wrong by at least {Fraction(abs(targets[0] - targets[1]), 2)} on one of the two",
        embedding,
        layers,
        sequences,
        place,
        targets,
    )


def quantised_model(m: int, fields: dict[str, Any]) -> tuple[list[list[int]], list[Any]]:
    """The embedding and the layers as `minip.messages` takes them."""
    embedding, layers = _matrix(fields["embedding"], "parameters.embedding", m + 1), []
    for i, value in enumerate(expect(fields["layers"], "parameters.layers", list)):
        place = f"parameters.layers[{i}]"
        layer = record(value, place, ["heads", *GRIDS])
        listed = expect(layer["heads"], f"{place}.heads", list)
        heads = [_head(head, f"{place}.heads[{h}]", len(embedding)) for h, head in enumerate(listed)]
        layers.append((heads, [_grid(layer[name], f"{place}.{name}") for name in GRIDS]))
    if not layers or not all(heads for heads, _ in layers):
        raise Malformed("parameters.layers: expected at least one layer, and in each at least one head")
    return embedding, layers


def _head(value: object, place: str, width: int) -> tuple[Any, ...]:
    fields = record(value, place, ["queries", "keys", "values", "output", "relu", "polynomial"])
    key, values = (_matrix(fields[name], f"{place}.{name}", width) for name in ("keys", "values"))
    query = _matrix(fields["queries"], f"{place}.queries", width, len(key))
    output = _matrix(fields["output"], f"{place}.output", len(values), width)
    degrees = min(len(expect(fields["polynomial"], f"{place}.polynomial", list)), 5)
    (polynomial,) = _matrix([fields["polynomial"]], f"{place}.polynomial", max(1, degrees))
    return query, key, values, output, integer(fields["relu"], f"{place}.relu", 0, 1), polynomial


def _matrix(value: object, place: str, columns: int, rows: int | None = None) -> list[list[int]]:
    table = [
        [integer_of(k, f"{place}[{i}]", MAX_SKETCH_BITS) for k in expect(row, f"{place}[{i}]", list)]
        for i, row in enumerate(expect(value, place, list))
    ]
    lengths = sorted({len(row) for row in table})
    if lengths != [columns] or len(table) != (rows or len(table)):
        wanted = f"{rows or 'at least 1'} rows of {columns} integers"
        raise Malformed(f"{place}: expected {wanted}, got {len(table)} of {lengths[:9]}")
    return table


def _grid(value: object, place: str) -> tuple[int, int, Fraction]:
    fields = record(value, place, ["bits", "low", "step"])
    bits = integer(fields["bits"], f"{place}.bits", 1, MAX_SKETCH_BITS)
    step = positive_number(fields["step"], f"{place}.step")
    for k in (fields["low"], step.numerator, step.denominator):
        integer_of(k, place, MAX_SKETCH_BITS)
    return fields["low"], fields["low"] + (1 << bits) - 1, step
