"""What the steps of a rehearsal have in common."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import release

CLEAN = '{"messages": [{"role": "user", "content": "find the lighthouse"}]}'
# A call without a result.
BROKEN = (
    '{"messages": [{"role": "user", "content": "find it"}, {"role": "assistant", "content": null, "tool_calls":'
    ' [{"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},'
    ' {"role": "user", "content": "well?"}]}'
)
RULE = "unanswered-tool-call"


class Skip(Exception):
    """What this machine lacks."""


def run(command: list, *, status: int = 0, **options: object) -> str:
    """What a command prints; another status than this is a fault."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, **options)
    if result.returncode != status:
        raise release.Fault(f"`{' '.join(words)}` ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def program_named(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Skip(f"no {name}")
    return found


def yaml(path: Path):
    try:
        import yaml as reader
    except ImportError:
        raise Skip("no PyYAML") from None
    return reader.safe_load(path.read_text(encoding="utf-8"))


def tries(program: Path, version: str) -> None:
    """Runs an installed program: it says its version, and finds a mistake."""
    said = run([program, "--version"]).strip()
    if said != f"{release.PROGRAM} {version}":
        raise release.Fault(f"{program} says {said!r}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text, status in [("clean.json", CLEAN, 0), ("broken.json", BROKEN, 1)]:
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            printed = run([program, "lint", "--output-format", "concise", path], status=status)
            if (RULE in printed) != (status == 1):
                raise release.Fault(f"{program} lint {name}: {printed}")


def repository(folder: Path) -> Path:
    """A small repository with a request that is in order and one that is not."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clean.json").write_text(CLEAN, encoding="utf-8")
    (folder / "broken.jsonl").write_text(f"{CLEAN}\n{BROKEN}\n", encoding="utf-8")
    (folder / "package.json").write_text('{"name": "lighthouse"}', encoding="utf-8")
    commit(folder)
    return folder


def commit(folder: Path, tag: str | None = None) -> None:
    git = [program_named("git"), "-C", folder, "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.com"]
    if not (folder / ".git").exists():
        run([*git, "init", "--quiet"])
    run([*git, "add", "--all"])
    run([*git, "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "rehearsal"])
    if tag is not None:
        run([*git, "tag", tag])
