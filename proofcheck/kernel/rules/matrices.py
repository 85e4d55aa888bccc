"""Rules for ranks of explicit matrices and for heads checked by the definition."""

from __future__ import annotations

from fractions import Fraction

from .. import minip
from ..claims.forms import HeadTask, Matrix
from ..exact import Budget, Malformed, Rejected, bounded, expect, integer, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Used = dict[str, Any]


def _indices(value: object, place: str, end: int) -> list[int]:
    """Strictly increasing indices below `end`."""
    result: list[int] = []
    for k, item in enumerate(expect(value, place, list)):
        result.append(integer(item, f"{place}[{k}]", 0, end - 1))
        if k and result[k] <= result[k - 1]:
            raise Rejected(f"{place}[{k}]: the indices must increase, but {result[k]} follows {result[k - 1]}")
    return result


def rank_minor(claim: Matrix, witness: object, used: Used) -> list[str]:
    """Rows, columns and a prime modulo which the minor is invertible."""
    fields = record(witness, "witness", ["rows", "columns", "prime"])
    p = integer(fields["prime"], "witness.prime", 2, 1 << 32)
    divisor = next((q for q in range(2, 1 << 16) if q * q <= p and p % q == 0), None)
    if divisor is not None:
        raise Rejected(f"witness.prime: {p} is composite, {divisor} divides it")
    rows = _indices(fields["rows"], "witness.rows", claim.rows)
    columns = _indices(fields["columns"], "witness.columns", claim.columns)
    if len(rows) != claim.rank or len(columns) != claim.rank:
        raise Rejected(f"a rank of {claim.rank} needs as many rows and columns, got {len(rows)} and {len(columns)}")
    Budget().charge(claim.rank**3 // 256, 0)
    minor = []
    for i in rows:
        entries = [claim.entry(i, j) for j in columns]
        if any(q.denominator % p == 0 for q in entries):
            raise Rejected(f"witness.prime: {p} divides a denominator in row {i}")
        minor.append([q.numerator * pow(q.denominator, -1, p) % p for q in entries])
    for k in range(len(minor)):
        pivot = next((i for i in range(k, len(minor)) if minor[i][k]), None)
        if pivot is None:
            raise Rejected(f"the minor is singular modulo {p}: no pivot in column {columns[k]}")
        minor[k], minor[pivot] = minor[pivot], minor[k]
        inverse, top = pow(minor[k][k], -1, p), minor[k]
        for i in range(k + 1, len(minor)):
            if minor[i][k]:
                scale = minor[i][k] * inverse % p
                minor[i] = [(a - scale * b) % p for a, b in zip(minor[i], top, strict=True)]
    return [f"a {claim.rank} x {claim.rank} minor is invertible modulo the prime {p}"]


def rank_trace(claim: Matrix, witness: object, used: Used) -> list[str]:
    """Lemma 4: rank C >= (tr C)^2 / ||C||_F^2. The witness is empty."""
    record(witness, "witness", [])
    if claim.rows != claim.columns:
        raise Rejected(f"the trace needs a square matrix, got {claim.rows} x {claim.columns}")
    trace, norm, budget = Fraction(0), Fraction(0), Budget()
    for i in range(claim.rows):
        for j in range(claim.columns):
            q = claim.entry(i, j)
            budget.charge(1, norm.denominator.bit_length())
            norm = bounded(norm + q * q)
            trace = bounded(trace + q) if i == j else trace
    if trace**2 <= (claim.rank - 1) * norm:
        raise Rejected(f"(tr C)^2 / ||C||^2 is at most {claim.rank - 1}")
    return [f"(tr C)^2 > {claim.rank - 1} ||C||^2"]


def exhaustive(claim: HeadTask, witness: object, used: Used) -> list[str]:
    """Every sequence, every position, by the definition. The witness is empty."""
    record(witness, "witness", [])
    m, n = claim.head.m, claim.n
    if m * n > 12:
        raise Malformed(f"2^{m * n} sequences are too many to enumerate")
    largest = claim.head.alpha((1 << m) - 1, (1 << m) - 1)  # a power of w, whose size grows with the overlap
    bits = max(largest.numerator.bit_length(), largest.denominator.bit_length())
    Budget().charge((4**m + n * n * 2 ** (m * n)) // 2, n * bits)
    failure = next(minip.failures(claim.head, range(1, claim.n + 1), claim.eps), None)
    if failure is not None:
        sequence, i = failure
        value = minip.output(claim.head, sequence, i)
        raise Rejected(
            f"the head fails on {sequence} at position {i}: output {value}, target {minip.target(sequence, i)}"
        )
    return [f"all sequences of length 1..{n} over {{0,1}}^{m}"]
