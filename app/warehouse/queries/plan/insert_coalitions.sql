-- Stores what each coalition of levers saves.
INSERT INTO plan_coalitions SELECT run_id, levers, saved_pusd FROM plan_new_coalitions
