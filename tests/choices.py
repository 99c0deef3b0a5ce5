"""How a value finds its arm in a union without a tag: a table, against which default reading is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from corpus import Schema

Case: TypeAlias = tuple[Schema, str]
"""A condition on a value, and the definition that such a value is."""

Rank: TypeAlias = tuple[Case, ...]
"""Cases of one weight: of those that hold, the definition that knows most members; of equals, the first."""


def has(*names: str, **nested: Sequence[str]) -> Schema:
    """An object with some members, and some inside of those."""
    inner = {name: {"required": list(names)} for name, names in nested.items()}
    return {"required": [*names, *nested], "properties": inner}


def bears(name: str, *values: str) -> Schema:
    """An object whose member has one of some values."""
    return {"required": [name], "properties": {name: {"enum": list(values)}}}


def both(one: Schema, other: Schema) -> Schema:
    """What meets two conditions."""
    return {"allOf": [one, other]}


INPUT_REQUIRED = ((bears("resultType", "input_required"), "InputRequiredResult"),)
CONTENTS = (((has("text"), "TextResourceContents"), (has("blob"), "BlobResourceContents")),)
RESPONSE = (((has("id", "result"), "JSONRPCResultResponse"),), ((has("error"), "JSONRPCErrorResponse"),))
MULTI = (
    (both(bears("type", "array"), has(items=("enum", "type"))), "UntitledMultiSelectEnumSchema"),
    (both(bears("type", "array"), has(items=("anyOf",))), "TitledMultiSelectEnumSchema"),
)
SINGLE = ((has("enum"), "UntitledSingleSelectEnumSchema"), (has("oneOf"), "TitledSingleSelectEnumSchema"))
ENUM = (MULTI, ((has("enum", "enumNames"), "LegacyTitledEnumSchema"),), SINGLE)
GET_TASK = ((has("taskId", "status", "createdAt", "lastUpdatedAt", "ttl"), "GetTaskResult"),)
SAMPLED = ((has("model", "role", content=("type",)), "CreateMessageResult"),)
LIST_TASKS = (has("tasks"), "ListTasksResult")
ROOTS = (has("roots"), "ListRootsResult")
ELICITED = (has("action"), "ElicitResult")
ANY_RESULT = ((has(), "Result"),)

CHOICES: Mapping[str, Sequence[Rank]] = {
    "JSONRPCMessage": (
        ((has("method", "id"), "JSONRPCRequest"), *RESPONSE[0]),
        ((has("method"), "JSONRPCNotification"), *RESPONSE[1]),
    ),
    "JSONRPCResponse": RESPONSE,
    "EmbeddedResourceResource": CONTENTS,
    "ReadResourceResultContents": CONTENTS,
    "CallToolResultResponseResult": (INPUT_REQUIRED, ((has(), "CallToolResult"),)),
    "GetPromptResultResponseResult": (INPUT_REQUIRED, ((has(), "GetPromptResult"),)),
    "ReadResourceResultResponseResult": (INPUT_REQUIRED, ((has(), "ReadResourceResult"),)),
    "ElicitRequestParams": (
        ((bears("mode", "url"), "ElicitRequestURLParams"),),
        ((has(), "ElicitRequestFormParams"),),
    ),
    "InputResponse": (SAMPLED, (ROOTS, ELICITED)),
    "PrimitiveSchemaDefinition": (
        ((bears("type", "integer", "number"), "NumberSchema"),),
        ((bears("type", "boolean"), "BooleanSchema"),),
        *ENUM,
        ((has(), "StringSchema"),),
    ),
    "EnumSchema": ENUM,
    "SingleSelectEnumSchema": (SINGLE,),
    "MultiSelectEnumSchema": (MULTI,),
    "ClientResult": (GET_TASK, SAMPLED, (LIST_TASKS, ROOTS, ELICITED), ANY_RESULT),
    "ServerResult": (
        INPUT_REQUIRED,
        GET_TASK,
        (
            (has("capabilities", "supportedVersions"), "DiscoverResult"),
            (has("capabilities", "protocolVersion", "serverInfo"), "InitializeResult"),
        ),
        (
            (has("resources"), "ListResourcesResult"),
            (has("resourceTemplates"), "ListResourceTemplatesResult"),
            (has("contents"), "ReadResourceResult"),
            (has("prompts"), "ListPromptsResult"),
            (has("messages"), "GetPromptResult"),
            (has("tools"), "ListToolsResult"),
            (has("content"), "CallToolResult"),
            LIST_TASKS,
            (has("completion"), "CompleteResult"),
        ),
        ((has(_meta=("io.modelcontextprotocol/subscriptionId",)), "SubscriptionsListenResult"),),
        ANY_RESULT,
    ),
}
