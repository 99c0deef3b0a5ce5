"""Three texts to one, line by line: what the author changed and what the generator changed, both kept.

Where they changed the same lines the author's stand first, between markers that every editor knows. Nothing of the
author's goes, except what the generator changed and the author had left as it was. The library that does this,
merge3, is under the GPL, and the command `git` need not be there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import StringIO
from os.path import commonprefix

YOURS = "<<<<<<< yours"
MIDDLE = "======="
MARKERS = re.compile(r"^(<{7} .*|={7}|>{7} .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Merged:
    """One text of two, and how many places of it are left to a person."""

    text: str
    conflicts: int


@dataclass(frozen=True)
class _Chunk:
    """The lines between two places where all three texts agree; `agreed` are those of the second place."""

    base: list[str]
    yours: list[str]
    theirs: list[str]
    agreed: list[str]


def merged(base: str, yours: str, theirs: str, label: str) -> Merged:
    """What `yours` and `theirs` make of `base` together; `label` names their side of a conflict."""
    return _merged(base, yours, theirs, label, _settled)


def side_by_side(yours: str, theirs: str, label: str) -> Merged:
    """Two texts whose base is not known: whatever `theirs` has and `yours` has not is a conflict."""
    ours, others = _lines(yours), _lines(theirs)
    common = [line for start, _, size in _runs(ours, others) for line in ours[start : start + size]]
    return _merged("".join(common), yours, theirs, label, lambda chunk: None if chunk.theirs else chunk.yours)


def _merged(
    base: str, yours: str, theirs: str, label: str, settled: Callable[[_Chunk], list[str] | None]
) -> Merged:
    lines: list[str] = []
    conflicts = 0
    for chunk in _chunks(*(_lines(text) for text in (base, yours, theirs))):
        outcome = settled(chunk)
        conflicts += outcome is None
        lines += _conflict(chunk, label) if outcome is None else outcome
        lines += chunk.agreed
    return Merged("".join(lines), conflicts)


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, of which there is one kind: a form feed or its like begins none."""
    return list(StringIO(text, newline="\n"))


def _settled(chunk: _Chunk) -> list[str] | None:
    """The lines that a chunk comes to; None where a person has to say."""
    if chunk.yours in (chunk.base, chunk.theirs):
        return chunk.theirs
    return chunk.yours if chunk.theirs == chunk.base else None


def _conflict(chunk: _Chunk, label: str) -> list[str]:
    """Both sides between markers; what they begin and end with alike stands outside."""
    first = len(commonprefix([chunk.yours, chunk.theirs]))
    yours, theirs = chunk.yours[first:], chunk.theirs[first:]
    last = len(commonprefix([yours[::-1], theirs[::-1]]))
    head, tail = chunk.yours[:first], yours[len(yours) - last :]
    mine, other = yours[: len(yours) - last], theirs[: len(theirs) - last]
    return [
        *head,
        f"{YOURS}\n",
        *_ended(mine),
        f"{MIDDLE}\n",
        *_ended(other),
        f">>>>>>> {label}\n",
        *tail,
    ]


def _ended(lines: list[str]) -> list[str]:
    """The lines, the last of them ended: a marker begins a line."""
    return [*lines[:-1], lines[-1] if lines[-1].endswith("\n") else f"{lines[-1]}\n"] if lines else []


def _chunks(base: Sequence[str], yours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Chunk]:
    at = (0, 0, 0)
    for start, ours, others, size in [*_agreed(base, yours, theirs), (len(base), len(yours), len(theirs), 0)]:
        yield _Chunk(
            list(base[at[0] : start]),
            list(yours[at[1] : ours]),
            list(theirs[at[2] : others]),
            list(base[start : start + size]),
        )
        at = (start + size, ours + size, others + size)


def _agreed(
    base: Sequence[str], yours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """The runs of lines that stand in all three: where in each, and how many lines, in order."""
    in_yours, in_theirs = _runs(base, yours), _runs(base, theirs)
    while in_yours and in_theirs:
        (start, ours, size), (begin, others, length) = in_yours[0], in_theirs[0]
        first, last = max(start, begin), min(start + size, begin + length)
        if first < last:
            yield first, ours + first - start, others + first - begin, last - first
        if start + size <= begin + length:
            in_yours.pop(0)
        if begin + length <= start + size:
            in_theirs.pop(0)


def _runs(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, base, other, autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]
