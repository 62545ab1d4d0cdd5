"""What the model says, turn by turn, as `toolcheck serve` reads it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

Turn = dict[str, Any]
"""A turn, with the keys of `[[turn]]` in a script."""
Call = dict[str, Any]
"""A call of a turn."""


def call(tool: str = "", arguments: Mapping[str, Any] | None = None, *, raw: str | None = None, id: str | None = None) -> Call:
    """A call of a tool.

    Without a name it calls the first tool of the request, and without arguments it makes them from the tool's schema.
    `raw` is a text in place of the arguments, which need not be JSON.
    """
    made: Call = {"tool": tool, "raw": raw, "id": id}
    if arguments is not None:
        if _fits(arguments):
            made["arguments"] = dict(arguments)
        elif raw is None:
            # Scripts are TOML, which has no null and no large numbers; the text of the arguments has both.
            made["raw"] = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    return _without_none(made)


def calls(
    *calls: Call,
    text: str = "",
    reasoning: str | None = None,
    stop: Literal["end", "calls", "length"] | None = None,
    pieces: int | None = None,
    interleaved: bool | None = None,
    cut_after: int | None = None,
    cut_in: Literal["arguments", "between-calls"] | None = None,
    clean_end: bool | None = None,
) -> Turn:
    """A turn in which the model calls tools, with what it says beside them.

    A stream breaks after `cut_after` events, or where `cut_in` says; with `clean_end` it ends there as if it were complete.
    """
    turn = {"text": text or None, "reasoning": reasoning, "calls": list(calls), "stop": stop}
    stream = {"pieces": pieces, "interleaved": interleaved}
    return _without_none(turn | stream | {"cut-after": cut_after, "cut-in": cut_in, "clean-end": clean_end})


def text(
    text: str,
    *,
    reasoning: str | None = None,
    stop: Literal["end", "calls", "length"] | None = None,
    pieces: int | None = None,
    cut_after: int | None = None,
    clean_end: bool | None = None,
) -> Turn:
    """A turn in which the model only says this."""
    stream = {"pieces": pieces, "cut-after": cut_after, "clean-end": clean_end}
    return _without_none({"text": text, "reasoning": reasoning, "stop": stop} | stream)


def error(status: int, message: str = "", *, retry_after: int | None = None, attempts: int | None = None) -> Turn:
    """An error in place of the next turn: always, or for this many attempts of the same request."""
    return _without_none({"status": status, "text": message or None, "retry-after": retry_after, "attempts": attempts})


def toml(turns: Iterable[Turn]) -> str:
    """The turns as the text of a script."""
    turns = checked(turns)
    return "".join("[[turn]]\n" + "".join(f"{_value(key)} = {_value(value)}\n" for key, value in turn.items()) for turn in turns)


def checked(turns: Any) -> list[Turn]:
    """A `TypeError` if they are no list of turns."""
    expected = "expected a list of turns, such as `[calls(call(\"tides\")), text(\"Low at six.\")]`"
    if isinstance(turns, str | bytes | Mapping) or not isinstance(turns, Iterable):
        one = "one turn" if isinstance(turns, Mapping) else type(turns).__name__
        raise TypeError(f"turns: {expected}, not {one}")
    listed = list(turns)
    for number, turn in enumerate(listed):
        if not isinstance(turn, Mapping):
            hint = f"; did you mean `text({turn!r})`?" if isinstance(turn, str) and len(turn) < 50 else ""
            raise TypeError(f"turns[{number}]: {expected}, and this is {type(turn).__name__}{hint}")
        if "tool" in turn:
            raise TypeError(f"turns[{number}]: a call is no turn; put it in one: `calls(call(...))`")
    return listed


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _fits(value: Any) -> bool:
    """Whether TOML can say a value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _fits(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(map(_fits, value))
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, str | float)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        # The strings of JSON are those of TOML, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool | int | float):
        return json.dumps(value, allow_nan=False)
    raise TypeError(f"a script cannot hold {value!r}")
