"""What is stale: pins, drafts and emitted packages, measured against what the specification publishes now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from .facts import facts, sums
from .ir import Document, Json
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
"""A definition and a hash of what is said of it."""

STALE: frozenset[State] = frozenset({"edited", "newer", "released", "superseded", "moved"})


@dataclass(frozen=True)
class Draft:
    """What is known of a schema that is no release yet: the SHA-256 of its facts, and a hash of those of each
    definition, empty when none was kept.
    """

    digest: str
    says: Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """What is known of one pin, draft or package.

    `what` is the revision or the file, `release` the revision that a draft became or that is published, `same_facts`
    whether it says the same, `differences` the definitions whose facts differ, each with the pointers at which they do (none
    where that is not known), and `prose` those of
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
    document = load(read_schema(file), source=file)
    draft = Draft(document.digest, _says(document))
    became = _became(draft, origin)
    target = origin.releases[became] if became else origin.draft
    return Finding(
        kind="draft",
        what=file,
        state=_state(draft, became, origin),
        release=became,
        address=origin.address(became or DRAFT) if target else "",
        same_facts=target is not None and target.digest == draft.digest,
        differences=_apart(document, target) if target else None,
    )


def emitted(package: str, recorded: Mapping[str, Draft], origin: Origin) -> Iterator[Finding]:
    """What became of the schemas that a package was emitted from, by what it recorded of each revision."""
    for name, draft in recorded.items():
        known = name in origin.releases
        became = name if known else _became(draft, origin)
        target = origin.releases[became] if became else origin.draft if draft.says else None
        same = target is not None and target.digest == draft.digest
        state: State = "as-pinned" if same else "edited"
        yield Finding(
            kind="package",
            what=f"{package} ({name})",
            state=state if known else _state(draft, became, origin),
            release=became,
            address=origin.address(became or DRAFT) if target else "",
            same_facts=same,
            differences=_named(draft.says, target) if target and draft.says else None,
        )


def _edited(revision: str, address: str, verdict: Verdict) -> Finding:
    state: State = "as-pinned" if verdict.same_bytes else "edited"
    return Finding(
        "pin", revision, state, revision, address, verdict.same_facts, verdict.differences, verdict.prose
    )


def _state(draft: Draft, became: str, origin: Origin) -> State:
    if became:
        return "released" if origin.releases[became].digest == draft.digest else "superseded"
    if origin.draft is not None and origin.draft.digest == draft.digest:
        return "current"
    return "moved" if origin.draft is not None and draft.says else "unknown"


def _became(draft: Draft, origin: Origin) -> str:
    """The release that a draft led to; empty when it has led to none.

    That is the one with the same facts; or else, unless it is the draft as it stands, the newest one that says first
    what the draft says too, when the draft does not come after it.
    """
    same = [name for name, release in origin.releases.items() if release.digest == draft.digest]
    if same or (origin.draft is not None and origin.draft.digest == draft.digest):
        return same[-1] if same else ""
    news = _news(list(origin.releases.values()))
    heard = [name for name, said in zip(origin.releases, news, strict=True) if said & set(draft.says.items())]
    return heard[-1] if heard and not _is_later(draft, heard[-1], origin) else ""


def _is_later(draft: Draft, newest: str, origin: Origin) -> bool:
    """Whether a draft comes after the newest release that it knows: on the way to the draft as it stands.

    Then it says something that the draft says and no release does, or lacks no definition that the release has.
    """
    now = set[Saying]() if origin.draft is None else set(_says(origin.draft).items())
    ahead = now - set[Saying]().union(*_news(list(origin.releases.values())))
    if newest != max(origin.releases) or not ahead:
        return False
    return bool(ahead & set(draft.says.items())) or set(draft.says) >= set(
        origin.releases[newest].definitions
    )


def _news(releases: Sequence[Document]) -> list[set[Saying]]:
    """What each release says of its definitions that none before it did."""
    said: set[Saying] = set()
    news: list[set[Saying]] = []
    for release in releases:
        news.append(set(_says(release).items()) - said)
        said |= news[-1]
    return news


def _says(document: Document) -> dict[str, str]:
    return sums(_facts(document))


def _facts(document: Document) -> dict[str, Json]:
    return {name: facts(schema) for name, schema in document.definitions.items()}


def _apart(one: Document, other: Document) -> dict[str, tuple[str, ...]]:
    return differences(_facts(one), _facts(other))


def _named(says: Mapping[str, str], other: Document) -> dict[str, tuple[str, ...]]:
    """The definitions that differ from those of a document, where a hash of each is all that is known."""
    apart = {name for name, _ in set(says.items()) ^ set(_says(other).items())}
    return dict.fromkeys(sorted(apart), ())
