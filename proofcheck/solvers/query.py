"""A query: is there a real point that meets a list of named polynomial conditions?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from proofcheck.kernel.claims.forms import Row, Universal, refutable
from proofcheck.kernel.exact import Poly

Status = Literal["sat", "unsat"]


@dataclass(frozen=True)
class Query:
    """`rows` (name -> condition) and the status that the theory predicts for them."""

    name: str
    rows: Mapping[str, Row]
    expected: Status

    def variables(self) -> list[str]:
        return sorted(set().union(*(row.poly.variables() for row in self.rows.values())))

    def is_linear(self) -> bool:
        return all(len(monomial) <= 1 for row in self.rows.values() for monomial in row.poly.terms)

    def linearised(self) -> Query:
        """Every product of variables becomes an unknown of its own, named "a*p".

        A point of the original gives a point of the result, so "unsat" here implies "unsat" there. The
        converse needs the products to be consistent, which `Query` does not claim.
        """

        def linear(poly: Poly) -> Poly:
            return Poly({(product_name(monomial),) if monomial else (): q for monomial, q in poly.terms.items()})

        rows = {name: Row(linear(row.poly), row.strict) for name, row in self.rows.items()}
        return Query(f"{self.name}-linear", rows, self.expected)


@dataclass(frozen=True)
class Answer:
    """What a solver said. `model` is present where it said "sat" and every value is rational."""

    solver: str
    status: Status
    model: dict[str, Fraction] | None
    seconds: float


def product_name(monomial: tuple[str, ...]) -> str:
    return "*".join(monomial)


def negation(name: str, statement: Universal) -> Query:
    """The negated claim: unsatisfiable if and only if the universal statement holds."""
    return Query(name, refutable(statement), "unsat")
