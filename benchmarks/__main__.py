"""python -m benchmarks [NAME...]: runs all benchmark groups, or those named."""

from __future__ import annotations

import sys

from . import bounds, codes, heads, lemma3, paper, rank, search, sketches

GROUPS = {
    "lemma3": lemma3.run,
    "codes": codes.run,
    "rank": rank.run,
    "paper": paper.run,
    "bounds": bounds.run,
    "heads": heads.run,
    "search": search.run,
    "sketches": sketches.run,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(GROUPS)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    for name in names or GROUPS:
        print(f"\n== {name} ==")
        GROUPS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
