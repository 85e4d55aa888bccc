"""proofcheck verify: re-check certificates with the trusted kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofcheck.errors import UsageError


def command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Certificate files, or folders of them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> int:
    """Re-check certificates: any file, any folder (all *.json in it, recursively)."""
    from proofcheck.kernel.check import OUTCOMES, check_files, files, overall

    found: list[str] = []
    if "" in paths:  # Path("") is the working folder
        raise UsageError("expected files or folders, got an empty argument")
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"{path}: no such file or folder")
        below = files(path)
        if not below:
            raise UsageError(f"{path}: no certificate (*.json) in this folder")
        found += below
    reports = check_files(found)
    for report in [] if as_json else reports:
        identifier = report.certificate.id[:12] if report.certificate else "-" * 12
        typer.echo(f"{OUTCOMES[report.status]:<11} {identifier}  {ascii(report.path)[1:-1]}: {report.message}")
        for sentence in report.verdict.assumed if report.verdict else []:
            typer.echo(f"            assumed: {sentence}")
    status = overall(reports)
    if as_json:
        import json

        results = [
            {
                "file": str(r.path),
                "status": r.status,
                "outcome": OUTCOMES[r.status].lower(),
                "certificate": r.certificate.id if r.certificate else None,
                "message": r.message,
                "checked": r.verdict.checked if r.verdict else [],
                "assumed": r.verdict.assumed if r.verdict else [],
            }
            for r in reports
        ]
        typer.echo(json.dumps({"status": status, "results": results}, indent=2, sort_keys=True))
    else:
        counts = [(word, sum(r.status == s for r in reports)) for s, word in OUTCOMES.items()]
        typer.echo(f"{len(reports)} certificates: " + ", ".join(f"{k} {word}" for word, k in counts if k))
    return status
