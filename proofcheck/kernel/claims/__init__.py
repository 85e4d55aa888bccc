"""(claim name, parameters) -> the exact statement. A certificate never carries its own statement.

    forms        the shapes that statements have
    parameters   what several claims share
    gap          Lemma 3, tightness and counter-models; Theorem 8
    domination   B0 (domination decides everything) and B1 (tight rows)
    softmin      Theorems 1 and 2; rank one at lengths 1 and 2
    families     codes, chains, Lemma 4, Theorems 5 and 6, Corollary 7
    transcript   Theorem 9, two inputs with one transcript, Proposition 10
    heads        a given kernel or head is correct, or fails; given values have no readout

`CLAIMS` lists each claim with the claims that its certificate rests on, whatever the rule: `uses` must name exactly
these and those on which the rule rests.
"""

from __future__ import annotations

from ..exact import Malformed, shown
from . import domination, families, gap, heads, softmin, transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CLAIMS: dict[str, tuple[Callable[[object], Any], tuple[str, ...]]] = {
    "gap-domination": (gap.gap_domination, ()),
    "gap-domination-symbolic": (gap.gap_domination_symbolic, ()),
    "gap-tightness": (gap.gap_tightness, ()),
    "gap-countermodel": (gap.gap_countermodel, ()),
    "positional-domination": (gap.positional_domination, ()),
    "positional-domination-symbolic": (gap.positional_domination_symbolic, ()),
    "domination-necessary": (domination.domination_necessary, ()),
    "domination-sufficient": (domination.domination_sufficient, ()),
    "chain-tight": (domination.chain_tight, ("domination-sufficient",)),
    "softmin": (softmin.softmin, ()),
    "softmin-temperature": (softmin.softmin_temperature, ("softmin",)),
    "softmin-head": (softmin.softmin_head, ()),
    "softmin-full-rank": (softmin.softmin_full_rank, ()),
    "softmin-rank": (softmin.softmin_rank, ()),
    "two-tokens": (softmin.two_tokens, ()),
    "uniform-head": (softmin.uniform_head, ()),
    "code": (families.code, ()),
    "chain": (families.chain, ("gap-domination-symbolic",)),
    "approximate-identity": (families.approximate_identity, ()),
    "matrix-rank": (families.matrix_rank, ()),
    "feature-rank": (families.feature_rank, ("approximate-identity",)),
    "lower-exponent": (families.lower_exponent, ("approximate-identity", "gap-domination-symbolic")),
    "upper-exponent": (families.upper_exponent, ("domination-sufficient",)),
    "head-exists": (families.head_exists, ("domination-sufficient",)),
    "phase-transition": (families.phase_transition, ("approximate-identity", "gap-domination-symbolic")),
    "growing-context": (families.growing_context, ("feature-rank",)),
    "typed-family": (transcript.typed_family, ()),
    "transcript-bound": (transcript.transcript_bound, ("code",)),
    "transcript-collision": (transcript.transcript_collision, ()),
    "multilevel-code": (transcript.multilevel_code, ("code",)),
    "kernel-refutation": (heads.kernel_refutation, ("domination-necessary",)),
    "head-counterexample": (heads.head_counterexample, ()),
    "kernel-correct": (heads.kernel_correct, ("domination-sufficient",)),
    "exhaustive-head": (heads.exhaustive_head, ()),
    "readout-refutation": (heads.readout_refutation, ()),
}


def statement(name: str, parameters: object) -> Any:
    """The statement that the claim `name` makes for these parameters, in one of the shapes of `forms`."""
    if name not in CLAIMS:
        raise Malformed(f"claim: unknown claim {shown(name)}")
    return CLAIMS[name][0](parameters)
