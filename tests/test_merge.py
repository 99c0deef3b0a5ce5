"""Three texts to one: both sides' changes stand, and no line of the author's is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpcodegen.merge import MARKERS, Merged, merged, side_by_side

BASE = "a\nb\nc\nd\ne\n"

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "", "x = 1"]), max_size=12)


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("yours", "theirs", "outcome"),
    [
        (BASE, BASE, Merged(BASE, 0)),
        ("a\nB\nc\nd\ne\n", BASE, Merged("a\nB\nc\nd\ne\n", 0)),
        (BASE, "a\nb\nc\nd\nE\n", Merged("a\nb\nc\nd\nE\n", 0)),
        ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", Merged("A\nb\nc\nd\nE\n", 0)),
        ("a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", Merged("a\nX\nc\nd\ne\n", 0)),
        ("a\nb\nc\nnew\nd\ne\n", "a\nc\nd\ne\n", Merged("a\nc\nnew\nd\ne\n", 0)),
        (
            "a\nX\nc\nd\ne\n",
            "a\nY\nc\nd\ne\n",
            Merged("a\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> theirs\nc\nd\ne\n", 1),
        ),
        (
            "a\nX\nb\nc\nd\ne\n",
            "a\nX\nY\nc\nd\ne\n",
            Merged("a\nX\n<<<<<<< yours\nb\n=======\nY\n>>>>>>> theirs\nc\nd\ne\n", 1),
        ),
        (
            "a\nb\nc\nd\nX",
            "a\nb\nc\nd\nY",
            Merged("a\nb\nc\nd\n<<<<<<< yours\nX\n=======\nY\n>>>>>>> theirs\n", 1),
        ),
        ("", "a\nb\nC\nd\ne\n", Merged("<<<<<<< yours\n=======\na\nb\nC\nd\ne\n>>>>>>> theirs\n", 1)),
    ],
    ids=[
        "nothing changed",
        "yours changed",
        "theirs changed",
        "both changed elsewhere",
        "both changed alike",
        "added and removed",
        "a conflict",
        "a conflict within what is alike",
        "no end of line",
        "all of it deleted",
    ],
)
def test_two_changes_come_to_one_text(yours: str, theirs: str, outcome: Merged) -> None:
    assert merged(BASE, yours, theirs, "theirs") == outcome


@given(LINES, LINES, LINES)
@settings(max_examples=400)
def test_no_line_that_the_author_wrote_is_lost(base: list[str], yours: list[str], theirs: list[str]) -> None:
    outcome = merged(text(base), text(yours), text(theirs), "theirs")
    added = Counter(yours) - Counter(base)
    assert added - Counter(outcome.text.splitlines()) == Counter()


@given(LINES, LINES, LINES)
@settings(max_examples=200)
def test_the_markers_are_as_many_as_the_conflicts(
    base: list[str], yours: list[str], theirs: list[str]
) -> None:
    outcome = merged(text(base), text(yours), text(theirs), "theirs")
    assert len(MARKERS.findall(outcome.text)) == 3 * outcome.conflicts


@given(LINES, LINES)
def test_one_side_that_changed_nothing_leaves_the_other(base: list[str], other: list[str]) -> None:
    assert merged(text(base), text(base), text(other), "theirs") == Merged(text(other), 0)
    assert merged(text(base), text(other), text(base), "theirs") == Merged(text(other), 0)


@given(LINES, LINES)
def test_without_a_base_yours_stands_whole_and_theirs_beside_it(yours: list[str], theirs: list[str]) -> None:
    outcome = side_by_side(text(yours), text(theirs), "theirs").text.splitlines()
    theirs_only: list[str] = []
    kept: list[str] = []
    side = kept
    for line in outcome:
        side = {"=======": theirs_only, ">>>>>>> theirs": kept}.get(line, side)
        side.append(line)
    assert [line for line in kept if not MARKERS.fullmatch(line)] == yours
    assert Counter(theirs) - Counter(outcome) == Counter()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git, which merges the same texts")
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_what_git_merges_without_conflict_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    base = [f"line {number}" for number in range(30)]
    yours, theirs = base.copy(), base.copy()
    yours[data.draw(st.integers(0, 11))] = "mine"
    theirs[data.draw(st.integers(18, 29))] = "theirs"
    folder = tmp_path_factory.mktemp("texts")
    for name, lines in {"yours": yours, "base": base, "theirs": theirs}.items():
        (folder / name).write_text(text(lines))
    by_git = git_merge(folder)
    assert merged(text(base), text(yours), text(theirs), "theirs") == Merged(by_git, 0)


def git_merge(folder: Path) -> str:
    return subprocess.run(
        ["git", "merge-file", "-p", "yours", "base", "theirs"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
