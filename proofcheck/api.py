"""The verbs of the package, for Python: `proofcheck.refute(head, ...)`, `proofcheck.certify(head, ...)`.

A head is given as a `proofcheck.heads.Head` (with its own m), a SPEC string as on the command line ("elu1", "head.npz",
"package.module:attribute"), or a torch.nn.Module. For the last two say how many bits m a token has; tokens are given to
a module as {0,1}^m vectors of its input dimension unless `token_embed` says otherwise.

    >>> import proofcheck
    >>> found = proofcheck.refute("elu1", m=24, r=64)      # three tokens against every readout
    >>> found.triple.gap, found.certificate.id             # doctest: +SKIP
    >>> proofcheck.certify("softmin", m=4).status          # 0: all sequences of length 1..3
    0
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from proofcheck import exhaust, refuter
from proofcheck.errors import UsageError
from proofcheck.heads import Head

Found = refuter.Refutation | refuter.Outside | refuter.NoneFound
Decided = exhaust.KernelCorrect | exhaust.HeadCorrect | exhaust.Refutation | exhaust.Counterexample | exhaust.Outside

if TYPE_CHECKING:
    from proofcheck import readouts


def load(
    head: Any, /, m: int | None = None, r: int = 64, seed: int = 0, options: Mapping[str, object] | None = None
) -> Head:
    """The head that is meant. `r` and `seed` concern built-in kernels; `options` go to the kernel, the file or
    `proofcheck.neural.from_module` (head, layout, token_embed, stabiliser, cut)."""
    if isinstance(head, Head):
        if m not in (None, head.m):
            raise UsageError(f"m: the head {head.name} has m = {head.m}, got m = {m}")
        return head
    if m is None:
        raise UsageError("m: say how many bits a token has")
    if isinstance(head, str):
        from proofcheck.heads import spec

        return spec.load(head, m, r, seed, options)
    from proofcheck.heads.spec import is_module

    if is_module(head):
        from proofcheck.neural import from_module

        chosen: dict[str, Any] = dict(options or {})
        return from_module(head, m, **chosen)
    raise UsageError(f"head: expected a Head, a SPEC or a torch.nn.Module, got {type(head).__name__}")


def refute(
    head: Any,
    /,
    m: int | None = None,
    *,
    n: int = 3,
    eps: Fraction | str = "1/2",
    r: int = 64,
    seed: int = 0,
    budget: int | None = None,
    **options: object,
) -> Found:
    """Three tokens with which no values and no affine readout of the head's kernel are correct on all sequences of
    length n; `NoneFound` is an honest "none found" within the budget of kernel evaluations, and never a success of the
    head. Nothing of size 2^m is made: m up to 1,000."""
    return refuter.refute(load(head, m, r, seed, options), n, Fraction(eps), seed=seed, budget=budget)


def certify(
    head: Any,
    /,
    m: int | None = None,
    *,
    n: int = 3,
    eps: Fraction | str = "1/2",
    r: int = 64,
    seed: int = 0,
    values: str | None = None,
    **options: object,
) -> Decided | readouts.Fitted | readouts.NoReadout:
    """Decides ALL sequences of length 1..n, m <= 14. First the kernel alone: if it is refuted, no readout helps. If it
    is correct for some readout and the head brings its own, that one is decided too; or, with `values` "linear",
    "overlap" or "own", the best affine readout of these values (`proofcheck.readouts`)."""
    loaded = load(head, m, r, seed, options)
    if values is not None:
        from proofcheck import readouts

        readouts.check_values(loaded, values)
    found = exhaust.decide(loaded, n, Fraction(eps))
    if values is not None and isinstance(found, exhaust.KernelCorrect):
        return readouts.best(loaded, values, n, Fraction(eps), cube=found.cube)
    if isinstance(found, exhaust.KernelCorrect) and loaded.readout is not None:
        return exhaust.verify(loaded, n, Fraction(eps))
    return found
