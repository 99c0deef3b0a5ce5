"""The server of `ways.py` with all that is said kept, in its order: `python overheard.py FILE` over stdio, or with `--http`.

A line of the file is one message, whichever side has said it; it is written before the message is passed on.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

import uvicorn
from mcprotocol.server.asgi import ASGIApp, Receive, Scope, Send

WAYS = Path(__file__).with_name("ways.py")


class Notes:
    """The file, which several may write to at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lock = threading.Lock()

    def keep(self, message: bytes) -> None:
        """Write down one message; a body that is empty is none."""
        if message.strip():
            with self._lock:
                self._file.write(message.strip() + b"\n")
                self._file.flush()


def relay(notes: Notes) -> int:
    """Pass on what comes over stdio, both ways; the exit code of the server."""
    child = subprocess.Popen([sys.executable, WAYS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    answers = threading.Thread(target=passed, args=(child.stdout, sys.stdout.buffer, notes))
    answers.start()
    passed(sys.stdin.buffer, child.stdin, notes)
    child.stdin.close()
    answers.join()
    return child.wait()


def passed(source: IO[bytes], target: IO[bytes], notes: Notes) -> None:
    """Pass on each line until there is no more."""
    for line in source:
        notes.keep(line)
        target.write(line)
        target.flush()


def listening(application: ASGIApp, notes: Notes) -> ASGIApp:
    """An application whose every message is kept, those of a stream one by one."""

    async def heard(scope: Scope, receive: Receive, send: Send) -> None:
        asked = bytearray()
        kind = b""

        async def listen() -> Any:
            event = await receive()
            asked.extend(event.get("body", b""))
            if event["type"] == "http.request" and not event.get("more_body", False):
                notes.keep(bytes(asked))
            return event

        async def speak(event: Any) -> None:
            nonlocal kind
            if event["type"] == "http.response.start":
                kind = dict(event["headers"]).get(b"content-type", b"")
            for message in messages(kind, event.get("body", b"")):
                notes.keep(message)
            await send(event)

        await application(scope, listen, speak)

    return heard


def messages(kind: bytes, piece: bytes) -> list[bytes]:
    """The messages in a piece of a body, which is whole or so many whole events."""
    if kind != b"text/event-stream":
        return [piece]
    return [line.removeprefix(b"data: ") for line in piece.split(b"\n") if line.startswith(b"data: {")]


if __name__ == "__main__":
    with Path(sys.argv[1]).open("wb") as file:
        if "--http" in sys.argv:
            from ways import server

            uvicorn.run(
                listening(server.http(), Notes(file)), port=0, access_log=False, ws="none", lifespan="off"
            )
        else:
            sys.exit(relay(Notes(file)))
