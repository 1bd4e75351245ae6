-- What a layout needs of {stream}, as the temporary table layout_stream(request_key, start_us, first_token_us, day,
-- feature, template, provider, model_id, account ('' where unknown), session_id, prompt_tokens, cached_tokens, read_tokens,
-- tok_* of text): only single calls with a time and a prompt. prompt_tokens are text tokens in the model's own tokens (audio
-- and images stay as they were billed), cached_tokens those read or written, read_tokens those read (NULL where the source
-- does not say); both 0 where the model changed.
CREATE OR REPLACE TEMPORARY TABLE layout_stream AS
SELECT request_key, start_us, first_token_us, day, feature, template, provider, model_id, account, session_id,
       cast(floor(text_tokens * token_ratio) AS bigint) AS prompt_tokens,
       CASE WHEN token_ratio = 1.0 THEN text_tokens - coalesce(tok_input, 0) ELSE 0 END AS cached_tokens,
       CASE WHEN token_ratio = 1.0 THEN tok_cache_read ELSE 0 END AS read_tokens,
       tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h
FROM (
    SELECT request_key, start_us, first_token_us, day, feature, template, provider, model_id,
           coalesce(account, '') AS account, session_id, token_ratio,
           coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
           + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
               AS text_tokens,
           tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h
    FROM {stream}
    WHERE calls_summed IS NULL
) AS known
WHERE text_tokens > 0 AND start_us IS NOT NULL
