-- The stream that every lever reads: one row a request of `stream_scope`, `day` is its local day.
-- `calls_summed` is not NULL where a row sums calls: no lever acts on it as if it were one.
-- `principal` is who could share a cache: the API key, else the user, else the account.
CREATE OR REPLACE TEMP TABLE stream AS
SELECT
    r.request_key,
    r.start_us,
    r.start_us + a.offset_us AS local_us,
    cast('1970-01-01' AS DATE) + cast(floor((r.start_us + a.offset_us) / 86400000000.0) AS INTEGER) AS day,
    coalesce(r.end_us, r.start_us) AS end_us,
    r.first_token_us,
    coalesce(r.provider, 'unassigned') AS provider,
    r.account,
    coalesce(r.model_id, r.model, 'unassigned') AS model_id,
    a.feature,
    a.template,
    r.session_id,
    coalesce(cast(r.api_key_hash AS VARCHAR), cast(r.user_hash AS VARCHAR), r.account, '') AS principal,
    r.user_hash,
    r.operation,
    r.region,
    r.price_context,
    r.service_tier,
    r.is_batch,
    r.stream,
    r.status,
    r.temperature,
    r.seed,
    r.response_format,
    r.exact_key,
    r.prompt_bytes,
    r.out_hash,
    CASE WHEN coalesce(r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m,
                       r.tok_cache_write_1h, r.tok_cache_write_12h, r.tok_input_audio, r.tok_cache_read_audio,
                       r.tok_input_image) IS NULL THEN NULL
         ELSE coalesce(r.tok_input, 0) + coalesce(r.tok_cache_read, 0) + coalesce(r.tok_cache_write_5m, 0)
            + coalesce(r.tok_cache_write_30m, 0) + coalesce(r.tok_cache_write_1h, 0)
            + coalesce(r.tok_cache_write_12h, 0) + coalesce(r.tok_input_audio, 0)
            + coalesce(r.tok_cache_read_audio, 0) + coalesce(r.tok_input_image, 0)
    END AS prompt_tokens,
    r.tok_input,
    r.tok_cache_read,
    r.tok_cache_write_5m,
    r.tok_cache_write_30m,
    r.tok_cache_write_1h,
    r.tok_cache_write_12h,
    r.tok_input_audio,
    r.tok_cache_read_audio,
    r.tok_input_image,
    r.tok_output,
    r.tok_reasoning,
    r.tok_output_audio,
    r.tok_output_image,
    r.other_pusd,
    r.cost_pusd,
    r.cost_state,
    r.price_row,
    r.calls_summed,
    cast(1.0 AS DOUBLE) AS token_ratio
FROM requests r
JOIN stream_scope a ON a.request_key = r.request_key
