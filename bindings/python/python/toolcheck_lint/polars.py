"""A namespace for frames of polars: `import toolcheck_lint.polars`, and a `DataFrame` has `.toolcheck`."""

from collections.abc import Callable
from typing import Any, Literal, Unpack

import polars

from ._batches import check_columns
from ._clean import CleanReport, clean_dataset
from ._given import check_settings, note_tools
from ._linter import Linter, RowSettings
from ._stores import first_of
from ._summary import Summary

__all__ = ["Toolcheck"]


@polars.api.register_dataframe_namespace("toolcheck")
class Toolcheck:
    """Lints the rows of a frame: `frame.toolcheck.mask(...)`, or `Toolcheck(frame).mask(...)`, which type checkers know.

    `messages` is the column with a body or its messages, and `tools` one with their tools; without `messages`, a row is an
    object of all columns but `key`, which names rows. The settings are those of `toolcheck_lint.Linter`; the kind is
    `dataset` unless it is given.
    """

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame

    def lint(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        samples: int = 5,
        progress: Callable[[int], object] | None = None,
        **settings: Unpack[RowSettings],
    ) -> Summary:
        """Counts what is found."""
        check_settings(self.lint, settings)
        columns = self._columns(messages, tools, key)
        return _linter(settings, messages, tools).column(**columns, samples=samples, progress=progress)

    def findings(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        **settings: Unpack[RowSettings],
    ) -> polars.DataFrame:
        """A frame with a row for each finding, whose column `row` is the key, or the number of the row."""
        check_settings(self.findings, settings)
        return polars.DataFrame(_linter(settings, messages, tools).rows(**self._columns(messages, tools, key)))

    def verdicts(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        progress: Callable[[int], object] | None = None,
        **settings: Unpack[RowSettings],
    ) -> polars.DataFrame:
        """A frame with a row for each row: `ok`, `errors`, `warnings` and `findings`, as `Linter.verdicts` gives them."""
        check_settings(self.verdicts, settings)
        columns = self._columns(messages, tools, key)
        if messages is None and key is not None:
            columns["array"] = self._frame.drop(key)
        return polars.DataFrame(_linter(settings, messages, tools).verdicts(columns["array"], tools=columns["tools"], progress=progress))

    def mask(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        **settings: Unpack[RowSettings],
    ) -> polars.Series:
        """Whether each row was read and has no error."""
        check_settings(self.mask, settings)
        return self.verdicts(messages, tools=tools, key=key, **settings).get_column("ok")

    def errors(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        **settings: Unpack[RowSettings],
    ) -> polars.Series:
        """The errors of each row: a list of structs of `rule`, `pointer`, `tool_call_id` and `message`."""
        check_settings(self.errors, settings)
        one = polars.element().struct
        kept = polars.struct([one.field(name) for name in ("rule", "pointer", "tool_call_id", "message")])
        errors = polars.col("findings").list.eval(kept.filter(one.field("level") == "error")).alias("errors")
        return self.verdicts(messages, tools=tools, key=key, **settings).select(errors).get_column("errors")

    def clean(
        self,
        messages: str | None = None,
        *,
        tools: str | None = None,
        key: str | None = None,
        drop: Literal["error", "warning"] | None = "error",
        fix: Literal["safe", "unsafe"] | None = None,
        progress: Callable[[int], object] | None = None,
        **settings: Unpack[RowSettings],
    ) -> tuple[polars.DataFrame, CleanReport]:
        """The frame without the rows that are wrong, and what was done, as `toolcheck_lint.clean_dataset` does."""
        check_settings(self.clean, settings)
        return clean_dataset(
            self._frame, messages=messages, tools=tools, key=key, drop=drop, fix=fix, progress=progress, **settings
        )

    def _columns(self, messages: str | None, tools: str | None, key: str | None) -> dict[str, Any]:
        if messages is None:
            if tools is not None:
                raise TypeError("`tools` is a column beside `messages`: name both")
            return {"array": self._frame, "tools": None, "key": key}
        named = {"array": messages, "tools": tools, "key": key}
        check_columns([name for name in named.values() if name is not None], self._frame.columns)
        note_tools(messages, tools, self._frame.columns, first_of(self._frame))
        return {role: None if name is None else self._frame.get_column(name) for role, name in named.items()}


def _linter(settings: RowSettings, messages: str | None, tools: str | None) -> Linter:
    settings.setdefault("kind", "dataset")
    return Linter(**settings)._naming(messages, tools)
