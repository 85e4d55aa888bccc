# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of heads that treat bits alike, all by the one kernel that is right by hand at n = 3, eps = 1/2: alpha = own +
h - l for h <= 4, own < 4/3, here as a slope and functions, with a bit apart, and with a little of the points added."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.kernel.bounds_tables import above
from tests.kernel.building import DELETE, HALF, Fields, changed, data

f = Fraction


def plain(m: int, own: Fraction, rank: int | None = None) -> Fields:
    """own + h - l = own + h - (1/m) (m l - h w) - (h/m) w."""
    coefficients: list[list[Any]] = [[f(-1, m), own + h, f(-h, m)] for h in range(m + 1)]
    witness = {
        "apart": 0,
        "slopes": [[1] * (m + 1)],
        "functions": [[1] * (m + 1), list(range(m + 1))],
        "points": [],
        "coefficients": coefficients,
    }
    return above("weight-head", m, 3, HALF, m + 1 if rank is None else rank, witness)


def with_points(m: int, grain: Fraction) -> Fields:
    """own = 1, plus `grain` times the inner product of points."""
    witness = plain(m, f(1))["witness"]
    rows = [[*row, grain if grain.denominator > 1 else int(grain)] for row in witness["coefficients"]]
    return above(
        "weight-head",
        m,
        3,
        HALF,
        m + 4,
        witness | {"points": [[1] * (m + 1)], "coefficients": rows},
    )


def apart(m: int, points: bool = False) -> Fields:
    """own = 1 and alpha = 1 + h + v - l - u v, m - 1 bits and one apart."""
    main = m - 1
    classes = [(u, w) for u in (0, 1) for w in range(main + 1)]
    rows: list[list[Any]] = [[f(-1, main), 1 + h + v, f(-h, main), -v] for v, h in classes]
    witness: Fields = {
        "apart": 1,
        "slopes": [[1] * len(classes)],
        "functions": [[1] * len(classes), [w for _, w in classes], [u for u, _ in classes]],
        "points": [[2 - u for u, _ in classes]] if points else [],
        "coefficients": [[*row, f(1, 40)] for row in rows] if points else rows,
    }
    return above("weight-head", m, 3, HALF, main - 1 + 3 + 3 * points, witness)


def constant(m: int) -> Fields:
    """No slope and no points: alpha = (7/10)^|z|, one feature."""
    scale = [f(7, 10) ** w for w in range(m + 1)]
    witness = {"apart": 0, "slopes": [], "functions": [scale], "points": [], "coefficients": [[1]] * (m + 1)}
    return above("weight-head", m, 3, HALF, 1, witness)


def valid() -> dict[str, Fields]:
    two = plain(3, f(1), 6)
    two["witness"]["slopes"] *= 2
    two["witness"]["coefficients"] = [[-1, f(2, 3), *row[1:]] for row in plain(3, f(1))["witness"]["coefficients"]]
    return {
        "weight-m4": plain(4, f(1)),
        "weight-m4-near-the-edge": plain(4, f(4 * 10**9 - 1, 3 * 10**9)),
        "weight-m1": plain(1, f(1)),
        "weight-constant-m3": constant(3),
        "weight-more-rank-than-needed": plain(3, f(1), 5),
        "weight-two-slopes-m3": above("weight-head", 3, 3, HALF, 6, two["witness"]),
        "weight-points-m4": with_points(4, f(1, 20)),
        "weight-points-m3": with_points(3, f(-1, 20)),
        "weight-points-m2": with_points(2, f(1, 5)),
        "weight-apart-m4": apart(4),
        "weight-apart-m2": apart(2),
        "weight-apart-with-points-m4": apart(4, True),
    }


BROKEN = r"^query of weight {}: overlaps \d, \d with values -?\d+, -?\d+ violate B0$"
POSITIVE = r"^query of weight {}: alpha\(x,x\) = -?\d+, least value -?\d+ at overlap \d: some is not positive$"


def rejected() -> dict[str, tuple[bytes, str]]:
    v = valid()
    one, sphere, bit, flat = (v[f"weight-{name}"] for name in ("m4", "points-m4", "apart-m4", "constant-m3"))
    table: dict[str, tuple[Fields, str]] = {
        "weight-own-at-the-edge": (plain(4, f(4, 3)), BROKEN.format(4)),
        "weight-own-too-large": (plain(4, f(3, 2)), BROKEN.format(4)),
        "weight-own-zero": (plain(4, f(0)), POSITIVE.format(0)),
        "weight-five-bits": (plain(5, f(1)), BROKEN.format(5)),
        "weight-no-slope-taken": (changed(one, ("witness/coefficients/3/0", 0)), rf"{BROKEN.format(3)}|{POSITIVE.format(3)}"),
        "weight-slope-of-the-wrong-sign": (changed(one, ("witness/coefficients/3/0", "1/4")), rf"{BROKEN.format(3)}|{POSITIVE.format(3)}"),
        "weight-slope-of-one-weight-lost": (changed(one, ("witness/slopes/0/2", 0)), r"^query of weight \d: "),
        "weight-a-function-too-large": (changed(one, ("witness/functions/0/4", 3)), r"^query of weight \d: "),
        "weight-zero-row": (changed(one, ("witness/coefficients/2", [0, 0, 0])), POSITIVE.format(2)),
        "weight-negative-row": (changed(one, ("witness/coefficients/0", ["-1/4", -1, 0])), POSITIVE.format(0)),
        "weight-rows-reversed": (changed(one, ("witness/coefficients", one["witness"]["coefficients"][::-1])), BROKEN.format(3)),
        "weight-flat-constant": (changed(flat, ("witness/functions/0", [1] * 4)), BROKEN.format(2)),
        "weight-rank-understated": (changed(one, ("parameters/rank", 4)), r"^the head has 5 features, the claim says 4$"),
        "weight-rank-of-the-points-forgotten": (changed(sphere, ("parameters/rank", 5)), r"^the head has 8 features, the claim says 5$"),
        "weight-rank-of-a-plane-for-a-sphere": (changed(sphere, ("parameters/rank", 7)), r"^the head has 8 features, the claim says 7$"),
        "weight-rank-with-a-bit-apart": (changed(bit, ("parameters/rank", 4)), r"^the head has 5 features, the claim says 4$"),
        "weight-two-slopes-counted-once": (changed(v["weight-two-slopes-m3"], ("parameters/rank", 4)), r"^the head has 6 features, the claim says 4$"),
        "weight-unused-function-counts": (
            changed(flat, ("witness/functions", [*flat["witness"]["functions"], [0] * 4]), ("witness/coefficients", [[1, 0]] * 4)),
            r"^the head has 2 features, the claim says 1$",
        ),
        "weight-points-too-many": (with_points(4, f(3)), r"^query of weight \d: "),
        "weight-points-of-the-other-sign": (with_points(4, f(-1)), r"^query of weight \d: "),
        "weight-points-in-place-of-a-slope": (changed(sphere, ("witness/coefficients/4", [0, 1, 0, 1])), r"^query of weight 4: "),
        "weight-slope-too-short": (changed(one, ("witness/slopes/0", [1] * 4)), r"^witness\.slopes\[0\]: expected 5 numbers, got 4$"),
        "weight-slope-too-long": (changed(one, ("witness/slopes/0", [1] * 6)), r"^witness\.slopes\[0\]: expected 5 numbers, got 6$"),
        "weight-function-too-short": (changed(one, ("witness/functions/1", [0, 1, 2, 3])), r"^witness\.functions\[1\]: expected 5 numbers, got 4$"),
        "weight-points-too-short": (changed(sphere, ("witness/points/0", [1] * 4)), r"^witness\.points\[0\]: expected 5 numbers, got 4$"),
        "weight-row-too-short": (changed(one, ("witness/coefficients/1", ["-1/4", 2])), r"^witness\.coefficients\[1\]: expected 3 numbers, got 2$"),
        "weight-row-for-absent-points": (changed(one, ("witness/coefficients/1", ["-1/4", 2, "-1/4", 0])), r"^witness\.coefficients\[1\]: expected 3 numbers, got 4$"),
        "weight-row-missing": (changed(one, ("witness/coefficients", one["witness"]["coefficients"][:4])), r"^witness\.coefficients: expected 5 rows, one a class of queries, got 4$"),
        "weight-row-too-many": (changed(one, ("witness/coefficients", [*one["witness"]["coefficients"], [1, 1, 1]])), r"^witness\.coefficients: expected 5 rows, one a class of queries, got 6$"),
        "weight-no-rows": (changed(one, ("witness/coefficients", [])), r"^witness\.coefficients: expected 5 rows, one a class of queries, got 0$"),
        "weight-nothing-at-all": (
            changed(flat, ("witness/functions", []), ("witness/coefficients", [[]] * 4)),
            POSITIVE.format(0),
        ),
        "weight-more-bits": (changed(one, ("parameters/m", 5)), r"^witness\.slopes\[0\]: expected 6 numbers, got 5$"),
        "weight-a-bit-apart-claimed": (changed(one, ("witness/apart", 1)), r"^witness\.slopes\[0\]: expected 8 numbers, got 5$"),
        "weight-no-bit-apart-claimed": (changed(bit, ("witness/apart", 0)), r"^witness\.slopes\[0\]: expected 5 numbers, got 8$"),
        "weight-bit-apart-ignored": (changed(bit, ("witness/functions/2", [0] * 8)), r"^query of weight \d\+1: "),
        "weight-longer-sequences": (changed(one, ("parameters/n", 4)), BROKEN.format(r"\d")),
        "weight-smaller-eps": (changed(one, ("parameters/eps", "1/3")), BROKEN.format(r"\d")),
        "weight-only-the-bit-apart": (changed(v["weight-m1"], ("witness/apart", 1)), r"^witness\.apart: at least one bit must remain$"),
        "weight-points-as-a-function": (
            changed(sphere, ("witness/points", []), ("witness/functions", [*sphere["witness"]["functions"], [1] * 5]), ("parameters/rank", 5)),
            r"^the head has 6 features, the claim says 5$",
        ),
        "weight-without-domination": (changed(one, ("uses", [])), r"^uses: this claim rests on domination-sufficient; listed: none$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def malformed() -> dict[str, tuple[bytes, str]]:
    v = valid()
    one, sphere, bit = v["weight-m4"], v["weight-points-m4"], v["weight-apart-m4"]
    places = (
        ("slope", "slopes/0/1", r"witness\.slopes\[0\]\[1\]"),
        ("function", "functions/1/2", r"witness\.functions\[1\]\[2\]"),
        ("coefficient", "coefficients/3/0", r"witness\.coefficients\[3\]\[0\]"),
        ("point", "points/0/0", r"witness\.points\[0\]\[0\]"),
    )
    table: dict[str, tuple[Fields, str]] = {
        **{
            f"weight-{name}-{label}": (changed(sphere, (f"witness/{path}", value)), rf"^{reason.format(place)}")
            for name, path, place in places
            for label, value, reason in (
                ("float", 0.5, r"the number '0\.5' is not exact"),
                ("true", True, "{}: True is not a number"),
                ("null", None, "{}: None is not a number"),
                ("list", [1], '{}: expected an integer or a string "p/q", got \\[1\\]$'),
                ("text", "1/2 ", '{}: expected an integer or a string "p/q" in lowest terms'),
                ("not-reduced", "2/4", "{}: "),
            )
        },
        **{
            f"weight-{key}-{label}": (changed(sphere, (f"witness/{key}", value)), rf"^witness\.{key}: expected a list, got ")
            for key in ("slopes", "functions", "points", "coefficients")
            for label, value in (("number", 1), ("text", "1"), ("object", {"0": 1}))
        },
        **{
            f"weight-without-{key}": (changed(sphere, (f"witness/{key}", DELETE)), rf"^witness: the field '{key}' is missing$")
            for key in ("apart", "slopes", "functions", "points", "coefficients")
        },
        **{
            f"weight-apart-{label}": (changed(bit, ("witness/apart", value)), r"^(witness\.apart: (expected an integer from 0 to 1, got|True is not)|the number)")
            for label, value in (("two", 2), ("negative", -1), ("true", True), ("text", "1"), ("list", [1]), ("float", 1.0))
        },
        "weight-points-number": (changed(sphere, ("witness/points/0", 3)), r"^witness\.points\[0\]: expected a list, got 3$"),
        "weight-with-a-scale": (changed(one, ("witness/scale", [1] * 5)), r"^witness: unknown field 'scale'$"),
        "weight-slope-number": (changed(one, ("witness/slopes/0", 1)), r"^witness\.slopes\[0\]: expected a list, got 1$"),
        "weight-row-number": (changed(one, ("witness/coefficients/0", 1)), r"^witness\.coefficients\[0\]: expected a list, got 1$"),
        "weight-as-a-hamming-head": (changed(one, ("rule", "hamming-head")), r"^witness: unknown field '\w+'$"),
        "weight-of-many-denominators": (changed(one, ("witness/slopes/0", [f"1/{10**990 + k}" for k in (1, 3, 7, 9, 13)])), r"^a common denominator has more than 14000 bits$"),
        "weight-20000-bits": (changed(one, ("parameters/m", 20_000)), r"^the check needs more work than the budget allows$"),
        "weight-unknown-rule": (changed(one, ("rule", "weights-head")), r"^rule: unknown rule 'weights-head'$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}
