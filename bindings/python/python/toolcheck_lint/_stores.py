"""Tables of pyarrow, polars and pandas, whose rows are read, replaced and left out."""

import json
from collections.abc import Callable
from itertools import groupby
from typing import Any

from ._frames import SCHEMAS, check_names
from ._kept import Kept, Unfit, Written, text_of


LONGEST_REASON = 200
"""The most characters of a reason that a library gives."""


def _unfit(reason: Exception) -> Unfit:
    text = str(reason).partition("\n")[0]
    return Unfit(text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON] + "…")


ADVICE = {
    "dict": 'in Ray, name the kind of batches: `map_batches(..., batch_format="pyarrow")`',
    "list": "make a table of the rows: `pyarrow.Table.from_pylist(rows)`",
    "DuckDBPyRelation": "make a table of it: `.to_arrow_table()`",
    "LazyFrame": "collect it first: `.collect()`, or clean it part by part: see `Cleaning` in docs/datasets.md",
}
"""What else there is, for types that are no tables."""


def store_of(data: Any) -> Any:
    """What holds a table of any of these libraries."""
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        return ArrowStore(data)
    if library == "polars" and kind == "DataFrame":
        return PolarsStore(data)
    if library == "pandas" and kind == "DataFrame":
        return PandasStore(data)
    advice = ADVICE.get(kind, "see `Cleaning` in docs/datasets.md for what is lazy or on a cluster")
    raise TypeError(f"expected a data set of `datasets`, a frame of polars or pandas or a table of pyarrow, not {kind}: {advice}")


LOOKED_AT = 3
"""How many rows are looked at to see what a column has."""


def first_of(data: Any) -> Callable[[str], list[Any]]:
    """What has the first values of each column of a data set."""

    def first(name: str) -> list[Any]:
        if type(data).__module__.partition(".")[0] != "datasets":
            store = store_of(data)
            try:
                return [store.value(name, number) for number in range(min(len(data), LOOKED_AT))]
            except KeyError:
                # The name of a column of pandas may be something else than text.
                return []
        if not hasattr(data, "select"):
            # What is streamed is read once.
            return []
        # What is no text and no list, such as a picture, is not decoded.
        table = data.select_columns([name]).with_format("arrow")[:LOOKED_AT]
        return list(ArrowStore(table).column(name).to_pylist())

    return first


class ArrowStore:
    """A table or a batch of pyarrow."""

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def names(self) -> list[str]:
        return list(self._data.schema.names)

    def table(self, without: str | None = None) -> Any:
        return self._data if without is None else self._data.select([name for name in self._data.schema.names if name != without])

    def column(self, name: str) -> Any:
        return self._data.column(name)

    def value(self, name: str, number: int) -> Any:
        return self.column(name)[number].as_py()

    def read(self, table: Any) -> dict[str, list[Any]]:
        """The columns of a table of verdicts."""
        import pyarrow

        return {name: column.to_pylist() for name, column in _columns(pyarrow.table(table)) if name != "findings"}

    def made(self, name: str, number: int, text: str, read: str) -> Any:
        """A value as the column holds it, of which `text` is the JSON as it was fixed, and `read` as it was before."""
        import pyarrow

        kind = self.column(name).type
        if is_text(pyarrow, kind):
            return arrow_array([text], kind)
        try:
            old = self.value(name, number)
        except (pyarrow.ArrowException, ValueError) as reason:
            raise _unfit(reason) from reason
        value = Kept(old, json.loads(read)).put_into(json.loads(text))
        if is_text(pyarrow, getattr(kind, "value_type", None)) and isinstance(value, list):
            value = [text_of(one) for one in value]
        return arrow_array([value], kind)

    def replace(self, name: str, values: list[tuple[int, Any]]) -> None:
        import pyarrow

        place = self._data.schema.get_field_index(name)
        column = self.column(name)
        chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
        made, first, rest = [], 0, iter([*values, (len(column), None)])
        number, value = next(rest)
        # Chunk by chunk: all of them in one could be longer than an array may be.
        for chunk in chunks:
            parts, done = [], 0
            while number < first + len(chunk):
                parts += [chunk[done : number - first], value]
                done = number - first + 1
                number, value = next(rest)
            first += len(chunk)
            made.append(pyarrow.concat_arrays([*parts, chunk[done:]]) if parts else chunk)
        is_batch = isinstance(self._data, pyarrow.RecordBatch)
        column = made[0] if is_batch else pyarrow.chunked_array(made, column.type)
        self._data = self._data.set_column(place, self._data.schema.field(place), column)

    def kept(self, mask: list[bool]) -> Any:
        import pyarrow

        if all(mask):
            return self._data
        try:
            return self._data.filter(pyarrow.array(mask, pyarrow.bool_()))
        except pyarrow.ArrowNotImplementedError:
            # Views can't be filtered; parts of the table can be put together.
            parts, start = [self._data.slice(0, 0)], 0
            for ok, run in groupby(mask):
                count = len(list(run))
                parts += [self._data.slice(start, count)] if ok else []
                start += count
            if not isinstance(self._data, pyarrow.RecordBatch):
                return pyarrow.concat_tables(parts)
            columns = [pyarrow.concat_arrays([part.column(number) for part in parts]) for number in range(self._data.num_columns)]
            return pyarrow.RecordBatch.from_arrays(columns, schema=self._data.schema)


def _columns(table: Any) -> Any:
    return zip(table.column_names, table.columns, strict=True)


def is_text(pyarrow: Any, kind: Any) -> bool:
    """Whether a type of Arrow is one of texts or bytes."""
    types = pyarrow.types
    if kind is None or not isinstance(kind, pyarrow.DataType):
        return False
    if types.is_dictionary(kind):
        return is_text(pyarrow, kind.value_type)
    tests = [types.is_string, types.is_large_string, types.is_binary, types.is_large_binary]
    tests += [getattr(types, name) for name in ("is_string_view", "is_binary_view") if hasattr(types, name)]
    return any(test(kind) for test in tests)


def arrow_array(values: list[Any], kind: Any, in_schema: bool = False) -> Any:
    """An array of a type, in which JSON may be at any depth. `Unfit` if a value is none of it. An object in a schema may be
    a text in the column."""
    import pyarrow

    types = pyarrow.types
    try:
        if isinstance(kind, pyarrow.BaseExtensionType):
            if kind.extension_name != "arrow.json":
                raise Unfit(f"values of the type {kind.extension_name} are not written")
            texts = [None if value is None else text_of(value) for value in values]
            return pyarrow.ExtensionArray.from_storage(kind, pyarrow.array(texts, kind.storage_type))
        if types.is_list(kind) or types.is_large_list(kind):
            ends: list[int | None] = [0]
            elements: list[Any] = []
            for value in values:
                if not isinstance(value, list | None):
                    raise Unfit(f"there are lists in it, and {_named(value)} is none")
                elements += value or []
                ends.append(len(elements))
            # A list that is not there begins with no number.
            starts = [None if value is None else end for value, end in zip(values, ends, strict=False)]
            build = pyarrow.ListArray if types.is_list(kind) else pyarrow.LargeListArray
            offsets = pyarrow.array([*starts, ends[-1]], pyarrow.int32() if types.is_list(kind) else pyarrow.int64())
            return build.from_arrays(offsets, arrow_array(elements, kind.value_type, in_schema), type=kind)
        if types.is_struct(kind):
            fields = [kind.field(number) for number in range(kind.num_fields)]
            names = {field.name for field in fields}
            for value in values:
                if not isinstance(value, dict | None):
                    raise Unfit(f"there are structs in it, and {_named(value)} is none")
                # What has no field would be lost.
                lost = [key for key, one in (value or {}).items() if one is not None and key not in names]
                if lost:
                    raise Unfit(f"there is no field `{lost[0]}` in its structs")
            members = [
                arrow_array([None if value is None else value.get(field.name) for value in values], field.type, in_schema or field.name in SCHEMAS)
                for field in fields
            ]
            nothing = pyarrow.array([value is None for value in values], pyarrow.bool_())
            return pyarrow.StructArray.from_arrays(members, fields=fields, mask=nothing)
        if in_schema and is_text(pyarrow, kind):
            values = [text_of(value) if isinstance(value, dict) else value for value in values]
        return pyarrow.array(values, kind)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as reason:
        raise _unfit(reason) from reason


def _named(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:40] + "…"


class PolarsStore:
    """A frame of polars."""

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def names(self) -> list[str]:
        return list(self._data.columns)

    def table(self, without: str | None = None) -> Any:
        return self._data if without is None else self._data.drop(without)

    def column(self, name: str) -> Any:
        return self._data.get_column(name)

    def value(self, name: str, number: int) -> Any:
        return self.column(name)[number]

    def read(self, table: Any) -> dict[str, list[Any]]:
        import polars

        frame = polars.DataFrame(table)
        return {name: frame.get_column(name).to_list() for name in frame.columns if name != "findings"}

    def made(self, name: str, number: int, text: str, read: str) -> Any:
        import polars

        column = self.column(name)
        kind = column.dtype
        texts = (polars.String, polars.Binary, polars.Categorical, polars.Enum)
        value: Any
        if isinstance(kind, texts):
            value = text.encode() if kind == polars.Binary else text
        else:
            value = Kept(column.slice(number, 1).to_list()[0], json.loads(read)).put_into(json.loads(text))
            if isinstance(kind, polars.List) and isinstance(kind.inner, texts):
                value = [text_of(one) for one in value]
            value = _in_polars(polars, value, kind)
        stored = _storage(polars, kind)
        try:
            made = polars.Series(name, [value], dtype=stored)
            # It can't be made of an extension type at once.
            made = made if stored == kind else made.cast(kind)
        except (polars.exceptions.PolarsError, TypeError, ValueError, OverflowError) as reason:
            raise _unfit(reason) from reason
        # What has no field in a struct is lost without an error.
        now, wanted = _there(made.to_list()[0]), _there(value)
        if now != wanted:
            raise Unfit(_lost(now, wanted) or "it would be another value there")
        return made

    def replace(self, name: str, values: list[tuple[int, Any]]) -> None:
        import polars

        column = self.column(name)
        order = list(range(len(column)))
        for place, (number, _) in enumerate(values):
            order[number] = len(column) + place
        whole = polars.concat([column, *(value for _, value in values)], rechunk=True)
        self._data = self._data.with_columns(whole.gather(order).alias(name))

    def kept(self, mask: list[bool]) -> Any:
        import polars

        return self._data if all(mask) else self._data.filter(polars.Series(mask, dtype=polars.Boolean))


def _there(value: Any) -> Any:
    """A value without what is `None`, which every struct has, and with a NaN that is equal to itself."""
    if isinstance(value, dict):
        return {name: _there(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_there(one) for one in value]
    return "nan" if value != value else value


def _lost(now: Any, wanted: Any) -> str | None:
    """The field that a value lacks; `None` if it differs in another way."""
    if isinstance(now, dict) and isinstance(wanted, dict):
        for key, one in wanted.items():
            if key not in now:
                return f"there is no field `{key}` in its structs"
            if why := _lost(now[key], one):
                return why
    if isinstance(now, list) and isinstance(wanted, list):
        return next(filter(None, map(_lost, now, wanted)), None)
    return None


def _storage(polars: Any, kind: Any) -> Any:
    """A type of polars with the types in which those of extensions are stored."""
    if hasattr(kind, "ext_storage"):
        return kind.ext_storage()
    if isinstance(kind, polars.List):
        return polars.List(_storage(polars, kind.inner))
    if isinstance(kind, polars.Struct):
        return polars.Struct({field.name: _storage(polars, field.dtype) for field in kind.fields})
    return kind


def _in_polars(polars: Any, value: Any, kind: Any, in_schema: bool = False) -> Any:
    """A value with texts where the column has JSON as text."""
    if hasattr(kind, "ext_storage"):
        if kind.ext_name() != "arrow.json":
            raise Unfit(f"values of the type {kind.ext_name()} are not written")
        return None if value is None else text_of(value)
    if isinstance(kind, polars.List) and isinstance(value, list):
        return [_in_polars(polars, one, kind.inner, in_schema) for one in value]
    if isinstance(kind, polars.Struct) and isinstance(value, dict):
        kinds = {field.name: field.dtype for field in kind.fields}
        return {name: _in_polars(polars, one, kinds.get(name), in_schema or name in SCHEMAS) for name, one in value.items()}
    if isinstance(value, Written) or in_schema and kind == polars.String and isinstance(value, dict):
        return text_of(value)
    return value


class PandasStore:
    """A frame of pandas."""

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self._data.columns]

    def table(self, without: str | None = None) -> Any:
        return self._data if without is None else self._data.drop(columns=without)

    def column(self, name: str) -> Any:
        check_names(self._data.columns, name)
        return self._data[name]

    def value(self, name: str, number: int) -> Any:
        value = self.column(name).iloc[number]
        # A list of a Parquet file is an array, which has no single item.
        return value.item() if getattr(value, "ndim", None) == 0 else value

    def read(self, table: Any) -> dict[str, list[Any]]:
        return ArrowStore(None).read(table)

    def made(self, name: str, number: int, text: str, read: str) -> Any:
        column = self.column(name)
        if hasattr(column.dtype, "pyarrow_dtype"):
            return self._arrow(name).made(name, number, text, read)
        old = column.iloc[number]
        # Texts are all that another type can have.
        if column.dtype != object or isinstance(old, str):
            return text
        if isinstance(old, bytes):
            return text.encode()
        value = Kept(old, json.loads(read), is_object=True).put_into(json.loads(text))
        is_of_texts = isinstance(value, list) and len(old) > 0 and isinstance(old[0], str)
        return [one if isinstance(one, str) else text_of(one) for one in value] if is_of_texts else value

    def replace(self, name: str, values: list[tuple[int, Any]]) -> None:
        import pandas

        column = self.column(name)
        if hasattr(column.dtype, "pyarrow_dtype"):
            store = self._arrow(name)
            store.replace(name, values)
            made = pandas.Series(pandas.arrays.ArrowExtensionArray(store.column(name)), index=column.index)
        else:
            listed = list(column)
            for number, value in values:
                listed[number] = value
            made = pandas.Series(listed, index=column.index, dtype=column.dtype)
        self._data = self._data.assign(**{name: made})

    def _arrow(self, name: str) -> ArrowStore:
        import pyarrow

        array = pyarrow.array(self.column(name))
        return ArrowStore(pyarrow.table({name: array}))

    def kept(self, mask: list[bool]) -> Any:
        import numpy

        # An array without rows has no type of its own.
        return self._data if all(mask) else self._data[numpy.array(mask, dtype=bool)]
