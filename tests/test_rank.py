"""Rank bounds against slow definitions, on matrices made to break floats, primes and int64."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import isqrt
from unittest.mock import patch

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from proofcheck import rank as module
from proofcheck.errors import Undecided, UsageError
from proofcheck.rank import (
    Minor,
    exact_entries,
    exact_rank,
    kronecker_kernel,
    lemma4_bound,
    lemma4_holds,
    normalised,
    pivot_minor,
    singular_value_bound,
    trace_bound,
    trace_ratio,
)

P = 2**31 - 1  # the prime that is tried first
NEXT = 2147483629  # the prime below it
BIG = [2**62, 2**63 - 1, 2**63, 2**64 + 1, -(2**63), 3037000500, 10**30]  # overflow in int64, alone or multiplied

METHODS = {
    "exact": exact_rank,
    "minor": lambda matrix: pivot_minor(matrix).rank,
    "singular values": lambda matrix: singular_value_bound(matrix).rank,
}


# --- slow definitions ---------------------------------------------------------------------------------------


def eliminate(matrix):
    """Rank and signed product of the pivots (the determinant, if the matrix is square of full rank), in Fractions."""
    rows = [[Fraction(value) for value in row] for row in matrix]
    rank, product = 0, Fraction(1)
    for j in range(len(rows[0])):
        i = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if i is None:
            continue
        if i != rank:
            rows[rank], rows[i] = rows[i], rows[rank]
            product = -product
        product *= rows[rank][j]
        for k in range(rank + 1, len(rows)):
            factor = rows[k][j] / rows[rank][j]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[rank], strict=True)]
        rank += 1
    return rank, product


def determinant(matrix):
    rank, product = eliminate(matrix)
    return product if rank == len(matrix) else Fraction(0)


def multiplied(a, b):
    return [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b)] for row in a]  # noqa: B905


def singular_values_at_least(matrix, threshold):
    """How many, exactly: A^T A - t^2 I has real eigenvalues only, so Descartes' rule of signs is exact for it."""
    gram = multiplied([list(column) for column in zip(*matrix, strict=True)], matrix)
    for i, row in enumerate(gram):
        row[i] -= threshold**2
    shifted = fmpq_mat([[fmpq(value.numerator, value.denominator) for value in row] for row in gram])
    coefficients = list(shifted.charpoly().coeffs())
    zeros = next(i for i, c in enumerate(coefficients) if c != 0)
    signs = [c > 0 for c in coefficients if c != 0]
    return zeros + sum(a != b for a, b in pairwise(signs))


def norm_squared(matrix):
    return sum((Fraction(value) ** 2 for row in matrix for value in row), Fraction(0))


# --- matrices -----------------------------------------------------------------------------------------------

smooth = st.integers(-9, 9) | st.fractions(min_value=-5, max_value=5, max_denominator=20)
of_the_prime = st.sampled_from([P, -P, 2 * P, P + 1, P * P, P * NEXT, Fraction(P, 3), 0, 1])
over_the_prime = st.sampled_from([Fraction(1, P), Fraction(-2, P * NEXT), Fraction(1, NEXT), Fraction(5, 7), 0, 1])
entries = st.sampled_from(
    [smooth, st.sampled_from([*BIG, 0, 1]), of_the_prime, over_the_prime, st.sampled_from([0, 1])]
)


def rectangle(draw, elements, m, n):
    return [[draw(elements) for _ in range(n)] for _ in range(m)]


@st.composite
def free(draw):
    return rectangle(draw, draw(entries), draw(st.integers(1, 5)), draw(st.integers(1, 5)))


@st.composite
def low_rank(draw):
    """A product of thin factors, with or without one tiny change."""
    m, n, r = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    elements = draw(entries)
    matrix = multiplied(rectangle(draw, elements, m, r), rectangle(draw, elements, r, n))
    i, j = draw(st.integers(0, m - 1)), draw(st.integers(0, n - 1))
    matrix[i][j] += draw(st.sampled_from([0, *(Fraction(1, 10**k) for k in (3, 9, 15, 17, 40, 400)), P]))
    return matrix


@st.composite
def repeated_rows(draw):
    n = draw(st.integers(1, 5))
    pool = rectangle(draw, draw(entries), draw(st.integers(1, 2)), n)
    return [[factor * v for v in row] for row in pool for factor in (1, draw(st.sampled_from([1, -1, 3, P])))]


@st.composite
def hilbert_like(draw):
    size, shift = draw(st.integers(1, 7)), draw(st.integers(1, 30))
    return [[Fraction(1, i + j + shift) for j in range(size)] for i in range(size)]


@st.composite
def badly_scaled(draw):
    matrix = draw(free() | low_rank() | hilbert_like())
    powers = st.integers(-1100, 1100).map(lambda e: Fraction(2) ** e)
    rows, columns = [draw(powers) for _ in matrix], [draw(powers) for _ in matrix[0]]
    return [[a * v * b for v, b in zip(row, columns, strict=True)] for row, a in zip(matrix, rows, strict=True)]


rationals = free() | low_rank() | repeated_rows() | hilbert_like() | badly_scaled()
doubles = st.floats(allow_nan=False, allow_infinity=False)
sides = st.tuples(st.integers(1, 5), st.integers(1, 5))
wild = arrays(np.float64, sides, elements=doubles | st.sampled_from([0.0, 5e-324, 1.7e308, 2.0**-1022, 1.0]))
tame = arrays(np.float64, sides, elements=st.floats(-1, 1))


@st.composite
def rounded_products(draw):
    """Low rank before rounding, hence near-singular and of full rank after it."""
    m, n = draw(sides)
    r = draw(st.integers(1, 2))
    a, b = (draw(arrays(np.float64, shape, elements=st.floats(-10, 10))) for shape in ((m, r), (r, n)))
    return a @ b


floats = wild | tame | rounded_products()


# --- all methods on all matrices ----------------------------------------------------------------------------


def check_every_method(matrix):
    rows = exact_entries(matrix)
    rank, _ = eliminate(rows)
    assert exact_rank(matrix) == rank
    check_minor(pivot_minor(matrix), rows, rank)
    proved = singular_value_bound(matrix)
    assert 0 <= proved.rank <= rank
    assert proved.error >= 0
    if proved.rank:
        assert proved.sigma > proved.error
        assert singular_values_at_least(rows, proved.sigma - proved.error) >= proved.rank
    else:
        assert proved.sigma == 0
    if len(rows) == len(rows[0]):
        assert trace_bound(matrix) <= rank


def check_minor(minor, rows, rank):
    """What rule `rank-minor` checks, with the determinant in Fractions."""
    assert minor.rank == rank == len(set(minor.rows)) == len(set(minor.columns))
    assert all(value.denominator % minor.prime for row in rows for value in row)
    if rank:
        value = determinant([[rows[i][j] for j in minor.columns] for i in minor.rows])
        assert value.numerator % minor.prime


@settings(deadline=None, max_examples=300)
@given(rationals)
def test_rational_matrices(matrix):
    check_every_method(matrix)


@settings(deadline=None, max_examples=300)
@given(floats)
def test_float_arrays(array):
    check_every_method(array)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float32])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_other_arrays_are_read_exactly(dtype, data):
    array = data.draw(
        arrays(dtype, sides, elements={"allow_nan": False, "allow_infinity": False} if dtype == np.float32 else None)
    )
    assert exact_entries(array) == [[Fraction(value.item()) for value in row] for row in array]
    check_every_method(array)


def test_int64_would_overflow():
    array = np.array([[2**62, 2**62], [2**62, 2**62 + 1]], dtype=np.int64)  # equal as float64
    assert exact_rank(array) == pivot_minor(array).rank == 2
    assert singular_value_bound(array).rank == 1
    assert trace_bound(array) == 2  # the ratio exceeds 1 by 2^-62 or so


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (3, 3)])
def test_zero(shape):
    for matrix in (np.zeros(shape), np.zeros(shape).astype(int).tolist()):
        assert exact_rank(matrix) == singular_value_bound(matrix).rank == 0
        assert pivot_minor(matrix) == Minor((), (), P)
        if shape[0] == shape[1]:
            assert trace_bound(matrix) == 0


# --- minors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "prime"),
    [
        ([[1, 2], [3, 4]], P),
        ([[P, 0], [0, P]], NEXT),  # all entries divisible
        ([[1, 1], [1, 1 + P]], NEXT),  # only the determinant is
        ([[1, 1, 1], [1, 1 + P, 1]], NEXT),
        ([[Fraction(1, P), 0], [0, 1]], NEXT),  # a denominator is
        ([[Fraction(P * NEXT)]], 2147483587),
        ([[1, 1], [1, 1]], P),  # the rank is 1 over the rationals too
    ],
)
def test_unfit_primes_are_passed_over(matrix, prime):
    minor = pivot_minor(matrix)
    assert minor.prime == prime
    check_minor(minor, matrix, eliminate(matrix)[0])


def test_a_given_prime_is_used_alone():
    assert pivot_minor([[1, 1], [1, 3]], 2) == Minor((0,), (0,), 2)
    assert pivot_minor([[0, 0, 2], [0, 5, 1]], 3) == Minor((0, 1), (1, 2), 3)


@pytest.mark.parametrize("modulus", [-7, 0, 1, 4, P * P, 2147483659, 2**31])
def test_a_modulus_that_is_no_prime_below_the_limit(modulus):
    with pytest.raises(UsageError, match=f"the modulus {modulus} is not a prime below 2\\^31"):
        pivot_minor([[1]], modulus)


def test_a_given_prime_that_divides_a_denominator():
    with pytest.raises(UsageError, match="the prime 7 divides the denominator of an entry"):
        pivot_minor([[Fraction(1, 14)]], 7)
    with pytest.raises(UsageError, match="the prime 2 divides"):
        pivot_minor(np.array([[0.5]]), 2)


@patch.object(module, "primes", lambda: iter([7, 5]))
def test_no_prime_left():
    with pytest.raises(Undecided, match="every prime below"):
        pivot_minor([[35]])


# --- singular values ----------------------------------------------------------------------------------------

unit_floats = st.floats(-1, 1) | st.sampled_from([0.0, 5e-324, 2.0**-1022, 2.0**-600, 1.0, -1.0])


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_residual_and_defect_are_bounded_for_arbitrary_factors(data):
    m, n, k = (data.draw(st.integers(1, 4)) for _ in range(3))
    y, u, v = (data.draw(arrays(np.float64, shape, elements=unit_floats)) for shape in ((m, n), (m, k), (n, k)))
    s = data.draw(arrays(np.float64, k, elements=st.floats(0, 10)))
    y, u, v, s = (module._normal(x) for x in (y, u, v, s))
    if data.draw(st.booleans()):
        y = (u * s) @ v.T  # nothing but rounding is left of the residual
    exact_y, exact_u, exact_v = (exact_entries(x) for x in (y, u, v))
    product = multiplied(
        [[x * Fraction(a) for x, a in zip(row, s, strict=True)] for row in exact_u], transposed(exact_v)
    )
    difference = [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(exact_y, product, strict=True)]
    assert norm_squared(difference) <= module._residual(y, u, s, v) ** 2
    gram = multiplied(transposed(exact_u), exact_u)
    for i, row in enumerate(gram):
        row[i] -= 1
    assert norm_squared(gram) <= module._orthogonality_defect(u) ** 2
    assert norm_squared(exact_y) <= module._norm(y) ** 2


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


@settings(deadline=None, max_examples=200)
@given(rationals | floats)
def test_scaling_errs_by_no_more_than_it_says(matrix):
    y, exponent, error = module._scaled(matrix)
    assert np.abs(y).max() <= 1
    scale = Fraction(2) ** -exponent
    pairs = zip(exact_entries(matrix), exact_entries(y), strict=True)
    assert norm_squared([[a * scale - b for a, b in zip(*rows, strict=True)] for rows in pairs]) <= error**2


def test_long_sums_lose_more_than_one_rounding():
    """1 + 2^-54 + 2^-54 + ...: each small term that meets the 1 is lost, and the float residual is 0."""
    k = 1000
    u, s, v = np.full((1, k), 2.0**-54), np.ones(k), np.ones((1, k))
    u[0, 0] = 1
    y = (u * s) @ v.T
    lost = 1 + Fraction(k - 1, 2**54) - Fraction(y.item())
    assert lost > 3 * module.UNIT
    assert lost <= module._residual(y, u, s, v)


@given(st.fractions(min_value=0) | st.integers(-3000, 3000).map(lambda e: 3 * Fraction(2) ** e))
def test_roots_and_roundings_enclose(q):
    low, high = module._root(q)
    assert low**2 <= q <= high**2
    assert high - low <= q or q < 1
    assert low == high == 0 or high < low * (1 + Fraction(1, 2**62))
    if q:
        assert q <= module._shortened_up(q) < q * (1 + Fraction(1, 2**60))


@settings(deadline=None, max_examples=100)
@given(low_rank(), st.data())
def test_a_wrong_decomposition_proves_nothing_wrong(matrix, data):
    genuine = np.linalg.svd
    change = data.draw(st.sampled_from(["inflate", "flat", "repeat", "scale", "shuffle", "negative", "rubbish"]))
    amount = data.draw(st.floats(1e-12, 4))

    def forged(a, full_matrices):
        u, s, vt = genuine(a, full_matrices=full_matrices)
        if change == "inflate":
            s = s + amount
        elif change == "flat":
            s = np.full_like(s, amount)
        elif change == "repeat":
            u, vt = np.repeat(u[:, :1], len(s), axis=1), np.repeat(vt[:1], len(s), axis=0)
        elif change == "scale":
            u, s = u / (1 + amount), s * (1 + amount)
        elif change == "shuffle":
            s = s[::-1]
        elif change == "negative":
            s = -s - amount
        else:
            u, s, vt = (np.random.default_rng(0).random(x.shape) for x in (u, s, vt))
        return u, s, vt

    with patch.object(np.linalg, "svd", forged):
        proved = singular_value_bound(matrix)
    rank = eliminate(matrix)[0]
    assert proved.rank <= rank
    if proved.rank:
        assert singular_values_at_least(matrix, proved.sigma - proved.error) >= proved.rank


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e200])
def test_a_decomposition_that_overflows(value):
    with (
        patch.object(np.linalg, "svd", lambda a, full_matrices: (np.full_like(a, value), np.ones(2), a)),
        pytest.raises(Undecided, match="not finite, or overflows"),
    ):
        singular_value_bound(np.eye(2))


def test_a_decomposition_that_does_not_converge():
    def failing(a, full_matrices):
        raise np.linalg.LinAlgError("SVD did not converge")

    with patch.object(np.linalg, "svd", failing), pytest.raises(Undecided, match="SVD did not converge"):
        singular_value_bound([[1]])


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1022, 1e-200, 1.0, 1e200, 2.0**1023])
def test_scale_costs_nothing(scale):
    """Where LAPACK or a norm would underflow or overflow, the answer is that for scale 1."""
    matrix = np.array([[1, 0.0], [0, 1]]) * scale
    proved = singular_value_bound(matrix)
    assert proved.rank == 2
    assert Fraction(scale) * Fraction(999, 1000) < proved.sigma <= Fraction(scale) * Fraction(1001, 1000)
    exact = [[Fraction(scale) ** 9, 0], [0, Fraction(scale) ** 9]]
    assert singular_value_bound(exact).rank == 2


def test_rationals_that_are_no_floats():
    """1/3 and its float differ: the rank-one matrix of thirds has rank 1, its rounded perturbation must not count."""
    thirds = [[Fraction(1, 3), Fraction(1, 7)], [Fraction(7, 3), 1]]
    assert exact_rank(thirds) == singular_value_bound(thirds).rank == 1
    assert exact_rank(np.array(thirds, dtype=float)) == 2


def test_the_error_bound_is_near_rounding():
    """A bound that nobody can use would be sound too. 1e-12 at 64 x 64 is about 70 n u."""
    proved = singular_value_bound(np.random.default_rng(1).standard_normal((64, 64)))
    assert proved.rank == 64
    assert proved.error < Fraction(1, 10**11)


def test_gram_trap():
    """The exact Gram matrix of 256 float32 vectors in 16 dimensions has rank 16. Its float32 rounding is another
    matrix, of full rank, which a float64 tolerance reports as the rank of the Gram matrix."""
    x = np.random.default_rng(0).standard_normal((256, 16)).astype(np.float32)
    rounded = x @ x.T
    assert np.linalg.matrix_rank(rounded.astype(np.float64)) == 256  # the trap
    features = np.array([[int(Fraction(float(v)) * 2**60) for v in row] for row in x], dtype=object)
    gram = (features @ features.T).tolist()  # exact: Python integers
    assert exact_rank(gram) == pivot_minor(gram).rank == singular_value_bound(gram).rank == 16
    assert trace_bound(gram) <= 16
    assert exact_rank(rounded) == 256  # right for this matrix, and no statement about the vectors
    assert singular_value_bound(rounded).rank <= 256


# --- the softmin kernel -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 3), st.fractions(min_value=-2, max_value=2, max_denominator=30))
def test_kronecker_determinant(m, w):
    kernel = kronecker_kernel(m, w)
    exponent = m * 2**m // 2
    assert determinant(kernel) == (w - 1) ** exponent
    assert exact_rank(kernel) == (2**m if w != 1 else 1)


def test_kronecker_entries():
    w = Fraction(1, 6)
    assert kronecker_kernel(0, w) == [[1]]
    assert kronecker_kernel(1, w) == [[1, 1], [1, w]]
    big, small = kronecker_kernel(3, w), np.array(kronecker_kernel(2, w), dtype=object)
    assert big == np.kron(np.array([[1, 1], [1, w]], dtype=object), small).tolist()


@pytest.mark.parametrize("w", [Fraction(1, 6), Fraction(1, 2), Fraction(1, 1000), Fraction(999, 1000)])
def test_kernels_have_full_rank_by_every_method(w):
    kernel = kronecker_kernel(6, w)
    assert exact_rank(kernel) == 64
    assert pivot_minor(kernel) == Minor(tuple(range(64)), tuple(range(64)), P)
    proved = singular_value_bound(kernel)
    if w == Fraction(999, 1000):  # sigma_64 is about 1e-20: below the rounding errors
        assert 0 < proved.rank < 64
    else:
        assert proved.rank == 64


# --- trace and Lemma 4 --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(smooth, min_size=n, max_size=n), min_size=n, max_size=n)))
def test_trace_ratio_is_the_definition(matrix):
    ratio, total = trace_ratio(matrix), norm_squared(matrix)
    trace = sum(row[i] for i, row in enumerate(matrix))
    assert ratio * total == (trace**2 if total else 0)
    assert 0 <= trace_bound(matrix) - ratio < 1
    if all(row[i] for i, row in enumerate(matrix)):
        unit = normalised(matrix)
        assert all(row[i] == 1 for i, row in enumerate(unit))
        assert [[a * row[i] for a in unit[i]] for i, row in enumerate(matrix)] == matrix
        assert trace_bound(unit) <= exact_rank(unit) == exact_rank(matrix)


@st.composite
def near_identities(draw):
    """C_ii = 1, |C_ij| <= 1/lambda; at most steps at the boundary, not symmetric in general."""
    t, lambda_ = draw(st.integers(1, 6)), draw(st.fractions(min_value=Fraction(1, 3), max_value=9, max_denominator=9))
    parts = draw(st.sampled_from([st.fractions(-1, 1, max_denominator=9), st.sampled_from([-1, 1]), st.just(-1)]))
    return [[1 if i == j else draw(parts) / lambda_ for j in range(t)] for i in range(t)], lambda_


@settings(deadline=None, max_examples=200)
@given(near_identities())
def test_lemma4(case):
    matrix, lambda_ = case
    bound = lemma4_bound(len(matrix), lambda_)
    assert bound <= trace_ratio(matrix) <= eliminate(matrix)[0]
    assert lemma4_holds(matrix, lambda_)
    assert lemma4_holds(matrix, lambda_, METHODS["minor"])
    assert lemma4_holds(matrix, lambda_, trace_bound)
    check_every_method(matrix)


def simplex(t):
    """Gram matrix of the regular simplex: rank t - 1."""
    return [[1 if i == j else Fraction(-1, t - 1) for j in range(t)] for i in range(t)], t - 1, t - 1


def ones(t):
    return [[1] * t for _ in range(t)], 1, 1


def identity(t):
    return [[int(i == j) for j in range(t)] for i in range(t)], 10**6, t


def equiangular():
    """28 lines in 7 dimensions, all at the angle arccos(1/3): the permutations of (3, 3, -1^6)."""
    words = [[3 if i in pair else -1 for i in range(8)] for pair in combinations(range(8), 2)]
    return [[Fraction(sum(a * b for a, b in zip(x, y, strict=True)), 24) for y in words] for x in words], 3, 7


def hadamard(size, copies):
    """Columns of a Hadamard matrix, each `copies` times: |C_ij| <= 1, rank `size`."""
    columns = [[(-1) ** (i & j).bit_count() for i in range(size)] for j in range(size)] * copies
    gram = [[Fraction(sum(a * b for a, b in zip(x, y, strict=True)), size) for y in columns] for x in columns]
    return gram, 1, size


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("case", [*map(simplex, (2, 3, 5, 12)), *map(ones, (1, 4)), equiangular()])
def test_lemma4_with_equality(case, signs, method):
    matrix, lambda_, rank = case
    flip = [(-1) ** (signs * isqrt(7 * i)) for i in range(len(matrix))]
    matrix = [[a * v * b for v, b in zip(row, flip, strict=True)] for row, a in zip(matrix, flip, strict=True)]
    assert lemma4_bound(len(matrix), lambda_) == trace_ratio(matrix) == trace_bound(matrix) == rank
    assert METHODS[method](matrix) == rank
    assert lemma4_holds(matrix, lambda_, METHODS[method])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", [identity(5), hadamard(4, 1), hadamard(8, 3), hadamard(2, 5)])
def test_lemma4_where_it_is_not_tight(case, method):
    matrix, lambda_, rank = case
    assert METHODS[method](matrix) == rank == trace_bound(matrix)
    assert lemma4_holds(matrix, lambda_, METHODS[method])


def test_lemma4_is_refuted_by_too_small_a_rank():
    matrix, lambda_, rank = simplex(5)
    assert not lemma4_holds(matrix, lambda_, lambda _: rank - 1)


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([], "the matrix is empty"),
        ([[]], "the matrix is empty"),
        ([[1, 2], [3]], "row 1 has 1 entries, row 0 has 2"),
        ([[1, 0.5]], r"entry \(0, 1\) is a float"),
        ([[True]], r"entry \(0, 0\) is a bool"),
        ([[np.int64(1)]], r"entry \(0, 0\) is a int64"),
        (["1"], r"entry \(0, 0\) is a str"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([[1.0, np.nan]]), r"entry \(0, 1\) is nan"),
        (np.array([[1.0], [-np.inf]]), r"entry \(1, 0\) is -inf"),
        (np.array([[True]]), "array of bool"),
        (np.array([[1j]]), "array of complex128"),
        (np.array([[1]], dtype=object), "array of object"),
        (np.array([[1]], dtype=np.float16), "array of float16"),
    ],
)
@pytest.mark.parametrize("function", [exact_rank, pivot_minor, singular_value_bound, trace_bound, normalised])
def test_bad_matrices(function, matrix, reason):
    with pytest.raises(UsageError, match=reason):
        function(matrix)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: trace_bound([[1, 2]]), "the matrix is 1 x 2: a square one is expected"),
        (lambda: normalised([[1, 2], [3, 0]]), r"the diagonal entry \(1, 1\) is 0"),
        (lambda: lemma4_holds([[1, 2]], 1), "the matrix is 1 x 2"),
        (lambda: lemma4_holds([[1, 0], [0, 2]], 1), r"entry \(1, 1\) is 2: 1 is expected"),
        (
            lambda: lemma4_holds([[1, Fraction(-2, 3)], [0, 1]], 2),
            r"entry \(0, 1\) is -2/3: absolute value at most 1/\(2\)",
        ),
        (lambda: lemma4_bound(3, 0), "lambda = 0: t >= 1 and lambda > 0"),
        (lambda: lemma4_bound(0, 1), "t = 0"),
        (lambda: lemma4_bound(3, 0.5), "lambda is a float"),
        (lambda: kronecker_kernel(-1, 1), "m = -1: at least 0"),
        (lambda: kronecker_kernel(2, 0.5), "w is a float"),
    ],
)
def test_bad_arguments(call, reason):
    with pytest.raises(UsageError, match=reason):
        call()
