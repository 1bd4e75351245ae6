-- Calls of [from_us, to_us) that failed or were cut off and say no usage, so that nobody knows what they cost; with what 9
-- of 10 answered calls of the same model cost at most (NULL: fewer than $few of them have a price): provider, model,
-- status, calls, answered, high_pusd.
WITH lost AS (
    SELECT provider, coalesce(model_id, model) AS model, status, count(*) AS calls
    FROM counted_requests
    WHERE status IN ('error', 'aborted', 'timeout') AND cost_state = 'unknown'
        AND coalesce(start_us, 0) >= $from_us AND coalesce(start_us, 0) < $to_us
    GROUP BY provider, coalesce(model_id, model), status
),
answered AS (
    SELECT
        provider, model_id AS model, cost_pusd,
        row_number() OVER (PARTITION BY provider, model_id ORDER BY cost_pusd, request_key) AS place,
        count(*) OVER (PARTITION BY provider, model_id) AS answered
    FROM counted_requests
    WHERE status = 'ok' AND cost_state = 'priced' AND cost_pusd IS NOT NULL AND calls_summed IS NULL
        AND model_id IN (SELECT model FROM lost)
),
high AS (
    SELECT provider, model, max(answered) AS answered, min(cost_pusd) AS high_pusd
    FROM answered
    WHERE place >= 0.9 * answered
    GROUP BY provider, model
)
SELECT
    coalesce(l.provider, 'unassigned') AS provider,
    coalesce(l.model, 'unassigned') AS model,
    l.status,
    l.calls,
    coalesce(h.answered, 0) AS answered,
    CASE WHEN h.answered >= $few THEN h.high_pusd END AS high_pusd
FROM lost l
LEFT JOIN high h ON h.provider IS NOT DISTINCT FROM l.provider AND h.model = l.model
ORDER BY l.calls DESC, 1, 2, 3
