"""Checks of the bodies of requests, with `toolcheck lint`."""

import json
import os
import tempfile
from collections.abc import Iterable
from typing import Any, Literal

from . import _binary


def lint(
    body: Any,
    *,
    target: str | None = None,
    format: str | None = None,
    kind: Literal["request", "session", "dataset"] = "request",
    tools: Any = None,
    select: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    config: str | os.PathLike[str] | None = None,
    bin: str | None = None,
) -> dict[str, Any]:
    """The report on a body, as in `schemas/report.v1.schema.json`: `["findings"]` is the list of what was found.

    A body is text, bytes, or what JSON can say; objects of the SDKs in it are written as these send them.
    `tools` are tool definitions for transcripts that have none. No configuration is searched for.
    """
    with _Checked(body, target, format, kind, tools, select, extend_select, ignore, config, bin) as checked:
        return checked.report()


def assert_clean(
    body: Any,
    *,
    target: str | None = None,
    format: str | None = None,
    kind: Literal["request", "session", "dataset"] = "request",
    tools: Any = None,
    select: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    config: str | os.PathLike[str] | None = None,
    fail_on: Literal["error", "warning"] = "warning",
    bin: str | None = None,
) -> None:
    """Fails if there are findings in a body, or no transcript; with `fail_on="error"`, only if there are errors.

    The options are those of `lint`.
    """
    __tracebackhide__ = True
    with _Checked(body, target, format, kind, tools, select, extend_select, ignore, config, bin) as checked:
        summary = checked.report()["summary"]
        count = summary["errors"] + (summary["warnings"] if fail_on == "warning" else 0)
        if count:
            raise AssertionError(checked.text())
        if not summary["transcripts"]:
            raise AssertionError("there is no transcript in the body, so nothing was checked")


class _Checked:
    """A run of `toolcheck lint` on a body."""

    def __init__(
        self,
        body: Any,
        target: str | None,
        format: str | None,
        kind: str,
        tools: Any,
        select: Iterable[str],
        extend_select: Iterable[str],
        ignore: Iterable[str],
        config: str | os.PathLike[str] | None,
        bin: str | None,
    ) -> None:
        self.program = _binary.find(bin)
        self.body = as_bytes(body)
        self.tools = tools
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.arguments = ["lint", "-", "--stdin-filename", "body.json", "--color", "never", "--kind", kind]
        self.arguments += ["--config", os.fspath(config)] if config is not None else ["--isolated"]
        named = [("--target", [target] if target else []), ("--format", [format] if format else [])]
        rules = [("--select", select), ("--extend-select", extend_select), ("--ignore", ignore)]
        for option, values in [*named, *rules]:
            for value in [values] if isinstance(values, str) else values:
                self.arguments += [option, value]

    def __enter__(self) -> "_Checked":
        if self.tools is not None:
            path = self.tools
            if not isinstance(path, str | os.PathLike):
                self.folder = tempfile.TemporaryDirectory(prefix="toolcheck-")
                path = os.path.join(self.folder.name, "tools.json")
                with open(path, "wb") as file:
                    file.write(as_bytes(self.tools))
            self.arguments += ["--tools", os.fspath(path)]
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()

    def report(self) -> dict[str, Any]:
        arguments = [*self.arguments, "--output-format", "json", "--max-findings", "0"]
        report: dict[str, Any] = json.loads(_binary.run(self.program, arguments, self.body)[1])
        return report

    def text(self) -> str:
        return _binary.run(self.program, [*self.arguments, "--output-format", "full"], self.body)[1].strip()


def as_bytes(body: Any) -> bytes:
    """The bytes of a body as they are sent."""
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except UnicodeEncodeError:
        # Half of a character: it is a finding, as an escape.
        return json.dumps(body, allow_nan=False, default=_plain).encode()


def _plain(value: Any) -> Any:
    """An object of an SDK as plain data: with what was set, because the rest is not sent."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} in the body is neither JSON nor an object of an SDK")
    return dump(mode="json", by_alias=True, exclude_unset=True)
