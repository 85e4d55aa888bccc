"""Three numbers that are all called the number of features.

    nominal      r, the columns of the feature matrices
    rank         the rank of the kernel on the whole cube, of the exact numbers that the features are (m <= 8)
    significant  the singular values of the kernel above a stated fraction of the largest: what is left of the rank
                 when rounding of the features is taken for noise. A number to look at, no bound on anything
    state        r (dv + 1), the numbers that a recurrent form keeps: sum of phiK(z) v(z)^T and sum of phiK(z)

`rank` is at most r and at most 2^m, and it is the one that lower bounds on r* speak about. Never is it computed from a
Gram matrix in floats: rounding turns 16 features into rank 256. But floats also round the features themselves: a
Taylor map of 73 features has rank 37 = 1 + m + C(m,2) at m = 8 in exact arithmetic, and more in its float32 features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from proofcheck.rank import exact_rank

from . import ClosedForm, Head, bits, dyadic
from .tables import TableHead

MAX_CUBE_BITS = 8
PRIME = 2**61 - 1


@dataclass(frozen=True)
class Numbers:
    """See the module; None where m is too large or the values are unknown."""

    nominal: int
    rank: int | None
    significant: int | None
    noise: float  # the fraction of the largest singular value that `significant` ignores
    state: int | None

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        parts = [f"{self.nominal} nominal"]
        if self.rank is not None:
            parts.append(f"rank {self.rank} on the cube ({self.significant} above {self.noise:.0e} of the largest)")
        if self.state is not None:
            parts.append(f"state of {self.state} numbers")
        return ", ".join(parts)


def numbers(head: Head, width: int | None = None, precision: float = 2.0**-52) -> Numbers:
    """The numbers of a head. `width` is dv, by default that of its readout; `precision` the unit of rounding of its
    features."""
    if width is None and head.readout is not None:
        width = int(np.asarray(head.readout.values(bits([0], head.m))).shape[1])
    rank = significant = None
    noise = precision * min(head.rank, 1 << 20) ** 0.5 * 16
    if head.m <= MAX_CUBE_BITS:
        tokens = range(1 << head.m)
        rank = exact_kernel_rank(head, tokens)
        values = np.linalg.svd(head.kernel(tokens, tokens), compute_uv=False)
        significant = int((values > noise * values[0]).sum())
    return Numbers(head.rank, rank, significant, noise, None if width is None else head.rank * (width + 1))


def exact_kernel_rank(head: Head, tokens: Sequence[int]) -> int:
    """The rank of (alpha(x,z)), x and z in `tokens`, exactly."""
    if isinstance(head, TableHead | ClosedForm):
        return exact_rank([head.exact(x, tokens) for x in tokens])
    from flint import fmpz_mat, nmod_mat

    query, key = (
        [dyadic(head.features(side, [token])[0])[0] for token in tokens] for side in ("queries", "keys")
    )  # a row times a power of two is integral, and has the same rank
    modular = [nmod_mat([[value % PRIME for value in row] for row in rows], PRIME) for rows in (query, key)]
    below = (modular[0] * modular[1].transpose()).rank()  # modulo a prime, hence a lower bound
    if below == min(head.rank, len(tokens)):
        return int(below)
    sides = [fmpz_mat(query), fmpz_mat(key)]
    if below == min(side.rank() for side in sides):  # an upper bound
        return int(below)
    return int((sides[0] * sides[1].transpose()).rank())
