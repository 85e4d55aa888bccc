"""The safetensors format, as documented by its authors: nothing in it is code.

    8 bytes            N, unsigned, little-endian
    N bytes            JSON object: tensor name -> {"dtype", "shape", "data_offsets": [begin, end]},
                       and optionally "__metadata__" -> {text: text}
    the rest           the data; offsets count from its first byte, tensors follow each other without holes

Every field is checked before data are touched. `MalformedInput` names the file and the tensor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import MalformedInput

MAX_HEADER = 1 << 20
MAX_BYTES = 1 << 31
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
}  # fmt: skip


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """(tensors, metadata); bfloat16 becomes float32, exactly."""
    if path.stat().st_size > MAX_BYTES:
        raise MalformedInput(f"{path}: larger than {MAX_BYTES} bytes")
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= min(MAX_HEADER, len(data) - 8):
        raise MalformedInput(f"{path}: truncated, or no safetensors file: a header of {length} bytes in {len(data)}")
    header, body = _header(path, data[8 : 8 + length]), memoryview(data)[8 + length :]
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise MalformedInput(f"{path}: __metadata__: expected an object of strings")
    spans = {name: _span(f"{path}: {name}", entry) for name, entry in header.items()}
    end = 0
    for name, (first, last, _, _) in sorted(spans.items(), key=lambda item: item[1][:2]):
        if first != end:
            raise MalformedInput(f"{path}: {name}: begins at byte {first}, expected {end}: a hole or an overlap")
        end = last
    if end != len(body):
        raise MalformedInput(f"{path}: the tensors take {end} bytes, the file holds {len(body)}")
    tensors = {}
    for name, (first, last, dtype, shape) in spans.items():
        tensor = np.frombuffer(body[first:last], dtype=DTYPES[dtype]).reshape(shape)
        tensors[name] = (tensor.astype("<u4") << 16).view("<f4") if dtype == "BF16" else tensor
    return tensors, metadata


def _header(path: Path, raw: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise MalformedInput(f"{path}: the header has the key {twice!r} twice in one object")
        return found

    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=unique)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise MalformedInput(f"{path}: the header is not JSON: {type(error).__name__}") from None
    if not isinstance(header, dict):
        raise MalformedInput(f"{path}: the header is not an object")
    return header


def _span(place: str, entry: object) -> tuple[int, int, str, tuple[int, ...]]:
    """(begin, end, dtype, shape), where end - begin is what dtype and shape need."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise MalformedInput(f"{place}: expected the fields dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise MalformedInput(f"{place}: dtype: expected one of {', '.join(DTYPES)}; got {dtype!r:.60}")
    for field, value in (("shape", shape), ("data_offsets", offsets)):
        if not isinstance(value, list) or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in value):
            raise MalformedInput(f"{place}: {field}: expected a list of integers from 0 to {MAX_BYTES}")
    if len(offsets) != 2 or len(shape) > 8:
        raise MalformedInput(f"{place}: expected two data_offsets and at most 8 dimensions")
    needed = prod(shape) * np.dtype(DTYPES[dtype]).itemsize
    if offsets[1] - offsets[0] != needed:
        raise MalformedInput(
            f"{place}: {dtype} of shape {shape} takes {needed} bytes, data_offsets hold {offsets[1] - offsets[0]}"
        )
    return offsets[0], offsets[1], dtype, tuple(shape)


def write(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """float64 tensors, in order of their names."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    body = b""
    for name in sorted(tensors):
        raw = np.ascontiguousarray(tensors[name], dtype="<f8").tobytes()
        shape = list(np.shape(tensors[name]))
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
