"""Shallow messages: what can be read of one that is JSON, and more than can be held.

Values may be nested too deep, numbers too long, texts end in half a surrogate pair. Whoever sent such a request
still waits for its answer, and such a notification must still not be answered. An answer may be no JSON at all:
whoever waits for it shall know.
"""

from __future__ import annotations

import contextlib
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

PLAIN: Final = rb'"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*+"|-?\d++(?=\s*[,}]))'

MEMBER: Final = re.compile(PLAIN)
"""A member of an envelope, outside of all that is nested; a number is whole when something follows it."""

LAST: Final = re.compile(rb"(?:,\s*%b\s*)+\}\s*$" % PLAIN)
"""The last members of an envelope, as far as they are plain."""

ENDS: Final = re.compile(rb"(?<=\})")

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


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


def read_outlines(data: bytes, tail: bytes = b"") -> Iterator[dict[str, Any]]:
    """The envelope of each message in a line that begins as one, whatever is wrong with the rest of it.

    It may say NaN, hold bytes that are no text, be cut off, or be two messages without a line end between them.
    Of one that is too long there may be the beginning, and the `tail`.
    A line that begins with words is none, whatever it quotes: it may be a log of messages that are still to come.
    """
    text = data.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not text.startswith(b"{"):
        return
    if tail:
        last = LAST.search(tail)
        yield _plain(b"".join(_pieces(text))) | (_plain(last[0]) if last else {})
        return
    for part in ENDS.split(b"".join(_pieces(text))):
        yield _plain(part)


def _plain(text: bytes) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in MEMBER.findall(text):
        with contextlib.suppress(ValueError):
            members[name.decode()] = from_json(value)
    return members


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
