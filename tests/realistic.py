"""Messages as a harbour office, its server and its clients would send them: one or more for each kind, by definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
Messages: TypeAlias = Mapping[str, Sequence[Message]]

NAMESPACE = "io.modelcontextprotocol"
CLIENT = {"name": "quay", "title": "Quay", "version": "3.1.0", "websiteUrl": "https://quay.example/about"}
SERVER = {"name": "harbour", "version": "0.9.2", "icons": [{"src": "data:image/png;base64,iVBORw0KGgo=", "sizes": ["48x48"]}]}  # fmt: skip
CAPABILITIES: Message = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
META: Message = {
    f"{NAMESPACE}/protocolVersion": "2026-07-28",
    f"{NAMESPACE}/clientCapabilities": CAPABILITIES,
    f"{NAMESPACE}/clientInfo": CLIENT,
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "example.quay/desk": "north",
}
SAID: Message = {f"{NAMESPACE}/serverInfo": SERVER}
HEARD: Message = {f"{NAMESPACE}/subscriptionId": "watch-1"}
KEPT: Message = {"ttlMs": 60_000, "cacheScope": "public"}

TEXT = {"type": "text", "text": "High water at 14:20, 3.1 m — mind the sill."}
CHART = {
    "type": "resource_link",
    "uri": "chart://oslo/inner?scale=1:5000#north",
    "name": "inner",
    "title": "Inner harbour",
    "mimeType": "image/svg+xml",
    "size": 20_480,
    "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-09-01T06:00:00Z"},
}
PHOTO = {
    "type": "image",
    "data": "iVBORw0KGgo=",
    "mimeType": "image/png",
    "_meta": {"example.quay/camera": 2},
}
HORN = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
LOG = {"type": "resource", "resource": {"uri": "file:///var/log/gate.log", "text": "06:12 open\n", "mimeType": "text/plain"}}  # fmt: skip
MANIFEST: Message = {
    "uri": "urn:imo:9074729",
    "blob": "AAEC/w==",
    "mimeType": "application/octet-stream",
    "_meta": {},
}

BERTH_INPUT: Message = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "ship": {"type": "string", "minLength": 1},
        "draught": {"type": "number", "exclusiveMinimum": 0, "x-mcp-header": "Draught"},
        "from": {"$ref": "#/$defs/Port"},
    },
    "required": ["ship"],
    "additionalProperties": False,
    "$defs": {"Port": {"type": "string", "pattern": "^[A-Z]{5}$"}},
}
BERTH: Message = {
    "name": "berth.assign",
    "title": "Assign a berth",
    "description": "Finds a free berth that is deep enough.",
    "inputSchema": BERTH_INPUT,
    "annotations": {
        "readOnlyHint": False,
        "idempotentHint": True,
        "destructiveHint": False,
        "openWorldHint": False,
    },
    "icons": [{"src": "https://harbour.example/berth.svg", "mimeType": "image/svg+xml", "theme": "dark"}],
}
TIDES: Message = {"name": "tides", "inputSchema": {"type": "object"}}
SHIPS: Message = {"uri": "ships://now", "name": "ships", "description": "What is in port.", "size": 0}
TEMPLATE: Message = {"uriTemplate": "chart://{port}/{sheet}", "name": "chart", "mimeType": "image/svg+xml"}
PILOT: Message = {
    "name": "pilot",
    "title": "Brief the pilot",
    "arguments": [{"name": "ship", "description": "Her name.", "required": True}, {"name": "tone"}],
}
FORM: Message = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "captain": {"type": "string", "title": "Captain", "minLength": 2, "maxLength": 40},
        "contact": {"type": "string", "format": "email"},
        "crew": {"type": "integer", "minimum": 1, "maximum": 5000},
        "draught": {"type": "number", "minimum": 0.1, "default": 4.5},
        "pilot": {"type": "boolean", "default": False},
        "side": {"type": "string", "enum": ["port", "starboard"]},
        "cargo": {
            "type": "string",
            "oneOf": [{"const": "g", "title": "Grain"}, {"const": "t", "title": "Timber"}],
        },
        "flags": {
            "type": "array",
            "items": {"type": "string", "enum": ["reefer", "oversize"]},
            "maxItems": 2,
        },
        "docks": {"type": "array", "items": {"anyOf": [{"const": "n", "title": "North"}]}, "minItems": 1},
        "class": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
    },
    "required": ["captain", "crew"],
}
ANSWER: Message = {
    "action": "accept",
    "content": {"captain": "Å. Berg", "crew": 12, "draught": 4.25, "pilot": True, "flags": ["reefer"]},
}
CALLED = {"type": "tool_use", "id": "call_7", "name": "tides", "input": {"port": "NOOSL", "days": None}}
TOLD = {"type": "tool_result", "toolUseId": "call_7", "content": [TEXT], "isError": False}
TALK: Message = {
    "messages": [
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": [CALLED]},
        {"role": "user", "content": [TOLD, PHOTO]},
    ],
    "maxTokens": 300,
    "systemPrompt": "You are a harbour pilot.",
    "temperature": 0.2,
    "stopSequences": ["\n\n"],
    "modelPreferences": {"hints": [{"name": "small"}], "speedPriority": 1, "costPriority": 0.75},
    "tools": [TIDES],
    "toolChoice": {"mode": "auto"},
    "metadata": {"ticket": 7},
}
REPLY: Message = {"role": "assistant", "content": TEXT, "model": "pilot-1", "stopReason": "endTurn"}
ROOTS: Message = {"roots": [{"uri": "file:///srv/charts", "name": "Charts"}, {"uri": "file:///srv/logs"}]}


def request(identity: int | str, method: str, params: Message | None = None) -> Message:
    members: Message = {"jsonrpc": "2.0", "id": identity, "method": method}
    return members if params is None else {**members, "params": params}


def notice(method: str, params: Message | None = None) -> Message:
    members: Message = {"jsonrpc": "2.0", "method": method}
    return members if params is None else {**members, "params": params}


def response(result: Message, identity: int | str = 1) -> Message:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def refusal(code: int, message: str, **members: Any) -> Message:
    return {"code": code, "message": message, **members}


def failure(error: Message, **members: Any) -> Message:
    return {"jsonrpc": "2.0", "error": error, **members}


def complete(**members: Any) -> Message:
    return {"resultType": "complete", "_meta": SAID, **members}


ASKED: Message = {
    "resultType": "input_required",
    "requestState": "",
    "inputRequests": {
        "papers": {"method": "elicitation/create", "params": {"mode": "form", "message": "Papers?", "requestedSchema": FORM}},
        "dues": {"method": "elicitation/create", "params": {"mode": "url", "message": "Dues", "url": "https://pay.example/?a=1&b=%20"}},
        "advice": {"method": "sampling/createMessage", "params": TALK},
        "folders": {"method": "roots/list"},
    },
}  # fmt: skip
ANSWERED: Message = {"papers": ANSWER, "dues": {"action": "decline"}, "advice": REPLY, "folders": ROOTS}
DISCOVERED = complete(
    supportedVersions=["2026-07-28", "2025-11-25"],
    capabilities={"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "completions": {}, "extensions": {"example.quay/moor": {"depth": 0.5, "none": None}}},
    instructions="Ask for the tide first.",
    **KEPT,
)  # fmt: skip
ASSIGNED = complete(
    content=[TEXT, CHART, PHOTO, HORN, LOG],
    structuredContent={"berth": "N4", "depth": 6.0, "until": None},
    isError=False,
)
REFUSED = complete(content=[{"type": "text", "text": "/draught: must be above 0"}], isError=True)
NOTHING = complete(content=[], structuredContent=None)
PAGE = complete(tools=[BERTH, TIDES], nextCursor="", **KEPT)
READ = complete(contents=[LOG["resource"], MANIFEST], ttlMs=0, cacheScope="private")
LISTED = complete(resources=[SHIPS, {**CHART, "type": "x"}], **KEPT)
TEMPLATES = complete(resourceTemplates=[TEMPLATE], **KEPT)
PROMPTS = complete(prompts=[PILOT, {"name": "farewell"}], nextCursor="p2", **KEPT)
BRIEFED = complete(
    description="For the pilot.",
    messages=[{"role": "user", "content": block} for block in (TEXT, LOG, CHART)],
)
COMPLETED = complete(completion={"values": ["Oslo", "Os"], "total": 2, "hasMore": False})
CLOSED = {"resultType": "complete", "_meta": {**SAID, **HEARD}}
VERSIONS = refusal(-32022, "Unsupported", data={"supported": ["2026-07-28"], "requested": "1999-01-01"})
CAPABLE = refusal(-32021, "Needs forms", data={"requiredCapabilities": {"elicitation": {"form": {}}}})
MISMATCH = refusal(-32020, "Mcp-Name differs", data={"header": "a", "body": "b"})

NOW: Messages = {
    "DiscoverRequest": [request(0, "server/discover", {"_meta": META})],
    "DiscoverResult": [DISCOVERED],
    "DiscoverResultResponse": [response(DISCOVERED, 0)],
    "ListToolsRequest": [request("t-1", "tools/list", {"_meta": META}), request(2, "tools/list", {"_meta": META, "cursor": ""})],
    "ListToolsResult": [PAGE, complete(tools=[], **KEPT)],
    "ListToolsResultResponse": [response(PAGE, "t-1")],
    "CallToolRequest": [
        request(3, "tools/call", {"_meta": {**META, "progressToken": 0}, "name": "berth.assign", "arguments": {"ship": "Ægir", "from": "DKCPH", "draught": 4.0}}),
        request(4, "tools/call", {"_meta": META, "name": "tides", "arguments": {}, "requestState": "", "inputResponses": ANSWERED}),
    ],
    "CallToolResult": [ASSIGNED, REFUSED, NOTHING],
    "CallToolResultResponse": [response(ASSIGNED, 3), response(ASKED, 3)],
    "InputRequiredResult": [ASKED, {"resultType": "input_required", "requestState": "later"}],
    "ListResourcesRequest": [request(5, "resources/list", {"_meta": META})],
    "ListResourcesResult": [LISTED],
    "ListResourcesResultResponse": [response(LISTED)],
    "ListResourceTemplatesRequest": [request(6, "resources/templates/list", {"_meta": META})],
    "ListResourceTemplatesResult": [TEMPLATES],
    "ListResourceTemplatesResultResponse": [response(TEMPLATES)],
    "ReadResourceRequest": [request(7, "resources/read", {"_meta": META, "uri": "chart://oslo/inner?scale=1:5000#north"})],
    "ReadResourceResult": [READ],
    "ReadResourceResultResponse": [response(READ), response(ASKED)],
    "ListPromptsRequest": [request(8, "prompts/list", {"_meta": META})],
    "ListPromptsResult": [PROMPTS],
    "ListPromptsResultResponse": [response(PROMPTS)],
    "GetPromptRequest": [request(9, "prompts/get", {"_meta": META, "name": "pilot", "arguments": {"ship": "Ægir", "class": "5"}})],
    "GetPromptResult": [BRIEFED],
    "GetPromptResultResponse": [response(BRIEFED), response(ASKED)],
    "CompleteRequest": [
        request(10, "completion/complete", {"_meta": META, "ref": {"type": "ref/prompt", "name": "pilot"}, "argument": {"name": "ship", "value": ""}}),
        request(11, "completion/complete", {"_meta": META, "ref": {"type": "ref/resource", "uri": "chart://{port}/{sheet}"}, "argument": {"name": "sheet", "value": "in"}, "context": {"arguments": {"port": "oslo"}}}),
    ],
    "CompleteResult": [COMPLETED, complete(completion={"values": []})],
    "CompleteResultResponse": [response(COMPLETED)],
    "SubscriptionsListenRequest": [request("watch-1", "subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["ships://now"]}})],
    "SubscriptionsListenResult": [CLOSED],
    "SubscriptionsListenResultResponse": [response(CLOSED, "watch-1")],
    "CreateMessageRequest": [{"method": "sampling/createMessage", "params": TALK}],
    "CreateMessageResult": [REPLY, {**REPLY, "content": [TEXT, CALLED], "stopReason": "toolUse"}],
    "ListRootsRequest": [{"method": "roots/list"}, {"method": "roots/list", "params": {"_meta": {}}}],
    "ListRootsResult": [ROOTS],
    "ElicitRequest": [
        {"method": "elicitation/create", "params": {"message": "Papers?", "requestedSchema": FORM}},
        {"method": "elicitation/create", "params": {"mode": "url", "message": "Dues", "url": "https://pay.example/"}},
    ],
    "ElicitResult": [ANSWER, {"action": "cancel"}, {"action": "decline", "content": {}}],
    "CancelledNotification": [notice("notifications/cancelled", {"requestId": 3, "reason": "Sailed."}), notice("notifications/cancelled", {"requestId": "watch-1", "_meta": HEARD})],
    "ProgressNotification": [notice("notifications/progress", {"progressToken": 0, "progress": 0.5, "total": 3, "message": "sounding"})],
    "LoggingMessageNotification": [notice("notifications/message", {"level": "warning", "logger": "gate", "data": None}), notice("notifications/message", {"level": "info", "data": {"gate": 1}})],
    "SubscriptionsAcknowledgedNotification": [notice("notifications/subscriptions/acknowledged", {"_meta": HEARD, "notifications": {"toolsListChanged": True}})],
    "ToolListChangedNotification": [notice("notifications/tools/list_changed", {"_meta": HEARD}), notice("notifications/tools/list_changed")],
    "PromptListChangedNotification": [notice("notifications/prompts/list_changed", {"_meta": HEARD})],
    "ResourceListChangedNotification": [notice("notifications/resources/list_changed", {"_meta": HEARD})],
    "ResourceUpdatedNotification": [notice("notifications/resources/updated", {"_meta": HEARD, "uri": "ships://now"})],
    "ParseError": [refusal(-32700, "Not JSON")],
    "InvalidRequestError": [refusal(-32600, "No method")],
    "MethodNotFoundError": [refusal(-32601, "No such method", data={"method": "sail"})],
    "InvalidParamsError": [refusal(-32602, "Invalid params: /name", data=None)],
    "InternalError": [refusal(-32603, "Internal error")],
    "Error": [refusal(-1, "Not now", data=["any", 1, None])],
    "HeaderMismatchError": [failure(MISMATCH, id=3)],
    "MissingRequiredClientCapabilityError": [failure(CAPABLE, id="x")],
    "UnsupportedProtocolVersionError": [failure(VERSIONS, id=0), failure(VERSIONS)],
    "JSONRPCErrorResponse": [failure(refusal(-32700, "Not JSON")), failure(VERSIONS, id=0)],
}  # fmt: skip
"""2026-07-28."""

FREE: Message = {"progressToken": "p-1", "example.quay/desk": "north"}
TASK: Message = {
    "taskId": "7f0c",
    "status": "working",
    "statusMessage": "waiting for the tide",
    "createdAt": "2026-01-05T09:00:00Z",
    "lastUpdatedAt": "2026-01-05T09:00:01Z",
    "ttl": None,
    "pollInterval": 500,
}
RELATED: Message = {f"{NAMESPACE}/related-task": {"taskId": "7f0c"}}
GREETING: Message = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}, "tasks": {"list": {}, "requests": {"sampling": {"createMessage": {}}}}},
    "clientInfo": CLIENT,
}  # fmt: skip
GREETED: Message = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"logging": {}, "tools": {"listChanged": True}, "resources": {"subscribe": True}, "tasks": {"requests": {"tools": {"call": {}}}}},
    "serverInfo": SERVER,
    "instructions": "Ask for the tide first.",
}  # fmt: skip
OLD_BERTH: Message = {
    **BERTH,
    "outputSchema": {"type": "object", "properties": {"berth": {"type": "string"}}, "required": ["berth"]},
    "execution": {"taskSupport": "optional"},
}
DUES: Message = {"mode": "url", "message": "Dues", "url": "https://pay.example/", "elicitationId": "e-1"}

BEFORE: Messages = {
    "InitializeRequest": [request(0, "initialize", GREETING)],
    "InitializeResult": [GREETED],
    "InitializedNotification": [notice("notifications/initialized")],
    "PingRequest": [request("ping-1", "ping"), request(1, "ping", {"_meta": FREE})],
    "EmptyResult": [{}, {"_meta": {"example.quay/desk": None}}],
    "SetLevelRequest": [request(2, "logging/setLevel", {"level": "notice"})],
    "ListToolsRequest": [request(3, "tools/list"), request(4, "tools/list", {"cursor": "2"})],
    "ListToolsResult": [{"tools": [OLD_BERTH, TIDES], "nextCursor": "2"}],
    "CallToolRequest": [request(5, "tools/call", {"name": "berth.assign", "arguments": {"ship": "Ægir"}, "task": {"ttl": 60_000}, "_meta": FREE})],
    "CallToolResult": [{"content": [TEXT, CHART, LOG], "structuredContent": {"berth": None}, "isError": False, "_meta": RELATED}],
    "CreateTaskResult": [{"task": TASK, "_meta": {}}],
    "GetTaskRequest": [request(6, "tasks/get", {"taskId": "7f0c"})],
    "GetTaskResult": [{**TASK, "ttl": 60_000}],
    "GetTaskPayloadRequest": [request(7, "tasks/result", {"taskId": "7f0c"})],
    "GetTaskPayloadResult": [{"content": [TEXT], "_meta": RELATED}],
    "CancelTaskRequest": [request(8, "tasks/cancel", {"taskId": "7f0c"})],
    "CancelTaskResult": [{**TASK, "status": "cancelled"}],
    "ListTasksRequest": [request(9, "tasks/list", {"cursor": ""})],
    "ListTasksResult": [{"tasks": [TASK], "nextCursor": "n"}],
    "ListResourcesRequest": [request(10, "resources/list")],
    "ListResourcesResult": [{"resources": [SHIPS]}],
    "ListResourceTemplatesRequest": [request(11, "resources/templates/list")],
    "ListResourceTemplatesResult": [{"resourceTemplates": [TEMPLATE]}],
    "ReadResourceRequest": [request(12, "resources/read", {"uri": "urn:imo:9074729"})],
    "ReadResourceResult": [{"contents": [MANIFEST, LOG["resource"]]}],
    "SubscribeRequest": [request(13, "resources/subscribe", {"uri": "ships://now"})],
    "UnsubscribeRequest": [request(14, "resources/unsubscribe", {"uri": "ships://now"})],
    "ListPromptsRequest": [request(15, "prompts/list")],
    "ListPromptsResult": [{"prompts": [PILOT]}],
    "GetPromptRequest": [request(16, "prompts/get", {"name": "pilot", "arguments": {"ship": "Ægir"}})],
    "GetPromptResult": [{"messages": [{"role": "assistant", "content": HORN}], "description": ""}],
    "CompleteRequest": [request(17, "completion/complete", {"ref": {"type": "ref/prompt", "name": "pilot", "title": "t"}, "argument": {"name": "ship", "value": "Æ"}})],
    "CompleteResult": [{"completion": {"values": ["Ægir"], "hasMore": True}}],
    "CreateMessageRequest": [request(18, "sampling/createMessage", {**TALK, "includeContext": "none", "task": {}})],
    "CreateMessageResult": [{**REPLY, "_meta": RELATED}],
    "ListRootsRequest": [request(19, "roots/list")],
    "ListRootsResult": [ROOTS],
    "ElicitRequest": [request(20, "elicitation/create", {"message": "Papers?", "requestedSchema": FORM}), request("e", "elicitation/create", DUES)],
    "ElicitResult": [ANSWER],
    "CancelledNotification": [notice("notifications/cancelled", {"requestId": "5", "reason": "Sailed."}), notice("notifications/cancelled", {})],
    "ProgressNotification": [notice("notifications/progress", {"progressToken": "p-1", "progress": 1, "total": 2.5})],
    "LoggingMessageNotification": [notice("notifications/message", {"level": "error", "data": "gate stuck"})],
    "TaskStatusNotification": [notice("notifications/tasks/status", {**TASK, "_meta": {}})],
    "RootsListChangedNotification": [notice("notifications/roots/list_changed")],
    "ToolListChangedNotification": [notice("notifications/tools/list_changed")],
    "PromptListChangedNotification": [notice("notifications/prompts/list_changed", {})],
    "ResourceListChangedNotification": [notice("notifications/resources/list_changed")],
    "ResourceUpdatedNotification": [notice("notifications/resources/updated", {"uri": "ships://now"})],
    "ElicitationCompleteNotification": [notice("notifications/elicitation/complete", {"elicitationId": "e-1"})],
    "Error": [refusal(-32002, "No such resource", data={"uri": "urn:x"})],
    "URLElicitationRequiredError": [failure(refusal(-32042, "Pay first", data={"elicitations": [DUES]}), id=5)],
    "JSONRPCErrorResponse": [failure(refusal(-32601, "Method not found"), id="x")],
    "JSONRPCResultResponse": [response({"content": [TEXT]}, "x"), response({})],
}  # fmt: skip
"""2025-11-25."""
