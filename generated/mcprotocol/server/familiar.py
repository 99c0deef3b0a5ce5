"""Familiar requests: clients repeat themselves, so what was found in order is known again by its headers.

Where clients send in more ways than are kept here, or at greater length, the others are judged each time.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ..headers import Mirrored

Looks: TypeAlias = tuple[bytes | None, ...]
"""The values of all headers that a request is judged by, each of which came once or not at all."""

MOST: Final = 64
LONGEST: Final = 1024


class Familiar:
    """The looks of requests that were let in, each with what its body said in agreement with its headers."""

    def __init__(self) -> None:
        self._known: dict[Looks, Mirrored] = {}

    def get(self, looks: Looks) -> Mirrored | None:
        """What the body of a request that looks so has to say, or None when none was let in yet."""
        return self._known.get(looks)

    def add(self, looks: Looks, said: Mirrored) -> None:
        """Know it from now on; a name that is no text is none that headers could have."""
        named = isinstance(said[2], str | None)
        if named and len(self._known) < MOST and len(repr((looks, said))) <= LONGEST:
            self._known[looks] = said
