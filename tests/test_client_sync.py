"""The blocking twin: the same calls, waited for, in any thread; handlers in the thread that waits."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asking
import pytest
from emitted import ROOT
from mcprotocol.client import Client, ClientSync, Disconnected, Missed
from mcprotocol.errors import InvalidParams, MissingRequiredClientCapability
from mcprotocol.latest import types
from mcprotocol.server import Context, Server
from test_client_process import DYING, LISTENED, Scripted, script

__all__ = ["script"]  # A fixture of theirs.

SERVER = [sys.executable, asking.__file__]
PATH = os.pathsep.join(str(ROOT / folder) for folder in ("generated", "tests"))


Connect = Callable[..., ClientSync]


def by_memory(**options: Any) -> ClientSync:
    return ClientSync.memory(asking.made(), timeout=20, **options)


def by_stdio(**options: Any) -> ClientSync:
    return ClientSync.stdio(SERVER, env={"PYTHONPATH": PATH}, timeout=20, **options)


@pytest.fixture(params=[by_memory, by_stdio])
def connect(request: pytest.FixtureRequest) -> Connect:
    made: Connect = request.param
    return made


def accepted(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ann"})


def said(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


def test_every_call_is_waited_for(connect: Connect) -> None:
    with connect(elicit=accepted) as client:
        assert client.discover().meta is not None
        names = [tool.name for tool in client.tools()]
        assert len(names) > 4 and names[:4] == [tool.name for tool in client.list_tools().tools]
        assert "Ann" in said(client.call_tool("greet"))
        assert [prompt.name for prompt in client.prompts()] == ["introduction"]
        assert [resource.uri for resource in client.resources()] == ["asked://name"]
        assert [*client.resource_templates()] == []
        (contents,) = client.read_resource("asked://name").contents
        assert isinstance(contents, types.TextResourceContents) and "Ann" in contents.text
        with pytest.raises(InvalidParams):
            client.get_prompt("no such")
        params = types.PaginatedRequestParams(meta=client.meta())
        assert client.run(client.calls.list_tools(params)).tools == client.list_tools().tools


def test_changes_are_waited_for(connect: Connect) -> None:
    with connect() as client, client.listen(tools=True, resources=["a://b"]) as changes:
        assert changes.granted.tools_list_changed
        client.call_tool("change")
        client.call_tool("update", {"uri": "a://b"})
        assert isinstance(next(changes), types.ToolListChangedNotification)
        for change in changes:
            assert isinstance(change, types.ResourceUpdatedNotification)
            break


def test_a_listener_ends_with_the_server_and_comes_back_with_it(
    script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcprotocol.client.listen.FIRST_SECONDS", 0.01)
    with (
        ClientSync.stdio(script(LISTENED), restart=True, era="modern") as client,
        client.listen(tools=True) as changes,
    ):
        next(changes)
        with pytest.raises(Disconnected, match="exit code 3"):
            client.call_tool("die")
        assert isinstance(next(changes), Missed)


def test_handlers_and_listeners_run_in_the_thread_that_waits_and_may_call() -> None:
    server = asking.made()
    threads: list[int] = []
    here = threading.get_ident()

    def entered(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        threads.append(threading.get_ident())
        assert client.list_tools().tools
        return accepted(asked)

    def told(params: types.ProgressNotificationParams) -> None:
        threads.append(threading.get_ident())
        assert client.list_prompts().prompts

    with ClientSync.memory(server, elicit=entered, timeout=20) as client:
        client.call_tool("greet")
        client.call_tool("steps", progress=told)
        assert len(threads) > 2 and set(threads) == {here}


def test_progress_is_told_in_order_before_the_result_and_a_listener_may_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[float] = []

    async def later(params: types.ProgressNotificationParams) -> None:
        told.append(params.progress)

    def fails(params: types.ProgressNotificationParams) -> None:
        raise RuntimeError("plain")

    server = Server("steps", version="1")

    @server.tool()
    async def steps(ctx: Context) -> str:
        for step in range(5):
            await ctx.progress(step)
        return "done"

    with ClientSync.memory(server) as client:
        client.call_tool("steps", progress=lambda params: told.append(params.progress))
        assert told == [0, 1, 2, 3, 4]
        client.call_tool("steps", progress=fails)
        client.call_tool("steps", progress=later)
        assert told == [0, 1, 2, 3, 4] * 2
    assert caplog.text.count("RuntimeError: plain") == 5


def test_async_handlers_and_those_that_fail_are_as_good() -> None:
    async def later(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        await asyncio.sleep(0)
        return accepted(asked)

    def fails(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        raise LookupError("nobody there")

    with ClientSync.memory(asking.made(), elicit=later) as client:
        assert "Ann" in said(client.call_tool("greet"))
    with ClientSync.memory(asking.made(), elicit=fails) as client:
        with pytest.raises(LookupError, match="nobody there"):
            client.call_tool("greet")
    with ClientSync.memory(
        asking.made(), elicit_url=lambda asked: types.ElicitResult(action="accept")
    ) as one:
        with pytest.raises(MissingRequiredClientCapability, match="elicitation"):
            one.call_tool("greet")


def test_one_client_serves_many_threads() -> None:
    server = Server("echo", version="1")

    @server.tool()
    async def echo(number: int) -> int:
        await asyncio.sleep(0)
        return number

    with ClientSync.memory(server) as client, ThreadPoolExecutor(16) as pool:

        def call(number: int) -> int:
            return client.call_tool("echo", {"number": number}, returns=int)

        assert [*pool.map(call, range(300))] == [*range(300)]


def test_calls_of_other_threads_end_with_the_client(script: Scripted) -> None:
    outcomes: list[BaseException] = []

    def waits() -> None:
        try:
            client.call_tool("wait")
        except Disconnected as error:
            outcomes.append(error)

    with ClientSync.stdio(script(DYING), era="modern") as client:
        threads = [threading.Thread(target=waits) for _ in range(5)]
        for thread in threads:
            thread.start()
        client.call_tool("pid")
    for thread in threads:
        thread.join(20)
    assert len(outcomes) == 5 and {str(error) for error in outcomes} <= {
        "the client is closed",
        "the client is not connected: use it as `with`",
    }


def test_a_client_is_used_inside_its_block_again_and_again_but_not_twice_at_once() -> None:
    client = ClientSync.memory(asking.made())
    for _ in range(2):
        with pytest.raises(Disconnected, match="use it as `with`"):
            client.discover()
        with client:
            assert client.discover()
            with pytest.raises(RuntimeError, match="in use already"):
                client.__enter__()
            assert client.discover()
    assert not [thread for thread in threading.enumerate() if thread.name == "mcp-client"]


def test_a_client_is_opened_and_closed_at_a_prompt_without_a_block() -> None:
    client = ClientSync.stdio(SERVER, env={"PYTHONPATH": PATH}, timeout=20)
    client.close()
    for _ in range(2):
        assert client.open() is client
        assert client.discover()
        with pytest.raises(RuntimeError, match="in use already"):
            client.open()
        client.close()
        client.close()
    with pytest.raises(Disconnected, match="not connected"):
        client.discover()
    assert not [thread for thread in threading.enumerate() if thread.name == "mcp-client"]


def test_a_client_that_waits_for_itself_is_opened_and_closed_alike() -> None:
    async def scenario() -> None:
        client = Client.stdio(SERVER, env={"PYTHONPATH": PATH}, timeout=20)
        await client.close()
        for _ in range(2):
            assert await client.open() is client
            assert await client.discover()
            await client.close()
            await client.close()
        with pytest.raises(Disconnected, match="not connected|is closed"):
            await client.discover(fresh=True)

    asyncio.run(scenario())


def test_a_client_that_cannot_connect_leaves_no_thread() -> None:
    with pytest.raises(Disconnected, match="cannot be started"):
        with ClientSync.stdio(["no-such-program-here"]):
            pass
    assert not [thread for thread in threading.enumerate() if thread.name == "mcp-client"]


def test_a_coroutine_of_the_client_cannot_wait_for_it() -> None:
    async def later(params: types.ProgressNotificationParams) -> None:
        with pytest.raises(RuntimeError, match="cannot wait"):
            client.discover()
        seen.append(True)

    seen: list[bool] = []
    with ClientSync.memory(asking.made()) as client:
        client.call_tool("steps", progress=later)
    assert seen


@pytest.mark.skipif(sys.platform == "win32", reason="signals to threads are of POSIX")
def test_an_interrupt_ends_the_wait_and_cancels_the_call() -> None:
    ended = threading.Event()
    server = Server("slow", version="1")

    @server.tool()
    async def wait() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    with ClientSync.memory(server) as client:
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("wait")
        assert ended.wait(20)
        assert client.discover()


@pytest.mark.skipif(sys.platform == "win32", reason="signals to threads are of POSIX")
def test_an_interrupt_in_a_handler_ends_the_call() -> None:
    def entered(asked: types.ElicitRequestFormParams) -> types.ElicitResult:
        raise KeyboardInterrupt

    with ClientSync.memory(asking.made(), elicit=entered) as client:
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("greet")
        assert client.discover()


def signatures(face: type[Any]) -> Mapping[str, list[inspect.Parameter]]:
    return {
        name: [*inspect.signature(member).parameters.values()]
        for name, member in vars(face).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def test_the_twin_has_the_calls_of_the_client_and_one_to_run_coroutines() -> None:
    twin = {**signatures(ClientSync)}
    del twin["run"]
    assert twin == signatures(Client)


def test_the_twin_awaits_nothing() -> None:
    tree = ast.parse(Path(inspect.getfile(ClientSync)).read_text())
    kinds = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert [node for node in ast.walk(tree) if isinstance(node, kinds)] == []
