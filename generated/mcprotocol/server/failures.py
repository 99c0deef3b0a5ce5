"""Failures: what a handler has raised, told from what ends the request, or the process, around it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TypeVar, cast

E = TypeVar("E", bound=BaseException)


def is_end(error: BaseException) -> bool:
    """Whether this is no failure of a handler, and has to go on whatever it leaves unanswered.

    That is the cancellation of the running task (not of something that a handler waited for), an interrupt by
    the user, and the end of a coroutine that nobody runs any more. Workers hand over neither of the last two.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    task = _running()
    if isinstance(error, GeneratorExit):
        return task is None
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def singly(error: BaseException) -> Iterator[BaseException]:
    """Each exception of a group, and of the groups in it, in the order in which they came; else the one itself."""
    if isinstance(error, BaseExceptionGroup):
        for part in cast(BaseExceptionGroup[BaseException], error).exceptions:
            yield from singly(part)
    else:
        yield error


def first(error: BaseException, kind: type[E] | tuple[type[E], ...]) -> E | None:
    """The first exception of a kind, or None: a TaskGroup wraps what its tasks have raised."""
    return next((part for part in singly(error) if isinstance(part, kind)), None)


def _running() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
