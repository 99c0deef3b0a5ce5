"""A conversation over one pipe, in either era: each message is told apart by itself.

A client of 2026-07-28 names the revision in the metadata of each request; one of the handshake era begins with
`initialize`. Until it has, every message is taken for one of 2026-07-28, and what it lacks is said in its terms.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import McpError
from ...jsonrpc import Failure, Notification, Request, Success, read_message, read_reply, write_error
from ...latest import types
from ..dispatch import VERSION_KEY, Dispatcher, Send, meta_of
from ..streams import Bus
from . import conversions
from .batches import batch
from .news import Push
from .relay import Relay

if TYPE_CHECKING:
    from .session import Session

OPENING = frozenset({conversions.INITIALIZE, conversions.PING})
"""What a client of the handshake era may say first."""


class Conversation:
    """What one client over a pipe says, and what it gets."""

    def __init__(self, dispatcher: Dispatcher, info: types.Implementation, bus: Bus, push: Push) -> None:
        """Answer by the handlers of `dispatcher`; `push` sends what nobody has asked for, and must not wait."""
        self._dispatcher = dispatcher
        self._parts = (info, Relay(bus), push)

    @cached_property
    def _session(self) -> Session:
        # With the types of its era, whose import takes a third of the start of a server, and few will need.
        from .session import Session

        return Session(self._dispatcher, *self._parts)

    @property
    def _is_begun(self) -> bool:
        return "_session" in vars(self)

    @property
    def _version(self) -> str:
        return self._session.version if self._is_begun else ""

    def close(self) -> None:
        """End what would never end by itself."""
        self._dispatcher.close()
        if self._is_begun:
            self._session.close()

    async def handle(self, data: bytes, send: Send) -> bytes | None:
        """Take one message and return its answer, or None when it gets none; run in a task of its own.

        `send` takes what comes before the answer.
        """
        if self._version == conversions.BATCHES and data.lstrip()[:1] == b"[":
            return await batch(data, lambda part: self._one(part, send))
        return await self._one(data, send)

    async def _one(self, data: bytes, send: Send) -> bytes | None:
        try:
            message = read_reply(data) if self._version else read_message(data)
        except McpError as error:
            return write_error(error.request_id, error)
        return await self._take(message, send)

    def _take(
        self, message: Request | Notification | Success | Failure, send: Send
    ) -> Awaitable[bytes | None]:
        if isinstance(message, Success | Failure):
            return self._session.take(message, send)
        if isinstance(message, Notification):
            return self._noticed(message, send)
        if VERSION_KEY in meta_of(message) or not (self._version or message.method in OPENING):
            return self._dispatcher.take(message, send)
        return self._session.take(message, send)

    async def _noticed(self, message: Notification, send: Send) -> None:
        # What is cancelled is known by its id alone, and in one of the two.
        await self._dispatcher.take(message, send)
        if self._is_begun:
            await self._session.take(message, send)
