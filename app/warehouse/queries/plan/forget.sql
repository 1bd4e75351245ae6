-- Keeps the rows of the newest `$keep` runs in one of the plan's tables.
DELETE FROM {rows_of}
WHERE run_id NOT IN (SELECT run_id FROM plan_runs ORDER BY run_id DESC LIMIT $keep)
