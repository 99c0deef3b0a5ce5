"""Inputs: what a server may ask of a client, what the client must have declared for it, and how answers are read.

A form is flat and of primitive members (client/elicitation, Requested Schema); an answer is judged again here,
whatever the client has checked.
"""

# Sampling and roots are deprecated, and specified.
# pyright: reportDeprecated=false

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from ..errors import InvalidParams
from ..jsonrpc import explain
from ..latest import types
from .plain import Plain

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Schema: TypeAlias = Mapping[str, Any]

Ask: TypeAlias = types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest
"""A request for input."""

COMMON: Final = frozenset({"type", "title", "description", "default"})
KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "string": COMMON | {"minLength", "maxLength", "format", "enum", "oneOf", "enumNames"},
    "number": COMMON | {"minimum", "maximum"},
    "integer": COMMON | {"minimum", "maximum"},
    "boolean": COMMON,
    "array": COMMON | {"minItems", "maxItems", "items"},
}
"""What a member of a form may say, by its type."""

FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})
"""What a text of a form may be."""


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T]):
    """The user has answered: `content` is the form; None where the user went to a web page."""

    content: T
    action: Literal["accept"] = "accept"


@dataclass(frozen=True, slots=True)
class Refused:
    """The user said no (`decline`), or chose nothing (`cancel`)."""

    action: Literal["decline", "cancel"]


class Form(Generic[T]):
    """A form: its schema, and the way from the content of an answer to what the handler gets."""

    def __init__(self, shape: type[BaseModel] | Schema) -> None:
        """Read a model or a schema.

        Raises TypeError when it is not flat, or a member is no primitive; ValueError when it is of no object.
        """
        self._shape = shape
        schema = shape.model_json_schema(schema_generator=Plain) if isinstance(shape, type) else shape
        if schema.get("type", "object") != "object":
            raise ValueError(f"a form must be of type 'object', not {schema['type']!r}")
        defs = schema.get("$defs", {})
        members = {name: _member(name, member, defs) for name, member in schema.get("properties", {}).items()}
        self.schema: dict[str, Any] = {"type": "object", "properties": members}
        self.schema |= {key: schema[key] for key in ("$schema", "required") if schema.get(key)}

    def read(self, content: Mapping[str, Any]) -> T:
        """The content as the model, or as the dictionary that a schema describes; raises InvalidParams."""
        if not isinstance(self._shape, type):
            # Few authors write schemas of their own, and importing the validator takes its time.
            from ..schemas import judge_arguments

            complaint = judge_arguments({"type": "object", **self._shape}).complaint(content)
            if complaint:
                raise InvalidParams(complaint)
            return cast(T, dict(content))
        try:
            # Strict reading is defined on JSON text: there a date is a string, and "5" is no integer.
            return cast(T, self._shape.model_validate_json(to_json(content), strict=True))
        except ValidationError as error:
            raise InvalidParams(explain(error)) from None


@lru_cache
def model_form(model: type[M]) -> Form[M]:
    """The form of a model, read once: a handler that asks runs more than once."""
    return Form(model)


def _member(name: str, given: Schema, defs: Schema) -> dict[str, Any]:
    """A member of a form as clients take it: what they do not know is judged here alone, when the answer comes."""
    schema = _resolved(given, defs)
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in KEYWORDS:
        raise TypeError(f"form member {name!r} must be a text, a number, a boolean or a choice")
    kept = {key: value for key, value in schema.items() if key in KEYWORDS[kind]}
    if kept.get("format", "date") not in FORMATS:
        del kept["format"]
    if kind == "array":
        items = _resolved(schema.get("items", {}), defs)
        if not ("anyOf" in items or ("enum" in items and items.get("type") == "string")):
            raise TypeError(f"form member {name!r} must be a list of choices")
        kept["items"] = {key: value for key, value in items.items() if key in ("type", "enum", "anyOf")}
    return kept


def _resolved(schema: Schema, defs: Schema) -> dict[str, Any]:
    """A schema without references, and without the null that stands for an absent member."""
    merged = dict(schema)
    if "$ref" in merged:
        merged = {**defs[merged.pop("$ref").rpartition("/")[2]], **merged}
    arms = [arm for arm in merged.get("anyOf", ()) if arm.get("type") != "null"]
    if len(arms) == 1 < len(merged["anyOf"]):
        del merged["anyOf"]
        merged = {**_resolved(arms[0], defs), **merged}
    if merged.get("default", ...) is None:
        del merged["default"]
    if "const" in merged:
        merged["enum"] = [merged.pop("const")]
    return merged


def form_request(message: str, form: Form[Any]) -> types.ElicitRequest:
    """The request for a form."""
    # Clients take an absent mode for a form, and the specification still wants it said (client/elicitation).
    params = {"mode": "form", "message": message, "requestedSchema": form.schema}
    return types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})


def read_form(form: Form[T]) -> Callable[[Any], Accepted[T] | Refused]:
    """The reader of the answer to a form."""
    return lambda answer: _elicited(answer, lambda result: form.read(result.content or {}))


def read_visit(answer: Any) -> Accepted[None] | Refused:
    """The answer to a URL: accepted means that the user agreed to open it, not that anything is done there."""
    return _elicited(answer, lambda result: None)


def read_sample(answer: Any) -> types.CreateMessageResult:
    """The message that a model wrote."""
    return _parsed(types.CreateMessageResult, answer)


def read_roots(answer: Any) -> list[types.Root]:
    """The roots of a client."""
    return _parsed(types.ListRootsResult, answer).roots


def _elicited(answer: Any, read: Callable[[types.ElicitResult], T]) -> Accepted[T] | Refused:
    result = _parsed(types.ElicitResult, answer)
    if result.action == "accept":
        return Accepted(read(result))
    if result.action == "decline":
        return Refused("decline")
    if result.action == "cancel":
        return Refused("cancel")
    raise InvalidParams(f"unknown action {result.action!r}")


def _parsed(type_: type[M], answer: Any) -> M:
    try:
        return type_.model_validate(answer)
    except ValidationError as error:
        raise InvalidParams(explain(error)) from None


def digest(key: str, request: Ask) -> str:
    """What a question is known by in the rounds to come: its key, its method and all that it says."""
    said = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    return sha256(json.dumps([key, said], sort_keys=True).encode()).hexdigest()


def needed(request: Ask) -> dict[str, Any]:
    """The capabilities that a client must have declared to be asked this."""
    if isinstance(request, types.ElicitRequest):
        url = isinstance(request.params, types.ElicitRequestURLParams)
        return {"elicitation": {"url" if url else "form": {}}}
    if isinstance(request, types.ListRootsRequest):
        return {"roots": {}}
    inner: dict[str, Any] = {}
    if request.params.tools is not None or request.params.tool_choice is not None:
        inner["tools"] = {}
    if request.params.include_context not in (None, "none"):
        inner["context"] = {}
    return {"sampling": inner}


def missing(request: Ask, declared: types.ClientCapabilities) -> dict[str, Any]:
    """What of that this client has not declared: empty when it may be asked."""
    told = declared.model_dump()
    if told.get("elicitation") == {}:
        told["elicitation"] = {
            "form": {}
        }  # Nothing in particular means forms (client/elicitation, Capabilities).
    return {
        name: modes
        for name, modes in needed(request).items()
        if told.get(name) is None or not modes.keys() <= told[name].keys()
    }
