"""Era: whether a server is asked call by call, or expects a handshake first; found out once, by one question.

`server/discover` is that question, since every server of this revision answers it (server/discover). What comes back
decides by the rules of the specification (basic/transports, Backward Compatibility), and never a single error code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias, cast

from pydantic_core import from_json

from ..errors import HeaderMismatch, McpError, MissingRequiredClientCapability, UnsupportedProtocolVersion
from ..jsonrpc import Failure, Id, Notification, Params, Request, Success, read_reply
from ..latest import REVISION, methods, types
from .answers import Answers
from .calls import Calls, unreadable
from .conversions import Unspoken, best, singly
from .errands import Errands
from .handshake import Handshake
from .transport import Disconnected, Forgotten, HttpError, Outgoing, Transport

Era: TypeAlias = Literal["modern", "handshake"]
"""How a server is spoken to: by requests that say everything themselves, or after a handshake (until 2025-11-25)."""

SILENCE_SECONDS: Final = 5.0
"""How long a server may be silent on a pipe before the handshake is tried as well; its late answer still counts."""

PROBING_SECONDS: Final = 300.0
"""How long a server may be silent over HTTP, where a person may have to sign in before it says anything."""

SHAKING_SECONDS: Final = 60.0
"""How long a handshake may take: a program may have to be fetched before it runs."""

NO_ENDPOINT: Final = (400, 404, 405)
"""The statuses with which servers of the handshake era refuse what they do not know."""


def concluded(outcome: Params | Exception, streams: bool) -> Era | None:
    """What the answer to `server/discover` says of a server; None where it says nothing.

    `streams` says that it came over HTTP, where a server that cannot be reached is not for that one of either era.
    """
    if isinstance(outcome, dict):
        return _by_versions(outcome.get("supportedVersions"), "handshake")
    if isinstance(outcome, UnsupportedProtocolVersion):
        return _by_versions(outcome.supported, "modern")
    if isinstance(outcome, HeaderMismatch | MissingRequiredClientCapability):
        return "modern"
    if isinstance(outcome, McpError):
        return "handshake"
    if isinstance(outcome, HttpError):
        return "handshake" if outcome.status in NO_ENDPOINT else None
    return "handshake" if isinstance(outcome, Disconnected) and not streams else None


def _by_versions(named: object, otherwise: Era) -> Era:
    """The era of a server that names its versions; `otherwise` is that of one that names none we know."""
    versions = cast(list[object], named) if isinstance(named, list) else []
    if REVISION in versions:
        return "modern"
    if best(versions) is not None:
        return "handshake"
    return "modern" if versions else otherwise


class Eras:
    """The transport to a server of either era: it finds out which, and says the rest as that one understands it."""

    def __init__(
        self, transport: Transport, answers: Answers, info: types.Implementation, era: Era | None
    ) -> None:
        """Ask nothing yet; a server whose `era` is known is not asked for it."""
        self._transport = transport
        self._answers = answers
        self._info = info
        self._known: Era | None = era
        self._probing = False
        self._waiting = 0
        self._settling: asyncio.Task[None] | None = None
        self._discovered: Params | None = None
        self.era: Era | None = era

    def join(self, calls: Calls, meta: Callable[[], types.RequestMetaObject]) -> None:
        """Serve these calls; `meta` makes the metadata of a request."""
        self._calls = calls
        self._meta = meta
        self._errands = Errands(self._transport, calls.fresh)
        self._handshake = Handshake(self._transport, self._errands, calls, self._answers, self._info)

    @property
    def streams(self) -> bool:
        return self._transport.streams

    @property
    def mirrors(self) -> bool:
        """Whether parts of a request are repeated in headers, as they are only in this revision."""
        return self._transport.mirrors and self.era != "handshake"

    @property
    def version(self) -> str | None:
        """The version that is spoken; None while nobody knows."""
        return REVISION if self.era == "modern" else self._handshake.version

    async def open(
        self, receive: Callable[[bytes, Id | None], bool], lost: Callable[[Disconnected], None]
    ) -> None:
        """Connect; which era the server is of is found out by the first request."""
        self._receive = receive
        self._lost = lost
        self._closing = False
        await self._transport.open(self._take, self._lose)

    def carry(self, request: Outgoing) -> Awaitable[None]:
        """Take one request to the server as its era has it; a session that it has forgotten is made anew once."""
        return self._transport.carry(request) if self.era == "modern" else self._carry(request)

    async def _carry(self, request: Outgoing) -> None:
        if not self._settled:
            await self._settle()
            if self._discovered is not None and request.method == methods.DISCOVER.name:
                found, self._discovered = self._discovered, None
                self._calls.take(Success(request.identity, found), request.identity if self.streams else None)
                return
            self._discovered = None
        if self.era == "modern":
            await self._transport.carry(request)
            return
        sessions = self._handshake.sessions
        try:
            await self._handshake.carry(request)
        except Forgotten as error:
            if sessions == self._handshake.sessions:
                self._handshake.lose(error)
            await self._settle()
            await self._speaker.carry(request)

    async def notify(self, method: str, message: bytes) -> None:
        """Take one notification to the server."""
        await self._speaker.notify(method, message)

    async def close(self) -> None:
        """End what is being found out, then the connection."""
        self._closing = True
        if self._settling is not None:
            self._settling.cancel()
            await asyncio.gather(self._settling, return_exceptions=True)
        await self._handshake.end()
        await self._transport.close()

    # What comes from the server.

    def _take(self, data: bytes, stream: Id | None) -> bool:
        if self.era == "modern" and self._settling is None:
            return self._receive(data, stream)
        return any([self._read(one, stream) for one in singly(data, self._handshake.version)])

    def _read(self, data: bytes, stream: Id | None) -> bool:
        try:
            message = read_reply(data)
        except McpError as error:
            return any([self._taken(failure, stream) for failure in unreadable(data, error)])
        return self._taken(message, stream)

    def _taken(self, message: Success | Failure | Notification | Request, stream: Id | None) -> bool:
        if isinstance(message, Success | Failure) and self._errands.take(message, stream):
            return True
        if self.era == "modern":
            return self._calls.take(message, stream)
        return self._handshake.take(message, stream)

    def _lose(self, reason: Disconnected) -> None:
        self._errands.lose(reason)
        if self._probing and self.era is None:
            # It may have ended because of the question; it is given another chance.
            return
        self._handshake.lose(reason)
        self._lost(reason)

    # Which era it is.

    @property
    def _speaker(self) -> Transport | Handshake:
        """What speaks as the server understands it, as far as is known."""
        return self._handshake if self.era == "handshake" else self._transport

    @property
    def _settled(self) -> bool:
        return self.era == "modern" or self.era == "handshake" and self._handshake.version is not None

    async def _settle(self) -> None:
        """Wait until the server can be asked; whoever comes first has it found out, for all.

        A request that nobody waits for any more is given up, as any other where requests have streams.
        """
        while not self._settled:
            if self._closing:
                raise Disconnected("the client is closed", final=True)
            if self._settling is None:
                self._settling = asyncio.create_task(self._found())
                self._settling.add_done_callback(self._over)
            task = self._settling
            self._waiting += 1
            try:
                await asyncio.wait({task})
            finally:
                self._waiting -= 1
                if not self._waiting and self.streams:
                    await _ended(task)
            if not task.cancelled():
                task.result()

    def _over(self, task: asyncio.Task[None]) -> None:
        self._settling = None
        if not task.cancelled():
            task.exception()  # Whoever waits has it; nobody may.

    async def _found(self) -> None:
        if self.era == "handshake":
            try:
                await self._shake()
                return
            except (McpError, HttpError):
                # What has taken a handshake and takes none any more is perhaps a newer server.
                self.era = self._known
                if self.era is not None:
                    raise
        self._probing = True
        try:
            self.era = await self._probed()
        except Disconnected as error:
            if error.final and not self.streams:
                self._lost(error)
            raise
        finally:
            self._probing = False

    async def _probed(self) -> Era:
        """The era of the server; raises what it says where that is of none."""
        question = {"_meta": from_json(self._meta().wire_bytes())}
        asking = asyncio.ensure_future(self._errands.ask(methods.DISCOVER.name, question, REVISION))
        shaking: asyncio.Future[None] | None = None
        try:
            await asyncio.wait({asking}, timeout=PROBING_SECONDS if self.streams else SILENCE_SECONDS)
            if self.streams and not asking.done():
                raise TimeoutError(
                    f"the server has not answered {methods.DISCOVER.name} in {PROBING_SECONDS:g} seconds"
                )
            if asking.done() and self._concluded(asking) == "modern":
                return "modern"
            shaking = asyncio.ensure_future(self._shake())
            if not asking.done():
                await asyncio.wait({asking, shaking}, return_when=asyncio.FIRST_COMPLETED)
                if asking.done() and self._concluded(asking) == "modern":
                    return "modern"
            return await self._shaken(asking, shaking)
        finally:
            await _ended(asking, shaking)

    def _concluded(self, asking: asyncio.Future[Params]) -> Era:
        """What an answer says of the era; raises it where it says nothing."""
        outcome = asking.exception() or asking.result()
        if not isinstance(outcome, dict | Exception):
            raise outcome
        era = concluded(outcome, self.streams)
        if era is None:
            asking.result()
        if era == "modern" and isinstance(outcome, dict):
            self._discovered = outcome
        return era or "handshake"

    async def _shaken(self, asking: asyncio.Future[Params], shaking: asyncio.Future[None]) -> Era:
        """That the handshake has succeeded; where the server takes neither, what it said first is what matters."""
        try:
            await shaking
        except Unspoken:
            raise
        except (McpError, Disconnected):
            if asking.done() and isinstance(asking.exception(), McpError | HttpError):
                asking.result()
            raise
        return "handshake"

    async def _shake(self) -> None:
        try:
            async with asyncio.timeout(SHAKING_SECONDS):
                await self._handshake.shake()
        except TimeoutError:
            raise TimeoutError(
                f"the server has answered neither server/discover nor initialize in {SHAKING_SECONDS:g} seconds"
            ) from None


async def _ended(*work: asyncio.Future[Any] | None) -> None:
    """Wait for the end of some work that is no longer needed."""
    begun = [one for one in work if one is not None]
    for one in begun:
        one.cancel()
    await asyncio.gather(*begun, return_exceptions=True)
