"""What the specification says has changed in 2026-07-28: each change that a schema can show is in the report, graded.

The rows follow the change list of the revision (basic and schema changes, deprecations). What no schema shows has
its reason beside it, and where a word would betray it, the word is in neither schema.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from revised import HISTORY, pair, revision

from mcpcodegen.diff import Change, diff
from mcpcodegen.facts import canonical

B, A, N = "breaking", "additive", "neutral"
META = "/properties/_meta/properties/io.modelcontextprotocol~1"
KEY = "/properties/io.modelcontextprotocol~1"
PAGES = ("ListPrompts", "ListResources", "ListResourceTemplates", "ListTools")
RESULTS = (*(f"{page}Result" for page in PAGES), "CallToolResult", "CompleteResult", "GetPromptResult")
ANSWERED = ("CallTool", "Complete", "GetPrompt", *PAGES, "ReadResource")
ERRORS = ("ParseError", "InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError")
NEW_ERRORS = (
    "HeaderMismatchError",
    "MissingRequiredClientCapabilityError",
    "UnsupportedProtocolVersionError",
)

Rows = tuple[tuple[str, str], ...]
"""Where a change is: the definition and the pointer, or the method and who writes what has changed."""

SHOWN: dict[str, tuple[str, str, str, Rows]] = {
    # the handshake and what every request says instead
    "no initialize": ("method-removed", N, B, (("initialize", "client"),)),
    "no initialized": ("method-removed", N, B, (("notifications/initialized", "client"),)),
    "protocol version in each request": (
        "required-member-added", A, B, (("RequestMetaObject", f"{KEY}protocolVersion"),)
    ),
    "client capabilities in each request": (
        "required-member-added", A, B, (("RequestMetaObject", f"{KEY}clientCapabilities"),)
    ),
    "client info in each request": ("member-added", A, A, (("RequestMetaObject", f"{KEY}clientInfo"),)),
    "server info in each result": (
        "member-added", A, A, tuple((name, f"{META}serverInfo") for name in ("Result", *RESULTS))
    ),
    "an error for the version": ("definition-added", A, A, (("UnsupportedProtocolVersionError", ""),)),
    "server/discover": ("method-added", B, A, (("server/discover", "client"),)),
    "_meta is required in params": (
        "member-required", N, B,
        tuple((name, "/properties/_meta") for name in ("RequestParams", "CallToolRequestParams", "PaginatedRequestParams")),
    ),
    # listening
    "no resources/subscribe": ("method-removed", N, B, (("resources/subscribe", "client"),)),
    "no resources/unsubscribe": ("method-removed", N, B, (("resources/unsubscribe", "client"),)),
    "subscriptions/listen": ("method-added", B, A, (("subscriptions/listen", "client"),)),
    "the listening is acknowledged": (
        "method-added", B, A, (("notifications/subscriptions/acknowledged", "server"),)
    ),
    "notifications name their subscription": (
        "member-added", A, A, (("ResourceUpdatedNotificationParams", f"{META}subscriptionId"),)
    ),
    # methods that are gone
    "no ping": ("method-removed", N, B, (("ping", "client"), ("ping", "server"))),
    "no logging/setLevel": ("method-removed", N, B, (("logging/setLevel", "client"),)),
    "log level in each request": ("member-added", A, A, (("RequestMetaObject", f"{KEY}logLevel"),)),
    "no roots/list_changed": ("method-removed", N, B, (("notifications/roots/list_changed", "client"),)),
    "progress is the server's": ("method-removed", N, B, (("notifications/progress", "client"),)),
    # tasks are an extension
    "no tasks": (
        "method-removed", N, B,
        tuple((f"tasks/{verb}", role) for verb in ("get", "result", "cancel", "list") for role in ("client", "server")),
    ),
    "no task status": ("method-removed", N, B, (("notifications/tasks/status", "server"),)),
    "no call is answered with a task": ("result-removed", N, B, (("tools/call", "server"),)),
    "no request asks for a task": ("member-removed", N, N, (("CallToolRequestParams", "/properties/task"),)),
    "no capability for tasks": (
        "member-removed", N, N,
        (("ClientCapabilities", "/properties/tasks"), ("ServerCapabilities", "/properties/tasks")),
    ),
    "tools do not speak of tasks": ("member-removed", N, N, (("Tool", "/properties/execution"),)),
    # rounds
    "three requests may be answered with a demand for input": (
        "result-added", B, A, (("tools/call", "server"), ("prompts/get", "server"), ("resources/read", "server"))
    ),
    "answers travel in the next request": (
        "member-added", A, A, (("CallToolRequestParams", "/properties/inputResponses"),)
    ),
    "state travels with them": ("member-added", A, A, (("CallToolRequestParams", "/properties/requestState"),)),
    "servers send no requests": (
        "method-enclosed", N, B,
        (("sampling/createMessage", "server"), ("roots/list", "server"), ("elicitation/create", "server")),
    ),
    "demands for input have no id": (
        "required-member-removed", B, N,
        tuple((name, "/properties/id") for name in ("CreateMessageRequest", "ElicitRequest", "ListRootsRequest")),
    ),
    "demands for input are no JSON-RPC": (
        "required-member-removed", B, N,
        tuple((name, "/properties/jsonrpc") for name in ("CreateMessageRequest", "ElicitRequest", "ListRootsRequest")),
    ),
    "answers to them are no results": (
        "member-removed", N, N, (("ElicitResult", "/properties/_meta"), ("ListRootsResult", "/properties/_meta"))
    ),
    "clients write no such results": ("alternative-removed", N, B, (("ClientResult", ""),)),
    "no elicitation/complete": ("method-removed", N, B, (("notifications/elicitation/complete", "server"),)),
    "no elicitationId": (
        "required-member-removed", B, N, (("ElicitRequestURLParams", "/properties/elicitationId"),)
    ),
    "no error that demands a URL": ("definition-removed", N, N, (("URLElicitationRequiredError", ""),)),
    # results
    "resultType in all results": (
        "required-member-added", A, B, tuple((name, "/properties/resultType") for name in ("Result", *RESULTS))
    ),
    "ttlMs": ("required-member-added", A, B, tuple((f"{page}Result", "/properties/ttlMs") for page in PAGES)),
    "cacheScope": ("required-member-added", A, B, tuple((f"{page}Result", "/properties/cacheScope") for page in PAGES)),
    "structured content is any JSON": (
        "type-widened", B, A,
        (("CallToolResult", "/properties/structuredContent"), ("ToolResultContent", "/properties/structuredContent")),
    ),
    "responses are typed": ("definition-added", A, A, tuple((f"{name}ResultResponse", "") for name in ANSWERED)),
    "standard errors are typed": ("definition-added", A, A, tuple((name, "") for name in ERRORS)),
    "new errors": ("definition-added", A, A, tuple((name, "") for name in NEW_ERRORS)),
    # the rest of the schema
    "extensions": (
        "member-added", A, A,
        (("ClientCapabilities", "/properties/extensions"), ("ServerCapabilities", "/properties/extensions")),
    ),
    "roots do not tell of changes": (
        "member-removed", N, N, (("ClientCapabilities", "/properties/roots/properties/listChanged"),)
    ),
    "schemas of tools are open": (
        "member-removed", N, N,
        tuple((name, "/properties/properties") for name in ("ToolInputSchema", "ToolOutputSchema")),
    ),
    "output is no longer always an object": ("required-member-removed", B, N, (("ToolOutputSchema", "/properties/type"),)),
    "a cancellation names its request": (
        "member-required", N, B, (("CancelledNotificationParams", "/properties/requestId"),)
    ),
    "lists need params": (
        "member-required", N, B, tuple((f"{page}Request", "/properties/params") for page in PAGES)
    ),
    "JSON values have names": (
        "definition-added", A, A, (("JSONValue", ""), ("JSONObject", ""), ("JSONArray", ""))
    ),
    # deprecations
    "roots are deprecated": (
        "deprecated", N, N,
        (("ClientCapabilities", "/properties/roots"), ("ListRootsRequest", ""), ("Root", "")),
    ),
    "sampling is deprecated": (
        "deprecated", N, N, (("ClientCapabilities", "/properties/sampling"), ("CreateMessageRequest", ""))
    ),
    "logging is deprecated": (
        "deprecated", N, N, (("ServerCapabilities", "/properties/logging"), ("LoggingMessageNotification", ""))
    ),
}  # fmt: skip
"""Each change of the list: its kind, its grades for readers and for writers, and where it is."""

NOT_SHOWN = {
    "no sessions": ("a header of HTTP", "session-id"),
    "no GET stream, no event ids, no resumption": ("a matter of HTTP", "last-event-id"),
    "a closed connection cancels": ("a matter of transports", ""),
    "discovery is mandatory": ("the schema says who may send what, not who must answer", ""),
    "tasks/update and the extension's new fields": ("the extension has a schema of its own", "tasks/update"),
    "trace context in _meta": ("_meta is open, and the schema does not name these keys", "traceparent"),
    "lists have an order that does not change": ("a rule for behaviour", ""),
    "mirrored headers": ("headers of HTTP", "mcp-method"),
    "x-mcp-header in the schemas of tools": ("the schemas of tools are open objects", "x-mcp-header"),
    "a missing resource is an invalid parameter": ("which code an error has is behaviour", "-32002"),
    "the issuer is checked": ("authorization has no messages of this schema", "issuer"),
    "the type of application at registration": (
        "authorization has no messages of this schema",
        "application_type",
    ),
    "references and bounds in the schemas of tools": ("rules for validators, not for messages", ""),
    "dynamic client registration is deprecated": (
        "authorization has no messages of this schema",
        "registration",
    ),
    "HTTP with server-sent events is deprecated": ("a transport, and since an earlier revision", ""),
    "ids may be used again": ("a rule for behaviour", ""),
    "servers cancel listening only": ("the schema gives `notifications/cancelled` to both roles", ""),
    "an empty cursor is a cursor": ("a text could always be empty", ""),
    "answers to demands for input may be left out": ("a rule for behaviour", ""),
    "file paths are made safe": ("a rule for behaviour", ""),
}
"""Each change that a schema cannot show: the reason, and a word that only a schema that shows it would have."""


def shows(change: Change, kind: str, place: tuple[str, str]) -> bool:
    where = (change.method, *change.written_by) if change.method else (change.definition, change.pointer)
    return change.kind == kind and where == place


@pytest.fixture(scope="module")
def changes() -> list[Change]:
    """What changed from 2025-11-25 to 2026-07-28."""
    return diff(revision("2025-11-25", Path()), revision("2026-07-28", Path()))


@pytest.mark.parametrize("claim", SHOWN)
def test_what_has_changed_is_in_the_report_in_its_place_and_grade(claim: str, changes: list[Change]) -> None:
    kind, readers, writers, places = SHOWN[claim]
    for place in places:
        found = [change for change in changes if shows(change, kind, place)]
        assert found, f"no {kind} at {place}"
        assert {(change.readers, change.writers) for change in found} == {(readers, writers)}


def test_the_list_is_long_enough_to_mean_something() -> None:
    assert len(SHOWN) >= 30


@pytest.mark.parametrize(("claim", "reason", "word"), [(claim, *row) for claim, row in NOT_SHOWN.items()])
def test_what_no_schema_shows_is_in_neither_schema(claim: str, reason: str, word: str) -> None:
    texts = [
        canonical({one.name: one.schema for one in revision(name, Path()).definitions}).lower()
        for name in ("2025-11-25", "2026-07-28")
    ]
    assert reason and claim not in SHOWN
    assert not word or all(word not in text for text in texts)


def test_numbers_that_were_integers_show_from_the_release_as_it_was_first_published(spec_dir: Path) -> None:
    """The release was mended in place, so its facts of today no longer differ there."""
    first = pair(revision(HISTORY[0], spec_dir), revision(HISTORY[-1], spec_dir))
    widened = [change for change in first.changes if change.definition == "NumberSchema"]
    assert [(change.pointer, change.kind) for change in widened] == [
        ("/properties/default", "type-widened"),
        ("/properties/maximum", "type-widened"),
        ("/properties/minimum", "type-widened"),
    ]


def test_the_list_explains_all_but_a_bound(changes: list[Change]) -> None:
    """What the list says of results or lists in general is true of more definitions than the rows above name.

    The bound is on the values of a completion, and prose had it before; `ServerResult` follows the methods.
    """
    named = {name for _, _, _, places in SHOWN.values() for name, _ in places}
    pointers = {
        pointer.rpartition("/")[2] for *_, places in SHOWN.values() for _, pointer in places if pointer
    }
    whole = ("definition-added", "definition-removed", "definition-renamed", "deprecated", "type-respelled")
    left = [
        change.definition
        for change in changes
        if change.kind not in whole and (change.method or change.definition) not in named
        if change.pointer.rpartition("/")[2] not in pointers
    ]
    assert set(left) == {"CompleteResultCompletion", "ServerResult"}
