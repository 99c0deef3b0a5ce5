"""stdio: the server as a child process, messages on the real stdin and stdout, all other text on stderr.

Requests run side by side, each in a task. At the end of the input those that were accepted are still
answered, for a limited time; then the process ends, whatever a handler is doing (basic/transports/stdio,
Shutdown).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Protocol

from ..errors import InvalidRequest
from ..jsonrpc import write_error
from ..lines import MAX_MESSAGE_BYTES, Lines, TooLong
from .dispatch import Send
from .pipes import Reader, Writer, take_over

DRAIN_SECONDS = 3.0
"""How long accepted requests may take after the end of the input."""

GRACE_SECONDS = 0.5
"""How long handlers may take to clean up when they are cancelled, and answers to be written, after that."""

MAX_BACKLOG = 4 * MAX_MESSAGE_BYTES
"""Unwritten bytes above which nothing more is read: a client that does not read gets to wait."""


class Talks(Protocol):
    """What one client is told, message by message."""

    async def handle(self, data: bytes, send: Send) -> bytes | None:
        """Take one message and return its answer, or None when it gets none; `send` takes what goes before it."""
        ...

    def close(self) -> None:
        """End what would never end by itself."""
        ...


class Serves(Protocol):
    """A server, as this transport needs it."""

    def converse(self, push: Callable[[bytes], None]) -> Talks:
        """A fresh connection; `push` sends what nobody has asked for."""
        ...


def run(
    load: Callable[[], Serves],
    *,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    drain_seconds: float = DRAIN_SECONDS,
) -> None:
    """Serve over stdin and stdout until the input ends: the whole main program of a server.

    `load` imports or builds the server; it is called when nothing can reach the real stdout any more. A line
    longer than `max_message_bytes` is refused and skipped. Ends with exit code 0, or 130 when interrupted.
    """
    incoming, outgoing = take_over()
    finished = threading.Event()

    def watch() -> None:
        # In a thread, because a handler may block the loop, or a thread that the loop waits for.
        if not finished.wait(drain_seconds + 3 * GRACE_SECONDS):
            os._exit(0)

    async def main(server: Serves) -> None:
        exchange = Exchange(server, outgoing, max_message_bytes)
        try:
            await exchange.serve(incoming, watch)
            if not await exchange.drain(drain_seconds):
                os._exit(0)
        finally:
            threading.Thread(target=watch, name="watch", daemon=True).start()

    try:
        asyncio.run(main(load()))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        finished.set()


class Exchange:
    """The messages between one client and one server, over two descriptors."""

    def __init__(self, server: Serves, outgoing: int, limit: int) -> None:
        """Answer to `outgoing`, from the running loop."""
        self._lines = Lines(limit)
        self._too_long = write_error(None, InvalidRequest(f"A message is at most {limit} bytes long"))
        self._over = asyncio.Event()
        self._writer = Writer(outgoing, self._over.set)
        self._talk = server.converse(self._writer.put)
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, incoming: int, at_end: Callable[[], None]) -> None:
        """Answer what comes in, until no more comes or nobody reads the answers."""
        self._reader = Reader(incoming, self._take, at_end)
        await self._over.wait()

    async def drain(self, seconds: float) -> bool:
        """Wait for the answers that are due; returns whether every handler has come to its end."""
        deadline = asyncio.get_running_loop().time() + seconds
        self._talk.close()
        if self._tasks and not self._writer.broken:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(max(deadline, asyncio.get_running_loop().time() + GRACE_SECONDS)):
                await self._writer.until(0)
        return all(task.done() for task in self._tasks)

    def _take(self, chunk: bytes) -> None:
        for line in self._lines.feed(chunk) if chunk else self._lines.close():
            if isinstance(line, TooLong):
                self._writer.put(self._too_long)
            else:
                self._begin(self._answer(line))
        if not chunk:
            self._over.set()
        elif self._writer.backlog <= MAX_BACKLOG:
            self._reader.more()
        else:
            self._begin(self._resume())

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, line: bytes) -> None:
        answer = await self._talk.handle(line, self._send)
        if answer is not None:
            self._writer.put(answer)

    async def _send(self, message: bytes) -> None:
        self._writer.put(message)
        await self._writer.until(MAX_BACKLOG)

    async def _resume(self) -> None:
        await self._writer.until(MAX_BACKLOG)
        self._reader.more()
