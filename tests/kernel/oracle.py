"""Independent truth: is an accepted certificate true, and does its sentence say what was shown?

Every claim is worked out anew from shared/mathematics.md with plain fractions, sets, binomials and literal sequences:
no rows, no polynomials, no parser and no rule of the kernel. Conditions are written as inequalities between
expressions; an identity of polynomials is tested at random points with large coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from random import Random
from types import CodeType
from typing import Any

from tests.kernel import bounds_oracle, heads_oracle, sketch_oracle
from tests.kernel.rationals import HALF, mu, rank_of, rational, whole

CONTEXT = Context(prec=80, Emax=10**9, Emin=-(10**9))

Point = dict[str, Fraction]
Condition = tuple[str, bool]  # an expression, and whether it is > 0 (strict) or >= 0
Case = tuple[dict[str, str], str]  # hypotheses by name, and the conclusion
Known = dict[str, dict[str, Any] | None]  # id -> the certificate, or None where it is known to be refused


# ------------------------------------------------------------------------- conditions as written inequalities


@cache
def compiled(inequality: str) -> tuple[CodeType, bool]:
    """ "x + 1 > y" -> code of (x + 1) - (y), and strictness. Variables that Python reserves end in an underscore."""
    for sign, first, second in ((">=", 0, 1), ("<=", 1, 0), (">", 0, 1), ("<", 1, 0)):
        if f" {sign} " in inequality:
            sides = inequality.split(f" {sign} ")
            return compile(f"({sides[first]}) - ({sides[second]})", inequality, "eval"), "=" not in sign
    raise ValueError(f"{inequality!r} is no inequality")


def difference(inequality: str, point: Point) -> tuple[Fraction, bool]:
    """Larger side minus smaller side at a point, and whether it must be positive."""
    code, strict = compiled(inequality)
    names = {f"{name}_" if name == "lambda" else name: value for name, value in point.items()}
    return Fraction(eval(code, {"__builtins__": {}, "Q": Fraction}, names)), strict


def holds(inequality: str, point: Point) -> bool:
    value, strict = difference(inequality, point)
    return value > 0 if strict else value >= 0


def negation(inequality: str) -> str:
    for sign, other in ((">=", "<"), ("<=", ">"), (">", "<="), ("<", ">=")):
        if f" {sign} " in inequality:
            return inequality.replace(f" {sign} ", f" {other} ")
    raise ValueError(f"{inequality!r} is no inequality")


@cache
def random_points(names: tuple[str, ...]) -> tuple[Point, ...]:
    """Points with large random coordinates: a polynomial identity that holds at all of them holds."""
    rng = Random("points")
    return tuple({name: Fraction(rng.randrange(-(10**12), 10**12)) for name in names} for _ in range(6))


def names_in(case: Case) -> set[str]:
    hypotheses, conclusion = case
    codes = [compiled(inequality)[0] for inequality in (*hypotheses.values(), conclusion)]
    return {"lambda" if name == "lambda_" else name for code in codes for name in code.co_names if name != "Q"}


def unproved(case: Case, terms: list[tuple[Fraction, list[str]]], model: dict[str, Any]) -> str:
    """Why the positive multiples of products of conditions do not show the case, or the model does not meet its
    hypotheses; empty if they do."""
    hypotheses, conclusion = case
    conditions = {**hypotheses, "negated-conclusion": negation(conclusion)}
    point = {name: rational(value) for name, value in model.items()}
    for name, inequality in hypotheses.items():
        if not holds(inequality, point):
            return f"the model breaks {name}"
    if any(q <= 0 for q, _ in terms):
        return "a multiplier is not positive"
    sums, strict = set(), False
    for at in random_points(tuple(sorted(names_in(case)))):
        values, total = {name: difference(inequality, at) for name, inequality in conditions.items()}, Fraction(0)
        for q, factors in terms:
            total += q * math.prod((values[name][0] for name in factors), start=Fraction(1))
            strict = strict or all(values[name][1] for name in factors)
        sums.add(total)
    (constant, *others) = sums
    if others:
        return "the sum is not constant"
    return "" if constant < 0 or (constant == 0 and strict) else f"the sum is {constant}"


def terms_of(witness: dict[str, Any], rule: str) -> list[tuple[Fraction, list[str]]]:
    if rule == "farkas":
        return [(rational(q), [name]) for name, q in witness["multipliers"].items()]
    return [(rational(term["coefficient"]), term["product"]) for term in witness["terms"]]


def _sides(name: str, weight: str, total: str, target: str) -> dict[str, str]:
    """Correctness on one input: its denominator is positive and |total - target * weight| < eps * weight."""
    return {
        f"{name}.denominator": f"{weight} > 0",
        f"{name}.lower": f"{total} > ({target} - eps)*({weight})",
        f"{name}.upper": f"{total} < ({target} + eps)*({weight})",
    }


THREE = {
    **{name: f"{name} >= 0" for name in "abc"},
    **_sides("Y", "a + (n-1)*b", "a*p + (n-1)*b*q", "0"),
    **_sides("Z", "a + (n-1)*c", "a*p + (n-1)*c*s", "d"),
    **_sides("M", "a + b + (n-2)*c", "a*p + b*q + (n-2)*c*s", "0"),
}
RANGES = {"n": "n >= 3", "eps": "eps > 0", "eps-max": "1 >= 2*eps"}
GAP = {"gap": "(n-2)*d >= 2*eps*(n-1)"}
LEMMA = "2*eps*b > (n-2)*(d-2*eps)*c"
SUMS = {
    **{name: f"{name} >= 0" for name in ("a", "B", "C")},
    **_sides("Y", "a + B", "a*p + U", "0"),
    **_sides("Z", "a + C", "a*p + V", "d"),
    **_sides("M", "(n-1)*a + B + (n-2)*C", "(n-1)*a*p + U + (n-2)*V", "0"),
}
KERNEL = {"s": "s > 0", "y": "y >= 0", "z": "z >= 0"}
BASE = "(s*(H - 2*eps) - 2*eps*y - s*H/(n-1))"  # the negative part of the upper side that x and y make
FURTHER = "(z*(d - 2*eps) - s*(H - d)/(n-1))"  # what one more token z adds


def pair(d: str, y: str, z: str) -> str:
    """(ii) of B0 times L."""
    return f"(n-1)*2*eps*{y} > (n-1)*(n-2)*({d} - 2*eps)*{z} + ((n-2)*{d} - 2*eps*(n-1))*s"


def equal(name: str, left: str, right: str) -> dict[str, Case]:
    return {f"{name}.at-least": ({}, f"{left} >= {right}"), f"{name}.at-most": ({}, f"{left} <= {right}")}


CASES: dict[str, dict[str, Case]] = {
    "approximate-identity": {
        "projection": ({"F": "F > 0", "expansion": "F**2*R - 2*T**2*F + T**2*F >= 0"}, "T**2 <= R*F"),
        "entries": (
            {
                "R": "R >= 0",
                "t": "t > 0",
                "lambda": "lambda_ > 0",
                "norm": "lambda_**2*F <= lambda_**2*t + t*(t-1)",
                "rank": "t**2 <= R*F",
            },
            "R*(lambda_**2 + t - 1) >= t*lambda_**2",
        ),
    },
    "softmin": {
        "half": (
            {"w": "w > 0", "eps": "eps > 0", "temperature": "n*w <= eps", "eps-max": "1 >= 2*eps", "n": "n >= 1"},
            "2*w <= 1",
        ),
        "base": ({"w": "w > 0"}, "1*w <= w"),
        "step": (
            {"w": "w >= 0", "half": "2*w <= 1", "X": "X >= 0", "d": "d >= 1", "before": "d*X <= w"},
            "(d+1)*(X*w) <= w",
        ),
        "total": (
            {
                "w": "w > 0",
                "eps": "eps > 0",
                "temperature": "n*w <= eps",
                "k-max": "k <= n - 1",
                "numerator": "N <= k*w",
                "denominator": "D >= 1",
            },
            "N < eps*D",
        ),
    },
    "two-tokens": equal("length 1", "2*h - h", "h") | equal("length 2", "(2*h - h) + (2*l - h)", "2*l"),
    "softmin-full-rank": (
        equal("entry 00", "1*w + 1*(-1)", "w - 1")
        | equal("entry 01", "1*(-1) + 1*1", "0")
        | equal("entry 10", "1*w + w*(-1)", "0")
        | equal("entry 11", "1*(-1) + w*1", "w - 1")
    ),
    "phase-transition": {
        "base": ({}, "16**1 * 4**20 * 41 <= 9**(20 - 5 + 1)"),
        "step-h": ({"h": "h >= 1", "E": "E > 0", "before": "E*(2*h+1) <= B"}, "(4*E)*(2*(h+1)+1) <= 9*B"),
        "step-k": (
            {"k": "k >= 1", "E": "E > 0", "before": "E*(2*20*k + 1) <= B"},
            "(16*4**20*E)*(2*20*(k+1) + 1) <= 9**15*B",
        ),
        "factor": ({}, "(3 - 2)*(5 - 1) >= 4"),
        "minimum": ({"X": "X >= 1", "T": "T >= X"}, "2*T > X + T - 1"),
    },
    "domination-necessary": {
        "pairwise": (RANGES | THREE, pair("d", "b", "c").replace("*s", "*a")),
        "support": (
            {**_sides("Y", "a", "a*p", "0"), "X.lower": "a*p > (H - eps)*a"},
            "H < 2*eps",
        ),
    },
    "domination-sufficient": {
        "lower": (
            {
                "n": "n >= 3",
                "s": "s > 0",
                "H": "H >= 0",
                "A": "A >= 0",
                "E": "E >= 0",
                "k-max": "k <= n - 1",
                "c": "c >= 1",
                "delta": "delta > 0",
            },
            "(n-1)*(s*H + A + c*delta) - s*(k*H - E) > 0",
        ),
        "pair": (
            {**RANGES, **KERNEL, "d": "d >= 1", "H": "H >= d", "pairwise": pair("d", "y", "z")},
            f"(n-1)*({BASE} + (n-2)*{FURTHER}) < 0",
        ),
        "level": (
            {**RANGES, **KERNEL},
            f"(n-1)*({BASE} + (n-2)*(z*(-2*eps) - s*H/(n-1))) < 0",
        ),
        "self": ({**RANGES, **KERNEL, "H": "H >= 1", "pairwise": pair("H", "y", "s")}, f"(n-1)*{BASE} < 0"),
        "average": (
            {"n": "n >= 3", "k-max": "k <= n - 2", "base": "B <= -mu", "pairs": "k*B + (n-2)*S <= -k*mu"},
            "(n-2)*(B + S) <= (n-2)*(-mu)",
        ),
        "upper": (
            {"delta": "delta > 0", "c-max": "c <= n", "T": "T <= -mu", "small": "n*delta < mu"},
            "T + c*delta < 0",
        ),
        "top": (
            {"delta": "delta > 0", "c-max": "c <= n", "eps": "eps > 0", "D": "D >= s", "small": "n*delta < 2*eps*s"},
            "-2*eps*D + c*delta < 0",
        ),
    },
}


def fixed(case: Case, n: int, d: Fraction, eps: Fraction) -> Case:
    """The case with n, d and eps put in (as names whose values are looked up are variables of the model)."""

    def put(inequality: str) -> str:
        padded = f" {inequality} "
        for name, value in (("eps", eps), ("n", Fraction(n)), ("d", d)):
            number = f"(Q({value.numerator})/{value.denominator})"
            padded = "".join(number if part == name else part for part in _split(padded))
        return padded.strip()

    hypotheses, conclusion = case
    return {name: put(inequality) for name, inequality in hypotheses.items()}, put(conclusion)


def _split(text: str) -> list[str]:
    parts, word = [], ""
    for character in text:
        if character.isalnum() or character == "_":
            word += character
        else:
            parts += [word, character]
            word = ""
    return [*parts, word]


def positions(n: int, d: Fraction, eps: Fraction) -> Case:
    """Theorem 8 for one n: what stands at each of the positions 1..n-1 is written out."""
    hypotheses = {"a": "a >= 0"} | {f"{v}{j}": f"{v}{j} >= 0" for v in "bc" for j in range(1, n)}
    inputs = {"Y": ("b" * (n - 1), "0"), "Z": ("c" * (n - 1), "d")}
    inputs |= {f"M{j}": ("c" * (j - 1) + "b" + "c" * (n - 1 - j), "0") for j in range(1, n)}
    for name, (letters, target) in inputs.items():
        weight = " + ".join(["a", *(f"{v}{j}" for j, v in enumerate(letters, 1))])
        total = " + ".join(["a*p", *(f"{v}{j}*{'qs'['bc'.index(v)]}{j}" for j, v in enumerate(letters, 1))])
        hypotheses |= _sides(name, weight, total, target)
    better, worse = (" + ".join(f"{v}{j}" for j in range(1, n)) for v in "bc")
    return fixed((hypotheses, f"2*eps*({better}) > (n-2)*(d-2*eps)*({worse})"), n, d, eps)


# ------------------------------------------------------------------------------ one query and three tokens


def output(sequence: str, alpha: dict[str, Fraction], g: dict[str, Fraction]) -> Fraction | None:
    """What the head puts out for the query x on a sequence over the tokens x, y, z (minus t)."""
    weights = [alpha[token] for token in sequence]
    total = sum(weights, Fraction(0))
    return sum((alpha[token] * g[token] for token in sequence), Fraction(0)) / total if total > 0 else None


def incorrect(point: Point, n: int, d: Fraction, eps: Fraction, inputs: str) -> str:
    """Why the head of this point is not a nonnegative head correct on the inputs; empty if it is."""
    alpha = dict(zip("xyz", (point["a"], point["b"], point["c"]), strict=True))
    g = dict(zip("xyz", (point["p"], point["q"], point["s"]), strict=True))
    if min(alpha.values()) < 0:
        return "a kernel value is negative"
    if inputs == "YZM":
        sequences = ["x" + "y" * (n - 1), "x" + "z" * (n - 1), "xy" + "z" * (n - 2)]
    else:
        sequences = ["x" * (n - j - k) + "y" * j + "z" * k for j in range(n) for k in range(n - j)]
    for sequence in sequences:
        value = output(sequence, alpha, g)
        target = Fraction(0) if "y" in sequence else d
        if value is None or not -eps < value - target < eps:
            return f"the head is wrong on {sequence}"
    return ""


# ---------------------------------------------------------------------------------------- the claims

Finding = tuple[str, list[str]]  # a fault, or what the sentence must say


def _range(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} is out of range")


def _n_eps(parameters: dict[str, Any], least: int = 3) -> tuple[int, Fraction]:
    n, eps = whole(parameters["n"]), rational(parameters["eps"])
    _range(n >= least and 0 < eps <= HALF, "n or eps")
    return n, eps


def _n_d_eps(parameters: dict[str, Any]) -> tuple[int, Fraction, Fraction, bool]:
    n, eps = _n_eps(parameters)
    d = rational(parameters["d"])
    _range(d > 0, "d")
    return n, d, eps, (n - 2) * d >= 2 * eps * (n - 1)


def gap_domination(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, d, eps, admissible = _n_d_eps(p)
    if not admissible or rule not in ("farkas", "polynomial-identity"):
        return "the gap is not admissible, or another rule", []
    said = [f"instance n={n}, d={d}, eps={eps}: ", f"alpha(x,y) > {mu(n, d, eps)} alpha(x,z)"]
    if n < 10**4:
        fault = incorrect({name: rational(q) for name, q in witness["model"].items()}, n, d, eps, "YZM")
        if fault:
            return fault, said
    case = fixed((THREE, LEMMA), n, d, eps)
    return unproved(case, terms_of(witness, rule), witness["model"]), said


def gap_domination_symbolic(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    _range(p == {} and rule == "polynomial-identity", "a parameter or the rule")
    case = (RANGES | GAP | THREE, LEMMA)
    return unproved(case, terms_of(witness, rule), witness["model"]), [
        "for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2): ",
        "alpha(x,y) > (n-2)(d-2eps)/(2eps) alpha(x,z)",
    ]


def near_miss(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any, tight: bool) -> Finding:
    n, d, eps, admissible = _n_d_eps(p)
    point = {name: rational(q) for name, q in witness["assignment"].items()}
    fault = incorrect(point, n, d, eps, p["inputs"])
    bound = rational(p["delta" if tight else "factor"])
    if rule != "model" or fault or point["c"] <= 0 or bound <= 0 or admissible is not tight:
        return fault or "c, the bound, the gap or the rule", []
    inputs = "Y, Z, M" if p["inputs"] == "YZM" else "every sequence over {x,y,z}"
    factor = mu(n, d, eps)
    ending = f"< ({factor} + {bound}) alpha(x,z)" if tight else f"<= {bound} alpha(x,z)"
    near = point["b"] < (factor + bound) * point["c"] if tight else point["b"] <= bound * point["c"]
    return "" if near else "alpha(x,y) is too large", [f"instance n={n}, d={d}, eps={eps}", inputs, ending]


def gap_tightness(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    return near_miss(p, rule, witness, used, True)


def gap_countermodel(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    return near_miss(p, rule, witness, used, False)


def positional(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, d, eps, admissible = _n_d_eps(p)
    _range(admissible and n <= 40 and rule in ("farkas", "polynomial-identity"), "the gap, n or the rule")
    fault = unproved(positions(n, d, eps), terms_of(witness, rule), witness["model"])
    return fault, [
        f"instance n={n}, d={d}, eps={eps}: ",
        f"{n - 1} source positions",
        f"{mu(n, d, eps)} sum_j A_j(x,z)",
    ]


def positional_symbolic(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    _range(p == {} and rule == "polynomial-identity", "a parameter or the rule")
    case = (RANGES | GAP | SUMS, LEMMA.replace("b", "B").replace("c", "C"))
    fault = unproved(case, terms_of(witness, rule), witness["model"])
    return fault, ["for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2): ", "sum_j A_j(x,y)"]


def by_cases(claim: str) -> Oracle:
    def check(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
        _range(p == {} and rule == "cases" and set(witness["cases"]) == set(CASES[claim]), "parameters, rule or cases")
        for name, case in CASES[claim].items():
            part = witness["cases"][name]
            fault = unproved(case, terms_of(part, rule), part["model"])
            if fault:
                return f"case {name}: {fault}", []
        return "", ["for all " if claim != "approximate-identity" else "for every real t x t matrix C"]

    return check


def chain_tight(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    """(i) and (ii) of B0 for every pair of tokens of the row: overlaps 0..D, and the query itself at overlap D."""
    n, eps = _n_eps(p)
    top, bound = whole(p["distance"]), rational(p["bound"])
    point = {name: rational(q) for name, q in witness["assignment"].items()}
    s, row = point.pop("s"), [point.pop(f"a{level}") for level in range(top + 1)]
    _range(rule == "model" and not point and bound > 0 and 1 <= top <= 64, "the rule, a variable, the bound or D")
    said = [f"instance n={n}, eps={eps}: ", f"weight {top} ", f"alpha(x,y) <= {bound} alpha(x,z)", f"<x,z> = {top}"]
    if s <= 0 or min(row) <= 0 or row[0] > bound * row[top]:
        return "(i) or the bound", said
    for low in range(top):
        for high, value in [*((high, row[high]) for high in range(low + 1, top + 1)), (top, s)]:
            d = high - low
            if not 2 * eps * row[low] > (n - 2) * (d - 2 * eps) * value + (Fraction((n - 2) * d, n - 1) - 2 * eps) * s:
                return f"(ii) fails at the levels {low}, {high}", said
    return "", said


def _code(p: dict[str, Any]) -> tuple[int, int, int, int]:
    m, weight, distance, size = (whole(p[name]) for name in ("m", "weight", "distance", "size"))
    _range(1 <= m <= 20_000 and 0 <= weight <= m and distance >= 1 and size >= 1, "m, weight, distance or size")
    return m, weight, distance, size


def sets(words: Any) -> list[frozenset[int]]:
    return [frozenset(i for i, bit in enumerate(f"{int(word, 16):b}"[::-1]) if bit == "1") for word in words]


def unlike(family: list[frozenset[int]], m: int, weight: int, distance: int) -> str:
    if any(len(word) != weight or (word and max(word) >= m) for word in family):
        return "a word has another weight or lies outside"
    near = any(len(one - two) < distance or len(two - one) < distance for one, two in combinations(family, 2))
    return "two words are too near" if near else ""


def code(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, weight, distance, size = _code(p)
    said = [f"there are {size} subsets of [{m}] of {weight} elements", f"|S\\U| >= {distance} for any two"]
    if rule == "packing":
        ball = sum(math.comb(weight, a) * math.comb(m - weight, a) for a in range(min(distance, weight + 1)))
        fits = witness == {} and (size - 1) * ball < math.comb(m, weight)
        return "" if fits else "the balls may cover the layer", said
    family = sets(witness["words"])
    if rule != "code" or len(family) != size or len(set(family)) != size:
        return "the rule, or the number of words", said
    return unlike(family, m, weight, distance), said


def chain(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps = _n_eps(p)
    distance, factor, gaps = whole(p["distance"]), rational(p["factor"]), [whole(gap) for gap in witness["gaps"]]
    _range(rule == "chain" and distance >= 1 and factor > 0, "the rule, the distance or the factor")
    said = [f"instance n={n}, eps={eps}: ", f"alpha(x,y) > {factor} alpha(x,z) whenever <x,z> - <x,y> >= {distance}"]
    if any(gap < 1 or (n - 2) * gap < 2 * eps * (n - 1) for gap in gaps) or sum(gaps) != distance:
        return "a gap is not admissible, or the gaps do not add up", said
    product_ = Fraction(1)
    for gap in gaps:
        product_ *= mu(n, gap, eps)
    return "" if product_ >= factor else "the factor is too large", said


def feature_rank(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps = _n_eps(p)
    m, value = whole(p["m"]), whole(p["value"])
    _range(value >= 1 and m >= 1, "the value or m")
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"at least {value} features"]
    if rule in bounds_oracle.FEATURE_RANK:
        return bounds_oracle.FEATURE_RANK[rule](p, witness), said
    _range(rule == "amplification" and witness == {}, "the rule or the witness")
    bits, _, distance, size = _code(used["code"])
    chain_n, chain_eps = _n_eps(used["chain"])
    reach, factor = whole(used["chain"]["distance"]), rational(used["chain"]["factor"])
    if bits > m or (chain_n, chain_eps) != (n, eps) or reach > distance or factor <= 0:
        return "the code and the chain are about something else", said
    square = factor * factor  # r (Lambda^2 + T - 1) > T Lambda^2 for every integer r that is allowed; T = 1: r >= 1
    least = 1 if size == 1 else math.floor(size * square / (square + size - 1)) + 1
    return "" if value <= least else "the value is too large", said


def growing_context(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, n, rank = whole(p["m"]), whole(p["n"]), used["feature-rank"]
    _range(rule == "consequence" and witness == {} and m >= 2 and n >= 4, "the rule, m or n")
    if (whole(rank["m"]), whole(rank["n"]), rational(rank["eps"])) != (m, n, HALF):
        return "the rank bound is about something else", []
    even = m // 2 * 2
    delta = 2 * next(j for j in range(1, m + 1) if Decimal(2 * j) * log2(n - 2) >= Decimal(even) - Decimal("1e-60"))
    rho = Fraction(2 * delta, even)
    entropy = rho ** (2 * delta) * (1 - rho) ** (even - 2 * delta)  # 2^(-M H2(rho))
    said = [f"instance m={m}, n={n}: ", f"M = {even}, Delta = {delta}"]
    enough = whole(rank["value"]) >= 2**even * entropy / ((even + 1) * delta * 2)
    return "" if rho <= HALF and enough else "the rank bound is too small", said


def log2(x: int) -> Decimal:
    return CONTEXT.divide(CONTEXT.ln(Decimal(x)), CONTEXT.ln(Decimal(2)))


def multilevel_code(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m = whole(p["m"])
    _range(rule == "consequence" and witness == {} and m >= 32, "the rule or m")
    s = int(CONTEXT.divide(Decimal(m), log2(m)) + Decimal("1e-60"))
    size, height = m - s - 2, (m - s - 2) // 2
    bits, weight, distance, words = _code(used["code"])
    said = [f"instance m={m}: with s={s}, M={size}, h={height} "]
    if (bits, weight, distance) != (size, height, s + 1) or s + 1 >= height:
        return "the code is about something else", said
    ball = log2(size) + CONTEXT.divide(Decimal(1), CONTEXT.ln(Decimal(2))) - log2(s)  # log2 of eM/s
    bound = Decimal(size) - log2((size + 1) * (s + 1)) - CONTEXT.multiply(Decimal(2 * s), ball)
    return "" if log2(words) >= bound else "the code is too small", said


def matrix_rank(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    matrix = [[rational(q) for q in row] for row in p["matrix"]]
    _range(rule in ("rank-minor", "rank-trace") and len(set(map(len, matrix))) == 1, "the rule or the shape")
    rank = whole(p["rank"])
    said = [f"the {len(matrix)} x {len(matrix[0])} matrix of the parameters has rank at least {rank}"]
    return "" if 1 <= rank <= rank_of(matrix) else "the rank is smaller", said


def softmin_rank(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, w, rank = whole(p["m"]), rational(p["w"]), whole(p["rank"])
    _range(rule in ("rank-minor", "rank-trace") and 1 <= m <= 8 and 0 < w < 1, "the rule, m or w")
    cube = [frozenset(i for i in range(m) if token >> i & 1) for token in range(2**m)] if m <= 4 else []
    true = rank_of([[w ** len(x & z) for z in cube] for x in cube]) if cube else 2**m
    said = [f"instance m={m}: the kernel ({w})^<x,z>", f"rank at least {rank}"]
    return "" if 1 <= rank <= true else "the rank is smaller", said


def task_fault(
    m: int, n: int, eps: Fraction, weight: Callable[[int], Fraction], table: Callable[[int, int], int]
) -> str:
    """Why a head whose kernel depends on the overlap and whose table on overlap and weight of the query is wrong: every
    multiset of overlaps of the other tokens occurs, and nothing else matters."""
    for h in range(m + 1):
        for others in range(n):
            for levels in combinations_with_replacement(range(h + 1), others):
                weights = [weight(level) for level in (h, *levels)]
                value = sum((a * table(h, level) for a, level in zip(weights, (h, *levels), strict=True)), Fraction(0))
                if abs(value / sum(weights) - min(h, *levels, h)) >= eps:
                    return f"the head is wrong on overlaps {levels} at weight {h}"
    return ""


def softmin_head(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps = _n_eps(p, 1)
    m, w = whole(p["m"]), rational(p["w"])
    _range(rule == "exhaustive" and witness == {} and m >= 1 and 0 < w < 1, "the rule, m or w")
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"e^-tau = {w} ", f"length 1..{n} over {{0,1}}^{m}"]
    return task_fault(m, n, eps, lambda level: w**level, lambda h, level: level), said


def uniform_head(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps = _n_eps(p, 1)
    m = whole(p["m"])
    _range(rule == "exhaustive" and witness == {} and m >= 1, "the rule or m")
    said = [f"instance m={m}, n={n}, eps={eps}: the rank-one head", f"length 1..{n} over {{0,1}}^{m}"]
    return task_fault(m, n, eps, lambda level: Fraction(1), lambda h, level: 2 * level - h), said


def softmin_temperature(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    n, eps = _n_eps(p, 1)
    tau = rational(p["tau"])
    said = [f"instance n={n}, eps={eps}: e^-tau <= eps/n at tau = {tau}"]
    _range(rule == "exponential" and tau > 0 and whole(witness["terms"]) >= 1, "the rule, tau or the terms")
    tau = min(tau, Fraction(10**4))  # e^(10^4) is beyond every bound that can be written
    power = CONTEXT.exp(CONTEXT.divide(Decimal(tau.numerator), Decimal(tau.denominator)))
    reached = CONTEXT.multiply(power, Decimal(eps.numerator)) >= CONTEXT.multiply(Decimal(n), Decimal(eps.denominator))
    return "" if reached else "e^tau is smaller", said


def typed_family(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, weight, s = (whole(p[name]) for name in ("M", "weight", "s"))
    family = sets(p["words"])
    _range(rule == "typed-family" and witness == {} and 1 <= weight <= m and s >= 1, "the rule, M, weight or s")
    said = [f"instance M={m}, s={s}: the typed family of {len(family)} words", f"{s + 1}^{len(family)} assignments"]
    fault = unlike(family, m, weight, 1)
    if fault or len(set(family)) != len(family) or not family:
        return fault or "no words, or a word twice", said
    levels = range(s + 1)
    queries = [
        {"query"} | {("set", i) for i in range(m) if i not in word} | {("level", k) for k in range(s)}
        for word in family
    ]
    slots = [
        [{"database"} | {("set", i) for i in word} | {("level", k) for k in range(level)} for level in levels]
        for word in family
    ]
    # The target of query i is the level of its own slot whatever else is there (>= s would do; the paper has > s).
    for i, query in enumerate(queries):
        own = [len(query & slot) for slot in slots[i]]
        rest = [len(query & other) for other in queries]
        rest += [len(query & slot) for j, row in enumerate(slots) if j != i for slot in row]
        if own != list(levels) or min(rest) <= s:
            return f"query {i} has other overlaps", said
    return "", said


def transcript_bound(p: dict[str, Any], rule: str, witness: dict[str, Any], used: Any) -> Finding:
    m, s, q, bits = (whole(p[name]) for name in ("M", "s", "q", "bits"))
    _range(rule == "transcript" and min(m, s, q, bits) >= 1, "the rule or a number")
    length, _, distance, size = _code(used["code"])
    said = [
        f"instance M={m}, s={s}, q={q}: ",
        f"length {2 * q} over {{0,1}}^{m + s + 2}",
        f">= {q} log2({s + 1}) > {bits - 1};",
        f"p >= {bits}",
    ]
    if length != m or distance <= s or size < q:
        return "the code is about something else", said
    if bits > 10**6:
        return "more bits than any certificate here has", said
    if witness:  # 2^exponent <= (s+1)^power, by logarithms to 80 digits
        power, exponent = whole(witness["power"]), whole(witness["exponent"])
        _range(set(witness) == {"power", "exponent"} and min(power, exponent) >= 1, "the power or the exponent")
        if not (
            power * CONTEXT.ln(s + 1) >= exponent * CONTEXT.ln(2) * (1 - Decimal(10) ** -70)
            and (bits - 1) * power < q * exponent
        ):
            return "the logarithm does not show it", said
    return "" if q <= 10**5 and (s + 1) ** q > 2 ** (bits - 1) else "more bits than are forced", said


Oracle = Callable[[dict[str, Any], str, dict[str, Any], Any], Finding]

ORACLES: dict[str, tuple[Oracle, tuple[str, ...]]] = {
    "gap-domination": (gap_domination, ()),
    "gap-domination-symbolic": (gap_domination_symbolic, ()),
    "gap-tightness": (gap_tightness, ()),
    "gap-countermodel": (gap_countermodel, ()),
    "positional-domination": (positional, ()),
    "positional-domination-symbolic": (positional_symbolic, ()),
    **{claim: (by_cases(claim), ()) for claim in CASES},
    "phase-transition": (by_cases("phase-transition"), ("approximate-identity", "gap-domination-symbolic")),
    "chain-tight": (chain_tight, ("domination-sufficient",)),
    "softmin-temperature": (softmin_temperature, ("softmin",)),
    "softmin-head": (softmin_head, ()),
    "softmin-rank": (softmin_rank, ()),
    "uniform-head": (uniform_head, ()),
    "code": (code, ()),
    "chain": (chain, ("gap-domination-symbolic",)),
    "matrix-rank": (matrix_rank, ()),
    "feature-rank": (feature_rank, ("approximate-identity",)),
    "lower-exponent": (bounds_oracle.lower_exponent, ("approximate-identity", "gap-domination-symbolic")),
    "upper-exponent": (bounds_oracle.upper_exponent, ("domination-sufficient",)),
    "head-exists": (bounds_oracle.head_exists, ("domination-sufficient",)),
    "growing-context": (growing_context, ("feature-rank",)),
    "typed-family": (typed_family, ()),
    "transcript-bound": (transcript_bound, ("code",)),
    "multilevel-code": (multilevel_code, ("code",)),
    **heads_oracle.ORACLES,
    **sketch_oracle.ORACLES,
}

# What a rule rests on beside its claim, and what it takes on trust.
RULE_NEEDS: dict[str, tuple[str, ...]] = {
    "amplification": ("chain", "code"),
    "layer": ("gap-domination-symbolic",),
    "family": ("gap-domination-symbolic",),
    "graham-sloane": ("gap-domination-symbolic",),
    "shattered": ("gap-domination-symbolic",),
    "topological": ("gap-domination-symbolic",),
    "unsat-lrat": ("gap-domination-symbolic",),
    "class-head": ("softmin",),
}
THEOREMS = {
    "topological": "the Borsuk-Ulam theorem",
    "sampled": "Bernstein's inequality",
    "upper-exponent": "Bernstein's inequality",
}


def theorems(fields: dict[str, Any], known: Known) -> set[str]:
    """The theorems of mathematics that a certificate takes on trust, at any remove."""
    found = {THEOREMS[fields["rule"]]} if fields["rule"] in THEOREMS else set()
    below = [known[item["id"]] for item in fields["uses"] if known.get(item["id"])]
    return found.union(*(theorems(other, known) for other in below if other is not None))


def unsupplied(fields: dict[str, Any], known: Known) -> list[tuple[str, str]]:
    """(id, claim) of what a certificate rests on and what is not known: this must be reported as assumed."""
    return [(item["id"], item["claim"]) for item in fields["uses"] if item["id"] not in known]


def falsity(fields: dict[str, Any], sentence: str, known: Known) -> str:
    """Why an accepted certificate is false, misreported or unreadable; empty if nothing is wrong with it."""
    try:
        return _falsity(fields, sentence, known)
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError) as error:
        return f"the oracle cannot read it: {error!r}"


def _falsity(fields: dict[str, Any], sentence: str, known: Known) -> str:
    if fields["format"] != "proofcheck/1":
        return "another format"
    oracle, needs = ORACLES[fields["claim"]]
    needs += RULE_NEEDS.get(fields["rule"], ())
    used = {item["claim"]: item["parameters"] for item in fields["uses"]}
    if sorted(used) != sorted(needs) or len(fields["uses"]) != len(needs):
        return "it rests on too little or too much"
    for item in fields["uses"]:
        if item["id"] in known:
            other = known[item["id"]]
            if other is None or (other["claim"], other["parameters"]) != (item["claim"], item["parameters"]):
                return f"what it says of the certificate {item['id'][:12]} is not so"
    fault, said = oracle(fields["parameters"], fields["rule"], fields["witness"], used)
    return fault or next((f"the sentence hides {part!r}" for part in said if part not in sentence), "")
