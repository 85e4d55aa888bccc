"""(claim name, parameters) -> the exact statement. A certificate never carries its own statement.

Two shapes of statement exist here, both about finitely many polynomial conditions over the reals:

    Universal    for all reals, the hypotheses imply the conclusion
    Existential  some real point meets all the conditions

Claims on gap domination (paper, Lemma 3) speak of one query x and two tokens y, z with
t = <x,y> < u = <x,z>, d = u - t. Write a, b, c = alpha(x,x), alpha(x,y), alpha(x,z) and
p, q, s = g(x,x) - t, g(x,y) - t, g(x,z) - t. A sequence with i copies of x (i >= 1, one of them the
query), j of y and k of z has

    denominator  D = i a + j b + k c,
    numerator    N = i a p + j b q + k c s  (of the output minus t),
    target minus t:  0 if j > 0, else d      (d = 0 only if y occurs; x itself is at <x,x> >= u, taken = u),

and the head is correct there iff D > 0 and |N - target D| < eps D. The three inputs of the lemma are
Y = (x, y^(n-1)), Z = (x, z^(n-1)), M = (x, y, z^(n-2)). Taking <x,x> = u matters only for sequences
of x alone; Y, Z and M do not depend on it.
"""

from __future__ import annotations

from fractions import Fraction

from .exact import Malformed, Poly, integer, number, record, shown, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Scalar = Poly | Fraction | int  # n, d, eps: numbers in an instance, variables in the symbolic theorem

MAX_ALL_INPUTS = 24  # largest n for which every sequence over {x, y, z} is listed: C(n+1, 2) of them

NEGATED = "negated-conclusion"


class Row:
    """A condition: `poly` > 0 (strict) or `poly` >= 0."""

    __slots__ = ("poly", "strict")

    def __init__(self, poly: Poly, strict: bool) -> None:
        self.poly = poly
        self.strict = strict

    def holds(self, numerators: dict[str, int], denominator: int) -> bool:
        """Does the condition hold where each variable has the value numerator/denominator?"""
        sign = self.poly.sign_at(numerators, denominator)
        return sign > 0 if self.strict else sign >= 0

    def negated(self) -> Row:
        return Row(-self.poly, not self.strict)

    def __repr__(self) -> str:
        return f"{self.poly} {'>' if self.strict else '>='} 0"


class Statement:
    """What is to be shown, in words and exactly. `rows` maps a condition's name to the condition."""

    def __init__(self, sentence: str, rows: dict[str, Row]) -> None:
        self.sentence = sentence
        self.rows = rows

    def variables(self) -> set[str]:
        return set().union(*(row.poly.variables() for row in self.rows.values()))


class Universal(Statement):
    """For all reals: the rows imply the conclusion."""

    def __init__(self, sentence: str, rows: dict[str, Row], conclusion: Row) -> None:
        super().__init__(sentence, rows)
        self.conclusion = conclusion

    def refutable(self) -> dict[str, Row]:
        """The hypotheses and the negated conclusion: the statement says that no real point meets these."""
        return {**self.rows, NEGATED: self.conclusion.negated()}


class Existential(Statement):
    """Some real point meets all the rows."""


# -------------------------------------------------------------------------------------- gap domination

_A, _B, _C = (Poly.variable(name) for name in "abc")


def _correct(name: str, counts: tuple[Scalar, Scalar, Scalar], target: Scalar, eps: Scalar) -> dict[str, Row]:
    """Correctness at x on a sequence with the given numbers of x, y, z: the denominator is positive and
    the output is strictly within eps of the target (both shifted by t and cleared of the denominator).
    N - wD is the sum over the tokens of count * weight * (value - w)."""
    low, high = target - eps, target + eps
    denominator, lower, upper = [], [], []
    for count, weight, value in zip(counts, "abc", "pqs", strict=True):
        if count != 0:
            denominator.append((count, (weight,)))
            lower += [(count, (weight, value)), (-count * low, (weight,))]
            upper += [(count * high, (weight,)), (-count, (weight, value))]
    return {
        f"{name}.denominator": Row(Poly.of(denominator), True),
        f"{name}.lower": Row(Poly.of(lower), True),
        f"{name}.upper": Row(Poly.of(upper), True),
    }


def _nonnegative_kernel() -> dict[str, Row]:
    return {"a": Row(_A, False), "b": Row(_B, False), "c": Row(_C, False)}


def _three_inputs(n: Scalar, d: Scalar, eps: Scalar) -> dict[str, Row]:
    return {
        **_nonnegative_kernel(),
        **_correct("Y", (1, n - 1, 0), 0, eps),
        **_correct("Z", (1, 0, n - 1), d, eps),
        **_correct("M", (1, 1, n - 2), 0, eps),
    }


def _all_inputs(n: int, d: Fraction, eps: Fraction) -> dict[str, Row]:
    rows = _nonnegative_kernel()
    for j in range(n):
        for k in range(n - j):
            rows |= _correct(f"x{n - j - k}y{j}z{k}", (n - j - k, j, k), 0 if j else d, eps)
    return rows


def _domination(n: Scalar, d: Scalar, eps: Scalar) -> Row:
    """b > mu(d) c with mu(d) = (n-2)(d-2eps)/(2eps), multiplied by 2 eps > 0."""
    return Row((2 * eps) * _B - ((n - 2) * (d - 2 * eps)) * _C, True)


def least_gap(n: int, eps: Fraction) -> Fraction:
    """The least admissible gap 2 eps (n-1)/(n-2)."""
    return 2 * eps * (n - 1) / (n - 2)


def factor(n: int, d: Fraction, eps: Fraction) -> Fraction:
    """mu(d) = (n-2)(d-2eps)/(2eps)."""
    return (n - 2) * (d - 2 * eps) / (2 * eps)


def epsilon(value: object, place: str) -> Fraction:
    eps = number(value, place)
    if not 0 < eps <= Fraction(1, 2):
        raise Malformed(f"{place}: expected 0 < eps <= 1/2, got {spelled(eps)}")
    return eps


def _positive(value: object, place: str) -> Fraction:
    q = number(value, place)
    if q <= 0:
        raise Malformed(f"{place}: expected a positive number, got {spelled(q)}")
    return q


def _gap_parameters(fields: Any, admissible: bool) -> tuple[int, Fraction, Fraction]:
    n = integer(fields["n"], "parameters.n", 3)
    d = _positive(fields["d"], "parameters.d")
    eps = epsilon(fields["eps"], "parameters.eps")
    least = least_gap(n, eps)
    if (d >= least) is not admissible:
        side = "at least" if admissible else "below"
        raise Malformed(f"parameters.d: expected a gap {side} {spelled(least)}, got {spelled(d)}")
    return n, d, eps


def _gap_domination(parameters: object) -> Statement:
    fields = record(parameters, "parameters", ["n", "d", "eps"])
    n, d, eps = _gap_parameters(fields, admissible=True)
    return Universal(
        f"instance n={n}, d={d}, eps={eps}: a nonnegative kernel head that is correct (error < {eps}) on the "
        f"inputs Y, Z, M of length {n} has alpha(x,y) > {factor(n, d, eps)} alpha(x,z) whenever "
        f"<x,z> - <x,y> = {d}",
        _three_inputs(n, d, eps),
        _domination(n, d, eps),
    )


def _gap_domination_symbolic(parameters: object) -> Statement:
    record(parameters, "parameters", [])
    n, d, eps = (Poly.variable(name) for name in ("n", "d", "eps"))
    return Universal(
        "for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2): a nonnegative kernel head that is correct "
        "(error < eps) on the inputs Y, Z, M of length n has alpha(x,y) > (n-2)(d-2eps)/(2eps) alpha(x,z) "
        "whenever <x,z> - <x,y> = d",
        {
            "n": Row(n - 3, False),
            "eps": Row(eps, True),
            "eps-max": Row(1 - 2 * eps, False),
            "gap": Row((n - 2) * d - 2 * eps * (n - 1), False),
            **_three_inputs(n, d, eps),
        },
        _domination(n, d, eps),
    )


def _near_miss(parameters: object, bound: str, admissible: bool) -> tuple[Fraction, str, dict[str, Row]]:
    """What the two claims of existence share: the value of the parameter `bound`, the sentence up to the
    conclusion, c > 0 and the correctness rows."""
    fields = record(parameters, "parameters", ["n", "d", "eps", bound, "inputs"])
    n, d, eps = _gap_parameters(fields, admissible)
    if fields["inputs"] == "YZM":
        where, rows = "the inputs Y, Z, M", _three_inputs(n, d, eps)
    elif fields["inputs"] == "xyz":
        integer(n, "parameters.n", 3, MAX_ALL_INPUTS)
        where, rows = "every sequence over {x,y,z}, where <x,x> = <x,z>,", _all_inputs(n, d, eps)
    else:
        raise Malformed(f'parameters.inputs: expected "YZM" or "xyz", got {shown(fields["inputs"])}')
    side = "" if admissible else f" (below the least admissible gap {least_gap(n, eps)})"
    sentence = (
        f"instance n={n}, d={d}, eps={eps}{side}: some nonnegative kernel head is correct (error < {eps}) on {where} "
        f"of length {n} with <x,z> - <x,y> = {d} and alpha(x,z) > 0, and yet alpha(x,y) "
    )
    return _positive(fields[bound], f"parameters.{bound}"), sentence, {**rows, "c.positive": Row(_C, True)}


def _gap_tightness(parameters: object) -> Statement:
    delta, sentence, rows = _near_miss(parameters, "delta", admissible=True)
    mu = factor(*_gap_parameters(parameters, admissible=True))
    near = Row((mu + delta) * _C - _B, True)
    return Existential(f"{sentence}< ({mu} + {delta}) alpha(x,z)", {**rows, "near-factor": near})


def _gap_countermodel(parameters: object) -> Statement:
    bound, sentence, rows = _near_miss(parameters, "factor", admissible=False)
    at_most = Row(bound * _C - _B, False)
    return Existential(f"{sentence}<= {bound} alpha(x,z)", {**rows, "at-most-factor": at_most})


CLAIMS: dict[str, Callable[[object], Statement]] = {
    "gap-domination": _gap_domination,
    "gap-domination-symbolic": _gap_domination_symbolic,
    "gap-tightness": _gap_tightness,
    "gap-countermodel": _gap_countermodel,
}


def statement(name: str, parameters: object) -> Statement:
    """The statement that the claim `name` makes for these parameters."""
    if name not in CLAIMS:
        raise Malformed(f"claim: unknown claim {name!r}")
    return CLAIMS[name](parameters)
