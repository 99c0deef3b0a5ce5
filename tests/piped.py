"""Rows of a table of rules, and what it takes to play one over a real pipe.

A row says what is sent and all that must come back: what it does not name must not come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mcpcodegen.ir import is_array, is_object
from scaffolded import META, Process

TAG: Final = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
LEVEL: Final = "io.modelcontextprotocol/logLevel"
VERSION: Final = "io.modelcontextprotocol/protocolVersion"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

Message: TypeAlias = dict[str, Any] | bytes
"""What is sent: a message, or the bytes of a line that is none."""


# What is sent.


def metadata(capabilities: Any = None, **more: Any) -> dict[str, Any]:
    """The metadata of a request, with what the client can be asked."""
    return {**META, CAPABILITIES: capabilities or {}, **more}


def request(identity: object, method: str, /, meta: Any = META, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": {"_meta": meta, **params}}


def call(
    identity: object, tool: str, /, meta: Any = META, *, again: Any = None, **arguments: Any
) -> dict[str, Any]:
    """A call of a tool; `again` has the members of a later round."""
    return request(identity, "tools/call", meta, name=tool, arguments=arguments, **(again or {}))


def listen(identity: object, meta: Any = META, /, **wanted: Any) -> dict[str, Any]:
    return request(identity, "subscriptions/listen", meta, notifications=wanted)


def cancel(identity: object, **more: Any) -> dict[str, Any]:
    params = {"requestId": identity, **more}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


# What comes back.


class Absent:
    """Stands for a member that must not be there."""


ABSENT: Final = Absent()


@dataclass(frozen=True)
class Some:
    """One message or several of the same kind."""

    pattern: Any


def fits(pattern: Any, value: Any) -> bool:
    """Whether a value is what a pattern says: objects may have more members, all else is exact, types too."""
    if callable(pattern):
        return bool(pattern(value))
    if is_object(pattern):
        return is_object(value) and all(
            name not in value if part is ABSENT else name in value and fits(part, value[name])
            for name, part in pattern.items()
        )
    if is_array(pattern):
        return is_array(value) and len(pattern) == len(value) and all(map(fits, pattern, value))
    return type(pattern) is type(value) and pattern == value


def exactly(expected: Any) -> Callable[[Any], bool]:
    """Nothing else, not even another member."""
    return lambda value: json.dumps(value, sort_keys=True) == json.dumps(expected, sort_keys=True)


def answer(identity: object, **members: Any) -> dict[str, Any]:
    """A complete result."""
    return {"id": identity, "result": {"resultType": "complete", **members}}


def said(identity: object, text: object) -> dict[str, Any]:
    """The result of a tool that went well."""
    return answer(identity, content=[{"type": "text", "text": text}], isError=ABSENT)


def refusal(identity: object, code: int, **members: Any) -> dict[str, Any]:
    return {"id": identity, "error": {"code": code, **members}}


def asked(identity: object, **requests: Any) -> dict[str, Any]:
    """A result that asks for these inputs, and for no others."""
    named = all_named(requests) if requests else ABSENT
    hints = {"ttlMs": ABSENT, "cacheScope": ABSENT}
    return {"id": identity, "result": {"resultType": "input_required", "inputRequests": named, **hints}}


def all_named(requests: Mapping[str, Any]) -> Callable[[Any], bool]:
    return lambda value: fits(dict(requests), value) and len(value) == len(requests)


def notice(method: str, /, **params: Any) -> dict[str, Any]:
    return {"method": f"notifications/{method}", "id": ABSENT, "params": params}


def tagged(method: str, identity: object, /, **params: Any) -> dict[str, Any]:
    """A notification of a subscription."""
    return notice(method, _meta={TAG: identity}, **params)


def acknowledged(identity: object, **honoured: Any) -> dict[str, Any]:
    return tagged("subscriptions/acknowledged", identity, notifications=exactly(honoured))


# Rows.

Heard: TypeAlias = list[dict[str, Any]]
"""The messages that have come so far."""

Turn: TypeAlias = "Sequence[Message] | Callable[[Heard], Sequence[Message]]"
"""What is sent at once, which may depend on what was heard before."""


@dataclass(frozen=True)
class Wait:
    """A turn in which nothing is sent, until a message like this has come."""

    pattern: Any


@dataclass(frozen=True)
class Row:
    """What is sent, turn by turn, and all that comes back.

    A turn is over when its requests are answered and its subscriptions are acknowledged. Requests with the ids in
    `silent` are not waited for. What comes is in the order of `came` only when it is
    `ordered`. A row that `ends` closes the input, and has a process of its own.
    """

    rules: str
    what: str
    turns: Sequence[Turn | Wait]
    came: Sequence[Any]
    server: str = "everything"
    silent: Sequence[object] = ()
    ordered: bool = False
    ends: bool = False


def result(heard: Heard, identity: object) -> dict[str, Any]:
    """The result that was heard for a request."""
    found: dict[str, Any] = next(one["result"] for one in reversed(heard) if same(one.get("id"), identity))
    return found


def same(one: object, other: object) -> bool:
    """Whether two ids are the same: 1 is not "1"."""
    return type(one) is type(other) and one == other


Framing: TypeAlias = Callable[[Sequence[bytes]], Sequence[bytes]]
"""How lines become the pieces that are written."""

FRAMINGS: Final[dict[str, Framing]] = {
    "a message in a write": lambda lines: [line + b"\n" for line in lines],
    "all in one write, with carriage returns": lambda lines: [b"".join(line + b"\r\n" for line in lines)],
    "torn into small pieces, and blank lines": lambda lines: torn(b"\n".join([b"", *lines, b" ", b""])),
}


def torn(data: bytes) -> list[bytes]:
    return [data[start : start + 13] for start in range(0, len(data), 13)]


@dataclass
class Stage:
    """Where one row is played."""

    process: Process
    framing: Framing
    heard: Heard = field(default_factory=lambda: [])
    due: list[object] = field(default_factory=lambda: [])
    listening: list[object] = field(default_factory=lambda: [])

    def play(self, row: Row, marker: str) -> None:
        """Send all, and hear all that comes of it before the answer to a last request."""
        for turn in row.turns:
            if isinstance(turn, Wait):
                while not any(fits(turn.pattern, one) for one in self.heard):
                    self._hear()
                continue
            messages = turn(self.heard) if callable(turn) else turn
            self._send(messages)
            self._owe(messages, row.silent)
            while self.due:
                self._hear()
        if row.ends:
            assert self.process.close() == 0
            self._rest()
        else:
            self._send([*map(cancel, self.listening), request(marker, "server/discover")])
            while self._hear().get("id") != marker:
                pass
            self.heard.pop()

    def _send(self, messages: Sequence[Message]) -> None:
        lines = [
            one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode()
            for one in messages
        ]
        for piece in self.framing(lines):
            self.process.send(piece)

    def _owe(self, messages: Sequence[Message], silent: Sequence[object]) -> None:
        for one in messages:
            # What is no message is answered without an id, and counted with what must have come in the end.
            if isinstance(one, bytes) or "method" not in one or "id" not in one:
                continue
            if not any(same(one["id"], other) for other in silent):
                self.due.append(one["id"])

    def _hear(self) -> dict[str, Any]:
        message = self.process.answer()
        self.heard.append(message)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        assert not {"id", "method"} <= message.keys(), "a server asks nothing"
        meta = message.get("params", message.get("result", {})).get("_meta", {})
        if message.get("method") == ACKNOWLEDGED:
            assert not any(same(meta[TAG], one) for one in self.listening)
            self.listening.append(meta[TAG])
            self._settle(meta[TAG])
        elif TAG in meta:
            assert any(
                same(meta[TAG], one) for one in self.listening
            ), "nothing goes before the acknowledgement"
        if "id" in message:
            self._settle(message["id"])

    def _settle(self, identity: object) -> None:
        index = next((index for index, one in enumerate(self.due) if same(one, identity)), None)
        if index is not None:
            del self.due[index]

    def _rest(self) -> None:
        while not self.process.silent():
            self._hear()


def compare(row: Row, heard: Heard) -> None:
    """Each message is one that the row names, each that it names has come, and where order counts it is the same."""
    open_ = list(enumerate(row.came))
    places: list[int] = []
    for message in heard:
        found = next((one for one in open_ if fits(_pattern(one[1]), message)), None)
        assert found is not None, f"came unasked: {json.dumps(message, ensure_ascii=False)}"
        places.append(found[0])
        if not isinstance(found[1], Some):
            open_.remove(found)
    missing = [pattern for place, pattern in enumerate(row.came) if place not in places]
    assert not missing, f"did not come: {missing}"
    assert not row.ordered or places == sorted(places), "came in another order"


def _pattern(wanted: Any) -> Any:
    return wanted.pattern if isinstance(wanted, Some) else wanted
