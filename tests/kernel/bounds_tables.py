# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of the bounds on the feature rank: layers, exponents, preferences, refuted sign patterns, explicit heads,
sampled features.

Layers and exponents come from the formulas of mathematics.md B2 and B3, heads are small enough to be written by hand,
and the refutation is found by `bounds_oracle.refute`. Certificates whose rule takes a theorem on trust are conditional.
"""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from proofcheck.kernel.rules.ranks import sign_clauses  # only for the order in which the axioms are numbered
from tests.kernel.bounds_oracle import (
    class_bound,
    family_bound,
    layer_bound,
    members,
    orbit_of,
    refute,
    strictly_above,
)
from tests.kernel.building import DELETE, HALF, IDENTIFIER, Fields, certificate, changed, data, use
from tests.kernel.lemma3_tables import symbolic
from tests.kernel.theorem_tables import by_cases

f = Fraction
QUARTER = f(1, 4)
STABLE = [0b00101, 0b01001, 0b01010, 0b10010, 0b10100]  # the 2-subsets of a pentagon that are no edges

# ------------------------------------------------------------------------------------------- lower bounds


def below(rule: str, m: int, n: int, eps: Fraction, value: int, witness: Fields) -> Fields:
    parameters = {"m": m, "n": n, "eps": eps, "value": value}
    return certificate("feature-rank", parameters, rule, witness, [by_cases("approximate-identity"), symbolic()])


def layer(
    m: int, n: int, eps: Fraction, size: int, h: int, least: int, q: Fraction, gaps: list[int], fewer: int = 0
) -> Fields:
    bound = layer_bound(n, eps, size, h, least, q, gaps)
    if isinstance(bound, str):
        raise ValueError(bound)
    witness = {"M": size, "weight": h, "distance": least, "q": q, "gaps": gaps}
    return below("layer", m, n, eps, math.ceil(bound) - fewer, witness)


def family(
    m: int, n: int, eps: Fraction, pairs: list[list[int]], permutations: list[list[int]], gaps: list[int], more: int = 0
) -> Fields:
    """The orbits of some pairs, with the largest value that they show, or `more` than that."""
    whole = [pair for x, y in pairs for pair in orbit_of((members(x), members(y)), permutations)]
    bound = family_bound(n, eps, gaps, whole)
    if isinstance(bound, str):
        raise ValueError(bound)
    witness = {"pairs": pairs, "permutations": permutations, "gaps": gaps}
    return below("family", m, n, eps, strictly_above(bound, len(whole)) + more, witness)


def of_words(m: int, words: list[int]) -> list[list[int]]:
    return [[word, 2**m - 1 - word] for word in words]


def sylvester(k: int) -> list[int]:
    """The 2 (2^k - 1) sets of half of 2^k elements on which a linear function of the k bits is 1, or 0."""
    rows = [sum(1 << e for e in range(2**k) if (e & i).bit_count() % 2) for i in range(1, 2**k)]
    return rows + [2 ** (2**k) - 1 - row for row in rows]


def dodecads(value: int = 21) -> Fields:
    """A word of weight 12 of the extended Golay code, the non-residues modulo 23 and others; generators of M24."""
    shift = [(e + 1) % 23 for e in range(23)] + [23]
    inverse = [23] + [-pow(e, -1, 23) % 23 for e in range(1, 23)] + [0]
    cubes = [e**3 * (18 if pow(e, 11, 23) == 1 else 9) % 23 for e in range(23)] + [23]
    word = sum(1 << e for e in range(1, 23) if pow(e, 11, 23) == 22) | 1 << 23
    witness = {"pairs": of_words(24, [word]), "permutations": [shift, inverse, cubes], "gaps": [2, 3, 4, 5, 6, 7]}
    return below("family", 24, 3, HALF, value, witness)


def residue_class(
    m: int, n: int, eps: Fraction, size: int, h: int, modulus: int, gaps: list[int], fewer: int = 0
) -> Fields:
    bound = class_bound(n, eps, size, h, modulus, gaps)
    if isinstance(bound, str):
        raise ValueError(bound)
    witness = {"M": size, "weight": h, "modulus": modulus, "gaps": gaps}
    return below("graham-sloane", m, n, eps, math.ceil(bound) - fewer, witness)


def shattered(m: int, n: int, eps: Fraction, queries: list[int], common: int = 0, value: int | None = None) -> Fields:
    """Disjoint pairs, each with the elements `common`, which all keys have too."""
    keys = []
    for pattern in range(1 << len(queries)):
        one = sum(x for j, x in enumerate(queries) if pattern >> j & 1)
        keys.append([one | common, sum(queries) - one | common])
    witness = {"queries": [x | common for x in queries], "keys": keys}
    return below("shattered", m, n, eps, len(queries) if value is None else value, witness)


def topological(m: int, n: int, eps: Fraction, value: int) -> Fields:
    return below("topological", m, n, eps, value, {})


@cache
def refutation() -> list[Any]:
    return refute(sign_clauses(STABLE, 2, 5)[1])


def unsat(m: int, n: int, eps: Fraction) -> Fields:
    witness = {"pairs": STABLE, "ground": 5, "proof": copy.deepcopy(refutation())}
    return below("unsat-lrat", m, n, eps, 3, witness)


def lower_exponent(
    n: int, eps: Fraction, a: Fraction, kappa: Fraction, gap: int, least: int, gaps: list[int]
) -> Fields:
    parameters = {"n": n, "eps": eps, "a": a, "kappa": kappa}
    witness = {"gap": gap, "distance": least, "gaps": gaps}
    uses = [by_cases("approximate-identity"), symbolic()]
    return certificate("lower-exponent", parameters, "lower-exponent", witness, uses)


# ------------------------------------------------------------------------------------------- upper bounds


def above(rule: str, m: int, n: int, eps: Fraction, rank: int, witness: Fields) -> Fields:
    uses = [by_cases("domination-sufficient")] + ([by_cases("softmin")] if rule == "class-head" else [])
    return certificate("head-exists", {"m": m, "n": n, "eps": eps, "rank": rank}, rule, witness, uses)


def table(m: int, n: int, eps: Fraction, queries: list[list[int]], keys: list[list[int]]) -> Fields:
    return above("table-head", m, n, eps, len(keys[0]), {"queries": queries, "keys": keys})


def softmin_table(m: int, n: int, eps: Fraction) -> Fields:
    """One feature a query: (n/eps)^(m - overlap)."""
    base = n / eps
    size = 1 << m
    queries = [[int(x == y) for y in range(size)] for x in range(size)]
    keys = [[int(base ** (m - (y & z).bit_count())) for y in range(size)] for z in range(size)]
    return table(m, n, eps, queries, keys)


Term = tuple[list[int], list[int], Any]


def terms(*listed: Term) -> list[Fields]:
    return [{"l": left, "w": right, "coefficient": q} for left, right, q in listed]


def class_head(
    n: int, eps: Fraction, rank: int, blocks: list[int], degrees: list[list[int]], scale: list[Any], polynomials: Fields
) -> Fields:
    witness = {"blocks": blocks, "degrees": degrees, "scale": scale, "polynomials": polynomials}
    return above("class-head", sum(blocks), n, eps, rank, witness)


def symmetric(m: int, own: Fraction, heaviest: int, weights: Any = 0) -> Fields:
    """alpha = own + h - l, which is right for h <= 4 and own < 4/3, at n = 3, eps = 1/2; heavier queries one-hot."""
    polynomials = {
        str(h): terms(([0], [0], own + h), ([1], [0], -1), *([([0], [1], weights)] if weights else []))
        for h in range(heaviest + 1)
    }
    rank = 1 + m + sum(math.comb(m, h) for h in range(heaviest + 1, m + 1))
    return class_head(3, HALF, rank, [m], [[0], [1]], [1] * (m + 1), polynomials)


def constant(m: int, base: Fraction) -> Fields:
    """Rank one: alpha = base^|z|."""
    polynomials = {str(h): terms(([0], [0], 1)) for h in range(m + 1)}
    return class_head(3, HALF, 1, [m], [[0]], [base**w for w in range(m + 1)], polynomials)


def two_blocks(a: int, b: int, degrees: list[list[int]], mixed: Fraction | None = None) -> Fields:
    """alpha = 1 + h - l over both blocks, and a small multiple of l_1 l_2."""
    polynomials = {
        f"{h},{k}": terms(
            ([0, 0], [0, 0], 1 + h + k),
            ([1, 0], [0, 0], -1),
            ([0, 1], [0, 0], -1),
            *([([1, 1], [0, 0], mixed)] if mixed else []),
        )
        for h, k in product(range(a + 1), range(b + 1))
    }
    rank = sum(math.comb(a, i) * math.comb(b, j) for i, j in degrees)
    return class_head(3, HALF, rank, [a, b], degrees, [1] * (a + b + 1), polynomials)


def hamming(m: int, n: int, eps: Fraction, base: Any, coefficients: list[Any], rank: int | None = None) -> Fields:
    """alpha = base^(|z|-|x|) times sum c_k C(d, k), d the Hamming distance."""
    counted = sum(math.comb(m, k) for k in range(len(coefficients)))
    witness = {"base": base, "coefficients": coefficients}
    return above("hamming-head", m, n, eps, counted if rank is None else rank, witness)


def hamming_edge(more: Fraction) -> Fields:
    """1 + c d with the scale (1/2)^|z| on four bits: the gap 4 needs f(4) 4^4 > 3 + 1, that is c > -15/16 and more; the
    gap 2 needs 4^2 min(f(2), f(3), f(4)) > max(f(0), f(1), f(2)) = 1 for c <= 1: 1 + 4c > 1, that is c > 0."""
    return hamming(4, 3, HALF, f(1, 2), [1, more])


def sampled(m: int, n: int, eps: Fraction, rho: Fraction, eta: Fraction, c0: Fraction, last: int) -> Fields:
    rank = math.floor(2 * (4 / eta**2) * m * (2 - 1 / rho) ** m)
    return above("sampled", m, n, eps, rank, {"rho": rho, "eta": eta, "c0": c0, "last": last})


def upper_exponent(n: int, eps: Fraction, rho: Fraction, eta: Fraction, c0: Fraction, last: int) -> Fields:
    parameters = {"n": n, "eps": eps, "rho": rho, "eta": eta}
    uses = [by_cases("domination-sufficient")]
    return certificate("upper-exponent", parameters, "upper-exponent", {"c0": c0, "last": last}, uses)


# -------------------------------------------------------------------------------------------------- tables


@cache
def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack below is a change of one of them."""
    many = [2, 3, 4, 5, 6, 7]
    return {
        "layer-24": layer(24, 3, HALF, 24, 12, 2, f(894785, 2**32), many),
        "layer-64": layer(64, 3, HALF, 64, 32, 2, f(137439, 140737488355328), many),
        "layer-24-one-fewer": layer(24, 3, HALF, 24, 12, 2, f(894785, 2**32), many, 1),
        "layer-single-gaps-only": layer(24, 3, HALF, 24, 12, 2, f(1, 5000), []),
        "layer-all-distances": layer(9, 4, QUARTER, 9, 4, 1, f(1), [1, 2]),
        "layer-on-more-bits": layer(50, 4, QUARTER, 9, 5, 1, f(1), [1, 2]),
        "layer-one-set": layer(3, 3, HALF, 3, 3, 1, f(1, 2), []),
        "layer-n18": layer(33, 18, HALF, 33, 16, 2, f(986895, 2**30), [2, 3]),
        "family-hadamard-8": family(8, 4, QUARTER, of_words(8, sylvester(3)), [], [1, 2]),
        "family-hadamard-16": family(16, 3, HALF, of_words(16, sylvester(4)), [], many),
        "family-two-words": family(4, 3, HALF, of_words(4, [0b0011, 0b1100]), [], []),
        "family-disjoint": family(72, 3, HALF, of_words(72, [255 << 8 * i for i in range(9)]), [], [2, 4]),
        "family-one-pair": family(3, 3, HALF, [[0b101, 0b101]], [], []),
        "family-fano": family(7, 4, QUARTER, of_words(7, [0b1011]), [[1, 2, 3, 4, 5, 6, 0]], [1, 2]),
        "family-fano-by-two": family(
            9, 4, QUARTER, of_words(7, [0b1011]), [[1, 2, 3, 4, 5, 6, 0], [0, 2, 4, 6, 1, 3, 5]], [1, 2]
        ),
        "family-two-orbits": family(
            8, 3, f(1, 10), of_words(8, [0b00001111, 0b00110101]), [[1, 2, 3, 4, 5, 6, 7, 0]], [1]
        ),
        "family-other-weights": family(8, 3, HALF, [[0b00000111, 0b00011001], [0b00011000, 0b11100111]], [], []),
        "family-of-single-gaps": family(16, 3, HALF, of_words(16, sylvester(4)), [], []),
        "family-fewer": family(16, 3, HALF, of_words(16, sylvester(4)), [], many, -3),
        "family-identity": family(4, 3, HALF, of_words(4, [0b0011, 0b1100]), [[], [0, 1, 2]], [2]),
        "graham-12": residue_class(12, 3, HALF, 12, 6, 12, many),
        "graham-10-n4": residue_class(11, 4, QUARTER, 10, 4, 7, [1, 2]),
        "graham-12-n3": residue_class(12, 3, QUARTER, 12, 6, 12, [1, 2, 3, 4, 5, 6]),
        "graham-one-class": residue_class(9, 4, QUARTER, 9, 4, 1, [1, 2]),
        "graham-one-set": residue_class(3, 3, HALF, 3, 3, 1, []),
        "graham-large-modulus": residue_class(8, 3, f(1, 10), 8, 3, 40, [1]),
        "graham-fewer": residue_class(12, 3, HALF, 12, 5, 12, many, 1),
        "lower-exponent-n3": lower_exponent(3, HALF, f(757859, 10**6), f(379, 125), 5, 2, many),
        "lower-exponent-n4": lower_exponent(4, QUARTER, f(408249, 10**6), f(3, 2), 2, 1, [1, 2]),
        "lower-exponent-weak": lower_exponent(3, HALF, f(9, 10), f(10), 4, 7, [2, 3]),
        "lower-exponent-kappa-one": lower_exponent(3, f(1, 10), QUARTER, f(1), 1, 1, [1]),
        "shattered-4": shattered(4, 3, HALF, [0b0011, 0b1100]),
        "shattered-7": shattered(7, 5, QUARTER, [0b0000011, 0b0001100, 0b1100000]),
        "shattered-fewer-than-the-queries": shattered(7, 3, HALF, [0b0000011, 0b0001100, 0b0110000], 0, 2),
        "shattered-single-bits": shattered(3, 3, QUARTER, [0b001, 0b010, 0b100]),
        "shattered-heavy-queries": shattered(6, 3, HALF, [0b000011, 0b001100], 0b110000),
        "topological-1": topological(1, 3, HALF, 1),
        "topological-4": topological(4, 3, HALF, 2),
        "topological-9": topological(9, 17, QUARTER, 7),
        "topological-9-fewer": topological(9, 3, HALF, 4),
        "topological-20000": topological(20_000, 3, HALF, 19_998),
        "unsat-5": unsat(5, 3, HALF),
        "unsat-9": unsat(9, 17, QUARTER),
        "table-rank-1-m2": table(2, 3, HALF, [[1]] * 4, [[17], [16], [16], [16]]),
        "table-rank-1-m3": table(3, 3, HALF, [[1]] * 8, [[[1000, 700, 490, 343][z.bit_count()]] for z in range(8)]),
        "table-softmin-m2-n5": softmin_table(2, 5, QUARTER),
        "table-zero-at-the-top": table(1, 3, HALF, [[1, 0], [0, 1]], [[1, 1], [0, 1]]),
        "class-constant-m3": constant(3, f(7, 10)),
        "class-symmetric-m4": symmetric(4, f(1), 4),
        "class-symmetric-m4-near-the-edge": symmetric(4, f(4 * 10**9 - 1, 3 * 10**9), 4),
        "class-with-weights-m4": symmetric(4, f(1), 4, f(1, 20)),
        "class-one-hot-above-3": symmetric(4, f(1), 3),
        "class-one-hot-m3-n7": class_head(7, f(1, 5), 8, [3], [], [1] * 4, {}),
        "class-two-blocks": two_blocks(2, 1, [[0, 0], [1, 0], [0, 1]]),
        "class-product-of-blocks": two_blocks(1, 2, [[1, 1], [0, 1], [1, 0], [0, 0]], f(1, 10)),
        "hamming-constant-m3": hamming(3, 3, HALF, f(7, 10), [1]),
        "hamming-constant-m1": hamming(1, 3, HALF, 1, [7]),
        "hamming-constant-m2-near-the-edge": hamming(2, 3, HALF, f(10**9 - 1, 10**9), [1]),
        "hamming-linear-m1-n9": hamming(1, 9, f(1, 10), f(1, 20), [1, f(3, 5)]),
        "hamming-linear-m4-near-the-edge": hamming_edge(f(1, 10**9)),
        "hamming-linear-m4": hamming(4, 3, HALF, f(3, 5), [f(2, 3), f(1, 3)]),
        "hamming-linear-m10": hamming(10, 3, HALF, f(3, 4), [1, f(17, 10)]),
        "hamming-quadratic-m4-n4": hamming(4, 4, f(1, 3), f(1, 5), [1, f(17, 5), f(9, 5)]),
        "hamming-quadratic-m12": hamming(12, 3, HALF, f(11, 20), [1, f(-1, 2), f(19, 10)]),
        "hamming-softmin-m3-n5": hamming(3, 5, QUARTER, f(1, 2), [1, 1, 1, 1]),
        "hamming-more-rank-than-needed": hamming(3, 3, HALF, f(7, 10), [1, 0], 7),
        "sampled-100": sampled(100, 3, HALF, f(1323, 1000), f(1, 256), f(65535, 65536), 20),
        "sampled-3-n4": sampled(3, 4, QUARTER, f(491, 200), f(1, 512), f(131071, 131072), 8),
        "upper-exponent-n3": upper_exponent(3, HALF, f(1323, 1000), f(1, 256), f(65535, 65536), 20),
        "upper-exponent-n18": upper_exponent(18, HALF, f(501, 125), f(1, 512), f(131071, 131072), 8),
    }


ASSUMED = {
    "topological": "the Borsuk-Ulam theorem",
    "sampled": "Bernstein's inequality",
    "upper-exponent": "Bernstein's inequality",
}


def accepted() -> dict[str, bytes]:
    return {name: data(fields) for name, fields in valid().items() if fields["rule"] not in ASSUMED}


def conditional() -> dict[str, tuple[bytes, str]]:
    """A theorem on trust, or something that was not supplied."""
    v = valid()
    table = {
        name: (fields, rf"^{ASSUMED[fields['rule']]}, a theorem of mathematics$")
        for name, fields in v.items()
        if fields["rule"] in ASSUMED
    }
    table["layer-on-nothing"] = (
        changed(v["layer-24"], ("uses/1/id", IDENTIFIER)),
        r"^certificate 0123456789ab \(gap-domination-symbolic\), which was not supplied",
    )
    table["one-hot-on-nothing"] = (
        changed(v["class-one-hot-m3-n7"], ("uses/1/id", IDENTIFIER)),
        r"^certificate 0123456789ab \(softmin\), which was not supplied",
    )
    table["sampled-on-nothing"] = (
        changed(v["sampled-100"], ("uses/0/id", IDENTIFIER)),
        r"^certificate 0123456789ab \(domination-sufficient\), which was not supplied",
    )
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def steps(fields: Fields, *proof: Any) -> Fields:
    return changed(fields, ("witness/proof", list(proof)))


def rejected() -> dict[str, tuple[bytes, str]]:
    v = valid()
    lay, flat, exponent = v["layer-64"], v["layer-all-distances"], v["lower-exponent-n3"]
    value = lay["parameters"]["value"]
    had, fano, two, other = v["family-hadamard-16"], v["family-fano"], v["family-two-words"], v["family-other-weights"]
    sloane, single = v["graham-12"], v["graham-one-class"]
    pairs, refuted, topology = v["shattered-7"], v["unsat-5"], v["topological-9"]
    one, soft = v["table-rank-1-m2"], v["table-softmin-m2-n5"]
    symm, hot, blocks = v["class-symmetric-m4"], v["class-one-hot-above-3"], v["class-two-blocks"]
    sample, limit = v["sampled-100"], v["upper-exponent-n3"]
    ham, ten, many = v["hamming-linear-m4"], v["hamming-linear-m10"], v["hamming-quadratic-m12"]
    proof = refuted["witness"]["proof"]
    last = len(proof) - 1
    near = 32 * 32  # sets at distance 1 of a 32-set of [64]
    above_one = f(1, near)
    symmetric_terms = symm["witness"]["polynomials"]
    table: dict[str, tuple[Fields, str]] = {
        # layers
        **{
            f"{name}-one-too-large": (
                changed(v[name], ("parameters/value", v[name]["parameters"]["value"] + 1)),
                rf"^the layer gives only r >= {v[name]['parameters']['value']}, not {v[name]['parameters']['value'] + 1}$",
            )
            for name in ("layer-24", "layer-64", "layer-single-gaps-only", "layer-all-distances", "layer-on-more-bits", "layer-one-set", "layer-n18")
        },
        "layer-binomial-of-one-more-element": (changed(lay, ("parameters/value", value * 65 // 33)), rf"^the layer gives only r >= {value}, not \d+$"),
        "layer-of-smaller-sets": (changed(lay, ("witness/weight", 31)), rf"^the layer gives only r >= \d+, not {value}$"),
        "layer-of-fewer-elements": (changed(flat, ("witness/M", 8)), r"^the layer gives only r >= \d+, not \d+$"),
        "layer-of-the-whole-set": (changed(lay, ("witness/weight", 64)), rf"^the layer gives only r >= 1, not {value}$"),
        "layer-distance-zero-binomial-forgotten": (changed(v["layer-one-set"], ("witness/weight", 2), ("parameters/value", 2)), r"^no chain of the listed gaps spans the distance 1$"),
        "layer-q-zero": (changed(lay, ("witness/q", 0)), r"^witness\.q: expected 0 < q <= 1 and q < 1/1024, got 0$"),
        "layer-q-negative": (changed(lay, ("witness/q", "-1/5000")), r"^witness\.q: expected 0 < q <= 1 and q < 1/1024, got '-1/5000'$"),
        "layer-q-at-one-over-V": (changed(lay, ("witness/q", f"{above_one}")), r"^witness\.q: expected 0 < q <= 1 and q < 1/1024, got '1/1024'$"),
        "layer-q-above-one-over-V": (changed(lay, ("witness/q", f"{above_one + f(1, 10**12)}")), r"^witness\.q: expected 0 < q <= 1 and q < 1/1024, got '\d+/\d+'$"),
        "layer-q-twice-one-over-V": (changed(lay, ("witness/q", "1/512")), r"^witness\.q: expected 0 < q <= 1 and q < 1/1024, got '1/512'$"),
        "layer-q-above-one": (changed(flat, ("witness/q", "1000001/1000000")), r"^witness\.q: expected 0 < q <= 1 and q < 1/0, got '1000001/1000000'$"),
        "layer-q-above-one-far": (changed(flat, ("witness/q", 10**9)), r"^witness\.q: expected 0 < q <= 1 and q < 1/0, got 1000000000$"),
        "layer-q-close-to-one-over-V": (changed(lay, ("witness/q", f"{above_one - f(1, 10**12)}")), rf"^the layer gives only r >= 1, not {value}$"),
        "layer-distance-not-admissible": (changed(lay, ("witness/distance", 1), ("witness/q", 1)), r"^no chain of the listed gaps spans the distance 1$"),
        "layer-distance-larger": (changed(lay, ("witness/distance", 3), ("witness/q", f"{f(1, 10**9)}")), rf"^the layer gives only r >= \d+, not {value}$"),
        "layer-distance-larger-than-q-allows": (changed(lay, ("witness/distance", 4), ("witness/q", "1/524288")), r"^witness\.q: expected 0 < q <= 1 and q < 1/\d+, got '1/524288'$"),
        "layer-gap-below-the-least": (changed(lay, ("witness/gaps", [1, 2, 3])), r"^witness\.gaps: 1 is below the least admissible gap 2$"),
        "layer-gap-just-below-the-least": (changed(flat, ("parameters/eps", "1/2"), ("witness/gaps", [1])), r"^witness\.gaps: 1 is below the least admissible gap 3/2$"),
        "layer-gaps-left-out": (changed(lay, ("witness/gaps", [])), rf"^the layer gives only r >= \d+, not {value}$"),
        "layer-best-gaps-left-out": (changed(lay, ("witness/gaps", [2, 7])), rf"^the layer gives only r >= \d+, not {value}$"),
        "layer-factor-of-a-larger-n": (changed(v["layer-n18"], ("parameters/n", 17)), r"^the layer gives only r >= \d+, not \d+$"),
        "layer-factor-of-a-smaller-eps": (changed(flat, ("parameters/eps", "2/7")), r"^the layer gives only r >= \d+, not \d+$"),
        "layer-of-another-claim": (changed(exponent, ("rule", "layer")), r"^rule layer shows an? FeatureRank statement, and this claim is of the shape LowerExponent$"),
        "layer-without-lemma-3": (changed(lay, ("uses", lay["uses"][:1])), r"^uses: this claim rests on approximate-identity, gap-domination-symbolic; listed: approximate-identity$"),
        "layer-with-a-code": (changed(lay, ("uses", v["unsat-5"]["uses"] + [use(v["class-constant-m3"])])), r"^uses: this claim rests on approximate-identity, gap-domination-symbolic; listed: "),
        # families of pairs
        **{
            f"{name}-one-too-large": (
                changed(v[name], ("parameters/value", v[name]["parameters"]["value"] + 1)),
                rf"^{len(v[name]['witness']['pairs']) if not v[name]['witness']['permutations'] else '(7|16|2)'} pairs give only r >= {v[name]['parameters']['value']}, not {v[name]['parameters']['value'] + 1}$",
            )
            for name in ("family-hadamard-8", "family-hadamard-16", "family-two-words", "family-one-pair", "family-fano", "family-fano-by-two", "family-two-orbits", "family-other-weights", "family-of-single-gaps", "family-identity")
        },
        "family-as-many-as-the-pairs": (changed(had, ("parameters/value", 30)), r"^30 pairs give only r >= 8, not 30$"),
        "family-huge-value": (changed(had, ("parameters/value", 10**900)), r"^30 pairs give only r >= 8, not an integer of 2990 bits$"),
        "family-empty": (changed(had, ("witness/pairs", []), ("parameters/value", 1)), r"^0 pairs give only r >= 1, not 1$"),
        "family-empty-with-permutations": (changed(fano, ("witness/pairs", []), ("parameters/value", 2)), r"^0 pairs give only r >= 1, not 2$"),
        "family-pair-repeated": (changed(had, ("witness/pairs/29", had["witness"]["pairs"][3])), r"^witness\.pairs\[29\]: the pair repeats an earlier one, or lies in its orbit$"),
        "family-pair-of-an-earlier-orbit": (changed(fano, ("witness/pairs", of_words(7, [0b1011, 0b10110]))), r"^witness\.pairs\[1\]: the pair repeats an earlier one, or lies in its orbit$"),
        "family-all-of-the-orbit-listed": (changed(fano, ("witness/pairs", of_words(7, [0b1011, 0b10110, 0b101100]))), r"^witness\.pairs\[1\]: the pair repeats an earlier one, or lies in its orbit$"),
        "family-one-pair-seven-times": (changed(fano, ("witness/permutations", []), ("witness/pairs", of_words(7, [0b1011] * 7))), r"^witness\.pairs\[1\]: the pair repeats an earlier one, or lies in its orbit$"),
        "family-query-repeated": (changed(two, ("witness/pairs", [[0b0011, 0b1100], [0b0011, 0b0100]])), r"^witness\.pairs\[0\]: another key overlaps its query in 0 <= 0, as its own$"),
        "family-key-repeated": (changed(two, ("witness/pairs", [[0b0011, 0b1100], [0b1001, 0b1100]])), r"^witness\.pairs\[0\]: another key overlaps its query in 0 <= 0, as its own$"),
        "family-query-and-key-exchanged": (changed(other, ("witness/pairs/1", [0b11100111, 0b00011000])), r"^witness\.pairs\[0\]: another key overlaps its query in 0 <= 1, as its own$"),
        "family-key-is-the-query": (changed(had, ("witness/pairs/0/1", had["witness"]["pairs"][0][0])), r"^witness\.pairs\[0\]: another key overlaps its query in \d <= 8, as its own$"),
        "family-only-one-direction": (changed(other, ("witness/pairs/1", [0b00111100, 0b11100111])), r"^witness\.pairs\[1\]: another key overlaps its query in 2 <= 2, as its own$"),
        "family-distance-one": (changed(two, ("witness/pairs", of_words(4, [0b0011, 0b0110]))), r"^no chain of the listed gaps spans the distance 1$"),
        "family-one-pair-at-distance-one": (changed(had, ("witness/pairs", [*had["witness"]["pairs"], *of_words(16, [sylvester(4)[0] ^ 0b11])])), r"^no chain of the listed gaps spans the distance 1$"),
        "family-one-direction-at-distance-one": (changed(other, ("witness/pairs/1/1", 0b10100011)), r"^no chain of the listed gaps spans the distance 1$"),
        "family-one-word-fewer": (changed(v["family-hadamard-8"], ("witness/pairs", v["family-hadamard-8"]["witness"]["pairs"][:13])), r"^13 pairs give only r >= 10, not 11$"),
        "family-gap-not-admissible": (changed(had, ("witness/gaps", [1, 2])), r"^witness\.gaps: 1 is below the least admissible gap 2$"),
        "family-gap-not-admissible-at-a-smaller-n": (changed(fano, ("parameters/n", 3), ("parameters/eps", "1/2")), r"^witness\.gaps: 1 is below the least admissible gap 2$"),
        "family-gaps-left-out": (changed(v["family-disjoint"], ("witness/gaps", [])), r"^9 pairs give only r >= 8, not 9$"),
        "family-factor-of-a-larger-eps": (changed(fano, ("parameters/eps", "1/3")), r"^7 pairs give only r >= \d, not 7$|^witness\.gaps: 1 is below"),
        "family-permutation-left-out": (changed(fano, ("witness/permutations", [])), r"^1 pairs give only r >= 1, not 7$"),
        "family-permutation-not-of-the-design": (changed(fano, ("witness/permutations", [[1, 2, 3, 0, 5, 6, 4]])), r"^\d+ pairs give only r >= \d, not 7$|^no chain|^witness\.pairs\[0\]: another key overlaps"),
        "family-permutation-repeats-an-image": (changed(fano, ("witness/permutations/0/6", 1)), r"^witness\.permutations\[0\]: expected each of 0\.\.6 once$"),
        "family-permutation-of-other-elements": (changed(v["family-fano-by-two"], ("witness/permutations/0/6", 8)), r"^witness\.permutations\[0\]: expected each of 0\.\.6 once$"),
        "family-permutation-from-one": (changed(fano, ("parameters/m", 8), ("witness/permutations/0", [2, 3, 4, 5, 6, 7, 1])), r"^witness\.permutations\[0\]: expected each of 0\.\.6 once$"),
        "family-permutation-too-long": (changed(v["family-fano-by-two"], ("witness/permutations/0", [1, 2, 3, 4, 5, 6, 0, 0])), r"^witness\.permutations\[0\]: expected each of 0\.\.7 once$"),
        "family-without-lemma-3": (changed(had, ("uses", had["uses"][:1])), r"^uses: this claim rests on approximate-identity, gap-domination-symbolic; listed: approximate-identity$"),
        "family-of-another-claim": (changed(exponent, ("rule", "family")), r"^rule family shows an? FeatureRank statement, and this claim is of the shape LowerExponent$"),
        # Graham-Sloane classes
        **{
            f"{name}-one-too-large": (
                changed(v[name], ("parameters/value", v[name]["parameters"]["value"] + 1)),
                rf"^the classes give only r >= {v[name]['parameters']['value']}, not {v[name]['parameters']['value'] + 1}$",
            )
            for name in ("graham-12", "graham-10-n4", "graham-one-class", "graham-one-set", "graham-large-modulus")
        },
        "graham-all-classes-at-once": (changed(sloane, ("witness/modulus", 1)), r"^no chain of the listed gaps spans the distance 1$"),
        "graham-modulus-one-smaller": (changed(sloane, ("witness/modulus", 11)), r"^no chain of the listed gaps spans the distance 1$"),
        "graham-modulus-larger": (changed(sloane, ("witness/modulus", 40)), r"^the classes give only r >= 2, not 3$"),
        "graham-smaller-sets": (changed(sloane, ("witness/weight", 4)), r"^the classes give only r >= 2, not 3$"),
        "graham-fewer-elements": (changed(sloane, ("witness/M", 11)), r"^no chain of the listed gaps|^the classes give only r >= 2, not 3$"),
        "graham-the-whole-set": (changed(sloane, ("witness/weight", 12)), r"^the classes give only r >= 1, not 3$"),
        "graham-gap-not-admissible": (changed(sloane, ("witness/gaps", [1])), r"^witness\.gaps: 1 is below the least admissible gap 2$"),
        "graham-gaps-left-out": (changed(v["graham-12-n3"], ("witness/gaps", [])), r"^the classes give only r >= 15, not 16$"),
        "graham-larger-eps": (changed(single, ("parameters/eps", "2/7")), r"^the classes give only r >= \d+, not 16$"),
        "graham-without-lemma-3": (changed(sloane, ("uses", sloane["uses"][:1])), r"^uses: this claim rests on approximate-identity, gap-domination-symbolic; listed: approximate-identity$"),
        # exponents for all m
        "exponent-kappa-below-one": (changed(v["lower-exponent-kappa-one"], ("parameters/kappa", "999999/1000000")), r"^expected kappa >= 1 \(the term of the distance 0\), got 999999/1000000$"),
        "exponent-kappa-slightly-too-small": (changed(exponent, ("parameters/kappa", "378/125")), r"^kappa is too small at the distance 2: kappa a\^\(2D\) < w\(D\)\^-2$"),
        "exponent-kappa-one": (changed(exponent, ("parameters/kappa", 1)), r"^kappa is too small at the distance 1: kappa a\^\(2D\) < w\(D\)\^-2$"),
        "exponent-a-slightly-too-small": (changed(exponent, ("parameters/a", "378929/500000")), r"^expected a < 1 and a\^5 mu\(5\) >= 1$"),
        "exponent-a-of-a-better-gap": (changed(exponent, ("parameters/a", "3/4")), r"^expected a < 1 and a\^5 mu\(5\) >= 1$"),
        "exponent-a-one": (changed(exponent, ("parameters/a", 1)), r"^expected a < 1 and a\^5 mu\(5\) >= 1$"),
        "exponent-a-above-one": (changed(exponent, ("parameters/a", "1000001/1000000")), r"^expected a < 1 and a\^5 mu\(5\) >= 1$"),
        "exponent-a-reciprocal": (changed(v["lower-exponent-kappa-one"], ("parameters/a", 4)), r"^expected a < 1 and a\^1 mu\(1\) >= 1$"),
        "exponent-other-gap": (changed(exponent, ("witness/gap", 4)), r"^expected a < 1 and a\^4 mu\(4\) >= 1$"),
        "exponent-gap-not-admissible": (changed(exponent, ("witness/gap", 1)), r"^witness\.gap: 1 is below the least admissible gap 2$"),
        "exponent-listed-gap-not-admissible": (changed(exponent, ("witness/gaps", [1])), r"^witness\.gaps: 1 is below the least admissible gap 2$"),
        "exponent-distance-not-admissible": (changed(exponent, ("witness/distance", 1)), r"^no chain of the listed gaps spans the distance 1$"),
        "exponent-distance-far": (changed(exponent, ("witness/distance", 9)), r"^kappa is too small at the distance 3: "),
        "exponent-gaps-left-out": (changed(lower_exponent(3, HALF, f(757859, 10**6), f(379, 125), 5, 2, []), ("witness/distance", 8)), r"^kappa is too small at the distance 3: "),
        "exponent-other-eps": (changed(v["lower-exponent-n4"], ("parameters/eps", "1/3")), r"^expected a < 1 and a\^2 mu\(2\) >= 1$"),
        "exponent-other-n": (changed(v["lower-exponent-n4"], ("parameters/n", 3)), r"^expected a < 1 and a\^2 mu\(2\) >= 1$"),
        "exponent-upper-by-lower": (changed(limit, ("rule", "lower-exponent")), r"^rule lower-exponent shows an? LowerExponent statement, and this claim is of the shape UpperExponent$"),
        "exponent-without-lemma-4": (changed(exponent, ("uses", exponent["uses"][1:])), r"^uses: this claim rests on approximate-identity, gap-domination-symbolic; listed: gap-domination-symbolic$"),
        # shattered queries
        "shattered-one-more-than-the-queries": (changed(pairs, ("parameters/value", 4)), r"^3 queries and 8 pairs of keys do not show 4 features$"),
        "shattered-pattern-missing": (changed(pairs, ("witness/keys", pairs["witness"]["keys"][:7])), r"^3 queries and 7 pairs of keys do not show 3 features$"),
        "shattered-pattern-too-many": (changed(pairs, ("witness/keys", [*pairs["witness"]["keys"], [0, 0]])), r"^3 queries and 9 pairs of keys do not show 3 features$"),
        "shattered-no-queries": (changed(pairs, ("parameters/value", 1), ("witness", {"queries": [], "keys": [[0, 0]]})), r"^0 queries and 1 pairs of keys do not show 1 features$"),
        "shattered-no-keys": (changed(pairs, ("witness/keys", [])), r"^3 queries and 0 pairs of keys do not show 3 features$"),
        "shattered-pattern-twice": (changed(pairs, ("witness/keys/3", pairs["witness"]["keys"][2])), r"^witness\.keys\[3\]: query 0 is not forced"),
        "shattered-patterns-exchanged": (
            changed(pairs, ("witness/keys/1", pairs["witness"]["keys"][2]), ("witness/keys/2", pairs["witness"]["keys"][1])),
            r"^witness\.keys\[1\]: query 0 is not forced to prefer one of the two keys as the pattern says$",
        ),
        "shattered-keys-exchanged": (changed(pairs, ("witness/keys/5", pairs["witness"]["keys"][5][::-1])), r"^witness\.keys\[5\]: query 0 is not forced"),
        "shattered-gap-of-one": (changed(pairs, ("witness/keys/7/0", 0b1101110), ("parameters/eps", "1/2")), r"^witness\.keys\[7\]: query 0 is not forced"),
        "shattered-gap-of-zero": (changed(pairs, ("witness/keys/6", [0b1101100, 0b1101100])), r"^witness\.keys\[6\]: query 0 is not forced"),
        "shattered-wrong-key": (changed(pairs, ("witness/keys/0/1", 0b1001111), ("parameters/eps", "1/2")), r"^witness\.keys\[0\]: query 2 is not forced"),
        "shattered-repeated-query": (changed(pairs, ("witness/queries/1", 0b11)), r"^witness\.keys\[1\]: query 1 is not forced"),
        "shattered-overlapping-queries": (changed(pairs, ("witness/queries/1", 0b110)), r"^witness\.keys\[1\]: query 1 is not forced"),
        "shattered-query-of-one-element": (changed(pairs, ("witness/queries/2", 0b100000), ("parameters/eps", "1/2")), r"^witness\.keys\[0\]: query 2 is not forced"),
        "shattered-empty-query": (changed(pairs, ("witness/queries/0", 0)), r"^witness\.keys\[0\]: query 0 is not forced"),
        "shattered-single-bits-at-one-half": (changed(v["shattered-single-bits"], ("parameters/eps", "1/2")), r"^witness\.keys\[0\]: query 0 is not forced"),
        "shattered-single-bits-just-above-the-edge": (changed(v["shattered-single-bits"], ("parameters/eps", "250000001/1000000000")), r"^witness\.keys\[0\]: query 0 is not forced"),
        "shattered-thirteen-queries": (changed(pairs, ("witness/queries", [3] * 13)), r"^13 queries and 8 pairs of keys do not show 3 features$"),
        "shattered-with-a-code": (changed(pairs, ("rule", "amplification")), r"^uses: this claim rests on approximate-identity, chain, code; listed: approximate-identity, gap-domination-symbolic$"),
        # topological
        "topological-m-minus-one": (changed(topology, ("parameters/value", 8)), r"^the argument gives r >= 7, not 8$"),
        "topological-m": (changed(topology, ("parameters/value", 9)), r"^the argument gives r >= 7, not 9$"),
        "topological-20000-m-minus-one": (changed(v["topological-20000"], ("parameters/value", 19_999)), r"^the argument gives r >= 19998, not 19999$"),
        "topological-m-too-small": (changed(topology, ("parameters/m", 8)), r"^the argument gives r >= 6, not 7$"),
        "topological-m-two": (changed(v["topological-1"], ("parameters/m", 2), ("parameters/value", 2)), r"^the argument gives r >= 0, not 2$"),
        "topological-m-three": (changed(v["topological-1"], ("parameters/m", 3), ("parameters/value", 2)), r"^the argument gives r >= 1, not 2$"),
        "topological-m-one": (changed(v["topological-1"], ("parameters/value", 2)), r"^the argument gives r >= -1, not 2$"),
        "topological-for-a-head": (changed(one, ("rule", "topological"), ("witness", {}), ("uses", topology["uses"])), r"^uses: this claim rests on domination-sufficient, gap-domination-symbolic; listed: "),
        # refuted sign patterns
        "unsat-value-too-large": (changed(refuted, ("parameters/value", 4)), r"^witness\.proof\[0\]: the "),
        "unsat-value-far-too-large": (changed(refuted, ("parameters/value", 6)), r"^witness\.pairs: expected more than 5 and at most 15 distinct pairs of \[5\]$"),
        "unsat-value-two": (changed(refuted, ("parameters/value", 2)), r"^witness\.pairs: expected more than 1 and at most 15 distinct pairs"),
        "unsat-value-one": (changed(refuted, ("parameters/value", 1)), r"^witness\.pairs: expected more than 0 and at most 15 distinct pairs"),
        "unsat-hint-missing": (changed(refuted, ("witness/proof/0/1", proof[0][1][1:])), r"^witness\.proof\[0\]: the (clause of hint \d+ is neither unit nor false|hints lead to no conflict)"),
        "unsat-last-hint-missing": (changed(refuted, ("witness/proof/0/1", proof[0][1][:-1])), r"^witness\.proof\[0\]: the hints lead to no conflict$"),
        "unsat-no-hints": (changed(refuted, (f"witness/proof/{last}/1", [])), rf"^witness\.proof\[{last}\]: the hints lead to no conflict$"),
        "unsat-hints-reversed": (changed(refuted, ("witness/proof/0/1", proof[0][1][::-1])), r"^witness\.proof\[0\]: the clause of hint \d+ is neither unit nor false"),
        "unsat-hint-after-the-conflict": (changed(refuted, ("witness/proof/0/1", [*proof[0][1], proof[0][1][0]])), r"^witness\.proof\[0\]: the clause of hint \d+ is neither unit nor false, or follows the conflict$"),
        "unsat-last-hint-repeated": (changed(refuted, ("witness/proof/0/1", [*proof[0][1], proof[0][1][-1]])), r"^witness\.proof\[0\]: the clause of hint \d+ is neither unit nor false, or follows the conflict$"),
        "unsat-one-hint-again-and-again": (changed(refuted, ("witness/proof/0/1", [proof[0][1][0]] * 3)), r"^witness\.proof\[0\]: the hints lead to no conflict$"),
        "unsat-another-hint": (changed(refuted, ("witness/proof/0/1/0", 1)), r"^witness\.proof\[0\]: the "),
        "unsat-literal-dropped": (changed(refuted, ("witness/proof/0/0", proof[0][0][1:])), r"^witness\.proof\[0\]: the "),
        "unsat-literal-negated": (changed(refuted, ("witness/proof/0/0/0", -proof[0][0][0])), r"^witness\.proof\[\d+\]: the "),
        "unsat-no-steps": (steps(refuted), r"^the proof does not end with the empty clause$"),
        "unsat-empty-clause-missing": (steps(refuted, *proof[:-1]), r"^the proof does not end with the empty clause$"),
        "unsat-step-after-the-empty-clause": (steps(refuted, *proof, [[1], [len(sign_clauses(STABLE, 2, 5)[1]) + len(proof)]]), r"^the proof does not end with the empty clause$"),
        "unsat-empty-clause-at-once": (steps(refuted, [[], [1]]), r"^witness\.proof\[0\]: the clause of hint 1 is neither unit nor false"),
        "unsat-empty-clause-without-hints": (steps(refuted, [[], []]), r"^witness\.proof\[0\]: the hints lead to no conflict$"),
        "unsat-one-axiom-as-a-step": (steps(refuted, *proof[:-1], [sign_clauses(STABLE, 2, 5)[1][0], [1]]), r"^the proof does not end with the empty clause$"),
        "unsat-pair-repeated": (changed(refuted, ("witness/pairs", [*STABLE[:4], STABLE[0]])), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[5\]$"),
        "unsat-pair-of-one-element": (changed(refuted, ("witness/pairs/0", 1)), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[5\]$"),
        "unsat-pair-of-three-elements": (changed(refuted, ("witness/pairs/4", 0b11100)), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[5\]$"),
        "unsat-empty-pair": (changed(refuted, ("witness/pairs/2", 0)), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[5\]$"),
        "unsat-too-few-pairs": (changed(refuted, ("witness/pairs", STABLE[:2])), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[5\]$"),
        "unsat-sixteen-pairs": (changed(v["unsat-9"], ("witness/ground", 9), ("witness/pairs", [1 | 2 << i for i in range(8)] + [2 | 4 << i for i in range(7)] + [12])), r"^witness\.pairs: expected more than 2 and at most 15 distinct pairs of \[9\]$"),
        "unsat-another-pair": (changed(refuted, ("witness/pairs/0", 0b00011)), r"^witness\.proof\[\d+\]: the "),
        "unsat-pairs-in-another-order": (changed(refuted, ("witness/pairs", STABLE[::-1])), r"^witness\.proof\[\d+\]: the "),
        "unsat-for-an-exponent": (changed(exponent, ("rule", "unsat-lrat")), r"^rule unsat-lrat shows an? FeatureRank statement, and this claim is of the shape LowerExponent$"),
        # tables of features
        "table-one-key-nudged": (changed(one, ("witness/keys/0", [16])), r"^query 11: overlaps 0, 2 with values 16, 16 violate B0$"),
        "table-one-query-nudged": (changed(v["table-zero-at-the-top"], ("witness/queries/0", [0, 0])), r"^query 0: alpha\(x,x\) = 0, least value 0 at overlap 0: some is not positive$"),
        "table-one-key-raised": (changed(one, ("witness/keys/3", [17])), r"^query 11: overlaps 0, 2 with values 17, 17 violate B0$"),
        "table-negative-value": (changed(one, ("witness/keys/3", [-1])), r"^query 0: alpha\(x,x\) = 17, least value -1 at overlap 0: some is not positive$"),
        "table-negative-query": (changed(one, ("witness/queries/3", [-1])), r"^query 11: alpha\(x,x\) = -16, least value -17 at overlap 0: some is not positive$"),
        "table-zero-below-the-top": (changed(v["table-zero-at-the-top"], ("witness/keys/0", [1, 0])), r"^query 1: alpha\(x,x\) = 1, least value 0 at overlap 0: some is not positive$"),
        "table-zero-self": (changed(soft, ("witness/queries/2", [0] * 4)), r"^query 10: alpha\(x,x\) = 0, least value 0 at overlap 0: some is not positive$"),
        "table-m3-one-key-nudged": (changed(v["table-rank-1-m3"], ("witness/keys/7", [400])), r"^query 111: overlaps 0, 3 with values 1000, 400 violate B0$"),
        "table-m3-at-equality": (changed(v["table-rank-1-m3"], ("witness/keys/0", [1000]), ("witness/keys/7", [400])), r"^query 111: overlaps 0, 3 with values 1000, 400 violate B0$"),
        "table-softmin-entry-nudged": (changed(soft, ("witness/keys/0/3", 9)), r"^query 11: overlaps 0, 1 with values 9, 20 violate B0$"),
        "table-longer-sequences": (changed(one, ("parameters/n", 4)), r"^query 11: overlaps 0, 2 with values 17, 16 violate B0$"),
        "table-smaller-eps": (changed(one, ("parameters/eps", "1/3")), r"^query 11: overlaps 0, 2 with values 17, 16 violate B0$"),
        "table-softmin-much-longer": (changed(soft, ("parameters/n", 100)), r"^query 1: overlaps 0, 1 with values 400, 20 violate B0$"),
        "table-row-too-long": (changed(one, ("witness/keys/2", [16, 0])), r"^witness\.keys\[2\]: expected 1 features, got 2$"),
        "table-row-empty": (changed(one, ("witness/queries/1", [])), r"^witness\.queries\[1\]: expected 1 features, got 0$"),
        "table-row-too-short": (changed(soft, ("witness/keys/1", [20, 1, 20])), r"^witness\.keys\[1\]: expected 4 features, got 3$"),
        "table-all-rows-longer": (changed(one, ("witness/keys", [[q, 1] for q in (17, 16, 16, 16)]), ("witness/queries", [[1, 0]] * 4)), r"^witness\.queries\[0\]: expected 1 features, got 2$"),
        "table-rank-one-fewer": (changed(soft, ("parameters/rank", 3)), r"^witness\.queries\[0\]: expected 3 features, got 4$"),
        "table-rank-one-more": (changed(soft, ("parameters/rank", 5)), r"^witness\.queries\[0\]: expected 5 features, got 4$"),
        "table-query-missing": (changed(one, ("witness/queries", [[1]] * 3)), r"^witness\.queries: expected 4 rows, got 3$"),
        "table-key-too-many": (changed(one, ("witness/keys", [[17], [16], [16], [16], [16]])), r"^witness\.keys: expected 4 rows, got 5$"),
        "table-no-keys": (changed(one, ("witness/keys", [])), r"^witness\.keys: expected 4 rows, got 0$"),
        "table-of-fewer-bits": (changed(one, ("parameters/m", 3)), r"^witness\.queries: expected 8 rows, got 4$"),
        "table-with-softmin": (changed(one, ("uses", hot["uses"])), r"^uses: this claim rests on domination-sufficient; listed: domination-sufficient, softmin$"),
        "table-for-a-rank-from-below": (changed(lay, ("rule", "table-head")), r"^uses: this claim rests on approximate-identity; listed: approximate-identity, gap-domination-symbolic$"),
        # classes
        "class-at-equality": (symmetric(4, f(4, 3), 4), r"^query 4: overlaps 0, 3 with values 16, 7 violate B0$|^query 4: overlaps 0, [34] with values \d+, \d+ violate B0$"),
        "class-coefficient-nudged": (changed(symm, ("witness/polynomials/4/0/coefficient", "16/3")), r"^query 4: overlaps 0, \d with values \d+, \d+ violate B0$"),
        "class-slope-nudged": (changed(symm, ("witness/polynomials/4/1/coefficient", "-3/4")), r"^query 4: overlaps 0, \d with values \d+, \d+ violate B0$"),
        "class-slope-reversed": (changed(symm, ("witness/polynomials/2/1/coefficient", 1)), r"^query 2: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-zero-at-the-top": (changed(symm, ("witness/polynomials/3/0/coefficient", 3)), r"^query 3: alpha\(x,x\) = 0, least value 3 at overlap 0: some is not positive$"),
        "class-negative-at-the-top": (changed(symm, ("witness/polynomials/3/0/coefficient", "5/2")), r"^query 3: alpha\(x,x\) = -1, least value 5 at overlap 0: some is not positive$"),
        "class-one-weight-nudged": (changed(symm, ("witness/scale/4", 3)), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-one-weight-lowered": (changed(symm, ("witness/scale/0", "1/2")), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-weights-too-strong": (symmetric(4, f(1), 4, f(1)), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-weight-coefficient-negative": (symmetric(4, f(1), 4, f(-1)), r"^query \d: alpha\(x,x\) = \S+ least value -?\d+ at overlap \d: some is not positive$"),
        "class-rank-understated": (changed(symm, ("parameters/rank", 4)), r"^the head has 5 features, the claim says 4$"),
        "class-rank-understated-one-hot": (changed(hot, ("parameters/rank", 5)), r"^the head has 6 features, the claim says 5$"),
        "class-rank-understated-all-one-hot": (changed(v["class-one-hot-m3-n7"], ("parameters/rank", 7)), r"^the head has 8 features, the claim says 7$"),
        "class-rank-understated-blocks": (changed(v["class-product-of-blocks"], ("parameters/rank", 5)), r"^the head has 6 features, the claim says 5$"),
        "class-rank-of-a-dropped-polynomial": (changed(symm, ("witness/polynomials/2", DELETE)), r"^the head has 11 features, the claim says 5$"),
        "class-no-polynomials": (changed(symm, ("witness/polynomials", {})), r"^the head has 21 features, the claim says 5$"),
        "class-degree-without-its-neighbour": (changed(symm, ("witness/degrees", [[1]])), r"^witness\.degrees: \[1\] is listed without its smaller neighbour in place 0$"),
        "class-degree-two-without-one": (changed(symm, ("witness/degrees", [[0], [2]])), r"^witness\.degrees: \[2\] is listed without its smaller neighbour in place 0$"),
        "class-product-without-one-factor": (changed(v["class-product-of-blocks"], ("witness/degrees", [[1, 1], [0, 1], [0, 0]])), r"^witness\.degrees: \[1, 1\] is listed without its smaller neighbour in place 1$"),
        "class-product-without-one": (changed(v["class-product-of-blocks"], ("witness/degrees", [[1, 1], [0, 1], [1, 0]])), r"^witness\.degrees: \[\d, \d\] is listed without its smaller neighbour in place \d$"),
        "class-degree-not-listed": (changed(symm, ("witness/degrees", [[0]])), r"^witness\.polynomials\.0\[1\]: the degrees \[\[1\], \[0\]\] are not among the listed ones$"),
        "class-no-degrees": (changed(symm, ("witness/degrees", [])), r"^witness\.polynomials\.0\[0\]: the degrees \[\[0\], \[0\]\] are not among the listed ones$"),
        "class-overlap-times-weight": (changed(symm, ("witness/polynomials/1/1/w", [1])), r"^witness\.polynomials\.1\[1\]: the degrees \[\[1\], \[1\]\] are not among the listed ones$"),
        "class-power-of-the-weight": (changed(v["class-with-weights-m4"], ("witness/polynomials/4/2/w", [2])), r"^witness\.polynomials\.4\[2\]: the degrees \[\[0\], \[2\]\] are not among the listed ones$"),
        "class-product-in-a-sum-of-blocks": (changed(blocks, ("witness/polynomials/1,1/1/l", [1, 1])), r"^witness\.polynomials\.1,1\[1\]: the degrees \[\[1, 1\], \[0, 0\]\] are not among the listed ones$"),
        "class-one-exponent-for-two-blocks": (changed(blocks, ("witness/polynomials/1,1/1/l", [1])), r"^witness\.polynomials\.1,1\[1\]: the degrees \[\[1\], \[0, 0\]\] are not among the listed ones$"),
        "class-one-weight-for-two-blocks": (changed(blocks, ("witness/polynomials/1,1/1/w", [0])), r"^witness\.polynomials\.1,1\[1\]: the degrees \[\[1, 0\], \[0\]\] are not among the listed ones$"),
        "class-that-does-not-exist": (changed(symm, ("witness/polynomials/5", symmetric_terms["4"])), r"^witness\.polynomials: '5' is no class of queries$"),
        "class-of-negative-weight": (changed(symm, ("witness/polynomials/-1", symmetric_terms["0"])), r"^witness\.polynomials: '-1' is no class of queries$"),
        "class-with-a-leading-zero": (changed(symm, ("witness/polynomials/04", symmetric_terms["4"])), r"^witness\.polynomials: '04' is no class of queries$"),
        "class-of-another-block": (changed(blocks, ("witness/polynomials/1,2", blocks["witness"]["polynomials"]["1,1"])), r"^witness\.polynomials: '1,2' is no class of queries$"),
        "class-with-a-space": (changed(blocks, ("witness/polynomials/1, 1", blocks["witness"]["polynomials"]["1,1"])), r"^witness\.polynomials: '1, 1' is no class of queries$"),
        "class-empty-polynomial": (changed(symm, ("witness/polynomials/2", [])), r"^query 2: alpha\(x,x\) = 0, least value 0 at overlap 0: some is not positive$"),
        "class-zero-polynomial": (changed(symm, ("witness/polynomials/0", terms(([0], [0], 0)))), r"^query 0: alpha\(x,x\) = 0, least value 0 at overlap 0: some is not positive$"),
        "class-scale-zero": (changed(symm, ("witness/scale/4", 0)), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-negative": (changed(symm, ("witness/scale/0", "-1/2")), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-all-negative": (changed(symm, ("witness/scale", [-1] * 5)), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-too-short": (changed(symm, ("witness/scale", [1] * 4)), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-too-long": (changed(symm, ("witness/scale", [1] * 6)), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-empty": (changed(symm, ("witness/scale", [])), r"^witness\.scale: expected 5 positive numbers, one for each weight \|z\|$"),
        "class-scale-reversed": (changed(v["class-constant-m3"], ("witness/scale", v["class-constant-m3"]["witness"]["scale"][::-1])), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-scale-flat": (changed(v["class-constant-m3"], ("witness/scale", [1] * 4)), r"^query 2: overlaps 0, 2 with values 1, 1 violate B0$"),
        "class-blocks-of-another-size": (changed(symm, ("witness/blocks", [5])), r"^witness\.blocks: 1 blocks \(at most 3\) of 5 bits, the claim has 4$"),
        "class-blocks-missing": (changed(symm, ("witness/blocks", [])), r"^witness\.blocks: 0 blocks \(at most 3\) of 0 bits, the claim has 4$"),
        "class-four-blocks": (changed(symm, ("witness/blocks", [1] * 4)), r"^witness\.blocks: 4 blocks \(at most 3\) of 4 bits, the claim has 4$"),
        "class-more-bits": (changed(symm, ("parameters/m", 5)), r"^witness\.blocks: 1 blocks \(at most 3\) of 4 bits, the claim has 5$"),
        "class-longer-sequences": (changed(symm, ("parameters/n", 4)), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-smaller-eps": (changed(symm, ("parameters/eps", "1/3")), r"^query \d: overlaps \d, \d with values \d+, \d+ violate B0$"),
        "class-without-softmin": (changed(hot, ("uses", hot["uses"][:1])), r"^uses: this claim rests on domination-sufficient, softmin; listed: domination-sufficient$"),
        # the Hamming distance
        **{
            f"hamming-base-{label}": (changed(ham, ("witness/base", value)), rf"^witness\.base: expected 0 < base <= 1, got {value!r}$")
            for label, value in (("zero", 0), ("negative", "-3/5"), ("minus-one", -1), ("above-one", "1000001/1000000"), ("reciprocal", "5/3"), ("two", 2), ("far-above-one", 10**30))
        },
        "hamming-base-one-at-equality": (changed(v["hamming-constant-m2-near-the-edge"], ("witness/base", 1)), r"^the gap 2 violates B0: lo = 1, hi = 1 in units of q\^-m$"),
        "hamming-base-one": (changed(ham, ("witness/base", 1)), r"^the gap 2 violates B0: lo = 4, hi = 4 in units of q\^-m$"),
        "hamming-base-too-large": (changed(ten, ("witness/base", "17/20")), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-base-too-small": (changed(ten, ("witness/base", "37/50")), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-base-near-zero": (changed(ten, ("witness/base", f"1/{10**30}")), r"^the gap 2 violates B0: lo = \d+, hi = (\d+|an integer of \d+ bits) in units of q\^-m$"),
        "hamming-coefficient-at-equality": (hamming_edge(f(0)), r"^the gap 2 violates B0: lo = 1, hi = 16 in units of q\^-m$"),
        "hamming-coefficient-nudged": (hamming_edge(f(-1, 10**12)), r"^the gap 2 violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-coefficient-too-small": (changed(ten, ("witness/coefficients/1", "3/2")), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-own-value-too-large": (changed(ten, ("witness/coefficients/0", "11/10")), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-zero-at-the-last-distance": (changed(ham, ("witness/coefficients", [1, "-1/4"])), r"^f\(4\) is not positive$"),
        "hamming-negative-at-the-last-distance": (changed(ham, ("witness/coefficients", [1, f"-{10**12 + 1}/{4 * 10**12}"])), r"^f\(4\) is not positive$"),
        "hamming-negative-from-two-on": (changed(ham, ("witness/coefficients", [1, "-3/4"])), r"^f\(2\) is not positive$"),
        "hamming-zero-at-the-query": (changed(ham, ("witness/coefficients", [0, 1])), r"^f\(0\) is not positive$"),
        "hamming-negative-at-the-query": (changed(ham, ("witness/coefficients/0", f"-1/{10**30}")), r"^f\(0\) is not positive$"),
        "hamming-zero-between": (changed(many, ("witness/coefficients", [6, -3, 1])), r"^f\(3\) is not positive$"),
        "hamming-negative-between": (changed(many, ("witness/coefficients", [1, -1, 1])), r"^f\(1\) is not positive$"),
        "hamming-all-negative": (changed(ham, ("witness/coefficients", ["-2/3", "-1/3"])), r"^f\(0\) is not positive$"),
        "hamming-all-zero": (changed(ham, ("witness/coefficients", [0, 0])), r"^f\(0\) is not positive$"),
        **{
            f"{name}-rank-one-too-small": (
                changed(v[name], ("parameters/rank", v[name]["parameters"]["rank"] - 1)),
                rf"^the head has {v[name]['parameters']['rank']} features, the claim says {v[name]['parameters']['rank'] - 1}$",
            )
            for name in ("hamming-linear-m4", "hamming-linear-m10", "hamming-quadratic-m4-n4", "hamming-quadratic-m12", "hamming-softmin-m3-n5")
        },
        "hamming-rank-of-the-degree": (changed(many, ("parameters/rank", 66)), r"^the head has 79 features, the claim says 66$"),
        "hamming-zero-coefficient-counts": (changed(ham, ("witness/coefficients", ["2/3", "1/3", 0])), r"^the head has 11 features, the claim says 5$"),
        "hamming-no-coefficients": (changed(ham, ("witness/coefficients", [])), r"^witness\.coefficients: expected 1\.\.5, got 0$"),
        "hamming-too-many-coefficients": (changed(ham, ("witness/coefficients", ["2/3", "1/3", 0, 0, 0, 0])), r"^witness\.coefficients: expected 1\.\.5, got 6$"),
        "hamming-too-many-coefficients-m1": (changed(v["hamming-constant-m1"], ("witness/coefficients", [7, 0, 0])), r"^witness\.coefficients: expected 1\.\.2, got 3$"),
        "hamming-more-bits": (changed(ten, ("parameters/m", 11), ("parameters/rank", 12)), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-one-more-bit-one-rank-less": (changed(ham, ("parameters/m", 5)), r"^the head has 6 features, the claim says 5$"),
        "hamming-longer-sequences": (changed(ten, ("parameters/n", 4)), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-much-longer-sequences": (changed(v["hamming-linear-m1-n9"], ("parameters/n", 10**300)), r"^the gap 1 violates B0: lo = 8, hi = 100 in units of q\^-m$"),
        "hamming-smaller-eps": (changed(ten, ("parameters/eps", "49/100")), r"^the gap \d violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-much-smaller-eps": (changed(v["hamming-linear-m1-n9"], ("parameters/eps", "1/1000")), r"^the gap 1 violates B0: lo = \d+, hi = \d+ in units of q\^-m$"),
        "hamming-for-a-rank-from-below": (changed(lay, ("rule", "hamming-head")), r"^uses: this claim rests on approximate-identity; listed: approximate-identity, gap-domination-symbolic$"),
        "hamming-for-an-exponent": (changed(limit, ("rule", "hamming-head")), r"^rule hamming-head shows an? HeadExists statement, and this claim is of the shape UpperExponent$"),
        "hamming-with-softmin": (changed(ham, ("uses", hot["uses"])), r"^uses: this claim rests on domination-sufficient; listed: domination-sufficient, softmin$"),
        "hamming-without-domination": (changed(ham, ("uses", [])), r"^uses: this claim rests on domination-sufficient; listed: none$"),
        # sampled features
        **{
            f"{name}-{label}": (changed(fields, *changes), rf"^{reason}")
            for name, fields, place in (("sampled", sample, "witness"), ("limit", limit, "parameters"))
            for label, changes, reason in (
                ("eta-one", [(f"{place}/eta", 1)], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("eta-above-one", [(f"{place}/eta", "3/2")], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("eta-too-large", [(f"{place}/eta", "1/4")], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("eta-somewhat-too-large", [(f"{place}/eta", "1/64")], r"the gap \d fails: rho is too small, or eta or 1 - c0 too large$"),
                ("rho-one", [(f"{place}/rho", 1)], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("rho-below-one", [(f"{place}/rho", "1/2")], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("rho-at-the-rate", [(f"{place}/rho", "1319/1000")], r"the gap 5 fails: rho is too small, or eta or 1 - c0 too large$"),
                ("rho-far-below-the-rate", [(f"{place}/rho", "5/4")], r"the gap \d fails: rho is too small, or eta or 1 - c0 too large$"),
                ("c0-zero", [("witness/c0", 0)], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("c0-one", [("witness/c0", 1)], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("c0-negative", [("witness/c0", "-1/2")], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("c0-above-one", [("witness/c0", "5/4")], r"expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
                ("c0-too-small", [("witness/c0", "1/4")], r"(the gap \d+ fails: rho is too small, or eta or 1 - c0 too large|witness\.last: the growth from 20 on is not covered)$"),
                ("last-too-small", [("witness/last", 3)], r"witness\.last: the growth from 3 on is not covered$"),
                ("longer-sequences", [("parameters/n", 4)], r"the gap \d fails: rho is too small, or eta or 1 - c0 too large$"),
                ("smaller-eps", [("parameters/eps", "1/4")], r"the gap \d fails: rho is too small, or eta or 1 - c0 too large$"),
            )
        },
        "sampled-eta-zero": (changed(sample, ("witness/eta", 0)), r"^expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
        "sampled-eta-negative": (changed(sample, ("witness/eta", "-1/256")), r"^expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
        "sampled-rho-zero": (changed(sample, ("witness/rho", 0)), r"^expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
        "sampled-rho-negative": (changed(sample, ("witness/rho", -2)), r"^expected 0 < c0 < 1, 0 < eta < 1, rho > 1 and \(1 - eta\) rho > c0$"),
        "sampled-rank-one-too-small": (
            changed(v["sampled-3-n4"], ("parameters/rank", v["sampled-3-n4"]["parameters"]["rank"] - 1)),
            r"^the sample may have up to (\d+) features, the claim says \d+$",
        ),
        "sampled-rank-one-too-small-m100": (changed(sample, ("parameters/rank", sample["parameters"]["rank"] - 1)), r"^the sample may have up to \d+ features, the claim says \d+$"),
        "sampled-more-bits": (changed(sample, ("parameters/m", 101)), r"^the sample may have up to \d+ features, the claim says \d+$"),
        "sampled-larger-rho": (changed(sample, ("witness/rho", "331/250")), r"^the sample may have up to \d+ features, the claim says \d+$"),
        "sampled-smaller-eta": (changed(sample, ("witness/eta", "1/257")), r"^the sample may have up to \d+ features, the claim says \d+$"),
        "sampled-for-all-m": (changed(limit, ("rule", "sampled")), r"^rule sampled shows an? HeadExists statement, and this claim is of the shape UpperExponent$"),
        "limit-for-one-m": (changed(sample, ("rule", "upper-exponent")), r"^rule upper-exponent shows an? UpperExponent statement, and this claim is of the shape HeadExists$"),
        "sampled-without-domination": (changed(sample, ("uses", [])), r"^uses: this claim rests on domination-sufficient; listed: none$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def malformed() -> dict[str, tuple[bytes, str]]:
    v = valid()
    lay, exponent, pairs, refuted = v["layer-24"], v["lower-exponent-n3"], v["shattered-7"], v["unsat-5"]
    had, fano, sloane = v["family-hadamard-16"], v["family-fano"], v["graham-12"]
    one, symm, blocks = v["table-rank-1-m2"], v["class-symmetric-m4"], v["class-two-blocks"]
    sample, limit, topology = v["sampled-100"], v["upper-exponent-n3"], v["topological-9"]
    ham, ten = v["hamming-linear-m4"], v["hamming-linear-m10"]
    axioms = len(sign_clauses(STABLE, 2, 5)[1])
    proof = refuted["witness"]["proof"]
    table: dict[str, tuple[Fields, str]] = {
        # parameters of the four claims
        **{
            f"{name}-{label}": (changed(fields, (f"parameters/{key}", value)), reason)
            for name, fields in (("layer", lay), ("exponent", exponent), ("table", one), ("hamming", ham), ("limit", limit), ("topological", topology))
            for label, key, value, reason in (
                ("eps-zero", "eps", 0, r"^parameters\.eps: expected 0 < eps <= 1/2, got 0$"),
                ("eps-negative", "eps", "-1/2", r"^parameters\.eps: expected 0 < eps <= 1/2, got -1/2$"),
                ("eps-above-half", "eps", "500001/1000000", r"^parameters\.eps: expected 0 < eps <= 1/2, got 500001/1000000$"),
                ("n-two", "n", 2, r"^parameters\.n: expected an integer >= 3, got 2$"),
                ("n-fraction", "n", "7/2", r"^parameters\.n: expected an integer >= 3, got '7/2'$"),
                ("m-zero", "m", 0, r"^parameters\.m: expected an integer from 1 to 20000, got 0$|^parameters: unknown field 'm'$"),
                ("m-too-large", "m", 20_001, r"^parameters\.m: expected an integer from 1 to 20000, got 20001$|^parameters: unknown field 'm'$"),
            )
        },
        "layer-value-zero": (changed(lay, ("parameters/value", 0)), r"^parameters\.value: expected an integer >= 1, got 0$"),
        "layer-value-true": (changed(lay, ("parameters/value", True)), r"^parameters\.value: True is not a number"),
        "table-rank-zero": (changed(one, ("parameters/rank", 0)), r"^parameters\.rank: expected an integer >= 1, got 0$"),
        "table-value-for-rank": (changed(one, ("parameters/rank", DELETE), ("parameters/value", 1)), r"^parameters: unknown field 'value'$"),
        "exponent-a-zero": (changed(exponent, ("parameters/a", 0)), r"^parameters\.a: expected a positive number, got 0$"),
        "exponent-a-negative": (changed(exponent, ("parameters/a", "-1/2")), r"^parameters\.a: expected a positive number, got -1/2$"),
        "exponent-a-float": (changed(exponent, ("parameters/a", 0.76)), r"^the number '0\.76' is not exact"),
        "exponent-kappa-zero": (changed(exponent, ("parameters/kappa", 0)), r"^parameters\.kappa: expected a positive number, got 0$"),
        "limit-eta-zero": (changed(limit, ("parameters/eta", 0)), r"^parameters\.eta: expected a positive number, got 0$"),
        "limit-eta-negative": (changed(limit, ("parameters/eta", "-1/256")), r"^parameters\.eta: expected a positive number, got -1/256$"),
        "limit-rho-zero": (changed(limit, ("parameters/rho", 0)), r"^parameters\.rho: expected a positive number, got 0$"),
        "limit-rho-negative": (changed(limit, ("parameters/rho", -2)), r"^parameters\.rho: expected a positive number, got -2$"),
        **{
            f"{name}-witness-{label}": (changed(fields, ("witness", value)), reason)
            for name, fields in (("layer", lay), ("family", fano), ("graham", sloane), ("exponent", exponent), ("shattered", pairs), ("unsat", refuted), ("table", one), ("class", symm), ("hamming", ham), ("limit", limit))
            for label, value, reason in (
                ("empty", {}, r"^witness: the field '\w+' is missing$"),
                ("list", [], r"^witness: expected an object, got \[\]$"),
                ("null", None, r"^witness: None is not a number"),
            )
        },
        # layers
        "layer-larger-than-the-cube": (changed(lay, ("witness/M", 25)), r"^witness\.M: expected an integer from 1 to 24, got 25$"),
        "layer-of-nothing": (changed(lay, ("witness/M", 0)), r"^witness\.M: expected an integer from 1 to 24, got 0$"),
        "layer-weight-zero": (changed(lay, ("witness/weight", 0)), r"^witness\.weight: expected an integer from 1 to 24, got 0$"),
        "layer-weight-above-M": (changed(lay, ("witness/weight", 25)), r"^witness\.weight: expected an integer from 1 to 24, got 25$"),
        "layer-distance-zero": (changed(lay, ("witness/distance", 0)), r"^witness\.distance: expected an integer from 1 to 24, got 0$"),
        "layer-q-not-reduced": (changed(lay, ("witness/q", "2/10000")), r"^witness\.q: '2/10000' is not in lowest terms"),
        "layer-q-float": (changed(lay, ("witness/q", 0.0002)), r"^the number '0\.0002' is not exact"),
        "layer-q-over-zero": (changed(lay, ("witness/q", "1/0")), r'^witness\.q: expected an integer or a string "p/q" in lowest terms'),
        "layer-gap-zero": (changed(lay, ("witness/gaps/0", 0)), r"^witness\.gaps\[0\]: expected an integer >= 1, got 0$"),
        "layer-gap-negative": (changed(lay, ("witness/gaps/5", -7)), r"^witness\.gaps\[5\]: expected an integer >= 1, got -7$"),
        "layer-gap-fraction": (changed(lay, ("witness/gaps/0", "5/2")), r"^witness\.gaps\[0\]: expected an integer >= 1, got '5/2'$"),
        "layer-gaps-object": (changed(lay, ("witness/gaps", {})), r"^witness\.gaps: expected a list, got \{\}$"),
        "layer-without-q": (changed(lay, ("witness/q", DELETE)), r"^witness: the field 'q' is missing$"),
        "layer-with-weights": (changed(lay, ("witness/weights", [1, 2])), r"^witness: unknown field 'weights'$"),
        "layer-unknown-rule": (changed(lay, ("rule", "layers")), r"^rule: unknown rule 'layers'$"),
        # families of pairs and Graham-Sloane classes
        "family-query-outside": (changed(had, ("witness/pairs/4/0", 2**16)), r"^witness\.pairs\[4\]: expected an integer from 0 to 65535, got 65536$"),
        "family-key-outside": (changed(had, ("witness/pairs/4/1", 2**16 + 3)), r"^witness\.pairs\[4\]: expected an integer from 0 to 65535, got 65539$"),
        "family-on-fewer-bits": (changed(had, ("parameters/m", 15)), r"^witness\.pairs\[\d+\]: expected an integer from 0 to 32767, got \d+$"),
        "family-query-negative": (changed(had, ("witness/pairs/4/0", -3)), r"^witness\.pairs\[4\]: expected an integer from 0 to 65535, got -3$"),
        "family-query-hexadecimal": (changed(had, ("witness/pairs/4/0", "ff")), r"^witness\.pairs\[4\]: expected an integer from 0 to 65535, got 'ff'$"),
        "family-query-true": (changed(had, ("witness/pairs/4/0", True)), r"^witness\.pairs\[4\]\[0\]: True is not a number"),
        "family-query-float": (changed(had, ("witness/pairs/4/0", 255.0)), r"^the number '255\.0' is not exact"),
        "family-huge-key": (changed(had, ("witness/pairs/4/1", 10**1001)), r"^the number .* has more than 1000 digits$"),
        "family-words-for-pairs": (changed(had, ("witness/pairs", sylvester(4))), r"^witness\.pairs\[0\]: expected a list, got \d+$"),
        "family-query-without-key": (changed(had, ("witness/pairs/7", [255])), r"^witness\.pairs\[7\]: expected a query and a key$"),
        "family-three-tokens": (changed(had, ("witness/pairs/7", [255, 65280, 1])), r"^witness\.pairs\[7\]: expected a query and a key$"),
        "family-empty-pair": (changed(had, ("witness/pairs/0", [])), r"^witness\.pairs\[0\]: expected a query and a key$"),
        "family-pairs-object": (changed(had, ("witness/pairs", {})), r"^witness\.pairs: expected a list, got \{\}$"),
        "family-permutation-number": (changed(fano, ("witness/permutations", [1, 2, 3, 4, 5, 6, 0])), r"^witness\.permutations\[0\]: expected a list, got 1$"),
        "family-permutation-image-outside": (changed(fano, ("witness/permutations/0/6", 7)), r"^witness\.permutations\[0\]: expected an integer from 0 to 6, got 7$"),
        "family-permutation-image-negative": (changed(fano, ("witness/permutations/0/0", -1)), r"^witness\.permutations\[0\]: expected an integer from 0 to 6, got -1$"),
        "family-permutations-object": (changed(fano, ("witness/permutations", {})), r"^witness\.permutations: expected a list, got \{\}$"),
        "family-with-weights": (changed(fano, ("witness/weights", [1])), r"^witness: unknown field 'weights'$"),
        "family-gap-zero": (changed(fano, ("witness/gaps/0", 0)), r"^witness\.gaps\[0\]: expected an integer >= 1, got 0$"),
        "family-gaps-text": (changed(fano, ("witness/gaps", "1, 2")), r"^witness\.gaps: expected a list, got '1, 2'$"),
        "family-too-many-pairs": (changed(had, ("witness/pairs", of_words(16, list(range(4000))))), r"^the check needs more work than the budget allows$"),
        "family-too-large-a-group": (
            changed(had, ("parameters/m", 24), ("witness/pairs", of_words(24, [2**12 - 1])), ("witness/permutations", [[*range(1, 24), 0], [1, 0]])),
            r"^the check needs more work than the budget allows$",
        ),
        "family-many-permutations-of-many-elements": (
            changed(had, ("parameters/m", 20_000), ("witness/permutations", [[1, 0]] * 40_000)),
            r"^the check needs more work than the budget allows$",
        ),
        "graham-larger-than-the-cube": (changed(sloane, ("witness/M", 13)), r"^witness\.M: expected an integer from 1 to 12, got 13$"),
        "graham-of-nothing": (changed(sloane, ("witness/M", 0)), r"^witness\.M: expected an integer from 1 to 12, got 0$"),
        "graham-weight-zero": (changed(sloane, ("witness/weight", 0)), r"^witness\.weight: expected an integer from 1 to 12, got 0$"),
        "graham-weight-above-M": (changed(sloane, ("witness/weight", 13)), r"^witness\.weight: expected an integer from 1 to 12, got 13$"),
        "graham-modulus-zero": (changed(sloane, ("witness/modulus", 0)), r"^witness\.modulus: expected an integer from 1 to 10000, got 0$"),
        "graham-modulus-negative": (changed(sloane, ("witness/modulus", -12)), r"^witness\.modulus: expected an integer from 1 to 10000, got -12$"),
        "graham-with-a-residue": (changed(sloane, ("witness/residue", 0)), r"^witness: unknown field 'residue'$"),
        "graham-huge": (changed(sloane, ("parameters/m", 2_000), ("witness/M", 2_000), ("witness/weight", 1_000)), r"^the check needs more work than the budget allows$"),
        "graham-huge-modulus": (changed(sloane, ("witness/modulus", 10_000)), r"^the check needs more work than the budget allows$"),
        # exponents
        "exponent-gap-zero": (changed(exponent, ("witness/gap", 0)), r"^witness\.gap: expected an integer from 1 to 10000, got 0$"),
        "exponent-gap-too-large": (changed(exponent, ("witness/gap", 10_001)), r"^witness\.gap: expected an integer from 1 to 10000, got 10001$"),
        "exponent-distance-zero": (changed(exponent, ("witness/distance", 0)), r"^witness\.distance: expected an integer from 1 to 10000, got 0$"),
        "exponent-listed-gap-zero": (changed(exponent, ("witness/gaps", [0])), r"^witness\.gaps\[0\]: expected an integer >= 1, got 0$"),
        "exponent-with-m": (changed(exponent, ("parameters/m", 9)), r"^parameters: unknown field 'm'$"),
        "exponent-huge-powers": (changed(exponent, ("parameters/a", f"{10**900 - 1}/{10**900}"), ("witness/gap", 5000), ("witness/distance", 5000)), r"^the check needs more work than the budget allows$"),
        # shattered queries
        "shattered-query-outside": (changed(pairs, ("witness/queries/0", 128)), r"^witness\.queries: expected an integer from 0 to 127, got 128$"),
        "shattered-query-negative": (changed(pairs, ("witness/queries/0", -3)), r"^witness\.queries: expected an integer from 0 to 127, got -3$"),
        "shattered-query-hexadecimal": (changed(pairs, ("witness/queries/0", "3")), r"^witness\.queries: expected an integer from 0 to 127, got '3'$"),
        "shattered-key-outside": (changed(pairs, ("witness/keys/0/1", 256 + 111)), r"^witness\.keys\[0\]: expected an integer from 0 to 127, got 367$"),
        "shattered-one-key": (changed(pairs, ("witness/keys/4", [96])), r"^witness\.keys\[4\]: expected two keys$"),
        "shattered-three-keys": (changed(pairs, ("witness/keys/4", [96, 15, 15])), r"^witness\.keys\[4\]: expected two keys$"),
        "shattered-key-number": (changed(pairs, ("witness/keys/4", 96)), r"^witness\.keys\[4\]: expected a list, got 96$"),
        "shattered-keys-object": (changed(pairs, ("witness/keys", {})), r"^witness\.keys: expected a list, got \{\}$"),
        "shattered-without-queries": (changed(pairs, ("witness/queries", DELETE)), r"^witness: the field 'queries' is missing$"),
        # topological
        "topological-with-a-map": (changed(topology, ("witness", {"map": []})), r"^witness: unknown field 'map'$"),
        # refuted sign patterns
        "unsat-hint-zero": (changed(refuted, ("witness/proof/0/1/0", 0)), rf"^witness\.proof\[0\]: expected an integer from 1 to {axioms}, got 0$"),
        "unsat-hint-negative": (changed(refuted, ("witness/proof/0/1/0", -1)), rf"^witness\.proof\[0\]: expected an integer from 1 to {axioms}, got -1$"),
        "unsat-hint-itself": (changed(refuted, ("witness/proof/0/1", [axioms + 1])), rf"^witness\.proof\[0\]: expected an integer from 1 to {axioms}, got {axioms + 1}$"),
        "unsat-hint-forward": (changed(refuted, ("witness/proof/3/1/0", axioms + 5)), rf"^witness\.proof\[3\]: expected an integer from 1 to {axioms + 3}, got {axioms + 5}$"),
        "unsat-hint-out-of-range": (changed(refuted, (f"witness/proof/{len(proof) - 1}/1", [10**6])), rf"^witness\.proof\[{len(proof) - 1}\]: expected an integer from 1 to \d+, got 1000000$"),
        "unsat-hint-string": (changed(refuted, ("witness/proof/0/1/0", "1")), r"^witness\.proof\[0\]: expected an integer from 1 to \d+, got '1'$"),
        **{
            f"unsat-step-{k}-deleted": (steps(refuted, *proof[:k], *proof[k + 1 :]), r"^witness\.proof\[\d+\]: (expected an integer from 1 to \d+, got \d+$|the )")
            for k in (len(proof) - 2, len(proof) - 3)
        },
        "unsat-two-last-steps-exchanged": (steps(refuted, *proof[:-2], proof[-1], proof[-2]), rf"^witness\.proof\[{len(proof) - 2}\]: expected an integer from 1 to \d+, got \d+$"),
        "unsat-steps-reversed": (steps(refuted, *proof[::-1]), r"^witness\.proof\[0\]: expected an integer from 1 to \d+, got \d+$"),
        "unsat-literal-zero": (changed(refuted, ("witness/proof/0/0/0", 0)), r"^witness\.proof\[0\]: 0 is no literal$"),
        "unsat-literal-too-large": (changed(refuted, ("witness/proof/0/0/0", 10**6 + 1)), r"^witness\.proof\[0\]: expected an integer from -1000000 to 1000000, got 1000001$"),
        "unsat-step-without-hints": (changed(refuted, ("witness/proof/0", [proof[0][0]])), r"^witness\.proof\[0\]: expected \[literals, hints\]$"),
        "unsat-step-of-three": (changed(refuted, ("witness/proof/0", [*proof[0], []])), r"^witness\.proof\[0\]: expected \[literals, hints\]$"),
        "unsat-step-object": (changed(refuted, ("witness/proof/0", {"literals": [], "hints": []})), r"^witness\.proof\[0\]: expected a list, got \{"),
        "unsat-proof-text": (changed(refuted, ("witness/proof", "1 2 0 3 4 0")), r"^witness\.proof: expected a list, got '1 2 0 3 4 0'$"),
        "unsat-pair-outside": (changed(refuted, ("witness/pairs/0", 0b100001)), r"^witness\.pairs\[0\]: expected an integer from 0 to 31, got 33$"),
        "unsat-pair-negative": (changed(refuted, ("witness/pairs/0", -3)), r"^witness\.pairs\[0\]: expected an integer from 0 to 31, got -3$"),
        "unsat-pair-list": (changed(refuted, ("witness/pairs/0", [0, 2])), r"^witness\.pairs\[0\]: expected an integer from 0 to 31, got \[0, 2\]$"),
        "unsat-four-pairs": (changed(refuted, ("witness/pairs", STABLE[:4])), r"^witness\.proof\[0\]: expected an integer from 1 to 28, got \d+$"),
        "unsat-pairs-that-have-a-chirotope": (changed(refuted, ("witness/pairs", [0b0011, 0b0101, 0b0110]), ("witness/ground", 4)), r"^witness\.proof\[0\]: expected an integer from 1 to \d, got \d+$"),
        "unsat-ground-larger-than-the-cube": (changed(refuted, ("witness/ground", 6)), r"^witness\.ground: expected an integer from 2 to 5, got 6$"),
        "unsat-ground-eleven": (changed(v["unsat-9"], ("parameters/m", 30), ("witness/ground", 11)), r"^witness\.ground: expected an integer from 2 to 10, got 11$"),
        "unsat-smaller-ground-set": (changed(refuted, ("witness/ground", 4)), r"^witness\.pairs\[3\]: expected an integer from 0 to 15, got 18$"),
        "unsat-on-fewer-bits": (changed(refuted, ("parameters/m", 4)), r"^witness\.ground: expected an integer from 2 to 4, got 5$"),
        "unsat-clauses-in-the-file": (changed(refuted, ("witness/clauses", [[]])), r"^witness: unknown field 'clauses'$"),
        # tables
        "table-feature-string": (changed(one, ("witness/keys/0", ["17"])), r"^witness\.keys\[0\]\[0\]: expected an integer of at most 256 bits$"),
        "table-feature-fraction": (changed(one, ("witness/keys/0", ["33/2"])), r"^witness\.keys\[0\]\[0\]: expected an integer of at most 256 bits$"),
        "table-feature-float": (changed(one, ("witness/keys/0", [17.0])), r"^the number '17\.0' is not exact"),
        "table-feature-true": (changed(one, ("witness/queries/0", [True])), r"^witness\.queries\[0\]\[0\]: True is not a number"),
        "table-feature-null": (changed(one, ("witness/queries/0", [None])), r"^witness\.queries\[0\]\[0\]: None is not a number"),
        "table-feature-list": (changed(one, ("witness/queries/0", [[1]])), r"^witness\.queries\[0\]\[0\]: expected an integer of at most 256 bits$"),
        "table-feature-of-257-bits": (changed(one, ("witness/queries", [[2**256]] * 4)), r"^witness\.queries\[0\]\[0\]: expected an integer of at most 256 bits$"),
        "table-negative-feature-of-257-bits": (changed(one, ("witness/keys/3", [-(2**256)])), r"^witness\.keys\[3\]\[0\]: expected an integer of at most 256 bits$"),
        "table-row-number": (changed(one, ("witness/keys/1", 16)), r"^witness\.keys\[1\]: expected a list, got 16$"),
        "table-keys-object": (changed(one, ("witness/keys", {"0": [1]})), r"^witness\.keys: expected a list, got \{"),
        "table-of-eleven-bits": (changed(one, ("parameters/m", 11)), r"^a table head has at most 10 bits, got 11$"),
        "table-with-values": (changed(one, ("witness/values", [])), r"^witness: unknown field 'values'$"),
        "table-without-keys": (changed(one, ("witness/keys", DELETE)), r"^witness: the field 'keys' is missing$"),
        # classes
        "class-degree-above-m": (changed(symm, ("witness/degrees", [[0], [1], [5]])), r"^witness\.degrees\[2\]: expected an integer from 0 to 4, got 5$"),
        "class-degree-negative": (changed(symm, ("witness/degrees", [[0], [1], [-1]])), r"^witness\.degrees\[2\]: expected an integer from 0 to 4, got -1$"),
        "class-degree-number": (changed(symm, ("witness/degrees", [0, 1])), r"^witness\.degrees\[0\]: expected a list, got 0$"),
        "class-degree-of-two-blocks": (changed(symm, ("witness/degrees", [[0], [1], [0, 1]])), r"^witness\.degrees: expected tuples of 1 degrees$"),
        "class-degree-empty": (changed(symm, ("witness/degrees", [[]])), r"^witness\.degrees: expected tuples of 1 degrees$"),
        "class-block-zero": (changed(blocks, ("witness/blocks", [2, 1, 0])), r"^witness\.blocks\[2\]: expected an integer >= 1, got 0$"),
        "class-block-negative": (changed(symm, ("witness/blocks", [5, -1])), r"^witness\.blocks\[1\]: expected an integer >= 1, got -1$"),
        "class-exponent-negative": (changed(symm, ("witness/polynomials/2/1/l", [-1])), r"^witness\.polynomials\.2\[1\]\.l: expected an integer from 0 to 4, got -1$"),
        "class-exponent-above-m": (changed(symm, ("witness/polynomials/2/1/l", [5])), r"^witness\.polynomials\.2\[1\]\.l: expected an integer from 0 to 4, got 5$"),
        "class-exponents-number": (changed(symm, ("witness/polynomials/2/1/w", 0)), r"^witness\.polynomials\.2\[1\]\.w: expected a list, got 0$"),
        "class-weight-exponent-too-many": (changed(symm, ("witness/polynomials/2/1/w", [0, 3])), r"^witness\.polynomials\.2\[1\]: expected 1 exponents$"),
        "class-coefficient-float": (changed(symm, ("witness/polynomials/2/1/coefficient", -1.0)), r"^the number '-1\.0' is not exact"),
        "class-coefficient-not-reduced": (changed(symm, ("witness/polynomials/2/1/coefficient", "-2/2")), r"^witness\.polynomials\.2\[1\]\.coefficient: '-2/2' is not in lowest terms"),
        "class-coefficient-missing": (changed(symm, ("witness/polynomials/2/1/coefficient", DELETE)), r"^witness\.polynomials\.2\[1\]: the field 'coefficient' is missing$"),
        "class-term-with-a-scale": (changed(symm, ("witness/polynomials/2/1/scale", 1)), r"^witness\.polynomials\.2\[1\]: unknown field 'scale'$"),
        "class-polynomial-number": (changed(symm, ("witness/polynomials/2", 1)), r"^witness\.polynomials\.2: expected a list, got 1$"),
        "class-polynomials-list": (changed(symm, ("witness/polynomials", [])), r"^witness\.polynomials: expected an object, got \[\]$"),
        "class-scale-text": (changed(symm, ("witness/scale/1", "4/5 ")), r'^witness\.scale\[1\]: expected an integer or a string "p/q" in lowest terms'),
        "class-scale-number": (changed(symm, ("witness/scale", 1)), r"^witness\.scale: expected a list, got 1$"),
        "class-scale-of-many-denominators": (changed(symm, ("witness/scale", [f"1/{10**990 + k}" for k in (1, 3, 7, 9, 13)])), r"^a common denominator has more than 14000 bits$"),
        # the Hamming distance
        **{
            f"hamming-{name}-{label}": (changed(ham, (f"witness/{path}", value)), rf"^{reason.format(place)}")
            for name, path, place in (("base", "base", r"witness\.base"), ("coefficient", "coefficients/1", r"witness\.coefficients\[1\]"))
            for label, value, reason in (
                ("float", 0.5, r"the number '0\.5' is not exact"),
                ("whole-float", 1.0, r"the number '1\.0' is not exact"),
                ("true", True, "{}: True is not a number"),
                ("null", None, "{}: None is not a number"),
                ("list", [1], '{}: expected an integer or a string "p/q", got \\[1\\]$'),
                ("object", {}, '{}: expected an integer or a string "p/q", got {{}}$'),
                ("not-reduced", "6/10", r"{}: '6/10' is not in lowest terms"),
                ("integer-as-a-string", "1", '{}: expected an integer or a string "p/q" in lowest terms'),
                ("with-a-space", "3/5 ", '{}: expected an integer or a string "p/q" in lowest terms'),
                ("decimal", "0.6", '{}: expected an integer or a string "p/q" in lowest terms'),
                ("over-zero", "1/0", '{}: expected an integer or a string "p/q" in lowest terms'),
                ("of-1001-digits", 10**1000, r"the number .* has more than 1000 digits$"),
                ("over-1001-digits", f"1/{10**1000}", r"{}: a number has more than 1000 digits$"),
            )
        },
        "hamming-coefficients-number": (changed(ham, ("witness/coefficients", 1)), r"^witness\.coefficients: expected a list, got 1$"),
        "hamming-coefficients-object": (changed(ham, ("witness/coefficients", {"0": 1})), r"^witness\.coefficients: expected a list, got \{"),
        "hamming-coefficients-text": (changed(ham, ("witness/coefficients", "1")), r"^witness\.coefficients: expected a list, got '1'$"),
        "hamming-without-base": (changed(ham, ("witness/base", DELETE)), r"^witness: the field 'base' is missing$"),
        "hamming-without-coefficients": (changed(ham, ("witness/coefficients", DELETE)), r"^witness: the field 'coefficients' is missing$"),
        "hamming-with-a-scale": (changed(ham, ("witness/scale", [1] * 5)), r"^witness: unknown field 'scale'$"),
        "hamming-as-a-class-head": (changed(ham, ("witness", symm["witness"])), r"^witness: unknown field '\w+'$"),
        "hamming-of-many-denominators": (changed(ham, ("witness/coefficients", [f"1/{10**990 + k}" for k in (1, 3, 7, 9, 13)])), r"^a common denominator has more than 14000 bits$"),
        "hamming-base-of-many-digits": (changed(ten, ("witness/base", f"{10**900 - 1}/{10**900}")), r"^the check needs more work than the budget allows$"),
        "hamming-20000-bits": (changed(ham, ("parameters/m", 20_000)), r"^the check needs more work than the budget allows$"),
        "hamming-unknown-rule": (changed(ham, ("rule", "hamming")), r"^rule: unknown rule 'hamming'$"),
        # sampled features
        "sampled-last-one": (changed(sample, ("witness/last", 1)), r"^witness\.last: expected an integer from 2 to 2000, got 1$"),
        "sampled-last-too-large": (changed(sample, ("witness/last", 2_001)), r"^witness\.last: expected an integer from 2 to 2000, got 2001$"),
        "sampled-without-rho": (changed(sample, ("witness/rho", DELETE)), r"^witness: the field 'rho' is missing$"),
        "sampled-with-a-sample": (changed(sample, ("witness/kept", [])), r"^witness: unknown field 'kept'$"),
        "sampled-c0-float": (changed(sample, ("witness/c0", 0.99)), r"^the number '0\.99' is not exact"),
        "limit-last-one": (changed(limit, ("witness/last", 1)), r"^witness\.last: expected an integer from 2 to 2000, got 1$"),
        "limit-with-rho-in-the-witness": (changed(limit, ("witness/rho", 2)), r"^witness: unknown field 'rho'$"),
        "limit-with-m": (changed(limit, ("parameters/m", 3)), r"^parameters: unknown field 'm'$"),
        "limit-c0-missing": (changed(limit, ("witness/c0", DELETE)), r"^witness: the field 'c0' is missing$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}
