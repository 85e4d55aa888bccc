"""Codes against slow definitions: itertools.combinations and double loops."""

from collections import Counter
from itertools import combinations, islice
from math import comb, gcd
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from proofcheck import codes
from proofcheck.codes import Code
from proofcheck.errors import ClaimFails, MalformedInput, Undecided, UsageError

# --- slow definitions ---------------------------------------------------------------------------------------


def subsets(m, h):
    return sorted(sum(1 << e for e in chosen) for chosen in combinations(range(m), h))


def elements(word):
    return {e for e in range(word.bit_length()) if word >> e & 1}


def directed(word, other):
    return bin(word & ~other).count("1")


def pair_counts(words):
    return Counter(directed(a, b) for i, a in enumerate(words) for j, b in enumerate(words) if i != j)


def greedy(words, distance, limit=None):
    taken = []
    for word in words:
        if limit is not None and len(taken) == limit:
            break
        if all(directed(word, other) >= max(distance, 1) for other in taken):
            taken.append(word)
    return taken


def word_of(chosen):
    return sum(1 << e for e in chosen)


@st.composite
def layers(draw, most=9):
    m = draw(st.integers(0, most))
    return m, draw(st.integers(0, m))


@st.composite
def families(draw):
    """A code of up to 12 distinct words, of 0 to 200 bits."""
    m = draw(st.one_of(st.integers(0, 8), st.sampled_from([63, 64, 65, 127, 128, 129, 200])))
    h = draw(st.one_of(st.integers(0, m), st.sampled_from([0, m, m // 2])))
    subset = st.permutations(range(m)).map(lambda order: word_of(order[:h]))
    words = draw(st.lists(subset, max_size=12, unique=True))
    return Code(m, h, tuple(words))


# --- Code ---------------------------------------------------------------------------------------------------


@given(families(), st.sampled_from([1, 2, 5, 1 << 20]))
def test_distances_against_a_double_loop(code, pairs):
    counts = pair_counts(code.words)
    with patch.object(codes, "PAIRS", pairs):
        assert code.distribution() == counts
        assert list(code.distribution()) == sorted(counts)
        assert code.distance() == min(counts, default=min(code.weight, code.m - code.weight))
    assert code.size == len(code.words)
    for gap in (1, 2, 3, 7):
        assert codes.jump_count(code, gap) == sum(n * (d // gap) for d, n in counts.items())


@given(families(), st.integers(0, 110), st.sampled_from([1, 3, 1 << 20]))
def test_validate_names_the_first_near_pair(code, distance, pairs):
    near = [(i, j) for i, j in combinations(range(code.size), 2) if directed(code.words[i], code.words[j]) < distance]
    with patch.object(codes, "PAIRS", pairs):
        if not near:
            code.validate(distance)
            return
        with pytest.raises(ClaimFails) as caught:
            code.validate(distance)
    i, j = near[0]
    a, b = code.words[i], code.words[j]
    assert str(caught.value) == (
        f"words {i} and {j} ({a:x}, {b:x}) are at directed distance {directed(a, b)}, less than {distance}"
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (Code(4, 2, (3, 5, 7)), "word 2 (7) has weight 3, expected 2"),
        (Code(4, 2, (3, 0)), "word 1 (0) has weight 0, expected 2"),
        (Code(4, 2, (0x11, 3)), "word 0 (11) has bit 4, outside 0..3"),
        (Code(70, 1, (1, 1 << 70)), f"word 1 ({1 << 70:x}) has bit 70, outside 0..69"),
        (Code(4, 2, (3, 5, 6, 5, 3)), "words 1 and 3 are the same: 5"),
        (Code(0, 0, (0, 0)), "words 0 and 1 are the same: 0"),
    ],
)
def test_validate_names_the_fault(code, reason):
    with pytest.raises(ClaimFails) as caught:
        code.validate()
    assert str(caught.value) == reason


@pytest.mark.parametrize("pairs", [1, 9, 30, 1 << 20])
def test_validate_names_a_near_pair_in_a_later_block(pairs):
    words = [0b111 << 3 * i for i in range(20)] + [0b1011 << 42 & ~(1 << 45) | 1 << 60]
    code = Code(61, 3, tuple(words))
    with patch.object(codes, "PAIRS", pairs), pytest.raises(ClaimFails, match=r"words 14 and 20 .* distance 1, less"):
        code.validate(2)


def test_distance_refuses_wrong_weights_and_sees_repeated_words():
    for method in (Code.distance, Code.distribution, codes.jump_count):
        with pytest.raises(ClaimFails, match="has weight 3"):
            method(Code(4, 2, (3, 7)))
    assert Code(4, 2, (3, 3, 12)).distance() == 0
    assert Code(4, 2, (3, 3, 12)).distribution() == {2: 4}


def test_degenerate_codes():
    assert Code(0, 0, ()).distance() == Code(0, 0, (0,)).distance() == 0
    assert Code(9, 3, ()).distance() == Code(9, 3, (7,)).distance() == 3
    assert Code(9, 7, ()).distance() == 2
    assert Code(9, 3, (7,)).distribution() == {}
    Code(9, 3, (7,)).validate(100)
    Code(9, 3, ()).validate(100)


# --- layers -------------------------------------------------------------------------------------------------


@given(layers(), st.integers(0, 9))
def test_layer_and_blocks(shape, table_bits):
    expected = subsets(*shape)
    assert list(codes.layer(*shape)) == expected
    with patch.object(codes, "TABLE_BITS", table_bits):
        blocks = list(codes._layer_blocks(*shape))
        assert [word for block in blocks for word in codes._integers(block)] == expected


@pytest.mark.parametrize(("m", "h"), [(65, 1), (65, 64), (66, 2), (130, 1), (130, 129), (130, 0), (130, 130)])
def test_layer_beyond_one_limb(m, h):
    expected = subsets(m, h)
    assert list(codes.layer(m, h)) == expected
    assert [word for block in codes._layer_blocks(m, h) for word in codes._integers(block)] == expected


@given(st.lists(st.integers(0, 2**200 - 1), max_size=5), st.sampled_from([0, 64, 65, 300]))
def test_limbs_hold_the_words(words, bits):
    limbs = codes._limbs(words, bits)
    assert codes._integers(limbs) == words
    assert codes._count(limbs).tolist() == [word.bit_count() for word in words]


# --- greedy packing -----------------------------------------------------------------------------------------


@given(layers(), st.integers(0, 10), st.none() | st.integers(0, 6), st.integers(0, 9), st.sampled_from([1, 7, 1 << 14]))
def test_lexicode_is_the_plain_greedy_code(shape, distance, limit, table_bits, group):
    with patch.object(codes, "TABLE_BITS", table_bits), patch.object(codes, "GROUP", group):
        code = codes.lexicographic(*shape, distance, limit)
    assert list(code.words) == greedy(subsets(*shape), distance, limit)
    assert (code.m, code.weight) == shape


@pytest.mark.parametrize(("m", "h", "distance"), [(12, 6, 3), (14, 5, 2), (66, 2, 2), (130, 1, 1), (66, 65, 1)])
def test_larger_lexicodes(m, h, distance):
    code = codes.lexicographic(m, h, distance)
    code.validate(distance)
    with patch.object(codes, "PRUNING", 0):
        assert codes.lexicographic(m, h, distance) == code
    if m < 100:
        assert list(code.words) == greedy(codes.layer(m, h), distance)


def test_lexicode_of_a_layer_too_large_to_enumerate():
    code = codes.lexicographic(4096, 2048, 11, limit=4)
    assert code.size == 4
    code.validate(11)
    assert codes.lexicographic(200, 100, 101).words == ((1 << 100) - 1,)  # no two words are so far apart
    assert codes.lexicographic(200, 150, 51).words == ((1 << 150) - 1,)
    assert codes.lexicographic(200, 100, 101, limit=0).words == ()
    prefix = greedy(islice(codes.layer(40, 20), 20_000), 3)
    assert codes.lexicographic(40, 20, 3, limit=len(prefix)).words == tuple(prefix)


@given(layers(), st.integers(0, 10), st.integers(0, 2**70), st.integers(0, 6))
def test_random_code_of_a_small_layer_is_maximal(shape, distance, seed, limit):
    code = codes.random_greedy(*shape, distance, seed=seed)
    code.validate(distance)
    for word in subsets(*shape):
        assert word in code.words or any(directed(word, other) < max(distance, 1) for other in code.words)
    assert code == codes.random_greedy(*shape, distance, seed=seed)
    assert codes.random_greedy(*shape, distance, seed=seed, limit=limit).words == code.words[:limit]
    assert code.size >= codes.packing_bound(*shape, distance)


@given(st.integers(0, 1000), st.integers(1, 12), st.none() | st.integers(0, 5), st.sampled_from([12, 40, 1000]))
@settings(max_examples=50)
def test_random_code_of_a_large_layer_stops_after_failures(seed, attempts, limit, draws):
    """The same words one at a time: by definition, and whatever the size of the blocks."""
    m, h, distance = 12, 6, 3

    def one_by_one():
        source = np.random.PCG64(seed)
        while True:
            keys = [int(key) for key in source.random_raw(m)]
            yield word_of(sorted(range(m), key=keys.__getitem__)[:h])

    expected, failures = [], 0
    for word in one_by_one():
        if failures == attempts or len(expected) == limit:
            break
        if all(directed(word, other) >= distance for other in expected):
            expected.append(word)
            failures = 0
        else:
            failures += 1
    with patch.object(codes, "SMALL_LAYER", 0), patch.object(codes, "DRAWS", draws):
        code = codes.random_greedy(m, h, distance, seed=seed, limit=limit, attempts=attempts)
    assert list(code.words) == expected


def test_random_codes_beyond_one_limb():
    code = codes.random_greedy(150, 70, 25, seed=3, limit=60)
    assert code.size == 60
    code.validate(25)
    assert code == codes.random_greedy(150, 70, 25, seed=3, limit=60)
    assert code != codes.random_greedy(150, 70, 25, seed=4, limit=60)
    assert codes.random_greedy(150, 70, 71, seed=3).size == 1
    assert codes.random_greedy(100, 2, 1, seed=3).size == comb(100, 2)  # a small layer of two limbs, taken whole


def test_the_papers_packing():
    """M = 24, h = 12, Delta = 6: fifteen words; the stream of PCG64 is fixed, so they are too."""
    code = codes.random_greedy(24, 12, 6, seed=1, limit=15)
    assert code.size == 15
    code.validate(6)
    assert codes.jump_count(code) >= 420
    seed, found = codes.find_jump_code()
    assert (seed, found.size, codes.jump_count(found)) == (3, 15, 424)
    found.validate(6)
    assert sum(n for d, n in found.distribution().items() if d >= 9) == 4  # two unordered pairs
    assert found == codes.random_greedy(24, 12, 6, seed=3, limit=15)
    with pytest.raises(Undecided, match=r"424 jumps for the seeds 0\.\.2"):
        codes.find_jump_code(tries=3)


# --- counting -----------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.data())
def test_packing_bound_against_binomials(m, data):
    h, distance = data.draw(st.integers(0, m)), data.draw(st.integers(0, 70))
    ball = sum(comb(h, a) * comb(m - h, a) for a in range(max(distance, 1)))
    assert codes.packing_bound(m, h, distance) == -(-comb(m, h) // ball)


@given(layers())
def test_ball_sizes(shape):
    """The count behind the bound: each word has C(h,a) C(m-h,a) words at distance a."""
    m, h = shape
    words = subsets(m, h)
    counts = Counter(directed(words[0], word) for word in words)
    assert counts == {a: comb(h, a) * comb(m - h, a) for a in range(min(h, m - h) + 1)}


def test_packing_bound_of_theorem_6():
    assert codes.packing_bound(24, 12, 6) == 3
    assert codes.packing_bound(10_000, 5_000, 1_250) >= 16**250
    assert codes.packing_bound(9, 4, 0) == codes.packing_bound(9, 4, 1) == comb(9, 4)


# --- Graham-Sloane ------------------------------------------------------------------------------------------


@given(layers(11))
def test_graham_sloane_classes(shape):
    m, h = shape
    assume(m > 0)
    words = subsets(m, h)
    sizes = codes.graham_sloane_sizes(m, h)
    assert sum(sizes) == comb(m, h)
    for residue in range(m):
        code = codes.graham_sloane(m, h, residue)
        assert list(code.words) == [word for word in words if sum(elements(word)) % m == residue]
        assert code.size == sizes[residue] == codes.graham_sloane_size(m, h, residue)
        code.validate(2)
    assert codes.graham_sloane(m, h).size == codes.graham_sloane_size(m, h) == max(sizes) >= comb(m, h) / m
    assert codes.graham_sloane(m, h) == codes.graham_sloane(m, h, sizes.index(max(sizes)))


def mobius(n):
    sign = 1
    for p in range(2, n + 1):
        if n % p == 0:
            n //= p
            if n % p == 0:
                return 0
            sign = -sign
    return sign


@pytest.mark.parametrize(("m", "h"), [(24, 12), (60, 30), (100, 36), (65, 13)])
def test_graham_sloane_sizes_against_the_closed_form(m, h):
    """m N(r) = sum over d | gcd(m,h) of (-1)^(h + h/d) C(m/d, h/d) c_d(r), with Ramanujan's sum c_d."""
    common = gcd(m, h)
    for residue, size in enumerate(codes.graham_sloane_sizes(m, h)):
        total = 0
        for d in (d for d in range(1, common + 1) if common % d == 0):
            ramanujan = sum(mobius(d // e) * e for e in range(1, d + 1) if d % e == 0 and residue % e == 0)
            total += (-1) ** (h + h // d) * comb(m // d, h // d) * ramanujan
        assert m * size == total


def test_graham_sloane_beyond_one_limb():
    code = codes.graham_sloane(67, 2)
    assert code.size == comb(67, 2) // 67
    code.validate(2)
    assert all(sum(elements(word)) % 67 == 0 for word in code.words)


# --- Hadamard -----------------------------------------------------------------------------------------------

KNOWN = [1, 2, *(order for order in range(4, 132, 4) if order not in {52, 92, 100, 116})]


@pytest.mark.parametrize("order", KNOWN)
def test_hadamard_codes(order):
    matrix = codes.hadamard_matrix(order).astype(object)
    assert set(matrix.ravel()) <= {1, -1}
    assert (matrix.dot(matrix.T) == order * np.eye(order, dtype=object)).all()
    code = codes.hadamard(order)
    assert (code.m, code.weight, code.size) == (order, order // 2, 2 * (order - 1))
    assert list(code.words) == sorted(code.words)
    whole = (1 << order) - 1
    assert {whole ^ word for word in code.words} == set(code.words)
    expected = {}
    if order >= 4:
        expected[order // 4] = code.size * (code.size - 2)
    if order >= 2:
        expected[order // 2] = code.size
    assert code.distribution() == expected
    if order <= 48:
        assert pair_counts(code.words) == expected
    code.validate(order // 4)


def test_hadamard_24():
    code = codes.hadamard(24)
    assert (code.size, code.weight, code.distance()) == (46, 12, 6)
    assert codes.jump_count(codes.Code(24, 12, code.words[:15])) == 420


@pytest.mark.parametrize("order", [-4, 0, 3, 6, 10, 22, 52, 92, 100, 116, 668])
def test_hadamard_orders_without_construction(order):
    with pytest.raises(UsageError, match=rf"order {order} by the constructions known here"):
        codes.hadamard(order)


def test_hadamard_matrix_is_checked():
    """A wrong construction does not get through."""
    wrong = codes.hadamard_matrix(300).copy()
    wrong[299, 299] *= -1
    with patch.object(codes, "_construct", lambda order: wrong), pytest.raises(ClaimFails, match="no Hadamard matrix"):
        codes.hadamard(300)


# --- files --------------------------------------------------------------------------------------------------


@given(families())
@example(Code(0, 0, ()))
@example(Code(0, 0, (0,)))
def test_file_round_trip(tmp_path_factory, code):
    path = tmp_path_factory.getbasetemp() / "round-trip.txt"
    code.write(path)
    assert codes.read(path) == code
    assert codes.read(str(path)) == code


def test_comments_and_spaces(tmp_path):
    path = tmp_path / "code.txt"
    path.write_bytes(b"# a code\r\n\r\n 5\t2 # m, weight\r\n 3\r\n# more\r\n0C #last\r\n\r\n")
    assert codes.read(path) == Code(5, 2, (3, 12))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line 1: expected 'm weight', two decimal numbers with weight <= m, got nothing"),
        (b"# only\n\n", "line 1: expected 'm weight', two decimal numbers with weight <= m, got nothing"),
        (b"\n24\nff\n", "line 2: expected 'm weight', two decimal numbers with weight <= m, got '24'"),
        (b"4 5\n", "line 1: expected 'm weight', two decimal numbers with weight <= m, got '4 5'"),
        (b"4 -1\n", "got '4 -1'"),
        (b"4 2 1\n", "got '4 2 1'"),
        (b"1_0 2\n", "got '1_0 2'"),
        ("٤ 2\n".encode(), "line 1: expected 'm weight'"),
        (b"\xef\xbb\xbf4 2\n", "line 1: expected 'm weight'"),
        (b"9999999999 2\n", "line 1: expected 'm weight'"),
        (b"4 2\n3\n0x5\n", "line 3: expected one hexadecimal word, got '0x5'"),
        (b"4 2\n3 5\n", "line 2: expected one hexadecimal word, got '3 5'"),
        (b"4 2\n-3\n", "line 2: expected one hexadecimal word, got '-3'"),
        (b"4 2\n3\n\nxyz # ?\n", "line 4: expected one hexadecimal word, got 'xyz'"),
        (b"4 2\n" + b"z" * 99, "line 2: expected one hexadecimal word, got '" + "z" * 40 + "...'"),
        (b"4 2\n11\n", "line 2: expected a word of m = 4 bits, got '11'"),
        (b"4 2\n\xff\n", "expected UTF-8 text, byte 4 is not"),
    ],
)
def test_malformed_files(tmp_path, data, reason):
    path = tmp_path / "code.txt"
    path.write_bytes(data)
    with pytest.raises(MalformedInput) as caught:
        codes.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


def test_missing_file(tmp_path):
    for path in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(MalformedInput, match="cannot be read"):
            codes.read(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4 2\n3\n5\n7\n", "word 2 (7) has weight 3, expected 2"),
        ("4 2\n3\n5\n03\n", "words 0 and 2 are the same: 3"),
    ],
)
def test_files_that_hold_no_code(tmp_path, text, reason):
    path = tmp_path / "code.txt"
    path.write_text(text)
    with pytest.raises(ClaimFails) as caught:
        codes.read(path)
    assert str(caught.value) == f"{path}: {reason}"


# --- ranges -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Code(-1, 0, ()), "m: expected m >= 0, got -1"),
        (lambda: Code(4, 5, ()), "weight: expected 0 <= weight <= m = 4, got 5"),
        (lambda: Code(4, -1, ()), "weight: "),
        (lambda: Code(4, 1, (1, -2)), "word 1: expected a nonnegative integer, got -2"),
        (lambda: Code(4, 1, (1,)).validate(-1), "distance: "),
        (lambda: codes.layer(4, 5), "weight: "),
        (lambda: codes.lexicographic(4, 2, -1), "distance: expected distance >= 0, got -1"),
        (lambda: codes.lexicographic(4, 2, 1, limit=-1), "limit: "),
        (lambda: codes.lexicographic(4, 5, 1), "weight: "),
        (lambda: codes.random_greedy(4, 2, 1, seed=-1), "seed: "),
        (lambda: codes.random_greedy(4, 2, 1, seed=0, attempts=0), "attempts: "),
        (lambda: codes.random_greedy(-4, 2, 1, seed=0), "m: "),
        (lambda: codes.graham_sloane(4, 2, 4), "residue: expected 0 <= residue < m = 4, got 4"),
        (lambda: codes.graham_sloane(4, 2, -1), "residue: "),
        (lambda: codes.graham_sloane(0, 0), "m: expected m >= 1 for sums mod m, got 0"),
        (lambda: codes.graham_sloane(100, 50), "graham_sloane_size counts without enumeration"),
        (lambda: codes.graham_sloane_size(3, 4), "weight: "),
        (lambda: codes.packing_bound(3, 4, 1), "weight: "),
        (lambda: codes.packing_bound(3, 2, -1), "distance: "),
        (lambda: codes.jump_count(Code(4, 1, (1,)), 0), "gap: expected gap >= 1, got 0"),
    ],
)
def test_arguments_out_of_range(call, named):
    with pytest.raises(UsageError) as caught:
        call()
    assert named in str(caught.value)
