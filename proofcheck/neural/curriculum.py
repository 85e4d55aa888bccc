"""Heads that exist already as starts for others: of one rank more, or of one bit less.

read      the feature tables in a certificate (head-exists by table-head, kernel-correct, exhaustive-head) or in a
          file of a head
fitted    starts for tokens of m bits and rank r: the head itself; with features dropped one after the other, a
          different choice for each head that is trained; or copied to both values of a new bit
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from proofcheck.cube import Cube
from proofcheck.errors import MalformedInput, UsageError
from proofcheck.heads import Floats, files
from proofcheck.kernel.exact import Malformed, load_json

from .warm import extended, without

MAX_BYTES = 1 << 26


def read(path: Path) -> tuple[Floats, Floats]:
    """(2^m, r) each."""
    if not path.is_file():
        raise UsageError(f"--warm: {path}: no such file")
    if path.suffix == ".json" and path.stat().st_size <= MAX_BYTES:
        try:
            content = load_json(path.read_bytes())
        except Malformed as error:
            raise MalformedInput(f"{path}: {error}") from None
        if isinstance(content, dict) and "claim" in content:
            return _of_certificate(content, path)
    cube = Cube(files.load(path))
    if cube.closed:
        raise UsageError(f"--warm: {path}: a kernel by a formula has no features to begin with")
    return cube.queries, cube.keys


def _of_certificate(content: dict[str, object], path: Path) -> tuple[Floats, Floats]:
    for place in (content.get("witness"), content.get("parameters")):
        if isinstance(place, dict) and {"queries", "keys"} <= set(place):
            try:
                queries, keys = (np.array(place[name], dtype=np.float64) for name in ("queries", "keys"))
            except (TypeError, ValueError, OverflowError):
                raise MalformedInput(f"{path}: queries and keys are no tables of numbers") from None
            size = len(queries)
            if queries.ndim == 2 and queries.shape == keys.shape and size & (size - 1) == 0 < queries.shape[1]:
                return queries, keys
            raise MalformedInput(
                f"{path}: queries and keys have shapes {queries.shape}, {keys.shape}, expected 2^m x r"
            )
    raise UsageError(f"--warm: {path}: the certificate of {content['claim']!s:.40} holds no tables of features")


def fitted(given: tuple[Floats, Floats], m: int, r: int, heads: int) -> tuple[Floats, Floats]:
    """(heads or 1, 2^m, r) each. `UsageError` where this is no step from what is given."""
    queries, keys = given
    bits, rank = len(queries).bit_length() - 1, keys.shape[1]
    if bits == m - 1 and rank <= r:
        queries, keys = extended(queries, keys, r)
    elif bits != m or rank < r:
        raise UsageError(
            f"--warm: a head of rank {rank} on {bits} bits is no start for rank {r} on {m} bits; expected rank >= {r} "
            f"on {m} bits, or rank <= {r} on {m - 1}"
        )
    found = []
    for head in range(heads if keys.shape[1] > r else 1):
        q, k, turn = queries, keys, head
        while k.shape[1] > r:
            turn, feature = divmod(turn, k.shape[1])
            q, k = without(q, k, feature)
        found.append((q, k))
    return np.stack([q for q, _ in found]), np.stack([k for _, k in found])
