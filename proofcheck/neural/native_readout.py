"""The worst sequences of `separable` and their gradients in compiled loops, for processors.

Arrays: alpha and g (B, 2^m, 2^m) of float32 or float64; for both sides and each (x,t), numbered query by query, values,
denominators and `often` (B, 2, levels), and tokens (B, 2, 2, levels): of max_{=t} u and of max_{>=t} u. `often` is how
often the latter occurs, and -1 where the denominator is not positive. All are written into arrays that are given.

The tokens of a query are brought into the order of their levels, those of a level in their own order. Then each
maximum runs over neighbouring numbers, without their places, and afterwards the first place that has it is looked up.
Of levels with equal maxima the lowest counts. u is rounded after each operation, the same in both. The tables have to
be finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .native import compiled, shared, weights

Array = NDArray[Any]


def worst(given: Sequence[Array], others: int, eps: float, any_length: bool, threads: int = 1) -> None:
    """From alpha and g to values, denominators, often and tokens, for n - 1 = `others`."""
    weight, real = weights(given[0].shape[1]), given[0].dtype.type
    numbers = real(others), real(eps), any_length
    shared(lambda part: _worst(*(array[part] for array in given), *numbers, weight), given[0], threads)


def pulled_back(given: Sequence[Array], eps: float, threads: int = 1) -> None:
    """From all that `worst` was given and has written and the gradients of values and denominators to those of alpha
    and g, which are added."""
    weight, e = weights(given[0].shape[1]), given[0].dtype.type(eps)
    shared(lambda part: _pulled_back(*(array[part] for array in given), e, weight), given[0], threads)


@compiled()
def _worst(alpha, g, values, denominators, often, tokens, others, eps, any_length, weight):  # type: ignore[no-untyped-def]
    heads, size, _ = alpha.shape
    levels = weight[size - 1] + 1
    order, ends = np.empty(size, np.int64), np.empty(levels + 1, np.int64)
    a, off = np.empty(size, alpha.dtype), np.empty(size, alpha.dtype)
    most = np.empty((2, levels), alpha.dtype)
    target = np.arange(levels + 1).astype(alpha.dtype)  # numbers of the tables' own precision
    zero, one = target[0], target[1]
    start = 0
    for x in range(size):
        ends[:] = 0
        for z in range(size):
            ends[weight[x & z] + 1] += 1
        for level in range(levels):
            ends[level + 1] += ends[level]
        for z in range(size):
            order[ends[weight[x & z]]] = z
            ends[weight[x & z]] += 1
        for level in range(levels, 0, -1):
            ends[level] = ends[level - 1]
        ends[0] = 0  # level l: from ends[l] to ends[l+1]
        top = weight[x]
        for b in range(heads):
            for i in range(size):
                a[i], off[i] = alpha[b, x, order[i]], g[b, x, order[i]]
            for t in range(top + 1):
                for level in range(t, top + 1):
                    above, below = _most(a, off, ends[level], ends[level + 1], target[t], eps)
                    most[0, level], most[1, level] = above, below
                for side in range(2):
                    sign = one if side == 0 else -one
                    best = t
                    for level in range(t + 1, top + 1):
                        if most[side, level] > most[side, best]:
                            best = level
                    y = _first(a, off, ends[t], target[t], eps, sign, most[side, t])
                    z = y
                    if best != t:
                        z = _first(a, off, ends[best], target[t], eps, sign, most[side, best])
                    once, count = (zero, others) if t == top else (one, others - one)
                    if any_length and not most[side, best] > zero:
                        count = zero
                    total = alpha[b, x, x] * (sign * (g[b, x, x] - target[t]) - eps)
                    total += once * most[side, t] + count * most[side, best]
                    denominator = alpha[b, x, x] + once * a[y] + count * a[z]
                    positive = denominator > zero
                    values[b, side, start + t] = total / denominator if positive else zero
                    denominators[b, side, start + t] = denominator if positive else one
                    often[b, side, start + t] = count if positive else -one
                    tokens[b, side, 0, start + t], tokens[b, side, 1, start + t] = order[y], order[z]
        start += top + 1


@compiled(numbers=True)
def _most(a, g, first, end, t, eps):  # type: ignore[no-untyped-def]
    """max u for both sides."""
    off = g[first] - t
    above, below = a[first] * (off - eps), a[first] * (-off - eps)
    for i in range(first + 1, end):
        off = g[i] - t
        up, down = a[i] * (off - eps), a[i] * (-off - eps)
        above = up if up > above else above
        below = down if down > below else below
    return above, below


@compiled()
def _first(a, g, first, t, eps, sign, value):  # type: ignore[no-untyped-def]
    """The first place that has the value; the search may end at the end of the tables, but does not."""
    for i in range(first, len(a)):
        if a[i] * (sign * (g[i] - t) - eps) == value:
            return i
    return first


@compiled()
def _pulled_back(  # type: ignore[no-untyped-def]
    alpha, g, values, denominators, often, tokens, of_values, of_denominators, at_alpha, at_g, eps, weight
):
    heads, size, _ = alpha.shape
    for b in range(heads):
        place = 0
        for x in range(size):
            for t in range(weight[x] + 1):
                for side in range(2):
                    many = often[b, side, place]
                    if many < 0:
                        continue
                    sign = 1 - 2 * side
                    of_total = of_values[b, side, place] / denominators[b, side, place]
                    of_weight = of_denominators[b, side, place] - of_total * values[b, side, place]
                    if of_total == 0 and of_weight == 0:
                        continue
                    for part in range(3):
                        z = x if part == 0 else tokens[b, side, part - 1, place]
                        count = 1 if part == 0 else many if part == 2 else 0 if t == weight[x] else 1
                        u = sign * (g[b, x, z] - t) - eps
                        at_alpha[b, x, z] += count * (of_total * u + of_weight)
                        at_g[b, x, z] += count * of_total * sign * alpha[b, x, z]
                place += 1
