"""What a server must do over stdio, rule by rule: as the rule is kept, and as a client breaks it.

The rules are counted as in our digest of the specification: IO and ERA-IO for basic/transports/stdio, MR for
basic/patterns/mrtr, SUB, CAN and PRG for the patterns of those names, LOG, PAG and CACHE for server/utilities.
"""

from __future__ import annotations

from typing import Any, Final

from piped import (
    ABSENT,
    VERSION,
    Row,
    Some,
    Wait,
    acknowledged,
    answer,
    asked,
    call,
    cancel,
    exactly,
    listen,
    metadata,
    notice,
    refusal,
    request,
    said,
    tagged,
)

RULES: Final = {
    **{"IO": 14, "ERA-IO": 5, "MR": 24, "SUB": 17, "CAN": 7},
    **{"PRG": 5, "LOG": 5, "PAG": 4, "CACHE": 9},
}
"""How many rules there are of each kind."""

_CLIENT = "binds clients"
_HTTP = "is about HTTP"

UNSEEN: Final = {
    "IO-1": "says who starts whom, which every row does",
    "IO-4": _CLIENT,
    "IO-10": _CLIENT,
    "IO-11": "credentials of a process are its environment: there is no message about them",
    "IO-12": "is about other transports",
    "IO-13": "is about other transports",
    "ERA-IO-3": _CLIENT,
    "ERA-IO-4": _CLIENT,
    "ERA-IO-5": "tells of servers of an older revision",
    "MR-16": _CLIENT,
    "MR-17": _CLIENT,
    "MR-18": _CLIENT,
    "MR-19": _CLIENT,
    "MR-20": _CLIENT,
    "MR-21": _CLIENT,
    "MR-24": _HTTP,
    "SUB-4": _CLIENT,
    "SUB-12": _CLIENT,
    "SUB-13": _HTTP,
    "SUB-14": "is about a server that announces no changes, and both of these do: see test_subscriptions",
    "SUB-17": _CLIENT,
    "CAN-1": _CLIENT,
    "CAN-5": "goes to the log of the server, which is no message",
    "CAN-6": "binds who sends requests, and servers send none",
    "CAN-7": _CLIENT,
    "LOG-5": "advises authors",
    "PAG-2": _CLIENT,
    "PAG-4": _CLIENT,
    "CACHE-2": _CLIENT,
    "CACHE-3": _CLIENT,
    "CACHE-4": _CLIENT,
    "CACHE-6": _CLIENT,
    "CACHE-8": "depends on who asks, and over stdio there is one who does",
}
"""The rules that no server can be seen to keep over stdio, each with the reason."""

PARSE, REQUEST, METHOD, PARAMS, INTERNAL, CAPABILITY, UNSUPPORTED = (
    *(-32700, -32600, -32601, -32602, -32603),
    *(-32021, -32022),
)
NOBODY: Final = ABSENT
"""The id of an error about something whose id could not be read."""

ALL: Final = metadata({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
FORMS: Final = metadata({"elicitation": {"form": {}}})

ODD = "a\nb\r\n\t\u2028\x85 é読🎉"
NAME_FORM: Final = {"method": "elicitation/create", "params": {"mode": "form"}}
HINTS: Final = {"ttlMs": 0, "cacheScope": "private"}


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


TRANSPORT: Final = [
    Row(
        "IO-2",
        "a text with line breaks and letters of all kinds stays within its line",
        [
            [
                request(
                    1, "prompts/get", name="test_prompt_with_arguments", arguments={"arg1": ODD, "arg2": "x"}
                )
            ]
        ],
        [answer(1, messages=[{"content": {"text": f"Prompt with arguments: arg1='{ODD}', arg2='x'"}}])],
    ),
    Row(
        "IO-2",
        "a message on two lines is two lines that are none, and what is no UTF-8 is no line either",
        [
            [
                b'{"jsonrpc":"2.0",',
                b'"id":1,"method":"server/discover"}',
                b'{"\xff":1}',
                request(2, "tools/list"),
            ]
        ],
        [*[refusal(NOBODY, PARSE)] * 3, answer(2)],
    ),
    Row(
        "IO-3",
        "a handler that fails says so in its answer, and nowhere else on stdout",
        [[call(1, "test_error_handling"), call(2, "test_simple_text")]],
        [
            answer(
                1, isError=True, content=[{"text": "This tool intentionally returns an error for testing"}]
            ),
            said(2, "This is a simple text response for testing."),
        ],
    ),
    Row(
        "IO-5",
        "answers that a client sends are refused, without the id that they name",
        [
            [
                {"jsonrpc": "2.0", "id": 1, "result": {}},
                b'{"jsonrpc":"2.0","id":2,"error":{}}',
                request(3, "tools/list"),
            ]
        ],
        [*[refusal(NOBODY, REQUEST)] * 2, answer(3)],
    ),
    Row(
        "IO-5 MR-2",
        "what the server needs it asks in a result, never in a request of its own",
        [[call(1, "test_streaming_elicitation", ALL)]],
        [asked(1, elicitation_1=NAME_FORM)],
    ),
    Row(
        "IO-6",
        "what belongs to several requests is told apart: by id, by progress token, by subscription",
        [
            [
                listen("s", toolsListChanged=True),
                call(1, "test_tool_with_progress", metadata(progressToken="p")),
                call(2, "test_tool_with_progress", metadata(progressToken=2)),
                call(3, "test_trigger_tool_change"),
            ]
        ],
        [
            acknowledged("s", toolsListChanged=True),
            Some(notice("progress", progressToken="p", total=100)),
            Some(notice("progress", progressToken=2, total=100)),
            Some(tagged("tools/list_changed", "s")),
            *[said(1, "All of 100"), said(2, "All of 100"), said(3, "Tools have changed")],
        ],
    ),
    Row(
        "IO-7",
        "an argument that HTTP repeats in a header is an argument, and nothing is missing",
        [[call(1, "test_x_mcp_header", region="eu")]],
        [said(1, "In eu")],
    ),
    Row(
        "IO-8 CAN-3",
        "a call that is cancelled at once is never answered",
        [[call(1, "wait", seconds=30.0), cancel(1, reason="enough")]],
        [],
        server="asking",
        silent=[1],
    ),
    Row(
        "IO-8 CAN-3",
        "a call that is cancelled on its way says nothing further",
        [
            [call(1, "test_tool_with_progress", metadata(progressToken=1))],
            Wait(notice("progress", progressToken=1)),
            [cancel(1), call(2, "test_tool_with_progress")],
        ],
        [Some(notice("progress", progressToken=1)), said(2, "All of 100")],
        silent=[1],
    ),
    Row(
        "IO-9",
        "at the end of the input what was accepted is answered, and the process ends well",
        [[call(1, "wait", seconds=0.2), request(2, "tools/list")]],
        [said(1, "waited"), answer(2)],
        server="asking",
        silent=[1],
        ends=True,
    ),
    Row(
        "IO-14",
        "requests are answered when they are done, not one after the other",
        [[call(1, "wait", seconds=0.3), request(2, "server/discover"), call("1", "wait", seconds=0.15)]],
        [answer(2), said("1", "waited"), said(1, "waited")],
        server="asking",
        ordered=True,
    ),
    Row(
        "IO-14",
        "an id that is in flight is not taken twice, and is free afterwards",
        [[call(1, "wait", seconds=0.2), call(1, "wait", seconds=0.1)], [call(1, "wait", seconds=0.0)]],
        [refusal(1, REQUEST), said(1, "waited"), said(1, "waited")],
        server="asking",
    ),
    Row(
        "ERA-IO-1 ERA-IO-2",
        "a probe tells which revisions are served, whatever it asks for",
        [[request(1, "server/discover"), request(2, "server/discover", metadata(**{VERSION: "2099-01-01"}))]],
        [
            answer(1, supportedVersions=["2026-07-28"], capabilities={"tools": {"listChanged": True}}),
            refusal(2, UNSUPPORTED, data=exactly({"supported": ["2026-07-28"], "requested": "2099-01-01"})),
        ],
    ),
    Row(
        "ERA-IO-2",
        "a handshake is none without its params, nor in the metadata of this revision, and learns what is served",
        [
            [
                {
                    "jsonrpc": "2.0",
                    "id": 0,
                    "method": "initialize",
                    "params": {"protocolVersion": "2025-11-25"},
                },
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                request(1, "initialize"),
            ]
        ],
        [
            refusal(0, PARAMS, data={"supported": ["2025-11-25", "2025-06-18", "2025-03-26"]}),
            refusal(1, METHOD, data={"supported": ["2026-07-28"]}),
        ],
    ),
]
