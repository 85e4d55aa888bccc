"""Heads in files: what is written is read again, and hostile files end as malformed, with the place named."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proofcheck.errors import MalformedInput, UsageError
from proofcheck.heads import Head, bits, files, safetensors
from proofcheck.heads.builtin import build
from proofcheck.heads.tables import TableHead, table

GOOD: dict[str, Any] = {
    "format": "proofcheck-head/1",
    "m": 1,
    "queries": [["1/2", 1], [1, 0]],
    "keys": [[1, 0], [3, "1/3"]],
    "additive": "1/4",
    "readout": {"values": [[0], [1]], "weights": [[1], ["1/2"]], "offsets": [0, -3]},
    "name": "by hand",
    "note": "see the docstring",
}


def exact(head: Head) -> list[list[Fraction]]:
    tokens = range(1 << head.m)
    return [head.exact(x, tokens) for x in tokens]


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_json(tmp_path: Path) -> None:
    head = files.load(write(tmp_path / "h.json", GOOD))
    assert exact(head) == [[Fraction(1, 2), Fraction(11, 6)], [1, 3]]
    assert (head.additive, head.name, head.note, head.rank) == (Fraction(1, 4), "by hand", "see the docstring", 2)
    assert head.kernel([0, 1], [0, 1]) == pytest.approx(np.array([[0.5, 11 / 6], [1, 3]]))
    assert head.readout is not None
    both = bits([0, 1], 1)
    assert head.readout.values(both).tolist() == [[0], [1]]
    assert head.readout.weights(both).tolist() == [[1], [0.5]]
    assert head.readout.offsets(both).tolist() == [0, -3]


@pytest.mark.parametrize("suffix", files.SUFFIXES)
@pytest.mark.parametrize("name", ["elu1", "constant", "one-hot", "symmetric", "fourier"])
def test_round_trip(tmp_path: Path, name: str, suffix: str) -> None:
    """Written and read, a head has the same exact kernel and readout; a second copy of the file is the same."""
    head = build(name, 3, 5, 7)
    files.save(head, tmp_path / f"a{suffix}")
    again = files.load(tmp_path / f"a{suffix}", 3)
    assert exact(again) == exact(head)
    assert (again.readout is None) == (head.readout is None)
    if head.readout and again.readout:
        every = bits(range(8), 3)
        for part in ("values", "weights", "offsets"):
            assert np.array_equal(getattr(again.readout, part)(every), getattr(head.readout, part)(every))
    files.save(again, tmp_path / f"b{suffix}")
    assert exact(files.load(tmp_path / f"b{suffix}")) == exact(head)


def test_rationals_survive_in_json_only(tmp_path: Path) -> None:
    head = table([[Fraction(1, 3)], [1]], [[1], [2]], additive=Fraction(1, 7))
    files.save(head, tmp_path / "h.json")
    again = files.load(tmp_path / "h.json")
    assert (exact(again), again.additive) == (exact(head), Fraction(1, 7))
    for suffix in (".npz", ".safetensors"):
        with pytest.raises(UsageError, match="float64 does not hold"):
            files.save(head, tmp_path / f"h{suffix}")
    with pytest.raises(UsageError, match="dyadic"):
        files.save(build("softmin", 3, 1), tmp_path / "h.json")


def test_what_is_saved_can_be_read(tmp_path: Path) -> None:
    """A table beyond the budgets of JSON is refused when it is written."""
    head = build("exp", 8, 400)
    with pytest.raises(UsageError, match=r"save it as \.npz"):
        files.save(head, tmp_path / "h.json")
    files.save(head, tmp_path / "h.npz")
    assert files.load(tmp_path / "h.npz").exact(5, [9]) == head.exact(5, [9])


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_only_small_heads_are_saved(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UsageError, match="m <= 12"):
        files.save(build("elu1", 13, 4), tmp_path / f"h{suffix}")
    with pytest.raises(UsageError, match=r"\.json, \.npz, \.safetensors"):
        files.save(build("elu1", 3, 4), tmp_path / "h.pkl")


# --- JSON, malformed --------------------------------------------------------------------------------------------


def changed(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in {**GOOD, **fields}.items() if value is not ...}


READOUT = GOOD["readout"]
BAD_JSON: list[tuple[dict[str, Any], str]] = [
    (changed(format="proofcheck-head/2"), "format: expected 'proofcheck-head/1'"),
    (changed(m=...), "the field 'm' is missing"),
    (changed(m=0), "m: expected an integer from 1 to 16, got 0"),
    (changed(m=True), "m: True is not a number"),
    (changed(m=2), "queries: expected 4 rows, one for each token, got 2"),
    (changed(m=17), "from 1 to 16"),
    (changed(extra=1), "unknown field 'extra'"),
    (changed(keys=[[1, 0]]), "keys: expected 2 rows"),
    (changed(keys=[[1], [1]]), "keys: token 0x0: expected 2 columns, got 1"),
    (changed(keys=[[1, 0], [1]]), r"keys\[1\]: expected 2 numbers, got 1"),
    (changed(keys=[[1, 0], "x"]), r"keys\[1\]: expected a list"),
    (changed(queries=[[], []]), r"queries\[0\]: expected some numbers, got 0"),
    (changed(queries=[["2/4", 1], [1, 0]]), r"queries\[0\]\[0\]: .*lowest terms"),
    (changed(queries=[["1/0", 1], [1, 0]]), r"queries\[0\]\[0\]"),
    (changed(queries=[[0.5, 1], [1, 0]]), "not exact"),
    (changed(queries=[[None, 1], [1, 0]]), "not a number"),
    (changed(queries=[["10" * 300, 1], [1, 0]]), r"queries\[0\]\[0\]"),
    (changed(queries=[[10**400, 1], [1, 0]]), "queries: token 0x0, column 0: a number beyond"),
    (changed(additive=-1), "additive: expected a number >= 0"),
    (changed(readout={"values": [[0], [1]], "weights": [[1], [1]]}), "'offsets' is missing"),
    (changed(readout={**READOUT, "values": [["1/3"], [1]]}), "values: token 0x0, column 0: 1/3 is no float64"),
    (changed(readout={**READOUT, "weights": [[1, 2], [1, 2]]}), "weights: token 0x0: expected 1 columns, got 2"),
    (changed(readout={**READOUT, "offsets": [1]}), "offsets: expected 2 numbers"),
    (changed(name=3), "name: expected a string"),
]


@pytest.mark.parametrize(("value", "reason"), BAD_JSON)
def test_malformed_json(tmp_path: Path, value: object, reason: str) -> None:
    with pytest.raises(MalformedInput, match=reason) as caught:
        files.load(write(tmp_path / "h.json", value))
    assert "h.json" in str(caught.value)


RAW = [
    (b"", "empty"),
    (b"[" * 100_000, "nests|values"),
    (b'{"format": "proofcheck-head/1", "m": 1, "m": 2}', "'m' occurs twice"),
    (b'{"format": NaN}', "not exact"),
    (json.dumps(GOOD).encode()[:-5], "not JSON"),
    ("{'é'}".encode(), "not ASCII"),
    (b"[]", "expected an object"),
]


@pytest.mark.parametrize(("data", "reason"), RAW)
def test_malformed_bytes(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "h.json").write_bytes(data)
    with pytest.raises(MalformedInput, match=reason):
        files.load(tmp_path / "h.json")


# --- arrays -----------------------------------------------------------------------------------------------------

EYE = np.eye(4)


def saved(tmp_path: Path, suffix: str, arrays: dict[str, Any], metadata: dict[str, str] | None = None) -> Path:
    path = tmp_path / f"h{suffix}"
    if suffix == ".npz":
        np.savez(path, **arrays, **(metadata or {}))
    else:
        safetensors.write(path, arrays, metadata or {})
    return path


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("biased", [False, True])
def test_weight_matrices(tmp_path: Path, suffix: str, biased: bool) -> None:
    """wq, wk and an activation, named in the file or as an option."""
    wq, wk, b = np.array([[1.0, -2], [3, 0.5], [0, 1]]), np.array([[0.0, 1], [1, 1], [2, 2]]), np.array([0.25, -1])
    arrays = {"wq": wq, "wk": wk, **({"bq": b, "bk": -b} if biased else {})}
    named = files.load(saved(tmp_path, suffix, arrays, {"activation": "relu"}), 3)
    b = b if biased else np.zeros(2)
    u, v = np.maximum(wq[0] + wq[2] + b, 0), np.maximum(wk[1] + wk[2] - b, 0)
    assert named.exact(0b101, [0b110]) == [Fraction(u @ v)]
    chosen = files.load(saved(tmp_path, suffix, arrays), 3, {"activation": "taylor"})
    assert chosen.rank == 7
    with pytest.raises(MalformedInput, match="no activation"):
        files.load(saved(tmp_path, suffix, arrays))
    with pytest.raises(UsageError, match="expected an activation, one of elu1"):
        files.load(saved(tmp_path, suffix, arrays, {"activation": "gelu"}))
    with pytest.raises(UsageError, match="m = 3, asked for m = 4"):
        files.load(saved(tmp_path, suffix, arrays, {"activation": "relu"}), 4)


BAD_ARRAYS: list[tuple[dict[str, Any], str]] = [
    ({"queries": EYE}, "'keys' is missing"),
    ({"queries": EYE, "keys": EYE[:3]}, "keys: expected 4 rows"),
    ({"queries": EYE[:3], "keys": EYE[:3]}, r"2\^m rows"),
    ({"queries": EYE, "keys": EYE[:, :3]}, "keys: token 0x0: expected 4 columns, got 3"),
    ({"queries": EYE, "keys": EYE[0]}, "two-dimensional"),
    ({"queries": EYE, "keys": EYE[:, :0]}, "empty"),
    ({"queries": EYE, "keys": np.where(EYE, np.nan, 1)}, r"keys: entry \(0, 0\) \(token 0x0\) is nan"),
    ({"queries": np.where(np.eye(4), 1, -np.inf), "keys": EYE}, r"queries: entry .0, 1..*token 0x0.* is -inf"),
    ({"queries": EYE, "keys": EYE, "values": EYE}, "together"),
    ({"queries": EYE, "keys": EYE, "values": EYE, "weights": EYE, "offsets": EYE}, "offsets: expected 1 dim"),
    ({"queries": EYE, "keys": EYE, "additive": np.array(-1.0)}, "additive"),
    ({"queries": EYE, "keys": EYE, "keyz": EYE}, "unknown array 'keyz'"),
    ({"wq": EYE}, "together"),
    ({"wq": EYE, "wk": EYE[:2]}, r"shape \(m, d\)"),
    ({"wq": EYE, "wk": EYE, "bq": EYE}, r"bq: expected shape \(4,\)"),
    ({"wq": EYE, "wk": EYE, "keys": EYE}, "keys does not go with wq"),
]


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize(("arrays", "reason"), BAD_ARRAYS)
def test_malformed_arrays(tmp_path: Path, suffix: str, arrays: dict[str, Any], reason: str) -> None:
    with pytest.raises(MalformedInput, match=reason) as caught:
        files.load(saved(tmp_path, suffix, arrays))
    assert f"h{suffix}" in str(caught.value)


class Bomb:
    """What a pickle could do."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("unpickled",))


def npz(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def lying(shape: str) -> bytes:
    """A header that promises `shape`, over 8 bytes of data."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(8)


HOSTILE = [
    ({"queries.npy": npy(np.array([[Bomb()]], dtype=object))}, "queries: an array of Python objects"),
    ({"queries.npy": npy(EYE)[:-40]}, "does not fit|damaged"),
    ({"queries.npy": lying("(1000000000000, 1000)")}, "does not fit into"),
    ({"queries.npy": lying("(4, 4)")}, "does not fit|damaged"),
    ({"queries.npy": b"garbage"}, "damaged"),
    ({"queries.npy": pickle.dumps(Bomb())}, "damaged"),
    ({"queries": pickle.dumps(Bomb())}, "damaged"),
    ({"../../etc/passwd": b""}, "unknown array"),
    ({"queries.npy": npy(np.array([["1"]])), "keys.npy": npy(np.array([["1"]]))}, "expected real numbers"),
    ({"queries.npy": npy(EYE * 1j), "keys.npy": npy(EYE)}, "expected real numbers, got complex128"),
    ({"queries.npy": npy(np.full((4, 1), 2**60)), "keys.npy": npy(EYE)}, r"an integer beyond 2\^53"),
    ({"activation.npy": npy(np.array(["relu"])), "wq.npy": npy(EYE)}, "activation: expected one text"),
]


@pytest.mark.parametrize(("members", "reason"), HOSTILE)
def test_hostile_npz(tmp_path: Path, members: dict[str, bytes], reason: str) -> None:
    with pytest.raises(MalformedInput, match=reason):
        files.load(npz(tmp_path / "h.npz", members))


@pytest.mark.parametrize("data", [b"", b"PK", pickle.dumps(Bomb()), npy(EYE)])
def test_not_an_npz(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "h.npz").write_bytes(data)
    with pytest.raises(MalformedInput, match=r"no \.npz file"):
        files.load(tmp_path / "h.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_npz_member_twice(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "h.npz", "w") as archive:
        archive.writestr("keys.npy", npy(EYE))
        archive.writestr("keys.npy", npy(2 * EYE))
    with pytest.raises(MalformedInput, match="twice"):
        files.load(tmp_path / "h.npz")


# --- safetensors ------------------------------------------------------------------------------------------------


def raw(header: object, body: bytes = bytes(32)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(begin: int, end: int, shape: Any = (2, 2), dtype: str = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


LIES = [
    (b"", "truncated"),
    (b"\x00" * 8, "truncated"),
    ((2**63).to_bytes(8, "little") + b"{}", "truncated"),
    (raw({"keys": entry(0, 32)})[:-1], "take 32 bytes, the file holds 31"),
    (raw({"keys": entry(0, 32)}, bytes(40)), "the file holds 40"),
    (raw({"keys": entry(0, 24)}), "takes 32 bytes, data_offsets hold 24"),
    (raw({"keys": entry(32, 0)}), "hold -32"),
    (raw({"keys": entry(8, 40)}, bytes(40)), "begins at byte 8, expected 0"),
    (raw({"keys": entry(0, 32), "queries": entry(0, 32)}), "begins at byte 0, expected 32"),
    (raw({"keys": entry(-32, 0)}), "integers from 0"),
    (raw({"keys": entry(0, 32, [-2, -2])}), "integers from 0"),
    (raw({"keys": entry(0, 32, [2, True])}), "integers from 0"),
    (raw({"keys": entry(0, 32, "22")}), "shape: expected a list"),
    (raw({"keys": entry(0, 32, [2**31, 2**31])}), "data_offsets hold 32"),
    (raw({"keys": entry(0, 32, dtype="F8")}), "dtype: expected one of"),
    (raw({"keys": {**entry(0, 32), "code": "x"}}), "expected the fields"),
    (raw({"keys": 3}), "expected the fields"),
    (raw(b'{"keys": {"dtype": "F64", "dtype": "F32"}}'), "'dtype' twice"),
    (raw(b'{"a": 1, "a": 2}'), "'a' twice"),
    (raw(b"[" * 5000), "not JSON"),
    (raw(b"\xff\xfe"), "not JSON"),
    (raw([]), "not an object"),
    (raw({"__metadata__": {"activation": 3}}), "object of strings"),
]


@pytest.mark.parametrize(("data", "reason"), LIES)
def test_hostile_safetensors(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "h.safetensors").write_bytes(data)
    with pytest.raises(MalformedInput, match=reason):
        files.load(tmp_path / "h.safetensors")


def test_safetensors_types(tmp_path: Path) -> None:
    """bfloat16, half and integers are read exactly."""
    header = {"keys": entry(0, 4, [2, 1], "F16"), "queries": entry(4, 8, [2, 1], "BF16")}
    body = np.array([0.5, -3], "<f2").tobytes() + bytes.fromhex("803f9040")
    (tmp_path / "h.safetensors").write_bytes(raw(header, body))
    assert exact(files.load(tmp_path / "h.safetensors")) == [[Fraction(1, 2), -3], [Fraction(9, 4), Fraction(-27, 2)]]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        files.load(tmp_path / "h.npz")
    with pytest.raises(UsageError, match="unknown option 'actvation'"):
        files.load(tmp_path / "h.npz", None, {"actvation": "relu"})


# --- tables -----------------------------------------------------------------------------------------------------


def test_table_is_exact() -> None:
    """Big and small rationals: the kernel is exact, the floats only near it."""
    head = table([[Fraction(1, 3), 10**30], [0, 1]], [[3, Fraction(1, 10**30)], [1, 1]])
    assert isinstance(head, TableHead)
    assert head.exact(0, [0, 1]) == [2, Fraction(1, 3) + 10**30]


def test_tables_from_arrays_are_dyadic() -> None:
    head = table(np.array([[0.1], [0.2]], np.float32), np.array([[1], [2]]))
    assert head.exact(0, [1]) == [2 * Fraction(float(np.float32(0.1)))]
