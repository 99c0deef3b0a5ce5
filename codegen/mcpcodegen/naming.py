"""Wire names to Python names: pure string work, the same for every revision.

A class is called what its definition is called; a member is snake_case. Where Python, the models or the
emitted module already own a name, ours takes a trailing underscore. Nothing here ever adds a number.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

from pydantic import BaseModel

EMITTED = frozenset(
    (
        "Annotated Any Choice ConfigDict Dict Field Keys Literal Model Nullable OpenEnumeration OpenUnion Optional "
        "TYPE_CHECKING TypeAliasType Uncoerced Union Unknown WireModel annotations deprecated moved typing"
    ).split()
)
"""Names that the emitted types module may import, or that the type engine keeps for itself (`Model`)."""

MODULES = frozenset({"methods", "types"})
"""Names by which the emitted stubs know their neighbours; a method may not hide one inside its class."""

TABLES = frozenset({"CLIENT_NOTIFICATIONS", "CLIENT_REQUESTS", "SERVER_NOTIFICATIONS", "SERVER_REQUESTS"})
"""Names of the tables in the emitted module of methods; a method may not take their place."""

_PREFIX = re.compile(r"^[a-z0-9-]+(\.[a-z0-9-]+)+/(?=[A-Za-z])", re.IGNORECASE)
"""The prefix of a `_meta` key: dot-separated labels, then a slash (basic/index, `_meta`)."""

_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_SHADOWING = frozenset({"bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple"})
_MODEL = frozenset(name for name in dir(BaseModel) if not name.startswith("_")) | {"model_config"}
_RESERVED = ("model_", "wire_")
"""What the attributes of Pydantic's and of the emitted base class start with, as far as a class has its own."""


def class_name(wire: str) -> str:
    """The class name of a definition: the same letters where Python allows it, otherwise its words joined.

    Empty when nothing of `wire` can stand in a Python name.
    """
    name = _identifier(wire)
    if name != wire:
        name = _identifier("".join(word[:1].upper() + word[1:] for word in _split(wire)))
    # Inside a class an annotation finds the attributes of that class first, so none of their names will do.
    taken = keyword.iskeyword(name) or name in EMITTED or name in _BUILTINS or name.startswith(_RESERVED)
    return f"{name}_" if taken else name


def member_name(wire: str) -> str:
    """The attribute name of a member: snake_case without leading underscores, or empty when nothing is left.

    A key with a vendor prefix (`io.modelcontextprotocol/clientInfo`) is called by what follows the slash.
    """
    words = [word.lower() for part in _split(_PREFIX.sub("", wire)) for word in _humps(part)]
    name = _identifier("_".join(words))
    if not name:
        return ""
    taken = keyword.iskeyword(name) or name in _SHADOWING or name in _MODEL or name.startswith(_RESERVED)
    return f"{name}_" if taken else name


def method_name(message: str, suffix: str) -> str:
    """The function name of a message definition: `CallToolRequest` without its suffix is `call_tool`."""
    name = member_name(message.removesuffix(suffix))
    return f"{name}_" if name in MODULES else name


def constant_name(python: str, kind: str) -> str:
    """The constant of a method in the method table; a notification says so, since a request may share its name."""
    name = unicodedata.normalize("NFKC", python.upper())
    name = name if kind == "request" else f"{name}_NOTIFICATION"
    return f"{name}_" if name in TABLES else name


def pascal(wire: str) -> str:
    """A member name as part of a class name: `inputSchema` becomes `InputSchema`, `_meta` becomes `Meta`."""
    return "".join(word[:1].upper() + word[1:] for word in _split(wire))


def module_name(revision: str) -> str:
    """The package of a revision: `2026-07-28` lives in `v2026_07_28`."""
    return "v" + "_".join(_split(revision))


def _split(wire: str) -> list[str]:
    return [part for part in re.split(r"[^\w]+|_+", unicodedata.normalize("NFKC", wire)) if part]


def _humps(word: str) -> list[str]:
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^A-Z]+|[A-Z]+", word)


def _identifier(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)  # as Python itself reads a name: `ﬁ` and `fi` are one
    if not text.strip("_"):
        return ""
    if text[0].isdigit():
        text = f"n{text}"
    return text if text.isidentifier() and not text.startswith("_") else ""
