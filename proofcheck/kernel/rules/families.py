"""Rules for codes, chains, rank bounds and transcripts."""

from __future__ import annotations

from fractions import Fraction

from .. import minip
from ..claims.forms import Chain, Code, Collision, FeatureRank, Transcript, TypedFamily
from ..claims.parameters import factor, least_gap
from ..exact import Budget, Rejected, bounded, expect, integer, record, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Used = dict[str, Any]

MAX_ASSIGNMENTS = 1_000  # of a typed family that are evaluated one by one


def _code_words(family: list[int], m: int, weight: int, distance: int) -> None:
    """Every word is a `weight`-subset of [m]; any two have directed distance at least `distance`."""
    Budget().charge(len(family) ** 2 // 32, m // 8)
    for i, word in enumerate(family):
        if word.bit_count() != weight or word >> m:
            raise Rejected(
                f"word {i} ({_short(word)}) has weight {word.bit_count()}, or lies outside [{m}]; expected {weight}"
            )
        for j in range(i):
            if weight - (word & family[j]).bit_count() < distance:
                raise Rejected(
                    f"words {j} and {i} ({_short(family[j])}, {_short(word)}) are at directed distance "
                    f"{weight - (word & family[j]).bit_count()}, less than {distance}"
                )


def _short(word: int) -> str:
    text = f"{word:x}"
    return text if len(text) <= 60 else text[:57] + "..."


def code(claim: Code, witness: object, used: Used) -> list[str]:
    """The words of a code, in increasing order."""
    family = words(expect(record(witness, "witness", ["words"])["words"], "witness.words", list), "witness.words")
    if len(family) != claim.size:
        raise Rejected(f"the claim says {claim.size} words, the witness has {len(family)}")
    _code_words(family, claim.m, claim.weight, claim.distance)
    return [f"{len(family)} words of weight {claim.weight}, all pairs at directed distance >= {claim.distance}"]


def packing(claim: Code, witness: object, used: Used) -> list[str]:
    """Greedy packing: size-1 words forbid fewer words than the layer has. The witness is empty."""
    record(witness, "witness", [])
    m, h = claim.m, claim.weight
    ball, left, right = 0, 1, 1  # left = C(h, a), right = C(m-h, a)
    Budget().charge(min(claim.distance, h + 1), m // 8)
    for a in range(min(claim.distance, h + 1)):
        ball += left * right
        left, right = left * (h - a) // (a + 1), right * (m - h - a) // (a + 1)
    layer = 1
    for a in range(h):
        layer = layer * (m - a) // (a + 1)
    if (claim.size - 1) * ball >= layer:
        raise Rejected(
            f"{claim.size} - 1 balls of radius {claim.distance - 1} may cover the layer of {h}-sets: no packing"
        )
    return [f"(size - 1) * ball < C({m},{h})"]


def chain(claim: Chain, witness: object, used: Used) -> list[str]:
    """Admissible gaps that add up to the distance, and whose factors multiply to at least the claimed one."""
    gaps = expect(record(witness, "witness", ["gaps"])["gaps"], "witness.gaps", list)
    product, budget = Fraction(1), Budget()
    for i, value in enumerate(gaps):
        gap = integer(value, f"witness.gaps[{i}]", 1)
        if gap < least_gap(claim.n, claim.eps):
            raise Rejected(
                f"witness.gaps[{i}]: {gap} is below the least admissible gap {least_gap(claim.n, claim.eps)}"
            )
        budget.charge(1, product.numerator.bit_length())
        product = bounded(product * factor(claim.n, Fraction(gap), claim.eps))
    if sum(gaps) != claim.distance:
        raise Rejected(f"the gaps add up to {sum(gaps)}, not to {claim.distance}")
    if product < claim.factor:
        raise Rejected(f"the factors multiply to {product}, less than {claim.factor}")
    return [f"{len(gaps)} admissible gaps with factors that multiply to {product}"]


def amplification(claim: FeatureRank, witness: object, used: Used) -> list[str]:
    """Theorem 5: T words and off-diagonal entries below 1/Lambda give r > T/(1 + (T-1)/Lambda^2) for T >= 2."""
    record(witness, "witness", [])
    family, forced = used["code"], used["chain"]
    if family.m > claim.m:
        raise Rejected(f"the code needs {family.m} bits, the claim has {claim.m}")
    if (forced.n, forced.eps) != (claim.n, claim.eps):
        raise Rejected(f"the chain is for n={forced.n}, eps={forced.eps}, the claim for n={claim.n}, eps={claim.eps}")
    if forced.distance > family.distance:
        raise Rejected(f"the chain needs distance {forced.distance}, the code has {family.distance}")
    bound = Fraction(family.size) / (1 + (family.size - 1) / forced.factor**2)
    least = bound.numerator // bound.denominator + 1 if family.size > 1 else 1
    if claim.value > least:
        raise Rejected(
            f"{family.size} words and the factor {forced.factor} give at least {least} features, not {claim.value}"
        )
    return [f"{family.size} words, Lambda = {forced.factor}: r >= {least}"]


def typed_family(claim: TypedFamily, witness: object, used: Used) -> list[str]:
    """Overlaps of all tokens of the family, by minip; for small families every assignment."""
    record(witness, "witness", [])
    m, s, family = claim.m, claim.s, claim.words
    _code_words(family, m, claim.weight, s + 1)
    Budget().charge(len(family) ** 2 * (s + 1), m // 8)
    full, ones = (1 << m) - 1, (1 << s) - 1
    # From the low bits: s level bits, M set bits, then the two type bits (query, database).
    queries = [(1 << (m + s)) | ((full & ~word) << s) | ones for word in family]
    slots = [[(2 << (m + s)) | (word << s) | ((1 << k) - 1) for k in range(s + 1)] for word in family]
    for i, query in enumerate(queries):
        for j in range(len(family)):
            if minip.overlap(query, queries[j]) <= s:
                raise Rejected(f"queries {i} and {j} overlap in {minip.overlap(query, queries[j])} <= s")
            for k, slot in enumerate(slots[j]):
                if minip.overlap(query, slot) != k if i == j else minip.overlap(query, slot) <= s:
                    raise Rejected(f"query {i} and slot {j} at level {k} overlap in {minip.overlap(query, slot)}")
    assignments = (s + 1) ** len(family)
    for number in range(assignments if assignments <= MAX_ASSIGNMENTS else 0):
        levels = [number // (s + 1) ** i % (s + 1) for i in range(len(family))]
        sequence = queries + [slots[i][level] for i, level in enumerate(levels)]
        if [minip.target(sequence, i) for i in range(len(family))] != levels:
            raise Rejected(f"assignment {levels} has other targets")
    return [f"all overlaps of {len(family)} queries and {len(family) * (s + 1)} database tokens"]


def transcript(claim: Transcript, witness: object, used: Used) -> list[str]:
    """Theorem 9: (s+1)^q assignments with different answers need as many transcripts. An empty witness has the power
    itself compared; for large q, 2^exponent <= (s+1)^power bounds log2(s+1) from below by exponent/power."""
    fields = expect(witness, "witness", dict)
    family, q, base = used["code"], claim.q, claim.s + 1
    if family.m != claim.m or family.distance < base or family.size < q or family.weight < 1:
        raise Rejected(
            f"the code has m={family.m}, distance {family.distance}, {family.size} words of weight {family.weight}"
        )
    power, exponent = q, claim.bits - 1
    if fields:
        fields = record(fields, "witness", ["power", "exponent"])
        power, exponent = (integer(fields[name], f"witness.{name}", 1) for name in ("power", "exponent"))
    Budget().charge(1 + power // 64, power * base.bit_length() // 64)
    size: int = base**power
    if fields and size.bit_length() <= exponent:
        raise Rejected(f"{base}^{power} is less than 2^{exponent}")
    if fields and (claim.bits - 1) * power >= q * exponent:
        raise Rejected(f"{q} times {exponent}/{power} is no more than {claim.bits - 1}")
    if not fields and (size - 1).bit_length() <= exponent:
        raise Rejected(f"{base}^{q} assignments fit into {exponent} bits")
    return [f"{base}^{q} > 2^{claim.bits - 1}"]


def collision(claim: Collision, witness: object, used: Used) -> list[str]:
    """The messages of both sequences, by the definition."""
    record(witness, "witness", [])
    left, right = claim.sequences
    width, columns, budget = len(claim.embedding), len(claim.embedding[0]), Budget()
    budget.charge(len(left) * (columns * width + len(left)) // 8, 0)
    for heads, _ in claim.layers:
        for _, key, value, _, _, polynomial in heads:
            r, dv = len(key), len(value)
            products = (2 * r + 2 * dv) * width + 2 * r * (dv + len(polynomial)) + r
            budget.charge(len(left) * (products // 8 + 2 * dv) + 3 * r * (dv + 1), 160 * (len(polynomial) + 1))
        budget.charge(3 * len(left) * width, 0)
    if left[claim.place] != right[claim.place]:
        raise Rejected(f"the tokens at place {claim.place} differ: nothing follows for what is decoded there")
    if claim.targets[0] == claim.targets[1]:
        raise Rejected(f"both targets at place {claim.place} are {claim.targets[0]}")
    sent = [minip.messages(claim.embedding, claim.layers, sequence) for sequence in (left, right)]
    for i, (one, other) in enumerate(zip(*sent, strict=True)):
        if one != other:
            head = next(h for h, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
            raise Rejected(f"the messages of layer {i} differ, first at head {head}")
    return [f"the messages of {len(sent[0])} layers on both sequences, by the definition"]
