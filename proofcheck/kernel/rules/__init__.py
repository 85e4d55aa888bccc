"""One function per certificate kind: does this witness establish this statement?

    algebra    farkas, polynomial-identity, cases, model, exponential, consequence
    families   code, packing, chain, amplification, typed-family, transcript
    matrices   rank-minor, rank-trace, exhaustive

Each rule returns the list of what it checked, or raises `Rejected` with the reason. TRUST.md has the soundness
argument of each, under the rule's name. `RULES` says which shape of statement a rule is about.
"""

from __future__ import annotations

from ..claims import forms
from ..exact import Malformed, Rejected, shown
from . import algebra, families, matrices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RULES: dict[str, tuple[type, Callable[[Any, object, dict[str, Any]], list[str]]]] = {
    "farkas": (forms.Universal, algebra.farkas),
    "polynomial-identity": (forms.Universal, algebra.polynomial_identity),
    "cases": (forms.Cases, algebra.cases),
    "model": (forms.Existential, algebra.model),
    "exponential": (forms.Exponential, algebra.exponential),
    "consequence": (forms.Consequence, algebra.consequence),
    "code": (forms.Code, families.code),
    "packing": (forms.Code, families.packing),
    "chain": (forms.Chain, families.chain),
    "amplification": (forms.FeatureRank, families.amplification),
    "typed-family": (forms.TypedFamily, families.typed_family),
    "transcript": (forms.Transcript, families.transcript),
    "rank-minor": (forms.Matrix, matrices.rank_minor),
    "rank-trace": (forms.Matrix, matrices.rank_trace),
    "exhaustive": (forms.HeadTask, matrices.exhaustive),
}


def apply(rule: str, statement: Any, witness: object, used: dict[str, Any]) -> list[str]:
    """What `rule` checked in showing `statement` by `witness`, resting on the statements `used`."""
    if rule not in RULES:
        raise Malformed(f"rule: unknown rule {shown(rule)}")
    shape, function = RULES[rule]
    if not isinstance(statement, shape):
        raise Rejected(
            f"rule {rule} shows a {shape.__name__} statement, and this claim is of the shape {type(statement).__name__}"
        )
    return function(statement, witness, used)
