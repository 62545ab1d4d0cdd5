"""What is found in a row does not depend on how the row is stored, nor on what is stored beside it."""

import copy
import datetime
import json
import pickle
from collections import Counter

import pytest

from toolcheck_lint import Linter

pa = pytest.importorskip("pyarrow")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "tides",
            "parameters": {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]},
        },
    }
]


def row(number):
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "tides", "arguments": '{"port": "Ostend"}'}}
    messages = [
        {"role": "user", "content": 'When is "high" tide?\nIn Ostend.'},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": '{"at": "six"}'},
        {"role": "assistant", "content": "At six."},
    ]
    return {"id": number, "messages": messages, "tools": copy.deepcopy(TOOLS)}


def function(row):
    return row["messages"][1]["tool_calls"][0]["function"]


# What is wrong with a row, and the rule that finds it without a target.
PLANTED = {
    "orphan-tool-result": lambda row: row["messages"][2].update(tool_call_id="call_x"),
    "invalid-arguments-json": lambda row: function(row).update(arguments='{"port":'),
    "arguments-schema-mismatch": lambda row: function(row).update(arguments='{"port": 3}'),
    "unknown-tool": lambda row: function(row).update(name="tide"),
    "unanswered-tool-call": lambda row: row["messages"].pop(2),
    "duplicate-tool-call-id": lambda row: row["messages"][1]["tool_calls"].append(row["messages"][1]["tool_calls"][0]),
    "missing-assistant-message": lambda row: row["messages"].__delitem__(slice(1, None)),
    "duplicate-tool-result": lambda row: row["messages"].insert(3, row["messages"][2]),
    "missing-tool-call-id": lambda row: row["messages"][1]["tool_calls"][0].update(id=None),
    "invalid-tool-name": lambda row: function(row).update(name=""),
    "late-tool-result": lambda row: row["messages"].insert(2, {"role": "user", "content": "Well?"}),
    "duplicate-tool-definition": lambda row: row["tools"].append(row["tools"][0]),
    "invalid-tool-schema": lambda row: row["tools"][0]["function"]["parameters"].update(type="objekt"),
    "unknown-role": lambda row: row["messages"][0].update(role="usr"),
}


def planted():
    """A good row, one row with each mistake, and a good one."""
    rows = [row(number) for number in range(len(PLANTED) + 2)]
    for number, plant in enumerate(PLANTED.values()):
        plant(rows[number + 1])
    return rows


ROWS = planted()
KEYS = pa.array([row["id"] for row in ROWS])


def column(name):
    return [row[name] for row in ROWS]


def as_text(kind):
    def store(values):
        try:
            return pa.array([json.dumps(value) for value in values]).cast(kind)
        except pa.ArrowNotImplementedError as reason:
            pytest.skip(f"needs a newer pyarrow: {reason}")

    return store


def as_json(values, kind=pa.string()):
    if not hasattr(pa, "json_"):
        pytest.skip("needs a pyarrow that has `json_`")
    return pa.ExtensionArray.from_storage(pa.json_(kind), as_text(kind)(values))


def in_lists(kind, elements):
    """Lists of what is made of all of their elements."""

    def store(values):
        ends = [0]
        for value in values:
            ends.append(ends[-1] + len(value))
        array = elements([element for value in values for element in value])
        if kind in (pa.ListArray, pa.LargeListArray):
            return kind.from_arrays(pa.array(ends, pa.int64() if kind is pa.LargeListArray else pa.int32()), array)
        number = pa.int64() if kind is pa.LargeListViewArray else pa.int32()
        sizes = [len(value) for value in values]
        return kind.from_arrays(pa.array(ends[:-1], number), pa.array(sizes, number), array)

    return store


def runs(values):
    # Numbers of Python: pyarrow 16 takes no others.
    return pa.RunEndEncodedArray.from_arrays(list(range(1, len(values) + 1)), as_text(pa.string())(values), pa.run_end_encoded(pa.int32(), pa.string()))


LISTS = [pa.ListArray, pa.LargeListArray, pa.ListViewArray, pa.LargeListViewArray]
STORAGES = {
    **{str(kind): as_text(kind) for kind in [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]},
    "dictionary": lambda values: as_text(pa.string())(values).dictionary_encode(),
    "runs": runs,
    "arrow.json": as_json,
    "arrow.json of large strings": lambda values: as_json(values, pa.large_string()),
    **{f"{kind.__name__} of arrow.json": in_lists(kind, as_json) for kind in LISTS},
    **{f"{kind.__name__} of text": in_lists(kind, as_text(pa.string())) for kind in LISTS},
    **{f"{kind.__name__} of structs": in_lists(kind, pa.array) for kind in LISTS},
    "pretty JSON": lambda values: pa.array([json.dumps(value, indent=2) for value in values]),
    "chunks": lambda values: pa.chunked_array([pa.array(values)[:3], pa.array(values)[3:3], pa.array(values)[3:]]),
}


def found(findings):
    return Counter((int(one["row"]), one["level"], one["rule"], one["pointer"]) for one in pa.table(findings).to_pylist())


TARGETS = [None, "openai-chat", "openai-fine-tuning", "deepseek"]


def nested(target):
    return found(Linter(kind="dataset", target=target).rows(pa.array(column("messages")), tools=pa.array(column("tools")), key=KEYS))


def test_every_planted_mistake_is_found():
    rules = [(number, rule) for number, _, rule, _ in nested(None)]
    assert rules == [(number, rule) for number, rule in enumerate(PLANTED, 1)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("storage", STORAGES)
def test_storage_does_not_change_what_is_found(storage, target):
    linter = Linter(kind="dataset", target=target)
    store = STORAGES[storage]
    messages, tools = store(column("messages")), store(column("tools"))
    expected = nested(target)
    assert expected
    assert found(linter.rows(messages, tools=tools, key=KEYS)) == expected, "columns"
    # A key that is a column is no part of the row, so no API is said to refuse it.
    table = pa.table({"id": KEYS, "messages": messages, "tools": tools})
    assert found(linter.rows(table, key="id")) == expected, "a table"
    summary = linter.column(table, key="id")
    assert summary.unread == 0
    assert summary.errors + summary.warnings == sum(expected.values())


def test_json_at_any_depth():
    linter = Linter(kind="dataset")
    call = [row["messages"][1].get("tool_calls", []) if len(row["messages"]) > 1 else [] for row in ROWS]
    parts = [
        pa.array([[message["role"] for message in row["messages"]] for row in ROWS]).flatten(),
        pa.array([message.get("content") for row in ROWS for message in row["messages"]]),
        in_lists(pa.ListArray, as_json)([message.get("tool_calls", []) for row in ROWS for message in row["messages"]]),
        pa.array([message.get("tool_call_id") for row in ROWS for message in row["messages"]]),
    ]
    messages = pa.StructArray.from_arrays(parts, ["role", "content", "tool_calls", "tool_call_id"])
    ends = [0]
    for one in ROWS:
        ends.append(ends[-1] + len(one["messages"]))
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), messages)
    assert any(call)
    assert {rule for _, _, rule, _ in found(linter.rows(lists, tools=as_json(column("tools")), key=KEYS))} >= set(PLANTED)


def test_damaged_json_is_a_text():
    """It changes nothing around it, and nothing of it is taken for read."""
    for text in ['[{"role": "user"', "[]]", '[{"role": "user", "content": "x"}], "model": "y"', "nope"]:
        if not hasattr(pa, "json_"):
            pytest.skip("needs a pyarrow that has `json_`")
        damaged = pa.ExtensionArray.from_storage(pa.json_(), pa.array([text]))
        for messages in [pa.array([text]), damaged]:
            summary = Linter(kind="dataset").column(messages, tools=pa.nulls(1))
            assert (summary.unread, summary.messages) == (1, 0), text
    nothing = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["null"] * len(ROWS)))
    linter = Linter(kind="dataset", target="openai-fine-tuning")
    messages = pa.array(column("messages"))
    assert linter.column(messages, tools=nothing) == linter.column(messages, tools=pa.nulls(len(ROWS)))


@pytest.mark.parametrize("target", TARGETS)
def test_polars(target):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": column("id"), "messages": column("messages"), "tools": column("tools")})
    texts = frame.with_columns(messages=polars.Series(map(json.dumps, column("messages"))), tools=polars.Series(map(json.dumps, column("tools"))))
    for stored in [frame, texts, texts.with_columns(polars.col("messages").cast(polars.Categorical))]:
        assert found(Linter(kind="dataset", target=target).rows(stored, key="id")) == nested(target)


def as_lines(rows, linter, _):
    """Row by row, as they would be in a file."""
    reports = [(row["id"], linter.lint(json.dumps({name: row[name] for name in ("messages", "tools")}))) for row in rows]
    return Counter((key, found.level, found.rule, found.pointer) for key, report in reports for found in report)


def as_table(make):
    return lambda rows, linter, _: found(linter.rows(make(rows), key="id"))


def as_texts(rows):
    return pa.table({"id": [row["id"] for row in rows], **{name: [json.dumps(row[name]) for row in rows] for name in ("messages", "tools")}})


def as_elements(rows):
    made = {name: in_lists(pa.ListArray, as_json)([row[name] for row in rows]) for name in ("messages", "tools")}
    return pa.table({"id": [row["id"] for row in rows], **made})


def as_pandas(rows, linter, folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    frame.to_parquet(folder / "rows.parquet")
    read = [frame, pandas.read_parquet(folder / "rows.parquet"), pandas.read_parquet(folder / "rows.parquet", dtype_backend="pyarrow")]
    first, *others = [found(linter.rows(one, key="id")) for one in read]
    assert others == [first, first]
    columns = read[1]
    assert found(linter.rows(columns["messages"], tools=columns["tools"], key=pa.array(columns["id"]))) == first
    return first


def as_polars(rows, linter, _):
    polars = pytest.importorskip("polars")
    return found(linter.rows(polars.DataFrame(rows, infer_schema_length=None), key="id"))


SIX = {
    "JSON Lines": as_lines,
    "JSON text": as_table(as_texts),
    "structs": as_table(pa.Table.from_pylist),
    "arrow.json": as_table(as_elements),
    "polars": as_polars,
    "pandas and Parquet": as_pandas,
}


@pytest.mark.parametrize("storage", SIX)
def test_any_rows_are_read_alike(storage, tmp_path_factory):
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies

    folder = tmp_path_factory.mktemp("rows")

    @hypothesis.settings(max_examples=25, deadline=None, derandomize=True, database=None)
    @hypothesis.given(
        strategies.lists(strategies.sets(strategies.sampled_from(sorted(PLANTED)), max_size=2), min_size=1, max_size=5),
        strategies.sampled_from(TARGETS),
    )
    def check(mistakes, target):
        rows = []
        for number, names in enumerate(mistakes):
            rows.append(row(number))
            for name in sorted(names):
                try:
                    PLANTED[name](rows[-1])
                except (IndexError, KeyError):
                    # Another mistake has taken away where it would be.
                    pass
        linter = Linter(kind="dataset", target=target)
        assert SIX[storage](rows, linter, folder) == as_lines(rows, linter, folder)

    check()


def test_polars_has_columns_without_values():
    polars = pytest.importorskip("polars")
    linter = Linter(kind="dataset")
    frame = polars.DataFrame({"id": column("id"), "messages": column("messages"), "tools": column("tools")})
    count = len(ROWS)
    assert found(linter.rows(frame.with_columns(note=None), key="id")) == nested(None)
    named = [[{**message, "name": None} for message in messages] for messages in column("messages")]
    frame = frame.with_columns(messages=polars.Series(named))
    assert any("Null" in str(kind) for kind in frame.dtypes)
    assert found(linter.rows(frame, key="id")) == nested(None)
    assert linter.column(frame["messages"], tools=frame["tools"]).errors > 0
    assert linter.column(polars.Series([None] * 3)).unread == 3
    lists = polars.DataFrame({"messages": [[None], [None]], "deep": [{"a": [None]}] * 2})
    assert linter.column(lists).rows == 2
    if not hasattr(polars, "Int128"):
        return
    wide = frame.with_columns(wide=polars.Series([2**100] * count, dtype=polars.Int128))
    assert found(linter.rows(wide, key="id")) == nested(None)


@pytest.mark.parametrize("target", TARGETS)
def test_data_sets(target, tmp_path):
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    datasets.disable_progress_bars()
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    loaded = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    for ds in [datasets.Dataset.from_list(ROWS), loaded, loaded.to_iterable_dataset()]:
        bad = lint_dataset(ds, messages="messages", tools="tools", key="id", mode="rows", target=target, batch_size=5)
        assert bad.column_names == ["id", "rule", "level", "pointer", "tool_call_id", "message"]
        assert Counter((one["id"], one["level"], one["rule"], one["pointer"]) for one in bad) == nested(target)
        assert lint_dataset(ds, key="id", target=target).unread == 0


def test_a_key_keeps_its_type():
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    datasets.disable_progress_bars()
    ds = datasets.Dataset.from_list(ROWS)
    for messages in ["messages", None]:
        bad = lint_dataset(ds, messages=messages, tools=messages and "tools", key="id", mode="rows", batch_size=4)
        assert bad.features["id"] == ds.features["id"]
        ids = {one["id"] for one in bad}
        assert ds.filter(lambda row: row["id"] not in ids)["id"][:] == [0, len(ROWS) - 1]
    # What has no name has none, and not that of another row.
    unnamed = datasets.Dataset.from_list([{**row, "id": None if row["id"] == 1 else row["id"]} for row in ROWS])
    bad = lint_dataset(unnamed, messages="messages", tools="tools", key="id", mode="rows")
    assert bad["id"][:] == [None, *range(2, len(PLANTED) + 1)]
    nothing = lint_dataset(ds.select([]), messages="messages", key="id", mode="rows")
    assert (nothing.num_rows, nothing.column_names[:2]) == (0, ["id", "rule"])
    deep = datasets.Dataset.from_list([{"messages": row["messages"], "meta": {"id": row["id"]}} for row in ROWS])
    assert lint_dataset(deep, key="meta.id", mode="rows")["meta.id"][0] == "1"


def test_a_mask_needs_no_key(tmp_path):
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    datasets.disable_progress_bars()
    ds = datasets.Dataset.from_list(ROWS)
    wrong = {number for number, level, _, _ in nested(None) if level == "error"}
    expected = [number not in wrong for number in range(len(ROWS))]
    assert wrong
    for one in [ds, ds.to_iterable_dataset()]:
        for columns in [{"messages": "messages", "tools": "tools"}, {"key": "id"}]:
            seen = []
            mask = lint_dataset(one, **columns, mode="mask", batch_size=3, threads=2, progress=seen.append)
            assert (mask, seen[-1]) == (expected, len(ROWS))
    assert lint_dataset(ds.select([number for number, ok in enumerate(mask) if ok]), key="id").errors == 0
    assert lint_dataset(ds.select([]), messages="messages", mode="mask") == []
    with pytest.raises(ValueError, match="expected summary, rows or mask"):
        lint_dataset(ds, messages="messages", mode="masks")


def test_what_is_beside_the_conversation_does_not_matter():
    linter = Linter(kind="dataset")
    count = len(ROWS)
    beside = {
        "duration": pa.array([datetime.timedelta(days=1)] * count),
        "interval": pa.array([(1, 2, 3)] * count, pa.month_day_nano_interval()),
        "bytes": pa.array([b"\xff\x00"] * count),
        "bytes of a length": pa.array([b"\xff\xfe"] * count, pa.binary(2)),
        "image": pa.array([{"bytes": b"\xff\xd8", "path": None}] * count),
        "images": pa.array([[{"bytes": b"\xff\xd8"}]] * count),
        "union": pa.UnionArray.from_sparse(pa.array([0] * count, pa.int8()), [pa.array(range(count))]),
        "nothing": pa.nulls(count),
    }
    if hasattr(pa, "uuid"):
        beside["uuid"] = pa.array([b"\xff" * 16] * count, pa.uuid())
    messages, tools = pa.array(column("messages")), pa.array(column("tools"))
    for name, values in beside.items():
        table = pa.table({"id": KEYS, "messages": messages, "tools": tools, name: values})
        assert found(linter.rows(table, key="id")) == nested(None), name


def test_slices_without_rows():
    linter = Linter(kind="dataset")
    texts = pa.array([json.dumps(row) for row in ROWS])
    whole = linter.column(texts)
    for array in [texts.dictionary_encode(), pa.array(column("messages")), pa.array([{"messages": row["messages"]} for row in ROWS])]:
        assert linter.column(array[5:5]).rows == 0, array.type
    assert linter.column(pa.table({"body": texts})[5:5]).rows == 0
    assert linter.column(pa.record_batch({"body": texts}).slice(5, 0)).rows == 0
    for kind in [pa.string(), pa.large_string(), pa.binary(), pa.string_view()]:
        array = as_text(kind)(ROWS)
        assert linter.column(array[5:5]).rows == 0, kind
        assert linter.column(pa.chunked_array([array[:5], array[5:5], array[5:]])) == whole, kind


def test_pointers_begin_with_the_names_of_the_columns():
    rows = [{"conversation": one["messages"], "tools/all": one["tools"], "id": one["id"]} for one in ROWS]
    how = {"messages": "conversation", "tools": "tools/all", "key": "id"}
    polars = pytest.importorskip("polars")
    from toolcheck_lint.polars import Toolcheck

    frame = Toolcheck(polars.DataFrame(rows, infer_schema_length=None))
    pointers = frame.findings(**how).get_column("pointer").to_list()
    found = Linter(kind="dataset").rows(pa.array(column("messages")), tools=pa.array(column("tools")))
    names = {"messages": "conversation", "tools": "tools~1all"}
    parts = [one.split("/") for one in pa.table(found)["pointer"].to_pylist()]
    wanted = ["/".join([*start[:1], *(names[name] for name in start[1:]), *rest]) for start, rest in ((one[:2], one[2:]) for one in parts)]
    assert pointers == wanted and pointers[0].startswith("/conversation/")
    assert frame.verdicts(**how).get_column("findings").explode().drop_nulls().struct.field("pointer").to_list() == pointers
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    data = datasets.Dataset(pa.Table.from_pylist(rows))
    assert lint_dataset(data, mode="rows", **how)["pointer"][:] == pointers
    (sample,) = lint_dataset(data, **how).rules["unanswered-tool-call"].samples
    assert sample.pointer.startswith("/conversation/")
    again = pickle.loads(pickle.dumps(Linter(kind="dataset")._naming("conversation", "tools/all")))
    assert pa.table(again.rows(pa.array(column("messages")), tools=pa.array(column("tools"))))["pointer"].to_pylist() == pointers
