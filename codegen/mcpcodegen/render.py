"""Views to text: the only room that knows Jinja.

What is printed into a page (`.html.jinja`) is escaped by Jinja itself; the filters `docstring` and `literal` are
the counterpart for Python source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

from .escapes import docstring, literal
from .resources import folder


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
    """The one Jinja environment, with the two escape points of Python source as its filters."""
    made = Environment(
        loader=_Loader(),
        undefined=StrictUndefined,
        autoescape=_is_page,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["docstring"] = docstring
    made.filters["literal"] = literal
    return made


def _is_page(template: str | None) -> bool:
    return template is not None and template.endswith(".html.jinja")


class _Loader(BaseLoader):
    """Reads templates where they lie, and tells Jinja the file so that its errors name file and line."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Any]:
        path = folder("templates") / template
        if not path.is_file():
            raise TemplateNotFound(template)
        return path.read_text(encoding="utf-8"), str(path), lambda: True


_ENVIRONMENT = environment()
