"""What is found, and where."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal, final

from . import _native

Level = Literal["error", "warning"]


def check_level(level: str) -> None:
    """A `ValueError` if there is no such level."""
    if level not in ("error", "warning"):
        raise ValueError(f"there is no level {level!r}; expected error or warning")


# Where all fields are keywords, pyright lets no class below have positional patterns of its own.
@dataclass(frozen=True, slots=True, kw_only=True, match_args=False)
class Place:
    """A place in a body."""

    pointer: str
    """The JSON Pointer of the value; in JSON Lines, that in its record."""
    line: int
    """The line, from 1."""
    column: int
    """The column in characters, from 1."""
    record: int = 0
    """The record of JSON Lines, from 0."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Place):
    """Another place that explains a finding."""

    message: str = ""
    """What is there."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, match_args=False)
class Finding(Place):
    """A problem in a body. In a `match`, its positional patterns are the rule, the pointer and the message."""

    __match_args__ = ("rule", "pointer", "message")

    rule: str
    """The id of the rule."""
    level: Level
    """How bad it is for the target."""
    message: str
    """What is wrong. It never quotes an argument, a result or a text."""
    url: str
    """The page of the rule."""
    end_line: int
    """The line of the end."""
    end_column: int
    """The column of the end, exclusive."""
    byte_start: int
    """The first byte, in the text of the body."""
    byte_end: int
    """The byte behind the last one."""
    help: str | None = None
    """What to do."""
    tool_call_id: str | None = None
    """The id of the tool call that it is about."""
    tool_name: str | None = None
    """The name of the tool that it is about."""
    provider_error: str | None = None
    """What the API answers."""
    status: int | None = None
    """The HTTP status that the API answers."""
    evidence: str | None = None
    """How it is known that the API refuses it."""
    doubt: str | None = None
    """Why it is only a warning although the API refuses it, or why that is in doubt."""
    fixable: Literal["safe", "unsafe"] | None = None
    """How `fix` may fix it."""
    labels: tuple[Label, ...] = field(default=())
    """Other places that explain it."""

    def value(self, body: Any) -> Any:
        """The value at its pointer in the body that was linted.

        `LookupError` if the body has no such value, and `ValueError` if it is not JSON.
        """
        text = bytes(_native.text_of(body)).decode("utf-8", "surrogatepass")
        return _resolved(_record(text, self.record), self.pointer)


def finding_of(v1: dict[str, Any]) -> Finding:
    """A finding of a report of version 1."""
    known = {name: v1[name] for name in _NAMES if name in v1}
    labels = tuple(
        Label(
            pointer=label["pointer"],
            line=label["line"],
            column=label["column"],
            record=label.get("record", v1["record"]),
            message=label["message"],
        )
        for label in v1.get("labels", ())
    )
    return Finding(**known, labels=labels)


_NAMES = tuple(name for name in Finding.__dataclass_fields__ if name != "labels")


def _record(text: str, number: int) -> Any:
    """A record of JSON Lines, or of texts that stand one after the other."""
    decoder = json.JSONDecoder()
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in " \t\r\n\ufeff":
            at += 1
        if at == end:
            raise LookupError("there are fewer records in the body")
        value, at = decoder.raw_decode(text, at)
        if number == 0:
            return value
        number -= 1


def _resolved(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, str):
            # JSON in a string, such as the messages of a data set.
            value = json.loads(value)
        if isinstance(value, list):
            if not step.isdecimal():
                raise LookupError(f"there is no {pointer} in the body")
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise LookupError(f"there is no {pointer} in the body")
    return value
