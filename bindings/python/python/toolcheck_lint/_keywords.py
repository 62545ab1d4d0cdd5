"""Keyword arguments that a function does not have."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def check_keywords(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """A `TypeError` that says which of the known ones may be meant by another."""
    names = list(known)
    for one in given:
        if one not in names:
            close = get_close_matches(one, names, 1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise TypeError(f"{name}() got an unexpected keyword argument `{one}`{hint}")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with that error. Type checkers see its own parameters."""
    known = [one.name for one in signature(function).parameters.values() if one.kind is not one.POSITIONAL_ONLY]
    name = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        check_keywords(name, kwargs, known)
        return function(*args, **kwargs)

    return call
