"""Heads from torch: modules, callables, tables.

The features of a token are the numbers that the module computes in its own dtype for that token alone, as a sequence
of length one; as dyadic rationals they define one exact kernel (see `proofcheck.heads`). What the module's own sums
add in rounding is not part of the head; the replay shows how much it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from proofcheck.errors import Outside, UsageError
from proofcheck.heads import Bits, Floats, Head, Readout, bits
from proofcheck.heads.numbers import numbers
from proofcheck.heads.tables import TableHead, table

from . import checks
from .checks import LoadReport
from .parts import LAYOUTS, Parts, precision
from .registry import Wanted, take_apart

TokenEmbed = Tensor | np.ndarray | Callable[[Tensor], Tensor] | None


@dataclass(frozen=True)
class ModuleHead(Head):
    """A head with the module that it comes from. `embed` maps tokens to (N, dim) tensors."""

    parts: Parts | None = None
    embed: checks.Embed | None = None
    report: LoadReport | None = None


def from_module(
    module: nn.Module,
    m: int,
    head: int = 0,
    layout: str = "bthd",
    token_embed: TokenEmbed = None,
    *,
    stabiliser: str = "own",
    cut: bool = False,
    seed: int = 0,
) -> ModuleHead:
    """The kernel of one head of a module, checked as `checks` says; `Outside` if the theorems do not speak about it.

    `module` is put into eval mode and stays there. It takes tokens of dimension dim: token x in {0,1}^m is given to it
    as the vector x itself if dim = m, as x E if `token_embed` is a matrix E (m, dim), or as token_embed(tensor (N, m)).
    `layout` ("bthd" or "bhtd") says where the heads are in tensors of four dimensions of a module that speaks for
    itself. `stabiliser="removed"` takes FAVOR+'s maximum over the sequence out; `cut=True` judges a head before a
    non-affine part of its module, such as RMSNorm. Both say so in `note`.
    """
    if layout not in LAYOUTS:
        raise UsageError(f"layout: expected one of {', '.join(LAYOUTS)}; got {layout!r}")
    if stabiliser not in ("own", "removed"):
        raise UsageError(f"stabiliser: expected own or removed, got {stabiliser!r}")
    if not isinstance(module, nn.Module):
        raise UsageError(f"expected a torch.nn.Module, got {type(module).__name__}")
    check_bits(m)
    was_training = module.training
    module.eval()
    with torch.inference_mode():
        parts = take_apart(module, Wanted(head, layout, stabiliser, cut))
        tensor = next((t for t in [*module.parameters(), *module.buffers()] if t.is_floating_point()), torch.empty(0))
        embed = embedding(parts, m, token_embed, tensor)
    notes = ("the module was in training mode and is now in eval mode",) if was_training else ()
    return checked(parts, m, embed, seed, notes)


def from_callables(
    queries: Callable[[Tensor], Tensor],
    keys: Callable[[Tensor], Tensor],
    m: int,
    values: Callable[[Tensor], Tensor] | None = None,
    readout: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None,
    *,
    name: str = "callables",
    dtype: torch.dtype = torch.float64,
    additive: Fraction = Fraction(0),
    seed: int = 0,
) -> ModuleHead:
    """The head of feature maps (N, m) -> (N, r) on 0/1 tensors of the given dtype, token by token.

    `values` (N, m) -> (N, dv) and `readout` (N, m) -> (w (N, dv), beta (N,)) are optional and go together if a readout
    is given. Two calls and token-locality (each call is one sequence of N tokens) and the sign of alpha are checked.
    For numpy functions build a `proofcheck.heads.Head`.
    """
    check_bits(m)
    if readout is not None and values is None:
        raise UsageError(f"{name}: a readout needs values")

    def on_sequences(f: Callable[[Tensor], Tensor], what: str) -> Callable[[Tensor], Tensor]:
        def apply(x: Tensor) -> Tensor:
            found = [f(sequence) for sequence in x]
            for one in found:
                if not isinstance(one, Tensor) or one.ndim != 2 or len(one) != x.shape[1]:
                    got = tuple(one.shape) if isinstance(one, Tensor) else type(one).__name__
                    raise UsageError(f"{name}, {what}: expected a tensor ({x.shape[1]}, r), got {got}")
            return torch.stack(found)

        return apply

    parts = Parts(
        name,
        "callables",
        on_sequences(queries, "queries"),
        on_sequences(keys, "keys"),
        dim=m,
        values=None if values is None else on_sequences(values, "values"),
        no_output="callables have no forward",
        readout=readout,
        additive=additive,
    )
    return checked(parts, m, embedding(parts, m, None, torch.empty(0, dtype=dtype)), seed, ())


def from_arrays(
    queries: Any, keys: Any, values: Any = None, weights: Any = None, offsets: Any = None, **named: Any
) -> TableHead:
    """The head of tables (2^m, r) as tensors of any dtype, arrays or lists; see `proofcheck.heads.tables.table`."""

    def plain(found: Any) -> Any:
        return found.detach().cpu().double().numpy() if isinstance(found, Tensor) else found

    return table(plain(queries), plain(keys), plain(values), plain(weights), plain(offsets), **named)


def check_bits(m: int) -> None:
    if not 1 <= m <= 1 << 20:
        raise UsageError(f"expected 1 <= m <= {1 << 20}, got {m}")


def embedding(parts: Parts, m: int, token_embed: TokenEmbed, like: Tensor) -> checks.Embed:
    """tokens -> (N, dim), in the dtype and on the device of `like`."""
    matrix: Tensor | None = None
    if token_embed is None:
        if parts.dim is not None and parts.dim != m:
            raise UsageError(
                f"{parts.name} takes tokens of dimension {parts.dim}, m is {m}: give token_embed, a matrix ({m}, "
                f"{parts.dim}) or a callable (N, {m}) -> (N, {parts.dim})"
            )
    elif isinstance(token_embed, Tensor | np.ndarray):
        matrix = torch.as_tensor(token_embed).detach().to(like)
        if matrix.ndim != 2 or matrix.shape[0] != m or (parts.dim is not None and matrix.shape[1] != parts.dim):
            raise UsageError(
                f"{parts.name}: token_embed: expected a matrix ({m}, {parts.dim or 'dim'}), got {tuple(matrix.shape)}"
            )
    elif not callable(token_embed):
        raise UsageError(f"token_embed: expected a matrix or a callable, got {type(token_embed).__name__}")

    def embed(tokens: Sequence[int]) -> Tensor:
        x = torch.from_numpy(bits(tokens, m)).to(like)
        if matrix is not None:
            return x @ matrix
        if callable(token_embed):
            x = token_embed(x)
            if x.ndim != 2 or len(x) != len(tokens) or (parts.dim is not None and x.shape[1] != parts.dim):
                expected = (len(tokens), parts.dim or "dim")
                raise UsageError(f"{parts.name}: token_embed: expected shape {expected}, got {tuple(x.shape)}")
        return x

    return embed


def checked(parts: Parts, m: int, embed: checks.Embed, seed: int, notes: tuple[str, ...]) -> ModuleHead:
    """The head with its report, or `Outside`."""
    tokens, looked_at = checks.sample(m, seed)

    def feature_map(part: Callable[[Tensor], Tensor]) -> Callable[[Bits], Floats]:
        def apply(b: Bits) -> Floats:
            with torch.inference_mode():
                words = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(b, axis=1, bitorder="little")]
                return np.asarray(part(embed(words)[:, None])[:, 0].double().cpu().numpy())

        return apply

    with torch.inference_mode():
        vectors = embed(tokens)
        shapes = [tuple(part(vectors[:2, None]).shape) for part in (parts.queries, parts.keys)]
        if shapes[0] != shapes[1] or len(shapes[0]) != 3 or shapes[0][:2] != (2, 1):
            raise UsageError(
                f"{parts.name}: for two sequences of one token the queries have shape {shapes[0]}, the keys "
                f"{shapes[1]}: expected (2, 1, r) both (of several heads: --set head=K --set layout=bthd or "
                "bhtd)"
            )
        dtype = parts.keys(vectors[:2, None]).dtype
        redrawn = checks.check_randomness(parts, vectors[:, None])
        locality, tolerance = checks.check_locality(parts, vectors)
    readout, width = None, None
    if parts.values is not None:
        with torch.inference_mode():
            width = parts.values(vectors[:1, None]).shape[-1]
    if parts.readout is not None and parts.values is not None:
        readout = affine(parts.readout, feature_map(parts.values), embed)
    note = "; ".join(filter(None, [f"features in {str(dtype).removeprefix('torch.')}", parts.modified, *parts.notes]))
    maps = (feature_map(parts.queries), feature_map(parts.keys))
    bare = Head(parts.name, m, shapes[0][-1], *maps, parts.additive, readout, note)
    alpha, own, doubts = checks.check_signs(bare, tokens)
    notes = (*notes, doubts) if doubts else notes
    checks.check_clamp(parts, own, tokens)
    if parts.clamp is not None:
        notes = (*notes, f"max(denominator, {parts.clamp:g}) changes nothing on {looked_at}")
    played = None
    if parts.output is None or parts.values is None:
        notes = (*notes, f"not replayed: {parts.no_output}")
    else:
        try:
            with torch.inference_mode():
                played = checks.replay(parts, embed, m, seed)
        except (RuntimeError, ImportError, NotImplementedError, TypeError, ValueError, AttributeError) as error:
            # A forward that needs a GPU or a compiled kernel: the features are known all the same.
            notes = (
                *notes,
                f"not replayed: its forward could not be compared with this head: {' '.join(str(error).split())[:160]}",
            )
        if played is not None and not played.residual <= played.tolerance and not parts.modified:
            raise Outside(
                parts.name,
                "not replayed",
                f"its forward differs from sum alpha v / sum alpha of its own features: {played}",
                "from_callables with the features alone; the verdict is then about them, not about this module",
            )
    report = LoadReport(
        parts.name,
        parts.library,
        str(dtype).removeprefix("torch."),
        looked_at,
        redrawn,
        locality,
        tolerance,
        float(alpha.min()),
        float(min(own)),
        int((alpha == 0).sum()),
        tuple(x for x, value in zip(tokens, own, strict=True) if value == 0)[: checks.NAMED],
        float(parts.additive),
        numbers(bare, width, precision(dtype) * 2),
        played,
        (*((f"modified: {parts.modified}",) if parts.modified else ()), *parts.notes, *notes),
    )
    return ModuleHead(bare.name, m, bare.rank, *maps, parts.additive, readout, note, parts, embed, report)


def affine(
    readout: Callable[[Tensor], tuple[Tensor, Tensor]], values: Callable[[Bits], Floats], embed: checks.Embed
) -> Readout:
    """A readout (N, dim) -> (w (N, dv), beta (N,)) as feature maps."""

    def part(which: int) -> Callable[[Bits], Floats]:
        def apply(b: Bits) -> Floats:
            with torch.inference_mode():
                words = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(b, axis=1, bitorder="little")]
                return np.asarray(readout(embed(words))[which].double().cpu().numpy())

        return apply

    return Readout(values, part(0), part(1))
