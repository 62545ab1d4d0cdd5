"""Data sets without the rows that are wrong, or with these rows fixed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar, Unpack, final

from ._batches import Job, check_columns
from ._given import check_settings, note_tools, warn
from ._kept import Unfit
from ._linter import Linter, RowSettings
from ._stores import first_of, store_of
from ._summary import Summary, as_html

Data = TypeVar("Data")
DECODER = json.JSONDecoder()
Progress = Callable[[int], object]
MOST_NAMED = 10_000
"""The most rows that a report names."""
MOST_REASONS = 10
"""The most reasons that a report names for rows that could not be fixed."""
REASONS_SHOWN = 2
"""How many of them its text shows."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CleanReport:
    """What `clean_dataset` has done."""

    before: Summary
    """What was found in the rows as they were."""
    after: Summary
    """What is found in the rows that are kept."""
    fixed: int
    """The number of rows that are kept after a fix."""
    unfit: int
    """The number of rows that stay as they were because what they would be is no value of their column."""
    unfit_reasons: tuple[str, ...] = ()
    """Why not, each with the column, such as "`messages`: there is no field `name` in its structs". At most 10 are named."""

    left_out: Summary = field(repr=False)
    """What was found in the rows that were dropped, as they were last."""

    dropped_rows: tuple[Any, ...] = field(default=(), repr=False)
    """The rows that were dropped, in their order: their keys, or their numbers from 0 without a `key`. Only the first 10,000
    are named."""

    @property
    def rows(self) -> int:
        """The number of rows before."""
        return self.before.rows

    @property
    def kept(self) -> int:
        """The number of rows that are left."""
        return self.after.rows

    @property
    def dropped(self) -> int:
        """The number of rows that are not there any more."""
        return self.rows - self.kept

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many of the dropped rows each rule has findings in, most first. Rows that nothing was read of have
        `unrecognised-format` or `malformed-json`."""
        rows: dict[str, int] = {}
        for count in self.left_out.counts:
            rows[count.rule] = max(count.rows, rows.get(count.rule, 0))
        return MappingProxyType(dict(sorted(rows.items(), key=lambda one: -one[1])))

    def __str__(self) -> str:
        fixed = f", {self.fixed} of them after a fix" if self.fixed else ""
        left_out = ", ".join(f"{what} ({count})" for what, count in self.before.left_out.items())
        left_out = f"; left out: {left_out}" if left_out else ""
        unfit = ""
        if self.unfit:
            why = f" ({'; '.join(self.unfit_reasons[:REASONS_SHOWN])})" if self.unfit_reasons else ""
            unfit = f", {self.unfit} could not be fixed in their columns{why}"
        return f"{self.rows} rows: {self.kept} kept{fixed}, {self.dropped} dropped{unfit}{left_out}"

    def _repr_html_(self) -> str:
        return as_html(str(self))


def clean_dataset(
    ds: Data,
    *,
    messages: str | None = None,
    tools: str | None = None,
    key: str | None = None,
    drop: Literal["error", "warning"] | None = "error",
    fix: Literal["safe", "unsafe"] | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RowSettings],
) -> tuple[Data, CleanReport]:
    """A data set without the rows that are wrong, of the type that it has, and what was done.

    It is a `Dataset` of `datasets`, a frame of polars or pandas, or a table of pyarrow; it is not changed itself. The columns
    and settings are those of `toolcheck_lint.hf.lint_dataset`; the column `key` is no part of the rows.

    - `fix`: rows are fixed first, as `toolcheck fix` does; with `"unsafe"`, also where something is lost or guessed.
    - `drop`: rows with errors, and those that nothing was read of, are left out; with `"warning"`, those with warnings too;
      with `None`, none.

    If nothing was read of any row, there is a warning.
    """
    check_settings(clean_dataset, settings)
    for name, value, known in (("drop", drop, ("error", "warning")), ("fix", fix, ("safe", "unsafe"))):
        if value is not None and value not in known:
            raise ValueError(f"{name}: expected {known[0]!r}, {known[1]!r} or None, not {value!r}")
    if fix is not None and messages is None:
        raise TypeError("`fix` changes a column: name it with `messages`")
    cleaner = Cleaner(Job(messages, tools, key, 0, settings), drop, fix)
    if type(ds).__module__.partition(".")[0] == "datasets":
        from .hf import clean

        kept: Data = clean(ds, cleaner, progress)
    else:
        store, mask = cleaner.clean(store_of(ds), progress)
        kept = store.kept(mask)
    note_tools(messages, tools, _columns(ds), first_of(ds))
    before = cleaner.report.before
    if before.rows and before.unread == before.rows:
        done = "" if drop is None else ", and all were dropped"
        where = f"is `{messages}` the column with the messages?" if messages else "name their column with `messages`"
        if cleaner.is_printed:
            where = f"the texts of `{messages}` are lists as Python prints them, not JSON; write them with `json.dumps`"
        warn(f"nothing was read of any of the {before.rows} rows{done}: {where}")
    return kept, cleaner.report


def _columns(ds: Any) -> list[str]:
    return list(map(str, ds.column_names if hasattr(ds, "column_names") else ds.columns))


class Cleaner:
    """Cleans tables, and counts what it has done. It is pickled without the counts."""

    def __init__(self, job: Job, drop: str | None, fix: str | None) -> None:
        self.job = job
        self._drop = drop
        self._fix = fix
        self._before = Summary()
        self._after = Summary()
        self._left_out = Summary()
        self._fixed = 0
        self._unfit = 0
        self._unfit_reasons: list[str] = []
        self._rows = 0
        self._dropped: list[Any] = []
        self.is_printed = False
        """Whether there are messages that were written by `str()`, as `to_csv` of pandas and Dask do."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Cleaner, (self.job, self._drop, self._fix)

    def check(self, columns: list[str]) -> None:
        """A `ValueError` if a column is not there."""
        key = self.job.key
        if key is not None and key not in columns and self.job.messages is None:
            # A path in each row.
            key = key.partition(".")[0]
        check_columns([name for name in (self.job.messages, self.job.tools, key) if name is not None], columns)

    def _name(self, store: Any, number: int) -> Any:
        """The key of a row, or its number."""
        key = self.job.key
        if key is None or key in store.names:
            return self._rows + number if key is None else store.value(key, number)
        first, *path = key.split(".")
        value = store.value(first, number)
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return self._rows + number if value is None else value

    @property
    def is_fixing(self) -> bool:
        """Whether rows are changed."""
        return self._fix is not None

    @property
    def report(self) -> CleanReport:
        """What was done so far."""
        return CleanReport(
            before=self._before,
            after=self._after,
            fixed=self._fixed,
            unfit=self._unfit,
            unfit_reasons=tuple(self._unfit_reasons),
            left_out=self._left_out,
            dropped_rows=tuple(self._dropped),
        )

    def clean(self, store: Any, progress: Progress | None = None) -> tuple[Any, list[bool]]:
        """The rows of a table with what can be fixed fixed, and which of them are to be kept."""
        self.check(store.names)
        unsafe = None if self._fix is None else self._fix == "unsafe"
        table, before, after, left_out = self._verdicts(store, unsafe, progress)
        self._before += before
        first = store.value(self.job.messages, 0) if before.unread and self.job.messages is not None else None
        self.is_printed |= isinstance(first, str) and first.startswith("[{'")
        verdicts = store.read(table)
        fixed: list[int] = []
        if unsafe is not None:
            texts = zip(verdicts["fixed"], verdicts["read"], strict=True)
            fixed = self._store_rows(store, [(number, now, read) for number, (now, read) in enumerate(texts) if now is not None])
            if fixed:
                # What counts is what is found in the rows as they are stored now.
                table, _, after, left_out = self._verdicts(store, None, None)
                verdicts = store.read(table)
        self._after += after
        self._left_out += left_out
        counts = zip(verdicts["ok"], verdicts["warnings"], strict=True)
        mask = [self._drop is None or (ok and not (warned and self._drop == "warning")) for ok, warned in counts]
        self._fixed += sum(mask[number] for number in fixed)
        for number, ok in enumerate(mask):
            if not ok and len(self._dropped) < MOST_NAMED:
                self._dropped.append(self._name(store, number))
        self._rows += len(mask)
        return store, mask

    def _verdicts(self, store: Any, unsafe: bool | None, progress: Progress | None) -> tuple[Any, Summary, Summary, Summary]:
        linter: Linter = self.job.linter
        messages, tools = (None if name is None else store.column(name) for name in (self.job.messages, self.job.tools))
        own = self.job.key if self.job.key in store.names else None
        array = store.table(without=own) if messages is None else messages
        return linter._verdicts(array, tools, unsafe_fixes=unsafe, drop=self._drop, progress=progress)

    def _store_rows(self, store: Any, changed: list[tuple[int, str, str]]) -> list[int]:
        """Puts fixed rows where they were; the numbers of those that fit there."""
        messages, tools = self.job.messages, self.job.tools
        assert messages is not None
        names = {"messages": messages} if tools is None else {"messages": messages, "tools": tools}
        done: dict[str, list[tuple[int, Any]]] = {name: [] for name in names.values()}
        fixed = []
        for number, text, read in changed:
            # A column that is the same as before is not in the row.
            parts = {messages: (text, read)}
            if tools is not None:
                before = members(read)
                parts = {names[key]: (one, before.get(key, "null")) for key, one in members(text).items()}
            made = self._made(store, number, parts)
            if made is None:
                self._unfit += 1
                continue
            fixed.append(number)
            for name, value in made.items():
                done[name].append((number, value))
        for name, values in done.items():
            if values:
                store.replace(name, values)
        return fixed

    def _made(self, store: Any, number: int, parts: dict[str, tuple[str, str]]) -> dict[str, Any] | None:
        """The values of a row as their columns hold them; `None` if one of them does not fit there, which is noted."""
        made = {}
        for name, (text, read) in parts.items():
            try:
                made[name] = store.made(name, number, text, read)
            except Unfit as reason:
                why = f"`{name}`: {reason}"
                if why not in self._unfit_reasons and len(self._unfit_reasons) < MOST_REASONS:
                    self._unfit_reasons.append(why)
                return None
        return made


def members(text: str) -> dict[str, str]:
    """The texts of the members of an object that is written without spaces between them."""
    found, at = {}, 1
    while text[at] == '"':
        name, at = DECODER.raw_decode(text, at)
        _, end = DECODER.raw_decode(text, at + 1)
        found[name] = text[at + 1 : end]
        at = end + 1
        if at >= len(text):
            break
    return found
