"""What type checkers conclude about the public surface is what is promised; and they catch what is wrong."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import httpx2
import mcprotocol.client
import pytest
from emitted import ROOT
from mcpcodegen.hoist import hoist
from mcpcodegen.load import load
from mcprotocol.client import Client, ClientSync
from mcprotocol.client.blocking import ListeningSync
from mcprotocol.client.listen import Listening
from mcprotocol.latest import client as stubs
from mcprotocol.v2025_11_25 import types as legacy
from mcprotocol.v2026_07_28 import types
from mcprotocol.wire import WireModel

SAMPLES = sorted((Path(__file__).parent / "typed").glob("*.py"))

WRONG = """
from mcprotocol.v2026_07_28 import messages, types

types.TextContent()
types.TextContent(text=5)
types.TextContent(text="x", annotation=None)
messages.parse_result("tools/cal", b"")
types.CallToolResult(content="x")
"""
"""Five faults, one a line."""


def mypy(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(file)]
    return subprocess.run(command, capture_output=True, text=True)


def pyright(file: Path, project: Path) -> subprocess.CompletedProcess[str]:
    (project / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "pythonVersion": "3.11"}')
    copy = project / "sample.py"
    copy.write_text(file.read_text())
    command = [sys.executable, "-m", "basedpyright", "-p", str(project), "--pythonpath", sys.executable]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_mypy_concludes_what_a_sample_asserts(sample: Path) -> None:
    done = mypy(sample)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_pyright_concludes_what_a_sample_asserts(sample: Path, tmp_path: Path) -> None:
    done = pyright(sample, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_each_misuse_is_found(checker: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    done = mypy(file) if checker == "mypy" else pyright(file, tmp_path)
    for line in (4, 5, 6, 7, 8):
        assert f".py:{line}:" in done.stdout, done.stdout


CALLS = """
from mcprotocol.client import Client, ClientSync

async def wrong(client: Client, twin: ClientSync) -> None:
    await client.call_tool("a", [1])
    await client.call_tool("a", timeout="5")
    client.listen(tools="yes")
    for tool in client.tools(): ...
    await twin.discover()
    Client.stdio(["server"], cashe=False)
"""
"""Six faults, one a line."""


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_each_misuse_of_a_client_is_found(checker: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(CALLS)
    done = mypy(file) if checker == "mypy" else pyright(file, tmp_path)
    for line in (5, 6, 7, 8, 9, 10):
        assert f".py:{line}:" in done.stdout, done.stdout


def test_deprecated_types_are_struck_through(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    file.write_text("from mcprotocol.v2026_07_28 import types\n\ntypes.Root(uri='file:///x')\n")
    done = pyright(file, tmp_path)
    assert "deprecated" in done.stdout and "2026-07-28" in done.stdout


SURFACE = [
    ("made", "Client", Client),
    ("made", "ClientSync", ClientSync),
    ("awaited", "client", Client),
    ("awaited", "changes", Listening),
    ("exact", "calls", stubs.ClientCalls),
    ("waited_for", "client", ClientSync),
    ("waited_for", "changes", ListeningSync),
]
"""A function of the sample, a name in it, and the class of what has that name."""

WAYS_IN = {"memory", "stdio", "http"}
"""The ways to make a client, which belong to its class."""


@pytest.mark.parametrize(("function", "name", "holder"), SURFACE)
def test_the_type_of_each_call_is_asserted(function: str, name: str, holder: type[Any]) -> None:
    tree = ast.parse((Path(__file__).parent / "typed/calls.py").read_text())
    (body,) = (node for node in tree.body if getattr(node, "name", "") == function)
    asserted = {
        inner.attr
        for call in ast.walk(body)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "assert_type"
        for inner in ast.walk(call.args[0])
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == name
    }
    public = {name for name in dir(holder) if not name.startswith("_")}
    wanted = public & WAYS_IN if function == "made" else public - WAYS_IN
    # What a subscription is, is asserted where it is opened; and what gives None, mypy lets nobody look at.
    assert wanted - asserted <= {"listen", "close", "notify_cancelled"}


OPEN = {
    ("call_tool", "arguments"),  # any JSON values, in the schema too
    ("run", "work"),  # what a coroutine yields and is sent concerns its loop alone
    ("get", "method"),  # the row of any method
    ("put", "method"),
}
"""The parameters of the client that may be anything, or hold it."""


def test_nothing_else_of_a_client_is_of_any_type() -> None:
    exported = [getattr(mcprotocol.client, name) for name in mcprotocol.client.__all__]
    holders: list[type[Any]] = [
        *filter(inspect.isclass, exported),
        stubs.ClientCalls,
        Listening,
        ListeningSync,
    ]
    known = {"AsyncClient": httpx2.AsyncClient, "Auth": httpx2.Auth}
    found = {
        (name, parameter)
        for holder in holders
        for name, function in functions(holder)
        for parameter, hint in get_type_hints(function, localns=known).items()
        if holds_any(hint)
    }
    assert found == OPEN


def functions(holder: type[Any]) -> Iterator[tuple[str, Any]]:
    """The functions of a class that a caller uses, among them those that Python calls."""
    for name, member in inspect.getmembers_static(holder):
        plain = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isfunction(plain) and (not name.startswith("_") or name.startswith("__")):
            yield name, plain


def holds_any(hint: Any) -> bool:
    """Whether something in a type may be anything; a named type answers for itself."""
    inner: list[Any] = [*hint] if isinstance(hint, list) else [*get_args(hint)]
    return hint is Any or any(map(holds_any, inner))


@pytest.mark.parametrize(("date", "module"), [("2025-11-25", legacy), ("2026-07-28", types)])
def test_a_member_is_of_any_type_only_where_the_schema_leaves_it_open(date: str, module: ModuleType) -> None:
    document = hoist(load((ROOT / f"schema/{date}.json").read_bytes(), source="facts"))
    found = 0
    for name, model in vars(module).items():
        if not (inspect.isclass(model) and issubclass(model, WireModel) and name in document.definitions):
            continue
        for member, field in model.model_fields.items():
            if holds_any(field.annotation):
                schema = document.definitions[name]["properties"][field.alias or member]
                assert is_open(schema), (name, member, schema)
                found += 1
    assert found > 10


def is_open(schema: Any) -> bool:
    """Whether a schema says nothing of a value, or nothing of what an object, or an object in it, holds."""
    if schema in (True, {}):
        return True
    return (
        schema.get("type") == "object"
        and not schema.get("properties")
        and is_open(schema.get("additionalProperties", {}))
    )
