"""Objects of SDKs, dataclasses and other mappings as plain data."""

import dataclasses
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """What would be sent of an object; `None` if nobody knows.

    Of an object of an SDK that is what was set: the rest is not sent, and would be a `null` for each optional field.
    """
    if isinstance(value, type):
        return None
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", by_alias=True, exclude_unset=True)
    if dataclasses.is_dataclass(value):
        # Only its own fields: what is in them is written by itself.
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return None
