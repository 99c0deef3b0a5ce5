"""Text that tries to break out of generated source, and a check that none of it was taken for code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TEXTS = {
    "triple quotes": 'a """ b',
    "quote at the start": '"start',
    "quote at the end": 'end"',
    "only a quote": '"',
    "four quotes": '""""',
    "single quotes": "it's ''' so",
    "backslash": "C:\\new\\x",
    "backslash at the end": "end\\",
    "backslash before a quote": 'a\\"',
    "two backslashes at the end": "end\\\\",
    "a name escape": "\\N{DASH}",
    "a hexadecimal escape": "\\x41\\u0041",
    "line break and import": "text\nimport os\nos.abort()",
    "line break and dedent": '"""\n\nraise SystemExit\n"""',
    "carriage return": "a\rimport os\r\nb",
    "expression": "{{ x }} {{ 7 * 7 }}",
    "raw block": "{% raw %}{{ x }}{% endraw %}",
    "comment": "{# gone #} #{ kept }",
    "include": "{% include 'types_header.jinja' %}",
    "bidirectional": "a\u202eb\u2066c\u2069",
    "line separator": "a\u2028import os\u2029b",
    "next line": "a\x85import os",
    "form feed": "a\x0cb\x0bc",
    "nul": "a\x00b",
    "escape": "\x1b[31mred",
    "tab": "a\tb",
    "no-break space": "a\u00a0b",
    "percent and braces": "%s %(x)s {0} {x!r}",
    "hash": "# type: ignore",
    "long line": "word " * 2_000,
    "long word": "x" * 10_000,
    "astral": "\U0001f680 \U000e0041",
}

DECLARATIONS = (ast.AnnAssign, ast.Assign, ast.ClassDef, ast.ImportFrom, ast.Pass)
CALLED = {
    "Choice",
    "Field",
    "Keys",
    "Nullable",
    "OpenEnumeration",
    "OpenUnion",
    "TypeAliasType",
    "Uncoerced",
    "deprecated",
}
IMPORTED = {"__future__", "typing", "typing_extensions", "pydantic", "unions", "wire"}


def skeleton(source: str) -> str:
    """The program that `source` is, whatever its strings say."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def undeclared(source: str) -> list[str]:
    """What a module of types does beside declaring types."""
    return [f"line {line}: {what}" for line, what in _undeclared(ast.parse(source))]


def _undeclared(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module) if module not in IMPORTED:
                yield node.lineno, f"imports from {module}"
            case ast.Import(names=[ast.alias(name="typing", asname=None)]):
                continue
            case ast.Call(func=ast.Name(id=name)) if name in CALLED:
                continue
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="model_rebuild"), args=[], keywords=[]):
                continue  # what the engine writes behind classes that hold themselves
            case ast.Expr(value=ast.Call()):
                continue  # the call is looked at by itself
            case ast.Call():
                yield node.lineno, f"calls {ast.unparse(node.func)}"
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.stmt() if not isinstance(node, DECLARATIONS):
                yield node.lineno, f"has {type(node).__name__}"
            case _:
                continue
