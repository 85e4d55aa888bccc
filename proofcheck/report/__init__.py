"""Figures and pages. matplotlib is imported in this package and nowhere else."""

from __future__ import annotations

from importlib.util import find_spec

from proofcheck.errors import UsageError


def require_matplotlib(option: str) -> None:
    """Raises `UsageError` before any work is done if pictures cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise UsageError(f"{option} needs matplotlib: install proofcheck[report]")
