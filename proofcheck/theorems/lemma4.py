"""Lemma 4 (approximate identity rank).

Statement. For a real t x t matrix C, (tr C)^2 <= rank(C) ||C||_F^2; if C_ii = 1 and |C_ij| <= 1/lambda off the diagonal
then rank C >= t/(1 + (t-1)/lambda^2). Symmetry is not needed. Source: paper, Lemma 4; mathematics.md A.

Certificates: `approximate-identity` (the scalar steps of the square-root-free proof, for all t and lambda), and for an
explicit matrix `matrix-rank` by the rules `rank-trace` (the lemma itself) and `rank-minor` (the exact rank).
"""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction

from proofcheck import rank
from proofcheck.certificate import certify, in_file_name

from .bundle import Shown, founded


def example(t: int, lam: Fraction, seed: int) -> list[list[Fraction]]:
    """A random t x t matrix with unit diagonal and off-diagonal entries of size at most 1/lambda."""
    source = random.Random(seed)
    signs = [[source.choice((-1, 1)) for _ in range(3)] for _ in range(2 * t)]
    products = [[sum(a * b for a, b in zip(signs[i], signs[t + j], strict=True)) for j in range(t)] for i in range(t)]
    return [[Fraction(1) if i == j else Fraction(products[i][j], 3) / lam for j in range(t)] for i in range(t)]


def show(matrix: list[list[Fraction]] | None = None, t: int = 12, lam: Fraction = Fraction(3), seed: int = 0) -> Shown:
    """Lemma 4 for all matrices, and both rank certificates of one matrix (by default a random one)."""
    command = "proofcheck lemma4 --matrix FILE" if matrix else f"proofcheck lemma4 --size {t} --lam {lam} --seed {seed}"
    digest = hashlib.sha256(repr(matrix).encode()).hexdigest()[:8]
    label = f"matrix-{digest}" if matrix else f"t{t}-lam{in_file_name(lam)}-seed{seed}"
    matrix = matrix or example(t, lam, seed)
    bundle = founded(["approximate-identity"], prove=True)
    main = list(bundle.certificates)
    by_trace = rank.trace_bound(matrix) if len(matrix) == len(matrix[0]) else 0
    minor = rank.pivot_minor(matrix)
    ways = []
    if by_trace:
        ways.append("trace")
        main.append(f"lemma4/rank-trace-{label}")
        bundle.add(
            main[-1], certify("matrix-rank", {"matrix": matrix, "rank": by_trace}, "rank-trace", {}, command=command)
        )
    if minor.rows:
        ways.append("minor")
        main.append(f"lemma4/rank-minor-{label}")
        witness = {"rows": list(minor.rows), "columns": list(minor.columns), "prime": minor.prime}
        parameters = {"matrix": matrix, "rank": len(minor.rows)}
        bundle.add(main[-1], certify("matrix-rank", parameters, "rank-minor", witness, command=command))
    return Shown(
        "Lemma 4",
        "universal: all real square matrices"
        + (f"; instance: one matrix by its {' and by a '.join(ways)}" if ways else ""),
        bundle,
        main,
        {"rank by the trace": f">= {by_trace}", "exact rank": str(len(minor.rows))},
        ("Approximate identity",),
    )
