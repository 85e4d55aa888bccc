"""Experiment 5.1: free lookup tables trained on a finite family of inputs of three tokens, every run decided exactly.

The family. Fifteen 24-bit words of weight 12 at directed distance >= 6. For each of the 210 ordered pairs (S, U) the
query is x = S, and a chain of floor(D/3) jumps, D = |S \\ U|, leads from S^c (overlap 0) to U^c (overlap D); the first
jump is 3 + D mod 3, the others are 3. A jump y -> z from overlap t to u emits (x,y,y), (x,z,z) and (x,y,z), with the
targets t, u, t. The tokens inside a chain are the lowest elements of S, so that chains of one query share them.

A head of rank r has one positive r-vector for each query and for each key token, and one scalar g for each query and
token: its answer is sum alpha g / sum alpha. It succeeds if its largest error over the family is < 1/2.

What is excluded. A head that succeeds satisfies Lemma 3 at every jump, so alpha(S,S^c) > Lambda(D) alpha(S,U^c) where
Lambda(D) is the product of mu over the jumps of that chain. By B2 (mathematics.md) the rank exceeds
|G|^2 / sum Lambda(D)^-2. The paper takes Lambda = 4 for all pairs. With the best chain w(D) for Lambda(D) more is
excluded, but the best chains have other jumps (0 -> 6, for one), whose inputs are not in the family: that bound is
about heads that are correct on all sequences of three tokens.

What is exact. Trained tables are float32 numbers, which are rationals; the largest error of a run is computed with
integers. A run that fails ends as a certificate: three tokens at which its kernel breaks B0 (no values and no readout
would do), or an input at which it errs by 1/2 or more.

Where runs stop. With rho = alpha(x,y)/alpha(x,z) at a jump of d, and alpha(x,x) small, the best g leaves an error of
d / (2 (rho + 1)), which is < 1/2 for rho > d - 1. So a jump of 3 whose order a run has not learned costs 3/4 where both
keys weigh the same and 3/2 where they are in the wrong order: two levels that are seen in practice, 3/4 with a soft
maximum of the errors as loss, 3/2 with their squares.

    Family       tokens, jumps and inputs; `paper_family` is the one that is shipped
    exclusions   certified bounds on the rank, with the inputs that each needs
    constructed  the exact head of rank 15
    train        all seeds of one rank in one set of tensors
    judge        one trained head decided exactly, with its certificate
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from proofcheck import chains, codes, triples
from proofcheck.bounds import families
from proofcheck.certificate import Checked, certify
from proofcheck.errors import UsageError
from proofcheck.heads import Floats, dyadic
from proofcheck.theorems import theorem5
from proofcheck.theorems.bundle import foundation

BITS, GAP, N, EPS = 24, 3, 3, Fraction(1, 2)
SEED = 3  # of `codes.random_greedy`: the first with 424 jumps
RANKS = (2, 4, 8, 12, 15, 32)
SEEDS = 5
LOSSES = ("max", "squares")
FEATURES = ("exp", "softplus")
SOLVED = 0.45  # largest error in floats at which a run stops
COMMAND = "proofcheck experiment finite-family"


@dataclass(frozen=True)
class Family:
    """`queries` are the words; a jump is (query, y, z, t, u, pair) with places of `queries` and `tokens`, in which the
    words come first."""

    m: int
    queries: tuple[int, ...]
    tokens: tuple[int, ...]
    jumps: tuple[tuple[int, int, int, int, int, int], ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def inputs(self) -> int:
        return 3 * len(self.jumps)

    def chain(self, pair: int) -> list[tuple[int, int, int, int, int, int]]:
        return [jump for jump in self.jumps if jump[5] == pair]


def family(code: codes.Code) -> Family:
    """The inputs of all ordered pairs of words of a code."""
    if code.size < 2 or code.distance() < GAP:
        raise UsageError(f"the family needs two words at directed distance >= {GAP}")
    place = {word: i for i, word in enumerate(code.words)}
    jumps: list[tuple[int, int, int, int, int, int]] = []
    pairs: list[tuple[int, int]] = []
    full = (1 << code.m) - 1
    for i, word in enumerate(code.words):
        for j, other in enumerate(code.words):
            if i != j:
                chain = chains.uniform(N, EPS, (word & ~other).bit_count(), GAP)
                tokens = chains.tokens(chain, word, full & ~other, m=code.m)
                places = [place.setdefault(token, len(place)) for token in tokens]
                steps = zip(places, places[1:], chain.levels, chain.levels[1:], strict=False)
                jumps += [(i, y, z, t, u, len(pairs)) for y, z, t, u in steps]
                pairs.append((i, j))
    return Family(code.m, code.words, tuple(place), tuple(jumps), tuple(pairs))


def paper_code() -> codes.Code:
    """Fifteen words with 424 jumps: certificates/theorem5/code-m24-n3-eps1over2-delta6-size15.json."""
    return codes.random_greedy(BITS, BITS // 2, 6, seed=SEED, limit=15)


def paper_family() -> Family:
    return family(paper_code())


# ------------------------------------------------------------------------------------------ excluded ranks


@dataclass(frozen=True)
class Exclusion:
    """Ranks below `value` are excluded for heads that are correct on `inputs`."""

    name: str
    value: int
    inputs: str
    certificate: Checked
    bound: Fraction  # r > bound
    rests: dict[str, Checked]


def exclusions(code: codes.Code) -> list[Exclusion]:
    """The paper's chain, every distance with the family's own jumps, and the best chains."""
    distance = code.distance()
    uniform = chains.uniform(N, EPS, distance, GAP)
    words = theorem5.code_certificate(code, distance, COMMAND)
    link = theorem5.chain_certificate(N, EPS, uniform.gaps, theorem5.paper_factor(uniform), COMMAND)
    rank = theorem5.rank_certificate(code.m, words, link, COMMAND)
    factor = Fraction(link.parameters["factor"])
    best = families.of_words("words", code.m, code.words, (), N, EPS)
    found = families.certificate(code.m, N, EPS, best, COMMAND)
    spread, count = code.distribution(), code.size
    factors = chains.weights(N, EPS, max(spread))
    others = sum((pairs / factors[d] ** 2 for d, pairs in spread.items()), Fraction(0))
    return [
        Exclusion(
            f"Theorem 5, {count} words, Lambda = {factor}",
            int(rank.parameters["value"]),
            "the inputs of the family",
            rank,
            count / (1 + (count - 1) / factor**2),
            {"code": words, "chain": link},
        ),
        Exclusion(
            "B2, every distance with its best chain",
            best.value,
            "all sequences of three tokens: the best chains jump 0 -> 6, for one, which the family does not",
            found,
            count**2 / (count + others),
            {},
        ),
    ]


def by_distances(code: codes.Code) -> Fraction:
    """B2 with the family's own jumps: the product of mu over each pair's chain. r > this needs the family alone."""
    total = Fraction(code.size)
    for d, pairs in code.distribution().items():
        total += pairs / chains.uniform(N, EPS, d, GAP).product ** 2
    return code.size**2 / total


# ------------------------------------------------------------------------------------------------- heads


@dataclass(frozen=True)
class Tables:
    """queries (q, r), keys (tokens, r), g (q, tokens): floats, taken for the rationals that they are."""

    queries: Floats
    keys: Floats
    g: Floats


@dataclass(frozen=True)
class Rows:
    """alpha and g exactly, for each query and token."""

    alpha: list[list[Fraction]]
    g: list[list[Fraction]]

    @staticmethod
    def of(tables: Tables) -> Rows:
        keys = [dyadic(row) for row in tables.keys]
        alpha = []
        for row in tables.queries:
            query, power = dyadic(row)
            alpha.append([Fraction(sum(map(int.__mul__, query, k)), 1 << (power + e)) for k, e in keys])
        return Rows(alpha, [[Fraction(float(value)) for value in row] for row in tables.g])

    def answer(self, x: int, sequence: Sequence[int]) -> Fraction:
        """The head's answer to query x; `sequence` are places of tokens, x among them."""
        alpha, g = self.alpha[x], self.g[x]
        return sum((alpha[z] * g[z] for z in sequence), Fraction(0)) / sum((alpha[z] for z in sequence), Fraction(0))


def constructed(given: Family) -> Rows:
    """The exact head with one feature for each query: phiQ(S) = e_S, phiK(z)_S = 6^-<S,z>, g = <S,z>. Theorem 1's
    bound holds row by row: its error is at most 2/6."""
    levels = [[(x & z).bit_count() for z in given.tokens] for x in given.queries]
    return Rows(
        [[Fraction(1, 6**level) for level in row] for row in levels],
        [[Fraction(level) for level in row] for row in levels],
    )


def sequences(jump: tuple[int, int, int, int, int, int]) -> list[tuple[tuple[int, int, int], int]]:
    """The inputs of a jump, as places of tokens, with their targets."""
    x, y, z, t, u, _ = jump
    return [((x, y, y), t), ((x, z, z), u), ((x, y, z), t)]


def errors(given: Family, rows: Rows) -> list[list[Fraction]]:
    """|answer - target| for the three inputs of each jump."""
    return [
        [abs(rows.answer(jump[0], sequence) - target) for sequence, target in sequences(jump)] for jump in given.jumps
    ]


# ---------------------------------------------------------------------------------------------- training


@dataclass(frozen=True)
class Settings:
    """How runs are trained. The loss `max` is a soft maximum of the absolute errors whose sharpness rises from the
    first to the second number; `squares` is the mean of their squares. Features are exp or softplus of free numbers
    that start normal with standard deviation `spread`; g starts at 0, or at the overlaps."""

    steps: int = 4000
    rate: float = 0.05
    last_rate: float = 0.02  # at the end, as a share of the first
    loss: str = "max"
    sharpness: tuple[float, float] = (2.0, 80.0)
    features: str = "softplus"
    spread: float = 2.0
    readout: str = "zero"

    def check(self) -> None:
        for name, given, known in (
            ("loss", self.loss, LOSSES),
            ("features", self.features, FEATURES),
            ("readout", self.readout, ("zero", "overlaps")),
        ):
            if given not in known:
                raise UsageError(f"expected a {name} of {', '.join(known)}, got {given!r}")


@dataclass(frozen=True)
class Trained:
    """One run: the tables with the least largest error seen, when, and the largest error of the last step."""

    rank: int
    seed: int
    tables: Tables
    steps: int
    best_step: int
    last: float


def train(
    given: Family,
    rank: int,
    seeds: Sequence[int],
    settings: Settings,
    device: str = "cpu",
    threads: int | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Trained]:
    """All seeds of one rank at once. Adam treats each number by itself and the losses are added, so that a run does not
    depend on those beside it (but for the order in which floats are added). A run's tables are kept for good once its
    largest error is below `SOLVED`."""
    settings.check()
    if threads is not None:
        torch.set_num_threads(threads)
    q, size = len(given.queries), len(given.tokens)
    x, y, z, t, u, _ = (torch.tensor(column, device=device) for column in zip(*given.jumps, strict=True))
    places = [x.repeat(3) * size + other for other in (x.repeat(3), torch.cat([y, z, y]), torch.cat([y, z, z]))]
    flat = torch.stack(places).flatten()
    targets = torch.cat([t, u, t]).float()
    overlaps = torch.tensor([[float((a & b).bit_count()) for b in given.tokens] for a in given.queries])
    starts = []
    for seed in seeds:
        source = torch.Generator().manual_seed(1_000_003 * seed + rank)
        parts = [torch.randn(q, rank, generator=source), torch.randn(size, rank, generator=source)]
        g = overlaps if settings.readout == "overlaps" else torch.zeros_like(overlaps)
        starts.append([*(part * settings.spread for part in parts), g])
    free = [torch.stack(part).to(device).requires_grad_() for part in zip(*starts, strict=True)]
    kept = [part.detach().clone() for part in free]
    least = torch.full((len(seeds),), float("inf"), device=device)
    largest = least
    best_step = torch.zeros(len(seeds), dtype=torch.long, device=device)
    optimiser = torch.optim.Adam(free, lr=settings.rate)
    step = 0
    for step in range(settings.steps):
        share = step / settings.steps
        queries, keys = positive(free[0], settings.features), positive(free[1], settings.features)
        alpha = (queries @ keys.mT).flatten(1)[:, flat].view(len(seeds), 3, -1)
        g = free[2].flatten(1)[:, flat].view(len(seeds), 3, -1)
        off = (alpha * g).sum(1) / alpha.sum(1) - targets
        with torch.no_grad():
            largest = off.abs().amax(1)
            better = (largest < least) & ~(least < SOLVED)
            least = torch.where(better, largest, least)
            best_step = torch.where(better, step, best_step)
            for mine, theirs in zip(kept, free, strict=True):
                mine.copy_(torch.where(better[:, None, None], theirs, mine))
            if step % 50 == 0 and bool((least < SOLVED).all()):
                break
        if step % 1000 == 0:
            progress(f"rank {rank}, step {step}, least largest errors {[round(v, 3) for v in least.tolist()]}")
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * settings.last_rate**share
        optimiser.zero_grad()
        torch.autograd.backward([_loss(off, share, settings).sum()])
        optimiser.step()
    tables = [positive(kept[0], settings.features), positive(kept[1], settings.features), kept[2]]
    arrays = [part.cpu().double().numpy() for part in tables]
    return [
        Trained(rank, seed, Tables(*(part[i] for part in arrays)), step + 1, int(best_step[i]), float(largest[i]))
        for i, seed in enumerate(seeds)
    ]


def positive(free: Tensor, features: str) -> Tensor:
    """Features from free numbers: exp t, or log(1 + exp t)."""
    return free.exp() if features == "exp" else torch.nn.functional.softplus(free)


def _loss(off: Tensor, share: float, settings: Settings) -> Tensor:
    """One number for each run, from its errors (B, inputs)."""
    if settings.loss == "squares":
        return off.square().mean(1)
    first, last = settings.sharpness
    sharpness = first * (last / first) ** share
    soft: Tensor = torch.logsumexp(torch.cat([off, -off], 1) * sharpness, 1) / sharpness
    return soft


# ---------------------------------------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class Verdict:
    """`error` is the largest error, `covered` the ordered pairs with all inputs within 1/2, `broken` the jumps at which
    the kernel breaks B0; a failure has a certificate. `ratios` are alpha(x,y_0)/alpha(x,y_k) by pair."""

    error: Fraction
    covered: int
    broken: int
    certificate: Checked | None
    ratios: list[tuple[int, float]]  # steps of the chain, ratio

    @property
    def solved(self) -> bool:
        return self.error < EPS


def judge(given: Family, tables: Tables, command: str = COMMAND, seed: int | None = None) -> Verdict:
    """The run decided exactly."""
    rows = Rows.of(tables)
    if min(min(row) for row in rows.alpha) <= 0:
        raise UsageError("a trained head has a kernel value that is 0 in floats: lower the learning rate or the spread")
    off = errors(given, rows)
    error = max(max(three) for three in off)
    bad = {jump[5] for jump, three in zip(given.jumps, off, strict=True) if max(three) >= EPS}
    tried = [_triple(given, rows, jump) for jump in given.jumps]
    breaking = [triple for triple in tried if triple.breaks(N, EPS)]
    certificate = None
    if error >= EPS and breaking:
        worst = max(breaking, key=lambda triple: triple.required(N, EPS) / triple.xy)
        certificate = _refutation(given, tables, worst, command, seed)
    elif error >= EPS:
        certificate = _counterexample(given, rows, off, command, seed)
    ratios = []
    for pair in range(len(given.pairs)):
        chain = given.chain(pair)
        alpha = rows.alpha[chain[0][0]]
        ratios.append((len(chain), float(alpha[chain[0][1]] / alpha[chain[-1][2]])))
    return Verdict(error, len(given.pairs) - len(bad), len(breaking), certificate, ratios)


def _triple(given: Family, rows: Rows, jump: tuple[int, int, int, int, int, int]) -> triples.Triple:
    x, y, z = jump[:3]
    alpha = rows.alpha[x]
    return triples.Triple(given.tokens[x], given.tokens[y], given.tokens[z], alpha[x], alpha[y], alpha[z])


def _refutation(given: Family, tables: Tables, triple: triples.Triple, command: str, seed: int | None) -> Checked:
    """`kernel-refutation` with the run's own features at the three tokens."""
    query, power = dyadic(tables.queries[given.queries.index(triple.x)])
    keys = {name: dyadic(tables.keys[given.tokens.index(getattr(triple, name))]) for name in "xyz"}
    common = max(other for _, other in keys.values())
    parameters: dict[str, Any] = {"m": given.m, "n": N, "eps": EPS, "lengths": "exactly", "additive": Fraction(0)}
    parameters |= {name: f"{getattr(triple, name):x}" for name in "xyz"}
    parameters["features"] = {
        "query": query,
        "keys": {name: [k << (common - other) for k in row] for name, (row, other) in keys.items()},
        "shift": power + common,
    }
    rested = [foundation("domination-necessary")[1]]
    return certify("kernel-refutation", parameters, "violation", {}, command=command, uses=rested, seed=seed)


def _counterexample(given: Family, rows: Rows, off: list[list[Fraction]], command: str, seed: int | None) -> Checked:
    """`head-counterexample` at the input with the largest error."""
    _, i, k = max((error, -i, -k) for i, three in enumerate(off) for k, error in enumerate(three))
    jump = given.jumps[-i]
    sequence, _ = sequences(jump)[-k]
    parameters = {
        "m": given.m,
        "eps": EPS,
        "sequence": [f"{given.tokens[z]:x}" for z in sequence],
        "position": 0,
        "alpha": [rows.alpha[jump[0]][z] for z in sequence],
        "g": [rows.g[jump[0]][z] for z in sequence],
        "additive": Fraction(0),
        "offset": Fraction(0),
    }
    return certify("head-counterexample", parameters, "evaluation", {}, command=command, seed=seed)
