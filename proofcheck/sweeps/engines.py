"""Where tasks run: processes of this machine, or Ray. Each yields one outcome a task, in the order in which they end.

An outcome is `Done` or `Failed`; a task that fails or whose worker dies is tried again, `retries` times, while the
others go on. Work is a function that can be pickled and that gives the same value whenever it is called with the same
task; so what is yielded does not depend on the engine, the order, the retries or the workers that were lost.

    local  `jobs` processes, each with a pool of its own, so that the loss of one concerns one task; they are spawned,
           so a program that calls this needs the usual `if __name__ == "__main__":`
    ray    one task of Ray a task, on the cluster at `address` or, without one, on a Ray of `jobs` processors that is
           started here (without dashboard and usage reports; Ray writes a token file into the home folder)

Closing the iterator, as an interrupt does, ends the workers.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from proofcheck.errors import UsageError

T = TypeVar("T")
V = TypeVar("V")
ENGINES = ("local", "ray")
LOST = "its worker process died (killed, or out of memory)"


@dataclass(frozen=True)
class Done(Generic[T, V]):
    task: T
    value: V
    tries: int


@dataclass(frozen=True)
class Failed(Generic[T]):
    """A task that failed every time, with the last reason."""

    task: T
    reason: str
    tries: int


# --------------------------------------------------------------------------------------------- local


@dataclass
class _Slot:
    """A pool of one worker process."""

    pool: ProcessPoolExecutor = field(init=False)
    workers: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pool, self.workers = ProcessPoolExecutor(1, mp_context=context, initializer=_worker), []

    def submit(self, work: Callable[[T], V], task: T) -> Future[V]:
        before = set(multiprocessing.active_children())
        future = self.pool.submit(work, task)
        self.workers += set(multiprocessing.active_children()) - before
        return future

    def end(self) -> None:
        for worker in self.workers:
            worker.terminate()
        self.pool.shutdown(wait=True, cancel_futures=True)


def _worker() -> None:
    """A worker leaves interrupts to the process that started it, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def local(
    work: Callable[[T], V], tasks: Sequence[T], *, jobs: int = 1, retries: int = 2
) -> Iterator[Done[T, V] | Failed[T]]:
    """The outcomes of all tasks, from `jobs` processes."""
    waiting = deque((task, 1) for task in tasks)
    slots = [_Slot() for _ in range(min(jobs, len(tasks)))]
    running: dict[Future[V], tuple[_Slot, T, int]] = {}
    try:
        for slot in slots:
            task, tries = waiting.popleft()
            running[slot.submit(work, task)] = slot, task, tries
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                slot, task, tries = running.pop(future)
                outcome: Done[T, V] | Failed[T] | None = None
                error = future.exception()
                if error is None:
                    outcome = Done(task, future.result(), tries)
                elif tries > retries:
                    outcome = Failed(task, _reason(error), tries)
                else:
                    waiting.append((task, tries + 1))
                if isinstance(error, BrokenProcessPool):
                    slot.end()
                    slot.renew()
                if waiting:
                    following, count = waiting.popleft()
                    running[slot.submit(work, following)] = slot, following, count
                if outcome is not None:
                    yield outcome
    finally:
        for slot in slots:
            slot.end()


def _reason(error: BaseException) -> str:
    return LOST if isinstance(error, BrokenProcessPool) else f"{type(error).__name__}: {error}"


# ----------------------------------------------------------------------------------------------- ray


def ray(
    work: Callable[[T], V],
    tasks: Sequence[T],
    *,
    jobs: int = 1,
    retries: int = 2,
    address: str | None = None,
    gpus: float = 0.0,
    cpus: float = 1.0,
) -> Iterator[Done[T, V] | Failed[T]]:
    """The outcomes of all tasks; each needs `cpus` processors and `gpus` GPUs (fractions share one). The machines of
    the cluster have proofcheck and the same versions of what it needs installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray as library
    except ImportError:
        raise UsageError("the engine ray needs Ray: install proofcheck[ray]") from None
    started = not library.is_initialized()
    if started:
        _connect(library, address, jobs)

    def call(task: T) -> V:  # Ray takes functions only
        return work(task)

    remote = library.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(call)
    running: dict[Any, tuple[T, int]] = {}
    try:
        running = {remote.remote(task): (task, 1) for task in tasks}
        while running:
            for reference in library.wait(list(running), num_returns=1)[0]:
                task, tries = running.pop(reference)
                outcome: Done[T, V] | Failed[T] | None = None
                try:
                    outcome = Done(task, library.get(reference), tries)
                except library.exceptions.RayError as error:
                    if tries > retries:
                        outcome = Failed(task, _ray_reason(library, error), tries)
                    else:
                        running[remote.remote(task)] = task, tries + 1
                if outcome is not None:
                    yield outcome
    finally:
        for reference in running:
            library.cancel(reference, force=True)
        if started:
            library.shutdown()


def _connect(library: Any, address: str | None, jobs: int) -> None:
    match = re.fullmatch(r"(?:ray://)?([^:/]+):([0-9]{1,5})", address or "", re.ASCII)
    try:
        if match:  # at an address where nothing listens, Ray would try for minutes
            socket.create_connection((match[1], int(match[2])), timeout=20).close()
        if address is None:
            library.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False)
        else:
            library.init(address=address, log_to_driver=False)
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray at {address or 'this machine'}: {error}") from None


def _ray_reason(library: Any, error: Exception) -> str:
    if isinstance(error, library.exceptions.RayTaskError):
        cause = error.cause
        return f"{type(cause).__name__}: {cause}"
    if isinstance(error, library.exceptions.WorkerCrashedError):
        return LOST
    return f"{type(error).__name__}: {error}"
