"""Realistic messages of every kind and of both revisions: valid, read as what they are, and written back equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest
from corpus import canonical, oracle
from mcprotocol import exact, v2025_11_25, v2026_07_28
from mcprotocol.v2025_11_25 import messages as messages_2025
from mcprotocol.v2025_11_25 import methods as methods_2025
from mcprotocol.v2026_07_28 import messages as messages_2026
from mcprotocol.v2026_07_28 import methods as methods_2026
from mcprotocol.wire import WireModel
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
