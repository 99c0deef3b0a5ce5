"""A server behind HTTP: as an ASGI application driven message by message, and as a process on a loopback port."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcprotocol.headers import Parameters, mirror
from mcprotocol.latest import REVISION
from mcprotocol.server.asgi import ASGIApp
from scaffolded import META, PATIENCE

COMMON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def body(identity: object, method: str, meta: Any = META, **params: Any) -> bytes:
    """The bytes of a request with modern metadata."""
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": meta, **params}}
    return json.dumps(message).encode()


def headers_for(data: bytes, parameters: Parameters | None = None) -> dict[str, str]:
    """The headers with which a good client would send this body, whatever it is."""
    try:
        message: dict[str, Any] = json.loads(data)
        method, params = str(message["method"]), dict[str, Any](message.get("params") or {})
        return {**COMMON, **mirror(method, params, REVISION, parameters or {})}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {**COMMON, "MCP-Protocol-Version": REVISION}


@dataclass
class Response:
    """What an application sent for one request."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    chunks: list[bytes] = field(default_factory=list[bytes])
    ended: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    def json(self) -> Any:
        return json.loads(self.body)

    def code(self) -> int:
        """The code of the JSON-RPC error."""
        return int(self.json()["error"]["code"])

    def events(self) -> list[Any]:
        """The messages of a stream; every one must be an event of one line, and comments are skipped."""
        *blocks, rest = self.body.split(b"\n\n")
        assert rest == b""
        assert all(block.startswith((b"data: {", b":")) and b"\n" not in block for block in blocks)
        return [json.loads(block[6:]) for block in blocks if not block.startswith(b":")]


class Post:
    """One HTTP request to an application; by default a POST with the headers of a good client."""

    def __init__(
        self,
        application: ASGIApp,
        data: bytes | Sequence[bytes] = b"",
        headers: Mapping[str, str] | None = None,
        *,
        more: Sequence[tuple[str, str]] = (),
        method: str = "POST",
        path: str = "/mcp",
        unfinished: bool = False,
    ) -> None:
        """`headers` replace those of the same name; an empty value leaves one out; `more` come after them.

        The body of an `unfinished` request does not end with its last chunk.
        """
        chunks = [data] if isinstance(data, bytes) else list(data)
        named = {"Host": "127.0.0.1:8000", **headers_for(b"".join(chunks)), **(headers or {})}
        pairs = [(name, value) for name, value in named.items() if value] + list(more)
        self._application = application
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
        }
        self._incoming = asyncio.Queue[dict[str, Any]]()
        for number, chunk in enumerate(chunks, 1):
            more_body = number < len(chunks) or unfinished
            self._incoming.put_nowait({"type": "http.request", "body": chunk, "more_body": more_body})
        self.response = Response()
        self._sent = asyncio.Event()

    def leave(self) -> None:
        """Go away."""
        self._incoming.put_nowait({"type": "http.disconnect"})

    async def run(self) -> Response:
        await self._application(self._scope, self._incoming.get, self._send)
        return self.response

    def begin(self) -> asyncio.Task[Response]:
        return asyncio.get_running_loop().create_task(self.run())

    async def until(self, text: bytes) -> None:
        """Wait until the response has this in it."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.response.body:
                self._sent.clear()
                await self._sent.wait()

    async def _send(self, event: Any) -> None:
        assert not self.response.ended, "nothing follows the end"
        if event["type"] == "http.response.start":
            assert self.response.status == 0
            self.response.status = event["status"]
            self.response.headers = {name.decode(): value.decode() for name, value in event["headers"]}
        else:
            assert self.response.status
            self.response.chunks.append(event.get("body", b""))
            self.response.ended = not event.get("more_body", False)
        self._sent.set()


def post(
    application: ASGIApp,
    data: bytes | Sequence[bytes] = b"",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """The whole response to one request."""

    async def run() -> Response:
        async with asyncio.timeout(PATIENCE):
            return await Post(application, data, headers, **more).run()

    return asyncio.run(run())


@dataclass
class Site:
    """A running process that serves HTTP."""

    url: str
    """Where it is, without a path."""
    process: asyncio.subprocess.Process
    errors: list[str]


@asynccontextmanager
async def hosted(
    *command: str | Path, cwd: Path | None = None, **environment: str
) -> AsyncGenerator[Site, None]:
    """Run a command that serves with uvicorn on a free port, and end it afterwards."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment or None,
    )
    assert process.stderr is not None
    errors: list[str] = []
    running = asyncio.Event()
    drain = asyncio.create_task(_drain(process.stderr, errors, running))
    try:
        async with asyncio.timeout(PATIENCE):
            await running.wait()
        # A server may speak of addresses before it has one.
        lines = [line for line in errors if "running on" in line]
        addresses = [word for line in lines for word in line.split() if word.startswith("http://")]
        assert addresses, "".join(errors)
        yield Site(addresses[0], process, errors)
    finally:
        if process.returncode is None:
            process.kill()
        await drain
        await process.wait()


async def _drain(stream: asyncio.StreamReader, lines: list[str], running: asyncio.Event) -> None:
    """Read all that a process says, so that it never has to wait for it to be read; tell when it runs or ends."""
    async for line in stream:
        lines.append(line.decode())
        if not running.is_set() and "running on" in lines[-1]:
            running.set()
    running.set()
