"""Theorem 9 (transcript injectivity) and eq. (8).

Statement. Let C be a code of h-subsets of [M] at directed distance >= s+1, q of its words, and m = 2 + M + s. The typed
family has the queries q_S = (0, 1, x_{S^c}, 1_s) and the database tokens d_{U,k} = (1, 0, x_U, u_k), |u_k| = k:
<q_S, d_{U,k}> = |U\\S| + k, so slot S at level kappa_S makes the target of q_S exactly kappa_S, for all (s+1)^q
assignments. A deterministic sketch model whose cross-token channels have finite alphabets Sigma_l and which is correct
(error < 1/2) at lengths up to n >= 2q needs sum_l log2|Sigma_l| >= q log2(s+1); linear attention with L layers, H heads
and p bits a coordinate needs L H r (dv+1) p >= q log2(s+1) (eq. 8). Source: paper, Theorem 9; mathematics.md A.

Certificates: `code`, `typed-family` (every overlap of the explicit family, small families assignment by assignment),
`transcript-bound` (the number of bits, exactly).
"""

from __future__ import annotations

from proofcheck import codes
from proofcheck.certificate import certify
from proofcheck.errors import UsageError

from . import theorem5
from .bundle import Bundle, Shown


def least_bits(s: int, q: int) -> int:
    """The least b with 2^b >= (s+1)^q."""
    assignments: int = (s + 1) ** q
    return (assignments - 1).bit_length()


def show(M: int = 12, s: int = 2, q: int = 4, code: codes.Code | None = None) -> Shown:  # noqa: N803 - the paper's symbol
    """Theorem 9 for an explicit family: the first q words of `code`, or of a seeded greedy packing of weight M/2."""
    command = f"proofcheck theorem9 -M {M} -s {s} -q {q}"
    if code is not None:
        command += " --code FILE"
    if code is None:
        code = codes.random_greedy(M, M // 2, s + 1, seed=0, limit=q)
    elif code.m != M:
        raise UsageError(f"-M: the code has words of {code.m} bits, not {M}")
    if code.size < q:
        raise UsageError(f"-q: expected at most {code.size}, the words at directed distance >= {s + 1} found, got {q}")
    code = codes.Code(code.m, code.weight, tuple(sorted(code.words)[:q]))
    bundle = Bundle()
    label = f"M{M}-s{s}-q{q}"
    words = bundle.add(f"theorem9/code-{label}", theorem5.code_certificate(code, s + 1, command))
    family = f"theorem9/typed-family-{label}"
    parameters = {"M": M, "weight": code.weight, "s": s, "words": [f"{word:x}" for word in code.words]}
    bundle.add(family, certify("typed-family", parameters, "typed-family", {}, command=command))
    bits = least_bits(s, q)
    bound = f"theorem9/transcript-bound-{label}"
    parameters = {"M": M, "s": s, "q": q, "bits": bits}
    bundle.add(bound, certify("transcript-bound", parameters, "transcript", {}, command=command, uses=[words]))
    return Shown(
        "Theorem 9",
        f"instance: M={M}, s={s}, q={q} (m={M + s + 2}, n >= {2 * q})",
        bundle,
        [family, bound],
        {"bits": f"sum log2|Sigma| >= {q} log2({s + 1}), so L H r (dv+1) p >= {bits}", "assignments": f"{s + 1}^{q}"},
        ("Transcripts", "Packing"),
    )
