-- The newest run, or none: (run_id, result, games).
SELECT run_id, result, games FROM plan_runs ORDER BY run_id DESC LIMIT 1
