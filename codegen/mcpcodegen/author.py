"""The author's files and what they are made from: each is brought along by a three-way merge, wherever it lies now.

The base of a merge is made again from the recipe and is right when its digest is the recorded one. Where an older
generator wrote something else than this one does, the project has kept it. Where it has not, a file that was never
touched is replaced, and any other is laid beside the new one, as a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from .ir import Bundle
from .merge import Merged, merged, side_by_side
from .sync import hashes

Fate: TypeAlias = Literal["new", "renewed", "merged", "conflict", "untouched", "deleted", "dropped", "opaque"]

ALIKE = 0.5
"""How alike the lines of two files must be, of 1, for one to be the other under a new name."""

KEPT = 0.7
"""How many of the lines of a file must be in a larger one, of 1, for that to be what it has grown to."""


@dataclass(frozen=True)
class Brought:
    """What became of one file: `path` is where it lies, `was` where it was written when that is elsewhere.

    `new` was not there before, `renewed` was as it had been written; `deleted` is gone and stays so; `dropped` is no
    longer written, and stays as well; `opaque` is no text that could be merged, or a folder, and stays without what
    is new. `text` is what it holds from now on; None where nothing is written.
    """

    path: str
    fate: Fate
    text: str | None = None
    conflicts: int = 0
    was: str = ""


@dataclass(frozen=True)
class Written:
    """What the author's files were made as: digests of all, texts made again and texts kept, and where some lie now."""

    digests: Mapping[str, str]
    again: Bundle
    kept: Bundle
    moved: Mapping[str, str]

    def base(self, path: str) -> str | None:
        """What a file began as, where that is known for certain."""
        texts = [side[path] for side in (self.again, self.kept) if path in side]
        known = [text for text in texts if hashes({path: text})[path] == self.digests.get(path)]
        return known[0] if known else None


def bring(
    written: Written, yours: Bundle, theirs: Bundle, label: str, opaque: frozenset[str] = frozenset()
) -> list[Brought]:
    """What becomes of each file that was or would be written; `yours` are all text files of the project.

    `opaque` are the places where something else stands.
    """
    moved = _moved(written, yours, theirs, opaque)
    paths = sorted({*written.digests, *theirs})
    return [
        (
            _standing(path, written, theirs.get(path))
            if path in opaque
            else _one(path, moved.get(path, path), written, yours, theirs.get(path), label)
        )
        for path in paths
    ]


def _standing(path: str, written: Written, theirs: str | None) -> Brought:
    """What becomes of something that is no text: it stays, and is named when something new is not written for it."""
    known = theirs is None or hashes({path: theirs})[path] == written.digests.get(path)
    return Brought(path, "untouched" if known else "opaque")


def _one(path: str, place: str, written: Written, yours: Bundle, theirs: str | None, label: str) -> Brought:
    was = path if place != path else ""
    mine = yours.get(place)
    if theirs is None:
        return Brought(place, "dropped" if mine is not None else "untouched", was=was)
    if mine is None:
        return Brought(path, *_missing(path, theirs, written))
    outcome = _merged(path, place, mine, theirs, written, label)
    if outcome.text == mine:
        return Brought(place, "untouched", was=was)
    fate: Fate = "conflict" if outcome.conflicts else "merged" if outcome.text != theirs else "renewed"
    return Brought(place, fate, outcome.text, outcome.conflicts, was)


def _missing(path: str, theirs: str, written: Written) -> tuple[Fate, str | None]:
    """What becomes of a file that is not there: one that the author removed does not come back."""
    if path not in written.digests:
        return "new", theirs
    return "untouched" if hashes({path: theirs})[path] == written.digests[path] else "deleted", None


def _merged(path: str, place: str, mine: str, theirs: str, written: Written, label: str) -> Merged:
    base = written.base(path)
    if base is not None:
        return merged(base, mine, theirs, label)
    if hashes({path: mine})[path] == written.digests.get(path):
        return Merged(theirs, 0)
    return side_by_side(mine, theirs, label)


def _moved(written: Written, yours: Bundle, theirs: Bundle, opaque: frozenset[str]) -> dict[str, str]:
    """Where each file that is no longer where it was written lies now, as its lines tell."""
    missing = [path for path in written.digests if path not in yours and path not in opaque]
    free = [path for path in yours if path not in written.digests and path not in theirs]
    pairs = sorted(
        (
            (_alike(text, yours[place]), path, place)
            for path in missing
            if (text := written.base(path) or theirs.get(path))
            for place in free
            if PurePosixPath(place).suffix == PurePosixPath(path).suffix
        ),
        reverse=True,
    )
    moved = {path: place for path, place in written.moved.items() if path in missing and place in free}
    for alike, path, place in pairs:
        if alike and path not in moved and place not in moved.values():
            moved[path] = place
    return moved


def _alike(one: str, other: str) -> float:
    """How alike two files are; less than any that are alike when one has only grown to the other, 0 for no kin."""
    lines = one.splitlines()
    matcher = SequenceMatcher(None, lines, other.splitlines(), autojunk=False)
    if matcher.ratio() >= ALIKE:
        return matcher.ratio()
    blocks = matcher.get_matching_blocks()
    kept = sum(bool(line.strip()) for block in blocks for line in lines[block.a : block.a + block.size])
    share = kept / max(1, sum(bool(line.strip()) for line in lines))
    return share * ALIKE if share >= KEPT else 0.0


def changed(brought: Iterable[Brought]) -> dict[str, str]:
    """The files to write, by path."""
    return {one.path: one.text for one in brought if one.text is not None}
