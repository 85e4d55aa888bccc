"""Parameters of a built-in kernel: each has a default, a parser and a sentence. Values come as text or as numbers."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofcheck.errors import UsageError

from . import Floats

_RATIONAL = re.compile(r"-?[0-9]{1,40}(/[0-9]{1,40})?", re.ASCII)


@dataclass(frozen=True)
class Parameter:
    """`parse(value, place)` gives the value or raises `UsageError`; `default` None means: see `text`."""

    name: str
    default: Any
    text: str
    parse: Callable[[object, str], Any]


def shown(value: object) -> str:
    text = ascii(str(value) if isinstance(value, Fraction) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def parsed(kernel: str, parameters: Sequence[Parameter], options: Mapping[str, object]) -> dict[str, Any]:
    """Every parameter with its value. An option that is not a parameter is an error that names near ones."""
    names = [parameter.name for parameter in parameters]
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, 1)
            guess = f", did you mean {near[0]!r}?" if near else ""
            known = f"it has {', '.join(names)}" if names else "it has none"
            raise UsageError(f"{kernel}: unknown parameter {shown(name)}{guess} ({known})")
    return {
        p.name: p.parse(options[p.name], f"{kernel}, {p.name}") if p.name in options else p.default for p in parameters
    }


def rational(value: object, place: str) -> Fraction:
    """An int, a Fraction, a finite float (as the dyadic number that it is), or text p/q."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value)
    if isinstance(value, str) and _RATIONAL.fullmatch(value) and not re.search(r"/0+$", value):
        return Fraction(value)
    raise UsageError(f"{place}: expected a number, as an integer or a fraction p/q, got {shown(value)}")


def positive(value: object, place: str) -> Fraction:
    q = rational(value, place)
    if q <= 0:
        raise UsageError(f"{place}: expected a number > 0, got {shown(q)}")
    return q


def not_negative(value: object, place: str) -> Fraction:
    q = rational(value, place)
    if q < 0:
        raise UsageError(f"{place}: expected a number >= 0, got {shown(q)}")
    return q


def weight(value: object, place: str) -> Fraction:
    """w = e^-tau with 0 < w < 1."""
    q = rational(value, place)
    if not 0 < q < 1:
        raise UsageError(f"{place}: expected 0 < w < 1, got {shown(q)}")
    return q


def power_of_two(value: object, place: str) -> Fraction:
    q = weight(value, place)
    if q.numerator != 1 or q.denominator & (q.denominator - 1):
        raise UsageError(f"{place}: expected 1/2, 1/4, 1/8, .. (whose powers floats hold exactly), got {shown(q)}")
    return q


def natural(low: int) -> Callable[[object, str], int]:
    def parse(value: object, place: str) -> int:
        q = rational(value, place)
        if q.denominator != 1 or q < low:
            raise UsageError(f"{place}: expected an integer >= {low}, got {shown(q)}")
        return int(q)

    return parse


def choice(*names: str) -> Callable[[object, str], str]:
    def parse(value: object, place: str) -> str:
        if value not in names:
            raise UsageError(f"{place}: expected one of {', '.join(names)}; got {shown(value)}")
        return str(value)

    return parse


def array(value: object, place: str) -> Floats:
    """A finite two-dimensional array of numbers, as float64."""
    if not isinstance(value, np.ndarray | list | tuple):
        raise UsageError(f"{place}: expected an array (from Python, or in a file), got {shown(value)}")
    found = np.asarray(value)
    if found.ndim != 2 or not found.size or found.dtype.kind not in "iuf":
        raise UsageError(
            f"{place}: expected a two-dimensional array of real numbers, got shape {found.shape}, {found.dtype}"
        )
    found = found.astype(np.float64)
    if not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(found))[0]
        raise UsageError(f"{place}: entry ({i}, {j}) is {found[i, j]}")
    return found
