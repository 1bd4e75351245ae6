from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from app.core.errors import InputError, UsageError
from app.core.usage import Rejected
from ingest.formats import detect_format, generic_rows
from ingest.formats.column_map import from_argument, propose


def test_documented_columns_are_read_without_a_map(one):
    event = one(
        {
            "timestamp": "2026-03-02T10:00:00Z",
            "model": "gpt-4o",
            "input_tokens": "1000",
            "cache_read_tokens": "200",
            "output_tokens": "50",
            "reasoning_tokens": "20",
            "total_tokens": "1050",
            "cost_usd": "1e-3",
            "feature": "search",
            "latency_ms": "250",
            "status": "ok",
        }
    )
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (800, 200, 30, 20)
    assert (event.cost_reported_usd, event.tags) == ("0.001", {"feature": "search"})
    assert event.end_us - event.start_us == 250_000
    assert event.warnings is None


def test_columns_that_stand_beside_each_other_have_names_of_their_own(one):
    event = one({"model": "m", "uncached_input_tokens": 10, "cache_read_tokens": 90, "visible_output_tokens": 5,
                 "reasoning_tokens": 7, "total_tokens": 112})  # fmt: skip
    assert (event.tok_input, event.tok_cache_read, event.tok_output, event.tok_reasoning) == (10, 90, 5, 7)
    assert event.warnings is None


def test_cached_tokens_without_an_input_leave_the_input_unknown(one):
    """The cached part alone at its low rate would be a wrong cost of the prompt."""
    row = {"model": "gpt-4o", "cache_read_tokens": 1000, "output_tokens": 80, "total_tokens": 1089}
    event = one(row)
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (None, None, 80)
    assert event.warnings == ["inconsistent_usage"]
    whole = one({**row, "uncached_input_tokens": 9})
    assert (whole.tok_input, whole.tok_cache_read, whole.warnings) == (9, 1000, None)


def test_empty_cells_are_unknown_not_zero(one):
    event = one({"model": "m", "timestamp": "", "input_tokens": "", "output_tokens": "5"})
    assert event.tok_input is None
    assert event.start_us is None
    assert event.warnings is None


def test_an_http_status_says_how_the_call_ended(one):
    assert one({"model": "m", "input_tokens": "", "status": "429"}).not_billed is True


def test_a_map_reads_a_table_of_any_names(read):
    form = generic_rows.with_map(
        from_argument("input_tokens=ContextTokens, output_tokens=GeneratedTokens, model:=gpt-4")
    )
    event, nothing = read({"ContextTokens": "4808", "GeneratedTokens": "10"}, {"other": 1}, form=form)
    assert (event.tok_input, event.tok_output, event.model) == (4808, 10, "gpt-4")
    assert isinstance(nothing, Rejected)


def test_a_map_reaches_into_nested_objects(one):
    form = generic_rows.with_map(from_argument('{"input_tokens": "llm.usage.in", "model": "llm.model"}'))
    event = one({"llm": {"usage": {"in": 7}, "model": "m"}}, form=form)
    assert (event.tok_input, event.model) == (7, "m")


def test_a_map_may_stand_in_a_file(tmp_path, one):
    path = tmp_path / "map.txt"
    path.write_text("# our table\ninput_tokens = tin\noutput_tokens: tout\n", encoding="utf-8")
    event = one({"tin": 3, "tout": 4}, form=generic_rows.with_map(from_argument(str(path))))
    assert (event.tok_input, event.tok_output) == (3, 4)


@pytest.mark.parametrize("text", ["tokens=a", "input_tokens=a, input_tokens=b", "input_tokens=", "model:=x", "{a: ["])
def test_a_map_that_cannot_be_read_says_why(text):
    with pytest.raises(UsageError):
        from_argument(text)


def test_a_map_file_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        from_argument(str(tmp_path / "missing.txt"))


def test_an_unknown_layout_gets_a_proposal_and_no_guess():
    row = {"TIMESTAMP": "2023-11-16 18:17:03.9799600", "ContextTokens": "4808", "GeneratedTokens": "10"}
    assert detect_format([row]) is None
    assert propose(list(row), [row]).text() == (
        "timestamp=TIMESTAMP, input_tokens=ContextTokens, output_tokens=GeneratedTokens"
    )


def test_a_proposal_round_trips_as_a_map():
    proposed = propose(["created_at", "tokens_prompt", "tokens_completion", "cost_total"], [])
    assert from_argument(proposed.text()) == proposed


@pytest.mark.parametrize(("total", "field"), [(130, "uncached_input_tokens"), (30, "input_tokens")])
def test_totals_tell_whether_cached_tokens_are_beside_the_input(total, field):
    rows = [{"input": 20, "cached": 100, "output": 10, "total": total}] * 3
    assert propose(list(rows[0]), rows).columns[field] == "input"


def test_a_proposal_looks_into_nested_objects():
    row = {"ts": 1, "usage": {"prompt_tokens": 5, "details": {"cached_tokens": 2}}}
    columns = propose(list(row), [row]).columns
    assert columns["input_tokens"] == "usage.prompt_tokens"
    assert columns["cache_read_tokens"] == "usage.details.cached_tokens"


def test_names_that_mean_nothing_get_an_empty_proposal():
    assert propose(["colour", "size"], [{"colour": "red", "size": 4}]).columns == {}


def test_values_as_parquet_gives_them_are_read(one):
    moment = datetime(2026, 3, 2, 10, tzinfo=UTC)
    row = {"model": "m", "timestamp": moment, "input_tokens": Decimal(1000), "cost_usd": Decimal("0.00125")}
    event = one({**row, "end_time": moment.replace(tzinfo=None)})
    assert (event.start_us, event.end_us, event.tok_input) == (1772445600_000000, 1772445600_000000, 1000)
    assert event.cost_reported_usd == "0.00125"
    assert event.warnings == ["zone_assumed:end_time"]


CALLED_START = [
    "start",
    "start_time",
    "startTime",
    "started_at",
    "begin",
    "begin_time",
    "ts",
    "time",
    "datetime",
    "Timestamp",
    "@timestamp",
    "request_time",
    "requestTimestamp",
    "created",
    "created_at",
    "timestamp_ms",
    "date",
]


@pytest.mark.parametrize("column", CALLED_START)
def test_the_start_of_a_call_is_known_by_any_usual_name(one, column):
    row = {column: "2026-03-02T10:00:00Z", "model": "gpt-4o", "input_tokens": 10, "output_tokens": 1}
    event = one(row)
    assert (event.start_us, event.warnings) == (1772445600_000000, None)
    assert propose(list(row), [row]).columns["timestamp"] == column


@pytest.mark.parametrize(
    ("columns", "start_us", "end_us"),
    [
        ({"created_at": 1772445700, "started_at": 1772445600, "ended_at": 1772445602}, 1772445600, 1772445602),
        ({"date": "2026-03-02", "ts": 1772445600}, 1772445600, None),
        ({"date": "2026-03-02", "time": "10:00:00"}, 1772445600, None),
        ({"time": 0.81, "created": "1772445600"}, 1772445600, None),
        ({"start": 0, "end": 20}, None, None),
        ({"timestamp": 1772445600, "start": 1772445700}, 1772445600, None),
    ],
)
def test_of_several_times_the_first_that_is_a_moment_is_the_start(one, columns, start_us, end_us):
    event = one({**columns, "model": "gpt-4o", "input_tokens": 10, "output_tokens": 1})
    assert event.start_us == (None if start_us is None else start_us * 1_000_000)
    assert event.end_us == (None if end_us is None else end_us * 1_000_000)


def test_a_proposal_passes_over_times_that_are_no_moments():
    row = {"PromptTokens": 10, "time": "0.81", "created": "2026-03-02T10:00:00Z"}
    assert propose(list(row), [row]).columns == {"timestamp": "created", "input_tokens": "PromptTokens"}
