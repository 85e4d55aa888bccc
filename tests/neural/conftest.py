"""One thread for torch: the tests run beside each other, on small tensors."""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    import torch

    torch.set_num_threads(1)
