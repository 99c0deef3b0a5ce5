"""A write that is killed at any moment can be undone, and is, by who comes next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from emitted import tree

from mcpcodegen.errors import OutputError
from mcpcodegen.swap import JOURNAL, PREFIX, recover, replace

OLD = {"a.py": b"a = 1\n", "deep/b.py": b"b = 1\n", "gone/c.py": b"c = 1\n", "mine.txt": b"mine"}

NEW = {"a.py": b"a = 2\n", "deep/b.py": b"b = 1\n", "deep/new/d.py": b"d = 1\n", "mine.txt": b"mine"}

MOVES = 5
"""What is moved before the new tree stands for good: the journal in, each file changed, new or removed, the journal out."""

STEPS = 8
"""The same and some more, of the sweeping up."""

KILLED = """
import os, sys
from pathlib import Path
from mcpcodegen import swap

moves = 0

def limited(move):
    def limit(*args, **options):
        global moves
        if moves == int(sys.argv[2]):
            os._exit(9)
        moves += 1
        move(*args, **options)
    return limit

os.replace = limited(os.replace)
os.unlink = limited(os.unlink)
files = {"a.py": b"a = 2\\n", "deep/new/d.py": b"d = 1\\n"}
swap.replace(Path(sys.argv[1]), files, ["gone/c.py"])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with OLD in it."""
    replace(tmp_path / "out", OLD, ())
    return tmp_path / "out"


def killed(folder: Path, after: int) -> int:
    """Write NEW in another process, which ends without a word after so many moves; its exit code."""
    return subprocess.run([sys.executable, "-c", KILLED, str(folder), str(after)], check=False).returncode


def test_a_write_that_is_killed_at_any_move_is_undone(folder: Path) -> None:
    outcomes: list[dict[str, bytes]] = []
    for after in range(STEPS):
        assert killed(folder, after) == 9
        recover(folder)
        outcomes.append(tree(folder))
        assert (folder / "deep/new").exists() == (after >= MOVES)
        assert [path.name for path in folder.parent.iterdir()] == ["out"]
        replace(folder, OLD, [path for path in tree(folder) if path not in OLD])
    assert outcomes == [OLD] * MOVES + [NEW] * (STEPS - MOVES)


def test_what_was_only_laid_out_is_swept_away(folder: Path) -> None:
    for place in (folder, folder.parent):
        (place / f"{PREFIX}out-left/new").mkdir(parents=True)
        (place / f"{PREFIX}out-left/new/a.py").write_text("half")
    assert recover(folder)
    assert tree(folder) == OLD
    assert not recover(folder)


def test_a_folder_of_somebody_with_such_a_name_is_left_alone(folder: Path) -> None:
    (folder / f"{PREFIX}notes").mkdir()
    (folder / f"{PREFIX}notes/mine.md").write_text("mine")
    assert not recover(folder)
    replace(folder, NEW, ())
    assert [path.name for path in (folder / f"{PREFIX}notes").iterdir()] == ["mine.md"]


def test_a_file_that_was_edited_after_the_kill_is_not_undone(folder: Path) -> None:
    assert killed(folder, 3) == 9
    (folder / "a.py").write_text("a = 3  # by hand\n")
    with pytest.raises(OutputError) as caught:
        recover(folder)
    assert caught.value.source == str(folder / "a.py")
    assert "edited after a run that was interrupted" in caught.value.problem
    assert (folder / "a.py").read_text() == "a = 3  # by hand\n"
    (folder / "a.py").unlink()
    assert recover(folder)
    assert tree(folder) == OLD


def test_a_write_that_is_under_way_is_left_alone(folder: Path) -> None:
    holder = (
        "import sys, time; from pathlib import Path; from mcpcodegen import swap\n"
        "with swap._held(Path(sys.argv[1])):\n    print(flush=True); sys.stdin.read()"
    )
    stage = folder.parent / f"{PREFIX}out-busy"
    stage.mkdir()
    (stage / JOURNAL).write_text('{"files": {}, "folders": []}')
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(stage)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(OutputError) as caught:
            recover(folder)
        with pytest.raises(OutputError, match="another run"):
            replace(folder, NEW, ())
        process.kill()
    assert "another run" in caught.value.problem
    assert recover(folder)
    assert tree(folder) == OLD


def test_what_waits_for_another_folder_is_left_alone(folder: Path) -> None:
    (folder.parent / f"{PREFIX}out-side-left").mkdir()
    assert not recover(folder)
    assert (folder.parent / f"{PREFIX}out-side-left").is_dir()


def test_until_the_first_move_nothing_is_seen_in_the_folder(folder: Path) -> None:
    assert killed(folder, 0) == 9
    assert tree(folder) == OLD
    assert killed(folder, 1) == 9
    assert tree(folder) == OLD


def test_a_file_keeps_its_mode(folder: Path) -> None:
    (folder / "a.py").chmod(0o755)
    replace(folder, {"a.py": b"a = 2\n"}, ())
    assert (folder / "a.py").stat().st_mode & 0o777 == 0o755


def test_an_undoing_that_is_interrupted_too_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, move = count(), os.replace

    def interrupted(*paths: str) -> None:
        if next(moves) in (2, 3):  # the last file that is put in, and the first that is put back
            raise KeyboardInterrupt
        move(*paths)

    files = {"a.py": b"a = 2\n", "deep/new/d.py": b"d = 1\n"}
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            replace(folder, files, ["gone/c.py"])
    assert next(moves) == 4
    assert recover(folder)
    assert tree(folder) == OLD


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that asks a process to end")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_an_order_to_end_undoes_the_write_at_once(name: str, folder: Path) -> None:
    program = KILLED.replace("os._exit(9)", f"moves += 1\n            os.kill(os.getpid(), signal.{name})")
    program = program.replace("import os, sys", "import os, signal, sys")
    for after in range(1, 5):
        done = subprocess.run([sys.executable, "-c", program, str(folder), str(after)], check=False)
        assert done.returncode == 128 + getattr(signal, name)
        assert tree(folder) == OLD


def test_a_folder_that_is_not_there_needs_no_recovery(tmp_path: Path) -> None:
    assert not recover(tmp_path / "nowhere")
