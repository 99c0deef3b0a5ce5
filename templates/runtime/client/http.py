"""Streamable HTTP: each request is a POST of its own, answered by one JSON object or by a stream of events.

To close the stream cancels the request; a stream that ends too soon loses its answer
(basic/transports/streamable-http).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import httpx2
from httpx2 import AsyncClient, Auth

from ..headers import mirror
from ..jsonrpc import Id
from ..wire import WireModel
from .events import Events, TooLong
from .transport import Disconnected, Lost, Outgoing, Receive

__all__ = ["AsyncClient", "Auth", "Http", "HttpError"]

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The longest message that is taken from a server."""

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

FIXED: Final = {"accept": f"{JSON}, {EVENTS}", "content-type": JSON}
"""The headers that every request has."""

PASSING: Final = (408, 425, 429)
"""Statuses below 500 that may be others a moment later."""

CONNECT_SECONDS: Final = 30.0
"""How long it may take to reach the server; the answer may take as long as the call may."""


class HttpError(Disconnected):
    """The server answered with a status that is an error, and without a message that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(
            f"the server answered {status}{f': {reason}' if reason else ''}",
            final=400 <= status < 500 and status not in PASSING,
        )
        self.status = status


class Http:
    """The transport to an endpoint."""

    streams = True
    mirrors = True

    def __init__(
        self,
        url: str,
        auth: Auth | None,
        headers: Mapping[str, str] | None,
        client: AsyncClient | None,
    ) -> None:
        """Connect to nothing yet. `client` makes the requests where it is given, and is not closed here."""
        self._url = url
        self._auth = auth
        self._headers = {**FIXED, **(headers or {})}
        self._given = client

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Begin; there is no connection to lose but that of each request."""
        self._receive = receive
        self._client = self._given or AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
        )

    async def carry(self, request: Outgoing) -> None:
        """Post one request and read its answer; raises Disconnected when there is none, HttpError by its status."""
        headers = self._headers | _mirrored(request)
        try:
            async with self._client.stream(
                "POST", self._url, content=request.message, headers=headers, **self._authorized()
            ) as response:
                if not await self._answered(response, request.identity):
                    if response.status_code >= 400:
                        raise HttpError(response.status_code, response.reason_phrase)
                    raise Disconnected("the answer ended before the result came")
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise Disconnected(f"the server cannot be reached: {error or type(error).__name__}") from error
        except TooLong as error:
            raise Disconnected(str(error)) from None

    async def notify(self, method: str, message: bytes) -> None:
        """Post one notification."""
        try:
            await self._client.post(self._url, content=message, headers=self._headers, **self._authorized())
        except httpx2.TransportError as error:
            raise Disconnected(f"the server cannot be reached: {error or type(error).__name__}") from error

    async def close(self) -> None:
        """Close all connections."""
        if self._given is None:
            await self._client.aclose()

    def _authorized(self) -> dict[str, Any]:
        return {} if self._auth is None else {"auth": self._auth}

    async def _answered(self, response: httpx2.Response, identity: Id) -> bool:
        """Whether the result or error came, in the one object or in an event of the stream."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == EVENTS:
            events = Events(MAX_ANSWER_BYTES)
            async for chunk in response.aiter_bytes():
                for data in events.feed(chunk):
                    if self._receive(data, identity):
                        return True
            return False
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise TooLong(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
        return kind == JSON and self._receive(bytes(body), identity)


def _mirrored(request: Outgoing) -> dict[str, str]:
    """The headers that repeat what the body says."""
    return mirror(request.method, _members(request.params), request.version, request.parameters)


def _members(params: WireModel | None) -> dict[str, Any]:
    return {name: getattr(params, name, None) for name in ("name", "uri", "arguments")}
