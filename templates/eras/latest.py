"""The eras that a server of this package answers: 2026-07-28 alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..latest import types
from .dispatch import Dispatcher, Send
from .streams import Bus

if TYPE_CHECKING:
    from .callers import Principal
    from .http import Past


class Conversation:
    """What one client over a pipe says, and what it gets."""

    def __init__(
        self, dispatcher: Dispatcher, info: types.Implementation, bus: Bus, push: Callable[[bytes], None]
    ) -> None:
        """Answer by `dispatcher`, which needs nothing else: in this era nothing is sent unasked."""
        self._dispatcher = dispatcher

    def close(self) -> None:
        """End what would never end by itself."""
        self._dispatcher.close()

    async def handle(self, data: bytes, send: Send) -> bytes | None:
        """Take one message and return its answer, or None when it gets none; run in a task of its own."""
        return await self._dispatcher.handle(data, send)


def handshakes(
    connect: Callable[[], Dispatcher],
    info: types.Implementation,
    bus: Bus,
    *,
    keep_alive: float,
    principal: Principal,
    sessions: int,
    seconds: float,
    stateless: bool,
) -> Past | None:
    """There is no handshake in this era."""
    return None
