"""Refutations on the module itself: no affine readout repairs its own outputs."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck.domination import violations  # noqa: E402
from proofcheck.errors import Outside, UsageError  # noqa: E402
from proofcheck.neural import from_callables, from_module, replay_triples  # noqa: E402
from proofcheck.neural.triples import least_error  # noqa: E402

from .modules import Flash, Speaking  # noqa: E402

M = 8
X, Y, Z = 0xFF, 0x00, 0xF8


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_beyond_repair(dtype: torch.dtype) -> None:
    """The programme's optimum is the closed form, up to the residual of the dtype."""
    head = from_module(Speaking(M, dtype=dtype), M)
    found = replay_triples(head, X, Y, Z)
    assert found.targets == (0, 5, 0)
    assert found.sequences == ((Y, Y, X), (Z, Z, X), (Z, Y, X))
    assert float(found.exact) * (1 - 1e-6) <= found.least <= float(found.exact) * 1.2
    assert found.beyond_repair
    assert replay_triples(head, X, Z, Y) == found
    shown = "\n".join(found.lines())
    assert "no affine readout repairs them" in shown
    assert str(dtype).removeprefix("torch.") in shown
    assert json.loads(json.dumps(found.as_json()))["beyond_repair"] is True


@pytest.mark.parametrize("n", [3, 4, 7])
@pytest.mark.parametrize("eps", [Fraction(1, 2), Fraction(1, 5)])
def test_exactly_when_b0_is_violated(n: int, eps: Fraction) -> None:
    """(1-p) d/2 >= eps is the violation of B0's inequality for the pair (y, z); both happen."""
    head = from_module(Speaking(5, seed=4, dtype=torch.float64), 5)
    generator = np.random.default_rng(0)
    verdicts = []
    while len(verdicts) < 40:
        x, y, z = map(int, generator.integers(0, 32, 3))
        h, low, high = x.bit_count(), (x & y).bit_count(), (x & z).bit_count()
        if not low < high < h:
            continue
        found = replay_triples(head, x, y, z, n, eps)
        assert found.least == pytest.approx(float(found.exact), rel=1e-4)
        own, a, b = head.exact(x, [x, y, z])
        d, length, others = high - low, n - 1, n - 2
        held = 2 * eps * a > others * (d - 2 * eps) * b + (others * Fraction(d, length) - 2 * eps) * own
        assert found.beyond_repair != held
        if not held:
            assert violations(n, eps, h, own, {1: (low, a), 2: (high, b)}) is not None
        verdicts.append(held)
    assert set(verdicts) == {True, False} or eps < Fraction(1, 2)


def test_a_constant_in_the_denominator() -> None:
    """The outputs stay on one line, and the closed form has the constant."""
    module = Speaking(5, dtype=torch.float64)
    module.eps = 0.75
    with_it, without = (
        replay_triples(from_module(m, 5), 31, 0, 28) for m in (module, Speaking(5, dtype=torch.float64))
    )
    assert with_it.least == pytest.approx(float(with_it.exact), rel=1e-6)
    assert with_it.exact != without.exact


def test_causal_forms() -> None:
    """The query is last, so that a causal forward sees all tokens."""
    torch.manual_seed(2)
    found = replay_triples(from_module(Flash(M), M, 1), X, Y, Z)
    assert found.beyond_repair
    assert found.noise < 1e-5


def test_a_kernel_that_can_be_repaired() -> None:
    """Softmin's row on one query: far below eps."""

    def queries(x: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(x[:, :1])

    def keys(x: torch.Tensor) -> torch.Tensor:
        return 16.0 ** -x.sum(-1, keepdim=True)

    with pytest.raises(Outside, match="callables have no forward"):
        replay_triples(from_callables(queries, keys, M, values=lambda x: x), X, Y, Z)

    class Softmin(Speaking):
        def query_features(self, x: torch.Tensor) -> torch.Tensor:
            return queries(x[0])[None].expand(len(x), -1, -1)

        def key_features(self, x: torch.Tensor) -> torch.Tensor:
            return keys(x)

    found = replay_triples(from_module(Softmin(M, dtype=torch.float64), M), X, Y, Z)
    assert found.exact < Fraction(1, 100)
    assert not found.beyond_repair
    assert "may repair" in found.lines()[-1]


def test_arguments() -> None:
    head = from_module(Speaking(M), M)
    with pytest.raises(UsageError, match="same overlap"):
        replay_triples(head, X, 1, 2)
    with pytest.raises(UsageError, match="n >= 3"):
        replay_triples(head, X, Y, Z, 2)


def test_least_error() -> None:
    """On a line by the closed form; off it an affine map fits, unless the way off it is noise."""
    line = np.array([[0.0, 0], [1, 2], [0.75, 1.5]])
    error, _ = least_error(line, (0, 4, 0))
    assert error == pytest.approx(0.75 * 4 / 2)
    bent = line + np.array([[0, 0], [0, 0], [1e-7, 0]])
    assert least_error(bent, (0, 4, 0))[0] < 1e-6
    assert least_error(bent, (0, 4, 0), 1e-7)[0] == pytest.approx(1.5, rel=1e-4)
    same = np.ones((3, 2))
    assert least_error(same, (0, 4, 0))[0] == pytest.approx(2)
    assert least_error(line * 1e-9, (0, 4, 0))[0] == pytest.approx(1.5)
    assert least_error(line, (0, 4, 3))[0] == pytest.approx(0, abs=1e-9)
