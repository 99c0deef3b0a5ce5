"""The end of a server behind HTTP: subscriptions get their closing results, calls get time, and it is over soon."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from guests import NEWEST, initialize
from hosted import COMMON, Post, Site, body, headers_for, hosted
from judged import faults
from mcprotocol.server import Context, Server
from mcprotocol.server.application import Application
from scaffolded import META, PATIENCE
from starlette.applications import Starlette

PROGRAM = (sys.executable, Path(__file__).parent / "servers/loopback.py")
LISTEN = body("sub-7", "subscriptions/listen", notifications={"toolsListChanged": True})
CLOSING = {
    "jsonrpc": "2.0",
    "id": "sub-7",
    "result": {
        "_meta": {
            "io.modelcontextprotocol/serverInfo": {"name": "loopback", "version": "1"},
            "io.modelcontextprotocol/subscriptionId": "sub-7",
        },
        "resultType": "complete",
    },
}

WAIT = {"name": "wait", "arguments": {"seconds": 600}}

ENDED = {"code": -32603, "message": "The server has ended"}

Scenario = Callable[[Site, httpx2.AsyncClient], Awaitable[None]]


def on_a_real_port(scenario: Scenario, *options: str) -> Site:
    async def run() -> Site:
        async with (
            hosted(*PROGRAM, *options) as site,
            httpx2.AsyncClient(base_url=site.url, timeout=PATIENCE, trust_env=False) as client,
        ):
            await scenario(site, client)
        return site

    return asyncio.run(run())


def call(tool: str, identity: object = 1, **arguments: Any) -> bytes:
    return body(identity, "tools/call", name=tool, arguments=arguments)


async def ask(client: httpx2.AsyncClient, data: bytes) -> Any:
    return (await client.post("/mcp", content=data, headers=headers_for(data))).json()


async def has_begun(client: httpx2.AsyncClient) -> None:
    """Wait until a tool waits."""
    async with asyncio.timeout(PATIENCE):
        while "started" not in (await ask(client, call("counts")))["result"]["structuredContent"]:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def listening(client: httpx2.AsyncClient) -> AsyncGenerator[AsyncIterator[Any]]:
    """The messages of a subscription, its acknowledgement taken."""
    async with client.stream("POST", "/mcp", content=LISTEN, headers=headers_for(LISTEN)) as stream:
        lines = stream.aiter_lines()
        messages = (
            json.loads(line.removeprefix("data: ")) async for line in lines if line.startswith("data: ")
        )
        assert (await anext(messages))["method"] == "notifications/subscriptions/acknowledged"
        yield messages


@pytest.mark.parametrize("options", [[], ["--mounted"]], ids=["alone", "mounted"])
def test_a_subscription_ends_with_its_closing_result(options: list[str]) -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        async with listening(client) as messages:
            site.process.send_signal(signal.SIGTERM)
            rest = [message async for message in messages]
        assert rest == [CLOSING]
        assert not faults("subscriptions/listen", json.dumps(rest[0]).encode())
        assert await asyncio.wait_for(site.process.wait(), PATIENCE) == 0

    assert not any(
        "Traceback" in line or "Cancel" in line for line in on_a_real_port(scenario, *options).errors
    )


def test_sessions_of_the_era_before_end_with_their_streams() -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        opened = await client.post("/mcp", content=initialize(), headers=COMMON)
        session = {"MCP-Session-Id": opened.headers["MCP-Session-Id"], "MCP-Protocol-Version": NEWEST}
        plain = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": WAIT}).encode()
        async with client.stream("GET", "/mcp", headers={**COMMON, **session}) as stream:
            pieces = stream.aiter_text()
            assert (await anext(pieces)).startswith("retry: ")
            pending = asyncio.create_task(
                client.post("/mcp", content=plain, headers={**COMMON, **session}, timeout=PATIENCE)
            )
            await has_begun(client)
            site.process.send_signal(signal.SIGTERM)
            assert "".join([piece async for piece in pieces]) == ""
        answer = (await pending).json()["error"]
        assert (answer["code"], answer["message"]) == (-32603, "The session has ended")
        assert await asyncio.wait_for(site.process.wait(), PATIENCE) == 0

    errors = on_a_real_port(scenario).errors
    assert not any("Traceback" in line for line in errors), "".join(errors)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_what_was_accepted_is_answered(sent: signal.Signals) -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        pending = asyncio.create_task(ask(client, call("wait", seconds=0.5)))
        await has_begun(client)
        site.process.send_signal(sent)
        assert (await pending)["result"]["content"][0]["text"] == "waited"
        assert await asyncio.wait_for(site.process.wait(), PATIENCE) == 0

    assert not any("Traceback" in line for line in on_a_real_port(scenario).errors)


def test_what_does_not_end_is_cancelled() -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        data = call("wait", seconds=600)
        pending = asyncio.create_task(client.post("/mcp", content=data, headers=headers_for(data)))
        await has_begun(client)
        site.process.send_signal(signal.SIGTERM)
        answer = await pending
        assert (answer.status_code, answer.json()["error"]) == (503, ENDED)
        assert await asyncio.wait_for(site.process.wait(), PATIENCE) == 0

    errors = on_a_real_port(scenario).errors
    assert not any("Traceback" in line for line in errors), "".join(errors)


@pytest.mark.parametrize("way", ["stubborn", "blocking", "thread"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_what_never_ends_ends_with_the_process(way: str, sent: signal.Signals) -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        meta = {**META, "progressToken": 1}
        data = body(1, "tools/call", meta, name="stay", arguments={"way": way})
        async with client.stream("POST", "/mcp", content=data, headers=headers_for(data)) as stream:
            assert "notifications/progress" in await anext(stream.aiter_lines())
            site.process.send_signal(sent)
            assert await asyncio.wait_for(site.process.wait(), PATIENCE) == 0

    errors = on_a_real_port(scenario).errors
    assert not any("Traceback" in line for line in errors), "".join(errors)


def test_a_lifespan_has_the_time_that_it_takes() -> None:
    code = (
        "import asyncio, contextlib, os, signal, threading\n"
        "from mcprotocol.server import Server, hosting\n"
        "from starlette.applications import Starlette\n"
        "hosting.END_SECONDS = hosting.GRACE_SECONDS = 0.3\n"
        "@contextlib.asynccontextmanager\n"
        "async def life(_):\n"
        "    yield\n"
        "    await asyncio.sleep(1)\n"
        "    print('cleaned up', flush=True)\n"
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "Server('own', version='1').serve(port=0, application=Starlette(lifespan=life))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "cleaned up\n")


def test_a_program_goes_on_after_an_interrupt() -> None:
    code = (
        "import os, signal, threading, time\n"
        "from mcprotocol.server import Server, hosting\n"
        "hosting.END_SECONDS = hosting.GRACE_SECONDS = 0.3\n"
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "Server('own', version='1').serve(port=0)\n"
        "time.sleep(1)\n"
        "print('went on')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "went on\n")


def test_a_port_that_is_taken_is_no_success() -> None:
    async def scenario(site: Site, client: httpx2.AsyncClient) -> None:
        taken = ("--port", site.url.rpartition(":")[2])
        other = await asyncio.create_subprocess_exec(*PROGRAM, *taken, stderr=subprocess.PIPE)
        _, errors = await asyncio.wait_for(other.communicate(), PATIENCE)
        assert (other.returncode, b"Traceback" in errors) == (3, False)
        assert (await ask(client, call("echo", text="hi")))["result"]["content"][0]["text"] == "hi"

    on_a_real_port(scenario)


def test_a_program_keeps_its_own_way_to_end() -> None:
    code = (
        "import os, signal, sys, threading\n"
        "from mcprotocol.server import Server\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "Server('own', version='1').serve(port=0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE, stderr=subprocess.PIPE)
    assert done.returncode == 7


# In any host, by its lifespan or by `close`.


@pytest.fixture
def server() -> Server:
    made = Server("loopback", version="1")

    @made.tool()
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    return made


async def acknowledged(application: Application) -> tuple[Post, asyncio.Task[Any]]:
    request = Post(application, LISTEN)
    running = request.begin()
    await request.until(b"subscriptions/acknowledged")
    return request, running


def lived(application: Starlette) -> AbstractAsyncContextManager[object]:
    """The life of an application, as a host has it."""
    return application.router.lifespan_context(application)


def test_the_end_of_the_lifespan_waits_for_what_is_in_flight(server: Server) -> None:
    async def scenario() -> None:
        application = server.http()
        async with lived(application):
            request, running = await acknowledged(application)
            waiting = Post(application, call("wait", seconds=0.2))
            answered = waiting.begin()
            await asyncio.sleep(0)
        assert running.done() and answered.done()
        assert request.response.events()[-1] == CLOSING
        assert waiting.response.json()["result"]["content"][0]["text"] == "waited"

    asyncio.run(scenario())


@pytest.mark.parametrize("meta", [META, {**META, "progressToken": 1}], ids=["json", "stream"])
def test_the_end_of_the_lifespan_cancels_what_does_not_end(
    server: Server, monkeypatch: pytest.MonkeyPatch, meta: Any
) -> None:
    monkeypatch.setattr("mcprotocol.server.application.DRAIN_SECONDS", 0.05)
    cancelled: list[bool] = []

    @server.tool()
    async def endless(ctx: Context) -> None:
        await ctx.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    async def scenario() -> None:
        application = server.http()
        async with lived(application):
            request = Post(application, body(1, "tools/call", meta, name="endless", arguments={}))
            running = request.begin()
            await asyncio.sleep(0)
        await asyncio.wait_for(running, PATIENCE)
        response = request.response
        streamed = "progressToken" in meta
        last = response.events()[-1] if streamed else response.json()
        assert (response.status, last) == (
            200 if streamed else 503,
            {"jsonrpc": "2.0", "id": 1, "error": ENDED},
        )
        assert response.ended and running.cancelling() == 0

    asyncio.run(scenario())
    assert cancelled == [True]


def test_an_application_that_starts_again_serves_again(server: Server) -> None:
    async def scenario() -> None:
        application = server.http()
        for _ in range(2):
            async with lived(application):
                request, running = await acknowledged(application)
            assert running.done() and request.response.events()[-1] == CLOSING

    asyncio.run(scenario())


def test_a_host_can_say_that_the_end_has_come(server: Server) -> None:
    async def scenario() -> None:
        application = server.http()
        request, running = await acknowledged(application)
        application.close()
        await asyncio.wait_for(running, PATIENCE)
        assert request.response.events()[-1] == CLOSING
        # A client that comes now learns at once that nothing will come, and calls are still answered.
        late = await asyncio.wait_for(Post(application, LISTEN).run(), PATIENCE)
        assert late.events()[-1] == CLOSING
        assert (await Post(application, call("wait", seconds=0)).run()).status == 200

    asyncio.run(scenario())
