"""Putting certificates together and changing them: what the tables and the mutation tests share.

Nothing here rests on the kernel: ids, spellings and canonical bytes are worked out anew.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)
IDENTIFIER = "0123456789abcdef" * 4
DELETE = object()

Fields = dict[str, Any]


def spell(value: Any) -> Any:
    """Fractions become JSON integers or "p/q"; written here anew, so as not to rest on the kernel's `spelled`."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, Mapping):
        return {key: spell(item) for key, item in value.items()}
    return [spell(item) for item in value] if isinstance(value, list) else value


def certificate(claim: str, parameters: Fields, rule: str, witness: Fields, uses: Iterable[Fields] = ()) -> Fields:
    """A certificate that rests on the certificates `uses`."""
    return {
        "format": "proofcheck/1",
        "claim": claim,
        "parameters": spell(parameters),
        "rule": rule,
        "witness": spell(witness),
        "uses": [use(other) for other in uses],
        "producer": {"by": "tests/kernel/make_tables.py"},
    }


def content(fields: Fields) -> str:
    """Canonical text of what the id covers."""
    kept = {key: value for key, value in fields.items() if key != "producer"}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"))


def identity(fields: Fields) -> str:
    return hashlib.sha256(content(fields).encode("ascii")).hexdigest()


def use(fields: Fields) -> Fields:
    """How a certificate is named in the `uses` of another."""
    return {"claim": fields["claim"], "id": identity(fields), "parameters": copy.deepcopy(fields["parameters"])}


def data(fields: Any) -> bytes:
    return json.dumps(fields, indent=1, sort_keys=True).encode("ascii") + b"\n"


def changed(fields: Fields, *changes: tuple[str, Any]) -> Fields:
    """A copy with the value at each path ("witness/model/Y.lower") set or, for DELETE, removed."""
    result = copy.deepcopy(fields)
    for path, value in changes:
        *folders, last = path.split("/")
        place = result
        for step in folders:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if isinstance(place, list):
            place[int(last)] = value
        elif value is DELETE:
            del place[last]
        else:
            place[last] = value
    return result


def edited(fields: Fields, old: str, new: str | bytes) -> bytes:
    """The compact bytes with one piece of text replaced; the piece occurs exactly once."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    if text.count(old) != 1:
        raise ValueError(f"{old!r} occurs {text.count(old)} times")
    return text.encode().replace(old.encode(), new if isinstance(new, bytes) else new.encode()) + b"\n"


def renamed(fields: Fields, path: str, new: str) -> Fields:
    *folders, last = path.split("/")
    result = copy.deepcopy(fields)
    place = result
    for step in folders:
        place = place[step]
    place[new] = place.pop(last)
    return result
