"""Two clients in three scenarios, whose verdicts are known: a test of the drivers and of `toolcheck conform`.

    python3 smoke.py PROGRAM

It installs them into an environment that it removes again; where that is not possible, it says so and nothing is
tested. After that, only the loopback interface is used.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv

from clients import FOLDER, python_of

# How many seconds installing may take.
PATIENCE = 100
FORMATS = ["openai-chat", "openai-responses"]
# What is not as it must or should be, in every format, streamed and not.
EXPECTED = {
    "pydantic_ai_agent.py": {
        "single-call": [],
        "parallel-one-fails": [("weak", "finishes"), ("weak", "tells-failure")],
        "unknown-tool": [],
    },
    "openai_agents.py": {
        "single-call": [],
        "parallel-one-fails": [],
        "unknown-tool": [("weak", "finishes")],
    },
}


def install(folder):
    """Makes the environment, or returns why that is not possible."""
    requirements = os.path.join(FOLDER, "requirements", "smoke.txt")
    command = [python_of(folder), "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-compile", "-r", requirements]
    try:
        venv.create(folder, with_pip=True)
        ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"installing takes longer than {PATIENCE} s"
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)
    return ran.stderr.strip().splitlines()[-1] if ran.returncode else None


def verdicts(program, python, driver):
    command = [program, "conform", "--client", f"{python} {os.path.join(FOLDER, driver)}"]
    command += ["--format", ",".join(FORMATS), "--output-format", "json"]
    for scenario in EXPECTED[driver]:
        command += ["--only", scenario]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
    for run in json.loads(ran.stdout)["runs"]:
        wrong = [
            (verdict["status"], verdict["check"])
            for verdict in run.get("verdicts") or []
            if verdict["status"] in ("fail", "weak")
        ]
        yield run, sorted(wrong) if run["status"] in ("pass", "weak", "fail") else run["status"]


def main():
    program = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if why := install(folder):
            print(f"skipped: the drivers of agent frameworks ({why})")
            return 0
        for driver, expected in EXPECTED.items():
            ran = list(verdicts(program, python_of(folder), driver))
            # A scenario that was not run would be no failure else.
            failed += (missing := len(expected) * len(FORMATS) * 2 - len(ran))
            if missing:
                print(f"{driver}: {missing} runs are missing")
            for run, wrong in ran:
                if wrong == expected[run["scenario"]]:
                    passed += 1
                    continue
                failed += 1
                way = "streamed" if run["stream"] else "whole"
                print(f"{driver}: {run['scenario']} {run['format']} {way}: {wrong}, not {expected[run['scenario']]}")
    print(f"clients: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
