"""Each fault planted in a good conversation is one finding, on its line and at its pointer, and nothing else is."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any, cast

import pytest
from conversations import (
    ANSWERS,
    ASKED,
    HINTS,
    IDENTITY,
    LEGACY,
    MODERN,
    TASK,
    TEXT,
    Message,
    call,
    error,
    lines,
    modern,
    notice,
    result,
    spoilt,
)

from mcpcodegen import texts
from mcpcodegen.findings import Finding
from mcpcodegen.judge import Fault, Judge
from mcpcodegen.lower import lower
from mcpcodegen.pipeline import read
from mcpcodegen.places import Place, place
from mcpcodegen.revisions import pins
from mcpcodegen.texts import Value, values
from mcpcodegen.validate import Validator

GOOD = {"2026-07-28": MODERN, "2025-11-25": LEGACY}
BLOCKS = '"text" or "image" or "audio" or "resource_link" or "resource"'


@functools.cache
def validator(revision: str) -> Validator:
    document = read(revision=revision)
    return Validator(document, lower(document))


def judged(revision: str, text: str) -> list[tuple[int, str, str, str]]:
    findings: list[Finding] = list(validator(revision).conversation(text))
    return [(one.line, one.pointer, one.found, one.expected) for one in findings]


# fmt: off
PLANTED: list[tuple[str, str, int, str | None, object, str, str]] = [
    # what is wrong, revision, line, path that is changed (None: a message is put in), value, pointer, part of `expected`
    ("a block of an unknown type", "2026-07-28", 11, "result/content", [{"type": "hologram"}], "/result/content/0/type", BLOCKS),
    ("a block without a type", "2026-07-28", 11, "result/content", [TEXT, {"text": "x"}], "/result/content/1/type", BLOCKS),
    ("a type that is no text", "2026-07-28", 11, "result/content", [{"type": 5, "text": "x"}], "/result/content/0/type", BLOCKS),
    ("a block that is no object", "2026-07-28", 11, "result/content", ["x"], "/result/content/0", "object"),
    ("content that is null", "2026-07-28", 11, "result/content", None, "/result/content", "array"),
    ("an unknown type in an array of a union", "2026-07-28", 10, "params/inputResponses/poem/content/0/type", "hologram",
     "/params/inputResponses/poem/content/0/type", '"tool_result"'),
    ("an unknown type in an object of a union", "2025-11-25", 15, "result/content/type", "hologram",
     "/result/content/type", '"tool_use"'),
    ("content of neither shape", "2025-11-25", 15, "result/content", 5, "/result/content", "object or array"),
    ("an enum of one arm", "2026-07-28", 10, "params/inputResponses/city/action", "maybe",
     "/params/inputResponses/city/action", '"accept" or "cancel" or "decline"'),
    ("an enum of another arm", "2026-07-28", 10, "params/inputResponses/poem/role", "poet",
     "/params/inputResponses/poem/role", '"assistant" or "user"'),
    ("a member of one arm", "2026-07-28", 10, "params/inputResponses/roots/roots", {}, "/params/inputResponses/roots/roots", "array"),
    ("a required member of the arm that is meant", "2026-07-28", 10, "params/inputResponses/poem/model", ...,
     "/params/inputResponses/poem/model", "required"),
    ("an answer of no kind", "2026-07-28", 10, "params/inputResponses/city", {}, "/params/inputResponses/city", "roots or action"),
    ("a null in a form", "2026-07-28", 10, "params/inputResponses/city/content/city", None,
     "/params/inputResponses/city/content/city", "string"),
    ("an unknown input request", "2026-07-28", 9, "result/inputRequests/city/method", "elicitation/creat",
     "/result/inputRequests/city/method", '"sampling/createMessage" or "roots/list" or "elicitation/create"'),
    ("an unknown mode", "2026-07-28", 9, "result/inputRequests/city/params/mode", "URL",
     "/result/inputRequests/city/params/mode", '"form" or "url"'),
    ("a form without its schema", "2026-07-28", 9, "result/inputRequests/city/params/requestedSchema", ...,
     "/result/inputRequests/city/params/requestedSchema", "required"),
    ("no mode, and no schema", "2026-07-28", 9, "result/inputRequests/city/params", {"message": "m"},
     "/result/inputRequests/city/params/requestedSchema", "required"),
    ("a field of an unknown type", "2026-07-28", 9, "result/inputRequests/city/params/requestedSchema/properties/city/type", "strng",
     "/result/inputRequests/city/params/requestedSchema/properties/city/type", '"boolean"'),
    ("a format of one arm", "2026-07-28", 9, "result/inputRequests/city/params/requestedSchema/properties/city/format", "dates",
     "/result/inputRequests/city/params/requestedSchema/properties/city/format", '"date-time"'),
    ("resultType is unknown", "2026-07-28", 11, "result/resultType", "task", "/result/resultType", '"complete" or "input_required"'),
    ("resultType is null", "2026-07-28", 11, "result/resultType", None, "/result/resultType", '"complete" or "input_required"'),
    ("resultType is a number, and so is the rest", "2026-07-28", 11, "result", {"resultType": 5, "content": 5},
     "/result/resultType", '"complete" or "input_required"'),
    ("resultType is missing from an interim result", "2026-07-28", 9, "result/resultType", ..., "/result/resultType", "required"),
    ("resultType is missing", "2026-07-28", 13, "result/resultType", ..., "/result/resultType", "required"),
    ("a list asks for input", "2026-07-28", 6, "result", {"resultType": "input_required", "inputRequests": ASKED},
     "/result/resultType", '"complete"'),
    ("an interim result asks for nothing", "2026-07-28", 9, "result", {"resultType": "input_required"},
     "/result", "inputRequests, or requestState"),
    ("an interim result has a null", "2026-07-28", 9, "result/inputRequests", None, "/result/inputRequests", "object"),
    ("a result is null", "2026-07-28", 11, "result", None, "/result", "object"),
    ("a result is an array", "2026-07-28", 11, "result", [], "/result", "object"),
    ("an error of its own lacks its data", "2026-07-28", 19, "error/data", ..., "/error/data", "required"),
    ("an error of its own has a list for an object", "2026-07-28", 19, "error/data/requiredCapabilities", ["elicitation"],
     "/error/data/requiredCapabilities", "object"),
    ("an error of its own lacks a part of its data", "2026-07-28", 21, "error/data/requested", ..., "/error/data/requested", "required"),
    ("an error of its own has a text for a list", "2026-07-28", 21, "error/data/supported", "2026-07-28", "/error/data/supported", "array"),
    ("an error of its own in the other revision", "2025-11-25", 27, "error/data/elicitations", ..., "/error/data/elicitations", "required"),
    ("a code is a text", "2026-07-28", 19, "error/code", "-32021", "/error/code", "integer"),
    ("an error is a text", "2026-07-28", 19, "error", "no", "/error", "object"),
    ("a result and an error", "2026-07-28", 11, "error", {"code": 1, "message": "m"}, "/error", "not both"),
    ("an open request has the id", "2026-07-28", 7, "id", "listen", "/id", "not taken in one conversation"),
    ("an id was used in the session", "2025-11-25", 8, None, call(1, "tools/call", name="x"), "/id", "not taken"),
    ("both sides used the id", "2025-11-25", 10, None, {"jsonrpc": "2.0", "id": 0, "method": "ping"}, "/id", "not taken"),
    ("a task is answered with nothing", "2025-11-25", 9, "result", {}, "/result/task", "required"),
    ("a task has an unknown status", "2025-11-25", 9, "result/task/status", "running", "/result/task/status", '"working"'),
    ("a task that nobody asked for", "2025-11-25", 20, "result", {"task": TASK}, "/result/content", "required"),
    ("a request without an id", "2026-07-28", 7, "id", ..., "/id", "required"),
    ("a notification with an id", "2026-07-28", 8, "id", 9, "/id", "nothing"),
    ("an id is null", "2026-07-28", 7, "id", None, "/id", "string or integer"),
    ("an id is true", "2026-07-28", 7, "id", True, "/id", "string or integer"),
    ("an id is a fraction", "2026-07-28", 7, "id", 1.5, "/id", "string or integer"),
    ("an answer without an id", "2026-07-28", 11, "id", ..., "/id", "required"),
    ("an answer with the text of its id", "2026-07-28", 11, "id", "3", "/id", "unanswered"),
    ("an answer to nothing", "2025-11-25", 21, None, result(99), "/id", "unanswered"),
    ("a second answer", "2026-07-28", 12, None, result(3, resultType="complete", content=[]), "/id", "unanswered"),
    ("an error that answers nothing", "2026-07-28", 12, None, error(3, -32603), "/id", "unanswered"),
    ("an unknown request", "2026-07-28", 7, "method", "tools/cal", "/method", "a request of this revision"),
    ("an unknown notification", "2026-07-28", 8, "method", "notifications/progres", "/method", "a notification of this revision"),
    ("a request of the other era", "2026-07-28", 12, None, modern(50, "ping"), "/method", "a request of this revision"),
    ("a method that is no text", "2026-07-28", 7, "method", 7, "/method", "string"),
    ("params that are an array", "2026-07-28", 7, "params", [], "/params", "object"),
    ("params that are missing", "2026-07-28", 5, "params", ..., "/params", "required"),
    ("metadata that is missing", "2026-07-28", 5, "params/_meta", ..., "/params/_meta", "required"),
    ("another version of JSON-RPC", "2026-07-28", 7, "jsonrpc", "1.0", "/jsonrpc", '"2.0"'),
    ("a version that is a number", "2025-11-25", 7, "jsonrpc", 2.0, "/jsonrpc", '"2.0"'),
    ("a reference of an unknown type", "2026-07-28", 16, "params/ref/type", "ref/tool", "/params/ref/type", '"ref/prompt" or "ref/resource"'),
    ("contents of neither kind", "2026-07-28", 13, "result/contents/0/text", ..., "/result/contents/0", "text or blob"),
    ("text that is a number", "2026-07-28", 13, "result/contents/0/text", 5, "/result/contents/0/text", "string"),
    ("a scope that is none", "2026-07-28", 6, "result/cacheScope", "shared", "/result/cacheScope", '"private" or "public"'),
    ("a time below zero", "2026-07-28", 6, "result/ttlMs", -1, "/result/ttlMs", "minimum 0"),
    ("a tool without a schema", "2026-07-28", 6, "result/tools/0/inputSchema", ..., "/result/tools/0/inputSchema", "required"),
    ("a schema of a text", "2026-07-28", 6, "result/tools/0/inputSchema/type", "string", "/result/tools/0/inputSchema/type", '"object"'),
    ("an argument of a prompt is a number", "2026-07-28", 14, "params/arguments/a", 1, "/params/arguments/a", "string"),
    ("an unknown level", "2025-11-25", 24, "params/level", "loud", "/params/level", '"debug"'),
    ("a cursor that is null", "2026-07-28", 24, "params/cursor", None, "/params/cursor", "string"),
    ("a batch", "2026-07-28", 7, None, [modern(2, "tools/list")], "", "one message"),
    ("a call and an answer in one", "2026-07-28", 7, "result", {}, "", "not both"),
    ("a call without a method", "2026-07-28", 7, "method", ..., "/method", "a method"),
    ("an answer without a result", "2026-07-28", 6, "result", ..., "/result", "a result or an error"),
    ("an answer whose id is null", "2026-07-28", 6, "id", None, "/id", "string or integer"),
    ("an object that is no message", "2026-07-28", 8, None, {"jsonrpc": "2.0"}, "", "a method, a result or an error"),
]
# fmt: on


@pytest.mark.parametrize("revision", GOOD)
def test_a_good_conversation_has_no_finding(revision: str) -> None:
    assert len(GOOD[revision]) > 20
    assert judged(revision, lines(GOOD[revision])) == []


@pytest.mark.parametrize(
    ("revision", "line", "path", "value", "pointer", "expected"),
    [row[1:] for row in PLANTED],
    ids=[row[0] for row in PLANTED],
)
def test_a_planted_fault_is_the_one_finding(
    revision: str, line: int, path: str | None, value: object, pointer: str, expected: str
) -> None:
    good = GOOD[revision]
    before, after = good[: line - 1], good[line if path is not None else line - 1 :]
    planted: object = value if path is None else spoilt(good[line - 1], path, value)
    (found,) = judged(revision, lines(before) + json.dumps(planted) + "\n" + lines(after))
    assert found[:2] == (line, pointer)
    assert expected in found[3]


def test_a_fault_of_a_request_is_not_told_again_of_its_answer() -> None:
    request = modern(2, "tools/call", name="x")
    answer = result(2, resultType="complete", content=[])
    spoils: list[object] = [
        spoilt(request, "id"),
        spoilt(request, "method", "tools/cal"),
        [request],
        "x",
        {**request, "result": {}},
    ]
    for planted in spoils:
        assert len(judged("2026-07-28", json.dumps(planted) + "\n" + lines([answer]))) == 1
    broken = json.dumps(request)[:-1] + "\n"
    assert len(judged("2026-07-28", broken + lines([answer]))) == 1
    assert [row[:2] for row in judged("2026-07-28", broken + lines([answer, answer]))] == [
        (1, ""),
        (3, "/id"),
    ]


@pytest.mark.parametrize("revision", GOOD)
@pytest.mark.parametrize(
    ("asked", "answered"), [("1.0", "1"), ("1", "1.0"), ("1e3", "1000"), ("0", "-0.0"), ("1E+2", "100.0")]
)
def test_ids_of_one_value_are_one_id(revision: str, asked: str, answered: str) -> None:
    request, answer = modern("ASKED", "tools/call", name="x"), error("ANSWERED", -32603)
    text = lines([request, answer]).replace('"ASKED"', asked).replace('"ANSWERED"', answered)
    assert judged(revision, text) == []
    again = lines([request, request]).replace('"ASKED"', asked, 1).replace('"ASKED"', answered)
    assert [row[:2] for row in judged(revision, again)] == [(2, "/id")]


@pytest.mark.parametrize(
    ("asked", "answered"), [("1.0", '"1"'), ('"1"', "1"), ('"1.0"', "1.0"), ("1", "2.0")]
)
def test_ids_of_two_values_are_two(asked: str, answered: str) -> None:
    request, answer = modern("ASKED", "tools/call", name="x"), error("ANSWERED", -32603)
    text = lines([request, answer]).replace('"ASKED"', asked).replace('"ANSWERED"', answered)
    assert [row[:2] for row in judged("2026-07-28", text)] == [(2, "/id")]


def test_an_id_that_is_no_integer_is_the_one_finding() -> None:
    for identity in ("1.5", "1e-1", "true", "null", "[]", "{}"):
        text = lines([modern("ASKED", "tools/list"), MODERN[5]]).replace('"ASKED"', identity)
        assert [row[:2] for row in judged("2026-07-28", text)] == [(1, "/id")]


@pytest.mark.parametrize("methods", [["tools/list"], ["tools/list", "prompts/list", "resources/list"]])
def test_the_work_for_requests_of_one_id_grows_as_they_do(
    methods: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    faults = Judge.faults

    def counting(judge: Judge, name: str, value: object) -> Iterator[Fault]:
        counted.append(name)
        return faults(judge, name, value)

    def work(size: int) -> int:
        counted.clear()
        asked = [modern(1, methods[index % len(methods)]) for index in range(size)]
        assert judged("2026-07-28", lines([*asked, *[spoilt(MODERN[5], "id", 1)] * size]))
        return len(counted)

    monkeypatch.setattr(Judge, "faults", counting)
    assert work(120) - work(90) == work(90) - work(60) > 0


def test_an_answer_is_judged_by_the_request_it_fits_of_those_that_share_its_id() -> None:
    asked = [modern(1, "tools/list"), modern(1, "prompts/list"), modern(1, "tools/list")]
    prompts = result(1, prompts=[], **HINTS)
    answers = [spoilt(MODERN[5], "id", 1), prompts, spoilt(MODERN[5], "id", 1)]
    for order in permutations(answers):
        assert [row[:2] for row in judged("2026-07-28", lines([*asked, *order]))] == [(2, "/id"), (3, "/id")]


def test_a_new_session_counts_its_ids_anew() -> None:
    assert judged("2025-11-25", lines([*LEGACY, *LEGACY])) == []


def test_an_id_is_free_again_where_there_are_no_sessions() -> None:
    again = [modern(1, "tools/list"), error(1, -32603)]
    assert judged("2026-07-28", lines([*again, *again])) == []
    assert [row[:2] for row in judged("2026-07-28", lines([again[0], *again]))] == [(2, "/id")]


def test_requests_that_only_one_side_can_have_sent_are_told_from_those_of_both() -> None:
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    server = call(7, "roots/list")
    assert judged("2025-11-25", lines([ping, server])) == []
    assert [row[:2] for row in judged("2025-11-25", lines([ping, server, ping]))] == [(3, "/id")]
    assert [row[:2] for row in judged("2025-11-25", lines([server, ping, server]))] == [(3, "/id")]


def test_an_array_of_messages_is_a_conversation_and_pointers_lead_into_it() -> None:
    assert judged("2026-07-28", json.dumps(MODERN)) == []
    planted = [*MODERN[:10], spoilt(MODERN[10], "result/content", 5), *MODERN[11:]]
    assert [row[:2] for row in judged("2026-07-28", json.dumps(planted))] == [(1, "/10/result/content")]
    text = json.dumps(planted, indent=1)
    line = 1 + text[: text.index('"content": 5')].count("\n")
    assert [row[:2] for row in judged("2026-07-28", text)] == [(line, "/10/result/content")]


@pytest.mark.parametrize("between", ["\n", "", "\n\n", " \r\n"])
@pytest.mark.parametrize("indent", [0, 1, 2, "\t"])
def test_documents_of_many_lines_follow_each_other(indent: int | str, between: str) -> None:
    def pretty(messages: list[Message]) -> str:
        return between.join(json.dumps(message, indent=indent) for message in messages)

    assert judged("2025-11-25", pretty(LEGACY)) == []
    text = pretty([*LEGACY[:8], spoilt(LEGACY[8], "result/task/status", "running"), *LEGACY[9:]])
    line = 1 + text[: text.index('"running"')].count("\n")
    assert [row[:2] for row in judged("2025-11-25", text)] == [(line, "/result/task/status")]


def test_every_member_of_a_document_has_its_line() -> None:
    document: list[Message] = [
        *MODERN[:12],
        {'a"b': {"~/": [[], {}, [0, {"": 1}]]}, "ü\\": "x\\", "[": "]}{,:"},
    ]
    for pointer in ["", *pointers(document)]:
        text = "\n" + json.dumps(marked(document, pointer), indent=1)
        (value,) = values(text)
        assert isinstance(value, Value)
        assert value.line(pointer) == 1 + text[: text.index('"HERE"')].count("\n")


def test_the_last_of_two_members_of_a_name_has_its_line() -> None:
    (value,) = values('{"a": [1],\n "a":\n {"b":\n 2}}')
    assert isinstance(value, Value)
    assert [value.line(pointer) for pointer in ("", "/a", "/a/b", "/a/0", "/c/a")] == [1, 3, 4, 3, 1]


def test_a_document_of_many_findings_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[int] = []

    def walked(text: str, start: int, end: int, line: int) -> Place:
        walks.append(line)
        return place(text, start, end, line)

    monkeypatch.setattr(texts, "place", walked)
    tools = [{"name": 5, "inputSchema": {"type": "object"}}] * 200
    text = json.dumps(
        {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools}, indent=1
    )
    found = list(validator("2026-07-28").values(text, "tools/list"))
    names = [number for number, line in enumerate(text.splitlines(), 1) if '"name"' in line]
    assert [(one.line, one.pointer) for one in found] == [
        (line, f"/tools/{index}/name") for index, line in enumerate(names)
    ]
    assert walks == [1]


def test_values_on_one_line_have_that_line() -> None:
    text = '\n{"a": 1}{"b":\n 2}{"c": 3}\n\n{"d": 4}'
    assert [(one.line("") if isinstance(one, Value) else 0) for one in values(text)] == [2, 2, 3, 5]


@pytest.mark.parametrize("revision", GOOD)
@pytest.mark.parametrize("kind", [5, None, True, [], {}, "strng"])
@pytest.mark.parametrize("around", ["", "/params/requestedSchema/properties/a"])
def test_the_arm_is_meant_that_has_the_members_inside(revision: str, kind: object, around: str) -> None:
    schema: object = {"type": "array", "items": {"enum": ["a"], "type": kind}}
    name = "MultiSelectEnumSchema"
    if around:
        form = {"type": "object", "properties": {"a": schema}}
        params = {"mode": "form", "message": "m", "requestedSchema": form}
        schema, name = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "elicitation/create",
            "params": params,
        }, "ElicitRequest"
    (found,) = validator(revision).values(json.dumps(schema), name)
    assert (found.pointer, found.found) == (f"{around}/items/type", json.dumps(kind))
    assert found.expected == '"string"'


@pytest.mark.parametrize(
    ("items", "pointers"),
    [
        ({"enum": ["a"]}, ["/items/type"]),
        ({"type": "string"}, ["/items/enum"]),
        ({"type": 5}, ["/items/enum", "/items/type"]),
        ({"anyOf": [{"const": "a"}]}, ["/items/anyOf/0/title"]),
        ({"anyOf": 5}, ["/items/anyOf"]),
        (5, ["/items"]),
    ],
)
def test_what_an_arm_lacks_inside_is_told_of_the_one_that_is_meant(
    items: object, pointers: list[str]
) -> None:
    text = json.dumps({"type": "array", "items": items})
    found = validator("2026-07-28").values(text, "MultiSelectEnumSchema")
    assert sorted(one.pointer for one in found) == pointers


def test_a_missing_member_has_the_line_of_the_object_that_lacks_it() -> None:
    text = json.dumps(spoilt(MODERN[6], "params/name"), indent=2)
    line = 1 + text[: text.index('"params"')].count("\n")
    assert [row[:2] for row in judged("2026-07-28", text)] == [(line, "/params/name")]


@pytest.mark.parametrize(
    "broken", ['{"jsonrpc": "2.0", "id": 3,', '{"a": [', "{oops", "2026-01-01 12:00 INFO up", '{"a": "b', "}"]
)
@pytest.mark.parametrize("place", [0, 3, len(MODERN)])
def test_a_broken_line_costs_itself_alone(broken: str, place: int) -> None:
    text = lines(MODERN[:place]) + broken + "\n" + lines(MODERN[place:])
    assert [row[:2] for row in judged("2026-07-28", text)] == [(place + 1, "")]


def test_a_broken_document_of_many_lines_is_one_finding_where_it_breaks() -> None:
    pretty = [json.dumps(message, indent=2) for message in MODERN]
    broken = pretty[6].replace('"id": 2,', '"id": 2,,')
    text = "\n".join([*pretty[:6], broken, *pretty[7:]])
    line = 1 + text[: text.index(",,")].count("\n")
    assert [row[:2] for row in judged("2026-07-28", text)] == [(line, "")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e400", "1e400"),
        ("-1e400", "-1e400"),
        ("9" * 5000, "an integer of 5000 digits"),
        ("-" + "9" * 5000, "an integer of 5000 digits"),
        ("9" * 5000 + ".5", "9" * 40 + "..."),
    ],
)
def test_a_number_that_is_none_is_one_finding_in_its_place(text: str, said: str) -> None:
    line = json.dumps(modern(50, "tools/call", name="x", arguments={"a": [0, "HERE"]})).replace(
        '"HERE"', text
    )
    answer = result(50, resultType="complete", content=[])
    (found,) = judged("2026-07-28", f"{lines(MODERN)}{line}\n{lines([answer])}")
    assert found[:3] == (len(MODERN) + 1, "/params/arguments/a/1", said)
    assert "number" in found[3]


def test_numbers_at_the_bounds_are_numbers() -> None:
    for text in ("9" * 4000, "1.7976931348623157e308", "5e-400", "-0.0"):
        line = json.dumps(modern(50, "tools/call", name="x", arguments={"a": "HERE"})).replace('"HERE"', text)
        assert judged("2026-07-28", line) == []


def test_a_member_that_stands_twice_is_one_finding_in_its_place() -> None:
    line = json.dumps(MODERN[6]).replace('"name": "forecast"', '"name": "forecast", "name": 5')
    text = lines(MODERN[:6]) + line + "\n" + lines(MODERN[7:])
    assert [row[:3] for row in judged("2026-07-28", text)] == [
        (7, "/params/name", "a member that stands twice")
    ]
    array = "[" + ",".join(text.splitlines()) + "]"
    assert [row[:2] for row in judged("2026-07-28", array)] == [(1, "/6/params/name")]


def test_an_item_after_the_tenth_is_not_taken_for_the_first() -> None:
    flawed = json.dumps(notice("notifications/progress", progressToken=1, progress="HERE")).replace(
        '"HERE"', "NaN"
    )
    good = [notice("notifications/progress", progressToken=1, progress=1)] * 10
    text = (
        "["
        + ",".join(
            [*(json.dumps(one) for one in [spoilt(good[0], "params/progress", "x"), *good[1:]]), flawed]
        )
        + "]"
    )
    assert [row[:2] for row in judged("2026-07-28", text)] == [
        (1, "/0/params/progress"),
        (1, "/10/params/progress"),
    ]


@pytest.mark.parametrize("asked", ["sampling/createMessage", "elicitation/create", "tools/call"])
def test_a_request_that_asks_for_a_task_is_answered_by_one(asked: str) -> None:
    known: dict[str, Message] = {
        "sampling/createMessage": {"messages": [], "maxTokens": 1},
        "elicitation/create": {
            "mode": "url",
            "message": "m",
            "elicitationId": "e",
            "url": "https://a.example",
        },
        "tools/call": {"name": "x"},
    }
    params = known[asked]
    assert judged("2025-11-25", lines([call(1, asked, **params, task={}), result(1, task=TASK)])) == []
    assert len(judged("2025-11-25", lines([call(1, asked, **params), result(1, task=TASK)]))) >= 1


def test_a_receiver_that_knows_no_tasks_answers_as_ever() -> None:
    asked = call(1, "tools/call", name="x", task={})
    assert judged("2025-11-25", lines([asked, result(1, content=[TEXT])])) == []
    (row,) = judged("2025-11-25", lines([asked, result(1, content=[{"type": "text", "text": 5}])]))
    assert row[:2] == (2, "/result/content/0/text")


def test_many_answers_after_many_broken_lines_are_excused_one_for_one() -> None:
    text = "{oops\n" * 300 + lines([result(5)] * 301)
    assert [row[:2] for row in judged("2026-07-28", text)] == [
        *((n + 1, "") for n in range(300)),
        (601, "/id"),
    ]


def test_results_of_a_named_method_may_be_a_task() -> None:
    judge = validator("2025-11-25").values
    assert list(judge(json.dumps({"task": TASK}), "tools/call")) == []
    assert [one.pointer for one in judge(json.dumps({"task": {**TASK, "ttl": "x"}}), "tools/call")] == [
        "/task/ttl"
    ]


def test_answers_are_judged_by_the_arm_they_mean_in_any_order_of_members() -> None:
    for answer in ANSWERS.values():
        turned = dict(reversed(answer.items()))
        assert (
            judged("2026-07-28", lines([modern(1, "tools/call", name="x", inputResponses={"a": turned})]))
            == []
        )


def test_a_deep_request_is_one_finding_and_its_answer_none() -> None:
    deep: object = {}
    for _ in range(400):
        deep = {"a": deep}
    meta = {
        **MODERN[0]["params"]["_meta"],
        "io.modelcontextprotocol/clientCapabilities": {"experimental": {"x": deep}},
    }
    request = call(1, "tools/list", _meta=meta)
    (found,) = judged("2026-07-28", lines([request, spoilt(MODERN[5], "id", 1)]))
    assert found[:2] == (1, "") and "too deep" in found[3]


def pointers(node: object, place: str = "") -> Iterator[str]:
    """The JSON pointers of all that is inside a value."""
    inside: dict[str, object] = {}
    if isinstance(node, dict):
        inside = cast(Message, node)
    elif isinstance(node, list):
        inside = {str(index): item for index, item in enumerate(cast(list[object], node))}
    for name, inner in inside.items():
        here = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
        yield here
        yield from pointers(inner, here)


def marked(document: object, pointer: str) -> object:
    """A copy of a document that says "HERE" at a JSON pointer."""
    whole = {"": json.loads(json.dumps(document))}
    holder: Any = whole
    *steps, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")]
    for step in steps:
        holder = holder[int(step) if isinstance(holder, list) else step]
    holder[int(last) if isinstance(holder, list) else last] = "HERE"
    return whole[""]


def members(message: Message, path: str = "") -> Iterator[str]:
    """The paths of all members inside a message, through objects and past names that have a slash."""
    for name, inner in message.items():
        if "/" not in name:
            yield f"{path}{name}"
            if isinstance(inner, dict):
                yield from members(cast(Message, inner), f"{path}{name}/")


@pytest.mark.parametrize("revision", GOOD)
def test_any_one_member_left_out_is_at_most_one_finding(revision: str) -> None:
    good = GOOD[revision]
    found = {
        (line, path): judged(revision, lines([*good[:line], spoilt(good[line], path), *good[line + 1 :]]))
        for line, message in enumerate(good)
        for path in members(message)
    }
    assert {where: several for where, several in found.items() if len(several) > 1} == {}
    assert sum(map(len, found.values())) > 100


HANDSHAKE: list[Message] = [
    call(0, "initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=IDENTITY),
    result(0, protocolVersion="2025-03-26", capabilities={"tools": {}}, serverInfo=IDENTITY),
    notice("notifications/initialized"),
]
CALLS: list[Message] = [
    call(1, "tools/list"),
    notice("notifications/cancelled", requestId=9),
    call(2, "tools/call", name="x"),
]
RESPONSES: list[Message] = [result(2, content=[TEXT]), error(1, -32603)]


def batched(*documents: object, indent: int | None = None) -> str:
    return "".join(json.dumps(document, indent=indent) + "\n" for document in (*HANDSHAKE, *documents))


@pytest.mark.parametrize("indent", [None, 1])
def test_the_messages_of_a_batch_are_judged_where_they_stand(indent: int | None) -> None:
    assert judged("2025-03-26", batched(CALLS, RESPONSES, indent=indent)) == []
    assert judged("2025-03-26", json.dumps([*HANDSHAKE, CALLS, RESPONSES], indent=indent)) == []
    planted = [spoilt(RESPONSES[0], "result/content/0/text", 5), RESPONSES[1]]
    text = batched(CALLS, planted, indent=indent)
    line = 1 + text[: text.index('"text": 5')].count("\n")
    assert [row[:3] for row in judged("2025-03-26", text)] == [(line, "/0/result/content/0/text", "5")]
    array = json.dumps([*HANDSHAKE, CALLS, planted], indent=indent)
    assert [row[1] for row in judged("2025-03-26", array)] == ["/4/0/result/content/0/text"]


def test_ids_count_through_batches() -> None:
    text = batched(CALLS, CALLS[0], RESPONSES, RESPONSES[1:])
    assert [row[:2] for row in judged("2025-03-26", text)] == [(5, "/id")]
    text = batched(CALLS, RESPONSES, RESPONSES[1:])
    assert [row[:2] for row in judged("2025-03-26", text)] == [(6, "/0/id")]


@pytest.mark.parametrize(
    ("batch", "pointer", "expected"),
    [
        ([*CALLS, *RESPONSES], "/3", "a call, as the batch began with one"),
        ([5, *CALLS], "/0", "one message, an object"),
        ([[*CALLS]], "/0", "one message, an object; a batch holds no batch"),
        ([*CALLS[:2], spoilt(CALLS[2], "params/name")], "/2/params/name", "a required member"),
    ],
)
def test_a_fault_of_a_batch_is_the_one_finding(batch: list[object], pointer: str, expected: str) -> None:
    assert [(row[1], row[3]) for row in judged("2025-03-26", batched(batch))] == [(pointer, expected)]


def test_a_batch_of_responses_has_no_call() -> None:
    text = batched(CALLS, [*RESPONSES, notice("notifications/progress", progressToken=1, progress=1)])
    assert [(row[1], row[3]) for row in judged("2025-03-26", text)] == [
        ("/2", "a response, as the batch began with one")
    ]


@pytest.mark.parametrize("revision", [pin.revision for pin in pins() if pin.revision != "2025-03-26"])
def test_other_revisions_have_no_batches_and_excuse_the_answers(revision: str) -> None:
    calls = [modern(1, "tools/list"), modern(2, "prompts/list")]
    documents = [MODERN[7] if revision == "2026-07-28" else HANDSHAKE[2], calls, error(1, 1), error(2, 1)]
    (found,) = judged(revision, "".join(json.dumps(document) + "\n" for document in documents))
    assert found[:2] == (2, "")
    assert found[3] == "one message, an object; this revision has no batches"
