"""The official Python client of the handshake era against a server, a URL or a command: plays each verb and prints what became of it, as JSON.

It runs in an environment of its own, with a release that knows nothing after 2025-11-25.
"""

# That environment is not the one that is checked.
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

said: dict[str, list[Any]] = {"logged": [], "changed": [], "updated": [], "asked": []}


async def fill_in(context: Any, params: Any) -> Any:
    said["asked"].append(params.message)
    return types.ElicitResult(
        action="accept", content={"color": "red"} if "color" in params.message else {"name": "Ann"}
    )


async def speak(context: Any, params: Any) -> Any:
    content = types.TextContent(type="text", text="Good day")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def roots(context: Any) -> Any:
    return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home"}]})


async def log(params: Any) -> None:
    said["logged"].append(params.data)


async def notice(message: Any) -> None:
    match getattr(message, "root", None):
        case types.ToolListChangedNotification():
            said["changed"].append("tools")
        case types.PromptListChangedNotification():
            said["changed"].append("prompts")
        case types.ResourceUpdatedNotification(params=params):
            said["updated"].append(str(params.uri))


@asynccontextmanager
async def session(target: str, *rest: str) -> AsyncGenerator[Any]:
    """A session that is not yet initialized."""
    parameters = StdioServerParameters(command=target, args=[*rest], env=dict(os.environ))
    reached = streamablehttp_client(target) if target.startswith("http") else stdio_client(parameters)
    async with reached as streams:
        async with ClientSession(
            streams[0],
            streams[1],
            elicitation_callback=fill_in,
            sampling_callback=speak,
            list_roots_callback=roots,
            logging_callback=log,
            message_handler=notice,
        ) as client:
            yield client


def text(result: Any) -> str:
    return " ".join(getattr(block, "text", block.type) for block in result.content)


async def code(work: Awaitable[Any]) -> int | None:
    try:
        await work
    except McpError as error:
        return error.error.code
    return None


async def until(met: Callable[[], bool]) -> None:
    while not met():
        await asyncio.sleep(0.02)


class Verbs:
    """One coroutine for each verb."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.call = client.call_tool

    async def initialize(self) -> Any:
        about = await self.client.initialize()
        return {
            "version": about.protocolVersion,
            "server": about.serverInfo.name,
            "capabilities": about.capabilities.model_dump(exclude_none=True),
        }

    async def ping(self) -> Any:
        return (await self.client.send_ping()).model_dump(exclude_none=True)

    async def list(self) -> Any:
        tools = (await self.client.list_tools()).tools
        return {
            "first": tools[0].model_dump(exclude_none=True),
            "typed": [tool.name for tool in tools if tool.outputSchema],
            "resources": [str(one.uri) for one in (await self.client.list_resources()).resources],
            "templates": [
                one.uriTemplate for one in (await self.client.list_resource_templates()).resourceTemplates
            ],
            "prompts": len((await self.client.list_prompts()).prompts),
        }

    async def call_(self) -> Any:
        return {
            "text": text(await self.call("test_simple_text", {})),
            "mixed": [block.type for block in (await self.call("test_multiple_content_types", {})).content],
            "header": text(await self.call("test_x_mcp_header", {"region": "東京"})),
            "list": text(await self.call("test_cancelled_calls", {})),
            "failed": (await self.call("test_error_handling", {})).isError,
            "unknown": await code(self.call("nothing", {})),
        }

    async def progress(self) -> Any:
        seen: list[float] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        await self.call("test_tool_with_progress", {}, progress_callback=report)
        return seen

    async def log(self) -> Any:
        for level in ("error", "info"):
            await self.client.set_logging_level(level)
            await self.call("test_logging_tool", {})
        return said["logged"]

    async def read(self) -> Any:
        read = self.client.read_resource
        return {
            "text": (await read("test://static-text")).contents[0].text,
            "binary": (await read("test://static-binary")).contents[0].mimeType,
            "template": json.loads((await read("test://template/7/data")).contents[0].text)["id"],
            "unknown": await code(read("test://nowhere")),
        }

    async def get(self) -> Any:
        prompt = await self.client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
        return prompt.messages[0].content.text

    async def complete(self) -> Any:
        ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        return (await self.client.complete(ref, {"name": "arg1", "value": "test"})).completion.values

    async def ask(self) -> Any:
        return {
            "one": text(await self.call("test_input_required_result_elicitation", {})),
            "several": text(await self.call("test_input_required_result_multiple_inputs", {})),
            "rounds": text(await self.call("test_input_required_result_multi_round", {})),
            "asked": len(said["asked"]),
        }

    async def changes(self) -> Any:
        await self.call("test_trigger_tool_change", {})
        await self.call("test_trigger_prompt_change", {})
        await until(lambda: {"tools", "prompts"} <= {*said["changed"]})
        return sorted({*said["changed"]})

    async def subscribe(self) -> Any:
        uri = "test://static-text"
        await self.call("test_trigger_resource_change", {})
        await self.client.subscribe_resource(uri)
        await self.call("test_trigger_resource_change", {})
        await until(lambda: len(said["updated"]) > 0)
        await self.client.unsubscribe_resource(uri)
        await self.call("test_trigger_resource_change", {})
        await self.client.send_ping()
        return said["updated"]

    async def cancel(self) -> Any:
        begun = asyncio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        # This client leaves it to its user to say that a call is cancelled, and under which id it was made.
        identity = self.client._request_id
        waiting = asyncio.create_task(
            self.call("test_tool_without_end", {"name": "one"}, progress_callback=report)
        )
        await begun.wait()
        params = types.CancelledNotificationParams(requestId=identity)
        cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.client.send_notification(types.ClientNotification(cancelled))
        while not (seen := json.loads(text(await self.call("test_cancelled_calls", {})))):
            await asyncio.sleep(0.02)
        ended = "answered" if waiting.done() else "cancelled"
        waiting.cancel()
        return {"ended": ended, "seen": seen}


VERBS = (
    *("initialize", "ping", "list", "call", "progress", "log", "read", "get", "complete"),
    *("ask", "changes", "subscribe", "cancel"),
)


async def main() -> None:
    async with session(*sys.argv[1:]) as client:
        verbs, outcomes = Verbs(client), dict[str, Any]()
        for verb in VERBS:
            play = verbs.call_ if verb == "call" else getattr(verbs, verb)
            try:
                outcomes[verb] = await play()
            except Exception as error:
                outcomes[verb] = {"error": repr(error)}
        print(json.dumps(outcomes))


asyncio.run(main())
