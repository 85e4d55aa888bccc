"""Independent truth about given kernels and heads: literal sequences, Z3-free, from shared/mathematics.md (B0, B7).

A refutation is checked by eliminating the unknowns by hand on the three inputs, a counterexample and a small whole task
by evaluating sequences one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

Finding = tuple[str, list[str]]
HALF = Fraction(1, 2)


def rational(value: Any) -> Fraction:
    if type(value) is int:
        return Fraction(value)
    numerator, denominator = value.split("/")
    return Fraction(int(numerator), int(denominator))


def whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no integer")
    return value


def members(token: str | int) -> frozenset[int]:
    digits = token if isinstance(token, str) else f"{token:x}"
    return frozenset(i for i, bit in enumerate(f"{int(digits, 16):b}"[::-1]) if bit == "1")


def ranges(p: dict[str, Any], rule: str, expected: str, witness: Any) -> tuple[int, Fraction]:
    m, eps = whole(p["m"]), rational(p["eps"])
    if rule != expected or witness != {} or not 0 < eps <= HALF or m < 1 or rational(p.get("additive", 0)) < 0:
        raise ValueError("the rule, the witness, m, eps or the constant")
    return m, eps


def kernel_refutation(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    """One of the systems on Y, Z, M (and (x,..,x), or (x) and (x,y)) has no solution. With N_S = sum of P over S and
    D_S its weight: N_M - N_Y/L - (K/L) N_Z = 0 identically, so the bounds on the three must leave room for 0."""
    m, eps = ranges(p, rule, "violation", witness)
    n, c, (x, y, z) = whole(p["n"]), rational(p["additive"]), (members(p[name]) for name in "xyz")
    if "features" in p:
        f = p["features"]
        values = [
            Fraction(sum(a * b for a, b in zip(f["query"], f["keys"][k], strict=True)), 2 ** f["shift"]) for k in "xyz"
        ]
    else:
        values = [rational(p["kernel"][name]) for name in ("xx", "xy", "xz")]
    s, b, a = values
    exactly = p["lengths"] == "exactly"
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"of length {'exactly ' if exactly else '1..'}{n} over x, y, z"]
    said.append(f"whose overlaps with x are {len(x)}, {len(x & y)}, {len(x & z)}")
    if n < 3 or p["lengths"] not in ("exactly", "up-to") or max(map(max, (u or {0} for u in (x, y, z)))) >= m:
        return "n, the lengths or a token", said
    if min(values) < 0 or (x == z and s != a) or (x == y and s != b):
        return "a negative value, or two for one token", said
    if s + c == 0:
        return "", said
    t, u = len(x & y), len(x & z)
    if t >= u:
        return "the overlaps", said
    outputs_agree = b == 0 and (c == 0 or a == 0 or not exactly)
    # 0 = N_M - N_Y/L - (K/L) N_Z < eps D_M + eps D_Y/L - (K/L) (d - eps) D_Z, targets shifted by t
    length, k, d = n - 1, n - 2, u - t
    room = (
        eps * (s + c + b + k * a)
        + eps * (s + c + length * b) / length
        - Fraction(k, length) * (d - eps) * (s + c + length * a)
    )
    return ("" if outputs_agree or room <= 0 else "the three inputs leave room"), said


def output(
    x: int,
    s: Sequence[int],
    alpha: Callable[[int], Fraction],
    g: Callable[[int], Fraction],
    c: Fraction,
    offset: Fraction,
) -> Fraction | None:
    weight = c + sum((alpha(z) for z in s), Fraction(0))
    total = c * offset + sum((alpha(z) * g(z) for z in s), Fraction(0))
    return total / weight if weight else None


def head_counterexample(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    m, eps = ranges(p, rule, "evaluation", witness)
    sets, i = [members(token) for token in p["sequence"]], whole(p["position"])
    alphas, gs = [rational(q) for q in p["alpha"]], [rational(q) for q in p["g"]]
    said = [f"instance m={m}, eps={eps}: ", f"at place {i} of this sequence of {len(sets)} tokens"]
    same = all(
        (alphas[j], gs[j]) == (alphas[k], gs[k]) for j in range(len(sets)) for k in range(j) if sets[j] == sets[k]
    )
    if not same or min(alphas) < 0 or len(alphas) != len(sets) or len(gs) != len(sets) or not 0 <= i < len(sets):
        return "no head has these values", said
    if any(max(token or {0}) >= m for token in sets):
        return "a token is too long", said
    value = output(
        0, range(len(sets)), alphas.__getitem__, gs.__getitem__, rational(p["additive"]), rational(p["offset"])
    )
    target = min(len(sets[i] & token) for token in sets)
    return ("" if value is None or abs(value - target) >= eps else "the head is correct there"), said


def tables(p: dict[str, Any], m: int) -> list[list[Fraction]]:
    if len(p["queries"]) != 2**m or len(p["keys"]) != 2**m:
        raise ValueError("the number of rows")
    return [
        [sum((Fraction(whole(a) * whole(b)) for a, b in zip(q, k, strict=True)), Fraction(0)) for k in p["keys"]]
        for q in p["queries"]
    ]


def kernel_correct(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    """(i) and (ii) as mathematics.md prints them, for every pair of tokens."""
    m, eps = ranges(p, rule, "levels", witness)
    n, c, alpha = whole(p["n"]), rational(p["additive"]), tables(p, m)
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"of length 1..{n} over {{0,1}}^{m}", f"{p['additive']} added"]
    cube = [members(z) for z in range(2**m)]
    for x, query in enumerate(cube):
        own, row = alpha[x][x] + c, [(len(query & key), alpha[x][z]) for z, key in enumerate(cube)]
        if own <= 0 or any(a < 0 or (a == 0 and level < len(query)) for level, a in row):
            return f"(i) at query {x}", said
        for t, b in row:
            for u, a in row:
                if (
                    u > t
                    and 2 * eps * b
                    <= (n - 2) * (u - t - 2 * eps) * a + (Fraction((n - 2) * (u - t), n - 1) - 2 * eps) * own
                ):
                    return f"(ii) at query {x}", said
    return ("" if n >= 3 else "n"), said


def exhaustive_head(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    """Small tasks sequence by sequence; long ones at the multisets of one y and copies of one z, and of two kinds."""
    m, eps = ranges(p, rule, "separable", witness)
    n, c, alpha = whole(p["n"]), rational(p["additive"]), tables(p, m)
    exactly = p["lengths"] == "exactly"
    said = [f"instance m={m}, n={n}, eps={eps}: ", f"length {'exactly ' if exactly else '1..'}{n} over {{0,1}}^{m}"]
    weights, values = ([[rational(q) for q in row] for row in p[name]] for name in ("weights", "values"))
    offsets = [rational(q) for q in p["offsets"]]
    if {len(weights), len(values), len(offsets)} != {2**m} or n < 1 or p["lengths"] not in ("exactly", "up-to"):
        return "the tables, n or the lengths", said
    cube = [members(z) for z in range(2**m)]
    for x, query in enumerate(cube):
        g = [offsets[x] + sum((a * b for a, b in zip(weights[x], v, strict=True)), Fraction(0)) for v in values]
        if min(alpha[x]) < 0:
            return "a negative kernel value", said
        for others in others_of(2**m, n, exactly):
            value = output(x, (x, *others), alpha[x].__getitem__, g.__getitem__, c, offsets[x])
            target = min([len(query), *(len(query & cube[z]) for z in others)])
            if value is None or abs(value - target) >= eps:
                return f"the head fails at query {x}", said
    return "", said


def others_of(size: int, n: int, exactly: bool) -> list[tuple[int, ...]]:
    lengths = [n - 1] if exactly else range(n)
    if n <= 4:
        return [others for k in lengths for others in combinations_with_replacement(range(size), k)]
    ends = [n - 1] if exactly else [0, 1, 2, n - 2, n - 1]
    return [(y, *(z,) * (k - 1)) for k in ends if k for y in range(size) for z in range(size)] + (
        [] if exactly else [()]
    )


def readout_refutation(p: dict[str, Any], rule: str, witness: Any, used: Any) -> Finding:
    """Positive weights on the inputs, under which the averages of (v, 1) cancel and the bounds leave no room: with
    weight q on an input of denominator D, side s = 1 (below) or -1, s (w.vbar + b - t) < eps for each would give
    0 = sum q D s (w.vbar + b) < sum q D (eps + s t) <= 0."""
    m, eps = whole(p["m"]), rational(p["eps"])
    n, c = whole(p["n"]), rational(p["additive"])
    tokens, alpha = [members(token) for token in p["tokens"]], [rational(q) for q in p["alpha"]]
    values = [[*(rational(q) for q in row), Fraction(1)] for row in p["values"]]
    inputs = f"on one of the {len(p['inputs'])} inputs of the parameters, of length at most {n},"
    said = [f"instance m={m}, n={n}, eps={eps}: ", inputs]
    if rule != "farkas" or not 0 < eps <= HALF or c < 0 or min(alpha) < 0 or len(set(tokens)) != len(tokens):
        return "the rule, eps, the constant, a kernel value or a token", said
    if not len(tokens) == len(alpha) == len(values) or any(max(token or {0}) >= m for token in tokens):
        return "the tables, or a token is too long", said
    names = [*map(str, range(len(p["inputs"]) - 1)), "negated-conclusion"]
    weights = {name: rational(q) for name, q in witness["multipliers"].items()}
    if min(weights.values()) <= 0 or not set(weights) <= set(names):
        return "the multipliers", said
    room, sums = Fraction(0), [Fraction(0)] * len(values[0])
    point = witness["model"]
    if not set(point) <= {f"w{d}" for d in range(len(sums) - 1)} | {"b"}:
        return "a name in the model", said
    model = [rational(point.get(f"w{d}", 0)) for d in range(len(sums) - 1)] + [rational(point.get("b", 0))]
    for name, given in zip(names, p["inputs"], strict=True):
        sequence = [0, *(j for j, k in enumerate(given["counts"]) for _ in range(whole(k)))]
        if len(sequence) > n or len(given["counts"]) != len(tokens) or given["side"] not in ("above", "below"):
            return "an input", said
        side = 1 if given["side"] == "below" else -1
        total = c + sum(alpha[j] for j in sequence)
        target = min(len(tokens[0] & tokens[j]) for j in sequence)
        q = weights.get(name, Fraction(0))
        average = [sum((alpha[j] * values[j][d] for j in sequence), Fraction(0)) for d in range(len(sums))]
        average[-1] += c
        sums = [old + q * side * a for old, a in zip(sums, average, strict=True)]
        room += q * total * (eps + side * target)
        at_model = sum((a * x for a, x in zip(average, model, strict=True)), Fraction(0))
        if name != names[-1] and side * (at_model - target * total) >= eps * total:
            return "the model", said
        if total == 0:
            return "a zero denominator", said
    return ("" if not any(sums) and room <= 0 else "some readout may be correct"), said


ORACLES: dict[str, tuple[Callable[..., Finding], tuple[str, ...]]] = {
    "kernel-refutation": (kernel_refutation, ("domination-necessary",)),
    "head-counterexample": (head_counterexample, ()),
    "kernel-correct": (kernel_correct, ("domination-sufficient",)),
    "exhaustive-head": (exhaustive_head, ()),
    "readout-refutation": (readout_refutation, ()),
}
