"""Where the tokens and registrations of a client are kept: for each server, and apart for each authorization server.

What is kept is secret: no message and no `repr` shows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

Record: TypeAlias = dict[str, JsonValue]
"""A JSON object of OAuth, as it came."""


class StoreError(Exception):
    """What is kept cannot be read or written: the words name the file, and say what to do."""


class Session(BaseModel):
    """What one authorization server has given: `expires` is when its token does, in seconds of the epoch."""

    model_config = ConfigDict(extra="forbid")

    client: Record | None = Field(default=None, repr=False)
    tokens: Record | None = Field(default=None, repr=False)
    expires: float | None = None
    metadata: Record | None = Field(default=None, repr=False)
    resource: Record | None = Field(default=None, repr=False)


class Kept(BaseModel):
    """What is kept for a server: a session for each issuer, and the `issuer` whose token is in use."""

    model_config = ConfigDict(extra="forbid")

    server: str
    issuer: str | None = None
    sessions: dict[str, Session] = Field(default_factory=dict[str, Session])

    def session(self, issuer: str) -> Session:
        """The session of an issuer, which is new where there was none."""
        return self.sessions.setdefault(issuer, Session())


Edit: TypeAlias = Callable[[Kept], None]
"""Changes what is kept, in place."""


class Store(Protocol):
    """Keeps things by the name of a server; `Kept.model_dump_json` and `Kept.model_validate_json` make text of them."""

    async def load(self, server: str) -> Kept | None:
        """What is kept for a server; None when there is nothing."""
        ...

    async def update(self, server: str, edit: Edit) -> None:
        """Change what is kept, which is new where there was nothing, and keep it.

        Two updates at once must happen one after the other.
        """
        ...

    async def forget(self, server: str) -> None:
        """Keep nothing for a server any more."""
        ...


class MemoryStore:
    """Keeps things as long as the process lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    async def load(self, server: str) -> Kept | None:
        kept = self._kept.get(server)
        return None if kept is None else kept.model_copy(deep=True)

    async def update(self, server: str, edit: Edit) -> None:
        edit(self._kept.setdefault(server, Kept(server=server)))

    async def forget(self, server: str) -> None:
        self._kept.pop(server, None)


class FileStore:
    """Keeps things in files that only the user may read, one for each server, safe with several processes.

    The folder is `mcp-client` in the user's data directory unless another is given.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = _data() / "mcp-client" if folder is None else Path(folder)

    async def load(self, server: str) -> Kept | None:
        """What is kept for a server; raises StoreError when its file cannot be read."""
        return await asyncio.to_thread(self._load, server)

    async def update(self, server: str, edit: Edit) -> None:
        """Change a file; another process sees it as it was or as it is; raises StoreError when that fails."""
        await asyncio.to_thread(self._update, server, edit)

    async def forget(self, server: str) -> None:
        """Remove the file of a server."""
        await asyncio.to_thread(self._forget, server)

    def path(self, server: str) -> Path:
        """The file of a server, which need not be there."""
        return self._folder / f"{hashlib.sha256(server.encode()).hexdigest()[:32]}.json"

    def _load(self, server: str) -> Kept | None:
        path = self.path(server)
        try:
            return Kept.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise StoreError(f"{path}: {reason(error)}; remove the file and log in again") from None
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}; let this user read the file, or remove it") from None

    def _update(self, server: str, edit: Edit) -> None:
        with self._locked():
            kept = self._load(server) or Kept(server=server)
            edit(kept)
            # Only this user may read what mkstemp makes, from its first byte.
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".json")
            try:
                with open(descriptor, "w", encoding="utf-8") as file:
                    file.write(kept.model_dump_json(indent=2, exclude_none=True))
                    file.flush()
                    os.fsync(descriptor)
                os.replace(name, self.path(server))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise

    def _forget(self, server: str) -> None:
        with self._locked():
            self.path(server).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the folder, which is made where it is missing, against other processes and threads."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(descriptor)
                yield
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(
                f"{self._folder}: {error.strerror or error}; give FileStore a folder that can be written"
            ) from None


def reason(error: ValidationError) -> str:
    """What is wrong first, and where, without the value that is wrong."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    pointer = "".join(f"/{part}" for part in first["loc"])
    return f"{pointer}: {first['msg']}" if pointer else first["msg"]


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def _data() -> Path:
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _data() -> Path:
        if sys.platform == "darwin":
            return Path.home() / "Library/Application Support"
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
