"""A plan: what Min-IP on m-bit tokens and n of them asks of a design, what would be enough, and what it costs.

A design has L layers of H heads with r features, dv values, and states stored in a format of p bits. Each line of a
plan says what is needed or known, what the design has, and one of these verdicts about the design:

    impossible     no weights, readouts or feature maps make it correct (error < eps) at all lengths 1..n
    not excluded   the theorem does not exclude it. IT IS NOT THEREBY POSSIBLE
    sufficient     something of this size that is correct exists
    -              no verdict: a figure, or advice

What the lines do not say. The bound on r is about ONE head with a nonnegative kernel in exact arithmetic, and a layer
of several heads, several layers or a signed kernel may do with less. The bound on bits is about any deterministic
model whose tokens communicate by L messages of H r (dv+1) p bits, of signed kernels too; it says nothing about states
that are unrestricted reals, and having the bits is necessary, never sufficient. For a causal model read the message of
a layer as its state between the database and the queries that follow it.

    Design   what is asked about
    Line     one line, with its certificate where there is one
    advise   all lines of a plan
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import log, log2

from proofcheck.bounds import best
from proofcheck.certificate import Checked, in_file_name
from proofcheck.errors import CONDITIONAL, FAILS, PROVED, UsageError
from proofcheck.theorems import theorem1
from proofcheck.theorems.bundle import Bundle, foundation
from proofcheck.transcripts import MAX_M, Bound, best_bound

from . import costs, softmax
from .formats import FORMATS, Format

IMPOSSIBLE, NOT_EXCLUDED, SUFFICIENT, NONE = "impossible", "not excluded", "sufficient", "-"
MAX_N = 10**7
LADDER = ("fp32", "fp16", "bf16", "fp8", "int8")


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
    def label(self) -> str:
        return f"m{self.m}-n{self.n}-eps{in_file_name(self.eps)}"

    def command(self) -> str:
        options = f"-m {self.m} -n {self.n} --eps {self.eps} --layers {self.layers} --heads {self.heads} -r {self.r}"
        return f"proofcheck plan {options} --dv {self.dv} --precision {self.precision.name}"


@dataclass(frozen=True)
class Line:
    """`topic` groups lines; `asks` is what is needed or known, `has` what the design has; `why` names the theorem."""

    topic: str
    asks: str
    has: str
    verdict: str
    why: str
    certificate: Checked | None = None

    def as_json(self) -> dict[str, object]:
        held = self.certificate
        return {
            "topic": self.topic,
            "asks": self.asks,
            "has": self.has,
            "verdict": self.verdict,
            "why": self.why,
            "certificate": held.id if held else None,
            "assumes": list(held.verdict.assumed) if held else [],
        }


@dataclass
class Plan:
    design: Design
    lines: list[Line] = field(default_factory=list)
    bundle: Bundle = field(default_factory=Bundle)
    excluded: str = ""  # why the whole design is impossible, if it is
    needed: int = 0  # bits of the transcript

    @property
    def status(self) -> int:
        """Fails where the design is impossible; conditional where a line rests on a named theorem of mathematics."""
        if self.excluded:
            return FAILS
        held = [line.certificate for line in self.lines if line.certificate]
        return CONDITIONAL if any(certificate.verdict.assumed for certificate in held) else PROVED


def advise(design: Design, window: best.Window) -> Plan:
    """The plan for a design; `window` are the best bounds on r*(m,n) known."""
    plan = Plan(design)
    plan.lines += _one_head(plan, window)
    plan.lines += _transcript(plan)
    plan.lines += _softmax(plan)
    plan.lines += _costs(design)
    return plan


# ----------------------------------------------------------------------------------------------------- one head


def _one_head(plan: Plan, window: best.Window) -> Iterator[Line]:
    design = plan.design
    topic, alone = "one nonnegative head, exact arithmetic", design.layers == design.heads == 1
    for side, bound in (("lower", window.lower), ("upper", window.upper)):
        plan.bundle.include(best.rested(bound.certificate))
        plan.bundle.add(f"plan/{design.label}-features-{side}", bound.certificate)
    low, high = window.lower, window.upper
    note = "" if alone else "; about one head alone, not about several"
    if design.r < low.value:
        verdict = IMPOSSIBLE
        if alone and not low.assumes:
            plan.excluded = f"one nonnegative head needs {shown(low.value)} features, this one has {design.r}"
    else:
        verdict = SUFFICIENT if design.r >= high.value else NOT_EXCLUDED
    assumed = f"; assumes {'; '.join(low.assumes)}" if low.assumes else ""
    yield Line(
        topic, f"r >= {shown(low.value)}", f"r = {design.r}", verdict, f"{low.method}{note}{assumed}", low.certificate
    )
    enough = SUFFICIENT if design.r >= high.value else NONE
    yield Line(topic, f"r = {shown(high.value)} is enough", f"r = {design.r}", enough, high.method, high.certificate)


# --------------------------------------------------------------------------------------------------------- bits


def _transcript(plan: Plan) -> Iterator[Line]:
    design = plan.design
    topic, command = "all layers and heads, finite precision", design.command()
    bound = best_bound(design.m, design.n)
    plan.needed = bound.bits
    certificate = _kept(plan, bound, command)
    verdict = IMPOSSIBLE if design.bits < bound.bits else NOT_EXCLUDED
    if verdict == IMPOSSIBLE:
        plan.excluded = f"the transcript needs {bound.bits} bits, this design has {design.bits} (eq. 8)"
    yield Line(
        topic,
        f"L H r (dv+1) p >= {bound.bits} bits",
        f"{design.bits}",
        verdict,
        f"Theorem 9, eq. (8): {bound.q} queries at {bound.s + 1} levels",
        certificate,
    )
    each = design.layers * design.heads * (design.dv + 1)
    least = -(-bound.bits // design.coordinates)
    fit = [name for name in LADDER if FORMATS[name].bits >= least]
    yield Line(
        topic,
        f"p >= {least} at r = {design.r}",
        f"p = {design.precision.bits}",
        NOT_EXCLUDED if design.precision.bits >= least else IMPOSSIBLE,
        f"eq. (8); not excluded: {', '.join(fit) or 'none of ' + ', '.join(LADDER)}",
        certificate,
    )
    bits = dict.fromkeys((*LADDER, design.precision.name))
    widths = {name: FORMATS.get(name, design.precision).bits for name in bits}
    yield Line(
        topic,
        "; ".join(f"r >= {-(-bound.bits // (each * p))} at {name}" for name, p in widths.items()),
        f"r = {design.r}",
        NONE,
        "eq. (8)",
        certificate,
    )
    beyond = longest(design.m, design.bits)
    if beyond is None:
        yield Line(topic, "no length n is excluded", f"n = {design.n}", NONE, "eq. (8)")
    else:
        yield Line(
            topic,
            f"impossible from n = {beyond.n} on",
            f"n = {design.n}",
            NONE,
            f"eq. (8): {beyond.bits} bits needed there",
            _kept(plan, beyond, command),
        )


def _kept(plan: Plan, bound: Bound, command: str) -> Checked:
    code, certificate = bound.certify(command)
    label = f"m{bound.m}-n{bound.n}"
    plan.bundle.add(f"plan/{label}-code", code)
    return plan.bundle.add(f"plan/{label}-transcript", certificate)


def longest(m: int, bits: int) -> Bound | None:
    """A bound that excludes `bits`, at the least n that bisection finds, or None where no length is excluded. The
    bounds grow with n but for the rounding of very large ones, so that n may not be least."""
    if best_bound(m).bits <= bits:
        return None
    low, high = 1, 2
    while best_bound(m, high).bits <= bits:
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        if best_bound(m, middle).bits > bits:
            high = middle
        else:
            low = middle
    return best_bound(m, high)


# ------------------------------------------------------------------------------------------------------ softmax


def _softmax(plan: Plan) -> Iterator[Line]:
    design, topic = plan.design, "dense softmax, readout <x,a>"
    m, n, eps = design.m, design.n, design.eps
    plan.bundle.add(*foundation("softmin"))
    tau = theorem1.sufficient_temperature(n, eps)
    certificate = theorem1.temperature(n, eps, tau, foundation("softmin")[1])
    plan.bundle.add(f"plan/n{n}-eps{in_file_name(eps)}-temperature", certificate)
    fails, works = softmax.threshold(m, n, eps)
    asked, has = design.tau, f"tau = {design.tau}" if design.tau else ""
    holds = None if asked is None else softmax.holds(m, n, eps, asked)
    yield Line(
        topic,
        f"tau >= {decimal(tau, 3)} is enough for every m",
        has,
        SUFFICIENT if asked is not None and asked >= tau else NONE,
        f"Theorem 1: tau >= log(n/eps) = {log(n / eps):.4f}",
        certificate,
    )
    yield Line(
        topic,
        f"tau >= {decimal(works)} is enough at m = {m}, tau <= {decimal(fails)} fails",
        has,
        {True: SUFFICIENT, False: IMPOSSIBLE, None: NONE}[holds],
        "if and only if: tau > max over d of log((n-1)(d-eps)/eps)/d",
    )
    at = design.precision if design.precision.binary else FORMATS["fp16"]
    name = at.name if at is design.precision else f"{at.name} (scores are no {design.precision.name})"
    used = asked or tau
    temperature = f"{asked}" if asked else decimal(tau, 3)
    lost = softmax.collision(m, used, at)
    yield Line(
        topic,
        "no two overlaps with one score"
        if lost is None
        else f"overlaps {lost} and {lost + 1} have one score: error 2/3 or more",
        f"scores in {name}, tau = {temperature}",
        NONE if lost is None else IMPOSSIBLE,
        "scores rounded to the nearest",
    )
    empty = softmax.underflow(m, used, at)
    yield Line(
        topic,
        "no weight vanishes"
        if empty is None
        else f"subtract the largest score: without, 0/0 where all overlaps are >= {empty}",
        f"weights in {name}, tau = {temperature}",
        NONE,
        f"e^(-tau l) against the least number 2^{at.least} of the format",
    )
    found = softmax.power_of_two(m, n, eps, at)
    if found is None:
        asks, why = "no power of two is shown to be enough", "scores would round, or the bound on rounding is too large"
    else:
        error = found.error()
        asks = f"tau = {found.tau}: exact scores, error <= {float(error or 0):.4f} < {eps}"
        why = "a power of two; largest score subtracted, sums in fp32 (plan/softmax.py)"
    yield Line(topic, asks, f"all in {name}", NONE, why)


# -------------------------------------------------------------------------------------------------------- costs


def _costs(design: Design) -> Iterator[Line]:
    topic, p = "cost, all layers together", design.precision
    ours = costs.kernel(design.layers, design.heads, design.r, design.dv)
    full = costs.dense(design.layers, design.heads, design.dv, design.dv, design.n)
    yield Line(
        topic,
        f"dense attention (dk = dv): {size(full.memory(p.bits))}",
        f"state of {size(ours.memory(p.bits))}",
        NONE,
        f"numbers kept x {p.bits} bits, {full.state} and {ours.state}",
    )
    turn = costs.break_even(design.r, design.dv, design.dv)
    yield Line(
        topic,
        f"dense attention: {full.operations} operations a token; more than here from n = {turn} on",
        f"{ours.operations}",
        NONE,
        "multiplications and additions, without the feature map",
    )


# --------------------------------------------------------------------------------------------------------- words


def shown(value: int) -> str:
    return str(value) if value < 10**9 else f"2^{log2(value):.2f}"


def decimal(value: Fraction, places: int = 4) -> str:
    """A number that has so many decimal places."""
    return f"{float(value):.{places}f}"


def size(count: int) -> str:
    """Bytes for a reader, exact up to three digits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count = count / 1024  # type: ignore[assignment]
    return f"{count:.4g} TiB"
