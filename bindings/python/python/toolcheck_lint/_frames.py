"""Frames of polars and pandas, as columns that can be read whatever is in them."""

import base64
import decimal
import json
import math
import os
import sys
from typing import Any

from ._plain import plain

# What `src/arrow/encoding.rs` has of columns of Arrow.
LISTS = ("messages", "contents", "tools", "functions")
AROUND = ("function", "functionDeclarations", "function_declarations", "toolSpec")
SCHEMAS = ("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema")
WORDS = ("$comment", "const", "default", "description", "enum", "example", "examples", "title")
ARGUMENTS = ("arguments", "args", "input")


def readable(array: Any) -> Any:
    """A series or a frame of polars or pandas that can be read; anything else as it is."""
    if type(array).__module__.partition(".")[0] == "datasets" and hasattr(array, "with_format"):
        raise TypeError(f"a {type(array).__name__} of `datasets` is linted by `toolcheck_lint.hf.lint_dataset`")
    for name, read in (("polars", _of_polars), ("pandas", _of_pandas)):
        library = sys.modules.get(name)
        if library is not None and isinstance(array, (library.DataFrame, library.Series)):
            return read(library, array)
    return array


def _of_polars(polars: Any, array: Any) -> Any:
    """Without the types that polars hands over in a way that others can't read."""
    if isinstance(array, polars.Series):
        kind = _readable(polars, array.dtype)
        return array if kind == array.dtype else array.cast(kind)
    casts = {name: kind for name, old in array.schema.items() if (kind := _readable(polars, old)) != old}
    return array.cast(casts) if casts else array


def _readable(polars: Any, kind: Any) -> Any:
    if kind == polars.Null:
        # Its arrays have a buffer, which those of Arrow have not.
        return polars.Boolean
    version = tuple(map(int, polars.__version__.split(".")[:2]))
    # Not every version has both.
    if kind in [getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name)]:
        # Older ones make no text of them; what is read of both types is the same.
        return polars.String if version >= (1, 24) else polars.Decimal(38, 0)
    # Older ones say that these are dictionaries and hand over their numbers, or, inside of a list, end the process.
    if version < (1, 35) and kind in (polars.Categorical, polars.Enum):
        return polars.String
    if isinstance(kind, polars.List):
        return polars.List(_readable(polars, kind.inner))
    if isinstance(kind, polars.Array):
        return polars.Array(_readable(polars, kind.inner), kind.size)
    if isinstance(kind, polars.Struct):
        return polars.Struct({field.name: _readable(polars, field.dtype) for field in kind.fields})
    return kind


def _of_pandas(pandas: Any, array: Any) -> Any:
    """With lists and dictionaries as JSON: Arrow has no type for a key whose values are texts here and lists there."""
    import pyarrow

    if isinstance(array, pandas.Series):
        return _column(pyarrow, array, True)[0]
    columns, fields = [], []
    for name in array.columns:
        check_names(array.columns, name)
        column, is_json = _column(pyarrow, array[name], name in LISTS)
        metadata = {"ARROW:extension:name": "arrow.json", "ARROW:extension:metadata": ""} if is_json else None
        columns.append(column)
        fields.append(pyarrow.field(str(name), column.type, metadata=metadata))
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def check_names(columns: Any, name: Any) -> None:
    """A `ValueError` if several columns of pandas have a name."""
    if list(columns).count(name) > 1:
        raise ValueError(f"there are several columns `{name}`")


def _column(pyarrow: Any, series: Any, has_lists: bool) -> tuple[Any, bool]:
    """A column of Arrow, and whether its texts are the JSON of what is in the series. It may have lists of messages or tools."""
    if series.dtype != object or all(value is None or isinstance(value, str | bytes | float) for value in series):
        try:
            return pyarrow.array(series, from_pandas=True), False
        except (pyarrow.ArrowException, TypeError):
            # Such as numbers among texts.
            pass
    texts = [None if _is_nothing(value) else _as_json(value, has_lists) for value in series]
    return pyarrow.array(texts, pyarrow.large_string()), True


def _as_json(value: Any, has_lists: bool) -> str:
    if has_lists and isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        # Beside lists, there are texts of lists.
        return value
    value = bare(value)
    # Any object may stand beside a conversation, but not in it.
    return json.dumps(_said(value), default=_shown) if has_lists else json.dumps(value, default=str)


def _shown(value: Any) -> str:
    """Dates and durations as text, as in columns of Arrow."""
    if type(value).__module__.partition(".")[0] in ("datetime", "pandas", "uuid") or isinstance(value, os.PathLike):
        return str(value)
    raise TypeError(f"cannot read a {type(value).__name__} of Python as JSON in a conversation")


def _said(value: Any) -> Any:
    """Messages or tools that are texts, or have schemas that are, as what these say."""
    if isinstance(value, dict):
        # A body.
        return {name: _said(one) if name in LISTS and isinstance(one, list) else one for name, one in value.items()}
    return [_tool(one) for one in value] if isinstance(value, list) else value


def _tool(value: Any) -> Any:
    if isinstance(value, list):
        return [_tool(one) for one in value]
    value = _object(value)
    if not isinstance(value, dict):
        return value
    return {name: _tool(one) if name in AROUND else _schema(one) if name in SCHEMAS else one for name, one in value.items()}


def _schema(value: Any) -> Any:
    value = _object(value)
    if isinstance(value, list):
        return [_schema(one) for one in value]
    if isinstance(value, dict):
        return {name: one if name in WORDS else _schema(one) for name, one in value.items()}
    return value


def _object(value: Any) -> Any:
    """The object whose JSON a text is; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def bare(value: Any, keeps_none: bool = False) -> Any:
    """What JSON says of a value, without the keys that have none: Parquet and Arrow have every key in every object.

    Of the arguments of a call, only the schema of its tool knows whether a key was there.
    """
    if isinstance(value, dict):
        there = ((key, one) for key, one in value.items() if keeps_none or one is not None)
        return {key: bare(one, keeps_none or key in ARGUMENTS) for key, one in there}
    if isinstance(value, list | tuple):
        return [bare(one, keeps_none) for one in value]
    if isinstance(value, float | decimal.Decimal):
        # JSON has no other numbers.
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "tolist"):
        # An array or a number of numpy.
        return bare(value.tolist(), keeps_none)
    made = plain(value)
    return value if made is None else bare(made, keeps_none)
