"""Theorem 2 (exact positive features).

Statement. For every m and 0 < w < 1 the kernel w^<x,z> on {0,1}^m has a nonnegative factorisation of dimension 2^m
(phiQ(x) = e_x, phiK(z)_u = w^<u,z>) and no bilinear factorisation of smaller dimension. With Theorem 1, r*(m,n) <= 2^m.
Source: paper, Theorem 2; mathematics.md A.

Certificates: `softmin-full-rank` (one-bit inverse; Kronecker powers by the mixed-product property), and for m <= 8
`softmin-rank`, the whole matrix invertible modulo a prime.
"""

from __future__ import annotations

from fractions import Fraction

from proofcheck import rank
from proofcheck.certificate import certify, in_file_name
from proofcheck.errors import ClaimFails
from proofcheck.kernel.minip import overlap

from .bundle import Bundle, Shown, cases


def factorisation_holds(m: int, w: Fraction) -> bool:
    """<phiQ(x), phiK(z)> = w^<x,z> for all tokens, with every feature nonnegative: entry by entry, 4^m of them."""
    tokens = range(1 << m)
    keys = {z: [w ** overlap(u, z) for u in tokens] for z in tokens}
    for x in tokens:
        query = [1 if u == x else 0 for u in tokens]
        for z in tokens:
            product = sum(q * k for q, k in zip(query, keys[z], strict=True) if q)
            if product != w ** overlap(x, z) or min(keys[z]) < 0:
                return False
    return True


def show(m: int = 8, w: Fraction = Fraction(1, 6)) -> Shown:
    """Theorem 2 for all m, and the exact rank of one 2^m x 2^m kernel (1 <= m <= 8)."""
    if not factorisation_holds(min(m, 5), w):
        raise ClaimFails(f"the factorisation of Theorem 2 fails at m={min(m, 5)}, w={w}")
    bundle = Bundle()
    general = cases("softmin-full-rank", "theorem2")
    bundle.add(*general)
    size = 1 << m
    everything = list(range(size))
    # det = (w-1)^(m 2^(m-1)), so any prime that divides neither the denominator nor the numerator of 1 - w will do.
    prime = next(p for p in rank.primes() if w.denominator % p and (w.denominator - w.numerator) % p)
    name = f"theorem2/softmin-rank-m{m}-w{in_file_name(w)}"
    witness = {"rows": everything, "columns": everything, "prime": prime}
    parameters = {"m": m, "w": w, "rank": size}
    bundle.add(
        name, certify("softmin-rank", parameters, "rank-minor", witness, command=f"proofcheck theorem2 -m {m} --w {w}")
    )
    return Shown(
        "Theorem 2",
        "universal: all m >= 1, 0 < w < 1; instance: the rank of one kernel",
        bundle,
        [general[0], name],
        {"rank": f"2^{m} = {size} at m={m}, w={w}", "factorisation": f"checked entry by entry at m={min(m, 5)}"},
        ("Softmin",),
    )
