"""What stands between a linear map and the kernel in linear attention: u = W x (N, d) -> features (N, r).

| name        | features of u in R^d                                             | r         | sign         |
|-------------|------------------------------------------------------------------|-----------|--------------|
| elu1        | ELU(u) + 1 = u + 1 for u > 0, e^u otherwise                      | d         | > 0          |
| relu        | max(u, 0)                                                        | d         | >= 0         |
| sqrelu      | max(u, 0)^2                                                      | d         | >= 0         |
| exp         | e^u                                                              | d         | > 0          |
| softplus    | log(1 + e^u)                                                     | d         | > 0          |
| softmax-dim | e^u / sum of e^u over the features                               | d         | > 0          |
| hedgehog    | softmax of (2u, -2u) over the features                           | 2d        | > 0          |
| taylor      | 1, u/d^(1/4), (u tensor u)/sqrt(2d)                              | 1+d+d^2   | alpha >= 1/2 |
| dpfp        | p_i p_(i-j), j = 1..nu, p = (relu(u), relu(-u)), indices mod 2d  | 2 d nu    | >= 0         |
| identity    | u                                                                | d         | signed       |

The Taylor kernel is 1 + s + s^2/2 = ((1+s)^2 + 1)/2 with s = <u,v>/sqrt d, up to the rounding of its features.
Sources: Katharopoulos et al. 2020 (elu1), Kasai et al. 2021 (relu, "T2R"), Zhang et al. 2024 (hedgehog), Arora et al.
2024 and Keles et al. 2022 (taylor), Schlag et al. 2021 (dpfp).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proofcheck.errors import UsageError

from . import Floats


@dataclass(frozen=True)
class Activation:
    """`apply` maps (N, d) to (N, count(d))."""

    apply: Callable[[Floats], Floats]
    count: Callable[[int], int]
    nonnegative: bool = True

    def width(self, r: int) -> int:
        """The largest d with count(d) <= r; 0 if there is none."""
        low, high = 0, r
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.count(middle) <= r else (low, middle - 1)
        return low


def elu1(u: Floats) -> Floats:
    return np.where(u > 0, u + 1, np.exp(np.minimum(u, 0)))


def relu(u: Floats) -> Floats:
    return np.maximum(u, 0)


def sqrelu(u: Floats) -> Floats:
    return np.maximum(u, 0) ** 2


def exp(u: Floats) -> Floats:
    with np.errstate(over="ignore"):  # an infinity is reported with its token
        return np.exp(u)


def softplus(u: Floats) -> Floats:
    return np.asarray(np.logaddexp(0, u))


def softmax(u: Floats) -> Floats:
    shifted = np.exp(u - u.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def hedgehog(u: Floats) -> Floats:
    return softmax(np.concatenate([2 * u, -2 * u], axis=1))


def taylor(u: Floats) -> Floats:
    n, d = u.shape
    scaled = u / d**0.25
    squares = (scaled[:, :, None] * scaled[:, None, :]).reshape(n, d * d) / np.sqrt(2.0)
    return np.concatenate([np.ones((n, 1)), scaled, squares], axis=1)


def dpfp(nu: int) -> Activation:
    """Deterministic parameter-free projection."""

    def apply(u: Floats) -> Floats:
        p = np.concatenate([relu(u), relu(-u)], axis=1)
        return np.concatenate([p * np.roll(p, j, axis=1) for j in range(1, nu + 1)], axis=1)

    return Activation(apply, lambda d: 2 * d * nu)


ACTIVATIONS = {
    "elu1": Activation(elu1, lambda d: d),
    "relu": Activation(relu, lambda d: d),
    "sqrelu": Activation(sqrelu, lambda d: d),
    "exp": Activation(exp, lambda d: d),
    "softplus": Activation(softplus, lambda d: d),
    "softmax-dim": Activation(softmax, lambda d: d),
    "hedgehog": Activation(hedgehog, lambda d: 2 * d),
    "taylor": Activation(taylor, lambda d: 1 + d + d * d),
    "dpfp": dpfp(1),
    "identity": Activation(lambda u: u, lambda d: d, nonnegative=False),
}


def activation(name: str, place: str) -> Activation:
    """The activation of that name; `place` is for the message."""
    if name not in ACTIVATIONS:
        raise UsageError(f"{place}: expected an activation, one of {', '.join(ACTIVATIONS)}; got {name!r}")
    return ACTIVATIONS[name]
