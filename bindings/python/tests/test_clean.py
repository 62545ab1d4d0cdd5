"""Data sets are cleaned in their own type, and what is reported is true of what is left."""

import io
import json
import warnings

import pytest

import toolcheck_lint
from toolcheck_lint import Linter, Summary, clean_dataset

from conftest import CLEAN, ROOT
from test_storage import PLANTED, ROWS, function, row

pa = pytest.importorskip("pyarrow")

HOW = {"messages": "messages", "tools": "tools"}


def as_texts(rows):
    return [{**one, "messages": json.dumps(one["messages"]), "tools": json.dumps(one["tools"])} for one in rows]


def as_datasets(rows):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    return datasets.Dataset.from_list(rows)


def as_data_set_of_json(rows):
    """As it is loaded from a file whose rows have no one shape."""
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "Json"):
        pytest.skip("needs a `datasets` that has the type `Json`")
    datasets.disable_progress_bars()
    features = datasets.Features({"id": datasets.Value("int64"), **{name: datasets.List(datasets.Json()) for name in ("messages", "tools")}})
    return datasets.Dataset.from_list(rows, features=features)


def as_polars(rows):
    return pytest.importorskip("polars").DataFrame(rows, infer_schema_length=None)


def as_pandas(rows):
    frame = pytest.importorskip("pandas").DataFrame(rows)
    frame.index = [f"row {number}" for number in frame["id"]]
    return frame


def as_arrow_in_pandas(rows):
    pandas = pytest.importorskip("pandas")
    return pa.Table.from_pylist(rows).to_pandas(types_mapper=pandas.ArrowDtype)


def as_parquet_in_pandas(rows):
    pytest.importorskip("pandas")
    return pa.Table.from_pylist(rows).to_pandas()


def as_json(rows):
    if not hasattr(pa, "json_"):
        pytest.skip("needs a pyarrow that has `json_`")
    stored = {name: pa.array([json.dumps(one[name]) for one in rows]) for name in ("messages", "tools")}
    return pa.table({"id": [one["id"] for one in rows], **{name: pa.ExtensionArray.from_storage(pa.json_(), one) for name, one in stored.items()}})


def as_json_of_parquet(read):
    """As polars and pandas read what `datasets` writes."""

    def store(rows):
        file = io.BytesIO()
        as_data_set_of_json(rows).to_parquet(file)
        return read(io.BytesIO(file.getvalue()))

    return store


def read_by_polars(file):
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(file)
    if not hasattr(frame.schema["messages"].inner, "ext_storage"):
        pytest.skip("needs a polars that has types of extensions")
    return frame


def with_schemas_as_text(store):
    """As DuckDB reads a schema of the type `arrow.json`."""

    def stored(rows):
        rows = json.loads(json.dumps(rows))
        for tool in (tool for one in rows for tool in one["tools"]):
            tool["function"]["parameters"] = json.dumps(tool["function"]["parameters"])
        return store(rows)

    return stored


def with_lists_of_texts(store):
    """A JSON text for each message and each tool."""
    return lambda rows: store([{**one, **{name: [json.dumps(part) for part in one[name]] for name in HOW}} for one in rows])


def as_chunks(rows):
    schema = pa.Table.from_pylist(rows).schema
    return pa.concat_tables([pa.Table.from_pylist(rows[start : start + 5], schema=schema) for start in range(0, len(rows), 5)])


def as_views(rows):
    """pyarrow has no filter for them."""
    schema = pa.schema([("id", pa.int64()), ("messages", pa.string_view()), ("tools", pa.string_view())])
    return pa.Table.from_pylist(rows, schema=schema)


def as_batch_of_views(rows):
    return as_views(rows).to_batches()[0]


STORES = {
    "pyarrow": pa.Table.from_pylist,
    "a batch of pyarrow": lambda rows: pa.RecordBatch.from_pylist(rows),
    "chunks": as_chunks,
    "arrow.json": as_json,
    "polars": as_polars,
    "pandas": as_pandas,
    "Arrow in pandas": as_arrow_in_pandas,
    "Parquet in pandas": as_parquet_in_pandas,
    "datasets": as_datasets,
    "Json of datasets": as_data_set_of_json,
}
STORES |= {
    f"text, {name}": lambda rows, store=store: store(as_texts(rows))
    for name, store in STORES.items()
    if name not in ("arrow.json", "Json of datasets")
}


STORES |= {"text, views": lambda rows: as_views(as_texts(rows)), "text, a batch of views": lambda rows: as_batch_of_views(as_texts(rows))}
STORES |= {
    "Parquet of Json in polars": as_json_of_parquet(read_by_polars),
    "Parquet of Json in pandas": as_json_of_parquet(lambda file: pytest.importorskip("pandas").read_parquet(file)),
}
for name in ("pyarrow", "polars", "pandas", "Arrow in pandas", "Parquet in pandas"):
    STORES[f"schemas as text, {name}"] = with_schemas_as_text(STORES[name])
    STORES[f"lists of texts, {name}"] = with_lists_of_texts(STORES[name])


def ids(data):
    column = data["id"]
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def shape(data):
    """What may not change: the type, and those of its columns."""
    if hasattr(data, "features"):
        return type(data), data.features
    return type(data), data.schema if hasattr(data, "schema") else list(data.dtypes)


def found(data):
    """The rules of each row, as it is stored."""
    table = data.with_format("arrow")[:] if hasattr(data, "with_format") else data
    if hasattr(table, "column"):
        columns = [table.column(name) for name in HOW]
    else:
        columns = [table[name] for name in HOW]
    linter = Linter(kind="dataset")
    return [[one["rule"] for one in found] for found in pa.table(linter.verdicts(columns[0], tools=columns[1]))["findings"].to_pylist()]


def rules_of(row):
    return [one.rule for one in Linter(kind="dataset").lint({"messages": row["messages"], "tools": row["tools"]})]


def error_rows():
    linter = Linter(kind="dataset")
    return [linter.lint({"messages": one["messages"], "tools": one["tools"]}).errors > 0 for one in ROWS]


@pytest.mark.parametrize("store", STORES)
def test_wrong_rows_are_dropped(store):
    data = STORES[store](ROWS)
    before = (shape(data), ids(data))
    for drop, keep in [
        ("error", [one["id"] for one, wrong in zip(ROWS, error_rows()) if not wrong]),
        ("warning", [one["id"] for one in ROWS if not rules_of(one)]),
        (None, [one["id"] for one in ROWS]),
    ]:
        kept, report = clean_dataset(data, **HOW, drop=drop)
        assert (shape(kept), ids(kept)) == (before[0], keep), drop
        assert (report.rows, report.kept, report.dropped, report.fixed) == (len(ROWS), len(keep), len(ROWS) - len(keep), 0)
        assert (report.before.errors, report.after.errors == 0) == (sum(error_rows()), drop is not None)
    assert (shape(data), ids(data)) == before


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("fix", ["safe", "unsafe"])
def test_rows_are_fixed_where_they_are(store, fix):
    data = STORES[store](ROWS)
    kept, report = clean_dataset(data, **HOW, drop=None, fix=fix)
    assert (shape(kept), ids(kept)) == (shape(data), ids(data))
    linter = Linter(kind="dataset")
    wanted = [linter.fix({"messages": one["messages"], "tools": one["tools"]}, unsafe_fixes=fix == "unsafe") for one in ROWS]
    assert report.fixed + report.unfit == sum(one.is_changed for one in wanted) > 0
    # A row that can be stored has the findings that are left of it, and any other has its own.
    left = [[found.rule for found in one.report] for one in wanted]
    own = [rules_of(one) for one in ROWS]
    result = found(kept)
    assert all(one in pair for one, pair in zip(result, zip(left, own)))
    assert report.unfit == 0
    assert result == left
    assert sum(map(len, result)) == report.after.errors + report.after.warnings
    dropped, report = clean_dataset(data, **HOW, fix=fix)
    errors = [one.report.errors > 0 for one in wanted]
    assert ids(dropped) == [one["id"] for one, wrong in zip(ROWS, errors) if not wrong]
    assert report.after.errors == 0


def test_the_rows_that_were_dropped_are_named(monkeypatch):
    wrong = [number for number, is_wrong in enumerate(error_rows()) if is_wrong]
    named = [{**one, "id": f"row {one['id']}"} for one in ROWS]
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        for fix in (None, "safe"):
            _, report = clean_dataset(store(ROWS), **HOW, fix=fix)
            assert len(report.dropped_rows) == report.dropped and set(report.dropped_rows) <= set(wrong)
        assert clean_dataset(store(named), **HOW, key="id")[1].dropped_rows == tuple(f"row {number}" for number in wrong)
        many = clean_dataset(store(named * 100), **HOW)[1]
        assert many.dropped_rows == tuple([len(ROWS) * part + number for part in range(100) for number in wrong])
        monkeypatch.setattr("toolcheck_lint._clean.MOST_NAMED", 3)
        assert clean_dataset(store(ROWS), **HOW)[1].dropped_rows == tuple(wrong[:3])
        monkeypatch.undo()


def test_bodies_of_pandas_that_have_texts():
    pandas = pytest.importorskip("pandas")
    bodies = [{name: [json.dumps(part) for part in one[name]] for name in HOW} for one in ROWS]
    frame = pandas.DataFrame({"id": range(len(ROWS)), "body": bodies})
    assert clean_dataset(frame, messages="body")[1].dropped_rows == tuple(n for n, is_wrong in enumerate(error_rows()) if is_wrong)


def test_tools_that_are_not_named():
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        with pytest.warns(UserWarning, match="the column `tools` is not read: .* name it with `tools='tools'`") as seen:
            clean_dataset(store(ROWS), messages="messages")
        assert seen[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clean_dataset(store(ROWS), **HOW)
            clean_dataset(store(ROWS))


def test_what_is_beside_the_fix_stays():
    body = json.dumps({"model": "m", **CLEAN, "note": [1,  2]})
    late = row(1)
    PLANTED["late-tool-result"](late)
    text = json.dumps({"messages": late["messages"], "tools": late["tools"], "note": "ü"}, ensure_ascii=False, indent=1)
    table = pa.table({"body": [body, text, None, "nope"], "n": [0, 1, 2, 3]})
    kept, report = clean_dataset(table, messages="body", fix="safe", drop=None)
    assert kept["body"].to_pylist()[0] == body
    assert json.loads(kept["body"].to_pylist()[1])["note"] == "ü"
    assert kept["body"].to_pylist()[1] == Linter(kind="dataset").fix(text).text
    assert kept["body"].to_pylist()[2:] == [None, "nope"]
    assert str(report) == "4 rows: 4 kept, 1 of them after a fix, 0 dropped"
    assert report._repr_html_() == f"<pre>{report}</pre>"
    # What is not read was not checked.
    kept, report = clean_dataset(table, messages="body", fix="safe")
    assert (kept["n"].to_pylist(), report.before.unread, report.after.unread) == ([0, 1], 2, 0)


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_what_the_column_cannot_hold_stays_as_it_was(library):
    """A result that is moved needs no new key; what would lose one is left, and said."""
    messages = [
        {"role": "user", "content": "When is high tide?"},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "tides", "arguments": "{}"}}]},
        {"role": "user", "content": "Well?"},
    ]
    assert Linter(kind="request", target="openai-chat").fix({"messages": messages}, unsafe_fixes=True).is_changed
    # There is no field for `tool_call_id`, which the inserted result has.
    store = pa.Table.from_pylist if library == "pyarrow" else pytest.importorskip("polars").DataFrame
    data = store([{"id": 1, "messages": messages}])
    how = {"messages": "messages", "kind": "request", "target": "openai-chat", "fix": "unsafe"}
    kept, report = clean_dataset(data, **how, drop=None)
    assert (report.fixed, report.unfit, report.after.errors) == (0, 1, report.before.errors)
    why = "`messages`: there is no field `tool_call_id` in its structs"
    assert report.unfit_reasons == (why,)
    assert str(report) == f"1 rows: 1 kept, 0 dropped, 1 could not be fixed in their columns ({why})"
    assert (kept.to_pylist() if library == "pyarrow" else kept.to_dicts()) == (data.to_pylist() if library == "pyarrow" else data.to_dicts())
    assert clean_dataset(data, **how)[1].kept == 0


def with_tools_of_different_form():
    """A row that can be fixed, whose tools have no one shape: one has no arguments, and one has an `enum`."""
    late = row(1)
    PLANTED["late-tool-result"](late)
    parameters = [{"type": "object", "properties": {}, "required": []}]
    parameters += [{"type": "object", "properties": {"port": {"type": "string"}, "day": {"type": "string", "enum": ["today"]}}, "required": ["port"]}]
    names = ("ports", "tides")
    late["tools"] = [{"type": "function", "function": {"name": name, "parameters": one}} for name, one in zip(names, parameters)]
    return late


@pytest.mark.parametrize("store", STORES)
def test_a_column_that_a_fix_does_not_change_stays(store):
    data = STORES[store]([row(0), with_tools_of_different_form()])
    kept, report = clean_dataset(data, **HOW, fix="safe")
    assert (report.fixed, report.unfit, report.unfit_reasons, report.kept) == (1, 0, (), 2)
    assert found(kept) == [[], []]
    tools = [one["tools"].to_pylist() if hasattr(one["tools"], "to_pylist") else list(one["tools"]) for one in (data, kept)]
    assert repr(tools[0]) == repr(tools[1])


def test_a_tool_without_arguments_is_written():
    """Of tools that a fix changes, the others are written as they were."""
    one = with_tools_of_different_form()
    one["tools"].append(json.loads(json.dumps(one["tools"][1])))
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        kept, report = clean_dataset(store([one]), **HOW, fix="unsafe", drop=None)
        assert (report.fixed, report.unfit, report.unfit_reasons) == (1, 0, ()), store


def test_messages_that_a_fix_does_not_change_keep_their_keys():
    for number in range(3):
        late = row(1)
        PLANTED["late-tool-result"](late)
        for message in late["messages"]:
            message.setdefault("content", None)
        if number:
            function(late).update(arguments="{'port': 'Ostend'}")
        if number == 2:
            del late["messages"][2]
        kept, report = clean_dataset(as_pandas([row(0), late]), **HOW, fix="unsafe", drop=None)
        # Arguments that are no JSON are not made up: the row is left, and dropped by `drop`.
        assert report.fixed == (number < 2)
        dropped = clean_dataset(as_pandas([row(0), late]), **HOW, fix="unsafe")[1]
        assert dropped.reasons == ({"invalid-arguments-json": 1} if number else {})
        for message in kept["messages"].iloc[1]:
            assert "content" in message, (number, message)
        assert kept["messages"].iloc[1][1]["content"] is None
        assert "content" not in kept["messages"].iloc[0][1]


def test_what_is_fixed_is_kept():
    """A row that is dropped after a fix is no fixed one."""
    late = row(1)
    PLANTED["late-tool-result"](late)
    both = json.loads(json.dumps(late))
    both["messages"].append({"role": "tool", "tool_call_id": "call_x", "content": "?"})
    both["messages"].append({"role": "assistant", "content": "?"})
    report = clean_dataset(pa.Table.from_pylist([row(0), late, both]), **HOW, fix="safe")[1]
    assert (report.kept, report.fixed, report.dropped) == (2, 1, 1)
    assert str(report) == "3 rows: 2 kept, 1 of them after a fix, 1 dropped"
    assert str(clean_dataset(pa.Table.from_pylist([row(0)]), **HOW)[1]) == "1 rows: 1 kept, 0 dropped"


def test_tools_in_a_column_that_is_not_named():
    """Whatever its name is; rows as wholes count them."""
    renamed = [{"id": one["id"], "dialog": one["messages"], "tools_text": json.dumps(one["tools"])} for one in map(row, range(3))]
    renamed_lists = [{**one, "tools_text": json.loads(one["tools_text"])} for one in renamed]
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        for rows in (renamed, renamed_lists):
            with pytest.warns(UserWarning, match="^the column `tools_text` holds tools and is not read: name it with `tools='tools_text'`$") as seen:
                clean_dataset(store(rows), messages="dialog")
            assert seen[0].filename == __file__
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                clean_dataset(store(rows), messages="dialog", tools="tools_text")
                # A text about tools is none.
                clean_dataset(store([{"id": one["id"], "dialog": one["messages"], "note": '[{"parameters"'} for one in map(row, range(3))]), messages="dialog")
    from toolcheck_lint.hf import lint_dataset

    with pytest.warns(UserWarning, match="^the column `tools_text` holds tools"):
        lint_dataset(as_datasets(renamed), messages="dialog")
    whole = Linter(kind="dataset").column(pa.Table.from_pylist(renamed))
    assert whole.left_out == {"lists of tools under keys that are not known": 3}
    assert "left out: lists of tools under keys that are not known (3)\n" in whole.render()
    assert Summary.from_bytes(whole.to_bytes()) == whole and (whole + whole).left_out == {"lists of tools under keys that are not known": 6}
    report = clean_dataset(pa.Table.from_pylist(renamed))[1]
    assert str(report) == "3 rows: 3 kept, 0 dropped; left out: lists of tools under keys that are not known (3)"


def test_without_rows():
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        data = store(ROWS)
        empty = data.select([]) if hasattr(data, "with_format") else data[:0]
        for fix in (None, "safe"):
            kept, report = clean_dataset(empty, **HOW, fix=fix)
            assert (len(kept), report.rows) == (0, 0)
            assert shape(kept) == shape(empty)
        with pytest.warns(UserWarning, match="^nothing was read of any of the 16 rows, and all were dropped: is `tools` the column"):
            nothing, report = clean_dataset(data, messages="tools")
        assert (len(nothing), report.kept, shape(nothing)) == (0, 0, shape(data))


def test_lists_that_python_has_printed(tmp_path):
    """As `to_csv` of pandas writes them, and Dask by itself."""
    pandas = pytest.importorskip("pandas")
    as_pandas(ROWS).to_csv(tmp_path / "rows.csv", index=False)
    printed = [{**one, "messages": str(one["messages"])} for one in ROWS]
    stores = (pa.Table.from_pylist, as_polars, as_pandas, as_datasets)
    for data in (pandas.read_csv(tmp_path / "rows.csv"), *(store(printed) for store in stores)):
        with pytest.warns(UserWarning, match="^nothing .* all were dropped: the texts of `messages` are lists as Python prints them, not JSON; write"):
            assert clean_dataset(data, messages="messages", tools="tools")[1].kept == 0


def test_what_is_no_table():
    """It is said what to do."""
    duckdb = pytest.importorskip("duckdb")
    frame = as_polars(ROWS)
    with pytest.raises(TypeError, match=r"not list: make a table of the rows: `pyarrow.Table.from_pylist\(rows\)`$"):
        clean_dataset(ROWS, **HOW)
    with pytest.raises(TypeError, match=r"not LazyFrame: collect it first: `.collect\(\)`, or"):
        clean_dataset(frame.lazy(), **HOW)
    with pytest.raises(TypeError, match=r"not DuckDBPyRelation: make a table of it: `.to_arrow_table\(\)`$"):
        clean_dataset(duckdb.sql("select 1 as messages"), messages="messages")
    report = clean_dataset(frame, **HOW)[1]
    # It may name ten thousand.
    assert report.dropped_rows and "dropped_rows" not in repr(report)


def test_whole_rows_can_be_dropped():
    """Without `messages`, a row is an object of all columns."""
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        kept, report = clean_dataset(store(ROWS))
        assert ids(kept) == [one["id"] for one, wrong in zip(ROWS, error_rows()) if not wrong]
        with pytest.raises(TypeError, match="name it with `messages`"):
            clean_dataset(store(ROWS), fix="safe")


def test_good_rows_of_a_file_for_fine_tuning_stay():
    """The key is no part of them, so no API is said to refuse it."""
    rows = [row(number) for number in range(3)]
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        for how in ({"key": "id"}, {**HOW, "key": "id"}, HOW):
            kept, report = clean_dataset(store(rows), **how, drop="warning", target="openai-fine-tuning")
            assert (ids(kept), report.before.warnings) == ([0, 1, 2], 0), how
        kept, report = clean_dataset(store(rows), drop="warning", target="openai-fine-tuning")
        assert report.kept == 0
    polars = pytest.importorskip("polars")
    import toolcheck_lint.polars  # noqa: F401

    assert polars.DataFrame(rows).toolcheck.verdicts(key="id", target="openai-fine-tuning")["warnings"].sum() == 0


def test_data_sets_keep_their_format_and_can_be_cleaned_again():
    ds = as_datasets(ROWS)
    shown = ds.with_format("numpy", columns=["id"])
    seen = []
    kept, report = clean_dataset(shown, **HOW, fix="unsafe", progress=seen.append)
    assert kept.format == shown.format and seen[-1] == len(ROWS)
    # A cache of the last time would count nothing.
    assert clean_dataset(shown, **HOW, fix="unsafe")[1] == report
    filtered = ds.filter(lambda one: one["id"] > 3)
    assert ids(clean_dataset(filtered, **HOW)[0]) == [one for one in ids(clean_dataset(ds, **HOW)[0]) if one > 3]
    with pytest.raises(TypeError, match="streamed is cleaned batch by batch"):
        clean_dataset(ds.to_iterable_dataset(), **HOW)
    datasets = pytest.importorskip("datasets")
    with pytest.raises(TypeError, match="name a split"):
        clean_dataset(datasets.DatasetDict(train=ds), **HOW)


def test_schemas_of_json_are_used_in_duckdb(tmp_path):
    """It reads `arrow.json` as plain text."""
    duckdb = pytest.importorskip("duckdb")
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "Json"):
        pytest.skip("needs a `datasets` that has the type `Json`")
    text = datasets.Value("string")
    function = {"name": text, "parameters": datasets.Json()}
    features = datasets.Features(
        {"id": datasets.Value("int64"), "messages": datasets.List(datasets.Json()), "tools": datasets.List({"type": text, "function": function})}
    )
    file = tmp_path / "train.parquet"
    datasets.Dataset.from_list(ROWS, features=features).to_parquet(file)
    table = duckdb.sql(f"select id, messages, tools from '{file}'").to_arrow_table()
    assert found(table) == [rules_of(one) for one in ROWS]
    assert Linter(kind="dataset").column(table, key="id").errors == sum(error_rows())
    good = {"parameters": {"type": "object", "properties": json.dumps({"port": {"type": "string", "default": "{}"}})}}
    for tool in ({"toolSpec": {"name": "t", "inputSchema": json.dumps(good["parameters"])}}, {"name": "t", **good}, {"name": "t", "input_schema": good["parameters"]}):
        table = pa.table({"messages": [ROWS[0]["messages"][:1] + [{"role": "assistant", "content": "Six."}]], "tools": [[tool]]})
        assert "invalid-tool-schema" not in [rule for rules in found(table) for rule in rules], tool


def test_a_column_of_json_in_polars():
    polars = pytest.importorskip("polars")
    if not hasattr(polars, "Extension"):
        pytest.skip("needs a polars that has types of extensions")
    frame = polars.from_arrow(as_json(ROWS))
    kept, report = clean_dataset(frame, **HOW, fix="unsafe", drop=None)
    assert (kept.schema, report.unfit) == (frame.schema, 0) and report.fixed > 0


def test_progress():
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        seen = []
        clean_dataset(store([row(number) for number in range(2500)]), **HOW, progress=seen.append)
        assert seen == [1000, 2000, 2500], store


def test_a_name_that_is_misspelt_is_one_of_the_function_that_was_called():
    table = pa.Table.from_pylist(ROWS)
    message = r"^clean_dataset\(\) got an unexpected keyword argument `mesages`; did you mean `messages`\?$"
    with pytest.raises(TypeError, match=message):
        clean_dataset(table, mesages="messages")
    polars = pytest.importorskip("polars")
    import toolcheck_lint.polars  # noqa: F401

    for name in ("lint", "findings", "verdicts", "mask", "errors", "clean"):
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument `targt`; did you mean `target`\?$"):
            getattr(polars.DataFrame(ROWS, infer_schema_length=None).toolcheck, name)("messages", targt="bedrock")
    with pytest.raises(TypeError, match="^progress: expected a function, which is called with .*, not bool$"):
        clean_dataset(table, **HOW, progress=True)
    with pytest.raises(ValueError, match="^samples: expected 0 or more, not -1$"):
        Linter().column(table, samples=-1)
    with pytest.raises(ValueError, match="there are no columns at all$"):
        clean_dataset(pa.table({}), messages="messages")
    with pytest.raises(ValueError, match="there are no columns at all$"):
        Linter().column(pa.table({}), key="id")
    with pytest.raises(TypeError, match="^a Dataset of `datasets` is linted by `toolcheck_lint.hf.lint_dataset`$"):
        Linter().column(as_datasets(ROWS))


def test_what_is_given_wrongly():
    table = pa.Table.from_pylist(ROWS)
    with pytest.raises(ValueError, match="^drop: expected 'error', 'warning' or None, not 'errors'$"):
        clean_dataset(table, **HOW, drop="errors")
    with pytest.raises(ValueError, match="^fix: expected 'safe', 'unsafe' or None, not True$"):
        clean_dataset(table, **HOW, fix=True)
    for store in (pa.Table.from_pylist, as_polars, as_pandas, as_datasets):
        with pytest.raises(ValueError, match="^there is no column `nope`; there are `id`, `messages`, `tools`$"):
            clean_dataset(store(ROWS), messages="nope")
        with pytest.raises(ValueError, match="^there is no column `nope`"):
            clean_dataset(store(ROWS), key="nope")
    with pytest.raises(TypeError, match="not list: make a table of the rows"):
        clean_dataset(ROWS, **HOW)
    with pytest.raises(ValueError, match="did you mean `bedrock`"):
        clean_dataset(table, **HOW, target="bedrok")


def test_the_namespace_of_polars():
    polars = pytest.importorskip("polars")
    import toolcheck_lint.polars  # noqa: F401

    frame = as_polars(ROWS)
    wrong = error_rows()
    checked = frame.with_columns(errors=frame.toolcheck.errors("messages", tools="tools"))
    assert [bool(errors) for errors in checked["errors"].to_list()] == wrong
    assert checked["errors"].dtype == polars.List(polars.Struct({name: polars.String for name in ("rule", "pointer", "tool_call_id", "message")}))
    assert frame.toolcheck.mask("messages", tools="tools").to_list() == [not one for one in wrong]
    assert frame.filter(frame.toolcheck.mask()).height == len(ROWS) - sum(wrong)
    summary = frame.toolcheck.lint("messages", tools="tools", key="id")
    assert isinstance(summary, Summary) and summary.errors == sum(wrong)
    findings = frame.toolcheck.findings("messages", tools="tools", key="id", target="openai-chat")
    assert findings["row"].dtype == frame["id"].dtype
    kept, report = frame.toolcheck.clean("messages", tools="tools", fix="unsafe")
    assert report.fixed > 0 and kept.height == report.kept
    with pytest.raises(ValueError, match="there is no column `nope`"):
        frame.toolcheck.errors("nope")
    with pytest.raises(TypeError, match="name both"):
        frame.toolcheck.errors(tools="tools")
    with pytest.warns(UserWarning, match="the column `tools` is not read") as seen:
        frame.toolcheck.mask("messages")
    assert [one.filename for one in seen] == [__file__]


def test_polars_that_is_lazy():
    """As `docs/datasets.md` shows it."""
    frame = as_polars(ROWS)
    kept = frame.lazy().map_batches(lambda part: clean_dataset(part, **HOW)[0], schema=frame.schema).collect()
    assert kept.equals(clean_dataset(frame, **HOW)[0])


def test_polars_needs_nothing_else():
    pytest.importorskip("polars")
    import subprocess
    import sys

    code = f"""
import json, sys
sys.modules["pyarrow"] = sys.modules["pandas"] = sys.modules["numpy"] = None
import polars, toolcheck_lint
frame = polars.DataFrame(json.loads({json.dumps(json.dumps(ROWS))}), infer_schema_length=None)
print(*toolcheck_lint.clean_dataset(frame, messages="messages", tools="tools", fix="unsafe")[0]["id"].to_list())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [str(one) for one in ids(clean_dataset(as_polars(ROWS), **HOW, fix="unsafe")[0])], done.stderr


@pytest.mark.parametrize("kind", ["texts", "lists"])
def test_dask(kind):
    """As `docs/datasets.md` shows it."""
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    frame = as_pandas(as_texts(ROWS) if kind == "texts" else ROWS)
    with dask.config.set({"dataframe.convert-string": False}):
        parts = frames.from_pandas(frame, npartitions=3)
        kept = parts.map_partitions(lambda part: clean_dataset(part, **HOW, fix="unsafe")[0], meta=parts._meta).compute()
        summary = recipe("dask_df.to_delayed", dask_df=parts)["summary"]
    # The parts are in the order of the index.
    assert sorted(kept["id"]) == ids(clean_dataset(frame, **HOW, fix="unsafe")[0])
    whole = Linter(kind="dataset", target="openai-chat").column(frame, key="id")
    assert summary.errors > 0 and summary.to_bytes() == whole.to_bytes()


def test_data_sets_that_are_streamed():
    """As `docs/datasets.md` shows it."""
    streamed = as_datasets(ROWS).to_iterable_dataset()
    kept = streamed.with_format("arrow").map(lambda part: clean_dataset(part, **HOW)[0], batched=True, batch_size=5)
    expected = ids(clean_dataset(pa.Table.from_pylist(ROWS), **HOW)[0])
    assert [one for part in kept.iter(batch_size=1) for one in part["id"].to_pylist()] == expected


def recipe(text, **names):
    """Runs the example of `docs/datasets.md` that has a text, and gives its names."""
    blocks = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8").split("```python\n")[1:]
    [code] = [block for block in (block.partition("```")[0] for block in blocks) if text in block]
    exec(code, names)
    return names


@pytest.fixture
def train(tmp_path, monkeypatch):
    """A folder with the files of the examples."""
    import pyarrow.parquet

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    pyarrow.parquet.write_table(pa.Table.from_pylist(ROWS), "train.parquet")
    tmp_path.joinpath("train.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ROWS))
    return [one["id"] for one, wrong in zip(ROWS, error_rows()) if not wrong]


def test_the_example_of_duckdb(train):
    pytest.importorskip("duckdb")
    names = recipe("positional join")
    assert [key for key, *_ in names["clean"].fetchall()] == train
    assert sum(rows for _, rows in names["per_rule"].fetchall()) == len(ROWS) - len(train)


def test_the_example_of_polars(train):
    pytest.importorskip("polars")
    names = recipe("import toolcheck_lint.polars")
    assert names["frame"].filter(names["frame"]["errors"].list.len() == 0)["id"].to_list() == train
    assert set(names["good"]["id"].to_list()) <= set(train)
    typed = recipe("from toolcheck_lint.polars import Toolcheck", frame=names["frame"])
    assert typed["good"]["id"].to_list() == train


def test_the_examples_of_data_sets(train, capsys, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    names = recipe("clean, report = clean_dataset(ds")
    assert set(ids(names["clean"])) >= set(train)
    assert capsys.readouterr().out == f"{names['report']}\n"
    assert ids(recipe("mask = lint_dataset(ds", ds=names["ds"])["clean"]) == train
    recipe("summary = lint_dataset(ds, messages=\"messages\", tools=\"tools\", key=\"id\", target=\"openai-chat\")\nprint")


def test_pandas_has_what_arrow_has_no_type_for():
    pandas = pytest.importorskip("pandas")
    parts = row(0)
    parts["messages"][0]["content"] = [{"type": "text", "text": "When?"}]
    frame = pandas.DataFrame({"messages": [parts["messages"], row(1)["messages"]], "mixed": [1, "two"], "any": [object(), {1: 2}]})
    with pytest.raises(pa.ArrowException):
        pa.Table.from_pandas(frame[["messages"]])
    linter = Linter(kind="dataset", target="openai-chat")
    assert (linter.column(frame).errors, linter.column(frame).unread) == (0, 0)
    assert linter.column(frame["messages"]).messages == 8
    assert len(clean_dataset(frame, messages="messages")[0]) == 2


def test_it_is_exported():
    assert {"clean_dataset", "CleanReport"} <= set(toolcheck_lint.__all__)


def test_a_row_that_is_not_read_in_a_frame_of_lists():
    """A list of a Parquet file is an array in a frame of pandas."""
    frame = as_parquet_in_pandas([*ROWS, {**ROWS[0], "id": 1000, "messages": None}])
    kept, report = clean_dataset(frame, **HOW, key="id")
    assert report.dropped_rows[-1] == 1000 and report.before.unread == 1
    assert 1000 not in list(kept["id"])


def test_why_rows_were_dropped():
    said = [{"from": "human", "value": "When is low tide?"}]
    call = {"from": "function_call", "value": '{"name": "tides", "arguments": {}}'}
    answers = [{"from": "observation", "value": "at six"}, {"from": "gpt", "value": "At six."}]
    rows = [[*said, call, *answers], [*said, call, *said], [*said, call, *said], None]
    table = pa.table({"conversations": rows})
    kept, report = clean_dataset(table, messages="conversations")
    assert (len(kept), report.dropped, report.left_out.rows) == (1, 3, 3)
    assert dict(report.reasons) == {"unanswered-tool-call": 2, "unrecognised-format": 1}
    assert next(iter(report.reasons)) == "unanswered-tool-call"
    assert dict(clean_dataset(table, messages="conversations", drop=None)[1].reasons) == {}


def test_a_mask_for_a_frame_whose_index_has_gaps():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    frame = frame[frame["id"] % 2 == 1]
    assert list(frame.index) != list(range(len(frame)))
    linter = Linter(kind="dataset")
    ok = pa.table(linter.verdicts(frame["messages"], tools=frame["tools"]))["ok"].to_numpy()
    wanted = [one["id"] for one in ROWS if one["id"] % 2 == 1 and not linter.lint({name: one[name] for name in HOW}).errors]
    assert 0 < len(wanted) < len(frame)
    assert list(frame[ok]["id"]) == wanted
    assert list(clean_dataset(frame, **HOW)[0].index) == list(frame[ok].index)
    found = [pa.table(linter.rows(frame["messages"], tools=frame["tools"], key=key))["row"].to_pylist() for key in (None, frame["id"])]
    assert list(frame.iloc[found[0]]["id"]) == found[1] and set(found[1]) >= set(frame["id"]) - set(wanted)
