"""Layer bounds against a slow exact computation from mathematics.md B2, and the theorem itself by enumeration."""

from fractions import Fraction
from itertools import combinations
from math import ceil, comb, log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.bounds import layers
from proofcheck.certificate import certify
from proofcheck.kernel.exact import Malformed, Rejected
from proofcheck.theorems.bundle import foundation

HALF = Fraction(1, 2)
REFERENCE = {24: 4.0, 64: 11.6, 128: 23.5, 168: 30.9, 256: 47.3, 320: 59.2}  # issue: log2 at n = 3, eps = 1/2
settings_ = settings(deadline=None, max_examples=60)


# ------------------------------------------------------------------------------------------ slow definitions


def best_products(n, eps, top):
    """w(0..top) as B1 defines it: the largest product over compositions into gaps with mu >= 1, or None."""

    def mu(d):
        return (n - 2) * (d - 2 * eps) / (2 * eps)

    w = [Fraction(1)]
    for total in range(1, top + 1):
        ways = [w[total - d] * mu(d) for d in range(1, total + 1) if mu(d) >= 1 and w[total - d] is not None]
        w.append(max(ways, default=None))
    return w


def exact_bound(n, eps, layer):
    """N q p^2/(p + q W) without rounding; None where a distance that is kept has no chain."""
    h, rest = layer.weight, layer.M - layer.weight
    w = best_products(n, eps, min(h, rest))
    near = sum(comb(h, d) * comb(rest, d) for d in range(1, layer.distance))
    far = Fraction(0)
    for d in range(layer.distance, min(h, rest) + 1):
        if w[d] is None:
            return None
        far += comb(h, d) * comb(rest, d) / w[d] ** 2
    kept = 1 - layer.q * near
    return comb(layer.M, h) * layer.q * kept**2 / (kept + layer.q * far)


def layer_of(size, h, distance, share):
    """A layer whose q is the given share of 1/V, or of 1 where V = 0."""
    near = sum(comb(h, d) * comb(size - h, d) for d in range(1, distance))
    return layers.Layer(size, h, distance, min(Fraction(1), share / near) if near else share, 0.0)


def certified(m, n, eps, layer, value, gaps=None):
    gaps = layers.useful_gaps(n, eps, layer.M) if gaps is None else gaps
    witness = {"M": layer.M, "weight": layer.weight, "distance": layer.distance, "q": layer.q, "gaps": gaps}
    uses = [foundation("approximate-identity")[1], foundation("gap-domination-symbolic")[1]]
    parameters = {"m": m, "n": n, "eps": eps, "value": value}
    return certify("feature-rank", parameters, "layer", witness, command="test", uses=uses)


@st.composite
def random_layers(draw):
    n, eps = draw(st.sampled_from([3, 4, 5, 8, 64])), draw(st.sampled_from([HALF, Fraction(1, 3), Fraction(1, 10)]))
    size = draw(st.integers(2, 26))
    h = draw(st.integers(1, size - 1))
    distance = draw(st.integers(1, min(h, size - h)))
    share = draw(st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000))
    return n, eps, layer_of(size, h, distance, share)


# ------------------------------------------------------------------------------------------ the integer


@settings_
@given(random_layers())
def test_the_kernel_gives_the_exact_bound_up_to_rounding(case):
    n, eps, layer = case
    exact = exact_bound(n, eps, layer)
    if exact is None:
        with pytest.raises(Rejected, match="no chain of the listed gaps spans the distance"):
            certified(layer.M, n, eps, layer, 1)
        return
    value = layers.bound(layer, n, eps)
    assert ceil(exact * (1 - Fraction(1, 2**200))) <= value <= ceil(exact)
    assert certified(layer.M + 1, n, eps, layer, max(1, value)).rule == "layer"
    with pytest.raises(Rejected, match=f"the layer gives only r >= {value}, not {value + 1}"):
        certified(layer.M, n, eps, layer, value + 1)


@pytest.mark.parametrize(("n", "eps"), [(3, HALF), (3, Fraction(1, 4)), (8, HALF)])
def test_the_best_layer_is_what_floats_promise(n, eps):
    for m in range(6, 60, 7):
        layer = layers.best_layer(m, n, eps)
        if layer is None:
            continue
        exact = exact_bound(n, eps, layer)
        assert layers.bound(layer, n, eps) == ceil(exact)
        assert abs(log2(exact) - layer.log2) < 1e-4
        certificate = layers.certificate(m, n, eps, layer, "test")
        assert int(certificate.parameters["value"]) == ceil(exact)
        assert not certificate.verdict.assumed


@pytest.mark.parametrize(("m", "least"), REFERENCE.items())
def test_reference_figures(m, least):
    layer = layers.best_layer(m, 3, HALF)
    certificate = layers.certificate(m, 3, HALF, layer, "test")
    assert log2(int(certificate.parameters["value"])) >= least
    assert not certificate.verdict.assumed


def test_no_layer_for_tiny_tokens():
    """One bit has two layers of one word each; two bits have no pair of words at distance 2."""
    assert layers.best_layer(1, 3, HALF) is None
    assert layers.best_layer(2, 3, HALF) is None


# ------------------------------------------------------------------------------------------ forged witnesses


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"q": Fraction(0)}, Rejected, "witness.q: expected 0 < q <= 1"),
        ({"q": Fraction(-1, 2)}, Rejected, "witness.q: expected 0 < q <= 1"),
        ({"q": Fraction(1, 144)}, Rejected, "and q < 1/144"),
        ({"distance": 1, "q": Fraction(2)}, Rejected, "spans the distance 1"),
        ({"distance": 1}, Rejected, "no chain of the listed gaps spans the distance 1"),
        ({"M": 26}, Malformed, "witness.M"),
        ({"weight": 25}, Malformed, "witness.weight"),
        ({"weight": 6}, Rejected, "the layer gives only r >="),
        ({"distance": 3, "q": Fraction(1, 150)}, Rejected, "and q < 1/4500"),
        ({"M": 20}, Rejected, "the layer gives only r >="),
    ],
)
def test_forged_layers_are_refused(changes, error, message):
    layer = layers.best_layer(24, 3, HALF)
    assert (layer.M, layer.weight, layer.distance) == (24, 12, 2)
    fields = {"M": 24, "weight": 12, "distance": 2, "q": layer.q} | changes
    forged = layers.Layer(fields["M"], fields["weight"], fields["distance"], fields["q"], 0.0)
    with pytest.raises(error, match=message):
        certified(24, 3, HALF, forged, layers.bound(layer, 3, HALF))


def test_gaps_must_be_admissible():
    layer = layers.best_layer(24, 3, HALF)
    with pytest.raises(Rejected, match=r"witness.gaps: 1 is below the least admissible gap 2"):
        certified(24, 3, HALF, layer, 2, gaps=[1, 5])


def test_fewer_gaps_give_less():
    """Without the useful gaps only single jumps remain; never more than the best chains give."""
    layer = layers.best_layer(64, 3, HALF)
    value = layers.bound(layer, 3, HALF)
    with pytest.raises(Rejected, match="the layer gives only r >="):
        certified(64, 3, HALF, layer, value, gaps=[])


# ------------------------------------------------------------------------------------------ the theorem itself


@pytest.mark.parametrize(
    ("size", "h", "distance", "n", "eps"),
    [
        (5, 2, 2, 3, HALF),
        (4, 2, 2, 3, HALF),
        (5, 2, 1, 8, Fraction(1, 4)),
        (5, 2, 2, 8, Fraction(1, 4)),
        (6, 1, 1, 4, Fraction(1, 5)),
        (4, 2, 2, 64, HALF),
    ],
)
def test_expurgation_by_enumerating_all_subsets(size, h, distance, n, eps):
    """E[T] and E[F] exactly, over all subsets of the layer: the inequalities of B2 in turn."""
    words = [sum(1 << i for i in chosen) for chosen in combinations(range(size), h)]
    far_apart = [[(s & ~u).bit_count() for u in words] for s in words]
    w = best_products(n, eps, h)
    random = Random(size * 100 + n)
    near = sum(comb(h, d) * comb(size - h, d) for d in range(1, distance))
    far = sum(comb(h, d) * comb(size - h, d) / w[d] ** 2 for d in range(distance, min(h, size - h) + 1))
    for _ in range(2):
        q = Fraction(random.randint(1, 99), 100) / max(1, near)
        mean_t = mean_f = best = Fraction(0)
        for subset in range(1 << len(words)):
            kept = [i for i in range(len(words)) if subset >> i & 1]
            left = [i for i in kept if all(i == j or far_apart[i][j] >= distance for j in kept)]
            f = sum((1 / w[far_apart[i][j]] ** 2 for i in left for j in left), Fraction(0))
            chance = q ** len(kept) * (1 - q) ** (len(words) - len(kept))
            mean_t += chance * len(left)
            mean_f += chance * f
            best = max(best, len(left) ** 2 / f if f else Fraction(0))
        kept_share = 1 - q * near
        assert mean_t >= len(words) * q * kept_share
        assert mean_f <= mean_t + len(words) * q * q * far
        formula = len(words) * q * kept_share**2 / (kept_share + q * far)
        assert formula <= mean_t**2 / mean_f <= best
        assert layers.bound(layers.Layer(size, h, distance, q, 0.0), n, eps) <= ceil(best)
