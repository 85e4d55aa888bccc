"""Both sides for many (m, n, eps): they never cross, and each is monotone where it must be."""

from fractions import Fraction
from functools import cache

import pytest

from proofcheck.bounds import best, small
from proofcheck.bounds.best import Bound
from proofcheck.certificate import certify
from proofcheck.errors import ClaimFails, UsageError
from proofcheck.kernel.check import Certificate, check
from proofcheck.theorems.bundle import foundation

HALF = Fraction(1, 2)
PAIRS = [(3, HALF), (3, Fraction(1, 4)), (4, HALF), (8, HALF)]

window = cache(best.window)


def sound(found, m, n, eps):
    """What must hold whatever the methods are. The certificates are checked again, with what they rest on."""
    assert 1 <= found.unconditional.value <= found.lower.value <= found.upper.value <= 2**m
    assert found.paper[0] <= found.paper[1] == 2**m
    assert found.unconditional.assumes == []
    assert len(found.lower.assumes) <= 1
    for bound, claim, field in (
        (found.lower, "feature-rank", "value"),
        (found.unconditional, "feature-rank", "value"),
        (found.upper, "head-exists", "rank"),
    ):
        p = bound.certificate.parameters
        assert bound.certificate.claim == claim
        assert (p["m"], p["n"], Fraction(p["eps"]), int(p[field])) == (m, n, eps, bound.value)
        known = {c.id: c.report for _, c in best.rested(bound.certificate)}
        assert not any("not supplied" in text for text in bound.assumes)
        assert check(Certificate(bound.certificate.data), known).assumed == bound.assumes


@pytest.mark.parametrize(("n", "eps"), PAIRS)
def test_the_sides_do_not_cross(n, eps):
    previous = 0
    for m in range(1, 11):
        found = window(m, n, eps)
        sound(found, m, n, eps)
        assert found.lower.value >= max(previous, m - 2)
        previous = found.lower.value


@pytest.mark.slow
@pytest.mark.parametrize(("n", "eps"), PAIRS)
def test_the_sides_do_not_cross_further_on(n, eps):
    """With m = 40 and the odd m between, as time allows; the lower side for every m."""
    previous = 0
    for m in range(1, 41):
        value = best.lower_bounds(m, n, eps, "test")[0].value
        assert value >= max(previous, m - 2)
        previous = value
    for m in (11, 12, 13, 14, 15, 16, 40):
        sound(window(m, n, eps), m, n, eps)


def test_the_ledgers_lower_side():
    """Issue: 1, 1, 1, 2, 3, 4, 5, 6, 7 for m = 1..9, of which m <= 6 with nothing assumed; 22 at 24, 26 at 28."""
    found = [window(m, 3, HALF) for m in range(1, 10)]
    assert [w.lower.value for w in found] == [1, 1, 1, 2, 3, 4, 5, 6, 7]
    assert [w.unconditional.value for w in found[:6]] == [1, 1, 1, 2, 3, 4]
    assert all(w.lower.assumes == [] for w in found[:6])
    for m, least in ((24, 22), (28, 26)):
        assert best.lower_bounds(m, 3, HALF, "test")[0].value >= least


def test_lower_bounds_hold_with_any_method_and_the_best_comes_first():
    for m in (3, 5, 8, 24):
        found = best.lower_bounds(m, 3, HALF, "test")
        assert [b.value for b in found] == sorted((b.value for b in found), reverse=True)
        assert found[-1].value == 1
        assert any(not b.assumes for b in found)


def test_longer_sequences_and_smaller_errors_need_no_fewer_features():
    """A head that is correct for longer sequences, or with a smaller error, is correct for the others."""
    for m in (12, 24, 48):
        for weaker, stronger in (((3, HALF), (4, HALF)), ((3, HALF), (3, Fraction(1, 4))), ((4, HALF), (8, HALF))):
            below = best.lower_bounds(m, *weaker, "test")[0].value
            assert below <= best.lower_bounds(m, *stronger, "test")[0].value


def test_the_papers_bounds():
    assert [best.paper_lower(m, 3, HALF) for m in (39, 40, 41, 79, 80, 128)] == [1, 8, 8, 8, 128, 2**11]
    for n, eps in PAIRS[1:]:
        for m in (2, 9, 16, 40, 64, 100):
            assert 1 <= best.paper_lower(m, n, eps) <= best.lower_bounds(m, n, eps, "test")[0].value


def test_json_of_a_window():
    found = window(4, 3, HALF).as_json()
    assert set(found) == {"m", "n", "eps", "lower", "unconditional", "upper", "paper"}
    assert found["lower"]["value"] == "2"
    assert found["lower"]["log2"] == "1.0000"
    assert found["paper"] == {"lower": {"value": "1", "log2": "0.0000"}, "upper": {"value": "16", "log2": "4.0000"}}


def test_too_many_bits():
    with pytest.raises(UsageError, match=f"-m: values beyond m = {best.LARGEST_M}"):
        best.window(best.LARGEST_M + 1, 3, HALF)


def test_crossing_sides_are_reported(monkeypatch):
    """If a kernel accepted too much, the window would say so."""
    wrong = Bound(99, "a wrong method", small.shattered(6, 3, HALF, "test"))
    monkeypatch.setattr(best, "lower_bounds", lambda *_: [wrong])
    with pytest.raises(ClaimFails, match=r"m=5.*the lower bound 99 \(a wrong method\) exceeds the upper bound"):
        best.window(5, 3, HALF)


def test_sampled_features_verify_and_assume_bernstein():
    """Chosen where it beats nothing: the certificate alone. One feature fewer than the formula gives is refused."""
    from proofcheck.kernel.exact import Rejected

    rho, eta, m = Fraction(1323, 1000), Fraction(1, 256), 400
    expected = 8 * m / eta**2 * (2 - 1 / rho) ** m
    features = expected.numerator // expected.denominator
    witness = {"rho": rho, "eta": eta, "c0": 1 - eta / 256, "last": 20}
    uses = [foundation("domination-sufficient")[1]]

    def certified(rank):
        parameters = {"m": m, "n": 3, "eps": HALF, "rank": rank}
        return certify("head-exists", parameters, "sampled", witness, command="test", uses=uses)

    assert features < 2**m
    (assumed,) = certified(features).verdict.assumed
    assert "Bernstein" in assumed
    with pytest.raises(Rejected, match="the sample may have up to"):
        certified(features - 1)
    found = best.upper_bound(m, 3, HALF, "test")
    assert found.value <= features
    assert found.method.startswith("sampled")
