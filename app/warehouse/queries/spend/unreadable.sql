-- Requests in [from_us, to_us) whose cost is unknown because a count of theirs could not be read, by model as in
-- spend.unpriced: provider, model, requests.
SELECT
    coalesce(provider, 'unassigned') AS provider,
    coalesce(model_id, model, 'unassigned') AS model,
    count(*) AS requests
FROM counted_requests
WHERE cost_state = 'unknown' AND warnings LIKE '%bad_number:%'
    AND coalesce(start_us, 0) >= $from_us AND coalesce(start_us, 0) < $to_us
GROUP BY 1, 2
