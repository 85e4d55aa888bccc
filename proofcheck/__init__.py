"""proofcheck: machine-checked theory of what one nonnegative attention head can select.

    proofcheck.refute(head, m=...)    three tokens against every readout of a head's kernel
    proofcheck.certify(head, m=...)   all sequences decided, for m <= 14

This file runs before the trusted kernel does, so it holds nothing but this text, the version, and the two verbs, which
are imported (from proofcheck.api) when they are asked for.
"""

__version__ = "0.1.0"

_VERBS = ("refute", "certify")


def __getattr__(name: str) -> object:
    if name not in _VERBS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from proofcheck import api

    return getattr(api, name)
