"""Counts of findings over many rows."""

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, final

from . import _native
from ._exceptions import ToolcheckError
from ._findings import Level, check_level


def as_html(text: str) -> str:
    """A text for people, as a notebook shows it."""
    return f"<pre>{html.escape(text)}</pre>"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """An example of a finding."""

    row: str
    """The key of the row."""
    pointer: str
    """The JSON Pointer in the row."""
    message: str
    """What is wrong."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """What a rule has found."""

    rule: str
    level: Level
    findings: int
    """The number of findings."""
    rows: int
    """The number of rows with such a finding."""
    samples: tuple[Sample, ...]
    """Examples, chosen by a hash of the row's key."""


class SummaryError(ToolcheckError):
    """There are findings in rows; `summary` counts them."""

    summary: "Summary"

    def __init__(self, summary: "Summary", message: str | None = None) -> None:
        super().__init__(summary.render().rstrip() if message is None else message)
        self.summary = summary

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.summary, str(self))


@final
class Summary:
    """What was found in many rows.

    Rows can be counted in any order, in any number of summaries: their sum is the same, to the byte. `Summary()` is the
    empty one.
    """

    __slots__ = ("_data", "_inner")
    _inner: "_native.Summary"
    _data: dict[str, Any] | None

    def __init__(self) -> None:
        self._inner = _native.Summary()
        self._data = None

    @classmethod
    def _of(cls, native: "_native.Summary") -> "Summary":
        summary = cls()
        summary._inner = native
        return summary

    @property
    def _read(self) -> dict[str, Any]:
        if self._data is None:
            self._data = json.loads(self._inner.to_json())
        return self._data

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._read["rows"])

    @property
    def unread(self) -> int:
        """The number of rows in which nothing was read."""
        return int(self._read["unread"])

    @property
    def transcripts(self) -> int:
        """The number of transcripts."""
        return int(self._read["transcripts"])

    @property
    def messages(self) -> int:
        """The number of messages."""
        return int(self._read["messages"])

    @property
    def tool_calls(self) -> int:
        """The number of calls."""
        return int(self._read["tool_calls"])

    @property
    def tool_results(self) -> int:
        """The number of results."""
        return int(self._read["tool_results"])

    @property
    def errors(self) -> int:
        """The number of errors."""
        return int(self._read["errors"])

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return int(self._read["warnings"])

    @property
    def formats(self) -> Mapping[str, int]:
        """The number of transcripts of each format."""
        return MappingProxyType(self._read["formats"])

    @property
    def left_out(self) -> Mapping[str, int]:
        """What was left out, in words, such as lists of tools under keys that are not known, and how many."""
        return MappingProxyType(self._read.get("left_out", {}))

    @property
    def rules(self) -> Mapping[str, RuleCount]:
        """What each rule has found. Of a rule with errors and warnings, this has the errors; `counts` has both."""
        rules: dict[str, RuleCount] = {}
        for count in self.counts:
            if count.level == "error" or count.rule not in rules:
                rules[count.rule] = count
        return MappingProxyType(rules)

    @property
    def counts(self) -> tuple[RuleCount, ...]:
        """What each rule has found at each level."""
        return tuple(
            RuleCount(
                rule=count["rule"],
                level=count["level"],
                findings=count["findings"],
                rows=count["rows"],
                samples=tuple(Sample(**sample) for sample in count["samples"]),
            )
            for count in self._read["rules"]
        )

    def __add__(self, other: "Summary") -> "Summary":
        if not isinstance(other, Summary):
            return NotImplemented
        return Summary._of(_native.Summary.sum([self._inner, other._inner]))

    def __radd__(self, other: object) -> "Summary":
        # `sum` begins with 0.
        return self if other == 0 else NotImplemented

    def raise_for_errors(self, *, level: Level = "error") -> None:
        """Raises a `SummaryError` if there are errors, or rows that were not read, or no transcript at all; with
        `level="warning"`, if there is anything."""
        check_level(level)
        if self.errors or (level == "warning" and self.warnings):
            raise SummaryError(self)
        if self.unread:
            raise SummaryError(self, f"nothing was read in {self.unread} of {self.rows} rows, so they were not checked")
        if not self.transcripts:
            raise SummaryError(self, "there is no transcript in the rows, so nothing was checked")

    @classmethod
    def sum(cls, parts: "Iterable[Summary | bytes]") -> "Summary":
        """The sum of summaries, or of the bytes of some."""
        summary = cls()
        batch = []
        for part in parts:
            batch.append(part._inner if isinstance(part, Summary) else _native.Summary.from_json(bytes(part)))
            if len(batch) == 256:
                summary = cls._of(_native.Summary.sum([summary._inner, *batch]))
                batch.clear()
        return cls._of(_native.Summary.sum([summary._inner, *batch]))

    def to_bytes(self) -> bytes:
        """The summary as JSON of `schemas/summary.v1.schema.json`, on one line: to be sent from a worker, or kept."""
        return self._inner.to_json()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Summary":
        """Reads what `to_bytes` or `toolcheck lint --output-format summary-json` has written."""
        return cls._of(_native.Summary.from_json(bytes(data)))

    def to_dict(self) -> dict[str, Any]:
        """The summary as `schemas/summary.v1.schema.json` describes it."""
        data: dict[str, Any] = json.loads(self._inner.to_json())
        return data

    def render(
        self,
        output: Literal["summary", "summary-json", "text", "json"] = "summary",
        *,
        color: bool = False,
        width: int = 100,
    ) -> str:
        """The summary for people, or as JSON: an output of `toolcheck lint`, or `text` and `json` for short."""
        if output in ("summary-json", "json"):
            return self._inner.to_json().decode()
        if output not in ("summary", "text"):
            raise ValueError(f"there is no output {output!r} of a summary; expected summary, summary-json, text or json")
        return self._inner.render(color, width)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summary):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        counts = f"{self.errors} errors, {self.warnings} warnings"
        return f"<Summary: {self.rows} rows, {self.unread} not read, {counts}>"

    def _repr_html_(self) -> str:
        return as_html(self.render())

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary.from_bytes, (self.to_bytes(),)
