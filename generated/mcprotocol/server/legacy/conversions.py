"""Conversions: what one era says, in the words of the other. Tables on JSON objects, with each loss named.

Both eras are typed exactly, each by its own types; what passes here was read by one and is written for the other.
Nothing is lost on the way in: the handshake era asks for nothing that 2026-07-28 cannot say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final, TypeAlias, cast

from pydantic_core import to_json

from ...errors import InternalError
from ...jsonrpc import Params
from ...v2025_11_25 import REVISION

SERVED: Final = (REVISION, "2025-06-18", "2025-03-26")
"""The revisions of the handshake era that are spoken here, the newest first.

They differ in what may be said, not in how: what an older one lacks, its clients do not declare, and members that they
do not know they skip. 2024-11-05 is left out: over HTTP it needs another transport, and its content has no audio.
"""

NAMED: Final = (*SERVED, "2024-11-05")
"""The revisions of the era: under the header of any of them a handshake may begin, which tells what is spoken here."""

INITIALIZE: Final = "initialize"
PING: Final = "ping"
"""What a client of this era may say first. Named here, because its table of methods comes with all of its types."""

BATCHES: Final = "2025-03-26"
"""The one revision whose messages may come several at once, in an array."""

POLLS: Final = REVISION
"""The one revision whose clients come back when a stream has ended before its answer, and know an event without data."""

NO_LINKS: Final = "2025-03-26"
"""The one revision here that has no links to resources, no structured content, and nothing to ask the user by."""

HINTS: Final = ("resultType", "ttlMs", "cacheScope")
"""Lost: what only results of 2026-07-28 carry. A result is complete here, or nobody sees it; nothing is cached."""

SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
"""Lost: the signature of a result. The handshake has told which server answers."""

NOT_FOUND: Final = -32002
"""The code of a resource that does not exist."""

CODES: Final[Mapping[int, int]] = {-32021: -32602, -32022: -32602, -32020: -32600}
"""Errors that only 2026-07-28 has, and what comes nearest; lost is the code, their message and data stay."""

BOOLEANS: Final[Mapping[bool, Params]] = {True: {}, False: {"not": {}}}
"""Schemas of properties that are no objects, as objects."""

Result: TypeAlias = Params


def capabilities_of_client(declared: Mapping[str, Any], version: str) -> Params:
    """What a client has declared in its handshake, as each of its requests declares it.

    Lost: `tasks`, and that it tells of changed roots: nobody keeps roots for longer than a request. What the agreed
    revision does not have counts for nothing.
    """
    said = {name: value for name, value in declared.items() if name != "tasks"}
    if "roots" in said:
        said["roots"] = {}
    if version != REVISION:
        said |= {name: {} for name in ("sampling", "elicitation") if name in said}
    if said.get("elicitation") == {}:
        said["elicitation"] = {"form": {}}  # Before 2025-11-25 there was nothing else.
    if version == NO_LINKS:
        said.pop("elicitation", None)
    return said


def capabilities_of_server(announced: Mapping[str, Any]) -> Params:
    """What `server/discover` announces, as the answer to a handshake does; lost: `extensions`."""
    return {name: value for name, value in announced.items() if name != "extensions"}


def brief(announced: Mapping[str, Any]) -> Params:
    """What is announced where each message stands alone; lost: all that would be told later, or remembered."""
    capabilities: Mapping[str, Params] = announced["capabilities"]
    kept = {name: _untold(member) for name, member in capabilities.items() if name != "logging"}
    return {**announced, "capabilities": kept}


def _untold(capability: Params) -> Params:
    return {name: value for name, value in capability.items() if name not in ("listChanged", "subscribe")}


def question(params: Params, identity: str, version: str) -> Params:
    """The params of a request for input, as a request of the server; `identity` names a page that the user visits.

    Raises InternalError for what a client of this revision cannot be asked.
    """
    if params.get("mode") == "url":
        return {**params, "elicitationId": identity}
    said = {name: value for name, value in params.items() if name != "mode"}
    if "messages" in said:
        messages = [_sampled(message) for message in said["messages"]]
        said["messages"] = messages if version == REVISION else [*chain(*map(_singly, messages))]
    if "requestedSchema" in said and version != REVISION:
        said["requestedSchema"] = _form(said["requestedSchema"], version)
    return _tools(said, "") if "tools" in said else said


def result(method: str, value: Result, version: str) -> Result:
    """A result as a client of this revision may get it."""
    said = {name: member for name, member in value.items() if name not in HINTS}
    meta = cast(Params, said.pop("_meta", {}))
    kept = {key: inner for key, inner in meta.items() if key != SERVER_INFO}
    if kept:
        said["_meta"] = kept
    convert = RESULTS.get(method)
    return said if convert is None else convert(said, version)


def error(method: str, body: Params) -> Params:
    """The object of an error, with a code that this era has."""
    code = CODES.get(body["code"], body["code"])
    data = body.get("data")
    missing = method == "resources/read" and code == -32602 and isinstance(data, dict) and "uri" in data
    return {**body, "code": NOT_FOUND if missing else code}


def _tools(value: Result, _: str) -> Result:
    return {**value, "tools": [_tool(tool) for tool in value["tools"]]}


def _tool(tool: Params) -> Params:
    """Lost: the schema of an output that is no object; its values come as text."""
    said = {**tool, "inputSchema": _schema(tool["inputSchema"])}
    output = said.pop("outputSchema", None)
    if output is not None and output.get("type") == "object":
        said["outputSchema"] = _schema(output)
    return said


def _schema(schema: Params) -> Params:
    """The schema of an object, whose properties are objects themselves: neither `true` nor `false`."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    named = {
        name: BOOLEANS[one] if isinstance(one, bool) else one
        for name, one in cast(dict[str, Any], properties).items()
    }
    return {**schema, "properties": named}


def _called(value: Result, version: str) -> Result:
    """Lost: structured content that is no object; what it says comes as text."""
    said = _structured(value, version)
    return {**said, "content": [_block(block, version) for block in said["content"]]}


def _structured(value: Params, version: str) -> Params:
    if "structuredContent" not in value:
        return value
    structured = value["structuredContent"]
    known = isinstance(structured, dict) and version != NO_LINKS
    said = value if known else {name: one for name, one in value.items() if name != "structuredContent"}
    if known or value["content"]:
        return said
    return {**said, "content": [{"type": "text", "text": to_json(structured).decode()}]}


def _sampled(message: Params) -> Params:
    """Lost: as in the result of a tool, which a message to a model may repeat."""
    content = message["content"]
    if isinstance(content, list):
        return {**message, "content": [_repeated(block) for block in cast(list[Params], content)]}
    return {**message, "content": _repeated(content)}


def _singly(message: Params) -> list[Params]:
    """Lost before 2025-11-25: that several parts are one message; each comes as one of the same role."""
    content = message["content"]
    parts = cast(list[Params], content if isinstance(content, list) else [content])
    return [{**message, "content": part} for part in parts]


def _form(schema: Params, version: str) -> Params:
    """Lost before 2025-11-25: how the titles of a choice are said; a choice of several values is in no form there."""
    fields: Mapping[str, Params] = schema["properties"]
    several = next((name for name, one in fields.items() if one.get("type") == "array"), None)
    if several is not None:
        raise InternalError(f"A form of {version} has no choice of several values, as {several!r} is")
    return {**schema, "properties": {name: _choice(one) for name, one in fields.items()}}


def _choice(field: Params) -> Params:
    if "oneOf" not in field:
        return field
    values: list[Params] = field["oneOf"]
    said = {name: value for name, value in field.items() if name != "oneOf"}
    return {**said, "enum": [one["const"] for one in values], "enumNames": [one["title"] for one in values]}


def _repeated(block: Params) -> Params:
    return _structured(block, "") if block.get("type") == "tool_result" else block


def _prompted(value: Result, version: str) -> Result:
    messages = [{**one, "content": _block(one["content"], version)} for one in value["messages"]]
    return {**value, "messages": messages}


def _block(block: Params, version: str) -> Params:
    """Lost in 2025-03-26: that a link is one; its address comes as text."""
    if version != NO_LINKS or block.get("type") != "resource_link":
        return block
    return {"type": "text", "text": block["uri"]}


RESULTS: Final[Mapping[str, Callable[[Result, str], Result]]] = {
    "tools/list": _tools,
    "tools/call": _called,
    "prompts/get": _prompted,
}
"""The results that are not the same in both eras but for `HINTS`, by method."""
