"""Frames of polars and pandas, as columns that can be read whatever is in them."""

import base64
import json
import math
import sys
from typing import Any

from ._plain import plain


def readable(array: Any) -> Any:
    """A series or a frame of polars or pandas that can be read; anything else as it is."""
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
    # Not every version has both.
    if kind in [getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name)]:
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
        return _column(pyarrow, array)[0]
    columns, fields = [], []
    for name in array.columns:
        column, is_json = _column(pyarrow, array[name])
        metadata = {"ARROW:extension:name": "arrow.json", "ARROW:extension:metadata": ""} if is_json else None
        columns.append(column)
        fields.append(pyarrow.field(str(name), column.type, metadata=metadata))
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def _column(pyarrow: Any, series: Any) -> tuple[Any, bool]:
    """A column of Arrow, and whether its texts are the JSON of what is in the series."""
    if series.dtype != object or all(value is None or isinstance(value, str | bytes | float) for value in series):
        try:
            return pyarrow.array(series, from_pandas=True), False
        except (pyarrow.ArrowException, TypeError):
            # Such as numbers among texts.
            pass
    texts = [None if _is_nothing(value) else json.dumps(bare(value), default=str) for value in series]
    return pyarrow.array(texts, pyarrow.large_string()), True


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def bare(value: Any) -> Any:
    """What JSON says of a value, without the keys that have none: Parquet and Arrow have every key in every object."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [bare(one) for one in value]
    if isinstance(value, float):
        # JSON has no other numbers.
        return value if math.isfinite(value) else None
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "tolist"):
        # An array or a number of numpy.
        return bare(value.tolist())
    made = plain(value)
    return value if made is None else bare(made)
