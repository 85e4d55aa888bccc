"""Rules for a kernel or a head that is given by its numbers. None of them takes a witness: the claim says it all."""

from __future__ import annotations

from fractions import Fraction

from .. import minip
from ..claims.forms import HeadFailure, KernelRefutation, KernelTask, TableTask
from ..exact import Budget, Rejected, cleared, record
from .heads import decide, kernel_rows

MAX_TASK_WORK = 3_000_000  # about 6 seconds: at m = 10, 40 dense features and values together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Used = dict[str, Any]


def violation(claim: KernelRefutation, witness: object, used: Used) -> list[str]:
    """One triple that breaks (i) or (ii) of B0, with alpha(x,x) + additive for the query's own term."""
    record(witness, "witness", [])
    n, eps, (xx, xy, xz) = claim.n, claim.eps, claim.kernel
    own = xx + claim.additive
    if min(claim.kernel) < 0:
        raise Rejected("a kernel value is negative: no nonnegative head has it, and nothing is said about others")
    if own == 0:
        return ["the denominator of (x, .., x) is zero"]
    gap = minip.overlap(claim.x, claim.z) - minip.overlap(claim.x, claim.y)
    if gap < 1:
        raise Rejected(f"expected <x,y> < <x,z>, but <x,z> - <x,y> = {gap}")
    if xy == 0 and (xz == 0 or claim.additive == 0 or not claim.exact):
        return ["(i) fails: two sequences with different targets have the same output"]
    left, right = 2 * eps * xy, (n - 2) * (gap - 2 * eps) * xz + (Fraction((n - 2) * gap, n - 1) - 2 * eps) * own
    if left > right:
        raise Rejected("(ii) holds for these tokens, and alpha(x,y) > 0" if xy else "(ii) holds for these tokens")
    return [f"(ii) fails at the gap {gap}: the head fails on one of (x,y,..,y), (x,z,..,z), (x,y,z,..,z)"]


def evaluation(claim: HeadFailure, witness: object, used: Used) -> list[str]:
    """The head's output by the definition."""
    record(witness, "witness", [])
    x, sequence, head = claim.sequence[claim.position], claim.sequence, claim.head
    tables = [[table(x, z) for z in dict.fromkeys(sequence)] for table in (head.alpha, head.g)]
    sizes = [max(k.bit_length() for k in cleared([*table, Fraction(1)])[1]) for table in tables]
    Budget().charge(4 * len(sequence) + len(sequence) * head.m // 512, sum(sizes))
    if minip.correct_at(head, sequence, claim.position, claim.eps):
        raise Rejected(f"the head is correct there: the target is {minip.target(sequence, claim.position)}")
    return [f"the output at place {claim.position}, by the definition"]


def levels(claim: KernelTask, witness: object, used: Used) -> list[str]:
    """B0 for every query, from the least and the largest kernel value at each overlap level."""
    record(witness, "witness", [])
    _charge(claim, 0, 0)
    scale, constant = claim.additive.denominator, claim.additive.numerator
    for x, row in enumerate(kernel_rows(claim.queries, claim.keys)):
        own = scale * row[x] + constant
        decide(claim, f"{x:b}", x.bit_count(), own, (((x & z).bit_count(), scale * a) for z, a in enumerate(row)))
    return [f"all 4^{claim.m} pairs of tokens decided by B0"]


def _charge(claim: Any, more: int, bits: int) -> None:
    """Measured: 0.1 microseconds for each pair of tokens and feature of the query that is not zero, or operation of
    `more`, and 0.008 for the other features; `bits` are those of the numbers beside the kernel values."""
    tables = (claim.queries, claim.keys)
    bits += sum(max((k.bit_length() for row in table for k in row), default=0) for table in tables)
    bits += claim.additive.numerator.bit_length() + claim.additive.denominator.bit_length()
    products = sum(1 for query in claim.queries for q in query if q) << claim.m
    work = products // 20 + 4**claim.m * len(claim.keys[0]) // 256 + 4**claim.m * (2 + more) // 20
    Budget(MAX_TASK_WORK).charge(work, bits)


def separable(claim: TableTask, witness: object, used: Used) -> list[str]:
    """Every query, target and sign: the largest sum over all sequences, which separates (mathematics.md B7)."""
    record(witness, "witness", [])
    wide = len(claim.values[0])
    *flat, unit = cleared([v for row in claim.values for v in row] + [Fraction(1)])[1]
    values = [flat[i : i + wide] for i in range(0, wide << claim.m, wide)] if wide else [[]] * (1 << claim.m)
    rows = [cleared([*w, c, Fraction(1)])[1] for w, c in zip(claim.weights, claim.offsets, strict=True)]
    bits = sum(max(k.bit_length() for row in table for k in row) for table in ([[unit, *flat]], rows))
    _charge(claim, wide + 2 * claim.m, bits + claim.eps.denominator.bit_length())
    for x, alpha in enumerate(kernel_rows(claim.queries, claim.keys)):
        if min(alpha) < 0:
            z = next(z for z, a in enumerate(alpha) if a < 0)
            raise Rejected(f"alpha({x:b},{z:b}) is negative: this is no nonnegative head")
        *w, offset, scale = rows[x]
        offset *= unit
        g = [sum(map(int.__mul__, w, v)) + offset for v in values]  # times scale * unit
        _query(claim, x, alpha, g, offset, scale * unit)
    return [f"all sequences, by the largest sums for each of 2^{claim.m} queries, target and side"]


def _query(claim: TableTask, x: int, alpha: list[int], g: list[int], offset: int, scale: int) -> None:
    """u(z) = P(z) - (t +- eps) alpha(x,z), P = alpha g, times q * scale where eps = p/q, is q P scale - tau scale alpha
    with tau = tq +- p. The query's own term carries the constant. With target t < |x| another token y has the overlap t
    and the further ones at least t: the extreme sum is u(x) + ext(t) + k ext(>= t), linear in k, so its ends decide."""
    n, p, q, h = claim.n, claim.eps.numerator, claim.eps.denominator, x.bit_count()
    level: list[tuple[list[int], list[int]]] = [([], []) for _ in range(h + 1)]
    for z, a in enumerate(alpha):
        weights, products = level[(x & z).bit_count()]
        weights.append(scale * a)
        products.append(q * a * g[z])
    own = scale * (alpha[x] + claim.additive), q * (alpha[x] * g[x] + claim.additive * offset)
    for sign, extreme in ((1, max), (-1, min)):
        weights, products = [], []
        for t in range(h, -1, -1):
            tau = t * q + sign * p
            at = extreme(map(int.__sub__, level[t][1], map(tau.__mul__, level[t][0])))
            weights += level[t][0]
            products += level[t][1]
            if t == h:
                first, further, most = 0, at, n - 1
            elif n > 1:
                first, most = at, n - 2
                further = extreme(map(int.__sub__, products, map(tau.__mul__, weights)))
            else:
                break
            base = own[1] - tau * own[0] + first
            if any(sign * (base + k * further) >= 0 for k in ((most,) if claim.exact else (0, most))):
                side = "above" if sign > 0 else "below"
                fault = f"is {side} the target by at least eps, or has a zero denominator"
                raise Rejected(f"query {x:b}, target {t}: the output on some sequence {fault}")
