"""A scripted HTTP server: it reads whole requests, and answers each with bytes that a test has written down."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scaffolded import PATIENCE


@dataclass
class Asked:
    """One request, and whether the client has gone away since."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    held: bool = False
    """Set by a script that leaves its answer unfinished."""

    def json(self) -> Any:
        """The message in the body."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The value of a header, which must not have come twice."""
        found = [value for other, value in self.headers if other == name.lower()]
        assert len(found) < 2, found
        return found[0] if found else None


Script: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request."""


@dataclass
class Wire:
    """A server that runs: where it is, and what it was asked."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    connections: int = 0

    @property
    def url(self) -> str:
        """Its endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


@asynccontextmanager
async def wired(script: Script) -> AsyncGenerator[Wire, None]:
    """Serve on a free port of 127.0.0.1; a script that closes the connection has it closed."""
    wire, tasks = Wire(), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            while not writer.is_closing() and (asked := await _read(reader)) is not None:
                wire.asked.append(asked)
                await script(asked, writer)
                if not writer.is_closing():
                    with contextlib.suppress(ConnectionError):
                        await writer.drain()
                if asked.held:
                    await _left(reader, asked)
        except (asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(PATIENCE):
            yield wire
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _left(reader: asyncio.StreamReader, asked: Asked) -> None:
    """Wait until the client has gone away."""
    with contextlib.suppress(ConnectionError):
        assert await reader.read() == b""
    asked.gone.set()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    """The next request of a connection; None when there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *fields = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (one.partition(":") for one in fields)]
    length = int(dict(headers).get("content-length", "0"))
    return Asked(line, headers, await reader.readexactly(length))


def reply(
    body: bytes = b"", kind: str | None = "application/json", status: int = 200, **headers: str
) -> bytes:
    """A whole response; `kind` is its content type."""
    named = {
        "content-length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    if kind is not None:
        named["content-type"] = kind
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} Because\r\n{lines}\r\n".encode() + body


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
"""The head of a response that is a stream of events."""


def chunk(data: bytes) -> bytes:
    """A piece of a stream; the empty one ends it."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def says(make: Callable[[Asked], bytes]) -> Script:
    """Answer every request with what is made for it."""

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(make(asked))

    return script


def answers(table: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]) -> Script:
    """Answer each request by its method and params: the members of the message beside `jsonrpc` and `id`."""

    def make(asked: Asked) -> bytes:
        message = asked.json()
        outcome = table(message["method"], message["params"])
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()
        return reply(body, status=400 if "error" in outcome else 200)

    return says(make)
