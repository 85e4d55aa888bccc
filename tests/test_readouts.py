"""Fixed values: the least error against a linear programme over all sequences, and both kinds of certificates."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from proofcheck import exhaust, readouts, whole
from proofcheck.api import load
from proofcheck.errors import CONDITIONAL, PROVED, Undecided, UsageError
from proofcheck.heads import bits
from proofcheck.heads.tables import table
from proofcheck.kernel.check import check_files
from proofcheck.readout_query import Input, Query

HALF = Fraction(1, 2)


def sequences(size, n):
    """Everything that may stand beside the query."""
    for length in range(n):
        yield from combinations_with_replacement(range(size), length)


def row(query, others):
    """(vbar, 1) and the target, literally."""
    tokens = [query.x, *others]
    total = sum(query.alpha[z] for z in tokens) + query.additive
    average = sum(query.alpha[z] * query.values[z] for z in tokens) / total
    return [*average, 1.0], min((query.x & z).bit_count() for z in tokens)


def slowly(query):
    """The least error by one linear programme over all sequences."""
    rows, right = [], []
    for others in sequences(len(query.alpha), query.n):
        average, target = row(query, others)
        for sign in (1, -1):
            rows.append([*(sign * a for a in average), -1.0])
            right.append(sign * target)
    cost = [0.0] * (len(rows[0]) - 1) + [1.0]
    return linprog(cost, rows, right, bounds=[(None, None)] * (len(cost) - 1) + [(0, None)], method="highs").fun


@st.composite
def queries(draw):
    m = draw(st.integers(1, 3))
    source = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, x = draw(st.integers(1, 4)), draw(st.integers(0, (1 << m) - 1))
    alpha = np.exp(source.normal(size=1 << m) * draw(st.sampled_from([0.3, 2.0])))
    width = draw(st.integers(0, 3))
    return Query(x, alpha, source.normal(size=(1 << m, width)), draw(st.sampled_from([0.0, 0.7])), n), source


@settings(max_examples=60, deadline=None)
@given(queries())
def test_the_least_error_is_that_over_all_sequences(case):
    query, _ = case
    error, numbers = query.solve(float("inf"))
    assert error == pytest.approx(slowly(query), abs=1e-6)
    assert len(numbers) == query.values.shape[1] + 1
    early, _ = query.solve(0.2)
    assert (early >= 0.2) == (error >= 0.2) or abs(error - 0.2) < 1e-6


@settings(max_examples=60, deadline=None)
@given(queries())
def test_the_worst_inputs_are_those_of_an_enumeration(case):
    query, source = case
    numbers = source.normal(size=query.values.shape[1] + 1)
    errors = {}
    for others in sequences(len(query.alpha), query.n):
        average, target = row(query, others)
        for side, sign in (("below", 1), ("above", -1)):
            errors[others, side] = sign * (float(np.dot(average, numbers)) - target)
    largest = max(errors.values())
    assert query.worst(numbers, largest + 1e-9) == []
    found = query.worst(numbers, largest - 1e-6)
    assert max(query.error(given, numbers) for given in found) == pytest.approx(largest)
    for given_input in found:
        others = tuple(sorted(z for z, k in given_input.others for _ in range(k)))
        assert query.error(given_input, numbers) == pytest.approx(errors[others, given_input.side])


def written(certificate, tmp_path):
    (report,) = check_files([str(certificate.write(tmp_path, "certificate"))])
    return report.status


@pytest.mark.parametrize("values", ["linear", "overlap", "own"])
def test_softmin_beyond_its_own_readout(tmp_path, values):
    """w = 1/2: the readout <x,z> of Theorem 1 fails, and the best one does not."""
    head = load("softmin", 4, options={"w": "1/2"})
    assert isinstance(exhaust.verify(head), exhaust.Counterexample)
    found = readouts.best(head, values)
    assert isinstance(found, readouts.Fitted)
    assert found.error == pytest.approx(0.3125, abs=1e-6)
    assert found.verdict.status == PROVED
    assert written(found.verdict.certificate, tmp_path) == PROVED
    assert isinstance(whole.verify(found.head), whole.HeadCorrect)


@pytest.mark.parametrize(("values", "width"), [("linear", 4), ("overlap", 1)])
def test_softmin_with_a_table_and_without_a_linear_readout(tmp_path, values, width):
    """w = 7/10: correct for some table, and for no affine readout of the bits. The list of inputs is irreducible."""
    head = load("softmin", 4, options={"w": "7/10"})
    assert isinstance(exhaust.decide(head), exhaust.KernelCorrect)
    found = readouts.best(head, values)
    assert isinstance(found, readouts.NoReadout)
    assert found.error > 0.5
    assert len(found.inputs) <= width + 2
    assert found.certificate.rule == "farkas"
    assert written(found.certificate, tmp_path) == PROVED
    at_x = bits(range(16), 4).astype(float)
    query = Query(found.x, np.array([0.7 ** (found.x & z).bit_count() for z in range(16)]), at_x, 0.0, 3)
    if values == "linear":
        for left_out in [None, *found.inputs]:
            query.rows.clear()
            query._add([given_input for given_input in found.inputs if given_input != left_out])
            assert (query._relaxed()[0] < 0.5) is (left_out is not None)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([Fraction(0), Fraction(1, 3)]))
def test_random_kernels_agree_with_the_linear_programme(seed, additive):
    """Softmin tables, disturbed, with values of their own: fitted or refuted as the programme over all sequences says
    of the worst query."""
    source, m = np.random.default_rng(seed), 2
    overlaps = np.bitwise_count(np.arange(4)[:, None] & np.arange(4))
    keys = np.rint(20.0 * 1.6 ** (m - overlaps) * np.exp(source.normal(size=(4, 4)) * 0.1)).astype(int)
    numbers = source.integers(-3, 4, size=(4, 1))
    head = table(np.eye(4, dtype=int), keys.T, numbers, numbers * 0, np.zeros(4, dtype=int).tolist(), additive)
    if not isinstance(exhaust.decide(head, certified=False), exhaust.KernelCorrect):
        return
    for values in ("linear", "overlap", "own"):
        found = readouts.best(head, values)
        at = bits(range(4), m).astype(float) if values != "own" else numbers.astype(float)
        least = []
        for x in range(4):
            of_x = at @ at[x][:, None] if values == "overlap" else at
            least.append(slowly(Query(x, keys[x].astype(float), of_x, float(additive), 3)))
        if isinstance(found, readouts.Fitted):
            assert found.error == pytest.approx(max(least), abs=1e-6)
            assert found.verdict.status == PROVED
        else:
            assert max(least) >= 0.5 - 1e-9
            assert found.certificate.claim == "readout-refutation"
            assert found.certificate.verdict.assumed == []


def test_a_tie_is_refuted_exactly(tmp_path):
    """No values at all: on (1) and (1,0) of the constant kernel the output is the same number, and 1/2 is not below
    1/2. The least error is exactly eps."""
    head = table([[1], [1]], [[1], [1]], [[0], [0]], [[0], [0]], [0, 0])
    found = readouts.best(head, "own", 2)
    assert isinstance(found, readouts.NoReadout)
    assert found.error == pytest.approx(0.5)
    assert set(found.inputs) <= {Input((), "above"), Input(((1, 1),), "above"), Input(((0, 1),), "below")}
    assert written(found.certificate, tmp_path) == PROVED


def test_what_cannot_be_asked():
    with pytest.raises(UsageError, match="expected linear, overlap, own, got 'cubic'"):
        readouts.best(load("softmin", 2), "cubic")
    with pytest.raises(UsageError, match="has no values of its own"):
        readouts.best(load("elu1", 2), "own")


def test_tables_that_are_too_large_are_decided_without_a_certificate():
    head = load("softmin", 6, options={"tau": "89/100"})
    found = readouts.best(head, "own")
    assert (found.verdict.certificate, found.verdict.status) == (None, CONDITIONAL)


def test_floats_that_prove_nothing(monkeypatch):
    """Where the programme claims too large an error, exact arithmetic does not follow."""
    monkeypatch.setattr(
        Query, "solve", lambda self, eps: (1.0, (self._add(list(self._first())), self._relaxed())[1][1])
    )
    with pytest.raises(Undecided, match="too near to 1/2 to be refuted exactly"):
        readouts.best(load("softmin", 3), "linear")
