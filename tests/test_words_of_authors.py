"""What authors say beside the types: descriptions, headers of arguments, who the server is; and calls that nobody wants."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from hosted import Post, body, headers_for, post
from mcprotocol.latest import types
from mcprotocol.server import Context, Header, Server
from pydantic import BaseModel, Field
from scaffolded import META, PATIENCE
from test_dispatch import Peer, ask, cancelled, request
from typing_extensions import Doc, TypedDict


@pytest.fixture
def server() -> Server:
    return Server("author", version="1")


def tool(server: Server) -> Any:
    """The one tool of a server, as it is listed."""
    (found,) = ask(server, request("tools/list"))["result"]["tools"]
    return found


# Descriptions.


@pytest.mark.parametrize(
    "said",
    [
        Annotated[int, "how many"],
        Annotated[int, Doc("how many")],
        Annotated[int, Field(description="how many")],
        Annotated[int, Field(description="how many"), "not this"],
        Annotated[int, "how many", Field(ge=0)],
    ],
)
@pytest.mark.parametrize("default", [None, 3])
def test_an_argument_is_described_in_any_of_the_usual_ways(server: Server, said: Any, default: Any) -> None:
    def take(count: Any) -> int:
        return int(count)

    take.__annotations__["count"] = said
    take.__defaults__ = None if default is None else (default,)
    server.tool()(take)
    count = tool(server)["inputSchema"]["properties"]["count"]
    assert (count["type"], count["description"], count.get("default")) == ("integer", "how many", default)
    called = ask(server, request("tools/call", name="take", arguments={"count": 2}))
    assert called["result"]["structuredContent"] == 2


def test_an_argument_of_a_prompt_is_described_too(server: Server) -> None:
    @server.prompt()
    def plan(city: Annotated[str, "where to"]) -> str:
        return city

    (found,) = ask(server, request("prompts/list"))["result"]["prompts"]
    assert found["arguments"] == [{"name": "city", "description": "where to", "required": True}]


class Place(BaseModel):
    city: Annotated[str, Field(description="its name")]


@dataclasses.dataclass
class Spot:
    x: Annotated[int, Field(description="to the east", ge=0)]
    y: int = 0


class Person(TypedDict):
    name: Annotated[str, Field(description="first name")]


@pytest.mark.parametrize(
    ("kind", "value", "member", "words"),
    [
        (Place, Place(city="Rome"), "city", "its name"),
        (Spot, Spot(1), "x", "to the east"),
        (Person, {"name": "Ann"}, "name", "first name"),
    ],
)
def test_the_members_of_models_are_described_in_both_schemas(
    server: Server, kind: Any, value: Any, member: str, words: str
) -> None:
    def same(it: Any) -> Any:
        return it

    same.__annotations__ |= {"it": kind, "return": kind}
    server.tool()(same)
    found = tool(server)
    assert found["outputSchema"]["properties"][member]["description"] == words
    (definition,) = found["inputSchema"]["$defs"].values()
    assert definition["properties"][member]["description"] == words


def test_a_union_of_results_is_announced_and_each_arm_is_one() -> None:
    server = Server("author", version="1")

    @server.tool()
    def find(what: str) -> Place | Spot | int:
        found: dict[str, Place | Spot | int] = {"place": Place(city="Rome"), "spot": Spot(1, 2), "none": 0}
        return found[what]

    assert len(tool(server)["outputSchema"]["anyOf"]) == 3
    said = {
        what: ask(server, request("tools/call", name="find", arguments={"what": what}))["result"]
        for what in ("place", "spot", "none")
    }
    assert [one["structuredContent"] for one in said.values()] == [{"city": "Rome"}, {"x": 1, "y": 2}, 0]


# Arguments that are repeated in a header.


def test_an_argument_is_marked_to_be_repeated_in_a_header(server: Server) -> None:
    @server.tool()
    def route(
        region: Annotated[str, Header("Region"), "where it runs"] = "eu",
        count: Annotated[int, Field(ge=0), Header("Count")] = 0,
        dry: Annotated[bool, Header("Dry-Run")] = False,
    ) -> str:
        return f"{region} {count} {dry}"

    properties = tool(server)["inputSchema"]["properties"]
    assert {name: one["x-mcp-header"] for name, one in properties.items()} == {
        "region": "Region",
        "count": "Count",
        "dry": "Dry-Run",
    }
    assert properties["region"]["description"] == "where it runs" and properties["count"]["minimum"] == 0
    data = body(1, "tools/call", name="route", arguments={"region": "us", "count": 2, "dry": True})
    application = server.http()
    assert post(application, data).code() == -32020
    mirrored = headers_for(data, server.parameter_headers("route"))
    assert post(application, data, mirrored).json()["result"]["content"][0]["text"] == "us 2 True"


class Region(enum.Enum):
    """Where it runs."""

    EU = "eu"
    US = "us"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Inner(BaseModel):
    level: Annotated[Level, Header("Level"), "how much"] = Level.LOW
    note: str = ""


@dataclasses.dataclass
class Target:
    region: Annotated[Region, Header("Region"), "where it shall run"]
    inner: Inner
    tags: list[Level] = dataclasses.field(default_factory=list)


def test_a_choice_and_a_member_of_a_model_are_repeated_as_well(server: Server) -> None:
    @server.tool()
    def route(target: Target, backup: Annotated[Region, Header("Backup")] = Region.US) -> Target:
        return target

    listed = tool(server)
    schema = listed["inputSchema"]
    assert schema["properties"]["target"] == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "region": {
                "type": "string",
                "enum": ["eu", "us"],
                "description": "where it shall run",
                "x-mcp-header": "Region",
            },
            "inner": {
                "type": "object",
                "properties": {
                    "level": {
                        "type": "integer",
                        "enum": [1, 2],
                        "description": "how much",
                        "default": 1,
                        "x-mcp-header": "Level",
                    },
                    "note": {"type": "string", "default": ""},
                },
            },
            "tags": {"type": "array", "items": {"$ref": "#/$defs/Level"}},
        },
        "required": ["region", "inner"],
    }
    assert schema["properties"]["backup"]["description"] == "Where it runs."
    assert list(schema["$defs"]) == ["Level"]
    assert "x-mcp-header" not in json.dumps(listed["outputSchema"])
    arguments = {"target": {"region": "us", "inner": {"level": 2}}, "backup": "eu"}
    data = body(1, "tools/call", name="route", arguments=arguments)
    application = server.http()
    assert post(application, data).code() == -32020
    mirrored = headers_for(data, server.parameter_headers("route"))
    sent = {
        (name.lower(), value) for name, value in mirrored.items() if name.lower().startswith("mcp-param-")
    }
    assert sent == {("mcp-param-region", "us"), ("mcp-param-level", "2"), ("mcp-param-backup", "eu")}
    result = post(application, data, mirrored).json()["result"]["structuredContent"]
    assert result == {"region": "us", "inner": {"level": 2, "note": ""}, "tags": []}


class Chain(BaseModel):
    link: Annotated[str, Header("Link")] = ""
    inner: Chain | None = None


class Loop(BaseModel):
    link: Annotated[str, Header("Link")] = ""
    inner: Loop = Field(default_factory=lambda: Loop())


@pytest.mark.parametrize(
    ("annotation", "complaint"),
    [
        (Annotated[float, Header("X")], "its type must be one of"),
        (Annotated[list[str], Header("X")], "its type must be one of"),
        (Annotated[str, Header("no header")], "which no header can be called"),
        (list[Inner], "stands where no value can be found"),
        (Inner | None, "stands where no value can be found"),
        (Chain, "stands where no value can be found"),
        (Loop, "stands where no value can be found|the same x-mcp-header"),
    ],
)
def test_a_mark_that_no_header_can_carry_is_refused_at_once(
    server: Server, annotation: Any, complaint: str
) -> None:
    def take(value: Any) -> None: ...

    take.__annotations__["value"] = annotation
    with pytest.raises(ValueError, match=complaint):
        server.tool()(take)


# The server.


def test_a_server_says_all_about_itself_once_and_its_name_each_time() -> None:
    icon = types.Icon(src="https://example.com/i.png", mime_type="image/png")
    server = Server(
        "author",
        version="1",
        title="An author",
        description="Writes",
        website_url="https://example.com",
        icons=[icon],
    )
    server.tool("nothing")(lambda: None)
    brief = {"name": "author", "version": "1", "title": "An author"}
    more = {
        "description": "Writes",
        "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}],
    }
    said = [
        ask(server, request(method))["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
        for method in ("server/discover", "tools/list")
    ]
    assert said == [{**brief, **more}, brief]


def test_a_server_that_does_not_identify_itself_never_does() -> None:
    server = Server("author", version="1", description="Writes", identify=False)
    assert "_meta" not in ask(server, request("server/discover"))["result"]


# Calls that nobody wants any more.


class Slow:
    """A server with a plain function that works until nobody wants its answer."""

    def __init__(self) -> None:
        self.server = Server("author", version="1")
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.server.tool()(self.work)

    def work(self, ctx: Context) -> str:
        self.begun.set()
        while not ctx.over:
            self.ended.wait(0.01)
        self.ended.set()
        return "in vain"

    async def dropped(self, begin: Callable[[], object], drop: Callable[[], Awaitable[object]]) -> None:
        begin()
        assert await asyncio.to_thread(self.begun.wait, PATIENCE)
        assert not self.ended.is_set()
        await drop()
        assert await asyncio.to_thread(self.ended.wait, PATIENCE)


def test_a_plain_function_can_see_that_its_request_was_cancelled() -> None:
    slow = Slow()

    async def scenario() -> None:
        peer = Peer(slow.server)
        line = request("tools/call", name="work", arguments={})
        await slow.dropped(
            lambda: peer.begin(line), lambda: peer.ask(cancelled(requestId=json.loads(line)["id"]))
        )
        assert peer.sent == []

    asyncio.run(scenario())


def test_a_plain_function_can_see_that_its_client_has_left() -> None:
    slow = Slow()

    async def scenario() -> None:
        asked = Post(slow.server.http(), body(1, "tools/call", META, name="work", arguments={}))

        async def leave() -> None:
            asked.leave()

        await slow.dropped(asked.begin, leave)
        assert not asked.response.ended

    asyncio.run(scenario())


# What hosts and extensions agree on.


def test_what_is_offered_bears_what_hosts_agree_on(server: Server) -> None:
    meta = {"ui": {"resourceUri": "ui://chart"}}
    shown = types.Annotations(audience=["user"], priority=0.5)

    def said() -> str:
        return "hi"

    def made(id: str) -> str:
        return id

    server.tool("decorated", meta=meta)(said)
    server.add_tool(said, name="added", meta=meta)
    server.tool("plain")(said)
    server.resource("a://1", meta=meta, annotations=shown)(said)
    server.add_resource(made, "a://{id}/x", meta=meta, annotations=shown)
    server.resource("a://2")(said)
    server.prompt("decorated", meta=meta)(said)
    server.add_prompt(said, name="added", meta=meta)
    server.prompt("plain")(said)
    found = {
        name: [
            (one.get("_meta"), one.get("annotations"))
            for one in ask(server, request(f"{method}/list"))["result"][name]
        ]
        for method, name in (
            ("tools", "tools"),
            ("resources", "resources"),
            ("resources/templates", "resourceTemplates"),
            ("prompts", "prompts"),
        )
    }
    both = (meta, {"audience": ["user"], "priority": 0.5})
    assert found == {
        "tools": [(meta, None), (meta, None), (None, None)],
        "resources": [both, (None, None)],
        "resourceTemplates": [both],
        "prompts": [(meta, None), (meta, None), (None, None)],
    }
