"""Theorem 5 (amplified fixed-length rank bound).

Statement. Let G be a family of h-subsets of [m] with |S\\U| >= Delta for distinct S, U, and let w be the product of the
factors mu of admissible gaps that add up to Delta. A nonnegative kernel head that is correct with error < eps on all
sequences of exact length n >= 3 has r >= |G|/(1 + (|G|-1)/w^2); for |G| >= 2 the inequality is strict, because every
off-diagonal entry of C is strictly below 1/w. So r >= floor(that) + 1. The paper uses the uniform chain
w = mu(g)^floor(Delta/g); the best chain (mathematics.md B1) is never worse. Source: paper, Theorem 5.

Certificates: `code` (explicit words, or greedy packing by counting), `chain`, and `feature-rank` by `amplification`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from proofcheck import chains, codes
from proofcheck.certificate import Checked, certify, in_file_name
from proofcheck.errors import UsageError
from proofcheck.kernel.claims.parameters import factor, least_gap

from .bundle import Shown, foundation, founded


def amplified(size: int, weight: Fraction) -> int:
    """The least integer r with r > |G|/(1 + (|G|-1)/w^2), or 1 for a single word."""
    bound = Fraction(size) / (1 + (size - 1) / weight**2)
    return bound.numerator // bound.denominator + 1 if size > 1 else 1


def best_uniform(n: int, eps: Fraction, distance: int) -> chains.Chain:
    """The paper's chain with the best gap g <= Delta. Raises `UsageError` where no gap is admissible."""
    least = least_gap(n, eps)
    gaps = [g for g in range(1, distance + 1) if g >= least]
    if not gaps:
        raise UsageError(
            f"--delta: Theorem 5 needs a gap g <= Delta with g >= 2eps(n-1)/(n-2) = {least}, got Delta = {distance}"
        )
    return max((chains.uniform(n, eps, distance, g) for g in gaps), key=paper_factor)


def paper_factor(chain: chains.Chain) -> Fraction:
    """The paper's Lambda = mu(g)^floor(Delta/g): it does not use that the gap with the remainder is larger than g."""
    return factor(chain.n, Fraction(min(chain.gaps)), chain.eps) ** len(chain.gaps)


def code_certificate(code: codes.Code, distance: int, command: str) -> Checked:
    """Explicit words. Raises `ClaimFails` naming the pair where the distance is too small."""
    code.validate(distance)
    parameters = {"m": code.m, "weight": code.weight, "distance": distance, "size": code.size}
    return certify("code", parameters, "code", {"words": [f"{word:x}" for word in sorted(code.words)]}, command=command)


def packing_certificate(m: int, weight: int, distance: int, command: str, size: int | None = None) -> Checked:
    """A code that exists by greedy packing: ceil(C(m,h) / ball) words, or `size` of them."""
    size = codes.packing_bound(m, weight, distance) if size is None else size
    return certify(
        "code", {"m": m, "weight": weight, "distance": distance, "size": size}, "packing", {}, command=command
    )


def chain_certificate(n: int, eps: Fraction, gaps: Sequence[int], weight: Fraction, command: str) -> Checked:
    parameters = {"n": n, "eps": eps, "distance": sum(gaps), "factor": weight}
    rested = [foundation("gap-domination-symbolic")[1]]
    return certify("chain", parameters, "chain", {"gaps": list(gaps)}, command=command, uses=rested)


def rank_certificate(m: int, code: Checked, chain: Checked, command: str, value: int | None = None) -> Checked:
    """`feature-rank` from a code and a chain, with the largest value that they give."""
    n, eps = chain.parameters["n"], Fraction(chain.parameters["eps"])
    best = amplified(code.parameters["size"], Fraction(chain.parameters["factor"]))
    parameters = {"m": m, "n": n, "eps": eps, "value": best if value is None else value}
    rested = [code, chain, foundation("approximate-identity")[1]]
    return certify("feature-rank", parameters, "amplification", {}, command=command, uses=rested)


def show(
    m: int,
    n: int = 3,
    eps: Fraction = Fraction(1, 2),
    code: codes.Code | None = None,
    distance: int | None = None,
    gap: int | None = None,
) -> Shown:
    """Theorem 5 for an explicit code, or for the packing in the middle layer at directed distance `distance`; the
    uniform chain has the given gap, or the best one."""
    if code is None and distance is None:
        raise UsageError("theorem5: give --code FILE or --delta D")
    given = f"--delta {distance}" if code is None else "--code FILE"
    given += "" if gap is None else f" --gap {gap}"
    command = f"proofcheck theorem5 -m {m} -n {n} --eps {eps} {given}"
    if distance is None:
        distance = code.distance() if code else 0
    if not 1 <= distance <= m:
        raise UsageError(f"--delta: expected 1 <= Delta <= m = {m}, got {distance}")
    if code is not None and not (code.size and code.m):
        raise UsageError("--code: the file has no words, or words of no bits")
    if code is not None and code.m > m:
        raise UsageError(f"-m: the code has words of {code.m} bits, more than m = {m}")
    if gap is not None and not least_gap(n, eps) <= gap <= distance:
        nearest = distance if gap > distance else ceil(least_gap(n, eps))
        raise UsageError(
            f"--gap: Theorem 5 needs 2eps(n-1)/(n-2) = {least_gap(n, eps)} <= g <= Delta = {distance}, got {gap}; the "
            f"nearest value that satisfies it is {nearest}"
        )
    uniform = best_uniform(n, eps, distance) if gap is None else chains.uniform(n, eps, distance, gap)
    best = chains.best(n, eps, distance) or uniform
    label = f"m{m}-n{n}-eps{in_file_name(eps)}-delta{distance}"
    bundle = founded(["gap-domination-symbolic", "approximate-identity"])
    if code is None:
        words = packing_certificate(m, m // 2, distance, command)
    else:
        words = code_certificate(code, distance, command)
    label += f"-size{words.parameters['size']}" if code is not None else ""
    bundle.add(f"theorem5/code-{label}", words)
    figures = {"code": f"{words.parameters['size']} words of weight {words.parameters['weight']}, Delta = {distance}"}
    main = []
    for kind, chain, weight in (("uniform", uniform, paper_factor(uniform)), ("best", best, best.product)):
        link = chain_certificate(n, eps, chain.gaps, weight, command)
        bundle.add(f"theorem5/chain-{kind}-{label}", link)
        main.append(f"theorem5/feature-rank-{kind}-{label}")
        rank = bundle.add(main[-1], rank_certificate(m, words, link, command))
        figures[f"{kind} chain"] = (
            f"gaps {'+'.join(map(str, chain.gaps))}, w = {weight}: r >= {rank.parameters['value']}"
        )
    return Shown(
        "Theorem 5",
        f"instance: m={m}, n={n}, eps={eps}",
        bundle,
        main,
        figures,
        ("Chains", "Amplification", "Approximate identity", "Packing"),
    )
