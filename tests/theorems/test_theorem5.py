"""Theorem 5: the formula, the chains, random codes, and heads that the bound must not exceed."""

from fractions import Fraction
from itertools import combinations
from math import comb, floor, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck import codes
from proofcheck.domination import violations
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.minip import overlap
from proofcheck.rank import exact_rank
from proofcheck.theorems import paper, theorem5

from .checking import of_claim, verified

HALF = Fraction(1, 2)


def mu(n, eps, g):
    return (n - 2) * (g - 2 * eps) / (2 * eps)


@given(st.integers(1, 10**6), st.fractions(1, 1000, max_denominator=50))
def test_amplified_is_the_least_integer_above_the_formula(size, weight):
    value, formula = theorem5.amplified(size, weight), size / (1 + (size - 1) / weight**2)
    if size == 1:
        assert value == 1
    else:
        assert value - 1 <= formula < value
        assert value > min(size, weight**2) / 2


@given(st.integers(2, 500), st.fractions(1, 50, max_denominator=20))
def test_more_words_and_larger_factors_never_hurt(size, weight):
    assert theorem5.amplified(size + 1, weight) >= theorem5.amplified(size, weight)
    assert theorem5.amplified(size, weight + Fraction(1, 20)) >= theorem5.amplified(size, weight)
    assert theorem5.amplified(size, weight) <= size


@given(st.integers(3, 12), st.fractions(Fraction(1, 10), HALF, max_denominator=20), st.integers(2, 40))
def test_the_papers_chain_is_the_best_uniform_one_and_the_best_chain_no_worse(n, eps, distance):
    gaps = [g for g in range(1, distance + 1) if g * (n - 2) >= 2 * eps * (n - 1)]
    if not gaps:
        with pytest.raises(UsageError, match=rf"got Delta = {distance}"):
            theorem5.best_uniform(n, eps, distance)
        return
    chain = theorem5.best_uniform(n, eps, distance)
    assert sum(chain.gaps) == distance
    assert theorem5.paper_factor(chain) == max(mu(n, eps, g) ** (distance // g) for g in gaps)
    assert theorem5.paper_factor(chain) <= prod(mu(n, eps, g) for g in chain.gaps)
    assert theorem5.paper_factor(chain) <= theorem5.chains.best(n, eps, distance).product


def test_the_papers_code(tmp_path):
    """Fifteen words, Delta = 6, g = 3: the formula gives 8, and more than 8 since the entries are below 1/Lambda."""
    shown = theorem5.show(24, code=paper.paper_code(), distance=6, gap=3)
    verified(shown, tmp_path)
    uniform, best = (c.parameters["value"] for c in of_claim(shown, "feature-rank"))
    assert Fraction(15) / (1 + Fraction(14, 16)) == 8
    assert (uniform, best) == (9, 10)
    assert floor(Fraction(15) / (1 + Fraction(14, 25))) + 1 == 10


@st.composite
def code_cases(draw):
    m = draw(st.integers(4, 9))
    h = draw(st.integers(2, m - 2))
    distance = draw(st.integers(1, min(h, m - h)))
    code = codes.random_greedy(m, h, distance, seed=draw(st.integers(0, 10**6)), limit=draw(st.integers(1, 20)))
    return code, draw(st.integers(3, 6)), draw(st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 5)]))


@settings(max_examples=40)
@given(code_cases())
def test_random_codes(tmp_path_factory, case):
    code, n, eps = case
    distance = min((h for h in (code.weight - overlap(a, b) for a, b in combinations(code.words, 2))), default=None)
    distance = min(code.weight, code.m - code.weight) if distance is None else distance
    gaps = [g for g in range(1, distance + 1) if mu(n, eps, g) >= 1]
    if not gaps:
        with pytest.raises(UsageError, match="Theorem 5 needs a gap"):
            theorem5.show(code.m, n, eps, code)
        return
    shown = theorem5.show(code.m, n, eps, code)
    verified(shown, tmp_path_factory.mktemp("random"))
    (words,) = of_claim(shown, "code")
    assert words.parameters["distance"] == distance
    uniform, best = (c.parameters["value"] for c in of_claim(shown, "feature-rank"))
    weight = max(mu(n, eps, g) ** (distance // g) for g in gaps)
    size = code.size
    assert uniform == (floor(size / (1 + (size - 1) / weight**2)) + 1 if size > 1 else 1)
    assert uniform <= best <= size


def test_no_correct_head_is_below_the_bound():
    """Level-symmetric heads of rank 1 + m (mathematics.md B3): correct for queries of weight <= 5, by B0, and their
    matrices on any code have at least the rank that Theorem 5 promises."""
    m, h, n = 10, 5, 3
    lam = next(
        lam
        for lam in (Fraction(k, 4) for k in range(1, 200))
        if violations(n, HALF, h, Fraction(1), {level: (level, 1 + lam * (h - level)) for level in range(h + 1)})
        is None
    )
    for distance in (2, 3, 4, 5):
        code = codes.lexicographic(m, h, distance)
        full = (1 << m) - 1
        rows = [[1 + lam * (h - overlap(s, full & ~u)) for u in code.words] for s in code.words]
        weight = theorem5.chains.best(n, HALF, distance).product
        assert 1 + m >= exact_rank(rows) >= theorem5.amplified(code.size, weight)


@pytest.mark.parametrize(("m", "delta"), [(24, 6), (40, 5), (41, 4), (24, 24), (3, 2)])
def test_packing(tmp_path, m, delta):
    shown = theorem5.show(m, distance=delta)
    verified(shown, tmp_path)
    (words,) = of_claim(shown, "code")
    h = m // 2
    ball = sum(comb(h, a) * comb(m - h, a) for a in range(delta))
    size = words.parameters["size"]
    assert (size - 1) * ball < comb(m, h) <= size * ball
    assert words.rule == "packing"
    assert "Packing" in shown.arguments


def test_the_argument_of_an_explicit_code_is_listed():
    assert "Packing" in theorem5.show(24, code=paper.paper_code(), distance=6, gap=3).arguments


def test_what_is_asked_for_must_make_sense():
    with pytest.raises(UsageError, match="give --code FILE or --delta D"):
        theorem5.show(24)
    with pytest.raises(UsageError, match="expected 1 <= Delta <= m = 24, got 25"):
        theorem5.show(24, distance=25)
    with pytest.raises(UsageError, match="the code has words of 24 bits, more than m = 23"):
        theorem5.show(23, code=paper.paper_code())
    with pytest.raises(
        ClaimFails, match=r"words \d+ and \d+ \([0-9a-f]+, [0-9a-f]+\) are at directed distance 6, less"
    ):
        theorem5.show(24, code=paper.paper_code(), distance=7)


def test_claiming_one_more_feature_is_refused():
    from proofcheck.kernel.exact import Rejected

    shown = theorem5.show(24, code=paper.paper_code(), distance=6, gap=3)
    code, chain, _ = (of_claim(shown, claim)[0] for claim in ("code", "chain", "feature-rank"))
    with pytest.raises(Rejected, match="give at least 9 features, not 10"):
        theorem5.rank_certificate(24, code, chain, "a test", 10)
    assert theorem5.rank_certificate(24, code, chain, "a test", 3).parameters["value"] == 3
