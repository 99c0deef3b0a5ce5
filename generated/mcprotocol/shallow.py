"""Shallow messages: what can be read of one that is JSON, and more than can be held.

Values may be nested too deep, numbers too long, texts end in half a surrogate pair. Whoever sent such a request
still waits for its answer, and such a notification must still not be answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from pydantic_core import from_json

BEYOND: Final = (
    "recursion limit exceeded",
    "number out of range",
    "lone leading surrogate",
    "unexpected end of hex escape",
)
"""How the reader's words begin where it gives up on something that JSON allows."""

TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]+|[\]}]+', re.DOTALL)
"""What tells how deep one is: a text, which hides brackets, and runs of brackets. Nothing is looked at twice."""

OPENING: Final = b"[{"


def read_shallow(data: bytes, problem: str) -> dict[str, Any] | None:
    """The members of a message, with null for each that has members itself.

    None when the problem with it is that it is no JSON, or no object, or lies with a plain member.
    """
    if not problem.startswith(BEYOND):
        return None
    try:
        message: Any = from_json(b"".join(_pieces(data)), allow_inf_nan=False)
    except ValueError:
        return None
    return cast(dict[str, Any], message) if isinstance(message, dict) else None


def _pieces(data: bytes) -> Iterator[bytes]:
    depth = start = 0
    for token in TOKEN.finditer(data):
        place, run = token.start(), token.end() - token.start()
        if data[place] in OPENING:
            if depth <= 1 < depth + run:
                yield data[start : place + 1 - depth]
                yield b"null"
            depth += run
        elif data[place] != ord('"'):
            if depth - run <= 1 < depth:
                start = place + depth - 1
            depth -= run
    if depth <= 1:
        yield data[start:]
