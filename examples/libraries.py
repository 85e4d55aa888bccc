"""Attention layers of public libraries, refuted: python examples/libraries.py (needs the extras search and libraries).

For each layer three tokens are constructed with which no values and no affine readout of its kernel can be correct.
Then the layer's own forward is run on the three sequences made of them, and a linear programme finds how far the best
affine readout of its outputs is from the targets: never below the allowed error of 1/2. Layers with random weights,
as they are initialised; libraries that are not installed are left out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import nn

import proofcheck
from proofcheck.neural import from_module, replay_triples
from proofcheck.refuter import Refutation

BITS = 32


def performer() -> nn.Module:
    from performer_pytorch import SelfAttention

    return SelfAttention(BITS, heads=2, dim_head=16, nb_features=64, generalized_attention=True)


def taylor() -> nn.Module:
    from taylor_series_linear_attention import TaylorSeriesLinearAttn

    return TaylorSeriesLinearAttn(BITS, dim_head=8, heads=2)


def linear_transformer() -> nn.Module:
    from linear_attention_transformer.linear_attention_transformer import SelfAttention

    return SelfAttention(BITS, 2, dim_head=16, causal=True, blindspot_size=1)


def flash() -> nn.Module:
    from fla.layers import BasedLinearAttention

    return BasedLinearAttention(BITS, feature_dim=8, num_heads=2, num_key_value_heads=2, causal=False)


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "performer-pytorch, generalised": performer,
    "taylor-series-linear-attention": taylor,
    "linear-attention-transformer, causal": linear_transformer,
    "flash-linear-attention, Based": flash,
}


def refutations() -> Iterator[tuple[str, Refutation, list[str]]]:
    """(library, refutation, what its own forward does in words)."""
    for name, make in LAYERS.items():
        torch.manual_seed(0)
        try:
            layer = make()
        except ImportError as error:
            print(f"{name}: not installed ({error})\n")
            continue
        head = from_module(layer, BITS)
        found = proofcheck.refute(head)
        if not isinstance(found, Refutation):
            raise SystemExit(f"{name}: {found}")
        replay = replay_triples(head, found.triple.x, found.triple.y, found.triple.z)
        if not replay.beyond_repair:
            raise SystemExit(f"{name}: its own forward does not show what the exact kernel does: {replay}")
        yield name, found, replay.lines()


def main() -> None:
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    for name, found, lines in refutations():
        t = found.triple
        print(f"{name}, gap {t.gap}: alpha(x,y)/alpha(x,z) = {float(t.xy / t.xz):.4g}, and more than", end=" ")
        print(f"{float(found.required / t.xz):.4g} is needed; certificate {found.certificate.id[:12]}")
        print(f"  x = {t.x:#x}, y = {t.y:#x}, z = {t.z:#x}")
        print("\n".join(lines))
        print(f"  {time.perf_counter() - start:.1f} s so far\n")


if __name__ == "__main__":
    main()
