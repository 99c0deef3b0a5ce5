"""A client of the handshake era, message by message, and what its server may say: judged by the published facts alone.

Everything that is sent and heard is kept, so that the whole conversation can be judged as a record as well.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from emitted import ROOT
from jsonschema import Draft202012Validator
from mcprotocol.server import Server
from scaffolded import PATIENCE

from mcpcodegen.lower import lower
from mcpcodegen.pipeline import read
from mcpcodegen.validate import Validator

NEWEST = "2025-11-25"
VERSIONS = (NEWEST, "2025-06-18", "2025-03-26")
"""The revisions that a server answers, the newest first."""

EVERYTHING: Mapping[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {"listChanged": True},
}
"""The capabilities of a client that can be asked anything."""

FOREIGN = ("resultType", "ttlMs", "cacheScope", "inputRequests", "requestState")
"""Members of results that this era does not have: its schema admits any, so they are looked for by name."""

Message = dict[str, Any]


# What is sent.


def request(identity: object, method: str, /, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "method": method, **({"params": params} if params else {})}


def call(identity: object, tool: str, /, **arguments: Any) -> Message:
    return request(identity, "tools/call", name=tool, arguments=arguments)


def notice(method: str, /, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", **({"params": params} if params else {})}


def answer(asked: Message, /, **result: Any) -> Message:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def refusal(asked: Message, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": code, "message": message}}


def initialize(
    identity: object, version: str = NEWEST, capabilities: Mapping[str, Any] = EVERYTHING
) -> Message:
    info = {"name": "handshakes", "version": "1"}
    return request(
        identity, "initialize", protocolVersion=version, capabilities=dict(capabilities), clientInfo=info
    )


# What may be heard.


class Facts:
    """The definitions of one revision, and what each message of a server must be by them."""

    def __init__(self, version: str) -> None:
        document = json.loads((ROOT / f"schema/{version}.json").read_text(encoding="utf-8"))
        self._version = version
        self._place = "$defs" if "$defs" in document else "definitions"
        self._defs: Mapping[str, Any] = document[self._place]
        self._validators: dict[str, Any] = {}
        self._requests = self._methods("ServerRequest")
        self._notices = self._methods("ServerNotification")
        self._results = {
            method: (
                result if (result := f"{name.removesuffix('Request')}Result") in self._defs else "EmptyResult"
            )
            for method, name in self._methods("ClientRequest").items()
        }

    def _methods(self, union: str) -> dict[str, str]:
        names = [arm["$ref"].rpartition("/")[2] for arm in self._defs[union]["anyOf"]]
        return {self._defs[name]["properties"]["method"]["const"]: name for name in names}

    def faults(self, method: str | None, message: Message) -> list[str]:
        """What is wrong with one message; `method` is that of the request it answers, if it answers one."""
        if "method" in message:
            known = self._requests if "id" in message else self._notices
            return [*self._faults(known.get(message["method"], "a message of a server"), message)]
        if "error" in message:
            # An error about a message without a readable id has none: only the newest revision has a place for that.
            if "id" not in message and self._version != NEWEST:
                return []
            return [*self._faults(self._named("JSONRPCErrorResponse", "JSONRPCError"), message)]
        found = [*self._faults(self._named("JSONRPCResultResponse", "JSONRPCResponse"), message)]
        found += self._faults(self._results.get(method or "", "the result of a request"), message["result"])
        return found + [f"{name} is of another era" for name in FOREIGN if name in message["result"]]

    def _named(self, *names: str) -> str:
        return next(name for name in names if name in self._defs)

    def _faults(self, name: str, value: Any) -> Iterator[str]:
        if name not in self._defs:
            yield f"{json.dumps(value)} is not {name}"
            return
        if name not in self._validators:
            schema = {"$ref": f"#/{self._place}/{name}", self._place: self._defs}
            self._validators[name] = Draft202012Validator(schema)
        for error in self._validators[name].iter_errors(value):
            yield f"{name}{error.json_path[1:]}: {error.message}"


facts = cache(Facts)


@cache
def recorder(version: str) -> Validator:
    document = read(revision=version)
    return Validator(document, lower(document))


class Record:
    """What was said in one conversation, in order; each message of the server is judged as it comes."""

    def __init__(self, version: str = NEWEST) -> None:
        self._facts = facts(version)
        self._version = version
        self._methods: dict[str, str] = {}
        self._lines: list[str] = []

    def sent(self, message: Message) -> None:
        """Note what the client has sent."""
        self._lines.append(json.dumps(message))
        if "method" in message and "id" in message:
            self._methods[json.dumps(message["id"])] = message["method"]

    def heard(self, message: Message) -> None:
        """Judge what the server has said."""
        self._lines.append(json.dumps(message))
        found = self._facts.faults(self._methods.get(json.dumps(message.get("id"))), message)
        assert not found, "\n".join([*found, json.dumps(message)])

    def judge(self) -> None:
        """Judge the conversation as a whole, as `mcp-codegen validate` does: the client's part in it too."""
        found = [*recorder(self._version).conversation("\n".join(self._lines))]
        assert not found, "\n".join([*map(str, found), *self._lines])


class Talk:
    """A conversation with a server in this process."""

    def __init__(self, server: Server, version: str = NEWEST) -> None:
        self.record = Record(version)
        self.heard: list[Message] = []
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._conversation = server.converse(self._messages.put_nowait)
        self._tasks: list[asyncio.Task[None]] = []

    async def send(self, message: Message) -> None:
        """Send one message, and let the server begin with it."""
        self.record.sent(message)
        await self.send_bytes(json.dumps(message).encode())

    async def send_bytes(self, data: bytes) -> None:
        """Send a line, whatever it is; it is no part of the record."""
        self._tasks.append(asyncio.get_running_loop().create_task(self._handle(data)))
        await asyncio.sleep(0)

    async def receive(self) -> Message:
        """The next message of the server, of this era."""
        message: Message = await self.receive_any()
        self.record.heard(message)
        return message

    async def receive_any(self) -> Any:
        """The next line of the server, of whatever era, read."""
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self._messages.get())

    async def ask(self, message: Message) -> Message:
        """Send a request and return its answer; what comes before it is kept in `heard`."""
        await self.send(message)
        while True:
            heard = await self.receive()
            if "method" not in heard and heard.get("id") == message["id"]:
                return heard
            self.heard.append(heard)

    async def open(self, version: str = NEWEST, capabilities: Mapping[str, Any] = EVERYTHING) -> Message:
        """Shake hands; returns what the server said of itself."""
        result: Message = (await self.ask(initialize("hello", version, capabilities)))["result"]
        await self.send(notice("initialized"))
        return result

    async def silent(self) -> bool:
        """Whether the server says nothing more, once all that it can do by now is done."""
        for _ in range(20):
            await asyncio.sleep(0)
        return self._messages.empty()

    async def end(self) -> list[Any]:
        """End the input; returns what the server still says."""
        self._conversation.close()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._tasks)
        return [await self.receive_any() for _ in range(self._messages.qsize())]

    async def _handle(self, data: bytes) -> None:
        reply = await self._conversation.handle(data, self._messages.put)
        if reply is not None:
            self._messages.put_nowait(reply)
