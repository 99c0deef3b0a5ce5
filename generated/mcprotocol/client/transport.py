"""The seam between calls, which know the protocol, and what carries their messages, which knows bytes only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ..headers import Parameters
from ..jsonrpc import Id
from ..wire import WireModel

PASSING: Final = (408, 425, 429)
"""Statuses below 500 that may be others a moment later."""


class Disconnected(ConnectionError):
    """No answer can come: the server is gone, or the way to it is; `final` says that it will not come back."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class HttpError(Disconnected):
    """The server answered with a status that is an error, and with no message that says why.

    `headers` are those of the answer, by names in any letter case: `Retry-After` and the like.
    """

    def __init__(self, status: int, reason: str, headers: Mapping[str, str]) -> None:
        super().__init__(
            f"the server answered {status}{f': {reason}' if reason else ''}",
            final=300 <= status < 500 and status not in PASSING,
        )
        self.status = status
        self.headers = headers


class Forgotten(Disconnected):
    """The server does not know the session any more; a new one has to be begun."""


class Outgoing(NamedTuple):
    """One request on its way: its message, and what of it a transport repeats where others can read it.

    `parameters` are the arguments of a tool that have a header.
    """

    identity: Id
    method: str
    version: str
    params: WireModel | None
    message: bytes
    parameters: Parameters


Receive: TypeAlias = Callable[[bytes, Id | None], bool]
"""Takes a message of the server, and the id of the request on whose own stream it came, if it has one.

Says whether it was the answer to that request.
"""

Lost: TypeAlias = Callable[[Disconnected], None]
"""Is told that no answer to what was sent can come any more; after a final loss, that none can come to anything."""


class Transport(Protocol):
    """Carries messages to a server and back.

    `streams` says that each request has a stream of its own: what comes on it belongs to that request, and to
    close it is to cancel the request. `mirrors` says that parts of a request are repeated in headers.
    """

    @property
    def streams(self) -> bool: ...

    @property
    def mirrors(self) -> bool: ...

    async def open(self, receive: Receive, lost: Lost) -> None:
        """Begin: `receive` gets each message from the server, `lost` is told when no more can come."""
        ...

    def carry(self, request: Outgoing) -> Awaitable[None]:
        """Take one request to the server; where it has a stream of its own, return when its answer has come.

        Raises Disconnected when no answer can come.
        """
        ...

    async def notify(self, method: str, message: bytes) -> None:
        """Take one notification to the server; raises Disconnected when it cannot get it."""
        ...

    async def close(self) -> None:
        """End, and free what the transport holds."""
        ...


@runtime_checkable
class Handshakes(Protocol):
    """What a transport has to do for servers of the handshake era, beside carrying messages.

    `hears` says that a server can tell something that belongs to no request.
    """

    @property
    def hears(self) -> bool: ...

    async def begin(self, unheard: Callable[[Disconnected], None]) -> None:
        """Be ready for a handshake, without what was agreed upon before; raises Disconnected.

        `unheard` is to be told when something may have been said that was not heard.
        """
        ...

    def agreed(self, version: str) -> None:
        """Know the version that was agreed upon."""
        ...

    async def hear(self) -> None:
        """Hear from now on what the server says unasked, if it can."""
        ...

    def abandon(self) -> None:
        """Know that there is no handshake after all."""
        ...
