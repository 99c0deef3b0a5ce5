"""Events: what one session is sent, kept within bounds, so that a client whose stream was cut loses and doubles none. No I/O.

Each stream has a number and each of its events a place on it, which are together the id of the event. Whoever reads a
stream says from which place on, and takes it over from whoever has read it before: no event is on two streams.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

MOST_EVENTS: Final = 1000
MOST_BYTES: Final = 1 << 18
"""How much of what was sent is kept for one session. The last event is kept whatever its length."""

ID: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})", re.ASCII)

Write: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Sends some bytes of a stream to a client."""


class Gone(LookupError):
    """What comes after an event is not kept here, or not any more."""


class Line:
    """One stream: its events in their order, and whoever reads them."""

    def __init__(self, kept: Events, number: int) -> None:
        self._kept = kept
        self.number = number
        self._events: deque[bytes] = deque()
        self._gone = 0
        self._reader: object | None = None
        self._changed = asyncio.Event()
        self.count = 0
        """How many events there were."""
        self._taken = 0
        self._written = 0
        self.begun = False
        """Whether it is a stream; until then its only message may still become a response of its own."""
        self.ended = False
        self.answer: bytes | None = None
        """What came instead of a stream, and its status."""
        self.status = 200

    def begin(self) -> None:
        """Be a stream, whose events are kept."""
        if not self.begun:
            self.begun = True
            self._kept.open[self.number] = self
            self._wake()

    def put(self, message: bytes) -> None:
        """Have a message come next."""
        self.begin()
        self.count += 1
        event = b"%bdata: %b\n\n" % (self.head(self.count), message)
        self._events.append(event)
        self._kept.added(self, len(event))
        self._wake()

    async def send(self, message: bytes) -> None:
        """Have a message come next, and wait until it is written, for as long as somebody reads."""
        self.put(message)
        place = self.count
        while self._reader is not None and self._written < place and not self.ended:
            await self._changed.wait()

    def waits(self, message: bytes) -> bool:
        """Whether such a message has come, and nobody has taken it."""
        waiting = self.count - self.untaken
        end = b"data: %b\n\n" % message
        return any(self._events[-place].endswith(end) for place in range(1, waiting + 1))

    def end(self, answer: bytes | None = None, status: int = 200) -> None:
        """Have nothing come any more, or this as the last; where no stream has begun it is a response of its own."""
        if self.ended:
            return
        if answer is not None and self.begun:
            self.put(answer)
        else:
            self.answer, self.status = answer, status
        self.ended = True
        self._kept.tidy(self)
        self._wake()

    def hang_up(self) -> None:
        """Have whoever reads it come back for the rest."""
        self.begin()
        self._reader = None
        self._wake()

    def head(self, place: int) -> bytes:
        """How an event begins, by which a client comes back to it; place 0 is before all of them."""
        return b"id: %d-%d\n" % (self.number, place) if self._kept.resumable else b""

    @contextmanager
    def read(self) -> Generator[object]:
        """A block in which one reads, unless another one does."""
        reader = self._reader = object()
        self._wake()
        try:
            yield reader
        finally:
            if self._reader is reader:
                self._reader = None
                self._wake()

    async def begins(self, reader: object, seconds: float) -> bool:
        """Whether it is a stream: where neither that nor its end comes so soon, it begins."""
        try:
            async with asyncio.timeout(seconds):
                while not (self.begun or self.ended or self._reader is not reader):
                    await self._changed.wait()
        except TimeoutError:
            self.begin()
        return self.begun

    async def follow(self, reader: object, place: int, write: Write, comment: bytes, seconds: float) -> None:
        """Write each event after a place, until the end, or until another one reads.

        Where none comes for so many seconds, the comment is written. Nothing is left out: where an event is not
        kept any more, that is the end.
        """
        while self._reader is reader and self._gone <= place:
            self._taken = place
            if place < self.count:
                await self._hand(reader, place, write)
                place += 1
            elif self.ended:
                return
            elif not await self._news(seconds):
                await write(comment)

    def forget(self) -> int:
        """Keep the oldest event no longer; returns its length."""
        self._gone += 1
        return len(self._events.popleft())

    def has(self, place: int) -> bool:
        """Whether all that comes after a place is kept."""
        return self._gone <= place <= self.count

    @property
    def untaken(self) -> int:
        """The place after which nobody has taken anything that is kept."""
        return max(self._taken, self._gone)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is to be read any more."""
        return self.ended and not self._events

    async def _hand(self, reader: object, place: int, write: Write) -> None:
        """Write the event after a place; where that fails it waits to be taken again."""
        self._taken = place + 1
        try:
            await write(self._events[place - self._gone])
        except BaseException:
            if self._reader is reader:
                self._taken = place
            raise
        if self._reader is reader:
            self._written = place + 1
            self._wake()

    async def _news(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Events:
    """The streams of one session, and what is kept of them."""

    def __init__(self, *, resumable: bool = True) -> None:
        """Of a session whose clients may come back for an event, or may not."""
        self.resumable = resumable
        self.open: dict[int, Line] = {}
        self._order: deque[Line] = deque()
        self._bytes = 0
        self._numbers = itertools.count()
        self.standing = self.line()
        """The stream of what belongs to no call."""
        self.standing.begin()

    def line(self) -> Line:
        """A fresh stream."""
        return Line(self, next(self._numbers))

    def push(self, message: bytes) -> None:
        """Have a message come that belongs to no call; while it waits to be taken, it does not come twice."""
        if not (self.standing.ended or self.standing.waits(message)):
            self.standing.put(message)

    def find(self, identity: str) -> tuple[Line, int]:
        """The stream of an event, and the place of it; raises Gone when its client has to begin anew."""
        found = ID.fullmatch(identity)
        if found is not None:
            line, place = self.open.get(int(found[1])), int(found[2])
            if line is not None and line.has(place):
                return line, place
        raise Gone(identity)

    def added(self, line: Line, length: int) -> None:
        """Count an event of so many bytes, and keep the oldest ones no longer where there are too many."""
        self._order.append(line)
        self._bytes += length
        while len(self._order) > 1 and (len(self._order) > MOST_EVENTS or self._bytes > MOST_BYTES):
            oldest = self._order.popleft()
            self._bytes -= oldest.forget()
            self.tidy(oldest)

    def tidy(self, line: Line) -> None:
        """Know nothing of a stream that is over."""
        if line.is_over:
            self.open.pop(line.number, None)
