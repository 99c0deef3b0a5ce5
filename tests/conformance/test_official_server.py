"""The official Python server of the handshake era, unmodified, in an environment of its own: each verb over both transports."""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import venv
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcprotocol.client import Client
from mcprotocol.errors import McpError
from mcprotocol.latest import types

pytestmark = pytest.mark.conformance

PACKAGE = "mcp==1.30.0"
"""The last official package that knows the handshake alone."""

PATIENCE = 300.0
"""Seconds that one test may take on a machine that is busy with other things."""

CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""The environment without what would let the server see other packages than its own."""

# It is for another environment, in which alone it can be checked or run.
SERVER = '''
import asyncio, sys
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import AnyUrl, BaseModel

mcp = FastMCP("official", instructions="ask", host="127.0.0.1", port=0)
cancelled, levels, subscribed = [], [], []

class Name(BaseModel):
    name: str
    times: int = 2

@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

@mcp.tool()
async def ask(ctx: Context) -> str:
    answer = await ctx.elicit("Who?", Name)
    return answer.data.name * answer.data.times if answer.action == "accept" else answer.action

@mcp.tool()
async def sample(ctx: Context) -> str:
    said = SamplingMessage(role="user", content=TextContent(type="text", text="hi"))
    return (await ctx.session.create_message([said], max_tokens=5)).content.text

@mcp.tool()
async def roots(ctx: Context) -> list[str]:
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]

@mcp.tool()
async def ping(ctx: Context) -> str:
    await ctx.session.send_ping()
    return "pong"

@mcp.tool()
async def steps(ctx: Context) -> str:
    for step in (1, 2):
        await ctx.report_progress(step, 2)
    return "done"

@mcp.tool()
async def speak(ctx: Context) -> str:
    for level in ("debug", "info", "error"):
        await ctx.log(level, level)
    return "said"

@mcp.tool()
async def wait() -> str:
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        cancelled.append("wait")
        raise

@mcp.tool()
async def noted() -> dict[str, list[str]]:
    return {"cancelled": cancelled, "levels": levels, "subscribed": subscribed}

@mcp.tool()
async def change(ctx: Context) -> str:
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_resource_updated(AnyUrl("config://app"))
    return "changed"

@mcp.resource("config://app")
def config() -> str:
    return "on"

@mcp.resource("users://{id}")
def user(id: str) -> str:
    return f"user {id}"

@mcp.prompt()
def hello(name: str) -> str:
    return f"hello {name}"

@mcp.completion()
async def complete(ref, argument, context):
    return Completion(values=[argument.value + "nna"])

@mcp._mcp_server.set_logging_level()
async def set_level(level):
    levels.append(level)

@mcp._mcp_server.subscribe_resource()
async def subscribe(uri):
    subscribed.append("+" + str(uri))

@mcp._mcp_server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed.append("-" + str(uri))

mcp.run(sys.argv[1])
'''

Work = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the server, in an environment that has the official package and nothing of ours."""
    folder = tmp_path_factory.mktemp("official")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, env=CLEAN)
    assert done.returncode == 0, done.stderr
    script = folder / "server.py"
    script.write_text(SERVER)
    return [str(python), str(script)]


def fill(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    """Leave to the form what it has by default."""
    return types.ElicitResult(action="accept", content={"name": "Ann"})


def speak(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(text="hello"))


def home() -> list[types.Root]:
    return [types.Root(uri="file:///home")]


CAPABLE: dict[str, Any] = {"elicit": fill, "sample": speak, "roots": home, "timeout": PATIENCE}


@asynccontextmanager
async def over_stdio(program: list[str]) -> AsyncGenerator[Client, None]:
    async with Client.stdio([*program, "stdio"], **CAPABLE) as client:
        yield client


@asynccontextmanager
async def over_http(program: list[str]) -> AsyncGenerator[Client, None]:
    process = await asyncio.create_subprocess_exec(
        *program, "streamable-http", env=CLEAN, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        url = None
        while url is None:
            line = (await process.stderr.readline()).decode()
            assert line, "the server has ended"
            url = re.search(r"http://[\d.]+:\d+", line)
        rest = asyncio.create_task(process.stderr.read())
        async with Client.http(f"{url[0]}/mcp", **CAPABLE) as client:
            yield client
        process.terminate()
        await rest
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def text(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def introduce(client: Client) -> None:
    found = await client.discover()
    assert (client.era, client.protocol_version) == ("handshake", "2025-11-25")
    assert found.meta is not None and found.meta.server_info is not None
    assert (found.meta.server_info.name, found.instructions) == ("official", "ask")


async def list_all(client: Client) -> None:
    assert {"add", "ask", "sample"} <= {tool.name async for tool in client.tools()}
    assert [one.uri async for one in client.resources()] == ["config://app"]
    assert [one.uri_template async for one in client.resource_templates()] == ["users://{id}"]
    assert [one.name async for one in client.prompts()] == ["hello"]


async def use(client: Client) -> None:
    await client.list_tools()
    assert await client.call_tool("add", {"a": 1, "b": 2}, returns=dict[str, int]) == {"result": 3}
    assert (await client.call_tool("add", {"a": "x"})).is_error is True
    (content,) = (await client.read_resource("users://7")).contents
    assert isinstance(content, types.TextResourceContents) and content.text == "user 7"
    (message,) = (await client.get_prompt("hello", {"name": "Ann"})).messages
    assert isinstance(message.content, types.TextContent) and message.content.text == "hello Ann"
    assert (await client.complete("name", "A", prompt="hello")).completion.values == ["Anna"]


async def fail(client: Client) -> None:
    # The server itself has no fixed code for these.
    with pytest.raises(McpError):
        await client.read_resource("none://x")
    with pytest.raises(McpError):
        await client.get_prompt("none")


async def answer(client: Client) -> None:
    assert text(await client.call_tool("ask")) == "AnnAnn"
    assert text(await client.call_tool("sample")) == "hello"
    assert text(await client.call_tool("roots")) == "file:///home"
    assert text(await client.call_tool("ping")) == "pong"


async def hear(client: Client) -> None:
    steps: list[float] = []
    said: list[object] = []
    await client.call_tool("steps", progress=lambda told: steps.append(told.progress))
    await client.call_tool("speak", messages=lambda told: said.append(told.data), level="info")
    assert (steps, said) == ([1, 2], ["info", "error"])
    await noted(client, "levels", ["info"])


async def subscribe(client: Client) -> None:
    async with client.listen(tools=True, resources=["config://app"]) as changes:
        # It has handlers for what it does not announce.
        assert changes.granted == types.SubscriptionFilter(resource_subscriptions=["config://app"])
        await client.call_tool("change")
        found = {type(await changes.next()), type(await changes.next())}
        assert found == {types.ToolListChangedNotification, types.ResourceUpdatedNotification}
    await noted(client, "subscribed", ["+config://app", "-config://app"])


async def cancel(client: Client) -> None:
    await client.list_tools()
    with pytest.raises(TimeoutError):
        await client.call_tool("wait", timeout=1)
    await noted(client, "cancelled", ["wait"])


async def noted(client: Client, what: str, expected: list[str]) -> None:
    """Wait until the server has noted something."""
    while (await client.call_tool("noted", returns=dict[str, list[str]]))[what] != expected:
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("work", [introduce, list_all, use, fail, answer, hear, subscribe, cancel])
@pytest.mark.parametrize("connect", [over_stdio, over_http])
def test_each_verb_does_what_it_does_with_a_newer_server(
    program: list[str], connect: Callable[[list[str]], Any], work: Work
) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE), connect(program) as client:
            await work(client)

    asyncio.run(scenario())
