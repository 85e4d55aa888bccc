"""Starting points for a search: positive features with structure, to be disturbed and trained on.

complements   rank m: phiK_i(z) = s^|z| (1 - z_i + c), phiQ_i(x) = x_i + c (mathematics.md B3 c, with positive
              features: alpha = s^|z| (|x\\z| + ..), which prefers tokens that miss x)
mixtures      any rank: nonnegative combinations sum_j W_ij (1 - z_j) and sum_j W_ij x_j instead, W random
affine        the same without the factor s^|z|: features W x + c of queries, W (1 - z) + c of keys
without       a feature merged into the others: rank r from a head of rank r+1
extended      a head on m-1 bits, copied to both values of the last bit, with further features for the new queries
"""

from __future__ import annotations

import numpy as np

from proofcheck.heads import Floats

SHARED = 0.3  # parameter of the Dirichlet distribution of a bit over features: small for few


def bits(m: int) -> Floats:
    return (np.arange(1 << m)[:, None] >> np.arange(m) & 1).astype(np.float64)


def complements(m: int, base: float = 0.7, constant: float = 0.15) -> tuple[Floats, Floats]:
    b = bits(m)
    return b + constant, base ** b.sum(axis=1, keepdims=True) * (1 - b + constant)


def affine(m: int, rank: int, heads: int, source: np.random.Generator) -> tuple[Floats, Floats]:
    """W (heads, m, rank) and c (heads, 1, 1). The rows of W are drawn so that each bit is shared by few features."""
    weights = np.maximum(source.dirichlet(np.full(rank, SHARED), size=(heads, m)), 0)
    return weights, source.uniform(0.08, 0.25, size=(heads, 1, 1))


def mixtures(
    m: int, rank: int, heads: int, source: np.random.Generator, bases: tuple[float, float] = (0.6, 0.8)
) -> tuple[Floats, Floats]:
    """(heads, 2^m, rank) each; base and constant differ from head to head."""
    b = bits(m)
    weights = np.maximum(source.dirichlet(np.full(rank, SHARED), size=(heads, m)), 0)
    base = source.uniform(*bases, size=(heads, 1, 1))
    constant = source.uniform(0.08, 0.25, size=(heads, 1, 1))
    return b @ weights + constant, base ** b.sum(axis=1, keepdims=True) * ((1 - b) @ weights + constant)


def without(queries: Floats, keys: Floats, feature: int) -> tuple[Floats, Floats]:
    """Each query gives its weight on the feature to the others, by the overlap of their columns of keys."""
    rest = np.delete(np.arange(keys.shape[1]), feature)
    unit = keys / np.linalg.norm(keys, axis=0)
    share = np.maximum(unit[:, rest].T @ unit[:, feature], 0) * np.linalg.norm(keys[:, feature])
    share = share / np.linalg.norm(keys[:, rest], axis=0) / len(rest)
    return queries[:, rest] + queries[:, [feature]] * share, keys[:, rest]


def extended(
    queries: Floats, keys: Floats, rank: int, base: float = 0.7, constant: float = 0.15
) -> tuple[Floats, Floats]:
    """Tokens z and z + {m}: the old features, times `base` where the new bit is set; each further feature asks for
    the new bit, as `complements` does."""
    old = keys.shape[1]
    more = rank - old
    new_bit = np.repeat([0.0, 1.0], len(keys))[:, None]
    doubled = np.concatenate([keys, keys * base])
    typical = doubled.mean(axis=1, keepdims=True)
    further = np.repeat(typical * (1 - new_bit + constant), more, axis=1)
    asked = np.concatenate([queries, queries])
    weight = asked.mean(axis=1, keepdims=True)
    return np.hstack([asked, np.repeat(weight * (new_bit + constant), more, axis=1)]), np.hstack([doubled, further])
