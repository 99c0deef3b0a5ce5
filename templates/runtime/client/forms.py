"""Forms: what a user has entered, completed by the defaults of the form and judged by its schema.

A form is flat and its members are primitive (client/elicitation, Requested Schema), so that no validator is needed.
A keyword that its kind of member does not have says nothing, unless it makes sense.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from ..latest import types

Content: TypeAlias = dict[str, list[str] | int | str | float | bool]
"""The members of a form that has been filled in."""

KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool)
    and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())),
    "array": lambda value: isinstance(value, list),
}
"""Whether a value is of a JSON type."""

BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}
"""The keywords for the least and the most of a value, by its type: of what it is, or of how much it has."""

DATE_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def filled(form: types.ElicitRequestFormParamsRequestedSchema, content: Mapping[str, Any]) -> Content:
    """The content with the defaults of what was left out; raises ValueError, which names each misfit."""
    schema = form.model_dump()
    members: Mapping[str, Mapping[str, Any]] = schema["properties"]
    defaults = {name: member["default"] for name, member in members.items() if "default" in member}
    entered = {**defaults, **{name: value for name, value in content.items() if value is not None}}
    faults = [f"{name} is missing" for name in schema.get("required", ()) if name not in entered]
    for name, value in entered.items():
        fault = _fault(value, members[name]) if name in members else "is not in the form"
        if fault:
            faults.append(f"{name} {fault}")
    if faults:
        raise ValueError("; ".join(faults))
    return cast(Content, entered)


def _fault(value: Any, member: Mapping[str, Any]) -> str:
    """What is wrong with the value of a member; nothing is the empty text."""
    kind = member.get("type", "")
    if kind in KINDS and not KINDS[kind](value):
        return f"must be of type {kind}, and is {value!r}"
    if kind in BOUNDS:
        least, most = BOUNDS[kind]
        measure = value if kind in ("number", "integer") else len(value)
        low, high = (_said(member, keyword, (int, float), measure) for keyword in (least, most))
        if not low <= measure <= high:
            bounds = ", ".join(
                f"{keyword} {member[keyword]}" for keyword in (least, most) if keyword in member
            )
            return f"must keep to {bounds}, and is {value!r}"
    allowed = _choices(member.get("items", {}) if kind == "array" else member)
    for one in value if kind == "array" else [value]:
        if allowed is not None and one not in allowed:
            return f"must be one of {', '.join(map(repr, allowed))}, and is {one!r}"
    named = _said(member, "format", str, "")
    judged = isinstance(value, str) and named in FORMATS
    return f"must be a valid {named}, and is {value!r}" if judged and not FORMATS[named](value) else ""


def _said(
    member: Mapping[str, Any], keyword: str, kind: type[Any] | tuple[type[Any], ...], default: Any
) -> Any:
    """What a keyword says, if that is of the kind that it has to be."""
    found = member.get(keyword, default)
    return found if isinstance(found, kind) else default


def _choices(member: Mapping[str, Any]) -> list[Any] | None:
    """The values that may be chosen; None where any may be entered."""
    options = _said(member, "oneOf", list, _said(member, "anyOf", list, None))
    if options is None:
        return cast("list[Any] | None", _said(member, "enum", list, None))
    return [option["const"] for option in options if isinstance(option, dict) and "const" in option]


def _date(value: str) -> bool:
    try:
        return len(value) == 10 and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "email": lambda value: re.fullmatch(r"[^@\s]+@[^@\s]+", value) is not None,
    "uri": lambda value: re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S+$", value) is not None,
    "date": _date,
    "date-time": lambda value: DATE_TIME.fullmatch(value) is not None and _date(value[:10]),
}
"""Whether a text is what a form wants it to be, as far as that can be seen."""
