"""News: changes that a session of the handshake era is told unasked: lists, and the resources it subscribed to. No I/O.

Where 2026-07-28 has a stream for each subscription, here all goes the one way that the session has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from ...jsonrpc import write_notification
from ...latest import methods, types
from ..streams import Change, Kind
from .relay import Relay

LISTS: Final[Mapping[Kind, str]] = {
    "tools": methods.TOOL_LIST_CHANGED_NOTIFICATION.name,
    "prompts": methods.PROMPT_LIST_CHANGED_NOTIFICATION.name,
    "resources": methods.RESOURCE_LIST_CHANGED_NOTIFICATION.name,
}
"""The notification of each list."""

Push: TypeAlias = Callable[[bytes], None]
"""Sends a message that belongs to no request; must not wait."""


class News:
    """What one session is told."""

    def __init__(self, relay: Relay, push: Push) -> None:
        self._relay = relay
        self._push = push
        self._leave: Callable[[], None] | None = None
        self._lists: frozenset[Kind] = frozenset()
        self.uris: set[str] = set()
        """The resources that are subscribed to."""

    def open(self, announced: Mapping[str, Any]) -> None:
        """Begin, with the lists that the server announces to change."""
        capabilities: Mapping[str, Any] = announced["capabilities"]
        self._lists = frozenset(kind for kind in LISTS if capabilities.get(kind, {}).get("listChanged"))
        self._leave = self._relay.subscribe(self._hear)

    def close(self) -> None:
        """Tell nothing more."""
        if self._leave is not None:
            self._leave()

    def _hear(self, change: Change) -> None:
        if change.kind in self._lists if change.uri is None else change.uri in self.uris:
            self._push(said(change))


@lru_cache(maxsize=16)
def said(change: Change) -> bytes:
    """The notification of a change, which is the same for all sessions."""
    if change.uri is None:
        return write_notification(LISTS[change.kind], None)
    updated = types.ResourceUpdatedNotificationParams(uri=change.uri)
    return write_notification(methods.RESOURCE_UPDATED_NOTIFICATION.name, updated)
