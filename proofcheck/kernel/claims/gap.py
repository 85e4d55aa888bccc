"""Gap domination: Lemma 3, its tightness, counter-models, and Theorem 8.

One query x and two tokens y, z with t = <x,y> < u = <x,z>, d = u - t. Write a, b, c = alpha(x,x), alpha(x,y),
alpha(x,z) and p, q, s = g(x,x) - t, g(x,y) - t, g(x,z) - t. A sequence with i copies of x (i >= 1, one of them
the query), j of y and k of z has

    denominator  D = i a + j b + k c,
    numerator    N = i a p + j b q + k c s  (of the output minus t),
    target minus t:  0 if j > 0, else d      (x itself is at <x,x> >= u, taken = u),

and the head is correct there iff D > 0 and |N - target D| < eps D. The three inputs of the lemma are
Y = (x, y^(n-1)), Z = (x, z^(n-1)), M = (x, y, z^(n-2)). Taking <x,x> = u matters only for sequences
of x alone; Y, Z and M do not depend on it.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact import Malformed, Poly, integer, record, shown
from .forms import Existential, Row, Universal, nonnegative, positive
from .parameters import admissible_gap, factor, least_gap, positive_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Scalar = Poly | Fraction | int  # n, d, eps: numbers in an instance, variables in the symbolic theorem
    Part = tuple[Scalar, str, tuple[str, ...]]  # copies of a token, its weight, its weight times its value

MAX_ALL_INPUTS = 24  # largest n for which every sequence over {x, y, z} is listed: C(n+1, 2) of them
MAX_POSITIONS = 40  # largest n of a positional instance, whose variables number 4n - 2

A, B, C = (Poly.variable(name) for name in "abc")


def correct(name: str, parts: Iterable[Part], target: Scalar, eps: Scalar) -> dict[str, Row]:
    """Correctness on one sequence, given as (copies, weight, product) for each kind of token: the denominator D, the
    sum of copies * weight, is positive, and N, the sum of copies * product, has |N - target D| < eps D."""
    denominator, lower, upper = [], [], []
    for copies, weight, product in parts:
        denominator.append((copies, (weight,)))
        lower += [(copies, product), (copies * (eps - target), (weight,))]
        upper += [(copies * (target + eps), (weight,)), (-copies, product)]
    return {
        f"{name}.denominator": positive(Poly.of(denominator)),
        f"{name}.lower": positive(Poly.of(lower)),
        f"{name}.upper": positive(Poly.of(upper)),
    }


def _tokens(i: Scalar, j: Scalar, k: Scalar) -> list[Part]:
    """i copies of x, j of y, k of z; no part for a token that does not occur."""
    parts = [(i, "a", ("a", "p")), (j, "b", ("b", "q")), (k, "c", ("c", "s"))]
    return [part for part in parts if part[0] != 0]


def _kernel_values(*names: str) -> dict[str, Row]:
    return {name: nonnegative(Poly.variable(name)) for name in names}


def three_inputs(n: Scalar, d: Scalar, eps: Scalar) -> dict[str, Row]:
    return {
        **_kernel_values("a", "b", "c"),
        **correct("Y", _tokens(1, n - 1, 0), 0, eps),
        **correct("Z", _tokens(1, 0, n - 1), d, eps),
        **correct("M", _tokens(1, 1, n - 2), 0, eps),
    }


def _all_inputs(n: int, d: Fraction, eps: Fraction) -> dict[str, Row]:
    rows = _kernel_values("a", "b", "c")
    for j in range(n):
        for k in range(n - j):
            rows |= correct(f"x{n - j - k}y{j}z{k}", _tokens(n - j - k, j, k), 0 if j else d, eps)
    return rows


def ranges() -> tuple[Poly, Poly, Poly, dict[str, Row]]:
    """The variables n, d, eps of a symbolic theorem and the conditions n >= 3, 0 < eps <= 1/2."""
    n, d, eps = (Poly.variable(name) for name in ("n", "d", "eps"))
    return n, d, eps, {"n": nonnegative(n - 3), "eps": positive(eps), "eps-max": nonnegative(1 - 2 * eps)}


def _symbolic() -> tuple[Poly, Poly, Poly, dict[str, Row]]:
    n, d, eps, rows = ranges()
    return n, d, eps, {**rows, "gap": nonnegative((n - 2) * d - 2 * eps * (n - 1))}


def _dominates(n: Scalar, d: Scalar, eps: Scalar, better: Poly = B, worse: Poly = C) -> Row:
    """better > mu(d) worse with mu(d) = (n-2)(d-2eps)/(2eps), multiplied by 2 eps > 0."""
    return positive((2 * eps) * better - ((n - 2) * (d - 2 * eps)) * worse)


_FOR_ALL = "for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2)"


def gap_domination(parameters: object) -> Universal:
    n, d, eps = admissible_gap(record(parameters, "parameters", ["n", "d", "eps"]), True)
    return Universal(
        f"instance n={n}, d={d}, eps={eps}: a nonnegative kernel head that is correct (error < {eps}) on the "
        f"inputs Y, Z, M of length {n} has alpha(x,y) > {factor(n, d, eps)} alpha(x,z) whenever "
        f"<x,z> - <x,y> = {d}",
        three_inputs(n, d, eps),
        _dominates(n, d, eps),
    )


def gap_domination_symbolic(parameters: object) -> Universal:
    record(parameters, "parameters", [])
    n, d, eps, rows = _symbolic()
    return Universal(
        f"{_FOR_ALL}: a nonnegative kernel head that is correct "
        "(error < eps) on the inputs Y, Z, M of length n has alpha(x,y) > (n-2)(d-2eps)/(2eps) alpha(x,z) "
        "whenever <x,z> - <x,y> = d",
        {**rows, **three_inputs(n, d, eps)},
        _dominates(n, d, eps),
    )


def _near_miss(parameters: object, bound: str, admissible: bool) -> tuple[Fraction, str, dict[str, Row]]:
    """What the two claims of existence share: the value of the parameter `bound`, the sentence up to the
    conclusion, c > 0 and the correctness rows."""
    fields = record(parameters, "parameters", ["n", "d", "eps", bound, "inputs"])
    n, d, eps = admissible_gap(fields, admissible)
    if fields["inputs"] == "YZM":
        where, rows = "the inputs Y, Z, M", three_inputs(n, d, eps)
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
    return positive_number(fields[bound], f"parameters.{bound}"), sentence, {**rows, "c.positive": positive(C)}


def gap_tightness(parameters: object) -> Existential:
    delta, sentence, rows = _near_miss(parameters, "delta", admissible=True)
    mu = factor(*admissible_gap(parameters, True))
    near = positive((mu + delta) * C - B)
    return Existential(f"{sentence}< ({mu} + {delta}) alpha(x,z)", {**rows, "near-factor": near})


def gap_countermodel(parameters: object) -> Existential:
    bound, sentence, rows = _near_miss(parameters, "factor", admissible=False)
    at_most = nonnegative(bound * C - B)
    return Existential(f"{sentence}<= {bound} alpha(x,z)", {**rows, "at-most-factor": at_most})


# ------------------------------------------------------------------------------------ Theorem 8: positions


def positional_domination(parameters: object) -> Universal:
    """The query position is fixed and the sources j = 1..L, L = n-1, have maps of their own: b_j = A_j(x,y),
    c_j = A_j(x,z), shifted values q_j, s_j. M_l has y at position l only."""
    n, d, eps = admissible_gap(record(parameters, "parameters", ["n", "d", "eps"]), True)
    sources = range(1, integer(n, "parameters.n", 3, MAX_POSITIONS))
    own: Part = (1, "a", ("a", "p"))
    y: list[Part] = [(1, f"b{j}", (f"b{j}", f"q{j}")) for j in sources]
    z: list[Part] = [(1, f"c{j}", (f"c{j}", f"s{j}")) for j in sources]
    rows = _kernel_values("a", *(f"{w}{j}" for w in "bc" for j in sources))
    rows |= correct("Y", [own, *y], 0, eps) | correct("Z", [own, *z], d, eps)
    for j in sources:
        rows |= correct(f"M{j}", [own, *z[: j - 1], y[j - 1], *z[j:]], 0, eps)
    better, worse = (Poly.of((1, (f"{w}{j}",)) for j in sources) for w in "bc")
    return Universal(
        f"instance n={n}, d={d}, eps={eps}: for one query position and {n - 1} source positions with maps of their "
        f"own, a head that is correct (error < {eps}) on Y, Z, M_1, .., M_{n - 1} has sum_j A_j(x,y) > "
        f"{factor(n, d, eps)} sum_j A_j(x,z) whenever <x,z> - <x,y> = {d}",
        rows,
        _dominates(n, d, eps, better, worse),
    )


def positional_domination_symbolic(parameters: object) -> Universal:
    """In the sums B = sum b_j, C = sum c_j, U = sum b_j q_j, V = sum c_j s_j. Row M is the sum of the correctness
    conditions of M_1, .., M_L: there y occurs once at each position, z L-1 times, and the query L times."""
    record(parameters, "parameters", [])
    n, d, eps, rows = _symbolic()
    x, y, z = ("a", ("a", "p")), ("B", ("U",)), ("C", ("V",))
    rows |= _kernel_values("a", "B", "C")
    rows |= correct("Y", [(1, *x), (1, *y)], 0, eps) | correct("Z", [(1, *x), (1, *z)], d, eps)
    rows |= correct("M", [(n - 1, *x), (1, *y), (n - 2, *z)], 0, eps)
    return Universal(
        f"{_FOR_ALL}: for one query position and n-1 source positions with maps of their own, a head that is correct "
        "(error < eps) on Y, Z, M_1, .., M_(n-1) has sum_j A_j(x,y) > (n-2)(d-2eps)/(2eps) sum_j A_j(x,z) whenever "
        "<x,z> - <x,y> = d",
        rows,
        _dominates(n, d, eps, Poly.variable("B"), Poly.variable("C")),
    )
