-- Which models do {facts} in [from_us, to_us) name, the dearest and then the most used first?
-- Columns: provider, model, requests, tokens, cost_pusd (NULL where none of them has a price).
SELECT
    provider,
    model_id AS model,
    sum(requests) AS requests,
    sum(
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0)) AS tokens,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND model_id IS NOT NULL
GROUP BY provider, model_id
ORDER BY coalesce(sum(cast(cost_pusd AS DECIMAL(38, 0))), 0) DESC, sum(requests) DESC, provider, model_id
LIMIT $most
