"""Three tokens that decide: the exact test of B0 on a triple (x, y, z), and the certificate against a kernel.

With a constant c >= 0 added to denominators, a = alpha(x,x) + c, L = n-1, K = n-2 and d = <x,z> - <x,y> >= 1, a kernel
with a correct readout has (mathematics.md B0; kernel/TRUST.md, "Heads that are given", for the constant)

    (i)   a > 0, and alpha(x,y) > 0;
    (ii)  2eps alpha(x,y) > K(d-2eps) alpha(x,z) + (Kd/L - 2eps) a,      z = x allowed.

A triple that breaks one of them refutes the kernel against all values and all affine readouts. For c = 0, sequences of
length exactly n are enough; for c > 0 a vanishing alpha(x,y) that (ii) allows needs the lengths 1 and 2.

    Triple       tokens and exact kernel values; `breaks` says which condition fails
    Outside      a negative kernel value
    certificate  `kernel-refutation`, with the features that the values come from where they fit into the file
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofcheck.certificate import Checked, certify
from proofcheck.domination import check_range
from proofcheck.errors import ClaimFails
from proofcheck.heads import ClosedForm, Head, dyadic
from proofcheck.kernel.exact import MAX_BITS, MAX_DIGITS
from proofcheck.theorems.bundle import foundation

MAX_FILE = 3_500_000  # bytes of features in a certificate


@dataclass(frozen=True)
class Triple:
    """alpha(x,x), alpha(x,y), alpha(x,z) exactly, and the constant added to denominators; <x,y> < <x,z>."""

    x: int
    y: int
    z: int
    xx: Fraction
    xy: Fraction
    xz: Fraction
    additive: Fraction = Fraction(0)

    @property
    def own(self) -> Fraction:
        return self.xx + self.additive

    @property
    def gap(self) -> int:
        return (self.x & self.z).bit_count() - (self.x & self.y).bit_count()

    def required(self, n: int, eps: Fraction) -> Fraction:
        """What alpha(x,y) must exceed by (ii)."""
        right = (n - 2) * (self.gap - 2 * eps) * self.xz
        return (right + (Fraction((n - 2) * self.gap, n - 1) - 2 * eps) * self.own) / (2 * eps)

    def breaks(self, n: int, eps: Fraction, exactly: bool = True) -> str | None:
        """ "i", "ii", or None where the triple does not refute the kernel, at length exactly n or at lengths 1..n."""
        check_range(n, eps)
        if min(self.xx, self.xy, self.xz) < 0:
            return None
        if self.own == 0:
            return "i"
        if self.gap < 1:
            return None
        if self.xy == 0 and (self.xz == 0 or self.additive == 0 or not exactly):
            return "i"
        return "ii" if self.xy <= self.required(n, eps) else None


@dataclass(frozen=True)
class Outside:
    """alpha(x,z) < 0: the head is no nonnegative kernel head, and the theorems say nothing about it."""

    head: str
    x: int
    z: int
    value: Fraction
    evaluations: int


def evaluate(head: Head, x: int, tokens: Sequence[int]) -> dict[int, Fraction]:
    """alpha(x,z) exactly for x and for each of the tokens."""
    distinct = list(dict.fromkeys([x, *tokens]))
    return dict(zip(distinct, head.exact(x, distinct), strict=True))


def worst(head: Head, n: int, eps: Fraction, x: int, values: Mapping[int, Fraction]) -> Triple | None:
    """Of all triples (x, y, z) of these tokens, z = x included, the one with the largest required/alpha(x,y) that
    refutes the kernel at length exactly n; None if none does."""
    found: list[tuple[tuple[bool, Fraction], Triple]] = []
    for y, xy in values.items():
        for z, xz in values.items():
            triple = Triple(x, y, z, values[x], xy, xz, head.additive)
            if triple.gap >= 1 and triple.breaks(n, eps):
                ratio = triple.required(n, eps) / xy if xy else Fraction(triple.gap)
                found.append(((xy == 0, ratio), triple))
    return max(found, key=lambda item: item[0])[1] if found else None


def certificate(
    head: Head, triple: Triple, n: int, eps: Fraction, *, command: str, seed: int | None = None, exactly: bool = True
) -> Checked:
    """`kernel-refutation`, checked by the kernel. Raises `ClaimFails` where the numbers do not fit into a file."""
    parameters: dict[str, Any] = {
        "m": head.m,
        "n": n,
        "eps": eps,
        "lengths": "exactly" if exactly else "up-to",
        "x": f"{triple.x:x}",
        "y": f"{triple.y:x}",
        "z": f"{triple.z:x}",
        "additive": triple.additive,
    }
    given = _features(head, triple)
    if given is None:
        values = {"xx": triple.xx, "xy": triple.xy, "xz": triple.xz}
        if any(max(abs(q.numerator), q.denominator) >= 10**MAX_DIGITS for q in values.values()):
            raise ClaimFails(
                f"{head.name}: the kernel's values have more than {MAX_DIGITS} digits, too many for a file"
            )
        given = {"kernel": values}
    rested = [foundation("domination-necessary")[1]]
    return certify("kernel-refutation", parameters | given, "violation", {}, command=command, uses=rested, seed=seed)


def _features(head: Head, triple: Triple) -> dict[str, Any] | None:
    """The features that the kernel's values come from, as integers over one power of two; None where there are none
    or the file would be too large."""
    if isinstance(head, ClosedForm) or 8 * head.rank > MAX_FILE:
        return None
    query, power = dyadic(head.features("queries", [triple.x])[0])
    keys = {}
    for name, token in (("x", triple.x), ("y", triple.y), ("z", triple.z)):
        keys[name] = dyadic(head.features("keys", [token])[0])
    common = max(other for _, other in keys.values())
    rows = {name: [k << (common - other) for k in row] for name, (row, other) in keys.items()}
    listed = [k for row in (query, *rows.values()) for k in row]
    size = sum(k.bit_length() * 0.302 + 3 for k in listed)
    largest = max((k.bit_length() for k in listed), default=0)
    if size > MAX_FILE or largest > 3 * MAX_DIGITS or power + common > MAX_BITS // 2:
        return None
    return {"features": {"query": query, "keys": rows, "shift": power + common}}
