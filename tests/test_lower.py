"""Document to Spec: who may send what, what answers it, and what announces it, for each revision."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from emitted import read

from mcpcodegen import pipeline
from mcpcodegen.errors import SchemaError
from mcpcodegen.ir import Method, Role, Spec
from mcpcodegen.lower import lower
from mcpcodegen.revisions import pins

REVISIONS = [pin.revision for pin in pins()]

EARLY = """
    client        initialize                initialize               InitializeResult             -            -
    client,server ping                      ping                     Result                       -            -
    client        resources/list            list_resources           ListResourcesResult          resources    paginated
    client        resources/templates/list  list_resource_templates  ListResourceTemplatesResult  resources    paginated
    client        resources/read            read_resource            ReadResourceResult           resources    -
    client        resources/subscribe       subscribe                Result                       resources    -
    client        resources/unsubscribe     unsubscribe              Result                       resources    -
    client        prompts/list              list_prompts             ListPromptsResult            prompts      paginated
    client        prompts/get               get_prompt               GetPromptResult              prompts      -
    client        tools/list                list_tools               ListToolsResult              tools        paginated
    client        logging/setLevel          set_level                Result                       logging      -
    server        roots/list                list_roots               ListRootsResult              roots        -
"""
"""Requests of every revision with a session: senders, method, function, results, capability, marks."""

DIRECT = """
    client        tools/call                call_tool                CallToolResult               tools        -
    server        sampling/createMessage    create_message           CreateMessageResult          sampling     -
"""
"""Requests that only 2025-11-25 lets ask for a task."""

REQUESTS: Mapping[str, str] = {
    "2024-11-05": EARLY + DIRECT + """
    client        completion/complete       complete                 CompleteResult               -            -
""",
    "2025-03-26": EARLY + DIRECT + """
    client        completion/complete       complete                 CompleteResult               completions  -
""",
    "2025-06-18": EARLY + DIRECT + """
    client        completion/complete       complete                 CompleteResult               completions  -
    server        elicitation/create        elicit                   ElicitResult                 elicitation  -
""",
    "2025-11-25": EARLY + """
    client        completion/complete       complete                 CompleteResult               completions  -
    client        tools/call                call_tool                CallToolResult,CreateTaskResult       tools        task
    server        sampling/createMessage    create_message           CreateMessageResult,CreateTaskResult  sampling     task
    server        elicitation/create        elicit                   ElicitResult,CreateTaskResult         elicitation  task
    client,server tasks/get                 get_task                 GetTaskResult                tasks        -
    client,server tasks/result              get_task_payload         GetTaskPayloadResult         tasks        -
    client,server tasks/cancel              cancel_task              CancelTaskResult             tasks        -
    client,server tasks/list                list_tasks               ListTasksResult              tasks        paginated
""",
    "2026-07-28": """
    client  server/discover           discover                 DiscoverResult                          -            cacheable
    client  resources/list            list_resources           ListResourcesResult                     resources    paginated,cacheable
    client  resources/templates/list  list_resource_templates  ListResourceTemplatesResult             resources    paginated,cacheable
    client  resources/read            read_resource            ReadResourceResult,InputRequiredResult  resources    cacheable,input
    client  subscriptions/listen      subscriptions_listen     SubscriptionsListenResult               -            -
    client  prompts/list              list_prompts             ListPromptsResult                       prompts      paginated,cacheable
    client  prompts/get               get_prompt               GetPromptResult,InputRequiredResult     prompts      input
    client  tools/list                list_tools               ListToolsResult                         tools        paginated,cacheable
    client  tools/call                call_tool                CallToolResult,InputRequiredResult      tools        input
    client  completion/complete       complete                 CompleteResult                          completions  -
""",
}  # fmt: skip
"""The requests of each revision, whole."""

COMMON = "notifications/progress notifications/cancelled"
CHANGED = "notifications/resources/list_changed notifications/resources/updated notifications/prompts/list_changed notifications/tools/list_changed notifications/message"
SESSION = f"{COMMON} notifications/initialized notifications/roots/list_changed"

NOTIFICATIONS: Mapping[str, tuple[str, str]] = {
    "2024-11-05": (SESSION, f"{COMMON} {CHANGED}"),
    "2025-03-26": (SESSION, f"{COMMON} {CHANGED}"),
    "2025-06-18": (SESSION, f"{COMMON} {CHANGED}"),
    "2025-11-25": (
        f"{SESSION} notifications/tasks/status",
        f"{COMMON} {CHANGED} notifications/tasks/status notifications/elicitation/complete",
    ),
    "2026-07-28": (
        "notifications/cancelled",
        f"{COMMON} {CHANGED} notifications/subscriptions/acknowledged",
    ),
}
"""The notifications that a client and that a server may send."""

ANNOUNCED: Mapping[str, str | None] = {
    "notifications/cancelled": None,
    "notifications/progress": None,
    "notifications/initialized": None,
    "notifications/subscriptions/acknowledged": None,
    "notifications/message": "logging",
    "notifications/resources/list_changed": "resources",
    "notifications/resources/updated": "resources",
    "notifications/prompts/list_changed": "prompts",
    "notifications/tools/list_changed": "tools",
    "notifications/roots/list_changed": "roots",
    "notifications/tasks/status": "tasks",
    "notifications/elicitation/complete": "elicitation",  # which the client declares, though the server sends it
}
"""The capability of each notification, the same in every revision that has it."""


@functools.cache
def spec(revision: str) -> Spec:
    """A pinned revision, understood."""
    return lower(pipeline.read(revision=revision))


def rows(text: str) -> set[tuple[str, ...]]:
    return {tuple(line.split()) for line in text.splitlines() if line.strip()}


def row(method: Method) -> tuple[str, ...]:
    marks = [
        name
        for name, holds in (
            ("paginated", method.paginated),
            ("cacheable", method.cacheable),
            ("input", method.input_required),
            ("task", method.task_augmented),
        )
        if holds
    ]
    return (
        ",".join(method.senders),
        method.wire,
        method.python,
        ",".join(method.results),
        method.capability or "-",
        ",".join(marks) or "-",
    )


def sent(revision: str, role: Role) -> set[str]:
    return {method.wire for method in spec(revision).sent_by(role, "notification")}


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_requests_of_a_revision_are_these(revision: str) -> None:
    found = [row(method) for method in spec(revision).methods if method.kind == "request"]
    assert sorted(found) == sorted(rows(REQUESTS[revision]))


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_notifications_of_a_revision_are_these(revision: str) -> None:
    client, server = NOTIFICATIONS[revision]
    assert sent(revision, "client") == set(client.split())
    assert sent(revision, "server") == set(server.split())


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_notification_is_announced_by_the_capability_it_is_named_after(revision: str) -> None:
    found = [one for one in spec(revision).methods if one.kind == "notification"]
    assert {one.wire: one.capability for one in found} == {one.wire: ANNOUNCED[one.wire] for one in found}


def test_what_became_a_payload_is_no_request_any_more() -> None:
    known = {definition.name for definition in spec("2026-07-28").definitions}
    assert {"ElicitRequest", "CreateMessageRequest", "ListRootsRequest"} <= known
    wires = {method.wire for method in spec("2026-07-28").methods}
    assert wires & {"elicitation/create", "sampling/createMessage", "roots/list"} == set()
    assert spec("2026-07-28").sent_by("server", "request") == ()


def demanding(revision: str) -> Iterator[str]:
    """The methods whose messages must have params, without a type for them."""
    return (one.wire for one in spec(revision).methods if one.params_required and one.params is None)


@pytest.mark.parametrize("revision", REVISIONS)
def test_params_that_must_be_there_have_a_type(revision: str) -> None:
    assert list(demanding(revision)) == []


@pytest.mark.parametrize(
    ("revision", "wire", "params", "required"),
    [
        ("2025-11-25", "tools/list", "PaginatedRequestParams", False),
        ("2025-11-25", "tools/call", "CallToolRequestParams", True),
        ("2025-11-25", "ping", "RequestParams", False),
        ("2026-07-28", "tools/list", "PaginatedRequestParams", True),
        ("2026-07-28", "server/discover", "RequestParams", True),
        ("2026-07-28", "notifications/tools/list_changed", "NotificationParams", False),
    ],
)
def test_params_are_a_definition_and_are_needed_or_not(
    revision: str, wire: str, params: str, required: bool
) -> None:
    method = next(one for one in spec(revision).methods if one.wire == wire)
    assert (method.params, method.params_required) == (params, required)


def test_a_definition_has_its_members_with_both_names() -> None:
    tool = next(one for one in spec("2026-07-28").definitions if one.name == "Tool")
    members = {member.wire: (member.python, member.required) for member in tool.members}
    assert tool.shape == "object"
    assert members["inputSchema"] == ("input_schema", True)
    assert members["_meta"] == ("meta", False)


# Schemas of our own, for what no published revision shows.


def const(value: str) -> dict[str, str]:
    return {"type": "string", "const": value}


def message(wire: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"method": const(wire)}, "required": ["method"], **more}


def refer(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


RESULT = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
ONE = {"ClientRequest": {"anyOf": [refer("AskRequest")]}, "AskRequest": message("ask"), "AskResult": RESULT}


@pytest.mark.parametrize(
    ("union", "wire", "declared", "capability"),
    [
        ("ServerNotification", "notifications/tools/list_changed", {"ServerCapabilities": "tools"}, "tools"),
        ("ServerNotification", "notifications/tools/list_changed", {"ClientCapabilities": "tools"}, "tools"),
        ("ServerNotification", "notifications/tools/list_changed", {"ServerCapabilities": "prompts"}, None),
        ("ClientNotification", "notifications/message", {"ServerCapabilities": "logging"}, "logging"),
        ("ServerNotification", "notifications/message", {}, None),
        ("ServerNotification", "notifications/other", {"ServerCapabilities": "other"}, None),
        ("ClientRequest", "tools/ask", {"ServerCapabilities": "tools"}, "tools"),
        ("ClientRequest", "tools/ask", {"ClientCapabilities": "tools"}, None),
        ("ServerRequest", "roots/ask", {"ClientCapabilities": "roots"}, "roots"),
        ("ServerRequest", "roots/ask", {"ServerCapabilities": "roots"}, None),
    ],
)
def test_a_capability_announces_a_method_where_a_side_that_counts_declares_it(
    union: str, wire: str, declared: dict[str, str], capability: str | None
) -> None:
    name = "AskRequest" if union.endswith("Request") else "AskNotification"
    sides = {side: {"type": "object", "properties": {own: RESULT}} for side, own in declared.items()}
    known = lower(read({union: {"anyOf": [refer(name)]}, name: message(wire), "AskResult": RESULT, **sides}))
    assert [method.capability for method in known.methods] == [capability]


def test_a_union_of_one_is_recognised_by_the_copy_that_is_published() -> None:
    copied = {**ONE, "ClientRequest": message("ask")}
    assert [method.message for method in lower(read(copied)).methods] == ["AskRequest"]


def test_a_literal_outside_the_role_unions_is_no_method() -> None:
    known = lower(read({**ONE, "OldRequest": message("old"), "OldResult": RESULT}))
    assert [method.wire for method in known.methods] == ["ask"]


def test_a_response_definition_says_what_answers_before_a_name_does() -> None:
    response = {
        "type": "object",
        "properties": {"result": {"anyOf": [refer("InputRequiredResult"), refer("Other")]}},
    }
    known = lower(read({**ONE, "AskResultResponse": response, "Other": RESULT, "InputRequiredResult": {
        "type": "object", "properties": {"resultType": {"type": "string"}}}}))  # fmt: skip
    assert known.methods[0].results == ("Other", "InputRequiredResult")
    assert known.methods[0].input_required


@pytest.mark.parametrize(("own", "doc"), [("Own words.", "Own words."), ("  ", "")])
def test_a_schema_documents_itself(own: str, doc: str) -> None:
    known = lower(read({**ONE, "AskRequest": message("ask", description=own)}))
    assert known.methods[0].doc == doc


@pytest.mark.parametrize(
    ("definitions", "problem", "pointer"),
    [
        ({k: v for k, v in ONE.items() if k != "AskResult"}, "no result is known for AskRequest", "/$defs/AskRequest"),
        ({**ONE, "AskRequest": {"type": "object", "properties": {"method": {"type": "string"}}}}, "no constant", "/$defs/AskRequest"),
        ({**ONE, "ClientRequest": {"anyOf": [refer("AskRequest"), {"type": "null"}]}}, "an arm that is no reference", "/$defs/ClientRequest"),
        (
            {**ONE, "ClientRequest": {"anyOf": [refer("AskRequest"), refer("AgainRequest")]}, "AgainRequest": message("ask"), "AgainResult": RESULT},
            "AskRequest and AgainRequest both have request 'ask'",
            "/$defs/AgainRequest",
        ),
    ],
)  # fmt: skip
def test_what_no_rule_reaches_is_an_error(definitions: dict[str, Any], problem: str, pointer: str) -> None:
    document = read(definitions)
    with pytest.raises(SchemaError) as caught:
        lower(document)
    assert problem in caught.value.problem
    assert caught.value.pointer == pointer
