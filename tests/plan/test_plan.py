"""The plan on planted streams: what is planted is found at its true dollars, what is clean stays empty."""

from __future__ import annotations

import random
from decimal import Decimal

import msgspec
import pytest

from app.control import findings as decisions
from app.control import migrate as migrate_control
from app.control import open_control
from app.core.errors import UsageError
from app.core.money import pico
from app.plan import store, window
from app.plan.analyse import analyse
from app.plan.result import PlanResult, plan_document
from tests.plan.planted import DAY, HOUR, START, Stream

MONTH = 30
END = START + MONTH * DAY


def nightly(into: Stream, days: int = MONTH, each: int = 60, **fields):
    """A job at two every night; returns what it cost."""
    keys = [
        into.add(
            START + day * DAY + 2 * HOUR + place * 4_000_000,
            **{"feature": "nightly", "template": 7, "provider": "anthropic", "model": "claude-sonnet-4-5",
               "tok_input": 900, "tok_output": 300, "api_key_hash": 5} | fields,
        )
        for day in range(days)
        for place in range(each)
    ]  # fmt: skip
    return sum(into.rows[key - 1]["cost_pusd"] for key in keys)


def repeats(into: Stream, days: int = MONTH, each: int = 80, **fields):
    """Questions of many users at temperature 0; returns the true cost of those asked again on the same day."""
    rng = random.Random(4)
    wasted = 0
    for day in range(days):
        asked = set()
        for start in sorted(rng.random() for _ in range(each)):
            question = rng.randrange(30)
            key = into.add(
                START + day * DAY + 8 * HOUR + int(start * 10 * HOUR),
                **{"feature": "docs", "template": 8, "model": "gpt-4.1", "tok_input": 1400, "tok_output": 200,
                   "temperature": 0.0, "stream": True, "exact_key": day * 1000 + question, "api_key_hash": 6,
                   "user_hash": rng.randrange(10_000), "out_hash": question} | fields,
            )  # fmt: skip
            wasted += into.rows[key - 1]["cost_pusd"] if question in asked else 0
            asked.add(question)
    return wasted


def people(into: Stream, days: int = MONTH, each: int = 50, **fields):
    """Clean traffic: short new questions of people in working hours on the smallest model."""
    rng = random.Random(9)
    for day in range(days):
        for start in sorted(rng.random() for _ in range(each)):
            into.add(
                START + day * DAY + 9 * HOUR + int(start * 8 * HOUR),
                **{"feature": "letters", "template": 9, "model": "gpt-5-nano", "tok_input": 60_000, "tok_output": 9_000,
                   "exact_key": 10**6 + len(into.rows), "api_key_hash": 7, "user_hash": rng.randrange(40),
                   "stream": True} | fields,
            )  # fmt: skip


def planned(stream: Stream, book, control=None, **fields) -> PlanResult:
    return analyse(stream.store(), book, control, **{"from_us": START, "to_us": END, "zone": "UTC"} | fields)


def by_lever(result: PlanResult, lever: str):
    return [finding for finding in result.findings if finding.lever == lever]


@pytest.fixture
def control(tmp_path):
    engine = open_control(tmp_path)
    migrate_control(engine)
    yield engine
    engine.dispose()


def test_a_nightly_job_is_found_at_half_of_what_it_cost(book):
    stream = Stream(book)
    paid = nightly(stream)
    people(stream)
    [finding] = by_lever(planned(stream, book), "batch")
    assert (finding.feature, finding.grade, finding.requests) == ("nightly", "B", MONTH * 60)
    assert pico(finding.standalone_usd) == paid // 2
    assert pico(finding.before_usd) == paid


def test_repeats_are_found_at_the_cost_of_those_that_a_day_old_answer_would_have_served(book):
    stream = Stream(book)
    wasted = repeats(stream)
    [finding] = by_lever(planned(stream, book), "response_cache")
    # Two users who ask within the two seconds of an answer are both sent on.
    assert pico(finding.standalone_usd) == pytest.approx(wasted, rel=0.01)
    assert pico(finding.standalone_usd) <= wasted


def test_a_few_old_requests_take_no_finding_out_of_the_plan(book):
    """A floor that grew with the whole span hid savings of a busy week behind one record of a year before."""
    stream = Stream(book)
    wasted = repeats(stream)
    before = planned(stream, book)
    people(stream, days=1, each=1)
    for row in stream.rows[-1:]:
        row["start_us"] -= 4_000 * DAY
    after = planned(stream, book, from_us=START - 4_001 * DAY)
    assert wasted > 0
    assert {finding.fingerprint for finding in before.findings} == {finding.fingerprint for finding in after.findings}
    assert before.findings


def test_candidates_below_the_floor_are_counted(book):
    stream = Stream(book)
    for _ in range(40):
        stream.add(
            START + len(stream.rows) * HOUR,
            model="gpt-4.1",
            exact_key=1,
            temperature=0.0,
            tok_input=300,
            tok_output=10,
        )
    result = planned(stream, book)
    assert result.findings == ()
    assert any("more candidates save less than $1 per 30 days" in note for note in result.notes)


def test_clean_traffic_gives_an_empty_plan(book):
    stream = Stream(book)
    people(stream)
    result = planned(stream, book)
    assert result.findings == ()
    assert (result.joint.p50, result.potential_usd) == ("0", "0")
    assert Decimal(result.before_usd) > 5


def test_an_empty_window_gives_an_empty_plan_and_no_figure_per_month(book):
    stream = Stream(book)
    people(stream, days=2)
    result = planned(stream, book, from_us=END, to_us=END + DAY)
    assert (result.requests, result.findings, result.per_30_days) == (0, (), None)


def test_levers_on_the_same_requests_share_one_joint_saving(book):
    stream = Stream(book)
    # A nightly job that asks the same things again: the cache takes most of it, the batch tier halves the rest.
    repeats(stream, stream=False, user_hash=1)
    for row in stream.rows:
        row["start_us"] = row["start_us"] // DAY * DAY + 2 * HOUR + row["request_key"] % 600 * 1_000_000
        row["end_us"] = row["start_us"]
    result = planned(stream, book)
    joint = [item for item in result.findings if item.in_joint]
    assert {item.lever for item in joint} == {"batch", "response_cache"}
    shares = [pico(item.allocated_usd) for item in joint]
    alone = [pico(item.standalone_usd) for item in joint]
    assert sum(shares) == pico(result.joint.p50)
    assert sum(shares) < sum(alone)
    assert sum(shares) <= pico(result.before_usd)
    for item in joint:
        assert pico(item.last_in_usd) <= pico(item.allocated_usd) <= pico(item.standalone_usd)


def test_grade_d_stands_beside_the_total_and_not_in_it(book):
    stream = Stream(book)
    people(stream, model="gpt-5", feature="extract")
    result = planned(stream, book)
    [finding] = result.findings
    assert (finding.lever, finding.grade, finding.in_joint) == ("smaller_model", "D", False)
    assert finding.params["to_model_id"] == "gpt-5-mini"
    assert finding.allocated_usd == "0"
    assert result.joint.p50 == "0"
    assert result.potential_usd == finding.standalone_usd


def test_the_interval_holds_the_central_figure_and_needs_eight_clusters(book):
    stream = Stream(book)
    rng = random.Random(3)
    for day in range(MONTH):
        nightly_each = rng.randrange(30, 90)
        for place in range(nightly_each):
            stream.add(START + day * DAY + 2 * HOUR + place * 1_000_000, feature="nightly", provider="anthropic",
                       model="claude-sonnet-4-5", tok_input=900, tok_output=300)  # fmt: skip
    result = planned(stream, book)
    [finding] = by_lever(result, "batch")
    low, middle, high = (Decimal(value) for value in (finding.standalone.p10, finding.standalone.p50,
                                                      finding.standalone.p90))  # fmt: skip
    assert low < middle < high
    assert low < Decimal(finding.standalone_usd) < high
    assert result.per_30_days == "1"


def test_a_few_days_give_no_interval_and_no_monthly_figure_and_say_so(book):
    stream = Stream(book)
    nightly(stream, days=5)
    result = planned(stream, book, to_us=START + 5 * DAY)
    [finding] = by_lever(result, "batch")
    assert (finding.standalone.p10, finding.standalone.p90) == (None, None)
    assert (result.joint.p10, result.per_30_days, result.monthly("3")) == (None, None, None)
    assert any("no interval and no monthly figure" in note for note in result.notes)


def test_the_same_stream_and_seed_give_the_same_plan(book):
    def once() -> PlanResult:
        stream = Stream(book)
        nightly(stream)
        repeats(stream)
        return planned(stream, book, now_us=1, seed=3)

    assert once() == once()


def test_requests_without_a_price_are_counted_and_claim_nothing(book):
    stream = Stream(book)
    nightly(stream)
    for day in range(MONTH):
        stream.add(START + day * DAY, model="in-house-7b", tok_input=1_000_000, tok_output=5)
    result = planned(stream, book)
    assert result.unpriced_requests == MONTH
    assert [item.feature for item in by_lever(result, "batch")] == ["nightly"]


def test_a_window_in_which_nothing_has_a_price_cost_an_unknown_sum(book):
    stream = Stream(book)
    for day in range(MONTH):
        stream.add(START + day * DAY, model="in-house-7b", tok_input=1_000_000, tok_output=5)
    result = planned(stream, book)
    assert (result.known_before_usd, plan_document(result)["before_usd"]) == (None, None)
    nightly(stream)
    assert Decimal(planned(stream, book).known_before_usd) > 0


def test_requests_without_a_whole_price_take_no_saving_from_others(book):
    stream = Stream(book)
    nightly(stream)
    whole = Decimal(by_lever(planned(stream, book), "batch")[0].standalone_usd)
    for row in stream.rows[::2]:
        row |= {"tok_cache_write_12h": 7, "cost_state": "partly"}
    [finding] = by_lever(planned(stream, book), "batch")
    assert Decimal(finding.standalone_usd) == whole / 2


def test_what_is_not_billed_per_token_is_value_and_not_paid(book):
    stream = Stream(book)
    nightly(stream)
    result = analyse(stream.store("subscription"), book, None, from_us=START, to_us=END, zone="UTC")
    assert result.basis == "list-price value"
    assert any("not money that was paid" in note for note in result.notes)


def test_days_are_cut_in_the_named_zone(book):
    stream = Stream(book)
    nightly(stream, days=1, each=60)
    result = planned(stream, book, zone="Pacific/Auckland", to_us=START + DAY)
    assert result.days == "1"
    with pytest.raises(UsageError, match="time zone"):
        planned(stream, book, zone="Mars/Base")


def test_thirty_times_a_day_are_thirty_days_wherever_midnight_is(book):
    stream = Stream(book)
    people(stream, days=31)
    result = planned(stream, book, from_us=START + 10 * HOUR, to_us=END + 10 * HOUR)
    assert (result.days, result.per_30_days) == ("30", "1")


def test_evidence_shows_requests_with_their_dollars_before_and_after(book):
    stream = Stream(book)
    nightly(stream)
    [finding] = by_lever(planned(stream, book), "batch")
    assert len(finding.evidence) == 20
    for row in finding.evidence:
        assert pico(row.before_usd) == stream.rows[row.request_key - 1]["cost_pusd"]
        assert pico(row.after_usd) * 2 == pico(row.before_usd)
    assert finding.query == "levers_batch.scopes"
    assert any("saved (50.0%)" in line for line in finding.arithmetic)


def test_a_stored_plan_reads_back_as_it_was(book):
    stream = Stream(book)
    nightly(stream)
    repeats(stream)
    warehouse = stream.store()
    result = analyse(warehouse, book, None, from_us=START, to_us=END, zone="Europe/Berlin", now_us=5)
    assert store.latest(warehouse, None, now_us=6) == result
    assert store.findings_of(warehouse, result.findings[0].evidence[0].request_key) == [result.findings[0].fingerprint]


def test_there_is_no_plan_before_the_first_analysis(book):
    stream = Stream(book)
    people(stream, days=1)
    assert store.latest(stream.store(), None, now_us=1) is None


def test_a_finding_survives_a_new_analysis_with_its_decision(book, control):
    stream = Stream(book)
    nightly(stream)
    warehouse = stream.store()
    window = {"from_us": START, "to_us": END, "zone": "UTC"}
    first = analyse(warehouse, book, control, **window, now_us=1)
    key = first.findings[0].fingerprint
    decisions.set_status(control, key, "in_progress", now_us=2)
    decisions.set_owner(control, key, "mara", now_us=2)
    [again] = [item for item in analyse(warehouse, book, control, **window, now_us=3).findings if item.lever == "batch"]
    assert (again.fingerprint, again.status, again.owner) == (key, "in_progress", "mara")
    assert decisions.states(control, 3)[key].first_seen_us == 1


def test_dismissing_takes_a_finding_out_of_the_joint_at_once_and_restoring_brings_it_back(book, control):
    stream = Stream(book)
    nightly(stream)
    repeats(stream)
    warehouse = stream.store()
    whole = analyse(warehouse, book, control, from_us=START, to_us=END, zone="UTC", now_us=1)
    batch = by_lever(whole, "batch")[0]
    decisions.set_status(control, batch.fingerprint, "dismissed", now_us=2, reason="customers wait for it")
    without = store.latest(warehouse, control, now_us=3)
    assert by_lever(without, "batch")[0].in_joint is False
    assert pico(without.joint.p50) == pico(whole.joint.p50) - pico(batch.allocated_usd)
    assert batch.fingerprint not in {row["fingerprint"] for row in plan_document(without)["levers"]}
    again = analyse(warehouse, book, control, from_us=START, to_us=END, zone="UTC", now_us=4)
    assert [row["lever"] for row in plan_document(again)["levers"] if row["grade"] != "D"] == ["response_cache"]
    decisions.set_status(control, batch.fingerprint, "open", now_us=5)
    restored = store.latest(warehouse, control, now_us=6)
    assert sum(pico(item.allocated_usd) for item in restored.findings) == sum(
        pico(item.allocated_usd) for item in whole.findings
    )


def test_local_days_follow_the_clock_change_of_the_zone(book):
    stream = Stream(book)
    # Berlin leaves summer time on 25 October 2026 at 01:00 UTC.
    change = 1_792_890_000_000_000
    for at in (change - 3 * HOUR - 1, change - 3 * HOUR, change + 22 * HOUR - 1, change + 22 * HOUR):
        stream.add(at, model="gpt-4.1", tok_input=10, tok_output=10)
    with stream.store().session() as session:
        window.load(session, change - DAY, change + DAY, "Europe/Berlin")
        days = [day.day for (day,) in session.connection.sql("SELECT day FROM stream ORDER BY start_us").fetchall()]
    assert days == [24, 25, 25, 26]


def test_the_document_is_plain_json(book):
    stream = Stream(book)
    nightly(stream)
    document = msgspec.json.decode(msgspec.json.encode(plan_document(planned(stream, book))))
    row = document["levers"][0]
    assert {"lever", "scope", "grade", "standalone_usd", "last_in_usd", "allocated_usd", "p10", "p50", "p90",
            "requests"} <= set(row)  # fmt: skip
    assert document["joint_usd"].keys() == {"p10", "p50", "p90"}
