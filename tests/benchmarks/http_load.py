"""Load for an HTTP server: so many connections, each with one request after another, for some seconds.

    python tests/benchmarks/http_load.py PORT CONNECTIONS SECONDS < REQUEST

Prints the number of answers and the seconds that they took. Each answer must have the status 200 and the length
of the first one; beyond that nothing is parsed, so that the load costs little beside the server.
"""

from __future__ import annotations

import asyncio
import sys
import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast


class Connection(asyncio.Protocol):
    """One connection, which sends its request again for every answer until the time is over."""

    def __init__(self, request: bytes, until: float, done: asyncio.Future[None]) -> None:
        self._request = request
        self._until = until
        self.done = done
        self._buffer = b""
        self._size = 0
        self.answers = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast(asyncio.Transport, transport)  # That of uvloop is no subclass.
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Take a piece of an answer; each is as long as the first."""
        self._buffer += data
        if not self._size:
            self._size = _size(self._buffer)
        if not self._size or len(self._buffer) < self._size:
            return
        if len(self._buffer) > self._size or not self._buffer.startswith(b"HTTP/1.1 200 "):
            raise ValueError(f"not an answer: {self._buffer!r}")
        self._buffer = b""
        self.answers += 1
        if time.perf_counter() < self._until:
            self._transport.write(self._request)
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server must not close it."""
        if not self.done.done():
            self.done.set_exception(exc or EOFError("the server closed a connection"))


async def load(request: bytes, port: int, connections: int, seconds: float) -> tuple[int, float]:
    """The number of answers in the time, and the time."""
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    made = [Connection(request, begun + seconds, loop.create_future()) for _ in range(connections)]
    for connection in made:
        await loop.create_connection(partial(_itself, connection), "127.0.0.1", port)
    await asyncio.gather(*(connection.done for connection in made))
    return sum(connection.answers for connection in made), time.perf_counter() - begun


def _itself(connection: Connection) -> Connection:
    return connection


def _size(answer: bytes) -> int:
    """The bytes of an answer with its headers, or 0 while these have not come."""
    head, end, _ = answer.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return len(head) + len(end) + int(length) if end else 0


def main() -> None:
    """Load and print."""
    port, connections, seconds = sys.argv[1:]
    # Whichever is faster: the load must not be what is measured.
    loop: Any = import_module("uvloop") if find_spec("uvloop") else asyncio
    print(*loop.run(load(sys.stdin.buffer.read(), int(port), int(connections), float(seconds))))


if __name__ == "__main__":
    main()
