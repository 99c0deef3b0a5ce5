"""Who may import whom: two tables, and the syntax trees that have to agree with them.

A new module needs a row. Rows stand in the order of their floors, so a row may only name rooms above it here,
which are the ones below it in the house.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from emitted import ROOT

GENERATOR = {
    # floor 1: the values, the errors, the data
    "__init__": "",
    "errors": "",
    "escapes": "",
    "ir": "",
    "naming": "",
    "fetch": "errors",
    "resources": "errors fetch",
    "facts": "errors ir",
    "settings": "errors ir",
    "merge": "",
    "worktree": "errors",
    "uses": "ir",
    "stage": "errors",
    "swap": "errors stage",
    "sync": "errors ir stage swap",
    # floor 2: one tool or one table each
    "tidy": "errors ir",
    "render": "errors escapes ir resources",
    "views": "ir naming",
    "revisions": "errors ir resources",
    "shapes": "facts ir",
    "policy": "facts ir shapes",
    "simplify": "escapes facts ir policy shapes",
    "decode": "facts ir",
    "places": "decode facts",
    "texts": "decode ir places",
    "arms": "facts ir shapes",
    "judge": "arms errors facts ir shapes",
    "models": "errors ir policy resources shapes simplify",
    # floor 3: the stages that read
    "load": "errors facts ir judge revisions",
    "correct": "errors facts ir revisions",
    "hoist": "errors facts ir naming policy shapes",
    "lower": "errors facts ir naming policy revisions shapes",
    "grades": "",
    "admits": "facts ir shapes",
    "renames": "facts ir shapes",
    "members": "admits facts ir renames shapes",
    "edits": "errors ir",
    "moved": "facts ir renames",
    # floor 4: the order of the stages, and the way in of a new revision
    "pinning": "correct errors facts ir load resources revisions",
    "pipeline": "__init__ errors correct escapes facts hoist ir judge load lower models moved render resources revisions sync tidy views",
    # floor 5: what is made of it
    "recipe": "__init__ errors ir render sync tidy",
    "project": "errors ir lower pipeline recipe revisions swap views",
    "author": "ir merge sync",
    "gone": "ir merge uses",
    "update": "author errors gone ir pipeline project recipe settings swap sync uses worktree",
    "outcome": "author ir update",
    "diff": "errors facts grades ir lower members renames shapes",
    "phrases": "admits diff errors facts ir shapes",
    "entries": "diff errors facts phrases",
    "report": "diff entries errors grades ir phrases",
    "page": "__init__ entries errors grades phrases render",
    "exchange": "ir",
    "findings": "decode errors facts ir judge texts",
    "validate": "arms exchange findings ir judge lower shapes texts",
    "adding": "correct diff edits entries facts hoist ir load lower pinning pipeline revisions",
    "origin": "errors ir load pinning resources",
    "outdated": "facts ir load origin pinning resources revisions",
    "tidings": "adding errors ir origin outdated pinning report",
    # floor 6: the command; it alone may take from any floor
    "commands": "diff entries errors facts ir lower origin outdated pinning pipeline project recipe resources revisions settings"
    " update validate worktree",
    "console": "errors ir",
    "cli_schema": "adding commands console pinning resources revisions settings swap sync tidings",
    "cli": "__init__ cli_schema commands console ir outcome page pipeline project report settings swap sync update",
    "__main__": "cli",
}
"""Room of the generator -> rooms that it may import."""

GENERATOR_TOOLS = {
    "black": ("tidy",),
    "click": ("console", "cli", "cli_schema"),
    "datamodel_code_generator": ("models",),
    "jinja2": ("render",),
    "jsonschema": ("judge",),
    "tomlkit": ("settings",),  # writes a value and keeps all that stands around it; tomllib only reads
    "pydantic": ("naming",),  # only to ask which names its base class has
}
"""Library -> the rooms that may import it."""

FACE = (
    "client.answers client.cache client.era client.hearing client.http client.memory client.pages client.session"
    " client.sessions client.stdio client.tools client.transport jsonrpc latest"
)
"""What each face of the client may import."""

RUNTIME = {
    # floor 1: the base model, and one exception for each code
    "__init__": "",
    "errors": "",
    "lines": "",
    "faults": "",
    "finite": "",
    "moved": "",
    "namesakes": "",
    "wire": "faults finite namesakes",
    "unions": "faults finite wire",
    "exact": "faults finite unions wire",
    # floor 2: envelopes
    "shallow": "",
    "jsonrpc": "errors exact faults shallow unions wire",
    "outcomes": "errors exact jsonrpc wire",
    "headers": "errors",
    "schemas": "jsonrpc",
    # what is rendered for one revision, and the name of the newest one
    "revision": "",
    "revision.types": "exact moved unions wire",
    "revision.methods": "jsonrpc revision.types",
    "revision.messages": "exact jsonrpc outcomes revision.methods revision.types unions wire",
    "revision.server": "errors jsonrpc revision.methods revision.types wire",
    "revision.client": "errors jsonrpc revision.methods revision.types wire",
    "latest": "revision revision.client revision.messages revision.methods revision.server revision.types",
    # floor 3: what a server does, without a transport
    "server.workers": "",
    "server.state": "errors",
    "server.streams": "",
    "server.listing": "errors",
    "server.content": "latest",
    "server.plain": "headers",
    "server.inputs": "errors jsonrpc latest schemas server.plain",
    "server.failures": "",
    "server.rounds": "errors jsonrpc latest server.failures server.inputs server.state",
    "server.credentials": "",
    "server.context": "jsonrpc latest server.credentials server.inputs server.rounds server.state server.streams",
    "server.registry": "server.context server.plain server.workers",
    "server.results": "latest server.plain server.registry unions",
    "server.tools": "errors headers jsonrpc latest server.context server.failures server.listing server.plain server.registry"
    " server.results server.rounds schemas",
    "server.resources": "errors latest server.content server.context server.listing server.registry",
    "server.prompts": "errors jsonrpc latest server.context server.listing server.registry server.results",
    "server.completions": "errors latest server.context server.prompts server.registry server.resources",
    "server.subscriptions": "latest server.context server.streams",
    "server.flight": "errors jsonrpc latest",
    "server.dispatch": "errors jsonrpc latest server.context server.credentials server.failures server.flight server.rounds server.streams unions"
    " wire",
    # the same for the handshake era
    "server.legacy.conversions": "errors jsonrpc revision",
    "server.legacy.batches": "errors jsonrpc",
    "server.legacy.asking": "errors jsonrpc latest server.dispatch server.failures server.legacy.conversions",
    "server.legacy.relay": "server.streams",
    "server.legacy.news": "jsonrpc latest server.legacy.relay server.streams",
    "server.legacy.session": "errors jsonrpc latest revision revision.methods revision.types server.credentials server.dispatch server.flight"
    " server.legacy.asking server.legacy.conversions server.legacy.news server.legacy.relay server.rounds",
    "server.legacy.conversation": "errors jsonrpc latest server.dispatch server.legacy.batches"
    " server.legacy.conversions server.legacy.news server.legacy.relay server.legacy.session server.streams",
    "server.legacy": "server.legacy.conversation",
    # floor 4: the pipes, and what an author holds
    "server.pipes": "",
    "server.stdio": "errors jsonrpc lines server.dispatch server.pipes",
    "server.gate": "errors headers",
    "server.asgi": "",
    "server.callers": "headers server.asgi server.credentials",
    "server.hosting": "server.asgi",
    "server.presence": "server.asgi",
    "server.familiar": "headers",
    "server.responses": "errors jsonrpc server.asgi server.gate",
    "server.http": "errors headers jsonrpc server.asgi server.callers server.dispatch server.familiar server.gate"
    " server.presence server.responses",
    "server.application": "server.asgi server.callers server.gate server.http",
    # sessions over it, and which eras there are
    "server.legacy.events": "",
    "server.legacy.sessions": "errors jsonrpc server.gate server.legacy.conversions server.legacy.events server.legacy.news"
    " server.legacy.session",
    "server.legacy.endpoint": "errors headers jsonrpc server.asgi server.callers server.dispatch server.gate"
    " server.legacy.batches server.legacy.conversions server.legacy.events server.legacy.sessions server.presence server.responses",
    "server.eras": "latest server.callers server.dispatch server.legacy server.legacy.endpoint"
    " server.legacy.news server.legacy.relay server.legacy.session server.streams",
    "server.offers": "latest server.completions server.listing server.prompts server.registry server.resources"
    " server.streams server.tools",
    "server.app": "headers latest server.application server.asgi server.callers server.context server.dispatch server.eras server.hosting server.listing server.offers server.prompts"
    " server.gate server.resources server.results server.state server.stdio server.streams server.subscriptions",
    "server": "server.app server.content server.context server.inputs server.listing server.tools",
    # the other side, which has never heard of a server
    "client.transport": "headers jsonrpc wire",
    "client.hearing": "client.transport jsonrpc latest",
    "client.calls": "client.hearing client.transport errors headers jsonrpc latest outcomes wire",
    "client.forms": "latest",
    "client.answers": "client.forms latest",
    "client.pages": "errors",
    "client.cache": "jsonrpc latest outcomes wire",
    "client.driver": "client.answers client.cache client.calls client.hearing errors headers jsonrpc latest wire",
    "client.listen": "client.hearing client.transport jsonrpc latest",
    "client.tools": "client.calls client.transport headers jsonrpc latest schemas",
    # what servers of the handshake era take, and which era a server is of
    "client.conversions": "errors jsonrpc latest",
    "client.errands": "client.transport jsonrpc",
    "client.questions": "client.answers client.calls client.transport errors jsonrpc latest",
    "client.handshake": "client.answers client.calls client.conversions client.errands client.hearing client.questions"
    " client.transport errors jsonrpc latest",
    "client.era": "client.answers client.calls client.conversions client.errands client.handshake client.transport errors"
    " jsonrpc latest",
    "client.session": "client.answers client.cache client.calls client.driver client.era client.hearing client.listen"
    " client.pages client.tools"
    " client.transport jsonrpc latest",
    "client.blocking": "client.answers client.driver client.hearing client.listen client.transport jsonrpc latest wire",
    "client.memory": "client.transport",
    "client.process": "client.transport lines",
    "client.stdio": "client.process client.transport errors jsonrpc lines",
    "client.events": "",
    "client.http": "client.events client.transport headers jsonrpc latest wire",
    "client.sessions": "client.events client.http client.transport headers jsonrpc",
    "client.client": f"client.listen {FACE}",
    "client.sync": f"client.blocking client.listen {FACE}",
    "client": "client.answers client.cache client.client client.listen client.sync client.tools client.transport",
    # what only a server that asks for authorization needs, over the official package
    "client.store": "",
    "client.redirect": "",
    "client.challenge": "client.transport",
    "client.shelf": "client.store",
    "client.person": "client.challenge client.redirect client.shelf",
    "client.grants": "client.challenge client.shelf",
    "client.discovery": "client.challenge client.grants client.person client.shelf",
    "client.oauth": "client.challenge client.discovery client.grants client.person client.redirect client.shelf client.store",
}
"""Room of the emitted package -> rooms that it may import; `revision` stands for each of `v2026_07_28` and so on."""

RUNTIME_TOOLS = {
    "httpx2": (
        "client.http",
        "client.sessions",
        "client.challenge",
        "client.person",
        "client.grants",
        "client.discovery",
        "client.oauth",
    ),
    "jsonschema": ("schemas",),
    "referencing": ("schemas",),
    "mcp": ("client.shelf", "client.person", "client.grants", "client.discovery", "client.oauth"),
    "starlette": ("server.application",),
    "uvicorn": ("server.hosting",),
}
"""Library -> the rooms that may import it."""

EVERYWHERE = frozenset({"pydantic", "pydantic_core", "typing_extensions"})
"""What every room of the emitted package may rely on: types need Pydantic alone."""

OUTSIDE = frozenset(
    {"io", "os", "select", "selectors", "signal", "socket", "ssl", "subprocess", "sys", "tempfile"}
)
"""Modules that reach the operating system."""

TRANSPORTS = frozenset(
    {"server.pipes", "server.stdio", "server.http", "server.hosting", "client.process", "client.stdio"}
    | {"client.http", "client.store", "client.redirect"}
)
"""The rooms that may, and the one that keeps files; `client.client` and its twin only name `os.PathLike` in a signature."""

WRITES = frozenset({"mkdir", "mkdtemp", "rmdir", "rmtree", "touch", "unlink", "write_bytes", "write_text"})
"""Calls that change a folder."""

LONGEST_ROOM = 330
LONGEST_FUNCTION = 40

LONG = {
    "cli.generate": "its options, one line each; the body is 18 lines",
    "cli_schema.schema_outdated": "its options, one line each; the body is 13 lines",
    "cli_schema.schema_add": "its options, one line each; the body is 16 lines",
    "cli.scaffold": "its options, one line each; the body is 13 lines",
    "cli.update": "its options, one line each; the body is 18 lines",
    "server.app.__init__": "what is set for a server, one line each, and told in its docstring; the body is 18 lines",
    "server.app.http": "its settings, one line each, and told in its docstring; the body hands them on",
}
"""Rooms and functions over the limits, each with its reason."""

Sources = Mapping[str, str]


def sources(folder: Path) -> dict[str, str]:
    """The text of each room below a folder; a package goes by its own name."""
    return {room(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}


def room(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def generator() -> dict[str, str]:
    return sources(ROOT / "codegen/mcpcodegen")


def runtime() -> dict[str, str]:
    return sources(ROOT / "templates/runtime")


def revisions() -> dict[str, dict[str, str]]:
    """The rendered rooms, by the package of the revision, each beside the static ones."""
    folder = ROOT / "generated/mcprotocol"
    static = {name: text for name, text in sources(folder).items() if not name.startswith("v2")}
    return {
        package.name: static | {f"revision.{name}".removesuffix(".__init__"): text for name, text in sources(package).items()}
        for package in sorted(folder.glob("v2*"))
    }  # fmt: skip


def imported(name: str, text: str, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """What a room imports: ("room", its name) for one of ours, ("library", its name) for the rest."""
    is_package = name == "__init__" or any(other.startswith(f"{name}.") for other in known)
    home = name.split(".") if is_package and name != "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (("library", alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield "library", (node.module or "").partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            base = [*home[: len(home) + 1 - node.level], *(node.module or "").split(".")]
            place = ".".join(part for part in base if part)
            place = "revision" if place.startswith("v2") else place
            for alias in node.names:
                inner = f"{place}.{alias.name}".lstrip(".")
                yield "room", inner if inner in known else place or "__init__"


def breaches(
    rooms: Sources, table: Mapping[str, str], tools: Mapping[str, tuple[str, ...]], everywhere: frozenset[str]
) -> list[str]:
    """What these rooms do against the table, one line each."""
    known = frozenset({*rooms, *table})
    found: list[str] = []
    for name, text in sorted(rooms.items()):
        if name not in table:
            found.append(f"{name}: has no row; add one on its floor, with the rooms that it may import")
            continue
        for kind, what in dict.fromkeys(imported(name, text, known)):
            if kind == "room" and what not in table[name].split():
                found.append(f"{name}: may not import {what}")
            if kind == "library" and what not in sys.stdlib_module_names | everywhere:
                owner = next((one for one in tools.get(what, ()) if one in rooms), "no room")
                if name not in tools.get(what, ()):
                    found.append(f"{name}: may not import {what}, which belongs to {owner}")
    return found


def oversized(rooms: Sources) -> dict[str, int]:
    """The rooms and functions that are over the limits, with their lines."""
    found = {name: lines for name, text in rooms.items() if (lines := text.count("\n")) > LONGEST_ROOM}
    for name, text in rooms.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                lines = (node.end_lineno or first) - first + 1
                if lines > LONGEST_FUNCTION:
                    found[f"{name}.{node.name}"] = lines
    return found


def reaching(rooms: Sources) -> set[str]:
    """The rooms that reach the operating system."""
    known = frozenset(rooms)
    return {
        name for name, text in rooms.items() if OUTSIDE & {what for _, what in imported(name, text, known)}
    }


def writers(rooms: Sources) -> set[str]:
    """The rooms that change a folder."""
    return {
        name
        for name, text in rooms.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in WRITES
        or isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
    }  # fmt: skip


def catchers(rooms: Sources, caught: str) -> set[str]:
    """The rooms with an `except` for one exception by name."""
    return {
        name
        for name, text in rooms.items()
        for handler in ast.walk(ast.parse(text))
        if isinstance(handler, ast.ExceptHandler) and handler.type is not None
        for node in ast.walk(handler.type)
        if isinstance(node, ast.Name) and node.id == caught
    }


@pytest.mark.parametrize("table", [GENERATOR, RUNTIME], ids=["generator", "runtime"])
def test_a_row_names_only_rooms_of_earlier_rows(table: Mapping[str, str]) -> None:
    order = list(table)
    upward = {
        (name, other)
        for name, allowed in table.items()
        for other in allowed.split()
        if other not in order or order.index(other) >= order.index(name)
    }
    assert upward == set()


def test_server_and_client_have_no_row_in_common() -> None:
    sides = {"server": "client", "client": "server"}
    crossing = {
        (name, other)
        for name, allowed in RUNTIME.items()
        for other in allowed.split()
        if sides.get(name.partition(".")[0]) == other.partition(".")[0]
    }
    assert crossing == set()


def test_the_generator_keeps_its_table() -> None:
    assert breaches(generator(), GENERATOR, GENERATOR_TOOLS, frozenset()) == []


def test_the_runtime_keeps_its_table() -> None:
    assert breaches(runtime(), RUNTIME, RUNTIME_TOOLS, EVERYWHERE) == []


@pytest.mark.parametrize("package", revisions())
def test_what_is_rendered_for_a_revision_keeps_the_table(package: str) -> None:
    assert breaches(revisions()[package], RUNTIME, RUNTIME_TOOLS, EVERYWHERE) == []


def test_the_core_of_the_runtime_does_no_input_or_output() -> None:
    assert reaching(runtime()) - TRANSPORTS <= {"client.client", "client.sync"}


def test_only_the_rooms_of_a_swap_touch_a_folder() -> None:
    assert writers(generator()) == {"stage", "swap"}


def test_only_the_command_catches_our_errors() -> None:
    assert catchers(generator(), "CodegenError") == {"console"}


@pytest.mark.parametrize("rooms", [generator(), runtime()], ids=["generator", "runtime"])
def test_rooms_and_functions_are_short_or_say_why(rooms: Sources) -> None:
    assert {name: lines for name, lines in oversized(rooms).items() if name not in LONG} == {}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("sync", "from .load import load", "sync: may not import load"),
        ("sync", "def f():\n    from . import pipeline", "sync: may not import pipeline"),
        ("hoist", "import jinja2.nodes", "hoist: may not import jinja2, which belongs to render"),
        (
            "tidy",
            "from click.testing import CliRunner",
            "tidy: may not import click, which belongs to console",
        ),
        ("load", "import requests", "load: may not import requests, which belongs to no room"),
        ("load", "import mcpcodegen.cli", "load: may not import mcpcodegen, which belongs to no room"),
        ("cellar", "", "cellar: has no row; add one on its floor, with the rooms that it may import"),
    ],
)
def test_a_planted_bad_room_of_the_generator_is_caught(name: str, text: str, found: str) -> None:
    before, after = (
        breaches(rooms, GENERATOR, GENERATOR_TOOLS, frozenset())
        for rooms in (generator(), generator() | {name: text})
    )
    assert set(after) - set(before) == {found}


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("wire", "from .server import Server", "wire: may not import server"),
        ("wire", "from .server.app import Server", "wire: may not import server.app"),
        ("client.memory", "from ..server import Server", "client.memory: may not import server"),
        ("client.memory", "from .. import server", "client.memory: may not import server"),
        ("server.context", "from . import dispatch", "server.context: may not import server.dispatch"),
        ("jsonrpc", "from .v2026_07_28 import types", "jsonrpc: may not import revision.types"),
        ("errors", "import httpx2", "errors: may not import httpx2, which belongs to client.http"),
        ("lines", "import mcprotocol", "lines: may not import mcprotocol, which belongs to no room"),
    ],
)  # fmt: skip
def test_a_planted_bad_room_of_the_runtime_is_caught(name: str, text: str, found: str) -> None:
    before, after = (
        breaches(several, RUNTIME, RUNTIME_TOOLS, EVERYWHERE)
        for several in (runtime(), runtime() | {name: text})
    )
    assert set(after) - set(before) == {found}


def test_types_that_reach_for_a_transport_are_caught() -> None:
    rooms = {"revision.types": "import starlette\nfrom ..server import Server\nfrom pydantic import Field"}
    assert sorted(breaches(rooms, RUNTIME, RUNTIME_TOOLS, EVERYWHERE)) == [
        "revision.types: may not import server",
        "revision.types: may not import starlette, which belongs to no room",
    ]


def test_a_long_room_and_a_long_function_are_caught() -> None:
    long = "def f() -> None:\n" + "    pass\n" * 400
    assert oversized({"a": long, "b": "x = 1\n" * 331, "c": "x = 1\n"}) == {"a": 401, "a.f": 401, "b": 331}


def test_a_room_that_reaches_outside_writes_or_swallows_is_caught() -> None:
    rooms = {
        "a": "from pathlib import Path\nPath('x').write_text('y')",
        "b": "open('x')",
        "c": "try:\n    pass\nexcept (ValueError, CodegenError):\n    pass",
        "d": "x = 1",
    }
    assert reaching({"e": "def f():\n    from os import read", "f": "import oslo"}) == {"e"}
    assert writers(rooms) == {"a", "b"}
    assert catchers(rooms, "CodegenError") == {"c"}
