"""One function per certificate kind: does this witness establish this statement?

    algebra    farkas, polynomial-identity, cases, model, exponential, consequence
    families   code, packing, chain, amplification, typed-family, transcript, collision
    ranks      layer, family, graham-sloane, lower-exponent, shattered, topological, unsat-lrat
    heads      table-head, class-head, hamming-head, sampled, upper-exponent
    weights    weight-head
    matrices   rank-minor, rank-trace, exhaustive
    given      violation, evaluation, levels, separable

Each rule returns the list of what it checked, or raises `Rejected` with the reason. TRUST.md has the soundness
argument of each, under the rule's name. `RULES` says which shape of statement a rule is about, on which claims it
rests (beside those on which the claim rests whatever the rule), and which theorems of mathematics it takes on trust.
"""

from __future__ import annotations

from ..claims import forms
from ..exact import Malformed, Rejected, shown
from . import algebra, families, given, heads, matrices, ranks, weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# name -> (shape, function, claims it rests on, theorems it takes on trust)
RULES: dict[str, tuple[type, Callable[[Any, object, dict[str, Any]], list[str]], tuple[str, ...], tuple[str, ...]]] = {
    "farkas": (forms.Universal, algebra.farkas, (), ()),
    "polynomial-identity": (forms.Universal, algebra.polynomial_identity, (), ()),
    "cases": (forms.Cases, algebra.cases, (), ()),
    "model": (forms.Existential, algebra.model, (), ()),
    "exponential": (forms.Exponential, algebra.exponential, (), ()),
    "consequence": (forms.Consequence, algebra.consequence, (), ()),
    "code": (forms.Code, families.code, (), ()),
    "packing": (forms.Code, families.packing, (), ()),
    "chain": (forms.Chain, families.chain, (), ()),
    "amplification": (forms.FeatureRank, families.amplification, ("chain", "code"), ()),
    "layer": (forms.FeatureRank, ranks.layer, ("gap-domination-symbolic",), ()),
    "family": (forms.FeatureRank, ranks.family, ("gap-domination-symbolic",), ()),
    "graham-sloane": (forms.FeatureRank, ranks.graham_sloane, ("gap-domination-symbolic",), ()),
    "shattered": (forms.FeatureRank, ranks.shattered, ("gap-domination-symbolic",), ()),
    "topological": (forms.FeatureRank, ranks.topological, ("gap-domination-symbolic",), ("the Borsuk-Ulam theorem",)),
    "unsat-lrat": (forms.FeatureRank, ranks.unsat_lrat, ("gap-domination-symbolic",), ()),
    "table-head": (forms.HeadExists, heads.table_head, (), ()),
    "class-head": (forms.HeadExists, heads.class_head, ("softmin",), ()),
    "hamming-head": (forms.HeadExists, heads.hamming_head, (), ()),
    "weight-head": (forms.HeadExists, weights.weight_head, (), ()),
    "lower-exponent": (forms.LowerExponent, ranks.lower_exponent, (), ()),
    "upper-exponent": (forms.UpperExponent, heads.upper_exponent, (), ("Bernstein's inequality",)),
    "sampled": (forms.HeadExists, heads.sampled, (), ("Bernstein's inequality",)),
    "typed-family": (forms.TypedFamily, families.typed_family, (), ()),
    "transcript": (forms.Transcript, families.transcript, (), ()),
    "collision": (forms.Collision, families.collision, (), ()),
    "rank-minor": (forms.Matrix, matrices.rank_minor, (), ()),
    "rank-trace": (forms.Matrix, matrices.rank_trace, (), ()),
    "exhaustive": (forms.HeadTask, matrices.exhaustive, (), ()),
    "violation": (forms.KernelRefutation, given.violation, (), ()),
    "evaluation": (forms.HeadFailure, given.evaluation, (), ()),
    "levels": (forms.KernelTask, given.levels, (), ()),
    "separable": (forms.TableTask, given.separable, (), ()),
}


def needs(rule: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The claims that `rule` rests on, and the theorems of mathematics that it takes on trust."""
    if rule not in RULES:
        raise Malformed(f"rule: unknown rule {shown(rule)}")
    return RULES[rule][2:]


def apply(rule: str, statement: Any, witness: object, used: dict[str, Any]) -> list[str]:
    """What `rule` checked in showing `statement` by `witness`, resting on the statements `used`."""
    shape, function = RULES[rule][:2]
    if not isinstance(statement, shape):
        raise Rejected(
            f"rule {rule} shows a {shape.__name__} statement, and this claim is of the shape {type(statement).__name__}"
        )
    return function(statement, witness, used)
