"""What JSON does not have stays as it was in rows that are fixed, or the row stays as a whole, and that is said."""

import datetime
import decimal
import json
import math

import pytest

from toolcheck_lint import Linter, clean_dataset
from toolcheck_lint._kept import Kept, Unfit

from test_clean import HOW, as_arrow_in_pandas, as_datasets, as_pandas, as_polars
from test_storage import PLANTED, row

pa = pytest.importorskip("pyarrow")

IMAGE = b"\x89PNG\r\n\x1a\n\x00\xff"
TIME = datetime.datetime(2026, 11, 30, 12, 30, 1, 250000)
ODD = {
    "image": [IMAGE, None, b"text", b"", IMAGE + b"\x01"],
    "score": [1.0, math.nan, math.inf, None, -math.inf],
    "created_at": [TIME, TIME, None, TIME + datetime.timedelta(seconds=1), TIME],
    "price": [decimal.Decimal("1.50"), None, decimal.Decimal("2.25"), decimal.Decimal("1.50"), None],
    "took": [datetime.timedelta(seconds=3), None, datetime.timedelta(milliseconds=20), None, None],
    "on": [datetime.date(2026, 11, 30), None, None, datetime.date(2026, 12, 1), None],
}
STORES = {"pyarrow": pa.Table.from_pylist, "polars": as_polars, "pandas": as_pandas, "Arrow in pandas": as_arrow_in_pandas, "datasets": as_datasets}


def late_with(key, values):
    late = row(1)
    PLANTED["late-tool-result"](late)
    for number, message in enumerate(late["messages"]):
        message[key] = values[number % len(values)]
    return late


def messages_of(data, number):
    column = data.with_format("arrow")[:]["messages"] if hasattr(data, "with_format") else data["messages"]
    if hasattr(column, "dtype") and hasattr(column.dtype, "pyarrow_dtype"):
        column = pa.array(column)
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return values[number]


@pytest.mark.parametrize("key", ODD)
@pytest.mark.parametrize("store", STORES)
def test_values_that_json_lacks_survive_a_fix(store, key):
    """In all messages, those that the fix moves and those that it does not touch."""
    data = STORES[store]([row(0), late_with(key, ODD[key])])
    kept, report = clean_dataset(data, **HOW, fix="safe")
    assert (report.kept, report.fixed, report.unfit, report.unfit_reasons) == (2, 1, 0, ())
    said = lambda message: (message["role"], repr(message.get("content")), repr(message.get(key)), type(message.get(key)))
    before, after = (sorted(map(said, messages_of(one, 1))) for one in (data, kept))
    assert before == after
    assert [one["role"] for one in messages_of(data, 1)] != [one["role"] for one in messages_of(kept, 1)]


@pytest.mark.parametrize("plant", ["orphan-tool-result", "duplicate-tool-call-id", "duplicate-tool-result", "missing-tool-call-id", "unknown-role"])
@pytest.mark.parametrize("store", STORES)
def test_messages_that_a_fix_rewrites_keep_what_it_does_not_touch(store, plant):
    wrong = json.loads(json.dumps(row(0)))
    PLANTED[plant](wrong)
    for message in wrong["messages"]:
        message.update(created_at=TIME, image=IMAGE)
    data = STORES[store]([row(1), wrong])
    kept, report = clean_dataset(data, **HOW, fix="unsafe", drop=None)
    assert (report.fixed, report.unfit) == (1, 0)
    assert messages_of(kept, 1) != messages_of(data, 1)
    for message in messages_of(kept, 1):
        assert (message["created_at"], message["image"]) == (TIME, IMAGE), message["role"]


def test_what_has_no_certain_place_is_not_moved():
    read = [{"role": "user", "score": None}, {"role": "user", "score": None}]
    kept = Kept([{"role": "user", "score": math.nan}, {"role": "user", "score": math.inf}], read)
    # One of the two is gone, and nobody knows which.
    with pytest.raises(Unfit, match=r"`score` has values that are the same in JSON \(inf, nan\), and the fix moves one"):
        kept.put_into([{"role": "user", "score": None, "name": "x"}])
    assert kept.put_into([{**one, "name": "x"} for one in read])[1] == {"role": "user", "score": math.inf, "name": "x"}
    # Under another key, bytes are still what they were.
    image = Kept([{"image": IMAGE}], [{"image": "iVBORw0KGgoA/w=="}])
    assert image.put_into([{"picture": "iVBORw0KGgoA/w=="}]) == [{"picture": IMAGE}]
    with pytest.raises(Unfit, match="`score` has nan, which JSON has not, and the fix renames it"):
        Kept([{"score": math.nan}], [{"score": None}]).put_into([{"points": None}])

    class Message:
        pass

    with pytest.raises(Unfit, match="a Message in `message` would be an object"):
        Kept({"message": Message()}, {"message": {"role": "user"}}, is_object=True).put_into({"message": {"role": "tool"}})


def test_a_map_with_a_key_twice():
    late = late_with("name", [None])
    kind = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), ("tool_call_id", pa.string()), ("meta", pa.map_(pa.string(), pa.int64())), ("tool_calls", pa.list_(pa.struct([("id", pa.string()), ("type", pa.string()), ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())]))])))]))
    messages = [{**{name: one for name, one in message.items() if name != "name"}, "meta": [("a", 1), ("a", 2), ("b", None)]} for message in late["messages"]]
    table = pa.table({"messages": pa.array([messages], kind), "tools": [json.dumps(late["tools"])]})
    kept, report = clean_dataset(table, **HOW, fix="safe")
    assert (report.fixed, report.unfit) == (1, 0)
    assert all(message["meta"] == [("a", 1), ("a", 2), ("b", None)] for message in kept["messages"].to_pylist()[0])


def test_texts_keep_their_numbers_and_their_spaces():
    late = late_with("name", [None])
    text = json.dumps(late["messages"], indent=1).replace('"name": null', '"logprob": -0.10, "seed": 12345678901234567890123')
    table = pa.table({"messages": [text], "tools": [json.dumps(late["tools"], indent=1)]})
    kept, report = clean_dataset(table, **HOW, fix="safe")
    assert report.fixed == 1
    assert kept["messages"][0].as_py().count('"logprob": -0.10, "seed": 12345678901234567890123') == len(late["messages"])
    assert kept["tools"] == table["tools"]


def test_lists_and_texts_in_one_column_of_pandas():
    pandas = pytest.importorskip("pandas")
    late = late_with("name", [None])
    for columns in ([json.dumps(late["messages"]), late["messages"]], [late["messages"], json.dumps(late["messages"])]):
        frame = pandas.DataFrame({"messages": columns, "tools": [late["tools"]] * 2})
        kept, report = clean_dataset(frame, **HOW, fix="safe")
        assert (report.kept, report.fixed, report.unfit) == (2, 2, 0)
        assert list(map(type, kept["messages"])) == list(map(type, columns))


def test_objects_that_json_lacks_are_not_guessed():
    pandas = pytest.importorskip("pandas")
    for value in ({1, 2}, object()):
        frame = pandas.DataFrame({"messages": [[{"role": "user", "content": value}]], "other": [value]})
        with pytest.raises(TypeError, match=f"^cannot read a {type(value).__name__} of Python as JSON in a conversation$"):
            clean_dataset(frame, messages="messages")
    assert clean_dataset(pandas.DataFrame({"messages": [row(0)["messages"]], "other": [{1, 2}]}))[1].kept == 1


def test_a_name_of_two_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[row(0)["messages"], [], []]], columns=["messages", "tools", "tools"])
    for how in (HOW, {}):
        with pytest.raises(ValueError, match="^there are several columns `tools`$"):
            clean_dataset(frame, **how)


def test_a_key_may_be_a_path_in_the_rows():
    late = late_with("name", [None])
    rows = [{"meta": {"id": f"row {number}"}, **{name: one[name] for name in HOW}} for number, one in enumerate([row(0), late])]
    for store in (pa.Table.from_pylist, as_polars, as_datasets):
        assert clean_dataset(store(rows), key="meta.id")[1].dropped_rows == ("row 1",)
        with pytest.raises(ValueError, match="^there is no column `meat`"):
            clean_dataset(store(rows), key="meat.id")
    pandas = pytest.importorskip("pandas")
    assert clean_dataset(pandas.DataFrame(rows), key="meta.id")[1].dropped_rows == ("row 1",)


DESCRIBED = """You have tools.
<tools>
{"type": "function", "function": {"name": "tides", "description": "t", "parameters": {"type": "object", "properties": {"port": {"type": "string"}, "day": {"type": ["string", "null"]}}, "required": ["port", "day"]}}}
</tools>"""


def test_tools_of_the_system_text_are_read_of_bare_lists():
    def said(arguments):
        call = json.dumps({"name": "tides", "arguments": arguments})
        return [
            {"role": "system", "content": DESCRIBED},
            {"role": "user", "content": "When is high tide?"},
            {"role": "assistant", "content": f"<tool_call>\n{call}\n</tool_call>"},
            {"role": "tool", "content": "<tool_response>\nnoon\n</tool_response>"},
            {"role": "assistant", "content": "At noon."},
        ]

    rows = [{"id": number, "messages": said(one)} for number, one in enumerate([{"port": "Oban", "day": None}, {"port": 7, "day": None}, {"day": "today"}])]
    for store in STORES.values():
        for how in ({"messages": "messages"}, {}):
            assert clean_dataset(store(rows), **how, key="id")[1].dropped_rows == (1, 2), how


def test_arguments_that_are_null_and_decimals_in_columns():
    tool = {"name": "tides", "description": "t", "parameters": {"type": "object", "properties": {"port": {"type": "string"}, "day": {"type": ["string", "null"]}, "lat": {"type": "number"}}, "required": ["port", "day"]}}
    first = {"port": "Oban", "day": None, "lat": decimal.Decimal("1.5")}
    rows = []
    for number, arguments in enumerate([first, {**first, "port": None}, {**first, "day": "today"}]):
        call = {"id": "c", "type": "function", "function": {"name": "tides", "arguments": arguments}}
        messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": "noon"}, {"role": "assistant", "content": "At noon."}]
        rows.append({"id": number, "messages": messages, "tools": [{"type": "function", "function": tool}]})
    for store in STORES.values():
        for how in (HOW, {}):
            assert clean_dataset(store(rows), **how, key="id")[1].dropped_rows == (1,), how


def test_a_split_turn_is_one_however_it_is_stored():
    tools = [{"type": "function", "function": {"name": "tides", "description": "t", "parameters": {"type": "object", "properties": {}}}}]
    calls = [{"id": f"c{number}", "type": "function", "function": {"name": "tides", "arguments": "{}"}} for number in (1, 2)]
    messages = [{"role": "user", "content": "When?"}, *({"role": "assistant", "content": None, "tool_calls": [call]} for call in calls)]
    messages += [*({"role": "tool", "tool_call_id": call["id"], "content": "noon"} for call in calls), {"role": "assistant", "content": "At noon."}]
    linter = Linter(kind="dataset")
    for one in ({"messages": messages, "tools": tools}, {"messages": messages, "tools": list(map(json.dumps, tools))}, {"messages": json.dumps(messages), "tools": json.dumps(tools)}):
        for data in (pa.Table.from_pylist([one]), pa.array([json.dumps(one)])):
            assert [(count.rule, count.level) for count in linter.column(data).counts] == [("split-assistant-turn", "error")]
        assert [found.rule for found in linter.lint(one)] == ["split-assistant-turn"]
