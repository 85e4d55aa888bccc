"""Mutates accepted certificates and judges what the kernel says of the result.

    python -m tests.kernel.mutate --count 200000 --seed 1

A mutated certificate must be malformed or rejected, or else be accepted AND TRUE: then `oracle.falsity`, which works
out the claim anew from the mathematics, finds nothing wrong. A finding is a false certificate accepted, an exception
other than the two verdicts, an id that does not change with the content (or changes with `producer`), a message that
hides the changed parameters, or a verdict that does not say what it rests on.
"""

from __future__ import annotations

import argparse
import copy
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

from proofcheck.kernel.check import CONDITIONAL, VERIFIED, Certificate, Report, check, check_files
from proofcheck.kernel.exact import Malformed, Rejected
from tests.kernel.building import content, identity
from tests.kernel.oracle import ORACLES, THEOREMS, falsity, theorems, unsupplied
from tests.kernel.rationals import rational

HERE = Path(__file__).parent
Path_ = tuple[str | int, ...]


# ------------------------------------------------------------------------------------------------- judging


@dataclass(frozen=True)
class Original:
    name: str
    data: bytes
    fields: dict[str, Any]
    id: str
    sentence: str


@cache
def accepted() -> tuple[Path, ...]:
    """The files of accepted/, and those of conditional/ that assume a theorem of mathematics and nothing else."""
    trusting = [
        path
        for path in (HERE / "conditional").glob("*.json")
        if path.with_suffix(".reason").read_text("ascii").endswith(" a theorem of mathematics$\n")
    ]
    return tuple(sorted([*(HERE / "accepted").glob("*.json"), *trusting]))


@cache
def reports() -> dict[str, Report]:
    """The kernel's reports on the accepted certificates, each confirmed in one call: id -> report."""
    found = check_files(list(map(str, accepted())))
    wrong = [r.path for r in found if r.status != (CONDITIONAL if "/conditional/" in r.path else VERIFIED)]
    if not found or wrong:
        raise ValueError(f"nothing, or not accepted: {wrong}")
    return {report.certificate.id: report for report in found}


@cache
def originals() -> tuple[Original, ...]:
    """The accepted certificates."""
    known, result = reports(), []
    for path in accepted():
        data = path.read_bytes()
        certificate = Certificate(data)
        result.append(Original(path.stem, data, json.loads(data), certificate.id, known[certificate.id].message))
    return tuple(result)


@cache
def truths() -> dict[str, dict[str, Any] | None]:
    """The accepted certificates by id, for the oracle."""
    return {original.id: original.fields for original in originals()}


def judge(original: Original, data: bytes) -> tuple[str, str]:
    """(outcome, finding): "malformed", "rejected" or "accepted", and what is wrong with that; empty if nothing."""
    try:
        certificate = Certificate(data)
        verdict = check(certificate, reports())
    except Malformed as error:
        return "malformed", _message(str(error))
    except Rejected as error:
        same = content(json.loads(data)) == content(original.fields)
        return "rejected", "the verdict changed with `producer` only" if same else _message(str(error))
    except Exception as error:  # noqa: BLE001 - that any other exception is a finding is the point
        return "escaped", f"{type(error).__name__}: {error}"
    fields = json.loads(data)
    text = content(fields)
    if certificate.id != identity(fields):
        return "accepted", "the id is not the SHA-256 of the canonical bytes"
    if (text == content(original.fields)) is not (certificate.id == original.id):
        return "accepted", "the id does not follow the content"
    if text == content(original.fields) and verdict.claim != original.sentence:
        return "accepted", "the same content, another sentence"
    missing, trusted = unsupplied(fields, truths()), theorems(fields, truths())
    if (
        len(verdict.assumed) != len(missing) + len(trusted)
        or not all(
            any(name[:12] in said and f"({claim})" in said for said in verdict.assumed) for name, claim in missing
        )
        or not all(any(said.startswith(theorem) for said in verdict.assumed) for theorem in trusted)
    ):
        return "accepted", "what is assumed is not reported"
    if not verdict.checked:
        return "accepted", "nothing is checked"
    return "accepted", falsity(fields, verdict.claim, truths())


def _message(text: str) -> str:
    """What is wrong with a reason: it must be there, on one line, and short."""
    fine = text and text.isascii() and text.isprintable() and len(text) < 20_000
    return "" if fine else f"the reason has {len(text)} characters: {text[:100]!a}"


# ------------------------------------------------------------------------------------------------ mutations

POOL: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 24, 25, 10**30, -(10**30), 10**1600, 0.5, 1e400, float("nan"), [], {}, "", " ",
    "0", "1", "-1", "1/2", "-1/2", "2/4", "3/1", "1/0", "0/1", "1/3", " 1/2", "1/2\n", "1_0/3", "\u0661/\u0662", "0.5",
    "nan", "1e400", "\ud800", "x\u0000", [1], [[1]], {"a": 1}, ["a"], ["n", "a"], "a", "b", "c", "p", "q", "s", "n",
    "d", "eps", "gap", "eps-max", "negated-conclusion", "Y.lower", "Y.upper", "Z.lower", "Z.upper", "M.lower",
    "M.upper", "Y.denominator", "c.positive", "near-factor", "gap-domination", "gap-domination-symbolic",
    "gap-tightness", "gap-countermodel", "farkas", "polynomial-identity", "model", "YZM", "xyz", "proofcheck/1",
    "proofcheck/2", "0" * 64, *ORACLES, "packing", "rank-minor", "rank-trace", "exhaustive", "exponential", "cases",
    "consequence", "amplification", "layer", "family", "graham-sloane", "shattered", *THEOREMS, "unsat-lrat",
    "table-head", "class-head",
    "hamming-head", "coefficients", "weight-head", "slopes", "functions", "points", "apart",
    "typed-family", "transcript", "m", "M", "w", "tau", "size", "weight", "distance", "value", "rank", "prime",
    "words", "gaps", "matrix", "rho", "eta", "c0", "last", "a", "kappa", "distance", "queries", "keys", "blocks",
    "degrees", "scale", "polynomials", "pairs", "permutations", "modulus",
    "ground", "proof", "terms", "rows", "columns", "bits", "base", "step",
    "embedding", "heads", "layers", "sums", "normalisers", "outputs", "states", "low", "relu", "polynomial",
    "sequences", "place", "collision", "power", "exponent",
    "before", "pairwise", "ff", "0f", "F", "0x3", 4, 5, 6, 7, 9, 11, 12, 13, 14, 15, 16, 17, 64, 65, 97, 561,
    4294967291, "1/5", "1/7", [0, 1], [2, 2], ["3", "c"], [[1, 0], [0, 1]],
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
    else:  # a parameter, a claim, or what it rests on: the changes that can leave a true certificate
        parameters = fields.get("parameters")
        if rng.random() < 0.1:
            fields["claim"] = rng.choice(tuple(ORACLES))
        elif isinstance(fields.get("uses"), list) and fields["uses"] and rng.random() < 0.5:
            use_mutation(fields, rng)
        elif isinstance(parameters, dict) and parameters:
            key = rng.choice(sorted(map(str, parameters)))
            choices = numeric(parameters.get(key)) or ["xyz", "YZM", 3, "1/2"]
            parameters[key] = rng.choice(choices)


def use_mutation(fields: dict[str, Any], rng: Random) -> None:
    """Another certificate of the same claim, another id, or other parameters, in place; the last is also how an
    honest file looks whose ground is missing."""
    item = rng.choice(fields["uses"])
    if not isinstance(item, dict):
        return
    others = [other for other in originals() if other.fields["claim"] == item.get("claim")]
    kind = rng.randrange(4)
    if kind == 0 and others:
        other = rng.choice(others)
        item.update(id=other.id, parameters=copy.deepcopy(other.fields["parameters"]))
    elif kind == 1 and others:
        item["id"] = rng.choice(others).id
    elif kind == 2:
        item["id"] = rng.choice(originals()).id
    else:
        item["id"] = "".join(rng.choice("0123456789abcdef") for _ in range(64))
        parameters = item.get("parameters")
        if isinstance(parameters, dict) and parameters:
            key = rng.choice(sorted(map(str, parameters)))
            parameters[key] = rng.choice(numeric(parameters.get(key)) or [1])


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
