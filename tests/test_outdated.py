"""`mcp-codegen schema outdated`: what the specification has published since, definition by definition."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from addresses import Answer, served
from click.testing import CliRunner, Result
from emitted import DIALECT

from mcpcodegen import cli_schema, pipeline
from mcpcodegen.cli import main
from mcpcodegen.facts import facts, sums
from mcpcodegen.load import load
from mcpcodegen.resources import SPECIFICATION
from mcpcodegen.revisions import pins

AS_RELEASED = "history/2025-11-25-as-released-40f50ed5.json"
DRAFTS = {
    "history/draft-2025-11-25-14043ad9.json": ("2025-11-25", 2),
    "history/draft-2026-03-25-05111eb2.json": ("2026-07-28", 119),
    "history/draft-2026-05-11-8e192a22.json": ("2026-07-28", 75),
    "history/draft-2026-06-23-2ffc3fa2.json": ("2026-07-28", 19),
}
"""Earlier states of the draft: what each became, and how many definitions differ from that."""

EDITS = {
    "NumberSchema": "  NumberSchema: /properties/default/type, /properties/maximum/type, /properties/minimum/type",
    "Task": "  Task: /properties/ttl/type",
}
"""What was edited in 2025-11-25 after its release."""

RELEASED = [pin.revision for pin in pins()]

Run = Callable[..., Result]
Root = dict[str, Any]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from this project, whose emitted package would be looked at too."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def run() -> Run:
    """`mcp-codegen schema ...`, run to its end."""

    def invoke(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["schema", *map(str, arguments)])

    return invoke


@pytest.fixture
def checkout(spec_dir: Path, tmp_path: Path) -> Path:
    """A checkout of the specification with every release and the draft."""
    for name in (*RELEASED, "draft"):
        place = tmp_path / "checkout/schema" / name
        place.mkdir(parents=True)
        shutil.copy(spec_dir / name / "schema.json", place)
    return tmp_path / "checkout"


def published(checkout: Path, name: str) -> Path:
    return checkout / "schema" / name / "schema.json"


def read(path: Path) -> Root:
    found: Root = json.loads(path.read_text())
    return found


def release(checkout: Path, name: str, root: Root | Path) -> Path:
    """A revision (or the draft) as it is published from now on, in the bytes of a file or in our own."""
    path = published(checkout, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(root.read_bytes() if isinstance(root, Path) else json.dumps(root, indent=4).encode())
    return path


def with_novelty(root: Root, name: str = "Novelty") -> Root:
    return {**root, "$defs": {**root["$defs"], name: {"type": "string"}}}


def told(done: Result, subject: str | Path) -> list[str]:
    """The lines about one thing, the first without its name."""
    lines = done.stdout.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(f"{subject}: "))
    rest = lines[start + 1 :]
    stop = next((index for index, line in enumerate(rest) if not line.startswith("  ")), len(rest))
    return [lines[start].removeprefix(f"{subject}: "), *rest[:stop]]


def test_pins_that_are_what_is_published_are_fine(run: Run, spec_dir: Path, checkout: Path) -> None:
    for source in (spec_dir, checkout, f"{checkout}/", checkout / "schema"):
        done = run("outdated", source)
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout == "".join(f"{revision}: is as pinned\n" for revision in RELEASED)


@pytest.mark.parametrize("edited", [["NumberSchema"], ["Task"], ["NumberSchema", "Task"]])
def test_each_edit_in_place_of_a_release_is_told_by_definition_and_place(
    edited: list[str], run: Run, checkout: Path, spec_dir: Path, tmp_path: Path
) -> None:
    now = read(published(checkout, "2025-11-25"))
    before = {
        **now,
        "$defs": {**now["$defs"], **{name: read(spec_dir / AS_RELEASED)["$defs"][name] for name in edited}},
    }
    older = tmp_path / "older.json"
    older.write_text(json.dumps(before))
    folder = tmp_path / "pins"
    assert run("add", "2025-11-25", older, "-o", folder).exit_code == 0

    head = f"{len(edited)} definition{'s differ' if len(edited) > 1 else ' differs'}"
    lines = [EDITS[name] for name in edited]
    done = run("outdated", checkout, "--pins", folder)
    file = published(checkout, "2025-11-25")
    assert done.exit_code == 1
    assert told(done, "2025-11-25") == [
        f"was edited in place; {head}",
        *lines,
        f"  pin it: mcp-codegen schema add 2025-11-25 {file} --force",
    ]
    verified = run("verify", "2025-11-25", file, "--pins", folder)
    assert verified.exit_code == 1
    assert verified.stdout.splitlines() == [f"{file}: is not the pinned 2025-11-25; {head}", *lines]
    assert run("verify", "2025-11-25", older).stdout.splitlines()[1:] == lines


def test_the_release_as_it_first_was_is_told_from_what_it_is_now(
    run: Run, checkout: Path, spec_dir: Path
) -> None:
    release(checkout, "2025-11-25", spec_dir / AS_RELEASED)
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "2025-11-25")[:-1] == ["was edited in place; 2 definitions differ", *EDITS.values()]
    assert [line for line in done.stdout.splitlines() if line.endswith("is as pinned")] == [
        f"{revision}: is as pinned" for revision in RELEASED if revision != "2025-11-25"
    ]


def test_what_differs_in_prose_alone_is_told_by_definition(
    run: Run, checkout: Path, spec_dir: Path, tmp_path: Path
) -> None:
    draft, first = spec_dir / "history/draft-2025-11-25-14043ad9.json", spec_dir / AS_RELEASED
    folder = tmp_path / "pins"
    assert run("add", "2025-11-25", first, "-o", folder).exit_code == 0
    found = json.loads(run("verify", "2025-11-25", draft, "--pins", folder, "--json").stdout)
    ours, theirs = read(first)["$defs"], read(draft)["$defs"]
    retold = [name for name in sorted(ours) if ours[name] != theirs[name]]
    assert (found["same_bytes"], found["same_facts"], found["differences"]) == (False, True, {})
    assert found["prose"] == retold
    assert len(retold) == 53
    done = run("verify", "2025-11-25", draft, "--pins", folder)
    head, *lines = done.stdout.splitlines()
    assert done.exit_code == 1
    assert head == (
        f"{draft}: has the facts of the pinned 2025-11-25 in other bytes (the prose of 53 definitions);"
        " no definition differs"
    )
    assert " ".join(line.strip() for line in lines) == f"in prose alone: {', '.join(retold)}"


def test_one_edited_sentence_is_an_edit_in_place_of_its_definition(run: Run, checkout: Path) -> None:
    root = read(published(checkout, "2026-07-28"))
    root["$defs"]["Tool"]["description"] = "Words that somebody has put better."
    file = release(checkout, "2026-07-28", root)
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "2026-07-28") == [
        "was edited in place, in the prose of 1 definition; no definition differs",
        "  in prose alone: Tool",
        f"  pin it: mcp-codegen schema add 2026-07-28 {file}",
    ]


def test_another_layout_is_an_edit_of_no_definition(run: Run, checkout: Path) -> None:
    file = published(checkout, "2026-07-28")
    file.write_text(json.dumps(read(file)))
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "2026-07-28")[0] == "was edited in place, in layout alone; no definition differs"
    assert "(layout alone); no definition differs" in run("verify", "2026-07-28", file).stdout


def test_pins_without_hashes_of_each_definition_do_not_guess(
    run: Run, checkout: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "pins"
    run("add", "2026-07-28", published(checkout, "2026-07-28"), "-o", folder)
    (folder / "2026-07-28.sums.json").unlink()
    release(checkout, "2026-07-28", read(published(checkout, "2026-07-28")))
    done = run("outdated", checkout, "--pins", folder)
    assert told(done, "2026-07-28")[0] == "was edited in place, in prose or layout; no definition differs"


@pytest.mark.parametrize("text", ["{oops", "[]"])
def test_broken_hashes_are_one_error(text: str, run: Run, checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pins"
    run("add", "2026-07-28", published(checkout, "2026-07-28"), "-o", folder)
    (folder / "2026-07-28.sums.json").write_text(text)
    done = run("outdated", checkout, "--pins", folder)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "2026-07-28.sums.json" in done.stderr


def test_what_stands_around_the_definitions_is_not_overlooked(run: Run, checkout: Path) -> None:
    root = read(published(checkout, "2026-07-28"))
    release(checkout, "2026-07-28", {**root, "title": "A title"})
    done = run("outdated", checkout)
    assert told(done, "2026-07-28")[0] == "was edited in place; what stands around its definitions differs"
    assert told(done, "2026-07-28")[-1].endswith(" --force")


def test_a_newer_revision_is_out_and_an_older_one_is_no_news(run: Run, checkout: Path) -> None:
    root = read(published(checkout, "2026-07-28"))
    file = release(checkout, "2027-01-01", with_novelty(root))
    release(checkout, "2024-10-07", root)
    (checkout / "schema/2028-01-01").mkdir()
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "2027-01-01") == [
        "is out, and newer than every pin",
        f"  pin it: mcp-codegen schema add 2027-01-01 {file}",
    ]
    assert told(done, "2024-10-07") == ["is published, and not pinned"]
    assert "2028-01-01" not in done.stdout
    shutil.rmtree(file.parent)
    assert run("outdated", checkout).exit_code == 0


@pytest.mark.parametrize("draft", DRAFTS)
def test_an_old_draft_is_told_what_it_has_become(
    draft: str, run: Run, checkout: Path, spec_dir: Path
) -> None:
    became, number = DRAFTS[draft]
    for source in (spec_dir, checkout):
        done = run("outdated", source, "--draft", spec_dir / draft)
        assert done.exit_code == 1
        head, *lines, hint = told(done, spec_dir / draft)
        assert head == (
            f"has since been released as {became}, and changed on the way; {number} definitions differ"
        )
        assert len(lines) == number
        assert hint == f"  see what changed: mcp-codegen diff {spec_dir / draft} {became}"


def test_the_draft_of_a_release_that_was_edited_names_the_edits(
    run: Run, checkout: Path, spec_dir: Path
) -> None:
    draft = spec_dir / "history/draft-2025-11-25-14043ad9.json"
    assert told(run("outdated", checkout, "--draft", draft), draft)[1:-1] == [*EDITS.values()]
    release(checkout, "2025-11-25", spec_dir / AS_RELEASED)
    assert told(run("outdated", checkout, "--draft", draft), draft) == [
        "has since been released as 2025-11-25, with the same facts",
        "  generate from it: mcp-codegen generate --revision 2025-11-25",
    ]


def test_the_draft_as_it_stands_is_fine_until_it_is_released(
    run: Run, checkout: Path, tmp_path: Path
) -> None:
    root = with_novelty(read(published(checkout, "2026-07-28")))
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(root))
    release(checkout, "draft", root)
    done = run("outdated", checkout, "--draft", mine)
    assert done.exit_code == 0
    assert told(done, mine) == ["is the draft as it stands"]
    release(checkout, "2027-01-01", root)
    done = run("outdated", checkout, "--draft", mine)
    assert done.exit_code == 1
    assert told(done, mine)[0] == "has since been released as 2027-01-01, with the same facts"


@pytest.mark.parametrize("older", list(DRAFTS)[1:3])
def test_a_draft_that_was_overtaken_by_a_draft_has_not_been_released(
    older: str, run: Run, checkout: Path, spec_dir: Path
) -> None:
    shutil.rmtree(checkout / "schema/2026-07-28")
    now = release(checkout, "draft", spec_dir / list(DRAFTS)[3])
    done = run("outdated", checkout, "--draft", spec_dir / older)
    assert done.exit_code == 1
    head, *lines, hint = told(done, spec_dir / older)
    assert head.startswith("is not the draft as it stands; ")
    assert head.endswith(f" {len(lines)} definitions differ")
    assert hint == f"  see what changed: mcp-codegen diff {spec_dir / older} {now}"


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_next_draft_does_not_hide_what_an_old_one_has_become(
    draft: str, run: Run, checkout: Path, spec_dir: Path
) -> None:
    release(checkout, "draft", with_novelty(read(published(checkout, "2026-07-28"))))
    done = run("outdated", checkout, "--draft", spec_dir / draft)
    assert told(done, spec_dir / draft)[0].startswith(f"has since been released as {DRAFTS[draft][0]}, ")


def test_a_draft_after_the_newest_release_is_not_taken_for_one_before_it(
    run: Run, checkout: Path, tmp_path: Path
) -> None:
    root = read(published(checkout, "2026-07-28"))
    mine = tmp_path / "mine.json"
    release(checkout, "draft", with_novelty(root, "Other"))
    mine.write_text(json.dumps(with_novelty(root)))
    done = run("outdated", checkout, "--draft", mine)
    assert done.exit_code == 1
    assert told(done, mine)[:3] == [
        "is not the draft as it stands; 2 definitions differ",
        "  Novelty: the whole definition",
        "  Other: the whole definition",
    ]


def test_a_schema_that_is_nothing_of_the_specification_is_not_judged(
    run: Run, checkout: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"$schema": DIALECT, "$defs": {"A": {"type": "string"}}}))
    shutil.rmtree(checkout / "schema/draft")
    done = run("outdated", checkout, "--draft", mine)
    assert done.exit_code == 0
    assert told(done, mine) == ["is no revision that is published there, and not the draft"]


def files(checkout: Path, names: Iterable[str]) -> dict[str, Answer | bytes]:
    return {f"/main/schema/{name}/schema.json": published(checkout, name).read_bytes() for name in names}


def test_an_address_is_asked_for_what_is_known_and_says_what_it_was_not(
    run: Run, checkout: Path, spec_dir: Path
) -> None:
    draft = spec_dir / list(DRAFTS)[3]
    with served(files(checkout, (*RELEASED, "draft"))) as base:
        done = run("outdated", f"{base}/main", "--draft", draft)
        inside = run("outdated", f"{base}/main/schema/")
    assert [done.exit_code, inside.exit_code] == [1, 0]
    assert "has since been released as 2026-07-28" in told(done, draft)[0]
    assert inside.stdout == "".join(f"{revision}: is as pinned\n" for revision in RELEASED)
    for one in (done, inside):
        assert one.stderr == (
            "whether a newer revision is out was not checked: an address cannot be listed; pass a checkout\n"
        )


def test_a_release_that_is_not_there_was_not_checked(run: Run, checkout: Path) -> None:
    with served(files(checkout, RELEASED[1:])) as base:
        done = run("outdated", f"{base}/main")
        as_json = json.loads(run("outdated", f"{base}/main", "--json").stdout)
    assert done.exit_code == 0
    assert f"not checked, because {base}/main/schema does not have it: {RELEASED[0]}\n" in done.stderr
    assert len(as_json["unchecked"]) == 2
    assert (as_json["source"], as_json["stale"]) == (f"{base}/main/schema", False)


def test_without_a_source_the_published_files_are_asked_for() -> None:
    (source,) = [one for one in cli_schema.schema_outdated.params if one.name == "source"]
    assert source.default == SPECIFICATION
    assert SPECIFICATION.startswith("https://")


def test_an_address_that_fails_half_way_is_one_error(run: Run, checkout: Path) -> None:
    broken = {"/main/schema/2026-07-28/schema.json": Answer(status=503)}
    with served(files(checkout, RELEASED[:-1]) | broken) as base:
        done = run("outdated", f"{base}/main")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mcp-codegen: {base}/main/schema/2026-07-28/schema.json: answered 503")
    assert done.stderr.count("\n") == 1


def emitted_from(revisions: Mapping[str, str], definitions: Mapping[str, Any] | None = None) -> None:
    """A project here whose package was emitted from these facts."""
    Path("pyproject.toml").write_text('[tool.mcp-codegen]\noutput = "out"\npackage = "mine"\n')
    Path("out/mine").mkdir(parents=True)
    Path("out/mine/emitted.json").write_text(
        json.dumps({"revisions": revisions, "definitions": definitions or {}, "files": {}})
    )


def test_the_package_of_this_project_is_looked_at_too(run: Run, checkout: Path, tmp_path: Path) -> None:
    known = {pin.revision: pin.facts_sha256 for pin in pins()}
    root = with_novelty(read(published(checkout, "2026-07-28")))
    release(checkout, "draft", root)
    run("add", "2027-01-01", published(checkout, "draft"), "-o", tmp_path / "pins")
    (pin,) = pins(tmp_path / "pins")
    emitted_from({"2025-11-25": "0" * 64, "2026-07-28": known["2026-07-28"], "unreleased": pin.facts_sha256})
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "mine (2025-11-25)") == [
        "was generated from other facts than 2025-11-25 is published with now",
        "  when its pin is renewed: mcp-codegen generate",
    ]
    assert told(done, "mine (2026-07-28)") == ["has the facts of 2026-07-28 as published"]
    assert told(done, "mine (unreleased)") == ["is the draft as it stands"]
    release(checkout, "2027-01-01", root)
    assert told(run("outdated", checkout), "mine (unreleased)") == [
        "has since been released as 2027-01-01, with the same facts",
        "  generate from it: mcp-codegen generate --revision 2027-01-01",
    ]


def test_a_package_of_a_schema_that_is_nowhere_is_not_judged(run: Run, checkout: Path) -> None:
    emitted_from({"unreleased": "0" * 64})
    done = run("outdated", checkout)
    assert done.exit_code == 0
    assert told(done, "mine (unreleased)") == [
        "is no revision that is published there, and not the draft; if it was a draft, pass its file with --draft"
    ]


def test_a_package_that_was_generated_from_a_draft_is_told_what_that_has_become(
    run: Run, checkout: Path, spec_dir: Path
) -> None:
    draft = spec_dir / list(DRAFTS)[3]
    made = CliRunner().invoke(main, ["generate", "--schema", str(draft), "-o", "out", "--package", "mine"])
    assert made.exit_code == 0, made.stderr
    done = run("outdated", checkout, "--draft", draft, "-o", "out", "--package", "mine")
    assert done.exit_code == 1
    head, *lines, hint = told(done, "mine (unreleased)")
    assert head == told(done, draft)[0]
    names = [line.split(":")[0].strip() for line in told(done, draft)[1:-1]]
    assert ", ".join(names) == " ".join(line.strip() for line in lines)
    assert hint == "  generate from it: mcp-codegen generate --revision 2026-07-28"


def test_a_package_of_a_draft_that_has_moved_on_is_told_so(run: Run, checkout: Path, spec_dir: Path) -> None:
    mine = load(published(checkout, "2026-07-28").read_bytes(), source="mine").definitions
    emitted_from(
        {"unreleased": "0" * 64},
        {"unreleased": sums({"Old": {}, **{name: facts(one) for name, one in mine.items()}})},
    )
    now = release(checkout, "draft", with_novelty(read(published(checkout, "2026-07-28"))))
    done = run("outdated", checkout)
    assert done.exit_code == 1
    assert told(done, "mine (unreleased)") == [
        "is not the draft as it stands; 2 definitions differ",
        "  Novelty, Old",
        f"  generate from the draft: mcp-codegen generate --schema {now}",
    ]


def test_a_package_of_a_release_in_other_words_names_them(run: Run, checkout: Path) -> None:
    mine = load(published(checkout, "2026-07-28").read_bytes(), source="mine").definitions
    told_by = {name: facts(one) for name, one in mine.items()}
    emitted_from({"2026-07-28": "0" * 64}, {"2026-07-28": sums({**told_by, "Tool": {"type": "object"}})})
    assert told(run("outdated", checkout), "mine (2026-07-28)")[:2] == [
        "was generated from other facts than 2026-07-28 is published with now; 1 definition differs",
        "  Tool",
    ]


def test_only_a_schema_that_is_not_pinned_leaves_hashes_in_the_manifest(spec_dir: Path) -> None:
    assert pipeline.read(schema=str(spec_dir / "2026-07-28/schema.json")).sums == {}
    draft = spec_dir / list(DRAFTS)[3]
    assert set(pipeline.read(schema=str(draft)).sums) == set(read(draft)["$defs"])


def test_a_package_that_is_asked_for_must_be_there(run: Run, checkout: Path) -> None:
    done = run("outdated", checkout, "-o", "nowhere")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nowhere/mcprotocol/emitted.json: no such file" in done.stderr


@pytest.mark.parametrize(
    "text", ["{oops", "[]", "{}", '{"revisions": []}', '{"revisions": {}, "definitions": {"unreleased": 1}}']
)
def test_a_broken_manifest_is_one_error(text: str, run: Run, checkout: Path) -> None:
    emitted_from({})
    Path("out/mine/emitted.json").write_text(text)
    done = run("outdated", checkout)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "emitted.json" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_outcome_as_json_has_every_finding(run: Run, checkout: Path, spec_dir: Path) -> None:
    release(checkout, "2025-11-25", spec_dir / AS_RELEASED)
    draft = spec_dir / list(DRAFTS)[3]
    done = run("outdated", checkout, "--draft", draft, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["source"], found["stale"], found["unchecked"]) == (f"{checkout}/schema", True, [])
    rows = {row["what"]: row for row in found["findings"]}
    assert list(rows) == [*RELEASED, str(draft)]
    assert rows["2025-11-25"] == {
        "kind": "pin",
        "what": "2025-11-25",
        "state": "edited",
        "release": "2025-11-25",
        "address": f"{checkout}/schema/2025-11-25/schema.json",
        "same_facts": False,
        "differences": {
            "NumberSchema": [f"/properties/{name}/type" for name in ("default", "maximum", "minimum")],
            "Task": ["/properties/ttl/type"],
        },
        "prose": [],
        "stale": True,
    }
    assert (rows[str(draft)]["state"], rows[str(draft)]["release"]) == ("superseded", "2026-07-28")


def test_quiet_leaves_the_exit_code(run: Run, checkout: Path, spec_dir: Path) -> None:
    draft = spec_dir / list(DRAFTS)[3]
    assert run("outdated", checkout, "-q").output == ""
    done = run("outdated", checkout, "--draft", draft, "-q")
    assert (done.exit_code, done.output) == (1, "")


@pytest.mark.parametrize("source", ["", "nowhere", ".", "pyproject.toml", "x" * 5000])
def test_a_place_without_revisions_is_one_error(source: str, run: Run) -> None:
    Path("pyproject.toml").write_text("")
    done = run("outdated", source)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pass a checkout of the specification" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("data", [b"{oops", b"[]", b"{}"])
def test_a_release_or_a_draft_that_cannot_be_read_is_one_error(data: bytes, run: Run, checkout: Path) -> None:
    bad = Path("bad.json")
    bad.write_bytes(data)
    for done in (
        run("outdated", checkout, "--draft", bad),
        run("outdated", checkout, "--draft", "nowhere.json"),
    ):
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    file = published(checkout, "2025-11-25")
    file.write_bytes(data)
    done = run("outdated", checkout)
    assert (done.exit_code, done.stdout) == (2, "")
    assert str(file) in done.stderr


def test_a_folder_without_pins_is_one_error(run: Run, checkout: Path) -> None:
    for done in (
        run("outdated", checkout, "--pins", "nowhere"),
        run("verify", "2026-07-28", published(checkout, "2026-07-28"), "--pins", "nowhere"),
    ):
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1


def test_names_that_would_upset_a_terminal_are_shown_as_escapes(run: Run, checkout: Path) -> None:
    root = read(published(checkout, "2026-07-28"))
    release(checkout, "2026-07-28", with_novelty(root, "\x1b[31mred\u202e"))
    done = run("outdated", checkout)
    assert "  \\x1b[31mred\\u202e: the whole definition" in told(done, "2026-07-28")
