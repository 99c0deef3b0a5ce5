"""The official Python client, unmodified, against the everything server: each verb over stdio, over HTTP, and after a handshake."""

# What the client deprecates is in order after a handshake.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hosted import hosted
from mcp import MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.context import ClientRequestContext
from mcp.client.subscriptions import PromptsListChanged, ToolsListChanged
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    ListRootsResult,
    LoggingMessageNotificationParams,
    PromptReference,
    Root,
    TextContent,
    TextResourceContents,
)
from scaffolded import PATIENCE

EVERYTHING = Path(__file__).parent / "conformance/everything.py"

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_stdio(**options: Any) -> AsyncGenerator[Client]:
    command = StdioServerParameters(
        command=sys.executable, args=[str(EVERYTHING), "--stdio"], env=environment()
    )
    async with Client(command, **options) as client:
        yield client


@asynccontextmanager
async def over_http(**options: Any) -> AsyncGenerator[Client]:
    async with hosted(sys.executable, EVERYTHING) as site, Client(f"{site.url}/mcp", **options) as client:
        yield client


@asynccontextmanager
async def by_handshake_over_stdio(**options: Any) -> AsyncGenerator[Client]:
    """As a client of 2025-11-25."""
    async with over_stdio(mode="legacy", **options) as client:
        yield client


@asynccontextmanager
async def by_handshake_over_http(**options: Any) -> AsyncGenerator[Client]:
    """As a client of 2025-11-25."""
    async with over_http(mode="legacy", **options) as client:
        yield client


MODERN: list[Connect] = [over_stdio, over_http]
BEFORE: list[Connect] = [by_handshake_over_stdio, by_handshake_over_http]


def environment() -> dict[str, str]:
    """The client passes little on: where the package is must be said."""
    return {"PYTHONPATH": str(Path(sys.modules["mcprotocol"].__file__ or "").parents[1])}


@pytest.fixture(params=[*MODERN, *BEFORE])
def connect(request: pytest.FixtureRequest) -> Connect:
    made: Connect = request.param
    return made


def run(scenario: Awaitable[None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(PATIENCE * 2):
            await scenario

    asyncio.run(limited())


def each(connect: Connect, scenario: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """Play a scenario with a client that is connected."""

    async def play() -> None:
        async with connect(**options) as client:
            assert client.protocol_version == ("2025-11-25" if connect in BEFORE else "2026-07-28")
            await scenario(client)

    run(play())


def text(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def test_it_learns_what_the_server_is(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        assert client.server_info is not None and client.server_info.name == "everything"
        capabilities = client.server_capabilities
        assert capabilities.tools is not None and capabilities.tools.list_changed
        assert capabilities.resources is not None and capabilities.resources.subscribe
        assert capabilities.prompts is not None and capabilities.completions is not None

    each(connect, scenario)


def test_it_lists(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert tools[0].name == "test_simple_text"
        assert tools[0].annotations is not None and tools[0].annotations.read_only_hint is True
        assert {one.uri for one in (await client.list_resources()).resources} == {
            "test://static-text",
            "test://static-binary",
            "test://watched-resource",
        }
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["test://template/{id}/data"]
        assert "test_simple_prompt" in [one.name for one in (await client.list_prompts()).prompts]

    each(connect, scenario)


def test_it_calls(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        assert "simple text" in text(await client.call_tool("test_simple_text"))
        assert isinstance((await client.call_tool("test_image_content")).content[0], ImageContent)
        assert isinstance((await client.call_tool("test_audio_content")).content[0], AudioContent)
        mixed = (await client.call_tool("test_multiple_content_types")).content
        assert [type(block) for block in mixed] == [TextContent, ImageContent, EmbeddedResource]
        region = await client.call_tool("test_x_mcp_header", {"region": "東京"})
        assert text(region) == "In 東京"
        failed = await client.call_tool("test_error_handling")
        assert failed.is_error and "intentionally" in text(failed)
        with pytest.raises(MCPError, match="Unknown tool: nothing"):
            await client.call_tool("nothing")

    each(connect, scenario)


def test_it_is_told_how_far_a_call_has_come_and_what_is_logged(connect: Connect) -> None:
    reports: list[float] = []
    logged: list[Any] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append((params.level, params.data))

    async def scenario(client: Client) -> None:
        await client.call_tool("test_tool_with_progress", progress_callback=report)
        assert reports == [0, 50, 100]
        await client.call_tool("test_logging_tool")
        assert logged == [("info", "Logging tool called")]

    each(connect, scenario, logging_callback=log, log_level="info")


def test_it_reads(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        (static,) = (await client.read_resource("test://static-text")).contents
        assert isinstance(static, TextResourceContents) and "static text" in static.text
        (binary,) = (await client.read_resource("test://static-binary")).contents
        assert isinstance(binary, BlobResourceContents) and binary.mime_type == "image/png"
        (made,) = (await client.read_resource("test://template/7/data")).contents
        assert isinstance(made, TextResourceContents) and '"id":"7"' in made.text
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("test://nowhere")

    each(connect, scenario)


def test_it_gets(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        plain = await client.get_prompt("test_simple_prompt")
        assert isinstance(plain.messages[0].content, TextContent)
        filled = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        content = filled.messages[0].content
        assert isinstance(content, TextContent) and "arg1='one', arg2='two'" in content.text

    each(connect, scenario)


def test_it_completes(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        ref = PromptReference(name="test_prompt_with_arguments")
        result = await client.complete(ref, {"name": "arg1", "value": "test"})
        assert result.completion.values == ["test", "testing", "tested"]

    each(connect, scenario)


async def fill_in(_: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    if "color" in params.message:
        return ElicitResult(action="accept", content={"color": "red"})
    return ElicitResult(action="accept", content={"name": "Ann"})


async def speak(_: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(text="Good day"), model="none")


async def root(_: ClientRequestContext) -> ListRootsResult:
    return ListRootsResult(roots=[Root.model_validate({"uri": "file:///home"})])


def test_it_answers_what_it_is_asked(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        hello = await client.call_tool("test_input_required_result_elicitation")
        assert text(hello) == "Hello, Ann!"
        several = await client.call_tool("test_input_required_result_multiple_inputs")
        assert text(several) == "Hello, Ann! Good day 1"
        rounds = await client.call_tool("test_input_required_result_multi_round")
        assert text(rounds) == "Hello, Ann! You like red."

    callbacks = {"elicitation_callback": fill_in, "sampling_callback": speak, "list_roots_callback": root}
    each(connect, scenario, **callbacks)


def test_it_cannot_be_asked_what_it_has_no_answer_for(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("test_input_required_result_elicitation")
        assert caught.value.error.code == (-32602 if connect in BEFORE else -32021)

    each(connect, scenario)


@pytest.mark.parametrize("connect", MODERN)
def test_it_listens(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        async with client.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
            assert changes.honored.tools_list_changed and changes.honored.prompts_list_changed
            await client.call_tool("test_trigger_tool_change")
            assert isinstance(await anext(changes), ToolsListChanged)
            await client.call_tool("test_trigger_prompt_change")
            assert isinstance(await anext(changes), PromptsListChanged)
        assert "simple text" in text(await client.call_tool("test_simple_text"))

    each(connect, scenario)


# The client warns of every method that 2026-07-28 does not have.
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("connect", BEFORE)
def test_it_is_told_unasked_after_a_handshake(connect: Connect) -> None:
    told: list[str] = []
    logged: list[Any] = []

    async def hear(message: Any) -> None:
        told.append(getattr(message, "method", ""))

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append(params.level)

    async def scenario(client: Client) -> None:
        await client.send_ping()
        await client.call_tool("test_trigger_resource_change")
        await client.subscribe_resource("test://static-text")
        for change in ("tool", "prompt", "resource"):
            await client.call_tool(f"test_trigger_{change}_change")
        expected = {
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/updated",
        }
        while not expected <= {*told}:
            await asyncio.sleep(0.02)
        await client.unsubscribe_resource("test://static-text")
        await client.call_tool("test_trigger_resource_change")
        for level in ("error", "info"):
            await client.set_logging_level(level)
            await client.call_tool("test_logging_tool")
        assert logged == ["info"] and told.count("notifications/resources/updated") == 1

    each(connect, scenario, message_handler=hear, logging_callback=log)


def test_it_takes_the_end_of_the_server_for_a_graceful_one() -> None:
    async def play() -> None:
        async with hosted(sys.executable, EVERYTHING) as site, Client(f"{site.url}/mcp") as client:
            async with client.listen(tools_list_changed=True) as changes:
                site.process.send_signal(signal.SIGTERM)
                # A stream that is lost raises SubscriptionLost here.
                assert [change async for change in changes] == []

    run(play())


def test_it_cancels(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        begun = anyio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async with anyio.create_task_group() as group:
            group.start_soon(
                lambda: client.call_tool("test_tool_without_end", {"name": "one"}, progress_callback=report)
            )
            await begun.wait()
            group.cancel_scope.cancel()
        while text(await client.call_tool("test_cancelled_calls")) != '["one"]':
            await asyncio.sleep(0.02)

    each(connect, scenario)
