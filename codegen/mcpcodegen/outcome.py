"""What an update did, for a person and for a program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from .author import Brought
from .ir import Json
from .update import Update

WIDTH = 100
"""Columns of a line of names."""

WORDS = {
    "new": "new",
    "renewed": "renewed",
    "merged": "merged with what you changed",
    "untouched": "",
    "opaque": "no text file of at most 1 MB; it stays as it is, without what is new",
    "deleted": "deleted by you; what is new in it was not written",
    "dropped": "no longer written; it stays, and may go if you do not need it",
}


def plain(done: Update) -> dict[str, Json]:
    """An update as plain values."""
    return {
        "folder": str(done.place.root),
        "package": done.place.package,
        **asdict(done.plan),
        "yours": [{**asdict(one), "text": None} for one in done.brought if one.fate != "untouched"],
        "stubs": {"new": done.new, "gone": done.gone},
        "dangling": [asdict(use) for use in done.dangling],
        "unread": done.unread,
    }


def text(done: Update, verb: str) -> str:
    """An update in lines that a person reads; `verb` says whether it was done."""
    return "".join(f"{line}\n" for line in _lines(done, verb))


def _lines(done: Update, verb: str) -> Iterator[str]:
    if done.quiet:
        yield f"{done.place.root}: is up to date"
        return
    yield f"{verb} {done.place.root}"
    yield from _emitted(done)
    for one in done.brought:
        yield from _brought(one)
    yield from _listed("new stubs in", done.new)
    yield from _listed("gone from", done.gone)
    for use in done.dangling:
        yield f"  {use.path}:{use.line}: uses {use.name}, which is gone"
    for path in done.unread:
        yield f"  {path}: is not Python as it stands, so that what it uses was not looked up"
    if done.conflicts:
        yield "solve what stands between <<<<<<< and >>>>>>>, then run your tests"


def _emitted(done: Update) -> Iterator[str]:
    plan = done.plan
    counts = {"new": plan.created, "changed": plan.changed, "removed": plan.removed}
    parts = ", ".join(f"{len(paths)} {name}" for name, paths in counts.items() if paths)
    if parts:
        yield f"  {done.place.package}: generated anew ({parts})"
    for path in plan.strangers:
        yield f"  {path}: not generated, left as it is"
    for path in plan.edited:
        yield f"  {path}: was edited by hand; the edit is gone"


def _brought(one: Brought) -> Iterator[str]:
    where = f"{one.path} (was {one.was})" if one.was else one.path
    if one.fate == "conflict":
        yield f"  {where}: {one.conflicts} conflict{'s' if one.conflicts > 1 else ''} to solve"
    elif WORDS[one.fate]:
        yield f"  {where}: {WORDS[one.fate]}"


def _listed(title: str, stubs: tuple[str, ...]) -> Iterator[str]:
    """The stubs of each class on lines of their own."""
    for owner in sorted({stub.partition(".")[0] for stub in stubs}):
        names = ", ".join(stub.partition(".")[2] for stub in stubs if stub.startswith(f"{owner}."))
        yield from textwrap.wrap(
            f"{title} {owner}: {names}", WIDTH, initial_indent="  ", subsequent_indent="    "
        )
