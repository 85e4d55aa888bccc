"""What a user names: built-in, file, or their own code, whose failures take one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proofcheck.errors import MalformedInput, ProofcheckError, UsageError
from proofcheck.heads import files
from proofcheck.heads.builtin import build
from proofcheck.heads.spec import load

MODULE = """
import numpy as np
from fractions import Fraction
from proofcheck.heads import Head
from proofcheck.heads.builtin import build

HEAD = build("relu", 4, 6, 3)
NUMBER = 3

class Names:
    head = HEAD

def make(m, r, seed):
    return build("exp", m, r, seed)

def fails(m, r, seed):
    raise ValueError("two\\nlines")

def leaves(m, r, seed):
    raise SystemExit(7)

def gives_none(m, r, seed):
    return None
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules of a user in the current folder."""
    (tmp_path / "users_heads.py").write_text(MODULE)
    (tmp_path / "users_broken.py").write_text("import no_such_library_at_all\n")
    (tmp_path / "users_syntax.py").write_text("def f(:\n")
    (tmp_path / "users_leaves.py").write_text("raise SystemExit('bye')\n")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.startswith("users_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def test_the_three_kinds(folder: Path) -> None:
    assert load("relu", 4, 6, 3, {"scale": "2"}).rank == 6
    head = build("relu", 4, 6, 3)
    files.save(head, folder / "h.npz")
    for spec in ("h.npz", str(folder / "h.npz"), "users_heads:HEAD", "users_heads:Names.head"):
        assert load(spec, 4, 1).exact(5, range(16)) == head.exact(5, range(16))
    assert load("users_heads:make", 5, 7, 2).exact(5, [3]) == build("exp", 5, 7, 2).exact(5, [3])


def test_the_path_is_left_as_it_was(folder: Path) -> None:
    before = list(sys.path)
    load("users_heads:HEAD", 4, 1)
    with pytest.raises(UsageError):
        load("users_broken:x", 4, 1)
    assert sys.path == before


BAD = [
    ("elu", "unknown head 'elu'; did you mean relu or elu1"),
    ("quadratic", r"unknown head 'quadratic' \(built-in: elu1"),
    ("users_heads", "package.module:attribute"),
    ("h.pt", "a pickled file is never read"),
    ("h.pkl", "a pickled file is never read"),
    ("some/folder", r"expected a file named \.json"),
    ("h.json", "no such file"),
    (
        "no_such_package.inner:x",
        "importing no_such_package.inner failed: ModuleNotFoundError: No module named 'no_such",
    ),
    ("users_broken:x", "importing users_broken failed: ModuleNotFoundError: .*no_such_library_at_all"),
    ("users_syntax:x", "importing users_syntax failed: SyntaxError"),
    ("users_leaves:x", "importing users_leaves failed: SystemExit: bye"),
    ("users_heads:HAED", "has no attribute 'HAED'; did you mean HEAD"),
    ("users_heads:Names.tail", "users_heads.Names has no attribute 'tail'"),
    ("users_heads:NUMBER", "expected a Head, .*got int"),
    ("users_heads:gives_none", "got NoneType"),
    ("users_heads:fails", r"calling it with \(m, r, seed\) = \(9, 2, 5\) failed: ValueError: two lines"),
    ("users_heads:leaves", "SystemExit: 7"),
    ("users_heads:Names", "failed: TypeError"),
    ("users_heads:HEAD", "m = 4, asked for m = 9"),
    ("users_heads:", "expected package.module:attribute"),
    (":x", "expected package.module:attribute"),
    ("a b:c", "expected package.module:attribute"),
    ("..x:y", "expected package.module:attribute"),
]


@pytest.mark.parametrize(("spec", "reason"), BAD)
def test_bad_specs(spec: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        load(spec, 9, 2, 5)
    assert "\n" not in str(caught.value)


def test_options() -> None:
    with pytest.raises(UsageError, match="a Head takes no options, got 'scale'"):
        load("users_heads:HEAD", 4, 1, 0, {"scale": 2})
    with pytest.raises(UsageError, match="unknown parameter 'scle', did you mean 'scale'"):
        load("relu", 4, 1, 0, {"scle": 2})


def test_malformed_files_stay_malformed(folder: Path) -> None:
    (folder / "h.json").write_text("{}")
    with pytest.raises(MalformedInput) as caught:
        load("h.json", 4, 1)
    assert isinstance(caught.value, ProofcheckError)
    assert caught.value.status == 4


def test_no_torch_is_imported() -> None:
    code = (
        "import sys, proofcheck, proofcheck.heads.spec as s; s.load('elu1', 4, 4); s.load('users_heads:HEAD', 4, 4);"
        "sys.exit('torch' in sys.modules or 'proofcheck.neural' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
