"""Streamable HTTP: one endpoint, one POST for each message, and an answer that lives no longer than its POST.

An answer is JSON, and becomes a stream of events only when a notification has to go before it: until then its
status can still say what went wrong. A client that goes away cancels its request
(basic/transports/streamable-http, Receiving Responses).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol, cast

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import (
    HeaderMismatch,
    InvalidParams,
    InvalidRequest,
    McpError,
    MethodNotFound,
    MissingRequiredClientCapability,
    ParseError,
    UnsupportedProtocolVersion,
)
from ..headers import Headers, Parameters, check_names, check_parameters, check_version
from ..jsonrpc import Request, read_message, write_error
from .dispatch import CAPABILITIES_KEY, SUPPORTED, VERSION_KEY, Dispatcher, Outlet, supported_by
from .gate import Gate, Refused

STATUS: Final = {
    MethodNotFound.code: 404,
    **dict.fromkeys((ParseError.code, InvalidRequest.code, InvalidParams.code, HeaderMismatch.code), 400),
    **dict.fromkeys((MissingRequiredClientCapability.code, UnsupportedProtocolVersion.code), 400),
}
"""The status of an answer with an error, by its code.

The specification leaves open what a handler's own error gets. Here -32602 is 400 whoever raised it, and any
other code 200: the exchange has worked, and what went wrong stands in the body, which every client reads.
"""

STREAM_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    # Proxies that collect a response before they pass it on are told not to.
    (b"x-accel-buffering", b"no"),
)

WATCH_SECONDS = 0.05
"""How long a call may take before anybody looks whether its client is still there: most are done by then."""

DRAIN_SECONDS = 3
"""How long accepted requests may take after the server was told to end."""


class Serves(Protocol):
    """A server, as this transport needs it."""

    def connect(self) -> Dispatcher:
        """A fresh connection."""
        ...

    def parameter_headers(self, tool: str, /) -> Parameters:
        """The arguments of a tool that come in a header as well."""
        ...


class Application(Starlette):
    """The ASGI application: what `Server.http` returns; other routes and middleware may be added to it."""

    def __init__(
        self,
        server: Serves,
        *,
        path: str,
        hosts: Sequence[str],
        origins: Sequence[str],
        max_body_bytes: int,
        keep_alive_seconds: float,
    ) -> None:
        """Serve at `path`; see `Server.http` for the rest."""
        endpoint = Endpoint(server, Gate(hosts, origins), max_body_bytes, keep_alive_seconds)
        super().__init__(routes=[Route(path, endpoint)])
        # There is exactly one path; a redirect would also repeat a Host that nobody has looked at.
        self.router.redirect_slashes = False


class Endpoint:
    """The one endpoint, for every HTTP method; each POST is judged and answered alone."""

    def __init__(self, server: Serves, gate: Gate, limit: int, keep_alive: float) -> None:
        self._server = server
        # One for all: it is asked for replies alone, and those know nothing of each other.
        self._dispatcher = server.connect()
        self._gate = gate
        self._limit = limit
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = Headers(scope["headers"])
        try:
            self._gate.admit(scope["method"], headers)
            body = await self._read(headers, receive)
            if body is None:
                return
            message = read_message(body)
        except McpError as error:
            await _refuse(send, error, error.request_id)
            return
        if not isinstance(message, Request):
            # None means anything here: a request is cancelled by going away, and only by who sent it.
            await _whole(send, 202, b"")
            return
        try:
            self._check(headers, message)
        except HeaderMismatch as error:
            error.data = supported_by(message.method)
            await _refuse(send, error, message.id)
            return
        await self._answer(message, receive, Exchange(send, self._keep_alive))

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """The body, or None when the client went away before its end; raises Refused when it is too long."""
        too_long = Refused(413, f"A message is at most {self._limit} bytes long")
        for declared in headers.all(b"content-length"):
            if not declared.isdigit() or len(declared) > 18 or int(declared) > self._limit:
                raise too_long
        parts = bytearray()
        while True:
            event = await receive()
            if event["type"] != "http.request":
                return None
            parts += event.get("body", b"")
            if len(parts) > self._limit:
                raise too_long
            if not event.get("more_body", False):
                return bytes(parts)

    def _check(self, headers: Headers, request: Request) -> None:
        """Raise HeaderMismatch where headers and body disagree.

        What the dispatcher will refuse before it is left to it: metadata that is malformed, a version that is
        not served. So is a method that is unknown: it has no parameters that could be wrong.
        """
        params = request.params or {}
        version = _asked(params.get("_meta"))
        check_version(headers, version)
        if version not in SUPPORTED:
            return
        check_names(headers, request.method, params)
        if request.method == "tools/call" and isinstance(params.get("name"), str):
            check_parameters(headers, self._server.parameter_headers(params["name"]), params.get("arguments"))

    async def _answer(self, request: Request, receive: Receive, exchange: Exchange) -> None:
        outlet = Outlet(exchange.notify)
        presence = Presence(receive)
        reply = None
        try:
            async with presence:
                reply = await self._dispatcher.reply(request, outlet)
            outlet.open = False
            # Whoever has left gets nothing, even from a handler that went on to its end.
            if reply is not None and not presence.gone:
                status = 200 if reply.error is None else STATUS.get(reply.error.code, 200)
                await exchange.answer(status, reply.data)
        finally:
            outlet.open = False
            exchange.close()


class Exchange:
    """What is sent for one request: JSON, or a stream from its first notification on."""

    def __init__(self, send: Send, keep_alive: float) -> None:
        self._send = send
        self._keep_alive = keep_alive
        self._turn = asyncio.Lock()
        self._comments: asyncio.Task[None] | None = None
        self._quiet = True

    async def notify(self, message: bytes) -> None:
        """Send a message that is not the answer."""
        async with self._turn:
            if self._comments is None:
                await self._send(
                    {"type": "http.response.start", "status": 200, "headers": list(STREAM_HEADERS)}
                )
                self._comments = asyncio.get_running_loop().create_task(self._comment())
            await self._event(message, more=True)

    async def answer(self, status: int, message: bytes) -> None:
        """Send the answer, after which nothing follows; the status counts when no stream has begun."""
        if self._comments is None:
            await _whole(self._send, status, message)
            return
        async with self._turn:
            await self._event(message, more=False)

    def close(self) -> None:
        """Keep nothing alive any more."""
        if self._comments is not None:
            self._comments.cancel()

    async def _event(self, message: bytes, *, more: bool) -> None:
        self._quiet = False
        # A message is one line of JSON, so one line of data.
        body = b"data: %b\n\n" % message
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def _comment(self) -> None:
        while True:
            self._quiet = True
            await asyncio.sleep(self._keep_alive)
            async with self._turn:
                if self._quiet:
                    await self._send(
                        {"type": "http.response.body", "body": b": still here\n\n", "more_body": True}
                    )


class Presence:
    """A block that ends when the client goes away, as if it had been cancelled from the inside."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None
        self.gone = False
        """Whether the client has gone away."""

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a request is handled in a task"
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(WATCH_SECONDS, self._begin)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        # What else has cancelled the task, the end of the whole server say, goes on.
        return self.gone and self._task.uncancel() == 0 and kind is asyncio.CancelledError

    def _begin(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self._task.cancel()


def serve(application: Application, host: str, port: int) -> None:
    """Run an application in this process until it is interrupted; raises RuntimeError without uvicorn.

    uvloop and httptools are used where they are installed. Requests in flight get some seconds to end.
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise RuntimeError("serving over HTTP needs uvicorn: pip install uvicorn") from error
    uvicorn.run(
        application,
        host=host,
        port=port,
        ws="none",
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


def _asked(meta: object) -> str | None:
    """The version that a request asks for, if its metadata is in order as far as headers are concerned."""
    keys = cast(dict[str, object], meta) if isinstance(meta, dict) else {}
    version = keys.get(VERSION_KEY)
    return version if isinstance(version, str) and isinstance(keys.get(CAPABILITIES_KEY), dict) else None


async def _refuse(send: Send, error: McpError, identity: int | str | None) -> None:
    if isinstance(error, Refused):
        await _whole(send, error.status, write_error(identity, error), error.headers)
    else:
        await _whole(send, STATUS[error.code], write_error(identity, error))


async def _whole(send: Send, status: int, body: bytes, more: Mapping[str, str] | None = None) -> None:
    """Send a response that is known from its beginning to its end."""
    headers = [(b"content-length", b"%d" % len(body))]
    if body:
        headers.append((b"content-type", b"application/json"))
    headers += [(name.lower().encode(), value.encode()) for name, value in (more or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
