"""Relay: one listener at a bus for all sessions on an event loop, so that a change costs them no task and no wake-up each.

They are told in turns, so that what else goes on there does not wait for all of them. No I/O.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

from ..streams import Bus, Change

log = logging.getLogger(__name__)

TURN: Final = 200
"""How many sessions are told before all else on the event loop has its turn: some of them take a millisecond."""

Hear: TypeAlias = Callable[[Change], None]
"""Takes a change, on the event loop; must not wait."""


class Relay:
    """What stands between a bus and the sessions that listen to it."""

    def __init__(self, bus: Bus) -> None:
        """Listen on `bus` for as long as there is a session that does."""
        self._bus = bus
        self._circles: dict[asyncio.AbstractEventLoop, Circle] = {}

    def subscribe(self, hear: Hear) -> Callable[[], None]:
        """Have `hear` called on the running event loop for each change, until the returned function is called."""
        loop = asyncio.get_running_loop()
        circle = self._circles.get(loop)
        if circle is None:
            circle = self._circles[loop] = Circle(loop)
            circle.leave = self._bus.subscribe(circle.put)
        token = object()
        circle.hearers[token] = hear

        def leave() -> None:
            if circle.hearers.pop(token, None) is not None and not circle.hearers:
                circle.leave()
                self._circles.pop(loop, None)

        return leave


class Circle:
    """The sessions on one event loop, and the changes that they are still to be told."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.hearers: dict[object, Hear] = {}
        self.leave: Callable[[], None] = _nothing
        self._loop = loop
        self._waiting: dict[Change, None] = {}
        self._lock = threading.Lock()
        self._telling: asyncio.Task[None] | None = None

    def put(self, change: Change) -> None:
        """Take one change, in any thread; one that still waits does not come twice."""
        with self._lock:
            woken = bool(self._waiting)
            self._waiting.setdefault(change)
        try:
            if not woken:
                self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            pass  # The loop has ended, and its sessions with it.

    def _wake(self) -> None:
        if self._telling is None or self._telling.done():
            self._telling = self._loop.create_task(self._tell())

    async def _tell(self) -> None:
        while changes := self._taken():
            for change in changes:
                for number, token in enumerate([*self.hearers], 1):
                    self._tell_one(token, change)
                    if number % TURN == 0:
                        await asyncio.sleep(0)

    def _tell_one(self, token: object, change: Change) -> None:
        hear = self.hearers.get(token)
        if hear is None:
            return  # It has left since.
        try:
            hear(change)
        except Exception:
            log.exception("a session could not be told of a change")

    def _taken(self) -> list[Change]:
        with self._lock:
            taken, self._waiting = [*self._waiting], {}
        return taken


def _nothing() -> None:
    """It listens to no bus yet."""
