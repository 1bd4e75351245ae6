-- The price rows that the requests of the days of {days}(day_us: a UTC day's start) were priced by, for each day, provider
-- ('unassigned' where a log names none) and model of which all requests have the same one: at_us (noon UTC), provider, model_id, price_row.
SELECT
    start_us - start_us % 86400000000 + 43200000000 AS at_us, coalesce(provider, 'unassigned') AS provider, coalesce(model_id, model) AS model_id,
    min(price_row) AS price_row
FROM requests
WHERE start_us - start_us % 86400000000 IN (SELECT day_us FROM {days}) AND price_row IS NOT NULL
GROUP BY start_us - start_us % 86400000000, provider, coalesce(model_id, model)
HAVING min(price_row) = max(price_row)
