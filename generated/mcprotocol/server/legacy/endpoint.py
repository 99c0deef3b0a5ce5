"""The endpoint of the handshake era: sessions over HTTP, whose streams a client may come back for when they were cut.

A call goes on when its client goes away, and only a notification cancels it. Its answer is JSON, or the end of a
stream where something has to go before it or it takes long; what it says from then on waits for whoever comes
back (2025-11-25, basic/transports, Streamable HTTP).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...errors import McpError
from ...headers import VERSION, Headers
from ...jsonrpc import Failure, Notification, Request, Success, read_reply
from ..asgi import Receive, Scope, Send
from ..callers import Caller, Principal
from ..dispatch import SUPPORTED, VERSION_KEY, meta_of
from ..gate import STREAM, Refused, takes
from ..presence import Lookout, Presence
from ..responses import COMMENT, begin_stream, piece, whole
from . import conversions
from .batches import batch
from .events import Gone, Line
from .sessions import Begin, Sessions, Visitor

SESSION: Final = "MCP-Session-Id"
LAST: Final = "Last-Event-ID"

RETRY_MILLISECONDS: Final = 500
"""How soon a client may come back when its stream has ended early."""

UNSAID: Final = "2025-03-26"
"""The revision of a client that says none, where no session knows it: later ones have a header for it."""

Message: TypeAlias = Request | Notification | Success | Failure


@dataclass(frozen=True, slots=True)
class Limits:
    """How many sessions there may be and how many seconds one may be idle, or that there are none."""

    sessions: int
    seconds: float
    stateless: bool


@dataclass(frozen=True, slots=True)
class Visit:
    """One HTTP request of a client of this era; a body that is not one message has none."""

    method: str
    version: str | None
    session: str | None
    last: str | None
    body: bytes
    message: Message | None
    caller: Caller
    receive: Receive
    send: Send

    @property
    def opening(self) -> Request | None:
        """The request that begins with a handshake."""
        message = self.message
        return message if isinstance(message, Request) and message.method == conversions.INITIALIZE else None

    @property
    def is_modern(self) -> bool:
        """Whether it says by its metadata or its header that it is of a later revision."""
        if self.version in SUPPORTED:
            return True
        return isinstance(self.message, Request) and VERSION_KEY in meta_of(self.message)


class Handshakes:
    """Answers the clients that begin with a handshake."""

    def __init__(self, begin: Begin, limits: Limits, keep_alive: float, principal: Principal) -> None:
        """With sessions that `begin`, each for the principal that has opened it."""
        self._begin = begin
        self._limits = limits
        self._keep_alive = keep_alive
        self._principal = principal
        self._lookout = Lookout()
        self._calls: set[asyncio.Task[None]] = set()
        self.open()

    def open(self) -> None:
        """Serve, after an end too."""
        self._sessions = Sessions(self._limits.sessions, self._limits.seconds)
        self._closed = False

    def close(self) -> None:
        """Begin no session, and end what would never end by itself."""
        self._closed = True
        for visitor in self._sessions:
            visitor.quiet()

    async def end(self, seconds: float, grace: float) -> None:
        """Give the calls in flight so many seconds, then end the sessions; the calls are answered that it is over."""
        self.close()
        if self._calls:
            await asyncio.wait(self._calls, timeout=seconds)
        self._sessions.close()
        for task in self._calls:
            task.cancel()
        if self._calls:
            await asyncio.wait(self._calls, timeout=grace)

    def admits(self, method: str, headers: Headers) -> bool:
        """Whether a request that is no POST is of this era; raises Refused (406) when it is, and not in order."""
        if self._limits.stateless or method not in ("GET", "DELETE") or _one(headers, VERSION) in SUPPORTED:
            return False
        if method == "GET" and not takes(headers, STREAM):
            raise Refused(406, f"Accept must have {STREAM}")
        return True

    async def take(self, scope: Scope, headers: Headers, body: bytes, receive: Receive, send: Send) -> bool:
        """Answer a request that is of this era; False, and nothing is done, when it is not.

        Raises Refused and other errors of the protocol before anything is answered.
        """
        version = _one(headers, VERSION)
        if version in SUPPORTED:
            return False
        visit = Visit(
            scope["method"],
            version,
            None if self._limits.stateless else _one(headers, SESSION),
            _one(headers, LAST),
            body,
            _message(body),
            Caller(scope, self._principal),
            receive,
            send,
        )
        if not self._concerns(visit):
            return False
        try:
            await self._taken(visit)
        except McpError as error:
            error.request_id = visit.message.id if isinstance(visit.message, Request) else error.request_id
            raise
        return True

    def _concerns(self, visit: Visit) -> bool:
        if visit.method != "POST":
            return True
        if visit.is_modern:
            return False
        if visit.version is None:
            # What says nothing about its era is of none, and is told in the words of the later one.
            return self._limits.stateless or visit.session is not None or visit.opening is not None
        return visit.session is not None or visit.version in conversions.NAMED

    async def _taken(self, visit: Visit) -> None:
        # Which of them it says is all the same: the session knows what was agreed on.
        known = conversions.SERVED if visit.opening is None else conversions.NAMED
        if visit.version is not None and visit.version not in known:
            raise Refused(400, f"{VERSION} must be one of {', '.join((*SUPPORTED, *conversions.SERVED))}")
        if self._limits.stateless:
            await self._pass(visit)
        elif visit.session is not None:
            visitor = self._sessions.find(visit.session, visit.caller.principal)
            with self._sessions.using(visitor):
                await self._visited(visitor, visit)
        elif visit.method == "POST" and visit.opening is not None:
            await self._opened(visit, visit.opening)
        else:
            raise Refused(400, f"{SESSION} is missing")

    async def _opened(self, visit: Visit, request: Request) -> None:
        """Begin a session, and keep it when the handshake has worked."""
        visitor = Visitor(self._begin, visit.caller.principal)
        more = None
        try:
            answer = await visitor.session.take(request, _nowhere, visit.caller)
            if self._closed:
                raise Refused(503, "The server has ended")
            if visitor.session.version:
                self._sessions.add(visitor)
                more = {SESSION: visitor.identity}
        finally:
            if more is None:
                visitor.close()
        await whole(visit.send, 200, answer or b"", more)

    async def _pass(self, visit: Visit) -> None:
        """Answer what stands alone."""
        visitor = Visitor(self._begin, lasting=False)
        if visit.opening is None:
            visitor.session.assume(visit.version or UNSAID)
        await self._posted(visitor, visit)

    async def _visited(self, visitor: Visitor, visit: Visit) -> None:
        if visit.method == "POST":
            await self._posted(visitor, visit)
        elif visit.method == "GET":
            await self._listened(visitor, visit)
        else:
            self._sessions.remove(visitor)
            await whole(visit.send, 204, b"")

    async def _posted(self, visitor: Visitor, visit: Visit) -> None:
        line = visitor.events.line()
        hang_up = line.hang_up if visitor.polls else None

        async def one(part: bytes) -> bytes | None:
            try:
                message = read_reply(part)
            except McpError as error:
                return visitor.session.refuse(part, error)
            return await visitor.session.take(message, line.send, visit.caller, hang_up)

        if visitor.session.version == conversions.BATCHES and visit.body.lstrip()[:1] == b"[":
            work, identity = batch(visit.body, one), None
        else:
            message = visit.message or _unread(visitor, visit.body)
            work = visitor.session.take(message, line.send, visit.caller, hang_up)
            identity = message.id if isinstance(message, Request) else None
        task = visitor.call(work, line, identity)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        await self._replied(visitor, line, visit)

    async def _replied(self, visitor: Visitor, line: Line, visit: Visit) -> None:
        """Send what a line comes to, whole or as a stream, for as long as the client is there."""
        with Presence(self._lookout, visit.receive, _nothing), line.read() as reader:
            if await line.begins(reader, self._keep_alive):
                await self._streamed(line, reader, 0, visit, primed=visitor.polls)
            elif line.answer is None:
                await whole(visit.send, 202, b"")
            else:
                await whole(visit.send, line.status, line.answer)

    async def _listened(self, visitor: Visitor, visit: Visit) -> None:
        """Send what belongs to no call, or the rest of a stream that was cut."""
        line = visitor.events.standing
        place = line.untaken
        if visit.last is not None:
            try:
                line, place = visitor.events.find(visit.last)
            except Gone:
                raise Refused(400, f"What comes after this {LAST} is not kept") from None
        with Presence(self._lookout, visit.receive, _nothing), line.read(place) as reader:
            primed = visitor.polls and visit.last is None
            await self._streamed(line, reader, place, visit, primed=primed)

    async def _streamed(self, line: Line, reader: object, place: int, visit: Visit, *, primed: bool) -> None:
        async def write(data: bytes) -> None:
            await piece(visit.send, data, more=True)

        await begin_stream(visit.send)
        if primed:
            # From here on the client can come back, whatever comes next.
            await write(b"retry: %d\n%bdata: \n\n" % (RETRY_MILLISECONDS, line.head(place)))
        await line.follow(reader, place, write, COMMENT, self._keep_alive)
        await piece(visit.send, b"", more=False)


def _one(headers: Headers, name: str) -> str | None:
    """The value of a header or None; several come as one that nobody knows."""
    values = headers.all(name.lower().encode())
    return b",".join(values).decode("latin-1").strip(" \t") if values else None


def _message(body: bytes) -> Message | None:
    try:
        return read_reply(body)
    except McpError:
        return None


def _unread(visitor: Visitor, body: bytes) -> Message:
    """Raises what is wrong with what is no message; where it was meant as an answer, whoever waits for that hears of it."""
    try:
        return read_reply(body)
    except McpError as error:
        if visitor.session.refuse(body, error) is None:
            error.request_id = None  # Which is one of ours.
        raise


def _nothing() -> None:
    """A call that lasts is nothing special here."""


async def _nowhere(_: bytes) -> None:
    """Nothing goes before the answer to a handshake."""
