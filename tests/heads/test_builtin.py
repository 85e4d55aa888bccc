"""Built-in kernels: what `known` says of each holds, by slow exact sums; the closed forms by their formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from proofcheck.domination import violations
from proofcheck.errors import Outside, UsageError
from proofcheck.heads import ClosedForm, Head, bits
from proofcheck.heads.activations import ACTIVATIONS
from proofcheck.heads.builtin import KERNELS, build, known
from proofcheck.kernel import minip
from proofcheck.rank import exact_rank

M, R = 5, 14
BUILDABLE = [name for name in KERNELS if name != "cosformer"]
RANKS = {"taylor": 13, "dpfp": 14, "constant": 1, "softmin": 32, "one-hot": 32, "symmetric": 6}
TOKENS = range(1 << M)


def slow(head: Head, x: int, z: int) -> Fraction:
    query, key = head.features("queries", [x])[0], head.features("keys", [z])[0]
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(query, key, strict=True)), Fraction(0))


@pytest.mark.parametrize("name", BUILDABLE)
def test_shapes_and_rank(name: str) -> None:
    """Features have the shape that `rank` says, which is the documented number."""
    head = build(name, M, R, 1)
    assert head.rank == RANKS.get(name, R)
    assert head.features("queries", TOKENS).shape == head.features("keys", TOKENS).shape == (32, head.rank)


@pytest.mark.parametrize("name", BUILDABLE)
def test_the_seed_decides(name: str) -> None:
    """The same seed gives the same head, another seed another one if the kernel is random at all."""
    one, same, other = (build(name, M, R, seed).kernel(TOKENS, TOKENS) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert np.array_equal(one, other) == (name in ("constant", "softmin", "one-hot", "symmetric"))


@pytest.mark.parametrize("name", BUILDABLE)
def test_exact_is_the_sum_of_products(name: str) -> None:
    """`exact` equals the sum over the features in fractions, `kernel` is close to it."""
    head = build(name, M, R, 3, {"w": "1/4"} if name == "softmin" else {})
    zs = [0, 3, 17, 31]
    for x in (0, 5, 31):
        exact = head.exact(x, zs)
        assert exact == [slow(head, x, z) for z in zs]
        assert head.kernel([x], zs)[0] == pytest.approx([float(value) for value in exact], rel=1e-12)


@pytest.mark.parametrize("name", BUILDABLE)
def test_a_token_alone_and_in_a_batch(name: str) -> None:
    """The linear maps are exact, so that the features of a token do not depend on its batch."""
    head = build(name, 9, 40, 2)
    together = head.features("keys", range(64))
    assert all(np.array_equal(together[z], head.features("keys", [z])[0]) for z in range(64))


@pytest.mark.parametrize("kernel", [k for k in known() if k.name in BUILDABLE], ids=lambda k: k.name)
def test_signs(kernel: Any) -> None:
    """The documented sign of alpha, exactly, on the whole cube."""
    head = build(kernel.name, M, R, 4, {"scale": 3} if kernel.name in ACTIVATIONS else {})
    values = [value for x in TOKENS for value in head.exact(x, TOKENS)]
    least = min(values)
    claims = {"signed": least < 0, "> 0": least > 0, ">= 0": least >= 0, ">= 1": least >= 1, "1": set(values) == {1}}
    assert claims.get(kernel.sign, least >= Fraction(1, 2) - Fraction(1, 10**12)), kernel.sign


@pytest.mark.parametrize("m", [70, 300])
@pytest.mark.parametrize("name", [name for name in BUILDABLE if name != "one-hot"])
def test_tokens_longer_than_a_machine_word(name: str, m: int) -> None:
    head = build(name, m, 30, 0)
    x, z = (1 << m) - 1, (1 << (m - 1)) | 1
    value = head.exact(x, [z])[0]
    assert float(value) == pytest.approx(float(head.kernel([x], [z])[0, 0]), rel=1e-9)
    if name != "dpfp":  # whose products of neighbours may all vanish
        assert head.kernel([x], [z])[0, 0] != 0


# --- each activation against its formula ------------------------------------------------------------------------


def elu(u: float) -> float:
    return u + 1 if u > 0 else math.exp(u)


U = [-1.5, 0.0, 0.75]
FORMULAS = {
    "elu1": [elu(u) for u in U],
    "relu": [0, 0, 0.75],
    "sqrelu": [0, 0, 0.5625],
    "exp": [math.exp(u) for u in U],
    "softplus": [math.log(1 + math.exp(u)) for u in U],
    "softmax-dim": [math.exp(u) / sum(map(math.exp, U)) for u in U],
    "hedgehog": [
        math.exp(2 * s * u) / sum(math.exp(2 * t * v) for t in (1, -1) for v in U) for s in (1, -1) for u in U
    ],
    "taylor": [1, *(u / 3**0.25 for u in U), *(u * v / 6**0.5 for u in U for v in U)],
    "dpfp": [0, 0, 0, 0.75 * 0, 1.5 * 0, 0],
    "identity": U,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name: str) -> None:
    if name == "dpfp":  # p = (0, 0, .75, 1.5, 0, 0), each entry times its predecessor
        expected = [0, 0, 0, 0.75 * 1.5, 0, 0]
    else:
        expected = FORMULAS[name]
    found = ACTIVATIONS[name].apply(np.array([U]))[0]
    assert len(found) == ACTIVATIONS[name].count(3)
    assert found == pytest.approx(expected, rel=1e-14)
    assert ACTIVATIONS[name].nonnegative is (name != "identity")


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("r", [1, 2, 3, 6, 7, 100])
def test_width_is_the_largest(name: str, r: int) -> None:
    count, d = ACTIVATIONS[name].count, ACTIVATIONS[name].width(r)
    assert d == 0 or count(d) <= r
    assert count(d + 1) > r


def test_taylor_kernel() -> None:
    """1 + s + s^2/2 with s = <u,v>/sqrt d; on the cube its rank is at most 1 + m + C(m,2), however many features."""
    wq, wk = (np.arange(12.0).reshape(4, 3) - 5) / 8, (np.arange(12.0).reshape(4, 3)[::-1] - 6) / 8
    head = build("taylor", 4, 1, 0, {"wq": wq, "wk": wk})
    s = (wq[0] + wq[2]) @ (wk[1] + wk[2]) / 3**0.5
    assert head.kernel([0b0101], [0b0110])[0, 0] == pytest.approx(1 + s + s * s / 2)
    wide = build("taylor", 4, 73, 1)
    values = np.linalg.svd(wide.kernel(range(16), range(16)))[1]
    assert wide.rank == 73
    assert values[11] < 1e-12 < values[10]
    # The features that floats hold are rounded, and their exact kernel has full rank: see `proofcheck.heads.numbers`.
    assert exact_rank([wide.exact(x, range(16)) for x in range(16)]) == 16


# --- random features of softmin ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["favor", "fourier"])
def test_random_features_approximate_softmin(name: str) -> None:
    """Unbiased: with many features the kernel is near e^(-tau <x,z>)."""
    head = build(name, 4, 40_000, 1, {"tau": "1/4"})
    found = head.kernel(range(16), range(16))
    expected = [[math.exp(-minip.overlap(x, z) / 4) for z in range(16)] for x in range(16)]
    assert found == pytest.approx(np.array(expected), abs=0.05)


def test_favor_stabilisers() -> None:
    """A token's own maximum is a factor for each token; the maximum over the sequence is refused."""
    plain, token = (build("favor", 5, 9, 1, {"stabiliser": s}) for s in ("none", "token"))
    ratio = plain.features("keys", TOKENS) / token.features("keys", TOKENS)
    assert ratio == pytest.approx(np.repeat(ratio[:, :1], 9, axis=1))
    with pytest.raises(Outside, match=r"sequence-coupled.*stabiliser=token") as caught:
        build("favor", 5, 9, 1, {"stabiliser": "sequence"})
    assert (caught.value.kind, caught.value.status) == ("sequence-coupled", 3)
    added = build("favor", 5, 9, 1, {"eps": "1/10000"}).features("queries", TOKENS)
    assert added == pytest.approx(plain.features("queries", TOKENS) + 1e-4 / 3)


def test_cosformer_is_sent_to_theorem_8() -> None:
    with pytest.raises(Outside, match=r"position-dependent.*Theorem 8"):
        build("cosformer", 5, 9)


# --- kernels of Min-IP ------------------------------------------------------------------------------------------


def as_oracle(head: Head) -> minip.Head:
    """The head with its readout, for the kernel's plain loops."""
    readout = head.readout
    assert readout is not None

    def g(x: int, z: int) -> Fraction:
        query, key = bits([x], head.m), bits([z], head.m)
        product = readout.weights(query)[0] @ readout.values(key)[0] + readout.offsets(query)[0]
        return Fraction(float(product))

    return minip.Head(head.m, lambda x, z: head.exact(x, [z])[0], g)


def test_softmin() -> None:
    head = build("softmin", 3, 1)
    assert isinstance(head, ClosedForm)
    assert head.exact(0b111, range(8)) == [Fraction(1, 6) ** z.bit_count() for z in range(8)]
    assert minip.correct_up_to(as_oracle(head), 3, Fraction(1, 2))
    assert not minip.correct_up_to(as_oracle(build("softmin", 3, 1, 0, {"w": "3/5"})), 3, Fraction(1, 2))
    by_tau = build("softmin", 3, 1, 0, {"tau": "2"})
    assert by_tau.exact(7, [1]) == [Fraction(math.exp(-2))]
    assert build("softmin", 5000, 1, 0, {"w": "1/2"}).exact(2**5000 - 1, [2**4999]) == [Fraction(1, 2)]
    with pytest.raises(UsageError, match="2\\^70 features are not written out"):
        build("softmin", 70, 1).features("keys", [1])


def test_one_hot() -> None:
    head = build("one-hot", 3, 1)
    assert head.exact(0b110, range(8)) == [Fraction(1, 8) ** minip.overlap(0b110, z) for z in range(8)]
    assert head.features("queries", range(8)).tolist() == np.eye(8).tolist()
    assert minip.correct_up_to(as_oracle(head), 3, Fraction(1, 2))


def test_constant() -> None:
    head = build("constant", 3, 7)
    assert minip.correct_up_to(as_oracle(head), 2, Fraction(1, 2))
    assert not minip.correct_up_to(as_oracle(head), 3, Fraction(1, 2))


def row_is_correct(head: Head, x: int, n: int = 3) -> bool:
    exact = head.exact(x, range(1 << head.m))
    tokens = {z: (minip.overlap(x, z), value) for z, value in enumerate(exact) if z != x}
    return violations(n, Fraction(1, 2), x.bit_count(), exact[x], tokens) is None


@pytest.mark.parametrize(("m", "degree", "heaviest"), [(7, 1, 5), (10, 2, 9)])
def test_symmetric(m: int, degree: int, heaviest: int) -> None:
    """The formula; correct for the weights that B3(a) names, by B0, and for no heavier query."""
    head = build("symmetric", m, 1, 0, {"K": degree})
    assert head.rank == sum(comb(m, k) for k in range(degree + 1))
    for x in (0, 1, (1 << m) - 2):
        expected = [sum(8**k * comb((x & ~z).bit_count(), k) for k in range(degree + 1)) for z in range(1 << m)]
        assert head.exact(x, range(1 << m)) == expected
    assert [row_is_correct(head, (1 << h) - 1) for h in range(m + 1)] == [h <= heaviest for h in range(m + 1)]


def test_symmetric_with_a_cut_off() -> None:
    """Queries above the cut-off have softmin rows, by features and by closed form; then every query is right."""
    head = build("symmetric", 6, 1, 0, {"K": 1, "cutoff": 5})
    assert head.rank == 1 + 6 + 1
    assert head.exact(63, range(64)) == [Fraction(1, 8) ** z.bit_count() for z in range(64)]
    assert all(slow(head, x, z) == head.exact(x, [z])[0] for x in (0, 31, 62, 63) for z in range(64))
    assert all(row_is_correct(head, x) for x in range(64))


def test_symmetric_takes_the_degree_that_r_allows() -> None:
    assert [build("symmetric", 6, r).rank for r in (1, 6, 7, 21, 22, 10**6)] == [1, 1, 7, 7, 22, 64]


# --- arguments --------------------------------------------------------------------------------------------------

BAD: list[tuple[str, int, int, dict[str, object], str]] = [
    ("elu2", 4, 4, {}, "unknown kernel 'elu2'; did you mean relu or elu1"),
    ("elu1", 0, 4, {}, "1 <= m"),
    ("elu1", 4, 0, {}, "1 <= r"),
    ("hedgehog", 4, 1, {}, "r >= 2"),
    ("fourier", 4, 1, {}, "r >= 2"),
    ("taylor", 4, 2, {}, "r >= 3"),
    ("elu1", 4, 4, {"scle": 1}, "did you mean 'scale'"),
    ("constant", 4, 4, {"w": 1}, "it has none"),
    ("elu1", 4, 4, {"scale": "0.1"}, "fraction p/q"),
    ("elu1", 4, 4, {"scale": "1/0"}, "fraction p/q"),
    ("elu1", 4, 4, {"scale": 0}, "> 0"),
    ("elu1", 4, 4, {"scale": 10**6}, "smaller scale"),
    ("elu1", 4, 4, {"scale": True}, "expected a number"),
    ("elu1", 4, 4, {"map": "tie"}, "one of random, tied, opposed"),
    ("elu1", 4, 4, {"wq": np.ones((4, 2))}, "together"),
    ("elu1", 4, 4, {"wq": np.ones((3, 2)), "wk": np.ones((3, 2))}, r"shape \(4, d\)"),
    ("elu1", 4, 4, {"wq": np.full((4, 2), np.nan), "wk": np.ones((4, 2))}, r"entry \(0, 0\) is nan"),
    ("softmin", 4, 4, {"w": "3/2"}, "0 < w < 1"),
    ("softmin", 4, 4, {"w": "1/2", "tau": 1}, "not both"),
    ("one-hot", 13, 4, {}, "m <= 12"),
    ("one-hot", 4, 4, {"w": "1/3"}, "1/2, 1/4"),
    ("dpfp", 4, 4, {"nu": "1/2"}, "an integer >= 1"),
    ("elu1", 2**14, 2**14, {}, "fewer features"),
]


@pytest.mark.parametrize(("name", "m", "r", "options", "reason"), BAD)
def test_bad_arguments(name: str, m: int, r: int, options: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        build(name, m, r, 0, options)


def test_maps() -> None:
    tied, opposed = (build("relu", 4, 6, 1, {"map": kind}) for kind in ("tied", "opposed"))
    every = range(16)
    assert np.array_equal(tied.features("queries", every), tied.features("keys", every))
    both = opposed.features("queries", every) * opposed.features("keys", every)
    assert not both.any()  # relu(u) relu(-u) = 0


def test_overflow_names_the_token() -> None:
    w = np.full((4, 1), 300.0)
    with pytest.raises(UsageError, match="feature 0 of keys at token 0x7 is inf"):
        build("exp", 4, 1, 0, {"wq": w, "wk": w}).features("keys", [0, 1, 7])


def test_known_is_complete() -> None:
    for kernel in known():
        assert all(isinstance(kernel.as_json()[field], str) and kernel.as_json()[field] for field in (
            "name", "features", "sign", "used", "remarks"))  # fmt: skip


@pytest.mark.parametrize("settings", [{"K": 2}, {"K": 1, "cutoff": 3}, {"K": 0, "lam": "1/3", "w": "2/7"}])
def test_levels_and_degrees_of_symmetric_kernels(settings: dict[str, object]) -> None:
    """Both agree with the kernel, which agrees with the features; beyond 256 bits there are no tables."""
    head = build("symmetric", 6, 64, 0, settings)
    assert isinstance(head, ClosedForm)
    assert head.levels is not None
    assert head.degrees is not None
    assert head.heaviest is not None
    floats = head.kernel(range(64), range(64))
    for x in range(64):
        for z, value in enumerate(head.exact(x, range(64))):
            h, overlap = x.bit_count(), (x & z).bit_count()
            assert head.levels[h][overlap] == value
            assert floats[x, z] == float(value)
            if h <= head.heaviest:
                assert value == sum(c * math.comb(h - overlap, k) for k, c in enumerate(head.degrees))
    tall = build("symmetric", 257, 64, 0, {"K": 1})
    assert isinstance(tall, ClosedForm)
    assert tall.levels is None
    tokens = [0, 1 << 256, 2**257 - 1]
    assert tall.kernel(tokens, tokens).tolist() == [[float(v) for v in tall.exact(x, tokens)] for x in tokens]
