"""A picture of a chain: its levels on an axis, an arc for each gap with its factor, the product so far below.

Behind the chain stand, in grey, the other edges of the overlap-level DAG that a best chain could use.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import mul
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from proofcheck.chains import Chain, useful_gaps
from proofcheck.errors import UsageError

FORMATS = (".svg", ".png")
MAX_LEVELS = 100  # that remain readable
CHAIN, OTHER, TEXT, MUTED = "#1f4e79", "#cfd5dd", "#222222", "#7a828c"
DPI = 150
RISE = 0.4  # height of an arc, as a share of its width
MARGIN, TOP, ROW = 1.35, 0.5, 0.3  # inches: left of level 0, for the title, for a row of numbers
LONGEST = 8  # characters of a number that is printed exactly


def draw(chain: Chain, path: Path) -> None:
    """Writes the picture to `path`, whose suffix is .svg or .png; the same chain gives the same bytes.

    Raises `UsageError` for another suffix, for a chain without gaps or one that is longer than 100 levels.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"expected a file name that ends in .svg or .png, got {path.name}")
    if not 1 <= chain.distance <= MAX_LEVELS:
        raise UsageError(f"expected a chain over a distance of 1..{MAX_LEVELS} to draw, got {chain.distance}")
    metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "proofcheck", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        _figure(chain).savefig(path, format=suffix[1:], dpi=DPI, metadata=metadata)


def _figure(chain: Chain) -> Figure:
    """The axes are in inches, level l at l * unit, so that arcs and texts keep their proportions."""
    unit = max(0.3, min(0.6, 12 / chain.distance))
    factors = [f"×{_number(value)}" for value in chain.factors]
    products = [_number(value) for value in accumulate(chain.factors, mul, initial=Fraction(1))]
    factor_height, upright_factors = _room(factors, min(chain.gaps) * unit)
    product_height, upright_products = _room(products, min(chain.gaps) * unit)
    above = RISE * max(chain.gaps) * unit + factor_height + 0.1
    below = ROW + 0.15 + product_height + 0.15
    width = max(chain.distance * unit + MARGIN + 0.6, 6.0)
    figure = Figure(figsize=(width, above + below + TOP))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    left = MARGIN + (width - chain.distance * unit - MARGIN - 0.6) / 2
    axes.set_xlim(-left, width - left)
    axes.set_ylim(-below, above + TOP)
    weight = _number(chain.product, 24)
    axes.text(
        width / 2 - left,
        above + TOP / 2,
        f"n = {chain.n},  ε = {chain.eps}:   α(x,y) > w α(x,z)  where  ⟨x,z⟩ − ⟨x,y⟩ = {chain.distance},   "
        f"w {weight.replace('≈', '≈ ') if weight.startswith('≈') else f'= {weight}'}",
        ha="center",
        va="center",
        fontsize=11,
        color=TEXT,
    )

    for low in range(chain.distance):
        for gap in useful_gaps(chain.n, chain.eps):
            if low + gap <= chain.distance and gap <= max(chain.gaps):
                _arc(axes, low * unit, (low + gap) * unit, OTHER, 0.7, 0)
    axes.plot([0, chain.distance * unit], [0, 0], color=MUTED, linewidth=1, zorder=1)

    for (low, high), label in zip(pairwise(chain.levels), factors, strict=True):
        _arc(axes, low * unit, high * unit, CHAIN, 2.2, 2)
        height = RISE * (high - low) * unit + factor_height / 2 + 0.03
        _text(axes, (low + high) / 2 * unit, height, label, CHAIN, upright_factors, background=True)
    for level in range(chain.distance + 1):
        used = level in chain.levels
        edge, face, size = (CHAIN, CHAIN, 7) if used else (MUTED, "white", 3.5)
        axes.plot(level * unit, 0, "o", markersize=size, markerfacecolor=face, markeredgecolor=edge, zorder=3)
        if used or unit >= 0.4:
            _text(axes, level * unit, -ROW, str(level), TEXT if used else MUTED)
    row = -ROW - 0.15 - product_height / 2
    for level, label in zip(chain.levels, products, strict=True):
        _text(axes, level * unit, row, label, CHAIN, upright_products)
    for height, label in ((-ROW, "overlap"), (row, "product")):
        axes.text(-0.3, height, label, ha="right", va="center", fontsize=9, color=MUTED)
    return figure


def _room(labels: list[str], width: float) -> tuple[float, bool]:
    """The height in inches of a row of labels that are `width` apart, and whether they must stand upright."""
    longest = 0.09 * max(map(len, labels))
    return (longest, True) if longest > width else (ROW - 0.08, False)


def _number(value: Fraction, longest: int = LONGEST) -> str:
    """The number itself, or at least three digits of it if it is long."""
    text = str(value)
    if len(text) <= longest:
        return text
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    if decimal < 10**6:
        return f"≈{decimal:.0f}" if decimal >= 100 else f"≈{decimal:.3g}"
    return f"≈{decimal:.2e}".replace("e+", "e")


def _text(
    axes: Axes, x: float, y: float, text: str, colour: str, upright: bool = False, background: bool = False
) -> None:
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"} if background else None
    axes.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=9,
        color=colour,
        zorder=4,
        bbox=box,
        rotation=90 if upright else 0,
    )


def _arc(axes: Axes, low: float, high: float, colour: str, width: float, order: int) -> None:
    """A parabola over [low, high]: a quadratic Bezier curve rises to half the height of its control point."""
    style = f"arc3,rad={-2 * RISE}"
    axes.add_patch(
        FancyArrowPatch(
            (low, 0),
            (high, 0),
            connectionstyle=style,
            arrowstyle="-",
            color=colour,
            linewidth=width,
            shrinkA=0,
            shrinkB=0,
            zorder=order,
        )
    )
