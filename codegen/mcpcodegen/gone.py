"""What a new package no longer has of the old one, and where the author's code uses it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .ir import Bundle
from .merge import MARKERS
from .uses import Offered, Use, used

REVISION = re.compile(r"v\d+(_\d+)*|unreleased")
"""The modules of revisions in an emitted package."""


def _successors(old: Offered, new: Offered) -> dict[str, str]:
    """The module that stands for each revision that is gone: the newest there is."""
    ours, theirs = _revisions(old), _revisions(new)
    return {module: theirs[-1] for module in ours if module not in theirs} if theirs else {}


def _revisions(offer: Offered) -> list[str]:
    found = [name for name in offer.names if REVISION.fullmatch(name)]
    return sorted(found, key=lambda name: (name != "unreleased", name))


def stubs(offer: Offered) -> set[str]:
    """The stubs of a package, whichever revision they are of: `ServerHandlers.discover`."""
    rows = [name.split(".") for name in offer.names]
    return {
        ".".join(row[2:])
        for row in rows
        if len(row) == 4
        and REVISION.fullmatch(row[0])
        and row[1] in ("server", "client")
        and row[3][0] != "_"
    }


def dangling(package: str, texts: Bundle, old: Offered, new: Offered) -> tuple[list[Use], list[str]]:
    """The uses of what is gone in the author's files, and the files that cannot be read as Python."""
    successors = _successors(old, new)
    uses: list[Use] = []
    unread: list[str] = []
    for path, text in sorted(texts.items()):
        if path.endswith(".py"):
            try:
                uses += used(path, MARKERS.sub("", text), package)
            except (SyntaxError, ValueError, RecursionError):
                unread.append(path)
    gone = {use for use in uses if _is_gone(use, old, new, successors)}
    told = {(use.path, use.line, use.name) for use in gone}
    inner = {use for use in gone for owner in _owners(use.name) if (use.path, use.line, owner) in told}
    return sorted(gone - inner, key=lambda use: (use.path, use.line, use.name)), unread


def _owners(name: str) -> list[str]:
    """What a name stands in, from the inside out."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)]


def _is_gone(use: Use, old: Offered, new: Offered, successors: Mapping[str, str]) -> bool:
    """Whether what is used was offered, if only by a module that another stands for now, and is not any more.

    Where a whole revision is gone, its imports tell of all that it still has under the other.
    """
    if new.has(use.name):
        return False
    head, dot, tail = use.name.partition(".")
    if head in successors and not use.imported and new.has(f"{successors[head]}{dot}{tail}"):
        return False
    before = {successor: module for module, successor in successors.items()}
    return old.has(use.name) or old.has(f"{before.get(head, head)}{dot}{tail}")
