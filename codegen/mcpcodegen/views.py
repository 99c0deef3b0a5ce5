"""A Spec as the Python templates need it: every decision already a finished string or a boolean.

Templates lay these out and decide nothing; an emitter of another language has its own module in this place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .ir import Definition, Method, Role, Spec
from .naming import module_name


@dataclass(frozen=True)
class MethodView:
    """One method as source text.

    `params` annotates the argument of a stub, `signature` is that argument with its default, `row` the type
    parameters of its row in the method table, `reader` the expression that reads it in dispatch.
    """

    wire: str
    message: str
    bar: str
    senders: str
    python: str
    constant: str
    answer_name: str
    notify_name: str
    params: str
    params_class: str
    params_required: str
    signature: str
    reader: str
    results: str
    result_classes: str
    capability: str
    paginated: str
    cacheable: str
    input_required: str
    task_augmented: str
    answer_doc: str
    call_doc: str


@dataclass(frozen=True)
class SideView:
    """What one role calls, announces and answers."""

    name: str
    title: str
    peer: str
    requests: tuple[MethodView, ...]
    notifications: tuple[MethodView, ...]
    answers: tuple[MethodView, ...]
    calls_anything: bool
    answers_anything: bool
    reads_params: bool
    deprecates: bool


@dataclass(frozen=True)
class RevisionView:
    """One revision package."""

    revision: str
    title: str
    digest: str
    module: str
    requests: tuple[MethodView, ...]
    notifications: tuple[MethodView, ...]
    deprecates: bool
    several_requests: bool
    several_notifications: bool
    client: SideView
    server: SideView


@dataclass(frozen=True)
class ListView:
    """One list of a server: the call for a page of it, and the iterator over its items.

    `given` is the expression for what becomes of a page.
    """

    page: str
    items: str
    item: str
    words: str
    given: str = "page"

    @property
    def result(self) -> str:
        """The type of a page."""
        return f"{''.join(map(str.capitalize, self.page.split('_')))}Result"

    @property
    def constant(self) -> str:
        """The row of the method."""
        return self.page.upper()


LISTS = (
    ListView("list_tools", "tools", "Tool", "tools", given="self._tools.learn(page)"),
    ListView("list_resources", "resources", "Resource", "resources"),
    ListView("list_resource_templates", "resource_templates", "ResourceTemplate", "resource templates"),
    ListView("list_prompts", "prompts", "Prompt", "prompts"),
)
"""The lists that a client iterates over: no schema says what the items of a page are."""


@dataclass(frozen=True)
class FaceView:
    """One face of the client: the same calls, awaited or waited for. Words of the language, and words about it."""

    name: str
    kind: str
    manager: str
    blocking: bool
    define: str
    wait: str
    over: str
    within: str
    iterator: str
    abstract: str
    enter: str
    leave: str
    listening: str
    called: str
    lists: tuple[ListView, ...] = LISTS

    @property
    def waiting(self) -> bool:
        """Whether its calls are awaited."""
        return not self.blocking


@dataclass(frozen=True)
class ErasView:
    """Whether the client speaks to servers of the handshake era too, and what goes over HTTP then."""

    handshake: bool

    @property
    def room(self) -> str:
        """The module of what goes over HTTP."""
        return "sessions" if self.handshake else "http"

    @property
    def endpoint(self) -> str:
        """What goes over HTTP."""
        return "Endpoint" if self.handshake else "Http"


FACES = {
    "client": FaceView(
        name="Client",
        kind="client",
        manager="an async context manager",
        blocking=False,
        define="async def",
        wait="await ",
        over="async for",
        within="async with",
        iterator="AsyncIterator",
        abstract="AsyncIterator, Callable, Mapping, Sequence",
        enter="__aenter__",
        leave="__aexit__",
        listening="Listening",
        called="",
    ),
    "sync": FaceView(
        name="ClientSync",
        kind="blocking client",
        manager="a context manager",
        blocking=True,
        define="def",
        wait="",
        over="for",
        within="with",
        iterator="Iterator",
        abstract="Callable, Coroutine, Iterator, Mapping, Sequence",
        enter="__enter__",
        leave="__exit__",
        listening="ListeningSync",
        called=" Plain ones are\n        called in the thread that waits for the call, and may make calls themselves.",
    ),
}
"""The faces of the client, by the module that each is."""


def view(spec: Spec) -> RevisionView:
    """The whole of a revision, ready to lay out."""
    requests = _all(method for method in spec.methods if method.kind == "request")
    notifications = _all(method for method in spec.methods if method.kind == "notification")
    return RevisionView(
        revision=spec.revision,
        title=f"MCP {spec.revision}" if spec.revision else "an unreleased MCP schema",
        digest=spec.digest,
        module=module_name(spec.revision) if spec.revision else "unreleased",
        requests=requests,
        notifications=notifications,
        deprecates=bool(retired(spec.definitions)),
        several_requests=len(requests) > 1,
        several_notifications=len(notifications) > 1,
        client=_side(spec, "client", "server"),
        server=_side(spec, "server", "client"),
    )


def documented(definitions: Iterable[Definition]) -> dict[str, dict[str, str]]:
    """The prose of definitions that have any: of the class under the empty name, of members under theirs."""
    prose = {
        d.name: {"": _prose(d.doc, d.deprecated)} | {m.python: _prose(m.doc, m.deprecated) for m in d.members}
        for d in definitions
    }
    return {
        name: kept for name, docs in prose.items() if (kept := {key: doc for key, doc in docs.items() if doc})
    }


def retired(definitions: Iterable[Definition]) -> dict[str, str]:
    """The definitions that are deprecated, each with the sentence that says so."""
    return {d.name: d.deprecated for d in definitions if d.deprecated}


def _prose(doc: str, deprecated: str) -> str:
    return "\n\n".join(filter(None, (doc, deprecated)))


def _side(spec: Spec, role: Role, peer: Role) -> SideView:
    requests, notifications = _all(spec.sent_by(role, "request")), _all(spec.sent_by(role, "notification"))
    answers = _all(spec.sent_by(peer, "request"))
    return SideView(
        name=role,
        title=role.capitalize(),
        peer=peer,
        requests=requests,
        notifications=notifications,
        answers=answers,
        calls_anything=bool(requests or notifications),
        answers_anything=bool(answers),
        reads_params=any(method.params != "None" for method in answers),
        deprecates=_mentions_retired(spec, role, peer),
    )


def _mentions_retired(spec: Spec, role: Role, peer: Role) -> bool:
    """Whether a deprecated definition stands in a signature of one side."""
    sent = (*spec.sent_by(role, "request"), *spec.sent_by(role, "notification"))
    named = {name for m in (*sent, *spec.sent_by(peer, "request")) for name in (m.params, *m.results)}
    return any(definition.deprecated and definition.name in named for definition in spec.definitions)


def _all(methods: Iterable[Method]) -> tuple[MethodView, ...]:
    return tuple(_method(method, index == 0) for index, method in enumerate(methods))


def _method(method: Method, first: bool) -> MethodView:
    class_ = f"types.{method.params}" if method.params else "None"
    optional = method.params is None or not method.params_required
    params = f"{class_} | None" if optional and method.params else class_
    return MethodView(
        wire=method.wire,
        message=method.message,
        bar="" if first else "| ",
        senders=repr(method.senders),
        python=method.python,
        constant=method.constant,
        answer_name=method.python,
        notify_name=f"notify_{method.python}",
        params=params,
        params_class=class_,
        params_required=str(not optional),
        signature=f"params: {params}" + (" = None" if optional else ""),
        reader=_reader(method, class_, optional),
        results=" | ".join(f"types.{name}" for name in method.results) or "None",
        result_classes=", ".join(f"types.{name}" for name in method.results)
        + ("," if len(method.results) == 1 else ""),
        capability=repr(method.capability),
        paginated=str(method.paginated),
        cacheable=str(method.cacheable),
        input_required=str(method.input_required),
        task_augmented=str(method.task_augmented),
        answer_doc=_sentence("Answer", method),
        call_doc=_sentence("Send", method),
    )


def _sentence(verb: str, method: Method) -> str:
    return f"{verb} `{method.wire}`." + (f"\n\n{method.doc}" if method.doc else "")


def _reader(method: Method, class_: str, optional: bool) -> str:
    if method.params is None:
        return "None"
    read = f"read_params({class_}, params)"
    return f"None if params is None else {read}" if optional else read
