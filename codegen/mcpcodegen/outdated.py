"""What is stale: pins, drafts and emitted packages, measured against what the specification publishes now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from .facts import facts, key
from .ir import Document
from .load import load
from .origin import DRAFT, Origin
from .pinning import Verdict, differences, measured
from .resources import read_schema
from .revisions import pins

State: TypeAlias = Literal[
    "as-pinned",
    "edited",
    "missing",
    "newer",
    "unpinned",
    "released",
    "current",
    "superseded",
    "moved",
    "unknown",
]

Saying: TypeAlias = tuple[str, str]
"""A definition and what is said of it, as a text that is equal for equal facts."""

STALE: frozenset[State] = frozenset({"edited", "newer", "released", "superseded", "moved"})


@dataclass(frozen=True)
class Finding:
    """What is known of one pin, draft or package.

    `what` is the revision or the file, `release` the revision that a draft became or that is published, `same_facts`
    whether it says the same, `differences` the definitions whose facts differ, each with the pointers at which they do, and `prose` those of
    which nothing but prose differs (None when that cannot be told). `address` is where the published file is.
    """

    kind: Literal["pin", "draft", "package"]
    what: str
    state: State
    release: str = ""
    address: str = ""
    same_facts: bool = True
    differences: Mapping[str, tuple[str, ...]] | None = None
    prose: tuple[str, ...] | None = None

    @property
    def stale(self) -> bool:
        """Whether somebody has to do something."""
        return self.state in STALE


def pinned(origin: Origin, schema_folder: Path | None = None) -> Iterator[Finding]:
    """What became of each pin, and the revisions that have none."""
    known = {pin.revision: pin for pin in pins(schema_folder)}
    for revision in sorted({*known, *origin.published}):
        address, data = origin.address(revision), origin.published.get(revision)
        if data is None:
            yield Finding("pin", revision, "missing")
        elif revision not in known:
            state: State = "newer" if revision > max(known, default="") else "unpinned"
            yield Finding("pin", revision, state, revision, address)
        else:
            verdict = measured(known[revision], data, address, schema_folder)
            yield _edited(revision, address, verdict)


def drafted(file: str, origin: Origin) -> Finding:
    """What became of a draft that somebody has a file of."""
    draft = load(read_schema(file), source=file)
    became = _became(draft, origin)
    state = _state(draft, became, origin)
    target = origin.releases[became] if became else origin.draft
    return Finding(
        kind="draft",
        what=file,
        state=state,
        release=became,
        address=origin.address(became or DRAFT) if target else "",
        same_facts=target is not None and target.digest == draft.digest,
        differences=_apart(draft, target) if target else None,
    )


def emitted(package: str, digests: Mapping[str, str], origin: Origin) -> Iterator[Finding]:
    """What became of the schemas that a package was emitted from: their facts' SHA-256, by revision."""
    published = {document.digest: name for name, document in origin.releases.items()}
    for name, digest in digests.items():
        what = f"{package} ({name})"
        if name in origin.releases:
            same = origin.releases[name].digest == digest
            state: State = "as-pinned" if same else "edited"
            yield Finding("package", what, state, name, origin.address(name), same)
        elif digest in published:
            release = published[digest]
            yield Finding("package", what, "released", release, origin.address(release))
        else:
            drafted_now = origin.draft is not None and origin.draft.digest == digest
            yield Finding("package", what, "current" if drafted_now else "unknown", same_facts=drafted_now)


def _edited(revision: str, address: str, verdict: Verdict) -> Finding:
    state: State = "as-pinned" if verdict.same_bytes else "edited"
    return Finding(
        "pin", revision, state, revision, address, verdict.same_facts, verdict.differences, verdict.prose
    )


def _state(draft: Document, became: str, origin: Origin) -> State:
    if became:
        return "released" if origin.releases[became].digest == draft.digest else "superseded"
    if origin.draft is None:
        return "unknown"
    return "current" if origin.draft.digest == draft.digest else "moved"


def _became(draft: Document, origin: Origin) -> str:
    """The release that a draft led to; empty when it has led to none.

    That is the one with the same facts; or else, unless it is the draft as it stands, the newest one that says first
    what the draft says too. While another draft is under way, a draft that lacks nothing of what the newest release
    brought comes after it.
    """
    same = [name for name, release in origin.releases.items() if release.digest == draft.digest]
    if same:
        return same[-1]
    if origin.draft is not None and origin.draft.digest == draft.digest:
        return ""
    news = _news(list(origin.releases.values()))
    ours = _says(draft)
    heard = [name for name, said in zip(origin.releases, news, strict=True) if said & ours]
    if not heard:
        return ""
    newest = heard[-1]
    return "" if _is_later(ours, newest, origin) else newest


def _is_later(ours: set[Saying], newest: str, origin: Origin) -> bool:
    """Whether a draft comes after the newest release that it knows: on the way to the draft as it stands.

    Then it says something that the draft says and no release does, or lacks no definition that the release has.
    """
    now = set[Saying]() if origin.draft is None else _says(origin.draft)
    ahead = now - {saying for release in origin.releases.values() for saying in _says(release)}
    if newest != max(origin.releases) or not ahead:
        return False
    names = {name for name, _ in ours}
    return bool(ahead & ours) or names >= set(origin.releases[newest].definitions)


def _news(releases: Sequence[Document]) -> list[set[Saying]]:
    """What each release says of its definitions that none before it did."""
    said: set[Saying] = set()
    news: list[set[Saying]] = []
    for release in releases:
        news.append(_says(release) - said)
        said |= news[-1]
    return news


def _says(document: Document) -> set[Saying]:
    return {(name, key(facts(schema))) for name, schema in document.definitions.items()}


def _apart(one: Document, other: Document) -> dict[str, tuple[str, ...]]:
    ours, theirs = (
        {name: facts(schema) for name, schema in document.definitions.items()} for document in (one, other)
    )
    return differences(ours, theirs)
