#!/usr/bin/env python3
"""Makes the pictures of the documentation, with headless Chromium.

    screenshots.py --program P [--chromium C] [--page FILE]...

`docs/images/show.png` is `toolcheck show --output-format html`, and `docs/images/matrix.png` is `toolcheck matrix` over
reports on two agent loops: one that is written with care, and one that is not. Both loops are below, so that nothing
needs to be installed. `--page` adds a page of your own, such as the playground: its picture has the name of the file.

Nothing but the loopback interface is needed. Only Python's own library is needed, 3.11 or newer, and Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000
# What the two loops differ in, and what they do not.
SCENARIOS = [
    "all-fail",
    "broken-arguments",
    "empty-result",
    "no-arguments-empty-string",
    "parallel-one-fails",
    "rate-limited-mid-loop",
    "unknown-tool",
]


class Fault(Exception):
    """A picture that can't be made."""


# ---- the agent loops


def echo(text: str) -> str:
    return f"got {text}"


def fail(text: str) -> str:
    raise RuntimeError("TOOL FAILED")


def empty(text: str) -> str:
    return ""


def none() -> str:
    return "nothing to say"


def optional(text: str = "DEFAULT") -> str:
    return f"got {text}"


TOOLS = {"echo": echo, "fail": fail, "slow": echo, "empty": empty, "none": none, "optional": optional}


def declared(name: str) -> dict:
    has_text = name != "none"
    properties = {"text": {"type": "string"}} if has_text else {}
    schema: dict = {"type": "object", "properties": properties}
    if has_text and name != "optional":
        schema["required"] = ["text"]
    return {"type": "function", "function": {"name": name, "description": f"The tool {name}.", "parameters": schema}}


def call_tool(name: str, arguments: str, is_careful: bool) -> str:
    """What the model is told of a call. The careless loop takes what it gets, and ends where a tool fails."""
    if not is_careful:
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = {}
        return TOOLS[name](**parsed)
    try:
        parsed = json.loads(arguments or "{}")
        if name not in TOOLS:
            return f"Error: there is no tool {name}"
        return TOOLS[name](**parsed)
    except ValueError:
        return "Error: the arguments are not valid JSON, so the tool has not run"
    except Exception as error:  # noqa: BLE001 - whatever it is, the model is told
        return f"Error: {error}"


def send(base_url: str, messages: list, is_careful: bool) -> dict:
    body = {"model": "gpt-4.1", "messages": messages, "tools": [declared(name) for name in TOOLS]}
    headers = {"content-type": "application/json", "authorization": "Bearer unused"}
    request = urllib.request.Request(f"{base_url}/v1/chat/completions", json.dumps(body).encode(), headers)
    for is_last in [not is_careful, False, True]:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)["choices"][0]["message"]
        except urllib.error.HTTPError as error:
            if is_last or error.code not in (429, 503):
                raise
            time.sleep(float(error.headers.get("retry-after", 1)))
    raise AssertionError("the last attempt returns or raises")


def loop(is_careful: bool) -> None:
    """An agent loop for Chat Completions, as `toolcheck conform --client` starts it."""
    for line in sys.stdin:
        task = json.loads(line)
        if task["stream"] or task["needs"]:
            answer = {"outcome": "skip", "text": "it only knows the simple case"}
        else:
            try:
                messages: list = []
                for said in [task["prompt"], task["then"]]:
                    if said is not None:
                        messages.append({"role": "user", "content": said})
                        text = turn(task["base_url"], messages, is_careful)
                answer = {"outcome": "done", "text": text}
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
                answer = {"outcome": "error", "text": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def turn(base_url: str, messages: list, is_careful: bool) -> str:
    while True:
        message = send(base_url, messages, is_careful)
        messages.append({key: value for key, value in message.items() if value is not None})
        if not message.get("tool_calls"):
            return message.get("content") or ""
        for call in message["tool_calls"]:
            function = call["function"]
            content = call_tool(function["name"], function["arguments"], is_careful)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


# ---- the pictures


def run(command: list[str], folder: Path, statuses: tuple[int, ...] = (0,)) -> bytes:
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
    if result.returncode not in statuses:
        raise Fault(f"`{shlex.join(command)}` ended with {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout


def size(png: bytes) -> tuple[int, int]:
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise Fault("not a PNG")
    return struct.unpack(">II", png[16:24])


def picture(chromium: str, page: Path, image: Path, width: int, height: int) -> None:
    with tempfile.TemporaryDirectory() as profile:
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--force-device-scale-factor=1", f"--user-data-dir={profile}", f"--window-size={width},{height}",
            f"--screenshot={image}", page.as_uri(),
        ]
        run(command, page.parent)
    made = image.read_bytes()
    if size(made) != (width, height) or len(made) > LARGEST:
        raise Fault(f"{image.name}: {size(made)} with {len(made)} bytes, of at most {LARGEST}")
    print(f"{image.relative_to(ROOT)}: {width} x {height}, {len(made)} bytes")


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "loop":
        loop(sys.argv[2] == "careful")
        return 0
    parser = argparse.ArgumentParser(description="Makes the pictures of the documentation.")
    parser.add_argument("--program", default="toolcheck", help="the program `toolcheck`")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--page", type=Path, action="append", default=[], help="an HTML file of your own")
    options = parser.parse_args()
    program = str(Path(options.program).resolve()) if os.sep in options.program else options.program
    IMAGES.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shown = [program, "show", "--isolated", "fixtures/seeds/coco-before.json", "--output-format", "html"]
            (folder / "show.html").write_bytes(run(shown, ROOT, (0, 1)))
            picture(options.chromium, folder / "show.html", IMAGES / "show.png", 900, 420)
            reports = []
            for manner in ["careful", "careless"]:
                client = shlex.join([sys.executable, str(Path(__file__).resolve()), "loop", manner])
                command = [program, "conform", "--client", client, "--name", f"a {manner} loop",
                           "--format", "openai-chat", "--only", ",".join(SCENARIOS), "--output-format", "json"]
                report = folder / f"{manner}.json"
                report.write_bytes(run(command, folder, (0, 1)))
                reports.append(str(report))
            (folder / "matrix.html").write_bytes(run([program, "matrix", *reports], folder))
            picture(options.chromium, folder / "matrix.html", IMAGES / "matrix.png", 900, 480)
        for page in options.page:
            picture(options.chromium, page.resolve(), IMAGES / f"{page.stem}.png", 900, 700)
    except (Fault, OSError, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
