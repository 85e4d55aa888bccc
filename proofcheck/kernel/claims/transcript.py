"""Finite precision: the typed family, transcripts (Theorem 9) and the size of the family (Proposition 10)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from ..exact import Malformed, expect, integer, record, words
from .forms import Code, Consequence, Transcript, TypedFamily

MAX_S = 1_000


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
        f"length {2 * q} over {{0,1}}^{m + s + 2} has sum_l log2|Sigma_l| >= {q} log2({s + 1}) > {bits - 1}; an "
        f"L-layer, H-head linear-attention model with p bits a coordinate has L H r (dv+1) p >= {bits}",
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
