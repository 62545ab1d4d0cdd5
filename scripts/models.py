#!/usr/bin/env python3
"""Write what tables say of models: `crates/toolcheck-core/models`.

usage: python3 scripts/models.py TABLE YYYY-MM

TABLE is LiteLLM's `model_prices_and_context_window.json`, also as its package has it
(`litellm/model_prices_and_context_window_backup.json`), and YYYY-MM the month of that version. Run it by hand for a
release, and look at what changed: a day on which a model is shut down may have moved.

An entry with another source than the table is left as it is, and what it says of a model is not said again.
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
        longest = longest if isinstance(longest, int) and longest <= LARGEST_ANSWER else None
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


def main():
    path, seen = sys.argv[1:]
    table = json.loads(Path(path).read_text())
    FOLDER.mkdir(exist_ok=True)
    for provider in sorted(set(PROVIDERS.values())):
        file = FOLDER / f"{provider}.toml"
        text = file.read_text() if file.exists() else f"# What is said of the models of {provider}.\n"
        head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
        own = [model for model in tomllib.loads(text).get("model", []) if SOURCE not in model["sources"]]
        known = {name for model in own for name in model["ids"]}
        entries = [entry(model) for model in own]
        facts = facts_of(table, provider)
        order = lambda facts: (facts[0] or "9999", facts[1] or 0, str(facts[2]))  # noqa: E731
        for shutdown, longest, images in sorted(facts, key=order):
            names = [name for name in facts[shutdown, longest, images] if name not in known]
            if names:
                model = {"ids": names, "shutdown": shutdown, "max-output": longest, "reads-images": images}
                entries.append(entry({**model, "evidence": "reported", "sources": [SOURCE], "seen": seen}))
        file.write_text(head + "\n" + "\n".join(entries))
        print(f"{provider}: {len(entries)} entries, {len(own)} of them with other sources")


if __name__ == "__main__":
    main()
