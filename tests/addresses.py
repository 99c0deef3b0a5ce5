"""Files at an address: what a server on loopback answers, by path, for as long as a test runs."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What is answered: `announced` is the length that is promised, None for that of the body."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    announced: int | None = None


@contextmanager
def served(answers: Mapping[str, Answer | bytes]) -> Generator[str, None, None]:
    """The address below which the answers are, each at its path; everything else is not found."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path, Answer(status=404))
            answer = Answer(found) if isinstance(found, bytes) else found
            length = len(answer.body) if answer.announced is None else answer.announced
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(length), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
