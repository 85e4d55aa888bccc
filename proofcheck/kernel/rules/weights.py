"""Rule for heads whose keys treat bits alike: a direction for each bit with a slope that depends on |z|, functions of
|z|, and points on a sphere that tell a token and its complement from all others."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from ..claims.forms import HeadExists
from ..exact import Budget, Rejected, cleared, expect, integer, number, record, shown
from .heads import decide


def weight_head(claim: HeadExists, witness: object, used: object) -> list[str]:
    """The last bit may stand apart (k = 1, otherwise 0). On the first M = m - k bits let h = |x|, w = |z|, l = <x,z>;
    let v, u be the bits apart. Functions of (u, w) are lists with places u (M+1) + w, and for a query of place
    c = v (M+1) + h

        alpha(x,z) = sum_i A_ci slopes[i](u,w) (M l - h w) + sum_j B_cj functions[j](u,w) + sum_j C_cj points[j](u,w) P

    with coefficients[c] = A_c0, .., B_c0, .., C_c0, .. Rank: M - 1 for each slope, 1 for each function, and 3 for each
    of `points`, where P(x,z) is the inner product of unit vectors a(x), a(z) in space that depend on the first M bits:
    a(z) = a(complement of z), and otherwise a(x) a(z) <= 1 - 2/N, N = 2^(M-1). So P = 1 where h = w = l, that is at
    z = x, and where l = 0, h + w = M, at the complement of x; everywhere else -1 <= P <= 1 - 2/N."""
    fields = record(witness, "witness", ["apart", "slopes", "functions", "points", "coefficients"])
    apart = integer(fields["apart"], "witness.apart", 0, 1)
    main, budget = claim.m - apart, Budget()
    if main < 1:
        raise Rejected("witness.apart: at least one bit must remain")
    budget.charge(8 * (apart + 1) * (main + 1), 0)
    classes, many = [*product(range(apart + 1), range(main + 1))], 1 << main - 1
    counts, numbered = [], []
    for key in ("slopes", "functions", "points"):
        functions = expect(fields[key], f"witness.{key}", list)
        counts.append(len(functions))
        numbered += [q for i, f in enumerate(functions) for q in _numbers(f, f"witness.{key}[{i}]", len(classes))]
    flat = cleared(numbered)[1]
    rows = expect(fields["coefficients"], "witness.coefficients", list)
    if len(rows) != len(classes):
        raise Rejected(f"witness.coefficients: expected {len(classes)} rows, one a class of queries, got {len(rows)}")
    size = max(map(int.bit_length, flat), default=0) + 3 * main + 2 * claim.n.bit_length()
    for place, ((v, h), row) in enumerate(zip(classes, rows, strict=True)):
        numbers = cleared(_numbers(row, f"witness.coefficients[{place}]", sum(counts)))[1]
        bits = size + max(map(int.bit_length, numbers), default=0) + claim.eps.denominator.bit_length()
        budget.charge((len(classes) * (min(h, main - h) + 1) * (sum(counts) + 4) + h * h) // 4, bits)
        values, own = [], 0
        for i, (u, w) in enumerate(classes):
            at = [q * value for q, value in zip(numbers, flat[i :: len(classes)], strict=True)]
            slope, base, turn = sum(at[: counts[0]]), sum(at[counts[0] : sum(counts[:2])]), sum(at[sum(counts[:2]) :])
            for level in range(max(0, h + w - main), min(h, w) + 1):
                value = many * (base + slope * (main * level - h * w))
                alone = h == w == level or (level == 0 and h + w == main)
                values += [(level + u * v, value + p * turn) for p in ((many,) if alone else (-many, many - 2))]
                if h == w == level and u == v:
                    own = value + many * turn
        decide(claim, f"of weight {h}{f'+{v}' if apart else ''}", h + v, own, values)
    rank = counts[0] * (main - 1) + counts[1] + 3 * counts[2]
    if rank > claim.rank:
        raise Rejected(f"the head has {shown(rank)} features, the claim says {shown(claim.rank)}")
    return [f"{len(classes)} classes of queries decided by B0; {rank} features"]


def _numbers(value: object, place: str, count: int) -> list[Fraction]:
    listed = expect(value, place, list)
    if len(listed) != count:
        raise Rejected(f"{place}: expected {count} numbers, got {len(listed)}")
    return [number(q, f"{place}[{i}]") for i, q in enumerate(listed)]
