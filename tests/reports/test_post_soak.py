"""A sender killed with -9 at random moments: every mail arrives, nothing is stuck, a copy has the same Message-ID."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dashboard_company import NOW_US
from report_office import Mailbox, mailbox

from app.control import migrate, open_control, outbox

SENDER = Path(__file__).parent / "mail_sender.py"
MAILS_A_KILL = 12


class Slow(Mailbox):
    """Takes its time before and after it has stored a mail, so that kills fall on both sides of its answer."""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        await asyncio.sleep(0.01)
        answer = await super().handle_DATA(server, session, envelope)
        await asyncio.sleep(0.01)
        return answer


@pytest.mark.soak
def test_kill_minus_nine_loses_no_mail_and_leaves_none_stuck(tmp_path: Path) -> None:
    kills = 30 if os.environ.get("HALVE_SOAK") == "full" else 5
    rng = random.Random(3)
    control = open_control(tmp_path)
    migrate(control)
    mails = kills * MAILS_A_KILL
    expected = {f"r{number}@acme.example": f"<{number}@acme.example>" for number in range(mails)}
    outbox.add(control, expected, report="weekly", period="2026-W46", now_us=NOW_US)
    now_us, killed = NOW_US, 0
    with mailbox(of=Slow) as box:
        while outbox.waiting(control, now_us):
            command = [sys.executable, str(SENDER), str(tmp_path), str(box.port), str(now_us)]
            process = subprocess.Popen(command)
            if killed < kills:
                taken = len(box.received)
                while process.poll() is None and len(box.received) == taken:
                    time.sleep(0.002)
                time.sleep(rng.uniform(0, 0.15))
                process.kill()
                killed += process.wait() == -9
            else:
                assert process.wait() == 0
            now_us += outbox.LEASE_US
    assert killed == kills
    assert {letter.state for letter in outbox.newest(control, mails)} == {"sent"}
    arrived = Counter(str(mail["To"]) for mail in box.received)
    assert arrived.keys() == expected.keys()
    assert sum(arrived.values()) - mails <= kills, "a kill repeats one mail at most"
    assert {str(mail["To"]): str(mail["Message-ID"]) for mail in box.received} == expected
    assert not list((tmp_path / "reports").glob("*.part"))
    control.dispose()
