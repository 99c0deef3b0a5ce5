"""What a failed reading says: each fault once, at its place in the value that was read.

Pydantic reports every arm of a union that was tried, and puts the arms' names into the place. What remains here
is the arm that the value means, and a path that leads through the value itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString, TypeAlias, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

UNKNOWN: Final = "?unknown"
"""The label of an arm that takes what no other arm took; its complaint is never the reason."""

Place: TypeAlias = tuple[int | str, ...]

Schema: TypeAlias = Any
"""A core schema, or a list of them."""

EXPECTED: Final = "Input should be "

TAG_FAULTS: Final = ("union_tag_invalid", "union_tag_not_found")
"""What Pydantic calls the faults of a tag, which it places at the object that should have it."""

NO_VARIANT: Final = "union_tag_invalid"
"""The fault of a tag that is there and is none of those expected."""

NO_NUMBER: Final = "finite_number"
"""The one fault that an unknown variant can have."""


def clean(error: ValidationError, schema: Schema, title: str = "") -> ValidationError:
    """The same failure, told once; `schema` is the core schema by which the value was read."""
    told: dict[Place, list[ErrorDetails]] = {}
    kept: set[Place] = set()
    for fault in error.errors(include_url=False):
        path, unknown = _path(schema, fault["loc"])
        if unknown and fault["type"] != NO_NUMBER:
            continue
        if unknown:
            kept.update(path[:length] for length in range(len(path)))
        if fault["type"] in TAG_FAULTS:
            path, fault = _at_tag(path, fault)
        told.setdefault(path, []).append(fault)
    above = {path[:length] for path in told for length in range(len(path))}
    # An arm that failed further inside was meant; what other arms say of the whole is not the reason, nor is the
    # tag of an unknown variant that was kept but for something in it.
    details = [
        _told(path, faults)
        for path, faults in told.items()
        if path not in above and not (faults[0]["type"] == NO_VARIANT and path[:-1] in kept)
    ]
    return ValidationError.from_exception_data(title or error.title, details)


def _at_tag(place: Place, fault: ErrorDetails) -> tuple[Place, ErrorDetails]:
    """What Pydantic says of an object whose tag is missing or is none of the known ones, said of the tag."""
    found, context = fault["input"], fault.get("ctx", {})
    if not isinstance(found, Mapping):
        return place, fault
    tag: str = context["discriminator"][1:-1]  # Pydantic quotes its name.
    if "expected_tags" not in context:
        return (*place, tag), {**fault, "type": "missing", "msg": "Field required"}
    expected = alternatives(context["expected_tags"].split(", "))
    value = cast(Mapping[str, Any], found).get(tag)
    return (*place, tag), {**fault, "type": NO_VARIANT, "msg": EXPECTED + expected, "input": value}


def alternatives(values: Sequence[str]) -> str:
    """Some values of which one is expected, in words."""
    *some, last = values
    return f"{', '.join(some)} or {last}" if some else last


def _told(path: Place, faults: Sequence[ErrorDetails]) -> InitErrorDetails:
    """All that was said about one place, as one fault."""
    messages = list(dict.fromkeys(fault["msg"] for fault in faults))
    if all(message.startswith(EXPECTED) for message in messages):
        text = EXPECTED + " or ".join(message.removeprefix(EXPECTED) for message in messages)
    else:
        text = "; ".join(messages)
    kind = PydanticCustomError(_literal(faults[0]["type"]), _literal(text))
    return InitErrorDetails(type=kind, loc=path, input=faults[0]["input"])


def _literal(text: Any) -> LiteralString:
    """Text of Pydantic's own, which asks to be given literals only."""
    literal: LiteralString = text
    return literal


def _path(schema: Schema, location: Place) -> tuple[Place, bool]:
    """The steps of a location that lead through the value, without the labels of arms; and whether one is UNKNOWN.

    What the schema does not account for stays as it is.
    """
    path: list[int | str] = []
    named: dict[str, Schema] = {}
    unknown = False
    # No recursion: a location may be as long as Pydantic follows data, which is further than Python calls itself.
    for index, step in enumerate(location):
        schema = _opened(schema, named)
        if "choices" in schema:
            label, schema = _arm(schema, step, location[index + 1 :], named)
            unknown = unknown or label == UNKNOWN
        else:
            schema = _inside(schema, step)
            path.append(step)
        if schema is None:
            return (*path, *location[index + 1 :]), unknown
    return tuple(path), unknown


def _opened(schema: Schema, named: dict[str, Schema]) -> Schema:
    """What remains of a schema without the layers that have no step of their own; fills in `named`."""
    while True:
        if schema["type"] == "definitions":
            named.update({definition["ref"]: definition for definition in schema["definitions"]})
        if schema["type"] == "definition-ref":
            schema = named[schema["schema_ref"]]
        elif "schema" in schema:
            schema = schema["schema"]
        else:
            return schema


def _arm(
    union: Schema, label: int | str, rest: Place, named: dict[str, Schema]
) -> tuple[int | str, Schema | None]:
    """The arm under a label; where Pydantic made up the label itself, the first that the next step can belong to."""
    if union["type"] == "tagged-union":
        return label, union["choices"].get(label)
    choices: list[Any] = union["choices"]
    labelled = {_label(arm): arm for arm in choices if _label(arm) is not None}
    if label in labelled:
        return label, labelled[label][0]
    others = [_opened(arm, named) for arm in choices if _label(arm) is None]
    fitting = (arm for arm in others if not rest or "choices" in arm or _inside(arm, rest[0]) is not None)
    return label, next(fitting, None)


def _label(arm: Any) -> str | None:
    """The label that an arm was given, if it was given one."""
    return None if "type" in arm else arm[1]


def _inside(schema: Schema, step: int | str) -> Schema | None:
    """The schema of what a value holds at one step; None if it can hold nothing there."""
    if schema["type"] == "list" and isinstance(step, int):
        return schema.get("items_schema")
    if schema["type"] == "dict":
        return schema.get("values_schema")
    fields = schema.get("fields", {})
    return next((f["schema"] for name, f in fields.items() if f.get("validation_alias", name) == step), None)
