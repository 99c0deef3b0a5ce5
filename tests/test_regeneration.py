"""The schema changes and everything is generated again: what was generated follows, what an author wrote stays."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from emitted import ROOT, command, environment, tree
from projects import edit, files, made, own_tests, update

from mcpcodegen.swap import recover

FACTS = ROOT / "schema/2026-07-28.json"

Definitions = dict[str, Any]


def schema(folder: Path, change: Callable[[Definitions], None] = lambda definitions: None) -> Path:
    """The facts of the latest revision, changed, as a schema file of somebody's own."""
    document = json.loads(FACTS.read_text(encoding="utf-8"))
    # Of no known revision, so that both states are the same package.
    document["$defs"]["Mark"] = {"type": "object", "properties": {"mark": {"type": "string"}}}
    change(document["$defs"])
    file = folder / "schema.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def with_a_method_and_a_member(definitions: Definitions) -> None:
    """A request `tools/probe`, and a member `shelf` of Tool."""
    definitions["ProbeToolRequest"] = {
        **definitions["CallToolRequest"],
        "properties": {**definitions["CallToolRequest"]["properties"], "method": {"const": "tools/probe"}},
    }
    definitions["ProbeToolResult"] = definitions["EmptyResult"]
    definitions["ClientRequest"]["anyOf"].append({"$ref": "#/$defs/ProbeToolRequest"})
    definitions["Tool"]["properties"]["shelf"] = {"type": "string"}


def with_other_names(definitions: Definitions) -> None:
    """Completion renamed, prompts gone."""
    definitions["SuggestRequest"] = definitions.pop("CompleteRequest")
    definitions["SuggestRequest"]["properties"]["method"] = {"const": "completion/suggest"}
    definitions["SuggestResult"] = definitions["CompleteResult"]
    gone = ("ListPromptsRequest", "GetPromptRequest")
    arms = definitions["ClientRequest"]["anyOf"]
    definitions["ClientRequest"]["anyOf"] = [
        {"$ref": "#/$defs/SuggestRequest"} if arm["$ref"].endswith("/CompleteRequest") else arm
        for arm in arms
        if not arm["$ref"].endswith(gone)
    ]
    for name in gone:
        del definitions[name]


def test_an_edit_stays_and_a_new_stub_appears(tmp_path: Path) -> None:
    # B51
    project = made("probed", tmp_path, "--transport", "none", "--schema", str(schema(tmp_path)))
    edit(project / "src/probed/handlers.py", lambda text: text.replace("Hello {", "Salute {"))
    edit(project / "tests/test_handlers.py", lambda text: text.replace("Hello", "Salute"))
    file = schema(tmp_path, with_a_method_and_a_member)
    done = update(project, "--schema", str(file))
    assert done.returncode == 0, done.stderr
    assert "new stubs in ServerHandlers: probe_tool" in done.stderr
    stubs = (project / "src/probed/_mcp/unreleased/server.py").read_text()
    assert "async def probe_tool(" in stubs
    assert "shelf: str | None = None" in (project / "src/probed/_mcp/unreleased/types.py").read_text()
    assert "Salute {name}" in (project / "src/probed/handlers.py").read_text()
    ran = own_tests(project)
    assert ran.returncode == 0, ran.stdout


def test_an_interrupted_generation_leaves_the_old_tree(tmp_path: Path) -> None:
    # B51
    project = made("probed", tmp_path, "--transport", "none", "--schema", str(schema(tmp_path)))
    before = files(project)
    file = schema(tmp_path, with_a_method_and_a_member)
    interrupted = (
        "import os, sys\n"
        "from mcpcodegen import cli, swap\n"
        "move, moves = os.replace, 0\n"
        "def stop(*places):\n"
        "    global moves\n"
        "    moves += 1\n"
        "    os._exit(9) if moves == 6 else move(*places)\n"
        "swap.os.replace = stop\n"
        "cli.main(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", interrupted, "generate", "--schema", str(file)], cwd=project, env=environment()
    )
    assert done.returncode == 9
    assert recover(project / "src/probed")
    assert files(project) == before
    again = command("generate", "--schema", str(file), cwd=project)
    assert again.returncode == 0
    assert files(project) != before


def test_what_is_no_longer_generated_goes_and_what_an_author_wrote_stays_and_both_are_named(
    tmp_path: Path,
) -> None:
    output = ("-o", tmp_path / "out", "--package", "protocol")
    command("generate", "--revision", "2025-06-18", *output)
    mine = tmp_path / "out/protocol/v2025_06_18/mine.py"
    mine.write_text("MINE = 1\n")
    done = command("generate", "--schema", schema(tmp_path, with_other_names), *output)
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()[1:]
    assert [line.strip() for line in told if "no longer generated" in line] == [
        f"protocol/v2025_06_18/{name}: no longer generated, removed"
        for name in ("__init__.py", "client.py", "messages.py", "methods.py", "server.py", "types.py")
    ]
    assert [line for line in told if "no longer" not in line] == [
        "  protocol/v2025_06_18/mine.py: not generated, left as it is"
    ]
    assert mine.read_text() == "MINE = 1\n"
    stubs = (tmp_path / "out/protocol/unreleased/server.py").read_text()
    assert "async def suggest(" in stubs
    assert "async def complete(" not in stubs
    assert "async def list_prompts(" not in stubs


def test_what_was_renamed_or_removed_is_named_where_an_author_uses_it(tmp_path: Path) -> None:
    project = made("probed", tmp_path, "--transport", "none", "--schema", str(schema(tmp_path)))
    more = (
        "\n    async def complete(self, params: types.CompleteRequestParams, ctx: object) -> types.CompleteResult:\n"
        "        return types.CompleteResult(completion=types.CompleteResultCompletion(values=[]))\n"
    )
    edit(project / "src/probed/handlers.py", lambda text: text + more)
    done = update(project, "--schema", str(schema(tmp_path, with_other_names)))
    assert done.returncode == 1
    assert "gone from ServerHandlers: complete, get_prompt, list_prompts" in done.stderr
    assert "uses unreleased.server.ServerHandlers.complete, which is gone" in done.stderr
    assert more in (project / "src/probed/handlers.py").read_text()


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_run_elsewhere_and_with_another_seed_writes_the_same_bytes(seed: str, tmp_path: Path) -> None:
    # B53
    file = schema(tmp_path, with_a_method_and_a_member)
    (tmp_path / seed).mkdir()
    for number in (seed, "0"):
        done = command(
            "generate",
            *("--schema", file, "-o", tmp_path / "out" / number),
            cwd=tmp_path / seed,
            env=environment(PYTHONHASHSEED=number, TZ="Asia/Tokyo" if number == "0" else "UTC"),
        )
        assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out" / seed) == tree(tmp_path / "out/0")


def test_the_same_revision_with_one_definition_altered_is_told_by_definition(tmp_path: Path) -> None:
    # B53
    document = json.loads(FACTS.read_text(encoding="utf-8"))
    document["$defs"]["Tool"]["properties"]["title"] = {"type": "integer"}
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(document))
    done = command("schema", "verify", "2026-07-28", file)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == ["  Tool: /properties/title/type"]
