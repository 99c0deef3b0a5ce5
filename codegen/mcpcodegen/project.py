"""A project for the author of a server: files that are his from then on, and the emitted package beside them.

The two kinds are told apart by place: everything under `_mcp/` is emitted and may be regenerated, everything
else is the author's, and is touched by nothing but an update that the author asks for.
"""

from __future__ import annotations

import json
import keyword
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import ProjectError
from .ir import Bundle, Document
from .lower import lower
from .pipeline import HANDSHAKE_REVISION, RUNTIME_REVISION, emit
from .recipe import (
    NAME,
    NONE,
    PRIVATE,
    RECIPE,
    Recipe,
    Transport,
    authored,
    package_of,
    recorded_text,
    stubs,
    transport,
)
from .revisions import find
from .swap import recover
from .views import view

TAKEN = frozenset(
    "annotated_types anyio attr attrs hatchling idna iniconfig jsonschema jsonschema_specifications mcp packaging"
    " pip pluggy pydantic pydantic_core pygments pytest referencing rpds setuptools sniffio starlette test tests"
    " typing_extensions typing_inspection uvicorn uvloop".split()
)
"""Import names that a project would shadow, its own libraries among them, and then fail to start."""

LONGEST = 100
"""Letters of the longest name: file systems end at 255 bytes, and files are named after it."""


ADDRESS = "http://127.0.0.1:8000/mcp"
"""Where a project serves HTTP unless it is told otherwise."""


@dataclass(frozen=True)
class Project:
    """A project that can be written: its distribution name, its import name, and the folder it will live in."""

    name: str
    package: str
    folder: Path


def project(name: str, parent: Path, *, force: bool = False) -> Project:
    """The project `name` in a folder of that name below `parent`; raises ProjectError when it cannot be."""
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise _refused(
            name, "use letters and digits, joined by single hyphens or underscores, such as my-server"
        )
    package = package_of(name)
    if keyword.iskeyword(package) or keyword.iskeyword(name):
        raise _refused(name, f"{package} is a word of the Python language; choose another name")
    if package in sys.stdlib_module_names or package in TAKEN:
        raise _refused(name, f"it would hide the Python module {package}; choose another name")
    folder = (parent / name).absolute()
    if folder.exists() and not folder.is_dir():
        raise ProjectError(
            "there is a file in the way",
            remedy="choose another name, or another place with -o",
            source=str(folder),
        )
    recover(folder)
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise ProjectError(
            "the folder is not empty",
            remedy="choose another name, or another place with -o",
            source=str(folder),
        )
    return Project(name, package, folder)


def served(named: Sequence[str], kind: str = "both") -> tuple[str, ...]:
    """The revisions that a project is for, the oldest first: those named, or with none all that can be served.

    Handlers without a transport are for any. Raises RevisionError for one that does not exist, ProjectError for
    what cannot be served.
    """
    if kind == NONE:
        return tuple(sorted({find(name).revision for name in named or ("latest",)}))
    known = (HANDSHAKE_REVISION, RUNTIME_REVISION)
    chosen = {find(name).revision for name in named} or {*known}
    if strange := chosen - {*known}:
        raise ProjectError(
            f"a server cannot be made for {', '.join(sorted(strange))}",
            remedy=f"choose {RUNTIME_REVISION} with or without {HANDSHAKE_REVISION}, which answers clients of older"
            f" revisions too; or pass --transport {NONE}, for handlers on the stubs of any revision",
        )
    if RUNTIME_REVISION not in chosen:
        raise ProjectError(
            f"a server cannot be made for {HANDSHAKE_REVISION} alone: its handlers are written in the words of {RUNTIME_REVISION}",
            remedy=f"pass --revision {RUNTIME_REVISION} as well, or --transport {NONE} for handlers on the stubs of {HANDSHAKE_REVISION}",
        )
    return tuple(sorted(chosen))


def recipe(name: str, documents: Sequence[Document], kind: str = "both") -> Recipe:
    """How a project for the revisions of `documents` is made, to be reached over `kind`.

    Raises ProjectError when there is none, or more than one, that handlers without a transport can be for.
    """
    revisions = tuple(document.revision for document in documents)
    if kind != NONE:
        return Recipe(name, kind, revisions, RUNTIME_REVISION, HANDSHAKE_REVISION in revisions)
    if len(documents) != 1:
        raise ProjectError(
            "handlers without a transport are for one revision",
            remedy="name one, with --revision or --schema",
        )
    spec = lower(documents[0])
    shown = view(spec)
    return Recipe(name, kind, revisions, spec.revision, False, stubs(spec, shown.title, shown.module))


def scaffold(wanted: Project, documents: Sequence[Document], kind: str = "both") -> Bundle:
    """Every file of a new project that serves the revisions of `documents`, relative to its folder.

    `kind` says over what: `stdio`, `http`, `both`, or `none` for handlers without a transport.
    """
    made = recipe(wanted.name, documents, kind)
    written = authored(made)
    return {
        **written,
        RECIPE: recorded_text(made, written),
        **emitted(made, documents),
        **_host_configuration(wanted, transport(kind, wanted.name)),
    }


def emitted(made: Recipe, documents: Sequence[Document]) -> Bundle:
    """The package that is emitted into a project, relative to the folder of the project."""
    return {f"src/{made.package}/{path}": text for path, text in emit(documents, PRIVATE).items()}


def next_commands(wanted: Project) -> tuple[str, ...]:
    """What to type next, in order, from any directory."""
    import shlex

    folder = shlex.quote(str(wanted.folder))
    return (
        f"cd {folder}",
        "python3 -m venv .venv",
        ".venv/bin/pip install -e '.[dev]'",
        ".venv/bin/pytest",
    )


def _host_configuration(wanted: Project, reached: Transport) -> dict[str, str]:
    """The stanza that most hosts read and the one of VS Code: full paths only, so that neither PATH nor directory matters."""
    if not (reached.stdio or reached.http):
        return {}
    if not reached.stdio:
        address = {"type": "http", "url": ADDRESS}
        return {
            "mcp.json": _json({"mcpServers": {wanted.name: address}}),
            ".vscode/mcp.json": _json({"servers": {wanted.name: address}}),
        }
    stanza = {
        "command": getattr(sys, "_base_executable", None) or sys.executable,
        "args": ["-I", str(wanted.folder / "serve.py")],
        "env": {"MCP_SERVER_PYTHON": sys.executable},
    }
    return {
        "mcp.json": _json({"mcpServers": {wanted.name: stanza}}),
        ".vscode/mcp.json": _json({"servers": {wanted.name: {"type": "stdio", **stanza}}}),
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _refused(name: str, remedy: str) -> ProjectError:
    return ProjectError(f"a project cannot be called {name!r}", remedy=remedy)
