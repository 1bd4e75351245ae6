-- The stream as it would be after the levers of a structural state: removed requests are gone, others carry their new
-- model and tier, and how many tokens that model counts for one of before; the token classes are still the billed ones.
-- {state}(code, provider, model_id, keep, new_provider, new_model_id, new_is_batch, ratio).
CREATE OR REPLACE TEMP VIEW {into} AS
SELECT
    s.request_key, s.start_us, s.first_token_us, s.end_us, s.day, s.account, s.feature, s.template, s.session_id, s.service_tier, s.prompt_bytes,
    coalesce(x.new_provider, s.provider) AS provider,
    coalesce(x.new_model_id, s.model_id) AS model_id,
    coalesce(x.new_is_batch, s.is_batch) AS is_batch,
    coalesce(x.ratio, 1.0) AS token_ratio,
    s.prompt_tokens,
    s.tok_input, s.tok_cache_read, s.tok_cache_write_5m, s.tok_cache_write_30m, s.tok_cache_write_1h,
    s.tok_cache_write_12h, s.tok_input_audio, s.tok_cache_read_audio, s.tok_input_image,
    s.tok_output, s.tok_reasoning, s.cost_pusd, s.price_row, s.calls_summed
FROM stream s
LEFT JOIN profile_of p ON p.request_key = s.request_key
LEFT JOIN {state} x ON cast(p.code AS VARCHAR) = x.code AND x.provider = s.provider AND x.model_id = s.model_id
WHERE coalesce(x.keep, true)
