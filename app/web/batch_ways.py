"""How the jobs of a feature get onto the batch tier of its provider: through Halve, or by the provider's own API.

The calls are those of the providers' documentation: OpenAI's and Anthropic's batch guides; for Amazon Bedrock
`CreateModelInvocationJob` (docs.aws.amazon.com/bedrock, batch inference); for Google `batches.create` of google-genai
(ai.google.dev, batch mode; cloud.google.com, batch predictions with Claude).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from app.core.view import UNASSIGNED

_VERSION: Final = re.compile(r"-(?=\d{8}$)")
_HALVE: Final = "With Halve"
_FILE: Final = "Write the requests into a file instead of sending them, and hand it in: here, or where the job runs."
_CLIENT: Final = """{client}
file = client.files.create(
    file=open("{stem}.jsonl", "rb"),
    purpose="batch",
)
batch = client.batches.create(
    input_file_id=file.id,
    endpoint="/v1/chat/completions",
    completion_window="24h",
    metadata={{"feature": {feature}}},
)"""
_MESSAGES: Final = """# {stem}.jsonl, one line a request
{{"custom_id": "1", "params": {{"model": {model},
  "max_tokens": 1024, "messages": [...]}}}}

halve batch submit {stem}.jsonl --provider anthropic \\
  --feature {feature} --at 02:00"""
_LINES: Final = """# {stem}.jsonl, one line a request
{{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions",
  "body": {{"model": {model}, "messages": [...]}}}}

{allow}halve batch submit {stem}.jsonl --provider openai \\
{server}  --feature {feature} --at 02:00"""
_ALLOW: Final = "export HALVE_ALLOW_HOSTS={host}\n"
_SERVER: Final = """  --base-url https://{host}/openai/v1 \\
  --key env:{variable} \\
"""
_BEDROCK: Final = """# s3://BUCKET/{stem}/in.jsonl, one line a request
{{"recordId": "1", "modelInput": {body}}}

boto3.client("bedrock").create_model_invocation_job(
    jobName="{stem}",
    modelId={model},
    roleArn="arn:aws:iam::ACCOUNT:role/ROLE",
    inputDataConfig={{"s3InputDataConfig":
        {{"s3Uri": "s3://BUCKET/{stem}/in.jsonl"}}}},
    outputDataConfig={{"s3OutputDataConfig":
        {{"s3Uri": "s3://BUCKET/{stem}/out/"}}}},
)

halve ingest out/"""
_CLAUDE_BODY: Final = """{"anthropic_version": "bedrock-2023-05-31",
  "max_tokens": 1024, "messages": [...]}"""
_VERTEX_CLAUDE: Final = """# gs://BUCKET/{stem}/in.jsonl, one line a request
{{"custom_id": "1", "request": {{"anthropic_version": "vertex-2023-10-16",
  "max_tokens": 1024, "messages": [...]}}}}

client = genai.Client(vertexai=True, project="PROJECT", location="REGION")
client.batches.create(
    model={vertex_model},
    src="gs://BUCKET/{stem}/in.jsonl",
    config={{"dest": "gs://BUCKET/{stem}/out"}},
)

halve ingest out/"""
_GEMINI: Final = """# {stem}.jsonl, one line a request
{{"key": "1", "request": {{"contents": [...]}}}}

client = genai.Client()
file = client.files.upload(
    file="{stem}.jsonl", config={{"mime_type": "jsonl"}}
)
client.batches.create(model={model}, src=file.name)

halve ingest results.jsonl"""


@dataclass(frozen=True, slots=True)
class Way:
    """What to do in words and in code.

    `heading` names who sends the job; `followed` is whether Halve does and follows it, `upload` whether the page Batch
    takes its file.
    """

    heading: str
    lead: str
    code: str
    followed: bool
    upload: bool


_COMPATIBLE_SERVERS: Final = {
    "azure": {"host": "RESOURCE.openai.azure.com", "variable": "AZURE_OPENAI_API_KEY"},
    "groq": {"host": "api.groq.com", "variable": "GROQ_API_KEY"},
}
_TITLES: Final = {"aws": "Amazon Bedrock", "google": "Google", "azure": "Azure OpenAI", "groq": "Groq"}


def way(provider: str, model: str, feature: str, *, client: str, named: str = "") -> Way:
    """The way for the jobs of a feature on a model of a provider.

    Args:
        provider: as the requests name it.
        model: the model as it is priced.
        named: the same as requests name it, where the provider wants it so: a deployment, a version, a profile.
        feature: books the cost of jobs that Halve sends; where it is unassigned, the reader has to name one.
        client: Python that makes an OpenAI client of this Halve's own API, empty where that leads to another provider.
    """
    known = "" if feature == UNASSIGNED else feature
    stem = "".join(character if character.isalnum() else "-" for character in known.lower())[:40] or "jobs"
    words = {"stem": stem, "model": quoted(named or model), "feature": quoted(known or "FEATURE"), "client": client}
    if provider == "openai" and client:
        lead = "Point the client of this job at Halve. Nothing else of it changes; it polls and downloads as before."
        return Way(_HALVE, lead, _CLIENT.format_map(words), followed=True, upload=True)
    if provider == "openai":
        code = _LINES.format_map({**words, "allow": "", "server": ""})
        return Way(_HALVE, _FILE, code, followed=True, upload=True)
    if provider == "anthropic":
        return Way(_HALVE, _FILE, _MESSAGES.format_map(words), followed=True, upload=True)
    if provider in _COMPATIBLE_SERVERS:
        return _compatible(provider, words)
    return _elsewhere(provider, words, named or model, claude="claude" in model)


def _compatible(provider: str, words: dict[str, str]) -> Way:
    server = _COMPATIBLE_SERVERS[provider]
    lead = f"{_TITLES[provider]} speaks OpenAI's batch protocol: write the requests into a file and name its server."
    if provider == "azure":
        lead += " The model is the name of a deployment of the type Global Batch or Data Zone Batch."
    named = {"allow": _ALLOW.format_map(server), "server": _SERVER.format_map(server)}
    return Way(_HALVE, lead, _LINES.format_map({**words, **named}), followed=True, upload=False)


def _elsewhere(provider: str, words: dict[str, str], model: str, *, claude: bool) -> Way:
    """A provider that Halve does not submit to: its own API does, and Halve reads what came back."""
    if provider == "aws":
        code = _BEDROCK.format_map({**words, "body": _CLAUDE_BODY if claude else "{...}"})
    elif provider == "google":
        # Vertex writes the version of a model behind an @, the answers of its models behind a hyphen.
        at_vertex = quoted(f"publishers/anthropic/models/{re.sub(_VERSION, '@', model)}")
        code = (_VERTEX_CLAUDE if claude else _GEMINI).format_map({**words, "vertex_model": at_vertex})
    else:
        code = ""
    name = "Vertex AI" if provider == "google" and claude else _TITLES.get(provider, provider)
    does = "Its own batch API does" if not code else "Its own batch API does, as below"
    lead = (
        f"Halve does not send batches to {name}. {does}; read the file of answers with `halve ingest`, and they are "
        "charged at the batch rate like any other request."
    )
    return Way(f"With {name}", lead, code, followed=False, upload=False)


def quoted(text: str) -> str:
    """Text as a literal that Python, JSON and a shell read alike: what none of them may run is left out."""
    return '"' + "".join(character for character in text if character.isprintable() and character not in '"\\$`!') + '"'
