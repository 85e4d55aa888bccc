"""Two assignments with one transcript, by hashing (mathematics.md B9).

Assignments of a typed family are enumerated in the order of their numbers (the digit of slot 0 runs fastest, so that
neighbours differ in few slots), or sampled: sample i has the levels mix(seed, i, slot) mod (s+1), mix being the
finaliser of splitmix64. Either way assignment i is computed from i alone: nothing but hashes and numbers is kept.

If the alphabets multiply to less than (s+1)^q, two of the first prod |Sigma_l| + 1 assignments in enumeration have one
transcript: success is guaranteed if so many may be examined. By the birthday paradox random sampling needs about
sqrt(number of transcripts) samples.

Equal transcripts have equal 64-bit hashes: none is missed. Assignments with equal hashes are computed anew, each
alone and twice: a difference between two runs is reported with its layer, and only equal transcripts count.

Memory: at most `MEMORY` pairs (hash, number) of 16 bytes are kept in sorted runs, about three times that while runs
are merged. Beyond, they go to a temporary folder, 16 bytes each, into partitions by the leading bits of the hash, which
are sorted one at a time whenever their number has doubled, and at the end. A batch takes some tens of megabytes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proofcheck.errors import ClaimFails, UsageError
from proofcheck.transcripts import TypedFamily

from . import Batched, Codes, Levels, Looped, Sketch, same, transcripts, twice

Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]
MEMORY = 1 << 21  # pairs (hash, number) in memory
FIRST, BATCH = 1 << 8, 1 << 14  # assignments computed at once: as many as before, within these, fewer if they are long
NUMBERS = 1 << 62  # largest number of assignments that can be asked for
CHECKED = 8  # assignments that are computed twice before the search
PAIR = np.dtype([("hash", "u8"), ("number", "i8")])
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Collision:
    """Two assignments with one transcript. `query` is the slot with the largest difference of the targets."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    query: int
    transcript: tuple[tuple[int, ...], ...]  # the codes of each layer's message
    examined: int
    guaranteed: bool

    @property
    def targets(self) -> tuple[int, int]:
        return self.left[self.query], self.right[self.query]


@dataclass(frozen=True)
class NoneFound:
    """No two of the examined assignments have one transcript. `all`: these were all of the family."""

    examined: int
    all: bool


def guaranteed(model: Batched | Sketch, family: TypedFamily, limit: int) -> bool:
    """Whether enumerating `limit` assignments must meet two with one transcript."""
    return transcripts(model) < min(family.assignments, limit)


def find(
    model: Batched | Sketch,
    family: TypedFamily,
    limit: int,
    seed: int | None = None,
    memory: int = MEMORY,
    progress: Callable[[int], object] | None = None,
) -> Collision | NoneFound:
    """The first collision among `limit` assignments, enumerated, or sampled where a seed is given.

    Raises `UsageError` for a limit out of range, samples of a family that could be enumerated, a bad alphabet, or a
    model that is not deterministic; `ClaimFails` where a guaranteed collision does not come.
    """
    batched = model if isinstance(model, Batched) else Looped(model)
    if not 1 <= limit <= NUMBERS:
        raise UsageError(f"expected 1 to 2^62 assignments to examine, got {limit}")
    if seed is not None and family.assignments <= 4 * limit:
        raise UsageError(f"--samples: {limit} of only {family.assignments} assignments: enumerate them")
    promised = seed is None and guaranteed(batched, family, limit)
    limit = min(limit, family.assignments) if seed is None else limit
    largest = max(FIRST, min(BATCH, (1 << 19) // family.length))
    first = levels_of(family, np.arange(min(CHECKED, limit)), seed)
    same(batched, first, twice(batched, family, first), batched.batch(family, first))
    with Seen(limit, memory) as seen:
        start = 0
        while start < limit:
            numbers = np.arange(start, min(start + max(FIRST, min(largest, start)), limit))
            start += len(numbers)
            hashes = hashed(batched.batch(family, levels_of(family, numbers, seed)))
            for one, other in seen.add(hashes, numbers):
                found = _confirm(batched, family, one, other, seed, start, promised)
                if found is not None:
                    return found
            if progress is not None:
                progress(len(numbers))
        for one, other in seen.rest():
            found = _confirm(batched, family, one, other, seed, limit, promised)
            if found is not None:
                return found
    if promised:
        raise ClaimFails(
            f"{batched.name}: {limit} assignments have different transcripts, more than its alphabets allow: the model "
            "does not keep to them"
        )
    return NoneFound(limit, seed is None and limit == family.assignments)


def compare(model: Batched | Sketch, family: TypedFamily, left: list[int], right: list[int]) -> Collision | NoneFound:
    """The two assignments alone, each computed twice."""
    batched = model if isinstance(model, Batched) else Looped(model)
    pair = np.array([left, right], dtype=np.int64)
    found = _compared(batched, family, pair, 2, False, False)
    return NoneFound(2, False) if found is None else found


def levels_of(family: TypedFamily, numbers: Numbers, seed: int | None) -> Levels:
    """The assignments with these numbers, one a row."""
    base = family.s + 1
    if seed is None:
        rest, columns = numbers.copy(), []
        for _ in range(family.q):
            rest, digit = np.divmod(rest, base)
            columns.append(digit)
        return np.stack(columns, axis=1)
    with np.errstate(over="ignore"):
        state = mixed(numbers.astype(np.uint64) + np.uint64(seed * _GOLDEN % 2**64))
        slots = np.arange(1, family.q + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        return (mixed(state[:, None] + slots) % np.uint64(base)).astype(np.int64)


def mixed(x: Keys) -> Keys:
    """The finaliser of splitmix64: a bijection of 64-bit numbers."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(_GOLDEN)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ x >> np.uint64(31))


def hashed(layers: list[Codes]) -> Keys:
    """One 64-bit hash a row. Integers: a sum with fixed odd coefficients, mixed; Python integers: BLAKE2b."""
    total = np.zeros(len(layers[0]), dtype=np.uint64)
    for layer, codes in enumerate(layers):
        if codes.dtype == object:
            texts = [repr([int(k) for k in row]).encode() for row in codes]
            digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
            part = np.frombuffer(digests, dtype="<u8").astype(np.uint64)
        else:
            places = np.arange(codes.shape[1], dtype=np.uint64) + np.uint64(1)
            part = codes.astype(np.uint64) @ (mixed(places) | np.uint64(1))
        total = mixed(total + mixed(part) + np.uint64(layer))
    return total


def _confirm(
    model: Batched,
    family: TypedFamily,
    one: Numbers,
    other: Numbers,
    seed: int | None,
    examined: int,
    promised: bool,
) -> Collision | None:
    """The first of these pairs that is one of different assignments with equal transcripts."""
    lefts, rights = levels_of(family, one, seed), levels_of(family, other, seed)
    for k in np.flatnonzero((lefts != rights).any(axis=1)):
        found = _compared(model, family, np.stack([lefts[k], rights[k]]), examined, promised, True)
        if found is not None:
            return found
    return None


def _compared(
    model: Batched, family: TypedFamily, pair: Levels, examined: int, promised: bool, hashes_agreed: bool
) -> Collision | None:
    codes = twice(model, family, pair)
    same(model, pair, codes, model.batch(family, pair))
    differs = [layer for layer, message in enumerate(codes) if (message[0] != message[1]).any()]
    if differs and hashes_agreed and len(set(hashed(codes).tolist())) == 2:
        raise UsageError(
            f"{model.name} is not deterministic: the assignments {pair[0].tolist()} and {pair[1].tolist()} had equal "
            f"transcripts, and computed again they differ in the message of layer {differs[0]}"
        )
    if differs:
        return None
    left, right = pair
    query = int(np.argmax(abs(left - right)))
    transcript = tuple(tuple(int(c) for c in layer[0]) for layer in codes)
    return Collision(tuple(left.tolist()), tuple(right.tolist()), query, transcript, examined, promised)


Pairs = Iterator[tuple[Numbers, Numbers]]


class Seen:
    """Hashes seen so far, with the numbers of their assignments. `add` and `rest` give pairs of equal hashes: `add`
    those with what is in memory, `rest` all others; between them every pair of equal hashes is given."""

    def __init__(self, expected: int, memory: int) -> None:
        self.memory = memory
        self.runs: list[tuple[Keys, Numbers]] = []
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.partitions = 1 << max(4, min(10, (2 * expected // max(memory, 1)).bit_length()))
        self.spilled = self.looked_through = 0

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()

    def add(self, hashes: Keys, numbers: Numbers) -> Pairs:
        run = _sorted(hashes, numbers)
        yield from _within(*run)
        for other, places in self.runs:
            low, high = np.searchsorted(other, run[0], "left"), np.searchsorted(other, run[0], "right")
            for offset in range(int((high - low).max(initial=0))):
                here = np.flatnonzero(high - low > offset)
                yield places[low[here] + offset], run[1][here]
        while self.runs and len(self.runs[-1][0]) <= len(run[0]):
            other, places = self.runs.pop()
            run = _sorted(np.concatenate([other, run[0]]), np.concatenate([places, run[1]]))
        self.runs.append(run)
        if sum(len(run[0]) for run in self.runs) >= self.memory:
            self._spill()
            if self.spilled >= 2 * self.looked_through:
                yield from self._look_through()

    def rest(self) -> Pairs:
        if self.folder is not None:
            self._spill()
            yield from self._look_through()

    def _spill(self) -> None:
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="proofcheck-")
        shift = np.uint64(64 - self.partitions.bit_length() + 1)
        for hashes, numbers in self.runs:  # sorted by hash, hence by partition
            pairs = np.empty(len(hashes), dtype=PAIR)
            pairs["hash"], pairs["number"] = hashes, numbers
            ends = np.searchsorted(hashes >> shift, np.arange(self.partitions + 1, dtype=np.uint64))
            for k in range(self.partitions):
                with (Path(self.folder.name) / str(k)).open("ab") as file:
                    file.write(pairs[ends[k] : ends[k + 1]].tobytes())
            self.spilled += len(hashes)
        self.runs = []

    def _look_through(self) -> Pairs:
        for k in range(self.partitions if self.folder is not None else 0):
            pairs = np.fromfile(Path(self.folder.name) / str(k), dtype=PAIR)  # type: ignore[union-attr]
            yield from _within(*_sorted(pairs["hash"].copy(), pairs["number"].copy()))
        self.looked_through = self.spilled


def _sorted(hashes: Keys, numbers: Numbers) -> tuple[Keys, Numbers]:
    order = np.argsort(hashes, kind="stable")  # which merges sorted pieces in linear time
    return hashes[order], numbers[order]


def _within(hashes: Keys, numbers: Numbers) -> Pairs:
    """Pairs of equal hashes in a sorted run: of k equal ones, all k(k-1)/2."""
    offset = 1
    while offset < len(hashes):
        here = np.flatnonzero(hashes[offset:] == hashes[:-offset])
        if not len(here):
            return
        yield numbers[here], numbers[here + offset]
        offset += 1
