"""Built-in kernels, by name. float64 and exact rationals; the same seed gives the same head, on one
kind of machine with one version of numpy; what is certified holds for the exact features that were computed.

Linear maps. A token x in {0,1}^m becomes u = W x in R^d with W_ij normal, mean 0, standard deviation scale/sqrt(m), so
that entries of u have variance scale^2 |x|/m. Queries and keys have maps of their own (`map=random`), the same one
(`map=tied`) or opposite ones (`map=opposed`: W_K = -W_Q, the kernel then falls with the overlap), or are given as
arrays `wq`, `wk` (m, d). Random entries are multiples of 2^-24 below 2^8 in absolute value: for m <= 2^20 the sum W x
is exact in float64 whatever the order of summation, hence the same for a token alone and in a batch.

`r` is the number of features asked for; a kernel that cannot have exactly r has the largest number that it can have
below r, or the number that m fixes; `Head.rank` says how many.

Kernels of Min-IP: softmin, one-hot, symmetric, constant, in `minip`.

Random features of e^<u,v> with u = -sqrt(tau) x, v = sqrt(tau) z, that is, of softmin; W has r rows w_i ~ N(0, I_m):

    favor      phi(u)_i = e^(<w_i,u> - |u|^2/2) / sqrt r, positive (Choromanski et al. 2021)
    fourier    phi(u)_i = e^(|u|^2/2) (cos <w_i,u>, sin <w_i,u>) / sqrt(r/2), signed (Rahimi and Recht 2007)
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofcheck.errors import Outside, UsageError

from . import Bits, Floats, Head
from . import minip as closed
from .activations import ACTIVATIONS, Activation, dpfp
from .minip import product
from .parameters import (
    Parameter,
    array,
    choice,
    natural,
    not_negative,
    parsed,
    positive,
    power_of_two,
    shown,
    weight,
)

PLACES = 24  # binary places of random weights
LARGEST_WEIGHT = 2.0**8
MAX_M = 2**20  # so that sums of weights are exact
MAX_WEIGHTS = 2**27  # entries of one random map: 1 GiB

Values = dict[str, Any]
Builder = Callable[[int, int, np.random.Generator, Values], Head]


@dataclass(frozen=True)
class Kernel:
    """A built-in kernel: what `known` tells about it, and `build(m, r, generator, values)`."""

    name: str
    features: str  # their number, in r or m
    sign: str  # of alpha
    used: str  # where public libraries have it
    remarks: str
    parameters: tuple[Parameter, ...]
    build: Builder

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "features": self.features,
            "sign": self.sign,
            "used": self.used,
            "remarks": self.remarks,
            "parameters": {
                p.name: {"default": p.default if p.default is None else str(p.default), "text": p.text}
                for p in self.parameters
            },
        }


def known() -> list[Kernel]:
    """Every built-in kernel, for the command `heads`."""
    return list(KERNELS.values())


def build(name: str, m: int, r: int, seed: int = 0, options: Mapping[str, object] | None = None) -> Head:
    """The built-in head `name` on tokens of m bits with at most r features. `Outside` for kernels that depend on more
    than the two tokens, `UsageError` for anything out of range."""
    if name not in KERNELS:
        near = difflib.get_close_matches(name, KERNELS, 3)
        guess = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"unknown kernel {shown(name)}{guess} (known: {', '.join(KERNELS)})")
    for label, value, low, high in (("m", m, 1, MAX_M), ("r", r, 1, 2**40), ("seed", seed, 0, 2**63 - 1)):
        if not low <= value <= high:
            raise UsageError(f"{name}: expected {low} <= {label} <= {high}, got {value}")
    kernel = KERNELS[name]
    return kernel.build(m, r, np.random.default_rng(seed), parsed(name, kernel.parameters, options or {}))


def random_map(generator: np.random.Generator, m: int, d: int, deviation: float, name: str) -> Floats:
    """(m, d) normal entries, rounded to multiples of 2^-24."""
    if m * d > MAX_WEIGHTS:
        raise UsageError(f"{name}: a random map of {m} x {d} entries is larger than {MAX_WEIGHTS}; take fewer features")
    w = np.ldexp(np.rint(np.ldexp(generator.standard_normal((m, d)) * deviation, PLACES)), -PLACES)
    if np.abs(w).max() >= LARGEST_WEIGHT:
        raise UsageError(f"{name}: scale: the weights exceed {LARGEST_WEIGHT:g}; expected a smaller scale")
    return np.asarray(w)


# --- activations of linear maps ------------------------------------------------------------------------------


MAPS = (
    Parameter("map", "random", "random, tied (W_K = W_Q) or opposed (W_K = -W_Q)", choice("random", "tied", "opposed")),
    Parameter("scale", Fraction(1), "standard deviation of W times sqrt(m)", positive),
    Parameter("wq", None, "array (m, d) in place of the random map of the queries", array),
    Parameter("wk", None, "array (m, d) in place of the random map of the keys", array),
)


def activated(name: str, chosen: Callable[[Values], Activation]) -> Builder:
    """The head <activation(W_Q x), activation(W_K z)>."""

    def build(m: int, r: int, generator: np.random.Generator, values: Values) -> Head:
        act = chosen(values)
        wq, wk = values["wq"], values["wk"]
        if (wq is None) != (wk is None):
            raise UsageError(f"{name}: wq and wk are given together or not at all")
        if wq is None:
            d = act.width(r)
            if d == 0:
                raise UsageError(f"{name}: expected r >= {act.count(1)}, its least number of features, got {r}")
            deviation = float(values["scale"]) / math.sqrt(m)
            wq = random_map(generator, m, d, deviation, name)
            kinds = {"tied": lambda: wq, "opposed": lambda: -wq}
            wk = kinds.get(values["map"], lambda: random_map(generator, m, d, deviation, name))()
            note = f"W random, {m} x {d}, {values['map']}"
        else:
            if wq.shape != wk.shape or wq.shape[0] != m:
                raise UsageError(
                    f"{name}: wq, wk: expected two arrays of shape ({m}, d), got {wq.shape} and {wk.shape}"
                )
            note = "W given"
        rank = act.count(wq.shape[1])
        queries, keys = (lambda b: act.apply(product(b, wq))), (lambda b: act.apply(product(b, wk)))
        return Head(f"{name} (m={m}, r={rank})", m, rank, queries, keys, note=note)

    return build


# --- random features of softmin -----------------------------------------------------------------------------


def favor(m: int, r: int, generator: np.random.Generator, values: Values) -> Head:
    if values["stabiliser"] == "sequence":
        raise Outside(
            "favor with stabiliser=sequence",
            "sequence-coupled",
            "the maximum over the sequence is subtracted from the exponents of the keys before the constant is added, "
            "so that the features of a token depend on its neighbours",
            "stabiliser=token (the maximum over the features of the token itself) or stabiliser=none; without the "
            "added constant the maximum cancels in the output",
        )
    w = random_map(generator, m, r, 1.0, "favor")
    root, tau, added = math.sqrt(values["tau"]), float(values["tau"]), float(values["eps"])

    def features(sign: int) -> Callable[[Bits], Floats]:
        def apply(b: Bits) -> Floats:
            exponents = sign * root * product(b, w)
            if values["stabiliser"] == "token":
                exponents = exponents - exponents.max(axis=1, keepdims=True)
            exponents = exponents - tau / 2 * b.sum(axis=1, dtype=np.float64)[:, None]
            with np.errstate(over="ignore"):
                return np.asarray((np.exp(exponents) + added) / math.sqrt(r))

        return apply

    note = f"positive random features of e^(-{values['tau']} <x,z>), stabiliser {values['stabiliser']}"
    return Head(f"favor (m={m}, r={r})", m, r, features(-1), features(1), note=note)


def fourier(m: int, r: int, generator: np.random.Generator, values: Values) -> Head:
    d = r // 2
    if d == 0:
        raise UsageError(f"fourier: expected r >= 2, its least number of features, got {r}")
    w = random_map(generator, m, d, 1.0, "fourier")
    root, tau = math.sqrt(values["tau"]), float(values["tau"])

    def features(sign: int) -> Callable[[Bits], Floats]:
        def apply(b: Bits) -> Floats:
            angles = sign * root * product(b, w)
            with np.errstate(over="ignore"):
                factor = np.exp(tau / 2 * b.sum(axis=1, dtype=np.float64))[:, None] / math.sqrt(d)
            return np.concatenate([factor * np.cos(angles), factor * np.sin(angles)], axis=1)

        return apply

    note = f"signed random features of e^(-{values['tau']} <x,z>): alpha may be negative"
    return Head(f"fourier (m={m}, r={2 * d})", m, 2 * d, features(-1), features(1), note=note)


def cosformer(m: int, r: int, generator: np.random.Generator, values: Values) -> Head:
    raise Outside(
        "cosformer",
        "position-dependent",
        "alpha = relu(q) relu(k) cos(pi (i-j) / 2M) depends on the positions i, j of the two tokens",
        "Theorem 8, which speaks about heads with a feature map for each position (proofcheck theorem8): the sum of "
        "the kernels over the source positions is dominated like one kernel. Or take relu, its kernel at one position",
    )


def seedless(make: Callable[[int, int, Values], Head]) -> Builder:
    return lambda m, r, generator, values: make(m, r, values)


# --- the list -----------------------------------------------------------------------------------------------

TAU = Parameter("tau", Fraction(1), "temperature: the features approximate e^(-tau <x,z>)", positive)
ROW = Parameter("w", Fraction(1, 8), "e^-tau of the softmin rows of queries heavier than the cut-off", weight)


def _activated(name: str, features: str, sign: str, used: str, remarks: str) -> Kernel:
    return Kernel(name, features, sign, used, remarks, MAPS, activated(name, lambda values: ACTIVATIONS[name]))


KERNELS = {
    kernel.name: kernel
    for kernel in (
        _activated(
            "elu1",
            "r",
            "> 0",
            "flash-linear-attention, pytorch-fast-transformers, zoology",
            "ELU+1; in bf16 it is exactly 0 at u below about -5.5",
        ),
        _activated(
            "relu",
            "r",
            ">= 0",
            "performer-pytorch (generalised), flash-linear-attention (t2r)",
            "alpha is 0 where no feature is active on both sides",
        ),
        _activated("sqrelu", "r", ">= 0", "flash-linear-attention, zoology", "squared ReLU"),
        _activated("exp", "r", "> 0", "zoology, lolcats", "overflows for large W x: reported with the token"),
        _activated("softmax-dim", "r", "> 0", "zoology, lolcats", "softmax over the features; sum of features 1"),
        _activated(
            "hedgehog",
            "the largest even number <= r",
            "> 0",
            "flash-linear-attention, zoology, lolcats",
            "softmax of (2u, -2u)",
        ),
        _activated(
            "taylor",
            "the largest 1 + d + d^2 <= r",
            ">= 1/2, though features are signed",
            "flash-linear-attention (Based), taylor-series-linear-attention, zoology",
            "1 + s + s^2/2 of the scaled score; its rank on the cube is at most 1 + m + C(m,2)",
        ),
        Kernel(
            "dpfp",
            "the largest multiple of 2 nu that is <= r",
            ">= 0",
            "flash-linear-attention",
            "deterministic parameter-free projection",
            (*MAPS, Parameter("nu", 1, "number of shifts", natural(1))),
            activated("dpfp", lambda values: dpfp(values["nu"])),
        ),
        Kernel(
            "favor",
            "r",
            "> 0",
            "performer-pytorch, pytorch-fast-transformers",
            "positive random features of softmin; underflows to 0 for tau |x| above about 1400",
            (
                TAU,
                Parameter(
                    "stabiliser", "none", "none, token, or sequence (refused)", choice("none", "token", "sequence")
                ),
                Parameter(
                    "eps", Fraction(0), "constant added to each feature (performer-pytorch: 1/10000)", not_negative
                ),
            ),
            favor,
        ),
        Kernel(
            "fourier",
            "the largest even number <= r",
            "signed",
            "pytorch-fast-transformers (RandomFourierFeatures)",
            "random Fourier features of softmin: no head in the sense of the theorems where alpha < 0",
            (TAU,),
            fourier,
        ),
        Kernel(
            "cosformer",
            "2r",
            ">= 0",
            "cosFormer, zoology",
            "depends on positions: refused, see Theorem 8",
            (),
            cosformer,
        ),
        Kernel(
            "constant",
            "1",
            "1",
            "uniform attention, mean pooling",
            "correct for n <= 2 (Theorem 6)",
            (),
            seedless(closed.constant),
        ),
        Kernel(
            "softmin",
            "2^m",
            "> 0",
            "dense attention with scores -tau <x,z>",
            "Theorem 1, with readout; closed form, any m",
            (
                Parameter("w", None, "e^-tau, 0 < w < 1; 1/6 if neither w nor tau is given", weight),
                Parameter("tau", None, "temperature; w is the float64 nearest to e^-tau", positive),
            ),
            seedless(closed.softmin),
        ),
        Kernel(
            "one-hot",
            "2^m",
            "> 0",
            "-",
            "Theorem 2: softmin by its exact features, with readout; m <= 12",
            (Parameter("w", Fraction(1, 8), "e^-tau, a power of 1/2", power_of_two),),
            seedless(closed.one_hot),
        ),
        Kernel(
            "symmetric",
            "sum of C(m,k) over k <= K, and one for each query above the cut-off",
            ">= 1",
            "-",
            "B3(a); with lam = 8 and n = 3, eps = 1/2 right for queries of weight <= 5, 9, 13, 18 at K = 1, 2, 3, 4",
            (
                Parameter("K", None, "degree; the largest that r allows if not given", natural(0)),
                Parameter("lam", Fraction(8), "factor of the degree k: lam^k", positive),
                Parameter("cutoff", None, "heaviest query with a symmetric row; m if not given", natural(0)),
                ROW,
            ),
            seedless(closed.symmetric),
        ),
    )
}
