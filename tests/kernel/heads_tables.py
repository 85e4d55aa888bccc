# ruff: noqa: E501 - the tables hold one attack a line
"""Tables of the claims about given kernels and heads: refutations of three tokens, counterexamples, whole tasks."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from tests.kernel.building import DELETE, HALF, Fields, certificate, changed, data
from tests.kernel.theorem_tables import by_cases

f = Fraction
NOTHING = Fraction(0)
Attack = tuple[Fields, str]


def refutation(
    x: str,
    y: str,
    z: str,
    given: Fields,
    m: int = 3,
    n: int = 3,
    eps: Fraction = HALF,
    lengths: str = "exactly",
    additive: Fraction = NOTHING,
) -> Fields:
    parameters = {"m": m, "n": n, "eps": eps, "lengths": lengths, "additive": additive, "x": x, "y": y, "z": z, **given}
    return certificate("kernel-refutation", parameters, "violation", {}, [by_cases("domination-necessary")])


def values(xx: Any, xy: Any, xz: Any) -> Fields:
    return {"kernel": {"xx": xx, "xy": xy, "xz": xz}}


def features(query: list[int], x: list[int], y: list[int], z: list[int], shift: int) -> Fields:
    return {"features": {"query": query, "keys": {"x": x, "y": y, "z": z}, "shift": shift}}


def counterexample(
    sequence: list[str],
    position: int,
    alpha: list[Any],
    g: list[Any],
    m: int = 2,
    eps: Fraction = HALF,
    additive: Fraction = NOTHING,
    offset: Fraction = NOTHING,
) -> Fields:
    parameters = {"m": m, "eps": eps, "sequence": sequence, "position": position, "alpha": alpha, "g": g}
    return certificate("head-counterexample", parameters | {"additive": additive, "offset": offset}, "evaluation", {})


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]


def softmin_keys(m: int, base: int) -> list[list[int]]:
    """Key features of the softmin kernel base^-<x,z>, times base^m, for one-hot queries."""
    return [[base ** (m - (x & z).bit_count()) for x in range(1 << m)] for z in range(1 << m)]


def bits(m: int) -> list[list[int]]:
    return [[z >> i & 1 for i in range(m)] for z in range(1 << m)]


def kernel_correct(m: int, n: int, keys: list[list[int]], eps: Fraction = HALF, additive: Fraction = NOTHING) -> Fields:
    parameters = {"m": m, "n": n, "eps": eps, "additive": additive, "queries": identity(1 << m), "keys": keys}
    return certificate("kernel-correct", parameters, "levels", {}, [by_cases("domination-sufficient")])


def whole_head(
    m: int, n: int, base: int, lengths: str = "up-to", eps: Fraction = HALF, additive: Fraction = NOTHING
) -> Fields:
    parameters = {
        "m": m, "n": n, "eps": eps, "lengths": lengths, "additive": additive, "queries": identity(1 << m), "keys": softmin_keys(m, base),
        "values": bits(m), "weights": bits(m), "offsets": [0] * (1 << m),
    }  # fmt: skip
    return certificate("exhaustive-head", parameters, "separable", {})


def readouts(
    m: int, n: int, tokens: list[str], alpha: list[Any], v: list[list[Any]], inputs: list[tuple[list[int], str]], multipliers: list[int], model: Fields, additive: Fraction = NOTHING
) -> Fields:  # fmt: skip
    """`multipliers` are in the order of the inputs."""
    listed = [{"counts": counts, "side": side} for counts, side in inputs]
    parameters = {
        "m": m,
        "n": n,
        "eps": HALF,
        "additive": additive,
        "tokens": tokens,
        "alpha": alpha,
        "values": v,
        "inputs": listed,
    }
    *first, last = multipliers
    named = {**{str(i): q for i, q in enumerate(first)}, "negated-conclusion": last}
    return certificate("readout-refutation", parameters, "farkas", {"multipliers": named, "model": model})


@cache
def valid() -> dict[str, Fields]:
    """Certificates that hold, by name; every attack below is a change of one of them."""
    full, empty = "7", "0"
    return {
        # alpha(x,y) > (d-1) alpha(x,z) + (d/2-1) s at n = 3, eps = 1/2: equality refutes
        "refutation-gap-3-at-equality": refutation(full, empty, full, values(2, 5, 2)),
        "refutation-other-token": refutation("3", "4", "f", values(f(1, 3), f(1, 2), f(1, 2)), 4),
        "refutation-gap-1-by-the-self-term": refutation("3", "1", "7", values(1, f(1, 10), f(13, 5)), n=5, eps=f(1, 3)),
        "refutation-vanishing-value": refutation("3", "1", "3", values(1, 0, 1)),
        "refutation-zero-denominator": refutation("3", "1", "3", values(0, 1, 0)),
        "refutation-constant": refutation(full, empty, full, values(2, f(11, 2), 2), additive=f(1)),
        "refutation-constant-two-zeros": refutation("3", "4", "5", values(1, 0, 0), additive=f(1)),
        "refutation-constant-up-to": refutation("1", "0", "1", values(1, 0, 1), lengths="up-to", additive=f(1)),
        "refutation-features": refutation("3", "4", "f", features([1, -2, 3], [1, 1, 1], [3, 0, 1], [6, 0, 0], 2), 4),
        "refutation-m-20000": refutation("f" * 5000, "0", "f" * 5000, values(1, 19_998, 1), 20_000),
        "counterexample-above": counterexample(["3", "0", "3"], 0, [1, 1, 1], [2, 0, 2]),
        "counterexample-at-eps": counterexample(["3", "0"], 0, [f(1, 3), 1], [2, 0]),
        "counterexample-zero-denominator": counterexample(["3", "0"], 1, [0, 0], [2, 0]),
        "counterexample-constant": counterexample(["3", "3"], 1, [1, 1], [2, 2], additive=f(2, 3), offset=f(0)),
        "kernel-softmin-m2": kernel_correct(2, 3, softmin_keys(2, 6)),
        "kernel-softmin-m3-n4": kernel_correct(3, 4, softmin_keys(3, 8)),
        "kernel-constant": kernel_correct(2, 3, softmin_keys(2, 6), additive=f(1, 2)),
        "head-softmin-m2-n3": whole_head(2, 3, 6),
        "head-softmin-m3-n9": whole_head(3, 9, 18),
        "head-softmin-exactly": whole_head(2, 1000, 2000, "exactly"),
        "head-constant": whole_head(2, 3, 6, additive=f(1, 100)),
        # softmin at w = 7/10 with v = <x,z>
        "readouts-softmin-m4": readouts(4, 3, ["f", "0", "1"], [f(2401, 10000), 1, f(7, 10)], [[4], [0], [1]], [([0, 2, 0], "above"), ([2, 0, 0], "above"), ([1, 0, 1], "below")], [7203, 22559, 27440], {"b": f(70421, 14406), "w0": 0}),
        # with no values at all b > 1/2 and 2b < 1
        "readouts-of-no-values": readouts(1, 2, ["1", "0"], [1, 1], [[], []], [([0, 0], "above"), ([0, 1], "below")], [2, 1], {"b": 1}),
        "readouts-constant": readouts(1, 2, ["1", "0"], [1, 2], [[4], [3]], [([0, 0], "above"), ([0, 1], "below")], [5, 2], {"b": 1, "w0": 0}, f(1, 3)),
    }  # fmt: skip


def rejected() -> dict[str, tuple[bytes, str]]:
    v = valid()
    gap3, other, own, vanish, zero, constant, up_to, feat = (
        v[f"refutation-{name}"]
        for name in (
            "gap-3-at-equality",
            "other-token",
            "gap-1-by-the-self-term",
            "vanishing-value",
            "zero-denominator",
            "constant",
            "constant-up-to",
            "features",
        )
    )
    above, at_eps, nothing = (v[f"counterexample-{name}"] for name in ("above", "at-eps", "zero-denominator"))
    kernel, kernel3, kernel_c = v["kernel-softmin-m2"], v["kernel-softmin-m3-n4"], v["kernel-constant"]
    head, nine, exactly, head_c = (
        v["head-softmin-m2-n3"],
        v["head-softmin-m3-n9"],
        v["head-softmin-exactly"],
        v["head-constant"],
    )
    softmin, none = v["readouts-softmin-m4"], v["readouts-of-no-values"]
    holds, right = (
        r"^\(ii\) holds for these tokens, and alpha\(x,y\) > 0$",
        r"^the head is correct there: the target is ",
    )
    b0, fails = (
        r"violate B0$",
        r"^query \d+, target \d: the output on some sequence is (above|below) the target by at least eps, or has a zero denominator$",
    )
    table: dict[str, Attack] = {
        "refutation-just-above": (changed(gap3, ("parameters/kernel/xy", f"{5 * 10**30 + 1}/{10**30}")), holds),
        "refutation-larger-eps": (changed(own, ("parameters/eps", "1/2")), holds),
        "refutation-longer-of-a-larger-value": (changed(other, ("parameters/n", 4), ("parameters/kernel/xy", 20)), holds),
        "refutation-of-a-good-kernel": (changed(gap3, ("parameters/kernel/xy", 100)), holds),
        "refutation-tokens-exchanged": (changed(gap3, ("parameters/y", "7"), ("parameters/z", "0"), ("parameters/kernel", {"xx": 2, "xy": 2, "xz": 5})), r"^expected <x,y> < <x,z>, but <x,z> - <x,y> = -3$"),
        "refutation-gap-0": (changed(other, ("parameters/z", "4")), r"^expected <x,y> < <x,z>, but <x,z> - <x,y> = 0$"),
        "refutation-smaller-gap": (changed(gap3, ("parameters/y", "4")), holds),
        "refutation-negative-value": (changed(gap3, ("parameters/kernel/xy", -5)), r"^a kernel value is negative: no nonnegative head"),
        "refutation-negative-own": (changed(other, ("parameters/kernel/xx", "-1/3")), r"^a kernel value is negative"),
        "refutation-vanishing-with-a-constant": (changed(vanish, ("parameters/additive", 1)), r"^\(ii\) holds for these tokens$"),
        "refutation-vanishing-at-exact-length": (changed(up_to, ("parameters/lengths", "exactly")), r"^\(ii\) holds for these tokens$"),
        "refutation-vanishing-at-the-top": (changed(vanish, ("parameters/y", "7"), ("parameters/kernel/xy", 0)), r"<x,z> - <x,y> = 0$"),
        "refutation-zero-with-a-constant": (changed(zero, ("parameters/additive", "1/2")), holds),
        "refutation-constant-left-out": (changed(constant, ("parameters/additive", 0)), holds),
        "refutation-features-shift-of-one-key": (changed(feat, ("parameters/features/keys/y", [12, 0, 4])), holds),
        "refutation-feature-sign": (changed(feat, ("parameters/features/query", [1, 2, -4])), r"^a kernel value is negative"),
        "counterexample-within-eps": (changed(at_eps, ("parameters/alpha/1", "1000001/1000000")), right + "0$"),
        "counterexample-other-place": (changed(above, ("parameters/position", 1), ("parameters/g", [0, 0, 0])), right + "0$"),
        "counterexample-larger-target": (changed(above, ("parameters/sequence/1", "3"), ("parameters/alpha", [1, 1, 1]), ("parameters/g", [2, 2, 2])), right + "2$"),
        "counterexample-denominator-not-zero": (changed(nothing, ("parameters/additive", 1)), right + "0$"),
        "counterexample-good-offset": (changed(v["counterexample-constant"], ("parameters/offset", 2)), right + "2$"),
        "kernel-temperature": (kernel_correct(2, 3, softmin_keys(2, 1)), b0),
        "kernel-longer": (changed(kernel3, ("parameters/n", 400)), b0),
        "kernel-eps": (changed(kernel, ("parameters/eps", "1/100")), b0),
        "kernel-vanishing-value": (changed(kernel, ("parameters/keys/1", [36, 6, 36, 0])), r"^query 11: alpha\(x,x\) = 1, least value 0 at overlap 1: some is not positive$"),
        "kernel-vanishing-own-value": (changed(kernel, ("parameters/keys/3", [36, 6, 6, 0])), r"^query 11: alpha\(x,x\) = 0, .*: some is not positive$"),
        "kernel-negative-at-the-top": (changed(kernel, ("parameters/keys/3/1", -1)), r"^query 1: alpha\(x,x\) = 6, least value -1 at overlap 1: some is not positive$"),
        "kernel-large-constant": (changed(kernel_c, ("parameters/additive", 10**6), ("parameters/n", 5)), b0),
        "kernel-constant-for-a-vanishing-value": (changed(kernel_c, ("parameters/keys/1", [36, 6, 36, 0])), r"some is not positive$"),
        "head-one-entry": (changed(head, ("parameters/offsets/3", "1/2")), fails),
        "head-temperature": (whole_head(2, 3, 2), fails),
        "head-longer": (changed(nine, ("parameters/n", 50)), fails),
        "head-eps": (changed(head, ("parameters/eps", "1/7")), fails),
        "head-values": (changed(head, ("parameters/values/2", [1, 1])), fails),
        "head-weights": (changed(head, ("parameters/weights/1", [0, 0])), fails),
        "head-shorter-lengths": (changed(exactly, ("parameters/lengths", "up-to"), ("parameters/offsets/3", "3/4"), ("parameters/additive", 0)), fails),
        "head-negative-kernel": (changed(head, ("parameters/keys/2/1", -1)), r"^alpha\(1,10\) is negative: this is no nonnegative head$"),
        "head-zero-denominator": (changed(head, ("parameters/queries", [[0] * 4] * 4)), r"^query 0, target 0: the output on some sequence is above the target by at least eps, or has a zero denominator$"),
        "head-constant": (changed(head_c, ("parameters/additive", 3)), fails),
        "readouts-multiplier": (changed(softmin, ("witness/multipliers/0", 7204)), r"^the sum does not cancel: b keeps"),
        "readouts-multiplier-left-out": (changed(softmin, ("witness/multipliers/1", DELETE)), r"^the sum does not cancel: b keeps"),
        "readouts-negative-multiplier": (changed(none, ("witness/multipliers/0", -2)), r"^witness\.multipliers\.0: the multiplier of an inequality must be positive"),
        "readouts-other-kernel-value": (changed(softmin, ("parameters/alpha/1", 2)), r"^the sum does not cancel: b keeps"),
        "readouts-other-value": (changed(softmin, ("parameters/values/0", [5])), r"^the sum does not cancel: w0 keeps"),
        "readouts-other-side": (changed(softmin, ("parameters/inputs/2/side", "above")), r"^the sum does not cancel: b keeps"),
        "readouts-other-count": (changed(softmin, ("parameters/inputs/0/counts", [0, 1, 0])), r"^the sum does not cancel: b keeps"),
        "readouts-larger-target": (changed(softmin, ("parameters/tokens/2", "7")), r"^the sum is the positive constant"),
        "readouts-larger-target-at-0": (changed(none, ("parameters/m", 2), ("parameters/tokens", ["1", "3"])), r"^the sum is the positive constant"),
        "readouts-model": (changed(softmin, ("witness/model/b", 0)), r"^witness\.model: the condition 1, .*, fails at this point$"),
        "readouts-no-such-input": (changed(none, ("witness/multipliers/1", 1)), r"^witness\.multipliers\.1: the claim has no condition named '1'$"),
        "readouts-constant-left-out": (changed(v["readouts-constant"], ("parameters/additive", 0)), r"^the sum does not cancel"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}


def malformed() -> dict[str, tuple[bytes, str]]:
    v = valid()
    gap3, feat, above, kernel, head = (
        v[name]
        for name in (
            "refutation-gap-3-at-equality",
            "refutation-features",
            "counterexample-above",
            "kernel-softmin-m2",
            "head-softmin-m2-n3",
        )
    )
    softmin, none = v["readouts-softmin-m4"], v["readouts-of-no-values"]
    witness = r"^witness: unknown field 'x'$"
    table: dict[str, Attack] = {
        "refutation-token-too-long": (changed(gap3, ("parameters/x", "8")), r"^parameters\.x: expected a token of 3 bits, got '8'$"),
        "refutation-token-upper-case": (changed(gap3, ("parameters/m", 4), ("parameters/x", "F")), r"^parameters\.x\[0\]: expected a lower-case hexadecimal number, got 'F'$"),
        "refutation-token-negative": (changed(gap3, ("parameters/y", "-1")), r"^parameters\.y\[0\]: expected a lower-case hexadecimal number"),
        "refutation-token-a-number": (changed(gap3, ("parameters/y", 0)), r"^parameters\.y\[0\]: expected a string, got 0$"),
        "refutation-n-2": (changed(gap3, ("parameters/n", 2)), r"^parameters\.n: expected an integer >= 3, got 2$"),
        "refutation-m-20001": (changed(gap3, ("parameters/m", 20_001)), r"^parameters\.m: expected an integer from 1 to 20000"),
        "refutation-eps-1": (changed(gap3, ("parameters/eps", 1)), r"^parameters\.eps: expected 0 < eps <= 1/2, got 1$"),
        "refutation-negative-constant": (changed(gap3, ("parameters/additive", "-1/2")), r"^parameters\.additive: expected a number >= 0, got '-1/2'$"),
        "refutation-lengths": (changed(gap3, ("parameters/lengths", "at-most")), r"^parameters\.lengths: expected 'exactly' or 'up-to', got 'at-most'$"),
        "refutation-two-values-for-x": (changed(gap3, ("parameters/kernel/xz", 3)), r"^parameters\.kernel: two values for the same token$"),
        "refutation-float": (changed(gap3, ("parameters/kernel/xy", 0.5)), r"is not exact"),
        "refutation-nothing-given": (changed(gap3, ("parameters/kernel", DELETE)), r"^parameters: the field 'kernel' is missing$"),
        "refutation-both-given": (changed(gap3, ("parameters/features", {})), r"^parameters: unknown field 'kernel'$"),
        "refutation-features-widths": (changed(feat, ("parameters/features/keys/z", [6, 0])), r"^parameters\.features: expected 3 features in every key, got \[3, 3, 2\]$"),
        "refutation-features-fraction": (changed(feat, ("parameters/features/query/0", "1/2")), r"^parameters\.features\.query\[0\]: expected an integer of at most 4000 bits, got '1/2'$"),
        "refutation-features-negative-shift": (changed(feat, ("parameters/features/shift", -1)), r"^parameters\.features\.shift: expected an integer from 0 to \d+, got -1$"),
        "refutation-features-true": (changed(feat, ("parameters/features/keys/x/0", True)), r"^parameters\.features\.keys\.x\[0\]: expected an integer|is not a number"),
        "refutation-witness": (changed(gap3, ("witness/x", 1)), witness),
        "counterexample-negative-position": (changed(above, ("parameters/position", -1)), r"^parameters\.position: expected an integer from 0 to 2, got -1$"),
        "counterexample-empty": (changed(above, ("parameters/sequence", [])), r"^parameters\.sequence: expected 1\.\.10000 tokens, got 0$"),
        "counterexample-two-values-for-a-token": (changed(above, ("parameters/alpha/2", 2)), r"^parameters\.alpha\[2\]: another value than at an earlier place of the same token$"),
        "counterexample-two-outputs-for-a-token": (changed(above, ("parameters/g/2", 1)), r"^parameters\.g\[2\]: another value than at an earlier place"),
        "counterexample-negative-kernel": (changed(above, ("parameters/alpha/1", -1)), r"^parameters\.alpha: expected nonnegative kernel values$"),
        "counterexample-too-few-values": (changed(above, ("parameters/g", [2, 0])), r"^parameters\.g: expected 3 values, got 2$"),
        "counterexample-witness": (changed(above, ("witness/x", 1)), witness),
        "kernel-m-11": (changed(kernel, ("parameters/m", 11)), r"^parameters\.m: expected an integer from 1 to 10, got 11$"),
        "kernel-rows-missing": (changed(kernel, ("parameters/m", 3)), r"^parameters\.queries: expected 8 rows, got 4$"),
        "kernel-ragged": (changed(kernel, ("parameters/keys/3", [36, 6, 6])), r"^parameters\.keys\[3\]: expected 4 numbers as in the first row, got 3$"),
        "kernel-widths": (changed(kernel, ("parameters/keys", [[1]] * 4)), r"^parameters: 4 features on one side, 1 on the other$"),
        "kernel-feature-of-257-bits": (changed(kernel, ("parameters/keys/0/0", 2**256)), r"^parameters\.keys\[0\]\[0\]: expected an integer of at most 256 bits"),
        "kernel-feature-a-fraction": (changed(kernel, ("parameters/keys/0/0", "1/2")), r"^parameters\.keys\[0\]\[0\]: expected an integer of at most 256 bits, got '1/2'$"),
        "kernel-witness": (changed(kernel, ("witness/x", 1)), witness),
        "head-n-0": (changed(head, ("parameters/n", 0)), r"^parameters\.n: expected an integer >= 1, got 0$"),
        "head-offsets-missing": (changed(head, ("parameters/offsets", [0, 0])), r"^parameters\.offsets: expected 4 numbers, got 2$"),
        "head-offsets-no-list": (changed(head, ("parameters/offsets", 0)), r"^parameters\.offsets\[0\]: expected a list, got 0$"),
        "head-values-not-lowest": (changed(head, ("parameters/values/0/0", "2/4")), r"^parameters\.values\[0\]\[0\]: '2/4' is not in lowest terms"),
        "head-widths": (changed(head, ("parameters/values", [[1]] * 4)), r"^parameters: 1 values on one side, 2 on the other$"),
        "head-row-no-list": (changed(head, ("parameters/weights/1", 3)), r"^parameters\.weights\[1\]: expected a list, got 3$"),
        "head-witness": (changed(head, ("witness/x", 1)), witness),
        "readouts-token-twice": (changed(softmin, ("parameters/tokens/2", "0")), r"^parameters\.tokens: expected distinct tokens"),
        "readouts-token-too-long": (changed(softmin, ("parameters/tokens/2", "10")), r"^parameters\.tokens\[2\]: expected a token of 4 bits, got '10'$"),
        "readouts-no-tokens": (changed(none, ("parameters/tokens", []), ("parameters/alpha", []), ("parameters/values", [])), r"^parameters\.tokens: expected distinct tokens"),
        "readouts-kernel-value-missing": (changed(softmin, ("parameters/alpha", [1, 1])), r"with a kernel value and values for each$"),
        "readouts-negative-kernel-value": (changed(softmin, ("parameters/alpha/2", -1)), r"^parameters: expected kernel values that are nonnegative"),
        "readouts-ragged": (changed(softmin, ("parameters/values/1", [])), r"values of the same length$"),
        "readouts-value-a-float": (changed(softmin, ("parameters/values/1", [0.5])), r"is not exact"),
        "readouts-values-no-list": (changed(softmin, ("parameters/values/1", 1)), r"^parameters\.values\[1\]: expected a list, got 1$"),
        "readouts-no-inputs": (changed(none, ("parameters/inputs", [])), r"^parameters\.inputs: expected at least one input$"),
        "readouts-too-long": (changed(softmin, ("parameters/inputs/0/counts", [1, 2, 0])), r"^parameters\.inputs\[0\]: expected 3 counts, at most 2 in all, and a side above or below$"),
        "readouts-negative-count": (changed(softmin, ("parameters/inputs/0/counts", [-1, 2, 0])), r"^parameters\.inputs\[0\]: expected an integer from 0 to 3, got -1$"),
        "readouts-count-missing": (changed(softmin, ("parameters/inputs/0/counts", [0, 2])), r"^parameters\.inputs\[0\]: expected 3 counts"),
        "readouts-side": (changed(softmin, ("parameters/inputs/0/side", "left")), r"a side above or below$"),
        "readouts-zero-denominator": (changed(none, ("parameters/alpha/0", 0)), r"^parameters\.inputs\[0\]: the denominator is zero: this refutes the kernel, not its readouts$"),
        "readouts-eps": (changed(none, ("parameters/eps", 1)), r"^parameters\.eps: expected 0 < eps <= 1/2, got 1$"),
        "readouts-model-missing": (changed(none, ("witness/model", DELETE)), r"^witness: the field 'model' is missing$"),
    }  # fmt: skip
    return {name: (data(fields), reason) for name, (fields, reason) in table.items()}
