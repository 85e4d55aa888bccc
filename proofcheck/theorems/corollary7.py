"""Corollary 7 (near-full rank for growing context).

Statement. For given m and n with M = 2 floor(m/2), s = log2(n-2), Delta = 2 ceil(M/(2s)) <= M/4 and rho = 2 Delta/M,
every head correct (error < 1/2) on all sequences of length exactly n has r >= 2^(M - M H2(rho) - log2((M+1) Delta) -
1); so r >= 2^(m - o(m)) when n = n(m) tends to infinity. 2^(M H2(rho)) is the rational M^M/(D^D (M-D)^(M-D)), D = 2
Delta, and ceil(M/(2s)) is the least j with (n-2)^(2j) >= 2^M: no logarithm is rounded. Source: paper, Corollary 7;
mathematics.md A.

Certificates: the packing with exact binomials, the chain of Delta/2 gaps of 2, `feature-rank`, and `growing-context`,
the exact comparison with the closed form. The limit itself is not covered by a certificate.
"""

from __future__ import annotations

from fractions import Fraction
from math import log2

from proofcheck.certificate import certify
from proofcheck.errors import UsageError

from . import theorem5
from .bundle import Bundle, Shown, founded

HALF = Fraction(1, 2)
GROWTH = (64, 128, 256, 512, 1024)


def radius(m: int, n: int) -> int:
    """Delta. Raises `UsageError` with the least n that the statement admits for this m."""
    even = m - m % 2
    j = next((j for j in range(1, even // 8 + 1) if (n - 2) ** (2 * j) >= 1 << even), 0)
    if not j:
        most = even // 8
        if not most:
            raise UsageError(f"-m: Corollary 7 needs 2 <= Delta <= M/4, so m >= 8; got {m}")
        least = next(k for k in range(n, 1 << 20) if (k - 2) ** (2 * most) >= 1 << even)
        raise UsageError(
            f"-n: Corollary 7 needs Delta <= M/4, which n = {n} does not give at m = {m}; n = {least} does"
        )
    return 2 * j


def instance(bundle: Bundle, m: int, n: int) -> tuple[str, int]:
    """Adds the certificates for one (m, n) and returns the name of the last and the bound on r."""
    command = f"proofcheck corollary7 -m {m} -n {n}"
    delta, even = radius(m, n), m - m % 2
    words = theorem5.packing_certificate(even, even // 2, delta, command)
    chain = theorem5.chain_certificate(n, HALF, [2] * (delta // 2), Fraction((n - 2) ** (delta // 2)), command)
    rank = theorem5.rank_certificate(m, words, chain, command)
    label = f"m{m}-n{n}"
    bundle.add(f"corollary7/code-{label}", words)
    bundle.add(f"corollary7/chain-{label}", chain)
    bundle.add(f"corollary7/feature-rank-{label}", rank)
    name = f"corollary7/growing-context-{label}"
    bundle.add(name, certify("growing-context", {"m": m, "n": n}, "consequence", {}, command=command, uses=[rank]))
    return name, int(rank.parameters["value"])


def show(m: int | None = None, n: int | None = None) -> Shown:
    """One (m, n), or by default the growth along n(m) = m + 2."""
    pairs = [(k, k + 2) for k in GROWTH] if m is None else [(m, m + 2 if n is None else n)]
    bundle = founded(["gap-domination-symbolic", "approximate-identity"])
    main, figures = [], {}
    for bits, length in pairs:
        name, value = instance(bundle, bits, length)
        main.append(name)
        figures[f"m={bits}, n={length}"] = f"log2 r >= {log2(value):.2f}, {log2(value) / bits:.3f} per bit"
    return Shown(
        "Corollary 7",
        "instances: " + ", ".join(f"(m,n)=({a},{b})" for a, b in pairs),
        bundle,
        main,
        figures,
        ("Amplification", "Packing", "Chains", "Approximate identity"),
        ("the limit r >= 2^(m-o(m)) as n(m) grows: each (m, n) has a certificate, the passage to the limit has none",),
    )
