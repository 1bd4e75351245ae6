"""Codex rollouts: what the counter grew by, once, in whatever way the session was resumed, forked or copied."""

from __future__ import annotations

import json

import pytest

from app.core.usage import Rejected, UsageEvent, tokens_in, tokens_out
from ingest.formats import detect_format, format_named
from ingest.formats.format import Origin

BORN = "019c5000-0000-7000-8000-00000000000a"  # 2026-02-12T09:30:50Z
PARENT = "019c4fff-0000-7000-8000-00000000000b"
OLD_TURN = "019c4fff-8000-7000-8000-0000000000aa"
NEW_TURN = "019c5000-0800-7000-8000-0000000000ab"


def at(seconds: float) -> str:
    return f"2026-02-12T10:{int(seconds // 60):02d}:{seconds % 60:06.3f}Z"


def meta(name=BORN, when=0.0, **more):
    payload = {"id": name, "timestamp": at(when), "cwd": "/home/dev/shop", "originator": "codex_cli_rs", **more}
    return {"timestamp": at(when), "type": "session_meta", "payload": payload}


def turn(when, model="gpt-5", **more):
    return {"timestamp": at(when), "type": "turn_context", "payload": {"model": model, "cwd": "/home/dev/shop", **more}}


def usage(given, cached, answer, thought=0):
    return {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": answer,
        "reasoning_output_tokens": thought,
        "total_tokens": given + answer,
    }


def counted(when, total, last):
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 272_000}
    return {"timestamp": at(when), "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def record(when, used, response="resp_0123456789abcdef0123", thread=BORN):
    payload = {"thread_id": thread, "turn_id": NEW_TURN, "response_id": response, "usage": used}
    return {"timestamp": at(when), "type": "token_usage_record", "payload": payload}


def calls(*lines, name="codex_cli"):
    parse = format_named(name).parser()
    items = [item for line, one in enumerate(lines, 1) for item in parse(one, Origin("s", "rollout.jsonl", line))]
    assert all(isinstance(item, UsageEvent) or item.benign for item in items), items
    return [item for item in items if isinstance(item, UsageEvent)]


def sizes(events):
    return [(tokens_in(event), event.tok_cache_read, tokens_out(event)) for event in events]


FIRST, SECOND = usage(1000, 400, 100, 30), usage(2500, 1200, 160, 50)
STEP = usage(1500, 800, 60, 20)
SESSION = (meta(), turn(1), counted(5, FIRST, FIRST), turn(60), counted(66, SECOND, STEP))


def test_after_a_reset_the_calls_own_usage_counts_and_not_the_new_sum():
    """A compacted session goes on from a sum that holds what was carried over: only the call itself is new."""
    carried, own = usage(600, 100, 40), usage(250, 50, 20)
    found = calls(meta(), turn(1), counted(5, FIRST, FIRST), counted(30, carried, own))
    assert sizes(found) == [(1000, 400, 100), (250, 50, 20)]


def test_a_rollout_is_found_by_its_content():
    assert detect_format(list(SESSION)) is format_named("codex_cli")


def test_a_call_is_what_the_counter_grew_by_and_reasoning_is_inside_the_output():
    first, second = calls(*SESSION)
    assert (first.tok_input, first.tok_cache_read, first.tok_output, first.tok_reasoning) == (600, 400, 70, 30)
    assert (second.tok_input, second.tok_cache_read, second.tok_output, second.tok_reasoning) == (700, 800, 40, 20)
    assert (first.tok_total_reported, second.tok_total_reported) == (1100, 1560)
    assert first.warnings is second.warnings is None


def test_a_call_says_who_and_where():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    lines = (meta(source=spawned, git={"branch": "main"}), turn(1, effort="high"), counted(5, FIRST, FIRST))
    (event,) = calls(*lines)
    assert (event.provider, event.model, event.reasoning_effort, event.session_id) == ("openai", "gpt-5", "high", BORN)
    assert event.tags == {"agent": "subagent", "project": "shop", "branch": "main"}
    assert event.end_us - event.start_us == 4_000_000, "from the turn's start to its count"


def test_the_counter_written_again_is_no_call():
    repeated = [counted(70 + n, SECOND, STEP) for n in range(3)]
    assert len(calls(*SESSION, *repeated)) == 2


def test_two_calls_of_equal_size_are_two():
    assert len(calls(meta(), turn(1), counted(5, FIRST, FIRST), counted(9, usage(2000, 800, 200, 60), FIRST))) == 2


def test_a_full_context_window_resets_the_counter_and_is_no_call():
    full = {**usage(0, 0, 0), "total_tokens": 272_000}
    after = {**usage(900, 0, 10), "total_tokens": 272_910}
    found = calls(*SESSION, counted(80, full, {**usage(0, 0, 0), "total_tokens": 269_340}),
                  counted(90, after, usage(900, 0, 10)))  # fmt: skip
    assert sizes(found)[2:] == [(900, 0, 10)]
    assert found[2].warnings is None


def test_a_counter_that_starts_anew_counts_the_calls_own_usage():
    found = calls(*SESSION, counted(80, usage(300, 0, 20), usage(300, 0, 20)))
    assert sizes(found)[2:] == [(300, 0, 20)]
    assert len({event.source_record for event in found}) == 3


def test_a_counter_that_starts_anew_with_a_larger_call_than_all_before_counts_that_call():
    """Nothing shrank, so only the equal sum shows it."""
    large = usage(9000, 1300, 700, 60)
    found = calls(*SESSION, counted(80, large, large))
    assert sizes(found)[2:] == [(9000, 1300, 700)]


def test_a_log_that_begins_with_an_older_sum_counts_only_the_latest_call():
    assert sizes(calls(meta(), turn(1), counted(5, usage(90_000, 80_000, 4000), STEP))) == [(1500, 800, 60)]


def test_lost_lines_are_counted_by_the_counter_and_flagged():
    found = calls(meta(), turn(1), counted(5, FIRST, FIRST), counted(90, usage(9000, 400, 300, 30), STEP))
    assert sizes(found)[1:] == [(8000, 0, 200)]
    assert found[1].warnings == ["counter_disagrees"]


def test_a_copy_of_the_session_in_its_own_file_adds_nothing():
    assert len(calls(*SESSION, *SESSION)) == 2


def test_a_copy_of_the_session_gives_the_same_ids():
    assert [event.source_record for event in calls(*SESSION)] == [event.source_record for event in calls(*SESSION)]


def fork(*own, copied_at=0.2, names=(OLD_TURN, OLD_TURN), original_times=False, parents_head=True):
    """A forked session: its head, its parent's head and history, then what is its own."""
    times = (-50.0, -40.0) if original_times else (copied_at, copied_at + 1.8)
    stamp = [f"2026-02-12T09:59:{60 + when:06.3f}Z" if when < 0 else at(when) for when in times]
    history = [
        {**turn(0, turn_id=names[0]), "timestamp": stamp[0]},
        {**counted(0, FIRST, FIRST), "timestamp": stamp[0]},
        {**turn(0, turn_id=names[1]), "timestamp": stamp[1]},
        {**counted(0, SECOND, STEP), "timestamp": stamp[1]},
    ]
    head = [{**meta(PARENT), "timestamp": stamp[0]}] if parents_head else []
    return (meta(forked_from_id=PARENT), *head, *history, *own)


OWN = usage(3000, 1200, 200, 50)
OWN_STEP = usage(500, 0, 40)


@pytest.mark.parametrize("parents_head", [True, False])
def test_a_forks_copied_history_belongs_to_its_parent(parents_head):
    found = calls(*fork(turn(3, turn_id=NEW_TURN), counted(4, OWN, OWN_STEP), parents_head=parents_head))
    assert sizes(found) == [(500, 0, 40)]
    assert found[0].session_id == BORN


def test_a_fork_nobody_used_has_no_call():
    assert calls(*fork()) == []


def test_a_copy_with_the_parents_times_is_told_by_them():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}
    lines = fork(turn(3), counted(4, OWN, OWN_STEP), names=(None, None), original_times=True, parents_head=False)
    assert sizes(calls(meta(source=spawned), *lines[1:])) == [(500, 0, 40)]


def test_a_spawned_sessions_copy_that_was_written_at_once_is_no_work_of_its_own():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}
    copied = [turn(0.1), counted(0.1, FIRST, FIRST), counted(0.2, SECOND, STEP)]
    assert sizes(calls(meta(source=spawned), *copied, turn(0.3), counted(3, OWN, OWN_STEP))) == [(500, 0, 40)]


def test_without_named_turns_the_first_pause_ends_the_copy():
    lines = fork(turn(2.1), counted(40, OWN, OWN_STEP), names=(None, None))
    assert sizes(calls(*lines)) == [(500, 0, 40)]


def test_a_spawned_session_without_a_copy_counts_from_its_first_turn():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}
    assert sizes(calls(meta(source=spawned), turn(0.5), counted(2, FIRST, FIRST))) == [(1000, 400, 100)]


def test_a_fork_that_only_inherits_the_sum_counts_its_own_calls():
    lines = (meta(forked_from_id=PARENT), turn(1, turn_id=NEW_TURN), counted(2, OWN, OWN_STEP))
    assert sizes(calls(*lines)) == [(500, 0, 40)]


@pytest.mark.parametrize("record_first", [True, False])
def test_a_call_told_twice_is_one(record_first):
    pair = [record(5, FIRST), counted(5.1, FIRST, FIRST)]
    found = calls(meta(), turn(1), *(pair if record_first else reversed(pair)), turn(9), counted(60, SECOND, STEP))
    assert sizes(found) == [(1000, 400, 100), (1500, 800, 60)]
    if record_first:
        assert found[0].provider_response_id == "resp_0123456789abcdef0123"


def test_records_alone_are_calls_and_a_parents_records_are_not():
    lines = (
        meta(),
        turn(1),
        record(5, FIRST),
        record(8, FIRST, "resp_second0123456789abc"),
        record(9, STEP, thread=PARENT),
    )
    assert sizes(calls(*lines)) == [(1000, 400, 100), (1000, 400, 100)]


def test_several_sessions_in_one_file_keep_apart():
    other = (meta("019c6000-0000-7000-8000-00000000000c", 200), turn(201, "gpt-5-mini"), counted(205, FIRST, FIRST))
    found = calls(*SESSION, *other)
    assert [event.model for event in found] == ["gpt-5", "gpt-5", "gpt-5-mini"]
    assert len({event.source_record for event in found}) == 3


def test_a_count_without_info_is_benign_and_one_that_cannot_be_read_is_named(read):
    empty = {"timestamp": at(1), "type": "event_msg", "payload": {"type": "token_count", "info": None}}
    broken = {"timestamp": at(1), "type": "event_msg", "payload": {"type": "token_count", "info": {"total": 5}}}
    first, second = read(empty, broken, form="codex_cli")
    assert isinstance(first, Rejected)
    assert first.benign
    assert second == Rejected("a token_count event whose counts cannot be read")


@pytest.mark.parametrize("line", [None, 5, [], {"type": "event_msg"}, {"payload": {}}, "x"])
def test_what_is_no_line_is_named(read, line):
    (item,) = read(line, form="codex_cli")
    assert isinstance(item, Rejected)
    assert not item.benign


def test_new_lines_with_tokens_are_named_and_others_are_benign(read):
    new = {"timestamp": at(1), "type": "usage_v9", "payload": {"tokens": 5}}
    other = {"timestamp": at(1), "type": "world_state", "payload": {"x": 5}}
    first, second = read(new, other, form="codex_cli")
    assert not first.benign
    assert second.benign


@pytest.mark.data
def test_the_sample_has_two_calls(sample):
    found = calls(*sample("codex_cli"))
    assert [(e.tok_input, e.tok_cache_read, e.tok_output, e.tok_reasoning) for e in found] == [
        (2400, 9600, 188, 512),
        (2000, 12000, 172, 128),
    ]


def test_json_text_round_trip_is_what_files_hold():
    assert calls(*(json.loads(json.dumps(line)) for line in SESSION))[0].tags["project"] == "shop"


def test_what_exec_prints_is_known_and_refused_with_the_way_to_the_calls(read):
    """Its usage is the thread's sum, without a model or a time, and the same calls stand in the session's rollout."""
    printed = [
        {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Done"}},
        {"type": "turn.completed", "usage": {"input_tokens": 1200, "cached_input_tokens": 200, "output_tokens": 345}},
    ]
    items = read(*printed)
    assert [item.benign for item in items] == [True, True, True, False]
    assert "read the session's rollout" in items[-1].reason
