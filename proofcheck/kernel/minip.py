"""The definition of Min-IP, of a head, and of correctness. Plain loops over fractions.

A token is a subset of [m] written as an m-bit integer. The overlap <x,z> is the number of common
elements. For a sequence X = (x_1, .., x_N) the target at position i is t_i(X) = min_j <x_i, x_j>,
the token itself included. A head is a kernel alpha(x,z) >= 0 and a scalar table g(x,z); its output is

    that_i(X) = sum_j alpha(x_i,x_j) g(x_i,x_j) / sum_j alpha(x_i,x_j).

A constant c >= 0 may be added to every denominator (`additive`). An affine readout then gives the numerator a term
c * offset(x_i): offset + <w, sum_j alpha v / D> = (c offset + sum_j alpha (offset + <w, v>)) / D.

The table g(x,z) = beta(x) + w(x).v(z) is what normalisation makes of a value map v and a
query-dependent affine readout (paper, eq. 5). A zero denominator on a valid input is a failure of the
head. Correctness is STRICT: |that_i(X) - t_i(X)| < eps at every position.

Everything faster than this file is tested against it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Head:
    """A head on tokens of m bits: alpha and g map (query, token) to exact rationals, offset maps a query to one."""

    def __init__(
        self,
        m: int,
        alpha: Callable[[int, int], Fraction],
        g: Callable[[int, int], Fraction],
        additive: Fraction = Fraction(0),
        offset: Callable[[int], Fraction] = lambda x: Fraction(0),
    ) -> None:
        self.m = m
        self.alpha = alpha
        self.g = g
        self.additive = additive
        self.offset = offset


def overlap(x: int, z: int) -> int:
    return (x & z).bit_count()


def target(sequence: Sequence[int], i: int) -> int:
    return min(overlap(sequence[i], z) for z in sequence)


def output(head: Head, sequence: Sequence[int], i: int) -> Fraction | None:
    """that_i(X), or None where the denominator is zero."""
    denominator = head.additive
    numerator = denominator * head.offset(sequence[i])
    for z in sequence:
        weight = head.alpha(sequence[i], z)
        numerator += weight * head.g(sequence[i], z)
        denominator += weight
    return numerator / denominator if denominator else None


def correct_at(head: Head, sequence: Sequence[int], i: int, eps: Fraction) -> bool:
    value = output(head, sequence, i)
    return value is not None and abs(value - target(sequence, i)) < eps


def failures(head: Head, lengths: Sequence[int], eps: Fraction) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every (sequence, position) of the given lengths where the head fails, tokens with negative
    kernel values first: they put the pair outside the definition of a head."""
    tokens = range(1 << head.m)
    for x, z in product(tokens, repeat=2):
        if head.alpha(x, z) < 0:
            yield (x, z), 0
    for length in lengths:
        for sequence in product(tokens, repeat=length):
            for i in range(length):
                if not correct_at(head, sequence, i, eps):
                    yield sequence, i


def correct_at_length(head: Head, n: int, eps: Fraction) -> bool:
    """Correct on every sequence of length exactly n."""
    return next(failures(head, [n], eps), None) is None


def correct_up_to(head: Head, n: int, eps: Fraction) -> bool:
    """Correct on every sequence of length 1..n."""
    return next(failures(head, range(1, n + 1), eps), None) is None
