"""Gradient descent on the excesses of B heads at once, annealed, with a number of heads that is halved on the way.

Features are made of free tables, in one of these PARAMETRISATIONS:

    bounded  phiQ = exp(free), phiK = sigmoid(free): positive, and of moderate range, so that small integers will do
    exp      phi = exp(free): positive, of any range
    signed   phi = free, and alpha >= 0 is enforced by the loss

Where no warm start is given, heads START from

    mixtures  the structured heads of `warm.mixtures`, different for each head
    normal    free parameters of the standard normal distribution

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

from proofcheck.heads import Floats

from .checkpoints import Arrays
from .margins import Levels, excess, relaxed
from .warm import mixtures

PARAMETRISATIONS = ("bounded", "exp", "signed")
STARTS = ("mixtures", "normal")
MARGIN = 1e-3  # of all excesses in floats, before a head is tried exactly
FLOOR = 1e-3
CEILING, TINY = 0.9, 1e-4  # of positive features of a warm start


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
        free = torch.randn(shape, generator=source)
        if warm is None and settings.start == "mixtures":
            seeded = np.random.default_rng(int(torch.randint(1 << 62, (), generator=source)))
            warm = mixtures(levels.m, rank, heads, seeded)
        if warm is not None:
            free = free * settings.spread
            free = free + self.inverse(torch.tensor(np.stack(warm), dtype=torch.float32).view(2, -1, *shape[2:]))
        elif self.signed:
            free[..., 0] += 3  # mostly positive kernels to begin with
        self._begin(free.to(levels.query.device))
        self.best, self.best_step, self.step = float("inf"), 0, 0
        self.kept = self.free.detach()[:, 0].clone()
        self.least = torch.full((heads,), float("inf"), device=self.free.device)
        self.annealed, self.polished = 0, 0  # steps of either kind
        self.polishing: tuple[float, float] | None = None  # sharpness and first rate of the polishing

    def features(self, free: Tensor) -> tuple[Tensor, Tensor]:
        if self.signed:
            return free[0], free[1]
        return free[0].exp(), free[1].exp() if self.settings.parametrisation == "exp" else free[1].sigmoid()

    def inverse(self, features: Tensor) -> Tensor:
        """The free parameters of given features (2, B, 2^m, r), positive unless the parametrisation is signed;
        for bounded keys the largest of each column becomes CEILING."""
        if self.signed:
            return features
        if self.settings.parametrisation == "exp":
            return features.clamp(min=TINY).log()
        scale = features[1].amax(1, keepdim=True) / CEILING
        queries, keys = features[0] * scale, features[1] / scale
        rows = queries.amax(2, keepdim=True)
        return torch.stack([(queries / rows).clamp(min=TINY).log(), keys.clamp(min=TINY).logit()])

    def best_features(self) -> tuple[Floats, Floats]:
        queries, keys = self.features(self.kept.double())
        return queries.cpu().numpy(), keys.cpu().numpy()

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
        return self.polished >= self.settings.polish

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
            self._begin(self._taken(arrays["free"], (2, len(self.least), *shape[2:])))
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
        values = excess(*self.features(free), self.levels, FLOOR if self.signed else None)
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
