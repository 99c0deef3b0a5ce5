"""The eras that a server of this package answers: 2026-07-28, and the handshake era before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..latest import types
from .dispatch import Dispatcher
from .legacy import Conversation
from .streams import Bus

if TYPE_CHECKING:
    from .callers import Principal
    from .legacy.endpoint import Handshakes
    from .legacy.news import Push
    from .legacy.session import Session

__all__ = ["Conversation", "handshakes"]


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
) -> Handshakes:
    """The handshake era over HTTP, with so many sessions that are idle for so many seconds, or none."""
    # A server over stdio never needs it.
    from .legacy.endpoint import Handshakes, Limits
    from .legacy.relay import Relay

    # One for all: it is asked for replies alone, and those know nothing of each other.
    dispatcher = connect()
    relay = Relay(bus)

    def begin(push: Push | None) -> Session:
        # With the types of its era, which take long to import.
        from .legacy.session import Session

        return Session(dispatcher, info, relay, push)

    return Handshakes(begin, Limits(sessions, seconds, stateless), keep_alive, principal)
