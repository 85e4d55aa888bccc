"""A token-local layer that was found, decided with its own parameters rather than as a table of its features.

`rationalise` rounds the FEATURES of a trained layer: an upper bound on the rank, and no longer the layer. Here its
WEIGHTS are rounded, to multiples of 2^-k with the least k that works; the features that float64 computes from them,
token by token, are dyadic rationals, and `exhaust.decide` decides their kernel on all sequences exactly. With relu and
sqrelu nothing is rounded on the way: the features are then the layer's in exact arithmetic.

    OwnLayer   the rounded layer, its certificate (kernel-correct) and its file
    own_layer  the coarsest rounding of a layer whose kernel is correct
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from proofcheck import exhaust
from proofcheck.certificate import Checked
from proofcheck.errors import UsageError
from proofcheck.heads import Bits, Floats, Head, files
from proofcheck.heads.activations import ACTIVATIONS

from .parametrisations import TokenLocal

PLACES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24)  # binary places of the weights that are tried


@dataclass(frozen=True)
class OwnLayer:
    """`maps` are the linear maps of queries and of keys, in order, (weights, biases) each."""

    head: Head
    activation: str
    maps: dict[str, list[tuple[Floats, Floats]]]
    places: int
    certificate: Checked | None  # None: decided here, and too large for a certificate

    def write(self, path: Path) -> Path:
        """A file that `proofcheck certify` reads: the linear maps or, where there is a hidden layer, the features."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(self.maps["q"]) > 1:
            files.save(replace(self.head, name=path.name), path)
        else:
            np.savez(path, allow_pickle=False, activation=np.array(self.activation), **_arrays(self.maps))
        return path


def own_layer(maps: TokenLocal, free: Tensor, n: int, eps: Fraction, command: str) -> OwnLayer | None:
    """The layer with the free parameters (parts, 1, ..) of one head, on the coarsest grid; None where none works."""
    given = {
        side: [(w[0].cpu().numpy(), b[0, 0].cpu().numpy()) for w, b in maps.layers(flat)]
        for side, flat in zip("qk", maps.sides(free.detach().double()), strict=True)
    }
    for places in PLACES:
        rounded = {side: [(_rounded(w, places), _rounded(b, places)) for w, b in of] for side, of in given.items()}
        head = _head(rounded, maps)
        try:
            found = exhaust.decide(head, n, eps, command=command)
        except UsageError:  # a feature beyond all floats
            continue
        if isinstance(found, exhaust.KernelCorrect):
            return OwnLayer(head, maps.options.activation, rounded, places, found.certificate)
    return None


def _head(maps: dict[str, list[tuple[Floats, Floats]]], trained: TokenLocal) -> Head:
    chosen = ACTIVATIONS[trained.options.activation]

    def features(side: str) -> Any:
        (weights, biases), *further = maps[side]

        def apply(b: Bits) -> Floats:
            u = b.astype(np.float64) @ weights + biases
            for w, c in further:
                u = np.maximum(u, 0) @ w + c
            return chosen.apply(u)

        return apply

    name = f"layer-{trained.name}-{trained.options.activation}"
    return Head(name, trained.m, trained.rank, features("q"), features("k"), note="a trained layer, weights rounded")


def _arrays(maps: dict[str, list[tuple[Floats, Floats]]]) -> dict[str, Floats]:
    return {f"{kind}{side}": array for side, of in maps.items() for kind, array in zip("wb", of[0], strict=True)}


def _rounded(values: Floats, places: int) -> Floats:
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, places)), -places))
