"""Lines: the framing of stdio. Bytes come in as they arrive, whole messages go out, whatever they say.

A message ends with a line feed; a carriage return before it is white space, blank lines are nothing, and the
last line needs no end (basic/transports/stdio). Work is linear in the bytes, and no more than one message is
held.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest line that is read, in bytes without its end: our choice, the specification sets none."""

KEPT: Final = 1024
"""How many bytes are kept of each end of a line that is too long: enough to tell whom it was for."""


class TooLong(NamedTuple):
    """A line that was over the limit, of which only the ends are left."""

    head: bytes
    tail: bytes


Line: TypeAlias = bytes | TooLong
"""One message, or what is left of one."""


class Lines:
    """Cuts a stream of bytes into lines, whatever the chunks it comes in."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        """Hold at most `limit` bytes of a line that has not ended."""
        self._limit = limit
        self._begun = bytearray()
        self._head = b""
        self._size = 0

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that end in this chunk, in order and without the blank ones."""
        *ended, rest = chunk.split(b"\n")
        whole = self._size == 0 and len(chunk) <= self._limit
        lines = ended if whole else [self._end(piece) for piece in ended]
        self._begin(rest)
        return [line for line in lines if isinstance(line, TooLong) or line and not line.isspace()]

    def close(self) -> list[Line]:
        """The line that the end of the stream ends, if one has begun."""
        return self.feed(b"\n")

    def _begin(self, piece: bytes) -> None:
        self._size += len(piece)
        self._begun += piece
        if self._size > self._limit:
            self._head = self._head or bytes(self._begun[: min(KEPT, self._limit)])
            del self._begun[:-KEPT]

    def _end(self, piece: bytes) -> Line:
        if self._size == 0 and len(piece) <= self._limit:
            return piece
        self._begin(piece)
        line = bytes(self._begun)
        kept = line if self._size <= self._limit else TooLong(self._head, line)
        self._begun.clear()
        self._head, self._size = b"", 0
        return kept
