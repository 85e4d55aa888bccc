"""Heads given by tables: row x of `queries` (2^m, r) holds phiQ(x), row z of `keys` holds phiK(z), exactly.

    table(queries, keys, ...)   a head from sequences of rationals, or from arrays, whose floats are dyadic rationals

A readout is optional: `values` (2^m, dv), `weights` (2^m, dv) and `offsets` (2^m,) give
g(x,z) = <weights[x], values[z]> + offsets[x]. A readout is computed in floats (see `Readout`), so its numbers must be
ones that float64 holds exactly; those of the kernel may be any rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import UsageError

from . import Bits, Floats, Head, Readout

Table: TypeAlias = Sequence[Sequence[int | Fraction]] | NDArray[Any]
Row: TypeAlias = tuple[tuple[int, ...], int]  # integers over one denominator

MAX_TABLE_BITS = 16  # m, for tables with a row for each token


@dataclass(frozen=True)
class TableHead(Head):
    """A head whose kernel is exact by its tables."""

    query_rows: tuple[Row, ...] = ()
    key_rows: tuple[Row, ...] = ()

    def exact(self, x: int, zs: Sequence[int]) -> list[Fraction]:
        query, denominator = self.query_rows[x]
        found = []
        for z in zs:
            key, other = self.key_rows[z]
            found.append(Fraction(sum(map(int.__mul__, query, key)), denominator * other))
        return found


def table(
    queries: Table,
    keys: Table,
    values: Table | None = None,
    weights: Table | None = None,
    offsets: Sequence[int | Fraction] | NDArray[Any] | None = None,
    additive: Fraction = Fraction(0),
    name: str = "table",
    note: str = "",
) -> TableHead:
    """The head of these tables. `UsageError` names the table, the token and the column of the first fault."""
    q, k = _rows("queries", queries), _rows("keys", keys)
    size, rank = len(q), len(q[0])
    m = size.bit_length() - 1
    if size != 1 << m or not 1 <= m <= MAX_TABLE_BITS:
        raise UsageError(f"queries: expected 2^m rows, one for each token, 1 <= m <= {MAX_TABLE_BITS}; got {size}")
    for label, rows in (("queries", q), ("keys", k)):
        _same_shape(label, rows, size, rank)
    if additive < 0:
        raise UsageError(f"additive: expected a number >= 0, got {additive}")
    readout = None
    given = [part is not None for part in (values, weights, offsets)]
    if any(given):
        if values is None or weights is None or offsets is None:
            raise UsageError("values, weights and offsets are given together or not at all")
        v, w, o = _rows("values", values), _rows("weights", weights), _rows("offsets", [[row] for row in offsets])
        for label, rows, width in (("values", v, len(v[0])), ("weights", w, len(v[0])), ("offsets", o, 1)):
            _same_shape(label, rows, size, width)
            for token, row in enumerate(rows):
                for column, value in enumerate(row):
                    if Fraction(_float(label, token, column, value)) != value:
                        place = f"{label}: token {token:#x}, column {column}"
                        raise UsageError(f"{place}: {value} is no float64 number, as a readout's must be")
        look_up = _lookup("offsets", o, m)
        readout = Readout(_lookup("values", v, m), _lookup("weights", w, m), lambda b: look_up(b)[:, 0])
    return TableHead(
        name,
        m,
        rank,
        _lookup("queries", q, m),
        _lookup("keys", k, m),
        additive,
        readout,
        note,
        tuple(map(_integral, q)),
        tuple(map(_integral, k)),
    )


def _rows(label: str, given: Table) -> list[list[Fraction]]:
    if isinstance(given, np.ndarray):
        if given.dtype.kind not in "iufb" or given.ndim != 2:
            raise UsageError(
                f"{label}: expected a two-dimensional array of real numbers, got shape {given.shape}, {given.dtype}"
            )
        wrong = np.argwhere(~np.isfinite(given))
        if len(wrong):
            token, column = wrong[0]
            raise UsageError(f"{label}: token {token:#x}, column {column} is {given[token, column]}")
        given = given.tolist()
    if not len(given) or not len(given[0]):
        raise UsageError(f"{label}: the table is empty")
    return [[Fraction(value) for value in row] for row in given]


def _same_shape(label: str, rows: list[list[Fraction]], size: int, width: int) -> None:
    if len(rows) != size:
        raise UsageError(f"{label}: expected {size} rows, one for each token, got {len(rows)}")
    for token, row in enumerate(rows):
        if len(row) != width:
            raise UsageError(f"{label}: token {token:#x}: expected {width} columns, got {len(row)}")


def _float(label: str, token: int, column: int, value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{label}: token {token:#x}, column {column}: a number beyond 2^1024") from None


def _lookup(label: str, rows: list[list[Fraction]], m: int) -> Any:
    """The feature map that looks tokens up, in floats."""
    floats = np.array([[_float(label, i, j, value) for j, value in enumerate(row)] for i, row in enumerate(rows)])
    places = 1 << np.arange(m)

    def look_up(b: Bits) -> Floats:
        return np.asarray(floats[b.astype(np.int64) @ places])

    return look_up


def _integral(row: list[Fraction]) -> Row:
    scale = lcm(*(value.denominator for value in row))
    return tuple(value.numerator * (scale // value.denominator) for value in row), scale
