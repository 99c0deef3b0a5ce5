"""Text to JSON values, each with its lines: one document, a document a line, or documents one after the other.

What is no JSON costs its own lines alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .decode import DECODER
from .ir import Json
from .places import Place, place

BLANK = " \t\r\n"
"""What JSON takes for white space."""


WINDOW = 4096
"""How much text is tried first for a value of several lines."""

PATIENCE = 20
"""How many times the whole text may be looked at in vain for values of several lines, before only lines count."""

LONGEST_TOKEN = 16
"""So near to the end of a cut text, what is no JSON may only have been cut (`-Infinity`)."""


@dataclass(frozen=True)
class Unreadable:
    """Lines that hold no JSON; `line` counts from 1 and is the one on which reading failed."""

    line: int
    found: str
    expected: str


@dataclass(frozen=True)
class Value:
    """One JSON value: where in the text it stands, the line on which it begins, whether nothing stands beside it."""

    json: Json
    text: str
    start: int
    end: int
    first: int
    alone: bool

    def line(self, pointer: str) -> int:
        """The line on which the member at a JSON pointer begins, or the nearest part around it that is there."""
        return self.first if self._place is None else self._place.nearest(pointer).line

    @cached_property
    def _place(self) -> Place | None:
        """Where its members begin; None when it has one line. Looked for once, as a value can have many faults."""
        if self.text.find("\n", self.start, self.end) < 0:
            return None
        return place(self.text, self.start, self.end, self.first)

    def items(self) -> Iterator[Value]:
        """The items of an array as values of their own."""
        line, at = self.first, self.start
        for (start, end), item in zip(_items(self.text, self.start), self.json, strict=True):
            line += self.text.count("\n", at, start)
            at = start
            yield Value(item, self.text, start, end, line, alone=False)


class _Broken(Exception):
    """Text that is no JSON from `at` on."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


def values(text: str) -> Iterator[Value | Unreadable]:
    """The JSON values of a text, in its order, and what stands between them and is none."""
    at = _skip(text, 0)
    try:
        value, end = DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        value, end = None, at
    if end > at and _skip(text, end) == len(text):
        yield Value(value, text, at, end, 1 + text.count("\n", 0, at), alone=True)
    else:
        yield from _Reader(text).values(at)


_Run = list[tuple[Json, int, int]]
"""Values that stand one after the other, each with its start and end."""


class _Reader:
    """Reads a text of several values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._patience = PATIENCE * max(len(text), WINDOW)

    def values(self, at: int) -> Iterator[Value | Unreadable]:
        """The values from `at` on, and the lines that hold none."""
        text, line = self._text, 1 + self._text.count("\n", 0, at)
        while at < len(text):
            run = self._run(at, line)
            if isinstance(run, Unreadable):
                yield run
                end = _broken_until(text, at)
            else:
                for value, start, stop in run:
                    line += text.count("\n", at, start)
                    at = start
                    yield Value(value, text, start, stop, line, alone=False)
                end = run[-1][2]
            after = _skip(text, end)
            line += text.count("\n", at, after)
            at = after

    def _run(self, at: int, line: int) -> _Run | Unreadable:
        """The values from here to the end of a line: of this one, or of the one on which the last of them ends."""
        text = self._text
        try:
            try:
                return _run(text[at : _line_end(text, at)], at)
            except json.JSONDecodeError as error:
                first = _Broken(error.msg, at + error.pos)
            return self._spanning(at, first)
        except RecursionError:
            return Unreadable(line, "a value too deep to read", "less nesting")
        except _Broken as error:
            column = error.at - text.rfind("\n", 0, error.at)
            found = f"no JSON ({error.reason}, column {column})"
            broken = line + text.count("\n", at, error.at)
            return Unreadable(broken, found, "JSON: one document, or one after the other")

    def _spanning(self, at: int, first: _Broken) -> _Run:
        """The values of several lines; a line that was cut off must not swallow the value of the next."""
        text = self._text
        opened = text[at] in "{[" and not text[first.at : _line_end(text, at)].strip(BLANK)
        if not opened or self._patience < 0:
            raise first
        try:
            run = self._beyond(at)
        except json.JSONDecodeError as error:
            self._patience -= error.pos
            place = at + error.pos
            raise _Broken(error.msg, place) if place < _broken_until(text, at) else first from None
        start = _line_end(text, at) + 1
        while start < run[-1][2]:
            if _stands_alone(text, start):
                self._patience -= run[-1][2] - at
                raise first
            start = _line_end(text, start) + 1
        return run

    def _beyond(self, at: int) -> _Run:
        """The values from here to the end of whatever line; only as much text is looked at as they need."""
        text, size = self._text, WINDOW
        while True:
            part = text[at : at + size]
            cut = at + size < len(text)
            try:
                run = _run(part, at)
            except json.JSONDecodeError as error:
                within = error.pos < size - LONGEST_TOKEN and not error.msg.startswith("Unterminated string")
                if within or not cut:
                    raise
            except RecursionError:
                self._patience -= size
                raise
            else:
                if not cut or part[run[-1][2] - at :].strip(BLANK):
                    return run
            size *= 4


def _run(part: str, at: int) -> _Run:
    """The values of `part`, which begins at `at`, up to the end of a line."""
    run: _Run = []
    here = 0
    while True:
        value, end = DECODER.raw_decode(part, here)
        run.append((value, at + here, at + end))
        here = end
        while here < len(part) and part[here] in " \t\r":
            here += 1
        if here == len(part) or part[here] == "\n":
            return run
        if part[here] not in "{[":
            raise json.JSONDecodeError("Extra data", part, here)


def _broken_until(text: str, at: int) -> int:
    """Where the lines end that belong to a broken value: those that are indented, or only close what it opened."""
    end = _line_end(text, at)
    if text[at] not in "{[":
        return end
    while end < len(text):
        start = end + 1
        if text[start : start + 1] not in tuple(" \t\r\n}]") or _stands_alone(text, start):
            return end
        end = _line_end(text, start)
    return end


def _stands_alone(text: str, start: int) -> bool:
    """Whether a line is a value of its own: an object with members that is not indented, or that is a message."""
    line = text[start : _line_end(text, start)]
    if not line.lstrip(BLANK).startswith("{"):
        return False
    try:
        value = DECODER.decode(line)
    except (ValueError, RecursionError):
        return False
    return bool(value) and (line.startswith("{") or "jsonrpc" in value)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The starts and ends of the items of the array at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in BLANK:
        at += 1
    return at
