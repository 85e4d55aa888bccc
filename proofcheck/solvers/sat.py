"""SAT: refutations of clauses as proofs with hints. The solver's DRUP proof is replayed, trimmed and given hints
here; the kernel only follows the hints.

A clause C follows by reverse unit propagation (RUP) from a set of clauses if taking all literals of C false and
propagating units leads to a false clause. The hints of a step are the clauses that became unit, in order, and the
false one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pysat.solvers import Solver

from proofcheck.errors import Undecided

Clause = tuple[int, ...]
Step = tuple[Clause, list[int]]


def refutation(name: str, clauses: Sequence[Sequence[int]], solver: str = "g4") -> list[Step] | None:
    """A trimmed proof with hints that `clauses` are unsatisfiable, or None if they are satisfiable.

    Hints number the clauses from 1, then the steps. Raises `Undecided` if the solver's proof cannot be replayed.
    """
    with Solver(name=solver, bootstrap_with=[list(c) for c in clauses], with_proof=True) as engine:
        if engine.solve():
            return None
        lines = engine.get_proof() or []
    added = [tuple(int(e) for e in line.split()[:-1]) for line in lines if not line.startswith("d")]
    if not added or added[-1]:
        added.append(())
    return _trimmed(name, [tuple(dict.fromkeys(c)) for c in clauses], added)


class _Propagator:
    """Two-watched-literal unit propagation over a growing list of clauses, deterministic, with reasons."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.watches: dict[int, list[int]] = {}
        self.units: list[int] = []

    def add(self, clause: Clause) -> None:
        index = len(self.clauses)
        self.clauses.append(clause)
        if len(clause) == 1:
            self.units.append(index)
        for literal in clause[:2] if len(clause) > 1 else ():
            self.watches.setdefault(literal, []).append(index)

    def conflict(self, clause: Clause) -> list[int] | None:
        """Indices of the clauses used, in order of propagation, the false one last; None if nothing is false."""
        value: dict[int, int | None] = {}
        trail: list[int] = []
        for literal in clause:
            if -literal not in value:
                value[-literal] = None
                trail.append(-literal)
        for index in self.units:
            (literal,) = self.clauses[index]
            if -literal in value:
                return self._explain(value, index)
            if literal not in value:
                value[literal] = index
                trail.append(literal)
        head = 0
        while head < len(trail):
            false = -trail[head]
            head += 1
            kept = []
            watching = self.watches.get(false, [])
            for position, index in enumerate(watching):
                current = self.clauses[index]
                other = current[0] if current[1] == false else current[1]
                if other in value:
                    kept.append(index)
                    continue
                for k in range(2, len(current)):
                    if -current[k] not in value:
                        swapped = [other, current[k], *current[2:k], false, *current[k + 1 :]]
                        self.clauses[index] = tuple(swapped)
                        self.watches.setdefault(current[k], []).append(index)
                        break
                else:
                    kept.append(index)
                    if -other in value:
                        kept += watching[position + 1 :]
                        self.watches[false] = kept
                        return self._explain(value, index)
                    value[other] = index
                    trail.append(other)
            self.watches[false] = kept
        return None

    def _explain(self, value: dict[int, int | None], last: int) -> list[int]:
        """The reasons that the conflict needs, in the order in which they were propagated."""
        needed: set[int] = set()
        stack = [last]
        while stack:
            index = stack.pop()
            if index in needed:
                continue
            needed.add(index)
            stack += [reason for e in self.clauses[index] if (reason := value.get(-e)) is not None]
        order = [reason for reason in value.values() if reason is not None and reason in needed and reason != last]
        return [*order, last]


def _trimmed(name: str, clauses: list[Clause], added: list[Clause]) -> list[Step]:
    propagator = _Propagator()
    for clause in clauses:
        propagator.add(clause)
    hints: list[list[int]] = []
    for k, clause in enumerate(added):
        found = propagator.conflict(clause)
        if found is None:
            raise Undecided(f"query {name}: line {k + 1} of the solver's proof does not follow by unit propagation")
        hints.append(found)
        propagator.add(clause)
        if not clause:
            added = added[: k + 1]
            break
    base = len(clauses)
    needed, stack = set(), [len(added) - 1]
    while stack:
        k = stack.pop()
        if k not in needed:
            needed.add(k)
            stack += [i - base for i in hints[k] if i >= base]
    renamed = {base + k: base + i for i, k in enumerate(sorted(needed))}
    return [(added[k], [renamed.get(i, i) + 1 for i in hints[k]]) for k in sorted(needed)]
