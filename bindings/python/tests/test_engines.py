"""PySpark, Ray and Hugging Face `datasets` fold to the bytes of the program, whatever the partitions are."""

import json
import os
import sys

import pytest

import toolcheck_lint
from toolcheck_lint import Summary

from conftest import CLEAN, UNANSWERED

COUNT = 130
BODIES = [
    CLEAN["messages"],
    UNANSWERED["messages"],
    [{"role": "user", "content": "Well?"}, {"role": "tool", "tool_call_id": "call_1", "content": "x"}],
    [],
]


def rows():
    tools = json.dumps([{"name": "currents", "input_schema": {"type": "object"}}])
    return [
        {"id": f"row-{number}", "messages": json.dumps(BODIES[number % len(BODIES)]), "tools": tools}
        for number in range(COUNT)
    ]


def report_of(row):
    """What is found in a row by itself."""
    return toolcheck_lint.Linter(kind="dataset").lint({name: json.loads(row[name]) for name in ("messages", "tools")})


@pytest.fixture(scope="module")
def said(program, tmp_path_factory):
    """What the program says of the rows."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    # A list that is stored as text is read as the list.
    listed = [{name: json.loads(text) if text.startswith("[") else text for name, text in row.items()} for row in rows()]
    path.write_text("".join(json.dumps(row) + "\n" for row in listed))
    said = program("lint", str(path), "--isolated", "--kind", "dataset", "--output-format", "summary-json", "--key", "id")
    assert Summary.from_bytes(said).errors > 0
    return said.strip()


HOW = {"messages": "messages", "tools": "tools", "key": "id"}


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyarrow")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    try:
        session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    except Exception as reason:  # noqa: BLE001
        pytest.skip(f"Spark does not start: {reason}")
    yield session
    session.stop()


@pytest.mark.parametrize("partitions", [1, 4, 13])
def test_spark(spark, said, partitions):
    from toolcheck_lint.spark import lint_dataframe

    df = spark.createDataFrame(rows()).repartition(partitions)
    assert df.rdd.getNumPartitions() == partitions
    assert lint_dataframe(df, **HOW).to_bytes() == said
    assert lint_dataframe(df, key="id").to_bytes() == said


def test_findings_of_spark(spark):
    from toolcheck_lint.spark import lint_dataframe

    df = spark.createDataFrame(rows())
    bad = lint_dataframe(df, **HOW, mode="rows")
    assert bad.columns == ["id", "rule", "level", "pointer", "tool_call_id", "message"]
    clean = df.join(bad.where("level = 'error'").select("id").distinct(), "id", "left_anti")
    good = {int(row["id"].removeprefix("row-")) for row in rows() if not report_of(row).errors}
    assert 0 in good and len(good) < COUNT
    assert {int(row["id"].removeprefix("row-")) for row in clean.select("id").collect()} == good
    numbered = spark.createDataFrame([{**row, "id": number} for number, row in enumerate(rows())], "id bigint, messages string, tools string")
    bad = lint_dataframe(numbered, **HOW, mode="rows")
    assert bad.schema["id"].dataType == numbered.schema["id"].dataType
    left = numbered.join(bad.where("level = 'error'").select("id").distinct(), "id", "left_anti")
    assert {row["id"] for row in left.select("id").collect()} == good
    nested = lint_dataframe(spark.createDataFrame([(1, [{"role": "user", "content": "Hello"}])], "id int, messages array<struct<role:string,content:string>>"), messages="messages", key="id")
    assert (nested.rows, nested.unread, nested.messages) == (1, 0, 1)
    with pytest.raises(TypeError, match="`key` is needed"):
        lint_dataframe(df, messages="messages", mode="rows")
    with pytest.raises(ValueError, match="^there is no column `nope`; there are `id`, `messages`, `tools`$"):
        lint_dataframe(df, messages="nope")
    assert all(count.samples == () for count in lint_dataframe(df, messages="messages").counts)


def test_rows_of_datasets_without_a_key_have_numbers():
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    ds = datasets.Dataset.from_list(rows())
    columns = {"messages": "messages", "tools": "tools"}
    for how in (columns, {}):
        found = lint_dataset(ds, **how, mode="rows", batch_size=7, threads=2)
        named = lint_dataset(ds, **how, key="id", mode="rows")
        assert found.column_names == ["row", *named.column_names[1:]] and len(found) > 0
        assert [ds["id"][row] for row in found["row"]] == list(named["id"])
    assert lint_dataset(ds.select([]), mode="rows").column_names == found.column_names
    with pytest.raises(ValueError, match="^threads: expected 1 or more, not 0$"):
        lint_dataset(ds, threads=0)
    with pytest.raises(ValueError, match="^samples: expected 0 or more, not -1$"):
        lint_dataset(ds, samples=-1)
    with pytest.raises(TypeError, match="^progress: expected a function"):
        lint_dataset(ds, progress=True)
    with pytest.raises(TypeError, match=r"^lint_dataset\(\) got .* `treads`; did you mean `threads`\?$"):
        lint_dataset(ds, treads=2)


def kept():
    """The keys of rows that are read and have no error."""
    reports = [(row["id"], report_of(row)) for row in rows()]
    return {key for key, report in reports if report.transcripts and not report.errors}


def test_rows_of_spark_are_cleaned(spark):
    """As `docs/datasets.md` shows it."""
    part = lambda table: toolcheck_lint.clean_dataset(table, messages="messages", tools="tools")[0]
    df = spark.createDataFrame(rows()).repartition(4)
    assert {row["id"] for row in df.mapInArrow(lambda parts: map(part, parts), df.schema).collect()} == kept()
    assert {row["id"] for row in df.mapInPandas(lambda parts: map(part, parts), df.schema).collect()} == kept()


def test_nested_rows_of_spark_are_fixed(spark, tmp_path):
    """Structs and lists stay what they are, whatever hands them over."""
    from toolcheck_lint.spark import lint_dataframe

    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({**row, **{name: json.loads(row[name]) for name in ("messages", "tools")}}) + "\n" for row in rows()))
    df = spark.read.json(str(path)).repartition(4)
    part = lambda table: toolcheck_lint.clean_dataset(table, messages="messages", tools="tools", fix="unsafe")[0]
    kept = {}
    for engine in (df.mapInArrow, df.mapInPandas):
        clean = engine(lambda parts: map(part, parts), df.schema).cache()
        summary = lint_dataframe(clean, **HOW)
        assert (summary.errors, summary.unread, summary.rows) == (0, 0, clean.count())
        kept[engine.__name__] = sorted(clean.collect())
    assert 0 < len(kept["mapInArrow"]) < COUNT and kept["mapInArrow"] == kept["mapInPandas"]


@pytest.fixture(scope="module")
def ray():
    pytest.importorskip("pyarrow")
    library = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    library.data.DataContext.get_current().enable_progress_bars = False
    yield library
    library.shutdown()


@pytest.mark.parametrize("partitions", [1, 4, 13])
def test_ray(ray, said, partitions):
    from toolcheck_lint.ray import lint_dataset

    ds = ray.data.from_items(rows(), override_num_blocks=partitions)
    assert lint_dataset(ds, **HOW).to_bytes() == said
    if partitions == 4:
        assert lint_dataset(ds, **HOW, batch_size=7).to_bytes() == said
        found = lint_dataset(ds, **HOW, mode="rows").take_all()
        assert len(found) == sum(Summary.from_bytes(said).to_dict()[name] for name in ("errors", "warnings"))
        assert found[0]["id"].startswith("row-")
        # As `docs/datasets.md` shows it.
        part = lambda table: toolcheck_lint.clean_dataset(table, messages="messages", tools="tools")[0]
        for form in ("pyarrow", "pandas"):
            assert {row["id"] for row in ds.map_batches(part, batch_format=form).take_all()} == kept()
        numbered = ray.data.from_items([{**row, "id": number} for number, row in enumerate(rows())])
        assert {type(row["id"]) for row in lint_dataset(numbered, **HOW, mode="rows").take_all()} == {int}


def test_blocks_of_ray_that_differ(ray):
    """Ray can't say the columns of all of them together."""
    from toolcheck_lint.ray import lint_dataset

    rows = [{"id": number, "messages": [{"role": "user", "content": "Hello", "meta": meta}], "tools": "[]"} for number, meta in enumerate([{"a": 1}, {"a": "x"}])]
    ds = ray.data.from_items(rows, override_num_blocks=2)
    summary = lint_dataset(ds, messages="messages", tools="tools")
    assert (summary.rows, summary.messages) == (2, 2)
    with pytest.raises(ValueError, match="^there is no column `nope`; there are `id`, `messages`, `tools`$"):
        lint_dataset(ray.data.from_items(globals()["rows"]()), messages="nope")


def test_batches_of_ray_without_a_format():
    """They are dictionaries of arrays."""
    with pytest.raises(TypeError, match=r'not dict: in Ray, .* `map_batches\(\.\.\., batch_format="pyarrow"\)`$'):
        toolcheck_lint.clean_dataset({"messages": []}, messages="messages")


@pytest.mark.parametrize("batch_size", [1, 10, 33, 1000])
def test_hugging_face(said, batch_size):
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    ds = datasets.Dataset.from_list(rows())
    assert lint_dataset(ds, **HOW, batch_size=batch_size).to_bytes() == said
    seen = []
    assert lint_dataset(ds, key="id", batch_size=batch_size, threads=3, progress=seen.append).to_bytes() == said
    assert seen[-1] == COUNT
    streamed = ds.to_iterable_dataset(num_shards=4)
    assert lint_dataset(streamed, **HOW, batch_size=batch_size).to_bytes() == said
    found = lint_dataset(ds, **HOW, mode="rows", batch_size=batch_size)
    assert found.column_names == ["id", "rule", "level", "pointer", "tool_call_id", "message"]


def test_what_is_no_data_set():
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    split = datasets.Dataset.from_list(rows())
    for splits in (datasets.DatasetDict(train=split, test=split), datasets.IterableDatasetDict(train=split.to_iterable_dataset(), test=split.to_iterable_dataset())):
        with pytest.raises(TypeError, match=r"^name a split of the .*DatasetDict: dataset\['train'\], dataset\['test'\]$"):
            lint_dataset(splits, messages="messages")
    with pytest.raises(TypeError, match="not list: make one with `datasets.Dataset.from_list`"):
        lint_dataset(rows())
    for frame in (split.to_pandas(), split.data.table):
        with pytest.raises(TypeError, match="not (DataFrame|Table): columns and tables .* `toolcheck_lint.Linter"):
            lint_dataset(frame)


def test_columns_that_a_data_set_has_not():
    datasets = pytest.importorskip("datasets")
    from toolcheck_lint.hf import lint_dataset

    ds = datasets.Dataset.from_list(rows())
    for wrong in ({"messages": "messages", "key": "nope"}, {"key": "nope"}, {"messages": "nope"}):
        for lazily in (ds, ds.to_iterable_dataset()):
            with pytest.raises(ValueError, match="^there is no column `nope`; there are `id`, `messages`, `tools`$"):
                lint_dataset(lazily, **wrong)


def test_columns_that_are_named_wrongly():
    from toolcheck_lint._batches import Job

    with pytest.raises(TypeError, match="name both"):
        Job(None, "tools", None, 5, {})
    with pytest.raises(ValueError, match="did you mean `bedrock`"):
        Job("messages", None, None, 5, {"target": "bedrok"})
    assert Job("messages", None, "id", 5, {}).columns == ["id", "messages"]
    assert Job(None, None, "meta.id", 5, {}).columns is None
    assert toolcheck_lint.Linter(kind="dataset").lint([]).kind == "dataset"
