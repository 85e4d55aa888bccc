"""The best certified lower and upper bound on r*(m,n) for error eps, beside the paper's, and how each arises.

r*(m,n) is about heads that are correct at all lengths 1..n; a lower bound that needs exact length n alone holds a
fortiori. For n <= 2 it is 1 (Theorem 6). The paper's bounds are 2^(4 floor(M/40) - 1) at n = 3, eps = 1/2 (for other
n and eps, Theorem 5 with its uniform chain on the greedy code in the middle layer), and 2^m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log2
from pathlib import Path

from proofcheck import codes
from proofcheck.certificate import Checked, certify
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.claims.parameters import least_gap
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.theorems import theorem5
from proofcheck.theorems.bundle import Bundle, foundation

from . import exponents, heads, layers, small

HALF = Fraction(1, 2)
LARGEST_M = 3_000  # beyond it numbers leave the format's budget of digits, and logarithms are given instead
BASES = tuple(
    Fraction(p, q)
    for p, q in ((4, 5), (3, 4), (5, 6), (7, 10), (21, 25), (17, 20), (13, 16), (2, 3), (3, 5), (1, 2), (9, 10))
)
POLYNOMIAL_M = 36  # polynomials in overlap and weight are tried up to here
SYMMETRIC_M = 72  # and polynomials in the overlap alone up to here
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
    if m >= 4:
        k = min(m // 2, 12)
        found.append(Bound(k, f"{k} shattered pairs", small.shattered(m, n, eps, command)))
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
    bundle.add(f"rank-one/chain-n{n}-eps{str(eps).replace('/', 'over')}", chain)
    return bundle


def _trivial(m: int, n: int, eps: Fraction, command: str) -> Checked:
    word, chain = (certificate for _, certificate in trivial_parts(m, n, eps))
    return theorem5.rank_certificate(m, word, chain, command)


# --------------------------------------------------------------------------------------------------- above


def upper_bound(m: int, n: int, eps: Fraction, command: str, files: tuple[Path, ...] = ()) -> Bound:
    """The best upper bound found; 2^m always works. `files` are certificates of explicit heads to be considered."""
    found = [_one_hot(m, n, eps, command)]
    for attempt in (_polynomials, _symmetric, _sampled):
        bound = attempt(m, n, eps, command, min(b.value for b in found))
        if bound is not None:
            found.append(bound)
    return min(found, key=lambda b: (b.value, len(b.assumes)))


def _one_hot(m: int, n: int, eps: Fraction, command: str) -> Bound:
    witness: dict[str, object] = {"blocks": [m], "degrees": [], "scale": [1] * (m + 1), "polynomials": {}}
    certificate = heads.certified(m, n, eps, 1 << m, witness, command)
    if certificate is None:
        raise ClaimFails(f"the one-hot head of Theorem 2 is refused at m={m}, n={n}, eps={eps}")
    return Bound(1 << m, "one feature per query (Theorem 2)", certificate)


def _shapes(m: int) -> Iterator[tuple[int, str, Callable[[Fraction], heads.Shape]]]:
    """(rank, name, shape for a scale base) of low-degree heads and block products."""
    for degree in range(5):
        rank = sum(comb(m, k) for k in range(degree + 1))
        yield rank, f"degree {degree}", lambda base, degree=degree: heads.total_degree(m, degree, base)  # type: ignore[misc]
    for b in range(1, m // 2 + 1):
        name = f"blocks {m - b}+{b}"
        yield (m - b + 1) * (b + 1), name, lambda base, b=b: heads.block_product(m - b, b, base)  # type: ignore[misc]


def _polynomials(m: int, n: int, eps: Fraction, command: str, below: int) -> Bound | None:
    if m > POLYNOMIAL_M:
        return None
    for rank, name, shape in sorted(_shapes(m), key=lambda item: item[0]):
        if rank >= below:
            return None
        for base in BASES:
            if heads.plausible(shape(base), n, eps):
                certificate = heads.certificate(shape(base), n, eps, command)
                if certificate is not None:
                    return Bound(rank, f"{name}, scale ({base})^|z|", certificate)
    return None


def _symmetric(m: int, n: int, eps: Fraction, command: str, below: int) -> Bound | None:
    if m > SYMMETRIC_M:
        return None
    for degree in range(m + 1):
        if sum(comb(m, k) for k in range(degree + 1)) >= below:
            return None
        if heads.symmetric_class(m, min(degree, m), n, eps) is not None:
            certificate = heads.symmetric(m, degree, n, eps, command)
            if certificate is not None:
                return Bound(int(certificate.parameters["rank"]), f"level-symmetric, degree {degree}", certificate)
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


def window(m: int, n: int, eps: Fraction) -> Window:
    """The best bounds for m bits, 3 <= n. Raises `ClaimFails` if they cross: then something is unsound."""
    if m > LARGEST_M:
        raise UsageError(f"-m: values beyond m = {LARGEST_M} leave the certificate format's digits, got {m}")
    command = f"proofcheck bound -m {m} -n {n} --eps {eps}"
    below = lower_bounds(m, n, eps, command)
    unconditional = next(b for b in below if not b.assumes)
    upper = upper_bound(m, n, eps, command)
    if below[0].value > upper.value:
        raise ClaimFails(
            f"m={m}, n={n}, eps={eps}: the lower bound {below[0].value} ({below[0].method}) exceeds the upper bound "
            f"{upper.value} ({upper.method}): something is unsound"
        )
    return Window(m, n, eps, below[0], unconditional, upper, (paper_lower(m, n, eps), 1 << m))
