"""Nothing that an export may hold breaks the readers of OpenTelemetry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from made_spans import (
    AI_SDK,
    CURRENT,
    OLD,
    OPENINFERENCE,
    span,
)

from app.core.usage import Rejected, UsageEvent
from ingest.formats import format_named
from ingest.formats.format import Origin

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*CURRENT, *OLD, *OPENINFERENCE, *AI_SDK, "gen_ai.input.messages", "metadata", "tag.tags"])


@given(st.dictionaries(NAMES, JUNK, max_size=8), st.dictionaries(st.sampled_from(list(span({}))), JUNK, max_size=4))
def test_no_attribute_and_no_field_breaks_the_reader(attributes, fields):
    record = {"resourceSpans": [{"scopeSpans": [{"spans": [{**span({}), "attributes": attributes, **fields}]}]}]}
    for item in format_named("otlp_genai").parse(record, Origin("s", "f", 1)):
        if isinstance(item, UsageEvent):
            assert all(
                getattr(item, name) is None or getattr(item, name) >= 0
                for name in item.__struct_fields__
                if name.startswith("tok_")
            )


@given(JUNK)
def test_no_export_breaks_the_readers(junk):
    for record in (
        {"resourceSpans": junk},
        {"resourceLogs": junk},
        {"resourceSpans": [{"scopeSpans": [{"spans": [junk]}]}]},
    ):
        for name in ("otlp_genai", "claude_code_telemetry", "otel_spans"):
            assert all(
                isinstance(item, (UsageEvent, Rejected))
                for item in format_named(name).parse(record, Origin("s", "f", 1))
            )
