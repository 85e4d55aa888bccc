"""How to reach the features of the heads that people run, and which of them the theorems do not speak about.

| library, class                                | features                        | verdict                          |
|-----------------------------------------------|---------------------------------|----------------------------------|
| performer-pytorch SelfAttention, generalised  | kernel_fn(W q) + 1e-3           | a head                           |
| performer-pytorch SelfAttention, FAVOR+       | exp(W q - |q|^2/2 - max) + 1e-4 | coupled by the maximum over keys |
| taylor-series-linear-attention                | 1, q, (q tensor q) / sqrt 2     | a head; its clamp has no effect  |
| linear-attention-transformer SelfAttention    | softmax over the sequence       | normalised per feature: refused  |
| the same, causal=True                         | softmax(q), e^k                 | a head; its clamp has no effect  |
| flash-linear-attention LinearAttention        | feature_map_q, feature_map_k    | a head if do_feature_map_norm    |
| flash-linear-attention BasedLinearAttention   | feature_map (Taylor)            | a head, eps in the denominator   |
| a module with query_features and key_features | (.., dim) -> (.., r)            | a head if its normalizer is sum  |

Modules are recognised by the package and name of their classes, or by their attributes; no library is imported for it.
The last row is how a user's own module speaks: `query_features(tokens)` and `key_features(tokens)` take (B, T, dim) and
give (B, T, r), or four dimensions with a head axis as `layout` says; optionally `values(tokens)` (B, T, dv),
`readout(tokens)` (N, dim) -> (w (N, dv), beta (N,)), `normalizer` "sum", "none", "per_feature" or "decay" (default
"sum"), `eps` and `eps_mode` "add", "clamp" or "feature", and a forward (B, T, dim) -> (B, T, dv) to be replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from torch import Tensor, nn

from proofcheck.errors import Outside, UsageError

from .parts import Parts, captured, check_head, pick, split_heads


@dataclass(frozen=True)
class Wanted:
    """What the caller of `from_module` asks for."""

    head: int
    layout: str
    stabiliser: str  # of FAVOR+: "own" or "removed"
    cut: bool  # judge the head before what is not affine


def take_apart(module: nn.Module, wanted: Wanted) -> Parts:
    """The head, by the first adapter that knows the module. `Outside` for heads that the theorems do not cover."""
    adapter = adapter_of(module)
    if adapter is None:
        inside = [(path, sub) for path, sub in module.named_modules() if path and adapter_of(sub) is not None]
        hint = f"; it contains {inside[0][0]} ({type(inside[0][1]).__name__}), which is known" if inside else ""
        raise UsageError(
            f"{described(module)}: unknown{hint}. Give it query_features(tokens) and key_features(tokens), or take "
            "from_callables; see proofcheck.neural.registry"
        )
    return adapter(module, wanted)


def described(module: nn.Module) -> str:
    return f"{type(module).__module__.split('.')[0]}.{type(module).__name__}"


def classes(module: nn.Module) -> Iterator[tuple[str, str]]:
    """(package, name) of the module's class and of its parents."""
    for kind in type(module).__mro__:
        yield kind.__module__.split(".")[0], kind.__name__


Adapter = Callable[[Any, Wanted], Parts]


def adapter_of(module: nn.Module) -> Adapter | None:
    for name in classes(module):
        if name in BY_CLASS:
            return BY_CLASS[name]
        if name[1] in RECURRENT:
            return recurrent
    if hasattr(module, "query_features") and hasattr(module, "key_features"):
        return spoken
    if all(hasattr(module, name) for name in ("q_proj", "k_proj", "v_proj", "o_proj", "num_heads")):
        if hasattr(module, "feature_map_q") and hasattr(module, "feature_map_k"):
            return flash_linear
        if hasattr(module, "feature_map") and hasattr(module, "forward_reference"):
            return based
    return None


# --- performer-pytorch --------------------------------------------------------------------------------------


def performer(module: Any, wanted: Wanted) -> Parts:
    """q, k, v = to_q(x), to_k(x), to_v(x), each (B, T, heads d); features by `fast_attention`; then to_out."""
    from performer_pytorch.performer_pytorch import generalized_kernel, softmax_kernel

    name = f"{described(module)}, head {wanted.head}"
    fast, count = module.fast_attention, module.heads
    check_head(wanted.head, count, name)
    if wanted.head >= module.global_heads:
        raise Outside(
            name, "position-dependent", "this is a head of local attention, with a window", "take a global head"
        )
    if fast.no_projection:
        raise Outside(
            name,
            "per-feature",
            "no_projection=True: the keys are softmaxed over the sequence",
            "generalized_attention=True, whose features are token-local",
        )
    if fast.causal:
        raise Outside(
            name,
            "normaliser",
            "the causal form adds 1e-6 to each feature of the key sum, hence 1e-6 sum of phiQ(x) to the denominator",
            "the same module with causal=False has the same features",
        )
    split = split_heads(count, wanted.head)
    modified = ""
    if fast.generalized_attention:

        def features(linear: Any, is_query: bool) -> Callable[[Tensor], Tensor]:
            return lambda x: generalized_kernel(
                split(linear(x))[:, None], projection_matrix=fast.projection_matrix, kernel_fn=fast.kernel_fn
            )[:, 0]

    else:

        def features(linear: Any, is_query: bool) -> Callable[[Tensor], Tensor]:
            return lambda x: softmax_kernel(
                split(linear(x))[:, None], projection_matrix=fast.projection_matrix, is_query=is_query
            )[:, 0]

    keys = features(module.to_k, False)
    if wanted.stabiliser == "removed" and not fast.generalized_attention:
        keys = lambda x: positive_features(split(module.to_k(x)), fast.projection_matrix)  # noqa: E731
        modified = "keys without the maximum over the sequence and without the 1e-4 added after it"
    crossed = ("performer_pytorch", "CrossAttention") in classes(module)
    out = captured((lambda x: module(x, context=x)) if crossed else module, module.to_out)
    return Parts(
        name,
        "performer-pytorch",
        features(module.to_q, True),
        keys,
        dim=module.to_q.in_features,
        values=lambda x: split(module.to_v(x)),
        output=lambda x: split(out(x)),
        modified=modified,
    )


def positive_features(data: Tensor, projection: Tensor) -> Tensor:
    """exp(<w_i, u> - |u|^2/2) / sqrt r with u = data / d^(1/4): FAVOR+ without stabiliser. (.., d) -> (.., r)."""
    u = data * data.shape[-1] ** -0.25
    exponents = u @ projection.type_as(u).T - (u * u).sum(-1, keepdim=True) / 2
    scaled: Tensor = exponents.exp() * projection.shape[0] ** -0.5
    return scaled


# --- taylor-series-linear-attention -------------------------------------------------------------------------


def taylor_series(module: Any, wanted: Wanted) -> Parts:
    """to_q: (B, H, T, d), to_kv: (2, B, H or 1, T, d); features of scaled q and of k; gates on the values' sum."""
    name = f"{described(module)}, head {wanted.head}"
    check_head(wanted.head, module.heads, name)
    if module.shift_tokens or module.rotary_emb is not None:
        what = "shift_tokens mixes each token with its predecessor" if module.shift_tokens else "rotary embedding"
        raise Outside(
            name, "position-dependent", what, "switch it off, or take Theorem 8, which allows features by position"
        )
    of_keys = 0 if module.one_headed_kv else wanted.head
    expand = module.taylor_expand_fn
    gates = module.to_v_gates
    out = captured(module, module.to_out)
    return Parts(
        name,
        "taylor-series-linear-attention",
        lambda x: expand(module.to_q(module.norm(x)) * module.scale)[:, wanted.head],
        lambda x: expand(module.to_kv(module.norm(x))[0])[:, of_keys],
        dim=module.to_q[0].in_features,
        values=lambda x: module.to_kv(module.norm(x))[1][:, of_keys],
        output=None if module.causal else lambda x: split_heads(module.heads, wanted.head)(out(x)),
        no_output="the causal form needs CUDA code of pytorch-fast-transformers",
        gate=None if gates is None else lambda x: gates(x)[:, wanted.head],
        clamp=1e-5,
        notes=("the gate scales the output by a number of the query: an affine readout",) if gates is not None else (),
    )


# --- linear-attention-transformer ---------------------------------------------------------------------------


def linear_transformer(module: Any, wanted: Wanted) -> Parts:
    """to_q, to_k, to_v: (B, T, heads d), local heads first. Causal with blindspot_size 1: softmax over the features of
    q, times d^(-1/2), and e^k; the denominator is clamped at 1e-3."""
    name = f"{described(module)}, head {wanted.head}"
    check_head(wanted.head, module.heads, name)
    if wanted.head < module.local_attn_heads:
        raise Outside(
            name, "position-dependent", "this is a head of local attention, with a window", "take a global head"
        )
    bucket = getattr(module.global_attn_fn, "keywords", {}).get("bucket_size")
    if bucket is None:
        raise Outside(
            name,
            "per-feature",
            "keys are softmaxed over the sequence, so that each feature has a normaliser of its own: the output is "
            "sum_f phiQ_f(x) (sum_j e^(k_jf) v_j / sum_j e^(k_jf)), not sum alpha v / sum alpha",
            "the same module with causal=True, whose features are token-local and have one normaliser",
        )
    if bucket != 1:
        raise Outside(
            name, "position-dependent", f"blindspot_size={bucket} hides tokens by their positions", "blindspot_size=1"
        )
    split = split_heads(module.heads, wanted.head)
    out = captured(module, module.to_out)
    return Parts(
        name,
        "linear-attention-transformer",
        lambda x: split(module.to_q(x)).softmax(-1) * module.d_heads**-0.5,
        lambda x: split(module.to_k(x)).exp(),
        dim=module.to_q.in_features,
        values=lambda x: split(module.to_v(x)),
        output=None if module.receives_context else lambda x: split(out(x)),
        no_output="the module receives a context",
        clamp=1e-3,
        notes=("causal: the query is the last token",),
    )


# --- flash-linear-attention and modules of its shape ---------------------------------------------------------


def flash_linear(module: Any, wanted: Wanted) -> Parts:
    """q_proj, k_proj, v_proj, feature_map_q and feature_map_k on (B, T, H, d); norm; o_proj. Causal."""
    name = f"{described(module)}, head {wanted.head}"
    count, groups = module.num_heads, getattr(module, "num_kv_groups", 1)
    check_head(wanted.head, count, name)
    if not getattr(module, "do_feature_map_norm", False):
        raise Outside(
            name,
            "unnormalised",
            "do_feature_map_norm=False: the sum is not divided by sum alpha",
            "do_feature_map_norm=True; or from_callables with its feature maps, to ask about the kernel alone",
        )
    norm = getattr(module, "norm", None)
    plain = norm is None or isinstance(norm, nn.Identity)
    if not plain and not wanted.cut:
        raise Outside(
            name,
            "readout",
            f"{type(norm).__name__} follows the head",
            "output_norm='identity', or cut=True to judge the head before it",
        )

    def features(side: str, own: int, among: int) -> Callable[[Tensor], Tensor]:
        linear, act = getattr(module, f"{side}_proj"), getattr(module, f"feature_map_{side}")

        def apply(x: Tensor) -> Tensor:
            projected = linear(x)
            found: Tensor = act(projected.reshape(*projected.shape[:-1], among, -1))[..., own, :]
            return found / (found.sum(-1, True) + 1e-4) if getattr(module, f"norm_{side}", False) else found

        return apply

    split = split_heads(count // groups, wanted.head // groups)
    parts = Parts(
        name,
        "flash-linear-attention",
        features("q", wanted.head, count),
        features("k", wanted.head // groups, count // groups),
        dim=module.q_proj.in_features,
        values=lambda x: split(module.v_proj(x)),
        notes=("causal: the query is the last token", *(() if plain else (f"cut before {type(norm).__name__}",))),
    )
    # The library divides scale * sum alpha v by scale * sum alpha + 1e-10, scale = r^(-1/2).
    r = parts.queries(module.q_proj.weight.new_zeros(1, 1, module.q_proj.in_features)).shape[-1]
    parts = replace(parts, additive=Fraction(1e-10 * r**0.5))
    if norm is None:
        out = captured(module, module.o_proj)
        return replace(parts, output=lambda x: split_heads(count, wanted.head)(out(x)))
    out = captured(module, norm)
    return replace(parts, output=lambda x: pick(out(x), wanted.head, "bthd", name))


def based(module: Any, wanted: Wanted) -> Parts:
    """Based: the same with one Taylor feature map; `forward_reference` is its forward in plain torch."""
    name = f"{described(module)}, head {wanted.head}"
    count = module.num_heads
    check_head(wanted.head, count, name)
    split, act = split_heads(count, wanted.head), module.feature_map
    out = captured(module.forward_reference, module.o_proj)
    return Parts(
        name,
        "flash-linear-attention",
        lambda x: act(split(module.q_proj(x))),
        lambda x: act(split(module.k_proj(x))),
        dim=module.q_proj.in_features,
        values=lambda x: split(module.v_proj(x)),
        output=lambda x: split(out(x)),
        additive=Fraction(float(module.eps)),
        notes=("replayed by forward_reference, the library's form in plain torch",),
    )


RECURRENT = {
    "GatedLinearAttention", "MultiScaleRetention", "DeltaNet", "GatedDeltaNet", "GatedDeltaProduct", "HGRNAttention",
    "HGRN2Attention", "LightningAttention", "MiniMaxLightningAttention", "Mamba", "Mamba2", "RWKV6Attention",
    "RWKV7Attention", "SimpleGatedLinearAttention", "GatedSlotAttention", "Qwen3NextGatedDeltaNet",
}  # fmt: skip


def recurrent(module: Any, wanted: Wanted) -> Parts:
    raise Outside(
        f"{described(module)}, head {wanted.head}",
        "unnormalised",
        "a recurrent layer with decay or gates, whose output is not divided by sum alpha",
        "ask about a normalised head with the same feature maps: from_callables",
    )


# --- modules that speak for themselves ----------------------------------------------------------------------


def spoken(module: Any, wanted: Wanted) -> Parts:
    name = f"{type(module).__name__}, head {wanted.head}"
    normalizer = getattr(module, "normalizer", "sum")
    kinds = {"none": "unnormalised", "decay": "unnormalised", "per_feature": "per-feature"}
    if normalizer in kinds:
        raise Outside(
            name, kinds[normalizer], f"it says normalizer = {normalizer!r}", "divide by the sum of alpha ('sum')"
        )
    eps, mode = float(getattr(module, "eps", 0.0)), getattr(module, "eps_mode", "add")
    if normalizer != "sum" or mode not in ("add", "clamp", "feature") or not 0 <= eps < 1e300:
        raise UsageError(
            f"{name}: expected normalizer sum, none, per_feature or decay, eps >= 0, and eps_mode add, clamp or "
            f"feature; got {normalizer!r}, {eps}, {mode!r}"
        )

    def part(method: str) -> Callable[[Tensor], Tensor]:
        return lambda x: pick(getattr(module, method)(x), wanted.head, wanted.layout, f"{name}, {method}")

    own = type(module).forward is not nn.Module.forward and hasattr(module, "values")
    return Parts(
        name,
        described(module),
        part("query_features"),
        part("key_features"),
        dim=getattr(module, "token_dim", None),
        values=part("values") if hasattr(module, "values") else None,
        output=(lambda x: pick(module(x), wanted.head, wanted.layout, f"{name}, forward")) if own else None,
        no_output="the module has no forward, or no values to compare it with",
        readout=getattr(module, "readout", None),
        additive=Fraction(eps) if mode == "add" else Fraction(0),
        clamp=eps if mode == "clamp" else None,
    )


BY_CLASS: dict[tuple[str, str], Adapter] = {
    ("performer_pytorch", "SelfAttention"): performer,
    ("performer_pytorch", "Attention"): performer,
    ("taylor_series_linear_attention", "TaylorSeriesLinearAttn"): taylor_series,
    ("linear_attention_transformer", "SelfAttention"): linear_transformer,
}
