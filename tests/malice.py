"""Messages that no good client sends, each with what a server owes for it.

The oracle is the json module of Python and what the generator knows of its own work: no code of ours has a say.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

META: Final[dict[str, Any]] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

PARSE, REQUEST, METHOD, PARAMS, VERSION = -32700, -32600, -32601, -32602, -32022

ANY_ERROR: Final = (PARSE, REQUEST, METHOD, PARAMS, VERSION, -32021)

Codes: TypeAlias = tuple[int | None, ...]
"""What may come back: codes of errors, and None for a result."""


@dataclass(frozen=True)
class Owed:
    """One answer: `identity` is the JSON text of its id, None when it can have none."""

    identity: str | None
    codes: Codes


@dataclass(frozen=True)
class Message:
    """What is sent, and the answer to it; None when there must be none."""

    data: bytes
    owed: Owed | None
    kind: str = ""


def messages(seed: int, count: int, limit: int) -> Iterator[Message]:
    """So many messages, the same for the same seed; a few are longer than `limit` bytes."""
    maker = Maker(seed, limit)
    return (maker.message() for _ in range(count))


class Maker:
    """Makes one message after the other."""

    def __init__(self, seed: int, limit: int) -> None:
        self.chance = random.Random(seed)
        self.limit = limit
        self.number = 0
        self.kinds: list[Callable[[], Message]] = [
            *(self.good, self.refused, self.mutated, self.truncated, self.no_message, self.deep),
            *(
                self.unheld,
                self.twice,
                self.reordered,
                self.no_id,
                self.notice,
                self.answer,
                self.damaged_meta,
            ),
        ]

    def message(self) -> Message:
        """One message, of any kind; one in fifty is too long."""
        kind = self.oversized if self.chance.random() < 0.02 else self.chance.choice(self.kinds)
        return replace(kind(), kind=kind.__name__)

    # What the messages are made of.

    def identity(self) -> int | str:
        """An id that no other message has: numbers and texts that look alike among them."""
        self.number += 1
        number = self.number
        alike: list[int | str] = [number, str(number), -number, f"0{number}", f"{number}.0"]
        odd: list[int | str] = [f"ü🎉 {number}", (1 << 70) + number, f'"\\\n{number}', f"null {number}"]
        return self.chance.choice(alike + odd)

    def request(self, method: str | None = None, **params: Any) -> dict[str, Any]:
        known: dict[str, dict[str, Any]] = {
            "server/discover": {},
            "tools/list": {},
            "resources/templates/list": {},
            "tools/call": {"name": "echo", "arguments": {"text": "a"}},
            "prompts/get": {"name": "greeting", "arguments": {"name": "Ann"}},
            "resources/read": {"uri": "note://a"},
        }
        method = method or self.chance.choice(list(known))
        body = {"_meta": META, **known.get(method, {}), **params}
        return {"jsonrpc": "2.0", "id": self.identity(), "method": method, "params": body}

    def made(self, message: Any, owed: Owed | None) -> Message:
        return Message(json.dumps(message, ensure_ascii=self.chance.random() < 0.5).encode(), owed)

    # The kinds.

    def good(self) -> Message:
        """A request in order."""
        message = self.request()
        return self.made(message, Owed(text(message["id"]), (None,)))

    def refused(self) -> Message:
        """A request in order, for something that is not to be had."""
        message, codes = self.chance.choice(
            [
                (self.request("no/such"), (METHOD,)),
                (self.request("initialize"), (METHOD,)),
                (self.request("completion/complete", ref={}), (METHOD,)),
                (self.request("tools/call", name="nothing"), (PARAMS,)),
                (self.request("tools/call", name=5), (PARAMS,)),
                (self.request("tools/call", arguments=[]), (PARAMS,)),
                (self.request("tools/call", arguments={"text": 1}), (None,)),
                (self.request("tools/call", name="fail"), (None,)),
                (self.request("tools/list", cursor="nowhere"), (PARAMS,)),
                (self.request("tools/call", requestState="forged", inputResponses={}), (None, PARAMS)),
                (self.request("subscriptions/listen", notifications=1), (PARAMS,)),
                (self.request("prompts/get", arguments={}), (PARAMS,)),
                (self.request("resources/read", uri="none://a"), (PARAMS,)),
            ]
        )
        return self.made(message, Owed(text(message["id"]), codes))

    def damaged_meta(self) -> Message:
        """A request whose metadata lacks something or has it wrong."""
        message = self.request()
        key = self.chance.choice(list(META))
        wrong: dict[str, Any] = {**META, key: self.chance.choice([None, [], 1, True, {"a": "b"}, "v999"])}
        missing = {name: value for name, value in META.items() if name != key}
        message["params"]["_meta"] = self.chance.choice([wrong, missing, {}, None, [], "x"])
        given = message["params"]["_meta"]
        fine = given == {**META, "io.modelcontextprotocol/clientCapabilities": {"a": "b"}}
        return self.made(message, Owed(text(message["id"]), (None,) if fine else (PARAMS, VERSION)))

    def mutated(self) -> Message:
        """A request with some bytes that are others, are gone or came in between."""
        data = bytearray(self.request_bytes())
        for _ in range(self.chance.randrange(1, 4)):
            place = self.chance.randrange(len(data))
            # A line feed would make two lines of it, and blanks around it are not part of a line.
            byte = self.chance.choice([*range(1, 10), *range(14, 256)])
            # One byte becomes another one, goes away, or gets one before it.
            put, taken = self.chance.choice([(bytes([byte]), 1), (b"", 1), (bytes([byte]), 0)])
            data[place : place + taken] = put
        return judged(bytes(data))

    def truncated(self) -> Message:
        """The beginning of a request, which is no JSON however much there is of it."""
        data = self.request_bytes()
        return Message(data[: self.chance.randrange(1, len(data))], Owed(None, (PARSE,)))

    def no_message(self) -> Message:
        """JSON or nearly so, and no object of the right kind."""
        nothing = [
            b"null",
            b"1",
            b'"text"',
            b"[]",
            b"[1]",
            b"[" + self.request_bytes() + b"]",
            b"{}",
            b"true",
        ]
        broken = [b"}", b"{", b"NaN", b'{"id":NaN}', b"\xef\xbb\xbf{}", b"\x00", b"not json", b"'{}'", b"{,}"]
        if self.chance.random() < 0.5:
            return Message(self.chance.choice(nothing), Owed(None, (REQUEST,)))
        return Message(self.chance.choice(broken), Owed(None, (PARSE,)))

    def deep(self) -> Message:
        """A request or a notification with values inside of values inside of values."""
        depth = self.chance.choice([150, 300, 2000, 4000])
        inner = self.chance.choice(
            [
                b"[" * depth + b"]" * depth,
                b'{"a":' * depth + b"1" + b"}" * depth,
                b'[{"]":' * depth + b"[]" + b"}]" * depth,
            ]
        )
        return self.around(inner, (PARAMS, REQUEST, None))

    def unheld(self) -> Message:
        """JSON that hardly anything can hold: half a surrogate pair, a number of thousands of digits."""
        inner = self.chance.choice(
            [rb'"\ud800"', rb'"\udc00 "', rb'"\ud83d\u0041"', b"9" * 5000, b"1e999", b"-1e999"]
        )
        return self.around(inner, (PARAMS, REQUEST, None))

    def around(self, inner: bytes, codes: Codes) -> Message:
        """A message around a piece of JSON, with its id before or behind it, or without."""
        message = self.request("tools/call", arguments={"text": "a", "more": "INNER"})
        if self.chance.random() < 0.3:
            notice = {"jsonrpc": "2.0", "method": "notifications/any", "params": {"_meta": {"a": "INNER"}}}
            return Message(json.dumps(notice).encode().replace(b'"INNER"', inner), None)
        ordered = self.shuffled(message)
        data = json.dumps(ordered).encode().replace(b'"INNER"', inner)
        return Message(data, Owed(text(message["id"]), codes))

    def twice(self) -> Message:
        """A request with a member that comes twice: the last one counts."""
        first, message = self.request(), self.request()
        name = self.chance.choice(["id", "method", "params", "jsonrpc"])
        wrong: dict[str, Any] = {"id": [], "method": 1, "params": [], "jsonrpc": "1.0"}
        before = json.dumps({name: self.chance.choice([first[name], wrong[name]])}).encode()
        data = before[:-1] + b"," + json.dumps(message).encode()[1:]
        return Message(data, Owed(text(message["id"]), (None,)))

    def reordered(self) -> Message:
        """A request in order, whose members are not, with blanks and members that mean nothing."""
        message = self.request()
        message["params"] = self.shuffled({**message["params"], "x": [None, {"id": 1}]})
        data = json.dumps(self.shuffled({**message, "extra": {"id": 5, "method": "x"}, "Id": 7})).encode()
        blanks = self.chance.choice([b"", b" ", b"\t \r", b" " * 500])
        return Message(blanks + data + blanks, Owed(text(message["id"]), (None,)))

    def no_id(self) -> Message:
        """A request with an id that is none."""
        identity = self.chance.choice([None, True, 1.5, 1.0, 1e3, [], {}, [1], {"a": 1}])
        return self.made({**self.request(), "id": identity}, Owed(None, (REQUEST,)))

    def notice(self) -> Message:
        """A notification, of a kind that exists or not, in order or not; one that cancels names nothing here."""
        method = self.chance.choice(
            [
                "notifications/cancelled",
                "notifications/progress",
                "notifications/x",
                "x",
                "",
                "tools/call",
                "ping",
            ]
        )
        params: Any = self.chance.choice(
            [
                None,
                [],
                1,
                "x",
                {},
                {"requestId": 0},
                {"requestId": None},
                {"requestId": [1]},
                {"requestId": "?"},
                {"progressToken": 0},
            ]
        )
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        return self.made(self.shuffled(message), None)

    def answer(self) -> Message:
        """An answer to what nobody asked."""
        body: dict[str, Any] = self.chance.choice(
            [{"result": {}}, {"error": {"code": 1, "message": "no"}}, {"result": None}]
        )
        return self.made({"jsonrpc": "2.0", "id": self.identity(), **body}, Owed(None, (REQUEST,)))

    def oversized(self) -> Message:
        """A request, or anything else, that is longer than the server takes."""
        size = self.limit * self.chance.choice([1, 2, 8]) + 1
        data = self.request_bytes() if self.chance.random() < 0.5 else b"x"
        return Message(data + self.chance.choice([b" ", b"x"]) * size, Owed(None, (REQUEST,)))

    def request_bytes(self) -> bytes:
        return json.dumps(self.request(), ensure_ascii=self.chance.random() < 0.5).encode()

    def shuffled(self, members: dict[str, Any]) -> dict[str, Any]:
        names = list(members)
        self.chance.shuffle(names)
        return {name: members[name] for name in names}


def judged(data: bytes) -> Message:
    """A message whose owed answer is read off it."""
    try:
        value: Any = json.loads(data.decode(), parse_constant=_no_json)
    except ValueError:
        return Message(data, Owed(None, (PARSE,)))
    if not isinstance(value, dict):
        return Message(data, Owed(None, (REQUEST,)))
    message = cast(dict[str, Any], value)
    identity = message.get("id")
    answer = "method" not in message and ("result" in message or "error" in message)
    if isinstance(identity, (int, str)) and not isinstance(identity, bool) and not answer and whole(identity):
        return Message(data, Owed(text(identity), (*ANY_ERROR, None)))
    notice = (
        "id" not in message and message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    )
    return Message(data, None if notice else Owed(None, ANY_ERROR))


def whole(identity: int | str) -> bool:
    """Whether an id can be written at all: half a surrogate pair cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in str(identity))


def text(identity: object) -> str:
    """An id as JSON, which tells 1 from "1"."""
    return json.dumps(identity)


def owed(answer: dict[str, Any]) -> tuple[str | None, int | None]:
    """What an answer is: its id as JSON, and the code of its error."""
    identity = text(answer["id"]) if "id" in answer else None
    return identity, answer["error"]["code"] if "error" in answer else None


def _no_json(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
