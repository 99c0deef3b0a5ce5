"""The difference of two revisions as a page: what stands where, and what leads to what.

The page is one file that asks for nothing. Every change is told once, in its section; each definition has a
place that leads to all that happened to it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from . import __version__
from .entries import COLUMNS, Entry, Report, come_and_gone, counts, sections
from .errors import printable
from .grades import KINDS
from .phrases import pieces
from .render import render

GRADES = {
    "both": "breaks both",
    "readers": "breaks readers",
    "writers": "breaks writers",
    "additive": "additive",
    "neutral": "neutral",
}
"""What is said of a change where one word stands for both sides."""

SEAM = re.compile(r"(?<=/)(?=\w)|(?<=[a-z0-9])(?=[A-Z])")
"""Where a long name may go on in the next line."""

CHOSEN = ("", "readers", "writers", "additive", "neutral")
"""What each of COLUMNS counts, as the page filters it."""


@dataclass(frozen=True)
class Part:
    """A part of what is said; `anchor` is where on the page it leads, if anywhere.

    `count` is, for one of several definitions of a row, how many changes of the row are its own.
    """

    text: str
    anchor: str = ""
    count: int = 0

    @property
    def linked(self) -> bool:
        return bool(self.anchor)

    @property
    def head(self) -> str:
        """The text up to where a line may end."""
        return SEAM.split(self.text)[0]

    @property
    def tail(self) -> Sequence[str]:
        """The rest of the text, cut at each such place."""
        return SEAM.split(self.text)[1:]


@dataclass(frozen=True)
class Row:
    """One entry of the report.

    `subject` and `said` are its words; `lead` takes the place of `subject` where the definition is known already.
    What is told of several definitions at once has their `names`, what is told of a method the `message` that it
    is. `count` is how many changes the row tells.
    """

    anchor: str
    section: str
    kind: str
    reason: str
    grade: str
    grades: str
    readers: str
    writers: str
    lead: Sequence[Part]
    subject: Sequence[Part]
    said: Sequence[Part]
    message: Sequence[Part]
    names: Sequence[Part]
    count: int

    @property
    def has_lead(self) -> bool:
        return bool(self.lead)

    @property
    def has_subject(self) -> bool:
        return bool(self.subject)

    @property
    def has_names(self) -> bool:
        return bool(self.names)


@dataclass(frozen=True)
class Section:
    """A part of the page; `total` is how many changes its rows tell."""

    title: str
    anchor: str
    rows: Sequence[Row]
    total: int

    @property
    def parts(self) -> Sequence[Part]:
        return [Part(self.title)]


@dataclass(frozen=True)
class Cell:
    """A number of the summary, and what it counts: a section and a grade, empty for any."""

    number: int
    section: str
    grade: str

    @property
    def linked(self) -> bool:
        return self.number > 0


@dataclass(frozen=True)
class Line:
    """A line of the summary."""

    title: str
    anchor: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Methods:
    """The methods that came, or that went."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page:
    """All that the template lays out; the digests are those of the style and of the script that may run."""

    old: str
    new: str
    version: str
    total: int
    columns: Sequence[str]
    lines: Sequence[Line]
    methods: Sequence[Methods]
    sections: Sequence[Section]
    definitions: Sequence[Section]
    wording: str
    reworded: Sequence[str]
    style_digest: str
    script_digest: str

    @property
    def verdict(self) -> str:
        """What is said where nothing has changed."""
        return "No difference in meaning." if self.reworded else "No difference."

    @property
    def has_reworded(self) -> bool:
        return bool(self.reworded)

    @property
    def has_changes(self) -> bool:
        return self.total > 0


def page(report: Report) -> str:
    """The report as one HTML page that fetches nothing; the same for the same report.

    It is ASCII, so that no encoding of a terminal or a shell spoils it on its way into a file.
    """
    told = _sections(report)
    rows = [row for section in told for row in section.rows]
    old, new = report.names
    whole = Page(
        old=old,
        new=new,
        version=__version__,
        total=len(report.changes),
        columns=COLUMNS,
        lines=_lines(report),
        methods=_methods(report, rows),
        sections=told,
        definitions=_definitions(report, rows),
        wording=report.wording,
        reworded=list(map(printable, report.reworded)),
        style_digest=_digest("page/page.css"),
        script_digest=_digest("page/page.js"),
    )
    text = render("page/page.html.jinja", {"page": whole})
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _digest(template: str) -> str:
    return b64encode(sha256(render(template, {}).encode()).digest()).decode("ascii")


def _sections(report: Report) -> list[Section]:
    known = {change.definition for change in report.changes}
    found: list[Section] = []
    number = 1
    for title, entries in sections(report):
        anchor = _section_anchor(title)
        rows = [_row(entry, anchor, index, known) for index, entry in enumerate(entries, number)]
        number += len(rows)
        found.append(Section(title, anchor, rows, sum(row.count for row in rows)))
    return found


def _row(entry: Entry, section: str, number: int, known: set[str]) -> Row:
    first = entry.first
    return Row(
        anchor=f"change-{number}",
        section=section,
        kind=first.kind,
        reason=KINDS[first.kind].reason,
        grade=GRADES[entry.grade],
        grades="readers writers" if entry.grade == "both" else entry.grade,
        readers=first.readers,
        writers=first.writers,
        lead=[Part(words) for words in (entry.alone if first.method else entry.place,) if words],
        subject=_subject(entry),
        said=_said(entry, known),
        message=[_definition(first.definition)] if first.method else [],
        names=[] if entry.alone else _names(entry),
        count=sum(map(len, entry.events)),
    )


def _subject(entry: Entry) -> list[Part]:
    alone = Part(entry.alone) if entry.first.method or not entry.alone else _definition(entry.alone)
    return [part for part in (alone, Part(entry.dotted)) if part.text]


def _said(entry: Entry, known: set[str]) -> list[Part]:
    said = [
        _definition(piece.text) if piece.definition in known else Part(piece.text)
        for piece in pieces(*entry.events[0])
    ]
    return [*said, Part(f" ({entry.sender})")] if entry.sender else said


def _names(entry: Entry) -> list[Part]:
    return [_definition(event[0].definition, len(event)) for event in entry.events]


def _lines(report: Report) -> list[Line]:
    found: list[Line] = []
    for title, numbers in counts(report):
        section = "" if title == "all" else _section_anchor(title)
        cells = [Cell(number, section, grade) for number, grade in zip(numbers, CHOSEN, strict=True)]
        found.append(Line(title.capitalize(), section or "changes", cells))
    return found


def _methods(report: Report, rows: Sequence[Row]) -> list[Methods]:
    """The methods that came and went, each leading to the row that says so."""
    anchors = {(part.text, row.kind): row.anchor for row in rows for part in row.lead}
    return [
        Methods(title, [Part(name, anchors[name, kind]) for name, kind in methods])
        for title, methods in come_and_gone(report)
    ]


def _definitions(report: Report, rows: Sequence[Row]) -> list[Section]:
    """Each definition with the rows that are about it, in the order of names."""
    found: dict[str, list[Row]] = {name: [] for name in sorted({one.definition for one in report.changes})}
    for row in rows:
        for part in (*row.subject, *row.message, *row.names):
            if part.anchor:
                found[part.text].append(row)
    return [Section(name, _definition(name).anchor, its, len(its)) for name, its in found.items()]


def _section_anchor(title: str) -> str:
    return f"kind-{title.lower().replace(' ', '-')}"


def _definition(name: str, count: int = 0) -> Part:
    return Part(name, f"definition-{name}", count)
