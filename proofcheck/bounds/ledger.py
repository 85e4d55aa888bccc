"""The ledger of r*(m,n): for each (n, eps) a table of the best lower and upper certificates known, by m.

Files, below a folder of certificates:

    rstar/n3-eps1over2/lower-m24.json, rstar/n3-eps1over2/upper-m24.json      nothing assumed
    rstar-assuming/n3-eps1over2/lower-m24.json, ...     better ones that assume a named theorem of mathematics

A certificate replaces another only if its value is better (or equal, with fewer bytes). Every entry is re-checked by
the kernel whenever the ledger is read; nothing is believed because of its file name. Certificates from elsewhere (heads
that a search has found, say) are read by `supplied` and compete on equal terms.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2
from pathlib import Path

from proofcheck.certificate import Checked, in_file_name, write_atomically
from proofcheck.errors import ClaimFails, MalformedInput
from proofcheck.kernel.check import MALFORMED, Report, check_files
from proofcheck.theorems.bundle import FOUNDATIONS, Bundle, foundation

from .best import HALF, Bound, Window, rested

SIDES_OF_CLAIMS = {"feature-rank": "lower", "head-exists": "upper", "kernel-correct": "upper"}
FOLDERS = ("rstar", "rstar-assuming")
NAME = re.compile(r"n([1-9][0-9]*)-eps([1-9][0-9]*)over([1-9][0-9]*)")


@dataclass(frozen=True)
class Entry:
    """One checked certificate."""

    m: int
    n: int
    eps: Fraction
    side: str
    value: int
    method: str
    assumes: tuple[str, ...]
    path: Path
    report: Report

    @property
    def id(self) -> str:
        return str(self.report.certificate.id)

    @functools.cached_property
    def data(self) -> bytes:
        return self.path.read_bytes()

    def bound(self) -> Bound:
        """The same as a bound that was just computed."""
        return Bound(self.value, f"{self.method} at m={self.m}, {self.path.name}", Checked(self.data, self.report))


def folder(n: int, eps: Fraction) -> str:
    return f"n{n}-eps{in_file_name(eps)}"


def parameters(root: Path) -> list[tuple[int, Fraction]]:
    """The (n, eps) that have a table below `root`: n = 3 and eps = 1/2 first, then smaller eps and larger n."""
    found = set()
    for name in FOLDERS:
        for path in (root / name).glob("*"):
            match = NAME.fullmatch(path.name)
            if match is None:
                raise MalformedInput(f"{path}: expected a folder named like {folder(3, HALF)}")
            n, p, q = map(int, match.groups())
            if folder(n, Fraction(p, q)) != path.name:
                raise MalformedInput(f"{path}: expected a folder named like {folder(n, Fraction(p, q))}")
            found.add((n, Fraction(p, q)))
    return sorted(found, key=lambda item: (item[0], -item[1]))


def read(root: Path, n: int = 3, eps: Fraction = HALF) -> list[Entry]:
    """All entries for (n, eps) below `root`, re-checked together with the certificates there that they rest on."""
    parameters(root)  # nothing lies beside the tables
    paths = [path for name in FOLDERS for path in sorted((root / name / folder(n, eps)).rglob("*.json"))]
    rested = [root / f"{name}.json" for name in FOUNDATIONS.values()]
    rested += sorted((root / "rank-one").glob("*.json"))
    wanted = {str(path) for path in paths}
    entries = []
    for report in check_files([*(str(path) for path in rested if path.exists()), *wanted]):
        if report.path in wanted:
            entry = _entry(report)
            if (entry.n, entry.eps) != (n, eps):
                raise MalformedInput(
                    f"{report.path}: expected a bound at n = {n}, eps = {eps}, got n = {entry.n}, eps = {entry.eps}"
                )
            entries.append(entry)
    return entries


def supplied(paths: Iterable[Path], n: int, eps: Fraction) -> list[Entry]:
    """The bounds at (n, eps) among certificates given by files or folders; each must verify, and others are passed
    over. What they rest on must be among them, or be one of the usual foundations."""
    from proofcheck.kernel.check import files

    names = [name for path in paths for name in files(str(path))]
    if not names:
        raise MalformedInput(f"{', '.join(map(str, paths))}: no certificates there")
    with tempfile.TemporaryDirectory() as scratch:
        Bundle(dict(map(foundation, FOUNDATIONS))).write(Path(scratch))
        reports = check_files([*files(scratch), *names])
    entries = []
    for report in reports:
        if report.path in names and (report.verdict is None or report.certificate.claim in SIDES_OF_CLAIMS):
            entry = _entry(report)
            if (entry.n, entry.eps) == (n, eps):
                entries.append(entry)
    return entries


def _entry(report: Report) -> Entry:
    path = Path(report.path)
    if report.verdict is None:
        kind = MalformedInput if report.status == MALFORMED else ClaimFails
        raise kind(f"{path}: {report.message}")
    certificate = report.certificate
    side, p = SIDES_OF_CLAIMS.get(certificate.claim), certificate.parameters
    if side is None or p.get("additive", 0) != 0:
        raise MalformedInput(f"{path}: expected a bound on the feature rank, got {certificate.claim}")
    values = {"feature-rank": lambda: p["value"], "head-exists": lambda: p["rank"]}
    value = values.get(certificate.claim, lambda: len(p["queries"][0]))()
    assumes = tuple(report.verdict.assumed)
    if any("not supplied" in text for text in assumes):
        raise MalformedInput(f"{path}: rests on a certificate that is not there: {'; '.join(assumes)}")
    return Entry(p["m"], p["n"], Fraction(p["eps"]), side, value, certificate.rule, assumes, path, report)


def best(entries: Iterable[Entry], m: int, side: str, *, unconditional: bool = False) -> Entry | None:
    """The best entry that says something about m: lower bounds hold for larger m too, upper bounds for smaller m. Of
    equal values the one that assumes least, then the nearest m."""
    choices = [
        e
        for e in entries
        if e.side == side and (e.m <= m if side == "lower" else e.m >= m) and not (unconditional and e.assumes)
    ]
    sign = -1 if side == "lower" else 1
    return min(choices, key=lambda e: (sign * e.value, len(e.assumes), abs(e.m - m), len(e.data), e.id), default=None)


def better(entries: Iterable[Entry], m: int, name: str, value: int) -> Entry | None:
    """The best entry at m, if it is better than `value`; `name` is lower, unconditional (a lower bound) or upper."""
    side = "upper" if name == "upper" else "lower"
    entry = best(entries, m, side, unconditional=name == "unconditional")
    if entry is None or (entry.value >= value if side == "upper" else entry.value <= value):
        return None
    return entry


def improved(window: Window, entries: Iterable[Entry]) -> Window:
    """The window with the entries that are better at its m."""
    entries = [e for e in entries if (e.n, e.eps) == (window.n, window.eps)]

    def chosen(name: str, now: Bound) -> Bound:
        entry = better(entries, window.m, name, now.value)
        return now if entry is None else entry.bound()

    return replace(
        window,
        lower=chosen("lower", window.lower),
        unconditional=chosen("unconditional", window.unconditional),
        upper=chosen("upper", window.upper),
    )


def record(root: Path, window: Window, entries: list[Entry] | None = None) -> list[Path]:
    """Writes the bounds of `window` that improve on the ledger, with what they rest on; returns the files written.
    `entries` are those of the ledger, where they have been read already, and are kept up to date."""
    if entries is None:
        entries = read(root, window.n, window.eps)
    written = []
    sides = [("lower", window.unconditional), ("lower", window.lower), ("upper", window.upper)]
    if window.lower is window.unconditional:
        del sides[0]
    for side, bound in sides:
        if bound.certificate.parameters["m"] != window.m:
            continue  # an entry for another m says it already
        old = best([e for e in entries if e.m == window.m], window.m, side, unconditional=not bound.assumes)
        if old is not None and not _improves(side, bound, old):
            continue
        path = root / FOLDERS[bool(bound.assumes)] / folder(window.n, window.eps) / f"{side}-m{window.m}.json"
        write_atomically(path, bound.certificate.data)
        rested(bound.certificate).write(root)
        entries[:] = [e for e in entries if e.path != path]
        entries.append(_entry(bound.certificate.report._replace(path=str(path))))
        written.append(path)
    return written


def _improves(side: str, bound: Bound, old: Entry) -> bool:
    if bound.value == old.value:
        return len(bound.certificate.data) < len(old.data) and len(bound.assumes) <= len(old.assumes)
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


def table(root: Path, n: int = 3, eps: Fraction = HALF) -> list[Line]:
    """The lines for all m that have an entry on both sides. Raises `ClaimFails` where the sides cross."""
    entries = read(root, n, eps)
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


def markdown(lines: Iterable[Line], n: int = 3, eps: Fraction = HALF) -> str:
    """The table in Markdown: deterministic, without dates."""
    lines = list(lines)
    rows = [
        f"## n = {n}, error < {eps}",
        "",
        f"| m | r*(m,{n}) >= | by | nothing assumed | by | r*(m,{n}) <= | by |",
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
