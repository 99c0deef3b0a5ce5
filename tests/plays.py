"""Plays: each verb of the handshake era, as our client plays it with a server that has these offers, and what it should become.

The server is called `official` and says `ask`. Its tools note what it was told, ask the user, a model and the client,
and say and change what there is to say and change; see `servers/official.py`.
"""

# What is deprecated is still part of the revision:
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

from hosted import hosted
from mcprotocol.client import Client, Missed
from mcprotocol.errors import McpError
from mcprotocol.latest import types

SECONDS: Final = 300.0
"""How long one play may take, on a machine that is busy with other things."""

Play: TypeAlias = Callable[[Client], Awaitable[None]]

Connect: TypeAlias = Callable[..., AbstractAsyncContextManager[Client]]
"""Starts a server by its command and environment, and connects to it."""

CHANGED: Final = {
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
    types.ResourceUpdatedNotification,
}
"""What is told when the server has changed."""


def fill(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    """Answer as the question wants it; the rest of the form is left to its defaults."""
    match form.message.split():
        case ["decline"]:
            return types.ElicitResult(action="decline")
        case ["cancel"]:
            return types.ElicitResult(action="cancel")
        case ["misfill"]:
            return types.ElicitResult(action="accept", content={"name": 1})
        case words:
            return types.ElicitResult(action="accept", content={"name": words[-1]})


def visit(at: types.ElicitRequestURLParams) -> types.ElicitResult:
    """Open one URL alone."""
    return types.ElicitResult(action="accept" if at.url == "https://example.com/in" else "decline")


def speak(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(text="hello"))


def home() -> list[types.Root]:
    return [types.Root(uri="file:///home", name="home")]


CAPABLE: Final[Mapping[str, Any]] = {
    "elicit": fill,
    "elicit_url": visit,
    "sample": speak,
    "roots": home,
    "timeout": SECONDS,
}
"""A client that can be asked anything."""


@asynccontextmanager
async def over_stdio(
    command: list[str], environment: Mapping[str, str], **options: Any
) -> AsyncGenerator[Client, None]:
    """A client of a server on a pipe."""
    asked: Any = {**CAPABLE, **options}
    async with Client.stdio([*command, "stdio"], env=environment, **asked) as client:
        yield client


@asynccontextmanager
async def over_http(
    command: list[str], environment: Mapping[str, str], **options: Any
) -> AsyncGenerator[Client, None]:
    """A client of a server on a free port."""
    asked: Any = {**CAPABLE, **options}
    async with (
        hosted(*command, "streamable-http", cwd=None, **environment) as site,
        Client.http(f"{site.url}/mcp", **asked) as client,
    ):
        yield client


WAYS: Final[Mapping[str, Connect]] = {"stdio": over_stdio, "http": over_http}


def play(connected: AbstractAsyncContextManager[Client], work: Play) -> None:
    """Play once, within a time, with a server that is started for it."""

    async def scenario() -> None:
        async with asyncio.timeout(SECONDS), connected as client:
            await work(client)

    asyncio.run(scenario())


def text(result: types.CallToolResult) -> str:
    """The text in a result of one part."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def told(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says."""
    return text(await client.call_tool(tool, arguments))


async def fails(refused: Awaitable[object]) -> bool:
    """Whether there is an error, in whichever of its two forms."""
    try:
        result = await refused
    except McpError:
        return True
    return isinstance(result, types.CallToolResult) and result.is_error is True


async def noted(client: Client, what: str, expected: list[str]) -> None:
    """Wait until the server has noted something."""
    while (await client.call_tool("noted", returns=dict[str, list[str]]))[what] != expected:
        await asyncio.sleep(0.05)


async def introduce(client: Client) -> None:
    found = await client.discover()
    assert (client.era, client.protocol_version) == ("handshake", "2025-11-25")
    assert found.meta is not None and found.meta.server_info is not None
    assert (found.meta.server_info.name, found.instructions) == ("official", "ask")
    assert found.capabilities.logging is not None and found.capabilities.completions is not None


async def list_all(client: Client) -> None:
    tools = {tool.name: tool async for tool in client.tools()}
    assert {"add", "ask", "sample"} <= tools.keys()
    assert tools["add"].input_schema["required"] == ["a", "b"]
    assert (tools["add"].output_schema or {})["required"] == ["result"]
    assert [one.uri async for one in client.resources()] == ["config://app", "image://dot"]
    assert [one.uri_template async for one in client.resource_templates()] == ["users://{id}"]
    (prompt,) = [one async for one in client.prompts()]
    assert (prompt.name, [one.name for one in prompt.arguments or ()]) == ("hello", ["name"])


async def call(client: Client) -> None:
    await client.list_tools()
    assert await client.call_tool("add", {"a": 1, "b": 2}, returns=dict[str, int]) == {"result": 3}
    assert (await client.call_tool("add", {"a": "x"})).is_error is True


async def read(client: Client) -> None:
    (content,) = (await client.read_resource("users://7")).contents
    assert isinstance(content, types.TextResourceContents) and content.text == "user 7"
    (image,) = (await client.read_resource("image://dot")).contents
    assert isinstance(image, types.BlobResourceContents)
    assert (image.mime_type, base64.b64decode(image.blob)) == ("image/png", b"\x00\xffdot")


async def get(client: Client) -> None:
    (message,) = (await client.get_prompt("hello", {"name": "Ann"})).messages
    assert isinstance(message.content, types.TextContent)
    assert (message.role, message.content.text) == ("user", "hello Ann")


async def complete(client: Client) -> None:
    assert (await client.complete("name", "A", prompt="hello")).completion.values == ["Anna"]
    assert (await client.complete("id", "7", resource="users://{id}")).completion.values == ["7nna"]


async def fail(client: Client) -> None:
    # The servers have no fixed code for these.
    assert await fails(client.read_resource("none://x"))
    assert await fails(client.get_prompt("none"))


async def elicit(client: Client) -> None:
    assert await told(client, "ask", message="Who is Ann") == "AnnAnn"
    assert await told(client, "ask", message="decline") == "decline"
    assert await told(client, "ask", message="cancel") == "cancel"
    # What does not fit the form is not sent: the server is told that there is no answer.
    assert await fails(client.call_tool("ask", {"message": "misfill"}))


async def elicit_at_once(client: Client) -> None:
    names = [f"n{number}" for number in range(5)]
    asked = (told(client, "ask", message=f"Who is {name}") for name in names)
    assert await asyncio.gather(*asked) == [name * 2 for name in names]


async def elicit_url(client: Client) -> None:
    assert await told(client, "link", url="https://example.com/in") == "accept"
    assert await told(client, "link", url="https://example.com/out") == "decline"


async def sample(client: Client) -> None:
    assert await told(client, "sample") == "hello"


async def roots(client: Client) -> None:
    assert await told(client, "roots") == "file:///home"


async def ping(client: Client) -> None:
    assert await told(client, "ping") == "pong"


async def progress(client: Client) -> None:
    steps: list[types.ProgressNotificationParams] = []
    await client.call_tool("steps", progress=steps.append)
    assert [(one.progress, one.total, one.message) for one in steps] == [(1, 2, "step 1"), (2, 2, "step 2")]


async def log(client: Client) -> None:
    said: list[tuple[str, object]] = []

    def hear(message: types.LoggingMessageNotificationParams) -> None:
        said.append((message.level, message.data))

    await client.call_tool("speak", messages=hear, level="info")
    await client.call_tool("speak", messages=hear, level="error")
    await client.call_tool("speak", messages=hear, level="debug")
    await client.call_tool("speak")
    assert said == [
        *(("info", "info"), ("error", "error")),
        *(("error", "error"),),
        *(("debug", "debug"), ("info", "info"), ("error", "error")),
    ]
    # One level is that of all calls: it is set where one wants more than was said before.
    await noted(client, "levels", ["info", "debug"])


async def subscribe(client: Client) -> None:
    capabilities = (await client.discover()).capabilities
    announced = capabilities.tools is not None and capabilities.tools.list_changed is True
    wanted: Any = {"tools": True, "prompts": True, "resource_list": True, "resources": ["config://app"]}
    async with client.listen(**wanted) as changes:
        assert changes.granted.resource_subscriptions == ["config://app"]
        # Some announce nothing, and tell of it all the same.
        assert changes.granted.tools_list_changed is (True if announced else None)
        await client.call_tool("change")
        heard = {type(await changes.next()) for _ in CHANGED}
        assert heard == CHANGED and Missed not in heard
        assert "extra" in {tool.name async for tool in client.tools()}
    await noted(client, "subscribed", ["+config://app", "-config://app"])


async def cancel(client: Client) -> None:
    await client.list_tools()
    late = None
    try:
        await client.call_tool("wait", timeout=1)
    except TimeoutError as error:
        late = error
    assert late is not None
    await noted(client, "cancelled", ["wait"])
    assert await told(client, "ping") == "pong"


PLAYS: Final[tuple[Play, ...]] = (
    introduce,
    list_all,
    call,
    read,
    get,
    complete,
    fail,
    elicit,
    elicit_at_once,
    elicit_url,
    sample,
    roots,
    ping,
    progress,
    log,
    subscribe,
    cancel,
)
