"""What a tool gives back: any Python value becomes a result, by its type and by the return annotation.

Text and content blocks are content, alone or in a sequence. Everything else is structured content with its JSON as text beside it,
for clients that show only text (server/tools, Structured Content).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, MutableSequence, Sequence
from types import NoneType
from typing import Any, TypeAlias, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json, to_jsonable_python

from ..latest import types
from ..unions import Unknown
from .plain import Plain
from .registry import Schema, described, members_of, parts_of, unwrapped

Outcome: TypeAlias = types.CallToolResult | types.InputRequiredResult
"""How a call of a tool may end."""

BLOCKS = (
    types.TextContent,
    types.ImageContent,
    types.AudioContent,
    types.ResourceLink,
    types.EmbeddedResource,
    Unknown,
)


SEQUENCES = (list, tuple, deque, Sequence, MutableSequence, Collection, Iterable)
"""The types of values that may be content, by what their items are."""

FREE = (Any, object, *BLOCKS)
"""The types of what may be a block of content."""

Block: TypeAlias = types.ContentBlock | dict[str, str]
"""A block of content, built or as it travels."""


class Output:
    """The results of one tool."""

    def __init__(self, owner: str, annotation: Any) -> None:
        """Read the return annotation; raises TypeError when it promises a value that has no JSON Schema."""
        self._adapter: TypeAdapter[Any] | None = None
        self.schema: Schema | None = None
        """What the structured content keeps to, or None when the annotation promises none."""
        promised = _promised(annotation)
        if promised is not None:
            with described(owner):
                self._adapter = TypeAdapter(promised)
                self.schema = _output_schema(self._adapter, promised)

    def result(self, value: object) -> Outcome | str:
        """The result for what a tool returned, which can be sent; raises when its annotation promises another.

        A text is what most tools return, and stays one where nothing else is promised: see `finished`.
        """
        if self._adapter is None and type(value) is str:
            return _carried(value)
        if isinstance(value, Outcome):
            return _sendable(value)
        if self._adapter is not None:
            # Validated first: what is announced is kept to, and a dictionary will do for a model.
            checked = self._adapter.validate_python(value, by_alias=True, by_name=True)
            return structured(self._adapter.dump_python(checked, mode="json", by_alias=True), promised=True)
        content = _content(value)
        return structured(to_jsonable_python(value)) if content is None else _sendable(complete(content))


def finished(told: Outcome | str) -> Outcome:
    """The whole result, of a text too."""
    return complete([_text(told)]) if isinstance(told, str) else told


def complete(content: list[Block], **members: Any) -> types.CallToolResult:
    """A finished result of content and members under their wire names."""
    # Read rather than built: one pass over the whole takes half the time of building its parts.
    return types.CallToolResult.model_validate({"content": content, "resultType": "complete", **members})


def failed(text: str) -> types.CallToolResult:
    """A failure that a model shall read; half a surrogate pair, as in a file's name, is spelled out."""
    return complete([_text(text.encode(errors="backslashreplace").decode())], isError=True)


def structured(value: Any, *, promised: bool = False) -> types.CallToolResult:
    """A result of one JSON value, and its text; raises ValueError for a number that was promised and is none."""
    text = to_json(value, inf_nan_mode="null").decode()
    try:
        return complete([_text(text)], structuredContent=value)
    except ValidationError:
        # Somewhere in it is a number that JSON has no name for: null, in the value as in its text.
        if promised:
            raise ValueError(
                "NaN and the infinities are no numbers in JSON: null would break the promise"
            ) from None
        return complete([_text(text)], structuredContent=from_json(text))


def _content(value: object) -> list[Block] | None:
    """The blocks of text, of a block, and of a sequence that holds one; None for a value that is no content."""
    if value is None:
        return []
    if isinstance(value, str):
        return [_text(value)]
    parts = parts_of(value)
    blocks = [part for part in parts if isinstance(part, BLOCKS)]
    texts = [part for part in parts if isinstance(part, str)]
    if not blocks or len(blocks) + len(texts) < len(parts):
        return None
    return [
        _text(part) if isinstance(part, str) else part for part in parts if isinstance(part, (str, *BLOCKS))
    ]


def _sendable(outcome: Outcome) -> Outcome:
    """The same, which is what an author built; raises when it cannot be written."""
    outcome.wire_bytes()
    return outcome


def _text(text: str) -> Block:
    return {"type": "text", "text": _carried(text)}


def _carried(text: str) -> str:
    """The same text; raises UnicodeEncodeError for half a surrogate pair, which no message can carry."""
    if not text.isascii():
        text.encode()
    return text


def _promised(annotation: Any) -> Any:
    """The part of a return annotation that describes structured content, or None."""
    members = [m for m in members_of(annotation) if unwrapped(m) is not types.InputRequiredResult]
    if any(_is_open(kind) for kind in _kinds(annotation)):
        return None
    if all(unwrapped(member) in (str, None, NoneType) for member in members):
        return None
    return annotation if len(members) == len(members_of(annotation)) else Union[tuple(members)]


def _is_open(member: Any) -> bool:
    """Content, a finished result, or anything at all: nothing of it is announced."""
    if (get_origin(member) or member) not in SEQUENCES:
        return member in (types.CallToolResult, *FREE)
    items = [_kinds(item) for item in get_args(member) if item is not ...] or [[Any]]
    blocks = [any(kind in FREE for kind in kinds) for kinds in items]
    return any(blocks) and all(block or str in kinds for block, kinds in zip(blocks, items, strict=True))


def _kinds(hint: Any) -> list[Any]:
    """The types that a value may have, of unions in unions too."""
    members = members_of(hint)
    return (
        [unwrapped(hint)] if members == (hint,) else [kind for member in members for kind in _kinds(member)]
    )


def _output_schema(adapter: TypeAdapter[Any], annotation: Any) -> Schema:
    schema = adapter.json_schema(mode="serialization", schema_generator=Plain)
    if schema.get("title") == getattr(unwrapped(annotation), "__name__", None):
        schema.pop("title", None)
    return schema
