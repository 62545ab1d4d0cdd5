#!/usr/bin/env python3
"""Runs the recipes of the documentation against `toolcheck serve`.

    recipes.py --program P [--python PYTHON] [--node-modules DIR] [NAME...]

Each page in `docs/recipes` has code that saves the requests of a framework. The code runs as it stands: its clients find
the mock in their environment variables. Then the saved requests have to be clean, and have to be found at fault once the
results of the tools are taken out of them. A recipe whose packages are not installed is skipped and named; with
`--require` that is a failure.

Nothing but the loopback interface is needed, and `unshare --net` can hold it to that. Only Python's own library is
needed, 3.11 or newer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PAGES = Path(__file__).resolve().parent.parent / "docs" / "recipes"
SECONDS = 120


class Fault(Exception):
    """A recipe that does not do what its page says."""


class Recipe(NamedTuple):
    name: str
    language: str
    code: str
    versions: dict[str, str]


def recipe(path: Path) -> Recipe:
    """The code of a page, and the versions that it names."""
    page = path.read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```(python|js)\n(.*?)^```$", page)
    languages = {language for language, _ in blocks}
    if len(languages) != 1:
        raise Fault(f"{path.name}: its code is in one language, and not in {sorted(languages)}")
    tried = re.search(r"(?m)^Tried with (.*)\.$", page)
    versions = dict(re.findall(r"`([^`]+)` (\d[\w.]*[\w])", tried[1])) if tried else {}
    if not versions:
        raise Fault(f"{path.name}: does not say which versions it was tried with")
    return Recipe(path.stem, languages.pop(), "\n".join(code for _, code in blocks), versions)


def recipes(pages: Path) -> list[Recipe]:
    found = [recipe(path) for path in sorted(pages.glob("*.md")) if path.name != "README.md"]
    if not found:
        raise Fault(f"{pages} has no recipes")
    return found


# ---- what is installed


def installed(one: Recipe, python: str, modules: Path | None) -> dict[str, str | None]:
    """The installed version of each package of a recipe."""
    if one.language == "js":
        versions = {}
        for name in one.versions:
            manifest = modules / name / "package.json" if modules else None
            there = manifest is not None and manifest.is_file()
            versions[name] = json.loads(manifest.read_text(encoding="utf-8"))["version"] if there else None
        return versions
    script = (
        "import importlib.metadata as m, json, sys\n"
        "def version(name):\n"
        "    try: return m.version(name)\n"
        "    except m.PackageNotFoundError: return None\n"
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))\n"
    )
    result = subprocess.run([python, "-c", script, *one.versions], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


# ---- running


def environment(url: str) -> dict[str, str]:
    """What makes the clients find the mock, and nothing that is somebody's."""
    kept = {name: os.environ[name] for name in ["PATH", "HOME", "LANG", "SYSTEMROOT", "TEMP", "TMP"] if name in os.environ}
    return kept | {
        "ANTHROPIC_API_KEY": "toolcheck",
        "ANTHROPIC_API_BASE": url,
        "ANTHROPIC_BASE_URL": url,
        "GEMINI_API_KEY": "toolcheck",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_KEY": "toolcheck",
        "OPENAI_BASE_URL": f"{url}/v1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "127.0.0.1,localhost",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(one: Recipe, program: str, python: str, modules: Path | None) -> int:
    """Runs a recipe, and returns the number of requests that it saved."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        serve = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        try:
            url = json.loads(serve.stdout.readline())["url"]
            if one.language == "js":
                (folder / "recipe.mjs").write_text(one.code, encoding="utf-8")
                (folder / "node_modules").symlink_to(modules.resolve())
                command = ["node", "recipe.mjs"]
            else:
                (folder / "recipe.py").write_text(one.code, encoding="utf-8")
                command = [python, "recipe.py"]
            result = subprocess.run(command, cwd=folder, env=environment(url), capture_output=True, text=True,
                                    timeout=SECONDS, stdin=subprocess.DEVNULL)
        finally:
            serve.stdin.close()
            refused = serve.wait(timeout=30)
            serve.stdout.close()
        if result.returncode != 0:
            raise Fault(f"ended with {result.returncode}:\n{result.stderr[-3000:]}")
        if refused != 0:
            raise Fault("the mock has refused a request")
        saved = folder / "requests.jsonl"
        if not saved.is_file():
            raise Fault("saved no requests")
        return judge(saved, program)


def judge(saved: Path, program: str) -> int:
    """Requests are clean, and are at fault without the results of their tools."""
    lines = [line for line in saved.read_text(encoding="utf-8").splitlines() if line.strip()]
    bodies = [json.loads(line) for line in lines]
    status, said, results = lint(program, saved)
    if status != 0:
        raise Fault(f"its requests are not clean:\n{said}")
    if len(bodies) < 2 or results == 0:
        raise Fault(f"{len(bodies)} requests with {results} results: a request after a call was to be seen")
    broken = saved.with_name("broken.jsonl")
    # The last request of each conversation has its results.
    without = [kept for body in bodies if (kept := without_results(body)) != body]
    broken.write_text("".join(json.dumps(body) + "\n" for body in without), encoding="utf-8")
    status, said, _ = lint(program, broken)
    # Some APIs accept that, and it is a warning there.
    if "unanswered-tool-call" not in said:
        raise Fault(f"without results, status {status} and:\n{said}")
    return len(bodies)


def lint(program: str, path: Path) -> tuple[int, str, int]:
    command = [program, "lint", "--isolated", "--output-format=json", "--", path.name]
    result = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise Fault(f"toolcheck lint: {result.stderr}")
    report = json.loads(result.stdout)
    said = "".join(f"{f['rule']} {f['level']} {f.get('pointer')}: {f['message']}\n" for f in report["findings"])
    return result.returncode, said, sum(file["tool_results"] for file in report["files"])


def without_results(body: dict) -> dict:
    """A request without the results of its tools, in whichever format it is."""

    def is_result(part: object) -> bool:
        if not isinstance(part, dict):
            return False
        kind = part.get("role") == "tool" or part.get("type") in ("tool_result", "function_call_output")
        return kind or "functionResponse" in part

    def kept(messages: list) -> list:
        left = []
        for message in messages:
            if is_result(message):
                continue
            for key in ("content", "parts"):
                if isinstance(message.get(key), list) and any(map(is_result, message[key])):
                    message = message | {key: [part for part in message[key] if not is_result(part)]}
            if message.get("content") == [] or message.get("parts") == []:
                message = None
            if message is not None:
                left.append(message)
        return left

    changed = dict(body)
    for key in ("messages", "input", "contents"):
        if isinstance(body.get(key), list):
            left = kept(body[key])
            # A user goes on, so that the calls are no longer at the end.
            if left != body[key]:
                text = [{"text": "Well?"}] if key == "contents" else "Well?"
                left.append({"role": "user", "parts" if key == "contents" else "content": text})
            changed[key] = left
    return changed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs the recipes of the documentation against `toolcheck serve`.")
    parser.add_argument("--program", default="toolcheck", help="the program `toolcheck`")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the frameworks")
    parser.add_argument("--node-modules", type=Path, help="the folder that has the packages for JavaScript")
    parser.add_argument("--require", action="store_true", help="fail if packages are missing or have other versions")
    parser.add_argument("--list", choices=["python", "js"], help="print the packages of a language, as its installer takes them")
    parser.add_argument("--pages", type=Path, default=PAGES, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="the recipes to run; all by default")
    options = parser.parse_args(arguments)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        chosen = [one for one in recipes(options.pages) if not options.names or one.name in options.names]
    except Fault as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.list is not None:
        between = {"python": "==", "js": "@"}[options.list]
        named = {f"{name}{between}{v}" for one in chosen if one.language == options.list for name, v in one.versions.items()}
        print("\n".join(sorted(named)))
        return 0
    for one in chosen:
        there = installed(one, options.python, options.node_modules)
        missing = sorted(name for name, version in there.items() if version is None)
        other = [f"{name} {there[name]}" for name, version in one.versions.items() if there[name] not in (None, version)]
        if missing:
            counts["failed" if options.require else "skipped"] += 1
            print(f"{one.name}: skipped, {', '.join(missing)} not installed")
            continue
        try:
            if other and options.require:
                raise Fault(f"the page names other versions than {', '.join(other)}")
            requests = run(one, options.program, options.python, options.node_modules)
            note = f", with {', '.join(other)}" if other else ""
            print(f"{one.name}: passed, {requests} requests{note}")
            counts["passed"] += 1
        except (Fault, subprocess.TimeoutExpired) as error:
            print(f"{one.name}: FAILED: {error}")
            counts["failed"] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
