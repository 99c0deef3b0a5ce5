"""Sessions: Streamable HTTP as servers of the handshake era speak it (2025-11-25, basic/transports).

The server may name a session, which is then named in every request and ended in the end. It may speak unasked on
a stream of its own, and a stream that breaks is taken up again where its last event has an id.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import httpx2
from httpx2 import AsyncClient, Auth, Response
from pydantic_core import to_json

from ..headers import VERSION
from ..jsonrpc import Id
from .events import Events
from .http import EVENTS, JSON, MAX_ANSWER_BYTES, Http, content_type, failures, read_body, refused
from .transport import PASSING, Disconnected, Forgotten, Outgoing

log = logging.getLogger(__name__)

SESSION: Final = "MCP-Session-Id"
LAST: Final = "Last-Event-ID"

VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
"""What a session may be called."""

ATTEMPTS: Final = 5
"""How many times in a row a stream that broke is asked for in vain."""

FIRST_SECONDS: Final = 0.5
"""The pause before that, where the server names none; each one after it is twice as long."""

LIVED_SECONDS: Final = 10.0
"""A stream that lives longer than this has not been asked for in vain, though nothing came on it."""

HEAR_SECONDS: Final = 2.0
"""How long a handshake waits for the stream of what is said unasked: some servers answer only when they have news."""

PING: Final = "ping"

UNKNOWN: Final = "the server does not know the session any more"

NO_SESSION: Final = (400, 404, 405)
"""The statuses with which a ping is refused where there is no such session, or no such era."""

LEAVE_SECONDS: Final = 2.0
"""How long a session may take to end."""


@dataclass
class Session:
    """One session: its name and the version that was agreed upon, where there are."""

    name: str | None = None
    version: str | None = None

    def headers(self) -> dict[str, str]:
        """What is repeated in every request."""
        named = {SESSION: self.name, VERSION: self.version}
        return {name: value for name, value in named.items() if value is not None}


@dataclass
class Place:
    """Where a stream ended or broke, and how long to wait before it is taken up there."""

    last: str | None = None
    retry: float | None = None
    vain: int = 0
    broken: bool = False

    def after(self, events: Events) -> None:
        """Go on to where some events have led, of which each is a sign of life."""
        if events.last is not None:
            self.last, self.vain = events.last.decode(), 0
        self.retry = self.retry if events.retry is None else events.retry / 1000

    async def pause(self) -> None:
        """Wait as long as the server says, and longer each time in vain."""
        self.vain += 1
        await asyncio.sleep(FIRST_SECONDS * 2 ** (self.vain - 1) if self.retry is None else self.retry)

    @property
    def is_polled(self) -> bool:
        """Whether the server has ended the stream itself, and says when it is to be taken up."""
        return not self.broken and bool(self.retry)

    def headers(self) -> dict[str, str]:
        """What says where to take the stream up."""
        return {} if self.last is None else {LAST: self.last}


class Endpoint(Http):
    """The transport to an endpoint of either era: that of this revision, until a handshake begins."""

    def __init__(
        self, url: str, auth: Auth | None, headers: Mapping[str, str] | None, client: AsyncClient | None
    ) -> None:
        super().__init__(url, auth, headers, client)
        self._session: Session | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()
        self._heard = False

    @property
    def hears(self) -> bool:
        """Whether the server has a stream for what it says unasked, or may yet have one."""
        return self._heard or not self._tried.is_set()

    async def begin(self, unheard: Callable[[Disconnected], None]) -> None:
        """Be in no session, until the server names one."""
        await self._stop_hearing()
        self._session = Session()
        self._unheard = unheard

    def agreed(self, version: str) -> None:
        """Repeat the version that was agreed upon."""
        if self._session is not None:
            self._session.version = version

    async def hear(self) -> None:
        """Ask for the stream of what the server says unasked, and wait until it is there or refused."""
        if self._session is not None:
            self._tried.clear()
            self._hearing = asyncio.create_task(self._hear(self._session))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEAR_SECONDS):
                    await self._tried.wait()

    def abandon(self) -> None:
        """Speak as this revision has it."""
        self._session = None

    async def carry(self, request: Outgoing) -> None:
        """Post one request and read its answer, from as many streams as it takes; raises as `Http` does.

        Forgotten is raised where the server has not even begun, for it does not know the session.
        """
        session = self._session
        if session is None:
            await super().carry(request)
            return
        place = Place()
        with failures():
            async with self._posted(request.message, session.headers()) as response:
                _recognised(session, response)
                kind = content_type(response)
                if kind != EVENTS:
                    body = await read_body(response)
                    if response.status_code == 400 and not await self._lives(session, request.identity):
                        raise Forgotten(UNKNOWN) from refused(response, kind, body)
                    if kind != JSON or not body or not self._receive(body, request.identity):
                        raise refused(response, kind, body)
                    return
                if await self._followed(response, request.identity, place):
                    return
                if place.last is None:
                    raise refused(response, kind, b"")
        await self._resumed(session, request.identity, place)

    async def notify(self, method: str, message: bytes) -> None:
        """Post a notification, or the answer to what the server has asked."""
        session = self._session
        if session is None:
            await super().notify(method, message)
            return
        with failures():
            async with self._posted(message, session.headers()) as response:
                body = await read_body(response)
                _recognised(session, response)
                if response.status_code >= 300:
                    raise refused(response, content_type(response), body)

    async def close(self) -> None:
        """End the session, then all connections."""
        await self._stop_hearing()
        if self._session is not None and self._session.name is not None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(LEAVE_SECONDS):
                    with failures():
                        async with self._posted(b"", self._session.headers(), "DELETE"):
                            pass
        await super().close()

    async def _lives(self, session: Session, identity: Id) -> bool:
        """Whether the server still takes what every server does, a ping, after it has refused a request as bad.

        Many say no more than that of a session which they have forgotten.
        """
        if session.version is None:
            return True  # There is none yet.
        ping = to_json({"jsonrpc": "2.0", "id": f"{PING} {identity}", "method": PING})
        async with self._posted(ping, session.headers()) as response:
            return response.status_code not in NO_SESSION

    async def _followed(self, response: Response, identity: Id | None, place: Place) -> bool:
        """Whether the answer to a request came on a stream; `place` is then where it ended or broke."""
        events = Events(MAX_ANSWER_BYTES)
        place.broken = False
        try:
            # Closed here, as in `Http`.
            async with contextlib.aclosing(response.aiter_bytes()) as chunks:
                async for chunk in chunks:
                    for data in events.feed(chunk):
                        # An event without data is there for its id alone.
                        if data and self._receive(data, identity):
                            return True
        except httpx2.TransportError:
            place.broken = True
            if identity is not None and events.last is None and place.last is None:
                raise
        finally:
            place.after(events)
        return False

    async def _resumed(self, session: Session, identity: Id, place: Place) -> None:
        """Take up the stream of a request until its answer comes; raises Disconnected when that cannot be."""
        while place.vain < ATTEMPTS:
            await place.pause()
            with contextlib.suppress(httpx2.ConnectError):
                async with self._posted(b"", {**session.headers(), **place.headers()}, "GET") as response:
                    if content_type(response) != EVENTS:
                        break
                    if await self._followed(response, identity, place):
                        return
                    place.vain = 0 if place.is_polled else place.vain
        raise Disconnected("the stream broke before the result came, and cannot be taken up again")

    async def _hear(self, session: Session) -> None:
        """Hear what the server says unasked, for as long as it has a stream for that."""
        place = Place()
        try:
            while place.vain < ATTEMPTS and await self._heard_again(session, place):
                if place.last is None:
                    self._unheard(Disconnected("what the server says unasked was not heard for a while"))
                await place.pause()
        except Exception as error:
            log.warning("what the server says unasked is not heard any more: %s", error)
        was, self._heard = self._heard, False
        self._tried.set()
        if was:
            self._unheard(Forgotten("what the server says unasked is not heard any more"))

    async def _heard_again(self, session: Session, place: Place) -> bool:
        """Whether the server had a stream or may have it again, so that it may be asked for once more."""
        loop = asyncio.get_running_loop()
        try:
            with failures():
                async with self._posted(b"", {**session.headers(), **place.headers()}, "GET") as response:
                    if response.status_code != 200 or content_type(response) != EVENTS:
                        return self._refused(session, place, response.status_code)
                    self._heard, began = True, loop.time()
                    self._tried.set()
                    await self._followed(response, None, place)
                    if loop.time() - began > LIVED_SECONDS:
                        place.vain = 0
        except (Disconnected, TimeoutError) as error:
            log.debug("the stream of what the server says unasked: %s", error)
        return True

    def _refused(self, session: Session, place: Place, status: int) -> bool:
        """Whether a stream that is refused may be asked for once more: from its end, where it cannot be taken up."""
        if status == 404 and session.name is not None:
            return False
        if self._heard and (status >= 500 or status in PASSING):
            return True
        last, place.last = place.last, None
        return last is not None

    async def _stop_hearing(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            await asyncio.gather(self._hearing, return_exceptions=True)
            self._hearing = None
        self._heard = False


def _recognised(session: Session, response: Response) -> None:
    """Take the name of a session from a response; raises Forgotten where the server knows that of ours no more."""
    if response.status_code == 404 and session.name is not None:
        raise Forgotten(UNKNOWN)
    name = response.headers.get(SESSION)
    if session.version is None and response.is_success and name is not None:
        if not VISIBLE.fullmatch(name):
            raise Disconnected("the server gives its session a name that none may have")
        session.name = name
