"""Listing: what is registered, in a stable order, and the pages in which clients get it.

A cursor says after which entry the next page begins, by a number that no other entry ever has. It stays good
when entries come and go; one that was never given out is refused (server/utilities/pagination).
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from ..errors import InvalidParams

T = TypeVar("T")

CURSOR: Final = re.compile(r"([a-z/]+)#([0-9]{1,18})", re.ASCII)
"""What a cursor decodes to: the method whose it is, and the number of the last entry."""


@dataclass(frozen=True, slots=True)
class Cache:
    """How long a result stays fresh, in milliseconds, and whether other users may be given it.

    A list or resource that depends on who asks must stay `private`: what is public leaves the hands of the
    server (server/utilities/caching).
    """

    ttl_ms: int = 0
    scope: Literal["public", "private"] = "private"

    def __post_init__(self) -> None:
        # What a type checker would have said: clients refuse such a hint, and the whole result with it.
        if type(self.ttl_ms) is not int:
            raise TypeError(f"ttl_ms must be a whole number of milliseconds, not {self.ttl_ms!r}")
        if self.ttl_ms < 0:
            raise ValueError("ttl_ms must not be negative")
        if self.scope not in ("public", "private"):
            raise ValueError(f"the scope of a cache must be 'public' or 'private', not {self.scope!r}")

    @property
    def hints(self) -> dict[str, Any]:
        """The members of a result that say so."""
        return {"ttl_ms": self.ttl_ms, "cache_scope": self.scope}


@dataclass(frozen=True, slots=True)
class Shelf:
    """How a server shows its lists: the entries of a page (None: all), and the hints of each by its method."""

    page_size: int | None
    cache: Mapping[str, Cache]

    def __post_init__(self) -> None:
        if self.page_size is not None and self.page_size < 1:
            raise ValueError("page_size must be 1 or more")

    def of(self, method: str) -> Cache:
        """The hints of one list."""
        return self.cache.get(method, Cache())


class Listing(Generic[T]):
    """The entries of one list, by name, in the order in which they were registered."""

    def __init__(self, kind: str, method: str, shelf: Shelf) -> None:
        """A list of `kind`, which clients get by `method`; it is read and changed in any thread."""
        self._kind = kind
        self._method = method
        self._shelf = shelf
        self._entries: dict[str, tuple[int, T]] = {}
        self._last = 0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Whether there ever was an entry: a list that has become empty is still a list."""
        return self._last > 0

    def __iter__(self) -> Iterator[T]:
        return iter([entry for _, entry in self._shown()])

    def get(self, name: str) -> T | None:
        """The entry under a name."""
        _, entry = self._entries.get(name, (0, None))
        return entry

    def add(self, name: str, entry: T) -> None:
        """Put an entry at the end; raises ValueError when the name is taken."""
        with self._lock:
            if name in self._entries:
                raise ValueError(f"{self._kind} {name!r} is registered already")
            self._last += 1
            self._entries[name] = (self._last, entry)

    def remove(self, name: str) -> None:
        """Take an entry out; raises KeyError when there is none."""
        with self._lock:
            if name not in self._entries:
                raise KeyError(f"{self._kind} {name!r} is not registered")
            del self._entries[name]

    def page(self, cursor: str | None) -> tuple[list[T], dict[str, Any]]:
        """The entries of a page, and the members that its result has beside them; raises InvalidParams."""
        after = 0 if cursor is None else self._number(cursor)
        following = [entry for entry in self._shown() if entry[0] > after]
        shown = following[: self._shelf.page_size]
        members = {**self._shelf.of(self._method).hints, "result_type": "complete"}
        if len(shown) < len(following):
            members["next_cursor"] = self._cursor(shown[-1][0])
        return [entry for _, entry in shown], members

    def _shown(self) -> list[tuple[int, T]]:
        """The entries as they are at one moment."""
        with self._lock:
            return [*self._entries.values()]

    def _cursor(self, number: int) -> str:
        return base64.urlsafe_b64encode(f"{self._method}#{number}".encode()).decode("ascii")

    def _number(self, cursor: str) -> int:
        try:
            found = CURSOR.fullmatch(base64.urlsafe_b64decode(cursor).decode())
        except ValueError:
            found = None
        number = int(found[2]) if found and found[1] == self._method else 0
        if not 0 < number <= self._last or self._cursor(number) != cursor:
            raise InvalidParams(f"Unknown cursor: {cursor!r}")
        return number
