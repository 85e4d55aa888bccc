"""B0 and B1: certificates, and the best chains by enumeration of compositions."""

import json
from fractions import Fraction
from functools import cache
from math import prod

import pytest

from proofcheck.domination import violations
from proofcheck.errors import ClaimFails
from proofcheck.theorems import central

from .checking import of_claim, verified

HALF = Fraction(1, 2)


@cache
def compositions(total):
    return [()] if total == 0 else [(g, *rest) for g in range(1, total + 1) for rest in compositions(total - g)]


def largest(n, eps, distance):
    """w(D) over all compositions into gaps with mu >= 1; None if there is none."""
    products = [
        prod(factors)
        for gaps in compositions(distance)
        if min(factors := [(n - 2) * (d - 2 * eps) / (2 * eps) for d in gaps]) >= 1
    ]
    return max(products, default=None)


def test_both_directions(tmp_path):
    shown = central.show()
    reports = verified(shown, tmp_path)
    assert set(reports) == {"domination/domination-sufficient", "domination/domination-necessary"}
    assert all("for all n >= 3, 0 < eps <= 1/2" in report.message for report in reports.values())
    assert shown.uncovered == ()


@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (4, Fraction(1, 4)), (8, Fraction(3, 10)), (3, Fraction(2, 5))])
def test_chains_and_their_tightness(tmp_path, n, eps):
    delta = Fraction(1, 50)
    shown = central.show_chains(n, eps, range(1, 12), delta)
    verified(shown, tmp_path)
    expected = {distance: largest(n, eps, distance) for distance in range(1, 12)}
    chains = {c.parameters["distance"]: Fraction(c.parameters["factor"]) for c in of_claim(shown, "chain")}
    assert chains == {distance: weight for distance, weight in expected.items() if weight is not None}
    tight = {c.parameters["distance"]: Fraction(c.parameters["bound"]) for c in of_claim(shown, "chain-tight")}
    assert tight == {distance: weight + delta for distance, weight in chains.items()}
    for distance, weight in expected.items():
        figure = shown.figures[f"D={distance}"]
        assert figure == "no admissible chain" if weight is None else figure.startswith(f"w = {weight} by gaps ")


def test_a_tight_row_satisfies_b0_and_is_near_the_bound():
    checked = central.tight(3, HALF, 12, Fraction(1, 1000), "a test")
    witness = json.loads(checked.data)["witness"]["assignment"]
    row = {level: (level, Fraction(witness[f"a{level}"])) for level in range(13)}
    assert violations(3, HALF, 12, Fraction(witness["s"]), row) is None
    assert row[0][1] <= (27 + Fraction(1, 1000)) * row[12][1]


def test_no_chain_no_tightness():
    with pytest.raises(ClaimFails, match="no admissible chain spans the distance 1 at n=3, eps=1/2"):
        central.tight(3, HALF, 1, Fraction(1, 10), "a test")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (4, Fraction(1, 4)), (8, Fraction(3, 10))])
def test_the_table_up_to_40(tmp_path, n, eps):
    """Against a dynamic programme over all gaps, none left out as useless."""
    weights = {0: Fraction(1)}
    for distance in range(1, 41):
        ends = [
            weights[distance - d] * mu
            for d in range(1, distance + 1)
            if distance - d in weights and (mu := (n - 2) * (d - 2 * eps) / (2 * eps)) >= 1
        ]
        if ends:
            weights[distance] = max(ends)
    shown = central.show_chains(n, eps, range(2, 41))
    verified(shown, tmp_path)
    chains = {c.parameters["distance"]: Fraction(c.parameters["factor"]) for c in of_claim(shown, "chain")}
    assert chains == {distance: weight for distance, weight in weights.items() if distance >= 2}
    assert len(of_claim(shown, "chain-tight")) == len(chains)
