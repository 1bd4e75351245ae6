-- Buckets of [from_us, to_us) in which spend_hour does not say what the facts say: at_us, measure, facts, rollup.
-- Measures are requests, tokens, cost_pusd, parts (a checksum: each token class and cost part times its place in the
-- list), and groups: the number of groups that differ although all sums of the bucket agree.
WITH sides AS (
    SELECT
        at_us - at_us % $bucket_us AS at_us,
        source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch,
        1 AS from_facts, 0 AS from_rollup, requests,
        tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
        tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
        tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd,
        cost_pusd, cost_list_pusd, cost_reported_pusd
    FROM attributed_spend_facts WHERE at_us >= $from_us AND at_us < $to_us
    UNION ALL
    SELECT
        at_us AS at_us,
        source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch,
        0 AS from_facts, 1 AS from_rollup, requests,
        tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
        tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
        tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd,
        cost_pusd, cost_list_pusd, cost_reported_pusd
    FROM spend_hour WHERE at_us >= $from_us AND at_us < $to_us
),
measured AS (
    SELECT
        at_us,
        source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch,
        from_facts, from_rollup, requests,
        cast(coalesce(cost_pusd, 0) AS DECIMAL(38, 0)) AS cost_pusd,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) AS tokens,
        1 * cast(coalesce(tok_input, 0) AS DECIMAL(38, 0))
        + 2 * cast(coalesce(tok_cache_read, 0) AS DECIMAL(38, 0))
        + 3 * cast(coalesce(tok_cache_write_5m, 0) AS DECIMAL(38, 0))
        + 4 * cast(coalesce(tok_cache_write_30m, 0) AS DECIMAL(38, 0))
        + 5 * cast(coalesce(tok_cache_write_1h, 0) AS DECIMAL(38, 0))
        + 6 * cast(coalesce(tok_cache_write_12h, 0) AS DECIMAL(38, 0))
        + 7 * cast(coalesce(tok_input_audio, 0) AS DECIMAL(38, 0))
        + 8 * cast(coalesce(tok_cache_read_audio, 0) AS DECIMAL(38, 0))
        + 9 * cast(coalesce(tok_input_image, 0) AS DECIMAL(38, 0))
        + 10 * cast(coalesce(tok_output, 0) AS DECIMAL(38, 0))
        + 11 * cast(coalesce(tok_reasoning, 0) AS DECIMAL(38, 0))
        + 12 * cast(coalesce(tok_output_audio, 0) AS DECIMAL(38, 0))
        + 13 * cast(coalesce(tok_output_image, 0) AS DECIMAL(38, 0))
        + 14 * cast(coalesce(input_pusd, 0) AS DECIMAL(38, 0))
        + 15 * cast(coalesce(cache_read_pusd, 0) AS DECIMAL(38, 0))
        + 16 * cast(coalesce(cache_write_pusd, 0) AS DECIMAL(38, 0))
        + 17 * cast(coalesce(output_pusd, 0) AS DECIMAL(38, 0))
        + 18 * cast(coalesce(reasoning_pusd, 0) AS DECIMAL(38, 0))
        + 19 * cast(coalesce(other_pusd, 0) AS DECIMAL(38, 0))
        + 20 * cast(coalesce(cost_list_pusd, 0) AS DECIMAL(38, 0))
        + 21 * cast(coalesce(cost_reported_pusd, 0) AS DECIMAL(38, 0)) AS parts
    FROM sides
),
grouped AS (
    SELECT
        at_us,
        sum(requests * from_facts) AS facts_requests, sum(requests * from_rollup) AS rollup_requests,
        sum(tokens * from_facts) AS facts_tokens, sum(tokens * from_rollup) AS rollup_tokens,
        sum(cost_pusd * from_facts) AS facts_cost_pusd, sum(cost_pusd * from_rollup) AS rollup_cost_pusd,
        sum(parts * from_facts) AS facts_parts, sum(parts * from_rollup) AS rollup_parts
    FROM measured
    GROUP BY
        at_us, source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch
),
buckets AS (
    SELECT
        at_us,
        sum(facts_requests) AS facts_requests, sum(rollup_requests) AS rollup_requests,
        sum(facts_tokens) AS facts_tokens, sum(rollup_tokens) AS rollup_tokens,
        sum(facts_cost_pusd) AS facts_cost_pusd, sum(rollup_cost_pusd) AS rollup_cost_pusd,
        sum(facts_parts) AS facts_parts, sum(rollup_parts) AS rollup_parts,
        sum(CASE WHEN facts_requests <> rollup_requests OR facts_tokens <> rollup_tokens OR facts_cost_pusd <> rollup_cost_pusd OR facts_parts <> rollup_parts
            THEN 1 ELSE 0 END) AS groups_off
    FROM grouped
    GROUP BY at_us
)
SELECT at_us, 'requests' AS measure, facts_requests AS facts, rollup_requests AS rollup
FROM buckets WHERE facts_requests <> rollup_requests
UNION ALL
SELECT at_us, 'tokens' AS measure, facts_tokens AS facts, rollup_tokens AS rollup
FROM buckets WHERE facts_tokens <> rollup_tokens
UNION ALL
SELECT at_us, 'cost_pusd' AS measure, facts_cost_pusd AS facts, rollup_cost_pusd AS rollup
FROM buckets WHERE facts_cost_pusd <> rollup_cost_pusd
UNION ALL
SELECT at_us, 'parts' AS measure, facts_parts AS facts, rollup_parts AS rollup
FROM buckets WHERE facts_parts <> rollup_parts
UNION ALL
SELECT at_us, 'groups' AS measure, groups_off AS facts, 0 AS rollup
FROM buckets
WHERE groups_off > 0
    AND facts_requests = rollup_requests
    AND facts_tokens = rollup_tokens
    AND facts_cost_pusd = rollup_cost_pusd
    AND facts_parts = rollup_parts
ORDER BY at_us, measure
