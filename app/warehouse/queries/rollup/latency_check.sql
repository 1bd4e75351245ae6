-- Buckets of [from_us, to_us) whose count of timed requests in latency_hour is not that of the facts:
-- at_us, measure, facts, rollup.
WITH samples AS (
    SELECT
        at_us - at_us % $bucket_us AS at_us,
        CASE WHEN end_us - last_us >= 1 THEN 1 ELSE 0 END + CASE WHEN first_token_us - last_us >= 1 THEN 1 ELSE 0 END AS n
    FROM request_facts
    WHERE at_us >= $from_us AND at_us < $to_us AND status = 'ok' AND is_batch = 'false'
),
facts AS (
    SELECT at_us, cast(sum(n) AS BIGINT) AS n FROM samples GROUP BY at_us HAVING sum(n) > 0
),
rolled AS (
    SELECT at_us, cast(sum(n) AS BIGINT) AS n FROM latency_hour
    WHERE at_us >= $from_us AND at_us < $to_us AND metric IN ('duration', 'ttft')
    GROUP BY at_us
),
both_sides AS (
    SELECT at_us, n AS facts, cast(0 AS BIGINT) AS rollup FROM facts
    UNION ALL
    SELECT at_us, cast(0 AS BIGINT) AS facts, n AS rollup FROM rolled
)
SELECT at_us, 'latency' AS measure, sum(facts) AS facts, sum(rollup) AS rollup
FROM both_sides
GROUP BY at_us
HAVING sum(facts) <> sum(rollup)
