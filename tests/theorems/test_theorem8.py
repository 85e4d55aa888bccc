"""Theorem 8: the identity and the conclusion on random heads with maps of their own at every position."""

import json
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.errors import UsageError
from proofcheck.kernel.claims import statement
from proofcheck.kernel.claims.forms import refutable
from proofcheck.kernel.claims.parameters import factor
from proofcheck.theorems import theorem8

from .checking import of_claim, verified

HALF = Fraction(1, 2)
SEEDS = st.integers(0, 10**9).map(random.Random)


def inputs(head):
    """Shifted numerators and denominators of Y, Z, M_1, .., M_L; head = (a, p, [(b, q)], [(c, s)])."""
    a, p, ys, zs = head
    length = len(ys)
    rows = {"Y": [(a, p), *ys], "Z": [(a, p), *zs]}
    rows |= {f"M{k}": [(a, p), *zs[:k], ys[k], *zs[k + 1 :]] for k in range(length)}
    return {
        name: (sum((w * v for w, v in row), Fraction(0)), sum((w for w, _ in row), Fraction(0)))
        for name, row in rows.items()
    }


def correct(head, d, eps):
    return all(
        den > 0 and abs(num / den - (d if name == "Z" else 0)) < eps for name, (num, den) in inputs(head).items()
    )


def rational(source, low, high, denominator=12):
    """A random rational in low..high."""
    return low + (high - low) * Fraction(source.randint(0, denominator), denominator)


def any_head(source):
    length = source.randint(2, 6)
    ys, zs = ([(rational(source, 0, 5), rational(source, -5, 5)) for _ in range(length)] for _ in "yz")
    return rational(source, 0, 5), rational(source, -5, 5), ys, zs


@given(SEEDS)
def test_the_identity(source):
    """sum_l N_{M_l} = N_Y + (L-1) N_Z, for numerators and for denominators."""
    head = any_head(source)
    rows, length = inputs(head), len(head[2])
    for part in (0, 1):
        total = sum(rows[f"M{k}"][part] for k in range(length))
        own = head[0] * head[1] if part == 0 else head[0]
        assert total == rows["Y"][part] + (length - 1) * rows["Z"][part]
        assert rows["Y"][part] - own == sum(w * (v if part == 0 else 1) for w, v in head[2])


def near_head(source):
    """A head whose values are about right, so that many are correct: y wins where it is present."""
    n, eps = source.randint(3, 7), source.choice([HALF, Fraction(1, 3), Fraction(1, 5)])
    d = 2 * eps * (n - 1) / (n - 2) * rational(source, 1, 3, 8)
    mu = factor(n, d, eps)
    scale = rational(source, Fraction(1, 2), 6)
    ys = [
        (mu * scale * rational(source, Fraction(4, 5), Fraction(6, 5)), eps * rational(source, -1, Fraction(-1, 2)))
        for _ in range(n - 1)
    ]
    zs = [
        (rational(source, Fraction(4, 5), Fraction(6, 5)), d + eps * rational(source, -1, Fraction(1, 2)))
        for _ in range(n - 1)
    ]
    return (rational(source, 0, 1), d * rational(source, 0, 1, 4), ys, zs), n, d, eps


def sums(head):
    return (sum((w for w, _ in part), Fraction(0)) for part in head[2:])


@settings(max_examples=400)
@given(SEEDS)
def test_correct_heads_dominate(source):
    head, n, d, eps = near_head(source)
    better, worse = sums(head)
    if correct(head, d, eps):
        assert better > factor(n, d, eps) * worse


def test_enough_of_them_are_correct_and_enough_are_near_the_boundary():
    heads = [near_head(random.Random(seed)) for seed in range(2000)]
    right = [(head, n, d, eps) for head, n, d, eps in heads if correct(head, d, eps)]
    assert len(right) > 100
    ratios = [better / (factor(n, d, eps) * worse) for head, n, d, eps in right for better, worse in [sums(head)]]
    assert 1 < min(ratios) < 2


@settings(max_examples=200)
@given(SEEDS, st.fractions(Fraction(1, 10), 1, max_denominator=20))
def test_scaled_down_to_the_boundary_no_head_is_correct(source, scale):
    """The contrapositive: sum_j A_j(x,y) <= mu sum_j A_j(x,z) makes Y, Z or some M_l fail."""
    (a, p, ys, zs), n, d, eps = near_head(source)
    better, worse = sums((a, p, ys, zs))
    shrink = scale * factor(n, d, eps) * worse / better
    assert not correct((a, p, [(w * shrink, q) for w, q in ys], zs), d, eps)


@pytest.mark.parametrize(
    ("n", "d", "eps"),
    [
        (3, 2, HALF),
        (3, Fraction(7, 3), HALF),
        (4, 1, Fraction(1, 4)),
        (5, Fraction(5, 2), Fraction(2, 7)),
        (6, 2, HALF),
        (12, 3, Fraction(1, 3)),
    ],
)
def test_certificates(tmp_path, n, d, eps):
    d = Fraction(d)
    shown = theorem8.show(n, d, eps)
    verified(shown, tmp_path)
    (written,) = of_claim(shown, "positional-domination")
    assert f"{4 * n - 2} variables" in shown.statement
    witness = json.loads(written.data)["witness"]
    length, inner = n - 1, n - 2
    multipliers = {name: Fraction(q) for name, q in witness["multipliers"].items()}
    # the identity of the specification, scaled: all M_l alike, Y once, Z L-1 = K times as often as one M_l
    scale = multipliers["M1.upper"]
    assert {multipliers[f"M{j}.upper"] for j in range(1, n)} == {scale}
    assert multipliers["Y.lower"] == scale
    assert multipliers["Z.lower"] == inner * scale
    conclusion = multipliers["negated-conclusion"]
    assert conclusion == scale
    a = (inner * d - 2 * eps * length) * scale  # what a keeps, removed by a >= 0
    assert multipliers.get("a", 0) == a >= 0
    rows = refutable(statement("positional-domination", json.loads(written.data)["parameters"]))
    total = sum((multipliers[name] * rows[name].poly for name in multipliers), start=0 * rows["a"].poly)
    assert set(total.terms) <= {()}
    model = {name: Fraction(q) for name, q in witness["model"].items()}
    assert len(model) == 4 * n - 2
    ys, zs = ([(model[f"{w}{j}"], model[f"{v}{j}"]) for j in range(1, n)] for w, v in ("bq", "cs"))
    assert correct((model["a"], model["p"], ys, zs), d, eps)


def test_the_largest_instance_and_the_first_too_large(tmp_path):
    verified(theorem8.show(40), tmp_path)
    with pytest.raises(UsageError, match="n <= 40, got 41; the theorem holds for all n"):
        theorem8.show(41)
    with pytest.raises(UsageError, match=r"d >= 2eps\(n-1\)/\(n-2\) = 5/4, got 6/5"):
        theorem8.show(6, Fraction(6, 5))
