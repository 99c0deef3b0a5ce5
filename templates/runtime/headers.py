"""Mirrored headers: what a request says in its body and repeats where a proxy can read it.

The body is the truth. A header that is missing, malformed or different is refused, and so is one that came
twice: a proxy that reads the first and a server that reads the last would not see the same request
(basic/transports/streamable-http, Request Headers).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from .errors import HeaderMismatch

VERSION: Final = "MCP-Protocol-Version"
METHOD: Final = "Mcp-Method"
NAME: Final = "Mcp-Name"
PARAMETER: Final = "Mcp-Param-"

NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods whose requests have an `Mcp-Name`, and the member of the params that it repeats."""

ANNOTATION: Final = "x-mcp-header"
"""The keyword of an input schema that gives a property its header."""

MIRRORED_TYPES: Final = ("string", "integer", "boolean")

SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every peer reads exactly."""

OPENING, CLOSING = "=?base64?", "?="

PRINTABLE = re.compile(r"[\x20-\x7e]*")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")

NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""The keywords whose members are called as an author likes."""

DATA = frozenset({"const", "default", "enum", "examples"})
"""The keywords that hold values, not schemas."""

Path: TypeAlias = tuple[str, ...]
"""Where an argument lies: the names of properties from the root of the arguments."""

Parameters: TypeAlias = Mapping[Path, str]
"""The arguments of a tool that have a header, each with what follows `Mcp-Param-`."""

NONE: Final[Parameters] = {}

Mirrored: TypeAlias = tuple[str, object, object]
"""The method, the version and the name of a request, as its body has them; the name is None where there is none."""


class Headers:
    """The header fields of one request."""

    def __init__(self, fields: Iterable[tuple[bytes, bytes]]) -> None:
        """Take the fields as ASGI has them: names in lower case, values as they came."""
        self._fields = list(fields)
        self._values = dict(self._fields)
        self._all_differ = len(self._values) == len(self._fields)

    def single(self, names: Iterable[bytes]) -> tuple[bytes | None, ...] | None:
        """The one value of each of some fields or None; None altogether when any field came more than once."""
        return tuple(map(self._values.get, names)) if self._all_differ else None

    def all(self, name: bytes) -> list[bytes]:
        """Every value of a field, by its name in lower case."""
        if self._all_differ:
            return [self._values[name]] if name in self._values else []
        return [value for other, value in self._fields if other == name]

    def text(self, name: str) -> str | None:
        """The value of a field without the space around it, or None.

        Raises HeaderMismatch when it came more than once, or is no plain text.
        """
        values = self.all(_key(name))
        if not values:
            return None
        if len(values) > 1:
            raise HeaderMismatch(f"{name} must not be repeated")
        text = values[0].decode("latin-1").strip(" \t")
        if not text.isascii() or not text.replace("\t", " ").isprintable():
            raise HeaderMismatch(f"{name} has characters that no header may have")
        return text

    def value(self, name: str) -> str | None:
        """The value of a field that may have come encoded; raises HeaderMismatch when it cannot be read."""
        text = self.text(name)
        return None if text is None else decode(text, name)


@lru_cache(256)
def _key(name: str) -> bytes:
    return name.lower().encode("latin-1")


MIRRORS: Final = (_key(VERSION), _key(METHOD), _key(NAME))
"""The fields of every request, and of those that name what they are for."""


def encode(value: str) -> str:
    """A text as the value of a header: itself where that is safe, else its Base64 between two markers."""
    marked = value.startswith(OPENING) and value.endswith(CLOSING)
    if PRINTABLE.fullmatch(value) and value == value.strip(" ") and not marked:
        return value
    return f"{OPENING}{base64.b64encode(value.encode()).decode()}{CLOSING}"


def decode(text: str, name: str = "the header") -> str:
    """The text that the value of a header stands for; raises HeaderMismatch when its Base64 is not in order."""
    # Markers that share a question mark enclose nothing: such a text is what it is.
    if not (text.startswith(OPENING) and text.endswith(CLOSING) and len(text) >= len(OPENING + CLOSING)):
        return text
    inner = text[len(OPENING) : -len(CLOSING)]
    try:
        data = base64.b64decode(inner, validate=True)
        # Base64 has spare bits: only the one canonical spelling of a value is let in.
        if base64.b64encode(data).decode() == inner:
            return data.decode()
    except ValueError:
        pass
    raise HeaderMismatch(f"{name} is not the Base64 of a text")


def stringify(value: str | int) -> str:
    """A string, an integer or a boolean as text, before it is encoded."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def mirror(method: str, params: Mapping[str, Any], version: str, parameters: Parameters) -> dict[str, str]:
    """The headers of a request with these params, which asks for this version of the protocol."""
    written = {VERSION: version, METHOD: method}
    name = params.get(NAMED.get(method, ""))
    if isinstance(name, str):
        written[NAME] = encode(name)
    for path, header in parameters.items():
        value = at(params.get("arguments"), path)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # What JSON Schema calls an integer.
        if isinstance(value, str | int):
            written[PARAMETER + header] = encode(stringify(value))
    return written


def check_version(headers: Headers, asked: str | None) -> None:
    """Raise HeaderMismatch unless the version in the header is the one asked for; None when the body has none."""
    said = _required(headers.text(VERSION), VERSION)
    if asked is not None and said != asked:
        raise HeaderMismatch(f"{VERSION} is {said!r} and the body says {asked!r}")


def mirrored(method: str, params: Mapping[str, Any], version: object) -> Mirrored:
    """What the headers of a request with these params, which asks for this version, have to say."""
    return method, version, params.get(NAMED.get(method, ""))


def check_names(headers: Headers, method: str, params: Mapping[str, Any]) -> None:
    """Raise HeaderMismatch unless the headers name the method, and what it is called with, as the body does."""
    if _required(headers.text(METHOD), METHOD) != method:
        raise HeaderMismatch(f"{METHOD} is not the method of the body")
    if method in NAMED:
        name = params.get(NAMED[method])
        # A name that is missing from the body, or none, is a fault of the params, and named as such.
        if _required(headers.value(NAME), NAME) != name and isinstance(name, str):
            raise HeaderMismatch(f"{NAME} is not the {NAMED[method]} of the body")


def check_parameters(headers: Headers, parameters: Parameters, arguments: object) -> None:
    """Raise HeaderMismatch unless each argument that has a header is in it, and no other value is."""
    for path, header in parameters.items():
        name, value = PARAMETER + header, at(arguments, path)
        said = headers.value(name)
        if value is None:
            if said is not None:
                raise HeaderMismatch(f"{name} repeats an argument that is not there")
        elif not _agrees(_required(said, name), value):
            raise HeaderMismatch(f"{name} is not the argument {'.'.join(path)} of the body")


def parameters_of(schema: Mapping[str, Any]) -> dict[Path, str]:
    """The headers that an input schema asks for; raises ValueError with the reason when one cannot be.

    An annotation is good on a string, an integer or a boolean that is reached through `properties` alone.
    """
    found = dict(_annotated(schema, ()))
    if len({header.lower() for header in found.values()}) < len(found):
        raise ValueError(
            f"two properties have the same {ANNOTATION}; letter case does not tell headers apart"
        )
    if sum(1 for _ in _everywhere(schema)) > len(found):
        raise ValueError(
            f"{ANNOTATION} stands where no value can be found for it: put it on a property of the schema itself,"
            " reached through `properties` alone"
        )
    return found


def at(arguments: object, path: Path) -> object:
    """The value at a path, or None where it ends too soon."""
    for name in path:
        arguments = cast(dict[str, object], arguments).get(name) if isinstance(arguments, dict) else None
    return arguments


def _annotated(schema: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for name, inner in cast(dict[str, Any], properties).items():
        if isinstance(inner, dict):
            property_ = cast(dict[str, Any], inner)
            if ANNOTATION in property_:
                yield (*path, name), _header(name, property_)
            yield from _annotated(property_, (*path, name))


def _header(name: str, schema: Mapping[str, Any]) -> str:
    header = schema[ANNOTATION]
    if not isinstance(header, str) or not TOKEN.fullmatch(header):
        raise ValueError(f"the {ANNOTATION} of {name} is {header!r}, which no header can be called")
    if schema.get("type") not in MIRRORED_TYPES:
        raise ValueError(
            f"{name} has an {ANNOTATION}, so its type must be one of {', '.join(MIRRORED_TYPES)}"
        )
    return header


def _everywhere(value: object, *, names: bool = False) -> Iterator[None]:
    """One item for each annotation, wherever it stands; with `names` the members are called as someone likes."""
    if isinstance(value, list):
        for item in cast(list[object], value):
            yield from _everywhere(item)
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, object], value).items():
            if names or key not in DATA | {ANNOTATION}:
                yield from _everywhere(inner, names=not names and key in NAMES)
            elif key == ANNOTATION:
                yield None


def _agrees(said: str, value: object) -> bool:
    if isinstance(value, bool):
        return said == stringify(value)
    if isinstance(value, int | float):
        # By number, because `42.0` in a header is the 42 of the body; beyond 2^53 peers would not agree.
        return NUMBER.fullmatch(said) is not None and Decimal(said) == value and abs(value) <= SAFE_INTEGER
    return said == value


def _required(value: str | None, name: str) -> str:
    if value is None:
        raise HeaderMismatch(f"{name} is missing")
    return value
