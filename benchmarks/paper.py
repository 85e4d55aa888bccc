"""The audit's time by claim, as a share of the whole, and the kernel's re-check of all its certificates."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from proofcheck.kernel.check import check_files
from proofcheck.theorems import paper


def run() -> None:
    times: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths: list[str] = []
        for name, show in paper.claims():
            start = time.perf_counter()
            shown = show()
            paths += [str(path) for path in shown.bundle.write(Path(folder))]
            times[name] = time.perf_counter() - start
        start = time.perf_counter()
        reports = check_files(list(dict.fromkeys(paths)))
        checking = time.perf_counter() - start
    whole = sum(times.values())
    print(f"audit of {len(times)} claims: {whole:.1f} s; each as a share of it (foundations count where first needed)")
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        print(f"  {name:<14} {seconds / whole:6.1%}")
    print(f"kernel re-check of its {len(reports)} certificates: {checking / whole:.1%} of the audit")
