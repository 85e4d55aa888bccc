"""Proposition 10 (size of the multilevel family).

Statement. For m >= 32 put s = floor(m/log2 m), M = m-s-2, h = floor(M/2). There is a code of h-subsets of [M] at
directed distance >= s+1 with at least 2^M/((M+1)(s+1)(eM/s)^(2s)) words. s is the largest integer with m^s <= 2^m; a
rational lower bound of e makes the right side larger, hence the certified claim stronger. Source: paper, Proposition
10; mathematics.md A.

Certificates, for each m asked: `code` by packing with exact binomials, and `multilevel-code`, the exact comparison,
which also checks that the radius is legal (s+1 < h).
"""

from __future__ import annotations

from math import log2

from proofcheck.certificate import certify

from . import theorem5
from .bundle import Bundle, Shown


def sizes(m: int) -> tuple[int, int, int]:
    """s, M, h, with s the largest integer such that m^s <= 2^m."""
    s = int(m / log2(m))
    while m ** (s + 1) <= 1 << m:
        s += 1
    while m**s > 1 << m:
        s -= 1
    return s, m - s - 2, (m - s - 2) // 2


def show(ms: list[int] | None = None) -> Shown:
    """Proposition 10 for each m in `ms` (32 <= m <= 4096)."""
    ms = [32, 64, 256, 1024] if ms is None else ms
    bundle, main, figures = Bundle(), [], {}
    for m in ms:
        command = f"proofcheck proposition10 -m {m}"
        s, bits, h = sizes(m)
        words = bundle.add(f"proposition10/code-m{m}", theorem5.packing_certificate(bits, h, s + 1, command))
        main.append(f"proposition10/multilevel-code-m{m}")
        bundle.add(main[-1], certify("multilevel-code", {"m": m}, "consequence", {}, command=command, uses=[words]))
        if len(ms) <= 12:
            figures[f"m={m}"] = (
                f"s={s}, M={bits}, h={h}: a code of at least 2^{log2(words.parameters['size']):.1f} words"
            )
    return Shown(
        "Proposition 10",
        f"instances: m = {', '.join(map(str, ms)) if len(ms) <= 12 else f'{ms[0]}..{ms[-1]}'}",
        bundle,
        main,
        figures,
        ("Packing",),
        ("Proposition 10 for every m >= 32 at once, and its asymptotic form 2^(m - O(m loglog m/log m))",),
    )
