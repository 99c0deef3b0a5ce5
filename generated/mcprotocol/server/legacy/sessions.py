"""Sessions: those that clients have opened over HTTP, by ids that nobody can guess, until they end or have long been idle.

A session belongs to the principal that has opened it; to everybody else it does not exist. It is idle while no
request of its client is open. Where there are too many, the one that has been idle longest gives way.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ...errors import InternalError
from ...jsonrpc import Id, write_error
from ..gate import Refused
from . import conversions
from .events import Events, Line
from .news import Push

if TYPE_CHECKING:
    from .session import Session

ID_BYTES: Final = 32

ENDED: Final = "The session has ended"

Begin: TypeAlias = "Callable[[Push | None], Session]"
"""Makes a session that sends what nobody has asked for in a given way; one without a way is to last for one message."""


class Visitor:
    """One client of the handshake era: its session, what it is sent, and its calls that are going on."""

    def __init__(self, begin: Begin, principal: str | None = None, *, lasting: bool = True) -> None:
        """Begin a session for a principal, or one that is over with its first message."""
        self.events = Events(resumable=lasting)
        self.session = begin(self.events.push if lasting else None)
        self.principal = principal
        self.calls: set[asyncio.Task[None]] = set()
        self.identity = ""
        self.open = 0
        """How many of its requests are open."""
        self.since = 0.0
        """When it became idle."""

    def call(
        self, work: Coroutine[Any, Any, bytes | None], line: Line, identity: Id | None
    ) -> asyncio.Task[None]:
        """Do the work that answers a request in a task of its own: whether its client is there does not matter."""
        task = asyncio.get_running_loop().create_task(_answered(work, line, identity))
        self.calls.add(task)
        task.add_done_callback(self.calls.discard)
        return task

    @property
    def polls(self) -> bool:
        """Whether the client comes back for a stream that has ended before its answer."""
        return self.events.resumable and self.session.version == conversions.POLLS

    def quiet(self) -> None:
        """Tell and ask nothing more; the calls go on to their ends."""
        self.session.close()
        self.events.standing.end()

    def close(self) -> None:
        """End, and the calls too; they are answered that it is over."""
        self.quiet()
        for task in self.calls:
            task.cancel()


class Sessions:
    """The sessions that are open."""

    def __init__(self, most: int, seconds: float) -> None:
        """Have so many at most, and end those that were idle for so many seconds."""
        self._most = most
        self._seconds = seconds
        self._all: dict[str, Visitor] = {}
        self._idle: dict[str, Visitor] = {}  # The one that has been idle longest comes first.
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Visitor]:
        return iter([*self._all.values()])

    def add(self, visitor: Visitor) -> None:
        """Have one more, which gets its id; raises Refused (503) when there are too many, and none of them is idle."""
        self._sweep()
        if len(self._all) >= self._most:
            if not self._idle:
                raise Refused(503, "There are too many sessions", {"Retry-After": "1"})
            self.remove(next(iter(self._idle.values())))
        visitor.identity = secrets.token_urlsafe(ID_BYTES)
        self._all[visitor.identity] = visitor
        self._rest(visitor)

    def find(self, identity: str, principal: str | None) -> Visitor:
        """The session of a principal by its id; raises Refused (404) when there is none."""
        self._sweep()
        visitor = self._all.get(identity)
        if visitor is None or visitor.principal != principal:
            raise Refused(404, "There is no such session: begin with initialize")
        return visitor

    @contextmanager
    def using(self, visitor: Visitor) -> Generator[None]:
        """A block in which a request of the client is open."""
        visitor.open += 1
        self._idle.pop(visitor.identity, None)
        try:
            yield
        finally:
            visitor.open -= 1
            if not visitor.open and visitor.identity in self._all:
                self._rest(visitor)

    def remove(self, visitor: Visitor) -> None:
        """End one."""
        self._idle.pop(visitor.identity, None)
        self._all.pop(visitor.identity, None)
        visitor.close()

    def close(self) -> None:
        """End them all."""
        for visitor in self:
            self.remove(visitor)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rest(self, visitor: Visitor) -> None:
        visitor.since = time.monotonic()
        self._idle[visitor.identity] = visitor
        loop = asyncio.get_running_loop()
        if self._timer is None or self._loop is not loop:
            self._loop, self._timer = loop, loop.call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self._sweep()
        if self._idle and self._loop is not None:
            due = next(iter(self._idle.values())).since + self._seconds - time.monotonic()
            self._timer = self._loop.call_later(max(due, 0), self._expire)

    def _sweep(self) -> None:
        """End those that were idle for too long: a timer may be late, or lie on a loop that has ended."""
        expired = time.monotonic() - self._seconds
        while self._idle and (oldest := next(iter(self._idle.values()))).since <= expired:
            self.remove(oldest)


async def _answered(work: Coroutine[Any, Any, bytes | None], line: Line, identity: Id | None) -> None:
    try:
        line.end(await work)
    except asyncio.CancelledError:
        line.end(write_error(identity, InternalError(ENDED)), status=503)
    finally:
        line.end()
