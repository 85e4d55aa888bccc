"""Refutations: an independent checker of hints replays every proof; brute force says what is unsatisfiable."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofcheck.errors import Undecided
from proofcheck.solvers import sat


def satisfiable(clauses, variables):
    """Every assignment in turn."""
    return any(
        all(any(values[abs(e) - 1] == (e > 0) for e in clause) for clause in clauses)
        for values in product((False, True), repeat=variables)
    )


def replays(clauses, proof):
    """Each step: with its literals false every hint is unit in turn, the last one false; the last step is empty."""
    known = [set(clause) for clause in clauses]
    for literals, hints in proof:
        true = {-e for e in literals}
        for position, hint in enumerate(hints):
            if not 1 <= hint <= len(known):
                return False
            left = {e for e in known[hint - 1] if -e not in true}
            last = position == len(hints) - 1
            if last and left:
                return False
            if not last:
                if len(left) != 1:
                    return False
                true |= left
        if not hints:
            return False
        known.append(set(literals))
    return bool(proof) and not proof[-1][0]


def used(clauses, proof):
    """Numbers of the steps that no later step mentions, the last one left out."""
    mentioned = {hint for _, hints in proof for hint in hints}
    return [k for k in range(len(proof) - 1) if len(clauses) + k + 1 not in mentioned]


VARIABLES = 5
literals = st.integers(1, VARIABLES).flatmap(lambda v: st.sampled_from([v, -v]))
formulas = st.lists(st.lists(literals, min_size=1, max_size=3, unique_by=abs), min_size=1, max_size=45)


@settings(max_examples=300, deadline=None)
@given(formulas)
def test_refuted_if_and_only_if_unsatisfiable(clauses):
    proof = sat.refutation("random", clauses)
    if satisfiable(clauses, VARIABLES):
        assert proof is None
    else:
        assert replays(clauses, proof)
        assert used(clauses, proof) == []


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(3, 7))
def test_planted_contradictions(random, size):
    """All sign patterns of three variables, some of them split: unsatisfiable by construction, needs a proof."""
    chosen = random.sample(range(1, size + 1), 3)
    clauses = [[v if s else -v for v, s in zip(chosen, signs, strict=True)] for signs in product((0, 1), repeat=3)]
    fresh = size
    for clause in list(clauses):  # split some of them at a new variable
        if random.random() < 0.5:
            fresh += 1
            clauses.remove(clause)
            clauses += [[*clause, fresh], [*clause, -fresh]]
    random.shuffle(clauses)
    proof = sat.refutation("planted", clauses)
    assert replays(clauses, proof)


def pigeons(holes):
    """holes+1 pigeons in the given number of holes."""

    def at(pigeon, hole):
        return pigeon * holes + hole + 1

    clauses = [[at(p, h) for h in range(holes)] for p in range(holes + 1)]
    for h in range(holes):
        clauses += [[-at(p, h), -at(q, h)] for p, q in combinations(range(holes + 1), 2)]
    return clauses


@pytest.mark.parametrize("holes", [1, 2, 3, 4, 5])
def test_pigeons(holes):
    """Proofs that need real search; the same proof every time."""
    clauses = pigeons(holes)
    proof = sat.refutation("pigeons", clauses)
    assert replays(clauses, proof)
    assert used(clauses, proof) == []
    assert proof == sat.refutation("pigeons", clauses)


@pytest.mark.parametrize(
    ("clauses", "steps"),
    [([[1], [-1]], [((), [1, 2])]), ([[1, 2], [-1, 2], [-2]], [((), [3, 1, 2])])],
)
def test_what_propagation_alone_refutes_takes_one_step(clauses, steps):
    proof = sat.refutation("units", clauses)
    assert len(proof) == len(steps)
    assert replays(clauses, proof)


def test_satisfiable_has_no_proof():
    assert sat.refutation("free", [[1, 2], [-1, 2]]) is None
    assert sat.refutation("nothing", []) is None


def test_repeated_literals_and_tautologies_give_a_proof_or_no_answer():
    clauses = [[1, 1], [1, -1], [-1, -1, 2], [-2, -2]]
    try:
        proof = sat.refutation("repeated", clauses)
    except Undecided:
        return
    assert replays(clauses, proof)
