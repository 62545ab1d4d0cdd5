from collections.abc import Callable, Sequence
from typing import Any, NoReturn, final

__all__ = [
    "BUILD",
    "CaseOutcome",
    "Corpus",
    "Linted",
    "Linter",
    "Summary",
    "Table",
    "__version__",
    "diff_bodies",
    "difference",
    "endpoint",
    "models",
    "text_of",
]

__version__: str
BUILD: str

@final
class Linter:
    def __new__(
        cls,
        *,
        name: str,
        target: str | None = None,
        own_target: str | None = None,
        format: str | None = None,
        kind: str | None = None,
        tools: Any = None,
        template: list[tuple[str, bytes]] | None = None,
        config: str | None = None,
        conversation: str | None = None,
        at: str | None = None,
        select: Sequence[str] = ...,
        extend_select: Sequence[str] = ...,
        ignore: Sequence[str] = ...,
    ) -> Linter: ...
    def lint(self, body: Any) -> Linted: ...
    def fix(
        self, body: Any, unsafe_fixes: bool, only: list[str], place: str | None
    ) -> tuple[bytes, str, Linted]: ...
    def explain_error(self, text: str, body: Any, width: int) -> tuple[bool, str, str]: ...
    def column(
        self,
        array: Any,
        *,
        tools: Any,
        key: Any,
        samples: int,
        progress: Callable[[int], object] | None,
        names: tuple[str, str] | None,
    ) -> Summary: ...
    def rows(self, array: Any, *, tools: Any, key: Any, names: tuple[str, str] | None) -> Table: ...
    def verdicts(
        self,
        array: Any,
        *,
        tools: Any,
        unsafe_fixes: bool | None,
        drop: str | None,
        progress: Callable[[int], object] | None,
        names: tuple[str, str] | None,
    ) -> tuple[Table, Summary, Summary, Summary]: ...

@final
class Linted:
    @property
    def format(self) -> str | None: ...
    @property
    def target(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def transcripts(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def tool_calls(self) -> int: ...
    @property
    def tool_results(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def warnings(self) -> int: ...
    def __len__(self) -> int: ...
    def body(self) -> bytes: ...
    def json(self) -> str: ...
    def render(self, output: str, color: bool, width: int) -> str: ...
    def show(self, output: str, color: bool, width: int, shows_all: bool, shows_text: bool) -> str: ...

@final
class Summary:
    def __new__(cls, samples: int | None = None) -> Summary: ...
    @staticmethod
    def from_json(data: bytes) -> Summary: ...
    @staticmethod
    def sum(parts: Sequence[Summary]) -> Summary: ...
    def to_json(self) -> bytes: ...
    def render(self, color: bool, width: int) -> str: ...

@final
class Table:
    def __getitem__(self, key: object, /) -> NoReturn: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def models(model: str | None = None) -> str: ...
def endpoint(url: str) -> tuple[str, str | None, str | None]: ...
def diff_bodies(
    before: Any,
    after: Any,
    before_format: str | None,
    after_format: str | None,
    output: str,
    shows_values: bool,
    color: bool,
    width: int,
) -> str: ...
def text_of(body: Any, argument: str = "body") -> bytes: ...

@final
class CaseOutcome:
    @property
    def blessed(self) -> bool: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def is_new(self) -> bool: ...

@final
class Corpus:
    def __new__(cls, folder: str) -> Corpus: ...
    @property
    def without_expectation(self) -> list[str]: ...
    def run(self, stem: str, changed: bool, new: bool) -> CaseOutcome: ...

def difference(linted: Linted, expected: Sequence[str]) -> list[str]: ...
