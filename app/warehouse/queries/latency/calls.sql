-- By {column} over {facts} in [from_us, to_us): name, calls (answered and not of a batch), how many of them cost a known
-- sum, that sum, failed (not of a batch), batched. Every request is in one of calls, failed and batched; a row that
-- sums several counts for as many.
WITH rows_in AS (
    SELECT
        {column} AS name,
        requests,
        cost_pusd,
        CASE WHEN is_batch = 'true' THEN 'batched' WHEN status = 'ok' THEN 'answered' ELSE 'failed' END AS ended
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us
)
SELECT
    name,
    sum(CASE WHEN ended = 'answered' THEN requests ELSE 0 END) AS calls,
    sum(CASE WHEN ended = 'answered' AND cost_pusd IS NOT NULL THEN requests ELSE 0 END) AS costed,
    sum(CASE WHEN ended = 'answered' THEN cast(cost_pusd AS DECIMAL(38, 0)) END) AS cost_pusd,
    sum(CASE WHEN ended = 'failed' THEN requests ELSE 0 END) AS failed,
    sum(CASE WHEN ended = 'batched' THEN requests ELSE 0 END) AS batched
FROM rows_in
GROUP BY name
ORDER BY calls DESC, name
