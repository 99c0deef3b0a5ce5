"""What default reading forgives and what it decides, each as a row: a rewriting of the facts, with its reason.

Facts rewritten by all rows say exactly what default reading accepts; jsonschema is the judge of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from corpus import REF, Definitions, Schema
from jsonschema import Draft202012Validator, validators

Rewrite: TypeAlias = Callable[[Definitions], dict[str, Schema]]
Case: TypeAlias = tuple[Schema, str]
"""A condition on a value, and the definition that such a value is."""


@dataclass(frozen=True)
class Row:
    """One difference between default reading and the facts."""

    name: str
    reason: str
    rewrite: Rewrite


def has(*names: str, **nested: Sequence[str]) -> Schema:
    """An object with some members, and some inside of those."""
    inner = {name: {"required": list(names)} for name, names in nested.items()}
    return {"required": [*names, *nested], "properties": inner}


def bears(name: str, *values: str) -> Schema:
    """An object whose member has one of some values."""
    return {"required": [name], "properties": {name: {"enum": list(values)}}}


INPUT_REQUIRED = (bears("resultType", "input_required"), "InputRequiredResult")
CONTENTS = ((has("text"), "TextResourceContents"), (has(), "BlobResourceContents"))
RESPONSE = ((has("id", "result"), "JSONRPCResultResponse"), (has(), "JSONRPCErrorResponse"))
MULTI = (
    ({**bears("type", "array"), **has(items=("enum", "type"))}, "UntitledMultiSelectEnumSchema"),
    (bears("type", "array"), "TitledMultiSelectEnumSchema"),
)
SINGLE = ((has("enum"), "UntitledSingleSelectEnumSchema"), (has("oneOf"), "TitledSingleSelectEnumSchema"))
ENUM = (*MULTI, (has("enum", "enumNames"), "LegacyTitledEnumSchema"), *SINGLE)
LISTS = (
    (has("resources"), "ListResourcesResult"),
    (has("resourceTemplates"), "ListResourceTemplatesResult"),
    (has("contents"), "ReadResourceResult"),
    (has("prompts"), "ListPromptsResult"),
    (has("messages"), "GetPromptResult"),
    (has("tools"), "ListToolsResult"),
    (has("content"), "CallToolResult"),
    (has("completion"), "CompleteResult"),
)
TASKS = (
    (has("taskId", "status", "createdAt", "lastUpdatedAt", "ttl"), "GetTaskResult"),
    (has("tasks"), "ListTasksResult"),
)
ANSWERS = (
    (has("model", "role", content=("type",)), "CreateMessageResult"),
    (has("roots"), "ListRootsResult"),
    (has("action"), "ElicitResult"),
)

CHOICES: Mapping[str, Sequence[Case]] = {
    "JSONRPCMessage": (
        (has("method", "id"), "JSONRPCRequest"),
        (has("method"), "JSONRPCNotification"),
        *RESPONSE,
    ),
    "JSONRPCResponse": RESPONSE,
    "EmbeddedResourceResource": CONTENTS,
    "ReadResourceResultContents": CONTENTS,
    "CallToolResultResponseResult": (INPUT_REQUIRED, (has(), "CallToolResult")),
    "GetPromptResultResponseResult": (INPUT_REQUIRED, (has(), "GetPromptResult")),
    "ReadResourceResultResponseResult": (INPUT_REQUIRED, (has(), "ReadResourceResult")),
    "ElicitRequestParams": (
        (bears("mode", "url"), "ElicitRequestURLParams"),
        (has(), "ElicitRequestFormParams"),
    ),
    "InputResponse": ANSWERS,
    "PrimitiveSchemaDefinition": (
        (bears("type", "integer", "number"), "NumberSchema"),
        (bears("type", "boolean"), "BooleanSchema"),
        *ENUM,
        (has(), "StringSchema"),
    ),
    "EnumSchema": ENUM,
    "SingleSelectEnumSchema": SINGLE,
    "MultiSelectEnumSchema": MULTI,
    "ClientResult": (*TASKS, *ANSWERS, (has(), "Result")),
    "ServerResult": (
        INPUT_REQUIRED,
        (has("capabilities", "supportedVersions"), "DiscoverResult"),
        (has("capabilities", "protocolVersion", "serverInfo"), "InitializeResult"),
        *LISTS,
        *TASKS,
        (has(_meta=("io.modelcontextprotocol/subscriptionId",)), "SubscriptionsListenResult"),
        (has(), "Result"),
    ),
}
"""How a value finds its arm in a union without a tag: the first condition that holds."""

OPEN_UNIONS = ("ContentBlock", "SamplingMessageContentBlock")
CLOSED_ENUMERATIONS = ("NumberSchemaType",)
DICTIONARIES = ("ToolInputSchema", "ToolOutputSchema")
LEFT_OUT = ("resultType", "ttlMs", "cacheScope")


def null_is_absence(definitions: Definitions) -> dict[str, Schema]:
    """An optional member may be null, but for those of documents that stay dictionaries."""
    return {
        name: schema if name in DICTIONARIES else _with_members(schema, _or_null)
        for name, schema in definitions.items()
    }


def any_text_is_listed(definitions: Definitions) -> dict[str, Schema]:
    """A list of several texts lists any text."""
    return {
        name: (
            {"type": "string"}
            if len(schema.get("enum", ())) > 1 and name not in CLOSED_ENUMERATIONS
            else schema
        )
        for name, schema in definitions.items()
    }


def any_type_is_content(definitions: Definitions) -> dict[str, Schema]:
    """A block of a type that no arm has is a block."""
    return {
        name: _open(schema, definitions) if name in OPEN_UNIONS else schema
        for name, schema in definitions.items()
    }


def older_results_are_results(definitions: Definitions) -> dict[str, Schema]:
    """Members that are younger than some peers are not required."""
    return {name: _without_required(schema) for name, schema in definitions.items()}


def members_decide(definitions: Definitions) -> dict[str, Schema]:
    """A value is held to the one arm that it means, even if another would take it."""
    return {
        name: _cases(CHOICES[name], definitions) if name in CHOICES and "anyOf" in schema else schema
        for name, schema in definitions.items()
    }


ROWS = (
    Row(
        "null for an absent optional",
        "peers in languages without absence write null; it is read as absence and not written back",
        null_is_absence,
    ),
    Row(
        "an unlisted value",
        "a newer peer may use a role, a level or an action that this revision does not list",
        any_text_is_listed,
    ),
    Row(
        "an unknown content type",
        "a newer peer may send a block of a new type; the blocks beside it must still be read",
        any_type_is_content,
    ),
    Row(
        "an absent resultType or cache hint",
        "older servers do not send them: absent means complete, stale at once and not shared (basic/index, ResultType)",
        older_results_are_results,
    ),
    Row(
        "the members decide",
        "objects are open, so a malformed result is a valid empty one and a request with id null a notification",
        members_decide,
    ),
)


def forgiving(definitions: Definitions, *, without: str = "") -> Definitions:
    """The facts as default reading takes them; `without` leaves out one row."""
    for row in ROWS:
        if row.name != without:
            definitions = row.rewrite(definitions)
    return definitions


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _const(validator: Any, constant: Any, value: Any, _: Any) -> Any:
    yield from Draft202012Validator.VALIDATORS["const"](validator, constant, value, {})
    if isinstance(value, float) and isinstance(constant, int):
        yield from validator.descend(value, {"not": {}})


_jsonschema: Any = validators

StrictIntegers: Any = _jsonschema.extend(
    Draft202012Validator,
    validators={"const": _const},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
"""jsonschema with one row of representation: what is written with a point is no integer."""


def _with_members(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    optional = schema.get("properties", {}).keys() - set(schema.get("required", ()))
    changed = {
        name: change(member) if name in optional else member
        for name, member in schema.get("properties", {}).items()
    }
    return {**schema, "properties": changed} if changed else schema


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _without_required(schema: Schema) -> Schema:
    required = [
        name
        for name in schema.get("required", ())
        if name not in LEFT_OUT or "const" in schema["properties"][name]
    ]
    return {**schema, "required": required} if "required" in schema else schema


def _open(union: Schema, definitions: Definitions) -> Schema:
    arms = [definitions[arm["$ref"].removeprefix(REF)] for arm in union["anyOf"]]
    known = [arm["properties"]["type"]["const"] for arm in arms]
    newer = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "not": {"enum": known}}},
    }
    return {"anyOf": [*union["anyOf"], newer]}


def _cases(cases: Sequence[Case], definitions: Definitions) -> Schema:
    """If, else if, else: none of the definitions that the revision has is nothing."""
    decided: Schema = {"not": {}}
    for condition, name in reversed([case for case in cases if case[1] in definitions]):
        decided = {"if": condition, "then": {"$ref": f"{REF}{name}"}, "else": decided}
    return decided
