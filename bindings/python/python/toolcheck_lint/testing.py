"""Checks of bodies for tests; the fixtures of the pytest plugin give them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack, overload

from . import _native
from ._findings import Finding, Level, check_level
from ._given import check_settings
from ._linter import Body, Linter, Settings, linter_for
from ._report import NOTHING_READ, Report


class Checked(Report):
    """A report with assertions."""

    __slots__ = ()

    def assert_clean(self, *, level: Level = "warning") -> None:
        """Fails if there is a finding, or no transcript; with `level="error"`, only if there is an error."""
        __tracebackhide__ = True
        check_level(level)
        if self.errors or (level == "warning" and self.warnings):
            raise AssertionError(f"{self.render().rstrip()}\n\n{self.show().rstrip()}")
        if not self.transcripts:
            raise AssertionError(NOTHING_READ)

    def assert_findings(self, *expected: str | Iterable[str]) -> None:
        """Fails if the findings are not these: `[error|warning] RULE [at [RECORD:]POINTER]`, as in a corpus."""
        __tracebackhide__ = True
        difference = _native.difference(self._linted, _listed(expected))
        if difference:
            raise AssertionError("\n".join([*difference, "", *self.show().rstrip().splitlines()]))
        if not len(self) and not self.transcripts:
            raise AssertionError(NOTHING_READ)


def _listed(texts: Iterable[str | Iterable[str]]) -> list[str]:
    """Texts, given one by one or as a list."""
    return [one for text in texts for one in ([text] if isinstance(text, str) else text)]


def check(body: Body, **settings: Unpack[Settings]) -> Checked:
    """The report of a body, with assertions. The settings are those of `Linter`."""
    check_settings(check, settings, also=("tools",))
    linter = linter_for({name: value for name, value in settings.items() if value is not None})
    return Checked(linter._native.lint(body), linter)


class Sent(Sequence[Checked]):
    """What was sent to the paths of known APIs."""

    def __init__(self, settings: dict[str, Any], level: Level = "error") -> None:
        check_level(level)
        self._settings = settings
        self._level = level
        self._reports: list[Checked] = []
        self._allowed: set[str] = set()
        self.others = 0
        """The number of requests that were seen and not linted: of another path or method, or of no known format."""

    def allow(self, *rules: str | Iterable[str]) -> None:
        """These rules may have findings."""
        listed = _listed(rules)
        Linter(select=listed)
        self._allowed.update(listed)

    def see(self, method: str, url: str, body: bytes) -> None:
        """Lints a request, if it is one of a known API. The address names the format and the API, unless a setting does."""
        call, format, target = _native.endpoint(url)
        if method != "POST" or not body or not (call == "llm" or call == "unknown" and format):
            self.others += 1
            return
        named = {} if "target" in self._settings else {"target": target}
        report = check(body, **{"format": format, **named, **self._settings})
        if not report.transcripts and all(found.rule == "unrecognised-format" for found in report):
            # Such as `{"prompt": ...}`: what nobody reads is no fault of it.
            self.others += 1
            return
        self._reports.append(report)

    def faults(self) -> str:
        """What is wrong in what was sent, as text; empty if nothing is."""
        faulty = []
        for number, report in enumerate(self._reports, 1):
            if any(self._fails(found) for found in report if found.rule not in self._allowed):
                faulty.append(f"request {number} of {len(self._reports)}\n{report.render().rstrip()}\n\n{report.show().rstrip()}")
        return "\n\n".join(faulty)

    def passed(self) -> list[str]:
        """The findings that are let pass, because they are warnings."""
        return [
            f"{found.rule} at {found.pointer} of request {number}: {found.message}"
            for number, report in enumerate(self._reports, 1)
            for found in report
            if found.rule not in self._allowed and not self._fails(found)
        ]

    def _fails(self, found: Finding) -> bool:
        return found.level == "error" or self._level == "warning"

    def hook(self, monkeypatch: Any) -> None:
        """Sees what httpx and requests send, where they are installed."""
        # Newer SDKs have a fork of httpx with the same classes.
        hooks = (("httpx", self._hook_httpx), ("httpx2", self._hook_httpx), ("requests", self._hook_requests))
        for module, patch in hooks:
            try:
                library = __import__(module)
            except ImportError:
                continue
            patch(library, monkeypatch)

    def _hook_httpx(self, httpx: Any, monkeypatch: Any) -> None:
        monkeypatch.setattr(httpx.Client, "send", self._sending(httpx.Client.send))
        monkeypatch.setattr(httpx.AsyncClient, "send", self._sending_later(httpx.AsyncClient.send))

    def _sending(self, send: Any) -> Any:
        def sending(client: Any, request: Any, *args: Any, **named: Any) -> Any:
            self.see(request.method, str(request.url), request.read())
            return send(client, request, *args, **named)

        return sending

    def _sending_later(self, send: Any) -> Any:
        async def sending(client: Any, request: Any, *args: Any, **named: Any) -> Any:
            self.see(request.method, str(request.url), await request.aread())
            return await send(client, request, *args, **named)

        return sending

    def _hook_requests(self, requests: Any, monkeypatch: Any) -> None:
        send = requests.Session.send

        def sending(session: Any, request: Any, **named: Any) -> Any:
            body = request.body
            if isinstance(body, str):
                body = body.encode("utf-8", "surrogatepass")
            if isinstance(body, bytes | bytearray):
                self.see(request.method, request.url, bytes(body))
            return send(session, request, **named)

        monkeypatch.setattr(requests.Session, "send", sending)

    def __len__(self) -> int:
        return len(self._reports)

    def __iter__(self) -> Iterator[Checked]:
        return iter(self._reports)

    @overload
    def __getitem__(self, index: int) -> Checked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Checked]: ...
    def __getitem__(self, index: int | slice) -> Checked | list[Checked]:
        return self._reports[index]

    def __repr__(self) -> str:
        return f"<Sent: {len(self)} requests>"


__all__ = ["Checked", "Sent", "check"]
