"""The difference of two revisions as text, as Markdown, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from .diff import Change
from .entries import COLUMNS, Entry, Report, come_and_gone, counts, section_of, sections
from .errors import printable
from .grades import KINDS
from .ir import ABSENT, Json
from .phrases import phrase

WIDTH = 100


def text(report: Report) -> str:
    """The report for a terminal: a summary, then each section."""
    told = [_section(name, entries) for name, entries in sections(report)]
    return "\n".join([summary(report), *told, *_reworded(report)])


def markdown(report: Report) -> str:
    """The report as Markdown: the same summary and sections as tables."""
    lines = [f"# {report.title('→')}", ""]
    if not report.changes:
        lines += ["No difference in meaning." if report.reworded else "No difference.", ""]
        return "\n".join([*lines, *_reworded(report)])
    lines += _table(("", *COLUMNS), [(name, *map(str, row)) for name, row in counts(report)])
    for name, entries in sections(report):
        rows = [(entry.grade, entry.subject, entry.phrase, _others(entry)) for entry in entries]
        lines += [f"## {name}", "", *_table(("breaks", "what", "change", "in"), rows)]
    return "\n".join([*lines, *_reworded(report)])


def plain(report: Report) -> Json:
    """The report as a JSON value, with one object for each change."""
    return {
        "old": report.old,
        "new": report.new,
        "counts": {name: dict(zip(COLUMNS, row, strict=True)) for name, row in counts(report)},
        "changes": [_row(change) for change in report.changes],
        "reworded": list(report.reworded),
    }


def _row(change: Change) -> dict[str, Json]:
    sides = {"old": change.old, "new": change.new}
    return {
        "section": section_of(change),
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


def _others(entry: Entry) -> str:
    return ", ".join(entry.names) if not entry.alone else ""


def summary(report: Report) -> str:
    """What fits one screen: the numbers, and the methods that came and went."""
    if not report.changes:
        return f"{report.title('->')}: no difference{' in meaning' if report.reworded else ''}\n"
    lines = [report.title("->"), "", f"{'':18}" + "".join(f"{name:>15}" for name in COLUMNS)]
    lines += [f"{name:18}" + "".join(f"{number:>15}" for number in row) for name, row in counts(report)]
    for word, methods in come_and_gone(report):
        lines += ["", *_wrapped(f"methods {word}: {', '.join(name for name, _ in methods)}", "  ")]
    return "\n".join([*lines, ""])


def _reworded(report: Report) -> list[str]:
    """The definitions that only their words tell apart."""
    if not report.reworded:
        return []
    names = ", ".join(map(printable, report.reworded))
    return ["\n".join([*_wrapped(f"{report.wording}: {names}", "  "), ""])]


def _section(name: str, entries: Iterable[Entry]) -> str:
    return "\n".join([name, *(line for entry in entries for line in _lines(entry)), ""])


def _lines(entry: Entry) -> list[str]:
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
