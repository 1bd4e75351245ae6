-- The temporary table overlap_calls: calls with a time that start in [from_us, to_us) and have at least $least_tokens, in
-- the words that two sources of one call share: source, request_key, model, tokens_in, tokens_out, start_us. What is held
-- out is here too.
CREATE OR REPLACE TEMP TABLE overlap_calls AS
SELECT source, request_key, model, tokens_in, tokens_out, start_us
FROM (
    SELECT
        source,
        request_key,
        coalesce(model_id, model) AS model,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
            + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
            AS tokens_in,
        coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
            + coalesce(tok_output_image, 0) AS tokens_out,
        start_us
    FROM requests
    WHERE start_us >= $from_us AND start_us < $to_us
) AS calls
WHERE tokens_in + tokens_out >= $least_tokens AND model IS NOT NULL
