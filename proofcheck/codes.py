"""Constant-weight codes under the directed distance: constructions, distances, counting bounds, files.

A *word* is a subset S of [m] written as an m-bit integer: element e of {0..m-1} is bit e. A *code* is a set of words
of one weight h. The directed distance of S and U is |S \\ U| = h - |S & U|: an integer in 0..min(h, m-h), symmetric for
equal weights, half the Hamming distance. So distances are in elements, never in bits of the symmetric difference.

    layer           all h-subsets of [m] in increasing order (Gosper's hack)
    lexicographic   the lexicode: each word of the layer, in increasing order, that is far from all taken before it
    random_greedy   the same in a random order: the whole layer if it is small, else random words until many fail
    graham_sloane   the h-subsets with sum of elements = residue mod m. At directed distance 1 one element e is
                    exchanged for e', which changes the sum by e' - e, not 0 mod m: so the distance is >= 2
    hadamard        a Hadamard matrix of order N with constant first row: in every other row half of the entries are +1,
                    in two of them at once a quarter. The positions of +1 and of -1 in these rows are 2(N-1) words of
                    weight N/2; for N >= 4 at distance N/4, a word and its complement at N/2
    packing_bound   greedy packing: a word has exactly C(h,a) C(m-h,a) words at distance a, hence a maximal code at
                    distance >= D has at least C(m,h) / sum_{a<D} C(h,a) C(m-h,a) words
    jump_count      chain jumps of Experiment 5.1: floor(|S \\ U| / gap) for every ordered pair
    find_jump_code  seeds of `random_greedy` until fifteen 24-bit words have the paper's 424 jumps

Words of a code are distinct, so asking for distance 0 is the same as asking for 1. Inside, n words of k limbs are a
k x n array of uint64 (row l = bits 64l..64l+63), counted by numpy in blocks of bounded memory. Nothing here is trusted:
the kernel counts the weights and all distances of a `code` certificate itself.

Files: the first line is `m weight` in decimal, then one hexadecimal word a line. `#` starts a comment, empty lines are
skipped.

Parameters outside their range raise `UsageError`. Source: paper, Theorems 5 and 6, Proposition 10, Experiment 5.1;
mathematics.md A and B2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, isqrt
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from proofcheck.errors import ClaimFails, MalformedInput, Undecided, UsageError

Words: TypeAlias = npt.NDArray[np.uint64]
Counts: TypeAlias = npt.NDArray[np.integer]
Signs: TypeAlias = npt.NDArray[np.int8]

PAIRS = 1 << 20  # pairs of words compared at once: about 10 MB
SMALL_LAYER = 1 << 22  # limbs of a layer that is shuffled as a whole: 32 MB; C(24,12) = 2,704,156
LARGEST_CLASS_LAYER = 1 << 26  # words of a layer that `graham_sloane` runs through
TABLE_BITS = 20  # words are enumerated by their upper bits, with a table of all lower parts of this many bits
GROUP = 1 << 14  # pairs of words compared at once in greedy packing, if a block is not larger
PRUNING = 64  # words of a lexicode that are compared with the beginnings of later ones
DRAWS = 1 << 18  # random 64-bit keys drawn at once
ATTEMPTS = 10_000  # consecutive random words that fail before `random_greedy` stops


@dataclass(frozen=True)
class Code:
    """Words of `weight` bits of [m], in any order. That they are so is checked by `validate`, not here."""

    m: int
    weight: int
    words: tuple[int, ...]

    def __post_init__(self) -> None:
        _in_range(self.m, self.weight)
        negative = next((i for i, word in enumerate(self.words) if word < 0), None)
        if negative is not None:
            raise UsageError(f"word {negative}: expected a nonnegative integer, got {self.words[negative]}")

    @property
    def size(self) -> int:
        return len(self.words)

    def distance(self) -> int:
        """The least directed distance of two words (0 if a word is repeated).

        With fewer than two words there is no pair: then min(h, m-h), the largest that h-subsets of [m] can have.
        Raises `ClaimFails` if a word lies outside [m] or has another weight.
        """
        return min(self.distances(), default=min(self.weight, self.m - self.weight))

    def distribution(self) -> dict[int, int]:
        """{D: number of ordered pairs of words at directed distance D}, D >= 1 increasing, without empty classes.

        Raises `ClaimFails` as `distance` does.
        """
        return {distance: pairs for distance, pairs in self.distances().items() if distance}

    def distances(self) -> dict[int, int]:
        """As `distribution`, with D = 0: the ordered pairs of equal words at different places."""
        self._check_weights()
        pairs = np.zeros(self.weight + 1, dtype=np.int64)
        for _, common in _common_blocks(_limbs(self.words)):
            rows = len(common)
            counts = np.bincount(common.ravel(), minlength=self.weight + 1)
            corner = np.bincount(common[:, :rows].ravel(), minlength=self.weight + 1)  # holds its pairs in both orders
            pairs += 2 * counts - corner
            pairs[self.weight] -= rows  # the pairs (i, i)
        return {self.weight - c: int(pairs[c]) for c in range(self.weight, -1, -1) if pairs[c]}

    def validate(self, distance: int = 1) -> None:
        """Check that all words are distinct h-subsets of [m] at directed distance >= `distance`.

        Raises `ClaimFails` naming the first word (counted from 0, in hexadecimal) outside [m] or of another weight,
        else the first word that repeats another, else the first pair i < j that is too near.
        """
        _nonnegative("distance", distance)
        self._check_weights()
        first: dict[int, int] = {}
        for i, word in enumerate(self.words):
            if first.setdefault(word, i) != i:
                raise ClaimFails(f"words {first[word]} and {i} are the same: {word:x}")
        if distance <= 1 or self.size < 2:
            return
        for start, common in _common_blocks(_limbs(self.words)):
            bad = common > self.weight - distance
            np.fill_diagonal(bad, False)
            if bad.any():
                i = int(bad.any(axis=1).argmax())
                j = start + int(bad[i].argmax())
                i += start
                raise ClaimFails(
                    f"words {i} and {j} ({self.words[i]:x}, {self.words[j]:x}) are at directed distance "
                    f"{(self.words[i] & ~self.words[j]).bit_count()}, less than {distance}"
                )

    def write(self, path: Path | str) -> None:
        """Write a file that `read` reads."""
        digits = max(1, -(-self.m // 4))
        lines = [f"{self.m} {self.weight}", *(f"{word:0{digits}x}" for word in self.words)]
        Path(path).write_text("\n".join(lines) + "\n", "utf-8", newline="\n")

    def _check_weights(self) -> None:
        for i, word in enumerate(self.words):
            if word >> self.m:
                raise ClaimFails(f"word {i} ({word:x}) has bit {word.bit_length() - 1}, outside 0..{self.m - 1}")
            if word.bit_count() != self.weight:
                raise ClaimFails(f"word {i} ({word:x}) has weight {word.bit_count()}, expected {self.weight}")


def read(path: Path | str) -> Code:
    """The code in a file, with words distinct and of the weight that its first line says.

    Raises `MalformedInput` naming the line and what was expected there, `ClaimFails` (see `Code.validate`) for a word
    of another weight or a repeated one. The distance is for the caller to ask for.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise MalformedInput(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise MalformedInput(f"{path}: expected UTF-8 text, byte {error.start} is not") from None
    lines = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.split("\n"), 1))
    content = ((number, line) for number, line in lines if line)
    number, line = next(content, (1, ""))
    header = re.fullmatch(r"([0-9]{1,9})[ \t]+([0-9]{1,9})", line)
    if not header or int(header[2]) > int(header[1]):
        raise MalformedInput(
            f"{path}: line {number}: expected 'm weight', two decimal numbers with weight <= m, got {_shown(line)}"
        )
    m, weight = int(header[1]), int(header[2])
    words = []
    for number, line in content:
        if not re.fullmatch(r"[0-9a-fA-F]+", line):
            raise MalformedInput(f"{path}: line {number}: expected one hexadecimal word, got {_shown(line)}")
        words.append(int(line, 16))
        if words[-1] >> m:
            raise MalformedInput(f"{path}: line {number}: expected a word of m = {m} bits, got {_shown(line)}")
    code = Code(m, weight, tuple(words))
    try:
        code.validate()
    except ClaimFails as error:
        raise ClaimFails(f"{path}: {error}") from None
    return code


def _shown(line: str) -> str:
    return repr(line if len(line) <= 40 else f"{line[:40]}...") if line else "nothing"


# --- ranges -------------------------------------------------------------------------------------------------


def _in_range(m: int, h: int) -> None:
    _nonnegative("m", m)
    if not 0 <= h <= m:
        raise UsageError(f"weight: expected 0 <= weight <= m = {m}, got {h}")


def _nonnegative(name: str, value: int) -> None:
    if value < 0:
        raise UsageError(f"{name}: expected {name} >= 0, got {value}")


def _most(m: int, h: int, distance: int, limit: int | None) -> int | None:
    """How many words greedy packing is to take: `limit`, None for no limit, one where no two words can be so far."""
    _in_range(m, h)
    _nonnegative("distance", distance)
    if limit is not None:
        _nonnegative("limit", limit)
    if distance > min(h, m - h):
        return 1 if limit is None else min(limit, 1)
    return limit


# --- words in limbs -----------------------------------------------------------------------------------------


def _limbs(words: Sequence[int], bits: int = 0) -> Words:
    """k x n limbs of n words; k is as large as `bits` and the words need, and at least 1."""
    k = -(-max(1, bits, *(word.bit_length() for word in words)) // 64)
    data = b"".join(word.to_bytes(8 * k, "little") for word in words)
    return np.ascontiguousarray(np.frombuffer(data, "<u8").reshape(-1, k).T, dtype=np.uint64)


def _integers(words: Words) -> list[int]:
    if len(words) == 1:
        return [int(word) for word in words[0].tolist()]
    width, data = 8 * len(words), words.T.astype("<u8").tobytes()
    return [int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width)]


def _count(limbs: Iterable[Words]) -> Counts:
    """Popcounts of words whose limbs come one after the other (uint8 for one limb, else uint32)."""
    first, *others = (np.bitwise_count(limb) for limb in limbs)
    if not others:
        return first
    total = first.astype(np.uint32)
    for other in others:
        total += other
    return total


def _common_blocks(words: Words) -> Iterator[tuple[int, Counts]]:
    """(i, |S_a & S_b| for rows a = i, i+1, .. and columns b = i, i+1, .., n-1), all rows in turn."""
    n = words.shape[1]
    start = 0
    while start < n:
        stop = min(n, start + max(1, PAIRS // (n - start)))
        yield start, _count(limb[start:stop, None] & limb[None, start:] for limb in words)
        start = stop


# --- layers -------------------------------------------------------------------------------------------------


def layer(m: int, h: int) -> Iterator[int]:
    """All h-subsets of [m] as integers, in increasing order, by Gosper's hack."""
    _in_range(m, h)
    return _gosper(m, h)


def _gosper(m: int, h: int) -> Iterator[int]:
    word = (1 << h) - 1
    while not word >> m:
        yield word
        if not word:
            return
        lowest = word & -word
        carried = word + lowest  # the lowest block of ones moves up by one; its other ones fall to the bottom
        word = carried | ((word ^ carried) // lowest >> 2)


@cache
def _by_weight(bits: int) -> tuple[Words, ...]:
    """The numbers below 2^bits of weight 0, 1, .., bits, each weight in increasing order."""
    numbers = np.arange(1 << bits, dtype=np.uint64)
    weights = np.bitwise_count(numbers)
    return tuple(numbers[weights == weight] for weight in range(bits + 1))


Excluded: TypeAlias = Callable[[int, int, int], bool]


def _uppers(m: int, low: int, h: int, excluded: Excluded) -> Iterator[int]:
    """The upper parts word >> low of the h-subsets of [m], increasing.

    `excluded(upper, bits, rest)` says that no word with the upper part `upper`, and `rest` elements more among the
    lower `bits`, is wanted.
    """
    stack = [(0, m, h)]
    while stack:
        upper, bits, rest = stack.pop()
        if excluded(upper, bits, rest):
            continue
        if bits == low or not rest:
            yield upper << (bits - low)
            continue
        stack.append((upper << 1 | 1, bits - 1, rest - 1))
        if rest < bits:
            stack.append((upper << 1, bits - 1, rest))


def _nothing(upper: int, bits: int, rest: int) -> bool:
    return False


def _layer_blocks(m: int, h: int, excluded: Excluded = _nothing) -> Iterator[Words]:
    """The words of `layer(m, h)`, in its order, in arrays of bounded size; those excluded may be missing."""
    low = min(m, TABLE_BITS)
    table = _by_weight(low)
    for upper in _uppers(m, low, h, excluded):
        lower = table[h - upper.bit_count()]
        block = np.repeat(_limbs([upper << low], m), len(lower), axis=1)
        block[0] |= lower
        yield block


# --- greedy packing -----------------------------------------------------------------------------------------


def _pack(
    code: list[int],
    blocks: Iterable[Words],
    weight: int,
    distance: int,
    limit: int | None,
    patience: int | None = None,
) -> None:
    """Append to the empty `code` each word, in the order of the blocks, that is at directed distance >= `distance` from
    all that were appended before it.

    Stops with `limit` words, at the end of the blocks, or after `patience` consecutive words that were not taken. How
    the words are divided into blocks makes no difference.
    """
    if limit == 0:
        return
    largest = _largest_common(weight, distance)
    taken: Words | None = None  # the words of the code so far, and room for more
    passed, last = 0, -1  # words in the blocks before this one; the number of the word taken last
    for block in blocks:
        left, numbers = block, np.arange(passed, passed + block.shape[1])
        done = 0
        while taken is not None and done < len(code) and len(numbers):
            some = taken[:, done : min(len(code), done + max(1, GROUP // len(numbers)))]
            left, numbers = _far(left, numbers, some, largest)
            done += some.shape[1]
        while len(numbers):
            if patience is not None and numbers[0] - last > patience:
                return
            last = int(numbers[0])
            if taken is None or len(code) == taken.shape[1]:
                old = left[:, :0] if taken is None else taken
                taken = np.concatenate([old, np.zeros((len(left), max(16, len(code))), dtype=np.uint64)], axis=1)
            taken[:, len(code)] = left[:, 0]
            code += _integers(left[:, :1])
            if len(code) == limit:
                return
            left, numbers = _far(left, numbers, left[:, :1], largest)
        passed += block.shape[1]
        if patience is not None and passed - 1 - last >= patience:
            return


def _largest_common(weight: int, distance: int) -> int:
    """The largest |S & U| of two words that may both belong to the code."""
    return weight - max(distance, 1)


def _far(
    words: Words, numbers: npt.NDArray[np.intp], others: Words, largest: int
) -> tuple[Words, npt.NDArray[np.intp]]:
    """The words that share at most `largest` elements with each of the others, and their numbers."""
    common = _count(limb & other[:, None] for limb, other in zip(words, others, strict=True))
    far = (common <= largest).all(axis=0)
    return words[:, far], numbers[far]


def lexicographic(m: int, h: int, distance: int, limit: int | None = None) -> Code:
    """The lexicode: greedy packing through the layer in increasing order, up to `limit` words.

    Without a limit it runs through the whole layer, and the code is maximal. The words are increasing.
    """
    most = _most(m, h, distance, limit)
    largest = _largest_common(h, distance)
    code: list[int] = []

    def too_near(upper: int, bits: int, rest: int) -> bool:
        """Whether one of the first words of the code shares too much with all words that begin so.

        It shares |upper & upper part|, and of the lower bits at least what does not fit beside its own.
        """
        for word in code[:PRUNING]:
            above = word >> bits
            outside = bits - h + above.bit_count()
            if (above & upper).bit_count() + max(0, rest - outside) > largest:
                return True
        return False

    _pack(code, _layer_blocks(m, h, too_near), h, distance, most)
    return Code(m, h, tuple(code))


def random_greedy(
    m: int, h: int, distance: int, *, seed: int, limit: int | None = None, attempts: int = ATTEMPTS
) -> Code:
    """Greedy packing in the random order that `seed` >= 0 determines, up to `limit` words, in the order taken.

    A layer of at most `SMALL_LAYER` limbs is run through as a whole, which makes the code maximal; `attempts` is then
    not used. In a larger one, words are drawn independently until `attempts` consecutive ones are not taken. The code
    for a smaller limit is a beginning of the code for a larger one. The only source of randomness is the raw output of
    PCG64, which numpy keeps the same in all versions.
    """
    most = _most(m, h, distance, limit)
    _nonnegative("seed", seed)
    if attempts < 1:
        raise UsageError(f"attempts: expected attempts >= 1, got {attempts}")
    source = np.random.PCG64(seed)
    code: list[int] = []
    if comb(m, h) * max(1, -(-m // 64)) <= SMALL_LAYER:
        _pack(code, _shuffled(m, h, source), h, distance, most)
    else:
        _pack(code, _drawn(m, h, source), h, distance, most, attempts)
    return Code(m, h, tuple(code))


def _shuffled(m: int, h: int, source: np.random.PCG64) -> Iterator[Words]:
    """The layer sorted by one random key a word, in 256 blocks (by the first byte of the key)."""
    words = np.concatenate(list(_layer_blocks(m, h)), axis=1)
    keys = np.asarray(source.random_raw(words.shape[1]), dtype=np.uint64)
    first = (keys >> np.uint64(56)).astype(np.uint8)
    for byte in range(256):
        chosen = np.flatnonzero(first == byte)
        yield words[:, chosen[np.argsort(keys[chosen], kind="stable")]]


def _drawn(m: int, h: int, source: np.random.PCG64) -> Iterator[Words]:
    """Random words of the layer, 1 <= h <= m, without end: the elements with the h least of m random keys."""
    rows, limbs = max(1, DRAWS // m), -(-m // 64)
    while True:
        keys = source.random_raw(rows * m).reshape(rows, m)
        member = np.zeros((rows, 64 * limbs), dtype=bool)
        np.put_along_axis(member, np.argpartition(keys, h - 1, axis=1)[:, :h], True, axis=1)
        yield _packed(member)


def _packed(member: npt.NDArray[np.bool_]) -> Words:
    """n x 64k memberships as k x n limbs."""
    return np.ascontiguousarray(np.packbits(member, axis=1, bitorder="little").view("<u8").T, dtype=np.uint64)


def packing_bound(m: int, h: int, distance: int) -> int:
    """ceil(C(m,h) / sum_{a<distance} C(h,a) C(m-h,a)), exact: so many words greedy packing finds at least."""
    _in_range(m, h)
    _nonnegative("distance", distance)
    ball, left, right = 0, 1, 1  # left = C(h, a), right = C(m-h, a)
    for a in range(min(max(distance, 1), min(h, m - h) + 1)):
        ball += left * right
        left, right = left * (h - a) // (a + 1), right * (m - h - a) // (a + 1)
    return -(-comb(m, h) // ball)


# --- Graham-Sloane classes ----------------------------------------------------------------------------------


def graham_sloane_sizes(m: int, h: int) -> tuple[int, ...]:
    """How many h-subsets of {0..m-1} have the sum of elements r mod m, for r = 0..m-1 (m >= 1). No enumeration."""
    _in_range(m, h)
    if m == 0:
        raise UsageError("m: expected m >= 1 for sums mod m, got 0")
    sizes = np.zeros((h + 1, m), dtype=object)  # of the subsets of {0..e-1} by weight and sum
    sizes[0, 0] = 1
    for element in range(m):
        sizes[1:] += np.roll(sizes[:-1], element, axis=1)
    return tuple(int(size) for size in sizes[h])


def graham_sloane_size(m: int, h: int, residue: int | None = None) -> int:
    """The size of `graham_sloane(m, h, residue)`, by dynamic programming."""
    sizes = graham_sloane_sizes(m, h)
    return sizes[_class(sizes, residue)]


def _class(sizes: Sequence[int], residue: int | None) -> int:
    if residue is None:
        return sizes.index(max(sizes))
    if not 0 <= residue < len(sizes):
        raise UsageError(f"residue: expected 0 <= residue < m = {len(sizes)}, got {residue}")
    return residue


def graham_sloane(m: int, h: int, residue: int | None = None) -> Code:
    """The h-subsets of {0..m-1} whose sum is `residue` mod m (m >= 1), increasing; directed distance >= 2.

    Default: the largest class, the least residue if there are several. By averaging it has at least C(m,h)/m words. The
    layer is enumerated: `UsageError` if it has more than `LARGEST_CLASS_LAYER` words.
    """
    _in_range(m, h)
    if comb(m, h) > LARGEST_CLASS_LAYER:
        raise UsageError(
            f"m, weight: expected at most {LARGEST_CLASS_LAYER} subsets to enumerate, C({m},{h}) is larger "
            "(graham_sloane_size counts without enumeration)"
        )
    residue = _class(graham_sloane_sizes(m, h), residue)
    words: list[int] = []
    for block in _layer_blocks(m, h):
        total = np.zeros(block.shape[1], dtype=np.int64)
        for element in range(m):
            total += (block[element // 64] >> np.uint64(element % 64) & np.uint64(1)).astype(np.int64) * element
        words += _integers(block[:, total % m == residue])
    return Code(m, h, tuple(words))


# --- Hadamard matrices --------------------------------------------------------------------------------------


def hadamard(order: int) -> Code:
    """2(order-1) words from a Hadamard matrix: m = order, weight order/2, increasing.

    For order >= 4 the least directed distance is order/4. Raises `UsageError` naming the order where no construction is
    known here; that says nothing about whether a Hadamard matrix exists.
    """
    matrix = hadamard_matrix(order)
    matrix = matrix * matrix[0]  # the first row becomes constant, the other rows orthogonal to it
    matrix = matrix[1:] * matrix[1:, :1]  # bit 0 belongs to the rows, not to their complements
    member = np.zeros((2 * (order - 1), 64 * -(-order // 64)), dtype=bool)
    member[: order - 1, :order] = matrix > 0
    member[order - 1 :, :order] = matrix < 0
    return Code(order, order // 2, tuple(sorted(_integers(_packed(member)))))


def hadamard_matrix(order: int) -> Signs:
    """H with entries +1, -1 and H H^T = order I, which is checked in exact integers.

    Constructions: order 1 and 2; Paley I (order q+1, prime q = 3 mod 4); Paley II (order 2(q+1), prime q = 1 mod 4);
    and Kronecker products of these, Sylvester's among them. Raises `UsageError` where there is none.
    """
    matrix = _construct(order) if order >= 1 else None
    if matrix is None:
        raise UsageError(
            f"order: no Hadamard matrix of order {order} by the constructions known here (Sylvester, Paley I and II "
            "over prime fields, Kronecker products)"
        )
    for start in range(0, order, 256):  # int32 holds sums of `order` signs
        product = matrix[start : start + 256].astype(np.int32) @ matrix.T.astype(np.int32)
        if not np.array_equal(product, order * np.eye(order, dtype=np.int32)[start : start + 256]):
            raise ClaimFails(f"the matrix of order {order} is no Hadamard matrix: a fault in the construction")
    return matrix


def _construct(order: int) -> Signs | None:
    if order <= 2:
        return np.array([[1, 1], [1, -1]], dtype=np.int8)[:order, :order]
    if order % 4:
        return None
    if _is_prime(order - 1):
        return _paley(order - 1) + np.eye(order, dtype=np.int8)
    q = order // 2 - 1
    if q % 4 == 1 and _is_prime(q):
        conference, one = _paley(q), np.eye(q + 1, dtype=np.int8)
        plus, minus = np.array([[1, 1], [1, -1]], dtype=np.int8), np.array([[1, -1], [-1, -1]], dtype=np.int8)
        return np.kron(conference, plus) + np.kron(one, minus)
    for left in range(2, isqrt(order) + 1):
        if order % left == 0:
            factors = _construct(left), _construct(order // left)
            if factors[0] is not None and factors[1] is not None:
                return np.kron(factors[0], factors[1])
    return None


def _paley(q: int) -> Signs:
    """The bordered Jacobsthal matrix S of a prime q, of order q+1: zero diagonal, S S^T = q I, skew if q = 3 mod 4,
    symmetric if q = 1 mod 4."""
    character = np.full(q, -1, dtype=np.int8)
    character[np.arange(1, q, dtype=np.int64) ** 2 % q] = 1
    character[0] = 0
    index = np.arange(q)
    matrix = np.zeros((q + 1, q + 1), dtype=np.int8)
    matrix[0, 1:] = 1
    matrix[1:, 0] = 1 if q % 4 == 1 else -1
    matrix[1:, 1:] = character[(index[:, None] - index) % q]
    return matrix


def _is_prime(q: int) -> bool:
    return q >= 2 and all(q % p for p in range(2, isqrt(q) + 1))


# --- Experiment 5.1 -----------------------------------------------------------------------------------------


def jump_count(code: Code, gap: int = 3) -> int:
    """sum of floor(|S \\ U| / gap) over ordered pairs of words: the jumps of their chains, three inputs each."""
    if gap < 1:
        raise UsageError(f"gap: expected gap >= 1, got {gap}")
    return sum(pairs * (distance // gap) for distance, pairs in code.distances().items())


def find_jump_code(first_seed: int = 0, target: int = 424, tries: int = 1000) -> tuple[int, Code]:
    """(seed, code): the first seed from `first_seed` on whose `random_greedy(24, 12, 6, limit=15)` has `target` jumps.

    Fifteen words have 210 ordered pairs at distance 6..12, so 420 jumps of at least 3, and one more for each ordered
    pair at distance 9..11 (two more at 12). Raises `Undecided` after `tries` seeds.
    """
    for seed in range(first_seed, first_seed + tries):
        code = random_greedy(24, 12, 6, seed=seed, limit=15)
        if code.size == 15 and jump_count(code) == target:
            return seed, code
    raise Undecided(
        f"no code of fifteen words with {target} jumps for the seeds {first_seed}..{first_seed + tries - 1}"
    )
