"""What is trained, and the features that it gives: B heads in one set of tensors, m bits, size 2^m.

Free parameters are one tensor `free` of shape (parts, B, ..); features (B, 2^m, rank) of queries and of keys. Tables
have free numbers for every token and side:

    bounded  phiQ = exp(free), phiK = sigmoid(free): positive, and of moderate range, so that small integers will do
    exp      phi = exp(free): positive, of any range
    signed   phi = free, and alpha >= 0 is enforced by the loss
    square   alpha = <q,k>^2 with q, k free in R^d: features q_i q_j (twice for i < j) and k_i k_j, i <= j, so that the
             rank is d(d+1)/2, and d is the largest with d(d+1)/2 <= r

Token-local maps are what a layer of linear attention has; sigma is an activation (`ACTIVATIONS`), and the rank is r:

    linear   phi(x) = sigma(W x + b)
    mlp      phi(x) = sigma(W2 relu(W x + b) + b2), with `hidden` units

W is trained for queries and keys each ("separate"), shared ("tied") or opposite ("opposed": W_K = -W_Q, so that the
kernel falls with the overlap); everything behind W is always trained for each. sigma may vanish for relu and sqrelu:
their loss is that of signed features.

A start is drawn ("normal") or made of structured heads of `warm`, different for each head and disturbed ("mixtures";
an mlp has none and is always drawn). Features that are given can be a warm start where they can be inverted: for
bounded, exp and signed tables.

    make    the parametrisation that a name and options mean
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from proofcheck.errors import UsageError
from proofcheck.heads import Floats

from . import warm
from .margins import Levels, excess

NAMES = ("bounded", "exp", "signed", "square", "linear", "mlp")
TOKEN_LOCAL = ("linear", "mlp")
STARTS = ("mixtures", "normal")
SHARING = ("separate", "tied", "opposed")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu1": lambda u: functional.elu(u) + 1,
    "relu": torch.relu,
    "sqrelu": lambda u: torch.relu(u).square(),
    "exp": torch.exp,
    "softplus": functional.softplus,
    "softmax-dim": lambda u: u.softmax(-1),
}
VANISHING = ("relu", "sqrelu")
FLOOR = 1e-3  # of the loss where alpha may be 0 or negative, see `margins.excess`
ENOUGH = -0.3
CEILING, TINY = 0.9, 1e-4  # of positive features of a warm start


class Parametrisation(ABC):
    """`rank` is that of the heads it makes, `floor` that of their loss (None: alpha > 0 always). Where features can
    grow without bound, integers get the larger the further a head is polished: `enough` is the excess to stop at."""

    name: str
    m: int
    rank: int
    floor: float | None
    enough: float = -float("inf")

    @abstractmethod
    def shape(self, heads: int) -> tuple[int, ...]:
        """Of the free parameters of so many heads: (parts, heads, ..)."""

    @abstractmethod
    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 2^m, rank) of queries and of keys."""

    @abstractmethod
    def structured(self, heads: int, source: np.random.Generator) -> Tensor | None:
        """Free parameters of structured heads, where there are any."""

    def violations(self, free: Tensor, levels: Levels) -> Tensor:
        """(B, conditions): all negative where a head is correct. The excesses of B0."""
        return excess(*self.features(free), levels, self.floor)

    def inverse(self, features: Tensor) -> Tensor:
        """The free parameters of given features (2, B, 2^m, rank), up to the scaling of rows and columns."""
        raise UsageError(f"a warm start: features {self.name} are not free, so none can be given")

    def normal(self, draws: Tensor) -> Tensor:
        """A start from standard normal draws."""
        return draws

    def start(
        self, heads: int, source: torch.Generator, start: str, spread: float, given: tuple[Floats, Floats] | None
    ) -> Tensor:
        shape = self.shape(heads)
        free = torch.randn(shape, generator=source)
        if given is not None:
            features = torch.tensor(np.stack(given), dtype=torch.float32)
            return free * spread + self.inverse(features.view(2, -1, *features.shape[-2:]))
        if start == "mixtures":
            seeded = np.random.default_rng(int(torch.randint(1 << 62, (), generator=source)))
            structured = self.structured(heads, seeded)
            if structured is not None:
                return free * spread + structured
        return self.normal(free)


class Tables(Parametrisation):
    """bounded, exp and signed."""

    def __init__(self, name: str, m: int, rank: int) -> None:
        self.name, self.m, self.rank = name, m, rank
        self.floor = FLOOR if name == "signed" else None

    def shape(self, heads: int) -> tuple[int, ...]:
        return 2, heads, 1 << self.m, self.rank

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        if self.name == "signed":
            return free[0], free[1]
        return free[0].exp(), free[1].exp() if self.name == "exp" else free[1].sigmoid()

    def structured(self, heads: int, source: np.random.Generator) -> Tensor:
        return self.inverse(_stacked(warm.mixtures(self.m, self.rank, heads, source)))

    def inverse(self, features: Tensor) -> Tensor:
        """Positive features unless these are signed; for bounded keys the largest of each column becomes CEILING."""
        if self.name == "signed":
            return features
        if self.name == "exp":
            return features.clamp(min=TINY).log()
        scale = features[1].amax(1, keepdim=True) / CEILING
        queries, keys = features[0] * scale, features[1] / scale
        rows = queries.amax(2, keepdim=True)
        return torch.stack([(queries / rows).clamp(min=TINY).log(), keys.clamp(min=TINY).logit()])

    def normal(self, draws: Tensor) -> Tensor:
        if self.name == "signed":
            draws[..., 0] += 3  # mostly positive kernels to begin with
        return draws


class Square(Parametrisation):
    """alpha = <q,k>^2. Structured heads have structured q and k, their keys falling half as fast with the weight."""

    name, floor = "square", FLOOR

    def __init__(self, m: int, rank: int, device: str) -> None:
        self.m = m
        self.inner = (isqrt(8 * rank + 1) - 1) // 2
        self.rank = self.inner * (self.inner + 1) // 2
        self.i, self.j = torch.triu_indices(self.inner, self.inner, device=device)
        self.twice = torch.where(self.i < self.j, 2.0, 1.0)

    def shape(self, heads: int) -> tuple[int, ...]:
        return 2, heads, 1 << self.m, self.inner

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        products = free.index_select(-1, self.i) * free.index_select(-1, self.j)
        return products[0] * self.twice, products[1]

    def structured(self, heads: int, source: np.random.Generator) -> Tensor:
        return _stacked(warm.mixtures(self.m, self.inner, heads, source, bases=(0.775, 0.895)))


@dataclass(frozen=True)
class Layer:
    """Options of token-local maps."""

    activation: str = "elu1"
    sharing: str = "separate"
    hidden: int = 32


LAYER = Layer()


class TokenLocal(Parametrisation):
    """linear and mlp. One head's parameters lie in a row: W (m, width), b (width,) and for an mlp W2 (hidden, r) and
    b2 (r,), of queries and keys each; where W is not separate there is one row, of W and then the rest twice."""

    def __init__(self, name: str, m: int, rank: int, options: Layer, device: str) -> None:
        self.name, self.m, self.rank, self.options = name, m, rank, options
        self.width = options.hidden if name == "mlp" else rank
        self.first = m * self.width
        self.rest = self.width + ((self.width + 1) * rank if name == "mlp" else 0)
        self.floor, self.enough = FLOOR if options.activation in VANISHING else None, ENOUGH
        self.bits = torch.tensor(warm.bits(m), dtype=torch.float32, device=device)

    def shape(self, heads: int) -> tuple[int, ...]:
        if self.options.sharing == "separate":
            return 2, heads, self.first + self.rest
        return 1, heads, self.first + 2 * self.rest

    def sides(self, free: Tensor) -> tuple[Tensor, Tensor]:
        """The parameters of the queries' map and of the keys', (B, first + rest) each."""
        if self.options.sharing == "separate":
            return free[0], free[1]
        shared, queries, keys = torch.split(free[0], [self.first, self.rest, self.rest], -1)
        sign = 1 if self.options.sharing == "tied" else -1
        return torch.cat([shared, queries], -1), torch.cat([sign * shared, keys], -1)

    def layers(self, side: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Weights (B, inputs, outputs) and biases (B, 1, outputs) of one side's linear maps, in order."""
        found, sizes = [], [(self.m, self.width), (self.width, self.rank)]
        for inputs, outputs in sizes[: 2 if self.name == "mlp" else 1]:
            cut = [inputs * outputs, outputs, side.shape[-1] - (inputs + 1) * outputs]
            weights, biases, side = torch.split(side, cut, -1)
            found.append((weights.reshape(-1, inputs, outputs), biases[:, None]))
        return found

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        queries, keys = (self._applied(side) for side in self.sides(free))
        return queries, keys

    def _applied(self, side: Tensor) -> Tensor:
        (weights, biases), *further = self.layers(side)
        u = self.bits.to(side.dtype) @ weights + biases
        for weights, biases in further:
            u = u.relu() @ weights + biases
        return ACTIVATIONS[self.options.activation](u)

    def structured(self, heads: int, source: np.random.Generator) -> Tensor | None:
        """Pre-activations W x + c of queries and W (1 - z) + c of keys."""
        if self.name == "mlp":
            return None
        weights, constant = warm.affine(self.m, self.rank, heads, source)
        biases = np.broadcast_to(constant, (heads, 1, self.rank))
        kept = weights.sum(1, keepdims=True) + biases
        if self.options.sharing == "separate":
            sides = [np.concatenate([weights, biases], 1), np.concatenate([-weights, kept], 1)]
        else:
            sides = [np.concatenate([weights, biases, kept], 1)]
        return torch.tensor(np.stack(sides), dtype=torch.float32).flatten(2)

    def normal(self, draws: Tensor) -> Tensor:
        """Weights of standard deviation 1/sqrt(inputs), and biases of 1/10."""
        scale = torch.ones(draws.shape[-1])
        scale[: self.first] = self.m**-0.5
        for at in range(self.first, len(scale), self.rest):
            scale[at : at + self.rest] = 0.1
            if self.name == "mlp":
                scale[at + self.width : at + self.width * (1 + self.rank)] = self.width**-0.5
        return draws * scale


def _stacked(tables: tuple[Floats, Floats]) -> Tensor:
    return torch.tensor(np.stack(tables), dtype=torch.float32)


def make(name: str, m: int, rank: int, layer: Layer, device: str) -> Parametrisation:
    """`rank` is the most that is allowed; `UsageError` for names and options that are not known."""
    for what, given, known in (
        ("parametrisation", name, NAMES),
        ("activation", layer.activation, tuple(ACTIVATIONS)),
        ("sharing of W", layer.sharing, SHARING),
    ):
        if given not in known:
            raise UsageError(f"expected {what} of {', '.join(known)}, got {given!r}")
    if layer.hidden < 1:
        raise UsageError(f"expected hidden >= 1, got {layer.hidden}")
    if name in TOKEN_LOCAL:
        return TokenLocal(name, m, rank, layer, device)
    return Square(m, rank, device) if name == "square" else Tables(name, m, rank)
