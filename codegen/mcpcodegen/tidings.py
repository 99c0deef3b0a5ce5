"""What `schema add`, `verify` and `outdated` tell, line by line: plain values in, text for a terminal out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from .adding import Arrival
from .errors import printable
from .ir import Json
from .origin import Origin
from .outdated import Finding
from .pinning import Verdict
from .report import plain, summary

WIDTH = 100


def of_arrival(arrival: Arrival, file: str) -> Iterator[str]:
    """What came with a revision, and what is left to do."""
    report, rows = arrival.difference, arrival.corrections
    revision = arrival.pin.revision
    if report is not None and report.old == revision:
        report = replace(report, old=f"{revision} as it was pinned") if report.changes else None
    if report is not None:
        yield from ("", *summary(report).splitlines())
    if report is not None and report.changes and arrival.difference == report:
        yield f"every change: mcp-codegen diff {report.old} {printable(file)}"
    if arrival.retold:
        yield from _wrapped(
            f"in prose alone, other than it was pinned: {', '.join(map(printable, arrival.retold))}"
        )
    for row in rows.standing:
        how = "still holds" if revision in row.revisions else "was found to hold"
        yield f"the correction at {row.pointer} {how} for {revision}"
    for row in rows.adopted:
        yield f"the correction at {row.pointer} is dropped for {revision}: the file says so itself"
    for row in rows.unclear:
        yield f"the correction at {row.pointer} fits {revision} neither as `was` nor as `now`; look at corrections.toml"
    for old, new in arrival.renamed.items():
        yield f"{printable(old)} is called {printable(new)} now; its words were copied: read them again"
    wanting = {table: len(names) for table, names in arrival.bare.items() if names}
    if wanting:
        yield f"without words: {_counted(wanting)}; their rows for words.toml are printed, to be filled in"


def arrival_plain(arrival: Arrival) -> dict[str, Json]:
    """The same for programs."""
    rows = arrival.corrections
    sides = {"carried": rows.standing, "adopted": rows.adopted, "unclear": rows.unclear}
    return {
        **vars(arrival.pin),
        "difference": None if arrival.difference is None else plain(arrival.difference),
        "prose": list(arrival.retold),
        "corrections": {side: [row.pointer for row in found] for side, found in sides.items()},
        "words": {"copied": dict(arrival.renamed), "wanting": dict(arrival.bare)},
    }


def of_verdict(revision: str, file: str, verdict: Verdict) -> Iterator[str]:
    """Whether a file is a pinned revision, and where it is not."""
    if verdict.same_bytes:
        yield f"{file}: is the pinned {revision}, byte for byte"
    elif verdict.same_facts:
        how = _retelling(verdict.prose)
        yield f"{file}: has the facts of the pinned {revision} in other bytes ({how}); no definition differs"
    else:
        yield f"{file}: is not the pinned {revision}; {_differing(verdict.differences)}"
    yield from _where(verdict.differences, None if verdict.same_bytes else verdict.prose)


def of_finding(finding: Finding) -> Iterator[str]:
    """What became of a pin, a draft or a package, and what to do about it."""
    yield f"{printable(finding.what)}: {_news(finding)}"
    if finding.stale:
        yield from _where(finding.differences or {}, finding.prose)
        yield f"  {_remedy(finding)}"


def unchecked(origin: Origin, findings: Sequence[Finding]) -> Iterator[str]:
    """What could not be looked at."""
    if not origin.listed:
        yield "whether a newer revision is out was not checked: an address cannot be listed; pass a checkout"
    missing = [finding.what for finding in findings if finding.state == "missing"]
    if missing:
        yield f"not checked, because {printable(origin.place)} does not have it: {', '.join(missing)}"


def _news(finding: Finding) -> str:
    release, apart = finding.release, _differing(finding.differences or {})
    match finding.state:
        case "as-pinned" if finding.kind == "pin":
            return "is as pinned"
        case "as-pinned":
            return f"has the facts of {release} as published"
        case "edited" if finding.kind == "package":
            named = f"; {apart}" if finding.differences else ""
            return f"was generated from other facts than {release} is published with now{named}"
        case "edited" if not finding.same_facts:
            return f"was edited in place; {apart}"
        case "edited":
            return f"was edited in place, in {_retelling(finding.prose)}; no definition differs"
        case "newer":
            return "is out, and newer than every pin"
        case "unpinned":
            return "is published, and not pinned"
        case "released":
            return f"has since been released as {release}, with the same facts"
        case "superseded":
            return f"has since been released as {release}, and changed on the way; {apart}"
        case "current":
            return "is the draft as it stands"
        case "moved":
            return f"is not the draft as it stands; {apart}"
        case "missing":
            return "is not published there"
        case "unknown":
            hint = "; if it was a draft, pass its file with --draft" if finding.kind == "package" else ""
            return f"is no revision that is published there, and not the draft{hint}"


def _remedy(finding: Finding) -> str:
    name, address = finding.what, printable(finding.address)
    if finding.state == "released" or (finding.kind, finding.state) == ("package", "superseded"):
        return f"generate from it: mcp-codegen generate --revision {finding.release}"
    if finding.kind == "package" and finding.state == "moved":
        return f"generate from the draft: mcp-codegen generate --schema {address}"
    if finding.kind == "package":
        return "when its pin is renewed: mcp-codegen generate"
    if finding.kind == "draft":
        return f"see what changed: mcp-codegen diff {printable(name)} {finding.release or address}"
    force = "" if finding.same_facts else " --force"
    return f"pin it: mcp-codegen schema add {name} {address}{force}"


def _where(differences: Mapping[str, tuple[str, ...]], prose: tuple[str, ...] | None) -> Iterator[str]:
    """The definitions that differ, each with its places, then those that differ in prose alone."""
    unplaced = [printable(name) for name, places in differences.items() if not places]
    yield from _wrapped(f"  {', '.join(unplaced)}") if unplaced else ()
    for name, places in differences.items():
        if places:
            found = ", ".join(printable(place) or "the whole definition" for place in places)
            yield f"  {printable(name)}: {found}"
    if prose:
        yield from _wrapped(f"  in prose alone: {', '.join(map(printable, prose))}")


def _retelling(prose: tuple[str, ...] | None) -> str:
    if prose is None:
        return "prose or layout"
    return f"the prose of {_counted({'definitions': len(prose)})}" if prose else "layout alone"


def _differing(differences: Mapping[str, object]) -> str:
    if not differences:
        return "what stands around its definitions differs"
    return _counted({"definitions": len(differences)}) + (" differs" if len(differences) == 1 else " differ")


def _counted(numbers: Mapping[str, int]) -> str:
    parts = (f"{number} {name if number != 1 else name[:-1]}" for name, number in numbers.items())
    return " and ".join(parts)


def _wrapped(line: str) -> Iterable[str]:
    return textwrap.wrap(
        line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
