"""Lower bounds for small m (mathematics.md B8): preferences forced by gaps of two.

A gap of 2 or more forces alpha(x,y) > alpha(x,z) where <x,z> - <x,y> = 2 (Lemma 3 with mu(2) >= 1). So

    shattered    floor(m/2) disjoint pairs as queries realise all sign patterns: r >= floor(m/2). Where gaps of 1 force
                 preferences, 2eps(n-1)/(n-2) <= 1 (n = 3, eps = 1/4, say), single elements do: r >= m
    unsat-lrat   in R^(value-1) no chirotope has the signs that the preferences force: r >= value (m = 5: 3, m = 6: 4)
    topological  r >= m - 2 for every m, by the Borsuk-Ulam theorem, which is assumed and named
"""

from __future__ import annotations

import functools
from fractions import Fraction

from proofcheck.certificate import Checked, certify
from proofcheck.errors import ClaimFails
from proofcheck.kernel.claims.parameters import least_gap
from proofcheck.kernel.rules.ranks import sign_clauses
from proofcheck.solvers import sat
from proofcheck.theorems.bundle import foundation

REFUTED = {5: 2, 6: 3}  # ground set -> the rank that has no chirotope


def _rested() -> list[Checked]:
    return [foundation("approximate-identity")[1], foundation("gap-domination-symbolic")[1]]


def least_size(n: int, eps: Fraction) -> int:
    """1 where gaps of 1 force preferences, otherwise 2."""
    return 1 if least_gap(n, eps) <= 1 else 2


def shattered(m: int, n: int, eps: Fraction, command: str) -> Checked:
    """r >= floor(m/2), or r >= m where gaps of 1 are admissible; at most 12 queries."""
    size = least_size(n, eps)
    k = min(m // size, 12)
    queries = [((1 << size) - 1) << (size * j) for j in range(k)]
    keys = []
    for pattern in range(1 << k):
        chosen = sum(x for j, x in enumerate(queries) if pattern >> j & 1)
        keys.append([chosen, sum(queries) - chosen])
    parameters = {"m": m, "n": n, "eps": eps, "value": k}
    witness = {"queries": queries, "keys": keys}
    return certify("feature-rank", parameters, "shattered", witness, command=command, uses=_rested())


def stable_pairs(ground: int) -> list[int]:
    """2-subsets of the cycle [ground] that are no edges of it (Schrijver's vertices): they suffice here."""
    return [
        (1 << i) | (1 << j) for i in range(ground) for j in range(i + 2, ground) if not (i == 0 and j == ground - 1)
    ]


@functools.cache
def _refutation(ground: int, rank: int) -> list[sat.Step]:
    _, clauses = sign_clauses(stable_pairs(ground), rank, ground)
    proof = sat.refutation(f"chirotope-{ground}-{rank}", clauses)
    if proof is None:
        raise ClaimFails(f"some chirotope of rank {rank} on the stable pairs of [{ground}] meets all sign conditions")
    return proof


def refuted(m: int, n: int, eps: Fraction, ground: int, command: str) -> Checked:
    """r >= 3 from five elements, r >= 4 from six: a refutation with hints, no theorem assumed."""
    rank = REFUTED[ground]
    proof = [[list(clause), hints] for clause, hints in _refutation(ground, rank)]
    witness = {"pairs": stable_pairs(ground), "ground": ground, "proof": proof}
    parameters = {"m": m, "n": n, "eps": eps, "value": rank + 1}
    return certify("feature-rank", parameters, "unsat-lrat", witness, command=command, uses=_rested())


def topological(m: int, n: int, eps: Fraction, command: str) -> Checked:
    """r >= m - 2; the certificate's verdict names the Borsuk-Ulam theorem as assumed."""
    parameters = {"m": m, "n": n, "eps": eps, "value": max(1, m - 2)}
    return certify("feature-rank", parameters, "topological", {}, command=command, uses=_rested())
