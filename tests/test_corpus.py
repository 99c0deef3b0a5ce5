"""The types against jsonschema, in both directions, on every instance of the corpus: accept and reject, and written back.

jsonschema judges by the corrected facts of a revision; what a reading adds to them or takes away is a declared
row, and a row that is no longer needed fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Annotated, Any, Literal

import pytest
from choices import CHOICES
from corpus import canonical, corpus, oracle
from forgiven import DECLARED, ROWS, Declared, Forgiving, Row, forgiving, removals, reorderings
from mcpcodegen.shapes import is_choice, is_object_choice
from mcprotocol import exact, v2026_07_28
from mcprotocol.v2026_07_28 import types
from mcprotocol.wire import WireModel
from pydantic import ConfigDict, Field
from readings import (
    TYPES,
    Difference,
    Reading,
    attempt,
    differences,
    document,
    published,
    readings,
    same,
    strictly,
)
from typing_extensions import TypeAliasType

ENOUGH = 20_000
"""How many instances of each revision must be judged."""

ACCEPTS_EVERYTHING = {"JSONValue"}
AGREES_WITH_ITS_CHOICE = {"ElicitRequestParams"}
"""Choices whose arms exclude each other: the one that is meant is the only one that can take a value."""

HAS_ANY_RESULT = {"ClientResult", "ServerResult"}
"""Choices with an arm that takes what another refuses, where strict reading finds that arm in the end."""

every_revision = pytest.mark.parametrize("revision", TYPES)


@dataclass(frozen=True)
class Representation:
    """A difference between strict reading and jsonschema that is about how a value is written, not what it is."""

    reason: str
    explains: Callable[[Reading], bool]


REPRESENTATION = {
    "an integer that is written with a point": Representation(
        "JSON Schema counts 1.0 as an integer, Python does not; an id 1.0 would come back as 1, another text",
        lambda reading: reading.valid and not reading.integral and reading.strict is None,
    ),
}


def shown(found: Sequence[Reading]) -> list[str]:
    """The first of what should be empty, for the message."""
    return [f"{r.instance.definition}, {r.instance.why}: {r.instance.text}" for r in found[:10]]


@every_revision
def test_there_are_enough_instances_and_each_definition_has_valid_and_invalid_ones(revision: str) -> None:
    found = readings(revision)
    assert len({(r.instance.definition, r.instance.text) for r in found}) == len(found) >= ENOUGH
    verdicts = {(r.instance.definition, r.valid) for r in found}
    wanted = {(name, valid) for name in document(revision).definitions for valid in (True, False)}
    assert wanted - verdicts == {(name, False) for name in ACCEPTS_EVERYTHING if (name, True) in wanted}


@every_revision
def test_the_same_facts_give_the_same_instances(revision: str) -> None:
    again = corpus(document(revision).definitions, document(revision).python)
    assert again == [reading.instance for reading in readings(revision)]


@every_revision
def test_naming_nested_objects_changes_no_verdict(revision: str) -> None:
    named, facts = document(revision).definitions, published(revision)
    rewritten = {name for name in facts if facts[name] != named[name]}
    judge = oracle(named)
    touched = [r for r in readings(revision) if r.instance.definition in rewritten]
    assert touched
    assert shown([r for r in touched if judge(r.instance.definition, r.value) != r.valid]) == []


@every_revision
def test_strict_reading_accepts_what_the_schema_accepts_and_nothing_else(revision: str) -> None:
    apart = [r for r in readings(revision) if (r.strict is not None) != r.valid]
    rows = {name: [r for r in apart if row.explains(r)] for name, row in REPRESENTATION.items()}
    assert shown([r for r in apart if not any(row.explains(r) for row in REPRESENTATION.values())]) == []
    assert {name for name, explained in rows.items() if not explained} == set()
    assert len(REPRESENTATION) <= 3


@every_revision
def test_default_reading_accepts_what_the_facts_and_its_rows_accept_and_nothing_else(revision: str) -> None:
    assert shown(list(unforgiven(revision, DECLARED))) == []


@every_revision
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_of_default_reading_is_needed_wherever_it_changes_something(row: Row, revision: str) -> None:
    named = document(revision).definitions
    whole, fewer = forgiving(named), forgiving(named, without=row.name)
    touched = {name for name in named if whole[name] != fewer[name]}
    others = oracle(fewer, Forgiving)
    needed = {
        r.instance.definition
        for r in readings(revision)
        if r.instance.definition in touched
        and (r.default is not None) != others(r.instance.definition, r.value)
    }
    assert row.reason
    assert touched - needed == touched & AGREES_WITH_ITS_CHOICE


def test_each_row_of_default_reading_changes_something_in_some_revision() -> None:
    named = [document(revision).definitions for revision in TYPES]
    assert all(any(forgiving(n) != forgiving(n, without=row.name) for n in named) for row in ROWS)


@every_revision
def test_null_is_absence_for_every_optional_member(revision: str) -> None:
    forgiven = {
        (r.instance.definition, r.instance.why)
        for r in readings(revision)
        if r.strict is None and r.default is not None
    }
    optional = {
        (name, f"{member} null")
        for name, schema in document(revision).definitions.items()
        for member in schema.get("properties", {}).keys() & never_null(revision)
        if member not in schema.get("required", ()) and name not in DECLARED.dictionaries
    }
    assert len(optional) > 100
    assert optional - forgiven == set()


def unforgiven(revision: str, declared: Declared, *definitions: str) -> Iterator[Reading]:
    """The instances of some definitions, or of all, of which default reading and the rows say different things."""
    forgives = oracle(forgiving(document(revision).definitions, declared), Forgiving)
    for r in readings(revision):
        if not definitions or r.instance.definition in definitions:
            if (r.default is not None) != forgives(r.instance.definition, r.value):
                yield r


@every_revision
def test_each_entry_of_the_declared_lists_is_needed_at_its_place(revision: str) -> None:
    named = document(revision).definitions
    changes = [*removals(named), *reorderings(named)]
    assert len(changes) > 40
    assert [label for label, changed in changes if not list(islice(differing(changed, revision), 1))] == []


def differing(changed: Declared, revision: str) -> Iterator[Reading]:
    """What shows that lists are wrong, looked for where they change something."""
    named = document(revision).definitions
    right, wrong = forgiving(named), forgiving(named, changed)
    touched = [name for name in named if right[name] != wrong[name]]
    return unforgiven(revision, changed, *touched) if touched else iter(())


@every_revision
def test_every_choice_says_which_members_decide(revision: str) -> None:
    named = document(revision).definitions
    choices = {
        name for name, schema in named.items() if is_choice(schema) and is_object_choice(schema, named)
    }
    of_one_class = {name for name in choices if any("items" in arm for arm in named[name]["anyOf"])}
    assert choices - of_one_class == {name for name in CHOICES if "anyOf" in named.get(name, {})}


def test_no_choice_is_declared_that_no_revision_has() -> None:
    named = {name for revision in TYPES for name in document(revision).definitions}
    assert CHOICES.keys() - named == set()


@every_revision
def test_python_data_is_read_as_json_text_is(revision: str) -> None:
    assert shown([r for r in readings(revision) if r.python != r.default]) == []


@every_revision
def test_both_readings_give_equal_values(revision: str) -> None:
    apart = [r for r in readings(revision) if r.strict == r.default and not r.equal]
    assert shown([r for r in apart if r.instance.definition not in HAS_ANY_RESULT]) == []
    named = document(revision).definitions
    assert {r.instance.definition for r in apart} == {n for n in HAS_ANY_RESULT if "anyOf" in named[n]}


@every_revision
def test_what_was_read_strictly_is_written_back_equal(revision: str) -> None:
    assert shown([r for r in readings(revision) if r.strict is not None and not same(r, r.strict)]) == []


@every_revision
def test_what_was_read_is_written_back_equal_but_for_nulls_that_mean_absence(revision: str) -> None:
    written = [(r, r.default) for r in readings(revision) if r.default is not None]
    odd = [(r, list(differences(r.value, json.loads(text)))) for r, text in written if not same(r, text)]
    assert shown([r for r, found in odd if not all(is_null(d, revision) for d in found)]) == []
    assert odd


@every_revision
def test_null_is_kept_under_every_name_that_is_no_member_of_the_definition(revision: str) -> None:
    named = document(revision).definitions
    held = [r for r in readings(revision) if r.instance.why == "unknown future"]
    objects = [r for r in held if "properties" in named[r.instance.definition]]
    assert len(objects) > 100
    for r in objects:
        strangers = never_null(revision) - named[r.instance.definition]["properties"].keys()
        text = json.dumps({**r.value, **dict.fromkeys(strangers)})
        type_ = getattr(TYPES[revision], r.instance.definition)
        assert canonical(exact.write(type_, exact.read(type_, text))) == canonical(text)


@every_revision
def test_every_python_name_comes_as_an_unknown_member_too(revision: str) -> None:
    found = {(r.instance.definition, r.instance.why) for r in readings(revision)}
    wanted = {
        (name, f"{python} {how} {wire}")
        for name, names in document(revision).python.items()
        for wire, python in names.items()
        if python not in document(revision).definitions[name].get("properties", {python: None})
        for how in ("for", "beside")
    }
    assert len(wanted) > 100
    assert wanted - found == set()


def is_null(difference: Difference, revision: str) -> bool:
    """Null for an absent optional member: read as absence, so it is not written."""
    kind, name, read, _ = difference
    return kind == "omitted" and read[name] is None and name in never_null(revision)


@cache
def never_null(revision: str) -> frozenset[str]:
    """The optional members that no definition lets be null."""
    named = document(revision).definitions
    members = [
        (name, oracle({**named, "Member": schema})("Member", None))
        for definition in named.values()
        for name, schema in definition.get("properties", {}).items()
        if name not in definition.get("required", ())
    ]
    return frozenset(name for name, _ in members) - {name for name, null in members if null}


class Icon(WireModel):
    """Wrong: `src` may be absent."""

    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    sizes: list[str] | None = None
    src: str | None = None
    theme: types.IconTheme | None = None


class Annotations(WireModel):
    """Wrong: `priority` may be 2."""

    audience: list[types.Role] | None = None
    last_modified: Annotated[str | None, Field(alias="lastModified")] = None
    priority: Annotated[int | float | None, Field(ge=0, le=2)] = None


class ModelHint(WireModel):
    """Wrong: `name` was lost."""


class PromptReference(WireModel):
    """Wrong: the tag was lost."""

    name: str
    title: str | None = None
    type: str


class Root(WireModel):
    """Wrong: it forgets what it does not know."""

    model_config = ConfigDict(extra="ignore")
    meta: Annotated[types.MetaObject | None, Field(alias="_meta")] = None
    name: str | None = None
    uri: str


LoggingLevel = TypeAliasType(
    "LoggingLevel", Literal["alert", "critical", "debug", "emergency", "error", "info"]
)
"""Wrong: two levels are missing."""


@pytest.mark.parametrize("wrong", [Icon, Annotations, ModelHint, PromptReference, Root, LoggingLevel])
def test_a_planted_wrong_type_is_caught(wrong: Any) -> None:
    revision = v2026_07_28.REVISION
    instances = [r for r in readings(revision) if r.instance.definition == wrong.__name__]
    assert instances
    assert not any(caught(getattr(TYPES[revision], wrong.__name__), r) for r in instances)
    assert any(caught(wrong, r) for r in instances)


def caught(type_: Any, reading: Reading) -> bool:
    """Whether strict reading by a type is at odds with the facts, or loses something."""
    read = attempt(strictly, type_, reading.instance.text, reading.value)
    if read is None or not reading.integral:
        return (read is not None) != reading.integral
    return not same(reading, exact.write(type_, read[0]).decode())
