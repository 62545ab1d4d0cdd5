"""Checks of what is given to a function, which say what it takes."""

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._keywords import check_keywords
from ._linter import RowSettings


def check_settings(
    function: Callable[..., Any], settings: Mapping[str, Any], *, also: Iterable[str] = (), name: str | None = None
) -> None:
    """A `TypeError` that names the function that was called, if it has no such parameter."""
    own = [name for name, one in inspect.signature(function).parameters.items() if one.kind is not one.VAR_KEYWORD]
    check_keywords(name or function.__name__, settings, [*own, *RowSettings.__optional_keys__, *also])


def check_count(argument: str, value: object, least: int) -> None:
    """A `ValueError` or a `TypeError` if it is no number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{argument}: expected a number, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{argument}: expected {least} or more, not {value}")


def note_tools(messages: str | None, tools: str | None, columns: Iterable[str] | None) -> None:
    """A warning if the tools are not read that are beside the messages."""
    if messages not in (None, "tools") and tools is None and columns is not None and "tools" in columns:
        text = f"the column `tools` is not read: with `messages={messages!r}`, name it with `tools='tools'`"
        warn(text)


def warn(text: str) -> None:
    """A warning at the line that called the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("toolcheck_lint."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
