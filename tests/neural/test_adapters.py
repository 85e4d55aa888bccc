"""Heads of a user's own modules, callables and tables: what is checked on load, and every trap."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from proofcheck.errors import OUTSIDE, Outside, UsageError  # noqa: E402
from proofcheck.heads import bits, files  # noqa: E402
from proofcheck.heads.numbers import numbers  # noqa: E402
from proofcheck.heads.spec import load  # noqa: E402
from proofcheck.heads.tables import TableHead  # noqa: E402
from proofcheck.neural import ModuleHead, from_arrays, from_callables, from_module  # noqa: E402

from .modules import Changed, Flash, Speaking  # noqa: E402

M = 4
TOKENS = range(1 << M)


def report_of(head: ModuleHead) -> Any:
    assert head.report is not None
    return head.report


def test_a_module_that_speaks_for_itself() -> None:
    """Its exact kernel is that of its float32 features, its forward is replayed, all checks are in the report."""
    module = Speaking(M)
    head = from_module(module, M)
    report = report_of(head)
    assert (head.m, head.rank, head.additive, head.readout, report.dtype) == (M, 6, 0, None, "float32")
    x, z = torch.tensor([[[1.0, 0, 1, 0]]]), torch.tensor([[[1.0, 1, 0, 0]]])
    query, key = module.query_features(x)[0, 0].tolist(), module.key_features(z)[0, 0].tolist()
    assert head.exact(0b0101, [0b0011])[0] == sum(Fraction(a) * Fraction(b) for a, b in zip(query, key, strict=True))
    assert report.looked_at == "all 16 tokens"
    assert report.redrawn == 0
    assert report.locality <= report.locality_tolerance < 1e-4
    assert 0 < report.least_alpha <= report.least_own
    assert report.replay.residual <= report.replay.tolerance < 1e-3
    assert report.numbers.state == 6 * 4
    assert json.loads(json.dumps(report.as_json()))["replay"]["dtype"] == "float32"
    assert any("residual" in line and "float32" in line for line in report.lines())


def test_eval_mode() -> None:
    module = Speaking(M)
    assert "now in eval mode" in report_of(from_module(module, M)).notes[-1]
    assert not module.training
    assert report_of(from_module(module, M)).notes == ()


def test_dropout_is_off() -> None:
    """In training mode the features would be redrawn."""
    head = from_callables(nn.Dropout(0.5).eval(), lambda x: x, M)
    assert head.rank == M
    with pytest.raises(Outside, match="two calls"):
        from_callables(nn.Dropout(0.5), lambda x: x, M)


CHANGES = [
    ("redrawn", "redrawn", "two calls on the same tokens differ"),
    ("coupled", "sequence-coupled", "key features of a token change by"),
    ("positional", "position-dependent", "Theorem 8"),
    ("signed", "signed", r"alpha\(0x[0-9a-f]+, 0x[0-9a-f]+\) = -"),
    ("decay", "unnormalised", "normalizer = 'decay'"),
    ("per feature", "per-feature", "normalizer = 'per_feature'"),
    ("normed output", "not replayed", "differs from sum alpha v / sum alpha"),
]


@pytest.mark.parametrize(("change", "kind", "reason"), CHANGES)
def test_outside(change: str, kind: str, reason: str) -> None:
    """Classified, with what was seen and what could be done instead."""
    with pytest.raises(Outside, match=reason) as caught:
        from_module(Changed(M, change), M)
    assert (caught.value.kind, caught.value.status) == (kind, 3)
    assert "Instead: " in str(caught.value)
    assert kind in OUTSIDE


FAULTS = [
    ("nan", "feature 0 of keys at token 0xf is nan"),
    ("inf", "feature 0 of keys at token 0xf is inf"),
    ("wrong rank", r"queries have shape \(2, 1, 5\), the keys \(2, 1, 6\)"),
    ("no sequence", r"expected a tensor \(B, T, r\).*got shape \(2, 6\)"),
    ("unknown normaliser", "expected normalizer sum"),
]


@pytest.mark.parametrize(("change", "reason"), FAULTS)
def test_faults(change: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        from_module(Changed(M, change), M)


# --- denominators -------------------------------------------------------------------------------------------


def test_additive_eps() -> None:
    """A constant in the denominator is one more term of value 0; the replay sees it."""
    module = Speaking(M)
    module.eps = 0.5
    head = from_module(module, M)
    assert head.additive == Fraction(1, 2)
    assert report_of(head).replay.residual <= report_of(head).replay.tolerance
    module.eps_mode = "feature"  # a module that says that its eps is inside the features: then 1/2 is unexplained
    with pytest.raises(Outside, match="not replayed"):
        from_module(module, M)


class Clamped(Speaking):
    eps_mode = "clamp"

    def denominator(self, alpha: torch.Tensor) -> torch.Tensor:
        return alpha.sum(-1, keepdim=True).clamp(min=self.eps)


def test_clamp() -> None:
    """Without effect while alpha(x,x) >= eps, refused otherwise."""
    module = Clamped(M)
    module.eps = 1e-5
    head = from_module(module, M)
    assert head.additive == 0
    assert "max(denominator, 1e-05) changes nothing on all 16 tokens" in report_of(head).notes
    module.eps = 100.0
    with pytest.raises(Outside, match=r"clamped at 100, and alpha\(x,x\) = .* at 0x") as caught:
        from_module(module, M)
    assert caught.value.kind == "normaliser"


def test_bf16_elu_is_exactly_zero() -> None:
    """ELU+1 rounds to 0 in bf16 where its argument is below -5.5 or so: alpha(x,x) = 0 at these tokens, by name."""
    module = Speaking(M, r=2, dtype=torch.bfloat16)
    with torch.no_grad():
        module.wq.fill_(-3.0)
    report = report_of(from_module(module, M))
    assert report.dtype == "bfloat16"
    assert set(report.zero_own) == {x for x in TOKENS if x.bit_count() >= 3}
    assert report.zero_pairs == 5 * 16
    assert any("alpha(x,x) = 0 at 0x7, 0xb, " in line and "vanishes on the sequence (x)" in line
               for line in report.lines())  # fmt: skip
    fine = Speaking(M, r=2)
    with torch.no_grad():
        fine.wq.fill_(-3.0)
    assert report_of(from_module(fine, M)).least_own > 0


# --- three numbers ------------------------------------------------------------------------------------------


def test_rank_of_a_float_gram_is_not_the_rank() -> None:
    """16 features: the Gram matrix in float32 has full rank as a matrix of its own, the kernel has rank 16."""
    torch.manual_seed(0)
    module = Speaking(7, r=16)
    head = from_module(module, 7)
    found = report_of(head).numbers
    assert (found.nominal, found.rank, found.significant) == (16, 16, 16)
    every = torch.from_numpy(bits(range(128), 7)).float()[:, None]
    with torch.no_grad():
        gram = (module.query_features(every)[:, 0] @ module.key_features(every)[:, 0].T).numpy()
    from proofcheck.rank import exact_rank

    assert exact_rank(gram) > 100


def test_rank_of_a_table_and_of_nothing() -> None:
    assert numbers(from_arrays(np.ones((4, 3)), np.ones((4, 3)))).rank == 1
    zero = numbers(from_arrays(np.zeros((4, 3)), np.ones((4, 3))))
    assert (zero.rank, zero.significant) == (0, 0)
    assert "3 nominal, rank 1" in str(numbers(from_arrays(np.ones((4, 3)), np.ones((4, 3)))))
    large = numbers(from_module(Speaking(9), 9))
    assert (large.nominal, large.rank, large.state) == (6, None, None)


# --- tokens -------------------------------------------------------------------------------------------------


def test_embeddings() -> None:
    """A matrix or a callable; the exact features are those of the embedded token."""
    module = Speaking(6)
    matrix = torch.arange(12.0).reshape(2, 6) / 8
    by_matrix, by_array = from_module(module, 2, token_embed=matrix), from_module(module, 2, token_embed=matrix.numpy())
    by_call = from_module(module, 2, token_embed=lambda x: x @ matrix)
    for head in (by_array, by_call):
        assert head.exact(3, range(4)) == by_matrix.exact(3, range(4))
    shift = from_module(module, 2, token_embed=lambda x: torch.ones(len(x), 6))
    assert len(set(shift.exact(3, range(4)))) == 1


EMBEDDINGS: list[tuple[Any, str]] = [
    (None, r"takes tokens of dimension 6, m is 2: give token_embed, a matrix \(2, 6\)"),
    (torch.ones(2, 5), r"expected a matrix \(2, 6\), got \(2, 5\)"),
    (torch.ones(6), "expected a matrix"),
    (lambda x: x, r"expected shape \(4, 6\), got \(4, 2\)"),
    (3, "expected a matrix or a callable, got int"),
]


@pytest.mark.parametrize(("embed", "reason"), EMBEDDINGS)
def test_bad_embeddings(embed: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        from_module(Speaking(6), 2, token_embed=embed)


@pytest.mark.parametrize("m", [9, 64, 65, 130])
def test_many_bits(m: int) -> None:
    """Tokens beyond a machine word; the sample has the extreme tokens."""
    head = from_module(Speaking(m), m)
    report = report_of(head)
    assert report.looked_at == f"a sample of 256 tokens of {m} bits"
    full = (1 << m) - 1
    assert head.exact(full, [full])[0] != head.exact(full, [full >> 1])[0]


class Layout(Speaking):
    """Two heads, the second with twice the keys; layout bthd or bhtd."""

    axis = 2

    def key_features(self, x: torch.Tensor) -> torch.Tensor:
        found = super().key_features(x)
        return torch.stack([found, 2 * found], self.axis)

    def query_features(self, x: torch.Tensor) -> torch.Tensor:
        found = super().query_features(x)
        return torch.stack([found, found], self.axis)

    def values(self, x: torch.Tensor) -> torch.Tensor:
        found = super().values(x)
        return torch.stack([found, -found], self.axis)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = Speaking.forward(self.one, x)
        return torch.stack([found, -found], self.axis)


@pytest.mark.parametrize(("layout", "axis"), [("bthd", 2), ("bhtd", 1)])
def test_layouts(layout: str, axis: int) -> None:
    module, one = Layout(M), Speaking(M)
    module.axis = axis
    object.__setattr__(module, "one", one)
    first, second = (from_module(module, M, head, layout) for head in (0, 1))
    assert second.exact(5, TOKENS) == [2 * value for value in first.exact(5, TOKENS)]
    assert first.exact(5, TOKENS) == from_module(one, M).exact(5, TOKENS)
    for head in (first, second):
        assert report_of(head).replay.residual < 1e-5
    with pytest.raises(UsageError, match="head from 0 to 1, got 2"):
        from_module(module, M, 2, layout)


def test_readout() -> None:
    """w(x) and beta(x) of the module become the readout of the head."""

    class WithReadout(Speaking):
        def readout(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x[:, :3] * 2, x.sum(-1)

    head = from_module(WithReadout(M), M)
    assert head.readout is not None
    some = bits([0b0111, 0b1000], M)
    assert head.readout.weights(some).tolist() == [[2, 2, 2], [0, 0, 0]]
    assert head.readout.offsets(some).tolist() == [3, 1]
    assert head.readout.values(some).shape == (2, 3)


# --- arguments ----------------------------------------------------------------------------------------------


def test_unknown_modules() -> None:
    with pytest.raises(UsageError, match=r"torch\.Linear: unknown\. Give it query_features"):
        from_module(nn.Linear(4, 4), M)
    with pytest.raises(UsageError, match=r"it contains 1 \(Speaking\), which is known"):
        from_module(nn.Sequential(nn.Linear(4, 4), Speaking(4)), M)
    with pytest.raises(UsageError, match=r"expected a torch\.nn\.Module, got int"):
        from_module(3, M)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="layout: expected one of bthd, bhtd"):
        from_module(Speaking(M), M, layout="btd")
    with pytest.raises(UsageError, match="stabiliser: expected own or removed"):
        from_module(Speaking(M), M, stabiliser="none")
    with pytest.raises(UsageError, match="1 <= m"):
        from_module(Speaking(M), 0)


def test_recurrent_layers_are_refused() -> None:
    kind = type("GatedDeltaNet", (nn.Module,), {})
    with pytest.raises(Outside, match="decay or gates") as caught:
        from_module(kind(), M)
    assert caught.value.kind == "unnormalised"


# --- the shape of flash-linear-attention --------------------------------------------------------------------


@pytest.mark.parametrize("head", range(4))
def test_flash(head: int) -> None:
    """Grouped keys, a causal forward: the query is last."""
    torch.manual_seed(1)
    found = from_module(Flash(M), M, head)
    assert found.additive == Fraction(1e-10 * 2**0.5)
    assert report_of(found).replay.residual <= report_of(found).replay.tolerance


def test_flash_outside() -> None:
    module = Flash(M)
    module.do_feature_map_norm = False
    with pytest.raises(Outside, match="do_feature_map_norm=True") as caught:
        from_module(module, M)
    assert caught.value.kind == "unnormalised"
    with pytest.raises(Outside, match="LayerNorm follows the head") as caught:
        from_module(Flash(M, norm=nn.LayerNorm(2)), M)
    assert caught.value.kind == "readout"
    cut = from_module(Flash(M, norm=nn.LayerNorm(2)), M, cut=True)
    assert "cut before LayerNorm" in cut.note
    assert report_of(cut).replay.residual <= report_of(cut).replay.tolerance


def test_a_forward_that_fails_is_said() -> None:
    class NeedsGpu(Speaking):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("no\ndriver")

    report = report_of(from_module(NeedsGpu(M), M))
    assert report.replay is None
    assert (
        "not replayed: its forward could not be compared with this head: no driver"
        in report.notes[-1] + report.notes[-2]
    )


# --- callables and arrays -----------------------------------------------------------------------------------


def test_callables() -> None:
    w = torch.arange(8.0, dtype=torch.float64).reshape(4, 2)
    head = from_callables(lambda x: x @ w, lambda x: torch.relu(1 - x @ w / 8), M, name="mine", additive=Fraction(1, 3))
    assert (head.name, head.rank, head.additive, report_of(head).dtype) == ("mine", 2, Fraction(1, 3), "float64")
    assert head.exact(0b0001, [0])[0] == 1
    with pytest.raises(Outside, match="sequence-coupled"):
        from_callables(lambda x: x, lambda x: x.softmax(0), M)
    with pytest.raises(UsageError, match=r"queries: expected a tensor \(1, r\), got \(4,\)"):
        from_callables(lambda x: x.sum(0), lambda x: x, M)
    with pytest.raises(UsageError, match="a readout needs values"):
        from_callables(lambda x: x, lambda x: x, M, readout=lambda x: (x, x[:, 0]))


def test_features_may_be_signed_though_alpha_is_not() -> None:
    """((1+s)^2 + 1)/2 > 0 with features of both signs."""
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)

    def taylor(x: torch.Tensor) -> torch.Tensor:
        u = x * signs
        return torch.cat([torch.ones_like(u[:, :1]), u, (u[:, :, None] * u[:, None]).flatten(1) / 2**0.5], 1)

    head = from_callables(taylor, lambda x: taylor(1 - x), M)
    assert (head.features("keys", TOKENS) < 0).any()
    assert report_of(head).least_alpha >= 0.5 - 1e-12


def test_a_module_becomes_a_file(tmp_path: Path) -> None:
    """Its tables in JSON, exactly: to be judged where there is no torch."""
    head = from_module(Speaking(M), M)
    files.save(head, tmp_path / "h.json")
    again = files.load(tmp_path / "h.json", M)
    assert [again.exact(x, TOKENS) for x in TOKENS] == [head.exact(x, TOKENS) for x in TOKENS]


def test_arrays() -> None:
    half = torch.tensor([[0.5, 1], [2, 3]], dtype=torch.bfloat16, requires_grad=True)
    head = from_arrays(half, np.eye(2), name="t")
    assert isinstance(head, TableHead)
    assert head.exact(1, [0, 1]) == [2, 3]
    with pytest.raises(UsageError, match="keys: token 0x1, column 0 is nan"):
        from_arrays(half, torch.tensor([[0.0, 1], [float("nan"), 1]]))


# --- as a SPEC ----------------------------------------------------------------------------------------------


def test_specs() -> None:
    head = load("tests.neural.modules:Speaking", 5, 7, 3)
    assert isinstance(head, ModuleHead)
    assert head.exact(3, [5]) == from_module(Speaking(5, 7, 3), 5).exact(3, [5])
    with pytest.raises(UsageError, match="unknown option 'hed'"):
        load("tests.neural.modules:Speaking", 5, 7, 3, {"hed": "1"})
    with pytest.raises(UsageError, match="head: expected the number of a head"):
        load("tests.neural.modules:Speaking", 5, 7, 3, {"head": "x"})
    with pytest.raises(UsageError, match="for the only head 0"):
        load("tests.neural.modules:Speaking", 5, 7, 3, {"head": "1", "cut": "true"})
    with pytest.raises(UsageError, match=r"calling it with \(m, r, seed\) = \(5, 7, 3\) failed: TypeError"):
        load("tests.neural.modules:Changed", 5, 7, 3)
