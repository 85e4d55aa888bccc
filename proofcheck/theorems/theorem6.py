"""Theorem 6 (three-token phase transition).

Statement. r*(m,1) = r*(m,2) = 1 for every m >= 1. With M = 2 floor(m/2), every head correct (error < 1/2) on all
sequences of length exactly 3 has r >= 2^(4 floor(M/40) - 1). The paper assumes m >= 168; the assumption is not needed:
for k = floor(M/40) >= 1, Delta = 5k and h = M/2 >= 20k, greedy packing gives at least 16^k words, because

    16^k sum_{a<5k} C(h,a)^2 <= C(2h,h)   follows from   P(h,k): 16^k 4^h (2h+1) <= 9^(h-5k+1)

by sum_a C(h,a) 3^(h-a) = 4^h and (2h+1) C(2h,h) >= 4^h, and P holds by induction from P(20, 1). For k = 0 the bound is
below 1. Since M is even, 4 floor(M/40) - 1 >= (M-38)/10 - 1 >= m/10 - 4.9: the paper's 2^(m/10-6) holds with -5.
Source: paper, Theorem 6; mathematics.md A.

Certificates: `two-tokens`, `uniform-head` (exhaustive), `phase-transition` (all m), and for a given m the packing with
exact binomials, the chain of k gaps of 5, and `feature-rank`.
"""

from __future__ import annotations

from fractions import Fraction

from proofcheck import codes
from proofcheck.certificate import certify

from . import theorem5
from .bundle import Shown, cases, founded

HALF = Fraction(1, 2)


def show(m: int = 168) -> Shown:
    """Theorem 6 for all m, and its exact figures for one m (1 <= m <= 20,000)."""
    command = f"proofcheck theorem6 -m {m}"
    bundle = founded(["gap-domination-symbolic", "approximate-identity"])
    main = []
    for claim in ("two-tokens", "phase-transition"):
        name, certificate = cases(claim, "theorem6")
        bundle.add(name, certificate)
        main.append(name)
    small = min(m, 6)
    main.append(f"theorem6/uniform-head-m{small}")
    bundle.add(main[-1], certify("uniform-head", {"m": small, "n": 2, "eps": HALF}, "exhaustive", {}, command=command))
    even = m - m % 2
    k = even // 40
    if k:
        gaps = [5] * k
        words = theorem5.packing_certificate(even, even // 2, 5 * k, command)
    else:
        gaps = [2]
        words = theorem5.packing_certificate(m, m // 2, 2, command, size=1)
    chain = theorem5.chain_certificate(3, HALF, gaps, Fraction(4**k), command)
    rank = theorem5.rank_certificate(m, words, chain, command)
    bundle.add(f"theorem6/code-m{m}", words)
    bundle.add(f"theorem6/chain-m{m}", chain)
    main.append(f"theorem6/feature-rank-m{m}")
    bundle.add(main[-1], rank)
    value, size = rank.parameters["value"], words.parameters["size"]
    return Shown(
        "Theorem 6",
        f"universal: all m >= 1 (the paper: m >= 168); instance: m={m}",
        bundle,
        main,
        {
            "exact bound": f"r >= {in_words(value)} at m={m} (code of {in_words(size)} words, Lambda^2 = 16^{k})",
            "the paper's": f"2^(4 floor(M/40) - 1) = 2^{4 * k - 1}, 2^(m/10-6) = 2^{(m - 60) / 10:g}",
        },
        ("Phase transition", "Amplification", "Packing", "Chains", "Approximate identity"),
    )


def in_words(value: int) -> str:
    """A large integer for a table: itself up to 12 digits, else its floor-log2."""
    return str(value) if value < 10**12 else f"2^{value.bit_length() - 1} (and less than twice that)"


def packing_holds(h: int, k: int) -> bool:
    """16^k sum_{a<5k} C(h,a)^2 <= C(2h,h), computed: what the induction shows for all h >= 20k, k >= 1."""
    return bool(codes.packing_bound(2 * h, h, 5 * k) >= 16**k)
