"""A mock of LLM APIs that refuses what they refuse: a running `toolcheck serve`. The fixture `provider` starts one."""

import http.client
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from . import _program, _script
from ._findings import Level, check_level
from ._given import warn
from ._linter import Linter
from ._script import Turn, call, calls, error, text

START_SECONDS = 20.0
STOP_SECONDS = 5.0

CLEARED = (
    # Each of these would send a client elsewhere, or with other credentials.
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_PROFILE",
    "AWS_SESSION_TOKEN",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_ENTERPRISE",
    "GOOGLE_GENAI_USE_VERTEXAI",
)
"""Variables that are unset while a mock is in the environment."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request was refused."""

    rule: str
    """The id of the rule; `toolcheck explain RULE` says what it is about."""
    message: str
    """What is wrong."""
    place: str
    """Where in the body: a JSON Pointer."""
    text: str | None
    """What the API says, if its words are known."""
    status: int

    def __str__(self) -> str:
        said = f"\n  the API says: {self.text}" if self.text else ""
        return f"refused with {self.status}: {self.rule} at {self.place or 'the body'}: {self.message}{said}"


class Provider:
    """A mock of LLM APIs on the loopback interface.

    As a context manager it stops at the end of the block, and checks what it has seen if the block did not raise.
    """

    url: str
    """The address to give to a client in place of the API's; OpenAI's clients need `/v1` after it."""
    admin: str
    """Where the mock tells what it has seen; nobody can guess it."""
    targets: tuple[str, ...]
    """The APIs that the mock is; those of all paths if there are none."""
    warnings: tuple[str, ...]
    """The findings between the requests that the last check has let pass, because they are warnings."""

    def __init__(
        self,
        *,
        target: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
        strict: Literal["known", "likely"] = "known",
        allow: str | Iterable[str] = (),
        level: Level = "error",
        turns: Iterable[Turn] = (),
        bin: str | None = None,
    ) -> None:
        self._program = _program.find_program(bin)
        self.targets = tuple(map(os.fspath, several(target)))
        check_level(level)
        self._level = level
        self._expected: str | bool = False
        self.warnings: tuple[str, ...] = ()
        arguments = ["--port", "0", "--strict", strict]
        for name in self.targets:
            arguments += ["--target", name]
        for rule in several(allow):
            arguments += ["--allow", rule]
        # A pipe that nobody reads would stop the program once it is full.
        self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [self._program, "serve", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as reason:
            self._errors.close()
            raise _program.ProgramError(f"cannot run {self._program}: {reason}") from reason
        try:
            addresses = self._addresses()
            self.url, self.admin = addresses["url"], addresses["control"]
            turns = _script.checked(turns)
            if turns:
                self.script(turns)
        except BaseException:
            self.stop()
            raise

    @property
    def target(self) -> str | None:
        """The API that the mock is, if it is one."""
        return self.targets[0] if len(self.targets) == 1 else None

    def _addresses(self) -> dict[str, str]:
        """What the program prints once it listens."""
        assert self._process.stdout is not None
        impatience = threading.Timer(START_SECONDS, self._process.kill)
        impatience.start()
        try:
            line = self._process.stdout.readline()
        finally:
            impatience.cancel()
        try:
            addresses = json.loads(line)
            return {name: str(addresses[name]) for name in ("url", "control")}
        except (ValueError, KeyError, TypeError):
            pass
        self._end()
        self._errors.seek(0)
        said = (line + self._errors.read()).decode(errors="replace").strip()
        raise _program.failed(self._program, "serve", said)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        __tracebackhide__ = True
        try:
            if kind is None:
                self.assert_conformant()
        finally:
            self.stop()

    def __repr__(self) -> str:
        return f"<Provider {self.url} target={' and '.join(self.targets) or None}>"

    @property
    def env(self) -> dict[str, str]:
        """The environment variables by which clients find the mock, with keys that it does not look at."""
        loopback = "127.0.0.1,localhost"
        proxied = {
            name: f"{os.environ[name]},{loopback}" if os.environ.get(name) else loopback for name in ("NO_PROXY", "no_proxy")
        }
        return {
            "ANTHROPIC_API_KEY": "toolcheck",
            "ANTHROPIC_BASE_URL": self.url,
            "AWS_ACCESS_KEY_ID": "toolcheck",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_SECRET_ACCESS_KEY": "toolcheck",
            "CO_API_KEY": "toolcheck",
            "CO_API_URL": self.url,
            "GEMINI_API_KEY": "toolcheck",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "MISTRAL_API_KEY": "toolcheck",
            "OLLAMA_HOST": self.url,
            "OPENAI_API_KEY": "toolcheck",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            **proxied,
        }

    def script(self, turns: Iterable[Turn]) -> None:
        """Sets what the model says from now on, turn by turn; no turns at all leave it to the mock."""
        self._ask("POST", "script", _script.toml(turns).encode())

    def exchanges(self) -> list[dict[str, Any]]:
        """Each request with its response, in the order in which they were answered."""
        return [json.loads(line) for line in self._exchanges().splitlines()]

    def report(self) -> dict[str, Any]:
        """How many `requests` there were, what was `refused` and what `allowed`, and which paths were `unexpected`."""
        report: dict[str, Any] = json.loads(self._ask("GET", "report"))
        return report

    def refused(self) -> list[Refused]:
        """The requests that were refused."""
        return [_refused(one) for one in self.report()["refused"]]

    def reset(self) -> None:
        """Forgets what was seen."""
        self._ask("POST", "reset")

    def expect_refusal(self, rule: str | None = None) -> None:
        """Turns the check at the end around: a request has to be refused, because of this rule if one is named."""
        if rule is not None:
            # One that is not known could never be the reason.
            Linter(select=[rule])
        self._expected = rule or True

    def assert_conformant(self) -> None:
        """Fails if a request was refused or sent to another API, or if the linter finds an error between the requests.

        With `level="warning"`, a warning is enough.
        """
        __tracebackhide__ = True
        faults = self.faults()
        if faults:
            raise AssertionError(faults)
        if self.warnings:
            warn(f"{'; '.join(self.warnings)} (`level=\"warning\"` makes this fail)")
        if unseen := self.unseen():
            warn(f"the test {unseen}")

    def unseen(self) -> str:
        """What says that requests were not checked, because the mock has no such path or because there were none; or empty."""
        report = self.report()
        hints = report["not_found_hints"]
        lost = [f"{path} ({hints[path]})" if path in hints else path for path in report["not_found"]]
        nothing = "" if report["requests"] else "; nothing else was sent, so nothing was checked"
        if lost:
            return f"sent something to a path that its mock does not have, and got 404: {', '.join(lost)}{nothing}; is the base URL of the client right?"
        return "" if report["requests"] else "sent nothing to its mock, so nothing was checked: does the client use `provider.url`?"

    def faults(self) -> str:
        """What `assert_conformant` fails with: what is wrong, and a picture of it; empty if nothing is."""
        report = self.report()
        refused = [_refused(one) for one in report["refused"]]
        unexpected = [f"not expected of {' and '.join(self.targets)}: {path}" for path in report["unexpected"]]
        if not report["requests"]:
            return "\n".join(unexpected) or self._missing_refusal(refused)
        told = {one.rule for one in refused} | {one["rule"] for one in report["allowed"]}
        faults = unexpected + [str(one) + self._instead() for one in refused if not self._is_expected(one)]
        exchanges = self._exchanges()
        # The mock says what the target refuses; between the requests, no target is needed.
        arguments = ["lint", "-", "--isolated", "--no-excerpt", "--output-format", "json", "--max-findings", "0"]
        findings = json.loads(_program.run(self._program, arguments, exchanges)[1])["findings"]
        fails: list[str] = []
        passes: list[str] = []
        for one in findings:
            if one["rule"] not in told:
                told_of = fails if one["level"] == "error" or self._level == "warning" else passes
                told_of.append(f"{one['rule']} at {one['pointer']} of exchange {one['record'] + 1}: {one['message']}")
        faults += fails
        self.warnings = tuple(passes)
        unseen = report["requests"] - len(exchanges.splitlines())
        if unseen > 0:
            faults.append(f"{unseen} requests are not checked, because the exchanges are too large to be kept")
        if not faults:
            return self._missing_refusal(refused)
        # The first line is what a summary shows.
        count = [f"{len(faults)} faults:"] if len(faults) > 1 else []
        return "\n".join([*count, *faults, "", self.picture()])

    def picture(self) -> str:
        """The exchanges as an outline, with what is wrong marked, as `toolcheck show` draws it."""
        arguments = ["show", "-", "--isolated", "--color", "never"]
        arguments += ["--target", self.target] if self.target is not None else []
        drawn = _program.run(self._program, arguments, self._exchanges())[1]
        lines = drawn.strip().replace("<stdin>", "exchanges", 1).splitlines()
        # The last line names a command for the file, and there is none.
        return "\n".join(line for line in lines if not line.startswith("more: "))

    def stop(self) -> None:
        """Ends the program: by closing its input, and if it does not end by that, by killing it."""
        self._end()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _is_expected(self, refused: Refused) -> bool:
        return self._expected is True or self._expected == refused.rule

    def _instead(self) -> str:
        """What the test expects of a refusal."""
        return f"\n  the test expects a refusal because of {self._expected}" if isinstance(self._expected, str) else ""

    def _missing_refusal(self, refused: list[Refused]) -> str:
        if self._expected is False or any(map(self._is_expected, refused)):
            return ""
        of = "" if self._expected is True else f" because of {self._expected}"
        return f"no request was refused{of}, which the test expects"

    def _exchanges(self) -> bytes:
        return self._ask("GET", "exchanges")

    def _ask(self, method: str, name: str, body: bytes | None = None) -> bytes:
        """Asks the mock itself, past all proxies."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        try:
            connection.request(method, f"{self.admin.removeprefix(self.url)}/{name}", body)
            response = connection.getresponse()
            said = response.read()
        except OSError as reason:
            raise _program.ProgramError(f"the mock at {self.url} does not answer: {reason}") from reason
        finally:
            connection.close()
        if response.status != 200:
            try:
                message = json.loads(said)["error"]["message"]
            except (ValueError, KeyError, TypeError):
                message = said.decode(errors="replace")
            raise _program.ProgramError(f"{name}: {message}".rstrip())
        return said


def several(value: Any) -> list[Any]:
    """What may be one thing or several as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def _refused(one: Mapping[str, Any]) -> Refused:
    return Refused(one["rule"], one["message"], one["place"], one["text"], one["status"])


__all__ = ["Provider", "Refused", "Turn", "call", "calls", "error", "text"]
