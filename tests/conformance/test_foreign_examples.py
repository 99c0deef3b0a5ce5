"""What the everything server of the official Python package lacks is played against its other examples, over stdio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

import pytest
from foreign import examples
from mcprotocol.client import Client
from mcprotocol.latest import types
from visitor import SECONDS

pytestmark = pytest.mark.conformance


def use(config: pytest.Config, example: str, play: Callable[[Client], Awaitable[None]]) -> None:
    """Start an example, and play with it."""
    folder = str(examples(config))
    command = [sys.executable, "-m", f"stories.{example}.server"]

    async def bounded() -> None:
        async with (
            asyncio.timeout(SECONDS),
            Client.stdio(command, env={"PYTHONPATH": folder}, cwd=folder) as client,
        ):
            await play(client)

    asyncio.run(bounded())


def test_a_prompt_is_completed_with_what_fits(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        found = await client.complete("language", "py", prompt="code_review")
        assert found.completion.model_dump() == {
            "values": ["python", "pytorch"],
            "total": 2,
            "hasMore": False,
        }

    use(pytestconfig, "prompts", play)


def test_a_listener_hears_of_its_resource_and_reads_it_anew(pytestconfig: pytest.Config) -> None:
    async def text(client: Client) -> str:
        (contents,) = (await client.read_resource("note://todo")).contents
        assert isinstance(contents, types.TextResourceContents)
        return contents.text

    async def play(client: Client) -> None:
        before = await text(client)
        async with client.listen(resources=["note://todo"]) as changes:
            assert changes.granted.model_dump() == {"resourceSubscriptions": ["note://todo"]}
            await client.call_tool("edit_note", {"name": "journal", "text": "unheard"})
            await client.call_tool("edit_note", {"name": "todo", "text": "heard"})
            change = await changes.next()
        assert isinstance(change, types.ResourceUpdatedNotification)
        assert change.params.uri == "note://todo"
        assert (before, await text(client)) == ("buy milk", "heard")

    use(pytestconfig, "subscriptions", play)


def test_a_tool_that_comes_is_told_and_listed(pytestconfig: pytest.Config) -> None:
    async def play(client: Client) -> None:
        before = [tool.name async for tool in client.tools()]
        async with client.listen(tools=True) as changes:
            await client.call_tool("enable_search")
            assert isinstance(await changes.next(), types.ToolListChangedNotification)
        assert [tool.name async for tool in client.tools()] == [*before, "search"]

    use(pytestconfig, "subscriptions", play)
