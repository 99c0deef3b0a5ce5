"""The client over HTTP against a scripted server: whatever comes back, a call ends in a result or a typed error."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2
import pytest
from mcprotocol.client import Client, Disconnected, HttpError
from mcprotocol.errors import InvalidRequest, McpError, MethodNotFound
from mcprotocol.latest import REVISION, types
from peers import UNREADABLE, numbered
from scaffolded import PATIENCE
from wired import STREAM, Asked, Script, Wire, chunk, reply, says, wired

DISCOVERED: dict[str, Any] = {
    "resultType": "complete",
    "supportedVersions": [REVISION],
    "capabilities": {},
    "ttlMs": 0,
    "cacheScope": "private",
}


def run(script: Script, work: Callable[[Wire], Coroutine[Any, Any, None]]) -> None:
    """Have a scripted server, and do some work that ends in time."""

    async def scenario() -> None:
        async with wired(script) as wire:
            await work(wire)

    asyncio.run(scenario())


def ask(script: Script, **options: Any) -> types.DiscoverResult:
    """The result of one request to a scripted server."""
    found: list[types.DiscoverResult] = []

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, **options) as client:
            found.append(await client.discover())

    run(script, work)
    return found[0]


def result(asked: Asked) -> bytes:
    """The message that answers a request."""
    return json.dumps({"jsonrpc": "2.0", "id": asked.json()["id"], "result": DISCOVERED}).encode()


def answered(asked: Asked) -> bytes:
    """The response that answers a request."""
    return reply(result(asked))


STATUSES = (400, 401, 403, 404, 405, 406, 408, 413, 415, 429, 431, 500, 502, 503, 504, 599)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("identity", ["the same", "none", "null"])
def test_an_error_is_raised_as_its_type_whatever_the_status(status: int, identity: str) -> None:
    def make(asked: Asked) -> bytes:
        message: dict[str, Any] = {"jsonrpc": "2.0", "error": {"code": -32601, "message": "because"}}
        if identity != "none":
            message["id"] = None if identity == "null" else asked.json()["id"]
        return reply(json.dumps(message).encode(), "Application/JSON; charset=utf-8", status)

    with pytest.raises(MethodNotFound, match="because"):
        ask(says(make))


@pytest.mark.parametrize("status", STATUSES[::3])
@pytest.mark.parametrize(
    ("body", "kind", "shown"),
    [
        (b"", None, ""),
        (b"", "application/json", ""),
        (b"<p>secret</p>", "text/html", ""),
        (b'{"detail":"so it is"}', "application/json", '({"detail":"so it is"})'),
        (b"so it is", "text/plain; charset=utf-8", "(so it is)"),
        (b'{"jsonrpc":"2.0","id":999,"error":{"code":-32601,"message":"x"}}', "application/json", '"id":999'),
        (b'{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"x"}}', "application/json", '"id":"1"'),
        (b"x" * 500, "text/plain", "x" * 200 + " [...]"),
    ],
)  # fmt: skip
def test_a_status_that_is_an_error_is_raised_where_no_message_says_why(
    status: int, body: bytes, kind: str | None, shown: str
) -> None:
    with pytest.raises(HttpError) as caught:
        ask(says(lambda asked: reply(body, kind, status, retry_after="7")))
    assert caught.value.status == status and caught.value.headers["Retry-After"] == "7"
    assert str(status) in str(caught.value) and shown in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "auth"), (404, "URL"), (405, "URL"), (413, "too long"), (418, "Because")]
)
def test_an_error_says_what_to_do(status: int, advice: str) -> None:
    with pytest.raises(HttpError, match=advice):
        ask(says(lambda asked: reply(status=status)))


NO_ANSWERS: list[tuple[Callable[[Asked], bytes], str]] = [
    (lambda asked: reply(result(asked), "text/html"), "text/html"),
    (lambda asked: reply(result(asked), None), "content of no type"),
    (lambda asked: reply(result(asked), "application/jsonp"), "application/jsonp"),
    (lambda asked: reply(), "nothing"),
    (lambda asked: reply(kind="text/event-stream"), "the stream ended"),
    (lambda asked: reply(status=202), "202 with nothing"),
    (lambda asked: reply(kind=None, status=204), "204 with nothing"),
    (lambda asked: reply(b"{"), "no answer"),
    (lambda asked: reply(b"[]"), "no answer"),
    (lambda asked: reply(b"[" + result(asked) + b"]"), "no answer"),
    (lambda asked: reply(b'{"jsonrpc":"2.0","id":999,"result":{}}'), "no answer"),
    (lambda asked: reply(b'{"jsonrpc":"2.0","result":{}}'), "no answer"),
    (lambda asked: reply(b'{"jsonrpc":"2.0","method":"notifications/message"}'), "no answer"),
    (lambda asked: reply(result(asked), content_encoding="gzip"), "exchange"),
    (lambda asked: reply(result(asked), content_length="9999"), "exchange"),
    (lambda asked: b"\x16\x03\x01 this is no HTTP\r\n\r\n", "exchange"),
    (lambda asked: b"", "exchange"),
    (lambda asked: STREAM + chunk(b"data: " + result(asked)[:20]), "exchange"),
    (lambda asked: STREAM + chunk(b"data: " + result(asked) + b"\n") + chunk(b""), "the stream ended"),
    (lambda asked: STREAM + chunk(b"data: {}\n\ndata: \xff\n\n:\n\n") + chunk(b""), "the stream ended"),
]  # fmt: skip
"""Responses that hold no answer, each with a word of what is said of it."""


@pytest.mark.parametrize(("make", "words"), NO_ANSWERS)
def test_what_is_no_answer_is_an_error_that_says_what_came(
    make: Callable[[Asked], bytes], words: str
) -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(make(asked))
        writer.close()

    with pytest.raises(Disconnected, match=words):
        ask(script)


@pytest.mark.parametrize("status", [202, 400])
def test_an_answer_of_no_bytes_is_no_message_that_is_reported(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Disconnected):
        ask(says(lambda asked: reply(status=status)))
    assert [record.message for record in caplog.records if "mcprotocol" in record.name] == []


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("name", UNREADABLE)
def test_an_answer_that_cannot_be_read_is_an_error_whatever_the_status(name: str, status: int) -> None:
    with pytest.raises(InvalidRequest, match="peer"):
        ask(says(lambda asked: reply(numbered(UNREADABLE[name], asked.json()), status=status)), era="modern")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_stream_is_read_however_its_bytes_arrive(size: int, end: bytes) -> None:
    noise = b"\xef\xbb\xbf: hi\n\nevent: ping\ndata: x\n\ndata:\n\nid: 4\nretry: 1\nwhat: ever\n\n"

    def make(asked: Asked) -> bytes:
        first, second = result(asked).split(b" ", 1)
        stream = (noise + b"data: " + first + b"\ndata: " + second + b"\n\n").replace(b"\n", end)
        pieces = (stream[place : place + size] for place in range(0, len(stream), size))
        return STREAM + b"".join(map(chunk, pieces)) + chunk(b"")

    assert ask(says(make)).supported_versions == [REVISION]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_answer_is_taken_although_the_stream_goes_on(end: bytes) -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + chunk(b"data: " + result(asked) + end + end))
        asked.held = True

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, era="modern") as client:
            for turn in range(3):
                assert await client.discover(fresh=True)
                await wire.asked[turn].gone.wait()

    run(script, work)


@pytest.mark.parametrize("stream", [False, True])
def test_a_message_that_is_too_long_is_refused(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcprotocol.client.http.MAX_ANSWER_BYTES", 1000)

    def make(asked: Asked) -> bytes:
        long = b"data: " + b"x" * 2000
        return STREAM + chunk(long) if stream else reply(long)

    with pytest.raises(Disconnected, match="more than 1000 bytes"):
        ask(says(make))


def test_a_slow_answer_is_awaited() -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        for byte in answered(asked):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)

    assert ask(script)


@pytest.mark.parametrize("way", ["cancel", "timeout of the caller", "timeout of the client", "close"])
@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\n", STREAM, STREAM + chunk(b"data: {")])
def test_a_call_that_is_given_up_closes_its_stream(way: str, begun: bytes) -> None:
    came = asyncio.Event()

    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        asked.held = True
        came.set()

    async def work(wire: Wire) -> None:
        async with Client.http(
            # Long enough for a busy machine to get the request out before it is given up.
            wire.url,
            timeout=0.5 if way == "timeout of the client" else None,
            era="modern",
        ) as client:
            call = asyncio.ensure_future(client.discover())
            await came.wait()
            if way == "timeout of the caller":
                call = asyncio.ensure_future(asyncio.wait_for(call, 0.01))
            elif way == "cancel":
                call.cancel()
            if way != "close":
                with pytest.raises(asyncio.CancelledError if way == "cancel" else TimeoutError):
                    await call
                await wire.asked[0].gone.wait()
        if way == "close":
            with pytest.raises(Disconnected):
                await call
        await wire.asked[0].gone.wait()
        assert len(wire.asked) == 1

    run(script, work)


def test_after_a_call_that_was_given_up_others_go_on() -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.header("mcp-method") == "tools/list":
            asked.held = True
        else:
            writer.write(answered(asked))

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, era="modern") as client:
            lists = [asyncio.ensure_future(client.list_tools()) for _ in range(5)]
            assert await client.discover()
            for call in lists:
                call.cancel()
            await asyncio.gather(*lists, return_exceptions=True)
            assert await client.discover(fresh=True)

    run(script, work)


def test_five_hundred_calls_side_by_side_get_their_own_answers() -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        message = asked.json()
        text = {"type": "text", "text": message["params"]["name"]}
        await asyncio.sleep(hash(text["text"]) % 50 / 1000)
        content = {"resultType": "complete", "content": [text]}
        writer.write(reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": content}).encode()))

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, era="modern") as client:
            results = await asyncio.gather(*(client.call_tool(f"tool{number}") for number in range(500)))
        for number, one in enumerate(results):
            assert one.content == [types.TextContent(text=f"tool{number}")]

    run(script, work)


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed(status: int) -> None:
    def make(asked: Asked) -> bytes:
        if asked.line.startswith("POST /mcp "):
            return reply(status=status, location="/mcp/")
        return answered(asked)

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, era="modern") as client:
            assert await client.discover()
        first, second = wire.asked
        assert second.line == "POST /mcp/ HTTP/1.1"
        assert (first.body, first.headers) == (second.body, second.headers)

    run(says(make), work)


@pytest.mark.parametrize(
    ("status", "same"), [(301, True), (302, True), (303, True), (307, False), (308, False)]
)
def test_a_redirect_that_is_not_safe_is_an_error_that_says_where_to(status: int, same: bool) -> None:
    async def work(wire: Wire) -> None:
        async with wired(says(answered)) as other:
            target = f"{wire.url}/" if same else other.url
            wire.asked.clear()
            targets.append(target)
            for client in (None, httpx2.AsyncClient(follow_redirects=True)):
                async with Client.http(
                    wire.url, client=client, headers={"x-key": "secret"}, era="modern"
                ) as ours:
                    with pytest.raises(HttpError, match=target) as caught:
                        await ours.discover()
                assert caught.value.status == status and caught.value.final
                if client is not None:
                    await client.aclose()
            assert not other.asked and len(wire.asked) == 2

    targets: list[str] = []
    run(says(lambda asked: reply(status=status, location=targets[0])), work)


@pytest.mark.parametrize("location", ["/mcp", ""])
def test_a_redirect_that_leads_nowhere_is_an_error(location: str) -> None:
    async def work(wire: Wire) -> None:
        async with Client.http(wire.url, era="modern") as client:
            with pytest.raises(HttpError, match="307"):
                await client.discover()
        assert len(wire.asked) == (6 if location else 1)

    run(says(lambda asked: reply(status=307, location=location)), work)


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    async def scenario(url: str) -> None:
        async with Client.http(url, era="modern") as client:
            await asyncio.wait_for(client.discover(), PATIENCE)

    for url in (f"http://127.0.0.1:{port}/mcp", "http://nowhere.invalid/mcp"):
        with pytest.raises(Disconnected, match="cannot be reached"):
            asyncio.run(scenario(url))
    for url in ("nowhere", "ftp://127.0.0.1/mcp", "http://[::1/mcp"):
        with pytest.raises(Disconnected):
            asyncio.run(scenario(url))


def test_each_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def both(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host not in ("localhost", b"localhost"):
            return resolve(host, port, *more, **options)
        stream = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        six = (socket.AF_INET6, *stream, ("::1", int(port), 0, 0))
        return [six, (socket.AF_INET, *stream, ("127.0.0.1", int(port)))]

    monkeypatch.setattr(socket, "getaddrinfo", both)

    async def work(wire: Wire) -> None:
        async with Client.http(wire.url.replace("127.0.0.1", "localhost"), era="modern") as client:
            assert await client.discover()
        assert wire.asked[0].header("host") == f"localhost:{wire.port}"

    run(says(answered), work)


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def work(wire: Wire) -> None:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{wire.port}")
        async with Client.http("http://far.invalid/mcp", era="modern") as client:
            assert await client.discover()
        assert wire.asked[0].line == "POST http://far.invalid/mcp HTTP/1.1"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        async with Client.http(wire.url, era="modern") as client:
            assert await client.discover()
        assert wire.asked[1].line == "POST /mcp HTTP/1.1"

    run(says(answered), work)


def test_requests_say_what_they_are_and_what_the_caller_adds() -> None:
    async def work(wire: Wire) -> None:
        mine = {"X-Own": "1", "MCP-Method": "tools/call", "mcp-protocol-version": "1", "Mcp-Param-A": "b"}
        async with Client.http(wire.url, headers=mine, era="modern") as client:
            await client.discover()
        (asked,) = wire.asked
        assert asked.header("x-own") == "1" and asked.header("mcp-param-a") is None
        assert asked.header("mcp-method") == "server/discover" and asked.header("mcp-name") is None
        assert asked.header("mcp-protocol-version") == REVISION
        assert asked.header("accept") == "application/json, text/event-stream"
        assert asked.header("content-type") == "application/json"

    run(says(answered), work)


@pytest.mark.parametrize("given", [False, True])
def test_cookies_of_the_server_come_back_and_connections_are_kept(given: bool) -> None:
    async def work(wire: Wire) -> None:
        theirs = httpx2.AsyncClient(headers={"x-theirs": "1"}) if given else None
        async with Client.http(wire.url, client=theirs, era="modern") as client:
            for _ in range(3):
                await client.discover(fresh=True)
        assert [asked.header("cookie") for asked in wire.asked] == [None, "where=here", "where=here"]
        assert {asked.header("x-theirs") for asked in wire.asked} == {"1" if given else None}
        assert wire.connections == 1
        if theirs is not None:
            assert not theirs.is_closed
            await theirs.aclose()

    run(says(lambda asked: reply(result(asked), set_cookie="where=here")), work)


def test_a_client_of_the_callers_own_may_give_up_by_itself() -> None:
    async def script(asked: Asked, writer: asyncio.StreamWriter) -> None:
        asked.held = True

    async def work(wire: Wire) -> None:
        async with (
            httpx2.AsyncClient(timeout=0.05) as theirs,
            Client.http(wire.url, client=theirs, era="modern") as client,
        ):
            with pytest.raises(TimeoutError, match="ReadTimeout"):
                await client.discover()

    run(script, work)


@pytest.mark.parametrize("status", [202, 200, 204, 400, 404, 500])
def test_a_notification_is_accepted_or_refused(status: int) -> None:
    async def work(wire: Wire) -> None:
        params = types.CancelledNotificationParams(request_id=7)
        async with Client.http(wire.url, era="modern") as client:
            if status < 300:
                await client.calls.notify_cancelled(params)
            else:
                with pytest.raises(HttpError, match=str(status)):
                    await client.calls.notify_cancelled(params)
        (asked,) = wire.asked
        assert asked.header("mcp-method") == "notifications/cancelled"
        assert asked.header("mcp-protocol-version") == REVISION
        assert "id" not in asked.json()

    run(says(lambda asked: reply(kind=None, status=status)), work)


def test_an_error_of_the_server_is_no_loss_of_the_connection() -> None:
    assert not issubclass(McpError, ConnectionError) and issubclass(HttpError, ConnectionError)
