-- The {column} values of {facts} in [from_us, to_us) with their sums: the first $top by {order} {direction}, and one
-- row named NULL that folds all the others. name, members, then the sums of app.analysis.figures.MEASURES.
-- A sum is NULL where no row of the group knows the value. What bought capacity served (its tier) is not paid by the call.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
),
sums AS (
    SELECT
        {column} AS name,
        sum(cast(requests AS DECIMAL(38, 0))) AS requests,
        sum(cast(tok_input AS DECIMAL(38, 0))) AS tok_input,
        sum(cast(tok_cache_read AS DECIMAL(38, 0))) AS tok_cache_read,
        sum(cast(tok_cache_write_5m AS DECIMAL(38, 0))) AS tok_cache_write_5m,
        sum(cast(tok_cache_write_30m AS DECIMAL(38, 0))) AS tok_cache_write_30m,
        sum(cast(tok_cache_write_1h AS DECIMAL(38, 0))) AS tok_cache_write_1h,
        sum(cast(tok_cache_write_12h AS DECIMAL(38, 0))) AS tok_cache_write_12h,
        sum(cast(tok_input_audio AS DECIMAL(38, 0))) AS tok_input_audio,
        sum(cast(tok_cache_read_audio AS DECIMAL(38, 0))) AS tok_cache_read_audio,
        sum(cast(tok_input_image AS DECIMAL(38, 0))) AS tok_input_image,
        sum(cast(tok_output AS DECIMAL(38, 0))) AS tok_output,
        sum(cast(tok_reasoning AS DECIMAL(38, 0))) AS tok_reasoning,
        sum(cast(tok_output_audio AS DECIMAL(38, 0))) AS tok_output_audio,
        sum(cast(tok_output_image AS DECIMAL(38, 0))) AS tok_output_image,
        sum(cast(input_pusd AS DECIMAL(38, 0))) AS input_pusd,
        sum(cast(cache_read_pusd AS DECIMAL(38, 0))) AS cache_read_pusd,
        sum(cast(cache_write_pusd AS DECIMAL(38, 0))) AS cache_write_pusd,
        sum(cast(output_pusd AS DECIMAL(38, 0))) AS output_pusd,
        sum(cast(reasoning_pusd AS DECIMAL(38, 0))) AS reasoning_pusd,
        sum(cast(other_pusd AS DECIMAL(38, 0))) AS other_pusd,
        sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd,
        sum(cast(CASE WHEN b.billing = 'api' AND service_tier NOT IN ('provisioned', 'reserved', 'scale') THEN cost_pusd
            END AS DECIMAL(38, 0))) AS paid_pusd,
        sum(cast(cost_list_pusd AS DECIMAL(38, 0))) AS cost_list_pusd,
        sum(cast(cost_reported_pusd AS DECIMAL(38, 0))) AS cost_reported_pusd,
        sum(cast(CASE WHEN cost_state IN ('priced', 'not_billed') THEN requests END AS DECIMAL(38, 0))) AS requests_priced,
        sum(cast(CASE WHEN cost_state NOT IN ('priced', 'not_billed') THEN requests END AS DECIMAL(38, 0)))
            AS requests_unpriced,
        sum(cast(CASE WHEN coalesce(
            tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
            tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
            tok_output_image
        ) IS NOT NULL THEN
            coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
            + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
            + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) + coalesce(tok_output, 0)
            + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0) + coalesce(tok_output_image, 0) END AS DECIMAL(38, 0))) AS tokens_all,
        sum(cast(CASE WHEN cost_state IN ('priced', 'not_billed') THEN
            coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
            + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
            + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) + coalesce(tok_output, 0)
            + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0) + coalesce(tok_output_image, 0) END AS DECIMAL(38, 0))) AS tokens_priced,
        sum(cast(CASE WHEN assigned_by = 'bill' THEN requests END AS DECIMAL(38, 0))) AS bill_requests,
        sum(cast(CASE WHEN assigned_by = 'bill' THEN
            coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
            + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
            + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) + coalesce(tok_output, 0)
            + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0) + coalesce(tok_output_image, 0) END AS DECIMAL(38, 0))) AS bill_tokens,
        sum(cast(CASE WHEN assigned_by = 'bill' THEN cost_pusd END AS DECIMAL(38, 0))) AS bill_pusd
    FROM {facts} f
    LEFT JOIN billing_of b ON b.billed_source = f.source
    WHERE at_us >= $from_us AND at_us < $to_us
    GROUP BY {column}
),
ranked AS (
    SELECT *, cast(row_number() OVER (ORDER BY {order} {direction} NULLS LAST, requests DESC, name) AS BIGINT) AS place FROM sums
),
folded AS (
    SELECT *, CASE WHEN place <= $top THEN name END AS shown, CASE WHEN place <= $top THEN place ELSE $top + 1 END AS line
    FROM ranked
)
SELECT
    shown AS name,
    count(*) AS members,
    sum(requests) AS requests,
    sum(tok_input) AS tok_input,
    sum(tok_cache_read) AS tok_cache_read,
    sum(tok_cache_write_5m) AS tok_cache_write_5m,
    sum(tok_cache_write_30m) AS tok_cache_write_30m,
    sum(tok_cache_write_1h) AS tok_cache_write_1h,
    sum(tok_cache_write_12h) AS tok_cache_write_12h,
    sum(tok_input_audio) AS tok_input_audio,
    sum(tok_cache_read_audio) AS tok_cache_read_audio,
    sum(tok_input_image) AS tok_input_image,
    sum(tok_output) AS tok_output,
    sum(tok_reasoning) AS tok_reasoning,
    sum(tok_output_audio) AS tok_output_audio,
    sum(tok_output_image) AS tok_output_image,
    sum(input_pusd) AS input_pusd,
    sum(cache_read_pusd) AS cache_read_pusd,
    sum(cache_write_pusd) AS cache_write_pusd,
    sum(output_pusd) AS output_pusd,
    sum(reasoning_pusd) AS reasoning_pusd,
    sum(other_pusd) AS other_pusd,
    sum(cost_pusd) AS cost_pusd,
    sum(paid_pusd) AS paid_pusd,
    sum(cost_list_pusd) AS cost_list_pusd,
    sum(cost_reported_pusd) AS cost_reported_pusd,
    sum(requests_priced) AS requests_priced,
    sum(requests_unpriced) AS requests_unpriced,
    sum(tokens_all) AS tokens_all,
    sum(tokens_priced) AS tokens_priced,
    sum(bill_requests) AS bill_requests,
    sum(bill_tokens) AS bill_tokens,
    sum(bill_pusd) AS bill_pusd
FROM folded
GROUP BY shown, line
ORDER BY line
