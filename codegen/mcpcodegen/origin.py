"""Where the specification publishes its schemas: a checkout of it, a folder of its files, or an address."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .errors import RevisionError
from .load import load
from .ir import Document
from .pinning import DATE
from .resources import find_schema, is_url

DRAFT = "draft"
FILE = "schema.json"


@dataclass(frozen=True)
class Origin:
    """A place with a folder for each revision, named by its date, and one for the draft.

    `known` are the revisions that are asked for where folders cannot be listed, as is so at an address.
    """

    place: str
    known: tuple[str, ...]

    @property
    def listed(self) -> bool:
        """Whether every revision that is there is seen, and not just those that are known."""
        return not is_url(self.place)

    @cached_property
    def published(self) -> dict[str, bytes]:
        """The bytes of each released revision that is there, the oldest first."""
        found = {name: self.read(name) for name in sorted(self._names())}
        return {name: data for name, data in found.items() if data is not None}

    @cached_property
    def releases(self) -> dict[str, Document]:
        """The same, read as schemas."""
        return {name: load(data, source=self.address(name)) for name, data in self.published.items()}

    @cached_property
    def draft(self) -> Document | None:
        """The draft as it stands; None when there is none."""
        data = self.read(DRAFT)
        return None if data is None else load(data, source=self.address(DRAFT))

    def read(self, name: str) -> bytes | None:
        """The schema file of a revision or of the draft; None when there is none."""
        return find_schema(self.address(name))

    def address(self, name: str) -> str:
        """Where that file is, as a user would name it."""
        return f"{self.place}/{name}/{FILE}"

    def _names(self) -> Iterable[str]:
        if not self.listed:
            return self.known
        try:
            return [name for name in os.listdir(self.place) if DATE.fullmatch(name)]
        except OSError as error:
            raise RevisionError(
                f"cannot be listed ({error.strerror})", remedy="pass a folder to read", source=self.place
            ) from None


def origin(source: str, known: Iterable[str]) -> Origin:
    """The place that `source` names: its folder `schema`, as in the specification's repository, or itself.

    Raises RevisionError when neither has a revision, of those `known` where folders cannot be listed.
    """
    base, names = source.rstrip("/") or source, tuple(known)
    for place in (f"{base}/schema", base):
        found = Origin(place, names)
        if (is_url(base) or os.path.isdir(place)) and found.published:
            return found
    raise RevisionError(
        f"no revision of the protocol is here: no schema/DATE/{FILE} and no DATE/{FILE}",
        remedy="pass a checkout of the specification, or the address of its raw files",
        source=source,
    )
