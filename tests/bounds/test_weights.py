"""Heads that treat bits alike: what is found, the same heads written out as tables, and with real points."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.bounds import ledger, weights
from proofcheck.bounds.weights import Rows, Shape
from proofcheck.certificate import certify
from proofcheck.theorems.bundle import foundation
from tests.kernel import bounds_oracle, weights_tables

HALF = Fraction(1, 2)
CERTIFICATES = Path(__file__).parents[2] / "certificates"

found = cache(lambda shape, n=3, eps=HALF: weights.certificate(shape, n, eps, "test"))


def places(m, witness):
    """The class of every token: (u, w) as one number."""
    main = m - witness["apart"]
    tokens = np.arange(1 << m)
    inner = tokens & ((1 << main) - 1)
    return (tokens >> main) * (main + 1) + np.bitwise_count(inner).astype(int), inner, main


def written_out(m, witness):
    """Integer features without points: M z_i - w for every bit i, M of them a slope (one more than the rank)."""
    at, inner, main = places(m, witness)
    bits = inner[:, None] >> np.arange(main) & 1
    rows = [[Fraction(q) for q in row] for row in witness["coefficients"]]
    scale = np.lcm.reduce([q.denominator for row in rows for q in row])
    chosen = np.array([[int(q * int(scale)) for q in row] for row in rows], dtype=object)[at]
    queries, keys = [], []
    for i, slope in enumerate(witness["slopes"]):
        queries.append(chosen[:, [i]] * bits)
        keys.append(np.array(slope, dtype=object)[at][:, None] * (main * bits - bits.sum(axis=1, keepdims=True)))
    for j, function in enumerate(witness["functions"]):
        queries.append(chosen[:, [len(witness["slopes"]) + j]])
        keys.append(np.array(function, dtype=object)[at][:, None])
    return np.hstack(queries), np.hstack(keys)


def as_a_table(m, n, eps, witness):
    queries, keys = written_out(m, witness)
    parameters = {"m": m, "n": n, "eps": eps, "rank": keys.shape[1]}
    uses = [foundation("domination-sufficient")[1]]
    tables = {"queries": queries.tolist(), "keys": keys.tolist()}
    return certify("head-exists", parameters, "table-head", tables, command="test", uses=uses)


@pytest.mark.parametrize(
    ("shape", "n", "eps"),
    [
        (Shape(4), 3, HALF),
        (Shape(5, apart=1), 3, HALF),
        (Shape(4, apart=1), 4, HALF),
        (Shape(4), 3, Fraction(1, 4)),
    ],
)
def test_heads_are_found_and_are_right_as_tables(shape, n, eps):
    """The kernel's other rule, on all 4^m pairs of tokens, and the rank by elimination."""
    certificate = found(shape, n, eps)
    assert certificate.parameters["rank"] == shape.rank == shape.main - 1 + 1
    witness = json.loads(certificate.data)["witness"]
    assert as_a_table(shape.m, n, eps, witness).verdict
    queries, keys = written_out(shape.m, witness)
    assert np.linalg.matrix_rank((queries @ keys.T).astype(float)) <= shape.rank


def test_the_same_arguments_give_the_same_bytes():
    once = weights.certificate(Shape(4), 3, HALF, "test").data
    assert once == found(Shape(4)).data


def test_nothing_is_found_beyond_the_end():
    """m = 6 at n = 3, eps = 1/4: between overlaps 0 and 2, for |x| = |z| = 3, a > 3 (a - 2p) + (a - 3p), that is
    alpha(x,x) = a - 3p < 0."""
    shape = Shape(6)
    tables = shape.start(0.7)
    queries = [Rows(shape, 0, h, 3, Fraction(1, 4)) for h in range(7)]
    assert queries[3].solve(tables, 0.0) is None
    assert queries[3].solve(tables, -0.5) is not None


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(0, 1), st.integers(0, 1), st.integers(0, 2**32))
def test_rows_are_those_of_the_tokens(m, apart, points, seed):
    """Entries of a class of queries against all tokens: the same (class, overlap, slope, P) with P in its range."""
    shape = Shape(m, apart=apart, points=points)
    source = np.random.default_rng(seed)
    x = int(source.integers(1 << m))
    mask = (1 << shape.main) - 1
    rows = Rows(shape, x >> shape.main, (x & mask).bit_count(), 3, HALF)
    listed = set(zip(rows.token.tolist(), rows.level.tolist(), map(tuple, rows.factor.tolist()), strict=True))
    expected = set()
    for z in range(1 << m):
        h, w, inside = (x & mask).bit_count(), (z & mask).bit_count(), (x & z & mask).bit_count()
        place = (z >> shape.main) * (shape.main + 1) + w
        ends = [1.0] if (x ^ z) & mask in (0, mask) else [shape.below_one(), -1.0]
        for end in ends if points else [None]:
            factor = (inside - h * w / shape.main, 1.0) + (() if end is None else (end,))
            expected.add((place, (x & z).bit_count(), factor))
    assert listed == expected
    assert rows.token[rows.own] == (x >> shape.main) * (shape.main + 1) + (x & mask).bit_count()


def points_apart(count, source):
    """`count` unit vectors with the inner products that TRUST.md promises, chosen greedily from many."""
    chosen = np.empty((0, 3))
    for _ in range(200):
        candidates = source.normal(size=(4000, 3))
        candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
        for point in candidates:
            if len(chosen) == count:
                return chosen
            if not len(chosen) or (chosen @ point).max() <= 1 - 2 / count:
                chosen = np.vstack([chosen, point])
    raise AssertionError(f"{len(chosen)} of {count} points")


@pytest.mark.parametrize("main", [2, 3, 4, 5, 6, 7, 8])
def test_so_many_points_exist(main):
    count = 2 ** (main - 1)
    points = points_apart(count, np.random.default_rng(1))
    products = points @ points.T - 2 * np.eye(count)
    assert products.max() <= Shape(main, points=1).below_one() + 1e-12


@pytest.mark.parametrize(
    "name", ["weight-points-m4", "weight-points-m3", "weight-points-m2", "weight-apart-with-points-m4"]
)
def test_heads_with_points_written_out(name):
    """Explicit real features: B0 on all pairs of tokens, and the rank that was counted."""
    fields = weights_tables.valid()[name]
    m, witness = fields["parameters"]["m"], json.loads(json.dumps(fields["witness"], default=str))
    at, inner, main = places(m, witness)
    without = {**witness, "points": [], "coefficients": [row[:-1] for row in witness["coefficients"]]}
    queries, keys = written_out(m, without)
    rows = [[Fraction(q) for q in row] for row in without["coefficients"]]
    scale = float(np.lcm.reduce([q.denominator for row in rows for q in row]))
    kernel = (queries @ keys.T).astype(float) / scale
    pairs = np.minimum(inner, inner ^ ((1 << main) - 1))
    points = points_apart(2 ** (main - 1), np.random.default_rng(0))[pairs]
    turn = np.array([float(Fraction(row[-1])) for row in witness["coefficients"]])[at]
    kernel += turn[:, None] * (points @ points.T) * np.array(witness["points"][0], dtype=float)[at]
    assert np.linalg.matrix_rank(kernel, tol=1e-9) <= fields["parameters"]["rank"]
    exact = [[Fraction(value).limit_denominator(10**12) for value in row] for row in kernel.tolist()]
    assert bounds_oracle.broken(exact, 3, HALF) == ""


@pytest.mark.slow
def test_the_shipped_head_of_ten_bits_as_a_table():
    """Nine features: all 4^10 pairs of tokens by the rule for tables, and the rank in floats."""
    entry = ledger.best(ledger.read(CERTIFICATES), 10, "upper")
    assert (entry.m, entry.value, entry.method) == (10, 9, "weight-head")
    witness = json.loads(entry.data)["witness"]
    assert as_a_table(10, 3, HALF, witness).verdict
    queries, keys = written_out(10, witness)
    assert np.linalg.matrix_rank((queries @ keys.T).astype(float)) == 9
