"""python -S -m proofcheck.kernel PATH...   (exit: 0 verified, 1 rejected, 2 usage, 3 conditional, 4 malformed)"""

from __future__ import annotations

import os
import sys

from .check import OUTCOMES, check_files, files, overall

USAGE = """usage: python -S -m proofcheck.kernel PATH...
PATH is a certificate, or a folder: all *.json below it. A certificate that rests on others is checked with them.
exit: 0 verified, 1 rejected, 2 usage, 3 conditional, 4 malformed
"""


def main(arguments: list[str]) -> int:
    if not arguments or any(argument.startswith("-") for argument in arguments):
        wants_help = arguments in (["-h"], ["--help"])
        (sys.stdout if wants_help else sys.stderr).write(USAGE)
        return 0 if wants_help else 2
    paths = []
    for argument in arguments:
        found = files(argument)
        if not found:
            sys.stderr.write(f"no certificate (*.json) in the folder {ascii(argument)[1:-1]}\n")
            return 2
        paths += found
    reports = check_files(paths)
    for report in reports:
        assumed = "".join(f"\n    assumed: {sentence}" for sentence in report.verdict.assumed) if report.verdict else ""
        print(f"{OUTCOMES[report.status]}  {ascii(report.path)[1:-1]}: {report.message}{assumed}")
    status = overall(reports)
    counts = [(OUTCOMES[s], sum(r.status == s for r in reports)) for s in OUTCOMES]
    print(f"{len(reports)} files: " + ", ".join(f"{count} {word}" for word, count in counts if count))
    return status


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except OSError:  # the output could not be written: nothing was reported, so nothing is verified
        os._exit(2)
    sys.exit(code)
