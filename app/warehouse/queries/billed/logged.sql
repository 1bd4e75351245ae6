-- What was logged by UTC day (at_us, noon), provider, account, model and whether it has a price, for [from_us, to_us):
-- at_us, provider, account, model_id, service_tier, is_batch ('unassigned' where unknown), billing, requests, then tokens
-- and cost of the classes input, cache_read, cache_write, output, and the cost of everything else. A cost is NULL where
-- nothing of it has a price; tokens that are not known add nothing (billed.unknown_tokens counts such calls). Calls that
-- were not billed (answers of a cache of one's own) and days that only a bill knows are left out.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
)
SELECT
    at_us - at_us % 86400000000 + 43200000000 AS at_us,
    provider, account, model_id, service_tier, is_batch,
    CASE WHEN service_tier IN ('provisioned', 'reserved', 'scale') THEN 'provisioned' ELSE coalesce(b.billing, 'unknown') END AS billing,
    cost_state,
    cast(sum(requests) AS BIGINT) AS requests,
    cast(sum(cast({{input_tokens}} AS DECIMAL(38, 0))) AS BIGINT) AS input_tokens,
    cast(sum(cast(input_pusd AS DECIMAL(38, 0))) AS BIGINT) AS input_pusd,
    cast(sum(cast({{cache_read_tokens}} AS DECIMAL(38, 0))) AS BIGINT) AS cache_read_tokens,
    cast(sum(cast(cache_read_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_read_pusd,
    cast(sum(cast({{cache_write_tokens}} AS DECIMAL(38, 0))) AS BIGINT) AS cache_write_tokens,
    cast(sum(cast(cache_write_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_write_pusd,
    cast(sum(cast({{answer_tokens}} AS DECIMAL(38, 0))) AS BIGINT) AS output_tokens,
    cast(sum(cast(CASE WHEN output_pusd IS NOT NULL OR reasoning_pusd IS NOT NULL
        THEN coalesce(output_pusd, 0) + coalesce(reasoning_pusd, 0) END AS DECIMAL(38, 0))) AS BIGINT) AS output_pusd,
    cast(sum(cast(other_pusd AS DECIMAL(38, 0))) AS BIGINT) AS other_pusd
FROM spend_hour f
LEFT JOIN billing_of b ON b.billed_source = f.source
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by <> 'bill' AND cost_state <> 'not_billed'
GROUP BY
    at_us - at_us % 86400000000, provider, account, model_id, service_tier, is_batch, coalesce(b.billing, 'unknown'),
    cost_state
