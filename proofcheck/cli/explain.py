"""A refutation or a counterexample in words: tokens as bit strings, the two kernel values, and what goes wrong."""

from __future__ import annotations

from fractions import Fraction

from proofcheck.triples import Triple

SHOWN_BITS = 96
PLACES = 6


def token(value: int, m: int) -> str:
    """Bits of elements 1..m from left to right; hexadecimal beyond 96 bits."""
    return "".join(str(value >> j & 1) for j in range(m)) if m <= SHOWN_BITS else f"{value:#x}"


def number(q: Fraction) -> str:
    """Exactly where that is short, else to six digits."""
    exact = str(q)
    if len(exact) <= 12:
        return exact
    try:
        rounded = float(q)
    except OverflowError:
        rounded = 0.0
    if rounded:
        return f"{rounded:.{PLACES}g}"
    return f"about {'-' if q < 0 else ''}2^{abs(q.numerator).bit_length() - q.denominator.bit_length()}"


def ratio(a: Fraction, b: Fraction) -> str:
    return number(a / b) if b else "infinite"


def triple(t: Triple, m: int, n: int, eps: Fraction, condition: str) -> list[str]:
    """Why no readout can be correct."""
    own, low, high = t.x.bit_count(), (t.x & t.y).bit_count(), (t.x & t.z).bit_count()
    rows = [("x", t.x, own), ("y", t.y, low), ("z", t.z, high)]
    lines = [f"  {name} = {token(value, m)}   <x,{name}> = {overlap}" for name, value, overlap in rows]
    plus = f" + {number(t.additive)} added to denominators" if t.additive else ""
    lines.append(f"  alpha(x,x) = {number(t.xx)}{plus}, alpha(x,y) = {number(t.xy)}, alpha(x,z) = {number(t.xz)}")
    if condition == "i":
        zero = "alpha(x,x)" if t.own == 0 else "alpha(x,y)"
        lines.append(
            f"  {zero} = 0: "
            + (
                "the sequence (x, .., x) has denominator 0."
                if t.own == 0
                else f"y does not show in the output at x, and yet it makes the target {low} instead of {own}."
            )
        )
        return lines
    required = t.required(n, eps)
    lines.append(
        f"  y is the token to be selected: it shares {low} with x, z shares {high}, a gap of {t.gap}. To be correct on "
        f"(x, y, .., y), (x, z, .., z)"
    )
    lines.append(
        f"  and (x, y, z, .., z) at length {n}, any readout needs alpha(x,y) > {number(required)}"
        + (f", that is alpha(x,y)/alpha(x,z) > {ratio(required, t.xz)}" if t.xz else "")
    )
    found = f"; the kernel has {ratio(t.xy, t.xz)}" if t.xz else f"; the kernel has {number(t.xy)}"
    lines.append(f"  (error < {eps}){found}: z drowns y. No values and no affine readout repair this.")
    return lines


def sequence(tokens: tuple[int, ...], m: int, output: Fraction | None, target: int, eps: Fraction) -> list[str]:
    """A head with its readout fails at place 0."""
    counts: dict[int, int] = {}
    for value in tokens:
        counts[value] = counts.get(value, 0) + 1
    x = tokens[0]
    lines = [f"  a sequence of {len(tokens)} tokens; the head fails at the first, x:"]
    for value, count in counts.items():
        name = "x" if value == x else " "
        lines.append(f"  {name} {token(value, m)}   <x,.> = {(x & value).bit_count()}   {count} times")
    if output is None:
        lines.append("  the denominator is 0 there")
    else:
        error = abs(output - target)
        lines.append(f"  output {number(output)}, target {target}: the error {number(error)} is not below {eps}")
    return lines
