"""`lint` and its relatives, on every sort of body."""

import json
import mmap
import pickle
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import toolcheck_lint
from toolcheck_lint import Finding, Linter, ToolcheckError


def bodies(body):
    text = json.dumps(body)
    data = text.encode()
    yield "dict", body
    yield "str", text
    yield "bytes", data
    yield "bytearray", bytearray(data)
    yield "memoryview", memoryview(data)
    # Every second byte of a text that has each byte twice.
    yield "strided", memoryview(bytes(byte for byte in data for _ in range(2)))[::2]


def test_every_sort_of_body_has_the_same_findings(unanswered):
    for sort, body in bodies(unanswered):
        report = toolcheck_lint.lint(body)
        assert [(found.rule, found.pointer) for found in report] == [("unanswered-tool-call", "/messages/1/content/0")], sort
        assert (report.format, report.target, report.kind) == ("anthropic", "anthropic", "request"), sort
        assert (report.transcripts, report.messages, report.tool_calls, report.tool_results) == (1, 3, 1, 0), sort


def test_a_memory_map(unanswered, tmp_path):
    path = tmp_path / "body.json"
    path.write_text(json.dumps(unanswered))
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert toolcheck_lint.lint(mapped) == toolcheck_lint.lint_file(path)


def test_a_report_is_a_sequence(unanswered, clean):
    report, other = toolcheck_lint.lint(unanswered), toolcheck_lint.lint(clean)
    assert report
    assert not other
    assert other == []
    assert other == ()
    assert report != []
    assert report == list(report)
    assert report == toolcheck_lint.lint(unanswered)
    assert report[0] is report[-1]
    assert report[:1] == [report[0]]
    assert report.index(report[0]) == 0
    with pytest.raises(IndexError):
        report[1]
    with pytest.raises(TypeError):
        hash(report)


def test_a_finding(unanswered):
    found = toolcheck_lint.lint(unanswered)[0]
    assert (found.level, found.tool_call_id, found.tool_name, found.status) == ("error", "toolu_1", "tides", 400)
    assert "tool_use" in found.provider_error
    assert (found.evidence, found.doubt) == ("recorded", None)
    assert found.url.endswith("/unanswered-tool-call.md")
    assert found.value(unanswered) == unanswered["messages"][1]["content"][0]
    assert found.value(json.dumps(unanswered)) == unanswered["messages"][1]["content"][0]
    assert found.labels[0].pointer == "/messages/2"
    text = json.dumps(unanswered).encode()
    exact = toolcheck_lint.lint(text)[0]
    assert json.loads(text[exact.byte_start : exact.byte_end]) == found.value(text)
    match found:
        case Finding("unanswered-tool-call", pointer, message):
            assert pointer == "/messages/1/content/0"
            assert message == found.message
        case _:
            pytest.fail("it is not matched")
    with pytest.raises(AttributeError):
        found.rule = "other"
    assert pickle.loads(pickle.dumps(found)) == found
    assert {found: 1}[pickle.loads(pickle.dumps(found))] == 1


def test_the_value_of_a_finding_in_json_lines(unanswered, clean):
    text = f"{json.dumps(clean)}\n\n{json.dumps(unanswered)}\n"
    found = toolcheck_lint.lint(text)[0]
    assert found.record == 1
    assert found.value(text)["id"] == "toolu_1"
    with pytest.raises(LookupError):
        found.value([clean, clean])


def test_the_value_of_a_finding_in_a_string(unanswered):
    row = {"messages": json.dumps(unanswered["messages"]), "tools": "[]"}
    report = toolcheck_lint.lint(row, kind="dataset", select=["unanswered-tool-call"])
    for found in report:
        found.value(row)
    assert report.transcripts == 1


def test_errors_are_raised(unanswered, clean):
    toolcheck_lint.lint(clean).raise_for_errors(level="warning")
    report = toolcheck_lint.lint(unanswered)
    with pytest.raises(ToolcheckError, match="unanswered-tool-call") as raised:
        report.raise_for_errors()
    assert raised.value.report is report
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    assert again.report == report


def test_warnings_are_raised_if_asked_for(unanswered):
    report = toolcheck_lint.lint(unanswered, config='[levels]\nunanswered-tool-call = "warning"\n')
    assert (report.errors, report.warnings) == (0, 1)
    report.raise_for_errors()
    with pytest.raises(ToolcheckError):
        report.raise_for_errors(level="warning")


@pytest.mark.parametrize("body", ["{{{", "", b"\x00", [], {}, {"rows": 1}, None])
def test_nothing_that_was_read_is_not_clean(body):
    from toolcheck_lint.testing import check

    report = toolcheck_lint.lint(body, select=["unknown-tool"])
    assert (len(report), report.transcripts) == (0, 0)
    assert report != []
    assert report != ()
    assert report
    assert report == toolcheck_lint.lint(body, select=["unknown-tool"])
    assert "no transcript" in repr(report)
    for level in ("error", "warning"):
        with pytest.raises(ToolcheckError, match="^there is no transcript in the body, so nothing was checked$") as raised:
            report.raise_for_errors(level=level)
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
        with pytest.raises(AssertionError, match="there is no transcript"):
            check(body, select=["unknown-tool"]).assert_clean(level=level)
    with pytest.raises(AssertionError, match="there is no transcript"):
        check(body, select=["unknown-tool"]).assert_findings()
    with pytest.raises(ToolcheckError, match="malformed-json|unrecognised-format"):
        toolcheck_lint.lint(body).raise_for_errors()


@pytest.mark.parametrize("body", [{"messages": []}, {"contents": []}])
def test_a_list_of_no_messages_is_read(body):
    report = toolcheck_lint.lint(body, select=["unknown-tool"])
    assert report == []
    report.raise_for_errors(level="warning")


@pytest.mark.parametrize("level", ["warnings", "Error", "", None, 2, True])
def test_there_are_two_levels(clean, unanswered, level):
    from toolcheck_lint.testing import check

    for body in (clean, unanswered):
        for ask in (toolcheck_lint.lint(body).raise_for_errors, check(body).assert_clean):
            with pytest.raises(ValueError, match=f"there is no level {level!r}; expected error or warning"):
                ask(level=level)


def test_what_a_notebook_shows_is_no_page(unanswered):
    """Its rules hold for nothing else of the notebook."""
    drawn = toolcheck_lint.show(unanswered)
    shown = [toolcheck_lint.lint(unanswered), drawn, toolcheck_lint.diff(unanswered, {"messages": []})]
    for part in (one._repr_html_() for one in shown):
        assert part.startswith('<div class="toolcheck">\n<style>\n.toolcheck {')
        rules, body = part.split("</style>")
        assert rules.count("{") == rules.count("}") and not re.search(r"(?m)^\s*(:root|body|html)\b", rules)
        assert not re.search(r"<(!DOCTYPE|html|head|meta|body)\b", part) and "<main>" in body
    assert toolcheck_lint.Summary()._repr_html_().startswith("<pre>0 rows")


def test_positional_patterns_of_a_finding(unanswered):
    match toolcheck_lint.lint(unanswered)[0]:
        case toolcheck_lint.Finding("unanswered-tool-call", pointer, message):
            assert pointer and message
        case _:
            raise AssertionError
    assert toolcheck_lint.Finding.__match_args__ == ("rule", "pointer", "message")


def test_a_file_of_tools_is_a_path(unanswered):
    with pytest.raises(ValueError, match=r"^tools: to read the file tools.json, pass a path: `pathlib.Path\(...\)`$"):
        toolcheck_lint.lint(unanswered, tools="tools.json")


def test_what_is_written(unanswered):
    report = toolcheck_lint.lint(unanswered, name="history.json")
    assert report.render("concise").startswith("history.json:1:")
    assert "\x1b[" not in report.render()
    assert "\x1b[" in report.render(color=True)
    assert report.to_dict()["findings"][0]["path"] == "history.json"
    assert "✗ unanswered-tool-call" in report.show()
    assert "<script" not in report._repr_html_()
    assert toolcheck_lint.show(unanswered).strip().endswith("0 results)")
    assert toolcheck_lint.show(unanswered)._repr_html_().startswith("<")
    assert toolcheck_lint.show(unanswered, "html").startswith("<!DOCTYPE html>")
    assert toolcheck_lint.show(unanswered, output="markdown") == toolcheck_lint.lint(unanswered).show("markdown")
    with pytest.raises(ValueError, match=r'of the findings; `show\("html"\)` draws the body with them$'):
        report.render("html")
    for wrong in (report.render, report.show):
        with pytest.raises(ValueError, match="there is no output \"fulll\"; expected one of "):
            wrong("fulll")


def test_wrong_settings_say_what_is_right(tmp_path):
    wrong = [
        ({"target": "bedrok"}, "did you mean `bedrock`"),
        ({"format": "antropic"}, "did you mean `anthropic`"),
        ({"kind": "log"}, "request, session, dataset"),
        ({"select": ["blank-txt"]}, "did you mean `blank-text`"),
        ({"config": "selec = []"}, "1:1: unknown field `selec`"),
        ({"config": "toolcheck.toml"}, "^config: to read the file toolcheck.toml, pass a path"),
        ({"config": "toolcheck.toml.bak"}, "^config: to read the file toolcheck.toml.bak, pass a path"),
        ({"config": "toolcheck"}, "invalid configuration"),
        ({"target": "gateway.toml"}, "^target: to read the file gateway.toml, pass a path"),
        ({"tools": "nothing"}, "no tools found"),
    ]
    for settings, expected in wrong:
        with pytest.raises(ValueError, match=expected):
            Linter(**settings)
    with pytest.raises(TypeError):
        Linter(taget="bedrock")
    with pytest.raises(FileNotFoundError):
        Linter(config=tmp_path / "toolcheck.toml")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"target": 5}, "target: expected a name (str) or a path, not int"),
        ({"config": {}}, "config: expected the text of a configuration (str) or a path, not dict"),
        ({"format": b"anthropic"}, "format: expected a text (str), not bytes"),
        ({"kind": 1}, "kind: expected a text (str), not int"),
        ({"at": 0}, "at: expected a text (str), not int"),
        ({"name": Path("body.json")}, "name: expected a text (str), not PosixPath"),
        ({"select": 5}, "select: expected ids of rules (str), not int"),
        ({"extend_select": [5]}, "extend_select: expected ids of rules (str), not int"),
        ({"ignore": [None]}, "ignore: expected ids of rules (str), not NoneType"),
        ({"tools": [{1}]}, "tools[0]: set is neither JSON nor an object of an SDK"),
    ],
)
def test_settings_of_a_wrong_type_are_named(settings, expected, clean):
    for make in (Linter, lambda **settings: toolcheck_lint.lint(clean, **settings)):
        with pytest.raises(TypeError) as raised:
            make(**settings)
        assert str(raised.value) == expected


def test_paths_and_files_are_no_bodies(tmp_path, clean):
    path = tmp_path / "body.json"
    path.write_text(json.dumps(clean))
    takers = (toolcheck_lint.lint, toolcheck_lint.fix, toolcheck_lint.show, Linter().lint, lambda body: toolcheck_lint.diff(clean, body))
    for take in takers:
        with pytest.raises(TypeError, match=r"^(body|after): a path is not read: .*`lint_file\(path\)`$"):
            take(path)
        for mode in ("r", "rb"):
            with open(path, mode) as file, pytest.raises(TypeError, match=r"^(body|after): a file is not read: pass `file.read\(\)`"):
                take(file)
        for text in (str(path), "history.JSONL", "tides.har", ".yaml"):
            with pytest.raises(ValueError, match=r"^(body|after): this is the text of a body and not a path: .*`lint_file\(path\)`$"):
                take(text)
    assert toolcheck_lint.lint_file(str(path)) == toolcheck_lint.lint_file(path) == toolcheck_lint.lint_file(bytes(path)) == []


@pytest.mark.parametrize("text", ['{"a": ".json"', "one\ntwo.json", '"body.json', "json", "é.txt", "🙂json", "x" * 5000 + ".json", b"body.json"])
def test_other_texts_are_bodies(text):
    assert not toolcheck_lint.lint(text).transcripts


def test_a_configuration(unanswered, tmp_path):
    text = 'ignore = ["unanswered-tool-call"]\n'
    path = tmp_path / "toolcheck.toml"
    path.write_text(text)
    assert toolcheck_lint.lint(unanswered, config=text) == []
    assert toolcheck_lint.lint(unanswered, config=path) == []
    allowed = '[[allow]]\nrule = "unanswered-tool-call"\nreason = "a test"\n'
    report = toolcheck_lint.lint(unanswered, config=allowed)
    assert report == []
    assert report.to_dict()["summary"]["allowed"] == 1


def test_no_configuration_is_searched_for(unanswered, tmp_path, monkeypatch):
    (tmp_path / "toolcheck.toml").write_text('ignore = ["unanswered-tool-call"]\n')
    monkeypatch.chdir(tmp_path)
    assert toolcheck_lint.lint(unanswered)


def test_a_target_of_ones_own(unanswered, tmp_path):
    path = tmp_path / "gateway.toml"
    path.write_text('id = "gateway"\nname = "Our gateway"\nextends = "anthropic"\nformat = "anthropic"\n')
    assert toolcheck_lint.lint(unanswered, target=path).target == "gateway"


def test_tools_for_bodies_without_any(unanswered):
    tools = [{"name": "currents", "input_schema": {"type": "object"}}]
    assert "unknown-tool" not in {found.rule for found in toolcheck_lint.lint(unanswered)}
    assert "unknown-tool" in {found.rule for found in toolcheck_lint.lint(unanswered, tools=tools)}


def test_a_linter_is_kept_and_pickled(unanswered):
    linter = Linter(target="bedrock", ignore=["unanswered-tool-call"], tools=[])
    again = pickle.loads(pickle.dumps(linter))
    assert again.lint(unanswered) == linter.lint(unanswered)
    assert again.lint(unanswered).target == "bedrock"
    report = linter.lint(unanswered)
    copied = pickle.loads(pickle.dumps(report))
    assert copied == report
    assert copied.render() == report.render()


def test_a_fix(unanswered):
    fixed = toolcheck_lint.fix(unanswered)
    assert fixed.is_changed
    assert fixed.report == []
    assert fixed.text == fixed.body.decode()
    assert toolcheck_lint.fix(b"\xff").text == "\ufffd"
    assert fixed.json()["messages"][2]["content"][0]["tool_use_id"] == "toolu_1"
    assert [one["rule"] for one in fixed.plan["applied"]] == ["unanswered-tool-call"]
    assert not toolcheck_lint.fix(fixed.body).is_changed
    assert toolcheck_lint.fix(fixed.body).body == fixed.body


def test_a_fix_of_one_rule_or_place(unanswered):
    def rules(**how):
        return [done["rule"] for done in toolcheck_lint.fix(unanswered, unsafe_fixes=True, **how).plan["applied"]]

    assert rules(only=["unanswered-tool-call"]) == rules(only="unanswered-tool-call") == ["unanswered-tool-call"]
    assert rules(only=["orphan-tool-result"]) == rules(place="/messages/0") == []
    with pytest.raises(ValueError, match="there is no rule"):
        rules(only=["unanswered-tool-cal"])
    with pytest.raises(ValueError, match="a LINE, a LINE:COLUMN or a JSON Pointer"):
        rules(place="x")


def test_a_comparison(unanswered, clean):
    changes = toolcheck_lint.diff(unanswered, clean)
    lost = changes[0]
    assert (lost.kind, lost.level, lost.before, lost.after) == ("call-lost", "loss", "/messages/1/content/0", None)
    assert "call-lost" in changes.render("concise")
    assert not toolcheck_lint.diff(clean, clean)
    with pytest.raises(ValueError, match="after"):
        toolcheck_lint.diff(clean, {"rows": 1})


def test_an_error_of_an_api_is_explained(unanswered):
    text = (
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block "
        "must have a corresponding `tool_result` block in the next message."
    )
    alone = toolcheck_lint.explain_error(text)
    assert alone.is_explained
    assert alone.rules[0] == "unanswered-tool-call"
    with_body = toolcheck_lint.explain_error(text, unanswered)
    assert with_body.data["findings"][0]["pointer"] == "/messages/1/content/0"
    assert "toolu_1" in str(with_body)
    assert not toolcheck_lint.explain_error("the moon is full").is_explained


def test_an_error_is_that_of_the_api_that_is_named(unanswered, clean):
    alone = toolcheck_lint.explain_error(UNANSWERED_ERROR)
    assert alone.data["matches"][0]["target"] == "anthropic"
    assert alone.cause is None
    named = toolcheck_lint.explain_error(UNANSWERED_ERROR, target="vertex-anthropic")
    assert named.data["matches"][0]["target"] == "vertex-anthropic"
    assert toolcheck_lint.explain_error(UNANSWERED_ERROR, unanswered, target="vertex-anthropic").cause == "found"
    assert toolcheck_lint.explain_error(UNANSWERED_ERROR, clean).cause is None
    with pytest.raises(ValueError, match="there is no target `bedrok`; did you mean `bedrock`"):
        toolcheck_lint.explain_error(UNANSWERED_ERROR, target="bedrok")


UNANSWERED_ERROR = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must "
    "have a corresponding `tool_result` block in the next message."
)


def exceptions():
    said = {"type": "error", "error": {"type": "invalid_request_error", "message": UNANSWERED_ERROR}}

    def made(text="Bad Request", **attributes):
        error = RuntimeError(text)
        for name, value in attributes.items():
            setattr(error, name, value)
        return error

    class Response:
        text = json.dumps(said)

    class Unread:
        @property
        def text(self):
            raise RuntimeError("the response was streamed")

    yield "a body", made(body=said)
    yield "the error in a body", made(body=said["error"])
    yield "a body as text", made(body=json.dumps(said))
    yield "bytes", made(body=json.dumps(said).encode())
    yield "a response", made(body=None, response=Response())
    yield "a dictionary as a response", made(response={"Error": {"Code": "ValidationException", "Message": UNANSWERED_ERROR}})
    yield "a message", made(message=UNANSWERED_ERROR, response=Unread())
    yield "its text", made(UNANSWERED_ERROR, body={"error": "Bad Request"})
    yield "a dictionary that is no exception", said
    yield "bytes that are no exception", json.dumps(said).encode()


@pytest.mark.parametrize(("sort", "error"), list(exceptions()), ids=lambda value: value if isinstance(value, str) else "")
def test_an_exception_is_explained(unanswered, sort, error):
    explained = toolcheck_lint.explain_error(error, unanswered)
    assert explained.is_explained, sort
    assert explained.rules[0] == "unanswered-tool-call"
    assert explained.data["findings"][0]["pointer"] == "/messages/1/content/0"


def test_an_exception_of_a_real_sdk(unanswered):
    openai = pytest.importorskip("openai")
    httpx = pytest.importorskip("httpx2")
    text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1"
    body = {"error": {"message": text, "type": "invalid_request_error", "param": "messages", "code": None}}
    client = openai.OpenAI(
        api_key="x", max_retries=0, http_client=httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(400, json=body)))
    )
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="gpt-4o", messages=[])
    assert toolcheck_lint.explain_error(raised.value).rules[0] == "unanswered-tool-call"


def test_what_is_no_error():
    assert not toolcheck_lint.explain_error(RuntimeError()).is_explained
    assert not toolcheck_lint.explain_error("").is_explained
    for wrong in (5, None, object()):
        with pytest.raises(TypeError, match="^text: expected the text of an error, the body of a response or an exception, not "):
            toolcheck_lint.explain_error(wrong)


def test_an_explanation_says_how_to_add_the_body():
    known, unknown = (str(toolcheck_lint.explain_error(text)) for text in (UNANSWERED_ERROR, "the moon is full"))
    assert "To find the cause, add the request that failed: `explain_error(text, body)`\n" in known
    assert "add it: `explain_error(text, body)`" in unknown


def test_one_linter_on_several_threads(unanswered, clean):
    linter = Linter()
    seen = []

    def work():
        for _ in range(50):
            seen.append((len(linter.lint(unanswered)), len(linter.lint(clean))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [(1, 0)] * 200


def test_the_package_is_small_to_import():
    source = Path(toolcheck_lint.__file__).parent
    assert (source / "py.typed").exists()
    code = "import sys, toolcheck_lint; print([name for name in ('pytest', 'pyarrow', 'pandas', 'numpy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_conversation_that_is_nearly_the_next_one(clean):
    with pytest.warns(UserWarning, match="^conversation='nxt' is the title of a conversation; did you mean 'next'[?]$"):
        toolcheck_lint.lint(clean, conversation="nxt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("next", "2", "Which ferry goes first?"):
            toolcheck_lint.lint(clean, conversation=name)


def test_what_is_known_of_a_model():
    known = toolcheck_lint.models("gpt-5")
    assert known["model"] == "gpt-5"
    assert any(fact["key"] == "max_tokens" for fact in known["facts"] if "key" in fact)
    assert toolcheck_lint.models("unheard-of-3b")["facts"] == []
    assert len(toolcheck_lint.models()["facts"]) > len(known["facts"])
    with pytest.raises(TypeError, match="expected a name"):
        toolcheck_lint.models(5)


def test_an_argument_that_is_misspelt():
    for call in (Linter, lambda **more: toolcheck_lint.lint({}, **more), lambda **more: toolcheck_lint.fix({}, **more)):
        with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument `taget`; did you mean `target`\?$"):
            call(taget="bedrock")
    with pytest.raises(TypeError, match=r"^Linter\.fix\(\) got an unexpected keyword argument `unsafe_fix`; did you mean `unsafe_fixes`\?$"):
        Linter().fix({}, unsafe_fix=True)
    with pytest.raises(TypeError, match=r"^Linter\(\) got an unexpected keyword argument `x`$"):
        Linter(x=1)


def test_tools_of_a_file(tmp_path):
    """As `target`, `config` and `template` are."""
    tool = {"type": "function", "function": {"name": "tide", "parameters": {"type": "object", "properties": {}}}}
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([tool]))
    call = {"id": "c", "type": "function", "function": {"name": "tides", "arguments": "{}"}}
    body = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [call]}]}
    rules = [[one.rule for one in toolcheck_lint.lint(body, kind="dataset", tools=tools)] for tools in (path, [tool])]
    assert rules[0] == rules[1] and "unknown-tool" in rules[0]
    with pytest.raises(FileNotFoundError):
        toolcheck_lint.lint(body, tools=tmp_path / "none.json")


def test_the_native_module_says_how_it_was_built():
    """What makes releases looks for it."""
    from toolcheck_lint import _native

    assert _native.BUILD in ("toolcheck-lint build: debug", "toolcheck-lint build: release")
