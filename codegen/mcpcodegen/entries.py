"""The difference of two revisions, put in order: sections, numbers, and what happened alike said once.

How it looks is for the rooms above; what is said, and in which order, is the same in all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .diff import Change
from .errors import printable
from .facts import key
from .phrases import phrase, place

SECTIONS = ("Methods", "Capabilities", "Members", "Types and values", "Definitions", "Deprecations")
"""The parts of a report, in its order."""

COLUMNS = ("changes", "break readers", "break writers", "additive", "neutral")
"""What is counted."""

CAPABILITIES = ("ClientCapabilities", "ServerCapabilities")
GRADES = ("both", "readers", "writers", "additive", "neutral")

Event: TypeAlias = Sequence[Change]
"""Changes that are told together: what comes to one place in one way."""


@dataclass(frozen=True)
class Report:
    """What the two revisions are called, and what changed between them.

    `reworded` are the definitions that mean what they meant and are published in other words, where the published
    texts are known.
    """

    old: str
    new: str
    changes: Sequence[Change]
    reworded: Sequence[str] = ()

    @property
    def wording(self) -> str:
        """How many definitions are published in other words; empty for none."""
        number = len(self.reworded)
        verb = (
            "definition means what it meant and is"
            if number == 1
            else "definitions mean what they meant and are"
        )
        return f"{number} {verb} published in other words" if number else ""

    @property
    def names(self) -> tuple[str, str]:
        """Both names as they are shown: nothing in them that cannot be seen."""
        return printable(self.old), printable(self.new)

    def title(self, arrow: str) -> str:
        """Both names, on one line."""
        return f" {arrow} ".join(self.names)


@dataclass(frozen=True)
class Entry:
    """What is said once: events that differ in the definition alone, or of a method in who sends it."""

    events: Sequence[Event]

    @property
    def first(self) -> Change:
        """One of its changes; in kind, place and grade they are alike."""
        return self.events[0][0]

    @property
    def grade(self) -> str:
        """Whom it breaks."""
        return grade(self.first)

    @property
    def place(self) -> str:
        """Where in each definition it is."""
        return place(self.first)

    @property
    def sender(self) -> str:
        """Of a method, who writes what has changed."""
        roles = dict.fromkeys(role for event in self.events for one in event for role in one.written_by)
        return f"from the {' and the '.join(roles)}" if self.first.method else ""

    @property
    def phrase(self) -> str:
        """What happened."""
        said = phrase(*self.events[0])
        return f"{said} ({self.sender})" if self.sender else said

    @property
    def names(self) -> tuple[str, ...]:
        """The method, or the definitions."""
        if self.first.method:
            return (printable(self.first.method),)
        return tuple(event[0].definition for event in self.events)

    @property
    def subject(self) -> str:
        """The thing that changed; empty for several that are named apart."""
        return f"{self.alone}{self.dotted}"

    @property
    def alone(self) -> str:
        """The one thing it is about; empty for several."""
        return self.names[0] if len(self.names) == 1 else ""

    @property
    def dotted(self) -> str:
        """The place as it is written behind `alone`."""
        return f".{self.place}" if self.alone and self.place and self.place[0] not in " [{" else self.place


def section_of(change: Change) -> str:
    """The section that tells of a change."""
    if change.method:
        return "Methods"
    if change.kind in ("deprecated", "undeprecated"):
        return "Deprecations"
    if change.definition.startswith(CAPABILITIES):
        return "Capabilities"
    if change.kind.startswith("definition"):
        return "Definitions"
    return "Members" if "member" in change.kind else "Types and values"


def sections(report: Report) -> list[tuple[str, list[Entry]]]:
    """The sections that have something to tell, with their entries: what breaks comes first."""
    told = [(name, _entries(_of(name, report))) for name in SECTIONS]
    return [(name, entries) for name, entries in told if entries]


def counts(report: Report) -> list[tuple[str, tuple[int, ...]]]:
    """The numbers of each section that has any, and of the whole, in the order of COLUMNS."""
    rows = [(name, _count(_of(name, report))) for name in SECTIONS]
    return [*(row for row in rows if row[1][0]), ("all", _count(report.changes))]


def grade(change: Change) -> str:
    """Whom a change breaks, in a word; of what breaks nobody whether it is additive."""
    breaks = (change.readers == "breaking", change.writers == "breaking")
    if any(breaks):
        return "both" if all(breaks) else "readers" if breaks[0] else "writers"
    return "additive" if "additive" in (change.readers, change.writers) else "neutral"


def come_and_gone(report: Report) -> list[tuple[str, list[tuple[str, str]]]]:
    """The methods that are gone, and those that are new, each with the kind of its change; no list is empty."""
    words = {"gone": ("method-removed", "method-enclosed"), "new": ("method-added", "method-freed")}
    told: list[tuple[str, list[tuple[str, str]]]] = []
    for word, kinds in words.items():
        known: dict[str, str] = {}
        for change in report.changes:
            if change.kind in kinds:
                known.setdefault(printable(change.method), change.kind)
        told.append((word, [*known.items()]))
    return [(word, methods) for word, methods in told if methods]


def _of(section: str, report: Report) -> list[Change]:
    return [change for change in report.changes if section_of(change) == section]


def _count(changes: Iterable[Change]) -> tuple[int, ...]:
    changes = list(changes)
    grades = Counter(grade(change) for change in changes)
    return (
        len(changes),
        grades["readers"] + grades["both"],
        grades["writers"] + grades["both"],
        grades["additive"],
        grades["neutral"],
    )


def _entries(changes: Iterable[Change]) -> list[Entry]:
    """The changes of a section, those that are said alike as one; what breaks comes first."""
    groups: dict[str, list[Event]] = {}
    for event in _events(changes):
        whole = not event[0].pointer and not event[0].kind.startswith("definition")
        own = event[0].method or (event[0].definition if whole else "")
        groups.setdefault(key([event[0].kind, own, event[0].pointer, phrase(*event)]), []).append(event)
    return sorted((Entry(group) for group in groups.values()), key=lambda entry: GRADES.index(entry.grade))


def _events(changes: Iterable[Change]) -> Iterable[Event]:
    """The changes, what comes to one place in one way (values, alternatives, results) taken together."""
    events: dict[str, list[Change]] = {}
    for change in changes:
        where = [change.definition, change.pointer, change.kind, change.method]
        events.setdefault(key(where), []).append(change)
    return events.values()
