"""Explicit features of a head that a `class-head` certificate describes, made from its witness by definitions alone."""

import json
from dataclasses import dataclass
from fractions import Fraction
from math import prod

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


def realised(certificate):
    """Key features: s(|z|) 1[T inside z] for the sets T with listed degrees, and one 0/1-combination for each one-hot
    query, (eps/n)^<x,z>. Query features: the coefficients of the multilinear polynomial that agrees with the stated one
    on all 2^m points, by Moebius inversion."""
    fields = json.loads(certificate.data)
    witness, parameters = fields["witness"], fields["parameters"]
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
        for i in range(m):
            for z in range(size):
                if z >> i & 1:
                    value[z] -= value[z ^ (1 << i)]
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
