"""What people and programs see: tables on standard output, or one JSON object there and all else on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.progress import track as progress
from rich.table import Table

Task = TypeVar("Task")
Result = TypeVar("Result")

errors = Console(stderr=True, highlight=False)
_TABLE_WIDTH = 160  # where the output is no terminal, so that redirected tables are not cut at 80 columns


def console(as_json: bool) -> Console:
    """Where tables go: standard output, or standard error when standard output belongs to JSON."""
    width = None if errors.is_terminal else _TABLE_WIDTH
    return errors if as_json else Console(highlight=False, width=width)


def print_json(value: Any) -> None:
    """The one machine-readable object of a --json run."""
    print(json.dumps(value, indent=2, sort_keys=True))


def finish(lines: Iterable[str], result: dict[str, Any], as_json: bool, where: Console) -> None:
    """The one object of a --json run, or the lines and the time of `result`."""
    if as_json:
        print_json(result)
        return
    for line in [*lines, f"{result['seconds']:.2f} s"]:
        where.print(line, markup=False, soft_wrap=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> Table:
    """A table whose cells are plain text; `right` lists the columns to align right."""
    result = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for i, column in enumerate(columns):
        result.add_column(column, justify="right" if i in set(right) else "left", overflow="fold")
    for row in rows:
        result.add_row(*(cell.replace("[", "\\[") for cell in row))
    return result


def track(items: Sequence[Task], description: str) -> Iterator[Task]:
    """The items, with a progress bar on standard error."""
    yield from progress(items, description, len(items), console=errors, transient=True)


def in_parallel(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int, description: str) -> Iterator[Result]:
    """The results of `work` on each task, in order, with a progress bar on standard error."""
    if jobs <= 1 or len(tasks) <= 1:
        yield from progress((work(task) for task in tasks), description, len(tasks), console=errors, transient=True)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks))) as pool:
        results = pool.map(work, tasks, chunksize=max(1, len(tasks) // (8 * jobs)))
        yield from progress(results, description, len(tasks), console=errors, transient=True)
