-- Buckets of [from_us, to_us) in which spend_hour does not say what the facts say: at_us, measure (requests, tokens,
-- cost_pusd, or groups: the number of groups that differ although the bucket's sums agree), facts, rollup.
WITH sides AS (
    SELECT
        at_us - at_us % $bucket_us AS at_us,
        source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch,
        1 AS from_facts, 0 AS from_rollup, requests, cost_pusd,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) AS tokens
    FROM attributed_facts WHERE at_us >= $from_us AND at_us < $to_us
    UNION ALL
    SELECT
        at_us,
        source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch,
        0 AS from_facts, 1 AS from_rollup, requests, cost_pusd,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) AS tokens
    FROM spend_hour WHERE at_us >= $from_us AND at_us < $to_us
),
grouped AS (
    SELECT
        at_us,
        sum(requests * from_facts) AS facts_requests, sum(requests * from_rollup) AS rollup_requests,
        sum(tokens * from_facts) AS facts_tokens, sum(tokens * from_rollup) AS rollup_tokens,
        sum(cast(coalesce(cost_pusd, 0) AS DECIMAL(38, 0)) * from_facts) AS facts_cost,
        sum(cast(coalesce(cost_pusd, 0) AS DECIMAL(38, 0)) * from_rollup) AS rollup_cost
    FROM sides
    GROUP BY
        at_us, source, cost_state, provider, account, model_id, feature, team,
        environment, assigned_by, service_tier, is_batch
),
buckets AS (
    SELECT
        at_us,
        sum(facts_requests) AS facts_requests, sum(rollup_requests) AS rollup_requests,
        sum(facts_tokens) AS facts_tokens, sum(rollup_tokens) AS rollup_tokens,
        sum(facts_cost) AS facts_cost, sum(rollup_cost) AS rollup_cost,
        sum(CASE WHEN facts_requests <> rollup_requests OR facts_tokens <> rollup_tokens OR facts_cost <> rollup_cost
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
SELECT at_us, 'cost_pusd' AS measure, facts_cost AS facts, rollup_cost AS rollup
FROM buckets WHERE facts_cost <> rollup_cost
UNION ALL
SELECT at_us, 'groups' AS measure, groups_off AS facts, 0 AS rollup
FROM buckets
WHERE groups_off > 0 AND facts_requests = rollup_requests AND facts_tokens = rollup_tokens AND facts_cost = rollup_cost
ORDER BY at_us, measure
