"""Our client as the visitor of a foreign server: it plays each verb and says what became of it.

The servers have the same offers under the same names, as far as they go.
"""

# Sampling, roots and logging are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from foreign import Server, Transport, connected
from mcprotocol.client import Client, Missed
from mcprotocol.errors import McpError
from mcprotocol.latest import types

SECONDS: Final = 60.0
"""How long a verb may take."""

WORDS: Final = {"name": "Ann", "color": "red", "context": "the sea"}
"""What the user puts into a form, by member."""


@dataclass
class Visit:
    """A client that is connected to a server, and its user."""

    client: Client
    user: User
    lasting: str
    file: Path

    async def text(self, tool: str, **arguments: Any) -> str:
        """What a tool says."""
        return text(await self.client.call_tool(tool, arguments))

    def noticed(self) -> list[str]:
        """The methods of the requests that the server has seen cancelled."""
        return self.file.read_text(encoding="utf-8").split() if self.file.exists() else []


@dataclass
class User:
    """Who answers what the server asks."""

    willing: bool = True

    def fill(self, form: types.ElicitRequestFormParams) -> types.ElicitResult:
        """Fill in a form, or decline."""
        if not self.willing:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(
            action="accept", content={name: WORDS[name] for name in form.requested_schema.properties}
        )


def speak(asked: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    """Be a model of two words."""
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(text="Good day"), model="none"
    )


def roots() -> list[types.Root]:
    """The roots of the user."""
    return [types.Root(uri="file:///home")]


def text(result: types.CallToolResult | types.GetPromptResult) -> str:
    """The text in a result of one part."""
    parts = result.content if isinstance(result, types.CallToolResult) else [result.messages[0].content]
    (part,) = parts
    assert isinstance(part, types.TextContent)
    return part.text


async def code(refused: Awaitable[object]) -> int | None:
    """The code of the error that a request is refused with; None when it is answered."""
    try:
        await refused
    except McpError as error:
        return error.code
    return None


async def discover(visit: Visit) -> Any:
    found = await visit.client.discover()
    return {"versions": found.supported_versions, "capabilities": found.capabilities.model_dump()}


async def list_all(visit: Visit) -> Any:
    client = visit.client
    tools = {tool.name: tool async for tool in client.tools()}
    return {
        "tools": len(tools),
        "header": tools["test_x_mcp_header"].input_schema["properties"]["region"]["x-mcp-header"],
        "resources": [one.uri async for one in client.resources()],
        "templates": [one.uri_template async for one in client.resource_templates()],
        "prompts": {
            one.name: [argument.name for argument in one.arguments or ()] async for one in client.prompts()
        },
    }


async def call(visit: Visit) -> Any:
    mixed = await visit.client.call_tool("test_multiple_content_types")
    return {
        "text": await visit.text("test_simple_text"),
        "structured": await visit.client.call_tool("test_simple_text", returns=dict[str, str]),
        "mixed": [part.type for part in mixed.content],
        "header": await visit.text("test_x_mcp_header", region="東京"),
        "failed": (await visit.client.call_tool("test_error_handling")).is_error,
    }


async def call_nothing(visit: Visit) -> Any:
    return await code(visit.client.call_tool("nothing"))


async def read(visit: Visit) -> Any:
    async def contents(uri: str) -> Any:
        (one,) = (await visit.client.read_resource(uri)).contents
        return one

    return {
        "text": (await contents("test://static-text")).text,
        "binary": (await contents("test://static-binary")).blob[:8],
        "template": (await contents("test://template/7/data")).uri,
        "unknown": await code(visit.client.read_resource("test://nowhere")),
    }


async def get(visit: Visit) -> Any:
    arguments = {"arg1": "one", "arg2": "two"}
    return {
        "simple": text(await visit.client.get_prompt("test_simple_prompt")),
        "arguments": text(await visit.client.get_prompt("test_prompt_with_arguments", arguments)),
    }


async def complete(visit: Visit) -> Any:
    prompt = await visit.client.complete("arg1", "test", prompt="test_prompt_with_arguments")
    template = await visit.client.complete("id", "test", resource="test://template/{id}/data")
    return {"prompt": prompt.completion.model_dump(), "template": template.completion.model_dump()}


async def elicit(visit: Visit) -> Any:
    return {
        "one": await visit.text("test_input_required_result_elicitation"),
        "several": await visit.text("test_input_required_result_multiple_inputs"),
        "rounds": await visit.text("test_input_required_result_multi_round"),
        "prompt": text(await visit.client.get_prompt("test_input_required_result_prompt")),
    }


async def decline(visit: Visit) -> Any:
    visit.user.willing = False
    try:
        return await visit.text("test_input_required_result_elicitation")
    finally:
        visit.user.willing = True


async def progress(visit: Visit) -> Any:
    told: list[types.ProgressNotificationParams] = []
    await visit.client.call_tool("test_tool_with_progress", progress=told.append)
    return [(one.progress, one.total, one.message) for one in told]


async def hear_messages(visit: Visit) -> Any:
    told: list[types.LoggingMessageNotificationParams] = []
    await visit.client.call_tool("test_logging_tool", messages=told.append)
    return [(one.level, one.data) for one in told]


async def cancel(visit: Visit) -> Any:
    """Leave a call that is under way; where the server was quicker, leave another, until it has noticed one."""
    while "tools/call" not in visit.noticed():
        await leave(visit.client, visit.lasting)
        await asyncio.sleep(0.1)
    return await visit.text("test_simple_text")


async def leave(client: Client, tool: str) -> None:
    """Call a tool, and cancel the call when it has told of progress."""

    def give_up(_: types.ProgressNotificationParams) -> None:
        called.cancel()

    called = asyncio.create_task(client.call_tool(tool, progress=give_up))
    await asyncio.wait([called])


async def listen(visit: Visit) -> Any:
    triggers = ("test_trigger_tool_change", "test_trigger_prompt_change")
    return await hear(visit, triggers, tools=True, prompts=True)


async def listen_to_resources(visit: Visit) -> Any:
    return await hear(visit, ["test_trigger_resource_change"], resources=["test://static-text"])


async def hear(visit: Visit, triggers: Collection[str], **asked: Any) -> Any:
    """What is granted, and the changes that are told when tools have made them, each once."""
    heard: set[str] = set()
    async with visit.client.listen(**asked) as changes:
        for trigger in triggers:
            await visit.client.call_tool(trigger)
        while len(heard) < len(triggers):
            change = await changes.next()
            assert change is not None and not isinstance(change, Missed)
            heard.add(change.method)
        return {"granted": changes.granted.model_dump(), "heard": sorted(heard)}


Play: TypeAlias = Callable[[Visit], Awaitable[Any]]

VERBS: Final[Mapping[str, Play]] = {
    "discover": discover,
    "list": list_all,
    "call": call,
    "call nothing": call_nothing,
    "read": read,
    "get": get,
    "complete": complete,
    "elicit": elicit,
    "decline": decline,
    "progress": progress,
    "messages": hear_messages,
    "listen": listen,
    "listen to resources": listen_to_resources,
    "cancel": cancel,
}


async def visit(server: Server, transport: Transport, folder: Path, verbs: Collection[str]) -> dict[str, Any]:
    """What becomes of each of these verbs at a fresh server; `folder` is empty and receives what it notes down."""
    user, file = User(), folder / "cancelled"
    options: dict[str, Any] = {"elicit": user.fill, "sample": speak, "roots": roots}
    async with connected(server, transport, file, era=server.era, **options) as client:
        visit = Visit(client, user, server.lasting, file)
        return {verb: await outcome(VERBS[verb](visit)) for verb in verbs}


async def outcome(play: Awaitable[Any]) -> Any:
    """What a verb gives, or the words of what it raises."""
    try:
        async with asyncio.timeout(SECONDS):
            return await play
    except Exception as error:
        return repr(error)
