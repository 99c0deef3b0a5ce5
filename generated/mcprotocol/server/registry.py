"""What an author registers: functions, read once for their parameters and called the same way ever after.

A parameter annotated `Context` gets the context of the request and is no argument.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from .context import Context
from .plain import Plain, words_of
from .workers import WORKERS

Call: TypeAlias = Callable[..., object]
"""A function of the author's, plain or async."""

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema object."""


SIMPLE = (str, int, float, bool, None, NoneType)
"""The types of JSON values that are no others' as well."""


class Function:
    """An author's function: its name and documentation, what it takes and gives, and one way to call it."""

    def __init__(self, call: Call) -> None:
        """Read the signature; raises TypeError when the parameters cannot be offered by name."""
        inner = call
        while isinstance(inner, functools.partial):
            inner = cast(Call, inner.func)
        self._call = call
        self.name: str = getattr(inner, "__name__", type(inner).__name__)
        self.description = inspect.getdoc(inner)
        if not hasattr(inner, "__name__"):
            inner = type(inner).__call__
        self._async = inspect.iscoroutinefunction(inner)
        hints = _hints(inner, self.name)
        self.returns: Any = hints.get("return", Any)
        parameters = [
            p.replace(annotation=hints.get(p.name, Any)) for p in inspect.signature(call).parameters.values()
        ]
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
            raise TypeError(f"{self.name} takes *args or **kwargs, which have no names to offer")
        self.parameters = {p.name: p for p in parameters if not _is_context(p.annotation)}
        self._contexts = [p.name for p in parameters if p.name not in self.parameters]
        self._positional = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]

    def __call__(self, values: Mapping[str, object], context: Context) -> Awaitable[object]:
        """The outcome for parameters by name: of an async function here, of a plain one in a worker."""
        named = {**values, **dict.fromkeys(self._contexts, context)} if self._contexts else {**values}
        ordered = [named.pop(name) for name in self._positional]
        if self._async:
            return cast(Awaitable[object], self._call(*ordered, **named))
        return _in_worker(functools.partial(self._call, *ordered, **named))


class Arguments:
    """The arguments of a function as one model: their schema, and the ways in from JSON and from text."""

    def __init__(self, function: Function) -> None:
        """Build the model; raises TypeError when an annotation has no JSON Schema."""
        # The fields have names of our own, so that a parameter may be called `json`, `_id` or `model_config`.
        self._names = {f"p{index}": name for index, name in enumerate(function.parameters)}
        fields: dict[str, Any] = {
            field: _field(function.parameters[name]) for field, name in self._names.items()
        }
        with described(function.name):
            self._model = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
            schema = self._model.model_json_schema(schema_generator=Plain)
        self.schema: Schema = {key: value for key, value in schema.items() if key != "title" and value != {}}
        self.fields = {field.alias or "": field for field in self._model.model_fields.values()}
        """Each argument by the name that callers use."""
        # Of these strict reading takes the same from Python as from JSON, and needs no text between.
        self._simple = all(
            not field.metadata and kind in SIMPLE
            for field in self.fields.values()
            for kind in members_of(field.annotation)
        )
        if len(self.fields) < len(self._names):
            raise TypeError(f"{function.name} has two parameters with the same alias")

    def from_json(self, values: Mapping[str, Any]) -> dict[str, object]:
        """The parameters for JSON values, none of which is coerced; raises `pydantic.ValidationError`."""
        # Straight to the reader: the way through `model_validate_json` takes as long again as a small message.
        reader = self._model.__pydantic_validator__
        if self._simple:
            return self._named(reader.validate_python(values, strict=True))
        # Strict reading is defined on JSON text: there a date is a string.
        return self._named(reader.validate_json(to_json(values), strict=True))

    def from_text(self, values: Mapping[str, str]) -> dict[str, object]:
        """The parameters for texts, each read as its type; raises `pydantic.ValidationError`."""
        return self._named(self._model.model_validate_strings(values))

    def _named(self, model: BaseModel) -> dict[str, object]:
        # The fields of a model stand in the order in which they were given, which is that of the names.
        return dict(zip(self._names.values(), vars(model).values(), strict=True))


async def _in_worker(call: Call) -> object:
    outcome = await WORKERS.run(call)
    return await cast(Awaitable[object], outcome) if inspect.isawaitable(outcome) else outcome


@contextmanager
def described(owner: str) -> Generator[None, None, None]:
    """Where annotations of `owner` become schemas: one that cannot is a TypeError that says whose it is."""
    try:
        yield
    except PydanticUserError as error:
        raise TypeError(f"{owner}: {error.message}") from error


def parts_of(value: object) -> list[object]:
    """The items of a list or another sequence of things, or the one value that is none."""
    # A text is one thing, and so are bytes; of numbers none that stands for a million others is spelt out.
    whole = not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray | memoryview | range)
    return [value] if whole else [*cast(Sequence[object], value)]


def unwrapped(hint: Any) -> Any:
    """A type without its metadata and without the names of aliases."""
    while get_origin(hint) is Annotated or hasattr(hint, "__value__"):
        hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint.__value__
    return hint


def members_of(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type that is none."""
    inner = unwrapped(hint)
    return get_args(inner) if get_origin(inner) in (Union, UnionType) else (hint,)


def _is_context(hint: Any) -> bool:
    members = [unwrapped(member) for member in members_of(hint)]
    return any(isinstance(member, type) and issubclass(member, Context) for member in members)


def _hints(call: Call, name: str) -> dict[str, Any]:
    try:
        return get_type_hints(call, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}: {error}; annotations must be resolvable from the module of the function"
        ) from error


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    """The definition of a model field: the alias is the name that callers use."""
    annotation, default = parameter.annotation, parameter.default
    if isinstance(default, FieldInfo):
        annotation, default = Annotated[annotation, default], parameter.empty
    given = FieldInfo.from_annotation(cast(type[Any], annotation))
    said: dict[str, Any] = {"alias": given.alias or parameter.name}
    words = words_of(given.metadata)
    if given.description is None and words is not None:
        said["description"] = words
    return annotation, (Field(**said) if default is parameter.empty else Field(default=default, **said))
