"""What a theorem module hands back: certificates with the file names under which they are kept, and a summary."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofcheck.certificate import Checked, recheck


@dataclass
class Bundle:
    """Certificates by file name ("lemma3/gap-domination-symbolic"), in the order in which they rest on each other."""

    certificates: dict[str, Checked] = field(default_factory=dict)

    def add(self, name: str, certificate: Checked) -> Checked:
        self.certificates[name] = certificate
        return certificate

    def include(self, other: Bundle) -> None:
        self.certificates.update(other.certificates)

    def write(self, folder: Path) -> list[Path]:
        return [
            certificate.write(folder / Path(name).parent, Path(name).name)
            for name, certificate in self.certificates.items()
        ]

    def __iter__(self) -> Iterator[tuple[str, Checked]]:
        return iter(self.certificates.items())


@dataclass
class Shown:
    """One row of an audit.

    claim      "Theorem 5"
    statement  what exactly was shown, marked universal or instance
    main       the names in `bundle` of the certificates that show it; the others are what these rest on
    figures    numbers for a reader: name -> text
    arguments  the sections of kernel/TRUST.md that tie the certificates to the sentence
    uncovered  parts of the paper's sentence that no certificate covers
    """

    claim: str
    statement: str
    bundle: Bundle
    main: list[str]
    figures: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "shown": self.statement,
            "figures": self.figures,
            "arguments": list(self.arguments),
            "uncovered": list(self.uncovered),
            "certificates": [
                {
                    "name": name,
                    "id": certificate.id,
                    "claim": certificate.claim,
                    "parameters": certificate.parameters,
                    "rule": certificate.rule,
                    "statement": certificate.verdict.claim,
                    "assumed": certificate.verdict.assumed,
                    "main": name in self.main,
                }
                for name, certificate in self.bundle
            ],
        }


@functools.cache
def lemma3_symbolic() -> tuple[str, Checked]:
    from . import lemma3

    outcome = lemma3.prove_symbolic()
    return f"lemma3/{outcome.name}", outcome.certificate


@functools.cache
def cases(claim: str, folder: str) -> tuple[str, Checked]:
    """The certificate of a parameterless claim by cases; those that rest on Lemma 3 or 4 find them themselves."""
    from proofcheck.kernel.claims import CLAIMS

    from .identities import certify_cases

    rested = {name: foundation(name)[1] for name in CLAIMS[claim][1]}
    return f"{folder}/{claim}", certify_cases(claim, f"proofcheck {folder}", rested)


# The certificates that others rest on, and the names under which they are kept: Lemma 3 for all n, d, eps; Lemma 4;
# both directions of B0; Theorem 1.
FOUNDATIONS = {
    "gap-domination-symbolic": "lemma3/gap-domination-symbolic",
    "approximate-identity": "lemma4/approximate-identity",
    "domination-necessary": "domination/domination-necessary",
    "domination-sufficient": "domination/domination-sufficient",
    "softmin": "theorem1/softmin",
}
KEPT = Path(__file__).parent / "foundations"


@functools.cache
def foundation(claim: str) -> tuple[str, Checked]:
    """One of `FOUNDATIONS`, with its name: as it is kept in this package, if the kernel accepts the file; otherwise
    proved anew. So that commands that merely rest on it need not prove it again."""
    kept = recheck(KEPT / f"{claim}.json")
    if kept is None or kept.claim != claim or kept.parameters or kept.verdict.assumed:
        return proved(claim)
    return FOUNDATIONS[claim], kept


def proved(claim: str) -> tuple[str, Checked]:
    """The same, proved now: for the commands whose result it is."""
    return lemma3_symbolic() if claim == "gap-domination-symbolic" else cases(claim, FOUNDATIONS[claim].split("/")[0])


def founded(claims: Iterable[str], prove: bool = False) -> Bundle:
    """A bundle that holds the named foundations, proved now if `prove`."""
    bundle = Bundle()
    for claim in claims:
        bundle.add(*(proved(claim) if prove else foundation(claim)))
    return bundle
