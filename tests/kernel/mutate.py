"""Mutates accepted certificates and judges what the kernel says of the result.

    python -m tests.kernel.mutate --count 200000 --seed 1

A mutated certificate must be malformed or rejected, or else be accepted AND TRUE: then `falsity` finds nothing wrong.
It works out the claim anew from the mathematics, with plain fractions and literal sequences: no rows, no polynomials
and no parser of the kernel. A finding is a false certificate accepted, an exception other than the two verdicts, an
id that does not change with the content (or changes with `producer`), or a message that hides the changed parameters.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from proofcheck.kernel.check import Certificate, check
from proofcheck.kernel.exact import Malformed, Rejected

ACCEPTED = Path(__file__).parent / "accepted"
Path_ = tuple[str | int, ...]


# ---------------------------------------------------------------------------------------- independent truth


def rational(value: Any) -> Fraction:
    if type(value) is int:
        return Fraction(value)
    numerator, slash, denominator = value.partition("/")
    if not slash:
        raise ValueError(f"{value!r} is no rational of a certificate")
    return Fraction(int(numerator), int(denominator))


def output(sequence: str, alpha: dict[str, Fraction], g: dict[str, Fraction]) -> Fraction | None:
    """What the head puts out for the query x on a sequence over the tokens x, y, z (minus t)."""
    weights = [alpha[token] for token in sequence]
    total = sum(weights, Fraction(0))
    return sum((alpha[token] * g[token] for token in sequence), Fraction(0)) / total if total > 0 else None


def incorrect(point: dict[str, Fraction], n: int, d: Fraction, eps: Fraction, inputs: str) -> str:
    """Why the head of this point is not a nonnegative head correct on the inputs; empty if it is."""
    alpha = dict(zip("xyz", (point["a"], point["b"], point["c"]), strict=True))
    g = dict(zip("xyz", (point["p"], point["q"], point["s"]), strict=True))
    if min(alpha.values()) < 0:
        return "a kernel value is negative"
    if inputs == "YZM":
        sequences = ["x" + "y" * (n - 1), "x" + "z" * (n - 1), "xy" + "z" * (n - 2)]
    else:
        sequences = ["x" * (n - j - k) + "y" * j + "z" * k for j in range(n) for k in range(n - j)]
    for sequence in sequences:
        value = output(sequence, alpha, g)
        target = Fraction(0) if "y" in sequence else d
        if value is None or not -eps < value - target < eps:
            return f"the head is wrong on {sequence}"
    return ""


def conditions(point: dict[str, Fraction]) -> dict[str, tuple[Fraction, bool]]:
    """name -> (value, strict) at a point that also gives n, d and eps: what Farkas multipliers may refer to."""
    n, d, eps = point["n"], point["d"], point["eps"]
    a, b, c = point["a"], point["b"], point["c"]
    ap, bq, cs = a * point["p"], b * point["q"], c * point["s"]
    values = {
        "n": (n - 3, False),
        "eps": (eps, True),
        "eps-max": (1 - 2 * eps, False),
        "gap": ((n - 2) * d - 2 * eps * (n - 1), False),
        "a": (a, False),
        "b": (b, False),
        "c": (c, False),
        "negated-conclusion": ((n - 2) * (d - 2 * eps) * c - 2 * eps * b, False),
    }
    for name, weight, total, target in (
        ("Y", a + (n - 1) * b, ap + (n - 1) * bq, Fraction(0)),
        ("Z", a + (n - 1) * c, ap + (n - 1) * cs, d),
        ("M", a + b + (n - 2) * c, ap + bq + (n - 2) * cs, Fraction(0)),
    ):
        values[f"{name}.denominator"] = (weight, True)
        values[f"{name}.lower"] = (total - target * weight + eps * weight, True)
        values[f"{name}.upper"] = (target * weight + eps * weight - total, True)
    return values


@cache
def random_points() -> tuple[dict[str, Fraction], ...]:
    """Points with large random coordinates: a polynomial identity that holds at all of them holds."""
    rng = Random("points")
    names = ("a", "b", "c", "p", "q", "s", "n", "d", "eps")
    return tuple({name: Fraction(rng.randrange(-(10**12), 10**12)) for name in names} for _ in range(6))


def no_contradiction(terms: list[tuple[Fraction, list[str]]], fixed: dict[str, Fraction]) -> str:
    """Why the positive multiples of products of conditions are no contradiction; empty if they are one."""
    if any(q <= 0 for q, _ in terms):
        return "a multiplier is not positive"
    sums, strict = set(), False
    for point in random_points():
        values, total = conditions(point | fixed), Fraction(0)
        for q, names in terms:
            if fixed and {"n", "eps", "eps-max", "gap"} & set(names):
                return "a condition of the symbolic claim is used for an instance"
            for name in names:
                q *= values[name][0]
            total += q
            strict = strict or all(values[name][1] for name in names)
        sums.add(total)
    (constant, *others) = sums
    if others:
        return "the sum is not constant"
    return "" if constant < 0 or (constant == 0 and strict) else f"the sum is {constant}"


def falsity(fields: dict[str, Any], sentence: str) -> str:
    """Why an accepted certificate is false, misreported or unreadable; empty if nothing is wrong with it."""
    try:
        return _falsity(fields, sentence)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"the oracle cannot read it: {error!r}"


def _falsity(fields: dict[str, Any], sentence: str) -> str:
    claim, parameters, rule, witness = (fields[key] for key in ("claim", "parameters", "rule", "witness"))
    if fields["format"] != "proofcheck/1" or fields["uses"] != []:
        return "format or uses"
    if claim == "gap-domination-symbolic":
        point = {name: rational(q) for name, q in witness["model"].items()}
        n, d, eps, fixed = point["n"], point["d"], point["eps"], {}
        if parameters != {} or not sentence.startswith("for all n >= 3, 0 < eps <= 1/2, d >= 2eps(n-1)/(n-2): "):
            return "the sentence is not the theorem"
    else:
        n, d, eps = parameters["n"], rational(parameters["d"]), rational(parameters["eps"])
        fixed = {"n": Fraction(n), "d": d, "eps": eps}
        if not sentence.startswith(f"instance n={n}, d={d}, eps={eps}"):
            return "the sentence hides the parameters"
    if not (n >= 3 and type(parameters.get("n", 3)) is int and 0 < eps <= Fraction(1, 2) and d > 0):
        return "parameters out of range"
    admissible = (n - 2) * d >= 2 * eps * (n - 1)
    mu = (n - 2) * (d - 2 * eps) / (2 * eps)
    if claim in ("gap-tightness", "gap-countermodel"):
        point = {name: rational(q) for name, q in witness["assignment"].items()}
        fault = incorrect(point, n, d, eps, parameters["inputs"])
        if rule != "model" or fault or point["c"] <= 0:
            return fault or "c or the rule"
        bound = rational(parameters["delta" if claim == "gap-tightness" else "factor"])
        if bound <= 0 or admissible is not (claim == "gap-tightness"):
            return "the bound or the gap is out of range"
        inputs = "Y, Z, M" if parameters["inputs"] == "YZM" else "every sequence over {x,y,z}"
        ending = f"< ({mu} + {bound}) alpha(x,z)" if admissible else f"<= {bound} alpha(x,z)"
        if inputs not in sentence or not sentence.endswith(ending):
            return "the sentence hides the bound or the inputs"
        near = point["b"] < (mu + bound) * point["c"] if admissible else point["b"] <= bound * point["c"]
        return "" if near else "alpha(x,y) is too large"
    if claim not in ("gap-domination", "gap-domination-symbolic") or not admissible:
        return "an unknown claim, or the gap is not admissible"
    if fixed and f"alpha(x,y) > {mu} alpha(x,z)" not in sentence:
        return "the sentence hides the factor"
    model = {name: rational(q) for name, q in witness["model"].items()}
    if n < 10**4 and n == int(n):
        fault = incorrect(model, int(n), d, eps, "YZM")
    else:  # the three inputs cannot be written down: their conditions in closed form
        at_model = conditions(model | {"n": Fraction(n), "d": d, "eps": eps})
        fault = ", ".join(
            k for k, (v, s) in at_model.items() if k != "negated-conclusion" and (v < 0 or (s and v == 0))
        )
    if rule == "farkas":
        terms = [(rational(q), [name]) for name, q in witness["multipliers"].items()]
    else:
        terms = [(rational(term["coefficient"]), term["product"]) for term in witness["terms"]]
    return fault or no_contradiction(terms, fixed)


# ------------------------------------------------------------------------------------------------- judging


@dataclass(frozen=True)
class Original:
    name: str
    data: bytes
    fields: dict[str, Any]
    id: str
    sentence: str


@cache
def originals() -> tuple[Original, ...]:
    """The accepted certificates, each confirmed here."""
    result = []
    for path in sorted(ACCEPTED.glob("*.json")):
        data = path.read_bytes()
        certificate = Certificate(data)
        result.append(Original(path.stem, data, json.loads(data), certificate.id, check(certificate).claim))
    if not result:
        raise FileNotFoundError(f"no certificates in {ACCEPTED}")
    return tuple(result)


def content(fields: dict[str, Any]) -> str:
    """Canonical text of what the id covers."""
    kept = {key: value for key, value in fields.items() if key != "producer"}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"))


def judge(original: Original, data: bytes) -> tuple[str, str]:
    """(outcome, finding): "malformed", "rejected" or "accepted", and what is wrong with that; empty if nothing."""
    try:
        certificate = Certificate(data)
        verdict = check(certificate)
    except Malformed as error:
        return "malformed", "" if str(error) else "no reason is given"
    except Rejected as error:
        same = content(json.loads(data)) == content(original.fields)
        return "rejected", "the verdict changed with `producer` only" if same else "" if str(error) else "no reason"
    except Exception as error:  # noqa: BLE001 - that any other exception is a finding is the point
        return "escaped", f"{type(error).__name__}: {error}"
    fields = json.loads(data)
    text = content(fields)
    if certificate.id != hashlib.sha256(text.encode()).hexdigest():
        return "accepted", "the id is not the SHA-256 of the canonical bytes"
    if (text == content(original.fields)) is not (certificate.id == original.id):
        return "accepted", "the id does not follow the content"
    if text == content(original.fields) and verdict.claim != original.sentence:
        return "accepted", "the same content, another sentence"
    if verdict.assumed or not verdict.checked:
        return "accepted", "nothing is checked, or something is assumed"
    return "accepted", falsity(fields, verdict.claim)


# ------------------------------------------------------------------------------------------------ mutations

POOL: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 24, 25, 10**30, -(10**30), 10**1600, 0.5, 1e400, float("nan"), [], {}, "", " ",
    "0", "1", "-1", "1/2", "-1/2", "2/4", "3/1", "1/0", "0/1", "1/3", " 1/2", "1/2\n", "1_0/3", "\u0661/\u0662", "0.5",
    "nan", "1e400", "\ud800", "x\u0000", [1], [[1]], {"a": 1}, ["a"], ["n", "a"], "a", "b", "c", "p", "q", "s", "n",
    "d", "eps", "gap", "eps-max", "negated-conclusion", "Y.lower", "Y.upper", "Z.lower", "Z.upper", "M.lower",
    "M.upper", "Y.denominator", "c.positive", "near-factor", "gap-domination", "gap-domination-symbolic",
    "gap-tightness", "gap-countermodel", "farkas", "polynomial-identity", "model", "YZM", "xyz", "proofcheck/1",
    "proofcheck/2", "0" * 64,
)  # fmt: skip
NAMES = tuple(value for value in POOL if type(value) is str)


def paths(value: Any, here: Path_ = ()) -> Iterator[Path_]:
    """The place of every value inside `value`."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield (*here, step)
        yield from paths(item, (*here, step))


def at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def numeric(value: Any) -> list[Any]:
    """Numbers near `value` or made from it: signs, steps, reciprocals, scalings, single digits, other spellings."""
    if type(value) is bool or type(value) not in (int, str):
        return []
    try:
        q = rational(value)
    except (ValueError, ZeroDivisionError):
        return []
    near = [
        -q,
        q + 1,
        q - 1,
        2 * q,
        q / 2,
        q * 10,
        q * q,
        q + Fraction(1, 10**40),
        q - Fraction(1, 10**40),
        abs(q),
        1 - q,
    ]
    near += [1 / q] if q else []
    spelled: list[Any] = [r.numerator if r.denominator == 1 else f"{r.numerator}/{r.denominator}" for r in near]
    spelled += [f"{q.numerator}/{q.denominator}", f"{2 * q.numerator}/{2 * q.denominator}", f"+{value}", f"{value}.0"]
    spelled += [f"{q.numerator}/-{q.denominator}", str(value), int(q), float(q) if abs(q) < 10**300 else 0.5]
    return spelled + digit_changes(value)


def digit_changes(value: int | str) -> list[int | str]:
    """Every single digit of a number replaced by every other digit."""
    text, result = str(value), []
    for i, old in enumerate(text):
        for new in "0123456789" if old.isdigit() else "":
            changed = text[:i] + new + text[i + 1 :]
            if new != old:
                result.append(int(changed) if type(value) is int else changed)
    return result


def lexical(text: str, rng: Random) -> str:
    """One character of a string changed, dropped, added, doubled, of another case or another alphabet."""
    i = rng.randrange(len(text) + 1)
    character = rng.choice('abcxyzAYZM0123456789./-_ "\\\n\u0430\u0455\u2010\u0663\ud800')
    kind = rng.randrange(5)
    if kind == 0:
        return text[:i] + character + text[i:]
    if kind == 1:
        return text[:i] + character + text[i + 1 :]
    if kind == 2:
        return text[:i] + text[i + 1 :]
    return text.swapcase() if kind == 3 else text[::-1]


def replace(fields: dict[str, Any], path: Path_, new: Any) -> None:
    at(fields, path[:-1])[path[-1]] = new


def tree_mutation(fields: dict[str, Any], rng: Random) -> None:
    """Changes one place of the parsed certificate, in place."""
    path = rng.choice(list(paths(fields)))
    folder, last, value = at(fields, path[:-1]), path[-1], at(fields, path)
    kind = rng.randrange(11)
    if kind == 0:
        del folder[last]
    elif kind == 1:
        replace(fields, path, copy.deepcopy(rng.choice(POOL)))
    elif kind in (2, 3, 4):
        choices = numeric(value)
        replace(fields, path, rng.choice(choices) if choices else copy.deepcopy(rng.choice(POOL)))
    elif kind == 5 and isinstance(value, str):
        replace(fields, path, lexical(value, rng))
    elif kind == 6 and isinstance(folder, dict):  # rename or duplicate under another name
        names = [*NAMES, lexical(str(last), rng), *folder]
        folder[rng.choice(names)] = copy.deepcopy(value) if rng.random() < 0.5 else folder.pop(last)
    elif kind == 6:
        folder.insert(rng.randrange(len(folder) + 1), copy.deepcopy(value))
    elif kind == 7:  # swap with another place
        other = rng.choice(list(paths(fields)))
        one, two = copy.deepcopy(value), copy.deepcopy(at(fields, other))
        replace(fields, path, two)
        if other[: len(path)] != path:
            replace(fields, other, one)
    elif kind == 8:  # take over the same place, or a place, of another certificate
        donor = rng.choice(originals()).fields
        places = list(paths(donor))
        source = path if path in places and rng.random() < 0.7 else rng.choice(places)
        replace(fields, path, copy.deepcopy(at(donor, source)))
    elif kind == 9:
        replace(fields, path, rng.choice([[value], {"value": value}, [value, value]]))
    else:  # a parameter or a claim, the changes that can leave a true certificate
        key = rng.choice(["n", "d", "eps", "delta", "factor", "inputs", "claim"])
        if key == "claim":
            fields["claim"] = rng.choice([name for name in NAMES if name.startswith("gap-")])
        elif isinstance(fields.get("parameters"), dict):
            choices = numeric(fields["parameters"].get(key)) or ["xyz", "YZM", 3, "1/2"]
            fields["parameters"][key] = rng.choice(choices)


def byte_mutation(data: bytes, rng: Random) -> bytes:
    """One change to the bytes: flips, deletions, insertions, truncation, repeated and swapped pieces."""
    i, j = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    kind = rng.randrange(9)
    if kind == 0:
        return data[:i] + bytes([data[i] ^ 1 << rng.randrange(8)]) + data[i + 1 :]
    if kind == 1:
        return data[:i] + bytes([rng.randrange(256)]) + data[i + 1 :]
    if kind == 2:
        return data[:i] + data[i + 1 :]
    if kind == 3:
        return data[:i] + bytes([rng.randrange(256)]) + data[i:]
    if kind == 4:
        return (
            data[:i]
            + rng.choice([b",", b'"', b"{", b"}", b"[", b"]", b":", b" ", b"\n", b"0", b"-", b"\\u0061", b"1/2"])
            + data[i:]
        )
    if kind == 5:
        return data[:i]
    if kind == 6:
        return data[:i] + data[i : min(j, i + 40)] + data[i:]
    if kind == 7:
        return data[:i] + data[j:]
    digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57]
    k = rng.choice(digits or [0])
    return data[:k] + bytes([48 + rng.randrange(10)]) + data[k + 1 :]


def mutation(seed: int, index: int) -> tuple[Original, bytes]:
    """The mutation of this seed and index; always the same."""
    rng = Random(f"{seed}/{index}")
    original = rng.choice(originals())
    if rng.random() < 0.3:
        data = original.data
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            data = byte_mutation(data or b"0", rng)
        return original, data
    fields = copy.deepcopy(original.fields)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        if fields:
            tree_mutation(fields, rng)
    return original, json.dumps(fields).encode()


def systematic(original: Original) -> Iterator[tuple[str, bytes]]:
    """Every place deleted, replaced by everything in the pool and by every number near it; every key renamed; every
    pair of places beside each other swapped; every certificate cut and every bit of its claim flipped."""
    fields = original.fields

    def variant(label: str, path: Path_, new: Any) -> tuple[str, bytes]:
        changed = copy.deepcopy(fields)
        replace(changed, path, new)
        return f"{'.'.join(map(str, path))} {label}", json.dumps(changed).encode()

    for path in list(paths(fields)):
        value, folder, last = at(fields, path), at(fields, path[:-1]), path[-1]
        removed = copy.deepcopy(fields)
        del at(removed, path[:-1])[last]
        yield f"{path} deleted", json.dumps(removed).encode()
        for new in (*POOL, *numeric(value), [value], {"value": value}):
            yield variant(f"= {ascii(new)[:40]}", path, new)
        if isinstance(folder, dict):
            for name in (*NAMES, str(last).upper(), f"{last} ", f" {last}"):
                renamed = copy.deepcopy(fields)
                inner = at(renamed, path[:-1])
                inner[name] = inner.pop(last)
                yield f"{path} renamed {name!a}", json.dumps(renamed).encode()
        for other in list(folder) if isinstance(folder, dict) else range(len(folder)):
            swapped = copy.deepcopy(fields)
            inner = at(swapped, path[:-1])
            inner[last], inner[other] = inner[other], inner[last]
            yield f"{path} swapped with {other}", json.dumps(swapped).encode()


# --------------------------------------------------------------------------------------------- command line


def fuzz(count: int, seed: int, out: Any = None) -> tuple[Counter[str], list[str]]:
    """Outcomes and findings of `count` mutations."""
    outcomes: Counter[str] = Counter()
    findings = []
    for index in range(count):
        original, data = mutation(seed, index)
        outcome, finding = judge(original, data)
        if outcome == "accepted":
            same = content(json.loads(data)) == content(original.fields)
            outcome = "accepted, same content" if same else "accepted, another true claim or proof"
        outcomes[outcome] += 1
        if finding:
            findings.append(f"{original.name}, seed {seed}, index {index}: {finding}")
            if out:
                print(findings[-1], ascii(data)[:2000], sep="\n", file=out, flush=True)
    return outcomes, findings


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kernel.mutate", description="Mutate certificates.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error("--count: expected at least 1")
    start = time.perf_counter()
    outcomes, findings = fuzz(options.count, options.seed, sys.stdout)
    seconds = time.perf_counter() - start
    print(f"{options.count} mutations of {len(originals())} certificates, seed {options.seed}, {seconds:.1f} s")
    for outcome, number in outcomes.most_common():
        print(f"{number:9d}  {outcome}")
    print(f"{len(findings):9d}  findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
