"""The best certified lower and upper bound on r*(m,n) for error eps, beside the paper's, and how each arises.

r*(m,n) is about heads that are correct at all lengths 1..n; a lower bound that needs exact length n alone holds a
fortiori. For n <= 2 it is 1 (Theorem 6). The paper's bounds are 2^(4 floor(M/40) - 1) at n = 3, eps = 1/2 (for other
n and eps, Theorem 5 with its uniform chain on the greedy code in the middle layer), and 2^m.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2

from proofcheck import codes
from proofcheck.certificate import Checked, certify, in_file_name
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.claims.parameters import least_gap
from proofcheck.kernel.exact import Malformed, OverBudget, Rejected
from proofcheck.theorems import theorem5
from proofcheck.theorems.bundle import Bundle, foundation

from . import exponents, families, hamming, heads, layers, small, weights

HALF = Fraction(1, 2)
LARGEST_M = 3_000  # beyond it numbers leave the format's budget of digits, and logarithms are given instead
BASES = tuple(Fraction(k, 50) for k in (20, 25, 30, 33, 35, 37, 38, 39, 40, 41, 42, 43))
NEARLY = -0.05  # room of the hardest class from which it is worth to look for a better scale
QUICK_CLASSES, MOST_CLASSES = 21, 41  # of queries, where a better scale is looked for
POLYNOMIAL_M = 40  # polynomials in overlaps and weights are tried up to here
PRODUCTS_M = 18  # products of two heads of degree 1 up to here
WEIGHTS_M = 12  # heads that treat bits alike (thorough only) up to here; without points up to 11
THOROUGH_M = 32  # more kinds of them, and better scales, up to here
HAMMING_M = 200  # polynomials in the Hamming distance up to here; beyond, sampled features are fewer
ETAS = tuple(Fraction(1, k) for k in (6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024))


@dataclass(frozen=True)
class Bound:
    """One side: the value, how it arises, its certificate with all that it rests on, and what is assumed."""

    value: int
    method: str
    certificate: Checked

    @property
    def assumes(self) -> list[str]:
        return list(self.certificate.verdict.assumed)

    def as_json(self) -> dict[str, object]:
        return {
            "value": str(self.value),
            "log2": f"{log2(self.value):.4f}",
            "method": self.method,
            "certificate": self.certificate.id,
            "assumes": self.assumes,
        }


def rested(certificate: Checked) -> Bundle:
    """The foundations that a bound's certificate names in `uses` (codes and chains come with the bound itself)."""
    bundle = Bundle()
    if certificate.rule == "amplification":
        bundle.add(*foundation("gap-domination-symbolic"))
        p = certificate.parameters
        bundle.include(trivial_parts(p["m"], p["n"], Fraction(p["eps"])))
    for claim in ("approximate-identity", "domination-sufficient", "gap-domination-symbolic", "softmin"):
        if claim in certificate.report.certificate.uses:
            bundle.add(*foundation(claim))
    return bundle


# --------------------------------------------------------------------------------------------------- below


def lower_bounds(m: int, n: int, eps: Fraction, command: str) -> list[Bound]:
    """Every lower bound at hand, best first; the last is r >= 1."""
    found = [Bound(1, "rank 0 makes every denominator zero", _trivial(m, n, eps, command))]
    size = small.least_size(n, eps)
    if m >= 2 * size:
        k = min(m // size, 12)
        found.append(Bound(k, f"{k} shattered {'bits' if size == 1 else 'pairs'}", small.shattered(m, n, eps, command)))
    for ground in small.REFUTED:
        if m >= ground:
            certificate = small.refuted(m, n, eps, ground, command)
            found.append(Bound(small.REFUTED[ground] + 1, f"no chirotope on {ground} elements", certificate))
    if m >= 4:
        found.append(Bound(m - 2, "topological, m - 2", small.topological(m, n, eps, command)))
    layer = layers.best_layer(m, n, eps)
    if layer is not None:
        certificate = layers.certificate(m, n, eps, layer, command)
        how = f"layer M={layer.M}, h={layer.weight}, D0={layer.distance}"
        found.append(Bound(int(certificate.parameters["value"]), how, certificate))
    for family in (families.best_family(m, n, eps), families.best_class(m, n, eps)):
        if family is not None and family.value > found[0].value:
            try:
                certificate = families.certificate(m, n, eps, family, command)
            except OverBudget:  # too many pairs for the kernel: the other bounds stand
                continue
            found.append(Bound(family.value, family.name, certificate))
    # Of equal values the one that assumes least, then the smallest certificate.
    return sorted(found, key=lambda b: (-b.value, len(b.assumes), len(b.certificate.data)))


def trivial_parts(m: int, n: int, eps: Fraction) -> Bundle:
    """The code of one word and the chain of one gap on which r >= 1 rests."""
    command = f"proofcheck bound -m {m} -n {n} --eps {eps}"
    distance = -(-least_gap(n, eps).numerator // least_gap(n, eps).denominator)
    bundle = Bundle()
    word = theorem5.packing_certificate(m, m // 2, distance, command, size=1)
    bundle.add(f"rank-one/code-m{m}-d{distance}", word)
    chain = theorem5.chain_certificate(n, eps, [distance], Fraction(1), command)
    bundle.add(f"rank-one/chain-n{n}-eps{in_file_name(eps)}", chain)
    return bundle


def _trivial(m: int, n: int, eps: Fraction, command: str) -> Checked:
    word, chain = (certificate for _, certificate in trivial_parts(m, n, eps))
    return theorem5.rank_certificate(m, word, chain, command)


# --------------------------------------------------------------------------------------------------- above


def upper_bound(m: int, n: int, eps: Fraction, command: str, thorough: bool = False) -> Bound:
    """The best upper bound found; 2^m always works. `thorough` tries more kinds of heads, for minutes."""
    best = _one_hot(m, n, eps, command)
    polynomials = functools.partial(_polynomials, thorough=thorough)
    for attempt in (_hamming, _sampled, *((_weights,) if thorough else ()), polynomials):
        better = attempt(m, n, eps, command, best.value)
        best = better or best
    return best


def _one_hot(m: int, n: int, eps: Fraction, command: str) -> Bound:
    witness: dict[str, object] = {"blocks": [m], "degrees": [], "scale": [1] * (m + 1), "polynomials": {}}
    certificate = heads.certified(m, n, eps, 1 << m, witness, command)
    if certificate is None:
        raise ClaimFails(f"the one-hot head of Theorem 2 is refused at m={m}, n={n}, eps={eps}")
    return Bound(1 << m, "one feature per query (Theorem 2)", certificate)


def _hamming(m: int, n: int, eps: Fraction, command: str, below: int) -> Bound | None:
    found = hamming.least_degree(m, n, eps) if m <= HAMMING_M else None
    if found is None:
        return None
    degree, base = found
    rank = hamming.rank(m, degree)
    certificate = hamming.certificate(m, degree, base, n, eps, command) if rank < below else None
    how = f"degree {degree} in the Hamming distance, scale ({base})^|z|"
    return None if certificate is None else Bound(rank, how, certificate)


def _shapes(m: int, thorough: bool) -> Iterator[tuple[str, heads.Shape]]:
    """Low-degree heads with a free scale s(|z|): total degree; products over two blocks; and if `thorough`, other
    degrees over two blocks, and degree 2 across three blocks."""
    one = Fraction(1)
    for degree in range(5):
        yield f"degree {degree}", heads.total_degree(m, degree, one)
    cappings = [((1, 1), 2)] if m <= PRODUCTS_M else []
    if thorough and m <= THOROUGH_M:
        cappings += [((2, 1), 2), ((1, 2), 2), ((2, 1), 3), ((2, 2), 3)]
    for b in range(1, m // 2 + 1):
        for caps, total in cappings:
            name = f"degrees <= {caps[0]}+{caps[1]}, in all <= {total}, in blocks of {m - b}+{b} bits"
            yield name, heads.product_degrees((m - b, b), caps, total, one)
    if thorough and 12 <= m <= 18:
        a, b = m // 3, (m + 1) // 3
        yield (
            f"degree 2 across blocks of {a}+{b}+{m - a - b} bits",
            heads.product_degrees((a, b, m - a - b), (1, 1, 1), 2, one),
        )


def _polynomials(m: int, n: int, eps: Fraction, command: str, below: int, thorough: bool) -> Bound | None:
    """The first shape, by rank, with a scale for which the kernel accepts it. The class with most queries rules most
    shapes out; where it nearly has room, the scale is improved."""
    if m > POLYNOMIAL_M:
        return None
    for name, shape in sorted(_shapes(m, thorough), key=lambda item: item[1].rank()):
        rank = shape.rank()
        if rank >= below:
            return None
        hardest = heads.class_programme(shape, shape.classes()[0], n, eps).programme
        scaled = [replace(shape, scale=heads.geometric(m, base)) for base in BASES]
        usable = [other for other in scaled if hardest.proposal(other.floats()) is not None]
        for other in usable:
            certificate = heads.certificate(other, n, eps, command, below=below)
            if certificate is not None:
                base = other.scale[1] if m else 1
                return Bound(int(certificate.parameters["rank"]), f"{name}, scale ({base})^|z|", certificate)
        if len(shape.classes()) <= (MOST_CLASSES if thorough else QUICK_CLASSES):
            rooms = [hardest.roomiest(other.floats(), NEARLY, 0.1)[0] for other in scaled]
            nearly = max(range(len(scaled)), key=lambda i: rooms[i])
            if rooms[nearly] >= NEARLY:
                better = heads.improved(scaled[nearly], n, eps)
                certificate = heads.certificate(better, n, eps, command, below=below) if better else None
                if certificate is not None:
                    return Bound(int(certificate.parameters["rank"]), f"{name}, optimised scale s(|z|)", certificate)
    return None


def _weights(m: int, n: int, eps: Fraction, command: str, below: int) -> Bound | None:
    """Keys that treat bits alike: one slope, one function (a bit apart or none), and from m = 12 on points in space."""
    if not 4 <= m <= WEIGHTS_M:
        return None
    shapes = [weights.Shape(m, apart=1), weights.Shape(m)] if m < WEIGHTS_M else []
    for shape in [*shapes, weights.Shape(m, functions=2, points=1)]:
        found = weights.certificate(shape, n, eps, command) if shape.rank < below else None
        if found is not None:
            return Bound(shape.rank, shape.name(), found)
    return None


def _sampled(m: int, n: int, eps: Fraction, command: str, below: int) -> Bound | None:
    """Sampled features: rho' and eta by floats, the number of features 2cm (2-1/rho')^m with c = 4/eta^2 exactly."""
    rate = exponents.best_rate(n, eps)
    choices = []
    for eta in ETAS:
        for excess in (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35):
            rho = Fraction(round(rate.rho * (1 + excess) * 1000), 1000)
            expected = 8 * m / eta**2 * (2 - 1 / rho) ** m
            choices.append((expected.numerator // expected.denominator, rho, eta))
    for features, rho, eta in sorted(choices):
        if features >= below:
            return None
        witness = {"rho": rho, "eta": eta, **exponents.margins(rate, rho, eta)}
        parameters = {"m": m, "n": n, "eps": eps, "rank": features}
        uses = [foundation("domination-sufficient")[1]]
        try:
            certificate = certify("head-exists", parameters, "sampled", witness, command=command, uses=uses)
        except (Rejected, Malformed):
            continue
        return Bound(features, f"sampled subset features, rho={rho}, eta={eta}", certificate)
    return None


# ------------------------------------------------------------------------------------------------ the paper


def paper_lower(m: int, n: int, eps: Fraction) -> int:
    """Theorem 6 at n = 3, eps = 1/2; otherwise Theorem 5's min(T, Lambda^2)/2 for the greedy code in the middle layer
    with Delta = floor(M/8) and the best uniform gap."""
    even = m - m % 2
    if (n, eps) == (3, HALF):
        return 1 << (4 * (even // 40) - 1) if even >= 40 else 1
    distance = even // 8
    if distance < least_gap(n, eps) or distance < 1:
        return 1
    chain = theorem5.best_uniform(n, eps, distance)
    square = theorem5.paper_factor(chain) ** 2
    size = codes.packing_bound(even, even // 2, distance)
    least = min(Fraction(size), square) / 2
    return max(1, -(-least.numerator // least.denominator))


@dataclass(frozen=True)
class Window:
    """Both sides for one (m, n, eps)."""

    m: int
    n: int
    eps: Fraction
    lower: Bound
    unconditional: Bound
    upper: Bound
    paper: tuple[int, int]

    def as_json(self) -> dict[str, object]:
        low, high = self.paper
        return {
            "m": self.m,
            "n": self.n,
            "eps": str(self.eps),
            "lower": self.lower.as_json(),
            "unconditional": self.unconditional.as_json(),
            "upper": self.upper.as_json(),
            "paper": {
                "lower": {"value": str(low), "log2": f"{log2(low):.4f}"},
                "upper": {"value": str(high), "log2": f"{log2(high):.4f}"},
            },
        }


def window(m: int, n: int, eps: Fraction, thorough: bool = False) -> Window:
    """The best bounds for m bits, 3 <= n. Raises `ClaimFails` if they cross: then something is unsound."""
    if m > LARGEST_M:
        raise UsageError(f"-m: values beyond m = {LARGEST_M} leave the certificate format's digits, got {m}")
    how = f"--update {m} --thorough" if thorough else f"-m {m}"
    command = f"proofcheck bound {how} -n {n} --eps {eps}"
    below = lower_bounds(m, n, eps, command)
    unconditional = next(b for b in below if not b.assumes)
    upper = upper_bound(m, n, eps, command, thorough)
    if below[0].value > upper.value:
        raise ClaimFails(
            f"m={m}, n={n}, eps={eps}: the lower bound {below[0].value} ({below[0].method}) exceeds the upper bound "
            f"{upper.value} ({upper.method}): something is unsound"
        )
    return Window(m, n, eps, below[0], unconditional, upper, (paper_lower(m, n, eps), 1 << m))
