"""What lints batches of rows on the workers of an engine."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ._linter import Linter, RowSettings
from ._summary import Summary


class Batch(Protocol):
    """A `pyarrow.Table` or `pyarrow.RecordBatch`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def column(self, name: str) -> Any: ...
    @property
    def schema(self) -> Any: ...


class Job:
    """How the rows of a data set are linted. It is pickled, and sent to the workers."""

    def __init__(
        self, messages: str | None, tools: str | None, key: str | None, samples: int, settings: RowSettings
    ) -> None:
        if tools is not None and messages is None:
            raise TypeError("`tools` is a column beside `messages`: name both")
        if isinstance(samples, int) and samples < 0:
            raise ValueError(f"samples: expected 0 or more, not {samples}")
        self.messages = messages
        self.tools = tools
        self.key = key
        # Nothing else would name a row on another worker, so there are no examples without a key.
        self.samples = samples if key is not None else 0
        settings.setdefault("kind", "dataset")
        self.linter = Linter(**settings)._naming(messages, tools)

    @property
    def columns(self) -> list[str] | None:
        """The columns that are read; `None` for all of them."""
        if self.messages is None:
            return None
        return list(dict.fromkeys(name for name in (self.key, self.messages, self.tools) if name is not None))

    def _read(self, batch: Batch, reader: Callable[..., Any], **more: Any) -> Any:
        """What a method of the linter makes of a batch."""
        if self.messages is None:
            return reader(batch, key=self.key, **more)
        columns = [_column(batch, name) if name is not None else None for name in (self.messages, self.tools, self.key)]
        return reader(columns[0], tools=columns[1], key=columns[2], **more)

    def summary(self, batch: Batch) -> Summary:
        """What is found in a batch."""
        summary: Summary = self._read(batch, self.linter.column, samples=self.samples)
        return summary

    def findings(self, batch: Batch) -> Any:
        """The findings in a batch, as a `pyarrow.Table` that begins with the key, which has the type of its column."""
        import pyarrow

        table = pyarrow.table(self._read(batch, self.linter.rows))
        return table.rename_columns([self.key or "row", *FINDINGS[1:]])


    def mask(self, batch: Any) -> list[bool]:
        """Whether each row of a batch was read and has no error."""
        import pyarrow

        if self.messages is None:
            # The key is no part of a row.
            names = [name for name in batch.schema.names if name != self.key]
            table = self.linter.verdicts(batch.select(names))
        else:
            tools = None if self.tools is None else _column(batch, self.tools)
            table = self.linter.verdicts(_column(batch, self.messages), tools=tools)
        mask: list[bool] = pyarrow.table(table)["ok"].to_pylist()
        return mask


def _column(batch: Batch, name: str) -> Any:
    check_columns([name], batch.schema.names)
    return batch.column(name)


def check_columns(names: Iterable[str], known: Sequence[str]) -> None:
    """A `ValueError` if there is no column of a name."""
    for name in names:
        if name not in known:
            there = f"there are {', '.join(f'`{one}`' for one in known)}" if known else "there are no columns at all"
            raise ValueError(f"there is no column `{name}`; {there}")


FINDINGS = ("row", "rule", "level", "pointer", "tool_call_id", "message")
"""The columns of findings, of which the first has the name of the key."""
