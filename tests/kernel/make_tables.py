"""Writes the data files of this folder: accepted/, conditional/, rejected/ and malformed/, one attack a file.

    python -m tests.kernel.make_tables

Each file of the last three has a sibling NAME.reason: a regular expression that the kernel's message, or what it says
is assumed, must match. All files are checked together: those that rest on others find them in accepted/. A test
compares the stored files with what this script makes, so neither can drift.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.kernel import bounds_tables, heads_tables, lemma3_tables, sketch_tables, theorem_tables, weights_tables
from tests.kernel.building import Fields, data

HERE = Path(__file__).parent
FOLDERS = ("accepted", "conditional", "rejected", "malformed")


def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack is a change of one of them."""
    modules = (lemma3_tables, theorem_tables, bounds_tables, heads_tables, sketch_tables, weights_tables)
    return {name: fields for module in modules for name, fields in module.valid().items()}


def files() -> dict[str, bytes]:
    """Every data file of this folder: relative path -> bytes."""
    good = lemma3_tables.accepted() | {name: data(fields) for name, fields in theorem_tables.valid().items()}
    good |= bounds_tables.accepted()
    good |= {
        name: data(fields) for m in (heads_tables, sketch_tables, weights_tables) for name, fields in m.valid().items()
    }
    result = {f"accepted/{name}.json": content for name, content in good.items()}
    modules = (lemma3_tables, theorem_tables, bounds_tables, heads_tables, sketch_tables, weights_tables)
    for folder, tables in (
        ("conditional", [theorem_tables.conditional(), bounds_tables.conditional()]),
        ("rejected", [module.rejected() for module in modules]),
        ("malformed", [module.malformed() for module in modules]),
    ):
        for table in tables:
            for name, (content, reason) in table.items():
                re.compile(reason)
                path = f"{folder}/{name}"
                if f"{path}.json" in result:
                    raise ValueError(f"{path} occurs twice")
                result[f"{path}.json"] = content
                result[f"{path}.reason"] = reason.encode("ascii") + b"\n"
    return result


def main() -> None:
    for folder in FOLDERS:
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    for name, content in files().items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    main()
