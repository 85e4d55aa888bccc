"""python -S -m proofcheck.kernel FILE...   (exit: 0 verified, 1 rejected, 2 usage, 3 conditional, 4 malformed)"""

from __future__ import annotations

import sys

from .check import OUTCOMES, check_file, overall

USAGE = "usage: python -S -m proofcheck.kernel FILE...\n" + __doc__.split("FILE...")[1].strip() + "\n"


def main(arguments: list[str]) -> int:
    if not arguments or any(argument.startswith("-") for argument in arguments):
        wants_help = arguments in (["-h"], ["--help"])
        (sys.stdout if wants_help else sys.stderr).write(USAGE)
        return 0 if wants_help else 2
    reports = []
    for path in arguments:
        report = check_file(path)
        reports.append(report)
        print(f"{OUTCOMES[report.status]}  {ascii(path)[1:-1]}: {report.message}")
    status = overall(reports)
    counts = [(OUTCOMES[s], sum(r.status == s for r in reports)) for s in OUTCOMES]
    print(f"{len(reports)} files: " + ", ".join(f"{count} {word}" for word, count in counts if count))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
