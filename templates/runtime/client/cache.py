"""Cache: results that a server allows to be kept, for as long as it allows, until it says that they have changed.

Each is kept by its method and params (server/utilities/caching): what is `public` for whoever asks, all else
for the client that asked. Never kept are results that ask for input, and those of repeated calls.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from ..jsonrpc import Notification, RequestMethod
from ..latest import methods, types
from ..outcomes import read_result_json
from ..wire import WireModel

R = TypeVar("R")

MAX_ENTRIES: Final = 1000
"""How many results are kept; the one that was not asked for the longest goes first."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""How many bytes they have together, as they travel."""

LONGEST_MS: Final = 7 * 24 * 3600 * 1000
"""The longest time, in milliseconds, for which a result is kept, whatever the server says."""

STALE: Final = {
    methods.TOOL_LIST_CHANGED_NOTIFICATION.name: (methods.LIST_TOOLS.name,),
    methods.PROMPT_LIST_CHANGED_NOTIFICATION.name: (methods.LIST_PROMPTS.name,),
    methods.RESOURCE_LIST_CHANGED_NOTIFICATION.name: (
        methods.LIST_RESOURCES.name,
        methods.LIST_RESOURCE_TEMPLATES.name,
    ),
}
"""The lists that a notification says have changed."""

Key: TypeAlias = tuple[str, str, object]
"""A method, its params as JSON text without metadata, and who asks (None: anyone)."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A result as it travels, the time until which it is good, and the resource that it is, if it is one."""

    data: bytes
    until: float
    uri: str | None


class Cache:
    """The results that clients of one server keep, in any thread; one client has one of its own unless told otherwise."""

    def __init__(
        self,
        *,
        entries: int = MAX_ENTRIES,
        size: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep at most so many entries, of `size` bytes together; `clock` gives seconds."""
        self._limit = entries
        self._size_limit = size
        self._clock = clock
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._size = 0
        self._changes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def mark(self) -> int:
        """The moment before a request, for `put`."""
        return self._changes

    def get(self, method: RequestMethod[Any, R], params: WireModel, who: object) -> R | None:
        """A copy of the result that was kept for a request, while it is fresh."""
        with self._lock:
            for key in _keys(method, params, who):
                entry = self._entries.get(key)
                if entry is not None and self._clock() < entry.until:
                    self._entries.move_to_end(key)
                    return read_result_json(method, entry.data)
        return None

    def put(
        self, method: RequestMethod[Any, Any], params: WireModel, who: object, result: WireModel, mark: int
    ) -> None:
        """Keep a result if it may be kept, unless something has changed since `mark`: it may tell of before."""
        ttl = min(getattr(result, "ttl_ms", 0), LONGEST_MS)
        interim = isinstance(result, types.InputRequiredResult)
        if not method.cacheable or interim or ttl <= 0:
            return
        shared, own = _keys(method, params, who)
        public = getattr(result, "cache_scope", None) == "public"
        entry = _Entry(result.wire_bytes(), self._clock() + ttl / 1000, getattr(params, "uri", None))
        with self._lock:
            if mark == self._changes:
                self._drop([shared, own])
                self._entries[shared if public else own] = entry
                self._size += len(entry.data)
                while len(self._entries) > self._limit or self._size > self._size_limit:
                    self._drop([next(iter(self._entries))])

    def heard(self, notification: Notification) -> None:
        """Forget what a notification says has changed."""
        if notification.method in STALE:
            self.forget(*STALE[notification.method])
        elif notification.method == methods.RESOURCE_UPDATED_NOTIFICATION.name:
            uri = (notification.params or {}).get("uri")
            if isinstance(uri, str):
                # What has changed may be a part of what was read.
                self._forget(lambda _, entry: entry.uri is not None and uri.startswith(entry.uri))

    def forget(self, *names: str) -> None:
        """Forget all results of some methods."""
        self._forget(lambda key, _: key[0] in names)

    def clear(self) -> None:
        """Forget everything."""
        self._forget(lambda _, __: True)

    def _forget(self, stale: Callable[[Key, _Entry], bool]) -> None:
        with self._lock:
            self._changes += 1
            self._drop([key for key, entry in self._entries.items() if stale(key, entry)])

    def _drop(self, keys: Sequence[Key]) -> None:
        for key in keys:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._size -= len(entry.data)


def _keys(method: RequestMethod[Any, Any], params: WireModel, who: object) -> tuple[Key, Key]:
    """Where the result of a request is kept for anyone, and where for one."""
    text = params.model_dump_json(exclude={"meta"})
    return (method.name, text, None), (method.name, text, who)
