"""Pages: the cursors of one list, from the first page to the last.

A cursor is opaque, and an empty one is a cursor as any other; only its absence ends the list
(server/utilities/pagination).
"""

from __future__ import annotations

from typing import Final

from ..errors import InvalidRequest

MAX_PAGES: Final = 10_000
"""The pages of the longest list that is followed; one that has more has no end."""


class Cursors:
    """Where a list is being read: `next` leads to the page to ask for while there is `more`."""

    def __init__(self, method: str) -> None:
        """Begin at the first page of the list of a method."""
        self.next: str | None = None
        self.more = True
        self._method = method
        self._seen: set[str] = set()

    def follow(self, cursor: str | None) -> None:
        """Take the cursor that came with a page; raises InvalidRequest where it leads round in a circle."""
        self.next, self.more = cursor, cursor is not None
        if cursor is None:
            return
        if cursor in self._seen:
            raise InvalidRequest(f"The server answered {self._method} with the cursor {cursor!r} twice")
        self._seen.add(cursor)
        if len(self._seen) >= MAX_PAGES:
            raise InvalidRequest(f"The server answered {self._method} with {MAX_PAGES} pages and no end")
