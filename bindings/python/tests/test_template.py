"""The chat template of a model, in each form that it has."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import toolcheck_lint as toolcheck

# It prints no calls.
SOURCE = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}{{ eos_token }}"
BODY = {
    "messages": [
        {"role": "user", "content": "when is high tide?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
    ]
}


def rules(template):
    return [finding.rule for finding in toolcheck.lint(BODY, template=template)]


def test_each_form_of_a_template_says_the_same(tmp_path: Path):
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": SOURCE, "eos_token": {"content": "</s>"}}))
    tokenizer = SimpleNamespace(chat_template=SOURCE, eos_token="</s>")
    several = SimpleNamespace(chat_template={"default": SOURCE}, eos_token="</s>")
    for template in (SOURCE, config, tmp_path, tokenizer, several):
        assert rules(template) == ["template-loses"], template
    assert list(toolcheck.lint(BODY)) == []


def test_what_is_no_template_is_told():
    with pytest.raises(ValueError, match="pass a path"):
        rules("tokenizer_config.json")
    with pytest.raises(TypeError, match="expected a path"):
        rules(SimpleNamespace(chat_template=None))


def test_a_template_that_refuses_has_its_own_words():
    source = "{{ raise_exception('no tools, please') }}"
    report = toolcheck.lint(BODY, template=source)
    assert "no tools, please" in report[0].message
    assert report[0].rule == "template-refuses"


def test_a_form_that_the_template_reads():
    source = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{% endfor %}"
    body = json.loads(json.dumps(BODY))
    body["messages"][1]["content"] = None
    assert rules_of(body, source) == ["template-prints-none"]
    fixed = toolcheck.fix(body, template=source)
    assert fixed.json()["messages"][1]["content"] == ""
    assert rules_of(fixed.json(), source) == []


def rules_of(body, source):
    return [finding.rule for finding in toolcheck.lint(body, template=source)]
