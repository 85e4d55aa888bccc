"""The real modules of public libraries, each skipped where its library is not installed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck.errors import Outside, UsageError  # noqa: E402
from proofcheck.heads import bits  # noqa: E402
from proofcheck.neural import ModuleHead, from_module, replay_triples  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
M = 8
X, Y, Z = 0xFF, 0x00, 0xF8


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def performer(**named: Any) -> Any:
    library = pytest.importorskip("performer_pytorch")
    return library.SelfAttention(M, **{"heads": 2, "dim_head": 8, "nb_features": 24, **named})


def taylor(**named: Any) -> Any:
    library = pytest.importorskip("taylor_series_linear_attention")
    return library.TaylorSeriesLinearAttn(M, **{"dim_head": 8, "heads": 2, **named})


def agrees_with_forward(heads: list[ModuleHead], project: Any, module: Any, own: Any) -> None:
    """sum alpha v / sum alpha of the heads' EXACT kernels, projected, against the module's whole output."""
    sequence = [3, 0xFF, 0x5A, 0]
    x = torch.from_numpy(bits(sequence, M)).float()[None]
    outputs = []
    for head in heads:
        assert head.parts is not None
        assert head.parts.values is not None
        values = head.parts.values(x)[0].detach().double().numpy()
        alpha = np.array([[float(value) for value in head.exact(token, sequence)] for token in sequence])
        outputs.append(alpha @ values / alpha.sum(1, keepdims=True))
    with torch.no_grad():
        expected = project(torch.from_numpy(np.concatenate(outputs, axis=1)).float())
        assert own(module(x))[0] == pytest.approx(expected.numpy(), abs=1e-5)


def well_loaded(head: ModuleHead) -> None:
    report = head.report
    assert report is not None
    assert report.replay is not None
    assert report.replay.residual <= report.replay.tolerance
    assert report.replay.dtype == "float32"
    assert report.least_own > 0
    assert replay_triples(head, X, Y, Z).beyond_repair


# --- performer-pytorch --------------------------------------------------------------------------------------


def test_performer_generalised() -> None:
    module = performer(generalized_attention=True)
    heads = [from_module(module, M, head) for head in range(2)]
    for head in heads:
        well_loaded(head)
        assert head.rank == 24
        assert head.features("keys", range(256)).min() >= 0.00099
    agrees_with_forward(heads, module.to_out, module, lambda found: found)
    with pytest.raises(UsageError, match="head from 0 to 1, got 2"):
        from_module(module, M, 2)


def test_performer_at_many_bits() -> None:
    library = pytest.importorskip("performer_pytorch")
    module = library.SelfAttention(80, heads=2, dim_head=16, nb_features=64, generalized_attention=True)
    head = from_module(module, 80)
    assert replay_triples(head, 2**80 - 1, 0, 2**80 - 2**10).beyond_repair


def test_favor_is_coupled_by_its_stabiliser() -> None:
    with pytest.raises(Outside, match=r"key features of a token change by .*stabiliser='removed'") as caught:
        from_module(performer(), M)
    assert caught.value.kind == "sequence-coupled"


def test_favor_without_stabiliser() -> None:
    """Judged without the maximum; the replay says how far that is from the module."""
    head = from_module(performer(), M, stabiliser="removed")
    assert head.report is not None
    assert head.report.replay is not None
    assert "without the maximum" in head.note
    assert head.report.replay.tolerance < head.report.replay.residual < 0.01
    found = replay_triples(head, X, Y, Z)
    assert found.beyond_repair
    assert found.noise < 0.01


def test_favor_redrawn() -> None:
    """A projection that is redrawn at each call."""
    module = performer(generalized_attention=True)

    class Redrawn(type(module.fast_attention)):  # type: ignore[misc]
        @property
        def projection_matrix(self) -> Any:
            return self.create_projection()

    del module.fast_attention._buffers["projection_matrix"]
    module.fast_attention.__class__ = Redrawn
    with pytest.raises(Outside, match="draw the random features once") as caught:
        from_module(module, M)
    assert caught.value.kind == "redrawn"


PERFORMERS: list[tuple[dict[str, Any], int, str]] = [
    ({"no_projection": True}, 0, "per-feature"),
    ({"causal": True, "generalized_attention": True}, 0, "normaliser"),
    ({"local_heads": 1, "generalized_attention": True}, 1, "position-dependent"),
    ({"generalized_attention": True, "kernel_fn": torch.sin}, 0, "signed"),
]


@pytest.mark.parametrize(("named", "head", "kind"), PERFORMERS)
def test_performer_outside(named: dict[str, Any], head: int, kind: str) -> None:
    with pytest.raises(Outside) as caught:
        from_module(performer(**named), M, head)
    assert caught.value.kind == kind


def test_a_whole_performer_names_its_heads() -> None:
    library = pytest.importorskip("performer_pytorch")
    with pytest.raises(UsageError, match=r"it contains net\.layers.* \(SelfAttention\), which is known"):
        from_module(library.Performer(dim=8, depth=1, heads=1, dim_head=8, causal=False), M)


# --- taylor-series-linear-attention -------------------------------------------------------------------------

TAYLORS: list[dict[str, Any]] = [
    {},
    {"remove_even_power_dups": True},
    {"one_headed_kv": True},
    {"prenorm": True},
    {"gate_value_heads": True},
]


@pytest.mark.parametrize("named", TAYLORS, ids=str)
def test_taylor(named: dict[str, Any]) -> None:
    """Signed features, alpha >= 1/2, so that the clamp has no effect."""
    module = taylor(**named)
    heads = [from_module(module, M, head) for head in range(2)]
    for head in heads:
        well_loaded(head)
        assert head.report is not None
        assert head.report.least_alpha >= 0.499
        assert head.additive == 0
        assert (head.features("keys", range(256)) < 0).any()
    if not named.get("gate_value_heads"):
        agrees_with_forward(heads, module.to_out, module, lambda found: found)


def test_taylor_numbers() -> None:
    """73 features, rank at most 45 = 1 + 8 + 36 (equal columns), significant 37 = 1 + 8 + C(8,2) at most."""
    head = from_module(taylor(), M)
    assert head.report is not None
    found = head.report.numbers
    assert found is not None
    assert (found.nominal, found.state) == (73, 73 * 9)
    assert found.rank is not None
    assert found.significant is not None
    assert found.significant <= 37 < found.rank <= 45


@pytest.mark.parametrize("named", [{"shift_tokens": True}, {"rotary_emb": True}], ids=str)
def test_taylor_outside(named: dict[str, Any]) -> None:
    with pytest.raises(Outside, match="Theorem 8") as caught:
        from_module(taylor(**named), M)
    assert caught.value.kind == "position-dependent"


# --- linear-attention-transformer ---------------------------------------------------------------------------


def transformer(**named: Any) -> Any:
    pytest.importorskip("linear_attention_transformer")
    from linear_attention_transformer.linear_attention_transformer import SelfAttention

    return SelfAttention(M, 2, **named)


def test_linear_attention_transformer() -> None:
    """Its causal form is a head: one normaliser, token-local features."""
    module = transformer(causal=True, dim_head=6)
    for head in range(2):
        found = from_module(module, M, head)
        well_loaded(found)
        assert found.rank == 6
        assert found.report is not None
        assert found.report.least_own > 0.1


TRANSFORMERS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "per-feature", "not sum alpha v / sum alpha.*causal=True"),
    ({"causal": True, "blindspot_size": 2}, "position-dependent", "blindspot_size=1"),
    ({"causal": True, "n_local_attn_heads": 1}, "position-dependent", "a window"),
]


@pytest.mark.parametrize(("named", "kind", "reason"), TRANSFORMERS)
def test_linear_attention_transformer_outside(named: dict[str, Any], kind: str, reason: str) -> None:
    with pytest.raises(Outside, match=reason) as caught:
        from_module(transformer(**named), M)
    assert caught.value.kind == kind


# --- flash-linear-attention ---------------------------------------------------------------------------------


def test_based() -> None:
    pytest.importorskip("triton")
    layers = pytest.importorskip("fla.layers")
    for causal in (False, True):
        module = layers.BasedLinearAttention(M, feature_dim=8, num_heads=2, num_key_value_heads=2, causal=causal)
        head = from_module(module, M, 1)
        well_loaded(head)
        assert head.additive == Fraction(1e-12)


MAPS = [("elu", None), ("relu", None), ("hedgehog", None), ("t2r", None), ("dpfp", None),
        ("elementwise_product", "signed"), ("identity", "signed")]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), MAPS)
def test_flash_feature_maps(name: str, kind: str | None) -> None:
    pytest.importorskip("triton")
    layers = pytest.importorskip("fla.layers")
    module = layers.LinearAttention(
        hidden_size=M, num_heads=2, feature_map=name, do_feature_map_norm=True, output_norm="identity"
    )
    if kind is None:
        assert from_module(module, M).rank in (4, 8, 32)
        return
    with pytest.raises(Outside) as caught:
        from_module(module, M)
    assert caught.value.kind == kind


def test_flash_defaults_are_outside() -> None:
    pytest.importorskip("triton")
    layers = pytest.importorskip("fla.layers")
    with pytest.raises(Outside, match="do_feature_map_norm") as caught:
        from_module(layers.LinearAttention(hidden_size=M, num_heads=2), M)
    assert caught.value.kind == "unnormalised"
