-- The requests of {requests} (export.requests) as they leave the house: money in USD (DECIMAL), times as timestamps UTC,
-- durations in microseconds, hashes as numbers. Unknown is NULL.
SELECT
    request_key, source, source_record, origin_file, origin_line, provider_response_id, trace_id, parent_id, session_id,
    account, user_hash, api_key_hash, api_key_alias, tags, provider, model, model_id, operation, region, service_tier,
    is_batch, stream, params_hash, max_tokens, temperature, top_p, n, seed, stop_hash, response_format, reasoning_effort,
    price_context,
    make_timestamp(start_us) AS start_time, make_timestamp(first_token_us) AS first_token_time,
    make_timestamp(end_us) AS end_time,
    itl_p50_us, itl_p99_us, status, http_status, finish_reason, attempt, retry_of, error, feature, team, environment,
    assigned_by, template, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, tok_total_reported, calls_summed, units,
    cast(input_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS input_usd,
    cast(cache_read_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS cache_read_usd,
    cast(cache_write_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS cache_write_usd,
    cast(output_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS output_usd,
    cast(reasoning_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS reasoning_usd,
    cast(other_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS other_usd,
    cast(cost_list_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS cost_list_usd,
    cast(cost_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS cost_usd,
    cast(cost_reported_pusd AS DECIMAL(19, 0)) * cast('0.000000000001' AS DECIMAL(13, 12)) AS cost_reported_usd,
    price_row, price_book, cost_state, exact_key, prefix_scope, prompt_bytes, out_hash, warnings
FROM {requests}
WHERE (request_key % $pieces + $pieces) % $pieces = $piece
ORDER BY at_us, request_key
