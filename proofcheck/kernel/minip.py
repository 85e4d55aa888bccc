"""The definition of Min-IP, of a head, of correctness, and of a sketch model. Plain loops over fractions.

A token is a subset of [m] written as an m-bit integer. The overlap <x,z> is the number of common
elements. For a sequence X = (x_1, .., x_N) the target at position i is t_i(X) = min_j <x_i, x_j>,
the token itself included. A head is a kernel alpha(x,z) >= 0 and a scalar table g(x,z); its output is

    that_i(X) = sum_j alpha(x_i,x_j) g(x_i,x_j) / sum_j alpha(x_i,x_j).

A constant c >= 0 may be added to every denominator (`additive`). An affine readout then gives the numerator a term
c * offset(x_i): offset + <w, sum_j alpha v / D> = (c offset + sum_j alpha (offset + <w, v>)) / D.

The table g(x,z) = beta(x) + w(x).v(z) is what normalisation makes of a value map v and a
query-dependent affine readout (paper, eq. 5). A zero denominator on a valid input is a failure of the
head. Correctness is STRICT: |that_i(X) - t_i(X)| < eps at every position.

A quantised linear-attention model (`messages`) is an embedding and layers of heads with integer entries. A grid (low,
high, step) rounds a number v to the integer nearest to v/step (halves up), cut off to low..high. A token starts in the
state u = E (x_0, .., x_{m-1}, 1). In each layer, a head with the elementwise feature map phi sends

    S = grid(sum_j phi(K u_j) (V u_j)^T),  z = grid(sum_j phi(K u_j)),  grids `sums` and `normalisers`,

and then each token updates its own state: with f = phi(Q u) and the values step * code that S and z stand for, o is the
rounding of S^T f / z.f (of 0 where z.f = 0) to the grid `outputs`, and u' = grid(u + sum over the heads of O o), grid
`states`. The messages are all that tokens learn of each other.

Everything faster than this file is tested against it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Matrix = list[list[int]]


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


def rounded(value: Fraction | int, grid: tuple[int, int, Fraction]) -> int:
    low, high, step = grid
    return min(max(floor(value / step + Fraction(1, 2)), low), high)


def messages(embedding: Matrix, layers: Sequence[Any], sequence: Sequence[int]) -> list[Any]:
    """(S, z) of every head of every layer. A layer is (heads, (sums, normalisers, outputs, states)); a head is (Q, K,
    V, O, relu, polynomial): phi(t) = polynomial(max(t, 0) if relu else t), coefficients from the constant up."""
    bits = [[token >> i & 1 for i in range(len(embedding[0]) - 1)] + [1] for token in sequence]
    states, transcript = [_times(embedding, row) for row in bits], []
    for heads, (sums, normalisers, outputs, residual) in layers:
        sent, after = [], [list(u) for u in states]
        for query, key, value, output, relu, polynomial in heads:
            features = [_features(_times(key, u), relu, polynomial) for u in states]
            columns = list(zip(*(_times(value, u) for u in states), strict=True))
            s = [[rounded(_dot(f, v), sums) for v in columns] for f in zip(*features, strict=True)]
            z = [rounded(sum(f), normalisers) for f in zip(*features, strict=True)]
            for u, plus in zip(states, after, strict=True):
                f = _features(_times(query, u), relu, polynomial)
                below = normalisers[2] * _dot(z, f)
                above = [sums[2] * _dot(column, f) for column in zip(*s, strict=True)]
                o = [rounded(a / below if below else 0, outputs) for a in above]
                plus[:] = map(int.__add__, plus, _times(output, o))
            sent.append((s, z))
        states = [[rounded(k, residual) for k in u] for u in after]
        transcript.append(sent)
    return transcript


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _times(matrix: Matrix, vector: Sequence[int]) -> list[int]:
    return [_dot(row, vector) for row in matrix]


def _features(values: list[int], relu: int, polynomial: list[int]) -> list[int]:
    return [sum(c * (max(t, 0) if relu else t) ** k for k, c in enumerate(polynomial)) for t in values]
