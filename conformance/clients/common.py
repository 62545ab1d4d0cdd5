"""What the drivers share: the six standard tools, and the lines of JSON between `toolcheck conform` and a driver."""

import json
import sys
import time
import traceback


def echo(text: str) -> str:
    """Repeats a text."""
    return f"got {text}"


def fail(text: str) -> str:
    """Fails."""
    raise RuntimeError("TOOL FAILED")


def slow(text: str) -> str:
    """Repeats a text, after a moment."""
    time.sleep(0.05)
    return f"got {text}"


def none() -> str:
    """Needs nothing."""
    return "nothing to say"


def empty(text: str) -> str:
    """Returns an empty text."""
    return ""


def optional(text: str = "DEFAULT") -> str:
    """Repeats a text, if there is one."""
    return f"got {text}"


TOOLS = [echo, fail, slow, none, empty, optional]


def serve(run, formats):
    """Answers each task on the standard input with what `run(task)` returns: the final text, or an exception."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        task = json.loads(line)
        if task["format"] not in formats:
            answer = {"outcome": "skip", "text": f"it does not speak {task['format']} here"}
        else:
            try:
                answer = {"outcome": "done", "text": run(task) or ""}
            except Exception as error:
                traceback.print_exc(limit=-1)
                answer = {"outcome": "error", "text": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
