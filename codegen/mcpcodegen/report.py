"""The difference of two revisions as a person reads it, or a program: text, Markdown, JSON.

What happened to many definitions alike is said once, with their names.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .diff import Change
from .errors import printable
from .facts import key
from .grades import KINDS
from .ir import ABSENT, Json
from .phrases import phrase, place

SECTIONS = ("Methods", "Capabilities", "Members", "Types and values", "Definitions", "Deprecations")
"""The parts of a report, in its order."""

CAPABILITIES = ("ClientCapabilities", "ServerCapabilities")
WIDTH = 100
COLUMNS = ("changes", "break readers", "break writers", "additive", "neutral")


@dataclass(frozen=True)
class Report:
    """What the two revisions are called, and what changed between them."""

    old: str
    new: str
    changes: Sequence[Change]


@dataclass(frozen=True)
class _Entry:
    """What is said once: who it breaks, where, what happened, and in which definitions."""

    grade: str
    place: str
    phrase: str
    definitions: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The thing that changed; empty for several that are named apart."""
        alone = self.definitions[0] if len(self.definitions) == 1 else ""
        dot = "." if alone and self.place and self.place[0] not in " [{" else ""
        return f"{alone}{dot}{self.place}"


_Event: TypeAlias = list[Change]
"""Changes that are told together."""


def text(report: Report) -> str:
    """The report for a terminal: a summary, then each section."""
    if not report.changes:
        return summary(report)
    parts = [summary(report), *(_section(name, report) for name in SECTIONS)]
    return "\n".join(part for part in parts if part)


def markdown(report: Report) -> str:
    """The report as Markdown: the same summary and sections as tables."""
    lines = [f"# {_title(report, '→')}", ""]
    if not report.changes:
        return "\n".join([*lines, "No difference.", ""])
    lines += _table(("", *COLUMNS), [(name, *map(str, row)) for name, row in _counts(report)])
    for name in SECTIONS:
        entries = _entries(_of(name, report))
        if entries:
            rows = [(entry.grade, entry.subject, entry.phrase, _others(entry)) for entry in entries]
            lines += [f"## {name}", "", *_table(("breaks", "what", "change", "in"), rows)]
    return "\n".join(lines)


def plain(report: Report) -> Json:
    """The report as a JSON value, with one object for each change."""
    return {
        "old": report.old,
        "new": report.new,
        "counts": {name: dict(zip(COLUMNS, row, strict=True)) for name, row in _counts(report)},
        "changes": [_row(change) for change in report.changes],
    }


def _title(report: Report, arrow: str) -> str:
    return printable(f"{report.old} {arrow} {report.new}")


def _row(change: Change) -> dict[str, Json]:
    sides = {"old": change.old, "new": change.new}
    return {
        "section": _section_of(change),
        "definition": change.definition,
        "pointer": change.pointer,
        **({"method": change.method} if change.method else {}),
        "kind": change.kind,
        **{name: value for name, value in sides.items() if value is not ABSENT},
        "written_by": list(change.written_by),
        "readers": change.readers,
        "writers": change.writers,
        "text": phrase(change),
        "reason": KINDS[change.kind].reason,
    }


def _section_of(change: Change) -> str:
    if change.method:
        return "Methods"
    if change.kind in ("deprecated", "undeprecated"):
        return "Deprecations"
    if change.definition.startswith(CAPABILITIES):
        return "Capabilities"
    if change.kind.startswith("definition"):
        return "Definitions"
    return "Members" if "member" in change.kind else "Types and values"


def _of(section: str, report: Report) -> list[Change]:
    return [change for change in report.changes if _section_of(change) == section]


def _counts(report: Report) -> list[tuple[str, tuple[int, ...]]]:
    """The numbers of each section that has any, and of the whole."""
    rows = [(name, _count(_of(name, report))) for name in SECTIONS]
    return [*(row for row in rows if row[1][0]), ("all", _count(report.changes))]


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


def grade(change: Change) -> str:
    """Whom a change breaks, in a word; of what breaks nobody whether it is additive."""
    breaks = (change.readers == "breaking", change.writers == "breaking")
    if any(breaks):
        return "both" if all(breaks) else "readers" if breaks[0] else "writers"
    return "additive" if "additive" in (change.readers, change.writers) else "neutral"


def _entries(changes: Iterable[Change]) -> list[_Entry]:
    """The changes of a section, those that are said alike as one; what breaks comes first."""
    groups: dict[str, list[_Event]] = {}
    for event in _events(changes):
        whole = not event[0].pointer and not event[0].kind.startswith("definition")
        own = event[0].method or (event[0].definition if whole else "")
        groups.setdefault(key([event[0].kind, own, event[0].pointer, phrase(*event)]), []).append(event)
    entries = [_entry(group) for group in groups.values()]
    order = ("both", "readers", "writers", "additive", "neutral")
    return sorted(entries, key=lambda entry: order.index(entry.grade))


def _events(changes: Iterable[Change]) -> Iterable[_Event]:
    """The changes, what comes to one place in one way (values, alternatives, results) taken together."""
    events: dict[str, _Event] = {}
    for change in changes:
        where = [change.definition, change.pointer, change.kind, change.method]
        events.setdefault(key(where), []).append(change)
    return events.values()


def _entry(group: Sequence[_Event]) -> _Entry:
    first = group[0][0]
    names = (printable(first.method),) if first.method else tuple(event[0].definition for event in group)
    roles = " and the ".join(
        dict.fromkeys(role for event in group for one in event for role in one.written_by)
    )
    said = phrase(*group[0])
    return _Entry(grade(first), place(first), f"{said} (from the {roles})" if first.method else said, names)


def _others(entry: _Entry) -> str:
    return ", ".join(entry.definitions) if len(entry.definitions) > 1 else ""


def summary(report: Report) -> str:
    """What fits one screen: the numbers, and the methods that came and went."""
    if not report.changes:
        return f"{_title(report, '->')}: no difference\n"
    lines = [_title(report, "->"), "", f"{'':18}" + "".join(f"{name:>15}" for name in COLUMNS)]
    lines += [f"{name:18}" + "".join(f"{number:>15}" for number in row) for name, row in _counts(report)]
    words = {"gone": ("method-removed", "method-enclosed"), "new": ("method-added", "method-freed")}
    for word, kinds in words.items():
        names = dict.fromkeys(printable(change.method) for change in report.changes if change.kind in kinds)
        if names:
            lines += ["", *_wrapped(f"methods {word}: {', '.join(names)}", "  ")]
    return "\n".join([*lines, ""])


def _section(name: str, report: Report) -> str:
    entries = _entries(_of(name, report))
    lines = [line for entry in entries for line in _lines(entry)]
    return "\n".join([name, *lines, ""]) if lines else ""


def _lines(entry: _Entry) -> list[str]:
    subject = f"{entry.subject}: " if entry.subject else ""
    lines = _wrapped(f"  {entry.grade:<9} {subject}{entry.phrase}", " " * 14)
    others = _others(entry)
    return [*lines, *_wrapped(f"{'':14}in {others}", " " * 17)] if others else lines


def _wrapped(line: str, indent: str) -> list[str]:
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(_cell, line))} |" for line in lines), ""]


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;")
