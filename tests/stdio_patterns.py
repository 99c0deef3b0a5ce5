"""More of the table of rules over stdio: subscriptions, cancellation, progress, logging, pages and caches."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

from piped import (
    ABSENT,
    LEVEL,
    Heard,
    Message,
    Row,
    Some,
    Turn,
    Wait,
    acknowledged,
    answer,
    call,
    cancel,
    exactly,
    listen,
    metadata,
    notice,
    refusal,
    request,
    result,
    said,
    tagged,
)
from stdio_rules import HINTS, PARAMS, REQUEST, is_text

SUBSCRIPTIONS: Final = [
    Row(
        "SUB-1",
        "a list that nobody listens to changes unheard",
        [[listen(1, promptsListChanged=True, toolsListChanged=False)], [call(2, "test_trigger_tool_change")]],
        [acknowledged(1, promptsListChanged=True), said(2, "Tools have changed")],
    ),
    Row(
        "SUB-2 SUB-3 SUB-7",
        "the acknowledgement comes first, then the change, both with the id of the request",
        [
            [listen(1, toolsListChanged=True), call(2, "test_trigger_tool_change")],
            Wait(tagged("tools/list_changed", 1)),
        ],
        [acknowledged(1, toolsListChanged=True), Some(tagged("tools/list_changed", 1)), said(2, is_text)],
    ),
    Row(
        "SUB-3",
        "what is acknowledged is what is asked for and known here",
        [[listen(1, toolsListChanged=True, promptsListChanged=False, taskIds=["a"]), listen(2)]],
        [acknowledged(1, toolsListChanged=True), acknowledged(2)],
    ),
    Row(
        "SUB-3",
        "a filter that is none is refused",
        [
            [
                request(1, "subscriptions/listen"),
                request(2, "subscriptions/listen", notifications=[]),
                listen(3, toolsListChanged="yes"),
                listen(4, resourceSubscriptions="note://a"),
                listen(5, resourceSubscriptions=[1]),
            ]
        ],
        [refusal(number, PARAMS) for number in range(1, 6)],
    ),
    Row(
        "SUB-5 SUB-6 SUB-15",
        "each subscription has its own copy, under an id of its own type",
        [
            [*(listen(one, promptsListChanged=True) for one in (7, "7", 0, ""))],
            [call(1, "test_trigger_prompt_change")],
            *(Wait(tagged("prompts/list_changed", one)) for one in (7, "7", 0, "")),
        ],
        [
            *(acknowledged(one, promptsListChanged=True) for one in (7, "7", 0, "")),
            *(Some(tagged("prompts/list_changed", one)) for one in (7, "7", 0, "")),
            said(1, "Prompts have changed"),
        ],
    ),
    Row(
        "SUB-7",
        "a resource that has changed is told to those who named it",
        [
            [listen(1, resourceSubscriptions=["a:1", "a:2"]), listen(2, resourceSubscriptions=["a:3"])],
            [listen(3, resourcesListChanged=True), call(4, "update", uri="a:1")],
            Wait(tagged("resources/updated", 1)),
        ],
        [
            acknowledged(1, resourceSubscriptions=["a:1", "a:2"]),
            *[acknowledged(2, resourceSubscriptions=["a:3"]), acknowledged(3, resourcesListChanged=True)],
            *[tagged("resources/updated", 1, uri="a:1"), said(4, "updated")],
        ],
        server="asking",
    ),
    Row(
        "SUB-8 LOG-2",
        "neither log nor progress goes on a subscription, whatever its request asks for",
        [
            [listen(1, metadata(progressToken="p", **{LEVEL: "debug"}), toolsListChanged=True)],
            [call(2, "chat"), call(3, "steps")],
        ],
        [acknowledged(1, toolsListChanged=True), said(2, "said"), said(3, "done")],
        server="asking",
    ),
    Row(
        "SUB-9 CAN-3 SUB-16",
        "a subscription lasts until it is cancelled, and then says nothing more",
        [
            [listen(1, toolsListChanged=True), listen(2, toolsListChanged=True)],
            [cancel(1), call(3, "test_trigger_tool_change")],
            Wait(tagged("tools/list_changed", 2)),
        ],
        [
            *(acknowledged(one, toolsListChanged=True) for one in (1, 2)),
            *[Some(tagged("tools/list_changed", 2)), said(3, "Tools have changed")],
        ],
    ),
    Row(
        "SUB-6",
        "the id of a subscription is taken as long as it lasts, and free afterwards",
        [[listen(1)], [request(1, "tools/list")], [cancel(1), request(1, "tools/list")]],
        [acknowledged(1), refusal(1, REQUEST), answer(1)],
    ),
    Row(
        "SUB-10 SUB-11 SUB-5",
        "at the end each subscription gets its result as the last message, and no cancellation",
        [[listen(1, toolsListChanged=True), listen("1")]],
        [
            *[acknowledged(1, toolsListChanged=True), acknowledged("1")],
            *(
                answer(one, _meta={"io.modelcontextprotocol/subscriptionId": one}, content=ABSENT)
                for one in (1, "1")
            ),
        ],
        ends=True,
    ),
]

CANCELLATION: Final = [
    Row(
        "CAN-2 CAN-4",
        "a cancellation of what is not in flight, or of nothing, is passed over",
        [
            [
                *[
                    call(5, "wait", seconds=0.2),
                    cancel(999),
                    cancel("5"),
                    cancel(5.0),
                    cancel(None),
                    cancel([5]),
                ],
                {"jsonrpc": "2.0", "method": "notifications/cancelled"},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [5]},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "none"}},
            ]
        ],
        [said(5, "waited")],
        server="asking",
    ),
    Row(
        "CAN-4",
        "a cancellation that comes too late or too early does nothing, and the id can be used again",
        [[cancel(1), call(1, "wait", seconds=0.0)], [cancel(1), cancel(1), call(1, "wait", seconds=0.0)]],
        [said(1, "waited"), said(1, "waited")],
        server="asking",
    ),
    Row(
        "CAN-3 CAN-4",
        "what was cancelled leaves its id free at once",
        [[call(1, "wait", seconds=30.0), cancel(1), call(1, "wait", seconds=0.0)], Wait(said(1, "waited"))],
        [said(1, "waited")],
        server="asking",
        silent=[1],
    ),
]

PROGRESS: Final = [
    Row(
        "PRG-1 PRG-2 PRG-3",
        "progress goes up and up, under the token of its request, and ends before the answer",
        [[call(1, "steps", metadata(progressToken=0))]],
        [*(notice("progress", progressToken=0, progress=n) for n in (0, 1, 2)), said(1, "done")],
        server="asking",
        ordered=True,
    ),
    Row(
        "PRG-1",
        "a token is a text or an integer, and nothing else is one",
        [
            [
                *(
                    call(number, "steps", metadata(progressToken=one))
                    for number, one in enumerate((1.5, True, [1], {"a": 1}))
                ),
                call("t", "steps", metadata(progressToken="0")),
            ]
        ],
        [
            *(refusal(n, PARAMS) for n in range(4)),
            Some(notice("progress", progressToken="0")),
            said("t", "done"),
        ],
        server="asking",
    ),
    Row(
        "PRG-4",
        "requests side by side report under their own tokens",
        [[*(call(one, "test_tool_with_progress", metadata(progressToken=one)) for one in (1, "1", 0))]],
        [
            *(
                notice("progress", progressToken=one, progress=done, message=is_text)
                for one in (1, "1", 0)
                for done in (0, 50, 100)
            ),
            *(said(one, "All of 100") for one in (1, "1", 0)),
        ],
    ),
    Row(
        "PRG-5",
        "who does not ask for progress is told of none",
        [
            [
                call(1, "test_tool_with_progress"),
                call(2, "test_tool_with_progress", metadata(progressToken=None)),
            ]
        ],
        [said(1, "All of 100"), said(2, "All of 100")],
    ),
]

LOGGING: Final = [
    Row(
        "LOG-1",
        "the log is announced",
        [[request(1, "server/discover")]],
        [answer(1, capabilities={"logging": exactly({})})],
    ),
    Row(
        "LOG-2 LOG-4",
        "a request that asks for a level hears of that and what is worse, before its answer",
        [[call(1, "chat", metadata(**{LEVEL: "info"}))]],
        [
            notice("message", level="info", logger="chat", data={"level": "info"}),
            notice("message", level="error", logger="chat", data={"level": "error"}),
            said(1, "said"),
        ],
        server="asking",
        ordered=True,
    ),
    Row(
        "LOG-2",
        "one that asks for nothing, or for worse, hears nothing, whatever others asked for",
        [
            [
                call(1, "chat", metadata(**{LEVEL: "emergency"})),
                call(2, "chat"),
                call(3, "chat_plainly", metadata(**{LEVEL: "error"})),
            ]
        ],
        [said(1, "said"), said(2, "said"), said(3, "said")],
        server="asking",
    ),
    Row(
        "LOG-3",
        "a level that there is none of spoils its own request",
        [
            [
                call(1, "chat", metadata(**{LEVEL: "loud"})),
                call(2, "chat", metadata(**{LEVEL: 5})),
                call(3, "chat"),
            ]
        ],
        [refusal(1, PARAMS), refusal(2, PARAMS), said(3, "said")],
        server="asking",
    ),
]


def following(identity: int) -> Turn:
    """A turn that asks for the page after that of `identity`."""

    def turn(heard: Heard) -> Sequence[Message]:
        return [request(identity + 1, "tools/list", cursor=result(heard, identity)["nextCursor"])]

    return turn


def respelled(cursor: str) -> str:
    """Another text that leads to the same place, and was never given out."""
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(cursor).replace(b"#", b"#0")).decode()


def astray(heard: Heard) -> Sequence[Message]:
    cursor: str = result(heard, 1)["nextCursor"]
    return [
        request(2, "prompts/list", cursor=cursor),
        request(3, "tools/list", cursor=cursor[:-2]),
        request(4, "tools/list", cursor=cursor.swapcase()),
        request(5, "tools/list", cursor=""),
        request(6, "tools/list", cursor="nowhere"),
        request(7, "tools/list", cursor=1),
        request(8, "tools/list", cursor=cursor),
        request(9, "tools/list", cursor=respelled(cursor)),
    ]


def page(identity: int, size: int, last: bool = False) -> dict[str, Any]:
    """A page of the list of tools."""
    following = ABSENT if last else is_text
    return answer(
        identity, tools=[{"name": is_text}] * size, nextCursor=following, ttlMs=1000, cacheScope="private"
    )


PAGES: Final = [
    Row(
        "PAG-1 CACHE-7",
        "the pages of a list follow each other to the last, all with the same scope",
        [[request(1, "tools/list")], *(following(number) for number in range(1, 5))],
        [*(page(number, 4) for number in range(1, 5)), page(5, 1, last=True)],
        server="asking",
    ),
    Row(
        "PAG-3",
        "a cursor is good as often as it is used, and for its own list; what was never one is refused",
        [[request(1, "tools/list")], astray],
        [page(1, 4), *(refusal(number, PARAMS) for number in (2, 3, 4, 5, 6, 7, 9)), page(8, 4)],
        server="asking",
    ),
]

CACHES: Final = [
    Row(
        "CACHE-1 CACHE-9",
        "what can be cached says for how long and for whom: not at all, unless the author says more",
        [
            [
                request(1, "server/discover"),
                request(2, "tools/list"),
                request(3, "prompts/list"),
                request(4, "resources/list"),
                request(5, "resources/templates/list"),
                request(6, "resources/read", uri="test://static-text"),
            ]
        ],
        [answer(number, **HINTS) for number in range(1, 7)],
    ),
    Row(
        "CACHE-1",
        "what cannot be cached says nothing of it",
        [
            [
                call(1, "test_simple_text"),
                request(2, "prompts/get", name="test_simple_prompt"),
                request(
                    3,
                    "completion/complete",
                    ref={"type": "ref/prompt", "name": "test_prompt_with_arguments"},
                    argument={"name": "arg1", "value": "te"},
                ),
            ]
        ],
        [answer(number, ttlMs=ABSENT, cacheScope=ABSENT) for number in range(1, 4)],
    ),
    Row(
        "CACHE-5",
        "what everybody may be given says so",
        [[request(1, "resources/read", uri="test://static-binary")]],
        [answer(1, ttlMs=60_000, cacheScope="public")],
    ),
]
