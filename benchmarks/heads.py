"""Heads: whole-task verification against brute force over all sequences of length 3, its growth with m; the refuter
against a random search for a violating triple. Times are ratios within one run."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

import numpy as np

from proofcheck import exhaust, refuter
from proofcheck.cube import Cube, Outputs
from proofcheck.heads import Bits, ClosedForm, Floats, Head, Readout, bits

from .timing import seconds

EPS = Fraction(1, 2)
SAMPLE = 24  # queries of the brute force, spread over all
TRIES = 200_000  # kernel evaluations of the random search


def symmetric(m: int, degree: int, base: float) -> Head:
    """alpha = sum_k base^k C(|x\\z|, k), k <= degree (mathematics.md B3 a), with the readout g = <x,z>."""
    sets = [sum(1 << i for i in chosen) for k in range(degree + 1) for chosen in combinations(range(m), k)]
    masks = bits(sets, m).astype(float)
    sizes = masks.sum(axis=1)
    plain = Readout(lambda b: b.astype(float), lambda b: b.astype(float), lambda b: np.zeros(len(b)))

    def queries(tokens: Bits) -> Floats:
        return np.asarray((tokens @ masks.T == sizes) * base**sizes)

    return Head("symmetric", m, len(sets), queries, lambda b: np.asarray((b @ masks.T == 0) * 1.0), Fraction(0), plain)


def brute_force(head: Head, xs: list[int]) -> float:
    """The largest error over all sequences (x, y, z) at the queries xs, vectorised over the pairs (y, z)."""
    cube, tokens, worst = Cube(head), np.arange(1 << head.m), 0.0
    outputs = Outputs(head, head.readout) if head.readout else None
    for x in xs:
        query = np.array([x])
        alpha = cube.kernel(query)[0][0]
        product = alpha * (outputs.table(query)[0][0] if outputs else 0.0)
        overlap = np.bitwise_count(tokens & x).astype(float)
        level = np.minimum(np.minimum(overlap[:, None], overlap[None, :]), float(x.bit_count()))
        output = (product[x] + product[:, None] + product[None, :]) / (alpha[x] + alpha[:, None] + alpha[None, :])
        worst = max(worst, float(np.abs(output - level).max()))
    return worst


def random_features(m: int, rank: int, seed: int = 0) -> Head:
    source = np.random.default_rng(seed)
    left, right = (source.normal(size=(m, rank)) * 3 / np.sqrt(m) for _ in range(2))

    def elu1(y: Floats) -> Floats:
        return np.asarray(np.where(y > 0, y + 1, np.exp(np.minimum(y, 0))))

    return Head("elu1", m, rank, lambda b: elu1(b @ left), lambda b: elu1(b @ right))


def nearly_correct(m: int, degree: int, base: Fraction) -> ClosedForm:
    """The symmetric kernel with a base for which B0 fails at heavy queries only."""
    table = [sum((base**k * comb(d, k) for k in range(degree + 1)), Fraction(0)) for d in range(m + 1)]
    rank = sum(comb(m, k) for k in range(degree + 1))
    return ClosedForm("symmetric", m, rank, _none, _none, value=lambda x, z: table[(x & ~z).bit_count()])


def _none(tokens: Bits) -> Floats:
    raise NotImplementedError("a closed form computes no features")


def random_search(head: Head, budget: int) -> int | None:
    """Random triples until one violates (ii); the kernel evaluations used, None if over budget."""
    random, used = Random(1), 0
    while used < budget:
        batch = [tuple(random.getrandbits(head.m) for _ in range(3)) for _ in range(256)]
        xs, ys, zs = (list(column) for column in zip(*batch, strict=True))
        if isinstance(head, ClosedForm):
            xx, xy, xz = (np.array([float(head.value(*p)) for p in zip(xs, s, strict=True)]) for s in (xs, ys, zs))
        else:
            queries = head.features("queries", xs)
            xx, xy, xz = (np.einsum("ij,ij->i", queries, head.features("keys", side)) for side in (xs, ys, zs))
        gap = np.array([(x & z).bit_count() - (x & y).bit_count() for x, y, z in batch])
        used += 3 * len(batch)
        if (((gap - 1) * xz + (gap / 2 - 1) * xx >= xy) & (gap >= 1)).any():
            return used
    return None


def softmin(m: int, base: float) -> Head:
    """alpha = base^(m - <x,z>) with one-hot queries, the readout <x,z>."""
    size = 1 << m
    rows = base ** (m - np.bitwise_count(np.arange(size)[:, None] & np.arange(size)[None, :]).astype(float))
    places, identity = 1 << np.arange(m), np.eye(size)
    plain = Readout(lambda b: b.astype(float), lambda b: b.astype(float), lambda b: np.zeros(len(b)))
    return Head("softmin", m, size, lambda b: identity[b @ places], lambda b: rows[b @ places], Fraction(0), plain)


def run() -> None:
    print("whole-task verification of the softmin head, length 3, against all pairs y, z for each query x (brute force")
    print(f"extrapolated from about {SAMPLE} queries)")
    for m in (8, 10):
        head = softmin(m, 8.0)
        found: list[object] = []
        fast = seconds(lambda h=head, f=found: f.append(exhaust.verify(h, 3, EPS, "exactly", certified=False)), 3)  # type: ignore[misc]
        xs = list(range(0, 1 << m, max(1, (1 << m) // SAMPLE)))
        slow = seconds(lambda h=head, xs=xs: brute_force(h, xs)) * (1 << m) / len(xs)  # type: ignore[misc]
        print(f"  m={m}: {type(found[0]).__name__}, {fast:.3f} s; brute force {slow / fast:.0f} times slower")
    print("growth, kernels alone, symmetric heads of 37, 176, 299 and 470 features (4^m pairs: 16 times per step of 2)")
    base = 0.0
    for m, degree in ((8, 2), (10, 3), (12, 3), (14, 3)):
        head = symmetric(m, degree, 20.0)
        alone = seconds(lambda h=head: exhaust.decide(h, 3, EPS, certified=False))  # type: ignore[misc]
        whole = seconds(lambda h=head: exhaust.verify(h, 3, EPS, "exactly", certified=False))  # type: ignore[misc]
        base = base or alone
        print(f"  m={m}: {alone:.3f} s, {alone / base:.1f} times m=8; with readout {whole / alone:.1f} times that")
    print("refuter at n = 3, eps = 1/2: kernel evaluations, and those of random triples until one violates (ii)")
    easy = [random_features(m, rank) for m, rank in ((24, 8), (24, 64), (64, 64), (64, 1024), (256, 64), (256, 1024))]
    hard = [nearly_correct(m, degree, Fraction(1, 2)) for m, degree in ((20, 4), (24, 5), (32, 6))]
    for head in (*easy, *hard):
        outcomes: list[refuter.Refutation | refuter.Outside | refuter.NoneFound] = []
        time = seconds(lambda h=head, f=outcomes: f.append(refuter.refute(h)))  # type: ignore[misc]
        searched: list[int | None] = []
        other = seconds(lambda h=head, s=searched: s.append(random_search(h, TRIES)))  # type: ignore[misc]
        kind = type(outcomes[0]).__name__ + (" (guaranteed)" if getattr(outcomes[0], "guaranteed", False) else "")
        text = f"{searched[0]}" if searched[0] else f"none in {TRIES}"
        print(
            f"  {head.name} m={head.m} r={head.rank}: {kind}, {outcomes[0].evaluations} evaluations, {time:.3f} s; "
            f"random triples: {text}, {other / time:.2f} of the time"
        )
