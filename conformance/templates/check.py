#!/usr/bin/env python3
"""Compares the prompts of toolcheck-template with those of transformers, for templates and for snippets.

    python -m venv venv && venv/bin/pip install jinja2 transformers
    cargo build --release -p toolcheck-template --example render
    venv/bin/python conformance/templates/check.py target/release/examples/render [FOLDER OR FILE...]

Without folders, it takes the templates in crates/toolcheck-template/tests/templates. Prints a table of equal and different
prompts, and every difference with --show.
"""

import argparse
import copy
import datetime
import importlib
import json
import pathlib
import subprocess
import sys

import jinja2

utils = importlib.import_module("transformers.utils.chat_template_utils")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOW = datetime.datetime.fromtimestamp(1764163200, datetime.timezone.utc).replace(tzinfo=None)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


class Clock(datetime.datetime):
    """The time of every render."""

    @classmethod
    def now(cls, tz=None):
        return NOW


utils.datetime = Clock


def expected(source, request, variables):
    """What transformers makes of a request, as the example writes it."""
    try:
        compiled = utils._compile_jinja_template(source)
    except jinja2.TemplateSyntaxError as error:
        return {"refusal": error.message, "line": error.lineno}
    except RecursionError:
        return {"refusal": "recursion"}
    # A list that a filter changed must not be there in the next render.
    request, variables = copy.deepcopy(request), copy.deepcopy(variables)
    try:
        prompt = compiled.render(
            messages=request["messages"],
            tools=request.get("tools"),
            documents=request.get("documents"),
            **{"add_generation_prompt": True, **variables},
        )
    except Exception as error:
        return {"refusal": getattr(error, "message", None) or str(error), "type": type(error).__name__}
    return {"prompt": prompt}


def histories(paths):
    """Named requests: those of the crate's tests, and of other folders."""
    for path in paths:
        for file in sorted(pathlib.Path(path).glob("*.json")):
            request = json.loads(file.read_text())
            if isinstance(request, dict) and "messages" in request:
                yield file.stem, request


def parsed(request):
    """The request with the arguments of calls as objects, as vLLM does it."""
    request = json.loads(json.dumps(request))
    for message in request["messages"]:
        for call in message.get("tool_calls") or []:
            try:
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
            except (KeyError, TypeError, ValueError):
                pass
    return request


def run(binary, jobs):
    text = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run([binary], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def templates(paths):
    for path in paths:
        path = pathlib.Path(path)
        files = [path] if path.is_file() else sorted(path.rglob("*.jinja")) + sorted(path.rglob("*.jinja2"))
        for file in files:
            yield file, file.read_text()


def variants(request):
    yield "object", parsed(request), {}
    yield "text", request, {}
    yield "no prompt", parsed(request), {"add_generation_prompt": False}
    yield "thinking", parsed(request), {"enable_thinking": True, "thinking": True}
    yield "not thinking", parsed(request), {"enable_thinking": False}
    without = parsed(request)
    without.pop("tools", None)
    yield "no tools", without, {}


def compare_templates(arguments):
    jobs, names, wanted = [], [], []
    requests = list(histories(arguments.histories))
    for file, source in templates(arguments.paths):
        for name, request in requests:
            for variant, given, variables in variants(request):
                variables = {**TOKENS, **variables}
                jobs.append({"source": source, "request": given, "variables": variables, **(
                    {"add_generation_prompt": variables["add_generation_prompt"]}
                    if "add_generation_prompt" in variables else {})})
                names.append((str(file), f"{name}, {variant}"))
                wanted.append(expected(source, given, variables))
    report(names, wanted, run(arguments.binary, jobs), arguments)


def compare_snippets(arguments):
    context = json.loads((pathlib.Path(__file__).parent / "snippets.json").read_text())
    jobs = [{"source": snippet, "request": context["request"], "variables": context["variables"]}
            for snippet in context["snippets"]]
    wanted = [expected(snippet, context["request"], context["variables"]) for snippet in context["snippets"]]
    names = [("snippets", snippet) for snippet in context["snippets"]]
    report(names, wanted, run(arguments.binary, jobs), arguments)


def report(names, wanted, found, arguments):
    files, counts = {}, {"equal": 0, "same text of refusal": 0, "other text of refusal": 0, "unsupported": 0,
                         "other prompt": 0, "other verdict": 0}
    for (file, name), want, got in zip(names, wanted, found):
        if got.get("kind") in ("Unsupported", "TooMuch"):
            kind = "unsupported"
        elif ("prompt" in want) != ("prompt" in got):
            kind = "other verdict"
        elif "prompt" in want:
            kind = "equal" if want["prompt"] == got["prompt"] else "other prompt"
        else:
            kind = "same text of refusal" if want["refusal"] == got["refusal"] else "other text of refusal"
        counts[kind] += 1
        files.setdefault(file, []).append(kind)
        if arguments.show and kind not in ("equal", "same text of refusal"):
            print(f"--- {kind}: {file}: {name}\n  jinja2: {want}\n  ours:   {got}")
    bad = ("unsupported", "other prompt", "other verdict", "other text of refusal")
    for file, kinds in files.items():
        worst = {kind: kinds.count(kind) for kind in bad if kind in kinds}
        if worst:
            print(f"{file}: {worst} of {len(kinds)}")
    total = len(wanted)
    same = counts["equal"] + counts["same text of refusal"] + counts["other text of refusal"]
    print(f"{len(files)} files, {total} renders: {counts}; same verdict and prompt {100 * same / max(total, 1):.2f} %")


def bless(arguments):
    """Writes what the tests of the crate expect."""
    folder = ROOT / "crates/toolcheck-template/tests"
    requests = list(histories([folder / "histories"]))
    expectations = {}
    for file, source in templates([folder / "templates"]):
        for name, request in requests:
            for variant in ("object", "text"):
                given = parsed(request) if variant == "object" else request
                found = expected(source, given, TOKENS)
                if found != expectations.get(f"{file.stem}/{name}/object"):
                    expectations[f"{file.stem}/{name}/{variant}"] = found
    text = json.dumps(expectations, indent=1, ensure_ascii=False)
    (folder / "expected.json").write_text(text + "\n")
    context = json.loads((pathlib.Path(__file__).parent / "snippets.json").read_text())
    snippets = {snippet: expected(snippet, context["request"], context["variables"]) for snippet in context["snippets"]}
    text = json.dumps({**context, "snippets": snippets}, indent=1, ensure_ascii=False)
    (folder / "snippets.json").write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("paths", nargs="*", default=[ROOT / "crates/toolcheck-template/tests/templates"])
    parser.add_argument("--histories", nargs="*", default=[ROOT / "crates/toolcheck-template/tests/histories"])
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--snippets", action="store_true", help="compare only snippets.json")
    parser.add_argument("--bless", action="store_true", help="write what the crate's tests expect")
    arguments = parser.parse_args()
    if arguments.bless:
        bless(arguments)
    elif arguments.snippets:
        compare_snippets(arguments)
    else:
        compare_templates(arguments)


if __name__ == "__main__":
    sys.exit(main())
