"""The command line. Exit status: 0 proved, 1 fails, 2 usage, 3 conditional, 4 malformed input (see errors.py).

app       the typer application and `main`
options   parsing of ranges and rationals
output    tables, progress, --json
lemma3, verify, ...   one module per group of commands; heavy imports happen inside the commands
"""

from .app import main

__all__ = ["main"]
