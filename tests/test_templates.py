"""The template law: templates lay out and decide nothing, shown by walking Jinja's own syntax trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest
from emitted import ROOT
from jinja2 import UndefinedError, nodes

from mcpcodegen.render import environment, templates

LONGEST = 90
DEEPEST = 3

FILTERS = frozenset({"docstring", "indent", "join", "literal"})

ALLOWED = (
    nodes.Block,
    nodes.Const,
    nodes.Extends,
    nodes.Filter,
    nodes.For,
    nodes.Getattr,
    nodes.If,
    nodes.Include,
    nodes.Name,
    nodes.Operand,  # the part of a Compare, which is not allowed, and without a line of its own
    nodes.Output,
    nodes.Template,
    nodes.TemplateData,
)
"""Every kind of node that a template may hold."""

FORCED: Mapping[type[nodes.Node], str] = {
    nodes.Getitem: "the engine hands a list of fields; and docs are looked up by the name it gives each field",
    nodes.Or: "the engine leaves `annotated` empty where `type_hint` says it all",
    nodes.And: "only the engine knows whether a class has fields",
    nodes.Not: "the engine says `required`, a default wants the contrary",
}
"""What the two templates of the type engine may hold beyond that: it fills them itself, with its own values."""

SCHEMA_TEXT = frozenset({"answer_doc", "call_doc", "wire"})
"""Members of the views that carry text of a schema as it stands: printed through an escape point only."""

ESCAPES = frozenset({"docstring", "literal"})


def engine_templates() -> list[str]:
    """The templates that the type engine fills."""
    folder = ROOT / "templates"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.jinja2"))


def text_of(name: str) -> str:
    return (ROOT / "templates" / name).read_text(encoding="utf-8")


def offences(text: str, forced: frozenset[type[nodes.Node]] = frozenset()) -> list[str]:
    """What a template does against the law, one `line: what` each."""
    tree = environment().parse(text)
    found = [f"{text.count(chr(10))}: over {LONGEST} lines"] if text.count("\n") > LONGEST else []
    return [*found, *(f"{line}: {what}" for line, what in sorted(walk(tree, forced, 0)))]


def walk(node: nodes.Node, forced: frozenset[type[nodes.Node]], depth: int) -> Iterator[tuple[int, str]]:
    """The offences at and below a node, each with its line."""
    kind = type(node).__name__
    level = isinstance(node, nodes.For | nodes.If)
    depth += level
    if level and depth > DEEPEST:
        yield node.lineno, f"{kind} nested {depth} deep"
    if not isinstance(node, ALLOWED) and type(node) not in forced:
        yield node.lineno, kind
    elif not forced:
        yield from ((node.lineno, what) for what in misuse(node))
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        yield node.lineno, f"Filter {node.name}"
    for child in node.iter_child_nodes():
        yield from walk(child, forced, depth)


def misuse(node: nodes.Node) -> Iterator[str]:
    """How a node of an allowed kind can still decide something."""
    match node:
        case nodes.If():
            if not isinstance(node.test, nodes.Getattr):
                yield f"If on {type(node.test).__name__}, not on one boolean attribute"
            if node.elif_:
                yield "If with elif"
        case nodes.For():
            if node.test is not None or node.else_ or node.recursive:
                yield "For with a condition, an else or a recursion"
            if not isinstance(node.iter, nodes.Getattr | nodes.Name):
                yield f"For over {type(node.iter).__name__}"
        case nodes.Include() | nodes.Extends():
            if not isinstance(node.template, nodes.Const):
                yield f"{type(node).__name__} of a computed name"
        case nodes.Output():
            yield from (
                f"Output of {type(one).__name__}" for one in node.nodes if isinstance(one, nodes.Const)
            )
        case _:
            return


def unescaped(text: str) -> list[str]:
    """Where text of a schema is printed without an escape point."""
    return [
        f"{one.lineno}: {one.attr}"
        for node in environment().parse(text).find_all(nodes.Output)
        for one in node.nodes
        if isinstance(one, nodes.Getattr) and one.attr in SCHEMA_TEXT
    ] + [
        f"{one.lineno}: {one.node.attr}"
        for one in environment().parse(text).find_all(nodes.Filter)
        if isinstance(one.node, nodes.Getattr) and one.node.attr in SCHEMA_TEXT and one.name not in ESCAPES
    ]


def pages() -> list[str]:
    """The templates of pages, whose prints Jinja escapes."""
    return [name for name in templates() if name.endswith(".html.jinja")]


def misplaced(text: str) -> list[str]:
    """The tags of a page that print where escaping is not enough: outside of quotes, or as a whole address."""
    printed = re.sub(r"\{%.*?%\}", "", re.sub(r"\{\{.*?\}\}", "\0", text))
    tags = re.findall(r"""<[a-z!/](?:[^"'>]|"[^"]*"|'[^']*')*>""", printed, re.IGNORECASE)
    found = [
        tag for tag in tags if "\0" in re.sub(r'"[^"]*"', "", tag) or re.search(r'(href|src)="[^"#]*\0', tag)
    ]
    found += re.findall(r"<(?:style|script)>[^<]*\0", printed)
    return [one.replace("\0", "{{ }}") for one in found]


def test_every_template_is_looked_at() -> None:
    files = {
        path.relative_to(ROOT / "templates").as_posix() for path in (ROOT / "templates").rglob("*.jinja*")
    }
    assert files == {*templates(), *engine_templates()}
    assert "side.py.jinja" in templates()
    assert len(engine_templates()) == 2


@pytest.mark.parametrize("name", templates())
def test_a_template_keeps_the_law(name: str) -> None:
    assert offences(text_of(name)) == []


@pytest.mark.parametrize("name", templates())
def test_a_template_prints_text_of_a_schema_through_an_escape_point(name: str) -> None:
    assert unescaped(text_of(name)) == []


@pytest.mark.parametrize("name", pages())
def test_a_page_prints_only_where_escaped_text_is_text(name: str) -> None:
    assert misplaced(text_of(name)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a class={{ a.b }}>", ["<a class={{ }}>"]),
        ("<a {{ a.b }}>", ["<a {{ }}>"]),
        ('<a href="{{ a.b }}">', ['<a href="{{ }}">']),
        ('<a href="x/{{ a.b }}">', ['<a href="x/{{ }}">']),
        ("<script>let a = {{ a.b }};</script>", ["<script>let a = {{ }}"]),
        ('<a href="#{{ a.b }}" class="x {{ a.c }}">{{ a.d }}</a>{% if a.e %}<b>{% endif %}', []),
    ],
)
def test_a_print_in_the_wrong_place_of_a_page_is_reported(text: str, found: list[str]) -> None:
    assert misplaced(text) == found


def test_what_a_page_prints_is_escaped_and_what_python_prints_is_not() -> None:
    escapes = environment().autoescape
    assert callable(escapes)
    assert {name for name in templates() if escapes(name)} == set(pages()) != set()


@pytest.mark.parametrize("name", engine_templates())
def test_a_template_of_the_engine_bends_the_law_only_where_it_must(name: str) -> None:
    assert offences(text_of(name), frozenset(FORCED)) == []


def test_each_exemption_is_needed() -> None:
    used = {
        type(node)
        for name in engine_templates()
        for node in environment().parse(text_of(name)).find_all(tuple(FORCED))
    }
    assert used == set(FORCED)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{ a.b }}\n{% set x = 1 %}", ["2: Assign"]),
        ("{{ a.b ~ a.c }}", ["1: Concat"]),
        ("{{ a.b + 1 }}", ["1: Add"]),
        ("\n\n{{ a.b() }}", ["3: Call"]),
        ("{{ a.b | upper }}", ["1: Filter upper"]),
        ("{{ a.b | replace('x', 'y') }}", ["1: Filter replace"]),
        ("{{ a['b'] }}", ["1: Getitem"]),
        ("{{ 'text' }}", ["1: Output of Const"]),
        ("{{ a.b if a.c else a.d }}", ["1: CondExpr"]),
        ("{% if a %}{% endif %}", ["1: If on Name, not on one boolean attribute"]),
        ("{% if not a.b %}{% endif %}", ["1: If on Not, not on one boolean attribute", "1: Not"]),
        ("{% if a.b == 1 %}{% endif %}", ["1: Compare", "1: If on Compare, not on one boolean attribute"]),
        ("{% if a.b and a.c %}{% endif %}", ["1: And", "1: If on And, not on one boolean attribute"]),
        ("{% if a.b is defined %}{% endif %}", ["1: If on Test, not on one boolean attribute", "1: Test"]),
        ("{% if a.b %}{% elif a.c %}{% endif %}", ["1: If with elif"]),
        ("{% for a in b.c if a.d %}{% endfor %}", ["1: For with a condition, an else or a recursion"]),
        ("{% for a in [1] %}{% endfor %}", ["1: For over List", "1: List"]),
        ("{% include a.b %}", ["1: Include of a computed name"]),
        ("{% macro f() %}{% endmacro %}", ["1: Macro"]),
        ("{% import 'x' as y %}", ["1: Import"]),
        (
            "{% for a in z.a %}\n{% for b in a.b %}\n{% if b.c %}\n{% if b.d %}{% endif %}{% endif %}{% endfor %}{% endfor %}",
            ["4: If nested 4 deep"],
        ),
        ("line\n" * 91, ["91: over 90 lines"]),
    ],
)  # fmt: skip
def test_a_dirty_template_is_reported_with_line_and_kind(text: str, found: list[str]) -> None:
    assert offences(text) == found


def test_a_clean_template_passes() -> None:
    text = (
        "{% extends 'base.jinja' %}{% block body %}{% for one in side.methods %}{% if one.plain %}"
        "{{ one.wire | literal }}{{ one.call_doc | docstring(8) }}{{ names | join(', ') }}{{ one.text | indent(4) }}"
        "{% endif %}{% endfor %}{% include 'end.jinja' %}{% endblock %}"
    )
    assert offences(text) == []
    assert unescaped(text) == []


def test_text_of_a_schema_without_an_escape_point_is_reported() -> None:
    assert unescaped("{{ method.wire | literal }}\n{{ method.wire }}\n{{ m.call_doc | indent(4) }}") == [
        "2: wire",
        "3: call_doc",
    ]


def test_a_misspelled_name_stops_the_run() -> None:
    with pytest.raises(UndefinedError, match="spelled"):
        environment().from_string("{{ spelled.wrong }}").render({})


def test_an_error_names_the_file_of_the_template() -> None:
    file = environment().get_template("side.py.jinja").filename
    assert file is not None and file.endswith("templates/side.py.jinja")
