"""The two escape points: text from a schema reaches Python source as a docstring or as a literal, and in no other way.

Schema text is untrusted input to a program that writes programs.
"""

from __future__ import annotations

import textwrap

WIDTH = 104
"""Columns that a line of a docstring may take, its indentation included and its quotes not."""


def docstring(text: str, indent: int = 4) -> str:
    """`text` as a docstring literal that stands at `indent` columns.

    The text is kept but for white space at line ends and line breaks at spaces; what cannot be seen or would
    end the literal is escaped.
    """
    lines = [
        piece for line in text.strip().replace("\r\n", "\n").split("\n") for piece in _wrap(line, indent)
    ]
    body = [_escape(line) for line in lines]
    body[0] = _opened(body[0])
    if len(body) == 1:
        return f'"""{_closed(body[0])}"""'
    pad = " " * indent
    return (
        '"""'
        + body[0]
        + "\n"
        + "\n".join(f"{pad}{line}" if line else "" for line in body[1:])
        + f'\n{pad}"""'
    )


def literal(text: str) -> str:
    """`text` as a Python string literal: one line, everything that cannot be seen escaped."""
    return repr(text)


def _wrap(line: str, indent: int) -> list[str]:
    line = line.rstrip()
    lead = " " * (len(line) - len(line.lstrip()))
    wrap = textwrap.TextWrapper(
        WIDTH - indent,
        initial_indent=lead,
        subsequent_indent=lead,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrap.wrap(line.lstrip()) or [""]


def _escape(line: str) -> str:
    quoted = line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return "".join(
        c if c == " " or c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in quoted
    )


def _opened(line: str) -> str:
    """A first line that is not taken for a part of the opening quotes."""
    return f"\\x22{line[1:]}" if line.startswith('"') else line


def _closed(line: str) -> str:
    """A last line that does not run into the closing quotes."""
    return f"{line[:-1]}\\x22" if line.endswith('"') else line
