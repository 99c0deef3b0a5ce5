"""One exception per error code of JSON-RPC and MCP: raised by whoever refuses, written to the wire by the dispatcher.

The codes are fixed by the specification (basic/index, Error Codes); -32000 to -32019 carry no meaning here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast


class McpError(Exception):
    """A JSON-RPC error: `code`, one sentence of `message`, and `data` of any JSON shape (None: no data)."""

    code: ClassVar[int] = -32603

    request_id: int | str | None = None
    """The id of the message that was refused, when it could be read and belongs in the answer."""

    def __init__(self, message: str, data: Any = None) -> None:
        """Keep the message and its data; both travel to the peer, so neither may hold internals."""
        super().__init__(message)
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class ParseError(McpError):
    """What arrived is not JSON."""

    code = -32700


class InvalidRequest(McpError):
    """What arrived is JSON, but not one valid request or notification."""

    code = -32600


class MethodNotFound(McpError):
    """The method is unknown, or belongs to a capability that was not announced."""

    code = -32601

    method: str | None = None
    """Its name; None where a peer refused it, which says so in words alone."""

    def __init__(self, method: str, data: Any = None) -> None:
        super().__init__(f"Method not found: {method}", data)
        self.method = method


class InvalidParams(McpError):
    """The params do not fit the method, or name something that does not exist."""

    code = -32602


class InternalError(McpError):
    """The receiver failed; the message says nothing about how."""

    code = -32603


class HeaderMismatch(McpError):
    """A header is missing, malformed, or disagrees with the body."""

    code = -32020


class MissingRequiredClientCapability(McpError):
    """The request needs something that the client did not declare."""

    code = -32021

    def __init__(self, required: dict[str, Any]) -> None:
        """`required` is a ClientCapabilities object with what is missing."""
        super().__init__(
            f"The client must declare: {', '.join(required)}", {"requiredCapabilities": required}
        )

    @property
    def required(self) -> dict[str, object]:
        """What is missing, as a client would declare it; empty when the peer did not say."""
        return _members(_members(self.data).get("requiredCapabilities"))


class UnsupportedProtocolVersion(McpError):
    """The request asks for a revision that is not served here."""

    code = -32022

    def __init__(self, requested: str, supported: Sequence[str]) -> None:
        """Both sides of the disagreement, so that a client can choose again."""
        message = f"Unsupported protocol version {requested!r}; supported: {', '.join(supported)}"
        super().__init__(message, {"supported": list(supported), "requested": requested})

    @property
    def requested(self) -> str | None:
        """The version that was asked for; None when the peer did not say."""
        named = _members(self.data).get("requested")
        return named if isinstance(named, str) else None

    @property
    def supported(self) -> list[str]:
        """The versions that the peer speaks; none when it did not say."""
        named = _members(self.data).get("supported")
        return [str(version) for version in cast(list[object], named)] if isinstance(named, list) else []


class RemoteError(McpError):
    """An error of the peer whose code has no class here."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message, data)
        self.remote_code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.remote_code})"


PLAIN: dict[int, type[McpError]] = {
    error.code: error for error in (ParseError, InvalidRequest, InvalidParams, InternalError, HeaderMismatch)
}
"""The errors that a message and data say completely, by code."""


def from_wire(code: int, message: str, data: Any = None) -> McpError:
    """The exception for an error that a peer sent; never fails, whatever the peer put into `data`."""
    if code in PLAIN:
        return PLAIN[code](message, data)
    for known in (MethodNotFound, MissingRequiredClientCapability, UnsupportedProtocolVersion):
        if code == known.code:
            error = known.__new__(known)
            McpError.__init__(error, message, data)
            return error
    return RemoteError(code, message, data)


def _members(value: object) -> dict[str, object]:
    return cast(dict[str, object], value) if isinstance(value, dict) else {}
