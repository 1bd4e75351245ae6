-- The stored parts of the requests in kept_usage, whose usage a merge keeps: request_key, part, model_id, token classes.
SELECT
    request_key, part, model_id, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_output, tok_reasoning
FROM request_parts
WHERE request_key IN (SELECT request_key FROM kept_usage)
