"""Claims about a kernel or a head that is given by its numbers. TRUST.md, "Heads that are given", has the mathematics.

`additive` is a constant c >= 0 added to every denominator. A kernel is given by tables of integer features, one row for
each token 0..2^m-1, or, for three tokens, by its values or by integer features over one power of two.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact import MAX_BITS, Budget, Malformed, Poly, bounded, expect, integer, number, record, shown
from ..minip import Head, overlap
from .families import MAX_M
from .forms import HeadFailure, KernelRefutation, KernelTask, TableTask, Universal, nonnegative, positive
from .parameters import epsilon, integer_of, token_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_TABLE_BITS = 10
MAX_FEATURE_BITS = 256  # of an integer in a table
MAX_LENGTH = 10_000  # of a sequence that is written out
MAX_COPIES = 10**9  # tokens of a sequence that is given by how often each occurs


def kernel_refutation(parameters: object) -> KernelRefutation:
    fields = expect(parameters, "parameters", dict)
    given = "features" if "features" in fields else "kernel"
    fields = record(parameters, "parameters", ["m", "n", "eps", "lengths", "x", "y", "z", "additive", given])
    m, n = integer(fields["m"], "parameters.m", 1, MAX_M), integer(fields["n"], "parameters.n", 3)
    eps, exact, additive = epsilon(fields), _exactly(fields), _additive(fields)
    x, y, z = (token_of(fields[name], f"parameters.{name}", m) for name in "xyz")
    if given == "kernel":
        values = record(fields["kernel"], "parameters.kernel", ["xx", "xy", "xz"])
        kernel = tuple(number(values[name], f"parameters.kernel.{name}") for name in ("xx", "xy", "xz"))
    else:
        kernel = _products(fields["features"])
    for token, value in zip((y, z), kernel[1:], strict=True):
        if (token == x and value != kernel[0]) or (y == z and kernel[1] != kernel[2]):
            raise Malformed(f"parameters.{given}: two values for the same token")
    named = ", ".join(f"{name} = {_brief(f'{token:x}')}" for name, token in zip("xyz", (x, y, z), strict=True))
    overlaps = ", ".join(str(overlap(x, token)) for token in (x, y, z))
    return KernelRefutation(
        f"instance m={m}, n={n}, eps={eps}: with the tokens {named}, whose overlaps with x are {overlaps}, no head "
        f"with alpha(x,x), alpha(x,y), alpha(x,z) = {', '.join(map(_brief, kernel))} and {_brief(additive)} added to "
        f"denominators is correct (error < {eps}) on all sequences of length {_lengths(exact, n)} over x, y, z, "
        f"whatever its values and its affine readout",
        n,
        eps,
        exact,
        x,
        y,
        z,
        additive,
        kernel,
    )


def _products(value: object) -> tuple[Fraction, ...]:
    """<query, key> / 2^shift for the keys of x, y and z."""
    place = "parameters.features"
    features = record(value, place, ["query", "keys", "shift"])
    shift = integer(features["shift"], f"{place}.shift", 0, MAX_BITS)
    keys = record(features["keys"], f"{place}.keys", ["x", "y", "z"])
    query, *rows = (
        [integer_of(k, f"{place}.{name}[{i}]", 4_000) for i, k in enumerate(expect(row, f"{place}.{name}", list))]
        for name, row in [("query", features["query"]), *((f"keys.{name}", keys[name]) for name in "xyz")]
    )
    if any(len(row) != len(query) for row in rows):
        raise Malformed(f"{place}: expected {len(query)} features in every key, got {list(map(len, rows))}")
    return tuple(bounded(Fraction(sum(map(int.__mul__, query, row)), 1 << shift)) for row in rows)


def head_counterexample(parameters: object) -> HeadFailure:
    names = ["m", "eps", "sequence", "position", "alpha", "g", "additive", "offset"]
    fields = record(parameters, "parameters", names)
    m, eps = integer(fields["m"], "parameters.m", 1, MAX_M), epsilon(fields)
    listed = expect(fields["sequence"], "parameters.sequence", list)
    if not 1 <= len(listed) <= MAX_LENGTH:
        raise Malformed(f"parameters.sequence: expected 1..{MAX_LENGTH} tokens, got {len(listed)}")
    sequence = [token_of(token, f"parameters.sequence[{i}]", m) for i, token in enumerate(listed)]
    position = integer(fields["position"], "parameters.position", 0, len(sequence) - 1)
    tables: list[dict[int, Fraction]] = []
    for name in ("alpha", "g"):
        values = expect(fields[name], f"parameters.{name}", list)
        table: dict[int, Fraction] = {}
        if len(values) != len(sequence):
            raise Malformed(f"parameters.{name}: expected {len(sequence)} values, got {len(values)}")
        for i, (token, value) in enumerate(zip(sequence, values, strict=True)):
            q = number(value, f"parameters.{name}[{i}]")
            if table.setdefault(token, q) != q:
                raise Malformed(f"parameters.{name}[{i}]: another value than at an earlier place of the same token")
        tables.append(table)
    alpha, g = tables
    if min(alpha.values()) < 0:
        raise Malformed("parameters.alpha: expected nonnegative kernel values")
    additive, offset = _additive(fields), number(fields["offset"], "parameters.offset")
    head = Head(m, lambda x, z: alpha[z], lambda x, z: g[z], additive, lambda x: offset)
    return HeadFailure(
        f"instance m={m}, eps={eps}: a head with the kernel values and the values of the parameters at place "
        f"{position} of this sequence of {len(sequence)} tokens, and {_brief(additive)} added to the denominator, has "
        f"a zero denominator or an error of at least {eps} there",
        head,
        sequence,
        position,
        eps,
    )


def kernel_correct(parameters: object) -> KernelTask:
    fields = record(parameters, "parameters", ["m", "n", "eps", "additive", "queries", "keys"])
    m, n = integer(fields["m"], "parameters.m", 1, MAX_TABLE_BITS), integer(fields["n"], "parameters.n", 3)
    eps, additive = epsilon(fields), _additive(fields)
    queries, keys = (_features(fields, name, m) for name in ("queries", "keys"))
    _same_width("features", queries, keys)
    return KernelTask(
        f"instance m={m}, n={n}, eps={eps}: the kernel of the {len(keys[0])} features in the parameters, with "
        f"{_brief(additive)} added to denominators, has values and an affine readout that are correct (error < {eps}) "
        f"on all sequences of length 1..{n} over {{0,1}}^{m}",
        m,
        n,
        eps,
        additive,
        queries,
        keys,
    )


def exhaustive_head(parameters: object) -> TableTask:
    tables = ["queries", "keys", "values", "weights"]
    fields = record(parameters, "parameters", ["m", "n", "eps", "lengths", "additive", "offsets", *tables])
    m, n = integer(fields["m"], "parameters.m", 1, MAX_TABLE_BITS), integer(fields["n"], "parameters.n", 1)
    eps, exact, additive = epsilon(fields), _exactly(fields), _additive(fields)
    queries, keys = (_features(fields, name, m) for name in ("queries", "keys"))
    values, weights = (_table(fields[name], f"parameters.{name}", m, number) for name in ("values", "weights"))
    (offsets,) = _table([fields["offsets"]], "parameters.offsets", 0, number)
    _same_width("features", queries, keys)
    _same_width("values", values, weights)
    if len(offsets) != 1 << m:
        raise Malformed(f"parameters.offsets: expected {1 << m} numbers, got {len(offsets)}")
    return TableTask(
        f"instance m={m}, n={n}, eps={eps}: the head of the {len(keys[0])} features, the values, weights and offsets "
        f"in the parameters, with {_brief(additive)} added to denominators, is correct (error < {eps}) on all "
        f"sequences of length {_lengths(exact, n)} over {{0,1}}^{m}",
        m,
        n,
        eps,
        exact,
        additive,
        queries,
        keys,
        values,
        weights,
        offsets,
    )


def readout_refutation(parameters: object) -> Universal:
    """The query is tokens[0]; an input is the query and counts[i] further copies of tokens[i]. Its condition is that
    the output is below target + eps (side "below") or above target - eps (side "above")."""
    names = ["m", "n", "eps", "additive", "tokens", "alpha", "values", "inputs"]
    fields = record(parameters, "parameters", names)
    m, n = integer(fields["m"], "parameters.m", 1, MAX_M), integer(fields["n"], "parameters.n", 1, MAX_COPIES)
    eps, additive = epsilon(fields), _additive(fields)
    lists = {name: expect(fields[name], f"parameters.{name}", list) for name in names[4:]}
    tokens = [token_of(token, f"parameters.tokens[{i}]", m) for i, token in enumerate(lists["tokens"])]
    alpha = [number(q, f"parameters.alpha[{i}]") for i, q in enumerate(lists["alpha"])]
    values = [
        [number(q, f"parameters.values[{i}][{d}]") for d, q in enumerate(expect(row, f"parameters.values[{i}]", list))]
        for i, row in enumerate(lists["values"])
    ]
    if not tokens or len(set(tokens)) < len(tokens) or not len(tokens) == len(alpha) == len(values):
        raise Malformed("parameters.tokens: expected distinct tokens, with a kernel value and values for each")
    if min(alpha) < 0 or len({len(row) for row in values}) > 1:
        raise Malformed("parameters: expected kernel values that are nonnegative, and values of the same length")
    rows, budget = {}, Budget()
    numbers = [q for row in [[eps, additive], alpha, *values] for q in row]
    bits = n.bit_length() + max(q.numerator.bit_length() + q.denominator.bit_length() for q in numbers)
    for i, item in enumerate(lists["inputs"]):
        place = f"parameters.inputs[{i}]"
        given = record(item, place, ["counts", "side"])
        counts = [integer(k, place, 0, n) for k in expect(given["counts"], f"{place}.counts", list)]
        if len(counts) != len(tokens) or sum(counts) >= n or given["side"] not in ("above", "below"):
            raise Malformed(
                f"{place}: expected {len(tokens)} counts, at most {n - 1} in all, and a side above or below"
            )
        used = [(j, k + (j == 0)) for j, k in enumerate(counts) if k or j == 0]
        budget.charge(len(used) * (len(values[0]) + 2), 2 * bits * len(used))
        target = min(overlap(tokens[0], tokens[j]) for j, _ in used)
        denominator = bounded(sum((k * alpha[j] for j, k in used), additive))
        if denominator == 0:
            raise Malformed(f"{place}: the denominator is zero: this refutes the kernel, not its readouts")
        parts = [(k * alpha[j] * q, (f"w{d}",)) for j, k in used for d, q in enumerate(values[j])]
        shifted = Poly.of([*parts, (denominator, ("b",)), (-target * denominator, ())])
        side = -shifted if given["side"] == "below" else shifted
        rows[f"{i}"] = positive(side + eps * denominator)
    if not rows:
        raise Malformed("parameters.inputs: expected at least one input")
    last = rows.pop(f"{len(rows) - 1}")
    return Universal(
        f"instance m={m}, n={n}, eps={eps}: a head with the kernel values and the values v of the parameters, and "
        f"{_brief(additive)} added to denominators, errs by at least {eps} on one of the {len(rows) + 1} inputs of the "
        f"parameters, of length at most {n}, whatever its affine readout at the query {_brief(f'{tokens[0]:x}')}: on "
        f"the right side of the others, it is not of the last",
        rows,
        nonnegative(-last.poly),
    )


def _features(fields: dict[str, object], name: str, m: int) -> list[list[int]]:
    return _table(fields[name], f"parameters.{name}", m, lambda k, place: integer_of(k, place, MAX_FEATURE_BITS))


def _table(value: object, place: str, m: int, read: Callable[[object, str], Any]) -> list[list[Any]]:
    """2^m rows of equal length."""
    rows = expect(value, place, list)
    if len(rows) != 1 << m:
        raise Malformed(f"{place}: expected {1 << m} rows, got {len(rows)}")
    table = [
        [read(item, f"{place}[{i}][{k}]") for k, item in enumerate(expect(row, f"{place}[{i}]", list))]
        for i, row in enumerate(rows)
    ]
    for i, row in enumerate(table):
        if len(row) != len(table[0]):
            raise Malformed(f"{place}[{i}]: expected {len(table[0])} numbers as in the first row, got {len(row)}")
    return table


def _same_width(what: str, left: list[list[Any]], right: list[list[Any]]) -> None:
    if len(left[0]) != len(right[0]):
        raise Malformed(f"parameters: {len(left[0])} {what} on one side, {len(right[0])} on the other")


def _additive(fields: dict[str, Any]) -> Fraction:
    additive = number(fields["additive"], "parameters.additive")
    if additive < 0:
        raise Malformed(f"parameters.additive: expected a number >= 0, got {shown(fields['additive'])}")
    return additive


def _exactly(fields: dict[str, Any]) -> bool:
    if fields["lengths"] not in ("exactly", "up-to"):
        raise Malformed(f"parameters.lengths: expected 'exactly' or 'up-to', got {shown(fields['lengths'])}")
    return bool(fields["lengths"] == "exactly")


def _lengths(exact: bool, n: int) -> str:
    return f"exactly {n}" if exact else f"1..{n}"


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
