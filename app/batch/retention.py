"""How long results are kept here: their texts belong to the caller, who has had them by then."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from app.control import batches

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

KEPT_US: Final = 30 * 86_400_000_000
"""As long as providers keep theirs."""


def prune(engine: Engine, folder: Path, before_us: int) -> int:
    """Remove the files of jobs that were settled before a moment; their rows stay. Returns how many jobs had some.

    `folder` is `data/batches`.
    """
    over = [job.id for job in batches.jobs(engine) if job.settled_us is not None and job.settled_us < before_us]
    held = [folder / job_id for job_id in over if (folder / job_id).is_dir()]
    for path in held:
        shutil.rmtree(path)
    return len(held)
