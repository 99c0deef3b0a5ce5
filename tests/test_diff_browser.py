"""The page of `mcp-codegen diff --html` in a browser: typed into, clicked, printed, looked at in either scheme and width."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from browser import Tab, chromium, opened
from click.testing import CliRunner
from planted import HOSTILE, hostile

from mcpcodegen.cli import main

NEWEST = ("2025-11-25", "2026-07-28")

if not chromium():
    pytest.skip("no Chromium on PATH (on Debian: apt-get install chromium)", allow_module_level=True)

WIDE, NARROW = 1280, 390
NARROWEST = 320
"""The width to which a page of 1280 comes at a zoom of 400 %."""

SHOWN = (
    "[...document.querySelectorAll('.row:not([hidden])')].reduce((sum, row) => sum + ([...row.querySelectorAll("
    "'.names li')].filter((item) => !item.hidden).reduce((sum, item) => sum + Number(item.dataset.count), 0)"
    " || Number(row.dataset.count)), 0)"
)
"""How many changes can be seen, told by the rows and the names that are not hidden."""

OUTSIDE = (
    "[...document.querySelectorAll('body *')].filter((one) => { const box = one.getBoundingClientRect();"
    " return box.width && (box.right > innerWidth || (box.left < 0 && !one.matches('.skip'))); })"
    ".map((one) => one.outerHTML.slice(0, 200))"
)
"""What sticks out of the page at either side; the first link waits there until it has the focus."""


@pytest.fixture(scope="module")
def tab() -> Generator[Tab, None, None]:
    """A browser's page; the tests of this file share it, and each opens what it needs."""
    with opened(chromium()) as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages that are opened, as files: of the newest pair, of hostile schemas, and of no difference."""
    folder = tmp_path_factory.mktemp("pages")
    pairs = {"newest": NEWEST, "hostile": hostile(folder), "equal": ("latest", "latest")}
    files: dict[str, Path] = {}
    for name, pair in pairs.items():
        files[name] = folder / f"{name}.html"
        text = CliRunner().invoke(main, ["diff", *map(str, pair), "--html"]).stdout
        files[name].write_text(text, encoding="utf-8")
    return files


@pytest.fixture
def newest(tab: Tab, pages: dict[str, Path]) -> Tab:
    """The page of the newest pair, freshly opened on a wide screen."""
    tab.look(WIDE)
    tab.open(pages["newest"])
    return tab


def status(tab: Tab) -> str:
    tab.settle()
    return str(tab.evaluate("document.querySelector('#status').textContent"))


def search(tab: Tab, words: str) -> str:
    """Type into the search, and what is said then."""
    tab.evaluate("document.querySelector('#words').focus()")
    tab.evaluate("document.querySelector('#words').select()")
    tab.type(words)
    return status(tab)


def choose(tab: Tab, name: str, value: str) -> str:
    tab.evaluate(
        f"(() => {{ const one = document.querySelector('#{name}'); one.value = {json.dumps(value)};"
        " one.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    return status(tab)


def total() -> int:
    done = CliRunner().invoke(main, ["diff", *NEWEST, "--json"])
    return len(json.loads(done.stdout)["changes"])


@pytest.mark.parametrize("name", ["newest", "hostile", "equal"])
def test_a_page_asks_for_nothing_and_complains_of_nothing(
    name: str, tab: Tab, pages: dict[str, Path]
) -> None:
    tab.look(WIDE)
    tab.open(pages[name])
    tab.settle()
    assert tab.requests() == [pages[name].as_uri()]
    assert tab.complaints() == []


def test_a_page_that_asks_and_complains_is_noticed(tab: Tab, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='x.png'><script>console.error('one'); throw Error('two')</script>")
    tab.open(bad)
    tab.settle()
    assert tab.requests() == [bad.as_uri(), (tmp_path / "x.png").as_uri()]
    complaints = "\n".join(tab.complaints())
    assert all(word in complaints for word in ("one", "two", "x.png"))


@pytest.mark.parametrize("name", ["newest", "hostile", "equal"])
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark"), (NARROWEST, "light")],
)
def test_nothing_is_wider_than_the_screen(
    width: int, scheme: str, name: str, tab: Tab, pages: dict[str, Path]
) -> None:
    tab.look(width, scheme=scheme)
    tab.open(pages[name])
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
    assert tab.evaluate(OUTSIDE) == []
    assert int.from_bytes(tab.screenshot()[16:20]) == width  # the width of a PNG, in its header


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_everything_begins_at_one_edge(width: int, newest: Tab) -> None:
    newest.look(width)
    search(newest, "no such thing")
    edges = (
        "[...document.querySelectorAll('body > :not(.skip, script)')].map((one) =>"
        " one.getBoundingClientRect().left + parseFloat(getComputedStyle(one).paddingLeft))"
    )
    assert len(set(newest.evaluate(edges))) == 1


def test_both_schemes_have_colours_that_can_be_read(newest: Tab) -> None:
    papers: list[float] = []
    for scheme in ("light", "dark"):
        newest.look(WIDE, scheme=scheme)
        contrasts = newest.evaluate(CONTRASTS)
        assert {text: ratio for text, ratio in contrasts.items() if ratio < 4.5} == {}
        papers.append(newest.evaluate(f"({LUMINANCE})(getComputedStyle(document.body).backgroundColor)"))
    assert papers[0] > 0.9 and papers[1] < 0.1


LUMINANCE = """(colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}"""

CONTRASTS = f"""(() => {{
    const luminance = {LUMINANCE};
    const paper = (one) => {{
        const colour = getComputedStyle(one).backgroundColor;
        return colour === "rgba(0, 0, 0, 0)" ? paper(one.parentElement) : colour;
    }};
    const found = {{}};
    for (const one of document.querySelectorAll("h1, p, a, dd, dt, th, td, label, input, select, .grade, code")) {{
        const [light, dark] = [getComputedStyle(one).color, paper(one)].map(luminance).sort((a, b) => b - a);
        found[`${{one.tagName}}.${{one.className}}`] = (light + 0.05) / (dark + 0.05);
    }}
    return found;
}})()"""
"""The contrast of each kind of text with what lies under it, as WCAG measures it."""


def test_a_search_narrows_as_one_types_and_says_how_many_are_left(newest: Tab) -> None:
    everything = total()
    assert status(newest) == f"{everything} of {everything} changes shown"
    newest.click("#words")
    counts: list[int] = []
    for letter in "listtools":
        newest.type(letter)
        assert status(newest) == f"{newest.evaluate(SHOWN)} of {everything} changes shown"
        counts.append(newest.evaluate(SHOWN))
    assert counts == sorted(counts, reverse=True)
    assert everything > counts[0] > counts[-1] > 0
    names = newest.evaluate("[...document.querySelectorAll('.names li')].filter((one) => !one.closest('[hidden]')).map((one) => one.textContent)")  # fmt: skip
    assert names and all("ListTools" in name for name in names)


def test_words_are_found_in_any_order_and_any_case(newest: Tab) -> None:
    assert search(newest, "LISTTOOLS ttlms") == search(newest, "  ttlMs ListTools ")
    assert newest.evaluate(SHOWN) == 1


def test_effect_and_kind_narrow_to_the_numbers_of_the_summary(newest: Tab) -> None:
    rows = json.loads(CliRunner().invoke(main, ["diff", *NEWEST, "--json"]).stdout)["counts"]
    grades = {
        "": "changes",
        "readers": "break readers",
        "writers": "break writers",
        "additive": "additive",
        "neutral": "neutral",
    }
    for title, row in rows.items():
        choose(newest, "kind", "" if title == "all" else f"kind-{title.lower().replace(' ', '-')}")
        for value, column in grades.items():
            said = choose(newest, "grade", value)
            assert said.split()[0] == str(row[column])
            assert row[column] == 0 or newest.evaluate(SHOWN) == row[column]


def test_where_nothing_is_found_the_page_says_what_to_do(newest: Tab) -> None:
    everything = total()
    hidden = "document.querySelector('#nothing').hidden"
    assert newest.evaluate(hidden)
    choose(newest, "grade", "neutral")
    assert search(newest, "no such thing") == f"0 of {everything} changes shown"
    assert not newest.evaluate(hidden)
    assert "fewer or shorter words" in newest.evaluate("document.querySelector('#nothing').innerText")
    newest.click("#all")
    assert status(newest) == f"{everything} of {everything} changes shown"
    assert newest.evaluate("document.activeElement.id") == "words"
    assert newest.evaluate(hidden)


def test_a_search_from_far_down_shows_what_it_found(newest: Tab) -> None:
    newest.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    search(newest, "createMessage")
    boxes = newest.evaluate(
        "['#filter', '.row:not([hidden])'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())"
    )
    assert boxes[0]["bottom"] <= boxes[1]["top"] < 900


LANDINGS = """(() => {
    const lands = (target) => {
        const [box, bar] = [target, document.querySelector("#filter")].map((one) => one.getBoundingClientRect());
        const visible = bar.top <= 0 ? bar.bottom : 0;
        return visible <= box.top && box.top < innerHeight;
    };
    const links = [...document.querySelectorAll("a[href^='#']")];
    const missed = [];
    for (const target of new Set(links.map((link) => document.getElementById(link.getAttribute("href").slice(1))))) {
        target.scrollIntoView();
        if (!lands(target)) missed.push(target.id);
    }
    for (const link of links.filter((_, index) => index % 10 === 0)) {
        link.click();
        const target = document.querySelector(":target");
        if (!lands(target) || link.getAttribute("href") !== `#${target.id}`) missed.push(link.outerHTML);
    }
    return missed;
})()"""
"""The targets of links that do not come on the screen, or lie under the bar; Chromium follows 200 links in ten seconds, so every tenth is."""


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_link_lands_below_the_bar(width: int, newest: Tab) -> None:
    newest.look(width)
    assert newest.evaluate(LANDINGS) == []


def test_a_link_to_what_is_filtered_away_brings_it_back(newest: Tab) -> None:
    search(newest, "ttlMs")
    assert newest.evaluate("Boolean(document.querySelector('#definition-CacheScope').closest('[hidden]'))")
    search(newest, "cacheScope new required")
    choose(newest, "kind", "kind-members")
    newest.click(".row:not([hidden]) .phrase a[href='#definition-CacheScope']")
    newest.settle()
    assert newest.evaluate("location.hash") == "#definition-CacheScope"
    assert newest.evaluate("document.querySelector(':target').closest('[hidden]')") is None
    assert status(newest).startswith(f"{total()} of")


def test_going_back_to_what_is_filtered_away_brings_it_back(newest: Tab) -> None:
    newest.click("a[href='#kind-methods']")
    newest.click("a[href='#kind-deprecations']")
    search(newest, "ttlMs")
    newest.evaluate("new Promise((done) => { addEventListener('hashchange', done, {once: true}); history.back(); }).then(() => 0)")  # fmt: skip
    newest.settle()
    assert newest.evaluate("location.hash") == "#kind-methods"
    assert newest.evaluate("document.querySelector(':target').closest('[hidden]')") is None


def test_a_number_of_the_summary_shows_what_it_counts(newest: Tab) -> None:
    newest.click("[data-choose-kind='kind-members'][data-choose-grade='writers']")
    number = newest.evaluate(
        'document.querySelector(\'[data-choose-kind="kind-members"][data-choose-grade="writers"]\').textContent'
    )
    assert status(newest) == f"{number} of {total()} changes shown"
    chosen = "['#kind', '#grade'].map((one) => document.querySelector(one).value)"
    assert newest.evaluate(chosen) == ["kind-members", "writers"]
    assert newest.evaluate("location.hash") == "#kind-members"


def test_the_keyboard_is_enough(newest: Tab) -> None:
    newest.press("Tab")
    assert newest.evaluate("document.activeElement.className") == "skip"
    assert newest.evaluate("document.activeElement.getBoundingClientRect().left") == 0
    newest.press("Enter")
    newest.settle()
    assert newest.evaluate("location.hash") == "#changes"
    reached = newest.evaluate("document.querySelectorAll('.summary a').length")
    newest.evaluate("document.querySelector('.skip').focus()")
    for _ in range(reached + 1):
        newest.press("Tab")
    order = [newest.evaluate("document.activeElement.id")]
    for _ in range(2):
        newest.press("Tab")
        order.append(newest.evaluate("document.activeElement.id"))
    assert order == ["words", "grade", "kind"]
    assert newest.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_screen_reader_is_told_what_everything_is(newest: Tab) -> None:
    told = newest.tree()
    roles = {role for role, _ in told}
    assert {
        "banner",
        "main",
        "search",
        "contentinfo",
        "status",
        "table",
        "rowheader",
        "columnheader",
    } <= roles
    assert {("searchbox", "Search"), ("combobox", "Effect"), ("combobox", "Kind")} <= set(told)
    assert [name for role, name in told if role in ("link", "button", "heading", "region") and not name] == []
    assert len([role for role, _ in told if role == "region"]) < 12


def test_without_a_script_everything_is_shown(tab: Tab, pages: dict[str, Path]) -> None:
    tab.look(WIDE)
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(pages["newest"])
    seen = tab.evaluate(f"[document.querySelector('#filter').offsetHeight, {SHOWN}, document.querySelectorAll('.row').length]")  # fmt: skip
    drawn = tab.evaluate("[...document.querySelectorAll('.row')].filter((row) => row.offsetHeight).length")
    tab.click("a[href='#kind-members']")
    place = tab.evaluate("document.querySelector('#kind-members').getBoundingClientRect().top")
    tab.send("Emulation.setScriptExecutionDisabled", value=False)
    assert seen[:2] == [0, total()]
    assert drawn == seen[2]
    assert 0 <= place < 200


def test_it_prints_dark_on_white_without_what_only_a_screen_needs(newest: Tab) -> None:
    newest.look(WIDE, scheme="dark", media="print")
    seen: list[Any] = newest.evaluate(
        f"[document.querySelector('#filter').offsetHeight, ({LUMINANCE})(getComputedStyle(document.body).color)]"
    )
    assert seen[0] == 0
    assert seen[1] < 0.1
    newest.look(WIDE)
    assert newest.send("Page.printToPDF")["data"].startswith("JVBERi")  # `%PDF`, in base64


def test_hostile_text_stays_text_and_can_be_searched_for(tab: Tab, pages: dict[str, Path]) -> None:
    tab.look(WIDE)
    tab.open(pages["hostile"])
    tab.settle()
    shown = tab.evaluate("document.querySelector('#changes').textContent")
    assert [name for name in HOSTILE[:-2] if json.dumps(name)[1:-1] not in shown] == []
    assert (
        tab.evaluate("document.querySelectorAll('#changes :is(script, img, svg, style, iframe)').length") == 0
    )
    assert search(tab, "javascript:alert(1) number instead of string").startswith("1 of")
    assert tab.complaints() == []
