"""Server-sent events: the data of each event of a stream, however its bytes arrive (HTML, Server-sent events)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MESSAGE: Final = (b"", b"message")
"""The types of events that carry messages: none said, or the default said."""


class TooLong(ValueError):
    """An event is longer than allowed."""


class Events:
    """Reads one stream. Comments, ids and retry times are skipped: a stream here cannot be taken up again."""

    def __init__(self, limit: int) -> None:
        """An event may have `limit` bytes of data."""
        self._limit = limit
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._type = b""
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take some bytes and give the data of each event that is whole; raises TooLong."""
        text = self._rest + chunk
        if not self._begun:
            if b"\xef\xbb\xbf".startswith(text[:3]) and len(text) < 3:
                self._rest = text
                return
            text = text.removeprefix(b"\xef\xbb\xbf")
            self._begun = True
        # A carriage return at the end may be half of a line end.
        held = b"\r" if text.endswith(b"\r") else b""
        lines = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        if len(self._rest) + self._size > self._limit:
            raise TooLong(f"an event has more than {self._limit} bytes")
        for line in lines:
            if line:
                self._take(line)
                continue
            if self._data and self._type in MESSAGE:
                yield b"\n".join(self._data)
            self._data, self._size, self._type = [], 0, b""

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
