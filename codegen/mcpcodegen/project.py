"""A project for the author of a server: files that are his from then on, and the emitted package beside them.

The two kinds are told apart by place: everything under `_mcp/` is emitted and may be regenerated, everything
else is the author's and is never touched again.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import __version__
from .errors import ProjectError
from .ir import Bundle, Document
from .pipeline import HANDSHAKE_REVISION, RUNTIME_REVISION, emit
from .render import render
from .revisions import find
from .tidy import tidy

PRIVATE = "_mcp"
"""The emitted package inside a project."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*")
"""What both pip and Python accept: words of ASCII letters and digits, joined by single hyphens or underscores."""

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
    package = name.replace("-", "_").lower()
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
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise ProjectError(
            "the folder is not empty",
            remedy="choose another name, or another place with -o",
            source=str(folder),
        )
    return Project(name, package, folder)


def transport(kind: str, name: str) -> Transport:
    """The transport `stdio`, `http` or `both` of a project called `name`."""
    return {
        "stdio": Transport(stdio=True, http=False, title="stdio", command=name, flag=""),
        "http": Transport(stdio=False, http=True, title="HTTP", command=name, flag=""),
        "both": Transport(
            stdio=True, http=True, title="stdio or HTTP", command=f"{name} --http", flag='"--http", '
        ),
    }[kind]


def served(named: Sequence[str]) -> tuple[str, ...]:
    """The revisions that a project serves, the oldest first: those named, or with none all that can be served.

    Raises RevisionError for one that does not exist, ProjectError for what cannot be served.
    """
    known = (HANDSHAKE_REVISION, RUNTIME_REVISION)
    chosen = {find(name).revision for name in named} or {*known}
    if strange := chosen - {*known}:
        raise ProjectError(
            f"a server cannot be made for {', '.join(sorted(strange))}",
            remedy=f"choose {RUNTIME_REVISION} with or without {HANDSHAKE_REVISION}, which answers clients of older revisions too",
        )
    if RUNTIME_REVISION not in chosen:
        raise ProjectError(
            f"a server cannot be made for {HANDSHAKE_REVISION} alone: its handlers are written in the words of {RUNTIME_REVISION}",
            remedy=f"pass --revision {RUNTIME_REVISION} as well",
        )
    return tuple(sorted(chosen))


def scaffold(wanted: Project, documents: Sequence[Document], kind: str = "both") -> Bundle:
    """Every file of a new project that serves the revisions of `documents`, relative to its folder.

    `kind` says over what: `stdio`, `http` or `both`.
    """
    reached = transport(kind, wanted.name)
    revisions = [document.revision for document in documents]
    handshake = HANDSHAKE_REVISION in revisions
    context = {
        "name": wanted.name,
        "package": wanted.package,
        "private": PRIVATE,
        "transport": reached,
        "revision": RUNTIME_REVISION,
        "revisions": json.dumps(revisions),
        "older": OLDER if handshake else "",
        "generator": __version__,
    }
    source = f"src/{wanted.package}"
    written = {
        path: render(f"project/{template}", context)
        for path, template in _files(source, reached, handshake).items()
    }
    emitted = {f"{source}/{path}": text for path, text in emit(documents, PRIVATE).items()}
    return {**tidy(written), **emitted, **_host_configuration(wanted, reached)}


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


def _files(source: str, reached: Transport, handshake: bool) -> dict[str, str]:
    """Path in the project -> template."""
    files = {
        ".gitignore": "gitignore.jinja",
        "README.md": "README.md.jinja",
        "pyproject.toml": "pyproject.toml.jinja",
        f"{source}/__init__.py": "src/__init__.py.jinja",
        f"{source}/__main__.py": "src/__main__.py.jinja",
        f"{source}/server.py": "src/server.py.jinja",
        "tests/conftest.py": "tests/conftest.py.jinja",
        "tests/test_asking.py": "tests/test_asking.py.jinja",
        "tests/test_server.py": "tests/test_server.py.jinja",
    }
    if reached.stdio:
        files["serve.py"] = "serve.py.jinja"
    if reached.stdio and handshake:
        files["tests/test_handshake.py"] = "tests/test_handshake.py.jinja"
    if reached.http:
        files["tests/test_http.py"] = "tests/test_http.py.jinja"
    return files


def _host_configuration(wanted: Project, reached: Transport) -> dict[str, str]:
    """The stanza that most hosts read and the one of VS Code: full paths only, so that neither PATH nor directory matters."""
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
