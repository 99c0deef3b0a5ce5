"""Scripted peers over stdio and HTTP alike: whatever they say, each call ends in a result or a typed error."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hosted import hosted
from mcprotocol.client import BrokenSchema, Client, InputRequired, InvalidOutput
from mcprotocol.client.session import Options
from mcprotocol.errors import InvalidRequest
from mcprotocol.latest import types
from peers import PEERS, ROUNDS, UNREADABLE
from wired import STREAM, Asked, chunk, reply, wired

FOLDER = Path(__file__).parent
PATIENCE = 60.0

Scenario = Callable[[Client], Awaitable[None]]
Play = Callable[..., None]


@asynccontextmanager
async def streamed(name: str, *settings: str, **options: Any) -> AsyncGenerator[Client, None]:
    """A client of a peer over HTTP, where each request has a stream that is left open behind what is said."""
    say = PEERS[name](*settings)

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        events = b"".join(b"data: %b\n\n" % piece for piece in say(asked.json()))
        if "id" in asked.json():
            writer.write(STREAM + (chunk(events) if events else b""))
            asked.held = True
        else:
            writer.write(reply(status=202))

    async with wired(script) as wire, Client.http(wire.url, era="modern", **options) as client:
        yield client


@pytest.fixture(params=["stdio", "http"])
def play(request: pytest.FixtureRequest) -> Play:
    """Plays a scenario with a client of one of the peers."""

    def with_client(scenario: Scenario, name: str, *settings: str, **options: Any) -> None:
        async def bounded() -> None:
            command = [sys.executable, str(FOLDER / "peers.py"), name, *settings]
            reached: AbstractAsyncContextManager[Client] = (
                Client.stdio(command, era="modern", **options)
                if request.param == "stdio"
                else streamed(name, *settings, **options)
            )
            async with asyncio.timeout(PATIENCE), reached as client:
                await scenario(client)
            async with asyncio.timeout(PATIENCE):
                while len(asyncio.all_tasks()) > 1:
                    await asyncio.sleep(0.01)  # Until nothing is left that runs.

        asyncio.run(bounded())
        gc.collect()  # What was not closed says so now, and fails the test.

    return with_client


def test_an_answer_that_cannot_be_read_fails_its_call_at_once_and_no_other(play: Play) -> None:
    async def scenario(client: Client) -> None:
        others = [asyncio.ensure_future(client.call_tool("never")) for _ in range(3)]
        for name in UNREADABLE:
            with pytest.raises(InvalidRequest, match="peer"):
                await client.call_tool(name)
        outcomes = await asyncio.gather(*map(client.call_tool, UNREADABLE), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {InvalidRequest}
        assert await client.call_tool("echo", returns=str) == "echo"
        assert not any(other.done() for other in others)
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    play(scenario, "odd")


def test_what_is_no_answer_to_a_call_does_not_disturb_it(play: Play) -> None:
    async def scenario(client: Client) -> None:
        for _ in range(3):
            assert await client.call_tool("echo", returns=str) == "echo"
        names = [f"tool {number}" for number in range(50)]
        answers = await asyncio.gather(*(client.call_tool(name, returns=str) for name in names))
        assert answers == names

    play(scenario, "odd")


def test_an_answer_that_never_comes_is_a_timeout(play: Play) -> None:
    async def scenario(client: Client) -> None:
        outcomes = await asyncio.gather(
            *(client.call_tool("never") for _ in range(20)), return_exceptions=True
        )
        assert {type(outcome) for outcome in outcomes} == {TimeoutError}
        assert await client.call_tool("echo", returns=str, timeout=PATIENCE) == "echo"

    play(scenario, "odd", timeout=0.5)


def test_state_is_echoed_to_the_letter_over_each_transport(play: Play) -> None:
    declined = {"q": {"action": "decline"}}
    options: Options = {"elicit": lambda asked: types.ElicitResult(action="decline")}

    async def scenario(client: Client) -> None:
        asked = await client.call_tool("t", {"a": [1, None]}, returns=list[tuple[int, dict[str, Any]]])
        call: dict[str, Any] = {"name": "t", "arguments": {"a": [1, None]}}
        expected = [call]
        for said in ROUNDS:
            state = {"requestState": said["requestState"]} if "requestState" in said else {}
            expected.append(
                {**call, **state, **({"inputResponses": declined} if "inputRequests" in said else {})}
            )
        assert [params for _, params in asked] == expected
        assert len({identity for identity, _ in asked}) == len(asked)

    play(scenario, "rounds", **options)


def test_a_client_that_declares_nothing_answers_nothing_and_rounds_have_an_end(play: Play) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(InputRequired, match="elicitation/create") as caught:
            await client.call_tool("t")
        assert caught.value.result.input_requests
        with pytest.raises(InputRequired, match="after 10 rounds"):
            await client.call_tool("endless")

    play(scenario, "rounds")


def test_one_bad_output_schema_loses_no_other_tool_and_nothing_is_fetched(play: Play) -> None:
    async def scenario(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 5
        for name, value in (("local", [1, 2]), ("list", []), ("any", []), ("any", 0), ("any", False)):
            answer = (await client.call_tool(name, {"value": value})).structured_content
            assert json.dumps(answer) == json.dumps(value)
        with pytest.raises(InvalidOutput, match="'local'"):
            await client.call_tool("local", {"value": ["x"]})
        for name in ("dangling", "far"):
            with pytest.raises(BrokenSchema, match=f"'{name}'"):
                await client.call_tool(name, {"value": 1})

    with socket.create_server(("127.0.0.1", 0)) as listener:
        play(scenario, "listing", f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json")
        listener.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_tools_with_odd_names_are_called_over_http() -> None:
    async def scenario() -> None:
        async with (
            hosted(sys.executable, FOLDER / "servers/reported.py", "--http") as site,
            Client.http(f"{site.url}/mcp", timeout=PATIENCE) as client,
        ):
            for name in ("世界", "=?base64?eA==?="):
                result = await client.call_tool(name)
                assert result.content == [types.TextContent(text="found")]

    asyncio.run(scenario())
