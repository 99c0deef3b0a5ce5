"""memory: a client and a server in one process, by the same bytes that a pipe would carry. Made for tests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol

from .transport import Disconnected, Lost, Outgoing, Receive

log = logging.getLogger(__name__)


class Connection(Protocol):
    """One connection to a server: messages in, answers out."""

    def handle(
        self, data: bytes, send: Callable[[bytes], Awaitable[None]], /
    ) -> Coroutine[None, None, bytes | None]:
        """Take one message and return its answer, or None; `send` takes the notifications before it."""
        ...


class Connects(Protocol):
    """A server that can be reached in memory."""

    def connect(self) -> Connection:
        """A fresh connection."""
        ...


class Memory:
    """The transport to a server in this process."""

    streams = False
    mirrors = False

    def __init__(self, server: Connects) -> None:
        self._connection = server.connect()
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return "a server in this process"

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Begin; nothing is lost unless the server fails, as one that a test has written may."""
        self._receive = receive
        self._lost = lost

    async def carry(self, request: Outgoing) -> None:
        """Have the server handle the request, beside those before it."""
        self._begin(request.message)

    async def notify(self, method: str, message: bytes) -> None:
        """Have the server handle the notification."""
        self._begin(message)

    def _begin(self, message: bytes) -> None:
        task = asyncio.get_running_loop().create_task(self._handle(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what the server is still doing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _handle(self, message: bytes) -> None:
        try:
            answer = await self._connection.handle(message, self._forward)
        except Exception as error:
            log.exception("the server failed")
            self._lost(Disconnected(f"the server failed: {error!r}"))
            return
        if answer is not None:
            self._receive(answer, None)

    async def _forward(self, message: bytes) -> None:
        self._receive(message, None)
