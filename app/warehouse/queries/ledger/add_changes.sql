-- Notes what a slice changed: the rows of new_changes(day, model_id, reason, requests, before_pusd, after_pusd), whose
-- sums are texts.
INSERT INTO cost_changes (version, day, model_id, reason, requests, before_pusd, after_pusd)
SELECT
    $version, day, model_id, reason, requests, cast(before_pusd AS DECIMAL(38, 0)), cast(after_pusd AS DECIMAL(38, 0))
FROM new_changes
