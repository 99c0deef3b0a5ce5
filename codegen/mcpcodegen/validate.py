"""Messages against the exact schema of a revision: what the author of a server runs on his traffic.

A conversation is judged message by message; a response is judged by the method of the request that it answers,
which is found by its id. Everything here is a matter of the schema's definitions and of the method table; what
the schema cannot show is that `resultType` selects the result, and when an id is free.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from .arms import Distance
from .exchange import SESSION, Asked, Exchange
from .findings import Finding, findings, unread
from .ir import ABSENT, Document, Json, Method, Schema, Spec, is_array, is_object
from .judge import Fault, Judge, once
from .lower import INPUT_REQUIRED, TASK, TASK_CREATED
from .shapes import resolve
from .texts import Unreadable, Value, values

REQUEST, NOTIFICATION = "JSONRPCRequest", "JSONRPCNotification"
RESULTS = ("JSONRPCResultResponse", "JSONRPCResponse")
ERRORS = ("JSONRPCErrorResponse", "JSONRPCError")
"""The envelopes; those of responses were renamed in 2025-11-25."""

BATCH = "JSONRPCBatchRequest"
"""An array of messages that are sent as one; only 2025-03-26 has it."""

COMPLETE, INTERIM = "complete", "input_required"
"""The values of `resultType` that the specification defines; its schema says only that it is a text."""


class Validator:
    """Judges texts by one revision."""

    def __init__(self, document: Document, spec: Spec) -> None:
        """`document` has the corrected definitions, `spec` the methods of the same revision."""
        self._definitions = document.definitions
        self._judge = Judge(document.definitions)
        self._requests = {m.wire: m for m in spec.methods if m.kind == "request"}
        self._methods = {m.wire: m for m in spec.methods}
        self._errors = dict(_errors(document.definitions))
        self._batches = BATCH in document.definitions

    @property
    def types(self) -> tuple[str, ...]:
        """What a text can be said to be: a definition, or a method for the result of that method."""
        return (*self._definitions, *self._requests)

    def values(self, text: str, name: str) -> Iterator[Finding]:
        """The faults of a text whose values are all meant to be a definition, or results of a method."""
        for value in values(text):
            if isinstance(value, Unreadable):
                yield unread(value)
            else:
                faults = _bounded(value.json, self._faults(name, value.json), lambda: None)
                yield from findings(value, "", faults)

    def conversation(self, text: str) -> Iterator[Finding]:
        """The faults of a text that holds messages, one or many, in the order in which they were sent."""
        exchange = Exchange(sessions=SESSION in self._requests)
        for value in values(text):
            if isinstance(value, Unreadable):
                exchange.lose()
                yield unread(value)
                continue
            for place, message in _messages(value):
                if self._batches and is_array(message.json):
                    yield from self._batch(message, place, exchange)
                else:
                    yield from self._judged(message, place, exchange)

    def _faults(self, name: str, value: Json) -> Iterator[Fault]:
        if name not in self._requests:
            return self._judge.faults(name, value)
        return self._result(Asked(self._requests[name], None), value, "")

    def _batch(self, batch: Value, place: str, exchange: Exchange) -> Iterator[Finding]:
        """The faults of the messages of a batch, which are all calls or all responses: the first of them decides."""
        odd, wanted = _mixed(batch.json)
        for index, message in enumerate(batch.items()):
            more = [Fault("", message.json, wanted)] if index == odd else []
            yield from self._judged(message, f"{place}/{index}", exchange, more)

    def _judged(
        self, message: Value, place: str, exchange: Exchange, more: Iterable[Fault] = ()
    ) -> Iterator[Finding]:
        """The faults of one message, and what more is wrong with it where it stands."""
        faults = _bounded(message.json, self._message(message.json, exchange), exchange.lose)
        return findings(message, place, chain(faults, more))

    def _message(self, message: Json, exchange: Exchange) -> Iterator[Fault]:
        if is_array(message):
            for _ in message:
                exchange.lose()
            why = "a batch holds no batch" if self._batches else "this revision has no batches"
            yield Fault("", message, f"one message, an object; {why}")
        elif not is_object(message):
            exchange.lose()
            yield Fault("", message, "one message, an object")
        elif "method" in message and ("result" in message or "error" in message):
            exchange.lose()
            yield Fault("", message, "either a call or a response, not both")
        elif "method" in message:
            yield from once(self._call(message, exchange))
        elif "result" in message or "error" in message:
            yield from once(self._response(message, exchange))
        else:
            yield _nameless(message, exchange)

    def _call(self, message: Schema, exchange: Exchange) -> Iterator[Fault]:
        method = self._methods.get(message["method"]) if isinstance(message["method"], str) else None
        asks = method.kind == "request" if method is not None else "id" in message
        envelope = list(self._judge.faults(REQUEST if asks else NOTIFICATION, message))
        yield from envelope
        if method is None:
            kind = "request" if asks else "notification"
            yield Fault("/method", message["method"], f"a {kind} of this revision")
        else:
            yield from self._judge.faults(method.message, message)
        asked = _asked(method, message.get("params"))
        if not asks and "id" in message:
            yield Fault("/id", message["id"], "nothing; a notification has no id")
        elif any(fault.pointer == "/id" for fault in envelope):
            exchange.lose_request(asked)
        elif asks and not exchange.ask(message["id"], asked):
            yield Fault("/id", message["id"], "an id that its sender has not taken in one conversation")

    def _response(self, message: Schema, exchange: Exchange) -> Iterator[Fault]:
        succeeded = "result" in message
        # The result is judged by its method's own definition, below; in the envelope it is any object.
        judged = {**message, "result": {"resultType": ""}} if is_object(message.get("result")) else message
        name = _defined(RESULTS if succeeded else ERRORS, self._definitions)
        envelope = list(self._judge.faults(name, judged))
        yield from envelope
        if succeeded and "error" in message:
            yield Fault("/error", message["error"], "either a result or an error, not both")
        if not succeeded:
            yield from self._error(message)
        if "id" not in message or any(fault.pointer == "/id" for fault in envelope):
            exchange.lose_answer()
            return
        asked = self._answered(message, exchange)
        if asked is None:
            exchange.lose_answer()
            yield Fault("/id", message["id"], "the id of an unanswered request")
        elif succeeded:
            yield from self._result(asked, message["result"], "/result")

    def _error(self, message: Schema) -> Iterator[Fault]:
        """The faults of an error whose code has a definition of its own."""
        code = message["error"].get("code") if is_object(message["error"]) else None
        name = self._errors.get(code) if type(code) is int else None
        if name is not None:
            yield from self._judge.faults(name, message)

    def _answered(self, message: Schema, exchange: Exchange) -> Asked | None:
        """The request that a response answers: of those that wait for its id, the one whose result it fits best.

        A request that was told to have no id of its own can be the one as well, where the response fits it alone.
        """
        waiting, lost = exchange.waiting(message["id"]), exchange.lost
        if not waiting and not lost:
            return None
        best = (waiting or lost)[0]
        if "result" in message:
            result = message["result"]
            best = min(waiting or lost, key=lambda asked: self._misfit(asked, result))
            if waiting and self._misfit(best, result)[0]:
                known = (one for one in lost if one.method is not None)
                best = next((one for one in known if not self._misfit(one, result)[0]), best)
        if best in waiting:
            exchange.answer(message["id"], best)
        else:
            exchange.recover(best)
        return best

    def _misfit(self, asked: Asked, result: Json) -> tuple[bool, Distance]:
        """How ill a result fits a request: whether it has faults at all, then how few of its members are known."""
        faulty = any(True for _ in self._result(asked, result, ""))
        if asked.method is None or not faulty or not is_object(result):
            return faulty, Distance(0, 0)
        return faulty, self._judge.distance(self._wanted(asked, asked.method, result), result)

    def _wanted(self, asked: Asked, method: Method, result: Json) -> str:
        """The definition that a result is meant to have where no `resultType` selects it.

        A request may have asked for a task, of a receiver that knows tasks or of one that answers as ever.
        """
        complete = method.results[0]
        if not method.task_augmented or asked.task is False:
            return complete
        given = result.keys() if is_object(result) else set[str]()
        answered = given >= set(self._definitions[complete].get("required", ()))
        return complete if answered or (asked.task is None and TASK not in given) else TASK_CREATED

    def _result(self, asked: Asked, result: Json, place: str) -> Iterator[Fault]:
        """The faults of a result, measured by the definition that `resultType` selects."""
        if asked.method is None:
            return
        name = self._wanted(asked, asked.method, result)
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


def _nameless(message: Schema, exchange: Exchange) -> Fault:
    """What is wrong with a message that has neither a method nor an outcome: which of them it is that lacks."""
    waiting = exchange.waiting(message.get("id"))
    if "params" in message or not waiting:
        exchange.ask(message.get("id"), Asked(None, None))
        place = "/method" if "params" in message else ""
        return Fault(place, ABSENT if place else message, "a method, a result or an error")
    exchange.answer(message["id"], waiting[0])
    return Fault("/result", ABSENT, "a result or an error")


def _mixed(batch: list[Json]) -> tuple[int, str]:
    """The first message of a batch that is a call among responses or a response among calls, and what is expected.

    The number is -1 when there is none.
    """
    kinds = [_kind(message) for message in batch]
    begun = next(filter(None, kinds), "")
    odd = next((index for index, kind in enumerate(kinds) if kind not in ("", begun)), -1)
    return odd, f"a {begun}, as the batch began with one"


def _kind(message: Json) -> str:
    """Whether a message is a call or a response; empty when it is neither, or both."""
    calls = is_object(message) and "method" in message
    responds = is_object(message) and ("result" in message or "error" in message)
    return "" if calls == responds else "call" if calls else "response"


def _asked(method: Method | None, params: Json) -> Asked:
    return Asked(method, TASK in params if is_object(params) else None)


def _errors(definitions: Mapping[str, Schema]) -> Iterator[tuple[int, str]]:
    """The definitions of responses that are for one error code, by that code."""
    for name, schema in definitions.items():
        error = resolve(schema.get("properties", {}).get("error", {}), definitions)
        code = error.get("properties", {}).get("code", {}).get("const")
        if isinstance(code, int):
            yield code, name


def _defined(names: tuple[str, ...], definitions: Mapping[str, Schema]) -> str:
    return next((name for name in names if name in definitions), names[0])


def _messages(value: Value) -> Iterator[tuple[str, Value]]:
    """The messages of a document, each with its place there: itself, or the items of an array."""
    if value.alone and is_array(value.json):
        yield from ((f"/{index}", item) for index, item in enumerate(value.items()))
    else:
        yield "", value


def _bounded(value: Json, faults: Iterator[Fault], failed: Callable[[], None]) -> Iterator[Fault]:
    """The faults of a value, the last of them that it is too deep for what judges it."""
    try:
        yield from faults
    except RecursionError:
        failed()
        yield Fault("", value, "less nesting; this is too deep to judge")
