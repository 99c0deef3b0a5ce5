"""`mcp-codegen diff`: what changed between two revisions, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import schemas
from click.testing import CliRunner, Result
from emitted import DIALECT, schema_text
from hypothesis import HealthCheck, assume, given, settings
from revised import HISTORY, RELEASED, STEPS, Pair, applied, at, pair, revision

from mcpcodegen.cli import main
from mcpcodegen.diff import Change, diff
from mcpcodegen.diff import schemas as schemas_of
from mcpcodegen.errors import SchemaError
from mcpcodegen.facts import escape
from mcpcodegen.grades import KINDS
from mcpcodegen.hoist import hoist
from mcpcodegen.ir import Spec
from mcpcodegen.load import load
from mcpcodegen.lower import lower
from mcpcodegen.members import Comparison
from mcpcodegen.phrases import PHRASES, phrase
from mcpcodegen.renames import with_names

Run = Callable[..., Result]
Kinds = list[tuple[str, str, str]]


@pytest.fixture
def run() -> Run:
    """`mcp-codegen diff ...`, run to its end."""

    def invoke(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["diff", *map(str, arguments)])

    return invoke


def spec(definitions: Mapping[str, Any]) -> Spec:
    return lower(hoist(load(schema_text(definitions), source="schema.json")))


def kinds(old: Mapping[str, Any], new: Mapping[str, Any]) -> Kinds:
    """What changed, by definition, pointer and kind."""
    return [(change.definition, change.pointer, change.kind) for change in diff(spec(old), spec(new))]


def an_object(required: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(required)}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("old", "new", "pointer", "kind"),
    [
        (an_object(x=TEXT), an_object(x=TEXT, y=NUMBER), "/properties/y", "member-added"),
        (an_object(x=TEXT), an_object(("y",), x=TEXT, y=NUMBER), "/properties/y", "required-member-added"),
        (an_object(x=TEXT), an_object(("x",), x=TEXT), "/properties/x", "member-required"),
        (an_object(xs=NUMBER, y=TEXT), an_object(xsMs=NUMBER, y=TEXT), "/properties/xsMs", "member-renamed"),
        (
            an_object(("xs",), xs=NUMBER),
            an_object(("xsMs",), xsMs=NUMBER),
            "/properties/xsMs",
            "required-member-renamed",
        ),
        (
            {**an_object(x=TEXT), "additionalProperties": False},
            {**an_object(x=TEXT, y=TEXT), "additionalProperties": False},
            "/properties/y",
            "closed-member-added",
        ),
        (
            {**an_object(x=TEXT), "additionalProperties": NUMBER},
            {**an_object(("y",), x=TEXT, y=TEXT), "additionalProperties": NUMBER},
            "/properties/y",
            "closed-required-member-added",
        ),
        (an_object(x=TEXT), {**an_object(x=TEXT), "additionalProperties": False}, "/additionalProperties", "type-narrowed"),
        (an_object(x={"type": "integer"}), an_object(x=NUMBER), "/properties/x", "type-widened"),
        (an_object(x=TEXT), an_object(x=NUMBER), "/properties/x", "type-changed"),
        (an_object(x=TEXT), an_object(x={"type": ["string", "null"]}), "/properties/x/type", "null-admitted"),
        (
            an_object(x={"anyOf": [TEXT, NUMBER]}),
            an_object(x={"anyOf": [TEXT, NUMBER, {"type": "null"}]}),
            "/properties/x",
            "null-admitted",
        ),
        (an_object(x=TEXT), an_object(x={"anyOf": [TEXT, NUMBER]}), "/properties/x", "alternative-added"),
        (
            an_object(x={"anyOf": [TEXT, NUMBER]}),
            an_object(x={"anyOf": [TEXT, NUMBER, {"type": "integer"}]}),
            "/properties/x",
            "alternative-listed",
        ),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}, "", "value-added"),
        (an_object(x={"const": 1}), an_object(x={"enum": [1, 2]}), "/properties/x", "value-added"),
        (an_object(x={"const": "a"}), an_object(x=TEXT), "/properties/x", "type-widened"),
        (an_object(x=NUMBER), an_object(x={**NUMBER, "minimum": 0}), "/properties/x/minimum", "bound-tightened"),
        (
            an_object(x={**TEXT, "maxLength": 5}),
            an_object(x={**TEXT, "maxLength": 6}),
            "/properties/x/maxLength",
            "bound-loosened",
        ),
        (an_object(x=TEXT), an_object(x={**TEXT, "pattern": "a"}), "/properties/x/pattern", "constraint-added"),
        (an_object(x=TEXT), an_object(x={**TEXT, "format": "uri"}), "/properties/x/format", "note-changed"),
        (
            an_object(x={"type": "array", "items": TEXT}),
            an_object(x={"type": "array", "items": NUMBER}),
            "/properties/x/items",
            "type-changed",
        ),
    ],
)  # fmt: skip
def test_a_change_is_of_one_kind_and_its_undoing_of_the_other(
    old: Mapping[str, Any], new: Mapping[str, Any], pointer: str, kind: str
) -> None:
    assert kinds({"A": old}, {"A": new}) == [("A", pointer, kind)]
    back = [undone for _, _, undone in kinds({"A": new}, {"A": old})]
    assert back == [KINDS[kind].undone_by]


@pytest.mark.parametrize(
    "old",
    [
        {"A": {**an_object(x=TEXT, y=NUMBER), "description": "Prose."}},
        {"A": {**an_object(y=NUMBER, x={**TEXT, "description": "Prose."}), "additionalProperties": {}}},
    ],
)
def test_prose_and_order_and_what_says_nothing_are_no_change(old: Mapping[str, Any]) -> None:
    assert kinds(old, {"A": an_object(x=TEXT, y=NUMBER)}) == []


def test_true_and_1_are_two_values() -> None:
    found = kinds({"A": an_object(x={"const": 1})}, {"A": an_object(x={"const": True})})
    assert found == [("A", "/properties/x", "value-removed"), ("A", "/properties/x", "value-added")]


def test_an_object_that_is_given_a_name_is_compared_member_by_member() -> None:
    inline = {"A": an_object(x={"type": "object"})}
    named = {"A": an_object(x={"$ref": "#/$defs/B"}), "B": an_object(y=TEXT)}
    assert kinds(inline, named) == [
        ("A", "/properties/x/properties/y", "member-added"),
        ("B", "", "definition-added"),
    ]


def test_a_definition_of_the_same_shape_is_renamed() -> None:
    before = {"A": an_object(x={"$ref": "#/$defs/Old"}), "Old": an_object(a=TEXT, b=NUMBER)}
    after = {"A": an_object(x={"$ref": "#/$defs/New"}), "New": an_object(a=TEXT, b=NUMBER)}
    assert kinds(before, after) == [("New", "", "definition-renamed")]


def test_a_definition_that_changed_with_its_name_is_known_by_its_use() -> None:
    before = {"A": an_object(x={"$ref": "#/$defs/Old"}), "Old": an_object(a=TEXT)}
    after = {"A": an_object(x={"$ref": "#/$defs/New"}), "New": an_object(a=TEXT, b=NUMBER)}
    assert kinds(before, after) == [
        ("New", "", "definition-renamed"),
        ("New", "/properties/b", "member-added"),
    ]


def test_of_two_definitions_of_one_shape_none_is_renamed() -> None:
    shape = an_object(a=TEXT, b=NUMBER)
    found = kinds({"Old": shape}, {"One": shape, "Two": shape})
    assert sorted(kind for _, _, kind in found) == [
        "definition-added",
        "definition-added",
        "definition-removed",
    ]


def message(method: str) -> dict[str, Any]:
    return an_object(("method",), method={"const": method, "type": "string"})


def sent(client: Mapping[str, str], server: Mapping[str, str]) -> dict[str, Any]:
    """A schema in which each role sends some notifications, by definition."""
    unions = {
        f"{role}Notification": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in methods]}
        for role, methods in (("Client", client), ("Server", server))
        if methods
    }
    return {name: message(method) for name, method in {**client, **server}.items()} | unions


def methods(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    changes = diff(spec(old), spec(new))
    return [(change.kind, change.method, change.written_by) for change in changes if change.method]


ONE, TWO = {"OneNotification": "one"}, {"TwoNotification": "two"}


def test_a_method_comes_and_goes_by_who_sends_it() -> None:
    assert methods(sent(ONE, ONE), sent(ONE | TWO, TWO)) == [
        ("method-removed", "one", ("server",)),
        ("method-added", "two", ("client",)),
        ("method-added", "two", ("server",)),
    ]


def test_a_message_with_another_method_name_is_a_method_renamed() -> None:
    assert methods(sent(ONE, {}), sent({"OneNotification": "uno"}, {})) == [
        ("method-renamed", "uno", ("client",))
    ]


def swapped(change: Change, names: Mapping[str, str]) -> tuple[str, str, str, str]:
    """A change as the opposite comparison has it: where it is, its kind, its method."""
    row = KINDS[change.kind]
    place = change.pointer
    if "member-renamed" in change.kind:
        place = f"{place.rpartition('/')[0]}/{escape(change.old)}"
    return names.get(change.definition, change.definition), place, row.undone_by, change.method


@pytest.mark.parametrize(("old", "new"), STEPS)
def test_swapping_sides_mirrors_the_changes(old: str, new: str, spec_dir: Path) -> None:
    one, other = revision(old, spec_dir), revision(new, spec_dir)
    there, back = pair(one, other), diff(other, one)
    names = {after: before for before, after in there.names.items()}
    wires = {change.new: change.old for change in there.changes if change.kind == "method-renamed"}
    mirrored = [swapped(change, names) for change in there.changes]
    mirrored = [(*where, wires.get(method, method)) for *where, method in mirrored]
    assert sorted(mirrored) == sorted(
        (change.definition, change.pointer, change.kind, change.method) for change in back
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_breaks_readers_one_way_breaks_writers_the_other(kind: str) -> None:
    there, back = KINDS[kind], KINDS[KINDS[kind].undone_by]
    assert back.undone_by == kind
    breaks = (there.readers == "breaking", there.writers == "breaking")
    assert (back.writers == "breaking", back.readers == "breaking") == breaks
    assert "additive" not in (back.readers, back.writers) or "additive" not in (there.readers, there.writers)


def test_every_kind_has_its_words() -> None:
    assert set(PHRASES) == set(KINDS)


@pytest.mark.parametrize("name", [*RELEASED, *HISTORY])
def test_a_revision_does_not_differ_from_itself(name: str, spec_dir: Path) -> None:
    assert diff(revision(name, spec_dir), revision(name, spec_dir)) == []


@pytest.mark.parametrize(("old", "new"), STEPS)
def test_the_changes_make_the_new_revision_of_the_old(old: str, new: str, spec_dir: Path) -> None:
    both = pair(revision(old, spec_dir), revision(new, spec_dir))
    assert left(both) == []
    assert sendings(both.specs[0], both.changes) == sendings(both.specs[1], ())


def left(both: Pair) -> list[tuple[str, str]]:
    """What still differs from the new definitions when all changes have been made to the old ones."""
    made = applied(both.changes, both.old)
    assert set(made) == set(both.new)
    comparison = Comparison(made, both.new)
    return [
        (name, found.pointer) for name in made for found in comparison.differences(made[name], both.new[name])
    ]


def sendings(one: Spec, changes: tuple[Change, ...]) -> set[tuple[str, str]]:
    """Who sends what in a revision, after some changes."""
    known: set[tuple[str, str]] = {(role, method.wire) for method in one.methods for role in method.senders}
    for change in changes:
        pairs: set[tuple[str, str]] = {(role, change.method) for role in change.written_by}
        if change.kind in ("method-added", "method-freed"):
            known |= pairs
        elif change.kind in ("method-removed", "method-enclosed"):
            known -= pairs
    return known


MemberPlace = tuple[str, str, str]
"""A definition, a member of it, and a method."""


def member_place(change: Change) -> MemberPlace:
    keyword, _, member = change.pointer.removeprefix("/").partition("/")
    return change.definition, member.partition("/")[0] if keyword == "properties" else "", change.method


def test_the_steps_of_the_history_come_to_the_whole_difference(spec_dir: Path) -> None:
    revisions = [revision(name, spec_dir) for name in HISTORY]
    steps = [pair(old, new) for old, new in zip(revisions, revisions[1:], strict=False)]
    whole = pair(revisions[0], revisions[-1])
    names: dict[str, str] = {}
    union: set[MemberPlace] = set()
    for step in steps:
        names |= step.names
        union = {(step.names.get(name, name), member, method) for name, member, method in union}
        union |= {member_place(change) for change in step.changes}
    in_both = set(whole.old) & set(whole.new)
    # What a definition went through that is not in both ends is told at the ends as its coming or its going, or not at all.
    assert {one for one in union if one[0] in in_both} == {
        member_place(change) for change in whole.changes if change.definition in in_both
    }
    assert {member_place(change) for change in whole.changes} <= union
    assert whole.names.items() <= names.items()
    assert [len(step.changes) > 0 for step in steps] == [False, True, True, True, True]


def test_the_steps_made_one_after_another_come_to_what_the_whole_difference_makes(spec_dir: Path) -> None:
    revisions = [revision(name, spec_dir) for name in HISTORY]
    whole = pair(revisions[0], revisions[-1])
    made = dict(schemas_of(revisions[0]))
    for old, new in zip(revisions, revisions[1:], strict=False):
        step = pair(old, new)
        made = dict(applied(step.changes, with_names(made, step.names)))
    at_once = applied(whole.changes, whole.old)
    assert set(made) == set(at_once) == set(whole.new)
    for definitions in (made, at_once):
        comparison = Comparison(definitions, whole.new)
        found = {name: list(comparison.differences(definitions[name], whole.new[name])) for name in made}
        assert {name: rows for name, rows in found.items() if rows} == {}


def test_each_place_of_the_whole_difference_is_one_of_a_step_and_the_other_way_round(spec_dir: Path) -> None:
    revisions = [revision(name, spec_dir) for name in HISTORY]
    whole = pair(revisions[0], revisions[-1])
    passed: set[Place] = set()
    for old, new in zip(revisions, revisions[1:], strict=False):
        step = pair(old, new)
        passed = {(step.names.get(name, name), *where) for name, *where in passed}
        passed |= places(step.changes)
    ends = places(whole.changes)
    assert ends <= passed
    assert {place for place in passed - ends if not told_otherwise(place, ends, whole)} == set()


Place = tuple[str, ...]
"""A definition, a pointer into it, and a method."""


def places(changes: Iterable[Change]) -> set[Place]:
    return {(change.definition, change.pointer, change.method) for change in changes}


def told_otherwise(place: Place, ends: set[Place], whole: Pair) -> bool:
    """Whether the ends agree on a place that a step changed, or tell of it by what it stands in or what stands in it."""
    name, pointer, method = place
    if not (name in whole.old and name in whole.new):
        return name not in {**whole.old, **whole.new} or (name, "", "") in ends
    if any(f"{pointer}/".startswith(f"{other}/") for owner, other, _ in ends if owner == name and other):
        return True
    if any(other.startswith(f"{pointer}/") for owner, other, _ in ends if owner == name):
        return True
    return not method and standing(name, pointer, whole.old) == standing(name, pointer, whole.new)


def standing(name: str, pointer: str, definitions: Mapping[str, Any]) -> Any:
    """What stands at a place; None where nothing does: a step may have brought what a later one took."""
    try:
        return at(name, pointer, definitions)
    except KeyError:
        return None


def test_the_first_draft_has_the_facts_of_the_release_before_it(spec_dir: Path) -> None:
    release, draft = (revision(name, spec_dir) for name in HISTORY[:2])
    assert release.digest == draft.digest


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(schemas.definitions(), schemas.definitions())
def test_any_two_schemas_can_be_compared(old: dict[str, Any], new: dict[str, Any]) -> None:
    try:
        one, other = spec(old), spec(new)
    except SchemaError:
        assume(False)
        raise
    both = pair(one, other)
    assert diff(one, one) == []
    assert all(phrase(change) for change in both.changes)
    back = sorted(KINDS[change.kind].undone_by for change in both.changes)
    assert back == sorted(change.kind for change in diff(other, one))


def file(folder: Path, name: str, definitions: Mapping[str, Any]) -> Path:
    path = folder / name
    path.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}))
    return path


def test_the_summary_of_the_newest_pair_fits_one_screen(run: Run) -> None:
    done = run("2025-11-25", "2026-07-28")
    summary = done.stdout.partition("\nMethods\n")[0]
    assert summary.count("\n") <= 20  # of 24 lines, which leaves room for the command and the next prompt
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "server/discover" in summary


def test_the_three_forms_say_the_same(run: Run) -> None:
    text, tables = (run("2025-11-25", "latest", *more).stdout for more in ((), ("--markdown",)))
    rows = json.loads(run("2025-11-25", "latest", "--json").stdout)["changes"]
    assert len(rows) == json.loads(run("2025-11-25", "latest", "--json").stdout)["counts"]["all"]["changes"]
    words = " ".join(text.split())
    for row in rows:
        subject = row.get("method") or row["definition"]
        assert subject in words and subject in tables
        for word in row["text"].split():
            assert word.rstrip(",") in words and word.rstrip(",").replace("|", "\\|") in tables


def test_names_that_would_write_on_the_terminal_are_shown_as_escapes(run: Run, tmp_path: Path) -> None:
    old = file(tmp_path, "old.json", sent(ONE, {}))
    new = file(tmp_path, "new.json", sent(ONE | {"TwoNotification": "two\x1b[2J"}, {}))
    for form in ((), ("--markdown",), ("--json",)):
        assert "\x1b" not in run(old, new, *form).stdout


def test_a_comparison_does_without_what_only_generating_needs(spec_dir: Path) -> None:
    code = (
        "import sys; from mcpcodegen.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print({'black', 'datamodel_code_generator'} & set(sys.modules), file=sys.stderr)"
    )
    arguments = ["diff", "2025-11-25", str(spec_dir / "2026-07-28/schema.json")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "set()\n")


def chain(name: str, last: dict[str, Any]) -> dict[str, Any]:
    """Definitions of which each holds the next, more of them than can be followed."""
    links = {f"{name}{index}": an_object(x={"$ref": f"#/$defs/{name}{index + 1}"}) for index in range(600)}
    return {**links, f"{name}600": last}


def test_definitions_that_lead_on_for_too_long_are_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    both = chain("A", TEXT) | chain("B", NUMBER)
    old = file(tmp_path, "old.json", {**both, "R": an_object(q={"$ref": "#/$defs/A0"})})
    new = file(tmp_path, "new.json", {**both, "R": an_object(q={"$ref": "#/$defs/B0"})})
    done = run(old, new)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "through too many others" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_comes_to_one_place_is_told_together(run: Run, tmp_path: Path) -> None:
    old = file(tmp_path, "old.json", {"A": an_object(x={"enum": [1]}), "B": an_object(x=TEXT)})
    new = file(tmp_path, "new.json", {"A": an_object(x={"enum": [1, 2, 3]}), "B": an_object(("x",), x=TEXT)})
    lines = run(old, new).stdout.splitlines()
    assert "  readers   A.x: may be 2, 3" in lines
    assert "  writers   B.x: required now" in lines


def test_what_happened_alike_is_said_once(run: Run, tmp_path: Path) -> None:
    before, after = an_object(x=TEXT), an_object(("x",), x=TEXT)
    old = file(tmp_path, "old.json", {"A": before, "B": before})
    new = file(tmp_path, "new.json", {"A": after, "B": after})
    assert run(old, new).stdout.splitlines()[-2:] == ["  writers   x: required now", "              in A, B"]


def test_equal_revisions_have_no_difference_in_any_form(run: Run, spec_dir: Path) -> None:
    published = spec_dir / "2026-07-28/schema.json"
    assert run("2026-07-28", published).stdout == "2026-07-28 -> 2026-07-28: no difference\n"
    assert json.loads(run("latest", published, "--json").stdout)["changes"] == []
    assert "No difference." in run("latest", published, "--markdown").stdout
    assert run("latest", published, "--fail-on", "any").exit_code == 0


def test_every_step_of_the_history_has_something_to_tell(run: Run, spec_dir: Path) -> None:
    said = [
        run(spec_dir / old, spec_dir / new).stdout for old, new in zip(HISTORY, HISTORY[1:], strict=False)
    ]
    assert [text.partition("\n")[0].endswith(": no difference") for text in said] == [False] * 5
    assert (
        "no difference in meaning\n\n53 definitions mean what they meant and are published in other words: "
        in said[0]
    )


def test_what_only_its_words_tell_apart_is_said_in_every_form(run: Run, tmp_path: Path) -> None:
    old = file(tmp_path, "old.json", {"A": {"type": "string"}, "B": {"type": "object", "description": "x"}})
    new = file(tmp_path, "new.json", {"A": {"type": "string"}, "B": {"type": "object", "description": "<y>"}})
    words = "1 definition means what it meant and is published in other words: B"
    assert run(old, new).stdout == f"{old} -> {new}: no difference in meaning\n\n{words}\n"
    assert run(old, new, "--markdown").stdout.endswith(f"No difference in meaning.\n\n{words}\n")
    assert json.loads(run(old, new, "--json").stdout)["reworded"] == ["B"]
    page = run(old, new, "--html").stdout
    assert "No difference in meaning." in page
    assert f"<p>{words}</p>" in page
    assert run(old, new, "--fail-on", "any").exit_code == 0
    assert json.loads(run(old, old, "--json").stdout)["reworded"] == []


def test_a_definition_that_changed_in_words_and_meaning_is_told_by_its_meaning(
    run: Run, tmp_path: Path
) -> None:
    old = file(tmp_path, "old.json", {"A": {"type": "string", "description": "x"}})
    new = file(tmp_path, "new.json", {"A": {"type": "integer", "description": "y"}})
    assert json.loads(run(old, new, "--json").stdout)["reworded"] == []


def test_the_exit_code_says_what_was_asked(run: Run, tmp_path: Path) -> None:
    old = file(tmp_path, "old.json", {"A": an_object(x=TEXT)})
    more = file(tmp_path, "more.json", {"A": an_object(x=TEXT, y=TEXT)})
    strict = file(tmp_path, "strict.json", {"A": an_object(("x",), x=TEXT)})
    codes = [
        run(old, new, *flags).exit_code
        for new in (more, strict)
        for flags in ((), ("--fail-on", "breaking"), ("--fail-on", "any"))
    ]
    assert codes == [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2025-11-26", "latest", "did you mean 2025-11-25?"),
        ("latest", "nowhere.json", "no such file"),
        ("latest", "", "names no revision and no file"),
    ],
)
def test_what_is_no_revision_and_no_file_is_named_in_one_line(
    old: str, new: str, words: str, run: Run
) -> None:
    done = run(old, new)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
