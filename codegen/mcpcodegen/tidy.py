"""Bundle to Bundle: black with one pinned mode, then `compile()`; nothing leaves that is not valid Python."""

from __future__ import annotations

from black import format_str
from black.mode import Mode, TargetVersion
from black.parsing import InvalidInput

from .errors import EmitError
from .ir import Bundle

LINE_LENGTH = 110
MODE = Mode(target_versions={TargetVersion.PY311}, line_length=LINE_LENGTH)


def tidy(bundle: Bundle) -> Bundle:
    """The same files, Python ones formatted; raises EmitError with the line that Python refuses."""
    return {path: _python(text, path) if path.endswith(".py") else text for path, text in bundle.items()}


def _python(text: str, path: str) -> str:
    try:
        formatted = format_str(text, mode=MODE)
        compile(formatted, path, "exec", dont_inherit=True)
    except (InvalidInput, SyntaxError, ValueError) as error:
        raise EmitError(
            f"the generated text is not Python ({error})", remedy="report this with the schema", source=path
        ) from None
    return formatted
