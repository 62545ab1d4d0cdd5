"""Lints data frames of PySpark 3.5 or later. `toolcheck-lint` and `pyarrow` are needed on the workers."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ._batches import FINDINGS, Job, check_columns
from ._given import check_settings, note_tools
from ._linter import RowSettings
from ._summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@overload
def lint_dataframe(
    df: "DataFrame",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary"] = "summary",
    **settings: Unpack[RowSettings],
) -> Summary: ...
@overload
def lint_dataframe(
    df: "DataFrame",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["rows"],
    **settings: Unpack[RowSettings],
) -> "DataFrame": ...
def lint_dataframe(
    df: "DataFrame",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary", "rows"] = "summary",
    **settings: Unpack[RowSettings],
) -> "Summary | DataFrame":
    """Counts what is found in the rows of a data frame; with `mode="rows"`, a data frame of the findings.

    `messages` is the column with a body or its messages, as text or nested, `tools` one with their tools, and `key` the one
    that names rows. Without `messages`, a row is an object of all columns, as in a file of JSON Lines. The settings are
    those of `toolcheck_lint.Linter`; the kind is `dataset` unless it is given. Without a `key` there are no examples.
    """
    check_settings(lint_dataframe, settings)
    job = Job(messages, tools, key, samples, settings)
    if job.columns is not None:
        # Spark finds a column whatever the case of its name is.
        there = {name.casefold() for name in df.columns}
        check_columns([name for name in job.columns if name.casefold() not in there], df.columns)
        note_tools(messages, tools, df.columns)
        # The name as it is: a dot in it would be a field.
        df = df.select(*[f"`{name}`" for name in job.columns])
    if mode == "rows":
        if key is None:
            raise TypeError("`key` is needed to name the rows of the findings")
        # In a path in each row, there is text.
        kind = df.schema[key].dataType.simpleString() if key in df.columns else "string"
        columns = ", ".join(f"`{name}` string" for name in FINDINGS[1:])
        return df.mapInArrow(_Findings(job), f"`{key}` {kind}, {columns}")
    if mode != "summary":
        raise ValueError(f"there is no mode {mode!r}; expected summary or rows")
    return Summary.sum(bytes(row[0]) for row in df.mapInArrow(_Summaries(job), "summary binary").toLocalIterator())


class _Summaries:
    """The summary of a partition."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        total = Summary.sum(self._job.summary(batch) for batch in batches)
        yield pyarrow.record_batch([pyarrow.array([total.to_bytes()], pyarrow.binary())], names=["summary"])


class _Findings:
    """The findings of a partition."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from self._job.findings(batch).to_batches()
