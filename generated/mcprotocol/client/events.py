"""Server-sent events: the data of each event of a stream, however its bytes arrive (HTML, Server-sent events)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MESSAGE: Final = (b"", b"message")
"""The types of events that carry messages: none said, or the default said."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

FIELD: Final = len(b"data: ")
"""How much longer a line may be than the data in it."""


class TooLong(ValueError):
    """An event is longer than allowed."""


class Events:
    """Reads one stream. Comments are skipped.

    `last` is the id of the last event that is whole, `retry` the milliseconds after which the stream may be taken
    up again: neither means anything but in the handshake era.

    An event is given as soon as the line end after it begins, and each byte is looked at once, so that a long
    event in many pieces takes no longer than in one.
    """

    def __init__(self, limit: int) -> None:
        """An event may have `limit` bytes of data."""
        self._limit = limit
        self._line = bytearray()
        self._first = True
        self._after_return = False
        self._data: list[bytes] = []
        self._size = 0
        self._type = b""
        self._id: bytes | None = None
        self.last: bytes | None = None
        self.retry: int | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take some bytes and give the data of each event that is whole; raises TooLong."""
        if not chunk:
            return
        if self._after_return:
            # A line feed after a carriage return is the other half of one line end.
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            line, self._line = bytes(self._line), bytearray()
            if self._first:
                line, self._first = line.removeprefix(BYTE_ORDER_MARK), False
            if line:
                self._take(line)
                continue
            self.last = self._id
            if self._data and self._type in MESSAGE:
                yield b"\n".join(self._data)
            self._data, self._size, self._type = [], 0, b""
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        self._line += part
        if len(self._line) + self._size > self._limit + FIELD:
            raise TooLong(f"an event has more than {self._limit} bytes")

    def _take(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._size += len(value) + 1
            if self._size > self._limit + 1:
                raise TooLong(f"an event has more than {self._limit} bytes")
        elif field == b"event":
            self._type = value
        elif field == b"id" and value.isascii() and b"\0" not in value:
            self._id = value
        elif field == b"retry" and value.isdigit():
            self.retry = int(value)
