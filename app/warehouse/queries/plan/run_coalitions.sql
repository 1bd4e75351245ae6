-- What each coalition of levers saves in a run: (levers, saved_pusd).
SELECT levers, saved_pusd FROM plan_coalitions WHERE run_id = $run_id ORDER BY levers
