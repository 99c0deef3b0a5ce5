"""A server of 2025-11-25 over stdio, written out by hand: it takes nothing before the handshake, and nothing modern after.

How it answers what comes before the handshake is its one argument: the code of an error, or a word of `BEFORE`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

VERSION = "2025-11-25"
CAPABILITIES: Message = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True},
    "prompts": {},
    "logging": {},
    "completions": {},
    "tasks": {},
}

heard: list[Message] = []
waiting: dict[str, Callable[[Message], None]] = {}


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(identity: object, what: str, **more: Any) -> None:
    say(id=identity, result={"content": [{"type": "text", "text": what}], **more})


def notify(method: str, **params: Any) -> None:
    say(method=method, params=params)


def ask(identity: str, method: str, then: Callable[[Message], None], **params: Any) -> None:
    waiting[identity] = then
    say(id=identity, method=method, params=params)


# Before the handshake.


def die(identity: object) -> None:
    sys.exit(3)


def babble(identity: object) -> None:
    sys.stdout.write("Welcome!\n{]\n")
    sys.stdout.flush()


def nameless(identity: object) -> None:
    say(id=None, error={"code": -32700, "message": "what?"})


def empty(identity: object) -> None:
    say(id=identity, result={})


def still(identity: object) -> None:
    return


def names_itself(identity: object) -> None:
    say(id=identity, error={"code": -32022, "message": "no", "data": {"supported": [VERSION]}})


BEFORE: dict[str, Callable[[object], None]] = {
    "silence": still,
    "exit": die,
    "garbage": babble,
    "nameless": nameless,
    "empty": empty,
    "-32022": names_itself,
}


def refused(identity: object) -> None:
    how = sys.argv[1] if len(sys.argv) > 1 else "-32601"
    if how in BEFORE:
        BEFORE[how](identity)
    else:
        say(id=identity, error={"code": int(how), "message": "no"})


# After it.


def call(identity: object, name: str, arguments: Message, meta: Message) -> None:
    match name:
        case "heard":
            text(identity, json.dumps(heard))
        case "progress":
            for step in (1, 2):
                notify("notifications/progress", progressToken=meta["progressToken"], progress=step, total=2)
            text(identity, "done")
        case "log":
            for level in ("debug", "info", "error"):
                notify("notifications/message", level=level, data=level)
            text(identity, "said")
        case "ask":
            form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            ask("q", "elicitation/create", answered(identity), message="Who?", requestedSchema=form)
        case "visit":
            where = {"mode": "url", "message": "in", "url": "https://example.com/in", "elicitationId": "e"}
            ask("q", "elicitation/create", answered(identity), **where)
        case "sample":
            said = [{"role": "user", "content": {"type": "text", "text": "hi"}}]
            ask("q", "sampling/createMessage", answered(identity), messages=said, maxTokens=5)
        case "roots":
            ask("q", "roots/list", answered(identity))
        case "ping":
            ask("q", "ping", answered(identity))
        case "odd":
            ask("q", "tasks/list", answered(identity))
        case "url_first":
            again = any(one.get("params", {}).get("name") == name for one in heard[:-1])
            where = {"mode": "url", "message": "in", "url": "https://example.com/in", "elicitationId": "e"}
            if again:
                text(identity, "in")
            else:
                say(id=identity, error={"code": -32042, "message": "in", "data": {"elicitations": [where]}})
        case "change":
            notify("notifications/tools/list_changed")
            notify("notifications/resources/updated", uri="a://1")
            notify("notifications/resources/updated", uri="b://1")
            text(identity, "changed")
        case "typed":
            text(identity, "{}", structuredContent={"a": 1}, resultType="mine")
        case "wait":
            return
        case "end":
            sys.exit(4)
        case _:
            say(id=identity, error={"code": -32602, "message": f"Unknown tool: {name}"})


def answered(identity: object) -> Callable[[Message], None]:
    return lambda answer: text(identity, json.dumps(answer))


def request(identity: object, method: str, params: Message) -> None:
    match method:
        case "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe":
            say(id=identity, result={})
        case "tools/list":
            say(id=identity, result={"tools": [{"name": "heard", "inputSchema": {"type": "object"}}]})
        case "tools/call":
            call(identity, params["name"], params.get("arguments", {}), params.get("_meta", {}))
        case "resources/read":
            say(id=identity, error={"code": -32002, "message": "Not found", "data": {"uri": params["uri"]}})
        case _:
            say(id=identity, error={"code": -32601, "message": "no"})


def introduce(identity: object) -> None:
    who = {"name": "handshaking", "version": "1"}
    result = {
        "protocolVersion": VERSION,
        "capabilities": CAPABILITIES,
        "serverInfo": who,
        "instructions": "ask",
    }
    say(id=identity, result=result)


def main() -> None:
    introduced = False
    for line in sys.stdin:
        message = json.loads(line)
        heard.append(message)
        method, identity = message.get("method"), message.get("id")
        if method == "initialize":
            introduce(identity)
        elif method == "notifications/initialized":
            introduced = True
        elif method is None:
            waiting.pop(identity)(message)
        elif identity is not None and introduced:
            request(identity, method, message.get("params", {}))
        elif identity is not None:
            refused(identity)


if __name__ == "__main__":
    main()
