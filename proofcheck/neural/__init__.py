"""Heads of torch modules. torch lives here and nowhere else in the package.

from_module     a head of a module: of a public library (see `registry`) or of the user's own
from_callables  a head of feature maps that take and give tensors
from_arrays     a head of tables, as tensors or arrays
replay_triples  what the module itself puts out on the sequences of a refutation, and how well any affine readout
                could do on them
"""

from .adapters import ModuleHead, from_arrays, from_callables, from_module
from .checks import LoadReport, Replay
from .triples import TripleReplay, replay_triples

__all__ = [
    "LoadReport",
    "ModuleHead",
    "Replay",
    "TripleReplay",
    "from_arrays",
    "from_callables",
    "from_module",
    "replay_triples",
]
