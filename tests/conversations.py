"""Two recorded conversations that are right in every message, one of each era, and how to spoil a message of them."""

from __future__ import annotations

import json
from typing import Any

Message = dict[str, Any]

PREFIX = "io.modelcontextprotocol/"
CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}
META: dict[str, Any] = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": CAPABILITIES}
HINTS: dict[str, Any] = {"resultType": "complete", "ttlMs": 1000, "cacheScope": "private"}
TEXT: dict[str, Any] = {"type": "text", "text": "12 degrees"}
TOOL: dict[str, Any] = {"name": "forecast", "inputSchema": {"type": "object", "properties": {}}}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]}},
}
ASKED: dict[str, Any] = {
    "city": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Where?", "requestedSchema": FORM},
    },
    "poem": {
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user", "content": TEXT}], "maxTokens": 9},
    },
    "roots": {"method": "roots/list"},
}
ANSWERS: dict[str, Any] = {
    "city": {"action": "accept", "content": {"city": "Oslo", "days": 2.5}},
    "poem": {"role": "assistant", "model": "m", "content": [TEXT]},
    "roots": {"roots": [{"uri": "file:///home"}]},
}


def call(identity: object, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def modern(identity: object, method: str, **params: object) -> Message:
    return call(identity, method, _meta=META, **params)


def result(identity: object, **members: object) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "result": members}


def error(identity: object, code: int, **data: object) -> Message:
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "error": {"code": code, "message": "no"} | ({"data": data} if data else {}),
    }


def notice(method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


MODERN: list[Message] = [
    modern(0, "server/discover"),
    result(0, supportedVersions=["2026-07-28"], capabilities={"tools": {}}, **HINTS),
    modern("listen", "subscriptions/listen", notifications={"toolsListChanged": True}),
    notice("notifications/subscriptions/acknowledged", notifications={}, _meta={f"{PREFIX}subscriptionId": "listen"}),
    modern(1, "tools/list"),
    result(1, tools=[TOOL], **HINTS),
    modern(2, "tools/call", name="forecast", arguments={"city": None}),
    notice("notifications/progress", progressToken=2, progress=0.5),
    result(2, resultType="input_required", inputRequests=ASKED, requestState="sealed"),
    modern(3, "tools/call", name="forecast", inputResponses=ANSWERS, requestState="sealed"),
    result(3, resultType="complete", content=[TEXT], structuredContent=None),
    modern(4, "resources/read", uri="config://app"),
    result(4, contents=[{"uri": "config://app", "text": "x"}], **HINTS),
    modern(5, "prompts/get", name="plan", arguments={"a": "b"}),
    result(5, resultType="complete", messages=[{"role": "user", "content": TEXT}]),
    modern(6, "completion/complete", ref={"type": "ref/prompt", "name": "plan"}, argument={"name": "a", "value": "b"}),
    result(6, resultType="complete", completion={"values": ["b1"], "total": 1}),
    modern(7, "tools/call", name="other"),
    error(7, -32021, requiredCapabilities={"elicitation": {}}),
    modern(8, "tools/list"),
    error(8, -32022, supported=["2026-07-28"], requested="2026-01-01"),
    notice("notifications/tools/list_changed", _meta={f"{PREFIX}subscriptionId": "listen"}),
    notice("notifications/message", level="info", data={"any": None}),
    modern(1, "prompts/list", cursor="next"),
    result(1, prompts=[{"name": "plan"}], nextCursor="more", **HINTS),
    result("listen", resultType="complete", _meta={f"{PREFIX}subscriptionId": "listen"}),
]  # fmt: skip

IDENTITY: dict[str, Any] = {"name": "x", "version": "1"}
TASK: dict[str, Any] = {
    "taskId": "t1",
    "status": "working",
    "createdAt": "2026-01-01T00:00:00Z",
    "lastUpdatedAt": "2026-01-01T00:00:00Z",
    "ttl": None,
}
LEGACY: list[Message] = [
    call(0, "initialize", protocolVersion="2025-11-25", capabilities={"roots": {}}, clientInfo=IDENTITY),
    result(0, protocolVersion="2025-11-25", capabilities={"tasks": {}}, serverInfo=IDENTITY),
    notice("notifications/initialized"),
    {"jsonrpc": "2.0", "id": 0, "method": "ping"},
    result(0),
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    result(1, tools=[{**TOOL, "execution": {"taskSupport": "optional"}}]),
    call(2, "tools/call", name="forecast", arguments={}, task={"ttl": 60000}),
    result(2, task=TASK),
    notice("notifications/tasks/status", **{**TASK, "status": "completed"}),
    call(3, "tasks/result", taskId="t1"),
    result(3, content=[TEXT]),
    call(4, "tools/call", name="ask"),
    call(4, "sampling/createMessage", messages=[{"role": "user", "content": TEXT}], maxTokens=5),
    result(4, role="assistant", model="m", content=TEXT),
    call(5, "elicitation/create", message="Where?", requestedSchema=FORM),
    result(5, action="accept", content={"city": "Oslo"}),
    call(6, "roots/list"),
    result(6, roots=[{"uri": "file:///home"}]),
    result(4, content=[TEXT], isError=False),
    call(5, "resources/subscribe", uri="config://app"),
    result(5),
    notice("notifications/resources/updated", uri="config://app"),
    call(6, "logging/setLevel", level="debug"),
    result(6),
    call("x", "tools/call", name="login"),
    error("x", -32042, elicitations=[{"mode": "url", "message": "m", "elicitationId": "e", "url": "https://a.example"}]),
]  # fmt: skip


def spoilt(message: Message, path: str, value: object = ...) -> Message:
    """A copy of a message that has `value` at a slash-separated path, or nothing there when no value is given."""
    made: Message = json.loads(json.dumps(message))
    *steps, last = path.split("/")
    holder: Any = made
    for step in steps:
        holder = holder[int(step) if isinstance(holder, list) else step]
    if value is ...:
        del holder[last]
    else:
        holder[int(last) if isinstance(holder, list) else last] = value
    return made


def lines(messages: list[Message]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)
