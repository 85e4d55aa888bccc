"""Queries as SMT-LIB 2 files with their expected status, for any solver and any reader."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from proofcheck.kernel.exact import Poly

from .query import Query

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def render(query: Query) -> str:
    """The query as SMT-LIB 2.6: QF_LRA where it is linear, QF_NRA otherwise, each condition named."""
    lines = [
        f"; {query.name}",
        "(set-info :smt-lib-version 2.6)",
        f"(set-logic {'QF_LRA' if query.is_linear() else 'QF_NRA'})",
        f"(set-info :status {query.expected})",
        *(f"(declare-const {_symbol(name)} Real)" for name in query.variables()),
    ]
    for name, row in query.rows.items():
        relation = ">" if row.strict else ">="
        lines.append(f"(assert (! ({relation} {_sum(row.poly)} 0.0) :named {_symbol('row.' + name)}))")
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


def expected_status(text: str) -> str:
    """The status that a file announces."""
    match = re.search(r"\(set-info :status (sat|unsat)\)", text)
    return match.group(1) if match else "unknown"


def write(query: Query, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{query.name}.smt2"
    path.write_text(render(query), encoding="ascii")
    return path


def _symbol(name: str) -> str:
    return name if _SIMPLE.fullmatch(name) else f"|{name}|"


def _numeral(q: Fraction) -> str:
    size = f"{abs(q.numerator)}.0"
    if q.denominator != 1:
        size = f"(/ {size} {q.denominator}.0)"
    return f"(- {size})" if q < 0 else size


def _sum(poly: Poly) -> str:
    parts = []
    for monomial, q in poly.terms.items():
        factors = [_symbol(name) for name in monomial]
        if q != 1 or not factors:
            factors.insert(0, _numeral(q))
        parts.append(factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})")
    if len(parts) > 1:
        return f"(+ {' '.join(parts)})"
    return parts[0] if parts else "0.0"
