"""Where the members of a JSON text begin: one walk over the text, however many members are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .decode import DECODER
from .facts import unescape

TOKEN = re.compile(r'\n|[\[\]{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{},:"]+')
"""What counts of a text that is known to be JSON: line ends, brackets, what separates, texts, and other scalars."""


@dataclass
class Place:
    """A value in a text: the line on which it begins, and the places of its members or items, by name or index."""

    line: int
    named: bool
    inside: dict[str, Place] = field(default_factory=dict[str, "Place"])

    def nearest(self, pointer: str) -> Place:
        """The place at a JSON pointer, or of the nearest part around it that is there; of two of a name the last."""
        found = self
        for token in pointer.split("/")[1:]:
            name = unescape(token)
            if name not in found.inside:
                break
            found = found.inside[name]
        return found


def place(text: str, start: int, end: int, line: int) -> Place:
    """The place of the JSON value from `start` to `end`, which begins on `line`, with all that is inside."""
    top = Place(line, named=False)
    around, name = [top], ""
    named = False
    for token, at in _tokens(text, start, end, line):
        if token in "]}":
            around.pop()
        elif token == ",":
            named = False
        elif around[-1].named and not named:
            name, named = DECODER.decode(token), True
        elif token != ":":
            holder = around[-1]
            made = Place(at, named=token == "{")
            holder.inside[name if holder.named else str(len(holder.inside))] = made
            if token in "[{":
                around.append(made)
                named = False
    return top.inside["0"]


def _tokens(text: str, start: int, end: int, line: int) -> Iterator[tuple[str, int]]:
    """The tokens of a part of a text that are no line ends, each with its line."""
    for match in TOKEN.finditer(text, start, end):
        token = match.group()
        if token == "\n":
            line += 1
        else:
            yield token, line
