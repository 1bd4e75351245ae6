-- Models of {facts} in [from_us, to_us) of which a part or all has no price, most tokens first:
-- provider, model, cost_state (partly, unpriced, unknown), requests, tokens (NULL where none of them says any).
SELECT
    provider,
    model_id AS model,
    cost_state,
    sum(requests) AS requests,
    sum(CASE WHEN coalesce(
        tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
        tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio, tok_output_image
    ) IS NOT NULL THEN
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) END) AS tokens
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND cost_state NOT IN ('priced', 'not_billed')
GROUP BY provider, model_id, cost_state
ORDER BY 5 DESC NULLS LAST, 4 DESC, 1, 2, 3
