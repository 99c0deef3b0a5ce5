"""News: changes that a session of the handshake era is told unasked: lists, and the resources it subscribed to. No I/O.

Where 2026-07-28 has a stream for each subscription, here all goes the one way that the session has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ...latest import methods, types
from ...wire import WireModel
from ..streams import Bus, Change, Kind, Stream

LISTS: Final[Mapping[Kind, str]] = {
    "tools": methods.TOOL_LIST_CHANGED_NOTIFICATION.name,
    "prompts": methods.PROMPT_LIST_CHANGED_NOTIFICATION.name,
    "resources": methods.RESOURCE_LIST_CHANGED_NOTIFICATION.name,
}
"""The notification of each list."""

Tell: TypeAlias = Callable[[str, WireModel | None], None]
"""Sends one notification; must not wait."""

Push: TypeAlias = Callable[[bytes], None]
"""Sends a message that belongs to no request; must not wait."""


class News:
    """What one session is told."""

    def __init__(self, bus: Bus, tell: Tell) -> None:
        self._bus = bus
        self._tell = tell
        self._task: asyncio.Task[None] | None = None
        self._lists: frozenset[Kind] = frozenset()
        self.uris: set[str] = set()
        """The resources that are subscribed to."""

    def open(self, announced: Mapping[str, Any]) -> None:
        """Begin, with the lists that the server announces to change."""
        capabilities: Mapping[str, Any] = announced["capabilities"]
        self._lists = frozenset(kind for kind in LISTS if capabilities.get(kind, {}).get("listChanged"))
        stream = Stream(self._wanted)
        self._unsubscribe = self._bus.subscribe(stream.put)
        self._task = asyncio.get_running_loop().create_task(self._run(stream))

    def close(self) -> None:
        """Tell nothing more."""
        if self._task is not None:
            self._unsubscribe()
            self._task.cancel()

    def _wanted(self, change: Change) -> bool:
        return change.kind in self._lists if change.uri is None else change.uri in self.uris

    async def _run(self, stream: Stream) -> None:
        async for change in stream.changes():
            if change.uri is None:
                self._tell(LISTS[change.kind], None)
            else:
                self._tell(
                    methods.RESOURCE_UPDATED_NOTIFICATION.name,
                    types.ResourceUpdatedNotificationParams(uri=change.uri),
                )
