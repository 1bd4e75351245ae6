"""Images, sound, moderation and Assistants runs."""

from __future__ import annotations

import pytest

from app.core.usage import tokens_in, tokens_out


def test_image_models_count_tokens_and_their_answers_are_pictures(one):
    usage = {
        "input_tokens": 60,
        "input_tokens_details": {"text_tokens": 10, "image_tokens": 50},
        "output_tokens": 1056,
        "total_tokens": 1116,
    }
    body = {"created": 1772445600, "data": [{"b64_json": "AA=="}], "usage": usage}
    event = one({"request": {"model": "gpt-image-1", "prompt": "a cat", "size": "1024x1024"}, "response": body})
    assert (event.model, event.operation) == ("gpt-image-1", "image")
    assert (event.tok_input, event.tok_input_image) == (10, 50)
    assert (event.tok_output, event.tok_output_image) == (0, 1056)
    assert (event.units, event.prompt[0].text, event.params) == (None, "a cat", '{"size":"1024x1024"}')


def test_a_split_of_the_answer_is_kept(one):
    usage = {"input_tokens": 5, "output_tokens": 100, "total_tokens": 105}
    usage["output_tokens_details"] = {"image_tokens": 80, "text_tokens": 20}
    event = one({"created": 1772445600, "data": [{"url": "u"}], "usage": usage})
    assert (event.tok_output, event.tok_output_image) == (20, 80)


def test_models_without_usage_are_sold_by_the_image(one):
    body = {"created": 1772445600, "data": [{"url": "a"}, {"url": "b"}]}
    event = one({"request": {"model": "dall-e-3", "prompt": "x", "n": 2}, "response": body})
    assert (event.units, tokens_in(event), event.n) == ({"image": 2.0}, None, 2)


def test_a_stream_of_images_counts_when_it_is_completed(one):
    usage = {"input_tokens": 5, "output_tokens": 100, "total_tokens": 105}
    events = [
        {"type": "image_generation.partial_image", "b64_json": "AA=="},
        {"type": "image_generation.completed", "created_at": 1772445600, "usage": usage},
    ]
    assert one(events, form="openai_images").tok_output_image == 100
    assert one(events[:1], form="openai_images").status == "aborted"


@pytest.mark.parametrize(
    ("body", "units"),
    [
        ({"text": "x", "usage": {"type": "duration", "seconds": 12.4}}, {"second": 12.4}),
        ({"text": "x", "duration": 12.4, "language": "en", "segments": []}, {"second": 12.4}),
    ],
)
def test_transcripts_sold_by_time_are_seconds(one, body, units):
    event = one({"request": {"model": "whisper-1"}, "response": body})
    assert (event.operation, event.model, event.units, tokens_in(event)) == ("audio", "whisper-1", units, None)


@pytest.mark.parametrize("bad", [-1, "soon", "", [], True, 1e400])
@pytest.mark.parametrize("name", ["seconds", "prompt_audio_seconds", "duration"])
def test_seconds_that_cannot_be_read_are_unknown_and_said(one, bad, name):
    body = {"text": "x", "language": "en", "duration": bad}
    if name != "duration":
        body = {"text": "x", "usage": {"type": "duration", name: bad}}
    event = one({"request": {"model": "whisper-1"}, "response": body})
    assert (event.units, event.tok_input, event.warnings) == (None, None, ["bad_number:second"])


def test_transcripts_sold_by_tokens_tell_sound_from_text(one):
    usage = {"type": "tokens", "input_tokens": 30, "output_tokens": 9, "total_tokens": 39}
    usage["input_token_details"] = {"audio_tokens": 25, "text_tokens": 5}
    whole = one({"request": {"model": "gpt-4o-transcribe"}, "response": {"text": "x", "usage": usage}})
    events = [
        {"type": "transcript.text.delta", "delta": "x"},
        {"type": "transcript.text.done", "text": "x", "usage": usage},
    ]
    streamed = one({"request": {"model": "gpt-4o-transcribe"}, "response": events})
    for event in (whole, streamed):
        assert (event.tok_input, event.tok_input_audio, event.tok_output, event.output) == (5, 25, 9, "x")
        assert event.warnings is None


REALTIME = {
    "object": "realtime.response",
    "id": "resp_0123456789abcdef",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_audio", "transcript": "Yes."}]}],
    "usage": {
        "input_tokens": 300,
        "input_token_details": {
            "text_tokens": 90,
            "audio_tokens": 200,
            "image_tokens": 10,
            "cached_tokens": 124,
            "cached_tokens_details": {"text_tokens": 64, "audio_tokens": 56, "image_tokens": 4},
        },
        "output_tokens": 120,
        "output_token_details": {"text_tokens": 20, "audio_tokens": 100},
        "total_tokens": 420,
    },
}


@pytest.mark.parametrize("form", ["event", "response"])
def test_realtime_tells_cached_sound_from_cached_text(one, form):
    told = {"type": "response.done", "event_id": "event_1", "response": REALTIME}
    event = one(told if form == "event" else {"model": "gpt-realtime", "response": REALTIME})
    assert (event.tok_input, event.tok_input_audio, event.tok_input_image) == (26, 144, 6)
    assert (event.tok_cache_read, event.tok_cache_read_audio) == (68, 56)
    assert (event.tok_output, event.tok_output_audio) == (20, 100)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 420
    assert (event.status, event.warnings) == ("ok", None)


def test_every_response_of_a_realtime_session_is_a_call(read):
    events = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}]
    events += [
        {"type": "response.output_audio.delta", "delta": "AA=="},
        {"type": "response.done", "response": REALTIME},
    ]
    calls = read(*events, *events)
    assert [call.tok_output_audio for call in calls] == [100, 100]


def test_a_transcript_of_what_was_said_in_a_session_is_billed_apart(one):
    usage = {"type": "tokens", "input_tokens": 30, "output_tokens": 9, "total_tokens": 39}
    usage["input_token_details"] = {"audio_tokens": 30}
    kind = "conversation.item.input_audio_transcription.completed"
    event = one({"type": kind, "item_id": "i", "transcript": "x", "usage": usage})
    assert (event.operation, event.tok_input, event.tok_input_audio, event.output) == ("audio", 0, 30, "x")


def test_speech_is_sold_by_the_characters_of_its_text_or_is_unknown(one):
    call = {"path": "/v1/audio/speech", "status": 200, "response": {}}
    told = one({**call, "request": {"model": "tts-1", "voice": "alloy", "input": "Grüße!"}}, form="openai_audio")
    assert told.units == {"character": 6.0}
    untold = one({**call, "request": {"model": "gpt-4o-mini-tts", "voice": "a", "input": "Hi"}}, form="openai_audio")
    assert (untold.units, tokens_in(untold)) == (None, None)
    done = [{"type": "speech.audio.done", "usage": {"input_tokens": 3, "output_tokens": 50, "total_tokens": 53}}]
    assert one(done, form="openai_audio").tok_output == 50


def test_a_moderation_is_a_call_whose_price_the_book_knows(one):
    body = {
        "id": "modr-1",
        "model": "omni-moderation-latest",
        "results": [{"flagged": False, "categories": {"a": False}}],
    }
    event = one({"request": {"input": "x"}, "response": body})
    assert (event.operation, event.provider, event.units) == ("moderation", "openai", {"call": 1.0})
    assert (tokens_in(event), event.not_billed, event.prompt[0].text) == (None, False, "x")


def test_a_document_is_read_by_the_page(one):
    body = {"model": "mistral-ocr-2512", "pages": [{"index": 0}], "usage_info": {"pages_processed": 12}}
    event = one({"request": {"model": "mistral-ocr-latest", "document": {"document_url": "u"}}, "response": body})
    assert (event.provider, event.operation, event.model) == ("mistral", "ocr", "mistral-ocr-2512")
    assert (event.units, tokens_in(event)) == ({"page": 12.0}, None)
    assert one({**body, "document_annotation": "{}"}).units == {"annotated_page": 12.0}


RUN = {
    "id": "run_1",
    "object": "thread.run",
    "thread_id": "thread_1",
    "assistant_id": "asst_1",
    "created_at": 1772445600,
    "started_at": 1772445601,
    "completed_at": 1772445604,
    "status": "completed",
    "model": "gpt-4o-mini",
    "instructions": "Be brief.",
    "tools": [{"type": "code_interpreter"}],
    "temperature": 1.0,
    "metadata": {"feature": "help"},
    "usage": {
        "prompt_tokens": 376,
        "completion_tokens": 83,
        "total_tokens": 459,
        "prompt_token_details": {"cached_tokens": 128},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}


def test_a_run_has_the_usage_of_its_steps(one):
    event = one(RUN)
    assert (event.tok_input, event.tok_cache_read, event.tok_output) == (248, 128, 83)
    assert tokens_in(event) + tokens_out(event) == event.tok_total_reported == 459
    assert (event.session_id, event.provider, event.model) == ("thread_1", "openai", "gpt-4o-mini")
    assert event.tags == {"feature": "help", "assistant_id": "asst_1"}
    assert event.end_us - event.start_us == 3_000_000
    assert [(part.role, part.kind) for part in event.prompt] == [("tools", "tool"), ("system", "text")]


def test_a_run_still_going_is_unknown_until_it_is_told_again(one):
    going = one({**RUN, "status": "in_progress", "usage": None, "completed_at": None})
    assert (going.finish_reason, tokens_in(going)) == ("in_progress", None)
    assert going.source_record == one(RUN).source_record


@pytest.mark.parametrize(("state", "status"), [("failed", "error"), ("expired", "timeout"), ("cancelled", "aborted")])
def test_a_run_that_did_not_come_to_its_end_says_how(one, state, status):
    event = one({**RUN, "status": state, "last_error": {"code": "server_error", "message": "no"}})
    assert (event.status, event.error) == (status, "server_error: no")


def test_a_runs_stream_counts_by_the_run_as_last_told(one):
    said = {"object": "thread.message", "content": [{"type": "text", "text": {"value": "Yes."}}]}
    events = [
        {"id": "thread_1", "object": "thread"},
        {**RUN, "status": "queued", "usage": None},
        {"object": "thread.message.delta", "delta": {}},
        {**said, "content": []},
        said,
        RUN,
    ]
    event = one(events, form="openai_assistants")
    assert (event.tok_input, event.tok_output, event.output, event.stream) == (248, 83, "Yes.", True)
