"""The import rules of the design, checked on syntax trees: no module of the package is imported for it."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator

PACKAGE = "proofcheck"

# library -> the places (below the package) that may import it
CONFINED = {
    "z3": ("solvers",),
    "cvc5": ("solvers",),
    "pysat": ("solvers",),
    "networkx": ("chains",),
    "torch": ("neural",),
    "numba": ("neural.native",),
    "typer": ("cli",),
    "matplotlib": ("report",),
    "performer_pytorch": ("neural",),
    "taylor_series_linear_attention": ("neural",),
    "linear_attention_transformer": ("neural",),
    "fla": ("neural",),
    "ray": ("sweeps.engines",),
}
# part of the package -> the only places that may import it
INNER_CONFINED = {"cli": ("cli", "__main__")}
# the only places that import what a user names
COMPUTED = ("heads.spec",)
# place -> parts of the package that it never imports
FORBIDDEN = {"theorems": ("neural", "plan", "report", "sweeps")}
KERNEL_NAMES = frozenset({"eval", "exec", "compile", "__import__", "pickle", "importlib", "marshal", "runpy"})
BROAD = frozenset({"Exception", "BaseException"})


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything imported, however deeply nested or lazily.

    `from a import b` counts as importing a and a.b; `importlib.import_module("a")` and `__import__("a")` as a.
    A dynamic import whose name is not a literal is reported as "?": see `COMPUTED`.
    """
    base = module.split(".") if is_package else module.split(".")[:-1]
    importers = {"__import__", "import_module", "find_spec"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            importers |= {alias.asname or alias.name for alias in node.names if alias.name == "import_module"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = base[: len(base) - node.level + 1] if node.level else []
            name = ".".join([*parents, *([node.module] if node.module else [])])
            yield node.lineno, name
            yield from ((node.lineno, f"{name}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            if name in importers:
                first = node.args[0] if node.args else node.keywords[0].value if node.keywords else None
                literal = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"
                if literal.startswith("."):
                    literal = ".".join(base) + "." + literal.lstrip(".")
                yield node.lineno, literal


def within(module: str, place: str) -> bool:
    """Whether a dotted module is PACKAGE.place or inside it."""
    whole = f"{PACKAGE}.{place}"
    return module == whole or module.startswith(f"{whole}.")


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What the source of `module` (dotted) breaks, as "line N: reason"."""
    tree = ast.parse(source)
    found = []
    in_kernel = within(module, "kernel")
    for line, name in imported(tree, module, is_package):
        top = name.split(".")[0]
        if name == "?" and not any(within(module, place) for place in COMPUTED):
            found.append((line, "imports a name that is computed"))
        if top in CONFINED and not any(within(module, place) for place in CONFINED[top]):
            found.append((line, f"imports {top}, which belongs in {' or '.join(CONFINED[top])} only"))
        if in_kernel and top not in sys.stdlib_module_names and not within(name, "kernel"):
            found.append((line, f"the kernel imports {name}"))
        for part, places in INNER_CONFINED.items():
            if within(name, part) and not any(within(module, place) for place in places):
                found.append((line, f"imports {part}, which nothing but {' and '.join(places)} may"))
        for place, parts in FORBIDDEN.items():
            if within(module, place):
                found += [(line, f"{place} imports {part}") for part in parts if within(name, part)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            found.append((node.lineno, "an assert statement, which python -O drops"))
        if in_kernel:
            found += [(getattr(node, "lineno", 0), reason) for reason in kernel_faults(node)]
    return [f"line {line}: {reason}" for line, reason in sorted(set(found))]


def kernel_faults(node: ast.AST) -> Iterator[str]:
    """What one node breaks of the kernel's own rules: broad except clauses, code from data."""
    if isinstance(node, ast.ExceptHandler):
        caught = ast.walk(node.type) if node.type else ()
        names = {part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in caught}
        if node.type is None or names & BROAD:
            yield "a broad except clause"
    if isinstance(node, ast.Call):
        callee = ast.unparse(node.func)
        if callee.rsplit(".", 1)[-1] == "suppress" and any(
            ast.unparse(arg).split(".")[-1] in BROAD for arg in node.args
        ):
            yield "a broad except clause"
    if isinstance(node, ast.Name) and node.id in KERNEL_NAMES:
        yield f"uses {node.id}"
    if isinstance(node, ast.Attribute) and node.attr in KERNEL_NAMES and ast.unparse(node) != "re.compile":
        yield f"uses {node.attr}"
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        yield from (f"uses {name}" for name in names if name.split(".")[0] in KERNEL_NAMES)


def code_lines(source: str) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)
