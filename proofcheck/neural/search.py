"""Heads of rank r that are correct on the whole task, searched by gradient descent and certified exactly.

    search     B heads at once, with restarts; an `Outcome`: certificates of what was found, or a refutation of the
               nearest failure

Only kernels are trained: by B0 a readout exists exactly where the margins of `margins` are positive. Features are
products of free tables, in one of these PARAMETRISATIONS:

    bounded  phiQ = exp(free), phiK = sigmoid(free): positive, and of moderate range, so that small integers will do
    exp      phi = exp(free): positive, of any range
    signed   phi = free, and alpha >= 0 is enforced by the loss

Each restart draws B heads (or disturbs a `warm` start), anneals the sharpness of the soft maximum and the learning
rate, and halves the number of heads at fixed steps by their best excess so far. As soon as one head has all excesses
below -MARGIN it alone is trained on, for a larger margin and hence smaller integers, and made rational; restarts end
with the first head that passes exactly. Everything is determined by the arguments and the seed (and by torch's
version, the number of threads and the device); floats decide nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from proofcheck import exhaust
from proofcheck.certificate import Checked, certify
from proofcheck.errors import UsageError
from proofcheck.heads import Floats
from proofcheck.heads.tables import table
from proofcheck.kernel.exact import OverBudget
from proofcheck.theorems.bundle import foundation

from .margins import Levels, excess, relaxed
from .rationalise import IntegerHead, holds, rationalise

PARAMETRISATIONS = ("bounded", "exp", "signed")
MARGIN = 1e-3  # of all excesses in floats, before a head is tried exactly
FLOOR = 1e-3
LARGEST = 12  # m: 4^m kernel values per head
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Settings:
    """How one restart is run."""

    steps: int = 3000
    rate: float = 0.05
    last_rate: float = 0.05  # the learning rate at the end, as a share of the first
    sharpness: tuple[float, float] = (4.0, 150.0)
    halvings: tuple[float, ...] = (0.15, 0.3, 0.5)  # shares of the steps after which half of the heads are dropped
    polish: int = 600
    parametrisation: str = "bounded"
    spread: float = 1.0  # standard deviation of the free parameters


@dataclass(frozen=True)
class Attempt:
    """One restart: the best largest excess of its heads, at which step, and how many of them reached MARGIN."""

    restart: int
    heads: int
    steps: int
    best: float
    best_step: int
    exact: bool


@dataclass
class Outcome:
    """`head` and its certificates, or the refutation of the head that came nearest. `near` is the largest excess of
    the best head in floats: at most 0 only for heads that were tried exactly."""

    m: int
    r: int
    n: int
    eps: Fraction
    seed: int
    device: str
    attempts: list[Attempt] = field(default_factory=list)
    head: IntegerHead | None = None
    exists: Checked | None = None
    correct: Checked | None = None
    refutation: exhaust.Refutation | None = None
    note: str = ""
    seconds: float = 0.0

    @property
    def near(self) -> float:
        return min((attempt.best for attempt in self.attempts), default=float("inf"))


Progress = Callable[[str], None]


def search(
    m: int,
    r: int,
    n: int = 3,
    eps: Fraction = HALF,
    *,
    heads: int = 8,
    restarts: int = 4,
    seed: int = 0,
    device: str = "auto",
    settings: Settings | None = None,
    warm: tuple[Floats, Floats] | None = None,
    command: str | None = None,
    progress: Progress = lambda line: None,
) -> Outcome:
    """A head of rank r on tokens of m bits with error < eps at all lengths 1..n, or how near the search came."""
    settings = settings or Settings()
    if not 1 <= m <= LARGEST or r < 1 or heads < 1 or restarts < 1:
        raise UsageError(f"expected 1 <= m <= {LARGEST} and r, heads, restarts >= 1, got {m}, {r}, {heads}, {restarts}")
    if settings.parametrisation not in PARAMETRISATIONS:
        raise UsageError(f"expected a parametrisation of {', '.join(PARAMETRISATIONS)}")
    began = time.perf_counter()
    where = chosen_device(device)
    command = command or f"proofcheck search -m {m} -r {r} -n {n} --eps {eps} --heads {heads} --seed {seed}"
    outcome = Outcome(m, r, n, eps, seed, where)
    levels = Levels.build(m, n, eps, where)
    nearest: tuple[float, Floats, Floats] | None = None
    for restart in range(restarts):
        source = torch.Generator().manual_seed(seed * 1_000_003 + restart)
        run = Restart(levels, r, heads, source, settings, warm)
        run.train(lambda line, i=restart: progress(f"restart {i}: {line}"))  # type: ignore[misc]
        queries, keys = run.best_features()
        head = rationalise(queries, keys, n, eps) if run.best < 0 else None
        outcome.attempts.append(Attempt(restart, heads, run.step, run.best, run.best_step, head is not None))
        if nearest is None or run.best < nearest[0]:
            nearest = run.best, queries, keys
        if head is not None:
            outcome.head = head
            outcome.exists, outcome.correct, outcome.note = certificates(head, n, eps, command, seed)
            break
    if outcome.head is None and nearest is not None:
        refuted = exhaust.decide(integral(m, *nearest[1:]), n, eps, command=command, certified=False)
        if isinstance(refuted, exhaust.Refutation):
            outcome.refutation = refuted
        else:
            outcome.note = f"the nearest head is neither exact nor refuted: {type(refuted).__name__}"
    outcome.seconds = time.perf_counter() - began
    return outcome


class Restart:
    """B heads in one set of tensors; `best` is the least largest excess seen, with the parameters that had it."""

    def __init__(
        self,
        levels: Levels,
        rank: int,
        heads: int,
        source: torch.Generator,
        settings: Settings,
        warm: tuple[Floats, Floats] | None,
    ) -> None:
        self.levels, self.settings = levels, settings
        self.signed = settings.parametrisation == "signed"
        shape = (2, heads, 1 << levels.m, rank)
        free = torch.randn(shape, generator=source) * settings.spread
        if warm is not None:
            given = torch.tensor(np.stack(warm), dtype=torch.float32)[:, None]
            free = given + free if self.signed else given.clamp(min=1e-6).log() + free
        elif self.signed:
            free[..., 0] += 3  # mostly positive kernels to begin with
        self.free = free.to(levels.order.device)
        self.best, self.best_step, self.step = float("inf"), 0, 0
        self.kept = self.free[:, 0].clone()

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        if self.signed:
            return free[0], free[1]
        return free[0].exp(), free[1].exp() if self.settings.parametrisation == "exp" else free[1].sigmoid()

    def best_features(self) -> tuple[Floats, Floats]:
        queries, keys = self.features(self.kept.double())
        return queries.cpu().numpy(), keys.cpu().numpy()

    def train(self, progress: Progress) -> None:
        """Anneals until a head reaches MARGIN or the steps are used up; then polishes that head."""
        settings = self.settings
        first, last = settings.sharpness
        halvings = {int(share * settings.steps) for share in settings.halvings}
        least = torch.full((self.free.shape[1],), float("inf"), device=self.free.device)
        free, optimiser = self._begin(self.free, settings.rate)
        for i in range(settings.steps):
            share = i / settings.steps
            largest = self._advance(free, optimiser, first * (last / first) ** share, settings.last_rate**share)
            least = torch.minimum(least, largest)
            if self.best < -MARGIN:
                break
            if i in halvings and len(least) > 1:
                keep = least.argsort()[: (len(least) + 1) // 2]
                least = least[keep]
                free, optimiser = self._kept(free, optimiser, keep)
            if i % 200 == 0:
                progress(f"step {i}, {len(least)} heads, largest excess {self.best:.4f}")
        if self.best < -MARGIN:
            free, optimiser = self._begin(self.kept[:, None], settings.rate * 0.3)
            for i in range(settings.polish):
                self._advance(free, optimiser, last, 0.1 ** (i / settings.polish))
            progress(f"step {self.step}, polished, largest excess {self.best:.4f}")

    def _begin(self, start: Tensor, rate: float) -> tuple[Tensor, torch.optim.Adam]:
        free = start.detach().clone().requires_grad_()
        return free, torch.optim.Adam([free], lr=rate, betas=(0.9, 0.99))

    def _kept(self, free: Tensor, optimiser: torch.optim.Adam, keep: Tensor) -> tuple[Tensor, torch.optim.Adam]:
        """The same run with fewer heads."""
        state: dict[str, Any] = optimiser.state[free]
        fewer, other = self._begin(free[:, keep], self.settings.rate)
        other.state[fewer] = {
            name: value[:, keep].clone() if value.ndim else value.clone() for name, value in state.items()
        }
        return fewer, other

    def _advance(self, free: Tensor, optimiser: torch.optim.Adam, sharpness: float, share: float) -> Tensor:
        """One step; the largest excess of each head before it."""
        values = excess(*self.features(free), self.levels, FLOOR if self.signed else None)
        if not values.shape[1]:  # nothing to satisfy but positivity, as at m = 1
            values = torch.full((free.shape[1], 1), -1.0, device=free.device)
            largest = values.amax(1)
        else:
            largest = values.detach().amax(1)
            for group in optimiser.param_groups:
                group["lr"] = group.setdefault("first", group["lr"]) * share
        now, place = largest.min(0)
        if float(now) < self.best:
            self.best, self.best_step = float(now), self.step
            self.kept = free.detach()[:, place].clone()
        if values.requires_grad:
            optimiser.zero_grad()
            relaxed(values, sharpness).sum().backward()
            optimiser.step()
        self.step += 1
        return largest


def certificates(
    head: IntegerHead, n: int, eps: Fraction, command: str, seed: int
) -> tuple[Checked | None, Checked | None, str]:
    """`head-exists` by the rule table-head, `kernel-correct` by levels, and a note on what did not fit."""
    queries, keys = head.queries.tolist(), head.keys.tolist()
    m, rank = len(queries).bit_length() - 1, len(queries[0])
    rested = [foundation("domination-sufficient")[1]]
    tools = {"torch": torch.__version__}
    found: list[Checked | None] = []
    notes = []
    for claim, rule, parameters, witness in (
        ("head-exists", "table-head", {"rank": rank}, {"queries": queries, "keys": keys}),
        ("kernel-correct", "levels", {"additive": 0, "queries": queries, "keys": keys}, {}),
    ):
        given = {"m": m, "n": n, "eps": eps, **parameters}
        try:
            found.append(certify(claim, given, rule, witness, command=command, uses=rested, tools=tools, seed=seed))
        except OverBudget as error:
            found.append(None)
            notes.append(f"{claim}: {error}")
    return found[0], found[1], "; ".join(notes)


def integral(m: int, queries: Floats, keys: Floats) -> Any:
    """The table head of these features rounded to 2^-20 of the largest in a column of keys and in a row of queries."""
    scale = np.abs(keys).max(axis=0)
    scale[scale == 0] = 1
    rows = np.abs(queries * scale).max(axis=1, keepdims=True)
    rows[rows == 0] = 1
    grids = [np.rint(part * (1 << 20)).astype(np.int64) for part in (queries * scale / rows, keys / scale)]
    return table(grids[0], grids[1], name=f"search-m{m}-r{keys.shape[1]}")


def chosen_device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise UsageError(f"--device: expected auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device: cuda was asked for, and torch finds no such device")
    return name


__all__ = ["Attempt", "Outcome", "Restart", "Settings", "certificates", "holds", "search"]
