"""Where tokens are kept, and where a browser comes back to: files, processes and ports as they are."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from granting import URL, World, connected, logging_in
from mcprotocol.client.oauth import FileStore, Kept, MemoryStore, Store, StoreError, Unauthorized
from mcprotocol.client.redirect import Listener, browse

posix = pytest.mark.skipif(sys.platform == "win32", reason="the modes of files are of POSIX")


def keep(kept: Kept) -> None:
    """Keep a token."""
    session = kept.session("https://as.test")
    session.tokens, session.expires = {"access_token": "hush"}, 5.0
    kept.issuer = "https://as.test"


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_what_is_kept_is_found_again_and_forgotten(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else FileStore(tmp_path / "new")

    async def work() -> None:
        assert await store.load("one") is None
        await store.update("one", keep)
        await store.update("other", lambda kept: None)
        found = await store.load("one")
        assert found is not None and found.server == "one"
        assert found.session("https://as.test").tokens == {"access_token": "hush"}
        found.sessions.clear()
        again = await store.load("one")
        assert again is not None and set(again.sessions) == {"https://as.test"}
        await store.forget("one")
        await store.forget("one")
        assert await store.load("one") is None and await store.load("other") is not None

    asyncio.run(work())


def test_what_is_kept_shows_no_secret() -> None:
    kept = Kept(server="one")
    keep(kept)
    assert "hush" not in repr(kept) and "hush" not in str(kept)


@posix
def test_only_the_user_may_read_a_file_from_its_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    sync = os.fsync

    def note(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    store = FileStore(tmp_path / "new")
    before = os.umask(0)
    try:
        asyncio.run(store.update("one", keep))
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()} == {
        store.path("one").name: 0o600,
        "lock": 0o600,
    }
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_change_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path)
    asyncio.run(store.update("one", keep))
    before = store.path("one").read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError) as caught:
        asyncio.run(store.update("one", lambda kept: kept.sessions.clear()))
    assert str(caught.value) == (
        f"{tmp_path}: No space left on device; give FileStore a folder that can be written"
    )
    assert store.path("one").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([store.path("one").name, "lock"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "Invalid JSON: EOF while parsing a value at line 1 column 0"),
        (b'{"server": "one", "sess', "Invalid JSON: EOF while parsing a string at line 1 column 23"),
        (b'{"issuer": "hush"}', "/server: Field required"),
        (b'{"server": "one", "hush": "hush"}', "/hush: Extra inputs are not permitted"),
        (
            b'{"server": "one", "sessions": {"a": {"tokens": "secret"}}}',
            "/sessions/a/tokens: Input should be an object",
        ),
    ],
)
def test_a_broken_file_is_one_clear_error(text: bytes, reason: str, tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.path("one").write_bytes(text)
    words = f"{store.path('one')}: {reason}; remove the file and log in again"
    with pytest.raises(StoreError) as caught:
        asyncio.run(store.load("one"))
    assert str(caught.value) == words
    with pytest.raises(StoreError) as caught:
        asyncio.run(store.update("one", keep))
    assert str(caught.value) == words
    assert store.path("one").read_bytes() == text


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="give FileStore a folder that can be written"):
        asyncio.run(FileStore(tmp_path / "file" / "in").update("one", keep))


def test_processes_that_change_a_file_at_once_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from mcprotocol.client.store import FileStore\n"
        "store = FileStore(sys.argv[1])\n"
        "for number in range(20):\n"
        "    name = f'{sys.argv[2]}-{number}'\n"
        "    asyncio.run(store.update('one', lambda kept: kept.session(name) and None))\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), name], stderr=subprocess.PIPE)
        for name in "abc"
    ]
    ends = [child.communicate()[1] for child in children]
    assert ends == [b"", b"", b""]
    kept = asyncio.run(FileStore(tmp_path).load("one"))
    assert kept is not None
    assert set(kept.sessions) == {f"{name}-{number}" for name in "abc" for number in range(20)}


def test_tasks_that_change_a_file_at_once_lose_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path)

    def adds(name: str) -> Callable[[Kept], None]:
        def edit(kept: Kept) -> None:
            kept.session(name)

        return edit

    async def work() -> None:
        await asyncio.gather(*(store.update("one", adds(str(number))) for number in range(20)))

    asyncio.run(work())
    kept = asyncio.run(store.load("one"))
    assert kept is not None and set(kept.sessions) == {str(number) for number in range(20)}


@posix
def test_files_lie_in_the_data_directory_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert FileStore().path("one").parent == tmp_path / "mcp-client"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert FileStore().path("one").parent == tmp_path / ".local/share/mcp-client"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert FileStore().path("one").parent == tmp_path / "Library/Application Support/mcp-client"


class Visitor:
    """A user with a browser of its own, which goes where it is sent."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.pages: list[httpx2.Response] = []
        self._visits: list[asyncio.Task[None]] = []

    def show(self, address: str) -> None:
        self._visits.append(asyncio.ensure_future(self._visit(self._world.browse(address))))

    async def _visit(self, address: str) -> None:
        async with httpx2.AsyncClient() as client:
            self.pages.append(await client.get(address))


def log_in(world: World, store: Store, **options: object) -> Visitor:
    visitor = Visitor(world)

    async def work() -> None:
        given = {"show": visitor.show, "wait": None, "redirect": None, **options}
        async with connected(world, logging_in(world, store, **given)) as client:
            await client.call_tool("read")

    asyncio.run(work())
    return visitor


def overlook(address: str) -> None:
    """Show nothing."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_browser_comes_back_to_a_port_of_this_machine(tmp_path: Path) -> None:
    world = World()
    (page,) = log_in(world, FileStore(tmp_path)).pages
    assert page.status_code == 200 and "You may close this page" in page.text
    assert page.headers["cache-control"] == "no-store"
    assert world.pages[0]["redirect_uri"].startswith("http://localhost:")
    log_in(world, FileStore(tmp_path))
    assert len(world.pages) == 1


def test_the_port_that_a_client_is_registered_with_is_used_again() -> None:
    world, store = World(), MemoryStore()
    for _ in range(2):
        log_in(world, store)
        asyncio.run(store.update(URL, drop_tokens))
    first, second = (page["redirect_uri"] for page in world.pages)
    assert first == second and len(world.forms("/register")) == 1


def test_a_port_that_is_taken_meanwhile_leads_to_a_new_registration() -> None:
    world, store = World(), MemoryStore()
    log_in(world, store)
    asyncio.run(store.update(URL, drop_tokens))
    port = httpx2.URL(world.pages[0]["redirect_uri"]).port
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port or 0))
        taken.listen()
        log_in(world, store)
    assert len(world.forms("/register")) == 2
    assert world.pages[1]["redirect_uri"] != world.pages[0]["redirect_uri"]


def drop_tokens(kept: Kept) -> None:
    for session in kept.sessions.values():
        session.tokens = None


def test_a_port_of_ones_own_is_used_or_missed() -> None:
    world, port = World(), free_port()
    log_in(world, MemoryStore(), port=port)
    assert world.pages[0]["redirect_uri"] == f"http://localhost:{port}/callback"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        with pytest.raises(Unauthorized, match=f"^the login needs port {port}: "):
            log_in(world, MemoryStore(), port=port)


def test_a_user_closes_the_browser_and_the_port_is_free_again() -> None:
    world, port = World(), free_port()
    with pytest.raises(Unauthorized, match="^nobody has finished the login within 0.05 seconds"):
        log_in(world, MemoryStore(), port=port, show=overlook, seconds=0.05)
    log_in(world, MemoryStore(), port=port)


def test_a_login_that_is_cancelled_frees_its_port_and_lets_the_next_begin() -> None:
    world, port = World(), free_port()
    visitor = Visitor(world)
    shown = asyncio.Event()

    async def work() -> None:
        def show(address: str) -> None:
            if shown.is_set():
                visitor.show(address)
            shown.set()

        auth = logging_in(world, show=show, wait=None, redirect=None, port=port)
        async with asyncio.timeout(20), connected(world, auth) as client:
            call = asyncio.ensure_future(client.call_tool("read"))
            await shown.wait()
            call.cancel()
            await asyncio.wait({call})
            assert call.cancelled()
            await client.call_tool("read")

    asyncio.run(work())
    assert len(world.pages) == 1


def test_only_the_right_page_ends_the_waiting() -> None:
    async def work() -> list[int]:
        listener = Listener()
        address = await listener.open()
        came = asyncio.ensure_future(listener.came())
        idle = await asyncio.open_connection("127.0.0.1", httpx2.URL(address).port)
        async with asyncio.timeout(20), httpx2.AsyncClient() as client:
            wrong = [
                await client.get(f"{address}/more?code=a"),
                await client.get(address.replace("/callback", "/favicon.ico")),
                await client.post(address),
            ]
            assert not came.done()
            right = await client.get(f"{address}?code=a&state=b")
            second = await client.get(f"{address}?code=c")
            assert await came == f"{address}?code=a&state=b"
        await listener.close()
        idle[1].close()
        return [page.status_code for page in [*wrong, right, second]]

    assert asyncio.run(work()) == [404, 404, 404, 200, 200]


def test_the_address_is_said_where_there_may_be_no_browser(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    asyncio.run(browse("https://as.test/authorize?a=b"))
    assert opened == ["https://as.test/authorize?a=b"]
    assert capsys.readouterr().err == "To log in, open this address: https://as.test/authorize?a=b\n"
