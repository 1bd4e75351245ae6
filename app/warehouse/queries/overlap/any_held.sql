-- Whether anything is held out: one row.
SELECT EXISTS (SELECT 1 FROM held_out) AS held
