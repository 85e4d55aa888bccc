# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of the claims beyond Lemma 3: codes, chains, ranks, heads, cases, transcripts, and what rests on what.

Certificates come from explicit objects (Hamming and Hadamard codes, approximate identities, rows of B1). Only the
witnesses of the claims by cases were found by a solver; they are stored in cases.json:

    python -m tests.kernel.theorem_tables      finds them anew (needs z3)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.kernel.building import DELETE, HALF, IDENTIFIER, Fields, certificate, changed, data, identity, use
from tests.kernel.lemma3_tables import symbolic, tight_head

CASES = Path(__file__).parent / "cases.json"
WITNESSES: Fields = json.loads(CASES.read_text("ascii"))
RESTS_ON = {"phase-transition": ("approximate-identity", "gap-domination-symbolic")}

Changes = Callable[[str], Fields]
f = Fraction


# ------------------------------------------------------------------------------------------- by cases


@cache
def by_cases(claim: str) -> Fields:
    uses = [foundation(name) for name in RESTS_ON.get(claim, ())]
    return certificate(claim, {}, "cases", WITNESSES[claim], uses)


def foundation(claim: str) -> Fields:
    return symbolic() if claim == "gap-domination-symbolic" else by_cases(claim)


# ------------------------------------------------------------------------------------ positions (Theorem 8)


def positional_symbolic() -> Fields:
    """M.upper + Y.lower + K Z.lower + (Kd - 2 eps L) a + negated conclusion = 0, K = (n-3) + 1, in the sums."""
    terms = [
        ["M.upper"],
        ["Y.lower"],
        ["n", "Z.lower"],
        ["Z.lower"],
        ["gap", "a"],
        ["negated-conclusion"],
    ]
    row = tight_head(3, f(2), HALF, f(1))
    sums = {"B": 2 * row["b"], "C": 2 * row["c"], "U": 2 * row["b"] * row["q"], "V": 2 * row["c"] * row["s"]}
    model = {"n": 3, "d": 2, "eps": HALF, "a": row["a"], "p": row["p"], **sums}
    listed = [{"coefficient": 1, "product": names} for names in terms]
    return certificate("positional-domination-symbolic", {}, "polynomial-identity", {"terms": listed, "model": model})


def positional(n: int, d: Fraction, eps: Fraction) -> Fields:
    row = tight_head(n, d, eps, f(1))
    sources = range(1, n)
    multipliers = {f"M{j}.upper": f(1) for j in sources}
    multipliers |= {
        "Y.lower": f(1),
        "Z.lower": f(n - 2),
        "a": (n - 2) * d - 2 * eps * (n - 1),
        "negated-conclusion": f(1),
    }
    model = {"a": row["a"], "p": row["p"]} | {f"{v}{j}": row[v] for v in "bcqs" for j in sources}
    witness = {"multipliers": {name: q for name, q in multipliers.items() if q}, "model": model}
    return certificate("positional-domination", {"n": n, "d": d, "eps": eps}, "farkas", witness)


# ---------------------------------------------------------------------------------------------- chain-tight


def tight_row(n: int, eps: Fraction, distance: int) -> Fields:
    """The least row that satisfies (ii) of B0, a little enlarged at every level, with a tiny self weight."""
    self_weight, grain = f(1, 10**6), f(1, 10**6)
    row = {distance: f(1)}
    for low in reversed(range(distance)):
        forced = [grain]
        for high, value in [*row.items(), (distance, self_weight)]:
            d, k, length = high - low, n - 2, n - 1
            forced.append((k * (d - 2 * eps) * value + (f(k * d, length) - 2 * eps) * self_weight) / (2 * eps))
        row[low] = max(forced) + grain
    return {"s": self_weight, **{f"a{level}": value for level, value in row.items()}}


def chain_tight(n: int, eps: Fraction, distance: int, bound: Fraction) -> Fields:
    parameters = {"n": n, "eps": eps, "distance": distance, "bound": bound}
    witness = {"assignment": tight_row(n, eps, distance)}
    return certificate("chain-tight", parameters, "model", witness, [by_cases("domination-sufficient")])


# ---------------------------------------------------------------------------------------- codes and chains


def hexadecimal(family: list[int]) -> list[str]:
    return [f"{word:x}" for word in sorted(family)]


def layer(m: int, weight: int) -> list[int]:
    return [sum(1 << i for i in chosen) for chosen in combinations(range(m), weight)]


def hamming() -> list[int]:
    """The 14 words of weight 4 of the extended Hamming code of length 8: directed distances 2 and 4."""
    basis = [0b11110000, 0b11001100, 0b10101010, 0b11111111]
    span = {0}
    for vector in basis:
        span |= {word ^ vector for word in span}
    return [word for word in span if word.bit_count() == 4]


def hadamard(order: int) -> list[list[int]]:
    """The Sylvester matrix of an order that is a power of two."""
    return [[(-1) ** (i & j).bit_count() for j in range(order)] for i in range(order)]


def code(m: int, weight: int, distance: int, family: list[int]) -> Fields:
    parameters = {"m": m, "weight": weight, "distance": distance, "size": len(family)}
    return certificate("code", parameters, "code", {"words": hexadecimal(family)})


def packing(m: int, weight: int, distance: int, fewer: int = 0) -> Fields:
    ball = sum(math.comb(weight, a) * math.comb(m - weight, a) for a in range(distance))
    size = -(-math.comb(m, weight) // ball) - fewer
    parameters = {"m": m, "weight": weight, "distance": distance, "size": size}
    return certificate("code", parameters, "packing", {})


def chain(n: int, eps: Fraction, gaps: list[int]) -> Fields:
    product = math.prod(((n - 2) * (gap - 2 * eps) / (2 * eps) for gap in gaps), start=f(1))
    parameters = {"n": n, "eps": eps, "distance": sum(gaps), "factor": product}
    return certificate("chain", parameters, "chain", {"gaps": gaps}, [symbolic()])


def feature_rank(m: int, family: Fields, forced: Fields, fewer: int = 0) -> Fields:
    size, factor = family["parameters"]["size"], f(forced["parameters"]["factor"])
    bound = size / (1 + (size - 1) / factor**2)
    value = 1 if size == 1 else math.floor(bound) + 1 - fewer
    parameters = {"m": m, "n": forced["parameters"]["n"], "eps": forced["parameters"]["eps"], "value": value}
    return certificate(
        "feature-rank", parameters, "amplification", {}, [by_cases("approximate-identity"), family, forced]
    )


# ------------------------------------------------------------------------------------------------- matrices


def matrix_rank(matrix: list[list[Any]], rank: int, rule: str, **witness: Any) -> Fields:
    return certificate("matrix-rank", {"matrix": matrix, "rank": rank}, rule, witness)


def near_identity(size: int, off: Fraction) -> list[list[Any]]:
    return [[f(1) if i == j else off for j in range(size)] for i in range(size)]


# --------------------------------------------------------------------------------------------------- tables


@cache
def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack below is a change of one of them."""
    eight = code(8, 4, 2, hamming())
    sixteen = code(16, 8, 4, [sum((entry > 0) << i for i, entry in enumerate(row)) for row in hadamard(16)[1:]])
    steps = chain(3, HALF, [5])
    long = packing(40, 20, 5)
    strong = chain(4, f(1, 4), [2])
    wide = chain(18, HALF, [2])
    growing = feature_rank(8, eight, wide)
    spread = packing(40, 20, 2)
    far = feature_rank(40, spread, chain(2**20 + 2, HALF, [2]))
    multilevel = packing(1860, 930, 187)
    small = code(4, 2, 2, [0b0011, 0b1100])
    rectangle = [[1, 2, 3, 4], [2, 4, 7, f(1, 3)], [0, 0, 5, f(-2, 7)]]
    result = {
        **{claim: by_cases(claim) for claim in WITNESSES},
        "positional-symbolic": positional_symbolic(),
        "positional-n3-d2": positional(3, f(2), HALF),
        "positional-n5-d3-eps1over3": positional(5, f(3), f(1, 3)),
        "chain-tight-n3-distance1": chain_tight(3, HALF, 1, f(1, 1000)),
        "chain-tight-n3-distance4": chain_tight(3, HALF, 4, f(301, 100)),
        "chain-tight-n4-eps1over4-distance3": chain_tight(4, f(1, 4), 3, f(1201, 100)),
        "code-all-pairs-of-4": code(4, 2, 1, layer(4, 2)),
        "code-two-words": small,
        "code-hamming-8": eight,
        "code-hadamard-16": sixteen,
        "code-one-word": code(3, 3, 9, [7]),
        "code-empty-set": code(5, 0, 1, [0]),
        "packing-24": packing(24, 12, 6),
        "packing-40": long,
        "packing-40-one-fewer": packing(40, 20, 5, 1),
        "packing-distance-beyond-weight": packing(9, 3, 30),
        "packing-heavy": packing(9, 7, 2),
        "packing-40-distance2": spread,
        "packing-1860": multilevel,
        "chain-one-gap": steps,
        "chain-4-4": chain(3, HALF, [4, 4]),
        "chain-least-gaps": chain(3, HALF, [2, 2, 2]),
        "chain-weaker-factor": changed(chain(5, f(2, 7), [3, 1, 2]), ("parameters/factor", "1/2")),
        "chain-n4-eps1over4": strong,
        "chain-n18": wide,
        "chain-wide": chain(2**20 + 2, HALF, [2]),
        "chain-huge-n": chain(10**30, f(1, 10**9), [1, 7]),
        "rank-hamming-n4": feature_rank(8, eight, strong),
        "rank-hamming-n4-on-more-bits": feature_rank(100, eight, strong),
        "rank-packing-40": feature_rank(40, long, steps),
        "rank-packing-40-lower": feature_rank(40, long, steps, 1),
        "rank-hamming-n18": growing,
        "rank-wide": far,
        "rank-one-word": feature_rank(3, code(3, 3, 9, [7]), steps),
        "growing-8": certificate("growing-context", {"m": 8, "n": 18}, "consequence", {}, [growing]),
        "growing-40": certificate("growing-context", {"m": 40, "n": 2**20 + 2}, "consequence", {}, [far]),
        "multilevel-2048": certificate("multilevel-code", {"m": 2048}, "consequence", {}, [multilevel]),
        "multilevel-32": certificate("multilevel-code", {"m": 32}, "consequence", {}, [packing(24, 12, 7)]),
        "packing-24-distance7": packing(24, 12, 7),
        "matrix-minor": matrix_rank(rectangle, 3, "rank-minor", rows=[0, 1, 2], columns=[0, 2, 3], prime=10007),
        "matrix-minor-largest-prime": matrix_rank(
            rectangle, 2, "rank-minor", rows=[0, 2], columns=[1, 2], prime=2**32 - 5
        ),
        "matrix-minor-prime-2": matrix_rank(
            [[1, 1, 0], [0, 1, 1], [1, 0, 1]], 2, "rank-minor", rows=[0, 1], columns=[0, 1], prime=2
        ),
        "matrix-minor-hadamard-16": matrix_rank(
            hadamard(16), 16, "rank-minor", rows=list(range(16)), columns=list(range(16)), prime=3
        ),
        "matrix-trace-identity": matrix_rank(near_identity(4, f(0)), 4, "rank-trace"),
        "matrix-trace-exactly-5": matrix_rank(near_identity(6, f(1, 5)), 5, "rank-trace"),
        "matrix-trace-simplex": matrix_rank(
            [[7 if i == j else -1 for j in range(8)] for i in range(8)], 7, "rank-trace"
        ),
        "matrix-trace-negative-trace": matrix_rank(near_identity(3, f(-1, 9)), 3, "rank-trace"),
        "softmin-rank-8": certificate(
            "softmin-rank",
            {"m": 3, "w": f(1, 6), "rank": 8},
            "rank-minor",
            {"rows": list(range(8)), "columns": list(range(8)), "prime": 101},
        ),
        "softmin-rank-trace": certificate("softmin-rank", {"m": 2, "w": f(1, 100), "rank": 1}, "rank-trace", {}),
        "softmin-head-m2-n3": certificate(
            "softmin-head", {"m": 2, "n": 3, "eps": HALF, "w": f(1, 6)}, "exhaustive", {}
        ),
        "softmin-head-m1-n1": certificate(
            "softmin-head", {"m": 1, "n": 1, "eps": f(1, 10**30), "w": f(999, 1000)}, "exhaustive", {}
        ),
        "uniform-head-m3-n2": certificate("uniform-head", {"m": 3, "n": 2, "eps": f(1, 10**9)}, "exhaustive", {}),
        "temperature-n3": certificate(
            "softmin-temperature",
            {"n": 3, "eps": HALF, "tau": f(9, 5)},
            "exponential",
            {"terms": 12},
            [by_cases("softmin")],
        ),
        "temperature-n1000": certificate(
            "softmin-temperature",
            {"n": 1000, "eps": f(1, 100), "tau": f(1152, 100)},
            "exponential",
            {"terms": 60},
            [by_cases("softmin")],
        ),
        "typed-family-2": certificate(
            "typed-family", {"M": 4, "weight": 2, "s": 1, "words": ["3", "c"]}, "typed-family", {}
        ),
        "typed-family-14": certificate(
            "typed-family", {"M": 8, "weight": 4, "s": 1, "words": hexadecimal(hamming())}, "typed-family", {}
        ),
        "typed-family-one-word": certificate(
            "typed-family", {"M": 3, "weight": 3, "s": 40, "words": ["7"]}, "typed-family", {}
        ),
        "transcript-14-bits": certificate(
            "transcript-bound", {"M": 8, "s": 1, "q": 14, "bits": 14}, "transcript", {}, [eight]
        ),
        "transcript-fewer-queries": certificate(
            "transcript-bound",
            {"M": 16, "s": 3, "q": 5, "bits": 10},
            "transcript",
            {},
            [sixteen],
        ),
        "transcript-by-logarithm": certificate(
            "transcript-bound",
            {"M": 16, "s": 2, "q": 15, "bits": 24},
            "transcript",
            {"power": 12, "exponent": 19},
            [sixteen],
        ),
        "transcript-by-logarithm-of-4": certificate(
            "transcript-bound",
            {"M": 16, "s": 3, "q": 5, "bits": 10},
            "transcript",
            {"power": 1, "exponent": 2},
            [sixteen],
        ),
    }
    for name, fields in result.items():  # what is rested on is in the table (or is Lemma 3's theorem)
        for item in fields["uses"]:
            if item["id"] not in {identity(symbolic()), *map(identity, result.values())}:
                raise ValueError(f"{name} rests on a {item['claim']} that is not in the table")
    return result


def conditional() -> dict[str, tuple[bytes, str]]:
    """Accepted, but resting on something that was not supplied, at one or two removes."""
    v = valid()
    phantom = code(60, 30, 5, [2**30 - 1])
    phantom["parameters"]["size"] = 10**9  # true or not: nothing was shown
    assuming = feature_rank(60, phantom, v["chain-one-gap"])
    lost = {**v["chain-one-gap"], "uses": [{"claim": "gap-domination-symbolic", "id": IDENTIFIER, "parameters": {}}]}
    table = {
        "chain-on-nothing": (lost, r"^certificate 0123456789ab \(gap-domination-symbolic\), which was not supplied"),
        "rank-on-a-code-not-supplied": (
            assuming,
            rf"^certificate {identity(phantom)[:12]} \(code\), which was not supplied",
        ),
        "rank-on-a-chain-on-nothing": (
            feature_rank(40, v["packing-40"], lost),
            r"^certificate 0123456789ab \(gap-domination-symbolic\), which was not supplied",
        ),
        "growing-on-a-rank-not-supplied": (
            changed(v["growing-8"], ("uses/0/id", IDENTIFIER)),
            r"^certificate 0123456789ab \(feature-rank\), which was not supplied",
        ),
        "transcript-on-a-code-not-supplied": (
            changed(v["transcript-14-bits"], ("uses/0/id", "f" * 64)),
            r"^certificate ffffffffffff \(code\), which was not supplied",
        ),
        "phase-transition-on-nothing": (
            changed(v["phase-transition"], ("uses/0/id", "0" * 64), ("uses/1/id", "0" * 64)),
            r"^certificate 000000000000 \(approximate-identity\), which was not supplied",
        ),
        "uses-itself-without-uses": (
            changed(
                v["chain-4-4"],
                ("parameters/factor", "17/2"),
                ("uses/0/id", identity(changed(v["chain-4-4"], ("parameters/factor", "17/2"), ("uses", [])))),
            ),
            r"\(gap-domination-symbolic\), which was not supplied",
        ),
        "uses-id-of-a-file-that-is-malformed": (
            changed(v["temperature-n3"], ("uses/0/id", identity({**by_cases("softmin"), "format": "proofcheck/2"}))),
            r"\(softmin\), which was not supplied",
        ),
    }
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def rejected() -> dict[str, tuple[bytes, str]]:
    v = valid()
    four, eight, two = v["code-all-pairs-of-4"], v["code-hamming-8"], v["code-two-words"]
    pack, steps, rank = v["packing-40"], v["chain-4-4"], v["rank-packing-40"]
    minor, trace = v["matrix-minor"], v["matrix-trace-exactly-5"]
    family, transcript = v["typed-family-2"], v["transcript-14-bits"]
    logarithm = v["transcript-by-logarithm"]
    no_cancel = r"the sum does not cancel: "
    wrong_chain = changed(steps, ("witness/gaps", [4, 5]))  # rejected; others use it
    table: dict[str, tuple[Fields, str]] = {
        # codes
        "code-distance-one-too-large": (changed(four, ("parameters/distance", 2)), r"^words \d+ and \d+ \(\w+, \w+\) are at directed distance 1, less than 2$"),
        "code-hamming-distance-for-directed-distance": (changed(eight, ("parameters/distance", 4)), r"are at directed distance 2, less than 4$"),
        "code-distance-3-of-hamming": (changed(eight, ("parameters/distance", 3)), r"are at directed distance 2, less than 3$"),
        "code-wrong-weight-claimed": (changed(four, ("parameters/weight", 3)), r"^word 0 \(3\) has weight 2, or lies outside \[4\]; expected 3$"),
        "code-one-word-of-other-weight": (changed(two, ("witness/words", ["3", "d"])), r"^word 1 \(d\) has weight 3, or lies outside \[4\]; expected 2$"),
        "code-word-outside": (changed(two, ("witness/words", ["3", "18"])), r"^word 1 \(18\) has weight 2, or lies outside \[4\]; expected 2$"),
        "code-word-far-outside": (changed(two, ("witness/words", ["3", "3" + "0" * 5000])), r"^word 1 \(3000.* has weight 2, or lies outside \[4\]; expected 2$"),
        "code-size-one-too-large": (changed(eight, ("parameters/size", 15)), r"^the claim says 15 words, the witness has 14$"),
        "code-size-one-too-small": (changed(eight, ("parameters/size", 13)), r"^the claim says 13 words, the witness has 14$"),
        "code-no-words": (changed(two, ("witness/words", [])), r"^the claim says 2 words, the witness has 0$"),
        "code-on-fewer-bits": (changed(eight, ("parameters/m", 7)), r"^word \d+ \(\w+\) has weight 4, or lies outside \[7\]; expected 4$"),
        "code-empty-set-twice-the-size": (changed(v["code-empty-set"], ("parameters/size", 2)), r"^the claim says 2 words, the witness has 1$"),
        # packing
        **{
            f"{name}-one-too-large": (
                changed(v[name], ("parameters/size", v[name]["parameters"]["size"] + 1)),
                r"^\d+ - 1 balls of radius \d+ may cover the layer of \d+-sets: no packing$",
            )
            for name in ("packing-24", "packing-40", "packing-distance-beyond-weight", "packing-heavy", "packing-1860")
        },
        "packing-ball-of-smaller-radius": (
            changed(pack, ("parameters/size", packing(40, 20, 4)["parameters"]["size"])),
            r"^\d+ - 1 balls of radius 4 may cover the layer of 20-sets: no packing$",
        ),
        "packing-distance-one-larger": (changed(v["packing-24"], ("parameters/distance", 7)), r"^\d+ - 1 balls of radius 6 may cover"),
        "packing-whole-layer-and-one": (
            changed(packing(9, 4, 1), ("parameters/size", 127)),
            r"^127 - 1 balls of radius 0 may cover the layer of 4-sets: no packing$",
        ),
        "packing-weight-zero-twice": (changed(packing(9, 0, 1), ("parameters/size", 2)), r"^2 - 1 balls of radius 0 may cover the layer of 0-sets: no packing$"),
        "packing-for-another-claim": (changed(steps, ("rule", "packing"), ("witness", {})), r"^rule packing shows an? Code statement, and this claim is of the shape Chain$"),
        # chains
        "chain-inadmissible-gap": (changed(steps, ("witness/gaps", [4, 3, 1]), ("parameters/factor", 1)), r"^witness\.gaps\[2\]: 1 is below the least admissible gap 2$"),
        "chain-gap-just-inadmissible": (
            changed(v["chain-n4-eps1over4"], ("parameters/eps", HALF_TEXT), ("parameters/distance", 1), ("parameters/factor", "1/9"), ("witness/gaps", [1])),
            r"^witness\.gaps\[0\]: 1 is below the least admissible gap 3/2$",
        ),
        "chain-gaps-too-short": (changed(steps, ("witness/gaps", [4])), r"^the gaps add up to 4, not to 8$"),
        "chain-gaps-too-long": (wrong_chain, r"^the gaps add up to 9, not to 8$"),
        "chain-no-gaps": (changed(steps, ("witness/gaps", [])), r"^the gaps add up to 0, not to 8$"),
        "chain-factor-slightly-above": (changed(steps, ("parameters/factor", f"{9 * 10**30 + 1}/{10**30}")), r"^the factors multiply to 9, less than 9000\d+1/10+$"),
        "chain-factor-of-one-gap-for-another-split": (changed(steps, ("witness/gaps", [8])), r"^the factors multiply to 7, less than 9$"),
        "chain-product-of-gaps": (changed(steps, ("parameters/factor", 16)), r"^the factors multiply to 9, less than 16$"),
        "chain-other-eps": (changed(steps, ("parameters/eps", "1/3"), ("parameters/factor", 26)), r"^the factors multiply to 25, less than 26$"),
        "chain-other-n": (changed(v["chain-n18"], ("parameters/n", 17)), r"^the factors multiply to 15, less than 16$"),
        "chain-other-distance": (changed(v["chain-one-gap"], ("parameters/distance", 4)), r"^the gaps add up to 5, not to 4$"),
        # uses
        "uses-missing-all": (changed(steps, ("uses", [])), r"^uses: this claim rests on gap-domination-symbolic; listed: none$"),
        "uses-missing-one": (changed(rank, ("uses", rank["uses"][:2])), r"^uses: this claim rests on approximate-identity, chain, code; listed: approximate-identity, code$"),
        "uses-extra": (changed(steps, ("uses", [*steps["uses"], use(by_cases("softmin"))])), r"^uses: this claim rests on gap-domination-symbolic; listed: gap-domination-symbolic, softmin$"),
        "uses-other-claim-named": (changed(steps, ("uses", [use(by_cases("softmin"))])), r"^uses: this claim rests on gap-domination-symbolic; listed: softmin$"),
        "uses-on-a-claim-that-needs-none": (changed(four, ("uses", [use(pack)])), r"^uses: this claim rests on no other certificate; listed: code$"),
        "uses-id-of-another-claim": (changed(steps, ("uses/0/id", identity(by_cases("softmin")))), r"^uses: the certificate [0-9a-f]{12} is not about gap-domination-symbolic with these parameters$"),
        "uses-id-of-an-instance": (changed(steps, ("uses/0/id", identity(v["positional-symbolic"]))), r"^uses: the certificate [0-9a-f]{12} is not about gap-domination-symbolic with these parameters$"),
        "uses-right-id-other-parameters": (
            changed(rank, ("uses/1/parameters/size", 10**9), ("parameters/value", 17)),
            r"^uses: the certificate [0-9a-f]{12} is not about code with these parameters$",
        ),
        "uses-right-id-larger-factor": (
            changed(rank, ("uses/2/parameters/factor", 1000), ("parameters/value", rank["parameters"]["value"] + 1)),
            r"^uses: the certificate [0-9a-f]{12} is not about chain with these parameters$",
        ),
        "uses-right-claim-other-certificate": (
            changed(rank, ("uses/2/id", identity(v["chain-n4-eps1over4"]))),
            r"^uses: the certificate [0-9a-f]{12} is not about chain with these parameters$",
        ),
        "uses-a-rejected-chain": (
            changed(feature_rank(40, v["packing-40"], v["chain-one-gap"]), ("uses/2/id", identity(wrong_chain)), ("uses/2/parameters", wrong_chain["parameters"])),
            r"^uses: the certificate [0-9a-f]{12} \(chain\) is not accepted",
        ),
        "uses-a-rejected-code": (
            changed(transcript, ("uses/0/id", identity(changed(eight, ("parameters/size", 15)))), ("uses/0/parameters/size", 15), ("parameters/q", 15)),
            r"^uses: the certificate [0-9a-f]{12} \(code\) is not accepted",
        ),
        "uses-a-certificate-that-only-parses": (
            changed(transcript, ("uses", [use(changed(two, ("witness/words/1", "0c")))]), ("parameters/M", 4), ("parameters/q", 2), ("parameters/bits", 2)),
            r"^uses: the certificate [0-9a-f]{12} \(code\) is not accepted",
        ),
        "uses-exchanged-ids": (
            changed(rank, ("uses/1/id", rank["uses"][2]["id"]), ("uses/2/id", rank["uses"][1]["id"])),
            r"^uses: the certificate [0-9a-f]{12} is not about code with these parameters$",
        ),
        # amplification
        "rank-one-too-large": (changed(rank, ("parameters/value", rank["parameters"]["value"] + 1)), r"^\d+ words and the factor 4 give at least \d+ features, not \d+$"),
        "rank-hamming-one-too-large": (changed(v["rank-hamming-n4"], ("parameters/value", 12)), r"^14 words and the factor 6 give at least 11 features, not 12$"),
        "rank-one-word-two-features": (changed(v["rank-one-word"], ("parameters/value", 2)), r"^1 words and the factor 4 give at least 1 features, not 2$"),
        "rank-on-fewer-bits-than-the-code": (changed(rank, ("parameters/m", 39)), r"^the code needs 40 bits, the claim has 39$"),
        "rank-for-another-n": (changed(rank, ("parameters/n", 4)), r"^the chain is for n=3, eps=1/2, the claim for n=4, eps=1/2$"),
        "rank-for-a-smaller-n": (changed(v["rank-hamming-n18"], ("parameters/n", 17)), r"^the chain is for n=18, eps=1/2, the claim for n=17, eps=1/2$"),
        "rank-for-another-eps": (changed(v["rank-hamming-n4"], ("parameters/eps", "1/3")), r"^the chain is for n=4, eps=1/4, the claim for n=4, eps=1/3$"),
        "rank-chain-longer-than-the-distance": (
            changed(feature_rank(8, eight, v["chain-one-gap"])),
            r"^the chain needs distance 5, the code has 2$",
        ),
        "rank-chain-one-longer-than-the-distance": (
            feature_rank(40, v["packing-40-distance2"], changed(chain(3, HALF, [3]))),
            r"^the chain needs distance 3, the code has 2$",
        ),
        "rank-by-another-rule": (changed(rank, ("rule", "rank-trace"), ("uses", rank["uses"][:1])), r"^rule rank-trace shows an? Matrix statement, and this claim is of the shape FeatureRank$"),
        # growing context and multilevel codes
        "growing-another-m": (
            changed(v["growing-8"], ("parameters/m", 9)),
            r"^the rank bound is for m=8, n=18, eps=1/2$",
        ),
        "growing-another-n": (changed(v["growing-8"], ("parameters/n", 19)), r"^the rank bound is for m=8, n=18, eps=1/2$"),
        "growing-another-eps": (
            changed(v["growing-8"], ("uses", [use(changed(v["rank-hamming-n18"], ("parameters/eps", "1/4")))])),
            r"^the rank bound is for m=8, n=18, eps=1/4$",
        ),
        "growing-rank-too-small": (
            changed(v["growing-40"], ("uses", [use(changed(v["rank-wide"], ("parameters/value", 14_000)))])),
            r"^the rank bound is smaller$",
        ),
        "multilevel-size-too-small": (
            changed(v["multilevel-2048"], ("uses", [use(changed(v["packing-1860"], ("parameters/size", 10**20)))])),
            r"^the code is smaller$",
        ),
        "multilevel-another-weight": (
            changed(v["multilevel-32"], ("uses", [use(packing(24, 11, 7))])),
            r"^the code has m=24, weight=11, distance=7$",
        ),
        "multilevel-distance-s": (changed(v["multilevel-32"], ("uses", [use(packing(24, 12, 6))])), r"^the code has m=24, weight=12, distance=6$"),
        "multilevel-another-M": (changed(v["multilevel-32"], ("uses", [use(packing(25, 12, 7))])), r"^the code has m=25, weight=12, distance=7$"),
        "multilevel-another-m": (changed(v["multilevel-32"], ("parameters/m", 33)), r"^the code has m=24, weight=12, distance=7$"),
        # minors
        **{
            f"minor-composite-{name}": (changed(minor, ("witness/prime", p)), rf"^witness\.prime: {p} is composite, {q} divides it$")
            for name, p, q in (
                ("4", 4, 2),
                ("carmichael-561", 561, 3),
                ("carmichael-3215031751", 3215031751, 151),
                ("prime-square", 65521**2, 65521),
                ("two-primes-near-65536", 65519 * 65521, 65519),
                ("strong-pseudoprime", 2047, 23),
                ("2-to-the-32", 2**32, 2),
                ("mersenne-fermat", 4294967295, 3),
            )
        },
        "minor-repeated-row": (changed(minor, ("witness/rows", [0, 1, 1])), r"^witness\.rows\[2\]: the indices must increase, but 1 follows 1$"),
        "minor-repeated-column": (changed(minor, ("witness/columns", [2, 2, 3])), r"^witness\.columns\[1\]: the indices must increase, but 2 follows 2$"),
        "minor-unsorted-rows": (changed(minor, ("witness/rows", [1, 0, 2])), r"^witness\.rows\[1\]: the indices must increase, but 0 follows 1$"),
        "minor-singular": (changed(minor, ("witness/columns", [0, 1, 3])), r"^the minor is singular modulo 10007: no pivot in column 1$"),
        "minor-singular-modulo-p-only": (
            changed(v["matrix-minor-prime-2"], ("parameters/rank", 3), ("witness/rows", [0, 1, 2]), ("witness/columns", [0, 1, 2])),
            r"^the minor is singular modulo 2: no pivot in column 2$",
        ),
        "minor-hadamard-modulo-2": (changed(v["matrix-minor-hadamard-16"], ("witness/prime", 2)), r"^the minor is singular modulo 2: no pivot in column 1$"),
        "minor-prime-divides-a-denominator": (changed(minor, ("witness/prime", 7)), r"^witness\.prime: 7 divides a denominator in row 2$"),
        "minor-prime-divides-another-denominator": (changed(minor, ("witness/prime", 3)), r"^witness\.prime: 3 divides a denominator in row 1$"),
        "minor-rank-larger-than-minor": (changed(v["matrix-minor-prime-2"], ("parameters/rank", 3)), r"^a rank of 3 needs as many rows and columns, got 2 and 2$"),
        "minor-more-columns-than-rows": (changed(v["matrix-minor-prime-2"], ("witness/columns", [0, 1, 2])), r"^a rank of 2 needs as many rows and columns, got 2 and 3$"),
        "minor-empty": (changed(minor, ("witness/rows", []), ("witness/columns", [])), r"^a rank of 3 needs as many rows and columns, got 0 and 0$"),
        "minor-rank-of-equal-rows": (
            matrix_rank([[1, 2], [1, 2]], 2, "rank-minor", rows=[0, 1], columns=[0, 1], prime=101),
            r"^the minor is singular modulo 101: no pivot in column 1$",
        ),
        "softmin-rank-modulo-w-minus-1": (changed(v["softmin-rank-8"], ("witness/prime", 5)), r"^the minor is singular modulo 5: no pivot in column 1$"),
        "softmin-rank-prime-divides-w": (changed(v["softmin-rank-8"], ("witness/prime", 3)), r"^witness\.prime: 3 divides a denominator in row 1$"),
        # traces
        "trace-rank-one-too-large-at-equality": (changed(trace, ("parameters/rank", 6)), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 5$"),
        "trace-identity-one-too-large": (changed(v["matrix-trace-identity"], ("parameters/rank", 5)), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 4$"),
        "trace-simplex-full-rank": (changed(v["matrix-trace-simplex"], ("parameters/rank", 8)), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 7$"),
        "trace-not-square": (changed(minor, ("rule", "rank-trace"), ("witness", {})), r"^the trace needs a square matrix, got 3 x 4$"),
        "trace-zero": (matrix_rank([[0, 1], [1, 0]], 1, "rank-trace"), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 0$"),
        "trace-of-the-zero-matrix": (matrix_rank([[0]], 1, "rank-trace"), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 0$"),
        "trace-signs-cancel": (matrix_rank([[5, 0], [0, -5]], 1, "rank-trace"), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 0$"),
        "trace-softmin": (changed(v["softmin-rank-trace"], ("parameters/rank", 2)), r"^\(tr C\)\^2 / \|\|C\|\|\^2 is at most 1$"),
        # heads
        "head-softmin-w-at-the-boundary": (changed(v["softmin-head-m2-n3"], ("parameters/eps", "1/4"), ("parameters/w", "1/6")), r"^the head fails on \(\d+, \d+, \d+\) at position \d: output 1/4, target 0$"),
        "head-softmin-w-too-large": (changed(v["softmin-head-m2-n3"], ("parameters/w", "1/2")), r"^the head fails on \(\d+, \d+, \d+\) at position \d: output \S+, target \d$"),
        "head-softmin-longer": (changed(v["softmin-head-m2-n3"], ("parameters/m", 1), ("parameters/n", 6), ("parameters/w", "1/5")), r"^the head fails on \((\d+, ){5}\d+\) at position \d: output \S+, target \d$"),
        "head-uniform-three-tokens": (changed(v["uniform-head-m3-n2"], ("parameters/n", 3), ("parameters/eps", HALF_TEXT)), r"^the head fails on \(\d, \d, \d\) at position \d: output \S+, target \d$"),
        "head-by-rank": (changed(v["uniform-head-m3-n2"], ("rule", "rank-trace")), r"^rule rank-trace shows an? Matrix statement, and this claim is of the shape HeadTask$"),
        # temperature
        "temperature-too-few-terms": (changed(v["temperature-n3"], ("witness/terms", 5)), r"^the first 5 terms of exp\(9/5\) do not reach 6$"),
        "temperature-too-low": (changed(v["temperature-n3"], ("parameters/tau", "179/100"), ("witness/terms", 60)), r"^the first 60 terms of exp\(179/100\) do not reach 6$"),
        "temperature-one-term": (changed(v["temperature-n1000"], ("witness/terms", 1)), r"^the first 1 terms of exp\(288/25\) do not reach 100000$"),
        "temperature-larger-n": (changed(v["temperature-n3"], ("parameters/n", 4)), r"^the first 12 terms of exp\(9/5\) do not reach 8$"),
        "temperature-smaller-eps": (changed(v["temperature-n3"], ("parameters/eps", "1/3")), r"^the first 12 terms of exp\(9/5\) do not reach 9$"),
        # typed families
        "typed-distance-s": (changed(family, ("parameters/s", 2)), r"^words 0 and 1 \(3, c\) are at directed distance 2, less than 3$"),
        "typed-hamming-s-2": (changed(v["typed-family-14"], ("parameters/s", 2)), r"are at directed distance 2, less than 3$"),
        "typed-wrong-weight": (changed(family, ("parameters/weight", 3)), r"^word 0 \(3\) has weight 2, or lies outside \[4\]; expected 3$"),
        "typed-outside": (changed(family, ("parameters/M", 3)), r"^word 1 \(c\) has weight 2, or lies outside \[3\]; expected 2$"),
        "typed-close-words": (changed(family, ("parameters/words", ["3", "5"])), r"^words 0 and 1 \(3, 5\) are at directed distance 1, less than 2$"),
        # transcripts
        "transcript-one-bit-too-many": (changed(transcript, ("parameters/bits", 15)), r"^2\^14 assignments fit into 14 bits$"),
        "transcript-two-bits-for-log2-3": (changed(transcript, ("parameters/bits", 10**8)), r"^2\^14 assignments fit into 99999999 bits$"),
        "transcript-more-queries-than-words": (changed(transcript, ("parameters/q", 15), ("parameters/bits", 15)), r"^the code has m=8, distance 2, 14 words of weight 4$"),
        "transcript-another-M": (changed(transcript, ("parameters/M", 9)), r"^the code has m=8, distance 2, 14 words of weight 4$"),
        "transcript-power-too-small": (changed(logarithm, ("witness/exponent", 20)), r"^3\^12 is less than 2\^20$"),
        "transcript-logarithm-one-bit-too-many": (changed(logarithm, ("parameters/bits", 25)), r"^15 times 19/12 is no more than 24$"),
        "transcript-logarithm-at-equality": (changed(v["transcript-by-logarithm-of-4"], ("parameters/bits", 11)), r"^5 times 2/1 is no more than 10$"),
        "transcript-logarithm-of-a-huge-claim": (changed(logarithm, ("parameters/bits", 10**900)), r"^15 times 19/12 is no more than an integer|^15 times 19/12 is no more than 9+$"),
        "transcript-distance-only-s": (changed(transcript, ("parameters/s", 2)), r"^the code has m=8, distance 2, 14 words of weight 4$"),
        # cases
        "cases-of-another-case": (
            changed(v["softmin"], ("witness/cases/step", v["softmin"]["witness"]["cases"]["base"])),
            r"^case step \(d X <= w implies \(d\+1\) X w <= w\): ",
        ),
        "cases-wrong-coefficient": (
            changed(v["approximate-identity"], ("witness/cases/projection/terms/0/coefficient", 2)),
            rf"^case projection \(.*\): {no_cancel}",
        ),
        "cases-wrong-coefficient-in-a-step": (
            changed(v["phase-transition"], ("witness/cases/step-h/terms/0/coefficient", "1000001/7")),
            rf"^case step-h \(P\(h, k\) implies P\(h\+1, k\)\): {no_cancel}",
        ),
        "cases-negative-coefficient-in-a-step": (
            changed(v["phase-transition"], ("witness/cases/step-k/terms/0/coefficient", -1)),
            r"^case step-k \(.*\): witness\.cases\.step-k\.terms\[0\]: the multiplier of an inequality must be positive, got -1$",
        ),
        "cases-case-without-terms": (
            changed(v["two-tokens"], ("witness/cases/length 1.at-least/terms", [])),
            r"^case length 1\.at-least \(length 1: left >= right\): the sum is 0 >= 0: no strict condition takes part",
        ),
        "cases-contradiction-from-nothing": (
            changed(v["domination-sufficient"], ("witness/cases/top/terms", [{"coefficient": 1, "product": []}])),
            r"^case top \(.*\): the sum is the positive constant '1': no contradiction$",
        ),
        "cases-condition-of-another-case": (
            changed(v["domination-sufficient"], ("witness/cases/level/terms", v["domination-sufficient"]["witness"]["cases"]["pair"]["terms"])),
            r"^case level \(.*\): witness\.cases\.level\.terms\[\d+\]: the claim has no condition named '(d|H|pairwise)'$",
        ),
        "cases-vacuous-model": (
            changed(v["approximate-identity"], ("witness/cases/entries/model/lambda", 0)),
            r"^case entries \(.*\): witness\.cases\.entries\.model: the condition lambda, .*, fails at this point$",
        ),
        "cases-step-without-its-hypothesis": (
            changed(v["softmin"], ("witness/cases/step/terms", [t for t in v["softmin"]["witness"]["cases"]["step"]["terms"] if "before" not in t["product"]])),
            rf"^case step \(.*\): ({no_cancel}|the sum is )",
        ),
        "cases-of-another-claim": (
            changed(v["domination-necessary"], ("claim", "softmin-full-rank"), ("witness", {"cases": {name: {**v["softmin"]["witness"]["cases"]["step"], "model": {}} for name in v["softmin-full-rank"]["witness"]["cases"]}})),
            r"^case entry 00\.at-least \(.*\): (witness\.cases\.entry 00\.at-least\.terms\[\d\]: the claim has no condition named 'before'|the sum )",
        ),
        **{
            f"cases-{claim}-{case.replace(' ', '-')}-term-dropped": (
                changed(v[claim], (f"witness/cases/{case}/terms", part["terms"][1:])),
                rf"^case {re.escape(case)} \(.*\): the sum (does not cancel: |is )",
            )
            for claim, witness in WITNESSES.items()
            for case, part in witness["cases"].items()
        },
        "cases-necessity-for-a-larger-inequality": (
            changed(v["domination-necessary"], ("witness/cases/support/terms", v["domination-necessary"]["witness"]["cases"]["pairwise"]["terms"])),
            r"^case support \(.*\): witness\.cases\.support\.terms\[\d\]: the claim has no condition named '\S+'$",
        ),
        # positions
        "positional-other-n": (changed(v["positional-n5-d3-eps1over3"], ("parameters/eps", "1/4")), rf"^{no_cancel}"),
        "positional-a-position-missing": (changed(v["positional-n3-d2"], ("witness/multipliers/M2.upper", DELETE)), rf"^{no_cancel}"),
        "positional-two-for-one": (changed(v["positional-n3-d2"], ("witness/multipliers/M2.upper", DELETE), ("witness/multipliers/M1.upper", 2)), rf"^{no_cancel}"),
        "positional-position-zero": (changed(v["positional-n3-d2"], ("witness/multipliers/M0.upper", 1)), r"the claim has no condition named 'M0\.upper'$"),
        "positional-lemma-3-for-theorem-8": (changed(symbolic(), ("claim", "positional-domination-symbolic")), r"^(the sum does not cancel: |witness\.model: )"),
        "positional-symbolic-model": (changed(v["positional-symbolic"], ("witness/model/B", 0), ("witness/model/U", 0)), r"^witness\.model: the condition \S+, .*, fails at this point$"),
        # tight rows
        "tight-bound-below-the-chain": (changed(v["chain-tight-n3-distance4"], ("parameters/bound", 3)), r"^witness\.assignment: the condition near-bound, .*, fails at this point$"),
        "tight-row-at-the-chain": (changed(v["chain-tight-n3-distance4"], ("witness/assignment/a0", 3)), r"^witness\.assignment: the condition 0\.4, .*, fails at this point$"),
        "tight-zero-self": (changed(v["chain-tight-n3-distance4"], ("witness/assignment/s", 0)), r"^witness\.assignment: the condition s, .*, fails at this point$"),
        "tight-large-self": (changed(v["chain-tight-n3-distance4"], ("witness/assignment/s", 3)), r"^witness\.assignment: the condition \d\.(\d|self), .*, fails at this point$"),
        "tight-zero-level": (changed(v["chain-tight-n3-distance1"], ("witness/assignment/a0", 0)), r"^witness\.assignment: the condition a0, .*, fails at this point$"),
        "tight-negative-top": (changed(v["chain-tight-n3-distance1"], ("witness/assignment/a1", -1)), r"^witness\.assignment: the condition (top|near-bound), .*, fails at this point$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


HALF_TEXT = "1/2"


def malformed() -> dict[str, tuple[bytes, str]]:
    v = valid()
    two, steps, minor = v["code-two-words"], v["chain-4-4"], v["matrix-minor"]
    family, transcript, rank = v["typed-family-2"], v["transcript-14-bits"], v["rank-packing-40"]
    logarithm = v["transcript-by-logarithm"]
    hexa = r"^witness\.words\[1\]: expected a lower-case hexadecimal number, got "
    order = r"^witness\.words\[1\]: words must increase, but '\w+' repeats or undercuts its predecessor$"

    def second(word: Any) -> Fields:
        return changed(two, ("witness/words/1", word))

    table: dict[str, tuple[Fields, str]] = {
        # words
        "word-repeated": (second("3"), order),
        "word-decreasing": (changed(two, ("witness/words", ["c", "3"])), order),
        "word-upper-case": (second("C"), hexa + "'C'$"),
        "word-leading-zero": (second("0c"), hexa + "'0c'$"),
        "word-0x": (second("0xc"), hexa + "'0xc'$"),
        "word-negative": (second("-c"), hexa + "'-c'$"),
        "word-plus": (second("+c"), hexa + r"'\+c'$"),
        "word-underscore": (second("1_0"), hexa + "'1_0'$"),
        "word-space": (second(" c"), hexa + "' c'$"),
        "word-empty": (second(""), hexa + "''$"),
        "word-letter": (second("g"), hexa + "'g'$"),
        "word-fullwidth-digit": (second("\uff13"), r"^witness\.words\[1\]: the string '\\uff13' is not printable ASCII$"),
        "word-number": (second(12), r"^witness\.words\[1\]: expected a string, got 12$"),
        "word-list": (second(["c"]), r"^witness\.words\[1\]: expected a string, got \['c'\]$"),
        "words-object": (changed(two, ("witness/words", {"0": "3"})), r"^witness\.words: expected a list, got \{"),
        "words-string": (changed(two, ("witness/words", "3c")), r"^witness\.words: expected a list, got '3c'$"),
        "words-missing": (changed(two, ("witness", {})), r"^witness: the field 'words' is missing$"),
        "packing-with-words": (changed(v["packing-24"], ("witness", {"words": []})), r"^witness: unknown field 'words'$"),
        # parameters of codes
        "code-size-zero": (changed(two, ("parameters/size", 0)), r"^parameters\.size: expected an integer >= 1, got 0$"),
        "code-size-negative": (changed(two, ("parameters/size", -2)), r"^parameters\.size: expected an integer >= 1, got -2$"),
        "code-size-fraction": (changed(two, ("parameters/size", "3/2")), r"^parameters\.size: expected an integer >= 1, got '3/2'$"),
        "code-distance-zero": (changed(two, ("parameters/distance", 0)), r"^parameters\.distance: expected an integer from 1 to 20000, got 0$"),
        "code-distance-negative": (changed(two, ("parameters/distance", -1)), r"^parameters\.distance: expected an integer from 1 to 20000, got -1$"),
        "code-weight-above-m": (changed(two, ("parameters/weight", 5)), r"^parameters\.weight: expected an integer from 0 to 4, got 5$"),
        "code-weight-negative": (changed(two, ("parameters/weight", -1)), r"^parameters\.weight: expected an integer from 0 to 4, got -1$"),
        "code-m-zero": (changed(two, ("parameters/m", 0)), r"^parameters\.m: expected an integer from 1 to 20000, got 0$"),
        "code-m-too-large": (changed(two, ("parameters/m", 20_001)), r"^parameters\.m: expected an integer from 1 to 20000, got 20001$"),
        "code-m-true": (changed(two, ("parameters/m", True)), r"^parameters\.m: True is not a number"),
        "code-without-weight": (changed(two, ("parameters/weight", DELETE)), r"^parameters: the field 'weight' is missing$"),
        "code-with-words-as-a-parameter": (changed(two, ("parameters/words", [])), r"^parameters: unknown field 'words'$"),
        # chains
        "chain-gap-zero": (changed(steps, ("witness/gaps", [8, 0])), r"^witness\.gaps\[1\]: expected an integer >= 1, got 0$"),
        "chain-gap-negative": (changed(steps, ("witness/gaps", [12, -4])), r"^witness\.gaps\[1\]: expected an integer >= 1, got -4$"),
        "chain-gap-rational": (changed(steps, ("witness/gaps", ["7/2", "9/2"])), r"^witness\.gaps\[0\]: expected an integer >= 1, got '7/2'$"),
        "chain-gap-string": (changed(steps, ("witness/gaps", ["4", "4"])), r"^witness\.gaps\[0\]: expected an integer >= 1, got '4'$"),
        "chain-gaps-object": (changed(steps, ("witness/gaps", {"4": 2})), r"^witness\.gaps: expected a list, got \{"),
        "chain-factor-zero": (changed(steps, ("parameters/factor", 0)), r"^parameters\.factor: expected a positive number, got 0$"),
        "chain-factor-negative": (changed(steps, ("parameters/factor", -9)), r"^parameters\.factor: expected a positive number, got -9$"),
        "chain-distance-rational": (changed(steps, ("parameters/distance", "17/2")), r"^parameters\.distance: expected an integer from 1 to 20000, got '17/2'$"),
        "chain-n-two": (changed(steps, ("parameters/n", 2)), r"^parameters\.n: expected an integer >= 3, got 2$"),
        "chain-eps-above-half": (changed(steps, ("parameters/eps", "2/3")), r"^parameters\.eps: expected 0 < eps <= 1/2, got 2/3$"),
        # uses whose parameters are no statement
        "uses-parameters-of-another-claim": (changed(rank, ("uses/1/parameters", rank["uses"][2]["parameters"])), r"^parameters: unknown field 'n'$|^parameters: unknown field 'factor'$|^parameters: unknown field 'eps'$"),
        "uses-parameters-out-of-range": (changed(rank, ("uses/1/parameters/distance", 0)), r"^parameters\.distance: expected an integer from 1 to 20000, got 0$"),
        "uses-parameters-of-a-theorem": (changed(steps, ("uses/0/parameters", {"n": 3})), r"^parameters: unknown field 'n'$"),
        "uses-not-reduced": (changed(rank, ("uses/2/parameters/eps", "2/4")), r"^parameters\.eps: '2/4' is not in lowest terms"),
        "uses-float": (changed(rank, ("uses/2/parameters/factor", 4.0)), r"^the number '4\.0' is not exact"),
        # amplification and its consequences
        "rank-value-zero": (changed(rank, ("parameters/value", 0)), r"^parameters\.value: expected an integer >= 1, got 0$"),
        "rank-witness-not-empty": (changed(rank, ("witness", {"words": []})), r"^witness: unknown field 'words'$"),
        "rank-n-two": (changed(rank, ("parameters/n", 2)), r"^parameters\.n: expected an integer >= 3, got 2$"),
        "rank-m-too-large": (changed(rank, ("parameters/m", 20_001)), r"^parameters\.m: expected an integer from 1 to 20000, got 20001$"),
        "growing-n-too-small-for-m": (changed(v["growing-8"], ("parameters/n", 5)), r"^parameters\.n: expected 2 Delta <= M/2, but Delta = \d+ and M = 8: n is too small for m$"),
        "growing-n-three": (changed(v["growing-8"], ("parameters/n", 3)), r"^parameters\.n: expected an integer from 4 to 1000000000, got 3$"),
        "growing-n-too-large": (changed(v["growing-8"], ("parameters/n", 10**9 + 1)), r"^parameters\.n: expected an integer from 4 to 1000000000, got 1000000001$"),
        "growing-m-too-large": (changed(v["growing-8"], ("parameters/m", 4_001)), r"^parameters\.m: expected an integer from 2 to 4000, got 4001$"),
        "growing-witness-not-empty": (changed(v["growing-8"], ("witness", {"value": 9})), r"^witness: unknown field 'value'$"),
        "multilevel-m-31": (changed(v["multilevel-32"], ("parameters/m", 31)), r"^parameters\.m: expected an integer from 32 to 4096, got 31$"),
        "multilevel-m-too-large": (changed(v["multilevel-32"], ("parameters/m", 4_097)), r"^parameters\.m: expected an integer from 32 to 4096, got 4097$"),
        "multilevel-s-as-a-parameter": (changed(v["multilevel-32"], ("parameters/s", 6)), r"^parameters: unknown field 's'$"),
        # matrices
        "minor-prime-one": (changed(minor, ("witness/prime", 1)), r"^witness\.prime: expected an integer from 2 to 4294967296, got 1$"),
        "minor-prime-zero": (changed(minor, ("witness/prime", 0)), r"^witness\.prime: expected an integer from 2 to 4294967296, got 0$"),
        "minor-prime-negative": (changed(minor, ("witness/prime", -7)), r"^witness\.prime: expected an integer from 2 to 4294967296, got -7$"),
        "minor-prime-above-2-to-the-32": (changed(minor, ("witness/prime", 2**32 + 15)), r"^witness\.prime: expected an integer from 2 to 4294967296, got 4294967311$"),
        "minor-prime-string": (changed(minor, ("witness/prime", "10007")), r"^witness\.prime: expected an integer from 2 to 4294967296, got '10007'$"),
        "minor-negative-index": (changed(minor, ("witness/rows", [-1, 0, 1])), r"^witness\.rows\[0\]: expected an integer from 0 to 2, got -1$"),
        "minor-row-out-of-range": (changed(minor, ("witness/rows", [0, 1, 3])), r"^witness\.rows\[2\]: expected an integer from 0 to 2, got 3$"),
        "minor-column-out-of-range": (changed(minor, ("witness/columns", [0, 2, 4])), r"^witness\.columns\[2\]: expected an integer from 0 to 3, got 4$"),
        "minor-index-fraction": (changed(minor, ("witness/rows", [0, "1/2", 1])), r"^witness\.rows\[1\]: expected an integer from 0 to 2, got '1/2'$"),
        "minor-rows-object": (changed(minor, ("witness/rows", {})), r"^witness\.rows: expected a list, got \{\}$"),
        "minor-without-prime": (changed(minor, ("witness/prime", DELETE)), r"^witness: the field 'prime' is missing$"),
        "matrix-ragged": (changed(minor, ("parameters/matrix/1", [1, 2, 3])), r"^parameters\.matrix: expected a nonempty list of rows of equal length$"),
        "matrix-empty": (changed(minor, ("parameters/matrix", [])), r"^parameters\.matrix: expected a nonempty list of rows of equal length$"),
        "matrix-of-empty-rows": (changed(minor, ("parameters/matrix", [[], [], []])), r"^witness\.columns\[0\]: expected an integer from 0 to -1, got 0$|nonempty list"),
        "matrix-row-number": (changed(minor, ("parameters/matrix/1", 7)), r"^parameters\.matrix\[1\]: expected a list, got 7$"),
        "matrix-float": (changed(minor, ("parameters/matrix/0/0", 0.5)), r"^the number '0\.5' is not exact"),
        "matrix-entry-not-reduced": (changed(minor, ("parameters/matrix/1/3", "2/6")), r"^parameters\.matrix\[1\]\[3\]: '2/6' is not in lowest terms"),
        "matrix-rank-zero": (changed(minor, ("parameters/rank", 0)), r"^parameters\.rank: expected an integer >= 1, got 0$"),
        "trace-with-a-witness": (changed(v["matrix-trace-identity"], ("witness", {"trace": 9})), r"^witness: unknown field 'trace'$"),
        "softmin-rank-m-nine": (changed(v["softmin-rank-8"], ("parameters/m", 9)), r"^parameters\.m: expected an integer from 1 to 8, got 9$"),
        "softmin-rank-w-one": (changed(v["softmin-rank-8"], ("parameters/w", 1)), r"^parameters\.w: expected 0 < w < 1, got 1$"),
        "softmin-rank-w-zero": (changed(v["softmin-rank-8"], ("parameters/w", 0)), r"^parameters\.w: expected 0 < w < 1, got 0$"),
        "softmin-rank-w-negative": (changed(v["softmin-rank-8"], ("parameters/w", "-1/6")), r"^parameters\.w: expected 0 < w < 1, got -1/6$"),
        "softmin-rank-index-beyond-the-cube": (changed(v["softmin-rank-8"], ("witness/rows/7", 8)), r"^witness\.rows\[7\]: expected an integer from 0 to 7, got 8$"),
        # heads
        "head-too-large": (changed(v["softmin-head-m2-n3"], ("parameters/m", 5)), r"^2\^15 sequences are too many to enumerate$|budget"),
        "head-far-too-large": (changed(v["softmin-head-m2-n3"], ("parameters/n", 10**900)), r"sequences are too many to enumerate$|budget"),
        "head-m-zero": (changed(v["softmin-head-m2-n3"], ("parameters/m", 0)), r"^parameters\.m: expected an integer >= 1, got 0$"),
        "head-n-zero": (changed(v["softmin-head-m2-n3"], ("parameters/n", 0)), r"^parameters\.n: expected an integer >= 1, got 0$"),
        "head-w-one": (changed(v["softmin-head-m2-n3"], ("parameters/w", 1)), r"^parameters\.w: expected 0 < w < 1, got 1$"),
        "head-eps-zero": (changed(v["softmin-head-m2-n3"], ("parameters/eps", 0)), r"^parameters\.eps: expected 0 < eps <= 1/2, got 0$"),
        "head-with-sequences": (changed(v["softmin-head-m2-n3"], ("witness", {"sequences": []})), r"^witness: unknown field 'sequences'$"),
        "uniform-head-with-w": (changed(v["uniform-head-m3-n2"], ("parameters/w", "1/2")), r"^parameters: unknown field 'w'$"),
        # temperature
        "temperature-no-terms": (changed(v["temperature-n3"], ("witness/terms", 0)), r"^witness\.terms: expected an integer from 1 to 500, got 0$"),
        "temperature-501-terms": (changed(v["temperature-n3"], ("witness/terms", 501)), r"^witness\.terms: expected an integer from 1 to 500, got 501$"),
        "temperature-negative": (changed(v["temperature-n3"], ("parameters/tau", "-9/5")), r"^parameters\.tau: expected a positive number, got -9/5$"),
        "temperature-zero": (changed(v["temperature-n3"], ("parameters/tau", 0)), r"^parameters\.tau: expected a positive number, got 0$"),
        "temperature-float": (changed(v["temperature-n3"], ("parameters/tau", 1.8)), r"^the number '1\.8' is not exact"),
        "temperature-exploding-terms": (
            changed(v["temperature-n3"], ("parameters/tau", f"{10**900 + 1}/{10**900}"), ("witness/terms", 500)),
            r"^an intermediate result has more than \d+ bits$|budget",
        ),
        # typed families, transcripts
        "typed-no-words": (changed(family, ("parameters/words", [])), r"^parameters\.words: expected at least one word$"),
        "typed-s-zero": (changed(family, ("parameters/s", 0)), r"^parameters\.s: expected an integer from 1 to 1000, got 0$"),
        "typed-weight-zero": (changed(family, ("parameters/weight", 0)), r"^parameters\.weight: expected an integer from 1 to 4, got 0$"),
        "typed-repeated-word": (changed(family, ("parameters/words", ["3", "3"])), r"^parameters\.words\[1\]: words must increase, but '3' repeats or undercuts its predecessor$"),
        "typed-upper-case": (changed(family, ("parameters/words", ["3", "C"])), r"^parameters\.words\[1\]: expected a lower-case hexadecimal number, got 'C'$"),
        "typed-with-assignments": (changed(family, ("witness", {"assignments": 4})), r"^witness: unknown field 'assignments'$"),
        "transcript-bits-zero": (changed(transcript, ("parameters/bits", 0)), r"^parameters\.bits: expected an integer >= 1, got 0$"),
        "transcript-bits-fraction": (changed(transcript, ("parameters/bits", "27/2")), r"^parameters\.bits: expected an integer >= 1, got '27/2'$"),
        "transcript-q-zero": (changed(transcript, ("parameters/q", 0)), r"^parameters\.q: expected an integer >= 1, got 0$"),
        "transcript-s-too-large": (changed(transcript, ("parameters/s", 1_001)), r"^parameters\.s: expected an integer from 1 to 1000, got 1001$"),
        "transcript-power-too-large": (
            changed(transcript, ("parameters/q", 10**6), ("parameters/s", 1000), ("uses/0/id", IDENTIFIER), ("uses/0/parameters", {"m": 8, "weight": 4, "distance": 1001, "size": 10**6})),
            r"^the check needs more work than the budget allows$",
        ),
        "transcript-power-zero": (changed(logarithm, ("witness/power", 0)), r"^witness\.power: expected an integer >= 1, got 0$"),
        "transcript-exponent-negative": (changed(logarithm, ("witness/exponent", -19)), r"^witness\.exponent: expected an integer >= 1, got -19$"),
        "transcript-exponent-missing": (changed(logarithm, ("witness/exponent", DELETE)), r"^witness: the field 'exponent' is missing$"),
        "transcript-exponent-fraction": (changed(logarithm, ("witness/exponent", "39/2")), r"^witness\.exponent: expected an integer >= 1, got '39/2'$"),
        "transcript-logarithm": (changed(logarithm, ("witness", {"logarithm": "19/12"})), r"^witness: unknown field 'logarithm'$"),
        "transcript-witness-power-too-large": (changed(logarithm, ("witness", {"power": 10**600, "exponent": 1})), r"^the check needs more work than the budget allows$"),
        # cases
        **{
            f"cases-{claim}-without-its-last-case": (
                changed(v[claim], (f"witness/cases/{max(witness['cases'])}", DELETE)),
                rf"^witness\.cases: the field '{re.escape(max(witness['cases']))}' is missing$",
            )
            for claim, witness in WITNESSES.items()
        },
        "cases-missing-one": (changed(v["softmin"], ("witness/cases/step", DELETE)), r"^witness\.cases: the field 'step' is missing$"),
        "cases-missing-all": (changed(v["phase-transition"], ("witness/cases", {})), r"^witness\.cases: the field 'base' is missing$"),
        "cases-extra": (changed(v["softmin"], ("witness/cases/conclusion", v["softmin"]["witness"]["cases"]["base"])), r"^witness\.cases: unknown field 'conclusion'$"),
        "cases-renamed": (changed(v["approximate-identity"], ("witness/cases/Entries", v["approximate-identity"]["witness"]["cases"]["entries"]), ("witness/cases/entries", DELETE)), r"^witness\.cases: unknown field 'Entries'$"),
        "cases-list": (changed(v["softmin"], ("witness/cases", [])), r"^witness\.cases: expected an object, got \[\]$"),
        "cases-without-model": (changed(v["softmin"], ("witness/cases/base/model", DELETE)), r"^witness\.cases\.base: the field 'model' is missing$"),
        "cases-model-with-another-variable": (changed(v["softmin"], ("witness/cases/base/model/eps", "1/2")), r"^witness\.cases\.base\.model: unknown field 'eps'$"),
        "cases-nine-factors": (changed(v["softmin"], ("witness/cases/base/terms/0/product", ["w"] * 9)), r"^witness\.cases\.base\.terms\[0\]\.product: more than 8 factors$"),
        "cases-with-parameters": (changed(v["softmin"], ("parameters", {"n": 3})), r"^parameters: unknown field 'n'$"),
        # positions, tight rows
        "positional-n-41": (changed(v["positional-n3-d2"], ("parameters/n", 41)), r"^parameters\.n: expected an integer from 3 to 40, got 41$"),
        "positional-gap-too-small": (changed(v["positional-n3-d2"], ("parameters/d", "3/2")), r"^parameters\.d: expected a gap at least 2, got 3/2$"),
        "positional-model-of-another-n": (changed(v["positional-n5-d3-eps1over3"], ("witness/model/b5", 1)), r"^witness\.model: unknown field 'b5'$"),
        "tight-distance-65": (changed(v["chain-tight-n3-distance4"], ("parameters/distance", 65)), r"^parameters\.distance: expected an integer from 1 to 64, got 65$"),
        "tight-bound-zero": (changed(v["chain-tight-n3-distance4"], ("parameters/bound", 0)), r"^parameters\.bound: expected a positive number, got 0$"),
        "tight-level-missing": (changed(v["chain-tight-n3-distance4"], ("witness/assignment/a2", DELETE)), r"^witness\.assignment: the field 'a2' is missing$"),
        "tight-level-too-many": (changed(v["chain-tight-n3-distance4"], ("witness/assignment/a5", 1)), r"^witness\.assignment: unknown field 'a5'$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def main() -> None:
    """Finds the witnesses of the claims by cases anew."""
    from proofcheck.theorems.bundle import foundation as founded
    from proofcheck.theorems.identities import certify_cases

    found = {}
    for claim in WITNESSES:
        uses = {name: founded(name)[1] for name in RESTS_ON.get(claim, ())}
        found[claim] = json.loads(certify_cases(claim, "", uses).data)["witness"]
    CASES.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "ascii")


if __name__ == "__main__":
    main()
