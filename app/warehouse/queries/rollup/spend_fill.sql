-- Fills spend_hour from {facts} for [from_us, to_us): one row for each bucket and combination of dimensions. {facts}
-- has the columns of attributed_spend_facts, or those of spend_hour itself (rows that are summed again).
INSERT INTO spend_hour
SELECT
    at_us - at_us % $bucket_us AS at_us,
    source, cost_state, provider, account, model_id, feature,
    team, environment, assigned_by, service_tier, is_batch,
    cast(sum(cast(requests AS DECIMAL(38, 0))) AS BIGINT) AS requests,
    cast(sum(cast(tok_input AS DECIMAL(38, 0))) AS BIGINT) AS tok_input,
    cast(sum(cast(tok_cache_read AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_read,
    cast(sum(cast(tok_cache_write_5m AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_write_5m,
    cast(sum(cast(tok_cache_write_30m AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_write_30m,
    cast(sum(cast(tok_cache_write_1h AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_write_1h,
    cast(sum(cast(tok_cache_write_12h AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_write_12h,
    cast(sum(cast(tok_input_audio AS DECIMAL(38, 0))) AS BIGINT) AS tok_input_audio,
    cast(sum(cast(tok_cache_read_audio AS DECIMAL(38, 0))) AS BIGINT) AS tok_cache_read_audio,
    cast(sum(cast(tok_input_image AS DECIMAL(38, 0))) AS BIGINT) AS tok_input_image,
    cast(sum(cast(tok_output AS DECIMAL(38, 0))) AS BIGINT) AS tok_output,
    cast(sum(cast(tok_reasoning AS DECIMAL(38, 0))) AS BIGINT) AS tok_reasoning,
    cast(sum(cast(tok_output_audio AS DECIMAL(38, 0))) AS BIGINT) AS tok_output_audio,
    cast(sum(cast(tok_output_image AS DECIMAL(38, 0))) AS BIGINT) AS tok_output_image,
    cast(sum(cast(input_pusd AS DECIMAL(38, 0))) AS BIGINT) AS input_pusd,
    cast(sum(cast(cache_read_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_read_pusd,
    cast(sum(cast(cache_write_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_write_pusd,
    cast(sum(cast(output_pusd AS DECIMAL(38, 0))) AS BIGINT) AS output_pusd,
    cast(sum(cast(reasoning_pusd AS DECIMAL(38, 0))) AS BIGINT) AS reasoning_pusd,
    cast(sum(cast(other_pusd AS DECIMAL(38, 0))) AS BIGINT) AS other_pusd,
    cast(sum(cast(cost_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_pusd,
    cast(sum(cast(cost_list_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_list_pusd,
    cast(sum(cast(cost_reported_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_reported_pusd,
    max(last_us) AS last_us
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us
GROUP BY
    at_us - at_us % $bucket_us, source, cost_state, provider, account, model_id, feature,
    team, environment, assigned_by, service_tier, is_batch
