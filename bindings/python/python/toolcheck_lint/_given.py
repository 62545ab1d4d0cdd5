"""Checks of what is given to a function, which say what it takes."""

import inspect
import json
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


def note_tools(
    messages: str | None,
    tools: str | None,
    columns: Iterable[str] | None,
    first: Callable[[str], Iterable[Any]] = lambda name: (),
) -> None:
    """A warning if the tools are not read that are beside the messages. `first` has the first values of a column."""
    if messages is None or tools is not None or columns is None:
        return
    names = [name for name in columns if name != messages]
    if "tools" in names:
        warn(f"the column `tools` is not read: with `messages={messages!r}`, name it with `tools='tools'`")
        return
    for name in names:
        if any(map(_are_tools, first(name))):
            warn(f"the column `{name}` holds tools and is not read: name it with `tools={name!r}`")
            return


SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""The keys of tools that have the schema of their arguments."""


def _are_tools(value: Any) -> bool:
    """Whether a value is beyond doubt a list of tools, or the JSON of one."""
    # An array of numpy, or a series of polars.
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    value = value if to_list is None else to_list()
    return isinstance(value := _said(value, "["), list | tuple) and len(value) > 0 and all(map(_is_tool, value))


def _is_tool(value: Any) -> bool:
    value = _said(value, "{")
    if not isinstance(value, Mapping):
        return False
    function = value.get("function")
    tool = function if isinstance(function, Mapping) else value
    return isinstance(tool.get("name"), str) and any(tool.get(name) is not None for name in SCHEMAS)


def _said(value: Any, start: str) -> Any:
    """What a text of JSON says that begins like this; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith(start) and any(name in value for name in SCHEMAS):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def warn(text: str) -> None:
    """A warning at the line that called the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("toolcheck_lint."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
