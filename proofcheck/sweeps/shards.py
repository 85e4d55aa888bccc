"""Files of finished shards, and their merge.

DIR/shards/ID.json holds

    compared   task, settings and result: the same bytes from every run; no times, no names of machines
    digest     SHA-256 of the canonical bytes of `compared`
    about      seconds, tries, versions: for people

and is written after the certificates that it names, by renaming a finished temporary file, so a shard is either
finished or absent; running it again gives the same `compared`. DIR/certificates/ holds the certificates.

`merge` believes no file: every shard of the plan must be there exactly once, undamaged, and under its own id; every
certificate that a result names is re-checked by the kernel and must speak about the shard's (m, r, n, eps).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proofcheck.certificate import write_atomically
from proofcheck.errors import MalformedInput
from proofcheck.kernel.check import VERIFIED, Report, check_files
from proofcheck.kernel.exact import Malformed, canonical, expect, load_json, record

from .plan import Plan, Shard

FORMAT = "proofcheck-shard/1"
MERGED = "proofcheck-merged/1"
OUTCOMES = ("found", "refuted", "open")
RESULT = ("outcome", "certificates", "attempts", "nearest", "note")


@dataclass(frozen=True)
class Finished:
    """What the work on one shard gives: a result (strings, integers, lists, records) and the certificates that it
    names, as (path below DIR/certificates, bytes)."""

    result: dict[str, Any]
    certificates: tuple[tuple[str, bytes], ...]
    about: dict[str, str]


def path_of(folder: Path, shard: Shard) -> Path:
    return folder / "shards" / f"{shard.id}.json"


def compared(shard: Shard, result: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": shard.id, "task": shard.described(), "settings": asdict(shard.settings), "result": dict(result)}


def digest(part: object) -> str:
    return hashlib.sha256(canonical(part)).hexdigest()


def write(folder: Path, shard: Shard, finished: Finished) -> Path:
    """The certificates first, then the file of the shard."""
    for name, data in finished.certificates:
        write_atomically(folder / "certificates" / name, data)
    part = compared(shard, finished.result)
    content = {"format": FORMAT, "compared": part, "digest": digest(part), "about": finished.about}
    path = path_of(folder, shard)
    write_atomically(path, canonical(content) + b"\n")
    return path


def read(path: Path) -> dict[str, Any]:
    """The compared part of a shard file that is not damaged."""
    try:
        content = record(load_json(path.read_bytes()), "shard file", ["format", "compared", "digest", "about"])
        if content["format"] != FORMAT:
            raise Malformed(f"its format is not {FORMAT}")
        part = record(content["compared"], "compared", ["id", "task", "settings", "result"])
        if digest(part) != content["digest"]:
            raise Malformed("its digest is not that of its content")
        expect(part["id"], "id", str)
        result = record(part["result"], "result", RESULT)
        if result["outcome"] not in OUTCOMES:
            raise Malformed("its outcome is unknown")
        for certificate in expect(result["certificates"], "certificates", list):
            given = record(certificate, "certificate", ["claim", "id", "name"])
            if Path(expect(given["name"], "name", str)).name != given["name"]:
                raise Malformed("a certificate is not in the folder of certificates")
    except Malformed as error:
        raise MalformedInput(f"the shard file {path} is damaged: {error}; delete it to run the shard again") from None
    return part


def collected(plan: Plan, folders: Iterable[Path]) -> dict[str, tuple[Path, dict[str, Any]]]:
    """id -> (folder, compared part) of the finished shards. Damaged, foreign, repeated and misnamed files are
    rejected."""
    planned = {shard.id: shard for shard in plan.shards}
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    seen: dict[str, Path] = {}
    for folder in folders:
        for path in sorted((folder / "shards").glob("*.json")):
            if path.name.startswith("."):
                continue  # a temporary file of a run that was killed
            part = read(path)
            shard = planned.get(part["id"])
            if shard is None:
                raise MalformedInput(f"the shard file {path} is foreign: {part['id'][:64]} is not in this plan")
            if part != compared(shard, part["result"]):
                raise MalformedInput(f"the shard file {path} is foreign: its task or settings are not those of its id")
            if shard.id in seen:
                raise MalformedInput(f"overlap: shard {shard} is both in {seen[shard.id]} and in {path}")
            if path.stem != shard.id:
                raise MalformedInput(f"the shard file {path} is damaged: it holds shard {shard} under another name")
            seen[shard.id], found[shard.id] = path, (folder, part)
    return found


def merge(plan: Plan, folders: Iterable[Path]) -> dict[str, Any]:
    """The merged results: cells in the order of the plan, and under each its shards. A cell is

    found    where some seed gave a head, with a certificate that rank r suffices
    refuted  where the best head of every restart of every seed is refuted: no statement about other heads
    open     otherwise
    """
    found = collected(plan, folders)
    missing = [shard for shard in plan.shards if shard.id not in found]
    if missing:
        raise MalformedInput(
            f"gap: {len(missing)} of {len(plan.shards)} shards are not finished, the first is {missing[0]}"
        )
    _recheck(plan, found)
    cells: dict[tuple[Any, ...], list[Shard]] = {}
    for shard in plan.shards:
        cells.setdefault(shard.cell, []).append(shard)
    rows = []
    for members in cells.values():
        results = [found[shard.id][1]["result"] for shard in members]
        outcomes = [result["outcome"] for result in results]
        outcome = "found" if "found" in outcomes else "refuted" if set(outcomes) == {"refuted"} else "open"
        seeds = [{"seed": shard.seed, "id": shard.id, **result} for shard, result in zip(members, results, strict=True)]
        task = {name: value for name, value in members[0].described().items() if name != "seed"}
        rows.append({**task, "outcome": outcome, "shards": seeds})
    return {"format": MERGED, "plan": plan.id, "settings": asdict(plan.settings), "cells": rows}


def _recheck(plan: Plan, found: Mapping[str, tuple[Path, dict[str, Any]]]) -> None:
    """Every certificate named exists, has its id, is accepted by the kernel, and speaks about its shard."""
    by_path: dict[str, Report] = {}
    for folder in dict.fromkeys(folder for folder, _ in found.values()):
        paths = sorted((folder / "certificates").rglob("*.json"))
        reports = check_files([str(path) for path in paths if not path.name.startswith(".")])
        by_path |= {report.path: report for report in reports}
    for shard in plan.shards:
        folder, part = found[shard.id]
        named = part["result"]["certificates"]
        for certificate in named:
            path = folder / "certificates" / certificate["name"]
            report = by_path.get(str(path))
            if report is None:
                raise MalformedInput(f"shard {shard}: its certificate {path} is missing")
            if report.status != VERIFIED or report.certificate is None:
                raise MalformedInput(f"shard {shard}: the kernel does not accept its certificate {path}")
            if (report.certificate.id, report.certificate.claim) != (certificate["id"], certificate["claim"]):
                raise MalformedInput(f"shard {shard}: the file {path} is not the certificate {certificate['id']}")
            _about(shard, certificate["claim"], report.certificate.parameters, path)
        claims = [certificate["claim"] for certificate in named]
        attempts = len(part["result"]["attempts"])
        shown = {
            "found": "head-exists" in claims,
            "refuted": attempts > 0 and claims.count("kernel-refutation") == attempts,
            "open": True,
        }
        if not shown[part["result"]["outcome"]]:
            raise MalformedInput(f"shard {shard}: {part['result']['outcome']}, but its certificates do not show it")


def _about(shard: Shard, claim: str, parameters: Mapping[str, Any], path: Path) -> None:
    wanted = {"m": shard.m, "n": shard.n, "eps": str(shard.eps)}
    if claim == "head-exists":
        wanted["rank"] = shard.r
    for name, value in wanted.items():
        if parameters.get(name) != value:
            raise MalformedInput(
                f"shard {shard}: its certificate {path} is about {name} = {parameters.get(name)}, not {value}"
            )


def write_merged(path: Path, merged: Mapping[str, Any]) -> None:
    write_atomically(path, canonical(dict(merged)) + b"\n")
