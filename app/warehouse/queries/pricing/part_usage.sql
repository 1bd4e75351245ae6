-- The separately billed parts of responses as relations that pricing.priced can read: one row a part.
-- Needs {parts} in the layout of request_parts (model_id as sent), {requests}, and {priced}, which tells the provider of
-- requests that name none. Columns: request_key (a number of the
-- part, unique), of_request, part, and everything that pricing.priced needs.
SELECT
    row_number() OVER (ORDER BY p.request_key, p.part) AS request_key,
    p.request_key AS of_request,
    p.part,
    coalesce(r.provider, c.provider_id) AS provider,
    coalesce(p.model_id, r.model) AS model,
    r.service_tier,
    r.is_batch,
    r.region,
    r.price_context,
    r.account,
    r.start_us,
    p.tok_input,
    p.tok_cache_read,
    p.tok_cache_write_5m,
    p.tok_cache_write_30m,
    p.tok_cache_write_1h,
    p.tok_cache_write_12h,
    cast(NULL AS BIGINT) AS tok_input_audio,
    cast(NULL AS BIGINT) AS tok_cache_read_audio,
    cast(NULL AS BIGINT) AS tok_input_image,
    p.tok_output,
    p.tok_reasoning,
    cast(NULL AS BIGINT) AS tok_output_audio,
    cast(NULL AS BIGINT) AS tok_output_image,
    cast(NULL AS VARCHAR) AS units,
    cast(NULL AS INTEGER) AS calls_summed,
    CASE WHEN r.cost_state = 'not_billed' THEN 'not_billed' END AS cost_state
FROM {parts} AS p
JOIN {requests} AS r ON r.request_key = p.request_key
JOIN {priced} AS c ON c.request_key = r.request_key
