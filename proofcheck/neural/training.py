"""Gradient descent on the violations of B heads at once, annealed, with a number of heads that is halved on the way.

What is trained, and what heads start from, is said in `parametrisations`.

The sharpness of the soft maximum rises and the learning rate falls geometrically. The soft maximum of P excesses is too
large by up to log P / sharpness, so the last sharpness must be well above log P / MARGIN for the last few violations
to be seen. Adam treats each number by itself, so heads do not influence each other, and dropping some changes nothing
for the others.

    Settings   how one restart is run
    Restart    B heads; afterwards the best one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proofcheck.errors import UsageError
from proofcheck.heads import Floats

from .checkpoints import Arrays
from .margins import Levels, relaxed
from .parametrisations import LAYER, STARTS, Layer, Parametrisation, make

MARGIN = 1e-3  # of all excesses in floats, before a head is tried exactly


@dataclass(frozen=True)
class Settings:
    """How one restart is run."""

    steps: int = 3000
    rate: float = 0.05
    last_rate: float = 0.02  # the learning rate at the end, as a share of the first
    sharpness: tuple[float, float] = (4.0, 1000.0)
    halvings: tuple[float, ...] = (0.1, 0.2, 0.4)  # shares of the steps after which half of the heads are dropped
    polish: int = 400
    parametrisation: str = "bounded"
    start: str = "mixtures"
    spread: float = 0.3  # standard deviation of the disturbance of a start
    layer: Layer = LAYER  # options of token-local maps


class Restart:
    """B heads in one set of tensors; `best` is the least largest violation seen (the excess of B0, unless `maps` have
    another), with the parameters that had it."""

    def __init__(
        self,
        levels: Levels,
        rank: int,
        heads: int,
        source: torch.Generator,
        settings: Settings,
        warm: tuple[Floats, Floats] | None,
        maps: Parametrisation | None = None,
    ) -> None:
        if settings.start not in STARTS:
            raise UsageError(f"expected start of {', '.join(STARTS)}, got {settings.start!r}")
        device = levels.query.device
        self.levels, self.settings = levels, settings
        self.maps = maps or make(settings.parametrisation, levels.m, rank, settings.layer, str(device))
        self._begin(self.maps.start(heads, source, settings.start, settings.spread, warm).to(device))
        self.best, self.best_step, self.step = float("inf"), 0, 0
        self.kept = self.free.detach()[:, 0].clone()
        self.least = torch.full((heads,), float("inf"), device=self.free.device)
        self.annealed, self.polished = 0, 0  # steps of either kind
        self.polishing: tuple[float, float] | None = None  # sharpness and first rate of the polishing

    def best_features(self) -> tuple[Floats, Floats]:
        queries, keys = self.maps.features(self.kept.double()[:, None])
        return queries[0].cpu().numpy(), keys[0].cpu().numpy()

    def train(
        self, progress: Callable[[str], None], save: Callable[[], None] = lambda: None, every: int | None = None
    ) -> None:
        """Anneals until a head reaches MARGIN or the steps are used up; then polishes that head, at the sharpness and
        from the rate it was found with. `save` is called after every `every` steps, when `state` may be taken."""
        while not self.finished:
            if self.polishing is None:
                self._anneal(progress)
            else:
                sharpness, rate = self.polishing
                self._advance(sharpness, rate * 0.1 ** (self.polished / self.settings.polish))
                self.polished += 1
            if every and self.step % every == 0:
                save()

    @property
    def finished(self) -> bool:
        if self.polishing is None:
            return self.annealed >= self.settings.steps
        return self.polished >= self.settings.polish or self.best < self.maps.enough

    def _anneal(self, progress: Callable[[str], None]) -> None:
        settings, i = self.settings, self.annealed
        first, last = settings.sharpness
        share = i / settings.steps
        sharpness, rate = first * (last / first) ** share, settings.rate * settings.last_rate**share
        largest = self._advance(sharpness, rate)
        self.least = torch.minimum(self.least, largest)
        self.annealed += 1
        if self.best < -MARGIN:
            progress(f"step {i}, largest excess {self.best:.4f}, polishing")
            keep = largest.argmin()[None]
            self.least = self.least[keep]
            self._keep(keep)
            self.polishing = sharpness, rate
            return
        if i in {int(share * settings.steps) for share in settings.halvings} and len(self.least) > 1:
            keep = self.least.argsort()[: (len(self.least) + 1) // 2]
            self.least = self.least[keep]
            self._keep(keep)
        if i % 200 == 0:
            progress(f"step {i}, {len(self.least)} heads, largest excess {self.best:.4f}")

    def state(self) -> Arrays:
        """Everything that the steps to come depend on, and the best so far. The numbers drawn at random are all in
        the start, so no generator is kept."""
        polishing = self.polishing or (0.0, 0.0)
        numbers = [self.best, self.best_step, self.step, self.annealed, self.polished, self.polishing is not None]
        tensors = {"least": self.least, "kept": self.kept, "free": self.free.detach()}
        tensors |= {f"adam.{name}": value for name, value in self.optimiser.state[self.free].items()}
        arrays = {name: value.cpu().numpy() for name, value in tensors.items()}
        return {"numbers": np.array([*numbers, *polishing], dtype=np.float64), **arrays}

    def result(self) -> Arrays:
        """As much of a finished restart's state as `best_features` and its report need."""
        return {name: self.state()[name] for name in ("numbers", "kept")}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Takes over a `state`, or the `result` of a restart that has finished."""
        best, best_step, step, annealed, polished, is_polishing, *polishing = arrays["numbers"].tolist()
        self.best, self.best_step, self.step = best, int(best_step), int(step)
        self.annealed, self.polished = int(annealed), int(polished)
        self.polishing = (polishing[0], polishing[1]) if is_polishing else None
        self.kept = self._taken(arrays["kept"], self.kept.shape)
        if "free" in arrays:
            shape = self.free.shape
            self.least = self._taken(arrays["least"], (len(arrays["least"]),))
            self._begin(self._taken(arrays["free"], (shape[0], len(self.least), *shape[2:])))
            moments = {name.removeprefix("adam."): value for name, value in arrays.items() if name.startswith("adam.")}
            state = self.optimiser.state[self.free]
            for name, value in moments.items():
                state[name] = self._taken(value, self.free.shape) if value.ndim else torch.tensor(value)

    def _taken(self, array: NDArray[Any], shape: tuple[int, ...]) -> Tensor:
        if array.dtype != np.float32 or array.shape != tuple(shape):
            raise ValueError(f"an array is {array.dtype} of shape {array.shape}, expected float32 of {tuple(shape)}")
        return torch.from_numpy(array).to(self.free.device)

    def _begin(self, start: Tensor) -> None:
        self.free = start.detach().clone().requires_grad_()
        self.optimiser = torch.optim.Adam([self.free], lr=self.settings.rate, betas=(0.9, 0.99))

    def _keep(self, keep: Tensor) -> None:
        """The same run with fewer heads."""
        state: dict[str, Any] = self.optimiser.state[self.free]
        self._begin(self.free[:, keep])
        self.optimiser.state[self.free] = {
            name: value[:, keep].clone() if value.ndim else value.clone() for name, value in state.items()
        }

    def _advance(self, sharpness: float, rate: float) -> Tensor:
        """One step; the largest excess of each head before it."""
        free, optimiser = self.free, self.optimiser
        values = self.maps.violations(free, self.levels)
        if not values.shape[1]:  # no pair of levels asks for anything, as at m = 1: positive features will do
            values = torch.full((free.shape[1], 1), -1.0, device=free.device)
        largest = values.detach().amax(1)
        now, place = largest.min(0)
        if float(now) < self.best:
            self.best, self.best_step = float(now), self.step
            self.kept = free.detach()[:, place].clone()
        if values.requires_grad:
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.zero_grad()
            torch.autograd.backward([relaxed(values, sharpness).sum()])
            optimiser.step()
        self.step += 1
        return largest
