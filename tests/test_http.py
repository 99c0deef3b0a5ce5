"""Streamable HTTP: statuses, headers, streams and disconnects, by raw requests to the ASGI application."""

from __future__ import annotations

import asyncio
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from hosted import COMMON, Post, Response, body, headers_for, hosted, post
from jsonschema import Draft202012Validator
from judged import responses
from mcprotocol.errors import InvalidParams, McpError, MethodNotFound, MissingRequiredClientCapability
from mcprotocol.server import Context, Header, Server
from mcprotocol.server.gate import reachable_as
from mcprotocol.server.familiar import LONGEST, MOST, Familiar
from mcprotocol.server.application import Application
from mcprotocol.server.asgi import ASGIApp, Message, Receive, Scope, Send
from pydantic import Field
from scaffolded import META, PATIENCE
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ASKING = {**META, "progressToken": "t"}
SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "2026-07-28.json").read_text())
LOOPBACK_SERVER = (sys.executable, Path(__file__).parent / "servers/loopback.py")


class Probe(Server):
    """A server that notes what becomes of its calls."""

    def __init__(self) -> None:
        super().__init__("probe", version="1")
        self.notes: list[str] = []
        self.started = asyncio.Event()


@pytest.fixture
def server() -> Probe:
    made = Probe()

    @made.tool()
    async def echo(text: str = "nothing") -> str:
        return text

    with pytest.warns(UserWarning, match="may refuse the tool name"):
        for odd in ("世界", "=?base64?eA==?="):
            made.tools.add(echo, name=odd)

    @made.tool()
    async def regional(
        region: Annotated[str, Header("Region")] = "",
        count: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Count"})] = 0,
    ) -> str:
        return f"{region} {count}"

    @made.tool()
    async def report(times: int, *, ctx: Context) -> str:
        for number in range(times):
            await ctx.progress(number + 1, total=times, message="two\nlines")
        return "reported"

    @made.tool()
    async def wait(seconds: float, report: bool = False, stubborn: bool = False, *, ctx: Context) -> str:
        if report:
            await ctx.progress(1)
        made.started.set()
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            made.notes.append("cancelled")
            if not stubborn:
                raise
        return "waited"

    @made.tool()
    async def fail(code: int, report: bool = False, *, ctx: Context) -> str:
        if report:
            await ctx.progress(1)
        errors: dict[int, McpError] = {
            -32021: MissingRequiredClientCapability({"sampling": {}}),
            -32602: InvalidParams("no"),
            -32601: MethodNotFound("no"),
            -32603: McpError("no"),
        }
        raise errors[code]

    @made.resource("note://a")
    async def note() -> str:
        return "a"

    return made


@pytest.fixture
def application(server: Probe) -> Application:
    return server.http()


def call(tool: str, identity: object = 1, meta: Any = META, **arguments: Any) -> bytes:
    return body(identity, "tools/call", meta, name=tool, arguments=arguments)


LIST = body(1, "tools/list")
ECHO = call("echo", text="hi")


@pytest.mark.parametrize("identity", [0, 1, -1, "1", "007", "", 9007199254740993, "ü"])
def test_b05_an_id_comes_back_as_it_went(application: Application, identity: object) -> None:
    answer = post(application, call("echo", identity))
    assert answer.status == 200
    assert answer.json()["id"] == identity and type(answer.json()["id"]) is type(identity)


@pytest.mark.parametrize("identity", [None, 1.5, True, [1], {"a": 1}])
def test_b05_what_is_no_id_is_refused_and_never_taken_for_a_notification(
    application: Application, identity: object
) -> None:
    answer = post(application, call("echo", identity))
    assert (answer.status, answer.code()) == (400, -32600)
    assert "id" not in answer.json()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"not json", -32700),
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"[%b]" % ECHO, -32600),
        (b'{"hello":1}', -32600),
        (b'"text"', -32600),
        (b'{"id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}', -32600),
    ],
)
def test_b26_what_is_no_message_is_a_bad_request(application: Application, data: bytes, code: int) -> None:
    answer = post(application, data)
    assert (answer.status, answer.code()) == (400, code)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["no/such", "prompts/list", "initialize", "TOOLS/LIST"])
def test_b26_an_unknown_or_unannounced_method_is_not_found(application: Application, method: str) -> None:
    answer = post(application, body(7, method))
    assert (answer.status, answer.code(), answer.json()["id"]) == (404, -32601, 7)


def test_a_familiar_request_vouches_for_nothing_else(application: Application) -> None:
    other = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
    assert [post(application, ECHO).status for _ in range(2)] == [200, 200]
    table: list[tuple[bytes, dict[str, str]]] = [
        (call("fail"), other),
        (body(1, "tools/list"), other),
        (call("echo", meta={**META, VERSION: "2099-01-01"}), other),
        (ECHO, {"Mcp-Name": ""}),
        (ECHO, {"Mcp-Name": "fail"}),
    ]
    for data, headers in table:
        answer = post(application, data, headers)
        assert (answer.status, answer.code()) == (400, -32020)
    assert post(application, ECHO, more=[("Mcp-Name", "echo")]).code() == -32020
    assert post(application, ECHO, method="GET").status == 405
    assert post(application, ECHO, {"Host": "other.example"}).status == 403
    assert post(application, ECHO).status == 200


def test_a_name_that_is_no_text_is_a_fault_of_the_params_however_often_it_comes(
    application: Application,
) -> None:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
    names: tuple[Any, ...] = ([], {}, 5, True, 1, None)
    for name in (*names, *names):
        answer = post(application, body(1, "tools/call", name=name), headers)
        assert (answer.status, answer.code()) == (400, -32602)


def test_only_so_much_is_familiar_and_nothing_long() -> None:
    familiar, said = Familiar(), ("tools/list", "2026-07-28", None)
    familiar.add((b"x" * LONGEST,), said)
    for number in range(2 * MOST):
        familiar.add((b"%d" % number,), said)
    assert familiar.get((b"x" * LONGEST,)) is None
    assert familiar.get((b"%d" % (MOST - 1),)) == said
    assert familiar.get((b"%d" % MOST,)) is None


HEADER_TABLE: list[tuple[str, bytes, dict[str, str], int]] = [
    ("no version header", LIST, {"MCP-Protocol-Version": ""}, -32020),
    ("no version header, no metadata", body(1, "tools/list", {}), {"MCP-Protocol-Version": ""}, -32020),
    ("no version in the body", body(1, "tools/list", {CAPABILITIES: {}}), {}, -32602),
    ("no capabilities in the body", body(1, "tools/list", {VERSION: "2026-07-28"}), {}, -32602),
    ("no capabilities, another version", body(1, "tools/list", {VERSION: "v999"}), {}, -32602),
    ("capabilities of a wrong type", body(1, "tools/list", {**META, CAPABILITIES: []}), {}, -32602),
    ("version of a wrong type", body(1, "tools/list", {**META, VERSION: 1}), {}, -32602),
    ("metadata of a wrong type", body(1, "tools/list", []), {}, -32602),
    ("no params", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {}, -32602),
    ("another version in the body", body(1, "tools/list", {**META, VERSION: "v999"}), {}, -32020),
    ("another version in the header", LIST, {"MCP-Protocol-Version": "2025-11-25"}, -32020),
    (
        "a version that is not served",
        body(1, "tools/list", {**META, VERSION: "v999"}),
        {"MCP-Protocol-Version": "v999"},
        -32022,
    ),
    (
        "a version that is not served, before the method",
        body(1, "no/such", {**META, VERSION: "v999"}),
        {"MCP-Protocol-Version": "v999", "Mcp-Method": "other"},
        -32022,
    ),
    ("no method header", LIST, {"Mcp-Method": ""}, -32020),
    ("another method", LIST, {"Mcp-Method": "prompts/list"}, -32020),
    ("a method in another case", LIST, {"Mcp-Method": "TOOLS/LIST"}, -32020),
    ("an encoded method", LIST, {"Mcp-Method": "=?base64?dG9vbHMvbGlzdA==?="}, -32020),
    ("another method than an unknown one", body(1, "no/such"), {"Mcp-Method": "tools/list"}, -32020),
    ("no name", ECHO, {"Mcp-Name": ""}, -32020),
    ("another name", ECHO, {"Mcp-Name": "wait"}, -32020),
    ("a name in another case", ECHO, {"Mcp-Name": "ECHO"}, -32020),
    ("a name that is no Base64", ECHO, {"Mcp-Name": "=?base64?!?="}, -32020),
    ("a name outside of ASCII", call("世界"), {"Mcp-Name": "\xe4"}, -32020),
    ("a plain name that had to be encoded", call("=?base64?eA==?="), {"Mcp-Name": "=?base64?eA==?="}, -32020),
    ("no name of a resource", body(1, "resources/read", uri="note://a"), {"Mcp-Name": ""}, -32020),
    ("another resource", body(1, "resources/read", uri="note://a"), {"Mcp-Name": "note://b"}, -32020),
    ("a name that the body lacks", body(1, "tools/call"), {"Mcp-Name": "echo"}, -32602),
    ("a tool that is not there", call("nothing"), {}, -32602),
    ("a bad cursor", body(1, "tools/list", cursor="x"), {}, -32602),
    ("an argument without its header", call("regional", region="eu"), {}, -32020),
    ("another argument", call("regional", region="eu"), {"Mcp-Param-Region": "us"}, -32020),
    ("an argument that is not there", call("regional"), {"Mcp-Param-Region": "eu"}, -32020),
    ("another number", call("regional", count=1), {"Mcp-Param-Count": "2"}, -32020),
    ("an argument that is no Base64", call("regional", region="x"), {"Mcp-Param-Region": "=?base64?eA?="}, -32020),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "headers", "code"), [row[1:] for row in HEADER_TABLE], ids=[row[0] for row in HEADER_TABLE]
)
def test_headers_and_body_are_judged_in_the_order_of_the_specification(
    application: Application, data: bytes, headers: dict[str, str], code: int
) -> None:
    answer = post(application, data, headers)
    assert (answer.status, answer.code(), answer.json()["id"]) == (400, code, 1)
    assert answer.headers["content-type"] == "application/json"


def test_a_client_of_another_era_learns_what_is_spoken_here(application: Application) -> None:
    unknown = post(application, body(1, "initialize"))
    assert (unknown.status, unknown.code()) == (404, -32601)
    assert unknown.json()["error"]["data"] == {"supported": ["2026-07-28"]}
    without = {"MCP-Protocol-Version": "", "Mcp-Method": ""}
    refused = post(application, body(1, "initialize", {}), without)
    assert (refused.status, refused.code()) == (200, -32602)
    assert refused.json()["error"]["data"]["supported"][0] == "2025-11-25"


def test_an_unserved_version_is_answered_with_those_that_are(application: Application) -> None:
    data = body(1, "server/discover", {**META, VERSION: "v999"})
    answer = post(application, data, {"MCP-Protocol-Version": "v999"})
    assert answer.json()["error"]["data"] == {"supported": ["2026-07-28"], "requested": "v999"}


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region"])
def test_a_header_that_comes_twice_is_refused_even_when_both_agree(
    application: Application, name: str
) -> None:
    data = call("regional", region="eu")
    headers = headers_for(data, {("region",): "Region"})
    assert post(application, data, headers).status == 200
    answer = post(application, data, headers, more=[(name, headers[name])])
    assert (answer.status, answer.code(), answer.json()["id"]) == (400, -32020, 1)


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (ECHO, {}),
        (ECHO, {"Mcp-Name": "  echo\t"}),
        (ECHO, {"Mcp-Name": "=?base64?ZWNobw==?="}),
        (ECHO, {"Mcp-Session-Id": "abc", "Last-Event-ID": "5", "Mcp-Param-Unknown": "1"}),
        (LIST, {"Mcp-Name": "anything"}),
        (call("世界"), {}),
        (call("=?base64?eA==?="), {}),
        (call("regional", region="eu", count=42), {"Mcp-Param-Region": "eu", "mcp-param-COUNT": "42.0"}),
        (call("regional", region=None), {}),
        (body(1, "server/discover"), {}),
        (body(1, "resources/read", uri="note://a"), {}),
    ],
)
def test_b42_what_agrees_is_answered(application: Application, data: bytes, headers: dict[str, str]) -> None:
    answer = post(application, data, headers)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.json()["result"]["resultType"] == "complete"
    assert not any("session" in name for name in answer.headers)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("", 200),
        ("http://localhost:5173", 200),
        ("http://127.0.0.1:8000", 200),
        ("http://[::1]:1", 200),
        ("https://LOCALHOST", 200),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost:80@evil.example", 403),
        ("http://localhost/", 403),
        ("http://evil.example/localhost", 403),
        ("file://localhost", 403),
        ("null", 403),
        ("localhost", 403),
    ],
)
def test_b44_only_pages_of_this_machine_may_call(application: Application, origin: str, status: int) -> None:
    assert post(application, ECHO, {"Origin": origin}).status == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:3000", 200),
        ("[::1]:8000", 200),
        ("127.0.0.1", 200),
        ("evil.example", 403),
        ("evil.example:8000", 403),
        ("localhost.", 403),
        ("localhost:8000:1", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
def test_b44_only_names_of_this_machine_are_answered_to(
    application: Application, host: str, status: int
) -> None:
    assert post(application, ECHO, {"Host": host}).status == status


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_two_hosts_or_origins_are_refused(application: Application, name: str) -> None:
    answer = post(application, ECHO, {name: "http://localhost"}, more=[(name, "http://localhost")])
    assert answer.status == 403


def test_lists_of_names_are_kept_to(server: Probe) -> None:
    application = server.http(hosts=["api.example:8443", "other.example"], origins=["https://app.example"])
    host = {"Host": "api.example:8443"}
    assert post(application, ECHO, host).status == 200
    assert post(application, ECHO, {"Host": "other.example:99"}).status == 200
    assert post(application, ECHO, {"Host": "api.example"}).status == 403
    assert post(application, ECHO, {"Host": "localhost"}).status == 403
    assert post(application, ECHO, {**host, "Origin": "https://app.example"}).status == 200
    assert post(application, ECHO, {**host, "Origin": "http://app.example"}).status == 403
    assert post(application, ECHO, {**host, "Origin": "https://app.example:1"}).status == 403


def test_an_empty_list_refuses_all_and_a_star_allows_all(server: Probe) -> None:
    assert post(server.http(hosts=[]), ECHO).status == 403
    for wrong in ({"hosts": "example.com"}, {"origins": "https://app.example"}):
        options: dict[str, Any] = {**wrong}
        with pytest.raises(TypeError, match="must be a list of names"):
            server.http(**options)
    assert post(server.http(origins=[]), ECHO, {"Origin": "http://localhost"}).status == 403
    anyone = server.http(hosts=["*"])
    assert post(anyone, ECHO, {"Host": "evil.example", "Origin": "https://evil.example"}).status == 200


def test_an_address_that_is_bound_is_a_name_that_is_answered_to() -> None:
    assert "10.0.0.7" in reachable_as("10.0.0.7")
    assert "[fd00::1]" in reachable_as("fd00::1")
    assert reachable_as("::1") == reachable_as("127.0.0.1")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"])
def test_b44_messages_come_by_post_alone(application: Application, method: str) -> None:
    answer = post(application, b"", method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert post(application, b"", {"Origin": "https://evil.example"}, method=method).status == 403


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json, text/event-stream", 200),
        ("text/event-stream;q=0.5,application/json", 200),
        ("Application/JSON,TEXT/event-stream", 200),
        ("*/*", 200),
        ("application/*, text/*;q=0.1", 200),
        ("", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("text/html", 406),
        ("application/json, text/event-stream;q=0", 406),
        ("*/*, text/event-stream; q=0.00", 406),
    ],
)
def test_a_client_takes_both_forms_of_an_answer(application: Application, accept: str, status: int) -> None:
    assert post(application, ECHO, {"Accept": accept}).status == status


def test_accept_may_come_in_several_lines(application: Application) -> None:
    headers = {"Accept": "application/json"}
    assert post(application, ECHO, headers, more=[("Accept", "text/event-stream")]).status == 200


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON ;x=1", 200),
        ("", 415),
        ("text/plain", 415),
        ("application/json-rpc", 415),
        ("multipart/form-data", 415),
    ],
)
def test_a_message_is_json_by_its_own_account(application: Application, kind: str, status: int) -> None:
    assert post(application, ECHO, {"Content-Type": kind}).status == status


def test_a_body_over_the_limit_is_refused_by_its_length_or_once_it_is_too_long(server: Probe) -> None:
    application = server.http(max_body_bytes=len(ECHO))
    assert post(application, [ECHO[:5], ECHO[5:]]).status == 200
    assert post(application, b"", {"Content-Length": str(len(ECHO) + 1)}).status == 413
    assert post(application, b"", {"Content-Length": "9" * 5000}).status == 413
    long = post(application, [ECHO, b" ", b"never read"])
    assert (long.status, long.code()) == (413, -32600)


def test_a_client_that_leaves_before_the_end_of_its_body_gets_nothing(application: Application) -> None:
    async def scenario() -> Response:
        request = Post(application, ECHO[:5], unfinished=True)
        request.leave()
        return await request.run()

    assert asyncio.run(scenario()).status == 0


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","method":"no/such"}',
        b'{"jsonrpc":"2.0","method":"notifications/x","params":[]}',
    ],
)
def test_a_notification_is_accepted_without_a_word_and_without_its_headers(
    application: Application, data: bytes
) -> None:
    headers = {"MCP-Protocol-Version": "", "Mcp-Method": "", "Mcp-Name": ""}
    answer = post(application, data, headers)
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize(
    ("data", "definition"),
    [
        (body(1, "server/discover"), "DiscoverResult"),
        (LIST, "ListToolsResult"),
        (body(1, "resources/list"), "ListResourcesResult"),
        (body(1, "resources/templates/list"), "ListResourceTemplatesResult"),
        (body(1, "resources/read", uri="note://a"), "ReadResourceResult"),
        (ECHO, "CallToolResult"),
        (call("echo", text=1), "CallToolResult"),
    ],
)
def test_b32_each_result_is_what_the_schema_says(
    application: Application, data: bytes, definition: str
) -> None:
    answer = post(application, data)
    assert answer.status == 200 and b"\n" not in answer.body
    result = answer.json()["result"]
    exact: Any = Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]})
    exact.validate(result)
    assert result["resultType"] == "complete"
    assert ("ttlMs" in result, "cacheScope" in result) == ((definition != "CallToolResult"),) * 2


def test_no_damage_to_a_request_does_damage_to_the_server(application: Application) -> None:
    chance = random.Random(2026)
    good = [ECHO, LIST, call("regional", region="eu"), body("x", "server/discover")]

    async def scenario() -> None:
        for _ in range(3000):
            data = bytearray(chance.choice(good))
            headers = headers_for(bytes(data))
            for _ in range(chance.randrange(4)):
                match chance.randrange(4):
                    case 0:
                        data[chance.randrange(len(data))] = chance.randrange(256)
                    case 1:
                        del data[1 + chance.randrange(len(data)) :]
                    case 2:
                        data += chance.choice((b"}", b"[" * 5000, b'{"a":' * 5000, b"\x00", bytes(data)))
                    case _:
                        name = chance.choice(list(headers))
                        headers[name] = "".join(chance.choices(headers[name] + "\x00\xff=?", k=8))
            answer = await Post(application, bytes(data), headers).run()
            assert answer.status in (200, 202, 400, 404, 406, 415) and answer.ended
            assert answer.status == 202 or ("error" in answer.json()) == (answer.status != 200)
        assert (await Post(application, ECHO).run()).status == 200

    asyncio.run(scenario())


def test_there_is_one_path(application: Application) -> None:
    assert post(application, ECHO, path="/").status == 404
    assert post(application, ECHO, path="/mcp/").status == 404


def test_any_application_can_mount_it(server: Probe) -> None:
    outer = Starlette(routes=[Mount("/api", server.http(path="/v1"))])

    async def scenario() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=outer)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/api/v1", content=ECHO, headers=headers_for(ECHO))

    answer = asyncio.run(scenario())
    assert answer.json()["result"]["content"] == [{"type": "text", "text": "hi"}]


def test_what_is_put_around_or_before_the_endpoint_is_not_passed_by(server: Probe) -> None:
    class Marked:
        def __init__(self, app: ASGIApp) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            async def mark(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] = [*message["headers"], (b"x-marked", b"yes")]
                await send(message)

            await self.app(scope, receive, mark)

    async def other(request: Request) -> PlainTextResponse:
        return PlainTextResponse("other")

    around, before = server.http(), server.http()
    around.add_middleware(Marked)
    before.router.routes.insert(0, Route("/mcp", other, methods=["POST"]))
    marked = post(around, ECHO)
    assert marked.headers["x-marked"] == "yes"
    assert marked.json()["result"]["content"] == [{"type": "text", "text": "hi"}]
    assert post(before, ECHO).body == b"other"


def test_a_body_in_many_pieces_is_read_whole(application: Application) -> None:
    pieces = [ECHO[place : place + 7] for place in range(0, len(ECHO), 7)]
    answer = post(application, pieces, headers_for(ECHO))
    assert answer.json()["result"]["content"] == [{"type": "text", "text": "hi"}]


def test_an_answer_is_a_stream_once_a_notification_goes_before_it(application: Application) -> None:
    answer = post(application, call("report", "r", ASKING, times=3))
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-accel-buffering"] == "no"
    assert "content-length" not in answer.headers
    *reports, last = answer.events()
    assert [one["params"]["progress"] for one in reports] == [1, 2, 3]
    assert {one["params"]["progressToken"] for one in reports} == {"t"}
    assert last["id"] == "r" and last["result"]["content"][0]["text"] == "reported"
    assert answer.ended


def test_an_answer_is_json_when_nothing_goes_before_it(application: Application) -> None:
    assert post(application, call("report", times=3)).headers["content-type"] == "application/json"
    assert post(application, call("report", 1, ASKING, times=0)).headers["content-type"] == "application/json"


@pytest.mark.parametrize(("code", "status"), [(-32021, 400), (-32602, 400), (-32601, 404), (-32603, 200)])
def test_an_error_of_a_handler_has_its_status_until_a_stream_has_begun(
    application: Application, code: int, status: int
) -> None:
    answer = post(application, call("fail", 1, ASKING, code=code))
    assert (answer.status, answer.code()) == (status, code)
    late = post(application, call("fail", 1, ASKING, code=code, report=True))
    assert (late.status, late.events()[-1]["error"]["code"]) == (200, code)


@pytest.mark.parametrize("report", [False, True])
def test_a_handler_that_panics_is_answered(server: Probe, application: Application, report: bool) -> None:
    class Panic(BaseException):
        pass

    @server.tool()
    async def panic(report: bool, *, ctx: Context) -> str:
        if report:
            await ctx.progress(1)
        raise Panic

    meta = {**META, "progressToken": 1}
    response = asyncio.run(Post(application, call("panic", meta=meta, report=report)).run())
    answer = response.events()[-1] if report else response.json()
    assert (response.status, answer["result"]["isError"]) == (200, True)


def test_a_quiet_stream_gets_comments(server: Probe) -> None:
    application = server.http(keep_alive_seconds=0.02)
    answer = post(application, call("wait", 1, ASKING, seconds=0.2, report=True))
    assert answer.body.count(b": ") >= 2
    assert [("id" in event) for event in answer.events()] == [False, True]
    assert b"\n\n: " in answer.body


def test_an_answer_that_takes_long_becomes_a_stream_that_is_kept_alive(server: Probe) -> None:
    application = server.http(keep_alive_seconds=0.02)
    answer = post(application, call("wait", 1, seconds=0.3))
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
    assert answer.body.startswith(b": ") and answer.body.count(b": still here\n\n") >= 2
    assert [event["result"]["content"][0]["text"] for event in answer.events()] == ["waited"]


def test_an_answer_that_does_not_take_long_stays_json(server: Probe) -> None:
    answer = post(server.http(), call("wait", 1, seconds=0.1))
    assert answer.headers["content-type"] == "application/json"
    patient = post(server.http(keep_alive_seconds=math.inf), call("wait", 1, seconds=0.1))
    assert patient.headers["content-type"] == "application/json"


def test_a_client_that_leaves_a_kept_stream_cancels_its_call(server: Probe) -> None:
    async def scenario() -> None:
        request = Post(server.http(keep_alive_seconds=0.02), call("wait", 1, seconds=60))
        running = request.begin()
        await request.until(b": still here")
        request.leave()
        await asyncio.wait_for(running, PATIENCE)
        assert not request.response.ended

    asyncio.run(scenario())
    assert server.notes == ["cancelled"]


def test_a_stream_that_is_not_quiet_gets_no_comments(application: Application) -> None:
    answer = post(application, call("wait", 1, ASKING, seconds=0.1, report=True))
    assert answer.body.startswith(b"data: ") and answer.body.count(b"data: ") == answer.body.count(b"\n\n")


@pytest.mark.parametrize("report", [False, True], ids=["json in waiting", "stream"])
@pytest.mark.parametrize("stubborn", [False, True], ids=["gives way", "goes on"])
def test_a_client_that_leaves_cancels_its_call(
    server: Probe, application: Application, report: bool, stubborn: bool
) -> None:
    async def scenario() -> None:
        request = Post(application, call("wait", 1, ASKING, seconds=60, report=report, stubborn=stubborn))
        running = request.begin()
        await asyncio.wait_for(server.started.wait(), PATIENCE)
        request.leave()
        await asyncio.wait_for(running, PATIENCE)
        assert running.cancelling() == 0
        assert not request.response.ended
        assert bool(request.response.status) == report
        # The server is as it was.
        assert (await Post(application, ECHO).run()).status == 200

    asyncio.run(scenario())
    assert server.notes == ["cancelled"]


def test_the_end_of_the_server_is_no_leaving_client(server: Probe, application: Application) -> None:
    async def scenario() -> None:
        running = Post(application, call("wait", seconds=60)).begin()
        await asyncio.wait_for(server.started.wait(), PATIENCE)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    assert server.notes == ["cancelled"]


def test_one_caller_does_not_cancel_another(server: Probe, application: Application) -> None:
    async def scenario() -> Response:
        running = Post(application, call("wait", 1, seconds=0.2)).begin()
        await asyncio.wait_for(server.started.wait(), PATIENCE)
        notice = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
        assert (await Post(application, notice).run()).status == 202
        return await running

    assert asyncio.run(scenario()).json()["result"]["content"][0]["text"] == "waited"
    assert server.notes == []


def test_callers_with_the_same_id_do_not_meet(application: Application) -> None:
    async def scenario() -> list[Response]:
        requests = [
            Post(application, call("report", 1, {**META, "progressToken": n}, times=n)) for n in range(64)
        ]
        return await asyncio.gather(*(request.run() for request in requests))

    for number, answer in enumerate(asyncio.run(scenario())):
        if number == 0:
            assert answer.json()["id"] == 1
        else:
            *reports, last = answer.events()
            assert [one["params"]["progressToken"] for one in reports] == [number] * number
            assert last["id"] == 1


def test_a_subclass_says_which_arguments_have_headers() -> None:
    class Own(Server):
        def parameter_headers(self, tool: str) -> dict[tuple[str, ...], str]:
            return {("text",): "Text"}

    server = Own("own", version="1")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    application = server.http()
    assert post(application, ECHO).code() == -32020
    assert post(application, ECHO, {"Mcp-Param-Text": "hi"}).status == 200


def test_without_uvicorn_the_error_says_what_to_install(
    server: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(RuntimeError, match="pip install uvicorn"):
        server.serve()


def test_a_server_that_speaks_stdio_never_loads_starlette() -> None:
    code = "import sys, mcprotocol.server; print('starlette' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


Scenario = Callable[[httpx2.AsyncClient], Coroutine[Any, Any, None]]


def on_a_real_port(scenario: Scenario) -> None:
    async def run() -> None:
        async with (
            hosted(*LOOPBACK_SERVER) as site,
            httpx2.AsyncClient(base_url=site.url, timeout=PATIENCE, trust_env=False) as client,
        ):
            await scenario(client)

    asyncio.run(run())


async def ask(client: httpx2.AsyncClient, data: bytes, **headers: str) -> httpx2.Response:
    answer = await client.post("/mcp", content=data, headers={**headers_for(data), **headers})
    responses(data, answer.headers.get("content-type", ""), answer.content)
    return answer


def test_the_same_holds_on_a_real_port() -> None:
    async def scenario(client: httpx2.AsyncClient) -> None:
        assert (await ask(client, ECHO)).json()["result"]["content"][0]["text"] == "hi"
        assert (await ask(client, b"not json")).status_code == 400
        assert (await ask(client, body(1, "no/such"))).status_code == 404
        assert (await ask(client, call("echo", None))).status_code == 400
        assert (await ask(client, ECHO, Origin="https://evil.example")).status_code == 403
        assert (await ask(client, ECHO, Host="evil.example")).status_code == 403
        assert (await ask(client, ECHO, Origin="http://localhost:5173")).status_code == 200
        assert (await ask(client, ECHO, **{"Mcp-Name": "wait"})).json()["error"]["code"] == -32020
        assert (await ask(client, call("regional", region="世界"))).json()["error"]["code"] == -32020
        regional = call("regional", region="世界")
        mirrored = headers_for(regional, {("region",): "Region"})
        assert (await ask(client, regional, **mirrored)).status_code == 200
        modern = {**COMMON, "MCP-Protocol-Version": "2026-07-28"}
        assert (await client.get("/mcp", headers=modern)).status_code == 405
        assert (await client.delete("/mcp", headers=modern)).headers["allow"] == "POST"
        assert (await ask(client, b" " * (5 << 20))).status_code == 413
        assert (await ask(client, ECHO)).status_code == 200

    on_a_real_port(scenario)


def test_leaving_a_real_connection_cancels_and_many_callers_are_kept_apart() -> None:
    async def scenario(client: httpx2.AsyncClient) -> None:
        long = call("wait", 1, ASKING, seconds=60)
        async with client.stream("POST", "/mcp", content=long, headers=headers_for(long)) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            async for line in stream.aiter_lines():
                [report] = responses(long, stream.headers["content-type"], line.encode())
                assert report["method"] == "notifications/progress"
                break
        silent = asyncio.create_task(ask(client, call("wait", 1, seconds=60)))
        async with asyncio.timeout(PATIENCE):
            while (await counts(client)).get("started", 0) < 2:
                await asyncio.sleep(0.02)
            silent.cancel()
            while (await counts(client)).get("cancelled", 0) < 2:
                await asyncio.sleep(0.02)
        answers = await asyncio.gather(*(ask(client, call("echo", 1, text=str(n))) for n in range(64)))
        assert [one.json()["result"]["content"][0]["text"] for one in answers] == list(map(str, range(64)))

    on_a_real_port(scenario)


async def counts(client: httpx2.AsyncClient) -> dict[str, int]:
    found: dict[str, int] = (await ask(client, call("counts"))).json()["result"]["structuredContent"]
    return found
