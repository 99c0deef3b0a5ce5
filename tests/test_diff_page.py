"""`mcp-codegen diff --html`: what is on the page, where it leads, and what can never get into it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result
from emitted import DIALECT
from markup import Element, tree
from planted import HOSTILE, hostile
from revised import STEPS, revision

from mcpcodegen.cli import main
from mcpcodegen.diff import diff
from mcpcodegen.phrases import phrase, pieces

Run: TypeAlias = Callable[..., Result]
Told: TypeAlias = Counter[tuple[str, ...]]

NEWEST = ("2025-11-25", "2026-07-28")

TAGS = frozenset(
    "a b body caption code dd div dl dt em footer form h1 h2 h3 head header html input label li link main meta"
    " option p script section select span style table tbody td th thead title tr ul wbr button".split()
)
ATTRIBUTES = frozenset(
    "aria-describedby aria-label aria-labelledby aria-live autocapitalize autocomplete charset class content"
    " data-choose-grade data-choose-kind data-count data-grades data-kind data-total for hidden href http-equiv id"
    " lang name placeholder rel role scope spellcheck type value".split()
)
"""What a page is made of; text of a schema adds nothing to it."""


@pytest.fixture(scope="session")
def run() -> Run:
    """`mcp-codegen diff ...`, run to its end."""

    def invoke(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["diff", *map(str, arguments)])

    return invoke


@pytest.fixture(scope="session")
def newest(run: Run) -> Element:
    """The page of the newest pair."""
    return tree(run(*NEWEST, "--html").stdout)


def told(page: Element) -> Told:
    """Every change of a page by kind, definition and grades; one that is told twice counts twice."""
    found: Told = Counter()
    for row in page.all("li", "row"):
        grades = [one.text for one in row.all("dd")]
        (kind,) = [one.text for one in row.all("code")]
        names = [(one.text, int(one.attributes["data-count"])) for one in row.all("li")]
        if not names:
            (link,) = [*row.all("b", "subject")[0].all("a"), *row.all("p", "why")[0].all("a")]
            names = [(link.text, int(row.attributes["data-count"]))]
        assert sum(count for _, count in names) == int(row.attributes["data-count"])
        for name, count in names:
            found[kind, name, *grades] += count
    return found


def changes(run: Run, *pair: str | Path) -> Told:
    """Every change of a report, as `told` has it."""
    rows: list[dict[str, Any]] = json.loads(run(*pair, "--json").stdout)["changes"]
    return Counter((row["kind"], row["definition"], row["readers"], row["writers"]) for row in rows)


def faults(page: Element) -> list[str]:
    """What a page has that would lead nowhere, lead away, fetch something, or be more than text."""
    everything = list(page.walk())
    ids = Counter(one.attributes["id"] for one in everything if "id" in one.attributes)
    found = [f"id {name} {count} times" for name, count in ids.items() if count > 1]
    found += [f"<{one.tag}>" for one in everything if one.tag not in TAGS]
    found += [
        f"<{one.tag} {name}>" for one in everything for name in one.attributes if name not in ATTRIBUTES
    ]
    for one in everything:
        href = one.attributes.get("href", "#")
        if one.tag == "link" and (one.attributes["rel"], href) != ("icon", "data:,"):
            found.append(f"<link> to {href}")
        if one.tag != "link" and href not in ("#", *(f"#{name}" for name in ids)):
            found.append(f"link to {href}")
        named = [one.attributes.get(name) for name in ("aria-labelledby", "aria-describedby", "for")]
        found += [f"named by {name}, which is not there" for name in named if name and name not in ids]
    counted = Counter(one.tag for one in everything)
    return found + [
        f"{counted[tag]} <{tag}>" for tag in ("script", "style", "main", "h1") if counted[tag] != 1
    ]


@pytest.mark.parametrize(("old", "new"), [NEWEST, NEWEST[::-1], ("2024-11-05", "2025-03-26")])
def test_every_change_is_told_once_with_its_grades(old: str, new: str, run: Run) -> None:
    assert told(tree(run(old, new, "--html").stdout)) == changes(run, old, new)


def test_links_land_names_are_told_once_and_nothing_leads_away(newest: Element) -> None:
    assert faults(newest) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ('<a href="#nowhere">', "link to #nowhere"),
        ('<a href="https://example.org/">', "link to https://example.org/"),
        ('<a href="javascript:alert(1)">', "link to javascript:alert(1)"),
        ('<a id="changes">', "id changes 2 times"),
        ('<a onclick="alert(1)">', "<a onclick>"),
        ('<a style="color: red">', "<a style>"),
        ("<script>", "2 <script>"),
        ("<iframe>", "<iframe>"),
    ],
)
def test_a_planted_fault_is_found(planted: str, found: str, run: Run) -> None:
    text = run(*NEWEST, "--html").stdout
    page = tree(text.replace("<footer>", f"<footer>{planted}</{planted[1:].split()[0].strip('<>')}>"))
    assert found in faults(page)


def test_what_may_run_is_told_by_its_digest_and_nothing_may_be_fetched(newest: Element) -> None:
    (policy,) = [one.attributes["content"] for one in newest.all("meta") if "http-equiv" in one.attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for kind in ("style", "script"):
        (text,) = newest.all(kind)[0].children
        assert isinstance(text, str)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert rules.pop(f"{kind}-src") == f"'sha256-{digest}'"
        assert not re.search(r"@import|url\(|fetch|XMLHttp|https?:|//[a-z]", text)
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",  # the icon, which is empty, so that none is asked for
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_each_definition_leads_to_all_that_happened_to_it(newest: Element, run: Run) -> None:
    rows = {one.attributes["id"]: one for one in newest.all("li", "row")}
    expected = {name for _, name, *_ in changes(run, *NEWEST)}
    sections = {one.all("h3")[0].text: one for one in newest.all("div", "definition")}
    assert set(sections) == expected
    for name, section in sections.items():
        led = [rows[link.attributes["href"][1:]] for link in section.all("a", "more")]
        assert led == [row for row in rows.values() if name in [link.text for link in _about(row)]]


def _about(row: Element) -> list[Element]:
    """The links of a row to the definitions that it is about."""
    apart = [*row.all("b", "subject"), *row.all("ul", "names"), *row.all("p", "why")]
    return [link for one in apart for link in one.all("a")]


def test_a_definition_that_a_phrase_names_is_a_link_and_a_word_that_looks_like_one_is_not(
    run: Run, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path, kind in ((old, "string"), (new, "number")):
        definitions = {
            "optional": {"type": "object", "properties": {"x": {"type": kind}}},
            "A": {
                "type": "object",
                "properties": {"y": {"$ref": "#/$defs/optional"}} if path == new else {},
            },
        }
        path.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}))
    phrases = [one for one in tree(run(old, new, "--html").stdout).all("span", "phrase")]
    said = {one.text: [link.text for link in one.all("a")] for one in phrases}
    assert said == {"new, optional: optional": ["optional"], "number instead of string": []}


@pytest.mark.parametrize(("old", "new"), STEPS)
def test_the_parts_of_a_phrase_are_the_phrase(old: str, new: str, spec_dir: Path) -> None:
    for change in diff(revision(old, spec_dir), revision(new, spec_dir)):
        assert "".join(piece.text for piece in pieces(change)) == phrase(change)


def test_the_summary_counts_what_the_rows_tell(newest: Element, run: Run) -> None:
    counts = json.loads(run(*NEWEST, "--json").stdout)["counts"]
    lines = newest.all("tbody")[0].all("tr")
    shown = {line.all("th")[0].text: [int(cell.text) for cell in line.all("td")] for line in lines}
    assert shown == {name.capitalize(): list(row.values()) for name, row in counts.items()}
    for line in lines:
        for link in line.all("td")[0].all("a") + [
            link for one in line.all("td")[1:] for link in one.all("a")
        ]:
            kind, grade = (link.attributes[f"data-choose-{name}"] for name in ("kind", "grade"))
            rows = [row for row in newest.all("li", "row") if kind in ("", row.attributes["data-kind"])]
            rows = [row for row in rows if not grade or grade in row.attributes["data-grades"].split()]
            assert sum(int(row.attributes["data-count"]) for row in rows) == int(link.text)


def test_hostile_text_is_text(run: Run, tmp_path: Path) -> None:
    old, new = hostile(tmp_path)
    done = run(old, new, "--html")
    page = tree(done.stdout)
    assert (done.exit_code, faults(page)) == (0, [])
    assert told(page) == changes(run, old, new)
    subjects = {one.text for one in page.all("b", "subject")}
    assert {f'Members["m{at} {json.dumps(name)[1:]}]' for at, name in enumerate(HOSTILE[:-2])} <= subjects
    assert "<img src=x onerror=alert(1)>" in page.all("title")[0].text
    assert not [letter for letter in done.stdout if not letter.isprintable() and letter != "\n"]


def test_the_page_is_ascii_whatever_the_names_are(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "n\u00e9w.json"
    for path, kind in ((old, "string"), (new, "number")):
        members = {"na\u00efve \u2192 \u540d \U0001f680": {"type": kind}}
        definitions = {"Gr\u00f6\u00dfe": {"type": "object", "properties": members}}
        path.write_text(json.dumps({"$schema": DIALECT, "$defs": definitions}))
    text = run(old, new, "--html").stdout
    assert text.isascii()
    page = tree(text)
    assert faults(page) == []
    assert 'Gr\u00f6\u00dfe["na\u00efve \u2192 \u540d \U0001f680"]' in [one.text for one in page.all("b")]
    assert page.all("title")[0].text.endswith("n\u00e9w.json: what changed")


def test_equal_revisions_make_a_page_that_says_so(run: Run) -> None:
    page = tree(run("latest", "2026-07-28", "--html").stdout)
    assert faults(page) == []
    assert page.all("main")[0].text == "No difference."


def test_the_page_is_the_same_on_every_run() -> None:
    pages = {
        subprocess.run(
            [sys.executable, "-m", "mcpcodegen", "diff", *NEWEST, "--html"],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(pages) == 1


def test_the_page_is_made_only_when_asked_for() -> None:
    code = (
        "import sys; from mcpcodegen.cli import main; main(sys.argv[1:], standalone_mode=False);"
        "print('mcpcodegen.page' in sys.modules, file=sys.stderr)"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code, "diff", *NEWEST, *more], capture_output=True, text=True
        ).stderr
        for more in ((), ("--html",))
    ]
    assert said == ["False\n", "True\n"]


@pytest.mark.parametrize(
    "flags", [("--json", "--markdown"), ("--json", "--html"), ("--html", "--markdown"), ("--html", "--json", "--markdown")]
)  # fmt: skip
def test_two_forms_at_once_are_refused_in_one_line(flags: tuple[str, ...], run: Run) -> None:
    done = run(*NEWEST, *flags)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert all(flag in done.stderr for flag in flags)
    assert "pass one of them" in done.stderr


def test_a_page_is_judged_by_the_same_exit_codes(run: Run) -> None:
    codes = [run(*NEWEST, "--html", *more).exit_code for more in ((), ("--fail-on", "breaking"))]
    assert codes == [0, 1]
