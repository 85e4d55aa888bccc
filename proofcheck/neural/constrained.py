"""Heads with a constrained readout: linear values of a fixed dimension, trained on all sequences at once (B7).

    v(z) = V z in R^dv,  V a free (dv, m) matrix,        g_x(z) = <w(x), v(z)> + beta(x),

and one of these READOUTS: "free", w(x) and beta(x) free numbers for each query; "affine", both affine in the bits of x,
as in the paper's softmin head (v(z) = z, w(x) = x, beta = 0, dv = m). A constant added to v is the same as another
beta, so there is none. With dv >= m and a free readout the values are no constraint beyond "linear in z". The kernel is
one of the parametrisations that cannot be negative.

Violations are `separable.worst`: for each query, target and side the error less eps at the sequence with the largest
sum, over all sequences of lengths 1..n. A head starts from a normal V of standard deviation dv^-1/2 (the identity where
dv = m), w(x) = V x and beta = 0, for which g_x(z) is <x,z> on average.

What is found is made rational on coarse grids first: integer features, V and an affine readout in multiples of 2^-k; a
free readout is solved for anew as a linear programme (`readouts.best`), so that it is the best for the rounded kernel
and values. `whole.verify` decides. The best head of a failing restart ends as its worst sequence, exactly; where no
readout at all saves its kernel, as a refutation by three tokens; and where none saves its kernel with its values, as a
refutation by a few inputs.

    Readouts      what is asked for
    Constrained   a parametrisation with V and the readout beside the kernel's own numbers
    finish        what a trained restart amounts to: `Finished`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from proofcheck import exhaust, readouts, whole
from proofcheck.errors import Undecided, UsageError
from proofcheck.heads import Floats
from proofcheck.heads.tables import TableHead, table

from . import separable, warm
from .margins import Levels
from .parametrisations import Parametrisation
from .rationalise import IntegerHead, holds

READOUTS = ("free", "affine")
GRIDS = tuple(1 << k for k in range(2, 21, 2))


@dataclass(frozen=True)
class Readouts:
    """`dv` >= 1 and one of READOUTS."""

    dv: int
    kind: str = "free"


class Constrained(Parametrisation):
    """The free parameters of a head in one row: the kernel's, V (dv, m), w and beta."""

    def __init__(self, kernel: Parametrisation, asked: Readouts, n: int, eps: Fraction, device: str) -> None:
        if asked.kind not in READOUTS or asked.dv < 1:
            raise UsageError(f"expected a readout of {', '.join(READOUTS)} and dv >= 1, got {asked.kind!r}, {asked.dv}")
        if kernel.name == "signed":
            raise UsageError("features signed: a head with a readout needs features whose kernel cannot be negative")
        self.kernel, self.asked, self.n, self.eps = kernel, asked, n, eps
        self.name, self.m, self.rank, self.floor, self.enough = kernel.name, kernel.m, kernel.rank, None, -0.05
        self.places = separable.Places.build(self.m, device)
        self.bits = torch.tensor(warm.bits(self.m), dtype=torch.float32, device=device)
        rows = 1 << self.m if asked.kind == "free" else self.m + 1
        self.shapes = {"V": (asked.dv, self.m), "w": (rows, asked.dv), "beta": (rows, 1)}

    def shape(self, heads: int) -> tuple[int, ...]:
        parts, _, *own = self.kernel.shape(heads)
        sizes = [parts * int(np.prod(own)), *(a * b for a, b in self.shapes.values())]
        return 1, heads, sum(sizes)

    def parts(self, free: Tensor) -> dict[str, Tensor]:
        """The kernel's parameters, as it wants them, and V, w, beta as (B, ..)."""
        parts, heads, *own = self.kernel.shape(free.shape[1])
        sizes = [parts * int(np.prod(own)), *(a * b for a, b in self.shapes.values())]
        kernel, *others = torch.split(free[0], sizes, -1)
        found = {"kernel": kernel.reshape(heads, parts, *own).transpose(0, 1)}
        for (name, shape), flat in zip(self.shapes.items(), others, strict=True):
            found[name] = flat.reshape(-1, *shape)
        return found

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        return self.kernel.features(self.parts(free)["kernel"])

    def readout(self, free: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """values, weights (B, 2^m, dv) and offsets (B, 2^m)."""
        found, bits = self.parts(free), self.bits.to(free.dtype)
        weights, offsets = found["w"], found["beta"]
        if self.asked.kind == "affine":
            extended = torch.cat([bits, torch.ones_like(bits[:, :1])], 1)
            weights, offsets = extended @ weights, extended @ offsets
        return bits @ found["V"].mT, weights, offsets[..., 0]

    def violations(self, free: Tensor, levels: Levels) -> Tensor:
        queries, keys = self.features(free)
        g = separable.scalar_tables(*self.readout(free))
        return separable.worst(queries @ keys.mT, g, self.places, self.n, self.eps).flatten(1)

    def structured(self, heads: int, source: np.random.Generator) -> Tensor | None:
        return None

    def start(
        self, heads: int, source: torch.Generator, start: str, spread: float, given: tuple[Floats, Floats] | None
    ) -> Tensor:
        kernel = self.kernel.start(heads, source, start, spread, given).transpose(0, 1).reshape(heads, -1)
        dv = self.asked.dv
        values = torch.randn((heads, dv, self.m), generator=source) * dv**-0.5
        if dv == self.m:
            values = torch.eye(self.m).repeat(heads, 1, 1)
        weights = values.mT  # the rows of a matrix that bits are multiplied by
        if self.asked.kind == "free":
            weights = torch.tensor(warm.bits(self.m), dtype=torch.float32) @ weights
        else:
            weights = torch.cat([weights, torch.zeros(heads, 1, dv)], 1)
        offsets = torch.zeros(heads, weights.shape[1])
        return torch.cat([kernel, values.flatten(1), weights.flatten(1), offsets], 1)[None]


@dataclass(frozen=True)
class Finished:
    """`head` and `correct` where the head was made rational; otherwise what refutes it."""

    head: IntegerHead | None = None
    correct: whole.HeadCorrect | None = None
    counterexample: whole.Counterexample | None = None
    refutation: exhaust.Refutation | None = None
    no_readout: readouts.NoReadout | None = None
    note: str = ""


def finish(maps: Constrained, kept: Tensor, passes: bool, n: int, eps: Fraction, command: str) -> Finished:
    """Of the best head of a restart, with the parameters `kept` (1, ..); `passes` says whether it does in floats."""
    free = kept.double()[:, None]
    queries, keys = (part[0].cpu().numpy() for part in maps.features(free))
    values, weights, offsets = (part[0].cpu().numpy() for part in maps.readout(free))
    name = f"search-m{maps.m}-r{maps.rank}-dv{maps.asked.dv}-{maps.asked.kind}"
    if passes:
        for integers, places in _rounded_features(queries, keys):
            found = _rounded_head(maps, free, integers, places, n, eps, name, command)
            if found is not None:
                return Finished(integers, found)
    q, k = queries.astype(np.float32), keys.astype(np.float32)
    tables = [part.astype(np.float32).astype(np.float64) for part in (values, weights, offsets)]
    given = table(q, k, tables[0], tables[1], [Fraction(b) for b in tables[2].tolist()], name=name)
    verdict = whole.verify(given, n, eps, command=command, certified=False)
    if not isinstance(verdict, whole.Counterexample):
        return Finished(note=f"correct in floats and not in small numbers: {type(verdict).__name__}")
    kernel = exhaust.decide(given, n, eps, command=command, certified=False)
    if isinstance(kernel, exhaust.Refutation):
        return Finished(counterexample=verdict, refutation=kernel)
    no_readout = None
    if maps.asked.kind == "free" and isinstance(kernel, exhaust.KernelCorrect):
        try:
            best = readouts.best(given, "own", n, eps, cube=kernel.cube, command=command)
        except Undecided:
            best = None
        no_readout = best if isinstance(best, readouts.NoReadout) else None
    return Finished(counterexample=verdict, no_readout=no_readout)


def _rounded_features(queries: Floats, keys: Floats) -> Iterator[tuple[IntegerHead, int]]:
    """Integer features on finer and finer grids, columns of keys and rows of queries scaled to it, and k of 2^-k."""
    scale = np.abs(keys).max(axis=0)
    scale[scale == 0] = 1
    rows = np.abs(queries * scale).max(axis=1, keepdims=True)
    rows[rows == 0] = 1
    for grid in GRIDS:
        rounded = [np.rint(part * grid).astype(np.int64) for part in (queries * scale / rows, keys / scale)]
        yield IntegerHead(*rounded), grid.bit_length() - 1


def _rounded_head(
    maps: Constrained, free: Tensor, integers: IntegerHead, places: int, n: int, eps: Fraction, name: str, command: str
) -> whole.HeadCorrect | None:
    if not holds(np.arange(1 << maps.m), integers.queries, integers.keys, n, eps).all():
        return None
    rounded = free.clone()
    for part, view in maps.parts(rounded).items():  # views into `rounded`
        if part != "kernel":
            view.copy_((view * 2.0**places).round() / 2.0**places)
    values, weights, offsets = (part[0].cpu().numpy() for part in maps.readout(rounded))
    head: TableHead = table(
        integers.queries, integers.keys, values, weights, [Fraction(b) for b in offsets.tolist()], name=name
    )
    if maps.asked.kind == "affine":
        verdict = whole.verify(head, n, eps, command=command)
        return verdict if isinstance(verdict, whole.HeadCorrect) else None
    try:
        best = readouts.best(head, "own", n, eps, command=command)
    except Undecided:
        return None
    return best.verdict if isinstance(best, readouts.Fitted) else None
