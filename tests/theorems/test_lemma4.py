"""Lemma 4: examples meet its hypotheses, and its bound is below the exact rank of any matrix."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.rank import exact_rank
from proofcheck.theorems import lemma4

from .checking import of_claim, verified

ENTRIES = st.fractions(-3, 3, max_denominator=4)


@settings(max_examples=50)
@given(st.integers(1, 15), st.fractions(Fraction(1, 5), 8, max_denominator=9), st.integers(0, 10**6))
def test_examples_meet_the_hypotheses_and_the_bound(t, lam, seed):
    matrix = lemma4.example(t, lam, seed)
    assert [len(row) for row in matrix] == [t] * t
    for i, row in enumerate(matrix):
        assert row[i] == 1
        assert all(abs(entry) <= 1 / lam for j, entry in enumerate(row) if j != i)
    assert exact_rank(matrix) >= Fraction(t) / (1 + (t - 1) / lam**2)
    assert lemma4.example(t, lam, seed) == matrix


@settings(max_examples=40)
@given(st.integers(1, 6).flatmap(lambda t: st.lists(st.lists(ENTRIES, min_size=t, max_size=t), min_size=t, max_size=t)))
def test_trace_against_rank(matrix):
    trace = sum(row[i] for i, row in enumerate(matrix))
    norm = sum(entry**2 for row in matrix for entry in row)
    assert trace**2 <= exact_rank(matrix) * norm


@pytest.mark.parametrize(
    "matrix",
    [
        [[1]],
        [[1, 1], [1, 1]],
        [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]],
        [[0, 1], [1, 0]],
        [[1, 2, 3], [4, 5, 6]],
        [[-1, 0], [0, -1]],
        [[Fraction(1, 3), Fraction(2, 7)], [0, 5]],
    ],
)
def test_given_matrices(tmp_path, matrix):
    shown = lemma4.show([[Fraction(entry) for entry in row] for row in matrix])
    verified(shown, tmp_path)
    rank = exact_rank(matrix)
    by_rule = {c.rule: c.parameters["rank"] for c in of_claim(shown, "matrix-rank")}
    assert by_rule["rank-minor"] == rank
    assert shown.figures["exact rank"] == str(rank)
    if len(matrix) == len(matrix[0]):
        norm = sum(entry**2 for row in matrix for entry in row)
        bound = ceil(Fraction(sum(matrix[i][i] for i in range(len(matrix)))) ** 2 / norm)
        assert by_rule.get("rank-trace", 0) == bound <= rank
    else:
        assert "rank-trace" not in by_rule


@pytest.mark.parametrize(
    ("t", "lam", "seed"), [(1, 3, 0), (12, 3, 0), (12, Fraction(5, 2), 1), (30, 1, 2), (20, Fraction(1, 4), 3)]
)
def test_examples_as_certificates(tmp_path, t, lam, seed):
    shown = lemma4.show(t=t, lam=Fraction(lam), seed=seed)
    verified(shown, tmp_path)
    by_rule = {c.rule: c.parameters["rank"] for c in of_claim(shown, "matrix-rank")}
    assert by_rule["rank-trace"] >= Fraction(t) / (1 + (t - 1) / Fraction(lam) ** 2)
    assert by_rule["rank-trace"] <= by_rule["rank-minor"] == exact_rank(lemma4.example(t, Fraction(lam), seed))


def test_the_statement_names_only_what_is_shown():
    shown = lemma4.show([[Fraction(0)]])
    assert not of_claim(shown, "matrix-rank")
    assert "by a minor" not in shown.statement
