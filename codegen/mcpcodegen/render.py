"""Views to text: the only room that knows Jinja, and the home of the two escape points.

Text from a schema reaches Python only through `docstring` or `literal`. Autoescape is off because nothing here
is HTML; the two filters are its counterpart for Python source.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

from .resources import folder

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


def render(template: str, context: Mapping[str, Any]) -> str:
    """The text of one template; an undefined name is an error, never an empty place."""
    return _ENVIRONMENT.get_template(template).render(context)


def templates() -> tuple[str, ...]:
    """The names of all templates."""
    return tuple(
        sorted(
            path.relative_to(folder("templates")).as_posix() for path in folder("templates").rglob("*.jinja")
        )
    )


def runtime(part: str) -> dict[str, str]:
    """The static files below one folder of templates, by relative path: copied, not rendered."""
    root = folder("templates") / part
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in (".py", ".typed"))
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def environment() -> Environment:
    """The one Jinja environment, with the two escape points as its filters."""
    made = Environment(
        loader=_Loader(),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["docstring"] = docstring
    made.filters["literal"] = literal
    return made


class _Loader(BaseLoader):
    """Reads templates where they lie, and tells Jinja the file so that its errors name file and line."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Any]:
        path = folder("templates") / template
        if not path.is_file():
            raise TemplateNotFound(template)
        return path.read_text(encoding="utf-8"), str(path), lambda: True


_ENVIRONMENT = environment()


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
    return wrap.wrap(line) or [""]


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
