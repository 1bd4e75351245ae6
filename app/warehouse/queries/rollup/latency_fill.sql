-- Fills {into} (columns of latency_hour) from {facts} for [from_us, to_us): successful, interactive requests by bucket,
-- {name} (in the column feature), model, metric and bin floor(ln v / ln 1.05). Values under 1 microsecond have no bin.
INSERT INTO {into}
WITH timed AS (
    SELECT
        at_us - at_us % $bucket_us AS at_us,
        {name} AS feature,
        model_id,
        first_token_us - last_us AS ttft,
        end_us - last_us AS duration,
        CASE
            WHEN coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) > 1 AND end_us > first_token_us
            THEN (end_us - first_token_us) / (coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) - 1.0)
        END AS tpot,
        itl_p50_us,
        itl_p99_us
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us AND status = 'ok' AND is_batch = 'false'
),
samples AS (
    SELECT at_us, feature, model_id, 'ttft' AS metric, cast(ttft AS DOUBLE) AS v FROM timed WHERE ttft >= 1
    UNION ALL
    SELECT at_us, feature, model_id, 'duration' AS metric, cast(duration AS DOUBLE) AS v FROM timed WHERE duration >= 1
    UNION ALL
    SELECT at_us, feature, model_id, 'tpot' AS metric, cast(tpot AS DOUBLE) AS v FROM timed WHERE tpot >= 1
    UNION ALL
    SELECT at_us, feature, model_id, 'itl_p50' AS metric, cast(itl_p50_us AS DOUBLE) AS v
    FROM timed WHERE itl_p50_us >= 1
    UNION ALL
    SELECT at_us, feature, model_id, 'itl_p99' AS metric, cast(itl_p99_us AS DOUBLE) AS v
    FROM timed WHERE itl_p99_us >= 1
)
SELECT at_us, feature, model_id, metric, cast(floor(ln(v) / ln(1.05)) AS INTEGER) AS bin, count(*) AS n
FROM samples
GROUP BY at_us, feature, model_id, metric, cast(floor(ln(v) / ln(1.05)) AS INTEGER)
