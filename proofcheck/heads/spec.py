"""What a user names as a head on the command line or in Python: a SPEC.

    elu1, softmin, ..                      a built-in kernel, with its parameters as options
    head.json, head.npz, head.safetensors  a file
    package.module:attribute               RUNS THE USER'S CODE: imports the module (the current folder is searched
                                           too) and takes the attribute (dotted names allowed), which is
                                             a Head, whose m must be the one asked for,
                                             a torch.nn.Module, which goes to `proofcheck.neural.from_module`,
                                             or a callable (m, r, seed) -> one of the two.

Whatever goes wrong in the user's code becomes one `UsageError` of one line. A certificate is never a SPEC: nothing in
a certificate is imported or run.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from proofcheck.errors import ProofcheckError, UsageError

from . import Head, builtin, files
from .parameters import shown


def load(spec: str, m: int, r: int, seed: int = 0, options: Mapping[str, object] | None = None) -> Head:
    """The head that `spec` names, on tokens of m bits. `r`, the number of features asked for, and `seed` concern
    built-in kernels and callables; options go to the kernel, the file or `from_module`."""
    if spec in builtin.KERNELS:
        return builtin.build(spec, m, r, seed, options)
    if spec.endswith(files.SUFFIXES):
        return files.load(spec, m, options)
    if ":" in spec:
        return _imported(spec, m, r, seed, options or {})
    suffix = Path(spec).suffix
    if "/" in spec or "\\" in spec or Path(spec).exists() or suffix in (".pt", ".pth", ".pkl", ".npy", ".bin"):
        hint = "; a pickled file is never read: save tables or weights as .npz or .safetensors" if suffix else ""
        raise UsageError(f"{shown(spec)}: expected a file named {', '.join(files.SUFFIXES)}{hint}")
    near = difflib.get_close_matches(spec, builtin.KERNELS, 3)
    guess = f"; did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(
        f"unknown head {shown(spec)}{guess} (built-in: {', '.join(builtin.KERNELS)}; or a file named "
        f"{', '.join(files.SUFFIXES)}; or package.module:attribute)"
    )


def attribute(spec: str) -> Any:
    """The attribute that package.module:attribute names. IMPORTS AND RUNS the user's code."""
    module_name, _, path = spec.partition(":")
    names = [*module_name.split("."), *path.split(".")]
    if not all(name.isidentifier() for name in names):
        raise UsageError(f"{shown(spec)}: expected package.module:attribute, with names of Python")
    with users_code(f"{spec}: importing {module_name} failed"), _current_folder():
        found: Any = importlib.import_module(module_name)
    for i, name in enumerate(path.split(".")):
        if not hasattr(found, name):
            place = ".".join([module_name, *path.split(".")[:i]])
            near = difflib.get_close_matches(name, dir(found), 3)
            guess = f"; did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"{spec}: {place} has no attribute {name!r}{guess}")
        found = getattr(found, name)
    return found


def _imported(spec: str, m: int, r: int, seed: int, options: Mapping[str, object]) -> Head:
    found = attribute(spec)
    if callable(found) and not isinstance(found, Head) and not is_module(found):
        with users_code(f"{spec}: calling it with (m, r, seed) = ({m}, {r}, {seed}) failed"):
            found = found(m, r, seed)
    if is_module(found):
        from proofcheck.neural import from_module

        with users_code(f"{spec}: looking into the module failed"):
            return from_module(found, m, **_typed(spec, options))
    if not isinstance(found, Head):
        raise UsageError(
            f"{spec}: expected a Head, a torch.nn.Module or a callable (m, r, seed) that gives one; got "
            f"{type(found).__name__}"
        )
    if options:
        raise UsageError(f"{spec}: a Head takes no options, got {', '.join(map(shown, options))}")
    if found.m != m:
        raise UsageError(f"{spec}: the head has m = {found.m}, asked for m = {m}")
    return found


def _typed(spec: str, options: Mapping[str, object]) -> dict[str, Any]:
    """Options of `from_module` as they come from a command line."""
    flags = {"true": True, "false": False}
    typed: dict[str, Any] = {}
    for name, value in options.items():
        if name == "head" and isinstance(value, str):
            if not value.isdecimal():
                raise UsageError(f"{spec}, head: expected the number of a head, got {shown(value)}")
            value = int(value)
        elif name == "cut" and isinstance(value, str):
            if value not in flags:
                raise UsageError(f"{spec}, cut: expected true or false, got {shown(value)}")
            value = flags[value]
        elif name not in ("head", "layout", "cut", "stabiliser"):
            raise UsageError(f"{spec}: unknown option {shown(name)} (a module has head, layout, cut, stabiliser)")
        typed[name] = value
    return typed


def is_module(found: object) -> bool:
    """Whether it is a torch.nn.Module: only if torch was imported, by whoever made it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(found, torch.nn.Module)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """One line for anything that the user's code raises; the package's own errors pass. What it prints goes to standard
    error: standard output belongs to the result."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ProofcheckError:
        raise
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())[:300]
        raise UsageError(f"{what}: {type(error).__name__}{': ' if message else ''}{message}") from error


@contextmanager
def _current_folder() -> Iterator[None]:
    """The current folder is searched for modules, as `python -m` does."""
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
