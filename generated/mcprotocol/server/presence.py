"""Presence: whether the client of a call is still there. Nobody looks before a call has taken some time.

Most calls are done by then, so one timer serves all: a timer for each would be a tenth of a short call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final

from .asgi import Receive

LOOK_SECONDS: Final = 0.05
"""How often calls are looked at; at the second time they count as long, which is after one to two of these."""


class Lookout:
    """Knows the calls that are going on, on each event loop, and has the long ones watch their clients."""

    def __init__(self) -> None:
        self._calls: dict[asyncio.AbstractEventLoop, set[Presence]] = {}

    def calls(self, loop: asyncio.AbstractEventLoop) -> set[Presence]:
        """The calls on the running loop, to be added to at once and left when they are over."""
        calls = self._calls.get(loop)
        if calls is None:
            calls = self._calls[loop] = set()
            loop.call_later(LOOK_SECONDS, self._look, loop)
        return calls

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        calls = self._calls[loop]
        if not calls:
            del self._calls[loop]
            return
        loop.call_later(LOOK_SECONDS, self._look, loop)
        for call in calls:
            call.look()


class Presence:
    """A block that ends when the client goes away, as if it had been cancelled from the inside."""

    def __init__(self, lookout: Lookout, receive: Receive, lasting: Callable[[], None]) -> None:
        """Of the running task: watch its client, and call `lasting`, once the block has lasted some time."""
        self._lookout = lookout
        self._receive = receive
        self._lasting = lasting
        task = asyncio.current_task()
        assert task is not None, "a request is handled in a task"
        self.task = task
        self._loop = task.get_loop()
        self._seen = False
        self._watcher: asyncio.Task[None] | None = None
        self.gone = False
        """Whether the client has gone away."""

    def __enter__(self) -> None:
        self._others = self._lookout.calls(self._loop)
        self._others.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._others.discard(self)
        if self._watcher is not None:
            self._watcher.cancel()
        # What else has cancelled the task, the end of the whole server say, goes on.
        return self.gone and self.task.uncancel() == 0 and kind is asyncio.CancelledError

    def look(self) -> None:
        """Watch from the second look on."""
        if self._seen and self._watcher is None:
            self._lasting()
            self._watcher = self._loop.create_task(self._watch())
        self._seen = True

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self.task.cancel()
