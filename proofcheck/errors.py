"""The package's exceptions, each with the exit status that the command line gives it.

    0  proved or verified
    1  rejected, refuted, or the claim fails
    2  usage: an argument is outside its documented range
    3  conditional: something was assumed, skipped, or not found within the budget
    4  malformed input

The kernel has its own two exceptions and imports nothing from here.
"""

from __future__ import annotations

PROVED, FAILS, USAGE, CONDITIONAL, MALFORMED = range(5)


class ProofcheckError(Exception):
    """A failure that a user can understand and act on: one sentence, no traceback."""

    status = FAILS


class UsageError(ProofcheckError):
    """An argument is outside its range. The message names the value, the place and what was expected."""

    status = USAGE


class ClaimFails(ProofcheckError):  # noqa: N818 - an outcome, not a fault
    """The claim does not hold as asked, with the reason."""

    status = FAILS


class SolverDisagreement(ProofcheckError):  # noqa: N818
    """Two solvers answer the same query differently: one of them is wrong, or the translation is."""

    status = FAILS


class Undecided(ProofcheckError):  # noqa: N818
    """A solver gave no answer (unknown or out of time); the message says which query and how long."""

    status = CONDITIONAL


class MalformedInput(ProofcheckError):  # noqa: N818
    """A file is not what it should be. The message names the file and the place in it."""

    status = MALFORMED


OUTSIDE = {
    "sequence-coupled": "the features of a token depend on the other tokens of the sequence",
    "per-feature": "each feature is normalised over the sequence on its own: not alpha / sum alpha",
    "signed": "alpha is negative at some pair of tokens",
    "unnormalised": "the output is not divided by sum alpha: no normaliser, or decay",
    "normaliser": "the denominator is changed in a way that is no constant added to it",
    "position-dependent": "alpha depends on positions, not only on the two tokens",
    "redrawn": "two calls give different features",
    "readout": "what follows the head is not affine",
    "not replayed": "the module's own forward gives something else than sum alpha v / sum alpha",
}


class Outside(ProofcheckError):  # noqa: N818
    """A head that the theorems do not speak about: it is neither certified nor refuted, hence the status.

    `kind` is a key of `OUTSIDE`, `reason` says what was seen in this head, `instead` what could be done about it.
    """

    status = CONDITIONAL

    def __init__(self, name: str, kind: str, reason: str, instead: str) -> None:
        self.name, self.kind, self.reason, self.instead = name, kind, reason, instead
        super().__init__(f"{name} is outside the theorems ({kind}): {reason}. Instead: {instead}")
