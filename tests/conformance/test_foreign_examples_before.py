"""The examples that the official packages bring, as they lie there, and used after a handshake."""

# Sampling, roots and logging are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from foreign import SERVERS, examples
from foreign import connected as connected_to
from mcprotocol.client import Client
from mcprotocol.latest import types
from suite import environment, installed, node
from visitor import SECONDS, roots, speak, text

pytestmark = pytest.mark.conformance

CONTACT: Mapping[str, Any] = {"name": "Ann", "email": "ann@example.com", "username": "ann", "response": "yes"}
"""What the user puts into a form, by member; the rest has a default or is left out."""


def fill(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    known = {name: CONTACT[name] for name in form.requested_schema.properties if name in CONTACT}
    return types.ElicitResult(action="accept", content=known)


def visit(at: types.ElicitRequestURLParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept")


CAPABLE: Mapping[str, Any] = {"elicit": fill, "elicit_url": visit, "sample": speak, "roots": roots}

Connected = AbstractAsyncContextManager[Client]
Example = Callable[[pytest.Config, str], tuple[list[str], Mapping[str, str]]]


def python(config: pytest.Config, name: str) -> tuple[list[str], Mapping[str, str]]:
    """The command of an example of the Python package of both eras."""
    command = [sys.executable, "-W", "ignore", "-m", f"stories.{name}.server"]
    return command, {**os.environ, "PYTHONPATH": str(examples(config))}


def typescript(config: pytest.Config, name: str) -> tuple[list[str], Mapping[str, str]]:
    """The command of an example of the TypeScript package of the handshake era."""
    package = installed(config) / "node_modules" / "@modelcontextprotocol" / "sdk"
    return [node(), str(package / "dist" / "esm" / "examples" / "server" / f"{name}.js")], environment()


def on_a_pipe(command: list[str], variables: Mapping[str, str], **options: Any) -> Connected:
    return Client.stdio(command, env=variables, **CAPABLE, **options)


@asynccontextmanager
async def on_a_port(
    command: list[str], variables: Mapping[str, str], **options: Any
) -> AsyncGenerator[Client, None]:
    """A client of an example that has to be told its port, and does not say when it listens."""
    port = free()
    started = [*command, "--http", "--port", str(port)]
    told = {**variables, "MCP_PORT": str(port)}
    process = await asyncio.create_subprocess_exec(*started, env=told, stdout=DEVNULL, stderr=DEVNULL)
    try:
        while not await listens(port):
            assert process.returncode is None
            await asyncio.sleep(0.05)
        async with Client.http(f"http://127.0.0.1:{port}/mcp", **CAPABLE, **options) as client:
            yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def free() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


def use(connected: Connected, play: Callable[[Client], Awaitable[None]]) -> None:
    """Play with an example that is started for it, within a time."""

    async def bounded() -> None:
        async with asyncio.timeout(SECONDS), connected as client:
            await play(client)
            assert (client.era, client.protocol_version) == ("handshake", "2025-11-25")

    asyncio.run(bounded())


async def said(client: Client, tool: str, **arguments: Any) -> str:
    return text(await client.call_tool(tool, arguments))


WAYS = [on_a_pipe, on_a_port]


@pytest.mark.parametrize("connect", WAYS)
@pytest.mark.parametrize(
    ("example", "tool", "arguments", "expected"),
    [
        ("legacy_elicitation", "register_user", {}, "registered ann (plan: free)"),
        ("legacy_elicitation", "link_account", {"provider": "x"}, "linked x"),
        ("sampling", "summarize", {"text": "much"}, "Good day"),
        ("roots", "show_roots", {}, "file:///home (unnamed)"),
        ("dual_era", "greet", {"name": "Ann"}, "Hello, Ann! (served on the legacy era at 2025-11-25)"),
    ],
)
def test_what_an_example_in_python_asks_is_answered(
    pytestconfig: pytest.Config,
    connect: Callable[..., Connected],
    example: str,
    tool: str,
    arguments: dict[str, Any],
    expected: str,
) -> None:
    async def play(client: Client) -> None:
        assert await said(client, tool, **arguments) == expected

    use(connect(*python(pytestconfig, example), era="handshake"), play)


@pytest.mark.parametrize("example", ["json_response", "stateless_legacy"])
def test_an_endpoint_without_streams_or_without_sessions_is_used(
    pytestconfig: pytest.Config, example: str
) -> None:
    async def play(client: Client) -> None:
        for name in ("Ann", "Bob"):
            assert await said(client, "greet", name=name) == f"Hello, {name}!"

    use(on_a_port(*python(pytestconfig, example), era="handshake"), play)


def test_a_stream_that_an_example_closes_is_taken_up_again(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        steps: list[str | None] = []
        called = await client.call_tool("long_operation", progress=lambda told: steps.append(told.message))
        assert (text(called), steps) == ("resumed", ["before-close", "after-close"])

    use(on_a_port(*python(pytestconfig, "sse_polling"), era="handshake"), play)


@pytest.mark.parametrize("connect", WAYS)
def test_a_resource_that_an_example_adds_is_listed(
    pytestconfig: pytest.Config, connect: Callable[..., Connected]
) -> None:
    async def play(client: Client) -> None:
        assert [one.uri async for one in client.resources()] == ["note://initial"]
        async with client.listen(resource_list=True) as changes:
            await client.call_tool("add_note", {"content": "new"})
            assert isinstance(await changes.next(), types.ResourceListChangedNotification)
        assert [one.uri async for one in client.resources()] == ["note://initial", "note://note-1"]

    use(connect(*python(pytestconfig, "standalone_get"), era="handshake"), play)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_everything_server_asks_in_the_midst_of_a_call(
    pytestconfig: pytest.Config, tmp_path: Path, transport: Any
) -> None:
    async def play(client: Client) -> None:
        asked = await said(client, "test_elicitation", message="Well?")
        assert asked == 'User response: action=accept, content={"response":"yes"}'
        assert await said(client, "test_streaming_elicitation") == "elicitation accept"
        assert await said(client, "test_sampling", prompt="Hi") == "LLM response: Good day"
        defaults = await said(client, "test_elicitation_sep1034_defaults")
        assert '"name":"Ann","age":30,"score":95.5,"status":"active","verified":true' in defaults
        assert await said(client, "test_reconnection") == "Reconnection test completed"

    server = SERVERS["python"](pytestconfig)
    use(connected_to(server, transport, tmp_path / "file", era="handshake", **CAPABLE), play)


def test_an_example_in_typescript_is_used_over_http(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        assert await said(client, "greet", name="Ann") == "Hello, Ann!"
        assert '"email": "ann@example.com"' in await said(client, "collect-user-info", infoType="contact")
        links = (await client.call_tool("list-files")).content
        assert [one.type for one in links] == ["text", *["resource_link"] * 3, "text"]
        uris = [one.uri async for one in client.resources()]
        (content,) = (await client.read_resource(uris[0])).contents
        assert isinstance(content, types.TextResourceContents) and content.text == "Hello, world!"
        prompt = await client.get_prompt("greeting-template", {"name": "Ann"})
        assert "Ann" in text(prompt)

    use(on_a_port(*typescript(pytestconfig, "simpleStreamableHttp")), play)


def test_what_it_says_on_the_stream_of_the_session_is_heard_by_the_call(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        heard: list[str] = []
        arguments = {"interval": 1, "count": 20}
        await client.call_tool(
            "start-notification-stream", arguments, messages=lambda told: heard.append(str(told.data))
        )
        assert [one.split()[2] for one in heard] == [f"#{number}" for number in range(1, 21)]

    use(on_a_port(*typescript(pytestconfig, "simpleStreamableHttp")), play)


def test_a_client_on_a_pipe_overlooks_what_an_example_prints_for_people(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        assert await said(client, "summarize", text="much") == "Good day"

    use(on_a_pipe(*typescript(pytestconfig, "toolWithSampleServer")), play)


def test_an_example_in_typescript_counts(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        steps: list[float] = []
        counted = await client.call_tool("count", {"n": 3}, progress=lambda told: steps.append(told.progress))
        assert (text(counted), steps) == ("Counted to 3", [1, 2, 3])

    use(on_a_pipe(*typescript(pytestconfig, "progressExample")), play)
