"""No NaN and no infinity: JSON has neither, and Pydantic would write both as null.

Pydantic's parser takes the words for JSON, and a number that no float holds (`1e999`) for an infinity. Where members
have types these refuse it; here are the places that take anything. The documents of `unions.Keys` are not looked
through, which would take half as long as reading them: in them only the words are refused, in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, TypeAlias, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, core_schema, from_json

Place: TypeAlias = tuple[int | str, ...]

LAYERS = ("default", "nullable")
"""What Pydantic puts around the schema of a member that may be absent or null."""

N, I = b"NI"


def refuse_constants(text: str | bytes | bytearray) -> None:
    """Raise ValidationError when a text spells NaN or an infinity."""
    # One byte is found at once, and `find` takes half the time of `in`.
    if isinstance(text, str):
        if "NaN" not in text and "Infinity" not in text:
            return
    elif (N not in text or text.find(b"NaN") < 0) and (I not in text or text.find(b"Infinity") < 0):
        return
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as error:
        details = InitErrorDetails(type="json_invalid", loc=(), input=text, ctx={"error": str(error)})
        raise ValidationError.from_exception_data("JSON", [details]) from None
    except TypeError:
        # Text with half a surrogate pair, which the reader refuses in its own terms.
        return


def holds_documents(schema: Any) -> bool:
    """Whether there are documents somewhere in what is read by a core schema."""
    found: list[Any] = [schema]
    for part in found:
        if isinstance(part, dict):
            if cast(dict[str, Any], part).get("type") == "typed-dict":
                return True
            found.extend(cast(dict[str, Any], part).values())
        elif isinstance(part, (list, tuple)):
            found.extend(cast(list[Any], part))
    return False


def finite(value: Any) -> Any:
    """The value, if all numbers in it are finite; raises ValidationError with the place of each that is not."""
    # What nearly always holds is found out without places, and without a call for each member. No recursion,
    # here and below: what is built may be nested further than Python calls itself.
    found: list[Iterable[Any]] = [value.values() if value.__class__ is dict else (value,)]
    for held in found:
        for inner in held:
            kind = inner.__class__
            if kind is float:
                if not isfinite(inner):
                    raise _refusal(value)
            elif kind is dict:
                found.append(inner.values())
            elif kind is list or kind is tuple:
                found.append(inner)
    return value


def checked(schema: Any) -> CoreSchema:
    """The core schema of a member, with `finite` behind it if it takes anything."""
    if schema["type"] in LAYERS:
        return cast(CoreSchema, {**schema, "schema": checked(schema["schema"])})
    return core_schema.no_info_after_validator_function(finite, schema) if _untyped(schema) else schema


def _untyped(schema: Any) -> bool:
    """Whether a core schema takes anything, or lists or dictionaries of it."""
    inner = [schema[key] for key in ("items_schema", "values_schema") if key in schema]
    return schema["type"] == "any" or any(map(_untyped, inner))


def _refusal(value: Any) -> ValidationError:
    details = [
        InitErrorDetails(type="finite_number", loc=place, input=found) for place, found in _infinite(value)
    ]
    return ValidationError.from_exception_data("JSON", details)


def _infinite(value: Any) -> Iterator[tuple[Place, float]]:
    found: list[tuple[Place, Any]] = [((), value)]
    for place, held in found:
        kind = held.__class__
        if kind is dict:
            found.extend(((*place, step), inner) for step, inner in held.items())
        elif kind is list or kind is tuple:
            found.extend(((*place, step), inner) for step, inner in enumerate(held))
        elif kind is float and not isfinite(held):
            yield place, held
