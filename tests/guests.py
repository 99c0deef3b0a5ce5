"""Guests: clients of the handshake era over HTTP, message by message, as raw requests to an application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hosted import COMMON, Post, Response
from mcprotocol.server.asgi import ASGIApp
from scaffolded import PATIENCE

NEWEST = "2025-11-25"
BARE = {"MCP-Protocol-Version": "", "Mcp-Method": "", "Mcp-Name": ""}
"""Leaves out what only 2026-07-28 has."""


def message(identity: object, method: str, **params: Any) -> bytes:
    """A request; without an id, a notification."""
    known = {} if identity is None else {"id": identity}
    return json.dumps({"jsonrpc": "2.0", **known, "method": method, "params": params}).encode()


def initialize(version: str = NEWEST, identity: object = 0, **capabilities: Any) -> bytes:
    """The first request of a client."""
    info = {"name": "guest", "version": "1"}
    return message(
        identity, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=info
    )


@dataclass(frozen=True)
class Event:
    """One event of a stream: its id, and its message unless it has none."""

    id: str
    message: Any
    retry: bool


def events(response: Response) -> list[Event]:
    """The events of a stream as far as it has come; comments are skipped."""
    found: list[Event] = []
    *blocks, rest = response.body.decode().split("\n\n")
    assert rest == ""
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            data = fields["data"]
            found.append(Event(fields.get("id", ""), json.loads(data) if data else None, "retry" in fields))
    return found


def messages(response: Response) -> list[Any]:
    """The messages of a response, whole or a stream."""
    if response.headers.get("content-type") != "text/event-stream":
        return [response.json()] if response.body else []
    return [event.message for event in events(response) if event.message is not None]


class Guest:
    """One client, whose requests carry what it was told at the beginning."""

    def __init__(
        self, application: ASGIApp, version: str = NEWEST, headers: Mapping[str, str] | None = None
    ) -> None:
        self.application = application
        self.version = version
        self.headers = {**BARE, **(headers or {})}

    async def open(self, **capabilities: Any) -> Any:
        """Begin a session; the result of the handshake."""
        answer = await self.post(initialize(self.version, **capabilities)).run()
        assert answer.status == 200, answer
        self.headers["MCP-Session-Id"] = answer.headers["mcp-session-id"]
        self.headers["MCP-Protocol-Version"] = self.version
        assert (await self.say(message(None, "notifications/initialized"))).status == 202
        return answer.json()["result"]

    def post(self, data: bytes, **headers: str) -> Post:
        """A POST that was not sent yet."""
        return Post(self.application, data, {**COMMON, **self.headers, **headers})

    def get(self, last: str = "") -> Post:
        """A GET that was not sent yet, for what comes after an event."""
        return Post(self.application, b"", {**self.headers, "Last-Event-ID": last}, method="GET")

    async def say(self, data: bytes, **headers: str) -> Response:
        """The whole response to a message."""
        return await within(self.post(data, **headers))

    async def ask(self, identity: object, method: str, **params: Any) -> Any:
        """The answer to a request."""
        return messages(await self.say(message(identity, method, **params)))[-1]

    def call(self, identity: object, tool: str, **arguments: Any) -> Post:
        """A call of a tool that was not sent yet."""
        return self.post(message(identity, "tools/call", name=tool, arguments=arguments))

    async def leave(self) -> Response:
        """End the session."""
        return await within(Post(self.application, b"", self.headers, method="DELETE"))


async def within(post: Post) -> Response:
    """The whole response to a request, which must not take for ever."""
    async with asyncio.timeout(PATIENCE):
        return await post.run()


async def soon(task: asyncio.Task[Response]) -> Response:
    """The whole response to a request that was sent, which must not take for ever."""
    async with asyncio.timeout(PATIENCE):
        return await task
