"""What leaves a server, judged by the published facts and jsonschema alone: no code of ours has a say in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from emitted import ROOT
from jsonschema import Draft202012Validator

FACTS: dict[str, Any] = json.loads((ROOT / "schema/2026-07-28.json").read_text(encoding="utf-8"))["$defs"]

RESPONSES = {
    definition["properties"]["method"]["const"]: FACTS[response]["properties"]["result"]
    for name, definition in FACTS.items()
    if (response := f"{name.removesuffix('Request')}ResultResponse") in FACTS and name.endswith("Request")
    if "const" in definition["properties"]["method"]
}
"""What the result of a request must be, by its method."""

NOTIFICATIONS = {
    FACTS[name]["properties"]["method"]["const"]: name
    for name in (arm["$ref"].rpartition("/")[2] for arm in FACTS["ServerNotification"]["anyOf"])
}
"""The notifications that a server may send, by their methods."""

ERRORS: dict[int, tuple[str, str | None]] = {}
"""The errors that have a definition of their own, by their codes, and the member of a message that it is about."""
for _name, _definition in FACTS.items():
    _properties = _definition.get("properties", {})
    for _part in _properties.get("error", {}).get("allOf", ()):
        if "properties" in _part:
            ERRORS[_part["properties"]["code"]["const"]] = (_name, None)
    if "const" in _properties.get("code", {}):
        ERRORS[_properties["code"]["const"]] = (_name, "error")


def faults(method: str | None, data: bytes) -> list[str]:
    """What is wrong with one message of a server; `method` is that of the request it answers, if it answers one."""
    message: dict[str, Any] = json.loads(data)
    if "method" in message:
        name = NOTIFICATIONS.get(message["method"], "ServerNotification")
        return [*_faults(name, message)]
    if "error" in message:
        name, member = ERRORS.get(message["error"].get("code"), ("Error", "error"))
        own = _faults(name, message if member is None else message[member])
        return [*_faults("JSONRPCErrorResponse", message), *own]
    return [
        *_faults("JSONRPCResultResponse", message),
        *_faults(_result(method, message["result"]), message["result"]),
    ]


def _result(method: str | None, result: dict[str, Any]) -> str:
    """The definition that a result must keep to: `resultType` tells a demand for input from an end."""
    schema = RESPONSES[method or ""]
    names: list[str] = [arm["$ref"].rpartition("/")[2] for arm in schema.get("anyOf", [schema])]
    asks = result.get("resultType") == "input_required"
    assert not asks or "InputRequiredResult" in names, f"{method} asks for no input"
    return next(name for name in names if (name == "InputRequiredResult") == asks)


def _faults(name: str, value: Any) -> Iterator[str]:
    for error in _validator(name).iter_errors(value):
        yield f"{name}{error.json_path[1:]}: {error.message}"


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": FACTS})


class Conversation:
    """One stream of messages, whose answers are found by their ids; a fault fails the test at once."""

    def __init__(self) -> None:
        self._methods: dict[str, str] = {}
        self._rest = b""

    def sent(self, data: bytes) -> None:
        """Note what a client has sent, in lines or in pieces of lines, however damaged it is."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                message = json.loads(line)
                self._methods[json.dumps(message["id"])] = message["method"]

    def received(self, data: bytes) -> None:
        """Judge a message of the server."""
        found = faults(self._methods.get(json.dumps(json.loads(data).get("id"))), data)
        assert not found, "\n".join([*found, data.decode()])


def answers(sent: bytes, received: bytes) -> list[Any]:
    """Every message of a server, judged and read, by what a client had sent it in lines."""
    conversation = Conversation()
    conversation.sent(sent + b"\n")
    lines = received.splitlines()
    for line in lines:
        conversation.received(line)
    return [json.loads(line) for line in lines]


def responses(sent: bytes, content_type: str, body: bytes) -> list[Any]:
    """Every message of a response, JSON or a stream of events, judged and read."""
    if not content_type.startswith("text/event-stream"):
        return answers(sent, body)
    events = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: ")]
    return answers(sent, b"\n".join(events))
