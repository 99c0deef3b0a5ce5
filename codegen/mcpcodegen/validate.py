"""Messages against the exact schema of a revision: what the author of a server runs on his traffic.

A conversation is judged message by message; a response is judged by the method of the request that it answers,
which is found by its id. Everything here is a matter of the schema's definitions and of the method table; what
the schema cannot show is that `resultType` selects the result, and when an id is free.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .decode import Flaw, flaws
from .errors import printable
from .exchange import SESSION, Asked, Exchange
from .facts import kind_of
from .ir import ABSENT, Document, Json, Method, Schema, Spec, is_array, is_object
from .judge import Fault, Judge, once
from .lower import INPUT_REQUIRED
from .shapes import resolve
from .texts import Unreadable, Value, values

REQUEST, NOTIFICATION = "JSONRPCRequest", "JSONRPCNotification"
RESULTS = ("JSONRPCResultResponse", "JSONRPCResponse")
ERRORS = ("JSONRPCErrorResponse", "JSONRPCError")
"""The envelopes; those of responses were renamed in 2025-11-25."""

COMPLETE, INTERIM = "complete", "input_required"
"""The values of `resultType` that the specification defines; its schema says only that it is a text."""

TASK_RESULT = "CreateTaskResult"
"""What answers a request whose params have a `task` (2025-11-25)."""


@dataclass(frozen=True)
class Finding:
    """One fault of one message.

    `line` counts from 1 and is the one on which the member at `pointer` begins; for a member that is missing, the
    object that lacks it. `pointer` is a JSON pointer into the document: into the message, or, where the document
    is an array of messages, into that array.
    """

    line: int
    pointer: str
    found: str
    expected: str


class Validator:
    """Judges texts by one revision."""

    def __init__(self, document: Document, spec: Spec) -> None:
        """`document` has the corrected definitions, `spec` the methods of the same revision."""
        self._definitions = document.definitions
        self._judge = Judge(document.definitions)
        self._requests = {m.wire: m for m in spec.methods if m.kind == "request"}
        self._methods = {m.wire: m for m in spec.methods}
        self._errors = dict(_errors(document.definitions))

    @property
    def types(self) -> tuple[str, ...]:
        """What a text can be said to be: a definition, or a method for the result of that method."""
        return (*self._definitions, *self._requests)

    def values(self, text: str, name: str) -> Iterator[Finding]:
        """The faults of a text whose values are all meant to be a definition, or results of a method."""
        for value in values(text):
            if isinstance(value, Unreadable):
                yield _unread(value)
            else:
                faults = _bounded(value.json, self._faults(name, value.json), lambda: None)
                yield from _findings(value, "", faults, list(flaws(value.json)))

    def conversation(self, text: str) -> Iterator[Finding]:
        """The faults of a text that holds messages, one or many, in the order in which they were sent."""
        exchange = Exchange(sessions=SESSION in self._requests)
        for value in values(text):
            if isinstance(value, Unreadable):
                exchange.miss()
                yield _unread(value)
                continue
            marked: dict[str, list[Flaw]] = {}
            several = value.alone and is_array(value.json)
            for flaw in flaws(value.json):
                marked.setdefault("/" + flaw.pointer.split("/")[1] if several else "", []).append(flaw)
            messages = (
                ((f"/{i}", item) for i, item in enumerate(value.json)) if several else [("", value.json)]
            )
            for place, message in messages:
                faults = _bounded(message, self._message(message, exchange), exchange.miss)
                yield from _findings(value, place, faults, marked.get(place, []))

    def _faults(self, name: str, value: Json) -> Iterator[Fault]:
        if name not in self._requests:
            return self._judge.faults(name, value)
        method = self._requests[name]
        return self._result(Asked(method, method.results[0]), value, "")

    def _message(self, message: Json, exchange: Exchange) -> Iterator[Fault]:
        if not is_object(message):
            yield Fault("", message, "one message, an object")
        elif "method" in message and ("result" in message or "error" in message):
            exchange.miss()
            yield Fault("", message, "either a call or a response, not both")
        elif "method" in message:
            yield from once(self._call(message, exchange))
        elif "result" in message or "error" in message:
            yield from once(self._response(message, exchange))
        else:
            yield Fault("", message, "a message: one with a method, a result or an error")

    def _call(self, message: Schema, exchange: Exchange) -> Iterator[Fault]:
        method = self._methods.get(message["method"]) if isinstance(message["method"], str) else None
        asks = method.kind == "request" if method is not None else "id" in message
        envelope = list(self._judge.faults(REQUEST if asks else NOTIFICATION, message))
        yield from envelope
        if method is None:
            yield Fault(
                "/method", message["method"], f"a {'request' if asks else 'notification'} of this revision"
            )
        else:
            yield from self._judge.faults(method.message, message)
        if not asks and "id" in message:
            yield Fault("/id", message["id"], "nothing; a notification has no id")
        elif any(fault.pointer == "/id" for fault in envelope):
            exchange.miss()
        elif asks and not exchange.ask(message["id"], self._asked(method, message)):
            yield Fault("/id", message["id"], "an id that its sender has not taken")

    def _asked(self, method: Method | None, message: Schema) -> Asked:
        if method is None:
            return Asked(None, "")
        params = message.get("params")
        task = is_object(params) and "task" in params and self._takes_task(method)
        return Asked(method, TASK_RESULT if task else method.results[0])

    def _takes_task(self, method: Method) -> bool:
        """Whether a request can ask for a task instead of its result."""
        schema = resolve({"$ref": f"#/$defs/{method.params}"}, self._definitions) if method.params else {}
        arms = [resolve(arm, self._definitions) for arm in schema.get("anyOf", [schema])]
        return TASK_RESULT in self._definitions and any("task" in arm.get("properties", ()) for arm in arms)

    def _response(self, message: Schema, exchange: Exchange) -> Iterator[Fault]:
        succeeded = "result" in message
        # The result is judged by its method's own definition, below; in the envelope it is any object.
        judged = {**message, "result": {"resultType": ""}} if is_object(message.get("result")) else message
        envelope = list(
            self._judge.faults(_defined(RESULTS if succeeded else ERRORS, self._definitions), judged)
        )
        yield from envelope
        if succeeded and "error" in message:
            yield Fault("/error", message["error"], "either a result or an error, not both")
        if not succeeded:
            yield from self._error(message)
        if "id" not in message or any(fault.pointer == "/id" for fault in envelope):
            return
        asked = self._answered(message, exchange)
        if asked is not None and succeeded:
            yield from self._result(asked, message["result"], "/result")
        elif asked is None and not exchange.excused():
            yield Fault("/id", message["id"], "the id of an unanswered request")

    def _error(self, message: Schema) -> Iterator[Fault]:
        """The faults of an error whose code has a definition of its own."""
        code = message["error"].get("code") if is_object(message["error"]) else None
        name = self._errors.get(code) if type(code) is int else None
        if name is not None:
            yield from self._judge.faults(name, message)

    def _answered(self, message: Schema, exchange: Exchange) -> Asked | None:
        """The request that a response answers: where two wait for that id, the one whose result it fits."""
        waiting = exchange.waiting(message["id"])
        if not waiting:
            return None
        result = message.get("result")
        best = min(waiting, key=lambda asked: sum(1 for _ in self._result(asked, result, "")))
        exchange.answer(message["id"], best)
        return best

    def _result(self, asked: Asked, result: Json, place: str) -> Iterator[Fault]:
        """The faults of a result, measured by the definition that `resultType` selects."""
        if asked.method is None:
            return
        name = asked.result
        if INPUT_REQUIRED in self._definitions and is_object(result):
            known = (COMPLETE, INTERIM) if asked.method.input_required else (COMPLETE,)
            kind = result.get("resultType", ABSENT)
            if kind is not ABSENT and kind not in known:
                yield Fault(f"{place}/resultType", kind, " or ".join(map(json.dumps, known)))
                return
            asks = {"inputRequests", "requestState"} & set(result)
            if kind == INTERIM or kind is ABSENT and asks and asked.method.input_required:
                name = INPUT_REQUIRED
                if not asks:
                    yield Fault(place, result, "inputRequests, or requestState, or both")
        for fault in self._judge.faults(name, result):
            yield Fault(place + fault.pointer, fault.found, fault.expected)


def _errors(definitions: Mapping[str, Schema]) -> Iterator[tuple[int, str]]:
    """The definitions of responses that are for one error code, by that code."""
    for name, schema in definitions.items():
        error = resolve(schema.get("properties", {}).get("error", {}), definitions)
        code = error.get("properties", {}).get("code", {}).get("const")
        if isinstance(code, int):
            yield code, name


def _defined(names: tuple[str, ...], definitions: Mapping[str, Schema]) -> str:
    return next((name for name in names if name in definitions), names[0])


def _unread(value: Unreadable) -> Finding:
    return Finding(value.line, "", value.found, value.expected)


def _bounded(value: Json, faults: Iterator[Fault], failed: Callable[[], None]) -> Iterator[Fault]:
    """The faults of a value, the last of them that it is too deep for what judges it."""
    try:
        yield from faults
    except RecursionError:
        failed()
        yield Fault("", value, "less nesting; this is too deep to judge")


def _findings(value: Value, place: str, faults: Iterable[Fault], marked: Sequence[Flaw]) -> Iterator[Finding]:
    """The findings of a value, or of its item at `place`: its faults, unless its own text is at fault."""
    for flaw in marked:
        yield Finding(value.line(flaw.pointer), printable(flaw.pointer), flaw.found, flaw.expected)
    for fault in faults:
        if not marked:
            pointer = place + fault.pointer
            yield Finding(value.line(pointer), printable(pointer), _shown(fault.found), fault.expected)


def _shown(value: Json) -> str:
    if value is ABSENT:
        return "nothing"
    try:
        text = printable(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return f"{kind_of(value)}, too deep to show"
    return text if len(text) <= 60 else f"{kind_of(value)} {text[:50]}..."
