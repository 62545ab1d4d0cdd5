"""Runs `toolcheck conform --adapter` over LiteLLM, and writes what was found as a page.

    python run.py PROGRAM PAGE [PROVIDER...]
"""

import importlib.metadata
import json
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROVIDERS = ["anthropic", "bedrock-converse", "cohere", "gemini", "mistral", "ollama", "openai-responses"]
CASES = "30"


def examine(program, source, target, kinds):
    adapter = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'adapter.py'))} 2>/dev/null"
    command = [program, "conform", "--adapter", adapter]
    command += ["--from", source, "--to", target, "--kind", kinds, "--cases", CASES, "--output-format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{source} to {target}: the program ended with {done.returncode}")
    return json.loads(done.stdout)


def code(body):
    """A body as code in a cell, without what is the same in all of them."""
    if isinstance(body, dict):
        plain = ("tools", "model", "stream_options", "max_tokens", "inferenceConfig", "toolConfig", "system_fingerprint")
        body = {key: value for key, value in body.items() if key not in plain}
    text = json.dumps(body, ensure_ascii=False)
    text = text if len(text) <= 900 else text[:900] + "…"
    text = text.replace("|", "\\|")
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def asked(body):
    """A body before, with a note if it is special in what is left out of it."""
    is_undeclared = isinstance(body, dict) and "tools" not in body and "tool_calls" in json.dumps(body.get("messages"))
    return ("no tools declared: " if is_undeclared else "") + code(body)


def said(text):
    return text[:160].replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def counts(report):
    found = {}
    for case in report["cases"]:
        found[case["status"]] = found.get(case["status"], 0) + 1
    return ", ".join(f"{count} {status}" for status, count in sorted(found.items()))


def table(report):
    """The faults: of a smallest conversation that several judges see, one row."""
    rows = {}
    for found in report["found"]:
        key = json.dumps([found["kind"], found["before"], found["after"]])
        rows.setdefault(key, []).append(found)
    lines = []
    for group in rows.values():
        first = group[0]
        judges = "<br>".join(f"{one['status']}: `{one['class']}` ({one['origin']})" for one in group)
        after = code(first["after"]) if first["after"] is not None else said(first["message"])
        lines.append(f"| {first['kind']} | {judges} | {len(first['cases'])} | {asked(first['before'])} | {after} |")
    if not lines:
        return ["No fault was found.", ""]
    head = ["| what | who says so | cases | smallest conversation | becomes |", "| --- | --- | --- | --- | --- |"]
    return [*head, *lines, ""]


def main():
    program, page, *chosen = sys.argv[1:]
    version = importlib.metadata.version("litellm")
    lines = [
        "# LiteLLM as an adapter",
        "",
        "<!-- Written by conformance/litellm/run.py -->",
        "",
        f"What `toolcheck conform --adapter` finds in LiteLLM {version}: conversations go from Chat Completions to each provider "
        "as `litellm.completion` sends them, and responses come back as it returns them.",
        "Each row is the smallest conversation that shows the fault; it is made smaller by asking LiteLLM again and again.",
        "`lint` is the linter for the provider, `diff` the comparison of before and after, and `adapter` what the adapter says itself.",
        "A *fail* is something that is lost, altered or refused; *weak* is what the model reads differently, or the API puts up with.",
        "Only the loopback interface was used. Tools, models and limits are left out of the bodies.",
        "",
        "```text",
        "python3 -m venv .venv && .venv/bin/pip install -r conformance/litellm/requirements.txt",
        ".venv/bin/python conformance/litellm/run.py target/release/toolcheck docs/conformance-gateways.md",
        "```",
        "",
    ]
    for provider in chosen or PROVIDERS:
        there = examine(program, "openai-chat", provider, "request")
        back = examine(program, provider, "openai-chat", "response,stream")
        lines += [f"## {provider}", "", f"Requests to it: {counts(there)}.", "", *table(there)]
        lines += [f"Responses and streams from it: {counts(back)}.", "", *table(back)]
        print(provider, counts(there), "|", counts(back), file=sys.stderr)
    Path(page).write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
