from __future__ import annotations

import pytest

from app.core.usage import Rejected, tokens_in, tokens_out
from ingest.formats import azure_apim_llm_log

RESOURCE = "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ApiManagement/service/Gate1"
OPENAI = "/SUBSCRIPTIONS/0/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.COGNITIVESERVICES/ACCOUNTS/DEMO"


def row(**more):
    return {
        "TimeGenerated": "2026-03-02T10:00:00.1234567Z",
        "_ResourceId": RESOURCE,
        "Region": "West Europe",
        "OperationName": "Microsoft.ApiManagement/GatewayLlmLogs",
        "CorrelationId": "c-1",
        "RequestId": "r-1",
        "DeploymentName": "chat-prod",
        "ModelName": "gpt-5-2025-08-07",
        "IsStreamCompletion": False,
        "PromptTokens": 1408,
        "CompletionTokens": 57,
        "TotalTokens": 1465,
        "SequenceNumber": 0,
        "RequestMessages": [{"role": "user", "content": "part 1"}],
        "ResponseMessages": None,
        "Type": "ApiManagementGatewayLlmLog",
        **more,
    }


def test_the_rows_of_one_request_are_one_call_counted_once(read):
    answer = [{"role": "assistant", "content": "ok"}]
    events = read(
        row(),
        row(RequestId="r-2", PromptTokens=10, CompletionTokens=1, TotalTokens=11),
        row(SequenceNumber=2, RequestMessages=None, ResponseMessages=answer),
        row(SequenceNumber=1, RequestMessages='[{"role": "user", "content": "part 2"}]'),
    )
    assert [event.source_record for event in events] == ["r-1", "r-2"]
    first = events[0]
    assert (first.tok_input, first.tok_output, first.tok_total_reported) == (1408, 57, 1465)
    assert [part.text for part in first.prompt] == ["part 1", "part 2"]
    assert first.output == "ok"


def test_messages_that_were_cut_anywhere_are_joined(one):
    whole = '[{"role": "user", "content": "a long message"}]'
    event = one([row(RequestMessages=whole[:20]), row(SequenceNumber=1, RequestMessages=whole[20:])])
    assert [(part.role, part.text) for part in event.prompt] == [("user", "a long message")]


def test_a_row_says_who_served_where_under_which_deployment(one):
    event = one(row())
    assert (event.provider, event.model, event.account, event.region) == (
        "azure",
        "gpt-5-2025-08-07",
        "gate1",
        "westeurope",
    )
    assert (event.price_context, event.trace_id) == ({"deployment": "chat-prod"}, "c-1")
    assert event.warnings == ["cache_not_logged"], "the table has no counter of cached tokens"


def test_counts_are_those_of_the_row_that_has_them(one):
    event = one([row(PromptTokens=None, CompletionTokens=None, TotalTokens=None), row(SequenceNumber=1)])
    assert (event.tok_input, event.tok_output) == (1408, 57)
    unknown = one(row(PromptTokens=None, CompletionTokens=None, TotalTokens=None))
    assert (tokens_in(unknown), tokens_out(unknown)) == (None, None)


def test_a_storage_accounts_form_reads_as_the_tables(one):
    properties = {"requestId": "r-1", "deploymentName": "chat-prod", "modelName": "gpt-5-2025-08-07"}
    properties |= {"promptTokens": 1408, "completionTokens": 57, "totalTokens": 1465, "sequenceNumber": 0}
    event = one(
        {
            "time": "2026-03-02T10:00:00.1234567Z",
            "resourceId": RESOURCE.upper(),
            "category": "GatewayLlmLogs",
            "location": "West Europe",
            "properties": properties,
        }
    )
    plain = one(row())
    for name in ("source_record", "model", "tok_input", "tok_output", "account", "region", "price_context", "start_us"):
        assert getattr(event, name) == getattr(plain, name), name


def test_event_hubs_wraps_several_entries_in_one_record(read):
    first, second = read({"records": [row(), row(SequenceNumber=1), row(RequestId="r-2")]})
    assert (first.source_record, second.source_record) == ("r-1", "r-2")
    call, audit = read({"records": [diagnostic(response=BODY), diagnostic(category="Audit")]})
    assert (call.tok_input, audit.benign) == (3000, True)


def test_only_so_many_requests_are_held_back():
    given = [(line, row(RequestId=f"r-{line}")) for line in range(azure_apim_llm_log.MAX_OPEN + 10)]
    seen = iter(given)
    first = next(azure_apim_llm_log.gather(seen))
    assert first[0] == 0
    assert len(list(seen)) == 9


BODY = {
    "id": "chatcmpl-0123456789abcdef",
    "object": "chat.completion",
    "created": 1772445600,
    "model": "gpt-4",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3000, "completion_tokens": 200, "total_tokens": 3200},
}


def diagnostic(**more):
    return {
        "time": "2026-03-02T10:00:01Z",
        "resourceId": OPENAI,
        "category": "RequestResponse",
        "operationName": "ChatCompletions_Create",
        "durationMs": 812,
        "correlationId": "corr-1",
        "location": "westeurope",
        "resultSignature": "200",
        "properties": {"modelDeploymentName": "team-chat", "modelName": "gpt-4", "modelVersion": ""},
        **more,
    }


def test_a_diagnostic_record_without_a_body_knows_no_tokens(one):
    event = one(diagnostic())
    assert (event.status, event.http_status, tokens_in(event)) == ("ok", 200, None)
    assert event.end_us - event.start_us == 812_000
    assert event.account == "demo"


def test_the_bodies_beside_it_are_read_and_the_deployment_is_kept(one):
    request = {"messages": [{"role": "user", "content": "Is it?"}], "max_tokens": 9}
    event = one(diagnostic(request=request, response=BODY))
    assert (event.provider, event.model, event.tok_input, event.tok_output) == ("azure", "gpt-4", 3000, 200)
    assert (event.price_context, event.max_tokens, event.prompt[0].text) == ({"deployment": "team-chat"}, 9, "Is it?")
    assert event.source_record == "chatcmpl-0123456789abcdef"


@pytest.mark.parametrize(
    ("answered", "version", "model"),
    [("gpt-4o", "2024-08-06", "gpt-4o-2024-08-06"), ("gpt-4o-2024-11-20", "2024-08-06", "gpt-4o-2024-11-20")],
)
def test_a_version_makes_the_family_a_model(one, answered, version, model):
    properties = {"modelDeploymentName": "team-chat", "modelName": "gpt-4o", "modelVersion": version}
    assert one(diagnostic(properties=properties, response={**BODY, "model": answered})).model == model


def test_a_refused_call_is_not_billed(one):
    event = one(diagnostic(resultSignature="429"))
    assert (event.status, event.http_status, event.not_billed) == ("error", 429, True)


def test_an_audit_record_is_no_call(read):
    (item,) = read(diagnostic(category="Audit"))
    assert isinstance(item, Rejected)
    assert item.benign


@pytest.mark.data
def test_the_samples_two_rows_are_one_call(sample, one):
    event = one(*sample("azure_apim_llm_log"))
    assert (event.tok_input, event.tok_output, event.tok_total_reported) == (1408, 57, 1465)
