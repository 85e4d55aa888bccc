"""Rules for heads that exist: explicit features, and kernels that depend on classes of tokens.

Both decide B0 (claims/domination.py) for every query, from the least and the largest kernel value at each overlap
level.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, compress, product
from math import comb, prod

from ..claims.forms import HeadExists, UpperExponent
from ..claims.parameters import factor
from ..exact import Budget, Malformed, Rejected, bounded, cleared, expect, integer, number, record, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Used = dict[str, Any]

MAX_TABLE_BITS = 10
MAX_TABLE_WORK = 1_000_000  # about 2 seconds, or 4: 17 features at m = 10, 74 at m = 9
MAX_DECISIONS = 1_000_000  # units of work for the comparisons of all classes of queries, about 2 seconds


def decide(claim: Any, query: str, weight: int, own: int, values: Iterable[tuple[int, int]]) -> None:
    """B0 for one query of the given weight: `own` is alpha(x,x) and the constant in denominators, if there is one;
    `values` are (overlap, alpha(x,z)) over all tokens, x included. In (ii) alpha(x,z) has the coefficient K(d - 2eps)
    >= 0, so the least value at the lower level and the largest at the upper one decide. All values may be scaled by any
    positive number: B0 is homogeneous."""
    least: list[int | None] = [None] * (weight + 1)
    largest: list[int | None] = [None] * (weight + 1)
    for level, value in values:
        low, high = least[level], largest[level]
        least[level] = value if low is None or value < low else low
        largest[level] = value if high is None or value > high else high
    for level, low in enumerate(least):
        if own <= 0 or (low is not None and low < (level < weight)):
            least_shown = f"alpha(x,x) = {shown(own)}, least value {shown(low)} at overlap {level}"
            raise Rejected(f"query {query}: {least_shown}: some is not positive")
    length, others, p, q = claim.n - 1, claim.n - 2, 2 * claim.eps.numerator, claim.eps.denominator  # 2 eps = p/q
    for low_level, low in enumerate(least[:weight]):
        for high_level in range(low_level + 1, weight + 1):
            gap, high = high_level - low_level, largest[high_level]
            if low is not None and high is not None:
                left = p * length * low - (q * others * gap - p * length) * own
                if left <= others * length * (q * gap - p) * high:
                    pair = f"overlaps {low_level}, {high_level} with values {shown(low)}, {shown(high)}"
                    raise Rejected(f"query {query}: {pair} violate B0")


def table_head(claim: HeadExists, witness: object, used: Used) -> list[str]:
    """Integer features of every query and every key token; alpha is their inner product."""
    fields = record(witness, "witness", ["queries", "keys"])
    if claim.m > MAX_TABLE_BITS:
        raise Malformed(f"a table head has at most {MAX_TABLE_BITS} bits, got {claim.m}")
    tables = {}
    for name in ("queries", "keys"):
        rows = expect(fields[name], f"witness.{name}", list)
        if len(rows) != 1 << claim.m:
            raise Rejected(f"witness.{name}: expected {1 << claim.m} rows, got {len(rows)}")
        for i, row in enumerate(rows):
            for k, value in enumerate(expect(row, f"witness.{name}[{i}]", list)):
                if type(value) is not int or value.bit_length() > 256:
                    raise Malformed(f"witness.{name}[{i}][{k}]: expected an integer of at most 256 bits")
            if len(row) != claim.rank:
                raise Rejected(f"witness.{name}[{i}]: expected {claim.rank} features, got {len(row)}")
        tables[name] = rows
    # Measured: (2 + rank) 0.1 microseconds for each pair of tokens, twice that for integers of 256 bits.
    Budget(MAX_TABLE_WORK).charge((claim.rank + 2) * 4**claim.m // 20, 0)
    for x, row in enumerate(kernel_rows(tables["queries"], tables["keys"])):
        levels = (((x & z).bit_count(), value) for z, value in enumerate(row))
        decide(claim, f"{x:b}", x.bit_count(), row[x], levels)
    return [f"{claim.rank} features decide all 4^{claim.m} pairs of tokens by B0"]


def kernel_rows(queries: list[list[int]], keys: list[list[int]]) -> Iterable[list[int]]:
    """The rows of the kernel <queries[x], keys[z]>; zeros of a query cost nothing."""
    for query in queries:
        used = [q for q in query if q]
        yield [sum(map(int.__mul__, used, compress(key, query))) for key in keys]


def class_head(claim: HeadExists, witness: object, used: Used) -> list[str]:
    """A kernel that depends on classes. The bits are split into blocks; write w_i, h_i, l_i for |z|, |x| and <x,z>
    within block i. For a query class h the kernel is scale[|z|] times a polynomial in the l_i, w_i whose monomials have
    degrees in `degrees`, a list of exponent tuples closed under taking smaller ones. The polynomials of such degrees in
    the bits of z have a basis of products of distinct bits, d_i of them from block i: all these queries together have
    rank at most the sum over `degrees` of prod C(b_i, d_i). Query classes without a polynomial are one-hot: a feature
    for each query, with the softmin row w^<x,z>, w = eps/n, which is correct by Theorem 1."""
    fields = record(witness, "witness", ["blocks", "degrees", "scale", "polynomials"])
    blocks = [
        integer(b, f"witness.blocks[{i}]", 1) for i, b in enumerate(expect(fields["blocks"], "witness.blocks", list))
    ]
    if sum(blocks) != claim.m or len(blocks) > 3:
        raise Rejected(
            f"witness.blocks: {len(blocks)} blocks (at most 3) of {sum(blocks)} bits, the claim has {claim.m}"
        )
    degrees = set()
    for i, value in enumerate(expect(fields["degrees"], "witness.degrees", list)):
        place = f"witness.degrees[{i}]"
        degrees.add(tuple(integer(k, place, 0, claim.m) for k in expect(value, place, list)))
    if any(len(d) != len(blocks) for d in degrees):
        raise Malformed(f"witness.degrees: expected tuples of {len(blocks)} degrees")
    for d in degrees:
        for i, k in enumerate(d):
            if k and (*d[:i], k - 1, *d[i + 1 :]) not in degrees:
                raise Rejected(f"witness.degrees: {list(d)} is listed without its smaller neighbour in place {i}")
    scales = expect(fields["scale"], "witness.scale", list)
    scale = cleared([number(s, f"witness.scale[{w}]") for w, s in enumerate(scales)])[1]
    if len(scale) != claim.m + 1 or min(scale) <= 0:
        raise Rejected(f"witness.scale: expected {claim.m + 1} positive numbers, one for each weight |z|")
    polynomials = expect(fields["polynomials"], "witness.polynomials", dict)
    budget, decisions, done = Budget(), Budget(MAX_DECISIONS), set()
    budget.charge(prod(b + 1 for b in blocks), claim.m // 2)
    digits = claim.n.bit_length() + claim.eps.denominator.bit_length()
    rank = sum(prod(map(comb, blocks, d)) for d in degrees)
    for sizes in product(*(range(b + 1) for b in blocks)):
        name = ",".join(map(str, sizes))
        if name not in polynomials:
            rank += prod(map(comb, blocks, sizes))
            continue
        done.add(name)
        place = f"witness.polynomials.{name}"
        terms = []
        for i, value in enumerate(expect(polynomials[name], place, list)):
            term = record(value, f"{place}[{i}]", ["l", "w", "coefficient"])
            powers = [
                [integer(e, f"{place}[{i}].{key}", 0, claim.m) for e in expect(term[key], f"{place}[{i}].{key}", list)]
                for key in ("l", "w")
            ]
            if len(powers[0]) != len(blocks) or tuple(map(sum, zip(*powers, strict=False))) not in degrees:
                raise Rejected(f"{place}[{i}]: the degrees {shown(powers)} are not among the listed ones")
            if len(powers[1]) != len(blocks):
                raise Malformed(f"{place}[{i}]: expected {len(blocks)} exponents")
            terms.append((powers[0], powers[1], number(term["coefficient"], f"{place}[{i}].coefficient")))
        whole = cleared([q for _, _, q in terms])[1]
        exact = [(left, right, q) for (left, right, _), q in zip(terms, whole, strict=True)]
        own, values = _class_row(blocks, sizes, exact, scale, budget)
        decisions.charge((sum(sizes) + 1) ** 2 // 4, (max(v.bit_length() for _, v in values) + digits) // 2)
        decide(claim, name, sum(sizes), own, values)
    if set(polynomials) != done:
        raise Rejected(f"witness.polynomials: {sorted(set(polynomials) - done)[0][:40]!r} is no class of queries")
    if rank > claim.rank:
        raise Rejected(f"the head has {shown(rank)} features, the claim says {shown(claim.rank)}")
    return [f"{len(done)} classes of queries decided by B0; {rank} features"]


def hamming_head(claim: HeadExists, witness: object, used: Used) -> list[str]:
    """alpha(x,z) = base^(|z|-|x|) q(|x\\z| + |z\\x|), q(d) = sum of coefficients[k] C(d,k). The Hamming distance d is
    affine in the bits of z, so that the rank is at most the sum of C(m,k), k < len(coefficients). With f(d) = base^d
    q(d) and R = base^-2 >= 1, alpha(x,z) = R^|x\\z| f(d) and alpha(x,x) = f(0). If <x,z> - <x,y> = d >= 1 and
    j = |x\\z| then the distance is at least d for y, where |x\\y| = j + d, and at most m - d for z. So with lo(d) the
    least of f on d..m and hi(d) its largest on 0..m-d, B0 follows from f > 0 and

        2eps L R^d lo(d) > K L (d-2eps) hi(d) + max(0, K d - 2eps L) f(0)      for d = 1..m,

    multiplied by R^j >= 1."""
    fields = record(witness, "witness", ["base", "coefficients"])
    m, base = claim.m, number(fields["base"], "witness.base")
    if not 0 < base <= 1:
        raise Rejected(f"witness.base: expected 0 < base <= 1, got {shown(fields['base'])}")
    entries = expect(fields["coefficients"], "witness.coefficients", list)
    if not 1 <= len(entries) <= m + 1:
        raise Rejected(f"witness.coefficients: expected 1..{m + 1}, got {len(entries)}")
    whole = cleared([number(q, f"witness.coefficients[{k}]") for k, q in enumerate(entries)])[1]
    p, q, length, others = base.numerator, base.denominator, claim.n - 1, claim.n - 2
    twice, unit = 2 * claim.eps.numerator, claim.eps.denominator  # 2 eps = twice/unit
    bits = m * q.bit_length() + max(c.bit_length() for c in whole) + m + 2 * claim.n.bit_length() + unit.bit_length()
    Budget().charge((m + 1) * (len(whole) // 4 + 8), bits)
    # f(d) q^m and R^d, over common denominators.
    values = [p**d * q ** (m - d) * sum(c * comb(d, k) for k, c in enumerate(whole)) for d in range(m + 1)]
    if min(values) <= 0:
        raise Rejected(f"f({next(d for d, v in enumerate(values) if v <= 0)}) is not positive")
    low, high = list(accumulate(reversed(values), min)), list(accumulate(values, max))
    for d in range(1, m + 1):
        more = max(0, others * d * unit - twice * length)
        right = others * length * (d * unit - twice) * high[m - d] + more * values[0]
        if twice * length * low[m - d] * q ** (2 * d) <= right * p ** (2 * d):
            raise Rejected(
                f"the gap {d} violates B0: lo = {shown(low[m - d])}, hi = {shown(high[m - d])} in units of q^-m"
            )
    rank = sum(comb(m, k) for k in range(len(whole)))
    if rank > claim.rank:
        raise Rejected(f"the head has {shown(rank)} features, the claim says {shown(claim.rank)}")
    return [
        f"a polynomial of degree {len(whole) - 1} in the Hamming distance; B0 at gaps 1..{m}; {shown(rank)} features"
    ]


def _sampling_works(n: int, eps: Fraction, rho: Fraction, eta: Fraction, witness: object) -> list[str]:
    """Sampled features (mathematics.md B3 b): all subset sums are within a factor 1 +- eta of rho^|S|, and this
    suffices for B0 at every gap d: with c0 < 1, (1-eta) rho^d - c0 > mu(d) ((1+eta) - c0) + (K d/(2eps L) - 1)(1 -
    c0), checked for d = 1..last and, beyond, by rho >= mu(d+1)/mu(d)."""
    fields = record(witness, "witness", ["c0", "last"])
    c0, last = number(fields["c0"], "witness.c0"), integer(fields["last"], "witness.last", 2, 2_000)
    if not 0 < c0 < 1 or not 0 < eta < 1 or rho <= 1 or (1 - eta) * rho <= c0:
        raise Rejected("expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and (1 - eta) rho > c0")
    budget, power = Budget(), Fraction(1)
    for d in range(1, last + 1):
        budget.charge(8, power.denominator.bit_length())
        power = bounded(power * rho)
        mu = factor(n, Fraction(d), eps)
        slope = (1 - eta) * power - mu * (1 + eta)  # coefficient of R = rho^(|S|-d) >= 1
        constant = c0 * (1 - mu) + (Fraction((n - 2) * d, n - 1) / (2 * eps) - 1) * (1 - c0)
        if slope < 0 or slope <= constant:
            raise Rejected(f"the gap {d} fails: rho is too small, or eta or 1 - c0 too large")
    # Beyond `last`, mu(d+1)/mu(d) = 1 + 1/(d-2eps) decreases, and the constant decreases if c0 >= (1-c0)/(n-1).
    if 1 + 1 / (last - 2 * eps) > rho or constant > 0 or c0 * (n - 1) < 1 - c0:
        raise Rejected(f"witness.last: the growth from {last} on is not covered")
    return [f"B0 holds at gaps 1..{last}, and beyond by rho >= mu(d+1)/mu(d)"]


def upper_exponent(claim: UpperExponent, witness: object, used: Used) -> list[str]:
    """Sampled features for all m."""
    return _sampling_works(claim.n, claim.eps, claim.rho, claim.eta, witness)


def sampled(claim: HeadExists, witness: object, used: Used) -> list[str]:
    """Sampled features for one m: at most 2cm (2 - 1/rho)^m of them, c = 4/eta^2."""
    fields = record(witness, "witness", ["rho", "eta", "c0", "last"])
    rho, eta = number(fields["rho"], "witness.rho"), number(fields["eta"], "witness.eta")
    checked = _sampling_works(claim.n, claim.eps, rho, eta, {key: fields[key] for key in ("c0", "last")})
    base = 2 - 1 / rho
    Budget().charge(1, claim.m * base.denominator.bit_length() // 16)
    features = 8 * claim.m / eta**2 * base**claim.m
    if features >= claim.rank + 1:
        raise Rejected(f"the sample may have up to {shown(int(features))} features, the claim says {shown(claim.rank)}")
    return checked


def _class_row(
    blocks: list[int],
    sizes: tuple[int, ...],
    terms: list[tuple[list[int], list[int], int]],
    scale: list[int],
    budget: Budget,
) -> tuple[int, list[tuple[int, int]]]:
    """alpha(x,x), and (overlap, value) over all classes of tokens, for one class of queries. Where the polynomial
    does not depend on the w_i, the extremes of the scale over the possible |z| stand for all of them."""
    values, flat = [], not any(any(right) for _, right, _ in terms)
    outside = [b - h for b, h in zip(blocks, sizes, strict=True)]
    bits = max((sum(left) + sum(right) for left, right, _ in terms), default=0) * sum(blocks).bit_length()
    bits += max((q.bit_length() for _, _, q in terms), default=0) + max(s.bit_length() for s in scale)
    for ls in product(*(range(h + 1) for h in sizes)):
        parts = [(right, q * prod(map(pow, ls, left))) for left, right, q in terms]
        budget.charge(len(terms) // 4, bits // 4)
        level = sum(ls)
        if flat:
            base = sum(q for _, q in parts)
            scales = scale[level : level + sum(outside) + 1]
            values += [(level, base * min(scales)), (level, base * max(scales))]
        else:
            budget.charge(len(terms) * prod(r + 1 for r in outside) // 8, bits // 4)
            for rest in product(*(range(r + 1) for r in outside)):
                ws = [i + r for i, r in zip(ls, rest, strict=True)]
                values.append((level, scale[sum(ws)] * sum(q * prod(map(pow, ws, right)) for right, q in parts)))
    own = scale[sum(sizes)] * sum(
        q * prod(map(pow, sizes, left)) * prod(map(pow, sizes, right)) for left, right, q in terms
    )
    return own, values
