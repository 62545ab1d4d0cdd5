"""The chat template of a model, as the linter takes it."""

import json
import os
from typing import Any, Protocol

_FOLDER = ("chat_template.jinja", "chat_template.json", "tokenizer_config.json")


class Tokenizer(Protocol):
    """A tokenizer of transformers, or what has its chat template."""

    chat_template: Any


Template = str | os.PathLike[str] | Tokenizer


def files_of(template: Template) -> list[tuple[str, bytes]]:
    """The files of a template, by their names: of a path, of the text of one, or of a tokenizer."""
    if isinstance(template, os.PathLike):
        return _of_path(os.fspath(template))
    if isinstance(template, str):
        if "{" not in template:
            raise ValueError(f"template: to read the file {template}, pass a path: `pathlib.Path(...)`")
        return [("chat_template.jinja", template.encode())]
    source = getattr(template, "chat_template", None)
    if isinstance(source, dict):
        source = [{"name": name, "template": text} for name, text in source.items()]
    if not isinstance(source, (str, list)):
        raise TypeError("template: expected a path, the text of a template (str), or a tokenizer that has one")
    tokens = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"):
        token = getattr(template, name, None)
        if token is not None:
            tokens[name] = str(token)
    return [("tokenizer_config.json", json.dumps({"chat_template": source, **tokens}).encode())]


def _of_path(path: str) -> list[tuple[str, bytes]]:
    if not os.path.isdir(path):
        return [(os.path.basename(path), _read(path))]
    names = [name for name in _FOLDER if os.path.isfile(os.path.join(path, name))]
    more = os.path.join(path, "additional_chat_templates")
    if os.path.isdir(more):
        names += [f"additional_chat_templates/{name}" for name in sorted(os.listdir(more)) if name.endswith(".jinja")]
    if not names:
        raise FileNotFoundError(f"template: no chat template in the folder {path}")
    return [(name, _read(os.path.join(path, name))) for name in names]


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        # Of a GGUF file, only what comes before the tensors is needed.
        return file.read(64 << 20)
