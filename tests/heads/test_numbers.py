"""The numbers of features, and the interface of a head where users go wrong."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from proofcheck.errors import UsageError
from proofcheck.heads import Head, bits, dyadic
from proofcheck.heads.builtin import build
from proofcheck.heads.numbers import numbers
from proofcheck.heads.tables import table
from proofcheck.rank import exact_rank


@pytest.mark.parametrize(
    ("name", "nominal", "rank"),
    [("constant", 1, 1), ("softmin", 64, 64), ("one-hot", 64, 64), ("symmetric", 22, 22), ("elu1", 30, 30)],
)
def test_ranks(name: str, nominal: int, rank: int) -> None:
    found = numbers(build(name, 6, 30))
    assert (found.nominal, found.rank, found.significant) == (nominal, rank, rank)


def test_taylor_has_fewer_than_it_seems() -> None:
    """73 features; equal columns leave 45; rounding aside 37 = 1 + m + C(m,2) are left on the cube."""
    found = numbers(build("taylor", 8, 73))
    assert found.nominal == 73
    assert found.significant == 1 + 8 + comb(8, 2)
    assert found.rank is not None
    assert 37 <= found.rank <= 45


def test_more_features_than_tokens() -> None:
    assert numbers(build("exp", 3, 50)).rank == 8


def test_never_of_a_float32_gram() -> None:
    """The Gram matrix of 16 features, rounded to float32, is another matrix, of nearly full rank."""
    head = build("exp", 7, 16)
    gram = head.kernel(range(128), range(128)).astype(np.float32)
    assert exact_rank(gram) > 100
    assert numbers(head).rank == 16


def test_rationals_and_state() -> None:
    rows = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 7), Fraction(2, 7)]]
    found = numbers(table(rows, rows), width=4)
    assert (found.nominal, found.rank, found.state) == (2, 1, 10)
    assert numbers(build("constant", 3, 1)).state == 4
    assert numbers(build("elu1", 9, 4)).rank is None
    assert "rank 1 on the cube" in str(found)


def head_of(features: object) -> Head:
    return Head("mine", 3, 2, lambda b: features(b), lambda b: np.ones((len(b), 2)))  # type: ignore[operator]


def test_wrong_features_name_the_token() -> None:
    with pytest.raises(UsageError, match=r"mine: queries gave an array of shape \(4, 3\), expected \(4, 2\)"):
        head_of(lambda b: np.ones((len(b), 3))).kernel([0, 1, 2, 3], [0])
    for bad in (np.nan, np.inf):
        with pytest.raises(UsageError, match=f"feature 1 of queries at token 0x5 is {bad}"):
            head_of(lambda b, bad=bad: np.where((b @ [1, 2, 4] == 5)[:, None], [[1, bad]], 1.0)).exact(5, [0])


def test_bits_and_dyadic() -> None:
    assert bits([0b110], 3).tolist() == [[0, 1, 1]]
    assert bits([1 << 99], 100)[0].tolist() == [0] * 99 + [1]
    assert dyadic(np.array([0.5, 3, 2.0**-1074])) == ([1 << 1073, 3 << 1074, 1], 1074)
