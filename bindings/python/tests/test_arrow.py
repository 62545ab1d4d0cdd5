"""Columns of every library that has the PyCapsule interface."""

import json
import pickle
import random
import struct
import subprocess
import sys
import warnings

import pytest

from toolcheck_lint import Linter, Summary, SummaryError

from conftest import CLEAN, UNANSWERED

ROWS = [json.dumps(row) for row in [CLEAN, UNANSWERED, {"messages": []}, CLEAN]] + ["", "{", "[1, 2]", '"text"', "null"]
LISTS = [
    [{"role": "user", "content": "Which ferry?"}, {"role": "assistant", "content": "The first."}],
    [{"role": "user", "content": "Well?"}, {"role": "tool", "tool_call_id": "call_1", "content": "x"}],
]


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


@pytest.fixture
def expected():
    """What is counted row by row."""
    linter = Linter()
    return [linter.lint(row) for row in ROWS]


def counts(summary):
    return (summary.rows, summary.unread, summary.transcripts, summary.messages, summary.tool_calls, summary.errors, summary.warnings)


def sum_of(reports):
    return (
        len(reports),
        sum(not report.transcripts for report in reports),
        sum(report.transcripts for report in reports),
        sum(report.messages for report in reports),
        sum(report.tool_calls for report in reports),
        sum(report.errors for report in reports),
        sum(report.warnings for report in reports),
    )


def test_a_linter_of_requests_says_so_of_rows(pa):
    table = pa.table({"messages": [[{"role": "user", "content": "hi"}]]})
    for method in ("column", "rows", "verdicts"):
        with pytest.warns(UserWarning, match=r"linted as requests; use Linter\(kind='dataset'\)") as told:
            getattr(Linter(), method)(table)
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Linter(kind="dataset").column(table)
        Linter(kind="request").column(table)
        Linter().column(table.append_column("model", pa.array(["gpt-5"])))
        Linter().column(table["messages"])


def test_a_linter_of_rows_says_so_of_a_request():
    body = {"model": "gpt-5", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    with pytest.warns(UserWarning, match="linted as a row of a data set") as told:
        Linter(kind="dataset").lint(body)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Linter().lint(body)
        Linter(kind="dataset").lint({"model": "gpt-5", "messages": []})


def test_every_type_of_text(pa, expected):
    linter = Linter()
    wanted = linter.column(pa.array(ROWS))
    assert counts(wanted) == sum_of(expected)
    assert wanted.rules["unanswered-tool-call"].samples[0].row == "1"
    views = [pa.string_view(), pa.binary_view()]
    for kind in [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), *views]:
        array = pa.array([row.encode() if "binary" in str(kind) else row for row in ROWS], kind)
        assert linter.column(array) == wanted, kind
        assert linter.column(array.slice(1, 2)).errors == sum(report.errors for report in expected[1:3]), kind
    assert linter.column(pa.array(ROWS).dictionary_encode()) == wanted
    chunked = pa.chunked_array([ROWS[:2], [], ROWS[2:]])
    assert linter.column(chunked) == wanted
    assert linter.column(chunked.dictionary_encode()) == wanted


def test_a_row_without_a_value_is_not_read(pa):
    summary = Linter().column(pa.array([None, ROWS[0]]))
    assert (summary.rows, summary.unread) == (2, 1)
    assert Linter().column(pa.nulls(3)).unread == 3


def test_lists_and_tables(pa):
    linter = Linter(kind="dataset")
    wanted = [linter.lint(messages) for messages in LISTS]
    assert sum(report.errors for report in wanted)
    nested = pa.array(LISTS)
    for column in [nested, nested.cast(pa.large_list(nested.type.value_type)), pa.chunked_array([nested[:1], nested[1:]])]:
        assert counts(linter.column(column)) == sum_of(wanted)
    table = pa.table({"messages": nested, "id": ["one", "two"]})
    for rows in [table, table.to_batches()[0], table.to_reader()]:
        summary = linter.column(rows, key="id")
        assert summary.errors == sum(report.errors for report in wanted)
        assert {sample.row for count in summary.counts for sample in count.samples} == {"two"}


def test_tools_beside_the_messages(pa):
    messages = [[{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "tides", "arguments": "{}"}}]}]]
    tools = [[{"type": "function", "function": {"name": "currents", "parameters": {"type": "object"}}}]]
    linter = Linter(kind="dataset")
    text = pa.array([json.dumps(tools[0])])
    for beside in [pa.array(tools), text, pa.array([[json.dumps(tools[0][0])]])]:
        summary = linter.column(pa.array(messages), tools=beside, key=pa.array([17]))
        assert summary.rules["unknown-tool"].samples[0].row == "17"
    assert "unknown-tool" not in linter.column(pa.array(messages)).rules
    assert linter.column(pa.array(messages), tools=pa.nulls(1)) == linter.column(pa.table({"messages": messages}))
    with pytest.raises(ValueError, match="not of the same length"):
        linter.column(pa.array(messages * 2), tools=text)


def test_a_key_that_no_row_has(pa):
    linter = Linter(kind="dataset")
    table = pa.table({"id": ["a", "b"], "messages": LISTS, "meta": [{"shard": 1}] * 2})
    for read in (linter.column, linter.rows):
        with pytest.raises(ValueError, match="^there is no column `nope`; there are `id`, `messages`, `meta`$"):
            read(table, key="nope")
        with pytest.raises(ValueError, match="^there is no column `uuid`; there are `shard`$"):
            read(table, key="meta.uuid")
        with pytest.raises(ValueError, match="^there is no `id` in a list: pass the column with the keys as `key`$"):
            read(table["messages"], key="id")
        with pytest.raises(ValueError, match="^there is no column `id`; there are `messages`, `tools`$"):
            read(table["messages"], tools=pa.nulls(2), key="id")
    for key, rows in {"id": {"b"}, "meta.shard": {"1"}}.items():
        assert {sample.row for sample in linter.column(table, key=key).rules["orphan-tool-result"].samples} == rows
    # What is in text is only known row by row.
    assert Linter().column(pa.array(ROWS), key="id").rules["unanswered-tool-call"].samples[0].row == "1"
    wide = pa.table({f"column-{number}": ["{}"] for number in range(100)})
    with pytest.raises(ValueError, match="`column-19`, …$"):
        linter.column(wide, key="id")


def test_values_as_json(pa):
    """What is read of each type, seen through the key of a row."""
    import datetime
    import decimal

    cases = [
        (pa.array([True]), "true"),
        (pa.array([-7], pa.int8()), "-7"),
        (pa.array([2**64 - 1], pa.uint64()), str(2**64 - 1)),
        (pa.Array.from_buffers(pa.float16(), 1, [None, pa.py_buffer(struct.pack("<e", 1.5))]), "1.5"),
        (pa.array([0.1], pa.float32()), "0.1"),
        (pa.array([float("nan")]), "null"),
        (pa.array(['a"b']), 'a"b'),
        (pa.array([[1, None]]), "[1,null]"),
        (pa.array([[1, 2]], pa.list_(pa.int64(), 2)), "[1,2]"),
        (pa.array([{"a": None, "b": {"c": "d"}}]), '{"b":{"c":"d"}}'),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), '{"k":1}'),
        (pa.array([[["x", "x"]]]).cast(pa.list_(pa.list_(pa.dictionary(pa.int8(), pa.string())))), '[["x","x"]]'),
        (pa.array([datetime.date(2026, 1, 2)]), '"2026-01-02"'),
        (pa.array([decimal.Decimal("1.50")]), "1.50"),
        (pa.array([datetime.timedelta(minutes=1.5)]), '"PT90S"'),
        (pa.array([[b"\xff\xfe"]]), '["//4="]'),
    ]
    for key, expected in cases:
        summary = Linter().column(pa.array([ROWS[1]]), key=key)
        assert summary.counts[0].samples[0].row == expected, key.type


def test_a_type_that_json_has_not(pa):
    column = pa.array([[{"length": (1, 2, 3)}]], pa.list_(pa.struct([("length", pa.month_day_nano_interval())])))
    with pytest.raises(TypeError, match="cannot read Interval.* in the column `length` as JSON"):
        Linter().column(column)


def test_what_is_no_column():
    for wrong in ([1], "text", {"a": 1}, None):
        with pytest.raises(TypeError, match="^array: expected a column or a table with `__arrow_c_stream__`"):
            Linter().column(wrong)


def test_what_is_no_column_beside_one(pa):
    with pytest.raises(TypeError, match="^tools: expected a column .*, not str; in a table, the column `tools` is read by itself$"):
        Linter(kind="dataset").column(pa.table({"messages": LISTS}), tools="tools")
    with pytest.raises(TypeError, match="^key: expected a column .*, not int$"):
        Linter(kind="dataset").column(pa.table({"messages": LISTS}), key=5)


def test_findings_as_a_table(pa):
    linter = Linter()
    keys = pa.array([f"row-{number}" for number in range(len(ROWS))])
    table = pa.table(linter.rows(pa.chunked_array([ROWS[:1], ROWS[1:]]), key=keys))
    assert table.column_names == ["row", "rule", "level", "pointer", "tool_call_id", "message"]
    found = [one for one in table.to_pylist() if one["rule"] == "unanswered-tool-call"]
    assert [(one["row"], one["level"], one["pointer"], one["tool_call_id"]) for one in found] == [
        ("row-1", "error", "/messages/1/content/0", "toolu_1")
    ]
    assert len(table) == linter.column(pa.array(ROWS)).errors + linter.column(pa.array(ROWS)).warnings
    once = linter.rows(pa.array(ROWS))
    with pytest.raises(TypeError, match=r"a table of Arrow: read them with `pyarrow.table\(...\)` or"):
        list(once)
    pa.table(once)
    with pytest.raises(ValueError, match="read already"):
        pa.table(once)
    assert len(pa.table(linter.rows(pa.array([], pa.string())))) == 0


def test_polars(expected):
    pl = pytest.importorskip("polars")
    linter = Linter()
    series = pl.Series("body", ROWS)
    assert counts(linter.column(series)) == sum_of(expected)
    for kind in [pl.Categorical, pl.Enum(list(dict.fromkeys(ROWS)))]:
        assert counts(linter.column(series.cast(kind))) == sum_of(expected)
        assert linter.column(series.cast(kind).to_frame("messages")) == linter.column(series.to_frame("messages"))
    frame = pl.DataFrame({"messages": LISTS, "id": ["one", "two"]})
    frame = frame.with_columns(labels=pl.Series([["a"], ["b", "a"]], dtype=pl.List(pl.Categorical)))
    nested = Linter(kind="dataset")
    assert nested.column(frame, key="id").errors == nested.column(frame["messages"]).errors > 0
    found = pl.DataFrame(nested.rows(frame, key="id"))
    for read in (nested.column, nested.rows):
        with pytest.raises(TypeError, match=r"LazyFrame; collect it first: `.collect\(\)`$"):
            read(frame.lazy())
    assert frame.join(found, left_on="id", right_on="row", how="anti")["id"].to_list() == ["one"]


def test_what_is_no_column(pa, tmp_path):
    dataset, parquet = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"body": ROWS}), tmp_path / "rows.parquet")
    scanned = dataset.dataset(tmp_path / "rows.parquet")
    hints = {
        r"read a file first, such as with `pyarrow.parquet.read_table`": ["rows.parquet", tmp_path],
        r"make a table of rows with `pyarrow.Table.from_pylist`": [ROWS, {"body": ROWS}],
        r"scan it: `.scanner\(\).to_reader\(\)`": [scanned],
    }
    for hint, given in hints.items():
        for one in given:
            with pytest.raises(TypeError, match=f"^array: expected a column .*, not .*; {hint}$"):
                Linter().column(one)
    assert Linter().column(scanned.scanner().to_reader()).rows == len(ROWS)


def test_findings_are_joined_by_a_key_that_is_a_number():
    """As `docs/datasets.md` shows it."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"messages": LISTS, "id": [1, 2]})
    bad = polars.DataFrame(Linter(kind="dataset").rows(frame, key="id"))
    errors = bad.filter(polars.col("level") == "error")
    clean = frame.join(errors, left_on="id", right_on="row", how="anti")
    assert clean["id"].to_list() == [1]
    duckdb = pytest.importorskip("duckdb")
    query = """select id from frame where id not in (select "row" from bad where level = 'error')"""
    assert duckdb.sql(query).fetchall() == [(1,)]


def test_keys_keep_their_types(pa):
    """And rows that have no key are named by their numbers."""
    import datetime

    linter = Linter(kind="dataset")
    lists = pa.array(LISTS)

    def rows(array, **more):
        return pa.table(linter.rows(array, **more))["row"]

    assert (rows(lists).type, set(rows(lists).to_pylist())) == (pa.int64(), {1})
    assert set(rows(pa.chunked_array([lists[:1], lists[1:]])).to_pylist()) == {1}
    for key in [
        pa.array([3, 4], pa.int8()),
        pa.array([2**63, 2**64 - 1], pa.uint64()),
        pa.array(["a", "b"]),
        pa.array(["a", "b"], pa.large_string()),
        pa.array(["a", "b"], pa.string_view()),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([b"a", b"\xff"], pa.binary()),
        pa.array([datetime.date(2026, 1, 2), None]),
        pa.array([0.5, None]),
        pa.array([True, None]),
        pa.array([{"shard": 1, "row": 2}, {"shard": 1, "row": 3}]),
    ]:
        for found in (rows(lists, key=key), rows(pa.table({"id": key, "messages": lists}), key="id")):
            if not pa.types.is_struct(key.type):
                assert found.type == key.type
                assert set(found.to_pylist()) == {key.to_pylist()[1]}
    deep = pa.table({"messages": lists, "meta": [{"id": 1}, {"id": 2}]})
    assert set(rows(deep, key="meta.id").to_pylist()) == {"2"}


def test_verdicts(pa):
    table = pa.table(Linter().verdicts(pa.array([*ROWS, None])))
    assert table.column_names == ["ok", "errors", "warnings", "findings"]
    reports = [Linter().lint(row) for row in [*ROWS, "null"]]
    assert table["ok"].to_pylist() == [bool(report.transcripts and not report.errors) for report in reports]
    assert table["errors"].to_pylist() == [report.errors for report in reports]
    assert table["warnings"].to_pylist() == [report.warnings for report in reports]
    said = [[(found.rule, found.level, found.pointer, found.tool_call_id, found.message) for found in report] for report in reports]
    assert [[tuple(found.values()) for found in row] for row in table["findings"].to_pylist()] == said
    assert pa.table(Linter().verdicts(pa.array([], pa.string()))).num_rows == 0
    long = pa.chunked_array([ROWS * 300, ROWS])
    seen = []
    table = pa.table(Linter().verdicts(long, progress=seen.append))
    assert table["ok"].to_pylist() == [bool(report.transcripts and not report.errors) for report in reports[:-1]] * 301
    assert seen[-1] == len(long) and len(seen) > 2
    # As `docs/datasets.md` shows it.
    duckdb = pytest.importorskip("duckdb")
    rows, verdicts = pa.table({"body": ROWS}), pa.table(Linter().verdicts(pa.array(ROWS)))
    kept = duckdb.sql("select body from rows positional join verdicts where ok").fetchall()
    assert [body for (body,) in kept] == [row for row, report in zip(ROWS, reports) if report.transcripts and not report.errors]


def test_duckdb(expected):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("create table rows (body varchar)")
        connection.executemany("insert into rows values (?)", [[row] for row in ROWS])
        relation = connection.sql("select body from rows")
        # A table: each row is an object with one key.
        summary = Linter(at="/body").column(relation)
        assert summary.rows == len(ROWS)
        assert "unanswered-tool-call" in summary.rules


def test_no_other_library_is_needed():
    pytest.importorskip("polars")
    code = """
import sys
import warnings
sys.modules["pyarrow"] = sys.modules["pandas"] = sys.modules["numpy"] = None
import polars, toolcheck_lint
print(toolcheck_lint.Linter().column(polars.Series(["{}", "[]"])).rows)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr


def test_progress_and_errors_of_it(pa):
    seen = []
    Linter().column(pa.array(ROWS[:1] * 2500), progress=seen.append)
    assert seen == [1000, 2000, 2500]

    def stop(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Linter().column(pa.array(ROWS), progress=stop)


def test_an_error_of_the_producer(pa):
    def batches():
        yield pa.record_batch({"messages": LISTS})
        raise RuntimeError("the disk is gone")

    schema = pa.record_batch({"messages": LISTS}).schema
    with pytest.raises(ValueError, match="the data can't be read: .*the disk is gone"):
        Linter().column(pa.RecordBatchReader.from_batches(schema, batches()))


def test_damaged_arrays(pa):
    """As a damaged file has them: pyarrow looks at the last offset only."""

    def array(kind, count, *buffers, children=None):
        return pa.Array.from_buffers(kind, count, [None, *map(pa.py_buffer, buffers)], children=children)

    data = b"[] [] []"
    ints = lambda *offsets: struct.pack(f"<{len(offsets)}i", *offsets)
    view = lambda length, buffer, start: struct.pack("<i4sii", length, data[:4], buffer, start)
    texts = pa.array(["[]", "[]"])
    damaged = {
        "down": array(pa.string(), 2, ints(4, 2, 4), data),
        "down to less than nothing": array(pa.large_string(), 2, struct.pack("<3q", 0, -(2**62), 2), data),
        "beyond, and back": array(pa.binary(), 2, ints(0, 2**30, 4), data),
        "in a list": array(pa.list_(pa.string()), 2, ints(2, 0, 2), children=[texts]),
        "in texts in a list": pa.ListArray.from_arrays([0, 2], array(pa.string(), 2, ints(4, 2, 4), data)),
        "in a struct": pa.StructArray.from_arrays([array(pa.string(), 2, ints(4, 2, 4), data)], ["messages"]),
        "in a view of a list": pa.ListViewArray.from_buffers(pa.list_view(pa.string()), 1, [None, pa.py_buffer(ints(1)), pa.py_buffer(ints(2))], children=[texts]),
        "in a dictionary": pa.DictionaryArray.from_arrays([0, 1], array(pa.string(), 2, ints(4, 2, 4), data)),
    }
    # Before 17, pyarrow makes no views of such buffers.
    if int(pa.__version__.partition(".")[0]) >= 17:
        damaged |= {
            "an unknown buffer": array(pa.string_view(), 1, view(20, 7, 0), data),
            "beyond its buffer": array(pa.string_view(), 1, view(20, 0, 4), data),
            "a length below 0": array(pa.string_view(), 1, view(-100, 0, 0), data),
        }
    for name, rows in damaged.items():
        with pytest.raises(ValueError, match="the data can't be read: an array is damaged"):
            Linter().column(rows)
            pytest.fail(name)
        with pytest.raises(Exception, match="an array is damaged"):
            pa.table(Linter().rows(pa.chunked_array([rows])))

    def batches():
        yield pa.record_batch([pa.array([1])], names=["other"])

    with pytest.raises(ValueError, match="the data can't be read: an array is damaged"):
        Linter().column(pa.RecordBatchReader.from_batches(pa.schema([("messages", pa.string())]), batches()))


def test_any_partition_has_the_same_sum(pa):
    keys = [f"row-{number}" for number in range(60)]
    rows = [ROWS[number % len(ROWS)] for number in range(60)]
    linter = Linter()
    whole = linter.column(pa.array(rows), key=pa.array(keys), samples=3)
    generator = random.Random(1)
    for parts in (1, 4, 13):
        order = list(range(60))
        generator.shuffle(order)
        summaries = []
        for part in range(parts):
            chosen = order[part::parts]
            column = pa.array([rows[number] for number in chosen])
            summaries.append(linter.column(column, key=pa.array([keys[number] for number in chosen]), samples=3))
        assert Summary.sum(summaries).to_bytes() == whole.to_bytes()
        assert Summary.sum(summary.to_bytes() for summary in summaries) == whole
        total = Summary()
        for summary in summaries:
            total += summary
        assert total == whole
    assert Summary.sum([]) == Summary()


def test_a_summary(pa):
    summary = Linter().column(pa.array(ROWS), samples=2)
    again = Summary.from_bytes(summary.to_bytes())
    assert again == summary
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert again.to_dict() == json.loads(summary.render("json")) == json.loads(summary.render("summary-json"))
    assert summary.render() == summary.render("summary") == summary.render("text")
    with pytest.raises(ValueError, match="no output 'concise' of a summary; expected summary, summary-json, text or json"):
        summary.render("concise")
    count = summary.rules["unanswered-tool-call"]
    assert (count.level, count.findings, count.rows) == ("error", 1, 1)
    assert count.samples[0].pointer == "/messages/1/content/0"
    assert "error unanswered-tool-call: 1 finding in 1 row" in summary.render()
    assert sum(summary.formats.values()) == summary.transcripts
    for wrong in (b"", b"\xff", b"{}", b'{"version": 2}'):
        with pytest.raises(ValueError, match="not a summary"):
            Summary.from_bytes(wrong)
    with pytest.raises(TypeError):
        summary + 1


def test_summaries_are_added_by_sum(pa):
    linter = Linter()
    parts = [linter.column(pa.array([row])) for row in ROWS]
    assert sum(parts) == Summary.sum(parts) == sum(parts, Summary())
    with pytest.raises(TypeError):
        sum(parts, 1)


def test_errors_of_rows_are_raised(pa):
    def raised(rows, level="error", **settings):
        summary = Linter(**settings).column(pa.array([json.dumps(row) for row in rows]))
        with pytest.raises(SummaryError) as raised:
            summary.raise_for_errors(level=level)
        assert raised.value.summary is summary
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
        return str(raised.value)

    Linter().column(pa.array([json.dumps(CLEAN)] * 2)).raise_for_errors(level="warning")
    assert "unanswered-tool-call" in raised([CLEAN, UNANSWERED])
    demoted = {"config": '[levels]\nunanswered-tool-call = "warning"\n'}
    assert "unanswered-tool-call" in raised([UNANSWERED], level="warning", **demoted)
    Linter(**demoted).column(pa.array([json.dumps(UNANSWERED)])).raise_for_errors()
    assert raised([CLEAN, 1], select=["unknown-tool"]) == "nothing was read in 1 of 2 rows, so they were not checked"
    assert raised([]) == "there is no transcript in the rows, so nothing was checked"
    with pytest.raises(ValueError, match="there is no level 'warnings'"):
        Summary().raise_for_errors(level="warnings")


def test_the_same_summary_as_the_program(pa, program, tmp_path):
    messages = [
        CLEAN["messages"],
        UNANSWERED["messages"],
        [{"role": "user", "content": "Well?"}, {"role": "tool", "tool_call_id": "call_1", "content": "x"}],
    ]
    table = pa.table(
        {
            "id": [f"row-{number}" for number in range(39)],
            "messages": [json.dumps(messages[number % 3]) for number in range(39)],
            "tools": [None if number % 2 else "[]" for number in range(39)],
        }
    )
    path = tmp_path / "rows.jsonl"
    # Columns of text are read as the lists that they are.
    read = {"id": str, "messages": json.loads, "tools": json.loads}
    lines = [json.dumps({key: read[key](value) for key, value in row.items() if value is not None}) for row in table.to_pylist()]
    path.write_text("\n".join(lines) + "\n")
    said = program("lint", str(path), "--isolated", "--kind", "dataset", "--output-format", "summary-json", "--key", "id")
    summary = Linter(kind="dataset").column(table, key="id")
    assert summary.errors > 0
    assert summary.to_bytes() == Summary.from_bytes(said).to_bytes()
    assert summary.to_bytes() == said.strip()
