"""Names of earlier revisions stay importable where they mean the same, and say what they are called now."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from emitted import environment, read

from mcpcodegen.ir import Document
from mcpcodegen.models import Told, models
from mcpcodegen.moved import Moved, moved
from mcpcodegen.pipeline import read as pinned
from mcpcodegen.render import render
from mcpcodegen.tidy import tidy

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

Steps = tuple[Mapping[str, Any], ...]

TEXT = {"type": "string"}


def thing(*members: str, **others: Any) -> dict[str, Any]:
    """A definition with text members."""
    return {
        "type": "object",
        "properties": {**dict.fromkeys(members, TEXT), **others},
        "required": list(members),
    }


def documents(*definitions: Mapping[str, Any]) -> list[Document]:
    """Revisions in order, each with these definitions."""
    return [replace(read(one), revision=f"2030-01-{day:02}") for day, one in enumerate(definitions, 1)]


def found(*definitions: Mapping[str, Any]) -> Moved:
    *history, document = documents(*definitions)
    return moved(history, document)


def names(outcome: Moved) -> list[str]:
    return [one.notice for one in outcome.definitions]


def test_what_the_published_revisions_renamed_is_found() -> None:
    *history, document = [pinned(revision=revision) for revision in REVISIONS]
    assert names(moved(history, document)) == [
        "JSONRPCErrorError is called Error since 2025-11-25",
        "PromptMessageContent is called ContentBlock since 2025-06-18",
        "ResourceAnnotations is called Annotations since 2025-03-26",
        "ResourceReference is called ResourceTemplateReference since 2025-06-18",
    ]
    assert names(moved(history[:2], history[2])) == [
        "PromptMessageContent is called ContentBlock since 2025-06-18",
        "ResourceAnnotations is called Annotations since 2025-03-26",
        "ResourceReference is called ResourceTemplateReference since 2025-06-18",
    ]
    assert moved([], document) == Moved()


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (({"A": thing("x")}, {"B": thing("x")}), ["A is called B since 2030-01-02"]),
        (
            ({"A": thing("x")}, {"B": thing("x")}, {"C": thing("x")}),
            ["A is called C since 2030-01-02", "B is called C since 2030-01-03"],
        ),
        (({"A": thing("x")}, {"B": thing("x")}, {"B": thing("y")}), ["A is called B since 2030-01-02"]),
        (({"A": thing("x")}, {"B": thing("x")}, {"A": thing("z"), "B": thing("x")}), []),
        (({"A": thing("x")}, {"B": thing("x")}, {"Z": thing("q", "r")}), []),
        (({"A": thing("x")}, {"B": thing("y")}), []),
        (
            (
                {"A": thing("x"), "U": thing(a={"$ref": "#/$defs/A"})},
                {"B": thing("x", y=TEXT), "U": thing(a={"$ref": "#/$defs/B"})},
            ),
            ["A is called B since 2030-01-02"],
        ),
        (
            (
                {"A": thing("x"), "U": thing(a={"$ref": "#/$defs/A"})},
                {"B": thing("x", "y"), "U": thing(a={"$ref": "#/$defs/B"})},
            ),
            [],
        ),
        (
            (
                {"A": thing("x", "y"), "U": thing(a={"$ref": "#/$defs/A"})},
                {"B": thing("x"), "U": thing(a={"$ref": "#/$defs/B"})},
            ),
            [],
        ),
    ],
    ids=[
        "renamed",
        "renamed twice",
        "changed since",
        "its name is taken again",
        "gone since",
        "another thing",
        "renamed and grown",
        "renamed, and it demands more",
        "renamed and shrunk",
    ],
)
def test_a_definition_has_moved_while_it_means_the_same(steps: Steps, told: list[str]) -> None:
    assert names(found(*steps)) == told


def test_a_member_has_moved_when_its_schema_has_not() -> None:
    outcome = found({"A": thing("colorName", "z")}, {"A": thing("colourName", "z")})
    assert {owner: [row.notice for row in rows.values()] for owner, rows in outcome.members.items()} == {
        "A": ["color_name is called colour_name since 2030-01-02"]
    }


def test_a_member_of_a_definition_that_moved_has_moved_with_it() -> None:
    steps = ({"A": thing("colorName", "z")}, {"A": thing("colourName", "z")}, {"B": thing("colourName", "z")})
    assert [*found(*steps).members] == ["B"]


def test_a_name_that_another_member_has_is_left_alone() -> None:
    steps = (
        {"A": thing("colorName", "z")},
        {"A": thing("colourName", "z")},
        {"A": thing("colourName", "z", color_name={"type": "integer"})},
    )
    assert found(*steps).members == {}


def test_emitted_names_lead_to_what_is_meant_and_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    *history, document = documents(
        {"Old": thing("colorName")}, {"New": thing("colorName")}, {"New": thing("colourName")}
    )
    outcome = moved(history, document)
    rows = {
        owner: {new: (row.old, repr(row.notice)) for new, row in several.items()}
        for owner, several in outcome.members.items()
    }
    text = models(document, Told({}, {}, rows, leads=True), header="") + render(
        "moved.py.jinja", {"names": outcome.definitions}
    )
    module = ModuleType("mcprotocol.v2026_07_28.moving")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.__package__ = "mcprotocol.v2026_07_28"
    exec(tidy({"types.py": text})["types.py"], vars(module))
    with pytest.warns(DeprecationWarning, match="^Old is called New since 2030-01-02$"):
        assert vars(module)["__getattr__"]("Old") is module.New
    value = module.New(colour_name="red")
    with pytest.warns(DeprecationWarning, match="^color_name is called colour_name since 2030-01-03$"):
        assert value.color_name == "red"
    assert value.model_dump_json() == '{"colourName":"red"}'
    with pytest.raises(AttributeError, match="has no attribute 'Other'"):
        vars(module)["__getattr__"]("Other")


def test_an_old_name_can_be_imported_and_the_warning_names_the_line_that_does(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from mcprotocol.v2026_07_28 import types\n"
        "from mcprotocol.v2026_07_28.types import ResourceReference\n"
        "assert ResourceReference is types.ResourceTemplateReference\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", str(program)], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert (
        f"{program}:2: DeprecationWarning: ResourceReference is called ResourceTemplateReference"
        in done.stderr
    )


def test_new_names_say_nothing() -> None:
    from mcprotocol.v2026_07_28 import types

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert types.ResourceTemplateReference.__name__ == "ResourceTemplateReference"
        assert not hasattr(types, "__path__")
