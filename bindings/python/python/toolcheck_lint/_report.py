"""The report of a body."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from ._exceptions import ToolcheckError
from ._findings import Finding, Level, check_level, finding_of

if TYPE_CHECKING:
    from . import _native
    from ._linter import Linter

ShowOutput = Literal["text", "markdown", "html"]


class ReportError(ToolcheckError):
    """There are findings in a body; `report` has them."""

    report: "Report"

    def __init__(self, report: "Report", message: str | None = None) -> None:
        super().__init__(report.render().rstrip() if message is None else message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.report, str(self))


def as_part(page: str) -> str:
    """What a page of HTML shows, as a part of another one such as a notebook, whose rules hold for nothing else there."""
    style, body = (page.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in ("style", "body"))
    style = re.sub(r"(?m)^(\s*)(?::root|body) \{", r"\1& {", style)
    return f'<div class="toolcheck">\n<style>\n.toolcheck {{{style}}}\n</style>{body}</div>\n'


NOTHING_READ = "there is no transcript in the body, so nothing was checked"


class Report(Sequence[Finding]):
    """The findings of a body, in the order of its text. It is true if there are any.

    It is equal to another report, list or tuple with the same findings. Without a transcript nothing was checked, so it is
    true, and not equal to an empty list. When it is pickled, the body goes with it.
    """

    __slots__ = ("_linted", "_linter", "_list")
    _linted: "_native.Linted"
    _linter: "Linter"
    _list: list[Finding] | None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, linted: "_native.Linted", linter: "Linter") -> None:
        self._linted = linted
        self._linter = linter
        self._list = None

    @property
    def format(self) -> str | None:
        """The id of the format that the body was read as; `None` if no format knows it."""
        return self._linted.format

    @property
    def target(self) -> str | None:
        """The id of the API that it was checked against."""
        return self._linted.target

    @property
    def kind(self) -> str:
        """What the body is for: `request`, `session` or `dataset`."""
        return self._linted.kind

    @property
    def transcripts(self) -> int:
        """The number of transcripts; without any, nothing was checked."""
        return self._linted.transcripts

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self._linted.messages

    @property
    def tool_calls(self) -> int:
        """The number of calls."""
        return self._linted.tool_calls

    @property
    def tool_results(self) -> int:
        """The number of results."""
        return self._linted.tool_results

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self._linted.errors

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return self._linted.warnings

    def raise_for_errors(self, *, level: Level = "error") -> None:
        """Raises a `ReportError` if there are errors, or no transcript; with `level="warning"`, if there is anything."""
        check_level(level)
        if self.errors or (level == "warning" and self.warnings):
            raise ReportError(self)
        if not self.transcripts:
            raise ReportError(self, NOTHING_READ)

    def render(self, output: str = "full", *, color: bool = False, width: int = 100) -> str:
        """The report as an output of `toolcheck lint` writes it, such as `full`, `concise`, `json` or `sarif`."""
        return self._linted.render(output, color, width)

    def show(
        self,
        output: ShowOutput = "text",
        *,
        all: bool = False,
        text: bool = False,
        color: bool = False,
        width: int = 100,
    ) -> str:
        """The picture of the body, as `toolcheck show` draws it.

        With `all` nothing is left out, and with `text` the beginnings of texts are shown, which may be secret.
        """
        return self._linted.show(output, color, width, all, text)

    def to_dict(self) -> dict[str, Any]:
        """The report as `schemas/report.v1.schema.json` describes it."""
        report: dict[str, Any] = json.loads(self._linted.json())
        return report

    def _repr_html_(self) -> str:
        return as_part(self._linted.show("html", False, 100, False, False))

    @property
    def _findings(self) -> list[Finding]:
        if self._list is None:
            self._list = [finding_of(v1) for v1 in self.to_dict()["findings"]] if len(self._linted) else []
        return self._list

    def __len__(self) -> int:
        return len(self._linted)

    def __bool__(self) -> bool:
        return len(self) > 0 or not self.transcripts

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        return self._findings[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list | tuple) and not self._linted.transcripts and not len(self):
            # An empty list stands for a clean body.
            return False
        if isinstance(other, Report | list | tuple):
            return len(self) == len(other) and self._findings == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        counts = f"{self.errors} errors, {self.warnings} warnings"
        read = "" if self.transcripts else "no transcript, "
        return f"<Report format={self.format} target={self.target}: {read}{counts}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # The same text gives the same findings, so it is linted again.
        return _lint_again, (self._linter, self._linted.body())


def _lint_again(linter: "Linter", body: bytes) -> Report:
    return linter.lint(body)
