"""The deterministic planner: a grid of (m, r, n, eps, seed) -> shards in one order, in a plan file.

Shard     one search; its id is a digest of what it computes (task and settings), so the same work has the same id
          in every plan, and other work has another
Settings  how every search of a plan is run
Plan      settings and shards, sorted and without repetition, whatever the order they were given in
grid      "m=4:6,r=m-2,seed=0:3" -> tasks
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from proofcheck.certificate import write_atomically
from proofcheck.errors import MalformedInput, UsageError
from proofcheck.kernel.exact import Malformed, canonical, load_json, record, shown

FORMAT = "proofcheck-sweep/1"
LARGEST_M = 12
MOST = 10_000  # shards of a plan
NAMES = ("m", "r", "n", "eps", "seed")
CHOICES = {
    "features": ("bounded", "exp", "signed"),
    "start": ("mixtures", "normal"),
    "device": ("cpu", "cuda"),  # not "auto": it would mean different things on different machines
}

Task: TypeAlias = tuple[int, int, int, Fraction, int]  # m, r, n, eps, seed


@dataclass(frozen=True)
class Settings:
    """How each search is run: the arguments of `neural.search.search` that are the same for all shards. The number of
    threads and the device are among them, since they decide the last bits of sums."""

    heads: int = 8
    steps: int = 3000
    restarts: int = 4
    features: str = "bounded"
    start: str = "mixtures"
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        for name, most in (("heads", 4096), ("steps", 10**7), ("restarts", 10**4), ("threads", 256)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise UsageError(f"a sweep: expected 1 <= {name} <= {most}, got {shown(value)}")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"a sweep: {name}: expected {', '.join(known)}, got {shown(getattr(self, name))}")


@dataclass(frozen=True)
class Shard:
    """One search, with its settings. 1 <= m <= 12, 1 <= r <= 2^m, n >= 3, 0 < eps <= 1/2, seed >= 0."""

    m: int
    r: int
    n: int
    eps: Fraction
    seed: int
    settings: Settings

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("m", self.m, 1, LARGEST_M),
            ("r", self.r, 1, 1 << min(max(self.m, 0), LARGEST_M)),
            ("n", self.n, 3, 10**6),
            ("seed", self.seed, 0, 1 << 40),
        ):
            if not low <= value <= high:
                raise UsageError(f"a sweep: expected {low} <= {name} <= {high} at m = {self.m}, got {name} = {value}")
        if not 0 < self.eps <= Fraction(1, 2):
            raise UsageError(f"a sweep: expected 0 < eps <= 1/2, got eps = {self.eps}")

    @property
    def task(self) -> Task:
        return self.m, self.r, self.n, self.eps, self.seed

    @property
    def cell(self) -> tuple[int, int, int, Fraction]:
        return self.m, self.r, self.n, self.eps

    def described(self) -> dict[str, Any]:
        """The task, as it is written in files."""
        return {"m": self.m, "r": self.r, "n": self.n, "eps": str(self.eps), "seed": self.seed}

    @property
    def id(self) -> str:
        """SHA-256 of the canonical bytes of task and settings, 32 hexadecimal digits of it."""
        content = {"format": FORMAT, "task": self.described(), "settings": asdict(self.settings)}
        return hashlib.sha256(canonical(content)).hexdigest()[:32]

    def __str__(self) -> str:
        return f"{self.id} (" + ", ".join(f"{name} = {value}" for name, value in self.described().items()) + ")"


@dataclass(frozen=True)
class Plan:
    """Shards in the order of (m, n, -eps, r, seed), each once."""

    settings: Settings
    shards: tuple[Shard, ...]

    @staticmethod
    def of(tasks: Iterable[Task], settings: Settings | None = None) -> Plan:
        """The plan of these tasks: the same for every order, and for tasks given twice."""
        given, chosen = settings or Settings(), set(tasks)
        if not chosen:
            raise UsageError("a sweep: the grid is empty")
        if len(chosen) > MOST:
            raise UsageError(f"a sweep: expected at most {MOST} shards, got {len(chosen)}")
        ordered = sorted(chosen, key=lambda task: (task[0], task[2], -task[3], task[1], task[4]))
        return Plan(given, tuple(Shard(*task, given) for task in ordered))

    @property
    def id(self) -> str:
        return hashlib.sha256(self.data()).hexdigest()

    def data(self) -> bytes:
        """The canonical bytes of the plan file."""
        shards = [{"id": shard.id, **shard.described()} for shard in self.shards]
        return canonical({"format": FORMAT, "settings": asdict(self.settings), "shards": shards}) + b"\n"

    def part(self, i: int, of: int) -> tuple[Shard, ...]:
        """Part i of 1..`of`: these parts have no shard in common and are the plan together; their sizes differ by one
        at most."""
        if not 1 <= i <= of:
            raise UsageError(f"a part of a sweep: expected I/K with 1 <= I <= K, got {i}/{of}")
        return self.shards[i - 1 :: of]

    def write(self, path: Path) -> None:
        write_atomically(path, self.data())

    @staticmethod
    def read(path: Path) -> Plan:
        """The plan in a file whose bytes are exactly those that `write` gives for it."""
        data = path.read_bytes()
        try:
            plan = Plan._parsed(data)
            if plan.data() != data:
                raise Malformed("ids, order or spelling are not those of the planner")
        except (Malformed, UsageError, ValueError, TypeError, KeyError, ZeroDivisionError) as error:
            raise MalformedInput(f"{path} is no plan of a sweep: {error}") from None
        return plan

    @staticmethod
    def _parsed(data: bytes) -> Plan:
        content = record(load_json(data), "plan", ["format", "settings", "shards"])
        if content["format"] != FORMAT:
            raise Malformed(f"the format is {shown(content['format'])}, expected {FORMAT}")
        settings = Settings(**record(content["settings"], "settings", [field.name for field in fields(Settings)]))
        tasks = []
        for shard in content["shards"]:
            given = record(shard, "shard", ["id", *NAMES])
            tasks.append((given["m"], given["r"], given["n"], Fraction(given["eps"]), given["seed"]))
        return Plan.of(tasks, settings)


def grid(text: str) -> list[Task]:
    """The tasks of "m=4:6,r=m-2,seed=0:3": for each name one or more values A or ranges A:B (both ends included),
    separated by commas. m and r are needed, n=3, eps=1/2 and seed=0 are assumed. In r, "m", "m-2" and "m+1" stand for
    what they say at each m; eps has values only, as 1/2."""
    parts: dict[str, list[str]] = {}
    name = ""
    for piece in text.replace(" ", "").split(","):
        before, equals, value = piece.rpartition("=")
        if equals:
            name = before
            if name not in NAMES:
                raise UsageError(f"a sweep: expected one of {', '.join(NAMES)} before =, got {shown(piece)}")
            if name in parts:
                raise UsageError(f"a sweep: {name} is given twice in {shown(text)}")
        if not name:
            raise UsageError(f"a sweep: expected NAME=VALUES, as m=4:6,r=m-2,seed=0:3, got {shown(text)}")
        parts.setdefault(name, []).append(value)
    for needed in ("m", "r"):
        if needed not in parts:
            raise UsageError(f"a sweep: {needed} is missing in {shown(text)}")
    lists = {name: _values(name, parts.get(name, [usual])) for name, usual in (("m", ""), ("n", "3"), ("seed", "0"))}
    epsilons = [_fraction(value) for value in parts.get("eps", ["1/2"])]
    tasks = []
    for m in lists["m"]:
        for r, n, eps, seed in product(_values("r", parts["r"], m), lists["n"], epsilons, lists["seed"]):
            tasks.append((m, r, n, eps, seed))
            if len(tasks) > MOST:
                raise UsageError(f"a sweep: expected at most {MOST} shards in {shown(text)}")
    return tasks


_TERM = re.compile(r"(m)?((?:(?<=m)[+-])?[0-9]{1,13})?", re.ASCII)


def _values(name: str, pieces: Iterable[str], m: int | None = None) -> list[int]:
    found: list[int] = []
    for piece in pieces:
        ends = []
        for term in piece.split(":"):
            match = _TERM.fullmatch(term)
            if not match or not term or (match[1] and (m is None or (match[2] and match[2].isdigit()))):
                raise UsageError(f"a sweep: {name}: expected an integer A or a range A:B, got {shown(piece)}")
            ends.append((m or 0 if match[1] else 0) + int(match[2] or 0))
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise UsageError(f"a sweep: {name}: expected A or A:B with A <= B, got {shown(piece)}")
        if ends[-1] - ends[0] >= MOST:
            raise UsageError(f"a sweep: {name}: expected at most {MOST} values, got {shown(piece)}")
        found += range(ends[0], ends[-1] + 1)
    return found


def _fraction(text: str) -> Fraction:
    if not re.fullmatch(r"[0-9]{1,40}/0*[1-9][0-9]{0,39}", text, re.ASCII):
        raise UsageError(f"a sweep: eps: expected a fraction p/q, got {shown(text)}")
    return Fraction(text)
