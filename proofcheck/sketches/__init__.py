"""Deterministic sketch models: tokens learn of each other only by one message a layer from a finite alphabet.

A model has layers l = 0..L-1 with finite alphabets Sigma_l = {0, .., alphabets[l] - 1}. On a sequence x_1, .., x_N

    u_i^0     = encode(x_i, i)                              the local state of token i
    a_l       = message(l, (u_1^l, .., u_N^l)) in Sigma_l   one message for all tokens
    u_i^{l+1} = update(l, u_i^l, a_l)                       from its own state and the message alone
    output_i  = decode(u_i^L)

and the transcript is (a_0, .., a_{L-1}). Nothing is asked of the states (real numbers, vectors, anything), nor of
positivity. A token that is the same at the same place of two sequences with equal transcripts has equal states in all
layers, hence equal outputs: if its targets differ by d, the output is wrong by at least d/2 on one of the two
(mathematics.md A, Theorem 9, and B9). Several heads are one message.

A user's model is any object with `name`, `alphabets` and the first three functions (`Sketch`); `decode` is not needed,
since the argument is about every decoder. A message must be an integer in its alphabet; an alphabet an integer >= 1.
`Batched` models compute many transcripts at once: what is built in (`linear`, `proofcheck.neural.sketch`).

    run           the transcript and the last states on one sequence, with every message checked
    check_alphabets, bits
    Looped        a `Sketch` as a `Batched` one, sequence by sequence
    twice         the transcript of one assignment, computed twice: the determinism that all this rests on

Errors: `UsageError` for an empty or infinite alphabet, more than `MAX_LAYERS` layers, a message that is no `int` or
outside its alphabet, a layer where two runs differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log2, prod
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import UsageError
from proofcheck.kernel.exact import shown
from proofcheck.transcripts import TypedFamily

Levels: TypeAlias = NDArray[np.int64]  # B x q: one assignment a row
Codes: TypeAlias = NDArray[Any]  # B x width: one message a row, integers
MAX_LAYERS = 1_000


@runtime_checkable
class Sketch(Protocol):
    """What a user's model has; see the module."""

    @property
    def name(self) -> str: ...
    @property
    def alphabets(self) -> Sequence[int]: ...

    def encode(self, token: int, place: int) -> Any: ...
    def message(self, layer: int, states: Sequence[Any]) -> int: ...
    def update(self, layer: int, state: Any, message: int) -> Any: ...


@runtime_checkable
class Batched(Protocol):
    """`batch` gives for each layer the messages of B assignments as B x width integers: equal rows, equal messages."""

    @property
    def name(self) -> str: ...
    @property
    def alphabets(self) -> Sequence[int]: ...

    def batch(self, family: TypedFamily, levels: Levels) -> list[Codes]: ...


def check_alphabets(model: Sketch | Batched) -> list[int]:
    """The sizes of the alphabets, each an integer >= 1. The attribute is read once; an iterator is refused, since it
    may be endless, and gives nothing the second time."""
    given = model.alphabets
    if isinstance(given, Iterator):
        raise UsageError(f"{model.name}: alphabets: expected a list or tuple, got {_kind(given)}")
    try:
        sizes = list(islice(given, MAX_LAYERS + 1))
    except TypeError:
        raise UsageError(f"{model.name}: alphabets: expected one size a layer, got {shown(given)}") from None
    if not sizes:
        raise UsageError(f"{model.name}: alphabets: expected at least one layer")
    if len(sizes) > MAX_LAYERS:
        raise UsageError(f"{model.name}: alphabets: expected at most {MAX_LAYERS} layers, got more")
    for layer, size in enumerate(sizes):
        if type(size) is not int or size < 1:
            wanted = "expected a finite alphabet, an integer >= 1 of messages"
            kind = "" if isinstance(size, int | float | None) else f" of type {_kind(size)}"
            raise UsageError(f"{model.name}: layer {layer}: {wanted}, got {shown(size)}{kind}")
    return sizes


def _kind(value: object) -> str:
    module = type(value).__module__
    return type(value).__qualname__ if module == "builtins" else f"{module}.{type(value).__qualname__}"


def transcripts(model: Sketch | Batched) -> int:
    """How many transcripts there are at most: the product of the alphabets."""
    return prod(check_alphabets(model))


def bits(model: Sketch | Batched) -> float:
    """sum_l log2 |Sigma_l|."""
    return sum(log2(size) for size in check_alphabets(model))


def run(model: Sketch, sequence: Sequence[int]) -> tuple[tuple[int, ...], list[Any]]:
    """(transcript, states after the last layer) on one sequence."""
    states = [model.encode(token, place) for place, token in enumerate(sequence)]
    transcript = []
    for layer, size in enumerate(check_alphabets(model)):
        message = model.message(layer, states)
        if type(message) is not int:
            wanted = "expected a message that is a Python int"
            raise UsageError(f"{model.name}: layer {layer}: {wanted}, got {shown(message)} of type {_kind(message)}")
        if not 0 <= message < size:
            wanted = f"expected a message in 0..{shown(size - 1)}"
            raise UsageError(f"{model.name}: layer {layer}: {wanted}, got {shown(message)}")
        states = [model.update(layer, state, message) for state in states]
        transcript.append(message)
    return tuple(transcript), states


@dataclass(frozen=True)
class Looped:
    """A `Sketch`, sequence by sequence; messages are Python integers of any size."""

    model: Sketch

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def alphabets(self) -> Sequence[int]:
        return self.model.alphabets

    def batch(self, family: TypedFamily, levels: Levels) -> list[Codes]:
        rows = [run(self.model, family.sequence(row))[0] for row in levels.tolist()]
        return [np.array(column, dtype=object)[:, None] for column in zip(*rows, strict=True)]


def twice(model: Batched, family: TypedFamily, levels: Levels) -> list[Codes]:
    """The messages of these assignments, each computed alone, twice, the second time in reverse order. `UsageError`
    names the layer that differs."""
    runs = []
    for order in (range(len(levels)), range(len(levels))[::-1]):
        alone = {i: model.batch(family, levels[i : i + 1]) for i in order}
        runs.append([np.concatenate(column) for column in zip(*(alone[i] for i in range(len(levels))), strict=True)])
    same(model, levels, *runs)
    return runs[0]


def same(model: Batched, levels: Levels, first: list[Codes], second: list[Codes]) -> None:
    """Raises `UsageError` where two runs on the same assignments differ."""
    for layer, (one, other) in enumerate(zip(first, second, strict=True)):
        differs = one.shape != other.shape or (one != other).any(axis=1)
        if np.any(differs):
            row = levels[int(np.argmax(differs))].tolist()
            raise UsageError(
                f"{model.name} is not deterministic: two runs on the assignment {row} differ in the message of layer "
                f"{layer}"
            )
