"""What the drivers share: the standard tools, and the lines of JSON between `toolcheck conform` and a driver."""

import asyncio
import concurrent.futures
import json
import sys
import threading
import time
import traceback
from dataclasses import dataclass

# Set as soon as `slow` is called, for who wants to interrupt it.
CALLED = threading.Event()
# How the first run ended, if there was a second.
FIRST = {}
# The `run` of the driver, and its task.
NOW = {}
# How many seconds `slow` takes; longer where it is interrupted.
MOMENT = {"usual": 0.05, "interrupt": 1.5}
moment = MOMENT["usual"]

# A red square of eight pixels.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000080000000808020000004b6d29dc000000114944415478da63f8cfc080"
    "15310c2d090028ff3fc1ce77c84f0000000049454e44ae426082"
)


def echo(text: str) -> str:
    """Repeats a text."""
    return f"got {text}"


def fail(text: str) -> str:
    """Fails."""
    raise RuntimeError("TOOL FAILED")


def slow(text: str) -> str:
    """Repeats a text, after a moment."""
    CALLED.set()
    time.sleep(moment)
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


def huge(text: str) -> str:
    """Returns two megabytes of text."""
    return "0123456789abcde\n" * (2 << 16)


def surrogate(text: str) -> str:
    """Returns half a character."""
    return "half \ud800 of it"


def delegate(text: str) -> str:
    """Has another agent do something."""
    # In a thread of its own, because a loop may run in this one.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        task = {**NOW["task"], "prompt": text, "then": None, "needs": []}
        return whole(pool.submit(NOW["run"], task).result())


TOOLS = [echo, fail, slow, none, empty, optional]
EXTRA = {"tool:huge": huge, "tool:surrogate": surrogate, "tool:delegate": delegate}
# What every driver in which a conversation is data can do.
ALL = [*EXTRA, "tool:image", "interrupt", "fork", "max-turns", "switch-format", "withdraw-tools"]


@dataclass
class Message:
    """What the user says, and how the loop is set up at that time."""

    text: str
    format: str
    # Functions; the driver makes tools of its framework of them.
    tools: list
    # How many requests the loop may make.
    limit: int | None
    # Whether it is said in a copy of the conversation that ends before the last answer of the model.
    fork: bool = False


def messages(task, image=None):
    """What the user says first, and then. `image` is the tool of that name in the words of the framework."""
    needs = task.get("needs") or []
    extra = {**EXTRA, "tool:image": image}
    tools = TOOLS + [extra[need] for need in needs if need in extra]
    limit = task.get("max_turns") if "max-turns" in needs else None
    yield Message(task["prompt"], task["format"], tools, limit)
    if task.get("then"):
        switched = task.get("then_format") if "switch-format" in needs else None
        withdrawn = "withdraw-tools" in needs and task.get("then_tools") is False
        yield Message(task["then"], switched or task["format"], [] if withdrawn else tools, None, "fork" in needs)


async def talk(task, say, image=None, stop=None):
    """Has the user say everything in turn: `say(message)` runs the loop and returns the final text.

    If the first run fails, the user goes on in the same conversation, if there is more to say.
    `stop` interrupts the first run; without it, the run is cancelled as asyncio does.
    """
    first, *rest = messages(task, image)
    if not rest:
        return await say(first)
    try:
        text = await (until_slow(say(first), stop) if "interrupt" in (task.get("needs") or []) else say(first))
    except (Exception, asyncio.CancelledError) as error:
        print(f"the first run ended with {type(error).__name__}: {error}", file=sys.stderr)
        FIRST.update(failed(error))
    else:
        FIRST.update(outcome="done", text=whole(text))
    return await say(rest[0])


def whole(text):
    """The answer itself must be whole characters."""
    return str(text or "").encode(errors="replace").decode()


def failed(error):
    return {"outcome": "error", "text": whole(f"{type(error).__name__}: {error}"[:2000])}


async def until_slow(running, stop=None):
    """Stops what runs as soon as `slow` has been called."""
    running = asyncio.ensure_future(running)
    called = asyncio.get_running_loop().run_in_executor(None, CALLED.wait, 30)
    await asyncio.wait({running, called}, return_when=asyncio.FIRST_COMPLETED)
    CALLED.set()
    if not running.done():
        (stop or running.cancel)()
        await asyncio.wait({running}, timeout=10)
    if not running.done():
        raise TimeoutError("it does not end when it is interrupted")
    return await running


def serve(run, formats, can=(), only_streamed=(), only_whole=()):
    """Answers each task on the standard input with what `run(task)` returns: the final text, or an exception.

    `can` has what the driver does beyond the six tools and a second message; a task that needs more is skipped.
    """
    global moment
    answers, sys.stdout = sys.stdout, sys.stderr
    # What was imported until now does not count against the first task.
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()
    for line in sys.stdin:
        task = json.loads(line)
        needs = task.get("needs") or []
        asked = [task["format"], *filter(None, [task.get("then_format")])]
        other_way = only_whole if task["stream"] else only_streamed
        why = (
            next((f"it does not speak {form} here" for form in asked if form not in formats), None)
            or next((f"it has no way for {need}" for need in needs if need not in can), None)
            or next((f"it has only one way for {form}" for form in asked if form in other_way), None)
        )
        if why:
            answer = {"outcome": "skip", "text": why}
        else:
            CALLED.clear()
            FIRST.clear()
            NOW.update(run=run, task=task)
            moment = MOMENT["interrupt" if "interrupt" in needs else "usual"]
            try:
                answer = {"outcome": "done", "text": whole(run(task))}
            except (Exception, asyncio.CancelledError) as error:
                traceback.print_exc(limit=-1)
                answer = failed(error)
            if FIRST:
                answer["first"] = dict(FIRST)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
