"""Streamable HTTP: one endpoint, one POST for each message, and an answer that lives no longer than its POST.

An answer is JSON, and becomes a stream of events only when a notification has to go before it, or when it takes
so long that somebody on the way might give up: until then its status can still say what went wrong. A client
that goes away cancels its request (basic/transports/streamable-http, Receiving Responses).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import cached_property
from typing import Final, Protocol, cast

from ..errors import HeaderMismatch, InternalError, McpError
from ..headers import (
    MIRRORS,
    Headers,
    Mirrored,
    Parameters,
    check_names,
    check_parameters,
    check_version,
    mirrored,
)
from ..jsonrpc import Request, read_message, write_error
from .asgi import Receive, Scope, Send
from .callers import Caller, Principal
from .dispatch import CAPABILITIES_KEY, SUPPORTED, VERSION_KEY, Dispatcher, Outlet, naming
from .familiar import Familiar
from .gate import LOOKED_AT, Gate, Refused
from .presence import Lookout, Presence
from .responses import COMMENT, STATUS, begin_stream, piece, refuse, whole

LOOKS: Final = (*LOOKED_AT, *MIRRORS)
"""The headers by which a request is known again."""

GRACE_SECONDS = 0.5
"""How long handlers may take to clean up when the server ends and they are cancelled."""


class Serves(Protocol):
    """A server, as this transport needs it."""

    def connect(self) -> Dispatcher:
        """A fresh connection."""
        ...

    def parameter_headers(self, tool: str, /) -> Parameters:
        """The arguments of a tool that come in a header as well."""
        ...


class Past(Protocol):
    """The handshake era, as this transport needs it."""

    def open(self) -> None:
        """Serve, after an end too."""
        ...

    def close(self) -> None:
        """Begin nothing new, and end what would never end by itself."""
        ...

    async def end(self, seconds: float, grace: float) -> None:
        """Give the calls in flight so many seconds, then end them."""
        ...

    def admits(self, method: str, headers: Headers) -> bool:
        """Whether a request that is no POST is one of its own; raises Refused when it is, and not in order."""
        ...

    async def take(self, scope: Scope, headers: Headers, body: bytes, receive: Receive, send: Send) -> bool:
        """Answer a request that is one of its own; False, and nothing is done, when it is not. Raises McpError."""
        ...


class Endpoint:
    """The one endpoint, for every HTTP method; each POST is judged and answered alone."""

    def __init__(
        self,
        server: Serves,
        gate: Gate,
        limit: int,
        keep_alive: float,
        principal: Principal,
        past: Past | None,
    ) -> None:
        self._server = server
        self._gate = gate
        self._limit = limit
        self._keep_alive = keep_alive
        self._principal = principal
        self._past = past
        self._familiar = Familiar()
        self._lookout = Lookout()
        self._tasks: set[asyncio.Task[object]] = set()
        self._over = False
        self.open()

    def open(self) -> None:
        """Serve, after an end too."""
        # One for all: it is asked for replies alone, and those know nothing of each other.
        self._dispatcher = self._server.connect()
        if self._past is not None:
            self._past.open()
        self._over = False

    def close(self) -> None:
        """End the subscriptions, and those to come."""
        self._dispatcher.close()
        if self._past is not None:
            self._past.close()

    async def end(self, seconds: float) -> None:
        """Give the requests in flight so many seconds, once, then cancel them; they are answered that it is over."""
        self.close()
        seconds = 0 if self._over else seconds
        ends = [self._drain(seconds)]
        if self._past is not None:
            ends.append(self._past.end(seconds, GRACE_SECONDS))
        await asyncio.gather(*ends)

    async def _drain(self, seconds: float) -> None:
        if self._tasks and not self._over:
            await asyncio.wait(self._tasks, timeout=seconds)
        self._over = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = Headers(scope["headers"])
        looks = headers.single(LOOKS) if scope["method"] == "POST" else None
        familiar = None if looks is None else self._familiar.get(looks)
        try:
            if familiar is None:
                self._admit(scope["method"], headers)
            body = await self._read(headers, receive)
            if body is None:
                return
            if familiar is None and self._past is not None:
                if await self._past.take(scope, headers, body, receive, send):
                    return
            message = read_message(body)
        except McpError as error:
            await refuse(send, error, error.request_id)
            return
        if not isinstance(message, Request):
            # None means anything here: a request is cancelled by going away, and only by who sent it.
            await whole(send, 202, b"")
            return
        try:
            said = self._check(headers, message, familiar)
        except HeaderMismatch as error:
            await refuse(send, HeaderMismatch(*naming(message.method, error.message)), message.id)
            return
        if looks is not None and familiar is None and said is not None:
            self._familiar.add(looks, said)
        caller = Caller(scope, self._principal)
        await self._answer(message, caller, receive, Exchange(send, self._keep_alive))

    def _admit(self, method: str, headers: Headers) -> None:
        self._gate.know(headers)
        if self._past is None or not self._past.admits(method, headers):
            self._gate.admit(method, headers)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """The body, or None when the client went away before its end; raises Refused when it is too long."""
        for declared in headers.all(b"content-length"):
            if not declared.isdigit() or len(declared) > 18 or int(declared) > self._limit:
                raise self._too_long()
        begun = bytearray()
        while True:
            event = await receive()
            if event["type"] != "http.request":
                return None
            piece: bytes = event.get("body", b"")
            if len(begun) + len(piece) > self._limit:
                raise self._too_long()
            if not event.get("more_body", False):
                # Nearly all bodies come in one piece, and need no copy.
                return bytes(begun + piece) if begun else piece
            begun += piece

    def _too_long(self) -> Refused:
        return Refused(413, f"A message is at most {self._limit} bytes long")

    def _check(self, headers: Headers, request: Request, familiar: Mirrored | None) -> Mirrored | None:
        """What a body says that its headers repeat; raises HeaderMismatch where they disagree.

        None where that was not looked at, because the dispatcher will refuse the request before it would count:
        for metadata that is malformed, or a version that is not served. What is `familiar` of these headers is
        known to agree.
        """
        params = request.params or {}
        version = _asked(params.get("_meta"))
        if version is None or version not in SUPPORTED:
            check_version(headers, version)
            return None
        said = mirrored(request.method, params, version)
        if said != familiar:
            check_version(headers, version)
            check_names(headers, request.method, params)
        if request.method == "tools/call" and isinstance(params.get("name"), str):
            parameters = self._server.parameter_headers(params["name"])
            if parameters:
                check_parameters(headers, parameters, params.get("arguments"))
        return said

    async def _answer(self, request: Request, caller: Caller, receive: Receive, exchange: Exchange) -> None:
        outlet = Outlet(exchange.notify)
        presence = Presence(self._lookout, receive, exchange.keep_alive)
        self._tasks.add(presence.task)
        reply = None
        try:
            with presence:
                reply = await self._dispatcher.reply(request, outlet, caller)
            outlet.open = False
            # Whoever has left gets nothing, even from a handler that went on to its end.
            if reply is not None and not presence.gone:
                status = 200 if reply.error is None else STATUS.get(reply.error.code, 200)
                await exchange.answer(status, reply.data)
        except asyncio.CancelledError:
            # A host that cancels a request of its own accord also answers it.
            if not self._over or presence.task.uncancel() > 0:
                raise
            await exchange.answer(503, write_error(request.id, InternalError("The server has ended")))
        finally:
            outlet.open = False
            exchange.close()
            self._tasks.discard(presence.task)


class Exchange:
    """What is sent for one request: JSON, or a stream from its first notification or comment on."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self._streams = False
        self._comments: asyncio.Task[None] | None = None
        self._quiet = True

    @cached_property
    def _turn(self) -> asyncio.Lock:
        """Held by whoever sends; most exchanges are one answer, and need none."""
        return asyncio.Lock()

    async def notify(self, message: bytes) -> None:
        """Send a message that is not the answer."""
        async with self._turn:
            await self._stream()
            self.keep_alive()
            await self._event(message, more=True)

    def answer(self, status: int, message: bytes) -> Awaitable[None]:
        """Send the answer, after which nothing follows; the status counts when no stream has begun."""
        alone = not self._streams and self._comments is None  # Then nobody else has a turn.
        return whole(self._send, status, message) if alone else self._in_turn(status, message)

    async def _in_turn(self, status: int, message: bytes) -> None:
        async with self._turn:
            self.close()
            if self._streams:
                await self._event(message, more=False)
            else:
                await whole(self._send, status, message)

    def keep_alive(self) -> None:
        """Send a comment whenever nothing was sent for so many seconds."""
        if self._comments is None:
            self._comments = asyncio.get_running_loop().create_task(self._comment())

    def close(self) -> None:
        """Keep nothing alive any more."""
        if self._comments is not None:
            self._comments.cancel()

    async def _stream(self) -> None:
        """Be a stream from here on."""
        if not self._streams:
            self._streams = True
            await begin_stream(self._send)

    async def _event(self, message: bytes, *, more: bool) -> None:
        self._quiet = False
        # A message is one line of JSON, so one line of data.
        await piece(self._send, b"data: %b\n\n" % message, more=more)

    async def _comment(self) -> None:
        while True:
            self._quiet = True
            await asyncio.sleep(self._seconds)
            async with self._turn:
                if self._quiet:
                    await self._stream()
                    await piece(self._send, COMMENT, more=True)


def _asked(meta: object) -> str | None:
    """The version that a request asks for, if its metadata is in order as far as headers are concerned."""
    keys = cast(dict[str, object], meta) if isinstance(meta, dict) else {}
    version = keys.get(VERSION_KEY)
    return version if isinstance(version, str) and isinstance(keys.get(CAPABILITIES_KEY), dict) else None
