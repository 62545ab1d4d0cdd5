"""Columns of polars, without the types that it hands over in a way that others can't read."""

import sys
from typing import Any


def readable(array: Any) -> Any:
    """A series or a frame of polars that can be read; anything else as it is."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(array, polars.DataFrame | polars.Series):
        return array
    if isinstance(array, polars.Series):
        kind = _readable(polars, array.dtype)
        return array if kind == array.dtype else array.cast(kind)
    casts = {name: kind for name, old in array.schema.items() if (kind := _readable(polars, old)) != old}
    return array.cast(casts) if casts else array


def _readable(polars: Any, kind: Any) -> Any:
    if kind == polars.Null:
        # Its arrays have a buffer, which those of Arrow have not.
        return polars.Boolean
    if kind in (polars.Int128, polars.UInt128):
        return polars.String
    if isinstance(kind, polars.List):
        return polars.List(_readable(polars, kind.inner))
    if isinstance(kind, polars.Array):
        return polars.Array(_readable(polars, kind.inner), kind.size)
    if isinstance(kind, polars.Struct):
        return polars.Struct({field.name: _readable(polars, field.dtype) for field in kind.fields})
    return kind
