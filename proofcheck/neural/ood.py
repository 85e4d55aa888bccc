"""Experiment 5.2: one head trained on many Min-IP sequences and tested on held-out ones, against its feature rank.

A sequence at scale (M, q, n = 2q) has q query tokens (0, 1, x_{S^c}) and q database slots (1, 0, x_U), from q distinct
words S of weight M/2. Slot i holds query i's matching token, U = S_i, of overlap |U \\ S_i| = 0: target 0; or safe
padding, of overlap 1 with its own query and at least 1 with the others: target 1. The paper does not say which padding:

    exchanged  U = S_i - f + e, none of the words: of the same weight as a match, so that weight tells nothing
    extended   U = S_i + e: one heavier than a match

Queries overlap each other and themselves in the second bit, and positions are hidden.

Train and test pools are disjoint: half of the 2^q assignments (which slots match), half of the words, and different
permutations of the coordinates, one of which is applied to a whole sequence. All three of a test sequence are held out
jointly. A permutation may carry a word of one half to a word of the other, as it must where every word of weight M/2
lies in one of the halves; no test sequence is a training sequence as a set of tokens.

Heads. phiQ and phiK are exp or softplus of affine maps of the token: r positive features. Values are dv = 16 affine
maps of the token, and the readout is affine with coefficients that are affine in the query: with dv >= M + 3 that is
every g(x,z) bilinear in (x,1) and (z,1). The dense control has softmax of bilinear scores, and the same readout.
Exact-sequence accuracy is the share of test sequences on which every query's error is < 1/2 (in floats).

    Scale, SCALES   (M, q), n = 2q
    pools           the training and the test sequences of one seed
    run             all seeds of one rank (0: dense) at one scale, in one set of tensors
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proofcheck.errors import UsageError

from .finite_family import FEATURES, positive

WIDTH = 16  # dv
DENSE = 0  # stands for the dense control among the ranks
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SEEDS = 5
PERMUTATIONS = 64  # in each pool
TRANSITION = 0.9
PADDINGS = ("exchanged", "extended")

Bits = NDArray[np.float32]


@dataclass(frozen=True)
class Scale:
    """M-bit words of weight M/2, q of them in a sequence of n = 2q tokens."""

    M: int
    q: int

    @property
    def n(self) -> int:
        return 2 * self.q


SCALES = (Scale(6, 4), Scale(8, 6), Scale(10, 8))


@dataclass(frozen=True)
class Settings:
    """How heads are trained: Adam on the mean squared error of all queries, with a rate that falls to `last_rate` of
    itself."""

    steps: int = 3000
    batch: int = 64
    rate: float = 0.02
    last_rate: float = 0.02
    train: int = 8192  # sequences
    test: int = 1024
    features: str = "softplus"
    spread: float = 0.5  # standard deviation of the free numbers of feature maps to begin with
    readout: float = 0.3  # of values and coefficients, as a share of 1/sqrt(M + 3)
    padding: str = "exchanged"

    def check(self) -> None:
        if self.features not in FEATURES:
            raise UsageError(f"expected features of {', '.join(FEATURES)}, got {self.features!r}")
        if self.padding not in PADDINGS:
            raise UsageError(f"expected a padding of {', '.join(PADDINGS)}, got {self.padding!r}")


@dataclass(frozen=True)
class Pool:
    """Sequences: tokens (sequences, n, M + 2), the queries first, and the targets (sequences, q). Heads do not see
    positions, so the order within a sequence says nothing to them."""

    tokens: Bits
    targets: Bits


@dataclass(frozen=True)
class Source:
    """What sequences are drawn from."""

    assignments: NDArray[np.int64]
    words: NDArray[np.int64]
    permutations: NDArray[np.int64]


def sources(scale: Scale, seed: int) -> tuple[Source, Source]:
    """The train and the test pool of one seed, disjoint in all three parts."""
    rng = np.random.default_rng([seed, scale.M, scale.q])
    words = np.array([sum(1 << e for e in chosen) for chosen in combinations(range(scale.M), scale.M // 2)])
    words = rng.permutation(words)
    assignments = rng.permutation(1 << scale.q)
    permutations: dict[tuple[int, ...], None] = {}
    while len(permutations) < 2 * PERMUTATIONS:
        permutations[tuple(rng.permutation(scale.M).tolist())] = None
    listed = np.array(list(permutations))
    halves = []
    for part in (0, 1):
        halves.append(
            Source(
                np.array_split(assignments, 2)[part], np.array_split(words, 2)[part], np.array_split(listed, 2)[part]
            )
        )
    return halves[0], halves[1]


@functools.lru_cache(maxsize=2 * SEEDS)
def pools(scale: Scale, seed: int, train: int, test: int, padding: str = "exchanged") -> tuple[Pool, Pool]:
    """Training and test sequences. A test sequence that has the tokens of a training sequence is drawn again."""
    first, second = sources(scale, seed)
    drawn = _draw(scale, first, padding, np.random.default_rng([seed, scale.M, scale.q, 1]))
    seen: set[frozenset[tuple[int, int]]] = set()
    listed = [next(drawn) for _ in range(train)]
    seen.update(tokens for tokens, _, _ in listed)
    held = (item for item in _draw(scale, second, padding, np.random.default_rng([seed, scale.M, scale.q, 2])))
    others: list[tuple[frozenset[tuple[int, int]], list[tuple[int, int]], list[int]]] = []
    while len(others) < test:
        item = next(held)
        if item[0] not in seen:
            others.append(item)
    return _pool(scale, listed), _pool(scale, others)


Drawn = tuple[frozenset[tuple[int, int]], list[tuple[int, int]], list[int]]


def _draw(scale: Scale, source: Source, padding: str, rng: np.random.Generator) -> Iterator[Drawn]:
    """(tokens as a set, tokens, targets), a token being its kind (1 for queries) and its M bits."""
    full = (1 << scale.M) - 1
    while True:
        words = [int(word) for word in rng.choice(source.words, scale.q, replace=False)]
        assignment = int(rng.choice(source.assignments))
        order = source.permutations[rng.integers(len(source.permutations))].tolist()
        tokens = [(1, full & ~word) for word in words]
        targets = []
        for i, word in enumerate(words):
            match = assignment >> i & 1
            targets.append(1 - match)
            tokens.append((0, word if match else _padding(scale.M, word, words, padding, rng)))
        tokens = [(kind, _moved(bits, order)) for kind, bits in tokens]
        yield frozenset(tokens), tokens, targets


def _padding(m: int, word: int, words: Sequence[int], padding: str, rng: np.random.Generator) -> int:
    """`word` with one element more, or with one exchanged so that it is none of the words."""
    if padding == "extended":
        return word | 1 << int(rng.choice([e for e in range(m) if not word >> e & 1]))
    choices = [
        word ^ (1 << e) ^ (1 << f)
        for e in range(m)
        for f in range(m)
        if word >> f & 1 and not word >> e & 1 and word ^ (1 << e) ^ (1 << f) not in words
    ]
    return choices[int(rng.integers(len(choices)))]


def _moved(bits: int, order: Sequence[int]) -> int:
    return sum(1 << image for e, image in enumerate(order) if bits >> e & 1)


def _pool(scale: Scale, listed: Sequence[Drawn]) -> Pool:
    places = np.arange(scale.M)
    bits = np.array([[token for _, token in tokens] for _, tokens, _ in listed])
    kinds = np.array([[[1 - kind, kind] for kind, _ in tokens] for _, tokens, _ in listed])
    parts = [kinds, bits[..., None] >> places & 1]
    return Pool(np.concatenate(parts, -1).astype(np.float32), np.array([t for _, _, t in listed], dtype=np.float32))


# ------------------------------------------------------------------------------------------------- heads


@dataclass(frozen=True)
class Result:
    """One head: exact-sequence accuracy on the test and on the training pool, and the last loss."""

    rank: int
    seed: int
    accuracy: float
    train_accuracy: float
    loss: float


def run(
    scale: Scale,
    rank: int,
    seeds: Sequence[int],
    settings: Settings,
    device: str = "cpu",
    threads: int | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """All seeds of one rank at once: each with its own pools, its own start and its own order of batches."""
    settings.check()
    if threads is not None:
        torch.set_num_threads(threads)
    both = [pools(scale, seed, settings.train, settings.test, settings.padding) for seed in seeds]
    train_x, train_y, test_x, test_y = (
        torch.from_numpy(np.stack(part)).to(device)
        for part in (
            [pair[0].tokens for pair in both],
            [pair[0].targets for pair in both],
            [pair[1].tokens for pair in both],
            [pair[1].targets for pair in both],
        )
    )
    size = scale.M + 3
    starts, orders = [], []
    for seed in seeds:
        source = torch.Generator().manual_seed(1_000_003 * seed + 1000 * scale.M + rank)
        shapes = [(size, size), (1, 1)] if rank == DENSE else [(size, rank), (size, rank)]
        parts = [torch.randn(shape, generator=source) * settings.spread for shape in shapes]
        parts += [torch.randn((size, WIDTH), generator=source) * settings.readout / size**0.5 for _ in range(2)]
        starts.append(parts)
        orders.append(torch.randint(settings.train, (settings.steps, settings.batch), generator=source))
    free = [torch.stack(part).to(device).requires_grad_() for part in zip(*starts, strict=True)]
    order = torch.stack(orders).to(device)
    heads = torch.arange(len(seeds), device=device)[:, None]
    optimiser = torch.optim.Adam(free, lr=settings.rate)
    losses = torch.zeros(len(seeds))
    for step in range(settings.steps):
        chosen = order[:, step]
        off = answers(free, train_x[heads, chosen], scale, rank, settings.features) - train_y[heads, chosen]
        losses = off.square().mean((1, 2))
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * settings.last_rate ** (step / settings.steps)
        optimiser.zero_grad()
        torch.autograd.backward([losses.sum()])
        optimiser.step()
        if step % 500 == 0:
            progress(f"M={scale.M}, rank {rank}, step {step}, losses {[round(v, 4) for v in losses.tolist()]}")
    with torch.no_grad():
        held = _accuracy(free, test_x, test_y, scale, rank, settings)
        known = _accuracy(free, train_x[:, : settings.test], train_y[:, : settings.test], scale, rank, settings)
    return [Result(rank, seed, held[i], known[i], float(losses[i].detach())) for i, seed in enumerate(seeds)]


def answers(free: Sequence[Tensor], tokens: Tensor, scale: Scale, rank: int, features: str) -> Tensor:
    """(heads, sequences, q) from tokens (heads, sequences, n, M + 2)."""
    one = torch.cat([tokens, torch.ones_like(tokens[..., :1])], -1)
    heads, count, n, size = one.shape
    flat = one.view(heads, count * n, size)
    query = one[:, :, : scale.q].reshape(heads, count * scale.q, size)

    def mapped(of: Tensor, matrix: Tensor) -> Tensor:
        return (of @ matrix).view(heads, count, -1, matrix.shape[-1])

    g = mapped(query, free[2]) @ mapped(flat, free[3]).mT
    if rank == DENSE:
        weights = (mapped(query, free[0]) @ one.mT).softmax(-1)
        return (weights * g).sum(-1)
    alpha = positive(mapped(query, free[0]), features) @ positive(mapped(flat, free[1]), features).mT
    return (alpha * g).sum(-1) / alpha.sum(-1)


def _accuracy(
    free: Sequence[Tensor], tokens: Tensor, targets: Tensor, scale: Scale, rank: int, settings: Settings
) -> list[float]:
    right = []
    for start in range(0, tokens.shape[1], settings.batch):
        part = slice(start, start + settings.batch)
        off = answers(free, tokens[:, part], scale, rank, settings.features) - targets[:, part]
        right.append((off.abs() < 0.5).all(-1).float())
    return [float(value) for value in torch.cat(right, 1).mean(1)]
