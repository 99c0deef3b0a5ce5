"""Era: servers of 2026-07-28 alone are spoken to here, by requests that say everything themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from ..jsonrpc import Id
from ..latest import REVISION, types
from .answers import Answers
from .calls import Calls
from .transport import Disconnected, Outgoing, Transport

Era: TypeAlias = Literal["modern"]
"""How a server is spoken to: there is one way."""


class Eras:
    """The transport to a server, which needs nothing found out."""

    def __init__(
        self, transport: Transport, answers: Answers, info: types.Implementation, era: Era | None
    ) -> None:
        """Speak as servers of this era understand it; who asks, and what is answered, stands in each request."""
        self._transport = transport
        self.era: Era = "modern"

    def join(self, calls: Calls, meta: Callable[[], types.RequestMetaObject]) -> None:
        """Serve these calls."""

    @property
    def streams(self) -> bool:
        return self._transport.streams

    @property
    def mirrors(self) -> bool:
        """Whether parts of a request are repeated in headers."""
        return self._transport.mirrors

    @property
    def version(self) -> str | None:
        """The version that is spoken, which is known from the beginning."""
        return REVISION

    async def open(
        self, receive: Callable[[bytes, Id | None], bool], lost: Callable[[Disconnected], None]
    ) -> None:
        """Connect."""
        await self._transport.open(receive, lost)

    def carry(self, request: Outgoing) -> Awaitable[None]:
        """Take one request to the server."""
        return self._transport.carry(request)

    async def notify(self, method: str, message: bytes) -> None:
        """Take one notification to the server."""
        await self._transport.notify(method, message)

    async def close(self) -> None:
        """End the connection."""
        await self._transport.close()
