-- What each set of levers saves in the newest run: (levers, saved_pusd).
SELECT levers, saved_pusd FROM plan_coalitions WHERE run_id = (SELECT max(run_id) FROM plan_runs) ORDER BY levers
