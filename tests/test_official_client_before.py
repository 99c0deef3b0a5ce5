"""The official Python client in the handshake era, against the same everything server, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import LoggingMessageNotificationParams, ServerNotification
from test_official_client import Connect, fill_in, over_http, over_stdio, root, run, speak, text


@pytest.fixture(params=[over_stdio, over_http])
def connect(request: pytest.FixtureRequest) -> Connect:
    made: Connect = request.param
    return made


def each(connect: Connect, scenario: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    """Play a scenario with a client that has shaken hands."""

    async def play() -> None:
        async with connect(mode="legacy", **options) as client:
            assert client.protocol_version == "2025-11-25"
            await scenario(client)

    run(play())


def test_it_learns_and_lists(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        assert client.server_info is not None and client.server_info.name == "everything"
        assert client.server_capabilities.logging is not None
        tools = (await client.list_tools()).tools
        assert tools[0].name == "test_simple_text"
        assert len((await client.list_resources()).resources) == 3
        assert "simple text" in text(await client.call_tool("test_simple_text"))

    each(connect, scenario)


def test_it_answers_what_it_is_asked(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        several = await client.call_tool("test_input_required_result_multiple_inputs")
        assert text(several) == "Hello, Ann! Good day 1"
        rounds = await client.call_tool("test_input_required_result_multi_round")
        assert text(rounds) == "Hello, Ann! You like red."

    each(
        connect,
        scenario,
        elicitation_callback=fill_in,
        sampling_callback=speak,
        list_roots_callback=root,
    )


def test_it_cannot_be_asked_what_it_has_no_answer_for(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("test_input_required_result_elicitation")
        assert caught.value.error.code == -32602

    each(connect, scenario)


def test_it_hears_of_progress_and_logs(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            reached.append(progress)

        await client.call_tool("test_tool_with_progress", progress_callback=report)
        await client.call_tool("test_tool_with_logging")
        assert reached == [0, 50, 100]
        assert [params.data for params in logged][-1] == "Tool execution completed"

    async def log(params: LoggingMessageNotificationParams) -> None:
        logged.append(params)

    reached: list[float] = []
    logged: list[LoggingMessageNotificationParams] = []
    each(connect, scenario, logging_callback=log)


def test_it_is_told_unasked_of_changes(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("test_trigger_tool_change")
        while not any("tools/list_changed" in method for method in heard):
            await asyncio.sleep(0.02)

    async def hear(message: Any) -> None:
        if isinstance(message, ServerNotification):
            heard.append(str(message.method))

    heard: list[str] = []
    each(connect, scenario, message_handler=hear)


def test_it_comes_back_when_the_server_hangs_up(connect: Connect) -> None:
    async def scenario(client: Client) -> None:
        assert text(await client.call_tool("test_reconnection")) == "Reconnected"

    each(connect, scenario)


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
