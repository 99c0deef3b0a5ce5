"""How a project was made: what the author's files began as can be made again from it, which is what `update` rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import TypeVar

from . import __version__
from .errors import ProjectError
from .ir import Bundle, Json, Spec
from .render import render
from .sync import hashes

PRIVATE = "_mcp"
"""The emitted package inside a project."""

RECIPE = ".mcp-codegen.json"
"""Where a project keeps its recipe."""

GENERATOR = f"mcpcodegen {__version__}"

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*")
"""What both pip and Python accept: words of ASCII letters and digits, joined by single hyphens or underscores."""

NONE = "none"
"""The transport of a project that has none: handlers on the stubs of one revision, whichever it is."""

OLDER = """; it also answers
hosts that begin with `initialize`, by the same functions: those of 2025-11-25, 2025-06-18 and 2025-03-26"""
"""What a project with the handshake era says of itself."""


@dataclass(frozen=True)
class Transport:
    """How a project can be reached, in the words of its templates."""

    stdio: bool
    http: bool
    title: str
    command: str
    flag: str

    @property
    def both(self) -> bool:
        """Whether the command has a choice."""
        return self.stdio and self.http


@dataclass(frozen=True)
class Stubs:
    """What a project without a transport is written on, in the words of its templates."""

    title: str
    module: str
    version: str
    page_params: str
    metadata: bool

    @property
    def released(self) -> bool:
        """Whether it is a revision, and not a schema of somebody's."""
        return self.module != "unreleased"


@dataclass(frozen=True)
class Recipe:
    """What the author's files of a project are made from: `stubs` where it has no transport, else None.

    `revisions` are those that it serves; `newest` is the one that its handlers are written in.
    """

    name: str
    transport: str
    revisions: tuple[str, ...]
    newest: str
    handshake: bool
    stubs: Stubs | None = None

    @property
    def package(self) -> str:
        """The import name of the project."""
        return package_of(self.name)


@dataclass(frozen=True)
class Recorded:
    """A recipe as a project keeps it: the generator that followed it, digests and texts of what it wrote, and what moved."""

    generator: str
    recipe: Recipe
    files: Mapping[str, str]
    moved: Mapping[str, str]
    texts: Bundle


def package_of(name: str) -> str:
    """The import name of the project `name`."""
    return name.replace("-", "_").lower()


Kept = TypeVar("Kept", Recipe, Stubs)


def stubs(spec: Spec, title: str, module: str) -> Stubs:
    """What handlers on the stubs of one revision are written on; raises ProjectError where it has no tools."""
    methods = {method.wire: method for method in spec.methods}
    if not {"tools/list", "tools/call"} <= {*methods}:
        raise ProjectError(
            f"{title} has no tools to write handlers for",
            remedy="generate the package alone with mcp-codegen generate",
        )
    called = next(one for one in spec.definitions if one.name == methods["tools/call"].params)
    listed = methods["tools/list"]
    return Stubs(
        title=title,
        module=module,
        version=spec.revision or "unreleased",
        page_params=f"types.{listed.params}" + ("" if listed.params_required else " | None"),
        metadata=any(member.wire == "_meta" and member.required for member in called.members),
    )


def authored(recipe: Recipe) -> Bundle:
    """The files of a project that are its author's, as they are first written."""
    from .tidy import tidy  # here, because black takes most of a second to import

    context = {
        "name": recipe.name,
        "package": recipe.package,
        "private": PRIVATE,
        "transport": transport(recipe.transport, recipe.name),
        "revision": recipe.newest,
        "revisions": json.dumps(recipe.revisions),
        "older": OLDER if recipe.handshake else "",
        "stubs": recipe.stubs,
    }
    files = _on_stubs(recipe) if recipe.stubs is not None else _served(recipe)
    return tidy({path: render(template, context) for path, template in files.items()})


def transport(kind: str, name: str) -> Transport:
    """The transport `stdio`, `http`, `both` or `none` of a project called `name`."""
    return {
        NONE: Transport(stdio=False, http=False, title="", command="", flag=""),
        "stdio": Transport(stdio=True, http=False, title="stdio", command=name, flag=""),
        "http": Transport(stdio=False, http=True, title="HTTP", command=name, flag=""),
        "both": Transport(
            stdio=True, http=True, title="stdio or HTTP", command=f"{name} --http", flag='"--http", '
        ),
    }[kind]


def recorded_text(recipe: Recipe, files: Bundle, moved: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text that a project keeps: the recipe, what was written by it, and where the author has put some of it.

    The texts are kept as well, line by line: a generator that has moved on would make others of the same recipe.
    """
    row = {
        "generator": GENERATOR,
        "recipe": asdict(recipe),
        "files": hashes(files),
        "moved": dict(sorted(moved.items())),
        "texts": {path: files[path].splitlines(keepends=True) for path in sorted(files)},
    }
    return json.dumps(row, indent=2, ensure_ascii=False) + "\n"


def recorded(text: str, source: str) -> Recorded:
    """What a project keeps of how it was made; raises ProjectError when it is nothing of the kind."""
    try:
        found: Json = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair cannot be written again
        return Recorded(
            _generator(found["generator"]),
            _recipe(found["recipe"]),
            _words(found["files"]),
            _words(found["moved"]),
            _words({path: "".join(lines) for path, lines in found.get("texts", {}).items()}),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProjectError(
            "not a recipe of a project", remedy="restore it from your version control", source=source
        ) from None


def _generator(found: Json) -> str:
    if not re.fullmatch(r"mcpcodegen [\w.+]{1,99}", found):
        raise ValueError(found)
    return str(found)


def _words(found: Json) -> dict[str, str]:
    """An object whose members are all texts; raises ValueError for anything else."""
    words: dict[str, Json] = {**found}
    if not all(isinstance(value, str) for value in words.values()):
        raise ValueError(found)
    return words


def _recipe(row: Json) -> Recipe:
    on_stubs = _typed(Stubs(**row["stubs"])) if row["stubs"] is not None else None
    made = _typed(replace(Recipe(**row), revisions=tuple(row["revisions"]), stubs=on_stubs))
    kinds = (NONE,) if on_stubs else ("stdio", "http", "both")
    if made.transport not in kinds or not NAME.fullmatch(made.name):
        raise ValueError(made)
    _ = "".join(made.revisions)  # raises TypeError unless each is a text
    return made


def _typed(made: Kept) -> Kept:
    """The same when each of its texts and its yes or no is one; raises ValueError otherwise."""
    kinds = {"str": str, "bool": bool}
    for field in fields(made):
        if not isinstance(getattr(made, field.name), kinds.get(str(field.type), object)):
            raise ValueError(made)
    return made


def _served(recipe: Recipe) -> dict[str, str]:
    """Path in the project -> template, for a server."""
    reached = transport(recipe.transport, recipe.name)
    source = f"src/{recipe.package}"
    files = {
        ".gitignore": "project/gitignore.jinja",
        "README.md": "project/README.md.jinja",
        "pyproject.toml": "project/pyproject.toml.jinja",
        f"{source}/__init__.py": "project/src/__init__.py.jinja",
        f"{source}/__main__.py": "project/src/__main__.py.jinja",
        f"{source}/server.py": "project/src/server.py.jinja",
        "tests/conftest.py": "project/tests/conftest.py.jinja",
        "tests/test_asking.py": "project/tests/test_asking.py.jinja",
        "tests/test_server.py": "project/tests/test_server.py.jinja",
    }
    if reached.stdio:
        files["serve.py"] = "project/serve.py.jinja"
    if reached.stdio and recipe.handshake:
        files["tests/test_handshake.py"] = "project/tests/test_handshake.py.jinja"
    if reached.http:
        files["tests/test_http.py"] = "project/tests/test_http.py.jinja"
    return files


def _on_stubs(recipe: Recipe) -> dict[str, str]:
    """Path in the project -> template, for handlers without a transport."""
    source = f"src/{recipe.package}"
    return {
        ".gitignore": "stubs/gitignore.jinja",
        "README.md": "stubs/README.md.jinja",
        "pyproject.toml": "stubs/pyproject.toml.jinja",
        f"{source}/__init__.py": "stubs/src/__init__.py.jinja",
        f"{source}/handlers.py": "stubs/src/handlers.py.jinja",
        "tests/test_handlers.py": "stubs/tests/test_handlers.py.jinja",
    }
