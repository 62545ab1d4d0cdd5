"""Lints data sets of Ray Data. `toolcheck-lint` is needed on the workers."""

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ._batches import Job, check_columns
from ._given import check_settings, note_tools
from ._linter import RowSettings
from ._summary import Summary

if TYPE_CHECKING:
    from ray.data import Dataset


@overload
def lint_dataset(
    ds: "Dataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary"] = "summary",
    batch_size: int | None = 4096,
    **settings: Unpack[RowSettings],
) -> Summary: ...
@overload
def lint_dataset(
    ds: "Dataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["rows"],
    batch_size: int | None = 4096,
    **settings: Unpack[RowSettings],
) -> "Dataset": ...
def lint_dataset(
    ds: "Dataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary", "rows"] = "summary",
    batch_size: int | None = 4096,
    **settings: Unpack[RowSettings],
) -> "Summary | Dataset":
    """Counts what is found in the rows of a data set; with `mode="rows"`, a data set of the findings.

    The parameters are those of `toolcheck_lint.spark.lint_dataframe`; `batch_size` is that of `map_batches`.
    """
    check_settings(lint_dataset, settings)
    job = Job(messages, tools, key, samples, settings)
    if job.columns is not None:
        try:
            columns = ds.columns(fetch_if_missing=False)
        except Exception:
            # Ray can't join the types of blocks that differ, so each is a batch of its own, as it is.
            batch_size = None
        else:
            if columns is not None:
                check_columns(job.columns, columns)
            note_tools(messages, tools, columns)
            ds = ds.select_columns(job.columns)
    if mode not in ("summary", "rows"):
        raise ValueError(f"there is no mode {mode!r}; expected summary or rows")
    if mode == "rows":
        if key is None:
            raise TypeError("`key` is needed to name the rows of the findings")
        return ds.map_batches(_Findings(job), batch_format="pyarrow", batch_size=batch_size, zero_copy_batch=True)
    found = ds.map_batches(
        _Summaries(job), batch_format="pyarrow", batch_size=batch_size, zero_copy_batch=True
    )
    return Summary.sum(row["summary"] for row in found.iter_rows())


class _Summaries:
    """The summary of a batch."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batch: Any) -> Any:
        import pyarrow

        return pyarrow.table({"summary": pyarrow.array([self._job.summary(batch).to_bytes()], pyarrow.binary())})


class _Findings:
    """The findings of a batch."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batch: Any) -> Any:
        return self._job.findings(batch)
