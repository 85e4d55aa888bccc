"""The heat map of an audit: one panel per kernel, m by r, coloured by outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

COLOURS = {"refuted": "tab:red", "certified": "tab:green", "none found": "tab:orange", "outside": "lightgray"}


def draw(
    cells: Sequence[Mapping[str, Any]], names: Sequence[str], ms: Sequence[int], rs: Sequence[int], path: Path
) -> None:
    """`cells` as `proofcheck audit --json` gives them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import colors, patches, pyplot

    matplotlib.rcParams["svg.hashsalt"] = "proofcheck"
    outcomes = list(COLOURS)
    at = {(cell["kernel"], cell["m"], cell["r"]): outcomes.index(cell["outcome"]) for cell in cells}
    columns = min(4, len(names))
    height = -(-len(names) // columns)
    figure, axes = pyplot.subplots(
        height, columns, figsize=(3 * columns, 0.6 + 2.4 * height), squeeze=False, layout="constrained"
    )
    for panel, name in zip(axes.flat, names, strict=False):
        grid = [[at[name, m, r] for m in ms] for r in rs]
        panel.imshow(
            grid, aspect="auto", origin="lower", cmap=colors.ListedColormap(list(COLOURS.values())), vmin=-0.5, vmax=3.5
        )
        panel.set(title=name, xlabel="m", ylabel="features", xticks=range(len(ms)), yticks=range(len(rs)))
        panel.set_xticklabels(map(str, ms), fontsize=7)
        panel.set_yticklabels(map(str, rs), fontsize=7)
    for panel in axes.flat[len(names) :]:
        panel.set_axis_off()
    handles = [patches.Patch(color=colour, label=outcome) for outcome, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
