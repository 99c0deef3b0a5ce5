"""The tables of the schema folder, changed as text: comments, order and layout stay as their author left them.

Whatever was changed is read again and compared with what it should say, so that a layout that is not understood
here is an error and never a table that says something else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from .errors import RevisionError
from .ir import Json

HEADER = re.compile(r"(?:^[ \t]*#[^\n]*\n)*^[ \t]*\[\[[ \t]*correction[ \t]*\]\]", re.MULTILINE)
"""The head of a correction, with the comments that stand directly above it."""

REVISIONS = re.compile(r"^([ \t]*revisions[ \t]*=[ \t]*)\[[^\]]*\]", re.MULTILINE)
REMARKS = re.compile(r"(?:^[ \t]*(?:#[^\n]*)?\r?\n)*\Z", re.MULTILINE)
"""The lines at the end of a text that are empty or comments."""

ROW = re.compile(r"""^[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*=""")
TABLE = re.compile(r"^[ \t]*\[([^\[\]]+)\]")
BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_revisions(text: str, revisions: Sequence[Sequence[str]], source: str) -> str:
    """corrections.toml with these revisions for its rows, one by one; a row that is left with none goes."""
    rows: list[Json] = tomllib.loads(text).get("correction", [])
    starts = [found.start() for found in HEADER.finditer(text)]
    if len(starts) != len(rows):
        raise _cannot(source)
    blocks = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    kept = [
        block if list(now) == row["revisions"] else _listing(block, now) if now else _remarks(block)
        for block, row, now in zip(blocks, rows, revisions, strict=True)
    ]
    done = text[: starts[0]] + "".join(kept) if starts else text
    done = done if revisions and revisions[-1] else done.rstrip() + "\n"
    left = [{**row, "revisions": list(now)} for row, now in zip(rows, revisions, strict=True) if now]
    others = {name: value for name, value in tomllib.loads(text).items() if name != "correction"}
    return _checked(done, {**others, **({"correction": left} if left else {})}, source)


def with_words(text: str, rows: Mapping[str, Mapping[str, str]], source: str) -> str:
    """words.toml with more rows in its tables, each where its name comes in the order of names."""
    wanted: dict[str, Json] = tomllib.loads(text)
    for table, more in rows.items():
        wanted[table] = {**wanted.get(table, {}), **more}
        for name, words in more.items():
            text = _with_row(text, table, name, words)
    return _checked(text, wanted, source)


def row_text(name: str, words: str) -> str:
    """One row of words.toml, without a line end."""
    return f"{name if BARE.fullmatch(name) else _quoted(name)} = {_quoted(words)}"


def _remarks(block: str) -> str:
    """What stays of a correction that goes: remarks that stand apart, below it."""
    tail = block[REMARKS.search(block).start() :]  # type: ignore[union-attr]  # it finds at least the end
    return tail.lstrip() if "#" in tail else ""


def _listing(block: str, revisions: Sequence[str]) -> str:
    return REVISIONS.sub(lambda found: f"{found[1]}{json.dumps(list(revisions))}", block, count=1)


def _with_row(text: str, table: str, name: str, words: str) -> str:
    lines = text.splitlines(keepends=True)
    inside = _lines_of(table, lines)
    if not inside:
        return f"{text.rstrip()}\n\n[{table}]\n{row_text(name, words)}\n".lstrip()
    named = [(index, found[1].strip("\"'")) for index in inside if (found := ROW.match(lines[index]))]
    before = [index for index, other in named if _order(other) < _order(name)]
    place = (before[-1] if before else inside.start) + 1
    ending = "\r\n" if lines[inside.start].endswith("\r\n") else "\n"
    lines[place - 1] = lines[place - 1].rstrip("\r\n") + ending
    return "".join([*lines[:place], row_text(name, words) + ending, *lines[place:]])


def _lines_of(table: str, lines: Sequence[str]) -> range:
    """The lines of a table, its head first; empty when there is none."""
    heads = [(index, found[1].strip()) for index, line in enumerate(lines) if (found := TABLE.match(line))]
    starts = [index for index, name in heads if name == table]
    if not starts:
        return range(0)
    return range(starts[0], min((index for index, _ in heads if index > starts[0]), default=len(lines)))


def _order(name: str) -> tuple[str, str]:
    return name.lower(), name


def _quoted(text: str) -> str:
    """A basic string of TOML: that of JSON, and all that does not show is escaped."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in shown)


def _checked(text: str, wanted: Json, source: str) -> str:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise _cannot(source) from None
    if found != wanted:
        raise _cannot(source)
    return text


def _cannot(source: str) -> RevisionError:
    return RevisionError(
        "is laid out in a way that cannot be edited by this command",
        remedy="write each row as `name = value` under its own header",
        source=source,
    )
