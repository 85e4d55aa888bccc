"""A refutation, replayed on the module itself.

Lemma 3 (mathematics.md A). For tokens x, y, z with t = <x,y> < u = <x,z>, n >= 3, L = n-1, K = n-2, the sequences

    Y = (y^L, x),   Z = (z^L, x),   M = (z^K, y, x)

have targets t, u, t at x. (x is last, so that causal forms see the whole sequence; the order of the others is free.)
With a = alpha(x,x), b = alpha(x,y), c = alpha(x,z), a constant e in the denominators and D_Y = e + a + Lb,
D_Z = e + a + Lc, D_M = e + a + b + Kc, the outputs satisfy

    o_M = p o_Y + (1-p) o_Z,   p = D_Y / (L D_M),   1-p = K D_Z / (L D_M),

so an affine readout that gives t + e1, u + e2, t + e3 has e3 - p e1 - (1-p) e2 = (1-p) d, d = u - t. Hence its worst
error on the three is at least (1-p) d/2, and some affine readout has just this error unless o_Y = o_Z.

The module's own outputs lie on this line only up to rounding, of which a readout with huge weights can make anything.
Therefore `least` is the least worst error when each coordinate is known up to `noise`, the residual of the replay:

    least = min over (w, beta) of max_i |w.o_i + beta - target_i| + noise |w|_1,

a linear programme. It is at least (1-p) d/2 whenever the true outputs are within `noise` of the module's.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from scipy.optimize import linprog

from proofcheck.errors import UsageError

from .adapters import ModuleHead
from .checks import by_sequence, largest, own_output, predicted

COARSE = 0.02  # a residual beyond this share of the spread of outputs leaves nothing to compare


@dataclass(frozen=True)
class TripleReplay:
    """Outputs are those of the module's own forward at x, before any output projection."""

    name: str
    dtype: str
    n: int
    eps: Fraction
    sequences: tuple[tuple[int, ...], ...]  # Y, Z, M, the query last
    targets: tuple[int, ...]
    outputs: tuple[tuple[float, ...], ...]  # (3, dv)
    noise: float  # the largest difference of a coordinate from sum alpha v / sum alpha
    exact: Fraction  # (1-p) d/2: the least worst error of an affine readout of the kernel
    least: float  # the same for the module's own outputs, by linear programming
    weights: float  # |w|_1 of the readout that reaches it

    @property
    def conclusive(self) -> bool:
        """Whether the outputs say anything: they differ between the sequences by far more than the residual."""
        found = np.array(self.outputs)
        return self.noise <= COARSE * float((found.max(axis=0) - found.min(axis=0)).max())

    @property
    def beyond_repair(self) -> bool:
        """No affine readout of the module's outputs has error < eps on the three sequences."""
        return self.conclusive and self.exact >= self.eps and self.least >= float(self.eps) * (1 - 1e-6)

    def as_json(self) -> dict[str, object]:
        return {
            **vars(self),
            "eps": str(self.eps),
            "exact": str(self.exact),
            "sequences": [[hex(token) for token in sequence] for sequence in self.sequences],
            "targets": list(self.targets),
            "outputs": [list(output) for output in self.outputs],
            "beyond_repair": self.beyond_repair,
            "conclusive": self.conclusive,
        }

    def lines(self) -> list[str]:
        """For a person."""
        found = [f"{self.name}, its own forward in {self.dtype}:"]
        for label, first, target, output in zip("YZM", ("y", "z", "y"), self.targets, self.outputs, strict=True):
            shown = ", ".join(f"{value:.4g}" for value in output[:4]) + (", .." if len(output) > 4 else "")
            others = ", ".join([first, "z" if label == "M" else first, *([".."] if self.n > 3 else [])])
            found.append(f"  {label} = ({others}, x): target {target}, output ({shown})")
        if not self.conclusive:
            found.append(
                f"  in {self.dtype} the forward is too coarse to compare (residual {self.noise:.1e}); by the exact "
                f"kernel every affine readout is wrong by at least {float(self.exact):.6g} on one of them"
            )
            return found
        verdict = "no affine readout repairs them" if self.beyond_repair else "an affine readout may repair them"
        found.append(
            f"  every affine readout is wrong by at least {self.least:.6g} on one of them ({float(self.exact):.6g} by "
            f"the exact kernel; residual {self.noise:.1e}); allowed is less than {self.eps}: {verdict}"
        )
        return found


def replay_triples(
    head: ModuleHead, x: int, y: int, z: int, n: int = 3, eps: Fraction = Fraction(1, 2)
) -> TripleReplay:
    """Runs the module on Y, Z and M. `head` comes from `from_module`; y and z are put in order of their overlaps."""
    if not isinstance(head, ModuleHead) or head.parts is None or head.embed is None:
        raise UsageError(f"{head.name}: only heads from from_module have a forward to replay")
    if n < 3:
        raise UsageError(f"n: expected n >= 3, got {n}")
    low, high = (x & y).bit_count(), (x & z).bit_count()
    if low > high:
        y, z, low, high = z, y, high, low
    if low == high:
        raise UsageError(f"y and z have the same overlap {low} with x: expected different ones")
    sequences = ((y,) * (n - 1) + (x,), (z,) * (n - 1) + (x,), (z,) * (n - 2) + (y, x))
    targets = (low, high, low)
    with torch.inference_mode():
        tokens = by_sequence(head.embed([token for sequence in sequences for token in sequence]), n)
        own, expected = own_output(head.parts, tokens), predicted(head.parts, tokens)
        dtype = str(head.parts.keys(tokens).dtype).removeprefix("torch.")
    a, b, c = head.exact(x, [x, y, z])
    if not head.additive + a:
        raise UsageError(f"{head.name}: nothing to replay: alpha(x,x) = 0 at {x:#x}, (x, .., x) has denominator 0")
    share = (n - 2) * (head.additive + a + (n - 1) * c) / ((n - 1) * (head.additive + a + b + (n - 2) * c))
    noise = largest(own - expected)
    least, weights = least_error(own.cpu().numpy(), targets, noise)
    return TripleReplay(
        head.name,
        dtype,
        n,
        Fraction(eps),
        sequences,
        targets,
        tuple(tuple(map(float, row)) for row in own),
        noise,
        share * (high - low) / 2,
        least,
        weights,
    )


def least_error(outputs: np.ndarray, targets: tuple[int, ...], noise: float = 0.0) -> tuple[float, float]:
    """(least, |w|_1): min over (w, beta) of max_i |w.o_i + beta - t_i| + noise |w|_1, for outputs (k, dv).

    Outputs are shifted and scaled to size one before they go to the solver, and to independent directions: on a line
    the other coordinates are noise, and the robust term keeps them from being used.
    """
    width = outputs.shape[1]
    centre = outputs.mean(axis=0)
    scale = float(np.abs(outputs - centre).max()) or 1.0
    shifted = (outputs - centre) / scale
    relative = noise / scale
    rows, bounds = [], []
    for row, target in zip(shifted, targets, strict=True):
        for sign in (1.0, -1.0):
            rows.append(np.concatenate([sign * row + relative, -sign * row + relative, [sign, -1.0]]))
            bounds.append(sign * target)
    limits = [(0, None)] * (2 * width) + [(None, None), (0, None)]
    cost = np.zeros(2 * width + 2)
    cost[-1] = 1
    result = linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=limits, method="highs")
    if result.status != 0:
        raise UsageError(f"the linear programme for the best readout failed: {result.message}")
    return float(result.x[-1]), float(result.x[: 2 * width].sum() / scale)
