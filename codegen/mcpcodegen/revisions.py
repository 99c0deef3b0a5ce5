"""The revisions as data: pins, corrections and words, read from (and for pins written to) the schema folder.

Rows live in TOML and are read here only. A pin says which bytes a revision is; a correction says what a
published file gets wrong, and is asserted against the file each time it is used.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import RevisionError
from .ir import ABSENT, Json, is_object
from .resources import folder


@dataclass(frozen=True)
class Pin:
    """One known revision: where it was published and what its bytes and its facts hash to."""

    revision: str
    path: str
    commit: str
    sha256: str
    facts_sha256: str
    definitions: int


@dataclass(frozen=True)
class Correction:
    """One known defect: at `pointer` (into `#/$defs/...`) the files of `revisions` say `was` and mean `now`."""

    revisions: tuple[str, ...]
    pointer: str
    was: Json
    now: Json
    reason: str
    evidence: str


def pins(schema_folder: Path | None = None) -> tuple[Pin, ...]:
    """Every known revision, the oldest first."""
    rows = _rows(schema_folder, "revisions.toml").get("revision", [])
    try:
        return tuple(sorted((Pin(**row) for row in rows), key=lambda pin: pin.revision))
    except TypeError as error:
        raise _malformed("revisions.toml", error) from None


def find(revision: str, schema_folder: Path | None = None, *, otherwise: str = "") -> Pin:
    """The pin of a revision (`latest` is the newest); raises RevisionError with the nearest known name.

    `otherwise` is what the one who asks can do instead of naming a known revision.
    """
    known = {pin.revision: pin for pin in pins(schema_folder)}
    if revision == "latest" and known:
        return known[max(known)]
    if revision not in known:
        near = nearest(revision, known)
        meant = f"did you mean {near}? " if near else ""
        remedy = f"{meant}known: {', '.join(known) or 'none'}"
        raise RevisionError(
            f"unknown revision {revision!r}", remedy=f"{remedy}; or {otherwise}" if otherwise else remedy
        )
    return known[revision]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like `name`; empty when none is known."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)), "")


def facts_file(pin: Pin, schema_folder: Path | None = None) -> Path:
    """The file that holds the facts of a pinned revision."""
    return (schema_folder or folder("schema")) / f"{pin.revision}.json"


def kept_sums(pin: Pin, schema_folder: Path | None = None) -> Mapping[str, str] | None:
    """A hash of each definition of a pinned revision as it was published, prose and all; None when none is kept."""
    file = (schema_folder or folder("schema")) / sums_name(pin.revision)
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise RevisionError(
            f"not JSON ({error})", remedy="restore the file, or pin the revision anew", source=str(file)
        ) from None
    if not is_object(found):
        raise RevisionError(
            "not an object", remedy="restore the file, or pin the revision anew", source=str(file)
        )
    return found


def sums_name(revision: str) -> str:
    """The file that holds the hashes of a revision, in the schema folder."""
    return f"{revision}.sums.json"


def corrections(schema_folder: Path | None = None) -> tuple[Correction, ...]:
    """Every row of the corrections table, in its order."""
    rows = _rows(schema_folder, "corrections.toml").get("correction", [])
    try:
        return tuple(map(_correction, rows))
    except (KeyError, TypeError, ValueError) as error:
        raise _malformed("corrections.toml", error) from None


def _correction(row: Mapping[str, Json]) -> Correction:
    return Correction(
        revisions=tuple(row["revisions"]),
        pointer=row["pointer"],
        was=json.loads(row["was"]) if "was" in row else ABSENT,
        now=json.loads(row["now"]),
        reason=row["reason"],
        evidence=row["evidence"],
    )


@dataclass(frozen=True)
class Deprecation:
    """Something that new code should leave alone: since which revision, and what to use instead."""

    since: str
    instead: str


@dataclass(frozen=True)
class Words:
    """Our own documentation of one revision: a sentence for each definition and member.

    `definitions` goes by definition, `members` by definition and wire name (`Tool.inputSchema`), `anywhere` by
    wire name for members that mean the same wherever they stand. `deprecated` has both kinds of key.
    """

    definitions: Mapping[str, str]
    members: Mapping[str, str]
    anywhere: Mapping[str, str]
    deprecated: Mapping[str, Deprecation]

    def definition(self, name: str) -> str:
        """The words for a definition; empty when there are none."""
        return self.definitions.get(name, "")

    def member(self, name: str, wire: str) -> str:
        """The words for a member of a definition; empty when there are none."""
        return self.members.get(f"{name}.{wire}") or self.anywhere.get(wire, "")


NO_WORDS = Words({}, {}, {}, {})


def words(revision: str, schema_folder: Path | None = None) -> Words:
    """What `words.toml` says of a revision; an unreleased schema is documented as the newest one is."""
    rows = _rows(schema_folder, "words.toml")
    try:
        return _words(revision, rows)
    except (AttributeError, TypeError) as error:
        raise _malformed("words.toml", error) from None


def _words(revision: str, rows: Mapping[str, Json]) -> Words:
    own = rows.get("revision", {}).get(revision, {})
    every = {key: Deprecation(**row) for key, row in rows.get("deprecated", {}).items()}
    return Words(
        definitions={**rows.get("definitions", {}), **own.get("definitions", {})},
        members={**rows.get("members", {}), **own.get("members", {})},
        anywhere={**rows.get("anywhere", {}), **own.get("anywhere", {})},
        deprecated={key: row for key, row in every.items() if not revision or row.since <= revision},
    )


def pins_text(rows: tuple[Pin, ...]) -> str:
    """The text of revisions.toml for these pins."""
    head = "# One row a revision: the published file (path and commit in the specification's repository), the SHA-256 of its\n"
    head += "# bytes, the SHA-256 of its canonical facts, and how many definitions it has. Written by `mcp-codegen schema add`.\n"
    return head + "".join(_pin_text(pin) for pin in sorted(rows, key=lambda pin: pin.revision))


def _pin_text(pin: Pin) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in vars(pin).items()]
    return "\n[[revision]]\n" + "\n".join(lines) + "\n"


def _malformed(name: str, error: Exception) -> RevisionError:
    found = f"no {error}" if isinstance(error, KeyError) else error
    return RevisionError(f"a row is not as it should be ({found})", remedy="mend the file", source=name)


def _rows(schema_folder: Path | None, name: str) -> dict[str, Json]:
    path = (schema_folder or folder("schema")) / name
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RevisionError(f"not TOML ({error})", remedy="mend the file", source=str(path)) from None
