-- The keys of one page of requests of {facts} in [from_us, to_us), sorted by {sort} (cost_pusd, last_us, tokens_in,
-- tok_cache_read, tokens_out, duration_us, ttft_us), unknown last: request_key, sorted_by.
WITH rows_in AS (
    SELECT
        request_key, cost_pusd, last_us, tok_cache_read,
        CASE WHEN coalesce(
            tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h
            , tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image
        ) IS NOT NULL THEN
            coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
            + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
            + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        END AS tokens_in,
        CASE WHEN coalesce(
            tok_output, tok_reasoning, tok_output_audio, tok_output_image
        ) IS NOT NULL THEN
            coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
            + coalesce(tok_output_image, 0)
        END AS tokens_out,
        end_us - last_us AS duration_us,
        first_token_us - last_us AS ttft_us
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us
)
SELECT request_key, {sort} AS sorted_by
FROM rows_in
ORDER BY {sort} {direction} NULLS LAST, request_key
LIMIT $limit OFFSET $offset
