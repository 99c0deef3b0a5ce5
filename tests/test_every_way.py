"""One server, and one body for each thing that its handlers do: the same in each era, over each transport.

All that was said is kept, and `mcp-codegen validate` finds nothing in it at the revision that was spoken.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from hosted import hosted
from mcp import MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.context import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    Root,
    TextContent,
)
from scaffolded import PATIENCE

SERVER = Path(__file__).parent / "servers/overheard.py"
PACKAGES = str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])

MODES = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
"""How the client is told the revision to speak."""

WAYS = [(revision, transport) for revision in MODES for transport in ("stdio", "http")]
"""Each era, over each transport."""


@asynccontextmanager
async def target(transport: str, record: Path) -> AsyncGenerator[Any]:
    """What a client is told to find a fresh server by, which keeps a record of all that is said."""
    if transport == "stdio":
        arguments = [str(SERVER), str(record)]
        yield StdioServerParameters(command=sys.executable, args=arguments, env={"PYTHONPATH": PACKAGES})
    else:
        async with hosted(sys.executable, SERVER, record, "--http") as site:
            yield f"{site.url}/mcp"


@dataclass
class Told:
    """What a client was asked and told."""

    asked: list[str] = field(default_factory=list[str])
    logged: list[Any] = field(default_factory=list[Any])
    changed: anyio.Event = field(default_factory=anyio.Event)
    action: Any = "accept"

    async def elicit(self, _: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        content: Any = {"name": f"N{len(self.asked)}"} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)

    async def sample(
        self, _: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        self.asked.append("sampling")
        return CreateMessageResult(role="assistant", content=TextContent(text="There"), model="M")

    async def roots(self, _: ClientRequestContext) -> ListRootsResult:
        self.asked.append("roots")
        return ListRootsResult(roots=[Root.model_validate({"uri": "file:///home"})])

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        self.logged.append(params.data)

    async def hear(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self.changed.set()


Scenario = Callable[[Client, Told], Awaitable[None]]
Play = Callable[[Scenario], None]


@pytest.fixture(params=WAYS, ids=" over ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A revision, and how the server is reached."""
    revision, transport = request.param
    return revision, transport


@pytest.fixture
def play(way: tuple[str, str], tmp_path: Path) -> Play:
    """Plays a scenario with a client that speaks the revision and can be asked anything, and judges what was said."""
    revision, transport = way
    record = tmp_path / "record.jsonl"

    async def bounded(scenario: Scenario) -> None:
        told = Told()
        callbacks: dict[str, Any] = {
            "elicitation_callback": told.elicit,
            "sampling_callback": told.sample,
            "list_roots_callback": told.roots,
            "logging_callback": told.log,
            "message_handler": told.hear,
            "log_level": "info",
        }
        async with asyncio.timeout(3 * PATIENCE), target(transport, record) as where:
            async with Client(where, mode=MODES[revision], **callbacks) as client:
                assert client.protocol_version == revision
                await scenario(client, told)

    def judged(scenario: Scenario) -> None:
        asyncio.run(bounded(scenario))
        assert b'"tools/call"' in record.read_bytes()
        command = [sys.executable, "-m", "mcpcodegen", "validate", "--revision", revision, str(record)]
        outcome = subprocess.run(command, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr + record.read_text()

    return judged


def text(result: Any) -> str:
    return "".join(block.text for block in result.content)


async def reported(client: Client, tool: str) -> tuple[str, list[float]]:
    """What a tool says in the end, and how far it has said to have come."""
    reports: list[float] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)

    return text(await client.call_tool(tool, progress_callback=report)), reports


def test_a_handler_asks_in_rounds_and_reports_on_the_way(play: Play, way: tuple[str, str]) -> None:
    async def scenario(client: Client, told: Told) -> None:
        said, reports = await reported(client, "plan")
        assert said == "N3 leads N1 and N2, M says, to file:///home"
        questions = ["Who goes?", "Who goes with N1?", "Who leads N1 and N2?"]
        assert told.asked == [*questions, "sampling", "roots"]
        assert told.logged == ["planned"]
        # Where each round is a request of its own, each has reports of its own.
        assert sorted({*reports}) == [1, 2, 3]
        assert way[0] == "2026-07-28" or reports == [1, 2, 3]

    play(scenario)


def test_a_user_who_declines_is_told_as_a_failure_of_the_tool(play: Play) -> None:
    async def scenario(client: Client, told: Told) -> None:
        told.action = "decline"
        result = await client.call_tool("plan")
        assert result.is_error and text(result) == "Who goes? decline"
        assert told.asked == ["Who goes?"]

    play(scenario)


def test_a_handler_is_cancelled_with_its_request(play: Play) -> None:
    async def scenario(client: Client, told: Told) -> None:
        begun = anyio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.call_tool("wait", progress_callback=report))
            await begun.wait()
            group.cancel_scope.cancel()
        while text(await client.call_tool("count_ended")) != "1":
            await asyncio.sleep(0.02)

    play(scenario)


def test_a_list_that_changes_is_told_and_is_another_one(play: Play, way: tuple[str, str]) -> None:
    async def scenario(client: Client, told: Told) -> None:
        before = {tool.name for tool in (await client.list_tools()).tools}
        if way[0] == "2025-11-25":
            await client.call_tool("grow")
            await told.changed.wait()
        else:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool("grow")
                await anext(changes)
        after = {tool.name for tool in (await client.list_tools()).tools}
        assert after - before == {"one_more"}

    play(scenario)


def test_a_failure_is_the_same_failure(play: Play) -> None:
    async def scenario(client: Client, told: Told) -> None:
        with pytest.raises(MCPError, match="Unknown tool: nothing") as caught:
            await client.call_tool("nothing")
        assert caught.value.error.code == -32602

    play(scenario)
