"""A head with its readout, on every sequence (mathematics.md B7): the largest sums separate.

For a query x, P = alpha g, and u(z) = P(z) - (t+eps) alpha(x,z), the output on a sequence with target t is below t +
eps if and only if the sum of u over its tokens, the query's own place and the constant included, is negative; likewise
below. A sequence of length N has target t < |x| if and only if one other token has overlap t and the N-2 further ones
at least t; for t = |x| all N-1 others have overlap |x|. So the largest sum is

    u(x) + max_{=t} u + (N-2) max_{>=t} u,    or    u(x) + (N-1) max_{=|x|} u,

linear in N: for all lengths 1..n the ends decide. Where a denominator is zero, the sum is 0 and fails. `verify` needs
O(m 4^m) operations in floats, with a proved bound on their error; a query where this leaves a doubt is decided in
integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofcheck.certificate import Checked, certify
from proofcheck.cube import CHUNK, UNIT, Cube, Outputs
from proofcheck.errors import CONDITIONAL, PROVED, UsageError
from proofcheck.heads import Floats, Head
from proofcheck.kernel.exact import OverBudget
from proofcheck.triples import Outside

WORST = 16  # failing queries whose worst sequences are worked out exactly
WRITTEN = 10_000  # tokens of a counterexample that is written out


@dataclass(frozen=True)
class HeadCorrect:
    """The head is correct on all sequences. Without a certificate the status is 3."""

    head: str
    n: int
    eps: Fraction
    lengths: str
    exact_queries: int
    certificate: Checked | None

    @property
    def status(self) -> int:
        return PROVED if self.certificate else CONDITIONAL


@dataclass(frozen=True)
class Counterexample:
    """The head fails at place 0 of the sequence; of the extreme sequences that fail, the one with the largest error.

    `output` is None where the denominator is zero; the error is then infinite.
    """

    head: str
    eps: Fraction
    sequence: tuple[int, ...]
    output: Fraction | None
    target: int
    certificate: Checked | None

    @property
    def error(self) -> Fraction | None:
        return None if self.output is None else abs(self.output - self.target)


def fitting(claim: str, parameters: dict[str, Any], rule: str, command: str, uses: list[Checked]) -> Checked | None:
    """The certificate of a claim about integer feature tables, or None where the kernel's budgets do not allow it."""
    tables = [parameters["queries"], parameters["keys"]]
    if max(k.bit_length() for table in tables for row in table for k in row) > 256:
        return None
    try:
        return certify(claim, parameters, rule, {}, command=command, uses=uses)
    except OverBudget:
        return None


def verify(
    head: Head,
    n: int = 3,
    eps: Fraction = Fraction(1, 2),
    lengths: str = "up-to",
    *,
    command: str | None = None,
    certified: bool = True,
) -> HeadCorrect | Counterexample | Outside:
    """Whether the head with its own readout is correct on all sequences of length exactly n ("exactly") or 1..n
    ("up-to") over {0,1}^m, m <= 14. Without `certified` a correct head gets no certificate, however small."""
    if n < 1 or not 0 < eps <= Fraction(1, 2):
        raise UsageError(f"expected n >= 1 and 0 < eps <= 1/2, got n = {n}, eps = {eps}")
    if lengths not in ("exactly", "up-to"):
        raise UsageError(f"lengths: expected 'exactly' or 'up-to', got {lengths!r}")
    if head.readout is None:
        raise UsageError(f"{head.name}: has no readout; `decide` answers for the kernel alone")
    command = command or f"proofcheck certify {head.name} -n {n} --eps {eps} --lengths {lengths}"
    cube, outputs = Cube(head), Outputs(head, head.readout)
    ks = _further(n, lengths)
    suspects: list[tuple[float, int]] = []
    for h, xs in cube.batches():
        margins = _margins(cube, outputs, h, xs, eps, ks)
        suspects += [(float(margins[i]), int(xs[i])) for i in np.flatnonzero(~(margins < 0))]
    suspects.sort(key=lambda item: (-np.nan_to_num(item[0], nan=np.inf), item[1]))
    failing: list[Counterexample] = []
    for _, x in suspects:
        row, unit = cube.row(x)
        if min(row) < 0:
            z = row.index(min(row))
            return Outside(head.name, x, z, Fraction(row[z], unit), cube.size)
        found = max(_failures(cube, outputs, x, row, unit, n, eps, ks), key=_severity, default=None)
        if found is not None:
            failing.append(found)
            if len(failing) == WORST:
                break
    if failing:
        worst = max(failing, key=_severity)
        return replace(worst, certificate=_counterexample(cube, outputs, worst, command))
    proof, tables = None, cube.feature_tables() if certified else None
    if tables is not None:
        queries, keys, unit = tables
        parameters = {"m": head.m, "n": n, "eps": eps, "lengths": lengths, "additive": head.additive * unit}
        parameters |= {"queries": queries, "keys": keys, **outputs.fractions()}
        proof = fitting("exhaustive-head", parameters, "separable", command, [])
    return HeadCorrect(head.name, n, eps, lengths, len(suspects), proof)


def _further(n: int, lengths: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many further tokens there may be beside x for t = h, and beside x and y for t < h. The sums are linear in
    this number: the ends decide."""
    if lengths == "exactly":
        return (n - 1,), ((n - 2,) if n > 1 else ())
    return (0, n - 1), ((0, n - 2) if n > 1 else ())


def _margins(
    cube: Cube,
    outputs: Outputs,
    h: int,
    xs: NDArray[np.int64],
    eps: Fraction,
    ks: tuple[tuple[int, ...], tuple[int, ...]],
) -> Floats:
    """For each query an upper bound on the largest sum of u over all sequences, relative to the sum of moduli; negative
    only if floats prove that all are, and that no kernel value is negative. NaN proves nothing."""
    alpha, error = cube.kernel(xs)
    g, g_error = outputs.table(xs)
    with np.errstate(all="ignore"):
        product = alpha * g
        p_error = np.abs(alpha) * g_error + np.abs(g) * error + error * g_error + 4 * UNIT * np.abs(product)
        negative = np.isnan(error) if cube.nonnegative_features() else ~(alpha - error >= 0)
        worst = np.where(negative.any(axis=1), np.nan, -1.0)
        step = max(1, CHUNK >> cube.m)
        for i in range(0, len(xs), step):
            part = slice(i, i + step)
            tables = (alpha[part], product[part], error[part], p_error[part])
            sums = _largest_sums(cube, h, xs[part], outputs.offsets[xs[part]], tables, float(eps), ks)
            worst[part] = np.maximum(worst[part], sums)  # NaN stays
    return np.asarray(worst)


def _largest_sums(
    cube: Cube,
    h: int,
    xs: NDArray[np.int64],
    offsets: Floats,
    tables: tuple[Floats, Floats, Floats, Floats],
    e: float,
    ks: tuple[tuple[int, ...], tuple[int, ...]],
) -> Floats:
    """`_margins` for a few queries: `tables` are alpha, P and bounds on their errors. The error of u at levels >= t is
    at most `reach`: those of P and alpha there, and a few units of the moduli; the own term adds the constant's."""
    places, c = np.arange(len(xs)), float(cube.additive)
    own, own_p = tables[0][places, xs] + c, tables[1][places, xs] + c * offsets
    own_size = np.abs(tables[0][places, xs]) + c, np.abs(tables[1][places, xs]) + np.abs(c * offsets)
    order, starts = cube.by_level(xs)
    a, p, a_error, p_error = (np.take_along_axis(table, order, axis=1) for table in tables)
    # the largest value at levels >= t, for each t
    a_most, p_most, a_reach, p_reach = (
        np.maximum.accumulate(np.maximum.reduceat(table, starts, axis=1)[:, ::-1], axis=1)[:, ::-1]
        for table in (np.abs(a), np.abs(p), a_error, p_error)
    )
    worst, buffer, minus = np.full(len(xs), -1.0), np.empty_like(a), -p
    for t in range(h, -1, -1):
        start, stop = starts[t], starts[t + 1] if t < h else cube.size
        largest = p_most[:, t] + (t + 1) * a_most[:, t]
        reach = p_reach[:, t] + (t + 1) * a_reach[:, t] + 8 * UNIT * largest
        own_largest = own_size[1] + (t + 1) * own_size[0]
        for sign, signed in ((1, p), (-1, minus)):
            u = np.multiply(a[:, start:], -(sign * t + e), out=buffer[:, start:])
            u += signed[:, start:]
            base = sign * own_p - (sign * t + e) * own
            at = u[:, : stop - start].max(axis=1)
            above = at if t == h else np.maximum(at, u[:, stop - start :].max(axis=1))
            for k in ks[0] if t == h else ks[1]:
                more = k if t == h else k + 1
                total = base + (k * at if t == h else at + k * above)
                scale = own_largest + (more + 1) * largest
                bound = (more + 1) * reach + (16 * UNIT) * scale
                worst = np.maximum(worst, np.where(total + bound < 0, -1.0, (total + bound) / scale))
    return worst


def _failures(
    cube: Cube,
    outputs: Outputs,
    x: int,
    row: list[int],
    unit: int,
    n: int,
    eps: Fraction,
    ks: tuple[tuple[int, ...], tuple[int, ...]],
) -> Iterator[Counterexample]:
    """The extreme sequences of one query that fail, exactly: for each target and side, (x, y, z, .., z)."""
    g, offset, scale = outputs.row(x)
    p, q, h = eps.numerator, eps.denominator, x.bit_count()
    constant = cube.additive * unit
    levels: list[list[int]] = [[] for _ in range(h + 1)]
    for z in range(cube.size):
        levels[(x & z).bit_count()].append(z)
    u = [0] * cube.size
    for sign in (1, -1):
        above: list[int] = []
        for t in range(h, -1, -1):
            tau = (t * q + sign * p) * scale
            above += levels[t]
            for z in above:
                u[z] = sign * row[z] * (q * g[z] - tau)
            own = u[x] + sign * constant * (q * offset - tau)
            y = max(levels[t], key=u.__getitem__)
            z = y if t == h else max(above, key=u.__getitem__)
            for k in ks[0] if t == h else ks[1]:
                if own + (k * u[z] if t == h else u[y] + k * u[z]) >= 0:
                    counts = {z: k} if t == h else {y: 1, z: k + (y == z)}
                    denominator = constant + row[x] + sum(count * row[v] for v, count in counts.items())
                    numerator = constant * offset + row[x] * g[x]
                    numerator += sum(count * row[v] * g[v] for v, count in counts.items())
                    output = Fraction(numerator) / (denominator * scale) if denominator else None
                    others = (z,) * k if t == h else (y, *(z,) * k)
                    yield Counterexample(cube.head.name, eps, (x, *others), output, t, None)


def _severity(found: Counterexample) -> tuple[bool, Fraction]:
    error = found.error
    return error is None, error or Fraction(0)


def _counterexample(cube: Cube, outputs: Outputs, found: Counterexample, command: str) -> Checked | None:
    if len(found.sequence) > WRITTEN:
        return None
    x = found.sequence[0]
    row, unit = cube.row(x)
    g, offset, scale = outputs.row(x)
    parameters = {
        "m": cube.m,
        "eps": found.eps,
        "sequence": [f"{z:x}" for z in found.sequence],
        "position": 0,
        "alpha": [Fraction(row[z], unit) for z in found.sequence],
        "g": [Fraction(g[z], scale) for z in found.sequence],
        "additive": cube.additive,
        "offset": Fraction(offset, scale),
    }
    try:
        return certify("head-counterexample", parameters, "evaluation", {}, command=command)
    except OverBudget:
        return None
