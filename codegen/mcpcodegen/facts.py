"""What a schema document *is*, apart from how it is written: facts without prose, one canonical text, pointers.

Two files with equal facts are the same revision, whatever their bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

from .errors import SchemaError
from .ir import Json, Schema, is_array, is_object

PROSE = frozenset({"description", "$comment"})
"""Keywords whose text is the specification's own and never part of the facts."""

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps names to schemas."""

DATA = frozenset({"const", "enum", "default", "examples", "required", "type"})
"""Keywords whose value is data, not schema."""

SUM = 16
"""Digits kept of the hash of a definition: enough to see an edit; the hash of a whole file is kept in full."""

DEEPEST = 64
"""How deep a document may nest: five times what any revision does, and safe for everything that walks it."""


def facts(root: Json) -> Json:
    """A schema without its prose: a property that is called `description` stays, the keyword goes."""
    if is_array(root):
        return [facts(item) for item in root]
    if not is_object(root):
        return root
    return {
        key: _facts_under(key, value)
        for key, value in root.items()
        if not (key in PROSE and isinstance(value, str))
    }


def canonical(value: Json) -> str:
    """The one text of a JSON value: sorted keys, two spaces, a final line end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def key(value: Json) -> str:
    """A text that is equal for equal JSON values, to compare and to look up by; quicker made than the canonical one."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal: 1, 1.0 and true are three values, as they are not in Python."""
    return bool(one == other) and key(one) == key(other)


def digest(root: Json) -> str:
    """SHA-256 of the canonical facts, as hexadecimal text."""
    return hashlib.sha256(canonical(facts(root)).encode()).hexdigest()


def sums(definitions: Mapping[str, Json]) -> dict[str, str]:
    """A short hash of each definition as it is given, with its prose or without."""
    return {
        name: hashlib.sha256(canonical(schema).encode()).hexdigest()[:SUM]
        for name, schema in definitions.items()
    }


def definitions_of(root: Json) -> Mapping[str, Schema]:
    """The definitions of facts in either dialect, as they are spelled there."""
    return root.get("$defs") or root["definitions"]  # type: ignore[no-any-return]


def escape(token: str) -> str:
    """One reference token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """The text behind one reference token of a JSON pointer (RFC 6901)."""
    return token.replace("~1", "/").replace("~0", "~")


def _facts_under(key: str, value: Json) -> Json:
    if key in MAPS and is_object(value):
        return {name: facts(schema) for name, schema in value.items()}
    return value if key in DATA else facts(value)


def schemas_in(node: Json, pointer: str) -> Iterator[tuple[str, Schema]]:
    """Every schema object at and below `node`, with its pointer; names and data are not taken for schemas."""
    if is_object(node):
        yield pointer, node
    for place, inner in below(node, pointer):
        yield from schemas_in(inner, place)


def below(node: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """What stands directly inside a schema, or a list of schemas, and is or holds schemas; with its pointer."""
    if is_array(node):
        yield from ((f"{pointer}/{index}", item) for index, item in enumerate(node))
    elif is_object(node):
        for key, value in node.items():
            if key in MAPS and is_object(value):
                yield from ((f"{pointer}/{key}/{escape(name)}", schema) for name, schema in value.items())
            elif key not in DATA:
                yield f"{pointer}/{key}", value


def parse(data: bytes, source: str) -> Schema:
    """The JSON object that a file holds; raises SchemaError for anything else, a member named twice included."""

    def refusal(problem: str, pointer: str = "") -> SchemaError:
        return SchemaError(
            problem, remedy="pass the schema.json of a protocol revision", source=source, pointer=pointer
        )

    try:
        root = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_constant)
        if _depth(root) > DEEPEST:
            raise RecursionError
    except UnicodeDecodeError as error:
        raise refusal(f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise refusal(f"nested too deeply (over {DEEPEST} levels)") from None
    except ValueError as error:
        raise refusal(f"not JSON ({error})") from None
    # Such text cannot travel in UTF-8; the cheap test first, since a schema is large and the escape is rare.
    if b"\\ud" in data.lower() and (found := _surrogate(root, "")) is not None:
        raise refusal("not Unicode text (half of a surrogate pair)", found)
    if not is_object(root):
        raise refusal(f"found a JSON {kind_of(root)}, not a schema object")
    return root


def _depth(root: Json) -> int:
    depth, level = 0, [root]
    while level:
        depth += 1
        level = [item for node in level for item in _items(node)]
    return depth


def _items(node: Json) -> Iterable[Json]:
    return node.values() if is_object(node) else node if is_array(node) else ()


def kind_of(value: Json) -> str:
    """The JSON name of a value's type."""
    kinds = ((dict, "object"), (list, "array"), (str, "string"), (bool, "boolean"), ((int, float), "number"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _once(pairs: list[tuple[str, Json]]) -> Schema:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the member {next(n for n in names if names.count(n) > 1)!r} stands twice in one object"
        )
    return value


def _surrogate(node: Json, pointer: str) -> str | None:
    """Where a name or a text holds half of a surrogate pair, as a pointer to the value it belongs to."""
    if isinstance(node, str):
        return pointer if any("\ud800" <= char <= "\udfff" for char in node) else None
    inside = enumerate(node) if is_array(node) else node.items() if is_object(node) else ()
    for key, value in inside:
        place = f"{pointer}/{escape(str(key))}"
        found = _surrogate(str(key), place) or _surrogate(value, place)
        if found is not None:
            return found
    return None


def _no_constant(text: str) -> Json:
    raise ValueError(f"{text} is no JSON number")
