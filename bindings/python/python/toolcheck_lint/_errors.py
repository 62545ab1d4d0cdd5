"""What an API's error says, by whatever it is held."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def texts_of(error: Any) -> list[str]:
    """The texts that an error may be known by, the best first; there is at least one."""
    if isinstance(error, BaseException):
        return list(dict.fromkeys(text for text in _of_exception(error) if text)) or [type(error).__name__]
    text = _text(error)
    if text is None:
        raise TypeError(f"text: expected the text of an error, the body of a response or an exception, not {type(error).__name__}")
    return [text]


def _of_exception(error: BaseException) -> Iterator[str]:
    # Of the SDKs of OpenAI, Anthropic, Mistral and Cohere; of httpx and requests; of botocore; of Google; of Ollama.
    response = _get(error, "response")
    for value in (_get(error, "body"), _get(response, "text"), response, _get(error, "details"), _get(error, "error")):
        text = _text(value)
        if text is not None:
            yield text
    yield _text(_get(error, "message")) or ""
    yield str(error)


def _get(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001
        # A response that was streamed has no text until it is read.
        return None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping | list):
        return json.dumps(value if isinstance(value, list) else dict(value), default=str, ensure_ascii=False)
    return None
