"""Document to Spec: what the definitions mean to the protocol.

Direction and kind come from the role unions (`ClientRequest`, `ServerNotification`, ...), never from `method`
literals: 2026-07-28 keeps three former requests as payloads, and literals would let them back in. What the
schema does not say is a row in a table below, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .errors import SchemaError
from .facts import escape, facts
from .ir import Definition, Document, Kind, Member, Method, Role, Schema, Spec
from .naming import constant_name, method_name
from .revisions import NO_WORDS, Words
from .shapes import UNIONS, target

ROLE_UNIONS: tuple[tuple[str, Role, Kind], ...] = (
    ("ClientRequest", "client", "request"),
    ("ServerRequest", "server", "request"),
    ("ClientNotification", "client", "notification"),
    ("ServerNotification", "server", "notification"),
)
"""The unions that say who sends what; a revision may lack one (2026-07-28 has no server requests)."""

EMPTY = "EmptyResult"
RESULTS: Mapping[str, str] = {
    # Until 2025-11-25 these requests are acknowledged without content, and no definition is named after them.
    "PingRequest": EMPTY,
    "SetLevelRequest": EMPTY,
    "SubscribeRequest": EMPTY,
    "UnsubscribeRequest": EMPTY,
    # The draft of May 2026 opens this channel before it says what closes it (SubscriptionsListenResult, June).
    "SubscriptionsListenRequest": EMPTY,
}
"""Results that neither an `XResultResponse` nor an `XResult` states."""

INPUT_REQUIRED = "InputRequiredResult"
"""The interim result of a multi round-trip request (basic/patterns/mrtr)."""

TASK, TASK_CREATED = "task", "CreateTaskResult"
"""The member of params that asks for a task, and what answers such a request at once (2025-11-25, Tasks)."""

CAPABILITIES: Mapping[str, str] = {
    # The pages of the features name the capability; the schema lists capabilities and methods apart.
    "completion": "completions",
    "elicitation": "elicitation",
    "logging": "logging",
    "message": "logging",
    "prompts": "prompts",
    "resources": "resources",
    "roots": "roots",
    "sampling": "sampling",
    "tasks": "tasks",
    "tools": "tools",
}
"""The capability that announces a method, by the first segment of its name; of a notification the one after
`notifications/`."""

OWN_CAPABILITIES: Mapping[Role, str] = {"client": "ClientCapabilities", "server": "ServerCapabilities"}
"""Where a role declares its capabilities."""

PEER: Mapping[Role, Role] = {"client": "server", "server": "client"}
"""Who receives what a role sends."""


def lower(document: Document, words: Words = NO_WORDS) -> Spec:
    """The protocol revision that a hoisted document describes.

    `words` documents definitions and members that do not document themselves. Raises SchemaError for a request
    whose result no rule reaches.
    """
    definitions = tuple(_definition(name, document, words) for name in document.definitions)
    reader = _Reader(document, {definition.name: definition for definition in definitions})
    methods = tuple(reader.methods())
    reader.check(methods)
    return Spec(document.revision, document.digest, definitions, methods)


def _definition(name: str, document: Document, words: Words) -> Definition:
    schema = document.definitions[name]
    properties: dict[str, Schema] = schema.get("properties") or {}
    members = tuple(
        Member(
            wire=wire,
            python=document.python[name][wire],
            required=wire in schema.get("required", ()),
            schema=properties[wire],
            doc=_own(properties[wire]) or words.member(name, wire),
            deprecated=_deprecated(f"{name}.{wire}", words),
        )
        for wire in properties
    )
    doc = _own(schema) or words.definition(name)
    return Definition(name, "object" if members else "alias", members, schema, doc, _deprecated(name, words))


def _own(schema: Schema) -> str:
    own = schema.get("description")
    return own if isinstance(own, str) and own.strip() else ""


def _deprecated(key: str, words: Words) -> str:
    row = words.deprecated.get(key)
    return f"Deprecated since {row.since}; use {row.instead} instead." if row else ""


class _Reader:
    """Reads methods off the role unions of one document."""

    def __init__(self, document: Document, definitions: Mapping[str, Definition]) -> None:
        self.document = document
        self.schemas = document.definitions
        self.definitions = definitions

    def methods(self) -> Iterator[Method]:
        """Each method once, in the order of the unions; one that both roles may send lists both."""
        senders: dict[tuple[str, Kind], list[Role]] = {}
        for union, role, kind in ROLE_UNIONS:
            for message in self._messages(union):
                senders.setdefault((message, kind), []).append(role)
        for (message, kind), roles in senders.items():
            yield self._method(message, kind, tuple(roles))

    def check(self, methods: Iterable[Method]) -> None:
        """Refuse two methods that would be one in Python or on the wire."""
        taken: dict[tuple[str, str], Method] = {}
        for method in methods:
            call = method.python if method.kind == "request" else f"notify_{method.python}"
            for place in (("the name", call), ("the constant", method.constant), (method.kind, method.wire)):
                other = taken.setdefault(place, method)
                if other is not method:
                    raise self._error(
                        method.message,
                        f"{other.message} and {method.message} both have {place[0]} {place[1]!r}",
                        "rename one of them",
                    )

    def _messages(self, union: str) -> Iterator[str]:
        if union not in self.schemas:
            return
        arms = next((self.schemas[union][key] for key in UNIONS if key in self.schemas[union]), None)
        if arms is None:
            # A union of one is published as that one's copy (ClientNotification in 2026-07-28).
            yield next((name for name in self.schemas if name != union and self._same(name, union)), union)
        else:
            yield from (self._reference(arm, union) for arm in arms)

    def _reference(self, schema: Schema, owner: str) -> str:
        if "$ref" not in schema:
            raise self._error(
                owner, "an arm that is no reference", "give each message and result a definition"
            )
        return target(schema["$ref"])

    def _same(self, name: str, union: str) -> bool:
        schema = self.schemas[union]
        if "$ref" in schema:
            return name == target(schema["$ref"])
        return bool(facts(self.schemas[name]) == facts(schema))

    def _method(self, message: str, kind: Kind, senders: tuple[Role, ...]) -> Method:
        properties: dict[str, Schema] = self.schemas[message].get("properties", {})
        wire = properties.get("method", {}).get("const")
        python = method_name(message, kind.capitalize())
        if not isinstance(wire, str) or not python:
            raise self._error(
                message,
                "no constant `method`" if python else f"no name is left for the {kind} {message!r}",
                "write each message of a role union as XRequest or XNotification with a constant method",
            )
        params = self._params(properties.get("params", {}))
        results = self._results(message) if kind == "request" else ()
        augmented = bool(results) and self._augmented(params)
        return Method(
            wire=wire,
            python=python,
            constant=constant_name(python, kind),
            kind=kind,
            senders=senders,
            message=message,
            params=params,
            params_required="params" in self.schemas[message].get("required", ()),
            results=(*results, TASK_CREATED) if augmented else results,
            capability=self._capability(wire, kind, senders),
            paginated=self._has(params, "cursor") and any(self._has(name, "nextCursor") for name in results),
            cacheable=any(self._has(name, "ttlMs") for name in results),
            input_required=INPUT_REQUIRED in results,
            task_augmented=augmented,
            doc=self.definitions[message].doc,
        )

    def _results(self, message: str) -> tuple[str, ...]:
        """The object definitions that answer a request, the complete one first."""
        stem = message.removesuffix("Request")
        if f"{stem}ResultResponse" in self.schemas:
            response = f"{stem}ResultResponse"
            result = self.schemas[response].get("properties", {}).get("result", {})
            names = list(self._arms(result, response))
        elif f"{stem}Result" in self.schemas:
            names = [f"{stem}Result"]
        elif message in RESULTS:
            names = [RESULTS[message]]
        else:
            raise self._error(message, f"no result is known for {message}", f"define {stem}Result")
        objects = [self._object({"$ref": f"#/$defs/{name}"}) or name for name in names]
        return tuple(sorted(objects, key=lambda name: name == INPUT_REQUIRED))

    def _params(self, schema: Schema) -> str | None:
        """The definition of params: an object, or a union of objects as for elicitation; None when it is neither."""
        name = target(schema["$ref"]) if "$ref" in schema else ""
        return self._object(schema) or (name if name and "anyOf" in self.schemas[name] else None)

    def _augmented(self, params: str | None) -> bool:
        """Whether params, or an arm of theirs, may ask for a task; the results do not say so in the schema."""
        if params is None or TASK_CREATED not in self.definitions:
            return False
        arms = self.schemas[params].get("anyOf", ())
        return self._has(params, TASK) or any(self._has(self._object(arm), TASK) for arm in arms)

    def _arms(self, schema: Schema, response: str) -> Iterator[str]:
        """The definitions that a result is one of: itself, or the arms of the union it names."""
        for arm in schema.get("anyOf", [schema]):
            name = self._reference(arm, response)
            if "anyOf" in self.schemas[name]:
                yield from self._arms(self.schemas[name], response)
            else:
                yield name

    def _object(self, schema: Schema) -> str | None:
        """The object definition that a schema refers to, through aliases; None when it is none."""
        name = ""
        while "$ref" in schema:
            name = target(schema["$ref"])
            schema = self.schemas[name]
        return name if name and self.definitions[name].shape == "object" else None

    def _capability(self, wire: str, kind: Kind, senders: tuple[Role, ...]) -> str | None:
        """The capability that announces a method: who receives a request declares it, who sends a notification.

        What a notification tells of may be the receiver's as well (`notifications/elicitation/complete`).
        """
        receivers: tuple[Role, ...] = tuple(PEER[role] for role in senders)
        roles: tuple[Role, ...] = receivers if kind == "request" else (*senders, *receivers)
        name = CAPABILITIES.get(wire.removeprefix("notifications/").partition("/")[0])
        return name if name and any(self._has(OWN_CAPABILITIES[role], name) for role in roles) else None

    def _has(self, name: str | None, member: str) -> bool:
        members = self.definitions[name].members if name is not None and name in self.definitions else ()
        return any(known.wire == member for known in members)

    def _error(self, message: str, problem: str, remedy: str) -> SchemaError:
        return SchemaError(
            problem,
            remedy=remedy,
            source=self.document.source,
            pointer=f"/{self.document.container}/{escape(message)}",
        )
