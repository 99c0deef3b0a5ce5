"""An application behind a socket of its own, without a server that would smooth out how its streams are cut."""

from __future__ import annotations

import asyncio
from typing import Any

from mcprotocol.server.asgi import ASGIApp, Message, Receive, Scope, Send
from wired import Asked, Script, chunk


class Cut:
    """A way to an application on which the client goes away when so many pieces of a response have come.

    Of the piece at which it goes half still comes when that is `torn`.
    """

    def __init__(self, application: ASGIApp, pieces: int, *, torn: bool = False) -> None:
        self._application = application
        self._pieces = pieces
        self._torn = torn
        self._gone = asyncio.Event()
        self.came = 0
        self.was = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._gone = gone = asyncio.Event()
        self.came = 0

        async def listen() -> Message:
            if self.came == 0:
                return await receive()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def speak(event: Message) -> None:
            if self.came < self._pieces:
                await send(event)
                self.came += 1
                return
            self.was = True
            if self._torn and event.get("body"):
                body: bytes = event["body"]
                await send({**event, "body": body[: len(body) // 2], "more_body": True})
            gone.set()
            await asyncio.Event().wait()  # Until whoever sends is told that nobody is there.

        await self._application(scope, listen, speak)

    def leave(self) -> None:
        """Go away now."""
        self._gone.set()


def bridge(application: ASGIApp) -> Script:
    """Answer each request by an application; where its response does not come to an end, close the connection."""

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        incoming = asyncio.Queue[dict[str, Any]]()
        incoming.put_nowait({"type": "http.request", "body": asked.body, "more_body": False})
        ended = False

        async def send(event: Any) -> None:
            nonlocal ended
            if event["type"] == "http.response.start":
                writer.write(_head(event))
            else:
                ended = not event.get("more_body", False)
                body: bytes = event.get("body", b"")
                writer.write((chunk(body) if body else b"") + (chunk(b"") if ended else b""))
            await writer.drain()

        await application(_scope(asked), incoming.get, send)
        if not ended:
            writer.close()

    return script


def _scope(asked: Asked) -> dict[str, Any]:
    method, path, _ = asked.line.split()
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in asked.headers],
    }


def _head(event: Any) -> bytes:
    lines = b"".join(
        b"%b: %b\r\n" % (name, value) for name, value in event["headers"] if name.lower() != b"content-length"
    )
    return b"HTTP/1.1 %d Because\r\n%btransfer-encoding: chunked\r\n\r\n" % (event["status"], lines)
