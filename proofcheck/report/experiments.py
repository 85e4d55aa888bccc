"""Figures of the two experiments, and the 95 % Student-t interval of a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter
from scipy.stats import t as student

DPI = 150
HERE, ALSO, SHADE, LIGHTER, MUTED = "#1f4e79", "#b5541c", "#c9c9c9", "#e9e9e9", "#7a828c"
COLOURS = ("#1f4e79", "#b5541c", "#3a7d44")
LEVEL = 0.95


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its Student-t interval (0 for a single value)."""
    if len(values) < 2:
        return fmean(values), 0.0
    return fmean(values), float(student.ppf((1 + LEVEL) / 2, len(values) - 1)) * stdev(values) / sqrt(len(values))


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """PNG and SVG; the same figure gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        paths.append(folder / f"{name}.{suffix}")
        figure.savefig(paths[-1], format=suffix, dpi=DPI, metadata=metadata)
    return paths


def finite_family(results: Mapping[str, Any], folder: Path) -> list[Path]:
    """Largest error and ordered-pair coverage against the rank, with excluded ranks shaded, and endpoint ratios of the
    largest rank. `results` as `proofcheck experiment finite-family --json` gives them."""
    runs = results["runs"]
    ranks = sorted({run["rank"] for run in runs})
    seeds = max(sum(run["rank"] == rank for run in runs) for rank in ranks)
    with rc_context({"svg.hashsalt": "proofcheck", "font.family": "DejaVu Sans", "font.size": 10}):
        figure = Figure(figsize=(14, 4.9), layout="constrained")
        FigureCanvasAgg(figure)
        left, middle, right = figure.subplots(1, 3)
        for axes, value, label in (
            (left, lambda run: run["error"], "largest error over the family"),
            (middle, lambda run: 100 * run["covered"] / results["pairs"], "ordered pairs solved, %"),
        ):
            _shade(axes, results["excluded"])
            _means(axes, ranks, [[value(run) for run in runs if run["rank"] == rank] for rank in ranks])
            _rank_axis(axes, sorted({*ranks, results["constructed"]["rank"]}))
            axes.set_ylabel(label)
        left.axhline(0.5, color=MUTED, linestyle="--", linewidth=1)
        left.annotate("success: < 1/2", (0.02, 0.5), (0, 3), ("axes fraction", "data"), "offset points")
        left.set_ylim(bottom=0)
        built = results["constructed"]
        star = {"marker": "*", "markersize": 15, "color": ALSO, "linestyle": "none", "zorder": 5, "clip_on": False}
        left.plot(built["rank"], built["error"], label=f"constructed, r = {built['rank']}, exact", **star)
        middle.plot(built["rank"], 100, label=f"constructed, r = {built['rank']}, exact", **star)
        middle.set_ylim(-3, 106)
        left.set_title(f"(a) {seeds} seeds a rank, means with 95 % intervals")
        middle.set_title("(b) coverage")
        _ratios(right, results)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        return save(figure, folder, "figure")


def _shade(axes: Axes, excluded: Sequence[Mapping[str, Any]]) -> None:
    """The family's bound dark; what more is excluded for heads that are correct everywhere, lighter."""
    low = 1.0
    for item, colour in zip(sorted(excluded, key=lambda item: item["value"]), (SHADE, LIGHTER), strict=False):
        label = f"excluded, r < {item['value']}: {item['short']}"
        axes.axvspan(low, item["value"] - 0.5, color=colour, linewidth=0, label=label, zorder=0)
        low = item["value"] - 0.5


def _means(axes: Axes, ranks: Sequence[int], values: Sequence[Sequence[float]], colour: str = HERE) -> None:
    means, halves = zip(*(interval(some) for some in values), strict=True)
    for rank, some in zip(ranks, values, strict=True):
        axes.plot([rank] * len(some), some, ".", color=colour, alpha=0.35, markersize=6)
    axes.errorbar(
        ranks, means, halves, color=colour, marker="o", markersize=5, capsize=4, linewidth=1.6, label="trained"
    )


def _rank_axis(axes: Axes, ranks: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(list(ranks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlim(min(ranks) / 1.25, max(ranks) * 1.25)
    axes.set_xlabel("feature rank r")
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)


def _ratios(axes: Axes, results: Mapping[str, Any]) -> None:
    rank = max(run["rank"] for run in results["runs"])
    solved = [run for run in results["runs"] if run["rank"] == rank and run["solved"]]
    steps = sorted({k for run in solved for k, _ in run["ratios"]})
    for k in steps:
        values = [ratio for run in solved for step, ratio in run["ratios"] if step == k]
        places = [k + 0.3 * (i / max(1, len(values) - 1) - 0.5) for i in range(len(values))]
        axes.plot(places, sorted(values), ".", color=HERE, alpha=0.4, markersize=4)
    if steps:
        ends = [min(steps) - 0.4, max(steps) + 0.4]
        axes.plot(ends, [2**k for k in ends], "--", color=ALSO, label="2^steps")
        axes.set_yscale("log")
        axes.set_xticks(steps)
        axes.legend(frameon=False, loc="upper left")
    else:
        axes.text(0.5, 0.5, "no run solved the family", ha="center", transform=axes.transAxes)
    axes.set_xlabel("steps k of the chain")
    axes.set_ylabel("α(x, y_0) / α(x, y_k)")
    axes.set_title(f"(c) endpoint ratios, {len(solved)} solving runs of rank {rank}")


def ood(results: Mapping[str, Any], folder: Path) -> list[Path]:
    """Exact-sequence accuracy of held-out sequences by rank: means of all scales, and each scale with its intervals and
    its dense control. `results` as `proofcheck experiment ood --json` gives them."""
    scales = results["scales"]
    with rc_context({"svg.hashsalt": "proofcheck", "font.family": "DejaVu Sans", "font.size": 10}):
        figure = Figure(figsize=(3.6 * (1 + len(scales)) + 1, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        first, *others = figure.subplots(1, 1 + len(scales), sharey=True)
        for axes, scale, colour in zip(others, scales, COLOURS, strict=False):
            label = f"M={scale['M']}, q={scale['q']}, n={2 * scale['q']}"
            runs = [run for run in results["runs"] if run["M"] == scale["M"] and run["rank"]]
            ranks = sorted({run["rank"] for run in runs})
            values = [[100 * run["accuracy"] for run in runs if run["rank"] == rank] for rank in ranks]
            means = [interval(some)[0] for some in values]
            first.plot(ranks, means, "o-", color=colour, markersize=5, label=label)
            _means(axes, ranks, values, colour)
            dense = [100 * r["accuracy"] for r in results["runs"] if r["M"] == scale["M"] and not r["rank"]]
            if dense:
                axes.axhline(interval(dense)[0], color="black", linestyle=":", label="dense softmax, mean")
            if scale["transition"]:
                axes.axvline(scale["transition"], color=ALSO, linewidth=1, label=f"90 % at r = {scale['transition']}")
            axes.set_title(label)
            axes.legend(loc="lower right", fontsize=8)
        for axes in (first, *others):
            _rank_axis(axes, sorted({run["rank"] for run in results["runs"] if run["rank"]}))
            axes.tick_params(axis="x", labelsize=7)
            axes.axhline(90, color=MUTED, linestyle="--", linewidth=1)
            axes.set_ylim(-3, 104)
        first.set_ylabel("held-out sequences exact, %")
        first.set_title("means of all scales")
        first.legend(loc="lower right", fontsize=8)
        return save(figure, folder, "figure")
