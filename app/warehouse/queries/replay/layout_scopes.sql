-- Sums of layout_stream by the scope that a cache layout acts on.
-- Returns (scope_id 1.., feature, template, provider, model_id, requests, prompt_tokens, tok_input, tok_cache_read, the four
-- tok_cache_write_*, read_requests, write_requests, last_us), largest first.
SELECT row_number() OVER (ORDER BY sum(prompt_tokens) DESC, feature, provider, model_id, template) AS scope_id,
       feature, template, provider, model_id,
       count(*) AS requests,
       cast(sum(cast(prompt_tokens AS decimal(38, 0))) AS bigint) AS prompt_tokens,
       cast(coalesce(sum(cast(tok_input AS decimal(38, 0))), 0) AS bigint) AS tok_input,
       cast(coalesce(sum(cast(tok_cache_read AS decimal(38, 0))), 0) AS bigint) AS tok_cache_read,
       cast(coalesce(sum(cast(tok_cache_write_5m AS decimal(38, 0))), 0) AS bigint) AS tok_cache_write_5m,
       cast(coalesce(sum(cast(tok_cache_write_30m AS decimal(38, 0))), 0) AS bigint) AS tok_cache_write_30m,
       cast(coalesce(sum(cast(tok_cache_write_1h AS decimal(38, 0))), 0) AS bigint) AS tok_cache_write_1h,
       cast(coalesce(sum(cast(tok_cache_write_12h AS decimal(38, 0))), 0) AS bigint) AS tok_cache_write_12h,
       sum(CASE WHEN tok_cache_read > 0 THEN 1 ELSE 0 END) AS read_requests,
       sum(CASE WHEN cached_tokens > coalesce(read_tokens, 0) THEN 1 ELSE 0 END) AS write_requests,
       max(start_us) AS last_us
FROM layout_stream
GROUP BY feature, template, provider, model_id
