"""The two escape points: whatever text goes in, a literal that says the same comes out, and nothing else."""

from __future__ import annotations

import ast

import pytest
from emitted import words
from hostile import TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import TemplateNotFound, UndefinedError

from mcpcodegen.escapes import WIDTH, docstring, literal
from mcpcodegen.render import render, runtime, templates

MARGIN = 2 * len('"""')
"""Columns that the quotes may take beyond the width: text is wrapped before they are put around it."""


def in_class(text: str) -> str:
    """A class with this docstring."""
    return f"class A:\n    {text}\n"


def doc_of(source: str) -> str:
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    (statement,) = definition.body
    assert isinstance(statement, ast.Expr)
    found = ast.literal_eval(statement.value)
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Plain words.", '"""Plain words."""'),
        ("  outer space  ", '"""outer space"""'),
        ('a """ b', '"""a \\"\\"\\" b"""'),
        ('"quoted"', '"""\\x22quoted\\x22"""'),
        ('"', '"""\\x22"""'),
        ("ends in \\", '"""ends in \\\\"""'),
        ("\\N{DASH}", '"""\\\\N{DASH}"""'),
        ("{{ x }}", '"""{{ x }}"""'),
        ("tab\there", '"""tab     here"""'),
        ("a\u202eb\u2028c\x00d", '"""a\\u202eb\\u2028c\\x00d"""'),
        ("Grüße, 名前", '"""Grüße, 名前"""'),
        ("One.\n\nTwo.", '"""One.\n\n    Two.\n    """'),
        ("One.\r\nTwo.", '"""One.\n    Two.\n    """'),
        ("One.\n  - item\n    - inner", '"""One.\n      - item\n        - inner\n    """'),
        ("", '""""""'),
    ],
)
def test_a_docstring_is_written_so(text: str, source: str) -> None:
    assert docstring(text) == source


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("tools/list", "'tools/list'"),
        ("it's", '"it\'s"'),
        ("a\nb", "'a\\nb'"),
        ("a\u202eb\u2028", "'a\\u202eb\\u2028'"),
        ("\\", "'\\\\'"),
        ("\ud800", "'\\ud800'"),
    ],
)
def test_a_literal_is_written_so(text: str, source: str) -> None:
    assert literal(text) == source


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_text_comes_out_as_itself(text: str) -> None:
    assert words(doc_of(in_class(docstring(text)))) == words(text)
    assert ast.literal_eval(literal(text)) == text


@given(st.text())
@settings(
    derandomize=True, max_examples=300, deadline=None
)  # the first call of a run is slow on a busy machine
def test_any_text_comes_out_as_itself(text: str) -> None:
    assert words(doc_of(in_class(docstring(text)))) == words(text)
    assert ast.literal_eval(literal(text)) == text
    assert "\n" not in literal(text)


@given(
    st.lists(st.text(alphabet="abc\"'\\ ", max_size=9), max_size=60).map(" ".join), st.sampled_from([4, 8])
)
@settings(derandomize=True, max_examples=200, deadline=None)  # likewise
def test_a_docstring_of_short_words_keeps_to_its_columns(text: str, indent: int) -> None:
    escaped = text.count("\\") + 3 * text.count('"')  # what an escape takes more than the character itself
    longest = max(len(line) for line in (" " * indent + docstring(text, indent)).split("\n"))
    assert longest <= WIDTH + MARGIN + escaped


def test_a_line_without_spaces_is_not_broken() -> None:
    assert docstring("x" * 10_000) == f'"""{"x" * 10_000}"""'


def test_a_name_that_is_not_there_stops_the_run() -> None:
    with pytest.raises(UndefinedError, match="header"):
        render("revision.py.jinja", {})


def test_a_template_that_is_not_there_stops_the_run() -> None:
    with pytest.raises(TemplateNotFound, match="nowhere.jinja"):
        render("nowhere.jinja", {})


def test_static_files_are_copied_as_they_are() -> None:
    files = runtime("runtime")
    assert {"wire.py", "errors.py", "jsonrpc.py", "server/__init__.py"} <= set(files)
    assert not set(files) & set(templates())
    assert all("{%" not in text for text in files.values())
