"""Batch jobs: taken in, split, sent at their time, followed to the end, each item charged once.

How others use it (`Desk` is filled by the composition root):

    submit(desk, lines, Order(provider="openai", feature="tags"), prices)   -> Job, or RefusedLinesError
    check(lines, "openai")                                                  -> problems with line numbers, keeps nothing
    advance(desk)                                                           -> one bounded step of everything due
    cancel(desk, job_id)                                                    -> Job
    view(control, folder, job_id)                                           -> JobView: status, counts, top errors
    results_file(control, folder, job_id)                                   -> path: caller's order and ids
    prune(control, folder, before_us)                                       -> removes the files of jobs long settled

`app.control.batches` reads and stores (`jobs`, `job`, `parts`, `tally`, `top_errors`, `all_items`). The states are in
`states`; a provider is one file in `providers`, its lines one file in `dialects`.
"""

from app.batch.advance import Advanced, advance, cancel
from app.batch.desk import Desk, Origin
from app.batch.intake import LineProblem, RefusedLinesError, check, lines_of, submit
from app.batch.order import Order, moment_us
from app.batch.retention import KEPT_US as RESULTS_KEPT_US
from app.batch.retention import prune
from app.batch.view import JobView, results_file, view

__all__ = [
    "RESULTS_KEPT_US",
    "Advanced",
    "Desk",
    "JobView",
    "LineProblem",
    "Order",
    "Origin",
    "RefusedLinesError",
    "advance",
    "cancel",
    "check",
    "lines_of",
    "moment_us",
    "prune",
    "results_file",
    "submit",
    "view",
]
