"""What the finding of the lever `batch` tells to paste: the provider's own way, and what Halve does not send."""

from __future__ import annotations

import ast
import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from batch_office import Office
from batch_reader import Reader
from dashboard_company import NOW_US, requests

from app.batch.providers import PROVIDERS
from app.plan import store
from app.plan.outcomes import Players
from app.web.batch_desk import Upstream
from app.web.batch_ways import way

if TYPE_CHECKING:
    from pathlib import Path

CLIENT = 'client = OpenAI(base_url="http://127.0.0.1:8080/v1")'


@pytest.mark.parametrize(
    ("provider", "model", "calls", "sent_by_halve"),
    [
        ("openai", "gpt-5-mini", "client.batches.create(", True),
        ("anthropic", "claude-sonnet-4-5", "halve batch submit nightly-tags.jsonl --provider anthropic", True),
        ("azure", "gpt-4o", "--base-url https://RESOURCE.openai.azure.com/openai/v1", True),
        ("groq", "llama-3.3-70b-versatile", "--base-url https://api.groq.com/openai/v1", True),
        ("aws", "anthropic.claude-sonnet-4-5", '"anthropic_version": "bedrock-2023-05-31"', False),
        ("aws", "amazon.nova-pro-v1:0", "create_model_invocation_job(", False),
        ("google", "claude-sonnet-4-5", '"publishers/anthropic/models/claude-sonnet-4-5"', False),
        ("google", "gemini-2.5-flash", 'client.batches.create(model="gemini-2.5-flash", src=file.name)', False),
        ("mistral", "mistral-large-latest", "", False),
    ],
)
def test_each_provider_gets_its_own_way(provider: str, model: str, calls: str, *, sent_by_halve: bool) -> None:
    found = way(provider, model, "Nightly tags", client=CLIENT)
    assert calls in found.code
    assert found.followed is sent_by_halve
    assert ("Halve does not send batches to" in found.lead) is not sent_by_halve
    if provider != "openai":
        assert "OpenAI(" not in found.code


def test_a_cloud_gets_the_name_that_its_requests_use() -> None:
    """The priced id of a model on Bedrock or Azure is not the name of its deployment, profile or version there."""
    priced = "regional.anthropic.claude-sonnet-4-5-20250929-v1:0"
    sent = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    code = way("aws", priced, "f", client="", named=sent).code
    assert f'modelId="{sent}"' in code
    assert "regional." not in code
    arn = "arn:aws:bedrock:us-west-2:1:application-inference-profile/x1"
    found = way("aws", priced, "f", client="", named=arn).code
    assert f'modelId="{arn}"' in found
    assert "bedrock-2023-05-31" in found
    assert '"model": "my-deployment"' in way("azure", "gpt-4o", "f", client="", named="my-deployment").code
    for name in ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"):
        versioned = way("google", "claude-sonnet-4-5", "f", client="", named=name).code
        assert '"publishers/anthropic/models/claude-sonnet-4-5@20250929"' in versioned


def test_what_has_no_feature_yet_is_to_be_given_one() -> None:
    code = way("anthropic", "claude-sonnet-4-5", "unassigned", client="").code
    assert '--feature "FEATURE"' in code
    assert "unassigned" not in code


def test_only_providers_that_halve_submits_to_are_sent_by_it() -> None:
    """Through `--provider` of the command line: no snippet names one that there is not."""
    known = {provider.name for provider in PROVIDERS}
    for provider in ("openai", "anthropic", "azure", "groq"):
        code = way(provider, "m", "f", client="").code
        assert code.partition("--provider ")[2].split()[0] in known


def test_an_openai_client_is_shown_only_where_the_api_leads_to_openai(tmp_path: Path) -> None:
    given = (Upstream("anthropic", "Anthropic"), Upstream("openai", "OpenAI"))
    office = Office(tmp_path / "data", given, rows=requests(days=30), no_access_control=True)
    try:
        said = Reader(office).text("/savings/f2classify")
    finally:
        office.close()
    assert "halve batch submit ticket-classify.jsonl --provider openai" in said
    assert "base_url" not in said


def test_the_page_of_a_finding_at_bedrock_says_that_halve_does_not_send_there(tmp_path: Path) -> None:
    office = Office(tmp_path / "data", rows=requests(days=30), no_access_control=True)
    try:
        warehouse = office.company.deps.warehouse
        plan = store.latest(warehouse, None, now_us=NOW_US)
        assert plan is not None
        moved = [
            replace(item, provider="aws", model_id="anthropic.claude-haiku-4-5") if item.lever == "batch" else item
            for item in plan.findings
        ]
        store.save(warehouse, replace(plan, run_id=2, findings=tuple(moved)), [], Players(()))
        page = Reader(office).http.get("/savings/f2classify").text
    finally:
        office.close()
    assert "Halve does not send batches to Amazon Bedrock." in page
    assert "create_model_invocation_job" in page
    assert "With Halve" not in page
    assert "Hand in a file" not in page
    assert "No batch job of this feature has come back yet." not in page


@pytest.mark.parametrize("feature", ['a"b', "$(rm -rf x)", "`id`", "x\\", "tags\n--now", "Köln", "!!"])
def test_no_feature_and_no_model_break_out_of_the_code(feature: str) -> None:
    for provider in ("openai", "anthropic", "azure", "aws", "google"):
        code = way(provider, feature, feature, client=CLIENT).code
        for line in code.splitlines():
            assert "$(" not in line
            assert "`" not in line
        shell = "halve " + code.partition("halve ")[2].replace("\\\n", " ") if "halve " in code else ""
        assert len(shlex.split(shell)) in (0, 3, 10, 14), shell
    python = way("openai", feature, feature, client=CLIENT).code
    assert ast.parse(python)
    model = way("anthropic", feature, feature, client="").code
    line = model.partition("\n")[2].partition("\n\n")[0].replace("[...]", "[]")
    assert set(json.loads(line)) == {"custom_id", "params"}
