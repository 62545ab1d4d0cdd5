"""Objects are taken for the JSON that they are, or refused with the place of what is not valid JSON."""

import dataclasses
import enum
import json
from types import MappingProxyType

import pytest

import toolcheck_lint
from toolcheck_lint import _native


def dumped(value):
    return json.loads(_native.text_of(value))


def test_what_json_has():
    class Level(enum.IntEnum):
        HIGH = 3

    class Name(str):
        pass

    value = {
        "text": 'a "quoted" \\ line\n\t\x00\x1f\x7f\u2028 ü 😀' + "x" * 40 + '"',
        "numbers": [0, -1, 2**63, -(2**80), 1.5, 1e300, -0.0, True, False, None],
        "empty": [{}, [], "", ()],
        "tuple": (1, "two"),
        "subclasses": [Level.HIGH, Name("n")],
        "": {"": 1},
    }
    assert dumped(value) == json.loads(json.dumps(value))
    assert _native.text_of("text") == b"text"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"messages": [{"content": {"a"}}]}, r"^body\['messages'\]\[0\]\['content'\]: set is neither JSON nor an object of an SDK$"),
        ({"a": float("nan")}, r"^body\['a'\]: NaN is not valid JSON$"),
        ([float("-inf")], r"^body\[0\]: an infinite number is not valid JSON$"),
        ({"a": {1: 2}}, r"^body\['a'\]: the key 1 is not a string, but int$"),
        ({"a": {None: 2}}, r"the key None is not a string, but NoneType"),
        ({"a": b"bytes"}, r"^body\['a'\]: bytes is neither JSON"),
        (object(), r"^body: object is neither JSON"),
        ([dict], r"^body\[0\]: type is neither JSON"),
        (None, None),
    ],
)
def test_what_json_has_not(value, expected):
    if expected is None:
        assert _native.text_of(value) == b"null"
        return
    with pytest.raises(TypeError, match=expected):
        toolcheck_lint.lint(value)


def test_objects_that_contain_themselves():
    list_of_itself = []
    list_of_itself.append({"x": list_of_itself})
    with pytest.raises(ValueError, match=r"^body\[0\]\['x'\]: the object contains itself$"):
        toolcheck_lint.lint(list_of_itself)
    shared = {"role": "user", "content": "Hello"}
    assert len(dumped([shared, shared])) == 2


def test_depth_is_bounded():
    deep = "leaf"
    for _ in range(499):
        deep = [deep]
    assert dumped(deep)
    with pytest.raises(ValueError, match=r"nested more than 500 levels deep") as raised:
        toolcheck_lint.lint([[deep]])
    assert len(str(raised.value)) < 200


def test_length_is_bounded():
    wide = "x" * 1024
    for _ in range(9):
        wide = [wide] * 10
    with pytest.raises(ValueError, match="longer than 256 MiB as text"):
        toolcheck_lint.lint(wide)


def test_lone_surrogates_are_found():
    text = "cut \ud83d here"
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": text}]}
    found = toolcheck_lint.lint(body)
    assert [one.rule for one in found] == ["lone-surrogate"]
    assert found[0].value(body) == text
    assert {one.rule for one in toolcheck_lint.lint(json.dumps(body))} == {"lone-surrogate"}
    assert toolcheck_lint.lint(json.dumps(body, ensure_ascii=False))
    assert dumped({"\udc00": "\ud800\udbff"}) == {"\udc00": "\ud800\udbff"}


def test_dataclasses_and_mappings():
    @dataclasses.dataclass
    class Message:
        role: str
        content: object

    body = {"max_tokens": 1, "messages": [Message("user", MappingProxyType({"nested": [Message("a", None)]}))]}
    assert dumped(body)["messages"] == [{"role": "user", "content": {"nested": [{"role": "a", "content": None}]}}]


@pytest.mark.parametrize(
    ("module", "name", "is_left_out"),
    [
        ("openai", "NotGiven", True),
        ("openai._types", "Omit", True),
        ("anthropic", "NotGiven", True),
        ("mistralai.types.basemodel", "Unset", True),
        ("openai", "Other", False),
        ("openair", "NotGiven", False),
        ("builtins", "Omit", False),
    ],
)
def test_what_an_sdk_leaves_out(module, name, is_left_out):
    value = type(name, (), {"__module__": module})()
    body = {"first": value, "messages": [], "tools": value, "last": {"only": value}}
    if is_left_out:
        assert _native.text_of(body) == b'{"messages":[],"last":{}}'
        with pytest.raises(TypeError, match=r"^body\[0\]: "):
            _native.text_of([value])
    else:
        with pytest.raises(TypeError, match=r"^body\['first'\]: .* is neither JSON"):
            _native.text_of(body)


def test_placeholders_of_a_real_sdk():
    openai = pytest.importorskip("openai")
    assert dumped({"messages": [], "tools": openai.NOT_GIVEN, "stop": openai.NotGiven(), "seed": openai.omit}) == {"messages": []}


def test_integers_that_are_too_long():
    with pytest.raises(ValueError, match=r"^body\['a'\]\[0\]: the integer has more digits than Python writes$"):
        toolcheck_lint.lint({"a": [10**5000]})


def test_values_of_numpy():
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match=r"^body\['a'\]: numpy.int64 is neither .*: pass its `.item\(\)`$"):
        toolcheck_lint.lint({"a": numpy.int64(3)})
    with pytest.raises(TypeError, match=r"^body\['a'\]: numpy.ndarray is neither .*: pass its `.tolist\(\)`$"):
        toolcheck_lint.lint({"a": numpy.array([3])})


def test_a_mistake_of_an_object_has_a_place():
    class Broken:
        def model_dump(self, **_):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no") as raised:
        toolcheck_lint.lint({"messages": [Broken()]})
    assert raised.value.__notes__ == ["at body['messages'][0]"]

    class Endless:
        def model_dump(self, **_):
            return {"again": Endless()}

    with pytest.raises(ValueError, match="nested more than"):
        toolcheck_lint.lint(Endless())


def test_a_dictionary_that_changes_while_it_is_written():
    body = {"first": None, "second": 2}

    class Changes:
        def model_dump(self, **_):
            body.clear()
            body.update({str(number): number for number in range(1000)})
            return "changed"

    body["first"] = Changes()
    assert dumped(body) == {"first": "changed", "second": 2}


def test_objects_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Message(pydantic.BaseModel):
        role: str
        content: str
        tool_calls: list[str] | None = None
        schema_: dict | None = pydantic.Field(default=None, alias="schema")

    assert dumped([Message(role="user", content="Hello")]) == [{"role": "user", "content": "Hello"}]
    assert dumped(Message(role="user", content="x", schema={})) == {"role": "user", "content": "x", "schema": {}}


def test_as_json_dumps():
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    text = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)

    @hypothesis.given(values)
    @hypothesis.settings(max_examples=300, deadline=None)
    def same(value):
        # A pair of halves is one character for JSON, and two for Python.
        assert json.dumps(dumped([value])) == json.dumps(json.loads(json.dumps([value])))

    same()


def test_lint_of_an_object_is_lint_of_its_text():
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    text = st.sampled_from(["", " ", "Hello", "\ud83d", "a\x00", "toolu_1", "toolu_2", "search"])
    block = st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "image"])},
        optional={"text": text, "id": text, "tool_use_id": text, "name": text, "input": st.dictionaries(text, text), "content": text},
    )
    message = st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system"])},
        optional={"content": text | st.lists(block, max_size=3) | st.none(), "tool_call_id": text},
    )
    body = st.fixed_dictionaries({"messages": st.lists(message, max_size=5)}, optional={"max_tokens": st.integers(), "tools": st.lists(block, max_size=2)})

    def without_places(report):
        return [(one.rule, one.level, one.pointer, one.message, one.help, one.tool_call_id) for one in report]

    @hypothesis.given(body, st.sampled_from([None, "anthropic", "openai-chat", "bedrock"]))
    @hypothesis.settings(max_examples=200, deadline=None)
    def same(body, target):
        assert without_places(toolcheck_lint.lint(body, target=target)) == without_places(
            toolcheck_lint.lint(json.dumps(body), target=target)
        )

    same()
