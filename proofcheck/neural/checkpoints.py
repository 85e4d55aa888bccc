"""The state of a search in one file: arrays in a plain .npz, never pickled, replaced in one step.

Store  reads and writes the state of one search; the file says which (arguments, torch's version, threads, device),
       and is refused for another
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofcheck.certificate import write_atomically
from proofcheck.errors import MalformedInput, UsageError

FORMAT = "proofcheck-checkpoint/1"
HEADER = "search"

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Store:
    """`search` maps names to strings that together determine every number of the search."""

    path: Path
    search: Mapping[str, str]

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        header = json.dumps({"format": FORMAT, **self.search}, sort_keys=True).encode()
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **{HEADER: np.frombuffer(header, np.uint8), **arrays})
        write_atomically(self.path, buffer.getvalue())

    def read(self) -> Arrays:
        """The arrays last written; none where there is no file."""
        if not self.path.exists():
            return {}
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            given = json.loads(arrays.pop(HEADER).tobytes())
            if given.pop("format") != FORMAT:
                raise ValueError(f"the format is not {FORMAT}")
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise MalformedInput(f"{self.path} is no checkpoint: {error}; delete it to begin again") from None
        for name, value in self.search.items():
            if given.get(name) != value:
                there = f"{name} is {given.get(name)} there and {value} here"
                raise UsageError(f"{self.path} is the checkpoint of another search: {there}")
        return arrays

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
