"""Realistic messages of every kind and of both revisions: valid, read as what they are, and written back equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest
from corpus import canonical, oracle
from mcprotocol import exact, outcomes, v2025_11_25, v2026_07_28
from mcprotocol.errors import InvalidRequest
from mcprotocol.jsonrpc import write_request
from mcprotocol.v2025_11_25 import messages as messages_2025
from mcprotocol.v2025_11_25 import methods as methods_2025
from mcprotocol.v2026_07_28 import messages as messages_2026
from mcprotocol.v2026_07_28 import methods as methods_2026
from mcprotocol.wire import WireModel
from pydantic import ValidationError
from readings import TYPES, document
from realistic import BEFORE, NOW, Message, Messages

MESSAGES: Mapping[str, Messages] = {v2025_11_25.REVISION: BEFORE, v2026_07_28.REVISION: NOW}
TABLES: Mapping[str, ModuleType] = {v2025_11_25.REVISION: methods_2025, v2026_07_28.REVISION: methods_2026}
PARSERS: Mapping[str, Any] = {v2025_11_25.REVISION: messages_2025, v2026_07_28.REVISION: messages_2026}
ENDS = ("Request", "Result", "Notification", "Error", "Response")

ABSTRACT = {
    *("Request", "PaginatedRequest", "ClientRequest", "ServerRequest", "InputRequest", "JSONRPCRequest"),
    *("Result", "PaginatedResult", "CacheableResult", "ClientResult", "ServerResult", "EmptyResult"),
    *("Notification", "ClientNotification", "ServerNotification", "JSONRPCNotification"),
    *("InputResponse", "JSONRPCResponse", "JSONRPCResultResponse"),
}
"""What is never sent as such: bases of others, unions, envelopes."""

every_revision = pytest.mark.parametrize("revision", MESSAGES)


def each(revision: str) -> Iterator[tuple[str, Message]]:
    return ((name, message) for name, some in MESSAGES[revision].items() for message in some)


@every_revision
def test_every_request_result_notification_and_error_has_a_message(revision: str) -> None:
    facts = document(revision).definitions
    wanted = {name for name in facts if name.endswith(ENDS)} - ABSTRACT
    inner = {name for name in wanted if name.endswith(("ErrorError", "ResponseResult"))}
    assert wanted - inner - MESSAGES[revision].keys() == set()
    assert MESSAGES[revision].keys() - facts.keys() == set()


@every_revision
def test_every_message_is_valid(revision: str) -> None:
    judge = oracle(document(revision).definitions)
    assert [(name, message) for name, message in each(revision) if not judge(name, message)] == []


@every_revision
@pytest.mark.parametrize("strict", [False, True])
def test_every_message_is_written_back_equal(revision: str, strict: bool) -> None:
    for name, message in each(revision):
        type_ = getattr(TYPES[revision], name)
        text = json.dumps(message)
        value = exact.read(type_, text, strict=strict)
        assert canonical(exact.write(type_, value)) == canonical(text)
        assert isinstance(value, WireModel)
        assert canonical(value.model_dump_json()) == canonical(value.wire_bytes()) == canonical(text)
        assert exact.read_value(type_, message) == value


def test_a_request_is_the_same_where_its_metadata_was_written_before() -> None:
    revision = v2026_07_28.REVISION
    sent = [(name, message) for name, message in each(revision) if "id" in message and "method" in message]
    requests = [exact.read(getattr(TYPES[revision], name), json.dumps(message)) for name, message in sent]
    alone = [request for request in requests if request.params.model_fields_set == {"meta"}]
    assert len(requests) > len(alone) > 0
    for request in requests:
        whole = write_request(1, request.method, request.params)
        parts = write_request(1, request.method, request.params, request.params.meta.wire_bytes())
        assert canonical(parts) == canonical(whole)


@every_revision
def test_every_method_has_a_message_and_a_result_that_are_read_by_its_name(revision: str) -> None:
    table, parse = TABLES[revision], PARSERS[revision]
    sent = {
        message["method"]: (name, message)
        for name, message in each(revision)
        if "id" in message and "method" in message
    }
    assert sent.keys() == table.REQUESTS.keys()
    for name, message in sent.values():
        assert type(parse.parse_request(json.dumps(message))).__name__ == name
    for method in table.REQUESTS.values():
        for result in method.results:
            for message in MESSAGES[revision].get(result.__name__, MESSAGES[revision].get("EmptyResult", [])):
                assert type(parse.parse_result(method.name, json.dumps(message))) is result


TASK = {"taskId": "t1", "status": "working", "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z", "ttl": None}  # fmt: skip
COMPLETE: Mapping[str, Message] = {
    "tools/call": {"content": []},
    "sampling/createMessage": {"role": "user", "model": "m", "content": {"type": "text", "text": ""}},
    "elicitation/create": {"action": "cancel"},
}


@pytest.mark.parametrize("name", COMPLETE)
@pytest.mark.parametrize("strict", [False, True])
def test_a_request_that_asked_for_a_task_is_answered_by_the_task(name: str, strict: bool) -> None:
    read: Any = messages_2025.parse_result
    task = read(name, json.dumps({"task": TASK}), strict=strict)
    assert type(task).__name__ == "CreateTaskResult" and task.task.task_id == "t1"
    complete = read(name, json.dumps({**COMPLETE[name], "task": TASK}), strict=strict)
    assert type(complete) is methods_2025.REQUESTS[name].results[0] and complete.model_extra == {"task": TASK}
    with pytest.raises(ValidationError) as error:
        read(name, json.dumps({"task": {**TASK, "status": 5}}), strict=strict)
    assert [fault["loc"] for fault in error.value.errors()] == [("task", "status")]


def test_only_what_may_ask_for_a_task_is_answered_by_one() -> None:
    asking = {name for name, method in methods_2025.REQUESTS.items() if method.task_augmented}
    assert asking == COMPLETE.keys()
    assert not any(method.task_augmented for method in methods_2026.REQUESTS.values())
    with pytest.raises(ValidationError):
        messages_2025.parse_result("prompts/get", json.dumps({"task": TASK}))


FILLING: Message = {"content": [], "tools": [], "ttlMs": 0, "cacheScope": "private"}
"""All that two results need, so that nothing but `resultType` is wrong."""


@pytest.mark.parametrize("kind", [None, 5, "task", {"a": 1}, "Complete"])
@pytest.mark.parametrize("rest", [{}, FILLING, {"content": 5, "inputRequests": []}])
@pytest.mark.parametrize("name", ["tools/call", "tools/list"])
@pytest.mark.parametrize("strict", [False, True])
def test_an_unknown_result_type_is_said_whatever_else_is_there(
    kind: Any, rest: Message, name: str, strict: bool
) -> None:
    result = {**rest, "resultType": kind}
    wanted = f"answered {name} with an unknown resultType: {json.dumps(kind, separators=(',', ':'))}"
    read: Any = messages_2026.parse_result
    with pytest.raises(InvalidRequest) as error:
        read(name, json.dumps(result), strict=strict)
    assert error.value.message.endswith(wanted)
    with pytest.raises(InvalidRequest) as error:
        outcomes.read_result(methods_2026.REQUESTS[name], result)
    assert error.value.message.endswith(wanted)


def test_input_is_required_only_where_the_method_has_it_and_with_something_to_go_on() -> None:
    with pytest.raises(InvalidRequest, match='tools/list with an unknown resultType: "input_required"'):
        messages_2026.parse_result("tools/list", '{"resultType":"input_required","requestState":"s"}')
    with pytest.raises(InvalidRequest, match="neither inputRequests nor requestState"):
        messages_2026.parse_result("tools/call", '{"resultType":"input_required","content":[]}')


def test_a_result_type_is_no_member_of_the_revision_before() -> None:
    read = messages_2025.parse_result("tools/call", '{"content":[],"resultType":"weird"}')
    assert json.loads(read.model_dump_json()) == {"content": [], "resultType": "weird"}
    row = methods_2025.REQUESTS["tools/call"]
    assert type(outcomes.read_result(row, {"content": [], "resultType": 5})) is row.results[0]


@every_revision
def test_every_notification_has_a_message_that_is_read_by_its_name(revision: str) -> None:
    table, parse = TABLES[revision], PARSERS[revision]
    announced = table.CLIENT_NOTIFICATIONS.keys() | table.SERVER_NOTIFICATIONS.keys()
    sent = [
        (name, message) for name, message in each(revision) if "method" in message and "id" not in message
    ]
    notices = [(name, message) for name, message in sent if name.endswith("Notification")]
    assert {message["method"] for _, message in notices} == announced
    for name, message in notices:
        assert type(parse.parse_notification(json.dumps(message))).__name__ == name


@every_revision
def test_every_message_in_an_envelope_is_one_of_the_four_kinds(revision: str) -> None:
    kinds: set[str] = set()
    for _, message in each(revision):
        if "jsonrpc" in message:
            read = exact.read(TYPES[revision].JSONRPCMessage, json.dumps(message))
            kinds.add(type(read).__name__)
            assert canonical(read.model_dump_json()) == canonical(json.dumps(message))
    assert kinds == {"JSONRPCRequest", "JSONRPCNotification", "JSONRPCErrorResponse", "JSONRPCResultResponse"}
