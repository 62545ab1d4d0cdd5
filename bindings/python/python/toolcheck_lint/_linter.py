"""What lints bodies and columns."""

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, Protocol, TypedDict, final

from . import _native
from ._errors import texts_of
from ._frames import readable
from ._keywords import checked
from ._report import Report, ShowOutput, as_part
from ._summary import Summary
from ._template import Template, files_of


class Model(Protocol):
    """An object of an SDK: a model of pydantic."""

    def model_dump(self, *args: Any, **kwargs: Any) -> Any: ...


Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | Sequence[Any] | Model
Kind = Literal["request", "session", "dataset"]
Config = str | os.PathLike[str]


class RowSettings(TypedDict, total=False):
    """The settings of `Linter` for rows, whose tools are a column."""

    target: str | os.PathLike[str] | None
    format: str | None
    kind: Kind | None
    config: Config | None
    conversation: str | None
    at: str | None
    template: Template | None
    select: Iterable[str]
    extend_select: Iterable[str]
    ignore: Iterable[str]
    name: str


class Settings(RowSettings, total=False):
    """The settings of `Linter`, to be kept and given as `**settings`."""

    tools: Any


class ArrowStream(Protocol):
    """What hands out columns or tables of Arrow: of pyarrow, polars, duckdb, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """What hands out one array of Arrow."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Arrow = ArrowStream | ArrowArray


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A body that was fixed, or as it was."""

    body: bytes
    """The text."""
    plan: dict[str, Any]
    """What was done and what was not, as an element of `files` in `schemas/fix-plan.v1.schema.json`."""
    report: Report
    """The findings that are left."""

    @property
    def text(self) -> str:
        """The text as a string, in which bytes that are not UTF-8 are replaced."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_changed(self) -> bool:
        """Whether anything was fixed."""
        return bool(self.plan["applied"])

    def json(self) -> Any:
        """The body as an object."""
        return json.loads(self.body.decode("utf-8", "surrogatepass"))


class Linter:
    """Lints bodies. Its settings are read once: keep it, and share it between threads; it can be pickled.

    - `target`: the API to check against, by its name in `toolcheck targets`, or a path of a TOML file of your own; by
      default that of the format.
    - `format`: what bodies are read as; by default it is detected.
    - `kind`: `session` and `dataset` may end with calls that nobody has answered; by default, bodies are requests, the rows of
      a data set too.
    - `tools`: the definitions of bodies that have none, as a body, or a path of a file of them (`pathlib.Path`).
    - `template`: the chat template of the model, which the rules about templates run on each request: a path of a
      `tokenizer_config.json`, a Jinja file, a GGUF file or a model's folder (`pathlib.Path`), the text of a template, or a
      tokenizer of transformers.
    - `config`: a `toolcheck.toml`, as text or as a path (`pathlib.Path`). None is searched for.
    - `conversation`, `at`: what of a body is read, as with `toolcheck lint`.
    - `select`, `extend_select`, `ignore`: the rules.
    - `name`: the name of bodies in reports.
    """

    __slots__ = ("_names", "_native", "_settings")
    _native: "_native.Linter"
    _settings: dict[str, Any]
    _names: tuple[str, str] | None

    @checked
    def __init__(
        self,
        *,
        target: str | os.PathLike[str] | None = None,
        format: str | None = None,
        kind: Kind | None = None,
        tools: Any = None,
        template: Template | None = None,
        config: Config | None = None,
        conversation: str | None = None,
        at: str | None = None,
        select: Iterable[str] = (),
        extend_select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        name: str = "body.json",
    ) -> None:
        for argument, value in {"format": format, "kind": kind, "conversation": conversation, "at": at}.items():
            if value is not None:
                _check(argument, value, str, "a text (str)")
        _check("name", name, str, "a text (str)")
        if conversation is not None and conversation != "next" and get_close_matches(conversation.lower(), ["next"], 1, 0.8):
            text = f"conversation={conversation!r} is the title of a conversation; did you mean 'next'?"
            warnings.warn(text, UserWarning, stacklevel=3)
        if target is not None:
            _check("target", target, str | os.PathLike, "a name (str) or a path")
        if config is not None:
            _check("config", config, str | os.PathLike, "the text of a configuration (str) or a path")
        for argument, file, end in (("target", target, ".toml"), ("config", config, ".toml"), ("tools", tools, ".json")):
            if isinstance(file, str) and end in file and not any(mark in file for mark in "\n=[{"):
                raise ValueError(f"{argument}: to read the file {file}, pass a path: `pathlib.Path(...)`")
        self._settings = {
            "target": None if isinstance(target, os.PathLike) else target,
            "own_target": _text(target) if isinstance(target, os.PathLike) else None,
            "format": format,
            "kind": kind,
            "tools": None if tools is None else bytes(_native.text_of(_read(tools), "tools")),
            "template": None if template is None else files_of(template),
            "config": _text(config) if isinstance(config, os.PathLike) else config,
            "conversation": conversation,
            "at": at,
            "select": _ids("select", select),
            "extend_select": _ids("extend_select", extend_select),
            "ignore": _ids("ignore", ignore),
            "name": name,
        }
        self._native = _native.Linter(**self._settings)
        self._names = None

    def _naming(self, messages: str | None, tools: str | None) -> "Linter":
        """The same linter for rows that are made of two columns with these names, which pointers begin with then."""
        return _linter_of(self._settings, (messages, tools), self._native) if messages and tools else self

    @checked
    def lint(self, body: Body) -> Report:
        """The report of a body: text, bytes, or what JSON can say, in which objects of SDKs are taken as they are sent."""
        if self._settings["kind"] == "dataset" and isinstance(body, Mapping) and _is_request(body):
            text = "this looks like a request and is linted as a row of a data set; leave out kind='dataset' for requests"
            warnings.warn(text, UserWarning, stacklevel=3)
        return Report(self._native.lint(body), self)

    @checked
    def fix(
        self, body: Body, *, unsafe_fixes: bool = False, only: Iterable[str] = (), place: str | None = None
    ) -> Fixed:
        """Fixes a body as `toolcheck fix` does; with `unsafe_fixes`, also where something is lost or guessed.

        With `only`, findings of these rules alone are fixed, even if the API accepts them; with `place`, what is found there:
        `LINE`, `LINE:COLUMN` or a JSON Pointer.
        """
        text, plan, linted = self._native.fix(body, unsafe_fixes, list(_ids("only", only)), place)
        return Fixed(body=text, plan=json.loads(plan), report=Report(linted, self))

    @checked
    def column(
        self,
        array: Arrow,
        *,
        tools: Arrow | None = None,
        key: str | Arrow | None = None,
        samples: int = 5,
        progress: Callable[[int], object] | None = None,
    ) -> Summary:
        """Counts what is found in the rows of a column, each of which is linted by itself.

        A column of text has a body in each row; in one of lists or structs, or in a table, each row is written as JSON
        without what is null. With `tools`, a row is an object of `messages` and `tools`. `key` names rows in examples: a
        path in each row with dots between names, or a column, which is then no part of the row; by default it is the number
        of the row. `progress` is called with the number of rows so far.
        """
        if isinstance(samples, int) and samples < 0:
            raise ValueError(f"samples: expected 0 or more, not {samples}")
        check_progress(progress)
        self._note_kind(array)
        array, tools, key = map(readable, (array, tools, key))
        counted = self._native.column(
            array, tools=tools, key=key, samples=samples, progress=progress, names=self._names
        )
        return Summary._of(counted)

    @checked
    def rows(self, array: Arrow, *, tools: Arrow | None = None, key: str | Arrow | None = None) -> ArrowStream:
        """The findings in the rows of a column as a table, to join and to filter: `row`, `rule`, `level`, `pointer`,
        `tool_call_id` and `message`. `row` is the key, with the type of its column, or the number of the row.

        It is a stream that can be read once, with `pyarrow.table(...)`, `polars.DataFrame(...)` or another library. Rows
        are linted while it is read.
        """
        self._note_kind(array)
        array, tools, key = map(readable, (array, tools, key))
        return self._native.rows(array, tools=tools, key=key, names=self._names)

    @checked
    def verdicts(
        self, array: Arrow, *, tools: Arrow | None = None, progress: Callable[[int], object] | None = None
    ) -> ArrowStream:
        """What is said of each row of a column, as a table with a row for each, in their order.

        `ok` is whether the row was read and has no error, `errors` and `warnings` count, and `findings` is a list of structs
        of `rule`, `level`, `pointer`, `tool_call_id` and `message`. It can be read once.
        """
        self._note_kind(array)
        return self._verdicts(array, tools, progress=progress)[0]

    def _note_kind(self, rows: object) -> None:
        """A warning if rows are read as requests because nobody has said what they are, and have no model as requests do."""
        if self._settings["kind"] is not None or self._settings["target"] is not None:
            return
        columns = getattr(rows, "column_names", None) or getattr(rows, "columns", None)
        names = {name for name in columns if isinstance(name, str)} if isinstance(columns, Iterable) else set()
        if names & {"messages", "conversations"} and "model" not in names:
            text = "rows are linted as requests; use Linter(kind='dataset') for a data set, or kind='request' for requests"
            warnings.warn(text, UserWarning, stacklevel=4)

    def _verdicts(
        self,
        array: Any,
        tools: Any,
        *,
        unsafe_fixes: bool | None = None,
        drop: str | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[ArrowStream, Summary, Summary, Summary]:
        """The same with a summary of all rows, one of those that are kept if those of a level are dropped, and one of those
        that are dropped. If `unsafe_fixes` is given, the table has the texts of rows that are fixed as `fixed`."""
        check_progress(progress)
        array, tools = readable(array), readable(tools)
        table, *counted = self._native.verdicts(
            array, tools=tools, unsafe_fixes=unsafe_fixes, drop=drop, progress=progress, names=self._names
        )
        every, kept, dropped = map(Summary._of, counted)
        return table, every, kept, dropped

    def __repr__(self) -> str:
        settings = {name: value for name, value in self._settings.items() if value not in (None, ())}
        return f"Linter({', '.join(f'{name}={value!r}' for name, value in settings.items() if len(repr(value)) < 100)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _linter_of, (self._settings, self._names)


OF_REQUESTS = ("max_tokens", "max_completion_tokens", "stream", "temperature", "tool_choice")
"""Settings that only requests have beside their model."""


def _is_request(body: Mapping[str, Any]) -> bool:
    return "model" in body and any(key in body for key in OF_REQUESTS)


def check_progress(progress: object) -> None:
    """A `TypeError` if it is nothing that can be called."""
    if progress is not None and not callable(progress):
        expected = "a function, which is called with the number of rows so far"
        raise TypeError(f"progress: expected {expected}, not {type(progress).__name__}")


def _linter_of(
    settings: dict[str, Any], names: tuple[str, str] | None = None, native: "_native.Linter | None" = None
) -> Linter:
    linter = Linter.__new__(Linter)
    linter._settings = settings
    linter._names = names
    linter._native = native or _native.Linter(**settings)
    return linter


@lru_cache(maxsize=1)
def default() -> Linter:
    """The linter without any setting."""
    return Linter()


def linter_for(settings: dict[str, Any]) -> Linter:
    return Linter(**settings) if settings else default()


@checked
def lint(
    body: Body,
    *,
    target: str | os.PathLike[str] | None = None,
    format: str | None = None,
    kind: Kind | None = None,
    tools: Any = None,
    template: Template | None = None,
    config: Config | None = None,
    conversation: str | None = None,
    at: str | None = None,
    select: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    name: str = "body.json",
) -> Report:
    """The report of a body. The settings are those of `Linter`, which is quicker for many bodies."""
    return _linter(locals()).lint(body)


@checked
def lint_file(
    path: str | os.PathLike[str],
    *,
    target: str | os.PathLike[str] | None = None,
    format: str | None = None,
    kind: Kind | None = None,
    tools: Any = None,
    template: Template | None = None,
    config: Config | None = None,
    conversation: str | None = None,
    at: str | None = None,
    select: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> Report:
    """The report of a file, as it is: it is read as a whole, and not decompressed."""
    settings = locals()
    settings["name"] = os.fsdecode(settings.pop("path"))
    with open(path, "rb") as file:
        return _linter(settings).lint(file.read())


@checked
def fix(
    body: Body,
    *,
    unsafe_fixes: bool = False,
    only: Iterable[str] = (),
    place: str | None = None,
    target: str | os.PathLike[str] | None = None,
    format: str | None = None,
    kind: Kind | None = None,
    template: Template | None = None,
    config: Config | None = None,
) -> Fixed:
    """Fixes a body, as `Linter.fix` does. The settings are those of `Linter`."""
    settings = locals()
    how = {name: settings.pop(name) for name in ("unsafe_fixes", "only", "place")}
    return _linter(settings).fix(body, **how)


@checked
def show(
    body: Body,
    output: ShowOutput = "text",
    *,
    target: str | os.PathLike[str] | None = None,
    format: str | None = None,
    kind: Kind | None = None,
    all: bool = False,
    text: bool = False,
    color: bool = False,
    width: int = 100,
) -> "Picture":
    """The picture of a body, as an output of `toolcheck show` draws it; a notebook shows it as a page."""
    report = _linter({"target": target, "format": format, "kind": kind}).lint(body)
    drawn = report.show(output, all=all, text=text, color=color, width=width)
    return Picture(drawn, report.show("html", all=all, text=text))


@final
class Picture(str):
    """A picture as text, which a notebook shows as a page."""

    _html: str

    def __new__(cls, text: str, html: str) -> "Picture":
        picture = super().__new__(cls, text)
        picture._html = html
        return picture

    def _repr_html_(self) -> str:
        return as_part(self._html)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What an error of an API or a framework means."""

    is_explained: bool
    """Whether it is known what the error is about, and its cause is found if there is a body that may have it."""
    data: dict[str, Any]
    """The `matches`, the `class` of an error that no rule finds, the `places` that it names, and the `findings` of the body
    that cause it, as `toolcheck explain --error` writes them as JSON."""
    text: str
    """The explanation for people."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the error can be about, the most likely first."""
        return tuple(dict.fromkeys(match["rule"] for match in self.data["matches"]))

    @property
    def cause(self) -> Literal["found", "probable", "usually-accepted"] | None:
        """How sure it is that the `findings` cause the error; `None` if nothing was found that does, or there is no body.

        `found`: they have what the error is about; `probable`: they are at the place that the error names, are what it
        names, or are refused with it for some models;
        `usually-accepted`: they have what the error is about, but it is not known that the API refuses it.
        """
        return self.data.get("cause")

    def __str__(self) -> str:
        return self.text


@checked
def explain_error(
    text: str | bytes | Mapping[str, Any] | BaseException,
    body: Body | None = None,
    *,
    target: str | os.PathLike[str] | None = None,
    width: int = 100,
) -> Explained:
    """What an error of an API or a framework means and, if there is the body of the request, what in it is the cause.

    The error is its text, the body of the response, or the exception that an SDK or an HTTP library has raised. `target` is
    the API that returned it, as for `Linter`; by default the one that it is known of.
    """
    texts = texts_of(text)
    explain = _linter({"target": target, "name": "request"})._native.explain_error
    # Of what an exception says, that which is known.
    known = (one for one in texts if json.loads(explain(one, None, width)[1])["matches"])
    is_explained, data, people = explain(texts[0] if len(texts) == 1 else next(known, texts[0]), body, width)
    return Explained(is_explained=is_explained, data=json.loads(data), text=people)


@checked
def models(model: str | None = None) -> dict[str, Any]:
    """What APIs refuse or accept of requests to this model that they do not of others, each fact with its evidence.

    It is what `toolcheck models MODEL --output-format json` prints; without a model, that of all.
    """
    if model is not None:
        _check("model", model, str, "a name (str)")
    found: dict[str, Any] = json.loads(_native.models(model))
    return found


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that a change to a conversation lost or altered."""

    kind: str
    """What happened, by a name of `docs/diff.md`."""
    level: Literal["loss", "change", "form"]
    """How bad it is."""
    about: str
    """What it is about. It never quotes an argument, a result or a text."""
    count: int
    """How many there are like it."""
    before: str | None
    """The JSON Pointer in the body before the change."""
    after: str | None
    """The JSON Pointer in the body after it."""


@final
class Diff(Sequence[Change]):
    """What changed between two bodies. It is true if anything did."""

    __slots__ = ("_bodies", "_changes", "_formats", "data")
    data: dict[str, Any]
    """The comparison, as `schemas/diff.v1.schema.json` describes it."""

    def __init__(self, before: Any, after: Any, before_format: str | None, after_format: str | None) -> None:
        self._bodies = (before, after)
        self._formats = (before_format, after_format)
        self.data = json.loads(self.render("json"))
        self._changes = [
            Change(
                kind=one["kind"],
                level=one["level"],
                about=one["about"],
                count=one["count"],
                before=one["before"] and one["before"]["pointer"],
                after=one["after"] and one["after"]["pointer"],
            )
            for one in self.data["changes"]
        ]

    def render(self, output: str = "full", *, show_values: bool = False, color: bool = False, width: int = 100) -> str:
        """The comparison as an output of `toolcheck diff` writes it; with texts and arguments if `show_values`."""
        return _native.diff_bodies(*self._bodies, *self._formats, output, show_values, color, width)

    def __len__(self) -> int:
        return len(self._changes)

    def __getitem__(self, index: Any) -> Any:
        return self._changes[index]

    def __repr__(self) -> str:
        return f"<Diff: {len(self)} changes>"

    def _repr_html_(self) -> str:
        return as_part(self.render("html"))


@checked
def diff(before: Body, after: Body, *, before_format: str | None = None, after_format: str | None = None) -> Diff:
    """What a change to a conversation lost, whatever the formats of the two bodies are."""
    return Diff(bytes(_native.text_of(before, "before")), bytes(_native.text_of(after, "after")), before_format, after_format)


def _linter(settings: dict[str, Any]) -> Linter:
    named = {
        name: value
        for name, value in settings.items()
        if name != "body" and value is not None and value != () and not (name == "name" and value == "body.json")
    }
    return linter_for(named)


def _check(argument: str, value: object, expected: Any, described: str) -> None:
    if not isinstance(value, expected):
        raise TypeError(f"{argument}: expected {described}, not {type(value).__name__}")


def _ids(argument: str, ids: Iterable[str]) -> tuple[str, ...]:
    if isinstance(ids, str):
        return (ids,)
    _check(argument, ids, Iterable, "ids of rules (str)")
    listed = tuple(ids)
    for one in listed:
        _check(argument, one, str, "ids of rules (str)")
    return listed


def _read(tools: Any) -> Any:
    """The text of a file, or what is no path as it is."""
    if not isinstance(tools, os.PathLike):
        return tools
    with open(tools, "rb") as file:
        return file.read()


def _text(path: os.PathLike[str]) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
