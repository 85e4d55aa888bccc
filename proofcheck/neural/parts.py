"""One head of a module, taken apart into what the theorems speak about.

Shapes: B sequences, T tokens in each, dim the width of an embedded token, r features, dv values. All maps act on whole
sequences (B, T, dim), as the module applies them: whether they are token-local is checked, not assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from proofcheck.errors import UsageError

Sequences: TypeAlias = Callable[[Tensor], Tensor]
LAYOUTS = ("bthd", "bhtd")


@dataclass(frozen=True)
class Parts:
    """`output` is the module's own forward, up to the point where this head's sum alpha v / sum alpha is ready, before
    any output projection; None, with the reason in `no_output`, where it cannot be run or does not exist."""

    name: str
    library: str
    queries: Sequences  # (B, T, dim) -> (B, T, r)
    keys: Sequences  # (B, T, dim) -> (B, T, r)
    dim: int | None = None  # None: any
    values: Sequences | None = None  # (B, T, dim) -> (B, T, dv)
    output: Sequences | None = None  # (B, T, dim) -> (B, T, dv)
    no_output: str = "the module has no forward for one head"
    gate: Sequences | None = None  # (B, T, dim) -> (B, T, 1): a factor of the output that depends on the query alone
    readout: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None  # (N, dim) -> w (N, dv), beta (N,)
    additive: Fraction = Fraction(0)  # added to every denominator
    clamp: float | None = None  # the denominator is max(denominator, clamp)
    modified: str = ""  # in what the features differ from the module's on purpose, so that a replay does too
    notes: tuple[str, ...] = ()


def pick(found: Tensor, head: int, layout: str, what: str) -> Tensor:
    """(B, T, r) of one head, from (B, T, r), or from four dimensions in the given layout."""
    if found.ndim == 3 and head == 0:
        return found
    if found.ndim != 4:
        raise UsageError(
            f"{what}: expected a tensor (B, T, r){' for the only head 0' if head else ''} or one of four dimensions "
            f"in layout {layout}, got shape {tuple(found.shape)}"
        )
    axis = 2 if layout == "bthd" else 1
    check_head(head, found.shape[axis], what)
    return found.select(axis, head)


def check_head(head: int, count: int, what: str) -> None:
    if not 0 <= head < count:
        raise UsageError(f"{what}: expected a head from 0 to {count - 1}, got {head}")


def captured(run: Sequences, at: nn.Module) -> Sequences:
    """What goes into the submodule `at` while `run` runs: the module's own forward, cut before its projection."""

    def output(tokens: Tensor) -> Tensor:
        seen: list[Tensor] = []

        def keep(module: nn.Module, arguments: Any) -> None:
            seen.append(arguments[0])

        handle = at.register_forward_pre_hook(keep)
        try:
            run(tokens)
        finally:
            handle.remove()
        if len(seen) != 1:
            raise UsageError(f"the output projection ran {len(seen)} times in one forward, expected once")
        return seen[0]

    return output


def split_heads(count: int, head: int) -> Callable[[Tensor], Tensor]:
    """(B, T, count d) -> (B, T, d), the part of one head."""
    return lambda found: found.reshape(*found.shape[:-1], count, -1)[..., head, :]


def precision(dtype: torch.dtype) -> float:
    """The unit of rounding."""
    return float(torch.finfo(dtype).eps) / 2
