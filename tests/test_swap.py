"""A write that is killed at any moment can be undone, and is, by who comes next."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from emitted import tree

from mcpcodegen.errors import OutputError
from mcpcodegen.stage import JOURNAL, PREFIX
from mcpcodegen.swap import recover, replace

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
        "import sys, time; from pathlib import Path; from mcpcodegen import stage\n"
        "with stage.held(Path(sys.argv[1])):\n    print(flush=True); sys.stdin.read()"
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
        if next(moves) in (3, 5):  # the last file that is put in, and the second that is put back
            raise KeyboardInterrupt
        move(*paths)

    files = {"a.py": b"a = 2\n", "deep/b.py": b"b = 2\n", "mine.txt": b"new"}
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            replace(folder, files, ["gone/c.py"])
    assert next(moves) == 6
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


def test_an_edit_of_a_file_that_was_not_yet_replaced_is_kept(folder: Path) -> None:
    assert killed(folder, 2) == 9
    for path in ("a.py", "gone/c.py"):
        edited = folder / f"{path}.edited"
        edited.write_text("by hand\n")
        edited.rename(folder / path)  # as editors save
    assert recover(folder)
    assert tree(folder) == OLD | {"a.py": b"by hand\n", "gone/c.py": b"by hand\n"}


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no second names here")


def test_a_disk_without_second_names_that_is_full_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(source: Path, target: Path, **_: object) -> None:
        target.write_bytes(source.read_bytes()[:2])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(shutil, "copy2", half)
    with pytest.raises(OSError, match="full"):
        replace(folder, NEW, ["gone/c.py"])
    assert tree(folder) == OLD


def test_a_link_that_was_replaced_is_put_back_as_a_link(folder: Path) -> None:
    (folder / "a.py").unlink()
    (folder / "a.py").symlink_to("mine.txt")
    assert killed(folder, 4) == 9
    assert not (folder / "a.py").is_symlink()
    assert recover(folder)
    assert os.readlink(folder / "a.py") == "mine.txt"


def test_a_folder_that_is_reached_by_a_link_is_the_same(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere/link"
    link.symlink_to(folder)
    assert killed(link, 3) == 9
    assert recover(folder)
    assert tree(folder) == OLD


def test_the_folder_that_one_stands_in_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert killed(Path(), 3) == 9
    monkeypatch.chdir(folder.parent)
    assert recover(Path("out"))
    assert tree(folder) == OLD


@pytest.mark.parametrize("name", ["n" * 255, "\u00e9" * 127, "with space", "a-b-", "-"])
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    replace(tmp_path / name, OLD, ())
    assert killed(tmp_path / name, 3) == 9
    assert recover(tmp_path / name)
    assert tree(tmp_path / name) == OLD


def test_a_folder_that_is_mounted_from_the_same_disk_is_written_from_within(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = os.replace

    def across(source: Path, target: Path) -> None:
        if Path(source).is_relative_to(folder) != Path(target).is_relative_to(folder):
            raise OSError(errno.EXDEV, "another mount")
        move(source, target)

    monkeypatch.setattr(os, "replace", across)
    replace(folder, NEW, ["gone/c.py"])
    assert tree(folder) == NEW
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_a_parent_that_takes_no_new_folder_is_spared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = tempfile.mkdtemp

    def within(prefix: str, dir: Path) -> str:
        if dir != folder:
            raise PermissionError(errno.EACCES, "not here")
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "mkdtemp", within)
    replace(folder, NEW, ["gone/c.py"])
    assert tree(folder) == NEW


def test_a_parent_that_may_not_be_listed_is_no_obstacle(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Path.iterdir

    def closed(path: Path) -> Iterator[Path]:
        if path == folder.parent:
            raise PermissionError(errno.EACCES, "not here")
        return look(path)

    monkeypatch.setattr(Path, "iterdir", closed)
    assert not recover(folder)
    replace(folder, NEW, ["gone/c.py"])
    assert tree(folder) == NEW


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"files": {"../stolen": null}, "folders": []}',
        '{"files": {"way/stolen": null}, "folders": []}',
        '{"files": {}, "folders": ["/tmp"]}',
        '{"files": {"a": 1}, "folders": [5]}',
    ],
)
def test_a_journal_that_leads_out_of_the_folder_is_not_followed(text: str, folder: Path) -> None:
    (folder.parent / "theirs").mkdir()
    (folder / "way").symlink_to(folder.parent / "theirs")
    stage = folder / f"{PREFIX}out-trap"
    for path in ("old/way", "new"):
        (stage / path).mkdir(parents=True)
    for path in ("old/stolen", "stolen", "old/way/stolen"):
        (stage / path).write_text("evil")
    (stage / "stolen").rename(stage / "lock")
    (stage / JOURNAL).write_text(text)
    with pytest.raises(OutputError, match="not a journal"):
        recover(folder)
    assert not (folder.parent / "stolen").exists()
    assert not any((folder.parent / "theirs").iterdir())


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_what_another_user_has_put_beside_a_folder_is_left_alone(folder: Path) -> None:
    stage = folder.parent / f"{PREFIX}out-theirs"
    (stage / "old").mkdir(parents=True)
    (stage / "old/evil.py").write_text("evil")
    (stage / JOURNAL).write_text('{"files": {"evil.py": null}, "folders": []}')
    os.chown(stage, 65534, 65534)
    assert not recover(folder)
    assert tree(folder) == OLD
