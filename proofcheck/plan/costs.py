"""What a layer keeps and computes for each token: kernel heads, and dense attention at length n.

A multiplication and an addition count as one operation each, an exponential or a division as one. For each head:

    kernel  state S (r x dv) and z (r): r (dv+1) numbers, whatever n is. A token adds phi(k) v^T to S (2 r dv) and
            phi(k) to z (r), and reads S^T phi(q) (2 r dv), z^T phi(q) (2r) and dv quotients: 4 r dv + 3 r + dv
            operations. The feature map itself is not counted.
    dense   keys and values of n tokens: n (dk+dv) numbers. A token takes n scores (2 n dk), subtracts their maximum,
            exponentiates and sums (3n), adds up values (2 n dv) and divides (dv): 2n (dk+dv) + 3n + dv operations.

Parameters of a head in a model of width d: maps to r features of queries and of keys, to dv values, and back:
2 d r + 2 d dv.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Numbers kept, and operations for each token, in all layers together."""

    state: int
    operations: int

    def memory(self, bits: int) -> int:
        """Bytes of the state at `bits` a number, rounded up."""
        return -(-self.state * bits // 8)


def kernel(layers: int, heads: int, r: int, dv: int) -> Costs:
    each = layers * heads
    return Costs(each * r * (dv + 1), each * (4 * r * dv + 3 * r + dv))


def dense(layers: int, heads: int, dk: int, dv: int, n: int) -> Costs:
    each = layers * heads
    return Costs(each * n * (dk + dv), each * (2 * n * (dk + dv) + 3 * n + dv))


def break_even(r: int, dk: int, dv: int) -> int:
    """The least n at which dense attention takes more operations a token than a kernel head: 2n (dk+dv) + 3n > 4 r dv +
    3 r."""
    return (4 * r * dv + 3 * r) // (2 * (dk + dv) + 3) + 1


def parameters(width: int, r: int, dv: int) -> int:
    return 2 * width * (r + dv)
