"""Small modules that do, each, one thing that real ones do."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import elu


class Speaking(nn.Module):
    """ELU+1 features, normalised by their sum: a head that speaks for itself. Shapes (B, T, m) -> (B, T, r)."""

    def __init__(self, m: int, r: int = 6, seed: int = 0, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.token_dim = m
        self.wq, self.wk, self.wv = (
            nn.Parameter((torch.randn(m, n, generator=generator) / m**0.5).to(dtype)) for n in (r, r, 3)
        )
        self.eps = 0.0

    def query_features(self, x: Tensor) -> Tensor:
        return elu(x @ self.wq) + 1

    def key_features(self, x: Tensor) -> Tensor:
        return elu(x @ self.wk) + 1

    def values(self, x: Tensor) -> Tensor:
        return x @ self.wv

    def denominator(self, alpha: Tensor) -> Tensor:
        return alpha.sum(-1, keepdim=True) + self.eps

    def forward(self, x: Tensor) -> Tensor:
        alpha = self.query_features(x) @ self.key_features(x).transpose(-1, -2)
        return alpha @ self.values(x) / self.denominator(alpha)


class Changed(Speaking):
    """`change` is one of the ways in which a head leaves the theorems."""

    def __init__(self, m: int, change: str, **named: object) -> None:
        super().__init__(m, **named)  # type: ignore[arg-type]
        self.change = change
        if change == "decay":
            self.normalizer = "decay"
        if change == "per feature":
            self.normalizer = "per_feature"
        if change == "unknown normaliser":
            self.normalizer = "mean"

    def query_features(self, x: Tensor) -> Tensor:
        if self.change == "redrawn":
            return torch.relu(x @ torch.randn_like(self.wq))
        if self.change == "signed":
            return x @ self.wq
        if self.change == "wrong rank":
            return super().query_features(x)[..., :-1]
        if self.change == "no sequence":
            return super().query_features(x).sum(1)
        return super().query_features(x)

    def key_features(self, x: Tensor) -> Tensor:
        found = super().key_features(x)
        if self.change == "coupled":
            return found / found.amax(1, keepdim=True)
        if self.change == "positional":
            return found * (1 + torch.arange(x.shape[1]).to(x))[:, None]
        if self.change in ("nan", "inf"):
            full = x.sum(-1, keepdim=True) == x.shape[-1]
            return torch.where(full, torch.full_like(found, float(self.change)), found)
        return found

    def forward(self, x: Tensor) -> Tensor:
        found = super().forward(x)
        return found / found.norm(dim=-1, keepdim=True) if self.change == "normed output" else found


class Flash(nn.Module):
    """The attributes of flash-linear-attention's LinearAttention, with a forward in plain torch."""

    def __init__(self, dim: int, heads: int = 4, groups: int = 2, norm: nn.Module | None = None) -> None:
        super().__init__()
        self.num_heads, self.num_kv_groups, self.do_feature_map_norm = heads, groups, True
        self.norm_q = self.norm_k = False
        self.feature_map_q = self.feature_map_k = lambda x: elu(x) + 1
        self.q_proj = nn.Linear(dim, 2 * heads, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(dim, 2 * heads // groups, bias=False) for _ in range(2))
        self.norm = nn.Identity() if norm is None else norm
        self.o_proj = nn.Linear(2 * heads, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q = self.feature_map_q(self.q_proj(x).reshape(*x.shape[:2], -1, 2))
        k, v = (
            f(x).reshape(*x.shape[:2], -1, 2).repeat_interleave(self.num_kv_groups, 2)
            for f in (self.k_proj, self.v_proj)
        )
        k = self.feature_map_k(k)
        alpha = torch.einsum("bihd,bjhd->bhij", q, k).tril() * 2**-0.5
        out = torch.einsum("bhij,bjhd->bihd", alpha, v) / (alpha.sum(-1) + 1e-10).transpose(1, 2)[..., None]
        return self.o_proj(self.norm(out).flatten(2))
