"""The shapes that a statement can take. A rule knows shapes, never theorems.

A statement is a named tuple whose first field is its sentence. The shapes about polynomial conditions over the
reals come with functions below; the others are lists of numbers whose meaning the sentence and TRUST.md give.
"""

from __future__ import annotations

from collections import namedtuple

from ..exact import Poly, as_poly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fractions import Fraction

# For all reals, the conditions `rows` (name -> Row) imply the conclusion (a Row).
Universal = namedtuple("Universal", "sentence rows conclusion")
# Some real point meets all of `rows`.
Existential = namedtuple("Existential", "sentence rows")
# Every one of `cases` (name -> Universal) holds; TRUST.md says why the sentence follows.
Cases = namedtuple("Cases", "sentence cases")
# Some family of at least `size` subsets of [m], each of `weight` elements, has |S\U| >= distance for all S != U.
Code = namedtuple("Code", "sentence m weight distance size")
# Every head correct at exact length n has alpha(x,y) > factor alpha(x,z) where <x,z> - <x,y> = distance.
Chain = namedtuple("Chain", "sentence n eps distance factor")
# Every head on m-bit tokens correct at exact length n has at least `value` features.
FeatureRank = namedtuple("FeatureRank", "sentence m n eps value")
# Some head on m-bit tokens with at most `rank` features is correct at all lengths 1..n.
HeadExists = namedtuple("HeadExists", "sentence m n eps rank")
# For all m >= 2, with M = 2 floor(m/2): every head correct at exact length n has r >= (2/(1+a))^M / (4 kappa (M+1)).
LowerExponent = namedtuple("LowerExponent", "sentence n eps a kappa")
# For all m >= 1: some head correct at all lengths 1..n has r <= 2 c m (2 - 1/rho)^m, with c = 4/eta^2.
UpperExponent = namedtuple("UpperExponent", "sentence n eps rho eta")
# The matrix with `rows` rows, `columns` columns and the given entry(i, j) has rank at least `rank`.
Matrix = namedtuple("Matrix", "sentence rows columns entry rank")
# The head (a minip.Head) is correct on every sequence of length 1..n.
HeadTask = namedtuple("HeadTask", "sentence head n eps")
# No head whose kernel has the values `kernel` = (alpha(x,x), alpha(x,y), alpha(x,z)), with `additive` added to all
# denominators, is correct on all sequences over x, y, z of length exactly n (of length 1..n unless `exact`).
KernelRefutation = namedtuple("KernelRefutation", "sentence n eps exact x y z additive kernel")
# The head (a minip.Head) fails at this position of this sequence.
HeadFailure = namedtuple("HeadFailure", "sentence head sequence position eps")
# Some readout of the kernel <queries[x], keys[z]> is correct on every sequence of length 1..n of m-bit tokens.
KernelTask = namedtuple("KernelTask", "sentence m n eps additive queries keys")
# This kernel with g(x,z) = <weights[x], values[z]> + offsets[x] is correct at length exactly n (at 1..n).
TableTask = namedtuple("TableTask", "sentence m n eps exact additive queries keys values weights offsets")
# exp(tau) >= bound.
Exponential = namedtuple("Exponential", "sentence tau bound")
# Every assignment of the typed family on these words has the targets that it assigns.
TypedFamily = namedtuple("TypedFamily", "sentence m weight s words")
# A correct sketch model has sum of log2 |alphabet| >= q log2(s+1) > bits - 1.
Transcript = namedtuple("Transcript", "sentence m s q bits")
# The model has the same messages (minip.messages) on both sequences, the same token at `place` there, and two targets.
Collision = namedtuple("Collision", "sentence embedding layers sequences place targets")
# `holds`, a function of the statements it rests on (claim name -> statement), returns a reason or None where it fails.
Consequence = namedtuple("Consequence", "sentence holds")

NEGATED = "negated-conclusion"


class Row:
    """A condition: `poly` > 0 (strict) or `poly` >= 0."""

    __slots__ = ("poly", "strict")

    def __init__(self, poly: Poly, strict: bool) -> None:
        self.poly = poly
        self.strict = strict

    def holds(self, numerators: dict[str, int], denominator: int) -> bool:
        """Does the condition hold where each variable has the value numerator/denominator?"""
        sign = self.poly.sign_at(numerators, denominator)
        return sign > 0 if self.strict else sign >= 0

    def __repr__(self) -> str:
        return f"{self.poly} {'>' if self.strict else '>='} 0"


def positive(poly: Poly | Fraction | int) -> Row:
    return Row(as_poly(poly), True)


def nonnegative(poly: Poly | Fraction | int) -> Row:
    return Row(as_poly(poly), False)


def variables(rows: dict[str, Row]) -> list[str]:
    return sorted(set().union(*(row.poly.variables() for row in rows.values())))


def refutable(claim: Universal) -> dict[str, Row]:
    """The hypotheses and the negated conclusion: the statement says that no real point meets these."""
    return {**claim.rows, NEGATED: Row(-claim.conclusion.poly, not claim.conclusion.strict)}
