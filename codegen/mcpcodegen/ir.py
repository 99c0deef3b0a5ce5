"""The values that cross stage borders.

    Document   a schema, read: definitions by name, one dialect, every reference local
    Spec       a protocol revision, understood: definitions with members, methods with direction and result
    Bundle     text to be written, by relative path

`load` makes a Document, `hoist` a better one (corrections applied, every nested object named, Python names
decided), `lower` turns that into a Spec, `render` a Spec into a Bundle. A Spec points down only: it holds
definitions and methods, a definition holds members, and names are strings that refer sideways by definition
name. Everywhere `wire` is a name as it stands in messages and `python` is what code calls it.

An emitter of another language needs a Spec and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeGuard

Json: TypeAlias = Any
"""A JSON value of unknown shape: the only use of `Any` in the generator."""

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema object."""


class _Absent:
    """What stands where nothing does; equal to no JSON value."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def is_object(value: Json) -> TypeGuard[Schema]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


Role: TypeAlias = Literal["client", "server"]
Kind: TypeAlias = Literal["request", "notification"]
Shape: TypeAlias = Literal["object", "alias"]

Bundle: TypeAlias = Mapping[str, str]
"""Relative path (with `/`) to the text of the file."""


@dataclass(frozen=True)
class Document:
    """A schema whose definitions refer to each other as `#/$defs/NAME` and to nothing else.

    `revision` is the protocol revision, or empty when the document is none that is known; `source` names the
    file in messages; `digest` is the SHA-256 of the canonical facts and `container` the keyword under which the
    file keeps its definitions. `python` holds, once `hoist` has run, the Python name of each member by
    definition and wire name. `sums` has a hash of the facts of each definition where the document is no pinned one.
    """

    revision: str
    source: str
    digest: str
    container: str
    definitions: Mapping[str, Schema]
    python: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, dict[str, str]])
    sums: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Member:
    """One property of an object definition; `deprecated` says what to use instead, or is empty."""

    wire: str
    python: str
    required: bool
    schema: Schema
    doc: str
    deprecated: str


@dataclass(frozen=True)
class Definition:
    """One named type: an object with members, or an alias (a union, a primitive, an open dictionary).

    `deprecated` says since when and what to use instead, or is empty.
    """

    name: str
    shape: Shape
    members: tuple[Member, ...]
    schema: Schema
    doc: str
    deprecated: str


@dataclass(frozen=True)
class Method:
    """One request or notification.

    `senders` are the roles that may send it. `params` names the definition of its params (None: none at all)
    and `params_required` says whether a message must have them. `results` lists the definitions a result may
    have, the complete one first; a notification has none. `task_augmented` says that a request may ask for a
    task, whose creation is then its last result. `capability` is the member of the capabilities
    that announces the method, or None when nothing gates it: of the receiver's for a request; for a notification
    of the sender's, or else of the receiver's.
    """

    wire: str
    python: str
    constant: str
    kind: Kind
    senders: tuple[Role, ...]
    message: str
    params: str | None
    params_required: bool
    results: tuple[str, ...]
    capability: str | None
    paginated: bool
    cacheable: bool
    input_required: bool
    task_augmented: bool
    doc: str


@dataclass(frozen=True)
class Spec:
    """A protocol revision: what its schema says, in the terms of the protocol."""

    revision: str
    digest: str
    definitions: tuple[Definition, ...]
    methods: tuple[Method, ...]

    def sent_by(self, role: Role, kind: Kind) -> tuple[Method, ...]:
        """The methods of one kind that `role` may send, in the order of the schema's own role union."""
        return tuple(m for m in self.methods if m.kind == kind and role in m.senders)
