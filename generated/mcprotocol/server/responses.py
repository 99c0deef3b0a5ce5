"""Responses: what HTTP is told, by the status that an error has in it, whole or as the head of a stream. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

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
from ..jsonrpc import write_error
from .asgi import Send
from .gate import Refused

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

COMMENT: Final = b": still here\n\n"
"""What a stream says when it has nothing to say."""


async def refuse(send: Send, error: McpError, identity: int | str | None) -> None:
    """Send an error that answers a request, or what could not be read as one."""
    if isinstance(error, Refused):
        await whole(send, error.status, write_error(identity, error), error.headers)
    else:
        await whole(send, STATUS[error.code], write_error(identity, error))


async def whole(send: Send, status: int, body: bytes, more: Mapping[str, str] | None = None) -> None:
    """Send a response that is known from its beginning to its end."""
    headers = [(b"content-length", b"%d" % len(body))]
    if body:
        headers.append((b"content-type", b"application/json"))
    if more:
        headers += [(name.lower().encode(), value.encode()) for name, value in more.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def begin_stream(send: Send, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Send the head of a stream of events."""
    headers = [*STREAM_HEADERS, *more]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def piece(send: Send, body: bytes, *, more: bool) -> None:
    """Send a part of a stream."""
    await send({"type": "http.response.body", "body": body, "more_body": more})
