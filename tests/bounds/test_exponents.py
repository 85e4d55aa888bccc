"""Exponents for all m: the certificates, their consistency with finite layers and heads, and forged ones."""

from fractions import Fraction
from math import log2

import pytest

from proofcheck.bounds import exponents, layers
from proofcheck.certificate import certify
from proofcheck.kernel.exact import Rejected
from proofcheck.theorems.bundle import foundation

from .realise import decided

HALF = Fraction(1, 2)
GRID = [(n, eps) for n in (3, 4, 8, 64, 1024) for eps in (HALF, Fraction(1, 4), Fraction(1, 10))]


def mu(n, eps, d):
    return (n - 2) * (d - 2 * eps) / (2 * eps)


def lower(parameters, witness):
    uses = [foundation("approximate-identity")[1], foundation("gap-domination-symbolic")[1]]
    return certify("lower-exponent", parameters, "lower-exponent", witness, command="test", uses=uses)


def upper(parameters, witness):
    uses = [foundation("domination-sufficient")[1]]
    return certify("upper-exponent", parameters, "upper-exponent", witness, command="test", uses=uses)


def parts(certificate):
    """Parameters as numbers, and the witness."""
    found = {k: Fraction(v) if k not in ("n",) else v for k, v in certificate.parameters.items()}
    return found, dict(certificate.report.certificate.witness)


# ------------------------------------------------------------------------------------------ below


@pytest.mark.parametrize(("n", "eps"), GRID)
def test_lower_exponents_verify_with_nothing_assumed(n, eps):
    certificate = exponents.lower(n, eps, "test")
    assert certificate.verdict.assumed == []
    found, _ = parts(certificate)
    rho = max(float(mu(n, eps, d)) ** (1 / d) for d in range(1, 60) if mu(n, eps, d) > 0)
    assert abs(exponents.exponents(n, eps)[0] - log2(2 * rho / (1 + rho))) < 1e-9
    assert 0 <= log2(2 * rho / (1 + rho)) - log2(2 / (1 + found["a"])) < 2e-3


def test_the_exponent_of_the_issue():
    found, _ = parts(exponents.lower(3, HALF, "test"))
    assert 0.1861 < log2(2 / (1 + found["a"])) < 0.1862
    found, _ = parts(exponents.upper(3, HALF, "test"))
    assert 0.3129 <= log2(2 - 1 / found["rho"]) < 0.316


def closed_form(found, even):
    return (2 / (1 + found["a"])) ** even / (4 * found["kappa"] * (even + 1))


@pytest.mark.parametrize(("n", "eps"), GRID)
def test_the_closed_form_is_no_better_than_finite_layers(n, eps):
    """For each m the finite bound has more freedom. With kappa at least 1 no closed form can exceed 2^m either."""
    found, _ = parts(exponents.lower(n, eps, "test"))
    for m in (2, 3, 8, 9, 17, 32, 65, 104, 200):
        layer = layers.best_layer(m, n, eps)
        value = 1 if layer is None else layers.bound(layer, n, eps)
        assert closed_form(found, m - m % 2) <= value <= 2**m


@pytest.mark.parametrize("eps", [HALF, Fraction(1, 4)])
def test_kappa_bounds_every_factor(eps):
    """w(D)^-2 <= kappa a^(2D), far beyond the distances that the kernel looks at, with the best chains."""
    found, witness = parts(exponents.lower(3, eps, "test"))
    w = [Fraction(1)]
    for total in range(1, 80):
        ways = [w[total - d] * mu(3, eps, d) for d in range(1, total + 1) if mu(3, eps, d) >= 1 and w[total - d]]
        w.append(max(ways, default=Fraction(0)))
    for distance in range(1, 80):
        factor = w[distance] if distance >= witness["distance"] else 1
        assert found["kappa"] * found["a"] ** (2 * distance) * factor**2 >= 1


@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (3, Fraction(1, 4)), (4, HALF), (8, HALF), (64, HALF)])
def test_too_good_lower_exponents_are_refused(n, eps):
    certificate = exponents.lower(n, eps, "test")
    found, witness = parts(certificate)
    g = witness["gap"]
    assert lower(found, witness).id == certificate.id
    with pytest.raises(Rejected, match=rf"expected a < 1 and a\^{g} mu\({g}\) >= 1"):
        lower(found | {"a": found["a"] - Fraction(2, 10**6)}, witness)
    with pytest.raises(Rejected, match=r"kappa is too small at the distance \d+"):
        lower(found | {"kappa": found["kappa"] - Fraction(1, 1000)}, witness)
    with pytest.raises(Rejected, match="expected a < 1"):
        lower(found | {"a": Fraction(1)}, witness)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gap": 1}, "witness.gap: 1 is below the least admissible gap 2"),
        ({"gap": 4}, r"a\^4 mu\(4\) >= 1"),
        ({"gaps": [1, 5]}, r"witness.gaps: 1 is below"),
        ({"distance": 1}, "no chain of the listed gaps spans the distance 1"),
        ({"distance": 20}, "kappa is too small at the distance"),
    ],
)
def test_forged_lower_witnesses_are_refused(changes, message):
    found, witness = parts(exponents.lower(3, HALF, "test"))
    with pytest.raises(Rejected, match=message):
        lower(found, witness | changes)


# ------------------------------------------------------------------------------------------ above


@pytest.mark.parametrize(("n", "eps"), GRID)
def test_upper_exponents_assume_bernsteins_inequality_alone(n, eps):
    certificate = exponents.upper(n, eps, "test")
    (assumed,) = certificate.verdict.assumed
    assert "Bernstein" in assumed
    found, _ = parts(certificate)
    below, above = exponents.exponents(n, eps)
    assert below <= above <= log2(2 - 1 / found["rho"]) < 1
    assert log2(2 - 1 / found["rho"]) - above < 5e-3


@pytest.mark.parametrize(("n", "eps"), GRID)
def test_worst_samples_satisfy_b0(n, eps):
    """The inequality that TRUST.md prints, from B0 itself, at the worst values that the sample may take."""
    found, witness = parts(exponents.upper(n, eps, "test"))
    rho, eta, c0 = found["rho"], found["eta"], Fraction(witness["c0"])
    s, length, others = 1 - c0, n - 1, n - 2
    for outside in (0, 1, 2, 7, 30):
        for d in (*range(1, 40), 97, 150):
            y = (1 - eta) * rho ** (outside + d) - c0
            z = (1 + eta) * rho**outside - c0 if outside else s
            assert y > 0
            assert 2 * eps * y > others * (d - 2 * eps) * z + (Fraction(others * d, length) - 2 * eps) * s


@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (4, Fraction(1, 4)), (64, Fraction(1, 10))])
def test_all_features_kept_is_a_correct_head(n, eps):
    """For small m every set is kept: alpha = rho^|x\\z| - c0, decided for every query by `domination`."""
    found, witness = parts(exponents.upper(n, eps, "test"))
    for m in (1, 3, 5):
        powers = [found["rho"] ** k - Fraction(witness["c0"]) for k in range(m + 1)]
        matrix = [[powers[(x & ~z).bit_count()] for z in range(1 << m)] for x in range(1 << m)]
        assert decided(matrix, n, eps) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rho": Fraction(131, 100)}, r"the gap \d+ fails: rho is too small"),
        ({"rho": Fraction(1)}, "rho > 1"),
        ({"eta": Fraction(1, 4)}, r"the gap \d+ fails|expected 0 < c0"),
        ({"eta": Fraction(1)}, "0 < eta < 1"),
        ({"last": 4}, "the growth from 4 on is not covered"),
        ({"c0": Fraction(1)}, "expected 0 < c0 < 1"),
        ({"c0": Fraction(0)}, "expected 0 < c0 < 1"),
        ({"c0": Fraction(1, 100)}, r"the gap \d+ fails"),
    ],
)
def test_forged_upper_exponents_are_refused(changes, message):
    found, witness = parts(exponents.upper(3, HALF, "test"))
    parameters = {k: changes.get(k, v) for k, v in found.items()}
    with pytest.raises(Rejected, match=message):
        upper(parameters, {k: changes.get(k, v) for k, v in witness.items()})


def test_a_tiny_kappa_is_refused():
    """It would say r >= 617,000 at m = 2, where 2^m = 4: 1 + W <= 4 kappa (1+a)^M needs kappa >= 1/4."""
    parameters = {"n": 1024, "eps": Fraction(1, 10), "a": HALF, "kappa": Fraction(1, 4_000_000)}
    assert closed_form(parameters, 2) > 2**2
    with pytest.raises(Rejected, match="kappa"):
        lower(parameters, {"gap": 1, "distance": 1, "gaps": [1]})
