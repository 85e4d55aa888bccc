"""The statements of claims/ say what the definition says, and the rules accept exactly what shows them."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofcheck.kernel.claims import CLAIMS, statement
from proofcheck.kernel.claims.forms import NEGATED, Existential, Row, Universal, refutable
from proofcheck.kernel.exact import Malformed, Poly, Rejected, as_poly, spelled
from proofcheck.kernel.minip import Head, correct_at, overlap
from proofcheck.kernel.rules import RULES, apply
from proofcheck.kernel.rules.algebra import farkas, model, polynomial_identity
from tests.kernel import lemma3_tables, make_tables, oracle

HALF = Fraction(1, 2)
EPSILONS = [HALF, Fraction(1, 3), Fraction(1, 4), Fraction(2, 7)]
EXTRAS = {"a", "b", "c", "c.positive", "near-factor", "at-most-factor"}


def existential(n: int, d: int, eps: Fraction, inputs: str) -> Existential:
    """The claim of existence for these parameters, above or below the least admissible gap."""
    admissible = (n - 2) * d >= 2 * eps * (n - 1)
    name, bound = ("gap-tightness", "delta") if admissible else ("gap-countermodel", "factor")
    return statement(name, {"n": n, "d": d, "eps": spelled(eps), bound: 1, "inputs": inputs})


def meets(row: Row, point: dict[str, Fraction]) -> bool:
    """Whether the kernel finds the condition to hold at a point given by fractions."""
    denominator = math.lcm(*(q.denominator for q in point.values()))
    return row.holds({name: int(q * denominator) for name, q in point.items()}, denominator)


def value(row: Row, point: dict[str, Fraction]) -> Fraction:
    """Oracle: the left side of the condition as the obvious sum of products."""
    parts = row.poly.terms.items()
    return sum((q * math.prod(point[name] for name in monomial) for monomial, q in parts), Fraction(0))


def inputs_of(rows: dict[str, Row]) -> set[str]:
    return {name.split(".")[0] for name in rows if name not in EXTRAS} - {"near-factor"}


# ------------------------------------------------------------- rows against the definition of correctness

weights = st.sampled_from([Fraction(k, 4) for k in (0, 1, 2, 3, 4, 6, 9, 16)])
shifts = st.fractions(-1, 1, max_denominator=8)


@st.composite
def concrete(draw: st.DrawFn, full_query: bool) -> tuple[int, int, int, Head, dict[str, Fraction], int]:
    """Tokens x, y, z with <x,y> < <x,z>, a head near the right one, its point (a,b,c,p,q,s), and d.

    `full_query`: <x,x> = <x,z>, as the claims on all sequences over {x,y,z} take it.
    """
    m = 4
    x = draw(st.integers(1, 15))
    y = draw(st.integers(0, 15).filter(lambda token: overlap(x, token) < x.bit_count()))
    t = overlap(x, y)
    z = draw(
        st.integers(0, 15).filter(
            lambda token: (
                overlap(x, token) > t and token not in (x, y) and (not full_query or overlap(x, token) == x.bit_count())
            )
        )
    )
    d = overlap(x, z) - t
    alpha = {token: draw(weights) for token in (x, y, z)}
    level = {x: x.bit_count() if full_query else overlap(x, z), y: t, z: overlap(x, z)}
    g = {token: level[token] + draw(shifts) - draw(st.sampled_from([0, 1, 2])) for token in (x, y, z)}
    point = dict(zip("abc", (alpha[u] for u in (x, y, z)), strict=True))
    point |= dict(zip("pqs", (Fraction(g[u] - t) for u in (x, y, z)), strict=True))
    head = Head(m, lambda q, token: alpha[token], lambda q, token: Fraction(g[token]))
    return x, y, z, head, point, d


def holds(rows: dict[str, Row], prefix: str, point: dict[str, Fraction]) -> bool:
    parts = [row for name, row in rows.items() if name.startswith(f"{prefix}.")]
    assert len(parts) == 3
    return all(meets(row, point) for row in parts)


@settings(max_examples=300)
@given(concrete(full_query=False), st.integers(3, 6), st.sampled_from(EPSILONS))
def test_rows_of_y_z_m_are_correctness(case: Any, n: int, eps: Fraction) -> None:
    """The three rows of an input hold at a concrete head's point if and only if the head is correct on that input."""
    x, y, z, head, point, d = case
    rows = existential(n, d, eps, "YZM").rows
    assert inputs_of(rows) == {"Y", "Z", "M"}
    for name, sequence in (
        ("Y", [x] + [y] * (n - 1)),
        ("Z", [x] + [z] * (n - 1)),
        ("M", [x, y] + [z] * (n - 2)),
    ):
        assert holds(rows, name, point) is correct_at(head, sequence, 0, eps), name


@settings(max_examples=150)
@given(concrete(full_query=True), st.integers(3, 5), st.sampled_from(EPSILONS))
def test_rows_of_all_inputs_are_correctness(case: Any, n: int, eps: Fraction) -> None:
    """With <x,x> = <x,z>: the rows of each sequence over {x,y,z} hold exactly if the head is correct on it."""
    x, y, z, head, point, d = case
    rows = existential(n, d, eps, "xyz").rows
    expected = {f"x{n - j - k}y{j}z{k}" for j in range(n) for k in range(n - j)}
    assert inputs_of(rows) == expected
    assert len(expected) == n * (n + 1) // 2
    for name in expected:
        i, j, k = (int(part) for part in name.replace("x", "").replace("y", " ").replace("z", " ").split())
        assert i + j + k == n
        assert i >= 1
        assert holds(rows, name, point) is correct_at(head, [x] * i + [y] * j + [z] * k, 0, eps), name


def witnesses() -> list[tuple[int, Fraction, Fraction]]:
    return [(3, Fraction(2), HALF), (4, Fraction(3), Fraction(1, 3)), (6, Fraction(7), Fraction(2, 7))]


@pytest.mark.parametrize(("n", "d", "eps"), witnesses())
def test_rows_hold_for_a_head_that_is_correct(n: int, d: Fraction, eps: Fraction) -> None:
    """Not every row fails always: the readout of B0 meets all of them, and the definition agrees."""
    point = lemma3_tables.tight_head(n, d, eps, Fraction(1, 10))
    for inputs in ("YZM", "xyz"):
        rows = existential(n, int(d), eps, inputs).rows
        assert all(meets(row, point) for row in rows.values())
    m = int(d)
    x, y, z = (1 << m) - 1, 0, (1 << (m + 1)) - 1
    alpha = {x: point["a"], y: point["b"], z: point["c"]}
    g = {x: point["p"], y: point["q"], z: point["s"]}
    head = Head(m + 1, lambda q, u: alpha[u], lambda q, u: g[u])
    for sequence in ([x] + [y] * (n - 1), [x] + [z] * (n - 1), [x, y] + [z] * (n - 2), [x] * n):
        assert correct_at(head, sequence, 0, eps)


points = st.fixed_dictionaries(dict.fromkeys("abcpqs", st.fractions(-3, 3, max_denominator=5)))


@given(points, st.integers(3, 7), st.integers(1, 9), st.sampled_from(EPSILONS))
def test_symbolic_claim_specialises_to_the_instance(point: dict[str, Fraction], n: int, d: int, eps: Fraction) -> None:
    """At any n, d, eps the rows and conclusion of the symbolic claim are those of the instance."""
    assume((n - 2) * d >= 2 * eps * (n - 1))
    instance = statement("gap-domination", {"n": n, "d": d, "eps": spelled(eps)})
    symbolic = statement("gap-domination-symbolic", {})
    assert isinstance(instance, Universal)
    assert isinstance(symbolic, Universal)
    whole = {**point, "n": Fraction(n), "d": Fraction(d), "eps": eps}
    assert set(symbolic.rows) - set(instance.rows) == {"n", "eps", "eps-max", "gap"}
    for name, row in refutable(instance).items():
        other = refutable(symbolic)[name]
        assert (value(row, point), row.strict) == (value(other, whole), other.strict)
    assert all(meets(symbolic.rows[name], whole) for name in ("n", "eps", "eps-max", "gap"))
    mu = (n - 2) * (d - 2 * eps) / (2 * eps)
    assert meets(instance.conclusion, point) is (point["b"] > mu * point["c"])
    assert meets(refutable(instance)[NEGATED], point) is not meets(instance.conclusion, point)


@given(
    st.fractions(-1, 9, max_denominator=7),
    st.fractions(-1, 9, max_denominator=7),
    st.fractions(-1, 2, max_denominator=7),
)
def test_ranges_of_the_symbolic_claim(n: Fraction, d: Fraction, eps: Fraction) -> None:
    """Its range conditions hold exactly for n >= 3, 0 < eps <= 1/2 and admissible d."""
    rows = statement("gap-domination-symbolic", {}).rows
    point = {"n": n, "d": d, "eps": eps}
    inside = all(meets(rows[name], point) for name in ("n", "eps", "eps-max", "gap"))
    assert inside is (n >= 3 and 0 < eps <= HALF and d >= 2 * eps * (n - 1) / (n - 2))


@given(points, st.integers(3, 6), st.integers(1, 8), st.sampled_from(EPSILONS), st.fractions(Fraction(1, 50), 3))
def test_near_miss_rows(point: dict[str, Fraction], n: int, d: int, eps: Fraction, bound: Fraction) -> None:
    """The last rows of the claims of existence are c > 0 and b < (mu + delta) c, or b <= factor c below the gap."""
    admissible = (n - 2) * d >= 2 * eps * (n - 1)
    name, key = ("gap-tightness", "delta") if admissible else ("gap-countermodel", "factor")
    parameters = {"n": n, "d": d, "eps": spelled(eps), key: spelled(bound), "inputs": "YZM"}
    rows = statement(name, parameters).rows
    mu = (n - 2) * (d - 2 * eps) / (2 * eps)
    assert meets(rows["c.positive"], point) is (point["c"] > 0)
    if admissible:
        assert meets(rows["near-factor"], point) is (point["b"] < (mu + bound) * point["c"])
    else:
        assert meets(rows["at-most-factor"], point) is (point["b"] <= bound * point["c"])
    for weight in "abc":
        assert meets(rows[weight], point) is (point[weight] >= 0)


@given(st.integers(-2, 9), st.fractions(-2, 9, max_denominator=4), st.fractions(-1, 1, max_denominator=8))
def test_parameters_out_of_range_make_no_statement(n: int, d: Fraction, eps: Fraction) -> None:
    """A statement exists exactly in the stated ranges, and each claim takes its own side of the least gap."""
    legal = n >= 3 and 0 < eps <= HALF and d > 0
    admissible = legal and (n - 2) * d >= 2 * eps * (n - 1)
    base = {"n": n, "d": spelled(d), "eps": spelled(eps)}
    for name, more, exists in (
        ("gap-domination", {}, admissible),
        ("gap-tightness", {"delta": 1, "inputs": "YZM"}, admissible),
        ("gap-countermodel", {"factor": 1, "inputs": "xyz"}, legal and not admissible),
    ):
        if exists:
            assert f"n={n}, d={d}, eps={eps}" in statement(name, {**base, **more}).sentence
        else:
            with pytest.raises(Malformed, match=r"^parameters\.(n|d|eps): expected "):
                statement(name, {**base, **more})


def test_every_claim_and_rule_is_in_the_tables() -> None:
    """A claim or rule added to the kernel must be added to the tables."""
    used = {(fields["claim"], fields["rule"]) for fields in make_tables.valid().values()}
    assert {claim for claim, _ in used} == set(CLAIMS)
    assert {rule for _, rule in used} == set(RULES)


def test_what_claims_rest_on_are_claims_and_make_no_circle() -> None:
    """The claims that a claim needs exist and, at any remove, do not need it."""

    def below(name: str) -> set[str]:
        return set(CLAIMS[name][1]).union(*(below(other) for other in CLAIMS[name][1]))

    for name, (_, needs) in CLAIMS.items():
        assert set(needs) <= set(CLAIMS)
        assert len(set(needs)) == len(needs)
        assert name not in below(name)
    pairs = {(fields["claim"], fields["rule"]) for fields in make_tables.valid().values()}
    for name, rule in pairs:  # a rule adds what its claim does not rest on already, and makes no circle either
        more = RULES[rule][2]
        assert set(more) <= set(CLAIMS)
        assert len({*CLAIMS[name][1], *more}) == len(CLAIMS[name][1]) + len(more)
        assert all(name != other and name not in below(other) for other in more)


def test_each_rule_refuses_every_other_shape() -> None:
    """A rule shows statements of its own shape only."""
    pairs = {(fields["claim"], fields["rule"]): fields for fields in make_tables.valid().values()}
    for fields in pairs.values():
        shown = statement(fields["claim"], fields["parameters"])
        for rule, (shape, *_) in RULES.items():
            if not isinstance(shown, shape):
                with pytest.raises(
                    Rejected, match=rf"^rule {rule} shows an? {shape.__name__} statement, and this claim is"
                ):
                    apply(rule, shown, fields["witness"], {})


# ------------------------------------------------------- the rules on small systems with a known answer

coefficients = st.lists(st.integers(-2, 2), min_size=3, max_size=3)


def linear(row: list[int]) -> Poly:
    """row[0] + row[1] x + row[2] y"""
    return row[0] + row[1] * Poly.variable("x") + row[2] * Poly.variable("y")


ORIGIN = {"x": 0, "y": 0}


@st.composite
def systems(draw: st.DrawFn) -> tuple[Universal, dict[str, Any]]:
    """A claim of two to four linear hypotheses in x, y that hold at the origin, and random multipliers."""
    count = draw(st.integers(2, 4))
    rows: dict[str, Row] = {}
    for i in range(count):
        row = draw(coefficients)
        strict = draw(st.booleans())
        row[0] = abs(row[0]) + strict
        rows[f"h{i}"] = Row(linear(row), strict)
    rows["x-free"] = Row(linear([9, 1, 0]), False)
    rows["y-free"] = Row(linear([9, 0, 1]), False)
    conclusion = Row(linear(draw(coefficients)), draw(st.booleans()))
    names = [*rows, NEGATED]
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=4))
    multipliers = {name: draw(st.sampled_from([1, 1, 2, 3, "1/2"])) for name in chosen}
    return Universal("test", rows, conclusion), {"multipliers": multipliers, "model": ORIGIN}


GRID = [Fraction(k, 2) for k in range(-8, 9)]


@settings(max_examples=500)
@given(systems())
def test_farkas_is_sound(case: tuple[Universal, dict[str, Any]]) -> None:
    """What is accepted is true: no point of a grid meets the hypotheses and breaks the conclusion."""
    claim, witness = case
    try:
        checked = farkas(claim, witness, {})
    except Rejected:
        return
    assert checked
    for x in GRID:
        for y in GRID:
            point = {"x": x, "y": y}
            if all(meets(row, point) for row in claim.rows.values()):
                assert meets(claim.conclusion, point), point


@given(st.integers(1, 9), st.integers(-9, 9), st.booleans(), st.booleans())
def test_strict_and_weak_are_not_confused(k: int, shift: int, weak_hypothesis: bool, weak_conclusion: bool) -> None:
    """From x > 0 or x >= 0 follows k x + shift > 0 or >= 0 exactly as arithmetic says; "<" is not shown by "<="."""
    x = Poly.variable("x")
    claim = Universal("test", {"x": Row(x, not weak_hypothesis)}, Row(k * x + shift, not weak_conclusion))
    witness = {"multipliers": {"x": k, NEGATED: 1}, "model": {"x": 1}}
    true = shift > 0 or (shift == 0 and (weak_conclusion or not weak_hypothesis))
    if true:
        assert farkas(claim, witness, {})[0].endswith("0 > 0" if shift == 0 else f"0 <= '{-shift}'")
    else:
        with pytest.raises(Rejected, match=r"no contradiction$"):
            farkas(claim, witness, {})


@given(st.fractions(-2, 2, max_denominator=9), st.fractions(-2, 2, max_denominator=9))
def test_model_of_hypotheses_is_required(x: Fraction, bound: Fraction) -> None:
    """A proof counts only with a point at which the hypotheses hold: contradictory ones prove nothing."""
    v = Poly.variable("x")
    claim = Universal("test", {"low": Row(v - bound, False), "high": Row(-bound - v, True)}, Row(v * 0 - 1, False))
    witness = {"multipliers": {"low": 1, "high": 1, NEGATED: spelled(1 + 2 * abs(bound))}, "model": {"x": spelled(x)}}
    with pytest.raises(Rejected):
        farkas(claim, witness, {})
    contradictory = Universal("test", {"low": Row(v, True), "high": Row(-v, True)}, Row(as_poly(-1), False))
    with pytest.raises(Rejected, match=r"^witness\.model: the condition (low|high), "):
        farkas(contradictory, {"multipliers": {"low": 1, "high": 1}, "model": {"x": spelled(x)}}, {})


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.booleans())
def test_products_of_weak_conditions_are_weak(p: int, q: int, r: int, strict: bool) -> None:
    """x >= 0 and y >= 0 give xy >= 0, and xy > 0 only where both are strict."""
    x, y = Poly.variable("x"), Poly.variable("y")
    claim = Universal("test", {"x": Row(x, strict), "y": Row(y, True)}, Row(x * y, True))
    terms = [{"coefficient": 1, "product": ["x", "y"]}, {"coefficient": 1, "product": [NEGATED]}]
    witness = {"terms": terms, "model": {"x": 1, "y": 1}}
    if strict:
        assert polynomial_identity(claim, witness, {})
    else:
        with pytest.raises(Rejected, match="no strict condition takes part"):
            polynomial_identity(claim, witness, {})
    wrong = [{"coefficient": 1, "product": ["x", "x", "y"]}, *terms[1:]]
    with pytest.raises(Rejected, match=r"does not cancel"):
        polynomial_identity(claim, {**witness, "terms": wrong}, {})
    shifted = Universal("test", claim.rows, Row(x * y + (p * x + q * y + r), True))
    if (p, q, r) != (0, 0, 0) and not (p == q == 0 and r > 0):
        with pytest.raises(Rejected):
            polynomial_identity(shifted, witness, {})


@given(points, st.fractions(-3, 3, max_denominator=5))
def test_model_rule_accepts_exactly_the_models(point: dict[str, Fraction], bound: Fraction) -> None:
    """A point is accepted if and only if every condition holds there, strict ones strictly."""
    a, b = Poly.variable("a"), Poly.variable("b")
    claim = Existential("test", {"one": Row(a - b, True), "two": Row(b - bound, False), "rest": Row(as_poly(1), True)})
    witness = {"assignment": {name: spelled(point[name]) for name in "ab"}}
    if point["a"] > point["b"] >= bound:
        assert model(claim, witness, {}) == ["the 3 conditions hold at the assignment"]
    else:
        with pytest.raises(Rejected, match=r"^witness\.assignment: the condition (one|two), .*, fails at this point$"):
            model(claim, witness, {})


@pytest.mark.parametrize("name", make_tables.valid())
def test_rules_do_not_change_their_witness(name: str) -> None:
    """A rule reads the witness only: checking twice gives the same answer."""
    fields = make_tables.valid()[name]
    before = json.dumps(fields)
    shown = statement(fields["claim"], fields["parameters"])
    used = {item["claim"]: statement(item["claim"], item["parameters"]) for item in fields["uses"]}
    first = apply(fields["rule"], shown, fields["witness"], used)
    assert first == apply(fields["rule"], shown, fields["witness"], used)
    assert json.dumps(fields) == before


# --------------------------------------------------------------- rules for codes, chains and ranks, by properties


@given(
    st.integers(1, 8).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m))), st.integers(1, 5), st.integers(1, 80)
)
def test_packing_never_promises_too_much(layer: tuple[int, int], distance: int, size: int) -> None:
    """What greedy packing promises, the greedy algorithm finds; the promise is refused exactly above the count."""
    m, weight = layer
    words = [word for word in range(1 << m) if word.bit_count() == weight]
    chosen: list[int] = []
    for word in words:
        if all((word & ~other).bit_count() >= distance for other in chosen):
            chosen.append(word)
    ball = sum((words[0] & ~word).bit_count() < distance for word in words)
    shown = statement("code", {"m": m, "weight": weight, "distance": distance, "size": size})
    if (size - 1) * ball < len(words):
        assert apply("packing", shown, {}, {})
        assert len(chosen) >= size
    else:
        with pytest.raises(Rejected, match="may cover the layer"):
            apply("packing", shown, {}, {})


@given(st.lists(st.integers(0, 255), max_size=9), st.integers(0, 8), st.integers(1, 5), st.integers(1, 9))
def test_code_rule_accepts_exactly_the_codes(family: list[int], weight: int, distance: int, size: int) -> None:
    """Distinct words, of one weight, each pair at directed distance at least `distance` both ways, `size` of them."""
    words = sorted(family)
    shown = statement("code", {"m": 8, "weight": weight, "distance": distance, "size": size})
    good = len(words) == len(set(words)) == size and all(word.bit_count() == weight for word in words)
    good = good and all((a & ~b).bit_count() >= distance for a in words for b in words if a != b)
    try:
        assert apply("code", shown, {"words": [f"{word:x}" for word in words]}, {})
        accepted = True
    except (Rejected, Malformed):
        accepted = False
    assert accepted is good


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(3, 7),
    st.sampled_from(EPSILONS),
    st.fractions(Fraction(1, 9), 40),
)
def test_chain_rule_accepts_exactly_the_chains(gaps: list[int], n: int, eps: Fraction, factor: Fraction) -> None:
    """Every gap at least 2eps(n-1)/(n-2), and the product of (n-2)(d-2eps)/(2eps) at least the claimed factor."""
    shown = statement("chain", {"n": n, "eps": spelled(eps), "distance": sum(gaps), "factor": spelled(factor)})
    good = all(gap >= 2 * eps * (n - 1) / (n - 2) for gap in gaps)
    good = good and math.prod(((n - 2) * (gap - 2 * eps) / (2 * eps) for gap in gaps), start=Fraction(1)) >= factor
    if good:
        assert apply("chain", shown, {"gaps": gaps}, {})
    else:
        with pytest.raises(Rejected):
            apply("chain", shown, {"gaps": gaps}, {})


entries = st.sampled_from([0, 0, 1, -1, 2, Fraction(1, 3), Fraction(-5, 7)])


@given(
    st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(entries, min_size=k, max_size=k), min_size=1, max_size=4)),
    st.data(),
)
def test_rank_rules_never_exceed_the_rank(matrix: list[list[Any]], draw: st.DataObject) -> None:
    """A minor or a trace shows no more than elimination over the rationals finds."""
    rank = draw.draw(st.integers(1, 4))
    true = oracle.rank_of([[Fraction(q) for q in row] for row in matrix])
    shown = statement("matrix-rank", {"matrix": [[spelled(q) for q in row] for row in matrix], "rank": rank})
    rows = draw.draw(st.lists(st.integers(0, len(matrix) - 1), unique=True, min_size=1).map(sorted))
    columns = draw.draw(st.lists(st.integers(0, len(matrix[0]) - 1), unique=True, min_size=1).map(sorted))
    prime = draw.draw(st.sampled_from([2, 3, 5, 7, 11, 101, 65_521, 4_294_967_291]))
    for rule, witness in (("rank-minor", {"rows": rows, "columns": columns, "prime": prime}), ("rank-trace", {})):
        try:
            apply(rule, shown, witness, {})
        except Rejected:
            continue
        assert rank <= true, rule


@given(st.integers(2, 70_000))
def test_only_primes_are_primes(p: int) -> None:
    """The modulus of a minor is refused exactly if it has a divisor."""
    shown = statement("matrix-rank", {"matrix": [[1]], "rank": 1})
    witness = {"rows": [0], "columns": [0], "prime": p}
    if all(p % q for q in range(2, math.isqrt(p) + 1)):
        assert apply("rank-minor", shown, witness, {})
    else:
        with pytest.raises(Rejected, match="is composite"):
            apply("rank-minor", shown, witness, {})


@given(st.integers(1, 400), st.fractions(Fraction(1, 5), 60), st.integers(1, 400))
def test_amplification_is_the_trace_bound(size: int, factor: Fraction, value: int) -> None:
    """The features promised are fewer than T^2/||C||^2 + 1 for the extreme matrix, whose entries are 1/Lambda."""
    used = {
        "code": statement("code", {"m": 9, "weight": 4, "distance": 3, "size": size}),
        "chain": statement("chain", {"n": 3, "eps": "1/2", "distance": 3, "factor": spelled(factor)}),
    }
    shown = statement("feature-rank", {"m": 9, "n": 3, "eps": "1/2", "value": value})
    extreme = Fraction(size * size) / (size + size * (size - 1) / factor**2)
    true = value - 1 < extreme if size == 1 else value - 1 <= extreme
    if true:
        assert apply("amplification", shown, {}, used)
    else:
        with pytest.raises(Rejected, match=r"words and the factor"):
            apply("amplification", shown, {}, used)
