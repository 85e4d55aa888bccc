"""Heads in files: .json (exact rationals), .npz and .safetensors (arrays). Nothing is ever unpickled or executed.

JSON, schema `proofcheck-head/1`. Strict: ASCII, no floats, no unknown field, no key twice. A number is an integer or
"p/q" in lowest terms with q >= 2. Row x (x = 0 .. 2^m - 1) belongs to the token with the bits of x, element j of [m]
being bit j (value 2^j).

    {
      "format": "proofcheck-head/1",
      "m": 1,
      "queries": [["1/2", 1], [1, 0]],       phiQ, 2^m rows of r numbers
      "keys": [[1, 0], [3, "1/3"]],          phiK, 2^m rows of r numbers
      "additive": 0,                         optional: a constant >= 0 in every denominator
      "readout": {                           optional: g(x,z) = <weights[x], values[z]> + offsets[x];
        "values": [[0], [1]],                2^m rows of dv numbers  } numbers that float64 holds exactly
        "weights": [[1], [1]],               2^m rows of dv numbers  } (p/2^k, at most 53 bits)
        "offsets": [0, 0]                    2^m numbers             }
      },
      "name": "text", "note": "text"         optional
    }

Arrays (.npz as `numpy.savez` writes it, .safetensors), real numbers of any precision, finite. Either tables:

    queries, keys (2^m, r); optional values, weights (2^m, dv), offsets (2^m,), additive ()

or linear maps in front of an activation (names as in `activations`):

    wq, wk (m, d); optional bq, bk (d,); the name of the activation as a text array `activation` in .npz, as
    "activation" in the metadata of .safetensors, or as the option `activation` of `load`.

    load(path, m, options) -> Head;   save(head, path): the tables of any head with m <= 12
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import MalformedInput, UsageError
from proofcheck.kernel import exact
from proofcheck.kernel.exact import Malformed, expect, integer, load_json, number, record, spelled

from . import ClosedForm, Head, bits, safetensors
from .activations import activation
from .tables import MAX_TABLE_BITS, TableHead, table

FORMAT = "proofcheck-head/1"
SUFFIXES = (".json", ".npz", ".safetensors")
MAX_BYTES = 1 << 31
MAX_SAVED_BITS = 12
MAX_CLOSED_BITS = 8
TABLES = ("queries", "keys", "values", "weights", "offsets", "additive")
MAPS = ("wq", "wk", "bq", "bk", "activation")


def load(path: Path | str, m: int | None = None, options: Mapping[str, object] | None = None) -> Head:
    """The head in the file; `MalformedInput` names the file and the place. If m is given the head must have it."""
    path, options = Path(path), dict(options or {})
    act = options.pop("activation", None)
    if options:
        raise UsageError(f"{path}: unknown option {sorted(map(str, options))[0]!r}; a file has only activation")
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if path.suffix == ".json":
        head: Head = from_json(path.read_bytes(), str(path))
    elif path.suffix == ".npz":
        arrays = read_npz(path)
        named = arrays.pop("activation", None)
        if named is not None and (named.ndim or named.dtype.kind != "U"):
            raise MalformedInput(f"{path}: activation: expected one text, got shape {named.shape}, {named.dtype}")
        head = from_arrays(arrays, str(path), act if named is None else str(named))
    elif path.suffix == ".safetensors":
        arrays, metadata = safetensors.read(path)
        head = from_arrays(arrays, str(path), metadata.get("activation", act))
    else:
        raise UsageError(f"{path}: expected a file named {', '.join(SUFFIXES)}")
    if m is not None and head.m != m:
        raise UsageError(f"{path}: the head has m = {head.m}, asked for m = {m}")
    return head


# --- JSON ---------------------------------------------------------------------------------------------------


def from_json(data: bytes, place: str) -> TableHead:
    try:
        fields = expect(load_json(data), "top", dict)
        optional = [key for key in ("additive", "readout", "name", "note") if key in fields]
        fields = record(fields, "top", ["format", "m", "queries", "keys", *optional])
        if fields["format"] != FORMAT:
            raise Malformed(f"format: expected {FORMAT!r}, got {ascii(fields['format'])[:60]}")
        m = integer(fields["m"], "m", 1, MAX_TABLE_BITS)
        parts: dict[str, Any] = {}
        for label in ("queries", "keys"):
            parts[label] = _matrix(fields[label], label, 1 << m)
        if "readout" in fields:
            readout = record(fields["readout"], "readout", ["values", "weights", "offsets"])
            for label in ("values", "weights"):
                parts[label] = _matrix(readout[label], f"readout.{label}", 1 << m)
            parts["offsets"] = _vector(readout["offsets"], "readout.offsets", 1 << m)
        if "additive" in fields:
            parts["additive"] = number(fields["additive"], "additive")
        for label in ("name", "note"):
            if label in fields:
                parts[label] = expect(fields[label], label, str)
        return table(**{"name": place, **parts})
    except (Malformed, UsageError) as error:
        raise MalformedInput(f"{place}: {error}") from None


def _vector(value: object, place: str, length: int | None) -> list[Fraction]:
    found = [number(entry, f"{place}[{i}]") for i, entry in enumerate(expect(value, place, list))]
    if not found or (length is not None and len(found) != length):
        raise Malformed(f"{place}: expected {length or 'some'} numbers, got {len(found)}")
    return found


def _matrix(value: object, place: str, rows: int) -> list[list[Fraction]]:
    found = expect(value, place, list)
    if len(found) != rows:
        raise Malformed(f"{place}: expected {rows} rows, one for each token, got {len(found)}")
    width = len(expect(found[0], f"{place}[0]", list))
    return [_vector(row, f"{place}[{i}]", width) for i, row in enumerate(found)]


# --- arrays -------------------------------------------------------------------------------------------------


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file. Names, types and sizes are checked in the headers before anything is allocated."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            if len(set(names)) < len(names):
                raise MalformedInput(f"{path}: a member occurs twice")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise MalformedInput(f"{path}: more than {MAX_BYTES} bytes when unpacked")
            for member in members:
                _check_member(path, archive, member)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise MalformedInput(f"{path}: no .npz file, or a damaged one: {str(error)[:120]}") from None


def _check_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    name = member.filename.removesuffix(".npy")
    if name not in (*TABLES, *MAPS):
        raise MalformedInput(f"{path}: unknown array {name[:40]!r} (known: {', '.join((*TABLES, *MAPS))})")
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise MalformedInput(f"{path}: {name}: unknown version {version} of the array format")
        shape, _, dtype = readers[version](stream)
    if dtype.hasobject:
        raise MalformedInput(f"{path}: {name}: an array of Python objects, which would have to be unpickled")
    if int(np.prod(shape, dtype=object)) * dtype.itemsize > member.file_size:
        raise MalformedInput(f"{path}: {name}: shape {shape} of {dtype} does not fit into {member.file_size} bytes")


def from_arrays(arrays: Mapping[str, NDArray[Any]], place: str, act: object = None) -> Head:
    """The head of these arrays, see the module."""
    for name, found in arrays.items():
        if name not in (*TABLES, *MAPS[:-1]):
            raise MalformedInput(f"{place}: unknown array {name[:40]!r} (known: {', '.join((*TABLES, *MAPS))})")
        if found.dtype.kind not in "iufb":
            raise MalformedInput(f"{place}: {name}: expected real numbers, got {found.dtype}")
        if found.dtype.kind in "iu" and found.size and max(-int(found.min()), int(found.max())) > 2**53:
            raise MalformedInput(f"{place}: {name}: an integer beyond 2^53")
        if not np.isfinite(found).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(found))[0])
            token = f" (token {at[0]:#x})" if name in TABLES and at else ""
            raise MalformedInput(f"{place}: {name}: entry {at}{token} is {found[at]}")
    if "wq" in arrays or "wk" in arrays:
        return _mapped(arrays, place, act)
    if act is not None:
        raise MalformedInput(f"{place}: an activation belongs to wq and wk, which are missing")
    missing = [name for name in ("queries", "keys") if name not in arrays]
    if missing:
        raise MalformedInput(f"{place}: the array {missing[0]!r} is missing; expected queries and keys, or wq and wk")
    parts: dict[str, Any] = {name: np.asarray(found, dtype=np.float64) for name, found in arrays.items()}
    for name, dimensions in {"values": 2, "weights": 2, "offsets": 1, "additive": 0}.items():
        if name in parts and parts[name].ndim != dimensions:
            raise MalformedInput(f"{place}: {name}: expected {dimensions} dimensions, got shape {parts[name].shape}")
    if "additive" in parts:
        parts["additive"] = Fraction(float(parts["additive"]))
    if "offsets" in parts:
        parts["offsets"] = [Fraction(value) for value in parts["offsets"].tolist()]
    try:
        return table(**parts, name=place)
    except UsageError as error:
        raise MalformedInput(f"{place}: {error}") from None


def _mapped(arrays: Mapping[str, NDArray[Any]], place: str, act: object) -> Head:
    """activation(x wq + bq), activation(z wk + bk)."""
    for name in arrays:
        if name not in MAPS:
            raise MalformedInput(f"{place}: {name} does not go with wq and wk")
    if "wq" not in arrays or "wk" not in arrays:
        raise MalformedInput(f"{place}: wq and wk are given together")
    shape = arrays["wq"].shape
    if len(shape) != 2 or arrays["wk"].shape != shape or 0 in shape:
        raise MalformedInput(f"{place}: wq, wk: expected two arrays of shape (m, d), got {shape}, {arrays['wk'].shape}")
    m, d = shape
    for name in ("bq", "bk"):
        if name in arrays and arrays[name].shape != (d,):
            raise MalformedInput(f"{place}: {name}: expected shape ({d},), got {arrays[name].shape}")
    if act is None:
        raise MalformedInput(f"{place}: no activation is named, in the file or as an option")
    chosen = activation(str(act), f"{place}: activation")
    w = {name: np.asarray(found, dtype=np.float64) for name, found in arrays.items()}
    zero = np.zeros(d)

    def features(side: str) -> Any:
        return lambda b: chosen.apply(b.astype(np.float64) @ w[f"w{side}"] + w.get(f"b{side}", zero))

    note = f"{act} of linear maps from the file"
    return Head(f"{place} ({act})", m, chosen.count(d), features("q"), features("k"), note=note)


# --- writing ------------------------------------------------------------------------------------------------


def save(head: Head, path: Path | str) -> None:
    """Writes the tables of the head, each token computed alone. JSON keeps every rational, arrays hold float64: a
    number that float64 does not hold is a `UsageError` there."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: expected a file named {', '.join(SUFFIXES)}")
    if head.m > MAX_SAVED_BITS:
        raise UsageError(
            f"{path}: the head has m = {head.m}; tables of all tokens are written for m <= {MAX_SAVED_BITS}"
        )
    q, k = _exact_table(head, "queries"), _exact_table(head, "keys")
    readout: dict[str, Any] = {}
    if head.readout is not None:
        tokens = [bits([x], head.m) for x in range(1 << head.m)]
        readout = {
            label: [[Fraction(float(v)) for v in np.atleast_1d(np.asarray(feature(b))[0])] for b in tokens]
            for label, feature in (
                ("values", head.readout.values),
                ("weights", head.readout.weights),
                ("offsets", head.readout.offsets),
            )
        }
        readout["offsets"] = [row[0] for row in readout["offsets"]]
    if path.suffix == ".json":
        fields: dict[str, Any] = {"format": FORMAT, "m": head.m, "queries": q, "keys": k, "name": head.name}
        fields |= {"readout": readout} if readout else {}
        fields |= {"additive": head.additive} if head.additive else {}
        fields |= {"note": head.note} if head.note else {}
        text = json.dumps(fields, default=spelled, sort_keys=True) + "\n"
        if len(text) > exact.MAX_BYTES or text.count(",") > exact.MAX_VALUES // 2:
            raise UsageError(f"{path}: too large to be read as JSON again; save it as .npz or .safetensors")
        path.write_text(text, "ascii")
        return
    arrays = {
        label: _float_array(f"{path}: {label}", rows) for label, rows in {"queries": q, "keys": k, **readout}.items()
    }
    if head.additive:
        arrays["additive"] = _float_array(f"{path}: additive", head.additive)
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=False, **arrays)
    else:
        safetensors.write(path, arrays, {"name": head.name})


def _exact_table(head: Head, side: str) -> list[list[Fraction]]:
    if isinstance(head, TableHead):
        rows = head.query_rows if side == "queries" else head.key_rows
        return [[Fraction(value, scale) for value in row] for row, scale in rows]
    found = [[Fraction(float(v)) for v in head.features(side, [x])[0]] for x in range(1 << head.m)]
    if isinstance(head, ClosedForm) and side == "queries":
        _check_closed_form(head, found, _exact_table(head, "keys"))
    return found


def _check_closed_form(head: ClosedForm, queries: list[list[Fraction]], keys: list[list[Fraction]]) -> None:
    """The features give the closed form exactly, for one query of each weight: it depends on no more of the query."""
    if head.m > MAX_CLOSED_BITS:
        raise UsageError(f"{head.name}: a closed form is written as tables for m <= {MAX_CLOSED_BITS}, got {head.m}")
    for x in [(1 << h) - 1 for h in range(head.m + 1)]:
        row = [sum((a * b for a, b in zip(queries[x], key, strict=True)), Fraction(0)) for key in keys]
        if row != head.exact(x, range(1 << head.m)):
            raise UsageError(f"{head.name}: its features are no float64 numbers; take w or lam dyadic, such as 1/8")


def _float_array(place: str, rows: Any) -> NDArray[np.float64]:
    wanted = np.array(rows, dtype=object)
    floats = wanted.astype(np.float64)
    if any(Fraction(float(a)) != b for a, b in zip(floats.ravel(), wanted.ravel(), strict=True)):
        raise UsageError(f"{place}: a number that float64 does not hold; save it as .json")
    return np.asarray(floats)
