"""Tables edited as text: what was asked for changes, every other character stays, and a riddle is an error."""

from __future__ import annotations

import tomllib

import pytest

from mcpcodegen.edits import row_text, with_revisions, with_words
from mcpcodegen.errors import RevisionError

CORRECTIONS = """\
# What the table is.

[[correction]]
revisions = ["2025-11-25"]  # one so far
pointer = "/$defs/A"
was = '"a"'

# About B, the second.
[[correction]]
pointer = "/$defs/B"
revisions = [
  "2025-11-25",
  "2026-07-28",
]

# A remark that stands apart.

# About C.
[[correction]]
revisions = ["2026-07-28"]
pointer = "/$defs/C"
"""

WORDS = """\
# Our own words.

[definitions]
Alpha = "The first."
betaOne = "The second."  # a remark
"Tool.odd" = "Quoted."

[members]
"Alpha.a" = "A member."
[revision."2025-11-25".definitions]
Alpha = "As it was."
"""

FIRST, SECOND, THIRD = ["2025-11-25"], ["2025-11-25", "2026-07-28"], ["2026-07-28"]


def test_a_revision_is_added_to_a_row_and_nothing_else_moves() -> None:
    done = with_revisions(CORRECTIONS, [[*FIRST, "2027-01-01"], SECOND, THIRD], "c.toml")
    assert done == CORRECTIONS.replace('["2025-11-25"]  #', '["2025-11-25", "2027-01-01"]  #')


def test_a_list_over_several_lines_is_understood() -> None:
    done = with_revisions(CORRECTIONS, [FIRST, THIRD, THIRD], "c.toml")
    assert done == CORRECTIONS.replace('[\n  "2025-11-25",\n  "2026-07-28",\n]', '["2026-07-28"]')


def test_a_row_without_a_revision_goes_with_the_comment_above_it() -> None:
    done = with_revisions(CORRECTIONS, [FIRST, [], THIRD], "c.toml")
    start, end = CORRECTIONS.index("# About B"), CORRECTIONS.index("# A remark")
    assert done == CORRECTIONS[:start] + CORRECTIONS[end:]


def test_the_last_row_may_go_and_all_of_them() -> None:
    last = with_revisions(CORRECTIONS, [FIRST, SECOND, []], "c.toml")
    assert last == CORRECTIONS[: CORRECTIONS.index("# About C")].rstrip() + "\n"
    every = with_revisions(CORRECTIONS, [[], [], []], "c.toml")
    assert every == "# What the table is.\n\n# A remark that stands apart.\n"


def test_line_ends_of_another_system_stay() -> None:
    text = CORRECTIONS.replace("\n", "\r\n")
    done = with_revisions(text, [[*FIRST, "2027-01-01"], SECOND, THIRD], "c.toml")
    assert done == text.replace('["2025-11-25"]  #', '["2025-11-25", "2027-01-01"]  #')
    assert with_words(WORDS.replace("\n", "\r\n"), {"definitions": {"B": "New."}}, "w.toml").count(
        "\r\n"
    ) == (WORDS.count("\n") + 1)


@pytest.mark.parametrize(
    "text",
    [
        'correction = [{revisions = ["2025-11-25"]}]\n',
        '[[correction]]\n"revisions" = ["2025-11-25"]\n',
        '[[correction]]\nrevisions = [ # ]\n"2025-11-25"]\n',
        '[[correction]]\nreason = """\n[[correction]]\n"""\nrevisions = ["2025-11-25"]\n',
        '[[correction]]\nreason = """\nrevisions = [1]\n"""\nrevisions = ["2025-11-25"]\n',
    ],
)
def test_a_layout_that_is_not_understood_is_an_error_that_names_the_file(text: str) -> None:
    assert tomllib.loads(text)["correction"][0]["revisions"] == FIRST
    with pytest.raises(RevisionError) as caught:
        with_revisions(text, [SECOND], "c.toml")
    assert caught.value.source == "c.toml"
    assert "cannot be edited" in caught.value.problem


def test_a_row_of_words_comes_where_its_name_does() -> None:
    done = with_words(WORDS, {"definitions": {"Beta": "New."}, "members": {"Alpha.b": "New too."}}, "w.toml")
    assert done == WORDS.replace("betaOne", 'Beta = "New."\nbetaOne').replace(
        '"A member."\n', '"A member."\n"Alpha.b" = "New too."\n'
    )


@pytest.mark.parametrize(
    ("name", "place"),
    [("AAA", '[definitions]\nAAA = "New."\n'), ("Zeta", '"Quoted."\nZeta = "New."\n')],
)
def test_a_row_may_come_first_or_last(name: str, place: str) -> None:
    assert place in with_words(WORDS, {"definitions": {name: "New."}}, "w.toml")


def test_a_table_that_is_missing_is_made() -> None:
    assert with_words("", {"members": {"A.b": "New."}}, "w.toml") == '[members]\n"A.b" = "New."\n'
    assert with_words("[anywhere]", {"members": {"A.b": "New."}}, "w.toml") == (
        '[anywhere]\n\n[members]\n"A.b" = "New."\n'
    )
    assert with_words("[members]", {"members": {"A.b": "New."}}, "w.toml") == '[members]\n"A.b" = "New."\n'


def test_words_that_are_laid_out_otherwise_are_an_error() -> None:
    with pytest.raises(RevisionError) as caught:
        with_words('definitions.A = "The first."\n', {"definitions": {"B": "New."}}, "w.toml")
    assert caught.value.source == "w.toml"


@pytest.mark.parametrize(
    "text", ["plain", 'a "quote" \\ back', "new\nline\ttab", "\x00\x1f\x7f\x85", "\u202e\U0001f600\u00a0 é"]
)
def test_any_text_comes_back_from_a_row_as_it_was_and_shows_all_of_itself(text: str) -> None:
    row = row_text(text, text)
    assert tomllib.loads(row) == {text: text}
    assert row.isprintable()
