"""Headless Chromium over its own pipe: a page is opened, typed into, clicked and looked at.

Chromium speaks JSON over two pipes, and the dozen commands that are needed here take no library: the one that is
usual brings a driver of 165 MB on another runtime, for a browser that the machine has to have all the same.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

PATIENCE = 60
"""Seconds for one answer: a browser that starts on a busy machine may take many; a broken one takes for ever."""

FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # refused for root otherwise, and what is opened is our own
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--hide-scrollbars",  # a telephone's take no room; what does not fit is not hidden by it
    "--no-first-run",
)


def chromium() -> str:
    """The browser of this machine; empty where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


class Pipe:
    """Commands to a browser and what comes back."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._read = b""
        self._count = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Send one command and wait for its answer; events that come meanwhile are kept."""
        self._count += 1
        command = {"id": self._count, "method": method, "params": params}
        text = json.dumps({**command, **({"sessionId": session} if session else {})})
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode() + b"\0")
        self._process.stdin.flush()
        while True:
            message = self.receive()
            if message.get("id") == self._count:
                assert "error" not in message, f"{method}: {message['error']}"
                found: dict[str, Any] = message["result"]
                return found

    def receive(self) -> dict[str, Any]:
        """The next message; an event is kept as well."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], deadline - time.monotonic())
            assert ready, "Chromium does not answer"
            data = os.read(self._process.stdout.fileno(), 1 << 16)
            assert data, "Chromium has ended"
            self._read += data
        text, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message


class Tab:
    """One page of a browser, with all that it asked for and complained of."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        target = pipe.send("Target.createTarget", url="about:blank")["targetId"]
        self._session: str = pipe.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self._pipe.send(method, self._session, **params)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._pipe.events.clear()
        self.send("Page.navigate", url=path.as_uri())
        while not self._events("Page.loadEventFired"):
            self._pipe.receive()

    def look(self, width: int, height: int = 900, scheme: str = "light", media: str = "") -> None:
        """How the page is looked at from now on."""
        size = {"width": width, "height": height}
        self.send("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", media=media, features=[feature])

    def evaluate(self, expression: str) -> Any:
        """The JSON value of an expression in the page."""
        done = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def type(self, text: str) -> None:
        """Type into what has the focus, letter by letter."""
        for letter in text:
            self.send("Input.insertText", text=letter)

    def press(self, key: str) -> None:
        """Press and release a key that writes nothing."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}[key]
        more = {"text": "\r"} if key == "Enter" else {}
        what = {"key": key, "code": key, "windowsVirtualKeyCode": code, **more}
        self.send("Input.dispatchKeyEvent", type="keyDown", **what)
        self.send("Input.dispatchKeyEvent", type="keyUp", **what)

    def click(self, selector: str) -> None:
        """Click where a person would: in the middle of the first box of an element, whatever lies there."""
        where = self.evaluate(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            " found.scrollIntoView({block: 'center'}); const box = found.getClientRects()[0];"
            " return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)

    def settle(self) -> None:
        """Wait until what was set off has happened: events have run, and a frame has been drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def screenshot(self) -> bytes:
        """A PNG of the page from top to bottom."""
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def requests(self) -> list[str]:
        """The addresses that were asked for, this page's own among them."""
        return [one["request"]["url"] for one in self._events("Network.requestWillBeSent")]

    def complaints(self) -> list[str]:
        """What went to the console, what was thrown, what the browser refused, and dialogs."""
        kinds = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [json.dumps(params) for kind in kinds for params in self._events(kind)]

    def tree(self) -> list[tuple[str, str]]:
        """What a screen reader is told: the role and the name of each node."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [
            (one["role"]["value"], one.get("name", {}).get("value", ""))
            for one in nodes
            if not one["ignored"]
        ]

    def _events(self, method: str) -> list[dict[str, Any]]:
        mine = [one for one in self._pipe.events if one.get("sessionId") == self._session]
        return [one["params"] for one in mine if one["method"] == method]


@contextmanager
def opened(binary: str) -> Generator[Tab, None, None]:
    """A browser of its own, with an empty profile, ended and removed afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Its pipes are the descriptors 3 and 4.
        plumbing = ["/bin/sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null', "sh"]
        process = subprocess.Popen(
            [*plumbing, binary, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with process:
            try:
                pipe = Pipe(process)
                yield Tab(pipe)
                pipe.send("Browser.close")
                process.wait(PATIENCE)
            finally:
                process.kill()
