"""Made records of every format, for laws and fuzzing: units of lines that belong together (a call, a session)."""

from __future__ import annotations

from typing import Any, Final

from tests.formats.made_agent_records import AGENTS
from tests.formats.made_bill_records import BILLS
from tests.formats.made_provider_records import PROVIDERS, STREAMS
from tests.formats.made_trace_records import TRACES

__all__ = ["STREAMS", "UNITS"]

UNITS: Final[dict[str, list[list[Any]]]] = {**PROVIDERS, **TRACES, **AGENTS, **BILLS}
