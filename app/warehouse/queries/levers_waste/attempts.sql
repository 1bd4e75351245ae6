-- Billed attempts that failed and were sent again: the same principal sends the same exact key from one second before
-- to 120 seconds after the end. `placebo` marks the same look one hour later: chains that chance alone would make.
CREATE OR REPLACE TEMP TABLE waste_attempts AS
WITH placed AS (
    SELECT
        s.request_key, s.feature, s.template, s.provider, s.model_id, s.start_us, s.end_us, s.status, s.cost_pusd,
        s.principal, s.exact_key,
        lead(s.start_us, 1, cast(0 AS BIGINT)) OVER (
            PARTITION BY s.principal, s.exact_key ORDER BY s.start_us, s.request_key) AS next_us
    FROM stream s
    WHERE s.exact_key IS NOT NULL AND s.calls_summed IS NULL
),
failed AS (
    SELECT * FROM placed WHERE status <> 'ok' AND cost_pusd > 0
)
SELECT
    f.request_key, f.feature, f.template, f.provider, f.model_id, f.start_us, f.status, f.cost_pusd,
    CASE WHEN f.next_us > 0 AND f.next_us - f.end_us BETWEEN -1000000 AND 120000000 THEN 1 ELSE 0 END AS chained,
    CASE WHEN p.request_key IS NULL THEN 0 ELSE 1 END AS placebo
FROM failed f
LEFT JOIN (
    SELECT DISTINCT a.request_key
    FROM failed a
    JOIN placed b ON b.principal = a.principal AND b.exact_key = a.exact_key AND b.request_key <> a.request_key
     AND b.start_us + 3600000000 - a.end_us BETWEEN -1000000 AND 120000000
) p ON p.request_key = f.request_key
