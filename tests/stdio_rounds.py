"""More of the table of rules over stdio: input that a server requires, in rounds (basic/patterns/mrtr)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from piped import (
    ABSENT,
    Heard,
    Message,
    Row,
    Turn,
    answer,
    asked,
    call,
    exactly,
    metadata,
    refusal,
    request,
    result,
    said,
)
from stdio_rules import ALL, CAPABILITY, FORMS, INTERNAL, NAME_FORM, PARAMS, is_text

ANN: Final = {"action": "accept", "content": {"name": "Ann"}}
BLUE: Final = {"action": "accept", "content": {"color": "blue"}}
SAMPLE: Final = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
ROOTS: Final = {"roots": [{"uri": "file:///a"}]}


def again(heard: Heard, identity: object, **answers: Any) -> dict[str, Any]:
    """The members of the round after a result that asked."""
    return {"requestState": result(heard, identity)["requestState"], "inputResponses": answers}


def retry(identity: int, tool: str, number: int | None = None, /, **answers: Any) -> Turn:
    """A turn that calls again, under the next id or one of its own, with answers to what was asked under `identity`."""

    def turn(heard: Heard) -> Sequence[Message]:
        return [call(number or identity + 1, tool, ALL, again=again(heard, identity, **answers))]

    return turn


def travel(identity: int, where: str, **answers: Any) -> Turn:
    """A turn that brings the state of the first call to a call of the tool that travels."""

    def turn(heard: Heard) -> Sequence[Message]:
        return [call(identity, "travel", ALL, where=where, again=again(heard, 1, **answers))]

    return turn


def tampered(heard: Heard) -> Sequence[Message]:
    members = again(heard, 1, confirm=ANN)
    state: str = members["requestState"]
    changed = [state[:-1], state + "A", "A" + state[1:], state.swapcase(), "", "x.y"]
    tool = "test_input_required_result_tampered_state"
    return [
        call(f"t{number}", tool, ALL, again={**members, "requestState": one})
        for number, one in enumerate(changed)
    ]


ROUNDS: Final = [
    Row(
        "MR-1 MR-15",
        "tools, prompts and resources ask, without hints for caches",
        [
            [
                call(1, "greet", ALL),
                request(2, "prompts/get", ALL, name="introduction"),
                request(3, "resources/read", ALL, uri="asked://name"),
            ]
        ],
        [asked(1, user_name=NAME_FORM), asked(2, user_context=NAME_FORM), asked(3, user_name=NAME_FORM)],
        server="asking",
    ),
    Row(
        "MR-1",
        "nothing else does, not even when it is given answers",
        [
            [
                request(1, "tools/list", ALL, inputResponses={"a": ANN}, requestState="x"),
                request(2, "server/discover", ALL, inputResponses={}),
                request(3, "prompts/list", ALL, requestState=""),
            ]
        ],
        [answer(1), answer(2), answer(3)],
    ),
    Row(
        "MR-3 MR-13",
        "a state alone is enough to ask with, and it may be empty",
        [[call(1, "own", ALL)], retry(1, "own"), [call(3, "own", ALL, again={"requestState": " ü "})]],
        [
            *[
                {
                    "id": 1,
                    "result": {"requestState": "", "inputRequests": ABSENT, "resultType": "input_required"},
                }
            ],
            *[{"id": 2, "result": {"requestState": " ü ", "inputRequests": ABSENT}}],
            {
                "id": 3,
                "result": {"requestState": ABSENT, "inputRequests": {"roots": {"method": "roots/list"}}},
            },
        ],
        server="asking",
    ),
    Row(
        "MR-3",
        "a handler that asks for nothing with nothing has failed",
        [[call(1, "raw", ALL, empty=True)]],
        [refusal(1, INTERNAL)],
        server="asking",
    ),
    Row(
        "MR-4",
        "several are asked at once, each a request of one of the three kinds under a key of its own",
        [
            [call(1, "test_input_required_result_multiple_inputs", ALL)],
            retry(
                1,
                "test_input_required_result_multiple_inputs",
                user_name=ANN,
                greeting=SAMPLE,
                client_roots=ROOTS,
            ),
        ],
        [
            asked(
                1,
                user_name=NAME_FORM,
                greeting={"method": "sampling/createMessage"},
                client_roots={"method": "roots/list"},
            ),
            said(2, "Hello, Ann! Paris 1"),
        ],
    ),
    Row(
        "MR-5",
        "only what the request declares is asked for, by method and by mode",
        [
            [
                call(1, "test_input_required_result_capabilities", metadata({"sampling": {}})),
                call(2, "test_input_required_result_capabilities", FORMS),
                call(3, "test_input_required_result_capabilities"),
            ]
        ],
        [
            asked(1, greeting={"method": "sampling/createMessage"}),
            asked(2, user_name=NAME_FORM),
            said(3, is_text),
        ],
    ),
    Row(
        "MR-5",
        "a call that cannot do without is refused, and says what it needs",
        [
            [
                call(1, "visit", FORMS),
                call(2, "greet"),
                call(3, "greet", metadata({"elicitation": {"url": {}}})),
            ]
        ],
        [
            refusal(1, CAPABILITY, data=exactly({"requiredCapabilities": {"elicitation": {"url": {}}}})),
            refusal(2, CAPABILITY, data=exactly({"requiredCapabilities": {"elicitation": {"form": {}}}})),
            refusal(3, CAPABILITY, data=exactly({"requiredCapabilities": {"elicitation": {"form": {}}}})),
        ],
        server="asking",
    ),
    Row(
        "MR-6 MR-12",
        "a state that was changed is refused, and not asked for again",
        [[call(1, "test_input_required_result_tampered_state", ALL)], tampered],
        [asked(1, confirm=NAME_FORM), *[refusal(f"t{number}", PARAMS) for number in range(6)]],
    ),
    Row(
        "MR-7",
        "a state is good for the request that it was given to, and no other",
        [
            [call(1, "travel", ALL, where="Oslo")],
            travel(2, "Rome", trip=ANN),
            retry(1, "greet", 3, trip=ANN),
            travel(4, "Oslo", trip={"action": "decline"}),
        ],
        [asked(1, trip=NAME_FORM), refusal(2, PARAMS), refusal(3, PARAMS), said(4, "decline")],
        server="asking",
    ),
    Row(
        "MR-8",
        "whoever never comes back keeps nothing waiting, and the next one is asked afresh",
        [[call(1, "greet", ALL), call(2, "greet", ALL)], [request(3, "tools/list")], [call(1, "greet", ALL)]],
        [*[asked(1, user_name=NAME_FORM)] * 2, asked(2, user_name=NAME_FORM), answer(3)],
        server="asking",
    ),
    Row(
        "MR-9 MR-12",
        "answers that are none are refused",
        [
            [
                *[
                    call(n, "greet", ALL, again={"inputResponses": one})
                    for n, one in enumerate(([], 5, "x", {"k": 5}))
                ],
                call("a", "greet", ALL, again={"inputResponses": {"user_name": {"action": "perhaps"}}}),
                call(
                    "b",
                    "greet",
                    ALL,
                    again={"inputResponses": {"user_name": {**ANN, "content": {"name": 5}}}},
                ),
                call("c", "greet", ALL, again={"inputResponses": {"user_name": ROOTS}}),
            ]
        ],
        [refusal(one, PARAMS) for one in (0, 1, 2, 3, "a", "b", "c")],
        server="asking",
    ),
    Row(
        "MR-10",
        "answers that nobody asked for are passed over",
        [[call(1, "greet", ALL)], retry(1, "greet", user_name=ANN, other=ROOTS, more=SAMPLE)],
        [asked(1, user_name=NAME_FORM), said(2, "Hello, Ann!")],
        server="asking",
    ),
    Row(
        "MR-11",
        "what was not answered is asked for again, and what was is not",
        [[call(1, "everything", ALL)], retry(1, "everything"), retry(2, "everything", name=ANN, roots=ROOTS)],
        [
            *[asked(n, name=NAME_FORM, capital={}, roots={}) for n in (1, 2)],
            asked(3, capital={"method": "sampling/createMessage"}),
        ],
        server="asking",
    ),
    Row(
        "MR-8 MR-22",
        "rounds follow each other, and each brings its own answers only",
        [
            [call(1, "test_input_required_result_multi_round", ALL)],
            retry(1, "test_input_required_result_multi_round", step1=ANN),
            retry(2, "test_input_required_result_multi_round", step2=BLUE),
        ],
        [asked(1, step1=NAME_FORM), asked(2, step2=NAME_FORM), said(3, "Hello, Ann! You like blue.")],
    ),
    Row(
        "MR-23",
        "a request cannot ask for ever",
        [
            [call(0, "stubborn", ALL)],
            *(retry(n, "stubborn", **{f"elicitation_{n + 1}": ANN}) for n in range(10)),
        ],
        [
            *({"id": n, "result": {"inputRequests": {f"elicitation_{n + 1}": NAME_FORM}}} for n in range(10)),
            refusal(10, INTERNAL),
        ],
        server="asking",
    ),
]
