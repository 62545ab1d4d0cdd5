#!/usr/bin/env python3
"""Write what tables say of models: `crates/toolcheck-core/models`, and what targets find in requests by it.

usage: python3 scripts/models.py [TABLE YYYY-MM]

TABLE is LiteLLM's `model_prices_and_context_window.json`, also as its package has it
(`litellm/model_prices_and_context_window_backup.json`), and YYYY-MM the month of that version. Run it by hand for a
release, and look at what changed: a day on which a model is shut down may have moved.

An entry with another source than the table is left as it is, and what it says of a model is not said again.

The end of a target's file, from the line that names this script, says which models read no images. It is written from all
entries, also without TABLE: run it then after a change of an entry by hand.
"""

import json
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "crates/toolcheck-core/models"
SOURCE = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"
# The table's name of a provider, and the file.
PROVIDERS = {
    "anthropic": "anthropic",
    "bedrock_converse": "bedrock",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "cohere_chat": "cohere",
    "deepseek": "deepseek",
    "gemini": "gemini",
    "groq": "groq",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "moonshot",
    "openai": "openai",
    "xai": "xai",
    "zai": "zai",
}
# A model's answers are shorter than what it reads, and a larger number in the table is that.
LARGEST_ANSWER = 400_000
# Bedrock's names with a region in front mean the same model.
REGION = re.compile(r"^(us|eu|apac|au|jp|ca|global|us-gov)\.")
# The targets of a provider's models, and how a request to them holds an image.
IMAGES = {
    "bedrock": {
        "bedrock-converse": [
            (("contentBlock", "toolResultContent"), ["image", "video"], "unsupported-media"),
            "This model doesn't support the {field} content block that you provided. Update the content block and try again.",
            "(^|[./])({})$",
        ]
    },
    "openai": {
        "openai-chat": [
            (("content.user",), "image_url", "unknown-content-type"),
            "Invalid content type. image_url is only supported by certain models.",
            "^({})$",
        ],
        "openai-responses": [
            (("content.input", "content.result"), "input_image", "unknown-content-type"),
            "",
            "^({})$",
        ],
    },
}
MARK = "# --- what tables say of models, written by scripts/models.py\n"


def facts_of(table, provider):
    """The facts of a provider's models, with the names of which they are said."""
    groups = defaultdict(list)
    for name, model in table.items():
        is_chat = model.get("mode") in ("chat", "responses")
        if PROVIDERS.get(model.get("litellm_provider")) != provider or not is_chat or name.startswith("ft:"):
            continue
        prefix = f"{model['litellm_provider']}/"
        name = name.removeprefix(prefix)
        if provider == "bedrock":
            name = REGION.sub("", name)
        longest = model.get("max_output_tokens")
        # As long as what the model reads is no limit of answers, but that of both together.
        is_limit = isinstance(longest, int) and longest <= LARGEST_ANSWER and longest != model.get("max_input_tokens")
        longest = longest if is_limit else None
        facts = (model.get("deprecation_date"), longest, model.get("supports_vision"))
        if any(fact is not None for fact in facts):
            groups[facts].append(name)
    # Of two that say different things, neither is said.
    counts = defaultdict(set)
    for facts, names in groups.items():
        for name in names:
            counts[name].add(facts)
    return {facts: sorted({name for name in names if len(counts[name]) == 1}) for facts, names in groups.items()}


def written(value):
    if isinstance(value, list):
        return "[\n" + "".join(f"  {written(one)},\n" for one in value) + "]" if len(value) > 1 else f"[{written(value[0])}]"
    return json.dumps(value)


def entry(model):
    lines = ["[[model]]"]
    lines += [f"{key} = {written(value)}" for key, value in model.items() if value is not None]
    return "\n".join(lines) + "\n"


def images_of(models, places, text, pattern):
    """The facts about images, for the models that read none by these entries."""
    blind = [model for model in models if model.get("reads-images") is False]
    names = sorted({re.escape(name).replace("\\-", "-") for model in blind for name in model["ids"]})
    objects, names_of_image, rule = places
    fault = (
        {"fields": names_of_image, "fault": "unknown", "absent": True}
        if isinstance(names_of_image, list)
        else {"field": "type", "fault": "value", "refused-values": [names_of_image]}
    )
    facts = ""
    for place in objects:
        fact = {"object": place, **fault, "rule": rule}
        facts += "\n[[shape.fact]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fact.items())
        facts += f"model = '{pattern.format('|'.join(names))}'\nstatus = 400\n"
        facts += f"text = {json.dumps(text)}\n"
        facts += 'help = "use a model that reads images"\nevidence = "inferred"\n'
        sources = list(dict.fromkeys(source for model in blind for source in model["sources"]))
        facts += f"sources = {written(sources)}\nseen = {json.dumps(max(model['seen'] for model in blind))}\n"
    return facts


def write_images():
    for provider, targets in IMAGES.items():
        models = tomllib.loads((FOLDER / f"{provider}.toml").read_text())["model"]
        for target, (places, text, pattern) in targets.items():
            file = FOLDER.parent / f"targets/{target}.toml"
            by_hand = file.read_text().split(MARK)[0].rstrip("\n")
            file.write_text(f"{by_hand}\n\n{MARK}{images_of(models, places, text, pattern)}")


def main():
    if len(sys.argv) == 1:
        return write_images()
    path, seen = sys.argv[1:]
    table = json.loads(Path(path).read_text())
    FOLDER.mkdir(exist_ok=True)
    for provider in sorted(set(PROVIDERS.values())):
        file = FOLDER / f"{provider}.toml"
        text = file.read_text() if file.exists() else f"# What is said of the models of {provider}.\n"
        head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
        own = [model for model in tomllib.loads(text).get("model", []) if SOURCE not in model["sources"]]
        known = {(name, key) for model in own for name in model["ids"] for key in model}
        entries = [entry(model) for model in own]
        facts = facts_of(table, provider)
        order = lambda facts: (facts[0] or "9999", facts[1] or 0, str(facts[2]))  # noqa: E731
        for shutdown, longest, images in sorted(facts, key=order):
            told = {"shutdown": shutdown, "max-output": longest, "reads-images": images}
            # Names of which an entry by hand says some of it already, with those of which it says the same.
            groups = defaultdict(list)
            for name in facts[shutdown, longest, images]:
                groups[tuple(key for key in told if told[key] is not None and (name, key) not in known)].append(name)
            for keys, names in groups.items():
                if keys:
                    model = {"ids": names, **{key: told[key] for key in keys}}
                    entries.append(entry({**model, "evidence": "reported", "sources": [SOURCE], "seen": seen}))
        file.write_text(head + "\n" + "\n".join(entries))
        print(f"{provider}: {len(entries)} entries, {len(own)} of them with other sources")
    write_images()


if __name__ == "__main__":
    main()
