"""proofcheck paper: every claim of the paper, one audit table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from proofcheck.errors import CONDITIONAL, FAILS, PROVED, ProofcheckError

from .theorems import CERTIFICATES, AsJson


def command(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where certificates go.")] = CERTIFICATES,
    as_json: AsJson = False,
) -> int:
    """Check every numbered claim of the paper and print one audit table.

    Status 0 only if all hold with nothing assumed; 3 if some part of a claim rests on an argument that no certificate
    covers (listed below the table); 1 if a claim fails.
    """
    from proofcheck.kernel.check import CONDITIONAL as ASSUMED
    from proofcheck.kernel.check import check_files
    from proofcheck.theorems import paper

    from . import output

    audit: list[dict[str, Any]] = []
    paths: list[str] = []
    failures = []
    with output.errors.status("checking") as progress:
        for name, show in paper.claims():
            progress.update(f"checking {name}")
            start = time.perf_counter()
            try:
                shown = show()
            except ProofcheckError as error:
                failures.append(f"{name}: {error}")
                continue
            paths += [str(path) for path in shown.bundle.write(out)]
            audit.append(shown.as_json() | {"seconds": round(time.perf_counter() - start, 2)})
        progress.update("re-checking with the kernel")
        start = time.perf_counter()
        reports = check_files(list(dict.fromkeys(paths)))
        rechecked = time.perf_counter() - start
    failures += [f"{report.path}: {report.message}" for report in reports if report.verdict is None]
    assumed = sorted({text for report in reports if report.verdict for text in report.verdict.assumed})
    uncovered = [text for row in audit for text in row["uncovered"]]
    conditional = bool(assumed or uncovered) or any(report.status == ASSUMED for report in reports)
    status = FAILS if failures else CONDITIONAL if conditional else PROVED
    arguments = sorted({text for row in audit for text in row["arguments"]})
    if as_json:
        output.print_json(
            {
                "status": status,
                "claims": audit,
                "failures": failures,
                "assumed": assumed,
                "uncovered": uncovered,
                "arguments": arguments,
            }
        )
        return status
    where = output.console(as_json)
    rows = []
    for row in audit:
        main = [c for c in row["certificates"] if c["main"]]
        rested = sorted({c["claim"] for c in row["certificates"] if not c["main"]})
        ids = [c["id"][:8] for c in main]
        rows.append(
            [
                row["claim"],
                row["shown"],
                ", ".join(dict.fromkeys(c["rule"] for c in main)),
                ", ".join(rested) or "nothing",
                " ".join(ids[:4]) + (f" and {len(ids) - 4} more" if len(ids) > 4 else ""),
                f"{row['seconds']:.1f} s",
            ]
        )
    where.print(
        output.table("The paper, claim by claim", ["claim", "shown", "rule", "rests on", "certificates", "time"], rows)
    )
    for row in audit:
        for name, text in row["figures"].items():
            where.print(f"  {row['claim']}, {name}: {text}", markup=False)
    where.print(
        f"\n{len(reports)} certificates written to {out}; the kernel re-checked them in {rechecked:.1f} s.",
        markup=False,
    )
    where.print(f"What ties certificates to sentences: kernel/TRUST.md, sections {', '.join(arguments)}.", markup=False)
    for title, texts in (("Assumed", assumed), ("No certificate covers", uncovered), ("FAILED", failures)):
        for text in texts:
            where.print(f"{title}: {text}", markup=False)
    return status
