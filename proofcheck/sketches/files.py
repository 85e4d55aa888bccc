"""Models in files, what a user names as a model, and certificates of collisions.

A model file is the JSON object {"format": "proofcheck-sketch/1", "m", "embedding", "layers"}, the last three as in the
parameters of a `transcript-collision` certificate, under the kernel's own rules for numbers, shapes and grids:

    {"format": "proofcheck-sketch/1", "m": 7, "embedding": [[1, -1, 0, 1, 0, 0, 1, 0], [0, 1, 1, 0, -1, 1, 0, 1]],
     "layers": [{"heads": [{"queries": [[1, 0]], "keys": [[0, 1]], "values": [[1, 1]], "output": [[1], [0]],
                            "relu": 1, "polynomial": [0, 1]}],
                 "sums": {"bits": 1, "low": 0, "step": 2}, "normalisers": {"bits": 1, "low": 0, "step": "1/2"},
                 "outputs": {"bits": 4, "low": -8, "step": 1}, "states": {"bits": 8, "low": -128, "step": 1}}]}

It runs by `proofcheck transcript collide FILE -s 1 -q 2`: a family needs m >= 3s + 4, or m >= s + 3 for one query.

package.module:attribute IMPORTS AND RUNS that code: a `Sketch` or `Batched` model (see `proofcheck.sketches`), or a
callable (m, seed), a class for instance, that gives one. Whatever it raises becomes one `UsageError` of one line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proofcheck.certificate import Checked, certify, spell, write_atomically
from proofcheck.errors import MalformedInput, UsageError
from proofcheck.heads.spec import attribute, users_code
from proofcheck.kernel.check import read as read_bytes
from proofcheck.kernel.claims.transcript import MAX_SKETCH_TOKEN, quantised_model
from proofcheck.kernel.exact import Malformed, canonical, integer, load_json, record
from proofcheck.transcripts import TypedFamily

from . import Batched, Sketch
from .finder import Collision
from .grids import Grid, Rows
from .linear import Head, Layer, LinearAttention

FORMAT = "proofcheck-sketch/1"


def read(path: str) -> LinearAttention:
    """Raises `MalformedInput` naming the file and the place in it."""
    try:
        fields = record(load_json(read_bytes(path)), "the file", ["format", "m", "embedding", "layers"])
        if fields["format"] != FORMAT:
            raise Malformed(f"format: expected {FORMAT!r}")
        m = integer(fields["m"], "m", 1, MAX_SKETCH_TOKEN)
        embedding, layers = quantised_model(m, fields)
    except Malformed as error:
        raise MalformedInput(f"{path}: {str(error).replace('parameters.', '')}") from None
    built = []
    for heads, grids in layers:
        parts = [
            Head(_rows(query), _rows(key), _rows(value), _rows(output), bool(relu), tuple(polynomial))
            for query, key, value, output, relu, polynomial in heads
        ]
        built.append(Layer(tuple(parts), *(Grid((high - low).bit_length(), low, step) for low, high, step in grids)))
    return LinearAttention(Path(path).name, m, _rows(embedding), tuple(built))


def _rows(matrix: list[list[int]]) -> Rows:
    return tuple(map(tuple, matrix))


def write(model: LinearAttention, path: Path) -> None:
    write_atomically(path, canonical(spell({"format": FORMAT, **model.as_json()})) + b"\n")


def imported(spec: str, m: int, seed: int) -> Sketch | Batched:
    found: Any = attribute(spec)
    if isinstance(found, type) or (not _is_model(spec, found) and callable(found)):
        with users_code(f"{spec}: calling it with (m, seed) = ({m}, {seed}) failed"):
            found = found(m, seed)
    if _is_model(spec, found):
        return found  # type: ignore[no-any-return]
    raise UsageError(
        f"{spec}: expected a model with name, alphabets, encode, message and update (see proofcheck.sketches), or a "
        f"callable (m, seed) that gives one; got {type(found).__name__}"
    )


def _is_model(spec: str, found: object) -> bool:
    with users_code(f"{spec}: looking at its attributes failed"):  # properties run
        return isinstance(found, Batched | Sketch)


def certificate(model: LinearAttention, family: TypedFamily, found: Collision, command: str) -> Checked:
    """`transcript-collision`: the kernel computes both transcripts anew by the definition. Raises `OverBudget` where
    the model is too large for that."""
    sequences = [[f"{token:x}" for token in family.sequence(levels)] for levels in (found.left, found.right)]
    parameters = {**model.as_json(), "sequences": sequences, "place": found.query}
    return certify("transcript-collision", parameters, "collision", {}, command=command)
