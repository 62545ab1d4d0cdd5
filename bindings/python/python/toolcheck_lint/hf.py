"""Lints data sets of Hugging Face `datasets`, also those that are streamed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from ._batches import FINDINGS, Job, check_columns
from ._given import check_count, check_settings, note_tools
from ._linter import RowSettings, check_progress
from ._stores import first_of
from ._summary import Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset, IterableDataset

    from ._clean import Cleaner


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
@overload
def lint_dataset(
    ds: "Dataset | IterableDataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["mask"],
    batch_size: int = 1000,
    threads: int = 1,
    progress: "Callable[[int], object] | None" = None,
    **settings: Unpack[RowSettings],
) -> list[bool]: ...
def lint_dataset(
    ds: "Dataset | IterableDataset",
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    samples: int = 5,
    mode: Literal["summary", "rows", "mask"] = "summary",
    batch_size: int = 1000,
    threads: int = 1,
    progress: "Callable[[int], object] | None" = None,
    **settings: Unpack[RowSettings],
) -> "Summary | Dataset | list[bool]":
    """Counts what is found in the rows of a data set; with `mode="rows"`, a data set of the findings, in which the key has
    the type that it has in the rows, or without a key the number of the row as `row`; with `mode="mask"`, whether each row was read and has no error, in their order.

    The parameters are those of `toolcheck_lint.spark.lint_dataframe`. Batches are linted on `threads` threads while the
    next one is read; `progress` is called with the number of rows so far.
    """
    _check(ds)
    check_settings(lint_dataset, settings)
    check_count("threads", threads, 1)
    check_count("batch_size", batch_size, 1)
    check_progress(progress)
    job = Job(messages, tools, key, samples, settings)
    if job.columns is not None:
        # A data set that is streamed may not know them before it is read.
        if ds.column_names is not None:
            check_columns(job.columns, ds.column_names)
            note_tools(messages, tools, ds.column_names, first_of(ds))
        ds = ds.select_columns(job.columns)
    if mode not in ("summary", "rows", "mask"):
        raise ValueError(f"there is no mode {mode!r}; expected summary, rows or mask")
    if mode == "mask":
        return [ok for batch in _each(job.mask, ds, batch_size, threads, progress) for ok in batch]
    if mode == "rows":
        import datasets
        import pyarrow

        tables, first = [], 0
        for count, table in _each(lambda batch: (len(batch), job.findings(batch)), ds, batch_size, threads, progress):
            if key is None:
                numbers = pyarrow.array([first + row for row in table["row"].to_pylist()], pyarrow.int64())
                table = table.set_column(0, table.schema.field(0), numbers)
            first += count
            tables.append(table)
        if not tables:
            return datasets.Dataset.from_dict({name: [] for name in (key or "row", *FINDINGS[1:])})
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


def clean(ds: Any, cleaner: "Cleaner", progress: "Callable[[int], object] | None") -> Any:
    """What `clean_dataset` makes of a data set."""
    _check(ds)
    if not hasattr(ds, "select"):
        raise TypeError(
            "a data set that is streamed is cleaned batch by batch: see `Cleaning` in docs/datasets.md"
        )
    cleaner.check(ds.column_names)
    clean_batch = _Clean(cleaner, progress)
    shape = {"batched": True, "batch_size": 1000}
    if cleaner.is_fixing:
        # What was done is counted on the way, so it has to be done, whatever is kept from the last time.
        made = ds.with_format("arrow").map(clean_batch, **shape, features=ds.features, load_from_cache_file=False)
        kept = made.select(clean_batch.kept)
        own = ds.format
        kept = kept.with_format(own["type"], own["columns"], own["output_all_columns"], **own["format_kwargs"])
    else:
        names = cleaner.job.columns
        read = ds if names is None else ds.select_columns(names)
        for batch in read.with_format("arrow").iter(batch_size=1000):
            clean_batch(batch)
        kept = ds.select(clean_batch.kept)
    return kept


class _Clean:
    """Cleans batches, one after the other. What it is is the cleaner: what it has counted is no part of it."""

    def __init__(self, cleaner: "Cleaner", progress: "Callable[[int], object] | None" = None) -> None:
        self._cleaner = cleaner
        self._progress = progress
        self._rows = 0
        self.kept: list[int] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return _Clean, (self._cleaner,)

    def __call__(self, batch: Any) -> Any:
        from ._stores import ArrowStore

        store, mask = self._cleaner.clean(ArrowStore(batch))
        self.kept += [self._rows + number for number, ok in enumerate(mask) if ok]
        self._rows += len(mask)
        if self._progress is not None:
            self._progress(self._rows)
        return store.table()
