"""Unknown members that are spelled like the Python name of a known one: `structured_content` beside `structuredContent`.

Pydantic keeps one set of the names that were set, for known members by Python name and for unknown ones as they
came. Where that set alone says whether a member was there, a namesake would set it: here the two are told apart.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic_core import core_schema

Parts: TypeAlias = tuple[dict[str, Any], dict[str, Any] | None, set[str]]
"""What pydantic-core reads of a class: its members, the unknown ones, and the names of all that were set."""


class Namesake(str):
    """The name of an unknown member, while it is read: equal to the Python name of another, and of another type."""

    __slots__ = ()


def tell_apart(schema: Any, names: Iterable[str]) -> None:
    """Make the reader of a class leave members of these Python names unset where only a namesake was there."""
    chosen = sorted(names)
    while chosen and "schema" in schema:
        inner = schema["schema"]
        if inner["type"] == "model-fields":
            marked = core_schema.no_info_after_validator_function(
                Namesake, core_schema.literal_schema(chosen)
            )
            inner["extras_keys_schema"] = core_schema.union_schema(
                [marked, core_schema.any_schema()], mode="left_to_right"
            )
            unset = _Unset(frozenset(chosen)).unset
            schema["schema"] = core_schema.no_info_after_validator_function(unset, inner)
            return
        schema = inner


@dataclass(frozen=True, slots=True)
class _Unset:
    """The names that may have been set by a namesake."""

    names: frozenset[str]

    def unset(self, parts: Parts) -> Parts:
        """The parts of a value without what only namesakes set: a name that the member set came first, and is none."""
        values, extra, given = parts
        if not extra or extra.keys().isdisjoint(self.names):
            return parts
        plain = {str(name): value for name, value in extra.items()}
        return values, plain, {name for name in given if type(name) is not Namesake}


@contextmanager
def aside(value: BaseModel) -> Generator[None, None, None]:
    """Keep namesakes away while a member is set: Pydantic would give their values to the members they are spelled like."""
    found = value.model_extra or {}
    kept = {name: found.pop(name) for name in found.keys() & type(value).model_fields.keys()}
    try:
        yield
    finally:
        if kept and value.model_extra is not None:
            value.model_extra.update(kept)
