"""Messages against the exact schema of a revision: what the author of a server runs on his traffic.

A conversation is judged message by message; a response is judged by the method of the request that it answers,
which is found by its id. Everything here is a matter of the schema's definitions and of the method table; the
one rule that the schema cannot show is that `resultType` selects the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .errors import printable
from .facts import kind_of
from .ir import ABSENT, Document, Json, Method, Schema, Spec, is_object
from .judge import Fault, Judge
from .lower import INPUT_REQUIRED

REQUEST, NOTIFICATION = "JSONRPCRequest", "JSONRPCNotification"
RESULTS = ("JSONRPCResultResponse", "JSONRPCResponse")
ERRORS = ("JSONRPCErrorResponse", "JSONRPCError")
"""The envelopes; those of responses were renamed in 2025-11-25."""


Pending: TypeAlias = dict[str, list[Method]]
"""The requests that nothing has answered yet, by id; two where both sides use the same one."""


@dataclass(frozen=True)
class Finding:
    """One fault of one message. `line` counts from 1 and is the line on which the message begins."""

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
        self._notifications = {m.wire: m for m in spec.methods if m.kind == "notification"}

    @property
    def types(self) -> tuple[str, ...]:
        """What a text can be said to be: a definition, or a method for the result of that method."""
        return (*self._definitions, *self._requests)

    def values(self, text: str, name: str) -> Iterator[Finding]:
        """The faults of a text whose values are all meant to be a definition, or results of a method."""
        for line, value in _values(text):
            if isinstance(value, Finding):
                yield value
            elif name in self._requests:
                yield from _findings(line, self._result(self._requests[name], value, ""))
            else:
                yield from _findings(line, self._judge.faults(name, value))

    def conversation(self, text: str) -> Iterator[Finding]:
        """The faults of a text that holds messages, one or many, in the order in which they were sent."""
        pending: Pending = {}
        for line, value in _values(text):
            if isinstance(value, Finding):
                yield value
            elif is_object(value):
                yield from _findings(line, self._message(value, pending))
            else:
                yield from _findings(line, [Fault("", value, "one message, an object")])

    def _message(self, message: Schema, pending: Pending) -> Iterator[Fault]:
        if "method" in message and ("result" in message or "error" in message):
            yield Fault("", message, "either a call or a response, not both")
        elif "method" in message:
            yield from self._call(message, pending)
        elif "result" in message or "error" in message:
            yield from self._response(message, pending)
        else:
            yield Fault("", message, "a message: one with a method, a result or an error")

    def _call(self, message: Schema, pending: Pending) -> Iterator[Fault]:
        asks = "id" in message
        known = self._requests if asks else self._notifications
        method = known.get(message["method"]) if isinstance(message["method"], str) else None
        faults = list(self._judge.faults(REQUEST if asks else NOTIFICATION, message))
        if method is None:
            kind = "request" if asks else "notification"
            yield from faults or [Fault("/method", message["method"], f"a {kind} of this revision")]
            return
        if asks:
            unanswered = pending.setdefault(_key(message["id"]), [])
            if any(_same_sender(method, other) for other in unanswered):
                faults.append(Fault("/id", message["id"], "an id that no unanswered request has"))
            else:
                unanswered.append(method)
        yield from _once([*faults, *self._judge.faults(method.message, message)])

    def _response(self, message: Schema, pending: Pending) -> Iterator[Fault]:
        succeeded = "result" in message
        # The result is judged by its method's own definition, below; in the envelope it is any object.
        judged = {**message, "result": {"resultType": ""}} if is_object(message.get("result")) else message
        faults = list(self._judge.faults(self._defined(RESULTS if succeeded else ERRORS), judged))
        if succeeded and "error" in message:
            faults.append(Fault("/error", message["error"], "either a result or an error, not both"))
        method = self._answered(message, pending)
        if method is None and "id" in message and not faults:
            faults.append(Fault("/id", message["id"], "the id of an unanswered request"))
        if succeeded and method is not None:
            faults.extend(self._result(method, message["result"], "/result"))
        yield from _once(faults)

    def _answered(self, message: Schema, pending: Pending) -> Method | None:
        """The request that a response answers: where both sides have one of that id, the one whose result it fits."""
        unanswered = pending.get(_key(message["id"]), []) if "id" in message else []
        if not unanswered:
            return None
        result = message.get("result")
        best = min(unanswered, key=lambda method: sum(1 for _ in self._result(method, result, "")))
        unanswered.remove(best)
        return best

    def _result(self, method: Method, result: Json, place: str) -> Iterator[Fault]:
        """The faults of the result of a method, measured by the definition that `resultType` selects."""
        kind = result.get("resultType") if is_object(result) else None
        name = method.results[0]
        if kind == "input_required" and INPUT_REQUIRED in self._definitions:
            if not method.input_required:
                yield Fault(f"{place}/resultType", kind, f'"complete", as {method.wire} asks for no input')
                return
            name = INPUT_REQUIRED
            if not {"inputRequests", "requestState"} & set(result):
                yield Fault(place, result, "inputRequests, or requestState, or both")
        for fault in self._judge.faults(name, result):
            yield Fault(place + fault.pointer, fault.found, fault.expected)

    def _defined(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if name in self._definitions), names[0])


def _findings(line: int, faults: Iterable[Fault]) -> Iterator[Finding]:
    try:
        for fault in faults:
            yield Finding(line, printable(fault.pointer), _shown(fault.found), fault.expected)
    except RecursionError:
        yield Finding(line, "", "a value too deep to judge", "less nesting")


def _same_sender(one: Method, other: Method) -> bool:
    """Whether two requests come from one side for certain; each side counts its own ids."""
    return len(one.senders) == 1 and one.senders == other.senders


def _once(faults: list[Fault]) -> Iterator[Fault]:
    """Each place once: the envelope and the message's own definition see the same members."""
    seen: set[str] = set()
    for fault in faults:
        if fault.pointer not in seen:
            seen.add(fault.pointer)
            yield fault


def _values(text: str) -> Iterator[tuple[int, Json | Finding]]:
    """The JSON values of a text with the lines on which they begin: one document, or a value a line."""
    try:
        yield 1 + text[: len(text) - len(text.lstrip())].count("\n"), _parse(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _value(line, number)


def _value(line: str, number: int) -> Json | Finding:
    try:
        return _parse(line)
    except RecursionError:
        return Finding(number, "", "a value too deep to read", "less nesting")
    except ValueError as error:
        return Finding(number, "", f"no JSON ({error})", "one JSON value a line")


def _parse(text: str) -> Json:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(text: str) -> Json:
    raise ValueError(f"{text} is no JSON number")


def _key(identity: Json) -> str:
    """An id as a key: 1 and "1" are two ids."""
    return json.dumps(identity)


def _shown(value: Json) -> str:
    if value is ABSENT:
        return "nothing"
    try:
        text = printable(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return f"{kind_of(value)}, too deep to show"
    return text if len(text) <= 60 else f"{kind_of(value)} {text[:50]}..."
