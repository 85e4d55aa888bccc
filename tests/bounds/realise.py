"""Explicit features of the head that a `class-head` or `hamming-head` certificate describes, made from its witness by
definitions alone."""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod

from proofcheck.domination import violations


@dataclass
class Features:
    """phiQ and phiK as lists of vectors by token; alpha is their inner product."""

    m: int
    queries: list
    keys: list

    @property
    def size(self):
        return len(self.keys[0])

    def matrix(self):
        return [[sum(a * b for a, b in zip(q, k, strict=True) if a and b) for k in self.keys] for q in self.queries]


def masks(blocks):
    """The bits of each block, lowest first."""
    start, found = 0, []
    for b in blocks:
        found.append(((1 << b) - 1) << start)
        start += b
    return found


def multilinear(value):
    """The coefficients of the multilinear polynomial with these values on {0,1}^m, by Moebius inversion, in place."""
    for i in range(len(value).bit_length() - 1):
        for z in range(len(value)):
            if z >> i & 1:
                value[z] -= value[z ^ (1 << i)]
    return value


def realised(certificate):
    fields = json.loads(certificate.data)
    kinds = {"class-head": realised_classes, "hamming-head": realised_hamming}
    return kinds[fields["rule"]](fields["witness"], fields["parameters"])


def realised_hamming(witness, parameters):
    """Key features: base^|z| 1[T inside z] for the sets T of at most K elements. Query features: base^-|x| times the
    coefficients of the multilinear polynomial that agrees with sum c_k C(|x ^ z|, k) on all 2^m points z."""
    m, base = parameters["m"], Fraction(witness["base"])
    coefficients = [Fraction(c) for c in witness["coefficients"]]
    sets = [t for t in range(1 << m) if t.bit_count() < len(coefficients)]
    by_distance = [sum(c * comb(d, k) for k, c in enumerate(coefficients)) for d in range(m + 1)]
    queries = []
    for x in range(1 << m):
        value = multilinear([by_distance[(x ^ z).bit_count()] for z in range(1 << m)])
        if any(q for t, q in enumerate(value) if t.bit_count() >= len(coefficients)):
            raise AssertionError(f"query {x}: a monomial of a larger degree")
        queries.append([value[t] / base ** x.bit_count() for t in sets])
    keys = [[base ** z.bit_count() * (t & ~z == 0) for t in sets] for z in range(1 << m)]
    return Features(m, queries, keys)


def realised_classes(witness, parameters):
    """Key features: s(|z|) 1[T inside z] for the sets T with listed degrees, and one 0/1-combination for each one-hot
    query, (eps/n)^<x,z>. Query features: the coefficients of the multilinear polynomial that agrees with the stated one
    on all 2^m points, by Moebius inversion."""
    m, softmin = parameters["m"], Fraction(parameters["eps"]) / parameters["n"]
    parts = masks(witness["blocks"])
    degrees = {tuple(d) for d in witness["degrees"]}
    scale = [Fraction(s) for s in witness["scale"]]
    size = 1 << m
    sets = [t for t in range(size) if tuple((t & part).bit_count() for part in parts) in degrees]
    queries, one_hot = [], []
    for x in range(size):
        name = ",".join(str((x & part).bit_count()) for part in parts)
        terms = witness["polynomials"].get(name)
        if terms is None:
            one_hot.append(x)
            queries.append([Fraction(0)] * len(sets))
            continue
        value = []
        for z in range(size):
            ls, ws = [(x & z & part).bit_count() for part in parts], [(z & part).bit_count() for part in parts]
            value.append(
                sum(
                    (
                        Fraction(t["coefficient"]) * prod(map(pow, ls, t["l"])) * prod(map(pow, ws, t["w"]))
                        for t in terms
                    ),
                    Fraction(0),
                )
            )
        multilinear(value)
        if any(q for t, q in enumerate(value) if q and t not in sets):
            raise AssertionError(f"query {x}: a monomial outside the listed degrees")
        queries.append([value[t] for t in sets])
    keys = [[scale[z.bit_count()] * (t & ~z == 0) for t in sets] for z in range(size)]
    for x in range(size):
        queries[x] += [Fraction(x == y) for y in one_hot]
    for z in range(size):
        keys[z] += [softmin ** (y & z).bit_count() for y in one_hot]
    return Features(m, queries, keys)


def decided(matrix, n, eps):
    """B0 for every query by `domination`: the first query that fails, or None."""
    for x, row in enumerate(matrix):
        if min(row) < 0:
            return x
        tokens = {z: ((x & z).bit_count(), Fraction(value)) for z, value in enumerate(row) if z != x}
        if violations(n, eps, x.bit_count(), Fraction(row[x]), tokens) is not None:
            return x
    return None


def determinant(rows):
    """By elimination over fractions."""
    rows = [[Fraction(q) for q in row] for row in rows]
    value = Fraction(1)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            value = -value
        value *= rows[k][k]
        for i in range(k + 1, len(rows)):
            if rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return value
