"""The server of the hostile peers, how to call it over plain sockets, and how much memory it may take."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hosted import headers_for
from judged import answers
from malice import Message, owed
from wires import PACKAGES

SMALL = Path(__file__).parent / "servers" / "small.py"
LIMIT = 1 << 16
"""The longest message of that server, in bytes."""

GROWTH = 4 << 20
"""Bytes that a process may have grown after that: a leak of half a kilobyte per message would be more.

Less cannot be told from what the allocator keeps back, which depends on the sizes that come after each other.
"""

LINUX = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="reads the memory of a process from /proc"
)
ENV = {**os.environ, "PYTHONPATH": PACKAGES}


def resident(pid: int) -> int:
    """The bytes of memory that a process uses."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Caller:
    """One connection to a server, which is made again whenever the server has closed it."""

    def __init__(self, url: str) -> None:
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port = int(port)
        self._streams: tuple[StreamReader, StreamWriter] | None = None

    async def post(self, message: Message) -> None:
        """Send one message as a good client would send this body, and judge the whole response."""
        status, data = await self.exchange(head(message.data) + message.data)
        if message.owed is None:
            assert (status, data) == (202, b""), (message, status, data)
            return
        answer: dict[str, Any] = json.loads(data)
        identity, code = owed(answer)
        assert identity == message.owed.identity, (message, data)
        # What no header can hold is in none, and so differs from it: odd methods, names that are no text.
        mirrored = message.kind not in ("mutated", "refused", "damaged_meta")
        codes = message.owed.codes if mirrored else (*message.owed.codes, MISMATCH)
        assert code in codes, (message, data)
        assert status == (413 if message.kind == "oversized" else STATUS.get(code, 400)), (message, status)
        answers(message.data, data)

    async def exchange(self, data: bytes) -> tuple[int, bytes]:
        """The status and body of the response to some bytes."""
        reader, writer = self._streams or await asyncio.open_connection(self._host, self._port)
        self._streams = reader, writer
        writer.write(data)
        status, headers = read_head(await reader.readuntil(b"\r\n\r\n"))
        found = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close" or status == 413:
            await self.close()
        return status, found

    async def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            with suppress(OSError):
                await self._streams[1].wait_closed()
        self._streams = None


MISMATCH = -32020
STATUS = {None: 200, -32603: 200, -32601: 404}


def head(data: bytes, **others: str) -> bytes:
    """The request line and the headers for a body, without what is empty or no header can say."""
    said = {"Host": "localhost", **headers_for(data), "Content-Length": str(len(data)), **others}
    lines = [
        f"{name}: {value}"
        for name, value in said.items()
        if value and value.isascii() and value.isprintable()
    ]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode()


def read_head(data: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = data.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}
