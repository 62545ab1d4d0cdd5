"""Lints data sets of Hugging Face `datasets`, also those that are streamed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ._batches import FINDINGS, Job, check_columns
from ._linter import RowSettings
from ._summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset, IterableDataset


@overload
def lint_dataset(
    ds: "Dataset | IterableDataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary"] = "summary",
    batch_size: int = 1000,
    threads: int = 1,
    progress: "Callable[[int], object] | None" = None,
    **settings: Unpack[RowSettings],
) -> Summary: ...
@overload
def lint_dataset(
    ds: "Dataset | IterableDataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["rows"],
    batch_size: int = 1000,
    threads: int = 1,
    progress: "Callable[[int], object] | None" = None,
    **settings: Unpack[RowSettings],
) -> "Dataset": ...
def lint_dataset(
    ds: "Dataset | IterableDataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary", "rows"] = "summary",
    batch_size: int = 1000,
    threads: int = 1,
    progress: "Callable[[int], object] | None" = None,
    **settings: Unpack[RowSettings],
) -> "Summary | Dataset":
    """Counts what is found in the rows of a data set; with `mode="rows"`, a data set of the findings, in which the key has
    the type that it has in the rows.

    The parameters are those of `toolcheck_lint.spark.lint_dataframe`. Batches are linted on `threads` threads while the
    next one is read; `progress` is called with the number of rows so far.
    """
    _check(ds)
    job = Job(messages, tools, key, samples, settings)
    if job.columns is not None:
        # A data set that is streamed may not know them before it is read.
        if ds.column_names is not None:
            check_columns(job.columns, ds.column_names)
        ds = ds.select_columns(job.columns)
    if mode not in ("summary", "rows"):
        raise ValueError(f"there is no mode {mode!r}; expected summary or rows")
    if mode == "rows":
        import datasets
        import pyarrow

        if key is None:
            raise TypeError("`key` is needed to name the rows of the findings")
        tables = list(_each(job.findings, ds, batch_size, threads, progress))
        if not tables:
            return datasets.Dataset.from_dict({name: [] for name in (key, *FINDINGS[1:])})
        return datasets.Dataset(pyarrow.concat_tables(tables))
    return Summary.sum(_each(job.summary, ds, batch_size, threads, progress))


def _check(ds: Any) -> None:
    """A `TypeError` that says what to do with something that is no data set."""
    kind = type(ds).__name__
    if isinstance(ds, dict) and all(hasattr(split, "with_format") for split in ds.values()):
        splits = ", ".join(f"dataset[{name!r}]" for name in ds)
        raise TypeError(f"name a split of the {kind}: {splits or 'it has none'}")
    if hasattr(ds, "with_format") and hasattr(ds, "select_columns"):
        return
    if isinstance(ds, list | dict):
        advice = "make one with `datasets.Dataset.from_list` or `from_dict`"
    else:
        advice = "columns and tables of Arrow, polars and pandas are linted by `toolcheck_lint.Linter(...).column`"
    raise TypeError(f"expected a data set of `datasets`, not {kind}: {advice}")


def _each(
    lint: "Callable[[Any], Any]",
    ds: Any,
    batch_size: int,
    threads: int,
    progress: "Callable[[int], object] | None",
) -> Iterator[Any]:
    """What is found in each batch. Only as many are held as there are threads."""
    batches = ds.with_format("arrow").iter(batch_size=batch_size)
    rows = 0
    with ThreadPoolExecutor(threads) as pool:
        waiting: list[tuple[int, Any]] = []
        for batch in batches:
            waiting.append((len(batch), pool.submit(lint, batch)))
            if len(waiting) > threads:
                count, future = waiting.pop(0)
                yield future.result()
                rows += count
                if progress is not None:
                    progress(rows)
        for count, future in waiting:
            yield future.result()
            rows += count
            if progress is not None:
                progress(rows)
