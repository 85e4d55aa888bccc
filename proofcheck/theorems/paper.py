"""The audit: every numbered claim of the paper with default parameters, and the central theorem beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from proofcheck import codes

from . import (
    central,
    corollary7,
    lemma3,
    lemma4,
    proposition10,
    theorem1,
    theorem2,
    theorem5,
    theorem6,
    theorem8,
    theorem9,
)
from .bundle import Shown, founded

HALF = Fraction(1, 2)


def show_lemma3() -> Shown:
    """The symbolic theorem, and the instance n = 3, d = 2, eps = 1/2 with its tightness."""
    bundle = founded(["gap-domination-symbolic"], prove=True)
    for outcome in lemma3.prove(lemma3.Instance(3, Fraction(2), HALF)):
        bundle.add(f"lemma3/{outcome.name}", outcome.certificate)
    return Shown(
        "Lemma 3",
        "universal: all n >= 3, 0 < eps <= 1/2, admissible d; instance: n=3, d=2, eps=1/2, and that its factor is best",
        bundle,
        list(bundle.certificates),
        {},
        ("Gap domination",),
    )


def paper_code() -> codes.Code:
    """Fifteen 24-bit words of weight 12 at directed distance >= 6 with 424 jumps, as in Experiment 5.1. The seed is the
    first that `codes.find_jump_code` finds."""
    return codes.random_greedy(24, 12, 6, seed=3, limit=15)


def claims() -> Iterator[tuple[str, Callable[[], Shown]]]:
    """(name, how to show it), in the order of the paper."""
    yield "theorem1", theorem1.show
    yield "theorem2", theorem2.show
    yield "lemma3", show_lemma3
    yield "lemma4", lemma4.show
    yield "theorem5", lambda: theorem5.show(24, code=paper_code(), distance=6, gap=3)
    yield "theorem6", theorem6.show
    yield "corollary7", corollary7.show
    yield "theorem8", theorem8.show
    yield "theorem9", theorem9.show
    yield "proposition10", proposition10.show
    yield "domination", central.show
    yield "chain", lambda: central.show_chains(3, HALF, range(2, 13))
