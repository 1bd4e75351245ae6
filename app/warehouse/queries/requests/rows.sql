-- The list rows of {keys}(request_key, place), in their order: the fields of app.analysis.requests.RequestRow.
WITH attributed AS (
    SELECT k.request_key, a.feature
    FROM {keys} k
    JOIN attribution_latest a ON a.request_key = k.request_key
),
rows_in AS (
    SELECT
        k.place, f.request_key, f.last_us, f.source, f.provider, f.model_id, f.status, f.tok_cache_read,
        f.cost_pusd, f.cost_state,
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
    FROM {keys} k
    JOIN told_facts f ON f.request_key = k.request_key
)
SELECT
    r.request_key, r.last_us AS start_us, r.source, r.provider, r.model_id, coalesce(a.feature, 'unassigned') AS feature,
    r.status, r.tokens_in, r.tok_cache_read, r.tokens_out, r.cost_pusd, r.cost_state, r.ttft_us, r.duration_us
FROM rows_in r
LEFT JOIN attributed a ON a.request_key = r.request_key
ORDER BY r.place
