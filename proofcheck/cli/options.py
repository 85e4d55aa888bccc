"""Parsing of command-line values. Each error names the option, the value and what was expected."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path

from proofcheck.errors import UsageError
from proofcheck.kernel.exact import shown

_RATIONAL = re.compile(r"-?[0-9]{1,40}(/[0-9]{1,40})?", re.ASCII)


def rational(text: str, option: str, wanted: str) -> Fraction:
    """ "5/2", "3": exact rationals. Decimals are refused, since 0.1 is read differently by different people."""
    text = text.strip(" ")
    if not _RATIONAL.fullmatch(text) or re.search(r"/0+$", text):
        raise UsageError(
            f"{option}: expected {wanted}, as integers or fractions p/q of at most 40 digits each, got {shown(text)}"
        )
    return Fraction(text)


def epsilon(text: str, option: str = "--eps") -> Fraction:
    """An error bound with 0 < eps <= 1/2."""
    wanted = "0 < eps <= 1/2"
    eps = rational(text, option, wanted)
    if not 0 < eps <= Fraction(1, 2):
        nearest = (
            "the nearest value that satisfies it is 1/2" if eps > 0 else "any small positive fraction satisfies it"
        )
        raise UsageError(f"{option}: expected {wanted}, got {shown(text)}; {nearest}")
    return eps


def writable(out: Path) -> None:
    """Refuses, before any work is done, a folder that cannot be made or written to."""
    place = out
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise UsageError(f"--out: expected a folder, or one that can be made, got {out}: {place} is no folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise UsageError(f"--out: expected a folder that can be written to, got {out}: no permission for {place}")


def within(value: int, option: str, low: int, high: int, why: str) -> int:
    """`value` if low <= value <= high; otherwise the hypothesis `why` and the nearest value that satisfies it."""
    if not low <= value <= high:
        nearest = low if value < low else high
        raise UsageError(f"{option}: {why}, got {value}; the nearest value that satisfies it is {nearest}")
    return value


def epsilons(text: str, option: str = "--eps") -> list[Fraction]:
    """One or more error bounds, separated by commas."""
    return list(dict.fromkeys(epsilon(part, option) for part in text.split(",")))


def integers(text: str, option: str, low: int, high: int) -> range:
    """ "A" or "A:B" (both ends included) with low <= A <= B <= high."""
    wanted = f"an integer A or a range A:B with {low} <= A <= B <= {high}"
    ends = [rational(part, option, wanted) for part in text.split(":")]
    first, last = int(ends[0]), int(ends[-1])
    if len(ends) > 2 or any(end.denominator != 1 for end in ends) or not low <= first <= last <= high:
        raise UsageError(f"{option}: expected {wanted}, got {shown(text)}")
    return range(first, last + 1)


def gaps(text: str, option: str = "--d") -> list[Fraction]:
    """ "A" or "A:B": positive rationals, A, A+1, .. up to B."""
    wanted = "a gap A > 0 or a range A:B with 0 < A <= B"
    ends = [rational(part, option, wanted) for part in text.split(":")]
    if len(ends) > 2 or not 0 < ends[0] <= ends[-1]:
        raise UsageError(f"{option}: expected {wanted}, got {shown(text)}")
    if ends[-1] - ends[0] > 1000:
        raise UsageError(f"{option}: expected at most 1001 gaps, got {shown(text)}")
    return [ends[0] + i for i in range(int(ends[-1] - ends[0]) + 1)]


def steps(text: str, option: str, low: int, high: int) -> list[int]:
    """ "A", "A:B", "A:B:STEP" (ends included) and lists of these separated by commas, all within low..high."""
    wanted = f"integers A, ranges A:B or A:B:STEP, separated by commas, within {low}..{high}"
    found: list[int] = []
    for part in text.split(","):
        numbers = [rational(piece, option, wanted) for piece in part.split(":")]
        if len(numbers) > 3 or any(q.denominator != 1 for q in numbers):
            raise UsageError(f"{option}: expected {wanted}, got {shown(text)}")
        first, last, step = (
            int(numbers[0]),
            int(numbers[min(1, len(numbers) - 1)]),
            int(numbers[2]) if len(numbers) == 3 else 1,
        )
        if not low <= first <= last <= high or step < 1 or (last - first) // step > 10_000:
            raise UsageError(f"{option}: expected {wanted}, got {shown(text)}")
        found += range(first, last + 1, step)
    return list(dict.fromkeys(found))
