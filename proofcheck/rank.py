"""Lower bounds on the rank of explicit matrices: exact, by a minor modulo a prime, by the trace, by singular values.

A *matrix* is a nonempty rectangular sequence of rows of int or Fraction, or a two-dimensional numpy array of integers
or of float32 or float64, whose entries are the dyadic rationals that the bits denote. Nothing is compared with a
tolerance: every function bounds the rank of exactly this matrix from below. (The Gram matrix of float32 vectors,
computed in float32, is another matrix than the exact Gram matrix, and usually of full rank: pass exact entries for a
claim about the vectors.)
A bool, a float outside an array, an infinity, a NaN, an empty or a ragged matrix is a UsageError.

    exact_rank            the rank itself (FLINT, integers)
    pivot_minor           rows, columns and a prime p: the minor is nonsingular mod p, hence nonsingular. The witness of
                          rule `rank-minor`: whoever doubts it recomputes one determinant mod p.
    trace_bound           ceil((tr C)^2 / ||C||_F^2), exact (rule `rank-trace`; Lemma 4 below)
    singular_value_bound  the number of singular values that exceed a proved bound on all rounding errors

Modular minor. Let p divide no denominator. Reduction mod p is a ring homomorphism on the rationals with denominator
prime to p, so the determinant of a minor, if zero, is zero mod p. Hence rank mod p <= rank, and a minor that is
nonsingular mod p bounds the rank from below. If the rows I are a basis of the row space mod p and the columns J one of
the column space, then the minor (I, J) is nonsingular: the columns J span all columns, also after the restriction to
the rows I, which have full rank.

Lemma 4. Let C be a real t x t matrix with C_ii = 1 and |C_ij| <= 1/lambda off the diagonal, lambda > 0. Then

    rank C >= t / (1 + (t-1)/lambda^2).

Because (tr C)^2 <= rank(C) ||C||_F^2 for every square C: let the columns of A be a basis of the column space and
Q = A (A^T A)^-1 A^T; QC = C, so tr C = tr(QC) <= ||Q||_F ||C||_F, and ||Q||_F^2 = tr Q = rank C. Here
tr C = t and ||C||_F^2 <= t + t(t-1)/lambda^2. Source: paper, Lemma 4; mathematics.md A.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt, lcm
from typing import Any, TypeAlias

import numpy as np
from flint import fmpz, fmpz_mat, nmod_mat

from proofcheck.errors import Undecided, UsageError

Rational: TypeAlias = int | Fraction
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Matrix: TypeAlias = Sequence[Sequence[Rational]] | Array
Rows: TypeAlias = list[list[Rational]]

PRIME_LIMIT = 2**31  # trial division of a prime below it takes 46,340 steps at most, products fit into 62 bits
FLOAT_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True)
class Minor:
    """The rows and columns, increasing and equally many, of a minor that is nonsingular modulo `prime`."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    prime: int

    @property
    def rank(self) -> int:
        """The lower bound on the rank that this minor proves."""
        return len(self.rows)


@dataclass(frozen=True)
class RigorousRank:
    """rank(A) >= rank, since the rank-th largest singular value of A is at least sigma - error > 0.

    `sigma` is the proved lower bound on this singular value of the approximate factorisation (0 if rank = 0), `error`
    the proved upper bound on the Frobenius distance of A from it. Both are exact dyadic rationals, in A's units.
    """

    rank: int
    sigma: Fraction
    error: Fraction


# --- exact entries ------------------------------------------------------------------------------------------


def exact_entries(matrix: Matrix) -> Rows:
    """The matrix as rows of int and Fraction; the floats of an array become the dyadic rationals that they are."""
    if isinstance(matrix, np.ndarray):
        _check_array(matrix)
        rows = matrix.tolist()
        if matrix.dtype in FLOAT_TYPES:
            rows = [[Fraction(value) for value in row] for row in rows]
        return rows
    rows = [list(row) for row in matrix]
    if not rows or not rows[0]:
        raise UsageError("the matrix is empty: at least one row and one column are expected")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise UsageError(f"row {i} has {len(row)} entries, row 0 has {len(rows[0])}: equally many are expected")
        for j, value in enumerate(row):
            _check_rational(f"entry ({i}, {j})", value)
    return rows


def _check_rational(name: str, value: object) -> None:
    if not isinstance(value, int | Fraction) or isinstance(value, bool):
        raise UsageError(f"{name} is a {type(value).__name__}: int or Fraction is expected")


def _check_array(array: Array) -> None:
    if array.ndim != 2 or not array.size:
        raise UsageError(f"an array of shape {array.shape}: two dimensions, none of them 0, are expected")
    if array.dtype.kind not in "iu" and array.dtype not in FLOAT_TYPES:
        raise UsageError(f"an array of {array.dtype}: integers, float32 or float64 are expected")
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0]
        raise UsageError(f"entry ({i}, {j}) is {array[i, j]}: a finite number is expected")


def _square(matrix: Matrix) -> Rows:
    rows = exact_entries(matrix)
    if len(rows) != len(rows[0]):
        raise UsageError(f"the matrix is {len(rows)} x {len(rows[0])}: a square one is expected")
    return rows


# --- exact and modular rank ---------------------------------------------------------------------------------


def exact_rank(matrix: Matrix) -> int:
    """The rank over the rationals. Each row is multiplied by its common denominator, which does not change it."""
    integral = []
    for row in exact_entries(matrix):
        scale = lcm(*(value.denominator for value in row))
        integral.append([value.numerator * (scale // value.denominator) for value in row])
    return int(fmpz_mat(integral).rank())


def pivot_minor(matrix: Matrix, prime: int | None = None) -> Minor:
    """A nonsingular minor of full rank, and a prime below 2^31 that shows it.

    Without `prime` the primes below 2^31 are tried from the largest downwards, until one divides no denominator and
    loses no rank (for each matrix all but finitely many primes do; Undecided if none below 2^31 does). With `prime`
    that one alone is used: the minor is then the largest modulo this prime, and may be smaller than the exact rank.
    UsageError if `prime` is no prime below 2^31, or divides a denominator. Cost without `prime`: for a matrix of full
    rank one modular elimination or two, otherwise also an exact rank.
    """
    rows = exact_entries(matrix)
    if prime is not None:
        if not (0 < prime < PRIME_LIMIT and fmpz(prime).is_prime()):
            raise UsageError(f"the modulus {prime} is not a prime below 2^31")
        reduced = _modulo(rows, prime)
        if reduced is None:
            raise UsageError(f"the prime {prime} divides the denominator of an entry")
        return _largest_minor(reduced, prime)
    goal: int | None = None
    for p in primes():
        reduced = _modulo(rows, p)
        if reduced is None:
            continue
        rank = reduced.rank()
        if rank < min(len(rows), len(rows[0])):
            goal = exact_rank(rows) if goal is None else goal
            if rank < goal:
                continue
        return _largest_minor(reduced, p)
    raise Undecided("every prime below 2^31 divides a denominator or lowers the rank")


def primes() -> Iterator[int]:
    """The primes below 2^31, largest first."""
    return (n for n in range(PRIME_LIMIT - 1, 1, -1) if fmpz(n).is_prime())


def _modulo(rows: Rows, p: int) -> Any:
    """The matrix over the field of p elements; None if p divides the denominator of an entry."""
    denominators = {value.denominator for row in rows for value in row}
    if not all(d % p for d in denominators):
        return None
    inverses = {d: pow(d, -1, p) for d in denominators}
    return nmod_mat([[value.numerator * inverses[value.denominator] % p for value in row] for row in rows], p)


def _largest_minor(reduced: Any, p: int) -> Minor:
    return Minor(_pivots(reduced.transpose()), _pivots(reduced), p)


def _pivots(reduced: Any) -> tuple[int, ...]:
    """The columns in which the rows of the reduced row echelon form begin: a basis of the column space."""
    echelon, rank = reduced.rref()
    if rank == reduced.ncols():
        return tuple(range(rank))
    columns: list[int] = []
    for j in range(reduced.ncols()):
        if len(columns) < rank and int(echelon[len(columns), j]):
            columns.append(j)
    return tuple(columns)


# --- the trace bound and Lemma 4 ----------------------------------------------------------------------------


def trace_ratio(matrix: Matrix) -> Fraction:
    """(tr C)^2 / ||C||_F^2 <= rank C, exactly; 0 for C = 0. UsageError unless C is square."""
    rows = _square(matrix)
    squares: defaultdict[int, int] = defaultdict(int)  # grouped by denominator: few gcds
    for row in rows:
        for value in row:
            squares[value.denominator] += value.numerator**2
    frobenius = sum((Fraction(total, d * d) for d, total in squares.items()), Fraction(0))
    trace = sum((row[i] for i, row in enumerate(rows)), Fraction(0))
    return trace**2 / frobenius if frobenius else Fraction(0)


def trace_bound(matrix: Matrix) -> int:
    """The least integer >= (tr C)^2 / ||C||_F^2, hence a lower bound on rank C."""
    return ceil(trace_ratio(matrix))


def normalised(matrix: Matrix) -> list[list[Fraction]]:
    """diag(B)^-1 B: unit diagonal, the same rank. UsageError if B is not square or a diagonal entry is 0."""
    rows = _square(matrix)
    for i, row in enumerate(rows):
        if row[i] == 0:
            raise UsageError(f"the diagonal entry ({i}, {i}) is 0: diag(B) cannot be inverted")
    return [[Fraction(value) / row[i] for value in row] for i, row in enumerate(rows)]


def lemma4_bound(t: int, lambda_: Rational) -> Fraction:
    """t / (1 + (t-1)/lambda^2), for t >= 1 and lambda > 0."""
    _check_rational("lambda", lambda_)
    if t < 1 or lambda_ <= 0:
        raise UsageError(f"t = {t}, lambda = {lambda_}: t >= 1 and lambda > 0 are expected")
    return t / (1 + (t - 1) / Fraction(lambda_) ** 2)


def lemma4_holds(matrix: Matrix, lambda_: Rational, rank: Callable[[Matrix], int] = exact_rank) -> bool:
    """Whether rank(C) >= t/(1 + (t-1)/lambda^2), with the rank, or a lower bound on it, that `rank` computes.

    UsageError if C is not t x t with C_ii = 1 and |C_ij| <= 1/lambda off the diagonal: Lemma 4 says nothing then.
    """
    rows = _square(matrix)
    bound = lemma4_bound(len(rows), lambda_)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if not (value == 1 if i == j else -1 <= value * lambda_ <= 1):
                expected = "1" if i == j else f"absolute value at most 1/({lambda_})"
                raise UsageError(f"entry ({i}, {j}) is {value}: {expected} is expected")
    return rank(matrix) >= bound


def kronecker_kernel(m: int, w: Rational) -> list[list[Fraction]]:
    """The 2^m x 2^m matrix w^|x & z|, x, z < 2^m: the softmin kernel with w = e^-tau, [[1,1],[1,w]] to the m-th
    Kronecker power. Its determinant is (w-1)^(m 2^(m-1)): full rank unless w = 1 (Theorem 2)."""
    _check_rational("w", w)
    if m < 0:
        raise UsageError(f"m = {m}: at least 0 is expected")
    powers = [Fraction(w) ** k for k in range(m + 1)]
    return [[powers[(x & z).bit_count()] for z in range(2**m)] for x in range(2**m)]


# --- singular values ----------------------------------------------------------------------------------------

UNIT = Fraction(1, 2**53)  # u
TAU = Fraction(1, 2**1021)  # tau, twice the least normal number
LEAST_NORMAL = float(np.finfo(np.float64).tiny)


def singular_value_bound(matrix: Matrix) -> RigorousRank:
    """The number of singular values that are proved to be positive from a float64 decomposition.

    Theorem. Let A be real m x n; U (m x k), V (n x k), s (k numbers) arbitrary, s_j the j-th largest absolute value. If
    ||A - U diag(s) V^T|| <= e, ||U^T U - I|| <= f < 1 and ||V^T V - I|| <= g < 1 (Frobenius), then for j = 1..k

        sigma_j(A) >= sqrt((1-f)(1-g)) s_j - e.

    Proof. The singular values of diag(s) are the s_j. ||Ux||^2 = x^T U^T U x >= (1-f) ||x||^2, likewise for V. If
    ||Xx|| >= c ||x|| for all x, Courant-Fischer gives sigma_j(XY) >= c sigma_j(Y); applied to U and, after
    transposition, to V: sigma_j(U diag(s) V^T) >= sqrt((1-f)(1-g)) s_j. Weyl: |sigma_j(A) - sigma_j(B)| <=
    ||A - B||_2 <= ||A - B||.

    So nothing is assumed of the SVD routine: its output is a guess, and e, f, g are bounded from it afterwards.
    Model of float64 arithmetic, with u = 2^-53, tau = 2^-1021, gamma_k = ku/(1-ku), ku < 1: every operation gives
    fl(a op b) = (a op b)(1+delta) + xi, |delta| <= u, |xi| <= tau (xi: underflow, gradual or flushed to zero; in
    additions also operands below 2^-1022 that are read as zero). A sum of k products is k multiplications and at
    most k additions, in ANY order, fused or not. Each term meets at most k factors 1+delta, each xi at most k more,
    and |(1+delta_1)..(1+delta_k) - 1| <= gamma_k, so

        |fl(x.y) - x.y| <= gamma_k |x|.|y| + 2k tau (1+gamma_k).                                            (D)

    This covers BLAS with any blocking and any number of threads, but no algorithm of Strassen's kind. Below, |.| and
    <= between matrices are entrywise, and ||1|| is the root of the number of entries.

    1. Y = fl(2^-b A), |Y| <= 1. For a float array 2^-b A is exact but for underflow; otherwise each entry is rounded to
       nearest. So ||2^-b A - Y|| <= u ||Y|| + 2 tau ||1||, without the first term for a float array; the second tau is
       for the replacement by 0 of numbers below 2^-1022, which is made in Y, U, s, V and W (U, s, V are arbitrary).
    2. Norms. A sum S of N squares, in floating point, gives by (D): ||X||^2 <= (S + 2N tau (1+gamma_N))/(1-gamma_N).
    3. f, g. G = fl(U^T U), H = fl(G - I): ||G - I|| <= (||H|| + k tau)/(1-u); by (D) and || |U|^T |U| || <= ||U||^2,
       ||U^T U - G|| <= gamma_m ||U||^2 + 2mk tau (1+gamma_m).
    4. e. W = fl(U diag(s)), P = fl(W V^T), R = fl(Y - P), M = fl(|W| |V|^T). Then |Y - P| <= (|R| + tau)/(1-u);
       |P - W V^T| <= gamma_k |W||V|^T + 2k tau (1+gamma_k) by (D); |W - U diag(s)| <= u/(1-u) |W| + 4 tau, since
       W_0, W before the replacement, has |W_0 - U diag(s)| <= u |U diag(s)| + tau, |U diag(s)| <= (|W_0| + tau)/(1-u)
       and |W_0| <= |W| + tau; |W||V|^T <= (M + 2k tau (1+gamma_k))/(1-gamma_k) by (D). With c = 2k tau (1+gamma_k):
       ||Y - U diag(s) V^T|| <= (||R|| + tau ||1||)/(1-u) + c ||1|| + 4 tau sqrt(mk) ||V||
                                + (gamma_k + u/(1-u)) (||M|| + c ||1||)/(1-gamma_k).

    From the floating-point sums S and the s_j on, all arithmetic is rational, and roots are rounded outwards.
    Undecided if the decomposition does not converge or overflows, or if this process reads subnormal numbers as zero
    (then scaling is not exact).
    """
    scaled, exponent, error = _scaled(matrix)
    try:
        left, values, right = np.linalg.svd(scaled, full_matrices=False)
    except np.linalg.LinAlgError as failure:
        raise Undecided(f"the singular value decomposition failed: {failure}") from failure
    u, s, v = _normal(left), _normal(values), _normal(right.T)
    with np.errstate(all="ignore"):  # what overflows ends in _norm
        error = _shortened_up(error + _residual(scaled, u, s, v))
        defects = _orthogonality_defect(u), _orthogonality_defect(v)
    scale = Fraction(2) ** exponent
    if max(defects) >= 1:
        return RigorousRank(0, Fraction(0), error * scale)
    lower = _root((1 - defects[0]) * (1 - defects[1]))[0]
    proved = [sigma for sigma in (lower * abs(Fraction(float(value))) for value in s) if sigma > error]
    return RigorousRank(len(proved), min(proved, default=Fraction(0)) * scale, error * scale)


def _scaled(matrix: Matrix) -> tuple[Array, int, Fraction]:
    """Step 1: Y, b and a bound on ||2^-b A - Y||."""
    if np.float64(5e-324) * np.float64(2.0**1000) == 0:
        raise Undecided("this process reads subnormal numbers as zero, so that scaling by powers of 2 is not exact")
    if isinstance(matrix, np.ndarray) and matrix.dtype in FLOAT_TYPES:
        _check_array(matrix)
        values = matrix.astype(np.float64)
        exponent = int(np.frexp(np.abs(values).max())[1])
        y, unit = _normal(np.ldexp(values, -exponent)), Fraction(0)
    else:
        rows = exact_entries(matrix)
        sizes = (a.numerator.bit_length() - a.denominator.bit_length() + 1 for row in rows for a in row if a)
        exponent = max(sizes, default=0)
        up, down = 2 ** max(-exponent, 0), 2 ** max(exponent, 0)  # int / int rounds to nearest, whatever the sizes
        y = _normal(np.array([[a.numerator * up / (a.denominator * down) for a in row] for row in rows]))
        unit = UNIT
    return y, exponent, unit * _norm(y) + 2 * TAU * _root(Fraction(y.size))[1]


def _residual(y: Array, u: Array, s: Array, v: Array) -> Fraction:
    """Step 4: a bound on ||Y - U diag(s) V^T||."""
    w = _normal(u * s)
    r, big = y - w @ v.T, np.abs(w) @ np.abs(v).T
    gamma, ones = _gamma(len(s)), _root(Fraction(y.size))[1]
    c = 2 * len(s) * TAU * (1 + gamma)
    underflow = c * ones + 4 * TAU * _root(Fraction(u.size))[1] * _norm(v)
    products = (gamma + UNIT / (1 - UNIT)) * (_norm(big) + c * ones) / (1 - gamma)
    return (_norm(r) + TAU * ones) / (1 - UNIT) + underflow + products


def _orthogonality_defect(u: Array) -> Fraction:
    """Step 3: a bound on ||U^T U - I||."""
    m, k = u.shape
    h = u.T @ u - np.eye(k)
    gamma = _gamma(m)
    return (_norm(h) + k * TAU) / (1 - UNIT) + gamma * _norm(u) ** 2 + 2 * m * k * TAU * (1 + gamma)


def _norm(x: Array) -> Fraction:
    """Step 2: an upper bound on the Frobenius norm."""
    total = float(np.sum(x * x))
    if not np.isfinite(total):
        raise Undecided("the singular value decomposition is not finite, or overflows when multiplied out")
    gamma = _gamma(x.size)
    return _root((Fraction(total) + 2 * x.size * TAU * (1 + gamma)) / (1 - gamma))[1]


def _gamma(k: int) -> Fraction:
    return k * UNIT / (1 - k * UNIT)


def _normal(x: Array) -> Array:
    """x with 0 in place of numbers smaller than the least normal number."""
    return np.where(np.abs(x) < LEAST_NORMAL, 0.0, x)


def _root(q: Fraction) -> tuple[Fraction, Fraction]:
    """Dyadic bounds on the square root of q >= 0, from below and from above, 64 bits or more."""
    if q == 0:
        return Fraction(0), Fraction(0)
    shift = 65 + (q.denominator.bit_length() - q.numerator.bit_length()) // 2
    root = isqrt(floor(q * Fraction(4) ** shift))
    return root / Fraction(2) ** shift, (root + 1) / Fraction(2) ** shift


def _shortened_up(q: Fraction) -> Fraction:
    """A dyadic upper bound on q > 0 of 64 bits or so."""
    step = Fraction(2) ** (q.numerator.bit_length() - q.denominator.bit_length() - 64)
    return ceil(q / step) * step
