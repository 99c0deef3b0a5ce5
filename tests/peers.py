"""Scripted peers: what each says to a message, in raw bytes, whether in lines of a pipe or in events of a stream."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

Message: TypeAlias = Mapping[str, Any]

Say: TypeAlias = Callable[[Message], Iterable[bytes]]
"""What is said to one message, piece by piece; a peer may say nothing, and what was not asked for."""

DEEP: Final = b"[" * 5000 + b"]" * 5000

UNREADABLE: Final[dict[str, bytes]] = {
    "no number": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":NaN}}',
    "no number, at the top": b'{"jsonrpc":"2.0","result":-Infinity,"id":ID}',
    "a number that no float holds": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":1e999}}',
    "too many digits": b'{"jsonrpc":"2.0","result":{"content":[],"a":%b},"id":ID}' % (b"9" * 5000),
    "too deep": b'{"jsonrpc":"2.0","result":{"content":[],"a":%b},"id":ID}' % DEEP,
    "half a surrogate pair": rb'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ud800"}]}}',
    "no text": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}',
    "a bare tab": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\tb"}]}}',
    "a comma too many": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],}}',
    "cut off": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"two',
    "something behind": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]}};',
    "two at once": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}{"jsonrpc":"2.0","method":"notifications/x"}',
    "a mark of byte order": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}',
    "no result": b'{"jsonrpc":"2.0","id":ID}',
    "null": b'{"jsonrpc":"2.0","id":ID,"result":null}',
    "a list": b'{"jsonrpc":"2.0","id":ID,"result":[{"content":[]}]}',
    "an error in words": b'{"jsonrpc":"2.0","id":ID,"error":"because"}',
    "an error without a code": b'{"jsonrpc":"2.0","id":ID,"error":{"message":"because"}}',
    "an error without words": b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32603}}',
    "not what the method gives": b'{"jsonrpc":"2.0","id":ID,"result":{"contents":[]}}',
    "of no known type": b'{"jsonrpc":"2.0","id":ID,"result":{"resultType":"x","content":[]}}',
    "a question of nothing": b'{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required"}}',
}
"""Answers that cannot be read, of which can be told to which request they belong: `ID` stands for its id."""

NOISE: Final[dict[str, bytes]] = {
    "words": b"Welcome to the server!",
    "bytes": b"\xff\xfe\x00",
    "a log that quotes an answer": b'DEBUG sending {"jsonrpc":"2.0","id":ID,"result":NaN}',
    "a log in JSON": b'{"level":30,"id":ID,"msg":"sent","error":"none"}',
    "a request": b'{"jsonrpc":"2.0","id":ID,"method":"roots/list"}',
    "a request that cannot be read": b'{"jsonrpc":"2.0","id":ID,"method":"roots/list","params":{"a":NaN}}',
    "a request with params that are none": b'{"jsonrpc":"2.0","id":ID,"method":"roots/list","params":[]}',
    "a message with a method that is none": b'{"jsonrpc":"2.0","id":ID,"method":5,"result":{}}',
    "an answer to another": b'{"jsonrpc":"2.0","id":9999,"result":{"content":[]}}',
    "an answer to a text": b'{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}',
    "an unreadable answer to another": b'{"jsonrpc":"2.0","id":9999,"result":NaN}',
    "an unreadable answer to a text": b'{"jsonrpc":"2.0","id":"ID","result":NaN}',
    "an unreadable answer to a fraction": b'{"jsonrpc":"2.0","id":ID.5,"result":NaN}',
    "an unreadable answer to nobody": b'{"jsonrpc":"2.0","id":null,"result":NaN}',
    "an answer to nobody": b'{"jsonrpc":"2.0","id":null,"result":{"content":[]}}',
    "a batch": b'[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]',
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}',
    "a notification that cannot be read": b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":NaN}}',
    "progress of nothing": b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}',
    "a cancellation": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}',
    "a cancellation of nothing": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
}
"""What is no answer to the request with this id, however much it looks like one."""


def numbered(text: bytes, message: Message) -> bytes:
    return text.replace(b"ID", json.dumps(message["id"]).encode())


def result(message: Message, **members: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", **members}}
    return json.dumps(body).encode()


def content(message: Message, value: Any = None) -> bytes:
    """The result of a tool that gives a value."""
    return result(message, content=[], structuredContent=value)


def odd() -> Say:
    """Answers a call of a tool by what its name says, and before one called `echo` says what is no answer to it."""

    def say(message: Message) -> Iterable[bytes]:
        if "id" not in message or message["params"]["name"] == "never":
            return
        name = message["params"]["name"]
        if name in UNREADABLE:
            yield numbered(UNREADABLE[name], message)
        else:
            yield from (numbered(noise, message) for noise in NOISE.values())
            yield content(message, name)

    return say


QUESTION: Final[dict[str, Any]] = {
    "q": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}
}  # fmt: skip

ROUNDS: Final[list[dict[str, Any]]] = [
    {"requestState": ""},
    {"inputRequests": QUESTION},
    {"requestState": '{"x": "\u2028ü\\n"} '},
    {"inputRequests": QUESTION, "requestState": "0"},
]
"""What a call is answered with, one round after the other."""


def rounds() -> Say:
    """Asks in each round for something else, and in the end gives the id and the params of each request."""
    asked: list[Any] = []

    def say(message: Message) -> Iterable[bytes]:
        params = {name: value for name, value in message["params"].items() if name != "_meta"}
        asked.append([message["id"], params])
        if params["name"] == "endless":
            yield result(message, resultType="input_required", requestState="again")
        elif len(asked) <= len(ROUNDS):
            yield result(message, resultType="input_required", **ROUNDS[len(asked) - 1])
        else:
            yield content(message, [*asked])

    return say


def listing(url: str = "") -> Say:
    """Lists tools with good and bad output schemas, one of which refers to a URL; each call gives what it was given."""
    schemas: dict[str, Any] = {
        "local": {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "number"}}},
        "dangling": {"$ref": "#/$defs/gone"},
        "list": {"type": "array"},
        "any": {"type": ["array", "integer", "boolean"]},
        "far": {"$ref": url},
    }
    tools = [
        {"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema}
        for name, schema in schemas.items()
    ]

    def say(message: Message) -> Iterable[bytes]:
        if message["method"] == "tools/list":
            yield result(message, tools=tools, ttlMs=0, cacheScope="private")
        else:
            yield content(message, message["params"]["arguments"]["value"])

    return say


PEERS: Final[Mapping[str, Callable[..., Say]]] = {"odd": odd, "rounds": rounds, "listing": listing}


def main(name: str, *options: str) -> None:
    say = PEERS[name](*options)
    for line in sys.stdin.buffer:
        for piece in say(json.loads(line)):
            sys.stdout.buffer.write(piece + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
