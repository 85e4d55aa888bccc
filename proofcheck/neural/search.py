"""Heads of rank r that are correct on the whole task: searched by gradient descent, certified exactly.

    search   restarts of `training.Restart` until one gives a head that passes exactly; an `Outcome`, with the
             certificates of what was found and a refutation of every failure

Unless a `readout` is asked for, only kernels are trained: by B0 a readout exists exactly where the excesses of
`margins` are negative. A head that passes in floats is made rational (`rationalise`, `compress`) and decided in
integers, and the kernel re-checks it. The best head of a restart that fails is refuted, by three tokens, against every
readout. Heads with linear values and an affine readout of their own are the subject of `constrained`.

Everything is determined by the arguments and the seed (and by the versions of torch and numba, the number of threads
and the device): restart i draws from the seed 1,000,003 seed + i.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from proofcheck import exhaust, readouts, whole
from proofcheck.certificate import Checked, certify
from proofcheck.errors import CONDITIONAL, FAILS, PROVED, MalformedInput, UsageError
from proofcheck.heads import Floats
from proofcheck.heads.tables import table
from proofcheck.kernel.exact import MAX_BYTES, OverBudget
from proofcheck.theorems.bundle import foundation

from .checkpoints import Arrays, Store
from .compress import compress
from .constrained import Constrained, Readouts, finish
from .degree_one import degree_one
from .extremes import loops
from .layers import OwnLayer, own_layer
from .margins import Levels
from .parametrisations import Tables, TokenLocal, make
from .rationalise import IntegerHead, rationalise
from .training import Restart, Settings

LARGEST = 12  # m: 4^m kernel values per head
ENUMERATED = 9  # from this m on, rank m is first tried by enumeration
HALF = Fraction(1, 2)
EVERY = 200  # steps between two checkpoints
STRIDE = 1_000_003  # between the seeds of two searches


@dataclass(frozen=True)
class Attempt:
    """One restart: the least largest excess of its heads and the step that had it. An exact success has no
    refutation; a failure has one unless `note` says why not."""

    restart: int
    heads: int
    steps: int
    best: float
    best_step: int
    exact: bool
    refutation: exhaust.Refutation | None
    note: str = ""
    counterexample: whole.Counterexample | None = None  # of a head with its readout
    no_readout: readouts.NoReadout | None = None  # no readout of this kernel and these values

    @property
    def certificates(self) -> dict[str, Checked]:
        """What refutes the best head, by name."""
        found = {"refutation": self.refutation, "counterexample": self.counterexample, "readouts": self.no_readout}
        return {name: item.certificate for name, item in found.items() if item and item.certificate}

    def as_json(self) -> dict[str, object]:
        plain = ("restart", "heads", "steps", "best_step", "exact", "note")
        found = {key: value for key, value in vars(self).items() if key in plain}
        found |= {"best": f"{self.best:.6g}", "refutation": None}
        found["certificates"] = {name: certificate.id for name, certificate in self.certificates.items()}
        if self.refutation is not None:
            triple = self.refutation.triple
            found["refutation"] = {
                "id": self.refutation.certificate.id,
                "condition": self.refutation.condition,
                "tokens": [f"{t:x}" for t in (triple.x, triple.y, triple.z)],
            }
        if self.counterexample is not None:
            error = self.counterexample.error
            sequence = [f"{t:x}" for t in self.counterexample.sequence]
            found["counterexample"] = {"sequence": sequence, "error": error and f"{float(error):.6g}"}
        return found


@dataclass
class Outcome:
    """`head` and its certificates, where a restart succeeded; otherwise every attempt has failed."""

    m: int
    r: int
    n: int
    eps: Fraction
    seed: int
    device: str
    attempts: list[Attempt] = field(default_factory=list)
    head: IntegerHead | None = None
    exists: Checked | None = None  # head-exists, by table-head
    correct: Checked | None = None  # kernel-correct, by levels
    whole: Checked | None = None  # exhaustive-head, by separable: a head with a constrained readout
    readout: Readouts | None = None  # what was asked of the readout
    layer: OwnLayer | None = None  # a token-local layer that was found, with its own weights
    note: str = ""
    seconds: float = 0.0

    @property
    def near(self) -> float:
        """The least largest excess over all attempts: positive, how far the search stayed from a head."""
        return min((attempt.best for attempt in self.attempts), default=float("inf"))

    @property
    def status(self) -> int:
        """Proved where a head was found and certified; refuted where every attempt was; otherwise conditional."""
        if self.head is not None:
            return PROVED if self.exists and (self.whole or self.readout is None) else CONDITIONAL
        return FAILS if all(attempt.certificates for attempt in self.attempts) else CONDITIONAL


def search(
    m: int,
    r: int,
    n: int = 3,
    eps: Fraction = HALF,
    *,
    heads: int = 8,
    restarts: int = 4,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    settings: Settings | None = None,
    warm: tuple[Floats, Floats] | None = None,
    readout: Readouts | None = None,
    small: bool = True,
    command: str | None = None,
    checkpoint: Path | None = None,
    every: int = EVERY,
    progress: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """A head of rank at most r (`Outcome.r` says which) on tokens of m bits with error < eps at all lengths 1..n, or
    how near the search came. `warm` are features to start from, (2^m, r) each or with a first axis of heads, positive
    unless features are signed; `readout` asks for linear values and an affine readout beside the kernel
    (`constrained`); `small` says whether to look for smaller integers. `threads` are those of torch on the CPU, from
    then on; None leaves them.

    With a `checkpoint`, a file that is written after every `every` steps, a search that was stopped goes on where that
    file says, and comes to the same outcome, bit by bit; it is removed at the end. The file of another search (other
    arguments, versions of torch or numba, device or threads) is refused."""
    settings = settings or Settings()
    if not 1 <= m <= LARGEST or r < 1 or heads < 1 or restarts < 1:
        raise UsageError(f"expected 1 <= m <= {LARGEST} and r, heads, restarts >= 1, got {m}, {r}, {heads}, {restarts}")
    began = time.perf_counter()
    where = chosen_device(device)
    if threads is not None:
        torch.set_num_threads(threads)
    command = command or f"proofcheck search -m {m} -r {r} -n {n} --eps {eps} --heads {heads} --seed {seed}"
    maps = make(settings.parametrisation, m, r, settings.layer, where)
    if readout is not None:
        maps = Constrained(maps, readout, n, eps, where)
    outcome = Outcome(m, maps.rank, n, eps, seed, where, readout=readout)
    if warm is not None and settings.parametrisation != "signed" and min(part.min() for part in warm) < 0:
        raise UsageError(f"a warm start with negative features is for features signed, not {settings.parametrisation}")
    tried = r == m >= ENUMERATED and warm is None and isinstance(maps, Tables)  # without a readout
    listed = degree_one(m, n, eps) if tried else None
    outcome.head = rationalise(*listed, n, eps) if listed else None
    if outcome.head is not None:
        outcome.exists, outcome.correct, outcome.note = certificates(outcome.head, n, eps, command, seed)
        outcome.seconds = time.perf_counter() - began
        return outcome
    arguments = {"m": m, "r": r, "n": n, "eps": eps, "heads": heads, "seed": seed, "settings": settings, "warm": warm}
    arguments |= {"readout": readout} if readout else {}
    store = Store(checkpoint, identity(arguments, where)) if checkpoint else None
    saved = store.read() if store else {}
    done: Arrays = {}  # the results of the restarts that have finished, by "restart.name"

    def save(run: Restart, i: int) -> None:
        if store:
            store.write(done | {f"{i}.{name}": value for name, value in run.state().items()})

    levels = Levels.build(m, n, eps, where)
    for i in range(restarts):
        source = torch.Generator().manual_seed(seed * STRIDE + i)
        run = Restart(levels, r, heads, source, settings, warm, maps)
        if held := {name.removeprefix(f"{i}."): saved[name] for name in saved if name.startswith(f"{i}.")}:
            restored(run, held, checkpoint)
            progress(f"restart {i}: from the checkpoint, step {run.step}")
        run.train(lambda line, i=i: progress(f"restart {i}: {line}"), partial(save, run, i), every)  # type: ignore[misc]
        done |= {f"{i}.{name}": value for name, value in run.result().items()}
        if isinstance(maps, Constrained):
            found = finish(maps, run.kept, run.best < 0, n, eps, command)
            exact = found.head is not None
            common = (i, heads, run.step, run.best, run.best_step, exact, found.refutation, found.note)
            outcome.attempts.append(Attempt(*common, found.counterexample, found.no_readout))
            if found.head is not None and found.correct is not None:
                outcome.head, outcome.whole = found.head, found.correct.certificate
                outcome.exists, outcome.correct, outcome.note = certificates(found.head, n, eps, command, seed)
                break
            continue
        queries, keys = run.best_features()
        head = rationalise(queries, keys, n, eps) if run.best < 0 else None
        if head is not None:
            progress(f"restart {i}: exact, {head.size()} characters of integers up to {head.largest()}")
        refutation, note = (None, "") if head else refuted(queries, keys, n, eps, command)
        outcome.attempts.append(Attempt(i, heads, run.step, run.best, run.best_step, bool(head), refutation, note))
        if head is not None:
            smaller = compress(queries, keys, levels, n, eps) if small else None
            outcome.head = min((h for h in (head, smaller) if h), key=IntegerHead.size)
            outcome.exists, outcome.correct, outcome.note = certificates(outcome.head, n, eps, command, seed)
            if isinstance(run.maps, TokenLocal):
                outcome.layer = own_layer(run.maps, run.kept[:, None], n, eps, command)
            break
    if store:
        store.remove()
    outcome.seconds = time.perf_counter() - began
    return outcome


def identity(arguments: Mapping[str, Any], device: str) -> dict[str, str]:
    """What determines the numbers of a search. The number of restarts is not among it: more may be asked for later."""
    spelled = {name: str(value) for name, value in arguments.items()}
    if (warm := arguments["warm"]) is not None:
        spelled["warm"] = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in warm)).hexdigest()
    versions = {"torch": torch.__version__, "numba": loops().numba.__version__ if device == "cpu" else "none"}
    return {**spelled, **versions, "device": device, "threads": str(torch.get_num_threads())}


def restored(run: Restart, held: Arrays, checkpoint: Path | None) -> None:
    try:
        run.restore(held)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise MalformedInput(f"{checkpoint} is no checkpoint: {error}; delete it to begin again") from None


def refuted(
    queries: Floats, keys: Floats, n: int, eps: Fraction, command: str
) -> tuple[exhaust.Refutation | None, str]:
    """A refutation of the kernel of these features, rounded to float32, and a note where there is none."""
    m, rank = len(queries).bit_length() - 1, keys.shape[1]
    given = table(queries.astype(np.float32), keys.astype(np.float32), name=f"search-m{m}-r{rank}")
    found = exhaust.decide(given, n, eps, command=command, certified=False)
    if isinstance(found, exhaust.Refutation):
        return found, ""
    return None, f"correct in floats and not in small integers: {type(found).__name__}"


def certificates(
    head: IntegerHead, n: int, eps: Fraction, command: str, seed: int
) -> tuple[Checked | None, Checked | None, str]:
    """`head-exists` by the rule table-head, `kernel-correct` by levels, and a note on what did not fit."""
    queries, keys = head.queries.tolist(), head.keys.tolist()
    m, rank = len(queries).bit_length() - 1, len(queries[0])
    if head.size() > MAX_BYTES - 4_000 or m > 10:
        return None, None, f"tables of {head.size()} characters for m = {m} are more than a certificate holds"
    rested = [foundation("domination-sufficient")[1]]
    found: list[Checked | None] = []
    notes = []
    for claim, rule, parameters, witness in (
        ("head-exists", "table-head", {"rank": rank}, {"queries": queries, "keys": keys}),
        ("kernel-correct", "levels", {"additive": 0, "queries": queries, "keys": keys}, {}),
    ):
        given = {"m": m, "n": n, "eps": eps, **parameters}
        tools = {"torch": torch.__version__}
        try:
            found.append(certify(claim, given, rule, witness, command=command, uses=rested, tools=tools, seed=seed))
        except OverBudget as error:
            found.append(None)
            notes.append(f"{claim}: {error}")
    return found[0], found[1], "; ".join(notes)


def chosen_device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise UsageError(f"--device: expected auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("--device: cuda was asked for, and torch finds no such device")
    return name
