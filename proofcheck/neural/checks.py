"""What is checked of a module before anything is claimed about it, in this order:

    redrawn    two calls on the same tokens give the same features
    locality   the features of z are the same alone, beside other tokens, and in a batch, up to a stated tolerance:
               64 units of rounding of the dtype times the largest feature (matrix products round differently for
               other shapes)
    signs      alpha >= 0, in exact arithmetic where floats are near 0
    clamp      max(denominator, eps) changes nothing, since alpha(x,x) >= eps
    replay     sum alpha v / (c + sum alpha), from the features and values, against the module's own forward on random
               sequences, at the last position (which sees everything in a causal form too)

All tokens are looked at for m <= 8, otherwise a sample, and the report says which. The first four raise `Outside` with
what was seen; so does a replay that differs by more than rounding, unless the head was modified on purpose.
Tokens where alpha(x,x) = 0 are no reason to refuse: on the sequence (x) the denominator vanishes, and the head fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from proofcheck.errors import Outside
from proofcheck.heads import Head, dyadic
from proofcheck.heads.numbers import MAX_CUBE_BITS, Numbers

from .parts import Parts, precision

SAMPLE = 256  # tokens, where there are more
NEIGHBOURS = 24  # tokens whose features are compared in other contexts
SEQUENCES = 64  # replayed
LOCALITY_UNITS = 64
SIGN_BUDGET = 1 << 21  # exact products
NAMED = 8  # tokens named in a report

Embed = Callable[[Sequence[int]], Tensor]  # tokens -> (N, dim)


COARSE_NOTE = ": too coarse to tell much, load the layer in float32"


@dataclass(frozen=True)
class Replay:
    """The module's own forward against sum alpha v / (c + sum alpha), at the last position of `sequences` sequences."""

    sequences: int
    lengths: tuple[int, ...]
    residual: float  # the largest difference of a coordinate
    scale: float  # the largest coordinate of an output
    tolerance: float  # what rounding explains
    dtype: str

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"residual {self.residual:.2e} of outputs up to {self.scale:.2e} in {self.dtype}, on {self.sequences} "
            f"sequences (rounding explains {self.tolerance:.1e}{'' if self.telling else COARSE_NOTE})"
        )

    @property
    def telling(self) -> bool:
        """Whether agreement says something: rounding is far smaller than the outputs."""
        return self.tolerance <= 0.05 * self.scale


@dataclass(frozen=True)
class LoadReport:
    """What was found when a module was loaded. `least_alpha` and `least_own` are over `looked_at`."""

    name: str
    library: str
    dtype: str
    looked_at: str  # "all 256 tokens" or "a sample of 256 tokens"
    redrawn: float  # largest difference of two calls
    locality: float  # largest difference of a feature in another context
    locality_tolerance: float
    least_alpha: float
    least_own: float  # of alpha(x,x), the least denominator on any sequence
    zero_pairs: int  # pairs with alpha(x,z) = 0
    zero_own: tuple[int, ...]  # tokens with alpha(x,x) = 0, at most 8 of them
    additive: float
    numbers: Numbers | None
    replay: Replay | None
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        return {
            **{name: value for name, value in vars(self).items() if name not in ("numbers", "replay")},
            "zero_own": [hex(x) for x in self.zero_own],
            "notes": list(self.notes),
            "numbers": self.numbers and self.numbers.as_json(),
            "replay": self.replay and self.replay.as_json(),
        }

    def lines(self) -> list[str]:
        """For a person."""
        found = [
            f"{self.name} ({self.library}, {self.dtype}); looked at {self.looked_at}",
            f"features: {self.numbers}" if self.numbers else "features: not counted",
            f"two calls differ by {self.redrawn:.1e}; contexts change a feature by {self.locality:.1e} "
            f"(tolerance {self.locality_tolerance:.1e})",
            f"least alpha {self.least_alpha:.3e}, least alpha(x,x) {self.least_own:.3e}, {self.zero_pairs} pairs with "
            "alpha = 0",
        ]
        if self.zero_own:
            falls = f"falls to the constant {self.additive:.3g}" if self.additive else "vanishes"
            found.append(
                f"alpha(x,x) = 0 at {', '.join(map(hex, self.zero_own))}: the denominator {falls} on the sequence (x)"
            )
        found.append(f"replay: {self.replay}" if self.replay else "replay: none")
        return [*found, *self.notes]


def sample(m: int, seed: int) -> tuple[list[int], str]:
    """Tokens to look at: all of them for m <= 8, otherwise the extreme ones and random ones of every weight."""
    if m <= MAX_CUBE_BITS:
        return list(range(1 << m)), f"all {1 << m} tokens"
    generator = random.Random(seed)
    found = {0: None, (1 << m) - 1: None, **{1 << j: None for j in range(min(m, 16))}}
    while len(found) < SAMPLE:
        chosen = generator.sample(range(m), generator.randrange(m + 1))
        found[sum(1 << j for j in chosen)] = None
    return list(found), f"a sample of {len(found)} tokens of {m} bits"


def check_randomness(parts: Parts, tokens: Tensor) -> float:
    """Largest difference of two calls; must be 0."""
    worst = 0.0
    for features in (parts.queries, parts.keys):
        first, second = features(tokens), features(tokens)
        if first.shape != second.shape or not torch.equal(first.nan_to_num(), second.nan_to_num()):
            worst = max(worst, largest(first - second) if first.shape == second.shape else float("inf"))
    if worst > 0:
        raise Outside(
            parts.name,
            "redrawn",
            f"two calls on the same tokens differ by up to {worst:.3g}",
            "draw the random features once and keep them in a buffer; dropout and noise must be off in eval mode",
        )
    return worst


def largest(difference: Tensor) -> float:
    return float(difference.abs().max()) if difference.numel() else 0.0


def check_locality(parts: Parts, tokens: Tensor) -> tuple[float, float]:
    """(largest change, tolerance) of the features of some tokens z, alone and in (z,y), (y,z), (y,z,y') and batches."""
    chosen = tokens[torch.linspace(0, len(tokens) - 1, min(NEIGHBOURS, len(tokens))).long()]
    others = [chosen.roll(1, 0), chosen.roll(len(chosen) // 2 + 1, 0)]
    worst = tolerance = 0.0
    for side, features in (("query", parts.queries), ("key", parts.keys)):
        alone = torch.cat([features(z[None, None]) for z in chosen])[:, 0]
        unit = LOCALITY_UNITS * 2 * precision(alone.dtype) * largest(alone.nan_to_num())
        contexts = {
            "in a batch": features(chosen[:, None])[:, 0],
            "in one sequence of all": features(chosen[None])[0],
        }
        for y in others:
            contexts["before another token"] = features(torch.stack([chosen, y], 1))[:, 0]
            contexts["after another token"] = features(torch.stack([y, chosen], 1))[:, 1]
            contexts["between others"] = features(torch.stack([y, chosen, y.roll(1, 0)], 1))[:, 1]
            changes = {name: largest((found - alone).nan_to_num()) for name, found in contexts.items()}
            where = max(changes, key=lambda name: changes[name])
            worst, tolerance = max(worst, changes[where]), max(tolerance, unit)
            if changes[where] > unit:
                swapped = largest((contexts["before another token"] - contexts["after another token"]).nan_to_num())
                positional = swapped > unit
                raise Outside(
                    parts.name,
                    "position-dependent" if positional else "sequence-coupled",
                    f"{side} features of a token change by {changes[where]:.3g} {where} (tolerance {unit:.1g})",
                    "Theorem 8 speaks about features that depend on positions (proofcheck theorem8)"
                    if positional
                    else "make the features a function of the token alone; for FAVOR+ stabiliser='removed' takes the "
                    "maximum over the sequence and the constant added after it out of the keys, and the replay "
                    "shows how far that is from the module",
                )
    return worst, tolerance


def check_signs(head: Head, tokens: Sequence[int]) -> tuple[np.ndarray, list[Fraction], str]:
    """(alpha on the tokens in floats, alpha(x,x) exactly, a note). `Outside` where alpha < 0 in exact arithmetic.

    Where all features are >= 0 so is alpha. Otherwise the pairs that floats do not show to be positive are computed
    exactly, the least first, within a budget; the note says how many are left."""
    sides = {side: np.concatenate([head.features(side, [x]) for x in tokens]) for side in ("queries", "keys")}
    query, key = sides["queries"], sides["keys"]
    alpha = query @ key.T
    rows: dict[tuple[str, int], tuple[list[int], int]] = {}

    def exactly(i: int, j: int) -> Fraction:
        for place in (("queries", i), ("keys", j)):
            if place not in rows:
                rows[place] = dyadic(sides[place[0]][place[1]])
        (a, power), (b, other) = rows["queries", i], rows["keys", j]
        return Fraction(sum(map(int.__mul__, a, b)), 1 << (power + other))

    note = ""
    if min(query.min(), key.min()) < 0:
        error = 2.0**-52 * (head.rank + 2) * (np.abs(query) @ np.abs(key).T)
        doubtful = np.argwhere(alpha <= error)
        doubtful = doubtful[np.argsort(alpha[tuple(doubtful.T)], kind="stable")]
        budget = max(16, SIGN_BUDGET // head.rank)
        for i, j in doubtful[:budget]:
            value = exactly(i, j)
            if value < 0:
                raise Outside(
                    head.name,
                    "signed",
                    f"alpha({tokens[i]:#x}, {tokens[j]:#x}) = {float(value):.3g} < 0 "
                    f"({int((alpha < 0).sum())} of {alpha.size} pairs are negative in floats)",
                    "features that are >= 0, or a kernel that is, such as a square or 1 + s + s^2/2",
                )
        if len(doubtful) > budget:
            note = f"{len(doubtful) - budget} pairs with alpha near 0 were not looked at exactly"
    return alpha, [exactly(i, i) for i in range(len(tokens))], note


def check_clamp(parts: Parts, own: Sequence[Fraction], tokens: Sequence[int]) -> None:
    if parts.clamp is None:
        return
    i = min(range(len(own)), key=lambda k: own[k])
    if own[i] + parts.additive < Fraction(parts.clamp):
        raise Outside(
            parts.name,
            "normaliser",
            f"the denominator is clamped at {parts.clamp:g}, and alpha(x,x) = {float(own[i]):.3g} at {tokens[i]:#x}",
            "an eps that is added (a constant in the denominator is modelled), or features bounded away from 0",
        )


def by_sequence(tokens: Tensor, length: int) -> Tensor:
    """(B length, dim) -> (B, length, dim)."""
    return tokens.reshape(-1, length, tokens.shape[-1])


def predicted(parts: Parts, tokens: Tensor) -> Tensor:
    """(B, T, dim) -> (B, dv): sum alpha v / (c + sum alpha) of the last token, in float64 from features and values."""
    if parts.values is None:
        raise Outside(
            parts.name, "not replayed", "it declares no values", "give it values(tokens), or replay it by hand"
        )
    query = parts.queries(tokens)[:, -1].double()
    alpha = torch.einsum("br,btr->bt", query, parts.keys(tokens).double())
    found = torch.einsum("bt,btd->bd", alpha, parts.values(tokens).double())
    return found / (alpha.sum(1, keepdim=True) + float(parts.additive))


def own_output(parts: Parts, tokens: Tensor) -> Tensor:
    """(B, T, dim) -> (B, dv): what the module's own forward gives this head at the last token, its gate taken out."""
    if parts.output is None:
        raise Outside(parts.name, "not replayed", parts.no_output, "run it where it can run, or give it a forward")
    found = parts.output(tokens)[:, -1].double()
    return found if parts.gate is None else found / parts.gate(tokens)[:, -1].double()


def replay(parts: Parts, embed: Embed, m: int, seed: int) -> Replay:
    """On random sequences of length 1, 2, 3 and 5."""
    generator = random.Random(seed)
    lengths = (1, 2, 3, 5)
    residual = scale = tolerance = 0.0
    dtype = ""
    for length in lengths:
        words = [generator.getrandbits(m) for _ in range(length * SEQUENCES // len(lengths))]
        tokens = by_sequence(embed(words), length)
        own, expected = own_output(parts, tokens), predicted(parts, tokens)
        kind = parts.keys(tokens).dtype
        dtype = str(kind).removeprefix("torch.")
        features = parts.keys(tokens).shape[-1]
        residual = max(residual, largest(own - expected))
        scale = max(scale, largest(expected))
        values = largest(parts.values(tokens).double()) if parts.values else 0.0
        tolerance = max(tolerance, 8 * (features + length) * precision(kind) * values)
    return Replay(SEQUENCES, lengths, residual, scale, tolerance, dtype)
