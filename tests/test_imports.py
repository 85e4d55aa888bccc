"""The import rules hold in the package, and the checker of the rules bites."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.import_rules import CONFINED, PACKAGE, code_lines, imported, violations

REPOSITORY = Path(__file__).parents[1]
SOURCES = sorted((REPOSITORY / PACKAGE).rglob("*.py"))


def dotted(path: Path) -> tuple[str, bool]:
    """The module's name and whether it is a package."""
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_module_keeps_the_rules(path: Path) -> None:
    """Every module of the package keeps the import rules, and no check rests on `assert`."""
    module, is_package = dotted(path)
    assert violations(path.read_text("utf-8"), module, is_package) == []


def test_the_package_is_looked_at() -> None:
    """The parametrisation above is not empty, and it includes the kernel."""
    names = {dotted(path)[0] for path in SOURCES}
    assert {f"{PACKAGE}.kernel.{name}" for name in KERNEL} <= names


KERNEL = ("exact", "minip", "claims", "claims.forms", "rules", "rules.algebra", "check", "__main__")

BAD = [
    ("theorems.lemma3", "import z3", "imports z3"),
    ("kernel.rules", "import z3", "imports z3"),
    ("kernel.rules", "import numpy", "the kernel imports numpy"),
    ("kernel.rules.matrices", "import flint", "the kernel imports flint"),
    ("kernel.rules.algebra", "from ...certificate import certify", "the kernel imports proofcheck.certificate"),
    ("kernel.claims.families", "from ... import codes", "the kernel imports proofcheck.codes"),
    ("kernel.claims.gap", "from proofcheck.theorems import lemma3", "the kernel imports proofcheck.theorems"),
    ("kernel.claims.gap", "assert True", "an assert statement"),
    ("kernel.rules", "from proofcheck import certificate", "the kernel imports proofcheck.certificate"),
    ("kernel.rules", "from ..errors import Bug", "the kernel imports proofcheck.errors"),
    ("kernel.rules", "from .. import errors", "the kernel imports proofcheck.errors"),
    ("kernel.rules", "import proofcheck.solvers", "the kernel imports proofcheck.solvers"),
    ("certificate", "def f():\n    def g():\n        import z3.z3util", "line 3: imports z3"),
    ("certificate", "if TYPE_CHECKING:\n    from z3 import Solver", "line 2: imports z3"),
    ("certificate", "try:\n    import cvc5\nexcept ImportError:\n    cvc5 = None", "line 2: imports cvc5"),
    ("certificate", "import importlib\nimportlib.import_module('z3')", "line 2: imports z3"),
    ("certificate", "from importlib import import_module\nimport_module('z3.z3')", "imports z3"),
    ("certificate", "from importlib import import_module as load\nload('torch')", "imports torch"),
    ("neural.extremes", "def f():\n    import numba", "line 2: imports numba"),
    ("neural.native_readout", "from numba import njit", "imports numba"),
    ("certificate", "import importlib\nimportlib.import_module(name='z3')", "imports z3"),
    ("certificate", "m = __import__('cvc5')", "imports cvc5"),
    ("certificate", "m = lambda name: __import__(name)", "imports a name that is computed"),
    ("heads.files", "import importlib\nimportlib.import_module(name)", "imports a name that is computed"),
    ("heads.specials", "import importlib\nimportlib.import_module(name)", "imports a name that is computed"),
    ("certificate", "import importlib\nimportlib.import_module('.cli', 'proofcheck')", "imports cli"),
    ("chainsaw", "import networkx", "imports networkx"),
    ("bounds.lower", "import networkx as nx", "imports networkx"),
    ("heads", "import torch.nn.functional as F", "imports torch"),
    ("theorems.rank", "from torch import nn", "imports torch"),
    ("heads.spec", "def f():\n    from performer_pytorch import SelfAttention", "imports performer_pytorch"),
    ("sweeps.plan", "import ray", "imports ray"),
    ("neural.search", "def f():\n    from ray import init", "imports ray"),
    ("sweeps.engines", "import torch", "imports torch"),
    ("theorems.lemma3", "from proofcheck.sweeps import plan", "theorems imports sweeps"),
    ("bounds.lower", "import typer", "imports typer"),
    ("client", "import typer", "imports typer"),
    ("plan.design", "import matplotlib.pyplot as plt", "imports matplotlib"),
    ("refute", "from pysat.solvers import Cadical153", "imports pysat"),
    ("theorems.lemma3", "from proofcheck.cli import main", "imports cli"),
    ("theorems.lemma3", "from .. import cli", "imports cli"),
    ("report.pages", "from ..cli.options import GRID", "imports cli"),
    ("theorems.lemma3", "from proofcheck.neural import heads", "theorems imports neural"),
    ("theorems.lemma3", "def f():\n    from ..plan import advise", "theorems imports plan"),
    ("theorems.lemma3", "from proofcheck import report", "theorems imports report"),
    ("theorems", "from ..report import table", "theorems imports report"),
    ("solvers.dual", "assert x > 0", "assert statement"),
    ("kernel.exact", "def f():\n    assert True, 'message'", "line 2: an assert statement"),
    ("kernel.check", "try:\n    f()\nexcept:\n    pass", "a broad except clause"),
    ("kernel.check", "try:\n    f()\nexcept Exception as error:\n    pass", "a broad except clause"),
    ("kernel.check", "try:\n    f()\nexcept (OSError, BaseException):\n    pass", "a broad except clause"),
    ("kernel.check", "import builtins\ntry:\n    f()\nexcept builtins.Exception:\n    pass", "a broad except clause"),
    ("kernel.check", "import contextlib\nwith contextlib.suppress(Exception):\n    f()", "a broad except clause"),
    ("kernel.check", "eval('1')", "uses eval"),
    ("kernel.check", "run = exec", "uses exec"),
    ("kernel.check", "import builtins\nbuiltins.eval('1')", "uses eval"),
    ("kernel.check", "import pickle", "uses pickle"),
    ("kernel.check", "from pickle import loads", "uses pickle"),
    ("kernel.check", "import importlib.util", "uses importlib"),
    ("kernel.check", "__import__('json')", "uses __import__"),
]


@pytest.mark.parametrize(("module", "source", "reason"), BAD)
def test_checker_bites(module: str, source: str, reason: str) -> None:
    """Each bad snippet is reported with its reason."""
    assert any(reason in fault for fault in violations(source, f"{PACKAGE}.{module}", module == "theorems"))


GOOD = [
    ("solvers.z3_solver", "import z3\nfrom proofcheck.kernel.exact import Poly"),
    ("solvers.cvc5_solver", "def f():\n    import importlib\n    return importlib.import_module('cvc5')"),
    ("chains", "import networkx"),
    ("neural.search", "def f():\n    import torch"),
    ("report.figures", "import matplotlib.pyplot"),
    ("sweeps.engines", "def f():\n    import ray as library"),
    ("cli", "import typer"),
    ("cli.verify", "import typer\nfrom proofcheck.cli import options\nfrom . import options"),
    ("__main__", "from proofcheck.cli import main"),
    ("client", "from proofcheck.climate import zone"),
    ("heads.spec", "import importlib\nimportlib.import_module(name)"),
    ("kernel.check", "import json, re\nfrom .exact import number\nfrom fractions import Fraction\nP = re.compile('a')"),
    ("kernel.check", "from proofcheck.kernel.exact import number"),
    ("kernel.rules.families", "from .. import minip\nfrom ..claims.forms import Code\nfrom ..exact import words"),
    ("kernel.check", "try:\n    f()\nexcept (OSError, ValueError):\n    pass"),
    ("theorems.lemma3", "from proofcheck.solvers import dual\nfrom proofcheck.planning import x"),
    ("certificate", "text = 'import z3; assert False'  # import torch"),
]


@pytest.mark.parametrize(("module", "source"), GOOD)
def test_checker_accepts_what_is_allowed(module: str, source: str) -> None:
    """Allowed imports are not reported: the checker is no constant."""
    assert violations(source, f"{PACKAGE}.{module}") == []


def test_kernel_is_small() -> None:
    """The core (exact numbers, the definition, the checker) stays below 500 lines of code; each file of rules below
    300, so that it is read in one sitting beside its section of TRUST.md, and all of them together below 1,100. Of the
    statements, which a reader compares with the paper one by one, each file stays below 300, all below 1,100. A
    certificate rests on the core, on one rule and on its statement, never on all rules."""
    kernel = REPOSITORY / PACKAGE / "kernel"
    sizes = {p.relative_to(kernel).as_posix(): code_lines(p.read_text("utf-8")) for p in SOURCES if kernel in p.parents}
    parts: dict[str, dict[str, int]] = {"core": {}, "rules": {}, "claims": {}}
    for name, size in sizes.items():
        folder, slash, _ = name.partition("/")
        parts[folder if slash else "core"][name] = size
    assert set(parts["core"]) == {"__init__.py", "__main__.py", "check.py", "exact.py", "minip.py"}
    assert 200 < sum(parts["core"].values()) < 500, parts["core"]
    assert all(size < 300 for size in parts["rules"].values()), parts["rules"]
    assert 100 < sum(parts["rules"].values()) < 1_100, parts["rules"]
    assert all(size < 300 for size in parts["claims"].values()), parts["claims"]
    assert 300 < sum(parts["claims"].values()) < 1_100, parts["claims"]


def test_rules_know_shapes_and_no_theorems() -> None:
    """A rule sees of the statements their shapes and the factor of a gap: no more."""
    for path in (REPOSITORY / PACKAGE / "kernel" / "rules").glob("*.py"):
        module, is_package = dotted(path)
        names = {name for _, name in imported(ast.parse(path.read_text("utf-8")), module, is_package)}
        parts = {name.split(".")[3] for name in names if name.startswith(f"{PACKAGE}.kernel.claims.")}
        assert parts <= {"forms", "parameters"}, path


def test_lines_of_code_are_counted() -> None:
    """Blank lines, comments and docstrings do not count; strings that are data do."""
    source = '"""Module.\n\nMore."""\n\n# comment\nx = 1  # why\n\n\ndef f():\n    "doc"\n'
    source += '    y = """a\n\n    b"""\n    return y\n'
    assert code_lines(source) == 1 + 1 + 3 + 1


def test_kernel_loads_nothing_else() -> None:
    """In a real process, the kernel brings in the standard library and itself only (and no heavy part of either)."""
    program = "import json, sys; import proofcheck.kernel.__main__; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = json.loads(result.stdout)
    tops = {name.split(".")[0] for name in loaded}
    assert tops <= sys.stdlib_module_names | {PACKAGE, "__main__"}
    own = {name for name in loaded if name.startswith(f"{PACKAGE}.")}
    assert {f"{PACKAGE}.kernel.{part}" for part in KERNEL} <= own
    assert {name for name in own if not name.startswith(f"{PACKAGE}.kernel")} == set()
    assert not tops & set(CONFINED)
