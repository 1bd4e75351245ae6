-- The touched part of the stream folded into cells: requests, tokens by class and cost by part.
-- Returns one row a cell: cell, code (text), feature, template, provider, model_id, account, day, at_us, price_row,
-- service_tier, is_batch, region, price_context, requests, prompt_tokens, the 13 classes, other_pusd and cost_pusd.
SELECT
    c.cell,
    min(cast(p.code AS VARCHAR)) AS code,
    min(s.feature) AS feature,
    min(s.template) AS template,
    min(s.provider) AS provider,
    min(s.model_id) AS model_id,
    min(s.account) AS account,
    min(s.day) AS day,
    min(s.start_us) AS at_us,
    min(s.price_row) AS price_row,
    min(s.service_tier) AS service_tier,
    max(s.is_batch) AS is_batch,
    min(s.region) AS region,
    min(s.price_context) AS price_context,
    count(*) AS requests,
    cast(sum(coalesce(s.prompt_tokens, 0)) AS DOUBLE) AS prompt_tokens,
    cast(sum(coalesce(s.tok_input, 0)) AS DOUBLE) AS tok_input,
    cast(sum(coalesce(s.tok_cache_read, 0)) AS DOUBLE) AS tok_cache_read,
    cast(sum(coalesce(s.tok_cache_write_5m, 0)) AS DOUBLE) AS tok_cache_write_5m,
    cast(sum(coalesce(s.tok_cache_write_30m, 0)) AS DOUBLE) AS tok_cache_write_30m,
    cast(sum(coalesce(s.tok_cache_write_1h, 0)) AS DOUBLE) AS tok_cache_write_1h,
    cast(sum(coalesce(s.tok_cache_write_12h, 0)) AS DOUBLE) AS tok_cache_write_12h,
    cast(sum(coalesce(s.tok_input_audio, 0)) AS DOUBLE) AS tok_input_audio,
    cast(sum(coalesce(s.tok_cache_read_audio, 0)) AS DOUBLE) AS tok_cache_read_audio,
    cast(sum(coalesce(s.tok_input_image, 0)) AS DOUBLE) AS tok_input_image,
    cast(sum(coalesce(s.tok_output, 0)) AS DOUBLE) AS tok_output,
    cast(sum(coalesce(s.tok_reasoning, 0)) AS DOUBLE) AS tok_reasoning,
    cast(sum(coalesce(s.tok_output_audio, 0)) AS DOUBLE) AS tok_output_audio,
    cast(sum(coalesce(s.tok_output_image, 0)) AS DOUBLE) AS tok_output_image,
    cast(sum(cast(coalesce(s.other_pusd, 0) AS DECIMAL(38, 0))) AS DOUBLE) AS other_pusd,
    cast(sum(cast(s.cost_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_pusd
FROM {keyed} c
JOIN {stream} s ON s.request_key = c.request_key
JOIN {profiles} p ON p.request_key = c.request_key
GROUP BY c.cell
ORDER BY c.cell
