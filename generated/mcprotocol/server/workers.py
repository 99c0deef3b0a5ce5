"""Workers: plain functions run here, so that one that waits keeps nobody else waiting.

Workers are daemon threads: a function that never returns cannot keep the process from ending. Their number is
bounded; while all are busy, further plain functions wait for their turn, and async ones do not.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Final, TypeVar

T = TypeVar("T")

LIMIT = 40
"""How many plain functions run at the same time in one process."""


class Workers:
    """Threads that are started when needed, up to a limit, and stay."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Start none yet."""
        self._limit = limit
        self._started = 0
        self._unfinished = 0
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    async def run(self, call: Callable[[], T]) -> T:
        """What `call` returns or raises, run in a thread with the context variables of the caller.

        Cancelling ends the waiting, and a call that has not begun; one that runs is left to end by itself.
        """
        outcome: Future[T] = Future()
        context = contextvars.copy_context()
        self._put(lambda: _settle(outcome, lambda: context.run(call)))
        return await asyncio.wrap_future(outcome)

    def _put(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)
        with self._lock:
            self._unfinished += 1
            if self._started < min(self._unfinished, self._limit):
                self._started += 1
                threading.Thread(target=self._work, name=f"worker-{self._started}", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                self._unfinished -= 1


WORKERS: Final = Workers()
"""The threads of this process."""


def _settle(outcome: Future[T], call: Callable[[], T]) -> None:
    if not outcome.set_running_or_notify_cancel():
        return
    try:
        outcome.set_result(call())
    except (StopIteration, GeneratorExit, KeyboardInterrupt) as error:
        # To a coroutine they would mean more than a failure: a return, its own end, and that of the event loop.
        stopped = RuntimeError(f"{type(error).__name__} left the function")
        stopped.__cause__ = error
        outcome.set_exception(stopped)
    except BaseException as error:
        outcome.set_exception(error)
