"""The ledger of r*(m, 3) at eps = 1/2: for each m the best lower and the best upper certificate known.

Files, below a folder of certificates:

    rstar/lower-m24.json, rstar/upper-m24.json      nothing assumed
    rstar-assuming/lower-m24.json, ...              better ones that assume a named theorem of mathematics

A certificate replaces another only if its value is better (or equal, with fewer bytes). Every entry is re-checked by
the kernel whenever the ledger is read; nothing is believed because of its file name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2
from pathlib import Path

from proofcheck.certificate import write_atomically
from proofcheck.errors import ClaimFails, MalformedInput
from proofcheck.kernel.check import MALFORMED, Report, check_files
from proofcheck.kernel.exact import spelled

from .best import HALF, Bound, Window, rested

SIDES = ("lower", "upper")
FOLDERS = ("rstar", "rstar-assuming")
N = 3


@dataclass(frozen=True)
class Entry:
    """One checked certificate of the ledger."""

    m: int
    side: str
    value: int
    method: str
    id: str
    assumes: tuple[str, ...]
    path: Path
    size: int


def read(root: Path) -> list[Entry]:
    """All entries below `root`, re-checked together with every certificate there that they rest on."""
    paths = sorted(str(path) for path in root.rglob("*.json"))
    entries = []
    for report in check_files(paths):
        path = Path(report.path)
        if path.parent.name in FOLDERS:
            entries.append(_entry(report, path))
    return entries


def _entry(report: Report, path: Path) -> Entry:
    if report.verdict is None:
        kind = MalformedInput if report.status == MALFORMED else ClaimFails
        raise kind(f"{path}: {report.message}")
    certificate = report.certificate
    sides = {"feature-rank": ("lower", "value"), "head-exists": ("upper", "rank")}
    side, field = sides.get(certificate.claim, ("", ""))
    parameters = certificate.parameters
    if not side or (parameters["n"], parameters["eps"]) != (N, spelled(HALF)):
        raise MalformedInput(f"{path}: expected a bound at n = {N}, eps = 1/2, got {certificate.claim}")
    assumes = tuple(report.verdict.assumed)
    if any("not supplied" in text for text in assumes):
        raise MalformedInput(f"{path}: rests on a certificate that is not there: {'; '.join(assumes)}")
    size = path.stat().st_size
    return Entry(parameters["m"], side, parameters[field], certificate.rule, certificate.id, assumes, path, size)


def best(entries: Iterable[Entry], m: int, side: str, *, unconditional: bool = False) -> Entry | None:
    """The best entry that says something about m: lower bounds hold for larger m too, upper bounds for smaller m."""
    choices = [
        e
        for e in entries
        if e.side == side and (e.m <= m if side == "lower" else e.m >= m) and not (unconditional and e.assumes)
    ]
    sign = -1 if side == "lower" else 1
    return min(choices, key=lambda e: (sign * e.value, len(e.assumes), e.size), default=None)


def record(root: Path, window: Window) -> list[Path]:
    """Writes the bounds of `window` that improve on the ledger, with what they rest on; returns the files written."""
    entries = read(root)
    written = []
    sides = [("lower", window.unconditional), ("lower", window.lower), ("upper", window.upper)]
    if window.lower is window.unconditional:
        del sides[0]
    for side, bound in sides:
        old = best([e for e in entries if e.m == window.m], window.m, side, unconditional=not bound.assumes)
        if old is not None and not _improves(side, bound, old):
            continue
        folder = FOLDERS[bool(bound.assumes)]
        path = root / folder / f"{side}-m{window.m}.json"
        write_atomically(path, bound.certificate.data)
        rested(bound.certificate).write(root)
        written.append(path)
    return written


def _improves(side: str, bound: Bound, old: Entry) -> bool:
    if bound.value == old.value:
        return len(bound.certificate.data) < old.size and len(bound.assumes) <= len(old.assumes)
    return bound.value > old.value if side == "lower" else bound.value < old.value


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    m: int
    lower: Entry
    unconditional: Entry
    upper: Entry

    @property
    def closed(self) -> bool:
        return self.lower.value == self.upper.value


def table(root: Path) -> list[Line]:
    """The lines for all m that have an entry on both sides. Raises `ClaimFails` where the sides cross."""
    entries = read(root)
    lines = []
    for m in sorted({e.m for e in entries}):
        lower, free = best(entries, m, "lower"), best(entries, m, "lower", unconditional=True)
        upper = best(entries, m, "upper")
        if lower is None or free is None or upper is None:
            continue
        if lower.value > upper.value:
            raise ClaimFails(f"m={m}: {lower.path} says {lower.value}, {upper.path} says {upper.value}: one is unsound")
        lines.append(Line(m, lower, free, upper))
    return lines


def markdown(lines: Iterable[Line]) -> str:
    """The table in Markdown: deterministic, without dates."""
    rows = [
        "| m | r*(m,3) >= | by | nothing assumed | by | r*(m,3) <= | by |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        cells = [str(line.m)]
        for entry in (line.lower, line.unconditional, line.upper):
            star = "*" if entry.assumes else ""
            cells += [f"{_short(entry.value)}{star}", f"{entry.method} `{entry.id[:12]}`"]
        rows.append("| " + " | ".join(cells) + " |")
    assumed = sorted({text for line in lines for e in (line.lower, line.upper) for text in e.assumes})
    notes = [f"\n`*` assumes {text}." for text in assumed]
    return "\n".join([*rows, *notes, ""])


def _short(value: int) -> str:
    return str(value) if value < 10**9 else f"2^{log2(value):.1f}"
