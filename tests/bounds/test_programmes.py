"""The linear programme of one class of queries: its rows, its basis, its solutions, and better scales."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.bounds import heads
from proofcheck.bounds.programmes import ROOMS

HALF = Fraction(1, 2)
BASE = Fraction(4, 5)

rationals = st.fractions(-5, 5, max_denominator=30)


def horner(coefficients, t):
    total = Fraction(0)
    for q in reversed(coefficients):
        total = total * t + q
    return total


@settings(max_examples=200)
@given(st.integers(0, 9), st.integers(0, 12), rationals)
def test_chebyshev_polynomials_by_the_recurrence(top, extent, t):
    """T_0 = 1, T_1 = u, T_(k+1) = 2 u T_k - T_(k-1) at u = 2t/extent - 1 (the constant -1 for extent 0); all of degree
    k, and as numpy has them."""
    found = heads.chebyshev(top, extent)
    assert len(found) >= top + 1
    u = 2 * t / extent - 1 if extent else Fraction(-1)
    expected = [Fraction(1), u]
    while len(expected) <= top:
        expected.append(2 * u * expected[-1] - expected[-2])
    for k in range(top + 1):
        assert horner(found[k], t) == expected[k]
        assert len(found[k]) == k + 1
        series = np.polynomial.chebyshev.chebval(float(u), [0] * k + [1])
        assert float(expected[k]) == pytest.approx(series, rel=1e-9, abs=1e-9)


@settings(max_examples=200)
@given(st.lists(rationals, min_size=1, max_size=5), st.lists(rationals, min_size=1, max_size=5), rationals, rationals)
def test_products_in_powers_of_the_overlap_and_the_weight(inner, outer, overlap, weight):
    expanded = heads.in_powers(inner, outer)
    total = sum(q * overlap**i * weight**j for (i, j), q in expanded.items())
    assert total == horner(inner, overlap) * horner(outer, weight - overlap)
    assert all(i + j <= len(inner) + len(outer) - 2 and j < len(outer) for i, j in expanded)


SHAPES = [
    heads.total_degree(5, 2, BASE),
    heads.total_degree(4, 0, BASE),
    heads.product_degrees((3, 2), (1, 1), 2, BASE),
    heads.product_degrees((2, 3), (2, 1), 2, BASE),
    heads.product_degrees((2, 1, 2), (1, 1, 1), 2, BASE),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.blocks}-{len(shape.degrees)}")
def test_the_witness_is_the_basis_in_other_words(shape):
    """The exact polynomial in l_i and w_i at every class of tokens, and the floats of the programme there. Monomials
    have listed degrees; one row a class, with its overlap and its weight."""
    rng = np.random.default_rng(3)
    for sizes in shape.classes():
        instance = heads.class_programme(shape, sizes, 3, HALF)
        programme = instance.programme
        coefficients = np.round(rng.normal(size=programme.basis.shape[1]), 3)
        terms = instance.polynomial(coefficients)
        for term in terms:
            assert tuple(map(sum, zip(term["l"], term["w"], strict=True))) in shape.degrees
        parts = [(a, b) for b, h in zip(shape.blocks, sizes, strict=True) for a, b in ((h, 0), (b - h, 1))]
        inside = [range(size + 1) for size, outer in parts if not outer]
        outside = [range(size + 1) for size, outer in parts if outer]
        seen = list(zip(programme.levels.tolist(), programme.weights.tolist(), strict=True))
        expected = []
        for ls, rest in product(product(*inside), product(*outside)):
            ws = [a + b for a, b in zip(ls, rest, strict=True)]
            value = Fraction(0)
            for term in terms:
                part = term["coefficient"]
                for base, power in zip([*ls, *ws], [*term["l"], *term["w"]], strict=True):
                    part *= Fraction(base) ** power
                value += part
            expected.append((sum(ls), sum(ws), float(value)))
        assert seen == [(level, weight) for level, weight, _ in expected]
        assert programme.basis @ coefficients == pytest.approx([value for *_, value in expected], abs=1e-8)
        own = next(
            v
            for (*_, v), ls in zip(expected, product(*inside, *outside), strict=True)
            if ls == (*sizes, *[0] * len(sizes))
        )
        assert float(programme.own @ coefficients) == pytest.approx(own, abs=1e-8)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.blocks}-{len(shape.degrees)}")
def test_ranks_and_classes(shape):
    """The rank is the number of products of distinct bits with listed degrees; every query is in one class."""
    masks, start = [], 0
    for b in shape.blocks:
        masks.append(((1 << b) - 1) << start)
        start += b
    sets = [t for t in range(1 << shape.m) if tuple((t & mask).bit_count() for mask in masks) in shape.degrees]
    assert shape.rank() == len(sets)
    assert sum(map(shape.queries, shape.classes())) == 1 << shape.m
    queries = list(map(shape.queries, shape.classes()))
    assert queries == sorted(queries, reverse=True)


# ------------------------------------------------------------------------------------------ B0 in the rows


def excess(n, eps, d, low, high, own):
    """B0 times L: positive where it holds."""
    length, others = n - 1, n - 2
    return 2 * eps * length * low - others * length * (d - 2 * eps) * high - (others * d - 2 * eps * length) * own


@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (5, HALF), (4, Fraction(1, 3))])
def test_rows_are_b0_at_each_pair_of_levels(n, eps):
    """Random lo and hi: the sign of each row is that of B0 for the unscaled values; room makes it stricter."""
    rng = np.random.default_rng(1)
    shape = heads.total_degree(6, 1, BASE)
    for h in range(1, 7):
        programme = heads.class_programme(shape, (h,), n, eps).programme
        matrix, bounds = programme.pairs(0.0)
        roomy, same = programme.pairs(0.5)
        pairs = [(low, high) for low in range(h + 1) for high in range(low + 1, h + 1)]
        assert matrix.shape == (len(pairs), 2 * (h + 1))
        rate = programme.rate ** (h - np.arange(h + 1.0))  # rows hold alpha R^(l-h)
        for _ in range(10):
            low, high = rng.uniform(0.1, 3, h + 1), rng.uniform(0.1, 3, h + 1)
            slack = bounds - matrix @ np.concatenate([low, high])
            strict = same - roomy @ np.concatenate([low, high])
            assert (strict <= slack + 1e-9).all()
            for i, (one, two) in enumerate(pairs):
                exact = excess(n, float(eps), two - one, low[one] * rate[one], high[two] * rate[two], 1.0)
                if abs(exact) > 1e-9:
                    assert bool(slack[i] > 0) is bool(exact > 0), (h, one, two)


@pytest.mark.parametrize(
    ("m", "degree", "base"), [(3, 0, Fraction(7, 10)), (6, 1, BASE), (11, 1, BASE), (16, 2, Fraction(21, 25))]
)
def test_proposals_satisfy_b0(m, degree, base):
    """For every class the row, in floats, satisfies B0 for all pairs of tokens, with alpha(x,x) = 1."""
    shape = heads.total_degree(m, degree, base)
    scale = shape.floats()
    for sizes in shape.classes():
        programme = heads.class_programme(shape, sizes, 3, HALF).programme
        found = programme.proposal(scale)
        assert found is not None, sizes
        assert float(programme.own @ found) == pytest.approx(1, abs=1e-6)
        alpha = programme.basis @ found * scale[programme.weights] / scale[programme.h]
        assert alpha.min() > 0
        for level in range(programme.h):
            low = alpha[programme.levels == level].min()
            for other in range(level + 1, programme.h + 1):
                high = alpha[programme.levels == other].max()
                assert excess(3, 0.5, other - level, low, high, 1.0) > 0, (sizes, level, other)


def test_room_by_bisection():
    """A larger room than the roomiest has no solution, less has one; classes without room have no proposal."""
    shape = heads.total_degree(9, 1, BASE)
    scale = shape.floats()
    programme = heads.class_programme(shape, (5,), 3, HALF).programme
    room, found = programme.roomiest(scale, -0.2, 0.5)
    assert found is not None
    assert ROOMS[-1] < room < 0.5
    assert programme.solve(scale, room - 0.002) is not None
    assert programme.solve(scale, room + 0.002) is None
    assert programme.proposal(scale) is not None
    assert programme.roomiest(scale, 0.5, 0.6) == (-1.0, None)
    shape = heads.total_degree(16, 1, BASE)
    impossible = heads.class_programme(shape, shape.classes()[0], 3, HALF).programme
    assert impossible.proposal(shape.floats()) is None


# --------------------------------------------------------------------------------------------- better scales


def test_a_scale_with_room_stays():
    shape = heads.total_degree(6, 1, BASE)
    better = heads.improved(shape, 3, HALF)
    assert better is not None
    assert [float(s) for s in better.scale] == pytest.approx([float(s) for s in shape.scale], rel=1e-12)


def test_no_scale_helps_where_none_can():
    """Degree 0 means alpha = s(|z|): by B0 impossible from m = 4 on."""
    assert heads.improved(heads.total_degree(5, 0, Fraction(7, 10)), 3, HALF) is None


def test_a_better_scale_for_twenty_bits():
    """Degree 2 at m = 20: (4/5)^|z| leaves some class without room, an improved scale gives rank 211."""
    shape = heads.total_degree(20, 2, BASE)
    assert heads.certificate(shape, 3, HALF, "test") is None
    better = heads.improved(shape, 3, HALF)
    certificate = heads.certificate(better, 3, HALF, "test")
    assert certificate.parameters["rank"] == 211 == better.rank()
    assert certificate.verdict.assumed == []
