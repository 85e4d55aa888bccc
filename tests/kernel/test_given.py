"""Rules about given heads against the definition, sequence by sequence, and against every readout there is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import pytest

from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import positive
from proofcheck.kernel.exact import Malformed, OverBudget, Poly, Rejected
from proofcheck.kernel.minip import Head, correct_at, correct_at_length, correct_up_to, overlap, target
from proofcheck.kernel.rules import apply
from proofcheck.solvers import z3_solver
from proofcheck.solvers.query import Query
from tests.kernel.building import spell

HALF = Fraction(1, 2)
EPSILONS = [HALF, Fraction(1, 3), Fraction(1, 4)]
SIZES = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3)]


def holds(claim: str, parameters: dict[str, Any], rule: str) -> bool:
    """Whether the kernel's rule accepts the claim."""
    try:
        return bool(apply(rule, statement(claim, spell(parameters)), {}, {}))
    except Rejected:
        return False


# ------------------------------------------------------------------------------------- whole heads (separable)


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]


def near_correct(random: Random, m: int, n: int, eps: Fraction) -> dict[str, Any]:
    """A table head that is correct or nearly so: the softmin kernel, g near the overlap, entries of both nudged."""
    size, base = 1 << m, random.choice([4, 6, 8, 12])
    keys = [[base ** (m - overlap(x, z)) for x in range(size)] for z in range(size)]
    g = [[Fraction(overlap(x, z)) for z in range(size)] for x in range(size)]
    for _ in range(random.choice([0, 1, 1, 2, 4])):
        x, z = random.randrange(size), random.randrange(size)
        g[x][z] += random.choice([-1, 1]) * random.choice([eps, eps / 2, eps * 3 / 4, eps / 5, 1])
        if random.random() < 0.4:
            keys[random.randrange(size)][x] = random.choice([0, 0, 1, 2, 5, base])
    offsets = [Fraction(random.choice([0, 0, 0, 1, 2]), random.choice([1, 2])) for _ in range(size)]
    return {
        "m": m,
        "n": n,
        "eps": eps,
        "additive": random.choice([Fraction(0), Fraction(0), Fraction(1, 10), Fraction(1)]),
        "queries": identity(size),
        "keys": keys,
        "values": identity(size),
        "weights": [[g[x][z] - offsets[x] for z in range(size)] for x in range(size)],
        "offsets": offsets,
    }


def as_head(p: dict[str, Any]) -> Head:
    def alpha(x: int, z: int) -> Fraction:
        return Fraction(sum(a * b for a, b in zip(p["queries"][x], p["keys"][z], strict=True)))

    def g(x: int, z: int) -> Fraction:
        return p["offsets"][x] + sum(a * b for a, b in zip(p["weights"][x], p["values"][z], strict=True))

    return Head(p["m"], alpha, g, p["additive"], lambda x: p["offsets"][x])


def by_the_definition(head: Head, n: int, eps: Fraction, exact: bool) -> bool:
    return correct_at_length(head, n, eps) if exact else correct_up_to(head, n, eps)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_separable_maxima_are_the_definition(m: int, n: int) -> None:
    """Accepted exactly if the definition finds no failing sequence, on heads near the boundary."""
    random, answers = Random(m * 10 + n), set()
    for _ in range(100 if m < 3 else 20 if n < 3 else 6):
        p = near_correct(random, m, n, random.choice(EPSILONS))
        for lengths in ("exactly", "up-to"):
            expected = by_the_definition(as_head(p), n, p["eps"], lengths == "exactly")
            assert holds("exhaustive-head", {**p, "lengths": lengths}, "separable") is expected, (lengths, p)
            answers.add(expected)
    assert answers == {True, False}


@pytest.mark.parametrize(("m", "n"), [(2, 3), (2, 4), (3, 3)])
def test_head_that_fails_on_one_multiset(m: int, n: int) -> None:
    """One table entry moved to the point where just one multiset of tokens reaches eps: refused, and accepted just
    before. The multiset is found by the definition."""
    random = Random(m + n)
    for _ in range(6 if m == 2 else 2):
        p, broken = one_failure(random, m, n)
        fails = {(s[i], tuple(sorted(s))) for s in product(range(1 << m), repeat=n) for i in range(n) if bad(p, s, i)}
        assert fails == {broken}
        assert not holds("exhaustive-head", {**p, "lengths": "exactly"}, "separable")
        assert not holds("exhaustive-head", {**p, "lengths": "up-to"}, "separable")


def bad(p: dict[str, Any], sequence: tuple[int, ...], i: int) -> bool:
    return not correct_at(as_head(p), sequence, i, p["eps"])


def one_failure(random: Random, m: int, n: int) -> tuple[dict[str, Any], tuple[int, tuple[int, ...]]]:
    """A correct head with generic numbers, one g(x,z) of which is raised or lowered until exactly one multiset that
    holds x has an error of eps, and no other has more."""
    size = 1 << m
    keys = [[6 * 10 ** (m - overlap(x, z)) * 1000 + random.randrange(1000) for x in range(size)] for z in range(size)]
    g = [[overlap(x, z) + Fraction(random.randrange(-99, 100), 10_007) for z in range(size)] for x in range(size)]
    p = {"m": m, "n": n, "eps": HALF, "additive": Fraction(0), "queries": identity(size), "keys": keys}
    p |= {"values": identity(size), "weights": g, "offsets": [Fraction(0)] * size}
    x, z, sign = random.randrange(size), random.randrange(size), random.choice([-1, 1])
    head, reach = as_head(p), []
    for others in product(range(size), repeat=n - 1):
        s = (x, *others)
        if list(others) == sorted(others) and z in s:
            weight = sum(head.alpha(x, u) for u in s)
            error = sum(head.alpha(x, u) * g[x][u] for u in s) / weight - target(s, 0)
            reach.append(((HALF - sign * error) * weight / (s.count(z) * head.alpha(x, z)), tuple(sorted(s))))
    reach.sort()
    g[x][z] += sign * reach[0][0]
    assert reach[0][0] > 0
    assert reach[1][0] > reach[0][0]
    return p, (x, reach[0][1])


# ------------------------------------------------------------------------------ kernels alone (levels, violation)


def rows_with_a_constant(random: Random, m: int, n: int, eps: Fraction, c: Fraction) -> list[list[int]]:
    """A kernel near the boundary of B0 with own terms alpha(x,x) + c, in integers."""
    size = 1 << m
    kernel = []
    for x in range(size):
        h, row, unit = x.bit_count(), {x: random.randint(0 if c else 1, 9)}, Fraction(1)
        own = row[x] + c
        for level in range(h, -1, -1):
            above = [(overlap(x, z), a) for z, a in row.items() if overlap(x, z) > level]
            tight = [
                ((n - 2) * (u - level - 2 * eps) * a + (Fraction((n - 2) * (u - level), n - 1) - 2 * eps) * own)
                / (2 * eps)
                for u, a in above
            ]
            for z in range(size):
                if overlap(x, z) == level and z not in row:
                    least = max([Fraction(0), *tight]) // unit + 1
                    nudge = random.choice([0, 0, 0, 0, 0, 1, 3] if random.random() < 0.97 else [-1, -2])
                    row[z] = random.randint(0, 9) if level == h else max(0, int(least) + nudge)
        kernel.append([row[z] for z in range(size)])
    return kernel


def readable(
    kernel_row: dict[int, Fraction], x: int, n: int, eps: Fraction, c: Fraction, lengths: Iterable[int]
) -> bool:
    """Whether some readout of the row is correct on all sequences of these lengths that hold x: Z3 decides all of them
    at once. The unknowns are P_x + c offset (the query's own place) and P_z for every token z; further copies of x have
    P_x, which is the first unknown where c = 0."""
    conditions = {}
    for others in (others for k in lengths for others in combinations_with_replacement(kernel_row, k - 1)):
        t = min([x.bit_count(), *(overlap(x, z) for z in others)])
        weight = kernel_row[x] + c + sum(kernel_row[z] for z in others)
        if weight == 0:
            return False
        names = [f"P{z}" if z != x or c else "own" for z in others if kernel_row[z]]
        total = Poly.of([(1, (name,)) for name in (["own"] if kernel_row[x] + c else []) + names])
        conditions[f"{others}.low"] = positive(total - (t - eps) * weight)
        conditions[f"{others}.high"] = positive((t + eps) * weight - total)
    return z3_solver.solve(Query("all", conditions, "sat"), 60).status == "sat"


def transposed(kernel: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*kernel, strict=True)]


@pytest.mark.parametrize("c", [Fraction(0), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize(("m", "n"), [(2, 3), (2, 4), (2, 5), (3, 3)])
def test_levels_and_violations_against_linear_programming(m: int, n: int, c: Fraction) -> None:
    """`levels` accepts exactly the kernels with a readout; where a row has none, `violation` accepts some triple; where
    it has one, no triple."""
    random, answers = Random(f"{m} {n} {c}"), set()
    for _ in range(20 if m == 2 else 4):
        eps = random.choice(EPSILONS)
        kernel = rows_with_a_constant(random, m, n, eps, c)
        rows = [{z: Fraction(a) for z, a in enumerate(row)} for row in kernel]
        fine = [readable(row, x, n, eps, c, range(1, n + 1)) for x, row in enumerate(rows)]
        p = {"m": m, "n": n, "eps": eps, "additive": c, "queries": identity(1 << m), "keys": transposed(kernel)}
        assert holds("kernel-correct", p, "levels") is all(fine), (p, fine)
        for x, good in enumerate(fine):
            assert any(refutations(m, n, eps, c, kernel, x, "up-to")) is not good, (p, x)
            answers.add(good)
    assert answers == {True, False}


def refutations(
    m: int, n: int, eps: Fraction, c: Fraction, kernel: list[list[int]], x: int, lengths: str
) -> Iterator[tuple[int, int]]:
    """The pairs (y, z) with which the kernel refutes the row of x."""
    for y, z in product(range(1 << m), repeat=2):
        values = {"xx": kernel[x][x], "xy": kernel[x][y], "xz": kernel[x][z]}
        p = {"m": m, "n": n, "eps": eps, "lengths": lengths, "additive": c, "kernel": values}
        if holds(
            "kernel-refutation", {**p, **{k: f"{v:x}" for k, v in zip("xyz", (x, y, z), strict=True)}}, "violation"
        ):
            yield y, z


def test_refutations_at_exact_length_are_sound() -> None:
    """No triple that the kernel accepts for length exactly n, with a constant or without, has a readout there."""
    random, found, refused = Random(5), 0, 0
    for _ in range(400):
        m, n, eps = 3, random.choice([3, 3, 4, 5]), random.choice(EPSILONS)
        c = random.choice([Fraction(0), Fraction(1, 2), Fraction(2)])
        x = random.randrange(1, 1 << m)
        z = random.choice([x, random.randrange(1 << m)])
        y = random.randrange(1 << m)
        if overlap(x, y) >= overlap(x, z):
            continue
        values = {"xx": Fraction(random.randint(0, 4)), "xy": Fraction(random.choice([0, 0, 1, 2, 3, 5, 8, 12]), 2)}
        values["xz"] = values["xx"] if z == x else Fraction(random.randint(0, 4))
        p = {"m": m, "n": n, "eps": eps, "lengths": "exactly", "additive": c, "kernel": values}
        p |= {name: f"{token:x}" for name, token in zip("xyz", (x, y, z), strict=True)}
        if holds("kernel-refutation", p, "violation"):
            row = {x: values["xx"], y: values["xy"], z: values["xz"]}
            assert not readable(row, x, n, eps, c, [n]), p
            found += 1
        else:
            refused += 1
    assert found > 50
    assert refused > 30


def test_a_vanishing_value_is_no_failure_at_exact_length_with_a_constant() -> None:
    """With c = 1 and alpha(x,y) = 0 a head is correct at length exactly 3 on x = {0}, y = {}: nothing to refute there;
    at lengths 1..3 the outputs on (x) and (x,y) are equal."""
    alpha, g = {1: Fraction(1), 0: Fraction(0)}, {1: Fraction(1), 0: Fraction(0)}
    head = Head(1, lambda x, z: alpha[z], lambda x, z: g[z], Fraction(1), lambda x: Fraction(-3, 5))
    assert all(correct_at(head, (1, *others), 0, HALF) for others in product((0, 1), repeat=2))
    assert not correct_at(head, (1,), 0, HALF)
    p = {
        "m": 1,
        "n": 3,
        "eps": HALF,
        "additive": 1,
        "kernel": {"xx": 1, "xy": 0, "xz": 1},
        "x": "1",
        "y": "0",
        "z": "1",
    }
    assert not holds("kernel-refutation", {**p, "lengths": "exactly"}, "violation")
    assert holds("kernel-refutation", {**p, "lengths": "up-to"}, "violation")
    assert holds("kernel-refutation", {**p, "additive": 0, "lengths": "exactly"}, "violation")


# --------------------------------------------------------------------------------------- evaluation


def test_evaluation_is_the_definition() -> None:
    """A counterexample is accepted exactly if the definition finds the head wrong at that place."""
    random, answers = Random(7), set()
    for _ in range(300):
        m, n, eps = 3, random.randint(1, 4), random.choice(EPSILONS)
        pool = [random.randrange(8) for _ in range(3)]
        sequence = [random.choice(pool) for _ in range(n)]
        i, c, offset = random.randrange(n), Fraction(random.randint(0, 2), 3), Fraction(random.randint(-2, 2))
        alpha = {z: Fraction(random.randint(0, 4), random.randint(1, 3)) for z in pool}
        g = {z: overlap(sequence[i], z) + Fraction(random.randint(-3, 3), 4) for z in pool}
        head = Head(m, lambda x, z, a=alpha: a[z], lambda x, z, b=g: b[z], c, lambda x, o=offset: o)
        expected = not correct_at(head, sequence, i, eps)
        p = {"m": m, "eps": eps, "sequence": [f"{z:x}" for z in sequence], "position": i, "additive": c}
        p |= {"offset": offset, "alpha": [alpha[z] for z in sequence], "g": [g[z] for z in sequence]}
        assert holds("head-counterexample", p, "evaluation") is expected
        answers.add(expected)
    assert answers == {True, False}


# --------------------------------------------------------------------------------------- budgets


def wide(m: int, rank: int, feature: int, g: Any, dv: int) -> dict[str, Any]:
    size = 1 << m
    tables = {"queries": [[feature] * rank] * size, "keys": [[feature] * rank] * size}
    tables |= {"values": [[g] * dv] * size, "weights": [[g] * dv] * size, "offsets": [g] * size}
    return {"m": m, "n": 3, "eps": "1/2", "lengths": "exactly", "additive": 0, **tables}


@pytest.mark.parametrize(
    "parameters",
    [wide(10, 150, 1, 1, 1), wide(10, 1, 1, 1, 150), wide(8, 20, 2**255, f"1/{10**998 + 1}", 100)],
    ids=["features", "values", "digits"],
)
def test_large_tables_are_over_budget(parameters: dict[str, Any]) -> None:
    """Refused before the work begins."""
    claim = statement("exhaustive-head", parameters)
    start = time.perf_counter()
    with pytest.raises(OverBudget):
        apply("separable", claim, {}, {})
    assert time.perf_counter() - start < 5


def test_features_of_a_refutation_within_budgets() -> None:
    """r = 16,384 features are read and multiplied quickly; a shift beyond the budget is malformed."""
    row = list(range(16_384))
    p = {"m": 4, "n": 3, "eps": "1/2", "lengths": "exactly", "additive": 0, "x": "f", "y": "0", "z": "7"}
    given = {"query": row, "keys": {"x": row, "y": row, "z": row}, "shift": 30}
    assert holds("kernel-refutation", {**p, "features": given}, "violation")
    with pytest.raises(Malformed, match="shift"):
        statement("kernel-refutation", {**p, "features": {**given, "shift": 14_001}})
