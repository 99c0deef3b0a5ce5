"""Corrections: each is asserted against the file it corrects, and says when it is no longer needed."""

from __future__ import annotations

from typing import Any

import pytest
from emitted import read

from mcpcodegen import pipeline
from mcpcodegen.correct import carried, correct, expired
from mcpcodegen.errors import CorrectionError
from mcpcodegen.ir import ABSENT, Document
from mcpcodegen.revisions import Correction, corrections, pins

NARROW = {"type": "integer"}
WIDE = {"type": "number"}


def document(member: dict[str, Any]) -> Document:
    return read(
        {"A": {"type": "object", "properties": {"a/b": member, "list": {"anyOf": [{"type": "string"}, {}]}}}}
    )


def row(was: Any = NARROW, now: Any = WIDE, pointer: str = "/$defs/A/properties/a~1b") -> Correction:
    return Correction(("2026-07-28",), pointer, was, now, "a reason", "an evidence")


def refusal(given: Document, wrong: Correction) -> CorrectionError:
    with pytest.raises(CorrectionError) as caught:
        correct(given, [wrong])
    return caught.value


def test_a_correction_is_put_where_it_points() -> None:
    done = correct(document(NARROW), [row()])
    assert done.definitions["A"]["properties"]["a/b"] == WIDE


def test_a_correction_reaches_into_a_list() -> None:
    done = correct(document(NARROW), [row({"type": "string"}, WIDE, "/$defs/A/properties/list/anyOf/0")])
    assert done.definitions["A"]["properties"]["list"]["anyOf"] == [WIDE, {}]


def test_a_correction_adds_what_is_absent() -> None:
    done = correct(document(NARROW), [row(ABSENT, 1, "/$defs/A/properties/a~1b/minimum")])
    assert done.definitions["A"]["properties"]["a/b"] == {"type": "integer", "minimum": 1}


def test_the_document_that_was_corrected_is_as_it_was() -> None:
    given = document(NARROW)
    correct(given, [row()])
    assert given == document(NARROW)


def test_prose_does_not_keep_a_correction_from_fitting() -> None:
    told = {**NARROW, "description": "Words of the file."}
    assert correct(document(told), [row()]).definitions["A"]["properties"]["a/b"] == WIDE


def test_rows_apply_in_their_order() -> None:
    rows = [row(), row(WIDE, {"type": "string"})]
    assert correct(document(NARROW), rows).definitions["A"]["properties"]["a/b"] == {"type": "string"}


def test_what_already_stands_there_is_left_and_reported_as_expired() -> None:
    given = document(WIDE)
    assert correct(given, [row()]).definitions == given.definitions
    assert expired(given, [row(), row(WIDE, NARROW)]) == [row()]


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (row({"type": "string"}), 'found { "type": "integer" }'),
        (row(pointer="/$defs/A/properties/gone"), "found nothing"),
        (row(pointer="/$defs/B"), "found nothing"),
        (row(pointer="/$defs/A/properties/list/anyOf/7"), "found nothing"),
        (row(ABSENT), 'found { "type": "integer" }'),
    ],
)
def test_a_correction_that_matches_nothing_stops_the_run(wrong: Correction, shown: str) -> None:
    error = refusal(document(NARROW), wrong)
    assert shown in error.problem
    assert (error.source, error.pointer) == ("schema.json", wrong.pointer)


def test_a_file_of_no_known_revision_takes_only_the_rows_that_fit() -> None:
    rows = [row({"type": "string"}), row()]
    done = correct(document(NARROW), rows, strict=False)
    assert done.definitions["A"]["properties"]["a/b"] == WIDE


@pytest.mark.parametrize("revision", [pin.revision for pin in pins()])
def test_every_row_of_the_table_fits_the_facts_it_is_for(revision: str) -> None:
    facts = pipeline.load_pinned(revision)
    rows = [known for known in corrections() if revision in known.revisions]
    assert expired(facts, rows) == []
    assert expired(correct(facts, rows), rows) == rows


def test_every_row_of_the_table_has_a_reason_an_evidence_and_a_revision() -> None:
    known = {pin.revision for pin in pins()}
    assert len(corrections()) >= 3
    for one in corrections():
        assert one.revisions and set(one.revisions) <= known
        assert one.reason and one.evidence
        assert one.pointer.startswith("/$defs/")
        assert one.was != one.now


def test_the_corrections_that_the_protocol_needs_are_in_force() -> None:
    known = pipeline.read(revision="2026-07-28").definitions
    assert known["JSONValue"]["anyOf"][2]["type"] == ["string", "number", "boolean", "null"]
    answers = known["ElicitResult"]["properties"]["content"]["additionalProperties"]["anyOf"]
    assert answers[1]["type"] == ["string", "number", "boolean"]


def test_nothing_is_absent_from_what_is_not_there() -> None:
    rows = [row(ABSENT, 1, "/$defs/Gone/minimum"), row(ABSENT, 1, "/$defs/A/properties/list/anyOf/7/x")]
    given = document(NARROW)
    assert correct(given, rows, strict=False).definitions == given.definitions
    for wrong in rows:
        assert "found nothing" in refusal(given, wrong).problem


def test_numbers_and_truths_that_python_takes_for_equal_are_told_apart() -> None:
    given = document({"const": 1})
    for other in (True, 1.0):
        assert "matches nothing" in refusal(given, row({"const": other}, WIDE)).problem
        assert expired(given, [row(WIDE, {"const": other})]) == []


def test_rows_are_sorted_by_what_a_new_file_says() -> None:
    of_it, of_another = ("2026-07-28",), ("2025-11-25",)
    rows = {
        name: Correction(revisions, "/$defs/A/properties/a~1b", was, now, "a reason", "an evidence")
        for name, revisions, was, now in (
            ("stands", of_it, NARROW, WIDE),
            ("stands elsewhere", of_another, NARROW, WIDE),
            ("adopted", of_it, WIDE, NARROW),
            ("adopted long ago", of_another, WIDE, NARROW),
            ("unclear", of_it, WIDE, {"type": "string"}),
            ("of no concern", of_another, WIDE, {"type": "string"}),
        )
    }
    done = carried(document(NARROW), list(rows.values()), "2026-07-28")
    assert done.standing == (rows["stands"], rows["stands elsewhere"])
    assert done.adopted == (rows["adopted"],)
    assert done.unclear == (rows["unclear"],)
