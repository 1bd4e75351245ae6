-- What was logged on each UTC day of [from_us, to_us), for the days that bills speak of: at_us (noon UTC), provider,
-- account, model_id. NULL is unknown.
SELECT DISTINCT
    start_us - start_us % 86400000000 + 43200000000 AS at_us,
    provider,
    account,
    coalesce(model_id, model) AS model_id
FROM requests
WHERE start_us >= $from_us AND start_us < $to_us
