"""Linear values and an affine readout: the loss against the exact verifier, and what a search ends with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck import whole  # noqa: E402
from proofcheck.errors import FAILS, PROVED, UsageError  # noqa: E402
from proofcheck.heads.tables import table  # noqa: E402
from proofcheck.kernel import minip  # noqa: E402
from proofcheck.neural import warm  # noqa: E402
from proofcheck.neural.constrained import Constrained, Readouts, finish  # noqa: E402
from proofcheck.neural.margins import Levels  # noqa: E402
from proofcheck.neural.parametrisations import LAYER, make  # noqa: E402
from proofcheck.neural.search import search  # noqa: E402
from proofcheck.neural.training import Settings  # noqa: E402

HALF = Fraction(1, 2)
HEADS = 4


def drawn(m, r, asked, name="bounded", seed=0, n=3, eps=HALF):
    maps = Constrained(make(name, m, r, LAYER, "cpu"), asked, n, eps, "cpu")
    free = maps.start(HEADS, torch.Generator().manual_seed(seed), "mixtures", 0.3, None)
    return maps, free + torch.randn(free.shape, generator=torch.Generator().manual_seed(seed + 1)) * 0.2


def numbers(maps, free, head):
    """Features, values, weights and offsets of one head, exactly those of its floats."""
    parts = [*maps.features(free), *maps.readout(free)]
    return [part[head].detach().double().numpy() for part in parts]


@pytest.mark.parametrize("asked", [Readouts(1), Readouts(3), Readouts(2, "affine"), Readouts(5, "affine")])
@pytest.mark.parametrize("name", ["bounded", "square", "linear"])
def test_parameters_and_readouts(asked, name):
    """Each part is where it belongs: changing it changes what it should, and nothing of other heads."""
    m = 3
    maps, free = drawn(m, 3, asked, name)
    parts = maps.parts(free)
    assert parts["V"].shape == (HEADS, asked.dv, m)
    assert sum(part.numel() for part in parts.values()) == free.numel()
    queries, keys, values, weights, offsets = numbers(maps, free, 1)
    bits = warm.bits(m)
    assert values == pytest.approx(bits @ parts["V"][1].double().numpy().T, abs=1e-6)
    w, beta = (parts[part][1].double().numpy() for part in ("w", "beta"))
    if asked.kind == "affine":
        extended = np.hstack([bits, np.ones((1 << m, 1))])
        w, beta = extended @ w, extended @ beta
    assert weights == pytest.approx(w, abs=1e-5)
    assert offsets == pytest.approx(beta[:, 0], abs=1e-5)
    inner = maps.kernel.features(parts["kernel"])
    assert (queries == inner[0][1].double().numpy()).all()
    assert (keys == inner[1][1].double().numpy()).all()


@pytest.mark.parametrize(("m", "n", "eps"), [(2, 3, HALF), (3, 3, HALF), (2, 4, Fraction(1, 4))])
def test_the_loss_has_the_sign_of_the_exact_verdict(m, n, eps):
    """On heads near the softmin head, correct ones and others; and a failure's worst sequence is found."""
    verdicts, levels = set(), Levels.build(m, n, eps)
    for base in (0.02, 0.08, 0.2, 0.5):
        maps = Constrained(make("exp", m, 1 << m, LAYER, "cpu"), Readouts(m), n, eps, "cpu")
        overlaps = np.bitwise_count(np.arange(1 << m)[:, None] & np.arange(1 << m))
        softmin = np.eye(1 << m) + 1e-6, base**overlaps
        free = maps.start(HEADS, torch.Generator().manual_seed(0), "mixtures", 0.05, softmin)
        violations = maps.violations(free, levels)
        for head in range(HEADS):
            queries, keys, values, weights, offsets = numbers(maps, free, head)
            given = table(queries, keys, values, weights, [Fraction(b) for b in offsets.tolist()])
            verdict = whole.verify(given, n, eps, certified=False)
            largest = float(violations[head].max())
            if abs(largest) > 1e-4:
                assert isinstance(verdict, whole.HeadCorrect) is (largest < 0)
                verdicts.add(largest < 0)
    assert verdicts == {True, False}


def test_heads_do_not_influence_each_other():
    maps, free = drawn(3, 2, Readouts(2, "affine"))
    free.requires_grad_()
    (gradient,) = torch.autograd.grad(maps.violations(free, Levels.build(3, 3, HALF))[2].amax(), free)
    assert float(gradient[:, 2].abs().max()) > 0
    assert float(gradient[:, [0, 1, 3]].abs().max()) == 0


@pytest.mark.parametrize("asked", [Readouts(3), Readouts(3, "affine"), Readouts(5)])
def test_a_head_with_a_readout_is_found(asked):
    outcome = search(3, 2, readout=asked, restarts=2)
    assert outcome.status == PROVED
    assert (outcome.whole.claim, outcome.whole.rule) == ("exhaustive-head", "separable")
    assert outcome.exists.parameters["rank"] == 2
    parameters = outcome.whole.parameters
    assert parameters["queries"] == outcome.head.queries.tolist()
    values = np.array([[float(Fraction(v)) for v in row] for row in parameters["values"]])
    assert values.shape == (8, asked.dv)
    assert np.allclose(values[0], 0)  # V 0
    assert np.allclose(values[7], values[1] + values[2] + values[4])  # linear
    if asked.kind == "affine":
        weights = np.array([[float(Fraction(v)) for v in row] for row in parameters["weights"]])
        assert np.allclose(weights[3] - weights[0], weights[1] + weights[2] - 2 * weights[0])


@pytest.mark.parametrize("m", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_least_rank_is_reached_with_linear_values(m):
    """Rank m-2, as without any constraint on the readout."""
    assert search(m, m - 2, readout=Readouts(m), settings=Settings(steps=1500), restarts=2).status == PROVED


def test_failures_are_refuted():
    """Rank 1 at m = 4: no readout at all; dv = 1 at m = 3: none of these values."""
    low = search(4, 1, readout=Readouts(4), restarts=1, heads=2, settings=Settings(steps=60))
    narrow = search(3, 2, readout=Readouts(1), restarts=1, heads=4, settings=Settings(steps=300))
    assert low.status == narrow.status == FAILS
    assert set(low.attempts[0].certificates) == {"refutation", "counterexample"}
    assert set(narrow.attempts[0].certificates) == {"counterexample", "readouts"}
    for outcome in (low, narrow):
        assert outcome.head is outcome.whole is None
        attempt = outcome.attempts[0]
        assert all(certificate.verdict.assumed == [] for certificate in attempt.certificates.values())
        found = attempt.counterexample
        assert found.target == minip.target(found.sequence, 0)
        assert found.error is None or found.error >= HALF
        assert attempt.as_json()["counterexample"]["sequence"] == [f"{z:x}" for z in found.sequence]


def test_a_wrong_head_does_not_pass_by_rounding():
    """`finish` decides exactly, whatever it is told about floats."""
    maps, free = drawn(3, 2, Readouts(3))
    assert float(maps.violations(free, Levels.build(3, 3, HALF))[0].max()) > 0
    found = finish(maps, free[:, 0], True, 3, HALF, "test")
    assert (found.head is None) is (found.counterexample is not None)
    if found.head is not None:  # the linear programme has mended the readout of a good kernel
        assert found.correct.certificate.claim == "exhaustive-head"


def test_a_warm_start():
    outcome = search(3, 3, readout=Readouts(3), warm=warm.complements(3), restarts=1)
    assert outcome.status == PROVED


@pytest.mark.parametrize(
    ("asked", "settings", "message"),
    [
        (Readouts(2, "cubic"), Settings(), "expected a readout of free, affine"),
        (Readouts(0), Settings(), "dv >= 1"),
        (Readouts(2), Settings(parametrisation="signed"), "kernel cannot be negative"),
    ],
)
def test_what_cannot_be_asked(asked, settings, message):
    with pytest.raises(UsageError, match=message):
        search(3, 2, readout=asked, settings=settings)
