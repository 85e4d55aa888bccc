"""The picture of the window: log2 r against m, the paper's bounds and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SERIES = (
    (("paper", "upper"), "2^m (paper)", "tab:gray", "--"),
    (("upper",), "upper, certified", "tab:red", "-"),
    (("lower",), "lower, certified", "tab:blue", "-"),
    (("unconditional",), "lower, nothing assumed", "tab:cyan", ":"),
    (("paper", "lower"), "lower (paper)", "tab:gray", "-."),
)


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Writes the picture of `rows` (as `Window.as_json` gives them, one or more) as .png or .svg."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "proofcheck"
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    ms = [int(row["m"]) for row in rows]
    for keys, label, color, style in SERIES:
        values = []
        for row in rows:
            cell: Any = row
            for key in keys:
                cell = cell[key]
            values.append(float(cell["log2"]))
        axes.plot(ms, values, style, color=color, label=label, marker="." if len(ms) == 1 else "")
    top = max(float(row["upper"]["log2"]) for row in rows)
    axes.set(xlabel="m, bits of a token", ylabel="log2 of the feature rank", ylim=(-1, 1.15 * top + 1))
    axes.set_title(f"r*(m,{rows[0]['n']}), error < {rows[0]['eps']}")
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
