"""Runs each driver twice against `toolcheck conform`, and writes a page with who fails what.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python run.py ../../target/release/toolcheck ../../docs/conformance.md

Only verdicts that both runs agree on are written; others are named, and the exit status is 1.
"""

import importlib.metadata
import json
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
# The driver, the package whose version counts, and the formats that it speaks.
CLIENTS = [
    ("pydantic_ai_agent", "pydantic-ai-slim", ["anthropic", "openai-chat", "openai-responses"]),
    ("openai_agents", "openai-agents", ["openai-chat", "openai-responses"]),
    ("langchain_agent", "langchain", ["openai-chat", "openai-responses"]),
]


def verdicts(program, driver, formats):
    command = f"{sys.executable} {os.path.join(FOLDER, driver)}.py"
    arguments = ["conform", "--client", command, "--format", ",".join(formats), "--output-format", "json"]
    ran = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if ran.returncode not in (0, 1):
        sys.exit(f"{driver}: toolcheck ended with {ran.returncode}")
    found = {}
    for run in json.loads(ran.stdout)["runs"]:
        name = (run["scenario"], run["format"], "streamed" if run["stream"] else "whole")
        wrong = tuple(
            (verdict["status"], verdict["check"])
            for verdict in run["verdicts"]
            if verdict["status"] in ("fail", "weak")
        )
        reasons = {verdict["check"]: verdict["reason"] for verdict in run["verdicts"]}
        found[name] = (run["status"], wrong, reasons)
    return found


def main():
    program, page = sys.argv[1:3]
    differ, sections = [], []
    for driver, package, formats in CLIENTS:
        first, second = (verdicts(program, driver, formats) for _ in range(2))
        differ += [(driver, name) for name in first if first[name][:2] != second[name][:2]]
        version = importlib.metadata.version(package)
        counts = {}
        rows = {}
        for (scenario, form, way), (status, wrong, reasons) in first.items():
            counts[status] = counts.get(status, 0) + 1
            for level, check in wrong:
                # Ids and addresses differ from run to run.
                reason = reasons[check].split("\\u{a}")[0][:140].replace("|", "\\|")
                rows.setdefault((level, scenario, check, reason), []).append(f"{form} {way}")
        summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        lines = [f"## {package} {version}", "", f"{len(first)} runs: {summary}.", ""]
        if rows:
            lines += ["| | scenario | check | in | what |", "| --- | --- | --- | --- | --- |"]
            for (level, scenario, check, reason), where in sorted(rows.items()):
                lines.append(f"| {level} | `{scenario}` | `{check}` | {', '.join(where)} | {reason} |")
            lines.append("")
        sections.append("\n".join(lines))
    with open(page, "w") as out:
        out.write("# Agent frameworks\n\n")
        out.write("What `toolcheck conform` finds in current agent frameworks: each scenario was run twice, with equal verdicts.\n")
        out.write("`conformance/clients` has the drivers and the pinned versions; `toolcheck conform --list` says what each scenario is.\n")
        out.write("`fail` is what a loop must not do, `weak` what it should not.\n\n")
        out.write("\n".join(sections))
    for driver, name in differ:
        print(f"{driver}: {' '.join(name)}: the two runs differ", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
