"""A message that is JSON and more than can be held: its request is refused by its id, its notification dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcprotocol.errors import InvalidRequest, McpError, ParseError
from mcprotocol.jsonrpc import Notification, meant_for, read_message, read_reply
from mcprotocol.shallow import read_shallow

DEEP = b"[" * 5000 + b"]" * 5000
UNHELD = {
    "too deep": DEEP,
    "too deep, in objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "too deep, and brackets in texts": b'[{"]\\"}":' * 3000 + b"1" + b"}]" * 3000,
    "half a surrogate pair": rb'["\ud800"]',
    "the other half": rb'["\udc00 "]',
    "two halves that do not match": rb'["\ud83d\u0041"]',
    "too many digits": b"[" + b"9" * 5000 + b"]",
}


def refused(data: bytes) -> McpError:
    with pytest.raises(McpError) as caught:
        read_message(data)
    return caught.value


@pytest.mark.parametrize("inner", UNHELD.values(), ids=UNHELD.keys())
@pytest.mark.parametrize("identity", ["7", '"7"', "0", '""', '"]"'])
def test_a_request_is_refused_by_its_id_wherever_that_stands(inner: bytes, identity: str) -> None:
    named, method = b'"id":' + identity.encode(), b'"method":"tools/call"'
    params = b'"params":{"id":[1],"arguments":{"id":3,"a":%b}}' % inner
    for members in ([named, method, params], [params, method, named]):
        error = refused(b'{"jsonrpc":"2.0",' + b",".join(members) + b"}")
        assert isinstance(error, InvalidRequest)
        assert json.dumps(error.request_id) == identity


@pytest.mark.parametrize("inner", UNHELD.values(), ids=UNHELD.keys())
def test_a_notification_is_known_for_one(inner: bytes) -> None:
    data = b'{"jsonrpc":"2.0","params":{"id":%b},"method":"notifications/any"}' % inner
    assert read_message(data) == Notification("notifications/any", None)


@pytest.mark.parametrize("inner", UNHELD.values(), ids=UNHELD.keys())
def test_an_answer_is_refused_by_its_id(inner: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_reply(b'{"jsonrpc":"2.0","result":{"id":3,"a":%b},"id":"x"}' % inner)
    assert caught.value.request_id == "x"


@pytest.mark.parametrize(
    "data",
    [
        DEEP[:-1],
        b'{"id":1,"method":"x","params":' + DEEP,
        b'{"id":1,"method":"x","params":' + DEEP + b"]}",
        rb'{"id":1,"method":"\ud800"}',
        rb'{"id":"\ud800","method":"x"}',
        b'{"id":' + b"9" * 5000 + b',"method":"x"}',
        b'{"id":1,"method":"x","params":["\\ud800"',
        b'{"id":1,"method":"x","params":["\\ud800',
    ],
)
def test_what_is_cut_off_or_has_no_readable_envelope_is_no_json(data: bytes) -> None:
    error = refused(data)
    assert isinstance(error, ParseError) and error.request_id is None


@pytest.mark.parametrize(
    ("data", "members"),
    [
        (b'{"a":[{"]":"\\"]"}],"id":7,"b":{}}', {"a": None, "id": 7, "b": None}),
        (b'{"a":"[{","b":[[["x"]]],"c":"}]"}', {"a": "[{", "b": None, "c": "}]"}),
        (b'{"a":1}', {"a": 1}),
        (b"[[1]]", None),
        (b"]]]{", None),
        (b"", None),
    ],
)
def test_members_of_members_are_left_out(data: bytes, members: Any) -> None:
    assert read_shallow(data, "recursion limit exceeded") == members
    assert read_shallow(data, "expected value") is None


@pytest.mark.parametrize(
    ("data", "identities"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}', [1]),
        (b'\xef\xbb\xbf {"result":NaN, "jsonrpc" : "2.0", "id" : "x\\"" }', ['x"']),
        (b'{"jsonrpc":"2.0","id":-5,"result":{"text":"two', [-5]),
        (b'{"result":{"id":7},"jsonrpc":"2.0","id":1}{"jsonrpc":"2.0","id":2,"result":{}}', [1, 2]),
        (b'{"jsonrpc":"2.0","method":"x"}{"jsonrpc":"2.0","id":2,"result":{}}', [2]),
        (b'{"jsonrpc":"2.0","x":"\\"id\\":7,","result":{"id":3}}', []),
        (b'{"jsonrpc":"2.0","id":12', []),
        (b'{"jsonrpc":"2.0","id":12.5,"result":NaN}', []),
        (b'{"jsonrpc":"2.0","id":%b,"result":NaN}' % (b"9" * 5000), []),
        (b'{"jsonrpc":"2.0","id":"\xff","result":NaN}', []),
        (b'{"jsonrpc":"2.0","id":true,"result":NaN}', []),
        (b'{"jsonrpc":"1.0","id":1,"result":NaN}', []),
        (b'{"id":1,"result":NaN}', []),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":NaN}', []),
        (b'sent: {"jsonrpc":"2.0","id":1,"result":NaN}', []),
        (b'[{"jsonrpc":"2.0","id":1,"result":NaN}]', []),
        (b"}}]]{", []),
        (b"", []),
    ],
)
def test_whom_an_unreadable_answer_was_meant_for_is_told_by_its_envelope_alone(
    data: bytes, identities: list[Any]
) -> None:
    found = meant_for(data)
    assert (found, [*map(type, found)]) == (identities, [*map(type, identities)])
