"""The clock of the service's own work: when a job is due, who runs it, what became of it. It knows names and callables.

`Clockwork.tick()` is called every second; moments come from the rules in `rule`, claims and schedules from
`app.control`. What a job does is handed in by the composition root.
"""

from app.jobs.again import next_try_us
from app.jobs.clockwork import Clockwork
from app.jobs.job import Job, Run
from app.jobs.rule import Calendar, Due, Every, Rule, due, following, parse

__all__ = ["Calendar", "Clockwork", "Due", "Every", "Job", "Rule", "Run", "due", "following", "next_try_us", "parse"]
