"""What is wrong with a text, as rows: the line, the pointer, what was found there, and what was expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .decode import flaws
from .errors import printable
from .facts import kind_of
from .ir import ABSENT, Json
from .judge import Fault
from .texts import Unreadable, Value


@dataclass(frozen=True)
class Finding:
    """One fault of one message.

    `line` counts from 1 and is the one on which the member at `pointer` begins; for a member that is missing, the
    object that lacks it. `pointer` is a JSON pointer into the document: into the message, or, where the document
    is an array of messages, into that array.
    """

    line: int
    pointer: str
    found: str
    expected: str


def unread(value: Unreadable) -> Finding:
    """The finding of lines that hold no JSON."""
    return Finding(value.line, "", value.found, value.expected)


def findings(value: Value, place: str, faults: Iterable[Fault]) -> Iterator[Finding]:
    """The findings of a value that stands at `place`: its faults, unless its own text is at fault."""
    marked = list(flaws(value.json))
    for flaw in marked:
        yield Finding(value.line(flaw.pointer), printable(place + flaw.pointer), flaw.found, flaw.expected)
    for fault in faults:
        if not marked:
            pointer = printable(place + fault.pointer)
            yield Finding(value.line(fault.pointer), pointer, _shown(fault.found), fault.expected)


def _shown(value: Json) -> str:
    if value is ABSENT:
        return "nothing"
    try:
        text = printable(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return f"{kind_of(value)}, too deep to show"
    return text if len(text) <= 60 else f"{kind_of(value)} {text[:50]}..."
