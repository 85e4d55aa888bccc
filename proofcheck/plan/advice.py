"""The lines of a plan: what Min-IP on m-bit tokens asks of a design, what would be enough, and what it costs.

What the verdicts mean, and what the lines do not say: `design`.

    advise   all lines of a plan
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from proofcheck.bounds import best
from proofcheck.certificate import Checked, in_file_name
from proofcheck.theorems import theorem1
from proofcheck.theorems.bundle import foundation
from proofcheck.transcripts import Bound, best_bound

from . import costs, softmax
from .design import FAILING, IMPOSSIBLE, NONE, NOT_EXCLUDED, SUFFICIENT, Design, Line, Plan
from .formats import FORMATS
from .words import above, below, decimal, down, size, up

LADDER = ("fp32", "fp16", "bf16", "fp8", "int8")


def advise(design: Design, window: best.Window) -> Plan:
    """The plan for a design; `window` are the best bounds on r*(m,n) known."""
    plan = Plan(design)
    plan.lines += _one_head(plan, window)
    plan.lines += _transcript(plan)
    plan.lines += _temperature(plan)
    plan.lines += _softmax_rounded(design)
    plan.lines += _costs(design)
    return plan


# ----------------------------------------------------------------------------------------------------- one head


def _one_head(plan: Plan, window: best.Window) -> Iterator[Line]:
    design = plan.design
    topic = "one nonnegative head, affine readout, exact arithmetic"
    has, about = f"r = {design.r}", "" if design.alone else "; about one head alone"
    sides = {"lower": window.lower, "unconditional": window.unconditional, "upper": window.upper}
    for side, bound in sides.items():
        plan.bundle.include(best.rested(bound.certificate))
        plan.bundle.add(f"plan/{design.label}-features-{side}", bound.certificate)
    high = window.upper
    enough = design.alone and design.r >= high.value and design.dv >= (1 << design.m) - 1
    below = [window.unconditional] if window.lower.value == window.unconditional.value else [window.lower]
    if below[0].assumes:
        below.append(window.unconditional)
    for bound in below:
        verdict = NONE if not design.alone else NOT_EXCLUDED if design.r >= bound.value else IMPOSSIBLE
        if verdict == IMPOSSIBLE and not bound.assumes:
            plan.excluded = f"a nonnegative head with an affine readout needs {bound.value} features, not {design.r}"
        assumed = f"; assumes {'; '.join(bound.assumes)}" if bound.assumes else ""
        figures = {"least features": str(bound.value)}
        asks = f"r >= {down(bound.value)}"
        yield Line(topic, asks, has, verdict, f"bound: {bound.method}{about}{assumed}", bound.certificate, figures)
    note = "; dv as large as it takes" if not enough else "; 2^m - 1 values are enough"
    yield Line(
        topic,
        f"r = {up(high.value)} is enough",
        has,
        SUFFICIENT if enough else NONE,
        f"bound: {high.method}{note}",
        high.certificate,
        {"enough features": str(high.value)},
    )


# --------------------------------------------------------------------------------------------------------- bits


def _transcript(plan: Plan) -> Iterator[Line]:
    design = plan.design
    topic, command = "all layers and heads, finite precision, any decoder", design.command()
    beyond = longest(design.m, design.bits)
    known = [best_bound(design.m, design.n)] + ([beyond] if beyond and beyond.n and beyond.n <= design.n else [])
    bound = max(known, key=lambda b: b.bits)  # a bound at a smaller n is one at n too
    plan.needed = bound.bits
    certificate = _kept(plan, bound, command)
    verdict = IMPOSSIBLE if design.bits < bound.bits else NOT_EXCLUDED
    if verdict == IMPOSSIBLE:
        plan.excluded = f"the transcript needs {bound.bits} bits, this design has {design.bits} (eq. 8)"
    yield Line(
        topic,
        f"L H r (dv+1) p >= {bound.bits} bits",
        f"{design.bits} bits",
        verdict,
        f"Theorem 9, eq. (8): {bound.q} {'query' if bound.q == 1 else 'queries'} at {bound.s + 1} levels",
        certificate,
        {"bits needed": bound.bits, "bits held": design.bits},
    )
    each = design.layers * design.heads * (design.dv + 1)
    least = -(-bound.bits // design.coordinates)
    fit = [name for name in LADDER if FORMATS[name].bits >= least]
    yield Line(
        topic,
        f"p >= {least} at r = {design.r}" + (f": {', '.join(fit)}" if fit else ": no format has so many bits"),
        f"p = {design.precision.bits}",
        NOT_EXCLUDED if design.precision.bits >= least else IMPOSSIBLE,
        "eq. (8)",
        certificate,
        {"least p": least},
    )
    widths = {name: FORMATS.get(name, design.precision).bits for name in (*LADDER, design.precision.name)}
    least_r = {name: -(-bound.bits // (each * p)) for name, p in widths.items()}
    yield Line(
        topic,
        "; ".join(f"r >= {r} at {name}" for name, r in least_r.items()),
        f"r = {design.r} at {design.precision.name}",
        verdict,
        "eq. (8)",
        certificate,
        {"least r": least_r},
    )
    if beyond is None:
        yield Line(topic, "no length is excluded", f"n = {design.n}", NOT_EXCLUDED, "eq. (8)")
    else:
        yield Line(
            topic,
            f"n < {beyond.n}",
            f"n = {design.n}",
            verdict,
            f"eq. (8): at n = {beyond.n} it asks for {beyond.bits} bits",
            _kept(plan, beyond, command),
            {"impossible from n": beyond.n, "bits needed there": beyond.bits},
        )


def _kept(plan: Plan, bound: Bound, command: str) -> Checked:
    code, certificate = bound.certify(command)
    label = f"m{bound.m}-n{bound.n}"
    plan.bundle.add(f"plan/{label}-code", code)
    return plan.bundle.add(f"plan/{label}-transcript", certificate)


def longest(m: int, bits: int) -> Bound | None:
    """A bound that excludes `bits` at the least n, by bisection, or None where no length is excluded."""
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

SOFTMAX = "dense softmax, readout <x,a>"


def _temperature(plan: Plan) -> Iterator[Line]:
    """Exact arithmetic. Verdicts are about a temperature that was asked for, no other."""
    design, m, n, eps = plan.design, plan.design.m, plan.design.n, plan.design.eps
    plan.bundle.add(*foundation("softmin"))
    tau = theorem1.sufficient_temperature(n, eps)
    certificate = theorem1.temperature(n, eps, tau, foundation("softmin")[1])
    plan.bundle.add(f"plan/n{n}-eps{in_file_name(eps)}-temperature", certificate)
    asked, has = design.tau, f"tau = {design.tau}" if design.tau else ""
    yield Line(
        SOFTMAX,
        f"tau >= {decimal(tau, 3)} is enough for every m",
        has,
        SUFFICIENT if asked is not None and asked >= tau else NONE,
        f"Theorem 1: tau >= log(n/eps) = {log(n / eps):.4f}",
        certificate,
        {"enough": str(tau)},
    )
    fails, works = softmax.threshold(m, n, eps)
    holds = None if asked is None else softmax.holds(m, n, eps, asked)
    yield Line(
        SOFTMAX,
        f"tau >= {decimal(works)} is enough at m = {m}, tau <= {decimal(fails)} fails",
        has,
        {True: SUFFICIENT, False: FAILING, None: NONE}[holds],
        "if and only if: tau > max over d <= m of log((n-1)(d-eps)/eps)/d",
        None,
        {"enough": str(works), "fails": str(fails)},
    )


def _softmax_rounded(design: Design) -> Iterator[Line]:
    m, n, eps = design.m, design.n, design.eps
    at = design.precision if design.precision.binary else FORMATS["fp16"]
    name = at.name if at is design.precision else f"{at.name} ({design.precision.name} is no floating-point format)"
    tau = design.tau or theorem1.sufficient_temperature(n, eps)
    shown = f"{design.tau}" if design.tau else decimal(tau, 3)
    failure = softmax.rounded_scores(m, n, eps, tau, at)
    if failure is None:
        asks, verdict = "scores may be rounded", SUFFICIENT
    elif failure.beyond:
        asks, verdict = f"scores overflow at overlap {failure.level + 1}", FAILING
    else:
        asks = (
            f"overlaps {failure.level} and {failure.level + failure.gap} rounded: error {below(failure.error)} or more"
        )
        verdict = FAILING
        if softmax.holds(m, n, eps, tau) is False:
            asks = f"tau is too small in exact arithmetic already; {asks}"
    yield Line(
        SOFTMAX,
        asks,
        f"scores in {name}, tau = {shown}",
        verdict if design.tau else NONE,
        "if and only if, everything else exact: rounded scores at gap d differ by more than log((n-1)(d-eps)/eps)",
        None,
        {} if failure is None else {"overlap": failure.level, "gap": failure.gap, "error": str(below(failure.error))},
    )
    empty = softmax.underflow(m, tau, at)
    yield Line(
        SOFTMAX,
        "no weight vanishes"
        if empty is None
        else f"subtract the largest score: without, 0/0 where all overlaps are >= {empty}",
        f"weights in {name}, tau = {shown}",
        NONE,
        f"e^(-tau l) against the least number 2^{at.least} of the format",
        None,
        {"vanish from overlap": empty},
    )
    for order, words in ((softmax.LAST, "division last"), (softmax.FIRST, "weights normalised, then stored")):
        found = softmax.power_of_two(m, n, eps, at, order)
        error = found.error() if found else None
        if found is None or error is None:
            asks, figures = "no power of two is shown to be enough", {}
        else:
            asks = f"tau = {found.tau}: exact scores, error <= {above(error)} < {eps}"
            figures = {"tau": str(found.tau), "error": str(above(error))}
        why = f"{words}; sums in fp32, largest score subtracted (assumptions: plan/softmax.py)"
        yield Line(SOFTMAX, asks, f"weights, outputs in {name}", NONE, why, None, figures)


# -------------------------------------------------------------------------------------------------------- costs


def _costs(design: Design) -> Iterator[Line]:
    topic, p = "cost, all layers together", design.precision
    ours = costs.kernel(design.layers, design.heads, design.r, design.dv)
    full = costs.dense(design.layers, design.heads, design.dv, design.dv, design.n)
    yield Line(
        topic,
        f"dense attention (dk = dv) keeps {size(full.memory(p.bits))}",
        f"state of {size(ours.memory(p.bits))}",
        NONE,
        f"{full.state} and {ours.state} numbers of {p.bits} bits",
        None,
        {"dense bytes": full.memory(p.bits), "bytes": ours.memory(p.bits)},
    )
    turn = costs.break_even(design.r, design.dv, design.dv)
    yield Line(
        topic,
        f"dense attention: {full.operations} operations a token; more than here from n = {turn} on",
        f"{ours.operations} operations a token",
        NONE,
        "multiplications and additions, without the feature map",
        None,
        {"dense operations": full.operations, "operations": ours.operations, "equal from n": turn},
    )
