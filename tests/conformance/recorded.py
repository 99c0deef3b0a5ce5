"""The everything server on a free port, with each exchange kept: `python recorded.py FILE`.

A line of the file is one exchange: the query of its URL, the body of the request, and the messages that answered it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TextIO

import uvicorn
from everything import server
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Recorder:
    """ASGI middleware that writes every exchange to a file."""

    def __init__(self, application: ASGIApp, file: TextIO) -> None:
        self._application = application
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, and write it down when it is over, however it ends."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        asked, answered = bytearray(), bytearray()
        kind = b""

        async def listen() -> Message:
            event = await receive()
            asked.extend(event.get("body", b""))
            return event

        async def speak(event: Message) -> None:
            nonlocal kind
            if event["type"] == "http.response.start":
                kind = dict(event["headers"]).get(b"content-type", b"")
            answered.extend(event.get("body", b""))
            await send(event)

        try:
            await self._application(scope, listen, speak)
        finally:
            exchange = {
                "leg": scope["query_string"].decode(),
                "request": asked.decode(),
                "messages": messages(kind, answered.decode()),
            }
            self._file.write(json.dumps(exchange) + "\n")
            self._file.flush()


def messages(kind: bytes, text: str) -> list[str]:
    """The messages in the body of a response: the body itself, or one for each event of a stream."""
    if kind != b"text/event-stream":
        return [text] if text else []
    lines = (line for block in text.split("\n\n") for line in block.split("\n"))
    return [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        uvicorn.run(Recorder(server.http(), file), port=0, access_log=False, ws="none")
