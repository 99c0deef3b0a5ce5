"""Wires: the same server in memory and at the end of a real pipe, by the same two verbs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from judged import Conversation
from mcprotocol.server import Server

ASKING = Path(__file__).parent / "asking.py"
PACKAGES = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])

PATIENCE = 20.0
"""Seconds that a message may take on a machine that is busy with other things."""


class Wire(Protocol):
    """One connection to a server."""

    async def send(self, data: bytes) -> None:
        """Send one message."""
        ...

    async def receive(self) -> Any:
        """The next message of the server, read; fails when none comes in time."""
        ...

    async def end(self) -> list[Any]:
        """End the input; returns what the server still says."""
        ...


class Memory:
    """The wire to a server in this process."""

    def __init__(self, server: Server) -> None:
        self._dispatcher = server.connect()
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    async def send(self, data: bytes) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(self._handle(data)))
        await asyncio.sleep(0)

    async def receive(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self._messages.get())

    async def end(self) -> list[Any]:
        self._dispatcher.close()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._tasks)
        return [json.loads(self._messages.get_nowait()) for _ in range(self._messages.qsize())]

    async def _handle(self, data: bytes) -> None:
        answer = await self._dispatcher.handle(data, self._messages.put)
        if answer is not None:
            await self._messages.put(answer)


class Pipe:
    """The wire to a server in a process of its own."""

    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout
        self.process, self._stdin, self._stdout = process, process.stdin, process.stdout
        self._conversation = Conversation()

    async def send(self, data: bytes) -> None:
        self._conversation.sent(data + b"\n")
        self._stdin.write(data + b"\n")
        await self._stdin.drain()

    async def receive(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            return self._read(await self._stdout.readline())

    async def end(self) -> list[Any]:
        self._stdin.close()
        async with asyncio.timeout(PATIENCE):
            rest = await self._stdout.read()
            assert await self.process.wait() == 0
        return [self._read(line) for line in rest.splitlines()]

    def _read(self, line: bytes) -> Any:
        self._conversation.received(line)
        return json.loads(line)


@asynccontextmanager
async def pipe() -> AsyncGenerator[Pipe, None]:
    """The asking server as a process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(ASKING), stdin=PIPE, stdout=PIPE, env={**os.environ, "PYTHONPATH": PACKAGES}
    )
    try:
        yield Pipe(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def memory(make: Callable[[], Server]) -> AsyncGenerator[Memory, None]:
    """A server in this process."""
    yield Memory(make())
