"""What is asked about, and what a plan says: designs, lines, verdicts.

A design has L layers of H heads with r features, dv values, and states stored in a format of p bits. Each line of a
plan says what is needed or known, what the design has, and a verdict:

    impossible     no feature maps, values and decoders make this design correct (error < eps) at all lengths 1..n
    not excluded   the theorem does not exclude it. IT IS NOT THEREBY POSSIBLE
    sufficient     something of this size that is correct exists, in exact arithmetic
    fails          dense softmax at the temperature asked for errs by eps or more on some sequence
    -              no verdict: a figure, or advice

What the lines do not say. The bound on r is about ONE head with a nonnegative kernel and an affine readout, in exact
arithmetic. A design of one layer with one head is taken to be such a head, so that it can be impossible on this ground;
several heads, several layers, signed kernels and readouts that are not affine may do with less, and there this bound
gives no verdict. How many values dv a correct head needs is not known here; 2^m - 1 are always enough (one coordinate
for each token but one), and only with so many is a design of enough features called sufficient. The bound on bits is
about any deterministic model whose tokens communicate by L messages of H r (dv+1) p bits, of signed kernels and of any
decoder too; it says nothing about states that are unrestricted reals, and having the bits is necessary, never
sufficient. For a causal model read the message of a layer as its state between the database and the queries that
follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from proofcheck.certificate import Checked, in_file_name
from proofcheck.errors import CONDITIONAL, FAILS, PROVED, UsageError
from proofcheck.theorems.bundle import Bundle
from proofcheck.transcripts import MAX_M

from .formats import Format

IMPOSSIBLE, NOT_EXCLUDED, SUFFICIENT, FAILING, NONE = "impossible", "not excluded", "sufficient", "fails", "-"
MAX_N = 10**7


@dataclass(frozen=True)
class Design:
    """m bits of a token, n tokens at most, error < eps; `r` and `width` as the command says; `tau` if one is given."""

    m: int
    n: int
    eps: Fraction
    layers: int
    heads: int
    r: int
    dv: int
    precision: Format
    width: int
    tau: Fraction | None = None

    def __post_init__(self) -> None:
        if not 4 <= self.m <= MAX_M:
            raise UsageError(f"-m: expected 4 <= m <= {MAX_M} bits of a token, got {self.m}")
        if not 3 <= self.n <= MAX_N:
            raise UsageError(f"-n: expected 3 <= n <= {MAX_N} tokens, got {self.n}")
        for name in ("layers", "heads", "r", "dv", "width"):
            if not 1 <= getattr(self, name) <= 10**6:
                option = "-r" if name == "r" else f"--{name}"
                raise UsageError(f"{option}: expected 1 <= {name} <= 1000000, got {getattr(self, name)}")

    @property
    def coordinates(self) -> int:
        """L H r (dv+1): numbers in all messages together."""
        return self.layers * self.heads * self.r * (self.dv + 1)

    @property
    def bits(self) -> int:
        return self.coordinates * self.precision.bits

    @property
    def alone(self) -> bool:
        return self.layers == self.heads == 1

    @property
    def label(self) -> str:
        return f"m{self.m}-n{self.n}-eps{in_file_name(self.eps)}"

    def command(self) -> str:
        options = f"-m {self.m} -n {self.n} --eps {self.eps} --layers {self.layers} --heads {self.heads} -r {self.r}"
        return f"proofcheck plan {options} --dv {self.dv} --precision {self.precision.name}"


@dataclass(frozen=True)
class Line:
    """`topic` groups lines; `asks` is what is needed or known, `has` what the design has; `why` names the theorem.
    `figures` are the numbers in `asks` and `has` that a program may want, exactly."""

    topic: str
    asks: str
    has: str
    verdict: str
    why: str
    certificate: Checked | None = None
    figures: Mapping[str, object] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        held = self.certificate
        return {
            "topic": self.topic,
            "asks": self.asks,
            "has": self.has,
            "verdict": self.verdict,
            "why": self.why,
            "figures": dict(self.figures),
            "certificate": held.id if held else None,
            "assumes": list(held.verdict.assumed) if held else [],
        }


@dataclass
class Plan:
    design: Design
    lines: list[Line] = field(default_factory=list)
    bundle: Bundle = field(default_factory=Bundle)
    excluded: str = ""  # why the design is impossible, if it is
    needed: int = 0  # bits of the transcript

    @property
    def failing(self) -> str:
        """Where dense softmax fails at the temperature asked for, the weakest assumption first; else empty."""
        return next((line.has for line in self.lines if line.verdict == FAILING), "")

    @property
    def status(self) -> int:
        """Fails where the design is impossible with nothing assumed; conditional where a line rests on a named theorem
        of mathematics."""
        if self.excluded:
            return FAILS
        held = [line.certificate for line in self.lines if line.certificate]
        return CONDITIONAL if any(certificate.verdict.assumed for certificate in held) else PROVED
