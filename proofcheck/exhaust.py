"""Every sequence of a head decided: for a kernel alone by B0, for a head with its readout by B7 (mathematics.md).

    decide    a kernel: `KernelCorrect`, with the explicit readout, or a `Refutation` by three tokens; no third outcome
              for a nonnegative kernel (one with a negative value is `Outside`). O(4^m) kernel values, for any n
    verify    a head with its readout, all sequences of length exactly n or 1..n: `HeadCorrect` or a `Counterexample`
              (proofcheck.whole). O(m 4^m), for any n

Floats with a proved error bound decide almost every comparison; queries with a near tie, a kernel value that may be
zero or negative, or a NaN are decided in exact integers. For m <= 10 the kernel re-checks a certificate that holds the
tables, as far as they fit into a file; otherwise the result is a summary with the status of a conditional answer (3):
decided here, and not re-checked.

Constants in denominators: kernel/TRUST.md, "Heads that are given". Own terms are a = alpha(x,x) + additive; for c > 0
further copies of x count as tokens of level h with the kernel value alpha(x,x).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from proofcheck import triples
from proofcheck.certificate import Checked
from proofcheck.cube import CHUNK, UNIT, Cube
from proofcheck.domination import check_range
from proofcheck.errors import CONDITIONAL, PROVED, UsageError
from proofcheck.heads import ClosedForm, Floats, Head
from proofcheck.theorems.bundle import foundation
from proofcheck.triples import Outside, Triple
from proofcheck.whole import Counterexample, HeadCorrect, fitting, verify

__all__ = ["Counterexample", "HeadCorrect", "KernelCorrect", "Outside", "Refutation", "RowReadout", "decide", "verify"]


@dataclass(frozen=True)
class RowReadout:
    """One query's readout: g(x,z) for every token z, and the offset that goes with a constant in denominators."""

    g: list[Fraction]
    offset: Fraction
    delta: Fraction


@dataclass(frozen=True)
class KernelCorrect:
    """The kernel has a readout that is correct at all lengths 1..n. Without a certificate the status is 3."""

    head: str
    n: int
    eps: Fraction
    exact_queries: int  # decided in exact integers
    certificate: Checked | None
    cube: Cube
    by_class: Checked | None = None  # where the tables are too large: `head-exists`, see `_class_certificate`

    @property
    def status(self) -> int:
        return PROVED if self.certificate else CONDITIONAL

    def readout(self, x: int) -> RowReadout:
        return readout(self.cube, x, self.n, self.eps)


@dataclass(frozen=True)
class Refutation:
    """A triple that refutes the kernel at length exactly n, or (`exactly` false) at lengths 1..n."""

    head: str
    n: int
    eps: Fraction
    triple: Triple
    condition: str
    exactly: bool
    certificate: Checked


def decide(
    head: Head, n: int = 3, eps: Fraction = Fraction(1, 2), *, command: str | None = None, certified: bool = True
) -> KernelCorrect | Refutation | Outside:
    """Whether some readout of the kernel is correct on all sequences of length 1..n over {0,1}^m, m <= 14. Without
    `certified` a correct kernel gets no certificate, however small."""
    check_range(n, eps)
    command = command or f"proofcheck certify {head.name} -n {n} --eps {eps}"
    cube, ties = Cube(head), 0
    for h, xs in cube.batches():
        undecided = xs[~_certainly_holds(cube, h, xs, n, eps)]
        ties += len(undecided)
        for x in undecided:
            found = _exact_query(cube, int(x), n, eps)
            if isinstance(found, Outside):
                return found
            if found is not None:
                exactly = found.breaks(n, eps) is not None
                condition = found.breaks(n, eps, exactly) or ""
                refuted = triples.certificate(cube.head, found, n, eps, command=command, exactly=exactly)
                return Refutation(head.name, n, eps, found, condition, exactly, refuted)
    proof = _kernel_certificate(cube, n, eps, command) if certified else None
    by_class = _class_certificate(head, n, eps, command) if certified and proof is None else None
    return KernelCorrect(head.name, n, eps, ties, proof, cube, by_class)


def _certainly_holds(cube: Cube, h: int, xs: NDArray[np.int64], n: int, eps: Fraction) -> NDArray[np.bool_]:
    """For each query, whether floats prove (i) and (ii) and that no kernel value is negative. NaN proves nothing."""
    values, bound = cube.kernel(xs)
    fine = np.zeros(len(xs), dtype=bool)
    step = max(1, CHUNK >> cube.m)
    for i in range(0, len(xs), step):
        part = slice(i, i + step)
        fine[part] = _levels_hold(cube, h, xs[part], values[part], bound[part], n, eps)
    return fine


def _levels_hold(
    cube: Cube, h: int, xs: NDArray[np.int64], values: Floats, bound: Floats, n: int, eps: Fraction
) -> NDArray[np.bool_]:
    order, starts = cube.by_level(xs)
    with np.errstate(all="ignore"):  # values -+ bound are themselves rounded: one more unit on both sides
        low, high = (np.take_along_axis(side, order, axis=1) for side in (values - bound, values + bound))
        least = np.minimum.reduceat(low, starts, axis=1)
        largest = np.maximum.reduceat(high, starts, axis=1)
        least -= np.abs(least) * UNIT * 2
        largest += np.abs(largest) * UNIT * 2
        places, c = np.arange(len(xs)), float(cube.additive)
        own_low = (np.maximum(values[places, xs] - bound[places, xs], 0) + c) * (1 - 8 * UNIT)
        own_high = (values[places, xs] + bound[places, xs] + c) * (1 + 8 * UNIT)
        fine = (least[:, h] >= 0) & (own_low > 0) & (least[:, :h] > 0).all(axis=1)
        if cube.nonnegative_features():
            fine = (own_low > 0) & (least[:, :h] > 0).all(axis=1)
        left = 2 * float(eps) * least
        for t in range(h):
            for u in range(t + 1, h + 1):
                d = u - t
                first = float((n - 2) * (d - 2 * eps)) * largest[:, u]
                slope = float(Fraction((n - 2) * d, n - 1) - 2 * eps)
                second = slope * (own_high if slope > 0 else own_low)
                slack = 8 * UNIT * (left[:, t] + first + np.abs(second))
                fine &= left[:, t] - first - second > slack
    return fine


def _exact_query(cube: Cube, x: int, n: int, eps: Fraction) -> Triple | Outside | None:
    """The triple of this query that breaks B0 most, exactly; None if B0 holds."""
    row, unit = cube.row(x)
    negative = min(row)
    if negative < 0:
        return Outside(cube.head.name, x, row.index(negative), Fraction(negative, unit), cube.size)
    least, largest = _extremes(x, row)
    found: list[tuple[tuple[bool, bool, Fraction], Triple]] = []
    h = x.bit_count()
    own = Fraction(row[x], unit)
    for t, y in enumerate(least[:h] or [x]):
        for z in largest[t + 1 :] or [x]:
            for z_ in {z, x}:
                triple = Triple(x, y, z_, own, Fraction(row[y], unit), Fraction(row[z_], unit), cube.additive)
                if triple.breaks(n, eps, exactly=False):
                    ratio = triple.required(n, eps) / triple.xy if triple.xy else Fraction(triple.gap)
                    found.append(((triple.breaks(n, eps) is not None, triple.xy == 0, ratio), triple))
    return max(found, key=lambda item: item[0])[1] if found else None


def _extremes(x: int, row: list[int]) -> tuple[list[int], list[int]]:
    """At each overlap level a token with the least and one with the largest value."""
    h = x.bit_count()
    least, largest = [-1] * (h + 1), [-1] * (h + 1)
    for z, value in enumerate(row):
        level = (x & z).bit_count()
        if least[level] < 0 or value < row[least[level]]:
            least[level] = z
        if largest[level] < 0 or value > row[largest[level]]:
            largest[level] = z
    return least, largest


def readout(cube: Cube, x: int, n: int, eps: Fraction) -> RowReadout:
    """The readout of B0's proof for one query of a kernel that satisfies B0, with the delta of
    `proofcheck.domination.readout`: half the least margin of (ii), or 2eps a, over n."""
    row, unit = cube.row(x)
    h, alpha = x.bit_count(), [Fraction(k, unit) for k in row]
    own = alpha[x] + cube.additive
    least, largest = _extremes(x, row)
    margins = [2 * eps * own]
    for t in range(h):
        for u in range(t + 1, h + 1):
            triple = Triple(x, least[t], largest[u], alpha[x], alpha[least[t]], alpha[largest[u]], cube.additive)
            margins.append(2 * eps * (triple.xy - triple.required(n, eps)))
    delta = min(margins) / (2 * n)
    if delta <= 0:
        raise UsageError(f"{cube.head.name}: the query {x:#x} breaks B0, so it has no readout")

    def product(level: int, a: Fraction) -> Fraction:
        return a * (level - eps) - own * Fraction(h - level, n - 1) + delta

    g = [product((x & z).bit_count(), a) / a if a else Fraction(0) for z, a in enumerate(alpha)]
    offset = (product(h, own) - alpha[x] * g[x]) / cube.additive if cube.additive else Fraction(0)
    return RowReadout(g, offset, delta)


def _kernel_certificate(cube: Cube, n: int, eps: Fraction, command: str) -> Checked | None:
    tables = cube.feature_tables()
    if tables is None:
        return None
    queries, keys, unit = tables
    parameters = {"m": cube.m, "n": n, "eps": eps, "additive": cube.additive * unit, "queries": queries, "keys": keys}
    return fitting("kernel-correct", parameters, "levels", command, [foundation("domination-sufficient")[1]])


def _class_certificate(head: Head, n: int, eps: Fraction, command: str) -> Checked | None:
    """For a kernel that is a polynomial in |x minus z| for light queries: that a head with its number of features
    exists, with the same rows at light queries and (eps/n)^<x,z>, right by Theorem 1, at heavy ones."""
    if not isinstance(head, ClosedForm) or head.degrees is None or head.heaviest is None or head.additive:
        return None
    from proofcheck.bounds.heads import given_symmetric

    return given_symmetric(head.m, head.degrees, head.heaviest, head.rank, n, eps, command)
