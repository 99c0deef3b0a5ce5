"""A package of 2026-07-28 alone knows of no handshake: neither in its files nor in what its server answers."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from emitted import write
from guests import BARE, initialize, message
from hosted import body, post
from mcpcodegen import pipeline

NAME = "of_one_era"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("package")
    write(pipeline.emit([pipeline.read(revision="2026-07-28")], NAME), folder)
    sys.path.insert(0, str(folder))
    try:
        server = importlib.import_module(f"{NAME}.server").Server("alone", version="1")
        server.tool(name="echo")(echo)
        yield server.http(stateless=True, max_sessions=1)
    finally:
        sys.path.remove(str(folder))
        for name in [one for one in sys.modules if one.partition(".")[0] == NAME]:
            del sys.modules[name]


async def echo(text: str) -> str:
    """Give back a text."""
    return text


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
def test_messages_come_by_post_alone(application: Any, method: str, version: str) -> None:
    headers = {"MCP-Protocol-Version": version, "MCP-Session-Id": "x", "Last-Event-ID": "0-0"}
    answer = post(application, b"", headers, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("version", ["", "2025-11-25"])
def test_a_handshake_is_refused_with_what_is_spoken(application: Any, version: str) -> None:
    for data in (initialize(), message(1, "tools/list")):
        answer = post(application, data, {**BARE, "MCP-Protocol-Version": version})
        assert answer.status == 400
        assert answer.code() in (-32020, -32602)
    error = post(application, initialize(), {**BARE, "MCP-Protocol-Version": version}).json()["error"]
    assert error["data"] == {"supported": ["2026-07-28"]} and "2026-07-28" in error["message"]


def test_its_own_era_is_answered(application: Any) -> None:
    answer = post(application, body(1, "tools/call", name="echo", arguments={"text": "hi"}))
    assert answer.json()["result"]["content"][0]["text"] == "hi"


def test_no_file_of_it_speaks_of_sessions(application: Any) -> None:
    package = Path(sys.modules[NAME].__file__ or "").parent
    assert not (package / "server" / "legacy").exists()
    assert not {path.name for path in (package / "client").iterdir()} & {"handshake.py", "sessions.py"}
    assert "ession-" not in "".join(path.read_text() for path in package.rglob("*/**/*.py"))


def test_its_client_asks_nothing_beside_what_it_is_asked(application: Any) -> None:
    client = importlib.import_module(f"{NAME}.client")
    requests: list[str] = []

    async def seen(request: httpx2.Request) -> None:
        requests.append(request.headers["mcp-method"])

    async def scenario() -> None:
        over = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(application), event_hooks={"request": [seen]}
        )
        async with over, client.Client.http("http://127.0.0.1:8000/mcp", client=over) as caller:
            assert (caller.era, caller.protocol_version) == ("modern", "2026-07-28")
            result = await caller.call_tool("echo", {"text": "hi"})
            assert result.content[0].text == "hi"

    asyncio.run(scenario())
    assert requests == ["tools/call"]


def test_every_module_of_its_client_imports(application: Any) -> None:
    package = Path(sys.modules[NAME].__file__ or "").parent
    modules = sorted(path.stem for path in (package / "client").glob("*.py"))
    assert "era" in modules
    for module in modules:
        importlib.import_module(f"{NAME}.client.{module}")
