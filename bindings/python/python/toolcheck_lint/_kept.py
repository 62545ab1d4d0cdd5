"""Rows that are fixed, with what the fix did not touch as it was: JSON has no bytes and no dates, and no number that is not finite."""

import json
from numbers import Number
from typing import Any


class Unfit(Exception):
    """A value is none of its column; the text says why."""


class Written(str):
    """A text as the column has it, which is the JSON of what it says."""


def text_of(value: Any) -> str:
    """A value as JSON, or the text that has it already."""
    return str(value) if isinstance(value, Written) else json.dumps(value, ensure_ascii=False)


class Kept:
    """A value of a column as it was, and what was read of it as JSON."""

    def __init__(self, old: Any, read: Any, *, is_object: bool = False) -> None:
        self._old = old
        self._read = read
        self._is_object = is_object
        """Whether values are objects of Python, which any others can take the place of."""
        self._known: dict[tuple[str | None, str], dict[tuple[type, str], Any]] = {}
        """The old values by their keys and what was read of them; few rows need them."""

    def put_into(self, value: Any) -> Any:
        """What was fixed, with the old values in it. `Unfit` if one of them has no certain place."""
        return self._put("", self._old, self._read, value)

    def _note(self, key: str, old: Any, read: Any) -> None:
        parts = _parts(old, read)
        if parts is None:
            # A text that stands for something else is known under any other key too.
            for name in (key, None) if isinstance(read, str) and not isinstance(old, str) else (key,):
                self._known.setdefault((name, text_of(read)), {})[(type(old), repr(old))] = old
        elif isinstance(read, dict):
            for name, one in read.items():
                self._note(name, parts.get(name), one)
        else:
            for one, said in zip(parts, read, strict=False):
                self._note(key, one, said)

    def _put(self, key: str, old: Any, read: Any, value: Any, is_sure: bool = True) -> Any:
        """A value with what is left of the old one that it was; if that is not sure, what is left has to be without doubt."""
        if text_of(read) == text_of(value):
            if not is_sure:
                self._new(key, value)
            return old if self._is_object else _whole(old, read)
        parts = _parts(old, read)
        if isinstance(parts, dict) and isinstance(value, dict):
            lost = [name for name, one in read.items() if one is None and name not in value and parts[name] is not None]
            if lost and any(one is None for name, one in value.items() if name not in read):
                raise Unfit(f"`{lost[0]}` has {parts[lost[0]]!r}, which JSON has not, and the fix renames it")
            made = {name: self._put(name, parts.get(name), read[name], one, is_sure) if name in read else self._new(name, one) for name, one in value.items()}
            # What says nothing, such as `"content": None`, is not read. All is in the order that it had.
            kept = {name: made[name] if name in made else _whole(one, None) for name, one in parts.items() if name in made or name not in read}
            made = {**kept, **made}
            return list(made.items()) if isinstance(old, list) else made
        if isinstance(parts, list) and isinstance(value, list):
            return self._listed(key, parts, read, value, is_sure)
        if isinstance(old, str) and isinstance(read, dict | list):
            return text_of(value) if self._is_object else value
        if isinstance(read, dict | list):
            kind = type(old).__name__
            raise Unfit(f"a {kind} in `{key}` would be {'an object' if isinstance(value, dict) else 'a list'}" if key else f"a {kind} would be another value")
        return self._new(key, value)

    def _listed(self, key: str, parts: list[Any], read: list[Any], value: list[Any], is_sure: bool) -> list[Any]:
        """The elements of a list, which may stand at other places now."""
        texts = list(map(text_of, read))
        same = {text: place for place, text in reversed(list(enumerate(texts)))}
        stays = {text_of(one) for one in value}
        rest = [place for place, text in enumerate(texts) if text not in stays]
        made = []
        for place, one in enumerate(value):
            at = same.get(text_of(one))
            if at is not None:
                stays_there = len(value) == len(read) and texts[place] == texts[at]
                at = place if stays_there else at
                made.append(self._put(key, parts[at], read[at], one, is_sure and (stays_there or texts.count(texts[at]) == 1)))
                continue
            is_same_place = len(value) == len(read) and place in rest
            at = place if is_same_place else next((at for at in rest if _role(read[at]) == _role(one)), None)
            if at is None:
                made.append(self._new(key, one))
                continue
            rest.remove(at)
            made.append(self._put(key, parts[at], read[at], one, is_sure and is_same_place and _role(read[at]) == _role(one)))
        return made

    def _new(self, key: str, value: Any) -> Any:
        """A value that nobody knows the place of: one that reads the same under the same key, if there is only one."""
        if not self._known:
            self._note("", self._old, self._read)
        text = text_of(value)
        there = self._known.get((key, text)) or self._known.get((None, text), {})
        olds = list(there.values())
        is_the_same = all(isinstance(old, str) for old in olds) or all(isinstance(old, Number) and old == value for old in olds)
        if len(olds) > 1 and not is_the_same:
            raise Unfit(f"`{key}` has values that are the same in JSON ({', '.join(sorted(repr(old)[:40] for old in olds)[:3])}), and the fix moves one")
        if olds:
            return olds[0] if self._is_object else _whole(olds[0], value)
        if isinstance(value, dict):
            return {name: self._new(name, one) for name, one in value.items()}
        return [self._new(key, one) for one in value] if isinstance(value, list) else value


def _role(value: Any) -> Any:
    return value.get("role", value.get("from")) if isinstance(value, dict) else None


def _parts(old: Any, read: Any) -> Any:
    """The members or elements of an old value, as they were read; `None` if it has none, or is another thing than its JSON."""
    if isinstance(read, list):
        old = old.tolist() if hasattr(old, "tolist") else old
        return list(old) if isinstance(old, list | tuple) and len(old) == len(read) else None
    if isinstance(read, dict):
        if isinstance(old, list) and all(isinstance(one, tuple) and len(one) == 2 for one in old):
            # A map of Arrow.
            members = dict(old)
            return members if len(members) == len(old) else None
        return old if isinstance(old, dict) and all(isinstance(name, str) for name in old) else None
    return None


def _whole(old: Any, read: Any) -> Any:
    """A value as it was, with a mark at texts that are the JSON of what they say."""
    parts = _parts(old, read)
    if isinstance(parts, dict):
        made = {name: _whole(one, read.get(name)) for name, one in parts.items()}
        return list(made.items()) if isinstance(old, list) else made
    if isinstance(parts, list):
        return [_whole(one, said) for one, said in zip(parts, read, strict=True)]
    return Written(old) if isinstance(old, str) and old != read else old


