"""What an author writes: functions that become tools, resources, prompts and completions, seen by a client."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import enum
import functools
import itertools
import json
import math
import re
import socket
import threading
import time
from collections import UserList, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypeVar

import pytest
from mcprotocol.client import Client
from mcprotocol.errors import InternalError, InvalidParams
from mcprotocol.latest import types
from mcprotocol.server import Context, Server, ToolError
from mcprotocol.server.resources import Template
from pydantic import BaseModel, Field, field_validator
from typing_extensions import NotRequired, Required, TypedDict

T = TypeVar("T")


@pytest.fixture
def server() -> Server:
    return Server("author", version="1")


def with_client(server: Server, work: Callable[[Client], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with Client.memory(server, timeout=10) as client:
            return await work(client)

    return asyncio.run(connected())


def call(server: Server, name: str, arguments: dict[str, Any] | None = None) -> types.CallToolResult:
    return with_client(server, lambda client: client.call_tool(name, arguments))


def text(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


class Pair(NamedTuple):
    first: types.ImageContent
    second: int


def listed(server: Server) -> list[types.Tool]:
    return with_client(server, lambda client: client.list_tools()).tools


def schema(server: Server) -> dict[str, Any]:
    (tool,) = listed(server)
    return tool.input_schema


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def said(a: str) -> str:
    return a


def suggested(value: str) -> list[str]:
    return [value]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Day(BaseModel):
    """A day of weather."""

    date: datetime.date
    high: float = 0.0


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Named(TypedDict):
    name: str


# Tools: what is listed.


def test_a_tool_is_described_by_its_function(server: Server) -> None:
    @server.tool(title="Forecast", annotations=types.ToolAnnotations(read_only_hint=True))
    async def forecast(city: str, days: Annotated[int, Field(description="how many", ge=1)] = 3) -> list[Day]:
        """Weather for the coming days."""
        return []

    (tool,) = listed(server)
    assert (tool.name, tool.title, tool.description) == (
        "forecast",
        "Forecast",
        "Weather for the coming days.",
    )
    assert tool.annotations is not None and tool.annotations.read_only_hint is True
    assert canonical(tool.input_schema) == canonical(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "default": 3, "description": "how many"},
            },
            "required": ["city"],
            "additionalProperties": False,
        }
    )
    assert tool.output_schema is not None
    assert tool.output_schema["items"] == {"$ref": "#/$defs/Day"}


def test_a_tool_without_arguments_takes_none(server: Server) -> None:
    @server.tool()
    async def ping() -> None: ...

    assert canonical(schema(server)) == '{"additionalProperties": false, "type": "object"}'
    assert text(call(server, "ping", {"x": 1})).endswith("/x: Extra inputs are not permitted")


def test_a_name_and_a_description_can_be_given(server: Server) -> None:
    @server.tool("other", description="said")
    async def function() -> None:
        """Not said."""

    (tool,) = listed(server)
    assert (tool.name, tool.description) == ("other", "said")


def test_titles_are_those_that_an_author_gave(server: Server) -> None:
    @server.tool()
    async def paint(
        title: str, colour: Annotated[Colour, Field(title="Paint")], day: Day | None = None
    ) -> None: ...

    properties = schema(server)["properties"]
    assert properties["title"] == {"type": "string"}
    assert properties["colour"]["title"] == "Paint"
    assert '"title"' not in canonical(schema(server)["$defs"])


def test_tools_are_listed_in_the_order_of_registration_each_time(server: Server) -> None:
    names = ["zeta", "alpha", "mid", "beta"]
    for name in names:
        server.tool(name)(lambda: None)
    assert [tool.name for tool in listed(server)] == [tool.name for tool in listed(server)] == names


@pytest.mark.parametrize("name", ["github/commit", "New Tool", "", "x" * 129, "värme"])
def test_a_name_that_hosts_may_refuse_is_a_warning_and_works(server: Server, name: str) -> None:
    with pytest.warns(UserWarning, match="hosts may refuse") as caught:
        server.tool(name)(lambda: "done")
    assert caught[0].filename == __file__
    assert text(call(server, name)) == "done"


@pytest.mark.parametrize("name", ["API-post-page", "admin.tools.list", "a_b", "x" * 128])
def test_a_name_within_the_recommendation_is_no_warning(server: Server, name: str) -> None:
    server.tool(name)(lambda: "done")
    assert text(call(server, name)) == "done"


def test_a_name_is_registered_once(server: Server) -> None:
    server.tool("a")(lambda: None)
    server.resource("x:a", name="a")(lambda: "")
    server.resource("x:{a}", name="a")(said)
    server.prompt("a")(said)
    server.completion(prompt="a", argument="b")(suggested)
    attempts: list[Callable[[], object]] = [
        lambda: server.tool("a")(lambda: None),
        lambda: server.resource("x:a")(lambda: ""),
        lambda: server.resource("x:{a}")(said),
        lambda: server.prompt("a")(said),
        lambda: server.completion(prompt="a", argument="b")(suggested),
    ]
    for again in attempts:
        with pytest.raises(ValueError, match="registered already"):
            again()


def test_signatures_that_cannot_be_offered_are_refused_by_name(server: Server) -> None:
    def many(*args: int) -> None: ...

    def more(**kwargs: int) -> None: ...

    def odd(call: Callable[[], None]) -> None: ...

    def returns_odd() -> Callable[[], None]:
        raise NotImplementedError

    def unknown(value: int) -> None: ...

    unknown.__annotations__["value"] = "Undefined"

    def twice(a: int, b: Annotated[int, Field(alias="a")]) -> None: ...

    functions: list[Callable[..., object]] = [many, more, odd, returns_odd, unknown, twice]
    for function in functions:
        with pytest.raises(TypeError, match=function.__name__):
            server.tool()(function)
    assert not server.tools


def test_a_decorator_without_parentheses_says_what_is_missing(server: Server) -> None:
    def function() -> None: ...

    for decorator in (server.tool, server.prompt, server.resource):
        with pytest.raises(TypeError, match="parentheses"):
            decorator(function)  # type: ignore[arg-type] # pyright: ignore


# Tools: arguments.

STRICT: list[tuple[Any, Any, Any]] = [
    (str, "01234", "01234"),
    (str, '{"a":1}', '{"a":1}'),
    (str, "true", "true"),
    (int, 5, 5),
    (int, 2**70, 2**70),
    (float, 1, 1.0),
    (bool, True, True),
    (datetime.date, "2026-07-28", datetime.date(2026, 7, 28)),
    (Colour, "red", Colour.RED),
    (Literal["a", 1], 1, 1),
    (list[int], [1, 2], [1, 2]),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[int], [1, 1], {1}),
    (Optional[int], None, None),
    (dict[str, Any], {"a": [None, 1.5]}, {"a": [None, 1.5]}),
    (Any, {"a": 1}, {"a": 1}),
    (Day, {"date": "2026-07-28"}, Day(date=datetime.date(2026, 7, 28))),
    (Point, {"x": 1}, Point(1)),
    (Named, {"name": "n"}, {"name": "n"}),
]


@pytest.mark.parametrize(("kind", "given", "received"), STRICT)
def test_an_argument_arrives_as_its_type(server: Server, kind: Any, given: Any, received: Any) -> None:
    seen: list[Any] = []

    def take(value: Any) -> None:
        seen.append(value)

    take.__annotations__["value"] = kind
    server.tool("take")(take)
    result = call(server, "take", {"value": given})
    assert result.is_error is None, text(result)
    assert seen == [received] and type(seen[0]) is type(received)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (int, "5", "/value: Input should be a valid integer"),
        (int, True, "/value: Input should be a valid integer"),
        (int, 1.5, "/value: Input should be a valid integer"),
        (bool, "yes", "/value: Input should be a valid boolean"),
        (bool, 1, "/value: Input should be a valid boolean"),
        (str, 5, "/value: Input should be a valid string"),
        (str, None, "/value: Input should be a valid string"),
        (float, "1", "/value: Input should be a valid number"),
        (datetime.date, 5, "/value"),
        (Colour, "green", "/value: Input should be 'red' or 'blue'"),
        (list[int], [1, "2"], "/value/1: Input should be a valid integer"),
        (Day, {"date": "2026-07-28", "high": "5"}, "/value/high: Input should be a valid number"),
        (Point, {"x": "1"}, "/value/x: Input should be a valid integer"),
    ],
)
def test_an_argument_that_does_not_fit_is_a_result_that_names_it(
    server: Server, kind: Any, given: Any, expected: str
) -> None:
    def take(value: Any) -> None:
        raise AssertionError("the function must not run")

    take.__annotations__["value"] = kind
    server.tool("take")(take)
    result = call(server, "take", {"value": given})
    assert result.is_error is True
    assert expected in text(result)


def test_a_misspelt_argument_is_named_and_a_missing_one_too(server: Server) -> None:
    @server.tool()
    async def search(topic: str, limit: int = 5) -> str:
        return topic

    complaint = text(call(server, "search", {"topci": "x"}))
    assert "/topic: Field required" in complaint and "/topci: Extra inputs are not permitted" in complaint


def test_any_name_that_python_has_can_be_an_argument(server: Server) -> None:
    @server.tool()
    def take(
        first: int,
        /,
        _input: int,
        json: int,
        model_config: int,
        self: int,
        *,
        from_: Annotated[int, Field(alias="from")],
        class_: int = Field(8, alias="class", le=9),
    ) -> list[int]:
        return [first, _input, json, model_config, self, from_, class_]

    assert list(schema(server)["properties"]) == [
        "first",
        "_input",
        "json",
        "model_config",
        "self",
        "from",
        "class",
    ]
    values = {"first": 1, "_input": 2, "json": 3, "model_config": 4, "self": 5, "from": 6}
    assert call(server, "take", values).structured_content == [1, 2, 3, 4, 5, 6, 8]
    assert "/class" in text(call(server, "take", {**values, "class": 10}))


def test_a_default_is_fresh_for_every_call(server: Server) -> None:
    @server.tool()
    async def collect(items: list[int] = []) -> list[int]:  # noqa: B006
        items.append(1)
        return items

    assert [call(server, "collect").structured_content for _ in range(2)] == [[1], [1]]


def test_methods_partials_and_callable_objects_are_functions_too(server: Server) -> None:
    class Adder:
        """Adds."""

        def add(self, a: int, b: int) -> int:
            return a + b

        async def __call__(self, a: int) -> int:
            return a + 1

    server.tool()(Adder().add)
    server.tool("partial")(functools.partial(Adder().add, b=5))
    server.tool()(Adder())
    assert [tool.name for tool in listed(server)] == ["add", "partial", "Adder"]
    assert listed(server)[2].description == "Adds."
    assert call(server, "add", {"a": 1, "b": 2}).structured_content == 3
    assert call(server, "partial", {"a": 1}).structured_content == 6
    assert call(server, "Adder", {"a": 1}).structured_content == 2


# Tools: results.


@pytest.mark.parametrize(
    ("kind", "value", "structured", "said"),
    [
        (int, 5, 5, "5"),
        (float, 1, 1.0, "1.0"),
        (bool, False, False, "false"),
        (list[int], [], [], "[]"),
        (dict[str, int], {"ü": 1}, {"ü": 1}, '{"ü":1}'),
        (Day, Day(date=datetime.date(2026, 7, 28)), {"date": "2026-07-28", "high": 0.0}, None),
        (Day, {"date": "2026-07-28"}, {"date": "2026-07-28", "high": 0.0}, None),
        (Point, Point(1), {"x": 1, "y": 0}, '{"x":1,"y":0}'),
        (Named, {"name": "n"}, {"name": "n"}, '{"name":"n"}'),
        (Optional[Point], None, None, "null"),
        (Colour, Colour.RED, "red", '"red"'),
        (datetime.date, datetime.date(2026, 7, 28), "2026-07-28", '"2026-07-28"'),
        (dict[str, Any], {"a": math.nan}, {"a": None}, '{"a":null}'),
        (Any, [math.nan], [None], "[null]"),
    ],
)
def test_a_value_is_structured_content_and_its_text(
    server: Server, kind: Any, value: Any, structured: Any, said: str | None
) -> None:
    def give() -> Any:
        return value

    give.__annotations__["return"] = kind
    server.tool("give")(give)
    result = call(server, "give")
    assert "structuredContent" in result.model_dump(by_alias=True)
    assert canonical(result.structured_content) == canonical(structured)
    assert said is None or text(result) == said
    assert (listed(server)[0].output_schema is None) == (kind is Any)


@pytest.mark.parametrize("kind", [float, Optional[float], list[float], Day])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_no_name_for_breaks_the_promise(
    server: Server, kind: Any, number: float, caplog: pytest.LogCaptureFixture
) -> None:
    day = Day(date=datetime.date(2026, 7, 28), high=number)
    value: Any = day if kind is Day else [number] if kind == list[float] else number

    def give() -> Any:
        return value

    give.__annotations__["return"] = kind
    server.tool("give")(give)
    result = call(server, "give")
    assert (result.is_error, text(result)) == (True, "Tool give failed")
    assert "no numbers in JSON" in caplog.text


HALF = "a\ud800"
BROKEN = types.TextContent(text=HALF)


@pytest.mark.parametrize(
    "value",
    [
        HALF,
        [BROKEN, HALF],
        {"a": HALF},
        {HALF: 1},
        types.CallToolResult(content=[BROKEN]),
        types.CallToolResult(content=[], structured_content=object()),
    ],
)
@pytest.mark.parametrize("kind", [Any, None])
def test_what_no_message_can_carry_is_a_failure(server: Server, value: Any, kind: Any) -> None:
    def give() -> Any:
        return value

    give.__annotations__["return"] = kind or type(value)
    server.tool("give")(give)
    result = call(server, "give")
    assert (result.is_error, text(result)) == (True, "Tool give failed")


def test_a_failure_is_told_whatever_its_text(server: Server) -> None:
    @server.tool()
    def find() -> None:
        raise ToolError("no file \udcff.txt, für 😀")

    assert text(call(server, "find")) == "no file \\udcff.txt, für 😀"


def test_without_an_annotation_the_value_decides(server: Server) -> None:
    values: dict[str, Any] = {
        "text": "hi",
        "none": None,
        "block": types.TextContent(text="b"),
        "blocks": [
            types.TextContent(text="b"),
            "caption",
            types.ImageContent(data="aGk=", mime_type="image/png"),
        ],
        "number": 5,
        "model": Day(date=datetime.date(2026, 7, 28)),
        "result": types.CallToolResult(content=[], is_error=True, result_type="complete"),
    }

    @server.tool()
    def give(key: str) -> Any:
        return values[key]

    results = {key: call(server, "give", {"key": key}) for key in values}
    assert text(results["text"]) == "hi" and "structured_content" not in results["text"].model_fields_set
    assert results["none"].content == [] and "structured_content" not in results["none"].model_fields_set
    assert text(results["block"]) == "b"
    assert [block.type for block in results["blocks"].content] == ["text", "text", "image"]
    assert results["number"].structured_content == 5
    assert results["model"].structured_content == {"date": "2026-07-28", "high": 0.0}
    assert results["result"].is_error is True
    assert listed(server)[0].output_schema is None


@pytest.mark.parametrize(
    ("kind", "announced"),
    [
        (str, False),
        (None, False),
        (Optional[str], False),
        (types.TextContent, False),
        (types.ContentBlock, False),
        (types.ContentBlock | int, False),
        (list[types.ContentBlock | str | int], False),
        (list[types.ContentBlock], False),
        (list[types.TextContent | str], False),
        (list[types.ImageContent | int], False),
        (Sequence[types.ImageContent], False),
        (Iterable[types.ContentBlock], False),
        (tuple[types.ImageContent, str], False),
        (tuple[types.TextContent, ...], False),
        (Optional[tuple[Annotated[types.AudioContent, "a sound"], str]], False),
        (list[Any], False),
        (list, False),
        (tuple, False),
        (Sequence, False),
        (list[str], True),
        (tuple[str, ...], True),
        (tuple[types.ImageContent, int], True),
        (dict[str, types.ImageContent], True),
        (Pair, True),
        (types.CallToolResult, False),
        (types.CallToolResult | types.InputRequiredResult, False),
        (Any, False),
        (object, False),
        (Day | types.CallToolResult, False),
        (Day | types.InputRequiredResult, True),
        (Annotated[list[Day], Field(description="days")], True),
        (dict, True),
        (int | str, True),
    ],
)
def test_an_output_schema_is_announced_when_the_annotation_promises_one(
    server: Server, kind: Any, announced: bool
) -> None:
    def give() -> Any: ...

    give.__annotations__["return"] = kind
    server.tool("give")(give)
    output = listed(server)[0].output_schema
    assert (output is not None) == announced
    assert output is None or "InputRequiredResult" not in canonical(output)


@pytest.mark.parametrize(
    "kind",
    [
        Any,
        list,
        tuple,
        Sequence,
        list[Any],
        Sequence[types.ContentBlock | str],
        tuple[types.ImageContent, str],
    ],
)
@pytest.mark.parametrize("make", [list, tuple, deque, UserList])
def test_blocks_in_any_sequence_are_content(
    server: Server, kind: Any, make: Callable[[Iterable[object]], object]
) -> None:
    def give() -> Any:
        return make([types.ImageContent(data="aGk=", mime_type="image/png"), "hi"])

    give.__annotations__["return"] = kind
    server.tool("give")(give)
    result = call(server, "give")
    assert [block.type for block in result.content] == ["image", "text"]
    assert "structured_content" not in result.model_fields_set


@pytest.mark.parametrize("value", [[1, 2], ["a"], [], (1, "a"), [types.TextContent(text="a"), 1]])
def test_a_sequence_of_anything_else_is_structured(server: Server, value: Sequence[object]) -> None:
    @server.tool()
    def give() -> Any:
        return value

    result = call(server, "give")
    structured: Any = result.structured_content
    assert "structured_content" in result.model_fields_set and len(structured) == len(value)


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Limits(BaseModel):
    ge: int = 0
    share: Annotated[int | float, Field(ge=0, lt=1, multiple_of=0.5)] = 0
    many: Annotated[float | str, Field(gt=0, le=9)] = 1.0
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat()
    given: dict[str, int] = {"le": 1}


def test_schemas_have_keywords_of_json_schema_alone(server: Server) -> None:
    @server.tool()
    def limit(limits: Limits) -> Limits:
        return limits

    (tool,) = listed(server)
    assert tool.output_schema is not None
    definitions = tool.input_schema["$defs"]
    for properties in (definitions["Limits"]["properties"], tool.output_schema["properties"]):
        assert properties["ge"] == {"default": 0, "type": "integer"}
        numbers = [{"type": "integer"}, {"type": "number"}]
        assert properties["share"] == {
            "anyOf": numbers,
            "default": 0,
            "minimum": 0,
            "exclusiveMaximum": 1,
            "multipleOf": 0.5,
        }
        assert properties["many"]["exclusiveMinimum"] == 0 and properties["many"]["maximum"] == 9
        assert set(properties["pet"]) == {"default", "oneOf"}
        assert properties["given"]["default"] == {"le": 1}


@dataclasses.dataclass
class Spot:
    x: Annotated[int, "the x"]
    y: Annotated[Colour, "the colour"] = Colour.RED


class Place(TypedDict, total=False):
    x: Required[Annotated[int, "the x"]]
    y: Annotated[NotRequired[str], "the y"]
    z: NotRequired[str]


class Told(BaseModel):
    x: Annotated[int, "the x"] = Field(alias="ex")
    y: Annotated[str, Field(description="in its field"), "in words"] = ""
    spot: Annotated[Spot | None, "a spot"] = None

    @field_validator("y")
    @classmethod
    def kept(cls, value: str) -> str:
        return value


def test_words_describe_the_members_of_every_class(server: Server) -> None:
    @server.tool()
    def tell(spot: Spot, place: Place, told: Told) -> Told:
        return told

    (tool,) = listed(server)
    assert tool.output_schema is not None
    definitions = tool.input_schema["$defs"]
    described = {
        name: {key: member.get("description") for key, member in definitions[name]["properties"].items()}
        for name in ("Spot", "Place", "Told")
    }
    told = {"ex": "the x", "y": "in its field", "spot": "a spot"}
    assert described == {
        "Spot": {"x": "the x", "y": "the colour"},
        "Place": {"x": "the x", "y": "the y", "z": None},
        "Told": told,
    }
    output = tool.output_schema["properties"]
    assert {key: member.get("description") for key, member in output.items()} == told


def test_a_value_that_breaks_the_promise_is_a_failure(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    @server.tool()
    def give() -> Annotated[int, Field(ge=0)]:
        return -1

    assert text(call(server, "give")) == "Tool give failed"
    assert "greater than or equal to 0" in caplog.text


# Tools: failures.


class Panic(BaseException):
    """No `Exception`, as extension modules have them."""


def test_a_failure_tells_a_model_what_the_author_said_and_no_more(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    failures: dict[str, BaseException] = {
        "told": ToolError("the station is closed"),
        "bug": RuntimeError("password=hunter2"),
        "exit": SystemExit(1),
        "stop": StopIteration(),
        "panic": Panic(),
        "closing": GeneratorExit(),
        "cancelled": asyncio.CancelledError(),
        "group": BaseExceptionGroup("several", [ValueError(), Panic()]),
    }

    def fail(kind: str) -> str:
        raise failures[kind]

    async def fail_async(kind: str) -> str:
        raise failures[kind]

    server.tool()(fail)
    server.tool()(fail_async)
    for name in ("fail", "fail_async"):
        results = {kind: call(server, name, {"kind": kind}) for kind in failures}
        assert all(result.is_error for result in results.values())
        assert text(results.pop("told")) == "the station is closed"
        assert {text(result) for result in results.values()} == {f"Tool {name} failed"}
    assert caplog.text.count("hunter2") == 2, "the traceback is for the log"


def test_a_protocol_error_that_a_tool_raises_is_the_error_of_the_request(server: Server) -> None:
    @server.tool()
    def refuse() -> None:
        raise InvalidParams("not like this", {"why": 1})

    with pytest.raises(InvalidParams, match="not like this") as caught:
        call(server, "refuse")
    assert caught.value.data == {"why": 1}


def test_an_unknown_tool_is_an_error_of_the_request(server: Server) -> None:
    server.tool("known")(lambda: None)
    with pytest.raises(InvalidParams, match="nope"):
        call(server, "nope")


# Tools: schemas that an author writes himself.

ODD_NAMES = {
    name: {"type": "integer"} for name in ("from", "class", "cik-A", "Notion-Version", "fields[mesh]")
}


def give_back(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def test_with_a_schema_a_function_takes_all_arguments_under_their_own_names(server: Server) -> None:
    given = {"type": "object", "properties": ODD_NAMES, "additionalProperties": False, "x-own": "kept"}

    @server.tool(input_schema=given)
    async def odd(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        return {**arguments, "id": ctx.request_id}

    assert schema(server) == given
    values = {name: index for index, name in enumerate(ODD_NAMES)}
    result: Any = call(server, "odd", values).structured_content
    assert {name: result[name] for name in values} == values
    given.clear()
    assert "'surprise' was unexpected" in text(call(server, "odd", {"surprise": 1}))
    assert text(call(server, "odd", {"cik-A": "1"})).startswith(
        "Invalid arguments: /cik-A: '1' is not of type"
    )


def test_a_schema_that_allows_more_arguments_lets_them_through(server: Server) -> None:
    server.tool(input_schema={"type": "object", "required": ["topic"]})(give_back)
    assert call(server, "give_back", {"topic": 1, "other": 2}).structured_content == {"topic": 1, "other": 2}
    assert "'topic' is a required property" in text(call(server, "give_back"))


def test_a_union_at_the_root_takes_either_shape(server: Server) -> None:
    def shape(kind: str, member: str) -> dict[str, Any]:
        properties = {"kind": {"const": kind}, member: {"type": "string"}}
        return {"properties": properties, "required": ["kind", member]}

    union = [shape("email", "address"), shape("sms", "phone")]
    server.tool(input_schema={"type": "object", "anyOf": union})(give_back)
    for good in ({"kind": "email", "address": "a"}, {"kind": "sms", "phone": "1"}):
        assert call(server, "give_back", good).is_error is None
    assert call(server, "give_back", {"kind": "sms"}).is_error is True


def test_the_dialect_that_a_schema_names_is_the_one_it_is_read_by(server: Server) -> None:
    tuple_schema = {"type": "object", "properties": {"a": {"items": [{"type": "integer"}]}}}
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_schema}
    server.tool(input_schema=draft7)(give_back)
    assert call(server, "give_back", {"a": [1]}).is_error is None
    assert call(server, "give_back", {"a": ["x"]}).is_error is True
    with pytest.raises(ValueError, match="not a valid schema"):
        server.tool("again", input_schema=tuple_schema)(give_back)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "array"}, "object"),
        ({}, "object"),
        ({"type": "object", "$schema": "https://example.com/my-dialect"}, "my-dialect"),
        ({"type": "object", "properties": {"a": {"type": "strng"}}}, "not a valid schema"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "not a valid schema"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}, r"\$ref '#/\$defs/gone'"),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, r"\$ref"),
        ({"type": "object", "$defs": {"unused": {"$dynamicRef": "other.json#x"}}}, r"\$dynamicRef"),
    ],
)
def test_a_schema_that_cannot_be_kept_to_is_refused_at_once(
    server: Server, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        server.tool(input_schema=given)(give_back)
    assert not server.tools


def test_a_reference_to_the_network_is_refused_and_never_followed(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        with pytest.raises(ValueError, match="nothing is fetched"):
            server.tool(input_schema={"type": "object", "properties": {"a": {"$ref": address}}})(give_back)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_references_within_a_schema_hold_and_depth_is_no_crash(server: Server) -> None:
    properties = {"kid": {"$ref": "#/$defs/node"}, "$ref": {"type": "integer"}}
    node = {"type": "object", "properties": properties}
    root = {**node, "$defs": {"node": node}, "properties": {**properties, "all": {"$ref": "#"}}}

    @server.tool("node", input_schema=root)
    def take(arguments: dict[str, Any]) -> str:
        return "taken"

    deep: dict[str, Any] = {}
    for _ in range(50):
        deep = {"kid": deep}
    assert text(call(server, "node", deep)) == "taken"
    assert call(server, "node", {"kid": {"kid": 5}}).is_error is True


def test_a_schema_that_runs_in_circles_is_a_failed_call(server: Server) -> None:
    server.tool("loop", input_schema={"type": "object", "$ref": "#"})(give_back)
    assert "too deep" in text(call(server, "loop", {"a": 1}))


def test_with_a_schema_a_function_takes_one_dictionary(server: Server) -> None:
    def two(a: dict[str, Any], b: int) -> None: ...

    with pytest.raises(TypeError, match="two has an input schema"):
        server.tool(input_schema={"type": "object"})(two)


# Plain functions.


def test_plain_functions_block_neither_each_other_nor_the_rest(server: Server) -> None:
    meeting = threading.Barrier(5)
    server.tool("meet")(lambda: meeting.wait(5) >= 0)

    async def scenario(client: Client) -> float:
        calls = [asyncio.ensure_future(client.call_tool("meet")) for _ in range(4)]
        await asyncio.sleep(0.05)
        started = time.perf_counter()
        await client.discover()
        elapsed = time.perf_counter() - started
        calls.append(asyncio.ensure_future(client.call_tool("meet")))
        assert [result.structured_content for result in await asyncio.gather(*calls)] == [True] * 5
        return elapsed

    assert with_client(server, scenario) < 0.5


def test_plain_functions_run_in_daemon_threads_of_bounded_number() -> None:
    from mcprotocol.server.workers import Workers

    async def scenario() -> tuple[set[str], bool]:
        workers = Workers(limit=3)

        def work() -> tuple[str, bool]:
            time.sleep(0.01)
            return threading.current_thread().name, threading.current_thread().daemon

        ran = await asyncio.gather(*(workers.run(work) for _ in range(12)))
        return {name for name, _ in ran}, all(daemon for _, daemon in ran)

    threads, daemon = asyncio.run(scenario())
    assert len(threads) == 3 and daemon


def test_a_plain_function_sees_the_context_variables_of_its_request(server: Server) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    server.tool("look")(lambda: variable.get())

    async def scenario(client: Client) -> str:
        variable.set("set")
        return text(await client.call_tool("look"))

    assert with_client(server, scenario) == "set"


def test_what_a_plain_function_leaves_to_be_awaited_is_awaited(server: Server) -> None:
    async def later() -> int:
        return 5

    server.tool("give")(lambda: later())
    assert call(server, "give").structured_content == 5


# The context.


def test_the_context_goes_where_it_is_annotated_and_is_no_argument(server: Server) -> None:
    @server.tool()
    async def first(ctx: Context, a: int) -> str:
        return f"{a} {ctx.client_info.name if ctx.client_info else None}"

    @server.tool()
    def keyword(a: int, *, anything: Annotated[Context, "mine"]) -> str:
        return f"{a} {anything.client_capabilities.sampling}"

    @server.tool()
    async def optional(a: int, c: Context | None = None) -> bool:
        return c is not None

    assert [list(tool.input_schema["properties"]) for tool in listed(server)] == [["a"]] * 3
    assert text(call(server, "first", {"a": 1})) == "1 mcp-client"
    assert text(call(server, "keyword", {"a": 1})) == "1 None"
    assert call(server, "optional", {"a": 1}).structured_content is True


STEPS = [1, 1, 0.5, 2, math.nan, math.inf, 2.5]
"""Steps that a handler reports, and those that increase."""

INCREASING = [1, 2, 2.5]


def register_steps(server: Server) -> None:
    @server.tool()
    async def awaited(ctx: Context) -> None:
        for step in STEPS:
            await ctx.progress(step, total=10, message="on the way")

    @server.tool()
    def plainly(ctx: Context) -> None:
        for step in STEPS:
            ctx.progress(step)


@pytest.mark.parametrize("name", ["awaited", "plainly"])
@pytest.mark.parametrize("token", ["0", '"0"', '""', "7"])
def test_progress_carries_the_token_as_it_was_and_only_increases(
    server: Server, name: str, token: str
) -> None:
    register_steps(server)
    sent = progress_of(server, name, f',"progressToken":{token}')
    assert all(
        f'"progressToken":{token},' in message or f'"progressToken":{token}}}' in message for message in sent
    )
    reports = [json.loads(message)["params"] for message in sent]
    assert canonical([report["progress"] for report in reports]) == canonical(INCREASING)
    if name == "awaited":
        assert [(report["total"], report["message"]) for report in reports] == [(10, "on the way")] * 3
    else:
        assert all(set(report) == {"progress", "progressToken"} for report in reports)


@pytest.mark.parametrize("name", ["awaited", "plainly"])
def test_nobody_who_did_not_ask_is_told_of_progress(server: Server, name: str) -> None:
    register_steps(server)
    assert progress_of(server, name, "") == []


def progress_of(server: Server, name: str, token: str) -> list[str]:
    """What a call says before its answer, for a raw progress token."""
    meta = f'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}{token}'
    params = f'{{"_meta":{{{meta}}},"name":"{name}"}}'
    data = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode()
    sent: list[str] = []

    async def send(message: bytes) -> None:
        sent.append(message.decode())

    answer = asyncio.run(server.connect().handle(data, send))
    assert answer is not None and b'"content":[]' in answer
    return sent


class Word(str):
    """A text with something to it."""


@pytest.mark.parametrize("value", ["", "plain", 'ü \u2028 \x00 "\\ </script>', "%b %d 100%", Word("word")])
@pytest.mark.parametrize("identify", [True, False])
def test_a_text_is_written_as_the_result_that_it_is(value: str, identify: bool) -> None:
    server = Server("100% %b", version="1", identify=identify)
    server.add_tool(lambda: value, name="say")
    written = raw_answer(server)
    block = types.TextContent(text=str(value))
    result = types.CallToolResult(content=[block], result_type="complete")
    if identify:
        info = types.Implementation(name="100% %b", version="1")
        result.meta = types.ResultMetaObject(server_info=info)
    assert canonical(json.loads(written)["result"]) == canonical(json.loads(result.wire_bytes()))


def test_who_overrides_the_call_of_tools_sees_each_result() -> None:
    class Loud(Server):
        async def call_tool(self, params: types.CallToolRequestParams, ctx: Context) -> Any:
            result = await super().call_tool(params, ctx)
            assert isinstance(result, types.CallToolResult)
            (block,) = result.content
            assert isinstance(block, types.TextContent)
            block.text = block.text.upper()
            return result

    server = Loud("loud", version="1")
    server.add_tool(lambda: "quiet", name="say")
    assert json.loads(raw_answer(server))["result"]["content"] == [{"type": "text", "text": "QUIET"}]


def raw_answer(server: Server) -> bytes:
    """The answer to a call of the tool `say`."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"_meta": meta, "name": "say"},
    }

    async def send(message: bytes) -> None:
        raise AssertionError(f"unasked: {message!r}")

    answer = asyncio.run(server.connect().handle(json.dumps(asked).encode(), send))
    assert answer is not None
    return answer


# Resources.


def test_resources_are_read_by_their_exact_uri(server: Server) -> None:
    uris = [
        "https://example.com",
        "https://example.com/",
        "file:///C:/A%20b/ü",
        "urn:isbn:0451450523",
        "config:app/x",
    ]
    for uri in uris:
        server.resource(uri, name=uri)(lambda uri=uri: f"at {uri}")

    async def scenario(client: Client) -> None:
        assert [resource.uri for resource in (await client.list_resources()).resources] == uris
        for uri in uris:
            (contents,) = (await client.read_resource(uri)).contents
            assert isinstance(contents, types.TextResourceContents)
            assert (contents.uri, contents.text) == (uri, f"at {uri}")

    with_client(server, scenario)


@pytest.mark.parametrize(
    ("value", "mime_type", "expected"),
    [
        ("text", None, {"mimeType": "text/plain", "text": "text"}),
        ("# text", "text/markdown", {"mimeType": "text/markdown", "text": "# text"}),
        (b"\xff\x00", None, {"mimeType": "application/octet-stream", "blob": "/wA="}),
        ({"ü": 1}, None, {"mimeType": "application/json", "text": '{"ü":1}'}),
        ([1], None, {"mimeType": "application/json", "text": "[1]"}),
        (Point(1), None, {"mimeType": "application/json", "text": '{"x":1,"y":0}'}),
    ],
)
def test_a_resource_is_text_a_blob_or_json(
    server: Server, value: Any, mime_type: str | None, expected: Any
) -> None:
    server.resource("x:a", mime_type=mime_type)(lambda: value)
    result = with_client(server, lambda client: client.read_resource("x:a"))
    assert canonical(result.model_dump(by_alias=True)["contents"]) == canonical([{"uri": "x:a", **expected}])


def test_contents_are_taken_as_they_are_one_or_many(server: Server) -> None:
    parts = [
        types.TextResourceContents(uri="x:b", text="b"),
        types.BlobResourceContents(uri="x:c", blob="Yw=="),
    ]
    server.resource("x:one")(lambda: parts[0])
    server.resource("x:many")(lambda: parts)

    async def scenario(client: Client) -> list[int]:
        return [len((await client.read_resource(uri)).contents) for uri in ("x:one", "x:many")]

    assert with_client(server, scenario) == [1, 2]


def test_a_template_hands_over_its_variables_decoded_and_typed(server: Server) -> None:
    @server.resource("users://{id}/posts/{slug}", title="Posts", mime_type="text/plain")
    async def post(id: int, slug: str, ctx: Context, style: str = "plain") -> str:
        """A post."""
        return f"{id!r} {slug!r} {style}"

    @server.resource("users://{name}")
    def user(name: str) -> str:
        return name

    async def scenario(client: Client) -> None:
        first, second = (await client.list_resource_templates()).resource_templates
        assert (first.uri_template, first.name, first.title) == ("users://{id}/posts/{slug}", "post", "Posts")
        assert (first.description, first.mime_type, second.mime_type) == ("A post.", "text/plain", None)
        assert (await client.list_resources()).resources == []
        for uri, expected in {
            "users://5/posts/a%20b%2Fc": "5 'a b/c' plain",
            "users://%C3%BC": "ü",
            "users://.*": ".*",
        }.items():
            (contents,) = (await client.read_resource(uri)).contents
            assert isinstance(contents, types.TextResourceContents)
            assert (contents.uri, contents.text) == (uri, expected)
        for uri in (
            "users://x/posts/a",
            "users://5/posts/",
            "users://",
            "users://a/b",
            "users://%ff",
            "Users://a",
        ):
            with pytest.raises(InvalidParams) as caught:
                await client.read_resource(uri)
            assert caught.value.data == {"uri": uri}

    with_client(server, scenario)


@pytest.mark.parametrize(
    "uri", ["x:{+path}", "x:{a,b}", "x:{a", "x:a}", "x:{}", "x:{a}{a}", "x:{other}", "x:fixed"]
)
def test_a_template_that_does_not_suit_its_function_is_refused(server: Server, uri: str) -> None:
    with pytest.raises((ValueError, TypeError), match="x:"):
        server.resource(uri)(said)
    assert not server.resources


TEMPLATES = ["{a}", "x{a}", "{a}x", "{a}{b}", "{a}.{b}", "{a}x{b}.", ".{a}..{b}"] + [
    "{a}/{b}",
    "{a}x/x{b}",
    "{a}//{b}",
    "{a}.{b}{c}",
    "{a}.{b}.{c}",
    "x",
    "x.",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_gives_an_earlier_variable_as_much_as_it_can(template: str) -> None:
    pattern = re.compile("([^/?#]+)".join(map(re.escape, re.split(r"\{\w\}", template))))
    matched = 0
    for length in range(8):
        for letters in itertools.product("x./", repeat=length):
            uri = "".join(letters)
            found, expected = Template(template).match(uri), pattern.fullmatch(uri)
            assert (None if found is None else tuple(found.values())) == (expected and expected.groups()), uri
            matched += expected is not None
    assert matched


class Watched(str):
    """Text that counts how many of its characters a search has passed."""

    passed = 0

    def rfind(self, *searched: Any) -> int:
        place = super().rfind(*searched)
        self.passed += searched[2] - max(place, searched[1])
        return place


@pytest.mark.parametrize("uri", ["." * 1_000_000 + "/file", "." * 1_000_000 + "/", "x" * 1_000_000 + "/file"])
def test_a_long_uri_is_read_once(uri: str) -> None:
    watched = Watched("pkg://" + uri)
    found = Template("pkg://{a}.{b}.{c}/file").match(watched)
    assert (found is not None) == (uri.startswith(".") and uri.endswith("file"))
    assert watched.passed <= len(watched)


def test_a_resource_that_fails_is_an_internal_error(server: Server) -> None:
    @server.resource("x:a")
    def broken() -> str:
        raise RuntimeError("secret")

    with pytest.raises(InternalError, match="^Internal error"):
        with_client(server, lambda client: client.read_resource("x:a"))


# Prompts and completions.


def test_a_prompt_is_described_by_its_function(server: Server) -> None:
    @server.prompt(title="Greeting")
    async def greet(name: Annotated[str, Field(description="whom")], count: int = 1, *, ctx: Context) -> str:
        """Say hello."""
        return f"hello {name} {count + 1}"

    async def scenario(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.title, prompt.description) == ("greet", "Greeting", "Say hello.")
        assert prompt.arguments is not None
        assert [(a.name, a.required, a.description) for a in prompt.arguments] == [
            ("name", True, "whom"),
            ("count", False, None),
        ]
        result = await client.get_prompt("greet", {"name": "Ann", "count": "4"})
        (message,) = result.messages
        assert (result.description, message.role) == ("Say hello.", "user")
        assert message.content == types.TextContent(text="hello Ann 5")

    with_client(server, scenario)


def test_a_prompt_gives_messages_text_or_blocks(server: Server) -> None:
    block = types.ImageContent(data="aGk=", mime_type="image/png")
    answer = types.PromptMessage(role="assistant", content=types.TextContent(text="yes"))
    finished = types.GetPromptResult(messages=[answer], description="own", result_type="complete")
    server.prompt("list")(lambda: ["question", block, answer])
    server.prompt("message")(lambda: answer)
    server.prompt("result")(lambda: finished)
    server.prompt("wrong")(lambda: 5)

    async def scenario(client: Client) -> None:
        messages = (await client.get_prompt("list")).messages
        assert [(m.role, m.content.type) for m in messages] == [
            ("user", "text"),
            ("user", "image"),
            ("assistant", "text"),
        ]
        assert (await client.get_prompt("message")).messages == [answer]
        assert (await client.get_prompt("result")).description == "own"
        with pytest.raises(InternalError):
            await client.get_prompt("wrong")

    with_client(server, scenario)


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("nope", {}, "nope"),
        ("greet", {}, "/name: Field required"),
        ("greet", {"name": "a", "nmae": "b"}, "/nmae"),
        ("greet", {"name": "a", "count": "many"}, "/count"),
    ],
)
def test_a_prompt_that_cannot_be_had_is_an_error_that_names_why(
    server: Server, name: str, arguments: dict[str, str], named: str
) -> None:
    @server.prompt()
    def greet(name: str, count: int = 1) -> str:
        return name

    with pytest.raises(InvalidParams, match=named):
        with_client(server, lambda client: client.get_prompt(name, arguments))


def test_completions_suggest_at_most_a_hundred_and_tell_of_the_rest(server: Server) -> None:
    @server.prompt()
    def greet(name: str, style: str = "plain") -> str:
        return name

    @server.resource("users://{id}")
    def user(id: str) -> str:
        return id

    @server.completion(prompt="greet", argument="name")
    async def names(value: str, chosen: dict[str, str], ctx: Context) -> list[str]:
        return [f"{value}{chosen.get('style')}{index}" for index in range(150)]

    @server.completion(resource="users://{id}", argument="id")
    def ids(value: str) -> tuple[str, ...]:
        return ("1", "2")

    async def scenario(client: Client) -> None:
        many = (await client.complete("name", "A", prompt="greet", chosen={"style": "x"})).completion
        assert (len(many.values), many.total, many.has_more, many.values[99]) == (100, 150, True, "Ax99")
        assert (await client.complete("name", "", prompt="greet")).completion.values[0] == "None0"
        few = (await client.complete("id", "", resource="users://{id}")).completion
        assert (few.values, few.total, few.has_more) == (["1", "2"], 2, False)
        none = (await client.complete("style", "", prompt="greet")).completion
        assert (none.values, none.total, none.has_more) == ([], 0, False)
        with pytest.raises(InvalidParams, match="nope"):
            await client.complete("name", "", prompt="nope")
        with pytest.raises(InvalidParams, match="nope"):
            await client.complete("nope", "", prompt="greet")
        with pytest.raises(InvalidParams, match="users://1"):
            await client.complete("id", "", resource="users://1")

    with_client(server, scenario)


def greeting(name: str) -> str:
    return f"Hello {name}"


def test_one_text_is_one_suggestion_and_one_message_of_a_sequence(server: Server) -> None:
    server.prompt("both")(lambda: ("question", types.TextContent(text="block")))
    server.prompt("greet")(greeting)
    server.completion(prompt="greet", argument="name")(greeting)

    async def scenario(client: Client) -> tuple[list[str], list[str]]:
        found = await client.complete("name", "A", prompt="greet")
        written = await client.get_prompt("both")
        return found.completion.values, [vars(message.content)["text"] for message in written.messages]

    assert with_client(server, scenario) == (["Hello A"], ["question", "block"])


def test_a_completion_is_for_one_thing_and_takes_one_or_two_parameters(server: Server) -> None:
    def none() -> list[str]:
        return []

    def three(a: str, b: str, c: str) -> list[str]:
        return []

    for prompt, resource in ((None, None), ("a", "b")):
        with pytest.raises(ValueError, match="for a prompt or for a resource"):
            server.completion(argument="a", prompt=prompt, resource=resource)(suggested)
    functions: list[Callable[..., object]] = [none, three]
    for function in functions:
        with pytest.raises(TypeError, match="must take the value"):
            server.completion(argument="a", prompt="p")(function)
