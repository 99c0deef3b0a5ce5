"""The eras that a server of this package answers: 2026-07-28, and the handshake era before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..latest import types
from .dispatch import Dispatcher
from .legacy import Conversation, Session
from .streams import Bus

if TYPE_CHECKING:
    from .callers import Principal
    from .legacy.endpoint import Handshakes

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

    dispatcher = (
        connect()
    )  # One for all: it is asked for replies alone, and those know nothing of each other.
    limits = Limits(sessions, seconds, stateless)
    return Handshakes(lambda push: Session(dispatcher, info, bus, push), limits, keep_alive, principal)
